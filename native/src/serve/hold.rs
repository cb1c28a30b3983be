//! Something held while a body goes out to a client, and given back whichever way that ends.
//!
//! A client that takes nothing must not keep a worker for ever. Over HTTP/1.1 the connection notices, as its socket
//! blocks. A stream of HTTP/2 can stand still while its connection is well, and then nobody asks for the body any more;
//! so for streams the time is watched here, beside the body. Only the client's share of it counts: while the body waits
//! for a disk, a server or the send rate, other limits hold.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

/// Holds a `T` until it is taken, until this is dropped, or until the client has taken nothing for too long.
pub(crate) struct Hold<T> {
    shared: Arc<Mutex<State<T>>>,
    /// Its end is what the watch notices, if there is one.
    _end: Option<oneshot::Sender<()>>,
}

struct State<T> {
    held: Option<T>,
    /// Since when it is the client's turn; `None` while it is ours.
    theirs: Option<Instant>,
}

impl<T: Send + 'static> Hold<T> {
    /// Holds `held` for a client that may take nothing for `limit` at most, or for as long as it likes if somebody else
    /// watches it. With a limit it must be called inside a runtime.
    pub(crate) fn new(held: T, limit: Option<Duration>) -> Self {
        let shared = Arc::new(Mutex::new(State { held: Some(held), theirs: Some(Instant::now()) }));
        let end = limit.map(|limit| {
            let (end, ended) = oneshot::channel();
            tokio::spawn(watch(Arc::downgrade(&shared), limit, ended));
            end
        });
        Self { shared, _end: end }
    }

    /// Takes what is held. `None`: it has been taken before, or given up because of the client.
    pub(crate) fn take(&self) -> Option<T> {
        self.lock().held.take()
    }

    /// Whether there is nothing held any more.
    pub(crate) fn is_over(&self) -> bool {
        self.lock().held.is_none()
    }

    /// From now on the client is not to blame for time that passes.
    pub(crate) fn our_turn(&self) {
        self.lock().theirs = None;
    }

    /// From now on it is the client who has to take something.
    pub(crate) fn their_turn(&self) {
        self.lock().theirs = Some(Instant::now());
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        lock(&self.shared)
    }
}

fn lock<T>(shared: &Mutex<State<T>>) -> MutexGuard<'_, State<T>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives up what is held once the client has taken nothing for `limit`.
async fn watch<T>(shared: Weak<Mutex<State<T>>>, limit: Duration, mut ended: oneshot::Receiver<()>) {
    loop {
        let left = {
            let Some(shared) = shared.upgrade() else { return };
            let mut state = lock(&shared);
            let left = state.theirs.map_or(limit, |since| limit.saturating_sub(since.elapsed()));
            if left.is_zero() {
                let given_up = state.held.take();
                // What it does when it goes may take locks of its own.
                drop(state);
                drop(given_up);
                return;
            }
            left
        };
        tokio::select! {
            () = sleep(left) => (),
            _ = &mut ended => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    /// Something whose end can be noticed.
    fn noticed() -> (oneshot::Sender<()>, oneshot::Receiver<()>) {
        oneshot::channel()
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_loses_what_is_held() {
        let (held, mut gone) = noticed();
        let hold = Hold::new(held, Some(LIMIT));
        let begun = Instant::now();
        sleep(LIMIT - Duration::from_secs(1)).await;
        assert!(!hold.is_over(), "it has a second left");
        hold.their_turn();
        let _ = (&mut gone).await;
        assert_eq!(begun.elapsed(), LIMIT * 2 - Duration::from_secs(1), "counted from what it took last");
        assert!(hold.is_over() && hold.take().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn time_that_we_need_does_not_count() {
        let (held, _gone) = noticed();
        let hold = Hold::new(held, Some(LIMIT));
        hold.our_turn();
        sleep(LIMIT * 10).await;
        assert!(!hold.is_over(), "the client had nothing to take");
        hold.their_turn();
        sleep(LIMIT * 2).await;
        assert!(hold.is_over(), "but then it had");
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_the_hold_is_the_end_of_what_is_held() {
        let (held, gone) = noticed();
        drop(Hold::new(held, Some(LIMIT)));
        let begun = Instant::now();
        let _ = gone.await;
        assert_eq!(begun.elapsed(), Duration::ZERO, "at once");
    }
}
