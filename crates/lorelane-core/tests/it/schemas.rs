//! The checked-in JSON Schemas and the validator are one contract: whatever one refuses, the other refuses.

use crate::support::{content, object, record_of};
use expect_test::expect_file;
use lorelane_core::dialect::records::{fields, schema, validate};
use lorelane_core::memory::Category;
use lorelane_core::time::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas");

#[test]
fn the_checked_in_schemas_are_those_of_the_field_table() {
    for (name, text) in schema::all() {
        expect_file![format!("{FOLDER}/{name}")].assert_eq(&text);
    }
    let files = std::fs::read_dir(FOLDER).expect("the folder of schemas").count();
    assert_eq!(files, schema::all().len(), "a schema without a category is left over");
}

#[test]
fn the_schemas_and_the_validator_agree_on_every_damage_to_every_field() {
    for category in Category::ALL {
        let schema = checked_in(category.name());
        let judge = jsonschema::validator_for(&schema).expect("a schema");
        let sound = sound_value(&schema);
        assert!(judge.is_valid(&sound), "{category}: {sound}");
        let mut corpus = Corpus { root: &sound, cases: vec![("".to_owned(), sound.clone())] };
        corpus.damage_object("", "", &schema);
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (field, case) in &corpus.cases {
            *counts.entry(field).or_default() += 1;
            let faults = validate(&object(&case.to_string()), category);
            let refused: Vec<String> = judge.iter_errors(case).map(|fault| fault.to_string()).collect();
            assert_eq!(
                faults.is_empty(),
                refused.is_empty(),
                "{category} {field}: {faults:?}, {refused:?}, {case}"
            );
        }
        for field in field_paths(&fields::BASE, category, "") {
            assert!(counts.get(field.as_str()).is_some_and(|count| *count >= 7), "no cases for {field}");
        }
    }
}

#[test]
fn the_base_schema_takes_a_record_of_every_category() {
    let judge = jsonschema::validator_for(&checked_in("base")).expect("a schema");
    for category in Category::ALL {
        let record = value(&crate::support::text(&record_of(category, &[])));
        assert!(judge.is_valid(&record), "{record}");
        assert!(jsonschema::is_valid(&checked_in(category.name()), &record), "{}", content(category));
    }
}

#[test]
fn a_time_is_a_time_to_both() {
    let judge = jsonschema::validator_for(&checked_in("decision")).expect("a schema");
    let times = [
        "2026-01-31T09:00:00Z",
        "2026-01-31t09:00:00z",
        "2026-01-31 09:00",
        "2026-01-31",
        "2026-01-31T09",
        "2026-1-31",
        "2026-01-31T09:00:60Z",
        "2026-01-31T09:00:61Z",
        "2026-01-31T24:00:00Z",
        "2026-00-31",
        "2026-01-32",
        "2026-02-31T00:00:00Z",
        "2026-02-29",
        "2024-02-29T12:00:00Z",
        "2026-04-31 09:00",
        "2026-01-31T09:00:00.5+02:00",
        "2026-01-31T09:00:00.Z",
        "2026-01-31T09:00:00+0200",
        "2026-01-31T09:00:00+2:00",
        "2026-01-31T09:00:00+24:00",
        "2026-01-31T09:00+01:00",
        "2026-01-31Z",
        "2026-01-31T09:00:00 Z",
        "2026-01-31T09:00:00Z\n",
        " 2026-01-31",
        "",
        "２０２６-01-31",
    ];
    for time in times {
        let quoted = Value::from(time).to_string();
        let record = record_of(Category::Decision, &[("created_at", &quoted)]);
        let ours = validate(&record, Category::Decision).is_empty();
        assert_eq!(ours, judge.is_valid(&value(&crate::support::text(&record))), "{time:?}");
    }
}

#[test]
fn a_date_exists_to_both_or_to_neither() {
    let schema = checked_in("decision");
    let judge = jsonschema::validator_for(&schema["properties"]["created_at"]).expect("a schema");
    let mut existing = 0;
    for year in [0, 4, 100, 1900, 1970, 2000, 2023, 2024, 2026, 2096, 2100, 2400, 9999] {
        for (month, day) in (0..=13).flat_map(|month| (0..=32).map(move |day| (month, day))) {
            for clock in ["", "T09:00:00Z"] {
                let time = format!("{year:04}-{month:02}-{day:02}{clock}");
                let read = Timestamp::parse(&time).is_some();
                assert_eq!(read, judge.is_valid(&json!(time)), "{time}");
                existing += usize::from(read);
            }
        }
    }
    // Of these years 0, 4, 2000, 2024, 2096 and 2400 are leap years.
    assert_eq!(existing, 2 * (13 * 365 + 6));
}

fn checked_in(name: &str) -> Value {
    let path = format!("{FOLDER}/{}.schema.json", name.replace('_', "-"));
    value(&std::fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{path}: {fault}")))
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// Every field of the table; `0` stands for any item of a list.
fn field_paths(group: &fields::FieldGroup, category: Category, path: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for field in group.fields {
        let path = format!("{path}.{}", field.name);
        let mut kind = &field.kind;
        let mut inner = path.clone();
        paths.push(path);
        while let fields::FieldType::List { of, .. } = kind {
            inner.push_str(".0");
            paths.push(inner.clone());
            kind = of;
        }
        if let Some(group) = fields::group_of(kind, category) {
            paths.extend(field_paths(group, category, &inner));
        }
    }
    paths
}

/// A value with every property, valid by the schema.
fn sound_value(schema: &Value) -> Value {
    if let Some(properties) = schema["properties"].as_object() {
        return properties.iter().map(|(key, inner)| (key.clone(), sound_value(inner))).collect();
    }
    let has_type = |name: &str| match &schema["type"] {
        Value::String(own) => own == name,
        Value::Array(names) => names.iter().any(|own| own == name),
        _ => false,
    };
    if let Some(only) = schema.get("const").or_else(|| schema["enum"].get(0)) {
        return only.clone();
    }
    if has_type("array") {
        return json!([sound_value(&schema["items"])]);
    }
    let candidates = [json!("x"), json!("2026-01-31T09:00:00Z"), json!(1), json!(true), json!({})];
    candidates.into_iter().find(|value| jsonschema::is_valid(schema, value)).expect("a valid value")
}

/// Damaged copies of a sound record, each with the field that was damaged.
struct Corpus<'a> {
    root: &'a Value,
    cases: Vec<(String, Value)>,
}

impl Corpus<'_> {
    fn damage_object(&mut self, pointer: &str, field: &str, schema: &Value) {
        for (key, inner) in schema["properties"].as_object().expect("properties") {
            let (pointer_in, field_in) = (format!("{pointer}/{key}"), format!("{field}.{key}"));
            let mut without = self.root.clone();
            map_at(&mut without, pointer).remove(key);
            self.cases.push((field_in.clone(), without));
            self.damage(&pointer_in, &field_in, inner);
        }
        let mut with = self.root.clone();
        map_at(&mut with, pointer).insert("surprise".to_owned(), json!(1));
        self.cases.push((format!("{field}.surprise"), with));
    }

    fn damage(&mut self, pointer: &str, field: &str, schema: &Value) {
        let sound = self.root.pointer(pointer).expect("a place").clone();
        for value in [json!(null), json!(true), json!(1), json!(0.5), json!("Wrong!"), json!([]), json!({})] {
            self.case(pointer, field, value);
        }
        if let Some(max) = schema["maxLength"].as_u64().and_then(|max| usize::try_from(max).ok()) {
            self.case(pointer, field, json!("é".repeat(max)));
            self.case(pointer, field, json!("é".repeat(max + 1)));
        }
        for choice in schema["enum"].as_array().into_iter().flatten() {
            self.case(pointer, field, choice.clone());
            self.case(pointer, field, json!(format!("{}s", choice.as_str().unwrap_or_default())));
        }
        if let Some(sound) = sound.as_str().filter(|_| schema.get("pattern").is_some()) {
            for text in
                ["", " ", "-", "é", "A", &format!("{sound}\n"), &format!("{sound}-"), &sound.repeat(90)]
            {
                self.case(pointer, field, json!(text));
            }
        }
        for (bound, step) in [("minimum", -1), ("maximum", 1)] {
            if let Some(bound) = schema[bound].as_i64() {
                self.case(pointer, field, json!(bound));
                self.case(pointer, field, json!(bound as f64));
                self.case(pointer, field, json!(bound + step));
                self.case(pointer, field, json!(bound as f64 + f64::from(step as i8) / 4.0));
                self.case(pointer, field, json!(-0.0));
                self.case(pointer, field, json!(bound.to_string()));
            }
        }
        let Some(items) = sound.as_array() else {
            if sound.is_object() && schema.get("properties").is_some() {
                self.damage_object(pointer, field, schema);
            }
            return;
        };
        if let Some(max) = schema["maxItems"].as_u64().and_then(|max| usize::try_from(max).ok()) {
            self.case(pointer, field, json!(vec![items[0].clone(); max]));
            self.case(pointer, field, json!(vec![items[0].clone(); max + 1]));
        }
        self.damage(&format!("{pointer}/0"), &format!("{field}.0"), &schema["items"]);
    }

    fn case(&mut self, pointer: &str, field: &str, value: Value) {
        let mut damaged = self.root.clone();
        *damaged.pointer_mut(pointer).expect("a place") = value;
        self.cases.push((field.to_owned(), damaged));
    }
}

fn map_at<'v>(root: &'v mut Value, pointer: &str) -> &'v mut Map<String, Value> {
    root.pointer_mut(pointer).and_then(Value::as_object_mut).expect("an object")
}
