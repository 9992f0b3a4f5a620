//! How much a text costs a model to read.

/// An estimate that errs on the side of more: four characters of plain text are about one token, a character of
/// another script up to one.
pub fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().filter(|c| !c.is_ascii()).count();
    ascii.div_ceil(4) + others
}
