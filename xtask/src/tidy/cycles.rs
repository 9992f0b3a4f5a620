//! Finds cycles between modules: none of them can be read, moved or tested alone.
//!
//! An edge is a path in the code, imported or written out; a method call on a value whose type is never
//! named is none. Children may use items of their parent module, so the parent is not part of their
//! graph; what it imports from one child for another is an edge between the two.

use std::collections::{BTreeMap, BTreeSet};

use super::codebase::{CodeFile, Codebase};
use super::uses::{Named, named};

/// Modules that all reach each other.
#[derive(Debug)]
pub(super) struct Cycle {
    pub(super) crate_name: String,
    /// The parent module; empty for top-level modules of the crate.
    pub(super) within: Vec<String>,
    pub(super) modules: Vec<String>,
    /// The edges inside the cycle.
    pub(super) edges: Vec<Edge>,
}

/// A place where one module names another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) names: String,
}

type ModulePath = Vec<String>;

pub(super) fn cycles(codebase: &Codebase) -> Vec<Cycle> {
    let crates: BTreeSet<&str> = codebase.files.iter().map(CodeFile::crate_name).collect();
    let mut cycles = Vec::new();
    for crate_name in crates {
        let files = codebase.files.iter().filter(|file| file.crate_name() == crate_name);
        let graph = Graph::of(files.collect());
        for within in graph.children.keys() {
            let edges = graph.edges(within);
            for modules in components(&edges) {
                let inside = |edge: &&Edge| modules.contains(&edge.from) && modules.contains(&edge.to);
                cycles.push(Cycle {
                    crate_name: crate_name.to_owned(),
                    within: within.clone(),
                    edges: edges.iter().filter(inside).cloned().collect(),
                    modules,
                });
            }
        }
    }
    cycles
}

/// The modules of one crate and the paths they name.
struct Graph<'c> {
    files: Vec<(&'c CodeFile, Vec<Named>)>,
    children: BTreeMap<ModulePath, BTreeSet<String>>,
    /// The imports of a module, by local name.
    imports: BTreeMap<(ModulePath, String), ModulePath>,
}

impl<'c> Graph<'c> {
    fn of(files: Vec<&'c CodeFile>) -> Graph<'c> {
        let mut children: BTreeMap<ModulePath, BTreeSet<String>> = BTreeMap::new();
        for file in &files {
            for (depth, name) in file.module.iter().enumerate() {
                children.entry(file.module[..depth].to_vec()).or_default().insert(name.clone());
            }
        }
        let files = files.into_iter().map(|file| (file, named(&file.code, &file.module))).collect();
        let mut graph = Graph { files, children, imports: BTreeMap::new() };
        let mut imports = BTreeMap::new();
        for (file, named) in &graph.files {
            for import in named.iter().filter(|named| named.imported) {
                if let (Some(path), Some(name)) = (graph.in_crate(file, import), import.path.last()) {
                    imports.insert((file.module.clone(), name.clone()), path);
                }
            }
        }
        graph.imports = imports;
        graph
    }

    /// Between the children of one module.
    fn edges(&self, within: &[String]) -> Vec<Edge> {
        let mut edges = BTreeMap::new();
        for (file, named) in &self.files {
            let Some(from) = file.module.strip_prefix(within).and_then(<[String]>::first) else { continue };
            let mut imports: Vec<ModulePath> = Vec::new();
            for named in named {
                let Some(path) = self.in_crate(file, named) else { continue };
                // The import itself is the edge for calls through it.
                if !named.imported && imports.iter().any(|import| path.starts_with(import)) {
                    continue;
                }
                let Some(to) = self.child(within, &path).filter(|to| to != from) else { continue };
                let names = format!("crate::{}", path.join("::"));
                edges.entry((from.clone(), to.clone(), &file.path, names.clone())).or_insert(Edge {
                    from: from.clone(),
                    to,
                    path: file.path.clone(),
                    line: named.line,
                    names,
                });
                imports.extend(named.imported.then_some(path));
            }
        }
        edges.into_values().collect()
    }

    /// The path from the crate's root; `None` for paths of other crates and for local names.
    fn in_crate(&self, file: &CodeFile, named: &Named) -> Option<ModulePath> {
        let (first, rest) = named.path.split_first()?;
        if rest.is_empty() && !named.imported {
            return None;
        }
        if first == "crate" {
            return Some(rest.to_vec());
        }
        let is_child = self.children.get(&file.module).is_some_and(|children| children.contains(first));
        is_child.then(|| [file.module.as_slice(), &named.path].concat())
    }

    /// The child of `within` that a path leads to, also when `within` imports it from there.
    fn child(&self, within: &[String], path: &[String]) -> Option<String> {
        let mut path = path.to_vec();
        let mut seen = BTreeSet::new();
        while seen.insert(path.clone()) {
            let (name, below) = path.strip_prefix(within)?.split_first()?;
            if self.children.get(within).is_some_and(|children| children.contains(name)) {
                return Some(name.clone());
            }
            let import = self.imports.get(&(within.to_vec(), name.clone()))?;
            path = [import.as_slice(), below].concat();
        }
        None
    }
}

/// The strongly connected components. The graphs are small, so reachability is computed node by node.
fn components(edges: &[Edge]) -> Vec<Vec<String>> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for edge in edges {
        next.entry(&edge.from).or_default().insert(&edge.to);
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        next.keys().map(|node| (*node, reached(&next, node))).collect();
    let mut components = BTreeSet::new();
    for (node, others) in &reached {
        let back = |other: &&&str| reached.get(*other).is_some_and(|reached| reached.contains(node));
        let component: Vec<String> = others.iter().filter(back).map(|&other| other.to_owned()).collect();
        if component.len() > 1 {
            components.insert(component);
        }
    }
    components.into_iter().collect()
}

fn reached<'e>(next: &BTreeMap<&'e str, BTreeSet<&'e str>>, start: &str) -> BTreeSet<&'e str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = next.get(start).into_iter().flatten().copied().collect();
    while let Some(node) = open.pop() {
        if reached.insert(node) {
            open.extend(next.get(node).into_iter().flatten().copied());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(String, String)> =
            files.iter().map(|(path, text)| (format!("crates/a/src/{path}"), (*text).to_owned())).collect();
        let cycles = cycles(&Codebase::read(&files));
        let shown = |cycle: &Cycle| {
            let edges: Vec<String> =
                cycle.edges.iter().map(|edge| format!("{}>{} {}", edge.from, edge.to, edge.names)).collect();
            format!("{}[{}] {}", cycle.within.join("::"), cycle.modules.join(" "), edges.join(", "))
        };
        cycles.iter().map(shown).collect()
    }

    #[test]
    fn a_circle_of_three_is_found_and_what_hangs_on_it_is_not() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; mod d; use a::A;"),
            ("a.rs", "use crate::b::B; fn f() { B::new(); crate::b::B::new() }"),
            ("b/mod.rs", "mod deep;"),
            ("b/deep.rs", "fn f() { super::super::c::g() }"),
            ("c.rs", "use super::{a::A, d};"),
            ("d.rs", "use std::fmt; fn f(a: &A) { a.b() }"),
        ];
        let expected = "[a b c] a>b crate::b::B, b>c crate::c::g, c>a crate::a::A";
        assert_eq!(found(&files), [expected]);
    }

    #[test]
    fn a_test_makes_no_circle_and_neither_does_the_parent() {
        let files = [
            ("lib.rs", "mod a; mod b; pub struct Root;"),
            ("a.rs", "use crate::b::B; use crate::Root;"),
            ("b.rs", "use crate::Root;\n#[cfg(test)]\nmod tests { use crate::a::A; }"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }

    #[test]
    fn siblings_that_meet_through_their_parents_imports_are_found() {
        let files = [
            ("w/mod.rs", "mod x; mod y; mod z; pub use x::X; use self::y::Y;"),
            ("w/x.rs", "use super::Y;"),
            ("w/y.rs", "fn f() { crate::w::X::new() }"),
            ("w/z.rs", "use super::{X, Y, Own};"),
        ];
        assert_eq!(found(&files), ["w[x y] x>y crate::w::Y, y>x crate::w::X::new"]);
    }
}
