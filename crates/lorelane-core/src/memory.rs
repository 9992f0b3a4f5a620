//! The one noun: a memory, whichever way it is written down.

use crate::digest::short_digest;
use crate::json::{Json, Object};
use crate::lifecycle::Lifecycle;
use crate::link::Link;
use crate::path::RelPath;
use crate::text::{SLUG_MAX, is_slug, slug};
use crate::time::Timestamp;
use std::fmt;
use unicode_normalization::UnicodeNormalization;

/// A lane: memories written in one dialect, in a place of their own. A project has at most one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneId {
    Records,
    Notes,
}

impl LaneId {
    pub const ALL: [LaneId; 2] = [LaneId::Records, LaneId::Notes];

    pub fn name(self) -> &'static str {
        match self {
            LaneId::Records => "records",
            LaneId::Notes => "notes",
        }
    }

    pub fn parse(name: &str) -> Option<LaneId> {
        LaneId::ALL.into_iter().find(|lane| lane.name() == name)
    }
}

impl fmt::Display for LaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What an agent should know beyond this session.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    pub address: Address,
    pub kind: Kind,
    pub title: String,
    pub body: Body,
    pub tags: Vec<String>,
    /// What its text points to. The text is what counts: a reader fills these in, and a writer ignores them.
    pub links: Vec<Link>,
    /// The files it speaks of, as paths from the project's root.
    pub about: Vec<String>,
    pub lifecycle: Lifecycle,
    pub confidence: Option<f64>,
    pub created: Option<Timestamp>,
    pub updated: Option<Timestamp>,
    pub history: Vec<Event>,
    /// How often it was revised since it was created.
    pub revised: u64,
    /// What the dialect keeps and no rule reads.
    pub extra: Object,
}

/// What a memory says.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Named fields, as the records have them.
    Fields(Object),
    /// Text, as a note has it: from its first line that says something to its last character that does.
    Prose(String),
}

impl Body {
    /// The field of this name; prose has none.
    pub fn field(&self, name: &str) -> Option<&Json> {
        match self {
            Body::Fields(fields) => fields.get(name),
            Body::Prose(_) => None,
        }
    }

    /// All that is said, as prose for a search.
    pub fn prose(&self) -> String {
        match self {
            Body::Fields(fields) => {
                let mut prose = String::new();
                fields.iter().for_each(|(_, value)| value.append_texts(&mut prose));
                prose
            }
            Body::Prose(text) => text.clone(),
        }
    }

    /// All that is said, for a comparison: the order of the fields makes no difference.
    pub fn statement(&self) -> String {
        let fields = match self {
            Body::Fields(fields) => fields,
            Body::Prose(text) => return text.clone(),
        };
        let mut said = Vec::new();
        for (key, value) in fields.iter() {
            value.each_text(&mut |path, text| said.push((format!("{key}.{path}"), text.to_owned())));
        }
        said.sort();
        said.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n")
    }
}

/// One entry of a memory's own history. It is kept as it was written: history is appended to, never rewritten.
#[derive(Clone, Debug, PartialEq)]
pub struct Event(pub Json);

impl Event {
    pub fn new(at: Timestamp, summary: &str) -> Event {
        let members = [("date", Json::text(at.to_string())), ("summary", Json::text(summary))];
        Event(Json::Object(members.into_iter().collect()))
    }

    /// Says which field went from what to what.
    pub fn with(self, field: &str, old: Json, new: Json) -> Event {
        let Event(Json::Object(mut object)) = self else { return self };
        object.set("field", Json::text(field));
        object.set("old_value", old);
        object.set("new_value", new);
        Event(Json::Object(object))
    }

    pub fn summary(&self) -> Option<&str> {
        self.0.at("summary").and_then(Json::as_text)
    }

    pub fn date(&self) -> Option<&str> {
        self.0.at("date").and_then(Json::as_text)
    }
}

/// What sort of memory it is, in the words of its lane.
///
/// One type for all lanes, because ranking, filters and forgetting ask every memory the same question; a rule that
/// only records have asks for the [`Kind::category`], and a note has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Record(Category),
    Note(NoteType),
}

impl Kind {
    /// The lane that memories of this kind are kept in.
    pub fn lane(self) -> LaneId {
        match self {
            Kind::Record(_) => LaneId::Records,
            Kind::Note(_) => LaneId::Notes,
        }
    }

    /// Every kind there is, in an order that only grows at its end: indexes number them.
    pub fn all() -> impl Iterator<Item = Kind> {
        Category::ALL.into_iter().map(Kind::Record).chain(NoteType::ALL.into_iter().map(Kind::Note))
    }

    pub fn category(self) -> Option<Category> {
        if let Kind::Record(category) = self { Some(category) } else { None }
    }

    pub fn note_type(self) -> Option<NoteType> {
        if let Kind::Note(note_type) = self { Some(note_type) } else { None }
    }

    pub fn name(self) -> &'static str {
        match self {
            Kind::Record(category) => category.name(),
            Kind::Note(note_type) => note_type.name(),
        }
    }

    pub fn parse(name: &str) -> Option<Kind> {
        Kind::all().find(|kind| kind.name() == name)
    }

    /// The name in listings.
    pub fn display(self) -> &'static str {
        match self {
            Kind::Record(category) => category.display(),
            Kind::Note(note_type) => note_type.display(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The types of notes, as the first notes had them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoteType {
    Plan,
    /// What a note is that does not say, or says something else.
    #[default]
    Journal,
    Fact,
    Observation,
    Reflection,
}

impl NoteType {
    pub const ALL: [NoteType; 5] =
        [NoteType::Plan, NoteType::Journal, NoteType::Fact, NoteType::Observation, NoteType::Reflection];

    pub fn name(self) -> &'static str {
        match self {
            NoteType::Plan => "plan",
            NoteType::Journal => "journal",
            NoteType::Fact => "fact",
            NoteType::Observation => "observation",
            NoteType::Reflection => "reflection",
        }
    }

    pub fn display(self) -> &'static str {
        match self {
            NoteType::Plan => "PLAN",
            NoteType::Journal => "JOURNAL",
            NoteType::Fact => "FACT",
            NoteType::Observation => "OBSERVATION",
            NoteType::Reflection => "REFLECTION",
        }
    }

    pub fn parse(text: &str) -> Option<NoteType> {
        NoteType::ALL.into_iter().find(|note_type| note_type.name() == text)
    }
}

/// The six categories of records. They are the contract with every agent that writes records; other topics are tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    SessionSummary,
    Decision,
    Runbook,
    Constraint,
    TechDebt,
    Preference,
}

impl Category {
    pub const ALL: [Category; 6] = [
        Category::SessionSummary,
        Category::Decision,
        Category::Runbook,
        Category::Constraint,
        Category::TechDebt,
        Category::Preference,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Category::SessionSummary => "session_summary",
            Category::Decision => "decision",
            Category::Runbook => "runbook",
            Category::Constraint => "constraint",
            Category::TechDebt => "tech_debt",
            Category::Preference => "preference",
        }
    }

    pub fn folder(self) -> &'static str {
        match self {
            Category::SessionSummary => "sessions",
            Category::Decision => "decisions",
            Category::Runbook => "runbooks",
            Category::Constraint => "constraints",
            Category::TechDebt => "tech-debt",
            Category::Preference => "preferences",
        }
    }

    /// The name in listings.
    pub fn display(self) -> &'static str {
        match self {
            Category::SessionSummary => "SESSION_SUMMARY",
            Category::Decision => "DECISION",
            Category::Runbook => "RUNBOOK",
            Category::Constraint => "CONSTRAINT",
            Category::TechDebt => "TECH_DEBT",
            Category::Preference => "PREFERENCE",
        }
    }

    /// Reads a category's name or folder.
    pub fn parse(text: &str) -> Option<Category> {
        Category::ALL.into_iter().find(|category| category.name() == text || category.folder() == text)
    }

    pub fn of_folder(folder: &str) -> Option<Category> {
        Category::ALL.into_iter().find(|category| category.folder() == folder)
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The group of every note's address.
const NOTES: &str = "notes";
/// What people may write before a note's name: the address's own group, the folder of the lane, the first
/// system's id.
const NOTE_PREFIXES: [&str; 3] = ["notes/", ".memories/", "memory:"];
/// The first system's index. Its document tells people to delete it, so no note may live there.
const FORMER_INDEX: &str = "indices";
/// A note lies at most so many folders deep: every look goes through all of them.
pub const NOTE_FOLDERS_MAX: usize = 64;
/// Where deleted notes lie. Their names end in the time of their deletion.
pub const TRASH: &str = ".trash";

/// Where a memory is found: `decision/use-jwt`, `notes/plans/login`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    group: String,
    name: String,
}

impl Address {
    pub fn record(category: Category, slug: &str) -> Address {
        Address { group: category.name().to_owned(), name: slug.to_owned() }
    }

    /// The address a title asks for. Where letters of another script are lost, a digest of the title stands for
    /// them: `日本語 v2` and `한국어 v2` are two memories, and neither is `v2`.
    pub fn for_title(category: Category, title: &str) -> Address {
        let mut name = slug(title);
        if name.is_empty() || loses_letters(title) {
            let digest = short_digest(title, 8);
            name.truncate(SLUG_MAX - digest.len() - 1);
            let kept = match name.trim_end_matches('-') {
                "" => category.name().replace('_', "-"),
                kept => kept.to_owned(),
            };
            name = format!("{kept}-{digest}");
        }
        Address::record(category, &name)
    }

    /// The address of the note that lies at this path without its `.md`, when a note may lie there.
    ///
    /// What a person keeps in the folder is theirs to name, so this admits every script and sign; the names that
    /// lorelane gives are stricter. Hidden files are none of ours, apart from the trash.
    pub fn note(name: &str) -> Option<Address> {
        let path = RelPath::parse(&format!("{name}.md")).ok()?;
        let visible = match name.split_once('/') {
            Some((TRASH, rest)) => rest,
            _ => name,
        };
        let hidden = visible.split('/').any(|part| part.is_empty() || part.starts_with('.'));
        let foreign = path.as_str().split('/').next() == Some(FORMER_INDEX);
        let too_deep = name.matches('/').count() > NOTE_FOLDERS_MAX;
        // A name that ends in `.md` could not be told from one whose extension somebody typed.
        let ours = !hidden && !foreign && !too_deep && !name.ends_with(".md");
        ours.then(|| Address { group: NOTES.to_owned(), name: name.to_owned() })
    }

    /// Reads `category/slug` or `notes/path`. A category's folder is as good as its name, and the file's
    /// extension may follow.
    pub fn parse(text: &str) -> Option<Address> {
        if let Some(name) = NOTE_PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix)) {
            return Address::note(name.strip_suffix(".md").unwrap_or(name));
        }
        let (group, name) = text.rsplit_once('/')?;
        let category = Category::parse(group.rsplit_once('/').map_or(group, |(_, last)| last))?;
        let name = name.strip_suffix(".json").unwrap_or(name);
        is_slug(name).then(|| Address::record(category, name))
    }

    /// The same name in the ways that systems write its letters: composed, and taken apart.
    pub fn spellings(&self) -> [Address; 2] {
        let spelled = |name: String| Address { group: self.group.clone(), name };
        [spelled(self.name.nfc().collect()), spelled(self.name.nfd().collect())]
    }

    pub fn category(&self) -> Option<Category> {
        Category::parse(&self.group)
    }

    /// What people write before the name.
    pub fn prefixes(&self) -> Vec<String> {
        match self.category() {
            Some(category) => [category.name(), category.folder()].map(|group| format!("{group}/")).into(),
            None => NOTE_PREFIXES.map(str::to_owned).into(),
        }
    }

    /// How the name of its file ends.
    pub fn extension(&self) -> &'static str {
        if self.is_note() { ".md" } else { ".json" }
    }

    /// The lane that it names a memory of.
    pub fn lane(&self) -> LaneId {
        if self.is_note() { LaneId::Notes } else { LaneId::Records }
    }

    pub fn is_note(&self) -> bool {
        self.group == NOTES
    }

    /// Whether it is the address of a deleted note.
    pub fn is_trash(&self) -> bool {
        self.is_note() && self.name.split_once('/').is_some_and(|(folder, _)| folder == TRASH)
    }

    /// A slug in its category, or a note's path without its extension.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.group, self.name)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Whether letters of the title are missing from its slug: those of a script that has no ASCII form.
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
        ];
        for (text, expected) in table {
            assert_eq!(Address::parse(text).map(|a| a.to_string()).as_deref(), expected, "{text}");
        }
    }

    /// Indexes keep a kind by its name.
    #[test]
    fn no_two_kinds_share_a_name() {
        Kind::all().for_each(|kind| assert_eq!(Kind::parse(kind.name()), Some(kind)));
        assert_eq!(Kind::all().count(), Category::ALL.len() + NoteType::ALL.len());
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
