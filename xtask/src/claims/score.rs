//! Compares the verdicts of an audit with the labels.

use std::fmt::Write as _;

use lorelane_core::json::Json;

use super::set::{Label, LabelledSentence};

/// What an audit said about a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub verdict: String,
    pub moved_to: Option<String>,
}

impl Said {
    /// What the audit said about the claim of a sentence: about the same words, or about words that contain them or are
    /// contained in them.
    pub fn about(claims: &[Json], claim: &str) -> Option<Said> {
        let text = |json: &Json| json.at("text").and_then(Json::as_text).unwrap_or_default().to_owned();
        let is_near = |json: &&Json| {
            let text = text(json);
            text.contains(claim) || (text.len() > 3 && claim.contains(&text))
        };
        let found = claims.iter().find(|json| text(json) == claim).or_else(|| claims.iter().find(is_near))?;
        let field = |name: &str| found.at(name).and_then(Json::as_text).map(str::to_owned);
        Some(Said { verdict: field("verdict")?, moved_to: field("moved_to") })
    }

    fn is_alarm(&self) -> bool {
        matches!(self.verdict.as_str(), "broken" | "moved")
    }
}

/// How many of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub hit: usize,
    pub of: usize,
}

impl Share {
    fn add(&mut self, is_hit: bool) -> bool {
        self.hit += usize::from(is_hit);
        self.of += 1;
        is_hit
    }

    fn percent(self) -> f64 {
        100.0 * self.hit as f64 / self.of.max(1) as f64
    }
}

/// The figures of a package, or of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Gone or moved, in a plain sentence, and called broken, or moved to the right place.
    pub found: Share,
    /// Still there, and called broken or moved.
    pub alarms: Share,
    /// Gone in a sentence that says so, and still reported.
    pub negated: Share,
    /// Moved, and the new place found.
    pub moves: Share,
    /// Recognised as a claim at all.
    pub seen: Share,
}

/// The limits: found, false alarms, negated, moves, in percent.
const FOUND_MIN: f64 = 95.0;
const ALARMS_MAX: f64 = 2.0;
const NEGATED_MAX: f64 = 3.0;
const MOVES_MIN: f64 = 85.0;

impl Score {
    /// Counts one sentence. Returns what is wrong with the verdict, if anything.
    pub fn add(&mut self, sentence: &LabelledSentence, said: Option<&Said>) -> Option<String> {
        self.seen.add(said.is_some());
        let is_alarm = said.is_some_and(Said::is_alarm);
        let is_right_place = match (&sentence.label, said) {
            (Label::Moved(to), Some(said)) => said.moved_to.as_ref() == Some(to),
            _ => false,
        };
        let verdict = said.map_or("not seen", |said| said.verdict.as_str());
        let place = said.and_then(|said| said.moved_to.as_deref());
        let verdict = place.map_or(verdict.to_owned(), |place| format!("{verdict} to {place}"));
        let wrong = match (&sentence.label, sentence.is_negated) {
            (Label::Holds, _) => self.alarms.add(is_alarm).then_some("holds"),
            (_, true) => self.negated.add(is_alarm).then_some("says itself that it is gone"),
            (label, false) => {
                let is_moved = matches!(label, Label::Moved(_));
                let is_found = self.found.add(is_right_place || (is_alarm && place.is_none()));
                let is_placed = !is_moved || self.moves.add(is_right_place);
                let truth = if is_moved { "moved" } else { "gone" };
                (!is_found || !is_placed).then_some(truth)
            }
        };
        wrong.map(|truth| format!("{truth}, called {verdict}"))
    }

    pub fn is_met(&self) -> bool {
        self.found.percent() >= FOUND_MIN
            && self.alarms.percent() <= ALARMS_MAX
            && self.negated.percent() <= NEGATED_MAX
            && self.moves.percent() >= MOVES_MIN
    }

    pub fn join(&mut self, other: &Score) {
        for (own, other) in [
            (&mut self.found, other.found),
            (&mut self.alarms, other.alarms),
            (&mut self.negated, other.negated),
            (&mut self.moves, other.moves),
            (&mut self.seen, other.seen),
        ] {
            own.hit += other.hit;
            own.of += other.of;
        }
    }
}

/// Picks a figure of a score.
type ScoreColumn = fn(&Score) -> Share;

/// The figures as a table of Markdown, a column for each score.
pub fn table(scores: &[(&str, &Score)]) -> String {
    let mut text = String::from("| |");
    for (name, _) in scores {
        let _ = write!(text, " {name} |");
    }
    let _ = write!(text, " limit |\n| --- |{} ---: |\n", " ---: |".repeat(scores.len()));
    let rows: [(&str, ScoreColumn, String); 5] = [
        ("gone, and found", |score| score.found, format!("≥ {FOUND_MIN} %")),
        ("still there, and called broken or moved", |score| score.alarms, format!("≤ {ALARMS_MAX} %")),
        ("gone, reported although the sentence says so", |score| score.negated, format!("≤ {NEGATED_MAX} %")),
        ("moved, and the new place found", |score| score.moves, format!("≥ {MOVES_MIN} %")),
        ("recognised as a claim at all", |score| score.seen, String::new()),
    ];
    for (name, share, limit) in rows {
        let _ = write!(text, "| {name} |");
        for (_, score) in scores {
            let share = share(score);
            let _ = write!(text, " {} of {} ({:.1} %) |", share.hit, share.of, share.percent());
        }
        let _ = writeln!(text, " {limit} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(label: Label, is_negated: bool) -> LabelledSentence {
        let word = |text: &str| text.to_owned();
        LabelledSentence {
            text: word("See `a/x.rs`."),
            claim: word("a/x.rs"),
            kind: word("path"),
            at: word("1"),
            head: word("2"),
            label,
            is_negated,
        }
    }

    #[test]
    fn every_verdict_counts_where_it_belongs() {
        let moved = || Label::Moved("b/x.rs".to_owned());
        for (label, is_negated, said, expected) in [
            (Label::Holds, false, "holds", None),
            (Label::Holds, true, "unknown", None),
            (Label::Holds, true, "broken", Some("holds, called broken")),
            (Label::Holds, false, "moved c/x.rs", Some("holds, called moved to c/x.rs")),
            (Label::Gone, false, "broken", None),
            (Label::Gone, false, "unknown", Some("gone, called unknown")),
            (Label::Gone, false, "", Some("gone, called not seen")),
            (Label::Gone, false, "moved c/x.rs", Some("gone, called moved to c/x.rs")),
            (Label::Gone, true, "unknown", None),
            (Label::Gone, true, "broken", Some("says itself that it is gone, called broken")),
            (moved(), false, "moved b/x.rs", None),
            (moved(), false, "moved c/x.rs", Some("moved, called moved to c/x.rs")),
            (moved(), false, "broken", Some("moved, called broken")),
        ] {
            let (verdict, place) = said.split_once(' ').unwrap_or((said, ""));
            let moved_to = (!place.is_empty()).then(|| place.to_owned());
            let said = (!verdict.is_empty()).then(|| Said { verdict: verdict.to_owned(), moved_to });
            let wrong = Score::default().add(&sentence(label.clone(), is_negated), said.as_ref());
            assert_eq!(wrong.as_deref(), expected, "{label:?} {said:?}");
        }
    }

    #[test]
    fn one_missed_limit_fails_the_run() {
        let share = |hit, of| Share { hit, of };
        let good = Score {
            found: share(95, 100),
            alarms: share(1, 50),
            negated: share(1, 40),
            moves: share(17, 20),
            seen: share(200, 200),
        };
        assert!(good.is_met());
        assert!(!Score { found: share(94, 100), ..good.clone() }.is_met());
        assert!(!Score { alarms: share(2, 50), ..good.clone() }.is_met());
        assert!(!Score { negated: share(2, 40), ..good.clone() }.is_met());
        assert!(!Score { moves: share(16, 20), ..good.clone() }.is_met());
        let mut twice = good.clone();
        twice.join(&good);
        assert_eq!(twice.found, share(190, 200));
    }

    #[test]
    fn a_claim_is_found_by_its_words_or_by_words_around_them() {
        let json =
            r#"[{"text":"a/x.rs","verdict":"holds"},{"text":"src/a/x.rs","verdict":"moved","moved_to":"b"}]"#;
        let claims = Json::parse(json).unwrap();
        let claims = claims.as_list().unwrap();
        let verdict = |claim| Said::about(claims, claim).map(|said| said.verdict);
        assert_eq!(verdict("a/x.rs").as_deref(), Some("holds"));
        assert_eq!(verdict("src/a").as_deref(), Some("moved"));
        assert_eq!(verdict("y.rs"), None);
    }
}
