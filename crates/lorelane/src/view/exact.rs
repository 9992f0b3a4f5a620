//! Numbers by their digits, and objects whose keys are data.

use lorelane_core::json::Json;
use serde::{Serialize, Serializer};

/// A number by its digits: `1` and not `1.0`, or `0.5000` with all of them.
#[derive(Debug, Serialize)]
pub struct Digits(Json);

impl Digits {
    /// The shortest digits that read back as the same number.
    pub fn shortest(number: f64) -> Digits {
        Digits(Json::Number(number.to_string()))
    }

    /// The shortest digits after rounding to this many decimal places.
    pub fn rounded(number: f64, places: i32) -> Digits {
        let scale = 10_f64.powi(places);
        Digits::shortest((number * scale).round() / scale)
    }

    /// Exactly this many decimal places.
    pub fn fixed(number: f64, places: usize) -> Digits {
        Digits(Json::Number(format!("{number:.places$}")))
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
