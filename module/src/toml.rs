//! A scenario as a TOML file, from its canonical JSON, so that the fields keep the order of the schema.
//!
//! A table's plain values come first, then its tables, as TOML wants it; lists of objects are arrays of tables where
//! their objects hold more than a line does.

use core::fmt::{self, Write};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Values that fit a line of this many characters stay on one.
const LINE: usize = 100;

/// A JSON value whose objects keep their order.
#[derive(Debug)]
enum Node {
    /// A number, text or truth, as TOML writes it.
    Plain(String),
    List(Vec<Node>),
    Table(Vec<(String, Node)>),
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that TOML has a word for")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Plain(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Plain(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Plain(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        // With a point or an exponent, so that it stays a number with a fraction.
        Ok(Node::Plain(format!("{value:?}")))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Plain(quoted(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(node) = from.next_element()? {
            list.push(node);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Node, A::Error> {
        let mut table = Vec::new();
        while let Some(entry) = from.next_entry()? {
            table.push(entry);
        }
        Ok(Node::Table(table))
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

/// A text in double quotes: a basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn key(name: &str) -> String {
    let bare =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if bare { name.to_owned() } else { quoted(name) }
}

impl Node {
    /// The value on one line.
    fn inline(&self) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::List(list) => {
                format!("[{}]", list.iter().map(Self::inline).collect::<Vec<_>>().join(", "))
            }
            Self::Table(table) => {
                let entry = |(name, value): &(String, Self)| format!("{} = {}", key(name), value.inline());
                format!("{{ {} }}", table.iter().map(entry).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Whether it is written under a heading of its own.
    fn has_heading(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Table(_) => self.inline().len() > LINE,
            Self::List(list) => {
                !list.is_empty()
                    && list.iter().all(|item| matches!(item, Self::Table(_)))
                    && self.inline().len() > LINE
            }
        }
    }
}

fn write_table(out: &mut String, path: &str, table: &[(String, Node)]) {
    for (name, value) in table.iter().filter(|(_, value)| !value.has_heading()) {
        let _ = writeln!(out, "{} = {}", key(name), value.inline());
    }
    for (name, value) in table.iter().filter(|(_, value)| value.has_heading()) {
        let path = if path.is_empty() { key(name) } else { format!("{path}.{}", key(name)) };
        match value {
            Node::Table(inner) => {
                let _ = writeln!(out, "\n[{path}]");
                write_table(out, &path, inner);
            }
            Node::List(list) => {
                for item in list {
                    let _ = writeln!(out, "\n[[{path}]]");
                    if let Node::Table(inner) = item {
                        write_table(out, &path, inner);
                    }
                }
            }
            Node::Plain(_) => {}
        }
    }
}

/// The TOML that says what a JSON object says. JSON `null` has no word in TOML; a scenario has none.
///
/// # Errors
/// If it is no JSON object, in words.
pub(crate) fn of_json(json: &str) -> Result<String, String> {
    match serde_json::from_str(json).map_err(|error| error.to_string())? {
        Node::Table(table) => {
            let mut out = String::new();
            write_table(&mut out, "", &table);
            Ok(out)
        }
        other => Err(format!("no object but {}", other.inline())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::scenario::{parse, presets};

    /// The JSON value a TOML text says.
    fn read(text: &str) -> serde_json::Value {
        fn json(value: toml::Value) -> serde_json::Value {
            match value {
                toml::Value::String(text) => text.into(),
                toml::Value::Integer(number) => number.into(),
                toml::Value::Float(number) => number.into(),
                toml::Value::Boolean(truth) => truth.into(),
                toml::Value::Datetime(date) => panic!("a date: {date}"),
                toml::Value::Array(list) => list.into_iter().map(json).collect(),
                toml::Value::Table(table) => {
                    table.into_iter().map(|(name, value)| (name, json(value))).collect()
                }
            }
        }
        json(toml::from_str(text).unwrap_or_else(|e| panic!("{e}\n{text}")))
    }

    #[test]
    fn every_preset_is_the_same_scenario_when_it_is_read_back() {
        for preset in presets::ALL {
            let parsed = parse::parse_json(preset.json()).expect("a preset");
            let text = of_json(&parsed.to_canonical_json()).expect("an object");
            let again = parse::from_value(&read(&text)).unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert_eq!(again, parsed, "{text}");
        }
    }

    #[test]
    fn names_texts_and_numbers_survive() {
        let json = r#"{"a b":"x\"\\\n\u0001é中","empty":[],"f":1e-7,"n":-3,"list":[1,[2]],"t":{}}"#;
        let text = of_json(json).expect("an object");
        assert_eq!(read(&text), serde_json::from_str::<serde_json::Value>(json).expect("JSON"), "{text}");
        assert!(of_json("[]").is_err() && of_json("{").is_err());
    }
}
