//! `tokens`: how near the estimate of tokens is to the exact count, and the table of the exact counter.

use std::fs;
use std::path::{Path, PathBuf};

use lorelane_core::text::{EstimatedTokens, O200kTokens, TokenCounter};

use crate::args::Args;
use crate::failure::Failure;
use crate::repo;

/// BLAKE3 of the vocabulary as its owner distributes it.
const VOCABULARY_DIGEST: &str = "77500c1d2b9e0f606d2ab99ff39e9eba";
const TABLE: &str = "crates/lorelane-core/data/o200k.bin";
const SINGLES: usize = 256;

pub fn command(mut args: Args) -> Result<bool, Failure> {
    let sets: Option<PathBuf> = args.option("--sets")?;
    let vocabulary: Option<PathBuf> = args.option("--vocabulary")?;
    let write = args.flag("--write");
    args.finish()?;
    if sets.is_none() && vocabulary.is_none() {
        return Err(Failure::new("there is nothing to do").hint("give --sets DIR or --vocabulary FILE"));
    }
    if let Some(sets) = sets {
        print!("{}", report(&sets)?);
    }
    match vocabulary {
        Some(vocabulary) => table(&vocabulary, write),
        None => Ok(true),
    }
}

/// One row for each folder in `sets`: its name is the kind of its files.
fn report(sets: &Path) -> Result<String, Failure> {
    let exact = O200kTokens::new();
    let mut text = "| files | number | median, % | p10, % | p90, % | median distance, % |\n\
        | --- | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    for folder in listed(sets)?.into_iter().filter(|path| path.is_dir()) {
        let mut errors = Vec::new();
        for file in listed(&folder)?.into_iter().filter(|path| path.is_file()) {
            let read = fs::read_to_string(&file).map_err(|error| Failure::on("read", &file, error))?;
            let counted = exact.count(&read);
            if counted > 0 {
                errors.push(EstimatedTokens.count(&read) as f64 / counted as f64 * 100.0 - 100.0);
            }
        }
        let mut distances: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
        for values in [&mut errors, &mut distances] {
            values.sort_by(f64::total_cmp);
        }
        let at = |values: &[f64], percent: usize| {
            values
                .get((values.len() * percent / 100).min(values.len().saturating_sub(1)))
                .copied()
                .unwrap_or(0.0)
        };
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        text.push_str(&format!(
            "| {name} | {} | {:+.1} | {:+.1} | {:+.1} | {:.1} |\n",
            errors.len(),
            at(&errors, 50),
            at(&errors, 10),
            at(&errors, 90),
            at(&distances, 50),
        ));
    }
    Ok(text)
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| Failure::on("read", folder, error))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

/// Packs the vocabulary (lines of base64 and a rank), and compares or writes the table.
fn table(vocabulary: &Path, write: bool) -> Result<bool, Failure> {
    let bytes = fs::read(vocabulary).map_err(|error| Failure::on("read", vocabulary, error))?;
    let digest = lorelane_core::digest::short_digest(&String::from_utf8_lossy(&bytes), 32);
    if digest != VOCABULARY_DIGEST {
        return Err(Failure::on(
            "use",
            vocabulary,
            format!("its digest is {digest}, not {VOCABULARY_DIGEST}"),
        ));
    }
    let packed = packed(&String::from_utf8_lossy(&bytes))
        .ok_or_else(|| Failure::on("read", vocabulary, "it is not a list of tokens by rank"))?;
    let path = repo::root().join(TABLE);
    if write {
        fs::write(&path, packed).map_err(|error| Failure::on("write", &path, error))?;
        return Ok(true);
    }
    let known = fs::read(&path).map_err(|error| Failure::on("read", &path, error))?;
    let is_same = known == packed;
    println!("{}", if is_same { "the table is up to date" } else { "the table differs; --write updates it" });
    Ok(is_same)
}

/// The layout that `text/o200k.rs` unpacks. Each token is two of lower rank: any two, because only bytes are kept.
fn packed(vocabulary: &str) -> Option<Vec<u8>> {
    let tokens: Vec<Vec<u8>> = vocabulary
        .lines()
        .enumerate()
        .map(|(at, line)| {
            let (token, rank) = line.split_once(' ')?;
            rank.parse::<usize>().is_ok_and(|rank| rank == at).then(|| base64(token))?
        })
        .collect::<Option<_>>()?;
    let ranks: std::collections::HashMap<&[u8], usize> =
        tokens.iter().enumerate().map(|(rank, token)| (token.as_slice(), rank)).collect();
    let mut packed = Vec::new();
    for single in tokens.get(..SINGLES)? {
        packed.push(*single.first().filter(|_| single.len() == 1)?);
    }
    let mut parts = Vec::new();
    for (rank, token) in tokens.iter().enumerate().skip(SINGLES) {
        let lower = |part: &[u8]| ranks.get(part).copied().filter(|part| *part < rank);
        let split = |at: usize| Some((lower(&token[..at])?, lower(&token[at..])?));
        parts.push((1..token.len()).find_map(split)?);
    }
    for two in parts.chunks(2) {
        let [(a, b), (c, d)] = two else { return None };
        let mut high = 0;
        for (at, rank) in [a, b, c, d].into_iter().enumerate() {
            packed.extend_from_slice(&((rank & 0xFFFF) as u16).to_le_bytes());
            high |= ((rank >> 16) as u8) << (2 * at);
        }
        packed.push(high);
    }
    Some(packed)
}

fn base64(text: &str) -> Option<Vec<u8>> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for digit in text.trim_end_matches('=').bytes() {
        bits = bits << 6 | DIGITS.iter().position(|known| *known == digit)? as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xFF) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vocabulary_is_packed_as_pairs_of_lower_ranks() {
        let singles: String = (0..=255_u8)
            .map(|byte| {
                const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
                let (first, second) = (DIGITS[usize::from(byte >> 2)], DIGITS[usize::from(byte & 3) << 4]);
                format!("{}{}== {byte}\n", first as char, second as char)
            })
            .collect();
        // "ab" and "abc".
        let packed = packed(&format!("{singles}YWI= 256\nYWJj 257\n")).unwrap();
        assert_eq!(packed[..256], (0..=255).collect::<Vec<u8>>());
        assert_eq!(packed[256..], [b'a', 0, b'b', 0, 0, 1, b'c', 0, 0]);
        assert_eq!(
            super::packed(&format!("{singles}YWJj 256\nYWI= 257\n")),
            None,
            "c is no neighbour of ab yet"
        );
    }
}
