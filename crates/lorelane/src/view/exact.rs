//! Values that keep their exact text when serialized.

use lorelane_core::json::{Json, Object};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A value of core's JSON. Numbers keep the text of the record: `0.50` does not become `0.5`.
#[derive(Debug)]
pub struct Exact<'j>(Cow<'j, Json>);

impl<'j> From<&'j Json> for Exact<'j> {
    fn from(json: &'j Json) -> Exact<'j> {
        Exact(Cow::Borrowed(json))
    }
}

impl From<Json> for Exact<'_> {
    fn from(json: Json) -> Self {
        Exact(Cow::Owned(json))
    }
}

impl From<Object> for Exact<'_> {
    fn from(object: Object) -> Self {
        Exact::from(Json::Object(object))
    }
}

impl Serialize for Exact<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &*self.0 {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Number(digits) => write_digits(digits, serializer),
            Json::Text(text) => serializer.serialize_str(text),
            Json::List(items) => serializer.collect_seq(items.iter().map(Exact::from)),
            Json::Object(object) => {
                serializer.collect_map(object.iter().map(|(key, value)| (key, Exact::from(value))))
            }
        }
    }
}

/// A number with chosen digits: `1` and not `1.0`, or `0.5000` with all of them.
#[derive(Debug)]
pub struct Digits(String);

impl Digits {
    /// The shortest digits that read back as the same number.
    pub fn shortest(number: f64) -> Digits {
        Digits(number.to_string())
    }

    /// The shortest digits after rounding to this many decimal places.
    pub fn rounded(number: f64, places: i32) -> Digits {
        let scale = 10_f64.powi(places);
        Digits::shortest((number * scale).round() / scale)
    }

    /// Exactly this many decimal places.
    pub fn fixed(number: f64, places: usize) -> Digits {
        Digits(format!("{number:.places$}"))
    }
}

impl Serialize for Digits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_digits(&self.0, serializer)
    }
}

/// Writes null for what JSON cannot represent, such as `NaN`.
fn write_digits<S: Serializer>(digits: &str, serializer: S) -> Result<S::Ok, S::Error> {
    match serde_json::from_str::<&RawValue>(digits) {
        Ok(number) => number.serialize(serializer),
        Err(_) => serializer.serialize_unit(),
    }
}

/// An object whose keys are data, in insertion order. Of two equal keys the last value counts.
#[derive(Debug)]
pub struct Members<K, V>(Vec<(K, V)>);

impl<K: PartialEq, V> FromIterator<(K, V)> for Members<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Members<K, V> {
        let mut members: Vec<(K, V)> = Vec::new();
        for (key, value) in pairs {
            match members.iter_mut().find(|(known, _)| *known == key) {
                Some((_, old)) => *old = value,
                None => members.push((key, value)),
            }
        }
        Members(members)
    }
}

impl<K: Serialize, V: Serialize> Serialize for Members<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}
