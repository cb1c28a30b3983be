//! The page in a browser, served by the real binary: it plays, shares, opens what it shared, and gets the same hash
//! as the command line; it says what is wrong with a damaged link; it plays a log; nothing is written to the console.
//!
//! Ignored by default: `cargo xtask test` builds what it needs and says where browser and binary are
//! (`TIDEGATE_CHROMIUM`, `TIDEGATE_CHROMEDRIVER`, `TIDEGATE_BINARY`).

use serde_json::json;
use tidegate_tests::page::{
    SOON, Site, browser, drop_log, hash_by_command, no_complaints, open, page_without, small_log, text,
};

/// Whether the page has asked for the second part of its program.
const ASKED_FOR_MORE: &str =
    "performance.getEntriesByType('resource').some((one) => one.name.endsWith('_later.wasm'))";

/// Puts a value into a field of the editor.
const TYPE_IN: &str = "const f = document.getElementById(arguments[0]); f.focus(); f.value = arguments[1];\
    f.dispatchEvent(new Event('input', { bubbles: true })); f.dispatchEvent(new Event('change', { bubbles: true })); f.blur();";

/// The page's budget is for this: it is seen, played, changed, shared and opened again, in both languages, in two widths. There
/// is no second part here, so what needs it, on the page or in its worker, fails.
#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn watching_changing_and_sharing_need_the_first_part_only() {
    let folder = page_without("_later.wasm");
    let site = Site::with(&["--www", folder.to_str().expect("a path in UTF-8")]);
    let browser = browser();
    let run = |script: &str| browser.run(script, &[]).expect("a script");
    let type_in = |field: &str, value: &str| {
        browser.run(TYPE_IN, &[json!(field), json!(value)]).expect("typing");
    };
    let hash = "return document.querySelector('#hash').dataset.hash;";
    let computed = |other: &serde_json::Value| {
        let done = format!(
            "document.querySelector('.lacking, #state') || document.querySelector('#hash')?.dataset.hash\
                && document.querySelector('#hash').dataset.hash !== {other}"
        );
        browser.wait_for(&done, SOON).expect("the run is computed");
        let said = run("return document.querySelector('.lacking, #state')?.textContent ?? '';");
        assert_eq!(
            said,
            json!(""),
            "a function named in web/later.txt is needed; see target/wasm/later-calls.txt"
        );
        run(hash)
    };
    for (fragment, width) in [("#lang=en&theme=dark&speed=100", 390), ("#lang=en", 1440)] {
        browser.resize(width, 900).expect("a window");
        open(&browser, &site, fragment);
        let played = "document.querySelector('#clock').textContent > '0:03'";
        browser.wait_for(played, SOON).expect("it plays");
    }
    let first = computed(&json!(null));

    // The transport, by keys and by hand.
    for key in [" ", ".", ",", ";", ":", "r"] {
        browser.press(key).expect("a key");
    }
    for button in ["#play", "#theme", "#theme"] {
        browser.click(button).expect("a button");
    }
    type_in("speed", "20");

    // Load, stage and seed.
    run("document.querySelector('.editor button.section').click();");
    let rate = "classes[0].load.rate_per_s";
    browser.wait_for(&format!("document.getElementById('{rate}')?.offsetParent"), SOON).expect("the traffic");
    type_in(rate, "150");
    let loaded = computed(&first);
    run("document.querySelectorAll('.editor button.section')[3].click();");
    type_in("stages[1].queue.limit", "90");
    type_in("stages[1].workers", "40");
    let staged = computed(&loaded);
    browser.click("#undo").expect("Undo");
    browser.click("#redo").expect("Redo");
    assert_eq!(computed(&json!(null)), staged, "taken back and made again");
    run("document.querySelector('.seed .icon').click();");
    let seeded = computed(&staged);

    // Shared in Chinese, opened in English.
    browser.click("#language").expect("Chinese");
    browser.wait_for("document.querySelector('#share').textContent === '分享'", SOON).expect("Chinese");
    browser.click("#share").expect("Share");
    browser
        .wait_for("document.querySelector('#shared-link')?.textContent.includes('&h=')", SOON)
        .expect("a link with the hash");
    let link = text(&browser, "#shared-link");
    assert_eq!(seeded.as_str().expect("a hash"), hash_by_command(&link), "for {link}");
    open(&browser, &site, &format!("{}&lang=en", &link[link.find('#').expect("a fragment")..]));
    browser
        .wait_for("document.querySelector('#verdict')?.dataset.verdict === 'same'", SOON)
        .expect("reproduced");

    assert!(run("return !document.querySelector('.lacking');").as_bool().expect("a truth"));
    let asked = run(&format!("return {ASKED_FOR_MORE};"));
    assert_eq!(asked, json!(false), "a function named in web/later.txt is needed");
    std::fs::remove_dir_all(&folder).expect("removed");
}

/// Nothing of the page's own can answer a call whose code is not there, but it must not leave its user without a word.
#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn a_part_that_cannot_be_had_is_waited_for_or_said() {
    let site = Site::start();
    let browser = browser();
    let serve = "document.querySelector('#serve').click();";

    // Nobody went towards it, and a call needs the second part: it waits.
    open(&browser, &site, "#lang=en&play=0");
    browser.run(serve, &[]).expect("Run on a real server");
    browser.wait_for("document.querySelector('#serve-command')", SOON).expect("it opens");
    no_complaints(&browser);

    browser.devtools("Network.enable", &json!({})).expect("enabled");
    browser.devtools("Network.setBypassServiceWorker", &json!({ "bypass": true })).expect("bypassed");
    browser.devtools("Network.setCacheDisabled", &json!({ "cacheDisabled": true })).expect("disabled");
    browser.devtools("Network.setBlockedURLs", &json!({ "urls": ["*_later.wasm"] })).expect("blocked");
    open(&browser, &site, "#lang=en&play=0");
    browser.run(serve, &[]).expect("Run on a real server");
    browser.wait_for("document.querySelector('.lacking')", SOON).expect("it says so");
    let said = text(&browser, ".lacking");
    assert!(said.contains("could not be loaded") && said.contains("Reload"), "{said}");

    browser.devtools("Network.setBlockedURLs", &json!({ "urls": [] })).expect("let through");
    browser.click(".lacking button").expect("Reload");
    browser
        .wait_for("!document.querySelector('.lacking') && document.querySelector('#serve')", SOON)
        .expect("up again");
    browser.run(serve, &[]).expect("Run on a real server");
    browser.wait_for("document.querySelector('#serve-command')", SOON).expect("it opens");
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn it_plays_shares_and_opens_what_it_shared() {
    let site = Site::start();
    let browser = browser();
    open(&browser, &site, "#preset=flash-crowd&lang=en");

    // It plays.
    let clock = "parseFloat(document.querySelector('#clock').textContent.split(':')[1]) > 1";
    browser.wait_for(clock, SOON).expect("time passes");
    browser.press(" ").expect("Space");
    browser
        .wait_for("document.querySelector('#play').getAttribute('aria-label').startsWith('Play')", SOON)
        .expect("paused");

    // An edit makes another run, and the link carries it.
    browser.run("document.querySelector('.seed .icon').click();", &[]).expect("dice");
    browser.wait_for("location.hash.startsWith('#t1z.')", SOON).expect("the address follows the edit");

    // It shares, once the whole run is computed.
    browser.wait_for("document.querySelector('#hash')?.dataset.hash", SOON).expect("the run ends");
    let hash = browser.run("return document.querySelector('#hash').dataset.hash;", &[]).expect("a hash");
    let hash = hash.as_str().expect("text").to_owned();
    browser.click("#share").expect("Share");
    browser
        .wait_for("document.querySelector('#shared-link')?.textContent.includes('&h=')", SOON)
        .expect("a link");
    let link = text(&browser, "#shared-link");

    // The command line agrees about the same link.
    assert_eq!(hash, hash_by_command(&link), "for {link}");

    // Opened again, the run proves itself.
    let fragment = &link[link.find('#').expect("a fragment")..];
    open(&browser, &site, fragment);
    browser
        .wait_for("document.querySelector('#verdict')?.dataset.verdict === 'same'", SOON)
        .expect("reproduced");
    let again = browser.run("return document.querySelector('#verdict').dataset.hash;", &[]).expect("a hash");
    assert_eq!(again.as_str(), Some(hash.as_str()));

    // A link that claims another run does not.
    let forged = fragment[..fragment.len() - 1].to_owned() + if fragment.ends_with('0') { "1" } else { "0" };
    open(&browser, &site, &forged);
    browser
        .wait_for("document.querySelector('#verdict')?.dataset.verdict === 'differs'", SOON)
        .expect("told apart");
    no_complaints(&browser);
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn it_says_what_is_wrong_with_a_link_and_speaks_chinese() {
    let site = Site::start();
    let browser = browser();
    open(&browser, &site, "#preset=mm1&lang=zh&theme=dark&at=3&play=0");
    let language = browser.run("return document.documentElement.lang;", &[]).expect("a script");
    assert_eq!(language, json!("zh-Hans"));
    browser
        .wait_for("document.querySelector('#headline').textContent.includes('需求')", SOON)
        .expect("a headline in Chinese");
    browser
        .wait_for("document.querySelector('#clock').textContent === '0:03.0'", SOON)
        .expect("at three seconds");

    open(&browser, &site, "#t1z.q1bKSy1RslIyNFSyio7VUUpOLCr.0000000&lang=en");
    assert!(text(&browser, "#state").contains("damaged"), "{}", text(&browser, "#state"));
    open(&browser, &site, "#t1j.%7B%22tidegate%22:9,%22title%22:%22Tomorrow%22%7D&lang=en");
    assert!(text(&browser, "#state").contains("Tomorrow"), "{}", text(&browser, "#state"));
    no_complaints(&browser);
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn it_plays_a_log_that_is_dropped() {
    let site = Site::start();
    let browser = browser();
    open(&browser, &site, "#preset=flash-crowd&lang=en&play=0");
    let shared =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/apache-combined-2015.log");
    let log = std::fs::read_to_string(&shared).unwrap_or_else(|_| {
        println!("no {}: a small log of the same shape instead", shared.display());
        small_log()
    });
    drop_log(&browser, &log);
    browser.wait_for("document.querySelector('#state.log')", SOON).expect("the log is read");
    assert!(text(&browser, "#state").contains("lines understood"), "{}", text(&browser, "#state"));
    browser.click("#state .first").expect("Play");
    browser
        .wait_for("document.querySelector('#hash')?.dataset.hash", SOON)
        .expect("the log is played to its end");
    let selected = "document.querySelector('[role=tab][aria-selected=true]').textContent";
    assert_eq!(browser.run(&format!("return {selected};"), &[]).expect("a script"), "Replay a log");

    // The same requests under two policies, which are one as long as nobody changes B.
    browser.run("document.querySelector('.livebar .button').click();", &[]).expect("Under two policies");
    let same = "/A ([0-9a-f]{16}) +B \\1/.test(document.querySelector('#hashes')?.textContent)";
    browser.wait_for(same, SOON).expect("both are played to their ends");
    no_complaints(&browser);
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn a_number_out_of_range_says_so_and_the_last_one_keeps_running() {
    let site = Site::start();
    let browser = browser();
    open(&browser, &site, "#preset=flash-crowd&lang=en&play=0");
    let workers = "stages[1].workers";
    browser.run(TYPE_IN, &[json!(workers), json!("0")]).expect("typing");
    browser.wait_for("document.querySelector('.wrongly')", SOON).expect("an error at the field");
    browser.run(TYPE_IN, &[json!(workers), json!("twelve")]).expect("typing");
    browser
        .wait_for("document.querySelector('.wrongly')?.textContent.includes('number')", SOON)
        .expect("no number");
    browser.run(TYPE_IN, &[json!(workers), json!("12")]).expect("typing");
    browser.wait_for("!document.querySelector('.wrongly')", SOON).expect("the error is gone");
    browser
        .wait_for("document.querySelector('.comp.pool .foot')?.textContent.includes('of 12')", SOON)
        .expect("it runs");
    no_complaints(&browser);
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn a_policy_is_chosen_and_says_why_it_turns_away() {
    let site = Site::start();
    let browser = browser();
    open(&browser, &site, "#preset=flash-crowd&lang=en&play=0&at=117");

    // The third of the queue controls, by the radio button of the stage that is open.
    let choose = "document.querySelectorAll('input[name=\"stages[1].queue\"]')[arguments[0]].click();";
    browser.run(choose, &[json!(2)]).expect("Priority RED");
    browser
        .wait_for("document.getElementById('stages[1].queue.min')?.value === '200'", SOON)
        .expect("its numbers stand below it");

    // The lane of the least urgent says why.
    let lanes = "document.querySelectorAll('.comp.stage[data-stage=\"1\"] .lane')";
    browser.wait_for(&format!("{lanes}[2]"), SOON).expect("the lanes are drawn");
    browser.run(&format!("{lanes}[2].click();"), &[]).expect("a lane");
    browser.wait_for("document.querySelector('#why math')", SOON).expect("a formula");
    browser
        .wait_for("document.querySelectorAll('#why tbody tr').length === 3", SOON)
        .expect("the figures of every lane");
    assert!(text(&browser, "#why").contains("paper S, 1.3"), "{}", text(&browser, "#why"));
    assert_eq!(
        browser.run(&format!("return {lanes}[2].getAttribute('aria-expanded');"), &[]).expect("a script"),
        "true"
    );
    no_complaints(&browser);
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn a_frame_answers_the_page_around_it_and_keeps_nothing() {
    let site = Site::start();
    let browser = browser();
    browser.open(&format!("{}embed.html", site.url)).expect("the page loads");
    let says = |what: &str| {
        let said = format!("document.querySelector('#said').textContent.includes({})", json!(what));
        browser.wait_for(&said, SOON).unwrap_or_else(|e| panic!("{what}: {e}"));
    };
    says(r#""event":"ready""#);
    let press = "const name = arguments[0];\
        [...document.querySelectorAll('#buttons button')].find((b) => b.textContent.includes(name)).click();";
    for (button, answer) in [
        ("dance", "load, play, pause, seek, set or results, found"),
        ("preset:mm1", r#"← {"id":2,"tidegate":1}"#),
        ("results", r#"← {"id":3,"report":{"#),
    ] {
        browser.run(press, &[json!(button)]).expect("a button");
        says(answer);
    }
    let kept = "return Object.keys(document.querySelector('iframe').contentWindow.localStorage).length;";
    assert_eq!(browser.run(kept, &[]).expect("a script"), json!(0));
    no_complaints(&browser);
}
