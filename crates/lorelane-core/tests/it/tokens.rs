//! Counters of tokens: the exact one on known encodings, and the estimate beside it.

use lorelane_core::text::{CounterName, EstimatedTokens, O200kTokens, TokenCounter, tokens};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

// Counted with OpenAI's own implementation.
#[test]
fn o200k_counts_like_its_reference() {
    let counter = O200kTokens::new();
    for (text, expected) in [
        ("", 0),
        ("a", 1),
        (" ", 1),
        ("hello world", 2),
        ("Hello, world!", 4),
        ("The quick brown fox jumps over the lazy dog.", 10),
        ("fn main() {\n    println!(\"{x:?}\");\n}\n", 11),
        ("let x = 12345678;", 8),
        ("I'M sure they'Ve gone, it's John's", 10),
        ("  \n\n   x", 3),
        ("x   ", 2),
        ("a\r\n\r\n b", 3),
        ("\t\tif (a && b) // no/\n/\n", 11),
        ("HTTPServerError getUserByID", 7),
        ("日本語のトークンを数える", 9),
        ("我们在中国使用人工智能技术。", 8),
        ("한국어 토큰을 세어 보겠습니다", 9),
        ("Привет, мир", 4),
        ("é e\u{301} \u{301}x A\u{301}\u{301}B", 10),
        ("ΑΒΓ Dž ʰ", 8),
        ("🙂👩\u{200d}👩\u{200d}👧 ok", 10),
        ("{\"id\": 42, \"name\": null}", 11),
        ("\u{a0}x\u{3000}y", 4),
        ("٣٤٥٦ Ⅷ ½", 9),
        // Foreign text has no special tokens.
        ("<|endoftext|>", 7),
        ("ABC中文DEF", 3),
        ("\0\u{1}", 2),
        ("ＡＢＣ１２３", 5),
        ("नमस्ते दुनिया", 5),
        ("สวัสดีชาวโลก", 7),
        (&"a".repeat(1_000), 125),
        (&"=".repeat(200), 3),
        (&format!("{}x", " ".repeat(200)), 3),
    ] {
        assert_eq!(counter.count(text), expected, "{text:?}");
    }
}

// A piece is merged by rank: with a list in place of a heap, this ran for minutes.
#[test]
fn a_megabyte_without_a_space_is_counted() {
    let counter = O200kTokens::new();
    assert_eq!(counter.count(&"a".repeat(1 << 20)), (1 << 20) / 8);
    assert!(counter.count(&"漢字仮名".repeat(1 << 16)) > 1 << 16);
}

#[test]
fn counters_have_names() {
    for counter in CounterName::ALL {
        assert_eq!(CounterName::parse(counter.name()), Some(counter));
        assert_eq!(counter.counter().name(), counter.name());
    }
    assert_eq!((CounterName::parse("cl100k"), CounterName::default()), (None, CounterName::Estimate));
}

#[test]
fn the_estimate_counts_runs() {
    for (text, expected) in [
        ("", 0),
        ("abcd", 1),
        ("words of a sentence", 4),
        ("let x = 12345678;", 7),
        ("日本語", 3),
        ("    \n\n\n\n    x", 3),
        ("\0\0", 4),
    ] {
        assert_eq!(tokens(text), expected, "{text:?}");
    }
}

// Spec, section 3, no. 35: a report names its counter, and the default one is near an exact encoding. Here on this
// repository's own files; `docs/technical/tokens.md` has other people's.
#[test]
fn the_estimate_is_near_o200k_on_this_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let exact = O200kTokens::new();
    for (folder, extension, at_least) in
        [("crates/lorelane-core/src/working_set", "rs", 10), ("docs", "md", 10), ("schemas", "json", 5)]
    {
        let entries = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let files = entries.filter(|path| path.extension().is_some_and(|found| found == extension));
        let mut errors: Vec<f64> = files
            .map(|path| {
                let text = fs::read_to_string(&path).unwrap();
                tokens(&text) as f64 / exact.count(&text) as f64 - 1.0
            })
            .collect();
        errors.sort_by(f64::total_cmp);
        assert!(errors.len() >= at_least, "{folder}: {} files", errors.len());
        let median = errors[errors.len() / 2];
        assert!(median.abs() < 0.1, "{folder}: {median} of {errors:?}");
    }
    let cjk = "作業セットは、セッションの間にエージェントの文脈に残すファイルを、理由とともに記録します。\n\
        工作集记录了会话期间保留在代理上下文中的文件及其原因。删除文件之前会先写好摘要。\n\
        작업 집합은 세션 동안 에이전트의 컨텍스트에 남는 파일과 그 이유를 기록합니다.\n";
    let error = tokens(cjk) as f64 / exact.count(cjk) as f64 - 1.0;
    assert!(error.abs() < 0.1, "{error}");
}

proptest! {
    // `assemble` searches the longest text that fits by halving.
    #[test]
    fn a_longer_text_never_has_fewer_estimated_tokens(text in any::<String>(), more in any::<String>()) {
        let longer = [text.as_str(), more.as_str()].concat();
        prop_assert!(tokens(&text) <= tokens(&longer));
    }

    #[test]
    fn the_lower_bounds_are_lower_bounds(text in any::<String>(), blanks in 0_usize..2_000) {
        for text in [text.clone(), format!("{text}{}", " ".repeat(blanks)), "\n".repeat(blanks)] {
            prop_assert!(EstimatedTokens.at_least(text.len() as u64) <= EstimatedTokens.count(&text));
        }
    }
}

// Making a counter takes milliseconds: one for all texts.
#[test]
fn the_exact_lower_bound_is_one() {
    let exact = O200kTokens::new();
    for text in ["", "x", &" ".repeat(1_000), &"\n".repeat(777), &"-".repeat(999), &"文".repeat(300)] {
        let bytes = text.len() as u64;
        assert!(exact.at_least(bytes) <= exact.count(text), "{bytes} bytes");
    }
}
