//! Every project of a machine from outside: found, audited, shown, and left alone.

use crate::scratch::Scratch;
use crate::terminal::Terminal;
use lorelane_core::dialect::auto::project_slug;
use lorelane_core::json::Json;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

impl Scratch {
    /// A project with sessions of Claude Code; its folder there.
    fn client_project(&self, root: &str) -> PathBuf {
        let root = self.folder.join(root);
        fs::create_dir_all(&root).unwrap();
        self.session_in(&root, &root)
    }

    /// A session that ran in `cwd`, among those of `root`.
    fn session_in(&self, root: &Path, cwd: &Path) -> PathBuf {
        let folder = self.home().join(".claude/projects").join(project_slug(root.to_str().unwrap()));
        fs::create_dir_all(folder.join("memory")).unwrap();
        let name = format!("{}.jsonl", cwd.file_name().unwrap().to_str().unwrap());
        let line = format!("{{\"type\":\"summary\"}}\n{{\"type\":\"user\",\"cwd\":\"{}\"}}\n", cwd.display());
        fs::write(folder.join(name), line).unwrap();
        folder.join("memory")
    }
}

fn topic(kind: &str, title: &str, modified: &str) -> String {
    format!(
        "---\nname: x\ndescription: {title}\nmetadata:\n  type: {kind}\n  modified: {modified}\n---\nSee `src/gone.rs`.\n"
    )
}

fn texts(document: &Json, list: &str, field: &str) -> Vec<String> {
    let list = document.at(list).and_then(Json::as_list).unwrap_or_default();
    list.iter().filter_map(|item| item.at(field)?.as_text().map(str::to_owned)).collect()
}

fn machine() -> Scratch {
    let scratch = Scratch::new();
    let api = scratch.client_project("src/api");
    fs::write(api.join("old.md"), topic("project", "The old API", "2025-12-01T00:00:00Z")).unwrap();
    fs::write(api.join("new.md"), topic("user", "The new API", "2026-02-28T00:00:00Z")).unwrap();
    let entries: String = (0..220).map(|at| format!("- [E {at}](old.md) — entry\n")).collect();
    fs::write(api.join("MEMORY.md"), entries).unwrap();
    // The same last name, and a work tree whose sessions belong to the repository.
    let other = scratch.client_project("work/api");
    fs::write(other.join("x.md"), topic("feedback", "Another API", "2026-02-01T00:00:00Z")).unwrap();
    let web = scratch.client_project("src/web");
    fs::write(web.join("MEMORY.md"), "# Web\n\nThe page is built with vite.\n").unwrap();
    let agents = scratch.home().join(".claude/agent-memory/reviewer");
    fs::create_dir_all(&agents).unwrap();
    fs::write(agents.join("a.md"), topic("feedback", "Be brief", "2026-02-01T00:00:00Z")).unwrap();
    let own = scratch.folder.join("src/web/.claude/agent-memory/tester");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("a.md"), topic("feedback", "Run vitest", "2026-02-01T00:00:00Z")).unwrap();
    let gone = scratch.client_project("src/gone");
    fs::remove_dir_all(scratch.folder.join("src/gone")).unwrap();
    fs::write(gone.join("a.md"), topic("project", "Of a project that is gone", "2026-01-01T00:00:00Z"))
        .unwrap();
    // Records of a project in which the client had sessions.
    scratch.client_project("project");
    scratch.lorelane("init").expect(0);
    scratch.decide("Use JWT");
    scratch
}

#[test]
fn a_dashboard_shows_every_store_and_writes_nothing() {
    let scratch = machine();
    let before = scratch.tree();
    let shown = scratch.json("dashboard");
    assert_eq!(texts(&shown, "projects", "name"), ["src/api", "project", "web", "work/api"]);
    assert_eq!(texts(&shown, "agents", "name"), ["agent reviewer", "agent tester in web"]);
    assert_eq!(texts(&shown, "orphans", "root"), ["~/src/gone"]);
    assert_eq!(texts(&shown, "worst", "address")[..2], ["auto/old".to_owned(), "auto/a".to_owned()]);
    let number = |path: &str| shown.at(path).and_then(Json::as_u64);
    assert_eq!(number("memories"), Some(8));
    assert_eq!(number("tokens.lost_entries"), Some(20));
    assert!(number("tokens.lost") > Some(0) && number("tokens.loaded") > number("tokens.lost"));
    let text = scratch.lorelane("dashboard").expect(0);
    assert_eq!(text.err, "");
    for part in
        ["4 projects with memories, 2 agents, 1 orphan", "src/api", "[ 98] ", ": 1 memory, was ~/src/gone"]
    {
        assert!(text.out.contains(part), "{part}: {}", text.out);
    }
    assert!(text.out.lines().all(|line| line.chars().count() <= 80), "{}", text.out);
    scratch.lorelane("audit --all-projects").expect(0);
    scratch.lorelane("audit --project web").expect(0);
    assert_eq!(scratch.tree(), before);
}

/// Transcripts are swept away after some weeks; the folder of the memories stays.
#[test]
fn a_project_without_transcripts_is_found_by_its_folder_and_by_our_own_state() {
    let scratch = Scratch::with_jwt();
    let root = scratch.project();
    let folder = scratch.home().join(".claude/projects").join(project_slug(root.to_str().unwrap()));
    fs::create_dir_all(folder.join("memory")).unwrap();
    fs::write(folder.join("memory/a.md"), topic("user", "Of here", "2026-02-01T00:00:00Z")).unwrap();
    fs::create_dir_all(scratch.folder.join("elsewhere")).unwrap();
    let known = |from: &str| {
        let said = scratch.command(&["dashboard", "--json", "-C", from]).output().unwrap();
        let shown = Json::parse(&scratch.said(&said).expect(0).out).unwrap();
        assert_eq!(texts(&shown, "orphans", "name"), [""; 0], "{from}: {shown:?}");
        assert_eq!(shown.at("memories").and_then(Json::as_u64), Some(2), "{from}: {shown:?}");
        texts(&shown, "projects", "name")
    };
    // From within, from elsewhere by the state folder, and from within without it.
    assert_eq!(known("."), ["project"]);
    assert_eq!(known("../elsewhere"), ["project"]);
    fs::remove_dir_all(scratch.home().join("state")).unwrap();
    assert_eq!(known("."), ["project"]);
    // A project that was removed is named as an orphan still.
    scratch.lorelane("pin use-jwt").expect(0);
    fs::remove_dir_all(&root).unwrap();
    let said =
        scratch.command(&["dashboard"]).current_dir(scratch.folder.join("elsewhere")).output().unwrap();
    assert!(scratch.said(&said).out.contains("1 orphan"), "{said:?}");
}

#[test]
fn columns_follow_the_terminal() {
    let scratch = Scratch::new();
    for at in 0..30 {
        let long = "a-project-with-quite-a-long-name-".repeat(4);
        let name = if at % 2 == 0 {
            format!("src/{long}{at}")
        } else {
            format!("src/日本語プロジェクト{at}")
        };
        let memory = scratch.client_project(&name);
        fs::write(memory.join("old.md"), topic("project", "An old thing", "2025-12-01T00:00:00Z")).unwrap();
    }
    for columns in [80, 160] {
        let (code, shown) = Terminal::with_width(&scratch, &["dashboard"], columns).end();
        assert_eq!(code, Some(0));
        let wide = |c: char| usize::from(u32::from(c) >= 0x2e80) + 1;
        let widths: Vec<usize> = shown.lines().map(|line| line.chars().map(wide).sum()).collect();
        assert!(widths.iter().all(|width| *width <= usize::from(columns)), "{shown}");
        let rows = shown.lines().skip_while(|line| !line.starts_with("project ")).take(21);
        let ends: Vec<usize> = rows.map(|line| line.chars().map(wide).sum()).collect();
        assert_eq!(ends, vec![usize::from(columns); 21], "{shown}");
        assert!(shown.contains("… 10 more; --all lists them"), "{shown}");
    }
}

#[test]
fn a_project_is_named_by_its_name_its_path_or_a_part() {
    let scratch = machine();
    let addresses = |name: &str| {
        let said = scratch.command(&["audit", "--json", "--all", "--project", name]).output().unwrap();
        let said = scratch.said(&said);
        match said.code {
            Some(0) => texts(&Json::parse(&said.out).unwrap(), "memories", "address").join(" "),
            _ => said.err,
        }
    };
    let path = scratch.folder.join("src/api");
    for name in ["src/api", "rc/ap", path.to_str().unwrap()] {
        assert_eq!(addresses(name), "auto/old auto/new", "{name}");
    }
    assert_eq!(addresses("."), "decision/use-jwt");
    assert_eq!(addresses("reviewer"), "auto/a");
    let several = addresses("api");
    assert!(several.contains("several projects match\nhint: name one of src/api, work/api"), "{several}");
    assert!(addresses("nothing-like-it").contains("no project has this name"), "{}", addresses("nothing"));
    // One report of all, with paths that do not depend on where one is.
    let all = scratch.json("audit --all-projects");
    assert_eq!(texts(&all, "memories", "project").len(), 8);
    let absolute = texts(&all, "memories", "path").iter().all(|path| path.starts_with("~/"));
    assert!(absolute, "{all:?}");
    let markdown = scratch.lorelane("audit --all-projects --markdown").expect(0).out;
    assert!(markdown.contains("| src/api: auto/old |"), "{markdown}");
    let sarif = Json::parse(&scratch.lorelane("audit --all-projects --sarif").expect(0).out).unwrap();
    assert_eq!(sarif.at("version").and_then(Json::as_text), Some("2.1.0"));
    scratch.lorelane("audit --all-projects --project web").expect(2);
}

#[test]
fn claims_of_other_projects_are_checked_only_when_asked() {
    let scratch = machine();
    let git = |words: &[&str]| {
        let mut words = words.to_vec();
        words.splice(0..0, ["-C", "../src/api"]);
        scratch.git(&words)
    };
    fs::create_dir_all(scratch.folder.join("src/api/src")).unwrap();
    fs::write(scratch.folder.join("src/api/src/gone.rs"), "fn gone() {}\n").unwrap();
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "x", "--date", "2025-11-01T00:00:00Z"]);
    let verdicts = |line: &str| {
        let found = scratch.json(line);
        let memories = found.at("memories").and_then(Json::as_list).unwrap().to_vec();
        let claims = memories.iter().filter_map(|memory| memory.at("claims")?.as_list());
        claims
            .flatten()
            .filter_map(|claim| claim.at("verdict")?.as_text().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    assert_eq!(verdicts("audit --project src/api"), [""; 0]);
    assert_eq!(verdicts("audit --project src/api --deep"), ["holds", "holds"]);
    // The verdicts are kept for the next audit by age.
    assert_eq!(verdicts("audit --project src/api"), ["holds", "holds"]);
}

#[test]
fn what_is_wrong_with_a_folder_is_reported_and_stops_nothing() {
    let scratch = machine();
    let projects = scratch.home().join(".claude/projects");
    let bad = scratch.client_project("src/bad");
    fs::write(bad.join("latin.md"), b"---\nname: caf\xe9\n---\nBody").unwrap();
    fs::write(
        bad.join("bom.md"),
        format!("\u{feff}{}", topic("user", "With a mark", "2026-02-01T00:00:00Z")),
    )
    .unwrap();
    fs::write(bad.join("crlf.md"), topic("user", "Of Windows", "2026-02-01T00:00:00Z").replace('\n', "\r\n"))
        .unwrap();
    fs::write(bad.join("large.md"), vec![b'x'; 50 << 20]).unwrap();
    symlink(".", bad.join("loop")).unwrap();
    symlink("/etc/passwd", bad.join("link.md")).unwrap();
    symlink("circle", projects.join("circle")).unwrap();
    symlink("nowhere", projects.join("dangling")).unwrap();
    // Transcripts that say nothing: cut off, of another version, with a long line, not text.
    let odd = projects.join("-odd");
    fs::create_dir_all(odd.join("memory")).unwrap();
    fs::write(odd.join("memory/a.md"), topic("user", "Of nobody", "2026-02-01T00:00:00Z")).unwrap();
    fs::write(odd.join("a.jsonl"), "{\"cwd\": \"/tm").unwrap();
    fs::write(odd.join("b.jsonl"), format!("{{\"cwd\": {{}}, \"x\": \"{}\"}}", "x".repeat(1 << 20))).unwrap();
    fs::write(odd.join("c.jsonl"), b"\xff\xfe\n[]\n{\"cwd\": 7}\n{\"cwd\": \"relative\"}\n").unwrap();
    let shut = scratch.client_project("src/shut");
    fs::write(shut.join("a.md"), topic("user", "Shut", "2026-02-01T00:00:00Z")).unwrap();
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o000)).unwrap();
    let is_root = fs::read_dir(&shut).is_ok();
    let shown = scratch.json("dashboard");
    let unreadable = texts(&shown, "unreadable", "path").join("\n");
    for name in ["latin.md", "large.md", "link.md", "circle"] {
        assert!(unreadable.contains(name), "{name}: {unreadable}");
    }
    assert!(is_root || unreadable.contains(shut.to_str().unwrap()), "{unreadable}");
    assert!(texts(&shown, "projects", "name").contains(&"bad".to_owned()), "{shown:?}");
    assert!(texts(&shown, "orphans", "name").contains(&"-odd".to_owned()), "{shown:?}");
    let said = scratch.lorelane("audit --all-projects --all").expect(0);
    assert!(said.out.contains("bad: auto/bom") && said.out.contains("bad: auto/crlf"), "{}", said.out);
    assert!(said.err.contains("latin.md") && said.err.contains("circle"), "{}", said.err);
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn settings_and_names_say_whose_a_folder_is() {
    // Two paths with one name share a folder, as they do in the client.
    let scratch = Scratch::new();
    let memory = scratch.client_project("src/a_b");
    assert_eq!(scratch.client_project("src/a-b"), memory);
    fs::write(memory.join("x.md"), topic("user", "Shared", "2026-02-01T00:00:00Z")).unwrap();
    let shown = scratch.json("dashboard");
    let projects = shown.at("projects").and_then(Json::as_list).unwrap();
    let [project] = projects else { panic!("{shown:?}") };
    let shared = project.at("shared_with").and_then(Json::as_list).unwrap();
    assert_eq!(shared.len(), 1, "{shown:?}");
    let said = scratch.lorelane("dashboard").expect(0).out;
    assert!(
        said.contains("a_b shares its folder with ~/src/a-b")
            || said.contains("a-b shares its folder with ~/src/a_b"),
        "{said}"
    );
    // A folder that the settings name is that of all projects.
    let mine = scratch.home().join("mine");
    fs::create_dir_all(&mine).unwrap();
    fs::write(mine.join("y.md"), topic("user", "Mine", "2026-02-01T00:00:00Z")).unwrap();
    fs::write(scratch.home().join(".claude/settings.json"), "{\"autoMemoryDirectory\": \"~/mine\"}").unwrap();
    assert!(scratch.lorelane("dashboard").expect(0).out.contains("mine (all projects)"));
    // A machine without the client has nothing to show.
    let bare = Scratch::new();
    bare.lorelane("dashboard").expect(1);
    bare.lorelane("audit --all-projects").expect(0);
    assert!(!bare.home().join(".claude").exists());
}
