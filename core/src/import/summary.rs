//! What a reader is told of a trace, and its form on the way.
//!
//! The page has logs read elsewhere; what it says of them comes as this JSON, the rows as [`flat`](super::flat).

use super::{Contents, Trace};
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::{Value, json};

/// Labels that are told.
const MOST_LABELS: usize = 64;
/// Lines not understood that are told.
const MOST_REJECTS: usize = 5;

/// What a log or trace file holds, in short.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Format that was recognised.
    pub format: String,
    /// Rows understood.
    pub rows: u64,
    /// Lines not understood.
    pub rejects: u64,
    /// The first of them: line and reason.
    pub first_rejects: Vec<(u64, String)>,
    /// Labels and times; of the labels, the most frequent.
    pub contents: Contents,
    /// What the reader decided by itself.
    pub notes: Vec<String>,
}

impl Summary {
    /// Sums up a trace.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        let mut contents = Contents::of(trace);
        contents.labels.truncate(MOST_LABELS);
        let first = trace.rejects.first.iter().take(MOST_REJECTS);
        Self {
            format: trace.format.name().to_owned(),
            rows: trace.rows.len() as u64,
            rejects: trace.rejects.count,
            first_rejects: first.map(|reject| (reject.line, reject.reason.to_string())).collect(),
            contents,
            notes: trace.notes.clone(),
        }
    }

    /// As JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let Contents { labels, span_s, timed, mean_service_s } = &self.contents;
        json!({
            "format": self.format,
            "rows": self.rows,
            "rejects": self.rejects,
            "first_rejects": self.first_rejects,
            "labels": labels,
            "span_s": span_s,
            "timed": timed,
            "mean_service_s": mean_service_s,
            "notes": self.notes,
        })
    }

    /// Reads what [`to_json`](Self::to_json) wrote; `None` if it is anything else.
    #[must_use]
    pub fn from_json(json: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let number = |name: &str| json.get(name)?.as_u64();
        let seconds = |name: &str| json.get(name)?.as_f64();
        let list = |name: &str| json.get(name)?.as_array();
        let rejects = list("first_rejects")?.iter();
        let labels = list("labels")?.iter();
        Some(Self {
            format: text(json.get("format")?)?,
            rows: number("rows")?,
            rejects: number("rejects")?,
            first_rejects: rejects
                .map(|pair| Some((pair.get(0)?.as_u64()?, text(pair.get(1)?)?)))
                .collect::<Option<_>>()?,
            contents: Contents {
                labels: labels
                    .map(|pair| Some((text(pair.get(0)?)?, pair.get(1)?.as_u64()?)))
                    .collect::<Option<_>>()?,
                span_s: seconds("span_s")?,
                timed: number("timed")?,
                mean_service_s: seconds("mean_service_s")?,
            },
            notes: list("notes")?.iter().map(text).collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{Options, parse_trace};
    use alloc::format;

    fn summary(text: &str) -> Summary {
        Summary::of(&parse_trace(text.as_bytes(), &Options::to_play()).expect("a trace"))
    }

    #[test]
    fn a_small_log_is_counted_and_comes_back() {
        let told = summary(
            "192.0.2.7 - - [10/Oct/2025:13:55:36 +0000] \"GET /a.html HTTP/1.1\" 200 2326\n\
             nonsense\n\
             192.0.2.8 - - [10/Oct/2025:13:55:39 +0000] \"GET /b.png HTTP/1.1\" 200 12\n",
        );
        assert_eq!((told.format.as_str(), told.rows, told.rejects), ("access", 2, 1));
        assert_eq!(told.first_rejects[0].0, 2);
        assert_eq!(told.contents.labels.len(), 2);
        assert!(!told.notes.is_empty() && told.contents.mean_service_s > 0.0);
        let text = told.to_json().to_string();
        let json: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(Summary::from_json(&json), Some(told));
    }

    #[test]
    fn long_lists_are_told_in_part() {
        let mut text = String::from("t_s,class\n");
        (0..100).for_each(|n| text.push_str(&format!("{n},label {n}\nlater,label {n}\n")));
        let told = summary(&text);
        assert_eq!((told.rows, told.contents.labels.len()), (100, MOST_LABELS));
        assert_eq!((told.rejects, told.first_rejects.len()), (100, MOST_REJECTS));
    }

    #[test]
    fn anything_else_is_nothing() {
        let whole = summary("t_s,class\n1,a\n").to_json();
        for name in whole.as_object().expect("an object").keys() {
            let mut json = whole.clone();
            json[name] = Value::Bool(true);
            assert_eq!(Summary::from_json(&json), None, "{name}");
        }
    }
}
