//! A page in a frame of another page: which controls it shows, and what the page around it may ask for.
//!
//! Messages are JSON objects that say `tidegate: 1`. Reading them is strict: what is not known is answered with an error
//! that names it. `docs/src/links.md` describes them.

use crate::edit;
use crate::knobs;
use serde_json::{Map, Value, json};
use tidegate_core::json;
use tidegate_core::link::LinkError;
use tidegate_core::scenario::ScenarioError;
use tidegate_core::scenario::v1::{LoadV1, ScenarioV1};

/// Version of the messages.
const VERSION: u64 = 1;
/// Most controls that a frame shows.
const CONTROLS: usize = 2;

/// Something that can be set from outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// `load`: all arrival rates, as a factor of those the scenario came with.
    Load,
    /// `workers` of the main stage.
    Workers,
    /// `policy`: who may wait at the main stage.
    Policy,
    /// `seed`.
    Seed,
    /// Any value of the scenario by its path.
    Path(String),
}

/// Names of the controls that have one.
pub const NAMES: [&str; 4] = ["load", "workers", "policy", "seed"];

impl Control {
    /// The control of that name, or of that path.
    #[must_use]
    pub fn of(name: &str) -> Self {
        match name {
            "load" => Self::Load,
            "workers" => Self::Workers,
            "policy" => Self::Policy,
            "seed" => Self::Seed,
            path => Self::Path(path.to_owned()),
        }
    }

    /// The controls that a link's `ctl` asks for: the first two.
    #[must_use]
    pub fn list(names: &str) -> Vec<Self> {
        names.split(',').filter(|name| !name.is_empty()).take(CONTROLS).map(Self::of).collect()
    }

    /// Path in the scenario of what it sets; none for `load`, which sets several.
    #[must_use]
    pub fn path(&self, main_stage: usize) -> String {
        match self {
            Self::Load => "classes".to_owned(),
            Self::Workers => format!("stages[{main_stage}].workers"),
            Self::Policy => format!("stages[{main_stage}].queue"),
            Self::Seed => "run.seed".to_owned(),
            Self::Path(path) => path.clone(),
        }
    }

    /// The scenario with the control set. `base` is the scenario that the loads of factor 1 are from.
    ///
    /// # Errors
    /// If it cannot have that value. Whether the whole is a scenario is not looked at.
    pub fn set(
        &self,
        s: &ScenarioV1,
        base: &ScenarioV1,
        main_stage: usize,
        to: &Value,
    ) -> Result<ScenarioV1, Fault> {
        let mut s = s.clone();
        let wrong = |rule: &str| Fault::at("to", rule, &json::write(to));
        match self {
            Self::Load => {
                let factor = to.as_f64().filter(|x| (0.0..=1000.0).contains(x));
                scale(&mut s, base, factor.ok_or_else(|| wrong("a factor from 0 to 1000"))?);
            }
            Self::Workers => {
                let workers = to.as_u64().and_then(|n| u32::try_from(n).ok());
                edit::set_workers(&mut s, main_stage, workers.ok_or_else(|| wrong("a whole number"))?);
            }
            Self::Policy if to.is_string() => {
                let arm = knobs::QUEUE.arms.iter().position(|arm| to == arm.word);
                let arm = arm.ok_or_else(|| wrong("the kind of a queue control"))?;
                knobs::choose(&mut s, &self.path(main_stage), &knobs::QUEUE, arm);
            }
            _ => {
                let path = self.path(main_stage);
                if !knobs::try_put(&mut s, &path, Some(to.clone())) {
                    return Err(Fault::at(
                        &path,
                        "a value of the scenario and one that fits there",
                        &json::write(to),
                    ));
                }
            }
        }
        Ok(s)
    }
}

/// Makes the loads of `s` so many times those of `base`, class by class.
pub fn scale(s: &mut ScenarioV1, base: &ScenarioV1, factor: f64) {
    for (class, base) in s.classes.iter_mut().zip(&base.classes) {
        class.load = base.load.clone();
        match &mut class.load {
            LoadV1::Poisson { rate_per_s } | LoadV1::Deterministic { rate_per_s, .. } => {
                *rate_per_s *= factor;
            }
            LoadV1::Mmpp { phases } => phases.iter_mut().for_each(|phase| phase.rate_per_s *= factor),
            LoadV1::Closed { clients, .. } => {
                *clients = edit::whole((f64::from(*clients) * factor).round()).max(1);
            }
            LoadV1::Trace { .. } => {}
        }
    }
}

/// By how much the loads of `s` are those of `base`.
#[must_use]
pub fn factor(s: &ScenarioV1, base: &ScenarioV1) -> f64 {
    let size = |s: &ScenarioV1| -> f64 {
        let load = |load: &LoadV1| match load {
            LoadV1::Poisson { rate_per_s } | LoadV1::Deterministic { rate_per_s, .. } => *rate_per_s,
            LoadV1::Mmpp { phases } => phases.iter().map(|phase| phase.rate_per_s).sum(),
            LoadV1::Closed { clients, .. } => f64::from(*clients),
            LoadV1::Trace { .. } => 0.0,
        };
        s.classes.iter().map(|class| load(&class.load)).sum()
    };
    let (now, then) = (size(s), size(base));
    if then > 0.0 { now / then } else { 1.0 }
}

/// What the page around asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Opens a scenario: a link, JSON text or `preset:NAME`, to stand at a moment.
    Load(String, f64),
    /// Plays.
    Play,
    /// Pauses.
    Pause,
    /// Goes to a moment, in seconds.
    Seek(f64),
    /// Sets a control.
    Set(Control, Value),
    /// The report of the whole run.
    Results,
}

/// What is wrong with a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    message: String,
    /// Where, which rule, and what was found.
    place: Option<[String; 3]>,
}

impl Fault {
    fn at(path: &str, rule: &str, found: &str) -> Self {
        let place = [path, rule, found].map(str::to_owned);
        Self { message: format!("{path}: {rule}, found {found}"), place: Some(place) }
    }

    /// Something that went wrong, in words.
    #[must_use]
    pub const fn new(message: String) -> Self {
        Self { message, place: None }
    }
}

impl From<ScenarioError> for Fault {
    fn from(error: ScenarioError) -> Self {
        Self { message: error.to_string(), place: Some([error.path, error.rule, error.found]) }
    }
}

impl From<LinkError> for Fault {
    fn from(error: LinkError) -> Self {
        match error {
            LinkError::Scenario(error) => error.into(),
            other => Self::new(other.to_string()),
        }
    }
}

/// A message for us: how it wants to be answered, and what it asks.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Comes back with the answer, whatever it is.
    pub id: Value,
    /// What it asks for, or what is wrong with it.
    pub ask: Result<Ask, Fault>,
}

/// Reads a message; `None` if it does not concern us.
#[must_use]
pub fn read(json: &str) -> Option<Message> {
    let value: Value = json::read(json).ok()?;
    let object = value.as_object()?;
    let version = object.get("tidegate")?;
    let id = object.get("id").cloned().unwrap_or(Value::Null);
    let ask = if *version == json!(VERSION) {
        ask(object)
    } else {
        Err(Fault::at("tidegate", "1", &json::write(version)))
    };
    Some(Message { id, ask })
}

fn ask(object: &Map<String, Value>) -> Result<Ask, Fault> {
    let what = object.get("do").cloned().unwrap_or(Value::Null);
    let known: &[&str] = match what.as_str() {
        Some("load") => &["scenario", "at"],
        Some("play" | "pause" | "results") => &[],
        Some("seek") => &["to"],
        Some("set") => &["what", "to"],
        _ => return Err(Fault::at("do", "load, play, pause, seek, set or results", &json::write(&what))),
    };
    if let Some((key, value)) = object
        .iter()
        .find(|(key, _)| !["tidegate", "id", "do"].contains(&key.as_str()) && !known.contains(&key.as_str()))
    {
        return Err(Fault::at(key, "no such field of this message", &json::write(value)));
    }
    let found = |key: &str| object.get(key).map_or_else(|| "nothing".to_owned(), json::write);
    let seconds = |key: &str| {
        let number = object.get(key).and_then(Value::as_f64).filter(|s| *s >= 0.0);
        number.ok_or_else(|| Fault::at(key, "seconds from 0", &found(key)))
    };
    Ok(match what.as_str() {
        Some("load") => {
            let scenario = match object.get("scenario") {
                Some(Value::String(text)) => text.clone(),
                Some(scenario @ Value::Object(_)) => json::write(scenario),
                _ => {
                    return Err(Fault::at(
                        "scenario",
                        "a link, preset:NAME or a scenario",
                        &found("scenario"),
                    ));
                }
            };
            Ask::Load(scenario, if object.contains_key("at") { seconds("at")? } else { 0.0 })
        }
        Some("play") => Ask::Play,
        Some("pause") => Ask::Pause,
        Some("seek") => Ask::Seek(seconds("to")?),
        Some("set") => {
            let name = object.get("what").and_then(Value::as_str);
            let name = name.ok_or_else(|| Fault::at("what", "a name or path", &found("what")))?;
            let to = object.get("to").ok_or_else(|| Fault::at("to", "a value", "nothing"))?;
            Ask::Set(Control::of(name), to.clone())
        }
        _ => Ask::Results,
    })
}

/// The answer to a message: what it says besides, or what is wrong.
#[must_use]
pub fn answer(id: &Value, said: Result<Map<String, Value>, Fault>) -> String {
    let mut out = match said {
        Ok(more) => more,
        Err(fault) => {
            let mut error = Map::new();
            error.insert("message".to_owned(), fault.message.into());
            for (key, text) in ["path", "rule", "found"].into_iter().zip(fault.place.into_iter().flatten()) {
                error.insert(key.to_owned(), text.into());
            }
            let mut out = Map::new();
            out.insert("error".to_owned(), Value::Object(error));
            out
        }
    };
    out.insert("tidegate".to_owned(), VERSION.into());
    out.insert("id".to_owned(), id.clone());
    json::write(&Value::Object(out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::scenario::{Scenario, presets};

    fn asks(json: &str) -> Ask {
        read(json).expect("for us").ask.expect("well said")
    }

    fn fault(json: &str) -> Value {
        let message = read(json).expect("for us");
        let answer: Value =
            serde_json::from_str(&answer(&message.id, Err(message.ask.expect_err("wrong")))).expect("JSON");
        answer["error"].clone()
    }

    fn wire() -> ScenarioV1 {
        presets::get("flash-crowd").expect("a preset").scenario().wire().clone()
    }

    #[test]
    fn each_message_is_understood() {
        assert_eq!(
            asks(r#"{"tidegate":1,"do":"load","scenario":"preset:mm1","at":2.5}"#),
            Ask::Load("preset:mm1".into(), 2.5)
        );
        assert_eq!(
            asks(r#"{"tidegate":1,"do":"load","scenario":{"tidegate":1}}"#),
            Ask::Load(r#"{"tidegate":1}"#.into(), 0.0)
        );
        assert_eq!(asks(r#"{"tidegate":1,"do":"play","id":7}"#), Ask::Play);
        assert_eq!(asks(r#"{"tidegate":1,"do":"pause"}"#), Ask::Pause);
        assert_eq!(asks(r#"{"tidegate":1,"do":"seek","to":100}"#), Ask::Seek(100.0));
        assert_eq!(
            asks(r#"{"tidegate":1,"do":"set","what":"load","to":2}"#),
            Ask::Set(Control::Load, json!(2))
        );
        assert_eq!(asks(r#"{"tidegate":1,"do":"results"}"#), Ask::Results);
    }

    #[test]
    fn what_is_not_known_is_named() {
        let error = fault(r#"{"tidegate":1,"id":3,"do":"dance"}"#);
        assert_eq!(error["path"], "do");
        assert_eq!(error["found"], "\"dance\"");
        assert!(error["message"].as_str().expect("words").contains("dance"), "{error}");
        assert_eq!(fault(r#"{"tidegate":1}"#)["found"], "null");
        assert_eq!(fault(r#"{"tidegate":2,"do":"play"}"#)["path"], "tidegate");
        assert_eq!(fault(r#"{"tidegate":1,"do":"play","fast":true}"#)["path"], "fast");
        assert_eq!(fault(r#"{"tidegate":1,"do":"seek","to":-1}"#)["path"], "to");
        assert_eq!(fault(r#"{"tidegate":1,"do":"seek"}"#)["found"], "nothing");
        assert_eq!(fault(r#"{"tidegate":1,"do":"load"}"#)["path"], "scenario");
        assert_eq!(fault(r#"{"tidegate":1,"do":"set","what":"load"}"#)["path"], "to");
    }

    #[test]
    fn messages_of_others_are_left_alone_and_ids_come_back() {
        for other in ["null", "3", "\"tidegate\"", "[]", r#"{"type":"hello"}"#, "{"] {
            assert_eq!(read(other), None, "{other}");
        }
        let id = json!({ "any": ["thing", 1] });
        let said: Value = serde_json::from_str(&answer(&id, Ok(Map::new()))).expect("JSON");
        assert_eq!(said, json!({ "tidegate": 1, "id": id }));
    }

    #[test]
    fn a_link_names_at_most_two_controls() {
        assert_eq!(Control::list("load,workers,seed"), [Control::Load, Control::Workers]);
        assert_eq!(Control::list("stages[1].queue.min"), [Control::Path("stages[1].queue.min".into())]);
        assert_eq!(Control::list(""), []);
    }

    #[test]
    fn controls_set_what_they_say_and_the_result_is_a_scenario() {
        let base = wire();
        let set = |control: &str, to: Value| Control::of(control).set(&base, &base, 1, &to);
        let rate = |s: &ScenarioV1| match s.classes[0].load {
            LoadV1::Poisson { rate_per_s } => rate_per_s,
            _ => panic!("the preset has changed"),
        };
        let half = set("load", json!(0.5)).expect("a factor");
        assert_eq!(rate(&half), 0.5 * rate(&base));
        assert!((factor(&half, &base) - 0.5).abs() < 1e-9);
        // A factor is always of the first loads.
        let twice = Control::Load.set(&half, &base, 1, &json!(2)).expect("a factor");
        assert_eq!(rate(&twice), 2.0 * rate(&base));
        assert_eq!(set("workers", json!(12)).expect("a number").stages[1].workers, 12);
        assert_eq!(set("seed", json!(99)).expect("a number").run.seed, 99);
        assert_eq!(set("classes[0].name", json!("Buy")).expect("a name").classes[0].name, "Buy");
        assert_eq!(set("policy", json!("codel")).expect("a policy").stages[1].queue.word(), "codel");
        for s in [half, twice, set("policy", json!("codel")).expect("a policy")] {
            Scenario::check(s).expect("a scenario");
        }
        for (control, to) in [
            ("load", json!(-1)),
            ("workers", json!("many")),
            ("policy", json!("wishes")),
            ("run.seed", json!("x")),
            ("no.such.thing", json!(1)),
        ] {
            assert!(set(control, to).is_err(), "{control}");
        }
    }
}
