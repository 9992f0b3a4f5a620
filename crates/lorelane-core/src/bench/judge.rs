//! Evaluates the results of a run and compares them with the last good one.

use super::expect::Expectation;
use super::question::Question;
use crate::digest::short_digest;
use crate::json::{self, JsonFormat, lenient};
use crate::memory::Address;
use crate::recall::Hit;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};

/// How far a measure may fall before it is a regression, or by one question if that is more: a newer memory may be
/// the better answer to it.
pub const TOLERANCE: f64 = 0.02;
/// The cutoff of hit@5.
const AMONG: usize = 5;
/// How many results are reported.
const TOLD: usize = 3;
/// Smaller differences are rounding errors.
const EQUAL: f64 = 1e-9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The wanted memory ranked first.
    First,
    /// It ranked among the first five.
    AmongFive,
    /// The mean of 1 / rank.
    Reciprocal,
    /// An unanswerable question had no results.
    Refused,
    /// A prompt hook would add the wanted memory.
    Reminded,
    /// A prompt hook would add nothing to an unanswerable question.
    Silent,
}

impl Measure {
    pub const ALL: [Measure; 6] = [
        Measure::First,
        Measure::AmongFive,
        Measure::Reciprocal,
        Measure::Refused,
        Measure::Reminded,
        Measure::Silent,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Measure::First => "hit@1",
            Measure::AmongFive => "hit@5",
            Measure::Reciprocal => "mrr",
            Measure::Refused => "refused",
            Measure::Reminded => "reminded",
            Measure::Silent => "silent",
        }
    }
}

/// A question and its results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchQuestion {
    pub question: Question,
    /// The rank of the wanted memory, starting at 1.
    pub place: Option<usize>,
    /// The top results.
    pub came: Vec<Address>,
    /// What a prompt hook would add.
    pub reminders: Vec<Address>,
}

/// An expectation and its results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectationResult {
    pub expectation: Expectation,
    pub misses: Vec<Miss>,
    pub came: Vec<Address>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miss {
    /// It must be found and was not.
    Absent(Address),
    /// It must not be found, and ranked at this place.
    Intruder(Address, usize),
}

/// What is saved of a run: numbers and digests, no words. Words would have to be erased with their memory.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct BenchRun {
    pub at: Timestamp,
    /// Whether later runs are compared with this one.
    #[serde(rename = "baseline")]
    pub is_baseline: bool,
    /// The rank of the wanted memory per question, 0 if it was not found.
    places: BTreeMap<String, usize>,
    /// Whether an unanswerable question had no results.
    refused: BTreeMap<String, bool>,
    /// Whether a prompt hook did right: it would add the wanted memory, or nothing. Runs of older versions lack it.
    #[serde(default)]
    reminders: BTreeMap<String, bool>,
    /// The expected memories that were found.
    #[serde(deserialize_with = "lenient::items_if_list")]
    met: BTreeSet<String>,
}

/// A line of the file. The measures are for human readers and not read back.
#[derive(Serialize)]
struct RunLine<'k> {
    at: Timestamp,
    baseline: bool,
    measures: Measures,
    places: &'k BTreeMap<String, usize>,
    refused: &'k BTreeMap<String, bool>,
    reminders: &'k BTreeMap<String, bool>,
    met: &'k BTreeSet<String>,
}

/// The measures over a set of questions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measures {
    pub answerable: usize,
    pub unanswerable: usize,
    first: f64,
    among_five: f64,
    reciprocal: f64,
    refused: f64,
    reminded: Option<f64>,
    silent: Option<f64>,
}

/// A measure that fell, on the questions of both runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regression {
    pub measure: Measure,
    pub before: f64,
    pub now: f64,
    pub questions: usize,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchReport {
    pub asked: Vec<BenchQuestion>,
    pub tried: Vec<ExpectationResult>,
    pub measures: Measures,
    /// On the questions that the baseline has too: its time, its measures and ours.
    pub compared: Option<(Timestamp, Measures, Measures)>,
    pub falls: Vec<Regression>,
    /// Expected memories that the baseline found and this run did not.
    pub lost: BTreeSet<(String, Address)>,
    /// Whether the user accepted the regressions.
    accepted: bool,
    pub kept: BenchRun,
}

impl BenchQuestion {
    pub fn new(question: Question, hits: &[Hit], reminders: Vec<Address>) -> BenchQuestion {
        let place = question.wanted.as_ref().and_then(|wanted| place_of(wanted, hits));
        BenchQuestion { place, came: told(hits), question, reminders }
    }

    fn is_reminded_right(&self) -> bool {
        match &self.question.wanted {
            Some(wanted) => self.reminders.contains(wanted),
            None => self.reminders.is_empty(),
        }
    }

    /// Whether the result is the best possible one.
    pub fn is_right(&self) -> bool {
        match self.question.wanted {
            Some(_) => self.place == Some(1),
            None => self.came.is_empty(),
        }
    }
}

impl ExpectationResult {
    pub fn new(expectation: Expectation, hits: &[Hit]) -> ExpectationResult {
        let hits = &hits[..hits.len().min(expectation.within)];
        let absent = expectation.must.iter().filter(|address| place_of(address, hits).is_none());
        let absent = absent.map(|address| Miss::Absent(address.clone()));
        let intruders = expectation.must_not.iter().filter_map(|address| {
            place_of(address, hits).map(|place| Miss::Intruder(address.clone(), place))
        });
        ExpectationResult { misses: absent.chain(intruders).collect(), came: told(hits), expectation }
    }

    fn is_met(&self, address: &Address) -> bool {
        !self.misses.contains(&Miss::Absent(address.clone()))
    }
}

/// A near duplicate counts at the rank of the hit that it is shown with.
fn place_of(wanted: &Address, hits: &[Hit]) -> Option<usize> {
    let is_it = |hit: &Hit| hit.address == *wanted || hit.same.contains(wanted);
    hits.iter().position(is_it).map(|at| at + 1)
}

fn told(hits: &[Hit]) -> Vec<Address> {
    hits.iter().take(TOLD).map(|hit| hit.address.clone()).collect()
}

/// Compares a run with the newest baseline. Only questions of both are compared: a deleted memory takes its
/// questions along and is no regression, but an expectation that names it is one.
pub fn judge(
    asked: Vec<BenchQuestion>,
    tried: Vec<ExpectationResult>,
    before: Option<&BenchRun>,
    at: Timestamp,
) -> BenchReport {
    let mut kept = BenchRun::of(&asked, &tried, at);
    let measures = kept.measures(|_| true);
    let compared = before.map(|before| {
        let both = |id: &str| before.knows(id) && kept.knows(id);
        (before.at, before.measures(both), kept.measures(both))
    });
    let fell: Vec<Regression> = compared.iter().flat_map(|(_, before, now)| fallen(before, now)).collect();
    let lost = before.map(|before| lost(&tried, before)).unwrap_or_default();
    let all_met = tried.iter().all(|tried| tried.misses.is_empty());
    // A run that fell at all is not a baseline, even within the tolerance: otherwise recall could get worse
    // step by step.
    kept.is_baseline = all_met && fell.is_empty();
    let falls = fell.into_iter().filter(Regression::is_too_far).collect();
    BenchReport { asked, tried, measures, compared, falls, lost, accepted: false, kept }
}

impl BenchReport {
    /// Whether all expectations are met and nothing regressed.
    pub fn is_fine(&self) -> bool {
        (self.accepted || self.falls.is_empty()) && self.tried.iter().all(|tried| tried.misses.is_empty())
    }

    /// Accepts regressions and makes this run the baseline. Unmet expectations still fail: they are in the
    /// user's file and have to be changed there.
    pub fn accept(&mut self) {
        self.accepted = true;
        self.kept.is_baseline = true;
    }

    /// Whether there were no questions at all.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty() && self.tried.is_empty()
    }

    /// The questions without the best possible result, worst first.
    pub fn worst(&self) -> Vec<&BenchQuestion> {
        let mut wrong: Vec<&BenchQuestion> = self.asked.iter().filter(|asked| !asked.is_right()).collect();
        wrong.sort_by_key(|asked| (asked.place.is_some(), std::cmp::Reverse(asked.place)));
        wrong
    }
}

fn lost(tried: &[ExpectationResult], before: &BenchRun) -> BTreeSet<(String, Address)> {
    let misses = tried.iter().flat_map(|tried| tried.misses.iter().map(move |miss| (tried, miss)));
    misses
        .filter_map(|(tried, miss)| match miss {
            Miss::Absent(address) => Some((tried.expectation.query.clone(), address.clone())),
            Miss::Intruder(..) => None,
        })
        .filter(|(query, address)| before.met.contains(&expected_id(query, address)))
        .collect()
}

fn fallen(before: &Measures, now: &Measures) -> Vec<Regression> {
    let falls = Measure::ALL.into_iter().filter_map(|measure| {
        let (before, now_is) = (before.value(measure)?, now.value(measure)?);
        Some(Regression { measure, before, now: now_is, questions: now.questions(measure) })
    });
    falls.filter(|fall| fall.before - fall.now > EQUAL).collect()
}

impl Regression {
    fn is_too_far(&self) -> bool {
        let one_question = 1.0 / self.questions as f64;
        self.before - self.now > TOLERANCE.max(one_question) + EQUAL
    }
}

impl Measures {
    /// A value from 0 to 1; `None` without questions.
    pub fn value(&self, measure: Measure) -> Option<f64> {
        let value = match measure {
            Measure::First => Some(self.first),
            Measure::AmongFive => Some(self.among_five),
            Measure::Reciprocal => Some(self.reciprocal),
            Measure::Refused => Some(self.refused),
            Measure::Reminded => self.reminded,
            Measure::Silent => self.silent,
        };
        value.filter(|_| self.questions(measure) > 0)
    }

    fn questions(&self, measure: Measure) -> usize {
        match measure {
            Measure::Refused | Measure::Silent => self.unanswerable,
            Measure::First | Measure::AmongFive | Measure::Reciprocal | Measure::Reminded => self.answerable,
        }
    }
}

/// `{"hit@1": 0.5, …}`
impl Serialize for Measures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let measures = Measure::ALL.into_iter();
        serializer.collect_map(measures.map(|measure| (measure.name(), self.value(measure).map(rounded))))
    }
}

/// Four decimals are more than any number of questions can resolve.
fn rounded(share: f64) -> f64 {
    (share * 10_000.0).round() / 10_000.0
}

impl BenchRun {
    fn of(asked: &[BenchQuestion], tried: &[ExpectationResult], at: Timestamp) -> BenchRun {
        let (places, refused, reminders, met) = Default::default();
        let mut kept = BenchRun { at, is_baseline: false, places, refused, reminders, met };
        for asked in asked {
            let id = asked.question.id();
            kept.reminders.insert(id.clone(), asked.is_reminded_right());
            match asked.question.wanted {
                Some(_) => drop(kept.places.insert(id, asked.place.unwrap_or(0))),
                None => drop(kept.refused.insert(id, asked.came.is_empty())),
            }
        }
        for tried in tried {
            let met = tried.expectation.must.iter().filter(|address| tried.is_met(address));
            kept.met.extend(met.map(|address| expected_id(&tried.expectation.query, address)));
        }
        kept
    }

    fn knows(&self, id: &str) -> bool {
        self.places.contains_key(id) || self.refused.contains_key(id)
    }

    /// The measures over the questions that `counts` accepts.
    fn measures(&self, counts: impl Fn(&str) -> bool) -> Measures {
        let places: Vec<usize> =
            self.places.iter().filter(|(id, _)| counts(id)).map(|(_, place)| *place).collect();
        let refused: Vec<bool> =
            self.refused.iter().filter(|(id, _)| counts(id)).map(|(_, refused)| *refused).collect();
        let share = |part: f64, all: usize| part / all.max(1) as f64;
        let reminded_right = |is_one: &dyn Fn(&String) -> bool| {
            let of: Vec<bool> = self
                .reminders
                .iter()
                .filter(|(id, _)| counts(id) && is_one(id))
                .map(|(_, right)| *right)
                .collect();
            (!of.is_empty()).then(|| share(of.iter().filter(|right| **right).count() as f64, of.len()))
        };
        let up_to = |last: usize| places.iter().filter(|place| (1..=last).contains(*place)).count() as f64;
        let reciprocal = places.iter().filter(|place| **place > 0).map(|place| 1.0 / *place as f64).sum();
        Measures {
            answerable: places.len(),
            unanswerable: refused.len(),
            first: share(up_to(1), places.len()),
            among_five: share(up_to(AMONG), places.len()),
            reciprocal: share(reciprocal, places.len()),
            refused: share(refused.iter().filter(|refused| **refused).count() as f64, refused.len()),
            reminded: reminded_right(&|id| self.places.contains_key(id)),
            silent: reminded_right(&|id| self.refused.contains_key(id)),
        }
    }

    /// The line for the file, newline included.
    pub fn line(&self) -> String {
        let BenchRun { at, is_baseline, places, refused, reminders, met } = self;
        let measures = self.measures(|_| true);
        let line = RunLine { at: *at, baseline: *is_baseline, measures, places, refused, reminders, met };
        format!("{}\n", json::to_string(&line, JsonFormat::LINE))
    }

    /// Parses a line; `None` for a foreign or torn one.
    pub fn read(line: &str) -> Option<BenchRun> {
        json::from_str(line).ok()
    }
}

fn expected_id(query: &str, address: &Address) -> String {
    short_digest(&format!("{query}\n{address}"), 12)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::expectations;
    use crate::lifecycle::Status;
    use crate::memory::{MemoryKind, NoteType};
    use crate::path::RelPath;

    const NOW: Timestamp = Timestamp(1_772_000_000);

    fn note(name: &str) -> Address {
        Address::note(name).unwrap()
    }

    fn hits(names: &[&str]) -> Vec<Hit> {
        let hit = |name: &&str| Hit {
            address: note(name),
            path: RelPath::parse(&format!("{name}.md")).unwrap(),
            title: String::new(),
            kind: MemoryKind::Note(NoteType::Fact),
            status: Status::Active,
            not_current: None,
            superseded_by: None,
            broken: None,
            tags: Vec::new(),
            lines: None,
            score: 1,
            explain: Vec::new(),
            relevance: None,
            same: vec![note(&format!("{name}-copy"))],
        };
        names.iter().map(hit).collect()
    }

    fn question(number: usize, wanted: Option<&str>) -> Question {
        Question { text: format!("question {number}"), wanted: wanted.map(note) }
    }

    /// `all` questions, the first `wrong` of them without their answer.
    fn run(all: usize, wrong: usize) -> Vec<BenchQuestion> {
        let asked = |number| {
            let came: &[&str] = if number < wrong { &["other"] } else { &["right"] };
            BenchQuestion::new(question(number, Some("right")), &hits(came), vec![note(came[0])])
        };
        (0..all).map(asked).collect()
    }

    fn tried(came: &[&str]) -> Vec<ExpectationResult> {
        let line = r#"{"query": "q", "must": ["notes/a"], "must_not": ["notes/z"], "within": 2}"#;
        expectations(line).unwrap().into_iter().map(|one| ExpectationResult::new(one, &hits(came))).collect()
    }

    #[test]
    fn a_question_is_judged_by_the_place_of_its_answer() {
        let table = [
            (Some("a"), &["a", "b"][..], Some(1), true),
            (Some("a"), &["b", "a"], Some(2), false),
            (Some("a-copy"), &["a"], Some(1), true),
            (Some("a"), &[], None, false),
            (None, &[], None, true),
            (None, &["a"], None, false),
        ];
        for (wanted, came, place, is_right) in table {
            let asked = BenchQuestion::new(question(0, wanted), &hits(came), Vec::new());
            assert_eq!((asked.place, asked.is_right()), (place, is_right), "{wanted:?} in {came:?}");
        }
    }

    #[test]
    fn an_expectation_looks_at_its_first_answers_only() {
        let table: [(&[&str], &[Miss]); 4] = [
            (&["b", "a"], &[]),
            (&["b", "c", "a", "z"], &[Miss::Absent(note("a"))]),
            (&["z", "a"], &[Miss::Intruder(note("z"), 1)]),
            (&[], &[Miss::Absent(note("a"))]),
        ];
        for (came, misses) in table {
            assert_eq!(tried(came)[0].misses, misses, "{came:?}");
        }
    }

    #[test]
    fn a_measure_may_fall_by_two_points_or_one_question() {
        // Questions, wrong ones before and now; whether that is fine, and a new baseline.
        let table = [
            (10, 0, 0, true, true),
            (10, 2, 1, true, true),
            (10, 0, 1, true, false),
            (10, 0, 2, false, false),
            (200, 0, 4, true, false),
            (200, 0, 5, false, false),
            (2, 0, 2, false, false),
        ];
        for (all, before, now, is_fine, is_baseline) in table {
            let before_it = judge(run(all, before), Vec::new(), None, NOW).kept;
            let mut report = judge(run(all, now), Vec::new(), Some(&before_it), NOW);
            let said = (report.is_fine(), report.kept.is_baseline);
            assert_eq!(said, (is_fine, is_baseline), "{now} of {all} wrong, {before} before");
            report.accept();
            assert!(report.is_fine() && report.kept.is_baseline);
        }
    }

    #[test]
    fn only_questions_that_both_runs_asked_are_compared() {
        let before = judge(run(10, 0), Vec::new(), None, NOW).kept;
        // Ten others are all wrong, but the baseline does not have them.
        let others =
            (10..20).map(|number| BenchQuestion::new(question(number, Some("right")), &[], Vec::new()));
        let asked = run(10, 0).into_iter().chain(others).collect();
        let report = judge(asked, Vec::new(), Some(&before), NOW);
        assert_eq!(report.measures.value(Measure::First), Some(0.5));
        assert_eq!(report.compared.unwrap().2.value(Measure::First), Some(1.0));
        assert!(report.is_fine());
    }

    #[test]
    fn answers_to_what_nothing_answers_are_a_regression() {
        let asked = |came: &[&str]| -> Vec<BenchQuestion> {
            let question = |number| BenchQuestion::new(question(number, None), &hits(came), Vec::new());
            (0..10).map(question).collect()
        };
        let before = judge(asked(&[]), Vec::new(), None, NOW).kept;
        let report = judge(asked(&["a"]), Vec::new(), Some(&before), NOW);
        assert_eq!(report.falls.iter().map(|fall| fall.measure).collect::<Vec<_>>(), [Measure::Refused]);
        assert_eq!(report.worst().len(), 10);
    }

    #[test]
    fn what_a_prompt_hook_adds_is_a_measure_of_its_own() {
        let run = |added: &[&str]| {
            let added: Vec<Address> = added.iter().map(|name| note(name)).collect();
            let answerable = (0..10).map(|number| (number, Some("right")));
            let asked = answerable.chain((10..20).map(|number| (number, None)));
            let asked = asked.map(|(number, wanted)| {
                let came: &[&str] = if wanted.is_some() { &["right"] } else { &[] };
                BenchQuestion::new(question(number, wanted), &hits(came), added.clone())
            });
            asked.collect::<Vec<_>>()
        };
        let values = |report: &BenchReport| {
            [Measure::Reminded, Measure::Silent].map(|measure| report.measures.value(measure))
        };
        let before = judge(run(&["right"]), Vec::new(), None, NOW);
        assert_eq!(values(&before), [Some(1.0), Some(0.0)]);
        let after = judge(run(&[]), Vec::new(), Some(&before.kept), NOW);
        assert_eq!(values(&after), [Some(0.0), Some(1.0)]);
        assert_eq!(after.falls.iter().map(|fall| fall.measure).collect::<Vec<_>>(), [Measure::Reminded]);
        // A run of a version that did not ask the hook.
        let line = before.kept.line();
        let (start, rest) = line.split_once("\"reminders\"").unwrap();
        let old = BenchRun::read(&format!("{start}{}", rest.split_once("}, ").unwrap().1)).unwrap();
        assert!(judge(run(&[]), Vec::new(), Some(&old), NOW).is_fine());
    }

    #[test]
    fn an_unmet_expectation_fails_whether_it_was_met_before_or_not() {
        let first = judge(Vec::new(), tried(&["a"]), None, NOW);
        assert!(first.is_fine() && first.kept.is_baseline);
        let lost = judge(Vec::new(), tried(&["b"]), Some(&first.kept), NOW);
        assert_eq!(lost.lost, BTreeSet::from([("q".to_owned(), note("a"))]));
        let never = judge(Vec::new(), tried(&["b"]), None, NOW);
        assert_eq!(never.lost, BTreeSet::new());
        for mut report in [lost, never] {
            assert!(!report.is_fine() && !report.kept.is_baseline);
            report.accept();
            assert!(!report.is_fine(), "what is expected is not accepted away");
        }
    }

    #[test]
    fn what_is_kept_reads_back_and_holds_no_word() {
        let unanswerable = BenchQuestion::new(question(3, None), &[], Vec::new());
        let asked = run(3, 1).into_iter().chain([unanswerable]).collect();
        let kept = judge(asked, tried(&["a"]), None, NOW).kept;
        assert_eq!(BenchRun::read(&kept.line()), Some(kept.clone()));
        assert!(!kept.line().contains("question") && !kept.line().contains("notes"));
        for torn in ["", "{}", &kept.line()[..60], "{\"at\": 7}"] {
            assert_eq!(BenchRun::read(torn), None, "{torn}");
        }
    }
}
