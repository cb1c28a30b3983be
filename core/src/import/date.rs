//! Calendar times in logs, as nanoseconds since 1970-01-01 UTC.
//!
//! Two shapes are read: `01/Aug/1995:02:00:00 -0400` (Common Log Format) and `2025-12-08T14:02:43.46Z`
//! (RFC 3339, with a blank for the `T` and without zone, which counts as UTC, as CSV files have it).
//! Written by hand instead of taking a calendar crate: it is one formula and two fixed shapes, the crates
//! bring formatting, spans and error types into the page's download, and the formula is tested day by day.

/// Nanoseconds in a second.
pub(super) const SECOND: i64 = 1_000_000_000;

/// Days from 1970-01-01 to a date of the Gregorian calendar, `month` and `day` counted from 1.
///
/// Years are counted from March, so that the leap day is the last of its year, in eras of 400 years.
/// Source: H. Hinnant, "chrono-compatible low-level date algorithms", `days_from_civil`.
const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

const fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + is_leap(year) as i64,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Seconds since 1970 of a wall clock reading `offset` seconds east of UTC; `None` if there is no such time.
///
/// Second 60, a leap second, counts as the first second of the next minute.
fn unix_seconds(date: (i64, i64, i64), time: (i64, i64, i64), offset: i64) -> Option<i64> {
    let ((year, month, day), (hour, minute, second)) = (date, time);
    let exists = (1..=12).contains(&month)
        && (1..=days_in(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    exists.then(|| days_from_civil(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset)
}

/// Takes fields of fixed shape off the front of a text.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn digits(&mut self, count: usize) -> Option<i64> {
        let (number, rest) = self.0.split_at_checked(count)?;
        if !number.iter().all(u8::is_ascii_digit) {
            return None;
        }
        self.0 = rest;
        Some(number.iter().fold(0, |sum, b| sum * 10 + i64::from(b - b'0')))
    }

    fn byte(&mut self, among: &[u8]) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        if !among.contains(&first) {
            return None;
        }
        self.0 = rest;
        Some(first)
    }

    /// `12:13:14`, the separators being colons.
    fn time(&mut self) -> Option<(i64, i64, i64)> {
        let hour = self.digits(2)?;
        self.byte(b":")?;
        let minute = self.digits(2)?;
        self.byte(b":")?;
        Some((hour, minute, self.digits(2)?))
    }

    /// `+0200` or `-04:00`, in seconds east of UTC.
    fn offset(&mut self) -> Option<i64> {
        let sign = if self.byte(b"+-")? == b'-' { -1 } else { 1 };
        let hours = self.digits(2)?;
        let _ = self.byte(b":");
        let minutes = self.digits(2)?;
        (hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
    }

    /// `.123456789` in nanoseconds, further digits dropped; 0 if there is no fraction.
    fn fraction(&mut self) -> Option<i64> {
        if self.byte(b".,").is_none() {
            return Some(0);
        }
        let count = self.0.iter().take_while(|b| b.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at(count);
        self.0 = rest;
        let padded = digits.iter().copied().chain(core::iter::repeat(b'0'));
        (count > 0).then(|| padded.take(9).fold(0, |sum, b| sum * 10 + i64::from(b - b'0')))
    }
}

/// Length of a time in the Common Log Format.
pub(super) const CLF_LENGTH: usize = 26;

/// Reads `01/Aug/1995:02:00:00 -0400`, whole seconds since 1970.
pub(super) fn clf_seconds(text: &[u8]) -> Option<i64> {
    const MONTHS: [&[u8; 3]; 12] =
        [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
    let mut from = Reader(text);
    let day = from.digits(2)?;
    from.byte(b"/")?;
    let (name, rest) = from.0.split_at_checked(3)?;
    let month = MONTHS.iter().position(|m| name.eq_ignore_ascii_case(*m))? as i64 + 1;
    from.0 = rest;
    from.byte(b"/")?;
    let year = from.digits(4)?;
    from.byte(b":")?;
    let time = from.time()?;
    from.byte(b" ")?;
    let offset = from.offset()?;
    from.0.is_empty().then(|| unix_seconds((year, month, day), time, offset))?
}

/// Reads `2025-12-08T14:02:43.463764557Z` and its looser kin, nanoseconds since 1970.
pub(super) fn rfc3339_nanos(text: &[u8]) -> Option<i64> {
    let mut from = Reader(text);
    let year = from.digits(4)?;
    from.byte(b"-/")?;
    let month = from.digits(2)?;
    from.byte(b"-/")?;
    let day = from.digits(2)?;
    from.byte(b"Tt ")?;
    let time = from.time()?;
    let fraction = from.fraction()?;
    let _ = from.byte(b" ");
    let offset = match from.0 {
        [] | b"Z" | b"z" | b"UTC" => {
            from.0 = &[];
            0
        }
        _ => from.offset()?,
    };
    if !from.0.is_empty() {
        return None;
    }
    unix_seconds((year, month, day), time, offset)?.checked_mul(SECOND)?.checked_add(fraction)
}

/// Reads `21:42` or `21:42:30`, in seconds since midnight.
pub(super) fn time_of_day(text: &[u8]) -> Option<i64> {
    let mut from = Reader(text);
    let hour = from.digits(2).or_else(|| from.digits(1))?;
    from.byte(b":")?;
    let minute = from.digits(2)?;
    let second = if from.byte(b":").is_some() { from.digits(2)? } else { 0 };
    (from.0.is_empty() && hour < 24 && minute < 60 && second < 60)
        .then_some(hour * 3_600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_eight_centuries_follows_the_one_before() {
        let mut next = days_from_civil(1600, 1, 1);
        assert_eq!(next, -135_140);
        for year in 1600..2400 {
            for month in 1..=12 {
                for day in 1..=days_in(year, month) {
                    assert_eq!(days_from_civil(year, month, day), next, "{year}-{month}-{day}");
                    next += 1;
                }
            }
        }
        assert_eq!(days_from_civil(1970, 1, 1), 0);
        assert_eq!(days_from_civil(2000, 3, 1), 11_017);
    }

    #[test]
    fn common_log_times_are_read_with_their_zone() {
        assert_eq!(clf_seconds(b"01/Jan/1970:00:00:00 +0000"), Some(0));
        assert_eq!(clf_seconds(b"01/Aug/1995:02:00:00 -0400"), Some(807_256_800));
        assert_eq!(clf_seconds(b"29/Feb/2024:23:59:60 +0530"), Some(1_709_231_400));
        assert_eq!(clf_seconds(b"10/oct/2025:13:55:36 +0200"), Some(1_760_097_336));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "01/Aug/1995",
            "01/Aug/1995:02:00:00",
            "31/Apr/2024:00:00:00 +0000",
            "29/Feb/2023:00:00:00 +0000",
            "01/Foo/1995:02:00:00 -0400",
            "01/Aug/1995:24:00:00 -0400",
            "01/Aug/1995:02:60:00 -0400",
            "00/Aug/1995:02:00:00 -0400",
            "01/Aug/1995:02:00:00 -04000",
            "01/Aug/1995:02:00:00 -9900",
            "1/Aug/1995:02:00:00 -0400 ",
        ] {
            assert_eq!(clf_seconds(text.as_bytes()), None, "{text}");
        }
        for text in [
            "2025-13-01T00:00:00Z",
            "2025-12-08",
            "2025-12-08T14:02:43.Z",
            "2025-12-08T14:02:43X",
            "9999-01-01T00:00:00Z",
        ] {
            assert_eq!(rfc3339_nanos(text.as_bytes()), None, "{text}");
        }
        for text in ["24:00", "1:2", "12", "12:60", "12:00:60", ":00"] {
            assert_eq!(time_of_day(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn rfc3339_and_its_looser_kin_agree() {
        let want = Some(1_765_202_563_463_764_557);
        for text in [
            "2025-12-08T14:02:43.463764557Z",
            "2025-12-08 14:02:43.4637645579",
            "2025-12-08t16:02:43.463764557+02:00",
            "2025/12/08 14:02:43.463764557 UTC",
            "2025-12-08T10:02:43,463764557-0400",
        ] {
            assert_eq!(rfc3339_nanos(text.as_bytes()), want, "{text}");
        }
        assert_eq!(rfc3339_nanos(b"1969-12-31T23:59:59.5Z"), Some(-500_000_000));
        assert_eq!(time_of_day(b"21:42"), Some(78_120));
        assert_eq!(time_of_day(b"9:00:01"), Some(32_401));
    }
}
