//! What people changed in the manifests since the last event. The files are right, so the log learns of it.

use super::event::{EventAuthor, EventKind, SetAction};
use super::manifest::{ColdManifest, HotManifest, MAX_TOKENS, SetManifest};
use super::state::SessionState;
use std::collections::BTreeSet;

/// Why the files differ from the log.
fn reason(by: EventAuthor) -> String {
    if by == EventAuthor::Undo { "undone" } else { "edited in the file" }.to_owned()
}

/// The events that bring the state to what the manifests say. A manifest that does not exist says nothing.
pub fn sync_events(
    state: &SessionState,
    set: Option<&SetManifest>,
    hot: Option<&HotManifest>,
    cold: Option<&ColdManifest>,
    by: EventAuthor,
) -> Vec<EventKind> {
    let set = set.and_then(|set| set_event(state, set, by));
    set.into_iter().chain(advice_event(state, hot, cold, by)).collect()
}

fn set_event(state: &SessionState, set: &SetManifest, by: EventAuthor) -> Option<EventKind> {
    let known = |path: &str| state.files.get(path).and_then(|file| file.entry.as_ref());
    let files: Vec<_> =
        set.entries.iter().filter(|entry| known(&entry.path) != Some(entry)).cloned().collect();
    let listed: BTreeSet<&str> = set.entries.iter().map(|entry| entry.path.as_str()).collect();
    let gone = state.set().map(|(path, ..)| path).filter(|path| !listed.contains(path));
    let paths: Vec<String> = gone.map(str::to_owned).collect();
    let max_tokens = set.max_tokens.filter(|max| state.max_tokens.unwrap_or(MAX_TOKENS) != *max);
    let is_same = files.is_empty() && paths.is_empty() && max_tokens.is_none();
    let (action, why) = (SetAction::Sync, reason(by));
    (!is_same).then_some(EventKind::WorkingSetUpdate { action, by, why, files, paths, max_tokens })
}

fn advice_event(
    state: &SessionState,
    hot: Option<&HotManifest>,
    cold: Option<&ColdManifest>,
    by: EventAuthor,
) -> Option<EventKind> {
    let (mut new_hot, mut new_cold, mut dropped) = (Vec::new(), Vec::new(), BTreeSet::new());
    if let Some(hot) = hot {
        let known = |path: &str| state.files.get(path).and_then(|file| file.hot.as_ref());
        let is_new =
            |advice: &&super::HotAdvice| known(&advice.path).is_none_or(|note| note.why != advice.why);
        new_hot.extend(hot.keep.iter().filter(is_new).cloned());
        let listed: BTreeSet<&str> = hot.keep.iter().map(|advice| advice.path.as_str()).collect();
        let noted = state.files.iter().filter(|(_, file)| file.hot.is_some());
        dropped.extend(noted.map(|(path, _)| path.clone()).filter(|path| !listed.contains(path.as_str())));
    }
    if let Some(cold) = cold {
        let known = |path: &str| state.files.get(path).and_then(|file| file.cold.as_ref());
        let is_new = |advice: &&super::ColdAdvice| {
            known(&advice.path).is_none_or(|note| {
                (note.why.as_str(), note.action) != (advice.why.as_str(), advice.suggested_action)
            })
        };
        new_cold.extend(cold.evict.iter().filter(is_new).cloned());
        let listed: BTreeSet<&str> = cold.evict.iter().map(|advice| advice.path.as_str()).collect();
        let noted = state.files.iter().filter(|(_, file)| file.cold.is_some());
        dropped.extend(noted.map(|(path, _)| path.clone()).filter(|path| !listed.contains(path.as_str())));
        // Dropping takes a file off both lists, so what is still on the other one is noted again.
        if let Some(hot) = hot {
            let is_dropped = |advice: &&super::HotAdvice| {
                dropped.contains(&advice.path) && new_hot.iter().all(|known| known.path != advice.path)
            };
            let again: Vec<_> = hot.keep.iter().filter(is_dropped).cloned().collect();
            new_hot.extend(again);
        }
        let is_dropped = |advice: &&super::ColdAdvice| {
            dropped.contains(&advice.path) && new_cold.iter().all(|known| known.path != advice.path)
        };
        let again: Vec<_> = cold.evict.iter().filter(is_dropped).cloned().collect();
        new_cold.extend(again);
    }
    let is_same = new_hot.is_empty() && new_cold.is_empty() && dropped.is_empty();
    (!is_same).then(|| EventKind::CacheAdvice {
        by,
        why: reason(by),
        hot: new_hot,
        cold: new_cold,
        dropped: dropped.into_iter().collect(),
        memory_actions: Vec::new(),
    })
}
