//! How stale a memory is: by its age, and by its claims that no longer hold.

use crate::change::{Change, Draft};
use crate::claim::{Claim, ClaimKind, ClaimPlace};
use crate::digest::Revision;
use crate::json::{self, JsonFormat};
use crate::lifecycle::LifecycleVerb;
use crate::mark::MarkKind;
use crate::memory::Address;
use crate::settle::{Evidence, Settled, Verdict, is_information};
use crate::time::{DAY, Timestamp};
use serde::{Deserialize, Serialize};

/// From this score on a memory is to be reviewed.
const REVIEW_FROM: u32 = 50;
/// From this score on it is a candidate for pruning.
const PRUNE_FROM: u32 = 75;
const SCORE_MAX: u32 = 100;

/// The half-lives of the types of Claude Code's memory files, in days.
const TYPES: [(&str, i64); 5] =
    [("value", 365), ("user", 180), ("feedback", 90), ("reference", 60), ("project", 14)];
const UNKNOWN_TYPE: i64 = 30;

/// The half-life of a type of Claude Code's memory files, in any case.
pub fn half_life_of_type(name: &str) -> i64 {
    let known = TYPES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name.trim()));
    known.map_or(UNKNOWN_TYPE, |(_, days)| *days)
}

/// What the age of a memory was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgeSource {
    /// Somebody confirmed this revision.
    Confirmed,
    /// A date in the file.
    Modified,
    /// The last commit that changed the file.
    Git,
    /// The file's modification time.
    Mtime,
}

impl AgeSource {
    pub fn name(self) -> &'static str {
        match self {
            AgeSource::Confirmed => "confirmed",
            AgeSource::Modified => "modified",
            AgeSource::Git => "git",
            AgeSource::Mtime => "mtime",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Age {
    pub since: Timestamp,
    pub source: AgeSource,
    pub days: i64,
    pub half_life_days: i64,
    /// From 0 to 100.
    pub score: u32,
}

impl Age {
    pub fn at(now: Timestamp, since: Timestamp, source: AgeSource, half_life_days: i64) -> Age {
        let seconds = now.0.saturating_sub(since.0).max(0);
        let score = age_score(seconds as f64 / DAY as f64, half_life_days as f64);
        Age { since, source, days: seconds / DAY, half_life_days, score }
    }

    /// Why its age speaks against it, as codes.
    pub fn reasons(&self) -> Vec<&'static str> {
        let mut reasons = Vec::new();
        if self.days > self.half_life_days {
            reasons.push("older_than_half_life");
        }
        if self.days > 3 * self.half_life_days {
            reasons.push("significantly_past_expiry");
        }
        reasons
    }
}

/// Exponential decay: 50 after one half-life, 75 after two.
fn age_score(days: f64, half_life_days: f64) -> u32 {
    if days <= 0.0 || half_life_days <= 0.0 {
        return 0;
    }
    let decayed = 1.0 - (-days * std::f64::consts::LN_2 / half_life_days).exp();
    // Truncated; a rounding error below a whole number must not cost a point.
    ((100.0 * decayed + 1e-9) as u32).min(SCORE_MAX)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Band {
    Keep,
    Review,
    Prune,
}

impl Band {
    pub fn of(score: u32) -> Band {
        match score {
            PRUNE_FROM.. => Band::Prune,
            REVIEW_FROM.. => Band::Review,
            _ => Band::Keep,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Band::Keep => "keep",
            Band::Review => "review",
            Band::Prune => "prune",
        }
    }
}

/// How many memories have which score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Distribution {
    pub fresh: usize,
    pub aging: usize,
    pub review: usize,
    pub stale: usize,
}

impl Distribution {
    pub fn of(scores: impl Iterator<Item = u32>) -> Distribution {
        let mut counts = Distribution::default();
        for score in scores {
            *match score {
                ..25 => &mut counts.fresh,
                25..REVIEW_FROM => &mut counts.aging,
                REVIEW_FROM..PRUNE_FROM => &mut counts.review,
                PRUNE_FROM.. => &mut counts.stale,
            } += 1;
        }
        counts
    }
}

/// A claim with its verdict, as it is kept between audits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedClaim {
    pub kind: ClaimKind,
    pub text: String,
    pub lines: Vec<usize>,
    #[serde(default)]
    pub place: ClaimPlace,
    #[serde(flatten)]
    pub verdict: Verdict,
    pub evidence: Evidence,
    /// The commit of the last audit that found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_at: Option<String>,
}

impl CheckedClaim {
    /// `head` is the commit of this audit, `held_at` that of the last one that found it.
    pub fn of(claim: Claim, settled: Settled, head: &str, held_at: Option<&str>) -> CheckedClaim {
        let Claim { kind, text, lines, place, .. } = claim;
        let Settled { verdict, evidence } = settled;
        let held_at = if verdict == Verdict::Holds { Some(head) } else { held_at };
        let held_at = held_at.map(str::to_owned);
        CheckedClaim { kind, text, lines, place, verdict, evidence, held_at }
    }

    pub fn is_broken(&self) -> bool {
        self.verdict == Verdict::Broken
    }

    /// Whether it misleads a reader: broken, and more than information.
    pub fn misleads(&self) -> bool {
        self.is_broken() && !is_information(self.kind)
    }
}

/// The verdicts on one revision of a memory at one commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditedMemory {
    pub address: Address,
    pub revision: Revision,
    /// The commit that `HEAD` was at; empty without git.
    pub head: String,
    pub claims: Vec<CheckedClaim>,
}

impl AuditedMemory {
    /// One line of a cache, without its line break.
    pub fn line(&self) -> String {
        json::to_string(self, JsonFormat::LINE)
    }

    /// `None` for a line that is not one.
    pub fn parse(line: &str) -> Option<AuditedMemory> {
        json::from_str(line).ok()
    }

    /// Whether everything could be checked. URLs are checked only when asked for.
    pub fn is_complete(&self) -> bool {
        !self.claims.iter().any(|claim| claim.evidence.unchecked && claim.kind != ClaimKind::Url)
    }

    /// The commit of the last audit that found this claim, in any revision.
    pub fn held_at(&self, claim: &Claim) -> Option<&str> {
        let is_same = |known: &&CheckedClaim| known.kind == claim.kind && known.text == claim.text;
        self.claims.iter().filter(is_same).find_map(|known| known.held_at.as_deref())
    }

    /// What an audit that checked URLs found about this one, in any revision.
    pub fn url_verdict(&self, claim: &Claim) -> Option<Settled> {
        let is_same = |known: &&CheckedClaim| {
            known.kind == ClaimKind::Url && known.text == claim.text && !known.evidence.unchecked
        };
        let known = self.claims.iter().find(is_same).filter(|_| claim.kind == ClaimKind::Url)?;
        Some(Settled { verdict: known.verdict.clone(), evidence: known.evidence.clone() })
    }

    pub fn has_urls(&self) -> bool {
        self.claims.iter().any(|claim| claim.kind == ClaimKind::Url)
    }

    /// The memory with the claims that mislead a reader, and the number of all claims.
    pub fn broken(&self) -> Option<BrokenMemory> {
        let claims: Vec<CheckedClaim> =
            self.claims.iter().filter(|claim| claim.misleads()).cloned().collect();
        let all = self.claims.len();
        let (address, revision, head) = (self.address.clone(), self.revision.clone(), self.head.clone());
        (!claims.is_empty()).then_some(BrokenMemory { address, revision, head, all, claims })
    }
}

/// A memory with broken claims: what a reminder must know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenMemory {
    pub address: Address,
    pub revision: Revision,
    pub head: String,
    /// How many claims it has, unknown ones included.
    pub all: usize,
    pub claims: Vec<CheckedClaim>,
}

/// Why a memory is not shown as a reminder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithholdRule {
    /// A broken claim is in its title or in the field that says what to do.
    InInstruction,
    /// More than half of its claims are broken.
    Mostly,
}

impl BrokenMemory {
    pub fn line(&self) -> String {
        json::to_string(self, JsonFormat::LINE)
    }

    pub fn parse(line: &str) -> Option<BrokenMemory> {
        json::from_str(line).ok()
    }

    /// Without the claims that hold again.
    pub fn without(mut self, holds_again: impl Fn(&CheckedClaim) -> bool) -> Option<BrokenMemory> {
        self.claims.retain(|claim| !holds_again(claim));
        (!self.claims.is_empty()).then_some(self)
    }

    /// The rule that withholds it, with the claim that weighs most.
    pub fn withheld(&self) -> Option<(WithholdRule, &CheckedClaim)> {
        let worst = self.claims.iter().max_by_key(|claim| claim.place)?;
        if worst.place > ClaimPlace::Body {
            return Some((WithholdRule::InInstruction, worst));
        }
        (self.claims.len() * 2 > self.all).then_some((WithholdRule::Mostly, worst))
    }

    /// One mark for a reminder that is shown all the same.
    pub fn mark(&self) -> Option<String> {
        let first = self.claims.first()?;
        let more = match self.claims.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        Some(match &first.evidence.commit {
            Some(commit) => format!("{} is gone since {commit}{more}", first.text),
            None => format!("{} is gone{more}", first.text),
        })
    }
}

/// How claims are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClaimCount {
    /// A kind counts once, however many of its claims are broken.
    #[default]
    PerKind,
    PerClaim,
}

/// The points that broken and moved claims add.
pub fn claim_points(claims: &[CheckedClaim], count: ClaimCount) -> u32 {
    let points = |claim: &CheckedClaim| match claim.verdict {
        Verdict::Broken => modifier(claim.kind),
        Verdict::Moved(_) => modifier(claim.kind) / 2,
        Verdict::Holds | Verdict::Unknown => 0,
    };
    let all: u32 = match count {
        ClaimCount::PerClaim => claims.iter().map(points).sum(),
        ClaimCount::PerKind => GROUPS
            .iter()
            .map(|group| claims.iter().filter(|claim| group.contains(&claim.kind)).map(points).max())
            .map(Option::unwrap_or_default)
            .sum(),
    };
    all.min(SCORE_MAX)
}

/// Kinds that count as one: a folder is a path like a file.
const GROUPS: [&[ClaimKind]; 5] = [
    &[ClaimKind::File, ClaimKind::Folder],
    &[ClaimKind::Symbol],
    &[ClaimKind::Url],
    &[ClaimKind::Branch],
    &[ClaimKind::Package],
];

fn modifier(kind: ClaimKind) -> u32 {
    match kind {
        ClaimKind::File | ClaimKind::Folder | ClaimKind::Package => 20,
        ClaimKind::Symbol => 30,
        ClaimKind::Url => 10,
        ClaimKind::Branch => 15,
        ClaimKind::Version | ClaimKind::Commit | ClaimKind::Command => 0,
    }
}

/// Age and claims together.
pub fn total(age: u32, claims: u32) -> u32 {
    (age + claims).min(SCORE_MAX)
}

/// What somebody decides about a memory that an audit lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PruneAction {
    /// It was verified.
    Keep,
    Archive,
    Retire,
    Delete,
    Edit,
}

impl PruneAction {
    pub const ALL: [PruneAction; 5] = [
        PruneAction::Keep,
        PruneAction::Archive,
        PruneAction::Retire,
        PruneAction::Delete,
        PruneAction::Edit,
    ];

    pub fn name(self) -> &'static str {
        match self {
            PruneAction::Keep => "keep",
            PruneAction::Archive => "archive",
            PruneAction::Retire => "retire",
            PruneAction::Delete => "delete",
            PruneAction::Edit => "edit",
        }
    }

    pub fn parse(name: &str) -> Option<PruneAction> {
        PruneAction::ALL.into_iter().find(|action| action.name() == name)
    }

    /// Whether it can be done to this memory: the only file of a folder cannot be moved away from the client.
    pub fn is_possible(self, address: &Address) -> bool {
        !address.is_memory_file() || !matches!(self, PruneAction::Archive | PruneAction::Retire)
    }

    /// The changes that do it. `text` is the new text of an edited memory, and what it was read from. Only a retired
    /// memory may be deleted, so one in use is retired first.
    pub fn changes(self, address: &Address, because: &str, text: Option<(Revision, String)>) -> Vec<Change> {
        let transition =
            |verb| Change::Transition { address: address.clone(), verb, reason: because.to_owned() };
        let delete = Change::Delete { address: address.clone() };
        match self {
            PruneAction::Keep => {
                vec![Change::Mark { address: address.clone(), kind: MarkKind::confirm(because) }]
            }
            PruneAction::Archive => vec![transition(LifecycleVerb::Archive)],
            PruneAction::Retire => vec![transition(LifecycleVerb::Retire)],
            PruneAction::Delete if address.is_memory_file() => vec![delete],
            PruneAction::Delete => vec![transition(LifecycleVerb::Retire), delete],
            PruneAction::Edit => {
                let because = Some(because.to_owned()).filter(|because| !because.is_empty());
                let revise = |(revision, text)| Change::Revise {
                    address: address.clone(),
                    expects: Some(revision),
                    draft: Draft::Edited { text, because },
                };
                text.map(revise).into_iter().collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_of_an_age_is_the_published_formula() {
        for (days, half_life, expected) in [
            (365, half_life_of_type("value"), 50),
            (1213, 365, 90),
            (180, half_life_of_type("User"), 50),
            (598, 180, 90),
            (90, half_life_of_type("feedback"), 50),
            (299, 90, 90),
            (60, half_life_of_type("reference"), 50),
            (14, half_life_of_type("PROJECT"), 50),
            (28, 14, 75),
            (30, half_life_of_type("other"), 50),
            (100, 30, 90),
            (0, 30, 0),
            (-5, 30, 0),
            (100_000, 14, 100),
        ] {
            let now = Timestamp(200_000 * DAY);
            let age = Age::at(now, Timestamp(now.0 - days * DAY), AgeSource::Modified, half_life);
            assert_eq!(age.score, expected, "{days} days, half-life {half_life}");
        }
    }

    #[test]
    fn bands_begin_at_their_number() {
        for (score, band) in [
            (0, Band::Keep),
            (49, Band::Keep),
            (50, Band::Review),
            (74, Band::Review),
            (75, Band::Prune),
            (100, Band::Prune),
        ] {
            assert_eq!(Band::of(score), band, "{score}");
        }
        let counts = Distribution::of([0, 24, 25, 49, 50, 74, 75, 100].into_iter());
        assert_eq!(counts, Distribution { fresh: 2, aging: 2, review: 2, stale: 2 });
    }

    #[test]
    fn reasons_are_codes() {
        let age = |days| Age::at(Timestamp(days * DAY), Timestamp(0), AgeSource::Git, 14).reasons().join(" ");
        assert_eq!(
            [age(14), age(15), age(43)],
            ["", "older_than_half_life", "older_than_half_life significantly_past_expiry"]
        );
    }

    fn checked(kind: ClaimKind, verdict: Verdict, place: ClaimPlace) -> CheckedClaim {
        let evidence = Evidence { commit: Some("abc123".to_owned()), ..Evidence::of("x") };
        CheckedClaim {
            kind,
            text: "src/x.ts".to_owned(),
            lines: vec![1],
            place,
            verdict,
            evidence,
            held_at: Some("h".to_owned()),
        }
    }

    #[test]
    fn a_kind_counts_once_and_a_move_half() {
        use ClaimKind::{Branch, Command, File, Folder, Package, Symbol, Url};
        let broken = |kind| checked(kind, Verdict::Broken, ClaimPlace::Body);
        let moved = |kind| checked(kind, Verdict::Moved("y".to_owned()), ClaimPlace::Body);
        for (claims, once, each) in [
            (vec![], 0, 0),
            (vec![broken(File), broken(Folder), moved(File)], 20, 50),
            (vec![moved(File)], 10, 10),
            (vec![broken(Symbol), broken(Url), broken(Branch), broken(Package)], 75, 75),
            (vec![broken(Command), checked(File, Verdict::Unknown, ClaimPlace::Body)], 0, 0),
            (vec![broken(Symbol); 9], 30, 100),
        ] {
            assert_eq!(claim_points(&claims, ClaimCount::PerKind), once, "{claims:?}");
            assert_eq!(claim_points(&claims, ClaimCount::PerClaim), each, "{claims:?}");
        }
        assert_eq!((total(40, 30), total(90, 30)), (70, 100));
    }

    #[test]
    fn a_memory_is_withheld_for_its_instruction_or_when_most_of_it_is_broken() {
        use ClaimKind::{Branch, File};
        let holds = || checked(File, Verdict::Holds, ClaimPlace::Title);
        let broken = |place| checked(File, Verdict::Broken, place);
        let (body, title) = (ClaimPlace::Body, ClaimPlace::Title);
        let unknown = || checked(File, Verdict::Unknown, body);
        let moved = || checked(File, Verdict::Moved("y".to_owned()), title);
        let branch = || checked(Branch, Verdict::Broken, title);
        for (claims, expected) in [
            (vec![holds()], "shown"),
            (vec![moved()], "shown"),
            (vec![branch()], "shown"),
            (vec![holds(), broken(body)], "marked"),
            (vec![broken(body), unknown()], "marked"),
            (vec![broken(body), broken(body), unknown()], "Mostly"),
            (vec![holds(), broken(body), broken(body)], "Mostly"),
            (vec![holds(), holds(), broken(ClaimPlace::Instruction)], "InInstruction"),
            (vec![holds(), holds(), broken(title)], "InInstruction"),
        ] {
            let memory = AuditedMemory {
                address: Address::parse("decision/a").unwrap(),
                revision: Revision::of(b"a"),
                head: "h".to_owned(),
                claims: claims.clone(),
            };
            assert_eq!(AuditedMemory::parse(&memory.line()), Some(memory.clone()));
            let broken = memory.broken();
            let shown = match broken.as_ref().map(BrokenMemory::withheld) {
                None => "shown".to_owned(),
                Some(None) => "marked".to_owned(),
                Some(Some((rule, _))) => format!("{rule:?}"),
            };
            assert_eq!(shown, expected, "{claims:?}");
            if let Some(broken) = broken {
                assert_eq!(BrokenMemory::parse(&broken.line()), Some(broken.clone()));
                assert!(broken.mark().unwrap().starts_with("src/x.ts is gone since abc123"));
            }
        }
    }
}
