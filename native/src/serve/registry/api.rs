//! What the operator's listener is asked about servers, and told by them.
//!
//! | request | does |
//! |---|---|
//! | `GET /servers`, `GET /servers/NAME` | says which there are and how they are |
//! | `PUT /servers/NAME` | registers one, or changes it: `{"url": …, "weight": …, "max_in_flight": …}` |
//! | `DELETE /servers/NAME` | takes it off the list: nothing new; it is gone when it has answered the rest |
//! | `POST /servers/NAME/drain`, `…/undrain` | nothing new, and as usual again; it stays on the list |
//! | `PUT /servers/NAME/load` | a report of its load, which is its heartbeat, too (paper B, 2.2 steps 2 and 3) |
//!
//! Whatever changes something asks for a token. Whoever knows it may send the traffic anywhere, so without one set
//! there is no way in.

use std::borrow::Cow;
use std::fmt;
use std::hint::black_box;
use std::time::Duration;

use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::Value;
use tidegate_core::reports::load_json;

use super::list::{Wrong, read_table};
use super::{Refused, Registry, Target};
use crate::serve::body::Reply;
use crate::serve::files::decoded;
use crate::serve::reports::{Seen, Source as Heard};

/// The longest body that is read, and for how long.
const BODY: (usize, Duration) = (64 << 10, Duration::from_secs(5));

/// What must be known to change servers.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// A token, without blanks and line breaks around it.
    ///
    /// # Errors
    /// The rule, and what is found in its place; never the token.
    pub(crate) fn new(text: &str) -> Result<Self, Wrong> {
        let text = text.trim();
        let found = match text.len() {
            0 => "nothing".to_owned(),
            _ if !text.bytes().all(|byte| byte.is_ascii_graphic()) => {
                "blanks or others among them".to_owned()
            }
            16..=1024 => return Ok(Self(text.to_owned())),
            length => format!("{length}"),
        };
        Err(Wrong::new("16 to 1024 visible characters of ASCII", found))
    }

    /// Whether an `Authorization` has it. Takes as long for a wrong token as for the right one of that length.
    fn is_in(&self, authorization: Option<&HeaderValue>) -> bool {
        let Some((scheme, token)) = authorization.and_then(|value| value.to_str().ok()?.split_once(' '))
        else {
            return false;
        };
        let (ours, theirs) = (self.0.as_bytes(), token.trim().as_bytes());
        let differ = ours.iter().zip(theirs).fold(0, |differ, (a, b)| black_box(differ | (a ^ b)));
        scheme.eq_ignore_ascii_case("bearer") && ours.len() == theirs.len() && differ == 0
    }
}

/// Why a request was not carried out, for whoever made it.
#[derive(Debug, PartialEq)]
struct Problem(StatusCode, String);

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        let status = match refused {
            Refused::Unknown(_) => StatusCode::NOT_FOUND,
            Refused::Taken(..) => StatusCode::CONFLICT,
            Refused::Full => StatusCode::INSUFFICIENT_STORAGE,
        };
        Self(status, refused.to_string())
    }
}

fn bad(text: impl Into<String>) -> Problem {
    Problem(StatusCode::BAD_REQUEST, text.into())
}

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
enum Wish {
    All,
    One(String),
    Put(String),
    Delete(String),
    Drain(String, bool),
    Load(String),
}

impl Wish {
    fn of(method: &Method, path: &str) -> Result<Self, Problem> {
        let mut parts = path.split('/').skip(2).filter(|part| !part.is_empty());
        let name = parts.next().map(|part| {
            decoded(part)
                .map(Cow::into_owned)
                .ok_or_else(|| bad(format!("name: UTF-8, with two digits after each %, found {part}")))
        });
        let name = name.transpose()?;
        let (name, what) = match (name, parts.next(), parts.next()) {
            (None, ..) => (String::new(), "/servers"),
            (Some(name), None, _) => (name, ""),
            (Some(name), Some(what), None) => (name, what),
            _ => return Err(Problem(StatusCode::NOT_FOUND, format!("there is no {path}"))),
        };
        let reads = matches!(*method, Method::GET | Method::HEAD);
        match what {
            "/servers" if reads => Ok(Self::All),
            "/servers" => Err(only("GET and HEAD")),
            "" if reads => Ok(Self::One(name)),
            "" if *method == Method::PUT => Ok(Self::Put(name)),
            "" if *method == Method::DELETE => Ok(Self::Delete(name)),
            "" => Err(only("GET, HEAD, PUT and DELETE")),
            "drain" | "undrain" if *method == Method::POST => Ok(Self::Drain(name, what == "drain")),
            "drain" | "undrain" => Err(only("POST")),
            "load" if *method == Method::PUT => Ok(Self::Load(name)),
            "load" => Err(only("PUT")),
            _ => Err(Problem(StatusCode::NOT_FOUND, format!("there is no {path}"))),
        }
    }

    const fn reads(&self) -> bool {
        matches!(self, Self::All | Self::One(_))
    }
}

fn only(methods: &str) -> Problem {
    Problem(StatusCode::METHOD_NOT_ALLOWED, format!("only {methods}"))
}

/// Answers a request for `/servers` and what lies below it.
pub(crate) async fn answer(
    registry: &Registry,
    token: Option<&Token>,
    request: Request<Incoming>,
) -> Response<Reply> {
    match carry_out(registry, token, request).await {
        Ok((status, value)) => typed(status, "application/json", format!("{value}\n")),
        Err(Problem(status, text)) => {
            let mut response = typed(status, "text/plain; charset=utf-8", format!("{text}\n"));
            if status == StatusCode::UNAUTHORIZED {
                let scheme = HeaderValue::from_static("Bearer");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
            }
            response
        }
    }
}

fn typed(status: StatusCode, media_type: &'static str, text: String) -> Response<Reply> {
    let mut response = Response::new(Reply::text(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

async fn carry_out(
    registry: &Registry,
    token: Option<&Token>,
    request: Request<Incoming>,
) -> Result<(StatusCode, Value), Problem> {
    let wish = Wish::of(request.method(), request.uri().path())?;
    if !wish.reads() {
        let Some(token) = token else {
            let text = "no token is set, so servers cannot be changed here; see --admin-token-file";
            return Err(Problem(StatusCode::FORBIDDEN, text.to_owned()));
        };
        if !token.is_in(request.headers().get(header::AUTHORIZATION)) {
            let text = "this takes the token of this gateway, as in: Authorization: Bearer TOKEN";
            return Err(Problem(StatusCode::UNAUTHORIZED, text.to_owned()));
        }
    }
    let name = match wish {
        Wish::All => return Ok((StatusCode::OK, registry.to_json())),
        Wish::One(name) => name,
        Wish::Put(name) => {
            let target = target(&name, &body(request).await?)?;
            let status = if registry.put(&target)? { StatusCode::CREATED } else { StatusCode::OK };
            return Ok((status, one(registry, &name)?));
        }
        Wish::Delete(name) => {
            registry.delete(&name)?;
            return Ok((StatusCode::OK, serde_json::json!({ "name": name, "leaves": true })));
        }
        Wish::Drain(name, on) => {
            registry.find(&name)?.drain(&registry.driver, on);
            name
        }
        Wish::Load(name) => {
            let upstream = registry.find(&name)?;
            let report = load_json::read(&body(request).await?);
            let report = report.map_err(|problem| {
                upstream.reports.count(Heard::Pushed, Seen::Bad(problem));
                bad(format!("{problem}; nothing of it counts"))
            })?;
            upstream.report(&registry.driver, &report);
            upstream.reports.count(Heard::Pushed, Seen::Taken);
            name
        }
    };
    Ok((StatusCode::OK, one(registry, &name)?))
}

/// One server of the list.
fn one(registry: &Registry, name: &str) -> Result<Value, Problem> {
    let Value::Array(all) = registry.to_json() else { unreachable!("a list is written as a list") };
    let found = all.into_iter().find(|server| server["name"] == name);
    found.ok_or_else(|| Refused::Unknown(name.to_owned()).into())
}

/// All of a body, if it is short and comes soon.
async fn body(request: Request<Incoming>) -> Result<Vec<u8>, Problem> {
    let (most, time) = BODY;
    match tokio::time::timeout(time, Limited::new(request.into_body(), most).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes().to_vec()),
        Ok(Err(_)) => Err(Problem(StatusCode::PAYLOAD_TOO_LARGE, format!("at most {most} bytes"))),
        Err(_) => Err(Problem(StatusCode::REQUEST_TIMEOUT, "the body did not come in time".to_owned())),
    }
}

/// The server that a body describes, whose name is in the address.
fn target(name: &str, body: &[u8]) -> Result<Target, Problem> {
    let value: Value = serde_json::from_slice(body).map_err(|error| bad(format!("JSON: {error}")))?;
    let Value::Object(mut object) = value else {
        return Err(bad("an object with url, weight, max_in_flight"));
    };
    let named = object.insert("name".to_owned(), name.into());
    if named.is_some_and(|named| named != name) {
        return Err(bad(format!("name: {name}, as in the address, or left out")));
    }
    read_table(&object).map_err(|(key, wrong)| bad(format!("{key}: {wrong}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_all_of_it() {
        let token = Token::new("  0123456789abcdef\n").unwrap();
        let check = |value: &str, want: bool| {
            let value = HeaderValue::from_str(value).unwrap();
            assert_eq!(token.is_in(Some(&value)), want, "{value:?}");
        };
        check("Bearer 0123456789abcdef", true);
        check("bearer  0123456789abcdef ", true);
        check("Bearer 0123456789abcdeF", false);
        check("Bearer 0123456789abcde", false);
        check("Bearer 0123456789abcdef0", false);
        check("Bearer ", false);
        check("Basic 0123456789abcdef", false);
        check("0123456789abcdef", false);
        assert!(!token.is_in(None));
        let refused = |text: &str, found: &str| {
            let said = Token::new(text).unwrap_err().to_string();
            assert_eq!(said, format!("16 to 1024 visible characters of ASCII, found {found}"));
        };
        refused("short", "5");
        refused(&"x".repeat(1025), "1025");
        refused(" \n", "nothing");
        refused("0123456789 abcdef", "blanks or others among them");
        assert_eq!(format!("{token:?}"), "Token", "it is in no log");
    }

    #[test]
    fn an_address_says_what_is_wished() {
        let check = |method: Method, path: &str, want: Result<Wish, u16>| {
            let got = Wish::of(&method, path).map_err(|Problem(status, _)| status.as_u16());
            assert_eq!(got, want, "{method} {path}");
        };
        let name = || "a b".to_owned();
        check(Method::GET, "/servers", Ok(Wish::All));
        check(Method::GET, "/servers/", Ok(Wish::All));
        check(Method::GET, "/servers/a%20b", Ok(Wish::One(name())));
        check(Method::PUT, "/servers/a%20b", Ok(Wish::Put(name())));
        check(Method::DELETE, "/servers/a%20b", Ok(Wish::Delete(name())));
        check(Method::POST, "/servers/a%20b/drain", Ok(Wish::Drain(name(), true)));
        check(Method::POST, "/servers/a%20b/undrain", Ok(Wish::Drain(name(), false)));
        check(Method::PUT, "/servers/a%20b/load", Ok(Wish::Load(name())));
        check(Method::GET, "/servers/a/load", Err(405));
        check(Method::DELETE, "/servers", Err(405));
        check(Method::GET, "/servers/a/drain", Err(405));
        check(Method::GET, "/servers/a/other", Err(404));
        check(Method::GET, "/servers/a/drain/x", Err(404));
        check(Method::GET, "/servers/%2", Err(400));
        check(Method::GET, "/servers/%ff", Err(400));
    }

    #[test]
    fn a_server_is_called_as_the_address_says() {
        let check = |name: &str, body: &str, want: Result<&str, &str>| {
            let got = target(name, body.as_bytes());
            let got = got.map(|target| target.called().to_owned()).map_err(|Problem(_, text)| text);
            assert_eq!(got.as_deref().map_err(String::as_str), want, "for {name}: {body}");
        };
        check("a", r#"{"url":"http://x"}"#, Ok("a"));
        check("a", r#"{"url":"http://x","name":"a"}"#, Ok("a"));
        check("a", r#"{"url":"http://x","name":"b"}"#, Err("name: a, as in the address, or left out"));
        check("a", "[]", Err("an object with url, weight, max_in_flight"));
        check("a", r#"{"weight":1}"#, Err("url: http://HOST or http://HOST:PORT, found nothing"));
    }
}
