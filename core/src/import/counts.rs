//! Requests counted by minute or second, and arrivals made of the counts.

use super::build::Draws;
use super::date::{SECOND, rfc3339_nanos, time_of_day};
use super::line::lossy;
use super::lines::{LONGEST_LINE, lines};
use super::number::count;
use super::table::{Role, is_header, role_of, separator_of, split};
use super::{Format, ImportError, MOST_ROWS, Options, Placement, Reason, Rejects, Trace, TraceRow};
use crate::time::{Duration, Instant};
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

/// How far from the first bin another may lie, in bins: five weeks of seconds.
const FARTHEST_BIN: u64 = 3_000_000;
const DAY_S: i64 = 86_400;

/// Requests by bins of equal width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Width of a bin: a second, a minute or an hour.
    pub width: Duration,
    /// Requests in each bin, from the first bin on; bins the file leaves out are 0.
    pub counts: Vec<u64>,
    /// Unix time at which the first bin begins, in seconds, if the file has calendar times.
    pub starts_at_unix_s: Option<i64>,
    /// Lines that could not be understood.
    pub rejects: Rejects,
}

/// Reads counts: `minute,requests` (the minute a number, `21:42` or a date and time; likewise `second`, `hour`), or
/// one count a line and second.
///
/// # Errors
/// [`ImportError::NoRows`] if no line could be understood.
pub fn parse_counts(bytes: &[u8]) -> Result<Counts, ImportError> {
    let mut layout: Option<Layout> = None;
    let mut rejects = Rejects::default();
    let mut bins: Vec<(i64, u64)> = Vec::new();
    for line in lines(bytes) {
        if line.text.len() > LONGEST_LINE {
            rejects.add(line.number, Reason::TooLong);
            continue;
        }
        let layout = match layout.as_mut() {
            Some(layout) => layout,
            None if is_header(line.text) => {
                layout = Some(Layout::from_header(line.text)?);
                continue;
            }
            None => layout.insert(Layout::from_first_line(line.text)),
        };
        match layout.read(line.text) {
            Ok((bin, _)) if bins.first().is_some_and(|&(first, _)| first.abs_diff(bin) > FARTHEST_BIN) => {
                rejects.add(line.number, Reason::NoTime);
            }
            Ok(counted) => bins.push(counted),
            Err(reason) => rejects.add(line.number, reason),
        }
    }
    let (Some(layout), Some(first)) = (layout, bins.iter().map(|&(bin, _)| bin).min()) else {
        return Err(ImportError::NoRows(rejects.first.first().copied()));
    };
    let last = bins.iter().map(|&(bin, _)| bin).max().unwrap_or(first);
    let mut counts = vec![0u64; first.abs_diff(last) as usize + 1];
    for (bin, n) in bins {
        let slot = &mut counts[first.abs_diff(bin) as usize];
        *slot = slot.saturating_add(n);
    }
    Ok(Counts {
        width: Duration::from_secs(layout.width_s.unsigned_abs()),
        counts,
        starts_at_unix_s: layout.calendar.then_some(first.saturating_mul(layout.width_s)),
        rejects,
    })
}

/// Where bin and count stand in a line.
struct Layout {
    separator: u8,
    // None: lines are bins.
    bin: Option<usize>,
    count: usize,
    width_s: i64,
    calendar: bool,
    // Lines read so far.
    lines: i64,
    // The last time of day and the days passed, for files that run past midnight.
    last_s: i64,
    days: i64,
}

impl Layout {
    fn new(separator: u8, bin: Option<(usize, i64)>, count: usize) -> Self {
        let (bin, width_s) = bin.map_or((None, 1), |(column, width)| (Some(column), width));
        Self { separator, bin, count, width_s, calendar: false, lines: 0, last_s: 0, days: 0 }
    }

    fn from_header(line: &[u8]) -> Result<Self, ImportError> {
        let separator = separator_of(line);
        let roles: Vec<Option<Role>> = split(line, separator).iter().map(|v| role_of(&lossy(v))).collect();
        let bin = roles.iter().enumerate().find_map(|(column, role)| match role {
            Some(Role::Bin(width_s)) => Some((column, *width_s)),
            _ => None,
        });
        let count =
            roles.iter().position(|role| *role == Some(Role::Count)).ok_or(ImportError::NoTimeColumn)?;
        Ok(Self::new(separator, bin, count))
    }

    /// Without header: one value is a count a second, two are minute and count.
    fn from_first_line(line: &[u8]) -> Self {
        let separator = separator_of(line);
        match split(line, separator).len() {
            1 => Self::new(separator, None, 0),
            _ => Self::new(separator, Some((0, 60)), 1),
        }
    }

    /// Reads bin number and count. A line that cannot be read still takes its second where lines are bins.
    fn read(&mut self, line: &[u8]) -> Result<(i64, u64), Reason> {
        let number = self.lines;
        self.lines += 1;
        let values = split(line, self.separator);
        let bin = match self.bin {
            None => number,
            Some(column) => values.get(column).and_then(|v| self.bin_number(v)).ok_or(Reason::NoTime)?,
        };
        let count = values.get(self.count).and_then(|v| count(v)).ok_or(Reason::NoCount)?;
        Ok((bin, count))
    }

    fn bin_number(&mut self, text: &[u8]) -> Option<i64> {
        if let Some(number) = count(text) {
            return i64::try_from(number).ok();
        }
        if let Some(second) = time_of_day(text) {
            // Midnight passed if the clock fell by more than half a day.
            self.days += i64::from(second + DAY_S / 2 < self.last_s);
            self.last_s = second;
            return Some((self.days * DAY_S + second).div_euclid(self.width_s));
        }
        let ns = rfc3339_nanos(text)?;
        self.calendar = true;
        Some(ns.div_euclid(SECOND).div_euclid(self.width_s))
    }
}

impl Counts {
    /// Requests in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().fold(0, |sum, &n| sum.saturating_add(n))
    }

    /// The busiest bin, the first of equals: its number and count. `None` if there is no bin.
    #[must_use]
    pub fn peak(&self) -> Option<(usize, u64)> {
        self.counts.iter().copied().enumerate().max_by_key(|&(bin, n)| (n, core::cmp::Reverse(bin)))
    }

    /// Makes arrivals of the counts: evenly within each bin, or a Poisson process of that rate
    /// ([`Placement::Random`]). All rows are labelled `all`.
    ///
    /// With `scale_counts`, rounding is carried from bin to bin, so the total is right to one request.
    ///
    /// # Errors
    /// [`ImportError::TooManyRows`]; [`ImportError::NoRows`] if there is nothing in the bins.
    pub fn expand(&self, options: &Options<'_>) -> Result<Trace, ImportError> {
        let scale = options.scale_counts.unwrap_or(1.0);
        let scale = if scale >= 0.0 && scale.is_finite() { scale } else { 0.0 };
        let most = options.most_rows.unwrap_or(MOST_ROWS);
        if self.total() as f64 * scale > most as f64 {
            return Err(ImportError::TooManyRows { most });
        }
        let placement = options.placement.unwrap_or(Placement::Even);
        let arrivals = match placement {
            Placement::Random { .. } => self.poisson(scale, placement, most)?,
            _ => self.in_bins(scale, placement),
        };
        if arrivals.is_empty() {
            return Err(ImportError::NoRows(self.rejects.first.first().copied()));
        }
        let rows =
            arrivals.into_iter().map(|at| TraceRow { at, label: 0, service: None, bytes: None }).collect();
        let how = match placement {
            Placement::AtStart => "all at the beginning of its bin",
            Placement::Even => "spread evenly over its bin",
            Placement::Random { .. } => "a Poisson process of that rate (so their number differs by chance)",
        };
        Ok(Trace {
            rows,
            labels: vec!["all".to_string()],
            rejects: self.rejects.clone(),
            format: Format::Counts,
            starts_at_unix_s: self.starts_at_unix_s,
            out_of_order: 0,
            placed: Some(placement),
            notes: vec![alloc::format!("arrivals are made of counts: {how}")],
        })
    }

    fn in_bins(&self, scale: f64, placement: Placement) -> Vec<Instant> {
        let width = self.width.as_nanos();
        let mut draws = Draws::new(placement);
        let mut arrivals = Vec::new();
        let (mut counted, mut made) = (0.0, 0u64);
        for (bin, &n) in (0u64..).zip(&self.counts) {
            counted += n as f64 * scale;
            let due = libm::round(counted) as u64;
            let start = Instant::from_nanos(bin.saturating_mul(width));
            draws.place(width, due - made, |_, offset| arrivals.push(start + Duration::from_nanos(offset)));
            made = due;
        }
        arrivals
    }

    /// A Poisson process whose rate is constant within each bin: a unit-rate process on the scale of requests expected
    /// so far, carried back to time.
    fn poisson(&self, scale: f64, placement: Placement, most: usize) -> Result<Vec<Instant>, ImportError> {
        let width = self.width.as_nanos();
        let mut draws = Draws::new(placement);
        let mut exponential = || -libm::log(1.0 - draws.draw().get());
        let mut arrivals = Vec::new();
        let mut until_next = exponential();
        for (bin, &n) in (0u64..).zip(&self.counts) {
            let expected = n as f64 * scale;
            let mut passed = 0.0;
            while passed + until_next < expected {
                passed += until_next;
                until_next = exponential();
                let offset = (passed / expected * width as f64) as u64;
                arrivals.push(Instant::from_nanos(bin.saturating_mul(width).saturating_add(offset)));
                if arrivals.len() > most {
                    return Err(ImportError::TooManyRows { most });
                }
            }
            until_next -= expected - passed;
        }
        Ok(arrivals)
    }
}
