//! How near a result of a device is to the host's: the bits where the table of operations promises
//! them, and else within the bound of both.

use tenure::*;
use tenure_sys::operations::{Error as Bound, Kind, OPERATIONS};

use crate::samples::Sample;

/// The row of an operation in the table.
pub(crate) fn bound(kind: Kind, name: &str) -> Bound {
    let row = OPERATIONS.iter().find(|row| row.kind == kind && row.rust == name);
    row.expect("a row of the table").error
}

/// The bound of a reduction. Neither the host nor the device promises which of two zeros is the
/// smaller one.
pub(crate) fn reduction_bound(name: &str) -> Bound {
    match bound(Kind::Reduce, name) {
        Bound::Exact => Bound::Places(0),
        other => other,
    }
}

/// A float as a number that counts up by one from each float to the next; both zeros are one.
fn place<T: Sample>(element: T) -> i128 {
    let sign = 1 << (8 * size_of::<T>() - 1);
    let bits = element.bits();
    if bits & sign == 0 { bits as i128 } else { -((bits & !sign) as i128) }
}

fn is_float<T: Element>() -> bool {
    [DType::F64, DType::F32, DType::F16, DType::BF16].contains(&T::DTYPE)
}

/// The distance, in floats, that the two results may have; each one is within `bound`.
fn distance<T: Element>(bound: Bound) -> i128 {
    let places = match bound {
        Bound::Exact | Bound::Rounded | Bound::Places(0) => return 0,
        Bound::Places(places) | Bound::OfInputs(places) => 2 * i128::from(places),
        // Sums of some hundred elements of one sign.
        Bound::Grows => 64,
    };
    // Narrow floats are rounded once more.
    if size_of::<T>() < 4 { 1 } else { places }
}

/// Asserts equal shapes, and elements within the bound.
#[track_caller]
pub(crate) fn assert_close<T: Sample>(
    got: &Tensor<T>,
    expected: &Tensor<T>,
    bound: Bound,
    what: &str,
) {
    assert_eq!(got.shape(), expected.shape(), "{what}");
    for (at, (&got, &expected)) in got.iter().zip(expected).enumerate() {
        let is_same = got.bits() == expected.bits();
        let may_differ = is_float::<T>() && !matches!(bound, Bound::Exact | Bound::Rounded);
        // NaN has one value among the bits of a sample, and is near nothing else.
        let is_near = || (place(got) - place(expected)).abs() <= distance::<T>(bound);
        assert!(
            is_same || may_differ && is_near(),
            "{what} of {}: element {at} is {got} but the host's is {expected}, bits {:x} and {:x}",
            T::DTYPE,
            got.bits(),
            expected.bits()
        );
    }
}
