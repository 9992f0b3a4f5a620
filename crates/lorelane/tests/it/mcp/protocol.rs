//! Beginnings, nonsense, haste: what the protocol itself has to stand.

use super::*;
use expect_test::expect;

#[test]
fn both_beginnings_are_answered_on_one_connection_in_any_order() {
    let scratch = Scratch::with_jwt();
    let discover = format!("{{{META}}}");
    for order in [["discover", "initialize"], ["initialize", "discover"]] {
        let mut client = Client::start(&scratch);
        for beginning in order {
            if beginning == "initialize" {
                let greeted = client.greet();
                assert_eq!(text(&greeted, "protocolVersion"), "2025-11-25");
                assert_eq!(text(&greeted, "serverInfo.name"), "lorelane");
                assert_eq!(text(&greeted, "serverInfo.version"), env!("CARGO_PKG_VERSION"));
                assert!(text(&greeted, "instructions").contains("memory_search"));
            } else {
                let found = client.ask("server/discover", &discover);
                let versions = found.at("result.supportedVersions").unwrap_or_else(|| panic!("{found:?}"));
                assert!(versions.to_texts().contains(&"2026-07-28".to_owned()), "{found:?}");
                assert!(versions.to_texts().contains(&"2025-11-25".to_owned()), "{found:?}");
            }
        }
        // Requests of both kinds go on side by side.
        let old = client.ask("tools/list", "{}");
        assert_eq!(list(&old, "result.tools").len(), 8);
        assert_eq!(old.at("result.resultType"), None);
        let new = client.ask("tools/list", &discover);
        assert_eq!(list(&new, "result.tools").len(), 8);
        assert_eq!(text(&new, "result.resultType"), "complete");
        client.leave();
    }
}

#[test]
fn a_client_of_the_newest_protocol_needs_no_greeting() {
    let scratch = Scratch::with_jwt();
    let mut client = Client::start(&scratch);
    let params = format!(r#"{{"name": "memory_search", "arguments": {{"query": "jwt"}}, {META}}}"#);
    let answer = client.ask("tools/call", &params);
    assert!(words(answer.at("result").unwrap()).contains("decision/use-jwt"), "{answer:?}");
    // Its methods are its own.
    for params in [r#""uri": "x""#, r#""level": "error""#] {
        for method in ["resources/subscribe", "resources/unsubscribe", "logging/setLevel"] {
            let answer = client.ask(method, &format!("{{{params}, {META}}}"));
            assert_eq!(code(&answer), -32601, "{method} {params}");
        }
    }
    // And `initialize` still begins the older way.
    client.greet();
    assert_eq!(list(&client.ask("tools/list", "{}"), "result.tools").len(), 8);
    client.leave();
}

#[test]
fn an_unknown_version_gets_one_that_we_know() {
    let scratch = Scratch::with_store();
    for asked in ["1999-01-01", "2099-01-01", "2026-07-28", "nonsense"] {
        let mut client = Client::start(&scratch);
        let greeted = client.ask("initialize", &INITIALIZE.replace("2025-11-25", asked));
        assert_eq!(text(&greeted, "result.protocolVersion"), "2025-11-25", "{asked}");
        let inline = META.replace("2026-07-28", "2099-01-01");
        let answer = client.ask("tools/list", &format!("{{{inline}}}"));
        assert_eq!(code(&answer), -32022, "{answer:?}");
        client.leave();
    }
    for known in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let mut client = Client::start(&scratch);
        let greeted = client.ask("initialize", &INITIALIZE.replace("2025-11-25", known));
        assert_eq!(text(&greeted, "result.protocolVersion"), known);
        client.leave();
    }
}

#[test]
fn nonsense_is_answered_and_ends_nothing() {
    let scratch = Scratch::with_jwt();
    let mut client = Client::start(&scratch);
    // Before the greeting: a notification out of order, an answer to nothing, a request too early.
    client.send(r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#);
    client.send(r#"{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}"#);
    client.send(r#"{"jsonrpc": "2.0", "id": 77, "result": {}}"#);
    client.send(r#"{"jsonrpc": "2.0", "id": 78, "error": {"code": 1, "message": "x"}}"#);
    assert_eq!(code(&client.ask("tools/list", "{}")), -32600);
    assert!(client.ask("ping", "{}").at("result").is_some());
    client.greet();
    let deep = format!(
        r#"{{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}{}}}"#,
        "[".repeat(5000),
        "]".repeat(5000)
    );
    let huge = format!(
        r#"{{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {{"x": "{}"}}}}"#,
        "x".repeat(9 << 20)
    );
    for (line, expected) in [
        ("", None),
        ("{", Some(-32700)),
        ("Content-Length: 5", Some(-32700)),
        ("\u{0}\u{1}", Some(-32700)),
        ("[]", Some(-32600)),
        (r#"[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]"#, Some(-32600)),
        ("null", Some(-32600)),
        (r#"{"jsonrpc": "2.0"}"#, Some(-32600)),
        (r#"{"jsonrpc": "2.0", "id": {}, "method": "ping"}"#, Some(-32600)),
        (r#"{"id": null, "method": "ping"}"#, Some(-32600)),
        (deep.as_str(), Some(-32700)),
        (huge.as_str(), Some(-32600)),
    ] {
        client.send(line);
        if let Some(expected) = expected {
            let answer = client.wait(|message| message.at("error").is_some()).unwrap();
            let line: String = line.chars().take(60).collect();
            assert_eq!(code(&answer), expected, "{line}: {answer:?}");
        }
    }
    client.send(b"\xff\xfe{}");
    assert_eq!(code(&client.wait(|message| message.at("error").is_some()).unwrap()), -32700);
    for (method, params, expected) in [
        ("nope", "{}", -32601),
        ("tools/call", "{}", -32602),
        ("tools/call", r#"{"name": 5}"#, -32602),
        ("tools/call", r#"{"name": "memory_search", "arguments": []}"#, -32602),
        ("prompts/get", r#"{"name": "nope"}"#, -32602),
        ("prompts/get", r#"{"name": "recall"}"#, -32602),
        ("resources/read", r#"{"uri": "file:///etc/passwd"}"#, -32002),
        ("resources/read", "{}", -32602),
        ("tools/list", r#"{"cursor": "x"}"#, -32602),
        ("resources/list", r#"{"cursor": "zz"}"#, -32602),
        ("resources/subscribe", "{}", -32602),
        ("logging/setLevel", r#"{"level": "loud"}"#, -32602),
    ] {
        let answer = client.ask(method, params);
        assert_eq!(code(&answer), expected, "{method} {params}: {answer:?}");
    }
    assert!(client.said("memory_search", r#"{"query": "jwt"}"#).contains("decision/use-jwt"));
    client.leave();
}

#[test]
fn a_hundred_requests_at_once_are_all_answered() {
    let scratch = Scratch::with_jwt();
    let mut client = Client::greeted(&scratch);
    let mut asked = Vec::new();
    for number in 0..100 {
        let (tool, arguments) = match number % 4 {
            0 => ("memory_search", r#"{"query": "jwt"}"#.to_owned()),
            1 => ("memory_list", "{}".to_owned()),
            2 => ("memory_read", r#"{"address": "use-jwt"}"#.to_owned()),
            _ => ("memory_save", save(&format!("Decision number {number}"))),
        };
        asked.push(client.post("tools/call", &format!(r#"{{"name": "{tool}", "arguments": {arguments}}}"#)));
    }
    for id in asked {
        let answer = client.answer(id);
        assert_eq!(answer.at("result.isError"), Some(&Json::Bool(false)), "{answer:?}");
    }
    assert_eq!(client.document("memory_list", "{}").at("total"), Some(&Json::number(26)));
    client.leave();
    scratch.lorelane("doctor").expect(0);
}

#[test]
fn a_cancelled_request_is_not_answered_and_the_others_are() {
    let scratch = Scratch::with_jwt();
    let mut client = Client::greeted(&scratch);
    let all: Vec<u64> = (0..40)
        .map(|_| {
            client.post("tools/call", r#"{"name": "memory_status", "arguments": {"rebuild_index": true}}"#)
        })
        .collect();
    // The last one waits in line behind the others.
    let last = *all.last().unwrap();
    client.send(format!(
        r#"{{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {{"requestId": {last}, "reason": "enough"}}}}"#
    ));
    client.send(r#"{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}}"#);
    client.send(r#"{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}}"#);
    for id in &all[..all.len() - 1] {
        assert!(client.answer(*id).at("result").is_some());
    }
    client.ask("ping", "{}");
    let late =
        client.wait_for(Duration::from_millis(300), |message| message.at("id") == Some(&Json::number(last)));
    assert_eq!(late, None);
    client.leave();
}

#[test]
fn long_work_tells_how_far_it_is() {
    let scratch = Scratch::with_jwt();
    let mut client = Client::greeted(&scratch);
    let params = r#"{"name": "memory_status", "arguments": {"check": true, "rebuild_index": true}, "_meta": {"progressToken": "t1"}}"#;
    let id = client.post("tools/call", params);
    let mut told = String::new();
    while let Some(progress) = client.wait(|message| {
        text(message, "method") == "notifications/progress" || message.at("id") == Some(&Json::number(id))
    }) {
        if text(&progress, "method").is_empty() {
            break;
        }
        assert_eq!(text(&progress, "params.progressToken"), "t1");
        let number = |path: &str| progress.at(path).and_then(Json::as_f64).unwrap();
        told += &format!(
            "{} of {}: {}\n",
            number("params.progress"),
            number("params.total"),
            text(&progress, "params.message")
        );
    }
    expect![[r#"
        0 of 3: rebuilding the index and index.md
        1 of 3: checking every file
        2 of 3: counting memories
        3 of 3: done
    "#]]
    .assert_eq(&told);
    client.leave();
}

#[test]
fn a_client_that_hangs_up_is_let_go_and_gets_its_last_answers() {
    let scratch = Scratch::with_jwt();
    let mut client = Client::greeted(&scratch);
    let id = client.post(
        "tools/call",
        r#"{"name": "memory_status", "arguments": {"check": true}, "_meta": {"progressToken": 1}}"#,
    );
    drop(client.input.take());
    assert!(client.answer(id).at("result").is_some());
    client.leave();
    // One that never spoke is let go as well.
    Client::start(&scratch).leave();
}

#[test]
fn without_a_store_the_server_runs_and_says_what_to_do() {
    let scratch = Scratch::new();
    let mut client = Client::greeted(&scratch);
    let said = client.refused("memory_search", r#"{"query": "jwt"}"#);
    assert!(said.contains("cannot find a memory store") && said.contains("lorelane init"), "{said}");
    assert_eq!(list(&client.ask("resources/list", "{}"), "result.resources").len(), 0);
    // A store that is made meanwhile is found.
    scratch.lorelane("init").expect(0);
    scratch.decide("Use JWT");
    assert!(client.said("memory_search", r#"{"query": "jwt"}"#).contains("decision/use-jwt"));
    client.leave();
}

#[test]
fn what_cannot_be_started_is_said() {
    let scratch = Scratch::with_store();
    for (line, what) in [
        ("mcp --profile none", "'none' is not a profile"),
        ("mcp --http 0.0.0.0:0", "can be reached by other machines"),
        ("mcp --http nowhere", "is not an address"),
        ("mcp stdio", "unexpected argument 'stdio'"),
        ("--json mcp", "only -C may come before"),
    ] {
        let said = scratch.lorelane(line).expect(2);
        assert!(said.err.contains(what) && said.err.contains("hint: "), "{line}: {said:?}");
        assert_eq!(said.out, "", "{line}");
    }
}

pub(super) fn save(title: &str) -> String {
    format!(
        r#"{{"category": "decision", "title": "{title}", "tags": ["test"],
            "content": {{"context": "c", "decision": "d", "rationale": ["r"]}}}}"#
    )
}
