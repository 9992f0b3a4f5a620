//! What sessions left to be saved: private, bounded, and gone when nobody needs it.

use crate::store::Temp;
use lorelane_core::capture::{AskStage, Capture, CapturedItem, Origin, words_digest};
use lorelane_core::conversation::TranscriptPosition;
use lorelane_core::memory::Category;
use lorelane_core::time::{DAY, Timestamp};
use lorelane_engine::captures::Captures;
use lorelane_engine::disk::RealDisk;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// Before any file that a test makes.
const NOW: i64 = 1_000_000_000;

fn captures(temp: &Temp) -> Captures {
    Captures::new(Arc::new(RealDisk), temp.0.join("state/captures"))
}

fn capture(session: &str, at: i64, categories: &[Category]) -> Capture {
    let item = |category: &Category| {
        let words = "we decided".to_owned();
        let origin = Origin {
            session: session.to_owned(),
            at: TranscriptPosition::Line(1),
            words: words_digest(&words),
        };
        CapturedItem { score: 0.5, ..CapturedItem::new(*category, vec![words.clone()], words, origin) }
    };
    let mut capture = Capture::new(session, "claude-code", Timestamp(at));
    capture.items = categories.iter().map(item).collect();
    capture
}

fn names(captures: &Captures) -> Vec<String> {
    let files = fs::read_dir(captures.folder()).unwrap();
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_session_is_remembered_and_offered_until_it_is_settled() {
    let temp = Temp::new();
    let captures = captures(&temp);
    assert_eq!((captures.load("one"), captures.pending()), (None, Vec::new()));
    let mut one = capture("one", NOW, &[Category::Decision, Category::Runbook]);
    captures.save(&mut one).unwrap();
    let mut two =
        Capture { stage: AskStage::Asked, asked: true, ..capture("two", NOW + 1, &[Category::Decision]) };
    captures.save(&mut two).unwrap();
    let numbers: Vec<u64> = one.items.iter().chain(&two.items).map(|item| item.number).collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert_eq!(captures.load("one"), Some(one.clone()));
    assert_eq!(captures.pending(), [two, one]);
    captures.settle("one", 1).unwrap();
    let left = captures.pending().remove(1);
    assert_eq!(left.items.iter().map(|item| item.category).collect::<Vec<_>>(), [Category::Runbook]);
    captures.settle("one", 2).unwrap();
    captures.settle("two", 3).unwrap();
    captures.settle("never seen", 1).unwrap();
    assert_eq!(captures.pending(), []);
    assert!(captures.load("one").is_some(), "the same words are not found again");
    assert!(captures.load("two").unwrap().asked, "it is not asked twice");
}

#[test]
fn a_session_id_is_foreign_text_and_names_one_file_in_the_folder() {
    let temp = Temp::new();
    let captures = captures(&temp);
    for session in ["../../escape", "", "a/b\0c", "日本語", &"x".repeat(10_000), "A", "a"] {
        let mut capture = capture(session, NOW, &[Category::Decision]);
        let path = captures.save(&mut capture).unwrap();
        assert_eq!(path.parent(), Some(captures.folder().as_path()), "{session}");
        assert_eq!(captures.load(session), Some(capture));
    }
    assert_eq!(names(&captures).len(), 8, "with the next number");
}

#[test]
fn pending_captures_are_bounded_newest_first() {
    let temp = Temp::new();
    let captures = captures(&temp);
    for number in 0..15 {
        captures.save(&mut capture(&format!("s{number}"), NOW + number, &[Category::Decision])).unwrap();
    }
    let sessions: Vec<String> = captures.pending().into_iter().map(|capture| capture.session).collect();
    assert_eq!((sessions.len(), sessions[0].as_str(), sessions[9].as_str()), (10, "s14", "s5"));
}

#[test]
fn what_is_older_than_the_user_wants_goes() {
    let temp = Temp::new();
    let captures = captures(&temp);
    let old = captures.save(&mut capture("old", NOW, &[Category::Decision])).unwrap();
    let text = captures.put_beside("old", "decision.txt", "x").unwrap();
    for path in [&old, &text] {
        let then = UNIX_EPOCH + Duration::from_secs((NOW - 31 * DAY) as u64);
        fs::File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
    }
    captures.save(&mut capture("new", NOW, &[Category::Decision])).unwrap();
    assert_eq!(captures.clear_away(365, Timestamp(NOW)), 0);
    assert!(old.exists() && !text.exists(), "it may wait for a year");
    assert_eq!(captures.clear_away(31, Timestamp(NOW + 31 * DAY)), 0);
    assert_eq!(captures.clear_away(30, Timestamp(NOW + 31 * DAY)), 2);
    assert!(!old.exists(), "nobody was asked in it");
    assert_eq!(captures.clear_away(30, Timestamp(NOW + 31 * DAY)), 0);
}

#[test]
fn a_damaged_file_is_as_good_as_none() {
    let temp = Temp::new();
    let captures = captures(&temp);
    let path = captures.save(&mut capture("one", NOW, &[Category::Decision])).unwrap();
    for bytes in [&b""[..], b"{", b"[]", b"\xff", b"{\"session\": \"other\"}"] {
        fs::write(&path, bytes).unwrap();
        assert_eq!((captures.load("one"), captures.pending()), (None, Vec::new()), "{bytes:?}");
    }
    captures.save(&mut capture("one", NOW, &[Category::Decision])).unwrap();
    assert!(captures.load("one").is_some());
}

#[cfg(unix)]
#[test]
fn files_are_private_and_a_link_in_their_place_is_replaced() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let temp = Temp::new();
    let captures = captures(&temp);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let path = captures.save(&mut capture("one", NOW, &[Category::Decision])).unwrap();
    assert_eq!((mode(&captures.folder()), mode(&path)), (0o700, 0o600));
    let victim = temp.0.join("victim");
    fs::write(&victim, "mine").unwrap();
    fs::remove_file(&path).unwrap();
    symlink(&victim, &path).unwrap();
    assert_eq!(captures.load("one"), None, "a link is not followed");
    captures.save(&mut capture("one", NOW, &[Category::Decision])).unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    assert!(captures.load("one").is_some());
    assert!(!names(&captures).iter().any(|name| name.ends_with(".tmp")));
}

#[test]
fn without_a_folder_saving_fails_and_reading_finds_nothing() {
    let temp = Temp::new();
    fs::write(temp.0.join("state"), "a file").unwrap();
    let captures = captures(&temp);
    let fault = captures.save(&mut capture("one", NOW, &[Category::Decision])).unwrap_err();
    assert!(fault.to_string().starts_with("cannot create ") && !fault.hint().is_empty());
    assert_eq!((captures.load("one"), captures.pending()), (None, Vec::new()));
}
