//! Builds the page and the simulator's module for programs: compiles `web` and `module` to WebAssembly, generates their
//! JavaScript sides, and packs what the browser loads.
//!
//! Not used: wasm-opt. Its output is smaller unpacked but larger after brotli than what rustc's own optimiser leaves.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use tidegate_core::scenario::presets;
use wasm_bindgen_cli_support::Bindgen;

use crate::toolchain::{Target, WasmToolchain};
use crate::uses::Uses;
use crate::workspace::Workspace;
use crate::{files, glue, locals, order, process, say, site, split, types};

/// Names the generated files: `NAME.js` and `NAME_bg.wasm`.
pub(crate) const MODULE: &str = "tidegate_web";
/// The same for programs, in `www/module`.
const FOR_PROGRAMS: &str = "tidegate";
/// Where it is served, without the endings of its files.
pub(crate) const FOR_PROGRAMS_PATH: &str = "/module/tidegate";
/// What makes the page's files of the compiler's: another maker makes others.
const MADE_BY: &[&str] = &[
    include_str!("glue.rs"),
    include_str!("../js/later.js"),
    include_str!("locals.rs"),
    include_str!("order.rs"),
    include_str!("split.rs"),
    include_str!("types.rs"),
    include_str!("uses.rs"),
];
/// Which functions of the page are in its second part.
const LATER: &str = "web/later.txt";
/// Which call of the first part into the second, as an error of the page numbers it, is of which function; below `target/wasm`.
const CALLS: &str = "later-calls.txt";
pub(crate) const PROFILE: &str = "wasm-release";

/// `cargo xtask web`: builds the page, prints what it weighs, and lays it out in `dist` if asked.
///
/// # Errors
/// When a tool is missing, something does not compile, or the page is over its budget.
pub(crate) fn run(workspace: &Workspace, dist: Option<PathBuf>) -> Result<()> {
    let is_for_size = build(workspace)?;
    let assets = site::assets(&workspace.www())?;
    print!("{}", site::table(&assets));
    print!("\n{}", site::rows("on request, not part of the page", &site::on_request(&workspace.www())?));
    if is_for_size {
        site::check_budget(&assets)?;
    } else {
        say::note(
            "not held to the page's budget: this toolchain's std is built for speed, which makes it larger",
        );
    }
    if let Some(folder) = dist {
        site::lay_out(workspace, &folder)?;
        println!("site for a static host: {}", folder.display());
    }
    Ok(())
}

/// Brings `www/pkg` and the packed files of `www` up to date. Returns whether the toolchain is the one that the budget is for.
///
/// # Errors
/// As [`run`], without the budget.
pub(crate) fn build(workspace: &Workspace) -> Result<bool> {
    let start = Instant::now();
    let toolchain = WasmToolchain::find(workspace, Target::Browser)?;
    say::heading(&format!("Building the page ({})", toolchain.describe()));
    // Two builds: in one, cargo would give each the features that the other asks of what they share.
    // The page is to be split, for which the linker has to say what it knows.
    for (package, to_linker) in [("tidegate-web", "--emit-relocs"), ("tidegate-module", "--gc-sections")] {
        let mut cargo = toolchain.cargo(workspace);
        cargo
            .args(["rustc", "--package", package, "--lib", "--profile", PROFILE])
            .args(toolchain.place(workspace))
            .args(["--", &format!("-Clink-arg={to_linker}")]);
        process::run(&mut cargo)?;
    }
    let compiled = workspace.target.join("wasm").join(Target::Browser.triple()).join(PROFILE);
    generate(workspace, &compiled.join(format!("{MODULE}.wasm")))?;
    write_words(workspace)?;
    write_presets(workspace)?;
    generate_for_programs(workspace, &compiled.join("tidegate_module.wasm"))?;
    site::name_version(&workspace.www())?;
    site::pack(&workspace.www())?;
    say::note(&format!("page built in {}", say::seconds(start.elapsed())));
    Ok(toolchain.is_for_size())
}

/// Runs wasm-bindgen on the module for programs and puts it into `www/module`, with its types. Its JavaScript is left as it
/// comes: people read it.
fn generate_for_programs(workspace: &Workspace, wasm: &Path) -> Result<()> {
    let fresh = workspace.target.join("wasm").join("module");
    let mut output = Bindgen::new()
        .input_bytes(FOR_PROGRAMS, files::read(wasm)?)
        .web(true)?
        .typescript(true)
        .omit_default_module_path(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate_output()
        .context("wasm-bindgen could not process the module for programs")?;
    output.emit(&fresh).context("wasm-bindgen could not write the module for programs")?;
    let folder = workspace.www().join("module");
    for suffix in [".js", ".d.ts", "_bg.wasm"] {
        let name = format!("{FOR_PROGRAMS}{suffix}");
        let made = files::read(&fresh.join(&name))?;
        let made = if suffix == "_bg.wasm" { order::by_likeness(&made)? } else { made };
        files::write_if_changed(&folder.join(&name), &made)?;
    }
    Ok(())
}

/// Writes the page's words that are loaded on request.
fn write_words(workspace: &Workspace) -> Result<()> {
    files::write_if_changed(&workspace.www().join(site::CHINESE), tidegate_words::chinese_text().as_bytes())?;
    Ok(())
}

/// Writes what is loaded of the built-in scenarios on request; see the page's `library`.
fn write_presets(workspace: &Workspace) -> Result<()> {
    let mut text = String::new();
    for (at, preset) in presets::ALL.iter().enumerate() {
        // The first is part of the page's program.
        let json = if at == 0 { "" } else { preset.json() };
        text += &tidegate_words::preset_line(preset.name, preset.question, preset.look_for, json);
    }
    // The page without requests is a card, too.
    text += &tidegate_words::preset_line("empty", "", "", "");
    files::write_if_changed(&workspace.www().join(site::PRESETS), text.as_bytes())?;
    Ok(())
}

/// Runs wasm-bindgen on `wasm`, splits the module in two and brings all to `www/pkg`, touching only what changed.
fn generate(workspace: &Workspace, wasm: &Path) -> Result<()> {
    let fresh = workspace.target.join("wasm").join("pkg");
    let stamp = workspace.target.join("wasm").join("pkg.input");
    let (input, later) = (files::read(wasm)?, files::read(&workspace.root.join(LATER))?);
    // The copy of the input says what `fresh` was made from. It is as large as the module, but cannot be wrong.
    let made_from = [MADE_BY.concat().as_bytes(), &later, &input].concat();
    if fs::read(&stamp).is_ok_and(|old| old == made_from) {
        return mirror(&fresh, &workspace.pkg());
    }
    files::remove_folder(&fresh)?;
    let uses = Uses::read(&input)?;
    let mut output = Bindgen::new()
        .input_bytes(MODULE, input)
        .web(true)?
        .demangle(false)
        .typescript(false)
        .remove_producers_section(true)
        .generate_output()
        .context("wasm-bindgen could not process the module")?;
    let names = glue::number_names(&mut output);
    output.emit(&fresh).context("wasm-bindgen could not write the module")?;
    let module = fresh.join(format!("{MODULE}_bg.wasm"));
    let later = String::from_utf8(later)?;
    let patterns: Vec<&str> =
        later.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let is_later = |name: &str| patterns.iter().any(|pattern| split::begins(name, pattern));
    let whole = locals::by_use(&files::read(&module)?)?;
    let halves = split::split(&whole, &uses, is_later)?;
    files::write_if_changed(&workspace.target.join("wasm").join(CALLS), halves.calls.as_bytes())?;
    for (half, suffix) in [(halves.first, "bg"), (halves.second, "later")] {
        let half = order::by_likeness(&types::by_use(&half)?)?;
        files::write_if_changed(&fresh.join(format!("{MODULE}_{suffix}.wasm")), &half)?;
    }
    let script = fresh.join(format!("{MODULE}.js"));
    let js = fs::read_to_string(&script).with_context(|| format!("cannot read {}", script.display()))?;
    let js = glue::rewrite(&glue::add_later(&js, MODULE)?, &names);
    files::write_if_changed(&script, js.as_bytes())?;
    mirror(&fresh, &workspace.pkg())?;
    files::write_if_changed(&stamp, &made_from)?;
    Ok(())
}

/// Makes `to` hold what `from` holds; packed neighbours (`.br`, `.gz`) of files that stay are left.
fn mirror(from: &Path, to: &Path) -> Result<()> {
    let mut kept = BTreeSet::new();
    for file in files::walk(from, &|_| false)? {
        let name = files::relative(from, &file);
        files::write_if_changed(&to.join(&name), &files::read(&file)?)?;
        kept.insert(name);
    }
    for made_elsewhere in [site::VERSION, site::CHINESE, site::PRESETS] {
        kept.insert(made_elsewhere.rsplit('/').next().unwrap_or_default().to_owned());
    }
    for file in files::walk(to, &|_| false)? {
        let name = files::relative(to, &file);
        let source = name.strip_suffix(".br").or_else(|| name.strip_suffix(".gz")).unwrap_or(&name);
        if !kept.contains(source) {
            fs::remove_file(&file).with_context(|| format!("cannot remove {}", file.display()))?;
        }
    }
    Ok(())
}
