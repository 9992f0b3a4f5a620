//! What is known about a memory and no dialect can say.
//!
//! Marks are one append-only file per worktree, a JSON object per line, so that two branches merge line by
//! line. The newest mark of a kind counts.

use crate::digest::Revision;
use crate::json::{Format, Json, Object};
use crate::memory::Address;
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// The folder of the file of marks, below the project's root.
pub const MARKS_FOLDER: &str = ".lorelane";

#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    pub address: Address,
    /// What the memory said when it was marked.
    pub revision: Option<Revision>,
    pub at: Timestamp,
    pub kind: MarkKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum MarkKind {
    /// Always part of the standing context.
    Pin,
    Unpin,
    /// The memory moved: this address now leads to that one.
    Alias {
        to: Address,
    },
}

/// All marks of a worktree, the newest of a kind winning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    pub pinned: BTreeSet<Address>,
    pub aliases: BTreeMap<Address, Address>,
    /// Lines that say nothing to us: kept in the file, counted here.
    pub unread: usize,
}

impl Mark {
    /// The line for the file, newline included.
    pub fn line(&self) -> String {
        let mut object = Object::new();
        object.set("mark", Json::text(self.kind.name()));
        object.set("address", Json::text(self.address.to_string()));
        if let MarkKind::Alias { to } = &self.kind {
            object.set("to", Json::text(to.to_string()));
        }
        object.set("at", Json::text(self.at.to_string()));
        if let Some(revision) = &self.revision {
            object.set("revision", Json::text(revision.to_string()));
        }
        format!("{}\n", Json::Object(object).render(Format::LINE))
    }

    fn read(line: &str) -> Option<Mark> {
        let json = Json::parse(line).ok()?;
        let object = json.as_object()?;
        let kind = match object.text("mark")? {
            "pin" => MarkKind::Pin,
            "unpin" => MarkKind::Unpin,
            "alias" => MarkKind::Alias { to: Address::parse(object.text("to")?)? },
            _ => return None,
        };
        Some(Mark {
            address: Address::parse(object.text("address")?)?,
            revision: object.text("revision").and_then(Revision::parse),
            at: Timestamp::parse(object.text("at")?)?.0,
            kind,
        })
    }
}

impl MarkKind {
    pub fn name(&self) -> &'static str {
        match self {
            MarkKind::Pin => "pin",
            MarkKind::Unpin => "unpin",
            MarkKind::Alias { .. } => "alias",
        }
    }
}

impl Marks {
    pub fn read(bytes: &[u8]) -> Marks {
        let mut marks = Marks::default();
        for line in String::from_utf8_lossy(bytes).lines().filter(|line| !line.trim().is_empty()) {
            match Mark::read(line) {
                Some(mark) => marks.add(mark),
                None => marks.unread += 1,
            }
        }
        marks
    }

    fn add(&mut self, mark: Mark) {
        match mark.kind {
            MarkKind::Pin => {
                self.pinned.insert(mark.address);
            }
            MarkKind::Unpin => {
                self.pinned.remove(&mark.address);
            }
            MarkKind::Alias { to } => {
                // A pin follows its memory.
                if self.pinned.remove(&mark.address) {
                    self.pinned.insert(to.clone());
                }
                self.aliases.remove(&to);
                self.aliases.insert(mark.address, to);
            }
        }
    }

    /// The address a memory has now, however often it moved.
    pub fn follow<'a>(&'a self, address: &'a Address) -> &'a Address {
        let mut now = address;
        // Each alias is followed at most once, so a loop made by hand ends.
        for _ in 0..self.aliases.len() {
            match self.aliases.get(now) {
                Some(next) => now = next,
                None => break,
            }
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Category;
    use proptest::prelude::*;

    fn address(name: &str) -> Address {
        Address::record(Category::Decision, name)
    }

    fn mark(name: &str, kind: MarkKind) -> String {
        Mark { address: address(name), revision: None, at: Timestamp(0), kind }.line()
    }

    #[test]
    fn the_newest_mark_counts_and_foreign_lines_are_only_counted() {
        let file = [
            mark("a", MarkKind::Pin),
            mark("b", MarkKind::Pin),
            mark("a", MarkKind::Unpin),
            "<<<<<<< HEAD\n".to_owned(),
            mark("b", MarkKind::Alias { to: address("c") }),
        ];
        let marks = Marks::read(file.concat().as_bytes());
        assert_eq!(marks.pinned, BTreeSet::from([address("c")]));
        assert_eq!(marks.unread, 1);
    }

    #[test]
    fn an_alias_is_followed_to_its_end_and_a_loop_ends() {
        let file = [
            mark("a", MarkKind::Alias { to: address("b") }),
            mark("b", MarkKind::Alias { to: address("c") }),
        ];
        assert_eq!(Marks::read(file.concat().as_bytes()).follow(&address("a")), &address("c"));
        let mut looped = Marks::default();
        looped.aliases.insert(address("a"), address("b"));
        looped.aliases.insert(address("b"), address("a"));
        let end = looped.follow(&address("a")).clone();
        assert!([address("a"), address("b")].contains(&end), "{end}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            Marks::read(&bytes);
        }
    }
}
