//! What the gateway answers in the server's place.

use std::fmt::Write as _;

use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use tidegate_core::frame::Cause;
use tidegate_core::time::Duration;

use super::body::Reply;
use super::fields::PROXY_STATUS;

/// Shortest and longest time a client that was turned away is asked to stay away, in seconds. The value is drawn
/// anew for each: with one value for all they would come back together.
const RETRY_AFTER_S: (u64, u64) = (1, 5);
/// Longest time a client is asked to stay away because no server is fit, in seconds.
const LONGEST_S: u64 = 300;

/// Why a request is not passed on, or got no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The policy turned it away.
    Shed(Cause),
    /// The request is no good; the connection is closed.
    Bad(StatusCode, &'static str),
    /// Files can be read and nothing else.
    NotForFiles,
    /// It waited as long as it may, and no server was fit.
    Unfit,
    /// No server could be reached.
    Unreachable,
    /// The server broke off before its answer began.
    Broken,
    /// The server's answer did not begin in time.
    Silent,
    /// The server's answer cannot be passed on.
    Nonsense,
    /// The disk does not give a file that is there.
    Unreadable,
}

impl Refusal {
    /// Status, RFC 9209 error type, and the reason in words.
    fn terms(self) -> (StatusCode, &'static str, &'static str) {
        match self {
            // The deadline passed while it was queued here, which is a gateway's timeout to the client.
            Self::Shed(Cause::Deadline) => (StatusCode::GATEWAY_TIMEOUT, "http_request_denied", "deadline"),
            Self::Shed(cause) => (StatusCode::SERVICE_UNAVAILABLE, "http_request_denied", cause.name()),
            Self::Bad(status, reason) => (status, "http_request_error", reason),
            Self::NotForFiles => (StatusCode::METHOD_NOT_ALLOWED, "http_request_error", "only GET and HEAD"),
            Self::Unfit => (StatusCode::SERVICE_UNAVAILABLE, "destination_unavailable", "no server is fit"),
            Self::Unreachable => {
                (StatusCode::BAD_GATEWAY, "destination_unavailable", "no server can be reached")
            }
            Self::Broken => (StatusCode::BAD_GATEWAY, "connection_terminated", "the server broke off"),
            Self::Silent => {
                (StatusCode::GATEWAY_TIMEOUT, "http_response_timeout", "the server did not answer in time")
            }
            Self::Nonsense => {
                (StatusCode::BAD_GATEWAY, "http_protocol_error", "the server's answer is not HTTP")
            }
            Self::Unreadable => {
                (StatusCode::INTERNAL_SERVER_ERROR, "proxy_internal_error", "the file cannot be read")
            }
        }
    }

    /// Whether the same request may do better in a while.
    fn is_passing(self) -> bool {
        matches!(self, Self::Shed(_) | Self::Unfit | Self::Unreachable)
    }

    /// The answer; `draw` spreads the time until a retry, of which `unfit` passes until a server may be fit again, if
    /// none is.
    pub(crate) fn answer(self, draw: u64, unfit: Option<Duration>) -> Response<Reply> {
        let (status, error, reason) = self.terms();
        let mut response = Response::new(Reply::text(format!("{} ({reason})\n", status.as_str())));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let mut proxy_status = String::new();
        let _ = write!(proxy_status, "tidegate; error={error}; details=\"{reason}\"");
        if let Ok(value) = HeaderValue::try_from(proxy_status) {
            headers.insert(PROXY_STATUS, value);
        }
        if self.is_passing() {
            let (shortest, longest) = RETRY_AFTER_S;
            // The first whole second in which there may be a server again is the soonest that makes sense.
            let unfit_s = unfit.map_or(0, |time| time.as_nanos().div_ceil(1_000_000_000).min(LONGEST_S));
            let soonest = shortest.max(unfit_s);
            headers.insert(header::RETRY_AFTER, HeaderValue::from(soonest + draw % (longest - shortest + 1)));
        }
        if matches!(self, Self::NotForFiles) {
            headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        if matches!(self, Self::Bad(..)) {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_turned_away_are_told_to_come_back_at_different_times() {
        assert_eq!(retries(None), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn where_no_server_is_fit_they_are_told_when_one_may_be() {
        assert_eq!(retries(Some(Duration::from_millis(7_001))), [8, 9, 10, 11, 12]);
        assert_eq!(retries(Some(Duration::ZERO)), [1, 2, 3, 4, 5], "never at once");
        assert_eq!(retries(Some(Duration::from_secs(1_000_000)))[0], LONGEST_S);
    }

    /// All values of `Retry-After` that clients get.
    fn retries(unfit: Option<Duration>) -> Vec<u64> {
        let mut seen = std::collections::BTreeSet::new();
        for draw in 0..100 {
            let answer = Refusal::Shed(Cause::Full).answer(draw, unfit);
            assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert_eq!(
                answer.headers()[PROXY_STATUS],
                "tidegate; error=http_request_denied; details=\"full\""
            );
            seen.insert(answer.headers()[header::RETRY_AFTER].to_str().unwrap().parse::<u64>().unwrap());
        }
        seen.into_iter().collect()
    }

    #[test]
    fn a_deadline_that_passed_in_the_queue_is_504() {
        assert_eq!(Refusal::Shed(Cause::Deadline).answer(0, None).status(), StatusCode::GATEWAY_TIMEOUT);
    }
}
