//! Edits fork the run at the playhead: what an edit makes of the scenario, and how it is taken back.
//!
//! An edit at a moment above 0 becomes one of the scenario's `edits`: until then the run is the old one. One that changes
//! the shape of the system, the seed or the length is an edit of the whole run.

use super::{App, Change, Edit, UNDO_MOST, UNDO_MS};
use crate::edit as change;
use tidegate_core::scenario::edits;
use tidegate_core::scenario::v1::{EditV1, ScenarioV1};
use tidegate_core::scenario::{Parsed, Scenario, ScenarioError};
use tidegate_core::time::{Duration, Instant};

/// Fields that are about the whole run, wherever the playhead is.
const WHOLE: [&str; 4] = ["run.", "events", "title", "about"];

impl App {
    /// The scenario in force at the playhead, as the editor shows it.
    #[must_use]
    pub fn wire(&self) -> &ScenarioV1 {
        let at = Instant::START + Duration::from_micros(change::us(self.now_s()));
        match &self.checked {
            Some(checked) if !checked.edits.is_empty() => checked.version_at(at).wire(),
            _ => &self.parsed.wire,
        }
    }

    /// Whether the scenario is edited while it runs.
    #[must_use]
    pub fn is_edited(&self) -> bool {
        !self.parsed.wire.edits.is_empty()
    }

    /// The moment an edit made now takes effect, in whole microseconds, so that nothing that was seen changes; 0 for
    /// the whole run.
    fn edit_us(&self) -> u64 {
        // What is compared are two systems, not two histories of one.
        if self.over() || self.is_comparing() {
            0
        } else {
            libm::ceil(self.now_s() * 1e6 - 1e-3).max(0.0) as u64
        }
    }

    pub(super) fn edit(&mut self, edit: Edit) {
        let Edit { field, typed, change } = edit;
        let Some(change) = change else {
            self.set_wrong(field, typed, None);
            return;
        };
        let moved = self.now_s() > 0.0;
        let edited = if WHOLE.iter().any(|begin| field.starts_with(begin)) {
            Ok((edited_whole(&self.parsed, change), moved))
        } else {
            match self.edit_us() {
                0 => Ok((edited_at_start(&self.parsed, change), moved)),
                at_us => edited_at(&self.parsed, self.wire(), at_us, change),
            }
        };
        match edited {
            Ok((parsed, _)) if parsed == self.parsed => self.wrong.retain(|w| w.field != field),
            Ok((parsed, from_start)) => match Scenario::check(parsed.wire.clone()) {
                Ok(_) => self.take_edit(field, parsed, from_start),
                Err(error) => self.set_wrong(field, typed, Some(error)),
            },
            Err(error) => self.set_wrong(field, typed, Some(error)),
        }
    }

    /// Takes the whole scenario as another, if it follows the rules; else says at its field what is wrong.
    pub(super) fn adopt(&mut self, field: String, typed: String, parsed: Parsed) {
        if parsed == self.parsed {
            self.wrong.retain(|w| w.field != field);
            return;
        }
        match Scenario::check(parsed.wire.clone()) {
            Ok(_) => self.take_edit(field, parsed, self.now_s() > 0.0),
            Err(error) => self.set_wrong(field, typed, Some(error)),
        }
    }

    fn take_edit(&mut self, field: String, parsed: Parsed, from_start: bool) {
        self.wrong.retain(|w| w.field != field);
        let (last, at) = &self.last_edit;
        if *last != field || self.now_ms - at > UNDO_MS {
            self.remember_edit();
            // The dotted lines show the run before this edit, not before every step of a slider.
            self.ghost = self.run.as_ref().map(|f| f.history.clone());
        }
        self.last_edit = (field, self.now_ms);
        self.parsed = parsed;
        if from_start && !self.is_comparing() {
            self.toast = Some((self.words().whole_run_edit.to_owned(), self.now_ms + 4000.0));
        }
        self.rerun();
    }

    /// Keeps the scenario as it is, to be taken back to.
    pub(super) fn remember_edit(&mut self) {
        if self.undo.len() == UNDO_MOST {
            self.undo.remove(0);
        }
        self.undo.push(self.parsed.clone());
        self.redo.clear();
    }

    /// Takes the last edit back, or makes it again.
    pub(super) fn undo(&mut self, again: bool) {
        let (from, to) =
            if again { (&mut self.redo, &mut self.undo) } else { (&mut self.undo, &mut self.redo) };
        if let Some(parsed) = from.pop() {
            to.push(core::mem::replace(&mut self.parsed, parsed));
            self.wrong.clear();
            self.last_edit.0.clear();
            self.rerun();
        }
    }

    /// Has the run begin with the values it ends with, and no edits.
    pub(super) fn fold_edits(&mut self) {
        if let Ok(wire) = edits::fold(&self.parsed.wire) {
            self.remember_edit();
            self.ghost = self.run.as_ref().map(|f| f.history.clone());
            self.parsed.wire = wire;
            self.rerun();
        }
    }
}

/// The scenario with a change of the whole run. Edits stay as far as they lie within it.
fn edited_whole(parsed: &Parsed, change: Change) -> Parsed {
    let mut parsed = parsed.clone();
    change(&mut parsed.wire);
    let end = parsed.wire.run.horizon_us;
    parsed.wire.edits.retain(|edit| edit.at_us <= end);
    parsed
}

/// The scenario with a change from its start on, without what was changed later.
fn edited_at_start(parsed: &Parsed, change: Change) -> Parsed {
    let mut new = parsed.clone();
    let edits = core::mem::take(&mut new.wire.edits);
    let before = new.wire.clone();
    change(&mut new.wire);
    if new.wire == before {
        new.wire.edits = edits;
    }
    new
}

/// The scenario with a change of what is `in_force` at a moment, without what was changed later; and whether it is
/// changed from its start after all.
fn edited_at(
    parsed: &Parsed,
    in_force: &ScenarioV1,
    at_us: u64,
    change: Change,
) -> Result<(Parsed, bool), ScenarioError> {
    let mut parsed = parsed.clone();
    let mut after = ScenarioV1 { edits: Vec::new(), ..in_force.clone() };
    let now = after.clone();
    change(&mut after);
    if after == now {
        return Ok((parsed, false));
    }
    if let Some(error) = Scenario::check_all(&after).into_iter().next() {
        return Err(error);
    }
    // An edit of the same moment is one with it.
    let before = edits::in_force(&parsed.wire, at_us - 1);
    match edits::difference(&before, &after) {
        Ok(set) => {
            parsed.wire.edits.retain(|edit| edit.at_us < at_us);
            if !set.0.is_empty() {
                parsed.wire.edits.push(EditV1 { at_us, set });
            }
            Ok((parsed, false))
        }
        // Of another shape: the run begins with what is in force.
        Err(_) => {
            parsed.wire = after;
            Ok((parsed, true))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::scenario::{parse_json, presets};

    /// Changes the workers of the last stage at a moment; what follows.
    fn workers(parsed: &Parsed, at_us: u64, to: u32) -> Parsed {
        let in_force = edits::in_force(&parsed.wire, at_us);
        let change: Change = Box::new(move |s| s.stages.last_mut().expect("a stage").workers = to);
        let (parsed, from_start) = edited_at(parsed, &in_force, at_us, change).expect("fits");
        assert!(!from_start, "a number may change while it runs");
        Scenario::check(parsed.wire.clone()).expect("can be run");
        parsed
    }

    fn times(parsed: &Parsed) -> Vec<u64> {
        parsed.wire.edits.iter().map(|edit| edit.at_us).collect()
    }

    fn base() -> Parsed {
        parse_json(presets::get("mm1").expect("a preset").json()).expect("reads")
    }

    #[test]
    fn edits_of_one_moment_are_one_and_later_ones_are_dropped() {
        let base = base();
        let one = workers(&base, 5_000_000, 3);
        let two = workers(&one, 9_000_000, 4);
        assert_eq!(times(&two), [5_000_000, 9_000_000]);
        let again = workers(&two, 9_000_000, 6);
        assert_eq!(times(&again), [5_000_000, 9_000_000], "the same moment");
        assert_eq!(edits::in_force(&again.wire, 9_000_000).stages[0].workers, 6);
        let back = workers(&again, 9_000_000, 3);
        assert_eq!(times(&back), [5_000_000], "as it was before it: nothing is left to say");
        let fork = workers(&again, 7_000_000, 8);
        assert_eq!(times(&fork), [5_000_000, 7_000_000], "history forks");
        assert_eq!(edited_at_start(&fork, Box::new(|s| s.stages[0].workers = 2)).wire.edits, []);
        assert_eq!(times(&edited_at_start(&fork, Box::new(|_| ()))), times(&fork), "nothing was changed");
    }

    #[test]
    fn another_shape_begins_with_what_is_in_force() {
        let one = workers(&base(), 5_000_000, 3);
        let in_force = edits::in_force(&one.wire, 8_000_000);
        let (new, from_start) =
            edited_at(&one, &in_force, 8_000_000, Box::new(crate::edit::add_class)).expect("fits");
        assert!(from_start && new.wire.edits.is_empty());
        assert_eq!((new.wire.classes.len(), new.wire.stages[0].workers), (2, 3));
    }

    #[test]
    fn what_breaks_a_rule_is_told_of_by_its_own_path() {
        let base = base();
        let error = edited_at(&base, &base.wire, 1, Box::new(|s| s.stages[0].workers = 0)).expect_err("none");
        assert_eq!(error.path, "stages[0].workers");
    }

    #[test]
    fn a_shorter_run_keeps_the_edits_within_it() {
        let two = workers(&workers(&base(), 5_000_000, 3), 9_000_000, 4);
        let shorter = edited_whole(&two, Box::new(|s| s.run.horizon_us = 6_000_000));
        assert_eq!(times(&shorter), [5_000_000]);
    }
}
