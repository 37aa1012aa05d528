//! Views of one shape in many layouts, and outputs in many layouts.

use crate::random::Random;
use tenure::*;

pub const SHAPE: [usize; 2] = [3, 4];

/// Elements of the memory that the layouts are cut from.
pub const MEMORY: usize = 48;

/// Shapes [3, 4] over `memory`, each with other strides: dense, transposed, with gaps, backwards,
/// repeating rows, columns, and one element.
pub fn inputs<T: Element>(memory: &[T]) -> Vec<TensorView<'_, T>> {
    assert_eq!(memory.len(), MEMORY);
    let cut = || -> Result<Vec<TensorView<'_, T>>> {
        Ok(vec![
            TensorView::from_slice(&memory[..12], SHAPE)?,
            TensorView::from_slice_in(&memory[20..32], SHAPE, Order::ColumnMajor)?,
            TensorView::from_slice_strided(memory, 1, SHAPE, &[16, 3])?,
            TensorView::from_slice_strided(memory, 47, SHAPE, &[-4, -1])?,
            TensorView::from_slice_strided(memory, 3, SHAPE, &[12, -1])?,
            TensorView::from_slice(&memory[5..9], 4)?.broadcast(SHAPE)?,
            TensorView::from_slice(&memory[5..8], [3, 1])?.broadcast(SHAPE)?,
            TensorView::from_ref(&memory[7]).broadcast(SHAPE)?,
        ])
    };
    cut().unwrap()
}

/// Runs `operation` on outputs of shape [3, 4] in several layouts, each full of `filler`; passes
/// the written elements to `see`, and asserts that no element outside the output was written.
pub fn outputs<T: Element>(
    filler: T,
    mut operation: impl FnMut(&mut TensorViewMut<'_, T>),
    mut see: impl FnMut(Vec<T>),
) {
    for (offset, strides) in [(0, [4, 1]), (0, [1, 3]), (1, [16, 3]), (47, [-4, -1]), (3, [12, -1])]
    {
        let mut memory = vec![filler; MEMORY];
        let mut view =
            TensorViewMut::from_slice_strided(&mut memory, offset, SHAPE, &strides).unwrap();
        operation(&mut view);
        see(view.view().to_vec());
        view.fill(filler);
        assert!(memory.iter().all(|element| *element == filler), "wrote beside the output");
    }
}

/// Numbers that an element type has, some of them special.
pub trait Samples: Element {
    /// `MEMORY` values; none is 0, so that they may divide.
    fn samples(seed: u64) -> Vec<Self>;
}

macro_rules! integer_samples {
    ($($type:ty)*) => {$(
        impl Samples for $type {
            fn samples(seed: u64) -> Vec<Self> {
                let mut random = Random::new(seed);
                let mut values: Vec<$type> =
                    (0..MEMORY).map(|_| (random.next() as $type).max(1)).collect();
                values[5..9].copy_from_slice(&[<$type>::MAX, 2, 1, 3]);
                // The lowest value and -1, where there are any: their quotient wraps.
                values[20] = if <$type>::MIN == 0 { 7 } else { <$type>::MIN };
                values[23] = <$type>::MAX.wrapping_neg();
                values
            }
        }
    )*};
}

integer_samples!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! float_samples {
    ($($type:ty: $from:path;)*) => {$(
        impl Samples for $type {
            fn samples(seed: u64) -> Vec<Self> {
                let mut random = Random::new(seed);
                let mut values: Vec<$type> = (0..MEMORY)
                    // Multiples of 1/8 from -8 to 8 without 0: every type has them.
                    .map(|_| (random.next() % 128) as f64 / 8.0 - 8.0)
                    .map(|x| $from(if x == 0.0 { 0.5 } else { x }))
                    .collect();
                values[6] = $from(f64::NAN);
                values[21] = $from(f64::INFINITY);
                values[30] = $from(f64::NEG_INFINITY);
                values[46] = $from(f64::NAN);
                values
            }
        }
    )*};
}

float_samples! {
    f64: f64::from;
    f32: narrow;
    f16: f16::from_f64;
    bf16: bf16::from_f64;
}

fn narrow(x: f64) -> f32 {
    x as f32
}

/// Only NaN is not equal to itself.
#[allow(clippy::eq_op)]
pub fn is_nan<T: PartialEq>(x: &T) -> bool {
    x != x
}

/// Equal, or both NaN.
pub fn same<T: PartialEq>(a: &T, b: &T) -> bool {
    a == b || (is_nan(a) && is_nan(b))
}

#[track_caller]
pub fn assert_same<T: PartialEq + std::fmt::Debug>(got: &[T], expected: &[T], what: &str) {
    let all = got.len() == expected.len() && got.iter().zip(expected).all(|(a, b)| same(a, b));
    assert!(all, "{what}: got {got:?}, expected {expected:?}");
}
