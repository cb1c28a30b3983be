//! Your traffic: a log that is read in the browser and played under one policy or two.

use super::markup::html;
use super::states::{Card, button};
use super::{Link, choose, on};
use crate::app::{App, Do, Mode};
use crate::figures;
use crate::words::fill;
use yew::prelude::*;

/// Which log is played, with what else can be done with it; nothing in other modes.
pub(super) fn view(app: &App, link: &Link) -> Html {
    let Some(log) = app.log.as_ref().filter(|_| app.mode == Mode::Replay && app.with_log) else {
        return Html::default();
    };
    let r = app.prefs.language.replay();
    let rows = figures::count(log.told.rows);
    html! {
        <div class="livebar">
            <b>{ fill(r.plays, &[&log.name, &rows, &figures::wait(log.told.contents.span_s)]) }</b>
            { button(r.both, false, on(link, Do::Mode(Mode::Compare))) }
            { button(r.other, false, choose(app)) }
        </div>
    }
}

/// What stands in the picture's place until there is a log to play.
pub(super) fn before(app: &App) -> Option<Card> {
    let r = app.prefs.language.replay();
    let is_needed = app.mode == Mode::Replay && !app.with_log;
    is_needed
        .then(|| Card::new(r.title, r.about).with(vec![button(app.words().open_file, true, choose(app))]))
}
