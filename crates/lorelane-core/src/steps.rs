//! Counts steps in tests, to prove that work grows no faster than its input. Timing would be flaky.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[inline]
pub(crate) fn add(count: usize) {
    #[cfg(test)]
    STEPS.set(STEPS.get() + count);
    #[cfg(not(test))]
    let _ = count;
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
