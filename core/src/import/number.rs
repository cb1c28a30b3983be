//! Decimal numbers as exact nanoseconds: `0.2477829` s is 247,782,900 ns, without a float in between.

/// Reads a decimal number of units of `unit` nanoseconds each, rounded to the nearest nanosecond.
///
/// `None` if it is no number, or out of range. A number with an exponent goes through a float.
pub(super) fn nanos(text: &[u8], unit: i64) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if digits.iter().any(|b| matches!(b, b'e' | b'E')) {
        return with_exponent(text, unit);
    }
    let point = digits.iter().position(|&b| b == b'.').unwrap_or(digits.len());
    let (whole, fraction) = (&digits[..point], digits.get(point + 1..).unwrap_or(&[]));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    // 18 digits of a fraction are finer than a nanosecond of any unit up to a year.
    let kept = &fraction[..fraction.len().min(18)];
    let scale = 10i128.pow(kept.len() as u32);
    let number = read_digits(whole)?.checked_mul(scale)?.checked_add(read_digits(kept)?)?;
    read_digits_only(&fraction[kept.len()..])?;
    let nanos = (number.checked_mul(i128::from(unit))? + scale / 2) / scale;
    i64::try_from(if negative { -nanos } else { nanos }).ok()
}

fn read_digits_only(digits: &[u8]) -> Option<()> {
    digits.iter().all(u8::is_ascii_digit).then_some(())
}

fn read_digits(digits: &[u8]) -> Option<i128> {
    read_digits_only(digits)?;
    digits.iter().try_fold(0i128, |sum, b| sum.checked_mul(10)?.checked_add(i128::from(b - b'0')))
}

fn with_exponent(text: &[u8], unit: i64) -> Option<i64> {
    // By hand: std's parser carries 10 KB of powers of ten into the page for the few numbers written so.
    let (mantissa, exponent) = text.split_at(text.iter().position(|b| matches!(b, b'e' | b'E'))?);
    let (negative, mantissa) = match mantissa {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let point = mantissa.iter().position(|&b| b == b'.').unwrap_or(mantissa.len());
    let (whole, fraction) = (&mantissa[..point], mantissa.get(point + 1..).unwrap_or_default());
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let kept = &fraction[..fraction.len().min(18)];
    read_digits_only(&fraction[kept.len()..])?;
    let scale = 10i128.pow(kept.len() as u32);
    let digits = read_digits(whole)?.checked_mul(scale)?.checked_add(read_digits(kept)?)?;
    let (down, exponent) = match &exponent[1..] {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let exponent = i32::try_from(read_digits(exponent).filter(|_| !exponent.is_empty())?).ok()?;
    let power = if down { -exponent } else { exponent } - kept.len() as i32;
    let shifted = match power {
        // Dividing by an exact power rounds once, multiplying by its inverse twice.
        ..0 => digits as f64 / libm::pow(10.0, f64::from(-power)),
        _ => digits as f64 * libm::pow(10.0, f64::from(power)),
    };
    let nanos = libm::round(if negative { -shifted } else { shifted } * unit as f64);
    (nanos.abs() < 9.2e18).then_some(nanos as i64)
}

/// Reads a count: digits only.
pub(super) fn count(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    u64::try_from(read_digits(text)?).ok()
}

/// How many digits stand before the point; 0 for what is no unsigned number.
pub(super) fn whole_digits(text: &[u8]) -> usize {
    text.iter().take_while(|b| b.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        for (text, unit, want) in [
            ("0.2477829", 1_000_000_000, 247_782_900),
            ("3435.9480560", 1_000_000_000, 3_435_948_056_000),
            ("1760104538.115", 1_000_000_000, 1_760_104_538_115_000_000),
            ("1736012", 1_000, 1_736_012_000),
            ("-0.5", 1_000_000, -500_000),
            ("+7", 1, 7),
            (".5", 10, 5),
            ("5.", 10, 50),
            ("0.4999", 1, 0),
            ("0.5", 1, 1),
            ("1.5e-3", 1_000_000_000, 1_500_000),
            ("0.12345678901234567890123", 1_000_000_000, 123_456_789),
        ] {
            assert_eq!(nanos(text.as_bytes(), unit), Some(want), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in [
            "",
            "-",
            ".",
            "1.2.3",
            "0x10",
            "1,5",
            "NaN",
            "inf",
            "1e",
            "1e99",
            "99999999999999999999999999999999999999999",
            "12a",
            "1.0000000000000000000x",
            " 1",
        ] {
            assert_eq!(nanos(text.as_bytes(), 1_000_000_000), None, "{text}");
        }
        for text in ["", "-1", "1.0", "18446744073709551616"] {
            assert_eq!(count(text.as_bytes()), None, "{text}");
        }
        assert_eq!(count(b"18446744073709551615"), Some(u64::MAX));
    }
}
