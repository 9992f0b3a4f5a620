//! The graph in the languages of other programs. Titles and paths are foreign text: each language has its own
//! signs that would end a label.

use super::{Graph, NodeId};
use crate::json::{Json, Object};
use crate::text::{cut, one_line};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The longest label, in characters.
const LABEL_MAX: usize = 60;

impl Graph {
    /// For Graphviz.
    pub fn to_dot(&self) -> String {
        let mut text = String::from("digraph memories {\n  rankdir=LR;\n");
        for node in self.nodes() {
            let shape = match node {
                NodeId::Memory(_) => "box",
                NodeId::Ghost(_) => "note",
                NodeId::Tag(_) => "ellipse",
            };
            let (id, label) = (dot_text(&node.to_string()), dot_text(&self.label(&node)));
            let _ = writeln!(text, "  {id} [label={label}, shape={shape}];");
        }
        for relation in &self.relations {
            let (from, to) = (dot_text(&relation.from.to_string()), dot_text(&relation.to.to_string()));
            let _ = writeln!(text, "  {from} -> {to} [label=\"{}\"];", relation.kind.name());
        }
        text.push_str("}\n");
        text
    }

    /// For Mermaid: its identifiers are numbers, because it takes no other signs in them.
    pub fn to_mermaid(&self) -> String {
        let mut text = String::from("flowchart LR\n");
        let mut numbers = BTreeMap::new();
        for (number, node) in self.nodes().into_iter().enumerate() {
            let label = mermaid_text(&self.label(&node));
            let (open, close) = match node {
                NodeId::Memory(_) => ("[", "]"),
                NodeId::Ghost(_) => ("[/", "/]"),
                NodeId::Tag(_) => ("([", "])"),
            };
            let _ = writeln!(text, "  n{number}{open}\"{label}\"{close}");
            numbers.insert(node, number);
        }
        for relation in &self.relations {
            let from = numbers[&NodeId::Memory(relation.from.clone())];
            let _ = writeln!(text, "  n{from} -->|{}| n{}", relation.kind.name(), numbers[&relation.to]);
        }
        text
    }

    /// Two lists: `nodes` and `edges`.
    pub fn to_json(&self) -> Object {
        let nodes = self.nodes().into_iter().map(|node| self.node_json(&node)).collect();
        let edges = self.relations.iter().map(|relation| {
            let members = [
                ("from", Json::text(relation.from.to_string())),
                ("to", Json::text(relation.to.to_string())),
                ("edge", Json::text(relation.kind.name())),
                ("anchor", relation.anchor.as_ref().map_or(Json::Null, Json::text)),
                ("context", Json::text(&relation.context)),
            ];
            Json::Object(members.into_iter().collect())
        });
        [("nodes", Json::List(nodes)), ("edges", Json::List(edges.collect()))].into_iter().collect()
    }

    fn nodes(&self) -> Vec<NodeId> {
        let memories = self.memories.keys().cloned().map(NodeId::Memory);
        let ghosts = self.ghosts.iter().cloned().map(NodeId::Ghost);
        memories.chain(ghosts).chain(self.tags.iter().cloned().map(NodeId::Tag)).collect()
    }

    fn label(&self, node: &NodeId) -> String {
        let title = match node {
            NodeId::Memory(address) => self.memories[address].title.clone(),
            NodeId::Ghost(path) => path.clone(),
            NodeId::Tag(name) => format!("#{name}"),
        };
        cut(&one_line(&title), LABEL_MAX)
    }

    fn node_json(&self, node: &NodeId) -> Json {
        let mut object = Object::new();
        object.set("id", Json::text(node.to_string()));
        match node {
            NodeId::Memory(address) => {
                let entry = &self.memories[address];
                object.set("sort", Json::text("memory"));
                object.set("title", Json::text(&entry.title));
                object.set("category", Json::text(entry.kind.name()));
                object.set("status", Json::text(entry.status.name()));
            }
            NodeId::Ghost(path) => {
                object.set("sort", Json::text("ghost"));
                object.set("target", Json::text(path));
            }
            NodeId::Tag(name) => {
                object.set("sort", Json::text("tag"));
                object.set("tag", Json::text(name));
            }
        }
        Json::Object(object)
    }
}

fn dot_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Mermaid reads Markdown and HTML in labels, and entities with a `#`.
fn mermaid_text(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' | '#' | '<' | '>' | '&' | '`' | '\\' | '*' | '_' | '[' | ']' | '{' | '}' | '|' | ';'
            | '%' => {
                let _ = write!(out, "#{};", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}
