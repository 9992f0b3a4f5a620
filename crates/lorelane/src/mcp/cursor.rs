//! Opaque pagination cursors.
//!
//! A cursor is the key of the last item, not an offset: a memory that is created or removed between two pages
//! neither hides nor repeats another.

/// The cursor after the item with this key.
pub(super) fn after(key: &str) -> String {
    key.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// The key of the last item; `None` if the text is not one of our cursors.
pub(super) fn key(cursor: &str) -> Option<String> {
    let digits = cursor.as_bytes();
    if digits.is_empty() || digits.len() % 2 == 1 {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let bytes: Option<Vec<u8>> =
        digits.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect();
    String::from_utf8(bytes?).ok()
}

/// One page of sorted items: at most `size` of those after `last`, with the cursor of the next page.
pub(super) fn page<T>(
    mut items: Vec<T>,
    last: Option<&str>,
    size: usize,
    key_of: impl Fn(&T) -> String,
) -> (Vec<T>, Option<String>) {
    if let Some(last) = last {
        items.retain(|item| key_of(item).as_str() > last);
    }
    let more = items.len() > size;
    items.truncate(size);
    let next = items.last().filter(|_| more).map(|item| after(&key_of(item)));
    (items, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_and_foreign_text_is_none() {
        assert_eq!(key(&after("decision/日本")), Some("decision/日本".to_owned()));
        for foreign in ["", "a", "zz", "ff", "1", "décision"] {
            assert_eq!(key(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn pages_hold_every_item_once() {
        let items: Vec<String> = (0..7).map(|n| format!("m{n}")).collect();
        let (mut seen, mut last) = (Vec::new(), None);
        loop {
            let (page, next) = page(items.clone(), last.as_deref(), 3, Clone::clone);
            seen.extend(page);
            let Some(next) = next else { break };
            last = key(&next);
        }
        assert_eq!(seen, items);
    }
}
