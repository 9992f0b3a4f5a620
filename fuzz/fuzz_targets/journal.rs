//! Any bytes in the place of the journal and its pack are read without panic, and the next writer copes.
#![no_main]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use lorelane_core::path::RelPath;
use lorelane_core::time::Timestamp;
use lorelane_engine::backend::{ChangeLog, Edit, Transaction};
use lorelane_engine::disk::Disk;
use lorelane_engine::disk::sim::SimDisk;
use lorelane_engine::store::{Store, StoreFolders};

fuzz_target!(|bytes: (&[u8], &[u8])| {
    let disk = SimDisk::new(1);
    let state = Path::new("/state");
    disk.create_dir_all(state).expect("an empty disk takes a folder");
    disk.append(&state.join("journal"), bytes.0).expect("an empty disk takes a file");
    disk.append(&state.join("blobs"), bytes.1).expect("an empty disk takes a file");
    let home = StoreFolders {
        lane: PathBuf::from("/lane"),
        marks: PathBuf::from("/marks"),
        state: state.to_owned().into(),
    };
    let store = Store::new(Arc::new(disk), home);
    let _ = store.changes();
    let _ = store.verify();
    if let Ok(mut writer) = store.begin() {
        let path = RelPath::parse("decisions/fuzzed.json").expect("a constant path");
        let _ = writer.apply(vec![Edit::Put { path, bytes: b"{}".to_vec() }], "fuzzed", Timestamp(0));
        let _ = writer.undo(Timestamp(0));
    }
});
