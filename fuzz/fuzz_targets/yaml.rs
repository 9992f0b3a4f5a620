//! Any text is read and edited as YAML without panic; what is set reads back, and what is removed is gone.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lorelane_core::yaml::{FieldEdit, YamlCollection};

fuzz_target!(|text: &str| {
    let Some(document) = YamlCollection::document(text) else { return };
    for path in [["a"].as_slice(), &["metadata", "type"], &["items", "0", "path"]] {
        let _ = document.list(path);
        if let Some(edited) = document.edited(path, FieldEdit::Text("a: b\n")) {
            let again = YamlCollection::document(&edited).expect("a mapping stays one");
            assert_eq!(again.scalar(path).as_deref(), Some("a: b\n"), "{edited:?}");
        }
        if let Some(edited) = document.edited(path, FieldEdit::Remove) {
            let again = YamlCollection::document(&edited).and_then(|again| again.scalar(path));
            assert_eq!(again, None, "{edited:?}");
        }
    }
});
