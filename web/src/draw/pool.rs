//! How the workers of a stage are laid out as cells, class by class.

use super::geom::{CellGrid, Rect, apportion, round_up_125, spread};
use super::model::StageView;

/// The cells of one class: `from..to`, of which the first `busy` are filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// First cell.
    pub from: usize,
    /// One past the last cell.
    pub to: usize,
    /// Cells filled.
    pub busy: usize,
    /// The number written beside: the class's workers if it has its own, else those it keeps busy.
    pub count: u32,
}

/// The workers of a stage as cells.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolLayout {
    /// Where the cells are.
    pub grid: CellGrid,
    /// Workers a cell stands for.
    pub per_cell: u32,
    /// Cells in all.
    pub cells: usize,
    /// One segment a class, by class; they follow each other in class order.
    pub segments: Vec<Segment>,
    /// Height at which each class's requests enter and leave, by class.
    pub door: Vec<f64>,
}

impl PoolLayout {
    /// Least distance between two counts.
    const LABEL_PX: f64 = 34.0;

    /// Lays out a pool in `area`. `rows` is where each class's lane is: with one shared pool its requests
    /// enter there; with a split they enter at the middle of its own cells.
    #[must_use]
    pub fn new(area: &Rect, stage: &StageView, order: &[usize], rows: &[f64]) -> Self {
        let per_cell = CellGrid::workers_per_cell(stage.workers);
        let cells = (stage.workers.max(1)).div_ceil(per_cell) as usize;
        let grid = CellGrid::new(area, cells);
        let segments = segments(stage, order, cells);
        let middles = order.iter().map(|&class| {
            let Segment { from, to, .. } = segments[class];
            if stage.split { grid.middle(from, to) } else { rows.get(class).copied().unwrap_or(area.cy()) }
        });
        let apart = Self::LABEL_PX.min(area.h / order.len().max(1) as f64);
        let spaced = spread(&middles.collect::<Vec<_>>(), apart, area.y + 16.0, area.bottom() - 8.0);
        let mut door = vec![area.cy(); segments.len()];
        order.iter().zip(spaced).for_each(|(&class, y)| door[class] = y);
        Self { grid, per_cell, cells, segments, door }
    }
}

fn segments(stage: &StageView, order: &[usize], cells: usize) -> Vec<Segment> {
    let owned =
        |class: usize| if stage.split { stage.classes[class].slots } else { stage.classes[class].busy };
    let in_order = |f: &dyn Fn(usize) -> u32| order.iter().map(|&c| f64::from(f(c))).collect::<Vec<_>>();
    let all = order.iter().map(|&c| owned(c)).fold(0, u32::saturating_add);
    // Of a shared pool only the busy part belongs to classes.
    let taken = (f64::from(all) / f64::from(stage.workers.max(1)) * cells as f64).round().min(cells as f64);
    let lengths = apportion(taken as u32, &in_order(&owned));
    let mut segments = vec![Segment::default(); stage.classes.len()];
    let mut from = 0;
    for (&class, &length) in order.iter().zip(&lengths) {
        let view = &stage.classes[class];
        let to = from + length as usize;
        let part = f64::from(view.busy) / f64::from(owned(class).max(1));
        let busy = (part.min(1.0) * f64::from(length)).round() as usize;
        segments[class] = Segment { from, to, busy, count: owned(class) };
        from = to;
    }
    segments
}

/// How many requests in flight one mark on a server card stands for, so that `most` fit into `places`.
#[must_use]
pub fn requests_per_mark(most: u32, places: usize) -> u32 {
    round_up_125(f64::from(most) / places.max(1) as f64) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::model::StageClassView;

    fn stage(workers: u32, split: bool, busy_slots: &[(u32, u32)]) -> StageView {
        let class = |&(busy, slots): &(u32, u32)| StageClassView { busy, slots, ..StageClassView::default() };
        let classes = busy_slots.iter().map(class).collect();
        StageView { workers, split, classes, ..StageView::default() }
    }

    #[test]
    fn a_split_gives_each_class_its_cells() {
        let area = Rect::new(0.0, 0.0, 62.0, 285.0);
        let stage = stage(64, true, &[(9, 9), (20, 38), (0, 17)]);
        let pool = PoolLayout::new(&area, &stage, &[2, 1, 0], &[40.0, 140.0, 240.0]);
        assert_eq!(pool.segments[2], Segment { from: 0, to: 17, busy: 0, count: 17 });
        assert_eq!(pool.segments[1], Segment { from: 17, to: 55, busy: 20, count: 38 });
        assert_eq!(pool.segments[0], Segment { from: 55, to: 64, busy: 9, count: 9 });
    }

    #[test]
    fn a_shared_pool_shows_who_is_in_work_and_leaves_the_rest_idle() {
        let area = Rect::new(0.0, 0.0, 62.0, 285.0);
        let stage = stage(8, false, &[(1, 8), (3, 8)]);
        let pool = PoolLayout::new(&area, &stage, &[1, 0], &[200.0, 60.0]);
        assert_eq!(pool.cells, 8);
        assert_eq!(pool.segments[1], Segment { from: 0, to: 3, busy: 3, count: 3 });
        assert_eq!(pool.segments[0], Segment { from: 3, to: 4, busy: 1, count: 1 });
        assert_eq!(pool.door, [200.0, 60.0]);
    }

    #[test]
    fn cells_never_exceed_the_pool() {
        let area = Rect::new(0.0, 0.0, 62.0, 285.0);
        for workers in [1, 7, 64, 257, 1_000, 100_000] {
            for share in [0, 1, 3, 7] {
                let busy = workers * share / 7;
                let pair = [(busy / 2, workers), (busy - busy / 2, workers)];
                let pool = PoolLayout::new(&area, &stage(workers, false, &pair), &[0, 1], &[10.0, 20.0]);
                let end = pool.segments.iter().map(|s| s.to).max().unwrap();
                assert!(end <= pool.cells, "{end} of {} cells for {busy} of {workers}", pool.cells);
                if busy == workers {
                    assert_eq!(end, pool.cells, "all of {workers} busy");
                }
            }
        }
    }
}
