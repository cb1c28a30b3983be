//! How numbers are written: two to three digits, the unit beside them, the same in both languages.

/// A span of time: `9 ms`, `190 ms`, `1.19 s`, `12.4 s`, `3 min`.
#[must_use]
pub fn wait(s: f64) -> String {
    let ms = s * 1000.0;
    if !s.is_finite() {
        "—".to_owned()
    } else if ms < 0.95 {
        let us = (s * 1e6).round();
        if us < 1.0 { "0 ms".to_owned() } else { format!("{} µs", two_digits(us)) }
    } else if ms < 9.95 {
        format!("{} ms", trimmed(ms, 1))
    } else if ms < 99.5 {
        format!("{} ms", ms.round())
    } else if ms < 995.0 {
        format!("{} ms", (ms / 10.0).round() * 10.0)
    } else if s < 9.995 {
        format!("{s:.2} s")
    } else if s < 99.95 {
        format!("{} s", trimmed(s, 1))
    } else if s < 600.0 {
        format!("{} s", s.round())
    } else if s < 7200.0 {
        format!("{} min", (s / 60.0).round())
    } else {
        format!("{} h", trimmed(s / 3600.0, 1))
    }
}

/// A time that is told as it passes: `4 s`, `95 s`.
#[must_use]
pub fn seconds(s: f64) -> String {
    format!("{} s", s.round())
}

/// A rate without its unit: `0.4`, `8.3`, `217`, `12,400`.
#[must_use]
pub fn rate(per_s: f64) -> String {
    if !per_s.is_finite() {
        "—".to_owned()
    } else if per_s < 0.05 {
        "0".to_owned()
    } else if per_s < 10.0 {
        trimmed(per_s, 1)
    } else {
        count(per_s.round() as u64)
    }
}

/// A ratio: `0.68`, `1.31`, `3.7`, `24`.
#[must_use]
pub fn ratio(x: f64) -> String {
    if !x.is_finite() {
        "—".to_owned()
    } else if x < 2.0 {
        trimmed(x, 2)
    } else if x < 20.0 {
        trimmed(x, 1)
    } else {
        count(x.round() as u64)
    }
}

/// A ratio that is held against a target: `0.97`, `2.03`, `12.1`.
#[must_use]
pub fn fine(x: f64) -> String {
    if x < 10.0 && x.is_finite() { trimmed(x, 2) } else { ratio(x) }
}

/// A chance: two digits, three where it is small.
#[must_use]
pub fn chance(p: f64) -> String {
    if p.is_finite() { trimmed(p, if p < 0.1 { 3 } else { 2 }) } else { "—".to_owned() }
}

/// A share in whole percent, but never 0 or 100 unless it is.
#[must_use]
pub fn percent(share: f64) -> String {
    let p = share * 100.0;
    if !p.is_finite() {
        "—".to_owned()
    } else if p > 0.0 && p < 0.5 {
        "<1%".to_owned()
    } else if p < 100.0 && p > 99.5 {
        ">99%".to_owned()
    } else {
        format!("{}%", p.round())
    }
}

/// A whole number with thin separators from 10,000 on.
#[must_use]
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{2009}');
        }
        out.push(c);
    }
    out
}

/// A moment of the run: `1:57.0`, `1:02:03.5`.
#[must_use]
pub fn clock(s: f64) -> String {
    let tenths = (s.max(0.0) * 10.0 + 1e-6).floor() as u64;
    let (whole, tenth) = (tenths / 10, tenths % 10);
    format!("{}.{tenth}", hms(whole))
}

/// A moment without tenths: `1:57`; rounded down.
#[must_use]
pub fn clock_short(s: f64) -> String {
    hms((s.max(0.0) + 1e-6).floor() as u64)
}

fn hms(s: u64) -> String {
    let (h, m, s) = (s / 3600, s / 60 % 60, s % 60);
    if h > 0 { format!("{h}:{m:02}:{s:02}") } else { format!("{m}:{s:02}") }
}

/// A speed factor: `0.1×`, `2.5×`, `1000×`.
#[must_use]
pub fn speed(x: f64) -> String {
    if x < 10.0 {
        format!("{}×", trimmed(x, if x < 1.0 { 2 } else { 1 }))
    } else {
        format!("{}×", x.round())
    }
}

/// A number as a person would type it into a field: no exponent, no trailing zeros.
#[must_use]
pub fn typed(x: f64) -> String {
    if x == x.trunc() && x.abs() < 1e15 { format!("{x:.0}") } else { trimmed(x, 6) }
}

/// Reads a number as a person types it: blanks and thin separators do not matter, a comma is a point.
#[must_use]
pub fn read(text: &str) -> Option<f64> {
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let plain = plain.replace(',', ".").replace('−', "-");
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", plain.strip_prefix('+').unwrap_or(&plain)),
    };
    // As JSON wants it: the page has a reader for that, and needs no second one.
    let digits = digits.trim_start_matches('0').trim_end_matches('.');
    let zero = if digits.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "0" };
    let zero = if digits.is_empty() && !plain.contains('0') { "" } else { zero };
    tidegate_core::json::number(&format!("{sign}{zero}{digits}"))
}

/// With `digits` decimals, without trailing zeros.
fn trimmed(x: f64, digits: usize) -> String {
    let text = format!("{x:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn two_digits(x: f64) -> String {
    if x < 100.0 { trimmed(x, 0) } else { format!("{}", (x / 10.0).round() * 10.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_keep_two_to_three_digits() {
        let cases = [
            (0.0, "0 ms"),
            (0.000_25, "250 µs"),
            (0.003_14, "3.1 ms"),
            (0.009, "9 ms"),
            (0.043, "43 ms"),
            (0.188, "190 ms"),
            (1.188, "1.19 s"),
            (12.36, "12.4 s"),
            (245.0, "245 s"),
            (f64::NAN, "—"),
        ];
        for (s, want) in cases {
            assert_eq!(wait(s), want, "{s}");
        }
    }

    #[test]
    fn typed_numbers_are_read_as_meant() {
        let good = [
            ("12", 12.0),
            ("0", 0.0),
            ("00", 0.0),
            ("007.5", 7.5),
            (".5", 0.5),
            ("5.", 5.0),
            ("+3", 3.0),
            ("−2", -2.0),
        ];
        for (text, want) in
            good.into_iter().chain([("12\u{2009}400", 12_400.0), ("0,25", 0.25), ("1e3", 1000.0)])
        {
            assert_eq!(read(text), Some(want), "{text}");
        }
        for text in ["", "-", ".", "twelve", "1.2.3", "12ms", "NaN", "inf"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn clocks_rates_and_ratios_read_as_designed() {
        assert_eq!(clock(117.0), "1:57.0");
        assert_eq!(clock(3723.56), "1:02:03.5");
        assert_eq!(clock_short(59.99), "0:59");
        assert_eq!(rate(217.4), "217");
        assert_eq!(rate(8.25), "8.2");
        assert_eq!(count(12_400), "12\u{2009}400");
        assert_eq!(count(1_234_567), "1\u{2009}234\u{2009}567");
        assert_eq!(ratio(1.31), "1.31");
        assert_eq!(ratio(3.72), "3.7");
        assert_eq!([0.0, 0.004_52, 0.25, 1.0].map(chance), ["0", "0.005", "0.25", "1"]);
        assert_eq!(percent(0.0003), "<1%");
        assert_eq!(percent(0.9999), ">99%");
        assert_eq!(percent(1.0), "100%");
        assert_eq!(speed(0.25), "0.25×");
        assert_eq!(speed(1000.0), "1000×");
        assert_eq!(typed(0.2), "0.2");
        assert_eq!(typed(485.0), "485");
    }
}
