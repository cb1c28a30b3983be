//! The page in Firefox, which has another engine for scripts, for layout and for the module: it plays and draws, gets the hashes
//! of the command line, opens every mode and its own links, steps both ways, changes its clothes and its language, fits a
//! narrow window, and keeps nobody out. What is checked in Chromium at length is checked here once.
//!
//! Ignored by default, as `page`; `TIDEGATE_FIREFOX` says where the browser is.

use serde_json::json;
use tidegate_core::scenario::presets;
use tidegate_tests::page::{
    PIXELS, Site, click, drop_log, findings, firefox, hash, hash_by_command, load_axe, no_complaints, open,
    press_button, script, small_log, text, type_in, wait,
};
use tidegate_tests::webdriver::Browser;

/// More colours than an empty page has.
fn is_drawn(browser: &Browser) {
    wait(browser, &format!("new Set({PIXELS}).size > 8"));
}

/// A preset as the command line calls it.
fn preset(name: &str) -> String {
    format!("preset:{name}")
}

fn selected(browser: &Browser) -> String {
    text(browser, "[role=tab][aria-selected=true]")
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn it_plays_and_draws_and_gets_the_hash_of_the_command_line() {
    let site = Site::start();
    let browser = firefox();
    // As somebody finds it who has no link.
    open(&browser, &site, "#lang=en");
    wait(&browser, "parseFloat(document.querySelector('#clock').textContent.split(':')[1]) > 1");
    is_drawn(&browser);
    browser.press(" ").expect("Space");
    wait(&browser, "document.querySelector('#play').getAttribute('aria-label').startsWith('Play')");
    assert_eq!(hash(&browser, ""), hash_by_command(&preset(presets::ALL[0].name)));

    for name in ["flash-crowd", "seda-loop-3", "red5-dnf"] {
        open(&browser, &site, &format!("#preset={name}&at=60&play=0&lang=en"));
        is_drawn(&browser);
        assert_eq!(hash(&browser, ""), hash_by_command(&preset(name)), "{name}");
    }
    no_complaints(&browser);
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn a_run_is_edited_stepped_shared_and_opened_again() {
    let site = Site::start();
    let browser = firefox();
    open(&browser, &site, "#preset=flash-crowd&at=117&play=0&lang=en");
    let first = hash(&browser, "");
    type_in(&browser, "stages[1].workers", "80");
    let second = hash(&browser, &first);

    // One number for all that is drawn.
    let picture = &format!("({PIXELS}).reduce((sum, p) => (sum * 31 + p) | 0, 1)");
    for key in [";", ";", ":", ":", "'"] {
        let here = script(&browser, &format!("return {picture};"), &[]);
        browser.press(key).expect("a key");
        wait(&browser, &format!("{picture} !== {here}"));
    }
    browser.press("\u{e011}").expect("Home");
    wait(&browser, "document.querySelector('#clock').textContent === '0:00.0'");

    browser.click("#share").expect("Share");
    wait(&browser, "document.querySelector('#shared-link')?.textContent.includes('&h=')");
    let link = text(&browser, "#shared-link");
    assert_eq!(second, hash_by_command(&link), "for {link}");
    open(&browser, &site, &link[link.find('#').expect("a fragment")..]);
    wait(&browser, "document.querySelector('#verdict')?.dataset.verdict === 'same'");
    let again = script(&browser, "return document.querySelector('#verdict').dataset.hash;", &[]);
    assert_eq!(again, json!(second));
    no_complaints(&browser);
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn every_mode_opens() {
    let site = Site::with(&["--demo"]);
    let browser = firefox();
    open(&browser, &site, "#preset=flash-crowd&at=117&play=0&lang=en");
    assert_eq!(selected(&browser), "Explore");
    wait(
        &browser,
        "document.querySelector('#editor') && document.querySelectorAll('.comp.stage .lane').length > 3",
    );

    click(&browser, "#as-text");
    wait(&browser, "document.querySelector('#scenario-text')?.checkVisibility()");
    click(&browser, "#as-text");

    click(&browser, "[role=tab]:nth-of-type(2)");
    assert_eq!(selected(&browser), "Compare");
    press_button(&browser, "Edit B");
    wait(&browser, "document.getElementById('stages[1].queue.limit')");
    type_in(&browser, "stages[1].queue.limit", "30");
    wait(&browser, "document.querySelectorAll('.versus canvas').length === 2");
    press_button(&browser, "Result");
    let differ =
        "/A ([0-9a-f]{16}) +B (?!\\1)[0-9a-f]{16}/.test(document.querySelector('#hashes')?.textContent)";
    wait(&browser, differ);
    wait(&browser, "document.querySelectorAll('table.figures tbody tr').length > 3");

    open(&browser, &site, "#preset=flash-crowd&play=0&lang=en");
    drop_log(&browser, &small_log());
    wait(&browser, "document.querySelector('#state.log')?.textContent.includes('lines understood')");
    browser.click("#state .first").expect("Play");
    let _ = hash(&browser, "");
    assert_eq!(selected(&browser), "Replay a log");

    open(&browser, &site, "#mode=live&lang=en");
    assert_eq!(selected(&browser), "Live");
    wait(&browser, "document.querySelector('.comp.stage .lane')");
    is_drawn(&browser);
    no_complaints(&browser);
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn it_follows_the_system_and_speaks_chinese_and_fits_a_narrow_window() {
    let site = Site::start();
    let browser = firefox();
    let paper = "getComputedStyle(document.body).backgroundColor.match(/[0-9]+/)[0]";
    browser.prefer(&[("prefers-color-scheme", "dark")]).expect("dark");
    open(&browser, &site, "#preset=flash-crowd&at=117&play=0&lang=en");
    wait(&browser, &format!("{paper} < 64"));
    browser.prefer(&[("prefers-color-scheme", "light")]).expect("light");
    wait(&browser, &format!("{paper} > 192"));

    click(&browser, "#language");
    wait(&browser, "document.documentElement.lang === 'zh-Hans'");
    wait(&browser, "document.querySelector('#headline').textContent.includes('需求')");

    for (width, height) in [(390, 844), (900, 1100)] {
        browser.resize(width, height).expect("a window");
        wait(&browser, "document.documentElement.scrollWidth <= innerWidth");
        is_drawn(&browser);
        let inside = "document.querySelector('canvas').getBoundingClientRect().right <= innerWidth";
        wait(&browser, inside);
    }
    no_complaints(&browser);
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn axe_finds_nothing_serious() {
    let site = Site::start();
    let browser = firefox();
    for (address, theme) in [("", "light"), ("&cmp=1", "dark")] {
        open(&browser, &site, &format!("#preset=flash-crowd&at=117{address}&play=0&lang=en&theme={theme}"));
        load_axe(&browser);
        let found = findings(&browser);
        assert!(found.is_empty(), "{theme}: {} findings:\n{}", found.len(), found.join("\n"));
    }
    no_complaints(&browser);
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn the_console_tells_what_goes_wrong_in_a_page_a_frame_and_a_worker() {
    let site = Site::start();
    let browser = firefox();
    browser.open(&format!("{}embed.html", site.url)).expect("the page loads");
    wait(&browser, "document.querySelector('iframe')?.contentWindow");
    no_complaints(&browser);
    let wrong = "console.warn('a warning', 1); console.error('an error'); console.log('a remark');\
        document.querySelector('iframe').contentWindow.console.error('in the frame');\
        setTimeout(() => { throw new Error('thrown'); });\
        document.body.append(Object.assign(document.createElement('script'), { textContent: 'Promise.reject(Error(\"rejected\"))' }));\
        const source = 'console.error(\"in the worker\"); postMessage(1); throw Error(\"thrown there\")';\
        const worker = new Worker(URL.createObjectURL(new Blob([source])));\
        await new Promise((done) => { worker.onerror = done; });\
        await fetch('not-there');";
    browser.run_async(wrong, &[]).expect("a script");
    drop(site);
    browser.run_async("await fetch('gone').catch(() => {});", &[]).expect("a script");
    // What a page said is kept when it is gone.
    browser.open("about:blank").expect("blank");
    let lines = browser.console().expect("the console");
    let level = |what: &str| {
        let found = lines.iter().find(|line| line.message.contains(what));
        found.unwrap_or_else(|| panic!("no {what} in {lines:?}")).level.as_str()
    };
    for what in [
        "an error",
        "in the frame",
        "thrown",
        "not-there Failed to load: 404",
        "rejected",
        "in the worker",
        "thrown there",
        "gone Failed to load: no answer",
    ] {
        assert_eq!(level(what), "SEVERE", "{what}");
    }
    assert_eq!(level("a warning 1"), "WARNING");
    assert_eq!(level("a remark"), "INFO");
    // Nothing is told twice.
    let again = browser.console().expect("the console");
    assert!(!again.iter().any(|line| line.message.contains("an error")), "{again:?}");
}
