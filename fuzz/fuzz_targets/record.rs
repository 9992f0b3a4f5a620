//! Any bytes in a memory's place are read without panic; what is read can be retired and listed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lorelane_core::dialect::records::Records;
use lorelane_core::dialect::{Dialect, MemoryFile};
use lorelane_core::lifecycle::LifecycleVerb;
use lorelane_core::path::RelPath;
use lorelane_core::time::Timestamp;
use lorelane_core::transition::{self, TransitionResult};

fuzz_target!(|bytes: &[u8]| {
    let records = Records::new(".claude/memory");
    let path = RelPath::parse("decisions/fuzzed.json").expect("a constant path");
    let Ok(MemoryFile { document, memory, .. }) = records.read(&path, bytes.to_vec()).into_memory() else {
        return;
    };
    let _ = records.listing_line(&memory);
    let _ = records.passages(&document);
    if let Ok(TransitionResult::Changed(retired)) =
        transition::apply(&memory, LifecycleVerb::Retire, "fuzzed", Timestamp(0))
    {
        let _ = records.write(Some(&document), Some(&memory), Some(&retired));
    }
});
