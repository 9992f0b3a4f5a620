//! Seeded traces of long sessions: which files an agent reads or writes in which turn.
//!
//! A trace is a model of a coding session, not a recording; what it assumes is written here, in numbers:
//!
//! - A project has 50 to 110 source files of 120 to 7,200 tokens (the median is near 900), some of them read far more
//!   often than others. One file in four is the test of another one.
//! - A session has 60 to 160 turns, one to six minutes apart, in phases of 8 to 25 turns.
//! - A phase has a focus of 3 to 6 files and one test. A third of the focus was in an earlier phase (a hot file that
//!   returns). The first file of the focus is touched most, the last one seldom, with pauses of many turns.
//! - A phase begins with reading: half of its focus at once and one to three files that are looked at once. Half of the
//!   phases end with a look at most of the focus.
//! - A session has a pace: slow, usual or fast. A turn in between touches up to 2, 4 or 6 times a file of the focus. Every
//!   third turn looks at up to 1, 2 or 3 other files. One turn in seven touches nothing: the user and the agent talk.
//! - Every second turn runs tests. The output is a new log of 150 to 4,500 tokens, read once. Two runs in five fail:
//!   then the test is read, and half of these logs are read again in one of the next two turns; a third of the failing
//!   runs bring a file of the focus back that the log names. Tests run again: the next run writes the next log.
//! - One to three files (a plan, types that everything uses) return through the whole session, each in one turn of ten,
//!   whatever the phase.
//! - One turn in twenty interrupts: one to three files of an earlier phase, then the phase goes on.
//!
//! Nothing is arranged around the five or ten turns of the rules: every return is drawn turn by turn, so pauses of
//! every length occur. The agent gives no advice and pins nothing, which would only help.

use lorelane_engine::disk::SeededRng;

/// A session, turn by turn.
#[derive(Clone, Debug)]
pub struct Trace {
    pub files: Vec<TraceFile>,
    pub turns: Vec<TraceTurn>,
}

#[derive(Clone, Debug)]
pub struct TraceFile {
    pub path: String,
    pub tokens: u64,
}

#[derive(Clone, Debug, Default)]
pub struct TraceTurn {
    /// Minutes since the turn before.
    pub minutes: u64,
    /// Numbers of the files that are read or written, in order. A file can occur more than once.
    pub touched: Vec<usize>,
}

struct Session {
    rng: SeededRng,
    files: Vec<TraceFile>,
    /// How many of `files` are the project's; logs come after them.
    sources: usize,
    logs: usize,
    /// From 1, slow, to 3, fast.
    pace: usize,
    /// Files that return through the whole session.
    hubs: Vec<usize>,
    /// Files that were in the focus of a phase.
    known: Vec<usize>,
    /// Logs to be read again, with the turns until then.
    open_logs: Vec<(usize, u32)>,
    turns: Vec<TraceTurn>,
}

/// Makes the trace of a seed.
pub fn generate(seed: u64) -> Trace {
    let mut session = Session::new(seed);
    let turns = 60 + session.rng.below(101);
    while session.turns.len() < turns {
        let length = (8 + session.rng.below(18)).min(turns - session.turns.len());
        session.phase(length);
    }
    Trace { files: session.files, turns: session.turns }
}

impl Session {
    fn new(seed: u64) -> Session {
        let mut rng = SeededRng::new(seed);
        let sources = 50 + rng.below(61);
        let file = |at: usize, rng: &mut SeededRng| {
            let path = match at % 4 {
                3 => format!("tests/part_{:03}.rs", at - 1),
                _ => format!("src/part_{at:03}.rs"),
            };
            TraceFile { path, tokens: size(rng, 120.0, 60.0) }
        };
        let files = (0..sources).map(|at| file(at, &mut rng)).collect();
        let hubs = (0..=rng.below(3)).map(|_| rng.below(sources / 4)).collect();
        let pace = 1 + rng.below(3);
        let (logs, known, open_logs, turns) = (0, Vec::new(), Vec::new(), Vec::new());
        Session { rng, files, sources, logs, pace, hubs, known, open_logs, turns }
    }

    fn phase(&mut self, length: usize) {
        let focus = self.focus();
        let test = self.test_of(focus[0]);
        for turn in 0..length {
            let mut touched = self.returns();
            match turn {
                0 => self.begin(&focus, &mut touched),
                _ if turn + 1 == length && self.rng.one_in(2) => self.look_back(&focus, &mut touched),
                _ if self.rng.one_in(20) && !self.known.is_empty() => self.interrupt(&mut touched),
                _ if self.rng.one_in(7) => {}
                _ => self.work(&focus, test, &mut touched),
            }
            let minutes = 1 + self.rng.below(6) as u64;
            self.turns.push(TraceTurn { minutes, touched });
        }
        self.known.extend(focus);
    }

    fn focus(&mut self) -> Vec<usize> {
        let size = 3 + self.rng.below(4);
        let mut focus = Vec::new();
        while focus.len() < size {
            let is_return = !self.known.is_empty() && self.rng.one_in(3);
            let file = if is_return { *self.rng.pick(&self.known) } else { self.any_source() };
            if !focus.contains(&file) {
                focus.push(file);
            }
        }
        focus
    }

    /// A source file; the first ones are read more often.
    fn any_source(&mut self) -> usize {
        let highest = 1 + self.rng.below(self.sources);
        self.rng.below(highest)
    }

    fn test_of(&self, file: usize) -> usize {
        (file / 4 * 4 + 3).min(self.sources - 1)
    }

    /// What comes back in this turn, whatever its work is.
    fn returns(&mut self) -> Vec<usize> {
        let mut touched = Vec::new();
        for hub in self.hubs.clone() {
            if self.rng.one_in(10) {
                touched.push(hub);
            }
        }
        self.open_logs.retain_mut(|(log, wait)| {
            *wait -= 1;
            if *wait == 0 {
                touched.push(*log);
            }
            *wait > 0
        });
        touched
    }

    fn begin(&mut self, focus: &[usize], touched: &mut Vec<usize>) {
        touched.extend(&focus[..focus.len().div_ceil(2)]);
        for _ in 0..=self.rng.below(3) {
            touched.push(self.any_source());
        }
    }

    fn look_back(&mut self, focus: &[usize], touched: &mut Vec<usize>) {
        let looked: Vec<usize> = focus.iter().copied().filter(|_| !self.rng.one_in(4)).collect();
        touched.extend(looked);
    }

    fn interrupt(&mut self, touched: &mut Vec<usize>) {
        for _ in 0..=self.rng.below(3) {
            touched.push(*self.rng.pick(&self.known));
        }
    }

    fn work(&mut self, focus: &[usize], test: usize, touched: &mut Vec<usize>) {
        for _ in 0..=self.rng.below(2 * self.pace) {
            touched.push(self.one_of_focus(focus));
        }
        if self.rng.one_in(3) {
            for _ in 0..=self.rng.below(self.pace) {
                touched.push(self.any_source());
            }
        }
        if self.rng.one_in(2) {
            self.run_tests(focus, test, touched);
        }
    }

    /// The first files of the focus are touched more often.
    fn one_of_focus(&mut self, focus: &[usize]) -> usize {
        let highest = 1 + self.rng.below(focus.len());
        focus[self.rng.below(highest)]
    }

    fn run_tests(&mut self, focus: &[usize], test: usize, touched: &mut Vec<usize>) {
        self.logs += 1;
        let log = self.files.len();
        let tokens = size(&mut self.rng, 150.0, 30.0);
        self.files.push(TraceFile { path: format!("logs/test-{:03}.log", self.logs), tokens });
        touched.push(log);
        if self.rng.below(5) >= 2 {
            return;
        }
        touched.push(test);
        if self.rng.one_in(2) {
            self.open_logs.push((log, 1 + self.rng.below(2) as u32));
        }
        if self.rng.one_in(3) {
            touched.push(*self.rng.pick(focus));
        }
    }
}

/// A size between `least` and `spread` times as much. Most are in the middle of the range, on a logarithmic scale.
fn size(rng: &mut SeededRng, least: f64, spread: f64) -> u64 {
    let dice: usize = (0..3).map(|_| rng.below(1000)).sum();
    (least * spread.powf(dice as f64 / 2997.0)) as u64
}
