//! Host memory lent or moved to a stream for longer than a call.

use std::future::{Future, IntoFuture};
use std::panic::{self, AssertUnwindSafe};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tenure::{AsView, AsViewMut, ErrorKind, Tenure};

use crate::{alone, stream};

fn waits() -> u64 {
    tenure::stats().device_waits
}

#[test]
fn pinned_memory_is_an_ordinary_tensor() {
    let stream = stream!();
    let mut host = stream.pinned_zeros::<f32>([2, 3]).unwrap();
    assert_eq!((host.tenure(), host.to_vec()), (Tenure::Allocated, vec![0.0; 6]));
    host[[1, 2]] = 7.0;
    drop(stream);
    assert_eq!(host.to_vec(), [0.0, 0.0, 0.0, 0.0, 0.0, 7.0]);
    let host = host.into_vec().unwrap_err();
    assert_eq!(host.len(), 6);
}

#[test]
fn a_scope_waits_once_and_not_without_a_loan() {
    if !alone("lent::a_scope_waits_once_and_not_without_a_loan", "TENURE_SIMT_SEED", "3") {
        return;
    }
    let stream = stream!();
    let data = vec![1.0_f32, 2.0, 3.0];
    let mut out = [0.0; 3];
    let before = waits();
    stream.scope(|_| Ok(())).unwrap();
    assert_eq!(waits(), before);
    let len = stream
        .scope(|scope| {
            let on = scope.upload(data.as_view())?;
            let twice = stream.mul(&on, 2.0)?;
            scope.download_into(&twice, out.as_view_mut())?;
            assert_eq!(waits(), before);
            Ok(twice.len())
        })
        .unwrap();
    assert_eq!((waits(), len, out), (before + 1, 3, [2.0, 4.0, 6.0]));
    let mut table = stream.zeros::<f32>([2, 3]).unwrap();
    stream
        .scope(|scope| scope.upload_into(data.as_view(), &mut table.view_mut().index(0, 1)?))
        .unwrap();
    assert_eq!(stream.to_vec(&table).unwrap(), [0.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn a_scope_waits_where_it_is_left_early() {
    let stream = stream!();
    let on = stream.full(3, 5_i32).unwrap();
    let mut out = [0; 3];
    let left = panic::catch_unwind(AssertUnwindSafe(|| {
        stream.scope(|scope| -> tenure::Result<()> {
            scope.download_into(&on, out.as_view_mut())?;
            panic!("left");
        })
    }));
    assert!(left.is_err());
    assert_eq!(out, [5; 3]);
    let mut out = [0; 3];
    let error = stream
        .scope(|scope| {
            scope.download_into(&on, out.as_view_mut())?;
            scope.upload(data_with_gaps().view().index(1, 0)?)
        })
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().starts_with("upload: "), "{error}");
    assert_eq!(out, [5; 3]);
}

fn data_with_gaps() -> &'static tenure::Tensor<i32> {
    static DATA: std::sync::OnceLock<tenure::Tensor<i32>> = std::sync::OnceLock::new();
    DATA.get_or_init(|| tenure::Tensor::zeros([3, 2]).unwrap())
}

#[test]
fn moved_tensors_come_back() {
    let stream = stream!();
    let mut on = stream.zeros([2, 2]).unwrap();
    let vec = vec![1_i64, 2, 3, 4];
    let address = vec.as_ptr();
    let host = tenure::Tensor::from_vec(vec, [2, 2]).unwrap();
    let host = stream.upload_owned(host, &mut on).unwrap().wait().unwrap();
    stream.add_assign(&mut on, 1).unwrap();
    let pending = stream.download_owned(&on, host).unwrap();
    while !pending.is_done().unwrap() {}
    // The memory is out of use, so that it can be had again.
    let vec = pending.wait().unwrap().into_vec().unwrap();
    assert_eq!((vec.as_ptr(), &vec[..]), (address, &[2, 3, 4, 5][..]));
}

#[test]
fn what_is_dropped_or_forgotten_is_not_met_by_the_copy() {
    let stream = stream!();
    let on = stream.full(100, 1.5_f32).unwrap();
    for _ in 0..20 {
        let host = stream.pinned_zeros(100).unwrap();
        drop(stream.download_owned(&on, host).unwrap());
        let host = tenure::Tensor::from_vec(vec![0.0; 100], 100).unwrap();
        drop(stream.download_owned(&on, host).unwrap());
    }
    std::mem::forget(stream.download_owned(&on, tenure::Tensor::zeros(100).unwrap()).unwrap());
    drop(on);
    drop(stream);
}

#[test]
fn refused_tensors_come_back() {
    let stream = stream!();
    let mut on = stream.zeros::<u8>([2, 2]).unwrap();
    let rejected = stream.upload_owned(tenure::Tensor::zeros(3).unwrap(), &mut on).unwrap_err();
    let (error, host) = rejected.into_parts();
    assert!(error.message().starts_with("upload_owned: "), "{error}");
    let rejected = stream.download_owned(&on, host).unwrap_err();
    assert!(rejected.error().message().starts_with("download_owned: "), "{rejected}");
    assert_eq!(rejected.into_parts().1.into_vec().unwrap_err().len(), 3);
}

#[test]
fn a_future_gives_its_value_once() {
    let stream = stream!();
    let on = stream.full(3, 2_u16).unwrap();
    let pending = stream.download_owned(&on, tenure::Tensor::zeros(3).unwrap()).unwrap();
    let mut future = pin!(pending.into_future());
    let mut context = Context::from_waker(Waker::noop());
    let host = loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
            break result.unwrap();
        }
    };
    assert_eq!(host.to_vec(), [2; 3]);
    assert!(matches!(future.as_mut().poll(&mut context), Poll::Ready(Err(_))));
}

#[test]
fn events_wait_for_what_was_before_them() {
    let one = stream!();
    let two = one.device().stream().unwrap();
    let on = one.full(10, 1_i32).unwrap();
    let event = one.record().unwrap();
    two.follow_event(&event).unwrap();
    event.wait().unwrap();
    assert!(event.is_done().unwrap());
    assert_eq!(event.device(), one.device());
    drop(one);
    assert!(event.is_done().unwrap());
    assert_eq!(two.to_vec(&on).unwrap(), [1; 10]);
}
