//! Bodies on their way through: bounded waits, and the end of each is noticed once.

use std::future::Future as _;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tidegate_core::gateway::Outcome;
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep, sleep};

use super::connection::Busy;
use super::driver::Slot;
use super::hold::Hold;
use super::size::{Route, Sizes};
use super::upstream::Lease;

/// Why a body broke off.
pub(crate) type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// What a client is sent.
pub(crate) struct Reply {
    inner: UnsyncBoxBody<Bytes, BodyError>,
    /// Keeps the connection marked as busy until the reply is out.
    pub(crate) busy: Option<Busy>,
}

impl Reply {
    /// A reply whose body is `body`.
    pub(crate) fn new<B>(body: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BodyError>,
    {
        Self { inner: body.map_err(Into::into).boxed_unsync(), busy: None }
    }

    /// No body.
    pub(crate) fn empty() -> Self {
        Self::new(Empty::new())
    }

    /// A short body.
    pub(crate) fn text(text: impl Into<Bytes>) -> Self {
        Self::new(Full::new(text.into()))
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        Pin::new(&mut self.inner).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// A wait that is bounded anew for each frame.
pub(crate) struct Patience {
    limit: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Patience {
    /// A wait of `limit` at most.
    pub(crate) const fn new(limit: Duration) -> Self {
        Self { limit, timer: None }
    }

    /// Ready when nothing has come for the whole limit.
    pub(crate) fn poll_over(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.timer.get_or_insert_with(|| Box::pin(sleep(self.limit))).as_mut().poll(cx)
    }

    /// Something has come.
    pub(crate) fn progress(&mut self) {
        self.timer = None;
    }
}

/// A server's answer on its way to the client. The slot is given back when the last frame has been handed over:
/// completed at the end, failed if the server breaks off, cancelled if the client does (by dropping this, or by taking
/// nothing for too long).
pub(crate) struct Answer {
    inner: Incoming,
    held: Hold<Held>,
    patience: Patience,
    /// Bytes handed over.
    bytes: u64,
    /// What the whole answer will have taught, if its length is not announced.
    lesson: Option<Lesson>,
    /// Whether the last frame has been handed over, and everything given back with it.
    ended: bool,
}

/// Teaches how large the answers of a route are.
pub(crate) struct Lesson {
    /// Who learns.
    pub(crate) sizes: Arc<Sizes>,
    /// The route.
    pub(crate) route: Route,
}

impl Lesson {
    fn learn(self, bytes: u64) {
        self.sizes.learn(self.route, bytes);
    }
}

/// What is held while an answer is passed on.
pub(crate) struct Held {
    /// The place in the gateway.
    pub(crate) slot: Slot,
    /// The connection to the server.
    pub(crate) lease: Lease,
    /// Stops the upload, if it still goes on when the answer has ended.
    #[expect(dead_code, reason = "its end is what it does")]
    pub(crate) upload: Stop,
}

impl Answer {
    /// `body` as the answer for which `held` is held. The server may pause for `idle` at most.
    pub(crate) fn new(body: Incoming, held: Hold<Held>, idle: Duration, lesson: Option<Lesson>) -> Self {
        let mut answer =
            Self { inner: body, held, patience: Patience::new(idle), bytes: 0, lesson, ended: false };
        if let Some(length) = answer.inner.size_hint().exact()
            && let Some(lesson) = answer.lesson.take()
        {
            lesson.learn(length);
        }
        answer.check_end();
        answer
    }

    /// A body of known length has ended when its last byte is there; hyper need not ask again to know it.
    fn check_end(&mut self) {
        if self.inner.is_end_stream() {
            self.end();
        }
    }

    fn end(&mut self) {
        self.ended = true;
        if let Some(lesson) = self.lesson.take() {
            lesson.learn(self.bytes);
        }
        if let Some(held) = self.held.take() {
            held.slot.finish(Outcome::Completed);
            held.lease.give_back();
        }
    }

    fn fail(&mut self) {
        if let Some(held) = self.held.take() {
            held.slot.finish(Outcome::Failed);
        }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.held.is_over() && !self.ended {
            return Poll::Ready(Some(Err("the client took nothing of its answer for too long".into())));
        }
        self.held.our_turn();
        match Pin::new(&mut self.inner).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                self.patience.progress();
                self.held.their_turn();
                self.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                self.check_end();
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => {
                self.fail();
                Poll::Ready(Some(Err(error.into())))
            }
            Poll::Ready(None) => {
                self.end();
                Poll::Ready(None)
            }
            Poll::Pending => {
                ready!(self.patience.poll_over(cx));
                self.fail();
                Poll::Ready(Some(Err("the server stopped in the middle of its answer".into())))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// What became of a client's upload so far; shared with whoever waits for the answer.
#[derive(Debug)]
pub(crate) struct Progress {
    started: Instant,
    last_ms: AtomicU64,
    fault: AtomicU8,
    begun: AtomicBool,
}

/// What a client did wrong with its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Fault {
    /// Not HTTP, or cut short.
    Invalid = 1,
    /// Nothing came for too long.
    Slow = 2,
}

impl Progress {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            started: Instant::now(),
            last_ms: AtomicU64::new(0),
            fault: AtomicU8::new(0),
            begun: AtomicBool::new(false),
        })
    }

    /// When the last of the body passed, or when the exchange began.
    pub(crate) fn last(&self) -> Instant {
        self.started + Duration::from_millis(self.last_ms.load(Ordering::Relaxed))
    }

    /// Whether any of the body has been asked for.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Relaxed)
    }

    /// What the client did wrong, if anything.
    pub(crate) fn fault(&self) -> Option<Fault> {
        match self.fault.load(Ordering::Relaxed) {
            1 => Some(Fault::Invalid),
            2 => Some(Fault::Slow),
            _ => None,
        }
    }

    fn touch(&self) {
        let ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_ms.store(ms, Ordering::Relaxed);
    }
}

/// A client's body on its way to a server.
pub(crate) struct Upload {
    /// `None`: there is no body.
    inner: Option<Incoming>,
    permission: Permission,
    patience: Patience,
    progress: Arc<Progress>,
    /// Resolves when nobody wants the rest any more.
    over: Option<oneshot::Receiver<()>>,
}

/// Ends an upload when dropped: its answer has ended, so the rest is of no use.
pub(crate) struct Stop {
    _end: Option<oneshot::Sender<()>>,
}

/// Whether the body may be read. A client that asked `Expect: 100-continue` is told to go on by the first read of
/// its body.
enum Permission {
    /// It may.
    Given,
    /// When the server says so, or after a while if the server says nothing.
    Awaited { word: oneshot::Receiver<()>, timer: Pin<Box<Sleep>> },
    /// Never: the server has answered without asking for the body.
    Refused,
}

impl Upload {
    /// The client may pause for `idle` at most.
    pub(crate) fn new(inner: Incoming, idle: Duration) -> (Self, Stop) {
        if inner.is_end_stream() {
            return (Self::none(), Stop { _end: None });
        }
        let (end, over) = oneshot::channel();
        let upload = Self {
            inner: Some(inner),
            permission: Permission::Given,
            patience: Patience::new(idle),
            progress: Progress::new(),
            over: Some(over),
        };
        (upload, Stop { _end: Some(end) })
    }

    /// No body.
    pub(crate) fn none() -> Self {
        Self {
            inner: None,
            permission: Permission::Given,
            patience: Patience::new(Duration::MAX),
            progress: Progress::new(),
            over: None,
        }
    }

    /// Holds the body back until the sender is used, or for `wait`; for ever if the sender is dropped unused.
    pub(crate) fn ask_first(&mut self, wait: Duration) -> oneshot::Sender<()> {
        let (give, word) = oneshot::channel();
        self.permission = Permission::Awaited { word, timer: Box::pin(sleep(wait)) };
        give
    }

    /// What became of the body, for as long as anybody wants to know.
    pub(crate) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    fn blame(&self, fault: Fault) {
        self.progress.fault.store(fault as u8, Ordering::Relaxed);
    }
}

impl Permission {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Self::Awaited { word, timer } = self {
            *self = match Pin::new(word).poll(cx) {
                Poll::Ready(Ok(())) => Self::Given,
                Poll::Ready(Err(_)) => Self::Refused,
                Poll::Pending => {
                    ready!(timer.as_mut().poll(cx));
                    Self::Given
                }
            };
        }
        if matches!(self, Self::Given) { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        let Some(inner) = &mut this.inner else { return Poll::Ready(None) };
        if let Some(over) = &mut this.over
            && Pin::new(over).poll(cx).is_ready()
        {
            this.inner = None;
            return Poll::Ready(Some(Err("the answer has ended before the request".into())));
        }
        ready!(this.permission.poll(cx));
        this.progress.begun.store(true, Ordering::Relaxed);
        match Pin::new(inner).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                this.patience.progress();
                this.progress.touch();
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => {
                this.blame(Fault::Invalid);
                Poll::Ready(Some(Err(error.into())))
            }
            Poll::Ready(None) => {
                this.progress.touch();
                Poll::Ready(None)
            }
            Poll::Pending => {
                ready!(this.patience.poll_over(cx));
                this.blame(Fault::Slow);
                Poll::Ready(Some(Err("the client stopped in the middle of its body".into())))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

/// Reads what is left of a body that nobody wants and throws it away: at most `bytes`, for `time` at most. More
/// than that, and the connection is closed instead (by dropping the body).
pub(crate) async fn discard(body: Incoming, bytes: u64, time: Duration) {
    let mut left = bytes;
    let mut body = body;
    let _ = tokio::time::timeout(time, async {
        while let Some(Ok(frame)) = body.frame().await {
            let size = frame.data_ref().map_or(0, |data| data.len() as u64);
            let Some(rest) = left.checked_sub(size) else { return };
            left = rest;
        }
    })
    .await;
}
