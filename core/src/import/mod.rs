//! Recorded traffic: what asked, when, and how long it took.

use crate::time::{Duration, Instant};

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
