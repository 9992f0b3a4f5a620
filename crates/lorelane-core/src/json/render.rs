//! The writer.

use super::{Json, Object};
use std::fmt::Write;

/// The layout of written JSON. Each of the constants is what some reader expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonFormat {
    /// Spaces per level; `None` writes one line.
    pub indent: Option<usize>,
    /// Whether non-ASCII characters are escaped as `\uXXXX`.
    pub ascii: bool,
}

impl JsonFormat {
    /// A memory file: two spaces per level, no escapes beyond what JSON requires.
    pub const FILE: JsonFormat = JsonFormat { indent: Some(2), ascii: false };
    /// One line, for programs that read lines.
    pub const LINE: JsonFormat = JsonFormat { indent: None, ascii: false };
    /// One line, as `json.dumps` of the `claude-memory` scripts printed it.
    pub const SCRIPT_LINE: JsonFormat = JsonFormat { indent: None, ascii: true };
    /// Several lines, as `json.dumps(indent=2)` of the scripts printed it.
    pub const SCRIPT: JsonFormat = JsonFormat { indent: Some(2), ascii: true };
}

impl Json {
    pub fn render(&self, format: JsonFormat) -> String {
        let mut out = String::new();
        render(&mut out, self, format, 0);
        out
    }
}

impl Object {
    pub fn render(&self, format: JsonFormat) -> String {
        let mut out = String::new();
        render_object(&mut out, self, format, 0);
        out
    }
}

pub(super) fn render(out: &mut String, value: &Json, format: JsonFormat, level: usize) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Number(text) => out.push_str(text),
        Json::Text(text) => quote(out, text, format.ascii),
        Json::List(items) => {
            nest(out, '[', ']', items.iter(), format, level, |out, item| {
                render(out, item, format, level + 1);
            });
        }
        Json::Object(object) => render_object(out, object, format, level),
    }
}

fn render_object(out: &mut String, object: &Object, format: JsonFormat, level: usize) {
    nest(out, '{', '}', object.iter(), format, level, |out, (key, value)| {
        quote(out, key, format.ascii);
        out.push_str(": ");
        render(out, value, format, level + 1);
    });
}

fn nest<T>(
    out: &mut String,
    open: char,
    close: char,
    items: impl Iterator<Item = T>,
    format: JsonFormat,
    level: usize,
    mut each: impl FnMut(&mut String, T),
) {
    out.push(open);
    let mut empty = true;
    for item in items {
        if !empty {
            out.push_str(if format.indent.is_some() { "," } else { ", " });
        }
        empty = false;
        break_line(out, format, level + 1);
        each(out, item);
    }
    if !empty {
        break_line(out, format, level);
    }
    out.push(close);
}

fn break_line(out: &mut String, format: JsonFormat, level: usize) {
    if let Some(indent) = format.indent {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', indent * level));
    }
}

pub(super) fn quote(out: &mut String, text: &str, ascii: bool) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if (c as u32) < 0x20 || (ascii && !c.is_ascii()) => escape_unicode(out, c),
            c => out.push(c),
        }
    }
    out.push('"');
}

pub(super) fn escape_unicode(out: &mut String, c: char) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        let _ = write!(out, "\\u{unit:04x}");
    }
}
