use super::*;
use crate::steps;
use proptest::prelude::*;

/// Each claim as `kind text`, with its stance if it is not plain.
fn shown(text: &str) -> String {
    let one = |claim: &Claim| match claim.stance {
        Stance::Plain => format!("{} {}", claim.kind, claim.text),
        stance => format!("{} {} ({stance:?})", claim.kind, claim.text),
    };
    claims_of_markdown(text, 1).iter().map(one).collect::<Vec<_>>().join("; ")
}

#[test]
fn names_in_code_spans_links_and_words_are_claims() {
    for (text, expected) in [
        // Paths.
        ("The parser is `lib/parse/lexer.rs:41-60`.", "file lib/parse/lexer.rs"),
        ("See `lib/parse/lexer.rs#L9` and `./tools/run.sh`.", "file lib/parse/lexer.rs; file tools/run.sh"),
        ("Both `lexer.rs` and `.github/workflows/ci.yml`", "file lexer.rs; file .github/workflows/ci.yml"),
        ("Fixtures are in `tests/data/` and `vendor`.", "folder tests/data"),
        (
            "The code is in lib/parse/lexer.rs, the data in tests/data/.",
            "file lib/parse/lexer.rs; folder tests/data",
        ),
        ("Read [the guide](docs/guide.md#intro).", "file docs/guide.md"),
        ("```sh\ncat lib/lexer.rs | parseTokens x_y_z\n```", "file lib/lexer.rs"),
        ("`lib/lexer.rs::next_token`", "file lib/lexer.rs"),
        // Symbols.
        (
            "Call `parseTokens()` or `TokenStream::next_token`.",
            "symbol parseTokens; symbol TokenStream; symbol next_token",
        ),
        ("`lexer.flush()` and `HashMap<TokenKind, u8>`", "symbol flush; symbol HashMap; symbol TokenKind"),
        ("The function next_token and parseTokens() are hot.", "symbol next_token; symbol parseTokens"),
        ("[`TokenStream`][lexer.TokenStream] is lazy", "symbol TokenStream"),
        ("`MAX_RETRIES` and POLL_INTERVAL, not HTTP or API", "symbol MAX_RETRIES; symbol POLL_INTERVAL"),
        ("Pages come from TransferStack::push.", "symbol TransferStack"),
        // Branches, commits.
        (
            "Work is on the branch feat/login, then on branch: main.",
            "branch feat/login (Tentative); branch main (Tentative)",
        ),
        ("Work is on `feat/login-form`.", "branch feat/login-form"),
        ("The `develop` branch is protected; branch `next` is not.", "branch develop; branch next"),
        ("Fixed in `4f2a9c1d` and in commit 9b8c7d6e.", "commit 4f2a9c1d; commit 9b8c7d6e"),
        // Packages and versions.
        ("It depends on `tokio`, and the `left-pad` package pads.", "package tokio; package left-pad"),
        (
            "We depend on serde. It uses the left-pad package, and depends on tokio for timers.",
            "package serde (Tentative); package left-pad (Tentative); package tokio (Tentative)",
        ),
        ("We import `@acme/forms`.", "package @acme/forms"),
        ("It uses PostgreSQL 15 and Node v22.1.", "version PostgreSQL 15; version Node 22.1"),
        // Commands and addresses.
        (
            "Run `npm run build:all -- --watch`, then `make release` and `just lint`.",
            "command npm run build:all; command make release; command just lint",
        ),
        (
            "See https://docs.acme.dev/a/b. Or [this](https://acme.dev/c).",
            "url https://docs.acme.dev/a/b; url https://acme.dev/c",
        ),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn patterns_examples_and_numbers_are_not_claims() {
    for text in [
        "Match `src/**/*.rs` and `lib/{a,b}.rs` and `lib/<name>.rs`.",
        "Copy `path/to/file.rs` or `foo/bar.rs` or `your-project/main.rs`.",
        "It is in `/etc/hosts`, `~/.config/app.toml` and `C:\\temp\\x.rs`.",
        "It depends on the weather, on whose package it is, and on what the whole library does.",
        "A branch of science; the branches are long; an npm package; depends on context switches.",
        "On 2026/01/02 and `01/02/2026` 3/4 of the tests and/or builds passed.",
        "Use `get_*` and `${someVar}` and `{user_id}`; `${MAX_RETRIES}`, `true`, `Vec`.",
        "Press `Ctrl/Cmd`. Use a database. Nothing else.",
        "`https://example.com/a` and http://localhost:3000/x",
        "Go 2 steps back. Rust 2024 is an edition.",
        "an input/output error, client/server, TypeScript and GitHub",
        "`1.2.3`, `v2`, `0755`, `deadbeef`, `1234567`",
    ] {
        assert_eq!(shown(text), "", "{text}");
    }
}

#[test]
fn what_a_sentence_says_is_gone_planned_or_forbidden_is_not_claimed_to_be_there() {
    for (text, expected) in [
        ("We removed `old_parser` last week.", "symbol old_parser (Gone)"),
        ("`old_parser` no longer exists.", "symbol old_parser (Gone)"),
        ("It was renamed from `lib/a.rs`.", "file lib/a.rs (Gone)"),
        (
            "Use `new_parser` instead of `old_parser`.",
            "symbol new_parser (Doubtful); symbol old_parser (Gone)",
        ),
        ("~~Call `old_parser` first.~~ Call `new_parser`.", "symbol old_parser (Gone); symbol new_parser"),
        ("The file `lib/a.rs` doesn't exist.", "file lib/a.rs (Gone)"),
        ("Do not call `raw_query`, call `safe_query`.", "symbol raw_query (Negated); symbol safe_query"),
        ("`safe_query` is not slow.", "symbol safe_query"),
        ("We will add `batch_query`.", "symbol batch_query (Tentative)"),
        ("We dropped it. `safe_query` stays.", "symbol safe_query"),
        ("`old_parser` was slow. It was removed in May.", "symbol old_parser (Doubtful)"),
        // The object or the subject of the verb is gone; of the rest of the sentence nobody knows.
        (
            "We removed `old_parser`, `old_lexer` and `old_cache` from `lib/parse.rs`.",
            "symbol old_parser (Gone); symbol old_lexer (Gone); symbol old_cache (Gone); file lib/parse.rs (Doubtful)",
        ),
        (
            "`old_parser` was then renamed to `new_parser`.",
            "symbol old_parser (Gone); symbol new_parser (Doubtful)",
        ),
        (
            "`prune_all` removes `SessionEntry`.",
            "symbol prune_all (Doubtful); symbol SessionEntry (Doubtful)",
        ),
        ("`safe_query` was never removed.", "symbol safe_query (Doubtful)"),
        ("The legacy `old_parser` runs.", "symbol old_parser (Doubtful)"),
        ("Importing from `lib/a.rs` is forbidden.", "file lib/a.rs (Negated)"),
        ("It reports `ClosedError` once the pool is dropped.", "symbol ClosedError (Doubtful)"),
        ("It hangs without `safe_query`.", "symbol safe_query (Doubtful)"),
        ("Nobody should call `raw_query`.", "symbol raw_query (Negated)"),
        ("`safe_query` is fast. The pool was removed in May.", "symbol safe_query"),
        ("`swap_all`: a replacement for loops.", "symbol swap_all"),
        // A heading and an introduction govern what is below them.
        (
            "## Removed\n- `old_parser`\n\n## Kept\n- `new_parser`",
            "symbol old_parser (Gone); symbol new_parser",
        ),
        (
            "These were deleted:\n- `old_parser`\n- `old_lexer`\n\nThe `new_lexer` works.",
            "symbol old_parser (Gone); symbol old_lexer (Gone); symbol new_lexer",
        ),
        (
            "| `old_parser` | removed in 2.0 |\n| `new_parser` | stable |",
            "symbol old_parser (Gone); symbol new_parser",
        ),
        // Once said to be gone is enough.
        ("`old_parser` parses.\n\n`old_parser` was deleted.", "symbol old_parser (Gone)"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn only_a_number_behind_a_tool_may_be_a_version() {
    for (text, expected) in [
        ("It uses PostgreSQL 15.", true),
        ("(Node v22)", true),
        ("node\n  20", true),
        ("PostgreSQL and 15", false),
        ("15 of 20 in 2026", false),
        ("größe 15, 日本 3, mynode 20", false),
        ("", false),
    ] {
        assert_eq!(may_name_version(text), expected, "{text}");
    }
}

#[test]
fn a_claim_has_the_lines_of_its_file() {
    let claims = claims_of_markdown("`next_token` is\nhot in `lib/a.rs`.\n\n- `next_token` again", 5);
    let lines: Vec<(&str, &[usize])> = claims.iter().map(|c| (c.text.as_str(), c.lines.as_slice())).collect();
    assert_eq!(lines, [("next_token", &[5, 8][..]), ("lib/a.rs", &[6][..])]);
}

#[test]
fn a_path_is_written_only_if_it_reads_back_as_itself() {
    use ClaimKind::{File, Folder};
    for (kind, path, expected) in [
        (File, "src/a.rs", true),
        (File, "app/[slug]/page.tsx", true),
        (File, ".github/ci.yml", true),
        (File, "bin/run", true),
        (Folder, "lib", true),
        (File, "src/a\n.rs", false),
        (File, "src/a.rs\nstatus: retired", false),
        (File, "src/x\", \"rationale\": \".rs", false),
        (File, "src/a b.rs", false),
        (File, "src/a.rs:4", false),
        (File, "@x/a.rs", false),
        (File, "[x]/a.rs", false),
        (Folder, "lib`", false),
        (Folder, "", false),
    ] {
        assert_eq!(is_writable_path(kind, path), expected, "{path:?}");
    }
}

/// Work grows with the text, also for texts that open what they never close.
#[test]
fn extraction_is_linear() {
    for unit in
        ["`a ``b ```c ````d ", "[x](y ", "~~`", "no not never ", "a_b/c.rs ", "| - `x` | ", "](", "``` "]
    {
        let work = |count: usize| steps::of(|| drop(claims_of_markdown(&unit.repeat(count), 1)));
        let (small, large) = (work(1_000), work(4_000));
        assert!(large <= small * 5 + 1_000, "{unit:?}: {small} {large}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in "(`|~~|\\[|\\]\\(|\\||/|\\.|:|#|_|\\*|a|B|9|é|日| |\n|not |removed |src/a.rs ){0,60}") {
        let lines = text.lines().count().max(1);
        for claim in claims_of_markdown(&text, 1) {
            prop_assert!(claim.lines.iter().all(|line| (1..=lines).contains(line)), "{:?}", claim);
            prop_assert!(text.contains(&claim.text) || claim.kind == ClaimKind::Version, "{:?}", claim);
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic(text in "\\PC{0,80}") {
        claims_of_markdown(&text, 1);
    }
}
