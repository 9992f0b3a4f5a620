//! Switches that each take one safeguard of the store away, so that the simulation can prove that it is needed.
//!
//! A program has no such switch: without the feature `simulation` nothing is stored, and no safeguard is ever skipped.

/// A safeguard that a simulation can take away.
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
    SkipShelterSync,
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
