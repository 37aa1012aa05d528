//! Copies between host and device.

use tenure::{Bool8, ErrorKind, Order, Tensor, TensorView, TensorViewMut};

use crate::stream;

#[test]
fn all_that_lends_a_view_is_uploaded() {
    let stream = stream!();
    let data = vec![1_i16, 2, 3, 4, 5, 6];
    let back = |on: tenure::Result<tenure::cuda::Tensor<i16>>| stream.to_vec(&on.unwrap()).unwrap();
    assert_eq!(back(stream.upload(&data)), data);
    assert_eq!(back(stream.upload(&[[1, 2], [3, 4]])), [1, 2, 3, 4]);
    let view = TensorView::from_slice(&data, [2, 3]).unwrap();
    assert_eq!(back(stream.upload(view.t())), [1, 4, 2, 5, 3, 6]);
    assert_eq!(back(stream.upload(view.broadcast([2, 2, 3]).unwrap())).len(), 12);
    assert_eq!(back(stream.upload(view.flip(1).unwrap())), [3, 2, 1, 6, 5, 4]);
    assert_eq!(back(stream.upload(7)), [7]);
    let columns = Tensor::from_vec_in(data, [2, 3], Order::ColumnMajor).unwrap().into_shared();
    assert_eq!(back(stream.upload(&columns)), [1, 3, 5, 2, 4, 6]);
}

#[test]
fn what_has_no_elements_is_moved_too() {
    let stream = stream!();
    let empty = stream.upload(&[[0.0_f64; 0]; 3]).unwrap();
    assert_eq!((empty.shape(), empty.len()), (&[3, 0][..], 0));
    assert_eq!(stream.to_vec(&empty).unwrap(), []);
    assert_eq!(stream.download(empty.t()).unwrap().shape(), [0, 3]);
    let mut out = stream.zeros([0, 4]).unwrap();
    stream.upload_into(&Tensor::<f64>::zeros([0, 4]).unwrap(), &mut out).unwrap();
    stream.fill(&mut out, 1.0).unwrap();
    assert_eq!(stream.to_tensor(&out).unwrap().shape(), [0, 4]);
}

#[test]
fn strided_memory_on_either_side() {
    let stream = stream!();
    let host = Tensor::from([[1, 2, 3], [4, 5, 6]]);
    let mut on = stream.zeros::<i32>([3, 4]).unwrap();
    let mut part = on.view_mut().t().slice(0, ..2).unwrap();
    stream.upload_into(&host, &mut part).unwrap();
    assert_eq!(stream.to_vec(&on).unwrap(), [1, 4, 0, 0, 2, 5, 0, 0, 3, 6, 0, 0]);

    let mut back = [0; 12];
    let view = TensorViewMut::from_slice(&mut back, [3, 4]).unwrap();
    stream.download_into(&on, &mut view.flip(1).unwrap()).unwrap();
    assert_eq!(back, [0, 0, 4, 1, 0, 0, 5, 2, 0, 0, 6, 3]);
    assert_eq!(stream.download(on.t().slice(0, ..2).unwrap()).unwrap(), host);
}

#[test]
fn truth_values_survive() {
    let stream = stream!();
    let truths = [true, false, true].map(Bool8::from);
    let on = stream.upload(&truths).unwrap();
    assert_eq!(stream.to_vec(&on).unwrap(), truths);
}

#[test]
#[cfg_attr(miri, ignore = "the stand-in does not refuse")]
fn shapes_of_transfers_must_be_the_same() {
    let stream = stream!();
    let mut on = stream.zeros::<i32>([2, 3]).unwrap();
    let error = stream.upload_into(&[1, 2, 3], &mut on).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().starts_with("upload_into: "), "{error}");
    let error = stream.download_into(&on, &mut [0; 3]).unwrap_err();
    assert!(error.message().starts_with("download_into: "), "{error}");
    let vast = on.index(0, 0).unwrap().broadcast([1 << 37, 1 << 20, 3]).unwrap();
    assert_eq!(stream.to_vec(vast).unwrap_err().kind(), ErrorKind::OutOfMemory);
}
