//! Identities: which class, stage, server or job. None of them says how urgent anything is.

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

/// Which class a job belongs to: an identity, not an urgency (that is [`Priority`](crate::unit::Priority)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u8);

/// Which stage of the pipeline, counted from the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StageId(pub u8);

/// Which server behind the balancer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(pub u16);

/// One job inside a [`Gateway`](crate::gateway::Gateway), from its arrival until it leaves.
///
/// A slot number and a generation: the slot is reused, so a late `done` or `cancel` for a job that
/// has already left is recognised and ignored instead of hitting a stranger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId {
    /// Index into the gateway's job table; drivers may index their own tables with it.
    pub slot: u32,
    /// How often the slot has been used before.
    pub generation: u32,
}

/// One `T` for each class of the scenario, indexed by [`ClassId`].
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PerClass<T>(Vec<T>);

impl<T> PerClass<T> {
    /// One value a class, made by `make`.
    pub fn new(classes: usize, make: impl FnMut(usize) -> T) -> Self {
        Self((0..classes).map(make).collect())
    }

    /// The values in class order.
    pub fn iter(&self) -> core::slice::Iter<'_, T> {
        self.0.iter()
    }

    /// The values in class order, to be changed.
    pub fn iter_mut(&mut self) -> core::slice::IterMut<'_, T> {
        self.0.iter_mut()
    }

    /// How many classes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no class at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> From<Vec<T>> for PerClass<T> {
    fn from(values: Vec<T>) -> Self {
        Self(values)
    }
}

impl<T> Index<ClassId> for PerClass<T> {
    type Output = T;

    fn index(&self, class: ClassId) -> &T {
        &self.0[usize::from(class.0)]
    }
}

impl<T> IndexMut<ClassId> for PerClass<T> {
    fn index_mut(&mut self, class: ClassId) -> &mut T {
        &mut self.0[usize::from(class.0)]
    }
}
