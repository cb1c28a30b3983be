//! What a link says besides the scenario: where to stand, how fast to play, what to show.
//!
//! None of it changes a run. A value that makes no sense is kept as it is and has no effect, so that a link
//! from a later release still opens.

use super::text::{from_percent, to_percent};
use crate::json;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;
use core::str::FromStr;

/// How a link wants to be shown. Everything is optional.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// `at`: where the playhead stands, in seconds of the run.
    pub at_s: Option<f64>,
    /// `play`: whether it plays at once.
    pub play: Option<bool>,
    /// `speed`: seconds of the run a second.
    pub speed: Option<f64>,
    /// `cmp`: whether the comparison is open.
    pub compare: Option<bool>,
    /// `rep`: number of replications, 1 to 10,000.
    pub replications: Option<u32>,
    /// `theme`.
    pub theme: Option<Theme>,
    /// `lang`: a language tag such as `zh`.
    pub language: Option<String>,
    /// `embed`: picture and transport only.
    pub embed: Option<bool>,
    /// `ctl`: controls that an embed shows.
    pub controls: Vec<String>,
    /// `h`: first 48 bits of the run's trace hash at the horizon, as 12 hexadecimal digits. Whoever opens the
    /// link can tell whether it was reproduced exactly.
    pub hash: Option<String>,
    /// What is not known, or makes no sense, as written.
    pub other: Vec<(String, String)>,
}

/// Light or dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// `light`.
    Light,
    /// `dark`.
    Dark,
}

impl View {
    /// Reads `key=value` pairs joined by `&`, without the first `&`. Later pairs win.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut view = Self::default();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let plain = from_percent(value).unwrap_or_else(|_| value.to_string());
            if !view.set(key, &plain) {
                view.other.push((key.to_string(), value.to_string()));
            }
        }
        view
    }

    /// Takes one value; false if it makes no sense here.
    fn set(&mut self, key: &str, value: &str) -> bool {
        match key {
            "at" => keep(&mut self.at_s, number(value, 0.0, 604_800.0)),
            "play" => keep(&mut self.play, flag(value)),
            "speed" => keep(&mut self.speed, number(value, 0.001, 1e6)),
            "cmp" => keep(&mut self.compare, flag(value)),
            "rep" => {
                keep(&mut self.replications, u32::from_str(value).ok().filter(|n| (1..=10_000).contains(n)))
            }
            "theme" => keep(&mut self.theme, theme(value)),
            "lang" => keep(&mut self.language, is_tag(value).then(|| value.to_string())),
            "embed" => keep(&mut self.embed, flag(value)),
            "ctl" => {
                self.controls = value.split(',').filter(|c| is_tag(c)).map(ToString::to_string).collect();
                !self.controls.is_empty()
            }
            "h" => keep(&mut self.hash, is_hash(value).then(|| value.to_string())),
            _ => false,
        }
    }

    /// The parameters as they follow a link, each with its `&` in front; empty if there are none.
    #[must_use]
    pub fn to_text(&self) -> String {
        let flag = |on: bool| String::from(if on { "1" } else { "0" });
        let theme = |theme| String::from(if theme == Theme::Dark { "dark" } else { "light" });
        let controls = (!self.controls.is_empty()).then(|| self.controls.join(","));
        let known = [
            ("at", self.at_s.map(|s| format!("{s}"))),
            ("play", self.play.map(flag)),
            ("speed", self.speed.map(|speed| format!("{speed}"))),
            ("cmp", self.compare.map(flag)),
            ("rep", self.replications.map(|n| n.to_string())),
            ("theme", self.theme.map(theme)),
            ("lang", self.language.clone()),
            ("embed", self.embed.map(flag)),
            ("ctl", controls),
            ("h", self.hash.clone()),
        ];
        let mut out = String::new();
        for (key, value) in known {
            if let Some(value) = value {
                let _ = write!(out, "&{key}={}", to_percent(&value).replace("%2C", ","));
            }
        }
        for (key, value) in &self.other {
            let _ = write!(out, "&{key}={value}");
        }
        out
    }
}

fn keep<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    let makes_sense = value.is_some();
    if makes_sense {
        *place = value;
    }
    makes_sense
}

fn number(text: &str, lo: f64, hi: f64) -> Option<f64> {
    // As JSON writes it; std's own reader would bring its tables into the page.
    json::number(text).filter(|x| (lo..=hi).contains(x))
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

fn theme(text: &str) -> Option<Theme> {
    match text {
        "light" => Some(Theme::Light),
        "dark" => Some(Theme::Dark),
        _ => None,
    }
}

fn is_tag(text: &str) -> bool {
    (1..=20).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
}

fn is_hash(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_is_read_and_written_again() {
        let text = "&at=12.5&play=0&speed=4&cmp=1&rep=10&theme=dark&lang=zh&embed=1&ctl=load,policy&h=0123456789ab&x=%20y";
        let view = View::parse(&text[1..]);
        assert_eq!((view.at_s, view.play, view.speed), (Some(12.5), Some(false), Some(4.0)));
        assert_eq!((view.compare, view.replications, view.theme), (Some(true), Some(10), Some(Theme::Dark)));
        assert_eq!((view.language.as_deref(), view.embed), (Some("zh"), Some(true)));
        assert_eq!(view.controls, ["load", "policy"]);
        assert_eq!(view.hash.as_deref(), Some("0123456789ab"));
        assert_eq!(view.other, [(String::from("x"), String::from("%20y"))]);
        assert_eq!(view.to_text(), text);
    }

    #[test]
    fn nonsense_is_kept_and_does_nothing() {
        let view = View::parse("at=-1&speed=NaN&play=yes&rep=0&theme=pink&h=xyz&lang=&&ctl=,&at=1e999");
        assert_eq!(View { other: Vec::new(), ..view.clone() }, View::default());
        assert_eq!(view.to_text(), "&at=-1&speed=NaN&play=yes&rep=0&theme=pink&h=xyz&lang=&ctl=,&at=1e999");
    }
}
