//! Names of quarantined files: files in a lane that are not valid memories are kept under a name that nothing
//! reads.

use crate::path::RelPath;
use crate::time::Timestamp;

const MARK: &str = ".invalid.";
/// How much of a name is kept, in bytes, so that the new name is not too long for a file system.
const NAME_MAX: usize = 200;

/// The path that a file is quarantined to. `attempt` counts from 0, because an existing name is not reused.
pub fn aside(path: &RelPath, at: Timestamp, attempt: usize) -> Option<RelPath> {
    let mut name = path.file_name();
    while name.len() > NAME_MAX {
        let mut chars = name.chars();
        chars.next_back();
        name = chars.as_str();
    }
    let folder = path.folder().map_or_else(String::new, |folder| format!("{folder}/"));
    let number = if attempt == 0 { String::new() } else { format!("-{attempt}") };
    RelPath::parse(&format!("{folder}{name}{MARK}{}{number}", at.0)).ok()
}

/// Whether this is the name of a quarantined file.
pub fn is_aside(name: &str) -> bool {
    split(name).is_some()
}

/// The path that a file had before it was quarantined; of a very long name, its beginning.
pub fn came_from(path: &RelPath) -> Option<RelPath> {
    RelPath::parse(split(path.as_str())?).ok()
}

/// The name without the suffix.
fn split(name: &str) -> Option<&str> {
    let (name, number) = name.rsplit_once(MARK)?;
    let numbered = number.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    numbered.then_some(name)
}

/// Whether a file has unresolved conflict markers of a merge.
pub fn has_conflict(bytes: &[u8]) -> bool {
    let begins_with = |mark: &'static [u8]| move |line: &[u8]| line.starts_with(mark);
    let mut lines = bytes.split(|byte| *byte == b'\n');
    lines.any(begins_with(b"<<<<<<< "))
        && lines.any(begins_with(b"======="))
        && lines.any(begins_with(b">>>>>>> "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_has_both_sides_and_their_marks() {
        let conflict = "{\n<<<<<<< HEAD\n  \"a\": 1\n=======\n  \"a\": 2\n>>>>>>> theirs\n}\n";
        for (text, expected) in [
            (conflict.to_owned(), true),
            (conflict.replace('\n', "\r\n"), true),
            (conflict.replace("=======", "-------"), false),
            (conflict.replace(">>>>>>> theirs\n", ""), false),
            (conflict.replace('\n', " "), false),
            (String::new(), false),
        ] {
            assert_eq!(has_conflict(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_file_that_was_put_aside_is_known_by_its_name() {
        let long = format!("decisions/{}.json", "é".repeat(120));
        for (path, attempt, expected) in [
            ("decisions/a.json", 0, "decisions/a.json.invalid.1772366400"),
            ("decisions/a.json", 2, "decisions/a.json.invalid.1772366400-2"),
            ("a.json", 0, "a.json.invalid.1772366400"),
        ] {
            let path = RelPath::parse(path).unwrap();
            let put = aside(&path, Timestamp(1_772_366_400), attempt).unwrap();
            assert_eq!(put.as_str(), expected);
            assert!(is_aside(put.file_name()) && !is_aside(path.file_name()));
            assert_eq!((came_from(&put), came_from(&path)), (Some(path), None));
        }
        let long = aside(&RelPath::parse(&long).unwrap(), Timestamp(-5), 1).unwrap();
        assert!(is_aside(long.file_name()) && long.file_name().len() < 255);
        assert!(!is_aside("a.json.invalid.") && !is_aside("notes.invalid.md"));
    }
}
