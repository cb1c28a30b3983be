//! The keyboard. Single letters can be switched off; Space and the arrows cannot.

use crate::app::{App, Dialog, Do, Mode, Section};

/// Sections in the order of the keys 1 to 9.
#[must_use]
pub fn sections(stages: usize, servers: bool) -> Vec<Section> {
    let mut sections = vec![Section::Traffic, Section::Classifier];
    sections.extend((0..stages).map(Section::Stage));
    if servers {
        sections.extend([Section::Balancer, Section::Servers]);
    }
    sections.extend([Section::Events, Section::Run]);
    sections
}

/// What a key means. `on_button` and `on_slider` say where the focus is: there Space and arrows have a meaning
/// of their own.
#[must_use]
pub fn command(key: &str, shift: bool, app: &App, on_button: bool, on_slider: bool) -> Option<Do> {
    let step_s = if shift { 10.0 } else { 1.0 };
    match key {
        " " => return (!on_button).then_some(Do::PlayPause),
        "ArrowLeft" => return (!on_slider).then_some(Do::Move(-step_s)),
        "ArrowRight" => return (!on_slider).then_some(Do::Move(step_s)),
        "Home" => return (!on_slider).then_some(Do::Seek(0.0)),
        _ => {}
    }
    if !app.prefs.letters {
        return None;
    }
    let lower = key.to_ascii_lowercase();
    Some(match lower.as_str() {
        "." => Do::Step(true),
        "," => Do::Step(false),
        ">" => Do::NextFlag(true),
        "<" => Do::NextFlag(false),
        ";" => Do::StepEvent(!shift),
        ":" => Do::StepEvent(false),
        "'" => Do::StepDecision,
        "[" | "-" => Do::Speed(next_speed(app.speed, false)),
        "]" | "+" | "=" => Do::Speed(next_speed(app.speed, true)),
        "r" => Do::Seek(0.0),
        "n" => Do::Dice,
        "e" => Do::AddEvent,
        "g" | "/" => Do::Dialog(Some(Dialog::Presets)),
        "s" => Do::Dialog(Some(Dialog::Share)),
        "t" => Do::Dialog(Some(Dialog::Serve)),
        "?" => Do::Dialog(Some(Dialog::Keys)),
        "l" => Do::Mode(if app.mode == Mode::Live { Mode::Explore } else { Mode::Live }),
        "f" => Do::Focus,
        "d" => Do::Theme,
        digit => {
            let n = digit.parse::<usize>().ok().filter(|n| (1..=9).contains(n))?;
            let wire = app.wire();
            let sections = sections(wire.stages.len(), !wire.servers.is_empty());
            Do::Open(*sections.get(n - 1)?)
        }
    })
}

/// Keys, what they do, and the command, for those whom a single one serves.
#[must_use]
pub fn list(app: &App) -> Vec<(String, &'static str, Option<Do>)> {
    let (w, t) = (app.words(), app.prefs.language.text());
    let wire = app.wire();
    let last = sections(wire.stages.len(), !wire.servers.is_empty()).len();
    let dialog = |dialog| Some(Do::Dialog(Some(dialog)));
    let row = |key: &str, does, command| (key.to_owned(), does, command);
    vec![
        row(w.key_space, w.key_play, Some(Do::PlayPause)),
        row(". ,", w.key_step, Some(Do::Step(true))),
        row("; :", w.key_step_event, Some(Do::StepEvent(true))),
        row("'", w.key_decision, Some(Do::StepDecision)),
        row("> <", w.key_next_flag, Some(Do::NextFlag(true))),
        row("← →", w.key_arrows, None),
        row("[ ]", w.key_speed, None),
        row("R", w.key_restart, Some(Do::Seek(0.0))),
        row("N", w.key_seed, Some(Do::Dice)),
        row(&format!("1 – {last}"), w.key_open, None),
        row("E", w.key_event, Some(Do::AddEvent)),
        row("G /", w.key_presets, dialog(Dialog::Presets)),
        row("S", w.key_share, dialog(Dialog::Share)),
        row("T", w.key_run, dialog(Dialog::Serve)),
        row("L", w.key_live, Some(Do::Mode(Mode::Live))),
        row("F", w.key_focus, Some(Do::Focus)),
        row("D", w.key_theme, Some(Do::Theme)),
        row("Ctrl Z", w.key_undo, Some(Do::Undo)),
        row("Ctrl K", t.key_palette, dialog(Dialog::Palette)),
        row("", t.key_text, Some(Do::Text(crate::app::text::Do::Open(true)))),
        row("", t.key_table, Some(Do::Find(crate::app::find::Do::Table))),
        row("", t.key_tour, Some(Do::Tour(crate::app::tour::Do::To(0)))),
        row("", t.key_language, Some(Do::Language)),
        row("?", w.key_help, dialog(Dialog::Keys)),
    ]
}

/// The next of the usual speeds.
#[must_use]
pub fn next_speed(speed: f64, faster: bool) -> f64 {
    const STEPS: [f64; 14] =
        [0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0];
    if faster {
        STEPS.into_iter().find(|s| *s > speed * 1.01).unwrap_or(f64::INFINITY)
    } else {
        STEPS.into_iter().rev().find(|s| *s < speed * 0.99).unwrap_or(0.05)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_step_through_the_usual_ones() {
        assert_eq!(next_speed(1.0, true), 2.0);
        assert_eq!(next_speed(1.3, false), 1.0);
        assert_eq!(next_speed(1000.0, true), f64::INFINITY);
        assert_eq!(next_speed(f64::INFINITY, false), 1000.0);
        assert_eq!(next_speed(0.05, false), 0.05);
    }

    #[test]
    fn digits_follow_the_editor() {
        let with = sections(2, true);
        assert_eq!(with[3], Section::Stage(1));
        assert_eq!(with.len(), 8);
        assert_eq!(sections(1, false).len(), 5);
    }
}
