//! Generates realistic memories; the same seed gives the same ones.
//!
//! They are written directly to disk: the bench must not depend on the program it measures for its store.

use std::fs;
use std::path::Path;

use crate::failure::Failure;
use lorelane_core::json::{Json, JsonFormat};
use lorelane_core::retention::WINDOW_REASON;
use lorelane_engine::disk::SeededRng;

/// Categories with their folders.
pub const CATEGORIES: &[(&str, &str)] = &[
    ("session_summary", "sessions"),
    ("decision", "decisions"),
    ("runbook", "runbooks"),
    ("constraint", "constraints"),
    ("tech_debt", "tech-debt"),
    ("preference", "preferences"),
];

#[rustfmt::skip]
const TOOLS: &[&str] = &[
    "PostgreSQL", "SQLite", "Redis", "Kafka", "OAuth", "JWT", "gRPC", "GraphQL", "Terraform", "Kubernetes", "nginx",
    "Prometheus", "OpenTelemetry", "tokio", "serde", "React", "Vite", "Playwright", "pytest", "ripgrep", "protobuf",
    "WebSocket", "S3", "Elasticsearch", "RabbitMQ", "Helm", "Ansible", "Docker", "systemd", "LLVM", "WASM", "TLS",
];
#[rustfmt::skip]
const PARTS: &[&str] = &[
    "billing", "checkout", "the importer", "the scheduler", "the session cache", "the audit log", "search", "the API gateway",
    "the mobile client", "the admin dashboard", "onboarding", "the payment webhook", "the nightly export", "rate limiting",
    "the migration runner", "notifications", "the feature flags", "the worker queue", "user profiles", "the report builder",
    "the parser", "the retry policy", "the upload path", "token refresh", "the release pipeline", "the data warehouse",
];
#[rustfmt::skip]
const QUALITIES: &[&str] = &[
    "latency", "memory use", "cold start", "write throughput", "readability", "test isolation", "rollback", "backpressure",
    "schema drift", "clock skew", "ordering", "idempotency", "deadlocks", "cache invalidation", "pagination", "encoding",
    "time zones", "connection limits", "disk pressure", "log volume", "flaky tests", "build time", "key rotation",
];
#[rustfmt::skip]
const ACTS: &[&str] = &[
    "Use", "Avoid", "Replace", "Pin", "Wrap", "Cache", "Batch", "Retire", "Split", "Move", "Harden", "Measure", "Document",
    "Isolate", "Upgrade", "Throttle", "Mirror", "Shard", "Stub", "Rewrite",
];
const PEOPLE: &[&str] =
    &["the platform team", "a reviewer", "the on-call engineer", "two customers", "the security audit"];
const TIMES: &[&str] =
    &["last sprint", "during the incident", "in staging", "under load", "after the upgrade", "on Fridays"];

/// How many of the decisions a run may update: enough that no history overflows.
const DECISIONS_KEPT: usize = 64;

/// The default number of active sessions; the session window has retired the others.
const SESSIONS_ACTIVE: usize = 5;

const DISTINCT_ID: &str = "map-tiles-are-purged-by-hand";

/// Writes `count` records below `records` and returns slugs of decisions among them.
pub fn write(records: &Path, count: usize, seed: u64) -> Result<Vec<String>, Failure> {
    for (_, folder) in CATEGORIES {
        let folder = records.join(folder);
        fs::create_dir_all(&folder).map_err(|error| Failure::on("create", &folder, error))?;
    }
    let mut prng = SeededRng::new(seed);
    let mut decisions = Vec::new();
    for number in 0..count {
        let (category, folder) = CATEGORIES[number % CATEGORIES.len()];
        let (slug, mut record) = record(category, number, &mut prng);
        if category == "session_summary" && number / CATEGORIES.len() >= SESSIONS_ACTIVE {
            retire(&mut record);
        }
        let path = records.join(folder).join(format!("{slug}.json"));
        fs::write(&path, format!("{}\n", record.render(JsonFormat::FILE)))
            .map_err(|error| Failure::on("write", &path, error))?;
        if category == "decision" && decisions.len() < DECISIONS_KEPT {
            decisions.push(slug);
        }
    }
    Ok(decisions)
}

/// A record: its slug, which is also its id, and its JSON.
pub fn record(category: &str, number: usize, prng: &mut SeededRng) -> (String, Json) {
    let title = title(number, prng);
    let slug = slug(&title);
    let day = format!("2026-{:02}-{:02}T{:02}:30:00Z", 1 + number % 10, 1 + number % 28, number % 24);
    let tags = tags(prng);
    let json = object([
        ("schema_version", Json::text("1.0")),
        ("category", Json::text(category)),
        ("id", Json::text(slug.clone())),
        ("title", Json::text(title)),
        ("record_status", Json::text("active")),
        ("created_at", Json::text(day.clone())),
        ("updated_at", Json::text(day)),
        ("tags", Json::texts(tags)),
        ("related_files", Json::texts([file_of(number)])),
        ("confidence", Json::Number(format!("0.{}", 70 + prng.below(25)))),
        ("content", content(category, prng)),
        ("changes", Json::List(vec![])),
        ("times_updated", Json::Number("0".to_owned())),
    ]);
    (slug, json)
}

/// The file that the record of this number is about.
pub fn file_of(number: usize) -> String {
    format!("src/part{}/module{number}.rs", number % 100)
}

/// Writes the one constraint that is not like the generated ones, for prompts that ask about it: among thousands of
/// memories that say nearly the same, no other is worth showing.
pub fn write_distinct(records: &Path) -> Result<(), Failure> {
    let (_, mut record) = record("constraint", 0, &mut SeededRng::new(0));
    if let Json::Object(fields) = &mut record {
        fields.set("id", Json::text(DISTINCT_ID));
        fields.set("title", Json::text("Map tiles are purged from the CDN by hand after each deploy"));
        fields.set("tags", Json::texts(["cdn", "map-tiles"]));
        fields.set("related_files", Json::texts(["deploy/purge-tiles.sh"]));
        let rule = "The CDN keeps map tiles for a week, so run deploy/purge-tiles.sh after each deploy.";
        let impact = "Visitors see coastlines and roads of the previous release.";
        fields.set(
            "content",
            object([
                ("kind", Json::text("limitation")),
                ("rule", Json::text(rule)),
                ("impact", Json::texts([impact])),
                ("workarounds", Json::texts(["Add the release to the address of each tile."])),
                ("severity", Json::text("high")),
                ("active", Json::Bool(true)),
                ("expires", Json::text("none")),
            ]),
        );
    }
    let path = records.join("constraints").join(format!("{DISTINCT_ID}.json"));
    fs::write(&path, format!("{}\n", record.render(JsonFormat::FILE)))
        .map_err(|error| Failure::on("write", &path, error))
}

/// A record as the session window retires it.
fn retire(record: &mut Json) {
    let since = record.at("updated_at").cloned().unwrap_or(Json::Null);
    if let Json::Object(fields) = record {
        fields.set("record_status", Json::text("retired"));
        fields.set("retired_at", since);
        fields.set("retired_reason", Json::text(WINDOW_REASON));
    }
}

/// A draft for `create session_summary --from`.
pub fn session_draft(title: &str, prng: &mut SeededRng) -> String {
    let content = content("session_summary", prng);
    let draft =
        object([("title", Json::text(title)), ("tags", Json::texts(tags(prng))), ("content", content)]);
    draft.render(JsonFormat::FILE)
}

/// A draft for `create decision --from`, with only the fields that a person would write.
pub fn decision_draft(title: &str, context: &str, prng: &mut SeededRng) -> String {
    let content = object([
        ("status", Json::text("accepted")),
        ("context", Json::text(context)),
        ("decision", Json::text(sentences(2, prng))),
        ("rationale", list(2, prng)),
    ]);
    let draft =
        object([("title", Json::text(title)), ("tags", Json::texts(tags(prng))), ("content", content)]);
    draft.render(JsonFormat::FILE)
}

fn pick<'w>(words: &[&'w str], prng: &mut SeededRng) -> &'w str {
    words[prng.below(words.len())]
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().collect())
}

/// What a user types in the middle of the work: a task, nothing to keep.
pub fn task(prng: &mut SeededRng) -> String {
    let (part, other, tool) = (pick(PARTS, prng), pick(PARTS, prng), pick(TOOLS, prng));
    match prng.below(4) {
        0 => format!("can you look at {part} again? the log of {tool} is in the second tab"),
        1 => format!("ok, and now the same in {part}. Show me the diff before you touch {other}"),
        2 => format!("Which tests cover {part}? Run them with {tool} up, and then those of {other}."),
        _ => format!("{part} still fails here, see the output below. What does {tool} answer?"),
    }
}

pub fn sentences(count: usize, prng: &mut SeededRng) -> String {
    (0..count).map(|_| sentence(prng)).collect::<Vec<_>>().join(" ")
}

fn sentence(prng: &mut SeededRng) -> String {
    let (tool, other) = (pick(TOOLS, prng), pick(TOOLS, prng));
    let (part, quality) = (pick(PARTS, prng), pick(QUALITIES, prng));
    let (person, time) = (pick(PEOPLE, prng), pick(TIMES, prng));
    let share = 2 + prng.below(90);
    match prng.below(7) {
        0 => {
            format!("We chose {tool} over {other} for {part} because {quality} mattered more than features.")
        }
        1 => format!("{time}, {person} saw {quality} grow by {share} percent in {part}."),
        2 => format!("{tool} cannot guarantee {quality}, so {part} checks it before every write."),
        3 => format!(
            "Moving {part} from {other} to {tool} took {share} hours and removed a whole class of errors."
        ),
        4 => format!("The root cause was {quality}: {tool} retried while {part} held its lock {time}."),
        5 => format!("Keep {part} free of {tool}; {person} agreed that {quality} is worth the extra code."),
        _ => {
            format!("A test of {part} with {share} parallel clients of {tool} shows no change of {quality}.")
        }
    }
}

/// The number makes titles, and so slugs, unique.
fn title(number: usize, prng: &mut SeededRng) -> String {
    let (act, tool) = (pick(ACTS, prng), pick(TOOLS, prng));
    format!("{act} {tool} in {} for {} {number}", pick(PARTS, prng), pick(QUALITIES, prng))
}

fn slug(title: &str) -> String {
    let kept: String =
        title.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    kept.split_whitespace().collect::<Vec<_>>().join("-")
}

fn tags(prng: &mut SeededRng) -> Vec<String> {
    let count = 2 + prng.below(4);
    let tag = |_| {
        let words = if prng.below(2) == 0 { TOOLS } else { QUALITIES };
        slug(pick(words, prng))
    };
    let mut tags: Vec<String> = (0..count).map(tag).collect();
    // Sorted and without duplicates, as the product writes them.
    tags.sort();
    tags.dedup();
    tags
}

fn list(count: usize, prng: &mut SeededRng) -> Json {
    Json::texts((0..count).map(|_| sentence(prng)))
}

fn content(category: &str, prng: &mut SeededRng) -> Json {
    let text = |prng: &mut SeededRng| Json::text(sentences(2, prng));
    match category {
        "session_summary" => object([
            ("goal", text(prng)),
            ("outcome", Json::text(pick(&["success", "partial", "blocked", "abandoned"], prng))),
            ("completed", list(4, prng)),
            ("in_progress", list(1, prng)),
            ("blockers", Json::List(vec![])),
            ("next_actions", list(2, prng)),
            ("key_changes", list(1, prng)),
        ]),
        "decision" => object([
            ("status", Json::text(pick(&["proposed", "accepted", "deprecated", "superseded"], prng))),
            ("context", text(prng)),
            ("decision", text(prng)),
            (
                "alternatives",
                Json::List(vec![object([
                    ("option", Json::text(pick(TOOLS, prng))),
                    ("rejected_reason", Json::text(sentence(prng))),
                ])]),
            ),
            ("rationale", list(3, prng)),
            ("consequences", list(2, prng)),
        ]),
        "runbook" => object([
            ("trigger", text(prng)),
            ("symptoms", list(2, prng)),
            ("steps", list(4, prng)),
            ("verification", text(prng)),
            ("root_cause", text(prng)),
            ("environment", Json::text(pick(&["production", "staging", "local"], prng))),
        ]),
        "constraint" => object([
            ("kind", Json::text(pick(&["limitation", "gap", "policy", "technical"], prng))),
            ("rule", text(prng)),
            ("impact", list(3, prng)),
            ("workarounds", list(2, prng)),
            ("severity", Json::text(pick(&["high", "medium", "low"], prng))),
            ("active", Json::Bool(true)),
            ("expires", Json::text("none")),
        ]),
        "tech_debt" => object([
            ("status", Json::text(pick(&["open", "in_progress", "resolved", "wont_fix"], prng))),
            ("priority", Json::text(pick(&["critical", "high", "medium", "low"], prng))),
            ("description", text(prng)),
            ("reason_deferred", text(prng)),
            ("impact", list(2, prng)),
            ("suggested_fix", list(2, prng)),
            ("acceptance_criteria", list(2, prng)),
        ]),
        _ => object([
            ("topic", Json::text(pick(QUALITIES, prng))),
            ("value", text(prng)),
            ("reason", text(prng)),
            ("strength", Json::text(pick(&["strong", "default", "soft"], prng))),
            ("examples", object([("prefer", list(3, prng)), ("avoid", list(2, prng))])),
        ]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Sandbox;

    // With a hundred active sessions the first new one retired all of them at once.
    #[test]
    fn no_more_sessions_are_active_than_the_window_holds() {
        let sandbox = Sandbox::new("corpus").unwrap();
        write(&sandbox.records(), 60, 7).unwrap();
        let files = fs::read_dir(sandbox.records().join("sessions")).unwrap();
        let texts: Vec<String> =
            files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect();
        let active = texts.iter().filter(|text| text.contains("\"record_status\": \"active\""));
        assert_eq!((texts.len(), active.count()), (10, SESSIONS_ACTIVE));
    }

    #[test]
    fn records_are_the_same_for_the_same_seed_and_of_a_real_size() {
        for (number, (category, _)) in CATEGORIES.iter().enumerate() {
            let (slug, json) = record(category, number, &mut SeededRng::new(7));
            let again = record(category, number, &mut SeededRng::new(7)).1;
            assert_eq!(json, again, "{category}");
            let text = json.render(JsonFormat::FILE);
            assert!((1000..2600).contains(&text.len()), "{category}: {} bytes", text.len());
            assert!(slug.len() <= 80 && json.at("id").unwrap().as_text() == Some(&slug), "{slug}");
            assert!((1..=5).contains(&json.at("tags").unwrap().to_texts().len()), "{text}");
        }
    }
}
