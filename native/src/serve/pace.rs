//! `--send-rate`: all file bodies together at so many bytes a second, as if they shared one link.
//!
//! A loopback interface is as fast as memory, so an experiment on one machine has no link to be short of. This is a
//! token bucket that is kept as a time: each piece of a body takes the link from when it is free, for as long as the rate
//! says, and is handed over at the end of that. Pieces of several answers take turns in the order in which they ask.
//! It counts bytes of bodies; heads, TCP and IP are not in it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How far behind the link may be: a timer is late by up to a millisecond, and a disk by a little, which is made up for
/// out of this. It is also what an idle link gives away at once: the depth of the bucket.
const SLACK: Duration = Duration::from_millis(5);
/// A piece of a body takes the link for about so long, within the bounds of [`PIECE`].
const TURN: Duration = Duration::from_millis(10);
/// Shortest and longest piece of a body, in bytes.
const PIECE: (u64, u64) = (1 << 10, 64 << 10);

/// A link of a fixed rate.
#[derive(Debug)]
pub(crate) struct Pace {
    bytes_per_s: u32,
    free_at: Mutex<Instant>,
}

impl Pace {
    /// A link that is idle now. 0 is taken for 1.
    pub(crate) fn new(bytes_per_s: u32) -> Self {
        Self { bytes_per_s: bytes_per_s.max(1), free_at: Mutex::new(Instant::now()) }
    }

    /// What the link carries.
    pub(crate) const fn bytes_per_s(&self) -> u32 {
        self.bytes_per_s
    }

    /// Bytes of one piece, so that several answers take turns quickly.
    pub(crate) fn piece(&self) -> usize {
        let turn = u64::from(self.bytes_per_s) * TURN.as_millis() as u64 / 1000;
        turn.clamp(PIECE.0, PIECE.1) as usize
    }

    /// Takes the link for `bytes`; the moment when they have passed.
    pub(crate) fn pass(&self, bytes: usize) -> Instant {
        let nanos = bytes as u128 * 1_000_000_000 / u128::from(self.bytes_per_s);
        let time = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        let now = Instant::now();
        let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        *free_at = (*free_at).max(now.checked_sub(SLACK).unwrap_or(now)) + time;
        *free_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{advance, sleep_until};

    #[tokio::test(start_paused = true)]
    async fn many_pieces_together_keep_the_rate() {
        let pace = Pace::new(1_000_000);
        advance(Duration::from_secs(9)).await;
        let begun = Instant::now();
        for _ in 0..100 {
            sleep_until(pace.pass(10_000)).await;
        }
        let took = begun.elapsed();
        assert!(
            took >= Duration::from_secs(1) - SLACK,
            "an idle link saves up its slack and no more: {took:?}"
        );
        assert!(took <= Duration::from_secs(1), "timers that are late cost nothing: {took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn pieces_pass_one_after_the_other() {
        let pace = Pace::new(1_000_000);
        let (first, second) = (pace.pass(50_000), pace.pass(50_000));
        assert_eq!(second - first, Duration::from_millis(50), "the second waits for the first");
    }

    #[test]
    fn slow_links_get_small_pieces() {
        for (rate, piece) in [(1_000, 1 << 10), (1_000_000, 10_000), (12_500_000, 64 << 10)] {
            assert_eq!(Pace::new(rate).piece(), piece, "at {rate} bytes a second");
        }
    }
}
