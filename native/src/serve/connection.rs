//! One client connection: bounded in number, in time and in memory, and noticed at once when its client leaves.
//!
//! hyper does the protocol; this file does what hyper leaves open:
//!
//! * **Slow heads.** One limit for the head of a request (from the accept, or from the first byte on a connection
//!   in use) and another for the pause between two requests. hyper has a single timer for both, and its protocol
//!   detection has none, so they are kept here, by watching the bytes.
//! * **Slow readers.** A client that takes nothing of its answer for a while is disconnected.
//! * **Clients that leave.** hyper notices the end of the stream only when nothing unread lies before it; a
//!   pipelined request or an unread body hides it. The kernel reports the half-close (`EPOLLRDHUP`) whatever is
//!   unread; here it ends the connection, and with it the requests that wait. A client that closes only its
//!   sending side is thus taken for gone, as nginx does.
//! * **Closing in order.** After the last answer the sending side is closed first, and what the client still sends
//!   is read and thrown away for a while. Closing at once would make the kernel answer unread bytes with a reset,
//!   which can destroy an answer the client has not read yet.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};

use super::body::Reply;
use super::shutdown::Shutdown;

/// What a connection may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Connections at once; more wait in the kernel's backlog.
    pub(crate) connections: usize,
    /// Bytes of a request's head, and of the read buffer.
    pub(crate) header_bytes: usize,
    /// Longest time for a head.
    pub(crate) header_timeout: Duration,
    /// Longest pause between two requests.
    pub(crate) idle_timeout: Duration,
    /// Longest time a client may take nothing of its answer.
    pub(crate) write_timeout: Duration,
}

/// Requests of one HTTP/2 connection at once.
const STREAMS: u32 = 128;
/// Header fields of one request.
const FIELDS: usize = 100;
/// After the last answer, bytes and time the client may still send.
const LINGER: (usize, Duration) = (64 << 20, Duration::from_secs(5));
/// How long a connection that was only idle may take to end.
const LAST_CALL: Duration = Duration::from_secs(1);
/// Wait after an accept that failed (out of file descriptors, most likely).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Whoever answers the requests of a listener.
pub(crate) trait Serve: Send + Sync + 'static {
    /// Answers one request. The future is dropped when the client leaves.
    fn serve(
        self: Arc<Self>,
        client: Arc<Client>,
        request: Request<Incoming>,
    ) -> impl Future<Output = Response<Reply>> + Send;
}

/// The client side of one connection.
pub(crate) struct Client {
    /// The address at the other end.
    pub(crate) peer: SocketAddr,
    started: Instant,
    /// Requests whose answer is not out yet.
    in_flight: AtomicUsize,
    phase: AtomicU8,
    /// When the phase began, in ms since `started`.
    since_ms: AtomicU64,
    /// Since when the client takes nothing, in ms since `started`, plus 1; 0: it does.
    blocked_ms: AtomicU64,
    http2: AtomicBool,
    tunnel: AtomicBool,
    /// Held for as long as anything of the connection is left, a tunnel too.
    _permit: OwnedSemaphorePermit,
}

/// Nothing of a head has come since the last answer.
const IDLE: u8 = 0;
/// A head has begun (or the connection has).
const HEAD: u8 = 1;

impl Client {
    fn new(peer: SocketAddr, permit: OwnedSemaphorePermit) -> Arc<Self> {
        Arc::new(Self {
            peer,
            started: Instant::now(),
            in_flight: AtomicUsize::new(0),
            phase: AtomicU8::new(HEAD),
            since_ms: AtomicU64::new(0),
            blocked_ms: AtomicU64::new(0),
            http2: AtomicBool::new(false),
            tunnel: AtomicBool::new(false),
            _permit: permit,
        })
    }

    /// The connection becomes a tunnel, whose end is somebody else's business.
    pub(crate) fn becomes_tunnel(&self) {
        self.tunnel.store(true, Ordering::Relaxed);
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn enter(&self, phase: u8) {
        self.since_ms.store(self.now_ms(), Ordering::Relaxed);
        self.phase.store(phase, Ordering::Relaxed);
    }

    fn begin(self: &Arc<Self>) -> Busy {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        Busy(Arc::clone(self))
    }

    /// Looks at bytes that have come.
    fn saw(&self, bytes: &[u8]) {
        if self.since_ms.load(Ordering::Relaxed) == 0 && bytes.starts_with(b"PRI") {
            // The HTTP/2 preface; its pings and window updates are no heads.
            self.http2.store(true, Ordering::Relaxed);
        }
        let idle = self.in_flight.load(Ordering::Relaxed) == 0 && self.phase.load(Ordering::Relaxed) == IDLE;
        if idle && !bytes.is_empty() && !self.http2.load(Ordering::Relaxed) {
            self.enter(HEAD);
        }
    }

    fn blocked(&self, blocked: bool) {
        let since = self.blocked_ms.load(Ordering::Relaxed);
        if blocked != (since != 0) {
            self.blocked_ms.store(if blocked { self.now_ms() + 1 } else { 0 }, Ordering::Relaxed);
        }
    }

    /// Whether it is the client's doing that time passes: a head half sent, an answer half taken.
    fn is_slow(&self) -> bool {
        self.blocked_ms.load(Ordering::Relaxed) != 0 || self.phase.load(Ordering::Relaxed) == HEAD
    }

    /// How long the connection may still go on like this; `None` for as long as it likes.
    fn time_left(&self, rules: &Rules) -> Option<Duration> {
        let now = self.now_ms();
        let left = |since: u64, limit: Duration| {
            limit.saturating_sub(Duration::from_millis(now.saturating_sub(since)))
        };
        let writing = match self.blocked_ms.load(Ordering::Relaxed) {
            0 => None,
            since => Some(left(since - 1, rules.write_timeout)),
        };
        let reading = (self.in_flight.load(Ordering::Relaxed) == 0).then(|| {
            let limit = match self.phase.load(Ordering::Relaxed) {
                HEAD => rules.header_timeout,
                _ => rules.idle_timeout,
            };
            left(self.since_ms.load(Ordering::Relaxed), limit)
        });
        writing.into_iter().chain(reading).min()
    }

    /// Resolves when the connection has used up its time.
    async fn out_of_time(&self, rules: &Rules) {
        // Phases change without waking anybody, so look again often enough to be late by little.
        let step = (rules.header_timeout / 8).clamp(Duration::from_millis(10), Duration::from_millis(500));
        loop {
            match self.time_left(rules) {
                Some(Duration::ZERO) => return,
                left => sleep(left.unwrap_or(step).min(step)).await,
            }
        }
    }
}

/// A request is being answered; until this is dropped.
pub(crate) struct Busy(Arc<Client>);

impl Drop for Busy {
    fn drop(&mut self) {
        // First the phase: between the two steps the connection is still busy, never idle since long ago.
        self.0.enter(IDLE);
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Accepts connections until the shutdown begins, then waits for those that are left until it is cut short.
pub(crate) async fn accept<S: Serve>(
    listener: TcpListener,
    service: Arc<S>,
    rules: Rules,
    mut shutdown: Shutdown,
) {
    let slots = Arc::new(Semaphore::new(rules.connections));
    loop {
        let (stream, peer, permit) = tokio::select! {
            biased;
            () = shutdown.begins() => break,
            accepted = next(&listener, &slots) => accepted,
        };
        let client = Client::new(peer, permit);
        tokio::spawn(handle(stream, client, Arc::clone(&service), rules, shutdown.clone()));
    }
    drop(listener);
    let all = u32::try_from(rules.connections).unwrap_or(u32::MAX);
    tokio::select! {
        _ = slots.acquire_many(all) => (),
        () = shutdown.is_cut() => (),
    }
}

async fn next(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
    let permit = Arc::clone(slots).acquire_owned().await.expect("the semaphore is never closed");
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => return (stream, peer, permit),
            Err(error) => {
                eprintln!("cannot accept a connection: {error}");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn handle<S: Serve>(
    stream: TcpStream,
    client: Arc<Client>,
    service: Arc<S>,
    rules: Rules,
    mut shutdown: Shutdown,
) {
    let _ = stream.set_nodelay(true);
    let stream = Arc::new(stream);
    let in_order = {
        let watched = Watched { stream: Arc::clone(&stream), client: Arc::clone(&client) };
        let answer = service_fn(|request: Request<Incoming>| {
            let busy = client.begin();
            let answer = Arc::clone(&service).serve(Arc::clone(&client), request);
            async move {
                let mut response = answer.await;
                response.body_mut().busy = Some(busy);
                Ok::<_, Infallible>(response)
            }
        });
        let builder = builder(&rules);
        let mut connection = pin!(builder.serve_connection_with_upgrades(TokioIo::new(watched), answer));
        let mut closing = false;
        let cut = shutdown.clone();
        let mut last_call = pin!(sleep(Duration::MAX));
        loop {
            tokio::select! {
                // After a protocol error, too: its answer (400, 431) is on the way.
                _ = connection.as_mut() => break true,
                () = &mut last_call => break true,
                () = left(&stream) => break false,
                () = cut.is_cut() => break false,
                () = client.out_of_time(&rules), if !closing => {
                    if client.is_slow() {
                        break false;
                    }
                    // Only idle: HTTP/2 wants to be told.
                    last_call.as_mut().reset(Instant::now() + LAST_CALL);
                }
                () = shutdown.begins(), if !closing => (),
            }
            closing = true;
            connection.as_mut().graceful_shutdown();
        }
    };
    if in_order && !client.tunnel.load(Ordering::Relaxed) {
        linger(&stream).await;
    }
}

fn builder(rules: &Rules) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_buf_size(rules.header_bytes.max(8192))
        .max_headers(FIELDS);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(u32::try_from(rules.header_bytes).unwrap_or(u32::MAX))
        .initial_stream_window_size(256 << 10)
        .initial_connection_window_size(1 << 20)
        .max_send_buf_size(64 << 10)
        .keep_alive_interval(Some(rules.idle_timeout))
        .keep_alive_timeout(Duration::from_secs(20));
    builder
}

/// Resolves when the client has closed its side, whatever is still unread.
async fn left(stream: &TcpStream) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        // "Priority" readiness includes "read side closed" but not "readable", so unread bytes do not end the wait.
        if stream.ready(Interest::PRIORITY).await.is_ok_and(tokio::io::Ready::is_read_closed) {
            return;
        }
    }
    // Urgent data, or another system: hyper will notice in its own time.
    let _ = stream;
    std::future::pending::<()>().await;
}

/// Closes the sending side, then reads what is left.
async fn linger(stream: &TcpStream) {
    let _ = socket2::SockRef::from(stream).shutdown(std::net::Shutdown::Write);
    let (mut bytes, time) = LINGER;
    let _ = tokio::time::timeout(time, async {
        let mut buffer = [0; 16 * 1024];
        while bytes > 0 && stream.readable().await.is_ok() {
            match stream.try_read(&mut buffer) {
                Ok(0) => return,
                Ok(read) => bytes = bytes.saturating_sub(read),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => (),
                Err(_) => return,
            }
        }
    })
    .await;
}

/// The socket as hyper sees it; every byte passes under the eyes of the [`Client`].
struct Watched {
    stream: Arc<TcpStream>,
    client: Arc<Client>,
}

impl AsyncRead for Watched {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.stream.poll_read_ready(cx))?;
            match self.stream.try_read(buffer.initialize_unfilled()) {
                Ok(read) => {
                    self.client.saw(&buffer.initialized()[buffer.filled().len()..][..read]);
                    buffer.advance(read);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => (),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl Watched {
    fn poll_with(
        &self,
        cx: &mut Context<'_>,
        mut write: impl FnMut(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            if self.stream.poll_write_ready(cx)?.is_pending() {
                self.client.blocked(true);
                return Poll::Pending;
            }
            match write(&self.stream) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => (),
                result => {
                    self.client.blocked(false);
                    return Poll::Ready(result);
                }
            }
        }
    }
}

impl AsyncWrite for Watched {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_with(cx, |stream| stream.try_write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_with(cx, |stream| stream.try_write_vectored(slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(socket2::SockRef::from(&*self.stream).shutdown(std::net::Shutdown::Write))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    const RULES: Rules = Rules {
        connections: 1,
        header_bytes: 8192,
        header_timeout: Duration::from_secs(5),
        idle_timeout: Duration::from_secs(30),
        write_timeout: Duration::from_secs(60),
    };

    fn client() -> Arc<Client> {
        let permit = Arc::new(Semaphore::new(1)).try_acquire_owned().expect("one is free");
        Client::new(SocketAddr::from(([127, 0, 0, 1], 1)), permit)
    }

    fn left_s(client: &Client) -> Option<u64> {
        client.time_left(&RULES).map(|left| left.as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_and_a_pause_have_their_own_limits() {
        let client = client();
        advance(Duration::from_secs(1)).await;
        assert_eq!(left_s(&client), Some(4), "the first head is due from the accept");
        client.saw(b"GE");
        assert_eq!(left_s(&client), Some(4), "a byte now and then does not help");
        let busy = client.begin();
        advance(Duration::from_secs(1000)).await;
        assert_eq!(left_s(&client), None, "an answer takes as long as it takes");
        drop(busy);
        advance(Duration::from_secs(6)).await;
        assert_eq!(left_s(&client), Some(24), "a pause is no slow head");
        assert!(!client.is_slow());
        client.saw(b"G");
        assert_eq!(left_s(&client), Some(5), "now it is one");
        assert!(client.is_slow());
    }

    #[tokio::test(start_paused = true)]
    async fn the_pings_of_http2_are_no_heads() {
        let client = client();
        client.saw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        drop(client.begin());
        client.saw(b"\0\0\x08\x06");
        assert_eq!(left_s(&client), Some(30));
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_takes_nothing_of_its_answer_is_slow() {
        let client = client();
        let _busy = client.begin();
        advance(Duration::from_secs(3)).await;
        client.blocked(true);
        advance(Duration::from_secs(59)).await;
        client.blocked(true);
        assert_eq!(left_s(&client), Some(1));
        client.blocked(false);
        assert_eq!(left_s(&client), None);
    }
}
