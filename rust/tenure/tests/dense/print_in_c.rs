//! `tnr_view_format` writes what `{:.precision$}` does: two programs of one description.

use std::ffi::c_char;
use std::ptr;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tenure::{Bool8, Complex, Element, TensorView, bf16, f16};
use tenure_sys::{tnr_dtype, tnr_status, tnr_view, tnr_view_format, tnr_view_lend};

/// The text of the C function, of elements at these strides.
fn in_c<T: Element>(data: &[T], shape: &[usize], strides: &[isize], precision: u32) -> String {
    let shape: Vec<i64> = shape.iter().map(|&extent| extent as i64).collect();
    let strides: Vec<i64> = strides.iter().map(|&stride| stride as i64).collect();
    let (code, bits, lanes) = T::DTYPE.to_dlpack();
    let dtype = tnr_dtype(u32::from(code) | u32::from(bits) << 8 | u32::from(lanes) << 16);
    let (mut view, mut needed) = (std::mem::MaybeUninit::<tnr_view>::uninit(), 0);
    // SAFETY: the slice is lent, and the other arrays have the stated count of numbers.
    let status = unsafe {
        tnr_view_lend(
            data.as_ptr().cast(),
            size_of_val(data),
            0,
            dtype,
            shape.len() as u32,
            shape.as_ptr(),
            strides.as_ptr(),
            view.as_mut_ptr(),
        )
    };
    assert_eq!(status, tnr_status::OK);
    // SAFETY: the view has been written; there is no room to be written.
    let status =
        unsafe { tnr_view_format(view.as_ptr(), precision, 0, ptr::null_mut(), &mut needed) };
    assert_eq!(status, tnr_status::OK);
    let mut text = vec![1_u8; needed];
    // SAFETY: as above, and the text has the stated count of bytes.
    let status = unsafe {
        let room = text.as_mut_ptr().cast::<c_char>();
        tnr_view_format(view.as_ptr(), precision, text.len(), room, &mut needed)
    };
    assert_eq!((status, needed, text.pop()), (tnr_status::OK, text.len() + 1, Some(0)));
    String::from_utf8(text).unwrap()
}

fn same<T: Element>(data: &[T], shape: &[usize], strides: &[isize], precision: u32) {
    let view = TensorView::from_slice_strided(data, 0, shape, strides).unwrap();
    let expected = format!("{:.*}", precision as usize, view);
    assert_eq!(in_c(data, shape, strides, precision), expected);
}

/// Compares the elements in several shapes: in a row, as a table and as a single one.
fn same_in_shapes<T: Element>(data: &[T], precision: u32) {
    let len = data.len() as isize;
    same(data, &[data.len()], &[1], precision);
    same(data, &[data.len() / 2, 2], &[2, 1], precision);
    same(data, &[2, data.len() / 2], &[1, 2], precision);
    same(data, &[2, 1, data.len() / 4], &[len / 2, 7, 2], precision);
    same(data, &[], &[], precision);
}

/// Elements of a width by their bits, and numbers that people write.
fn floats() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        (-1000_i32..1000, 0_i32..6)
            .prop_map(|(digits, places)| f64::from(digits) / 10f64.powi(places)),
        (-99_i32..99, -12_i32..12)
            .prop_map(|(digits, power)| f64::from(digits) * 10f64.powi(power)),
        Just(0.0),
        Just(-0.0),
        Just(1.0),
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(-f64::INFINITY),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(15),
        failure_persistence: None,
        ..ProptestConfig::with_cases(200)
    })]

    #[test]
    fn floats_are_the_same(
        data in prop::collection::vec(floats(), 4..40),
        tame in any::<bool>(),
        precision in prop_oneof![Just(8_u32), 0_u32..20],
    ) {
        let data: Vec<f64> =
            if tame { data.iter().map(|x| if x.is_finite() { x % 1000.0 } else { *x }).collect() } else { data };
        same_in_shapes(&data, precision);
        let narrow: Vec<f32> = data.iter().map(|&x| x as f32).collect();
        same_in_shapes(&narrow, precision);
        let halves: Vec<f16> = data.iter().map(|&x| f16::from_f64(x)).collect();
        same_in_shapes(&halves, precision);
        let brains: Vec<bf16> = data.iter().map(|&x| bf16::from_f64(x)).collect();
        same_in_shapes(&brains, precision);
        let pairs: Vec<_> = data.chunks_exact(2).map(|part| Complex::new(part[0], part[1])).collect();
        same(&pairs, &[pairs.len()], &[1], precision);
        let pairs: Vec<_> = narrow.chunks_exact(2).map(|part| Complex::new(part[0], part[1])).collect();
        same(&pairs, &[pairs.len()], &[1], precision);
    }

    #[test]
    fn bits_of_sixteen_are_the_same(bits in prop::collection::vec(any::<u16>(), 4..12)) {
        same_in_shapes(&bits.iter().map(|&bits| f16::from_bits(bits)).collect::<Vec<_>>(), 8);
        same_in_shapes(&bits.iter().map(|&bits| bf16::from_bits(bits)).collect::<Vec<_>>(), 8);
    }

    #[test]
    fn integers_and_truths_are_the_same(data in prop::collection::vec(any::<i64>(), 4..30)) {
        same_in_shapes(&data, 8);
        same_in_shapes(&data.iter().map(|&x| x as u64).collect::<Vec<_>>(), 8);
        same_in_shapes(&data.iter().map(|&x| x as i32).collect::<Vec<_>>(), 8);
        same_in_shapes(&data.iter().map(|&x| x as u8).collect::<Vec<_>>(), 8);
        same_in_shapes(&data.iter().map(|&x| x as i8).collect::<Vec<_>>(), 8);
        same_in_shapes(&data.iter().map(|&x| Bool8::from(x % 2 == 0)).collect::<Vec<_>>(), 8);
    }

    #[test]
    fn shapes_are_the_same(
        shape in prop::collection::vec(prop_oneof![0_usize..5, 1_usize..9, 995_usize..1010], 0..5),
    ) {
        let count: usize = shape.iter().product();
        prop_assume!(count < 100_000);
        let data: Vec<i32> = (0..count.max(1) as i32).collect();
        let mut strides = vec![1_isize; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis].max(1) as isize;
        }
        same(&data[..count], &shape, &strides, 8);
        let data: Vec<f32> = data.iter().map(|&x| x as f32 / 7.0).collect();
        same(&data[..count], &shape, &strides, 3);
    }
}
