//! The names of notes: what people type, what titles become, and how the trash calls them.

use crate::digest::short_digest;
use crate::memory::Address;
use crate::memory::trash::split_time;
use crate::path::{PathFault, RelPath};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The longest part of a path, in bytes: with its extension and the time that the trash adds, it is still a name
/// for every file system.
const PART_MAX: usize = 255 - ".md".len() - "_20250110_143022".len();
/// The longest name that is made of a title, in characters and in bytes.
const TITLE_NAME_MAX: usize = 80;
const TITLE_BYTES_MAX: usize = 200;
/// Windows opens a device instead of a file, whatever the extension.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
    "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// Why a note cannot be called so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot name a note `{name}`: {why}")]
pub struct NameFault {
    pub name: String,
    #[source]
    pub why: NameReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameReason {
    #[error(transparent)]
    Path(PathFault),
    /// A part begins with a dot, or the folder is one that lorelane leaves alone.
    #[error("its folder or file would be hidden or is not for notes")]
    Hidden,
    /// A part begins or ends with a blank, or ends with a dot.
    #[error("a part of it begins or ends with a blank, or ends with a dot")]
    Edge,
    /// A sign that a link or a file system cannot say.
    #[error("it contains {0:?}, which files or links cannot say")]
    Sign(char),
    #[error("Windows keeps that name for a device")]
    Device,
    #[error("a part of it is longer than {PART_MAX} bytes")]
    TooLong,
}

/// The address of a new note, from the name that somebody gives it, with or without `.md`.
pub fn named(typed: &str) -> Result<Address, NameFault> {
    let name: String = typed.strip_suffix(".md").unwrap_or(typed).nfc().collect();
    let fault = |why| NameFault { name: crate::text::cut(&crate::text::one_line(typed), 80), why };
    match why_not(&name) {
        Some(why) => Err(fault(why)),
        None => Address::note(&name).ok_or(fault(NameReason::Hidden)),
    }
}

/// Why a new note may not have this name. Stricter than what is read: a name given by lorelane works on every
/// system and inside every link.
pub(super) fn why_not(name: &str) -> Option<NameReason> {
    if let Err(fault) = RelPath::parse(name) {
        return Some(match fault {
            PathFault::TooLong => NameReason::TooLong,
            fault => NameReason::Path(fault),
        });
    }
    if let Some(sign) = name.chars().find(|c| "<>:\"|?*#^[]".contains(*c)) {
        return Some(NameReason::Sign(sign));
    }
    name.split('/').find_map(|part| {
        let device = part.split('.').next().unwrap_or_default().trim().to_lowercase();
        if part.starts_with('.') {
            Some(NameReason::Hidden)
        } else if part.len() > PART_MAX {
            Some(NameReason::TooLong)
        } else if part.starts_with(' ') || part.ends_with([' ', '.']) {
            Some(NameReason::Edge)
        } else if DEVICES.contains(&device.as_str()) {
            Some(NameReason::Device)
        } else {
            None
        }
    })
}

/// The address that a title asks for: its letters and digits in any script, the rest as dashes.
pub fn for_title(title: &str) -> Address {
    let mut name = String::new();
    let mut letters = title.nfc().flat_map(char::to_lowercase).peekable();
    while let Some(c) = letters.next() {
        let joins = matches!(c, '.' | '_')
            && name.ends_with(char::is_alphanumeric)
            && letters.peek().is_some_and(|next| next.is_alphanumeric());
        if c.is_alphanumeric() || joins || (is_combining_mark(c) && !name.is_empty()) {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    let mut short: String = name.chars().take(TITLE_NAME_MAX).collect();
    while short.len() > TITLE_BYTES_MAX {
        short.pop();
    }
    short.truncate(short.trim_end_matches(['-', '.', '_']).len());
    let whole = short.len() == name.trim_end_matches('-').len();
    if why_not(&short).is_some() || !whole || short.ends_with(".md") {
        // A title without letters, with the name of a device or of a file, or too long to be told from another by
        // its start.
        let digest = short_digest(title, 8);
        short =
            if why_not(&short).is_some() { format!("note-{digest}") } else { format!("{short}-{digest}") };
    }
    Address::note(&short).expect("letters, digits and dashes are a name")
}

/// The name without its folders, and without the time that the trash adds: a deleted note is called what it was.
pub(super) fn stem(address: &Address) -> &str {
    let name = address.name();
    let name = split_time(name).filter(|_| address.is_trash()).map_or(name, |(name, _)| name);
    name.rsplit_once('/').map_or(name, |(_, stem)| stem)
}

impl NameFault {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self.why {
            NameReason::Path(PathFault::Empty) => "give it a name, such as `auth-plan`",
            NameReason::Path(PathFault::Absolute | PathFault::Escapes) => {
                "name it by its path inside the notes' folder, such as `plans/auth`"
            }
            NameReason::TooLong => "say the rest in the note's first heading",
            NameReason::Path(_)
            | NameReason::Hidden
            | NameReason::Edge
            | NameReason::Sign(_)
            | NameReason::Device => "use letters and digits of any script, and `-`, `_` or `.` between them",
        }
    }
}
