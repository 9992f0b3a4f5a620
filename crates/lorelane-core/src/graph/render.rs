//! Exports the graph for Graphviz, for Mermaid and as JSON. Titles and paths are untrusted text and are escaped
//! for each format.

use super::{Graph, NodeId};
use crate::memory::Address;
use crate::text::{cut, one_line};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The maximum length of a label, in characters.
const LABEL_MAX: usize = 60;

impl Graph {
    /// The graph in Graphviz DOT.
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

    /// The graph in Mermaid. Node ids are numbers, because Mermaid does not accept paths as ids.
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

    fn node<'g>(&'g self, id: &'g NodeId) -> GraphNode<'g> {
        let fields = match id {
            NodeId::Memory(address) => {
                let entry = &self.memories[address];
                let (category, status) = (entry.kind.name(), entry.status.name());
                NodeFields::Memory { title: &entry.title, category, status }
            }
            NodeId::Ghost(path) => NodeFields::Ghost { target: path },
            NodeId::Tag(name) => NodeFields::Tag { tag: name },
        };
        GraphNode { id: id.to_string(), fields }
    }
}

#[derive(Serialize)]
struct GraphDocument<'g> {
    nodes: Vec<GraphNode<'g>>,
    edges: Vec<GraphEdge<'g>>,
}

#[derive(Serialize)]
struct GraphNode<'g> {
    id: String,
    #[serde(flatten)]
    fields: NodeFields<'g>,
}

#[derive(Serialize)]
#[serde(tag = "sort", rename_all = "lowercase")]
enum NodeFields<'g> {
    Memory { title: &'g str, category: &'static str, status: &'static str },
    Ghost { target: &'g str },
    Tag { tag: &'g str },
}

#[derive(Serialize)]
struct GraphEdge<'g> {
    from: &'g Address,
    to: String,
    edge: &'static str,
    anchor: Option<&'g str>,
    context: &'g str,
}

impl Serialize for Graph {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ids = self.nodes();
        let edges = self.relations.iter().map(|relation| GraphEdge {
            from: &relation.from,
            to: relation.to.to_string(),
            edge: relation.kind.name(),
            anchor: relation.anchor.as_deref(),
            context: &relation.context,
        });
        let nodes = ids.iter().map(|id| self.node(id)).collect();
        GraphDocument { nodes, edges: edges.collect() }.serialize(serializer)
    }
}

fn dot_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Escapes as `#NUMBER;` entities: Mermaid interprets Markdown and HTML in labels.
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
