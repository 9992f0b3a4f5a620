//! A stand-in for the product that knows just the commands of stress and bench.
//!
//! The name it is called by says which promise it breaks (the sandbox hides the environment), so
//! that the tests, which link to it, see each check fail.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lorelane_core::json::{Json, JsonFormat};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let [name, "-C", project, rest @ ..] = args.as_slice() else { return ExitCode::SUCCESS };
    let folder = Path::new(project).join(".claude/memory/decisions");
    let fault = name.rsplit('/').next().unwrap_or(name);
    if fault == "finds-nothing" && rest[0] == "update" {
        return ExitCode::FAILURE;
    }
    match rest {
        ["hook", "session-start" | "prompt"] if fault != "says-nothing" => println!("a memory"),
        // A memory names every file of a record.
        ["hook", "before-tool"] => {
            let mut payload = String::new();
            if std::io::stdin().read_to_string(&mut payload).is_ok() && payload.contains("src/part") {
                println!("a memory");
            }
        }
        ["hook", "stop"] | ["extract", _] => println!("something to save"),
        ["audit" | "check", ..] => println!("a stale memory"),
        ["ws", ..] => println!("a file"),
        _ => {}
    }
    match run(&folder, rest, fault) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn run(folder: &Path, args: &[&str], fault: &str) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let lock = File::open(folder).map_err(|error| error.to_string())?;
    if fault != "loses-updates" {
        lock.lock().map_err(|error| error.to_string())?;
    }
    match args {
        ["create", "decision", "--from", source] => {
            let mut record = draft(source)?;
            let title = record.at("title").and_then(Json::as_text).ok_or("no title")?;
            let slug = title.to_lowercase().replace(' ', "-");
            if fault == "loses-creates" && slug.starts_with("stress-memory-w0") {
                return Ok(());
            }
            let starved = folder.join(format!("starved-{slug}"));
            if fault == "starves-writers" && slug.contains("-w0") && !starved.exists() {
                fs::write(starved, "").map_err(|error| error.to_string())?;
                return Err("error[LOCK_TIMEOUT_ERROR]: no turn came".to_owned());
            }
            if let Json::Object(fields) = &mut record {
                fields.set("changes", Json::List(vec![]));
            }
            write(&folder.join(format!("{slug}.json")), &record, fault)
        }
        ["update", address, "--set", assignment] => {
            let slug = address.strip_prefix("decision/").ok_or("no decision")?;
            let path = folder.join(format!("{slug}.json"));
            let value = assignment.strip_prefix("content.context=").ok_or("no context")?;
            let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
            let Ok(Json::Object(mut record)) = Json::parse(&text) else { return Err("no record".to_owned()) };
            let Some(Json::Object(content)) = record.get_mut("content") else {
                return Err("no content".to_owned());
            };
            content.set("context", Json::text(value));
            let change = Json::Object([("new_value", Json::text(value))].into_iter().collect());
            match record.get_mut("changes") {
                Some(Json::List(changes)) if fault != "loses-updates" => changes.push(change),
                _ => {}
            }
            write(&path, &Json::Object(record), fault)
        }
        ["log", "--verify"] if fault == "fails-verify" => Err("the chain is broken".to_owned()),
        _ => Ok(()),
    }
}

fn draft(source: &str) -> Result<Json, String> {
    let mut text = String::new();
    match source {
        "-" => std::io::stdin().read_to_string(&mut text).map(drop),
        file => fs::read_to_string(file).map(|read| text = read),
    }
    .map_err(|error| error.to_string())?;
    Json::parse(&text).map_err(|fault| fault.to_string())
}

fn write(path: &Path, record: &Json, fault: &str) -> Result<(), String> {
    let text = format!("{}\n", record.render(JsonFormat::FILE));
    let temp = PathBuf::from(format!("{}.tmp", path.display()));
    let torn = fault == "tears-files" && path.to_string_lossy().contains("shared");
    let text = if torn { &text[..text.len() / 2] } else { &text };
    fs::write(&temp, text).map_err(|error| error.to_string())?;
    if fault == "leaves-temps" {
        return fs::copy(&temp, path).map(drop).map_err(|error| error.to_string());
    }
    fs::rename(&temp, path).map_err(|error| error.to_string())
}
