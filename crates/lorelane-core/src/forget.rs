//! Decides which texts mention a memory that is being forgotten.
//!
//! Log, ledger, captures and drafts all use these rules. A name of one word counts only as part of an address or
//! file name; otherwise forgetting `auth` would erase every text about authentication.

use crate::json::{self, JsonFormat, lenient};
use crate::memory::Address;
use crate::memory::trash::restored;
use crate::text::words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A title of one word occurs in many texts that are not about the memory.
const TITLE_WORDS_MIN: usize = 2;

/// Whether traces are erased or only counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EraseMode {
    Look,
    Purge,
}

/// What identifies a memory that is being forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traces {
    /// Its current and former addresses, except those that another memory has now.
    #[serde(deserialize_with = "lenient::items_if_list")]
    pub addresses: BTreeSet<Address>,
    /// Former or similar addresses that another memory has now. That memory stays.
    #[serde(deserialize_with = "lenient::items_if_list")]
    pub taken: BTreeSet<Address>,
    #[serde(deserialize_with = "lenient::items_if_list")]
    pub titles: BTreeSet<String>,
    /// The sessions it was captured from.
    #[serde(deserialize_with = "lenient::items_if_list")]
    pub sessions: BTreeSet<String>,
}

impl Traces {
    /// Whether an address is or was the memory's. Addresses in the trash are recognised by their form, because
    /// after a restore only the log and git still have them.
    pub fn own(&self, address: &Address) -> bool {
        let in_trash = || restored(address).is_some_and(|origin| self.addresses.contains(&origin));
        self.addresses.contains(address) || !self.taken.contains(address) && in_trash()
    }

    /// If another memory has this address now, the address in [`Traces::taken`]. The log entry in which the
    /// forgotten memory left it separates the entries of the two.
    pub fn lost(&self, address: &Address) -> Option<Address> {
        let taken = |address: &Address| self.taken.contains(address);
        Some(address.clone()).filter(taken).or_else(|| restored(address).filter(taken))
    }

    /// The traces for a folder in which other memories have some of the addresses.
    pub fn with_taken(&self, is_taken: impl Fn(&Address) -> bool) -> Traces {
        let mut traces = self.clone();
        traces.addresses.retain(|address| !is_taken(address));
        traces.taken.extend(self.addresses.difference(&traces.addresses).cloned());
        traces
    }

    /// Whether a text names the memory by its address, its file, or a name of several words.
    pub fn are_named_in(&self, text: &str) -> bool {
        let text = text.to_ascii_lowercase();
        self.addresses.iter().any(|address| names(&text, address))
    }

    /// Whether a text names the memory or has all words of one of its titles.
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

/// A `forget` in progress, saved so that the next command can complete it after a crash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EraseRequest {
    /// The newest log entry when it began. If there is a later one, the log already has the entry about it.
    pub after: u64,
    pub because: String,
    pub traces: Traces,
}

impl EraseRequest {
    pub fn to_text(&self) -> String {
        format!("{}\n", json::to_string(self, JsonFormat::LINE))
    }

    /// `None` if a power failure left it incomplete; then nothing was erased yet.
    pub fn read(text: &str) -> Option<EraseRequest> {
        json::from_str(text).ok()
    }

    /// The reason for the log. It is left out if it names the memory.
    pub fn reason(&self) -> String {
        match self.because.trim() {
            because if because.is_empty() || self.traces.are_told_in(because) => "forget a memory".to_owned(),
            because => format!("forget a memory: {because}"),
        }
    }
}

/// `text` is lowercase.
fn names(text: &str, address: &Address) -> bool {
    let name = address.name().to_ascii_lowercase();
    let several_words = name.contains(|c| joins(c) && !c.is_alphanumeric());
    let is_markdown = address.category().is_none();
    text.match_indices(&name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let is_file = after.starts_with(address.extension());
        let is_address = address.prefixes().iter().any(|prefix| before.ends_with(prefix))
            || is_markdown && before.ends_with("[[");
        // `notes/plans` is not named by `notes/plans/auth`.
        let is_folder = is_markdown && after.starts_with('/');
        let bounded = !ends_in_word(before) && !after.starts_with(joins) && !is_folder;
        bounded && (is_file || is_address || several_words)
    })
}

fn joins(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_')
}

/// In JSON text the `n` of `\n` is not part of a word.
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

    // Notes were only recognised by a lowercase name with a dash.
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
