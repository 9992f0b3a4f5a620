//! The files and folders of a tree, looked up as people write paths: whole, relative, or by their end.

use crate::git::TreeFile;
use std::collections::{HashMap, HashSet};

#[derive(Debug, Default)]
pub(super) struct PathTree {
    files: HashSet<String>,
    folders: HashSet<String>,
    /// Files and folders by their last component.
    by_name: HashMap<String, Vec<String>>,
}

/// What a written path may mean.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Resolution {
    One(String),
    Several(Vec<String>),
    Nothing,
}

impl PathTree {
    pub(super) fn of(files: &[TreeFile]) -> PathTree {
        let mut tree = PathTree::default();
        for file in files {
            tree.add_name(&file.path);
            for (end, _) in file.path.match_indices('/').rev() {
                let folder = &file.path[..end];
                if !tree.folders.insert(folder.to_owned()) {
                    break;
                }
                tree.add_name(folder);
            }
            tree.files.insert(file.path.clone());
        }
        tree
    }

    fn add_name(&mut self, path: &str) {
        let name = name_of(path);
        match self.by_name.get_mut(name) {
            Some(paths) => paths.push(path.to_owned()),
            None => {
                self.by_name.insert(name.to_owned(), vec![path.to_owned()]);
            }
        }
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains(path) || self.folders.contains(path)
    }

    pub(super) fn has_file(&self, path: &str) -> bool {
        self.files.contains(path)
    }

    /// From the project, from the root, from the memory's folder.
    pub(super) fn as_written(&self, prefix: &str, folder: &str, written: &str) -> Option<String> {
        let from_memory = if folder.is_empty() { String::new() } else { format!("{folder}/{written}") };
        let places = [format!("{prefix}{written}"), written.to_owned(), from_memory];
        places.into_iter().find(|path| self.has(path))
    }

    /// As written, else by the end of a longer path.
    pub(super) fn resolve(&self, prefix: &str, folder: &str, written: &str) -> Resolution {
        if let Some(path) = self.as_written(prefix, folder, written) {
            return Resolution::One(path);
        }
        let end = format!("/{written}");
        let named = self.by_name.get(name_of(written)).map(Vec::as_slice).unwrap_or_default();
        let mut longer: Vec<String> = named.iter().filter(|path| path.ends_with(&end)).cloned().collect();
        match longer.len() {
            0 => Resolution::Nothing,
            1 => longer.pop().map_or(Resolution::Nothing, Resolution::One),
            _ => {
                longer.sort_unstable();
                Resolution::Several(longer)
            }
        }
    }

    /// The one file here with the name of this path, if the old tree did not have it.
    pub(super) fn only_new_of_name(&self, path: &str, old: &PathTree) -> Option<String> {
        let named = self.by_name.get(name_of(path))?;
        let mut new = named.iter().filter(|path| self.has_file(path) && !old.has(path));
        // Another file of the name that was there all along says nothing against it.
        new.next().filter(|_| new.next().is_none()).cloned()
    }

    /// The one file here with the name of this path.
    pub(super) fn only_of_name(&self, path: &str) -> Option<String> {
        let named = self.by_name.get(name_of(path))?;
        let mut files = named.iter().filter(|path| self.has_file(path));
        files.next().filter(|_| files.next().is_none()).cloned()
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[&str]) -> PathTree {
        let file = |path: &&str| TreeFile { path: (*path).to_owned(), blob: String::new(), size: 0 };
        PathTree::of(&paths.iter().map(file).collect::<Vec<_>>())
    }

    #[test]
    fn a_path_is_found_as_people_write_it() {
        let tree = tree(&["web/src/app.ts", "web/src/lib/util.ts", "api/src/app.ts", "docs/a.md"]);
        let one = |path: &str| Resolution::One(path.to_owned());
        let both = || Resolution::Several(vec!["api/src/app.ts".to_owned(), "web/src/app.ts".to_owned()]);
        for (prefix, folder, written, expected) in [
            ("", "", "web/src/app.ts", one("web/src/app.ts")),
            ("web/", "", "src/app.ts", one("web/src/app.ts")),
            ("", "docs", "a.md", one("docs/a.md")),
            ("", "", "lib/util.ts", one("web/src/lib/util.ts")),
            ("", "", "src/lib", one("web/src/lib")),
            ("", "", "src/app.ts", both()),
            ("", "", "app.ts", both()),
            ("", "", "pp.ts", Resolution::Nothing),
            ("", "", "src/none.ts", Resolution::Nothing),
        ] {
            assert_eq!(tree.resolve(prefix, folder, written), expected, "{prefix} {folder} {written}");
        }
    }

    #[test]
    fn a_move_goes_to_the_one_new_file_of_the_name() {
        let old = tree(&["a/x.rs", "b/y.rs", "c/y.rs"]);
        let new = tree(&["n/x.rs", "n/y.rs", "c/y.rs", "m/z.rs", "n/z.rs"]);
        assert_eq!(new.only_new_of_name("a/x.rs", &old).as_deref(), Some("n/x.rs"));
        assert_eq!(new.only_new_of_name("b/y.rs", &old).as_deref(), Some("n/y.rs"));
        assert_eq!(new.only_new_of_name("b/z.rs", &old), None);
    }
}
