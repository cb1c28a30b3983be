//! The guided tour: a note at the edge and a quiet outline around what it is about. The page stays usable meanwhile.

use super::markup::html;
use super::{Link, on};
use crate::app::tour::{Do, STEPS};
use crate::app::{self, App};
use crate::words::fill;
use crate::words::tour::Tour;
use yew::prelude::*;

/// A string of the tour.
type Word = fn(&Tour) -> &'static str;

/// Title and text of each step.
pub(crate) const TEXTS: [(Word, Word); 10] = [
    (|t| t.way_title, |t| t.way),
    (|t| t.overload_title, |t| t.overload),
    (|t| t.away_title, |t| t.away),
    (|t| t.starved_title, |t| t.starved),
    (|t| t.ageing_title, |t| t.ageing),
    (|t| t.ratio_title, |t| t.ratio),
    (|t| t.balancer_title, |t| t.balancer),
    (|t| t.compare_title, |t| t.compare),
    (|t| t.share_title, |t| t.share),
    (|t| t.real_title, |t| t.real),
];

fn does(link: &Link, command: Do) -> Callback<MouseEvent> {
    on(link, app::Do::Tour(command))
}

/// The note of the step that is shown.
pub(super) fn view(app: &App, link: &Link) -> Html {
    let t = app.prefs.language.tour();
    let Some(at) = app.tour.step else { return Html::default() };
    let (Some(step), Some((title, text))) = (STEPS.get(at), TEXTS.get(at)) else { return Html::default() };
    let last = at + 1 == STEPS.len();
    // An outline by rule follows its part wherever the layout puts it.
    let outline =
        format!("{}{{outline:2px solid var(--ink);outline-offset:3px;border-radius:6px}}", step.part);
    html! {
        <aside id="tour" role="region" aria-label={t.tour}>
            <style>{outline}</style>
            <div aria-live="polite">
                <p class="low">{ fill(t.step, &[&(at + 1).to_string(), &STEPS.len().to_string()]) }</p>
                <h2>{ title(t) }</h2>
                <p>{ text(t) }</p>
            </div>
            <div class="row">
                <button class="button" onclick={does(link, Do::Leave)}>{ if last { t.done } else { t.leave } }</button>
                <button class="button" disabled={at == 0} onclick={does(link, Do::By(false))}>{t.back}</button>
                if !last {
                    <button class="button first" id="tour-next" onclick={does(link, Do::By(true))}>{t.next}</button>
                }
            </div>
        </aside>
    }
}

/// The offer, for somebody who is here for the first time.
pub(super) fn offer(app: &App, link: &Link) -> Html {
    let t = app.prefs.language.tour();
    html! {
        <p class="look" id="look">
            <span>{t.offer}</span>{" "}
            <button onclick={does(link, Do::To(0))}><u>{t.take}</u></button>{" · "}
            <button onclick={does(link, Do::Leave)}><u>{t.not_now}</u></button>
        </p>
    }
}
