//! What goes wrong, as a JavaScript error that says where.

use js_sys::{Error, Reflect};
use tidegate_core::link::LinkError;
use tidegate_core::scenario::ScenarioError;
use wasm_bindgen::JsValue;

/// Something that is not as it should be.
#[derive(Debug)]
pub(crate) struct Problem {
    message: String,
    /// Where, which rule, and what was found.
    place: Option<[String; 3]>,
}

impl Problem {
    /// `found` at `path` breaks `rule`.
    pub(crate) fn at(path: &str, rule: &str, found: &str) -> Self {
        let place = [path, rule, found].map(str::to_owned);
        Self { message: format!("{path}: {rule}, found {found}"), place: Some(place) }
    }

    /// A text that cannot be read, and why.
    pub(crate) fn text(path: &str, why: String) -> Self {
        let place = Some([path.to_owned(), why.clone(), String::new()]);
        Self { message: why, place }
    }

    /// The same, with what was found there.
    pub(crate) fn showing(mut self, what: String) -> Self {
        if let Some([.., found]) = &mut self.place {
            *found = what;
        }
        self
    }
}

impl From<ScenarioError> for Problem {
    fn from(error: ScenarioError) -> Self {
        Self { message: error.to_string(), place: Some([error.path, error.rule, error.found]) }
    }
}

impl From<LinkError> for Problem {
    fn from(error: LinkError) -> Self {
        match error {
            LinkError::Scenario(error) => error.into(),
            other => Self::text("link", other.to_string()),
        }
    }
}

impl From<Problem> for JsValue {
    fn from(problem: Problem) -> Self {
        let error = Error::new(&problem.message);
        error.set_name("TidegateError");
        for (name, text) in ["path", "rule", "value"].into_iter().zip(problem.place.iter().flatten()) {
            // A fresh object takes any property.
            let _ = Reflect::set(&error, &name.into(), &text.as_str().into());
        }
        error.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::scenario::parse;

    #[test]
    fn an_error_keeps_its_place() {
        let wrong = r#"{"tidegate":1,"classes":[{"name":"A","load":{"kind":"poisson","rate_per_s":-1}}],"stages":[]}"#;
        let error = parse::parse_json(wrong).and_then(parse::Parsed::check).expect_err("a negative rate");
        let problem = Problem::from(error);
        let [path, rule, found] = problem.place.expect("a place");
        assert!(problem.message.starts_with(&path), "{}", problem.message);
        assert!(!rule.is_empty() && !found.is_empty());
        let [path, _, found] = Problem::at("options.seed", "a whole number", "-1").place.expect("a place");
        assert_eq!((path.as_str(), found.as_str()), ("options.seed", "-1"));
        let shown = Problem::text("recorded", "no log".into()).showing("Shall I".into());
        assert_eq!(shown.place, Some(["recorded", "no log", "Shall I"].map(str::to_owned)));
    }
}
