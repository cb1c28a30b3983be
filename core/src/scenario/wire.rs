//! How wire types are read, written, checked and described.
//!
//! Each field is declared once, in [`v1`](super::v1), with its doc sentence, rule and default; the macros
//! here derive the reader, the canonical writer, the limit checks and the JSON Schema from that one line.
//! Not `serde`'s derive: errors must name path, rule and value found, unknown fields must survive a round
//! trip, and limits and schema would be a second and third list of the same fields.
//!
//! Nothing here is on a hot path, and some two hundred fields are each read, written and checked by what the macros
//! make. What they call is therefore marked `inline(never)`: copied to each field it would be a tenth of the page.

use super::error::ScenarioError;
use super::json;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use serde_json::{Map, Value, json};

/// Most errors collected from one scenario.
const MAX_ERRORS: usize = 200;

/// Where a value is, from the outermost object inwards.
pub(super) enum Path<'a> {
    /// The scenario itself.
    Root,
    /// A field of an object.
    Key(&'a Path<'a>, &'a str),
    /// An entry of a list.
    Index(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Index(list, i) => write!(f, "{list}[{i}]"),
            Self::Key(object, key) => {
                let plain = !key.is_empty()
                    && key.len() <= 60
                    && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
                if !plain {
                    let mut quoted = String::new();
                    json::push_string(&mut quoted, &json::shorten(key));
                    return write!(f, "{object}[{quoted}]");
                }
                match object {
                    Self::Root => f.write_str(key),
                    _ => write!(f, "{object}.{key}"),
                }
            }
        }
    }
}

/// What a value has to be besides its type: bounds of a number, length of a text or list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    lo: f64,
    hi: f64,
    /// Whether `lo` itself is excluded.
    above: bool,
    /// Whether a text may hold control characters.
    lines: bool,
    /// Rule of a list's entries.
    item: Option<&'static Rule>,
}

/// No rule beyond the type.
pub(super) const ANY: Rule = Rule { lo: 0.0, hi: f64::MAX, above: false, lines: true, item: None };

/// A number from `lo` to `hi`.
pub(super) const fn from_to(lo: f64, hi: f64) -> Rule {
    Rule { lo, hi, ..ANY }
}

/// A whole number from `lo` to `hi`; both at most 2^53.
pub(super) const fn whole(lo: u64, hi: u64) -> Rule {
    from_to(lo as f64, hi as f64)
}

/// A number above `lo` and at most `hi`.
pub(super) const fn above(lo: f64, hi: f64) -> Rule {
    Rule { lo, hi, above: true, ..ANY }
}

/// A text of `lo` to `hi` characters, line breaks allowed.
pub(super) const fn prose(lo: u64, hi: u64) -> Rule {
    whole(lo, hi)
}

/// A text of `lo` to `hi` characters without control characters.
pub(super) const fn line(lo: u64, hi: u64) -> Rule {
    Rule { lines: false, ..whole(lo, hi) }
}

/// A list of `lo` to `hi` entries.
pub(super) const fn list(lo: u64, hi: u64) -> Rule {
    whole(lo, hi)
}

/// A list of `lo` to `hi` entries that each follow `item`.
pub(super) const fn list_of(lo: u64, hi: u64, item: &'static Rule) -> Rule {
    Rule { item: Some(item), ..whole(lo, hi) }
}

impl Rule {
    /// Whether the number, length or count is within the bounds.
    fn allows(&self, x: f64) -> bool {
        x.is_finite() && x <= self.hi && (x > self.lo || (x == self.lo && !self.above))
    }

    /// The bounds of a number in words.
    #[inline(never)]
    fn bounds(&self) -> String {
        let (lo, hi) = (json::number(self.lo), json::number(self.hi));
        if self.above { format!("above {lo} and at most {hi}") } else { format!("from {lo} to {hi}") }
    }

    /// The bounds of a count in words.
    #[inline(never)]
    fn count(&self, what: &str) -> String {
        let (lo, hi) = (json::number(self.lo), json::number(self.hi));
        if self.lo == 0.0 { format!("at most {hi} {what}") } else { format!("{lo} to {hi} {what}") }
    }
}

/// A field that nothing here knows; kept so that writing the scenario again does not lose it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Extra {
    /// Path of the object it is in.
    pub(super) parent: String,
    /// Its key.
    pub(super) key: String,
    /// Its value.
    pub(super) value: Value,
    /// A known key that looks like it.
    pub(super) meant: Option<&'static str>,
}

impl Extra {
    /// Where it is.
    pub(super) fn path(&self) -> String {
        let dot = if self.parent.is_empty() { "" } else { "." };
        let key = Path::Key(&Path::Root, &self.key).to_string();
        if key.starts_with('[') {
            format!("{}{key}", self.parent)
        } else {
            format!("{}{dot}{key}", self.parent)
        }
    }
}

/// Collects what goes wrong, and what is not known, while a scenario is read.
#[derive(Default)]
pub(super) struct Reader {
    /// What is wrong, in schema order.
    pub(super) errors: Vec<ScenarioError>,
    /// What is not known.
    pub(super) extra: Vec<Extra>,
}

impl Reader {
    fn fail(&mut self, error: ScenarioError) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(error);
        }
    }

    /// Notes that `value` is not what it has to be.
    #[cold]
    pub(super) fn misfit(&mut self, value: &Value, path: &Path<'_>, expected: &str) {
        self.fail(ScenarioError::new(path, &expected, &json::shown(value)));
    }

    /// Notes that a value has to be there.
    #[cold]
    fn missing(&mut self, path: &Path<'_>, expected: &str) {
        self.fail(ScenarioError::new(path, &format_args!("required: {expected}"), &"nothing"));
    }
}

/// An object being read: knows which of its keys have been asked for.
pub(super) struct Object<'a> {
    map: &'a Map<String, Value>,
    path: &'a Path<'a>,
    known: Vec<&'static str>,
    /// Set when it cannot be told which fields belong here.
    unclear: bool,
}

impl<'a> Object<'a> {
    pub(super) fn new(map: &'a Map<String, Value>, path: &'a Path<'a>) -> Self {
        Self { map, path, known: Vec::new(), unclear: false }
    }

    /// Counts `key` as known and gives its value.
    #[inline(never)]
    pub(super) fn take(&mut self, key: &'static str) -> Option<&'a Value> {
        self.known.push(key);
        self.map.get(key)
    }

    /// Reads one field; `usual` is its value when left out, `None` if it must be there.
    #[inline(never)]
    pub(super) fn field<T: Wire>(
        &mut self,
        key: &'static str,
        usual: Option<T>,
        rule: &Rule,
        reader: &mut Reader,
    ) -> T {
        let path = Path::Key(self.path, key);
        match (self.take(key), usual) {
            (Some(value), _) => T::read(value, rule, &path, reader),
            (None, Some(usual)) => usual,
            (None, None) => {
                reader.missing(&path, &T::expects(rule));
                T::stand_in()
            }
        }
    }

    /// Reads the field that says which of `words` this object is.
    #[inline(never)]
    pub(super) fn tag(
        &mut self,
        key: &'static str,
        words: &'static [&'static str],
        reader: &mut Reader,
    ) -> Option<&'static str> {
        let path = Path::Key(self.path, key);
        let word = match self.take(key) {
            Some(value) => word(value, words, &path, reader),
            None => {
                reader.missing(&path, &one_of(words));
                None
            }
        };
        self.unclear |= word.is_none();
        word
    }

    /// Notes every key nobody asked for.
    #[inline(never)]
    pub(super) fn finish(self, reader: &mut Reader) {
        if self.unclear {
            return;
        }
        for (key, value) in self.map {
            if !self.known.contains(&key.as_str()) {
                reader.extra.push(Extra {
                    parent: self.path.to_string(),
                    key: key.clone(),
                    value: value.clone(),
                    meant: nearest(key, &self.known),
                });
            }
        }
    }
}

/// The words in a sentence.
fn one_of(words: &[&str]) -> String {
    match words {
        [only] => format!("\"{only}\""),
        _ => format!("one of {}", words.join(", ")),
    }
}

/// The one of `words` that `value` is.
fn word(value: &Value, words: &[&'static str], path: &Path<'_>, reader: &mut Reader) -> Option<&'static str> {
    let text = value.as_str();
    let found = text.and_then(|text| words.iter().find(|word| **word == text).copied());
    if found.is_none() {
        let guess = text.and_then(|text| nearest(text, words)).map(|word| format!("\"{word}\""));
        reader
            .fail(ScenarioError::new(path, &one_of(words), &json::shown(value)).with_guess(guess.as_deref()));
    }
    found
}

/// The known name closest to `name`, if it is close enough to be a slip.
pub(super) fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    if name.len() > 40 {
        return None;
    }
    let (distance, best) = known.iter().map(|word| (edits(name, word), *word)).min()?;
    (distance <= 1 + best.len() / 4 && distance < best.len().max(2)).then_some(best)
}

/// Optimal string alignment distance: characters to insert, drop, change, or swap with a neighbour.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let width = b.len() + 1;
    let mut cost = alloc::vec![0; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..width {
            cost[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let above = (i - 1) * width + j;
                let changed = cost[above - 1] + usize::from(a[i - 1] != b[j - 1]);
                let swapped = if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    cost[above - width - 2] + 1
                } else {
                    usize::MAX
                };
                changed.min(cost[above] + 1).min(cost[i * width + j - 1] + 1).min(swapped)
            };
        }
    }
    cost[a.len() * width + b.len()]
}

/// Writes canonical JSON: keys in schema order, no spaces, defaults left out, unknown fields last.
pub(super) struct Writer<'a> {
    out: String,
    /// Path of the object being written.
    at: String,
    /// Sorted by parent, then key.
    extra: &'a [Extra],
    /// Whether defaults are written too.
    full: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(extra: &'a [Extra]) -> Self {
        Self { out: String::new(), at: String::new(), extra, full: false }
    }

    /// One that leaves no default out.
    pub(super) fn full() -> Self {
        Self { full: true, ..Self::new(&[]) }
    }

    /// Writes an object of any keys, sorted.
    pub(super) fn map(&mut self, map: &Map<String, Value>) {
        json::push_map(&mut self.out, map);
    }

    pub(super) fn into_text(self) -> String {
        self.out
    }

    /// Writes the object that `fields` fills.
    pub(super) fn object(&mut self, fields: impl FnOnce(&mut Self)) {
        self.out.push('{');
        fields(self);
        self.end_object();
    }

    /// Writes the fields of this object that are not known, and closes it.
    #[inline(never)]
    fn end_object(&mut self) {
        let all: &'a [Extra] = self.extra;
        let first = all.partition_point(|e| e.parent < self.at);
        let here = all[first..].iter().take_while(|e| e.parent == self.at).count();
        for extra in &all[first..first + here] {
            self.key(&extra.key);
            json::push_value(&mut self.out, &extra.value);
        }
        self.out.push('}');
    }

    /// Writes one field, unless it is as usual.
    #[inline(never)]
    pub(super) fn field<T: Wire>(&mut self, key: &'static str, value: &T, usual: Option<&T>) {
        let mark = self.enter(key);
        if self.full || usual != Some(value) || self.has_extra_inside() {
            let before = self.out.len();
            self.key(key);
            let begin = self.out.len();
            value.write(self);
            // Nothing is written of an optional field that is not there.
            if self.out.len() == begin {
                self.out.truncate(before);
            }
        }
        self.at.truncate(mark);
    }

    /// Goes on to a field of the object; returns the length of the path before.
    #[inline(never)]
    fn enter(&mut self, key: &str) -> usize {
        let mark = self.at.len();
        if mark > 0 {
            self.at.push('.');
        }
        self.at.push_str(key);
        mark
    }

    /// Begins an entry of a list.
    #[inline(never)]
    fn entry(&mut self, i: usize) {
        if i > 0 {
            self.out.push(',');
        }
        self.at.push_str(&format!("[{i}]"));
    }

    /// Writes a field that always is a given text.
    #[inline(never)]
    pub(super) fn word(&mut self, key: &str, word: &str) {
        self.key(key);
        json::push_string(&mut self.out, word);
    }

    /// Writes a field that always is a given number.
    pub(super) fn version(&mut self, key: &str, version: u32) {
        self.key(key);
        self.out.push_str(&version.to_string());
    }

    #[inline(never)]
    fn key(&mut self, key: &str) {
        if !self.out.ends_with('{') {
            self.out.push(',');
        }
        json::push_string(&mut self.out, key);
        self.out.push(':');
    }

    #[inline(never)]
    fn has_extra_inside(&self) -> bool {
        let first = self.extra.partition_point(|e| e.parent < self.at);
        self.extra[first..]
            .iter()
            .map_while(|e| e.parent.strip_prefix(&self.at))
            .any(|rest| matches!(rest.bytes().next(), None | Some(b'.' | b'[')))
    }
}

/// Types described once and referred to.
pub(super) type Defs = Map<String, Value>;

/// A value of a scenario.
pub(super) trait Wire: Sized + PartialEq {
    /// Reads a value. What is wrong goes to `reader`, and something stands in for the value.
    ///
    /// Only the kind of value is looked at here; limits are [`check`](Self::check)'s.
    fn read(value: &Value, rule: &Rule, path: &Path<'_>, reader: &mut Reader) -> Self;

    /// Something to go on with when there is no value.
    fn stand_in() -> Self;

    /// Writes it canonically.
    fn write(&self, to: &mut Writer<'_>);

    /// Notes each limit it breaks.
    fn check(&self, rule: &Rule, path: &Path<'_>, errors: &mut Vec<ScenarioError>);

    /// What is expected, in words.
    fn expects(rule: &Rule) -> String;

    /// Its JSON Schema.
    fn schema(rule: &Rule, defs: &mut Defs) -> Value;
}

/// Something written as an object of named fields.
pub(super) trait Fields: Sized + PartialEq {
    /// Its name in the schema.
    const NAME: &'static str;
    /// Its doc sentence.
    const DOC: &'static str;

    fn read_fields(from: &mut Object<'_>, reader: &mut Reader) -> Self;
    fn empty() -> Self;
    fn write_fields(&self, to: &mut Writer<'_>);
    fn check_fields(&self, path: &Path<'_>, errors: &mut Vec<ScenarioError>);
    /// One object schema, or one for each variant.
    fn shapes(defs: &mut Defs) -> Vec<Shape>;
}

/// Schema of one kind of object, in the making.
#[derive(Default)]
pub(super) struct Shape {
    doc: String,
    properties: Map<String, Value>,
    required: Vec<&'static str>,
}

impl Shape {
    pub(super) fn new(doc: &str) -> Self {
        Self { doc: String::from(doc.trim()), ..Self::default() }
    }

    /// Adds a field.
    pub(super) fn field<T: Wire>(
        mut self,
        key: &'static str,
        doc: &str,
        usual: Option<T>,
        rule: &Rule,
        defs: &mut Defs,
    ) -> Self {
        let mut schema = T::schema(rule, defs);
        schema["description"] = json!(doc.trim());
        if let Some(unit) = unit(key) {
            schema["x-unit"] = json!(unit);
        }
        match usual {
            None => self.required.push(key),
            Some(usual) => {
                let mut to = Writer::new(&[]);
                usual.write(&mut to);
                // An optional field has no usual value: nothing was written.
                if let Ok(value) = serde_json::from_str::<Value>(&to.into_text()) {
                    schema["default"] = value;
                }
            }
        }
        self.properties.insert(key.to_string(), schema);
        self
    }

    /// Adds the field that names the variant.
    pub(super) fn tag(mut self, key: &'static str, word: &str) -> Self {
        self.properties.insert(key.to_string(), json!({ "const": word }));
        self.required.push(key);
        self
    }

    /// Adds the version field.
    pub(super) fn version(mut self, key: &'static str, version: u32) -> Self {
        let schema = json!({ "const": version, "description": "Version of the format." });
        self.properties.insert(key.to_string(), schema);
        self.required.push(key);
        self
    }

    /// The finished schema. Unknown fields are errors: a file with one is more likely misspelt than new.
    pub(super) fn into_schema(self) -> Value {
        let mut schema = json!({
            "type": "object",
            "description": self.doc,
            "properties": self.properties,
            "additionalProperties": false,
        });
        if !self.required.is_empty() {
            schema["required"] = json!(self.required);
        }
        schema
    }
}

/// The unit that a field's name ends in.
fn unit(key: &str) -> Option<&'static str> {
    if key.ends_with("_per_s") {
        Some("1/s")
    } else if key.ends_with("_us") {
        Some("microseconds")
    } else if key.ends_with("bytes") {
        Some("bytes")
    } else {
        None
    }
}

impl<T: Fields> Wire for T {
    #[inline(never)]
    fn read(value: &Value, _: &Rule, path: &Path<'_>, reader: &mut Reader) -> Self {
        let Some(map) = value.as_object() else {
            reader.misfit(value, path, &Self::expects(&ANY));
            return T::empty();
        };
        let mut object = Object::new(map, path);
        let read = T::read_fields(&mut object, reader);
        object.finish(reader);
        read
    }

    fn stand_in() -> Self {
        T::empty()
    }

    #[inline(never)]
    fn write(&self, to: &mut Writer<'_>) {
        to.object(|to| self.write_fields(to));
    }

    fn check(&self, _: &Rule, path: &Path<'_>, errors: &mut Vec<ScenarioError>) {
        self.check_fields(path, errors);
    }

    fn expects(_: &Rule) -> String {
        format!("an object ({})", T::NAME)
    }

    fn schema(_: &Rule, defs: &mut Defs) -> Value {
        if !defs.contains_key(T::NAME) {
            defs.insert(T::NAME.to_string(), Value::Null); // ends the recursion, if there ever is one
            let mut shapes: Vec<Value> = T::shapes(defs).into_iter().map(Shape::into_schema).collect();
            let schema = if shapes.len() == 1 {
                shapes.remove(0)
            } else {
                json!({ "description": T::DOC.trim(), "oneOf": shapes })
            };
            defs.insert(T::NAME.to_string(), schema);
        }
        json!({ "$ref": format!("#/$defs/{}", T::NAME) })
    }
}

impl<T: Wire> Wire for Option<T> {
    fn read(value: &Value, rule: &Rule, path: &Path<'_>, reader: &mut Reader) -> Self {
        Some(T::read(value, rule, path, reader))
    }

    fn stand_in() -> Self {
        None
    }

    fn write(&self, to: &mut Writer<'_>) {
        if let Some(value) = self {
            value.write(to);
        }
    }

    fn check(&self, rule: &Rule, path: &Path<'_>, errors: &mut Vec<ScenarioError>) {
        if let Some(value) = self {
            value.check(rule, path, errors);
        }
    }

    fn expects(rule: &Rule) -> String {
        T::expects(rule)
    }

    fn schema(rule: &Rule, defs: &mut Defs) -> Value {
        T::schema(rule, defs)
    }
}

impl<T: Wire> Wire for Vec<T> {
    #[inline(never)]
    fn read(value: &Value, rule: &Rule, path: &Path<'_>, reader: &mut Reader) -> Self {
        let Some(items) = value.as_array() else {
            reader.misfit(value, path, &Self::expects(rule));
            return Self::new();
        };
        let rule = rule.item.unwrap_or(&ANY);
        items.iter().enumerate().map(|(i, item)| T::read(item, rule, &Path::Index(path, i), reader)).collect()
    }

    fn stand_in() -> Self {
        Self::new()
    }

    #[inline(never)]
    fn write(&self, to: &mut Writer<'_>) {
        to.out.push('[');
        let mark = to.at.len();
        for (i, item) in self.iter().enumerate() {
            to.entry(i);
            item.write(to);
            to.at.truncate(mark);
        }
        to.out.push(']');
    }

    #[inline(never)]
    fn check(&self, rule: &Rule, path: &Path<'_>, errors: &mut Vec<ScenarioError>) {
        if !rule.allows(self.len() as f64) {
            errors.push(ScenarioError::new(path, &rule.count("entries"), &self.len()));
        }
        let item = rule.item.unwrap_or(&ANY);
        for (i, value) in self.iter().enumerate().take(rule.hi as usize) {
            value.check(item, &Path::Index(path, i), errors);
        }
    }

    fn expects(rule: &Rule) -> String {
        format!("a list of {}", rule.count("entries"))
    }

    fn schema(rule: &Rule, defs: &mut Defs) -> Value {
        let items = T::schema(rule.item.unwrap_or(&ANY), defs);
        json!({ "type": "array", "items": items, "minItems": rule.lo as u64, "maxItems": rule.hi as u64 })
    }
}

impl Wire for String {
    #[inline(never)]
    fn read(value: &Value, rule: &Rule, path: &Path<'_>, reader: &mut Reader) -> Self {
        match value {
            Value::String(text) => text.clone(),
            other => {
                reader.misfit(other, path, &Self::expects(rule));
                Self::new()
            }
        }
    }

    fn stand_in() -> Self {
        Self::new()
    }

    fn write(&self, to: &mut Writer<'_>) {
        json::push_string(&mut to.out, self);
    }

    #[inline(never)]
    fn check(&self, rule: &Rule, path: &Path<'_>, errors: &mut Vec<ScenarioError>) {
        let length = self.chars().count();
        if !rule.allows(length as f64) {
            errors.push(ScenarioError::new(
                path,
                &rule.count("characters"),
                &format_args!("{length} characters"),
            ));
        } else if !rule.lines && self.chars().any(is_control) {
            errors.push(ScenarioError::new(path, &"no control characters", &quoted(self)));
        }
    }

    fn expects(rule: &Rule) -> String {
        format!("a text of {}", rule.count("characters"))
    }

    fn schema(rule: &Rule, _: &mut Defs) -> Value {
        let mut schema =
            json!({ "type": "string", "minLength": rule.lo as u64, "maxLength": rule.hi as u64 });
        if !rule.lines {
            schema["pattern"] = json!("^[^\\u0000-\\u001f\\u007f]*$");
        }
        schema
    }
}

/// The control characters of ASCII, which would break a log line or a table.
fn is_control(c: char) -> bool {
    c < ' ' || c == '\u{7f}'
}

/// A text for an error message.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::new();
    json::push_string(&mut out, &json::shorten(text));
    out
}

impl Wire for f64 {
    #[inline(never)]
    fn read(value: &Value, rule: &Rule, path: &Path<'_>, reader: &mut Reader) -> Self {
        match value.as_f64() {
            // Minus zero becomes zero.
            Some(x) if x.is_finite() => x + 0.0,
            _ => {
                reader.misfit(value, path, &Self::expects(rule));
                0.0
            }
        }
    }

    fn stand_in() -> Self {
        0.0
    }

    #[inline(never)]
    fn write(&self, to: &mut Writer<'_>) {
        to.out.push_str(&json::number(*self));
    }

    #[inline(never)]
    fn check(&self, rule: &Rule, path: &Path<'_>, errors: &mut Vec<ScenarioError>) {
        if !rule.allows(*self) {
            errors.push(ScenarioError::new(path, &rule.bounds(), &json::number(*self)));
        }
    }

    fn expects(rule: &Rule) -> String {
        format!("a number {}", rule.bounds())
    }

    fn schema(rule: &Rule, _: &mut Defs) -> Value {
        let lo = if rule.above { "exclusiveMinimum" } else { "minimum" };
        json!({ "type": "number", lo: rule.lo, "maximum": rule.hi })
    }
}

impl Wire for bool {
    #[inline(never)]
    fn read(value: &Value, rule: &Rule, path: &Path<'_>, reader: &mut Reader) -> Self {
        value.as_bool().unwrap_or_else(|| {
            reader.misfit(value, path, &Self::expects(rule));
            false
        })
    }

    fn stand_in() -> Self {
        false
    }

    fn write(&self, to: &mut Writer<'_>) {
        to.out.push_str(if *self { "true" } else { "false" });
    }

    fn check(&self, _: &Rule, _: &Path<'_>, _: &mut Vec<ScenarioError>) {}

    fn expects(_: &Rule) -> String {
        String::from("true or false")
    }

    fn schema(_: &Rule, _: &mut Defs) -> Value {
        json!({ "type": "boolean" })
    }
}

/// The whole number that `value` is: `5`, and `5.0` too, as for JSON Schema.
pub(super) fn whole_number(value: &Value) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    value.as_u64().or_else(|| {
        let x = value.as_f64()?;
        ((0.0..=EXACT).contains(&x) && libm::trunc(x) == x).then_some(x as u64)
    })
}

macro_rules! whole_numbers {
    ($($int:ty),*) => {$(
        impl Wire for $int {
            #[inline(never)]
            fn read(value: &Value, rule: &Rule, path: &Path<'_>, reader: &mut Reader) -> Self {
                whole_number(value).and_then(|n| n.try_into().ok()).unwrap_or_else(|| {
                    reader.misfit(value, path, &Self::expects(rule));
                    Self::stand_in()
                })
            }

            fn stand_in() -> Self {
                0
            }

            #[inline(never)]
            fn write(&self, to: &mut Writer<'_>) {
                to.out.push_str(&self.to_string());
            }

            #[inline(never)]
            fn check(&self, rule: &Rule, path: &Path<'_>, errors: &mut Vec<ScenarioError>) {
                if !rule.allows(*self as f64) {
                    errors.push(ScenarioError::new(path, &rule.bounds(), self));
                }
            }

            fn expects(rule: &Rule) -> String {
                format!("a whole number {}", rule.bounds())
            }

            fn schema(rule: &Rule, _: &mut Defs) -> Value {
                json!({ "type": "integer", "minimum": rule.lo as u64, "maximum": rule.hi as u64 })
            }
        }
    )*};
}

whole_numbers!(u8, u32, u64);

/// Reads one of the words of an enum; used by the `words!` macro.
#[inline(never)]
pub(super) fn read_word(
    value: &Value,
    words: &'static [&'static str],
    path: &Path<'_>,
    reader: &mut Reader,
) -> Option<&'static str> {
    word(value, words, path, reader)
}

/// What is expected of an enum; used by the `words!` macro.
pub(super) fn expect_word(words: &[&str]) -> String {
    one_of(words)
}

/// Writes the word of an enum; used by the `words!` macro.
pub(super) fn write_word(to: &mut Writer<'_>, word: &str) {
    json::push_string(&mut to.out, word);
}

/// `usual` of a field: `required`, `optional` or `default(value)`.
macro_rules! usual {
    (required) => {
        None
    };
    (optional) => {
        Some(None)
    };
    (default $value:expr) => {
        Some($value)
    };
}

/// Key of a field: its name, or the one given.
macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

/// Declares a struct whose fields are the fields of an object.
///
/// Each field: `/// doc`, `name: Type = rule, required | optional | default(value);`.
macro_rules! record {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident as $schema:literal {
            $(
                $(#[doc = $fdoc:literal])*
                $field:ident $(as $key:literal)? : $ty:ty = $rule:expr, $need:ident $(($usual:expr))? ;
            )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $(
                $(#[doc = $fdoc])*
                pub $field: $ty,
            )*
        }

        impl Fields for $name {
            const NAME: &'static str = $schema;
            const DOC: &'static str = concat!($($doc),*);

            fn read_fields(from: &mut Object<'_>, reader: &mut Reader) -> Self {
                Self {
                    $($field: from.field(
                        key!($field $($key)?), usual!($need $($usual)?), const { &$rule }, reader,
                    ),)*
                }
            }

            fn empty() -> Self {
                Self { $($field: usual!($need $($usual)?).unwrap_or_else(<$ty as Wire>::stand_in),)* }
            }

            fn write_fields(&self, to: &mut Writer<'_>) {
                $(
                    let usual: Option<$ty> = usual!($need $($usual)?);
                    to.field(key!($field $($key)?), &self.$field, usual.as_ref());
                )*
            }

            fn check_fields(&self, path: &Path<'_>, errors: &mut Vec<ScenarioError>) {
                $(self.$field.check(const { &$rule }, &Path::Key(path, key!($field $($key)?)), errors);)*
            }

            fn shapes(defs: &mut Defs) -> Vec<Shape> {
                let shape = Shape::new(Self::DOC);
                $(
                    let usual: Option<$ty> = usual!($need $($usual)?);
                    let shape = shape.field(
                        key!($field $($key)?), concat!($($fdoc),*), usual, const { &$rule }, defs,
                    );
                )*
                alloc::vec![shape]
            }
        }
    };
}

/// Declares an enum written as an object whose field `by` names the variant.
macro_rules! choice {
    (
        $(#[doc = $doc:literal])*
        pub enum $name:ident as $schema:literal by $tag:literal {
            $(
                $(#[doc = $vdoc:literal])*
                $variant:ident = $word:literal $({
                    $(
                        $(#[doc = $fdoc:literal])*
                        $field:ident : $ty:ty = $rule:expr, $need:ident $(($usual:expr))? ;
                    )*
                })? ,
            )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name {
            $(
                $(#[doc = $vdoc])*
                $variant $({
                    $(
                        $(#[doc = $fdoc])*
                        $field: $ty,
                    )*
                })?,
            )*
        }

        impl $name {
            /// The words that name the variants, in order.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word that names this variant.
            #[must_use]
            pub const fn word(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $word,)*
                }
            }
        }

        impl Fields for $name {
            const NAME: &'static str = $schema;
            const DOC: &'static str = concat!($($doc),*);

            fn read_fields(from: &mut Object<'_>, reader: &mut Reader) -> Self {
                match from.tag($tag, Self::WORDS, reader) {
                    $(Some($word) => Self::$variant {
                        $($($field: from.field(
                            stringify!($field), usual!($need $($usual)?), const { &$rule }, reader,
                        ),)*)?
                    },)*
                    _ => Self::empty(),
                }
            }

            fn empty() -> Self {
                let all: &[fn() -> Self] = &[$(|| Self::$variant {
                    $($($field: usual!($need $($usual)?).unwrap_or_else(<$ty as Wire>::stand_in),)*)?
                }),*];
                all[0]()
            }

            fn write_fields(&self, to: &mut Writer<'_>) {
                to.word($tag, self.word());
                match self {
                    $(Self::$variant { $($($field),*)? } => {
                        $($(
                            let usual: Option<$ty> = usual!($need $($usual)?);
                            to.field(stringify!($field), $field, usual.as_ref());
                        )*)?
                    })*
                }
            }

            #[allow(unused_variables, reason = "an enum may have no fields at all")]
            fn check_fields(&self, path: &Path<'_>, errors: &mut Vec<ScenarioError>) {
                match self {
                    $(Self::$variant { $($($field),*)? } => {
                        $($($field.check(
                            const { &$rule }, &Path::Key(path, stringify!($field)), errors,
                        );)*)?
                    })*
                }
            }

            #[allow(unused_variables, reason = "an enum may have no fields at all")]
            fn shapes(defs: &mut Defs) -> Vec<Shape> {
                alloc::vec![$({
                    let shape = Shape::new(concat!($($vdoc),*)).tag($tag, $word);
                    $($(
                        let usual: Option<$ty> = usual!($need $($usual)?);
                        let shape = shape.field(
                            stringify!($field), concat!($($fdoc),*), usual, const { &$rule }, defs,
                        );
                    )*)?
                    shape
                }),*]
            }
        }
    };
}

/// Declares an enum written as one of a few words.
macro_rules! words {
    (
        $(#[doc = $doc:literal])*
        pub enum $name:ident {
            $($(#[doc = $vdoc:literal])* $variant:ident = $word:literal,)*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[doc = $vdoc])* $variant,)*
        }

        impl $name {
            /// The words, in order.
            pub const WORDS: &'static [&'static str] = &[$($word),*];
            const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word it is written as.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl Wire for $name {
            fn read(value: &Value, _: &Rule, path: &Path<'_>, reader: &mut Reader) -> Self {
                let word = read_word(value, Self::WORDS, path, reader);
                Self::ALL.iter().find(|one| Some(one.word()) == word).copied().unwrap_or(Self::ALL[0])
            }

            fn stand_in() -> Self {
                Self::ALL[0]
            }

            fn write(&self, to: &mut Writer<'_>) {
                write_word(to, self.word());
            }

            fn check(&self, _: &Rule, _: &Path<'_>, _: &mut Vec<ScenarioError>) {}

            fn expects(_: &Rule) -> String {
                expect_word(Self::WORDS)
            }

            fn schema(_: &Rule, _: &mut Defs) -> Value {
                serde_json::json!({ "type": "string", "enum": Self::WORDS })
            }
        }
    };
}

pub(super) use {choice, key, record, usual, words};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_finds_the_name_that_was_meant() {
        let known = ["name", "priority", "delay_weight", "deadline_us"];
        assert_eq!(nearest("delay_wieght", &known), Some("delay_weight"));
        assert_eq!(nearest("prioritty", &known), Some("priority"));
        assert_eq!(nearest("deadline_ms", &known), Some("deadline_us"));
        assert_eq!(nearest("colour", &known), None);
        assert_eq!(edits("ab", "ba"), 1);
        assert_eq!(edits("", "abc"), 3);
    }

    #[test]
    fn odd_keys_are_quoted_in_paths() {
        let list = Path::Key(&Path::Root, "classes");
        let entry = Path::Index(&list, 1);
        assert_eq!(Path::Key(&entry, "delay_weight").to_string(), "classes[1].delay_weight");
        assert_eq!(Path::Key(&entry, "a\nb").to_string(), "classes[1][\"a\\nb\"]");
    }
}
