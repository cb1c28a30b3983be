//! Scenarios and links that must keep their meaning for ever.
//!
//! `TIDEGATE_REFRESH=1 cargo test -p tidegate-tests --test golden_links` rewrites what is generated (layout of
//! the presets, JSON Schema) and adds links for presets that have none yet. A golden link that exists is never
//! written again: somebody may have shared it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tidegate_core::link;
use tidegate_core::scenario::{parse, presets};

/// Golden links that are not of a preset, and how they were made: `z` from JSON text, or as written by hand.
const MADE: &[(&str, Made)] = &[
    ("everything", Made::Packed(EVERYTHING)),
    ("unknown-fields", Made::Packed(UNKNOWN)),
    (
        "hand-minimal",
        Made::Written(
            r#"t1j.{"tidegate":1,"classes":[{"name":"Web"}],"stages":[{"name":"Serve","workers":1,"work":{"at":"servers"}}],"servers":[{"name":"api-1"}]}"#,
        ),
    ),
    (
        "hand-encoded",
        Made::Written(
            "#t1j.%7B%22tidegate%22%3A1%2C%22title%22%3A%22A%26B%20%E4%BA%BA%22%2C%22classes%22%3A%5B%7B%22name%22%3A%22Web%22%2C%22load%22%3A%7B%22kind%22%3A%22poisson%22%2C%22rate_per_s%22%3A0.5%7D%7D%5D%2C%22stages%22%3A%5B%7B%22name%22%3A%22Accept%22%2C%22workers%22%3A2%2C%22work%22%3A%7B%22at%22%3A%22stage%22%2C%22service%22%3A%7B%22law%22%3A%22constant%22%2C%22mean_us%22%3A5%7D%7D%7D%5D%7D",
        ),
    ),
    (
        "hand-unknown-fields",
        Made::Written(
            r#"t1j.{"tidegate":1,"mood":"calm","classes":[{"name":"Web","colour":"teal"}],"stages":[{"name":"Serve","workers":1,"work":{"at":"servers","later":{"b":[1,2.5],"a":null}}}],"servers":[{"name":"api-1"}]}"#,
        ),
    ),
    (
        "view",
        Made::Viewed(
            "mm1",
            "&at=12.5&play=0&speed=4&cmp=1&rep=10&theme=dark&lang=zh&embed=1&ctl=load,policy&h=0123456789ab&new=1",
        ),
    ),
];

enum Made {
    /// JSON text that is packed with codec `z`.
    Packed(&'static str),
    /// A link written by hand.
    Written(&'static str),
    /// The link of a preset behind an address, with view parameters.
    Viewed(&'static str, &'static str),
}

/// Every field, law, load, rule and event of version 1.
const EVERYTHING: &str = r##"{"tidegate":1,"title":"Everything \"1\"","about":"All fields of version 1.\nÜber 人","eng":"1",
"run":{"seed":9007199254740991,"horizon_us":120000000,"warmup_us":5000000},
"classes":[
{"name":"a","priority":15,"delay_weight":0.125,"deadline_us":250000,"load":{"kind":"poisson","rate_per_s":12.5},"service":{"law":"constant","mean_us":1},
"rules":[{"path":"/pay/**","host":"*.example.org","method":"POST","header":"x-class","value":"gold*","client":"10.0.0.0/8","from":"anyone"},{"client":"2001:db8::1"}]},
{"name":"b","load":{"kind":"deterministic","rate_per_s":1e-7,"count":3},"service":{"law":"uniform","min_us":1,"max_us":2}},
{"name":"c","load":{"kind":"mmpp","phases":[{"rate_per_s":0,"mean_us":1000},{"rate_per_s":1000000,"mean_us":20}]},"service":{"law":"erlang","mean_us":64,"k":64}},
{"name":"d","load":{"kind":"closed","clients":7,"think":{"law":"exponential","mean_us":9},"count":11},"service":{"law":"hyperexponential","mean_us":5,"cv":1.25}},
{"name":"e","load":{"kind":"trace","label":"*"},"service":{"law":"lognormal","mean_us":5,"cv":0.3333333333333333}},
{"name":"f","load":{"kind":"trace"},"service":{"law":"pareto","mean_us":5,"alpha":1.1,"ratio":1000000000}}],
"stages":[
{"name":"one","workers":6,"split":[1,1,1,1,1,1],"order":"fifo","queue":{"policy":"tail_drop","limit":0,"per":"stage"},"work":{"at":"stage","service":{"law":"exponential","mean_us":3}}},
{"name":"two","workers":2,"work":{"at":"servers"}}],
"balancer":{"policy":"round_robin"},
"servers":[{"name":"x","slots":3,"speed":0.001,"max_in_flight":2},{"name":"y"}],
"events":[{"at_us":1,"do":"load","class":"a","factor":0},{"at_us":2,"do":"load","factor":2.5},{"at_us":3,"do":"server_down","server":"x"},{"at_us":4,"do":"server_up","server":"x"},{"at_us":5,"do":"server_speed","server":"y","speed":1000}]}"##;

/// Fields of a later release, also inside something that is otherwise left out.
const UNKNOWN: &str = r#"{"tidegate":1,"title":"From a later release","classes":[{"name":"Web","badge":{"b":1,"a":[]}}],
"stages":[{"name":"Serve","workers":1,"work":{"at":"servers"},"queue":{"policy":"tail_drop","smooth":true}}],
"balancer":{"policy":"least_connections","tie":"random"},"servers":[{"name":"api-1"}],"zones":["a","b"]}"#;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_path_buf()
}

fn refreshing() -> bool {
    std::env::var_os("TIDEGATE_REFRESH").is_some()
}

fn write(path: &Path, text: &str) {
    let folder = path.parent().expect("a file is in a folder");
    std::fs::create_dir_all(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    std::fs::write(path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

fn read(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    // A checkout may turn line ends; no file here has one that matters.
    text.replace("\r\n", "\n")
}

/// Compares a generated file with what it should be, or writes it.
fn keep(path: &str, want: &str) {
    let path = root().join(path);
    if refreshing() {
        write(&path, want);
    }
    assert!(read(&path) == want, "{} is out of date; run this test with TIDEGATE_REFRESH=1", path.display());
}

#[test]
fn preset_files_are_laid_out_as_the_program_writes_them() {
    for preset in presets::ALL {
        let file = format!("core/presets/{}.json", preset.name);
        let text = read(&root().join(&file));
        let parsed = parse::parse_json(&text).unwrap_or_else(|e| panic!("{file}: {e}"));
        keep(&file, &parse::to_pretty_json(&parsed.wire));
    }
}

#[test]
fn the_published_schema_is_current() {
    let mut text = serde_json::to_string_pretty(&parse::json_schema()).expect("a schema is JSON");
    text.push('\n');
    keep("docs/scenario.schema.json", &text);
}

fn folder() -> PathBuf {
    root().join("tests/golden/links")
}

/// Links by name that there have to be files for.
fn expected() -> Vec<(String, String)> {
    let of_preset = |name: &str| {
        let preset = presets::get(name).unwrap_or_else(|| panic!("no preset {name}"));
        link::encode(preset.scenario().wire())
    };
    let made = MADE.iter().map(|(name, made)| {
        let text = match made {
            Made::Written(text) => (*text).to_string(),
            Made::Packed(json) => link::open(json).unwrap_or_else(|e| panic!("{name}: {e}")).to_text(),
            Made::Viewed(preset, view) => {
                format!("https://tidegate.example/v/0.1.0/#{}{view}", of_preset(preset))
            }
        };
        ((*name).to_string(), text)
    });
    presets::ALL.iter().map(|p| (format!("preset-{}", p.name), of_preset(p.name))).chain(made).collect()
}

#[test]
fn every_golden_link_opens_and_means_what_it_meant() {
    if refreshing() {
        for (name, text) in expected() {
            let path = folder().join(format!("{name}.link"));
            if !path.exists() {
                let link = link::decode(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
                write(&path, &(text + "\n"));
                write(&path.with_extension("json"), &(link.parsed.to_canonical_json() + "\n"));
                if !link.view.to_text().is_empty() {
                    write(&path.with_extension("view"), &(link.view.to_text() + "\n"));
                }
            }
        }
    }
    let mut seen = BTreeSet::new();
    for entry in std::fs::read_dir(folder()).expect("golden links are committed") {
        let path = entry.expect("a readable folder").path();
        if path.extension().is_none_or(|extension| extension != "link") {
            continue;
        }
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let link = link::decode(&read(&path)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let json = link.parsed.to_canonical_json();
        assert_eq!(json, read(&path.with_extension("json")).trim_end(), "{name} means something else now");
        let view = path.with_extension("view");
        let view = if view.exists() { read(&view) } else { String::new() };
        assert_eq!(link.view.to_text(), view.trim_end(), "{name} is shown differently now");
        link.parsed.clone().check().unwrap_or_else(|e| panic!("{name} does not run any more: {e}"));
        assert_eq!(link::decode(&link.to_text()).as_ref(), Ok(&link), "{name} changes when shared again");
        seen.insert(name);
    }
    for (name, _) in expected() {
        assert!(seen.contains(&name), "{name} has no golden link; run this test with TIDEGATE_REFRESH=1");
    }
}
