//! Scenarios of the classifier: rules in, class out.

use super::*;
use alloc::string::{String, ToString};
use alloc::vec;

struct Request {
    path: &'static str,
    host: &'static str,
    method: &'static str,
    headers: Vec<(&'static str, &'static [u8])>,
    client: &'static str,
}

impl RequestFacts for Request {
    fn path(&self) -> &str {
        self.path
    }
    fn host(&self) -> &str {
        self.host
    }
    fn method(&self) -> &str {
        self.method
    }
    fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers.iter().find(|(n, _)| *n == name).map(|&(_, value)| value)
    }
    fn client(&self) -> IpAddr {
        self.client.parse().unwrap()
    }
}

fn get(path: &'static str) -> Request {
    Request { path, host: "www.example.org", method: "GET", headers: vec![], client: "192.0.2.1" }
}

fn any() -> RuleV1 {
    RuleV1 {
        path: None,
        host: None,
        method: None,
        header: None,
        value: None,
        client: None,
        from: FromV1::Trusted,
    }
}

fn some(text: &str) -> Option<String> {
    Some(text.to_string())
}

fn path(pattern: &str) -> RuleV1 {
    RuleV1 { path: some(pattern), ..any() }
}

fn classifier(classes: &[&[RuleV1]]) -> Classifier {
    Classifier::from_rules(classes.iter().copied())
}

/// Whether the rule holds for the request, by both ways of asking.
#[track_caller]
fn check(rule: RuleV1, request: &Request, trusted: bool, want: Result<(), Condition>) {
    let classifier = classifier(&[core::slice::from_ref(&rule), &[]]);
    let explained = classifier.explain(request, trusted);
    let got = explained.trials[0].failed.map_or(Ok(()), Err);
    assert_eq!(got, want, "{rule:?} on {} {} at {}", request.method, request.path, request.host);
    assert_eq!(classifier.classify(request, trusted), explained.answer);
    assert_eq!(explained.answer.class, ClassId(u8::from(want.is_err())));
}

#[test]
fn stars_in_paths_mind_the_segments() {
    for (pattern, holds, fails) in [
        ("/api/**", &["/api/", "/api/v1/x?y=1", "/api//"][..], &["/api", "/apis/x", "/x/api/"][..]),
        ("/api/*", &["/api/", "/api/v1"], &["/api/v1/x", "/api"]),
        ("/*/edit", &["/7/edit", "//edit"], &["/7/8/edit", "/7/edit/"]),
        ("/**.jpg", &["/a.jpg", "/a/b.c.jpg?size=9"], &["/a.jpg/b", "/a.JPG"]),
        ("/", &["/", "/?q", "/."], &["", "/a"]),
        ("/a b", &["/a%20b", "/a b"], &["/a+b"]),
        ("/\u{e9}t\u{e9}", &["/%c3%a9t%C3%A9"], &["/ete"]),
        ("/g%6Fld", &["/gold", "/%67old", "/free/../gold", "/./gold"], &["/gold/", "/gold%2F"]),
        ("**", &["", "/", "/anything/at/all", "*"], &[]),
    ] {
        for request in holds {
            check(path(pattern), &get(request), false, Ok(()));
        }
        for request in fails {
            check(path(pattern), &get(request), false, Err(Condition::Path));
        }
    }
}

#[test]
fn hosts_match_without_port_or_case() {
    let host = |pattern: &str| RuleV1 { host: some(pattern), ..any() };
    for (pattern, holds, fails) in [
        (
            "example.org",
            &["example.org", "EXAMPLE.org:8080", "example.org."][..],
            &["www.example.org", ""][..],
        ),
        (
            "*.example.org",
            &["www.example.org", "a.b.Example.ORG:443"],
            &["example.org", ".example.org", "badexample.org"],
        ),
        ("Example.ORG.", &["example.org"], &["example.com"]),
        ("[::1]", &["[::1]", "[::1]:80"], &["[::2]"]),
        ("*", &["*"], &["example.org"]),
    ] {
        for name in holds {
            check(host(pattern), &Request { host: name, ..get("/") }, false, Ok(()));
        }
        for name in fails {
            check(host(pattern), &Request { host: name, ..get("/") }, false, Err(Condition::Host));
        }
    }
}

#[test]
fn a_header_counts_from_trusted_peers_only_unless_the_rule_says_anyone() {
    let rule = RuleV1 { header: some("X-Class"), value: some("gold*"), ..any() };
    let anyone = RuleV1 { from: FromV1::Anyone, ..rule.clone() };
    let with = |value: &'static [u8]| Request { headers: vec![("x-class", value)], ..get("/") };
    check(rule.clone(), &with(b"gold-1"), true, Ok(()));
    check(rule.clone(), &with(b"gold-1"), false, Err(Condition::Trust));
    check(rule.clone(), &with(b"silver"), true, Err(Condition::Value));
    check(rule, &get("/"), true, Err(Condition::Header));
    check(anyone.clone(), &with(b" gold\t"), false, Ok(()));
    check(anyone, &with(b"Gold"), false, Err(Condition::Value));
    let there = RuleV1 { header: some("x-class"), ..any() };
    check(there, &with(b"\xff\x00"), true, Ok(()));
    let bytes = RuleV1 { header: some("x-class"), value: some("*a*"), ..any() };
    check(bytes, &with(b"\xff/a\xfe"), true, Ok(()));
}

#[test]
fn trust_is_only_about_headers() {
    check(path("/x"), &get("/x"), false, Ok(()));
}

#[test]
fn method_and_client_must_match_exactly() {
    check(RuleV1 { method: some("POST"), ..any() }, &get("/"), false, Err(Condition::Method));
    check(RuleV1 { method: some("GET"), ..any() }, &get("/"), false, Ok(()));
    check(RuleV1 { client: some("192.0.2.0/24"), ..any() }, &get("/"), false, Ok(()));
    check(RuleV1 { client: some("198.51.100.0/24"), ..any() }, &get("/"), false, Err(Condition::Client));
    check(RuleV1 { client: some("nonsense"), ..any() }, &get("/"), false, Err(Condition::Client));
}

#[test]
fn all_conditions_of_a_rule_must_hold_and_any_rule_of_a_class_suffices() {
    let both = RuleV1 { method: some("GET"), ..path("/a") };
    let classifier = classifier(&[&[both, path("/b")], &[path("/**")], &[]]);
    let post = Request { method: "POST", ..get("/a") };
    for (request, class, rule) in
        [(get("/a"), 0, Some(0)), (get("/b"), 0, Some(1)), (post, 1, Some(0)), (get("*"), 2, None)]
    {
        let want = Classified { class: ClassId(class), rule };
        assert_eq!(classifier.classify(&request, false), want, "{} {}", request.method, request.path);
    }
    let explained = classifier.explain(&get("/b"), false);
    let trial = |rule, failed| Trial { class: ClassId(0), rule, failed };
    assert_eq!(explained.trials, [trial(0, Some(Condition::Path)), trial(1, None)]);
}

#[test]
fn what_nothing_matches_goes_to_the_first_class_without_rules_or_else_to_the_last() {
    let fallback = |classes: &[&[RuleV1]]| classifier(classes).classify(&get("/zzz"), true);
    let rules = [path("/a")];
    let none = |class| Classified { class: ClassId(class), rule: None };
    assert_eq!(fallback(&[&rules, &[], &[]]), none(1));
    assert_eq!(fallback(&[&[], &rules]), none(0));
    assert_eq!(fallback(&[&rules, &rules]), none(1));
    assert_eq!(fallback(&[]), none(0));
}

#[test]
fn explanations_read_as_sentences() {
    assert_eq!(Condition::Trust.to_string(), "header rule, and the peer is not trusted");
}
