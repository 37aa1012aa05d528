//! Views and tensors whose dtype is known at run time.

use tenure::*;

/// Checks that a `DynView` and a `DynTensor` downcast to the stored element type, and to no other.
fn check_round_trip<T: Element>(values: [T; 2]) {
    let view = DynView::from(TensorView::from_slice(&values, [2, 1]).unwrap());
    assert_eq!(view.dtype(), T::DTYPE);
    let typed = view.downcast::<T>().unwrap();
    assert_eq!((typed.as_ptr(), typed.shape()), (values.as_ptr(), &[2, 1][..]));

    let tensor = DynTensor::from(Tensor::copy_from_slice(&values, 2).unwrap());
    let refused = [
        tensor.view().downcast::<u8>().is_err(),
        tensor.view().downcast::<f64>().is_err(),
        tensor.view().downcast::<Bool8>().is_err(),
    ];
    let other = [DType::U8, DType::F64, DType::BOOL8].map(|dtype| dtype != T::DTYPE);
    assert_eq!(refused, other);
    assert_eq!(tensor.downcast::<T>().unwrap().to_vec(), values);
}

#[test]
fn every_element_type_goes_in_and_out() {
    check_round_trip([1.5_f64, -2.0]);
    check_round_trip([1.5_f32, -2.0]);
    check_round_trip([1.5, -2.0].map(f16::from_f32));
    check_round_trip([1.5, -2.0].map(bf16::from_f32));
    check_round_trip([1_i8, -2]);
    check_round_trip([1_i16, -2]);
    check_round_trip([1_i32, -2]);
    check_round_trip([1_i64, -2]);
    check_round_trip([1_u8, 2]);
    check_round_trip([1_u16, 2]);
    check_round_trip([1_u32, 2]);
    check_round_trip([1_u64, 2]);
    check_round_trip([Bool8::TRUE, Bool8::FALSE]);
    check_round_trip([Complex::new(1.0_f32, 2.0), Complex::new(3.0, 4.0)]);
    check_round_trip([Complex::new(1.0_f64, 2.0), Complex::new(3.0, 4.0)]);
}

#[test]
fn bytes_are_lent_where_they_lie() {
    let words = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let bytes: &[u8] = bytemuck::cast_slice(&words);
    let view = DynView::from_bytes(bytes, DType::F32, [2, 3]).unwrap();
    assert_eq!(view.downcast::<f32>().unwrap().as_slice(), Some(&words[..]));
    let columns = DynView::from_bytes_in(bytes, DType::F32, [2, 3], Order::ColumnMajor).unwrap();
    assert_eq!(columns.strides(), [1, 2]);
    assert_eq!(columns.downcast::<f32>().unwrap().to_vec(), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
}

#[test]
fn bytes_that_do_not_fit_are_refused() {
    let words = [0_u64; 3];
    let bytes: &[u8] = bytemuck::cast_slice(&words);
    let message = |bytes, dtype, shape: &[usize]| {
        DynView::from_bytes(bytes, dtype, shape).err().unwrap().message().to_owned()
    };
    assert_eq!(
        message(bytes, DType::F32, &[5]),
        "shape [5] of f32 takes 20 bytes but the memory has 24"
    );
    assert_eq!(
        message(&bytes[1..17], DType::F64, &[2]),
        "data lies 1 bytes past a multiple of 8, the alignment of its dtype"
    );
    assert_eq!(message(bytes, DType::U8, &[1; 9]), "rank is 9 but at most 8 axes are supported");
    // c128 needs only the alignment of its parts.
    assert!(DynView::from_bytes(&bytes[8..], DType::C128, [1]).is_ok());
}

#[test]
fn empty_bytes_make_empty_views_of_any_dtype() {
    for dtype in [DType::U8, DType::F64, DType::C128] {
        let view = DynView::from_bytes(&[], dtype, [0, 5]).unwrap();
        assert!(view.is_empty());
        assert_eq!((view.len(), view.rank()), (0, 2));
    }
    let view = DynView::from_bytes(&[], DType::F64, [0]).unwrap();
    assert_eq!(view.downcast::<f64>().unwrap().as_slice(), Some(&[][..]));
}

#[test]
fn manipulations_are_those_of_typed_views() {
    let data: Vec<i16> = (0..24).collect();
    let typed = TensorView::from_slice(&data, [2, 3, 4]).unwrap();
    let view = DynView::from(typed);
    let same = |dynamic: Result<DynView<'_>>, typed: Result<TensorView<'_, i16>>| {
        let (dynamic, typed) = (dynamic.unwrap(), typed.unwrap());
        assert_eq!((dynamic.shape(), dynamic.strides()), (typed.shape(), typed.strides()));
        assert_eq!(dynamic.downcast::<i16>().unwrap().to_vec(), typed.to_vec());
    };
    same(view.slice(2, 1..3), typed.slice(2, 1..3));
    same(view.slice_step(1, .., -2), typed.slice_step(1, .., -2));
    same(view.index(0, 1), typed.index(0, 1));
    same(view.permute(&[2, 0, 1]), typed.permute(&[2, 0, 1]));
    same(view.transpose(0, 2), typed.transpose(0, 2));
    same(Ok(view.t()), Ok(typed.t()));
    same(view.reshape([4, 6]), typed.reshape([4, 6]));
    same(view.flip(1), typed.flip(1));
    let (halves, typed_halves) = (view.split_at(2, 1).unwrap(), typed.split_at(2, 1).unwrap());
    same(Ok(halves.0), Ok(typed_halves.0));
    same(Ok(halves.1), Ok(typed_halves.1));
    assert_eq!(
        view.slice(1, 2..5).err().unwrap().message(),
        typed.slice(1, 2..5).err().unwrap().message()
    );
}

#[test]
fn an_exclusive_view_writes_and_comes_back_when_refused() {
    let mut bytes = [0_u8; 6];
    let mut view = DynViewMut::from_bytes(&mut bytes, DType::U8, [2, 3]).unwrap();
    let (error, returned) = view.view_mut().downcast::<i8>().err().unwrap().into_parts();
    assert_eq!(error.message(), "dtype is u8 but i8 is asked for");
    returned.index(0, 0).unwrap().downcast::<u8>().unwrap().fill(1);
    DynView::from_bytes(&[8, 9], DType::U8, [2, 1])
        .unwrap()
        .copy_into(&mut view.view_mut().slice(1, 1..).unwrap())
        .unwrap();
    assert_eq!(view.view().downcast::<u8>().unwrap().to_vec(), [1, 8, 8, 0, 9, 9]);
    assert_eq!(view.into_view().to_string(), "[[1 8 8]\n [0 9 9]]");
}

#[test]
#[cfg_attr(miri, ignore = "the core does this")]
fn copies_keep_the_dtype() {
    let mut out = [0_u8; 2];
    let mut out = DynViewMut::from_bytes(&mut out, DType::U8, 2).unwrap();
    let other = DynView::from_bytes(&[1, 2], DType::I8, 2).unwrap();
    let error = other.copy_into(&mut out).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(error.message(), "a.dtype is i8 but out.dtype is u8");
    assert_eq!(out.view().to_string(), "[0 0]");
}

#[test]
#[cfg_attr(miri, ignore = "the core does this")]
fn casts_go_to_any_real_type() {
    let view = DynView::from_bytes(&[0, 3], DType::BOOL8, 2).unwrap();
    assert_eq!(view.cast_to::<f32>().unwrap().to_vec(), [0.0, 1.0]);
    let tensor = DynTensor::from(Tensor::from_vec(vec![1.9_f64, -300.0], 2).unwrap());
    assert_eq!(tensor.cast_to::<i8>().unwrap().to_vec(), [1, -128]);
    let empty = DynView::from_bytes(&[], DType::F64, [2, 0]).unwrap();
    assert_eq!(empty.cast_to::<u8>().unwrap().shape(), [2, 0]);
}

#[test]
fn a_tensor_keeps_its_tenure_and_its_vec() {
    let vec = vec![1_u32, 2, 3];
    let address = vec.as_ptr();
    let mut tensor = DynTensor::from(Tensor::from_vec(vec, 3).unwrap());
    assert_eq!((tensor.tenure(), tensor.shape()), (Tenure::Adopted, &[3][..]));
    tensor.view_mut().downcast::<u32>().unwrap().fill(5);
    let tensor = tensor.downcast::<f32>().err().unwrap().into_data();
    let vec = tensor.downcast::<u32>().unwrap().into_vec().ok().unwrap();
    assert_eq!((vec.as_ptr(), &vec[..]), (address, &[5; 3][..]));
}

#[test]
fn tensors_of_several_dtypes_go_to_another_thread() {
    let columns: Vec<DynTensor> =
        vec![Tensor::full(2, 1.5_f64).unwrap().into(), Tensor::full(2, 7_u8).unwrap().into()];
    let names = std::thread::spawn(move || {
        columns.iter().map(|column| column.dtype().name()).collect::<Vec<_>>()
    });
    assert_eq!(names.join().unwrap(), ["f64", "u8"]);
}
