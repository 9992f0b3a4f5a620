//! The quality of recall, with all signals and with each of them switched off in turn.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lorelane_core::recall::Query;
use lorelane_core::recall::doc_entry::FieldBoost;
use lorelane_core::recall::score::Weights;
use lorelane_core::time::Timestamp;
use lorelane_engine::env::Env;
use lorelane_engine::workspace::Workspace;

use super::score::{Found, Ranked, Score, score};
use super::{Question, Report, Set};
use crate::failure::Failure;
use crate::sandbox::Sandbox;

/// Enough passages for a measure of ten units.
const HITS: usize = 60;
/// Later than every memory of the sets, so that none is recent.
const NOW: Timestamp = Timestamp(1_900_000_000);

/// A set of weights and its name.
#[derive(Clone, Debug)]
struct Way {
    name: &'static str,
    weights: Weights,
    boost: FieldBoost,
}

fn ways() -> Vec<Way> {
    let all = Weights { floor: f32::MIN, ..Weights::default() };
    let off = |name, weights: Weights| Way { name, weights, boost: FieldBoost::default() };
    let usual = FieldBoost::default();
    let said = |name, boost: FieldBoost| Way { name, weights: all.clone(), boost };
    vec![
        off("everything", all.clone()),
        off(
            "words alone, without context",
            Weights {
                meaning: 0.0,
                window: 0.0,
                section: 0.0,
                memory: 0.0,
                length: 0.0,
                speaker: 0.0,
                date: 0.0,
                ..all.clone()
            },
        ),
        off("words alone", Weights { meaning: 0.0, ..all.clone() }),
        off("meaning alone", Weights { words: 0.0, ..all.clone() }),
        off("without `around`", Weights { window: 0.0, ..all.clone() }),
        off("without `section`", Weights { section: 0.0, ..all.clone() }),
        off("without `memory`", Weights { memory: 0.0, ..all.clone() }),
        off("without `length`", Weights { length: 0.0, ..all.clone() }),
        off("without `speaker`", Weights { speaker: 0.0, ..all.clone() }),
        off("without `date`", Weights { date: 0.0, ..all.clone() }),
        said("without title words", FieldBoost { title: 0, ..usual }),
        said("without the first words", FieldBoost { lead: 0.0, ..usual }),
        off("with the relevance bar", Weights::default()),
    ]
}

/// The limits of a measure: the minimum and the aim.
struct Target {
    set: &'static str,
    measure: &'static str,
    plain: &'static str,
    must: f64,
    aim: f64,
}

const TARGETS: &[Target] = &[
    Target { set: "locomo", measure: "R@10", plain: "61.6", must: 78.5, aim: 80.0 },
    Target { set: "locomo", measure: "files, hit@5", plain: "92.5", must: 94.6, aim: 96.0 },
    Target { set: "locomo", measure: "files, all@5", plain: "82.8", must: 86.4, aim: 88.0 },
    Target { set: "beam", measure: "R@10", plain: "42.7", must: 60.0, aim: 63.0 },
    Target { set: "cosqa-dev", measure: "R@10", plain: "57.4", must: 70.6, aim: 74.0 },
    Target { set: "cacm-test", measure: "nDCG@10", plain: "38.6", must: 50.2, aim: 53.0 },
];

/// The measures of one set with one set of weights.
struct Measured {
    /// Without the questions that are meant to mislead.
    units: Score,
    files: Score,
    /// How many questions without an answer got none.
    refused: (usize, usize),
}

impl Measured {
    fn measure(&self, name: &str) -> f64 {
        match name {
            "files, hit@5" => self.files.hit_5,
            "files, all@5" => self.files.all_5,
            "nDCG@10" => self.units.ndcg_10,
            _ => self.units.recall_10,
        }
    }
}

/// The workspaces of a set's groups.
struct Asker<'s> {
    set: &'s Set,
    groups: BTreeMap<String, Workspace>,
    boost: FieldBoost,
    _home: Sandbox,
}

impl<'s> Asker<'s> {
    fn new(set: &'s Set) -> Result<Asker<'s>, Failure> {
        let home = Sandbox::empty("sets")?;
        let vars = BTreeMap::from([("LORELANE_HOME".to_owned(), home.home().display().to_string())]);
        let mut groups = BTreeMap::new();
        for group in set.groups() {
            let folder = set.folder.join(&group);
            let env = Env { now: NOW, cwd: folder.clone(), vars: vars.clone() };
            let opened =
                Workspace::open(&env, &folder).map_err(|failure| Failure::on("open", &folder, failure))?;
            groups.insert(group, opened);
        }
        Ok(Asker { set, groups, boost: FieldBoost::default(), _home: home })
    }

    /// Uses other weights from now on.
    fn measure(&mut self, way: &Way) -> Result<(), Failure> {
        for (group, workspace) in &mut self.groups {
            let mut recall = workspace.recall();
            if way.boost != self.boost {
                recall.set_field_boost(way.boost).map_err(|failure| {
                    Failure::new(format!("cannot rebuild the index of {group}: {failure}"))
                })?;
            }
            recall.set_weights(way.weights.clone());
        }
        self.boost = way.boost;
        Ok(())
    }

    fn ask(&mut self, group: &str, query: &str) -> Result<Vec<Found>, Failure> {
        let workspace =
            self.groups.get_mut(group).ok_or_else(|| Failure::new(format!("no group {group}")))?;
        let found = workspace.recall().search_passages(&Query::of_person(query, NOW), HITS);
        let found = found.map_err(|failure| Failure::new(format!("cannot ask {group}: {failure}")))?;
        let hits = found.hits.iter();
        Ok(hits
            .filter_map(|hit| Some(Found { file: hit.path.file_name().to_owned(), lines: hit.lines? }))
            .collect())
    }

    fn measured(&mut self, way: &Way) -> Result<Measured, Failure> {
        self.measure(way)?;
        let set = self.set;
        let mut answers = Vec::new();
        for question in &set.questions {
            answers.push((question, self.ask(&question.group, &question.query)?));
        }
        let straight = |(question, _): &&(&Question, Vec<Found>)| question.category != "adversarial";
        let pair = |(question, found): &'_ (&'s Question, Vec<Found>)| (*question, found.len());
        let unanswerable: Vec<usize> = answers
            .iter()
            .map(pair)
            .filter(|(question, _)| question.gold.is_empty())
            .map(|(_, found)| found)
            .collect();
        let units = answers.iter().filter(straight).map(|(question, found)| (*question, found.as_slice()));
        let files = answers.iter().map(|(question, found)| (*question, found.as_slice()));
        Ok(Measured {
            units: score(set, units, Ranked::Units),
            files: score(set, files, Ranked::Files),
            refused: (unanswerable.iter().filter(|found| **found == 0).count(), unanswerable.len()),
        })
    }

    /// How many questions of another group find nothing in this one.
    fn refused_elsewhere(&mut self) -> Result<Option<(usize, usize)>, Failure> {
        let groups = self.set.groups();
        if groups.len() < 2 {
            return Ok(None);
        }
        let (mut refused, mut asked) = (0, 0);
        for question in &self.set.questions {
            let own = groups.iter().position(|group| *group == question.group).unwrap_or(0);
            let other = &groups[(own + groups.len() - 1) % groups.len()];
            asked += 1;
            refused += usize::from(self.ask(other, &question.query)?.is_empty());
        }
        Ok(Some((refused, asked)))
    }
}

/// The tables of quality, of signals, and of unanswerable questions.
pub fn tables(sets: &[Set]) -> Result<Report, Failure> {
    let (mut quality, mut refusals, mut verdicts) = (String::new(), String::new(), String::new());
    let mut signals: Vec<String> = ways().iter().map(|way| format!("| {} |", way.name)).collect();
    let mut columns = String::new();
    let mut all_met = true;
    for set in sets {
        let mut asker = Asker::new(set)?;
        let measured: Vec<Measured> =
            ways().iter().map(|way| asker.measured(way)).collect::<Result<_, _>>()?;
        let with_floor = measured.last().expect("there are ways");
        let named: Vec<&Target> = TARGETS.iter().filter(|target| target.set == set.name).collect();
        for target in &named {
            let value = with_floor.measure(target.measure);
            let met = value >= target.must;
            all_met &= met;
            let verdict = if value >= target.aim {
                "aim met"
            } else if met {
                "met"
            } else {
                "MISSED"
            };
            let Target { measure, plain, must, aim, .. } = target;
            let _ = writeln!(quality, "| {}, {measure} | {plain} | {value:.1} |", set.name);
            let _ =
                writeln!(verdicts, "{}, {measure}: {value:.1}; must {must}, aim {aim}: {verdict}", set.name);
        }
        if named.is_empty() {
            let Score { recall_10, ndcg_10, .. } = with_floor.units;
            let _ = writeln!(quality, "| {}, R@10 / nDCG@10 | – | {recall_10:.1} / {ndcg_10:.1} |", set.name);
        }
        let shown = named.first().map_or("R@10", |target| target.measure);
        let _ = write!(columns, " {} {shown} |", set.name);
        for (line, measured) in signals.iter_mut().zip(&measured) {
            let _ = write!(line, " {:.1} |", measured.measure(shown));
        }
        let (refused, unanswerable) = with_floor.refused;
        let elsewhere = asker.refused_elsewhere()?;
        let elsewhere = elsewhere.map_or("–".to_owned(), |(refused, asked)| {
            let share = 100.0 * refused as f64 / asked.max(1) as f64;
            all_met &= set.name != "locomo" || share >= 50.0;
            format!("{refused} of {asked} ({share:.0} %)")
        });
        let cost = measured[0].units.recall_10 - with_floor.units.recall_10;
        let _ =
            writeln!(refusals, "| {} | {elsewhere} | {cost:.1} | {refused} of {unanswerable} |", set.name);
    }
    let dashes = "---: |".repeat(sets.len());
    let text = format!(
        "| set, measure | plain BM25 | lorelane |\n| --- | ---: | ---: |\n{quality}\n\
         | signals |{columns}\n| --- |{dashes}\n{}\n\n\
         | set | of another group, refused | R@10 it costs | own unanswerable, refused |\n| --- | ---: | ---: | ---: |\n{refusals}",
        signals.join("\n"),
    );
    Ok(Report { tables: text, verdicts, met: all_met })
}
