//! The page's module and the one for programs outside of the page: in Node, and in an empty page of Chromium.
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
}

/// A page in Chromium that has loaded both modules, and does nothing else.
pub(crate) struct Page {
    browser: webdriver::Browser,
}

impl Page {
    /// Serves `www` and loads the modules into an empty page.
    ///
    /// # Errors
    /// When the browser is missing or cannot load a module.
    pub(crate) fn open(www: &Path) -> Result<Self> {
        let found = browser::chromium()?;
        let address = static_server::serve(www.to_owned())?;
        let browser = webdriver::Browser::chromium(&found.chromium, &found.driver)?;
        browser.open(&format!("http://{address}{}", static_server::BLANK))?;
        let load = "globalThis[arguments[0]] = await import(`${arguments[1]}.js`);
            await globalThis[arguments[0]].default({ module_or_path: `${arguments[1]}_bg.wasm` });";
        for (name, path) in
            [("tidegate", format!("/pkg/{}", web::MODULE)), ("programs", web::FOR_PROGRAMS_PATH.to_owned())]
        {
            browser
                .run_async(load, &[json!(name), json!(path)])
                .with_context(|| format!("loading {path}"))?;
        }
        Ok(Self { browser })
    }

    /// Runs the body of an async function that sees the page's module as `tidegate`, and the one for programs as
    /// `programs`.
    ///
    /// # Errors
    /// When it throws.
    pub(crate) fn run(&self, body: &str, arguments: &[Value]) -> Result<Value> {
        Ok(self.browser.run_async(body, arguments)?)
    }

    /// The same with texts, which it sees as `args`, and a text, as in Node.
    ///
    /// # Errors
    /// When it throws, or returns no text.
    pub(crate) fn run_text(&self, body: &str, arguments: &[&str]) -> Result<String> {
        match self.run(&format!("const [args] = arguments; {body}"), &[json!(arguments)])? {
            Value::String(text) => Ok(text),
            other => bail!("{other} in Chromium, not a text"),
        }
    }
}
