//! `lorelane model`: a second model from a folder, what is said of it, and who uses it.

use crate::scratch::Scratch;
use crate::tiny_model;
use expect_test::{Expect, expect};
use lorelane_core::json::Json;
use std::fs;
use std::path::PathBuf;

/// A store with two memories that the tiny model can tell apart, and the model in a folder beside it.
pub(crate) fn scratch() -> Scratch {
    let scratch = Scratch::with_store();
    for (title, decision) in
        [("Restart the cache", "restart the cache"), ("Restart redis", "use redis, restart service auth")]
    {
        let line = format!(
            "create decision --title '{title}' --tag redis --set context=Hot --set 'decision={decision}' --set rationale=Fast"
        );
        scratch.lorelane(&line).expect(0);
    }
    tiny_model::write(&scratch.folder.join("tiny"), 0);
    scratch
}

fn check(shown: &str, expected: &Expect) {
    expected.assert_eq(shown);
}

fn copy(scratch: &Scratch, name: &str) -> PathBuf {
    let id = scratch.json("model list").at("added.id").and_then(Json::as_text).unwrap().to_owned();
    scratch.home().join("data/models").join(id).join(name)
}

/// What a batch of one question says, and what it says of the model.
fn asked(scratch: &Scratch) -> (String, String) {
    let said = scratch
        .lorelane_with_input("search --batch - --json", r#"{"id": 1, "query": "restart the redis cache"}"#);
    let said = said.expect(0);
    (said.out, said.err)
}

#[test]
fn a_model_is_added_listed_and_taken_away() {
    let scratch = scratch();
    check(
        &scratch.lorelane("model list").expect(0).out,
        &expect![[r#"
        static-5dba83a82f462b82  built in
    "#]],
    );
    check(
        &scratch.lorelane("model add ../tiny").expect(0).out,
        &expect![[r#"
        Added bert-0f055f19e26fa065  from tiny
          config.json                186 bytes  blake3 c5e4944f2c8119a0a016de612d03a39a9d39e77a2acd843e560d72df00eebf8b
          vocab.txt                   77 bytes  blake3 46e0fccd288a44e35c2712b52e878d8105eb6b9c78ca2d3806a95b964bd0de17
          model.safetensors         9065 bytes  blake3 ab6cf8b770141dfa4245ead0a022d7fca57a879c204e8086b83fafb57577c677
        The MCP server and `search --batch` use it from now on
    "#]],
    );
    check(
        &scratch.lorelane("model list").expect(0).out,
        &expect![[r#"
        static-5dba83a82f462b82  built in
        bert-0f055f19e26fa065  from tiny
          config.json                186 bytes  blake3 c5e4944f2c8119a0a016de612d03a39a9d39e77a2acd843e560d72df00eebf8b
          vocab.txt                   77 bytes  blake3 46e0fccd288a44e35c2712b52e878d8105eb6b9c78ca2d3806a95b964bd0de17
          model.safetensors         9065 bytes  blake3 ab6cf8b770141dfa4245ead0a022d7fca57a879c204e8086b83fafb57577c677
    "#]],
    );
    check(
        &scratch.lorelane("model learn").expect(0).out,
        &expect![[r#"
        Embedded 2 memories (2 passages) with bert-0f055f19e26fa065
    "#]],
    );
    check(
        &scratch.lorelane("model remove").expect(0).out,
        &expect![[r#"
        Removed bert-0f055f19e26fa065
    "#]],
    );
    check(
        &scratch.lorelane("model remove").expect(2).err,
        &expect![[r#"
        error: no second model was added
        hint: add one with `lorelane model add DIR|WHEEL`
    "#]],
    );
    check(
        &scratch.lorelane("model learn").expect(2).err,
        &expect![[r#"
        error: no second model was added
        hint: add one with `lorelane model add DIR|WHEEL`
    "#]],
    );
    check(
        &scratch.lorelane("model add ../nothing").expect(2).err,
        &expect![[r#"
        error: cannot read ~/project/../nothing: No such file or directory (os error 2)
        hint: check that it exists and is readable and writable
    "#]],
    );
    fs::remove_file(scratch.folder.join("tiny/vocab.txt")).unwrap();
    check(
        &scratch.lorelane("model add ../tiny").expect(2).err,
        &expect![[r#"
        error: cannot read ~/tiny/vocab.txt: No such file or directory (os error 2)
        hint: check that it exists and is readable and writable
    "#]],
    );
}

#[test]
fn a_batch_is_answered_with_the_model_and_one_question_without() {
    let scratch = scratch();
    let plain = scratch.lorelane("search 'restart the redis cache' --explain").expect(0).out;
    let (before, _) = asked(&scratch);
    scratch.lorelane("model add ../tiny").expect(0);
    scratch.lorelane("model learn").expect(0);
    let (with, err) = asked(&scratch);
    assert_eq!(err, "");
    assert_ne!(before, with);
    assert_eq!(scratch.lorelane("search 'restart the redis cache' --explain").expect(0).out, plain);
}

#[test]
fn a_missing_or_changed_model_is_said_loudly_and_search_goes_on() {
    let scratch = scratch();
    let (plain, _) = asked(&scratch);
    scratch.lorelane("model add ../tiny").expect(0);
    scratch.lorelane("model learn").expect(0);
    let tensors = copy(&scratch, "model.safetensors");
    fs::write(&tensors, [fs::read(&tensors).unwrap(), vec![0]].concat()).unwrap();
    for what in ["has changed since it was added", "is missing"] {
        let (answer, err) = asked(&scratch);
        assert_eq!(answer, plain, "words and the built-in table");
        assert!(err.contains(what), "{err}");
        let doctor = scratch.lorelane("doctor").expect(1);
        assert!(doctor.text().contains(what), "{}", doctor.text());
        assert!(scratch.lorelane("model list").expect(1).err.contains(what));
        let _ = fs::remove_file(&tensors);
    }
    scratch.lorelane("model add ../tiny").expect(0);
    scratch.lorelane("doctor").expect(0);
}
