//! A file on its way to the client: the send stage of paper S, 1.1.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use tidegate_core::gateway::Outcome;
use tokio::time::{Sleep, sleep_until};

use crate::serve::body::{BodyError, Patience};
use crate::serve::driver::Slot;
use crate::serve::hold::Hold;
use crate::serve::pace::Pace;

/// Reads a file and hands it over piece by piece, at the send rate if there is one. The worker is given back with the
/// last byte: completed; failed if the file cannot be read to its announced end; cancelled if the client leaves (by
/// dropping this) or takes nothing for too long.
pub(crate) struct Sending {
    inner: UnsyncBoxBody<Bytes, io::Error>,
    /// Bytes of the announced length that have not been handed over.
    left: u64,
    worker: Hold<Slot>,
    disk: Patience,
    pace: Option<Arc<Pace>>,
    /// Read, and on the link until then.
    passing: Option<(Pin<Box<Sleep>>, Bytes)>,
}

impl Sending {
    /// `inner` as the `length` bytes for which `worker` is held. The disk may pause for `idle` at most.
    pub(crate) fn new(
        inner: UnsyncBoxBody<Bytes, io::Error>,
        length: u64,
        worker: Hold<Slot>,
        idle: Duration,
        pace: Option<Arc<Pace>>,
    ) -> Self {
        Self { inner, left: length, worker, disk: Patience::new(idle), pace, passing: None }
    }

    fn finish(&self, outcome: Outcome) {
        if let Some(slot) = self.worker.take() {
            slot.finish(outcome);
        }
    }

    fn fail(&self, error: impl Into<BodyError>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.finish(Outcome::Failed);
        Poll::Ready(Some(Err(error.into())))
    }

    fn hand_over(&mut self, piece: Bytes) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.left = self.left.saturating_sub(piece.len() as u64);
        if self.left == 0 {
            self.finish(Outcome::Completed);
        } else {
            self.worker.their_turn();
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
}

impl Body for Sending {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        if this.left == 0 {
            return Poll::Ready(None);
        }
        if this.worker.is_over() {
            return Poll::Ready(Some(Err("the client took nothing of its answer for too long".into())));
        }
        this.worker.our_turn();
        if this.passing.is_none() {
            let read = match Pin::new(&mut this.inner).poll_frame(cx) {
                Poll::Ready(read) => read,
                Poll::Pending => {
                    ready!(this.disk.poll_over(cx));
                    return this.fail("the disk stopped in the middle of a file");
                }
            };
            this.disk.progress();
            let mut piece = match read.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(piece)) => piece.unwrap_or_default(),
                Some(Err(error)) => return this.fail(error),
                None => return this.fail("the file has become shorter"),
            };
            // One that has grown: what is beyond the announced length is of no use.
            piece.truncate(usize::try_from(this.left).unwrap_or(usize::MAX));
            let Some(pace) = &this.pace else { return this.hand_over(piece) };
            this.passing = Some((Box::pin(sleep_until(pace.pass(piece.len()))), piece));
        }
        if let Some((passed, _)) = &mut this.passing {
            ready!(passed.as_mut().poll(cx));
        }
        let piece = this.passing.take().map(|(_, piece)| piece).unwrap_or_default();
        this.hand_over(piece)
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
