//! Which class a real request belongs to: the rules of the scenario, made fast.
//!
//! Classes are tried in the order of the scenario, a class's rules in their order; the first rule of which every
//! condition holds decides. What nothing matches goes to the first class without rules, or to the last
//! class if all have some. Matching takes time proportional to the request, whatever the patterns.
//!
//! This is about fairness, not access: a request is never refused here.

mod cidr;
mod glob;
mod path;

pub use cidr::{Cidr, CidrError};

use crate::id::ClassId;
use crate::scenario::Scenario;
use crate::scenario::v1::{FromV1, RuleV1};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;
use glob::{Dialect, Glob};

/// What the rules may ask about a request.
pub trait RequestFacts {
    /// Target path; a query behind `?` is not looked at.
    fn path(&self) -> &str;
    /// Host it was sent to, with or without port; empty if the request names none.
    fn host(&self) -> &str;
    /// Method, such as `GET`.
    fn method(&self) -> &str;
    /// Value of the first header of this name (lower case), not necessarily UTF-8.
    fn header(&self, name: &str) -> Option<&[u8]>;
    /// Address of the client.
    fn client(&self) -> IpAddr;
}

/// The class of a request, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classified {
    /// The class.
    pub class: ClassId,
    /// Which of the class's rules decided; `None` if none did and the class is the fallback.
    pub rule: Option<usize>,
}

/// A condition of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition {
    /// `path`.
    Path,
    /// `host`.
    Host,
    /// `method`.
    Method,
    /// `header` is not there.
    Header,
    /// `header` is there, but its value does not match `value`.
    Value,
    /// `header` is there, but the peer is not trusted to say so.
    Trust,
    /// `client`.
    Client,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Path => "path does not match",
            Self::Host => "host does not match",
            Self::Method => "method does not match",
            Self::Header => "header is missing",
            Self::Value => "header value does not match",
            Self::Trust => "header rule, and the peer is not trusted",
            Self::Client => "client address is not in the block",
        })
    }
}

/// One rule that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The class it belongs to.
    pub class: ClassId,
    /// Its place among the class's rules.
    pub rule: usize,
    /// The first condition that did not hold; `None` if all did and the rule decided.
    pub failed: Option<Condition>,
}

/// How a class was found: every rule that was tried, in order, and the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The rules tried; only the last may have decided.
    pub trials: Vec<Trial>,
    /// The answer.
    pub answer: Classified,
}

/// The classification rules of a scenario, ready to use.
#[derive(Clone, Debug)]
pub struct Classifier {
    rules: Vec<Rule>,
    fallback: ClassId,
    looks_at_paths: bool,
}

/// One rule, its patterns made ready.
#[derive(Clone, Debug)]
struct Rule {
    class: ClassId,
    place: usize,
    path: Option<Glob>,
    host: Option<Host>,
    method: Option<Box<str>>,
    header: Option<Header>,
    client: Option<Client>,
}

#[derive(Clone, Debug)]
enum Host {
    /// This host, in lower case.
    Is(Box<[u8]>),
    /// Any host with at least one label before this suffix, which begins with a dot.
    Below(Box<[u8]>),
}

#[derive(Clone, Debug)]
struct Header {
    name: Box<str>,
    value: Option<Glob>,
    from: FromV1,
}

#[derive(Clone, Copy, Debug)]
enum Client {
    In(Cidr),
    /// The rule names no block of addresses at all, which `Scenario::check` does not let pass.
    Nobody,
}

impl Classifier {
    /// The rules of a scenario.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        Self::from_rules(scenario.classes.iter().map(|class| class.rules.as_slice()))
    }

    /// The same from the rules alone: one list a class, in class order.
    pub fn from_rules<'a>(classes: impl Iterator<Item = &'a [RuleV1]>) -> Self {
        let mut rules = Vec::new();
        let mut without_rules = None;
        let mut last = ClassId(0);
        for (number, class_rules) in (0..=u8::MAX).zip(classes) {
            last = ClassId(number);
            if class_rules.is_empty() {
                without_rules = without_rules.or(Some(last));
            }
            rules.extend(class_rules.iter().enumerate().map(|(place, rule)| Rule::new(last, place, rule)));
        }
        let looks_at_paths = rules.iter().any(|rule| rule.path.is_some());
        Self { rules, fallback: without_rules.unwrap_or(last), looks_at_paths }
    }

    /// The class of a request. `trusted`: whether the server's operator trusts the peer that sent it.
    #[must_use]
    pub fn classify(&self, facts: &dyn RequestFacts, trusted: bool) -> Classified {
        let path = self.path_of(facts);
        let deciding = self.rules.iter().find(|rule| rule.failed_condition(&path, facts, trusted).is_none());
        self.answer(deciding)
    }

    /// The class of a request, with every rule that was tried on the way.
    #[must_use]
    pub fn explain(&self, facts: &dyn RequestFacts, trusted: bool) -> Explanation {
        let path = self.path_of(facts);
        let mut trials = Vec::new();
        for rule in &self.rules {
            let failed = rule.failed_condition(&path, facts, trusted);
            trials.push(Trial { class: rule.class, rule: rule.place, failed });
            if failed.is_none() {
                return Explanation { trials, answer: self.answer(Some(rule)) };
            }
        }
        Explanation { trials, answer: self.answer(None) }
    }

    /// The class of what no rule matches.
    #[must_use]
    pub const fn fallback(&self) -> ClassId {
        self.fallback
    }

    fn answer(&self, deciding: Option<&Rule>) -> Classified {
        match deciding {
            Some(rule) => Classified { class: rule.class, rule: Some(rule.place) },
            None => Classified { class: self.fallback, rule: None },
        }
    }

    fn path_of<'a>(&self, facts: &'a dyn RequestFacts) -> alloc::borrow::Cow<'a, [u8]> {
        if self.looks_at_paths { path::canonical(facts.path().as_bytes()) } else { (&[][..]).into() }
    }
}

impl Rule {
    fn new(class: ClassId, place: usize, rule: &RuleV1) -> Self {
        let path_glob = |p: &str| Glob::new(&path::canonical_pattern(p.as_bytes()), Dialect::Path);
        Self {
            class,
            place,
            path: rule.path.as_deref().map(path_glob),
            host: rule.host.as_deref().map(Host::new),
            method: rule.method.as_deref().map(Into::into),
            header: rule.header.as_deref().map(|name| Header {
                name: name.to_ascii_lowercase().into(),
                value: rule.value.as_deref().map(|v| Glob::new(v.as_bytes(), Dialect::Text)),
                from: rule.from,
            }),
            client: rule.client.as_deref().map(|c| c.parse().map_or(Client::Nobody, Client::In)),
        }
    }

    /// The first condition that does not hold; cheap ones are asked first.
    fn failed_condition(&self, path: &[u8], facts: &dyn RequestFacts, trusted: bool) -> Option<Condition> {
        if self.method.as_deref().is_some_and(|method| method != facts.method()) {
            return Some(Condition::Method);
        }
        match self.client {
            Some(Client::In(block)) if !block.contains(facts.client()) => return Some(Condition::Client),
            Some(Client::Nobody) => return Some(Condition::Client),
            _ => {}
        }
        if self.host.as_ref().is_some_and(|host| !host.matches(facts.host())) {
            return Some(Condition::Host);
        }
        if self.path.as_ref().is_some_and(|glob| !glob.matches(path)) {
            return Some(Condition::Path);
        }
        self.header.as_ref().and_then(|header| header.failed_condition(facts, trusted))
    }
}

impl Host {
    fn new(pattern: &str) -> Self {
        let pattern = pattern.trim_end_matches('.').to_ascii_lowercase().into_bytes();
        match pattern.strip_prefix(b"*") {
            Some(suffix) if suffix.first() == Some(&b'.') => Self::Below(suffix.into()),
            _ => Self::Is(pattern.into()),
        }
    }

    fn matches(&self, host: &str) -> bool {
        let host = without_port(host).trim_end_matches('.').as_bytes();
        match self {
            Self::Is(name) => host.eq_ignore_ascii_case(name),
            Self::Below(suffix) => {
                host.len() > suffix.len() && host[host.len() - suffix.len()..].eq_ignore_ascii_case(suffix)
            }
        }
    }
}

/// A host without its port: `example.org:80` and `[::1]:80` lose it, a bare IPv6 address is left alone.
fn without_port(host: &str) -> &str {
    if let Some(end) = host.find(']') {
        return &host[..=end];
    }
    match host.split_once(':') {
        Some((name, port)) if !port.contains(':') => name,
        _ => host,
    }
}

impl Header {
    fn failed_condition(&self, facts: &dyn RequestFacts, trusted: bool) -> Option<Condition> {
        let Some(value) = facts.header(&self.name) else { return Some(Condition::Header) };
        if self.from == FromV1::Trusted && !trusted {
            return Some(Condition::Trust);
        }
        let fits = self.value.as_ref().is_none_or(|glob| glob.matches(value.trim_ascii()));
        (!fits).then_some(Condition::Value)
    }
}

#[cfg(test)]
mod tests;
