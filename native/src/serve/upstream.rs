//! One server behind the gateway: its idle connections, and whether it can be reached.
//!
//! Health is passive: a connection that cannot be made takes the server out; while it is out, a connection is tried
//! now and then, and the first that succeeds brings it back. Bad answers do not take a server out.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tidegate_core::id::ServerId;
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::body::Upload;
use super::driver::Driver;

/// Read buffer of a connection to a server: the longest head it may answer with.
const BUFFER: usize = 64 * 1024;
/// Idle connections kept to one server.
const IDLE: usize = 256;
/// First wait before a server that cannot be reached is tried again; doubled each time, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// How a server is connected to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connecting {
    /// Longest wait for a connection.
    pub(crate) timeout: Duration,
    /// How long an unused connection is kept.
    pub(crate) idle_timeout: Duration,
}

/// A server behind the gateway.
pub(crate) struct Upstream {
    /// Which of the scenario's servers.
    pub(crate) id: ServerId,
    /// Name for metrics and answers.
    pub(crate) name: String,
    host: String,
    port: u16,
    connecting: Connecting,
    idle: Mutex<Vec<Idle>>,
    out: AtomicBool,
    /// Connections that could not be made.
    pub(crate) unreachable: AtomicU64,
    /// Connections made.
    pub(crate) connected: AtomicU64,
}

struct Idle {
    sender: SendRequest<Upload>,
    since: Instant,
}

/// A connection in use. Dropped, it is closed; given back, it is used again.
pub(crate) struct Lease {
    upstream: Arc<Upstream>,
    sender: SendRequest<Upload>,
    /// Whether it has carried an exchange before, so that the server may have closed it meanwhile.
    pub(crate) reused: bool,
}

/// Why a request got no answer.
pub(crate) struct Unanswered {
    /// What went wrong.
    pub(crate) error: hyper::Error,
    /// The request, if none of it was sent.
    pub(crate) unsent: Option<Request<Upload>>,
}

impl Upstream {
    /// The server at `url`, which has a host.
    pub(crate) fn new(id: ServerId, name: String, url: &Uri, connecting: Connecting) -> Arc<Self> {
        let host = url.host().unwrap_or_default();
        Arc::new(Self {
            id,
            name,
            host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
            port: url.port_u16().unwrap_or(80),
            connecting,
            idle: Mutex::new(Vec::new()),
            out: AtomicBool::new(false),
            unreachable: AtomicU64::new(0),
            connected: AtomicU64::new(0),
        })
    }

    /// The most recently used idle connection that still stands.
    pub(crate) fn reuse(self: &Arc<Self>) -> Option<Lease> {
        let mut idle = self.lock();
        // The oldest are in front; whatever is too old goes, so that the pool shrinks after a peak.
        let fresh = idle.partition_point(|one| one.since.elapsed() >= self.connecting.idle_timeout);
        idle.drain(..fresh);
        for at in (0..idle.len()).rev() {
            if idle[at].sender.is_ready() {
                let one = idle.remove(at);
                return Some(Lease { upstream: Arc::clone(self), sender: one.sender, reused: true });
            }
            // One that is neither ready nor closed is about to be: its last exchange is being wrapped up.
            if idle[at].sender.is_closed() {
                idle.remove(at);
            }
        }
        None
    }

    /// A new connection.
    ///
    /// # Errors
    /// If the server cannot be reached in time.
    pub(crate) async fn connect(self: &Arc<Self>) -> std::io::Result<Lease> {
        let stream = self.reach().await.inspect_err(|_| {
            self.unreachable.fetch_add(1, Ordering::Relaxed);
        })?;
        self.connected.fetch_add(1, Ordering::Relaxed);
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(BUFFER)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(std::io::Error::other)?;
        // It ends with the sender, or when the server closes.
        tokio::spawn(connection.with_upgrades());
        Ok(Lease { upstream: Arc::clone(self), sender, reused: false })
    }

    async fn reach(&self) -> std::io::Result<TcpStream> {
        let stream = tokio::time::timeout(
            self.connecting.timeout,
            TcpStream::connect((self.host.as_str(), self.port)),
        )
        .await??;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// Forgets the idle connections: one has been found dead, so the others are, too.
    pub(crate) fn forget(&self) {
        self.lock().clear();
    }

    /// Takes the server out and watches for its return.
    pub(crate) fn take_out(self: &Arc<Self>, driver: &Arc<Driver>) {
        self.forget();
        if self.out.swap(true, Ordering::Relaxed) {
            return;
        }
        driver.set_server(self.id, false);
        let upstream = Arc::clone(self);
        // Weak, so that a gateway that has ended is not kept alive by a dead server.
        let driver = Arc::downgrade(driver);
        tokio::spawn(async move {
            let mut pause = FIRST_PAUSE;
            loop {
                tokio::time::sleep(pause).await;
                let reached = upstream.reach().await.is_ok();
                let Some(driver) = driver.upgrade() else { return };
                if reached {
                    upstream.out.store(false, Ordering::Relaxed);
                    driver.set_server(upstream.id, true);
                    return;
                }
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease {
    /// Sends a request and waits for the head of its answer.
    ///
    /// # Errors
    /// [`Unanswered`] if there is none.
    pub(crate) async fn send(&mut self, request: Request<Upload>) -> Result<Response<Incoming>, Unanswered> {
        self.sender.try_send_request(request).await.map_err(|mut failed| {
            let unsent = failed.take_message();
            Unanswered { error: failed.into_error(), unsent }
        })
    }

    /// Keeps the connection for another request.
    pub(crate) fn give_back(self) {
        let Self { upstream, sender, .. } = self;
        if sender.is_closed() || upstream.out.load(Ordering::Relaxed) {
            return;
        }
        let mut idle = upstream.lock();
        if idle.len() < IDLE {
            idle.push(Idle { sender, since: Instant::now() });
        }
    }
}
