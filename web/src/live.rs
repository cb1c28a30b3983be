//! A live system: the server's events, read and never answered.
//!
//! The server sends its scenario once and a frame a few times a second. The browser's event source tries again
//! by itself after a lost connection; where it gives up (a refused connection, another origin), we try again.

use crate::app::{App, Msg};
use crate::feed::Feed;
use tidegate_core::frame::Frame;
use tidegate_core::scenario::{Parsed, Scenario, parse_json};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{EventSource, MessageEvent};
use yew::html::Scope;

/// Without a frame for so long the server is lost.
const LOST_MS: f64 = 3000.0;
/// A closed connection is opened again after so long.
const AGAIN_MS: f64 = 2000.0;
/// Frames are expected at this distance; the history takes a point each.
const STEP_S: f64 = 0.25;
/// Rates of the live picture are taken over this long.
const WINDOW_S: f64 = 2.0;

/// From the server, or about it.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The connection is open.
    Open(u32),
    /// Its scenario.
    Scenario(u32, String),
    /// A frame, as a list of numbers.
    Frame(u32, String),
    /// The connection failed.
    Failed(u32),
    /// A short message for the person.
    Toast(String),
}

/// How the connection stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Status {
    /// Nobody asked for one.
    #[default]
    Off,
    /// Not answered yet.
    Connecting,
    /// Frames arrive.
    On,
    /// Frames arrived, and no more do; whole seconds since.
    Lost(u32),
    /// It never answered.
    Refused,
    /// It answers what we cannot read.
    Foreign(String),
}

struct Source {
    source: EventSource,
    _ears: Vec<Closure<dyn Fn(MessageEvent)>>,
}

impl Drop for Source {
    fn drop(&mut self) {
        self.source.close();
    }
}

/// The live system.
#[derive(Default)]
pub struct Live {
    /// Address of the server; empty for the one the page came from.
    pub address: String,
    /// How the connection stands.
    pub status: Status,
    /// The system, once its scenario is here.
    pub feed: Option<Feed>,
    /// Frames a second, lately.
    pub rate: f64,
    /// Age of the last frame, in seconds.
    pub age_s: f64,
    source: Option<Source>,
    /// Number of the connection: what an older one still says is not heard.
    number: u32,
    told: Status,
    last_ms: Option<f64>,
    tried_ms: f64,
    arrivals: Vec<f64>,
}

impl Live {
    /// Whether a connection is wanted.
    #[must_use]
    pub fn wanted(&self) -> bool {
        self.status != Status::Off
    }

    /// Whether frames arrive.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.status == Status::On
    }

    /// The address as it is shown.
    #[must_use]
    pub fn shown_address(&self) -> String {
        if self.address.is_empty() {
            web_sys::window().and_then(|w| w.location().host().ok()).unwrap_or_default()
        } else {
            let address = self.address.trim_end_matches('/');
            address.trim_start_matches("http://").trim_start_matches("https://").to_owned()
        }
    }

    /// Opens a connection to a server; what another sent is forgotten.
    pub fn connect(&mut self, address: &str, link: &Scope<App>) {
        self.address = address.trim().to_owned();
        self.feed = None;
        self.last_ms = None;
        self.arrivals.clear();
        self.status = Status::Connecting;
        self.open(link);
    }

    /// Ends the connection. The last picture stays.
    pub fn disconnect(&mut self) {
        self.source = None;
        self.status = Status::Off;
    }

    fn url(&self) -> String {
        let address = self.address.trim_end_matches('/');
        if address.is_empty() {
            "/events".to_owned()
        } else if address.contains("://") {
            format!("{address}/events")
        } else {
            format!("http://{address}/events")
        }
    }

    fn open(&mut self, link: &Scope<App>) {
        self.source = None;
        self.number += 1;
        self.tried_ms = f64::NAN;
        let number = self.number;
        let Ok(source) = EventSource::new(&self.url()) else {
            self.status = Status::Refused;
            return;
        };
        let mut ears = Vec::new();
        let mut hear = |name: &str, event: fn(u32, String) -> Event| {
            let link = link.clone();
            let ear = Closure::<dyn Fn(MessageEvent)>::new(move |e: MessageEvent| {
                let data = e.data().as_string().unwrap_or_default();
                link.send_message(Msg::Live(event(number, data)));
            });
            let _ = source.add_event_listener_with_callback(name, ear.as_ref().unchecked_ref());
            ears.push(ear);
        };
        hear("open", |n, _| Event::Open(n));
        hear("scenario", Event::Scenario);
        hear("frame", Event::Frame);
        hear("error", |n, _| Event::Failed(n));
        self.source = Some(Source { source, _ears: ears });
    }

    /// Takes what was heard at a moment of the browser's clock.
    pub fn hear(&mut self, event: Event, now_ms: f64) {
        match event {
            Event::Scenario(n, json) if n == self.number => match parse_json(&json).and_then(Parsed::check) {
                Ok(scenario) => self.begin(scenario),
                Err(error) => self.status = Status::Foreign(error.to_string()),
            },
            Event::Frame(n, text) if n == self.number => self.frame(&text, now_ms),
            Event::Failed(n) if n == self.number => {
                self.tried_ms = now_ms;
                if self.last_ms.is_none() {
                    self.status = Status::Refused;
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, scenario: Scenario) {
        // After a lost connection the same system goes on with its history.
        if self.feed.as_ref().is_none_or(|f| f.scenario != scenario) {
            self.feed = Some(Feed::new(self.number, scenario, WINDOW_S, STEP_S));
        }
    }

    fn frame(&mut self, text: &str, now_ms: f64) {
        // JSON has no word for what is not known: it says null, which a typed array would take for 0.
        let known = |number: JsValue| number.as_f64().unwrap_or(f64::NAN);
        let numbers = js_sys::JSON::parse(text)
            .map(|list| js_sys::Array::from(&list).iter().map(known).collect::<Vec<_>>());
        let frame =
            numbers.map_err(|_| "JSON".to_owned()).and_then(|n| Frame::decode(&n).map_err(|e| e.to_string()));
        let frame = match frame {
            Ok(frame) => frame,
            Err(reason) => {
                self.status = Status::Foreign(reason);
                return;
            }
        };
        let Some(feed) = &mut self.feed else { return };
        feed.remember(&frame);
        feed.show(frame);
        self.status = Status::On;
        self.last_ms = Some(now_ms);
        self.arrivals.push(now_ms);
        self.arrivals.retain(|at| now_ms - at <= 4000.0);
        if let (Some(first), n @ 2..) = (self.arrivals.first(), self.arrivals.len()) {
            self.rate = (n - 1) as f64 / ((now_ms - first) / 1000.0).max(0.001);
        }
    }

    /// Looks after the connection, at display rate.
    pub fn watch(&mut self, now_ms: f64, link: &Scope<App>) {
        if self.status == Status::Off {
            return;
        }
        if let Some(last_ms) = self.last_ms {
            self.age_s = ((now_ms - last_ms) / 1000.0).max(0.0);
            if now_ms - last_ms > LOST_MS && !matches!(self.status, Status::Foreign(_)) {
                self.status = Status::Lost(self.age_s as u32);
            }
        }
        let closed = self.source.as_ref().is_none_or(|s| s.source.ready_state() == EventSource::CLOSED);
        if closed && self.tried_ms.is_nan() {
            self.tried_ms = now_ms;
        }
        if closed && now_ms - self.tried_ms > AGAIN_MS {
            self.open(link);
        }
    }

    /// Whether the status is another than at the last call.
    pub fn status_changed(&mut self) -> bool {
        let changed = self.status != self.told;
        if changed {
            self.told = self.status.clone();
        }
        changed
    }
}
