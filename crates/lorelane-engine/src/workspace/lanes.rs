//! The open lanes of a project.

use super::lane::Lane;
use lorelane_core::memory::{Address, LaneId};
use std::ops::{Index, IndexMut};

/// The records lane is always open, even if its folder does not exist yet. Notes are added once theirs does.
#[derive(Debug)]
pub(super) struct Lanes {
    open: Vec<Lane>,
}

impl Lanes {
    pub(super) fn new(records: Lane) -> Lanes {
        Lanes { open: vec![records] }
    }

    pub(super) fn get(&self, id: LaneId) -> Option<&Lane> {
        self.open.iter().find(|lane| lane.id() == id)
    }

    /// The open lane that this address belongs to.
    pub(super) fn of(&self, address: &Address) -> Option<&Lane> {
        self.get(address.lane()).filter(|lane| lane.has_place_for(address))
    }

    /// For what only records have: categories, `index.md`, the audit of external writes.
    pub(super) fn records(&self) -> &Lane {
        &self[LaneId::Records]
    }

    pub(super) fn records_mut(&mut self) -> &mut Lane {
        &mut self[LaneId::Records]
    }

    /// Adds a lane, or replaces the open one with the same id.
    pub(super) fn open(&mut self, lane: Lane) -> LaneId {
        let id = lane.id();
        self.open.retain(|open| open.id() != id);
        self.open.push(lane);
        self.open.sort_by_key(Lane::id);
        id
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Lane> {
        self.open.iter()
    }

    pub(super) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Lane> {
        self.open.iter_mut()
    }

    pub(super) fn others(&self, id: LaneId) -> impl Iterator<Item = &Lane> {
        self.iter().filter(move |lane| lane.id() != id)
    }

    pub(super) fn ids(&self) -> Vec<LaneId> {
        self.iter().map(Lane::id).collect()
    }
}

impl<'l> IntoIterator for &'l Lanes {
    type Item = &'l Lane;
    type IntoIter = std::slice::Iter<'l, Lane>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'l> IntoIterator for &'l mut Lanes {
    type Item = &'l mut Lane;
    type IntoIter = std::slice::IterMut<'l, Lane>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

/// Panics if the lane is not open. The records always are, and ids of other lanes come from [`Lanes::open`].
impl Index<LaneId> for Lanes {
    type Output = Lane;

    fn index(&self, id: LaneId) -> &Lane {
        self.get(id).expect("lane ids come from open lanes")
    }
}

impl IndexMut<LaneId> for Lanes {
    fn index_mut(&mut self, id: LaneId) -> &mut Lane {
        let lane = self.open.iter_mut().find(|lane| lane.id() == id);
        lane.expect("lane ids come from open lanes")
    }
}
