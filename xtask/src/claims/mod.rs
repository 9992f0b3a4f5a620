//! `claims`: how well a deep audit judges sentences whose truth is known.
//!
//! The sentences are our own and were labelled by eye. The packages they are about are fetched by name and version;
//! every version becomes a commit, and every sentence a note that was written right after its version.

mod packages;
mod score;
mod set;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use lorelane_core::json::Json;

use crate::args::Args;
use crate::failure::Failure;
use crate::process;
use crate::repo;
use crate::sandbox::Sandbox;
use packages::{LabelledPackage, PACKAGES};
use score::{Said, Score, table};
use set::LabelledSentence;

pub fn command(mut args: Args) -> Result<bool, Failure> {
    let binary: Option<PathBuf> = args.option("--binary")?;
    let keep = args.flag("--keep");
    args.finish()?;
    let binary = match binary {
        Some(binary) => repo::given_program(&binary)?,
        None => repo::build_product(&[])?,
    };
    let work = repo::target_folder().join("claims");
    let mut scores = Vec::new();
    for package in PACKAGES {
        package.fetch(&work)?;
        let sentences = set::read(package)?;
        let heads: BTreeSet<&str> = sentences.iter().map(|one| one.head.as_str()).collect();
        let mut score = Score::default();
        for head in heads {
            let written: Vec<&LabelledSentence> = sentences.iter().filter(|one| one.head == head).collect();
            measure(package, head, &written, &Run { binary: &binary, work: &work, keep }, &mut score)?;
        }
        scores.push((package.name, score));
    }
    let mut all = Score::default();
    scores.iter().for_each(|(_, score)| all.join(score));
    let mut columns: Vec<(&str, &Score)> = scores.iter().map(|(name, score)| (*name, score)).collect();
    columns.push(("all", &all));
    println!("\n{}", table(&columns));
    Ok(all.is_met())
}

struct Run<'r> {
    binary: &'r Path,
    work: &'r Path,
    keep: bool,
}

/// Audits the sentences about one pair of versions or more with the same end, and prints what is wrong.
fn measure(
    package: &LabelledPackage,
    head: &str,
    sentences: &[&LabelledSentence],
    run: &Run<'_>,
    score: &mut Score,
) -> Result<(), Failure> {
    let mut sandbox = Sandbox::empty("claims")?;
    package.commit(run.work, head, &sandbox.project())?;
    let notes = sandbox.project().join(".memories");
    fs::create_dir_all(&notes).map_err(|error| Failure::on("create", &notes, error))?;
    for (number, sentence) in sentences.iter().enumerate() {
        let date = package.written_at(&sentence.at);
        let date = date.ok_or_else(|| Failure::new(format!("{} has no {}", package.name, sentence.at)))?;
        let text = format!(
            "---\ntype: \"fact\"\nstatus: \"active\"\ntags: []\ncreated_at: \"{date}\"\n---\n\n{}\n",
            sentence.text
        );
        let file = notes.join(format!("{}.md", note_name(number)));
        fs::write(&file, text).map_err(|error| Failure::on("write", &file, error))?;
    }
    if run.keep {
        sandbox.keep();
        println!("kept {}", sandbox.folder().display());
    }
    let audit = sandbox.command(run.binary, &["audit", "--deep", "--lane", "notes", "--json"]);
    let ended = process::run(audit, sandbox.folder(), "audit")?;
    let audited = Json::parse(&ended.stdout).map_err(|fault| Failure::new(format!("the audit: {fault}")))?;
    let claims = claims_by_note(&audited);
    for (number, sentence) in sentences.iter().enumerate() {
        let name = note_name(number);
        let found = claims.get(name.as_str()).copied();
        let found = found.ok_or_else(|| Failure::new(format!("the audit has no note `{name}`")))?;
        let said = Said::about(found, &sentence.claim);
        if let Some(wrong) = score.add(sentence, said.as_ref()) {
            let text = sentence.text.replace('\n', " / ");
            println!("{} {}: {}: {wrong}\n    {text}", package.name, sentence.at, sentence.claim);
        }
    }
    Ok(())
}

fn note_name(number: usize) -> String {
    format!("sentence-{number}")
}

fn claims_by_note(audited: &Json) -> BTreeMap<&str, &[Json]> {
    let memories = audited.at("memories").and_then(Json::as_list).unwrap_or_default();
    let one = |memory| {
        let memory: &Json = memory;
        let address = memory.at("address").and_then(Json::as_text)?;
        let claims = memory.at("claims").and_then(Json::as_list).unwrap_or_default();
        Some((address.split_once('/')?.1, claims))
    };
    memories.iter().filter_map(one).collect()
}
