//! How memories, ghosts and tags hang together, from texts to edges.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use expect_test::{Expect, expect};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::dialect::Dialect;
use lorelane_core::dialect::notes::Notes;
use lorelane_core::graph::{Graph, MemoryLink, Names, NodeId, RelationReason, Scope, related};
use lorelane_core::json::{JsonFormat, to_string};
use lorelane_core::lifecycle::Status;
use lorelane_core::mark::{Mark, MarkKind, Marks};
use lorelane_core::memory::Address;
use lorelane_core::memory::link::{Edge, LinkTarget, links_of};
use lorelane_core::path::RelPath;
use lorelane_core::time::Timestamp;
use proptest::prelude::*;

/// Notes by their names, as their files would be read.
fn bank(notes: &[(&str, &str)]) -> (Vec<MemorySummary>, Vec<MemoryLink>) {
    let (mut entries, mut links) = (Vec::new(), Vec::new());
    for (name, text) in notes {
        let path = RelPath::parse(&format!("{name}.md")).unwrap();
        let memory = Notes.read(&path, text.as_bytes().to_vec()).memory.unwrap();
        links.extend(links_of(&memory).map(|link| MemoryLink { from: memory.address.clone(), link }));
        entries.push(MemorySummary::of(&memory, &path));
    }
    (entries, links)
}

fn graph(notes: &[(&str, &str)]) -> Graph {
    let (entries, links) = bank(notes);
    Graph::new(entries, &links, &Marks::default(), |entry| Scope::Active.has(entry.status))
}

fn note(name: &str) -> Address {
    Address::note(name).unwrap()
}

fn check(graph: &Graph, expected: &Expect) {
    let lines = graph.relations.iter().map(|relation| {
        let anchor = relation.anchor.as_ref().map(|anchor| format!(" at {anchor}")).unwrap_or_default();
        format!("{} {} {}{anchor}\n", relation.from, relation.kind.name(), relation.to)
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn a_link_leads_to_a_memory_or_to_a_ghost_however_it_is_written() {
    let graph = graph(&[
        ("base", "---\ntags: [Auth, auth, B]\n---\nText."),
        (
            "plan",
            "---\ntags: auth\n---\nIt replaces [[base]]. We fix [[./src/auth.py#L3|the file]]. See [[src/Auth.py]] too.",
        ),
        ("deep/er/login", "This extends [[Plan]] and needs [[memory:base]]. Nothing is in [[memory:lost]]."),
        ("other", "It contradicts [[login]], [[deep/er/login.md]] and [[login.md]]."),
    ]);
    check(
        &graph,
        &expect![[r#"
            notes/base HAS_TAG tag:auth
            notes/base HAS_TAG tag:b
            notes/deep/er/login EXTENDS notes/plan
            notes/deep/er/login DEPENDS_ON notes/base
            notes/deep/er/login RELATED_TO ghost:notes/lost
            notes/other CONTRADICTS notes/deep/er/login
            notes/other related_to ghost:login.md
            notes/plan SUPERSEDES notes/base
            notes/plan debugs ghost:src/auth.py at L3
            notes/plan mentions ghost:src/auth.py
            notes/plan HAS_TAG tag:auth
        "#]],
    );
}

#[test]
fn a_name_that_two_memories_have_means_neither_unless_it_is_written_just_so() {
    let addresses = ["a/login", "b/login", "Case", "case", "one"].map(note);
    let names = Names::new(addresses.iter(), &Marks::default());
    let table = [
        ("login", None),
        ("a/Login", Some("notes/a/login")),
        ("notes/b/login", Some("notes/b/login")),
        ("Case", Some("notes/Case")),
        ("case", Some("notes/case")),
        ("CASE", None),
        ("ONE", Some("notes/one")),
        ("one.md", Some("notes/one")),
        ("src/one", None),
        ("memory:ONE", Some("notes/one")),
    ];
    for (written, expected) in table {
        let found = names.resolve(&LinkTarget::parse(written).unwrap());
        assert_eq!(found.map(ToString::to_string).as_deref(), expected, "{written}");
    }
}

#[test]
fn a_renamed_memory_keeps_its_links_and_a_newcomer_takes_its_own() {
    let alias = |from: &str, to: &str| {
        let kind = MarkKind::Alias { to: note(to) };
        Mark { address: note(from), revision: None, at: Timestamp(0), kind }.line()
    };
    let marks = Marks::read(format!("{}{}", alias("old", "older/mid"), alias("older/mid", "new")).as_bytes());
    let resolve = |known: &[Address], written: &str| {
        let names = Names::new(known.iter(), &marks);
        names.resolve(&LinkTarget::parse(written).unwrap()).map(ToString::to_string)
    };
    for written in ["old", "notes/old", "older/mid", "MID", "new"] {
        assert_eq!(resolve(&[note("new")], written).as_deref(), Some("notes/new"), "{written}");
        let key = LinkTarget::parse(written).unwrap().key();
        assert!(Names::keys(&note("new"), &marks).contains(&key), "{written}");
    }
    assert_eq!(resolve(&[note("new"), note("old")], "old").as_deref(), Some("notes/old"));
    assert_eq!(resolve(&[], "old"), None);
}

#[test]
fn what_is_not_active_says_nothing_and_is_still_spoken_of() {
    let notes = [
        ("new", "It supersedes [[old]]."),
        ("old", "---\nstatus: archived\n---\nIt supersedes [[oldest]]."),
        ("oldest", "Text."),
        (".trash/gone_20250110_143022", "It supersedes [[new]]."),
    ];
    let (entries, links) = bank(&notes);
    let of = |scope: Scope| {
        Graph::new(entries.clone(), &links, &Marks::default(), |entry| scope.has(entry.status))
    };
    let (active, all) = (of(Scope::Active), of(Scope::All));
    assert_eq!(active.reached(&note("new"), Edge::Supersedes), [note("new"), note("old")]);
    assert_eq!(active.memories[&note("old")].status, Status::Archived);
    assert_eq!(all.reached(&note("new"), Edge::Supersedes), [note("new"), note("old"), note("oldest")]);
    assert_eq!(all.to(&NodeId::Memory(note("new"))).count(), 0);
}

#[test]
fn cycles_end() {
    let graph = graph(&[
        ("a", "It depends on [[b]]."),
        ("b", "It depends on [[c]], it depends on [[b]]."),
        ("c", "It depends on [[a]]."),
    ]);
    for from in ["a", "b", "c"] {
        let mut reached = graph.reached(&note(from), Edge::DependsOn);
        assert_eq!(reached[0], note(from));
        reached.sort();
        assert_eq!(reached, ["a", "b", "c"].map(note));
    }
    assert!(related(&graph, &note("b"), &[], 9).iter().all(|found| found.address != note("b")));
}

#[test]
fn tags_lead_further_than_one_step() {
    let graph = graph(&[
        ("a", "---\ntags: [auth, web]\n---\nx"),
        ("b", "---\ntags: [Web, css]\n---\nx"),
        ("c", "---\ntags: [css]\n---\nx"),
        ("d", "---\ntags: [auth, web, db]\n---\nx"),
    ]);
    let cluster = |tag: &str, depth: usize| -> Vec<(String, usize)> {
        graph.tag_cluster(tag, depth).into_iter().map(|(a, far)| (a.name().to_owned(), far)).collect()
    };
    let named =
        |names: &[(&str, usize)]| names.iter().map(|(n, far)| ((*n).to_owned(), *far)).collect::<Vec<_>>();
    assert_eq!(cluster("AUTH", 1), named(&[("a", 1), ("d", 1)]));
    assert_eq!(cluster("auth", 3), named(&[("a", 1), ("d", 1), ("b", 2), ("c", 3)]));
    assert_eq!(cluster("none", 3), []);
    assert_eq!(graph.related_tags("Auth"), [("web", 2), ("db", 1)]);
    assert_eq!(graph.tag_pairs()[&("auth", "web")], 2);
    assert_eq!(graph.tagged()["css"].len(), 2);
}

#[test]
fn related_memories_come_with_their_reasons() {
    let graph = graph(&[
        ("asked", "---\ntags: [auth]\n---\nIt extends [[base]] in [[src/a.rs]]."),
        ("base", "Text."),
        ("later", "It replaces [[asked]]."),
        ("file", "See [[src/A.rs]]."),
        ("tag", "---\ntags: [auth]\n---\nText."),
        ("else", "See [[src/b.rs]]."),
    ]);
    let found = related(&graph, &note("asked"), &[(note("else"), 0.75), (note("tag"), 0.6)], 9);
    let lines = found.iter().map(|found| {
        let reasons = found.reasons.iter().map(|reason| match reason {
            RelationReason::LinksTo { edge, .. } => format!("it {}", edge.name()),
            RelationReason::LinkedFrom { edge, .. } => format!("{} it", edge.name()),
            RelationReason::File(path) => path.clone(),
            RelationReason::Tag(tag) => format!("#{tag}"),
            RelationReason::Meaning(cosine) => format!("{cosine:.2}"),
        });
        format!("{} {:.2}: {}\n", found.address, found.points, reasons.collect::<Vec<_>>().join(", "))
    });
    expect![[r#"
        notes/base 1.00: it EXTENDS
        notes/later 1.00: SUPERSEDES it
        notes/tag 0.90: #auth, 0.60
        notes/else 0.75: 0.75
        notes/file 0.50: src/a.rs
    "#]]
    .assert_eq(&lines.collect::<String>());
    assert_eq!(related(&graph, &note("asked"), &[], 1).len(), 1);
}

/// A title that would leave its label in each of the languages.
const HOSTILE: &str =
    "---\ntitle: 'a\"] --> x; <b>#quot;\\'\ntags: ['t\"];x']\n---\nSee [[src/\"; evil --> <x>.py]].";

#[test]
fn foreign_text_stays_in_its_label() {
    let graph = graph(&[("h", HOSTILE), ("plan", "It replaces [[h]].")]);
    expect![[r##"
        digraph memories {
          rankdir=LR;
          "notes/h" [label="a\"] --> x; <b>#quot;\\", shape=box];
          "notes/plan" [label="plan", shape=box];
          "ghost:src/\"; evil --> <x>.py" [label="src/\"; evil --> <x>.py", shape=note];
          "tag:t\"];x" [label="#t\"];x", shape=ellipse];
          "notes/h" -> "ghost:src/\"; evil --> <x>.py" [label="mentions"];
          "notes/h" -> "tag:t\"];x" [label="HAS_TAG"];
          "notes/plan" -> "notes/h" [label="SUPERSEDES"];
        }
    "##]]
    .assert_eq(&graph.to_dot());
    expect![[r##"
        flowchart LR
          n0["a#34;#93; --#62; x#59; #60;b#62;#35;quot#59;#92;"]
          n1["plan"]
          n2[/"src/#34;#59; evil --#62; #60;x#62;.py"/]
          n3(["#35;t#34;#93;#59;x"])
          n0 -->|mentions| n2
          n0 -->|HAS_TAG| n3
          n1 -->|SUPERSEDES| n0
    "##]]
    .assert_eq(&graph.to_mermaid());
    expect![[r#"
        {
          "nodes": [
            {
              "id": "notes/h",
              "sort": "memory",
              "title": "a\"] --> x; <b>#quot;\\",
              "category": "journal",
              "status": "active"
            },
            {
              "id": "notes/plan",
              "sort": "memory",
              "title": "plan",
              "category": "journal",
              "status": "active"
            },
            {
              "id": "ghost:src/\"; evil --> <x>.py",
              "sort": "ghost",
              "target": "src/\"; evil --> <x>.py"
            },
            {
              "id": "tag:t\"];x",
              "sort": "tag",
              "tag": "t\"];x"
            }
          ],
          "edges": [
            {
              "from": "notes/h",
              "to": "ghost:src/\"; evil --> <x>.py",
              "edge": "mentions",
              "anchor": null,
              "context": "See [[src/\"; evil --> <x>.py]]."
            },
            {
              "from": "notes/h",
              "to": "tag:t\"];x",
              "edge": "HAS_TAG",
              "anchor": null,
              "context": ""
            },
            {
              "from": "notes/plan",
              "to": "notes/h",
              "edge": "SUPERSEDES",
              "anchor": null,
              "context": "It replaces [[h]]."
            }
          ]
        }"#]]
    .assert_eq(&to_string(&graph, JsonFormat::FILE));
}

proptest! {
    #[test]
    fn any_text_makes_a_sound_graph(texts in prop::collection::vec("(\\[\\[|\\]\\]|[abc/.#|\"\\\\\n é]|memory:|notes/|replaces ){0,12}", 1..5)) {
        let notes: Vec<(String, String)> =
            texts.into_iter().enumerate().map(|(at, text)| (["a", "b", "c/a", "d"][at].to_owned(), text)).collect();
        let notes: Vec<(&str, &str)> = notes.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let (entries, links) = bank(&notes);
        let names = Names::new(entries.iter().map(|entry| &entry.address), &Marks::default());
        for linked in &links {
            if let Some(address) = names.resolve(&linked.link.target) {
                prop_assert!(Names::keys(address, &Marks::default()).contains(&linked.link.target.key()));
            }
        }
        let graph = graph(&notes);
        for relation in &graph.relations {
            prop_assert!(graph.memories.contains_key(&relation.from));
            let known = match &relation.to {
                NodeId::Memory(address) => graph.memories.contains_key(address),
                NodeId::Ghost(path) => graph.ghosts.contains(path),
                NodeId::Tag(name) => graph.tags.contains(name),
            };
            prop_assert!(known, "{}", relation.to);
        }
        let nodes = graph.memories.len() + graph.ghosts.len() + graph.tags.len();
        prop_assert_eq!(graph.to_mermaid().lines().count(), 1 + nodes + graph.relations.len());
        prop_assert_eq!(graph.to_dot().lines().count(), 3 + nodes + graph.relations.len());
    }
}
