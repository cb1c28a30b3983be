//! What the browser downloads: packing it, weighing it, and laying it out for a static host.
//!
//! `x.br` and `x.gz` stand beside `x` for servers that choose by `Accept-Encoding`. They have scripts and styles without
//! their comments and indentation, but for those that people are to read. A packed file counts as current only if it unpacks
//! to that, so there is no stamp that could be wrong; and it is never older than its source, so a server may skip one that is.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail, ensure};

use crate::files;
use crate::workspace::Workspace;

/// What the page may weigh, packed: to be seen, played, changed, shared and opened again, in English. Raise it only with what
/// it buys.
const BUDGET: u64 = 350 * 1024;
/// The same with [`LATER`].
const WHOLE_BUDGET: u64 = 450 * 1024;
/// The second part of the page's program, which is loaded when somebody goes towards what is in it; see [`crate::split`].
const LATER: &str = "pkg/tidegate_web_later.wasm";
/// File types that packing makes smaller.
const PACKABLE: &[&str] = &["css", "html", "js", "json", "mjs", "svg", "toml", "txt", "wasm", "webmanifest"];
/// The page's words in Chinese.
pub(crate) const CHINESE: &str = "pkg/zh.txt";
/// The built-in scenarios but the first, which is part of the page's program.
pub(crate) const PRESETS: &str = "pkg/presets.txt";
/// What a visitor of the page loads on request only: words of a language that is not everybody's; built-in scenarios;
/// examples one by one;
/// what makes pictures when one is saved; the simulator's module for programs when a report is, which has a table of its
/// own; what only a page in a frame needs.
const ON_REQUEST: &[&str] =
    &[CHINESE, PRESETS, "scenarios/", "module/", "handover.js", "svg.js", "embed.css", "embed.html"];
/// Of these, what is small and kept at once for when there is no network.
const KEPT: &[&str] = &[CHINESE, PRESETS, "handover.js", "svg.js"];
/// Names the version of the site and the files that are kept for when there is no network; see `www/sw.js`.
pub(crate) const VERSION: &str = "pkg/version.js";
/// The service worker. It is not kept by itself: the browser does that.
const SERVICE_WORKER: &str = "sw.js";
/// The folder of what people read who write programs.
const FOR_READERS: &str = "module";
const BROTLI_WINDOW: u32 = 22;
const BROTLI_QUALITY: u32 = 11;

/// One file that the page is made of. Sizes in bytes.
pub(crate) struct Asset {
    name: String,
    raw: u64,
    gzip: u64,
    brotli: u64,
}

/// Writes the packed neighbours of every packable file below `www` that are missing or out of date.
///
/// # Errors
/// When a file cannot be read or written.
pub(crate) fn pack(www: &Path) -> Result<()> {
    for file in sources(www)? {
        if is_packable(&file) {
            let bytes = files::read(&file)?;
            let bytes = match extension(&file) {
                "css" | "js" if !file.starts_with(www.join(FOR_READERS)) => squeezed(bytes)?,
                _ => bytes,
            };
            pack_as(&file, &bytes, "br", brotli, unbrotli)?;
            pack_as(&file, &bytes, "gz", gzip, ungzip)?;
        }
    }
    remove_orphans(www)
}

type Codec = fn(&[u8]) -> Result<Vec<u8>>;

fn pack_as(file: &Path, bytes: &[u8], suffix: &str, pack: Codec, unpack: Codec) -> Result<()> {
    let packed = with_suffix(file, suffix);
    let current = fs::read(&packed).is_ok_and(|old| unpack(&old).is_ok_and(|old| old == bytes));
    if !current {
        files::write_if_changed(&packed, &pack(bytes)?)?;
    } else if modified(&packed)? < modified(file)? {
        let handle = fs::File::options().append(true).open(&packed)?;
        handle.set_modified(modified(file)?).with_context(|| format!("cannot touch {}", packed.display()))?;
    }
    Ok(())
}

/// A script or styles without comments that fill lines, indentation and empty lines. Line ends stay: in a script they mean
/// something.
fn squeezed(text: Vec<u8>) -> Result<Vec<u8>> {
    let text = String::from_utf8(text).context("a script or styles that are no text")?;
    let mut out = String::with_capacity(text.len());
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    while let Some(line) = lines.next() {
        if line.starts_with("/*") && line.find("*/").is_none_or(|end| end + 2 == line.len()) {
            let _end = (!line.ends_with("*/")).then(|| lines.find(|line| line.ends_with("*/")));
        } else {
            out += line;
            out.push('\n');
        }
    }
    Ok(out.into_bytes())
}

fn modified(file: &Path) -> Result<SystemTime> {
    let time = fs::metadata(file).and_then(|meta| meta.modified());
    time.with_context(|| format!("no time of {}", file.display()))
}

/// Removes packed files whose source is gone.
fn remove_orphans(www: &Path) -> Result<()> {
    for file in files::walk(www, &|_| false)? {
        if is_packed(&file) && !file.with_extension("").is_file() {
            fs::remove_file(&file).with_context(|| format!("cannot remove {}", file.display()))?;
        }
    }
    Ok(())
}

fn brotli(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut packed = Vec::new();
    let mut writer = brotli::CompressorWriter::new(&mut packed, 4096, BROTLI_QUALITY, BROTLI_WINDOW);
    writer.write_all(bytes)?;
    drop(writer);
    Ok(packed)
}

fn unbrotli(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut plain = Vec::new();
    brotli::Decompressor::new(bytes, 4096).read_to_end(&mut plain)?;
    Ok(plain)
}

fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(bytes)?;
    Ok(writer.finish()?)
}

fn ungzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut plain)?;
    Ok(plain)
}

/// The unpacked files of the site.
fn sources(www: &Path) -> Result<Vec<PathBuf>> {
    let mut found = files::walk(www, &|_| false)?;
    found.retain(|file| !is_packed(file) && file.extension().is_none_or(|e| e != "tmp"));
    Ok(found)
}

fn extension(file: &Path) -> &str {
    file.extension().and_then(|e| e.to_str()).unwrap_or("")
}

fn is_packed(file: &Path) -> bool {
    matches!(extension(file), "br" | "gz")
}

fn is_packable(file: &Path) -> bool {
    PACKABLE.contains(&extension(file))
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

fn is_on_request(name: &str) -> bool {
    ON_REQUEST.iter().any(|on_request| name.starts_with(on_request))
}

/// Writes [`VERSION`]: a digest of every file of the site, so that any change makes another version, and the names of
/// those that make up the page.
///
/// # Errors
/// When a file cannot be read or written.
pub(crate) fn name_version(www: &Path) -> Result<()> {
    let mut digest = 0xcbf2_9ce4_8422_2325;
    let mut kept = vec!["./".to_owned()];
    for file in sources(www)? {
        let name = files::relative(www, &file);
        if name == VERSION {
            continue;
        }
        // FNV-1a; the zero ends the name.
        for byte in name.bytes().chain([0]).chain(files::read(&file)?) {
            digest = (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let is_page = !is_on_request(&name) && name != SERVICE_WORKER;
        if is_page || KEPT.contains(&name.as_str()) {
            kept.push(name);
        }
    }
    let kept: Vec<String> = kept.iter().map(|name| format!("{name:?}")).collect();
    let text = format!("self.tidegate = {{ version: \"{digest:016x}\", files: [{}] }};\n", kept.join(", "));
    files::write_if_changed(&www.join(VERSION), text.as_bytes())?;
    Ok(())
}

/// The files that make up the page, without what is loaded on request.
///
/// # Errors
/// When a file cannot be looked at.
pub(crate) fn assets(www: &Path) -> Result<Vec<Asset>> {
    weighed(www, |name| !is_on_request(name))
}

/// The files that are loaded on request, without the examples.
///
/// # Errors
/// When a file cannot be looked at.
pub(crate) fn on_request(www: &Path) -> Result<Vec<Asset>> {
    weighed(www, |name| is_on_request(name) && !name.starts_with("scenarios/"))
}

fn weighed(www: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<Asset>> {
    let size = |file: &Path| fs::metadata(file).map(|meta| meta.len());
    let mut assets = Vec::new();
    for file in sources(www)? {
        let name = files::relative(www, &file);
        if !wanted(&name) {
            continue;
        }
        let raw = size(&file).with_context(|| format!("no size of {}", file.display()))?;
        let packed = |suffix| size(&with_suffix(&file, suffix)).unwrap_or(raw);
        assets.push(Asset { name, raw, gzip: packed("gz"), brotli: packed("br") });
    }
    Ok(assets)
}

/// A table of what the page weighs.
pub(crate) fn table(assets: &[Asset]) -> String {
    let mut text = rows("file", assets);
    let mut row = |what: &str, bytes: u64| {
        let _ = writeln!(text, "{what:<44} {bytes:>29}");
    };
    for (what, weight, budget) in weights(assets) {
        row(what, weight);
        row("  budget", budget);
        if weight > budget {
            row("  over it; from 5 % on it is refused", weight - budget);
        }
    }
    text
}

/// What is held to a budget: what it is, what it weighs with brotli, and what it may.
fn weights(assets: &[Asset]) -> [(&'static str, u64, u64); 2] {
    let all = sum(assets, |a| a.brotli);
    let later = sum(assets, |a| if a.name == LATER { a.brotli } else { 0 });
    [("the page", all - later, BUDGET), ("with its second part", all, WHOLE_BUDGET)]
}

/// A row a file, under a heading, and their sum.
pub(crate) fn rows(heading: &str, assets: &[Asset]) -> String {
    let mut text = format!("{heading:<44} {:>9} {:>9} {:>9}\n", "raw", "gzip", "brotli");
    let mut row = |name: &str, raw: u64, gzip: u64, brotli: u64| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name:<44} {raw:>9} {gzip:>9} {brotli:>9}");
    };
    for a in assets {
        row(&a.name, a.raw, a.gzip, a.brotli);
    }
    row("total", sum(assets, |a| a.raw), sum(assets, |a| a.gzip), sum(assets, |a| a.brotli));
    text
}

fn sum(assets: &[Asset], size: impl Fn(&Asset) -> u64) -> u64 {
    assets.iter().map(size).sum()
}

/// Holds the page to its budgets.
///
/// # Errors
/// When it is over one.
pub(crate) fn check_budget(assets: &[Asset]) -> Result<()> {
    for (what, weight, budget) in weights(assets) {
        ensure!(
            weight <= budget + budget / 20,
            "the page weighs {weight} bytes with brotli ({what}), more than 5 % over its budget of {budget}"
        );
    }
    Ok(())
}

/// Copies the site to a folder that any static host can serve.
///
/// # Errors
/// When `folder` holds something that is not a site of ours, or cannot be written.
pub(crate) fn lay_out(workspace: &Workspace, folder: &Path) -> Result<()> {
    let ours = folder.join("index.html").is_file() && folder.join("pkg").is_dir();
    let empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    if !empty && !ours {
        bail!("{} holds something else; name an empty or new folder", folder.display());
    }
    let www = workspace.www();
    for file in files::walk(&www, &|_| false)? {
        files::write_if_changed(&folder.join(files::relative(&www, &file)), &files::read(&file)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_loses_nothing() {
        let text = "a tide gate lets through what the ditch can carry. ".repeat(50);
        let codecs: [(Codec, Codec); 2] = [(brotli, unbrotli), (gzip, ungzip)];
        for (pack, unpack) in codecs {
            let packed = pack(text.as_bytes()).expect("memory only");
            assert!(packed.len() < text.len() / 4, "packed to {} bytes", packed.len());
            assert_eq!(unpack(&packed).expect("our own output"), text.as_bytes());
        }
    }

    #[test]
    fn scripts_and_styles_travel_without_what_only_people_read() {
        let js = "// Why.\nconst a = 1; // stays\n\n  /** One\n   *  two\n   */\n  call(\"// text\");\n";
        let squeezed =
            |text: &str| String::from_utf8(super::squeezed(text.into()).expect("text")).expect("text");
        assert_eq!(squeezed(js), "const a = 1; // stays\ncall(\"// text\");\n");
        let css =
            "/* of the\n   page */\n:root {\n  --a: 1px; /* stays */\n}\n/* short */\n/* b */ p { top: 0 }\n";
        assert_eq!(squeezed(css), ":root {\n--a: 1px; /* stays */\n}\n/* b */ p { top: 0 }\n");
        assert!(super::squeezed(vec![0xff]).is_err());
    }

    #[test]
    fn a_version_is_of_all_files_and_names_those_of_the_page() {
        let www = std::env::temp_dir().join(format!("tidegate-site-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            files::write_if_changed(&www.join(name), text.as_bytes()).expect("a file");
        };
        for name in [
            "index.html",
            "boot.js",
            "sw.js",
            "svg.js",
            "module/tidegate.js",
            "pkg/page.js",
            CHINESE,
            "boot.js.br",
        ] {
            write(name, name);
        }
        let version = || {
            name_version(&www).expect("a version");
            String::from_utf8(files::read(&www.join(VERSION)).expect("written")).expect("text")
        };
        let first = version();
        assert_eq!(version(), first, "naming it changes nothing");
        assert!(
            first.ends_with("files: [\"./\", \"boot.js\", \"index.html\", \"pkg/page.js\", \"pkg/zh.txt\", \"svg.js\"] };\n"),
            "{first}"
        );
        write("module/tidegate.js", "changed");
        assert_ne!(version(), first);
        files::remove_folder(&www).expect("removed");
    }

    #[test]
    fn a_page_over_a_budget_is_refused() {
        let asset =
            |name: &str, brotli| Asset { name: name.into(), raw: 9 * BUDGET, gzip: 2 * BUDGET, brotli };
        let most = |budget| budget + budget / 20;
        let (first, all) = (most(BUDGET), most(WHOLE_BUDGET));
        assert!(check_budget(&[asset("x.js", first), asset(LATER, all - first)]).is_ok());
        for (page, over) in [
            ([asset("x.js", first), asset(LATER, all - first + 1)], all + 1),
            ([asset("x.js", first + 1), asset(LATER, 1)], first + 1),
        ] {
            let error = check_budget(&page).unwrap_err().to_string();
            assert!(error.contains(&over.to_string()), "{error}");
        }
    }
}
