//! Switches that each disable one safeguard of the store, so that the simulation can prove that it is needed.
//!
//! A release build has none: without the feature `simulation` no safeguard is ever skipped.

/// A safeguard that the simulation can disable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultSwitch {
    SkipBlobSync,
    SkipJournalSync,
    SkipJournalFolderSync,
    SkipFileSync,
    SkipFolderSync,
    SkipNewFolderSync,
    SkipMarksSync,
    SkipMarksFolderSync,
    SkipRecoverySync,
    SkipFallbackSync,
    SkipRename,
    SkipLock,
    SkipMarksLock,
}

/// Which switch is on, if any.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ActiveFaults {
    #[cfg(feature = "simulation")]
    pub(super) switch: Option<FaultSwitch>,
}

impl ActiveFaults {
    #[cfg(feature = "simulation")]
    pub(super) fn skip(self, switch: FaultSwitch) -> bool {
        self.switch == Some(switch)
    }

    #[cfg(not(feature = "simulation"))]
    pub(super) const fn skip(self, _switch: FaultSwitch) -> bool {
        false
    }
}
