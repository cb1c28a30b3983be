//! The language of the page. Chinese is loaded when it is asked for; without it the page stays as it is, and says so.

use super::App;
use super::handover::Use;
use crate::words::{self, Language};
use wasm_bindgen::prelude::*;
use yew::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// The file with the Chinese texts, or an empty text if it cannot be had.
    #[wasm_bindgen(js_namespace = tidegate, js_name = chinese, catch)]
    fn load_chinese() -> Result<js_sys::Promise, JsValue>;
}

impl App {
    /// Turns to a language, at once if its words are here, else once they are.
    pub(super) fn speak(&mut self, ctx: &Context<Self>, language: Language) {
        self.wanted = language;
        if language.is_known() {
            self.prefs.language = language;
            self.dress();
        } else {
            match load_chinese() {
                Ok(promise) => self.wait(ctx, promise, Use::Words),
                Err(_) => self.learn(""),
            }
        }
    }

    /// Takes the words that were loaded, unless they could not be, or are another version's.
    pub(super) fn learn(&mut self, file: &str) {
        if !words::learn(file) {
            self.say(self.words().no_words.to_owned(), 8000.0);
        } else if self.wanted != self.prefs.language {
            self.prefs.language = self.wanted;
            self.toast = None;
            self.dress();
        }
    }
}
