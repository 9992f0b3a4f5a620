//! `schemas`: the JSON schemas of the records as files, for editors and other tools.
//!
//! The core knows them; this command writes them to `schemas/`, and with `--check` says which
//! file differs, so that a schema in the repository is never older than the code.

use crate::args::Args;
use crate::failure::Failure;

pub fn command(mut args: Args) -> Result<bool, Failure> {
    let _check = args.flag("--check");
    args.finish()?;
    // TODO: call `lorelane_core::dialect::records::schema::all()` once the records dialect has landed.
    Err(Failure::new("cannot write the schemas: the core does not offer them yet"))
}
