//! The measurements as a Markdown table, and its place in a document.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::measure::Cost;
use super::targets::{Target, Verdict};
use crate::failure::Failure;
use crate::repo;

/// Where a table belongs in a document: between two markers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Speed,
    Sets,
}

impl Place {
    fn markers(self) -> (&'static str, &'static str) {
        match self {
            Place::Speed => ("<!-- bench:begin -->", "<!-- bench:end -->"),
            Place::Sets => ("<!-- sets:begin -->", "<!-- sets:end -->"),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub job: &'static str,
    pub size: usize,
    pub median_ms: f64,
    pub p95_ms: f64,
    /// The median of the empty process, measured alternately with the job.
    pub empty_ms: f64,
    pub peak_mb: f64,
}

impl Row {
    pub fn new(job: &'static str, size: usize, costs: &[Cost], empties: &[Cost]) -> Row {
        let peak_kb = costs.iter().map(|cost| cost.peak_kb).max().unwrap_or(0);
        Row {
            job,
            size,
            median_ms: percentile(costs, 50),
            p95_ms: percentile(costs, 95),
            empty_ms: percentile(empties, 50),
            peak_mb: peak_kb as f64 / 1024.0,
        }
    }

    pub fn verdict(&self) -> Verdict {
        Target::of(self.job, self.size)
            .map_or(Verdict::Unjudged, |target| target.judge(self.size, self.empties(), self.peak_mb))
    }

    /// The cost as a multiple of an empty process, which can be compared across machines.
    pub fn empties(&self) -> f64 {
        self.median_ms / self.empty_ms
    }
}

/// The percentile by nearest rank: always a measured value.
pub fn percentile(costs: &[Cost], percent: usize) -> f64 {
    let mut times: Vec<u64> = costs.iter().map(|cost| cost.cpu_us).collect();
    times.sort_unstable();
    let rank = (times.len() * percent).div_ceil(100).max(1);
    times.get(rank - 1).map_or(0.0, |time| *time as f64 / 1000.0)
}

/// The table for the documents: what was measured, without our own limits.
pub fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| job | memories | CPU ms, median / p95 | × empty | peak MB | scripts, ms |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for row in rows {
        let target = Target::of(row.job, row.size).filter(|target| target.size == row.size);
        let scripts_ms = target.and_then(|target| target.scripts_ms);
        text.push_str(&format!(
            "| {} | {} | {:.1} / {:.1} | {:.1} | {:.1} | {} |\n",
            row.job,
            row.size,
            row.median_ms,
            row.p95_ms,
            row.empties(),
            row.peak_mb,
            scripts_ms.map_or("–".to_owned(), |ms| format!("{ms:.0}")),
        ));
    }
    text
}

/// A line for each row with a target, for the terminal.
pub fn verdicts(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let Some(target) = Target::of(row.job, row.size) else { continue };
        let verdict = match row.verdict() {
            Verdict::Unjudged => continue,
            Verdict::Missed => "MISSED",
            Verdict::Met => "met",
            Verdict::AimMet => "aim met",
        };
        let times = |limit: Option<f64>| limit.map_or("–".to_owned(), |times| format!("{times} ×"));
        text.push_str(&format!(
            "{}, {}: {:.1} × and {:.1} MB; must {} and {:.0} MB, aim {}: {verdict}\n",
            row.job,
            row.size,
            row.empties(),
            row.peak_mb,
            times(target.must),
            target.peak_mb,
            times(target.aim),
        ));
    }
    text
}

/// Replaces the table between the markers of a document. The text around it is written by hand.
pub(super) fn write(file: &Path, place: Place, table: &str) -> Result<(), Failure> {
    let (begin, end) = place.markers();
    let path = repo::root().join(file);
    let document = fs::read_to_string(&path).map_err(|error| Failure::on("read", &path, error))?;
    let document = replaced(&document, (begin, end), table).ok_or_else(|| {
        let why = "it has no place for the table";
        Failure::on("write to", &path, why).hint(format!("put the lines {begin} and {end} where it belongs"))
    })?;
    fs::write(&path, document).map_err(|error| Failure::on("write", &path, error))
}

fn replaced(document: &str, (begin, end): (&str, &str), table: &str) -> Option<String> {
    let (before, rest) = document.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}\n\n{}\n\n{end}{after}", table.trim()))
}

pub(super) fn today() -> String {
    let output = Command::new("date").args(["-u", "+%F"]).output();
    output.map_or_else(
        |_| "undated".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

pub(super) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    format!("{cores} cores, {}", model.map_or("unknown CPU", |(_, model)| model.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_measured_values() {
        let costs: Vec<Cost> = (1..=21).map(|ms| Cost { cpu_us: ms * 1000, peak_kb: 2048 }).collect();
        let row = Row::new("create", 10_000, &costs, &costs[..1]);
        assert_eq!((row.median_ms, row.p95_ms, row.empty_ms, row.peak_mb), (11.0, 20.0, 1.0, 2.0));
        assert_eq!(percentile(&costs[..1], 95), 1.0);
    }

    #[test]
    fn the_table_shows_what_was_measured_and_the_verdicts_our_limits() {
        let row = |job, size| Row { job, size, median_ms: 4.0, p95_ms: 6.26, empty_ms: 0.5, peak_mb: 9.0 };
        let rows = [
            row("create", 10_000),
            row("create", 100),
            row("list", 10_000),
            row("hook prompt", 1_000),
            row("hook guard", 10_000),
        ];
        let table = table(&rows);
        let lines: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "| create | 10000 | 4.0 / 6.3 | 8.0 | 9.0 | 280 |",
                "| create | 100 | 4.0 / 6.3 | 8.0 | 9.0 | – |",
                "| list | 10000 | 4.0 / 6.3 | 8.0 | 9.0 | – |",
                "| hook prompt | 1000 | 4.0 / 6.3 | 8.0 | 9.0 | 76 |",
                "| hook guard | 10000 | 4.0 / 6.3 | 8.0 | 9.0 | 26 |",
            ]
        );
        let verdicts = verdicts(&rows);
        let lines: Vec<&str> = verdicts.lines().collect();
        assert_eq!(
            lines,
            [
                "create, 10000: 8.0 × and 9.0 MB; must 12 × and 20 MB, aim 7.1 ×: met",
                "list, 10000: 8.0 × and 9.0 MB; must – and 20 MB, aim –: met",
                "hook prompt, 1000: 8.0 × and 9.0 MB; must 8.5 × and 20 MB, aim 4.3 ×: met",
                "hook guard, 10000: 8.0 × and 9.0 MB; must 3 × and 20 MB, aim 1.4 ×: MISSED",
            ]
        );
    }

    #[test]
    fn only_the_marked_part_of_a_document_changes() {
        let (begin, end) = Place::Sets.markers();
        let document = format!("# Speed\n\n{begin}\nold\n{end}\n\nwords\n");
        let expected = format!("# Speed\n\n{begin}\n\nnew\n\n{end}\n\nwords\n");
        assert_eq!(replaced(&document, (begin, end), "new\n"), Some(expected));
        assert_eq!(replaced("# Speed\n", (begin, end), "new"), None);
    }
}
