//! How large the answer to a request will be, before there is one.
//!
//! Policies that favour small answers need the size when the request arrives. Where it comes from, best first:
//!
//! * **file**: the length of the file that will be sent;
//! * **declared**: a request header that the operator named (`size_header`), from trusted peers only, so that nobody on
//!   the internet declares a large answer small;
//! * **learned**: what earlier answers of the same route had, as an exponentially weighted mean. A route is a class and
//!   the first two segments of the path.
//!
//! What a route is known by is a keyed hash of it: memory is the same whatever is asked for, and nobody can make two
//! routes meet. [`ROUTES`] are kept at most, in two generations: when the young one is full it becomes the old one and
//! what was old is forgotten; a route that is looked up in the old one is young again. That is within a factor of two of
//! "least recently used", without a list.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::HeaderMap;
use hyper::header::HeaderName;
use serde_json::{Value, json};
use tidegate_core::id::ClassId;

/// Routes kept at most.
const ROUTES: usize = 4096;
/// Weight of the newest answer of a route.
const GAIN: f64 = 0.2;

/// Where a size comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The length of the file.
    File,
    /// A header of the request.
    Declared,
    /// Earlier answers of the route.
    Learned,
    /// Nothing is known.
    None,
}

impl Source {
    /// All of them, in the order of their counts.
    pub(crate) const ALL: [Self; 4] = [Self::File, Self::Declared, Self::Learned, Self::None];

    /// Name in metrics and in `/state`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Declared => "declared",
            Self::Learned => "learned",
            Self::None => "none",
        }
    }
}

/// What is known about sizes.
pub(crate) struct Sizes {
    /// The header in which trusted peers declare a size.
    header: Option<HeaderName>,
    hash: RandomState,
    routes: Mutex<Routes>,
    seen: Mutex<Vec<Seen>>,
}

/// The sizes of one class so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Requests by source, in the order of [`Source::ALL`].
    pub(crate) sources: [u64; 4],
    /// Sum of the known sizes.
    bytes: u128,
}

impl Seen {
    fn note(&mut self, source: Source, bytes: Option<u64>) {
        self.sources[source as usize] += 1;
        self.bytes += u128::from(bytes.unwrap_or(0));
    }

    /// Mean of the known sizes, in bytes.
    pub(crate) fn mean(&self) -> Option<f64> {
        let known: u64 = self.sources.iter().sum::<u64>() - self.sources[Source::None as usize];
        (known > 0).then(|| self.bytes as f64 / known as f64)
    }
}

/// A class and the first two segments of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Route(u64);

/// Mean sizes of routes, in two generations.
#[derive(Debug, Default)]
struct Routes {
    young: HashMap<Route, f64>,
    old: HashMap<Route, f64>,
}

impl Routes {
    fn get(&mut self, route: Route) -> Option<f64> {
        if let Some(&mean) = self.young.get(&route) {
            return Some(mean);
        }
        let mean = self.old.remove(&route)?;
        self.put(route, mean);
        Some(mean)
    }

    fn put(&mut self, route: Route, mean: f64) {
        if self.young.len() >= ROUTES / 2 && !self.young.contains_key(&route) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(route, mean);
    }

    fn learn(&mut self, route: Route, bytes: f64) {
        let mean = self.get(route).map_or(bytes, |mean| mean + GAIN * (bytes - mean));
        self.put(route, mean);
    }

    fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }
}

impl Sizes {
    /// Nothing seen yet, of so many classes.
    pub(crate) fn new(classes: usize, header: Option<HeaderName>) -> Arc<Self> {
        Arc::new(Self {
            header,
            hash: RandomState::new(),
            routes: Mutex::default(),
            seen: Mutex::new(vec![Seen::default(); classes]),
        })
    }

    /// The header in which trusted peers declare a size, if there is one.
    pub(crate) const fn header(&self) -> Option<&HeaderName> {
        self.header.as_ref()
    }

    /// The route of a request.
    pub(crate) fn route(&self, class: ClassId, path: &str) -> Route {
        let mut segments = path.split('/').skip(1);
        Route(self.hash.hash_one((class, segments.next(), segments.next())))
    }

    /// The size of the answer to a request that goes to a server, in bytes.
    pub(crate) fn estimate(
        &self,
        class: ClassId,
        route: Route,
        headers: &HeaderMap,
        trusted: bool,
    ) -> Option<u64> {
        let declared = self.header.as_ref().filter(|_| trusted).and_then(|name| declared(headers, name));
        let learned = || lock(&self.routes).get(route).map(|mean| mean.round() as u64);
        let (source, bytes) = match declared {
            Some(bytes) => (Source::Declared, Some(bytes)),
            None => learned().map_or((Source::None, None), |bytes| (Source::Learned, Some(bytes))),
        };
        self.note(class, source, bytes);
        bytes
    }

    /// Notes the length of the file that a request is for, if there is one.
    pub(crate) fn file(&self, class: ClassId, bytes: Option<u64>) -> Option<u64> {
        self.note(class, if bytes.is_some() { Source::File } else { Source::None }, bytes);
        bytes
    }

    /// Notes what an answer of a route had.
    pub(crate) fn learn(&self, route: Route, bytes: u64) {
        lock(&self.routes).learn(route, bytes as f64);
    }

    /// What has been seen of each class.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        lock(&self.seen).clone()
    }

    /// For `/state`: what has been seen of each class, and how many routes are known.
    pub(crate) fn to_json<'a>(&self, class_names: impl Iterator<Item = &'a str>) -> Value {
        let classes: Vec<Value> = class_names
            .zip(self.seen())
            .map(|(name, seen)| {
                let sources: serde_json::Map<String, Value> = Source::ALL
                    .iter()
                    .zip(seen.sources)
                    .map(|(s, n)| (s.name().to_owned(), n.into()))
                    .collect();
                json!({ "name": name, "from": sources, "mean_bytes": seen.mean() })
            })
            .collect();
        json!({ "routes": lock(&self.routes).len(), "classes": classes })
    }

    fn note(&self, class: ClassId, source: Source, bytes: Option<u64>) {
        if let Some(seen) = lock(&self.seen).get_mut(usize::from(class.0)) {
            seen.note(source, bytes);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The size a header declares: whole bytes, in digits.
fn declared(headers: &HeaderMap, name: &HeaderName) -> Option<u64> {
    let text = headers.get(name)?.to_str().ok()?;
    // `parse` alone would take a sign.
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    const LOW: ClassId = ClassId(0);
    const HIGH: ClassId = ClassId(1);
    const HEADER: HeaderName = HeaderName::from_static("x-expected-bytes");

    fn sizes() -> Arc<Sizes> {
        Sizes::new(2, Some(HEADER))
    }

    fn asked(
        sizes: &Sizes,
        class: ClassId,
        path: &str,
        declared: Option<&'static str>,
        trusted: bool,
    ) -> Option<u64> {
        let headers = declared.map(|value| (HEADER, HeaderValue::from_static(value)));
        sizes.estimate(class, sizes.route(class, path), &headers.into_iter().collect(), trusted)
    }

    #[test]
    fn a_trusted_word_goes_before_experience_and_a_stranger_has_none() {
        let sizes = sizes();
        sizes.learn(sizes.route(LOW, "/a/b"), 500);
        for (declared, trusted, want) in [
            (Some("7"), true, Some(7)),
            (Some("7"), false, Some(500)),
            (Some("+7"), true, Some(500)),
            (Some("7 bytes"), true, Some(500)),
            (Some(""), true, Some(500)),
            (Some("99999999999999999999"), true, Some(500)),
            (None, true, Some(500)),
        ] {
            assert_eq!(
                asked(&sizes, LOW, "/a/b", declared, trusted),
                want,
                "{declared:?}, trusted: {trusted}"
            );
        }
        let seen = sizes.seen()[0];
        assert_eq!(seen.sources, [0, 1, 6, 0]);
        assert_eq!(seen.mean(), Some((7.0 + 6.0 * 500.0) / 7.0));
    }

    #[test]
    fn a_route_is_a_class_and_two_segments() {
        let sizes = sizes();
        sizes.learn(sizes.route(LOW, "/img/large/1.jpg"), 1000);
        for (class, path, known) in [
            (LOW, "/img/large/2.jpg", true),
            (LOW, "/img/large", true),
            (LOW, "/img/small/1.jpg", false),
            (LOW, "/img", false),
            (LOW, "/imglarge", false),
            (HIGH, "/img/large/1.jpg", false),
        ] {
            assert_eq!(asked(&sizes, class, path, None, false).is_some(), known, "class {}, {path}", class.0);
        }
        assert_eq!(sizes.seen()[1].mean(), None, "nothing is known of the other class");
    }

    #[test]
    fn experience_follows_the_answers() {
        let sizes = sizes();
        let route = sizes.route(LOW, "/a");
        sizes.learn(route, 1000);
        sizes.learn(route, 2000);
        assert_eq!(asked(&sizes, LOW, "/a", None, false), Some(1200), "a fifth of the way");
        for _ in 0..50 {
            sizes.learn(route, 2000);
        }
        assert_eq!(asked(&sizes, LOW, "/a", None, false), Some(2000));
    }

    #[test]
    fn a_flood_of_routes_is_bounded_and_does_not_push_out_what_is_in_use() {
        let mut routes = Routes::default();
        routes.learn(Route(0), 77.0);
        for n in 1..100_000 {
            routes.learn(Route(n), 1.0);
            if n % 1000 == 0 {
                assert_eq!(routes.get(Route(0)), Some(77.0), "in use, at route {n}");
            }
            assert!(routes.len() <= ROUTES, "{} routes at {n}", routes.len());
        }
        assert_eq!(routes.get(Route(1)), None, "out of use for long");
    }

    #[test]
    fn the_operator_sees_where_sizes_come_from() {
        let sizes = sizes();
        assert_eq!(sizes.file(LOW, Some(30)), Some(30));
        assert_eq!(sizes.file(LOW, Some(50)), Some(50));
        assert_eq!(sizes.file(LOW, None), None);
        let state = sizes.to_json(["low", "high"].into_iter());
        let from = json!({ "file": 2, "declared": 0, "learned": 0, "none": 1 });
        assert_eq!(state["classes"][0], json!({ "name": "low", "from": from, "mean_bytes": 40.0 }));
        assert_eq!(state["classes"][1]["mean_bytes"], Value::Null);
    }
}
