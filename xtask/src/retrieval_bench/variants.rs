//! The same questions as people type them, by the sets' own `variants.py`: typos, pastes, courtesy, other spellings
//! of months, questions of another conversation, other scripts.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use lorelane_core::json::Json;

use super::{Programs, Report};
use crate::failure::Failure;
use crate::sandbox::Sandbox;

/// The minimum of a figure. `clean` and `lower case` may not get worse.
struct Minimum {
    set: &'static str,
    /// The beginning of the variant's name, or its end.
    variant: &'static str,
    figure: &'static str,
    must: f64,
}

const fn minimum(set: &'static str, variant: &'static str, figure: &'static str, must: f64) -> Minimum {
    Minimum { set, variant, figure, must }
}

const MINIMA: &[Minimum] = &[
    minimum("locomo", "clean", "recall", 75.7),
    minimum("locomo", "lower case", "recall", 75.2),
    minimum("locomo", "one typo", "recall", 72.0),
    minimum("locomo", "two typos", "recall", 66.0),
    minimum("locomo", "question, then", "recall", 68.0),
    minimum("locomo", ", then question", "recall", 68.0),
    minimum("locomo", "polite", "recall", 72.0),
    minimum("locomo", "month lower", "recall", 85.0),
    minimum("locomo", "month short", "recall", 85.0),
    minimum("locomo", "month iso", "recall", 85.0),
    minimum("locomo", "foreign, as asked", "refused", 850.0),
    minimum("locomo", "foreign, lower case", "refused", 750.0),
    minimum("locomo", "foreign, with known names", "refused", 400.0),
    minimum("cosqa-dev", "clean", "recall", 70.5),
    minimum("cosqa-dev", "one typo", "recall", 66.0),
    minimum("cosqa-dev", "two typos", "recall", 60.0),
    minimum("cosqa-dev", "question, then", "recall", 45.0),
    minimum("cosqa-dev", ", then question", "recall", 45.0),
    minimum("scripts", "", "hit1", 13.0),
];

/// Runs the script of the sets in this folder; `None` if it has none.
pub fn table(folder: &Path, programs: &Programs) -> Result<Option<Report>, Failure> {
    let script = folder.join("variants.py");
    if !script.is_file() {
        return Ok(None);
    }
    let home = Sandbox::empty("variants")?;
    let mut command = Command::new("python3");
    command.arg(&script).arg(folder).arg("--bin").arg(&programs.binary).arg("--json");
    command.env("LORELANE_HOME", home.home());
    let output = command.output().map_err(|error| Failure::on("run python3 with", &script, error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Failure::on("run python3 with", &script, said));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let figures =
        Json::parse(said.trim()).map_err(|fault| Failure::on("read the answer of", &script, fault))?;
    Ok(Some(report(&figures)))
}

/// The figures as a table, each with its minimum.
pub fn report(figures: &Json) -> Report {
    let mut tables =
        String::from("| set, as typed | R@10 or hit@1 | refused | of |\n| --- | ---: | ---: | ---: |\n");
    let mut verdicts = String::new();
    let mut met = true;
    for (set, variants) in entries(figures) {
        for (variant, figures) in entries(variants) {
            let figure = |name: &str| figures.at(name).and_then(Json::as_f64);
            let shown = |name: &str| figure(name).map_or("–".to_owned(), |value| value.to_string());
            let found = if figure("recall").is_some() { "recall" } else { "hit1" };
            let all = if figure("n").is_some() { "n" } else { "of" };
            let _ = writeln!(
                tables,
                "| {set}, {variant} | {} | {} | {} |",
                shown(found),
                shown("refused"),
                shown(all)
            );
            let is_its = |minimum: &&Minimum| {
                minimum.set == set
                    && (variant.starts_with(minimum.variant) || variant.ends_with(minimum.variant))
            };
            // The longest name: `lower case` is also the end of another variant.
            let minimum = MINIMA.iter().filter(is_its).max_by_key(|minimum| minimum.variant.len());
            if let Some(minimum) = minimum {
                let value = figure(minimum.figure).unwrap_or(0.0);
                let verdict = if value >= minimum.must { "met" } else { "MISSED" };
                met &= value >= minimum.must;
                let _ = writeln!(
                    verdicts,
                    "{set}, {variant}: {} {value}; must {}: {verdict}",
                    minimum.figure, minimum.must
                );
            }
        }
    }
    Report { tables, verdicts, met }
}

fn entries(json: &Json) -> impl Iterator<Item = (&str, &Json)> {
    json.as_object().into_iter().flat_map(|object| object.iter())
}
