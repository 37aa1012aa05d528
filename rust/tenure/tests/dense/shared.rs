//! Shared memory: no holder writes, and the last holder gives it back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tenure::{ErrorKind, SharedTensor, Tensor, Tenure};

/// An owner of bytes at a chosen place, that counts its drops.
struct Bytes {
    words: Vec<u64>,
    skipped: usize,
    dropped: Arc<AtomicUsize>,
}

impl Bytes {
    /// 32 bytes from `skipped` bytes after a multiple of 8 on.
    fn new(skipped: usize) -> (Bytes, Arc<AtomicUsize>) {
        let dropped = Arc::<AtomicUsize>::default();
        (Bytes { words: vec![0; 8], skipped, dropped: Arc::clone(&dropped) }, dropped)
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: every byte of a `u64` is a `u8`.
        let (_, bytes, _) = unsafe { self.words.align_to::<u8>() };
        &bytes[self.skipped..self.skipped + 32]
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

fn count(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::Relaxed)
}

#[test]
fn an_arc_is_shared_where_it_lies() {
    let arc: Arc<[f32]> = Arc::from([1.0, 2.0, 3.0, 4.0]);
    let shared = SharedTensor::from_arc(Arc::clone(&arc), [2, 2]).unwrap();
    assert_eq!((shared.tenure(), shared.as_ptr()), (Tenure::Shared, arc.as_ptr()));
    let clone = shared.clone();
    assert_eq!(Arc::strong_count(&arc), 2);
    drop(shared);
    assert_eq!(clone.view().t().to_vec(), [1.0, 3.0, 2.0, 4.0]);
    assert_eq!(Arc::strong_count(&arc), 2);
    drop(clone);
    assert_eq!(Arc::strong_count(&arc), 1);
}

#[test]
fn a_refused_arc_comes_back() {
    let arc: Arc<[i16]> = Arc::from([1, 2, 3]);
    let rejected = SharedTensor::from_arc(Arc::clone(&arc), [2, 2]).err().unwrap();
    assert_eq!(rejected.error().message(), "shape [2, 2] has 4 elements but the memory has 3");
    assert!(Arc::ptr_eq(&rejected.into_data(), &arc));
}

#[test]
fn an_owner_is_dropped_once_by_the_last_of_many_threads() {
    let (owner, dropped) = Bytes::new(0);
    let shared = SharedTensor::<u32>::from_bytes(owner, 0, [2, 4]).unwrap();
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let clone = shared.clone();
            std::thread::spawn(move || clone.iter().sum::<u32>())
        })
        .collect();
    drop(shared);
    assert!(threads.into_iter().all(|thread| thread.join().unwrap() == 0));
    assert_eq!(count(&dropped), 1);
}

#[test]
fn bytes_are_elements_where_they_are_aligned_and_enough() {
    let message = |rejected: tenure::Rejected<Bytes>| rejected.error().message().to_owned();
    let (owner, dropped) = Bytes::new(3);
    let rejected = SharedTensor::<f64>::from_bytes(owner, 0, 4).err().unwrap();
    assert_eq!(rejected.error().kind(), ErrorKind::InvalidArgument);
    assert_eq!(
        message(rejected),
        "data lies 3 bytes past a multiple of 8, the alignment of its dtype"
    );
    assert_eq!(count(&dropped), 1);

    // The offset may put it right, and bytes may be left over.
    let (owner, _) = Bytes::new(3);
    assert_eq!(SharedTensor::<f64>::from_bytes(owner, 5, 3).unwrap().to_vec(), [0.0; 3]);
    let (owner, _) = Bytes::new(3);
    assert_eq!(SharedTensor::<u8>::from_bytes(owner, 1, 31).unwrap().len(), 31);

    let (owner, _) = Bytes::new(0);
    assert_eq!(
        message(SharedTensor::<f64>::from_bytes(owner, 8, [2, 2]).err().unwrap()),
        "shape [2, 2] of f64 needs 32 bytes from byte 8 on but the memory has 32 bytes"
    );
    let (owner, _) = Bytes::new(0);
    let owner = SharedTensor::<f64>::from_bytes(owner, 33, 0).err().unwrap().into_data();
    assert!(SharedTensor::<f64>::from_bytes(owner, usize::MAX, [1, 1]).is_err());
    let (owner, _) = Bytes::new(1);
    assert!(SharedTensor::<f64>::from_bytes(owner, 32, [0, 4]).unwrap().is_empty());
}

#[test]
fn a_tensor_that_is_shared_keeps_its_vec_for_the_last_holder() {
    let vec = vec![1_u8, 2, 3, 4];
    let address = vec.as_ptr();
    let shared = Tensor::from_vec(vec, [2, 2]).unwrap().into_shared();
    assert_eq!((shared.tenure(), shared.as_ptr()), (Tenure::Adopted, address));
    let clone = shared.clone();
    let shared = shared.into_vec().err().unwrap();
    assert_eq!(shared[[1, 0]], 3);
    drop(shared);
    let vec = clone.into_vec().ok().unwrap();
    assert_eq!((vec.as_ptr(), vec), (address, vec![1, 2, 3, 4]));
}

#[test]
fn only_a_vec_becomes_a_vec_again() {
    let arc: Arc<[u8]> = Arc::from([1, 2]);
    let shared = SharedTensor::from_arc(arc, 2).unwrap().into_vec().err().unwrap();
    assert_eq!(shared.to_vec(), [1, 2]);
    let zeros = Tensor::<u8>::zeros(2).unwrap().into_shared();
    assert_eq!(zeros.into_vec().err().unwrap().to_tensor().unwrap().to_vec(), [0, 0]);
}

#[test]
fn an_owner_with_elements_inside_itself_stays_where_it_is() {
    let shared = SharedTensor::from_owner([1_i64, 2, 3], 3).unwrap();
    let moved = Box::new(shared.clone());
    assert_eq!((moved.as_ptr(), moved.to_vec()), (shared.as_ptr(), vec![1, 2, 3]));
}

#[test]
fn owners_that_are_static_are_shared_too() {
    static TABLE: [f32; 4] = [1.0, 2.0, 3.0, 4.0];
    let shared = SharedTensor::from_owner(&TABLE, [2, 2]).unwrap();
    assert_eq!(shared.as_ptr(), TABLE.as_ptr());
}
