//! Any bytes in the place of the marks are read without panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lorelane_core::mark::Marks;

fuzz_target!(|bytes: &[u8]| {
    let _ = Marks::read(bytes);
});
