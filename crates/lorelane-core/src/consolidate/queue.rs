//! The queue of captured items over all sessions, and what they have to do with each other and with memories.

use crate::capture::{Capture, CapturedItem};
use crate::memory::Address;
use crate::statements::StatementPrint;
use crate::time::Timestamp;

/// The share of a contrasting statement's words in a memory that it may contradict.
const CONTRADICTS: f64 = 0.3;

/// An item that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuedItem {
    pub session: String,
    pub client: String,
    /// When its session was last looked at.
    pub at: Timestamp,
    pub item: CapturedItem,
    /// Later items that say the same, with their sessions. They are settled with this one.
    pub repeats: Vec<(String, u64)>,
}

/// The open items of all sessions, oldest first. What says the same is one item.
pub fn queue(captures: &[Capture]) -> Vec<QueuedItem> {
    let mut open: Vec<QueuedItem> = Vec::new();
    for capture in captures {
        open.extend(capture.open_items().map(|item| QueuedItem {
            session: capture.session.clone(),
            client: capture.client.clone(),
            at: capture.at,
            item: item.clone(),
            repeats: Vec::new(),
        }));
    }
    open.sort_by_key(|queued| (queued.item.since.unwrap_or(queued.at), queued.item.number));
    let mut kept: Vec<(QueuedItem, StatementPrint)> = Vec::new();
    for queued in open {
        let print = StatementPrint::of(&queued.item.words());
        let is_same = |(known, of_known): &&mut (QueuedItem, StatementPrint)| {
            known.item.kind.is_some() && known.item.kind == queued.item.kind && of_known.is_like(&print)
        };
        match kept.iter_mut().find(is_same) {
            Some((known, _)) => known.repeats.push((queued.session, queued.item.number)),
            None => kept.push((queued, print)),
        }
    }
    kept.into_iter().map(|(queued, _)| queued).collect()
}

/// What an item has to do with the memories that exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryRelation {
    New,
    /// A memory says it already.
    SaidBy(Address),
    /// It sets itself against something that a memory is about: the memory may no longer hold.
    Contradicts(Address),
}

/// Compares an item with the texts of the memories that are most like it, best first.
pub fn relation(item: &CapturedItem, memories: &[(Address, String)]) -> MemoryRelation {
    let print = StatementPrint::of(&item.words());
    let contrasts = item.contrasts();
    for (address, text) in memories {
        let agrees = || text.lines().any(|line| print.agrees_with(&StatementPrint::of(line)));
        let text = StatementPrint::of(text);
        if print.is_said_in(&text) && (!contrasts || agrees()) {
            return MemoryRelation::SaidBy(address.clone());
        }
        if contrasts && print.share_in(&text) >= CONTRADICTS {
            return MemoryRelation::Contradicts(address.clone());
        }
    }
    MemoryRelation::New
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{Origin, words_digest};
    use crate::conversation::TranscriptPosition;
    use crate::memory::Category;
    use crate::statements::StatementKind;

    fn item(kind: StatementKind, words: &str) -> CapturedItem {
        let origin =
            Origin { session: "s".to_owned(), at: TranscriptPosition::Line(1), words: words_digest(words) };
        let item = CapturedItem::new(kind.category(), vec![words.to_owned()], String::new(), origin);
        CapturedItem { kind: Some(kind), ..item }
    }

    #[test]
    fn what_a_memory_says_is_not_new_and_what_speaks_against_it_may_replace_it() {
        let address = Address::record(Category::Preference, "use-pnpm");
        let memories = [(address.clone(), "Use pnpm\nwe use pnpm in the workspace, not npm".to_owned())];
        for (kind, words, expected) in [
            (
                StatementKind::Preference,
                "we use pnpm and not npm in this workspace",
                MemoryRelation::SaidBy(address.clone()),
            ),
            (
                StatementKind::Correction,
                "no, use pnpm in the workspace, not npm",
                MemoryRelation::SaidBy(address.clone()),
            ),
            (
                StatementKind::Correction,
                "no, use npm in the workspace, not pnpm",
                MemoryRelation::Contradicts(address.clone()),
            ),
            (
                StatementKind::Correction,
                "the cart total is rounded per line, not per cart",
                MemoryRelation::New,
            ),
            (StatementKind::Decision, "the cart total is rounded per line", MemoryRelation::New),
        ] {
            assert_eq!(relation(&item(kind, words), &memories), expected, "{words}");
        }
    }

    #[test]
    fn what_says_the_same_waits_once() {
        let session = |name: &str, number, kind, words: &str| {
            let mut capture = Capture::new(name, "codex", Timestamp(1_000));
            capture.items = vec![CapturedItem { number, ..item(kind, words) }];
            capture
        };
        let captures = [
            session("b", 2, StatementKind::Preference, "please never commit any generated files"),
            session("a", 1, StatementKind::Preference, "never commit generated files"),
            session("c", 3, StatementKind::Decision, "never commit generated files"),
        ];
        let waiting: Vec<_> =
            queue(&captures).into_iter().map(|queued| (queued.item.number, queued.repeats)).collect();
        assert_eq!(waiting, [(1, vec![("b".to_owned(), 2)]), (3, Vec::new())], "of the same kind only");
    }
}
