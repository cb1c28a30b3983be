//! How wire types are read, written, checked and described.
//!
//! Each field is declared once, in [`v1`](super::v1), with its doc sentence, rule and default; the macros
//! here derive the reader, the canonical writer, the limit checks and the JSON Schema from that one line.
//! Not `serde`'s derive: errors must name path, rule and value found, unknown fields must survive a round
//! trip, and limits and schema would be a second and third list of the same fields.
//!
//! A type says of itself only what it is made of ([`Wire`], [`Fields`], a table of [`Field`]s); reading, writing and
//! checking are one function each, which walks through that. Nothing here is on a hot path, and what is derived by type
//! or field is paid for two hundred times over: done in the macros, reading and writing would be a tenth of the page.

use super::error::ScenarioError;
use super::json;
use alloc::boxed::Box;
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
    fn misfit(&mut self, value: &Value, path: &Path<'_>, expected: &str) {
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
}

impl<'a> Object<'a> {
    pub(super) fn new(map: &'a Map<String, Value>, path: &'a Path<'a>) -> Self {
        Self { map, path, known: Vec::new() }
    }

    /// Counts `key` as known and gives its value.
    pub(super) fn take(&mut self, key: &'static str) -> Option<&'a Value> {
        self.known.push(key);
        self.map.get(key)
    }

    /// Reads what `into` is made of, and notes every key it knows nothing of.
    pub(super) fn read(mut self, into: &mut dyn Fields, reader: &mut Reader) {
        let kind = into.kind();
        for (i, field) in kind.first.iter().enumerate() {
            self.field(field, into.field_mut(i), reader);
        }
        let variant = if kind.tag.is_empty() { Some(0) } else { self.tag(kind, reader) };
        into.reset(variant.unwrap_or(0));
        // Without the tag it cannot be told which fields belong here.
        let Some(variant) = variant else { return };
        for (i, field) in kind.variants[variant].iter().enumerate() {
            self.field(field, into.field_mut(kind.first.len() + i), reader);
        }
        self.finish(reader);
    }

    /// Reads one field; left out, it stays as it is, unless it must be there.
    fn field(&mut self, field: &'static Field, into: &mut dyn Wire, reader: &mut Reader) {
        let path = Path::Key(self.path, field.key);
        match self.take(field.key) {
            Some(value) => read(into.place(), value, field.rule, &path, reader),
            None if field.required => reader.missing(&path, &into.place().expects(field.rule)),
            None => {}
        }
    }

    /// Reads the field that says which variant this object is.
    fn tag(&mut self, kind: &Kind, reader: &mut Reader) -> Option<usize> {
        let path = Path::Key(self.path, kind.tag);
        match self.take(kind.tag) {
            Some(value) => word(value, kind.words, &path, reader),
            None => {
                reader.missing(&path, &one_of(kind.words));
                None
            }
        }
    }

    /// Notes every key nobody asked for.
    fn finish(self, reader: &mut Reader) {
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

/// Which of `words` `value` is.
fn word(value: &Value, words: &[&'static str], path: &Path<'_>, reader: &mut Reader) -> Option<usize> {
    let text = value.as_str();
    let found = text.and_then(|text| words.iter().position(|word| *word == text));
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

    pub(super) fn into_text(self) -> String {
        self.out
    }

    /// Writes an object. A `version` comes before its fields.
    pub(super) fn object(&mut self, object: &dyn Fields, version: Option<(&str, u32)>) {
        self.out.push('{');
        if let Some((key, version)) = version {
            self.key(key);
            self.out.push_str(&version.to_string());
        }
        let (kind, usual) = (object.kind(), object.usual());
        for (i, field) in kind.first.iter().enumerate() {
            self.field(field, object.field(i), usual.field(i));
        }
        let variant = object.variant();
        if let Some(word) = kind.words.get(variant) {
            self.key(kind.tag);
            json::push_string(&mut self.out, word);
        }
        for (i, field) in (kind.first.len()..).zip(kind.variants[variant]) {
            self.field(field, object.field(i), usual.field(i));
        }
        self.end_object();
    }

    /// Writes the fields of this object that are not known, and closes it.
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

    /// Writes one field, unless it is as usual: unless what is written is what its default would be written as.
    fn field(&mut self, field: &Field, value: &dyn Wire, usual: &dyn Wire) {
        let mark = self.enter(field.key);
        let before = self.out.len();
        self.key(field.key);
        let start = self.out.len();
        self.value(value.part());
        // Nothing is written of an optional field that is not there.
        let is_nothing = self.out.len() == start;
        let may_go = !self.full && !field.required && !self.has_extra_inside();
        if is_nothing || (may_go && self.out[start..] == plain(usual)) {
            self.out.truncate(before);
        }
        self.at.truncate(mark);
    }

    /// Writes a value.
    fn value(&mut self, value: Part<'_>) {
        match value {
            Part::Number(x) => self.out.push_str(&json::number(x)),
            Part::Whole(n) => self.out.push_str(&n.to_string()),
            Part::Flag(is) => self.out.push_str(if is { "true" } else { "false" }),
            Part::Text(text) => json::push_string(&mut self.out, text),
            Part::Word(word) => json::push_string(&mut self.out, word.words()[word.which()]),
            // Nothing is written of what is not there.
            Part::Maybe(None) => {}
            Part::Maybe(Some(value)) => self.value(value.part()),
            Part::List(list) => self.list(list),
            Part::Paths(map) => json::push_map(&mut self.out, map),
            Part::Object(object) => self.object(object, None),
        }
    }

    fn list(&mut self, list: &dyn List) {
        self.out.push('[');
        let mark = self.at.len();
        for i in 0..list.count() {
            self.entry(i);
            self.value(list.entry(i).part());
            self.at.truncate(mark);
        }
        self.out.push(']');
    }

    /// Goes on to a field of the object; returns the length of the path before.
    fn enter(&mut self, key: &str) -> usize {
        let mark = self.at.len();
        if mark > 0 {
            self.at.push('.');
        }
        self.at.push_str(key);
        mark
    }

    /// Begins an entry of a list.
    fn entry(&mut self, i: usize) {
        if i > 0 {
            self.out.push(',');
        }
        self.at.push_str(&format!("[{i}]"));
    }

    fn key(&mut self, key: &str) {
        if !self.out.ends_with('{') {
            self.out.push(',');
        }
        json::push_string(&mut self.out, key);
        self.out.push(':');
    }

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
pub(super) trait Wire {
    /// Something to go on with when there is no value.
    fn stand_in() -> Self
    where
        Self: Sized;

    /// What it is, to be written or checked.
    fn part(&self) -> Part<'_>;

    /// What it is, to be read into.
    fn place(&mut self) -> Place<'_>;

    /// Its JSON Schema.
    fn schema(rule: &Rule, defs: &mut Defs) -> Value
    where
        Self: Sized;
}

/// What a value is.
pub(super) enum Part<'a> {
    Number(f64),
    Whole(u64),
    Flag(bool),
    Text(&'a str),
    Word(&'a dyn Word),
    Maybe(Option<&'a dyn Wire>),
    List(&'a dyn List),
    /// Any values, by paths.
    Paths(&'a Map<String, Value>),
    Object(&'a dyn Fields),
}

/// Where a value goes.
pub(super) enum Place<'a> {
    Number(&'a mut f64),
    U8(&'a mut u8),
    U32(&'a mut u32),
    U64(&'a mut u64),
    Flag(&'a mut bool),
    Text(&'a mut String),
    Word(&'a mut dyn Word),
    Maybe(&'a mut dyn Maybe),
    List(&'a mut dyn List),
    Paths(&'a mut Map<String, Value>),
    Object(&'a mut dyn Fields),
}

/// An enum written as one of a few words.
pub(super) trait Word {
    /// The words, in order.
    fn words(&self) -> &'static [&'static str];
    /// Which of them it is.
    fn which(&self) -> usize;
    /// Makes it another.
    fn set(&mut self, which: usize);
}

/// A list of values.
pub(super) trait List {
    fn count(&self) -> usize;
    fn entry(&self, i: usize) -> &dyn Wire;
    fn clear(&mut self);
    /// Appends something to be read into.
    fn add(&mut self) -> &mut dyn Wire;
}

/// A value that may be left out.
pub(super) trait Maybe {
    /// Puts something there to be read into.
    fn fill(&mut self) -> &mut dyn Wire;
}

/// Something written as an object of named fields.
pub(super) trait Fields: 'static {
    /// What all of its type have in common.
    fn kind(&self) -> &'static Kind;
    /// Which of its variants it is; 0 if there is one only.
    fn variant(&self) -> usize;
    /// Makes it that variant, with each of its fields as usual; the fields before the tag stay.
    fn reset(&mut self, variant: usize);
    /// The same variant with each field as usual.
    fn usual(&self) -> Box<dyn Fields>;
    /// A field: those before the tag first, then those of the variant.
    fn field(&self, i: usize) -> &dyn Wire;
    /// The same, to be read into.
    fn field_mut(&mut self, i: usize) -> &mut dyn Wire;
}

/// What the scenario knows of a type of objects.
pub(super) struct Kind {
    /// Its name in the schema.
    pub(super) name: &'static str,
    /// Fields before the tag.
    pub(super) first: &'static [Field],
    /// The field that says which variant it is; empty if there is one only.
    pub(super) tag: &'static str,
    /// The word for each variant; none if there is one only.
    pub(super) words: &'static [&'static str],
    /// The fields of each.
    pub(super) variants: &'static [&'static [Field]],
}

/// What is known of a field besides its type.
pub(super) struct Field {
    pub(super) key: &'static str,
    pub(super) rule: &'static Rule,
    /// Whether it must be there.
    pub(super) required: bool,
}

/// What only the schema needs to know of a [`Fields`].
pub(super) trait Described: Fields + Sized {
    /// Its name.
    const NAME: &'static str;
    /// Its doc sentence.
    const DOC: &'static str;

    /// One with each field as usual, of the first variant.
    fn empty() -> Self;
    /// One object schema, or one for each variant.
    fn shapes(defs: &mut Defs) -> Vec<Shape>;
}

/// Reads a value. What is wrong goes to `reader`, and something stands in for the value.
///
/// Only the kind of value is looked at here; limits are [`check`]'s.
fn read(mut into: Place<'_>, value: &Value, rule: &Rule, path: &Path<'_>, reader: &mut Reader) {
    let fits = match &mut into {
        Place::Number(x) => put(*x, value.as_f64().filter(|x| x.is_finite()).map(|x| x + 0.0)), // minus zero becomes zero
        Place::U8(n) => put(*n, whole_number(value).and_then(|n| n.try_into().ok())),
        Place::U32(n) => put(*n, whole_number(value).and_then(|n| n.try_into().ok())),
        Place::U64(n) => put(*n, whole_number(value)),
        Place::Flag(is) => put(*is, value.as_bool()),
        Place::Text(text) => put(*text, value.as_str().map(String::from)),
        Place::Word(one) => {
            let which = word(value, one.words(), path, reader);
            one.set(which.unwrap_or(0));
            true
        }
        Place::Maybe(one) => {
            read(one.fill().place(), value, rule, path, reader);
            true
        }
        Place::List(list) => {
            list.clear();
            let rule = rule.item.unwrap_or(&ANY);
            for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                read(list.add().place(), item, rule, &Path::Index(path, i), reader);
            }
            value.is_array()
        }
        Place::Paths(map) => {
            let plain = |map: &Map<String, Value>| map.iter().map(|(k, v)| (k.clone(), reread(v))).collect();
            put(*map, value.as_object().map(plain))
        }
        Place::Object(object) => match value.as_object() {
            Some(map) => {
                Object::new(map, path).read(*object, reader);
                true
            }
            None => {
                object.reset(0);
                false
            }
        },
    };
    if !fits {
        reader.misfit(value, path, &into.expects(rule));
    }
}

/// Puts a value in its place, or what stands in for it; whether there was one.
fn put<T: Default>(place: &mut T, value: Option<T>) -> bool {
    let is_there = value.is_some();
    *place = value.unwrap_or_default();
    is_there
}

impl Place<'_> {
    /// What is expected here, in words.
    fn expects(&self, rule: &Rule) -> String {
        match self {
            Self::Number(_) => format!("a number {}", rule.bounds()),
            Self::U8(_) | Self::U32(_) | Self::U64(_) => format!("a whole number {}", rule.bounds()),
            Self::Flag(_) => String::from("true or false"),
            Self::Text(_) => format!("a text of {}", rule.count("characters")),
            Self::Word(one) => one_of(one.words()),
            // Never missing, and what is there is no longer a maybe.
            Self::Maybe(_) => String::new(),
            Self::List(_) => format!("a list of {}", rule.count("entries")),
            Self::Paths(_) => paths(rule),
            Self::Object(object) => format!("an object ({})", object.kind().name),
        }
    }
}

/// What is expected where values stand by their paths.
fn paths(rule: &Rule) -> String {
    format!("an object of {}", rule.count("paths with their values"))
}

/// A value in the form in which it is read back after it was written: `5.0` is `5`.
pub(super) fn reread(value: &Value) -> Value {
    match value {
        Value::Number(_) => whole_number(value).map_or_else(|| value.clone(), Value::from),
        Value::Array(items) => items.iter().map(reread).collect(),
        Value::Object(map) => {
            // Not collected: that would sort first, with all the code of it in the page.
            let mut read = Map::new();
            for (key, value) in map {
                read.insert(key.clone(), reread(value));
            }
            Value::Object(read)
        }
        other => other.clone(),
    }
}

/// A value by itself, as it is written.
fn plain(value: &dyn Wire) -> String {
    let mut to = Writer::new(&[]);
    to.value(value.part());
    to.into_text()
}

/// Notes each limit that a value breaks.
fn check(value: Part<'_>, rule: &Rule, path: &Path<'_>, errors: &mut Vec<ScenarioError>) {
    match value {
        Part::Number(x) if !rule.allows(x) => {
            errors.push(ScenarioError::new(path, &rule.bounds(), &json::number(x)));
        }
        Part::Whole(n) if !rule.allows(n as f64) => {
            errors.push(ScenarioError::new(path, &rule.bounds(), &n));
        }
        Part::Text(text) => {
            let length = text.chars().count();
            if !rule.allows(length as f64) {
                let found = format_args!("{length} characters");
                errors.push(ScenarioError::new(path, &rule.count("characters"), &found));
            } else if !rule.lines && text.chars().any(is_control) {
                errors.push(ScenarioError::new(path, &"no control characters", &quoted(text)));
            }
        }
        Part::Maybe(Some(value)) => check(value.part(), rule, path, errors),
        Part::List(list) => {
            let count = list.count();
            if !rule.allows(count as f64) {
                errors.push(ScenarioError::new(path, &rule.count("entries"), &count));
            }
            let item = rule.item.unwrap_or(&ANY);
            for i in 0..count.min(rule.hi as usize) {
                check(list.entry(i).part(), item, &Path::Index(path, i), errors);
            }
        }
        Part::Paths(map) if !rule.allows(map.len() as f64) => {
            errors.push(ScenarioError::new(path, &paths(rule), &map.len()));
        }
        Part::Object(object) => check_fields(object, path, errors),
        _ => {}
    }
}

/// Notes each limit that a field of an object breaks.
pub(super) fn check_fields(object: &dyn Fields, path: &Path<'_>, errors: &mut Vec<ScenarioError>) {
    let kind = object.kind();
    let fields = kind.first.iter().chain(kind.variants[object.variant()]);
    for (i, field) in fields.enumerate() {
        check(object.field(i).part(), field.rule, &Path::Key(path, field.key), errors);
    }
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
                // An optional field has no usual value: nothing was written.
                if let Ok(value) = crate::json::read(&plain(&usual)) {
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

impl<T: Described> Wire for T {
    fn stand_in() -> Self {
        T::empty()
    }

    fn part(&self) -> Part<'_> {
        Part::Object(self)
    }

    fn place(&mut self) -> Place<'_> {
        Place::Object(self)
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
    fn stand_in() -> Self {
        None
    }

    fn part(&self) -> Part<'_> {
        Part::Maybe(self.as_ref().map(|value| value as &dyn Wire))
    }

    fn place(&mut self) -> Place<'_> {
        Place::Maybe(self)
    }

    fn schema(rule: &Rule, defs: &mut Defs) -> Value {
        T::schema(rule, defs)
    }
}

impl<T: Wire> Maybe for Option<T> {
    fn fill(&mut self) -> &mut dyn Wire {
        self.insert(T::stand_in())
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn stand_in() -> Self {
        Self::new()
    }

    fn part(&self) -> Part<'_> {
        Part::List(self)
    }

    fn place(&mut self) -> Place<'_> {
        Place::List(self)
    }

    fn schema(rule: &Rule, defs: &mut Defs) -> Value {
        let items = T::schema(rule.item.unwrap_or(&ANY), defs);
        json!({ "type": "array", "items": items, "minItems": rule.lo as u64, "maxItems": rule.hi as u64 })
    }
}

impl<T: Wire> List for Vec<T> {
    fn count(&self) -> usize {
        self.len()
    }

    fn entry(&self, i: usize) -> &dyn Wire {
        &self[i]
    }

    fn clear(&mut self) {
        Self::clear(self);
    }

    fn add(&mut self) -> &mut dyn Wire {
        self.push(T::stand_in());
        let last = self.len() - 1;
        &mut self[last]
    }
}

impl Wire for String {
    fn stand_in() -> Self {
        Self::new()
    }

    fn part(&self) -> Part<'_> {
        Part::Text(self)
    }

    fn place(&mut self) -> Place<'_> {
        Place::Text(self)
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
    fn stand_in() -> Self {
        0.0
    }

    fn part(&self) -> Part<'_> {
        Part::Number(*self)
    }

    fn place(&mut self) -> Place<'_> {
        Place::Number(self)
    }

    fn schema(rule: &Rule, _: &mut Defs) -> Value {
        let lo = if rule.above { "exclusiveMinimum" } else { "minimum" };
        json!({ "type": "number", lo: rule.lo, "maximum": rule.hi })
    }
}

impl Wire for bool {
    fn stand_in() -> Self {
        false
    }

    fn part(&self) -> Part<'_> {
        Part::Flag(*self)
    }

    fn place(&mut self) -> Place<'_> {
        Place::Flag(self)
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
    ($($place:ident $int:ty),*) => {$(
        impl Wire for $int {
            fn stand_in() -> Self {
                0
            }

            fn part(&self) -> Part<'_> {
                Part::Whole(u64::from(*self))
            }

            fn place(&mut self) -> Place<'_> {
                Place::$place(self)
            }

            fn schema(rule: &Rule, _: &mut Defs) -> Value {
                json!({ "type": "integer", "minimum": rule.lo as u64, "maximum": rule.hi as u64 })
            }
        }
    )*};
}

whole_numbers!(U8 u8, U32 u32, U64 u64);

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

/// Whether a field must be there.
macro_rules! required {
    (required) => {
        true
    };
    ($need:ident) => {
        false
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
            fn kind(&self) -> &'static Kind {
                const {
                    &Kind {
                        name: $schema,
                        first: &[],
                        tag: "",
                        words: &[],
                        variants: &[&[$(Field {
                            key: key!($field $($key)?),
                            rule: &$rule,
                            required: required!($need),
                        }),*]],
                    }
                }
            }

            fn variant(&self) -> usize {
                0
            }

            fn reset(&mut self, _: usize) {
                *self = Self::empty();
            }

            fn usual(&self) -> Box<dyn Fields> {
                Box::new(Self::empty())
            }

            fn field(&self, i: usize) -> &dyn Wire {
                #[allow(non_camel_case_types, reason = "its names are those of fields")]
                enum At { $($field),* }
                match i {
                    $(_ if i == At::$field as usize => &self.$field,)*
                    _ => no_field(),
                }
            }

            fn field_mut(&mut self, i: usize) -> &mut dyn Wire {
                #[allow(non_camel_case_types, reason = "its names are those of fields")]
                enum At { $($field),* }
                match i {
                    $(_ if i == At::$field as usize => &mut self.$field,)*
                    _ => no_field(),
                }
            }
        }

        impl Described for $name {
            const NAME: &'static str = $schema;
            const DOC: &'static str = concat!($($doc),*);

            fn empty() -> Self {
                Self { $($field: usual!($need $($usual)?).unwrap_or_else(<$ty as Wire>::stand_in),)* }
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

        impl $name {
            /// The fields of each variant.
            pub(super) const VARIANTS: &'static [&'static [Field]] = &[$(&[$($(Field {
                key: stringify!($field),
                rule: &$rule,
                required: required!($need),
            }),*)?]),*];

            /// One of these variants, its fields as usual.
            pub(super) fn of(variant: usize) -> Self {
                enum Which { $($variant),* }
                match variant {
                    $(_ if variant == Which::$variant as usize => Self::$variant {
                        $($($field: usual!($need $($usual)?).unwrap_or_else(<$ty as Wire>::stand_in),)*)?
                    },)*
                    _ => no_field(),
                }
            }
        }

        impl Fields for $name {
            fn kind(&self) -> &'static Kind {
                const {
                    &Kind { name: $schema, first: &[], tag: $tag, words: Self::WORDS, variants: Self::VARIANTS }
                }
            }

            fn variant(&self) -> usize {
                enum Which { $($variant),* }
                match self {
                    $(Self::$variant { .. } => Which::$variant as usize,)*
                }
            }

            fn reset(&mut self, variant: usize) {
                *self = Self::of(variant);
            }

            fn usual(&self) -> Box<dyn Fields> {
                Box::new(Self::of(self.variant()))
            }

            fn field(&self, i: usize) -> &dyn Wire {
                match self {
                    $(Self::$variant { $($($field),*)? } => {
                        #[allow(dead_code, non_camel_case_types, reason = "its names are those of fields, if any")]
                        enum At { $($($field),*)? }
                        match i {
                            $($(_ if i == At::$field as usize => $field,)*)?
                            _ => no_field(),
                        }
                    })*
                }
            }

            fn field_mut(&mut self, i: usize) -> &mut dyn Wire {
                match self {
                    $(Self::$variant { $($($field),*)? } => {
                        #[allow(dead_code, non_camel_case_types, reason = "its names are those of fields, if any")]
                        enum At { $($($field),*)? }
                        match i {
                            $($(_ if i == At::$field as usize => $field,)*)?
                            _ => no_field(),
                        }
                    })*
                }
            }
        }

        impl Described for $name {
            const NAME: &'static str = $schema;
            const DOC: &'static str = concat!($($doc),*);

            fn empty() -> Self {
                Self::of(0)
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

        impl Word for $name {
            fn words(&self) -> &'static [&'static str] {
                Self::WORDS
            }

            fn which(&self) -> usize {
                *self as usize
            }

            fn set(&mut self, which: usize) {
                *self = Self::ALL[which];
            }
        }

        impl Wire for $name {
            fn stand_in() -> Self {
                Self::ALL[0]
            }

            fn part(&self) -> Part<'_> {
                Part::Word(self)
            }

            fn place(&mut self) -> Place<'_> {
                Place::Word(self)
            }

            fn schema(_: &Rule, _: &mut Defs) -> Value {
                serde_json::json!({ "type": "string", "enum": Self::WORDS })
            }
        }
    };
}

/// Where the walk asks for a field or variant that its own table does not have.
#[cold]
pub(super) fn no_field() -> ! {
    unreachable!("a table of fields is longer than its type")
}

pub(super) use {choice, key, record, required, usual, words};

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
