//! The MCP server: memories for every client that speaks the protocol, over standard input or HTTP.
//!
//! Tools, resources and prompts are plain functions over the workspace. Only `server`, `log`, `message`, `stdio` and `http` know the
//! protocol's crate, and a runtime is started here and in no other face: hooks and commands do not pay for it.

mod answer;
mod bridge;
mod cursor;
mod desk;
mod hints;
mod http;
mod learn;
mod log;
mod message;
mod options;
mod prompts;
mod resources;
mod schema;
mod server;
mod stdio;
mod tools;
mod watch;

use desk::Desk;
use lorelane_core::secret;
use lorelane_core::text::printable;
use lorelane_core::time::Timestamp;
use lorelane_engine::env::Env;
use options::{Door, Options};
use server::Server;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// So many requests are worked on at once; the others wait in line.
const WORKERS: usize = 4;
/// A client that hangs up does not wait for us.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Serves until the client is gone. `clock` tells the time of each request: this process lives longer than a command.
pub fn run(env: &Env, clock: fn() -> Timestamp, words: &[String]) -> ExitCode {
    match Options::read(words).and_then(|options| serve(env, clock, &options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err((what, hint)) => {
            let text = format!("error: {what}\nhint: {hint}");
            eprintln!("{}", printable(&secret::masked(&text)));
            ExitCode::from(2)
        }
    }
}

/// What could not be done, and what to do.
type Trouble = (String, String);

fn serve(env: &Env, clock: fn() -> Timestamp, options: &Options) -> Result<(), Trouble> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(WORKERS)
        .build()
        .map_err(|fault| (format!("cannot start the server: {fault}"), "try again".to_owned()))?;
    let server = Server::new(Arc::new(Desk::new(env, clock)), options.profile);
    let ended = match &options.door {
        Door::Stdio => {
            runtime.block_on(stdio::serve(server));
            Ok(())
        }
        Door::Http { address, remote } => runtime.block_on(http::serve(server, env, address, *remote)),
    };
    runtime.shutdown_timeout(LAST_WORDS);
    ended
}
