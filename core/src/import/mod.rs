//! Recorded traffic: what asked, when, and how long it took.
//!
//! [`parse_trace`] reads access logs (Apache Common and Combined, which nginx writes too), plain tables (CSV or
//! JSON lines: `t_s,class,service_s,bytes`), counts per minute or second, and token traces. What a file holds is
//! anyone's guess, so it is read as bytes; a line that cannot be understood is counted with its number and the
//! reason, and the import goes on. Nothing is guessed silently: what was assumed is in [`Trace::notes`].
//!
//! Rows come sorted by arrival, stably. Where only the second (or the bin) of an arrival is known, arrivals are
//! spread over it, because a log that puts 17 requests at `.000` would look like a burst that never was.

mod access;
mod build;
mod contents;
mod counts;
mod date;
pub mod flat;
mod line;
mod lines;
mod number;
mod summary;
mod table;
#[cfg(test)]
mod tests;

pub use contents::Contents;
pub use counts::{Counts, parse_counts};
pub use line::{AccessLine, Prefix, RequestLine, kind_of};
pub use summary::Summary;

use crate::classify::Classifier;
use crate::time::{Duration, Instant};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use date::SECOND;
use lines::{LONGEST_LINE, lines};

/// Most rows a trace may have by default.
pub const MOST_ROWS: usize = 5_000_000;

/// One recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRow {
    /// When it arrived; the first row of a trace is at or soon after [`Instant::START`].
    pub at: Instant,
    /// Index into the labels of its trace.
    pub label: u16,
    /// Time it took to serve, without waiting; `None` if the record does not say.
    pub service: Option<Duration>,
    /// Bytes of the answer; `None` if the record does not say.
    pub bytes: Option<u64>,
}

/// A recorded stretch of traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The requests, by arrival; equal arrivals in the order of the file.
    pub rows: Vec<TraceRow>,
    /// What the rows' labels stand for, in the order of first appearance.
    pub labels: Vec<String>,
    /// Lines that could not be understood.
    pub rejects: Rejects,
    /// What the file was taken for.
    pub format: Format,
    /// Unix time of [`Instant::START`] in seconds, if the file has calendar times.
    pub starts_at_unix_s: Option<i64>,
    /// Lines stamped earlier than the line before them; normal, logs are written in order of completion.
    pub out_of_order: u64,
    /// How arrivals of which only the second or the bin is known were placed; `None` if all were known.
    pub placed: Option<Placement>,
    /// What was assumed and what to look at, as sentences.
    pub notes: Vec<String>,
}

/// What a file can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// `access`: Apache Common or Combined, one request a line.
    Access,
    /// `table`: values separated by comma, tab, semicolon or blank, one request a line, with or without header.
    Table,
    /// `jsonl`: one JSON object a line, one request each; its keys are the columns of a table.
    JsonLines,
    /// `counts`: requests a minute or a second.
    Counts,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Access, Self::Table, Self::JsonLines, Self::Counts];

    /// Stable name, as on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::Table => "table",
            Self::JsonLines => "jsonl",
            Self::Counts => "counts",
        }
    }

    /// The format of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }
}

/// How to read a file. [`Options::default`] reads most.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// What the file is; `None` looks at its first lines.
    pub format: Option<Format>,
    /// What an access log's rows are labelled by.
    pub label_by: LabelBy<'a>,
    /// Where arrivals go of which only the second or the bin is known.
    pub placement: Option<Placement>,
    /// Unit and meaning of the number that follows the known fields of an access log line, and of a table's column
    /// of durations that names no unit. The file does not say, so without this they are not used.
    pub durations: Option<Durations>,
    /// Service times of access log rows without a recorded one; `None` leaves them out.
    pub service: Option<ServiceModel>,
    /// Service times of token traces; `None` leaves them out.
    pub tokens: Option<TokenModel>,
    /// Counts are multiplied by this (0.001 for a thousandth of the traffic); `None` for 1.
    pub scale_counts: Option<f64>,
    /// Most rows; `None` for [`MOST_ROWS`].
    pub most_rows: Option<usize>,
}

impl Options<'_> {
    /// How to read what is to be played at once: times within a second are drawn, the same for the same file, and where
    /// it is not said how long a request took, that follows from its size.
    #[must_use]
    pub fn to_play() -> Self {
        Self {
            placement: Some(Placement::Random { seed: 1 }),
            service: Some(ServiceModel::default()),
            ..Self::default()
        }
    }
}

/// What an access log's rows are labelled by.
#[derive(Clone, Copy, Debug, Default)]
pub enum LabelBy<'a> {
    /// By what the path names: `cgi`, `image`, `media`, `page`; what is no request is `malformed`.
    #[default]
    Kind,
    /// All `all`.
    Single,
    /// By the classes of a scenario. The line's client counts as trusted; of the headers, only `user-agent` and
    /// `referer` are known.
    Classes {
        /// The rules.
        classifier: &'a Classifier,
        /// Class names, by class.
        names: &'a [String],
    },
}

/// Where arrivals go of which only the second or the bin is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// At its beginning, all at once.
    AtStart,
    /// Evenly: k of them at 1/2k, 3/2k, ...
    Even,
    /// Uniformly at random; counts become a Poisson process of that rate.
    Random {
        /// Seed of the draws.
        seed: u64,
    },
}

/// What a duration of unknown unit is: the number after an access log line's known fields, or a column such as
/// `duration`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Durations {
    /// Its unit.
    pub unit: TimeUnit,
    /// Whether the time beside it is that of the answer (nginx) and not of the request (Apache).
    pub stamped_at_end: bool,
}

/// Unit of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// `s`.
    Seconds,
    /// `ms`.
    Millis,
    /// `us`.
    Micros,
    /// `ns`.
    Nanos,
}

impl TimeUnit {
    /// The unit of this name: `s`, `ms`, `us` or `ns`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "s" => Some(Self::Seconds),
            "ms" => Some(Self::Millis),
            "us" => Some(Self::Micros),
            "ns" => Some(Self::Nanos),
            _ => None,
        }
    }

    const fn nanos(self) -> i64 {
        match self {
            Self::Seconds => SECOND,
            Self::Millis => 1_000_000,
            Self::Micros => 1_000,
            Self::Nanos => 1,
        }
    }
}

/// Service time of a request of which only the size is known: `base + bytes / bytes_per_s`, and a fixed time for
/// what a program answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServiceModel {
    /// Time of an empty answer.
    pub base: Duration,
    /// Speed of sending; 0 or less leaves the size out.
    pub bytes_per_s: f64,
    /// Time of a request whose path says `cgi`.
    pub cgi: Duration,
}

impl Default for ServiceModel {
    /// 5 ms + bytes at 1 MB/s; `cgi` takes 200 ms.
    fn default() -> Self {
        Self { base: Duration::from_millis(5), bytes_per_s: 1e6, cgi: Duration::from_millis(200) }
    }
}

impl ServiceModel {
    /// Service time of one request.
    #[must_use]
    pub fn service(&self, is_cgi: bool, bytes: u64) -> Duration {
        if is_cgi {
            return self.cgi;
        }
        if self.bytes_per_s > 0.0 {
            return self.base + Duration::from_secs_f64(bytes as f64 / self.bytes_per_s);
        }
        self.base
    }
}

/// Service time of a request to a language model: `base_s + input_s * input + output_s * output`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenModel {
    /// Seconds for nothing.
    pub base_s: f64,
    /// Seconds an input token.
    pub input_s: f64,
    /// Seconds an output token.
    pub output_s: f64,
}

/// Lines that could not be understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejects {
    /// How many.
    pub count: u64,
    /// The first hundred of them.
    pub first: Vec<Reject>,
}

/// One line that could not be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reject {
    /// Counted from 1.
    pub line: u64,
    /// Why.
    pub reason: Reason,
}

/// Why a line could not be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Longer than 1 MiB.
    TooLong,
    /// No time, or none that exists.
    NoTime,
    /// No client, identity and user before the time.
    NoClient,
    /// No quoted request after the time.
    NoRequest,
    /// No status after the request.
    NoStatus,
    /// No size where one should be.
    NoBytes,
    /// No duration where one should be.
    NoDuration,
    /// No number of tokens where one should be.
    NoTokens,
    /// No count where one should be.
    NoCount,
    /// More than 4,096 different labels, or one longer than 200 bytes.
    Label,
    /// No JSON object.
    NoObject,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "longer than 1 MiB",
            Self::NoTime => "no time",
            Self::NoClient => "no client, identity and user before the time",
            Self::NoRequest => "no quoted request",
            Self::NoStatus => "no status",
            Self::NoBytes => "no size",
            Self::NoDuration => "no duration",
            Self::NoTokens => "no number of tokens",
            Self::NoCount => "no count",
            Self::Label => "too many labels, or one too long",
            Self::NoObject => "no JSON object",
        })
    }
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

/// Why a file gives no trace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImportError {
    /// It is of no known format.
    UnknownFormat,
    /// Its header names no column with times.
    NoTimeColumn,
    /// Not one line could be understood, the first of them being this; or there is no request in it.
    NoRows(Option<Reject>),
    /// It has more rows than are allowed.
    TooManyRows {
        /// Most that are allowed.
        most: usize,
    },
    /// It spans more time than can be told in nanoseconds (292 years).
    TooLong,
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownFormat => f.write_str(
                "no known format: expected an access log, a table with times, JSON lines or counts",
            ),
            Self::NoTimeColumn => f.write_str(
                "no column with times: expected one named t_s, timestamp, start_s, end_s or minute, say",
            ),
            Self::NoRows(Some(reject)) => write!(f, "no line could be read; {reject}"),
            Self::NoRows(None) => f.write_str("there is not one request in the file"),
            Self::TooManyRows { most } => {
                write!(f, "more than {most} rows; take a part of the file, or scale counts down")
            }
            Self::TooLong => f.write_str("the rows span more than 292 years"),
        }
    }
}

impl core::error::Error for ImportError {}

/// Reads recorded traffic.
///
/// # Errors
/// [`ImportError`] if there is not one row to be had, or too many. Lines that cannot be understood are no error but
/// counted in [`Trace::rejects`].
pub fn parse_trace(bytes: &[u8], options: &Options<'_>) -> Result<Trace, ImportError> {
    match options.format.or_else(|| detect(bytes)).ok_or(ImportError::UnknownFormat)? {
        Format::Access => access::parse(bytes, options),
        format @ (Format::Table | Format::JsonLines) => table::parse(bytes, format, options),
        Format::Counts => parse_counts(bytes)?.expand(options),
    }
}

/// Guesses the format of a file from its first lines; `None` if it is like nothing known.
#[must_use]
pub fn detect(bytes: &[u8]) -> Option<Format> {
    let first_lines = || lines(bytes).take(200).filter(|l| l.text.len() <= LONGEST_LINE);
    let first = first_lines().next()?.text;
    if first.starts_with(b"{") {
        return Some(Format::JsonLines);
    }
    if first_lines().any(|line| AccessLine::parse(line.text).is_ok()) {
        return Some(Format::Access);
    }
    table::detect(first)
}
