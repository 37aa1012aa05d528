//! Random expressions, compared with separate calls: shapes, strides, broadcasts, dtypes. Every run
//! draws the same expressions; `TENURE_EXPRESSIONS` gives their count, and `TENURE_EXPRESSION`
//! selects one.

use std::env;

use super::*;
use tenure::nn::{relu, softmax};
use tenure::ops::*;

/// Views of one element type, over memory that stays.
struct Views<'d, T: Element> {
    views: [TensorView<'d, T>; 2],
}

impl<'d, T: Element> Views<'d, T> {
    fn new(random: &mut Random, data: &'d [T], shape: &[usize]) -> Self {
        Views { views: [0; 2].map(|_| laid_out(random, data, shape)) }
    }
}

/// A view that broadcasts to the shape: of fewer axes, extents of 1, and any strides.
fn laid_out<'d, T: Element>(
    random: &mut Random,
    data: &'d [T],
    shape: &[usize],
) -> TensorView<'d, T> {
    let kept = if random.below(3) == 0 { random.below(shape.len() + 1) } else { shape.len() };
    let mut extents = shape[shape.len() - kept..].to_vec();
    for extent in &mut extents {
        if random.below(6) == 0 {
            *extent = 1;
        }
    }
    let mut strides = vec![0_isize; extents.len()];
    let is_plain = random.below(2) == 0;
    let mut order: Vec<usize> = (0..extents.len()).rev().collect();
    if !is_plain && order.len() > 1 {
        let (one, other) = (random.below(order.len()), random.below(order.len()));
        order.swap(one, other);
    }
    let (mut step, mut lowest, mut gaps) = (1_isize, 0_isize, 0_isize);
    for axis in order {
        if !is_plain {
            let is_dilated = gaps == 0 && random.below(4) == 0;
            gaps += isize::from(is_dilated);
            step *= 1 + isize::from(is_dilated);
        }
        strides[axis] = step;
        step *= extents[axis].max(1) as isize;
        if !is_plain {
            match random.below(8) {
                0 => strides[axis] = 0,
                1 => strides[axis] = -strides[axis],
                _ => {}
            }
        }
        lowest += (strides[axis] * (extents[axis] as isize - 1)).min(0);
    }
    let offset = lowest.unsigned_abs() + random.below(8);
    TensorView::from_slice_strided(data, offset, &extents[..], &strides).unwrap()
}

macro_rules! kinds {
    ($($type:ident)*) => {
        /// Elements of each type, any and small ones.
        #[allow(non_snake_case)]
        struct Data { $($type: [Vec<$type>; 2],)* }

        impl Data {
            fn new(random: &mut Random, count: usize) -> Data {
                Data { $($type: [
                    (0..count).map(|_| $type::any(random)).collect(),
                    (0..count).map(|_| $type::small(random)).collect(),
                ],)* }
            }
        }

        /// The operands of expressions of one shape.
        #[allow(non_snake_case)]
        struct Case<'d> { $($type: Views<'d, $type>,)* shape: Vec<usize> }

        impl<'d> Case<'d> {
            fn new(random: &mut Random, data: &'d Data, shape: Vec<usize>) -> Case<'d> {
                let which = random.below(2);
                Case { $($type: Views::new(random, &data.$type[which], &shape),)* shape }
            }
        }

        $(impl Lent for $type {
            fn of<'c>(case: &'c Case<'_>) -> &'c [TensorView<'c, $type>; 2] {
                &case.$type.views
            }
        })*
    };
}
kinds! { f64 f32 f16 bf16 i8 i32 i64 u8 u64 Bool8 }

trait Lent: Real + Sample {
    fn of<'c>(case: &'c Case<'_>) -> &'c [TensorView<'c, Self>; 2];
}

/// An expression, and what the calls one by one give.
type Both<'c, T> = (Expr<'c, T>, Result<Tensor<T>>);

trait Kind: Lent + for<'c> IntoExpr<'c, Self> {
    fn operation<'c>(random: &mut Random, case: &'c Case<'_>, depth: usize) -> Both<'c, Self>;

    fn grow<'c>(random: &mut Random, case: &'c Case<'_>, depth: usize) -> Both<'c, Self> {
        if depth == 0 || random.below(8) == 0 {
            return leaf(random, case);
        }
        match random.below(12) {
            0 => {
                let (condition, expected) = Bool8::grow(random, case, depth - 1);
                let (a, expected_a) = Self::grow(random, case, depth - 1);
                let (b, expected_b) = Self::grow(random, case, depth - 1);
                let of_calls = || select(&expected?, &expected_a?, &expected_b?);
                (condition.select(a, b), of_calls())
            }
            1 => {
                let (e, expected) = Self::grow(random, case, depth - 1);
                let of_calls = |expected: Result<Tensor<Self>>| {
                    let e = expected?;
                    select(&eq(&e, &e)?, &e, &e)
                };
                (e.clone().eq(e.clone()).select(e.clone(), e), of_calls(expected))
            }
            2 => match random.below(6) {
                0 => converted::<f64, Self>(random, case, depth),
                1 => converted::<f16, Self>(random, case, depth),
                2 => converted::<i8, Self>(random, case, depth),
                3 => converted::<u64, Self>(random, case, depth),
                4 => converted::<Bool8, Self>(random, case, depth),
                _ => converted::<i32, Self>(random, case, depth),
            },
            _ => Self::operation(random, case, depth - 1),
        }
    }
}

fn leaf<'c, T: Kind>(random: &mut Random, case: &'c Case<'_>) -> Both<'c, T> {
    let view = &T::of(case)[random.below(2)];
    match random.below(9) {
        0..=1 => {
            let number = T::small(random);
            (number.into_expr(), Tensor::full([], number))
        }
        2 => (Expr::from(*view), view.to_tensor()),
        _ => (view.expr(), view.to_tensor()),
    }
}

fn converted<'c, T: Kind, U: Kind>(
    random: &mut Random,
    case: &'c Case<'_>,
    depth: usize,
) -> Both<'c, U> {
    let (e, expected) = T::grow(random, case, depth - 1);
    (e.cast(), expected.and_then(cast))
}

/// One of these operations on expressions: as a method, and as a function of their results.
macro_rules! one_of {
    ($random:ident $case:ident $depth:ident; $($name:ident ($($operand:ident)*);)*) => {{
        let names = [$(stringify!($name)),*];
        match names[$random.below(names.len())] {
            $(stringify!($name) => one_of!(@ $random $case $depth $name $($operand)*),)*
            _ => unreachable!(),
        }
    }};
    (@ $random:ident $case:ident $depth:ident $name:ident $first:ident $($operand:ident)*) => {{
        let $first = Self::grow($random, $case, $depth);
        $(let $operand = Self::grow($random, $case, $depth);)*
        let of_calls = || $name(&$first.1? $(, &$operand.1?)*);
        ($first.0.$name($($operand.0),*), of_calls())
    }};
}

/// Each row minus its sum, mean, minimum, maximum or NaN-ignoring sum.
macro_rules! rows {
    ($random:ident $case:ident $depth:ident; $($name:ident)*) => {{
        let (e, expected) = Self::grow($random, $case, $depth);
        let has_rows = expected.as_ref().is_ok_and(|t| t.shape().last().is_some_and(|&n| n > 0));
        if !has_rows {
            return (e, expected);
        }
        let expected = expected.unwrap();
        let names = [$(stringify!($name)),*];
        match names[$random.below(names.len())] {
            $(stringify!($name) => {
                let of_calls = || sub(&expected, $name(&expected, Axes::keep(-1))?);
                (e.clone().sub(e.$name(Axes::keep(-1))), of_calls())
            })*
            _ => unreachable!(),
        }
    }};
}

macro_rules! floats {
    ($($type:ident)*) => {$(
        impl Kind for $type {
            fn operation<'c>(random: &mut Random, case: &'c Case<'_>, depth: usize) -> Both<'c, Self> {
                if random.below(10) == 0 {
                    return rows!(random case depth; sum mean min max nan_sum);
                }
                one_of! { random case depth;
                    neg(a); abs(a); sqrt(a); exp(a); relu(a); tanh(a); square(a); floor(a); sign(a);
                    sin(a); nan_to_num(a);
                    add(a b); sub(a b); mul(a b); div(a b); minimum(a b); maximum(a b); rem(a b);
                    atan2(a b); pow(a b); hypot(a b); add(a b); mul(a b); sub(a b);
                    fma(a b c); lerp(a b c); clamp(a b c);
                }
            }
        }
    )*};
}
floats! { f64 f32 f16 bf16 }

macro_rules! integers {
    ($($type:ident [$($row:ident)*])*) => {$(
        impl Kind for $type {
            fn operation<'c>(random: &mut Random, case: &'c Case<'_>, depth: usize) -> Both<'c, Self> {
                $(if random.below(10) == 0 {
                    return rows!(random case depth; $row);
                })*
                one_of! { random case depth;
                    neg(a); abs(a); square(a); sign(a); bitwise_not(a); relu(a);
                    add(a b); sub(a b); mul(a b); minimum(a b); maximum(a b); bitwise_and(a b);
                    bitwise_or(a b); bitwise_xor(a b); shift_left(a b); shift_right(a b);
                    add(a b); mul(a b); div(a b); rem(a b); pow(a b);
                    fma(a b c); clamp(a b c);
                }
            }
        }
    )*};
}
integers! { i8 [min] i32 [max] i64 [sum min] u8 [max] u64 [sum] }

impl Kind for Bool8 {
    fn operation<'c>(random: &mut Random, case: &'c Case<'_>, depth: usize) -> Both<'c, Self> {
        match random.below(4) {
            0 => compared::<f32>(random, case, depth),
            1 => compared::<i64>(random, case, depth),
            2 => compared::<bf16>(random, case, depth),
            _ => one_of! { random case depth;
                logical_not(a); logical_and(a b); logical_or(a b); logical_xor(a b);
                eq(a b); lt(a b);
            },
        }
    }
}

fn compared<'c, T: Kind>(random: &mut Random, case: &'c Case<'_>, depth: usize) -> Both<'c, Bool8> {
    let (a, expected_a) = T::grow(random, case, depth);
    let (b, expected_b) = T::grow(random, case, depth);
    let of_calls =
        |op: fn(Tensor<T>, Tensor<T>) -> Result<Tensor<Bool8>>| op(expected_a?, expected_b?);
    match random.below(6) {
        0 => (a.eq(b), of_calls(eq)),
        1 => (a.ne(b), of_calls(ne)),
        2 => (a.lt(b), of_calls(lt)),
        3 => (a.le(b), of_calls(le)),
        4 => (a.gt(b), of_calls(gt)),
        _ => (a.ge(b), of_calls(ge)),
    }
}

/// For any type: evaluates it, evaluates it into an output of more elements, and updates an output.
fn compare<T: Kind>(random: &mut Random, case: &Case<'_>, what: &str) {
    let depth = 1 + random.below(4);
    let (e, expected) = T::grow(random, case, depth);
    let what = &format!("{what}: {e:?}");
    assert_same(&e.eval(), &expected, what);
    let Ok(expected) = expected else { return };
    let into = Tensor::<T>::zeros(&case.shape[..]).and_then(|mut out| {
        e.eval_into(&mut out)?;
        Ok(out)
    });
    let broadcast = expected.broadcast(&case.shape[..]).unwrap();
    assert_same(&into, &broadcast.to_tensor(), what);
    // In place: the output is a strided part.
    {
        let added = select(eq(broadcast, broadcast).unwrap(), broadcast, broadcast).unwrap();
        let mut room =
            Tensor::<T>::zeros([2].iter().chain(&case.shape).copied().collect::<Vec<_>>()).unwrap();
        copy_into(broadcast, &mut room.view_mut().index(0, 1).unwrap()).unwrap();
        let mut part = room.view_mut().index(0, 1).unwrap();
        part.update(|x| x.clone().eq(x.clone()).select(e.clone(), e)).unwrap();
        assert_same(&part.view().to_tensor(), &Ok(added), what);
    }
}

/// With a reduction or a normalization at the end.
fn compare_ended<T: Kind + Float>(random: &mut Random, case: &Case<'_>, what: &str)
where
    T::Sum: Sample,
{
    let depth = random.below(3);
    let (e, Ok(expected)) = T::grow(random, case, depth) else { return };
    // An expression only of numbers takes no axes, not even an empty list.
    let (e, rank) = (if expected.rank() == 0 { e + T::of(case)[0] } else { e }, expected.rank());
    let expected = if rank == 0 { add(&expected, T::of(case)[0]).unwrap() } else { expected };
    let rank = expected.rank();
    let axes = match random.below(4) {
        _ if rank == 0 => Axes::from(..),
        0 => Axes::from(..),
        1 => Axes::keep(-1),
        2 => Axes::from([random.below(rank)]),
        _ => Axes::from(
            [0, random.below(rank)]
                .iter()
                .copied()
                .filter(|a| *a > 0)
                .take(1)
                .chain([0])
                .collect::<Vec<_>>()
                .as_slice(),
        ),
    };
    // A view is reduced as it lies, and no temporary is made of it: that is a call on it.
    if format!("{e:?}").ends_with("()") {
        return;
    }
    let what = &format!("{what}: {e:?}, {axes:?}");
    match random.below(8) {
        0 => assert_same(&e.sum(axes).eval(), &sum(&expected, axes), what),
        1 => assert_same(&e.mean(axes).eval(), &mean(&expected, axes), what),
        2 => assert_same(&e.var(axes, 1).eval(), &var(&expected, axes, 1), what),
        3 => assert_same(&e.max(axes).eval(), &max(&expected, axes), what),
        4 => assert_same(&e.argmin(axes).eval(), &argmin(&expected, axes), what),
        5 => assert_same(&e.norm(axes, 2.0).eval(), &norm(&expected, axes, 2.0), what),
        6 => assert_same(&e.any(axes).eval(), &any(&expected, axes), what),
        _ => assert_same(&e.softmax(axes).eval(), &softmax(&expected, axes), what),
    }
}

fn shape(random: &mut Random) -> Vec<usize> {
    let rank = random.below(5);
    let mut count = 1;
    let large = if random.below(20) == 0 { 40_000 } else { 600 };
    (0..rank)
        .map(|_| {
            let extent = match random.below(12) {
                0 => 0,
                1 => 1,
                2..=7 => 2 + random.below(8),
                8..=10 => 16 + random.below(40),
                _ => 1000 + random.below(2000),
            };
            let extent = if count * extent.max(1) > large { 1 } else { extent };
            count *= extent.max(1);
            extent
        })
        .collect()
}

#[test]
fn expressions_have_the_bits_of_calls() {
    let number = |name| env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let count = number("TENURE_EXPRESSIONS").unwrap_or(10_000);
    let alone = number("TENURE_EXPRESSION");
    let data = Data::new(&mut Random::new(1), 1 << 17);
    for seed in alone.map_or(0..count, |seed| seed..seed + 1) {
        let random = &mut Random::new(seed);
        let shape = shape(random);
        let what = format!("TENURE_EXPRESSION={seed}, of shape {shape:?}");
        let case = Case::new(random, &data, shape);
        match random.below(14) {
            0 => compare::<f64>(random, &case, &what),
            1 | 2 => compare::<f32>(random, &case, &what),
            3 => compare::<f16>(random, &case, &what),
            4 => compare::<bf16>(random, &case, &what),
            5 => compare::<i8>(random, &case, &what),
            6 => compare::<i32>(random, &case, &what),
            7 => compare::<i64>(random, &case, &what),
            8 => compare::<u8>(random, &case, &what),
            9 => compare::<u64>(random, &case, &what),
            10 => compare::<Bool8>(random, &case, &what),
            11 => compare_ended::<f64>(random, &case, &what),
            12 => compare_ended::<f32>(random, &case, &what),
            _ => compare_ended::<bf16>(random, &case, &what),
        }
    }
}
