//! Any bytes in a note's place are read and cut without panic; what is read can be retired, and reads back so.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lorelane_core::dialect::notes::Notes;
use lorelane_core::dialect::{Dialect, TextEdit};
use lorelane_core::lifecycle::LifecycleVerb;
use lorelane_core::path::RelPath;
use lorelane_core::time::Timestamp;
use lorelane_core::transition::{self, TransitionResult};

fuzz_target!(|bytes: &[u8]| {
    let path = RelPath::parse("fuzzed.md").expect("a constant path");
    let Some(memory) = Notes.read(&path, bytes).memory else { return };
    let text = std::str::from_utf8(bytes).expect("what was read is UTF-8");
    let _ = Notes.passages(text);
    if let Ok(TransitionResult::Changed(retired)) =
        transition::apply(&memory, LifecycleVerb::Retire, "fuzzed", Timestamp(0))
    {
        let edits = Notes.write(Some(text), Some(&memory), Some(&retired)).expect("any note can be retired");
        let Some(TextEdit::Put { text, .. }) = edits.first() else { panic!("{edits:?}") };
        assert_eq!(Notes.read(&path, text.as_bytes()).memory, Some(*retired));
    }
});
