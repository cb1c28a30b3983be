//! A report for spreadsheets.

use super::report::{QUANTILES, Report};
use crate::frame::Cause;
use crate::measure::csv::{field, number};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec;

impl Report {
    /// The report as comma-separated values (RFC 4180), one row a class, times in seconds; empty where nothing is known.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut head = vec!["class".to_owned(), "arrived".into(), "completed".into(), "good".into()];
        head.extend(Cause::ALL.map(|cause| format!("shed_{}", cause.name())));
        let rates = ["failed", "in_system", "arrivals_per_s", "throughput_per_s", "goodput_per_s"];
        head.extend(rates.map(str::to_owned));
        for time in ["wait", "response"] {
            head.extend(["mean_s", "ci95_lo_s", "ci95_hi_s"].map(|name| format!("{time}_{name}")));
            head.extend(QUANTILES.map(|(name, _)| format!("{time}_{name}_s")));
            head.push(format!("{time}_max_s"));
        }
        let mut out = head.join(",") + "\n";
        for class in &self.classes {
            let mut row = vec![Some(class.arrived), Some(class.completed), Some(class.good)];
            row.extend(class.shed.map(Some));
            row.extend([class.failed, class.in_system].map(Some));
            row.extend([class.arrivals_per_s, class.throughput_per_s, class.goodput_per_s].map(Some));
            for figure in [&class.wait_s, &class.response_s] {
                let interval = figure.ci95.as_ref().ok();
                row.extend([figure.mean, interval.map(|ends| ends.0), interval.map(|ends| ends.1)]);
                row.extend(figure.quantiles);
                row.push(figure.max);
            }
            out += &field(&class.name);
            for value in row {
                out.push(',');
                number(&mut out, value.unwrap_or(f64::NAN));
            }
            out.push('\n');
        }
        out
    }
}
