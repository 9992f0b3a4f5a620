//! The fence around the lane: what is denied, what is not, and what a denial says.

use expect_test::expect;
use lorelane_core::guard::{
    Case, Denial, GuardedLanes, OtherProjects, ResolvedPath, ShellContext, ToolUse, normal,
};
use lorelane_core::json::Json;
use proptest::prelude::*;

const AROUND: ShellContext<'_> =
    ShellContext { folder: "/p/src", home: Some("/home/a"), project: Some("/p") };
/// What exists on the disk of these tests.
const FILES: [&str; 6] = [
    "/p/.claude/memory",
    "/p/.claude/memory/decisions",
    "/p/.claude/memory/decisions/use-jwt.json",
    "/p/.claude/memory/memory-config.json",
    "/q/.claude/memory",
    "/p/src",
];

fn disk(path: &str) -> ResolvedPath {
    let path = normal(path);
    // `/p/link` leads to the lane.
    let path = path.replacen("/p/link", "/p/.claude/memory", 1);
    ResolvedPath { exists: FILES.contains(&path.as_str()), path, is_foreign_listing: false }
}

fn judge(tool: &ToolUse) -> Option<Denial> {
    let fence = GuardedLanes {
        lanes: vec!["/p/.claude/memory".to_owned()],
        marks: Some("/p/.lorelane/marks.jsonl".to_owned()),
        id: Some("/p/.lorelane/id".to_owned()),
        trust: Some("/home/a/.local/state/lorelane/trust".to_owned()),
        usual: OtherProjects::WhereItExists,
        case: Case::Counts,
    };
    fence.judge(&tool.targets(&AROUND), &disk)
}

fn shell(command: &str) -> ToolUse {
    ToolUse::Shell { command: command.to_owned(), folder: None }
}

fn write(path: &str) -> ToolUse {
    ToolUse::Write { path: path.to_owned() }
}

/// Run in `/p/src`.
const DENIED: &[&str] = &[
    // Redirections.
    "echo '{}' > ../.claude/memory/decisions/x.json",
    "echo '{}' >> /p/.claude/memory/decisions/x.json",
    "echo '{}' >| /p/.claude/memory/decisions/x.json",
    "make &> /p/.claude/memory/decisions/log.json",
    "make &>>/p/.claude/memory/index.md",
    "make 2> /p/.claude/memory/index.md",
    "make >& /p/.claude/memory/index.md",
    "exec 3<>/p/.claude/memory/decisions/x.json",
    "cat > /p/.claude/memory/decisions/x.json <<'EOF'\n{\"a\": \"it's\"}\nEOF",
    "cat <<-EOF >/p/.claude/memory/index.md\n\ta\n\tEOF\n",
    ": > \"/p/.claude/memory/decisions/use-jwt.json\"",
    // Writers.
    "echo '{}' | tee /p/.claude/memory/decisions/x.json",
    "echo '{}' | sudo tee -a -- /p/.claude/memory/decisions/x.json > /dev/null",
    "cp /tmp/x.json /p/.claude/memory/decisions/",
    "cp -t /p/.claude/memory/decisions /tmp/x.json",
    "cp --target-directory=/p/.claude/memory/decisions /tmp/x.json",
    "cp -r /tmp/memory /p/.claude",
    "mv /tmp/x.json /p/.claude/memory/decisions/x.json",
    "mv /p/.claude/memory/decisions/use-jwt.json /tmp",
    "install -m 644 /tmp/x.json /p/.claude/memory/decisions/x.json",
    "ln -s /tmp/x.json /p/.claude/memory/decisions/x.json",
    "cd ../.claude/memory/decisions && ln /tmp/x.json",
    "rsync -a /tmp/backup/ /p/.claude/memory/",
    "dd if=/tmp/x of=/p/.claude/memory/decisions/x.json bs=1k",
    "truncate -s 0 /p/.claude/memory/decisions/use-jwt.json",
    "touch /p/.claude/memory/decisions/x.json",
    // Editors in place.
    "sed -i 's/a/b/' /p/.claude/memory/decisions/use-jwt.json",
    "sed -i.bak -e 's/a/b/' /p/.claude/memory/decisions/use-jwt.json",
    "sed -Ei '' 's/a/b/' /p/.claude/memory/decisions/use-jwt.json",
    "sed --in-place=.bak 's/a/b/' /p/.claude/memory/decisions/*.json",
    "perl -pi -e 's/a/b/' /p/.claude/memory/decisions/use-jwt.json",
    "perl -i.bak -pe 's/a/b/' /p/.claude/memory/decisions/use-jwt.json",
    // Removers.
    "rm /p/.claude/memory/decisions/use-jwt.json",
    "rm -f -- /p/.claude/memory/decisions/*.json",
    "rm -rf /p/.claude",
    "rm -rf ../.claude/*",
    "rm -rf ../.cl*/mem?ry",
    "rm -rf ../.claude/{commands,memory}",
    "rm /p/.claude/memory/{decisions,runbooks}/x.json",
    "mv /p/.claude /tmp/old",
    "unlink /p/.claude/memory/decisions/use-jwt.json",
    "rmdir /p/.claude/memory/decisions",
    "shred -u /p/.claude/memory/decisions/use-jwt.json",
    // Wherever a command can stand.
    "cd /p && rm .claude/memory/decisions/use-jwt.json",
    "cd /p; ls; rm -f .claude/memory/index.md",
    "(cd /p/.claude/memory/decisions && rm use-jwt.json)",
    "{ cd /p/.claude; rm memory/index.md; }",
    "if true; then rm /p/.claude/memory/index.md; fi",
    "for f in /p/.claude/memory/decisions/*.json; do sed -i s/a/b/ \"$f\"; done",
    "f() { rm /p/.claude/memory/index.md; }; f",
    "function f { rm /p/.claude/memory/index.md; }; f",
    "ls /tmp/*.json | xargs -I{} cp {} /p/.claude/memory/decisions/",
    "echo $(rm /p/.claude/memory/index.md)",
    "echo \"`rm /p/.claude/memory/index.md`\"",
    "true || rm /p/.claude/memory/index.md",
    "sleep 1 & rm /p/.claude/memory/index.md",
    "cat <(rm /p/.claude/memory/index.md)",
    "X=1 LANG=C rm /p/.claude/memory/index.md",
    "sudo -u root env A=b nohup nice -n 5 timeout 3 rm /p/.claude/memory/index.md",
    "/bin/rm /p/.claude/memory/index.md",
    "\\rm /p/.claude/memory/index.md",
    "bash -c 'cd /p && rm .claude/memory/index.md'",
    "bash -euo pipefail -c 'rm /p/.claude/memory/index.md'",
    "sh -c \"sh -c 'rm /p/.claude/memory/index.md'\"",
    "eval 'rm /p/.claude/memory/index.md'",
    "ls \\\n  && rm /p/.claude/memory/index.md # tidy up",
    // However a path is written.
    "rm /dev/../p/.claude/memory/index.md",
    "git commit -m \"$(cat <<'EOF'\nit's (done\nEOF\n)\" && rm /p/.claude/memory/index.md",
    "rm /p//.claude/./memory/../memory/index.md",
    "rm '/p/.claude/memory/'index.md",
    "rm /p/.claude/m\\emory/index.md",
    "rm $'/p/.claude/\\x6demory/index.md'",
    "rm \"$CLAUDE_PROJECT_DIR/.claude/memory/index.md\"",
    "rm ${CLAUDE_PROJECT_DIR}/.claude/memory/decisions/\"$name\".json",
    "cd .. && rm $PWD/.claude/memory/index.md",
    "D=/p/.claude/memory; rm $D/index.md",
    "cd ~ && cd /p && export F=.claude/memory/index.md && echo > $F",
    "rm /p/link/decisions/use-jwt.json",
    "rm -rf /p/link/",
    "rm -rf /p/link/*",
    "shred -u /p/link",
    "cd /p/.claude/memory || exit; rm index.md",
    "cd /p/.claude/memory && ls | wc -l; rm index.md",
    "rm /q/.claude/memory/decisions/x.json",
    "lorelane list > /p/.claude/memory/decisions/x.json",
    // Patterns and words of the shell that may be ours.
    "rm /p/.claude/memory/*.md",
    "rm /p/.claude/memory/$file",
    "rm /p/.claude/memory/*/*",
    "mv /tmp/index.md /p/.claude/memory/",
    "cp -r /tmp/decisions /p/.claude/memory/",
    "cp $FILE /p/.claude/memory/",
    // Programs that were not in the table (finding 16).
    "patch /p/.claude/memory/decisions/use-jwt.json < /tmp/x.patch",
    "patch -d /p/.claude/memory -p1 < /tmp/x.patch",
    "patch -p1 --output=/p/.claude/memory/index.md a.md < /tmp/x.patch",
    "ed -s /p/.claude/memory/decisions/use-jwt.json <<'E'\n,s/a/b/\nw\nE",
    "ex -sc '%s/a/b/|x' /p/.claude/memory/decisions/use-jwt.json",
    "vim -es -c '%s/a/b/' -c wq /p/.claude/memory/decisions/use-jwt.json",
    "vim +wq /p/.claude/memory/decisions/use-jwt.json",
    "awk -i inplace '{print}' /p/.claude/memory/decisions/use-jwt.json",
    "gawk -iinplace '{print}' /p/.claude/memory/decisions/use-jwt.json",
    "awk '{ print $1 > \"/p/.claude/memory/decisions/x.json\" }' a",
    "awk '{ print >>\"../.claude/memory/decisions/x.json\" }' a",
    "sed -n '/a/w /p/.claude/memory/decisions/x.json' a",
    "sed 's/a/b/w ../.claude/memory/decisions/x.json' a",
    "ruby -i -pe '$_.upcase!' /p/.claude/memory/decisions/use-jwt.json",
    "ruby -i.bak -pe '1' /p/.claude/memory/decisions/use-jwt.json",
    "busybox rm /p/.claude/memory/index.md",
    "busybox sh -c 'rm /p/.claude/memory/index.md'",
    "tar -xzf /tmp/m.tgz -C /p/.claude/memory",
    "tar xf /tmp/m.tar --directory=/p/.claude/memory",
    "cd /p && tar xf /tmp/m.tar .claude/memory/index.md",
    "cd ../.claude/memory && tar xf /tmp/m.tar",
    "tar -cf /p/.claude/memory/decisions/x.json src",
    "unzip /tmp/m.zip -d /p/.claude/memory",
    "unzip -qo /tmp/m.zip -d../.claude/memory",
    "curl -o /p/.claude/memory/decisions/x.json https://example.org",
    "curl -sSLo /p/.claude/memory/decisions/x.json https://example.org",
    "curl --output=/p/.claude/memory/decisions/x.json https://example.org",
    "cd /p/.claude/memory && curl -O https://example.org/x",
    "wget -O /p/.claude/memory/decisions/x.json https://example.org",
    "wget -qO../.claude/memory/decisions/x.json https://example.org",
    "wget -P /p/.claude/memory https://example.org/x",
    "sort -o /p/.claude/memory/index.md /p/.claude/memory/index.md",
    "sort -uo/p/.claude/memory/index.md a",
    "split -l 10 a /p/.claude/memory/decisions/x.json",
    "yq -i '.a = 1' /p/.claude/memory/decisions/use-jwt.json",
    "yq e --inplace .a /p/.claude/memory/decisions/use-jwt.json",
    "prettier --write /p/.claude/memory/decisions/*.json",
    "npx prettier -w ../.claude/memory/decisions/use-jwt.json",
    "find /p/.claude/memory -name '*.json' -delete",
    "find ../.claude/memory -type f -exec rm {} +",
    "find src /p/.claude/memory -name '*.json' -exec sed -i s/a/b/ {} \\; -print",
    "find /tmp -name x -exec cp {} /p/.claude/memory/decisions/ \\;",
    "find /p/.claude/memory -name '*.json' | xargs rm",
    "find ../.claude -delete",
    "find /p -type f -delete",
    "find ../.claude -type f -exec rm {} +",
    "find ../.claude -mindepth 1 -exec /bin/rm -rf {} \\;",
    "bash <<< 'rm -rf /p/.claude/memory'",
    "npx prettier --write ../.claude/memory/",
    "prettier --write ../.claude/memory/decisions",
    "grep -rl jwt /p/.claude/memory | sort | xargs sed -i 's/a/b/'",
    "ls /p/.claude/memory/decisions/*.json | xargs -I{} rm {}",
    "echo /p/.claude/memory/index.md | xargs -n 1 rm -f",
    "cd /p && git clean -fdx",
    "git -C /p clean -f",
    "git -C /p -c a=b clean -ffd .claude",
    "git clean -f ../.claude/memory",
    "bash <<'EOF'\nrm /p/.claude/memory/index.md\nEOF",
    "lorelane consolidate commit S <<'EOF'\n{}\nEOF\nrm /p/.claude/memory/index.md",
    "lorelane consolidate commit S <<'EOF' > /p/.claude/memory/decisions/x.json\n{}\nEOF",
    "echo ${x:-$(rm /p/.claude/memory/index.md)}",
    "echo \"${x:-`rm /p/.claude/memory/index.md`}\"",
    "cat <<EOF\n$(rm -rf /p/.claude/memory)\nEOF",
    "cat <<-EOF > /tmp/x\n\tit's `rm /p/.claude/memory/index.md`\n\tEOF\n",
    "lorelane consolidate commit S <<EOF\ntitle: \"${x:-$(rm /p/.claude/memory/index.md)}\"\nEOF",
    "bash -eu <<EOF\ncd /p\nrm .claude/memory/index.md\nEOF\n",
    "sudo sh -s <<-EOF | cat\n\trm /p/.claude/memory/index.md\n\tEOF",
    "rm $(pwd)/../.claude/memory/index.md",
    "cd /p && rm \"$(pwd)/.claude/memory/index.md\"",
    "cp -R ../backup/.claude ..",
    "cp -a ../backup/.claude /p/",
    "rsync -a ../backup/.claude ..",
    "mv ../backup/.claude ..",
    // What only the shell knows, with the folder's name behind it.
    "rm -rf \"$ROOT/.claude/memory\"",
    "rm -f \"$(git rev-parse --show-toplevel)\"/.claude/memory/decisions/$name.json",
    "echo '{}' > ${ROOT:-.}/.claude/memory/decisions/x.json",
    // The marks.
    "echo '{}' >> ../.lorelane/marks.jsonl",
    "rm /p/.lorelane/marks.jsonl",
    "rm -rf ../.lorelane",
    "sed -i /x/d /p/.lorelane/marks.jsonl",
    // The project's id.
    "echo 0 > ../.lorelane/id",
    "rm /p/.lorelane/id",
    "cp /q/.lorelane/id /p/.lorelane",
];

const ALLOWED: &[&str] = &[
    "",
    "ls -la /p/.claude/memory",
    "cat /p/.claude/memory/decisions/use-jwt.json",
    "cat < /p/.claude/memory/decisions/use-jwt.json",
    "grep -ri jwt /p/.claude/memory 2>/dev/null",
    "grep -r jwt /p/.claude/memory > /tmp/found 2>&1",
    "diff /p/.claude/memory/index.md /tmp/index.md",
    "cp /p/.claude/memory/decisions/use-jwt.json /tmp/",
    "cp -r /p/.claude/memory /tmp/backup",
    "rsync -a /p/.claude/memory/ host:backup/",
    "rsync -a /p/.claude/memory/ /tmp/backup/",
    "sed -n 1,5p /p/.claude/memory/index.md",
    "sed 's/a/b/' /p/.claude/memory/index.md",
    "perl -ne 'print' /p/.claude/memory/index.md",
    "dd if=/p/.claude/memory/index.md of=/tmp/x",
    "jq .title /p/.claude/memory/decisions/*.json | tee /tmp/titles",
    "find /p/.claude/memory -name '*.json' | wc -l",
    "tar czf /tmp/memory.tgz /p/.claude/memory",
    "git add .claude/memory && git commit -m 'memories > notes'",
    "git checkout -- /p/.claude/memory/decisions/use-jwt.json",
    "git rm --cached /p/.claude/memory/index.md",
    "lorelane retire decision/use-jwt --reason 'rm /p/.claude/memory/x'",
    "lorelane update decision/use-jwt --from /p/.claude/memory/decisions/use-jwt.json",
    "mkdir -p /p/.claude/memory/decisions",
    "install -d /p/.claude/memory/decisions",
    "echo '{}' > /p/.claude/memory/memory-config.json",
    "sed -i 's/5/6/' /p/.claude/memory/memory-config.json",
    "echo 'rm /p/.claude/memory/index.md'",
    "echo hi # > /p/.claude/memory/index.md",
    "cat <<EOF\nrm /p/.claude/memory/index.md \\$(rm /p/.claude/memory/index.md) $HOME\nEOF",
    "cat <<E\\OF\n$(rm /p/.claude/memory/index.md)\nEOF",
    "cat <<'EOF'\nrm /p/.claude/memory/index.md\n> /p/.claude/memory/x\nEOF",
    // Drafts are data, whatever they quote.
    "lorelane consolidate commit S <<'EOF'\ntitle: don't rm -rf /p/.claude/memory\n> /p/.claude/memory/index.md\nEOF",
    "lorelane consolidate commit S <<'EOF' 2>&1\n{\"a\": \"$(rm -rf /p/.claude/memory) `rm /p/.claude/memory/index.md`\"}\nEOF\n",
    "cd /p && /bin/lorelane consolidate commit - <<\"EOF\" | head\nbash <<X\nrm -rf .claude/memory\nX\nEOF",
    "lorelane consolidate commit S <<< '{\"a\": \"rm -rf /p/.claude/memory\"}'",
    "bash -lc 'lorelane consolidate commit S <<\"EOF\"\nrm -rf /p/.claude/memory\nEOF'",
    "[[ a > /p/.claude/memory/x ]] && echo yes",
    "(( 3 > 2 )) && echo $(( 4 >> 1 ))",
    "files=(rm /p/.claude/memory/index.md); echo ${files[0]}",
    "git commit -m \"$(cat <<'EOF'\nrm > /p/.claude/memory/index.md (it's done)\nEOF\n)\"",
    "grep -rl jwt /p/.claude/memory | xargs cat",
    "function",
    "rm -rf *",
    "rm -rf ../target ../.claude/commands",
    "rm -rf ../.claude/{commands,agents}",
    "rm /p/.claude",
    "rm \"$FILE\"",
    "rm -rf \"$TMP/\"*",
    "cd \"$SOMEWHERE\" && rm -rf .claude/memory",
    "(cd /p/.claude/memory && ls); rm index.md",
    "cd /p/.claude/memory | rm index.md",
    "ls | cd /p/.claude/memory; rm index.md",
    "rm /p/link",
    "mv /p/link /tmp/link",
    "echo x > ../.claude/memory-notes.md",
    "echo x > /p/.claude/memory.md",
    "touch /elsewhere/.claude/memory/x",
    "mv /tmp/a /tmp/b",
    "python3 -c \"open('/p/.claude/memory/x', 'w')\"",
    "export A=1; cd /tmp; rm -rf .claude/memory",
    // Files in the same folder that are not ours: Claude Code keeps Markdown there (finding 17).
    "echo '- [a](a.md)' >> /p/.claude/memory/MEMORY.md",
    "rm /p/.claude/memory/old-topic.md",
    "mv /tmp/topic.md /p/.claude/memory/",
    "cp /tmp/topic.md ../.claude/memory",
    "sed -i s/a/b/ /p/.claude/memory/{MEMORY,topic}.md",
    "rm /p/.claude/memory/decisions/*.md",
    "rm -rf /p/.claude/memory/archive",
    "mkdir -p /p/.claude/memory/topics && mv /p/.claude/memory/a.md /p/.claude/memory/topics/",
    "echo x > \"$ROOT/.claude/memory/MEMORY.md\"",
    "rm -rf /q/.claude/memory",
    "rm -rf /q/.claude",
    // The same programs, reading or elsewhere.
    "patch --dry-run /p/.claude/memory/decisions/use-jwt.json < /tmp/x.patch",
    "patch -p1 < /p/.claude/memory/x.patch",
    "vim -R /p/.claude/memory/index.md",
    "vim -c wq src/main.rs",
    "view /p/.claude/memory/index.md",
    "awk '{ print $1 }' /p/.claude/memory/index.md",
    "awk '$1 > 5 { print > \"/tmp/x\" }' /p/.claude/memory/index.md",
    "awk -F: '$3 > \"b\"' /p/.claude/memory/index.md",
    "sed -n '/a/w /tmp/x' /p/.claude/memory/index.md",
    "sed 's/how /what /' /p/.claude/memory/index.md",
    "ruby -rjson -e 'puts 1' /p/.claude/memory/decisions/use-jwt.json",
    "ruby -ne 'print' /p/.claude/memory/index.md",
    "busybox cat /p/.claude/memory/index.md",
    "tar -tf /p/.claude/memory/x.tar",
    "tar tzf /tmp/m.tgz",
    "tar xzf /tmp/m.tgz -C /tmp",
    "tar -xf deps.tar",
    "tar -czf /tmp/memory.tgz -C /p .claude/memory",
    "unzip -l /p/.claude/memory/x.zip -d /p/.claude/memory",
    "unzip deps.zip",
    "curl -fsSL https://example.org",
    "curl -d @/p/.claude/memory/index.md https://example.org",
    "curl -o /tmp/x https://example.org",
    "wget -qO- https://example.org",
    "sort /p/.claude/memory/index.md",
    "sort -k 2 -o /tmp/x /p/.claude/memory/index.md",
    "split -l 10 /p/.claude/memory/index.md /tmp/x-",
    "yq .title /p/.claude/memory/decisions/use-jwt.json",
    "prettier --check /p/.claude/memory/decisions/use-jwt.json",
    "prettier --write src",
    "find /p/.claude/memory -name '*.json' -exec cat {} +",
    "find /p -name '*.pyc' -delete",
    "find .. -maxdepth 1 -type f -delete",
    "find ../.claude -type f -exec cat {} +",
    "prettier --write ..",
    "cat <<< 'rm -rf /p/.claude/memory'",
    "find .. -name node_modules -prune -exec rm -rf {} +",
    "find .. -name node_modules | xargs rm -rf",
    "find /p/.claude/memory -name '*.json' | xargs -I{} cp {} /tmp/",
    "ls /p/.claude/memory/decisions | xargs -n 1 basename",
    "cat list.txt | xargs rm",
    "cat /p/.claude/memory/index.md; ls | xargs rm",
    "cd /p && git clean -n",
    "cd /p && git clean -fdn",
    "cd /p && git clean -fdx -e .claude/memory",
    "git -C /p clean -fd src",
    "git clean -fd",
    "bash <<'EOF'\ncat /p/.claude/memory/index.md\nEOF",
    "cat <<'EOF' | tee /tmp/x\nrm /p/.claude/memory/index.md\nEOF",
    "bash script.sh <<'EOF'\nrm /p/.claude/memory/index.md\nEOF",
    "cat $(pwd)/../.claude/memory/index.md",
    "cp -R /p/.claude /tmp/backup",
    "cp -r ../template/.claude/commands ../.claude/",
    "cat \"$ROOT/.claude/memory/index.md\"",
    "echo '{}' > \"$ROOT/.claude/memory/memory-config.json\"",
    "rm -rf \"$TMP\"/*/*",
    "rm -rf \"$TMP/memory\"",
    "cat /p/.lorelane/marks.jsonl",
    "cat /p/.lorelane/id",
    "echo x > /p/.lorelane/expectations.jsonl",
    "echo '{}' >> /p/.lorelane/expectations.jsonl",
    "2>&1",
    "> ",
    "&>",
    "'",
    "$(",
    "${",
    "`",
    "<<",
    "((((((((((((((((((((((((((((((((",
    "\\",
    "$'\\",
    "[[ < ( >",
    "a=(",
];

#[test]
fn commands_that_write_to_the_lane_are_denied() {
    assert!(DENIED.len() >= 40, "{}", DENIED.len());
    for command in DENIED {
        assert!(judge(&shell(command)).is_some(), "not denied: {command}");
    }
}

#[test]
fn commands_that_read_or_write_elsewhere_are_not() {
    assert!(ALLOWED.len() >= 40, "{}", ALLOWED.len());
    for command in ALLOWED {
        assert_eq!(judge(&shell(command)), None, "{command}");
    }
}

/// Whom to trust is for a person to say.
#[test]
fn no_agent_trusts_a_project() {
    let denied = [
        "lorelane trust",
        "lorelane trust --yes",
        "lorelane --json trust --yes",
        "lorelane -C /tmp/clone trust --yes",
        "lorelane -C/tmp/clone trust",
        "lorelane 'trust' --remove",
        "lorelane tr\"us\"t",
        "/usr/local/bin/lorelane trust --yes",
        "./target/debug/lorelane trust",
        "~/.cargo/bin/lorelane trust",
        "lorelane.exe trust",
        "cd /tmp/clone && lorelane trust --yes",
        "echo y | lorelane trust",
        "yes | sudo -u a env LORELANE_HOME=/tmp/h lorelane trust",
        "HOME=/tmp lorelane trust --yes",
        "command lorelane trust",
        "bash -c 'lorelane trust --yes'",
        "bash -lc \"cd /p; lorelane trust\"",
        "sh <<'EOF'\nlorelane trust --yes\nEOF",
        "eval lorelane trust",
        "echo $(lorelane trust --yes)",
        "L=/usr/bin/lorelane; $L trust",
        "if true; then lorelane trust; fi",
        "nohup timeout 5 lorelane trust &",
        "npx lorelane trust",
        "find . -name x -exec lorelane trust ';'",
        "echo '{}' > ~/.local/state/lorelane/trust/p-1/2.json",
        "mkdir -p /tmp/x && cp /tmp/x.json /home/a/.local/state/lorelane/trust/p-1/",
        "cp a.json $XDG_STATE_HOME/lorelane/trust/p-1/",
        "bash <<< 'lorelane trust --yes'",
        "bash -s <<<\"lorelane trust --yes\" >/dev/null",
        "script -qc 'lorelane trust --yes' /dev/null",
        "script /dev/null --command='lorelane trust'",
        "su a -c 'lorelane trust --yes'",
        "$(which lorelane) trust --yes",
        "\"$BIN\" -C /p trust --yes",
    ];
    for command in denied {
        let denial = judge(&shell(command));
        assert!(denial.is_some_and(|denial| denial.attempt.contains("trust")), "not denied: {command}");
    }
    assert!(judge(&write("/home/a/.local/state/lorelane/trust/p-1/2.json")).is_some());
    let allowed = [
        "lorelane status",
        "lorelane doctor --json",
        "lorelane -C trust status",
        "lorelane trust --help",
        "$MISE trust",
        "cat <<< 'lorelane trust --yes'",
        "lorelane search trust",
        "lorelane create decision --title trust",
        "lorelane log -n 3 # lorelane trust",
        "echo lorelane trust",
        "echo 'run lorelane trust'",
        "grep -rn 'lorelane trust' docs",
        "git commit -m 'lorelane trust'",
        "trust lorelane",
        "cat ~/.local/state/lorelane/trust/p-1/2.json",
        "ls /home/a/.local/state/lorelane/trust",
        "cat <<'EOF'\nlorelane trust\nEOF",
    ];
    for command in allowed {
        assert_eq!(judge(&shell(command)), None, "{command}");
    }
}

/// What a repository may not bring, an agent may not set either.
#[test]
fn no_agent_sets_what_protects_the_user() {
    for command in [
        "lorelane config set secrets allow",
        "lorelane --json config set secrets redact",
        "lorelane config --json set auto_commit true",
        "lorelane config set categories.decision.description x",
        "lorelane config set --dry-run delete.grace_period_days 0",
        "`which lorelane` config set secrets allow",
    ] {
        let denial = judge(&shell(command)).unwrap_or_else(|| panic!("not denied: {command}"));
        assert!(denial.instead.contains("ask the user to run `lorelane config set "), "{denial:?}");
    }
    for command in [
        "lorelane config get secrets",
        "lorelane config set retrieval.max_inject 3",
        "lorelane config set --help secrets",
        "git config set secrets allow",
        "$GIT config set user.name x",
    ] {
        assert_eq!(judge(&shell(command)), None, "{command}");
    }
}

#[test]
fn a_command_that_runs_git_is_known() {
    for (command, expected) in [
        ("git pull", true),
        ("cd /p && git -C x stash pop", true),
        ("sudo /usr/bin/git merge a", true),
        ("bash -c 'git rebase main'", true),
        ("x=$(git rev-parse HEAD); make", true),
        ("echo git pull", false),
        ("make digit", false),
        ("cat .git/config", false),
    ] {
        assert_eq!(shell(command).runs_git(), expected, "{command}");
    }
    assert!(!write("git").runs_git());
}

#[test]
fn a_writing_tool_is_judged_by_its_path() {
    for (path, denied) in [
        ("/p/.claude/memory/decisions/use-jwt.json", true),
        ("../.claude/memory/decisions/x.json", true),
        ("/p/link/decisions/x.json", true),
        ("/p/.claude/memory", false),
        ("/p/.claude/memory/notes/memory-config.json", false),
        ("/q/.claude/memory/decisions/x.json", true),
        ("/p/.claude/memory/memory-config.json", false),
        ("/p/.claude/memory/../settings.json", false),
        ("/p/.claude/memoryx/a.json", false),
        ("~/notes.md", false),
        ("main.rs", false),
        ("", false),
        ("/elsewhere/.claude/memory/x.json", false),
        // A file's name is no pattern.
        ("/p/.claude/mem*/x.json", false),
    ] {
        assert_eq!(judge(&write(path)).is_some(), denied, "{path}");
    }
    assert_eq!(judge(&ToolUse::Other), None);
}

#[test]
fn where_the_disk_ignores_case_the_fence_does() {
    for (case, denied) in [(Case::Counts, false), (Case::Ignored, true)] {
        let (lanes, marks) = (vec!["/p/.claude/memory".to_owned()], None);
        let fence =
            GuardedLanes { lanes, marks, id: None, trust: None, usual: OtherProjects::WhereItExists, case };
        let targets = write("/P/.Claude/MEMORY/decisions/x.json").targets(&AROUND);
        assert_eq!(fence.judge(&targets, &disk).is_some(), denied, "{case:?}");
    }
}

#[test]
fn the_usual_folder_is_fenced_by_name_where_the_scripts_did() {
    let targets = write("/elsewhere/.claude/memory/x.json").targets(&AROUND);
    for (usual, denied) in [(OtherProjects::WhereItExists, false), (OtherProjects::ByName, true)] {
        let fence =
            GuardedLanes { lanes: Vec::new(), marks: None, id: None, trust: None, usual, case: Case::Counts };
        assert_eq!(fence.judge(&targets, &disk).is_some(), denied, "{usual:?}");
    }
}

#[test]
fn a_denial_names_the_command_to_use_instead() {
    let mut seen = String::new();
    for tool in [
        write("/p/.claude/memory/decisions/use-jwt.json"),
        write("/p/.claude/memory/decisions/new.json"),
        write("/p/.claude/memory/index.md"),
        write("/p/.claude/memory/runbooks/a.json"),
        shell("rm ../.claude/memory/decisions/use-jwt.json"),
        shell("mv ../.claude/memory/decisions/*.json /tmp"),
        shell("sed -i s/a/b/ ../.claude/memory/decisions/*.json"),
        shell("echo x > ../.claude/memory/tech-debt/a.json"),
        shell("rm -rf ../.claude"),
        shell("cp -r ../backup/.claude .."),
        shell("rm -f \"$ROOT/.claude/memory/decisions/use-jwt.json\""),
        write("/p/.lorelane/marks.jsonl"),
        write("/p/.lorelane/id"),
    ] {
        seen.push_str(&format!("{}\n", judge(&tool).unwrap()));
    }
    expect![[r#"
        cannot write /p/.claude/memory/decisions/use-jwt.json: only lorelane may write to the memory folder, so that every change is validated, journalled and indexed
        hint: use `lorelane update decision/use-jwt --set FIELD=VALUE --because REASON`
        cannot write /p/.claude/memory/decisions/new.json: only lorelane may write to the memory folder, so that every change is validated, journalled and indexed
        hint: use `lorelane create decision --title TITLE --set FIELD=VALUE`, or `--from FILE` with a draft from another folder
        cannot write /p/.claude/memory/index.md: only lorelane may write to the memory folder, so that every change is validated, journalled and indexed
        hint: `index.md` is generated from the memories; `lorelane reindex` rewrites it
        cannot write /p/.claude/memory/runbooks/a.json: only lorelane may write to the memory folder, so that every change is validated, journalled and indexed
        hint: use `lorelane create runbook --title TITLE --set FIELD=VALUE`, or `--from FILE` with a draft from another folder
        cannot remove ../.claude/memory/decisions/use-jwt.json with `rm`: only lorelane may write to the memory folder, so that every change is validated, journalled and indexed
        hint: use `lorelane retire decision/use-jwt --reason REASON`
        cannot move ../.claude/memory/decisions/*.json with `mv`: only lorelane may write to the memory folder, so that every change is validated, journalled and indexed
        hint: use `lorelane retire ADDRESS --reason REASON`
        cannot write ../.claude/memory/decisions/*.json with `sed`: only lorelane may write to the memory folder, so that every change is validated, journalled and indexed
        hint: use `lorelane create CATEGORY --title TITLE --set FIELD=VALUE` for a new memory, `lorelane update ADDRESS --set FIELD=VALUE --because REASON` for an existing one
        cannot write ../.claude/memory/tech-debt/a.json with `>`: only lorelane may write to the memory folder, so that every change is validated, journalled and indexed
        hint: use `lorelane create tech_debt --title TITLE --set FIELD=VALUE`, or `--from FILE` with a draft from another folder
        cannot remove or move ../.claude: it contains the memory folder
        hint: retire single memories with `lorelane retire ADDRESS --reason REASON`; if the whole folder must be removed, ask the user
        cannot overwrite ../.claude: it contains the memory folder
        hint: retire single memories with `lorelane retire ADDRESS --reason REASON`; if the whole folder must be removed, ask the user
        cannot remove …/.claude/memory/decisions/use-jwt.json with `rm`: only lorelane may write to the memory folder, so that every change is validated, journalled and indexed
        hint: use `lorelane retire decision/use-jwt --reason REASON`
        cannot change /p/.lorelane/marks.jsonl: lorelane keeps pins, former addresses and rejections in `marks.jsonl`
        hint: use `lorelane pin`, `lorelane unpin` or `lorelane reject`
        cannot change /p/.lorelane/id: it identifies the journal of this project
        hint: leave it unchanged; git ignores it
    "#]]
    .assert_eq(&seen);
}

#[test]
fn a_denial_is_one_line_and_a_hint_whatever_was_typed() {
    let hostile = format!("/p/.claude/memory/decisions/a\n\u{202e}\u{1b}[31m{}.json", "x".repeat(5_000));
    let text = judge(&write(&hostile)).unwrap().to_string();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.chars().count() < 800 && !text.contains(['\u{202e}', '\u{1b}']), "{text}");
}

// A guard runs before every command of an agent: no text may slow it down.
#[test]
fn enormous_and_hostile_commands_are_read_within_bounds() {
    let big = 1 << 20;
    let texts = [
        "(".repeat(big),
        "$(".repeat(big / 2),
        "`".repeat(big),
        "[".repeat(big),
        "{a,".repeat(big / 3),
        "{a,b}".repeat(big / 5),
        "{a,b} ".repeat(big / 6),
        "[[ ".repeat(big / 3),
        "<".repeat(big),
        "a <b ".repeat(big / 5),
        "<<E ".repeat(big / 4),
        "<<E\n".repeat(big / 4),
        "'\"".repeat(big / 2),
        "rm a;".repeat(big / 5),
        "for a in ".repeat(big / 9),
        "function f ".repeat(big / 11),
        "eval ".repeat(big / 5),
        "sudo ".repeat(big / 5),
        format!("a=xxxxxxxx; {} {}", "a=$a$a;".repeat(20), "$a ".repeat(big / 3)),
        format!("rm {}", "../".repeat(big / 3)),
        format!("rm {}", "*".repeat(big)),
        format!("cat > /p/.claude/memory/index.md <<E\n{}\nE\n", "x\n".repeat(big)),
        "bash <<E\n".repeat(big / 9),
        "xargs rm a | ".repeat(big / 13),
        "xargs ".repeat(big / 6),
        format!("find a b c d {}", "-exec ".repeat(big / 6)),
        format!("find a b c d -exec rm {} +", "{} ".repeat(big / 3)),
        format!("find {}", "-exec find ".repeat(big / 11)),
        format!("sed '{}'", "w ".repeat(big / 2)),
        format!("awk '{}'", ">\"".repeat(big / 2)),
        format!("rm $a{}", "/b".repeat(big / 2)),
    ];
    for text in texts {
        // What is read, looked up on the disk and reported is bounded, whatever was typed.
        let targets = shell(&text).targets(&AROUND).places;
        let head: String = text.chars().take(20).collect();
        assert!(targets.len() <= 256, "{head}: {} targets", targets.len());
        assert_eq!(judge(&shell(&text)).is_some(), text.contains("/memory/index.md"), "{head}");
    }
}

#[test]
fn what_stands_after_a_long_document_is_still_read() {
    let command =
        format!("cat > /tmp/x <<E\n{}\nE\nrm /p/.claude/memory/index.md", "{a,b} $x\n".repeat(200_000));
    assert!(judge(&shell(&command)).is_some());
}

proptest! {
    #[test]
    fn any_text_is_read(command in "\\PC{0,200}", path in "\\PC{0,80}") {
        judge(&shell(&command));
        judge(&write(&path));
    }

    #[test]
    fn any_syntax_is_read(command in "([rm>&|;<(){}$`'\"\\\\#~*?\\[\\]=,! \n]|/p/.claude/memory/x|E){0,60}") {
        judge(&shell(&command));
    }

    // Quotes around a path do not hide it.
    #[test]
    fn a_quoted_name_in_the_lane_is_found(name in "[a-zé日 $*'\"]{1,20}") {
        let quoted = format!("'{}'", format!("/p/.claude/memory/decisions/{name}.json").replace('\'', "'\\''"));
        let (writes, reads) = (format!("echo x >{quoted}"), format!("cat {quoted}"));
        prop_assert!(judge(&shell(&writes)).is_some());
        prop_assert!(judge(&shell(&reads)).is_none());
    }
}

/// Whether any of these uses is denied.
fn denied(uses: &[ToolUse]) -> bool {
    uses.iter().any(|tool| judge(tool).is_some())
}

// Only the folder of the session counted.
#[test]
fn a_command_is_judged_where_it_runs() {
    for (command, folder, expected) in [
        ("rm index.md", Some("/p/.claude/memory"), true),
        ("rm index.md", Some("../.claude/memory"), true),
        ("rm index.md", Some("../.claude/memory/decisions/.."), true),
        ("rm decisions/use-jwt.json", Some("/p/link"), true),
        ("rm index.md", Some("/p"), false),
        ("rm index.md", Some("docs"), false),
        ("rm index.md", None, false),
        ("cat index.md", Some("/p/.claude/memory"), false),
        ("cd /p/src && rm index.md", Some("/p/.claude/memory"), false),
        ("echo hi > $PWD/index.md", Some("/p/.claude/memory"), true),
    ] {
        assert_eq!(denied(&ToolUse::of_command(command, folder)), expected, "{command} in {folder:?}");
    }
}

// Of a list only the last word was read.
#[test]
fn a_list_of_arguments_is_a_command() {
    let table: [(&[&str], bool); 10] = [
        (&["rm", "-rf", "../.claude/memory"], true),
        (&["rm", "-rf", "/p/.claude/memory", "build"], true),
        (&["tee", "/p/.claude/memory/decisions/it's.json"], true),
        (&["bash", "-lc", "rm -rf /p/.claude/memory"], true),
        (&["/bin/sh", "-c", "echo {} > /p/.claude/memory/index.md"], true),
        (&["bash", "-o", "pipefail", "-c", "rm -rf /p/.claude/memory"], true),
        // No shell takes these apart.
        (&["echo", ">", "/p/.claude/memory/x"], false),
        (&["touch", "$HOME/x; rm -rf /p/.claude/memory"], false),
        (&["cat", "/p/.claude/memory/index.md"], false),
        (&[], false),
    ];
    for (words, expected) in table {
        assert_eq!(denied(&ToolUse::of_words(words, None)), expected, "{words:?}");
    }
}

#[test]
fn a_tool_of_a_server_is_judged_by_its_name_and_its_arguments() {
    let lane = r#"{"path": "/p/.claude/memory/decisions/x.json"}"#;
    for (name, input, expected) in [
        ("mcp__filesystem__write_file", lane, true),
        ("mcp_filesystem_write_file", lane, true),
        ("filesystem-edit_file", lane, true),
        ("filesystem_create_file", r#"{"filePath": "../.claude/memory/decisions/x.json"}"#, true),
        (
            "mcp__fs__move_file",
            r#"{"source": "a", "destination": "/p/.claude/memory/decisions/a.json"}"#,
            true,
        ),
        ("mcp__fs__move_file", r#"{"source": "/p/.claude/memory/index.md", "destination": "a"}"#, true),
        ("mcp__fs__delete_files", r#"{"paths": ["a", "/p/.claude/memory/index.md"]}"#, true),
        ("mcp__filesystem__write_file", r#"{"path": "/p/src/x.rs"}"#, false),
        ("mcp__filesystem__write_file", r#"{"path": 5}"#, false),
        ("mcp__filesystem__read_file", lane, false),
        ("mcp__fs__save_file", lane, true),
        ("mcp__fs__update_file", lane, true),
        ("mcp__fs__put_file", lane, true),
        ("mcp__fs__read_output", lane, false),
        ("mcp__serena__replace_regex", r#"{"relative_path": "../.claude/memory/decisions/x.json"}"#, true),
        ("mcp__fs__copy_file", r#"{"source": "a", "destination": "/p/.claude/memory/index.md"}"#, true),
        ("mcp__fs__copy_file", r#"{"source": "/p/.claude/memory/index.md", "destination": "a"}"#, false),
        ("mcp__filesystem__create_directory", lane, false),
        ("mcp__lorelane__memory_write", lane, false),
        ("", lane, false),
    ] {
        let input = Json::parse(input).unwrap();
        assert_eq!(denied(&ToolUse::of_foreign(name, &input)), expected, "{name}");
    }
}

#[test]
fn a_patch_is_judged_by_every_file_it_names() {
    let patch = |head: &str| format!("*** Begin Patch\n{head}\n+{{}}\n*** End Patch\n");
    for (head, folder, expected) in [
        ("*** Add File: ../.claude/memory/decisions/x.json", None, true),
        ("*** Update File: /p/.claude/memory/decisions/use-jwt.json", None, true),
        ("*** Delete File: /p/link/decisions/use-jwt.json\r", None, true),
        ("*** Update File: a.rs\n*** Move to: ../.claude/memory/runbooks/a.json", None, true),
        ("*** Add File: decisions/x.json", Some("/p/.claude/memory"), true),
        ("*** Add File: /p/src/x.json", Some("/p/.claude/memory"), false),
        ("*** Add File: src/x.json", None, false),
        ("+*** Add File: ../.claude/memory/decisions/x.json", None, false),
    ] {
        let patch = patch(head);
        assert_eq!(denied(&ToolUse::of_patch(&patch, folder)), expected, "{head}");
        assert_eq!(denied(&ToolUse::of_words(&["apply_patch", &patch], folder)), expected, "{head}");
        let line = format!("apply_patch <<'END'\n{patch}END\n");
        assert_eq!(denied(&ToolUse::of_command(&line, folder)), expected, "{head}");
        assert_eq!(denied(&ToolUse::of_words(&["bash", "-lc", &line], folder)), expected, "{head}");
    }
    let inside = patch("*** Add File: decisions/x.json");
    assert!(denied(&ToolUse::of_command(&format!("cd ../.claude/memory && apply_patch '{inside}'"), None)));
    assert!(denied(&ToolUse::of_command(
        &format!("cd memory && apply_patch '{inside}'"),
        Some("../.claude")
    )));
    assert!(denied(&ToolUse::of_command("apply_patch x; rm /p/.claude/memory/index.md", None)));
}

#[test]
fn the_names_of_json_files_are_found_in_any_command() {
    let shell = |command: &str| ToolUse::Shell { command: command.to_owned(), folder: None };
    for (tool, expected) in [
        (shell("python fix.py .claude/memory/decisions/use-jwt.json"), vec!["use-jwt.json"]),
        (shell("node -e \"write('a.json', `b.json`)\" --to=x/c.json;ls"), vec!["a.json", "b.json", "c.json"]),
        (shell("cargo test"), vec![]),
        (ToolUse::Write { path: "/p/d.json".to_owned() }, vec!["d.json"]),
        (ToolUse::Other, vec![]),
    ] {
        assert_eq!(tool.json_files(), expected, "{tool:?}");
    }
}
