//! Settings of `tidegate serve`: a TOML file, overridden by the command line.
//!
//! Strict: an unknown key, a wrong type or a number out of range is an error that names path, rule and value. Peers that
//! ignore unknown keys cost their users hours.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use hyper::Uri;
use hyper::header::HeaderName;
use hyper::http::uri::PathAndQuery;
use ipnet::IpNet;
use toml::{Table, Value};

use crate::cli::ServeArgs;
use crate::failure::BadScenario;
use crate::serve::{
    Behind, Feedback, FilesConfig, HealthConfig, Kind, Limits, RegistryConfig, ReportsConfig, Target, Token,
    Wrong, read_one, read_table,
};

/// The environment variable with the token that allows to change servers.
const TOKEN: &str = "TIDEGATE_ADMIN_TOKEN";

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
    /// Where servers come from, beside that.
    pub(crate) registry: RegistryConfig,
    /// Where the token is read that allows to change servers.
    token_file: Option<PathBuf>,
    /// What servers say of themselves.
    pub(crate) feedback: Feedback,
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
            registry: RegistryConfig::default(),
            token_file: None,
            feedback: Feedback::default(),
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
        if let Some(file) = &args.servers_file {
            settings.registry.servers_file = Some(file.clone());
        }
        if !args.dns.is_empty() {
            let parsed = args.dns.iter().map(|text| upstream(text, "--dns"));
            settings.registry.names = parsed.collect::<Result<_, _>>()?;
        }
        settings.token_file = args.admin_token_file.clone().or(settings.token_file);
        if settings.admin.is_some() {
            settings.registry.token = token(settings.token_file.as_deref())?;
        }
        if !args.trusted.is_empty() {
            settings.trusted.clone_from(&args.trusted);
        }
        if let Some(reference) = args.scenario.as_ref().or(args.scenario_option.as_ref()) {
            settings.scenario = Some(ScenarioSource::Reference(reference.clone()));
        }
        Ok(settings.checked()?)
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
                "upstreams" => settings.behind = Behind::Upstreams(list_of(&value, &key, server)?),
                "registry" => settings.read_registry(&value)?,
                "files" => settings.behind = Behind::Files(files(&value, &key)?),
                "send_rate" => send_rate = Some(whole_number(&value, &key, 1_000..=u32::MAX)?),
                "size_header" => settings.size_header = Some(header_name(&value, &key)?),
                "trusted" => settings.trusted = list(&value, &key, block)?,
                "strip_load_reports" => settings.feedback.strip = yes_or_no(&value, &key)?,
                "reports" => settings.feedback.reports = Some(reports(&value)?),
                "health" => settings.feedback.health = Some(health(&value)?),
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

    /// Settings that only make sense together are together.
    fn checked(self) -> Result<Self, BadScenario> {
        let Feedback { reports, health, .. } = &self.feedback;
        let comes = self.registry.servers_file.is_some() || !self.registry.names.is_empty();
        let named = [("reports", reports.is_some()), ("health", health.is_some()), ("registry", comes)];
        match (&self.behind, named.into_iter().find(|(_, there)| *there)) {
            (Behind::Files(_), Some((name, _))) => Err(wrong(name, "only with upstreams", "files")),
            _ => Ok(self),
        }
    }

    /// Reads the `[registry]` table: where servers come from, beside the list.
    fn read_registry(&mut self, value: &Value) -> Result<(), BadScenario> {
        let table = value.as_table().ok_or_else(|| wrong("registry", "a table", value))?;
        for (key, value) in table {
            let path = format!("registry.{key}");
            let file = || text(value, &path, "a file in quotes").map(PathBuf::from);
            match key.as_str() {
                "servers_file" => self.registry.servers_file = Some(file()?),
                "dns" => self.registry.names = list_of(value, &path, server)?,
                "resolve_ms" => self.registry.resolve = milliseconds(value, &path, 100)?,
                "admin_token_file" => self.token_file = Some(file()?),
                _ => {
                    let rule = "one of servers_file, dns, resolve_ms, admin_token_file";
                    return Err(wrong(&path, rule, "it"));
                }
            }
        }
        Ok(())
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
const KEYS: &str = "listen, admin, upstreams, files, send_rate, registry, trusted, size_header, \
    strip_load_reports, reports, health, limits, scenario";

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
    list_of(value, path, |value, path| one(text(value, path, "a text in quotes")?, path))
}

fn list_of<T>(
    value: &Value,
    path: &str,
    one: impl Fn(&Value, &str) -> Result<T, BadScenario>,
) -> Result<Vec<T>, BadScenario> {
    let items = value.as_array().ok_or_else(|| wrong(path, "a list", value))?;
    items.iter().enumerate().map(|(i, value)| one(value, &format!("{path}[{i}]"))).collect()
}

fn block(text: &str, path: &str) -> Result<IpNet, BadScenario> {
    text.parse()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| wrong(path, "an address block such as 10.0.0.0/8", text))
}

/// Reads `[NAME=]URL [weight=N] [max=N]`.
fn upstream(text: &str, path: &str) -> Result<Target, BadScenario> {
    read_one(text).map_err(|Wrong { rule, found }| wrong(path, &rule, found))
}

/// Reads the same, or a table.
fn server(value: &Value, path: &str) -> Result<Target, BadScenario> {
    if !value.is_table() {
        return upstream(text(value, path, "a server in quotes, or a table")?, path);
    }
    let table = crate::source::to_json(value.clone())?;
    let empty = serde_json::Map::new();
    read_table(table.as_object().unwrap_or(&empty))
        .map_err(|(key, Wrong { rule, found })| wrong(&format!("{path}.{key}"), &rule, found))
}

/// The token of a file, or else of the environment.
fn token(file: Option<&Path>) -> anyhow::Result<Option<Token>> {
    let (from, text) = match (file, std::env::var(TOKEN)) {
        (Some(path), _) => {
            let text =
                std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            (path.display().to_string(), text)
        }
        (None, Ok(text)) => (TOKEN.to_owned(), text),
        (None, Err(_)) => return Ok(None),
    };
    Ok(Some(Token::new(&text).map_err(|Wrong { rule, found }| wrong(&from, &rule, found))?))
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
    // What follows the last colon outside brackets, if it is no port, is not said to be one.
    let behind = url.authority().and_then(|whole| whole.as_str().rsplit_once([':', ']']));
    if url.port_u16().is_none_or(|port| port == 0) && behind.is_some_and(|(_, port)| !port.is_empty()) {
        return Err("a port of 1 to 65535".to_owned());
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

/// Reads the `[reports]` table: where servers are asked for their load.
fn reports(value: &Value) -> Result<ReportsConfig, BadScenario> {
    let table = value.as_table().ok_or_else(|| wrong("reports", "a table", value))?;
    let kinds = Kind::ALL.map(Kind::name).join(", ");
    let kind = table.get("kind").ok_or_else(|| wrong("reports.kind", &format!("one of {kinds}"), "none"))?;
    let named = Kind::ALL.into_iter().find(|one| kind.as_str() == Some(one.name()));
    let kind = named.ok_or_else(|| wrong("reports.kind", &format!("one of {kinds}"), kind))?;
    let (path, port, interval_s) = match kind {
        Kind::Load => ("/load", None, 10),
        Kind::NodeExporter => ("/metrics", Some(9_100), 10),
        Kind::Agent => ("/", None, 2),
    };
    let mut reports = ReportsConfig {
        kind,
        path: PathAndQuery::from_static(path),
        port,
        interval: Duration::from_secs(interval_s),
        timeout: Duration::from_secs(1),
    };
    for (key, value) in table {
        let path = format!("reports.{key}");
        match key.as_str() {
            "kind" => {}
            "path" if kind == Kind::Agent => {
                return Err(wrong(&path, "only for pages, not for agents", value));
            }
            "path" => reports.path = page(value, &path)?,
            "port" => reports.port = Some(whole_number(value, &path, 1..=65_535)? as u16),
            "interval_ms" => reports.interval = milliseconds(value, &path, 100)?,
            "timeout_ms" => reports.timeout = milliseconds(value, &path, 1)?,
            _ => return Err(wrong(&path, "one of kind, path, port, interval_ms, timeout_ms", "it")),
        }
    }
    if kind == Kind::Agent && reports.port.is_none() {
        return Err(wrong("reports.port", "the port of the agents", "none"));
    }
    Ok(reports)
}

/// Reads the `[health]` table: how servers are checked.
fn health(value: &Value) -> Result<HealthConfig, BadScenario> {
    let table = value.as_table().ok_or_else(|| wrong("health", "a table", value))?;
    let mut health = HealthConfig::default();
    for (key, value) in table {
        let path = format!("health.{key}");
        match key.as_str() {
            "path" => health.path = page(value, &path)?,
            "interval_ms" => health.interval = milliseconds(value, &path, 100)?,
            "timeout_ms" => health.timeout = milliseconds(value, &path, 1)?,
            "rise" => health.rise = whole_number(value, &path, 1..=1_000)?,
            "fall" => health.fall = whole_number(value, &path, 1..=1_000)?,
            "status" => health.status = statuses(value, &path)?,
            _ => {
                return Err(wrong(&path, "one of path, interval_ms, timeout_ms, rise, fall, status", "it"));
            }
        }
    }
    Ok(health)
}

/// The first and the last of a range of statuses.
fn statuses(value: &Value, path: &str) -> Result<RangeInclusive<u16>, BadScenario> {
    let bounds = value.as_array().filter(|bounds| bounds.len() == 2).and_then(|bounds| {
        let status = |at: usize| whole_number(&bounds[at], path, 100..=599).ok();
        Some(status(0)? as u16..=status(1)? as u16)
    });
    bounds
        .filter(|range| !range.is_empty())
        .ok_or_else(|| wrong(path, "the first and last good status, such as [200, 399]", value))
}

fn page(value: &Value, path: &str) -> Result<PathAndQuery, BadScenario> {
    const RULE: &str = "a path in quotes, such as \"/load\"";
    let text = text(value, path, RULE)?;
    text.parse().ok().filter(|_| text.starts_with('/')).ok_or_else(|| wrong(path, RULE, value))
}

fn milliseconds(value: &Value, path: &str, least: u32) -> Result<Duration, BadScenario> {
    Ok(Duration::from_millis(whole_number(value, path, least..=86_400_000)?.into()))
}

fn yes_or_no(value: &Value, path: &str) -> Result<bool, BadScenario> {
    value.as_bool().ok_or_else(|| wrong(path, "true or false", value))
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
    fn servers_may_come_from_elsewhere_and_be_written_as_tables() {
        let settings = ServeSettings::parse(
            r#"
            upstreams = ["a=http://x weight=2 max=9", { name = "b", url = "http://y", weight = 4, max_in_flight = 100 }]
            [registry]
            servers_file = "servers"
            dns = ["web=http://api.internal:8000"]
            resolve_ms = 500
            admin_token_file = "token"
            "#,
        )
        .unwrap();
        let Behind::Upstreams(upstreams) = &settings.behind else { panic!("not files") };
        let terms: Vec<_> =
            upstreams.iter().map(|one| (one.called(), one.weight, one.max_in_flight)).collect();
        assert_eq!(terms, [("a", Some(2.0), Some(9)), ("b", Some(4.0), Some(100))]);
        let RegistryConfig { servers_file, names, resolve, token } = settings.registry;
        assert_eq!(servers_file, Some("servers".into()));
        assert_eq!((names[0].called(), resolve), ("web", Duration::from_millis(500)));
        assert_eq!((settings.token_file, token), (Some("token".into()), None), "it is read later");
    }

    #[test]
    fn files_stand_in_place_of_upstreams() {
        let settings = ServeSettings::parse("send_rate = 12500000\nfiles = '/srv/www'").unwrap();
        let files = FilesConfig { folder: "/srv/www".into(), send_rate: Some(12_500_000) };
        assert_eq!(settings.behind, Behind::Files(files));
    }

    fn feedback(text: &str) -> Feedback {
        ServeSettings::parse(text).unwrap().feedback
    }

    #[test]
    fn what_servers_are_asked_for_has_defaults_by_kind() {
        let asked = |kind, path, port, interval, timeout| ReportsConfig {
            kind,
            path: PathAndQuery::from_static(path),
            port,
            interval: Duration::from_millis(interval),
            timeout: Duration::from_millis(timeout),
        };
        for (text, want) in [
            ("kind = 'load'", asked(Kind::Load, "/load", None, 10_000, 1_000)),
            ("kind = 'node_exporter'", asked(Kind::NodeExporter, "/metrics", Some(9_100), 10_000, 1_000)),
            ("kind = 'agent'\nport = 7", asked(Kind::Agent, "/", Some(7), 2_000, 1_000)),
            (
                "timeout_ms = 5\ninterval_ms = 100\nport = 8\npath = '/l?x'\nkind = 'load'",
                asked(Kind::Load, "/l?x", Some(8), 100, 5),
            ),
        ] {
            assert_eq!(feedback(&format!("[reports]\n{text}")).reports, Some(want), "{text}");
        }
        assert_eq!(feedback(""), Feedback { strip: true, reports: None, health: None });
        assert!(!feedback("strip_load_reports = false").strip);
    }

    #[test]
    fn health_checks_are_asked_for_with_a_table() {
        assert_eq!(feedback("[health]").health, Some(HealthConfig::default()));
        let all = "[health]\npath = '/ok'\ninterval_ms = 100\ntimeout_ms = 50\nrise = 1\nfall = 4\nstatus = [204, 204]";
        let want = HealthConfig {
            path: PathAndQuery::from_static("/ok"),
            interval: Duration::from_millis(100),
            timeout: Duration::from_millis(50),
            rise: 1,
            fall: 4,
            status: 204..=204,
        };
        assert_eq!(feedback(all).health, Some(want));
    }

    #[test]
    fn files_have_no_servers_to_ask() {
        for table in ["reports]\nkind = 'load'", "health]"] {
            let settings = ServeSettings::parse(&format!("files = 'a'\n[{table}")).unwrap();
            let problem = settings.checked().unwrap_err().to_string();
            assert!(problem.ends_with(": only with upstreams, found files"), "{problem}");
        }
    }

    #[test]
    fn a_wrong_setting_is_named_with_rule_and_value() {
        for (text, want) in [
            (
                "listne = 1",
                "listne: one of listen, admin, upstreams, files, send_rate, registry, trusted, size_header, \
                 strip_load_reports, reports, health, limits, scenario, found it",
            ),
            (
                "upstreams = ['http://a weight=x']",
                "upstreams[0]: weight=N with N from 0 to 65535, found weight=x",
            ),
            (
                "upstreams = [{ url = 'http://a', max_in_flight = 0 }]",
                "upstreams[0].max_in_flight: a whole number from 1 to 100000, found 0",
            ),
            ("upstreams = [7]", "upstreams[0]: a server in quotes, or a table, found 7"),
            ("[registry]\ndns = ['x']", "registry.dns[0]: http://HOST or http://HOST:PORT, found x"),
            ("[registry]\nresolve_ms = 1", "registry.resolve_ms: a whole number 100 to 86400000, found 1"),
            (
                "[registry]\nfile = 1",
                "registry.file: one of servers_file, dns, resolve_ms, admin_token_file, found it",
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
            ("strip_load_reports = 1", "strip_load_reports: true or false, found 1"),
            ("[reports]\nport = 1", "reports.kind: one of load, node_exporter, agent, found none"),
            ("[reports]\nkind = 'x'", "reports.kind: one of load, node_exporter, agent, found \"x\""),
            ("[reports]\nkind = 'agent'", "reports.port: the port of the agents, found none"),
            (
                "[reports]\nkind = 'agent'\npath = '/'",
                "reports.path: only for pages, not for agents, found \"/\"",
            ),
            (
                "[reports]\nkind = 'load'\npath = 'load'",
                "reports.path: a path in quotes, such as \"/load\", found \"load\"",
            ),
            (
                "[reports]\nkind = 'load'\ninterval = 1",
                "reports.interval: one of kind, path, port, interval_ms, timeout_ms, found it",
            ),
            (
                "[reports]\nkind = 'load'\ninterval_ms = 99",
                "reports.interval_ms: a whole number 100 to 86400000, found 99",
            ),
            (
                "[health]\nstatus = [399, 200]",
                "health.status: the first and last good status, such as [200, 399], found [399, 200]",
            ),
            ("[health]\nrise = 0", "health.rise: a whole number 1 to 1000, found 0"),
            (
                "[health]\nup = 1",
                "health.up: one of path, interval_ms, timeout_ms, rise, fall, status, found it",
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
