//! Counts steps and parses in tests, to prove that work grows no faster than its input or is done once. Timing would
//! be flaky. Without tests or the feature `counts` every call is empty.

#[cfg(any(test, feature = "counts"))]
thread_local! {
    static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    static PARSES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[inline]
pub(crate) fn add(count: usize) {
    #[cfg(any(test, feature = "counts"))]
    STEPS.set(STEPS.get() + count);
    #[cfg(not(any(test, feature = "counts")))]
    let _ = count;
}

/// A text of JSON, or the frontmatter of a note, was parsed.
#[inline]
pub(crate) fn parsed() {
    #[cfg(any(test, feature = "counts"))]
    PARSES.set(PARSES.get() + 1);
}

/// Passes on the result of a search and counts each byte searched as a step.
#[inline]
pub(crate) fn searched(text: &str, found: Option<usize>) -> Option<usize> {
    add(found.unwrap_or(text.len()));
    found
}

/// The number of steps that the work takes.
#[cfg(test)]
pub(crate) fn of(work: impl FnOnce()) -> usize {
    let before = STEPS.get();
    work();
    STEPS.get() - before
}

/// How often the work parses JSON or frontmatter on this thread.
#[cfg(feature = "counts")]
pub fn parses_of(work: impl FnOnce()) -> usize {
    let before = PARSES.get();
    work();
    PARSES.get() - before
}
