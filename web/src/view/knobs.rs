//! Renders the tables of [`knobs`]: policies with their numbers.

use super::Link;
use super::editor::{Group, Number, Pick, Range, act, choices, grouped, number, pick, removes, text, wrong};
use super::markup::html;
use crate::app::App;
use crate::knobs::{self, Choice, Kind, Knob, Unit, at};
use crate::words::{Word, fill};
use serde_json::Value;
use std::rc::Rc;
use yew::prelude::*;

/// More knobs than this are behind a line that opens.
const AT_ONCE: usize = 4;

/// What every knob of a section needs.
#[derive(Clone, Copy)]
pub(super) struct Board<'a> {
    pub(super) app: &'a App,
    pub(super) link: &'a Link,
    /// The scenario as JSON.
    pub(super) root: &'a Value,
}

impl Board<'_> {
    /// The knobs of the object at `base`.
    pub(super) fn knobs(self, base: &str, list: &'static [Knob]) -> Html {
        let (first, rest) = list.split_at(list.len().min(AT_ONCE + usize::from(list.len() == AT_ONCE + 1)));
        let more = fill(self.app.words().more_numbers, &[&rest.len().to_string()]);
        html! {
            <>
                { for first.iter().map(|k| self.knob(base, k)) }
                if !rest.is_empty() {
                    <details>
                        <summary class="help">{more}</summary>
                        { for rest.iter().map(|k| self.knob(base, k)) }
                    </details>
                }
            </>
        }
    }

    /// One knob of the object at `base`, with its sentence.
    pub(super) fn knob(self, base: &str, knob: &'static Knob) -> Html {
        let path = format!("{base}.{}", knob.key);
        let path = path.trim_start_matches('.').to_owned();
        let field = match knob.kind {
            Kind::Number(unit, _, ends) => self.number(base, &path, knob, unit, ends, false),
            Kind::Whole(unit, _, ends) => self.number(base, &path, knob, unit, ends, unit.scale() == 1.0),
            Kind::Flag(usual) => {
                let now = at(self.root, &path).and_then(Value::as_bool).unwrap_or(usual);
                let to = path.clone();
                self.pick(
                    path,
                    knob.label,
                    usize::from(now),
                    &[Word::no, Word::yes],
                    Rc::new(move |s, i| {
                        knobs::put(s, &to, Some((i == 1).into()));
                    }),
                )
            }
            Kind::Words(words, usual) => {
                let now = at(self.root, &path).and_then(Value::as_str);
                let now =
                    now.and_then(|now| words.iter().position(|(word, _)| *word == now)).unwrap_or(usual);
                let names: Vec<Word> = words.iter().map(|(_, name)| *name).collect();
                let to = path.clone();
                self.pick(
                    path,
                    knob.label,
                    now,
                    &names,
                    Rc::new(move |s, i| {
                        knobs::put(s, &to, words.get(i).map(|(word, _)| (*word).into()));
                    }),
                )
            }
            Kind::Choice(choice, usual) => return self.choice(&path, knob, choice, usual),
            Kind::Set(words) => self.set(&path, knob, words),
            Kind::List(unit, usual) => self.list(&path, knob, unit, usual),
            Kind::Table(columns) => self.table(&path, knob, columns),
            Kind::Text(class, _) => {
                let now = at(self.root, &path).and_then(Value::as_str).unwrap_or_default();
                let to = path.clone();
                let set = Rc::new(move |s: &mut _, text: &str| {
                    knobs::put(s, &to, (!text.is_empty()).then(|| text.into()));
                });
                text(self.app, self.link, path, knob.label.of(self.app.words()), now, class, set)
            }
        };
        html! { <>{ field }{ self.help(&format!("{base}.{}", knob.key), knob) }{ self.adapting(base, knob) }</> }
    }

    /// The sentence about a knob, with the ends of its slider: shown while somebody is at it.
    fn help(self, path: &str, knob: &Knob) -> Html {
        let Some(help) = knob.help else { return Html::default() };
        let w = self.app.words();
        let mut text = help.of(w).to_owned();
        if let Kind::Number(unit, _, (low, high)) | Kind::Whole(unit, _, (low, high)) = knob.kind {
            let high = format!("{} {}", crate::figures::typed(high), unit.word(w));
            text.push(' ');
            text.push_str(&fill(w.slider, &[&crate::figures::typed(low), high.trim_end()]));
        }
        html! { <p class="help" id={format!("{}-h", path.trim_start_matches('.'))}>{text}</p> }
    }

    /// What the height of a curve is by now, if it follows the load: of the least urgent class.
    fn adapting(self, base: &str, knob: &Knob) -> Html {
        let stage = base.strip_prefix("stages[").and_then(|rest| rest.split_once(']'));
        let (Some((k, ".queue")), "max_p", Some(feed)) = (stage, knob.key, self.app.feed()) else {
            return Html::default();
        };
        let stage = k.parse::<usize>().ok().and_then(|k| feed.model.stages.get(k));
        let class = feed.cast.order.last().copied().unwrap_or(0);
        let height = stage.filter(|s| s.max_p_stop.is_some()).and_then(|s| s.classes.get(class));
        let now =
            height.map(|c| fill(self.app.words().adapting_now, &[&crate::figures::chance(c.gauge.max_p)]));
        now.map_or_else(Html::default, |now| html! { <p class="help">{now}</p> })
    }

    fn number(
        self,
        base: &str,
        path: &str,
        knob: &'static Knob,
        unit: Unit,
        (low, high): (f64, f64),
        whole: bool,
    ) -> Html {
        let w = self.app.words();
        let to = path.to_owned();
        let n = Number {
            id: path.to_owned(),
            label: knob.label.of(w),
            unit: unit.word(w),
            value: knobs::shown(at(self.root, base), knob.key, knob),
            whole,
            range: if low > 0.0 { Range::Log(low, high) } else { Range::Linear(low, high) },
            set: Rc::new(move |s, x| knobs::turn(s, &to, knob, x)),
        };
        number(self.app, self.link, n)
    }

    fn pick(self, path: String, label: Word, now: usize, names: &[Word], set: Pick) -> Html {
        let w = self.app.words();
        let names: Vec<String> = names.iter().map(|name| name.of(w).to_owned()).collect();
        pick(self.app, self.link, path, label.of(w), now, &names, set)
    }

    /// A choice as a list, or behind a line as plots where there are some, with the numbers of the policy that is chosen.
    fn choice(self, path: &str, knob: &'static Knob, choice: &'static Choice, usual: usize) -> Html {
        let now = choice.chosen(at(self.root, path), usual);
        if choice.arms.iter().all(|arm| !arm.icon.is_empty()) {
            let w = self.app.words();
            let name = choice.arms.get(now).map_or("", |arm| arm.name.of(w));
            return html! {
                <details>
                    <summary class="help">{ knob.label.of(w) }{": "}<b>{name}</b></summary>
                    <p class="help">{ knob.help.map_or("", |help| help.of(w)) }</p>
                    { self.plotted(path, knob.label, choice, usual) }
                </details>
            };
        }
        let names: Vec<Word> = choice.arms.iter().map(|arm| arm.name).collect();
        let list = self.pick(path.to_owned(), knob.label, now, &names, Self::chooses(path, choice));
        html! { <>{ list }{ self.help(path, knob) }{ self.chosen(path, choice, now) }</> }
    }

    /// A choice with a plot for each policy.
    pub(super) fn plotted(self, path: &str, label: Word, choice: &'static Choice, usual: usize) -> Html {
        let w = self.app.words();
        let now = choice.chosen(at(self.root, path), usual);
        let options: Vec<_> = choice.arms.iter().map(|arm| (arm.icon, arm.name.of(w))).collect();
        let all = choices(self.app, self.link, path, label.of(w), now, &options, Self::chooses(path, choice));
        html! { <>{ all }{ self.chosen(path, choice, now) }</> }
    }

    /// The same with headings in front of some.
    pub(super) fn grouped(
        self,
        path: &str,
        label: Word,
        choice: &'static Choice,
        heads: &[(usize, Word)],
    ) -> Html {
        let w = self.app.words();
        let now = choice.chosen(at(self.root, path), 0);
        let group = |(i, &(from, head)): (usize, &(usize, Word))| {
            let to = heads.get(i + 1).map_or(choice.arms.len(), |(to, _)| *to);
            (head.of(w), choice.arms[from..to].iter().map(|arm| (arm.icon, arm.name.of(w))).collect())
        };
        let groups: Vec<Group> = heads.iter().enumerate().map(group).collect();
        let chooses = Self::chooses(path, choice);
        let all = grouped(self.app, self.link, path, label.of(w), now, &groups, chooses);
        html! { <>{ all }{ self.chosen(path, choice, now) }</> }
    }

    fn chooses(path: &str, choice: &'static Choice) -> Pick {
        let to = path.to_owned();
        Rc::new(move |s, i| knobs::choose(s, &to, choice, i))
    }

    fn chosen(self, path: &str, choice: &'static Choice, now: usize) -> Html {
        let Some(arm) = choice.arms.get(now) else { return Html::default() };
        // The explanation of a lane begins with the same sentence.
        let said = path.ends_with(".queue")
            && self.app.why.is_some_and(|(k, _)| path.starts_with(&format!("stages[{k}]")));
        html! {
            <div class="policy" key={arm.word}>
                if let Some(about) = arm.about.filter(|_| !said) { <p class="help">{ about.of(self.app.words()) }</p> }
                { self.knobs(path, arm.knobs) }
            </div>
        }
    }

    /// Any of some words: a box each.
    fn set(self, path: &str, knob: &'static Knob, words: &'static [(&'static str, Word)]) -> Html {
        let w = self.app.words();
        let list: Vec<&str> = (at(self.root, path).and_then(Value::as_array).into_iter().flatten())
            .filter_map(Value::as_str)
            .collect();
        let boxes = words.iter().map(|&(word, name)| {
            let chosen = list.contains(&word);
            let others =
                words.iter().map(|(other, _)| *other).filter(|other| list.contains(other) && *other != word);
            let after: Vec<&str> = others.chain((!chosen).then_some(word)).collect();
            let (to, after) = (path.to_owned(), Value::from(after));
            let turns = act(self.link, path, Rc::new(move |s| knobs::put(s, &to, Some(after.clone()))));
            html! {
                <label class="check">
                    <input type="checkbox" checked={chosen} onclick={turns} />{ name.of(w) }
                </label>
            }
        });
        html! {
            <div class="field">
                <div class="l"><span>{ knob.label.of(w) }</span></div>
                <div class="boxes" role="group" aria-label={knob.label.of(w)}>{ for boxes }</div>
                { wrong(self.app, path) }
            </div>
        }
    }

    fn list(self, path: &str, knob: &'static Knob, unit: Unit, usual: Option<f64>) -> Html {
        let w = self.app.words();
        let written = at(self.root, path).and_then(Value::as_array);
        let values: Vec<f64> = match written {
            Some(list) => list.iter().filter_map(Value::as_f64).collect(),
            None => usual.into_iter().collect(),
        };
        let values = Rc::new(values);
        let least = usize::from(usual.is_some());
        let rows = (0..values.len()).map(|i| {
            let (to, all) = (path.to_owned(), Rc::clone(&values));
            let n = Number {
                id: format!("{path}[{i}]"),
                label: knob.label.of(w),
                unit: unit.word(w),
                value: values[i] / unit.scale(),
                whole: false,
                range: Range::None,
                set: Rc::new(move |s, x| {
                    let mut all = all.to_vec();
                    all[i] = x * unit.scale();
                    put_list(s, &to, &all);
                }),
            };
            number(self.app, self.link, n)
        });
        let resized = |all: Vec<f64>| {
            let to = path.to_owned();
            act(self.link, path, Rc::new(move |s| put_list(s, &to, &all)))
        };
        let shorter = (values.len() > least).then(|| resized(values[..values.len() - 1].to_vec()));
        let mut longer = values.to_vec();
        longer.push(values.last().map_or(1e6, |last| last * 2.0));
        html! {
            <>
                { for rows }
                <p class="row">
                    <button class="button" onclick={resized(longer)}>{ format!("+ {}", knob.label.of(w)) }</button>
                    if let Some(shorter) = shorter {
                        <button class="button" aria-label={fill(w.remove, &[knob.label.of(w)])} onclick={shorter}>{"−"}</button>
                    }
                </p>
            </>
        }
    }

    fn table(self, path: &str, knob: &'static Knob, columns: &'static [Knob]) -> Html {
        let w = self.app.words();
        let rows = at(self.root, path).and_then(Value::as_array).cloned().unwrap_or_default();
        // A policy needs at least one; a class may be without rules.
        let many = rows.len() > usize::from(knob.key != "rules");
        let parts = (0..rows.len()).map(|i| {
            // Levels are counted from 0, as everywhere; all else from 1.
            let name = fill(knob.label.of(w), &[&(i + usize::from(knob.key != "curves")).to_string()]);
            let (to, mut rest) = (path.to_owned(), rows.clone());
            rest.remove(i);
            let rest = Value::Array(rest);
            let remove = Rc::new(move |s: &mut _| knobs::put(s, &to, Some(rest.clone())));
            html! {
                <div class="part" key={i}>
                    <h3>{ name.clone() }
                        if many { { removes(self.link, fill(w.remove, &[&name]), path, remove) } }
                    </h3>
                    { for columns.iter().map(|k| self.knob(&format!("{path}[{i}]"), k)) }
                </div>
            }
        });
        let parts: Vec<Html> = parts.collect();
        let (to, mut all) = (path.to_owned(), rows);
        all.push(all.last().cloned().unwrap_or_else(|| knobs::row(columns)));
        let all = Value::Array(all);
        let add = Rc::new(move |s: &mut _| knobs::put(s, &to, Some(all.clone())));
        let next = fill(knob.label.of(w), &[&(parts.len() + usize::from(knob.key != "curves")).to_string()]);
        html! {
            <>
                { for parts }
                { wrong(self.app, path) }
                <p class="row"><button class="button" onclick={act(self.link, path, add)}>{ format!("+ {next}") }</button></p>
            </>
        }
    }
}

fn put_list(s: &mut tidegate_core::scenario::v1::ScenarioV1, path: &str, all: &[f64]) {
    knobs::put(s, path, Some(Value::Array(all.iter().map(|x| knobs::number(*x, true)).collect())));
}
