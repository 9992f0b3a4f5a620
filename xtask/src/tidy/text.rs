//! Checks the text of every tracked file.

use super::Fault;
use super::source::code_only;

/// Paths of the machines we work on. Split, so that this table does not find itself.
const MACHINE_PATHS: &[&str] = &[concat!("/wo", "rk/"), concat!("/tmp/w", "t-"), concat!("/ro", "ot/")];

/// A build that names a registry by host cannot be moved to a mirror.
const REGISTRY_HOSTS: &[&str] = &[
    concat!("crates", ".io"),
    concat!("registry.npmjs", ".org"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("rubygems", ".org"),
];

const UNFINISHED: &[&str] = &["todo!(", "unimplemented!(", "dbg!("];

/// `exists` takes paths relative to the root of the repository.
pub fn check(path: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |line: usize, what: String| faults.push(Fault { path: path.to_owned(), line, what });
    let ours = !path.split('/').any(|part| part == "fixtures");
    let code = if path.ends_with(".rs") { code_only(text) } else { String::new() };
    for (index, line) in text.lines().enumerate() {
        for bad in MACHINE_PATHS.iter().filter(|bad| names_machine_path(line, bad)) {
            fault(index + 1, format!("has the path `{bad}` of one machine"));
        }
        for host in REGISTRY_HOSTS.iter().filter(|host| !is_lock_file(path) && line.contains(**host)) {
            fault(index + 1, format!("names the registry host `{host}`; say it without the host"));
        }
        // Fixtures are texts of other programs and keep their bytes.
        if ours && has_clean_lines(path) && line.ends_with([' ', '\t']) {
            fault(index + 1, "ends in blanks".to_owned());
        }
    }
    for (index, line) in code.lines().enumerate() {
        for bad in UNFINISHED.iter().filter(|bad| line.contains(**bad)) {
            fault(index + 1, format!("has `{bad}`: finish it, or return an error that says so"));
        }
    }
    if ours && path.ends_with(".md") {
        for (target, line) in local_links(text) {
            if !exists(&joined(path, &target)) {
                fault(line, format!("links to `{target}`, which does not exist"));
            }
        }
    }
    faults
}

/// Only absolute paths: `$HOME/…` and `a/…` of the same name are on no particular machine.
fn names_machine_path(line: &str, bad: &str) -> bool {
    line.match_indices(bad).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !"_-.~})>*".contains(c))
    })
}

fn is_lock_file(path: &str) -> bool {
    path.ends_with(".lock") || path.ends_with("package-lock.json")
}

fn has_clean_lines(path: &str) -> bool {
    [".rs", ".md", ".toml"].iter().any(|ending| path.ends_with(ending))
}

/// Targets of `[text](target)` and `[text]: target` that are files of ours, outside code.
fn local_links(text: &str) -> Vec<(String, usize)> {
    let mut links = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
        let inline = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let defined =
            prose.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target);
        for target in inline.chain(defined) {
            // A title may follow the target: [text](target "title").
            let target = target.trim().split(' ').next().unwrap_or("").trim_matches(['<', '>']);
            let file = target.split('#').next().unwrap_or("");
            if !file.is_empty() && !file.contains(':') {
                links.push((file.to_owned(), index + 1));
            }
        }
    }
    links
}

/// The target as seen from the file that links to it; a leading slash means the repository.
fn joined(path: &str, target: &str) -> String {
    let mut parts: Vec<&str> = match target.starts_with('/') {
        true => Vec::new(),
        false => path.split('/').collect(),
    };
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(path: &str, text: &str) -> Vec<String> {
        let known = ["docs/guide.md", "README.md", "docs"];
        check(path, text, |path| known.contains(&path))
            .iter()
            .map(|fault| format!("{}: {}", fault.line, fault.what))
            .collect()
    }

    #[test]
    fn machine_paths_are_found_where_they_are_absolute() {
        let bad = MACHINE_PATHS[0];
        assert_eq!(
            faults("a.txt", &format!("ok\nsee {bad}main")),
            [format!("2: has the path `{bad}` of one machine")]
        );
        assert_eq!(faults("a.txt", &format!("{bad}x and \"{bad}y\"")).len(), 1);
        assert_eq!(faults("a.txt", &format!("$HOME{bad}x a{bad}b ~{bad}")), [""; 0]);
    }

    #[test]
    fn registry_hosts_stand_in_lock_files_only() {
        let line = format!("source = \"https://{}/x\"", REGISTRY_HOSTS[0]);
        assert_eq!(faults("Cargo.lock", &line), [""; 0]);
        assert_eq!(faults("README.md", &line).len(), 1);
    }

    #[test]
    fn lines_end_clean_in_our_own_text() {
        for (path, expected) in
            [("a.rs", 1), ("a.md", 1), ("a.toml", 1), ("a.txt", 0), ("crates/x/tests/fixtures/a.md", 0)]
        {
            assert_eq!(faults(path, "x \n").len(), expected, "{path}");
        }
    }

    #[test]
    fn unfinished_code_is_found_in_code_only() {
        assert_eq!(faults("a.rs", "// todo!()\nlet a = \"dbg!(x)\";\n"), [""; 0]);
        let expected = "2: has `todo!(`: finish it, or return an error that says so";
        assert_eq!(faults("a.rs", "fn f() {\n    todo!()\n}\n"), [expected]);
    }

    #[test]
    fn local_links_resolve() {
        for (path, text, missing) in [
            ("README.md", "[a](docs/guide.md) [b](docs/guide.md#part) [c](#here) [d](https://x.org/a)", 0),
            ("docs/guide.md", "[up](../README.md) [root](/README.md \"title\") [dir](../docs/)", 0),
            ("README.md", "[a](docs/gone.md)", 1),
            ("docs/guide.md", "[a](README.md)", 1),
            ("README.md", "[ref]: gone.md", 1),
            ("README.md", "`[a](gone.md)`\n```\n[a](gone.md)\n```\n", 0),
        ] {
            assert_eq!(faults(path, text).len(), missing, "{path}: {text}");
        }
    }
}
