//! Makes the JavaScript side of the page's module smaller than wasm-bindgen leaves it.
//!
//! The module names each function of the browser that it uses by its whole name and a hash, and the JavaScript does so
//! again. Hashes do not compress, and nobody but the two files reads these names: numbers will do.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use wasm_bindgen_cli_support::Output;

use crate::split::STAND_INS;

/// How the names begin that wasm-bindgen makes for what the module imports.
const IMPORT: &str = "__wbg_";
/// How the names begin that the linker knows functions by.
const MANGLED: &str = "_R";

/// Numbers the imports of the module in `output`, and what it exports under the names of the linker; returns the new name of
/// each for [`rewrite`].
pub(crate) fn number_names(output: &mut Output) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    let module = output.wasm_mut();
    let imports = module.imports.iter_mut().map(|import| &mut import.name);
    let imports = imports.filter(|name| name.starts_with(IMPORT));
    let exports = module.exports.iter_mut().map(|export| &mut export.name);
    for name in imports.chain(exports.filter(|name| name.starts_with(MANGLED))) {
        let next = format!("_{}", names.len());
        let new = names.entry(name.clone()).or_insert(next);
        name.clone_from(new);
    }
    names
}

/// `js` with the words of `names` replaced, and without its comments and indentation.
pub(crate) fn rewrite(js: &str, names: &BTreeMap<String, String>) -> String {
    let mut out = String::with_capacity(js.len());
    let mut lines = js.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    while let Some(line) = lines.next() {
        if line.starts_with("/**") {
            let _end = (!line.ends_with("*/")).then(|| lines.find(|line| line.ends_with("*/")));
        } else {
            rename(line, names, &mut out);
            out.push('\n');
        }
    }
    out
}

/// What loads the second part of the program; see [`crate::split`].
const LATER: &str = include_str!("../js/later.js");

/// `js` of the module `name`, with what loads its second part.
///
/// # Errors
/// When it does not look like what wasm-bindgen writes.
pub(crate) fn add_later(js: &str, name: &str) -> Result<String> {
    let imports = format!("\"./{name}_bg.js\": import0,");
    ensure!(js.matches(&imports).count() == 1, "wasm-bindgen gives a module its imports in another way now");
    let with = format!("{imports}\n{STAND_INS}: stand_ins,");
    Ok(js.replace(&imports, &with) + &LATER.replace("NAME", name))
}

/// Appends `line` to `out`, word by word.
fn rename(line: &str, names: &BTreeMap<String, String>, out: &mut String) {
    let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    for piece in line.split_inclusive(|c| !in_word(c)) {
        let word = piece.trim_end_matches(|c| !in_word(c));
        out.push_str(names.get(word).map_or(word, String::as_str));
        out.push_str(&piece[word.len()..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_part_is_asked_for_by_the_name_of_the_first() {
        let js = "const import0 = {};\nreturn {\n__proto__: null,\n\"./page_bg.js\": import0,\n};\n";
        let js = add_later(js, "page").expect("imports are found");
        assert!(js.contains("\"./page_bg.js\": import0,\nl: stand_ins,\n}"), "{js}");
        assert!(js.contains("./page_later.wasm") && !js.contains("NAME_"), "{js}");
        assert!(add_later("return { imports };\n", "page").is_err());
    }

    #[test]
    fn whole_names_are_replaced_and_comments_go() {
        let names = [("__wbg_get_12ab", "_0"), ("__wbg_get", "_1")];
        let names = names.map(|(from, to)| (from.to_owned(), to.to_owned())).into();
        let js = "/**\n * Says what `__wbg_get` is.\n */\nexport function get() {\n    /** One line. */\n\n    // And one.\n    \
            return { __wbg_get_12ab: f(__wbg_get, x__wbg_get, \"/** kept */\") };\n}\n";
        assert_eq!(
            rewrite(js, &names),
            "export function get() {\nreturn { _0: f(_1, x__wbg_get, \"/** kept */\") };\n}\n"
        );
    }
}
