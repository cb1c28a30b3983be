//! The built-in scenarios as the page has them: the first is part of its program; the others are a file, which is loaded
//! when one of them is asked for, or the gallery, for which it has questions and drawings.
//!
//! What a line of the file is made of says [`tidegate_words::preset_line`].

use std::cell::Cell;
use tidegate_core::scenario::{Parsed, parse_json, presets};

thread_local! {
    /// The file; empty until it is there. The page and its workers each have their own, and only the page needs it.
    static FILE: Cell<&'static str> = const { Cell::new("") };
}

/// What the gallery shows of a preset besides its title. In English; empty until it is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Card {
    /// The question it answers.
    pub question: &'static str,
    /// What to look for when it runs.
    pub look_for: &'static str,
    /// A drawing of what it is about, as the inside of an SVG of 240 × 84.
    pub drawing: &'static str,
}

/// Takes the file that was loaded. Returns whether it is there.
pub fn learn(file: &str) -> bool {
    if !is_here() && !file.is_empty() {
        // It stays for as long as the page does.
        FILE.set(Box::leak(file.to_owned().into_boxed_str()));
    }
    is_here()
}

/// Whether the file is there.
#[must_use]
pub fn is_here() -> bool {
    !FILE.get().is_empty()
}

/// Name of the preset that the page opens with.
#[must_use]
pub fn first() -> &'static str {
    presets::TITLES.first().map_or("", |(name, _)| name)
}

/// Whether it is built in, but still to be loaded.
#[must_use]
pub fn is_missing(name: &str) -> bool {
    !is_here() && name != first() && presets::title(name).is_some()
}

/// The built-in scenario of that name as it was written, if it is there.
#[must_use]
pub fn get(name: &str) -> Option<Parsed> {
    let json = if name == first() { presets::FIRST } else { line(name)?[3] };
    parse_json(json).ok()
}

/// What the gallery shows of a preset, or of the page without requests.
#[must_use]
pub fn card(name: &str) -> Card {
    let known = if name == first() { presets::FIRST_LOOK_FOR } else { "" };
    line(name).map_or(Card { look_for: known, ..Card::default() }, |[question, look_for, drawing, _]| Card {
        question,
        look_for,
        drawing,
    })
}

/// What the file says of a preset.
fn line(name: &str) -> Option<[&'static str; 4]> {
    let line = FILE.get().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'))?;
    let mut fields = line.splitn(4, '\t');
    Some(std::array::from_fn(|_| fields.next().unwrap_or_default()))
}

/// The file, as the build writes it.
#[cfg(test)]
pub(crate) fn file() -> String {
    let mut file: String = presets::ALL
        .iter()
        .map(|preset| {
            tidegate_words::preset_line(preset.name, preset.question, preset.look_for, preset.json())
        })
        .collect();
    file += &tidegate_words::preset_line(crate::gallery::EMPTY, "", "", "");
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_the_first_are_in_the_file() {
        assert_eq!(first(), presets::ALL[0].name);
        assert!(!is_missing(first()) && get(first()).is_some());
        assert_eq!(card(first()).look_for, presets::ALL[0].look_for);
        assert!(is_missing("mm1") && get("mm1").is_none() && card("mm1") == Card::default());
        assert!(!is_missing("unheard-of"));
        assert!(!learn(""), "an empty file is none");
        assert!(learn(&file()) && learn(""), "what is known stays known");
        for preset in presets::ALL {
            assert!(!is_missing(preset.name));
            let parsed = get(preset.name).expect("a scenario");
            assert_eq!(parsed.wire, *preset.scenario().wire(), "{}", preset.name);
            let card = card(preset.name);
            assert_eq!((card.question, card.look_for), (preset.question, preset.look_for));
            assert!(card.drawing.starts_with('<'), "{}", preset.name);
        }
        assert!(!card(crate::gallery::EMPTY).drawing.is_empty());
        // The beginning of a name is no name.
        assert!(get("mm").is_none() && get("").is_none());
    }
}
