//! Elements as text: every cell of an array has one width and one notation, chosen from all of
//! the elements that are shown, by the rules that NumPy documents for `numpy.printoptions`.

use std::fmt::Alignment;

/// A float type, as far as printing depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FloatKind {
    F64,
    F32,
    F16,
    Bf16,
}

impl FloatKind {
    /// Decimal digits that survive a round trip from text (C's `FLT_DIG` and its kin).
    fn decimal_digits(self) -> i32 {
        match self {
            FloatKind::F64 => 15,
            FloatKind::F32 => 6,
            FloatKind::F16 => 3,
            FloatKind::Bf16 => 2,
        }
    }

    /// The value of this type that is nearest to `x`, ties to even; the range is not looked at.
    fn round(self, x: f64) -> f64 {
        // Not half's conversion: with F16C it goes through f32 and rounds twice.
        let (fraction_bits, lowest_exponent) = match self {
            FloatKind::F64 => return x,
            FloatKind::F32 => return f64::from(x as f32),
            FloatKind::F16 => (10, -14),
            FloatKind::Bf16 => (7, -126),
        };
        let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        let quantum = 2f64.powi(exponent.max(lowest_exponent) - fraction_bits);
        (x / quantum).round_ties_even() * quantum
    }

    /// The shortest decimal that reads back as `x`, and of those the nearest, ties to even.
    fn shortest(self, x: f64) -> Scientific {
        let reads_back = |text: &str| text.parse().is_ok_and(|y| self.round(y) == x);
        let text = match self {
            FloatKind::F64 => format!("{x:e}"),
            FloatKind::F32 => format!("{:e}", x as f32),
            // `half` prints through f32, which shows digits that a 16-bit float does not have.
            // A tie is tried both ways: the values below a power of two lie closer.
            FloatKind::F16 | FloatKind::Bf16 => {
                let above = x * (1.0 + f64::EPSILON);
                let mut texts = (0..8)
                    .flat_map(|digits| [format!("{x:.digits$e}"), format!("{above:.digits$e}")]);
                return Scientific::parse(&texts.find(|text| reads_back(text)).unwrap_or_default());
            }
        };
        // Rust breaks ties upwards.
        let digits = Scientific::parse(&text).fraction.len();
        let even = format!("{x:.digits$e}");
        Scientific::parse(if reads_back(&even) { &even } else { &text })
    }

    /// `x` as digits and power of ten: at most `precision` digits after the point, and no more
    /// than are needed to read `x` back.
    fn scientific(self, x: f64, precision: usize) -> Scientific {
        let shortest = self.shortest(x);
        if shortest.fraction.len() <= precision {
            return shortest;
        }
        let mut rounded = Scientific::rounded(x, precision);
        rounded.fraction.truncate(rounded.fraction.trim_end_matches('0').len());
        rounded
    }

    /// `x` without a power of ten, otherwise as [`FloatKind::scientific`]: the part before the
    /// point with its sign, and the part after it.
    fn positional(self, x: f64, precision: usize) -> (String, String) {
        let shortest = self.shortest(x);
        let needed = shortest.fraction.len() as i32 - shortest.exponent;
        if needed <= precision as i32 {
            return shortest.without_exponent();
        }
        let text = format!("{x:.precision$}");
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        (whole.to_owned(), fraction.trim_end_matches('0').to_owned())
    }

    /// Formats a single value, as `str` does a NumPy scalar: `point_zero` follows a whole number.
    fn alone(self, x: f64, point_zero: &str) -> String {
        if !x.is_finite() {
            return non_finite(x).to_owned();
        }
        // Python prints whole doubles up to 1e16; the narrower types end where their digits do.
        let limit = if self == FloatKind::F64 { 16 } else { self.decimal_digits() };
        if x == 0.0 || (1e-4 <= x.abs() && x.abs() < 10f64.powi(limit)) {
            let (whole, fraction) = self.positional(x, usize::from(u8::MAX));
            if fraction.is_empty() { whole + point_zero } else { format!("{whole}.{fraction}") }
        } else {
            let Scientific { whole, fraction, exponent } = self.scientific(x, 17);
            let point = if fraction.is_empty() { "" } else { "." };
            format!("{whole}{point}{fraction}e{exponent:+03}")
        }
    }
}

/// Rust writes `NaN`; NumPy writes `nan`, and shows no sign on it.
fn non_finite(x: f64) -> &'static str {
    if x.is_nan() {
        "nan"
    } else if x < 0.0 {
        "-inf"
    } else {
        "inf"
    }
}

/// A number in scientific notation: `whole` is one digit with the sign before it.
struct Scientific {
    whole: String,
    fraction: String,
    exponent: i32,
}

impl Scientific {
    /// Reads what Rust's `{:e}` writes.
    fn parse(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        Self {
            whole: whole.to_owned(),
            fraction: fraction.to_owned(),
            exponent: exponent.parse().unwrap_or(0),
        }
    }

    /// `x`, rounded to `digits` digits after the point, ties to even.
    fn rounded(x: f64, digits: usize) -> Self {
        Self::parse(&format!("{x:.digits$e}"))
    }

    /// The digits without an exponent: the part before the point, and the part after it.
    fn without_exponent(&self) -> (String, String) {
        let sign = if self.whole.starts_with('-') { "-" } else { "" };
        let digits = format!("{}{}", self.whole.trim_start_matches('-'), self.fraction);
        if self.exponent < 0 {
            let zeros = self.exponent.unsigned_abs() as usize - 1;
            return (format!("{sign}0"), format!("{:0<zeros$}{digits}", ""));
        }
        let before = self.exponent as usize + 1;
        let (whole, fraction) = digits.split_at(before.min(digits.len()));
        (format!("{sign}{whole:0<before$}"), fraction.to_owned())
    }
}

/// The plus sign of a number that is not negative.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Plus {
    Hidden,
    Shown,
}

/// The common format of the floats that are shown.
struct FloatCells {
    kind: FloatKind,
    plus: Plus,
    notation: Notation,
    /// Width before the point, and after it.
    before: usize,
    after: usize,
}

enum Notation {
    /// At most `precision` digits after the point.
    Positional { precision: usize },
    /// Exactly `fraction` digits after the point, and at least `exponent` digits in the exponent.
    Scientific { fraction: usize, exponent: usize },
}

impl FloatCells {
    fn new(values: &[f64], kind: FloatKind, precision: usize, plus: Plus) -> Self {
        let finite = || values.iter().copied().filter(|x| x.is_finite());
        let signed = |whole: &str| whole.len() + usize::from(plus.shows(whole));
        let (mut before, mut after) = (0, 0);
        let notation = if prefers_scientific(finite(), kind) {
            let (mut fraction, mut exponent) = (0, 2);
            for number in finite().map(|x| kind.scientific(x, precision)) {
                before = before.max(signed(&number.whole));
                fraction = fraction.max(number.fraction.len());
                exponent = exponent.max(number.exponent.unsigned_abs().to_string().len());
            }
            after = fraction + "e+".len() + exponent;
            Notation::Scientific { fraction, exponent }
        } else {
            for (whole, fraction) in finite().map(|x| kind.positional(x, precision)) {
                before = before.max(signed(&whole));
                after = after.max(fraction.len());
            }
            Notation::Positional { precision }
        };
        if values.iter().any(|x| !x.is_finite()) {
            let sign = plus == Plus::Shown || values.contains(&f64::NEG_INFINITY);
            let width = "inf".len() + usize::from(sign);
            before = before.max(width.saturating_sub(after + ".".len()));
        }
        Self { kind, plus, notation, before, after }
    }

    fn cell(&self, x: f64) -> String {
        let (before, after) = (self.before, self.after);
        if !x.is_finite() {
            let text = self.plus.sign(non_finite(x));
            return format!("{text:>width$}", width = before + ".".len() + after);
        }
        match self.notation {
            Notation::Positional { precision } => {
                let (whole, fraction) = self.kind.positional(x, precision);
                format!("{:>before$}.{fraction:<after$}", self.plus.sign(&whole))
            }
            Notation::Scientific { fraction, exponent } => {
                let number = match self.kind.shortest(x) {
                    shortest if shortest.fraction.len() == fraction => shortest,
                    _ => Scientific::rounded(x, fraction),
                };
                let sign = if number.exponent < 0 { '-' } else { '+' };
                let power = number.exponent.unsigned_abs();
                let whole = self.plus.sign(&number.whole);
                format!("{whole:>before$}.{}e{sign}{power:0exponent$}", number.fraction)
            }
        }
    }
}

impl Plus {
    fn shows(self, text: &str) -> bool {
        self == Plus::Shown && !text.starts_with('-')
    }

    fn sign(self, text: &str) -> String {
        if self.shows(text) { format!("+{text}") } else { text.to_owned() }
    }
}

/// Whether some number is so large, so small, or so far from another that a column of digits
/// would be mostly zeros.
fn prefers_scientific(finite: impl Iterator<Item = f64>, kind: FloatKind) -> bool {
    let magnitudes = finite.filter(|x| *x != 0.0).map(f64::abs);
    let Some((low, high)) = magnitudes.fold(None, |range, x| match range {
        None => Some((x, x)),
        Some((low, high)) => Some((x.min(low), x.max(high))),
    }) else {
        return false;
    };
    // NumPy compares in the array's own type, so the bounds are rounded to it.
    let large = 10f64.powi(kind.decimal_digits().min(8));
    high >= large || low < kind.round(1e-4) || kind.round(high / low) > 1000.0
}

/// Cells of floats.
pub(super) fn floats(values: &[f64], kind: FloatKind, precision: usize, plus: Plus) -> Vec<String> {
    let cells = FloatCells::new(values, kind, precision, plus);
    values.iter().map(|x| cells.cell(*x)).collect()
}

/// Cells of complex numbers: the parts are aligned each for itself.
pub(super) fn complex(
    values: &[(f64, f64)],
    kind: FloatKind,
    precision: usize,
    plus: Plus,
) -> Vec<String> {
    let (real, imaginary): (Vec<f64>, Vec<f64>) = values.iter().copied().unzip();
    let real_cells = FloatCells::new(&real, kind, precision, plus);
    let imaginary_cells = FloatCells::new(&imaginary, kind, precision, Plus::Shown);
    let cell = |(re, im): &(f64, f64)| {
        let padded = imaginary_cells.cell(*im);
        let number = padded.trim_end();
        let blanks = padded.len() - number.len();
        format!("{}{number}j{:blanks$}", real_cells.cell(*re), "")
    };
    values.iter().map(cell).collect()
}

/// Cells of integers.
pub(super) fn integers(values: &[i128], plus: Plus) -> Vec<String> {
    let text: Vec<String> = values.iter().map(|x| plus.sign(&x.to_string())).collect();
    let width = text.iter().map(String::len).max().unwrap_or(0);
    text.iter().map(|cell| format!("{cell:>width$}")).collect()
}

/// Cells of truth values.
pub(super) fn bools(values: &[bool]) -> Vec<String> {
    values.iter().map(|x| if *x { " True" } else { "False" }.to_owned()).collect()
}

/// Pads a cell to at least `width` characters: aligned to the right by default.
pub(super) fn widened(cell: &str, width: usize, align: Option<Alignment>) -> String {
    match align {
        Some(Alignment::Left) => format!("{:<width$}", cell.trim_start()),
        Some(Alignment::Center) => format!("{:^width$}", cell.trim()),
        Some(Alignment::Right) | None => format!("{cell:>width$}"),
    }
}

/// One float without an array around it.
pub(super) fn float_alone(x: f64, kind: FloatKind) -> String {
    kind.alone(x, ".0")
}

/// One complex number without an array around it.
pub(super) fn complex_alone((re, im): (f64, f64), kind: FloatKind) -> String {
    let imaginary = kind.alone(im, "");
    if re == 0.0 && re.is_sign_positive() {
        return format!("{imaginary}j");
    }
    format!("({}{}j)", kind.alone(re, ""), Plus::Shown.sign(&imaginary))
}
