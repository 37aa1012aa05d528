//! Scans and sorts along an axis, compared with the host's.

use tenure::{Tensor, cuda};

use crate::stream;

fn table() -> Tensor<f32> {
    Tensor::from_fn([7, 9], |[row, column]| ((row * 31 + column * 17) % 11) as f32 / 8.0 - 0.5)
        .unwrap()
}

#[test]
fn scans_are_those_of_the_host() {
    let stream = &stream!();
    let a = &table();
    let on = &stream.upload(a).unwrap();
    macro_rules! same {
        ($($new:ident, $into:ident, $assign:ident;)*) => {$(
            for axis in [0, 1] {
                let expected = tenure::ops::$new(a, axis).unwrap().to_vec();
                assert_eq!(stream.to_vec(&stream.$new(on, axis).unwrap()).unwrap(), expected);
                let mut out = stream.zeros([7, 9]).unwrap();
                stream.$into(on, axis, &mut out).unwrap();
                assert_eq!(stream.to_vec(&out).unwrap(), expected);
                let mut own = stream.to_tensor(on).unwrap();
                stream.$assign(&mut own, axis).unwrap();
                assert_eq!(stream.to_vec(&own).unwrap(), expected);
            }
            assert!(stream.$new(on, 2).is_err());
        )*};
    }
    same! {
        cumsum, cumsum_into, cumsum_assign;
        cummin, cummin_into, cummin_assign;
        cummax, cummax_into, cummax_assign;
    }
    let small = &stream.upload(&[3_i16, -2, 4]).unwrap();
    let products: cuda::Tensor<i64> = stream.cumprod(small, 0).unwrap();
    assert_eq!(stream.to_vec(&products).unwrap(), [3, -6, -24]);
}

#[test]
fn sorts_are_those_of_the_host() {
    let stream = &stream!();
    let a = &table();
    let on = &stream.upload(a).unwrap();
    macro_rules! same {
        ($(
            $sort:ident, $into:ident, $assign:ident, $argsort:ident, $arg_into:ident, $both:ident;
        )*) => {$(
            for axis in [0, 1] {
                let expected = tenure::ops::$both(a, axis).unwrap();
                let (values, places) = (expected.values.to_vec(), expected.indices.to_vec());
                assert_eq!(stream.to_vec(&stream.$sort(on, axis).unwrap()).unwrap(), values);
                assert_eq!(stream.to_vec(&stream.$argsort(on, axis).unwrap()).unwrap(), places);
                let both = stream.$both(on, axis).unwrap();
                assert_eq!(stream.to_vec(&both.values).unwrap(), values);
                assert_eq!(stream.to_vec(&both.indices).unwrap(), places);
                let mut out = stream.zeros([7, 9]).unwrap();
                stream.$into(on, axis, &mut out).unwrap();
                assert_eq!(stream.to_vec(&out).unwrap(), values);
                let mut out = stream.zeros([7, 9]).unwrap();
                stream.$arg_into(on, axis, &mut out).unwrap();
                assert_eq!(stream.to_vec(&out).unwrap(), places);
                let mut own = stream.to_tensor(on).unwrap();
                stream.$assign(&mut own, axis).unwrap();
                assert_eq!(stream.to_vec(&own).unwrap(), values);
            }
            assert!(stream.$sort(on, 2).is_err());
        )*};
    }
    same! {
        sort, sort_into, sort_assign, argsort, argsort_into, sort_with_indices;
        sort_descending, sort_descending_into, sort_descending_assign, argsort_descending,
        argsort_descending_into, sort_descending_with_indices;
    }
}

#[test]
fn the_first_are_those_of_the_host() {
    let stream = &stream!();
    let a = &table();
    let on = &stream.upload(a).unwrap();
    for (here, there) in [
        (tenure::ops::top_k(a, 4, 1).unwrap(), stream.top_k(on, 4, 1).unwrap()),
        (tenure::ops::bottom_k(a, 3, 0).unwrap(), stream.bottom_k(on, 3, 0).unwrap()),
    ] {
        assert_eq!(there.values.shape(), here.values.shape());
        assert_eq!(stream.to_vec(&there.values).unwrap(), here.values.to_vec());
        assert_eq!(stream.to_vec(&there.indices).unwrap(), here.indices.to_vec());
    }
    assert!(stream.top_k(on, 10, 1).is_err() && stream.top_k(on, 1, 2).is_err());
}
