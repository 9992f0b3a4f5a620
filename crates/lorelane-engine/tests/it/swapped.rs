//! A folder of the lane that somebody swaps with a link while memories are written.

use crate::store::Temp;
use lorelane_core::path::RelPath;
use lorelane_core::time::Timestamp;
use lorelane_engine::backend::{Edit, Transaction};
use lorelane_engine::disk::{Disk as _, RealDisk};
use lorelane_engine::store::{Store, StoreFolders};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const NOW: Timestamp = Timestamp(1_700_000_000);
const ENTRIES: usize = 150;

/// Swaps the folder with a link and back until it is told to stop.
fn swap(lane: &Path, stop: &AtomicBool) {
    let (folder, aside, link) = (lane.join("decisions"), lane.join("aside"), lane.join("link"));
    symlink("../outside", &link).unwrap();
    while !stop.load(Ordering::Relaxed) {
        // In the way once the store has made the folder again meanwhile.
        let _ = fs::remove_dir_all(&aside);
        if fs::rename(&folder, &aside).is_ok() {
            let _ = fs::rename(&link, &folder);
            let _ = fs::rename(&folder, &link);
            let _ = fs::rename(&aside, &folder);
        }
    }
}

// 89 of the entries were written outside: a link came between the look and the write.
#[test]
fn nothing_is_written_outside_while_a_folder_is_swapped_with_a_link() {
    let temp = Temp::new();
    let (lane, outside) = (temp.0.join("project/lane"), temp.0.join("project/outside"));
    fs::create_dir_all(lane.join("decisions")).unwrap();
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("0.json"), "theirs").unwrap();
    let disk = RealDisk.below(&temp.0.join("project"), &[]).unwrap().expect("a disk with links");
    let home = StoreFolders {
        lane: lane.clone(),
        marks: temp.0.join("project/.lorelane"),
        state: temp.0.join("state").into(),
    };
    let store = Store::new(disk, home).with_lock_deadline(Duration::from_millis(30));
    let stop = AtomicBool::new(false);
    let mut written = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| swap(&lane, &stop));
        for number in 0..ENTRIES {
            let path = RelPath::parse(&format!("decisions/{}.json", number % 7)).unwrap();
            let edit = match number % 3 {
                2 => Edit::Remove { path },
                _ => Edit::Put { path, bytes: format!("{number}").into_bytes() },
            };
            // Most are refused. That is not the point.
            let done = store.begin().and_then(|mut writer| {
                writer.apply(vec![edit], "swapped", NOW)?;
                writer.finish()
            });
            written += usize::from(done.is_ok());
        }
        stop.store(true, Ordering::Relaxed);
    });
    let mut found: Vec<_> = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    found.sort();
    assert_eq!(found, ["0.json"], "{written} of {ENTRIES} were written");
    assert_eq!(fs::read_to_string(outside.join("0.json")).unwrap(), "theirs");
}
