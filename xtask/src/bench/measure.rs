//! CPU time and memory of one process, as the kernel reports them (`wait4`).

use std::path::Path;
use std::process::Command;

use crate::failure::Failure;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// User and system time together, its own children included.
    pub cpu_us: u64,
    /// Never below the memory of xtask itself: the kernel counts what the process was before `exec`.
    /// That is a few megabytes, far below any target.
    pub peak_kb: u64,
}

/// Files in place of a process's streams: pipes would have to be written and read while it runs.
#[derive(Clone, Copy, Debug)]
pub struct Streams<'p> {
    pub input: Option<&'p Path>,
    pub output: &'p Path,
    pub log: &'p Path,
}

/// Runs the command to its end. The exit code is `None` if a signal ended it.
#[cfg(unix)]
pub fn measure(command: &mut Command, streams: Streams<'_>) -> Result<(Cost, Option<i32>), Failure> {
    use std::fs::File;
    use std::mem::MaybeUninit;
    use std::process::Stdio;

    let create = |path: &Path| File::create(path).map_err(|error| Failure::on("create", path, error));
    let input = match streams.input {
        Some(path) => File::open(path).map_err(|error| Failure::on("open", path, error))?.into(),
        None => Stdio::null(),
    };
    let program = command.get_program().to_string_lossy().into_owned();
    command.stdin(input).stdout(create(streams.output)?).stderr(create(streams.log)?);
    let child = command.spawn().map_err(|error| Failure::on("run", Path::new(&program), error))?;
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // std's `wait` does not report the usage, so the child is reaped here and `child` never waited on.
    loop {
        // SAFETY: the pid is of a child of ours not reaped yet; both pointers live through the call.
        let pid = unsafe { libc::wait4(child.id().cast_signed(), &raw mut status, 0, usage.as_mut_ptr()) };
        let error = std::io::Error::last_os_error();
        if pid >= 0 {
            break;
        }
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(Failure::on("wait for", Path::new(&program), error));
        }
    }
    // SAFETY: all zero bytes are a valid rusage, and wait4 filled it.
    let usage = unsafe { usage.assume_init() };
    let cost = Cost {
        cpu_us: micros(usage.ru_utime) + micros(usage.ru_stime),
        // Linux counts kilobytes, macOS bytes.
        peak_kb: u64::try_from(usage.ru_maxrss).unwrap_or(0)
            / if cfg!(target_os = "macos") { 1024 } else { 1 },
    };
    Ok((cost, libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status))))
}

#[cfg(not(unix))]
pub fn measure(_: &mut Command, streams: Streams<'_>) -> Result<(Cost, Option<i32>), Failure> {
    Err(Failure::on("measure a process into", streams.log, "this system keeps no account of a child's time"))
}

#[cfg(unix)]
fn micros(time: libc::timeval) -> u64 {
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000 + u64::try_from(time.tv_usec).unwrap_or(0)
}
