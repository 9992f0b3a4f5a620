//! Which words are names of files, symbols, branches, packages, versions, commits, commands or addresses.

use super::ClaimKind;
use super::markdown::{Piece, PieceKind};

/// A longer code span is an example and not a name.
const CODE_MAX: usize = 300;
const PATH_MAX: usize = 300;
const SYMBOL_MIN: usize = 4;
const SYMBOL_MAX: usize = 120;
const EXTENSION_MAX: usize = 8;

/// Extensions by which a name without a folder is a file. With a folder any short extension will do.
const EXTENSIONS: &[&str] = &[
    "adoc",
    "astro",
    "bash",
    "bat",
    "bazel",
    "c",
    "cc",
    "cfg",
    "cjs",
    "clj",
    "cmake",
    "conf",
    "cpp",
    "cs",
    "css",
    "csv",
    "cts",
    "cu",
    "dart",
    "db",
    "dockerfile",
    "env",
    "erl",
    "ex",
    "exs",
    "fish",
    "gleam",
    "go",
    "gql",
    "gradle",
    "graphql",
    "grit",
    "groovy",
    "h",
    "hbs",
    "hcl",
    "hpp",
    "hs",
    "html",
    "ini",
    "ipynb",
    "java",
    "jl",
    "js",
    "json",
    "json5",
    "jsonc",
    "jsonl",
    "jsx",
    "kt",
    "kts",
    "less",
    "lock",
    "lua",
    "m",
    "md",
    "mdx",
    "mjs",
    "mk",
    "ml",
    "mod",
    "mts",
    "nix",
    "php",
    "pl",
    "plist",
    "proto",
    "ps1",
    "py",
    "pyi",
    "r",
    "rb",
    "rs",
    "rst",
    "sass",
    "scala",
    "scss",
    "sh",
    "snap",
    "sql",
    "sqlite",
    "sum",
    "svelte",
    "svg",
    "swift",
    "tf",
    "toml",
    "ts",
    "tsx",
    "txt",
    "ungram",
    "vue",
    "wasm",
    "xml",
    "yaml",
    "yml",
    "zig",
    "zsh",
];
/// Prose: a symbol that is left only here is gone from the code.
const PROSE: &[&str] = &["adoc", "md", "mdx", "rst", "txt"];
/// Words of examples: a path with one of them as a component names nothing.
const EXAMPLES: &[&str] = &[
    "bar",
    "baz",
    "example",
    "examples.com",
    "filename",
    "foo",
    "foobar",
    "my-file",
    "my-project",
    "myfile",
    "name",
    "path",
    "qux",
    "some",
    "to",
    "xxx",
    "your",
    "your-file",
    "your-project",
];
/// Prefixes of branches that no folder has by custom.
const BRANCH_PREFIXES: &[&str] =
    &["bugfix", "chore", "dependabot", "feat", "feature", "fix", "hotfix", "renovate"];
/// Branches that have these names by custom.
const BRANCHES: &[&str] = &["dev", "develop", "main", "master", "production", "staging", "trunk"];
/// Words that the object of "depends on" may be followed by.
const BEHIND_PACKAGE: &[&str] =
    &["and", "as", "because", "but", "for", "from", "in", "or", "since", "to", "with"];
/// Words that stand before "package" and the like without being names, and may stand in a manifest.
const ORDINARY: &[&str] = &[
    "all",
    "and",
    "another",
    "any",
    "base",
    "build",
    "client",
    "common",
    "core",
    "default",
    "dev",
    "each",
    "every",
    "external",
    "first",
    "for",
    "from",
    "full",
    "his",
    "internal",
    "into",
    "its",
    "last",
    "latest",
    "library",
    "local",
    "main",
    "module",
    "new",
    "next",
    "npm",
    "old",
    "one",
    "only",
    "open",
    "other",
    "our",
    "own",
    "package",
    "parent",
    "private",
    "public",
    "python",
    "release",
    "root",
    "runtime",
    "same",
    "second",
    "shared",
    "single",
    "small",
    "source",
    "standard",
    "test",
    "that",
    "the",
    "their",
    "them",
    "these",
    "third-party",
    "this",
    "those",
    "types",
    "utility",
    "version",
    "which",
    "whole",
    "whose",
    "with",
    "workspace",
    "your",
];
/// Words beside a code span that make it a package.
const PACKAGE_WORDS: &[&str] = &[
    "crate",
    "crates",
    "dependencies",
    "dependency",
    "gem",
    "libraries",
    "library",
    "module",
    "npm",
    "package",
    "packages",
    "pip",
];
/// Tools and services whose version is written down in a repository.
const VERSIONED: &[&str] = &[
    "angular",
    "django",
    "go",
    "java",
    "kotlin",
    "laravel",
    "mongodb",
    "mysql",
    "next.js",
    "node",
    "node.js",
    "nodejs",
    "php",
    "postgres",
    "postgresql",
    "python",
    "rails",
    "react",
    "redis",
    "ruby",
    "rust",
    "spring",
    "svelte",
    "swift",
    "typescript",
    "vue",
];
/// A longer word is none of them, punctuation around it included.
const VERSIONED_MAX: usize = 20;
/// Runners of the scripts of a project.
const SCRIPT_RUNNERS: &[&str] = &["bun", "npm", "pnpm", "yarn"];
/// Names with inner capitals that are not in code: products and languages.
const PRODUCTS: &[&str] = &[
    "DynamoDB",
    "GitHub",
    "GitLab",
    "GraphQL",
    "JavaScript",
    "LinkedIn",
    "MongoDB",
    "MySQL",
    "OpenAI",
    "PostgreSQL",
    "PowerShell",
    "SQLite",
    "StackOverflow",
    "TypeScript",
    "WebSocket",
    "YouTube",
    "iOS",
    "macOS",
];

/// A piece with its neighbours.
pub(super) struct Context<'c, 't> {
    pub(super) pieces: &'c [Piece<'t>],
    pub(super) at: usize,
}

impl<'t> Context<'_, 't> {
    /// The word this many pieces away in the same sentence, in lower case and without punctuation; empty if none.
    fn word(&self, distance: isize) -> String {
        let sentence = self.pieces[self.at].sentence;
        let near = self.at.checked_add_signed(distance).and_then(|at| self.pieces.get(at));
        let near = near.filter(|piece| piece.kind == PieceKind::Word && piece.sentence == sentence);
        let word = near.map_or("", |piece| piece.text.trim_matches(|c: char| !c.is_alphanumeric()));
        if word.len() > 24 { String::new() } else { word.to_lowercase() }
    }

    /// Whether the piece touches one of these words: "the `x` package", "package `x`", "branch: `x`".
    fn is_beside(&self, words: &[&str]) -> bool {
        [-1, 1].into_iter().any(|distance| words.contains(&self.word(distance).as_str()))
    }
}

/// Calls `visit` for every name in a piece.
pub(super) fn each_name(context: &Context<'_, '_>, visit: &mut dyn FnMut(ClaimKind, &str)) {
    let piece = &context.pieces[context.at];
    match piece.kind {
        PieceKind::Code => in_code(context, piece.text.trim(), visit),
        PieceKind::LinkTarget => in_target(piece.text, visit),
        PieceKind::Word => in_words(context, piece.text, visit),
    }
}

fn in_code(context: &Context<'_, '_>, code: &str, visit: &mut dyn FnMut(ClaimKind, &str)) {
    if code.is_empty() || code.len() > CODE_MAX {
        return;
    }
    if let Some(url) = url(code) {
        return visit(ClaimKind::Url, url);
    }
    if let Some(command) = command(code) {
        return visit(ClaimKind::Command, command);
    }
    if code.split_whitespace().nth(1).is_some() {
        let words = code.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '=' | ',' | ';'));
        for word in words.filter(|word| !word.is_empty()) {
            match path_in_words(word) {
                Some((kind, path)) => visit(kind, path),
                None => symbols(word, visit),
            }
        }
        return;
    }
    if is_branch(context, code) {
        return visit(ClaimKind::Branch, code);
    }
    if is_commit(code) {
        return visit(ClaimKind::Commit, code);
    }
    if is_package(context, code) {
        return visit(ClaimKind::Package, code);
    }
    match path_in_code(code) {
        Some((kind, path)) => visit(kind, path),
        None => symbols(code, visit),
    }
}

fn in_target(target: &str, visit: &mut dyn FnMut(ClaimKind, &str)) {
    if let Some(url) = url(target) {
        return visit(ClaimKind::Url, url);
    }
    let path = target.split(['#', '?']).next().unwrap_or_default();
    let path = path.strip_prefix("./").unwrap_or(path);
    // A page of a site has no extension; only a file is plainly a file.
    if let Some((ClaimKind::File, path)) = path_in_code(path) {
        visit(ClaimKind::File, path);
    }
}

fn in_words(context: &Context<'_, '_>, word: &str, visit: &mut dyn FnMut(ClaimKind, &str)) {
    let bare = word.trim_matches(|c: char| matches!(c, '(' | ')' | '*' | '\'' | ',' | ';' | '!' | '<' | '>'));
    if let Some(url) = url(bare) {
        return visit(ClaimKind::Url, url);
    }
    if let Some((kind, path)) = path_in_words(word) {
        return visit(kind, path);
    }
    let plain = word.trim_matches(|c: char| !c.is_alphanumeric());
    if is_commit(plain) && ["commit", "revision", "sha"].contains(&context.word(-1).as_str()) {
        return visit(ClaimKind::Commit, plain);
    }
    if let Some(version) = version(context, plain) {
        return visit(ClaimKind::Version, &version);
    }
    word_symbol(word, visit);
}

/// A symbol outside code: only in a form that no ordinary word has.
fn word_symbol(word: &str, visit: &mut dyn FnMut(ClaimKind, &str)) {
    let plain =
        word.trim_matches(|c: char| matches!(c, '(' | ',' | ';' | ':' | '.' | '!' | '?' | '*' | '\''));
    let plain = plain.strip_suffix("()").unwrap_or(plain.trim_end_matches(')'));
    let is_dotted = plain.contains("::") || plain.contains('.');
    let is_one = plain.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':' || c == '.');
    if !is_one {
        return;
    }
    // `Type::method` in words names the type too, and a method of one word only with it.
    if let Some((owners, _)) = plain.rsplit_once("::") {
        owners.split("::").filter(|owner| is_symbol(owner)).for_each(|owner| visit(ClaimKind::Symbol, owner));
    }
    let last = plain.rsplit([':', '.']).next().unwrap_or(plain);
    let is_snake = last.trim_matches('_').contains('_');
    let is_camel = last.starts_with(|c: char| c.is_ascii_lowercase()) && last.len() > 5;
    if is_symbol(last) && (is_snake || is_camel || (is_dotted && plain.contains("::"))) {
        visit(ClaimKind::Symbol, last);
    }
}

/// Every identifier of a code span that has the form of a name in code.
fn symbols(code: &str, visit: &mut dyn FnMut(ClaimKind, &str)) {
    let bytes = code.as_bytes();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut at = 0;
    while at < bytes.len() {
        if !is_part(&bytes[at]) {
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().take_while(|byte| is_part(byte)).count();
        let (before, after) = (at.checked_sub(1).map(|at| bytes[at]), bytes.get(end).copied());
        let word = &code[at..end];
        if !is_piece_of_pattern(word, before, after) {
            let is_called = after == Some(b'(') && is_callable(word);
            if is_symbol(word) || is_called {
                visit(ClaimKind::Symbol, word);
            }
        }
        at = end;
    }
}

/// `get_` of `get_*`, `_id` of `{name}_id`, `fooBar` of `foo-fooBar` and `$fooBar`: not a whole name. Letters of
/// another alphabet belong to the word too.
fn is_piece_of_pattern(word: &str, before: Option<u8>, after: Option<u8>) -> bool {
    let is_wild =
        |byte: Option<u8>| byte.is_some_and(|byte| matches!(byte, b'*' | b'{' | b'}' | b'$' | b'%'));
    let is_foreign = |byte: Option<u8>| byte.is_some_and(|byte| !byte.is_ascii());
    let is_joined = |byte: Option<u8>| byte == Some(b'-');
    is_wild(before)
        || is_wild(after)
        || is_foreign(before)
        || is_foreign(after)
        || is_joined(before)
        || is_joined(after)
        || (word.ends_with('_') && after == Some(b'<'))
        || (word.starts_with('_') && before == Some(b'>'))
}

/// camelCase, PascalCase with a second capital, snake_case or SHOUTING_CASE.
fn is_symbol(word: &str) -> bool {
    if !(SYMBOL_MIN..=SYMBOL_MAX).contains(&word.len()) || word.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let inner = word.trim_matches('_');
    let has_lower = inner.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_shouting =
        !has_lower && inner.contains('_') && inner.starts_with(|c: char| c.is_ascii_uppercase());
    if is_shouting || !has_lower || PRODUCTS.contains(&word) {
        return is_shouting;
    }
    let first = inner.bytes().next().unwrap_or_default();
    let has_inner_upper = inner.bytes().skip(1).any(|byte| byte.is_ascii_uppercase());
    inner.contains('_') || has_inner_upper && (first.is_ascii_lowercase() || first.is_ascii_uppercase())
}

/// A name before `(`: any word of code that is long enough.
fn is_callable(word: &str) -> bool {
    (SYMBOL_MIN + 1..=SYMBOL_MAX).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// A path in a code span: with a folder, with the extension of a file, or ending in a slash.
pub(super) fn path_in_code(text: &str) -> Option<(ClaimKind, &str)> {
    let (path, is_folder) = path(text)?;
    let name = path.rsplit('/').next().unwrap_or(path);
    let (has_slash, extension) = (path.contains('/'), extension(name));
    if !is_folder && has_slash && extension.is_some() {
        return Some((ClaimKind::File, path));
    }
    if !is_folder && extension.is_some_and(|extension| EXTENSIONS.contains(&extension)) && !is_domain(name) {
        return Some((ClaimKind::File, path));
    }
    // Without an extension: a folder, or a file such as `bin/run`. A name with capitals may be `Ctrl/Cmd`.
    let is_lower = !path.bytes().any(|byte| byte.is_ascii_uppercase()) || path.matches('/').count() > 1;
    (is_folder || (has_slash && is_lower)).then_some((ClaimKind::Folder, path))
}

/// A path among words: a file with its folder, or a folder with a slash at its end.
pub(super) fn path_in_words(word: &str) -> Option<(ClaimKind, &str)> {
    let trims = |c: char| matches!(c, '(' | ')' | '*' | '\'' | ',' | ';' | ':' | '!' | '"');
    let word = word.trim_matches(trims).trim_end_matches('.');
    let (path, is_folder) = path(word).filter(|(path, _)| path.contains('/'))?;
    let name = path.rsplit('/').next().unwrap_or(path);
    match is_folder {
        true => Some((ClaimKind::Folder, path)),
        false => extension(name).map(|_| (ClaimKind::File, path)),
    }
}

/// A relative path without its line number, and whether it ends in a slash.
fn path(text: &str) -> Option<(&str, bool)> {
    let text = without_line(text);
    let text = text.strip_prefix("./").unwrap_or(text);
    let is_folder = text.ends_with('/');
    let path = text.trim_end_matches('/');
    let is_part = |c: char| {
        c.is_alphanumeric()
            || matches!(c, '/' | '.' | '_' | '-' | '+' | '@' | '(' | ')' | '[' | ']' | '~' | '=')
    };
    let is_plain =
        path.len() <= PATH_MAX && path.chars().all(is_part) && !path.starts_with(['/', '~', '.'].as_slice())
            || is_dotted_start(path) && path.chars().all(is_part) && path.len() <= PATH_MAX;
    if path.is_empty() || !is_plain || path.contains("//") || path.contains("...") || path.contains("()") {
        return None;
    }
    let parts: Vec<&str> = path.split('/').collect();
    let is_number = |part: &str| part.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '-');
    let is_invalid = |part: &&str| *part == ".." || *part == ".";
    let is_example = |part: &&str| {
        let stem = part.split('.').next().unwrap_or(part).to_ascii_lowercase();
        EXAMPLES.contains(&stem.as_str()) || stem.starts_with("your") || stem.starts_with("xxx")
    };
    // Dates and ratios; a host name at the beginning; `path/to/file`.
    let is_excluded = parts.iter().all(|part| is_number(part))
        || parts.iter().any(is_invalid)
        || parts.iter().any(is_example)
        || (parts.len() > 1 && is_domain(parts[0]));
    let has_letters = path.bytes().any(|byte| byte.is_ascii_alphabetic()) || !path.is_ascii();
    (!is_excluded && has_letters).then_some((path, is_folder))
}

/// A hidden file or folder of the project: `.github/workflows`.
fn is_dotted_start(path: &str) -> bool {
    path.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

/// Removes `:12`, `:12-30`, `:12:4`, `#L12` and `#anchor` behind a path.
fn without_line(text: &str) -> &str {
    let text = text.split('#').next().unwrap_or(text);
    let mut path = text;
    while let Some((before, number)) = path.rsplit_once(':') {
        let is_number =
            !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b','));
        if !is_number {
            // `file.rs::function` names the file too.
            return path.split_once("::").map_or(path, |(file, _)| file);
        }
        path = before;
    }
    path
}

/// The extension of a file name: letters and digits, with at least one letter.
fn extension(name: &str) -> Option<&str> {
    let (stem, extension) = name.rsplit_once('.')?;
    let is_short = (1..=EXTENSION_MAX).contains(&extension.len());
    let is_plain = extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && extension.bytes().any(|byte| byte.is_ascii_alphabetic());
    // `.env` is a name without an extension, and a file all the same.
    (is_short && is_plain && !(stem.is_empty() && extension.len() > EXTENSION_MAX)).then_some(extension)
}

fn is_domain(name: &str) -> bool {
    const ENDS: [&str; 9] = [".com", ".org", ".net", ".io", ".dev", ".ai", ".app", ".co", ".sh"];
    // A shell script is a file, not a host of two parts.
    let is_host = |end: &str| name.ends_with(end) && (end != ".sh" || name.matches('.').count() > 1);
    !name.starts_with('.') && ENDS.into_iter().any(is_host)
}

/// Whether a tracked file is prose.
pub fn is_prose_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    extension.is_some_and(|extension| PROSE.contains(&extension.as_str()))
}

fn url(text: &str) -> Option<&str> {
    let begins = text.starts_with("https://") || text.starts_with("http://");
    let text = if begins { text } else { return None };
    let end =
        text.find(|c: char| c.is_whitespace() || matches!(c, '>' | '"' | '\'' | '`')).unwrap_or(text.len());
    let url = text[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '*']);
    let host = url.split_once("://").map_or("", |(_, rest)| rest).split(['/', ':', '?']).next().unwrap_or("");
    let is_placeholder =
        url.contains(['<', '{', '$', '*']) || host.contains("example.") || !host.contains('.');
    (!is_placeholder).then_some(url)
}

/// A branch: beside the word, or with a prefix that only branches have.
fn is_branch(context: &Context<'_, '_>, code: &str) -> bool {
    let is_name = code.len() <= 100
        && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.'))
        && !code.ends_with(['/', '.'])
        && !code.starts_with(['/', '.', '-']);
    let prefix = code.split_once('/').map(|(prefix, _)| prefix);
    let is_prefixed = prefix.is_some_and(|prefix| BRANCH_PREFIXES.contains(&prefix));
    let has_extension = extension(code.rsplit('/').next().unwrap_or(code))
        .is_some_and(|extension| EXTENSIONS.contains(&extension));
    is_name && !has_extension && (is_prefixed || context.is_beside(&["branch", "branches"]))
}

/// A branch or a package outside code: an ordinary word in a place where such names stand. It is a claim only once the
/// repository was seen to have it.
pub(super) fn tentative_name<'t>(context: &Context<'_, 't>) -> Option<(ClaimKind, &'t str)> {
    let piece = &context.pieces[context.at];
    if piece.kind != PieceKind::Word {
        return None;
    }
    let name = piece.text.trim_matches(|c: char| !(c.is_alphanumeric() || c == '@'));
    let is_beside_branch = || context.word(1) == "branch" || context.word(-1).starts_with("branch");
    let is_prefixed = name
        .split_once('/')
        .is_some_and(|(prefix, rest)| BRANCH_PREFIXES.contains(&prefix) && !rest.is_empty());
    if (is_prefixed || BRANCHES.contains(&name)) && is_beside_branch() && is_branch(context, name) {
        return Some((ClaimKind::Branch, name));
    }
    let (next, is_last) = (context.word(1), piece.text.ends_with(['.', ',', ';', ')']));
    let depends = context.word(-1) == "on" && context.word(-2).starts_with("depend");
    let is_object = depends && (is_last || next.is_empty() || BEHIND_PACKAGE.contains(&next.as_str()));
    let is_place = is_object || (!is_last && ["crate", "gem", "library", "package"].contains(&next.as_str()));
    let is_name = is_place && name.len() > 2 && is_package_name(name) && !ORDINARY.contains(&name);
    is_name.then_some((ClaimKind::Package, name))
}

fn is_commit(text: &str) -> bool {
    (7..=40).contains(&text.len())
        && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// A package: a name in lower case beside a word such as "package". One with an underscore is a symbol too, and is
/// settled as that: its manifest is among the files that are searched.
fn is_package(context: &Context<'_, '_>, code: &str) -> bool {
    let depends = context.word(-1) == "on" && context.word(-2).starts_with("depend");
    is_package_name(code) && (is_scoped(code) || depends || context.is_beside(PACKAGE_WORDS))
}

/// `@scope/name`
fn is_scoped(name: &str) -> bool {
    name.strip_prefix('@').is_some_and(|name| name.matches('/').count() == 1)
}

fn is_package_name(text: &str) -> bool {
    let name = text.strip_prefix('@').unwrap_or(text);
    let is_part =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'/');
    name.len() > 1
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(is_part)
        && (is_scoped(text) || !name.contains('/'))
        && extension(name).is_none_or(|extension| !EXTENSIONS.contains(&extension))
}

/// "Node 22": a tool of the table and the number right behind it.
fn version(context: &Context<'_, '_>, word: &str) -> Option<String> {
    let tool = word.to_lowercase();
    if !VERSIONED.contains(&tool.as_str()) {
        return None;
    }
    let next = context.pieces.get(context.at + 1).filter(|next| next.kind == PieceKind::Word)?;
    let number = next.text.trim_start_matches('v').trim_end_matches(|c: char| !c.is_ascii_digit());
    let is_version = version_numbers(number).is_some() && number.len() < 12;
    // "Go 2 steps back", "Rust 2024": an edition and a count are no versions.
    let is_plural = context.pieces.get(context.at + 2).is_some_and(|after| {
        let after = after.text.trim_end_matches(|c: char| !c.is_alphanumeric());
        number.len() == 1 && after.ends_with('s') && next.text == number
    });
    (is_version && !is_plural).then(|| format!("{word} {number}"))
}

/// Whether a text may have a claim about a version. Cheap, for a search in many texts: only what is before a number is
/// looked at.
pub fn may_name_version(text: &str) -> bool {
    let is_gap = |c: char| c.is_whitespace();
    text.bytes().enumerate().any(|(at, byte)| {
        // Both are one byte long, so this is never inside a character.
        let Some(before) = text.get(..at).filter(|_| byte.is_ascii_digit()) else { return false };
        let before = before.strip_suffix('v').unwrap_or(before);
        let Some(tool) = before.strip_suffix(is_gap).map(|before| before.trim_end_matches(is_gap)) else {
            return false;
        };
        let start = tool.char_indices().rev().take(VERSIONED_MAX + 1).take_while(|(_, c)| !is_gap(*c)).last();
        let word = start.map_or("", |(start, _)| &tool[start..]);
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        VERSIONED.iter().any(|tool| tool.eq_ignore_ascii_case(word))
    })
}

/// The parts of a version such as `3.11`: at most four numbers, none of them a year.
pub fn version_numbers(text: &str) -> Option<Vec<u32>> {
    let parts: Option<Vec<u32>> = text.split('.').map(|part| part.parse().ok()).collect();
    parts.filter(|parts| (1..=4).contains(&parts.len()) && parts[0] < 1000)
}

/// `npm run build`, `make test`, `just lint`: the command without its arguments.
fn command(code: &str) -> Option<&str> {
    let code = code.strip_prefix("$ ").unwrap_or(code);
    let words: Vec<&str> = code.split(' ').take(3).collect();
    let is_name = |name: &str| {
        name.len() > 1
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.'))
    };
    let length = match words.as_slice() {
        [runner, "run", name, ..] if SCRIPT_RUNNERS.contains(runner) && is_name(name) => {
            runner.len() + name.len() + 5
        }
        ["make" | "just", target, ..] if is_name(target) => words[0].len() + 1 + target.len(),
        _ => return None,
    };
    code.get(..length)
}
