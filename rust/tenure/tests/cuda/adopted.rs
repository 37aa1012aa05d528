//! Streams and memory of others.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use tenure::cuda::{Stream, Tensor};
use tenure::{ErrorKind, Tenure};

use crate::stream;

/// An owner of memory of a device that counts its drops.
struct Counted {
    _memory: Tensor<i32>,
    drops: Arc<AtomicUsize>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::Relaxed);
    }
}

fn counted(stream: &Stream, drops: &Arc<AtomicUsize>) -> (*mut i32, Counted) {
    let mut tensor = stream.upload([1, 2, 3, 4, 5, 6]).unwrap();
    (tensor.as_mut_ptr(), Counted { _memory: tensor, drops: Arc::clone(drops) })
}

#[test]
fn adopted_memory_is_used_and_its_owner_dropped_once() {
    let stream = stream!();
    let drops = Arc::new(AtomicUsize::new(0));
    let (data, owner) = counted(&stream, &drops);
    // SAFETY: the owner has six elements there, and the same stream.
    let mut ours = unsafe { stream.adopt(data, 6, [2, 3], owner) }.unwrap();
    assert_eq!((ours.tenure(), ours.as_ptr()), (Tenure::Adopted, data.cast_const()));
    stream.fill(&mut ours.view_mut().index(1, 1).unwrap(), 0).unwrap();
    assert_eq!(stream.to_vec(&ours).unwrap(), [1, 0, 3, 4, 0, 6]);
    assert_eq!(drops.load(Ordering::Relaxed), 0);
    // The end is on another thread than the beginning.
    thread::spawn(move || drop(ours)).join().unwrap();
    assert_eq!(drops.load(Ordering::Relaxed), 1);
}

#[test]
fn the_owner_of_a_forgotten_tensor_is_never_dropped() {
    let stream = stream!();
    if cfg!(miri) {
        return; // it would report the leak that this is about
    }
    let drops = Arc::new(AtomicUsize::new(0));
    let (data, owner) = counted(&stream, &drops);
    // SAFETY: as above.
    std::mem::forget(unsafe { stream.adopt(data, 6, 6, owner) }.unwrap());
    assert_eq!(drops.load(Ordering::Relaxed), 0);
}

#[test]
fn refused_owners_come_back() {
    let stream = stream!();
    let drops = Arc::new(AtomicUsize::new(0));
    let (data, owner) = counted(&stream, &drops);
    // SAFETY: the owner has six elements there.
    let rejected = unsafe { stream.adopt(data, 6, [2, 2], owner) }.unwrap_err();
    assert_eq!(rejected.error().message(), "shape [2, 2] has 4 elements but the memory has 6");
    let owner = rejected.into_data();
    // SAFETY: it is refused for its alignment, and not looked at.
    let rejected = unsafe { stream.adopt(data.wrapping_byte_add(1), 5, 5, owner) }.unwrap_err();
    assert_eq!(rejected.error().kind(), ErrorKind::InvalidArgument);
    assert_eq!(drops.load(Ordering::Relaxed), 0);
    drop(rejected);
    assert_eq!(drops.load(Ordering::Relaxed), 1);
}

#[test]
#[cfg_attr(miri, ignore = "the stand-in knows no memory")]
fn memory_of_the_host_is_no_memory_of_a_device() {
    let stream = stream!();
    let mut host = vec![1, 2, 3];
    let data = host.as_mut_ptr();
    // SAFETY: the driver says that it is none of the device, and nothing touches it.
    let rejected = unsafe { stream.adopt(data, 3, 3, host) }.unwrap_err();
    assert_eq!(rejected.error().kind(), ErrorKind::InvalidArgument);
    assert_eq!(rejected.into_data(), [1, 2, 3]);
}

#[test]
fn streams_of_others() {
    let stream = stream!();
    let device = stream.device();
    // SAFETY: CUDA's own stream lives as long as the process.
    let legacy = unsafe { Stream::from_raw(device, 1) }.unwrap();
    let tensor = legacy.full(5, 3_u8).unwrap();
    assert_eq!(stream.to_vec(&tensor).unwrap(), [3; 5]);
    // SAFETY: it is refused.
    let error = unsafe { Stream::from_raw(device, 2) }.unwrap_err();
    assert!(error.message().starts_with("stream is 2, "), "{error}");
}

#[test]
fn owners_dropped_by_whoever_lets_go_last() {
    let stream = stream!();
    let (sender, receiver) = mpsc::channel();
    struct Says {
        _memory: Tensor<i32>,
        to: mpsc::Sender<thread::ThreadId>,
    }
    impl Drop for Says {
        fn drop(&mut self) {
            let _ = self.to.send(thread::current().id());
        }
    }
    let mut tensor = stream.upload([1, 2]).unwrap();
    let (data, owner) = (tensor.as_mut_ptr(), Says { _memory: tensor, to: sender });
    // SAFETY: the owner has two elements there, and the same stream.
    let ours = unsafe { stream.adopt(data, 2, 2, owner) }.unwrap();
    let other = thread::spawn(move || drop(ours));
    let id = other.thread().id();
    other.join().unwrap();
    assert_eq!(receiver.recv().unwrap(), id);
    assert_ne!(id, thread::current().id());
}
