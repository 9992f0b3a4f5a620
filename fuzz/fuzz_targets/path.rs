//! A path that is accepted stays inside its lane and reads back equal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lorelane_core::path::RelPath;

fuzz_target!(|text: &str| {
    if let Ok(path) = RelPath::parse(text) {
        assert!(!path.as_str().starts_with('/'));
        assert!(path.as_str().split('/').all(|part| !matches!(part, "" | "." | "..")));
        assert_eq!(RelPath::parse(&path.to_string()), Ok(path));
    }
});
