//! Configuration files: reading them never fails, writing them loses no comment.

use crate::disk::{Disk, FileType, LinkPolicy};
use lorelane_core::json::{self, Json, JsonDocument, Object};
use lorelane_core::policy::{ConfigFile, ConfigProblem, ConfigSource, ConfigValue, Policy, all_keys};
use lorelane_core::text::cut;
use std::io;
use std::path::{Path, PathBuf};

pub const RECORDS_CONFIG: &str = "memory-config.json";
pub const LORELANE_CONFIG: &str = "lorelane.toml";

const MEMORY_ROOT: &str = "memory_root";
const CONFIG_MAX_BYTES: u64 = 1 << 20;

/// The configuration files of one project.
#[derive(Clone, Debug)]
pub struct ConfigFiles {
    pub records: PathBuf,
    pub project: PathBuf,
    pub user: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot {attempt} {path}: {source}")]
    Io { attempt: &'static str, path: PathBuf, source: io::Error },
    /// A file that cannot be read is not written over.
    #[error("cannot change {path}: {why}")]
    Broken { path: PathBuf, why: String },
    #[error("cannot change {path}: it is a symlink")]
    Symlink { path: PathBuf },
    /// The file's folder is a symlink that leads out of the project.
    #[error("cannot change {path}: its folder is {real}, outside the project")]
    Outside { path: PathBuf, real: PathBuf },
}

impl ConfigFiles {
    /// The files of a project whose path has no symlinks.
    pub fn of_project(disk: &dyn Disk, project: &Path, user_config: Option<&Path>) -> ConfigFiles {
        let folder = project.join(lorelane_core::policy::DEFAULT_ROOT);
        // A symlink inside the project is the user's business; through one that leads out of it nothing is read.
        let real = disk.real_path(&folder).ok().filter(|real| real.starts_with(project));
        ConfigFiles {
            records: real.unwrap_or(folder).join(RECORDS_CONFIG),
            project: project.join(LORELANE_CONFIG),
            user: user_config.map(|folder| folder.join(LORELANE_CONFIG)),
        }
    }

    /// The folder of the memories, relative to the project. Reads one key of one file: the guard before every
    /// tool needs no other.
    pub fn memory_root(&self, disk: &dyn Disk) -> String {
        let given = || {
            let bytes = self.read_foreign(disk, &self.records).ok()??;
            let Json::Object(root) = Json::parse(text(&bytes).ok()?).ok()? else { return None };
            root.get(MEMORY_ROOT).cloned()
        };
        Policy::root_of(given().as_ref())
    }

    /// Reads all files. One that cannot be read is a problem, and the defaults apply. What would weaken the
    /// user's settings is held back; the workspace decides whether the project is trusted.
    pub fn read(&self, disk: &dyn Disk) -> Policy {
        let mut given = Vec::new();
        let mut problems = Vec::new();
        self.read_one(disk, &self.records, ConfigFile::Records, &mut given, &mut problems);
        self.read_one(disk, &self.project, ConfigFile::Lorelane, &mut given, &mut problems);
        if let Some(user) = &self.user {
            self.read_one(disk, user, ConfigFile::Lorelane, &mut given, &mut problems);
        }
        Policy::settle(&given, problems)
    }

    fn read_one(
        &self,
        disk: &dyn Disk,
        path: &Path,
        home: ConfigFile,
        given: &mut Vec<ConfigValue>,
        problems: &mut Vec<ConfigProblem>,
    ) {
        let file = path.display().to_string();
        let source =
            if Some(path) == self.user.as_deref() { ConfigSource::User } else { ConfigSource::Project };
        // The user's own file may be a symlink to wherever they keep their settings; one of the repository may
        // not.
        let read = match source {
            ConfigSource::User => disk.read_bounded(path, LinkPolicy::Followed, CONFIG_MAX_BYTES),
            ConfigSource::Project => self.read_foreign(disk, path),
        };
        let values = match read {
            Ok(None) => return,
            Ok(Some(bytes)) => match (home, text(&bytes)) {
                (ConfigFile::Records, Ok(text)) => json_values(text),
                (ConfigFile::Lorelane, Ok(text)) => toml_values(text),
                (_, Err(why)) => Err(why),
            },
            Err(fault) => Err(format!("it cannot be read: {fault}")),
        };
        match values {
            Ok(values) => {
                given.extend(values.into_iter().map(|(key, value)| ConfigValue {
                    key,
                    value,
                    file: file.clone(),
                    home,
                    source,
                }));
            }
            // The file may say where memories go, so nothing is written until it can be read.
            Err(what) => problems.push(ConfigProblem { key: "*".to_owned(), file, what, stops_writes: true }),
        }
    }

    /// Reads a file that came with the project.
    fn read_foreign(&self, disk: &dyn Disk, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let project = self.project.parent().unwrap_or(Path::new("/"));
        match disk.below(project, &[]) {
            Ok(Some(below)) => below.read_regular(path, CONFIG_MAX_BYTES),
            Ok(None) => disk.read_regular(path, CONFIG_MAX_BYTES),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    pub fn file_of(&self, home: ConfigFile) -> &Path {
        match home {
            ConfigFile::Records => &self.records,
            ConfigFile::Lorelane => &self.project,
        }
    }

    /// The text of the file after one key was set; everything else stays as it is.
    pub fn with(
        &self,
        disk: &dyn Disk,
        home: ConfigFile,
        key: &str,
        value: &Json,
    ) -> Result<String, ConfigError> {
        let path = self.file_of(home);
        let broken = |why: String| ConfigError::Broken { path: path.to_owned(), why };
        let old = self.read_foreign(disk, path).map_err(|source| ConfigError::Io {
            attempt: "read",
            path: path.to_owned(),
            source,
        })?;
        let old = old.unwrap_or_default();
        let old = text(&old).map_err(broken)?;
        match home {
            ConfigFile::Records => {
                set_json(if old.trim().is_empty() { "{}\n" } else { old }, key, value).map_err(broken)
            }
            ConfigFile::Lorelane => set_toml(old, key, value).map_err(broken),
        }
    }

    /// Replaces a configuration file.
    pub fn save(&self, disk: &dyn Disk, home: ConfigFile, text: &str) -> Result<PathBuf, ConfigError> {
        let path = self.file_of(home).to_owned();
        let project = self.project.parent().unwrap_or(Path::new("/"));
        let folder = path.parent().unwrap_or(Path::new("/"));
        if let Ok(real) = disk.real_path(folder)
            && !real.starts_with(project)
        {
            return Err(ConfigError::Outside { path, real });
        }
        write_plain(disk, &path, text.as_bytes())?;
        Ok(path)
    }
}

/// Replaces a file that is not a memory: atomically, without fsync, never through a symlink.
///
/// The caller holds a lock, so the temporary file has a fixed name: one that exists was left by a writer that
/// was killed, and the next writer removes it.
pub fn write_plain(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<(), ConfigError> {
    write_parts(disk, path, |write| write(bytes))
}

/// The same for a text that comes in parts, so that a large one is never in memory as a whole.
pub fn write_parts(
    disk: &dyn Disk,
    path: &Path,
    parts: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>,
) -> Result<(), ConfigError> {
    let fault = |attempt| move |source| ConfigError::Io { attempt, path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("/"));
    disk.create_dir_all(folder).map_err(fault("create the folder of"))?;
    let stat = disk.stat(path).map_err(fault("look at"))?;
    if stat.is_some_and(|stat| stat.kind == FileType::Symlink) {
        return Err(ConfigError::Symlink { path: path.to_owned() });
    }
    let temporary =
        folder.join(format!(".lorelane-{}.tmp", path.file_name().unwrap_or_default().to_string_lossy()));
    if disk.stat(&temporary).map_err(fault("look at"))?.is_some() {
        disk.remove_file(&temporary).map_err(fault("remove the temporary file of"))?;
    }
    let mut is_created = false;
    let mut write = |part: &[u8]| match std::mem::replace(&mut is_created, true) {
        false => disk.create_new(&temporary, part, stat.as_ref().and_then(|stat| stat.mode)),
        true => disk.append(&temporary, part),
    };
    let written = parts(&mut write).and_then(|()| disk.rename(&temporary, path));
    if written.is_err() {
        let _ = disk.remove_file(&temporary);
    }
    written.map_err(fault("write"))
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|fault| format!("it is not UTF-8 from byte {}", fault.valid_up_to()))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn json_values(text: &str) -> Result<Vec<(String, Json)>, String> {
    let document = JsonDocument::parse(text).map_err(|fault| format!("it is not JSON: {fault}"))?;
    let Json::Object(root) = document.root.into_json() else {
        return Err("it is not a JSON object".to_owned());
    };
    let mut values = Vec::new();
    flatten(&root, "", &mut values);
    Ok(values)
}

/// Leaves by their dotted path. Files of the `claude-memory` scripts may have threshold keys in upper case.
fn flatten(object: &Object, path: &str, values: &mut Vec<(String, Json)>) {
    for (key, value) in object.iter() {
        let lower = if path == "triage.thresholds" { key.to_lowercase() } else { key.to_owned() };
        let path = if path.is_empty() { lower } else { format!("{path}.{lower}") };
        let is_group = || all_keys().any(|(_, name, _)| name.starts_with(&format!("{path}.")));
        match value {
            Json::Object(inner) if is_group() => flatten(inner, &path, values),
            _ => values.push((path, value.clone())),
        }
    }
}

fn toml_values(text: &str) -> Result<Vec<(String, Json)>, String> {
    let document: toml_edit::DocumentMut = text.parse().map_err(|fault: toml_edit::TomlError| {
        format!("it is not TOML: {}", first_line(&fault.to_string()))
    })?;
    let mut values = Vec::new();
    flatten_toml(document.as_table(), "", &mut values);
    Ok(values)
}

fn flatten_toml(table: &dyn toml_edit::TableLike, path: &str, values: &mut Vec<(String, Json)>) {
    for (key, item) in table.iter() {
        let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        if let Some(inner) = item.as_table_like() {
            flatten_toml(inner, &path, values);
        } else if let Some(text) = item.as_str() {
            values.push((path, Json::text(text)));
        } else if let Some(flag) = item.as_bool() {
            values.push((path, Json::Bool(flag)));
        } else {
            let text = item.to_string();
            let value = Json::parse(text.trim()).unwrap_or_else(|_| Json::text(text.trim()));
            values.push((path, value));
        }
    }
}

fn set_json(old: &str, key: &str, value: &Json) -> Result<String, String> {
    let mut root = match Json::parse(old) {
        Ok(Json::Object(root)) => root,
        Ok(_) => return Err("it is not a JSON object".to_owned()),
        Err(fault) => return Err(format!("it is not JSON: {fault}")),
    };
    let Some((object, last)) = root.nest(key) else {
        return Err(format!("a parent of `{key}` is not an object"));
    };
    object.set(last, value.clone());
    json::patch(old, &Json::Object(root)).map_err(|fault| fault.to_string())
}

/// Sets a key in TOML text. An existing value is replaced in place; a new one gets the line ends of the file.
fn set_toml(old: &str, key: &str, value: &Json) -> Result<String, String> {
    const BOM: char = '\u{feff}';
    let broken = |fault: toml_edit::TomlError| format!("it is not TOML: {}", first_line(&fault.to_string()));
    let value = match value {
        Json::Text(text) => toml_edit::Value::from(text.as_str()),
        Json::Bool(flag) => toml_edit::Value::from(*flag),
        Json::Number(number) => match number.parse::<i64>() {
            Ok(whole) => toml_edit::Value::from(whole),
            Err(_) => toml_edit::Value::from(number.parse::<f64>().unwrap_or_default()),
        },
        other => {
            return Err(format!(
                "{} cannot be a value of this file",
                cut(&other.render(json::JsonFormat::LINE), 80)
            ));
        }
    };
    // Spans of toml_edit count from after the byte order mark.
    let (mark, body) = old.split_at(old.len() - old.trim_start_matches(BOM).len());
    let read = toml_edit::Document::parse(body).map_err(broken)?;
    let known = key.split('.').try_fold(read.as_item(), |item, part| item.as_table_like()?.get(part));
    if let Some(span) = known.and_then(toml_edit::Item::as_value).and_then(toml_edit::Value::span) {
        return Ok(format!("{mark}{}{value}{}", &body[..span.start], &body[span.end..]));
    }
    let mut document = read.into_mut();
    let mut item = document.as_item_mut();
    for part in key.split('.') {
        item = &mut item[part];
    }
    *item = toml_edit::Item::Value(value);
    let text = document.to_string();
    let text = if body.contains("\r\n") { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text };
    Ok(format!("{mark}{text}"))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_a_key_of_toml_leaves_every_other_byte() {
        let quiet = Json::text("quiet");
        for (old, key, new) in [
            ("", "a", "a = \"quiet\"\n"),
            ("a = 'x' # why\r\nb=2\n", "a", "a = \"quiet\" # why\r\nb=2\n"),
            ("\u{feff}[t]\r\na   =   1\r\n", "t.a", "\u{feff}[t]\r\na   =   \"quiet\"\r\n"),
            ("t = {a=1, b=2} # c", "t.a", "t = {a=\"quiet\", b=2} # c"),
            ("t.a = 1", "t.a", "t.a = \"quiet\""),
            ("\u{feff}b = 2\r\n", "a", "\u{feff}b = 2\r\na = \"quiet\"\r\n"),
            ("# c\r\n[t]\r\nb = 2\r\n", "t.a", "# c\r\n[t]\r\nb = 2\r\na = \"quiet\"\r\n"),
        ] {
            assert_eq!(set_toml(old, key, &quiet).as_deref(), Ok(new), "{old:?}");
        }
        assert!(set_toml("a = [", "a", &quiet).is_err());
    }
}
