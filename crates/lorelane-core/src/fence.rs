//! Makes untrusted text safe for a model: fenced, escaped, attributed.
//!
//! A memory may contain text copied from a web page. Inside a fence it is one line without markup, line breaks or
//! invisible characters, so it cannot pass for instructions of ours.

use crate::text::{cut, is_visible, one_line, printable};

/// An element whose content comes from memories or files and not from lorelane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    /// Memories added to a prompt.
    Memory,
    /// Memories shown at a session start.
    Standing,
    /// The files of a working set, and the hand-over of the last session.
    Context,
}

impl Fence {
    pub const ALL: [Fence; 3] = [Fence::Memory, Fence::Standing, Fence::Context];

    pub fn tag(self) -> &'static str {
        match self {
            Fence::Memory => "lorelane-memory",
            Fence::Standing => "lorelane-standing",
            Fence::Context => "lorelane-context",
        }
    }

    /// Wraps text that is ours or was escaped by [`inline`] or [`block`].
    pub fn around(self, inside: &str) -> String {
        let tag = self.tag();
        format!("<{tag}>\n{}\n</{tag}>\n", inside.trim_end_matches('\n'))
    }
}

/// Escapes at most `max` characters of untrusted text as one line. It is truncated before it is escaped, so that
/// no escape is cut in two.
pub fn inline(text: &str, max: usize) -> String {
    escape(&cut(&one_line(text), max))
}

/// Escapes at most `max` characters of untrusted text and keeps its lines. Quotes stay: they end nothing inside a
/// fence, and a record without them could not be parsed.
pub fn block(text: &str, max: usize) -> String {
    cut(&printable(text), max).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Rewrites rendered JSON so that no string looks like markup or has invisible characters: those become `\u`
/// escapes, so a parser still reads the same values. Line breaks stay, because rendered strings have none.
pub fn json(rendered: &str) -> String {
    let acts = |c: char| matches!(c, '<' | '>' | '&') || (c != '\n' && !is_visible(c));
    let (mut safe, mut rest) = (String::with_capacity(rendered.len()), rendered);
    let mut units = [0; 2];
    while let Some((at, c)) = rest.char_indices().find(|(_, c)| acts(*c)) {
        safe.push_str(&rest[..at]);
        // JSON escapes are UTF-16 code units, two of them outside the basic plane.
        c.encode_utf16(&mut units).iter().for_each(|unit| safe.push_str(&format!("\\u{unit:04x}")));
        rest = &rest[at + c.len_utf8()..];
    }
    safe.push_str(rest);
    safe
}

/// Escapes an address or path for a model. Markup and invisible characters are percent-encoded as in a URI, so
/// that the model can pass the name back; see [`spelled_out`].
pub fn name(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut bytes = [0; 4];
    for c in text.chars() {
        // `%` is encoded too, so that decoding is unambiguous.
        let acts = matches!(c, '<' | '>' | '&' | '"' | '`' | '%') || (c.is_whitespace() && c != ' ');
        if is_visible(c) && !acts {
            safe.push(c);
        } else {
            c.encode_utf8(&mut bytes).bytes().for_each(|byte| safe.push_str(&format!("%{byte:02X}")));
        }
    }
    safe
}

/// Decodes a percent-encoded name.
pub fn spelled_out(name: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push(match byte {
            b'%' => u8::try_from(digit(rest.next()?)? * 16 + digit(rest.next()?)?).ok()?,
            plain => plain,
        });
    }
    String::from_utf8(bytes).ok()
}

pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Json, JsonFormat};
    use proptest::prelude::*;

    #[test]
    fn a_foreign_line_is_cut_before_it_is_escaped() {
        assert_eq!(inline("a < b\n</lorelane-memory>", 9), "a &lt; b &lt;/…");
        assert_eq!(inline("x\u{202e}\u{e0041}y \"z\"", 20), "xy &quot;z&quot;");
        assert_eq!(name("notes/größe 1</b>\u{202e}"), "notes/größe 1%3C/b%3E%E2%80%AE");
        assert_eq!([spelled_out("50%"), spelled_out("%FF"), spelled_out("%zz")], [None, None, None]);
        assert_eq!(json("\"<\u{202e}\u{e0041}é\""), "\"\\u003c\\u202e\\udb40\\udc41é\"");
    }

    proptest! {
        #[test]
        fn nothing_gets_out_of_its_fence(text in any::<String>(), max in 0_usize..300) {
            let line = inline(&text, max);
            prop_assert!(!line.contains(['<', '>', '"', '\n', '\r']));
            let called = name(&text);
            prop_assert!(!called.contains(['<', '>', '&', '"', '`']) && called.chars().all(is_visible));
            prop_assert_eq!(spelled_out(&called), Some(text.clone()));
            let rendered = Json::text(text.as_str()).render(JsonFormat::LINE);
            let inert = json(&rendered);
            let is_inert = |c: char| is_visible(c) && !matches!(c, '<' | '>' | '&');
            prop_assert!(inert.chars().all(is_inert));
            prop_assert_eq!(Json::parse(&inert).map(|json| json.into_text()), Ok(Some(text.clone())));
            let page = Json::texts([text.as_str()]);
            prop_assert_eq!(Json::parse(&json(&page.render(JsonFormat::FILE))), Ok(page));
            for fence in Fence::ALL {
                let fenced = fence.around(&line);
                prop_assert_eq!(fenced.matches(&format!("</{}>", fence.tag())).count(), 1);
                prop_assert_eq!(fenced.lines().count(), 3);
                let fenced = fence.around(&block(&text, max));
                prop_assert_eq!(fenced.matches('<').count(), 2);
            }
        }
    }
}
