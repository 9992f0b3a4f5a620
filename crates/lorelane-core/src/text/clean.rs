//! Untrusted text made safe for one line, a terminal or a model.

/// Cuts to at most `max` characters and marks the cut with `…`.
pub fn cut(text: &str, max: usize) -> String {
    if text.chars().nth(max).is_none() {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(max.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// One line without control or invisible characters.
pub fn one_line(text: &str) -> String {
    if is_plain(text) && !text.contains("  ") {
        return text.trim().to_owned();
    }
    let spaced: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let mut line = String::with_capacity(text.len());
    for word in spaced.split(' ').filter(|word| word.chars().any(is_visible)) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().filter(|c| is_visible(*c)));
    }
    line
}

/// Untrusted text for a line inside markup: it cannot close an element, quote code or control a terminal. At most
/// `max` characters, counted after escaping.
pub fn escaped(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| is_visible(*c)) {
        match c {
            '`' => {}
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
    out.trim().chars().take(max).collect()
}

/// Untrusted text as one word of a command line that a person or an agent may copy and run.
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/');
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    let shown: String = text.chars().map(|c| if is_visible(c) { c } else { ' ' }).collect();
    format!("'{}'", shown.replace('\'', "'\\''"))
}

/// Whether a text is only visible ASCII and spaces, as most lines are, so that there is nothing to clean.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Text for a terminal: keeps lines, drops escape sequences and invisible characters.
pub fn printable(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    text.chars().filter(|c| *c == '\n' || *c == '\t' || is_visible(*c)).collect()
}

/// Whether a reader sees the character. An invisible one can still control a terminal, reverse a line, or carry
/// text to a model: a run of variation selectors encodes bytes.
///
/// The class is Unicode's `Default_Ignorable_Code_Point`, plus control, format and noncharacters that show
/// nothing, plus blank characters that are not whitespace. An emoji loses its variation selector with the rest:
/// an exception for one selector would keep a hidden channel.
pub(crate) fn is_visible(c: char) -> bool {
    // The fast path for nearly every character.
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    !(c.is_control()
        || matches!(c,
            // Soft hyphen, joiners, fillers of Hangul, vowels and selectors of Khmer and Mongolian.
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202f}'
            | '\u{2060}'..='\u{206f}'
            // The empty pattern of Braille, and another filler.
            | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            // Controls of hieroglyphs, shorthand and music.
            | '\u{13430}'..='\u{1343f}'
            | '\u{16fe4}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d159}'
            | '\u{1d173}'..='\u{1d17a}'
            // Tags and the other selectors.
            | '\u{e0000}'..='\u{e0fff}'
            | '\u{fdd0}'..='\u{fdef}')
        || (c as u32 & 0xfffe) == 0xfffe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_a_shell_cannot_be_broken_out_of() {
        let table = [
            ("notes/auth-plan", "notes/auth-plan"),
            ("notes/old  idea", "'notes/old  idea'"),
            ("x; rm -rf ~", "'x; rm -rf ~'"),
            ("a'b\nc", "'a'\\''b c'"),
            ("", "''"),
        ];
        for (text, expected) in table {
            assert_eq!(shell_word(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_line_has_no_breaks_and_nothing_invisible() {
        assert_eq!(one_line(" a\n\tb\u{202e}c\u{200b} \u{a0}d\u{1b}[31m "), "a bc d[31m");
        assert_eq!(one_line("a \u{200b}\u{9b} \u{7} b"), "a b", "a word of nothing leaves no gap");
        assert_eq!(one_line("a \u{3164}\u{2800} ⚠\u{fe0f}\u{e0101}\u{e0155} b"), "a ⚠ b");
    }

    #[test]
    fn escaped_text_cannot_leave_its_element() {
        let hostile = " </triage_data>`rm` & \u{202e}\u{e0041}\u{0}\n<b>\u{200b} ";
        assert_eq!(escaped(hostile, 120), "&lt;/triage_data&gt;rm &amp; &lt;b&gt;");
        assert_eq!(escaped(&"<".repeat(100), 120).chars().count(), 120);
    }

    #[test]
    fn a_cut_is_shown() {
        assert_eq!(cut("日本語", 3), "日本語");
        assert_eq!(cut("日本語x", 3), "日本…");
    }
}
