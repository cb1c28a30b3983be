//! Every chore of this repository, as `cargo xtask …`.
//!
//! Each command does what its name says from a fresh clone: it looks for the tools it needs, installs them where
//! that can be done without a question, and otherwise stops with the one command that would help. A second run
//! does no work twice. Nothing here is part of the product.

mod bench;
mod browser;
mod cli;
mod files;
mod glue;
mod locals;
mod module;
mod order;
mod packages;
mod parity;
mod play;
mod process;
mod say;
mod site;
mod split;
mod static_server;
mod stdlib;
mod test;
mod tidy;
mod toolchain;
mod types;
mod uses;
mod web;
mod workspace;

// The small WebDriver client lives with the tests. It is compiled in here as a file, not as a dependency, so that
// `cargo xtask` still starts when the core that the tests depend on does not compile.
#[path = "../../tests/src/webdriver/mod.rs"]
#[allow(dead_code, unreachable_pub, missing_docs)]
mod webdriver;

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match cli::run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say::failure(&error);
            ExitCode::FAILURE
        }
    }
}
