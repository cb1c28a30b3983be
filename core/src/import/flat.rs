//! The rows of a trace as flat bytes: read in one place, played in another.
//!
//! The page has logs read by the module for programs and plays them in its own workers; the bytes go from one to the
//! other as they are. They hold what a run needs, so no sizes. Whole numbers, little end first:
//!
//! - [`MARK`], the number of labels (4 bytes), the number of rows (4);
//! - a label: its length (4), its text;
//! - a row: arrival in nanoseconds (8), service time in nanoseconds or 0 (8), label (2), 1 if the service time is
//!   known or else 0 (2). By arrival.

use super::TraceRow;
use crate::time::{Duration, Instant};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// What it begins with: the last digit is the version of the layout.
const MARK: [u8; 8] = *b"tg-rows1";
/// Bytes of a row.
const ROW: usize = 20;

/// What a run needs of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// The requests, by arrival; of no size.
    pub rows: Vec<TraceRow>,
    /// What the rows' labels stand for.
    pub labels: Vec<String>,
}

/// Bytes that are not what [`encode`] writes; of another version, say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlatError;

impl fmt::Display for FlatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no rows of a trace, or those of another version")
    }
}

impl core::error::Error for FlatError {}

/// Writes rows and the labels they refer to.
#[must_use]
pub fn encode(rows: &[TraceRow], labels: &[String]) -> Vec<u8> {
    let texts: usize = labels.iter().map(|label| 4 + label.len()).sum();
    let mut out = Vec::with_capacity(MARK.len() + 8 + texts + rows.len() * ROW);
    let count = |out: &mut Vec<u8>, n: usize| out.extend((n as u32).to_le_bytes());
    out.extend(MARK);
    count(&mut out, labels.len());
    count(&mut out, rows.len());
    for label in labels {
        count(&mut out, label.len());
        out.extend(label.as_bytes());
    }
    for row in rows {
        out.extend(row.at.as_nanos().to_le_bytes());
        out.extend(row.service.map_or(0, Duration::as_nanos).to_le_bytes());
        out.extend(row.label.to_le_bytes());
        out.extend(u16::from(row.service.is_some()).to_le_bytes());
    }
    out
}

/// Reads what [`encode`] wrote.
///
/// # Errors
/// [`FlatError`] if the bytes are anything else: cut short or too long, with a row before its predecessor or of a label
/// that is not there.
pub fn decode(bytes: &[u8]) -> Result<Rows, FlatError> {
    read(bytes).ok_or(FlatError)
}

fn read(bytes: &[u8]) -> Option<Rows> {
    let mut rest = bytes.strip_prefix(&MARK)?;
    let (count, rows) = (number(&mut rest)?, number(&mut rest)?);
    // Nothing is reserved for labels: their number is only said.
    let mut labels = Vec::new();
    for _ in 0..count {
        let length = number(&mut rest)?;
        let (label, after) = rest.split_at_checked(length)?;
        labels.push(core::str::from_utf8(label).ok()?.to_owned());
        rest = after;
    }
    let (each, []) = rest.as_chunks::<ROW>() else { return None };
    if each.len() != rows {
        return None;
    }
    let rows = each.iter().map(|bytes| row(bytes, labels.len())).collect::<Option<Vec<_>>>()?;
    rows.is_sorted_by_key(|row| row.at).then_some(Rows { rows, labels })
}

/// Takes a count from the front.
fn number(rest: &mut &[u8]) -> Option<usize> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    usize::try_from(u32::from_le_bytes(*bytes)).ok()
}

fn row(bytes: &[u8; ROW], labels: usize) -> Option<TraceRow> {
    let (at, rest) = bytes.split_first_chunk()?;
    let (service, rest) = rest.split_first_chunk()?;
    let (label, rest) = rest.split_first_chunk()?;
    let (timed, _) = rest.split_first_chunk()?;
    let service = Duration::from_nanos(u64::from_le_bytes(*service));
    let service = match u16::from_le_bytes(*timed) {
        0 => None,
        1 => Some(service),
        _ => return None,
    };
    let label = u16::from_le_bytes(*label);
    let at = Instant::from_nanos(u64::from_le_bytes(*at));
    (usize::from(label) < labels).then_some(TraceRow { at, label, service, bytes: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{Options, parse_trace};
    use alloc::vec;

    const LOG: &[u8] = b"192.0.2.7 - - [10/Oct/2025:13:55:36 +0000] \"GET /a.html HTTP/1.1\" 200 2326\n\
        192.0.2.8 - - [10/Oct/2025:13:55:36 +0000] \"GET /b.png HTTP/1.1\" 200 12\n\
        192.0.2.8 - - [10/Oct/2025:13:58:01 +0000] \"POST /cgi-bin/c HTTP/1.1\" 200 -\n";
    const TABLE: &[u8] = "t_s,class,service_s,bytes\n0.25,页,0.001,7\n0.25,a,,\n3,页,0,90\n".as_bytes();
    const COUNTS: &[u8] = b"minute,requests\n1,40\n2,0\n3,17\n";

    fn trace(text: &[u8]) -> (Vec<TraceRow>, Vec<String>) {
        let trace = parse_trace(text, &Options::to_play()).expect("a trace");
        (trace.rows, trace.labels)
    }

    /// Checks that the rows come back as they are but for their sizes.
    fn check(mut rows: Vec<TraceRow>, labels: Vec<String>) {
        let flat = encode(&rows, &labels);
        rows.iter_mut().for_each(|row| row.bytes = None);
        assert_eq!(decode(&flat), Ok(Rows { rows, labels }));
    }

    #[test]
    fn logs_tables_and_counts_come_back() {
        for text in [LOG, TABLE, COUNTS] {
            let (rows, labels) = trace(text);
            check(rows, labels);
        }
    }

    #[test]
    fn the_farthest_times_are_exact() {
        let row = |at, service| TraceRow { at, label: 1, service, bytes: None };
        let far = Instant::from_nanos(u64::MAX);
        let rows = vec![
            row(Instant::START, Some(Duration::from_nanos(u64::MAX))),
            row(Instant::from_nanos((1 << 53) + 1), Some(Duration::from_nanos(0))),
            row(far, None),
        ];
        check(rows, vec![String::new(), "b".to_owned()]);
        check(Vec::new(), Vec::new());
    }

    #[test]
    fn what_is_cut_short_or_changed_is_refused() {
        let (rows, labels) = trace(TABLE);
        let flat = encode(&rows, &labels);
        for end in 0..flat.len() {
            assert_eq!(decode(&flat[..end]), Err(FlatError), "the first {end} bytes");
        }
        let with = |from_end: usize, byte: u8| {
            let mut flat = flat.clone();
            let at = flat.len() - from_end;
            flat[at] = byte;
            decode(&flat)
        };
        assert!(with(1, 0).is_ok(), "nothing is changed");
        for (from_end, byte, what) in [
            (2, 2, "whether a time is known"),
            (4, 9, "a label that is not there"),
            (3 * ROW - 7, 1, "a row before the one before"),
            (flat.len() - 7, b'9', "another version"),
            (flat.len() - 11, 9, "more labels than there are"),
            (flat.len() - 12, 4, "more rows than there are"),
            (flat.len() - 20, 0xFF, "a label that is no text"),
        ] {
            assert_eq!(with(from_end, byte), Err(FlatError), "{what}");
        }
        assert_eq!(decode(&[&flat[..], &[0]].concat()), Err(FlatError), "a byte too many");
    }
}
