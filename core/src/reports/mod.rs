//! How servers tell their load: the forms in use, read into one [`LoadReport`] or [`AgentReply`].
//!
//! | module | what a server offers |
//! |---|---|
//! | [`orca`] | a header in its answers: ORCA, as Envoy and gRPC read it |
//! | [`load_json`] | a JSON object to be fetched |
//! | [`node_exporter`] | the page of Prometheus's `node_exporter`, to be fetched again and again |
//! | [`agent_check`] | a line on a TCP port: HAProxy's agent check |
//! | [`health_check`] | nothing but answers: whether they come |
//!
//! All of it comes from outside: every reader takes bytes, is bounded, and gives an error or says less, whatever it is
//! fed. A report is taken whole or not at all, so that half of a broken one never counts. What follows from a report
//! is not decided here; see [`balance`](crate::balance).

pub mod agent_check;
mod base64;
pub mod health_check;
pub mod load_json;
pub mod node_exporter;
#[cfg(test)]
mod noise;
pub mod orca;
mod protobuf;

pub use agent_check::{AgentReply, AgentState};
pub use health_check::HealthChecks;

use crate::balance::LoadReport;
use crate::scenario::v1::ResourceV1;
use core::fmt;
use serde_json::Value;

/// Why a report is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadReport {
    /// Longer than any honest report.
    TooLong,
    /// It begins with no form that is known.
    UnknownForm,
    /// There is nothing in it.
    Empty,
    /// A name has no value.
    MissingValue,
    /// A value has no name.
    EmptyName,
    /// A name is there twice.
    Duplicate,
    /// A value is no number.
    NotANumber,
    /// A value is infinite or not a number as floats have it.
    NotFinite,
    /// A value is below 0.
    Negative,
    /// It should be JSON and is not.
    BadJson,
    /// It should be base64 and is not.
    BadBase64,
    /// It should be a protocol buffer and is not.
    BadProtobuf,
}

impl BadReport {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::TooLong,
        Self::UnknownForm,
        Self::Empty,
        Self::MissingValue,
        Self::EmptyName,
        Self::Duplicate,
        Self::NotANumber,
        Self::NotFinite,
        Self::Negative,
        Self::BadJson,
        Self::BadBase64,
        Self::BadProtobuf,
    ];

    /// Stable name, as in metrics labels.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::UnknownForm => "unknown_form",
            Self::Empty => "empty",
            Self::MissingValue => "missing_value",
            Self::EmptyName => "empty_name",
            Self::Duplicate => "duplicate",
            Self::NotANumber => "not_a_number",
            Self::NotFinite => "not_finite",
            Self::Negative => "negative",
            Self::BadJson => "bad_json",
            Self::BadBase64 => "bad_base64",
            Self::BadProtobuf => "bad_protobuf",
        }
    }
}

impl fmt::Display for BadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "longer than a report may be",
            Self::UnknownForm => "no form of a report that is known",
            Self::Empty => "a report with nothing in it",
            Self::MissingValue => "a name without a value",
            Self::EmptyName => "a value without a name",
            Self::Duplicate => "a name given twice",
            Self::NotANumber => "a value that is no number",
            Self::NotFinite => "a value that is not finite",
            Self::Negative => "a value below 0",
            Self::BadJson => "not JSON",
            Self::BadBase64 => "not base64",
            Self::BadProtobuf => "not a protocol buffer",
        })
    }
}

impl core::error::Error for BadReport {}

/// A value of a report: finite, 0 or more.
fn checked(value: f64) -> Result<f64, BadReport> {
    if !value.is_finite() {
        Err(BadReport::NotFinite)
    } else if value < 0.0 {
        Err(BadReport::Negative)
    } else {
        // Adding 0 makes 0 of -0.
        Ok(value + 0.0)
    }
}

/// A value of a report, written out.
fn number(text: &str) -> Result<f64, BadReport> {
    checked(text.parse().map_err(|_| BadReport::NotANumber)?)
}

/// A value of a report in JSON. Text counts too: protocol buffers write large whole numbers so.
fn json_number(value: &Value) -> Result<f64, BadReport> {
    match value {
        Value::String(text) => number(text),
        value => checked(value.as_f64().ok_or(BadReport::NotANumber)?),
    }
}

/// The members of a JSON object, none of them given twice.
fn json_object(text: &[u8]) -> Result<serde_json::Map<alloc::string::String, Value>, BadReport> {
    let text = core::str::from_utf8(text).map_err(|_| BadReport::BadJson)?;
    match crate::json::read(text) {
        Ok(Value::Object(members)) => Ok(members),
        Err(fault) if fault.repeated.is_some() => Err(BadReport::Duplicate),
        Ok(_) | Err(_) => Err(BadReport::BadJson),
    }
}

/// Whether a report says anything.
fn says_something(report: &LoadReport) -> bool {
    *report != LoadReport::default()
}

/// Sets one of the five loads.
const fn set_load(report: &mut LoadReport, of: ResourceV1, load: f64) {
    report.loads[of as usize] = Some(load);
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::string::ToString;

    #[test]
    fn every_reason_has_a_name_and_words_of_its_own() {
        let names: BTreeSet<_> = BadReport::ALL.iter().map(|bad| bad.name()).collect();
        let words: BTreeSet<_> = BadReport::ALL.iter().map(ToString::to_string).collect();
        assert_eq!((names.len(), words.len()), (BadReport::ALL.len(), BadReport::ALL.len()));
    }

    #[test]
    fn a_value_is_finite_and_not_negative() {
        for (text, want) in [
            ("0", Ok(0.0)),
            ("-0", Ok(0.0)),
            ("1e-3", Ok(0.001)),
            ("", Err(BadReport::NotANumber)),
            ("0,5", Err(BadReport::NotANumber)),
            ("0x1", Err(BadReport::NotANumber)),
            ("-0.1", Err(BadReport::Negative)),
            ("nan", Err(BadReport::NotFinite)),
            ("-inf", Err(BadReport::NotFinite)),
            ("1e999", Err(BadReport::NotFinite)),
        ] {
            assert_eq!(number(text), want, "{text:?}");
        }
        assert!(number("-0").is_ok_and(f64::is_sign_positive), "0 has no sign");
    }
}
