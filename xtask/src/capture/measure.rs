//! The measures of the detector, as the set's own scorer counts them.

use std::fmt::Write as _;

use lorelane_core::conversation::Speaker;
use lorelane_core::statements::{ASK_MAX, ScoredStatement, StatementKind, to_ask};

use super::set::LabelledConversation;
use crate::quality::{QualityMeasure, measure};

/// Counts over many conversations, for one list of items per conversation.
#[derive(Clone, Debug, Default)]
pub struct CaptureCounts {
    empty: usize,
    empty_with_items: usize,
    items: usize,
    right: usize,
    of_user: usize,
    clear: usize,
    clear_found: usize,
    kinds: usize,
    kinds_right: usize,
    /// Clear labels found, and all, by kind.
    by_kind: [(usize, usize); 6],
}

impl CaptureCounts {
    pub fn add(&mut self, labelled: &LabelledConversation, items: &[&ScoredStatement]) {
        if labelled.labels.is_empty() {
            self.empty += 1;
            self.empty_with_items += usize::from(!items.is_empty());
        }
        let mut found = vec![false; labelled.labels.len()];
        for item in items {
            let met = labelled.met_by(&item.statement);
            self.items += 1;
            self.right += usize::from(!met.is_empty());
            self.of_user += usize::from(item.statement.speaker == Speaker::Human);
            for label in met {
                let kind = labelled.labels[label].kind;
                if !found[label] || kind == Some(item.kind) {
                    found[label] = true;
                    self.kinds += 1;
                    self.kinds_right += usize::from(kind.is_some_and(|kind| passes_for(item.kind, kind)));
                }
            }
        }
        for (label, found) in labelled.labels.iter().zip(found).filter(|(label, _)| label.is_clear) {
            self.clear += 1;
            self.clear_found += usize::from(found);
            if let Some(kind) = label.kind {
                let (found_of_kind, all) = &mut self.by_kind[kind as usize];
                *found_of_kind += usize::from(found);
                *all += 1;
            }
        }
    }

    fn share(part: usize, all: usize) -> f64 {
        100.0 * part as f64 / all.max(1) as f64
    }

    pub fn asks_in_empty(&self) -> f64 {
        CaptureCounts::share(self.empty_with_items, self.empty)
    }

    pub fn precision(&self) -> f64 {
        CaptureCounts::share(self.right, self.items)
    }

    pub fn recall(&self) -> f64 {
        CaptureCounts::share(self.clear_found, self.clear)
    }
}

/// Whether a kind is right for a label, leniently: a correction may be saved as what it corrects.
fn passes_for(kind: StatementKind, label: StatementKind) -> bool {
    use StatementKind::{Constraint, Correction, Decision, Preference};
    kind == label || (label == Correction && matches!(kind, Decision | Preference | Constraint))
}

/// What is asked and what waits in the inbox.
#[derive(Clone, Debug, Default)]
pub struct CaptureMeasures {
    pub asked: CaptureCounts,
    pub inbox: CaptureCounts,
}

impl CaptureMeasures {
    /// Adds a conversation whose agent is asked once, at the first stop with a reason to.
    pub fn add(&mut self, labelled: &LabelledConversation, found: &[ScoredStatement]) {
        let mut asked: Vec<&ScoredStatement> = Vec::new();
        for message in 0..labelled.conversation.messages.len() {
            let start = found.partition_point(|item| item.statement.message < message);
            let end = found.partition_point(|item| item.statement.message <= message);
            let reasons = to_ask(&found[start..end], |found| found.score).into_iter().take(ASK_MAX);
            let again = !asked.is_empty();
            asked.extend(reasons.filter(|reason| !again || reason.is_request));
        }
        self.asked.add(labelled, &asked);
        self.inbox.add(labelled, &found.iter().collect::<Vec<_>>());
    }

    /// In the order of [`MEASURES`].
    pub fn values(&self) -> [f64; 6] {
        let CaptureMeasures { asked, inbox } = self;
        [
            asked.asks_in_empty(),
            asked.precision(),
            inbox.recall(),
            inbox.precision(),
            CaptureCounts::share(inbox.kinds_right, inbox.kinds),
            CaptureCounts::share(inbox.of_user, inbox.items),
        ]
    }

    /// The counts behind the values.
    pub fn counts(&self) -> [String; 6] {
        let CaptureMeasures { asked, inbox } = self;
        let of = |part: usize, all: usize| format!("{part} of {all}");
        [
            of(asked.empty_with_items, asked.empty),
            of(asked.right, asked.items),
            of(inbox.clear_found, inbox.clear),
            of(inbox.right, inbox.items),
            of(inbox.kinds_right, inbox.kinds),
            of(inbox.of_user, inbox.items),
        ]
    }

    pub fn kinds_table(&self, in_sample: &CaptureMeasures) -> String {
        let mut table =
            String::from("| clear labels found | left out | fitted on |\n| --- | ---: | ---: |\n");
        for kind in StatementKind::ALL {
            let (found, all) = self.inbox.by_kind[kind as usize];
            let (fitted, _) = in_sample.inbox.by_kind[kind as usize];
            let _ = writeln!(table, "| {} | {found} of {all} | {fitted} |", kind.name());
        }
        table
    }
}

pub const MEASURES: [QualityMeasure; 6] = [
    measure("asked: sessions with nothing to keep in which it asks, %", 10.0, 5.0, false),
    measure("asked: items that are a label, %", 40.0, 60.0, true),
    measure("inbox: clear labels found, %", 35.0, 55.0, true),
    measure("inbox: items that are a label, %", 25.0, 45.0, true),
    measure("kind right, of found items, %", 60.0, 80.0, true),
    measure("items that are the user's words, %", 80.0, 80.0, true),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::set::StatementLabel;
    use lorelane_core::conversation::{Conversation, Message, TranscriptPosition};
    use lorelane_core::statements::Statement;

    const TURNS: [&str; 2] = ["Always run the linter first", "Please keep the old parser for now"];

    fn labelled(labels: &[(usize, StatementKind)]) -> LabelledConversation {
        let messages = TURNS.iter().zip(1..).map(|(text, line)| Message {
            at: TranscriptPosition::Line(line),
            speaker: Speaker::Human,
            text: (*text).to_owned(),
            tools: Vec::new(),
        });
        let label = |(message, kind): &(usize, StatementKind)| StatementLabel {
            message: *message,
            quote: TURNS[*message].to_owned(),
            kind: Some(*kind),
            is_clear: true,
            sentence: TURNS[*message].to_owned(),
        };
        LabelledConversation {
            repository: String::new(),
            conversation: Conversation { messages: messages.collect() },
            labels: labels.iter().map(label).collect(),
        }
    }

    fn item(message: usize, kind: StatementKind, score: f64, is_request: bool) -> ScoredStatement {
        let words = TURNS[message].to_owned();
        let at = TranscriptPosition::Line(message as u64 + 1);
        let span = 0..words.len();
        ScoredStatement {
            statement: Statement { message, at, speaker: Speaker::Human, span, words },
            kind,
            score,
            is_request,
            evidence: Vec::new(),
        }
    }

    #[test]
    fn conversations_are_counted_by_their_labels() {
        use StatementKind::{Correction, Decision, Preference, TechDebt};
        let mut measures = CaptureMeasures::default();
        // The agent is asked about the first; the second comes later and only waits.
        let both = [item(0, Preference, 0.9, false), item(1, TechDebt, 0.9, false)];
        measures.add(&labelled(&[(0, Correction), (1, Decision)]), &both);
        measures.add(&labelled(&[]), &[item(0, Preference, 0.3, false)]);
        measures.add(&labelled(&[]), &[item(1, Preference, 0.9, false)]);
        assert_eq!(measures.values(), [50.0, 50.0, 100.0, 50.0, 50.0, 100.0]);
        assert_eq!(measures.counts()[2..4], ["2 of 2", "2 of 4"]);
    }

    #[test]
    fn a_request_of_the_user_is_asked_about_once_more() {
        use StatementKind::Preference;
        let mut measures = CaptureMeasures::default();
        let both = [item(0, Preference, 0.9, false), item(1, Preference, 1.0, true)];
        measures.add(&labelled(&[(0, Preference), (1, Preference)]), &both);
        assert_eq!(measures.counts()[1], "2 of 2");
    }

    #[test]
    fn limits_have_a_direction() {
        let verdicts = |values: [f64; 6]| -> Vec<&str> {
            MEASURES.iter().zip(values).map(|(measure, value)| measure.verdict(value)).collect()
        };
        assert_eq!(verdicts([5.0, 60.0, 55.0, 45.0, 80.0, 80.0]), ["aim met"; 6]);
        assert_eq!(verdicts([10.1, 39.9, 34.9, 24.9, 59.9, 79.9]), ["MISSED"; 6]);
    }
}
