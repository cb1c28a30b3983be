//! The page for those who cannot see it or have no mouse: axe finds nothing serious in any mode, dialog or theme, and the
//! keyboard gets to everything.
//!
//! Ignored by default, as `page`; `TIDEGATE_AXE` names the checker's script, which `cargo xtask test` installs.

use serde_json::json;
use tidegate_tests::page::{SOON, Site, browser, findings, load_axe, no_complaints, open};
use tidegate_tests::webdriver::Browser;

/// What is looked at: a name, the address, and what is clicked there until it is on the screen.
const VIEWS: &[(&str, &str, &[&str])] = &[
    ("explore", "#preset=flash-crowd&at=117", &[]),
    ("a lane explained", "#preset=flash-crowd&at=117", &[".comp.stage[data-stage=\"1\"] .lane"]),
    ("delays in proportion", "#preset=pdd-three-class&at=500", &[]),
    ("balancing", "#preset=red5-dnf&at=60", &[]),
    ("as text", "#preset=mm1&at=3", &["#as-text"]),
    ("the tour", "#tour=1", &[]),
    ("presets", "#preset=mm1&open=presets", &["dialog[open]"]),
    ("share", "#preset=mm1&open=share", &["dialog[open]"]),
    ("serve", "#preset=mm1&open=serve", &["dialog[open]"]),
    ("keys", "#preset=mm1&open=keys", &["dialog[open]"]),
    ("compare", "#preset=flash-crowd&at=117&cmp=1", &[]),
    ("replay", "#preset=flash-crowd", &["[role=tab]:nth-of-type(3)"]),
    ("live", "#preset=flash-crowd&mode=live", &["[role=tab][aria-selected=true]"]),
    ("a damaged link", "#t1z.q1bKSy1RslIyNFSyio7VUUpOLCr.0000000", &[]),
    ("in a frame", "#preset=mm1&embed=1&ctl=rate", &[]),
];

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn axe_finds_nothing_serious_in_any_view_and_theme() {
    let site = Site::with(&["--demo"]);
    let browser = browser();
    let mut found = Vec::new();
    for (view, address, clicks) in VIEWS {
        for theme in ["light", "dark"] {
            open(&browser, &site, &format!("{address}&play=0&lang=en&theme={theme}"));
            for selector in *clicks {
                let there = format!("document.querySelector({})", json!(selector));
                browser.wait_for(&there, SOON).unwrap_or_else(|e| panic!("{view}: {e}"));
                if *selector != "dialog[open]" {
                    browser.run(&format!("{there}.click();"), &[]).expect("a click");
                }
            }
            load_axe(&browser);
            found.extend(findings(&browser).into_iter().map(|what| format!("{view}, {theme}: {what}")));
        }
    }
    assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
    no_complaints(&browser);
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn axe_is_able_to_find_something() {
    let site = Site::start();
    let browser = browser();
    open(&browser, &site, "#preset=mm1&play=0&lang=en");
    browser.run("document.querySelector('#play').removeAttribute('aria-label');", &[]).expect("a script");
    browser.run("document.querySelector('#theme').replaceChildren();", &[]).expect("a script");
    browser.run("document.querySelector('#theme').removeAttribute('aria-label');", &[]).expect("a script");
    browser.run("document.querySelector('#theme').removeAttribute('title');", &[]).expect("a script");
    load_axe(&browser);
    let found = findings(&browser);
    assert!(found.iter().any(|what| what.starts_with("button-name")), "{found:?}");
}

/// Presses Tab until the focus is where it was. What had it is kept in `window.seen`; returns how much.
fn walk(browser: &Browser) -> usize {
    let goes_on = "const e = document.activeElement, seen = window.seen ??= [];\
        if (e === document.body || seen.includes(e)) return false;\
        seen.push(e); return true;";
    for stops in 0..400 {
        browser.press("\u{e004}").expect("Tab");
        if browser.run(goes_on, &[]).expect("a script") != json!(true) {
            return stops;
        }
    }
    400
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn tab_gets_to_every_control() {
    let site = Site::with(&["--demo"]);
    let browser = browser();
    for address in ["#preset=flash-crowd&at=117", "#preset=flash-crowd&at=117&cmp=1", "#preset=mm1&mode=live"]
    {
        open(&browser, &site, &format!("{address}&play=0&lang=en"));
        // Tab does not go back for what comes after it has passed.
        browser.wait_for("document.querySelector('.hit')", SOON).expect("the picture");
        let seen = walk(&browser);
        // A group of radio buttons or tabs is one stop, and the arrows move within it.
        let missed = "const { seen } = window;\
            const all = [...document.querySelectorAll('*')];\
            return all.filter((e) => !seen.includes(e)\
                && e.matches('a[href], button, input, select, textarea, summary, [tabindex=\"0\"]')\
                && !e.disabled && e.tabIndex >= 0 && e.checkVisibility({ visibilityProperty: true })\
                && !e.closest('[inert], [aria-hidden=true]')\
                && !(e.type === 'radio' && seen.some((o) => o.type === 'radio' && o.name === e.name)))\
                .map((e) => e.outerHTML.slice(0, 120));";
        let missed = browser.run(missed, &[]).expect("a script");
        assert!(seen > 12, "{address}: only {seen} stops");
        assert_eq!(missed, json!([]), "{address}: out of reach after {seen} stops");
        // What can be clicked and is none of these has to be among them for the keyboard.
        let odd = "return [...document.querySelectorAll('[onclick], [role=button], [role=slider], [role=tab]')]\
            .filter((e) => !e.matches('a[href], button, input, [tabindex]')).map((e) => e.outerHTML.slice(0, 120));";
        assert_eq!(browser.run(odd, &[]).expect("a script"), json!([]), "{address}");
    }
    no_complaints(&browser);
}
