//! Any bytes in the place of the configuration files stop no read, and setting a key never panics.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use lorelane_core::json::Json;
use lorelane_core::policy::ConfigFile;
use lorelane_engine::config::ConfigFiles;
use lorelane_engine::disk::Disk;
use lorelane_engine::disk::sim::SimDisk;

fuzz_target!(|bytes: (&[u8], &[u8])| {
    let disk = SimDisk::new(1);
    let files = ConfigFiles::of_project(&disk, Path::new("/project"), None);
    for (file, bytes) in [(&files.records, bytes.0), (&files.project, bytes.1)] {
        disk.create_dir_all(file.parent().expect("a file has a folder"))
            .expect("an empty disk takes a folder");
        disk.append(file, bytes).expect("an empty disk takes a file");
    }
    let policy = files.read(&disk);
    let _ = policy.memory_root();
    let _ = files.with(&disk, ConfigFile::Records, "delete.archive_retired", &Json::Bool(true));
    let _ = files.with(&disk, ConfigFile::Lorelane, "secrets", &Json::text("allow"));
});
