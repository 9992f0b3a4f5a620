//! YAML that people and programs write by hand, read with its places and edited in place.
//!
//! A parser gives values and loses the text around them. This reader keeps where each key and value is, and an edit
//! replaces those bytes only. It reads one level of a document; what is deeper is read when a key path asks for it,
//! so that no depth can exhaust it. Anchors, aliases and tags keep their text and are never expanded.
//!
//! `tests/it/yaml_laws.rs` knows no implementation, and `yaml-edit` 0.3.6 was held against it. It reads and edits
//! sound YAML as well as this module and never panicked. It lost other keys in 23 of 64 texts with one broken line
//! (an open quote or bracket, a stray line), where this reader loses none; it quotes a value again that is set to
//! what it was; removing an anchor changes the line of its alias; a debug build took 11 s to edit 200 KB of open
//! brackets. It would bring six crates.

mod collection;
mod edit;
mod scalar;

pub use collection::{CollectionKind, CollectionLayout, YamlCollection, YamlEntry, YamlProblem, YamlValue};
pub use edit::FieldEdit;
pub use scalar::{ScalarStyle, YamlScalar};

pub(crate) use collection::{MappingSpans, line_end};

/// A mapping with more keys is read up to here: keys are looked up one by one.
pub const KEYS_MAX: usize = 500;

pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// Empty, or a comment.
pub(crate) fn says_nothing(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}
