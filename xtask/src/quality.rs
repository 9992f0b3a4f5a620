//! Measures of quality with their limits, on projects that the weights were not fitted on and on those that they were.

use std::fmt::Write as _;

/// A measure with its limits.
#[derive(Debug)]
pub struct QualityMeasure {
    pub name: &'static str,
    pub must: f64,
    pub aim: f64,
    pub more_is_better: bool,
}

pub const fn measure(name: &'static str, must: f64, aim: f64, more_is_better: bool) -> QualityMeasure {
    QualityMeasure { name, must, aim, more_is_better }
}

impl QualityMeasure {
    pub fn verdict(&self, value: f64) -> &'static str {
        let reaches = |limit: f64| if self.more_is_better { value >= limit } else { value <= limit };
        if reaches(self.aim) {
            "aim met"
        } else if reaches(self.must) {
            "met"
        } else {
            "MISSED"
        }
    }
}

/// What was measured for each of the measures.
#[derive(Debug)]
pub struct Measured {
    pub values: Vec<f64>,
    /// The counts behind the values, to be printed after them; may be empty.
    pub counts: Vec<String>,
}

impl Measured {
    fn cell(&self, at: usize) -> String {
        let count = self.counts.get(at).map(|count| format!(" ({count})")).unwrap_or_default();
        format!("{:.1}{count}", self.values[at])
    }
}

/// A table, a line for each measure, and whether all limits are met.
#[derive(Debug)]
pub struct Verdicts {
    pub table: String,
    pub lines: String,
    pub met: bool,
}

impl Verdicts {
    /// `left_out` is judged: what was fitted on is better than it will be elsewhere.
    pub fn of(
        heading: &str,
        measures: &[QualityMeasure],
        left_out: &Measured,
        fitted_on: &Measured,
    ) -> Verdicts {
        let table = format!("| {heading} | left out | fitted on |\n| --- | ---: | ---: |\n");
        let mut verdicts = Verdicts { table, lines: String::new(), met: true };
        for (at, measure) in measures.iter().enumerate() {
            let QualityMeasure { name, must, aim, .. } = measure;
            let _ = writeln!(verdicts.table, "| {name} | {} | {} |", left_out.cell(at), fitted_on.cell(at));
            let (value, fitted) = (left_out.values[at], fitted_on.values[at]);
            let verdict = measure.verdict(value);
            verdicts.met &= verdict != "MISSED";
            let _ = writeln!(
                verdicts.lines,
                "{name}: {value:.1} left out, {fitted:.1} in sample; must {must}, aim {aim}: {verdict}"
            );
        }
        verdicts
    }
}
