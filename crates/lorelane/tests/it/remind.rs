//! Which memories a prompt gets, in a store like that of a web shop.

use crate::scratch::{Said, Scratch};
use lorelane_core::json::Json;

/// Category, title, tags and fields.
type Row = (&'static str, &'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

const STORE: &[Row] = &[
    (
        "runbook",
        "Connection pool of the database is exhausted",
        &["database"],
        &[
            ("trigger", "Postgres says: sorry, too many clients already"),
            ("symptoms", "FATAL: too many clients"),
            ("steps", "Restart pgbouncer, then look for the service that leaks connections"),
        ],
    ),
    (
        "constraint",
        "No migration during the day",
        &["migrations"],
        &[
            ("kind", "technical"),
            ("rule", "Schema migrations run at night only: they lock the orders table"),
            ("impact", "Checkout stops for minutes"),
            ("severity", "high"),
        ],
    ),
    (
        "constraint",
        "Uploads are limited to 20 MB",
        &["uploads", "nginx"],
        &[
            ("kind", "technical"),
            (
                "rule",
                "nginx refuses a larger body with 413; large files go through the upload endpoint of S3",
            ),
            ("impact", "Users see an empty error"),
        ],
    ),
    (
        "decision",
        "NATS is the message broker",
        &["messaging", "events"],
        &[
            ("context", "Kafka was too heavy for three services"),
            ("decision", "All events go through NATS JetStream"),
            ("rationale", "One binary, and replay is enough"),
        ],
    ),
    (
        "decision",
        "No GraphQL gateway",
        &["api"],
        &[
            ("context", "Clients asked for flexible queries"),
            ("decision", "REST only; no GraphQL endpoint"),
            ("rationale", "Caching by URL"),
        ],
    ),
    (
        "decision",
        "pnpm instead of yarn and npm",
        &["packages"],
        &[
            ("context", "Phantom dependencies broke the build"),
            ("decision", "pnpm install everywhere, also in CI"),
            ("rationale", "Strict node_modules"),
        ],
    ),
    (
        "constraint",
        "No CSS framework",
        &["frontend", "css"],
        &[
            ("kind", "policy"),
            ("rule", "No tailwind, no bootstrap: design tokens and plain CSS"),
            ("impact", "Two design systems would drift apart"),
        ],
    ),
    (
        "runbook",
        "The refund job failed",
        &["refunds", "billing"],
        &[
            ("trigger", "The nightly refund job ends with an error"),
            ("steps", "Never rerun it by hand: it pays twice. Mark the batch first"),
        ],
    ),
    (
        "decision",
        "UUIDv7 as primary key",
        &["database", "schema"],
        &[
            ("context", "Auto increment ids let people count our orders"),
            ("decision", "Every new table has a UUIDv7 id"),
            ("rationale", "Sortable, and nothing leaks"),
        ],
    ),
    (
        "preference",
        "Small pull requests",
        &["review"],
        &[
            ("topic", "pull requests"),
            ("value", "A PR has at most 400 changed lines; stack larger changes"),
            ("reason", "Reviews of large PRs find nothing"),
        ],
    ),
    (
        "runbook",
        "Redis does not answer",
        &["redis", "cache"],
        &[
            ("trigger", "connect ECONNREFUSED 127.0.0.1:6379"),
            ("steps", "docker compose up redis; the app needs it for sessions"),
        ],
    ),
    (
        "tech_debt",
        "Rounding of totals",
        &["cart", "money"],
        &[
            ("description", "The total of the cart is off by one cent for some tax rates"),
            ("reason_deferred", "Needs a decimal type in the whole price path"),
        ],
    ),
    (
        "decision",
        "Feature flags for every risky change",
        &["flags"],
        &[
            ("context", "A bad release hit all tenants at once"),
            ("decision", "New behaviour is behind a flag and goes to 10 % of tenants first"),
            ("rationale", "Rollback without a deploy"),
        ],
    ),
    (
        "constraint",
        "PgBouncer runs in transaction mode",
        &["pgbouncer"],
        &[
            ("kind", "technical"),
            ("rule", "No session state across statements"),
            ("impact", "ERROR: prepared statement \"s1\" does not exist"),
        ],
    ),
    (
        "decision",
        "Datenbankverbindungen laufen über den Pool",
        &["datenbank"],
        &[
            ("context", "Zu viele offene Datenbankverbindungen legten den Server lahm"),
            ("decision", "Alle Datenbankverbindungen gehen durch pgbouncer"),
            ("rationale", "Ihre Zahl ist begrenzt"),
        ],
    ),
    (
        "decision",
        "كلمات المرور تحفظ مشفرة",
        &["auth"],
        &[
            ("context", "سجلات قديمة"),
            ("decision", "تحفظ كلمات المرور مشفرة بخوارزمية argon2"),
            ("rationale", "الأمان"),
        ],
    ),
];

fn run(scratch: &Scratch, args: &[&str]) -> Said {
    scratch.said(&scratch.command(args).output().unwrap())
}

fn says(out: &str, expected: &str) {
    assert!(out.contains(expected), "{expected:?} is not in {out}");
}

/// The fields that a category cannot be without, where the store above has none.
fn required(category: &str) -> &'static [(&'static str, &'static str)] {
    match category {
        "runbook" => &[("verification", "The job ends without an error")],
        "constraint" => &[("severity", "medium")],
        "preference" => &[("strength", "strong")],
        "tech_debt" => &[("priority", "low")],
        _ => &[],
    }
}

fn store() -> Scratch {
    let scratch = Scratch::with_store();
    STORE.iter().for_each(|(category, title, tags, fields)| create(&scratch, category, title, tags, fields));
    scratch
}

fn create(scratch: &Scratch, category: &str, title: &str, tags: &[&str], fields: &[(&str, &str)]) {
    let mut args = vec!["create", category, "--title", title];
    tags.iter().for_each(|tag| args.extend(["--tag", tag]));
    let missing = required(category).iter().filter(|(name, _)| fields.iter().all(|(known, _)| known != name));
    let set: Vec<String> =
        fields.iter().chain(missing).map(|(name, text)| format!("{name}={text}")).collect();
    set.iter().for_each(|set| args.extend(["--set", set]));
    run(scratch, &args).expect(0);
}

/// The addresses that a prompt brings, in a session of its own.
fn shown(scratch: &Scratch, session: &str, prompt: &str) -> Vec<String> {
    let members = [("prompt", Json::text(prompt)), ("session_id", Json::text(session))];
    let said = scratch.hook("prompt", &members).expect(0);
    if said.out.is_empty() {
        return Vec::new();
    }
    let answer = Json::parse(&said.out).unwrap();
    let text = answer.at("hookSpecificOutput.additionalContext").and_then(Json::as_text).unwrap().to_owned();
    let lines = text.lines().filter_map(|line| line.strip_prefix("- "));
    lines.map(|line| line.split([' ', ':']).next().unwrap().to_owned()).collect()
}

// Each of these memories was the first in search, and none was shown.
#[test]
fn a_prompt_gets_the_memory_that_it_needs() {
    let scratch = store();
    for (number, (prompt, expected)) in [
        ("we get too many clients from postgres", "runbook/connection-pool-of-the-database-is-exhausted"),
        ("let's run the migration now", "constraint/no-migration-during-the-day"),
        ("the upload endpoint returns 413", "constraint/uploads-are-limited-to-20-mb"),
        ("can we add a GraphQL endpoint?", "decision/no-graphql-gateway"),
        ("why does `yarn install` complain", "decision/pnpm-instead-of-yarn-and-npm"),
        ("refund job failed on Friday, can I just rerun it", "runbook/the-refund-job-failed"),
        ("add a table with an auto increment id", "decision/uuidv7-as-primary-key"),
        ("connect ECONNREFUSED 127.0.0.1:6379", "runbook/redis-does-not-answer"),
        ("the total on the cart is off by one cent", "tech_debt/rounding-of-totals"),
        ("can I use Kafka for events?", "decision/nats-is-the-message-broker"),
        ("roll it out to 10 % of tenants first", "decision/feature-flags-for-every-risky-change"),
        ("prepared statement does not exist", "constraint/pgbouncer-runs-in-transaction-mode"),
        ("I have a 2,000 line change, how should I open the PR?", "preference/small-pull-requests"),
        ("npm install fails", "decision/pnpm-instead-of-yarn-and-npm"),
        ("warum bricht die Datenbankverbindung ab?", "decision/datenbankverbindungen-laufen-uber-den-pool"),
        ("كيف نحفظ كلمة المرور؟", "decision/decision-e2f1dec1"),
    ]
    .into_iter()
    .enumerate()
    {
        let shown = shown(&scratch, &format!("s{number}"), prompt);
        assert_eq!(shown.first().map(String::as_str), Some(expected), "{prompt}: {shown:?}");
    }
}

// One common word, or a word that makes sense only in its chat, brought memories.
#[test]
fn a_prompt_that_needs_nothing_gets_nothing() {
    let scratch = store();
    for (number, prompt) in [
        "use the new api please",
        "why is it slow after deploy?",
        "continue",
        "yes",
        "option 2",
        "yes, do it",
        "that did not work",
        "run the tests again",
        "what is the weather like",
        "write a poem about the sea",
        "x",
        "?!",
        "thanks, looks good",
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(shown(&scratch, &format!("s{number}"), prompt), [""; 0], "{prompt}");
    }
}

// The same reminder came at every prompt.
#[test]
fn a_session_is_reminded_once() {
    let scratch = store();
    let broker = "decision/nats-is-the-message-broker";
    let ask = || shown(&scratch, "s", "can I use Kafka for events?");
    assert_eq!(ask(), [broker]);
    assert_eq!(ask(), [""; 0]);
    says(&run(&scratch, &["why", broker]).expect(1).out, "this session was already shown it");
    // Another session, a change, a compaction, and twenty prompts.
    assert_eq!(shown(&scratch, "other", "can I use Kafka for events?"), [broker]);
    run(&scratch, &["update", broker, "--set", "decision=All events go through NATS"]).expect(0);
    assert_eq!(ask(), [broker]);
    assert_eq!(ask(), [""; 0]);
    scratch.hook("pre-compact", &[("session_id", Json::text("s"))]).expect(0);
    assert_eq!(ask(), [broker]);
    for number in 0..20 {
        assert_eq!(shown(&scratch, "s", &format!("nothing of interest {number}")), [""; 0]);
    }
    assert_eq!(ask(), [broker]);
}

#[test]
fn search_why_and_the_hook_quote_one_estimate() {
    let scratch = store();
    let broker = "decision/nats-is-the-message-broker";
    assert_eq!(shown(&scratch, "s", "can I use Kafka for events?"), [broker]);
    let found = run(&scratch, &["search", "can I use Kafka for events?", "--json"]).expect(0).out;
    let found = Json::parse(&found).unwrap();
    let first = found.at("hits").and_then(Json::as_list).unwrap()[0].clone();
    let chance = first.at("relevance").and_then(Json::as_f64).unwrap();
    assert_eq!(first.at("address").and_then(Json::as_text), Some(broker));
    assert_eq!(first.at("reminds").and_then(Json::as_bool), Some(true));
    let percent = format!("relevance {:.0} %: has kafka", 100.0 * chance);
    says(&run(&scratch, &["why"]).expect(0).out, &percent);
    says(&run(&scratch, &["search", "can I use Kafka for events?", "--explain"]).expect(0).out, &percent);
    // What is below the limit is marked, and says so.
    run(&scratch, &["config", "set", "briefing.min_relevance", "0.99"]).expect(0);
    assert_eq!(shown(&scratch, "t", "can I use Kafka for events?"), [""; 0]);
    says(&run(&scratch, &["why", broker]).expect(1).out, "its relevance is below briefing.min_relevance");
    says(
        &run(&scratch, &["search", "can I use Kafka for events?"]).expect(0).out,
        &format!("({:.0}%)", 100.0 * chance),
    );
}

// A store of one memory has no average, and one whose memories say nearly the same has no rare word.
#[test]
fn small_and_uniform_stores_are_not_noisy() {
    let scratch = Scratch::with_store();
    let (category, title, tags, fields) = STORE[3];
    create(&scratch, category, title, tags, fields);
    assert_eq!(shown(&scratch, "a", "can I use Kafka for events?"), ["decision/nats-is-the-message-broker"]);
    assert_eq!(shown(&scratch, "b", "how is the weather in Rome"), [""; 0]);
    (0..8).for_each(|number| create(&scratch, category, &format!("{title} {number}"), tags, fields));
    assert!(shown(&scratch, "c", "can I use Kafka for events?").len() <= 3);
    assert_eq!(shown(&scratch, "d", "how is the weather in Rome"), [""; 0]);
}

#[test]
fn any_text_is_a_prompt() {
    let scratch = store();
    let long =
        format!("{}\ncan I use Kafka for events??", "fn main() { let x = [1, 2, 3]; }\n".repeat(30_000));
    assert_eq!(shown(&scratch, "long", &long), ["decision/nats-is-the-message-broker"]);
    for (number, prompt) in
        ["\u{0}\u{1}\u{7f}", "{}();", "日本語のプロンプト", "ما هو الوسيط", "какой брокер", "a", "🦀🦀🦀"]
            .into_iter()
            .enumerate()
    {
        shown(&scratch, &format!("s{number}"), prompt);
    }
    assert_eq!(scratch.hook_log(), "");
}
