//! The scenario as text: JSON that is read while it is typed, and TOML to take away.

use super::markup::html;
use super::{Link, on};
use crate::app::text::{Do, Problem};
use crate::app::{self, App, Msg};
use crate::words::fill;
use yew::prelude::*;

fn does(link: &Link, command: Do) -> Callback<MouseEvent> {
    on(link, app::Do::Text(command))
}

/// The button between fields and text.
pub(super) fn toggle(app: &App, link: &Link) -> Html {
    let t = app.prefs.language.text();
    let open = app.text.open;
    html! {
        <button class="button" id="as-text" aria-pressed={open.to_string()} onclick={does(link, Do::Open(!open))}>
            { if open { t.as_fields } else { t.as_text } }
        </button>
    }
}

/// The text, in place of the editor's sections.
pub(super) fn pane(app: &App, link: &Link) -> Html {
    let (w, t) = (app.words(), app.prefs.language.text());
    let toml = app.text.toml;
    let text = match &app.text.typed {
        Some(typed) if !toml => typed.clone(),
        _ if toml => {
            let value = tidegate_core::scenario::parse::json_value(&app.parsed.to_canonical_json());
            value.map(|value| crate::toml::write(&value)).unwrap_or_default()
        }
        _ => app.parsed.to_pretty_json(),
    };
    let tab = |which: bool, name: &'static str| {
        let selected = toml == which;
        // Left and Right lead to the other of the two.
        let key = link.batch_callback(move |e: KeyboardEvent| {
            matches!(e.key().as_str(), "ArrowLeft" | "ArrowRight")
                .then_some(Msg::Do(app::Do::Text(Do::Toml(!which))))
        });
        html! {
            <button role="tab" aria-selected={selected.to_string()} tabindex={if selected { "0" } else { "-1" }}
                aria-controls="text-paper" onclick={does(link, Do::Toml(which))} onkeydown={key}>{name}</button>
        }
    };
    html! {
        <div class="sections text">
            <div class="row">
                <div class="modes" role="tablist" aria-label={t.as_text}>{ tab(false, t.json) }{ tab(true, t.toml) }</div>
                <button class="button" onclick={on(link, app::Do::Copy(text.clone()))}>{w.copy}</button>
            </div>
            <div id="text-paper" role="tabpanel">
                if toml { <p class="help">{t.toml_about}</p><pre tabindex="0">{text}</pre> } else { { json(app, link, text) } }
            </div>
        </div>
    }
}

fn json(app: &App, link: &Link, text: String) -> Html {
    let t = app.prefs.language.text();
    let typing = link.callback(|e: InputEvent| {
        let area: web_sys::HtmlTextAreaElement = e.target_unchecked_into();
        Msg::Do(app::Do::Text(Do::Typed(area.value())))
    });
    let problems = &app.text.problems;
    // As high as its lines, so that the marks beside them stay where they are.
    let lines = text.lines().count() + 1;
    let marks = problems.iter().map(|p| html! { <i style={format!("--line:{}", p.line)}></i> });
    html! {
        <>
            <p class="help">{t.json_about}</p>
            <div class="paper">
                { for marks }
                <textarea id="scenario-text" wrap="off" rows={lines.to_string()} spellcheck="false" autocomplete="off"
                    aria-label={t.as_text} aria-invalid={(!problems.is_empty()).then_some("true")}
                    aria-describedby="text-problems" value={text} oninput={typing} />
            </div>
            <ol class="problems" id="text-problems" aria-live="polite">
                { for problems.iter().enumerate().map(|(i, p)| problem(app, link, i, p)) }
                // A field that nobody knows is kept and does no harm.
                if problems.iter().any(|p| p.error.rule != "no such field") {
                    <li class="row">
                        <span class="low">{ app.words().still_running }</span>
                        <button class="button" onclick={does(link, Do::Revert)}>{t.revert}</button>
                    </li>
                }
            </ol>
        </>
    }
}

fn problem(app: &App, link: &Link, i: usize, problem: &Problem) -> Html {
    let t = app.prefs.language.text();
    let error = &problem.error;
    let mut said = if problem.syntax {
        fill(t.no_json, &[&error.found])
    } else {
        fill(t.problem, &[&error.path, &error.rule, &error.found])
    };
    if let Some(meant) = &error.meant {
        said.push(' ');
        said.push_str(&fill(t.meant, &[meant]));
    }
    html! {
        <li class="wrongly">
            <button onclick={does(link, Do::Show(i))}><u>{ fill(t.line, &[&problem.line.to_string()]) }</u></button>
            {" "}{said}
        </li>
    }
}
