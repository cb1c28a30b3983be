//! What people do with the page: open every preset, edit a run that goes on and take it back, step, ask why, compare, find,
//! write the scenario as text, and leave it playing.
//!
//! Ignored by default, as `page`.

use serde_json::json;
use tidegate_core::scenario::presets;
use tidegate_tests::page::{
    PIXELS, Site, browser, click, hash, hash_by_command, no_complaints, open, press_button, script, text,
    type_in, wait,
};
use tidegate_tests::webdriver::Browser;

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn every_preset_opens_and_is_drawn() {
    let site = Site::start();
    let browser = browser();
    for preset in presets::ALL {
        let at_s = preset.scenario().wire().run.horizon_us / 2_000_000;
        open(&browser, &site, &format!("#preset={}&at={at_s}&play=0&lang=en", preset.name));
        assert!(text(&browser, ".scenario span").contains(preset.title), "{}", preset.name);
        let no_log = "document.querySelector('#state')";
        // A recording has to be dropped first; the page says so instead of drawing.
        let trace = preset.scenario().wire().classes.iter().any(|class| class.load.word() == "trace");
        let there = if trace {
            format!("{no_log}?.textContent.includes('log')")
        } else {
            format!("!{no_log} && new Set({PIXELS}).size > 8")
        };
        wait(&browser, &there);
        no_complaints(&browser);
    }
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn an_edit_forks_the_run_at_the_playhead_and_can_be_taken_back() {
    let site = Site::start();
    let browser = browser();
    open(&browser, &site, "#preset=flash-crowd&at=117&play=0&lang=en");
    let first = hash(&browser, "");
    let clock = text(&browser, "#clock");
    type_in(&browser, "stages[1].workers", "80");
    let second = hash(&browser, &first);
    assert_eq!(text(&browser, "#clock"), clock, "it goes on where it was");
    wait(&browser, "location.hash.startsWith('#t1z.')");
    let link = script(&browser, "return location.href;", &[]);
    assert_eq!(second, hash_by_command(link.as_str().expect("a link")), "{link}");

    click(&browser, "#undo");
    assert_eq!(hash(&browser, &second), first);
    assert_eq!(script(&browser, "return document.getElementById('stages[1].workers').value;", &[]), "64");
    click(&browser, "#redo");
    assert_eq!(hash(&browser, &first), second);
    no_complaints(&browser);
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn a_class_gets_another_priority_while_it_runs() {
    let site = Site::start();
    let browser = browser();
    open(&browser, &site, "#preset=flash-crowd&at=117&play=0&lang=en");
    let mut last = hash(&browser, "");
    click(&browser, ".editor button.section");
    // 0 and 1 leave a stage with two levels where it had three.
    for priority in ["1", "0", "5", "2"] {
        type_in(&browser, "classes[0].priority", priority);
        last = hash(&browser, &last);
        assert_eq!(script(&browser, "return document.querySelector('#state')?.textContent ?? '';", &[]), "");
    }
    click(&browser, "#play");
    wait(&browser, "document.querySelector('#clock').textContent > '2:00'");
    wait(&browser, "location.hash.startsWith('#t1z.')");
    let link = script(&browser, "return location.href;", &[]);
    assert_eq!(last, hash_by_command(link.as_str().expect("a link")), "{link}");
    no_complaints(&browser);
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn a_stage_is_added_in_front_and_taken_out_again() {
    let site = Site::start();
    let browser = browser();
    open(&browser, &site, "#preset=flash-crowd&at=117&play=0&lang=en");
    let first = hash(&browser, "");
    let stages = |n: usize| {
        wait(&browser, &format!("document.querySelectorAll('.comp.stage').length === {n}"));
    };
    stages(2);
    press_button(&browser, "Add a stage in front");
    stages(3);
    let second = hash(&browser, &first);
    wait(&browser, "location.hash.startsWith('#t1z.')");
    let link = script(&browser, "return location.href;", &[]);
    assert_eq!(second, hash_by_command(link.as_str().expect("a link")), "{link}");
    click(&browser, "#undo");
    stages(2);
    assert_eq!(hash(&browser, &second), first);
    click(&browser, "#redo");
    stages(3);
    // The open section is that of the new stage: it stands where the one was that it was put in front of.
    click(&browser, ".editor [aria-label='Remove Stage 3']");
    stages(2);
    let _ = hash(&browser, &second);
    no_complaints(&browser);
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn time_goes_both_ways_by_event_and_by_decision() {
    let site = Site::start();
    let browser = browser();
    open(&browser, &site, "#preset=flash-crowd&at=117&play=0&lang=en");
    let _ = hash(&browser, "");
    // One number for all that is drawn.
    let picture = &format!("({PIXELS}).reduce((sum, p) => (sum * 31 + p) | 0, 1)");
    let clock = "document.querySelector('#clock').textContent";
    let steps = 5;
    for _ in 0..steps {
        let here = script(&browser, &format!("return {picture};"), &[]);
        browser.press(";").expect("an event");
        wait(&browser, &format!("{picture} !== {here}"));
    }
    for _ in 0..steps {
        let here = script(&browser, &format!("return {picture};"), &[]);
        browser.press(":").expect("an event back");
        wait(&browser, &format!("{picture} !== {here}"));
    }
    let clock_there = text(&browser, "#clock");
    assert!(["1:57.0", "1:56.9"].contains(&clock_there.as_str()), "{clock_there}");
    let foot = text(&browser, ".comp.stage[data-stage=\"1\"] .foot");
    assert!(
        foot.contains("Turned away 39") || foot.contains("Turned away 38"),
        "rates are those of that time: {foot}"
    );

    let here = script(&browser, &format!("return {picture};"), &[]);
    browser.press("'").expect("a decision");
    wait(&browser, &format!("{picture} !== {here}"));
    browser.press("\u{e011}").expect("Home");
    wait(&browser, &format!("{clock} === '0:00.0'"));
    no_complaints(&browser);
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn a_refused_request_says_why_and_leads_to_its_moments() {
    let site = Site::start();
    let browser = browser();
    open(&browser, &site, "#preset=flash-crowd&at=117&play=0&lang=en");
    wait(&browser, "document.querySelector('.comp.stage .foot button:not([disabled])')");
    click(&browser, ".comp.stage .foot button:not([disabled])");
    wait(&browser, "document.querySelectorAll('#record ol li').length >= 2");
    let record = text(&browser, "#record");
    assert!(record.contains("Comes to Serve") && record.contains("Turned away: no room"), "{record}");
    let clock = text(&browser, "#clock");
    click(&browser, "#record .at");
    wait(&browser, &format!("document.querySelector('#clock').textContent !== {}", json!(clock)));
    no_complaints(&browser);
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn two_policies_are_compared_with_intervals() {
    let site = Site::start();
    let browser = browser();
    open(&browser, &site, "#preset=flash-crowd&at=117&play=0&lang=en&cmp=1");
    press_button(&browser, "Edit B");
    wait(&browser, "document.getElementById('stages[1].queue.limit')");
    type_in(&browser, "stages[1].queue.limit", "30");
    press_button(&browser, "Result");
    press_button(&browser, "Run 10 more");
    wait(
        &browser,
        "document.querySelectorAll('table.figures tbody tr').length > 3 && !document.querySelector('progress')",
    );
    let table = text(&browser, "table.figures");
    assert!(table.contains('±') && table.contains("Crawlers"), "{table}");
    assert!(text(&browser, ".verdict").contains('B'), "{}", text(&browser, ".verdict"));

    // The link opens the same comparison.
    wait(&browser, "location.hash.includes('cmp=1')");
    let fragment = script(&browser, "return location.hash;", &[]);
    let hashes = text(&browser, "#hashes");
    open(&browser, &site, fragment.as_str().expect("an address"));
    wait(&browser, &format!("document.querySelector('#hashes')?.textContent === {}", json!(hashes)));
    no_complaints(&browser);
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn anything_is_found_by_typing_and_the_scenario_is_a_text() {
    let site = Site::start();
    let browser = browser();
    open(&browser, &site, "#preset=flash-crowd&at=117&play=0&lang=en");
    let ctrl_k = "dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }));";
    script(&browser, ctrl_k, &[]);
    wait(&browser, "document.querySelector('dialog[open] .search')");
    browser.press("balancer").expect("typing");
    wait(&browser, "document.querySelectorAll('#found li').length > 0");
    // Once to empty the field, once to leave it.
    browser.press("\u{e00c}").expect("Escape");
    browser.press("\u{e00c}").expect("Escape");
    wait(&browser, "!document.querySelector('dialog[open]')");

    click(&browser, "#as-text");
    wait(&browser, "document.querySelector('#scenario-text')?.value.includes('\"title\"')");
    wait(&browser, "document.querySelector('#scenario-text').checkVisibility()");
    let write = "const f = document.querySelector('#scenario-text'); f.value = f.value.replace(arguments[0], arguments[1]);\
        f.dispatchEvent(new Event('input', { bubbles: true })); f.dispatchEvent(new Event('change', { bubbles: true }));";
    script(&browser, write, &[json!("\"workers\": 64"), json!("\"workers\": 0")]);
    wait(&browser, "document.querySelector('#text-problems li')?.textContent.includes('stages[1].workers')");
    script(&browser, write, &[json!("\"workers\": 0"), json!("\"workers\": 96")]);
    wait(&browser, "!document.querySelector('#text-problems li')");
    click(&browser, "#as-text");
    wait(&browser, "document.getElementById('stages[1].workers')?.value === '96'");
    no_complaints(&browser);
}

/// What the page holds after a garbage collection: bytes of JavaScript, elements and listeners, bytes of the module.
fn held(browser: &Browser) -> [f64; 4] {
    browser.devtools("HeapProfiler.collectGarbage", &json!({})).expect("collected");
    browser.devtools("Performance.enable", &json!({})).expect("enabled");
    let metrics = browser.devtools("Performance.getMetrics", &json!({})).expect("metrics");
    let metric = |name: &str| {
        let all = metrics["metrics"].as_array().expect("a list");
        let found = all.iter().find(|m| m["name"] == name).unwrap_or_else(|| panic!("no {name}"));
        found["value"].as_f64().expect("a number")
    };
    let module = browser
        .run_async(
            "const { default: init } = await import('./pkg/tidegate_web.js');\
             return (await init()).memory.buffer.byteLength;",
            &[],
        )
        .expect("the module's memory");
    let module = module.as_f64().expect("a number");
    [metric("JSHeapUsedSize"), metric("Nodes"), metric("JSEventListeners"), module]
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn a_page_left_playing_holds_no_more_than_before() {
    let site = Site::start();
    let browser = browser();
    open(&browser, &site, "#preset=flash-crowd&lang=en&speed=100");
    // One script for a pass: the browser keeps something of each that it is asked to run.
    let play = "const ended = () => document.querySelector('#clock').textContent === '3:00.0';\
        const until = (is) => new Promise((done) => { const look = () => is() ? done() : requestAnimationFrame(look); look(); });\
        document.querySelector('.transport [aria-label^=\"Back to start\"]').click();\
        await until(() => !ended());\
        const play = document.querySelector('#play');\
        if (play.getAttribute('aria-label').startsWith('Play')) play.click();\
        await until(ended);";
    let pass = |browser: &Browser| {
        browser.run_async(play, &[]).expect("it plays to the end");
    };
    // What is used much the browser translates, and keeps that: its memory settles within a few passes.
    for _ in 0..6 {
        pass(&browser);
    }
    let before = held(&browser);
    for _ in 0..12 {
        pass(&browser);
    }
    let after = held(&browser);
    let names = ["bytes of JavaScript", "nodes", "listeners", "bytes of the module"];
    for ((name, before), after) in names.iter().zip(before).zip(after) {
        println!("{name}: {before} then {after}");
        assert!(after < before * 1.1 + 64.0, "{name} grew from {before} to {after}");
    }
    no_complaints(&browser);
}
