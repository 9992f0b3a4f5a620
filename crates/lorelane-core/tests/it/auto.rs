//! Claude Code's memory folder: its files, its index, and what the client loads of it.

use crate::support::{DialectOnTexts, NOW, put, write_context};
use lorelane_core::change::{Assignment, Draft};
use lorelane_core::dialect::Dialect;
use lorelane_core::dialect::auto::{
    Auto, IndexLineKind, MemoryIndex, entry_line, load_index, split_standalone, tidied,
};
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::{Address, AutoType, Memory, MemoryKind};
use lorelane_core::path::RelPath;
use lorelane_core::refusal::Refusal;
use proptest::prelude::*;

fn path(text: &str) -> RelPath {
    RelPath::parse(text).expect("a path")
}

fn read(file: &str, text: &str) -> (Option<Memory>, Vec<String>) {
    let read = Auto::default().read(&path(file), text.as_bytes().to_vec());
    (read.memory, read.problems.into_iter().map(|problem| problem.what).collect())
}

fn topic(text: &str) -> Memory {
    read("topic.md", text).0.expect("a memory")
}

#[test]
fn both_shapes_of_frontmatter_are_read() {
    let nested = "---\nname: x\ndescription: \"Quoted: yes\"\nmetadata: \n  node_type: memory\n  type: feedback\n  modified: 2026-01-02T03:04:05.678Z\n---\nBody\n";
    let flat = "---\nname: x\ndescription: Quoted\ntype: user\n---\nBody\n";
    let kinds = [
        (nested, "Quoted: yes", AutoType::Feedback),
        (flat, "Quoted", AutoType::User),
        (
            "---\nname: x\ndescription: >-\n  folded\n  text\ntype: Project\n---\nBody",
            "folded text",
            AutoType::Project,
        ),
        ("---\nname: x\ndescription: y\nmetadata: {type: reference}\n---\nBody", "y", AutoType::Reference),
        ("---\r\nname: x\r\ndescription: y\r\ntype: value\r\n---\r\nBody", "y", AutoType::Value),
        (
            "---\nname: x\ndescription: y\nmetadata:\n  type: feedback\n  kind: value\n---\nBody",
            "y",
            AutoType::Value,
        ),
        ("---\nname: x\ndescription: y\ntype: insight\n---\nBody", "y", AutoType::Unknown),
    ];
    for (text, title, kind) in kinds {
        let (memory, problems) = read("topic.md", text);
        let memory = memory.expect("a memory");
        assert_eq!((memory.title.as_str(), memory.kind), (title, MemoryKind::Auto(kind)), "{text}");
        assert_eq!(problems, [""; 0], "{text}");
    }
    let dated = topic(nested);
    assert_eq!(dated.updated.map(|at| at.to_string()).as_deref(), Some("2026-01-02T03:04:05Z"));
    let keys: Vec<&str> = dated.extra.iter().map(|(key, _)| key).collect();
    assert_eq!(keys, ["name", "metadata.node_type", "metadata.modified"]);
}

#[test]
fn what_is_missing_or_broken_is_reported_and_read_as_unknown() {
    let table: [(&str, &[&str]); 8] = [
        ("Body\n", &["no frontmatter"]),
        ("---\ndescription: y\ntype: user\n---\nBody", &["`name` is missing"]),
        ("---\nname: x\n---\nBody", &["`description` is missing", "`type` is missing"]),
        ("---\ndescription: y\nname:nospace\ntype: user\n---\nBody", &["not a key", "`name` is missing"]),
        ("---\nname:nospace\n---\nBody", &["not a list of keys", "no frontmatter"]),
        ("---\nname: x\ntype: user\n\nnever closed\n", &["never closed", "no frontmatter"]),
        ("\u{feff}---\nname: x\ndescription: y\ntype: user\n---\nBody", &["byte-order mark"]),
        ("---\nname: x\ndescription: y\ntype: user\n---\n<<<<<<< a\n=======\n>>>>>>> b\n", &["conflict"]),
    ];
    for (text, expected) in table {
        let (memory, problems) = read("topic.md", text);
        let found = |part: &&str| problems.iter().any(|problem| problem.contains(part));
        assert!(expected.iter().all(found), "{text:?}: {problems:?}");
        let memory = memory.expect("it is read all the same");
        let untyped = problems.iter().any(|problem| problem.contains("type"));
        assert_eq!(memory.kind == MemoryKind::Auto(AutoType::Unknown), untyped, "{text:?}");
    }
    let latin = Auto::default().read(&path("topic.md"), b"---\nname: caf\xe9\n---\nBody".to_vec());
    assert!(latin.memory.is_none() && latin.problems[0].what.contains("UTF-8"), "{latin:?}");
}

#[test]
fn a_malformed_file_is_never_written() {
    for text in ["---\nname: x\ntype: user\n\nnever closed\n", "---\nname:nospace\ntype: user\n---\nBody"] {
        let address = Address::auto("topic").unwrap();
        let draft = Draft::Append { text: "more".to_owned() };
        let refused = Auto::default().compose_text(&address, Some(text), &draft, &write_context());
        assert!(matches!(refused, Err(Refusal::Unreadable { .. })), "{text}: {refused:?}");
    }
}

#[test]
fn the_three_layouts() {
    let table = [
        ("an index", "# Memory\n\n- [A](a.md) — a\n- [B](b.md): b\n", None),
        ("an index with a sentence", "# Memory\n\nOne line per memory.\n\n- [A](a.md) — a\n", None),
        ("only headings", "# Memory\n\n## Later\n", None),
        ("empty", "", None),
        ("standalone", "# Memory\n\nUse pnpm.\n\n## Build\n- Run `make`\n", Some("Memory")),
        ("prose with a link", "Use pnpm.\nRun make.\n- [Docs](docs/x.md)\n", Some("MEMORY")),
    ];
    for (name, text, title) in table {
        let (memory, problems) = read("MEMORY.md", text);
        assert_eq!(memory.as_ref().map(|memory| memory.title.as_str()), title, "{name}");
        assert!(memory.is_none_or(|memory| memory.kind == MemoryKind::Auto(AutoType::Unknown)), "{name}");
        assert_eq!(problems, [""; 0], "{name}");
    }
}

#[test]
fn the_archive_is_out_of_use_and_hidden_files_are_nothing() {
    let text = "---\nname: x\ndescription: y\ntype: user\n---\nBody";
    let status = |file: &str| read(file, text).0.map(|memory| memory.lifecycle.status());
    assert_eq!(status("sub/topic.md"), Some(Status::Active));
    assert_eq!(status("archive/topic.md"), Some(Status::Archived));
    assert_eq!(status("archive/sub/topic.md"), Some(Status::Archived));
    assert_eq!(status(".hidden/topic.md"), None);
    let dialect = Auto { shares_records: true };
    assert!(!dialect.is_memory_name("index.md") && Auto::default().is_memory_name("index.md"));
    let [topic, taken] = ["topic", "archive/topic"].map(|name| Address::auto(name).unwrap());
    let free = dialect.archived_to(&topic, NOW, &|_| false).unwrap();
    assert_eq!(free.to_string(), "auto/archive/topic");
    let other = dialect.retired_to(&topic, NOW, &|address| *address == taken).unwrap();
    assert_eq!(other.to_string(), "auto/archive/topic_20260101_000000");
    assert_eq!(
        [free, other].map(|address| dialect.restored_to(&address)),
        [Some(topic.clone()), Some(topic)]
    );
}

#[test]
fn a_new_memory_has_the_shape_that_the_client_writes() {
    let create = |draft: &str| {
        let address = Address::auto("use-pnpm").unwrap();
        let composed = Auto::default().compose_text(
            &address,
            None,
            &Draft::Whole(draft.to_owned()),
            &write_context(),
        )?;
        Ok(put(&Auto::default(), composed.base_text.as_deref(), None, Some(&composed.memory)))
    };
    let plain: Result<String, Refusal> = create("Use pnpm here.\n\n**Why:** the lock file.");
    assert_eq!(
        plain.unwrap(),
        "---\nname: use-pnpm\ndescription: \"Use pnpm here.\"\nmetadata:\n  node_type: memory\n  type: project\n---\n\nUse pnpm here.\n\n**Why:** the lock file.\n"
    );
    let value = create("---\ndescription: Clear beats clever\ntype: value\nx: 1 # mine\n---\nClear code.");
    assert_eq!(
        value.unwrap(),
        "---\ndescription: Clear beats clever\nx: 1 # mine\nname: use-pnpm\nmetadata:\n  node_type: memory\n  type: feedback\n  kind: value\n---\nClear code.\n"
    );
    for bad in ["---\ntype: insight\n---\nx", "---\ntype: user\n---\n", "---\nname: x\nnever closed"] {
        assert!(create(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_revision_keeps_what_the_client_wrote() {
    let old = "---\nname: x # id\ndescription: 'old'\nmetadata: \n  node_type: memory\n  type: user\n  originSessionId: 1-2\n  modified: 2026-01-01T00:00:00.000Z\n---\n\nBody\n";
    let revise = |draft: Draft| {
        let address = Address::auto("topic").unwrap();
        let composed = Auto::default().compose_text(&address, Some(old), &draft, &write_context())?;
        Ok::<_, Refusal>(composed.base_text.unwrap_or_else(|| old.to_owned()))
    };
    let set = |path: &str, value: &str| Draft::Partial {
        from: None,
        set: vec![Assignment { path: path.to_owned(), value: value.to_owned() }],
        add_tags: Vec::new(),
        because: None,
    };
    let table = [
        (Draft::Append { text: "More".to_owned() }, old.replace("Body\n", "Body\n\nMore\n")),
        (set("description", "new"), old.replace("'old'", "'new'")),
        (
            set("type", "value"),
            old.replace("type: user", "type: feedback").replace(".000Z\n", ".000Z\n  kind: value\n"),
        ),
        (Draft::Whole("New body".to_owned()), old.replace("Body", "New body")),
        (
            Draft::Whole("---\ndescription: new\n---\nNew body".to_owned()),
            old.replace("'old'", "'new'").replace("Body", "New body"),
        ),
    ];
    for (draft, expected) in table {
        assert_eq!(revise(draft.clone()).unwrap(), expected, "{draft:?}");
    }
    for refused in
        [set("modified", "x"), set("metadata.originSessionId", "x"), set("type", "other"), set("tags", "a")]
    {
        assert!(revise(refused.clone()).is_err(), "{refused:?}");
    }
}

#[test]
fn an_entry_is_a_list_item_that_links_a_file_below() {
    let table = [
        ("- [Title](file.md) — hook", Some(("Title", "file.md", "hook"))),
        ("- [file.md](file.md) – hook", Some(("file.md", "file.md", "hook"))),
        ("* [T](./sub/f.md): a - b", Some(("T", "sub/f.md", "a - b"))),
        ("  - [T](f%20g.md) - hook", Some(("T", "f g.md", "hook"))),
        ("- [T](<f g.md>)", Some(("T", "f g.md", ""))),
        ("- [T](f.md) hook", Some(("T", "f.md", "hook"))),
        ("- [T](../f.md) — x", None),
        ("- [T](/etc/f.md) — x", None),
        ("- [T](https://x.org/f.md) — x", None),
        ("- [T](f.rs) — x", None),
        ("- [T](MEMORY.md) — x", None),
        ("[T](f.md) — x", None),
        ("-[T](f.md) — x", None),
        ("- a [T](f.md)", None),
        ("<!-- - [T](f.md) -->", None),
        ("    ```\n- [T](f.md)", None),
    ];
    for (text, expected) in table {
        let index = MemoryIndex::parse(text);
        let found = index.entries().next().map(|(_, entry)| (entry.title, entry.path.as_str(), entry.hook));
        assert_eq!(found, expected, "{text}");
    }
    let index = MemoryIndex::parse("---\nx: y\n---\n# H\n\ntext\n");
    let kinds: Vec<&IndexLineKind<'_>> = index.lines.iter().map(|line| &line.kind).collect();
    assert_eq!(kinds[2], &IndexLineKind::Stripped);
    assert_eq!(kinds[3], &IndexLineKind::Heading { level: 1, title: "H" });
    assert_eq!(kinds[5], &IndexLineKind::Text);
}

#[test]
fn a_line_is_added_after_the_last_entry_unless_it_would_be_lost() {
    let line = entry_line("A [title]\nin two", &path("a b.md"), "the\nhook");
    assert_eq!(line, "- [A title in two](a%20b.md) — the hook");
    let added = |text: &str| MemoryIndex::parse(text).with_entry("- [N](n.md) — n");
    assert_eq!(added(""), "- [N](n.md) — n\n");
    assert_eq!(added("# M\n"), "# M\n- [N](n.md) — n\n");
    assert_eq!(added("- [A](a.md)\n\n## End\n"), "- [A](a.md)\n- [N](n.md) — n\n\n## End\n");
    assert_eq!(added("- [A](a.md)"), "- [A](a.md)\n- [N](n.md) — n\n");
    assert_eq!(added("- [A](a.md)\r\n"), "- [A](a.md)\r\n- [N](n.md) — n\r\n");
    let full = format!("# M\n{}", "- [A](a.md)\n".repeat(199));
    assert!(added(&full).starts_with("# M\n- [N](n.md) — n\n- [A]"), "{}", &added(&full)[..40]);
}

#[test]
fn a_link_follows_its_file_and_a_hook_its_description() {
    let text = "- [T](old.md) — says this\n- [T](old.md) — says more\n- [U](u.md) — says this\n";
    let index = MemoryIndex::parse(text);
    assert_eq!(
        index.relinked(&path("old.md"), &path("new.md"), Some(("says this", "says that"))),
        "- [T](new.md) — says that\n- [T](new.md) — says more\n- [U](u.md) — says this\n"
    );
    assert_eq!(index.relinked(&path("gone.md"), &path("new.md"), None), text);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_removed_line_comes_back_where_it_was(
        lines in prop::collection::vec("(- \\[[A-C]\\]\\([a-c]\\.md\\)( — [a-b]{0,2})?|# [a-b]|[a-b]{0,2}|<!-- a -->)", 0..12),
        end in prop::sample::select(vec!["", "\n", "\n\n"]),
        crlf in any::<bool>(),
    ) {
        let mut text = format!("{}{end}", lines.join("\n"));
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        if let Some((without, removed)) = MemoryIndex::parse(&text).without(&path("a.md")) {
            prop_assert!(!without.contains("(a.md)"));
            let again = removed.iter().fold(without, |text, line| MemoryIndex::parse(&text).put_back(line));
            prop_assert_eq!(again, text);
        }
    }

    #[test]
    fn any_text_is_loaded_within_the_limits(text in "([ \\n]|<!--|-->|---\\n|- \\[a\\]\\(a\\.md\\)|\\PC|x{900}|😀{9}){0,60}") {
        let loaded = load_index(&text);
        prop_assert!(loaded.text.encode_utf16().count() <= 25_000);
        prop_assert!(loaded.text.split('\n').count() <= 200);
        prop_assert_eq!(loaded.warning.is_some(), loaded.lines > 200 || loaded.units > 25_000);
        MemoryIndex::parse(&text);
    }
}

/// Each row was seen in the requests of the real client.
#[test]
fn the_loader_strips_what_the_client_strips() {
    let table = [
        ("\n\n   - [A](a.md) — a\n\n\n", "- [A](a.md) — a"),
        (
            "---\nfoo: bar\n---\n# T\n<!-- one -->\n- [A](a.md) — a\n<!-- two\nthree -->\n\n- [B](b.md) — b <!-- inline -->\n  <!-- ind -->\nx\n```\n<!-- incode -->\n```\n<!-- x --> tail\nend\n",
            "# T\n- [A](a.md) — a\n- [B](b.md) — b <!-- inline -->\n  <!-- ind -->\nx\n```\n<!-- incode -->\n```\n tail\nend",
        ),
        (
            "text para\n<!-- inpara -->\nmore\n\n<!-- a --><!-- b -->\n\n\nafter\n<!-- unclosed\nrest of file\n",
            "text para\nmore\n\nafter\n<!-- unclosed\nrest of file",
        ),
        (
            "- item\n\n<!-- top -->\n\n- item2\n<!-- noblank -->\n- item3\n   <!-- three -->\n- item4\n\n    <!-- code -->\nend\n",
            "- item\n\n- item2\n- item3\n   <!-- three -->\n- item4\n\n    <!-- code -->\nend",
        ),
        ("\u{feff}---\nx: y\n---\nbody\n", "body"),
        ("---\nx: y\nbody no close\n", "---\nx: y\nbody no close"),
        ("\r\n- [A](a.md) — a\r\n<!-- c -->\r\n- [B](b.md) — b\r\n", "- [A](a.md) — a\n- [B](b.md) — b"),
        ("", ""),
    ];
    for (text, expected) in table {
        let loaded = load_index(text);
        assert_eq!((loaded.text.as_str(), loaded.warning), (expected, None), "{text:?}");
    }
    let comments = "<!-- c -->\n".repeat(50);
    let entries: String = (1..=190).map(|at| format!("- [T{at}](t{at}.md)\n")).collect();
    let loaded = load_index(&format!("{comments}{entries}"));
    assert_eq!((loaded.lines, loaded.cut_at), (190, None));
}

fn entries(count: usize, hook: &str) -> String {
    (1..=count).map(|at| format!("- [T{at}](t{at}.md) — {hook} {at}\n")).collect()
}

#[test]
fn the_loader_cuts_at_the_limits() {
    let cut_at = |text: &str| load_index(text).cut_at;
    assert_eq!(cut_at(&entries(200, "hook")), None);
    assert_eq!(cut_at(&format!("{}\n\n\n", entries(200, "hook"))), None, "trailing blank lines are free");
    assert_eq!(cut_at(&entries(201, "hook")), Some(201));
    assert_eq!(cut_at(&format!("<!-- c -->\n{}", entries(201, "hook"))), Some(202), "a line of the file");
    let units = |text: &str| load_index(text).text.encode_utf16().count();
    let table = [
        ("whole", "x".repeat(25_000), 25_000, false),
        ("hard cut", "x".repeat(25_001), 25_000, true),
        ("at the last line end", format!("{}\n{}", "x".repeat(24_000), "y".repeat(2_000)), 24_000, true),
        ("a line end right after the limit", format!("{}\ny", "x".repeat(25_000)), 25_000, true),
        ("Chinese as English", "字".repeat(25_000), 25_000, false),
        ("emoji count twice", "😀".repeat(12_501), 25_000, true),
    ];
    for (name, text, expected, warns) in table {
        assert_eq!((units(&text), load_index(&text).warning.is_some()), (expected, warns), "{name}");
    }
}

#[test]
fn the_warning_is_the_clients() {
    let ends = |text: &str, expected: &str| {
        let warning = load_index(text).warning.expect("a warning");
        let end = ". Keep index entries to one line under ~200 chars; move detail into topic files.";
        assert_eq!(warning, format!("> WARNING: MEMORY.md is {expected}{end}"));
    };
    ends(
        &entries(201, "hook"),
        "201 lines (limit: 200). Only part of it was loaded: 1 of 201 lines were cut off, starting at line 201 (\"- [T201](t201.md) — hook 201\")",
    );
    ends(
        &entries(170, &format!("{} end", "h".repeat(170))),
        &format!(
            "32.7KB (limit: 24.4KB) — index entries are too long. Only part of it was loaded: 43 of 170 lines were cut off, starting at line 128 (\"- [T128](t128.md) — {}…\")",
            "h".repeat(59)
        ),
    );
    ends(
        &entries(300, &format!("{} end", "é".repeat(170))),
        &format!(
            "300 lines and 58KB. Only part of it was loaded: 173 of 300 lines were cut off, starting at line 128 (\"- [T128](t128.md) — {}…\")",
            "é".repeat(59)
        ),
    );
    ends(
        &"x".repeat(26_000),
        "25.4KB (limit: 24.4KB) — index entries are too long. Only part of it was loaded: everything after the first 25000 characters of line 1 was cut off",
    );
}

#[test]
fn a_tidy_index_keeps_the_most_useful_entries() {
    let text = format!("# M\n\n{}", entries(200, &"h".repeat(60)));
    let useful = |path: &RelPath| i64::from(path.as_str() == "t200.md");
    let tidy = tidied(&text, &|_| false, &useful).expect("it is too long");
    let linked: Vec<String> =
        MemoryIndex::parse(&tidy.index).entries().map(|(_, e)| e.path.to_string()).collect();
    assert_eq!(linked.first().map(String::as_str), Some("m.md"), "the topic of the section comes first");
    assert_eq!(linked.last().map(String::as_str), Some("t200.md"));
    assert_eq!((load_index(&tidy.index).lines, tidy.topics.len()), (139, 1));
    assert_eq!(tidied(&entries(100, "hook"), &|_| false, &|_| 0), None);
}

#[test]
fn the_link_of_the_first_section_stays_below_frontmatter_and_comments() {
    let table = [
        ("---\nname: notes\n---\n", ""),
        ("---\nname: notes\n---\n", "\n"),
        ("<!-- one -->\n\n<!-- two\nthree -->\n", ""),
        ("", "\n"),
    ];
    for (stripped, blank) in table {
        let split = split_standalone(&format!("{stripped}{blank}Prose one.\nProse two.\n"), NOW, &|_| false);
        let link = "- [General](general.md) — Prose one. (and 1 more)\n";
        assert_eq!(split.index, format!("{stripped}{link}{blank}"));
        assert!(!MemoryIndex::parse(&split.index).is_standalone());
    }
}

#[test]
fn thousands_of_sections_with_one_title_become_a_few_hundred_topics() {
    let text = "## a\nx\n".repeat(10_000);
    let asked = std::cell::Cell::new(0);
    let taken = |path: &RelPath| {
        asked.set(asked.get() + 1);
        path.as_str() == "a-2.md"
    };
    let tidy = tidied(&text, &taken, &|_| 0).expect("it is too long");
    let split = split_standalone(&text, NOW, &taken);
    for (index, topics) in [(tidy.index, tidy.topics), (split.index, split.topics)] {
        let names: Vec<&str> = topics.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!((names.len(), names[0], names[1], names[499]), (500, "a.md", "a-3.md", "a-501.md"));
        assert_eq!(index.lines().filter(|line| *line == "x").count(), 9_500, "the rest stays");
    }
    assert!(asked.get() < 1_100, "the disk was asked {} times", asked.get());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn tidying_loses_nothing(
        above in "(---\nname: notes\n---\n)?(<!-- stripped -->\n){0,2}\n?([a-z]{1,9}\n){0,3}(<!-- stripped -->\n)?([a-z]{1,9}\n){0,3}",
        sections in prop::collection::vec(
            ("(## [A-D]{1,3}|# M)", prop::collection::vec("(- \\[[a-z]{1,9}\\]\\([a-z]{1,3}\\.md\\) — [a-z ]{0,120}|[a-z]{1,60}|### [a-z]{1,4}|)", 0..60)),
            0..7,
        ),
        crlf in any::<bool>(),
    ) {
        let lines: Vec<String> =
            sections.into_iter().flat_map(|(heading, lines)| std::iter::once(heading).chain(lines)).collect();
        let end = if crlf { "\r\n" } else { "\n" };
        let text = format!("{}{}", above.replace('\n', end), lines.join(end));
        let split = split_standalone(&text, NOW, &|_| false);
        prop_assert!(!MemoryIndex::parse(&split.index).is_standalone(), "{}", split.index);
        let Some(tidy) = tidied(&text, &|path| path.as_str() == "a.md", &|_| 0) else { return Ok(()) };
        let loaded = load_index(&tidy.index);
        prop_assert!(loaded.lines < 140 && loaded.units < 17_500, "{} lines, {} units", loaded.lines, loaded.units);
        for index in [&split.index, &tidy.index] {
            let loaded = load_index(index).text;
            prop_assert!(!loaded.contains("name: notes") && !loaded.contains("stripped"), "{}", loaded);
        }
        let all: Vec<&str> =
            std::iter::once(tidy.index.as_str()).chain(tidy.topics.iter().map(|(_, text)| text.as_str())).flat_map(str::lines).collect();
        let count = |lines: &[&str], wanted: &str| lines.iter().filter(|line| **line == wanted).count();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            prop_assert!(count(&all, line) >= count(&text.lines().collect::<Vec<_>>(), line), "{}", line);
        }
        let index = MemoryIndex::parse(&tidy.index);
        for (path, topic) in &tidy.topics {
            prop_assert!(path.as_str() != "a.md" && index.entries().any(|(_, entry)| entry.path == *path), "{}", path);
            prop_assert_eq!(read(path.as_str(), topic).1, [""; 0]);
        }
    }
}
