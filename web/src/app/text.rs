//! The scenario as text, in both directions. What is typed is read a moment later; a scenario that follows the rules
//! runs at once, and until there is one again the last one runs on.

use super::App;
use core::ops::Range;
use tidegate_core::scenario::ScenarioError;
use tidegate_core::scenario::parse::{check_all, from_value, json_value};
use wasm_bindgen::JsCast;
use yew::prelude::*;

/// Text is read so long after the last key, in milliseconds.
const READ_MS: f64 = 350.0;
/// More than this many problems at once help nobody.
const PROBLEMS: usize = 8;

/// Something wrong with the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// What, with path and rule.
    pub error: ScenarioError,
    /// Whether it is no JSON at all.
    pub syntax: bool,
    /// In which line, counted from 1.
    pub line: usize,
    /// Where in the text, in bytes.
    pub place: Range<usize>,
}

/// The text view.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Whether it is shown in place of the fields.
    pub open: bool,
    /// Whether it shows TOML.
    pub toml: bool,
    /// What was typed; nothing where the text is the scenario's own.
    pub typed: Option<String>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    due_ms: Option<f64>,
}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum Do {
    /// Shows the text, or the fields.
    Open(bool),
    /// Shows TOML, or JSON.
    Toml(bool),
    /// Something was typed.
    Typed(String),
    /// Marks the place of a problem in the text.
    Show(usize),
    /// Gives up what was typed.
    Revert,
}

impl State {
    /// The scenario was changed by other means: what was typed is not it any more.
    pub fn forget(&mut self) {
        self.typed = None;
        self.problems.clear();
        self.due_ms = None;
    }
}

impl App {
    pub(super) fn text(&mut self, _ctx: &Context<Self>, command: Do) {
        match command {
            Do::Open(open) => {
                self.text.open = open;
                self.sheet |= open;
            }
            Do::Toml(toml) => self.text.toml = toml,
            Do::Typed(text) => {
                self.text.typed = Some(text);
                self.text.due_ms = Some(self.now_ms + READ_MS);
            }
            Do::Show(i) => self.select(i),
            Do::Revert => self.text.forget(),
        }
    }

    /// Reads what was typed, if it is time.
    pub(super) fn read_text(&mut self) {
        if self.text.due_ms.is_none_or(|due| self.now_ms < due) {
            return;
        }
        let typed = self.text.typed.take().unwrap_or_default();
        let problems = problems(&typed);
        if let Ok(parsed) = json_value(&typed).and_then(|value| from_value(&value)) {
            self.adopt("text".to_owned(), String::new(), parsed);
            self.wrong.retain(|wrong| wrong.field != "text");
        }
        self.text = State { typed: Some(typed), problems, due_ms: None, ..core::mem::take(&mut self.text) };
        self.text_due = true;
    }

    fn select(&self, i: usize) {
        let (Some(problem), Some(text)) = (self.text.problems.get(i), &self.text.typed) else { return };
        let document = web_sys::window().and_then(|w| w.document());
        let area = document.and_then(|d| d.get_element_by_id("scenario-text"));
        let Some(area) = area.and_then(|a| a.dyn_into::<web_sys::HtmlTextAreaElement>().ok()) else { return };
        // The browser counts in halves of UTF-16.
        let units = |end: usize| text.get(..end).map_or(0, |part| part.encode_utf16().count()) as u32;
        let _ = area.focus();
        let _ = area.set_selection_range(units(problem.place.start), units(problem.place.end));
    }
}

/// Everything wrong with a text, where it is.
#[must_use]
pub fn problems(text: &str) -> Vec<Problem> {
    let (errors, syntax) = match json_value(text) {
        Ok(value) => (check_all(&value), false),
        Err(error) => (vec![error], true),
    };
    let placed = errors.into_iter().take(PROBLEMS).map(|error| {
        let place = spot(&error.found, text).filter(|_| syntax);
        let place = place.unwrap_or_else(|| locate(text, &error.path));
        let before = text.get(..place.start).unwrap_or_default();
        Problem {
            line: before.matches('\n').count() + 1,
            syntax: syntax && error.rule == "JSON",
            place,
            error,
        }
    });
    placed.collect()
}

/// The place that a message such as `… at line 3 column 7` names, to the end of its line.
fn spot(message: &str, text: &str) -> Option<Range<usize>> {
    let (line, column) = message.rsplit_once(" at line ")?.1.split_once(" column ")?;
    let (line, column) = (line.parse::<usize>().ok()?, column.parse::<usize>().ok()?);
    let start: usize = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let end = start + text.get(start..)?.find('\n').unwrap_or(text.len() - start);
    let mut at = (start + column.saturating_sub(1)).min(end);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    Some(at..end)
}

/// Where the value at a path such as `classes[0].load.rate_per_s` stands in JSON text; where it is missing, the
/// beginning of what it is missing from.
#[must_use]
pub fn locate(text: &str, path: &str) -> Range<usize> {
    let steps: Vec<&str> = path.split(['.', '[', ']']).filter(|step| !step.is_empty()).collect();
    Scan { text: text.as_bytes(), at: 0 }.find(&steps)
}

/// A reader of JSON that looks for one place. On text that is no JSON it ends somewhere within.
struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn next(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    /// Past a string, the present character being its first quote.
    fn string(&mut self) {
        self.at += 1;
        while let Some(&b) = self.text.get(self.at) {
            self.at += 1 + usize::from(b == b'\\');
            if b == b'"' {
                break;
            }
        }
        self.at = self.at.min(self.text.len());
    }

    /// Past a value.
    fn skip(&mut self) {
        let mut depth = 0_usize;
        while let Some(b) = self.next() {
            match b {
                b'"' => self.string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' | b',' if depth == 0 => return,
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b':' => self.at += 1,
                _ => {
                    let end = |b: &u8| b.is_ascii_whitespace() || b",:]}".contains(b);
                    let rest = self.text[self.at..].iter();
                    self.at += rest.take_while(|b| !end(b)).count();
                }
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn find(&mut self, steps: &[&str]) -> Range<usize> {
        let first = self.next();
        let start = self.at;
        let inside = first.filter(|first| matches!(first, b'{' | b'['));
        let (Some(first), Some((step, rest))) = (inside, steps.split_first()) else {
            self.skip();
            return start..self.at;
        };
        self.at += 1;
        let mut index = 0_usize;
        loop {
            match self.next() {
                None | Some(b'}' | b']') => break,
                Some(b',') => {
                    self.at += 1;
                    index += 1;
                    continue;
                }
                Some(_) => {}
            }
            let here = if first == b'{' {
                let from = self.at;
                self.string();
                let key =
                    self.text.get(from + 1..self.at.saturating_sub(1)).unwrap_or_default() == step.as_bytes();
                if self.next() == Some(b':') {
                    self.at += 1;
                }
                key
            } else {
                step.parse() == Ok(index)
            };
            if here {
                return self.find(rest);
            }
            let before = self.at;
            self.skip();
            // Only what is no JSON leaves nothing to pass.
            if self.at == before {
                break;
            }
        }
        start..(start + 1).min(self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{
  "tidegate": 1,
  "title": "a \"b\" {[,",
  "classes": [
    {"name": "中文", "load": {"kind": "poisson", "rate_per_s": 5}},
    {"name": "B"}
  ],
  "stages": []
}"#;

    #[track_caller]
    fn check(path: &str, want: &str) {
        assert_eq!(&TEXT[locate(TEXT, path)], want, "{path}");
    }

    #[test]
    fn values_are_found_by_their_path() {
        check("tidegate", "1");
        check("title", r#""a \"b\" {[,""#);
        check("classes[0].load.rate_per_s", "5");
        check("classes[1].name", r#""B""#);
        check("classes[1]", r#"{"name": "B"}"#);
        check("stages", "[]");
    }

    #[test]
    fn what_is_missing_is_shown_where_it_should_be() {
        assert_eq!(locate(TEXT, "classes[1].load").start, locate(TEXT, "classes[1]").start);
        check("stages[3].name", "[");
        check("nothing", "{");
        assert_eq!(locate("", "a.b"), 0..0);
    }

    #[test]
    fn no_text_makes_it_panic_or_hang() {
        for cut in 0..TEXT.len() {
            let text = String::from_utf8_lossy(&TEXT.as_bytes()[..cut]);
            for path in ["classes[0].load.rate_per_s", "title.x", "stages[9]"] {
                let place = locate(&text, path);
                assert!(place.start <= place.end && place.end <= text.len());
            }
            assert!(!problems(&text).is_empty(), "{cut}: a part is no scenario");
        }
        for odd in ["\"\\", "[\"", "{]", "{\"a\" \"b\"}", "}{", "[[[[", "\u{4e2d}"] {
            let _ = (locate(odd, "a[0].b"), problems(odd));
        }
    }

    #[test]
    fn problems_name_their_line() {
        let found = problems(&TEXT.replace("\"stages\": []", "\"stages\": [], \"stage\": 4"));
        let lines: Vec<(usize, &str)> = found.iter().map(|p| (p.line, p.error.path.as_str())).collect();
        assert!(lines.contains(&(8, "stage")), "{found:?}");
        assert!(lines.contains(&(8, "stages")), "{found:?}");
        let broken = problems(&TEXT.replace("},\n    {\"name\": \"B\"}", "}\n    {\"name\": \"B\"}"));
        assert_eq!((broken.len(), broken[0].line, broken[0].syntax), (1, 6, true), "{broken:?}");
        assert!(problems(tidegate_core::scenario::presets::ALL[0].json()).is_empty());
    }
}
