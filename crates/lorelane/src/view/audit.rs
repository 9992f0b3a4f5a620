//! An audit as JSON, and as SARIF for code hosts.

use super::ReceiptView;
use lorelane_core::audit::{AgeSource, Band, CheckedClaim, Distribution, PruneAction};
use lorelane_core::change::Receipt;
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
pub(super) struct MemoryAuditView<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<&'r str>,
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
    pub(super) fn of(memory: &'r MemoryAudit) -> MemoryAuditView<'r> {
        let age = &memory.age;
        let mut reasons = age.reasons();
        let has = |name: &str| memory.claims.iter().any(|claim| claim.verdict.name() == name);
        reasons.extend(has("broken").then_some("broken_claims"));
        reasons.extend(has("moved").then_some("moved_claims"));
        MemoryAuditView {
            project: memory.store.as_deref(),
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

/// The memories that `prune` asks about.
#[derive(Debug, Serialize)]
pub struct PruneView<'r> {
    memories: Vec<StaleView<'r>>,
}

#[derive(Debug, Serialize)]
struct StaleView<'r> {
    #[serde(flatten)]
    memory: MemoryAuditView<'r>,
    revision: String,
    actions: Vec<&'static str>,
}

impl<'r> PruneView<'r> {
    pub fn of(stale: &[&'r MemoryAudit]) -> PruneView<'r> {
        let view = |memory: &&'r MemoryAudit| StaleView {
            revision: memory.revision.to_string(),
            actions: PruneAction::ALL
                .into_iter()
                .filter(|action| action.is_possible(&memory.address))
                .map(PruneAction::name)
                .collect(),
            memory: MemoryAuditView::of(memory),
        };
        PruneView { memories: stale.iter().map(view).collect() }
    }
}

/// What `prune` did, one receipt per lane.
#[derive(Debug, Serialize)]
pub struct PrunedView<'r> {
    dry_run: bool,
    receipts: Vec<ReceiptView<'r>>,
}

impl<'r> PrunedView<'r> {
    pub fn of(receipts: &'r [Receipt], dry_run: bool) -> PrunedView<'r> {
        PrunedView {
            dry_run,
            receipts: receipts.iter().map(|receipt| ReceiptView::of(receipt, dry_run)).collect(),
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
            artifact_location: SarifFile { uri: uri(path) },
            region: SarifRegion { start_line },
        };
        let locations = [SarifLocation { physical_location: place }];
        Some(SarifResult { rule_id, level, message: SarifText { text }, locations })
    }
}

/// A path as a URI: relative to the repository, or that of a file on this machine.
fn uri(path: &str) -> String {
    let mut uri = if path.starts_with('/') { String::from("file://") } else { String::new() };
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte))
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
