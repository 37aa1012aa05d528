//! Compares every row of the table of operations with the host's: dense, transposed, sliced,
//! broadcast and with numbers; new, into and in place.
#![expect(clippy::multiple_bound_locations, reason = "those of the table, and those of a test")]

use tenure::*;
use tenure_sys::operations::{Error as Bound, Kind};
use tenure_sys::{
    for_each_binary, for_each_compare, for_each_reduce, for_each_ternary, for_each_unary,
};

use crate::close::{assert_close, bound, reduction_bound};
use crate::samples::{Random, Sample, given, output, over, tensor};
use crate::stream;

/// Complex numbers are not computed with on a device, and say so.
macro_rules! real {
    ([T: Arithmetic] $of:ident) => {
        over!([T: Number] $of)
    };
    ([T: Field] $of:ident) => {
        over!([T: Float] $of)
    };
    ([T: ComplexNumber] $of:ident) => {
        let _ = $of::<Complex<f32>>;
    };
    ([T: Element] $of:ident) => {
        over!([T: Real] $of)
    };
    ([$($generic:tt)*] $of:ident) => {
        over!([$($generic)*] $of)
    };
}

macro_rules! in_place {
    ($in:ident Bool8 $($body:tt)*) => { in_place!(@same $in Bool8 $($body)*) };
    ($in:ident T $($body:tt)*) => { in_place!(@same $in T $($body)*) };
    ($in:ident Part $($body:tt)*) => {};
    ($in:ident Magnitude $($body:tt)*) => {};
    (@same Bool8 Bool8 $($body:tt)*) => { $($body)* };
    (@same T T $($body:tt)*) => { $($body)* };
    (@same T Bool8 $($body:tt)*) => {};
}

macro_rules! unary {
    ($($op:ident $name:literal $module:ident: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident; $what:literal, errors $also:literal,
        example $a:literal => $result:literal;)*) => {$(
        #[test]
        fn $new() {
            let stream = &stream!();
            let _ = stream;
            fn of<$($generic)*>() where $in: Sample, output!($in $out): Sample {
                let stream = &stream!();
                let bound = bound(Kind::Unary, $name);
                let random = &mut Random::new(1);
                let a = tensor(random, [5, 67], <$in>::any);
                let on = stream.upload(&a).unwrap();
                let expected = tenure::$module::$new(&a).unwrap();
                let got = stream.$new(&on).unwrap();
                assert_close(&stream.download(&got).unwrap(), &expected, bound, $name);

                let turned = stream.$new(on.t()).unwrap();
                let expected = tenure::$module::$new(a.t()).unwrap();
                assert_close(&stream.download(&turned).unwrap(), &expected, bound, $name);

                let mut out = stream.zeros::<output!($in $out)>([2, 5, 33]).unwrap();
                let part = on.slice(1, 1..34).unwrap();
                stream.$into(part, &mut out.view_mut().index(0, 1).unwrap()).unwrap();
                let part = a.slice(1, 1..34).unwrap();
                let expected = tenure::$module::$new(part).unwrap();
                let got = stream.download(out.index(0, 1).unwrap()).unwrap();
                assert_close(&got, &expected, bound, $name);
                let untouched = stream.to_vec(out.index(0, 0).unwrap()).unwrap();
                assert!(untouched.iter().all(|element| element.bits() == 0));

                in_place!($in $out
                    let mut on = on;
                    stream.$assign(&mut on).unwrap();
                    let expected = tenure::$module::$new(&a).unwrap();
                    assert_close(&stream.download(&on).unwrap(), &expected, bound, $name);
                );
            }
            real!([$($generic)*] of);
        }
    )*};
}
for_each_unary!(unary);

macro_rules! binary {
    ($($op:ident $name:literal: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident; $what:literal, errors $also:literal,
        example $a:literal, $b:literal => $result:literal;)*) => {$(
        #[test]
        fn $new() {
            fn of<$($generic)*>()
            where
                $in: Sample + cuda::Operand<$in> + AsView<$in>,
            {
                let stream = &stream!();
                let bound = bound(Kind::Binary, $name);
                let random = &mut Random::new(2);
                let right = |random: &mut Random| match <$in>::DTYPE.to_dlpack().0 {
                    2 | 4 => <$in>::any(random),
                    _ => <$in>::small(random),
                };
                let a = tensor(random, [5, 67], <$in>::any);
                let (b, row) = (tensor(random, [5, 67], right), tensor(random, [67], right));
                let one = <$in>::small(random);
                let [a_on, b_on] = [&a, &b].map(|host| stream.upload(host).unwrap());
                let row_on = stream.upload(&row).unwrap();

                let check = |got: Result<cuda::Tensor<$in>>, expected: Result<Tensor<$in>>| {
                    let got = stream.download(&got.unwrap()).unwrap();
                    assert_close(&got, &expected.unwrap(), bound, $name);
                };
                check(stream.$new(&a_on, &b_on), tenure::ops::$new(&a, &b));
                check(stream.$new(a_on.t(), b_on.t()), tenure::ops::$new(a.t(), b.t()));
                check(stream.$new(&a_on, &row_on), tenure::ops::$new(&a, &row));
                check(stream.$new(&a_on, one), tenure::ops::$new(&a, one));
                check(stream.$new(one, &b_on), tenure::ops::$new(one, &b));
                check(stream.$new(one, one), tenure::ops::$new(one, one));

                let mut out = stream.zeros([67, 5]).unwrap();
                stream.$into(&a_on, &b_on, &mut out.view_mut().t()).unwrap();
                let got = stream.download(out.t()).unwrap();
                assert_close(&got, &tenure::ops::$new(&a, &b).unwrap(), bound, $name);

                let (mut on, mut host) = (stream.to_tensor(&a_on).unwrap(), a.try_clone().unwrap());
                stream.$assign(&mut on, &row_on).unwrap();
                tenure::ops::$assign(&mut host, &row).unwrap();
                assert_close(&stream.download(&on).unwrap(), &host, bound, $name);
                let (mut on, mut host) = (a_on, a);
                stream.$assign(&mut on, one).unwrap();
                tenure::ops::$assign(&mut host, one).unwrap();
                assert_close(&stream.download(&on).unwrap(), &host, bound, $name);
            }
            real!([$($generic)*] of);
        }
    )*};
}
for_each_binary!(binary);

macro_rules! ternary {
    ($($op:ident $name:literal: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident; $what:literal, errors $also:literal,
        example $a:literal, $b:literal, $c:literal => $result:literal;)*) => {$(
        #[test]
        fn $new() {
            fn of<$($generic)*>()
            where
                $in: Sample + cuda::Operand<$in> + AsView<$in>,
            {
                let stream = &stream!();
                let bound = bound(Kind::Ternary, $name);
                let random = &mut Random::new(3);
                // Interpolation between distant values is exact for neither.
                let element = if bound == Bound::OfInputs(1) { <$in>::small } else { <$in>::any };
                let [a, b] = [0; 2].map(|_| tensor(random, [5, 67], element));
                let c = tensor(random, [5, 1], element);
                let one = c[[1, 0]];
                let [a_on, b_on, c_on] = [&a, &b, &c].map(|host| stream.upload(host).unwrap());
                let check = |got: &cuda::Tensor<$in>, expected: Result<Tensor<$in>>| {
                    let got = stream.download(got).unwrap();
                    assert_close(&got, &expected.unwrap(), bound, $name);
                };
                check(&stream.$new(&a_on, &b_on, &c_on).unwrap(), tenure::ops::$new(&a, &b, &c));
                check(&stream.$new(&a_on, one, &c_on).unwrap(), tenure::ops::$new(&a, one, &c));
                check(&stream.$new(one, &b_on, one).unwrap(), tenure::ops::$new(one, &b, one));
                let mut out = stream.zeros([5, 67]).unwrap();
                stream.$into(&a_on, &b_on, one, &mut out).unwrap();
                check(&out, tenure::ops::$new(&a, &b, one));
                stream.copy_into(&a_on, &mut out).unwrap();
                stream.$assign(&mut out, &b_on, &c_on).unwrap();
                check(&out, tenure::ops::$new(&a, &b, &c));
            }
            real!([$($generic)*] of);
        }
    )*};
}
for_each_ternary!(ternary);

macro_rules! compare {
    ($($op:ident $name:literal: $new:ident, $into:ident, $bound:ident;
        $what:literal => $result:literal;)*) => {$(
        #[test]
        fn $new() {
            fn of<T: $bound>() where T: Sample + cuda::Operand<T> + AsView<T> {
                let stream = &stream!();
                let random = &mut Random::new(4);
                let [a, b] = [0; 2].map(|_| tensor(random, [5, 67], T::any));
                let one = a[[2, 3]];
                let [a_on, b_on] = [&a, &b].map(|host| stream.upload(host).unwrap());
                let check = |got: Result<cuda::Tensor<Bool8>>, expected: Result<Tensor<Bool8>>| {
                    let got = stream.download(&got.unwrap()).unwrap();
                    assert_close(&got, &expected.unwrap(), Bound::Exact, $name);
                };
                check(stream.$new(&a_on, &b_on), tenure::ops::$new(&a, &b));
                check(stream.$new(a_on.t(), b_on.t()), tenure::ops::$new(a.t(), b.t()));
                check(stream.$new(&a_on, one), tenure::ops::$new(&a, one));
                check(stream.$new(one, &b_on), tenure::ops::$new(one, &b));
                check(stream.$new(one, one), tenure::ops::$new(one, one));
                let mut out = stream.zeros([2, 5, 67]).unwrap();
                stream.$into(&a_on, &b_on, &mut out).unwrap();
                let expected = tenure::ops::$new(&a, &b).unwrap();
                let got = stream.download(out.index(0, 1).unwrap()).unwrap();
                assert_close(&got, &expected, Bound::Exact, $name);
            }
            real!([T: $bound] of);
        }
    )*};
}
for_each_compare!(compare);

#[test]
fn select_of_numbers_and_tensors() {
    fn of<T: Sample + cuda::Operand<T> + AsView<T>>() {
        let stream = &stream!();
        let random = &mut Random::new(5);
        let condition = tensor(random, [5, 67], Bool8::any);
        let (a, row) = (tensor(random, [5, 67], T::any), tensor(random, [67], T::any));
        let one = row[[0]];
        let condition_on = stream.upload(&condition).unwrap();
        let (a_on, row_on) = (stream.upload(&a).unwrap(), stream.upload(&row).unwrap());
        let got = stream.select(&condition_on, &a_on, &row_on).unwrap();
        let expected = tenure::ops::select(&condition, &a, &row).unwrap();
        assert_close(&stream.download(&got).unwrap(), &expected, Bound::Exact, "select");
        let mut out = stream.zeros([5, 67]).unwrap();
        stream.select_into(&condition_on, one, &a_on, &mut out).unwrap();
        let expected = tenure::ops::select(&condition, one, &a).unwrap();
        assert_close(&stream.download(&out).unwrap(), &expected, Bound::Exact, "select_into");
    }
    over!([T: Element] of);
}

#[test]
fn casts_between_all_dtypes() {
    fn to<T: Sample + Real, U: Sample + Real>() {
        let stream = &stream!();
        let a = tensor(&mut Random::new(6), [7, 67], T::any);
        let on = stream.upload(&a).unwrap();
        let what = format!("cast to {} ", U::DTYPE);
        let got = stream.cast::<U, _>(&on).unwrap();
        let expected = tenure::ops::cast::<U, _>(&a).unwrap();
        assert_close(&stream.download(&got).unwrap(), &expected, Bound::Exact, &what);
        let mut out = stream.zeros::<U>([67, 7]).unwrap();
        stream.cast_into(on.t(), &mut out).unwrap();
        let expected = tenure::ops::cast::<U, _>(a.t()).unwrap();
        assert_close(&stream.download(&out).unwrap(), &expected, Bound::Exact, &what);
    }
    fn of<T: Sample + Real>() {
        over!([U: Real] to from T);
    }
    over!([T: Real] of);
}

/// Numbers whose sums and powers are close on both, or any.
macro_rules! element {
    (Number) => {
        T::any
    };
    (Real) => {
        T::any
    };
    ($other:ident) => {
        T::small
    };
}
/// Reductions by rows, by columns, over all, of a transposed tensor, and into memory.
macro_rules! reductions {
    ($($op:ident $name:literal: $new:ident, $into:ident, [T: $bound:ident] => $result_type:ty
        $(, [$field:ident: $field_type:ty])?; $what:literal, errors $also:literal,
        example $a:literal, $arguments:literal => $result:literal;)*) => {$(
        reductions! {
            @test $new, $into, [T: $bound] $result_type, $bound, ($(given!($field))?)
        }
    )*};
    // The product of arbitrary numbers is too large; a test below uses ones and twos.
    (@test prod, $($row:tt)*) => {};
    (@test $name:ident, $into:ident, [$($generic:tt)*] $result:ty, $bound:ident, $with:tt) => {
        #[test]
        fn $name() {
            fn of<$($generic)*>() where T: Sample, $result: Sample {
                let stream = &stream!();
                let a = &tensor(&mut Random::new(7), [9, 67], element!($bound));
                let on = &stream.upload(a).unwrap();
                reductions! { @over stream, a, on, $name, $into, $result, 0, $with }
                reductions! { @over stream, a, on, $name, $into, $result, 1, $with }
                reductions! { @over stream, a, on, $name, $into, $result, .., $with }
                reductions! { @over stream, a, on, $name, $into, $result, Axes::keep(-1), $with }
            }
            real!([$($generic)*] of);
        }
    };
    (@over $stream:ident, $a:ident, $on:ident, $name:ident, $into:ident, $result:ty, $axes:expr,
        ($($with:expr)?)) => {
        let bound = reduction_bound(stringify!($name));
        let what = concat!(stringify!($name), " over ", stringify!($axes));
        let got = $stream.$name($on, $axes $(, $with)?).unwrap();
        let expected = tenure::ops::$name::<T>($a, $axes $(, $with)?).unwrap();
        assert_close(&$stream.download(&got).unwrap(), &expected, bound, what);
        let mut out = $stream.zeros::<$result>(expected.shape()).unwrap();
        $stream.$into($on.flip(1).unwrap(), $axes $(, $with)?, &mut out).unwrap();
        let expected = tenure::ops::$name::<T>($a.flip(1).unwrap(), $axes $(, $with)?).unwrap();
        assert_close(&$stream.download(&out).unwrap(), &expected, bound, what);
        let got = $stream.$name($on.t(), $axes $(, $with)?).unwrap();
        let expected = tenure::ops::$name::<T>($a.t(), $axes $(, $with)?).unwrap();
        assert_close(&$stream.download(&got).unwrap(), &expected, bound, what);
    };
}

for_each_reduce!(reductions);

#[test]
fn prod_of_ones_and_twos() {
    let stream = stream!();
    let a = Tensor::from_vec((0..60).map(|i| 1.0 + f64::from(i % 2)).collect(), [3, 20]).unwrap();
    let on = stream.upload(&a).unwrap();
    let got = stream.prod(&on, 1).unwrap();
    assert_eq!(stream.to_vec(&got).unwrap(), [1024.0; 3]);
    let mut out = stream.zeros::<f64>([20]).unwrap();
    stream.prod_into(&on, 0, &mut out).unwrap();
    assert_eq!(stream.to_vec(&out).unwrap(), tenure::ops::prod(&a, 0).unwrap().to_vec());
}

#[test]
fn reductions_of_all_elements_give_numbers() {
    let stream = stream!();
    let a = Tensor::from([[1.0_f64, 2.0, 6.0], [0.0, 5.0, 4.0]]);
    let on = stream.upload(&a).unwrap();
    assert_eq!(stream.sum_all(&on).unwrap(), 18.0);
    assert_eq!(stream.prod_all(&on).unwrap(), 0.0);
    assert_eq!(stream.mean_all(&on).unwrap(), 3.0);
    assert_eq!(stream.min_all(on.index(0, 0).unwrap()).unwrap(), 1.0);
    assert_eq!(stream.max_all(on.t()).unwrap(), 6.0);
    assert_eq!(stream.count_all(&on).unwrap(), 5);
    assert_eq!(stream.norm_all(&on, f64::INFINITY).unwrap(), 6.0);
    assert!((stream.var_all(&on, 1).unwrap() - 5.6).abs() < 1e-14);
    assert!((stream.std_all(&on, 1).unwrap() - 5.6_f64.sqrt()).abs() < 1e-14);
}

#[test]
fn complex_numbers_move_and_are_not_computed_with() {
    let stream = stream!();
    let a = Tensor::from([Complex::new(1.0_f32, 2.0), Complex::new(3.0, -4.0)]);
    let on = stream.upload(&a).unwrap();
    assert_eq!(stream.download(on.flip(0).unwrap()).unwrap(), a.flip(0).unwrap());
    let refused = [stream.add(&on, &on).err(), stream.conj(&on).err(), stream.sum(&on, 0).err()];
    for error in refused {
        assert_eq!(error.unwrap().kind(), ErrorKind::Unsupported);
    }
}
