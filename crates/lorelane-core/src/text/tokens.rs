//! Estimates how many tokens a model needs for a text.

/// An estimate from above: four ASCII characters are one token, any other character is one.
pub fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().filter(|c| !c.is_ascii()).count();
    ascii.div_ceil(4) + others
}
