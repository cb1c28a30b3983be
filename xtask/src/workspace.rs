//! Where things are: the repository and its build folders.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The places a chore works in.
pub(crate) struct Workspace {
    /// The repository.
    pub(crate) root: PathBuf,
    /// Cargo's target folder for the host.
    pub(crate) target: PathBuf,
}

impl Workspace {
    /// Finds the repository that this xtask was started from.
    ///
    /// # Errors
    /// When the manifest that cargo names has no parent folder, or that is gone.
    pub(crate) fn locate() -> Result<Self> {
        // Cargo sets the variable at run time; the compiled-in value serves a binary started by hand.
        let manifest =
            env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned());
        let root = Path::new(&manifest).parent().context("xtask/ has no parent folder")?;
        let root = root.canonicalize().with_context(|| format!("no folder {}", root.display()))?;
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => root.join(folder),
            None => root.join("target"),
        };
        Ok(Self { root, target })
    }

    /// The folder that the browser is served from.
    pub(crate) fn www(&self) -> PathBuf {
        self.root.join("www")
    }

    /// The generated part of [`www`](Self::www).
    pub(crate) fn pkg(&self) -> PathBuf {
        self.www().join("pkg")
    }

    /// The `tidegate` binary of a profile (`debug` or `release`).
    pub(crate) fn binary(&self, profile: &str) -> PathBuf {
        self.target.join(profile).join(format!("tidegate{}", env::consts::EXE_SUFFIX))
    }
}
