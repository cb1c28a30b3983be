//! `tidegate presets`: the built-in scenarios.

use serde_json::{Value, json};
use tidegate_core::link;
use tidegate_core::scenario::parse;
use tidegate_core::scenario::presets::{self, Preset};
use tidegate_core::scenario::v1::LoadV1;

use crate::cli::{PresetFormat, PresetsArgs};
use crate::text::{BOLD, DIM, Table, styled};
use crate::{output, source};

/// Lists the presets, or prints one.
///
/// # Errors
/// [`BadScenario`](crate::failure::BadScenario) if there is no preset of that name.
pub(crate) fn run(args: &PresetsArgs) -> anyhow::Result<()> {
    let text = match &args.name {
        None => list(args.format)?,
        Some(name) => {
            let name = name.strip_prefix("preset:").unwrap_or(name);
            one(presets::get(name).ok_or_else(|| source::unknown_preset(name))?, args.format)?
        }
    };
    output::print(&text)
}

fn list(format: PresetFormat) -> anyhow::Result<String> {
    Ok(match format {
        PresetFormat::Table => {
            let mut table = Table::new(["<name", "<question"]);
            for preset in presets::ALL {
                table.row([preset.name.into(), preset.question.into()]);
            }
            let hint = "`tidegate presets NAME` shows one, `tidegate simulate preset:NAME` runs it.";
            format!("{}\n{}\n", table.render(), styled(DIM, hint))
        }
        PresetFormat::Json => {
            let list = presets::ALL.iter().map(described).collect::<anyhow::Result<Vec<_>>>()?;
            format!("{:#}\n", Value::Array(list))
        }
        PresetFormat::Toml => {
            anyhow::bail!("TOML is for one preset: tidegate presets NAME --format toml")
        }
    })
}

fn described(preset: &Preset) -> anyhow::Result<Value> {
    let classes = preset.scenario().classes;
    Ok(json!({
        "name": preset.name,
        "title": preset.title,
        "question": preset.question,
        "look_for": preset.look_for,
        "link": link_to(preset)?,
        // Whether it only runs with recorded traffic handed to it.
        "needs_input": classes.iter().any(|class| matches!(class.load, LoadV1::Trace { .. })),
    }))
}

fn link_to(preset: &Preset) -> anyhow::Result<String> {
    let parsed = parse::parse_json(preset.json()).map_err(source::bad)?;
    Ok(format!("#{}", link::encode(&parsed.wire)))
}

fn one(preset: &Preset, format: PresetFormat) -> anyhow::Result<String> {
    Ok(match format {
        PresetFormat::Json => format!("{}\n", preset.json().trim_end()),
        PresetFormat::Toml => to_toml(preset)?,
        PresetFormat::Table => format!(
            "{}  {}\n\n{}\n{}\n\n{}\n{}\n",
            styled(BOLD, preset.title),
            styled(DIM, format!("preset:{}", preset.name)),
            preset.question,
            styled(DIM, preset.look_for),
            link_to(preset)?,
            preset.json().trim_end(),
        ),
    })
}

fn to_toml(preset: &Preset) -> anyhow::Result<String> {
    let parsed = parse::parse_json(preset.json()).map_err(source::bad)?;
    let body = source::to_toml(&parsed)?;
    Ok(format!("# {}: {}\n# {}\n{body}", preset.title, preset.question, preset.look_for))
}
