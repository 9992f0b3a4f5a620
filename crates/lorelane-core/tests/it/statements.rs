//! The detector of statements through its public door, with sentences of our own.

use lorelane_core::conversation::{Conversation, Message, Speaker, TranscriptPosition};
use lorelane_core::statements::{
    ASK_SCORE, INBOX_SCORE, ScoredStatement, StatementFeature as F, StatementKind, StatementWeights,
    candidates, detect, is_withdrawal, to_ask,
};
use proptest::prelude::*;

/// A conversation in which user and agent take turns; the user begins.
fn conversation(turns: &[&str]) -> Conversation {
    let speakers = [Speaker::Human, Speaker::Assistant].into_iter().cycle();
    let messages = turns.iter().zip(speakers).zip(1..).map(|((text, speaker), line)| Message {
        at: TranscriptPosition::Line(line),
        speaker,
        text: (*text).to_owned(),
        tools: Vec::new(),
    });
    Conversation { messages: messages.collect() }
}

fn found(turns: &[&str]) -> Vec<ScoredStatement> {
    detect(&conversation(turns), None)
}

fn words(found: &[ScoredStatement]) -> Vec<&str> {
    found.iter().map(|scored| scored.statement.words.as_str()).collect()
}

/// The score of what a user says, with the agent's answer.
fn score(text: &str, answer: &str) -> f64 {
    let candidates = candidates(&conversation(&["Hello", "Hi", text, answer]), None);
    let candidates = candidates.iter().filter(|candidate| candidate.statement.message == 2);
    candidates.map(|candidate| StatementWeights::default().score(&candidate.values)).fold(0.0, f64::max)
}

#[test]
fn what_people_agree_on_is_kept_with_its_kind() {
    use StatementKind::{Constraint, Correction, Decision, Preference, Runbook, TechDebt};
    let done = "Done, I updated the files.";
    let right = "You're right, I'll change that.";
    for (text, answer, kind) in [
        ("Let's use Postgres instead of Mongo, since the reports need joins.", done, Decision),
        ("The export should only contain paid orders.", done, Decision),
        ("We'll stick with the monolith, every feature should live in one service.", done, Decision),
        ("Use one queue for all imports, not one per customer.", done, Decision),
        ("Vamos a usar una sola cola para todas las importaciones en lugar de varias.", done, Decision),
        ("Die Anwendung soll nur bezahlte Bestellungen exportieren.", done, Decision),
        ("Before you write any code, always show me the plan first.", done, Preference),
        ("Make sure to run the unit tests before each commit.", done, Preference),
        ("Never push to the main branch, always open a pull request first.", done, Preference),
        ("Asegúrate de ejecutar las pruebas antes de cada commit.", done, Preference),
        ("Stelle sicher, dass die Tests laufen, bevor du einen Commit machst.", done, Preference),
        ("No, that's wrong, the id comes from the header, not the body.", right, Correction),
        ("Actually it's not a list, it is a map, you misunderstood the format.", right, Correction),
        ("The server only has 1 GB of RAM and production runs on Linux.", done, Constraint),
        ("The vendor limits us to at most ten requests per second.", done, Constraint),
        (
            "The problem was the old proxy, the uploads are slow because all of them go through it.",
            done,
            Runbook,
        ),
        ("For now we skip the retry logic, we should add it later.", done, TechDebt),
        ("Lass uns das Caching vorerst weglassen, das machen wir später.", done, TechDebt),
    ] {
        let found = found(&["Hello", "Hi", text, answer]);
        let kinds: Vec<(&str, &str)> =
            found.iter().map(|scored| (scored.statement.words.as_str(), scored.kind.name())).collect();
        assert_eq!(kinds, [(text, kind.name())], "score {:.2}", score(text, answer));
    }
}

#[test]
fn what_does_not_last_is_not_kept() {
    for text in [
        // Questions.
        "How does the login work?",
        "What is the difference between these two functions?",
        "can you tell me why the test is slow?",
        "¿Cómo funciona la caché?",
        "Wie funktioniert der Cache?",
        // Quotes and pasted text.
        "> We decided to use only Postgres.",
        "```\nalways use tabs, never spaces\n```",
        "2026-03-04 10:00:00 ERROR must not be used",
        // Hypotheticals and doubts.
        "maybe it would be nice if it could be faster",
        "If I changed the port, would it still work?",
        "I'm not sure what you mean",
        // Decisions that were not made.
        "I don't know yet, not sure about it",
        "I haven't decided, what do you think?",
        // Wishes for this one output.
        "make it blue",
        "move the button to the left",
        "add a field for the phone number",
        "Can you make the title a bit bigger please",
        "fix the typo in the readme",
        "pon el botón en azul",
        "mach die Schrift größer",
        // Reports.
        "still broken",
        "I get the same error again",
        "it doesn't work",
        // Politeness and steps of the work.
        "thanks!",
        "Great, please continue",
        "ok go ahead",
        "yes",
        "let's continue with the next step",
        "Perfecto, gracias",
        "Danke, weiter",
    ] {
        assert_eq!(
            words(&found(&["Hello", "Hi", text, "Done."])),
            Vec::<&str>::new(),
            "{:.2}",
            score(text, "Done.")
        );
    }
}

#[test]
fn what_the_agent_says_is_no_statement_of_the_user() {
    for text in [
        "## Todo List\n- Always validate the input\n- We should only use Postgres",
        "I'll use Postgres instead of Mongo, because the reports need joins.",
        "You should always run the tests before each commit.",
        "The build failed because the cache was stale.",
    ] {
        assert_eq!(words(&found(&["Look at this", text])), Vec::<&str>::new(), "{text}");
        assert_eq!(words(&found(&["Look at this", text, "ok"])), Vec::<&str>::new(), "{text}");
    }
}

#[test]
fn a_finding_of_the_agent_needs_a_confirmation() {
    let cause = "The upload failed because the proxy was rejecting large bodies.";
    let kept = |cause: &str, next: &str| {
        let found = found(&["The upload fails", cause, next, "Good."]);
        assert!(found.iter().all(|scored| scored.kind == StatementKind::Runbook && scored.score < ASK_SCORE));
        words(&found).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(kept(cause, "works now, thanks"), [cause]);
    assert_eq!(kept(cause, "perfecto, ya funciona"), [cause]);
    assert_eq!(kept(cause, "still the same error"), Vec::<String>::new());
    assert_eq!(kept(cause, "thanks, but it still fails"), Vec::<String>::new());
    assert_eq!(kept(cause, "ok"), Vec::<String>::new());
    let guess = "The upload probably fails because the proxy rejects large bodies.";
    assert_eq!(kept(guess, "works now, thanks"), Vec::<String>::new());
}

#[test]
fn a_request_to_remember_passes_in_ten_languages() {
    for text in [
        "Remember that blue is nice",
        "please remember this: blue",
        "ok, and remember to smile",
        "Note for next time: blue",
        "from now on blue",
        "Keep in mind that it is blue",
        "don't forget that it is blue",
        "Recuerda que es azul",
        "a partir de ahora azul",
        "Merk dir bitte: blau",
        "Ab jetzt blau",
        "Denk daran, es ist blau",
        "Souviens-toi que c'est bleu",
        "N'oublie pas que c'est bleu",
        "désormais en bleu",
        "Lembre-se de que é azul",
        "De agora em diante azul",
        "Ricordati che è blu",
        "D'ora in poi blu",
        "Запомни: синий",
        "имей в виду, это синий",
        "请记住：蓝色",
        "从现在开始用蓝色",
        "青だと覚えておいてください",
        "今後は青で",
        "파란색을 기억해 주세요",
        "다음부터 파란색",
    ] {
        let found = found(&["Hello", "Hi", text, "Done."]);
        assert_eq!(words(&found), [text]);
        assert!(found[0].is_request && found[0].score == 1.0, "{text}");
        assert_eq!(to_ask(&found, |scored| scored.score).len(), 1, "{text}");
    }
    for text in [
        "Do you remember that name?",
        "I remember that it was blue",
        "I can't remember the name",
        "The app should remember the last tab",
        "the remember me box",
        "Remember when it was blue",
        "if you remember that",
        "> remember that",
        "\"Remember that blue is nice\"",
        "¿Recuerdas que era azul?",
        "# Notes\nRemember that blue is nice",
    ] {
        let found = found(&["Hello", "Hi", text, "Done."]);
        assert!(found.iter().all(|scored| !scored.is_request), "{text}");
    }
}

#[test]
fn each_feature_has_a_meaning() {
    let value = |text: &str, feature: F| {
        let candidates = candidates(&conversation(&[text, "Got it, blue parrots it is."]), None);
        candidates.iter().map(|candidate| candidate.values.get(feature)).fold(0.0, f64::max)
    };
    for (feature, with, without) in [
        (F::RuleLead, "please use tabs", "tabs we use"),
        (F::RuleVerb, "you can use tabs", "tabs it is"),
        (F::EditLead, "ok, add a button", "a button is there"),
        (F::Prohibition, "don't touch it", "I don't see it"),
        (F::Lets, "let’s see", "let me see"),
        (F::Should, "it should be fast", "it is fast"),
        (F::Want, "I'd rather have tabs", "tabs are there"),
        (F::Commitment, "we'll stay", "well, stay"),
        (F::Declaration, "we have decided to stay", "have we decided?"),
        (F::Cause, "it turned out to be old", "it is old"),
        (F::Prohibition, "no mocks in these tests", "no, mocks in these tests"),
        (F::Request, "kannst du das machen", "das ist so"),
        (F::DecidingQuestion, "can we use tabs?", "we can use tabs"),
        (F::TaskStep, "help me with it", "with it"),
        (F::Fact, "the data is old", "is the data old?"),
        (F::Subject, "the data moves", "move the data"),
        (F::Emphasis, "do NOT move", "do not use SQL"),
        (F::Instead, "en lugar de tabs", "hay tabs"),
        (F::NotThis, "tabs, not spaces", "not tabs"),
        (F::Correction, "das ist falsch", "das ist so"),
        (F::Only, "nur Tabs", "Tabs"),
        (F::Every, "in every file", "in a file"),
        (F::General, "tabs by default", "tabs"),
        (F::Reason, "weil es schneller geht", "es geht schneller"),
        (F::Order, "antes de todo", "todo va bien"),
        (F::Deferral, "vorerst ohne", "ohne das"),
        (F::Question, "is it so?", "it is so"),
        (F::QuestionLead, "what is it", "it is what it is"),
        (F::Screen, "the button", "the parser"),
        (F::Trouble, "ein Fehler", "ein Haus"),
        (F::Process, "write tests", "write letters"),
        (F::Architecture, "the database", "the house"),
        (F::Outside, "in production", "in general"),
        (F::Product, "this feature", "this house"),
        (F::Report, "I tried it", "try it"),
        (F::CodeShare, "see src/main.rs", "see it"),
        (F::Length, "one two three", "1"),
        (F::Short, "one two", "one two three four"),
        (F::Long, &"word ".repeat(40), "word"),
        (F::InDocument, "# Title\ntext here", "text here"),
        (F::BigMessage, "# A\n# B\ntext here", "# A\ntext here"),
        (F::LogMessage, "10:00:00 a\n10:00:01 b\n10:00:02 c\ntext here", "10:00:00 a\ntext here"),
        (F::LabelEnd, "do this:", "do this"),
        (F::LabelLead, "Note: this", "note this"),
        (F::Quoted, "\"this\" is it", "this is it"),
        (F::Statements, "one\ntwo", "?"),
        (F::Repeated, "blue parrots please", "red foxes please"),
    ] {
        let (with_it, without_it) = (value(with, feature), value(without, feature));
        assert!(with_it > 0.0, "{}: {with:?}", feature.name());
        assert!(without_it < with_it, "{}: {without:?} has {without_it}", feature.name());
    }
    let of_answer = |answer: &str| {
        candidates(&conversation(&["blue parrots", answer]), None)[0].values.get(F::Acknowledged)
    };
    assert_eq!((of_answer("Tienes razón, lo cambio"), of_answer("I will look at it")), (1.0, 0.0));
    let again = candidates(&conversation(&["keep blue parrots", "Ok", "keep those blue parrots"]), None);
    assert!(again[0].values.get(F::SaidBefore) == 0.0 && again[1].values.get(F::SaidBefore) > 0.5);
}

#[test]
fn the_same_words_are_one_statement() {
    let rule = "Make sure to run the unit tests before each commit.";
    let found = found(&[rule, "Ok", "make sure to run the unit tests before each commit.", "Ok"]);
    assert_eq!(words(&found), [rule]);
}

#[test]
fn what_is_withdrawn_is_not_kept() {
    let rule = "Make sure to run the unit tests before each commit.";
    assert_eq!(words(&found(&[rule, "Ok", "and the linter", "Ok"])), [rule]);
    for withdrawal in ["never mind, do it as before", "Olvídalo", "vergiss es"] {
        assert_eq!(words(&found(&[rule, "Ok", withdrawal, "Ok"])), Vec::<&str>::new(), "{withdrawal}");
        assert!(is_withdrawal(withdrawal));
    }
    assert!(!is_withdrawal("and the linter. Never mind the docs"));
}

#[test]
fn only_new_messages_are_examined_and_older_ones_are_context() {
    let turns = [
        "Make sure to run the unit tests before each commit.",
        "Ok",
        "make sure to run the unit tests before each commit.",
        "Ok",
        "Never push to the main branch, always open a pull request first.",
        "Understood.",
    ];
    let after = |line| detect(&conversation(&turns), Some(TranscriptPosition::Line(line)));
    assert_eq!(words(&after(2)), [turns[4]], "what was said before is not new");
    assert_eq!(words(&after(4)), [turns[4]]);
    assert_eq!(words(&after(6)), Vec::<&str>::new());
}

// A hook runs after every turn and sees what was said until then.
#[test]
fn turn_by_turn_the_same_is_found_as_at_the_end() {
    let turns = [
        "Make sure to run the unit tests before each commit.",
        "Understood.",
        "the upload fails with an error",
        "The upload failed because the proxy was rejecting large bodies.",
        "works now, thanks. Never push to the main branch, always open a pull request first.",
        "Got it.",
        "make sure to run the unit tests before each commit.",
        "Ok",
        "For now we skip the retry logic, we should add it later.",
        "Ok",
    ];
    let whole = conversation(&turns);
    let mut found = Vec::new();
    for stop in (2..=turns.len()).step_by(2) {
        let so_far = Conversation { messages: whole.messages[..stop].to_vec() };
        let last_stop = (stop > 2).then(|| TranscriptPosition::Line(stop as u64 - 2));
        found.extend(detect(&so_far, last_stop));
    }
    found.sort_by_key(|scored| scored.statement.message);
    assert_eq!(words(&found), [turns[0], turns[3], turns[4], turns[8]]);
    assert_eq!(found, detect(&whole, None));
}

#[test]
fn the_best_are_asked_about_first() {
    let rules: Vec<String> = ["parser", "printer", "linter", "server", "worker"]
        .iter()
        .map(|name| format!("From now on always test the {name} first."))
        .collect();
    let text = rules.join("\n");
    let found = found(&[&text, "Understood."]);
    assert_eq!(found.len(), 5);
    let asked = to_ask(&found, |scored| scored.score);
    assert_eq!(asked.len(), 5);
    assert!(asked.is_sorted_by(|one, other| one.score >= other.score));
    assert!(found.iter().all(|scored| scored.score >= INBOX_SCORE));
}

#[test]
fn a_statement_with_a_secret_is_never_proposed() {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let text = format!("Remember that the token is {secret}, always use it for all deployments.");
    assert_eq!(words(&found(&[&text, "Got it."])), Vec::<&str>::new());
    assert_eq!(found(&["Remember that the token is in the vault.", "Got it."]).len(), 1);
}

#[test]
fn a_statement_has_its_place_and_its_reasons() {
    let text = "Hello there!\n- Make sure to run the unit tests before each commit.\n";
    let found = found(&["Hi", "Hi", text, "Understood."]);
    let [scored] = &found[..] else { panic!("{found:?}") };
    assert_eq!(scored.statement.message, 2);
    assert_eq!(scored.statement.at, TranscriptPosition::Line(3));
    assert_eq!(&text[scored.statement.span.clone()], scored.statement.words);
    let names: Vec<&str> = scored.evidence.iter().map(|(feature, _)| feature.name()).collect();
    assert!(names.contains(&"rule_lead") && names.contains(&"order"), "{names:?}");
    assert!(scored.evidence.is_sorted_by(|one, other| one.1.abs() >= other.1.abs()));
    assert_eq!(detect(&conversation(&["Hi", "Hi", text, "Understood."]), None), found);
}

#[test]
fn every_feature_is_described_once() {
    for (at, feature) in F::ALL.iter().enumerate() {
        assert_eq!(*feature as usize, at);
        assert!(!feature.meaning().is_empty());
        assert!(F::ALL[..at].iter().all(|other| other.name() != feature.name()), "{}", feature.name());
    }
    assert!(F::ALL.len() <= 60);
}

#[test]
fn huge_and_odd_input_is_survived() {
    let line = "x".repeat(20_000_000);
    let spaced = "always use tabs ".repeat(1_000_000);
    let dots = ". ".repeat(100_000);
    let tags = "<a>\n<b>\n".repeat(5_000);
    let lines = "We should only use Postgres for reports.\n".repeat(20_000);
    for text in [&line, &spaced, &dots, &tags, &lines] {
        detect(&conversation(&[text, text, text, text]), None);
    }
    let turns: Vec<String> = (0..5_000).map(|at| format!("Always use queue number {at} first.")).collect();
    let turns: Vec<&str> = turns.iter().map(String::as_str).collect();
    assert!(!detect(&conversation(&turns), None).is_empty());
}

#[test]
fn twenty_scripts_are_read() {
    for text in [
        "Всегда сначала запускай тесты",
        "Πάντα πρώτα τα τεστ",
        "תמיד להריץ בדיקות",
        "دائما شغل الاختبارات",
        "हमेशा पहले परीक्षण",
        "সর্বদা পরীক্ষা",
        "எப்போதும் சோதனை",
        "ఎల్లప్పుడూ పరీక్ష",
        "ಯಾವಾಗಲೂ",
        "എപ്പോഴും",
        "ทดสอบก่อนเสมอ",
        "ທົດສອບ",
        "အမြဲ",
        "ყოველთვის",
        "Միշտ",
        "ሁልጊዜ",
        "ជានិច្ច",
        "常に先にテスト",
        "항상 먼저 테스트",
        "总是先测试",
        "e\u{301}\u{301}\u{301} ﬁ ½ 🧪🧪 \u{202e}abc",
    ] {
        detect(&conversation(&[text, text, text]), None);
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(
        turns in prop::collection::vec("(\\PC|\n|- |```|[.?!,:'’`<>#|0-9]|don't|字|é|\u{301}){0,60}", 1..6),
        after in 0..7u64,
    ) {
        let turns: Vec<&str> = turns.iter().map(String::as_str).collect();
        let conversation = conversation(&turns);
        for candidate in candidates(&conversation, Some(TranscriptPosition::Line(after))) {
            let statement = candidate.statement;
            let text = &conversation.messages[statement.message].text;
            prop_assert_eq!(&text[statement.span], statement.words);
            prop_assert!(candidate.values.0.iter().all(|value| value.is_finite()));
        }
        detect(&conversation, None);
    }
}

// In sessions like these the keywords of the claude-memory scripts asked nothing (findings, "Reminders and capture").
#[test]
fn what_people_say_in_passing_is_kept_with_its_kind() {
    use StatementKind::{Constraint, Correction, Decision, Preference, Runbook, TechDebt};
    for (text, answer, kind, is_asked) in [
        ("ok Redis then. I don't want to run Kafka on every laptop", "Done.", Decision, false),
        ("lets drop moment and use dayjs, its smaller bundle fixes that", "Done.", Decision, false),
        ("yeah go with ulid, sequential ids let people guess the number of orders", "Done.", Decision, false),
        ("We decided to use bun over node because the startup is faster.", "Done.", Decision, true),
        ("Found it. The worker opens a new connection per job and never closes it", "Good.", Runbook, true),
        ("please don't write snapshots for the service layer", "Done.", Preference, false),
        ("From now on always run the tests with --fast", "Ok.", Preference, true),
        ("skip it for this sprint, we'll come back to it", "Ok.", TechDebt, true),
        ("No, we use uv here, not pip. Remember that.", "You're right.", Correction, true),
        ("btw legal says we can't keep emails longer than 30 days", "Noted.", Constraint, false),
        ("remember this: releases go out every Monday at 9", "Ok.", Decision, true),
    ] {
        let found = found(&["Hello", "Hi", text, answer]);
        let kinds: Vec<(&str, &str)> =
            found.iter().map(|scored| (scored.statement.words.as_str(), scored.kind.name())).collect();
        assert_eq!(kinds, [(text, kind.name())], "score {:.2}", score(text, answer));
        assert_eq!(to_ask(&found, |scored| scored.score).len(), usize::from(is_asked), "{text}");
    }
}

#[test]
fn what_was_not_decided_is_not_kept() {
    for (text, answer) in [
        ("have we decided on a cache?", "Nothing has been decided yet."),
        ("translate this\n> We decided to use Redis because it scales", "Hemos decidido usar Redis"),
        ("the selected tab should be brighter than the others, and the picked font bigger", "Done."),
        (
            "error[E0308]: mismatched types\n  --> src/a.rs:3:5\nthe build fails",
            "Fixed: it returns a String now.",
        ),
    ] {
        assert_eq!(words(&found(&["Hello", "Hi", text, answer])), Vec::<&str>::new(), "{text}");
    }
}
