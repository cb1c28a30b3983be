//! HAProxy's agent check: a server answers a TCP connection with one line of words about itself.
//!
//! ```text
//! up 75%
//! 75%,maxconn:30,maint,down
//! down#disk full
//! ```
//!
//! Words stand in any order, apart by blanks, tabs or commas, up to the end of the line. `N%` and `weight:N%` are shares
//! of the configured weight, `weight:N` is a weight of its own, `maxconn:N` a limit; `ready`, `drain` and `maint` are what
//! the server's operator wants, `up`, `down`, `fail` and `stopped` its state, with a reason after `#`. What a line does
//! not mention stays as it is. A word that is not known changes nothing (`failed` is none).
//!
//! Source: HAProxy's configuration manual, `agent-check`.

use alloc::borrow::ToOwned as _;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// The longest line that is read, in bytes.
pub const LONGEST: usize = 1024;
/// The largest weight that a word can give, as in HAProxy.
pub const MOST_WEIGHT: u32 = 256;
/// The largest share of the configured weight that a word can give, in percent.
pub const MOST_PERCENT: u32 = 25_600;
/// Words of one reply that are remembered as unknown.
const MOST_UNKNOWN: usize = 8;

/// What a server's agent says. Whatever is `None` was not mentioned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentReply {
    /// What it wants to count.
    pub weight: Option<AgentWeight>,
    /// The most it wants at once.
    pub max_in_flight: Option<u32>,
    /// What its operator wants.
    pub admin: Option<AgentAdmin>,
    /// How it is.
    pub health: Option<AgentHealth>,
    /// Why, in the server's words, as far as they can be printed.
    pub reason: Option<String>,
    /// Words that are not known or out of range, the first few of them.
    pub unknown: Vec<String>,
}

/// What a server wants to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentWeight {
    /// So many percent of the configured weight.
    Percent(u32),
    /// A weight of its own.
    Absolute(u32),
}

/// What the operator of a server wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgentAdmin {
    /// `ready`: work as usual.
    #[default]
    Ready,
    /// `drain`: nothing new.
    Drain,
    /// `maint`: nothing at all.
    Maint,
}

/// How a server says it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgentHealth {
    /// `up`.
    #[default]
    Up,
    /// `down`.
    Down,
    /// `fail`.
    Fail,
    /// `stopped`.
    Stopped,
}

/// Reads a reply. It cannot fail: words that make no sense are listed as unknown.
#[must_use]
pub fn read(bytes: &[u8]) -> AgentReply {
    let mut reply = AgentReply::default();
    let line = String::from_utf8_lossy(first_line(bytes));
    let (words, reason) = line.split_once('#').map_or((&*line, None), |(words, why)| (words, Some(why)));
    for word in words.split([' ', '\t', ',']).filter(|word| !word.is_empty()) {
        if reply.take(&word.to_ascii_lowercase()).is_none() && reply.unknown.len() < MOST_UNKNOWN {
            reply.unknown.push(printable(word));
        }
    }
    reply.reason = reason.map(printable).filter(|reason| !reason.is_empty());
    reply
}

/// The bytes of the first line. One that is too long ends after its last whole word: half of `weight:100` is another
/// weight.
fn first_line(bytes: &[u8]) -> &[u8] {
    let within = &bytes[..bytes.len().min(LONGEST)];
    if let Some(end) = within.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
        return &within[..end];
    }
    if within.len() == bytes.len() {
        return within;
    }
    let end = within.iter().rposition(|byte| matches!(byte, b' ' | b'\t' | b',' | b'#'));
    &within[..end.unwrap_or(0)]
}

/// Text from outside as it can stand in a log: one line, no control characters, not long.
fn printable(text: &str) -> String {
    let plain: String = text.chars().filter(|letter| !letter.is_control()).take(128).collect();
    plain.trim().to_owned()
}

impl AgentReply {
    /// What a server says of itself in regular operation: how it is, its share of the configured weight, its limit.
    #[must_use]
    pub fn of(health: AgentHealth, percent: u32, max_in_flight: Option<u32>) -> Self {
        let weight = Some(AgentWeight::Percent(percent.min(MOST_PERCENT)));
        Self { weight, max_in_flight, health: Some(health), ..Self::default() }
    }

    /// The words that changed nothing, as one text; empty if all were understood.
    #[must_use]
    pub fn unknown_words(&self) -> String {
        self.unknown.join(" ")
    }

    /// Takes one word, in small letters; `None` if it makes no sense.
    fn take(&mut self, word: &str) -> Option<()> {
        match word {
            "ready" => self.admin = Some(AgentAdmin::Ready),
            "drain" => self.admin = Some(AgentAdmin::Drain),
            "maint" => self.admin = Some(AgentAdmin::Maint),
            "up" => self.health = Some(AgentHealth::Up),
            "down" => self.health = Some(AgentHealth::Down),
            "fail" => self.health = Some(AgentHealth::Fail),
            "stopped" => self.health = Some(AgentHealth::Stopped),
            _ => {
                if let Some(most) = word.strip_prefix("maxconn:") {
                    self.max_in_flight = Some(whole(most, u32::MAX - 2)?);
                } else if let Some(percent) = word.strip_prefix("weight:").unwrap_or(word).strip_suffix('%') {
                    self.weight = Some(AgentWeight::Percent(whole(percent, MOST_PERCENT)?));
                } else {
                    self.weight =
                        Some(AgentWeight::Absolute(whole(word.strip_prefix("weight:")?, MOST_WEIGHT)?));
                }
            }
        }
        Some(())
    }
}

/// A whole number in digits alone, 0 to `most`.
fn whole(digits: &str, most: u32) -> Option<u32> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|&number| plain && number <= most)
}

/// The reply as our own agent writes it, with its line end; in the older dialect, which every HAProxy reads.
impl fmt::Display for AgentReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut blank = "";
        let mut word = |f: &mut fmt::Formatter<'_>, word: fmt::Arguments<'_>| {
            write!(f, "{}{word}", core::mem::replace(&mut blank, " "))
        };
        match self.weight {
            Some(AgentWeight::Percent(percent)) => word(f, format_args!("{percent}%"))?,
            Some(AgentWeight::Absolute(weight)) => word(f, format_args!("weight:{weight}"))?,
            None => {}
        }
        if let Some(most) = self.max_in_flight {
            word(f, format_args!("maxconn:{most}"))?;
        }
        if let Some(admin) = self.admin {
            word(f, format_args!("{}", admin.word()))?;
        }
        if let Some(health) = self.health {
            word(f, format_args!("{}", health.word()))?;
        }
        if let Some(reason) = &self.reason {
            write!(f, "#{}", printable(reason))?;
        }
        f.write_str("\n")
    }
}

impl AgentAdmin {
    /// As it is written.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Drain => "drain",
            Self::Maint => "maint",
        }
    }
}

impl AgentHealth {
    /// As it is written.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Fail => "fail",
            Self::Stopped => "stopped",
        }
    }
}

/// What the agent of a server has asked for so far.
///
/// It begins with nothing asked for. Only the agent undoes what the agent did, and it undoes nothing else: a server
/// that is out for another reason stays out, whatever its agent says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentState {
    weight: Option<AgentWeight>,
    max_in_flight: Option<u32>,
    admin: AgentAdmin,
    health: AgentHealth,
}

impl AgentState {
    /// Takes what a reply mentions; the rest stays. Whether anything changed.
    pub fn apply(&mut self, reply: &AgentReply) -> bool {
        let before = self.clone();
        self.weight = reply.weight.or(self.weight);
        self.max_in_flight = reply.max_in_flight.or(self.max_in_flight);
        self.admin = reply.admin.unwrap_or(self.admin);
        self.health = reply.health.unwrap_or(self.health);
        *self != before
    }

    /// What the server counts, if so much is configured. A share is always one of the configured weight, never of the
    /// last: a share of 0 stays 0.
    #[must_use]
    pub fn weight(&self, configured: f64) -> f64 {
        match self.weight {
            Some(AgentWeight::Percent(percent)) => configured * f64::from(percent) / 100.0,
            Some(AgentWeight::Absolute(weight)) => f64::from(weight),
            None => configured,
        }
    }

    /// The most the server is sent at once, if so much is configured.
    #[must_use]
    pub fn max_in_flight(&self, configured: Option<u32>) -> Option<u32> {
        self.max_in_flight.or(configured)
    }

    /// Whether the server is to get nothing new.
    #[must_use]
    pub fn drains(&self) -> bool {
        self.admin != AgentAdmin::Ready
    }

    /// Whether the agent says that the server can work. It works only if its health check agrees.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.health == AgentHealth::Up && self.admin != AgentAdmin::Maint
    }

    /// What the operator of the server wants.
    #[must_use]
    pub const fn admin(&self) -> AgentAdmin {
        self.admin
    }

    /// How the server says it is.
    #[must_use]
    pub const fn health(&self) -> AgentHealth {
        self.health
    }
}

#[cfg(test)]
mod tests {
    use super::super::noise;
    use super::*;
    use alloc::string::ToString as _;
    use alloc::{format, vec};

    /// The state of a server after these lines, all of the agent: weight of 100 configured, limit, up, drains.
    #[track_caller]
    fn check(lines: &[&str], want: (f64, Option<u32>, bool, bool)) {
        let mut state = AgentState::default();
        for line in lines {
            state.apply(&read(line.as_bytes()));
        }
        let got = (state.weight(100.0), state.max_in_flight(None), state.is_up(), state.drains());
        assert_eq!(got, want, "(weight, limit, up, drains) after {lines:?}");
    }

    #[test]
    fn case_36_a_line_changes_what_it_mentions() {
        check(&[], (100.0, None, true, false));
        check(&["75%,maxconn:30,maint,down\n"], (75.0, Some(30), false, true));
        check(&["up 50%\n"], (50.0, None, true, false));
        check(&["75%,maxconn:30,maint,down\n", "up 50%\n"], (50.0, Some(30), false, true));
        check(&["75%,maxconn:30,maint,down\n", "ready up\n"], (75.0, Some(30), true, false));
        check(&["drain\n", "up\n"], (100.0, None, true, true));
        check(&["drain\n", "ready\n"], (100.0, None, true, false));
        check(&["0%\n"], (0.0, None, true, false));
    }

    #[test]
    fn case_36_a_share_is_one_of_the_configured_weight() {
        check(&["150%"], (150.0, None, true, false));
        check(&["50%", "50%"], (50.0, None, true, false));
        check(&["weight:40 ready"], (40.0, None, true, false));
        check(&["weight:40%"], (40.0, None, true, false));
        let mut state = AgentState::default();
        state.apply(&read(b"75%"));
        assert!(state.weight(0.0) == 0.0, "75 % of nothing is nothing");
        state.apply(&read(b"weight:75"));
        assert!(state.weight(0.0) == 75.0, "a weight of its own needs no other");
    }

    #[test]
    fn case_36_what_makes_no_sense_changes_nothing_and_is_told() {
        for (line, unknown) in [
            ("failed\n", "failed"),
            ("weight:300", "weight:300"),
            ("weight:-1", "weight:-1"),
            ("weight:+1", "weight:+1"),
            ("weight:", "weight:"),
            ("%", "%"),
            ("25601%", "25601%"),
            ("75", "75"),
            ("maxconn:x", "maxconn:x"),
            ("weight:1.5", "weight:1.5"),
            ("MaxConn:99999999999", "MaxConn:99999999999"),
        ] {
            let reply = read(line.as_bytes());
            assert_eq!(reply.unknown_words(), unknown, "{line:?}");
            assert!(!AgentState::default().apply(&reply), "{line:?} changes nothing");
        }
        assert_eq!(
            read(b"up nonsense 50%"),
            AgentReply { unknown: vec!["nonsense".to_owned()], ..read(b"up 50%") }
        );
    }

    #[test]
    fn case_36_only_the_agent_undoes_what_the_agent_did() {
        check(&["down\n", "50%\n", "ready\n", "\n", "failed\n"], (50.0, None, false, false));
        check(&["down\n", "UP\n"], (100.0, None, true, false));
        for word in ["down", "fail", "stopped"] {
            check(&[word], (100.0, None, false, false));
        }
    }

    #[test]
    fn case_36_a_line_ends_at_its_end_or_at_the_limit() {
        check(&["up 50%\r\ndown\n"], (50.0, None, true, false));
        check(&["\ndown\n"], (100.0, None, true, false));
        check(&["drain"], (100.0, None, true, true));
        let long = format!("down {}", "x".repeat(1 << 20));
        check(&[&long], (100.0, None, false, false));
        let cut = format!("{}weight:100%", " ".repeat(LONGEST - "weight:10".len()));
        check(&[&cut], (100.0, None, true, false));
        assert!(read(cut.as_bytes()).unknown.is_empty(), "half a word is no word");
        let many = "nonsense ".repeat(100);
        assert_eq!(read(many.as_bytes()).unknown.len(), MOST_UNKNOWN);
    }

    #[test]
    fn a_reason_is_told_and_means_nothing() {
        let reply = read(b"down#disk full, up 50%\n");
        assert_eq!(reply.health, Some(AgentHealth::Down));
        assert_eq!((reply.reason.as_deref(), reply.weight), (Some("disk full, up 50%"), None));
        let reply = read(b"down #\x1b[31mred");
        assert_eq!(reply.reason.as_deref(), Some("[31mred"), "no control characters in a log");
        assert_eq!(read(b"up#").reason, None);
    }

    #[test]
    fn what_our_agent_writes_is_what_haproxy_reads() {
        let reply = AgentReply::of(AgentHealth::Up, 75, Some(30));
        assert_eq!(reply.to_string(), "75% maxconn:30 up\n");
        for line in ["75% maxconn:30 up\n", "weight:40 drain\n", "maint stopped#for good\n", "\n"] {
            assert_eq!(read(line.as_bytes()).to_string(), line);
        }
    }

    #[test]
    fn no_input_breaks_the_reader() {
        noise::feed(&[b"75%,maxconn:30,maint,down#why\n", b"weight:40 ready up\r\n"], |bytes| {
            let reply = read(bytes);
            let again = read(reply.to_string().as_bytes());
            assert_eq!(again, AgentReply { unknown: vec![], ..reply }, "{}", bytes.escape_ascii());
        });
    }
}
