//! Plain tables of requests: values with separators, or JSON lines whose keys are the columns.
//!
//! Columns are known by name, their unit by the end of the name: `t_s`, `end_ms`, `service_us`, `bytes`, `class`,
//! `context_tokens`. Without header they are `t_s, class, service_s, bytes, status`. Numbers are read as decimals,
//! so that no nanosecond is lost in a float.

use super::build::{Builder, Row, Stamps};
use super::date::{SECOND, rfc3339_nanos, time_of_day};
use super::line::lossy;
use super::lines::{LONGEST_LINE, lines};
use super::number::{count, nanos, whole_digits};
use super::{Format, ImportError, Options, Reason, TokenModel, Trace};
use crate::json;
use crate::time::Duration;
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Time of arrival, in units of so many nanoseconds; `None`: the digits tell.
    Start(Option<i64>),
    /// Time of the answer.
    End(Option<i64>),
    /// Time it took.
    Service(Option<i64>),
    Bytes,
    /// Name of a class; the lower number wins if there are several such columns.
    Label(u8),
    InputTokens,
    OutputTokens,
    /// A bin of so many seconds.
    Bin(i64),
    /// Requests in a bin.
    Count,
}

/// What a column of this name holds; `None` for what is of no use.
pub(super) fn role_of(name: &str) -> Option<Role> {
    let name: String = name
        .trim()
        .chars()
        .map(|c| if matches!(c, ' ' | '-' | '.') { '_' } else { c.to_ascii_lowercase() })
        .collect();
    let units = [
        ("_s", SECOND),
        ("_sec", SECOND),
        ("_secs", SECOND),
        ("_seconds", SECOND),
        ("_ms", 1_000_000),
        ("_us", 1_000),
        ("_ns", 1),
    ];
    let suffixed = units.iter().find_map(|&(end, unit)| Some((name.strip_suffix(end)?, unit)));
    let (base, unit) = suffixed.map_or((name.as_str(), None), |(base, unit)| (base, Some(unit)));
    let base = base.strip_suffix("_utc").or_else(|| base.strip_suffix("_gmt")).unwrap_or(base);
    Some(match base {
        "t" | "ts" | "at" | "time" | "timestamp" | "datetime" | "start" | "start_time" | "starttime"
        | "start_timestamp" | "arrival" | "arrival_time" | "arrived" | "arrived_at" | "begin" => {
            Role::Start(unit)
        }
        "end" | "end_time" | "endtime" | "end_timestamp" | "finish" | "finished" | "finished_at"
        | "completed_at" | "completion" | "completion_time" => Role::End(unit),
        "service" | "service_time" | "duration" | "exec" | "exec_time" | "execution" | "execution_time"
        | "runtime" | "elapsed" | "latency" | "response_time" | "time_taken" | "took" => Role::Service(unit),
        "bytes" | "size" | "bytes_sent" | "body_bytes_sent" | "response_bytes" | "response_size" => {
            Role::Bytes
        }
        "class" => Role::Label(0),
        "label" => Role::Label(1),
        "kind" | "type" => Role::Label(2),
        "function" | "func" | "model" | "app" | "application" | "endpoint" | "route" => Role::Label(3),
        "method" => Role::Label(4),
        "context_tokens" | "contexttokens" | "input_tokens" | "inputtokens" | "prompt_tokens"
        | "prompttokens" | "request_tokens" => Role::InputTokens,
        "generated_tokens" | "generatedtokens" | "output_tokens" | "outputtokens" | "completion_tokens"
        | "response_tokens" => Role::OutputTokens,
        "second" => Role::Bin(1),
        "minute" => Role::Bin(60),
        "hour" => Role::Bin(3_600),
        "requests" | "count" | "counts" | "arrivals" | "invocations" | "hits" => Role::Count,
        _ => return None,
    })
}

/// Which byte separates the values of a line.
pub(super) fn separator_of(line: &[u8]) -> u8 {
    [b'\t', b',', b';'].into_iter().find(|separator| line.contains(separator)).unwrap_or(b' ')
}

/// Cuts a line at its separators; a value may stand in double quotes.
pub(super) fn split(line: &[u8], separator: u8) -> Vec<Cow<'_, [u8]>> {
    let mut values = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_ascii_start_unless(separator);
        let (value, after) = match rest.strip_prefix(b"\"").and_then(closing_quote) {
            Some((value, after)) => (value, after),
            None => rest.split_at(rest.iter().position(|&b| b == separator).unwrap_or(rest.len())),
        };
        values.push(Cow::Borrowed(value.trim_ascii()));
        // What stands between a closing quote and the separator is left out.
        match after.iter().position(|&b| b == separator) {
            Some(at) => rest = &after[at + 1..],
            None => return values,
        }
    }
}

/// Splits at the quote that ends a value; a doubled quote is part of the value.
fn closing_quote(inside: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut at = 0;
    loop {
        at += inside[at..].iter().position(|&b| b == b'"')?;
        if inside.get(at + 1) != Some(&b'"') {
            return Some((&inside[..at], &inside[at + 1..]));
        }
        at += 2;
    }
}

trait TrimUnless {
    fn trim_ascii_start_unless(&self, separator: u8) -> &[u8];
}

impl TrimUnless for [u8] {
    /// Leaves out leading blanks, but for a tab that separates.
    fn trim_ascii_start_unless(&self, separator: u8) -> &[u8] {
        if separator == b'\t' { self } else { self.trim_ascii_start() }
    }
}

/// Whether a value can stand in a column of data, as opposed to a header.
fn is_data(value: &[u8]) -> bool {
    nanos(value, 1).is_some() || rfc3339_nanos(value).is_some() || time_of_day(value).is_some()
}

/// Whether the first line is a header.
pub(super) fn is_header(first: &[u8]) -> bool {
    let values = split(first, separator_of(first));
    !values.iter().any(|value| is_data(value)) && values.iter().any(|value| role_of(&lossy(value)).is_some())
}

/// What kind of table begins with this line; `None` if it is like none.
pub(super) fn detect(first: &[u8]) -> Option<Format> {
    let values = split(first, separator_of(first));
    if is_header(first) {
        let roles: Vec<Role> = values.iter().filter_map(|value| role_of(&lossy(value))).collect();
        let has = |wanted: fn(&Role) -> bool| roles.iter().any(wanted);
        if has(|r| matches!(r, Role::Count)) && !has(|r| matches!(r, Role::Start(_) | Role::End(_))) {
            return Some(Format::Counts);
        }
        return Some(Format::Table);
    }
    match &values[..] {
        [value] if count(value).is_some() => Some(Format::Counts),
        [bin, value] if time_of_day(bin).is_some() && count(value).is_some() => Some(Format::Counts),
        [time, ..] if nanos(time, 1).is_some() || rfc3339_nanos(time).is_some() => Some(Format::Table),
        _ => None,
    }
}

/// Where the columns of use are.
struct Columns {
    time: usize,
    at_end: bool,
    // Nanoseconds a unit, once known.
    time_unit: Option<i64>,
    service: Option<(usize, i64)>,
    bytes: Option<usize>,
    label: Option<usize>,
    tokens: Option<(usize, usize)>,
}

impl Columns {
    fn new(names: &[String], options: &Options<'_>, notes: &mut Vec<String>) -> Result<Self, ImportError> {
        let roles: Vec<Option<Role>> = names.iter().map(|name| role_of(name)).collect();
        let first = |wanted: fn(Role) -> bool| roles.iter().position(|role| role.is_some_and(wanted));
        let start = first(|r| matches!(r, Role::Start(_)));
        let time = start.or_else(|| first(|r| matches!(r, Role::End(_)))).ok_or(ImportError::NoTimeColumn)?;
        let unit = |column: usize| match roles[column] {
            Some(Role::Start(unit) | Role::End(unit) | Role::Service(unit)) => unit,
            _ => None,
        };
        let told = options.durations.map(|d| d.unit.nanos());
        let service = first(|r| matches!(r, Role::Service(_)));
        if let Some(column) = service.filter(|&column| unit(column).or(told).is_none()) {
            let name = &names[column];
            notes.push(alloc::format!(
                "column `{name}` is not used, since it names no unit (such as `{name}_ms`)"
            ));
        }
        let service = service.and_then(|column| Some((column, unit(column).or(told)?)));
        let at_end = start.is_none() || options.durations.is_some_and(|d| d.stamped_at_end);
        let label_rank =
            |column: &usize| if let Some(Role::Label(rank)) = roles[*column] { rank } else { u8::MAX };
        let label = (0..names.len()).filter(|c| label_rank(c) < u8::MAX).min_by_key(label_rank);
        let input = first(|r| r == Role::InputTokens);
        let tokens = input.and_then(|input| Some((input, first(|r| r == Role::OutputTokens)?)));
        let bytes = first(|r| r == Role::Bytes);
        Ok(Self { time, at_end, time_unit: unit(time), service, bytes, label, tokens })
    }

    /// The columns of a table without header.
    fn without_header() -> Self {
        Self {
            time: 0,
            at_end: false,
            time_unit: None,
            service: Some((2, SECOND)),
            bytes: Some(3),
            label: Some(1),
            tokens: None,
        }
    }

    /// Reads the time of a row, and whether it is of the calendar. The first numeric time settles the unit of all.
    fn time(&mut self, values: &[Cow<'_, [u8]>]) -> Result<(i64, bool), Reason> {
        let text: &[u8] = values.get(self.time).ok_or(Reason::NoTime)?;
        if let Some(ns) = rfc3339_nanos(text) {
            return Ok((ns, true));
        }
        let unit = self.time_unit.unwrap_or_else(|| match whole_digits(text) {
            13 => 1_000_000,
            16 => 1_000,
            19 => 1,
            _ => SECOND,
        });
        let ns = nanos(text, unit).ok_or(Reason::NoTime)?;
        self.time_unit = Some(unit);
        // After September 2001 it is a time since 1970; nobody records 31 years from a start of their own.
        Ok((ns, ns >= 1_000_000_000 * SECOND))
    }

    fn service(
        &self,
        values: &[Cow<'_, [u8]>],
        model: Option<TokenModel>,
    ) -> Result<Option<Duration>, Reason> {
        if let Some((column, unit)) = self.service {
            return match value_at(values, Some(column)) {
                None => Ok(None),
                // Below zero means: never served.
                Some(text) => nanos(text, unit)
                    .map(|ns| u64::try_from(ns).ok().map(Duration::from_nanos))
                    .ok_or(Reason::NoDuration),
            };
        }
        let Some((input, output)) = self.tokens else { return Ok(None) };
        let tokens = |column| value_at(values, Some(column)).and_then(count).ok_or(Reason::NoTokens);
        let (input, output) = (tokens(input)? as f64, tokens(output)? as f64);
        Ok(model.map(|m| Duration::from_secs_f64(m.base_s + m.input_s * input + m.output_s * output)))
    }

    /// Reads a row, and whether its time is of the calendar.
    fn row<'a>(
        &mut self,
        values: &'a [Cow<'_, [u8]>],
        model: Option<TokenModel>,
    ) -> Result<(Row<'a>, bool), Reason> {
        let (at_ns, calendar) = self.time(values)?;
        let (service, bytes) = (self.service(values, model)?, self.bytes(values)?);
        let label = value_at(values, self.label).map_or("all".into(), lossy);
        Ok((Row { at_ns, label, service, bytes }, calendar))
    }

    fn bytes(&self, values: &[Cow<'_, [u8]>]) -> Result<Option<u64>, Reason> {
        value_at(values, self.bytes).map(|text| count(text).ok_or(Reason::NoBytes)).transpose()
    }
}

/// A value that is there and neither empty nor `-`.
fn value_at<'a>(values: &'a [Cow<'_, [u8]>], column: Option<usize>) -> Option<&'a [u8]> {
    let value: &[u8] = values.get(column?)?;
    (!value.is_empty() && value != b"-").then_some(value)
}

/// Reads a table or JSON lines.
pub(super) fn parse(bytes: &[u8], format: Format, options: &Options<'_>) -> Result<Trace, ImportError> {
    let mut builder = Builder::new(options);
    let layout = match format {
        Format::JsonLines => Layout::of_objects(bytes),
        _ => Layout::of_table(bytes),
    };
    let mut columns = match &layout.names {
        Some(names) => Columns::new(names, options, &mut builder.notes)?,
        None => Columns::without_header(),
    };
    if columns.tokens.is_some() && columns.service.is_none() && options.tokens.is_none() {
        builder
            .notes
            .push("rows have token counts and no duration; a token model makes service times of them".into());
    }
    let mut stamps = Stamps { calendar: false, whole_seconds: true, at_end: columns.at_end };
    for line in lines(bytes).skip(usize::from(layout.has_header)) {
        let read = layout.values(line.text).and_then(|values| {
            let (row, calendar) = columns.row(&values, options.tokens)?;
            stamps.calendar |= calendar;
            stamps.whole_seconds &= row.at_ns % SECOND == 0;
            Ok(builder.push(line.number, row))
        });
        match read {
            Ok(pushed) => pushed?,
            Err(reason) => builder.rejects.add(line.number, reason),
        }
    }
    builder.finish(format, stamps)
}

/// How the values of a line are told apart.
struct Layout {
    // None: a table without header.
    names: Option<Vec<String>>,
    has_header: bool,
    // None: JSON objects.
    separator: Option<u8>,
}

impl Layout {
    fn of_table(bytes: &[u8]) -> Self {
        let first = lines(bytes).next().map_or(&[][..], |line| line.text);
        let separator = separator_of(first);
        let has_header = is_header(first);
        let names =
            has_header.then(|| split(first, separator).iter().map(|v| lossy(v).into_owned()).collect());
        Self { names, has_header, separator: Some(separator) }
    }

    /// The keys of use among the first objects: other programs may write to the same file, and not every object has
    /// every key.
    fn of_objects(bytes: &[u8]) -> Self {
        let mut names: Vec<String> = Vec::new();
        for line in lines(bytes).take(100) {
            let Some(object) = read_object(line.text) else { continue };
            let new = object.keys().filter(|key| role_of(key).is_some() && !names.contains(key));
            names.extend(new.cloned().collect::<Vec<_>>());
        }
        Self { names: Some(names).filter(|names| !names.is_empty()), has_header: false, separator: None }
    }

    fn values<'a>(&self, line: &'a [u8]) -> Result<Vec<Cow<'a, [u8]>>, Reason> {
        if line.len() > LONGEST_LINE {
            return Err(Reason::TooLong);
        }
        let Some(separator) = self.separator else {
            let object = read_object(line).ok_or(Reason::NoObject)?;
            let names = self.names.as_deref().unwrap_or(&[]);
            return Ok(names.iter().map(|name| Cow::Owned(text_of(object.get(name)))).collect());
        };
        Ok(split(line, separator))
    }
}

fn read_object(line: &[u8]) -> Option<serde_json::Map<String, serde_json::Value>> {
    match json::read_lax(core::str::from_utf8(line).ok()?) {
        Ok(serde_json::Value::Object(object)) if line.len() <= LONGEST_LINE => Some(object),
        _ => None,
    }
}

/// A JSON text or number as it would stand in a table; empty for anything else.
fn text_of(value: Option<&serde_json::Value>) -> Vec<u8> {
    match value {
        Some(serde_json::Value::String(text)) => text.trim().as_bytes().to_vec(),
        Some(serde_json::Value::Number(number)) => number.to_string().into_bytes(),
        _ => Vec::new(),
    }
}
