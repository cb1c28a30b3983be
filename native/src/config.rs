//! Settings of `tidegate serve`: a TOML file, overridden by the command line.
//!
//! Strict: an unknown key, a wrong type or a number out of range is an error that names path, rule and value. Peers that
//! ignore unknown keys cost their users hours.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use hyper::Uri;
use hyper::header::HeaderName;
use ipnet::IpNet;
use toml::{Table, Value};

use crate::cli::ServeArgs;
use crate::failure::BadScenario;
use crate::serve::{Behind, FilesConfig, Limits, Target};

/// Everything `serve` needs to know, as it was written; the scenario is not read yet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ServeSettings {
    /// Where clients connect.
    pub(crate) listen: SocketAddr,
    /// Where the operator connects, if anywhere.
    pub(crate) admin: Option<SocketAddr>,
    /// Where the answers come from.
    pub(crate) behind: Behind,
    /// Peers whose forwarding, class and size headers are believed.
    pub(crate) trusted: Vec<IpNet>,
    /// The header in which those peers declare the size of an answer.
    pub(crate) size_header: Option<HeaderName>,
    /// Bounds on what a client or server may take.
    pub(crate) limits: Limits,
    /// The scenario to run, if one was given.
    pub(crate) scenario: Option<ScenarioSource>,
}

/// Where the scenario of `serve` comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ScenarioSource {
    /// A reference: file, preset, link or `-`.
    Reference(String),
    /// The `[scenario]` table of the configuration file.
    Table(serde_json::Value),
}

impl Default for ServeSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 8080),
            admin: Some(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 9900)),
            behind: Behind::Upstreams(Vec::new()),
            trusted: Vec::new(),
            size_header: None,
            limits: Limits::default(),
            scenario: None,
        }
    }
}

impl ServeSettings {
    /// The settings of the configuration file (if any) and the command line, which wins. Lists are replaced, not joined.
    ///
    /// # Errors
    /// [`BadScenario`] for a wrong setting; else an unreadable file.
    pub(crate) fn from_args(args: &ServeArgs) -> anyhow::Result<Self> {
        let mut settings = match &args.config {
            Some(path) => Self::read(path)?,
            None => Self::default(),
        };
        settings.listen = args.listen.unwrap_or(settings.listen);
        settings.admin = args.admin.or(settings.admin).filter(|_| !args.no_admin);
        if !args.upstreams.is_empty() {
            let parsed = args.upstreams.iter().map(|text| upstream(text, "--upstream"));
            settings.behind = Behind::Upstreams(parsed.collect::<Result<_, _>>()?);
        }
        if let Some(folder) = &args.files {
            let send_rate = match settings.behind {
                Behind::Files(FilesConfig { send_rate, .. }) => send_rate,
                Behind::Upstreams(_) => None,
            };
            settings.behind = Behind::Files(FilesConfig { folder: folder.clone(), send_rate });
        }
        if let Some(rate) = args.send_rate {
            settings.pace("--send-rate", rate)?;
        }
        if !args.trusted.is_empty() {
            settings.trusted.clone_from(&args.trusted);
        }
        if let Some(reference) = args.scenario.as_ref().or(args.scenario_option.as_ref()) {
            settings.scenario = Some(ScenarioSource::Reference(reference.clone()));
        }
        Ok(settings)
    }

    fn read(path: &Path) -> anyhow::Result<Self> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).map_err(|problem| BadScenario(format!("{}: {problem}", path.display())).into())
    }

    /// Reads a configuration file's text.
    fn parse(text: &str) -> Result<Self, BadScenario> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| BadScenario(error.to_string()))?;
        let mut settings = Self::default();
        let mut send_rate = None;
        if table.contains_key("files") && table.contains_key("upstreams") {
            return Err(BadScenario("files: files or upstreams, found both".to_owned()));
        }
        for (key, value) in table {
            match key.as_str() {
                "listen" => settings.listen = address(&value, &key)?,
                "admin" if value.as_bool() == Some(false) => settings.admin = None,
                "admin" => settings.admin = Some(address(&value, &key)?),
                "upstreams" => settings.behind = Behind::Upstreams(list(&value, &key, upstream)?),
                "files" => settings.behind = Behind::Files(files(&value, &key)?),
                "send_rate" => send_rate = Some(whole_number(&value, &key, 1_000..=u32::MAX)?),
                "size_header" => settings.size_header = Some(header_name(&value, &key)?),
                "trusted" => settings.trusted = list(&value, &key, block)?,
                "limits" => settings.limits = limits(&value)?,
                "scenario" => settings.scenario = Some(scenario(value)?),
                _ => {
                    return Err(wrong(&key, &format!("one of {KEYS}"), "it"));
                }
            }
        }
        if let Some(rate) = send_rate {
            settings.pace("send_rate", rate)?;
        }
        Ok(settings)
    }

    /// Bounds the rate at which files are sent.
    fn pace(&mut self, path: &str, bytes_per_s: u32) -> Result<(), BadScenario> {
        match &mut self.behind {
            Behind::Files(files) => files.send_rate = Some(bytes_per_s),
            Behind::Upstreams(_) => return Err(wrong(path, "only with files", bytes_per_s)),
        }
        Ok(())
    }
}

/// What a configuration file may have.
const KEYS: &str = "listen, admin, upstreams, files, send_rate, trusted, size_header, limits, scenario";

fn files(value: &Value, path: &str) -> Result<FilesConfig, BadScenario> {
    let folder = text(value, path, "a folder in quotes")?.into();
    Ok(FilesConfig { folder, send_rate: None })
}

fn header_name(value: &Value, path: &str) -> Result<HeaderName, BadScenario> {
    const RULE: &str = "the name of a header in quotes, such as \"x-expected-bytes\"";
    text(value, path, RULE)?.parse().map_err(|_| wrong(path, RULE, value))
}

fn wrong(path: &str, rule: &str, found: impl std::fmt::Display) -> BadScenario {
    BadScenario(format!("{path}: {rule}, found {found}"))
}

fn text<'a>(value: &'a Value, path: &str, rule: &str) -> Result<&'a str, BadScenario> {
    value.as_str().ok_or_else(|| wrong(path, rule, value))
}

fn address(value: &Value, path: &str) -> Result<SocketAddr, BadScenario> {
    const RULE: &str = "an address and port in quotes, such as \"127.0.0.1:8080\"";
    text(value, path, RULE)?.parse().map_err(|_| wrong(path, RULE, value))
}

fn list<T>(
    value: &Value,
    path: &str,
    one: fn(&str, &str) -> Result<T, BadScenario>,
) -> Result<Vec<T>, BadScenario> {
    let items = value.as_array().ok_or_else(|| wrong(path, "a list of texts", value))?;
    let item = |(i, value): (usize, &Value)| {
        let path = format!("{path}[{i}]");
        one(text(value, &path, "a text in quotes")?, &path)
    };
    items.iter().enumerate().map(item).collect()
}

fn block(text: &str, path: &str) -> Result<IpNet, BadScenario> {
    text.parse()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| wrong(path, "an address block such as 10.0.0.0/8", text))
}

/// Reads `URL` or `NAME=URL`.
fn upstream(text: &str, path: &str) -> Result<Target, BadScenario> {
    // A URL's scheme comes before any `=`, so what stands before the first `=` without a `:` is a name.
    let (name, url) = match text.split_once('=') {
        Some((name, url)) if !name.contains(':') => (Some(name.to_owned()), url),
        _ => (None, text),
    };
    let url = server_url(url).map_err(|rule| wrong(path, &rule, text))?;
    Ok(Target { name, url })
}

/// Reads `http://HOST[:PORT]`.
///
/// # Errors
/// The rule that is broken.
pub(crate) fn server_url(text: &str) -> Result<Uri, String> {
    let url: Uri = text.parse().map_err(|_| "a URL such as http://10.0.0.7:8000")?;
    if url.scheme_str() != Some("http") || url.host().is_none_or(str::is_empty) {
        return Err("http://HOST or http://HOST:PORT".to_owned());
    }
    match url.path_and_query().map(hyper::http::uri::PathAndQuery::as_str) {
        None | Some("/") => Ok(url),
        Some(_) => Err("no path behind the port (a request keeps its own)".to_owned()),
    }
}

fn limits(value: &Value) -> Result<Limits, BadScenario> {
    let table = value.as_table().ok_or_else(|| wrong("limits", "a table", value))?;
    let mut limits = Limits::default();
    for (key, value) in table {
        let path = format!("limits.{key}");
        let whole = |range: RangeInclusive<u32>| whole_number(value, &path, range);
        match key.as_str() {
            "connections" => limits.connections = whole(1..=1_000_000)? as usize,
            "header_bytes" => limits.header_bytes = whole(8_192..=1_048_576)? as usize,
            _ => {
                let Some((_, place)) = times(&mut limits).into_iter().find(|(name, _)| name == key) else {
                    let known = times(&mut limits).map(|(name, _)| name).join(", ");
                    return Err(wrong(&path, &format!("one of connections, header_bytes, {known}"), "it"));
                };
                *place = Duration::from_millis(whole(1..=86_400_000)?.into());
            }
        }
    }
    Ok(limits)
}

/// The limits that are times, by name.
fn times(limits: &mut Limits) -> [(&'static str, &mut Duration); 11] {
    [
        ("header_timeout_ms", &mut limits.header_timeout),
        ("idle_timeout_ms", &mut limits.idle_timeout),
        ("write_timeout_ms", &mut limits.write_timeout),
        ("body_timeout_ms", &mut limits.body_timeout),
        ("queue_timeout_ms", &mut limits.queue_timeout),
        ("connect_timeout_ms", &mut limits.connect_timeout),
        ("pool_timeout_ms", &mut limits.pool_timeout),
        ("answer_timeout_ms", &mut limits.answer_timeout),
        ("continue_timeout_ms", &mut limits.continue_timeout),
        ("tunnel_timeout_ms", &mut limits.tunnel_timeout),
        ("drain_timeout_ms", &mut limits.drain_timeout),
    ]
}

fn whole_number(value: &Value, path: &str, range: RangeInclusive<u32>) -> Result<u32, BadScenario> {
    let number = value.as_integer().and_then(|n| u32::try_from(n).ok()).filter(|n| range.contains(n));
    number.ok_or_else(|| wrong(path, &format!("a whole number {} to {}", range.start(), range.end()), value))
}

fn scenario(value: Value) -> Result<ScenarioSource, BadScenario> {
    match value {
        Value::String(reference) => Ok(ScenarioSource::Reference(reference)),
        Value::Table(_) => Ok(ScenarioSource::Table(crate::source::to_json(value)?)),
        _ => Err(wrong("scenario", "a table, or a text naming a file, preset or link", value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_read() {
        let settings = ServeSettings::parse(
            r#"
            listen = "0.0.0.0:80"
            admin = "[::1]:9"
            upstreams = ["http://10.0.0.7:8000", "small=http://b.example"]
            trusted = ["10.0.0.0/8", "192.0.2.1"]
            size_header = "X-Expected-Bytes"
            scenario = "preset:flash-crowd"
            [limits]
            connections = 5
            header_bytes = 8192
            header_timeout_ms = 1
            connect_timeout_ms = 2
            answer_timeout_ms = 3
            drain_timeout_ms = 4
            "#,
        )
        .unwrap();
        assert_eq!(settings.listen.to_string(), "0.0.0.0:80");
        assert_eq!(settings.admin.unwrap().to_string(), "[::1]:9");
        let Behind::Upstreams(upstreams) = &settings.behind else { panic!("not files") };
        assert_eq!(upstreams[0].name, None);
        assert_eq!(upstreams[1].name.as_deref(), Some("small"));
        assert_eq!(upstreams[1].url.authority().unwrap(), "b.example");
        assert_eq!(settings.size_header.unwrap(), "x-expected-bytes");
        assert_eq!(
            settings.trusted,
            ["10.0.0.0/8".parse::<IpNet>().unwrap(), "192.0.2.1/32".parse().unwrap()]
        );
        assert_eq!(settings.limits.drain_timeout, Duration::from_millis(4));
        assert_eq!(settings.scenario, Some(ScenarioSource::Reference("preset:flash-crowd".into())));
    }

    #[test]
    fn files_stand_in_place_of_upstreams() {
        let settings = ServeSettings::parse("send_rate = 12500000\nfiles = '/srv/www'").unwrap();
        let files = FilesConfig { folder: "/srv/www".into(), send_rate: Some(12_500_000) };
        assert_eq!(settings.behind, Behind::Files(files));
    }

    #[test]
    fn a_wrong_setting_is_named_with_rule_and_value() {
        for (text, want) in [
            (
                "listne = 1",
                "listne: one of listen, admin, upstreams, files, send_rate, trusted, size_header, limits, scenario, found it",
            ),
            ("files = 1", "files: a folder in quotes, found 1"),
            ("files = 'a'\nupstreams = ['http://a']", "files: files or upstreams, found both"),
            ("send_rate = 5000", "send_rate: only with files, found 5000"),
            ("files = 'a'\nsend_rate = 999", "send_rate: a whole number 1000 to 4294967295, found 999"),
            (
                "size_header = 'a b'",
                "size_header: the name of a header in quotes, such as \"x-expected-bytes\", found \"a b\"",
            ),
            ("listen = 80", "listen: an address and port in quotes, such as \"127.0.0.1:8080\", found 80"),
            (
                "trusted = ['10.0.0.0/40']",
                "trusted[0]: an address block such as 10.0.0.0/8, found 10.0.0.0/40",
            ),
            ("upstreams = ['https://a']", "upstreams[0]: http://HOST or http://HOST:PORT, found https://a"),
            (
                "upstreams = ['http://a/b']",
                "upstreams[0]: no path behind the port (a request keeps its own), found http://a/b",
            ),
            ("[limits]\nconnections = 0", "limits.connections: a whole number 1 to 1000000, found 0"),
            (
                "[limits]\nheader_timeout_ms = 1.5",
                "limits.header_timeout_ms: a whole number 1 to 86400000, found 1.5",
            ),
        ] {
            assert_eq!(ServeSettings::parse(text).unwrap_err().to_string(), want, "for {text}");
        }
    }
}
