//! The cost of a call in the running server: the CPU time of its process, call by call.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use lorelane_core::json::{Json, JsonFormat};

use crate::failure::Failure;

/// Sent once before anything is measured, so that caches are filled.
const WARMING: usize = 5;

/// The cost of calls of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub median_us: u64,
    pub p95_us: u64,
}

/// An initialized server on standard input and output.
#[derive(Debug)]
pub struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Server {
    /// Starts `lorelane mcp`, given as a command without its streams.
    pub fn start(mut command: Command) -> Result<Server, Failure> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child =
            command.spawn().map_err(|error| Failure::new(format!("cannot start the server: {error}")))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure::new("cannot talk to the server: it has no streams"));
        };
        let mut server = Server { child, input, output: BufReader::new(output), asked: 0 };
        let client = object([("name", Json::text("xtask")), ("version", Json::text("1"))]);
        let greeting = [
            ("protocolVersion", Json::text("2025-11-25")),
            ("capabilities", object([])),
            ("clientInfo", client),
        ];
        server.ask("initialize", object(greeting))?;
        Ok(server)
    }

    /// The cost of a search for each of these questions.
    pub fn search(&mut self, questions: &[String]) -> Result<Cost, Failure> {
        let requests = questions.iter().map(|question| {
            let arguments = object([("query", Json::text(question))]);
            object([("name", Json::text("memory_search")), ("arguments", arguments)])
        });
        self.cost("tools/call", &requests.collect::<Vec<_>>())
    }

    /// The cost of the smallest request that opens the store: reading one resource.
    pub fn read(&mut self, uri: &str, times: usize) -> Result<Cost, Failure> {
        self.cost("resources/read", &vec![object([("uri", Json::text(uri))]); times])
    }

    /// The memory of the process in kilobytes, if the system reports it.
    pub fn memory_kb(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.split_whitespace().next()?.parse().ok()
    }

    fn cost(&mut self, method: &str, requests: &[Json]) -> Result<Cost, Failure> {
        for request in requests.iter().cycle().take(WARMING) {
            self.ask(method, request.clone())?;
        }
        let mut costs = Vec::new();
        for request in requests {
            let before = cpu_us(&self.child)?;
            self.ask(method, request.clone())?;
            costs.push(cpu_us(&self.child)?.saturating_sub(before));
        }
        costs.sort_unstable();
        let at = |share: usize| costs.get(costs.len() * share / 100).copied().unwrap_or_default();
        Ok(Cost { median_us: at(50), p95_us: at(95) })
    }

    /// Sends a request and waits for the result. A protocol or tool error fails the measurement.
    fn ask(&mut self, method: &str, params: Json) -> Result<Json, Failure> {
        self.asked += 1;
        let id = Json::number(self.asked);
        let request = object([
            ("jsonrpc", Json::text("2.0")),
            ("id", id.clone()),
            ("method", Json::text(method)),
            ("params", params),
        ]);
        let unsaid = |error: std::io::Error| Failure::new(format!("cannot ask the server: {error}"));
        writeln!(self.input, "{}", request.render(JsonFormat::LINE)).map_err(unsaid)?;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).map_err(unsaid)? == 0 {
                return Err(Failure::new(format!("the server ended instead of answering {method}")));
            }
            let answer = Json::parse(&line).ok().filter(|answer| answer.at("id") == Some(&id));
            let Some(answer) = answer else { continue };
            return match answer.at("result") {
                Some(result) if result.at("isError") != Some(&Json::Bool(true)) => Ok(result.clone()),
                _ => Err(Failure::new(format!("the server refused {method}: {}", line.trim()))),
            };
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn object<const N: usize>(members: [(&'static str, Json); N]) -> Json {
    Json::Object(members.into_iter().collect())
}

/// The CPU time of all threads of a process, including those that ended.
#[cfg(target_os = "linux")]
fn cpu_us(child: &Child) -> Result<u64, Failure> {
    let unknown = || Failure::new("cannot tell the server's time: it has ended");
    let mut clock: libc::clockid_t = 0;
    // SAFETY: `clock` outlives the call; a process that is gone is an error code.
    if unsafe { libc::clock_getcpuclockid(child.id().cast_signed(), &raw mut clock) } != 0 {
        return Err(unknown());
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` outlives the call.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return Err(unknown());
    }
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    Ok(seconds.unwrap_or(0) * 1_000_000 + nanos.unwrap_or(0) / 1_000)
}

#[cfg(not(target_os = "linux"))]
fn cpu_us(_: &Child) -> Result<u64, Failure> {
    Err(Failure::new("cannot tell the server's time: only Linux has a clock for another process"))
}
