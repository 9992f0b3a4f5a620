//! Strips comments, string literals and test code from Rust source.
//!
//! Not a parser: it knows just enough of the grammar to find where these end. Stripped text becomes
//! spaces, so that lines keep their numbers.

/// The code of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub code: String,
    /// Modules declared as `#[cfg(test)] mod name;`: their files are test code too.
    pub test_modules: Vec<String>,
    /// The lines (from 1) with a `//` comment that documents no item.
    pub comments: Vec<usize>,
}

impl Source {
    pub fn read(text: &str) -> Source {
        let (mut code, mut comments) = without_texts(text);
        let mut test_modules = Vec::new();
        while let Some((start, end)) = test_item(&code) {
            let item = String::from_utf8_lossy(&code[start..end]).into_owned();
            test_modules.extend(declared_module(&item));
            comments.retain(|at| !(start..end).contains(at));
            blank(&mut code, start, end);
        }
        let line = |at: usize| 1 + code[..at].iter().filter(|byte| **byte == b'\n').count();
        let comments = comments.into_iter().map(line).collect();
        // Only whole characters were replaced, so the rest is still UTF-8.
        Source { code: String::from_utf8_lossy(&code).into_owned(), test_modules, comments }
    }
}

/// The text without comments and literals.
pub(super) fn code_only(text: &str) -> String {
    String::from_utf8_lossy(&without_texts(text).0).into_owned()
}

/// The text without comments and literals, and where its `//` comments are.
fn without_texts(text: &str) -> (Vec<u8>, Vec<usize>) {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut comments = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => line_end(bytes, at),
            b'/' if bytes[at..].starts_with(b"/*") => comment_end(bytes, at),
            b'"' => string_end(bytes, at),
            b'r' if starts_word(bytes, at) => raw_string_end(bytes, at).unwrap_or(at),
            b'\'' => char_end(text, at).unwrap_or(at),
            _ => at,
        };
        if bytes[at..].starts_with(b"//") && !is_doc_comment(&bytes[at..]) {
            comments.push(at);
        }
        blank(&mut code, at, end);
        at = end.max(at + 1);
    }
    (code, comments)
}

/// `///` and `//!`; four slashes are an ordinary comment.
fn is_doc_comment(bytes: &[u8]) -> bool {
    bytes.starts_with(b"//!") || bytes.starts_with(b"///") && !bytes.starts_with(b"////")
}

fn blank(code: &mut [u8], start: usize, end: usize) {
    for byte in &mut code[start..end] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |length| at + length)
}

/// Block comments nest.
fn comment_end(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// `r"…"` and `r##"…"##`; `None` for a word such as `r#type`.
fn raw_string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let hashes = bytes[start + 1..].iter().take_while(|b| **b == b'#').count();
    let open = start + 1 + hashes;
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let closing = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
    let length = bytes[open + 1..].windows(closing.len()).position(|window| window == closing);
    Some(length.map_or(bytes.len(), |length| open + 1 + length + closing.len()))
}

/// `'x'` and `'\n'`; `None` for a lifetime.
fn char_end(text: &str, start: usize) -> Option<usize> {
    let rest = &text[start + 1..];
    let mut chars = rest.chars();
    let first = chars.next()?;
    if first == '\\' {
        let close = rest.get(2..)?.find('\'')?;
        return Some(start + 1 + 2 + close + 1);
    }
    (chars.next()? == '\'').then(|| start + 1 + first.len_utf8() + 1)
}

/// `r` begins a raw string only at the start of a word (`br"…"` begins at its `b`).
fn starts_word(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|at| bytes[at]) else { return true };
    let prefix = matches!(before, b'b' | b'c') && starts_word(bytes, at - 1);
    prefix || !(before.is_ascii_alphanumeric() || before == b'_')
}

/// The first item under `#[cfg(test)]`, attributes included.
fn test_item(code: &[u8]) -> Option<(usize, usize)> {
    let text = String::from_utf8_lossy(code);
    let start =
        ["#[cfg(test)]", "#[cfg(all(test,", "#[test]"].iter().filter_map(|mark| text.find(mark)).min()?;
    let mut at = start;
    let mut depth = 0;
    while at < code.len() {
        match code[at] {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'{' if depth == 0 => return Some((start, block_end(code, at))),
            b';' if depth == 0 => return Some((start, at + 1)),
            _ => {}
        }
        at += 1;
    }
    Some((start, code.len()))
}

fn block_end(code: &[u8], start: usize) -> usize {
    let mut depth = 0;
    for (at, byte) in code.iter().enumerate().skip(start) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

fn declared_module(item: &str) -> Option<String> {
    let declaration = item.rsplit_once(']')?.1.trim().strip_suffix(';')?;
    let (_, name) = declaration.rsplit_once("mod ")?;
    Some(name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        Source::read(text).code.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn comments_and_texts_are_no_code() {
        for (text, expected) in [
            ("a // b\nc", "a c"),
            ("a /* b /* c */ d */ e", "a e"),
            (r#"a "b \" c" d"#, "a d"),
            (r##"a r#"b " c"# d"##, "a d"),
            (r##"a br"b" c"##, "a b c"),
            ("a '\"' b '\\'' c", "a b c"),
            ("fn f<'a>(x: &'a str) { 'é' }", "fn f<'a>(x: &'a str) { }"),
            ("let r#type = var\"x\"", "let r#type = var"),
            ("a \"é\nü\" b", "a b"),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn test_code_is_taken_out_with_its_lines_kept() {
        let text = "a\n#[cfg(test)]\nmod tests {\n    fn f() { \"}\"; }\n}\nb\n#[cfg(test)]\nuse x;\nc";
        let code = Source::read(text).code;
        assert_eq!(code.split_whitespace().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(code.lines().position(|line| line == "b"), Some(5));
    }

    #[test]
    fn comments_are_found_without_docs_texts_and_tests() {
        let text = "//! a\n// b\n/// c\nfn f() {\n    let url = \"https://d\"; // e\n}\n#[cfg(test)]\nmod tests {\n    // g\n}\n";
        assert_eq!(Source::read(text).comments, [2, 5]);
    }

    #[test]
    fn a_test_module_in_its_own_file_is_named() {
        let source = Source::read("#[cfg(test)]\n#[path = \"x.rs\"]\npub(crate) mod laws;\nmod real;");
        assert_eq!(source.test_modules, ["laws"]);
        assert_eq!(source.code.trim(), "mod real;");
    }
}
