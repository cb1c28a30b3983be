//! Edits fork the run at the playhead: what an edit makes of the scenario, and how it is taken back.
//!
//! An edit at a moment above 0 becomes one of the scenario's `edits`: until then the run is the old one. One that changes
//! the shape of the system, the seed or the length is an edit of the whole run.

use super::{App, Change, Edit, UNDO_MOST, UNDO_MS};
use crate::edit as change;
use tidegate_core::scenario::edits;
use tidegate_core::scenario::v1::{EditV1, ScenarioV1};
use tidegate_core::scenario::{Parsed, Scenario};
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
        if self.over() { 0 } else { libm::ceil(self.now_s() * 1e6 - 1e-3).max(0.0) as u64 }
    }

    pub(super) fn edit(&mut self, edit: Edit) {
        let Edit { field, typed, change } = edit;
        let Some(change) = change else {
            self.set_wrong(field, typed, None);
            return;
        };
        let whole = WHOLE.iter().any(|begin| field.starts_with(begin));
        let edited = if whole { self.edit_whole(change) } else { self.edit_here(change) };
        match edited {
            Ok((parsed, _)) if parsed == self.parsed => self.wrong.retain(|w| w.field != field),
            Ok((parsed, from_start)) => match Scenario::check(parsed.wire.clone()) {
                Ok(_) => self.take_edit(field, parsed, from_start),
                Err(error) => self.set_wrong(field, typed, Some(error)),
            },
            Err(error) => self.set_wrong(field, typed, Some(error)),
        }
    }

    /// The scenario with a change of its beginning. Edits stay as far as they lie within the run.
    fn edit_whole(&self, change: Change) -> Result<(Parsed, bool), tidegate_core::scenario::ScenarioError> {
        let mut parsed = self.parsed.clone();
        change(&mut parsed.wire);
        let end = parsed.wire.run.horizon_us;
        parsed.wire.edits.retain(|edit| edit.at_us <= end);
        Ok((parsed, self.edit_us() > 0))
    }

    /// The scenario with a change from the playhead on, without what was changed later; and whether it is changed from its
    /// start after all.
    fn edit_here(&self, change: Change) -> Result<(Parsed, bool), tidegate_core::scenario::ScenarioError> {
        let at_us = self.edit_us();
        let mut parsed = self.parsed.clone();
        if at_us == 0 {
            change(&mut parsed.wire);
            let edits = core::mem::take(&mut parsed.wire.edits);
            if parsed.wire == (ScenarioV1 { edits: Vec::new(), ..self.parsed.wire.clone() }) {
                parsed.wire.edits = edits;
            }
            return Ok((parsed, false));
        }
        let mut after = ScenarioV1 { edits: Vec::new(), ..self.wire().clone() };
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
        if from_start {
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
        let (from, to) = if again { (&mut self.redo, &mut self.undo) } else { (&mut self.undo, &mut self.redo) };
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
