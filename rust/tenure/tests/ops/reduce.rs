//! Reductions over every set of axes, in several layouts, against naive Rust.

use tenure::ops::*;
use tenure::*;

use crate::layouts::{Samples, is_nan, same};

const SHAPE: [usize; 3] = [2, 3, 4];

/// Views of shape [2, 3, 4] over 48 elements, with other strides each.
fn cubes<T: Element>(memory: &[T]) -> Vec<TensorView<'_, T>> {
    vec![
        TensorView::from_slice(&memory[..24], SHAPE).unwrap(),
        TensorView::from_slice_in(&memory[20..44], SHAPE, Order::ColumnMajor).unwrap(),
        TensorView::from_slice(memory, [4, 3, 4]).unwrap().slice_step(0, .., -2).unwrap(),
        TensorView::from_slice(&memory[4..16], [3, 4]).unwrap().broadcast(SHAPE).unwrap(),
        TensorView::from_slice_strided(memory, 45, SHAPE, &[-20, 1, -7]).unwrap(),
    ]
}

/// The axes in a mask.
fn axes_of(mask: u32) -> Vec<usize> {
    (0..3).filter(|axis| mask & (1 << axis) != 0).collect()
}

/// The elements behind each element of the result, in row-major order both.
fn groups<T: Element>(a: TensorView<'_, T>, mask: u32) -> Vec<Vec<T>> {
    let kept = |axis: usize| if mask & (1 << axis) == 0 { SHAPE[axis] } else { 1 };
    let mut groups = vec![Vec::new(); kept(0) * kept(1) * kept(2)];
    for i in 0..SHAPE[0] {
        for j in 0..SHAPE[1] {
            for k in 0..SHAPE[2] {
                let at = (i % kept(0) * kept(1) + j % kept(1)) * kept(2) + k % kept(2);
                groups[at].push(a[[i, j, k]]);
            }
        }
    }
    groups
}

fn kept_shape(mask: u32) -> [usize; 3] {
    [0, 1, 2].map(|axis| if mask & (1 << axis) == 0 { SHAPE[axis] } else { 1 })
}

fn reduced_shape(mask: u32) -> Vec<usize> {
    (0..3).filter(|axis| mask & (1 << axis) == 0).map(|axis| SHAPE[axis]).collect()
}

/// Both forms of a reduction.
struct Reduction<T: Element, R: Element> {
    name: &'static str,
    new: fn(TensorView<'_, T>, Axes) -> Result<Tensor<R>>,
    into: fn(TensorView<'_, T>, Axes, &mut TensorViewMut<'_, R>) -> Result<()>,
    naive: fn(&[T]) -> R,
}

fn check<T: Element, R: Element>(
    memory: &[T],
    masks: &[u32],
    reduction: &Reduction<T, R>,
    near: fn(&R, &R) -> bool,
) {
    for a in cubes(memory) {
        for &mask in masks {
            let axes = Axes::from(&axes_of(mask)[..]);
            let expected: Vec<R> =
                groups(a, mask).iter().map(|group| (reduction.naive)(group)).collect();
            let check = |got: Vec<R>| {
                let all = got.iter().zip(&expected).all(|(x, y)| near(x, y) || same(x, y));
                let what = format!("{} of {} over {axes:?}", reduction.name, T::DTYPE);
                assert!(all && got.len() == expected.len(), "{what}: {got:?}, not {expected:?}");
            };
            let new = (reduction.new)(a, axes).unwrap();
            assert_eq!(new.shape(), reduced_shape(mask));
            check(new.to_vec());
            let kept = (reduction.new)(a, Axes::keep(axes)).unwrap();
            assert_eq!(kept.shape(), kept_shape(mask));
            check(kept.to_vec());

            // Outputs with either rank, column-major and with gaps.
            for shape in [reduced_shape(mask), kept_shape(mask).to_vec()] {
                let mut out = vec![expected[0]; 2 * expected.len()];
                let mut padded = shape.clone();
                padded.push(2);
                let view = TensorViewMut::from_slice_in(&mut out, &padded[..], Order::ColumnMajor);
                let mut view = view.unwrap().index(shape.len(), 1).unwrap();
                (reduction.into)(a, axes, &mut view).unwrap();
                check(view.view().to_vec());
            }
        }
    }
}

const ALL_MASKS: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

macro_rules! reduction {
    ($masks:expr, $memory:expr, $near:expr; $($new:ident $into:ident => $naive:expr;)*) => {$(
        check($memory, &$masks, &Reduction {
            name: stringify!($new),
            new: |a, axes| $new(a, axes),
            into: |a, axes, out| $into(a, axes, out),
            naive: $naive,
        }, $near);
    )*};
}

/// The first of the smallest or largest by `wins`; NaN before any number.
fn first<T: Element>(group: &[T], wins: fn(&T, &T) -> bool) -> usize {
    let mut best = 0;
    for (at, element) in group.iter().enumerate() {
        let best_is_nan = is_nan(&group[best]);
        if !best_is_nan && (is_nan(element) || wins(element, &group[best])) {
            best = at;
        }
    }
    best
}

macro_rules! integers {
    ($($test:ident: $type:ty;)*) => {$(
        #[test]
        fn $test() {
            type Sum = <$type as Arithmetic>::Sum;
            let memory = <$type>::samples(11);
            reduction! { ALL_MASKS, &memory, |x, y| x == y;
                sum sum_into => |group| {
                    group.iter().fold(0, |sum: Sum, x| sum.wrapping_add(Sum::from(*x)))
                };
                prod prod_into => |group| {
                    group.iter().fold(1, |prod: Sum, x| prod.wrapping_mul(Sum::from(*x)))
                };
                min min_into => |group| *group.iter().min().unwrap();
                max max_into => |group| *group.iter().max().unwrap();
                count count_into => |group| group.iter().filter(|x| **x != 0).count() as i64;
            }
            truths(&memory);
            places(&memory);
        }
    )*};
}

/// any, all and count where some elements are 0.
fn truths<T: Element + Real>(memory: &[T]) {
    let zero = T::default();
    let memory: Vec<T> =
        memory.iter().enumerate().map(|(i, x)| if i % 5 < 2 { zero } else { *x }).collect();
    reduction! { ALL_MASKS, &memory, |x, y| x == y;
        any any_into => |group| Bool8::from(group.iter().any(|x| *x != T::default()));
        all all_into => |group| Bool8::from(group.iter().all(|x| *x != T::default()));
        count count_into => |group| group.iter().filter(|x| **x != T::default()).count() as i64;
    }
}

fn places<T: Number + PartialOrd>(memory: &[T]) {
    // Few distinct values, so that equal elements exist and the first must win.
    let memory: Vec<T> = memory
        .iter()
        .enumerate()
        .map(|(i, x)| if i % 4 == 3 { *x } else { memory[i % 2] })
        .collect();
    reduction! { [1, 2, 4, 7], &memory, |x, y| x == y;
        argmin argmin_into => |group| first(group, |x, y| x < y) as i64;
        argmax argmax_into => |group| first(group, |x, y| x > y) as i64;
    }
}

integers! {
    i8_reduces: i8;
    i16_reduces: i16;
    i32_reduces: i32;
    i64_reduces: i64;
    u8_reduces: u8;
    u16_reduces: u16;
    u32_reduces: u32;
    u64_reduces: u64;
}

/// Deviation from the mean, squared, over the count less `ddof`.
fn naive_var(group: &[f64], ddof: f64) -> f64 {
    let count = group.len() as f64;
    let mean = group.iter().sum::<f64>() / count;
    let squares = group.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
    if count > ddof { squares / (count - ddof) } else { f64::NAN }
}

macro_rules! floats {
    ($($test:ident: $type:ty, $to:expr, $from:expr, $tolerance:expr;)*) => {$(
        #[test]
        fn $test() {
            fn wide(group: &[$type]) -> Vec<f64> {
                group.iter().map(|x| $to(*x)).collect()
            }
            let near = |x: &$type, y: &$type| {
                let (x, y) = ($to(*x), $to(*y));
                (x - y).abs() <= $tolerance * y.abs().max(1.0)
            };
            let memory = <$type>::samples(12);
            let finite: Vec<$type> = memory
                .iter()
                .map(|x| if x.is_finite() { *x } else { $from(2.0) })
                .collect();
            for memory in [&memory, &finite] {
                reduction! { ALL_MASKS, memory, near;
                    sum sum_into => |group| $from(wide(group).iter().sum());
                    mean mean_into => |group| {
                        $from(wide(group).iter().sum::<f64>() / group.len() as f64)
                    };
                    min min_into => |group| group[first(group, |x, y| x < y)];
                    max max_into => |group| group[first(group, |x, y| x > y)];
                }
                places(memory);
                truths(memory);
            }
            // Products of halves, ones and twos stay small.
            let small: Vec<$type> =
                (0..48).map(|i| $from([0.5, 1.0, 2.0, -1.0][i * 7 % 4])).collect();
            reduction! { ALL_MASKS, &small, near;
                prod prod_into => |group| $from(wide(group).iter().product());
            }
            check(&finite, &ALL_MASKS, &Reduction {
                name: "var, ddof 0",
                new: |a, axes| var(a, axes, 0),
                into: |a, axes, out| var_into(a, axes, 0, out),
                naive: |group| $from(naive_var(&wide(group), 0.0)),
            }, near);
            check(&finite, &ALL_MASKS, &Reduction {
                name: "std, ddof 2",
                new: |a, axes| std(a, axes, 2),
                into: |a, axes, out| std_into(a, axes, 2, out),
                naive: |group| $from(naive_var(&wide(group), 2.0).sqrt()),
            }, near);
        }
    )*};
}

floats! {
    f64_reduces: f64, f64::from, std::convert::identity, 1e-14;
    f32_reduces: f32, f64::from, narrow, 1e-6;
    f16_reduces: f16, f16::to_f64, f16::from_f64, 2e-3;
    bf16_reduces: bf16, bf16::to_f64, bf16::from_f64, 1.6e-2;
}

fn narrow(x: f64) -> f32 {
    x as f32
}

#[test]
fn nothing_to_reduce() {
    let nothing = TensorView::<f32>::from_slice(&[], [0, 3]).unwrap();
    assert_eq!(sum(nothing, 0).unwrap().to_vec(), [0.0; 3]);
    assert_eq!(prod(nothing, 0).unwrap().to_vec(), [1.0; 3]);
    assert!(mean(nothing, 0).unwrap().iter().all(|x| x.is_nan()));
    assert!(var(nothing, .., 0).unwrap()[[]].is_nan());
    assert_eq!(any(nothing, ..).unwrap().item(), Some(Bool8::FALSE));
    assert_eq!(all(nothing, ..).unwrap().item(), Some(Bool8::TRUE));
    assert_eq!(count(nothing, 0).unwrap().to_vec(), [0; 3]);
    // Over the other axis there is nothing to ask for.
    assert_eq!(max(nothing, 1).unwrap().shape(), [0]);
}
