//! Checks the journeys in `ARCHITECTURE.md`: every step names a function that is in the file it names.

use super::Fault;
use super::map::full_path;
use super::source::code_only;

const MAP: &str = "ARCHITECTURE.md";
const SECTION: &str = "## Journeys";
const JOURNEYS: usize = 5;
const STEPS_MAX: usize = 12;

/// `read` returns a file of the repository, or `None` if there is none.
pub fn check(map: &str, read: impl Fn(&str) -> Option<String>) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |line: usize, what: String| faults.push(Fault { path: MAP.to_owned(), line, what });
    let mut journeys = 0;
    let mut steps = 0;
    let lines = map.lines().enumerate().skip_while(|(_, line)| *line != SECTION).skip(1);
    for (index, line) in lines.take_while(|(_, line)| !line.starts_with("## ")) {
        let number = index + 1;
        if line.starts_with("### ") {
            journeys += 1;
            steps = 0;
        }
        let Some(step) = step(line) else { continue };
        steps += 1;
        if steps == STEPS_MAX + 1 {
            fault(
                number,
                format!("has a journey of more than {STEPS_MAX} steps: leave out what a reader need not see"),
            );
        }
        let mut spans = step.split('`').skip(1).step_by(2);
        let (Some(short), Some(function)) = (spans.next(), spans.next()) else {
            fault(
                number,
                "has a step that does not begin with a file and a function in backticks".to_owned(),
            );
            continue;
        };
        let Some(code) = full_path(short).and_then(|path| read(&path)) else {
            fault(number, format!("names `{short}`, which does not exist"));
            continue;
        };
        if !defines(&code_only(&code), function) {
            fault(number, format!("names the function `{function}`, which `{short}` does not have"));
        }
    }
    if journeys != JOURNEYS {
        fault(0, format!("has {journeys} journeys below `{SECTION}` instead of {JOURNEYS}"));
    }
    faults
}

/// The text of a numbered line.
fn step(line: &str) -> Option<&str> {
    let (number, text) = line.split_once(". ")?;
    number.parse::<usize>().ok().map(|_| text)
}

fn defines(code: &str, function: &str) -> bool {
    let begins = [format!("fn {function}("), format!("fn {function}<")];
    begins.iter().any(|begin| code.contains(begin.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "fn main() {}\n// fn gone() {}\npub fn ask<T>(x: T) {}\n";

    fn journey(steps: &[&str]) -> String {
        let steps: String =
            steps.iter().enumerate().map(|(at, step)| format!("{}. {step}\n", at + 1)).collect();
        format!("### One\n\n{steps}\n")
    }

    fn faults(first: &str) -> Vec<String> {
        let others = "### Another\n".repeat(JOURNEYS - 1);
        let map = format!("# Map\n\n1. no step\n\n## Journeys\n\n{first}{others}\n## After\n\n1. no step\n");
        let read = |path: &str| (path == "crates/lorelane/src/main.rs").then(|| CODE.to_owned());
        check(&map, read).iter().map(Fault::to_string).collect()
    }

    #[test]
    fn a_true_journey_passes() {
        let steps = ["`lorelane/main.rs` `main` chooses", "`lorelane/main.rs` `ask` asks `x` of `y`"];
        assert_eq!(faults(&journey(&steps)), [""; 0]);
    }

    #[test]
    fn a_step_that_is_not_so_is_a_fault() {
        for (step, expected) in [
            ("`lorelane/old.rs` `main`", "names `lorelane/old.rs`, which does not exist"),
            ("`xtask/main.rs` `main`", "names `xtask/main.rs`, which does not exist"),
            (
                "`lorelane/main.rs` `gone`",
                "names the function `gone`, which `lorelane/main.rs` does not have",
            ),
            (
                "`lorelane/main.rs` goes on",
                "has a step that does not begin with a file and a function in backticks",
            ),
        ] {
            assert_eq!(faults(&journey(&[step])), [format!("ARCHITECTURE.md:9: {expected}")]);
        }
    }

    #[test]
    fn journeys_are_five_and_short() {
        let step = "`lorelane/main.rs` `main`";
        assert_eq!(faults(&journey(&[step; STEPS_MAX])), [""; 0]);
        let long = faults(&journey(&[step; STEPS_MAX + 2]));
        assert_eq!(long.len(), 1, "{long:?}");
        assert!(long[0].contains("more than 12 steps"), "{long:?}");
        assert_eq!(faults(""), ["ARCHITECTURE.md: has 4 journeys below `## Journeys` instead of 5"]);
    }
}
