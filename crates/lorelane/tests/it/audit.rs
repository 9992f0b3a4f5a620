//! Memories against the code of a real repository.

use crate::scratch::Scratch;
use lorelane_core::json::Json;
use std::process::Command;

const BEFORE: &str = "2026-02-20T00:00:00Z";
const AFTER: &str = "2026-03-05T00:00:00Z";
const LATER: &str = "2026-03-11T12:00:00Z";

impl Scratch {
    /// A repository with code, and a store.
    fn with_code() -> Scratch {
        let scratch = Scratch::new();
        scratch.git(&["init", "-q"]);
        scratch.put("src/retry.rs", "pub fn retry_with_backoff() { plain_retry() }\nfn plain_retry() {}\n");
        scratch.put("src/pool.rs", "pub struct ConnectionPool;\npub fn warm_pool() {}\n");
        scratch.put("Cargo.toml", "[dependencies]\ntokio = \"1\"\nlazy-static = \"1\"\n");
        scratch.put("Makefile", "release:\n\ttrue\n");
        scratch.put(".gitignore", "out/\n");
        scratch.commit("code", BEFORE);
        scratch.lorelane("init").expect(0);
        scratch
    }

    fn commit(&self, message: &str, date: &str) {
        self.git(&["add", "-A"]);
        let output = Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q", "-m", message])
            .current_dir(self.project())
            .env("GIT_COMMITTER_DATE", date)
            .env("GIT_AUTHOR_DATE", date)
            .env("HOME", self.home())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// Each claim of a memory as `kind text verdict`.
    fn verdicts(&self, address: &str) -> Vec<String> {
        let document = self.json("audit --deep");
        let memories = document.at("memories").and_then(Json::as_list).unwrap_or_default();
        let text =
            |json: &Json, key: &str| json.at(key).and_then(Json::as_text).unwrap_or_default().to_owned();
        let memory = memories.iter().find(|memory| text(memory, "address") == address).unwrap();
        let claims = memory.at("claims").and_then(Json::as_list).unwrap_or_default();
        let one = |claim: &Json| {
            let to = text(claim, "moved_to");
            let shown = ["kind", "text", "verdict"].map(|key| text(claim, key)).join(" ");
            if to.is_empty() { shown } else { format!("{shown} to {to}") }
        };
        claims.iter().map(one).collect()
    }

    fn note(&self, name: &str, body: &str) {
        let head = "type: \"fact\"\nstatus: \"active\"\ntags: []\ncreated_at: \"2026-03-01T12:00:00Z\"";
        self.put(&format!(".memories/{name}.md"), format!("---\n{head}\n---\n\n{body}\n"));
    }
}

#[test]
fn a_claim_follows_the_code_and_only_what_was_there_can_break() {
    let scratch = Scratch::with_code();
    scratch.note(
        "facts",
        "The pool is `src/pool.rs`, with `ConnectionPool` and `warm_pool()`.\n\n\
         Retries are in `src/retry.rs` by `retry_with_backoff`. We use the `lazy-static` package.\n\n\
         Run `make release`. Output is in `out/report.json`. See `src/other.rs` and `neverThere`.\n\n\
         `plain_retry` was removed.",
    );
    let before = [
        "file src/pool.rs holds",
        "symbol ConnectionPool holds",
        "symbol warm_pool holds",
        "file src/retry.rs holds",
        "symbol retry_with_backoff holds",
        "package lazy-static holds",
        "command make release holds",
        "file out/report.json unknown",
        "file src/other.rs unknown",
        "symbol neverThere unknown",
    ];
    assert_eq!(scratch.verdicts("notes/facts"), before);
    scratch.git(&["mv", "src/pool.rs", "src/connections.rs"]);
    scratch.git(&["rm", "-q", "src/retry.rs"]);
    scratch.put("Cargo.toml", "[dependencies]\ntokio = \"1\"\n");
    scratch.put("README.md", "retry_with_backoff is described here\n");
    scratch.put("Makefile", "deploy:\n\ttrue\n");
    scratch.commit("change", AFTER);
    let scratch = scratch.at(LATER);
    let after = [
        "file src/pool.rs moved to src/connections.rs",
        "symbol ConnectionPool holds",
        "symbol warm_pool holds",
        "file src/retry.rs broken",
        "symbol retry_with_backoff broken",
        "package lazy-static broken",
        "command make release broken",
        "file out/report.json unknown",
        "file src/other.rs unknown",
        "symbol neverThere unknown",
    ];
    assert_eq!(scratch.verdicts("notes/facts"), after);
    // The second run takes the same verdicts from the cache.
    assert_eq!(scratch.verdicts("notes/facts"), after);
    let text = scratch.lorelane("audit").expect(0).out;
    assert!(text.contains("only README.md still mentions it"), "{text}");
    assert!(text.contains("(.memories/facts.md:10)"), "{text}");
    let sarif = Json::parse(&scratch.lorelane("audit --sarif").expect(0).out).unwrap();
    let results = sarif.at("runs").and_then(Json::as_list).unwrap()[0].at("results").unwrap();
    assert_eq!(results.as_list().unwrap().len(), 5);
    let markdown = scratch.lorelane("audit --markdown").expect(0).out;
    assert!(
        markdown.contains("| broken `src/retry.rs`") || markdown.contains("broken `src/retry.rs`"),
        "{markdown}"
    );
}

#[test]
fn without_git_claims_are_unknown_and_age_is_scored() {
    let scratch = Scratch::with_store().at("2026-08-28T12:00:00Z");
    scratch.note("facts", "See `src/pool.rs` and `ConnectionPool`.");
    assert_eq!(
        scratch.verdicts("notes/facts"),
        ["file src/pool.rs unknown", "symbol ConnectionPool unknown"]
    );
    let audit = scratch.json("audit");
    let memory = &audit.at("memories").and_then(Json::as_list).unwrap()[0];
    let number = |path: &str| memory.at(path).and_then(Json::as_u64);
    assert_eq!((number("age.days"), number("age.score"), number("score")), (Some(180), Some(50), Some(50)));
    assert_eq!(memory.at("band").and_then(Json::as_text), Some("review"));
    assert_eq!(memory.at("age.source").and_then(Json::as_text), Some("modified"));
    // A confirmation makes it young again, until the memory changes.
    scratch.lorelane("confirm notes/facts --because 'read it again'").expect(0);
    let source = || {
        let audit = scratch.json("audit");
        audit.at("memories").and_then(Json::as_list).unwrap()[0]
            .at("age.source")
            .unwrap()
            .as_text()
            .unwrap()
            .to_owned()
    };
    assert_eq!(source(), "confirmed");
    scratch.note("facts", "See `src/pool.rs` only.");
    assert_eq!(source(), "modified");
    scratch.lorelane("audit --lane nothing").expect(2);
    let said = scratch.lorelane("check").expect(0).out;
    assert_eq!(said, "Not checked: there is no commit to compare with\n");
    // A file that cannot be read is named, and stops nothing.
    scratch.put(".memories/latin.md", b"---\ntype: \"fact\"\n---\n\ncaf\xe9\n");
    let said = scratch.lorelane("audit --deep").expect(0);
    assert!(
        said.err.contains("cannot read .memories/latin.md: it is not UTF-8") && said.out.contains("1 memory"),
        "{said:?}"
    );
    std::fs::remove_file(scratch.project().join(".memories/latin.md")).unwrap();
    // Both half-lives are settings.
    scratch.set_toml("[audit]\nhalf_life_notes = 90\n[audit.half_life]\ndecision = 10\n");
    scratch.decide("Use JWT");
    let lives: Vec<Option<u64>> = scratch
        .json("audit")
        .at("memories")
        .and_then(Json::as_list)
        .unwrap()
        .iter()
        .map(|memory| memory.at("age.half_life_days").and_then(Json::as_u64))
        .collect();
    assert_eq!(lives, [Some(90), Some(10)]);
}

#[test]
fn a_reminder_is_marked_or_withheld_and_why_names_the_claim() {
    let scratch = Scratch::with_code();
    let create = "create decision --title 'Pool of connections for jwt auth' --tag jwt --tag auth \
        --set status=accepted --set context='warm_pool is in `src/pool.rs`, see `src/retry.rs`' \
        --set 'rationale=fast'";
    scratch.lorelane(&format!("{create} --set 'decision=Keep the pool in `src/pool.rs`'")).expect(0);
    let address = "decision/pool-of-connections-for-jwt-auth";
    let prompt = "which pool of connections does jwt auth use?";
    let reminded = |scratch: &Scratch, session: &str| {
        let members = [("prompt", Json::text(prompt)), ("session_id", Json::text(session))];
        scratch.hook("prompt", &members).expect(0).out
    };
    scratch.lorelane("audit --deep").expect(0);
    let said = reminded(&scratch, "a");
    assert!(said.contains(address) && !said.contains("is gone"), "{said}");
    // One claim of several: the reminder carries a mark.
    scratch.git(&["rm", "-q", "src/retry.rs"]);
    scratch.commit("no retries", AFTER);
    let scratch = scratch.at(LATER);
    scratch.lorelane("audit --deep").expect(0);
    let said = reminded(&scratch, "b");
    assert!(said.contains("[src/retry.rs is gone since "), "{said}");
    let found = scratch.lorelane("search 'pool of connections'").expect(0).out;
    assert!(found.contains("[src/retry.rs is gone since "), "{found}");
    // The file is back: no audit is needed to see that.
    scratch.put("src/retry.rs", "again");
    assert!(!reminded(&scratch, "c").contains("is gone"));
    std::fs::remove_file(scratch.project().join("src/retry.rs")).unwrap();
    // The instruction names what is gone: it is withheld.
    scratch.git(&["rm", "-q", "src/pool.rs"]);
    scratch.commit("no pool", AFTER);
    scratch.lorelane("audit --deep").expect(0);
    let said = reminded(&scratch, "d");
    assert!(!said.contains(address), "{said}");
    let why = scratch.lorelane(&format!("why {address}")).out;
    assert!(why.contains("its title or instruction names something"), "{why}");
    assert!(why.contains("Broken: file `src/pool.rs`: gone since "), "{why}");
}

/// The story of a project: code moves, a branch is merged and deleted, a package is dropped, and after each commit
/// exactly what broke is named.
#[test]
fn after_each_commit_check_names_exactly_what_broke() {
    let scratch = Scratch::with_code();
    scratch.note("pool", "The pool is in `src/pool.rs`.");
    scratch.note("retries", "Call `retry_with_backoff` for every request. It came with `feat/retries`.");
    scratch.note("statics", "We use the `lazy-static` package. The `tokio` package is for the server.");
    // Versions and packages are named in plain words, too.
    scratch.note("database", "It uses PostgreSQL 15 and Node 20.");
    scratch.note("errors", "For errors we depend on anyhow.");
    scratch.put("compose.yml", "services:\n  db:\n    image: postgres:15\n");
    scratch.put("tools/Cargo.toml", "[dependencies]\nanyhow = \"1\"\n");
    scratch.put("AGENTS.md", "Read `src/pool.rs` first.\n");
    scratch.commit("memories", BEFORE);
    assert_eq!(scratch.lorelane("check").expect(0).out, "No memory breaks (0 files changed)\n");
    let scratch = scratch.at(LATER);
    // A move: found in the worktree, staged, and as a commit.
    scratch.git(&["mv", "src/pool.rs", "src/connections.rs"]);
    for how in ["--staged", "--changed"] {
        let said = scratch.lorelane(&format!("check {how}")).expect(0).out;
        assert!(said.starts_with("notes/pool: file `src/pool.rs`: moved to src/connections.rs"), "{said}");
        assert!(said.contains("audit --fix, after the commit\n1 claim moves in"), "{said}");
    }
    let said = scratch.lorelane("check --staged --instructions").expect(0).out;
    assert!(said.contains("AGENTS.md: file `src/pool.rs`: moved to src/connections.rs"), "{said}");
    scratch.commit("move", AFTER);
    scratch.lorelane("check").expect(0);
    let broken = |since: &str| {
        let document = scratch.json(&format!("check --since {since}"));
        let broken = document.at("broken").and_then(Json::as_list).unwrap_or_default().to_vec();
        let text =
            |json: &Json, key: &str| json.at(key).and_then(Json::as_text).unwrap_or_default().to_owned();
        broken
            .iter()
            .map(|one| format!("{} {}", text(one, "address"), text(one, "claim.text")))
            .collect::<Vec<_>>()
    };
    assert_eq!(broken("HEAD~1"), ["notes/pool src/pool.rs"]);
    let fixed = scratch.lorelane("audit --fix").expect(0).out;
    assert!(fixed.contains("Updated notes/pool"), "{fixed}");
    assert!(scratch.read(".memories/pool.md").contains("`src/connections.rs`"));
    scratch.commit("fix", AFTER);
    // A branch is merged and deleted: information, and nothing breaks.
    scratch.git(&["checkout", "-q", "-b", "feat/retries"]);
    scratch.put("src/extra.rs", "fn extra_call() {}\n");
    scratch.commit("extra", AFTER);
    scratch.git(&["checkout", "-q", "-"]);
    scratch.git(&["merge", "-q", "--no-ff", "-m", "Merge branch 'feat/retries'", "feat/retries"]);
    assert!(scratch.verdicts("notes/retries").contains(&"branch feat/retries holds".to_owned()));
    scratch.git(&["branch", "-q", "-D", "feat/retries"]);
    assert_eq!(broken("HEAD~1"), [""; 0]);
    // The same commit: only a memory that changed is checked again.
    scratch.note(
        "retries",
        "Call `retry_with_backoff` for every request. It came with the branch `feat/retries`.",
    );
    assert!(scratch.verdicts("notes/retries").contains(&"branch feat/retries broken".to_owned()));
    // A symbol is renamed everywhere, a package is dropped.
    scratch.put("src/retry.rs", "pub fn retry_slowly() { plain_retry() }\nfn plain_retry() {}\n");
    scratch.put("Cargo.toml", "[dependencies]\ntokio = \"1\"\n");
    scratch.commit("rename", AFTER);
    assert_eq!(broken("HEAD~1"), ["notes/retries retry_with_backoff", "notes/statics lazy-static"]);
    let text = scratch.lorelane("check --since HEAD~1").expect(1).out;
    assert!(text.contains("fix: lorelane edit notes/statics, or lorelane retire notes/statics"), "{text}");
    // Another version of a service; a package that only plain words name.
    scratch.put("compose.yml", "services:\n  db:\n    image: postgres:17\n");
    scratch.commit("upgrade", AFTER);
    assert_eq!(broken("HEAD~1"), ["notes/database PostgreSQL 15"]);
    scratch.put("tools/Cargo.toml", "[dependencies]\neyre = \"1\"\n");
    scratch.commit("eyre", AFTER);
    assert_eq!(broken("HEAD~1"), ["notes/errors anyhow"]);
    scratch.lorelane("check --since no-such-thing").expect(2);
}

/// A memory may be older than the file that it names: no tree of its date has it, and an earlier audit knows it.
#[test]
fn a_file_that_is_younger_than_its_memory_is_followed_when_it_moves() {
    let scratch = Scratch::with_code().at(LATER);
    scratch.note("delays", "Delays between attempts are computed in `src/backoff.rs`.");
    let find = |scratch: &Scratch| scratch.lorelane("search 'delays between attempts'").expect(0).out;
    scratch.put("src/backoff.rs", "pub fn delay_of(attempt: u32) -> u32 {\n    attempt * 2\n}\n");
    scratch.commit("backoff", AFTER);
    assert_eq!(scratch.verdicts("notes/delays"), ["file src/backoff.rs holds"]);
    scratch.git(&["mv", "src/backoff.rs", "src/delays.rs"]);
    scratch.commit("move", AFTER);
    let said = scratch.lorelane("check --since HEAD~1").expect(0).out;
    assert!(said.starts_with("notes/delays: file `src/backoff.rs`: moved to src/delays.rs"), "{said}");
    let moved = ["file src/backoff.rs moved to src/delays.rs"];
    assert_eq!(scratch.verdicts("notes/delays"), moved);
    assert!(!find(&scratch).contains("is gone"), "{}", find(&scratch));
    // An audit that did not find it does not lose the one that did.
    scratch.put("src/other.rs", "fn other() {}\n");
    scratch.commit("other", AFTER);
    assert_eq!(scratch.verdicts("notes/delays"), moved);
    let fixed = scratch.lorelane("audit --fix").expect(0).out;
    assert!(fixed.contains("Updated notes/delays"), "{fixed}");
    // The only audit saw it before its first commit: then the commit that removed it tells.
    scratch.note("jitter", "Random parts are in `src/jitter.rs`.");
    scratch.put("src/jitter.rs", "pub fn jitter(of: u32) -> u32 {\n    of / 3\n}\n");
    assert!(scratch.verdicts("notes/jitter").contains(&"file src/jitter.rs holds".to_owned()));
    scratch.commit("jitter", AFTER);
    scratch.git(&["mv", "src/jitter.rs", "src/noise.rs"]);
    scratch.commit("noise", AFTER);
    assert_eq!(scratch.verdicts("notes/jitter"), ["file src/jitter.rs moved to src/noise.rs"]);
}

/// What is in a submodule that is not checked out cannot be decided.
#[test]
fn a_path_in_a_submodule_is_unknown_without_its_files() {
    let scratch = Scratch::with_code().at(LATER);
    let library = scratch.folder.join("library");
    std::fs::create_dir_all(&library).unwrap();
    std::fs::write(library.join("lib.rs"), "fn in_library() {}\n").unwrap();
    let library = library.to_str().unwrap();
    for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "library"]] {
        scratch.git(&[&["-C", library][..], words].concat());
    }
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "vendor/library"];
    scratch.git(&add);
    scratch.commit("submodule", BEFORE);
    scratch.note("library", "See `vendor/library/lib.rs` and the folder `vendor/library/`.");
    let holds = ["file vendor/library/lib.rs holds", "folder vendor/library holds"];
    assert_eq!(scratch.verdicts("notes/library"), holds);
    scratch.git(&["submodule", "--quiet", "deinit", "--force", "vendor/library"]);
    scratch.put("src/other.rs", "fn other() {}\n");
    scratch.commit("other", AFTER);
    let unknown = ["file vendor/library/lib.rs unknown", "folder vendor/library holds"];
    assert_eq!(scratch.verdicts("notes/library"), unknown);
    let why = scratch.lorelane("audit --json").expect(0).out;
    assert!(why.contains("the submodule vendor/library is not checked out"), "{why}");
}

/// What a text negates, strikes out or calls removed is no claim: neither listed nor counted.
#[test]
fn what_a_memory_does_not_claim_is_in_no_figure() {
    let scratch = Scratch::with_code().at(LATER);
    scratch.note(
        "governed",
        "The pool is `src/pool.rs`. We removed `src/retry.rs`. ~~`retry_with_backoff`~~ Do not use the \
         `lazy-static` package. `warm_pool` was deleted. We will add `src/planned.rs`, todo: `Cargo.toml`.",
    );
    assert_eq!(scratch.verdicts("notes/governed"), ["file src/pool.rs holds", "file Cargo.toml holds"]);
    // Two of two are more than a half, whatever else the text names.
    scratch.note("half", "Use `src/pool.rs` and `warm_pool`, never `plain_retry`, `retry_with_backoff`.");
    scratch.lorelane("audit --deep").expect(0);
    scratch.git(&["rm", "-q", "src/pool.rs"]);
    scratch.commit("no pool", AFTER);
    assert_eq!(scratch.verdicts("notes/half"), ["file src/pool.rs broken", "symbol warm_pool broken"]);
    let why = scratch.lorelane("why notes/half").out;
    assert!(why.contains("more than half of what it names is gone"), "{why}");
}

#[test]
fn the_pre_commit_hook_is_chained_and_removed_exactly() {
    let scratch = Scratch::with_code();
    scratch.note("pool", "The pool is in `src/pool.rs`.");
    scratch.commit("memories", BEFORE);
    let hook = scratch.project().join(".git/hooks/pre-commit");
    let own = "#!/bin/sh\ntouch ran-the-other\n";
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, own).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&hook, executable).unwrap();
    assert!(scratch.lorelane("setup git hook --dry-run").expect(0).out.starts_with("Would install"));
    assert_eq!(std::fs::read_to_string(&hook).unwrap(), own);
    scratch.lorelane("setup git hook").expect(0);
    assert!(scratch.lorelane("setup git hook").expect(0).out.starts_with("No change"));
    let lists_hook = || scratch.lorelane("status").expect(0).out.contains(".git/hooks/pre-commit");
    assert!(lists_hook());
    let commit = || {
        let mut command = scratch.command(&[]);
        let path = command.get_envs().find(|(name, _)| *name == "PATH").unwrap().1.unwrap().to_owned();
        command = Command::new("git");
        command
            .args(["-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q", "-m", "move"])
            .current_dir(scratch.project())
            .env("PATH", path)
            .env("HOME", scratch.home())
            .env("LORELANE_HOME", scratch.home())
            .env("LORELANE_NOW", LATER);
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    // It blocks, or warns, and the other hook runs.
    scratch.lorelane("setup git hook --block").expect(0);
    scratch.git(&["rm", "-q", "src/pool.rs"]);
    let (done, said) = commit();
    assert!(!done && said.contains("notes/pool: file `src/pool.rs`: gone"), "{said}");
    scratch.lorelane("setup git hook").expect(0);
    let (done, said) = commit();
    assert!(done && said.contains("notes/pool: file `src/pool.rs`: gone"), "{said}");
    // A move breaks nothing: its fix needs the commit.
    scratch.git(&["reset", "-q", "--hard", "HEAD~1"]);
    scratch.lorelane("setup git hook --block").expect(0);
    scratch.git(&["mv", "src/pool.rs", "src/connections.rs"]);
    let (done, said) = commit();
    assert!(done && said.contains("notes/pool: file `src/pool.rs`: moved"), "{said}");
    assert!(scratch.exists("ran-the-other"));
    // It is removed also if hooks are elsewhere by now.
    scratch.git(&["config", "core.hooksPath", ".husky"]);
    scratch.lorelane("setup --remove git hook").expect(0);
    assert_eq!(std::fs::read_to_string(&hook).unwrap(), own);
    assert!(!lists_hook(), "a hook of somebody else");
    assert!(!scratch.project().join(".git/hooks/pre-commit.before-lorelane").exists());
    // A folder that somebody manages is left alone.
    let said = scratch.lorelane("setup git hook").expect(0).out;
    assert!(said.contains("check --staged >&2 || true"), "{said}");
}

/// What somebody adds to our hook is theirs.
#[test]
fn lines_that_were_added_to_the_hook_stay() {
    for former in [None, Some("#!/bin/sh\ntrue\n")] {
        let scratch = Scratch::with_code();
        let hook = scratch.project().join(".git/hooks/pre-commit");
        std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
        if let Some(former) = former {
            std::fs::write(&hook, former).unwrap();
        }
        let read = || std::fs::read_to_string(&hook).unwrap();
        scratch.lorelane("setup git hook").expect(0);
        std::fs::write(&hook, format!("{}echo mine\n", read())).unwrap();
        // Another strictness changes our line only.
        scratch.lorelane("setup git hook --block").expect(0);
        assert!(read().contains("|| exit 1\n") && read().ends_with("echo mine\n"), "{}", read());
        assert!(scratch.lorelane("setup git hook --block").expect(0).out.starts_with("No change"));
        let said = scratch.lorelane("setup git hook --remove").expect(0).out;
        assert!(said.contains("the lines that you added stay"), "{said}");
        assert!(read().starts_with("#!/bin/sh\n") && read().ends_with("echo mine\n"), "{}", read());
        assert!(!read().contains("lorelane check") && !read().contains("Written by"), "{}", read());
        assert_eq!(read().contains("before-lorelane"), former.is_some());
        assert!(scratch.lorelane("setup git hook --remove").expect(0).out.starts_with("No change"));
    }
}

/// The names in a repository are anybody's, and a name alone is a guess.
#[test]
fn only_a_rename_that_git_saw_and_a_plain_path_are_written() {
    for (to, content) in [
        ("src/po\nol.rs", None),
        ("src/x\", \"rationale\": \"y.rs", None),
        // The same name with other content.
        ("lib/pool.rs", Some("nothing in common\n")),
    ] {
        let scratch = Scratch::with_code();
        scratch.note("pool", "The pool is in `src/pool.rs`.");
        scratch.put("lib/other/pool.rs", "there all along\n");
        scratch.commit("memories", BEFORE);
        let before = scratch.read(".memories/pool.md");
        scratch.put("lib/.keep", "");
        scratch.git(&["mv", "src/pool.rs", to]);
        if let Some(content) = content {
            scratch.put(to, content);
        }
        scratch.commit("move", AFTER);
        let scratch = scratch.at(LATER);
        assert_eq!(scratch.verdicts("notes/pool"), [format!("file src/pool.rs moved to {to}")]);
        scratch.lorelane("audit --fix").expect(1);
        assert_eq!(scratch.read(".memories/pool.md"), before, "{to:?}");
    }
}

#[test]
fn the_users_settings_of_grep_and_ignored_files_break_nothing() {
    let scratch = Scratch::with_code();
    scratch.note("facts", "Call `plain_retry` and `warm_pool`. The report is `out/report.json`.");
    scratch.put("src/more.rs", "fn more() { plain_retry() }\n");
    scratch.put("out/report.json", "{}");
    scratch.commit("more", BEFORE);
    let report = |verdict: &str| format!("file out/report.json {verdict}");
    assert!(scratch.verdicts("notes/facts").contains(&report("holds")));
    std::fs::remove_file(scratch.project().join("out/report.json")).unwrap();
    scratch.git(&["config", "grep.lineNumber", "true"]);
    scratch.git(&["config", "grep.column", "true"]);
    scratch.git(&["rm", "-q", "src/retry.rs"]);
    scratch.lorelane("check --staged").expect(0);
    scratch.commit("no retries", AFTER);
    // An audit saw it on this machine; that git ignores it has not changed.
    let scratch = scratch.at(LATER);
    assert!(scratch.verdicts("notes/facts").contains(&report("unknown")));
}

/// `commit -a` and `commit PATH` make their own index for the hook.
#[test]
fn the_hook_checks_what_the_commit_has() {
    let scratch = Scratch::with_code();
    scratch.note("pool", "The pool is in `src/pool.rs`.");
    scratch.commit("memories", BEFORE);
    scratch.lorelane("setup git hook --block").expect(0);
    let commit = |words: &[&str], with_program: bool| {
        let command = scratch.command(&[]);
        let path = command.get_envs().find(|(name, _)| *name == "PATH").unwrap().1.unwrap().to_owned();
        let path = if with_program { path } else { "/usr/bin:/bin".into() };
        let output = Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q", "-m", "change"])
            .args(words)
            .current_dir(scratch.project())
            .env("PATH", path)
            .env("HOME", scratch.home())
            .env("LORELANE_HOME", scratch.home())
            .env("LORELANE_NOW", LATER)
            .output()
            .unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    std::fs::remove_file(scratch.project().join("src/pool.rs")).unwrap();
    scratch.put("Makefile", "deploy:\n\ttrue\n");
    for words in [&["-a"][..], &["src/pool.rs"]] {
        let (done, said) = commit(words, true);
        assert!(!done && said.contains("notes/pool: file `src/pool.rs`: gone"), "{words:?}: {said}");
    }
    // What is staged, and not in this commit, does not stop it.
    scratch.git(&["rm", "-q", "--cached", "src/pool.rs"]);
    let (done, said) = commit(&["Makefile"], true);
    assert!(done, "{said}");
    // A program that is not there stops nothing.
    let hook = scratch.project().join(".git/hooks/pre-commit");
    let text = std::fs::read_to_string(&hook).unwrap();
    let line = text.lines().find(|line| line.contains("check --staged")).unwrap();
    let (_, rest) = line.split_once(" check").unwrap();
    std::fs::write(&hook, text.replace(line, &format!("no-such-program check{rest}"))).unwrap();
    let (done, said) = commit(&[], false);
    assert!(done, "{said}");
}

#[test]
fn a_sparse_checkout_and_a_plain_move_delete_nothing() {
    let scratch = Scratch::with_code();
    scratch.note("pool", "Call `warm_pool` of `src/pool.rs`.");
    scratch.commit("memories", BEFORE);
    scratch.git(&["update-index", "--skip-worktree", "src/pool.rs"]);
    let file = |path: &str| scratch.project().join(path);
    std::fs::remove_file(file("src/pool.rs")).unwrap();
    scratch.lorelane("check").expect(0);
    scratch.git(&["update-index", "--no-skip-worktree", "src/pool.rs"]);
    let said = scratch.lorelane("check").expect(1).out;
    assert!(said.contains("`src/pool.rs`: gone;") && said.contains("`warm_pool`"), "{said}");
    // Moved without git: the symbol is there, and the path has a new place by its name.
    scratch.put("lib/pool.rs", "pub fn warm_pool() {}\n");
    let said = scratch.lorelane("check").expect(1).out;
    assert!(said.contains("by its name it may be lib/pool.rs") && !said.contains("`warm_pool`"), "{said}");
    // Moved into a file that is too large to compare: it is searched.
    std::fs::remove_file(file("lib/pool.rs")).unwrap();
    scratch.put("lib/large.rs", format!("{}pub fn warm_pool() {{}}\n", "// line\n".repeat(400_000)));
    let said = scratch.lorelane("check").expect(1).out;
    assert!(!said.contains("`warm_pool`"), "{said}");
    scratch.git(&["add", "-A"]);
    let said = scratch.lorelane("check --staged").expect(1).out;
    assert!(said.contains("`src/pool.rs`: gone;") && !said.contains("`warm_pool`"), "{said}");
}

/// What another branch had says nothing about this one.
#[test]
fn verdicts_of_another_branch_do_not_count() {
    let scratch = Scratch::with_code();
    scratch.note("facts", "See `src/later.rs` and `src/pool.rs`.");
    scratch.commit("memories", BEFORE);
    scratch.git(&["checkout", "-q", "-b", "other"]);
    scratch.put("src/later.rs", "fn later() {}\n");
    scratch.commit("later", AFTER);
    let scratch = scratch.at(LATER);
    assert_eq!(scratch.verdicts("notes/facts"), ["file src/later.rs holds", "file src/pool.rs holds"]);
    scratch.git(&["checkout", "-q", "-"]);
    assert_eq!(scratch.verdicts("notes/facts"), ["file src/later.rs unknown", "file src/pool.rs holds"]);
}

/// Servers are asked only with `--urls`, only public ones, and only 404 and 410 count.
#[test]
fn urls_are_asked_only_when_told_to() {
    let scratch = Scratch::with_code();
    // Answers by the path; says which method was used, and leaves a line for each call.
    let curl = r#"#!/bin/sh
for last; do :; done
case "$*" in *--head*) m=HEAD ;; *) m=GET ;; esac
echo "$m $last" >> "$CURL_LOG"
case "$m $last" in
*/there) printf 200 ;;
"HEAD "*/nohead) printf 405 ;;
*/nohead) printf 301 ;;
*/gone) printf 410 ;;
*/missing) printf 404 ;;
*/busy) printf 503 ;;
*) printf 000 ;;
esac
"#;
    let bin = scratch.home().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::write(bin.join("curl"), curl).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(bin.join("curl"), mode).unwrap();
    let log = scratch.home().join("curl.log");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let paths = ["there", "nohead", "gone", "missing", "busy", "silent"];
    let urls: Vec<String> = paths.iter().map(|path| format!("- http://1.1.1.1/{path}")).collect();
    let private = "- http://10.0.0.1/gone\n- http://localhost/gone\n- http://me:pw@1.1.1.1/gone";
    scratch.note("links", &format!("{}\n{private}\n", urls.join("\n")));
    let verdicts = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let output = scratch.command(&words).env("PATH", &path).env("CURL_LOG", &log).output().unwrap();
        let document = Json::parse(&scratch.said(&output).expect(0).out).unwrap();
        let memories = document.at("memories").and_then(Json::as_list).unwrap().to_vec();
        let claims = memories[0].at("claims").and_then(Json::as_list).unwrap().to_vec();
        let text = |json: &Json, key: &str| json.at(key).and_then(Json::as_text).unwrap().to_owned();
        let shown = claims.iter().map(|claim| {
            format!("{} {}: {}", text(claim, "text"), text(claim, "verdict"), text(claim, "evidence.why"))
        });
        shown.collect::<Vec<String>>()
    };
    let unasked = verdicts("audit --deep --json");
    assert!(unasked.iter().all(|line| line.ends_with("unknown: only checked with --urls")), "{unasked:?}");
    assert!(!log.exists(), "without --urls nothing is asked");
    let asked = [
        "http://1.1.1.1/there holds: found",
        "http://1.1.1.1/nohead holds: found",
        "http://1.1.1.1/gone broken: the server answered 410",
        "http://1.1.1.1/missing broken: the server answered 404",
        "http://1.1.1.1/busy unknown: the server answered 503",
        "http://1.1.1.1/silent unknown: the server did not answer",
        "http://10.0.0.1/gone unknown: not checked: a private host",
    ];
    assert_eq!(verdicts("audit --urls --json"), asked);
    let calls = std::fs::read_to_string(&log).unwrap();
    assert!(!calls.contains("10.0.0.1") && !calls.contains("localhost") && !calls.contains("pw"), "{calls}");
    assert!(calls.contains("HEAD http://1.1.1.1/gone\nGET") || calls.contains("GET http://1.1.1.1/gone"));
    // The answers stay until somebody asks again, also at another commit.
    scratch.put("src/other.rs", "fn other() {}\n");
    scratch.commit("other", LATER);
    let kept = verdicts("audit --deep --json");
    assert_eq!(kept[2], asked[2]);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), calls);
}
