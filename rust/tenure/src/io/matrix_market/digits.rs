//! Decimal digits as numbers, eight at a time and rounded once.

/// Powers of ten that a double holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Powers of five below 2^64.
const POWERS_OF_FIVE: [u64; 28] = {
    let mut powers = [1; 28];
    let mut power = 1;
    while power < powers.len() {
        powers[power] = 5 * powers[power - 1];
        power += 1;
    }
    powers
};

/// The number that eight characters write, if all are digits: pairs, then fours, then all at once.
#[inline]
pub(super) fn eight_digits(characters: [u8; 8]) -> Option<u64> {
    let text = u64::from_le_bytes(characters);
    let digits = text.wrapping_sub(0x3030_3030_3030_3030);
    // A character under '0' borrows and one over '9' carries, each into its own highest bit.
    if (digits | text.wrapping_add(0x4646_4646_4646_4646)) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

/// The double nearest to `digits` times ten to the `exponent`; `None` where that takes more than
/// one division of 128 bits by 64.
#[inline]
pub(super) fn scaled(digits: u64, exponent: i64) -> Option<f64> {
    let size = exponent.unsigned_abs() as usize;
    if let (Some(power), true) = (EXACT_POWERS.get(size), digits <= 1 << 53) {
        // Both exact: one multiplication or division rounds once (Clinger, "How to read floating
        // point numbers accurately", 1990).
        let digits = digits as f64;
        return Some(if exponent < 0 { digits / power } else { digits * power });
    }
    let power = *POWERS_OF_FIVE.get(size)?;
    let two_to = |exponent: i64| f64::from_bits(((exponent + 1023) as u64) << 52);
    if exponent >= 0 {
        // Exact until it is rounded once, to a double; powers of two change no digit.
        return Some((u128::from(digits) * u128::from(power)) as f64 * two_to(exponent));
    }
    if digits == 0 {
        return Some(0.0);
    }
    // With their highest bits set the quotient has 63 or 64 bits. A double has 53, so that a bit
    // for the rest at the very end is enough for rounding.
    let (up, down) = (digits.leading_zeros(), power.leading_zeros());
    let dividend = u128::from(digits << up) << 63;
    let divisor = u128::from(power << down);
    let quotient = dividend / divisor;
    let rest = u64::from(quotient * divisor != dividend);
    let shift = i64::from(down) - i64::from(up) - 63;
    Some((quotient as u64 | rest) as f64 * two_to(shift + exponent))
}
