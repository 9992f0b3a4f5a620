//! The memory that is proposed for a captured item, drafted from its words alone.
//!
//! Nothing is invented: every field is the user's words, what stands next to them, or says that the user stated it.

use crate::briefing::is_stop_word;
use crate::capture::CapturedItem;
use crate::json::{Json, Object};
use crate::memory::Category;
use crate::statements::is_telling;
use crate::text::{cut, fold, one_line, slug};

const TITLE_MAX: usize = 80;
const FIELD_MAX: usize = 600;
const TAGS_MAX: usize = 4;

/// A draft with title, tags and content. `date` is when the item was captured.
pub fn proposed(item: &CapturedItem, date: &str) -> Object {
    let words = cut(&one_line(&item.words()), FIELD_MAX);
    let stated = format!("stated by the user on {date}");
    let reason = reason_in(item).unwrap_or_else(|| stated.clone());
    let before = item.neighbours.before.as_deref().map(|text| cut(&one_line(text), FIELD_MAX));
    let after = item.neighbours.after.as_deref().map(|text| cut(&one_line(text), FIELD_MAX));
    let around = before.clone().or(after).unwrap_or_else(|| format!("From a conversation on {date}"));
    let title = match item.category {
        Category::SessionSummary => format!("Session of {date}"),
        _ => title_of(&words),
    };
    let text = |text: &str| Json::text(text);
    let content: Vec<(&str, Json)> = match item.category {
        Category::Decision => {
            vec![
                ("context", text(&around)),
                ("decision", text(&words)),
                ("rationale", Json::texts([&reason])),
            ]
        }
        Category::Preference => {
            vec![("topic", text(&title)), ("value", text(&words)), ("reason", text(&reason))]
        }
        Category::Constraint => vec![
            ("kind", text("limitation")),
            ("rule", text(&words)),
            ("impact", Json::texts([&around])),
            ("severity", text("medium")),
        ],
        Category::TechDebt => {
            let deferred = reason_in(item).unwrap_or_else(|| format!("postponed by the user on {date}"));
            vec![
                ("priority", text("medium")),
                ("description", text(&words)),
                ("reason_deferred", text(&deferred)),
            ]
        }
        Category::Runbook => vec![
            ("trigger", text(&before.unwrap_or_else(|| title.clone()))),
            ("root_cause", text(&words)),
            ("steps", Json::texts([&words])),
            ("verification", text(&format!("the user confirmed it on {date}"))),
        ],
        Category::SessionSummary => vec![
            ("goal", text(&words)),
            ("outcome", text("partial")),
            ("completed", Json::List(Vec::new())),
            ("next_actions", Json::List(Vec::new())),
        ],
    };
    let mut draft = Object::new();
    draft.set("title", Json::text(&title));
    draft.set("tags", Json::texts(tags_of(&words, item.category)));
    draft.set("content", Json::Object(content.into_iter().collect()));
    draft
}

/// The first sentence that states something, without what leads into it.
fn title_of(words: &str) -> String {
    // "Thx." and "OK!" are no titles, and a question before a statement is not what it says.
    let states =
        |sentence: &&str| sentence.split_whitespace().count() >= 2 && !sentence.ends_with(['?', '？']);
    let mut title = sentences(words).into_iter().find(states).unwrap_or(words);
    title = without_lead(title);
    let title = if title.trim().is_empty() { words } else { title };
    let mut letters = title.trim_end_matches(['.', '!', ',', ':', ';', '。', '！']).chars();
    let title: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    cut_at_word(&title, TITLE_MAX)
}

/// The sentences, each with its final sign.
fn sentences(words: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut rest = words;
    while !rest.is_empty() {
        let end = rest.char_indices().find(|(at, c)| {
            let after = at + c.len_utf8();
            matches!(c, '.' | '!' | '?' | ';' | '。' | '！' | '？')
                && rest[after..].chars().next().is_none_or(char::is_whitespace)
        });
        let end = end.map_or(rest.len(), |(at, c)| at + c.len_utf8());
        sentences.push(rest[..end].trim());
        rest = rest[end..].trim_start();
    }
    sentences
}

/// Words that lead into a statement and say nothing themselves.
const LEADS: &[&str] = &[
    "no",
    "nope",
    "ok",
    "okay",
    "yes",
    "yeah",
    "yep",
    "well",
    "so",
    "and",
    "but",
    "also",
    "btw",
    "hey",
    "please",
    "actually",
    "remember that",
    "remember this",
    "remember",
    "note for next time",
    "note to self",
    "keep in mind that",
    "from now on",
    "by the way",
    "bitte",
    "nein",
    "ja",
    "por favor",
];

fn without_lead(title: &str) -> &str {
    let mut rest = title;
    loop {
        let folded = fold(rest);
        let lead = LEADS.iter().filter(|lead| {
            folded.strip_prefix(**lead).is_some_and(|after| after.starts_with([' ', ',', ':', '-']))
        });
        let Some(lead) = lead.max_by_key(|lead| lead.len()) else { return rest };
        // Folding may change the length of other letters, but every lead is ASCII.
        let Some(after) = rest.get(lead.len()..) else { return rest };
        rest = after.trim_start_matches([' ', ',', ':', '-']);
    }
}

fn cut_at_word(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let short: String = text.chars().take(max - 1).collect();
    let end = short.rfind(' ').filter(|end| *end > max / 2).unwrap_or(short.len());
    format!("{}…", short[..end].trim_end_matches([',', ';', ':', ' ']))
}

/// The words after a reason word, in the statement or the one after it.
fn reason_in(item: &CapturedItem) -> Option<String> {
    const BECAUSE: &[&str] =
        &[" because ", " since ", " so that ", " due to ", " otherwise ", " weil ", " porque ", " damit "];
    let words = one_line(&item.words());
    let clause = |text: &str| {
        let padded = format!(" {text} ");
        // The search is for ASCII only, so the positions in both texts are the same.
        let lower = padded.to_ascii_lowercase();
        let starts = BECAUSE.iter().filter_map(|word| lower.find(word).map(|at| at + word.len()));
        let clause = padded[starts.min()?..].trim().trim_end_matches('.').to_owned();
        (!clause.is_empty()).then_some(clause)
    };
    let after = item.neighbours.after.as_deref().map(one_line);
    let found = clause(&words).or_else(|| after.as_deref().and_then(clause));
    found.map(|reason| cut(&reason, FIELD_MAX))
}

/// The telling words: names first, then the longest.
fn tags_of(words: &str, category: Category) -> Vec<String> {
    let is_name = |word: &str| word.chars().skip(1).any(|c| c.is_uppercase() || matches!(c, '_' | '.' | '/'));
    let mut telling: Vec<(bool, String)> = Vec::new();
    for word in words.split(|c: char| c.is_whitespace() || ",;:()\"'`!?".contains(c)) {
        let word = word.trim_matches('.');
        let tag = slug(word);
        let length = tag.chars().count();
        if (3..=30).contains(&length)
            && is_telling(word)
            && !is_stop_word(&fold(word))
            && !telling.iter().any(|(_, known)| *known == tag)
        {
            telling.push((is_name(word), tag));
        }
    }
    telling.sort_by(|(one_name, one), (other_name, other)| {
        other_name.cmp(one_name).then_with(|| other.len().cmp(&one.len()))
    });
    telling.truncate(TAGS_MAX);
    match telling.is_empty() {
        true => vec![category.name().replace('_', "-")],
        false => telling.into_iter().map(|(_, tag)| tag).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{Neighbours, Origin, words_digest};
    use crate::conversation::TranscriptPosition;
    use crate::dialect::records::{draft, validate};
    use crate::json::JsonFormat;
    use crate::time::Timestamp;

    fn item(category: Category, words: &str, after: Option<&str>) -> CapturedItem {
        let origin =
            Origin { session: "s".to_owned(), at: TranscriptPosition::Line(1), words: words_digest(words) };
        CapturedItem {
            neighbours: Neighbours { before: None, after: after.map(str::to_owned) },
            ..CapturedItem::new(category, vec![words.to_owned()], String::new(), origin)
        }
    }

    #[test]
    fn a_title_is_the_first_sentence_without_its_lead() {
        for (words, title) in [
            ("No, we use pnpm here, not npm. Remember that.", "We use pnpm here, not npm"),
            ("ok Postgres then. I don't want localstack", "Postgres then"),
            (
                "remember this: staging deploys go out every Tuesday at 10",
                "Staging deploys go out every Tuesday at 10",
            ),
            (
                "btw legal says we can't store IPs longer than 7 days",
                "Legal says we can't store IPs longer than 7 days",
            ),
            ("use v2.1 of the API", "Use v2.1 of the API"),
            ("thx. leave the rollback out for now", "Leave the rollback out for now"),
            ("can you deploy it? btw the cluster only has two nodes", "The cluster only has two nodes"),
            ("No.", "No"),
            ("日本語で答えて。お願いします", "日本語で答えて。お願いします"),
        ] {
            assert_eq!(title_of(words), title);
        }
        let long = title_of(&"many words ".repeat(20));
        assert!(long.chars().count() <= TITLE_MAX && long.ends_with("words…"), "{long}");
    }

    #[test]
    fn a_reason_is_quoted_and_never_invented() {
        let reason = |words, after| reason_in(&item(Category::Preference, words, after));
        assert_eq!(
            reason("use pnpm because its links are strict.", None).as_deref(),
            Some("its links are strict")
        );
        assert_eq!(reason("use pnpm", Some("Since npm is slow")).as_deref(), Some("npm is slow"));
        assert_eq!(reason("use pnpm", None), None);
        let draft = proposed(&item(Category::Preference, "please use tabs", None), "2026-11-18");
        assert_eq!(
            draft.at("content.reason").and_then(Json::as_text),
            Some("stated by the user on 2026-11-18")
        );
    }

    #[test]
    fn every_proposal_is_a_valid_memory() {
        let now = Timestamp(1_770_000_000);
        for category in Category::ALL {
            for words in
                ["no unwrap() in library code please", "x", "日本語", "🦀", "No. \u{7}", &"word ".repeat(500)]
            {
                let given = proposed(&item(category, words, None), "2026-11-18");
                let (_, record) = draft::begin(category, None, Some(given), &[], &[], now);
                let faults = validate(&record, category);
                assert!(faults.is_empty(), "{category}: {faults:?} {}", record.render(JsonFormat::LINE));
            }
        }
    }
}
