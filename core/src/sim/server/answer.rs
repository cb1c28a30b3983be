//! How long a session waits for its first answer.

use crate::time::Duration;

/// From this utilisation on, the answer takes [`FULL`] times as long as at an idle server, and more.
const FULL_FROM: f64 = 0.95;
/// The factor there.
const FULL: f64 = 20.0;
/// How steeply it grows beyond.
const BEYOND: f64 = 10.0;

/// Time to the first answer of a session at a server of which the part `rho` is in use, the session included.
///
/// `idle / (1 - rho)`; from 0.95 on `20 idle (1 + 10 (rho - 0.95))`, where both are the same (paper B, 2.4: 50 ms and 1 s).
/// `rho` may exceed 1, where sessions want more than there is.
pub(crate) fn first_answer(idle: Duration, rho: f64) -> Duration {
    let factor =
        if rho < FULL_FROM { 1.0 / (1.0 - rho.max(0.0)) } else { FULL * (1.0 + BEYOND * (rho - FULL_FROM)) };
    Duration::from_nanos((idle.as_nanos() as f64 * factor + 0.5) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_takes_longer_the_fuller_the_server_is() {
        let check = |rho: f64, want_ms: f64| {
            let got = first_answer(Duration::from_millis(50), rho).as_secs_f64() * 1e3;
            assert!((got - want_ms).abs() < 1e-5, "{got} ms at {rho}, want {want_ms}");
        };
        check(0.0, 50.0);
        check(0.5, 100.0);
        check(0.9, 500.0);
        check(0.949_999, 999.98);
        check(0.95, 1_000.0);
        check(1.0, 1_500.0);
        check(1.5, 6_500.0);
    }
}
