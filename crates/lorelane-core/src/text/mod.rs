//! Words, slugs and safe lines: the text functions that every rule shares.

mod clean;
mod o200k;
mod slug;
mod tokens;
mod words;

pub(crate) use clean::is_visible;
pub use clean::{cut, escaped, one_line, printable, shell_word};
pub use o200k::O200kTokens;
pub use slug::{SLUG_MAX, file_key, is_slug, slug, title_changed_enough_for_a_new_slug};
pub use tokens::{CounterName, EstimatedTokens, TokenCounter, tokens};
pub use words::{fold, held_words, holds_word, short_names, words};
pub(crate) use words::{signed_letter, writes_no_blanks};
