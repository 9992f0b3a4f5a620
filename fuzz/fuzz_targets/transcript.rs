//! Any bytes in the place of a transcript are read and scored without panic, and no score leaves its range.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lorelane_core::conversation::{ReverseReader, TranscriptFormat, TranscriptPosition};
use lorelane_core::triage::{assess, session_summary};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    for format in [TranscriptFormat::ClaudeCode, TranscriptFormat::Codex, TranscriptFormat::Copilot] {
        let mut backwards = ReverseReader::new(10);
        for (at, line) in text.split('\n').enumerate().collect::<Vec<_>>().into_iter().rev() {
            format.may_speak(line.as_bytes());
            if format
                .read_line(line)
                .is_some_and(|part| !backwards.add(TranscriptPosition::Line(at as u64), part))
            {
                break;
            }
        }
        let conversation = backwards.finish();
        let findings = assess(&conversation, &|_| Some(0.0)).findings;
        for finding in findings.into_iter().chain(session_summary(&conversation, Some(0.0))) {
            assert!((0.0..=1.0).contains(&finding.score));
        }
    }
});
