//! Names of the numbers of a flat frame, in their order.
//!
//! A name is a path through a frame: `classes[0].arrived`, `stages[1].waiting[0][2]` (level, then class),
//! `servers[3].in_flight[1]` (class). The core alone says what a frame is; that there is a name for every number,
//! and the right one, is tested with frames of every preset.

use tidegate_core::frame::{Cause, Frame, SplitState};

/// Appends `path.name` for each name.
fn fields(out: &mut Vec<String>, path: &str, names: &[&str]) {
    out.extend(names.iter().map(|name| format!("{path}.{name}")));
}

/// A name for each number that [`Frame::encode`] writes of this frame.
pub(crate) fn of(frame: &Frame) -> Vec<String> {
    let mut out: Vec<String> =
        ["layout", "now_s", "classes.length", "stages.length", "servers.length"].map(str::to_owned).into();
    for class in 0..frame.classes.len() {
        let path = format!("classes[{class}]");
        fields(&mut out, &path, &["arrived", "completed", "good"]);
        fields(&mut out, &format!("{path}.shed"), &Cause::ALL.map(Cause::name));
        fields(&mut out, &path, &["failed", "cancelled", "in_system", "wait_sum_s", "response_sum_s"]);
    }
    for (at, stage) in frame.stages.iter().enumerate() {
        let path = format!("stages[{at}]");
        fields(&mut out, &path, &["workers", "limit", "levels", "batch", "worked_s", "wasted_s", "gauged"]);
        for level in 0..stage.levels {
            let path = format!("{path}.levels[{level}]");
            fields(&mut out, &path, &["average", "min", "max", "drop_p", "max_p", "promoted"]);
        }
        let classes = frame.classes.len().max(1);
        let place = |i: usize| format!("{path}.waiting[{}][{}]", i / classes, i % classes);
        out.extend((0..stage.waiting.len()).map(place));
        for class in 0..stage.classes.len() {
            let path = format!("{path}.classes[{class}]");
            fields(&mut out, &path, &["busy", "slots", "started", "shed", "wait_sum_s", "oldest_wait_s"]);
        }
        out.push(format!("{path}.split.state"));
        if stage.split.state != SplitState::None {
            let path = format!("{path}.split");
            fields(&mut out, &path, &["stuck", "samples", "moved", "resolution", "classes.length"]);
            for class in 0..stage.split.classes.len() {
                let path = format!("{path}.classes[{class}]");
                fields(&mut out, &path, &["share", "target", "delay_s", "error", "output", "a[0]", "a[1]"]);
                fields(&mut out, &path, &["b", "gains[0]", "gains[1]", "gains[2]"]);
                fields(&mut out, &path, &["trust", "uncertainty", "bias", "margin", "flags"]);
            }
        }
    }
    for (at, server) in frame.servers.iter().enumerate() {
        let path = format!("servers[{at}]");
        fields(&mut out, &path, &["up", "bars", "weight", "session_weight", "balanced_load"]);
        fields(&mut out, &path, &["session_load", "group", "latency_s"]);
        fields(&mut out, &format!("{path}.loads"), &["cpu", "memory", "network", "disk", "rooms"]);
        fields(&mut out, &path, &["report_age_s", "warm", "sessions", "max_in_flight"]);
        out.extend((0..server.in_flight.len()).map(|class| format!("{path}.in_flight[{class}]")));
        fields(&mut out, &path, &["picked", "completed", "failed"]);
    }
    out.push("decision".to_owned());
    if let Some(decision) = &frame.decision {
        fields(&mut out, "decision", &["at_s", "class", "server", "candidates.length"]);
        for candidate in 0..decision.candidates.len() {
            let path = format!("decision.candidates[{candidate}]");
            fields(&mut out, &path, &["server", "key", "turn", "group"]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::scenario::presets;
    use tidegate_core::sim::Simulation;
    use tidegate_core::time::{Duration, Instant};

    #[test]
    fn every_number_of_every_preset_has_the_right_name() {
        let mut split = false;
        for preset in presets::ALL {
            let scenario = preset.scenario();
            let Ok(mut sim) = Simulation::new(&scenario, 0, None) else { continue };
            sim.write_decisions(true);
            let to_s = (scenario.horizon.as_secs_f64() / 3.0).min(20.0);
            sim.run_until(Instant::START + Duration::from_secs_f64(to_s));
            let mut frame = Frame::default();
            sim.frame(&mut frame);
            let mut numbers = Vec::new();
            frame.encode(&mut numbers);
            let names = of(&frame);
            assert_eq!(names.len(), numbers.len(), "{}", preset.name);
            let value = |name: &str| {
                let at = names.iter().position(|n| n == name).unwrap_or_else(|| panic!("no {name}"));
                numbers[at]
            };
            let (last_class, last_stage) = (frame.classes.len() - 1, frame.stages.len() - 1);
            let class = &frame.classes[last_class];
            assert_eq!(value(&format!("classes[{last_class}].response_sum_s")), class.response_sum_s);
            assert_eq!(value(&format!("classes[{last_class}].shed.full")), class.shed[0] as f64);
            let stage = &frame.stages[last_stage];
            let started = stage.classes[last_class].started as f64;
            assert_eq!(value(&format!("stages[{last_stage}].classes[{last_class}].started")), started);
            let waiting = f64::from(stage.waiting[last_class]);
            assert_eq!(value(&format!("stages[{last_stage}].waiting[0][{last_class}]")), waiting);
            if let Some(server) = frame.servers.last() {
                let path = format!("servers[{}]", frame.servers.len() - 1);
                assert_eq!(value(&format!("{path}.picked")), server.picked as f64);
                assert_eq!(value(&format!("{path}.max_in_flight")), f64::from(server.max_in_flight));
            }
            for (at, stage) in frame.stages.iter().enumerate().filter(|(_, s)| !s.split.classes.is_empty()) {
                split = true;
                assert_eq!(
                    value(&format!("stages[{at}].split.classes[0].margin")),
                    stage.split.classes[0].margin
                );
            }
        }
        assert!(split, "some preset has a controlled split");
    }

    #[test]
    fn names_are_unlike_each_other() {
        let scenario = presets::get("flash-crowd").expect("a preset").scenario();
        let sim = Simulation::new(&scenario, 0, None).expect("runs");
        let mut frame = Frame::default();
        sim.frame(&mut frame);
        let mut names = of(&frame);
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
