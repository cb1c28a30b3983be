//! Numbers as their intervals allow: never a digit that the interval does not carry.
//!
//! Half a width is told with two digits, and the value to the same place: `12.35 ± 0.12`. Of a value without an interval
//! nobody knows how many digits to believe, so it has two and a `~`. Command line and page both write figures with this.

use alloc::format;
use alloc::string::{String, ToString};

/// What a figure counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// So many a second.
    PerSecond,
    /// A part of a whole, 0 to 1.
    Share,
    /// A number by itself, as a ratio is.
    Plain,
}

/// A unit of a size that suits a number: what its numbers are multiplied by, and its sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    factor: f64,
    /// Its sign: `ms`, `/s`, `%`, or nothing.
    pub sign: &'static str,
}

impl Unit {
    /// The scale for numbers of which `largest` is the largest.
    #[must_use]
    pub fn scale(self, largest: f64) -> Scale {
        let (factor, sign) = match (self, largest.abs()) {
            (Self::PerSecond, _) => (1.0, "/s"),
            (Self::Share, _) => (100.0, "%"),
            (Self::Plain, _) => (1.0, ""),
            (Self::Seconds, size) if size > 0.0 && size < 1e-6 => (1e9, "ns"),
            (Self::Seconds, size) if size > 0.0 && size < 1e-3 => (1e6, "µs"),
            (Self::Seconds, size) if size > 0.0 && size < 1.0 => (1e3, "ms"),
            (Self::Seconds, _) => (1.0, "s"),
        };
        Scale { factor, sign }
    }

    /// Stable name: `s`, `per_s`, `share` or `1`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::PerSecond => "per_s",
            Self::Share => "share",
            Self::Plain => "1",
        }
    }
}

/// What stands where nothing is known.
const UNKNOWN: &str = "–";
/// Smallest place that is written: the ninth decimal.
const LAST_PLACE: i32 = -9;
/// Digits of a value that every run agrees on.
const AGREED_DIGITS: i32 = 4;

impl Scale {
    /// `value` to the place that half the width of its interval has its second digit at; with two digits and a `~` if
    /// there is no interval.
    #[must_use]
    pub fn value(&self, value: f64, half_width: Option<f64>) -> String {
        let value = value * self.factor;
        if !value.is_finite() {
            return UNKNOWN.to_string();
        }
        match half_width {
            Some(half) => match place(half * self.factor) {
                Some(place) => at_place(value, place),
                None if half == 0.0 => trimmed(value, AGREED_DIGITS),
                None => UNKNOWN.to_string(),
            },
            None if value == 0.0 => "0".to_string(),
            None => format!("~{}", trimmed(value, 2)),
        }
    }

    /// The same with a sign before what is more than nothing: for differences.
    #[must_use]
    pub fn difference(&self, value: f64, half_width: Option<f64>) -> String {
        let text = self.value(value, half_width);
        let is_nothing = !text.contains(|c: char| ('1'..='9').contains(&c));
        if value > 0.0 && !is_nothing {
            return match text.strip_prefix('~') {
                Some(rest) => format!("~+{rest}"),
                None => format!("+{text}"),
            };
        }
        text
    }

    /// Half the width of an interval, with two digits.
    #[must_use]
    pub fn half_width(&self, half: f64) -> String {
        let half = half * self.factor;
        match place(half) {
            Some(place) => at_place(half, place),
            None if half == 0.0 => "0".to_string(),
            None => UNKNOWN.to_string(),
        }
    }
}

/// Exponent of the second digit of `half`, once it is rounded to two digits; `None` if it has none.
fn place(half: f64) -> Option<i32> {
    if !(half > 0.0 && half.is_finite()) {
        return None;
    }
    let place = exponent(half) - 1;
    // Rounding 0.0996 to two digits makes it 0.10: one place up.
    let carries = libm::round(half / power(place)) >= 100.0;
    Some((place + i32::from(carries)).max(LAST_PLACE))
}

/// Exponent of the first digit of a number above 0.
fn exponent(x: f64) -> i32 {
    let guess = libm::floor(libm::log10(x)) as i32;
    // The logarithm of a power of ten may fall short of it.
    guess + i32::from(x >= power(guess + 1)) - i32::from(x < power(guess))
}

fn power(exponent: i32) -> f64 {
    libm::pow(10.0, f64::from(exponent))
}

/// `x` with its last digit at a place, thousands set apart from 10,000 on.
fn at_place(x: f64, place: i32) -> String {
    let size = if place > 0 { libm::round(x.abs() / power(place)) * power(place) } else { x.abs() };
    let text = format!("{size:.*}", usize::try_from(-place).unwrap_or(0));
    signed(x, &text)
}

/// `x` with so many digits at most, and no zeros at its end.
fn trimmed(x: f64, digits: i32) -> String {
    if x == 0.0 {
        return "0".to_string();
    }
    let size = x.abs();
    let mut place = exponent(size) + 1 - digits;
    if libm::round(size / power(place)) >= power(digits) {
        place += 1;
    }
    let text = at_place(x, place.max(LAST_PLACE));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// The text of a size with the sign of `x`, unless it is 0.
fn signed(x: f64, size: &str) -> String {
    let whole = size.split('.').next().unwrap_or(size).len();
    let mut out = String::new();
    if x < 0.0 && size.contains(|c: char| ('1'..='9').contains(&c)) {
        out.push('−');
    }
    for (i, c) in size.chars().enumerate() {
        if whole > 4 && i > 0 && i < whole && (whole - i).is_multiple_of(3) {
            out.push('\u{2009}');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(unit: Unit, value: f64, half: f64, want: &str) {
        let scale = unit.scale(value.abs().max(half));
        let text = format!("{} ± {}", scale.value(value, Some(half)), scale.half_width(half));
        let text = if scale.sign.is_empty() { text } else { format!("{text} {}", scale.sign) };
        assert_eq!(text, want, "{value} ± {half}");
    }

    #[test]
    fn a_value_ends_where_its_interval_does() {
        check(Unit::Plain, 12.345_67, 0.123, "12.35 ± 0.12");
        check(Unit::Plain, 12.345_67, 1.23, "12.3 ± 1.2");
        check(Unit::Plain, 12.345_67, 12.3, "12 ± 12");
        check(Unit::Plain, 12.345_67, 123.0, "10 ± 120");
        check(Unit::Plain, 3.0, 123.0, "0 ± 120");
        check(Unit::Plain, -3.0, 123.0, "0 ± 120");
        check(Unit::Plain, -0.05, 0.4, "−0.05 ± 0.40");
        check(Unit::Plain, 1.0, 0.001, "1.0000 ± 0.0010");
        check(Unit::Plain, 0.0, 0.25, "0.00 ± 0.25");
    }

    #[test]
    fn rounding_up_a_half_width_moves_the_place() {
        check(Unit::Plain, 1.0, 0.0994, "1.000 ± 0.099");
        check(Unit::Plain, 1.0, 0.0996, "1.00 ± 0.10");
        check(Unit::Plain, 1.0, 0.995, "1.0 ± 1.0");
        check(Unit::Plain, 1234.0, 99.6, "1230 ± 100");
        for exponent in -7..12 {
            let half = power(exponent);
            let text = Unit::Plain.scale(1.0).half_width(half);
            let digits: String =
                text.chars().filter(char::is_ascii_digit).skip_while(|c| *c == '0').collect();
            assert_eq!(digits.get(..2), Some("10").filter(|_| exponent != 0 || digits.len() > 1), "{text}");
        }
    }

    #[test]
    fn huge_and_tiny_numbers_stay_readable() {
        check(
            Unit::PerSecond,
            1.234_567e15,
            2e13,
            "1\u{2009}235\u{2009}000\u{2009}000\u{2009}000\u{2009}000 ± 20\u{2009}000\u{2009}000\u{2009}000\u{2009}000 /s",
        );
        check(Unit::PerSecond, 12_345.6, 44.0, "12\u{2009}346 ± 44 /s");
        check(Unit::Seconds, 3.2e-8, 1.5e-9, "32.0 ± 1.5 ns");
        check(Unit::Plain, 1e-12, 1e-14, "0.000000000 ± 0.000000000");
        check(Unit::Plain, 5e-324, 5e-324, "0.000000000 ± 0.000000000");
        check(Unit::Plain, f64::MAX, f64::INFINITY, "– ± –");
    }

    #[test]
    fn what_all_runs_agree_on_has_no_noise_to_hide() {
        check(Unit::Seconds, 0.15, 0.0, "150 ± 0 ms");
        check(Unit::Plain, 0.0, 0.0, "0 ± 0");
        check(Unit::Plain, 2.0 / 3.0, 0.0, "0.6667 ± 0");
        check(Unit::Plain, 0.999_99, 0.0, "1 ± 0");
        check(Unit::PerSecond, 1_234_567.0, 0.0, "1\u{2009}235\u{2009}000 ± 0 /s");
    }

    #[test]
    fn nonsense_is_a_dash() {
        check(Unit::Plain, f64::NAN, 1.0, "– ± 1.0");
        check(Unit::Plain, 1.0, f64::NAN, "– ± –");
        check(Unit::Seconds, f64::INFINITY, 1.0, "– ± 1.0 s");
        check(Unit::Plain, 1.0, -1.0, "– ± –");
    }

    #[test]
    fn units_suit_the_larger_number() {
        check(Unit::Seconds, 0.002_314, 0.000_084, "2.314 ± 0.084 ms");
        check(Unit::Seconds, 12.345, 3.2, "12.3 ± 3.2 s");
        check(Unit::Seconds, 0.000_5, 0.2, "0 ± 200 ms");
        check(Unit::Seconds, 2e-5, 1e-6, "20.0 ± 1.0 µs");
        check(Unit::Share, 0.123_45, 0.004, "12.35 ± 0.40 %");
    }

    #[test]
    fn without_an_interval_there_are_two_digits() {
        let show = |unit: Unit, x: f64| unit.scale(x).value(x, None);
        assert_eq!(show(Unit::Seconds, 0.002_314), "~2.3");
        assert_eq!(show(Unit::Plain, -1_234.0), "~−1200");
        assert_eq!(show(Unit::Plain, 0.996), "~1");
        assert_eq!((show(Unit::Plain, 0.0).as_str(), show(Unit::Plain, f64::NAN).as_str()), ("0", "–"));
    }

    #[test]
    fn differences_have_a_sign() {
        let scale = Unit::Plain.scale(1.0);
        assert_eq!(scale.difference(0.5, Some(0.1)), "+0.50");
        assert_eq!(scale.difference(-0.5, Some(0.1)), "−0.50");
        assert_eq!(scale.difference(0.001, Some(0.1)), "0.00");
        assert_eq!(scale.difference(0.5, None), "~+0.5");
        assert_eq!(scale.difference(0.0, Some(0.0)), "0");
    }
}
