//! Shapes over memory of a device, and the refusals.

use tenure::cuda::{AsView, AsViewMut, Device, Stream, Tensor};
use tenure::{ErrorKind, Order, s};

use crate::stream;

/// 0, 1, 2, ... of a shape.
fn counted<const N: usize>(stream: &Stream, shape: [usize; N]) -> Tensor<i32> {
    let elements: Vec<i32> = (0..shape.iter().product::<usize>() as i32).collect();
    stream.upload(tenure::TensorView::from_slice(&elements, shape).unwrap()).unwrap()
}

#[test]
fn a_device_says_what_it_is() {
    let stream = stream!();
    let device = stream.device();
    assert_eq!((device.index(), device), (0, Device::new(0).unwrap()));
    assert!(!device.name().is_empty());
    assert_eq!(device.to_string(), "cuda:0");
    assert!(Device::count().unwrap() >= 1);
    if !cfg!(miri) {
        assert!(device.memory_bytes() > 0 && device.multiprocessor_count() > 0);
        assert!(device.capability() >= (8, 0));
    }
    assert!(Device::new(4000).is_err());
    assert!(Device::new(usize::MAX).is_err());
}

#[test]
#[cfg_attr(miri, ignore = "the stand-in has no messages")]
fn a_device_that_is_not_there_is_named() {
    let _ = stream!();
    let count = Device::count().unwrap();
    let error = Device::new(count).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().contains(&format!("cuda:{count}")), "{error}");
}

/// Each manipulation gives what the host's gives.
#[test]
fn shapes_are_those_of_the_host() {
    let stream = &stream!();
    let on = &counted(stream, [2, 3, 4]);
    let host = &stream.download(on).unwrap();
    assert_eq!(
        (on.shape(), on.strides(), on.rank(), on.len()),
        (&[2, 3, 4][..], &[12, 4, 1][..], 3, 24)
    );
    assert!(on.is_row_major() && on.is_contiguous(Order::RowMajor) && !on.is_empty());
    macro_rules! same {
        ($($name:ident($($argument:expr),*);)*) => {$(
            let (a, b) = (on.$name($($argument),*), host.$name($($argument),*));
            let (a, b) = (Ok::<_, tenure::Error>(a).unwrap(), b);
            same!(@ a, b);
        )*};
        (@ $a:ident, $b:ident) => {
            let (a, b) = (same!(= $a), same!(= $b));
            assert_eq!((a.shape(), a.strides()), (b.shape(), b.strides()));
            assert_eq!(stream.to_vec(a).unwrap(), b.to_vec());
        };
        (= $value:ident) => { $value.unwrap() };
    }
    same! {
        slice(1, 1..);
        slice_step(-1, .., -2);
        slice_axes(s![-1, .., ..;2]);
        index(1, 2);
        permute(&[2, 0, 1]);
        transpose(0, 2);
        reshape([4, -1]);
        flatten();
        unsqueeze(1);
        broadcast([3, 2, 3, 4]);
        flip(2);
        split_part(2, 3, 0);
        windows(2, 3, 1);
        diagonal(1);
    }
    assert_eq!(stream.to_vec(on.t()).unwrap(), host.t().to_vec());
    let (low, high) = on.split_at(1, 1).unwrap();
    let (host_low, host_high) = host.split_at(1, 1).unwrap();
    assert_eq!(stream.to_vec(low).unwrap(), host_low.to_vec());
    assert_eq!(stream.to_vec(high).unwrap(), host_high.to_vec());
    let row = on.slice(0, ..1).unwrap().squeeze(0).unwrap();
    assert_eq!(row.shape(), [3, 4]);

    let view = on.view();
    assert_eq!(
        view.slice(0, 1..3).unwrap_err().message(),
        host.slice(0, 1..3).unwrap_err().message()
    );
    assert_eq!(view.t().flatten().unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(view.index(3, 0).unwrap_err().message(), host.index(3, 0).unwrap_err().message());
}

#[test]
fn exclusive_views_write_their_part_alone() {
    let stream = stream!();
    let mut tensor = stream.zeros::<i32>([3, 4]).unwrap();
    let mut view = tensor.view_mut();
    stream.fill(&mut view.view_mut().index(0, 1).unwrap(), 1).unwrap();
    stream
        .fill(&mut view.view_mut().slice_step(1, .., 3).unwrap().slice(0, 2..).unwrap(), 2)
        .unwrap();
    let (mut left, mut right) = view.view_mut().split_at(1, 1).unwrap();
    stream.fill(&mut left.view_mut().index(0, 0).unwrap(), 3).unwrap();
    stream.copy_into(left.view(), &mut right.view_mut().slice(1, 1..2).unwrap()).unwrap();
    stream.fill(&mut view.view_mut().diagonal(1).unwrap(), 9).unwrap();
    let windows = view.view_mut().windows(1, 2, 1);
    assert_eq!(windows.unwrap_err().kind(), ErrorKind::Aliased);
    let read = view.into_view();
    assert_eq!(stream.to_vec(read).unwrap(), [3, 9, 3, 0, 1, 1, 9, 1, 2, 0, 2, 9]);
}

#[test]
fn traits_lend_tensors_views_and_references() {
    let stream = stream!();
    let mut tensor = counted(&stream, [2, 3]);
    fn shape<T: tenure::Element>(a: impl AsView<T>) -> Vec<usize> {
        a.as_view().shape().to_vec()
    }
    assert_eq!(shape(&tensor), [2, 3]);
    assert_eq!(shape(&&tensor), [2, 3]);
    assert_eq!(shape(tensor.t()), [3, 2]);
    assert_eq!(shape(&mut tensor), [2, 3]);
    assert_eq!(shape(tensor.view_mut()), [2, 3]);
    assert_eq!(tensor.as_view_mut().t().shape(), [3, 2]);
    assert_eq!(tensor.device(), stream.device());
    assert_eq!(tensor.tenure(), tenure::Tenure::Copied);
    assert_eq!(stream.zeros::<u8>(3).unwrap().tenure(), tenure::Tenure::Allocated);
    let text = format!("{tensor:?} {:?} {:?} {stream:?}", tensor.view(), tensor.dtype());
    assert!(text.contains("cuda:0") && text.contains("[2, 3]"), "{text}");
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn refusals_name_the_operation_and_the_shapes() {
    let stream = stream!();
    let (a, b) = (stream.zeros::<f32>([2, 3]).unwrap(), stream.zeros::<f32>([4]).unwrap());
    let error = stream.add(&a, &b).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().starts_with("add: [2, 3] with [4]: "), "{error}");
    let mut out = stream.zeros::<f32>([3, 2]).unwrap();
    let error = stream.mul_into(&a, 2.0, &mut out).unwrap_err();
    assert!(error.message().starts_with("mul_into: [2, 3] with [] into [3, 2]: "), "{error}");
    let error = stream.exp_into(&a, &mut out).unwrap_err();
    assert!(error.message().starts_with("exp_into: [2, 3] into [3, 2]: "), "{error}");
    let error = stream.sum(&a, 2).unwrap_err();
    assert_eq!(error.message(), tenure::ops::sum([[0.0_f32]], 2).unwrap_err().message());
    assert!(stream.min(stream.zeros::<f32>([0, 3]).unwrap(), 0).is_err());
    assert!(stream.zeros::<f32>([1; 9]).is_err());
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn findings_on_the_data_are_told() {
    let stream = stream!();
    let (a, zeros) = (stream.upload([1, 2, 3]).unwrap(), stream.zeros::<i32>(3).unwrap());
    assert_eq!(stream.div(&a, &zeros).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(stream.rem(&a, 0).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(stream.pow(&a, -1).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(stream.to_vec(&stream.div(&a, 2).unwrap()).unwrap(), [0, 1, 1]);
}

#[test]
#[cfg_attr(miri, ignore = "the stand-in has as many bytes as the host")]
fn more_than_the_device_has_is_refused() {
    let stream = stream!();
    let error = stream.zeros::<u8>([1 << 30, 1 << 30]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
    assert_eq!(stream.to_vec(&stream.full(2, 1_u8).unwrap()).unwrap(), [1, 1]);
}
