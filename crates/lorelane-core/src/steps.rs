//! Counts steps, in tests only: that something does not grow faster than its input is counted there, not timed.

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

/// What was found in a text, with each byte that was searched for it as a step.
#[inline]
pub(crate) fn searched(text: &str, found: Option<usize>) -> Option<usize> {
    add(found.unwrap_or(text.len()));
    found
}

/// How many steps the work takes.
#[cfg(test)]
pub(crate) fn of(work: impl FnOnce()) -> usize {
    let before = STEPS.get();
    work();
    STEPS.get() - before
}
