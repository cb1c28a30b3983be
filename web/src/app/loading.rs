//! Built-in scenarios that are still to be loaded: what needs one waits for the file.

use super::handover::{self, Use};
use super::{App, Do};
use crate::library;
use wasm_bindgen::prelude::*;
use yew::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// The file with the built-in scenarios, or an empty text if it cannot be had.
    #[wasm_bindgen(js_namespace = tidegate, js_name = presets, catch)]
    fn load_presets() -> Result<js_sys::Promise, JsValue>;
}

impl App {
    /// Whether a preset need not be loaded first. If it must be, `then` is done as soon as it is there.
    pub(super) fn have_preset(&mut self, ctx: &Context<Self>, name: &str, then: Do) -> bool {
        if !library::is_missing(name) {
            return true;
        }
        self.load_file(ctx, Some(then));
        false
    }

    /// Loads what the gallery shows, if it is not there.
    pub(super) fn want_cards(&mut self, ctx: &Context<Self>) {
        if !library::is_here() {
            self.load_file(ctx, None);
        }
    }

    fn load_file(&mut self, ctx: &Context<Self>, then: Option<Do>) {
        match load_presets() {
            Ok(promise) => self.wait(ctx, promise, Use::Presets(then.map(Box::new))),
            Err(_) => self.shelve(ctx, "", then),
        }
    }

    /// Takes the file that was loaded and goes on, or says that there is none.
    pub(super) fn shelve(&mut self, ctx: &Context<Self>, file: &str, then: Option<Do>) {
        if library::learn(file) {
            if let Some(then) = then {
                self.obey(ctx, then);
            }
            return;
        }
        self.say(self.words().no_presets.to_owned(), 8000.0);
        if let Some(Do::Hand(handover::Do::Asked(message, origin))) = &then {
            handover::refuse(message, origin, "preset: the built-in scenarios could not be loaded");
        }
    }
}
