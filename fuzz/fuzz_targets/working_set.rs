//! Any text in the place of a session's files is read and edited without panic; what is added is there and goes again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lorelane_core::time::Timestamp;
use lorelane_core::working_set::{
    ColdManifest, HotManifest, SessionLog, SessionState, SetEntry, SetManifest, Sidecar, SidecarEdit,
    SummaryHead, stamped_advice, summary_body,
};

fuzz_target!(|text: &str| {
    let log = SessionLog::read(text);
    let _ = SessionState::of(log.events());
    let _ = (HotManifest::read(text), ColdManifest::read(text), stamped_advice(text, Timestamp(0)));
    let _ = (SummaryHead::read(text), summary_body(text));
    let edit = SidecarEdit { pin: Some(true), ..SidecarEdit::default() };
    if let Some(edited) = Sidecar::edited(text, &edit, Timestamp(0)) {
        assert!(Sidecar::read(&edited).is_some_and(|sidecar| sidecar.pin), "{edited:?}");
    }
    if SetManifest::read(text).is_err() {
        return;
    }
    let is_there = |text: &str| {
        SetManifest::read(text).is_ok_and(|set| set.entries.iter().any(|entry| entry.path == "fuzzed/new.md"))
    };
    if let Some(added) = SetManifest::with_entry(text, &SetEntry::new("fuzzed/new.md", 0.5)) {
        assert!(is_there(&added), "{added:?}");
        let removed = SetManifest::without(&added, "fuzzed/new.md").expect("what was added can be removed");
        assert!(!is_there(&removed), "{removed:?}");
    }
});
