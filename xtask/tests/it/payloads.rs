//! The recorded payloads, as far as they can be judged without a client.

use std::fs;

use lorelane_core::json::Json;
use xtask::repo;

#[test]
fn every_recorded_payload_is_an_object_and_names_no_machine() {
    let files = repo::tracked_files(&repo::root()).unwrap();
    let recorded =
        files.iter().filter(|path| path.contains("fixtures/payloads/") && !path.contains("/broken/"));
    let mut clients = std::collections::BTreeSet::new();
    for path in recorded {
        let text = fs::read_to_string(repo::root().join(path)).unwrap();
        let payload = Json::parse(&text).unwrap_or_else(|fault| panic!("{path}: {fault}"));
        assert!(payload.as_object().is_some(), "{path} holds no object");
        assert!(!text.contains("lorelane-clients-"), "{path} names a scratch folder");
        clients.insert(path.split('/').nth(5).unwrap().to_owned());
    }
    let clients: Vec<String> = clients.into_iter().collect();
    assert_eq!(clients, ["claude-code", "codex", "copilot", "gemini", "opencode"]);
}
