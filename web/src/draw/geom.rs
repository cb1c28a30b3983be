//! Plain geometry of the picture: rectangles, the queue axis, marks in a lane, worker cells, curves.
//!
//! All lengths are CSS pixels. Nothing here knows a canvas or a class; that keeps the picture's promises
//! (one mark a request, an axis that is the same in every lane) testable on any machine.

/// A rectangle in CSS pixels, measured from the canvas's top left corner.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Rect {
    /// A rectangle from its left top corner and size.
    #[must_use]
    pub const fn new(x: f64, y: f64, w: f64, h: f64) -> Self {
        Self { x, y, w, h }
    }

    /// Right edge.
    #[must_use]
    pub const fn right(&self) -> f64 {
        self.x + self.w
    }

    /// Bottom edge.
    #[must_use]
    pub const fn bottom(&self) -> f64 {
        self.y + self.h
    }

    /// Middle, left to right.
    #[must_use]
    pub const fn cx(&self) -> f64 {
        self.x + self.w / 2.0
    }

    /// Middle, top to bottom.
    #[must_use]
    pub const fn cy(&self) -> f64 {
        self.y + self.h / 2.0
    }

    /// Whether nothing of it can be seen; such a part is not drawn.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !(self.w >= 1.0 && self.h >= 1.0)
    }

    /// Whether the point lies inside it.
    #[must_use]
    pub fn contains(&self, x: f64, y: f64) -> bool {
        x >= self.x && x < self.right() && y >= self.y && y < self.bottom()
    }

    /// The same, `dx` and `dy` wider on each side (narrower if negative, but never inside out).
    #[must_use]
    pub fn grown(&self, dx: f64, dy: f64) -> Self {
        let (dx, dy) = (dx.max(-self.w / 2.0), dy.max(-self.h / 2.0));
        Self::new(self.x - dx, self.y - dy, self.w + 2.0 * dx, self.h + 2.0 * dy)
    }

    /// The smallest rectangle around both; an empty one adds nothing.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        if self.is_empty() {
            return *other;
        }
        if other.is_empty() {
            return *self;
        }
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        Self::new(x, y, self.right().max(other.right()) - x, self.bottom().max(other.bottom()) - y)
    }
}

/// The numbers 1, 2, 5, 10, 20, 50 … : the smallest that is at least `x` (and at least 1).
#[must_use]
pub fn round_up_125(x: f64) -> f64 {
    let mut decade = 1.0;
    while decade < 1e18 {
        for step in [1.0, 2.0, 5.0] {
            if step * decade >= x {
                return step * decade;
            }
        }
        decade *= 10.0;
    }
    decade
}

/// Sorts a few things by insertion, equals as they stand: each of std's sorts weighs more than a track.
pub fn sort_few<T>(list: &mut [T], before: impl Fn(&T, &T) -> bool) {
    for end in 1..list.len() {
        let mut i = end;
        while i > 0 && before(&list[i], &list[i - 1]) {
            list.swap(i, i - 1);
            i -= 1;
        }
    }
}

/// Splits `total` in proportion to `shares` so that the parts sum to it (largest remainders; a tie goes to
/// the first). Negative, infinite and not-a-number shares count as 0; if all are 0 every part is.
#[must_use]
pub fn apportion(total: u32, shares: &[f64]) -> Vec<u32> {
    let share = |x: &f64| if x.is_finite() && *x > 0.0 { *x } else { 0.0 };
    let sum: f64 = shares.iter().map(share).sum();
    if !(sum > 0.0 && sum.is_finite()) {
        return vec![0; shares.len()];
    }
    let exact: Vec<f64> = shares.iter().map(|x| f64::from(total) * share(x) / sum).collect();
    let mut parts: Vec<u32> = exact.iter().map(|x| x.floor() as u32).collect();
    let given: u64 = parts.iter().map(|&n| u64::from(n)).sum();
    let mut by_rest: Vec<usize> = (0..parts.len()).collect();
    let rest = |i: usize| exact[i] - exact[i].floor();
    sort_few(&mut by_rest, |&a, &b| rest(a) > rest(b));
    for &i in by_rest.iter().take((u64::from(total).saturating_sub(given)) as usize) {
        parts[i] += 1;
    }
    parts
}

/// The queue axis of a stage: queue length, from the head at the right edge to the tail at the left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueAxis {
    /// Queue length at the left edge; above 0.
    pub max: f64,
}

impl QueueAxis {
    /// Up to this many places the axis ends at the limit itself.
    const WHOLE: f64 = 2_000.0;
    /// Shortest axis of a queue with a limit beyond that.
    const SHORT: f64 = 50.0;

    /// The axis for a queue that may hold `limit` and now holds `longest`. It ends at the limit, unless the
    /// limit is so far off that the queue would be a sliver; then it ends at a round number above the queue.
    #[must_use]
    pub fn for_limit(limit: u32, longest: u32) -> Self {
        let limit = f64::from(limit).max(1.0);
        let wanted = round_up_125((1.25 * f64::from(longest)).max(Self::SHORT));
        Self { max: if limit <= Self::WHOLE { limit } else { wanted.min(limit) } }
    }

    /// Where queue length `n` lies in `lane`; ends at the left edge.
    #[must_use]
    pub fn x(&self, lane: &Rect, n: f64) -> f64 {
        lane.right() - (n / self.max).clamp(0.0, 1.0) * lane.w
    }
}

/// Where the marks of a lane stand: columns from the head leftwards, filled from the top, each column as
/// wide on the queue axis as the requests in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    head: f64,
    top: f64,
    column: f64,
    row: f64,
    rows: usize,
    /// Radius of a mark.
    pub radius: f64,
}

impl Lattice {
    /// Space above and below the marks.
    const PAD: f64 = 3.0;
    /// Largest radius.
    const RADIUS: f64 = 3.8;

    /// The lattice of a lane in which one mark stands for `per_mark` requests. Marks lie about as far apart
    /// along the axis as across it, and a queue as long as the axis just fills the lane.
    #[must_use]
    pub fn new(lane: &Rect, axis: QueueAxis, per_mark: u32) -> Self {
        let inner = (lane.h - 2.0 * Self::PAD).max(1.0);
        let marks = (axis.max / f64::from(per_mark.max(1))).ceil().max(1.0);
        let most = (inner / 2.5).floor().max(1.0);
        let square = (inner * marks / lane.w.max(1.0)).sqrt().clamp(1.0, most);
        let rows = even_rows(marks, square, most);
        let column = lane.w / (marks / rows).ceil();
        let row = inner / rows;
        Self {
            head: lane.right(),
            top: lane.y + Self::PAD,
            column,
            row,
            rows: rows as usize,
            radius: (0.36 * column.min(row)).min(Self::RADIUS),
        }
    }

    /// Centre of mark `i`, 0 at the head, when `ahead` marks' worth of axis lies before the first.
    #[must_use]
    pub fn at(&self, i: usize, ahead: f64) -> (f64, f64) {
        let start = self.head - ahead / self.rows as f64 * self.column;
        let x = start - ((i / self.rows) as f64 + 0.5) * self.column;
        (x, self.top + ((i % self.rows) as f64 + 0.5) * self.row)
    }
}

/// Rows near `square` of which `marks` fill whole columns, or nearly: so that columns and axis agree.
fn even_rows(marks: f64, square: f64, most: f64) -> f64 {
    let (from, to) = ((0.7 * square).floor().max(1.0), (1.4 * square).ceil().min(most));
    let waste = |rows: f64| (marks / rows).ceil() * rows - marks;
    let mut best = square.round();
    let mut rows = from;
    while rows <= to {
        let better = waste(rows).total_cmp(&waste(best));
        if better.then((rows - square).abs().total_cmp(&(best - square).abs())).is_lt() {
            best = rows;
        }
        rows += 1.0;
    }
    best
}

/// The two bars of a gate at `x`: they meet in the middle when `shut` is 1 and leave the lane open at 0.
#[must_use]
pub fn gate(lane: &Rect, x: f64, shut: f64) -> [Rect; 2] {
    let shut = if shut.is_finite() { shut.clamp(0.0, 1.0) } else { 0.0 };
    let opening = (1.0 - shut) * (lane.h - 12.0).max(0.0) / 2.0;
    let bar = lane.h / 2.0 - opening + 1.0;
    [Rect::new(x, lane.y - 1.0, 4.0, bar), Rect::new(x, lane.cy() + opening, 4.0, bar)]
}

/// Equal cells, filled row by row: the workers of a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellGrid {
    area: Rect,
    cells: usize,
    columns: usize,
    pitch: (f64, f64),
    gap: f64,
}

impl CellGrid {
    /// Most cells drawn; beyond that one cell stands for several workers.
    pub const MOST: u32 = 256;
    /// Largest side of a cell with its gap.
    const PITCH: f64 = 24.0;

    /// How many workers one cell stands for: 1, 2, 5, 10 …
    #[must_use]
    pub fn workers_per_cell(workers: u32) -> u32 {
        round_up_125(f64::from(workers) / f64::from(Self::MOST)) as u32
    }

    /// A grid of `cells` nearly square cells that fills the area, or its middle if there are few.
    #[must_use]
    pub fn new(area: &Rect, cells: usize) -> Self {
        let n = cells.max(1) as f64;
        let most = area.w / 5.0;
        let columns = (n * area.w / area.h.max(1.0)).sqrt().round().clamp(1.0, most.max(1.0)).min(n);
        let rows = (n / columns).ceil();
        let gap = if area.w / columns < 12.0 { 2.0 } else { 3.0 };
        let pitch = (((area.w + gap) / columns).min(Self::PITCH), ((area.h + gap) / rows).min(Self::PITCH));
        let (w, h) = (columns * pitch.0 - gap, rows * pitch.1 - gap);
        Self {
            area: Rect::new(area.x, area.y + ((area.h - h) / 2.0).max(0.0), w.min(area.w), h.min(area.h)),
            cells,
            columns: columns as usize,
            pitch,
            gap,
        }
    }

    /// Cell number `i`.
    #[must_use]
    pub fn cell(&self, i: usize) -> Rect {
        let (column, row) = ((i % self.columns) as f64, (i / self.columns) as f64);
        Rect::new(
            self.area.x + column * self.pitch.0,
            self.area.y + row * self.pitch.1,
            (self.pitch.0 - self.gap).max(1.0),
            (self.pitch.1 - self.gap).max(1.0),
        )
    }

    /// The upright edge between the cells before and after so many, in parts of a cell: its top end and its height.
    #[must_use]
    pub fn edge(&self, at: f64) -> Rect {
        let at = at.clamp(0.0, self.cells as f64);
        let i = (at as usize).min(self.cells.saturating_sub(1));
        let cell = self.cell(i);
        Rect::new(cell.x - self.gap / 2.0 + (at - i as f64) * self.pitch.0, cell.y, 0.0, cell.h)
    }

    /// The rectangle around all cells.
    #[must_use]
    pub const fn area(&self) -> Rect {
        self.area
    }

    /// Height at which the cells `from..to` have their middle; an empty range has it where it would begin.
    #[must_use]
    pub fn middle(&self, from: usize, to: usize) -> f64 {
        let at = |i: usize| (i as f64 / self.cells.max(1) as f64).min(1.0);
        self.area.y + (at(from) + at(to.max(from))) / 2.0 * self.area.h
    }
}

/// Moves labels that want to stand at `wanted` (in ascending order) at least `apart` from each other, as
/// little as possible one by one, keeping them between `top` and `bottom` where that can be done.
#[must_use]
pub fn spread(wanted: &[f64], apart: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut at: Vec<f64> = wanted.to_vec();
    let mut least = top;
    for y in &mut at {
        *y = y.max(least);
        least = *y + apart;
    }
    let mut most = bottom;
    for y in at.iter_mut().rev() {
        *y = y.min(most);
        most = *y - apart;
    }
    at
}

/// A cubic Bézier curve: the way marks fly and ribbons lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// Start, two handles, end.
    pub p: [(f64, f64); 4],
    len: f64,
}

impl Curve {
    /// A curve from its four points.
    #[must_use]
    pub fn new(p: [(f64, f64); 4]) -> Self {
        let mut curve = Self { p, len: 0.0 };
        let mut last = p[0];
        for i in 1..=12 {
            let next = curve.at(f64::from(i) / 12.0);
            curve.len += (next.0 - last.0).hypot(next.1 - last.1);
            last = next;
        }
        curve.len = curve.len.max(1.0);
        curve
    }

    /// A curve that leaves and arrives horizontally.
    #[must_use]
    pub fn across(from: (f64, f64), to: (f64, f64)) -> Self {
        let reach = (to.0 - from.0).hypot(to.1 - from.1) / 2.0;
        Self::new([from, (from.0 + reach, from.1), (to.0 - reach, to.1), to])
    }

    /// A curve that leaves and arrives vertically, downwards.
    #[must_use]
    pub fn down(from: (f64, f64), to: (f64, f64)) -> Self {
        let reach = (to.0 - from.0).hypot(to.1 - from.1) / 2.0;
        Self::new([from, (from.0, from.1 + reach), (to.0, to.1 - reach), to])
    }

    /// The point at `u` from 0 to 1.
    #[must_use]
    pub fn at(&self, u: f64) -> (f64, f64) {
        let v = 1.0 - u;
        let weights = [v * v * v, 3.0 * v * v * u, 3.0 * v * u * u, u * u * u];
        let sum = |f: fn(&(f64, f64)) -> f64| weights.iter().zip(&self.p).map(|(w, p)| w * f(p)).sum();
        (sum(|p| p.0), sum(|p| p.1))
    }

    /// Length, at least 1.
    #[must_use]
    pub const fn len(&self) -> f64 {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_numbers_are_the_next_of_one_two_five() {
        for (x, want) in [(0.0, 1.0), (1.0, 1.0), (1.1, 2.0), (3.0, 5.0), (5.1, 10.0), (201.0, 500.0)] {
            assert_eq!(round_up_125(x), want, "above {x}");
        }
        assert!(round_up_125(f64::INFINITY).is_finite());
        assert!(round_up_125(f64::NAN).is_finite());
    }

    #[test]
    fn shares_always_sum_to_the_pool() {
        for total in 0..80 {
            for shares in [vec![1.0, 2.0, 4.0], vec![0.1; 7], vec![f64::NAN, 1.0, -3.0], vec![1e-300, 1e300]]
            {
                let parts = apportion(total, &shares);
                assert_eq!(parts.iter().sum::<u32>(), total, "{total} by {shares:?}");
            }
        }
        assert_eq!(apportion(5, &[0.0, f64::INFINITY]), [0, 0]);
        assert_eq!(apportion(4, &[1.0, 1.0, 1.0]), [2, 1, 1]);
    }

    #[test]
    fn the_axis_runs_from_the_head_at_the_right_to_the_limit_at_the_left() {
        let lane = Rect::new(100.0, 0.0, 200.0, 80.0);
        let axis = QueueAxis::for_limit(400, 0);
        assert_eq!(axis.x(&lane, 0.0), 300.0);
        assert_eq!(axis.x(&lane, 100.0), 250.0);
        assert_eq!(axis.x(&lane, 400.0), 100.0);
        assert_eq!(axis.x(&lane, 900.0), 100.0);
    }

    #[test]
    fn a_far_limit_is_cut_to_a_round_number_above_the_queue() {
        assert_eq!(QueueAxis::for_limit(1_000_000, 3).max, 50.0);
        assert_eq!(QueueAxis::for_limit(1_000_000, 3_000).max, 5_000.0);
        assert_eq!(QueueAxis::for_limit(4_000, 4_000).max, 4_000.0);
        assert_eq!(QueueAxis::for_limit(0, 0).max, 1.0);
    }

    #[test]
    fn marks_of_a_full_lane_fill_it_and_stay_inside() {
        for (w, h) in [(236.0, 78.0), (140.0, 78.0), (40.0, 12.0), (250.0, 60.0)] {
            for limit in [1, 7, 97, 120, 200, 320, 1_000, 2_000] {
                let lane = Rect::new(10.0, 20.0, w, h);
                let lattice = Lattice::new(&lane, QueueAxis { max: f64::from(limit) }, 1);
                let mut leftmost = lane.right();
                for i in 0..limit as usize {
                    let (x, y) = lattice.at(i, 0.0);
                    leftmost = leftmost.min(x);
                    assert!(y > lane.y && y < lane.bottom(), "mark {i} of {limit} at {x}, {y} in {lane:?}");
                    assert!(x < lane.right() && x > lane.x, "mark {i} of {limit} at {x}, {y} in {lane:?}");
                }
                let most = lane.x + 0.51 * lattice.column;
                assert!(leftmost <= most, "{limit} marks reach only {leftmost} in {lane:?}");
            }
        }
    }

    #[test]
    fn columns_of_marks_agree_with_the_axis() {
        let lane = Rect::new(0.0, 0.0, 236.0, 78.0);
        for limit in [60, 97, 100, 120, 250, 1_000] {
            let axis = QueueAxis { max: f64::from(limit) };
            let lattice = Lattice::new(&lane, axis, 1);
            for n in 1..=limit {
                let edge = lattice.at(n as usize - 1, 0.0).0 - lattice.column / 2.0;
                let off = (edge - axis.x(&lane, f64::from(n))).abs();
                assert!(
                    off <= 1.05 * lattice.column,
                    "{n} of {limit}: {off} px off, columns of {}",
                    lattice.column
                );
            }
        }
    }

    #[test]
    fn marks_start_after_what_is_ahead_of_them() {
        let lane = Rect::new(0.0, 0.0, 240.0, 66.0);
        let axis = QueueAxis { max: 320.0 };
        let lattice = Lattice::new(&lane, axis, 1);
        let edge = axis.x(&lane, 80.0);
        let (x, _) = lattice.at(0, 80.0);
        assert!((edge - x - lattice.column / 2.0).abs() < 1.0);
    }

    #[test]
    fn the_gate_closes_with_the_share_turned_away() {
        let lane = Rect::new(0.0, 100.0, 200.0, 80.0);
        let open = gate(&lane, 0.0, 0.0);
        let shut = gate(&lane, 0.0, 1.0);
        assert_eq!(open[1].y - open[0].bottom(), 68.0);
        assert!(shut[1].y <= shut[0].bottom());
        assert_eq!(gate(&lane, 0.0, f64::NAN), open);
        let half = gate(&lane, 0.0, 0.5);
        assert!(half[0].h > open[0].h && half[0].h < shut[0].h);
    }

    #[test]
    fn cells_stay_in_their_area_and_do_not_overlap() {
        for n in [1, 3, 16, 64, 100, 256] {
            let area = Rect::new(5.0, 7.0, 62.0, 285.0);
            let grid = CellGrid::new(&area, n);
            for i in 0..n {
                let cell = grid.cell(i);
                assert!(
                    cell.x >= area.x - 0.01 && cell.right() <= area.right() + 0.01,
                    "{i} of {n}: {cell:?}"
                );
                assert!(
                    cell.y >= area.y - 0.01 && cell.bottom() <= area.bottom() + 0.01,
                    "{i} of {n}: {cell:?}"
                );
                if i > 0 {
                    let before = grid.cell(i - 1);
                    assert!(before.right() <= cell.x || before.bottom() <= cell.y, "{i} of {n} overlaps");
                }
            }
        }
    }

    #[test]
    fn many_workers_share_a_cell() {
        assert_eq!(CellGrid::workers_per_cell(1), 1);
        assert_eq!(CellGrid::workers_per_cell(256), 1);
        assert_eq!(CellGrid::workers_per_cell(257), 2);
        assert_eq!(CellGrid::workers_per_cell(100_000), 500);
    }

    #[test]
    fn labels_keep_their_distance() {
        let at = spread(&[10.0, 12.0, 90.0, 95.0], 10.0, 0.0, 100.0);
        assert_eq!(at, [10.0, 20.0, 90.0, 100.0]);
        assert_eq!(spread(&[96.0, 98.0], 10.0, 0.0, 100.0), [90.0, 100.0]);
        assert!(spread(&[], 1.0, 0.0, 1.0).is_empty());
    }

    #[test]
    fn a_curve_begins_and_ends_where_it_should() {
        let curve = Curve::across((0.0, 0.0), (100.0, 40.0));
        assert_eq!(curve.at(0.0), (0.0, 0.0));
        assert_eq!(curve.at(1.0), (100.0, 40.0));
        assert!(curve.len() > 107.0 && curve.len() < 125.0, "{}", curve.len());
    }
}
