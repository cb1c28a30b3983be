//! Measurement: what a run amounts to, and how far to trust it.
//!
//! - [`Histogram`]: every duration of a kind in fixed memory, for quantiles.
//! - [`BatchMeans`]: the long-run mean of one run, with an interval or an honest "run longer".
//! - [`BatchQuantiles`]: the same for quantiles.
//! - [`Summary`]: one figure over replications, with an interval.
//! - [`student_t_quantile`]: the law behind both intervals.
//! - [`proportion`]: how far delays are from the proportions they should have.
//! - [`History`]: frames at equal steps, turned into columns that can be drawn.
//!
//! Nothing here is asked by a policy: controllers keep their own estimates. Nothing smooths.

mod batch;
pub(crate) mod csv;
mod histogram;
mod history;
pub mod proportion;
mod quantiles;
mod student;
mod summary;

pub use batch::{BatchMeans, RunLonger};
pub use histogram::Histogram;
pub use history::{Column, Compared, History, Names};
pub use quantiles::BatchQuantiles;
pub use student::{normal_quantile, student_t_quantile};
pub use summary::{Interval, Summary, mm1_requests_needed, requests_needed};
