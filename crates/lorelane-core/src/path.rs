//! Paths inside a lane, validated once at the edge.

use std::fmt;

/// A path below a lane's root: forward slashes, no `..`, never absolute, never empty.
///
/// Everything that reaches the disk goes through this type, so containment is decided here and nowhere else.
/// Links are not visible in a path; the store rejects those.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(String);

/// Why a text is not a path inside a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathFault {
    #[error("it is empty")]
    Empty,
    #[error("it is absolute")]
    Absolute,
    #[error("it has an empty, `.` or `..` component")]
    Escapes,
    #[error("it contains {0:?}")]
    Character(char),
    #[error("a component is longer than {COMPONENT_MAX} bytes")]
    TooLong,
}

/// The longest component that every supported file system accepts, in bytes.
const COMPONENT_MAX: usize = 255;

impl RelPath {
    pub fn parse(text: &str) -> Result<RelPath, PathFault> {
        if text.is_empty() {
            return Err(PathFault::Empty);
        }
        let drive = text.as_bytes().get(1) == Some(&b':');
        if text.starts_with('/') || drive {
            return Err(PathFault::Absolute);
        }
        if let Some(bad) = text.chars().find(|c| c.is_control() || *c == '\\') {
            return Err(PathFault::Character(bad));
        }
        for component in text.split('/') {
            match component {
                "" | "." | ".." => return Err(PathFault::Escapes),
                long if long.len() > COMPONENT_MAX => return Err(PathFault::TooLong),
                _ => {}
            }
        }
        Ok(RelPath(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folder part, or `None` for a file directly in the root.
    pub fn folder(&self) -> Option<&str> {
        self.0.rsplit_once('/').map(|(folder, _)| folder)
    }

    pub fn file_name(&self) -> &str {
        self.0.rsplit_once('/').map_or(self.0.as_str(), |(_, name)| name)
    }

    /// The file name without its last extension.
    pub fn stem(&self) -> &str {
        let name = self.file_name();
        name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_stay_inside_are_paths() {
        let table = [
            ("decisions/use-jwt.json", Ok(())),
            ("index.md", Ok(())),
            ("", Err(PathFault::Empty)),
            ("/etc/passwd", Err(PathFault::Absolute)),
            ("C:/x", Err(PathFault::Absolute)),
            ("../x", Err(PathFault::Escapes)),
            ("a/../b", Err(PathFault::Escapes)),
            ("a//b", Err(PathFault::Escapes)),
            ("a/./b", Err(PathFault::Escapes)),
            ("a\\b", Err(PathFault::Character('\\'))),
            ("a\0b", Err(PathFault::Character('\0'))),
        ];
        for (text, expected) in table {
            assert_eq!(RelPath::parse(text).map(|_| ()), expected, "{text:?}");
        }
        assert_eq!(RelPath::parse(&"x".repeat(300)).unwrap_err(), PathFault::TooLong);
    }

    #[test]
    fn a_path_knows_its_parts() {
        let path = RelPath::parse("tech-debt/old.thing.json").unwrap();
        assert_eq!(
            (path.folder(), path.file_name(), path.stem()),
            (Some("tech-debt"), "old.thing.json", "old.thing")
        );
    }
}
