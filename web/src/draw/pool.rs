//! How the workers of a stage are laid out as cells, class by class, and how a cell is seen to change class.

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
    /// Cells whose worker still has a request of another class: cell and that class. It changes class when it is done.
    pub guests: Vec<(usize, usize)>,
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
        let guests = if stage.split { guests(stage, order, &segments, per_cell) } else { Vec::new() };
        Self { grid, per_cell, cells, segments, guests, door }
    }

    /// Edges at which the cells of each class but the last would end by theory; none where theory says nothing.
    #[must_use]
    pub fn ends(&self, stage: &StageView, order: &[usize]) -> Vec<Rect> {
        let Some(workers) = &stage.theory else { return Vec::new() };
        let mut end = 0.0;
        let ends = order.iter().take(order.len().saturating_sub(1)).map(|&class| {
            end += workers.get(class).copied().unwrap_or(0.0) / f64::from(self.per_cell);
            self.grid.edge(end)
        });
        ends.collect()
    }

    /// The class that a cell belongs to; `None` for an idle worker of a shared pool.
    #[must_use]
    pub fn owner(&self, cell: usize) -> Option<usize> {
        self.segments.iter().position(|s| (s.from..s.to).contains(&cell))
    }
}

/// Puts the requests that a class has in work beyond its own workers where they are: on workers that other classes
/// have been given and do not use yet.
fn guests(stage: &StageView, order: &[usize], segments: &[Segment], per_cell: u32) -> Vec<(usize, usize)> {
    let over = |&class: &usize| {
        let view = &stage.classes[class];
        let cells = f64::from(view.busy.saturating_sub(view.slots)) / f64::from(per_cell);
        core::iter::repeat_n(class, cells.round() as usize)
    };
    let spare = order.iter().map(|&class| segments[class]).flat_map(|s| s.from + s.busy..s.to);
    spare.zip(order.iter().flat_map(over)).collect()
}

/// One cell as it is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// The class it belongs to.
    pub owner: Option<usize>,
    /// The class it belonged to before.
    pub before: Option<usize>,
    /// Real time since it changed, in seconds.
    pub age_s: f64,
}

impl Shown {
    /// Time in which the new colour spreads over a cell, in seconds.
    const SPREADS_S: f64 = 0.2;
    /// Time for which a cell that changed stays marked, in seconds.
    const MARKED_S: f64 = 1.6;

    const fn settled(owner: Option<usize>) -> Self {
        Self { owner, before: owner, age_s: Self::MARKED_S }
    }

    /// How much of the cell has the new colour, 0 to 1.
    #[must_use]
    pub fn spread(&self) -> f64 {
        (self.age_s / Self::SPREADS_S).clamp(0.0, 1.0)
    }

    /// How strongly it is marked as changed, 0 to 1.
    #[must_use]
    pub fn mark(&self) -> f64 {
        (1.0 - self.age_s / Self::MARKED_S).clamp(0.0, 1.0)
    }
}

/// The cells of a pool as they are shown: workers change class one after the other, and each is marked for a while,
/// so that a split that moves is seen to move.
#[derive(Clone, Debug, Default)]
pub struct Handover {
    cells: Vec<Shown>,
    owed: f64,
}

impl Handover {
    /// A cell changes at most this often, in seconds: a boundary that moves to and fro must not flash.
    const HOLD_S: f64 = 0.5;
    /// Cells that change a second, at least.
    const PACE: f64 = 20.0;
    /// Time within which all that wait to change have done so, in seconds.
    const ALL_S: f64 = 0.6;

    /// The cells, as last followed.
    #[must_use]
    pub fn cells(&self) -> &[Shown] {
        &self.cells
    }

    /// Follows a layout. `dt_s` is real time since the last call; without it every cell is at once what it is.
    pub fn follow(&mut self, pool: &PoolLayout, dt_s: Option<f64>) {
        let fresh = self.cells.len() != pool.cells;
        if fresh {
            self.cells = (0..pool.cells).map(|i| Shown::settled(pool.owner(i))).collect();
        }
        let Some(dt_s) = dt_s.filter(|_| !fresh) else {
            for (i, cell) in self.cells.iter_mut().enumerate() {
                let owner = pool.owner(i);
                if cell.owner != owner {
                    *cell = Shown::settled(owner);
                }
            }
            return;
        };
        self.cells.iter_mut().for_each(|cell| cell.age_s += dt_s);
        let waits = |(i, cell): (usize, &Shown)| cell.age_s >= Self::HOLD_S && cell.owner != pool.owner(i);
        let waiting = self.cells.iter().enumerate().filter(|&pair| waits(pair)).count() as f64;
        self.owed = (self.owed + dt_s * (waiting / Self::ALL_S).max(Self::PACE)).min(waiting);
        for i in 0..self.cells.len() {
            if self.owed >= 1.0 && waits((i, &self.cells[i])) {
                self.owed -= 1.0;
                self.cells[i] = Shown { owner: pool.owner(i), before: self.cells[i].owner, age_s: 0.0 };
            }
        }
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

    /// A pool of ten on two classes, of which the first has `first`.
    fn pool_of(first: u32, busy: (u32, u32)) -> PoolLayout {
        let area = Rect::new(0.0, 0.0, 62.0, 285.0);
        PoolLayout::new(&area, &stage(10, true, &[(busy.0, first), (busy.1, 10 - first)]), &[0, 1], &[])
    }

    #[test]
    fn a_worker_that_finishes_first_is_shown_where_it_is_missed() {
        let pool = pool_of(3, (5, 6));
        assert_eq!(pool.segments[0], Segment { from: 0, to: 3, busy: 3, count: 3 });
        assert_eq!(pool.guests, [(9, 0)], "of two too many one has a worker of the other class");
        assert_eq!(pool_of(3, (5, 5)).guests, [(8, 0), (9, 0)]);
        assert_eq!(pool_of(7, (5, 3)).guests, [], "nobody has more than its own");
    }

    #[test]
    fn theory_marks_where_the_cells_would_end() {
        let area = Rect::new(0.0, 0.0, 62.0, 285.0);
        let mut stage = stage(64, true, &[(49, 49), (15, 15)]);
        let ends = |stage: &StageView| PoolLayout::new(&area, stage, &[0, 1], &[]).ends(stage, &[0, 1]);
        assert!(ends(&stage).is_empty(), "theory says nothing");
        stage.theory = Some(vec![48.5, 15.5]);
        let pool = PoolLayout::new(&area, &stage, &[0, 1], &[]);
        let cell = pool.grid.cell(48);
        let [edge] = ends(&stage)[..] else { panic!("one end between two classes") };
        assert!(
            (edge.x - cell.cx()).abs() < 2.0 && edge.y == cell.y,
            "in the middle of cell 48: {edge:?}, {cell:?}"
        );
    }

    fn owned(shown: &Handover, class: usize) -> usize {
        shown.cells().iter().filter(|c| c.owner == Some(class)).count()
    }

    #[test]
    fn workers_change_class_one_after_the_other() {
        let mut shown = Handover::default();
        shown.follow(&pool_of(2, (0, 0)), Some(0.016));
        assert_eq!(owned(&shown, 0), 2, "the first split is there at once");
        let to = pool_of(8, (0, 0));
        let mut counts = Vec::new();
        for _ in 0..60 {
            shown.follow(&to, Some(0.016));
            counts.push(owned(&shown, 0));
        }
        assert!(counts.windows(2).all(|w| w[1] - w[0] <= 1), "one at a time: {counts:?}");
        assert_eq!(counts.last(), Some(&8), "all of them within a second");
        assert!(shown.cells()[5].mark() > 0.0 && shown.cells()[0].mark() == 0.0, "who moved is marked");
    }

    #[test]
    fn a_cell_never_flashes() {
        let mut shown = Handover::default();
        let splits = [pool_of(5, (0, 0)), pool_of(6, (0, 0))];
        let mut changes = 0;
        for i in 0..625 {
            let before = owned(&shown, 0);
            // Ten seconds of a split that goes to and fro four times a second.
            shown.follow(&splits[i / 8 % 2], Some(0.016));
            changes += usize::from(i > 0 && owned(&shown, 0) != before);
        }
        assert!((4..=20).contains(&changes), "{changes} changes in ten seconds");
    }

    #[test]
    fn without_motion_a_split_is_there_at_once() {
        let mut shown = Handover::default();
        shown.follow(&pool_of(2, (0, 0)), None);
        shown.follow(&pool_of(8, (0, 0)), None);
        assert_eq!(owned(&shown, 0), 8);
        assert!(shown.cells().iter().all(|c| c.mark() == 0.0 && c.spread() == 1.0));
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
