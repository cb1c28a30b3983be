//! The latest values of something that is not always known.

use alloc::vec;
use alloc::vec::Vec;

/// The latest values, newest first; a gap where one is unknown.
#[derive(Clone, Debug)]
pub(super) struct History(Vec<Option<f64>>);

impl History {
    /// Of so many values, none known yet.
    pub(super) fn new(values: usize) -> Self {
        Self(vec![None; values])
    }

    /// Notes the next value; one that is no finite number is a gap.
    pub(super) fn push(&mut self, value: Option<f64>) {
        if let [.., last] = &mut self.0[..] {
            *last = value.filter(|value| value.is_finite());
            self.0.rotate_right(1);
        }
    }

    /// How much the value `ago` samples back had changed since the one before it.
    pub(super) fn change(&self, ago: usize) -> Option<f64> {
        let at = |i: usize| self.0.get(i).copied().flatten();
        Some(at(ago)? - at(ago + 1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_between_neighbours_that_are_both_known() {
        let mut history = History::new(4);
        for value in [Some(9.0), Some(1.0), Some(3.0), None, Some(4.0), Some(9.0)] {
            history.push(value);
        }
        let changes: Vec<Option<f64>> = (0..4).map(|ago| history.change(ago)).collect();
        assert_eq!(changes, [Some(5.0), None, None, None], "of 9, 4, a gap, 3");
        history.push(Some(f64::NAN));
        assert_eq!(history.change(0), None, "what is no number is a gap");
        assert_eq!(history.change(1), Some(5.0), "the change before it");
    }
}
