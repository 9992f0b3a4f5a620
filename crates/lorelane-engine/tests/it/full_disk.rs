//! A disk that is full before, during or after any step of a change.

use crate::index::{create, plan};
use lorelane_core::change::Change;
use lorelane_core::mark::MarkKind;
use lorelane_core::memory::{Address, Category};
use lorelane_core::time::Timestamp;
use lorelane_engine::disk::sim::SimDisk;
use lorelane_engine::disk::{Disk, FileType};
use lorelane_engine::env::Env;
use lorelane_engine::index::Rebuild;
use lorelane_engine::workspace::{ProjectLocation, Workspace, init_on};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A workspace on a simulated disk; without a home its index lives in memory.
pub fn open(disk: &SimDisk) -> Workspace {
    let env = Env { now: Timestamp(1_772_000_000), cwd: "/p".into(), vars: BTreeMap::new() };
    let located = ProjectLocation {
        project: "/p".into(),
        lane: "/p/.claude/memory".into(),
        root_from_project: ".claude/memory".to_owned(),
        has_notes: false,
    };
    Workspace::open_on(Arc::new(disk.clone()), &env, located).unwrap()
}

// A store that was just made was gone after a power cut, because nothing had synced the names of its folders.
#[test]
fn a_new_store_survives_a_power_cut() {
    let env = Env { now: Timestamp(1_772_000_000), cwd: "/p".into(), vars: BTreeMap::new() };
    for seed in 0..50 {
        let disk = SimDisk::new(seed);
        disk.create_dir_all(Path::new("/p")).unwrap();
        disk.sync_dir(Path::new("/")).unwrap();
        let whole: Arc<dyn Disk> = Arc::new(disk.clone());
        init_on(&whole, &env, Path::new("/p")).unwrap();
        let config = disk.peek(Path::new("/p/.claude/memory/memory-config.json")).unwrap();
        disk.power_cut();
        let listed = disk.peek_list(Path::new("/p/.claude/memory"));
        let folders = listed.iter().filter(|listed| listed.kind == FileType::Folder).count();
        assert_eq!(folders, Category::ALL.len(), "seed {seed}: {listed:?}");
        assert_eq!(disk.peek(Path::new("/p/.claude/memory/memory-config.json")), Some(config), "seed {seed}");
    }
}

/// What a person would miss: every memory and every mark.
fn kept(disk: &SimDisk) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut kept = BTreeMap::new();
    for folder in ["/p/.claude/memory/decisions", "/p/.lorelane"] {
        for listed in disk.peek_list(Path::new(folder)).iter().filter(|listed| listed.kind == FileType::File)
        {
            let path = Path::new(folder).join(&listed.name);
            kept.insert(path.clone(), disk.peek(&path).unwrap());
        }
    }
    // A file of marks without a mark says what no file says.
    kept.retain(|_, bytes| !bytes.is_empty());
    kept
}

#[test]
fn a_full_disk_loses_nothing_and_says_what_to_do() {
    let pin =
        plan(Change::Mark { address: Address::record(Category::Decision, "first"), kind: MarkKind::Pin });
    let (mut refused, mut done) = (0, 0);
    for change in [create("second"), pin] {
        for space in (0..12_000).step_by(97) {
            let disk = SimDisk::new(space);
            disk.create_dir_all(Path::new("/p/.claude/memory/decisions")).unwrap();
            let mut workspace = open(&disk);
            workspace.commit(&create("first")).unwrap();
            let before = kept(&disk);
            disk.space(Some(space));
            match workspace.commit(&change) {
                Ok(_) => done += 1,
                Err(failure) => {
                    refused += 1;
                    assert_eq!(failure.hint(), "free some space and try again", "{space}: {failure}");
                    assert_eq!(before, kept(&disk), "{space}");
                }
            }
            disk.space(None);
            // With space again everything goes on, and the listing is whole.
            let mut workspace = open(&disk);
            workspace.commit(&create("third")).unwrap();
            let listing = disk.peek(Path::new("/p/.claude/memory/index.md")).unwrap();
            workspace.maintenance().reindex(Rebuild::Changed).unwrap();
            assert_eq!(Some(listing), disk.peek(Path::new("/p/.claude/memory/index.md")), "{space}");
            assert_eq!(workspace.changes().verify_logs(), [], "{space}");
        }
    }
    assert!(refused > 10 && done > 10, "{refused} refused, {done} done");
}
