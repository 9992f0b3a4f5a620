//! The measures of reminders, as the set's own scorer counts them.

use std::fmt::Write as _;

use super::set::{LabelledPrompt, ShownReminders};
use crate::quality::{QualityMeasure, measure};

/// Counts over many prompts.
#[derive(Clone, Debug, Default)]
pub struct ReminderCounts {
    prompts: usize,
    tokens: f64,
    needing: usize,
    hits: usize,
    written: usize,
    written_hits: usize,
    shown: usize,
    useful: usize,
    needless: usize,
    false_alarms: usize,
    foreign: usize,
    foreign_answered: usize,
}

impl ReminderCounts {
    pub fn add(&mut self, prompt: &LabelledPrompt, shown: &ShownReminders) {
        self.prompts += 1;
        self.tokens += shown.tokens;
        self.shown += shown.addresses.len();
        self.useful += shown.addresses.iter().filter(|address| prompt.is_useful(address)).count();
        let is_hit = shown.addresses.iter().any(|address| prompt.must.contains(address));
        if !prompt.must.is_empty() {
            self.needing += 1;
            self.hits += usize::from(is_hit);
            if prompt.is_written {
                self.written += 1;
                self.written_hits += usize::from(is_hit);
            }
        } else if prompt.may.is_empty() {
            self.needless += 1;
            self.false_alarms += usize::from(!shown.addresses.is_empty());
        }
    }

    /// A prompt of another project.
    pub fn add_foreign(&mut self, shown: &ShownReminders) {
        self.foreign += 1;
        self.foreign_answered += usize::from(!shown.addresses.is_empty());
    }

    /// In the order of [`MEASURES`].
    pub fn values(&self) -> [f64; 6] {
        let share = |part: usize, all: usize| 100.0 * part as f64 / all.max(1) as f64;
        [
            share(self.hits, self.needing),
            share(self.useful, self.shown),
            share(self.false_alarms, self.needless),
            share(self.written_hits, self.written),
            share(self.foreign_answered, self.foreign),
            self.tokens / self.prompts.max(1) as f64,
        ]
    }
}

pub const MEASURES: [QualityMeasure; 6] = [
    measure("prompts with a needed memory that get it (hit), %", 55.0, 75.0, true),
    measure("shown memories that are needed or useful (precision), %", 72.0, 80.0, true),
    measure("prompts that need none and get one (false), %", 8.0, 5.0, false),
    measure("hit on written paraphrases, %", 25.0, 45.0, true),
    measure("prompts of other projects that are answered, %", 3.0, 1.0, false),
    measure("tokens injected per prompt", 45.0, 30.0, false),
];

/// How the estimate agrees with the labels, in ten bins.
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    bins: [(usize, f64, usize); 10],
}

impl Calibration {
    pub fn add(&mut self, chance: f32, is_useful: bool) {
        let bin = &mut self.bins[((chance * 10.0) as usize).min(9)];
        *bin = (bin.0 + 1, bin.1 + f64::from(chance), bin.2 + usize::from(is_useful));
    }

    /// Beside the calibration on the projects that the weights were fitted on.
    pub fn table(&self, fitted_on: &Calibration) -> String {
        let mut table = String::from(
            "| estimate | left out: memories | average | useful | fitted on: memories | average | useful |\n\
             | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        );
        let cells = |(count, sum, useful): &(usize, f64, usize)| {
            let all = (*count).max(1) as f64;
            format!("{count} | {:.2} | {:.2} |", sum / all, *useful as f64 / all)
        };
        for (at, (left_out, fitted_on)) in self.bins.iter().zip(&fitted_on.bins).enumerate() {
            let end = (at + 1) as f64 / 10.0;
            let _ = writeln!(table, "| 0.{at} to {end:.1} | {} {}", cells(left_out), cells(fitted_on));
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(must: &[&str], may: &[&str], is_written: bool) -> LabelledPrompt {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        LabelledPrompt { text: String::new(), must: set(must), may: set(may), is_written }
    }

    fn shown(addresses: &[&str], tokens: f64) -> ShownReminders {
        ShownReminders { addresses: addresses.iter().map(|name| (*name).to_owned()).collect(), tokens }
    }

    #[test]
    fn prompts_are_counted_by_their_labels() {
        let mut counts = ReminderCounts::default();
        counts.add(&prompt(&["a"], &["b"], false), &shown(&["a", "c"], 100.0));
        counts.add(&prompt(&["a"], &[], true), &shown(&["b"], 60.0));
        counts.add(&prompt(&[], &["b"], false), &shown(&["b"], 60.0));
        counts.add(&prompt(&[], &[], false), &shown(&["b"], 60.0));
        counts.add(&prompt(&[], &[], false), &shown(&[], 0.0));
        counts.add_foreign(&shown(&["a"], 1.0));
        counts.add_foreign(&shown(&[], 0.0));
        assert_eq!(counts.values(), [50.0, 40.0, 50.0, 0.0, 50.0, 56.0]);
    }

    #[test]
    fn limits_have_a_direction() {
        let verdicts = |values: [f64; 6]| -> Vec<&str> {
            MEASURES.iter().zip(values).map(|(measure, value)| measure.verdict(value)).collect()
        };
        assert_eq!(verdicts([75.0, 80.0, 5.0, 45.0, 1.0, 30.0]), ["aim met"; 6]);
        assert_eq!(verdicts([55.0, 72.0, 8.0, 25.0, 3.0, 45.0]), ["met"; 6]);
        assert_eq!(verdicts([54.9, 71.9, 8.1, 24.9, 3.1, 45.1]), ["MISSED"; 6]);
    }
}
