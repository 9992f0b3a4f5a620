//! How long a hook may take: a watch beside the work that ends the process.
//!
//! What counts is the time that the process worked, not the time that passed: on a busy machine it waits for its
//! turn, and a reminder that comes late is better than none. The clock only bounds what does not work at all, such
//! as a disk that hangs.

use super::payload::HookEvent;
use lorelane_engine::env::{Env, Var};
use lorelane_engine::hooklog;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// Nobody waits for a memory.
const WORK: Duration = Duration::from_millis(200);
/// How many times as long it may take by the clock: 2 s, far below the 5 s after which clients end a hook.
const WAIT_FACTOR: u32 = 10;
const STACK_BYTES: usize = 256 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    work: Duration,
    wall: Duration,
}

/// What was spent since the payload had come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TimeSpent {
    work: Duration,
    wall: Duration,
}

impl Limits {
    pub(super) fn of(event: HookEvent, env: &Env) -> Limits {
        // A slow machine, or a test on a busy one, may allow more.
        let set =
            env.var(Var::LorelaneHookDeadlineMs).and_then(|ms| ms.parse().ok()).map(Duration::from_millis);
        Limits::new(event, set.unwrap_or(WORK))
    }

    fn new(event: HookEvent, work: Duration) -> Limits {
        let wall = work.saturating_mul(WAIT_FACTOR);
        match event {
            // It protects: that a machine is slow is no reason to let a tool pass.
            HookEvent::BeforeTool => Limits { work: wall, wall },
            _ => Limits { work, wall },
        }
    }

    /// How long nothing can be exceeded: a process with one thread at work does not work faster than the clock.
    /// `None` once something is.
    fn left(&self, spent: TimeSpent) -> Option<Duration> {
        let work = self.work.checked_sub(spent.work)?;
        let wall = self.wall.checked_sub(spent.wall)?;
        Some(work.min(wall)).filter(|left| !left.is_zero())
    }
}

/// A watch over the work of one hook.
pub(super) struct Watch {
    /// Set by whoever ends the process: the work, or the watch over it.
    ending: Arc<AtomicBool>,
    payload: Sender<()>,
}

impl Watch {
    /// Starts a thread that ends the process at its limits, whatever it does: the store is made for that. The work
    /// stays on the first thread, whose stack and heap are there already.
    pub(super) fn start(env: &Env, name: &str, limits: Limits) -> std::io::Result<Watch> {
        let (env, name) = (env.clone(), name.to_owned());
        let ending = Arc::new(AtomicBool::new(false));
        let (payload, has_come) = mpsc::channel();
        let theirs = Arc::clone(&ending);
        let watch = move || {
            let why = match has_come.recv_timeout(limits.wall) {
                Err(RecvTimeoutError::Timeout) => {
                    format!("no payload came within {} ms", limits.wall.as_millis())
                }
                Err(RecvTimeoutError::Disconnected) | Ok(()) => outlast(limits),
            };
            if !theirs.swap(true, Ordering::AcqRel) {
                hooklog::write(&env, &name, &why);
                std::process::exit(0);
            }
        };
        std::thread::Builder::new().stack_size(STACK_BYTES).spawn(watch)?;
        Ok(Watch { ending, payload })
    }

    /// The payload has come: from here on the time counts.
    pub(super) fn payload_came(&self) {
        // Nobody listens any more when the watch gave up.
        let _ = self.payload.send(());
    }

    /// The work is done, and may be said. Where it is too late the watch is about to end the process, and nothing
    /// may be half said: then this does not come back.
    pub(super) fn end(self) {
        if self.ending.swap(true, Ordering::AcqRel) {
            loop {
                std::thread::park();
            }
        }
    }
}

/// Sleeps until a limit is exceeded; says which.
fn outlast(limits: Limits) -> String {
    let (begun, before) = (Instant::now(), worked());
    let mut spent = TimeSpent::default();
    while let Some(left) = limits.left(spent) {
        std::thread::sleep(left);
        spent = TimeSpent { work: worked().saturating_sub(before), wall: begun.elapsed() };
    }
    format!("not done after {} ms of work in {} ms", spent.work.as_millis(), spent.wall.as_millis())
}

/// How long this process has had a processor.
#[cfg(unix)]
fn worked() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// Elsewhere only the clock bounds it.
#[cfg(not(unix))]
fn worked() -> Duration {
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_machine_ends_no_hook_and_a_hanging_disk_does() {
        let ms = Duration::from_millis;
        for (event, work, wall, left) in [
            (HookEvent::Prompt, 0, 0, Some(200)),
            (HookEvent::Prompt, 20, 300, Some(180)),
            (HookEvent::Prompt, 150, 1_990, Some(10)),
            (HookEvent::Prompt, 200, 200, None),
            (HookEvent::SessionStart, 201, 1_000, None),
            (HookEvent::AfterTool, 10, 2_000, None),
            (HookEvent::BeforeTool, 500, 900, Some(1_100)),
            (HookEvent::BeforeTool, 3, 2_500, None),
        ] {
            let spent = TimeSpent { work: ms(work), wall: ms(wall) };
            assert_eq!(Limits::new(event, WORK).left(spent), left.map(ms), "{event:?} {spent:?}");
        }
        assert_eq!(Limits::new(HookEvent::Stop, ms(50)), Limits { work: ms(50), wall: ms(500) });
    }
}
