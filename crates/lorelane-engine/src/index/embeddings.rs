//! Embeddings by an added model: a table of their own, by the model's name, beside the built-in ones.
//!
//! It is filled while a server runs, so an index without any is as valid as one with all; dumps and comparisons
//! leave it out. A row is deleted with the text it was made from.

use super::{Index, IndexError};
use lorelane_core::memory::Address;
use rusqlite::{OptionalExtension, params};

pub(super) const TABLE: &str = "
    CREATE TABLE embeddings (
        id INTEGER NOT NULL, model TEXT NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (id, model)
    );
";
pub(super) const EMPTY: &str = "DELETE FROM embeddings;";
/// For a memory that is gone or has changed.
pub(super) const FORGET: &str = "DELETE FROM embeddings WHERE id = ?";

/// A memory that a model has not embedded yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unembedded {
    pub id: i64,
    pub address: Address,
    /// The digest of the text in the index.
    pub digest: i64,
}

impl Index {
    /// The packed embeddings of these memories; empty for those that the model has not embedded yet.
    pub fn embeddings(&self, model: &str, ids: &[i64]) -> Result<Vec<Vec<u8>>, IndexError> {
        let fault = self.fault("search");
        let sql = "SELECT bytes FROM embeddings WHERE id = ? AND model = ?";
        let mut query = self.db.prepare(sql).map_err(&fault)?;
        let mut read = |id: &i64| query.query_row(params![id, model], |row| row.get(0)).optional();
        ids.iter().map(|id| Ok(read(id).map_err(&fault)?.unwrap_or_default())).collect()
    }

    /// Active memories that the model has not embedded yet, with a row id above `after`.
    pub fn unread(&self, model: &str, after: i64, most: usize) -> Result<Vec<Unembedded>, IndexError> {
        let fault = self.fault("read");
        let sql = "SELECT id, address, digest FROM memories WHERE id > ?2 AND status = 'active'
            AND NOT EXISTS (SELECT 1 FROM embeddings WHERE embeddings.id = memories.id AND model = ?1)
            ORDER BY id LIMIT ?3";
        let mut query = self.db.prepare(sql).map_err(&fault)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = query
            .query_map(params![model, after, most], |row| {
                Ok((row.get(0)?, row.get::<_, String>(1)?, row.get(2)?))
            })
            .map_err(&fault)?;
        let mut unread = Vec::new();
        for row in rows {
            let (id, address, digest) = row.map_err(&fault)?;
            unread.extend(Address::parse(&address).map(|address| Unembedded { id, address, digest }));
        }
        Ok(unread)
    }

    /// Stores a memory's embeddings, unless its text has changed meanwhile, and deletes those of other models.
    /// Returns whether they were stored.
    pub fn put_embeddings(&self, model: &str, of: &Unembedded, bytes: &[u8]) -> Result<bool, IndexError> {
        let fault = self.fault("write");
        let made = self.db.unchecked_transaction().map_err(&fault)?;
        let sql =
            "INSERT OR REPLACE INTO embeddings SELECT id, ?2, ?4 FROM memories WHERE id = ?1 AND digest = ?3";
        let kept = made.execute(sql, params![of.id, model, of.digest, bytes]).map_err(&fault)?;
        made.execute("DELETE FROM embeddings WHERE id = ? AND model <> ?", params![of.id, model])
            .map_err(&fault)?;
        made.commit().map_err(&fault)?;
        Ok(kept > 0)
    }
}
