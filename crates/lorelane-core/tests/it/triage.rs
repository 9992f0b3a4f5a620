//! Every word that counts, how much, and what does not count.

use lorelane_core::conversation::{Conversation, Message, Speaker, TranscriptPosition};
use lorelane_core::memory::Category;
use lorelane_core::triage::{Assessment, Lexicon, NATIVE, SCRIPTS, TriageFinding, assess};
use proptest::prelude::*;

fn said(texts: &[&str]) -> Conversation {
    let message = |(at, text): (usize, &&str)| Message {
        at: TranscriptPosition::Line(at as u64 + 1),
        speaker: if at % 2 == 0 { Speaker::Human } else { Speaker::Assistant },
        text: (*text).to_owned(),
        tools: Vec::new(),
    };
    Conversation { messages: texts.iter().enumerate().map(message).collect() }
}

fn all(conversation: &Conversation, lexicon: &Lexicon) -> Assessment {
    assess(conversation, lexicon, &|_| Some(0.0))
}

fn found(lexicon: &Lexicon, category: Category, texts: &[&str]) -> Option<TriageFinding> {
    all(&said(texts), lexicon).findings.into_iter().find(|finding| finding.category == category)
}

fn score(lexicon: &Lexicon, category: Category, texts: &[&str]) -> f64 {
    found(lexicon, category, texts).map_or(0.0, |finding| finding.score)
}

/// What three and two of a kind come to, one word alone, and one with a booster: four digits as they are reported.
#[test]
fn every_word_counts_with_and_without_a_booster() {
    for lexicon in [&SCRIPTS, &NATIVE] {
        for kind in lexicon.kinds {
            let alone = kind.primary_weight / kind.denominator;
            let boosted = kind.boosted_weight / kind.denominator;
            for primary in kind.primary {
                let line = format!("So we {} x", primary.to_uppercase());
                // Some phrases hold a booster of their own category.
                let own = kind.boosters.iter().any(|booster| line.to_lowercase().contains(booster));
                let expected = if own { boosted } else { alone };
                assert_eq!(score(lexicon, kind.category, &[&line]), expected, "{line}");
                for booster in kind.boosters {
                    let text = format!("{line}\n\n\n\n{booster}.");
                    assert_eq!(score(lexicon, kind.category, &[&text]), boosted, "{text}");
                    let text = format!("{line}\n\n\n\n\n{booster}.");
                    assert_eq!(score(lexicon, kind.category, &[&text]), expected, "too far: {text}");
                }
            }
            for booster in kind.boosters.iter().filter(|booster| !kind.primary.contains(booster)) {
                assert_eq!(score(lexicon, kind.category, &[booster]), 0.0, "{booster} alone");
            }
        }
    }
}

#[test]
fn the_scripts_words_and_weights_are_the_first_systems() {
    let table: Vec<String> = SCRIPTS
        .kinds
        .iter()
        .map(|kind| {
            let weights = (kind.primary_weight, kind.boosted_weight, kind.denominator);
            format!("{} {}/{} {weights:?}", kind.category, kind.primary.len(), kind.boosters.len())
        })
        .collect();
    assert_eq!(
        table,
        [
            "decision 5/7 (0.3, 0.5, 1.9)",
            "runbook 8/6 (0.2, 0.6, 1.8)",
            "constraint 7/6 (0.3, 0.5, 1.9)",
            "tech_debt 7/7 (0.3, 0.5, 1.9)",
            "preference 7/6 (0.35, 0.5, 2.05)",
        ]
    );
}

#[test]
fn two_boosted_and_three_plain_lines_are_all_that_counts() {
    for (lines, expected) in [
        (vec!["decided"], "0.1579"),
        (vec!["decided"; 3], "0.4737"),
        (vec!["decided"; 9], "0.4737"),
        (vec!["decided because"], "0.2632"),
        (vec!["decided because"; 2], "0.5263"),
        (vec!["decided because"; 3], "0.6842"),
        (vec!["decided because"; 5], "1.0000"),
        (vec!["decided because"; 50], "1.0000"),
        (vec!["decided chose picked"], "0.1579"),
    ] {
        let text = lines.join("\n");
        let score = score(&SCRIPTS, Category::Decision, &[&text]);
        assert_eq!(format!("{score:.4}"), expected, "{text:?}");
    }
}

#[test]
fn a_session_counts_by_what_was_done() {
    for (tools, exchanges, expected) in
        [(vec![], 1, 0.02), (vec!["Bash", "Bash", "Read"], 2, 0.39), (vec!["Bash"; 30], 9, 1.0)]
    {
        let mut conversation = said(&vec!["x"; exchanges]);
        conversation.messages[0].tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
        let session = all(&conversation, &SCRIPTS).findings.pop().unwrap();
        assert_eq!(session.category, Category::SessionSummary);
        assert!((session.score - expected).abs() < 1e-12, "{tools:?}: {}", session.score);
    }
    let mut conversation = said(&["x", ""]);
    conversation.messages[1].tools = vec!["Bash".to_owned(), "Read".to_owned()];
    let snippets = |lexicon| all(&conversation, lexicon).findings.pop().unwrap().snippets;
    assert_eq!(snippets(&NATIVE), ["2 tool uses across 2 tools, 1 exchange"]);
    assert_eq!(snippets(&SCRIPTS), ["2 tool uses across 2 tools, 1 exchanges"]);
    assert_eq!(all(&Conversation::default(), &NATIVE).findings, []);
}

#[test]
fn a_category_below_its_threshold_or_unwanted_is_left_out() {
    let conversation = said(&["decided because\nerror"]);
    let at = |threshold: Option<f64>| {
        let only = |category| if category == Category::Decision { threshold } else { None };
        assess(&conversation, &SCRIPTS, &only).findings.len()
    };
    let score = 0.5 / 1.9;
    assert_eq!((at(Some(score)), at(Some(score + 1e-9)), at(None)), (1, 0, 0));
}

#[test]
fn findings_are_reported_in_their_order() {
    let text = "prefer\ntodo\ncannot limitation\nerror\ndecided";
    let order: Vec<_> =
        all(&said(&[text]), &SCRIPTS).findings.iter().map(|finding| finding.category.name()).collect();
    let expected = ["decision", "runbook", "constraint", "tech_debt", "preference", "session_summary"];
    assert_eq!(order, expected);
}

// Row 24: an unpaired backtick ate everything up to the next one, messages later.
#[test]
fn code_does_not_count_and_does_not_reach_into_another_message() {
    let in_code = ["`decided`", "```\nwe decided\n```", "a `b` c ```decided``` d"];
    for text in in_code {
        for lexicon in [&SCRIPTS, &NATIVE] {
            assert_eq!(found(lexicon, Category::Decision, &[text]), None, "{text}");
        }
    }
    let apart = ["a 5` pipe", "we decided", "use `x`"];
    assert_eq!(found(&SCRIPTS, Category::Decision, &apart), None);
    assert!(found(&NATIVE, Category::Decision, &apart).is_some());
    let fences = ["```\nopen", "we decided", "```"];
    assert_eq!(found(&SCRIPTS, Category::Decision, &fences), None);
    assert!(found(&NATIVE, Category::Decision, &fences).is_some());
}

#[test]
fn the_native_lexicon_knows_more_phrases_and_no_everyday_constraint() {
    for (category, line) in [
        (Category::Decision, "Let’s go with pnpm"),
        (Category::Decision, "that is a design  decision"),
        (Category::Constraint, "the API does not support batches"),
        (Category::Preference, "I like to see tests first"),
    ] {
        assert_eq!(score(&SCRIPTS, category, &[line]), 0.0, "{line}");
        assert!(score(&NATIVE, category, &[line]) > 0.0, "{line}");
    }
    assert!(score(&SCRIPTS, Category::Constraint, &["I cannot see it"]) > 0.0);
    assert_eq!(score(&NATIVE, Category::Constraint, &["I cannot see it"]), 0.0);
    assert_eq!(score(&NATIVE, Category::Runbook, &["it ran without error"]), 0.0);
}

#[test]
fn a_finding_says_which_lines_and_where() {
    let filler = "x\n".repeat(25);
    let first = format!("{filler}  We decided: {}\n{filler}", "é".repeat(200));
    let finding =
        found(&NATIVE, Category::Decision, &["hello", &first, "We decided twice\nWe decided twice"]);
    let finding = finding.unwrap();
    assert_eq!(finding.at, TranscriptPosition::Line(2));
    assert_eq!(finding.snippets.len(), 2);
    assert_eq!(finding.snippets[0].chars().count(), 120);
    assert!(finding.snippets[0].starts_with("We decided: é"));
    let parts: Vec<usize> = finding.excerpt.split("\n---\n").map(|part| part.lines().count()).collect();
    assert_eq!(parts, [21, 12]);
    let again = found(&NATIVE, Category::Decision, &["hello", &first, "we DECIDED twice!"]);
    assert_eq!(again.unwrap().words, finding.words, "the same words");
}

#[test]
fn a_native_excerpt_is_bounded() {
    let lines = format!("we decided {}\n", "日".repeat(500)).repeat(50);
    let finding = found(&NATIVE, Category::Decision, &[&lines]).unwrap();
    assert!((7_990..=8_000).contains(&finding.excerpt.len()));
    let session = found(&NATIVE, Category::SessionSummary, &[&lines]).unwrap();
    assert!((6_000..8_000).contains(&session.excerpt.len()), "{}", session.excerpt.len());
}

// Each of these once took time that grew with the square of the length.
#[test]
fn a_long_message_of_one_kind_gives_short_findings() {
    for piece in
        ["``", "decided-", "<memory-context ", "not decided ", "an error happened in line 7\n", "``` "]
    {
        let text = piece.repeat((1 << 20) / piece.len());
        let numbered: String = (0..30_000).map(|number| format!("error {number}\n")).collect();
        for text in [&text, &numbered] {
            let conversation = Conversation::from_texts(Some(text), None);
            let is_share = |finding: &TriageFinding| (0.0..=1.0).contains(&finding.score);
            assert!(all(&conversation, &SCRIPTS).findings.iter().all(is_share), "{piece:?}");
            for finding in all(&conversation, &NATIVE).findings {
                // However much was said, a finding is short.
                let longest = finding.snippets.iter().map(|snippet| snippet.chars().count()).max();
                let sizes = (finding.snippets.len(), longest, finding.excerpt.len());
                let (count, longest, excerpt) = (sizes.0 <= 8, sizes.1 <= Some(121), sizes.2 <= 8_000);
                assert!(is_share(&finding) && count && longest && excerpt, "{piece:?}: {sizes:?}");
            }
        }
    }
}

proptest! {
    #[test]
    fn any_conversation_is_scored_from_0_to_1(
        texts in proptest::collection::vec("(\\PC|\n|`|decided|because|error| ){0,60}", 0..8)
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for lexicon in [&SCRIPTS, &NATIVE] {
            for finding in all(&said(&texts), lexicon).findings {
                prop_assert!((0.0..=1.0).contains(&finding.score), "{finding:?}");
            }
        }
    }
}
