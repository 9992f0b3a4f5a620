//! Open indexes that a long-lived process keeps between its requests.
//!
//! A request opens its workspace anew, so that settings and folders are those of now; of an index that is still the
//! same file only the connection is taken over, with what SQLite has read of it. A process that ends soon keeps none.

use super::Index;
use crate::disk::identity;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// More than the lanes of a project, times the requests that are answered at once.
const MOST: usize = 8;

/// `None` as long as nobody asked for it.
static KEPT: Mutex<Option<Vec<PooledIndex>>> = Mutex::new(None);

struct PooledIndex {
    path: PathBuf,
    identity: (u64, u64),
    index: Index,
}

/// From now on this process keeps its indexes open.
pub fn keep_open() {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
}

/// An open index of the file that stands at this path now.
pub(crate) fn take(path: &Path) -> Option<Index> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.as_mut()?;
    let now = identity(path)?;
    let at = kept.iter().position(|kept| kept.path == path && kept.identity == now)?;
    Some(kept.swap_remove(at).index)
}

/// Keeps an index for the next request, if this process keeps any. One of a file that is gone is closed.
pub(crate) fn give(path: &Path, index: &mut Index) {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(kept) = kept.as_mut() else { return };
    kept.retain(|kept| identity(&kept.path) == Some(kept.identity));
    if let Some(identity) = index.identity.filter(|known| identity(path) == Some(*known))
        && kept.len() < MOST
    {
        // What was read stays for the next request: more than a process that ends soon has use for.
        let _ = index.db.execute_batch("PRAGMA cache_size = -12000");
        kept.push(PooledIndex {
            path: path.to_owned(),
            identity,
            index: std::mem::replace(index, Index::closed()),
        });
    }
}
