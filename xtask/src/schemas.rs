//! `schemas`: the JSON schemas of the records as files, for editors and other tools.
//!
//! Core generates them; this command writes them to `schemas/`. With `--check` it reports files that
//! differ, so that a schema in the repository is never older than the code.

use std::fs;

use lorelane_core::dialect::records::schema;

use crate::args::Args;
use crate::failure::Failure;
use crate::repo;

pub fn command(mut args: Args) -> Result<bool, Failure> {
    let check = args.flag("--check");
    args.finish()?;
    let folder = repo::root().join("schemas");
    let mut same = true;
    for (name, text) in schema::all() {
        let path = folder.join(name);
        if check {
            if fs::read_to_string(&path).ok().as_deref() != Some(text.as_str()) {
                println!("{} differs from the code; `cargo xtask schemas` writes it anew", path.display());
                same = false;
            }
        } else {
            fs::write(&path, text).map_err(|error| Failure::on("write", &path, error))?;
        }
    }
    Ok(same)
}
