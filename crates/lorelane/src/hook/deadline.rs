//! The deadline of a hook: a watchdog thread that ends the process.
//!
//! The limit is on CPU time, not on wall-clock time: on a busy machine, or behind a client that writes its payload
//! late, a wall-clock limit would end hooks that have hardly begun, and a late reminder is better than none. The
//! wall-clock limit only catches what hangs, such as a disk.

use super::HookOutput;
use super::payload::HookEvent;
use lorelane_engine::env::{Env, Var};
use lorelane_engine::hooklog;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Users do not wait for a reminder.
const WORK: Duration = Duration::from_millis(200);
/// The wall-clock limit is this many times the CPU limit: 2 s, well below the 5 s after which clients kill a hook.
const WAIT_FACTOR: u32 = 10;
const STACK_BYTES: usize = 256 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    work: Duration,
    wall: Duration,
}

/// Time spent since the payload arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TimeSpent {
    work: Duration,
    wall: Duration,
}

impl Limits {
    pub(super) fn of(event: HookEvent, env: &Env) -> Limits {
        // For slow machines, and for tests on busy ones.
        let set =
            env.var(Var::LorelaneHookDeadlineMs).and_then(|ms| ms.parse().ok()).map(Duration::from_millis);
        Limits::new(event, set.unwrap_or(WORK))
    }

    fn new(event: HookEvent, work: Duration) -> Limits {
        let wall = work.saturating_mul(WAIT_FACTOR);
        match event {
            // The guard protects the store: a slow machine is no reason to let a tool pass, so only the wall-clock
            // limit applies.
            HookEvent::BeforeTool => Limits { work: wall, wall },
            _ => Limits { work, wall },
        }
    }

    /// How long to sleep before a limit can be exceeded; `None` once one is. Only one thread works, so CPU time
    /// never grows faster than wall-clock time.
    fn left(&self, spent: TimeSpent) -> Option<Duration> {
        let work = self.work.checked_sub(spent.work)?;
        let wall = self.wall.checked_sub(spent.wall)?;
        Some(work.min(wall)).filter(|left| !left.is_zero())
    }
}

/// The watchdog of one hook.
pub(super) struct Watch {
    /// Set by the side that ends the process: the work or the watchdog. Whoever sets it first wins.
    ending: Arc<AtomicBool>,
    payload: Sender<()>,
    /// What is printed if the time is over before the work.
    ready: Arc<Mutex<Option<HookOutput>>>,
}

impl Watch {
    /// Starts a thread that ends the process at its limits, whatever it is doing: the store survives a kill at any
    /// point. The work stays on the main thread, whose stack and heap are already mapped.
    pub(super) fn start(env: &Env, name: &str, limits: Limits) -> std::io::Result<Watch> {
        let (env, name) = (env.clone(), name.to_owned());
        let ending = Arc::new(AtomicBool::new(false));
        let (payload, has_come) = mpsc::channel();
        let theirs = Arc::clone(&ending);
        let ready = Arc::new(Mutex::new(None::<HookOutput>));
        let printed = Arc::clone(&ready);
        let watch = move || {
            let why = match has_come.recv_timeout(limits.wall) {
                Err(RecvTimeoutError::Timeout) => {
                    format!("no payload received within {} ms", limits.wall.as_millis())
                }
                Err(RecvTimeoutError::Disconnected) | Ok(()) => outlast(limits),
            };
            if !theirs.swap(true, Ordering::AcqRel) {
                hooklog::write(&env, &name, &why);
                let output = printed.lock().ok().and_then(|mut ready| ready.take()).unwrap_or_default();
                output.write();
                std::process::exit(output.code.into());
            }
        };
        std::thread::Builder::new().stack_size(STACK_BYTES).spawn(watch)?;
        Ok(Watch { ending, payload, ready })
    }

    /// The answer is known, and what is left to do is bookkeeping: if the time is over before that ends, the answer is
    /// printed all the same.
    pub(super) fn answer_is_ready(&self, output: HookOutput) {
        if let Ok(mut ready) = self.ready.lock() {
            *ready = Some(output);
        }
    }

    /// Starts the clock: the payload has arrived.
    pub(super) fn payload_came(&self) {
        // Fails only after the watchdog gave up, and then it ends the process.
        let _ = self.payload.send(());
    }

    /// Stops the watchdog so that the answer can be printed. If it is too late, the watchdog is about to end the
    /// process, possibly in the middle of a line: then this never returns.
    pub(super) fn end(self) {
        if self.ending.swap(true, Ordering::AcqRel) {
            loop {
                std::thread::park();
            }
        }
    }
}

/// Sleeps until a limit is exceeded; returns the log message.
fn outlast(limits: Limits) -> String {
    let (begun, before) = (Instant::now(), worked());
    let mut spent = TimeSpent::default();
    while let Some(left) = limits.left(spent) {
        std::thread::sleep(left);
        spent = TimeSpent { work: worked().saturating_sub(before), wall: begun.elapsed() };
    }
    format!(
        "timed out after {} ms of CPU time ({} ms elapsed)",
        spent.work.as_millis(),
        spent.wall.as_millis()
    )
}

/// CPU time of this process.
#[cfg(unix)]
fn worked() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// Elsewhere only the wall-clock limit applies.
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
