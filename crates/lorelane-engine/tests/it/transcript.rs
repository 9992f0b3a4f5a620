//! The end of a transcript, whatever comes before it.

use crate::store::Temp;
use lorelane_core::conversation::{Conversation, Message, TranscriptFormat, TranscriptPosition};
use lorelane_engine::transcript::{lines_at, read};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

fn user(text: &str) -> String {
    format!("{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n")
}

fn tool_result(length: usize) -> String {
    let content = "x".repeat(length);
    format!(
        "{{\"type\":\"user\",\"message\":{{\"content\":[{{\"type\":\"tool_result\",\"content\":\"{content}\"}}]}}}}\n"
    )
}

fn last(temp: &Temp, path: &Path, max_messages: usize) -> io::Result<Conversation> {
    read(path, TranscriptFormat::ClaudeCode, max_messages, std::slice::from_ref(&temp.0))
}

fn said(conversation: &Conversation) -> Vec<(TranscriptPosition, &str)> {
    conversation.messages.iter().map(|message| (message.at, message.text.as_str())).collect()
}

/// The same with the numbers of the lines.
fn said_in_lines<'c>(path: &Path, conversation: &'c Conversation) -> Vec<(u64, &'c str)> {
    let byte = |message: &Message| match message.at {
        TranscriptPosition::Byte(byte) => byte,
        TranscriptPosition::Line(_) => panic!("bytes only"),
    };
    let places: Vec<u64> = conversation.messages.iter().map(byte).collect();
    let lines = lines_at(path, &places).unwrap().into_iter().map(Option::unwrap);
    lines.zip(conversation.messages.iter().map(|message| message.text.as_str())).collect()
}

fn written(temp: &Temp, bytes: impl AsRef<[u8]>) -> std::path::PathBuf {
    let path = temp.0.join("transcript.jsonl");
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn the_lines_of_messages_are_counted() {
    let temp = Temp::new();
    for (text, max, expected) in [
        (String::new(), 9, vec![]),
        ("\n".to_owned(), 9, vec![]),
        (user("a"), 9, vec![(1, "a")]),
        (user("a").trim_end().to_owned(), 9, vec![(1, "a")]),
        (format!("\n{}\n\n{}", user("a"), user("b")), 9, vec![(2, "a"), (5, "b")]),
        (format!("{}{}{}", user("a"), user("b"), user("c")), 2, vec![(2, "b"), (3, "c")]),
        (format!("{{}}\n[]\nnot json\n{}{{\"type\":\"us", user("a")), 9, vec![(4, "a")]),
    ] {
        let path = written(&temp, &text);
        let conversation = last(&temp, &path, max).unwrap();
        assert_eq!(said_in_lines(&path, &conversation), expected, "{text:?}");
    }
}

#[test]
fn broken_bytes_cost_their_line_only() {
    let temp = Temp::new();
    let bytes =
        [user("a").as_bytes(), b"{\"type\":\"user\",\"x\":\"\xff\"}\n", user("b").as_bytes()].concat();
    let path = written(&temp, bytes);
    let conversation = last(&temp, &path, 9).unwrap();
    assert_eq!(said_in_lines(&path, &conversation), [(1, "a"), (3, "b")]);
}

#[test]
fn lines_longer_than_a_piece_are_put_together_and_those_too_long_are_left_out() {
    let temp = Temp::new();
    let long = "y".repeat(700_000);
    let text = [user("a"), user(&long), user(&"z".repeat(1 << 20)), tool_result(600_000), user("b")].concat();
    let path = written(&temp, &text);
    let conversation = last(&temp, &path, 9).unwrap();
    let texts: Vec<&str> = said(&conversation).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["a", &long, "b"]);
}

#[test]
fn of_a_large_transcript_only_the_end_is_read() {
    let temp = Temp::new();
    let path = written(&temp, user("at the beginning"));
    let mut file = File::options().write(true).open(&path).unwrap();
    // A hole: nothing of these 200 MB is on the disk, and nobody could read them in the time of a test run.
    let end = file.seek(SeekFrom::Start(200 << 20)).unwrap();
    file.write_all(format!("torn\n{}{}", user("a"), user("b")).as_bytes()).unwrap();
    let conversation = last(&temp, &path, 9).unwrap();
    let second = end + 5 + user("a").len() as u64;
    assert_eq!(
        said(&conversation),
        [(TranscriptPosition::Byte(end + 5), "a"), (TranscriptPosition::Byte(second), "b")]
    );
    let enough = last(&temp, &path, 1).unwrap();
    assert_eq!(said(&enough), [(TranscriptPosition::Byte(second), "b")]);
    assert_eq!(lines_at(&path, &[0, second]).unwrap(), [Some(1), None], "too far to count");
}

#[test]
fn a_transcript_is_a_regular_file_in_an_allowed_folder() {
    let temp = Temp::new();
    let elsewhere = Temp::new();
    let path = written(&elsewhere, user("a"));
    assert_eq!(last(&temp, &path, 9).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    assert_eq!(last(&temp, &temp.0.join("gone"), 9).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert!(last(&temp, &temp.0, 9).is_err(), "a folder");
    #[cfg(unix)]
    {
        let link = temp.0.join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(last(&temp, &link, 9).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }
}
