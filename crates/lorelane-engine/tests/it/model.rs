//! The second model: its numbers, and what becomes of its files.

use crate::store::Temp;
use crate::tiny_model;
use lorelane_core::time::Timestamp;
use lorelane_engine::disk::RealDisk;
use lorelane_engine::env::{Env, Folders};
use lorelane_engine::model::{Embedder, ModelError, ModelStore};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

struct Place(Temp);

impl Place {
    /// A folder `model` with the tiny model, and an empty home.
    fn new() -> Place {
        let place = Place(Temp::new());
        tiny_model::write(&place.path("model"), 0);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.0.join(name)
    }

    fn folders(&self) -> Folders {
        let home = self.path("home").to_str().unwrap().to_owned();
        let vars = BTreeMap::from([("LORELANE_HOME".to_owned(), home)]);
        Env { now: Timestamp(0), cwd: self.0.0.clone(), vars }.folders().unwrap()
    }

    fn model_store(&self) -> ModelStore {
        ModelStore::new(Arc::new(RealDisk), Some(&self.folders())).unwrap()
    }

    /// The copies, by their paths from the models' folder.
    fn copies(&self) -> Vec<String> {
        let root = self.path("home/data/models");
        let mut found = Vec::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        found.sort();
        found
    }

    fn load(&self) -> Arc<dyn Embedder> {
        self.model_store().load().unwrap().unwrap()
    }
}

/// `tiny_model.py` prints these: another forward pass over the same numbers.
const EXPECTED: [(&str, [f32; 8]); 3] = [
    ("Use JWT for services", [0.06158, -0.03549, 0.04497, 0.07163, 0.30157, 0.78046, -0.53640, -0.00251]),
    ("restart the cache", [0.05995, -0.03226, 0.05829, 0.04652, 0.26269, 0.78722, -0.54869, 0.00518]),
    ("redis", [0.06399, -0.03524, 0.02915, 0.08725, 0.33356, 0.76750, -0.53468, 0.00180]),
];

#[test]
fn the_forward_pass_says_what_another_one_says() {
    let place = Place::new();
    place.model_store().add(&place.path("model")).unwrap();
    let model = place.load();
    for (text, expected) in EXPECTED {
        let vector = model.embed(text).unwrap();
        let apart = vector.iter().zip(expected).map(|(own, other)| (own - other).abs()).fold(0.0, f32::max);
        assert!(vector.len() == 8 && apart < 2e-4, "{text}: {vector:?}");
    }
    // Words that it does not know say nothing, however many they are.
    assert_eq!(model.embed("unheard of"), None);
    assert_eq!(model.embed(""), None);
    // It reads no further than it has positions.
    let long = model.embed(&"restart the cache ".repeat(1_000)).unwrap();
    assert_eq!(long, model.embed(&"restart the cache ".repeat(5)).unwrap());
}

#[test]
fn a_folder_and_a_wheel_give_the_same_model() {
    let place = Place::new();
    let from_folder = place.model_store().add(&place.path("model")).unwrap();
    assert_eq!(place.model_store().verified().unwrap(), Some(from_folder.clone()));
    let id = &from_folder.id;
    let copied = ["config.json", "model.safetensors", "vocab.txt"].map(|name| format!("{id}/{name}"));
    assert_eq!(place.copies(), copied.into_iter().chain(["model.json".to_owned()]).collect::<Vec<_>>());

    assert_eq!(place.model_store().remove().unwrap(), Some(from_folder.clone()));
    assert_eq!(place.copies(), [""; 0]);
    assert!(place.model_store().load().unwrap().is_none());

    fs::write(place.path("tiny.whl"), stored_zip(&place.path("model"))).unwrap();
    let from_wheel = place.model_store().add(&place.path("tiny.whl")).unwrap();
    assert_eq!((&from_wheel.id, from_wheel.from.as_str()), (id, "tiny.whl"));
    assert_eq!(place.load().id(), id);
}

#[test]
fn one_model_at_a_time() {
    let place = Place::new();
    let first = place.model_store().add(&place.path("model")).unwrap();
    tiny_model::write(&place.path("other"), 1);
    let refused = place.model_store().add(&place.path("other")).unwrap_err();
    assert!(matches!(&refused, ModelError::Other { id } if *id == first.id), "{refused}");
    assert_eq!(place.load().id(), first.id);
}

#[test]
fn a_model_that_is_missing_or_changed_is_not_loaded_and_the_same_one_mends_it() {
    let place = Place::new();
    let id = place.model_store().add(&place.path("model")).unwrap().id;
    let copy = |name: &str| place.path("home/data/models").join(&id).join(name);
    for name in ["config.json", "vocab.txt", "model.safetensors"] {
        fs::remove_file(copy(name)).unwrap();
        let missing = place.model_store().load().unwrap_err();
        assert!(matches!(&missing, ModelError::Missing { path } if *path == copy(name)), "{missing}");

        place.model_store().add(&place.path("model")).unwrap();
        let mut bytes = fs::read(copy(name)).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(copy(name), bytes).unwrap();
        let changed = place.model_store().load().unwrap_err();
        assert!(matches!(&changed, ModelError::Changed { path } if *path == copy(name)), "{changed}");
        assert!(place.model_store().verified().is_err());
        place.model_store().add(&place.path("model")).unwrap();
    }
    fs::write(place.path("home/data/models/model.json"), "{}").unwrap();
    assert!(matches!(place.model_store().load(), Err(ModelError::Record { .. })));
    assert_eq!(place.model_store().remove().unwrap(), None);
    assert_eq!(place.copies(), [""; 0]);
    assert!(matches!(place.model_store().remove(), Err(ModelError::NoneAdded)));
}

#[test]
fn what_is_no_model_is_refused_and_nothing_is_kept_of_it() {
    let config = |from: &str, to: &str| ("config.json", tiny_model::CONFIG.replace(from, to).into_bytes());
    let tensors = tiny_model::tensors(0);
    for ((name, bytes), why) in [
        (config("bert", "gpt2"), "`model_type` is gpt2"),
        (config("gelu", "relu"), "`hidden_act` is relu"),
        (config("\"hidden_size\": 8", "\"hidden_size\": 0"), "`hidden_size` is not a number from 1"),
        (config("\"hidden_size\": 8", "\"hidden_size\": 9000000"), "`hidden_size` is not a number from 1"),
        (config("\"hidden_size\": 8", "\"hidden_size\": 7"), "not a multiple"),
        (config("\"hidden_size\": 8", "\"hidden_size\": 10"), "has 112 numbers instead of 14 × 10"),
        (config("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3"), "no tensor `encoder.layer.2"),
        (config("{", ""), "not JSON"),
        (("vocab.txt", b"[CLS]\n[SEP]\n".to_vec()), "the vocabulary has 2 pieces"),
        (("vocab.txt", vec![255; 9]), "not UTF-8"),
        (("model.safetensors", tensors[..tensors.len() - 4].to_vec()), "no tensor"),
        (("model.safetensors", Vec::new()), "it is empty"),
    ] {
        let place = Place::new();
        fs::write(place.path("model").join(name), bytes).unwrap();
        let refused = place.model_store().add(&place.path("model")).unwrap_err();
        assert!(refused.to_string().contains(why), "{why}: {refused}");
        assert_eq!(place.copies(), [""; 0]);
    }
    let place = Place::new();
    fs::remove_file(place.path("model/vocab.txt")).unwrap();
    assert!(place.model_store().add(&place.path("model")).unwrap_err().to_string().contains("vocab.txt"));
    assert!(place.model_store().add(&place.path("nowhere")).is_err());
}

/// A wheel with the files of a folder, packed by no method.
fn stored_zip(folder: &std::path::Path) -> Vec<u8> {
    let (mut zip, mut directory) = (Vec::new(), Vec::new());
    let names = ["config.json", "vocab.txt", "model.safetensors"];
    for name in names {
        let bytes = fs::read(folder.join(name)).unwrap();
        let path = format!("tiny/model/{name}");
        let at = zip.len() as u32;
        let mut sizes = crc32(&bytes).to_le_bytes().to_vec();
        sizes.extend((bytes.len() as u32).to_le_bytes());
        sizes.extend((bytes.len() as u32).to_le_bytes());
        sizes.extend((path.len() as u16).to_le_bytes());
        sizes.extend([0; 2]);
        zip.extend(b"PK\x03\x04");
        zip.extend([0; 10]);
        zip.extend(&sizes);
        zip.extend(path.as_bytes());
        zip.extend(&bytes);
        directory.extend(b"PK\x01\x02");
        directory.extend([0; 12]);
        directory.extend(&sizes);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(path.as_bytes());
    }
    let at = zip.len() as u32;
    zip.extend(&directory);
    zip.extend(b"PK\x05\x06");
    zip.extend([0; 6]);
    zip.extend((names.len() as u16).to_le_bytes());
    zip.extend((directory.len() as u32).to_le_bytes());
    zip.extend(at.to_le_bytes());
    zip.extend([0; 2]);
    zip
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = !0_u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}
