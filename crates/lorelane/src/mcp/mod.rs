//! The MCP server, over stdio or HTTP.
//!
//! Tools, resources and prompts are plain functions over the workspace. Only `server`, `log`, `message`, `stdio`,
//! `http`, `sessions` and `bridge` use the protocol crate `rmcp`.

mod answer;
mod bridge;
mod cursor;
mod hints;
mod http;
mod log;
mod message;
mod options;
mod prompts;
mod resources;
mod schema;
mod server;
mod sessions;
mod stdio;
mod tools;

use crate::serve::{self, StartError, WorkspaceFactory};
use lorelane_core::secret;
use lorelane_core::text::printable;
use lorelane_core::time::Timestamp;
use lorelane_engine::env::Env;
use options::{Options, Transport};
use server::Server;
use std::process::ExitCode;
use std::sync::Arc;

/// Serves until the client disconnects. `clock` is read for each request, because this process outlives a command.
pub fn run(env: &Env, clock: fn() -> Timestamp, words: &[String]) -> ExitCode {
    match Options::read(words).and_then(|options| serve(env, clock, &options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(StartError { what, hint }) => {
            let text = format!("error: {what}\nhint: {hint}");
            eprintln!("{}", printable(&secret::masked(&text)));
            ExitCode::from(2)
        }
    }
}

fn serve(env: &Env, clock: fn() -> Timestamp, options: &Options) -> Result<(), StartError> {
    serve::run(async {
        let server = Server::new(Arc::new(WorkspaceFactory::new(env, clock)), options.offer.clone());
        match &options.transport {
            Transport::Stdio => {
                stdio::serve(server).await;
                Ok(())
            }
            Transport::Http { address, remote } => http::serve(server, env, address, *remote).await,
        }
    })?
}
