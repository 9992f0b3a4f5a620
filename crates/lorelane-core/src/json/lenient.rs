//! Fields that may be wrong without making the whole value unreadable.
//!
//! For `deserialize_with`, and only with [`super::from_str`]: it parses the whole text first, so reading continues
//! after a value of the wrong type.

use serde::{Deserialize, Deserializer};

/// The default, if the value has another type.
pub fn or_default<'de, D, T>(value: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(T::deserialize(value).unwrap_or_default())
}

/// The items of a list that can be read; others are skipped.
pub fn items<'de, D, T, C>(list: D) -> Result<C, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
    C: FromIterator<T>,
{
    let items = Vec::<Readable<T>>::deserialize(list)?;
    Ok(items.into_iter().filter_map(|Readable(item)| item).collect())
}

/// [`items`], and none if the value is not a list.
pub fn items_if_list<'de, D, T, C>(value: D) -> Result<C, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
    C: FromIterator<T>,
{
    Ok(items(value).unwrap_or_else(|_| std::iter::empty().collect()))
}

struct Readable<T>(Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Readable<T> {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Readable<T>, D::Error> {
        Ok(Readable(T::deserialize(value).ok()))
    }
}
