//! The built-in scenarios as the page has them: the first is part of its program; the others are a file, which is loaded
//! when one of them is asked for.
//!
//! The file has a line a scenario: its name, a blank, and its JSON without line breaks.

use std::cell::Cell;
use tidegate_core::scenario::{Parsed, parse_json, presets};

thread_local! {
    /// The file; empty until it is there. The page and its workers each have their own, and only the page needs it.
    static OTHERS: Cell<&'static str> = const { Cell::new("") };
}

/// Takes the file that was loaded. Returns whether it has scenarios.
pub fn learn(file: &str) -> bool {
    if OTHERS.get().is_empty() && !file.is_empty() {
        // It stays for as long as the page does.
        OTHERS.set(Box::leak(file.to_owned().into_boxed_str()));
    }
    !OTHERS.get().is_empty()
}

/// Whether it is built in, but still to be loaded.
#[must_use]
pub fn is_missing(name: &str) -> bool {
    OTHERS.get().is_empty() && name != presets::ALL[0].name && presets::get(name).is_some()
}

/// The built-in scenario of that name as it was written, if it is there.
#[must_use]
pub fn get(name: &str) -> Option<Parsed> {
    let json = if name == presets::ALL[0].name {
        presets::FIRST
    } else {
        OTHERS.get().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?
    };
    parse_json(json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_the_first_are_in_the_file() {
        let first = presets::ALL[0].name;
        assert!(!is_missing(first) && get(first).is_some());
        assert!(is_missing("mm1") && get("mm1").is_none());
        assert!(!is_missing("unheard-of"));
        assert!(!learn(""), "an empty file is none");
        let mut file = String::new();
        for preset in &presets::ALL[1..] {
            let json: String = preset.json().lines().map(str::trim).collect();
            file += &format!("{} {json}\n", preset.name);
        }
        assert!(learn(&file) && learn(""), "what is known stays known");
        for preset in presets::ALL {
            assert!(!is_missing(preset.name));
            let parsed = get(preset.name).expect("a scenario");
            assert_eq!(parsed.wire, *preset.scenario().wire(), "{}", preset.name);
        }
        // The beginning of a name is no name.
        assert!(get("mm").is_none() && get("").is_none());
    }
}
