//! Resolves links to memories.

use crate::mark::Marks;
use crate::memory::Address;
use crate::memory::link::LinkTarget;
use crate::text::fold;
use std::collections::{BTreeSet, HashMap};

/// The names of all memories by which links may refer to them. Case and accents matter only between names that
/// otherwise are the same.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// By full address.
    whole: HashMap<String, Vec<Address>>,
    /// By the last component of the address.
    last: HashMap<String, Vec<Address>>,
    /// The same for former addresses.
    former: HashMap<String, Vec<Address>>,
    former_last: HashMap<String, Vec<Address>>,
}

impl Names {
    /// Deleted notes are left out, so links to them are ghosts.
    pub fn new<'e>(addresses: impl Iterator<Item = &'e Address>, marks: &Marks) -> Names {
        let known: BTreeSet<&Address> = addresses.filter(|address| !address.is_trash()).collect();
        let mut names = Names::default();
        for address in &known {
            put(&mut names.whole, &address.to_string(), address);
            put(&mut names.last, last(address), address);
        }
        for old in marks.aliases.keys() {
            let now = marks.follow(old);
            if known.contains(now) {
                put(&mut names.former, &old.to_string(), now);
                put(&mut names.former_last, last(old), now);
            }
        }
        names
    }

    /// The memory that a link refers to: by full address, then by former address, then by the last component. A
    /// name shared by two memories resolves to neither, unless one matches exactly.
    pub fn resolve(&self, target: &LinkTarget) -> Option<&Address> {
        match target {
            LinkTarget::Memory(address) => {
                let whole = address.to_string();
                // `ragdocs` referred to a note by the last component of its path only.
                let bare = (address.is_note() && !address.name().contains('/')).then(|| address.name());
                pick(&self.whole, &whole)
                    .or_else(|| pick(&self.former, &whole))
                    .or_else(|| bare.and_then(|name| self.by_last_part(name)))
            }
            LinkTarget::Ghost(path) => {
                let name = path.strip_suffix(".md").unwrap_or(path);
                let whole = format!("notes/{name}");
                // With the extension it is a file name, and many folders have a `README.md`.
                let bare = (!path.contains('/') && name == path).then_some(name);
                pick(&self.whole, &whole)
                    .or_else(|| pick(&self.former, &whole))
                    .or_else(|| bare.and_then(|name| self.by_last_part(name)))
            }
        }
    }

    fn by_last_part(&self, name: &str) -> Option<&Address> {
        pick(&self.last, name).or_else(|| pick(&self.former_last, name))
    }

    /// The keys of all link targets that may refer to a memory; [`Names::resolve`] decides.
    pub fn keys(address: &Address, marks: &Marks) -> Vec<String> {
        let mut keys = BTreeSet::new();
        for address in marks.former(address).iter().chain([address]) {
            keys.insert(fold(&address.to_string()));
            keys.insert(fold(last(address)));
            // As `ragdocs` wrote any memory: `memory:` and the last component of its name.
            keys.insert(fold(&format!("notes/{}", last(address))));
            if address.category().is_none() {
                keys.insert(fold(address.name()));
                keys.insert(fold(&format!("{}.md", address.name())));
            }
        }
        keys.into_iter().collect()
    }
}

fn last(address: &Address) -> &str {
    address.name().rsplit('/').next().unwrap_or_default()
}

fn put(names: &mut HashMap<String, Vec<Address>>, name: &str, address: &Address) {
    let called = names.entry(fold(name)).or_default();
    if !called.contains(address) {
        called.push(address.clone());
    }
}

fn pick<'n>(names: &'n HashMap<String, Vec<Address>>, name: &str) -> Option<&'n Address> {
    let called = names.get(&fold(name))?;
    let just_so = || {
        let mut exact = called
            .iter()
            .filter(|address| address.to_string() == name || address.name() == name || last(address) == name);
        let first = exact.next();
        first.filter(|_| exact.next().is_none())
    };
    if let [only] = called.as_slice() { Some(only) } else { just_so() }
}
