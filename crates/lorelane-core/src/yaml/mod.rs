//! YAML that people and programs write by hand, read with spans and edited in place.
//!
//! A parser returns values and loses the text around them. This reader keeps the span of each key and value, and
//! an edit replaces only those bytes. It reads one level of a document; deeper levels are read when a key path
//! asks for them, so no nesting depth can exhaust it. Anchors, aliases and tags keep their text and are never
//! expanded.
//!
//! `tests/it/yaml_laws.rs` is independent of the implementation, and `yaml-edit` 0.3.6 was tested against it. It
//! reads and edits valid YAML as well as this module and never panicked. But it lost other keys in 23 of 64 texts
//! with one broken line (an open quote or bracket, a stray line), where this reader loses none; it requotes a
//! value that is set to what it was; removing an anchor changes the line of its alias; a debug build took 11 s to
//! edit 200 KB of open brackets. It would add six crates.

mod collection;
mod edit;
mod scalar;

pub use collection::{CollectionKind, CollectionLayout, YamlCollection, YamlEntry, YamlProblem, YamlValue};
pub use edit::FieldEdit;
pub use scalar::{ScalarStyle, YamlScalar};

pub(crate) use collection::{MappingSpans, line_end};

/// Further keys of a mapping are ignored: keys are looked up one by one.
pub const KEYS_MAX: usize = 500;

pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// Whether a line is empty or a comment.
pub(crate) fn says_nothing(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}
