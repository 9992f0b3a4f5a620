//! The lanes of a project that are open.

use super::lane::Lane;
use lorelane_core::memory::{Address, LaneId};
use std::ops::{Index, IndexMut};

/// The records come first, whether their folder exists or not. Notes follow once theirs does.
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

    /// The lane that has a place for this address, if it is open.
    pub(super) fn of(&self, address: &Address) -> Option<&Lane> {
        self.get(address.lane()).filter(|lane| lane.has_place_for(address))
    }

    /// What only records have (categories, a listing, an audit of external writes) is asked of them.
    pub(super) fn records(&self) -> &Lane {
        &self[LaneId::Records]
    }

    pub(super) fn records_mut(&mut self) -> &mut Lane {
        &mut self[LaneId::Records]
    }

    /// Adds a lane, or puts it in the place of the one that was open.
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

    /// All but one.
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

/// For the id of a lane that is known to be open: the records are, and [`Lanes::open`] hands out the others.
impl Index<LaneId> for Lanes {
    type Output = Lane;

    fn index(&self, id: LaneId) -> &Lane {
        self.get(id).expect("an id is handed out by the lane that is open")
    }
}

impl IndexMut<LaneId> for Lanes {
    fn index_mut(&mut self, id: LaneId) -> &mut Lane {
        let lane = self.open.iter_mut().find(|lane| lane.id() == id);
        lane.expect("an id is handed out by the lane that is open")
    }
}
