//! An audit as JSON, and as SARIF for code hosts.

use lorelane_core::audit::{AgeSource, Band, CheckedClaim, Distribution};
use lorelane_core::settle::{Evidence, Verdict};
use lorelane_engine::workspace::{AuditReport, CheckReport, MemoryAudit};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct AuditView<'r> {
    head: Option<&'r str>,
    tokens: usize,
    distribution: Distribution,
    memories: Vec<MemoryAuditView<'r>>,
}

#[derive(Debug, Serialize)]
struct MemoryAuditView<'r> {
    address: String,
    kind: &'static str,
    title: &'r str,
    path: &'r str,
    score: u32,
    band: Band,
    tokens: usize,
    age: AgeView,
    claim_score: u32,
    reasons: Vec<&'static str>,
    claims: Vec<ClaimView<'r>>,
}

#[derive(Debug, Serialize)]
struct AgeView {
    score: u32,
    days: i64,
    half_life_days: i64,
    source: AgeSource,
    since: String,
}

#[derive(Debug, Serialize)]
pub struct ClaimView<'r> {
    kind: &'static str,
    text: &'r str,
    lines: &'r [usize],
    verdict: &'static str,
    moved_to: Option<&'r str>,
    evidence: &'r Evidence,
}

impl<'r> ClaimView<'r> {
    pub fn of(claim: &'r CheckedClaim) -> ClaimView<'r> {
        let moved_to = match &claim.verdict {
            Verdict::Moved(to) => Some(to.as_str()),
            Verdict::Holds | Verdict::Broken | Verdict::Unknown => None,
        };
        ClaimView {
            kind: claim.kind.name(),
            text: &claim.text,
            lines: &claim.lines,
            verdict: claim.verdict.name(),
            moved_to,
            evidence: &claim.evidence,
        }
    }
}

impl<'r> AuditView<'r> {
    pub fn of(report: &'r AuditReport) -> AuditView<'r> {
        AuditView {
            head: report.head.as_deref(),
            tokens: report.tokens,
            distribution: report.distribution,
            memories: report.memories.iter().map(MemoryAuditView::of).collect(),
        }
    }
}

impl<'r> MemoryAuditView<'r> {
    fn of(memory: &'r MemoryAudit) -> MemoryAuditView<'r> {
        let age = &memory.age;
        let mut reasons = age.reasons();
        let has = |name: &str| memory.claims.iter().any(|claim| claim.verdict.name() == name);
        reasons.extend(has("broken").then_some("broken_claims"));
        reasons.extend(has("moved").then_some("moved_claims"));
        MemoryAuditView {
            address: memory.address.to_string(),
            kind: memory.kind.name(),
            title: &memory.title,
            path: &memory.path,
            score: memory.score,
            band: memory.band,
            tokens: memory.tokens,
            age: AgeView {
                score: age.score,
                days: age.days,
                half_life_days: age.half_life_days,
                source: age.source,
                since: age.since.to_string(),
            },
            claim_score: memory.claim_points,
            reasons,
            claims: memory.claims.iter().map(ClaimView::of).collect(),
        }
    }
}

/// What a change breaks.
#[derive(Debug, Serialize)]
pub struct CheckView<'r> {
    touched: usize,
    broken: Vec<BrokenView<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unchecked: Option<&'r str>,
}

#[derive(Debug, Serialize)]
struct BrokenView<'r> {
    address: Option<String>,
    path: &'r str,
    claim: ClaimView<'r>,
}

impl<'r> CheckView<'r> {
    pub fn of(report: &'r CheckReport) -> CheckView<'r> {
        let broken = report.broken.iter().map(|broken| BrokenView {
            address: broken.address.as_ref().map(ToString::to_string),
            path: &broken.path,
            claim: ClaimView::of(&broken.claim),
        });
        CheckView {
            touched: report.touched,
            broken: broken.collect(),
            unchecked: report.unchecked.as_deref(),
        }
    }
}

const SARIF_SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Broken and moved claims in the format that code hosts show beside the lines of a file.
#[derive(Debug, Serialize)]
pub struct SarifView {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [SarifRun; 1],
}

#[derive(Debug, Serialize)]
struct SarifRun {
    tool: SarifTool,
    results: Vec<SarifResult>,
}

#[derive(Debug, Serialize)]
struct SarifTool {
    driver: SarifDriver,
}

#[derive(Debug, Serialize)]
struct SarifDriver {
    name: &'static str,
    version: &'static str,
    rules: Vec<SarifRule>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRule {
    id: &'static str,
    short_description: SarifText,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: &'static str,
    level: &'static str,
    message: SarifText,
    locations: [SarifLocation; 1],
}

#[derive(Debug, Serialize)]
struct SarifText {
    text: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifLocation {
    physical_location: SarifPlace,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifPlace {
    artifact_location: SarifFile,
    region: SarifRegion,
}

#[derive(Debug, Serialize)]
struct SarifFile {
    uri: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRegion {
    start_line: usize,
}

impl SarifView {
    pub fn of(report: &AuditReport) -> SarifView {
        let rule = |id, text: &str| SarifRule { id, short_description: SarifText { text: text.to_owned() } };
        let rules = vec![
            rule("broken-claim", "A memory names something that the repository no longer has"),
            rule("moved-claim", "A memory names a file by its former path"),
        ];
        let results = report
            .memories
            .iter()
            .flat_map(|memory| memory.claims.iter().filter_map(|claim| SarifResult::of(&memory.path, claim)));
        let driver = SarifDriver { name: "lorelane", version: env!("CARGO_PKG_VERSION"), rules };
        let run = SarifRun { results: results.collect(), tool: SarifTool { driver } };
        SarifView { schema: SARIF_SCHEMA, version: "2.1.0", runs: [run] }
    }
}

impl SarifResult {
    fn of(path: &str, claim: &CheckedClaim) -> Option<SarifResult> {
        let (rule_id, level) = match claim.verdict {
            Verdict::Broken if claim.misleads() => ("broken-claim", "warning"),
            Verdict::Broken => ("broken-claim", "note"),
            Verdict::Moved(_) => ("moved-claim", "note"),
            Verdict::Holds | Verdict::Unknown => return None,
        };
        let text = format!("{} `{}`: {}", claim.kind, claim.text, claim.evidence.why);
        let start_line = claim.lines.first().copied().unwrap_or(1);
        let place = SarifPlace {
            artifact_location: SarifFile { uri: path.to_owned() },
            region: SarifRegion { start_line },
        };
        let locations = [SarifLocation { physical_location: place }];
        Some(SarifResult { rule_id, level, message: SarifText { text }, locations })
    }
}
