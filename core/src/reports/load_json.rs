//! The JSON object that a server's `/load` answers with, or any address of its own.
//!
//! `{"cpu": 0.3, "mem": 0.5, "net": 0.1, "disk": 0, "rooms": 0.2, "application": 0.4, "rps": 120, "eps": 0.5}`: the
//! five loads of paper B, 2.1, as shares of what the server can take, and what ORCA has beside them. At least one;
//! other names are the server's own business.

use super::{BadReport, json_number, json_object, says_something, set_load};
use crate::balance::LoadReport;
use crate::scenario::v1::ResourceV1;

/// The longest object that is read, in bytes.
pub const LONGEST: usize = 64 * 1024;

/// Reads the object.
///
/// # Errors
/// [`BadReport`]: nothing of it is to be used.
pub fn read(text: &[u8]) -> Result<LoadReport, BadReport> {
    if text.len() > LONGEST {
        return Err(BadReport::TooLong);
    }
    let mut report = LoadReport::default();
    for (name, value) in &json_object(text)? {
        if let Some(of) = ResourceV1::FIVE.into_iter().find(|of| of.name() == name) {
            set_load(&mut report, of, json_number(value)?);
            continue;
        }
        let place = match name.as_str() {
            "application" => &mut report.application,
            "rps" => &mut report.requests_per_s,
            "eps" => &mut report.errors_per_s,
            _ => continue,
        };
        *place = Some(json_number(value)?);
    }
    if says_something(&report) { Ok(report) } else { Err(BadReport::Empty) }
}

#[cfg(test)]
mod tests {
    use super::super::noise;
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Result<LoadReport, BadReport>) {
        assert_eq!(read(text.as_bytes()), want, "{text}");
    }

    #[test]
    fn every_name_has_its_place() {
        check(
            r#"{"cpu":0.3,"mem":0.5,"net":0.1,"disk":0,"rooms":0.2,"application":1.5,"rps":120,"eps":0.5,"host":"a"}"#,
            Ok(LoadReport {
                loads: [Some(0.3), Some(0.5), Some(0.1), Some(0.0), Some(0.2)],
                application: Some(1.5),
                requests_per_s: Some(120.0),
                errors_per_s: Some(0.5),
            }),
        );
        check(
            r#" {"rooms": 0.25} "#,
            Ok(LoadReport { loads: [None, None, None, None, Some(0.25)], ..LoadReport::default() }),
        );
    }

    #[test]
    fn half_of_a_broken_report_does_not_count() {
        for (text, want) in [
            ("", BadReport::BadJson),
            ("[0.3]", BadReport::BadJson),
            ("{\"cpu\":0.3", BadReport::BadJson),
            ("{}", BadReport::Empty),
            ("{\"load\":0.3}", BadReport::Empty),
            ("{\"cpu\":0.3,\"mem\":null}", BadReport::NotANumber),
            ("{\"cpu\":0.3,\"mem\":-1}", BadReport::Negative),
            ("{\"cpu\":0.3,\"mem\":\"NaN\"}", BadReport::NotFinite),
            ("{\"cpu\":0.3,\"cpu\":0.4}", BadReport::Duplicate),
        ] {
            check(text, Err(want));
        }
        let long = alloc::format!("{{\"cpu\":0.3}}{}", " ".repeat(LONGEST));
        assert_eq!(read(long.as_bytes()), Err(BadReport::TooLong));
    }

    #[test]
    fn no_input_breaks_the_reader() {
        noise::feed(&[br#"{"cpu":0.3,"mem":0.5,"net":{"a":[1,2]},"rps":1e3}"#], |bytes| {
            if let Ok(report) = read(bytes) {
                assert!(says_something(&report));
            }
        });
    }
}
