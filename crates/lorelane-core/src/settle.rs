//! Decides from facts whether a claim still holds.
//!
//! What was never seen to hold is `Unknown` and not `Broken`: the text may name something of another project, or
//! the word may be an example. A missing tool must not make every memory look stale.

use crate::claim::{Claim, ClaimKind, Stance};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "verdict", content = "moved_to")]
pub enum Verdict {
    Holds,
    /// It is elsewhere now.
    Moved(String),
    Broken,
    Unknown,
}

impl Verdict {
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Moved(_) => "moved",
            Verdict::Broken => "broken",
            Verdict::Unknown => "unknown",
        }
    }
}

/// Why a verdict is as it is: a sentence, and where to look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub why: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether a new place was inferred from a name alone.
    #[serde(default, skip_serializing_if = "is_false")]
    pub by_name: bool,
    /// Whether it could not be checked: the next audit tries again.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unchecked: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Evidence {
    pub fn of(why: impl Into<String>) -> Evidence {
        Evidence { why: why.into(), ..Evidence::default() }
    }
}

/// A place in the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    pub file: String,
    pub line: Option<usize>,
}

/// What the repository has now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is there; for a file, at this path.
    There(Site),
    /// Several things may be meant.
    Ambiguous(Vec<String>),
    /// Git ignores it, so it may exist on another machine.
    Ignored,
    /// Only prose still has it.
    OnlyInProse(Site),
    /// The repository has another version of it.
    Differs(Site, String),
    Missing,
    /// The server says that there is nothing at this address.
    NotFound(u16),
    /// It could not be checked, and why.
    Unchecked(String),
}

/// Where it was seen to hold: in a commit, or by an earlier audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sighting {
    Commit(String),
    Audit,
}

/// Where something is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewPlace {
    /// Git found the same content there.
    Renamed(String),
    /// It is the only file of this name, or the only new one: a guess.
    SameName(String),
}

/// What the engine found out about one claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    pub now: Presence,
    pub seen: Option<Sighting>,
    /// Its new place, if it was moved.
    pub moved_to: Option<NewPlace>,
    /// The commit that removed it, or merged a branch.
    pub ended_in: Option<String>,
    /// The whole path that a path stood for.
    pub was_at: Option<String>,
}

impl Facts {
    pub fn now(now: Presence) -> Facts {
        Facts { now, seen: None, moved_to: None, ended_in: None, was_at: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    pub verdict: Verdict,
    pub evidence: Evidence,
}

/// The verdict on a claim. `None` if the text claims nothing: it negates what it names or says that it is gone, or it is
/// a plan that history has not seen.
pub fn settle(claim: &Claim, facts: &Facts) -> Option<Settled> {
    let is_absent = matches!(facts.now, Presence::Missing | Presence::OnlyInProse(_) | Presence::Differs(..));
    let is_dropped = match claim.stance {
        Stance::Negated | Stance::Gone => true,
        Stance::Tentative => is_absent && facts.seen.is_none(),
        Stance::Plain | Stance::Doubtful => false,
    };
    (!is_dropped).then(|| verdict(claim, facts))
}

fn verdict(claim: &Claim, facts: &Facts) -> Settled {
    let unknown = |evidence| Settled { verdict: Verdict::Unknown, evidence };
    match &facts.now {
        Presence::There(site) => Settled { verdict: Verdict::Holds, evidence: at(claim, site) },
        Presence::Unchecked(why) => unknown(Evidence { unchecked: true, ..Evidence::of(why.clone()) }),
        Presence::Ignored => unknown(Evidence::of("ignored by git")),
        Presence::Ambiguous(candidates) => {
            unknown(Evidence::of(format!("several candidates: {}", candidates.join(", "))))
        }
        // The server knows: whether it was ever seen does not matter.
        Presence::NotFound(_) => absent(claim, &Facts { seen: Some(Sighting::Audit), ..facts.clone() }),
        Presence::OnlyInProse(_) | Presence::Differs(..) | Presence::Missing => absent(claim, facts),
    }
}

/// The verdict on what is not there.
fn absent(claim: &Claim, facts: &Facts) -> Settled {
    let unknown = |why: &str| Settled { verdict: Verdict::Unknown, evidence: Evidence::of(why) };
    match (claim.stance, &facts.seen) {
        (Stance::Doubtful, _) => return unknown("its sentence does not say that it is there"),
        (_, None) => return unknown("never seen to hold"),
        (_, Some(_)) => {}
    }
    if let Some(place) = &facts.moved_to {
        let (to, why, by_name) = match place {
            NewPlace::Renamed(to) => (to, format!("moved to {to}"), false),
            NewPlace::SameName(to) => (to, format!("gone; by its name it may be {to} now"), true),
        };
        let (file, commit) = (Some(to.clone()), facts.ended_in.clone());
        let evidence = Evidence { file, commit, by_name, ..Evidence::of(why) };
        return Settled { verdict: Verdict::Moved(to.clone()), evidence };
    }
    Settled { verdict: Verdict::Broken, evidence: ending(claim, facts) }
}

fn at(claim: &Claim, site: &Site) -> Evidence {
    let why = match (claim.kind.is_path() && site.file == claim.text, site.file.is_empty()) {
        (true, _) | (_, true) => "found".to_owned(),
        (false, false) => match site.line {
            Some(line) => format!("found in {}:{line}", site.file),
            None => format!("found as {}", site.file),
        },
    };
    let file = (!site.file.is_empty()).then(|| site.file.clone());
    Evidence { file, line: site.line, ..Evidence::of(why) }
}

fn ending(claim: &Claim, facts: &Facts) -> Evidence {
    let seen = match &facts.seen {
        Some(Sighting::Commit(commit)) => format!("; it was there in {commit}"),
        Some(Sighting::Audit) => "; an earlier audit found it".to_owned(),
        None => String::new(),
    };
    let commit = facts.ended_in.clone();
    let gone = match (&commit, claim.kind) {
        (Some(commit), ClaimKind::Branch) => format!("merged in {commit} and deleted"),
        (Some(commit), _) => format!("gone since {commit}"),
        (None, _) => "gone".to_owned(),
    };
    match &facts.now {
        Presence::NotFound(status) => Evidence::of(format!("the server answered {status}")),
        Presence::OnlyInProse(site) => Evidence {
            file: Some(site.file.clone()),
            line: site.line,
            commit,
            why: format!("{gone}; only {} still mentions it{seen}", site.file),
            ..Evidence::default()
        },
        Presence::Differs(site, version) => Evidence {
            file: Some(site.file.clone()),
            line: site.line,
            commit,
            why: format!("{} has {version}{seen}", site.file),
            ..Evidence::default()
        },
        _ => Evidence { commit, file: facts.was_at.clone(), ..Evidence::of(format!("{gone}{seen}")) },
    }
}

/// Whether a broken claim is only for information. A branch that was merged and deleted took nothing away.
pub fn is_information(kind: ClaimKind) -> bool {
    matches!(kind, ClaimKind::Branch | ClaimKind::Url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::ClaimPlace;

    fn claim(kind: ClaimKind, text: &str, stance: Stance) -> Claim {
        Claim { kind, text: text.to_owned(), lines: vec![3], stance, place: ClaimPlace::Body }
    }

    fn site(file: &str, line: Option<usize>) -> Site {
        Site { file: file.to_owned(), line }
    }

    #[test]
    fn every_fact_has_its_verdict() {
        use ClaimKind::{Branch, File, Symbol, Url, Version};
        use Presence::{Ambiguous, Differs, Ignored, Missing, NotFound, OnlyInProse, There, Unchecked};
        use Stance::{Doubtful, Gone, Negated, Plain, Tentative};
        let commit = || Some(Sighting::Commit("aa11".to_owned()));
        let audit = || Some(Sighting::Audit);
        let table = [
            (File, Plain, There(site("lib/x.rs", None)), None, "holds: found"),
            (File, Plain, There(site("a/lib/x.rs", None)), None, "holds: found as a/lib/x.rs"),
            (Symbol, Doubtful, There(site("a.rs", Some(4))), None, "holds: found in a.rs:4"),
            // What is negated or said to be gone is no claim, whether it is there or not.
            (Symbol, Gone, There(site("a.rs", Some(4))), None, "dropped"),
            (Symbol, Negated, There(site("a.rs", Some(4))), None, "dropped"),
            (File, Plain, Ignored, commit(), "unknown: ignored by git"),
            (File, Plain, Unchecked("no git".to_owned()), commit(), "unknown: no git"),
            (
                File,
                Plain,
                Ambiguous(vec!["a/x".into(), "b/x".into()]),
                commit(),
                "unknown: several candidates: a/x, b/x",
            ),
            (File, Plain, Missing, None, "unknown: never seen to hold"),
            (File, Tentative, Missing, None, "dropped"),
            (File, Tentative, There(site("lib/x.rs", None)), None, "holds: found"),
            (File, Tentative, Missing, commit(), "broken: gone since ee55; it was there in aa11"),
            (File, Plain, Missing, commit(), "broken: gone since ee55; it was there in aa11"),
            (File, Plain, Missing, audit(), "broken: gone since ee55; an earlier audit found it"),
            (File, Gone, Missing, commit(), "dropped"),
            (File, Negated, Missing, commit(), "dropped"),
            (File, Doubtful, Missing, commit(), "unknown: its sentence does not say that it is there"),
            (
                Symbol,
                Plain,
                OnlyInProse(site("README.md", Some(2))),
                commit(),
                "broken: gone since ee55; only README.md still mentions it; it was there in aa11",
            ),
            (Symbol, Plain, OnlyInProse(site("README.md", Some(2))), None, "unknown: never seen to hold"),
            (Url, Plain, NotFound(404), None, "broken: the server answered 404"),
            (Url, Gone, NotFound(410), None, "dropped"),
            (
                Version,
                Plain,
                Differs(site(".nvmrc", Some(1)), "22".to_owned()),
                commit(),
                "broken: .nvmrc has 22; it was there in aa11",
            ),
            (
                Version,
                Plain,
                Differs(site(".nvmrc", Some(1)), "22".to_owned()),
                None,
                "unknown: never seen to hold",
            ),
            (
                Branch,
                Plain,
                Missing,
                audit(),
                "broken: merged in ee55 and deleted; an earlier audit found it",
            ),
        ];
        for (kind, stance, now, seen, expected) in table {
            let facts = Facts { seen, ended_in: Some("ee55".to_owned()), ..Facts::now(now) };
            let settled = settle(&claim(kind, "lib/x.rs", stance), &facts);
            let said = settled.map(|said| format!("{}: {}", said.verdict.name(), said.evidence.why));
            assert_eq!(said.as_deref().unwrap_or("dropped"), expected, "{kind} {stance:?} {facts:?}");
        }
    }

    #[test]
    fn a_move_counts_only_for_what_was_there_and_is_not_said_to_be_gone() {
        let to = "new/x.rs".to_owned();
        for (stance, seen, expected) in [
            (Stance::Plain, Some(Sighting::Audit), Verdict::Moved(to.clone())),
            (Stance::Plain, None, Verdict::Unknown),
            (Stance::Doubtful, Some(Sighting::Audit), Verdict::Unknown),
        ] {
            for place in [NewPlace::Renamed(to.clone()), NewPlace::SameName(to.clone())] {
                let is_by_name = matches!(place, NewPlace::SameName(_));
                let moved_to = Some(place);
                let facts = Facts { seen: seen.clone(), moved_to, ..Facts::now(Presence::Missing) };
                let settled = settle(&claim(ClaimKind::File, "old/x.rs", stance), &facts).unwrap();
                assert_eq!(settled.verdict, expected, "{stance:?}");
                assert_eq!(settled.evidence.by_name, is_by_name && expected != Verdict::Unknown);
            }
        }
    }
}
