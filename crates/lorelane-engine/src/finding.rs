//! What a check found: one type for everything `doctor` reports.

/// A problem, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which check: `config`, `file`, `listing`, `index`, `journal`, `marks`, `model`, `secret`, `setup`, `store`,
    /// `trust`, `working-set`.
    pub check: &'static str,
    pub what: String,
    pub hint: String,
}
