//! Figures for spreadsheets: comma-separated values (RFC 4180), in seconds and per second, empty where nothing is known.

use super::History;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use core::fmt::Write;

/// A name as a field: in quotes if it has to be.
pub(crate) fn field(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

/// Appends a number, or nothing if it is not known.
pub(crate) fn number(out: &mut String, value: f64) {
    if value.is_finite() {
        // Writing to a String cannot fail.
        let _ = write!(out, "{value}");
    }
}

impl History {
    /// The columns as comma-separated values: a row a point, its end in seconds first. The name of a column says
    /// its unit.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut out = String::from("t_s");
        for name in self.column_names() {
            out.push(',');
            out.push_str(&field(name));
        }
        out.push('\n');
        for (point, &t_s) in self.t_s().iter().enumerate() {
            number(&mut out, t_s);
            for column in (0..self.column_names().len()).filter_map(|at| self.column_at(at)) {
                out.push(',');
                number(&mut out, column.v[point]);
            }
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;
    use crate::measure::Names;
    use crate::scenario::presets;
    use crate::sim::Simulation;
    use crate::time::{Duration, Instant};

    #[test]
    fn names_are_quoted_where_csv_needs_it() {
        assert_eq!(field("gold"), "gold");
        assert_eq!(field("a, \"b\""), "\"a, \"\"b\"\"\"");
    }

    #[test]
    fn a_history_has_a_row_a_point_and_nothing_where_nothing_is_known() {
        let scenario = presets::get("mm1").expect("a preset").scenario();
        let mut sim = Simulation::new(&scenario, 0, None).expect("runs");
        let mut history = History::new(Names::from(&scenario), Duration::from_secs_f64(1.0));
        let mut frame = Frame::default();
        for second in 0..=5 {
            sim.run_until(Instant::START + Duration::from_secs_f64(f64::from(second)));
            sim.frame(&mut frame);
            history.push(&frame);
        }
        let csv = history.to_csv();
        let rows: alloc::vec::Vec<&str> = csv.lines().collect();
        assert!(rows[0].starts_with("t_s,arrived_per_s."), "{}", rows[0]);
        assert_eq!(rows.len(), 6);
        let columns = history.column_names().len() + 1;
        assert!(rows.iter().all(|row| row.split(',').count() == columns), "{csv}");
        let arrived = history.column_at(0).expect("a column").v[2];
        assert!(rows[3].starts_with(&format!("3,{arrived},")), "{}", rows[3]);
        assert!(!csv.contains("NaN"), "{csv}");
    }
}
