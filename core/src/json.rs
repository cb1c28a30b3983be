//! JSON text as values, and values as text, for any JSON; what a scenario says in it is [`scenario`]'s.
//!
//! Our own reader, though `serde_json` has one: it says in which words and where a text is wrong, which key is given twice,
//! and reads every decimal exactly, in less code and without tables, which do not pack. The values are
//! `serde_json`'s. Checked against its reader in the tests.

mod decimal;

use crate::scenario;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};
use serde_json::{Map, Number, Value};

/// Most objects and lists inside each other.
const MAX_DEPTH: u32 = 127;

/// What is wrong with a text, in words that go after “found”, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonFault {
    what: &'static str,
    line: usize,
    column: usize,
    /// Path of the key, if it is one that is given twice.
    pub repeated: Option<String>,
}

impl fmt::Display for JsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at line {} column {}", self.what, self.line, self.column)
    }
}

impl core::error::Error for JsonFault {}

/// Reads JSON text (RFC 8259), at most 127 levels deep. A whole number that fits is a `u64` or `i64`, any other the nearest
/// `f64`.
///
/// # Errors
/// The first thing that is wrong; a key given twice in one object is, too.
pub fn read(text: &str) -> Result<Value, JsonFault> {
    Reader::read(text, false)
}

/// The same for text of others: of a key given twice the last value counts, as with most readers.
///
/// # Errors
/// The first thing that is wrong.
pub fn read_lax(text: &str) -> Result<Value, JsonFault> {
    Reader::read(text, true)
}

/// A number as JSON writes it, to the nearest `f64`; `None` if it is none, or too large.
#[must_use]
pub fn number(text: &str) -> Option<f64> {
    read(text).ok()?.as_f64()
}

/// The shortest text of a value: no spaces, keys sorted, numbers and strings as ECMAScript writes them (RFC 8785).
#[must_use]
pub fn write(value: &Value) -> String {
    let mut out = String::new();
    scenario::push_value(&mut out, value);
    out
}

const EARLY: &str = "an early end";
const NO_VALUE: &str = "no value";
const NO_KEY: &str = "no key in quotes";
const BAD_NUMBER: &str = "an ill-formed number";
const TOO_LARGE: &str = "a number that is too large";
const BAD_ESCAPE: &str = "an ill-formed escape";
const REPEATED: &str = "a key given twice";

type Read<T> = Result<T, &'static str>;

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    lax: bool,
    /// Where the value stands that is being read.
    path: String,
}

impl<'a> Reader<'a> {
    fn read(text: &'a str, lax: bool) -> Result<Value, JsonFault> {
        let mut reader = Reader { text, at: 0, depth: 0, lax, path: String::new() };
        reader.whole().map_err(|what| {
            let before = &text.as_bytes()[..reader.at];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
            JsonFault { what, line, column, repeated: (what == REPEATED).then_some(reader.path) }
        })
    }

    fn whole(&mut self) -> Read<Value> {
        let value = self.value()?;
        self.peek();
        if self.at == self.text.len() { Ok(value) } else { Err("more text") }
    }

    /// The byte here; 0 at the end, and for a zero, which stands nowhere in JSON.
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    /// The next byte that is no space.
    fn peek(&mut self) -> u8 {
        while matches!(self.byte(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
        self.byte()
    }

    /// What it says of a byte that should not be there.
    fn fault<T>(&self, what: &'static str) -> Read<T> {
        Err(if self.at == self.text.len() { EARLY } else { what })
    }

    fn value(&mut self) -> Read<Value> {
        match self.peek() {
            b'{' => self.nested(Self::object),
            b'[' => self.nested(Self::list),
            b'"' => Ok(Value::String(self.string()?)),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            b'n' => self.word("null", Value::Null),
            _ => self.fault(NO_VALUE),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Read<Value> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(NO_VALUE)
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Read<Value>) -> Read<Value> {
        if self.depth == MAX_DEPTH {
            return Err("more than 127 levels");
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self)?;
        self.at += 1;
        self.depth -= 1;
        Ok(value)
    }

    /// Up to the bracket at the end.
    fn list(&mut self) -> Read<Value> {
        let mut list = Vec::new();
        let outer = self.path.len();
        if self.peek() == b']' {
            return Ok(Value::Array(list));
        }
        loop {
            // Writing to a String cannot fail.
            let _ = write!(self.path, "[{}]", list.len());
            list.push(self.value()?);
            self.path.truncate(outer);
            match self.peek() {
                b',' => self.at += 1,
                b']' => return Ok(Value::Array(list)),
                _ => return self.fault("neither `,` nor `]`"),
            }
        }
    }

    /// Up to the brace at the end.
    fn object(&mut self) -> Read<Value> {
        let mut object = Map::new();
        let outer = self.path.len();
        if self.peek() == b'}' {
            return Ok(Value::Object(object));
        }
        loop {
            if self.peek() != b'"' {
                return self.fault(NO_KEY);
            }
            let start = self.at;
            let key = self.string()?;
            let dot = if outer == 0 { "" } else { "." };
            let _ = write!(self.path, "{dot}{}", scenario::shorten(&key).escape_default());
            if !self.lax && object.contains_key(&key) {
                self.at = start;
                return Err(REPEATED);
            }
            if self.peek() != b':' {
                return self.fault("no `:`");
            }
            self.at += 1;
            let value = self.value()?;
            object.insert(key, value);
            self.path.truncate(outer);
            match self.peek() {
                b',' => self.at += 1,
                b'}' => return Ok(Value::Object(object)),
                _ => return self.fault("neither `,` nor `}`"),
            }
        }
    }

    /// A string, at its opening quote.
    fn string(&mut self) -> Read<String> {
        let mut out = String::new();
        self.at += 1;
        loop {
            let start = self.at;
            while !matches!(self.byte(), b'"' | b'\\' | 0..b' ') {
                self.at += 1;
            }
            out.push_str(&self.text[start..self.at]);
            match self.byte() {
                b'"' => {
                    self.at += 1;
                    return Ok(out);
                }
                b'\\' => out.push(self.escape()?),
                _ => return self.fault("a control character in a string"),
            }
        }
    }

    /// The character that an escape stands for, at its backslash.
    fn escape(&mut self) -> Read<char> {
        self.at += 1;
        let plain = match self.byte() {
            kept @ (b'"' | b'\\' | b'/') => char::from(kept),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unit(),
            _ => return self.fault(BAD_ESCAPE),
        };
        self.at += 1;
        Ok(plain)
    }

    /// The same at the `u` of one or two units of UTF-16.
    fn unit(&mut self) -> Read<char> {
        let first = self.hex()?;
        let code = match first {
            0xD800..0xDC00 if self.text[self.at..].starts_with("\\u") => {
                self.at += 1;
                let second = self.hex()?;
                if !(0xDC00..0xE000).contains(&second) {
                    return Err(BAD_ESCAPE);
                }
                0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)
            }
            _ => first,
        };
        // What is left of a pair is no character.
        char::from_u32(code).ok_or(BAD_ESCAPE)
    }

    /// Four digits after a `u`.
    fn hex(&mut self) -> Read<u32> {
        let mut unit = 0;
        for _ in 0..4 {
            self.at += 1;
            match char::from(self.byte()).to_digit(16) {
                Some(digit) => unit = unit * 16 + digit,
                None => return self.fault(BAD_ESCAPE),
            }
        }
        self.at += 1;
        Ok(unit)
    }

    /// Passes over digits; returns them.
    fn digits(&mut self) -> Read<&'a str> {
        let start = self.at;
        while self.byte().is_ascii_digit() {
            self.at += 1;
        }
        if self.at == start { self.fault(BAD_NUMBER) } else { Ok(&self.text[start..self.at]) }
    }

    fn number(&mut self) -> Read<Value> {
        let negative = self.byte() == b'-';
        self.at += usize::from(negative);
        let whole = self.digits()?;
        if whole.len() > 1 && whole.starts_with('0') {
            return Err(BAD_NUMBER);
        }
        let (mut fraction, mut exponent) = ("", 0_i32);
        if self.byte() == b'.' {
            self.at += 1;
            fraction = self.digits()?;
        } else if !matches!(self.byte(), b'e' | b'E')
            && let Some(number) = integer(negative, whole)
        {
            return Ok(Value::Number(number));
        }
        if matches!(self.byte(), b'e' | b'E') {
            self.at += 1;
            let down = self.byte() == b'-';
            self.at += usize::from(down || self.byte() == b'+');
            for digit in self.digits()?.bytes() {
                // An exponent beyond this is as good as this.
                exponent = exponent.saturating_mul(10).saturating_add(i32::from(digit - b'0'));
            }
            exponent = if down { -exponent } else { exponent };
        }
        let size = decimal::nearest(whole, fraction, exponent);
        let number = Number::from_f64(if negative { -size } else { size });
        number.map(Value::Number).ok_or(TOO_LARGE)
    }
}

/// A whole number that fits.
fn integer(negative: bool, digits: &str) -> Option<Number> {
    let mut size = 0_u64;
    for digit in digits.bytes() {
        size = size.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    match negative {
        false => Some(size.into()),
        // Minus zero is a number of its own.
        true if size == 0 => None,
        true => 0_i64.checked_sub_unsigned(size).map(Number::from),
    }
}

#[cfg(test)]
mod tests;
