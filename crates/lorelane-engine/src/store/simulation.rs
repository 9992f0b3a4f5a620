//! Two writers, crashes and faults against a model that knows what must be true.

/// Takes one safeguard away, to prove that the simulation misses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sabotage {
    SkipBlobSync,
    SkipJournalSync,
    SkipJournalFolderSync,
    SkipFileSync,
    SkipFolderSync,
    SkipNewFolderSync,
    SkipMarksSync,
    SkipMarksFolderSync,
    SkipRecoverySync,
    SkipRename,
    SkipLock,
    SkipMarksLock,
}
