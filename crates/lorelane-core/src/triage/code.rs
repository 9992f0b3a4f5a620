//! Removes code from a text: an `error` in a pasted log is not a statement by user or agent.

use crate::steps;

/// As the `claude-memory` scripts did: from one fence to the next, then from one backtick to the next, across
/// lines.
pub(super) fn without_code_as_scripts(text: &str) -> String {
    without(&without(text, fence), |text| inline(text, &['`']))
}

/// For one message. Inline code ends on its line; an unclosed backtick or fence is text.
pub(super) fn without_code(text: &str) -> String {
    without(&without(text, fence), |text| inline(text, &['`', '\n']))
}

const FENCE: &str = "```";

fn fence(text: &str) -> Option<usize> {
    let body = text.strip_prefix(FENCE)?;
    Some(FENCE.len() + steps::searched(body, body.find(FENCE))? + FENCE.len())
}

/// Inline code is not empty; it ends at the first of `ends`, which must be a backtick.
fn inline(text: &str, ends: &[char]) -> Option<usize> {
    let body = &text[1..];
    let length = steps::searched(body, body.find(ends))?;
    (length > 0 && body[length..].starts_with('`')).then_some(length + 2)
}

/// Removes the pieces for which `length` returns a length at their first backtick.
fn without(text: &str, length: impl Fn(&str) -> Option<usize>) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('`') {
        let (before, from) = rest.split_at(at);
        kept.push_str(before);
        rest = match length(from) {
            Some(length) => &from[length..],
            None => {
                kept.push('`');
                &from[1..]
            }
        };
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_removed_and_an_unpaired_backtick_eats_nothing() {
        for (text, scripts, native) in [
            ("a `b` c", "a  c", "a  c"),
            ("a\n```rust\nb\n```\nc", "a\n\nc", "a\n\nc"),
            ("a ``` b ``` c ``` d", "a  c ``` d", "a  c ``` d"),
            ("it's 5` long\nwe decided\nand `so` on", "it's 5so` on", "it's 5` long\nwe decided\nand  on"),
            ("``", "``", "``"),
            ("`` a ``", "``", "``"),
            ("", "", ""),
        ] {
            assert_eq!(without_code_as_scripts(text), scripts, "{text:?}");
            assert_eq!(without_code(text), native, "{text:?}");
        }
    }

    // For every unclosed backtick, the rest of the message was searched.
    #[test]
    fn no_text_is_searched_again_and_again() {
        for piece in ["``", "`", "`\n", "``` ", "```\n`", "`a", "`a\n"] {
            let text = piece.repeat(10_000);
            for without_code in [without_code, without_code_as_scripts] {
                let steps = steps::of(|| drop(without_code(&text)));
                assert!(steps <= 4 * text.len(), "{piece:?}: {steps} steps for {} bytes", text.len());
            }
        }
    }
}
