//! Stopping in two steps: first nothing new is taken and what is in work is finished, then everything ends.

use std::io;
use std::time::Duration;

use tokio::sync::watch;

/// How far the shutdown has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Running,
    Draining,
    Cut,
}

/// Starts a shutdown.
#[derive(Clone, Debug)]
pub(crate) struct Stop(watch::Sender<Level>);

/// Learns of a shutdown. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Shutdown(watch::Receiver<Level>);

/// A shutdown that can be started by hand.
pub(crate) fn channel() -> (Stop, Shutdown) {
    let (sender, receiver) = watch::channel(Level::Running);
    (Stop(sender), Shutdown(receiver))
}

impl Stop {
    /// Take nothing new, finish what is in work.
    pub(crate) fn drain(&self) {
        self.raise(Level::Draining);
    }

    /// End at once.
    pub(crate) fn cut(&self) {
        self.raise(Level::Cut);
    }

    fn raise(&self, level: Level) {
        self.0.send_if_modified(|now| {
            let raised = level > *now;
            *now = level.max(*now);
            raised
        });
    }
}

impl Shutdown {
    /// A shutdown started by the first SIGTERM or SIGINT and cut short by the second. Must be called inside a
    /// runtime.
    ///
    /// # Errors
    /// If the signals cannot be listened to.
    pub(crate) fn on_signals() -> io::Result<Self> {
        let (stop, shutdown) = channel();
        let mut signals = Signals::new()?;
        tokio::spawn(async move {
            signals.next().await;
            stop.drain();
            signals.next().await;
            stop.cut();
        });
        Ok(shutdown)
    }

    /// Resolves when the shutdown has begun.
    pub(crate) async fn begins(&mut self) {
        self.reaches(Level::Draining).await;
    }

    /// Resolves when the shutdown has been cut short.
    pub(crate) async fn is_cut(&self) {
        self.clone().reaches(Level::Cut).await;
    }

    /// Whether the shutdown has begun.
    pub(crate) fn has_begun(&self) -> bool {
        *self.0.borrow() >= Level::Draining
    }

    async fn reaches(&mut self, level: Level) {
        if self.0.wait_for(|now| *now >= level).await.is_err() {
            // Nobody is left to stop us.
            std::future::pending::<()>().await;
        }
    }

    /// A shutdown that follows this one but is cut short `limit` after it has begun.
    pub(crate) fn bounded(&self, limit: Duration) -> Self {
        let (stop, bounded) = channel();
        let mut outer = self.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = outer.begins() => (),
                () = stop.0.closed() => return,
            }
            stop.drain();
            tokio::select! {
                () = outer.is_cut() => (),
                () = tokio::time::sleep(limit) => (),
                () = stop.0.closed() => return,
            }
            stop.cut();
        });
        bounded
    }
}

#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => (),
            _ = self.interrupt.recv() => (),
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_drain_has_a_limit_and_a_cut_needs_none() {
        let (stop, shutdown) = channel();
        let mut bounded = shutdown.bounded(Duration::from_secs(30));
        stop.drain();
        let begun = tokio::time::Instant::now();
        bounded.begins().await;
        bounded.is_cut().await;
        assert_eq!(begun.elapsed(), Duration::from_secs(30));

        let bounded = shutdown.bounded(Duration::from_secs(30));
        stop.cut();
        let begun = tokio::time::Instant::now();
        bounded.is_cut().await;
        assert_eq!(begun.elapsed(), Duration::ZERO);
        stop.drain();
        assert_eq!(*shutdown.0.borrow(), Level::Cut, "a shutdown never goes back");
    }
}
