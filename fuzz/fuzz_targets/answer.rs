//! Any text in the place of an agent's answer is read without panic, and what is accepted was verified.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lorelane_core::candidate::Action;
use lorelane_core::consolidate;

fuzz_target!(|text: &str| {
    for item in consolidate::read(text).map(|answer| answer.items).unwrap_or_default().into_iter().flatten() {
        assert!(item.judgement.is_some() || item.action == Action::Noop);
    }
});
