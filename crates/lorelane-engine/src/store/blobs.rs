//! The blob pack beside a journal: every path and all bytes that its lines refer to.
//!
//! One pack with offsets and not a file per digest: one append and one fsync per change.
//!
//! Each blob is salted, with the salt beside it: after `forget` zeroes both, the digest that stays in the journal
//! cannot be used to guess the text, not even a short and likely one.

use crate::backend::{Digest, StoreError};
use std::fmt;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::disk::{Disk, LinkPolicy, READ_MAX_BYTES, RandomAccessFile};

const SALT: usize = 16;

/// Where a blob is in the pack, and its digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Blob {
    offset: u64,
    len: usize,
    digest: Digest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BlobState {
    Bytes(Vec<u8>),
    Purged,
    /// Missing, or its digest differs.
    Damaged,
}

/// Reads blobs of one pack through one handle: opening the file for each blob made a long log slow.
#[derive(Debug)]
pub(super) struct BlobStore {
    path: PathBuf,
    /// `None` if the file does not exist: then there are no blobs.
    file: Option<Box<dyn RandomAccessFile>>,
}

impl BlobStore {
    pub(super) fn open(disk: &dyn Disk, path: PathBuf) -> Result<BlobStore, StoreError> {
        let file = match disk.open(&path, LinkPolicy::Followed) {
            Ok(file) => Some(file),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
            Err(source) => return Err(StoreError::Io { attempt: "read", path, source }),
        };
        Ok(BlobStore { path, file })
    }

    pub(super) fn read(&mut self, blob: Blob) -> Result<BlobState, StoreError> {
        let (Some(file), Some(framed_len)) = (&mut self.file, blob.len.checked_add(SALT)) else {
            return Ok(BlobState::Damaged);
        };
        // We never write a larger one; a length in a foreign journal may be.
        if framed_len as u64 > READ_MAX_BYTES + SALT as u64 {
            return Ok(BlobState::Damaged);
        }
        let mut framed = match file.read_at(blob.offset, framed_len) {
            Ok(framed) => framed,
            Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::NotFound) => {
                return Ok(BlobState::Damaged);
            }
            Err(source) => return Err(StoreError::Io { attempt: "read", path: self.path.clone(), source }),
        };
        if Digest::of(&framed) == blob.digest {
            return Ok(BlobState::Bytes(framed.split_off(SALT)));
        }
        let purged = framed.iter().all(|byte| *byte == 0);
        Ok(if purged { BlobState::Purged } else { BlobState::Damaged })
    }

    /// The bytes, if they are there and match the digest.
    pub(super) fn held(&mut self, blob: Blob) -> Result<Option<Vec<u8>>, StoreError> {
        match self.read(blob)? {
            BlobState::Bytes(bytes) => Ok(Some(bytes)),
            BlobState::Purged | BlobState::Damaged => Ok(None),
        }
    }
}

impl Blob {
    pub(super) fn parse(text: &str) -> Option<Blob> {
        let mut parts = text.split(':');
        let blob = Blob {
            offset: parts.next()?.parse().ok()?,
            len: parts.next()?.parse().ok()?,
            digest: Digest::parse(parts.next()?)?,
        };
        parts.next().is_none().then_some(blob)
    }

    pub(super) fn digest(&self) -> Digest {
        self.digest
    }

    /// The range of its salt and bytes.
    pub(super) fn span(&self) -> Range<u64> {
        self.offset..self.offset.saturating_add((SALT as u64).saturating_add(self.len as u64))
    }
}

impl fmt::Display for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.offset, self.len, self.digest)
    }
}

/// Blobs to be appended in one write.
#[derive(Debug)]
pub(super) struct BlobBatch<'a> {
    disk: &'a dyn Disk,
    base: u64,
    bytes: Vec<u8>,
}

impl<'a> BlobBatch<'a> {
    pub(super) fn new(disk: &'a dyn Disk, pack: &Path) -> io::Result<BlobBatch<'a>> {
        let base = disk.stat(pack)?.map_or(0, |stat| stat.len);
        Ok(BlobBatch { disk, base, bytes: Vec::new() })
    }

    pub(super) fn add(&mut self, bytes: &[u8]) -> Blob {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&self.disk.nonce());
        self.bytes.extend_from_slice(bytes);
        Blob { offset: self.base + start as u64, len: bytes.len(), digest: Digest::of(&self.bytes[start..]) }
    }

    pub(super) fn append(&self, pack: &Path) -> io::Result<()> {
        self.disk.append(pack, &self.bytes)
    }
}
