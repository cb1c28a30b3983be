//! `tidegate link`: share links made, read, brought up to date and checked.

use anyhow::bail;
use tidegate_core::link::{self, View};
use tidegate_core::scenario::parse;
use tidegate_core::sim::ENGINE;

use crate::cli::{DecodeFormat, LinkCommand};
use crate::source::{self, Document};
use crate::text::{BOLD, GOOD, WARN, styled};
use crate::{output, simulate};

/// Hex digits of a trace hash that a link carries: its first 48 bits.
const HASH_DIGITS: usize = 12;

/// Does what `command` says.
///
/// # Errors
/// [`BadScenario`](crate::failure::BadScenario) for a wrong scenario or link; for `verify` also a run that differs.
pub(crate) fn run(command: &LinkCommand) -> anyhow::Result<()> {
    match command {
        LinkCommand::Encode { scenario, base, readable, verifiable } => {
            encode(scenario, base.as_deref(), *readable, *verifiable)
        }
        LinkCommand::Decode { link, format } => {
            let parsed = source::load(link)?;
            output::print(&match format {
                DecodeFormat::Json => parsed.to_pretty_json(),
                DecodeFormat::Canonical => format!("{}\n", parsed.to_canonical_json()),
                DecodeFormat::Toml => source::to_toml(&parsed)?,
            })
        }
        LinkCommand::Migrate { link, base } => migrate(link, base.as_deref()),
        LinkCommand::Verify { link } => verify(link),
    }
}

fn encode(scenario: &str, base: Option<&str>, readable: bool, verifiable: bool) -> anyhow::Result<()> {
    let mut parsed = source::load(scenario)?;
    let mut view = View::default();
    if verifiable {
        ENGINE.clone_into(&mut parsed.wire.engine);
    }
    // What cannot be run makes no link, verifiable or not.
    let checked = source::checked(Ok(parsed.clone()))?;
    if verifiable {
        view.hash = Some(short_hash(simulate::trace_hash(&checked)?));
    }
    let text = if readable { link::encode_readable(&parsed) } else { link::encode_parsed(&parsed) };
    print_link(base, &(text + &view.to_text()))
}

fn migrate(reference: &str, base: Option<&str>) -> anyhow::Result<()> {
    let (parsed, mut view) = match source::document(reference)? {
        Document::Value(value) => (parse::from_value(&value).map_err(source::bad)?, View::default()),
        Document::Link(link) => (link.parsed, link.view),
    };
    source::note_unknown(&parsed);
    source::checked(Ok(parsed.clone()))?;
    if parsed.wire.engine != ENGINE && view.hash.take().is_some() {
        let note = styled(WARN, "note:");
        anstream::eprintln!(
            "{note} the hash is left out: it was made by engine {}, this is {ENGINE}; `link encode --verifiable` makes another",
            or_unnamed(&parsed.wire.engine),
        );
    }
    let base = base.or_else(|| reference.split_once('#').map(|(address, _)| address));
    print_link(base, &(link::encode_parsed(&parsed) + &view.to_text()))
}

/// Runs again what a link carries, and compares.
fn verify(reference: &str) -> anyhow::Result<()> {
    let Document::Link(link) = source::document(reference)? else {
        bail!("only a link can be verified: a file carries no hash");
    };
    let Some(want) = link.view.hash else {
        bail!("the link carries no hash (&h=…); `tidegate link encode --verifiable` makes one that does");
    };
    let shared_by = or_unnamed(&link.parsed.wire.engine).to_owned();
    source::note_unknown(&link.parsed);
    let got = short_hash(simulate::trace_hash(&source::checked(Ok(link.parsed))?)?);
    if got != want {
        bail!(
            "the run differs from when it was shared: {got} here, {want} there (engine {shared_by} -> {ENGINE})"
        );
    }
    let verdict = styled(GOOD, "reproduced exactly");
    output::print(&format!("{verdict}: {} (engine {ENGINE})\n", styled(BOLD, got)))
}

fn short_hash(hash: u64) -> String {
    let mut digits = format!("{hash:016x}");
    digits.truncate(HASH_DIGITS);
    digits
}

fn or_unnamed(engine: &str) -> &str {
    if engine.is_empty() { "unnamed" } else { engine }
}

fn print_link(base: Option<&str>, text: &str) -> anyhow::Result<()> {
    let whole = format!("{}#{text}", base.unwrap_or_default());
    let chars = whole.chars().count();
    if chars > link::WARN_CHARS {
        anstream::eprintln!(
            "{} {chars} characters; some chats cut links at {}",
            styled(WARN, "note:"),
            link::WARN_CHARS
        );
    }
    output::print(&format!("{whole}\n"))
}
