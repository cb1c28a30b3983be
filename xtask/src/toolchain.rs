//! Finds a compiler for WebAssembly, or installs one.
//!
//! The order: what `TIDEGATE_WASM_TOOLCHAIN` asks for; a target that the present toolchain already has; `rustup target
//! add` with a time limit; Debian's compiler, for which [`stdlib`] builds the standard library once.
//! Deliberately no `rust-toolchain.toml`: it would make rustup download a compiler that nobody needs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;
use crate::{packages, process, say, stdlib};

/// The variable that forces a choice.
const CHOICE: &str = "TIDEGATE_WASM_TOOLCHAIN";
/// `rustup target add` may wait on a network that does not answer.
const RUSTUP_LIMIT: Duration = Duration::from_secs(60);
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_PACKAGES: &[&str] = &["rustc-web", "cargo-web", "rust-web-src"];
const DEBIAN_LINTER_PACKAGE: &str = "rust-web-clippy";

/// What a WebAssembly build is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The page: std is there, though most of it does nothing.
    Browser,
    /// No std at all: proof that the core needs none.
    Bare,
}

impl Target {
    /// The name that rustc knows it by.
    pub(crate) fn triple(self) -> &'static str {
        match self {
            Self::Browser => "wasm32-unknown-unknown",
            Self::Bare => "wasm32v1-none",
        }
    }

    /// The name of a variable of cargo that concerns this target.
    pub(crate) fn variable(self, what: &str) -> String {
        format!("CARGO_TARGET_{}_{what}", self.triple().to_uppercase().replace('-', "_"))
    }
}

/// A compiler that can build for one [`Target`].
pub(crate) enum WasmToolchain {
    /// The toolchain that runs xtask has the target.
    Present(Target),
    /// Debian's compiler with our own build of the standard library.
    Debian(Target, Debian),
}

/// Debian's compiler and what it lacks.
pub(crate) struct Debian {
    pub(crate) version: Version,
    pub(crate) linker: PathBuf,
    sysroot: PathBuf,
}

impl WasmToolchain {
    /// Finds or installs a compiler for `target`.
    ///
    /// # Errors
    /// With the one command that would help.
    pub(crate) fn find(workspace: &Workspace, target: Target) -> Result<Self> {
        if debian_is_forced()? {
            return Self::debian(workspace, target);
        }
        if has_target(target)? || add_by_rustup(target) {
            return Ok(Self::Present(target));
        }
        say::note("falling back on Debian's compiler for WebAssembly");
        Self::debian(workspace, target)
    }

    fn debian(workspace: &Workspace, target: Target) -> Result<Self> {
        let version = debian_compiler()?;
        let linker = linker(&version)?;
        let sysroot = stdlib::ensure(workspace, target, &version, &linker)?;
        Ok(Self::Debian(target, Debian { version, linker, sysroot }))
    }

    /// A cargo command in the repository for this target; `--target` and `--target-dir` are left to [`place`](Self::place).
    pub(crate) fn cargo(&self, workspace: &Workspace) -> Command {
        match self {
            Self::Present(_) => process::host_cargo(&workspace.root),
            Self::Debian(target, debian) => {
                let mut command = debian_cargo(&workspace.root);
                command.env(target.variable("LINKER"), &debian.linker);
                let flags = format!("--sysroot={} {}", debian.sysroot.display(), target.flags());
                command.env(target.variable("RUSTFLAGS"), flags);
                if !target.flags().is_empty() {
                    command.env(stdlib::UNLOCK.0, stdlib::UNLOCK.1);
                }
                command
            }
        }
    }

    /// The words that send a build of this toolchain to its own folder: two compilers in one folder would fight over
    /// the lock and the cache.
    pub(crate) fn place(&self, workspace: &Workspace) -> [String; 4] {
        let folder = workspace.target.join("wasm");
        let words = ["--target", self.target().triple(), "--target-dir"];
        let [a, b, c] = words.map(str::to_owned);
        [a, b, c, folder.display().to_string()]
    }

    fn target(&self) -> Target {
        match self {
            Self::Present(target) | Self::Debian(target, _) => *target,
        }
    }

    /// Makes sure that `cargo clippy` works with this toolchain.
    ///
    /// # Errors
    /// With the command that would help.
    pub(crate) fn ensure_linter(&self) -> Result<()> {
        match self {
            Self::Present(_) => Ok(()),
            Self::Debian(..) if Path::new("/usr/bin/cargo-clippy").is_file() => Ok(()),
            Self::Debian(..) => {
                packages::install("the linter of Debian's compiler", &[DEBIAN_LINTER_PACKAGE])
            }
        }
    }

    /// Whether its std is built for size, as the page's budget supposes.
    pub(crate) fn is_for_size(&self) -> bool {
        matches!(self, Self::Debian(..))
    }

    /// Which compiler this is, for people.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Present(target) => format!("the present toolchain, target {}", target.triple()),
            Self::Debian(target, debian) => {
                format!(
                    "Debian's rustc {} with its std built here, target {}",
                    debian.version.release,
                    target.triple()
                )
            }
        }
    }
}

/// Debian's cargo told to use Debian's rustc.
pub(crate) fn debian_cargo(folder: &Path) -> Command {
    let mut command = process::foreign_cargo(Path::new(DEBIAN_CARGO), folder);
    command.env("RUSTC", DEBIAN_RUSTC);
    // Debian's cargo looks for its neighbours (cargo-clippy, clippy-driver) on the search path; rustup's come first there.
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = [PathBuf::from("/usr/bin")].into_iter().chain(env::split_paths(&path));
    if let Ok(path) = env::join_paths(folders) {
        command.env("PATH", path);
    }
    command
}

fn debian_is_forced() -> Result<bool> {
    match env::var(CHOICE).as_deref() {
        Err(_) | Ok("") => Ok(false),
        Ok("debian") => Ok(true),
        Ok(other) => bail!("{CHOICE}: expected debian or nothing, got {other}"),
    }
}

/// Whether the present toolchain has the target's library. rustc names a folder even when nothing is installed, so the
/// folder is looked into.
fn has_target(target: Target) -> Result<bool> {
    let folder =
        process::output(host_rustc().args(["--print", "target-libdir", "--target", target.triple()]))?;
    Ok(fs::read_dir(folder.trim()).is_ok_and(|mut entries| entries.next().is_some()))
}

fn host_rustc() -> Command {
    Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

/// The machine that the present toolchain runs on.
///
/// # Errors
/// When there is no rustc.
pub(crate) fn host_triple() -> Result<String> {
    let text = process::output(host_rustc().arg("-vV"))?;
    Ok(Version::parse(&text).context("rustc -vV names no host")?.host)
}

fn add_by_rustup(target: Target) -> bool {
    let Some(rustup) = process::find("rustup") else { return false };
    let triple = target.triple();
    say::heading(&format!("Adding the target {triple}: rustup target add {triple}"));
    match process::run_within(Command::new(rustup).args(["target", "add", triple]), RUSTUP_LIMIT) {
        Ok(()) => has_target(target).unwrap_or(false),
        Err(error) => {
            say::note(&format!("{error}"));
            false
        }
    }
}

/// Debian's compiler, installed when missing.
fn debian_compiler() -> Result<Version> {
    if let Some(version) = usable_debian_compiler() {
        return Ok(version);
    }
    if process::find("apt-get").is_none() {
        let what = "no compiler for WebAssembly was found (this needs rustup, or Debian's packages)";
        return Err(say::with_remedy(what, &format!("rustup target add {}", Target::Browser.triple())));
    }
    packages::install("a compiler for WebAssembly", DEBIAN_PACKAGES)?;
    usable_debian_compiler().with_context(|| {
        let names = DEBIAN_PACKAGES.join(" ");
        format!(
            "the packages {names} are installed, but give no rustc of {} or later with its sources",
            minimum()
        )
    })
}

/// The oldest compiler that our code is written for.
fn minimum() -> &'static str {
    env!("CARGO_PKG_RUST_VERSION")
}

fn usable_debian_compiler() -> Option<Version> {
    let text =
        process::output(process::foreign_cargo(Path::new(DEBIAN_RUSTC), Path::new("/")).arg("-vV")).ok()?;
    let version = Version::parse(&text)?;
    let sources = Path::new("/usr/lib/rustlib/src/rust/library/std/Cargo.toml");
    let usable = version.is_at_least(minimum()) && Path::new(DEBIAN_CARGO).is_file() && sources.is_file();
    usable.then_some(version)
}

/// A linker for WebAssembly: the present toolchain's, else Debian's of the same LLVM.
fn linker(version: &Version) -> Result<PathBuf> {
    if let Some(lld) = lld_of_present_toolchain() {
        return Ok(lld);
    }
    let (name, package) = (format!("wasm-ld-{}", version.llvm), format!("lld-{}", version.llvm));
    let path = Path::new("/usr/bin").join(name);
    if !path.is_file() {
        packages::install("a linker for WebAssembly", &[&package])?;
    }
    Ok(path)
}

fn lld_of_present_toolchain() -> Option<PathBuf> {
    let sysroot = process::output(host_rustc().args(["--print", "sysroot"])).ok()?;
    let path = Path::new(sysroot.trim()).join("lib/rustlib").join(host_triple().ok()?).join("bin/rust-lld");
    path.is_file().then_some(path)
}

/// What `rustc -vV` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) release: String,
    pub(crate) commit: String,
    host: String,
    llvm: String,
}

impl Version {
    fn parse(text: &str) -> Option<Self> {
        let field =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(|v| v.trim().to_owned());
        Some(Self {
            release: field("release:")?,
            commit: field("commit-hash:")?,
            host: field("host:")?,
            llvm: field("LLVM version:")?.split('.').next()?.to_owned(),
        })
    }

    /// Compares with `major.minor`.
    fn is_at_least(&self, minimum: &str) -> bool {
        let numbers =
            |text: &str| text.split(['.', '-']).take(2).filter_map(|n| n.parse().ok()).collect::<Vec<u32>>();
        numbers(&self.release) >= numbers(minimum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)\nbinary: rustc\n\
        commit-hash: ac68faa20c58\ncommit-date: 2026-05-25\nhost: x86_64-unknown-linux-gnu\nrelease: 1.96.0\n\
        LLVM version: 22.1.8\n";

    #[test]
    fn the_version_is_read_from_rustc() {
        let version = Version::parse(TEXT).expect("the text of a real compiler");
        assert_eq!((version.release.as_str(), version.llvm.as_str()), ("1.96.0", "22"));
        assert_eq!(version.commit, "ac68faa20c58");
    }

    #[test]
    fn releases_compare_as_numbers() {
        let version = Version::parse(TEXT).expect("the text of a real compiler");
        assert!(version.is_at_least("1.89") && version.is_at_least("1.96"));
        assert!(!version.is_at_least("1.100"), "1.100 is later than 1.96");
    }

    #[test]
    fn variables_are_named_as_cargo_wants_them() {
        assert_eq!(Target::Bare.variable("LINKER"), "CARGO_TARGET_WASM32V1_NONE_LINKER");
        assert_eq!(Target::Browser.variable("RUSTFLAGS"), "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS");
    }
}
