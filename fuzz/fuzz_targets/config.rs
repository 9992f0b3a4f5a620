//! Any configuration is settled without panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lorelane_core::json::Json;
use lorelane_core::policy::{Given, Home, Policy};

fuzz_target!(|given: Vec<(String, String)>| {
    let given: Vec<Given> = given
        .into_iter()
        .map(|(key, value)| Given {
            key,
            value: Json::parse(&value).unwrap_or(Json::Text(value)),
            file: "fuzzed".to_owned(),
            home: Home::Records,
        })
        .collect();
    let policy = Policy::settle(&given, Vec::new());
    let _ = policy.memory_root();
});
