//! Arrays of Arrow: shared buffers, offsets, lists as axes, and nulls that are never passed over.
#![cfg(feature = "arrow")]

use std::sync::Arc;

use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, Date32Array, Decimal128Array,
    FixedSizeListArray, Float16Array, Float32Array, Int32Array, PrimitiveArray, RecordBatch,
    StringArray, TimestampMillisecondArray, UInt8Array,
};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::Field;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tenure::{
    Bool8, DType, DynView, Element, ErrorKind, Order, SharedTensor, Tensor, TensorView, f16,
};

/// Lists of `size` over an array; some may be null.
fn lists(values: ArrayRef, size: i32, nulls: Option<Vec<bool>>) -> FixedSizeListArray {
    let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    FixedSizeListArray::new(field, size, values, nulls.map(NullBuffer::from))
}

fn truths(mask: &Tensor<Bool8>) -> Vec<bool> {
    mask.iter().map(|truth| truth.is_true()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(6),
        failure_persistence: None,
        ..ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 })
    })]

    #[test]
    fn parts_of_an_array_are_lent_and_shared_where_they_lie(
        values in prop::collection::vec(any::<i32>(), 0..40),
        from in 0_usize..40,
        len in 0_usize..40,
    ) {
        let whole = Int32Array::from(values.clone());
        let from = from.min(values.len());
        let part = whole.slice(from, len.min(values.len() - from));
        let view = TensorView::<i32>::from_arrow(&part).unwrap();
        prop_assert_eq!(view.to_vec(), &values[from..from + part.len()]);
        let shared = SharedTensor::<i32>::from_arrow(&part).unwrap();
        prop_assert_eq!(shared.to_vec(), view.to_vec());
        if !part.is_empty() {
            let address = whole.values().as_ptr().wrapping_add(from);
            prop_assert_eq!((view.as_ptr(), shared.as_ptr()), (address, address));
        }
        drop(whole);
        let expected = part.values().to_vec();
        drop(part);
        prop_assert_eq!(shared.to_vec(), expected);
    }

    #[test]
    fn a_mask_says_of_each_value_whether_it_is_there(
        values in prop::collection::vec(prop::option::of(any::<i32>()), 24),
        is_list in prop::collection::vec(any::<bool>(), 8),
        from in 0_usize..8,
        len in 0_usize..8,
    ) {
        let array = lists(Arc::new(Int32Array::from(values.clone())), 3, Some(is_list.clone()));
        let len = len.min(8 - from);
        let part = array.slice(from, len);
        let (view, mask) = DynView::from_arrow_and_copy_mask(&part).unwrap();
        prop_assert_eq!((view.shape(), mask.shape()), (&[len, 3][..], &[len, 3][..]));
        let expected: Vec<bool> =
            (3 * from..3 * (from + len)).map(|at| is_list[at / 3] && values[at].is_some()).collect();
        prop_assert_eq!(truths(&mask), &expected[..]);
        let view = view.downcast::<i32>().unwrap();
        for (at, value) in view.iter().enumerate().filter(|&(at, _)| expected[at]) {
            prop_assert_eq!(Some(*value), values[3 * from + at]);
        }
        let whole = DynView::from_arrow(&part);
        prop_assert_eq!(whole.is_ok(), expected.iter().all(|&there| there));
    }

    #[test]
    fn tensors_become_arrays_and_come_back(shape in prop::collection::vec(0_usize..4, 1..=5)) {
        let len: usize = shape.iter().product();
        let tensor = Tensor::from_vec((0..len as u8).collect(), &*shape).unwrap();
        let address = tensor.as_ptr();
        let array = tensor.into_shared().into_arrow::<UInt8Type>().unwrap();
        prop_assert_eq!(array.len(), shape[0]);
        let shared = SharedTensor::<u8>::from_arrow(&array).unwrap();
        drop(array);
        // Lists inside an axis without elements exist only in the types.
        prop_assert_eq!(shared.shape(), &*shape);
        prop_assert!(shared.iter().copied().eq(0..len as u8));
        prop_assert!(len == 0 || shared.as_ptr() == address);
    }
}

#[test]
fn every_type_of_numbers_has_its_dtype() {
    fn check<P: ArrowPrimitiveType<Native: Element>>() {
        let array = PrimitiveArray::<P>::new(vec![P::Native::default(); 2].into(), None);
        let view = DynView::from_arrow(&array).unwrap();
        assert_eq!(view.dtype(), P::Native::DTYPE, "{}", P::DATA_TYPE);
        assert!(view.downcast::<P::Native>().is_ok());
    }
    check::<Int8Type>();
    check::<Int16Type>();
    check::<Int32Type>();
    check::<Int64Type>();
    check::<UInt8Type>();
    check::<UInt16Type>();
    check::<UInt32Type>();
    check::<UInt64Type>();
    check::<Float16Type>();
    check::<Float32Type>();
    check::<Float64Type>();
    check::<Date64Type>();
    check::<Time32SecondType>();
    check::<Time64NanosecondType>();
    check::<DurationMicrosecondType>();
}

#[test]
fn halves_and_times_are_what_they_are_kept_as() {
    let halves = Float16Array::from(vec![f16::ONE, f16::NEG_ONE]);
    assert_eq!(TensorView::<f16>::from_arrow(&halves).unwrap()[[1]], f16::NEG_ONE);
    let back = SharedTensor::<f16>::from_arrow(&halves).unwrap().into_arrow::<Float16Type>();
    assert_eq!(back.unwrap().as_ref(), &halves as &dyn Array);

    let days = Date32Array::from(vec![0, 20_000]);
    assert_eq!(TensorView::<i32>::from_arrow(&days).unwrap().to_vec(), [0, 20_000]);
    let times = TimestampMillisecondArray::from(vec![1, 2]).with_timezone("+01:00");
    assert_eq!(DynView::from_arrow(&times).unwrap().dtype(), DType::I64);
}

#[test]
fn columns_of_a_batch_are_lent() {
    let columns: [(&str, ArrayRef); 2] = [
        ("id", Arc::new(Int32Array::from(vec![1, 2, 3]))),
        ("weight", Arc::new(Float32Array::from(vec![Some(0.5), None, Some(1.5)]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let ids = TensorView::<i32>::from_arrow(&batch["id"]).unwrap();
    assert_eq!(ids.to_vec(), [1, 2, 3]);
    let (weights, mask) = DynView::from_arrow_and_copy_mask(&batch["weight"]).unwrap();
    assert_eq!((weights.dtype(), truths(&mask)), (DType::F32, vec![true, false, true]));
    let ids = SharedTensor::<i32>::from_arrow(&batch.slice(1, 2)["id"]).unwrap();
    drop(batch);
    assert_eq!(std::thread::spawn(move || ids.to_vec()).join().unwrap(), [2, 3]);
}

#[test]
fn nulls_are_refused_where_there_is_no_mask() {
    let array = Int32Array::from(vec![Some(1), None, Some(3), None]);
    let refused = [
        DynView::from_arrow(&array).err().unwrap(),
        TensorView::<i32>::from_arrow(&array).err().unwrap(),
        SharedTensor::<i32>::from_arrow(&array).err().unwrap(),
    ];
    for error in refused {
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert_eq!(
            error.message(),
            "2 of 4 Int32 are null, which elements cannot be: take a mask with them"
        );
    }
    // A part without the nulls has none, whatever the whole has.
    assert_eq!(TensorView::<i32>::from_arrow(&array.slice(2, 1)).unwrap()[[0]], 3);

    let inside = lists(Arc::new(array), 2, None);
    assert!(DynView::from_arrow(&inside).err().unwrap().message().starts_with("2 of 4 Int32 are"));
    let values = Arc::new(Int32Array::from(vec![1, 2, 3, 4]));
    let around = lists(values, 2, Some(vec![true, false]));
    let error = DynView::from_arrow(&around).err().unwrap();
    assert!(error.message().starts_with("1 of 2 FixedSizeList(2 x Int32) are null"), "{error}");
}

#[test]
fn arrays_without_adjacent_numbers_are_refused() {
    let refused = |array: &dyn Array, message: &str| {
        for error in [
            DynView::from_arrow(array).err().unwrap(),
            DynView::from_arrow_and_copy_mask(array).err().unwrap(),
        ] {
            assert_eq!((error.kind(), error.message()), (ErrorKind::Unsupported, message));
        }
    };
    refused(
        &StringArray::from(vec!["a"]),
        "an array of Utf8 has no elements of a dtype here, side by side",
    );
    refused(
        &Decimal128Array::from(vec![1]),
        "an array of Decimal128(38, 10) has no elements of a dtype here, side by side",
    );
    refused(
        &BooleanArray::from(vec![true]),
        "an array of Boolean is packed in bits: Tensor::copy_from_arrow unpacks it",
    );
    let error = TensorView::<f32>::from_arrow(&Int32Array::from(vec![1])).err().unwrap();
    assert_eq!(error.message(), "dtype is i32 but f32 is asked for");
    let error = SharedTensor::<f32>::from_arrow(&Int32Array::from(vec![1])).err().unwrap();
    assert_eq!(error.message(), "dtype is i32 but f32 is asked for");

    let mut deep: ArrayRef = Arc::new(UInt8Array::from(vec![7]));
    for _ in 0..7 {
        deep = Arc::new(lists(deep, 1, None));
    }
    assert_eq!(DynView::from_arrow(&deep).unwrap().rank(), 8);
    let deeper = lists(deep, 1, None);
    let error = DynView::from_arrow(&deeper).err().unwrap();
    assert_eq!(error.message(), "rank is 9 but at most 8 axes are supported");
}

#[test]
fn truth_values_are_unpacked() {
    let array = BooleanArray::from(vec![true, false, true, true]).slice(1, 2);
    let before = tenure::stats().copied_bytes;
    let mask = Tensor::copy_from_arrow(&array).unwrap();
    assert!(tenure::stats().copied_bytes >= before + 2);
    assert_eq!(truths(&mask), [false, true]);
    let array = BooleanArray::from(vec![Some(true), None]);
    let error = Tensor::copy_from_arrow(&array).err().unwrap();
    assert_eq!(error.message(), "1 of 2 Boolean are null, which elements cannot be");
}

#[test]
fn a_tensor_that_is_no_array_comes_back() {
    let columns = || {
        let tensor = Tensor::from_vec_in(vec![1, 2, 3, 4], [2, 2], Order::ColumnMajor).unwrap();
        tensor.into_shared()
    };
    let rejected = columns().into_arrow::<Int32Type>().err().unwrap();
    assert_eq!(
        rejected.error().message(),
        "shape [2, 2] with strides [1, 2] is not row-major, which a buffer is: copy it by to_tensor"
    );
    assert_eq!(rejected.into_data().to_vec(), [1, 3, 2, 4]);
    assert!(ScalarBuffer::<i32>::try_from(columns()).is_err());

    let scalar = Tensor::full([], 7_i32).unwrap().into_shared();
    let rejected = scalar.into_arrow::<Int32Type>().err().unwrap();
    assert_eq!(rejected.error().message(), "rank is 0 but an array has an axis");
    let long = Tensor::<i32>::zeros([0, 1 << 31]).unwrap().into_shared();
    let rejected = long.into_arrow::<Int32Type>().err().unwrap();
    assert_eq!(
        rejected.error().message(),
        "a list of 2147483648 is longer than 2147483647, the most that Arrow's fixed size counts"
    );
}

#[test]
fn the_last_of_tensor_and_array_frees_the_memory() {
    struct Owner {
        values: Vec<f32>,
        _alive: Arc<()>,
    }
    impl AsRef<[f32]> for Owner {
        fn as_ref(&self) -> &[f32] {
            &self.values
        }
    }
    let alive = Arc::new(());
    let owner = Owner { values: vec![1.0, 2.0], _alive: Arc::clone(&alive) };
    let shared = SharedTensor::from_owner(owner, 2).unwrap();
    let array = shared.clone().into_arrow::<Float32Type>().unwrap();
    let part = array.slice(1, 1);
    drop((shared, array));
    assert_eq!(Arc::strong_count(&alive), 2);
    std::thread::spawn(move || assert_eq!(part.len(), 1)).join().unwrap();
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[test]
fn nobody_writes_what_is_shared() {
    let array = Int32Array::from(vec![1, 2, 3]);
    let shared = SharedTensor::<i32>::from_arrow(&array).unwrap();
    // Arrow writes in place only where it is the one holder of the buffer; here a second one holds
    // it.
    let array = array.unary_mut(|value| -value).err().unwrap();
    drop(shared);
    assert_eq!(array.unary_mut(|value| -value).unwrap().values()[..], [-1, -2, -3]);
    // Arrow never writes a buffer that this crate gave it.
    let array = Tensor::from_vec(vec![1, 2, 3], 3).unwrap().into_shared();
    let buffer = ScalarBuffer::<i32>::try_from(array).unwrap();
    assert!(Int32Array::new(buffer, None).unary_mut(|value| -value).is_err());
}
