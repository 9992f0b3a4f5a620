//! `--input`: a draft in the shared temporary folder, and nowhere else.
//!
//! A prompt injection with `--input ~/.ssh/id_ed25519` must not get that file into a memory.

use super::block::Block;
use lorelane_core::dialect::records::RECORD_MAX_BYTES;
use lorelane_core::json::Json;
use lorelane_engine::disk::{Disk as _, RealDisk};
use std::path::{Path, PathBuf};

const TEMPORARY: &str = "/tmp";

#[derive(Debug)]
pub(super) struct Input {
    pub(super) file: PathBuf,
    pub(super) text: String,
}

impl Input {
    pub(super) fn read(cwd: &Path, typed: &str) -> Result<Input, Block> {
        let file = resolved(&cwd.join(typed));
        // Resolved, because the temporary folder is itself a symlink on some systems.
        let inside = file.strip_prefix(resolved(Path::new(TEMPORARY)));
        if typed.contains("..") || inside.map_or(true, |inside| inside.as_os_str().is_empty()) {
            return Err(Block::new("SECURITY_ERROR")
                .line("path", typed)
                .line("resolved", &file.to_string_lossy())
                .line("fix", "Input file must be a /tmp/ path with no '..' components."));
        }
        if !file.is_file() {
            let fix = "Input file does not exist. Write JSON to the temp file first.";
            return Err(Block::new("INPUT_ERROR").line("path", typed).line("fix", fix));
        }
        let bytes = RealDisk
            .read_regular(&file, RECORD_MAX_BYTES as u64)
            .map_err(|fault| unusable(typed, &fault.to_string()))?
            .unwrap_or_default();
        let text = String::from_utf8(bytes).map_err(|fault| {
            unusable(
                typed,
                &format!("Invalid JSON: not UTF-8 from byte {}", fault.utf8_error().valid_up_to()),
            )
        })?;
        match Json::parse(text.strip_prefix('\u{feff}').unwrap_or(&text)) {
            Ok(json) if json.as_object().is_some() => Ok(Input { file, text }),
            Ok(_) => Err(unusable(typed, "Invalid JSON: the input is not an object")),
            Err(fault) => Err(unusable(typed, &format!("Invalid JSON: {fault}"))),
        }
    }
}

pub(super) fn unusable(typed: &str, error: &str) -> Block {
    Block::new("INPUT_ERROR")
        .line("path", typed)
        .line("error", error)
        .line("fix", "Ensure the input file contains valid JSON.")
}

/// Resolves links in the part of the path that exists.
fn resolved(path: &Path) -> PathBuf {
    match (std::fs::canonicalize(path), path.parent(), path.file_name()) {
        (Ok(real), ..) => real,
        (Err(_), Some(parent), Some(name)) => resolved(parent).join(name),
        (Err(_), ..) => path.to_owned(),
    }
}
