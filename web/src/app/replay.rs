//! Your traffic: a log that is read in the browser and played under one policy or two.
//!
//! The module for programs reads it, in a worker of its own (see `www/handover.js`), and gives back what is in it and its
//! rows. Every worker that plays it gets a copy of the rows; nobody else looks into them.

use super::handover::load_tools;
use super::{App, Msg, Notice, text_of};
use crate::log::LogRead;
use js_sys::{ArrayBuffer, Reflect};
use tidegate_core::import::flat::FlatError;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::File;
use yew::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// What the module gives of a log.
    type Read;

    /// What is in it, as JSON.
    #[wasm_bindgen(method, getter)]
    fn about(this: &Read) -> String;

    #[wasm_bindgen(method, getter)]
    fn rows(this: &Read) -> ArrayBuffer;
}

/// The log and what is made of it.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The file that is being read.
    pub(super) file: Option<File>,
    /// The file that was read last, and its rows.
    read: Option<(File, ArrayBuffer)>,
    /// The rows that are played.
    pub(super) rows: Option<ArrayBuffer>,
}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum Do {
    /// What the module gives of a file, or why it gives nothing.
    Read(File, Result<JsValue, JsValue>),
}

impl App {
    pub(super) fn replay(&mut self, command: Do) {
        let Do::Read(file, read) = command;
        // Another file was chosen since.
        if self.replay.file.as_ref() == Some(&file) {
            self.replay.file = None;
            self.notice = Some(self.take_log(file, read));
        }
    }

    /// Has the module read the chosen file.
    pub(super) fn read_log(&self, ctx: &Context<Self>) {
        let Some(file) = self.replay.file.clone() else { return };
        ctx.link().send_future(async move {
            let read = async {
                let tools = JsFuture::from(load_tools()?).await?;
                let tools: super::handover::Tools = tools.unchecked_into();
                JsFuture::from(tools.make("log", "", Some(&file))).await
            };
            let read = read.await;
            Msg::Do(super::Do::Replay(Do::Read(file, read)))
        });
    }

    fn take_log(&mut self, file: File, read: Result<JsValue, JsValue>) -> Notice {
        let name = file.name();
        let read: Read = match read {
            Ok(read) => read.unchecked_into(),
            Err(error) => {
                // Where the file is no log, its first line is what was found.
                let found = Reflect::get(&error, &"value".into()).ok().and_then(|line| line.as_string());
                return Notice::LogBad(name, text_of(&error), found.unwrap_or_default());
            }
        };
        let Some(log) = LogRead::new(name.clone(), &read.about()) else {
            return Notice::LogBad(name, FlatError.to_string(), String::new());
        };
        self.replay.read = Some((file, read.rows()));
        self.log = Some(log.clone());
        Notice::Log(Box::new(log))
    }

    /// The log that was read last is the one that is played.
    pub(super) fn adopt_log(&mut self) {
        if let Some((file, rows)) = self.replay.read.take() {
            (self.handover.log, self.replay.rows) = (Some(file), Some(rows));
        }
        self.with_log = true;
        self.send_rows();
    }

    /// Gives the worker the rows that it is to play; one that does not listen yet is given them when it does.
    pub(super) fn send_rows(&self) {
        if let (Some(worker), Some(rows), true, true) =
            (&self.worker, &self.replay.rows, self.worker_ready, self.with_log)
        {
            let _ = worker.post_message(rows);
        }
    }
}
