//! Every word that counts, how much, and what does not count.

use lorelane_core::conversation::{Conversation, Message, Speaker, TranscriptPosition};
use lorelane_core::memory::Category;
use lorelane_core::triage::{Assessment, SCRIPTS, TriageFinding, assess, session_summary};
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

fn all(conversation: &Conversation) -> Assessment {
    assess(conversation, &|_| Some(0.0))
}

fn found(category: Category, texts: &[&str]) -> Option<TriageFinding> {
    all(&said(texts)).findings.into_iter().find(|finding| finding.category == category)
}

fn score(category: Category, texts: &[&str]) -> f64 {
    found(category, texts).map_or(0.0, |finding| finding.score)
}

/// What three and two of a kind come to, one word alone, and one with a booster: four digits as they are reported.
#[test]
fn every_word_counts_with_and_without_a_booster() {
    for kind in SCRIPTS {
        let alone = kind.primary_weight / kind.denominator;
        let boosted = kind.boosted_weight / kind.denominator;
        for primary in kind.primary {
            let line = format!("So we {} x", primary.to_uppercase());
            // Some phrases hold a booster of their own category.
            let own = kind.boosters.iter().any(|booster| line.to_lowercase().contains(booster));
            let expected = if own { boosted } else { alone };
            assert_eq!(score(kind.category, &[&line]), expected, "{line}");
            for booster in kind.boosters {
                let text = format!("{line}\n\n\n\n{booster}.");
                assert_eq!(score(kind.category, &[&text]), boosted, "{text}");
                let text = format!("{line}\n\n\n\n\n{booster}.");
                assert_eq!(score(kind.category, &[&text]), expected, "too far: {text}");
            }
        }
        for booster in kind.boosters.iter().filter(|booster| !kind.primary.contains(booster)) {
            assert_eq!(score(kind.category, &[booster]), 0.0, "{booster} alone");
        }
    }
}

#[test]
fn the_scripts_words_and_weights_are_the_first_systems() {
    let table: Vec<String> = SCRIPTS
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
        let score = score(Category::Decision, &[&text]);
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
        let session = all(&conversation).findings.pop().unwrap();
        assert_eq!(session.category, Category::SessionSummary);
        assert!((session.score - expected).abs() < 1e-12, "{tools:?}: {}", session.score);
    }
    let mut conversation = said(&["x", ""]);
    conversation.messages[1].tools = vec!["Bash".to_owned(), "Read".to_owned()];
    let of_scripts = all(&conversation).findings.pop().unwrap();
    assert_eq!(of_scripts.snippets, ["2 tool uses across 2 tools, 1 exchanges"]);
    let ours = session_summary(&conversation, Some(0.0)).unwrap();
    assert_eq!(ours.snippets, ["2 tool uses across 2 tools, 1 exchange"]);
    assert_eq!(session_summary(&conversation, Some(0.9)), None);
    assert_eq!(session_summary(&conversation, None), None);
    assert_eq!(all(&Conversation::default()).findings, []);
}

#[test]
fn a_category_below_its_threshold_or_unwanted_is_left_out() {
    let conversation = said(&["decided because\nerror"]);
    let at = |threshold: Option<f64>| {
        let only = |category| if category == Category::Decision { threshold } else { None };
        assess(&conversation, &only).findings.len()
    };
    let score = 0.5 / 1.9;
    assert_eq!((at(Some(score)), at(Some(score + 1e-9)), at(None)), (1, 0, 0));
}

#[test]
fn findings_are_reported_in_their_order() {
    let text = "prefer\ntodo\ncannot limitation\nerror\ndecided";
    let order: Vec<_> = all(&said(&[text])).findings.iter().map(|finding| finding.category.name()).collect();
    let expected = ["decision", "runbook", "constraint", "tech_debt", "preference", "session_summary"];
    assert_eq!(order, expected);
}

// Row 24: an unpaired backtick ate everything up to the next one, messages later.
#[test]
fn code_does_not_count_and_does_not_reach_into_another_message() {
    let in_code = ["`decided`", "```\nwe decided\n```", "a `b` c ```decided``` d"];
    for text in in_code {
        assert_eq!(found(Category::Decision, &[text]), None, "{text}");
    }
    let excerpt = |texts: &[&str]| session_summary(&said(texts), Some(0.0)).unwrap().excerpt;
    for apart in [["a 5` pipe", "we decided", "use `x`"], ["```\nopen", "we decided", "```"]] {
        assert_eq!(found(Category::Decision, &apart), None, "the scripts join the messages");
        assert!(excerpt(&apart).contains("we decided"));
    }
}

#[test]
fn a_finding_says_which_lines_and_where() {
    let filler = "x\n".repeat(25);
    let first = format!("{filler}  We decided: {}\n{filler}", "é".repeat(200));
    let finding = found(Category::Decision, &["hello", &first, "We decided twice\nWe decided twice"]);
    let finding = finding.unwrap();
    assert_eq!(finding.snippets.len(), 2);
    assert_eq!(finding.snippets[0].chars().count(), 120);
    assert!(finding.snippets[0].starts_with("We decided: é"));
    let parts: Vec<usize> = finding.excerpt.split("\n---\n").map(|part| part.lines().count()).collect();
    assert_eq!(parts, [21, 12]);
}

#[test]
fn the_excerpt_of_a_session_is_bounded() {
    let lines = format!("we decided {}\n", "日".repeat(500)).repeat(50);
    let session = session_summary(&said(&[&lines]), Some(0.0)).unwrap();
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
            assert!(all(&conversation).findings.iter().all(is_share), "{piece:?}");
            let session = session_summary(&conversation, Some(0.0)).unwrap();
            assert!(session.excerpt.len() <= 8_000, "{piece:?}: {}", session.excerpt.len());
        }
    }
}

proptest! {
    #[test]
    fn any_conversation_is_scored_from_0_to_1(
        texts in proptest::collection::vec("(\\PC|\n|`|decided|because|error| ){0,60}", 0..8)
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for finding in all(&said(&texts)).findings {
            prop_assert!((0.0..=1.0).contains(&finding.score), "{finding:?}");
        }
    }
}
