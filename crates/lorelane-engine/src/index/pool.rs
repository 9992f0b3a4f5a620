//! Index connections that a long-lived process keeps between requests.
//!
//! Each request opens its own workspace, so that settings and folders are current. Of an index that is still the
//! same file only the connection is reused, with the pages that SQLite has cached. A short-lived process keeps
//! none.

use super::Index;
use crate::disk::identity;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// More than the lanes of a project times the concurrent requests.
const MOST: usize = 8;

/// `None` until `keep_open` is called.
static KEPT: Mutex<Option<Vec<PooledIndex>>> = Mutex::new(None);

struct PooledIndex {
    path: PathBuf,
    identity: (u64, u64),
    index: Index,
}

/// From now on this process pools its indexes.
pub fn keep_open() {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
}

/// A pooled index of the file that is at this path now.
pub(crate) fn take(path: &Path) -> Option<Index> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.as_mut()?;
    let now = identity(path)?;
    let at = kept.iter().position(|kept| kept.path == path && kept.identity == now)?;
    Some(kept.swap_remove(at).index)
}

/// Returns an index to the pool, if this process has one. An index whose file is gone is closed.
pub(crate) fn give(path: &Path, index: &mut Index) {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(kept) = kept.as_mut() else { return };
    kept.retain(|kept| identity(&kept.path) == Some(kept.identity));
    if let Some(identity) = index.identity.filter(|known| identity(path) == Some(*known))
        && kept.len() < MOST
    {
        // A larger page cache, for the next request: a short-lived process has no use for it.
        let _ = index.db.execute_batch("PRAGMA cache_size = -12000");
        kept.push(PooledIndex {
            path: path.to_owned(),
            identity,
            index: std::mem::replace(index, Index::closed()),
        });
    }
}
