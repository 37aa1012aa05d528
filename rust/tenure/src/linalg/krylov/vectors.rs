//! Sums and steps over vectors of equal length.

use crate::dtype::NativeFloat;

/// Sums that a processor's vectors hold in adjacent lanes.
const LANES: usize = 16;
/// Elements that are added up in their own type before the sum becomes `f64`: the error of a sum of
/// `f32` stays that of a short one.
const BLOCK: usize = 64 * LANES;

/// The sum of a function of the elements of two vectors.
#[inline(always)]
fn sum<T: NativeFloat>(a: &[T], b: &[T], term: impl Fn(T, T) -> T) -> f64 {
    let mut total = 0.0;
    for (a, b) in a.chunks(BLOCK).zip(b.chunks(BLOCK)) {
        let mut lanes = [T::ZERO; LANES];
        let (mut a, mut b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
        for (a, b) in a.by_ref().zip(b.by_ref()) {
            for lane in 0..LANES {
                lanes[lane] += term(a[lane], b[lane]);
            }
        }
        for (lane, (&a, &b)) in lanes.iter_mut().zip(a.remainder().iter().zip(b.remainder())) {
            *lane += term(a, b);
        }
        total += lanes.iter().map(|lane| lane.to_f64()).sum::<f64>();
    }
    total
}

pub(super) fn dot<T: NativeFloat>(a: &[T], b: &[T]) -> f64 {
    sum(a, b, |a, b| a * b)
}

/// The length.
pub(super) fn norm<T: NativeFloat>(a: &[T]) -> f64 {
    root_of_squares(a, dot(a, a))
}

/// The length, of a sum of squares; that is made again of scaled elements where it left the range
/// in which it is exact.
fn root_of_squares<T: NativeFloat>(a: &[T], squares: f64) -> f64 {
    // Within these a sum of squares in the type itself neither overflows nor loses small terms.
    let large = T::LARGE * T::LARGE;
    if (1.0 / large..=large).contains(&squares) {
        return squares.sqrt();
    }
    let largest = largest(a);
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    largest * a.iter().map(|one| (one.to_f64() / largest).powi(2)).sum::<f64>().sqrt()
}

/// The largest magnitude; NaN if an element is NaN.
pub(super) fn largest<T: NativeFloat>(a: &[T]) -> f64 {
    a.iter().fold(0.0, |most: f64, one| {
        let magnitude = one.to_f64().abs();
        if magnitude > most || magnitude.is_nan() { magnitude } else { most }
    })
}

/// The exponent e of a magnitude from 2^e up to 2^(e + 1); 0 for 0 and numbers that are not finite.
pub(super) fn exponent(magnitude: f64) -> i32 {
    match magnitude {
        _ if magnitude == 0.0 || !magnitude.is_finite() => 0,
        _ if magnitude < f64::MIN_POSITIVE => exponent(scaled(magnitude, 64)) - 64,
        _ => (magnitude.to_bits() >> 52) as i32 - 1023,
    }
}

/// Two powers of two with the product 2^exponent. An exponent beyond 2000 leaves no finite number
/// but 0.
fn powers(exponent: i32) -> [f64; 2] {
    let exponent = exponent.clamp(-2000, 2000);
    let half = exponent / 2;
    [half, exponent - half].map(|exponent| f64::from_bits(((1023 + exponent) as u64) << 52))
}

/// `value 2^exponent`.
pub(super) fn scaled(value: f64, exponent: i32) -> f64 {
    let [first, second] = powers(exponent);
    value * first * second
}

/// `y = y 2^exponent`.
pub(super) fn scale<T: NativeFloat>(y: &mut [T], exponent: i32) {
    let [first, second] = powers(exponent);
    if exponent != 0 {
        y.iter_mut().for_each(|y| *y = T::from_f64(y.to_f64() * first * second));
    }
}

/// `y = x - y`.
pub(super) fn subtract_from<T: NativeFloat>(y: &mut [T], x: &[T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = x - *y;
    }
}

/// `y = y + factor x`.
pub(super) fn add_scaled<T: NativeFloat>(y: &mut [T], factor: T, x: &[T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

/// `y = x + factor y`.
pub(super) fn scale_and_add<T: NativeFloat>(y: &mut [T], factor: T, x: &[T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = x + factor * *y;
    }
}

/// `y = y / divisor`.
pub(super) fn divide<T: NativeFloat>(y: &mut [T], divisor: f64) {
    let reciprocal = 1.0 / divisor;
    let factor = T::from_f64(reciprocal);
    if reciprocal.is_finite() && factor.finite() && factor != T::ZERO {
        y.iter_mut().for_each(|y| *y *= factor);
    } else {
        y.iter_mut().for_each(|y| *y = T::from_f64(y.to_f64() / divisor));
    }
}

/// `y = y + factor x`, and the length of y: read once.
pub(super) fn add_scaled_and_norm<T: NativeFloat>(y: &mut [T], factor: T, x: &[T]) -> f64 {
    step_and_norm(y, x, |y, x| add_scaled(y, factor, x))
}

/// `y = x + factor y`, and the length of y.
pub(super) fn scale_and_add_and_norm<T: NativeFloat>(y: &mut [T], factor: T, x: &[T]) -> f64 {
    step_and_norm(y, x, |y, x| scale_and_add(y, factor, x))
}

fn step_and_norm<T: NativeFloat>(y: &mut [T], x: &[T], step: impl Fn(&mut [T], &[T])) -> f64 {
    let mut squares = 0.0;
    for (y, x) in y.chunks_mut(BLOCK).zip(x.chunks(BLOCK)) {
        step(y, x);
        squares += dot(y, y);
    }
    root_of_squares(y, squares)
}

/// `x = x + along y`, then `y = z + back y`, and the length that y had.
pub(super) fn advance<T: NativeFloat>(
    x: &mut [T],
    y: &mut [T],
    z: &[T],
    [along, back]: [T; 2],
) -> f64 {
    let mut squares = 0.0;
    for ((x, y), z) in x.chunks_mut(BLOCK).zip(y.chunks_mut(BLOCK)).zip(z.chunks(BLOCK)) {
        squares += dot(y, y);
        add_scaled(x, along, y);
        scale_and_add(y, back, z);
    }
    squares.sqrt()
}
