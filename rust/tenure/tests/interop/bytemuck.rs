//! Bytes, structs and elements of other types in the same memory.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tenure::{Element, ErrorKind, Tensor, TensorView, TensorViewMut, bf16, f16};

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(6),
        failure_persistence: None,
        ..ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 })
    })]

    #[test]
    fn elements_of_another_size_are_the_same_bytes(
        rows in 0_usize..5,
        cols in 0_usize..7,
        step in prop_oneof![Just(1_isize), Just(-1), Just(2)],
    ) {
        let words: Vec<u32> = (0..rows as u32 * 8).map(|at| at.wrapping_mul(0x9e37_79b9)).collect();
        let all = TensorView::from_slice(&words, [rows, 8]).unwrap();
        let view = all.slice(1, ..cols).unwrap().slice_step(0, .., step).unwrap();
        let bytes = view.as_elements::<u8>().unwrap();
        let expected: Vec<u8> = view.iter().flat_map(|word| word.to_ne_bytes()).collect();
        prop_assert_eq!((bytes.shape()[1], bytes.to_vec()), (4 * cols, expected));
        let back = bytes.as_elements::<u32>().unwrap();
        prop_assert_eq!((back.shape(), back.to_vec()), (view.shape(), view.to_vec()));
        prop_assert!(view.is_empty() || back.as_ptr() == view.as_ptr());
        let floats = bytes.as_elements::<f32>().unwrap();
        prop_assert!(floats.iter().map(|float| float.to_bits()).eq(view.iter().copied()));
        prop_assert_eq!(bytes.as_elements::<u64>().is_ok(), {
            let aligned = view.as_ptr().addr() % 8 == 0 || view.is_empty();
            cols % 2 == 0 && aligned
        });
    }
}

#[test]
fn halves_are_words_and_words_are_halves() {
    fn check<T: Element>(one: T, bits: u16) {
        let halves = [one; 3];
        let words = TensorView::from_slice(&halves, 3).unwrap().as_elements::<u16>().unwrap();
        assert_eq!(words.to_vec(), [bits; 3]);
        assert_eq!(words.as_elements::<T>().unwrap().to_vec(), halves);
    }
    check(f16::ONE, f16::ONE.to_bits());
    check(bf16::ONE, bf16::ONE.to_bits());
}

#[test]
fn bytes_written_are_read_as_numbers() {
    let mut tensor = Tensor::<f32>::zeros([2, 2]).unwrap();
    let mut bytes = tensor.view_mut().into_elements::<u8>().unwrap();
    bytes.view_mut().slice(1, 3..4).unwrap().fill(0x3f);
    bytes.view_mut().slice(1, 2..3).unwrap().fill(0x80);
    bytes.into_elements::<f32>().unwrap().view_mut()[[1, 1]] = 7.0;
    if cfg!(target_endian = "little") {
        assert_eq!(tensor.to_vec(), [1.0, 0.0, 1.0, 7.0]);
    }
}

#[test]
fn elements_of_another_size_are_refused_where_they_do_not_fit() {
    let refused = |view: TensorView<'_, u16>, message: &str| {
        let error = view.as_elements::<u32>().err().unwrap();
        assert_eq!((error.kind(), error.message()), (ErrorKind::InvalidArgument, message));
    };
    let words: [u32; 8] = [0; 8];
    let view = TensorView::from_slice(&words, [4, 2]).unwrap().as_elements::<u16>().unwrap();
    refused(view.t(), "the stride of the last axis is 4 but must be 1, to be counted in u32");
    refused(
        view.slice(1, ..3).unwrap(),
        "axis 1 of extent 3 and stride 1 in u16 is no whole number of u32, which has 4 bytes",
    );
    refused(
        view.slice(1, 1..3).unwrap(),
        "data lies 2 bytes past a multiple of 4, the alignment of its dtype",
    );
    let odd = [0_u16; 8];
    refused(
        TensorView::from_slice_strided(&odd, 0, [2, 2], &[3, 1]).unwrap(),
        "axis 0 of extent 2 and stride 3 in u16 is no whole number of u32, which has 4 bytes",
    );
    refused(
        TensorView::from_ref(&7),
        "u16 of 2 bytes and u32 of 4 differ, and rank 0 has no axis to grow or shrink",
    );
    assert_eq!(TensorView::from_ref(&7_u16).as_elements::<i16>().unwrap()[[]], 7);

    let mut bytes = [0_u8; 3];
    let view = TensorViewMut::from_slice(&mut bytes, 3).unwrap();
    let rejected = view.into_elements::<u16>().err().unwrap();
    rejected.into_data().fill(1);
    assert_eq!(bytes, [1; 3]);
}

#[test]
fn no_elements_are_reinterpreted() {
    let none = TensorView::<u8>::from_slice(&[], [3, 0]).unwrap();
    assert_eq!(none.as_elements::<f64>().unwrap().shape(), [3, 0]);
    let none = TensorView::<u8>::from_slice(&[], [0, 8]).unwrap();
    assert_eq!(none.as_elements::<f64>().unwrap().shape(), [0, 1]);
    let huge = TensorView::<f64>::from_slice(&[], [0, 1 << 61]).unwrap();
    assert!(huge.as_elements::<u8>().is_err());
}

#[cfg(feature = "bytemuck")]
mod structs {
    use bytemuck::{Pod, Zeroable};
    use tenure::{Bool8, Complex, ErrorKind, TensorView, TensorViewMut};

    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    #[repr(C)]
    struct Sample {
        position: [f32; 2],
        label: u32,
    }

    fn samples() -> Vec<Sample> {
        let sample = |at| Sample { position: [at as f32, -1.0], label: at };
        (0..6).map(sample).collect()
    }

    #[test]
    fn structs_are_an_axis_of_elements_and_come_back() {
        let samples = samples();
        let view = TensorView::<f32>::from_pods(&samples, [2, 3]).unwrap();
        assert_eq!((view.shape(), view.strides()), (&[2, 3, 3][..], &[9, 3, 1][..]));
        assert_eq!(view.as_ptr(), samples.as_ptr().cast());
        assert_eq!((view[[1, 2, 0]], view[[1, 2, 2]].to_bits()), (5.0, 5));
        assert_eq!(view.as_pods::<Sample>().unwrap(), samples);
        let bytes = TensorView::<u8>::from_pods(&samples, 6).unwrap();
        assert_eq!(bytes.shape(), [6, 12]);
        assert_eq!(bytes.as_pods::<Sample>().unwrap().as_ptr(), samples.as_ptr());
        let truths = TensorView::<u8>::from_pods(&[Bool8::TRUE], 1).unwrap();
        assert_eq!(truths.to_vec(), [1]);
        let complex = [Complex::new(1.0_f64, 2.0)];
        assert_eq!(TensorView::<f64>::from_pods(&complex, []).unwrap().to_vec(), [1.0, 2.0]);
    }

    #[test]
    fn structs_are_written() {
        let mut samples = samples();
        let view = TensorViewMut::<f32>::from_pods(&mut samples, 6).unwrap();
        view.index(1, 1).unwrap().fill(2.0);
        assert!(samples.iter().all(|sample| sample.position[1] == 2.0));
        assert_eq!(samples[3], Sample { position: [3.0, 2.0], label: 3 });
    }

    #[test]
    fn structs_that_do_not_fit_are_refused() {
        let samples = samples();
        let refused = |error: tenure::Error, message: &str| {
            assert_eq!((error.kind(), error.message()), (ErrorKind::InvalidArgument, message));
        };
        refused(
            TensorView::<f32>::from_pods(&samples, [2, 2]).err().unwrap(),
            "shape [2, 2] has 4 elements but the memory has 6",
        );
        refused(
            TensorView::<u64>::from_pods(&samples, 6).err().unwrap(),
            "a struct of 12 bytes is no whole number of u64 of 8",
        );
        refused(
            TensorView::<u8>::from_pods(&samples, [1, 1, 1, 1, 1, 1, 1, 6]).err().unwrap(),
            "rank is 9 but at most 8 axes are supported",
        );
        let words = [0_u32; 3];
        let bytes: &[[u8; 4]] = bytemuck::cast_slice(&bytemuck::cast_slice::<_, u8>(&words)[1..9]);
        refused(
            TensorView::<f32>::from_pods(bytes, 2).err().unwrap(),
            "data lies 1 bytes past a multiple of 4, the alignment of its dtype",
        );
        let view = TensorView::<u8>::from_pods(bytes, 2).unwrap();
        refused(
            view.as_pods::<f32>().err().unwrap(),
            "8 bytes, 1 past a multiple of 4, are no slice of structs: \
             TargetAlignmentGreaterAndInputNotAligned",
        );
        refused(
            view.as_pods::<[u8; 3]>().err().unwrap(),
            "the last axis has extent 4 but a struct has 3 elements of u8",
        );
        refused(
            view.flip(0).unwrap().as_pods::<[u8; 4]>().err().unwrap(),
            "shape [2, 4] with strides [-4, 1] is not row-major, which a slice is",
        );
        refused(
            TensorView::from_ref(&1_u8).as_pods::<u8>().err().unwrap(),
            "rank is 0 but the last axis must be the 1 elements of u8 of a struct",
        );
    }

    #[test]
    fn no_structs_are_lent() {
        let none: [Sample; 0] = [];
        let view = TensorView::<f32>::from_pods(&none, [0, 5]).unwrap();
        assert_eq!(view.shape(), [0, 5, 3]);
        assert!(view.as_pods::<Sample>().unwrap().is_empty());
        let bytes = TensorView::<u8>::from_slice(&[], [0, 12]).unwrap();
        assert!(bytes.as_pods::<Sample>().unwrap().is_empty());
    }
}
