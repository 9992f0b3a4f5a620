//! Names of notes: as typed, derived from a title, and in the trash.

use crate::digest::short_digest;
use crate::memory::Address;
use crate::memory::trash::split_time;
use crate::path::{PathFault, RelPath};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The longest part of a path, in bytes. With the extension and the time that the trash appends it still fits the
/// 255 bytes that file systems allow.
const PART_MAX: usize = 255 - ".md".len() - "_20250110_143022".len();
/// The longest name derived from a title, in characters and in bytes.
const TITLE_NAME_MAX: usize = 80;
const TITLE_BYTES_MAX: usize = 200;
/// Device names: Windows opens the device instead of a file, whatever the extension.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
    "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// A name that a note cannot have.
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
    /// A part begins with a dot, or lorelane does not read notes in that folder.
    #[error("its folder or file would be hidden or is reserved")]
    Hidden,
    /// A part begins or ends with a space, or ends with a dot. Windows strips both from the end.
    #[error("a part of it begins or ends with a space, or ends with a dot")]
    Edge,
    /// A character that is special in a link or not allowed by a file system.
    #[error("it contains {0:?}, which is not allowed in file names or links")]
    Sign(char),
    #[error("Windows reserves that name for a device")]
    Device,
    #[error("a part of it is longer than {PART_MAX} bytes")]
    TooLong,
}

/// The address of a new note from a typed name, with or without `.md`.
pub fn named(typed: &str) -> Result<Address, NameFault> {
    let name: String = typed.strip_suffix(".md").unwrap_or(typed).nfc().collect();
    let fault = |why| NameFault { name: crate::text::cut(&crate::text::one_line(typed), 80), why };
    match why_not(&name) {
        Some(why) => Err(fault(why)),
        None => Address::note(&name).ok_or(fault(NameReason::Hidden)),
    }
}

/// Why a new note may not have this name. Stricter than for existing files: a name that lorelane creates must work
/// on every system and inside a link.
pub(in crate::dialect) fn why_not(name: &str) -> Option<NameReason> {
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

/// The address derived from a title: letters and digits of any script, the rest as dashes.
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
        // No letters, a device name, a name ending in `.md`, or a title that was cut: the digest keeps two titles
        // with the same start apart.
        let digest = short_digest(title, 8);
        short =
            if why_not(&short).is_some() { format!("note-{digest}") } else { format!("{short}-{digest}") };
    }
    Address::note(&short).expect("letters, digits and dashes are a name")
}

/// The name without folders and without the time that the trash appends, so a deleted note keeps its title.
pub(super) fn stem(address: &Address) -> &str {
    let name = address.name();
    let name = split_time(name).filter(|_| address.is_trash()).map_or(name, |(name, _)| name);
    name.rsplit_once('/').map_or(name, |(_, stem)| stem)
}

impl NameFault {
    /// How to choose a valid name.
    pub fn hint(&self) -> &'static str {
        match self.why {
            NameReason::Path(PathFault::Empty) => "give it a name, such as `auth-plan`",
            NameReason::Path(PathFault::Absolute | PathFault::Escapes) => {
                "name it by its path inside the notes' folder, such as `plans/auth`"
            }
            NameReason::TooLong => "put the full title in the note's first heading",
            NameReason::Path(_)
            | NameReason::Hidden
            | NameReason::Edge
            | NameReason::Sign(_)
            | NameReason::Device => "use letters and digits of any script, and `-`, `_` or `.` between them",
        }
    }
}
