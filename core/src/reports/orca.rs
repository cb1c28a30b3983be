//! ORCA load reports (Open Request Cost Aggregation), in the headers of a server's answers.
//!
//! Two headers carry them, in four forms; Envoy takes all of them from a server that speaks HTTP/1.1:
//!
//! ```text
//! endpoint-load-metrics: TEXT cpu_utilization=0.3, utilization.net=0.1, named_metrics.rooms=0.2
//! endpoint-load-metrics: JSON {"cpu_utilization": 0.3, "named_metrics": {"rooms": 0.2}}
//! endpoint-load-metrics: BIN CTMzMzMzM9M/
//! endpoint-load-metrics-bin: CTMzMzMzM9M/
//! ```
//!
//! The last two are a protocol buffer in base64. The five loads of paper B, 2.1, are `cpu_utilization`,
//! `mem_utilization`, `utilization.net`, `utilization.disk` and `utilization.rooms` or `named_metrics.rooms`.
//! Other names are somebody else's; their values are checked all the same, as a sender that writes NaN in one place
//! is not to be believed in another.
//!
//! Source: `xds/data/orca/v3/orca_load_report.proto`; gRFC A51 and A58.

use super::protobuf::{Fields, Malformed, Value as Wire};
use super::{BadReport, checked, json_number, json_object, number, set_load};
use crate::balance::LoadReport;
use crate::scenario::v1::ResourceV1;
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use core::fmt::Write as _;
use serde_json::Value;

/// The header with the form named first.
pub const HEADER: &str = "endpoint-load-metrics";
/// The header with a protocol buffer in base64.
pub const HEADER_BIN: &str = "endpoint-load-metrics-bin";
/// The longest value of either header that is read, in bytes.
pub const LONGEST: usize = 8 * 1024;

/// The fields that are maps; in text, a member is `MAP.NAME`.
const MAPS: [&str; 3] = ["request_cost", "utilization", "named_metrics"];

/// Reads a value of [`HEADER`].
///
/// # Errors
/// [`BadReport`]: nothing of it is to be used.
pub fn read(value: &[u8]) -> Result<LoadReport, BadReport> {
    if value.len() > LONGEST {
        return Err(BadReport::TooLong);
    }
    let value = value.trim_ascii();
    let at = value.iter().position(u8::is_ascii_whitespace).unwrap_or(value.len());
    let (form, body) = (&value[..at], value[at..].trim_ascii_start());
    match form {
        b"" => Err(BadReport::Empty),
        b"TEXT" | b"JSON" | b"BIN" if body.is_empty() => Err(BadReport::Empty),
        b"TEXT" => text(core::str::from_utf8(body).map_err(|_| BadReport::NotANumber)?),
        b"JSON" => json(body),
        b"BIN" => binary(body),
        _ => Err(BadReport::UnknownForm),
    }
}

/// Reads a value of [`HEADER_BIN`].
///
/// # Errors
/// [`BadReport`]: nothing of it is to be used.
pub fn read_bin(value: &[u8]) -> Result<LoadReport, BadReport> {
    match value.trim_ascii() {
        b"" => Err(BadReport::Empty),
        value if value.len() > LONGEST => Err(BadReport::TooLong),
        value => binary(value),
    }
}

/// Writes a report as a value of [`HEADER`], in the form that every reader knows; `None` if it says nothing.
#[must_use]
pub fn write(report: &LoadReport) -> Option<String> {
    let [cpu, mem, net, disk, rooms] = report.loads;
    let mut value = String::from("TEXT");
    for (name, number) in [
        ("cpu_utilization", cpu),
        ("mem_utilization", mem),
        ("utilization.net", net),
        ("utilization.disk", disk),
        ("named_metrics.rooms", rooms),
        ("application_utilization", report.application),
        ("rps_fractional", report.requests_per_s),
        ("eps", report.errors_per_s),
    ] {
        if let Some(number) = number.and_then(|number| checked(number).ok()) {
            let comma = if value.len() > "TEXT".len() { "," } else { "" };
            let _ = write!(value, "{comma} {name}={number}");
        }
    }
    (value.len() > "TEXT".len()).then_some(value)
}

/// A report that is being read.
#[derive(Default)]
struct Draft {
    report: LoadReport,
    /// `rps`: whole requests a second, what older senders have.
    whole_rps: Option<f64>,
    /// `named_metrics.rooms`, which may be anything; `utilization.rooms` is a share by its definition and goes first.
    named_rooms: Option<f64>,
}

impl Draft {
    /// Takes the value of a name, as text has it. Names that are not known are somebody else's.
    fn set(&mut self, name: &str, value: f64) -> Result<(), BadReport> {
        let value = checked(value)?;
        let report = &mut self.report;
        match name {
            "cpu_utilization" => set_load(report, ResourceV1::Cpu, value),
            "mem_utilization" => set_load(report, ResourceV1::Mem, value),
            "utilization.net" => set_load(report, ResourceV1::Net, value),
            "utilization.disk" => set_load(report, ResourceV1::Disk, value),
            "utilization.rooms" => set_load(report, ResourceV1::Rooms, value),
            "named_metrics.rooms" => self.named_rooms = Some(value),
            "application_utilization" => report.application = Some(value),
            "rps_fractional" => report.requests_per_s = Some(value),
            "rps" => self.whole_rps = Some(value),
            "eps" => report.errors_per_s = Some(value),
            _ => {
                let member = MAPS.iter().find_map(|map| name.strip_prefix(map)?.strip_prefix('.'));
                if member.unwrap_or(name).is_empty() {
                    return Err(BadReport::EmptyName);
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> LoadReport {
        let Self { mut report, whole_rps, named_rooms } = self;
        let rooms = &mut report.loads[ResourceV1::Rooms as usize];
        *rooms = rooms.or(named_rooms);
        report.requests_per_s = report.requests_per_s.or(whole_rps);
        report
    }
}

/// `name=value, name=value`; older senders have `:` for `=`.
fn text(pairs: &str) -> Result<LoadReport, BadReport> {
    let mut draft = Draft::default();
    let mut names = BTreeSet::new();
    for pair in pairs.split(',') {
        let (name, value) = pair.split_once(['=', ':']).ok_or(BadReport::MissingValue)?;
        let (name, value) = (name.trim(), value.trim());
        if value.is_empty() {
            return Err(BadReport::MissingValue);
        }
        if !names.insert(name) {
            return Err(BadReport::Duplicate);
        }
        draft.set(name, number(value)?)?;
    }
    Ok(draft.finish())
}

/// The JSON form of the protocol buffer: names as in text, or in camel case; maps are objects; `null` says nothing.
fn json(object: &[u8]) -> Result<LoadReport, BadReport> {
    let mut draft = Draft::default();
    for (name, value) in &json_object(object)? {
        let name = snake_case(name);
        match value {
            Value::Null => {}
            Value::Object(members) if MAPS.contains(&&*name) => {
                for (member, value) in members {
                    draft.set(&format!("{name}.{member}"), json_number(value)?)?;
                }
            }
            value => draft.set(&name, json_number(value)?)?,
        }
    }
    Ok(draft.finish())
}

/// `cpu_utilization` of `cpuUtilization`.
fn snake_case(name: &str) -> Cow<'_, str> {
    if !name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len() + 2);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    Cow::Owned(out)
}

fn binary(value: &[u8]) -> Result<LoadReport, BadReport> {
    message(&super::base64::decode(value).ok_or(BadReport::BadBase64)?)
}

/// `xds.data.orca.v3.OrcaLoadReport`. Unknown fields are passed over, and of one that is there twice the last counts,
/// as with every protocol buffer.
fn message(bytes: &[u8]) -> Result<LoadReport, BadReport> {
    let mut draft = Draft::default();
    for field in Fields::new(bytes) {
        match field.map_err(malformed)? {
            (1, Wire::Double(value)) => draft.set("cpu_utilization", value)?,
            (2, Wire::Double(value)) => draft.set("mem_utilization", value)?,
            (3, Wire::Varint(value)) => draft.set("rps", value as f64)?,
            (6, Wire::Double(value)) => draft.set("rps_fractional", value)?,
            (7, Wire::Double(value)) => draft.set("eps", value)?,
            (9, Wire::Double(value)) => draft.set("application_utilization", value)?,
            (4, Wire::Bytes(entry)) => member(&mut draft, "request_cost", entry)?,
            (5, Wire::Bytes(entry)) => member(&mut draft, "utilization", entry)?,
            (8, Wire::Bytes(entry)) => member(&mut draft, "named_metrics", entry)?,
            _ => {}
        }
    }
    Ok(draft.finish())
}

/// An entry of a map: the name is field 1, the value field 2, 0 if left out.
fn member(draft: &mut Draft, map: &str, entry: &[u8]) -> Result<(), BadReport> {
    let (mut name, mut number) = ("", 0.0);
    for field in Fields::new(entry) {
        match field.map_err(malformed)? {
            (1, Wire::Bytes(text)) => {
                name = core::str::from_utf8(text).map_err(|_| BadReport::BadProtobuf)?;
            }
            (2, Wire::Double(value)) => number = value,
            _ => {}
        }
    }
    draft.set(&[map, name].join("."), number)
}

const fn malformed(_: Malformed) -> BadReport {
    BadReport::BadProtobuf
}

#[cfg(test)]
mod tests {
    use super::super::noise;
    use super::*;
    use alloc::vec::Vec;

    #[track_caller]
    fn check(value: &str, want: Result<LoadReport, BadReport>) {
        assert_eq!(read(value.as_bytes()), want, "{value}");
    }

    fn cpu(load: f64) -> LoadReport {
        LoadReport { loads: [Some(load), None, None, None, None], ..LoadReport::default() }
    }

    /// What the reports of case 35 say, whatever their form.
    fn busy() -> LoadReport {
        LoadReport {
            loads: [Some(0.7), Some(0.9), None, None, None],
            application: Some(0.8),
            requests_per_s: Some(1000.0),
            errors_per_s: Some(2.0),
        }
    }

    const BUSY: &str = "TEXT cpu_utilization=0.7,application_utilization=0.8,mem_utilization=0.9,\
        rps_fractional=1000,eps=2,named_metrics.foo=123,named_metrics.bar=0.2";

    #[test]
    fn case_35_good_reports_are_read_to_the_number() {
        check(BUSY, Ok(busy()));
        check(&BUSY.replace('=', ":"), Ok(busy()));
        check(&BUSY.replace(',', ", "), Ok(busy()));
        check(&BUSY.replace(',', " ,\t"), Ok(busy()));
        check("JSON {\"cpu_utilization\":0.3}", Ok(cpu(0.3)));
        check("TEXT cpu_utilization=0", Ok(cpu(0.0)));
    }

    #[test]
    fn case_35_bad_reports_are_rejected_whole() {
        for (value, want) in [
            ("BADBAD x", BadReport::UnknownForm),
            ("cpu_utilization=0.3", BadReport::UnknownForm),
            ("text cpu_utilization=0.3", BadReport::UnknownForm),
            ("TEXTcpu_utilization=0.3", BadReport::UnknownForm),
            ("", BadReport::Empty),
            ("  ", BadReport::Empty),
            ("TEXT", BadReport::Empty),
            ("TEXT ", BadReport::Empty),
            ("JSON ", BadReport::Empty),
            ("BIN ", BadReport::Empty),
            ("TEXT cpu_utilization=\"0.7\"", BadReport::NotANumber),
            ("TEXT cpu_utilization=0.1,cpu_utilization=0.2", BadReport::Duplicate),
            ("TEXT cpu_utilization=0.1,x=1,x:2", BadReport::Duplicate),
            ("TEXT cpu_utilization=NaN", BadReport::NotFinite),
            ("TEXT cpu_utilization=inf", BadReport::NotFinite),
            ("TEXT cpu_utilization=-1", BadReport::Negative),
            ("TEXT cpu_utilization=0.1,named_metrics.=1", BadReport::EmptyName),
            ("TEXT =1", BadReport::EmptyName),
            ("TEXT cpu_utilization=", BadReport::MissingValue),
            ("TEXT cpu_utilization", BadReport::MissingValue),
            ("TEXT cpu_utilization=0.1,", BadReport::MissingValue),
            ("TEXT cpu_utilization=0.1,named_metrics.q=-1", BadReport::Negative),
            ("TEXT cpu_utilization=0.1,q=x", BadReport::NotANumber),
            ("JSON {\"cpu_utilization\":0.1", BadReport::BadJson),
            ("JSON [0.1]", BadReport::BadJson),
            ("JSON {\"cpu_utilization\":0.1,\"cpu_utilization\":0.2}", BadReport::Duplicate),
            ("JSON {\"cpu_utilization\":0.1,\"named_metrics\":{\"\":1}}", BadReport::EmptyName),
            ("JSON {\"cpu_utilization\":0.1,\"named_metrics\":{\"q\":true}}", BadReport::NotANumber),
            ("JSON {\"cpu_utilization\":0.1,\"eps\":-2}", BadReport::Negative),
            ("JSON {\"cpu_utilization\":\"Infinity\"}", BadReport::NotFinite),
            ("BIN CTMzMzMzM9M", BadReport::BadProtobuf),
            ("BIN !", BadReport::BadBase64),
        ] {
            check(value, Err(want));
        }
        let long: String = (0..6_000).map(|i| format!("named_metrics.m{i}=1,")).collect();
        check(&format!("TEXT {long}cpu_utilization=1"), Err(BadReport::TooLong));
    }

    #[test]
    fn the_five_loads_of_paper_b_have_their_names() {
        let five = LoadReport {
            loads: [Some(0.1), Some(0.2), Some(0.3), Some(0.4), Some(0.5)],
            ..LoadReport::default()
        };
        check(
            "TEXT cpu_utilization=0.1,mem_utilization=0.2,utilization.net=0.3,utilization.disk=0.4,\
             named_metrics.rooms=0.5",
            Ok(five),
        );
        check(
            r#"JSON {"cpuUtilization":0.1,"memUtilization":0.2,"rps":null,
            "utilization":{"net":0.3,"disk":0.4,"rooms":0.5},"namedMetrics":{"rooms":12}}"#,
            Ok(five),
        );
    }

    #[test]
    fn whole_requests_a_second_count_where_there_are_no_others() {
        let rate = |rate| LoadReport { requests_per_s: Some(rate), ..LoadReport::default() };
        check("TEXT rps=10", Ok(rate(10.0)));
        check("TEXT rps_fractional=9.5,rps=10", Ok(rate(9.5)));
        check("JSON {\"rps\":\"18446744073709551615\"}", Ok(rate(u64::MAX as f64)));
    }

    /// Fields of a protocol buffer, written the long way.
    fn double(number: u8, value: f64) -> Vec<u8> {
        [&[number << 3 | 1][..], &value.to_le_bytes()].concat()
    }

    fn entry(number: u8, name: &str, value: f64) -> Vec<u8> {
        let content = [&[0x0a, name.len() as u8], name.as_bytes(), &double(2, value)].concat();
        [&[number << 3 | 2, content.len() as u8], &*content].concat()
    }

    #[track_caller]
    fn check_message(fields: &[Vec<u8>], want: Result<LoadReport, BadReport>) {
        assert_eq!(message(&fields.concat()), want, "{fields:x?}");
    }

    #[test]
    fn a_protocol_buffer_says_the_same() {
        let fields = [
            double(1, 0.7),
            double(2, 0.9),
            entry(4, "bytes", 3487.0),
            entry(5, "net", 0.25),
            entry(5, "disk", 0.5),
            double(6, 1000.0),
            double(7, 2.0),
            entry(8, "rooms", 0.75),
            double(9, 0.8),
        ];
        let loads = [Some(0.7), Some(0.9), Some(0.25), Some(0.5), Some(0.75)];
        check_message(&fields, Ok(LoadReport { loads, ..busy() }));
        let later = [alloc::vec![15 << 3, 1], double(14, f64::NAN), double(1, 0.1), double(1, 0.7)];
        check_message(&later, Ok(cpu(0.7)));
        check_message(&[], Ok(LoadReport::default()));
    }

    #[test]
    fn a_bad_protocol_buffer_is_rejected_whole() {
        for (field, want) in [
            (double(2, f64::NAN), BadReport::NotFinite),
            (double(9, -1.0), BadReport::Negative),
            (entry(8, "", 1.0), BadReport::EmptyName),
            (entry(8, "q", f64::INFINITY), BadReport::NotFinite),
            (alloc::vec![0x42, 0x03, 0x0a, 0x01, 0xff], BadReport::BadProtobuf),
            (alloc::vec![0x42, 0x05, 0x0a], BadReport::BadProtobuf),
        ] {
            check_message(&[double(1, 0.7), field], Err(want));
        }
    }

    /// Bytes as a published encoder gives them for `cpu_utilization: 0.3`.
    #[test]
    fn both_headers_take_a_protocol_buffer_in_base64() {
        assert_eq!(read(b"BIN CTMzMzMzM9M/"), Ok(cpu(0.3)));
        assert_eq!(read_bin(b"CTMzMzMzM9M/"), Ok(cpu(0.3)));
        assert_eq!(read_bin(b" "), Err(BadReport::Empty));
        assert_eq!(read_bin(b"TEXT eps=1"), Err(BadReport::BadBase64));
        assert_eq!(read_bin(&[b'A'; LONGEST + 1]), Err(BadReport::TooLong));
    }

    #[test]
    fn what_is_written_is_read_back() {
        let full = LoadReport {
            loads: [Some(0.1), Some(0.0), Some(1e-9), Some(1.5), Some(0.5)],
            application: Some(2.0),
            requests_per_s: Some(1e6 + 0.125),
            errors_per_s: Some(0.0),
        };
        for report in [full, busy(), cpu(1.0 / 3.0)] {
            let value = write(&report).unwrap_or_default();
            assert_eq!(read(value.as_bytes()), Ok(report), "{value}");
        }
        assert_eq!(write(&cpu(0.5)).as_deref(), Some("TEXT cpu_utilization=0.5"));
        assert_eq!(write(&LoadReport::default()), None);
        assert_eq!(write(&cpu(f64::NAN)), None, "what no reader takes is not written");
    }

    #[test]
    fn no_input_breaks_the_reader_or_gets_a_bad_number_through() {
        let binary = [double(1, 0.7), entry(8, "rooms", 0.75), alloc::vec![0x18, 0x96, 0x01]].concat();
        let samples = [
            BUSY.as_bytes(),
            br#"JSON {"cpu_utilization":0.3,"utilization":{"net":1}}"#,
            b"BIN CTMzMzMzM9M/",
        ];
        let sound = |report: Result<LoadReport, BadReport>| {
            let numbers = report.iter().flat_map(|report| {
                let rest = [report.application, report.requests_per_s, report.errors_per_s];
                report.loads.into_iter().chain(rest).flatten()
            });
            numbers.for_each(|number| assert!(number.is_finite() && number >= 0.0, "{number}"));
        };
        noise::feed(&samples, |bytes| {
            sound(read(bytes));
            sound(read_bin(bytes));
        });
        noise::feed(&[&binary], |bytes| sound(message(bytes)));
    }
}
