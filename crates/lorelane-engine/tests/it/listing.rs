//! The listing is spliced instead of being written from all rows, and nobody can tell.

use crate::store::Temp;
use lorelane_core::change::{Assignment, Change, Draft, Plan};
use lorelane_core::lifecycle::LifecycleVerb;
use lorelane_core::memory::{Address, Category};
use lorelane_core::time::Timestamp;
use lorelane_engine::env::Env;
use lorelane_engine::index::{Index, Rebuild};
use lorelane_engine::workspace::{self, Workspace};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

struct Project(Temp);

impl Project {
    fn new() -> Project {
        let project = Project(Temp::new());
        fs::create_dir(project.0.0.join("project")).unwrap();
        workspace::init(&project.env(), &project.env().cwd).unwrap();
        project
    }

    fn env(&self) -> Env {
        let home = self.0.0.join("home").to_str().unwrap().to_owned();
        let vars = BTreeMap::from([("LORELANE_HOME".to_owned(), home)]);
        Env { now: Timestamp(1_772_000_000), cwd: self.0.0.join("project"), vars }
    }

    fn open(&self) -> Workspace {
        Workspace::open(&self.env(), &self.env().cwd).unwrap()
    }

    fn memories(&self) -> PathBuf {
        self.0.0.join("project/.claude/memory")
    }

    fn file(&self) -> PathBuf {
        self.memories().join("index.md")
    }

    fn listing(&self) -> String {
        fs::read_to_string(self.file()).unwrap_or_default()
    }

    /// The listing from all rows, by another connection.
    fn rebuilt(&self, header: &str) -> String {
        let mut lanes = fs::read_dir(self.0.0.join("home/cache/lanes")).unwrap();
        let index = Index::open(&lanes.next().unwrap().unwrap().path().join("index.db")).unwrap();
        index.listing(header).unwrap()
    }
}

/// Titles whose order differs from that of their file names, and which sort before, between and after one another.
const TITLES: [&str; 8] =
    ["Zebra", "apple", "Apple pie", "Éclair", "zebra crossing", "- [DECISION] a -> b", "認証", "m"];
const CATEGORIES: [(Category, &str); 2] = [
    (Category::Decision, r#"{"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]}"#),
    (
        Category::TechDebt,
        r#"{"status": "open", "priority": "high", "description": "d", "reason_deferred": "r"}"#,
    ),
];

fn record(category: usize, name: &str, title: &str) -> String {
    let (category, content) = CATEGORIES[category];
    format!(
        r#"{{"schema_version": "1.0", "category": "{category}", "id": "{name}", "title": "{title}",
 "record_status": "active", "created_at": "2026-02-01T00:00:00Z", "updated_at": "2026-02-01T00:00:00Z",
 "tags": ["made"], "changes": [], "content": {content}}}
"#
    )
}

#[derive(Clone, Debug)]
enum Act {
    Create(usize, u8, &'static str),
    CreateTwo(usize, u8, &'static str),
    /// Also renames the file where the title decides its name.
    Retitle(usize, u8, &'static str),
    Rename(usize, u8, u8),
    Retag(usize, u8),
    /// Changes the file and not its line.
    Rewrite(usize, u8),
    Step(usize, u8, LifecycleVerb),
    Undo,
    /// Somebody writes a memory without asking lorelane.
    ByHand(usize, u8, &'static str),
    SwapLines,
    /// The file keeps its size.
    EditListing,
    RemoveListing,
    Reindex,
    Reopen,
}

fn any_act() -> impl Strategy<Value = Act> {
    let at = || (0..2usize, 0..6u8);
    let title = || prop::sample::select(TITLES.to_vec());
    let verb = prop::sample::select(vec![
        LifecycleVerb::Retire,
        LifecycleVerb::Archive,
        LifecycleVerb::Restore { from: None },
        LifecycleVerb::Delete,
    ]);
    prop_oneof![
        6 => (at(), title()).prop_map(|((category, name), title)| Act::Create(category, name, title)),
        2 => (at(), title()).prop_map(|((category, name), title)| Act::CreateTwo(category, name, title)),
        4 => (at(), title()).prop_map(|((category, name), title)| Act::Retitle(category, name, title)),
        2 => (at(), 0..9u8).prop_map(|((category, name), to)| Act::Rename(category, name, to)),
        2 => at().prop_map(|(category, name)| Act::Retag(category, name)),
        2 => at().prop_map(|(category, name)| Act::Rewrite(category, name)),
        4 => (at(), verb).prop_map(|((category, name), verb)| Act::Step(category, name, verb)),
        2 => Just(Act::Undo),
        1 => (at(), title()).prop_map(|((category, name), title)| Act::ByHand(category, name, title)),
        1 => Just(Act::SwapLines),
        1 => Just(Act::EditListing),
        1 => Just(Act::RemoveListing),
        1 => Just(Act::Reindex),
        2 => Just(Act::Reopen),
    ]
}

fn address(category: usize, name: u8) -> Address {
    Address::record(CATEGORIES[category].0, &format!("m{name}"))
}

/// Does it, and returns whether a change was committed.
fn perform(project: &Project, workspace: &mut Workspace, act: &Act) -> bool {
    let mut commit = |changes: Vec<Change>| {
        let receipt = workspace.commit(&Plan { changes, because: "a test".to_owned() });
        receipt.is_ok_and(|receipt| receipt.number.is_some())
    };
    let create = |category: usize, name: u8, title: &str| Change::Create {
        address: address(category, name),
        text: record(category, &format!("m{name}"), title),
    };
    let revise = |category: usize, name: u8, draft| {
        vec![Change::Revise { address: address(category, name), expects: None, draft }]
    };
    let set = |path: &str, value: &str| Draft::Partial {
        from: None,
        set: vec![Assignment { path: path.to_owned(), value: value.to_owned() }],
        add_tags: Vec::new(),
        because: None,
    };
    let edit = |edited: fn(&mut Vec<String>)| {
        let mut lines: Vec<String> = project.listing().lines().map(str::to_owned).collect();
        edited(&mut lines);
        fs::write(project.file(), lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        false
    };
    match *act {
        Act::Create(category, name, title) => commit(vec![create(category, name, title)]),
        Act::CreateTwo(category, name, title) => {
            commit(vec![create(category, name, title), create(1 - category, name + 1, title)])
        }
        Act::Retitle(category, name, title) => commit(revise(category, name, set("title", title))),
        Act::Rename(category, name, to) => {
            commit(revise(category, name, Draft::Renamed { to: address(category, to) }))
        }
        Act::Retag(category, name) => {
            let add_tags = vec!["other".to_owned()];
            let draft = Draft::Partial { from: None, set: Vec::new(), add_tags, because: None };
            commit(revise(category, name, draft))
        }
        Act::Rewrite(category, name) => {
            let field = ["content.context", "content.description"][category];
            let text = format!("another text after {}", project.listing().len());
            commit(revise(category, name, set(field, &text)))
        }
        Act::Step(category, name, verb) => commit(vec![Change::Transition {
            address: address(category, name),
            verb,
            reason: "a test".to_owned(),
        }]),
        Act::Undo => workspace.changes().undo().is_ok(),
        Act::ByHand(category, name, title) => {
            let path = project.memories().join(CATEGORIES[category].0.folder()).join(format!("m{name}.json"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, record(category, &format!("m{name}"), title)).unwrap();
            false
        }
        Act::SwapLines => edit(|lines| {
            if lines.len() > 5 {
                lines.swap(4, 5);
            }
        }),
        Act::EditListing => edit(|lines| {
            if let Some(line) = lines.last_mut().filter(|line| line.starts_with("- [")) {
                *line = line.replace("made", "mode");
            }
        }),
        Act::RemoveListing => {
            let _ = fs::remove_file(project.file());
            false
        }
        Act::Reindex => {
            workspace.maintenance().reindex(Rebuild::Changed).unwrap();
            true
        }
        Act::Reopen => {
            *workspace = project.open();
            false
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn after_any_change_the_listing_is_the_one_of_all_rows(acts in prop::collection::vec(any_act(), 1..30)) {
        let project = Project::new();
        let mut workspace = project.open();
        for act in &acts {
            if perform(&project, &mut workspace, act) {
                let listing = project.listing();
                let header_end = listing.find("-->\n\n").unwrap() + "-->\n\n".len();
                prop_assert_eq!(&project.rebuilt(&listing[..header_end]), &listing, "{:?}", act);
            }
        }
    }
}

#[test]
fn a_listing_is_written_again_only_if_a_line_changed_or_it_was_edited() {
    let project = Project::new();
    let mut workspace = project.open();
    for act in [Act::Create(0, 0, "Zebra"), Act::Create(0, 1, "apple")] {
        assert!(perform(&project, &mut workspace, &act));
    }
    let written_at = || fs::metadata(project.file()).unwrap().modified().unwrap();
    let (before, first) = (project.listing(), written_at());
    assert!(perform(&project, &mut workspace, &Act::Rewrite(0, 0)));
    assert_eq!(written_at(), first, "no line changed");
    for (number, act) in (1..).zip([Act::SwapLines, Act::EditListing, Act::RemoveListing]) {
        perform(&project, &mut workspace, &act);
        assert_ne!(project.listing(), before, "{act:?}");
        let text = format!("text {number}");
        let set = vec![Assignment { path: "content.context".to_owned(), value: text }];
        let draft = Draft::Partial { from: None, set, add_tags: Vec::new(), because: None };
        let change = Change::Revise { address: address(0, 1), expects: None, draft };
        workspace.commit(&Plan { changes: vec![change], because: "a test".to_owned() }).unwrap();
        assert_eq!(project.listing(), before, "{act:?}");
    }
}
