//! Builds the standard library for WebAssembly, once, where the distribution ships only its source.
//!
//! The result is a private sysroot in `target/wasm-std/<release>-<commit>-<how>`; project builds name it with `--sysroot`.
//! Building std anew in each project build (`-Z build-std`) also works, but repeats it for each profile.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::toolchain::{Target, Version, debian_cargo};
use crate::workspace::Workspace;
use crate::{files, process, say};

/// Name of the crate whose only purpose is to depend on std.
const PROBE: &str = "probe";
/// What the library is built for. The page downloads what it uses of std: sorting and formatting by the plain algorithms are
/// a fraction of the fast ones.
const SIZE: &str = "optimize_for_size";
/// How a panic ends in the browser: at once, without a message. Making messages that nobody sees is 4 % of the page. It has
/// to be the same in all that is linked together, so builds that use this library need the same words.
pub(crate) const SILENT_PANIC: &str = "-Zunstable-options -Cpanic=immediate-abort";
/// What lets a stable compiler take [`SILENT_PANIC`] and `-Zbuild-std`. Build scripts see it too and could choose code for
/// later compilers; the lock file says which they are, and CI builds them so.
pub(crate) const UNLOCK: (&str, &str) = ("RUSTC_BOOTSTRAP", "1");

impl Target {
    /// The parts of the standard library that a build for this target needs.
    fn parts(self) -> &'static str {
        match self {
            Self::Browser => "std,panic_abort",
            Self::Bare => "core,alloc",
        }
    }

    /// The words for the compiler that all builds for this target have in common.
    pub(crate) fn flags(self) -> &'static str {
        match self {
            Self::Browser => SILENT_PANIC,
            Self::Bare => "",
        }
    }

    /// How its library is built, as part of the folder's name: one built otherwise is not taken for it.
    fn how(self) -> String {
        match self {
            Self::Browser => format!("{SIZE}-silent"),
            Self::Bare => SIZE.to_owned(),
        }
    }
}

/// The sysroot with the library of `target`, built if this compiler has none yet.
///
/// # Errors
/// When the build fails.
pub(crate) fn ensure(
    workspace: &Workspace,
    target: Target,
    version: &Version,
    linker: &Path,
) -> Result<PathBuf> {
    // A security update of the compiler changes the commit, and with it the folder.
    let key = format!("{}-{}-{}", version.release, version.commit, target.how());
    let sysroot = workspace.target.join("wasm-std").join(key);
    let ready = sysroot.join(format!("{}.ready", target.triple()));
    if ready.is_file() {
        return Ok(sysroot);
    }
    say::heading(&format!("Building {} for {} (once, about a minute)", target.parts(), target.triple()));
    let start = Instant::now();
    build(target, linker, &sysroot)?;
    // Last, so that an interrupted build is done again.
    fs::write(&ready, "").with_context(|| format!("cannot write {}", ready.display()))?;
    say::note(&format!("built in {}", say::seconds(start.elapsed())));
    Ok(sysroot)
}

fn build(target: Target, linker: &Path, sysroot: &Path) -> Result<()> {
    let probe = sysroot.join(format!("{PROBE}-{}", target.triple()));
    files::remove_folder(&probe)?;
    write_probe(&probe)?;
    let mut cargo = debian_cargo(&probe);
    cargo
        .env(UNLOCK.0, UNLOCK.1)
        .env(target.variable("LINKER"), linker)
        // Bitcode is for the link-time optimisation of the builds that use this library.
        .env(target.variable("RUSTFLAGS"), format!("-Cembed-bitcode=yes {}", target.flags()))
        .args(["build", "--release", "--target", target.triple(), "--target-dir", "t"])
        .arg(format!("-Zbuild-std={}", target.parts()))
        .arg(format!("-Zbuild-std-features={SIZE}"));
    process::run(&mut cargo)?;
    let built = probe.join("t").join(target.triple()).join("release/deps");
    let library = sysroot.join("lib/rustlib").join(target.triple()).join("lib");
    files::remove_folder(&library)?;
    let count = copy_libraries(&built, &library)?;
    ensure!(count > 0, "the build left no library in {}", built.display());
    files::remove_folder(&probe)
}

fn write_probe(folder: &Path) -> Result<()> {
    let manifest = format!(
        "[workspace]\n[package]\nname = \"{PROBE}\"\nedition = \"2021\"\n[profile.release]\nopt-level = \"s\"\npanic = \"abort\"\n"
    );
    files::write_if_changed(&folder.join("Cargo.toml"), manifest.as_bytes())?;
    files::write_if_changed(&folder.join("src/lib.rs"), b"#![no_std]\n")?;
    Ok(())
}

/// Copies every library but the probe's own; returns how many.
fn copy_libraries(from: &Path, to: &Path) -> Result<usize> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    let own = format!("lib{PROBE}-");
    let mut count = 0;
    for path in files::walk(from, &|path| path.is_dir())? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".rlib") && !name.starts_with(&own) {
            fs::copy(&path, to.join(&name)).with_context(|| format!("cannot copy {}", path.display()))?;
            count += 1;
        }
    }
    Ok(count)
}
