//! The simulation worker: the [`Engine`] between the browser's messages.
//!
//! It never works longer than a slice at a stretch, so that an order (a pause, another scenario) is heard at
//! once, whatever the speed.

use crate::engine::{Engine, Output};
use crate::protocol::{Answer, Note};
use js_sys::{ArrayBuffer, Float64Array, Uint8Array};
use serde::Serialize;
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageChannel, MessageEvent, MessagePort, Performance};

/// Longest stretch of work between two looks at the messages, in milliseconds.
const SLICE_MS: f64 = 10.0;

/// A value for `postMessage`; numbers beyond 2^53 travel as big integers.
///
/// # Errors
/// If the value cannot be represented, which our messages can.
pub(crate) fn to_js(note: &Note) -> Result<JsValue, serde_wasm_bindgen::Error> {
    note.serialize(&serde_wasm_bindgen::Serializer::new().serialize_large_number_types_as_bigints(true))
}

/// The note in a message, if it is one of ours.
pub(crate) fn heard(data: &JsValue) -> Option<Note> {
    serde_wasm_bindgen::from_value(data.clone()).ok()
}

struct Worker {
    scope: DedicatedWorkerGlobalScope,
    clock: Performance,
    engine: RefCell<Engine>,
    again: MessagePort,
}

impl Worker {
    fn hear(&self, data: &JsValue) {
        let mut out = Vec::new();
        if let Some(buffer) = data.dyn_ref::<ArrayBuffer>() {
            self.engine.borrow_mut().take_rows(&Uint8Array::new(buffer).to_vec());
        } else if let Ok(order) = heard(data).and_then(Note::order).ok_or(()) {
            self.engine.borrow_mut().take(order, &mut out);
        }
        self.send(out);
        self.work();
    }

    /// One slice; asks for another if work is left.
    fn work(&self) {
        let start = self.clock.now();
        let mut out = Vec::new();
        let more = {
            let mut engine = self.engine.borrow_mut();
            let more = engine.work(|| self.clock.now() - start < SLICE_MS, &mut out);
            engine.spent(self.clock.now() - start);
            more
        };
        self.send(out);
        if more {
            // A message to ourselves comes after those that already wait.
            let _ = self.again.post_message(&JsValue::NULL);
        }
    }

    fn send(&self, out: Vec<Output>) {
        for output in out {
            match output {
                Output::Answer(answer) => self.answer(answer),
                Output::Numbers(list) => {
                    let array = Float64Array::from(list.as_slice());
                    let transfer = js_sys::Array::of1(&array.buffer());
                    let _ = self.scope.post_message_with_transfer(&array, &transfer);
                }
            }
        }
    }

    fn answer(&self, answer: Answer) {
        if let Ok(value) = to_js(&answer.into()) {
            let _ = self.scope.post_message(&value);
        }
    }
}

/// Starts the worker. Called once, by `worker.js`, inside a worker.
#[wasm_bindgen]
pub fn run_worker() -> Result<(), JsValue> {
    let scope: DedicatedWorkerGlobalScope = js_sys::global().dyn_into()?;
    let clock = scope.performance().ok_or("a worker without a clock")?;
    let channel = MessageChannel::new()?;
    let worker = Rc::new(Worker { scope, clock, engine: RefCell::default(), again: channel.port2() });

    let hearing = Rc::clone(&worker);
    let hear = Closure::<dyn Fn(MessageEvent)>::new(move |e: MessageEvent| hearing.hear(&e.data()));
    worker.scope.set_onmessage(Some(hear.as_ref().unchecked_ref()));
    hear.forget(); // lives as long as the worker

    let working = Rc::clone(&worker);
    let work = Closure::<dyn Fn(MessageEvent)>::new(move |_| working.work());
    channel.port1().set_onmessage(Some(work.as_ref().unchecked_ref()));
    work.forget(); // lives as long as the worker

    worker.answer(Answer::Ready);
    Ok(())
}
