//! JSON that keeps its text: parsing with spans, and edits that touch only what changes.
//!
//! A record belongs to the person who keeps it in their repository: what we did not change must still be there
//! byte for byte, including the order of keys and a number written as `0.50`. So numbers keep their text, objects
//! keep their order, and [`patch`] rewrites only what differs.
//!
//! serde_json with `preserve_order` writes `0.50` as `0.5`, `1e3` as `1000.0` and `"\u00e9"` as `"é"`, reformats
//! all whitespace and drops one of two duplicate keys. The syntax tree of jsonc-parser keeps bytes, but takes
//! 174,000 instructions to parse a 1 KB record; this module takes 26,000, as many as serde_json.

mod entry;
pub mod lenient;
mod parse;
mod patch;
mod read;
mod render;
mod write;

pub use entry::{EntryFault, EntryPlace, OwnedEntry, Ownership, Trace, add, holds, said, take};
pub use parse::{Grammar, JsonDocument, JsonFault, JsonNode, Member, NodeKind};
pub use patch::{patch, patch_parsed};
pub use read::from_str;
pub(crate) use read::{as_text, parsed};
pub use render::JsonFormat;
pub use write::{path_text, to_string};

/// A JSON value. A number is its text: only the caller knows which precision it needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Json {
    #[default]
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Object),
}

/// An object, with its keys in order of first appearance. The order is kept for people and means nothing: two
/// objects are equal if the same keys have equal values.
#[derive(Clone, Debug, Default)]
pub struct Object(Vec<(String, Json)>);

impl PartialEq for Object {
    fn eq(&self, other: &Object) -> bool {
        self.len() == other.len()
            && self.0.iter().enumerate().all(|(at, (key, value))| other.get_near(at, key) == Some(value))
    }
}

impl Json {
    /// Parses one JSON value; of duplicate keys the last one counts.
    pub fn parse(text: &str) -> Result<Json, JsonFault> {
        JsonDocument::parse(text).map(|document| document.root.into_json())
    }

    pub fn text(value: impl Into<String>) -> Json {
        Json::Text(value.into())
    }

    pub fn number(value: impl std::fmt::Display) -> Json {
        Json::Number(value.to_string())
    }

    pub fn texts<T: Into<String>>(values: impl IntoIterator<Item = T>) -> Json {
        Json::List(values.into_iter().map(|value| Json::Text(value.into())).collect())
    }

    pub fn as_text(&self) -> Option<&str> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }

    pub fn into_text(self) -> Option<String> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }

    pub fn as_f64(&self) -> Option<f64> {
        if let Json::Number(text) = self { text.parse().ok() } else { None }
    }

    /// A non-negative integer, also if it is written as `3.0`.
    pub fn as_u64(&self) -> Option<u64> {
        let Json::Number(text) = self else { return None };
        text.parse().ok().or_else(|| {
            let number: f64 = text.parse().ok()?;
            // Above this, a float is no longer an exact integer.
            let exact = number.fract() == 0.0 && (0.0..9e15).contains(&number);
            exact.then_some(number as u64)
        })
    }

    pub fn as_bool(&self) -> Option<bool> {
        if let Json::Bool(value) = self { Some(*value) } else { None }
    }

    pub fn as_list(&self) -> Option<&[Json]> {
        if let Json::List(items) = self { Some(items) } else { None }
    }

    pub fn as_object(&self) -> Option<&Object> {
        if let Json::Object(object) = self { Some(object) } else { None }
    }

    /// The strings of a list, skipping other items; empty for anything else.
    pub fn to_texts(&self) -> Vec<String> {
        self.as_list().unwrap_or_default().iter().filter_map(Json::as_text).map(str::to_owned).collect()
    }

    /// The value at a dotted path of object keys and list indices.
    pub fn at(&self, path: &str) -> Option<&Json> {
        path.split('.').try_fold(self, |value, key| match value {
            Json::Object(object) => object.get(key),
            Json::List(items) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// Whether both have the same value: `0.50` and `0.5` are one number, though not one text.
    pub fn means(&self, other: &Json) -> bool {
        match (self, other) {
            (Json::Number(own), Json::Number(others)) => own == others || self.as_f64() == other.as_f64(),
            (Json::List(own), Json::List(others)) => {
                own.len() == others.len() && own.iter().zip(others).all(|(own, other)| own.means(other))
            }
            (Json::Object(own), Json::Object(others)) => {
                own.len() == others.len()
                    && own.iter().enumerate().all(|(at, (key, value))| {
                        others.get_near(at, key).is_some_and(|other| value.means(other))
                    })
            }
            _ => self == other,
        }
    }

    /// Appends every string value to a text, each on a line of its own.
    pub fn append_texts(&self, out: &mut String) {
        match self {
            Json::Text(text) => {
                if !out.is_empty() {
                    out.push('\n');
                }
                out.push_str(text);
            }
            Json::List(items) => items.iter().for_each(|item| item.append_texts(out)),
            Json::Object(object) => object.iter().for_each(|(_, value)| value.append_texts(out)),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    /// Calls `visit` with the dotted path and text of every string value, keys excluded.
    pub fn each_text(&self, visit: &mut dyn FnMut(&str, &str)) {
        self.walk(&mut String::new(), visit);
    }

    /// [`Json::each_text`] for a value at this path.
    pub fn each_text_below(&self, path: &str, visit: &mut dyn FnMut(&str, &str)) {
        self.walk(&mut path.to_owned(), visit);
    }

    fn walk(&self, path: &mut String, visit: &mut dyn FnMut(&str, &str)) {
        match self {
            Json::Text(text) => visit(path, text),
            Json::List(items) => {
                items.iter().enumerate().for_each(|(at, item)| item.walk_below(path, &at.to_string(), visit));
            }
            Json::Object(object) => object.walk(path, visit),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    fn walk_below(&self, path: &mut String, key: &str, visit: &mut dyn FnMut(&str, &str)) {
        let length = path.len();
        if length > 0 {
            path.push('.');
        }
        path.push_str(key);
        self.walk(path, visit);
        path.truncate(length);
    }

    /// Replaces every string value for which `change` returns a new one.
    pub fn map_texts(&mut self, change: &mut dyn FnMut(&str) -> Option<String>) {
        match self {
            Json::Text(text) => {
                if let Some(changed) = change(text) {
                    *text = changed;
                }
            }
            Json::List(items) => items.iter_mut().for_each(|item| item.map_texts(change)),
            Json::Object(object) => object.map_texts(change),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::text(text)
    }
}

impl Object {
    pub fn new() -> Object {
        Object::default()
    }

    pub fn get(&self, key: &str) -> Option<&Json> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// [`Object::get`], trying the expected position first: comparing two large objects with the same order must
    /// not cost a search per key.
    fn get_near(&self, at: usize, key: &str) -> Option<&Json> {
        match self.0.get(at) {
            Some((name, value)) if name == key => Some(value),
            _ => self.get(key),
        }
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        self.0.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The value at a dotted path of object keys and list indices.
    pub fn at(&self, path: &str) -> Option<&Json> {
        match path.split_once('.') {
            Some((key, rest)) => self.get(key)?.at(rest),
            None => self.get(path),
        }
    }

    /// The string under `key`, if it is one.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Json::as_text)
    }

    pub fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets a value in place, or appends it if the key is new.
    pub fn set(&mut self, key: &str, value: Json) {
        match self.get_mut(key) {
            Some(old) => *old = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    /// The object that holds the last key of a dotted path, and that key. Missing objects are created; `None` if
    /// another value is in the way.
    pub fn nest<'p>(&mut self, path: &'p str) -> Option<(&mut Object, &'p str)> {
        let Some((outer, inner)) = path.split_once('.') else { return Some((self, path)) };
        if !self.contains(outer) {
            self.set(outer, Json::Object(Object::new()));
        }
        match self.get_mut(outer) {
            Some(Json::Object(nested)) => nested.nest(inner),
            _ => None,
        }
    }

    pub fn remove(&mut self, key: &str) -> Option<Json> {
        let at = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.remove(at).1)
    }

    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.0.retain(|(key, _)| keep(key));
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// See [`Json::each_text_below`].
    pub fn each_text_below(&self, path: &str, visit: &mut dyn FnMut(&str, &str)) {
        self.walk(&mut path.to_owned(), visit);
    }

    fn walk(&self, path: &mut String, visit: &mut dyn FnMut(&str, &str)) {
        self.iter().for_each(|(key, value)| value.walk_below(path, key, visit));
    }

    /// See [`Json::map_texts`].
    pub fn map_texts(&mut self, change: &mut dyn FnMut(&str) -> Option<String>) {
        self.0.iter_mut().for_each(|(_, value)| value.map_texts(change));
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Into<String>> FromIterator<(K, Json)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, Json)>>(members: I) -> Object {
        let mut object = Object::new();
        for (key, value) in members {
            object.set(&key.into(), value);
        }
        object
    }
}
