//! Scenarios and links that must keep their meaning for ever.
//!
//! `TIDEGATE_REFRESH=1 cargo test -p tidegate-tests --test golden_links` rewrites what is generated (layout of
//! the presets, JSON Schema); the difference is to be read, not just committed.

use std::path::{Path, PathBuf};
use tidegate_core::scenario::{parse, presets};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_path_buf()
}

fn refreshing() -> bool {
    std::env::var_os("TIDEGATE_REFRESH").is_some()
}

/// Compares a generated file with what it should be, or writes it.
fn keep(path: &str, want: &str) {
    let path = root().join(path);
    if refreshing() {
        let folder = path.parent().expect("a file is in a folder");
        std::fs::create_dir_all(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        std::fs::write(&path, want).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    let got = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert!(got == want, "{} is out of date; run this test with TIDEGATE_REFRESH=1", path.display());
}

#[test]
fn preset_files_are_laid_out_as_the_program_writes_them() {
    for preset in presets::ALL {
        let file = format!("core/presets/{}.json", preset.name);
        let text = std::fs::read_to_string(root().join(&file)).expect("a preset has a file");
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
