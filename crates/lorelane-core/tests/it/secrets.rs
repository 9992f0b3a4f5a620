//! The secret scanner: every format is caught, harmless text is left alone, any text is survived.

use crate::harmless;
use crate::support::{decision, read};
use lorelane_core::json::Json;
use lorelane_core::memory::Body;
use lorelane_core::secret::{SecretMatch, kinds, mask, masked, redact, scan};
use lorelane_core::secret_diff;
use proptest::prelude::*;
use std::collections::BTreeSet;

struct Example {
    kind: &'static str,
    text: String,
}

fn examples() -> Vec<Example> {
    let lines = include_str!("../corpus/secrets.tsv").lines().filter(|line| !line.starts_with('#'));
    let example = |line: &'static str| {
        let (kind, parts) = line.split_once('\t').expect("an example is a kind and its parts");
        Example { kind, text: parts.replace('\t', "").replace('⏎', "\n") }
    };
    lines.map(example).collect()
}

fn found_kinds(text: &str) -> Vec<&'static str> {
    scan(text).into_iter().map(|found| found.kind).collect()
}

#[test]
fn every_example_is_caught_as_its_kind() {
    let missed: Vec<_> = examples()
        .into_iter()
        .filter(|example| found_kinds(&example.text) != [example.kind])
        .map(|example| format!("{} {:?} in {}", example.kind, found_kinds(&example.text), example.text))
        .collect();
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

/// Random values of every row are drawn in the scanner's own tests; these are the ones with their surroundings.
#[test]
fn every_example_has_a_kind() {
    let known: BTreeSet<&str> = kinds().collect();
    let unknown: Vec<_> = examples().into_iter().filter(|example| !known.contains(example.kind)).collect();
    assert!(unknown.is_empty(), "no row is of kind {:?}", unknown.first().map(|example| example.kind));
}

/// Secrets do not come alone on a line: they come in notes, in JSON and in escaped JSON.
#[test]
fn an_example_is_caught_wherever_it_is_written() {
    let around = [
        ("Deploys with\n\n    ", "\n\nsince May."),
        ("the value is `", "`, do not share"),
        ("{\"body\":\"line\\n", "\\nnext\"}"),
        ("- ", " # rotated"),
        ("„", "“"),
        ("x\r\n", "\r\n"),
    ];
    let mut missed = Vec::new();
    for example in examples() {
        for (before, after) in around {
            let text = format!("{before}{}{after}", example.text);
            if found_kinds(&text) != [example.kind] {
                missed.push(format!("{} {:?} in {text}", example.kind, found_kinds(&text)));
            }
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn neither_masking_nor_redacting_leaves_the_secret() {
    for example in examples() {
        for SecretMatch { kind, span } in scan(&example.text) {
            let secret = &example.text[span];
            let (masked, redacted) = (masked(&example.text), redact(&example.text));
            assert!(!masked.contains(secret) && masked.contains(&mask(secret)), "{masked}");
            assert!(
                !redacted.contains(secret) && redacted.contains(&format!("[redacted: {kind}]")),
                "{redacted}"
            );
            // No five characters of a short secret survive its mask; of a long one the first four do.
            let rest: String = secret.chars().skip(4).collect();
            assert!(!mask(secret).contains(&rest), "{kind}: {}", mask(secret));
        }
    }
}

#[test]
fn the_span_is_the_value_and_nothing_else() {
    let table = [
        ("postgres://app:s3cr9tXk!@db/x", "s3cr9tXk!"),
        ("postgres://app:p@k9/x", ""),
        ("postgres://app:Xk29@dkq7@db/x", "Xk29@dkq7"),
        ("api_key = \"9fK2mQ8xL4vR7tZ1\",", "9fK2mQ8xL4vR7tZ1"),
        ("api_key: 9fK2mQ8xL4vR7tZ1, b: 2", "9fK2mQ8xL4vR7tZ1"),
        ("(token=9fK2mQ8xL4vR7tZ1)", "9fK2mQ8xL4vR7tZ1"),
        ("?token=9fK2mQ8xL4vR7tZ1&x=1", "9fK2mQ8xL4vR7tZ1"),
        ("define('DB_PASSWORD', '9fK2;mQ<8xL4v');", "9fK2;mQ<8xL4v"),
        ("\\\"token\\\": \\\"9fK2mQ8xL4vR7tZ1\\\"", "9fK2mQ8xL4vR7tZ1"),
        ("token: &'static str = \"9fK2mQ8xL4vR7tZ1\"", "9fK2mQ8xL4vR7tZ1"),
        ("<password>9fK2mQ8xL4vR</password>", "9fK2mQ8xL4vR"),
        ("Authorization: Bearer 9fK2mQ8xL4vR7tZ1", "9fK2mQ8xL4vR7tZ1"),
    ];
    for (text, expected) in table {
        let found: Vec<_> = scan(text).into_iter().map(|found| &text[found.span]).collect();
        assert_eq!(found.join(" "), expected, "{text}");
    }
}

/// Stand-ins were looked for inside the password, so `secret42` and every password of letters got through.
#[test]
fn a_password_in_its_place_counts_unless_it_is_a_stand_in_as_a_whole() {
    let real = [
        ["postgres://app:", "correcthorse", "@db.acme.io/prod"],
        ["postgres://admin:", "admin123", "@prod.acme.io/x"],
        ["postgresql://app:", "letmein", "@db.internal:5432/prod"],
        ["mysql://root:", "hunter22", "@10.0.0.4/x"],
        ["mongodb://root:", "MyTestPass99", "@10.1.1.1/x"],
        ["redis://:", "secret42", "@cache.acme.io"],
        ["redis://default:", "secretpass", "@redis.prod:6379"],
        ["Server=db;User ID=sa;Password=", "Str0ngP@ssw0rd", ";"],
        ["https://oauth2:", "glpat-xYz1234567890AbCdEfG", "@gitlab.com/x.git"],
        ["postgres://app:", "%40bcdefk9", "@hosting.acme.io/x"],
    ];
    for parts in real {
        let text = parts.concat();
        let found: Vec<_> = scan(&text).into_iter().map(|found| text[found.span].to_owned()).collect();
        assert_eq!(found, [parts[1]], "{text}");
    }
    let stand_ins = [
        "password",
        "passwd",
        "secret",
        "changeme",
        "example",
        "your-password",
        "YOUR_DB_PASSWORD",
        "mypassword",
        "xxxxxxxx",
        "${DB_PASSWORD}",
        "$PASSWORD",
        "{{password}}",
        "<password>",
        "********",
        "%DB_PASS%",
        "app_user",
    ];
    for stand_in in stand_ins {
        for text in [
            format!("postgres://app_user:{stand_in}@prod.acme.io/x"),
            format!("Server=prod.acme.io;User ID=app_user;Password={stand_in};"),
        ] {
            assert_eq!(scan(&text), [], "{text}");
        }
    }
    for host in ["localhost", "127.0.0.1:5432", "example.com", "db.example.org", "host", "hostname", "db"] {
        for password in ["letmein", "hunter22", "secret42", "testpass"] {
            let text = format!("postgres://app:{password}@{host}/x");
            assert_eq!(scan(&text), [], "{text}");
        }
    }
}

/// Keys got through because a stand-in occurred in them: `abcdef`, `fake`, `your` (finding 7).
#[test]
fn a_stand_in_is_the_whole_value_and_never_a_part_of_one() {
    let real = [
        ["AK", "IAIOSFODNN7ABCDEFG"].concat(),
        ["AK", "IAQ7EXAMPLE2K5XWZR"].concat(),
        ["gh", "p_x9MZfakekkQw3Rt7Yp2Lk8Vn4Bd6Hs1Jf5Gw"].concat(),
        ["sk-a", "nt-api03-Qx7KEYOUr5fLm2Vb9Tz4Wk8Rd3Np6Hs1Jg5Yc"].concat(),
        ["DB_PASS", "WORD=x9TesTodo7QkLm2V"].concat(),
        ["DB_PASS", "WORD='$9kTq2!vZr7#Lm4x'"].concat(),
        ["password: ", "kqzx7vbnwrtp2mfj"].concat(),
        ["password: ", "xkqzvbnwrtpmfjgh"].concat(),
        ["PAGERDUTY_TO", "KEN=u+Xk29dkq7LmVb4TzW"].concat(),
        ["API_SEC", "RET=/k9Tq2vZr7Lm4xB8nW3s+Yd6"].concat(),
        ["SECRET_KEY", " = '$k3(wq9=z!x7&m2^v@b5*n8-r4_t6+y1)f0#h'"].concat(),
    ];
    let missed: Vec<_> = real.iter().filter(|text| scan(text).is_empty()).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    let stand_ins = [
        ["AK", "IAIOSFODNN7EXAMPLE"].concat(),
        ["gh", "p_EXAMPLEexampleEXAMPLEexampleEXAMPLEex"].concat(),
        ["sk-a", "nt-api03-put-your-own-anthropic-key-in-here-please"].concat(),
        ["sk_t", "est_4eC39HqLyjWDarjtT1zdp7dc"].concat(),
        ["xox", "b-not-a-real-token-this-will-not-work"].concat(),
        "password: \"Passw0rd1!\"".to_owned(),
        "password: \"testPassword123\"".to_owned(),
        "api_key = \"your-api-key-goes-here\"".to_owned(),
        "api_key = example-4f9c1d2b7e8f".to_owned(),
    ];
    for text in stand_ins {
        assert_eq!(scan(&text), [], "{text}");
    }
}

/// Commands carry passwords in places of their own (finding 7).
#[test]
fn a_password_in_a_command_or_a_login_file_is_caught() {
    let table = [
        ("curl -u admin:{} https://x.acme.io", "kMyyHHkju0Vhrf9Z"),
        ("curl --user admin:'{}' https://x.acme.io", "kMyyHHkju0Vhrf9Z"),
        ("mysql -h db -u root -p{} app", "kMyyHHkju0Vh"),
        ("mysqldump -p'{}' app", "kMyy;Hkju0Vh"),
        ("sshpass -p {} ssh root@10.0.0.4", "Sommer2024!"),
        ("docker login -u bob -p {} ghcr.io", "kMyyHHkju0Vh"),
        ("db.acme.io:5432:app:bob:{}", "o3AjR4KCh4UMsNvNGD"),
        ("machine git.acme.io login bob password {}", "o3AjR4KCh4UMsNvNGD"),
        ("  \"auth\": \"{}\"", "Ym9iOm80UmN0TUJ6YVNJSmpHak1LZjBv"),
        ("https://{}@o12.ingest.acme.io/4", "d041bb7e07c32f9a1f9d9e8c32cf1c11"),
    ];
    for (text, value) in table {
        let text = text.replace("{}", value);
        assert!(!redact(&text).contains(value), "{text}");
    }
}

/// A key block glued to a word was let through, as a token in the middle of a longer word is.
#[test]
fn a_private_key_is_found_whatever_touches_it() {
    let body = "oZamf20iiM/FtYfnrSoCBqwClFCLAFsaqVJyKX8ksvnXA66q";
    let closed = ["-----BEGIN ", "PRIVATE KEY-----\n", body, "\n-----END ", "PRIVATE KEY-----"].concat();
    let open = ["-----BEGIN ", "PRIVATE KEY-----\n", body].concat();
    for (key, after) in
        [(&closed, "word"), (&closed, "é"), (&closed, "[redacted: JWT]"), (&open, "[redacted: JWT]")]
    {
        let text = format!("{key}{after}");
        assert_eq!(redact(&text), format!("[redacted: private key]{after}"), "{text}");
    }
}

#[test]
fn harmless_text_raises_no_alarm() {
    let generated = harmless::lines(20_000, 0x10_1e_1a_4e);
    let written = include_str!("../corpus/harmless.txt").lines().map(str::to_owned);
    let lines: Vec<String> = written.chain(generated).collect();
    assert!(lines.len() >= 20_000);
    let alarm = |line: &String| {
        let found = scan(line);
        (!found.is_empty())
            .then(|| format!("{:?} in {line}", found.iter().map(|f| f.kind).collect::<Vec<_>>()))
    };
    let mut alarms: Vec<String> = lines.iter().filter_map(alarm).collect();
    // Once more as one text: the lines around a line must not turn it into a secret.
    let text = lines.join("\n");
    alarms.extend(
        scan(&text).into_iter().map(|found| format!("{} in the whole: {}", found.kind, &text[found.span])),
    );
    assert!(alarms.is_empty(), "{} alarms:\n{}", alarms.len(), alarms.join("\n"));
}

#[test]
fn our_own_lock_file_and_sources_have_no_secrets() {
    let texts = [
        include_str!("../../../../Cargo.lock"),
        include_str!("../../src/secret/rules.rs"),
        include_str!("../../src/secret/judge.rs"),
        include_str!("../../src/secret/pass.rs"),
        include_str!("../../src/secret/tests.rs"),
        include_str!("../corpus/secrets.tsv"),
    ];
    for text in texts {
        let found: Vec<_> = scan(text).into_iter().map(|found| (found.kind, &text[found.span])).collect();
        assert_eq!(found, [], "the corpus is split so that no scanner takes it for a leak");
    }
}

/// Quadratic reading of any of these would take minutes.
#[test]
fn hostile_text_is_read_in_linear_time() {
    let pieces = [
        "token=",
        "token=a1b2c3d4",
        "eyJ",
        "eyJ.",
        "eyJaaaaaaaaaaaa.",
        "sk-",
        "sk-ant-",
        "://",
        "a:",
        "http://a:",
        "-----BEGIN PRIVATE KEY-----",
        "-----",
        "=",
        "[redacted: ",
        "password ",
        "login password ",
        "--token ",
        "token=\"",
        "Authorization: Bearer ",
        "whsec_=",
        "fm2_/",
        "ya29.",
        "1//0",
        "A",
        "a1B",
        "\\n",
        "é",
        "&a=",
        "password=a1B2&",
        "Private-Lines: 1\n",
        ":5432:a:b:",
        "curl -u a:",
        "mysql -p",
        "sshpass -p ",
        ":$2y$10$",
        "AAAA",
        "django-insecure-",
    ];
    for piece in pieces {
        let text = piece.repeat(1_000_000 / piece.len());
        let ends = scan(&text).len();
        assert!(ends <= text.len(), "{piece}");
    }
}

/// Texts from the pieces that secrets are made of, cut and joined at random.
fn hostile() -> impl Strategy<Value = String> {
    let pieces: Vec<String> = examples()
        .into_iter()
        .flat_map(|example| {
            let middle = example.text.char_indices().map(|(at, _)| at).nth(9).unwrap_or(0);
            let (head, tail) = example.text.split_at(middle);
            [head.to_owned(), tail.to_owned(), example.text]
        })
        .chain(kinds().map(|kind| format!("[redacted: {kind}]")))
        .chain(
            [
                "=", ":", "://", "@", "\"", "'", "\\n", "\n", " ", "-----", "é", "&", "/", ".", "-", "_",
                "token=",
            ]
            .map(str::to_owned),
        )
        .collect();
    let piece =
        prop_oneof![6 => prop::sample::select(pieces), 2 => "[a-zA-Z0-9_:=@./-]{0,12}", 1 => ".{0,6}"];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn check_laws(text: &str) -> Result<(), TestCaseError> {
    let mut end = 0;
    for found in scan(text) {
        prop_assert!(text.get(found.span.clone()).is_some(), "{found:?} is not on character boundaries");
        prop_assert!(found.span.start >= end && !found.span.is_empty(), "{found:?} overlaps");
        end = found.span.end;
    }
    let redacted = redact(text);
    prop_assert_eq!(scan(&redacted), [], "left in {}", redacted);
    prop_assert_eq!(masked(text) == text, end == 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_survived(text in "\\PC{0,200}") {
        check_laws(&text)?;
    }

    #[test]
    fn a_redacted_text_has_no_secrets(text in hostile()) {
        check_laws(&text)?;
    }
}

// Every secret carried the whole path of its field: below a key of 400 KB, a record of 1 MiB took gigabytes.
#[test]
fn secrets_without_end_are_counted_and_their_fields_cut() {
    let secret = |n: usize| {
        format!("ghp_{:036x}", (n as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835))
    };
    let items: Vec<Json> = (0..10_000).map(|n| Json::text(secret(n))).collect();
    // Some look too regular to be one.
    let all = (0..10_000).filter(|n| !scan(&secret(*n)).is_empty()).count();
    assert!(all > 9_000);
    let before = read(&decision(&[]));
    let mut after = before.clone();
    let Body::Fields(content) = &mut after.body else { panic!("a record has fields") };
    content.set(&"k".repeat(400_000), Json::List(items));
    let found = secret_diff::added(Some(&before), &after);
    assert_eq!(found.len(), 21);
    assert!(found.iter().all(|fault| fault.field.chars().count() <= 200));
    assert_eq!(found[20].field, format!("and {} more", all - 20));
    assert_eq!(secret_diff::added(Some(&after), &after), []);
}
