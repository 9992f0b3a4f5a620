//! Any bytes in a note's place are read and cut without panic; what is read can be retired, and reads back so.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lorelane_core::dialect::notes::Notes;
use lorelane_core::dialect::{Dialect, MemoryFile, TextEdit};
use lorelane_core::lifecycle::LifecycleVerb;
use lorelane_core::path::RelPath;
use lorelane_core::time::Timestamp;
use lorelane_core::transition::{self, TransitionResult};

fuzz_target!(|bytes: &[u8]| {
    let path = RelPath::parse("fuzzed.md").expect("a constant path");
    let Ok(MemoryFile { document, memory, .. }) = Notes.read(&path, bytes.to_vec()).into_memory() else {
        return;
    };
    let _ = Notes.passages(&document);
    if let Ok(TransitionResult::Changed(retired)) =
        transition::apply(&memory, LifecycleVerb::Retire, "fuzzed", Timestamp(0))
    {
        let edits = Notes.write(Some(&document), Some(&memory), Some(&retired));
        let edits = edits.expect("any note can be retired");
        let Some(TextEdit::Put { file, .. }) = edits.first() else { panic!("{edits:?}") };
        assert_eq!(file.memory, *retired);
    }
});
