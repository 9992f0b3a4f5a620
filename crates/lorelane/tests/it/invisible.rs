//! Characters that nobody sees reach neither a terminal nor a model, whichever face shows the text.

use crate::consolidate::capture;
use crate::hooks::payload;
use crate::scratch::{Said, Scratch, USE_JWT};
use lorelane_core::json::Json;
use lorelane_core::memory::Category;

/// What Unicode lets a reader ignore, the blank characters that are not white space, and what is not a character.
const UNSEEN: &[(u32, u32)] = &[
    (0xad, 0xad),
    (0x34f, 0x34f),
    (0x61c, 0x61c),
    (0x115f, 0x1160),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x200b, 0x200f),
    (0x202a, 0x202e),
    (0x2060, 0x206f),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xfdd0, 0xfdef),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfffb),
    (0xfffe, 0xffff),
    (0x1bca0, 0x1bca3),
    (0x1d173, 0x1d17a),
    (0x1fffe, 0x1ffff),
    (0xe0000, 0xe0fff),
    (0x10fffe, 0x10ffff),
];

fn is_unseen(c: char) -> bool {
    UNSEEN.iter().any(|(first, last)| (*first..=*last).contains(&u32::from(c)))
}

fn all() -> String {
    UNSEEN.iter().flat_map(|(first, last)| *first..=*last).filter_map(char::from_u32).collect()
}

/// One of each range: few enough for a title.
fn some() -> String {
    UNSEEN.iter().filter_map(|(_, last)| char::from_u32(*last)).collect()
}

/// A store with one pinned decision that is full of them.
fn hostile() -> Scratch {
    let scratch = Scratch::with_jwt();
    scratch.lorelane("pin use-jwt").expect(0);
    let record = scratch.read(USE_JWT);
    let record =
        record.replace("Use JWT", &format!("Use{} JWT", some())).replace("Slow", &format!("Slow{}", all()));
    scratch.put(USE_JWT, record);
    scratch
}

fn assert_seen(face: &str, said: &Said) {
    let unseen = said.out.chars().chain(said.err.chars()).find(|c| is_unseen(*c));
    assert_eq!(unseen.map(char::escape_unicode).map(|c| c.to_string()), None, "{face}: {said:?}");
}

// Variation selectors, fillers and the empty Braille pattern were taken for visible, and `--json` and `candidate`
// printed everything as it was (finding 25).
#[test]
fn no_command_prints_what_nobody_sees() {
    let scratch = hostile();
    capture(&scratch, "s-9", &[(Category::Decision, &format!("We chose{} JWT over sessions", some()))]);
    let candidate = format!("candidate decision --new-info 'JWT{} moved to PASETO'", some());
    for line in [
        "list",
        "show use-jwt",
        "search JWT",
        "search JWT --explain",
        "links use-jwt",
        "related use-jwt",
        "why",
        "log",
        "status",
        "doctor",
        "graph",
        "consolidate prepare",
        &candidate,
    ] {
        assert_seen(line, &scratch.lorelane(line));
        assert_seen(line, &scratch.lorelane(&format!("{line} --json")));
    }
    assert_seen("batch", &scratch.lorelane_with_input("search --batch -", r#"{"id": 1, "query": "JWT"}"#));
    // In JSON nothing is lost: it is written as its code point.
    let title = scratch.json("show use-jwt");
    let title = title.at("memory.title").and_then(Json::as_text).unwrap();
    assert_eq!(title, format!("Use{} JWT", some()));
}

#[test]
fn no_hook_says_what_nobody_sees() {
    let scratch = hostile();
    let prompt =
        scratch.hook("prompt", &[("prompt", Json::text(format!("why do we use{} JWT for auth?", some())))]);
    assert!(prompt.out.contains("use-jwt"), "{prompt:?}");
    let start = scratch.hook("session-start", &[("source", Json::text("startup"))]);
    assert!(start.out.contains("use-jwt"), "{start:?}");
    let file = format!(".claude/memory/decisions/x{}.json", some());
    let input = Json::Object([("file_path", Json::text(file))].into_iter().collect());
    let denial = scratch.hook("before-tool", &[("tool_name", Json::text("Write")), ("tool_input", input)]);
    assert!(denial.out.contains("\"deny\""), "{denial:?}");
    let transcript = scratch.folder.join("transcript.jsonl");
    let decided =
        format!("We decided to use pnpm over npm because the workspace{} links are strict.", some());
    let line = format!(r#"{{"type":"user","message":{{"content":"{decided}"}}}}"#);
    let asked =
        r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"which one?"}]}}"#;
    std::fs::write(&transcript, format!("{asked}\n{line}\n")).unwrap();
    let members = [
        ("transcript_path", Json::text(transcript.to_str().unwrap())),
        ("stop_hook_active", Json::Bool(false)),
    ];
    let asked = [("LORELANE_STOP_UNATTENDED", "ask")];
    let stop = scratch.hook_with("claude-code", "stop", &payload(&scratch, &members), &asked);
    assert!(stop.text().contains("pnpm"), "{stop:?}");
    for (face, said) in [("prompt", prompt), ("start", start), ("denial", denial), ("stop", stop)] {
        assert_seen(face, &said);
    }
}
