//! The page's module outside of the page: in Node, and in an empty page of Chromium.
//!
//! Both run the files that the page is served, not a build of their own.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::workspace::Workspace;
use crate::{browser, files, process, static_server, web, webdriver};

/// Node with a copy of the module.
pub(crate) struct Node {
    program: PathBuf,
    script: PathBuf,
}

impl Node {
    /// Lays the module out where Node takes it for what it is, an ES module.
    ///
    /// # Errors
    /// When Node is missing, or the copy cannot be written.
    pub(crate) fn prepare(workspace: &Workspace) -> Result<Self> {
        let folder = workspace.target.join("node");
        for part in ["pkg", "module"] {
            let from = workspace.www().join(part);
            let sources = if from.is_dir() { files::walk(&from, &|_| false)? } else { Vec::new() };
            for file in sources {
                files::write_if_changed(
                    &folder.join(part).join(files::relative(&from, &file)),
                    &files::read(&file)?,
                )?;
            }
        }
        files::write_if_changed(&folder.join("package.json"), b"{ \"type\": \"module\" }\n")?;
        let script = folder.join("node.mjs");
        files::write_if_changed(&script, include_bytes!("../js/node.mjs"))?;
        Ok(Self { program: browser::node()?, script })
    }

    /// Runs the body of an async function that sees the page's module as `tidegate`, the one for programs as
    /// `programs`, and what it is given as `args`, and returns a string.
    ///
    /// # Errors
    /// When it throws.
    pub(crate) fn run(&self, body: &str, arguments: &[&str]) -> Result<String> {
        process::output(Command::new(&self.program).arg(&self.script).arg(body).args(arguments))
    }

    /// Calls a function of the module that takes and returns strings.
    ///
    /// # Errors
    /// When it throws.
    pub(crate) fn call(&self, function: &str, arguments: &[&str]) -> Result<String> {
        let all: Vec<&str> = [function].into_iter().chain(arguments.iter().copied()).collect();
        self.run("return tidegate[args[0]](...args.slice(1));", &all)
    }
}

/// A page in Chromium that has loaded the module, and does nothing else.
pub(crate) struct Page {
    browser: webdriver::Browser,
}

impl Page {
    /// Serves `www` and loads the module into an empty page.
    ///
    /// # Errors
    /// When the browser is missing or cannot load the module.
    pub(crate) fn open(www: &Path) -> Result<Self> {
        let found = browser::chromium()?;
        let address = static_server::serve(www.to_owned())?;
        let browser = webdriver::Browser::start(&found.chromium, &found.driver)?;
        browser.open(&format!("http://{address}{}", static_server::BLANK))?;
        let load = "globalThis.tidegate = await import(`${arguments[0]}.js`);
            await tidegate.default({ module_or_path: `${arguments[0]}_bg.wasm` });";
        browser.run_async(load, &[json!(format!("/pkg/{}", web::MODULE))]).context("loading the module")?;
        Ok(Self { browser })
    }

    /// Runs the body of an async function that sees the module as `tidegate`.
    ///
    /// # Errors
    /// When it throws.
    pub(crate) fn run(&self, body: &str, arguments: &[Value]) -> Result<Value> {
        Ok(self.browser.run_async(body, arguments)?)
    }

    /// Calls a function of the module that takes and returns strings.
    ///
    /// # Errors
    /// When it throws.
    pub(crate) fn call(&self, function: &str, arguments: &[&str]) -> Result<String> {
        let call = "const [name, args] = arguments; return await tidegate[name](...args);";
        match self.run(call, &[json!(function), json!(arguments)])? {
            Value::String(text) => Ok(text),
            other => bail!("{function} returned {other} in Chromium, not a string"),
        }
    }
}
