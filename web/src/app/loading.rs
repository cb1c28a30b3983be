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
        match load_presets() {
            Ok(promise) => self.wait(ctx, promise, Use::Presets(Box::new(then))),
            Err(_) => self.shelve(ctx, "", then),
        }
        false
    }

    /// Takes the file that was loaded and goes on, or says that there is none.
    pub(super) fn shelve(&mut self, ctx: &Context<Self>, file: &str, then: Do) {
        if library::learn(file) {
            return self.obey(ctx, then);
        }
        self.say(self.words().no_presets.to_owned(), 8000.0);
        if let Do::Hand(handover::Do::Asked(message, origin)) = &then {
            handover::refuse(message, origin, "preset: the built-in scenarios could not be loaded");
        }
    }
}
