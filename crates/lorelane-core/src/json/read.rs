//! Types that derive `Deserialize`, read from a [`Json`].
//!
//! The text goes through our own parser, so a type sees what an edit of the file sees: of duplicate keys the last
//! one, `3.0` as an integer, a lone surrogate as U+FFFD.

use super::{Json, JsonFormat, Object};
use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{
    Deserialize, DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Unexpected, Visitor,
};
use std::fmt;

pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    T::deserialize(&Json::parse(text).map_err(Error::custom)?)
}

impl<'de> Deserializer<'de> for &'de Json {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Json::Null => visitor.visit_unit(),
            Json::Bool(value) => visitor.visit_bool(*value),
            Json::Number(_) => visit_number(self, visitor),
            Json::Text(text) => visitor.visit_borrowed_str(text),
            Json::List(items) => visitor.visit_seq(SeqDeserializer::new(items.iter())),
            Json::Object(object) => visitor.visit_map(MapDeserializer::new(object.iter())),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if *self == Json::Null { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    /// Only an object: a derived impl would also accept a list as its fields in order.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Json::Object(_) => self.deserialize_any(visitor),
            _ => Err(Error::invalid_type(Unexpected::Other("value of another type"), &visitor)),
        }
    }

    /// Only the name of a unit variant.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Json::Text(name) => visitor.visit_enum(name.as_str().into_deserializer()),
            _ => Err(Error::invalid_type(Unexpected::Other("value of another type"), &visitor)),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name == TREE {
            return visitor.visit_string(self.render(JsonFormat::LINE));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct identifier
    }
}

/// Asks the reader for a value's text. A visitor would be given `0.50` as a float, without its digits.
const TREE: &str = "lorelane_core::json::Json";

/// With [`from_str`] only: no other reader knows `TREE`.
impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Json, D::Error> {
        value.deserialize_newtype_struct(TREE, Parse(|text| Json::parse(text).ok()))
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Object, D::Error> {
        match Json::deserialize(value)? {
            Json::Object(object) => Ok(object),
            _ => Err(D::Error::custom("not an object")),
        }
    }
}

impl<'de> IntoDeserializer<'de, Error> for &'de Json {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

fn visit_number<'de, V: Visitor<'de>>(number: &Json, visitor: V) -> Result<V::Value, Error> {
    if let Some(whole) = number.as_u64() {
        return visitor.visit_u64(whole);
    }
    let float = number.as_f64().unwrap_or(f64::NAN);
    // Above this, a float is no longer an exact integer.
    if float.fract() == 0.0 && float.abs() < 9e15 {
        visitor.visit_i64(float as i64)
    } else {
        visitor.visit_f64(float)
    }
}

/// Parses a type from a string.
pub(crate) fn parsed<'de, D: Deserializer<'de>, T>(
    text: D,
    parse: fn(&str) -> Option<T>,
) -> Result<T, D::Error> {
    text.deserialize_str(Parse(parse))
}

struct Parse<T>(fn(&str) -> Option<T>);

impl<T> Visitor<'_> for Parse<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a known value")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

/// Serializes a type with `Display` and deserializes it with a parse function.
macro_rules! as_text {
    ($type:ty, $parse:expr) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::json::parsed(deserializer, $parse)
            }
        }
    };
}
pub(crate) use as_text;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::lenient;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Colour {
        Red,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Sample {
        whole: u64,
        signed: i32,
        float: f64,
        text: String,
        colour: Option<Colour>,
        inner: Option<Box<Sample>>,
        #[serde(deserialize_with = "lenient::or_default")]
        maybe: bool,
        #[serde(deserialize_with = "lenient::items")]
        some: Vec<String>,
        #[serde(deserialize_with = "lenient::items_if_list")]
        any: Vec<u64>,
        tree: Json,
    }

    #[test]
    fn a_type_sees_what_an_editor_of_the_file_sees() {
        let read = |text: &str| match from_str::<Sample>(text) {
            Ok(sample) => {
                let Sample { whole, signed, float, text, colour, inner, maybe, some, any, tree: _ } = sample;
                let inner = inner.map(|inner| inner.whole);
                format!("{whole} {signed} {float} {text:?} {colour:?} {inner:?} {maybe} {some:?} {any:?}")
            }
            Err(_) => "refused".to_owned(),
        };
        let empty = r#"0 0 0 "" None None false [] []"#;
        for (text, expected) in [
            ("{}", empty),
            (r#"{"unknown": [{"whole": 1}]}"#, empty),
            (r#"{"whole": 3.0, "signed": -4.0, "float": 5}"#, r#"3 -4 5 "" None None false [] []"#),
            (r#"{"whole": 18446744073709551615}"#, r#"18446744073709551615 0 0 "" None None false [] []"#),
            (r#"{"whole": 1, "whole": 2}"#, r#"2 0 0 "" None None false [] []"#),
            (r#"{"text": "\ud800"}"#, r#"0 0 0 "�" None None false [] []"#),
            (r#"{"colour": "red", "inner": {"whole": 7}}"#, r#"0 0 0 "" Some(Red) Some(7) false [] []"#),
            (r#"{"colour": null, "inner": null}"#, empty),
            (r#"{"maybe": "yes", "any": "all"}"#, empty),
            (
                r#"{"maybe": true, "some": ["a", 7, "b"], "any": [1, -1, {}]}"#,
                r#"0 0 0 "" None None true ["a", "b"] [1]"#,
            ),
            (r#"{"some": "a"}"#, "refused"),
            (r#"{"whole": 3.5}"#, "refused"),
            (r#"{"whole": -3}"#, "refused"),
            (r#"{"signed": 4294967296}"#, "refused"),
            (r#"{"text": null}"#, "refused"),
            (r#"{"colour": "blue"}"#, "refused"),
            (r#"{"colour": {"red": null}}"#, "refused"),
            (r#"{"inner": [7]}"#, "refused"),
            ("[1, 2, 3]", "refused"),
            ("null", "refused"),
            (r#"{"whole": 1"#, "refused"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        let tree = r#"{"b": [0.50, "\u00fc"], "a": null}"#;
        let sample: Sample = from_str(&format!(r#"{{"tree": {tree}}}"#)).unwrap();
        assert_eq!(sample.tree, Json::parse(tree).unwrap());
        assert_eq!(from_str::<Object>(tree).ok().as_ref(), sample.tree.as_object());
        assert!(from_str::<Object>("[]").is_err());
    }
}
