//! Share links: a scenario as text that can be sent, opened anywhere and read back exactly.
//!
//! ```text
//! t1z.<payload>.<check>&at=12.5&theme=dark
//! ```
//!
//! `t`, the version of the format, the codec of the payload: `z` for compressed (what Share writes), `j` for
//! percent-encoded JSON (for people and other programs). The check is CRC-32 over everything in front of its
//! dot, as seven characters that no chat program mistakes for the end of a sentence. It may be left out for `j`.
//!
//! The link stands behind the `#` of an address, which no browser sends to a server. Nothing in it is ever run
//! or fetched; all sizes are bounded before they are allocated.
//!
//! ```
//! use tidegate_core::{link, scenario::presets};
//!
//! let scenario = presets::get("mm1").unwrap().scenario();
//! let text = link::encode(scenario.wire());
//! let link = link::decode(&format!("https://example.org/play/#{text}&theme=dark"))?;
//! assert_eq!(&link.parsed.wire, scenario.wire());
//! assert_eq!(link.view.theme, Some(link::Theme::Dark));
//! # Ok::<(), link::LinkError>(())
//! ```

mod deflate;
mod error;
mod text;
mod view;

pub use error::LinkError;
pub use view::{Theme, View};

use crate::compare::settings;
use crate::scenario::parse::{MAX_JSON_BYTES, Parsed, from_value, json_value, parse_json, to_json};
use crate::scenario::to_canonical_json;
use crate::scenario::v1::{ScenarioV1, VERSION};
use alloc::format;
use alloc::string::String;
use serde_json::Value;
use text::{BASE64, CHECK_LENGTH, CROCKFORD};

/// Most characters of a link that are read.
pub const MAX_CHARS: usize = 64_000;
/// From here on a link may be cut short in a chat: Share says so.
pub const WARN_CHARS: usize = 2_000;
/// From here on Share offers a file instead.
pub const FILE_CHARS: usize = 8_000;

/// A link that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The scenario, with what is unknown in it.
    pub parsed: Parsed,
    /// How to show it.
    pub view: View,
}

impl Link {
    /// The link as text, without `#`: scenario (compressed) and view.
    #[must_use]
    pub fn to_text(&self) -> String {
        encode_parsed(&self.parsed) + &self.view.to_text()
    }
}

/// The link for a scenario, without `#`: `t1z.<payload>.<check>`.
#[must_use]
pub fn encode(wire: &ScenarioV1) -> String {
    encode_z(&to_canonical_json(wire))
}

/// The link for a scenario that was read, with the fields nobody here knows.
#[must_use]
pub fn encode_parsed(parsed: &Parsed) -> String {
    encode_z(&parsed.to_canonical_json())
}

/// The link that people can read: `t1j.<percent-encoded JSON>.<check>`.
#[must_use]
pub fn encode_readable(parsed: &Parsed) -> String {
    sealed(format!("t{VERSION}j.{}", text::to_percent(&parsed.to_canonical_json())))
}

fn encode_z(json: &str) -> String {
    sealed(squeezed('t', json))
}

/// Text as the payload of a compressed link, without its check.
fn squeezed(head: char, json: &str) -> String {
    let squeezed = deflate::deflate(json.as_bytes(), deflate::DICTIONARY_1);
    format!("{head}{VERSION}z.{}", text::to_base64(&squeezed))
}

/// A second scenario beside the first, as the view parameter `b` carries it: `d1z.<payload>.<check>`, whose payload is the
/// JSON of an object from paths to what the second has there (`null` for nothing), compressed as a link is.
#[must_use]
pub fn encode_other(a: &Parsed, b: &Parsed) -> String {
    sealed(squeezed('d', &to_json(&Value::Object(settings::patch(&a.wire, &b.wire)))))
}

/// The second scenario that [`encode_other`] wrote, made from the first; or `preset.NAME`, a built-in one, which `preset`
/// gives for its name.
///
/// # Errors
/// [`LinkError`]; [`LinkError::Content`] if it was written beside another first scenario.
pub fn decode_other(
    a: &Parsed,
    text: &str,
    preset: impl FnOnce(&str) -> Option<Parsed>,
) -> Result<Parsed, LinkError> {
    let text = text.trim();
    if text.len() > MAX_CHARS {
        return Err(LinkError::TooLong { chars: text.len() });
    }
    if let Some(name) = text.strip_prefix("preset.") {
        return preset(name).ok_or(LinkError::NotALink);
    }
    let (body, check) = text.rsplit_once('.').ok_or(LinkError::CutShort)?;
    let payload = body.strip_prefix("d1z.").ok_or(LinkError::NotALink)?;
    if text::check_of(body) != check {
        return Err(LinkError::Check);
    }
    let squeezed = text::from_base64(payload).map_err(|_| LinkError::Content)?;
    let json =
        deflate::inflate(&squeezed, deflate::DICTIONARY_1, MAX_JSON_BYTES).ok_or(LinkError::Content)?;
    let json = String::from_utf8(json).map_err(|_| LinkError::Content)?;
    let patch = json_value(&json).map_err(LinkError::from_scenario)?;
    let made = patch.as_object().and_then(|patch| settings::patched(&a.wire, patch));
    from_value(&made.ok_or(LinkError::Content)?).map_err(LinkError::from_scenario)
}

fn sealed(link: String) -> String {
    let check = text::check_of(&link);
    link + "." + &check
}

/// Reads a link: a whole address, `#t1…` or `t1…`, with or without view parameters.
///
/// # Errors
/// [`LinkError`]; no text panics, and none is read half: a link with one character changed, or cut short
/// anywhere, is an error (for codec `j` only if it has a check).
pub fn decode(text: &str) -> Result<Link, LinkError> {
    let whole = text.trim();
    let chars = whole.chars().count();
    if chars > MAX_CHARS {
        return Err(LinkError::TooLong { chars });
    }
    // The address in front may hold anything but `#`.
    let start = whole.find('#').map_or(0, |hash| hash + 1);
    let fragment = &whole[start..];
    let (link, view) = fragment.split_once('&').unwrap_or((fragment, ""));
    let parts = Parts::of(link).ok_or(LinkError::NotALink)?;
    let place = Place { whole, start };
    let json = match parts.codec {
        'z' => parts.read_z(&place)?,
        'j' => parts.read_j(&place)?,
        codec => {
            parts.verify(&place)?;
            return Err(if parts.version > VERSION {
                newer(parts.version)
            } else if codec == 'p' {
                LinkError::Reserved
            } else {
                LinkError::Codec(codec)
            });
        }
    };
    let parsed = parse_json(&json).map_err(LinkError::from_scenario)?;
    Ok(Link { parsed, view: View::parse(view) })
}

/// Reads whatever a person pastes or drops: JSON text (unknown fields are kept), or a link.
///
/// # Errors
/// [`LinkError`], also for what is wrong in JSON text.
pub fn open(text: &str) -> Result<Link, LinkError> {
    if text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
        let parsed = parse_json(text).map_err(LinkError::from_scenario)?;
        return Ok(Link { parsed, view: View::default() });
    }
    decode(text)
}

/// Whether a text is meant to be a link, rather than a file name or JSON: it has `t<version><codec>.`
/// at its beginning or behind its first `#`.
#[must_use]
pub fn looks_like(text: &str) -> bool {
    let text = text.trim();
    Parts::of(text.split_once('#').map_or(text, |(_, fragment)| fragment)).is_some()
}

fn newer(version: u32) -> LinkError {
    LinkError::Newer { version, scenario: None }
}

/// Where a link is in the text it was given in, to count characters as its reader does.
struct Place<'a> {
    whole: &'a str,
    /// Offset of the link's `t`.
    start: usize,
}

impl Place<'_> {
    /// The error for the character at an offset of the link, counted from 1 in the whole text.
    fn damaged(&self, offset: usize) -> LinkError {
        let at = self.start + offset;
        let number = self.whole.char_indices().take_while(|(i, _)| *i < at).count() + 1;
        match self.whole.get(at..).and_then(|rest| rest.chars().next()) {
            Some(found) => LinkError::Damaged { character: number, found, repaired: None },
            None => LinkError::CutShort,
        }
    }
}

/// A link in its parts, nothing verified yet.
struct Parts<'a> {
    link: &'a str,
    version: u32,
    codec: char,
    /// Offset of the payload.
    payload: usize,
}

impl<'a> Parts<'a> {
    /// Takes `t<version><codec>.` off, or gives `None` if the text does not begin so.
    fn of(link: &'a str) -> Option<Self> {
        let (head, _) = link.split_once('.')?;
        let codec = head.chars().next_back()?;
        let digits = head.strip_prefix('t')?.strip_suffix(codec)?;
        let fits = codec.is_ascii_lowercase()
            && (1..=4).contains(&digits.len())
            && digits.bytes().all(|b| b.is_ascii_digit())
            && !digits.starts_with('0');
        let version = digits.parse().ok().filter(|_| fits)?;
        Some(Self { link, version, codec, payload: head.len() + 1 })
    }

    /// Splits off the check and looks whether it fits; gives the payload.
    fn verify(&self, place: &Place<'_>) -> Result<&'a str, LinkError> {
        let body = self.link.rfind('.').filter(|dot| *dot >= self.payload).ok_or(LinkError::CutShort)?;
        let check = &self.link[body + 1..];
        if let Some(bad) = check.bytes().position(|b| !CROCKFORD.contains(&b)) {
            return Err(place.damaged(body + 1 + bad));
        }
        if check.len() < CHECK_LENGTH {
            return Err(LinkError::CutShort);
        }
        if check.len() > CHECK_LENGTH {
            return Err(place.damaged(body + 1 + CHECK_LENGTH));
        }
        if text::check_of(&self.link[..body]) != check {
            return Err(self.changed(body, check, place));
        }
        Ok(&self.link[self.payload..body])
    }

    /// The error for a check that does not fit. If changing a single character makes it fit, that is the one.
    fn changed(&self, body: usize, check: &str, place: &Place<'_>) -> LinkError {
        let Some((at, meant)) = single_change(&self.link[..body], self.payload, check) else {
            return LinkError::Check;
        };
        let mut repaired = String::from(&self.link[..at]);
        repaired.push(meant);
        repaired.push_str(&self.link[at + 1..]);
        match place.damaged(at) {
            LinkError::Damaged { character, found, .. } => {
                LinkError::Damaged { character, found, repaired: Some(repaired) }
            }
            other => other,
        }
    }

    /// The JSON of a compressed link.
    fn read_z(&self, place: &Place<'_>) -> Result<String, LinkError> {
        // A character that cannot be there says more than a check that does not fit.
        let end = self.link.rfind('.').filter(|dot| *dot >= self.payload).unwrap_or(self.link.len());
        let squeezed = text::from_base64(&self.link[self.payload..end]);
        if let Err(at) = squeezed
            && let Some(odd) = self.link[self.payload..end].bytes().position(|b| !BASE64.contains(&b))
        {
            debug_assert_eq!(at, odd);
            return Err(place.damaged(self.payload + odd));
        }
        self.verify(place)?;
        if self.version > VERSION {
            return Err(newer(self.version));
        }
        // From here on the check fits: whoever made the link meant it so.
        let squeezed = squeezed.map_err(|_| LinkError::Content)?;
        let json = deflate::inflate(&squeezed, deflate::DICTIONARY_1, MAX_JSON_BYTES);
        String::from_utf8(json.ok_or(LinkError::Content)?).map_err(|_| LinkError::Content)
    }

    /// The JSON of a readable link. JSON ends in a brace, so a check can be told from the payload.
    fn read_j(&self, place: &Place<'_>) -> Result<String, LinkError> {
        let rest = &self.link[self.payload..];
        let bare = ["}", "%7D", "%7d"].iter().any(|brace| rest.ends_with(brace));
        let payload = if bare { rest } else { self.verify(place)? };
        text::from_percent(payload).map_err(|at| place.damaged(self.payload + at))
    }
}

/// The one character (offset, and what it should be) whose change makes `check` fit, if there is exactly one.
///
/// CRC is linear: what a change of one byte does to the sum does not depend on the rest of the text. So the
/// difference of the sums is wound back from the end, byte by byte; where it is one byte wide, that byte of the
/// text differs by it.
fn single_change(body: &str, payload: usize, check: &str) -> Option<(usize, char)> {
    let given = check.bytes().try_fold(0_u64, |sum, c| {
        CROCKFORD.iter().position(|known| *known == c).map(|value| (sum << 5) | value as u64)
    })?;
    let difference = given ^ u64::from(text::crc32(body.as_bytes()));
    // The check itself: only one of its characters, five bits each, is wrong.
    if let Some(place) = (0..CHECK_LENGTH).find(|i| difference & !(31 << (5 * i)) == 0) {
        let right = text::check_of(body);
        let at = CHECK_LENGTH - 1 - place;
        return Some((body.len() + 1 + at, char::from(right.as_bytes()[at])));
    }
    let mut difference = u32::try_from(difference).ok()?;
    let mut found = None;
    for (at, &byte) in body.as_bytes().iter().enumerate().skip(payload).rev() {
        difference = text::crc_wound_back(difference);
        let Ok(change) = u8::try_from(difference) else {
            continue;
        };
        if BASE64.contains(&(byte ^ change)) {
            if found.is_some() {
                return None;
            }
            found = Some((at, char::from(byte ^ change)));
        }
    }
    found.filter(|(at, _)| body.is_char_boundary(*at) && body.is_char_boundary(at + 1))
}

#[cfg(test)]
mod tests;
