//! A server as it is written: on the command line, in the settings and in a servers file
//! `[NAME=]URL [weight=N] [max=N]`, in the settings and to the operator's listener also a table with `name`, `url`,
//! `weight` and `max_in_flight`.

use serde_json::{Map, Value};

use crate::config::server_url;
use crate::serve::Target;

/// The most servers that a list may have, and a gateway.
pub(crate) const MOST: usize = 1_000;
/// The longest servers file that is read, in bytes.
pub(crate) const LONGEST: usize = 1 << 20;

/// What is wrong with a server as it is written: the rule, and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// What is expected.
    pub(crate) rule: String,
    /// What is there.
    pub(crate) found: String,
}

impl Wrong {
    pub(super) fn new(rule: impl Into<String>, found: impl Into<String>) -> Self {
        Self { rule: rule.into(), found: found.into() }
    }
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, found {}", self.rule, self.found)
    }
}

/// Reads one server.
///
/// # Errors
/// The rule that is broken.
pub(crate) fn read_one(text: &str) -> Result<Target, Wrong> {
    let (mut rest, mut weight, mut max_in_flight) = (text.trim(), None, None);
    // From behind, as a name may have blanks in it and a URL has none.
    while let Some((before, word)) = rest.rsplit_once(char::is_whitespace) {
        let twice = || Wrong::new("weight and max once each", text.trim());
        if let Some(number) = word.strip_prefix("weight=") {
            let number = number.parse().ok().filter(|&weight| is_weight(weight));
            let number = number.ok_or_else(|| Wrong::new("weight=N with N from 0 to 65535", word))?;
            weight.replace(number).map_or(Ok(()), |_| Err(twice()))?;
        } else if let Some(number) = word.strip_prefix("max=") {
            let number = number.parse().ok().filter(|&most| is_max(most));
            let number = number.ok_or_else(|| Wrong::new("max=N with N from 1 to 100000", word))?;
            max_in_flight.replace(number).map_or(Ok(()), |_| Err(twice()))?;
        } else {
            break;
        }
        rest = before.trim_end();
    }
    // A URL's scheme comes before any `=`, so what stands before the first `=` without a `:` is a name.
    let (name, url) = match rest.split_once('=') {
        Some((name, url)) if !name.contains(':') => (Some(name), url),
        _ => (None, rest),
    };
    let name = name.map(|name| checked_name(name.trim()).map(str::to_owned)).transpose()?;
    let url = url.trim();
    if let Some((_, word)) = url.rsplit_once(char::is_whitespace).filter(|_| url.contains("://")) {
        return Err(Wrong::new("weight=N or max=N behind the URL", word));
    }
    let url = server_url(url).map_err(|rule| Wrong::new(rule, rest))?;
    Ok(Target { name, url, weight, max_in_flight })
}

/// Reads one server that is written as a table.
///
/// # Errors
/// The key, and the rule that is broken there.
pub(crate) fn read_table(table: &Map<String, Value>) -> Result<Target, (String, Wrong)> {
    let (mut name, mut url, mut weight, mut max_in_flight) = (None, None, None, None);
    for (key, value) in table {
        let wrong = |rule: &str| (key.clone(), Wrong::new(rule, value.to_string()));
        match key.as_str() {
            "name" => {
                let text = value.as_str().ok_or_else(|| wrong("a name in quotes"))?;
                name = Some(checked_name(text).map_err(|wrong| (key.clone(), wrong))?.to_owned());
            }
            "url" => {
                let text = value.as_str().ok_or_else(|| wrong("a URL in quotes"))?;
                url = Some(server_url(text).map_err(|rule| wrong(&rule))?);
            }
            "weight" => {
                let number = value.as_f64().filter(|&weight| is_weight(weight));
                weight = Some(number.ok_or_else(|| wrong("a number from 0 to 65535"))?);
            }
            "max_in_flight" if value.is_null() => {}
            "max_in_flight" => {
                let number = value.as_u64().and_then(|most| u32::try_from(most).ok());
                let number = number.filter(|&most| is_max(most));
                max_in_flight = Some(number.ok_or_else(|| wrong("a whole number from 1 to 100000"))?);
            }
            _ => return Err((key.clone(), Wrong::new("one of name, url, weight, max_in_flight", "it"))),
        }
    }
    let url =
        url.ok_or_else(|| ("url".to_owned(), Wrong::new("http://HOST or http://HOST:PORT", "nothing")))?;
    Ok(Target { name, url, weight, max_in_flight })
}

/// Reads a list, one server a line; what follows a `#` is for people.
///
/// # Errors
/// The first line that breaks a rule, and the rule.
pub(crate) fn read_list(text: &str) -> Result<Vec<Target>, String> {
    let mut list: Vec<Target> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = without_comment(line).trim();
        if line.is_empty() {
            continue;
        }
        let at = |wrong: Wrong| format!("line {number}: {wrong}");
        let target = read_one(line).map_err(at)?;
        if list.iter().any(|other| other.called() == target.called()) {
            return Err(at(Wrong::new("every server once", target.called())));
        }
        if list.len() == MOST {
            return Err(at(Wrong::new(format!("at most {MOST} servers"), "one more")));
        }
        list.push(target);
    }
    Ok(list)
}

/// A line up to a `#` that begins it or follows a blank.
fn without_comment(line: &str) -> &str {
    let begins = |&(at, _): &(usize, &str)| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    line.match_indices('#').find(begins).map_or(line, |(at, _)| &line[..at])
}

/// A name by which a server can be called: what a scenario allows, and can stand in a list and in an address.
///
/// # Errors
/// The rule.
fn checked_name(name: &str) -> Result<&str, Wrong> {
    let is_fine = |c: char| !c.is_control() && !matches!(c, '=' | '/' | '#');
    if (1..=40).contains(&name.chars().count()) && name.chars().all(is_fine) && name.trim() == name {
        Ok(name)
    } else {
        Err(Wrong::new("a name of 1 to 40 characters without = / #", format!("{name:?}")))
    }
}

/// Whether a server may have this weight.
fn is_weight(weight: f64) -> bool {
    (0.0..=65_535.0).contains(&weight)
}

/// Whether a server may have this limit.
const fn is_max(most: u32) -> bool {
    1 <= most && most <= 100_000
}

impl Target {
    /// What the server is called: its name, else its address.
    pub(crate) fn called(&self) -> &str {
        let authority = self.url.authority().map_or("", |authority| authority.as_str());
        self.name.as_deref().unwrap_or(authority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a server and writes down all of it.
    fn read(text: &str) -> Result<String, String> {
        let Target { name, url, weight, max_in_flight } =
            read_one(text).map_err(|wrong| wrong.to_string())?;
        let authority = url.authority().unwrap();
        Ok(format!("{name:?} {authority} {weight:?} {max_in_flight:?}"))
    }

    #[track_caller]
    fn check(text: &str, want: &str) {
        assert_eq!(read(text).unwrap_or_else(|wrong| wrong), want, "for {text:?}");
    }

    #[test]
    fn a_server_is_a_url_with_what_is_known_of_it() {
        check("http://10.0.0.7:8000", "None 10.0.0.7:8000 None None");
        check("big=http://a", "Some(\"big\") a None None");
        check(" big one = http://a  max=9 weight=0.5 ", "Some(\"big one\") a Some(0.5) Some(9)");
        check("http://[::1]:80 weight=0", "None [::1]:80 Some(0.0) None");
        check("http://[::1]", "None [::1] None None");
    }

    #[test]
    fn a_server_that_breaks_a_rule_is_told_which() {
        check("https://a", "http://HOST or http://HOST:PORT, found https://a");
        check("http://a weight=-1", "weight=N with N from 0 to 65535, found weight=-1");
        check("http://a weight=NaN", "weight=N with N from 0 to 65535, found weight=NaN");
        check("http://a max=0", "max=N with N from 1 to 100000, found max=0");
        check("http://a max=1 max=2", "weight and max once each, found http://a max=1 max=2");
        check("x/y=http://a", "a name of 1 to 40 characters without = / #, found \"x/y\"");
        check("http://a:99999", "a port of 1 to 65535, found http://a:99999");
        check("a=http://[::1]:0", "a port of 1 to 65535, found a=http://[::1]:0");
        check("a=http://a wieght=2", "weight=N or max=N behind the URL, found wieght=2");
        check("=http://a", "a name of 1 to 40 characters without = / #, found \"\"");
    }

    #[test]
    fn a_table_that_breaks_a_rule_is_told_where() {
        let check = |text: &str, want: &str| {
            let got = match read_table(serde_json::from_str::<Value>(text).unwrap().as_object().unwrap()) {
                Ok(Target { name, url, weight, max_in_flight }) => {
                    format!("{name:?} {url} {weight:?} {max_in_flight:?}")
                }
                Err((key, wrong)) => format!("{key}: {wrong}"),
            };
            assert_eq!(got, want, "for {text}");
        };
        check(
            r#"{"name":"a","url":"http://x:1","weight":2,"max_in_flight":3}"#,
            "Some(\"a\") http://x:1/ Some(2.0) Some(3)",
        );
        check(r#"{"url":"http://x:1","max_in_flight":null}"#, "None http://x:1/ None None");
        check("{}", "url: http://HOST or http://HOST:PORT, found nothing");
        check(r#"{"url":"https://x"}"#, "url: http://HOST or http://HOST:PORT, found \"https://x\"");
        check(r#"{"url":"http://x","weight":-1}"#, "weight: a number from 0 to 65535, found -1");
        check(
            r#"{"url":"http://x","max_in_flight":0.5}"#,
            "max_in_flight: a whole number from 1 to 100000, found 0.5",
        );
        check(r#"{"wieght":1}"#, "wieght: one of name, url, weight, max_in_flight, found it");
        check(r#"{"name":"a=b"}"#, "name: a name of 1 to 40 characters without = / #, found \"a=b\"");
    }

    #[test]
    fn a_list_has_one_server_a_line_and_names_the_line_that_is_wrong() {
        let list = read_list("# all\n\na=http://x # first\r\nhttp://y:1 weight=2\n").unwrap();
        let names: Vec<_> = list.iter().map(Target::called).collect();
        assert_eq!(names, ["a", "y:1"]);
        for (text, want) in [
            ("a=http://x\n\nb=ftp://y", "line 3: http://HOST or http://HOST:PORT, found b=ftp://y"),
            ("a=http://x\na=http://y", "line 2: every server once, found a"),
            ("http://x:1\nhttp://x:1", "line 2: every server once, found x:1"),
        ] {
            assert_eq!(read_list(text).unwrap_err(), want, "for {text:?}");
        }
        let many: String = (0..=MOST).map(|n| format!("http://h{n}\n")).collect();
        assert_eq!(read_list(&many).unwrap_err(), "line 1001: at most 1000 servers, found one more");
    }
}
