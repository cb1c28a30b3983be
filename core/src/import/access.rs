//! Access logs, line by line: which class each request is of, and what it cost.

use super::build::{Builder, Row, Stamps};
use super::date::SECOND;
use super::line::{AccessLine, Prefix, RequestLine, kind_of, lossy, path_of};
use super::lines::{LONGEST_LINE, lines};
use super::{Format, ImportError, LabelBy, Options, Reason, Trace, number};
use crate::classify::RequestFacts;
use crate::time::Duration;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::ToString;
use core::net::{IpAddr, Ipv4Addr};

pub(super) fn parse(bytes: &[u8], options: &Options<'_>) -> Result<Trace, ImportError> {
    let mut builder = Builder::new(options);
    let mut unexplained = 0u64;
    for line in lines(bytes) {
        match read_row(line.text, options, &mut unexplained) {
            Ok(row) => builder.push(line.number, row)?,
            Err(reason) => builder.rejects.add(line.number, reason),
        }
    }
    if unexplained > 0 {
        builder.notes.push(format!(
            "{unexplained} lines have a number after the known fields; it is not used, since the line does not say \
             whether it is a duration, in which unit"
        ));
    }
    if options.durations.is_none()
        && let Some(model) = options.service
    {
        builder.notes.push(format!(
            "service times are a model: {} s + size at {} B/s; cgi {} s",
            model.base.as_secs_f64(),
            model.bytes_per_s,
            model.cgi.as_secs_f64()
        ));
    }
    let at_end = options.durations.is_some_and(|d| d.stamped_at_end);
    builder.finish(Format::Access, Stamps { calendar: true, whole_seconds: true, at_end })
}

/// Reads a line; counts numbers that may be durations and cannot be used.
fn read_row(text: &[u8], options: &Options<'_>, unexplained: &mut u64) -> Result<Row<'static>, Reason> {
    if text.len() > LONGEST_LINE {
        return Err(Reason::TooLong);
    }
    let line = AccessLine::parse(text)?;
    let at_ns = line.unix_s.checked_mul(SECOND).ok_or(Reason::NoTime)?;
    let request = line.request_line();
    let number = line.rest.split(|&b| b == b' ').next().unwrap_or(&[]);
    let service = if let Some(durations) = options.durations {
        let recorded = number::nanos(number, durations.unit.nanos());
        recorded.and_then(|ns| u64::try_from(ns).ok()).map(Duration::from_nanos)
    } else {
        *unexplained += u64::from(number::nanos(number, 1).is_some());
        let is_cgi = request.is_some_and(|r| kind_of(r.target) == "cgi");
        options.service.map(|model| model.service(is_cgi, line.bytes))
    };
    let label = label_of(&line, request, options.label_by);
    Ok(Row { at_ns, label, service, bytes: Some(line.bytes) })
}

fn label_of<'a>(
    line: &AccessLine<'a>,
    request: Option<RequestLine<'a>>,
    by: LabelBy<'_>,
) -> Cow<'static, str> {
    match by {
        LabelBy::Single => "all".into(),
        LabelBy::Kind => request.map_or("malformed", |r| kind_of(r.target)).into(),
        LabelBy::Classes { classifier, names } => {
            let class = classifier.classify(&LineFacts::new(line, request), true).class;
            match names.get(usize::from(class.0)) {
                Some(name) => name.clone().into(),
                None => class.0.to_string().into(),
            }
        }
    }
}

/// What an access log line tells a classifier.
struct LineFacts<'a> {
    path: Cow<'a, str>,
    host: Cow<'a, str>,
    method: &'a str,
    referer: Option<&'a [u8]>,
    user_agent: Option<&'a [u8]>,
    client: IpAddr,
}

impl<'a> LineFacts<'a> {
    fn new(line: &AccessLine<'a>, request: Option<RequestLine<'a>>) -> Self {
        let host = match line.prefix {
            Prefix::Host(host) => lossy(host),
            _ => "".into(),
        };
        let client = core::str::from_utf8(line.client).ok().and_then(|c| c.parse().ok());
        Self {
            path: request.map_or("".into(), |r| lossy(path_of(r.target))),
            host,
            method: request.map_or("", |r| r.method),
            referer: line.referer,
            user_agent: line.user_agent,
            client: client.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        }
    }
}

impl RequestFacts for LineFacts<'_> {
    fn path(&self) -> &str {
        &self.path
    }

    fn host(&self) -> &str {
        &self.host
    }

    fn method(&self) -> &str {
        self.method
    }

    fn header(&self, name: &str) -> Option<&[u8]> {
        match name {
            "referer" => self.referer.filter(|v| *v != b"-"),
            "user-agent" => self.user_agent.filter(|v| *v != b"-"),
            _ => None,
        }
    }

    fn client(&self) -> IpAddr {
        self.client
    }
}
