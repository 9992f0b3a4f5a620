//! Sidecars: what is known about one file, in `<file>.meta.yml`.

use super::advice::HOTNESS_PRIOR;
use crate::time::Timestamp;
use crate::yaml::{FieldEdit, YamlCollection};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SidecarStatus {
    #[default]
    Active,
    Summarized,
    Archived,
}

impl SidecarStatus {
    pub fn name(self) -> &'static str {
        match self {
            SidecarStatus::Active => "active",
            SidecarStatus::Summarized => "summarized",
            SidecarStatus::Archived => "archived",
        }
    }
}

/// Where the bytes of a file are kept, and which they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedBytes {
    /// A file of the session, or `git:COMMIT:PATH`.
    pub place: String,
    /// BLAKE3, in hex.
    pub digest: String,
}

/// The fields of a sidecar that decide something. All are optional in the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sidecar {
    pub title: Option<String>,
    pub summary: Option<String>,
    pub pin: bool,
    pub hotness: Option<f64>,
    pub status: SidecarStatus,
    pub summarized_in: Option<String>,
    pub superseded_by: Option<String>,
    pub archived_to: Option<String>,
    pub archived_bytes: Option<ArchivedBytes>,
}

/// A change of a sidecar's fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SidecarEdit {
    pub pin: Option<bool>,
    pub hotness: Option<f64>,
    pub status: Option<SidecarStatus>,
    /// The summary and its date.
    pub summarized_in: Option<(String, Timestamp)>,
    /// Where the file was archived, and when.
    pub archived_to: Option<(String, Timestamp)>,
    pub archived_bytes: Option<ArchivedBytes>,
    pub superseded_by: Option<String>,
    /// A file that came back is archived no more.
    pub restored: bool,
}

impl Sidecar {
    pub fn read(text: &str) -> Option<Sidecar> {
        let fields = YamlCollection::document(text)?;
        let scalar = |key: &str| fields.scalar(&[key]).filter(|value| !value.is_empty());
        Some(Sidecar {
            title: scalar("title"),
            summary: scalar("summary"),
            pin: scalar("pin").is_some_and(|pin| matches!(pin.as_str(), "true" | "yes" | "True")),
            hotness: scalar("hotness").and_then(|hotness| hotness.parse().ok()),
            status: match scalar("status").as_deref() {
                Some("summarized") => SidecarStatus::Summarized,
                Some("archived") => SidecarStatus::Archived,
                _ => SidecarStatus::Active,
            },
            summarized_in: scalar("summarized_in"),
            superseded_by: scalar("superseded_by"),
            archived_to: scalar("archived_to"),
            archived_bytes: scalar("archived_bytes")
                .zip(scalar("archived_digest"))
                .map(|(place, digest)| ArchivedBytes { place, digest }),
        })
    }

    /// The text with the edit, every other byte as it was. `None` if its lines are too broken for that.
    pub fn edited(text: &str, edit: &SidecarEdit, now: Timestamp) -> Option<String> {
        let mut text = text.to_owned();
        let mut set = |path: &[&str], value: FieldEdit<'_>| -> Option<()> {
            text = YamlCollection::document(&text)?.edited(path, value)?;
            Some(())
        };
        if let Some(pin) = edit.pin {
            set(&["pin"], FieldEdit::Source(if pin { "true" } else { "false" }))?;
        }
        if let Some(hotness) = edit.hotness {
            set(&["hotness"], FieldEdit::Source(&format!("{hotness:.2}")))?;
        }
        if let Some(status) = edit.status {
            set(&["status"], FieldEdit::Source(status.name()))?;
        }
        if let Some((summary, at)) = &edit.summarized_in {
            set(&["summarized_in"], FieldEdit::Text(summary))?;
            set(&["summary_date"], FieldEdit::Text(&at.to_string()))?;
        }
        if let Some((archive, at)) = &edit.archived_to {
            set(&["archived_to"], FieldEdit::Text(archive))?;
            set(&["archived_at"], FieldEdit::Text(&at.to_string()))?;
        }
        if let Some(bytes) = &edit.archived_bytes {
            set(&["archived_bytes"], FieldEdit::Text(&bytes.place))?;
            set(&["archived_digest"], FieldEdit::Text(&bytes.digest))?;
        }
        if let Some(successor) = &edit.superseded_by {
            set(&["superseded_by"], FieldEdit::Text(successor))?;
        }
        if edit.restored {
            for key in ["archived_to", "archived_at", "archived_bytes", "archived_digest"] {
                set(&[key], FieldEdit::Remove)?;
            }
        }
        set(&["provenance", "updated_at"], FieldEdit::Text(&now.to_string()))?;
        Some(text)
    }
}

/// The sidecar of a file that enters the set.
pub fn new_sidecar(path: &str, created_by: &str, session: &str, now: Timestamp) -> String {
    let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
    format!(
        "title: {}\nsummary: \"(needs summary)\"\ntags: []\nhotness: {HOTNESS_PRIOR}\npin: false\nprovenance:\n  \
         created_by: {}\n  created_at: \"{now}\"\n  session: {}\n",
        quoted(&title_of(path)),
        quoted(created_by),
        quoted(session),
    )
}

/// A title from the name of a file: `fix_parser-2.md` is "fix parser 2".
pub fn title_of(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem });
    let words: Vec<&str> = stem.split(['-', '_', ' ']).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { name.to_owned() } else { words.join(" ") }
}

/// The place of the sidecar that lorelane writes, in the session folder: sources are not littered with sidecars.
pub fn sidecar_path(path: &str) -> String {
    // The address of a memory may hold any character; a path in the project cannot begin like this.
    match path.strip_prefix("memory:") {
        Some(address) => format!("meta/memory/{address}.meta.yml"),
        None => format!("meta/{path}.meta.yml"),
    }
}
