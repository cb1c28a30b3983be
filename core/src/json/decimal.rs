//! The `f64` nearest to a decimal.
//!
//! Up to fifteen digits and a small power of ten it is one exact multiplication or division (Clinger 1990, fast path);
//! everything else is a division of whole numbers of any size, rounded once. That takes microseconds, has no tables, and is
//! needed by hardly a number that people write.

use alloc::vec::Vec;

/// More digits than this cannot change the nearest number but by being there: the longest decimal between two neighbours
/// has 768.
const MOST_DIGITS: usize = 800;
/// Powers of ten up to this one are exact.
const EXACT_POWER: i64 = 22;

/// The `f64` nearest to `whole.fraction` times ten to `exponent`, ties to even; infinite beyond the largest. Both are
/// digits.
pub(super) fn nearest(whole: &str, fraction: &str, exponent: i32) -> f64 {
    let mut digits = whole.bytes().chain(fraction.bytes()).map(|digit| u32::from(digit - b'0'));
    let count = whole.len() + fraction.len();
    // The value is the digits kept, as a whole number, times ten to `power`.
    let mut power = i64::from(exponent) - fraction.len() as i64;
    let mut kept = Vec::new();
    let mut small = 0_u64;
    for (i, digit) in digits.by_ref().enumerate() {
        if kept.len() == MOST_DIGITS {
            let more = digit != 0 || digits.any(|digit| digit != 0);
            power += (count - i) as i64 - 1;
            kept.push(u32::from(more));
            break;
        }
        if digit != 0 || !kept.is_empty() {
            small = small.saturating_mul(10).saturating_add(u64::from(digit));
            kept.push(digit);
        }
    }
    if small < 1 << 53 && (-EXACT_POWER..=EXACT_POWER).contains(&power) {
        let ten = (0..power.abs()).fold(1.0, |power, _| power * 10.0);
        return if power < 0 { small as f64 / ten } else { small as f64 * ten };
    }
    let magnitude = kept.len() as i64 + power;
    if kept.is_empty() || magnitude < -330 {
        return 0.0;
    }
    if magnitude > 310 {
        return f64::INFINITY;
    }
    let mut top = Big(Vec::new());
    for digit in kept {
        top.times_ten_and(digit);
    }
    let mut bottom = Big(alloc::vec![1]);
    let scaled = if power < 0 { &mut bottom } else { &mut top };
    for _ in 0..power.abs() {
        scaled.times_ten_and(0);
    }
    quotient(top, bottom)
}

/// The `f64` nearest to `top / bottom`, both above zero.
fn quotient(mut top: Big, mut bottom: Big) -> f64 {
    // Scaled so that the quotient has 62 or 63 bits.
    let up = 62 + bottom.bits() - top.bits();
    if up > 0 {
        top.up(up);
    } else {
        bottom.up(-up);
    }
    bottom.up(64);
    let mut quotient = 0_u64;
    for _ in 0..64 {
        bottom.down();
        quotient = quotient << 1 | u64::from(top.take(&bottom));
    }
    let is_exact = top.bits() == 0;
    // The value is between 2^last and twice that.
    let bits = 64 - i64::from(quotient.leading_zeros());
    let last = bits - 1 - up;
    // Below the smallest normal number there are fewer bits.
    let precision = 53 - (-1022 - last).max(0);
    let drop = bits - precision;
    if drop >= 64 {
        return 0.0;
    }
    let (half, low) = (1 << (drop - 1), quotient & ((1 << drop) - 1));
    let mut bits = quotient >> drop;
    if low > half || (low == half && (!is_exact || bits & 1 == 1)) {
        bits += 1;
    }
    if last > 1023 {
        f64::INFINITY
    } else if last < -1022 {
        // One bit more makes it the smallest normal number, as its bits are next to these.
        f64::from_bits(bits)
    } else {
        // The same for a carry: the exponent is one more, or all ones, which is infinity.
        f64::from_bits((((last + 1022) as u64) << 52) + bits)
    }
}

/// A whole number of any size: 32 bits each, the lowest first, no zero last.
struct Big(Vec<u32>);

impl Big {
    fn bits(&self) -> i64 {
        self.0.last().map_or(0, |last| self.0.len() as i64 * 32 - i64::from(last.leading_zeros()))
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn times_ten_and(&mut self, digit: u32) {
        let mut carry = digit;
        for part in &mut self.0 {
            let product = u64::from(*part) * 10 + u64::from(carry);
            *part = product as u32;
            carry = (product >> 32) as u32;
        }
        self.0.push(carry);
        self.trim();
    }

    /// Times two to `by`.
    fn up(&mut self, by: i64) {
        let shift = (by % 32) as u32;
        self.0.push(0);
        let mut below = 0;
        for part in &mut self.0 {
            let wide = u64::from(*part) << shift;
            *part = wide as u32 | below;
            below = (wide >> 32) as u32;
        }
        self.trim();
        let zeros = core::iter::repeat_n(0, (by / 32) as usize);
        self.0.splice(..0, zeros);
    }

    /// Half of it, which is whole.
    fn down(&mut self) {
        let mut above = 0;
        for part in self.0.iter_mut().rev() {
            let low = *part & 1;
            *part = *part >> 1 | above << 31;
            above = low;
        }
        self.trim();
    }

    /// Takes `other` away if it is not larger.
    fn take(&mut self, other: &Self) -> bool {
        let is_less = match self.0.len().cmp(&other.0.len()) {
            core::cmp::Ordering::Equal => self.0.iter().rev().lt(other.0.iter().rev()),
            unequal => unequal.is_lt(),
        };
        if is_less {
            return false;
        }
        let mut borrow = 0;
        for (i, part) in self.0.iter_mut().enumerate() {
            let less = i64::from(*part) - i64::from(other.0.get(i).copied().unwrap_or(0)) - borrow;
            *part = less as u32;
            borrow = i64::from(less < 0);
        }
        self.trim();
        true
    }
}
