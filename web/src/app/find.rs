//! Finding: the palette, the search among presets, and the table of the present state.

use super::{App, Dialog, Prefs, Section};
use crate::view::table::Table;
use wasm_bindgen::JsCast;

/// What is looked for.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// What was typed.
    pub typed: String,
    /// Which of the results Enter would take.
    pub at: usize,
    /// The table as it was last refreshed, and of when it is, in seconds.
    pub table: (f64, Vec<Table>),
    /// Whether somebody who is here for the first time is told that thresholds can be dragged.
    pub hint: bool,
    /// Field to bring into view and focus once the page is rendered.
    pub(super) wanted: Option<String>,
}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum Do {
    /// Something was typed.
    Typed(String),
    /// To another result.
    At(usize),
    /// To a field of the editor, by its id.
    Field(Section, String),
    /// The state as a table, as it is now.
    Table,
    /// A threshold was dragged.
    Dragged,
}

impl App {
    pub(super) fn find(&mut self, command: Do) {
        match command {
            Do::Typed(text) => {
                self.find.typed = text;
                self.find.at = 0;
            }
            Do::At(at) => self.find.at = at,
            Do::Field(section, id) => {
                self.dialog = None;
                self.text.open = false;
                self.section = Some(section);
                self.sheet = true;
                self.find.wanted = Some(id);
            }
            Do::Dragged => {
                if core::mem::take(&mut self.find.hint) {
                    Prefs::keep("dragged", "yes");
                }
            }
            Do::Table => {
                self.find.table = (self.now_s(), crate::view::table::tables(self));
                self.dialog = Some(Dialog::Table);
            }
        }
    }

    /// Focuses the field that was asked for, opening whatever it is in.
    pub(super) fn focus_wanted(&mut self) {
        let Some(id) = self.find.wanted.take() else { return };
        let Some(document) = web_sys::window().and_then(|w| w.document()) else { return };
        let at = format!(".editor [id=\"{id}\"], .editor [name=\"{id}\"]:checked");
        let Ok(Some(field)) = document.query_selector(&at) else { return };
        let mut around = field.parent_element();
        while let Some(element) = around {
            if element.tag_name() == "DETAILS" {
                let _ = element.set_attribute("open", "");
            }
            around = element.parent_element();
        }
        field.scroll_into_view();
        if let Ok(field) = field.dyn_into::<web_sys::HtmlElement>() {
            let _ = field.focus();
        }
    }
}

/// How well `text` answers what was typed: smaller is better; `None` if a word of it is nowhere, not even letter by
/// letter.
#[must_use]
pub fn score(typed: &str, text: &str) -> Option<usize> {
    // Of what is named here only ASCII has two cases; the tables for all of Unicode weigh more than the palette.
    let text = text.to_ascii_lowercase();
    let mut sum = 0;
    for word in typed.to_ascii_lowercase().split(' ').filter(|word| !word.is_empty()) {
        let found = text.match_indices(word).map(|(at, _)| at);
        let begins = |at: usize| !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        sum += match found.map(|at| if begins(at) { at.min(9) } else { 30 }).min() {
            Some(cost) => cost,
            // Letters in order, for those who type only some.
            None => {
                let mut rest = text.chars();
                let mut letters = word.chars();
                if word.chars().count() < 3 || !letters.all(|c| rest.any(|other| other == c)) {
                    return None;
                }
                100
            }
        };
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_counts_and_beginnings_count_most() {
        assert!(score("max ch", "Serve: max chance") < score("ax", "Serve: max chance"));
        assert!(score("flash", "Flash crowd") < score("crowd", "Flash crowd"));
        assert_eq!(score("flash queue", "Flash crowd"), None);
        assert_eq!(score("", "anything"), Some(0));
        assert!(score("flcr", "Flash crowd").is_some_and(|cost| cost >= 100));
        assert_eq!(score("zz", "Flash crowd"), None);
        assert!(score("等待", "目标等待").is_some());
    }
}
