//! Connections that stop being HTTP (WebSocket and the like): bytes are passed both ways until one side ends.
//!
//! A tunnel holds its worker slot all the while, for it keeps the server busy; a class with long tunnels needs
//! workers for them.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tidegate_core::gateway::Outcome;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, copy_bidirectional};
use tokio::time::Instant;

use super::connection::Client;
use super::driver::Slot;
use super::shutdown::Shutdown;

/// Passes bytes between client and server until a side ends, nothing has passed for `idle`, or the gateway is cut.
pub(crate) async fn run(
    (ours, theirs): (OnUpgrade, OnUpgrade),
    slot: Slot,
    client: Arc<Client>,
    idle: Duration,
    shutdown: Shutdown,
) {
    let Ok((ours, theirs)) = tokio::try_join!(ours, theirs) else {
        // The client left before the switch; dropping the slot says so.
        return;
    };
    let clock = Arc::new(Clock { started: Instant::now(), last_ms: AtomicU64::new(0) });
    let mut ours = pin!(Noted { inner: TokioIo::new(ours), clock: Arc::clone(&clock) });
    let mut theirs = pin!(Noted { inner: TokioIo::new(theirs), clock: Arc::clone(&clock) });
    let ended = tokio::select! {
        result = copy_bidirectional(&mut ours, &mut theirs) => result.is_ok(),
        () = clock.stands_still(idle) => true,
        () = shutdown.is_cut() => false,
    };
    slot.finish(if ended { Outcome::Completed } else { Outcome::Failed });
    drop(client);
}

/// When something last passed.
struct Clock {
    started: Instant,
    last_ms: AtomicU64,
}

impl Clock {
    async fn stands_still(&self, limit: Duration) {
        loop {
            let due = self.started + Duration::from_millis(self.last_ms.load(Ordering::Relaxed)) + limit;
            if due <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(due).await;
        }
    }
}

/// One end of a tunnel; what is read from it is noted.
struct Noted<T> {
    inner: T,
    clock: Arc<Clock>,
}

impl<T: AsyncRead + Unpin> AsyncRead for Noted<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        let ms = u64::try_from(self.clock.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.clock.last_ms.store(ms, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Noted<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
