//! What a check found: the one shape for `doctor`, whoever checks.

/// Something that somebody should look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was checked: `config`, `file`, `listing`, `index`, `journal`, `marks`, `model`, `secret`, `setup`, `store`, `trust`.
    pub check: &'static str,
    pub what: String,
    pub hint: String,
}
