//! From rows as read to a trace: labels by number, arrivals in order and counted from the start.

use super::date::SECOND;
use super::{Format, ImportError, MOST_ROWS, Options, Placement, Reason, Reject, Rejects, Trace, TraceRow};
use crate::time::{Duration, Instant};
use crate::unit::{Draw, mix};
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Most different labels a trace may have.
const MOST_LABELS: usize = 4_096;
/// Longest label, in bytes.
const LONGEST_LABEL: usize = 200;
/// Rejects kept with number and reason; all are counted.
const KEPT_REJECTS: usize = 100;

impl Rejects {
    pub(super) fn add(&mut self, line: u64, reason: Reason) {
        self.count += 1;
        if self.first.len() < KEPT_REJECTS {
            self.first.push(Reject { line, reason });
        }
    }
}

/// A row as read, its time not yet counted from the start.
pub(super) struct Row<'a> {
    pub(super) at_ns: i64,
    pub(super) label: Cow<'a, str>,
    pub(super) service: Option<Duration>,
    pub(super) bytes: Option<u64>,
}

/// What the times of a file are.
#[derive(Clone, Copy)]
pub(super) struct Stamps {
    /// Of the calendar, not counted from some start.
    pub(super) calendar: bool,
    /// None has a fraction of a second.
    pub(super) whole_seconds: bool,
    /// The time of the answer: the arrival is earlier by the recorded duration.
    pub(super) at_end: bool,
}

/// Gathers rows and makes a trace of them.
pub(super) struct Builder {
    rows: Vec<TraceRow>,
    labels: Labels,
    pub(super) rejects: Rejects,
    pub(super) notes: Vec<String>,
    placement: Option<Placement>,
    most_rows: usize,
    last_at: Instant,
    out_of_order: u64,
}

/// While rows are gathered, times before 1970 must sort before those after: zero is put in the middle of the range.
fn biased(ns: i64) -> Instant {
    Instant::from_nanos((ns as u64) ^ (1 << 63))
}

fn unbiased(at: Instant) -> i64 {
    (at.as_nanos() ^ (1 << 63)) as i64
}

impl Builder {
    pub(super) fn new(options: &Options<'_>) -> Self {
        Self {
            rows: Vec::new(),
            labels: Labels::default(),
            rejects: Rejects::default(),
            notes: Vec::new(),
            placement: options.placement,
            most_rows: options.most_rows.unwrap_or(MOST_ROWS),
            last_at: Instant::START,
            out_of_order: 0,
        }
    }

    /// Adds a row, or a reject if its label cannot be kept.
    pub(super) fn push(&mut self, line: u64, row: Row<'_>) -> Result<(), ImportError> {
        let Some(label) = self.labels.number_of(&row.label) else {
            self.rejects.add(line, Reason::Label);
            return Ok(());
        };
        if self.rows.len() >= self.most_rows {
            return Err(ImportError::TooManyRows { most: self.most_rows });
        }
        let at = biased(row.at_ns);
        self.out_of_order += u64::from(at < self.last_at);
        self.last_at = at;
        self.rows.push(TraceRow { at, label, service: row.service, bytes: row.bytes });
        Ok(())
    }

    pub(super) fn finish(mut self, format: Format, stamps: Stamps) -> Result<Trace, ImportError> {
        if self.rows.is_empty() {
            return Err(ImportError::NoRows(self.rejects.first.first().copied()));
        }
        sort(&mut self.rows);
        let placed = self.place(stamps);
        if stamps.at_end {
            for row in &mut self.rows {
                let earlier = i64::try_from(row.service.map_or(0, Duration::as_nanos)).unwrap_or(i64::MAX);
                row.at = biased(unbiased(row.at).saturating_sub(earlier));
            }
            sort(&mut self.rows);
        }
        let starts_at_unix_s = self.count_from_start(stamps.calendar)?;
        if self.out_of_order > 0 {
            self.notes.push(format!(
                "{} lines are stamped earlier than the line before; sorted by arrival",
                self.out_of_order
            ));
        }
        Ok(Trace {
            rows: self.rows,
            labels: self.labels.names,
            rejects: self.rejects,
            format,
            starts_at_unix_s,
            out_of_order: self.out_of_order,
            placed,
            notes: self.notes,
        })
    }

    /// Spreads rows stamped with the same whole second over it.
    ///
    /// Unasked, only calendar times are: a log wrote those. Times counted from a start were worked out by someone,
    /// and three jobs at 0 s may well be meant to come at once.
    fn place(&mut self, stamps: Stamps) -> Option<Placement> {
        if !stamps.whole_seconds {
            return None;
        }
        let together = self.rows.windows(2).filter(|pair| pair[0].at == pair[1].at).count();
        let placement = match self.placement {
            Some(placement) => placement,
            None if stamps.calendar => Placement::Even,
            None => {
                if together > 0 {
                    self.notes.push(format!("times are whole seconds, {together} rows share one with the row before; they are left as they are"));
                }
                return None;
            }
        };
        let how = match placement {
            Placement::AtStart => "left at its beginning",
            Placement::Even => "spread evenly over it",
            Placement::Random { .. } => "spread over it at random",
        };
        self.notes.push(format!("times are whole seconds: the arrivals of a second are {how}"));
        let mut draws = Draws::new(placement);
        let mut rest = &mut self.rows[..];
        while let Some(first) = rest.first() {
            let second = first.at;
            let many = rest.iter().take_while(|row| row.at == second).count();
            let (group, others) = rest.split_at_mut(many);
            draws.place(SECOND as u64, many as u64, |k, offset| {
                group[k].at = second + Duration::from_nanos(offset);
            });
            rest = others;
        }
        Some(placement)
    }

    /// Makes times count from the start. Calendar times start at the second of the first arrival; others keep
    /// their zero unless a row lies before it.
    fn count_from_start(&mut self, calendar: bool) -> Result<Option<i64>, ImportError> {
        let first = unbiased(self.rows[0].at);
        let start = if calendar { first.div_euclid(SECOND).saturating_mul(SECOND) } else { first.min(0) };
        let last = unbiased(self.rows[self.rows.len() - 1].at);
        if last.checked_sub(start).is_none() {
            return Err(ImportError::TooLong);
        }
        for row in &mut self.rows {
            row.at = Instant::from_nanos(unbiased(row.at).abs_diff(start));
        }
        Ok(calendar.then_some(start / SECOND))
    }
}

/// Sorts by arrival, stably; most files are sorted already.
fn sort(rows: &mut [TraceRow]) {
    if !rows.is_sorted_by_key(|row| row.at) {
        rows.sort_by_key(|row| row.at);
    }
}

/// Labels by number, in the order of first appearance.
#[derive(Default)]
struct Labels {
    names: Vec<String>,
    numbers: BTreeMap<String, u16>,
}

impl Labels {
    fn number_of(&mut self, name: &str) -> Option<u16> {
        if let Some(&number) = self.numbers.get(name) {
            return Some(number);
        }
        if self.names.len() >= MOST_LABELS || name.len() > LONGEST_LABEL {
            return None;
        }
        let number = self.names.len() as u16;
        self.names.push(name.to_string());
        self.numbers.insert(name.to_string(), number);
        Some(number)
    }
}

/// Places arrivals within a second or bin.
pub(super) struct Draws {
    placement: Placement,
    state: u64,
    offsets: Vec<u64>,
}

impl Draws {
    pub(super) fn new(placement: Placement) -> Self {
        let state = if let Placement::Random { seed } = placement { mix(seed) } else { 0 };
        Self { placement, state, offsets: Vec::new() }
    }

    /// The next draw of SplitMix64.
    pub(super) fn draw(&mut self) -> Draw {
        let draw = Draw::from_bits(mix(self.state));
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        draw
    }

    /// Gives each of `many` arrivals its offset within `width` nanoseconds, in ascending order.
    pub(super) fn place(&mut self, width: u64, many: u64, mut each: impl FnMut(usize, u64)) {
        match self.placement {
            Placement::AtStart => (0..many as usize).for_each(|k| each(k, 0)),
            Placement::Even => {
                for k in 0..many {
                    let offset = u128::from(width) * u128::from(2 * k + 1) / (2 * u128::from(many));
                    each(k as usize, offset as u64);
                }
            }
            Placement::Random { .. } => {
                let mut offsets = core::mem::take(&mut self.offsets);
                offsets.clear();
                offsets.extend((0..many).map(|_| (self.draw().get() * width as f64) as u64));
                offsets.sort_unstable();
                offsets.iter().enumerate().for_each(|(k, &offset)| each(k, offset));
                self.offsets = offsets;
            }
        }
    }
}
