//! Links as the page opens and writes them: the core's codec, with its errors sorted by what to say.

use tidegate_core::link::{self, LinkError};
use tidegate_core::scenario::{Newer, Parsed};

/// Why a link or file does not open.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// It needs a later release.
    Newer(Box<Newer>),
    /// It is not what was sent.
    Damaged(String),
    /// It is whole, and breaks a rule.
    Bad(String),
}

/// Opens a link, a fragment or the text of a scenario file.
///
/// # Errors
/// [`Refusal`], with words of the core.
pub fn open(text: &str) -> Result<Parsed, Refusal> {
    match link::open(text) {
        Ok(link) => Ok(link.parsed),
        Err(LinkError::Newer { version, scenario }) => Err(Refusal::Newer(scenario.unwrap_or_else(|| {
            Box::new(Newer {
                version: version.into(),
                title: String::new(),
                engine: String::new(),
                json: String::new(),
            })
        }))),
        Err(LinkError::Scenario(error)) => Err(Refusal::Bad(error.to_string())),
        Err(error) => Err(Refusal::Damaged(error.to_string())),
    }
}

/// The link of a scenario, with `#`.
#[must_use]
pub fn fragment(parsed: &Parsed) -> String {
    format!("#{}", link::encode_parsed(parsed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::scenario::presets;

    #[test]
    fn what_is_written_opens_again_and_damage_is_told_apart() {
        let parsed = Parsed::from(presets::get("flash-crowd").expect("a preset").scenario().wire().clone());
        let text = fragment(&parsed);
        assert_eq!(open(&text).map(|p| p.wire), Ok(parsed.wire));
        assert!(matches!(open(&text[..text.len() - 3]), Err(Refusal::Damaged(_))));
        assert!(
            matches!(open("{\"tidegate\":99,\"title\":\"Later\"}"), Err(Refusal::Newer(n)) if n.title == "Later")
        );
        assert!(matches!(
            open("{\"tidegate\":1,\"classes\":[],\"stages\":[]}"),
            Ok(_) | Err(Refusal::Bad(_))
        ));
    }
}
