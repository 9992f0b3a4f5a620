//! What is no longer true is never shown as if it were.

use crate::scratch::{MARKS, Scratch, USE_JWT};
use lorelane_core::json::Json;
use std::sync::atomic::{AtomicUsize, Ordering};

const PROMPT: &str = "which jwt auth do we use?";
const LATER: &str = "2026-03-11T12:00:00Z";

impl Scratch {
    /// What Claude Code is told with a prompt.
    fn reminded(&self, prompt: &str) -> String {
        // Each time in another session: a session is reminded of a memory only once.
        static SESSIONS: AtomicUsize = AtomicUsize::new(0);
        let session = format!("s-{}", SESSIONS.fetch_add(1, Ordering::Relaxed));
        let members = [("prompt", Json::text(prompt)), ("session_id", Json::Text(session))];
        self.hook("prompt", &members).expect(0).out
    }

    fn started(&self) -> String {
        self.hook("session-start", &[("source", Json::text("startup"))]).expect(0).out
    }

    /// The addresses that a search finds, each with its mark.
    fn found(&self, query: &str) -> Vec<(String, Option<String>)> {
        let document = self.json(&format!("search '{query}'"));
        let hits = document.at("hits").and_then(Json::as_list).unwrap_or_default();
        let text = |hit: &Json, key: &str| hit.at(key).and_then(Json::as_text).map(str::to_owned);
        hits.iter().map(|hit| (text(hit, "address").unwrap(), text(hit, "not_current"))).collect()
    }
}

#[test]
fn what_its_own_file_ends_is_not_reminded_and_why_says_so() {
    let debt = "create tech_debt --title 'Retry jwt auth' --tag jwt --set priority=high --set description=D \
                --set reason_deferred=R";
    let limit = "create constraint --title 'Limit of jwt auth' --tag jwt --set kind=limitation \
                 --set severity=high --set rule=R --set impact=I";
    let table = [
        ("decision/use-jwt", "", "status=superseded", "superseded"),
        ("decision/use-jwt", "", "status=deprecated", "deprecated"),
        ("tech_debt/retry-jwt-auth", debt, "status=resolved", "resolved"),
        ("tech_debt/retry-jwt-auth", debt, "status=wont_fix", "wont_fix"),
        ("constraint/limit-of-jwt-auth", limit, "active=false", "inactive"),
        ("constraint/limit-of-jwt-auth", limit, "expires=2026-02-28", "past_expires"),
    ];
    for (address, create, set, rule) in table {
        let scratch = Scratch::with_jwt();
        if !create.is_empty() {
            scratch.lorelane(create).expect(0);
        }
        scratch.lorelane(&format!("pin {address}")).expect(0);
        assert!(scratch.reminded(PROMPT).contains(address), "{address}");
        assert!(scratch.started().contains(address), "{address}");
        scratch.lorelane(&format!("update {address} --set {set}")).expect(0);
        assert!(!scratch.reminded(PROMPT).contains(address), "{set}");
        assert!(!scratch.started().contains(address), "{set}");
        let why = scratch.json(&format!("why {address}"));
        assert_eq!(why.at("rule").and_then(Json::as_text), Some(rule), "{set}");
        let found = scratch.found("jwt auth");
        let name = if rule == "past_expires" { "expired" } else { rule };
        assert_eq!(found.last().unwrap(), &(address.to_owned(), Some(name.to_owned())), "{set}");
        let said = scratch.lorelane("search jwt auth").expect(0).out;
        assert!(said.contains(&format!("[{name}]")), "{said}");
        assert!(scratch.lorelane("list").expect(0).out.contains(&format!("[{name}]")));
    }
}

#[test]
fn a_day_is_over_at_its_end_in_utc_and_other_text_never_ends() {
    for (expires, reminded) in [
        ("2026-03-01", true),
        ("2026-02-28", false),
        ("'after the next release'", true),
        ("2026-02-31", true),
    ] {
        let scratch = Scratch::with_store();
        let line = "create constraint --title 'Limit of jwt auth' --tag jwt --set kind=limitation \
                    --set severity=low --set rule=R --set impact=I";
        scratch.lorelane(&format!("{line} --set expires={expires}")).expect(0);
        assert_eq!(scratch.reminded(PROMPT).contains("limit-of-jwt-auth"), reminded, "{expires}");
    }
}

#[test]
fn a_note_in_a_conflict_goes_to_nobody_as_it_is() {
    let scratch = Scratch::with_jwt();
    let note = "# JWT auth\n\nTokens live for ";
    scratch.put(".memories/jwt-auth.md", format!("{note}an hour.\n"));
    assert!(scratch.reminded(PROMPT).contains("notes/jwt-auth"));
    let torn = format!("{note}\n<<<<<<< HEAD\nan hour.\n=======\na day.\n>>>>>>> other\n");
    scratch.put(".memories/jwt-auth.md", torn);
    assert!(!scratch.reminded(PROMPT).contains("jwt-auth"));
    let why = scratch.lorelane("why notes/jwt-auth").text();
    assert!(why.contains("conflict markers of git"), "{why}");
    let found = scratch.found("jwt auth tokens");
    assert!(found.contains(&("notes/jwt-auth".to_owned(), Some("conflicted".to_owned()))), "{found:?}");
    assert_eq!(found[0].0, "decision/use-jwt");
    let doctor = scratch.lorelane("doctor").text();
    assert!(doctor.contains("jwt-auth.md") && doctor.contains("conflict markers"), "{doctor}");
}

#[test]
fn a_record_in_a_conflict_is_reported_and_not_shown() {
    let scratch = Scratch::with_jwt();
    let text = scratch.read(USE_JWT);
    let (head, tail) = text.split_at(text.find("  \"tags\"").unwrap());
    scratch.put(USE_JWT, format!("{head}<<<<<<< HEAD\n{tail}=======\n{tail}>>>>>>> other\n"));
    assert!(!scratch.reminded(PROMPT).contains("use-jwt"));
    assert_eq!(scratch.found("jwt auth"), []);
    let said = scratch.lorelane("search jwt auth").expect(1).out;
    let line = "    -  .claude/memory/decisions/use-jwt.json [unreadable]  it has conflict markers of git";
    assert!(said.contains(line), "{said}");
    let document = scratch.json("search jwt auth");
    assert_eq!(document.at("unreadable").and_then(Json::as_list).map(<[Json]>::len), Some(1));
    assert!(!scratch.lorelane("search kubernetes").out.contains("use-jwt"));
    let doctor = scratch.lorelane("doctor").text();
    assert!(doctor.contains("use-jwt.json") && doctor.contains("resolve the conflict"), "{doctor}");
}

#[test]
fn a_change_of_status_does_not_make_a_reminder_new() {
    let scratch = Scratch::with_jwt().at(LATER);
    assert!(scratch.reminded(PROMPT).contains("10 days old"));
    scratch.lorelane("update use-jwt --set status=superseded").expect(0);
    scratch.lorelane("update use-jwt --set status=accepted").expect(0);
    scratch.lorelane("retire use-jwt").expect(0);
    scratch.lorelane("restore use-jwt").expect(0);
    let reminded = scratch.reminded(PROMPT);
    assert!(reminded.contains("2026-03-01, 10 days old"), "{reminded}");
    scratch.lorelane("update use-jwt --set decision=Paseto").expect(0);
    assert!(scratch.reminded(PROMPT).contains("2026-03-11, today"));
}

fn with_successor() -> Scratch {
    let scratch = Scratch::with_jwt();
    scratch
        .lorelane(
            "create decision --title 'Sign with PASETO' --tag jwt --set context='Weak jwt auth' \
             --set decision='Version four, local' --set rationale='One algorithm per version'",
        )
        .expect(0);
    scratch
}

#[test]
fn one_command_supersedes_and_one_undo_reverts_it() {
    let scratch = with_successor();
    let before = scratch.tree_without_cache();
    let said = scratch.lorelane("supersede use-jwt --by sign-with-paseto --dry-run").expect(0).out;
    assert_eq!(said, "Would supersede decision/use-jwt by decision/sign-with-paseto\n");
    assert_eq!(scratch.tree_without_cache(), before);
    let said = scratch.lorelane("supersede use-jwt --by sign-with-paseto --reason leaks").expect(0).out;
    assert_eq!(said, "Superseded decision/use-jwt by decision/sign-with-paseto\n");
    assert_eq!(scratch.field(USE_JWT, "content.status"), Json::text("superseded"));
    assert!(scratch.read(MARKS).contains(r#""mark": "superseded""#), "{}", scratch.read(MARKS));
    // The scripts still accept the file: nothing was added to it but its history.
    let doctor = scratch.lorelane("doctor").text();
    assert!(!doctor.contains("use-jwt.json"), "{doctor}");

    let reminded = scratch.reminded(PROMPT);
    assert!(reminded.contains("sign-with-paseto") && !reminded.contains("use-jwt"), "{reminded}");
    let found = scratch.lorelane("search jwt auth").expect(0).out;
    assert!(
        found.contains("decision/use-jwt:") && found.contains("[superseded by decision/sign-with-paseto]"),
        "{found}"
    );
    let show = scratch.lorelane("show use-jwt").expect(0).out;
    assert!(show.contains("successor  decision/sign-with-paseto"), "{show}");
    assert!(show.contains("superseded by decision/sign-with-paseto: leaks"), "{show}");
    let show = scratch.lorelane("show sign-with-paseto").expect(0).out;
    assert!(show.contains("supersedes decision/use-jwt"), "{show}");
    let why = scratch.lorelane("why use-jwt").text();
    assert!(
        why.contains("it is superseded") && why.contains("Superseded by decision/sign-with-paseto"),
        "{why}"
    );
    let again = scratch.lorelane("supersede use-jwt --by sign-with-paseto").expect(0).out;
    assert_eq!(again, "No change: decision/use-jwt is already superseded by it\n");

    scratch.lorelane("undo").expect(0);
    assert_eq!(scratch.field(USE_JWT, "content.status"), Json::text("accepted"));
    assert!(scratch.reminded(PROMPT).contains("use-jwt"));
    assert!(!scratch.lorelane("show use-jwt").expect(0).out.contains("successor"));
}

#[test]
fn what_has_no_such_status_is_retired_and_still_names_its_successor() {
    let scratch = with_successor();
    scratch
        .lorelane("create preference --title 'Prefer jwt auth' --tag jwt --set topic=t --set value=v --set reason=r --set strength=soft")
        .expect(0);
    scratch.put(".memories/jwt-ideas.md", "# JWT ideas\n\nAll about jwt auth.\n");
    let said = scratch.lorelane("supersede prefer-jwt-auth --by sign-with-paseto").expect(0).out;
    assert!(said.starts_with("Retired preference/prefer-jwt-auth: superseded by decision/"), "{said}");
    // Over the border of two lanes.
    scratch.lorelane("supersede notes/jwt-ideas --by sign-with-paseto").expect(0);
    assert!(!scratch.exists(".memories/jwt-ideas.md"));
    let show = scratch.lorelane("show sign-with-paseto").expect(0).out;
    assert!(
        show.contains("supersedes notes/.trash/") && show.contains("preference/prefer-jwt-auth"),
        "{show}"
    );
    scratch.lorelane("undo").expect(0);
    scratch.lorelane("undo").expect(0);
    assert!(scratch.exists(".memories/jwt-ideas.md"));
    assert!(!scratch.lorelane("show sign-with-paseto").expect(0).out.contains("supersedes"));
}

#[test]
fn a_successor_must_hold_itself() {
    let scratch = with_successor();
    let before = scratch.tree_without_cache();
    let said = scratch.lorelane("supersede use-jwt --by use-jwt").expect(2).text();
    assert!(said.contains("a memory cannot replace itself"), "{said}");
    scratch.lorelane("supersede use-jwt --by nothing-like-it").expect(1);
    assert_eq!(scratch.tree_without_cache(), before);
    scratch.lorelane("retire sign-with-paseto").expect(0);
    let said = scratch.lorelane("supersede use-jwt --by sign-with-paseto").expect(2).text();
    assert!(said.contains("the latter is retired") && said.contains("hint: "), "{said}");
    scratch.lorelane("restore sign-with-paseto").expect(0);
    scratch.lorelane("update sign-with-paseto --set status=deprecated").expect(0);
    let said = scratch.lorelane("supersede use-jwt --by sign-with-paseto").expect(2).text();
    assert!(said.contains("not current: it is deprecated"), "{said}");
}

#[test]
fn a_near_duplicate_is_named_with_what_to_do() {
    let scratch = Scratch::with_store();
    let says = "--tag jobs --set context='Web requests wait for slow jobs' \
                --set decision='A Redis queue between the web servers and the workers' \
                --set rationale='Jobs survive a restart of the web servers'";
    let first =
        scratch.lorelane(&format!("create decision --title 'Use a Redis queue for jobs' {says}")).expect(0);
    assert_eq!(first.err, "");
    let second =
        scratch.lorelane(&format!("create decision --title 'Queue the jobs in Redis' {says}")).expect(0);
    let hint =
        "`lorelane supersede decision/use-a-redis-queue-for-jobs --by decision/queue-the-jobs-in-redis`";
    assert!(second.err.contains("says nearly the same") && second.err.contains(hint), "{}", second.err);
    let update = scratch.json("update queue-the-jobs-in-redis --add-tag redis");
    let notices = update.at("notices").map(Json::to_texts).unwrap_or_default().join("\n");
    assert!(notices.contains(hint), "{notices}");
    // Superseding it is the answer, so it is not asked for again.
    let said =
        scratch.lorelane("supersede use-a-redis-queue-for-jobs --by queue-the-jobs-in-redis").expect(0);
    assert_eq!(said.err, "");
    let said = scratch.lorelane("update queue-the-jobs-in-redis --add-tag workers").expect(0);
    assert_eq!(said.err, "");
    let other = "create decision --title 'Deploy on Fridays' --tag ops --set context='The team is complete' \
                 --set decision='Releases go out on Friday morning' --set rationale='Customers rest on weekends'";
    assert_eq!(scratch.lorelane(other).expect(0).err, "");
}
