//! `/events`: the running system as server-sent events, drawn by the same page that draws a simulation.
//!
//! First the scenario (`event: scenario`, canonical JSON), then ten frames a second (`event: frame`, the flat list of
//! [`Frame::encode`] as a JSON array). `id` counts the frames; a client that sees a gap knows it missed some.
//! One sampler feeds all clients, and rests when there is none. A client that falls too far behind is disconnected.

use std::fmt::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame as Piece};
use tidegate_core::frame::Frame;
use tokio::sync::broadcast;
use tokio::time::MissedTickBehavior;

use super::body::BodyError;
use super::proxy::Gate;

/// Time between two frames.
const PERIOD: Duration = Duration::from_millis(100);
/// Frames a client may be behind: three seconds.
const BEHIND: usize = 32;

/// Where clients subscribe.
pub(crate) type Feed = broadcast::Sender<Bytes>;

/// A feed without anybody yet.
pub(crate) fn feed() -> Feed {
    broadcast::Sender::new(BEHIND)
}

/// Sends frames to the feed for as long as it is polled.
pub(crate) async fn sample(gate: Arc<Gate>, feed: Feed) {
    let mut tick = tokio::time::interval(PERIOD);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut frame = Frame::default();
    let mut numbers = Vec::new();
    for id in 0_u64.. {
        tick.tick().await;
        if feed.receiver_count() > 0 {
            gate.driver.frame(&mut frame);
            numbers.clear();
            frame.encode(&mut numbers);
            let _ = feed.send(event("frame", Some(id), &array(&numbers)));
        }
    }
}

/// One event. `data` has no line break.
fn event(name: &str, id: Option<u64>, data: &str) -> Bytes {
    let id = id.map_or(String::new(), |id| format!("id: {id}\n"));
    format!("event: {name}\n{id}data: {data}\n\n").into()
}

/// A JSON array; whole numbers without a point. JSON has no word for what is not finite: null.
fn array(numbers: &[f64]) -> String {
    let mut text = String::with_capacity(numbers.len() * 6);
    text.push('[');
    for (i, &number) in numbers.iter().enumerate() {
        if i > 0 {
            text.push(',');
        }
        let _ = if number.is_finite() { write!(text, "{number}") } else { write!(text, "null") };
    }
    text.push(']');
    text
}

/// The stream of one client.
pub(crate) struct Events {
    first: Option<Bytes>,
    next: Pin<Box<dyn Future<Output = Next> + Send>>,
}

impl Events {
    /// A stream that begins with the scenario, in canonical JSON.
    pub(crate) fn new(scenario: &str, feed: &Feed) -> Self {
        Self {
            first: Some(event("scenario", None, &scenario.replace(['\r', '\n'], " "))),
            next: Box::pin(next(feed.subscribe())),
        }
    }
}

/// An event, or `None` for one who is too far behind; and where the one after it comes from.
type Next = (Option<Bytes>, broadcast::Receiver<Bytes>);

async fn next(mut receiver: broadcast::Receiver<Bytes>) -> Next {
    (receiver.recv().await.ok(), receiver)
}

impl Body for Events {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Piece<Bytes>, BodyError>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Piece::data(first))));
        }
        let (event, receiver) = std::task::ready!(self.next.as_mut().poll(cx));
        self.next = Box::pin(next(receiver));
        Poll::Ready(event.map(|event| Ok(Piece::data(event))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt as _;

    #[test]
    fn numbers_are_json() {
        assert_eq!(array(&[1.0, 0.25, 4_294_967_295.0, f64::NAN]), "[1,0.25,4294967295,null]");
        assert_eq!(array(&[]), "[]");
    }

    #[tokio::test]
    async fn a_client_too_far_behind_is_let_go() {
        let feed = feed();
        let mut events = Events::new("{\"a\":\n1}", &feed);
        let first = events.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(first, "event: scenario\ndata: {\"a\": 1}\n\n");
        feed.send(event("frame", Some(7), "[1]")).unwrap();
        assert_eq!(
            events.frame().await.unwrap().unwrap().into_data().unwrap(),
            "event: frame\nid: 7\ndata: [1]\n\n"
        );
        for _ in 0..=BEHIND {
            feed.send(Bytes::new()).unwrap();
        }
        assert!(events.frame().await.is_none());
    }
}
