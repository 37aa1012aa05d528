//! Normalizations, elements by their indices, and triangles, compared with the host's.
#![expect(clippy::multiple_bound_locations, reason = "those of the rows, and those of a test")]

use tenure::*;
use tenure_sys::operations::Kind;

use crate::close::{assert_close, bound};
use crate::samples::{Random, Sample, over, tensor};
use crate::stream;

/// Over columns, rows and all, new, of a transposed tensor into memory, and in place.
macro_rules! normalizations {
    ($($name:ident, $into:ident, $assign:ident $(, [$($factor:ident),*])?;)*) => {$(
        #[test]
        fn $name() {
            fn of<T: Float + Sample>() {
                let stream = &stream!();
                let random = &mut Random::new(1);
                let a = &tensor(random, [9, 67], T::small);
                let on = &stream.upload(a).unwrap();
                let bound = bound(Kind::Normalize, stringify!($name));
                let all_axes = [Axes::from(0), Axes::from(1), Axes::from(..)];
                for (number, axes) in all_axes.into_iter().enumerate() {
                    let what = &format!("{} over axes {axes:?}", stringify!($name));
                    let whole = tensor(random, [9, 67], T::small);
                    // From 2 to 10: with such a bias no result is near 0, where the rounding of the
                    // mean would be many last places.
                    let whole = &ops::add(&whole, &tensor(random, [9, 67], T::small)).unwrap();
                    let factor = match number {
                        0 => whole.index(1, 0).unwrap(),
                        1 => whole.index(0, 0).unwrap(),
                        _ => whole.view(),
                    };
                    let factor_there = stream.upload(factor).unwrap();
                    let _ = (&factor, &factor_there);
                    $(
                        let here = LayerNorm::new()$(.$factor(&factor))*;
                        let there = cuda::LayerNorm::new()$(.$factor(&factor_there))*;
                    )?
                    let expected =
                        tenure::nn::$name(a, axes $(, normalizations!(@of here $($factor)*))?);
                    let expected = expected.unwrap();
                    let got = stream.$name(on, axes $(, normalizations!(@of there $($factor)*))?);
                    let got = got.unwrap();
                    assert_close(&stream.download(&got).unwrap(), &expected, bound, what);

                    let mut out = stream.zeros::<T>([67, 9]).unwrap();
                    let turned = &mut out.view_mut().t();
                    stream
                        .$into(on, axes $(, normalizations!(@of there $($factor)*))?, turned)
                        .unwrap();
                    assert_close(&stream.download(out.t()).unwrap(), &expected, bound, what);

                    let mut own = stream.to_tensor(on).unwrap();
                    stream
                        .$assign(&mut own, axes $(, normalizations!(@of there $($factor)*))?)
                        .unwrap();
                    assert_close(&stream.download(&own).unwrap(), &expected, bound, what);
                }
            }
            over!([T: Float] of);
        }
    )*};
    (@of $norm:ident $($factor:ident)*) => { $norm };
}

normalizations! {
    softmax, softmax_into, softmax_assign;
    log_softmax, log_softmax_into, log_softmax_assign;
    layer_norm, layer_norm_into, layer_norm_assign, [bias];
    rms_norm, rms_norm_into, rms_norm_assign, [weight];
}

#[test]
fn long_rows_are_normalized_too() {
    let stream = &stream!();
    let a = tensor(&mut Random::new(2), [3, 20_000], f32::small);
    let on = stream.upload(&a).unwrap();
    let got = stream.softmax(&on, 1).unwrap();
    let bound = bound(Kind::Normalize, "softmax");
    assert_close(
        &stream.download(&got).unwrap(),
        &tenure::nn::softmax(&a, 1).unwrap(),
        bound,
        "softmax",
    );
    let error = stream.softmax(&on, 2).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let weight = stream.upload(&[1.0_f32]).unwrap();
    let norm = cuda::LayerNorm::new().weight(&weight);
    let error = stream.layer_norm(&on, 1, norm).unwrap_err();
    assert!(error.message().starts_with("layer_norm: weight.shape[0] is 1 "), "{error}");
}

fn indices<const N: usize>(random: &mut Random, shape: [usize; N], below: usize) -> Tensor<i64> {
    let count = shape.iter().product();
    let elements = (0..count).map(|_| random.below(below) as i64).collect::<Vec<_>>();
    Tensor::from_vec(elements, shape).unwrap()
}

#[test]
fn elements_are_taken_where_indices_say() {
    fn of<T: Real + Sample>() {
        let stream = &stream!();
        let random = &mut Random::new(3);
        let a = &tensor(random, [9, 5, 7], T::any);
        let on = &stream.upload(a).unwrap();
        for axis in 0..3 {
            let by = &indices(random, [4, 3], a.shape()[axis]);
            let there = &stream.upload(by).unwrap();
            let expected = ops::take(a, axis, by).unwrap();
            let got = stream.take(on, axis, there).unwrap();
            assert_close(&stream.download(&got).unwrap(), &expected, Exact, "take");
            let narrow = &stream.cast::<i32, i64>(there).unwrap();
            let mut out = stream.zeros::<T>(expected.shape()).unwrap();
            stream.take_into(on.view(), axis, narrow, &mut out).unwrap();
            assert_close(&stream.download(&out).unwrap(), &expected, Exact, "take_into");

            let mut shape = [9, 5, 7];
            shape[axis] = 6;
            let by = &indices(random, shape, a.shape()[axis]);
            let there = &stream.upload(by).unwrap();
            let expected = ops::gather(a, axis, by).unwrap();
            let got = stream.gather(on, axis, there).unwrap();
            assert_close(&stream.download(&got).unwrap(), &expected, Exact, "gather");
            let mut out = stream.zeros::<T>(expected.shape()).unwrap();
            stream.gather_into(on, axis, there, &mut out).unwrap();
            assert_close(&stream.download(&out).unwrap(), &expected, Exact, "gather_into");
        }
    }
    use tenure_sys::operations::Error::Exact;
    over!([T: Real] of);
}

/// With the bits of the host: in the order of the indices.
macro_rules! puts {
    ($($name:ident, $assign:ident, $shape:ident, [$($generic:tt)*];)*) => {$(
        #[test]
        fn $name() {
            fn of<$($generic)*>() where T: Sample {
                let stream = &stream!();
                let random = &mut Random::new(4);
                let a = &tensor(random, [9, 5, 7], T::small);
                let on = &stream.upload(a).unwrap();
                for axis in 0..3 {
                    let (by, shape) = puts!(@$shape random, axis);
                    let values = &tensor(random, shape, T::small);
                    let there = &stream.upload(&by).unwrap();
                    let values_there = &stream.upload(values).unwrap();
                    let expected = tenure::ops::$name(a, axis, &by, values).unwrap();
                    let got = stream.$name(on, axis, there, values_there).unwrap();
                    let what = stringify!($name);
                    assert_close(&stream.download(&got).unwrap(), &expected, Exact, what);
                    let mut own = stream.to_tensor(on).unwrap();
                    stream.$assign(&mut own, axis, there, values_there.view()).unwrap();
                    assert_close(&stream.download(&own).unwrap(), &expected, Exact, what);
                }
            }
            use tenure_sys::operations::Error::Exact;
            over!([$($generic)*] of);
        }
    )*};
    (@rows $random:ident, $axis:ident) => {{
        let mut shape = [9, 5, 7];
        let by = indices($random, [12], shape[$axis]);
        shape[$axis] = 12;
        (by, shape)
    }};
    (@elements $random:ident, $axis:ident) => {{
        let mut shape = [9, 5, 7];
        let below = shape[$axis];
        shape[$axis] = 11;
        (indices($random, shape, below), shape)
    }};
}

puts! {
    put, put_assign, rows, [T: Real];
    put_add, put_add_assign, rows, [T: Number];
    put_mul, put_mul_assign, rows, [T: Number];
    put_min, put_min_assign, rows, [T: Number];
    put_max, put_max_assign, rows, [T: Number];
    scatter, scatter_assign, elements, [T: Real];
    scatter_add, scatter_add_assign, elements, [T: Number];
    scatter_mul, scatter_mul_assign, elements, [T: Number];
    scatter_min, scatter_min_assign, elements, [T: Number];
    scatter_max, scatter_max_assign, elements, [T: Number];
}

#[test]
fn indices_outside_are_named_and_nothing_is_written() {
    let stream = &stream!();
    let a = stream.upload(&[10, 20, 30]).unwrap();
    let wrong = stream.upload(&[[2_i64, 0], [-1, 3]]).unwrap();
    let error = stream.take(&a, 0, &wrong).unwrap_err();
    assert!(
        error.message().starts_with("take: indices[1, 0] is -1 but must be at least 0"),
        "{error}"
    );
    let mut out = stream.upload(&[1, 2, 3]).unwrap();
    let values = stream.upload(&[[7, 7], [7, 7]]).unwrap();
    let error = stream.put_assign(&mut out, 0, &wrong, &values).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(stream.to_vec(&out).unwrap(), [1, 2, 3]);
    let error = stream.take(&a, 1, &wrong).unwrap_err();
    assert_eq!(error.message(), ops::take(&[1, 2, 3], 1, &[0]).unwrap_err().message());
}

macro_rules! triangles {
    ($($name:ident, $into:ident, $assign:ident;)*) => {$(
        #[test]
        fn $name() {
            use tenure_sys::operations::Error::Exact;
            fn of<T: Real + Sample>() {
                let stream = &stream!();
                let a = &tensor(&mut Random::new(6), [2, 9, 37], T::any);
                let on = &stream.upload(a).unwrap();
                for diagonal in [0, -3, 5, 36, -8, 100, isize::MIN, isize::MAX] {
                    let what = &format!("{} from {diagonal}", stringify!($name));
                    let expected = ops::$name(a, diagonal).unwrap();
                    let got = stream.$name(on, diagonal).unwrap();
                    assert_close(&stream.download(&got).unwrap(), &expected, Exact, what);

                    let flipped = a.slice(2, ..9).unwrap().flip(1).unwrap();
                    let expected_part = ops::$name(flipped.t(), diagonal).unwrap();
                    let mut out = stream.zeros::<T>(expected_part.shape()).unwrap();
                    let flipped = on.slice(2, ..9).unwrap().flip(1).unwrap();
                    stream.$into(flipped.t(), diagonal, &mut out).unwrap();
                    assert_close(&stream.download(&out).unwrap(), &expected_part, Exact, what);

                    let mut own = stream.to_tensor(on).unwrap();
                    stream.$assign(&mut own, diagonal).unwrap();
                    assert_close(&stream.download(&own).unwrap(), &expected, Exact, what);
                }
                let row = stream.zeros::<T>(3).unwrap();
                let error = stream.$name(&row, 0).unwrap_err();
                assert_eq!(error.message(), ops::$name([0.0; 3], 0).unwrap_err().message());
            }
            over!([T: Real] of);
        }
    )*};
}

triangles! {
    tril, tril_into, tril_assign;
    triu, triu_into, triu_assign;
}
