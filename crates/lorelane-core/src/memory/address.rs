//! Addresses of memories: `category/slug` for a record, `notes/path` for a note, `auto/path` for one of Claude
//! Code's memories.

use super::kind::Category;
use super::lane::LaneId;
use crate::digest::short_digest;
use crate::json::as_text;
use crate::path::RelPath;
use crate::text::{SLUG_MAX, is_slug, slug};
use std::fmt;
use unicode_normalization::UnicodeNormalization;

/// The group of every note's address.
const NOTES: &str = "notes";
/// The group of every address in Claude Code's memory folder.
const AUTO: &str = "auto";
/// The name of `MEMORY.md`, the index of that folder.
const MEMORY: &str = "MEMORY";
/// Accepted prefixes of a note's name: the group of its address, the lane's folder, and the prefix of ids in
/// `ragdocs`.
const NOTE_PREFIXES: [&str; 3] = ["notes/", ".memories/", "memory:"];
/// The index folder of `ragdocs`. Its documentation tells people to delete it, so no note may be there.
const FORMER_INDEX: &str = "indices";
/// The deepest folder nesting of a note: every scan walks all of them.
pub const NOTE_FOLDERS_MAX: usize = 64;

/// The folder of deleted notes. Their names end in the time of deletion.
pub(super) const TRASH: &str = ".trash";

/// The folder of archived and retired memories in Claude Code's memory folder.
pub(super) const ARCHIVE: &str = "archive";

/// The identity of a memory: `decision/use-jwt`, `notes/plans/login`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    group: String,
    name: String,
}

impl Address {
    pub fn record(category: Category, slug: &str) -> Address {
        Address { group: category.name().to_owned(), name: slug.to_owned() }
    }

    /// The address for a title. If the slug drops letters of another script, a digest of the title replaces
    /// them: `日本語 v2` and `한국어 v2` are two memories, and neither is `v2`.
    pub fn for_title(category: Category, title: &str) -> Address {
        let mut name = slug(title);
        if name.is_empty() || loses_letters(title) {
            let digest = short_digest(title, 8);
            // Makes room for the digest within the length limit.
            name.truncate(SLUG_MAX - digest.len() - 1);
            let kept = match name.trim_end_matches('-') {
                "" => category.name().replace('_', "-"),
                kept => kept.to_owned(),
            };
            name = format!("{kept}-{digest}");
        }
        Address::record(category, &name)
    }

    /// The address of the note at this path (without `.md`), or `None` if a note cannot be there.
    ///
    /// People name the files in the folder as they like, so every script and sign is accepted; names that lorelane
    /// generates are stricter. Hidden files are ignored, except in the trash.
    pub fn note(name: &str) -> Option<Address> {
        let path = RelPath::parse(&format!("{name}.md")).ok()?;
        let visible = match name.split_once('/') {
            Some((TRASH, rest)) => rest,
            _ => name,
        };
        let hidden = visible.split('/').any(|part| part.is_empty() || part.starts_with('.'));
        let foreign = path.as_str().split('/').next() == Some(FORMER_INDEX);
        let too_deep = name.matches('/').count() > NOTE_FOLDERS_MAX;
        // `x.md` as a name would be ambiguous: people also type the file's extension.
        let ours = !hidden && !foreign && !too_deep && !name.ends_with(".md");
        ours.then(|| Address { group: NOTES.to_owned(), name: name.to_owned() })
    }

    /// The address of the file at this path (without `.md`) in Claude Code's memory folder, or `None` if it cannot
    /// be a memory. Hidden files are ignored.
    pub fn auto(name: &str) -> Option<Address> {
        RelPath::parse(&format!("{name}.md")).ok()?;
        let hidden = name.split('/').any(|part| part.is_empty() || part.starts_with('.'));
        let too_deep = name.matches('/').count() > NOTE_FOLDERS_MAX;
        let ours = !hidden && !too_deep && !name.ends_with(".md");
        ours.then(|| Address { group: AUTO.to_owned(), name: name.to_owned() })
    }

    /// Parses `category/slug`, `notes/path` or `auto/path`. Also accepts a category's folder instead of its name, and a file
    /// extension.
    pub fn parse(text: &str) -> Option<Address> {
        if let Some(name) = NOTE_PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix)) {
            return Address::note(name.strip_suffix(".md").unwrap_or(name));
        }
        if let Some(name) = text.strip_prefix(AUTO).and_then(|name| name.strip_prefix('/')) {
            return Address::auto(name.strip_suffix(".md").unwrap_or(name));
        }
        let (group, name) = text.rsplit_once('/')?;
        // A whole path such as `.claude/memory/decisions/x.json` works too: its last folder is the category's.
        let category = Category::parse(group.rsplit_once('/').map_or(group, |(_, last)| last))?;
        let name = name.strip_suffix(".json").unwrap_or(name);
        is_slug(name).then(|| Address::record(category, name))
    }

    /// The name in both Unicode forms that file systems use: composed (NFC) and decomposed (NFD).
    pub fn spellings(&self) -> [Address; 2] {
        let spelled = |name: String| Address { group: self.group.clone(), name };
        [spelled(self.name.nfc().collect()), spelled(self.name.nfd().collect())]
    }

    pub fn category(&self) -> Option<Category> {
        Category::parse(&self.group)
    }

    /// The prefixes people may write before the name.
    pub fn prefixes(&self) -> Vec<String> {
        match self.category() {
            Some(category) => [category.name(), category.folder()].map(|group| format!("{group}/")).into(),
            None if self.is_auto() => vec![format!("{AUTO}/")],
            None => NOTE_PREFIXES.map(str::to_owned).into(),
        }
    }

    /// The extension of its file, with the dot.
    pub fn extension(&self) -> &'static str {
        if self.category().is_none() { ".md" } else { ".json" }
    }

    /// The lane that holds this memory.
    pub fn lane(&self) -> LaneId {
        match self.group.as_str() {
            NOTES => LaneId::Notes,
            AUTO => LaneId::Auto,
            _ => LaneId::Records,
        }
    }

    pub fn is_auto(&self) -> bool {
        self.group == AUTO
    }

    /// Whether it is in the archive of Claude Code's memory folder.
    pub fn is_in_archive(&self) -> bool {
        self.is_auto() && self.name.split_once('/').is_some_and(|(folder, _)| folder == ARCHIVE)
    }

    /// Whether it is `MEMORY.md` itself, which is a memory if it is no index.
    pub fn is_memory_file(&self) -> bool {
        self.is_auto() && self.name == MEMORY
    }

    pub fn is_note(&self) -> bool {
        self.group == NOTES
    }

    /// Whether it is the address of a deleted note.
    pub fn is_trash(&self) -> bool {
        self.is_note() && self.name.split_once('/').is_some_and(|(folder, _)| folder == TRASH)
    }

    /// A slug in its category, or the path of a Markdown file without its extension.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.group, self.name)
    }
}

as_text!(Address, Address::parse);

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Whether the slug drops letters of the title, because their script has no ASCII form.
fn loses_letters(title: &str) -> bool {
    // Unicode calls letters in black circles and squares alphabetic, but 🅰 is an emoji.
    let emoji = |c: char| matches!(c, '\u{1f150}'..='\u{1f189}');
    title.nfkd().any(|c| c.is_alphabetic() && !c.is_ascii() && !emoji(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_from_what_people_type() {
        let table = [
            ("decision/use-jwt", Some("decision/use-jwt")),
            ("decisions/use-jwt", Some("decision/use-jwt")),
            (".claude/memory/tech-debt/old.json", Some("tech_debt/old")),
            ("decision/Use JWT", None),
            ("decision/../x", None),
            ("topic/x", None),
            ("use-jwt", None),
            ("notes/plans/日本語 v1.2.md", Some("notes/plans/日本語 v1.2")),
            ("notes/tech-debt/old", Some("notes/tech-debt/old")),
            (".memories/auth-plan.md", Some("notes/auth-plan")),
            ("memory:auth-plan", Some("notes/auth-plan")),
            ("notes/.trash/old_20250110_143022.md", Some("notes/.trash/old_20250110_143022")),
            ("notes/.trash/.hidden", None),
            ("notes/.obsidian/x", None),
            ("notes/indices/x", None),
            ("notes/../x", None),
            ("notes//etc/passwd", None),
            ("notes/", None),
            ("notes/x.md.md", None),
            ("auto/feedback_testing.md", Some("auto/feedback_testing")),
            ("auto/sub/x", Some("auto/sub/x")),
            ("auto/archive/x", Some("auto/archive/x")),
            ("auto/.hidden", None),
            ("auto/../x", None),
            ("auto/", None),
        ];
        for (text, expected) in table {
            assert_eq!(Address::parse(text).map(|a| a.to_string()).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_title_in_any_script_gets_an_address() {
        assert_eq!(Address::for_title(Category::Decision, "Use JWT").to_string(), "decision/use-jwt");
        let name = Address::for_title(Category::TechDebt, "認証").to_string();
        assert!(name.starts_with("tech_debt/tech-debt-") && is_slug(&name["tech_debt/".len()..]), "{name}");
    }

    /// `日本語 v2` and `한국어 v2` were both `decision/v2`.
    #[test]
    fn a_title_that_loses_letters_carries_its_digest() {
        let name = |title: &str| Address::for_title(Category::Decision, title).name().to_owned();
        for (title, kept) in [
            ("日本語 v2", "v2"),
            ("한국어 v2", "v2"),
            ("인증 토큰은 15분마다 갱신한다", "15"),
            ("JWT для входа", "jwt"),
        ] {
            assert_eq!(name(title), format!("{kept}-{}", short_digest(title, 8)), "{title}");
        }
        for (title, plain) in [
            ("Café Ünïcode", "cafe-unicode"),
            ("ﬁne ①", "fine-1"),
            ("Ship it 🚀 — now…", "ship-it-now"),
            ("a → b ™ 🅰", "a-b-tm"),
        ] {
            assert_eq!(name(title), plain, "{title}");
        }
        let long = name(&format!("{} 日本", "ab ".repeat(40)));
        assert!(is_slug(&long), "{long}");
    }
}
