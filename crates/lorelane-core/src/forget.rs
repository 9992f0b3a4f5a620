//! Which texts speak of a memory that shall be forgotten.
//!
//! Whoever keeps such texts (log, ledger, captures, drafts) asks here, so that all of them mean the same. A name
//! that is one everyday word counts only where it stands as an address or a file: else forgetting `auth` would
//! take away every text about authentication.

use crate::json::{self, JsonFormat, lenient};
use crate::memory::Address;
use crate::memory::trash::restored;
use crate::text::words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A title of one word stands in many texts that do not mean it.
const TITLE_WORDS_MIN: usize = 2;

/// Whether something is done or only counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EraseMode {
    Look,
    Purge,
}

/// What is known of a memory that shall be forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traces {
    /// The address it has and those it had, as far as no other memory has them now.
    #[serde(deserialize_with = "lenient::items_if_list")]
    pub addresses: BTreeSet<Address>,
    /// Addresses that it had, or that look like it, and at which another memory stands now: that one stays.
    #[serde(deserialize_with = "lenient::items_if_list")]
    pub taken: BTreeSet<Address>,
    #[serde(deserialize_with = "lenient::items_if_list")]
    pub titles: BTreeSet<String>,
    /// The sessions that it was captured from.
    #[serde(deserialize_with = "lenient::items_if_list")]
    pub sessions: BTreeSet<String>,
}

impl Traces {
    /// Whether an address is the memory's or was: also one that it had among the deleted notes, and that only the
    /// log or git still knows.
    pub fn own(&self, address: &Address) -> bool {
        let in_trash = || restored(address).is_some_and(|origin| self.addresses.contains(&origin));
        self.addresses.contains(address) || !self.taken.contains(address) && in_trash()
    }

    /// For an address that the memory had and another has now: the one whose leaving parts their times.
    pub fn lost(&self, address: &Address) -> Option<Address> {
        let taken = |address: &Address| self.taken.contains(address);
        Some(address.clone()).filter(taken).or_else(|| restored(address).filter(taken))
    }

    /// The same memory in a folder where other memories have some of its addresses.
    pub fn with_taken(&self, is_taken: impl Fn(&Address) -> bool) -> Traces {
        let mut traces = self.clone();
        traces.addresses.retain(|address| !is_taken(address));
        traces.taken.extend(self.addresses.difference(&traces.addresses).cloned());
        traces
    }

    /// Whether a text names the memory: by its address, its file, or a name of several words.
    pub fn are_named_in(&self, text: &str) -> bool {
        let text = text.to_ascii_lowercase();
        self.addresses.iter().any(|address| names(&text, address))
    }

    /// Whether a text names the memory or holds every word of a title of it.
    pub fn are_told_in(&self, text: &str) -> bool {
        self.are_named_in(text) || {
            let said: BTreeSet<String> = words(text).into_iter().collect();
            self.titles.iter().any(|title| {
                let title = words(title);
                title.len() >= TITLE_WORDS_MIN && title.iter().all(|word| said.contains(word))
            })
        }
    }
}

/// A forgetting that was begun: enough for whoever comes next to complete it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EraseRequest {
    /// The newest change when it began: a later one is the log's own line about it.
    pub after: u64,
    pub because: String,
    pub traces: Traces,
}

impl EraseRequest {
    pub fn to_text(&self) -> String {
        format!("{}\n", json::to_string(self, JsonFormat::LINE))
    }

    /// `None` for what a power cut left of it: then nothing had begun.
    pub fn read(text: &str) -> Option<EraseRequest> {
        json::from_str(text).ok()
    }

    /// What the log says of it: never the memory's name, also if the reason has it.
    pub fn reason(&self) -> String {
        match self.because.trim() {
            because if because.is_empty() || self.traces.are_told_in(because) => "forget a memory".to_owned(),
            because => format!("forget a memory: {because}"),
        }
    }
}

/// `text` is lower case.
fn names(text: &str, address: &Address) -> bool {
    let name = address.name().to_ascii_lowercase();
    let several_words = name.contains(|c| joins(c) && !c.is_alphanumeric());
    text.match_indices(&name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let is_file = after.starts_with(address.extension());
        let is_address = address.prefixes().iter().any(|prefix| before.ends_with(prefix))
            || address.is_note() && before.ends_with("[[");
        // `notes/plans` is not named by `notes/plans/auth`.
        let is_folder = address.is_note() && after.starts_with('/');
        let bounded = !ends_in_word(before) && !after.starts_with(joins) && !is_folder;
        bounded && (is_file || is_address || several_words)
    })
}

fn joins(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_')
}

/// In the text of a JSON file the `n` of `\n` is no letter.
fn ends_in_word(before: &str) -> bool {
    let mut last = before.chars().rev();
    match (last.next(), last.next()) {
        (Some('n' | 'r' | 't'), Some('\\')) => false,
        (Some(c), _) => joins(c),
        (None, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Category;
    use proptest::prelude::*;

    fn traces(names: &[&str]) -> Traces {
        let addresses = names.iter().map(|name| Address::record(Category::TechDebt, name)).collect();
        Traces { addresses, titles: ["Retry the Zanzibar queue".to_owned()].into(), ..Traces::default() }
    }

    #[test]
    fn a_text_names_a_memory_by_address_file_or_a_name_of_several_words() {
        let table = [
            ("auth", "all about auth and authorisation", false),
            ("auth", "see tech_debt/auth, please", true),
            ("auth", "see tech-debt/auth", true),
            ("auth", "cannot read /p/.claude/memory/tech-debt/auth.json: gone", true),
            ("auth", "see oauth.json", false),
            ("auth", "decision/auth", false),
            ("retry-queue", "retry-queue", true),
            ("retry-queue", "Replaces Retry-Queue.", true),
            ("retry-queue", "no-retry-queue", false),
            ("retry-queue", "retry-queue-v2", false),
            ("retry-queue", r#"{"text": "first\nretry-queue\nlast"}"#, true),
            ("retry-queue", "retry queue", false),
        ];
        for (name, text, named) in table {
            assert_eq!(traces(&[name]).are_named_in(text), named, "{name} in {text:?}");
        }
    }

    // A note was named by nothing but a name with a dash, in lower case.
    #[test]
    fn a_text_names_a_note_by_address_file_link_or_a_name_of_several_words() {
        let table = [
            ("auth", "all about auth", false),
            ("auth", "retire notes/auth: done", true),
            ("auth", "see .memories/auth.md", true),
            ("auth", "see memory:auth", true),
            ("auth", "see [[auth|the plan]]", true),
            ("auth", "see [[oauth]]", false),
            ("auth", "notes/auth_2", false),
            ("auth", "notes/auth-2", false),
            ("auth", "notes/auth/login", false),
            ("Auth", "retire notes/Auth", true),
            ("use_jwt", "as use_jwt says", true),
            ("use_jwt", "as use_jwt_2 says", false),
        ];
        for (name, text, named) in table {
            let addresses = Address::note(name).into_iter().collect();
            let traces = Traces { addresses, ..Traces::default() };
            assert_eq!(traces.are_named_in(text), named, "{name} in {text:?}");
        }
    }

    #[test]
    fn a_deleted_note_is_the_one_it_was_and_none_that_only_resembles_it() {
        let note = |name: &str| Address::note(name).unwrap();
        let traces = Traces {
            addresses: [note("alpha")].into(),
            taken: [note("gone"), note(".trash/alpha_20260301_120001")].into(),
            ..Traces::default()
        };
        let table = [
            ("alpha", true, None),
            (".trash/alpha_20260301_120000", true, None),
            (".trash/alpha", true, None),
            (".trash/alpha_20260301_120001", false, Some(".trash/alpha_20260301_120001")),
            (".trash/gone_20260301_120000", false, Some("gone")),
            ("alpha_2", false, None),
            (".trash/alpha_2_20260301_120000", false, None),
            (".trash/plans/alpha_20260301_120000", false, None),
            ("alpha_20260301_120000", false, None),
        ];
        for (name, own, lost) in table {
            let address = note(name);
            assert_eq!((traces.own(&address), traces.lost(&address)), (own, lost.map(note)), "{name}");
        }
        let elsewhere = traces.with_taken(|address| *address == note("alpha"));
        assert!(!elsewhere.own(&note("alpha")) && elsewhere.lost(&note("alpha")).is_some());
    }

    #[test]
    fn a_text_tells_of_a_memory_by_all_words_of_its_title() {
        let traces = traces(&["q"]);
        assert!(traces.are_told_in("so we retry: the queue of Zanzibar"));
        assert!(!traces.are_told_in("so we retry the queue"));
        let one_word = Traces { titles: ["Zanzibar".to_owned()].into(), ..Traces::default() };
        assert!(!one_word.are_told_in("Zanzibar"));
    }

    #[test]
    fn the_log_does_not_repeat_a_name_that_the_reason_has() {
        let table = [
            ("", "forget a memory"),
            ("a customer asked", "forget a memory: a customer asked"),
            ("retry-queue was wrong", "forget a memory"),
            ("nobody may know of the Zanzibar retry queue", "forget a memory"),
        ];
        for (because, said) in table {
            let forgetting =
                EraseRequest { traces: traces(&["retry-queue"]), after: 7, because: because.to_owned() };
            assert_eq!(forgetting.reason(), said);
        }
    }

    proptest! {
        #[test]
        fn a_forgetting_reads_back(title in "\\PC{0,20}", session in "\\PC{0,20}", after in 0..u64::MAX) {
            let mut traces = traces(&["a", "b-c"]);
            traces.titles.insert(title.clone());
            traces.sessions.insert(session);
            traces.taken.insert(Address::record(Category::Decision, "d"));
            let forgetting = EraseRequest { traces, after, because: title };
            prop_assert_eq!(EraseRequest::read(&forgetting.to_text()), Some(forgetting));
        }

        #[test]
        fn any_text_is_judged_without_panic(text in "\\PC{0,60}") {
            let _ = EraseRequest::read(&text);
            let _ = traces(&["a"]).are_told_in(&text);
        }
    }
}
