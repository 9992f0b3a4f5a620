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
    /// The median of the empty process, measured in turns with the job.
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

    /// How many empty processes cost as much: the figure that can be compared across machines.
    pub fn empties(&self) -> f64 {
        self.median_ms / self.empty_ms
    }
}

/// By nearest rank: a value that was measured, never one in between.
pub fn percentile(costs: &[Cost], percent: usize) -> f64 {
    let mut times: Vec<u64> = costs.iter().map(|cost| cost.cpu_us).collect();
    times.sort_unstable();
    let rank = (times.len() * percent).div_ceil(100).max(1);
    times.get(rank - 1).map_or(0.0, |time| *time as f64 / 1000.0)
}

pub fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| job | memories | CPU ms, median / p95 | × empty | peak MB | must | aim | scripts | verdict |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n",
    );
    for row in rows {
        let target = Target::of(row.job, row.size);
        let or_dash = |limit: Option<String>| limit.unwrap_or_else(|| "–".to_owned());
        let must = target.map(|target| {
            let time = target.must.map(|times| format!("{times} ×, ")).unwrap_or_default();
            format!("{time}{:.0} MB", target.peak_mb)
        });
        text.push_str(&format!(
            "| {} | {} | {:.1} / {:.1} | {:.1} | {:.1} | {} | {} | {} | {} |\n",
            row.job,
            row.size,
            row.median_ms,
            row.p95_ms,
            row.empties(),
            row.peak_mb,
            or_dash(must),
            or_dash(target.and_then(|target| target.aim).map(|times| format!("{times} ×"))),
            or_dash(target.and_then(|target| target.scripts_ms).map(|ms| format!("{ms:.0}"))),
            match row.verdict() {
                Verdict::Unjudged => "–",
                Verdict::Missed => "**missed**",
                Verdict::Met => "met",
                Verdict::AimMet => "aim met",
            }
        ));
    }
    text
}

/// Puts the table between the markers of a document; the words around it are a person's.
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
    fn the_table_shows_targets_and_verdict() {
        let row = |job, size| Row { job, size, median_ms: 4.0, p95_ms: 6.26, empty_ms: 0.5, peak_mb: 9.0 };
        let table = table(&[
            row("create", 10_000),
            row("create", 100),
            row("list", 10_000),
            row("hook prompt", 1_000),
            row("hook guard", 10_000),
        ]);
        let lines: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "| create | 10000 | 4.0 / 6.3 | 8.0 | 9.0 | 12 ×, 20 MB | 7.1 × | 280 | met |",
                "| create | 100 | 4.0 / 6.3 | 8.0 | 9.0 | 12 ×, 20 MB | 7.1 × | 280 | – |",
                "| list | 10000 | 4.0 / 6.3 | 8.0 | 9.0 | 20 MB | – | – | met |",
                "| hook prompt | 1000 | 4.0 / 6.3 | 8.0 | 9.0 | 8.6 ×, 20 MB | 4.3 × | 76 | met |",
                "| hook guard | 10000 | 4.0 / 6.3 | 8.0 | 9.0 | 2 ×, 20 MB | 1.4 × | 26 | **missed** |",
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
