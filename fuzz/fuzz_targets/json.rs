//! Any text is read without panic, and a patched text says what it was patched to.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lorelane_core::json::{Json, patch};

fuzz_target!(|texts: (&str, &str)| {
    if let (Ok(old), Ok(new)) = (Json::parse(texts.0), Json::parse(texts.1)) {
        let patched = patch(texts.0, &new).expect("what parsed can be patched");
        assert_eq!(Json::parse(&patched).as_ref(), Ok(&new));
        assert_eq!(patch(texts.0, &old).as_deref().map(Json::parse), Ok(Ok(old)));
    }
});
