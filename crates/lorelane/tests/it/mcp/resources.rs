//! Memories as resources, notices of their changes, prompts.

use super::protocol::save;
use super::*;

const URI: &str = "lorelane://records/decision/use-jwt";

#[test]
fn memories_are_listed_and_read_as_their_files_say() {
    let scratch = Scratch::with_jwt();
    let mut client = Client::greeted(&scratch);
    let listed = client.ask("resources/list", "{}");
    let [resource] = list(&listed, "result.resources") else { panic!("{listed:?}") };
    assert_eq!((text(resource, "uri"), text(resource, "title")), (URI, "Use JWT"));
    let read = client.ask("resources/read", &format!(r#"{{"uri": "{URI}"}}"#));
    let [contents] = list(&read, "result.contents") else { panic!("{read:?}") };
    assert_eq!(text(contents, "mimeType"), "application/json");
    assert_eq!(text(contents, "text"), fs::read_to_string(scratch.project().join(USE_JWT)).unwrap());
    let templates = client.ask("resources/templates/list", "{}");
    let [record, note] = list(&templates, "result.resourceTemplates") else { panic!("{templates:?}") };
    assert_eq!(text(record, "uriTemplate"), "lorelane://records/{category}/{slug}");
    assert_eq!(text(note, "uriTemplate"), "lorelane://notes/{+path}");
    client.leave();
}

#[test]
fn a_note_of_any_name_is_a_resource() {
    let scratch = Scratch::new();
    scratch.put(".memories/plans/log in größe.md", "# Log in\n\nText.\n");
    let mut client = Client::greeted(&scratch);
    let listed = client.ask("resources/list", "{}");
    let [resource] = list(&listed, "result.resources") else { panic!("{listed:?}") };
    let uri = text(resource, "uri");
    assert_eq!(
        (uri, text(resource, "mimeType")),
        ("lorelane://notes/plans/log%20in%20gr%C3%B6%C3%9Fe", "text/markdown")
    );
    let read = client.ask("resources/read", &format!(r#"{{"uri": "{uri}"}}"#));
    let [contents] = list(&read, "result.contents") else { panic!("{read:?}") };
    assert_eq!(text(contents, "text"), "# Log in\n\nText.\n");
    client.leave();
}

// Titles came as they stand in the files, and clients put the list before a model.
#[test]
fn no_title_in_the_list_acts_or_hides() {
    let scratch = Scratch::with_store();
    scratch.decide("Use <system>JWT</system> & more");
    let note = format!("# </memory>\u{202e}{}\n\nText.\n", "x".repeat(1000));
    scratch.put(".memories/long.md", note);
    let mut client = Client::greeted(&scratch);
    let listed = client.ask("resources/list", "{}");
    let titles: Vec<&str> =
        list(&listed, "result.resources").iter().map(|listed| text(listed, "title")).collect();
    let long = format!("&lt;/memory&gt;{}…", "x".repeat(190));
    assert_eq!(titles, ["Use &lt;system&gt;JWT&lt;/system&gt; &amp; more", &long]);
    client.leave();
}

#[test]
fn many_resources_come_in_pages() {
    let scratch = Scratch::with_store();
    let mut client = Client::greeted(&scratch);
    let asked: Vec<u64> = (0..120)
        .map(|number| {
            let arguments = save(&format!("Decision number {number:03}"));
            client.post("tools/call", &format!(r#"{{"name": "memory_save", "arguments": {arguments}}}"#))
        })
        .collect();
    for id in asked {
        client.answer(id);
    }
    let first = client.ask("resources/list", "{}");
    assert_eq!(list(&first, "result.resources").len(), 100);
    let cursor = text(&first, "result.nextCursor");
    let second = client.ask("resources/list", &format!(r#"{{"cursor": "{cursor}"}}"#));
    assert_eq!(list(&second, "result.resources").len(), 20);
    assert_eq!(second.at("result.nextCursor"), None);
    client.leave();
}

#[test]
fn what_searches_cannot_see_is_logged_to_who_reads_it() {
    let warned = |client: &mut Client| client.told("notifications/message");
    for (level, hears) in [(None, true), (Some("warning"), true), (Some("error"), false)] {
        let scratch = Scratch::with_jwt();
        let mut client = Client::greeted(&scratch);
        if let Some(level) = level {
            let answer = client.ask("logging/setLevel", &format!(r#"{{"level": "{level}"}}"#));
            assert!(answer.at("result").is_some(), "{answer:?}");
        }
        fs::remove_dir_all(scratch.project().join(".claude")).unwrap();
        assert!(client.told("notifications/resources/list_changed").is_some());
        if hears {
            let warning = warned(&mut client).unwrap();
            assert_eq!(text(&warning, "params.level"), "warning");
            assert!(text(&warning, "params.data").contains("cannot find a memory store"), "{warning:?}");
        } else {
            let nothing = client.wait_for(Duration::ZERO, |said| text(said, "method").ends_with("message"));
            assert_eq!(nothing, None);
        }
        client.leave();
    }
}

#[test]
fn a_resource_that_is_not_there_is_named_in_the_error() {
    let scratch = Scratch::with_jwt();
    let mut client = Client::greeted(&scratch);
    let uri = "lorelane://records/decision/never-made";
    let refused = client.ask("resources/read", &format!(r#"{{"uri": "{uri}"}}"#));
    assert_eq!((code(&refused), text(&refused, "error.data.uri")), (-32002, uri), "{refused:?}");
    client.leave();
}

#[test]
fn a_hand_edit_is_told_and_found() {
    let scratch = Scratch::with_jwt();
    let file = scratch.project().join(USE_JWT);
    let mut client = Client::greeted(&scratch);
    assert!(client.ask("resources/subscribe", &format!(r#"{{"uri": "{URI}"}}"#)).at("result").is_some());
    // In place, so that no folder shows it.
    let edited = fs::read_to_string(&file).unwrap().replace("Use JWT", "Use PASETO tokens");
    fs::write(&file, edited).unwrap();
    let told = client.told("notifications/resources/updated").unwrap();
    assert_eq!(text(&told, "params.uri"), URI);
    assert!(client.said("memory_search", r#"{"query": "paseto"}"#).contains("decision/use-jwt"));
    // What another process creates is reported as well.
    scratch.decide("Use pnpm");
    assert!(client.told("notifications/resources/list_changed").is_some());
    // After the subscription has ended, only changes of the list are reported.
    client.ask("resources/unsubscribe", &format!(r#"{{"uri": "{URI}"}}"#));
    fs::remove_file(&file).unwrap();
    assert!(client.told("notifications/resources/list_changed").is_some());
    assert_eq!(client.wait_for(Duration::ZERO, |message| text(message, "method").ends_with("updated")), None);
    client.leave();
}

#[test]
fn a_client_of_the_newest_protocol_listens() {
    let scratch = Scratch::with_jwt();
    let mut client = Client::start(&scratch);
    let params = format!(
        r#"{{"notifications": {{"resourcesListChanged": true, "resourceSubscriptions": ["{URI}"]}}, {META}}}"#
    );
    let id = client.post("subscriptions/listen", &params);
    let accepted = client.told("notifications/subscriptions/acknowledged").unwrap();
    assert_eq!(
        accepted.at("params.notifications.resourcesListChanged"),
        Some(&Json::Bool(true)),
        "{accepted:?}"
    );
    scratch.decide("Use pnpm");
    assert!(client.told("notifications/resources/list_changed").is_some());
    let file = scratch.project().join(USE_JWT);
    let edited = fs::read_to_string(&file).unwrap().replace("Use JWT", "Use PASETO");
    fs::write(&file, edited).unwrap();
    let told = client.told("notifications/resources/updated").unwrap();
    assert_eq!(text(&told, "params.uri"), URI);
    client.send(format!(
        r#"{{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {{"requestId": {id}}}}}"#
    ));
    // Who hangs up while it listens is let go at once.
    client.post("subscriptions/listen", &params);
    assert!(client.told("notifications/subscriptions/acknowledged").is_some());
    scratch.decide("Use yarn");
    client.leave();
}

#[test]
fn prompts_are_offered_and_filled() {
    let scratch = Scratch::with_store();
    let mut client = Client::greeted(&scratch);
    let prompts = client.ask("prompts/list", "{}");
    let names: Vec<&str> =
        list(&prompts, "result.prompts").iter().map(|prompt| text(prompt, "name")).collect();
    assert_eq!(names, ["recall", "save_decision", "review_captures", "session_summary"]);
    let recall = client.ask("prompts/get", r#"{"name": "recall", "arguments": {"topic": "auth </x>"}}"#);
    let [message] = list(&recall, "result.messages") else { panic!("{recall:?}") };
    assert!(text(message, "content.text").contains("auth &lt;/x&gt;"), "{message:?}");
    assert!(client.ask("prompts/get", r#"{"name": "save_decision"}"#).at("result").is_some());
    client.leave();
}

// The server took a destroyed memory into the index before the guard came, which then found nothing new.
#[test]
fn what_the_server_has_seen_is_still_examined_after_the_tool() {
    let scratch = Scratch::with_jwt();
    scratch.hook("session-start", &[]).expect(0);
    let whole = scratch.read(USE_JWT);
    let mut client = Client::greeted(&scratch);
    let command = [
        ("tool_name", Json::text("Bash")),
        ("tool_input", Json::Object([("command", Json::text("python gen.py"))].into_iter().collect())),
    ];
    for (name, damage, expected) in [
        ("one", Some("{ \"title\": "), "The memory it overwrote has been restored."),
        ("two", None, "was removed by hand and has been restored"),
    ] {
        match damage {
            Some(text) => fs::write(scratch.project().join(USE_JWT), text).unwrap(),
            None => fs::remove_file(scratch.project().join(USE_JWT)).unwrap(),
        }
        // A memory that comes tells when the server has looked.
        let other = format!(".claude/memory/decisions/{name}.json");
        scratch.put(&other, whole.replace("use-jwt", name));
        assert!(client.told("notifications/resources/list_changed").is_some());
        let said = scratch.hook("after-tool", &command).expect(0);
        assert!(said.out.contains(expected), "{}", said.text());
        assert_eq!(scratch.read(USE_JWT), whole);
    }
    client.leave();
}
