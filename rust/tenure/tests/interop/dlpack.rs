//! Managed tensors of DLPack, to and fro: who may write, who frees, what comes back.

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[path = "../dlpack/managed.rs"]
mod managed;

use managed::{Legacy, Versioned};
use tenure::interop::dlpack::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLTensor, Exported, Imported,
    lend, lend_mut,
};
use tenure::{DType, ErrorKind, SharedTensor, Tensor, TensorView};

const READ_ONLY: u64 = 1;

/// Twelve f32 of a library that counts how often its deleter ran.
struct Producer {
    shape: Vec<i64>,
    strides: Vec<i64>,
    offset: usize,
    deleted: Arc<AtomicUsize>,
}

/// The memory of a managed tensor, and the count of deletions.
struct Owned {
    elements: Vec<f32>,
    shape: Vec<i64>,
    strides: Vec<i64>,
    deleted: Arc<AtomicUsize>,
}

/// Frees what the tensor with this `manager_context` owns.
///
/// # Safety
/// `context` came from [`Producer::tensor`], and is given here once.
unsafe fn free_owned(context: *mut c_void) {
    // SAFETY: the caller's promise.
    let owned = unsafe { Box::from_raw(context.cast::<Owned>()) };
    owned.deleted.fetch_add(1, Ordering::Relaxed);
}

impl Producer {
    fn new(shape: &[i64], strides: &[i64]) -> Self {
        Producer {
            shape: shape.to_vec(),
            strides: strides.to_vec(),
            offset: 0,
            deleted: Arc::new(AtomicUsize::new(0)),
        }
    }

    /// A tensor, and the context that owns its memory.
    fn tensor(&self) -> (DLTensor, *mut c_void) {
        let owned = Box::into_raw(Box::new(Owned {
            elements: (0..12).map(|i| i as f32).collect(),
            shape: self.shape.clone(),
            strides: self.strides.clone(),
            deleted: self.deleted.clone(),
        }));
        // SAFETY: made above, and no other code has it.
        let parts = unsafe { &mut *owned };
        let tensor = DLTensor {
            data: parts.elements.as_mut_ptr().cast(),
            device: DLDevice { device_type: 1, device_id: 0 },
            ndim: self.shape.len() as i32,
            dtype: DLDataType { code: 2, bits: 32, lanes: 1 },
            shape: parts.shape.as_mut_ptr(),
            strides: parts.strides.as_mut_ptr(),
            byte_offset: (self.offset * size_of::<f32>()) as u64,
        };
        (tensor, owned.cast())
    }

    fn versioned(&self, flags: u64) -> NonNull<DLManagedTensorVersioned> {
        unsafe extern "C" fn deleter(tensor: *mut Versioned) {
            // SAFETY: made below, and deleted once.
            let managed = unsafe { Box::from_raw(tensor) };
            // SAFETY: the context of `tensor()`.
            unsafe { free_owned(managed.manager_context) };
        }
        let (tensor, manager_context) = self.tensor();
        let (version, deleter) = ([1, 0], Some(deleter as _));
        let managed = Versioned { version, manager_context, deleter, flags, tensor };
        NonNull::from(Box::leak(Box::new(managed))).cast()
    }

    fn legacy(&self) -> NonNull<DLManagedTensor> {
        unsafe extern "C" fn deleter(tensor: *mut Legacy) {
            // SAFETY: made below, and deleted once.
            let managed = unsafe { Box::from_raw(tensor) };
            // SAFETY: the context of `tensor()`.
            unsafe { free_owned(managed.manager_context) };
        }
        let (tensor, manager_context) = self.tensor();
        let managed = Legacy { tensor, manager_context, deleter: Some(deleter) };
        NonNull::from(Box::leak(Box::new(managed))).cast()
    }

    fn import(&self, flags: u64) -> Imported {
        // SAFETY: a valid tensor that no other code has.
        unsafe { Imported::from_raw(self.versioned(flags)) }.unwrap()
    }

    fn deleted(&self) -> usize {
        self.deleted.load(Ordering::Relaxed)
    }
}

#[test]
fn an_import_becomes_a_tensor_and_its_end_is_the_deleters() {
    let producer = Producer::new(&[3, 4], &[4, 1]);
    let mut imported = producer.import(0);
    assert!(!imported.is_read_only());
    assert_eq!((imported.view().dtype(), imported.view().shape()), (DType::F32, &[3, 4][..]));
    imported.view_mut().unwrap().downcast::<f32>().unwrap()[[0, 0]] = 9.0;
    let tensor = imported.into_tensor::<f32>().unwrap();
    assert_eq!((tensor[[0, 0]], tensor[[2, 3]]), (9.0, 11.0));
    let tensor = tensor.into_vec().err().unwrap();
    assert_eq!(producer.deleted(), 0);
    std::thread::spawn(move || drop(tensor)).join().unwrap();
    assert_eq!(producer.deleted(), 1);
}

#[test]
fn a_legacy_tensor_is_taken_as_writable() {
    let producer = Producer::new(&[12], &[1]);
    // SAFETY: a valid tensor that no other code has.
    let imported = unsafe { Imported::from_raw_legacy(producer.legacy()) }.unwrap();
    let shared = imported.into_shared::<f32>().unwrap();
    let clone = shared.clone();
    drop(shared);
    assert_eq!((clone.to_vec()[11], producer.deleted()), (11.0, 0));
    drop(clone);
    assert_eq!(producer.deleted(), 1);
}

#[test]
fn read_only_stays_read_only() {
    let producer = Producer::new(&[3, 4], &[4, 1]);
    let mut imported = producer.import(READ_ONLY);
    assert!(imported.is_read_only());
    let error = imported.view_mut().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().contains("read-only"), "{error}");
    let rejected = imported.into_tensor::<f32>().err().unwrap();
    assert_eq!(producer.deleted(), 0);
    let shared = rejected.into_data().into_shared::<f32>().unwrap();
    assert_eq!(shared[[1, 1]], 5.0);
    drop(shared);
    assert_eq!(producer.deleted(), 1);
}

#[test]
fn memory_with_gaps_repeats_or_backwards_is_viewed_and_not_held() {
    for (shape, strides, offset, is_writable) in [
        (&[3, 2], &[4, 2], 0, true),    // gaps
        (&[3, 4], &[0, 1], 0, false),   // the same row thrice
        (&[3, 4], &[-4, -1], 11, true), // backwards
    ] {
        let mut producer = Producer::new(shape, strides);
        producer.offset = offset;
        let mut imported = producer.import(0);
        let expected: Vec<f32> = (0..shape[0])
            .flat_map(|i| (0..shape[1]).map(move |j| (i, j)))
            .map(|(i, j)| (offset as i64 + i * strides[0] + j * strides[1]) as f32)
            .collect();
        assert_eq!(imported.view().downcast::<f32>().unwrap().to_vec(), expected);
        assert_eq!(imported.view_mut().is_ok(), is_writable);
        let rejected = imported.into_tensor::<f32>().err().unwrap();
        assert!(rejected.error().message().contains("take a view"), "{}", rejected.error());
        assert!(rejected.into_data().into_shared::<f32>().is_err());
        assert_eq!(producer.deleted(), 1);
    }
    // Columns first has no gaps.
    let imported = Producer::new(&[4, 3], &[1, 4]).import(0);
    assert_eq!(imported.into_tensor::<f32>().unwrap()[[1, 2]], 9.0);
}

#[test]
fn another_dtype_is_refused_and_given_back() {
    let producer = Producer::new(&[12], &[1]);
    let rejected = producer.import(0).into_tensor::<f64>().err().unwrap();
    assert_eq!(rejected.error().message(), "dtype is f32 but f64 is asked for");
    drop(rejected);
    assert_eq!(producer.deleted(), 1);
}

#[test]
fn a_refused_import_takes_nothing() {
    let producer = Producer::new(&[3, -4], &[4, 1]);
    let managed = producer.versioned(0);
    // SAFETY: a refused tensor is not touched further.
    let error = unsafe { Imported::from_raw(managed) }.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().contains("shape[1] is -4"), "{error}");
    assert_eq!(producer.deleted(), 0);
    let managed = managed.cast::<Versioned>().as_ptr();
    // SAFETY: it is still ours to delete.
    unsafe { (*managed).deleter.unwrap()(managed) };
    assert_eq!(producer.deleted(), 1);
}

#[test]
fn an_export_is_written_by_whoever_takes_it() {
    let tensor =
        Tensor::from_vec_in(vec![1_i16, 2, 3, 4, 5, 6], [2, 3], tenure::Order::ColumnMajor);
    let tensor = tensor.unwrap();
    let address = tensor.as_ptr();
    let exported = Exported::from_tensor(tensor).unwrap();
    // SAFETY: a managed tensor, alive while `exported` is.
    let managed = unsafe { &*exported.as_ptr().cast::<Versioned>() };
    assert_eq!((managed.version[0], managed.flags), (1, 0));
    assert!(ptr::eq(managed.tensor.data.cast(), address));
    assert_eq!(managed.tensor.dtype, DLDataType { code: 0, bits: 16, lanes: 1 });
    // SAFETY: two axes.
    let strides = unsafe { std::slice::from_raw_parts(managed.tensor.strides, 2) };
    assert_eq!(strides, [1, 2]);
    // SAFETY: no other code has it.
    let imported = unsafe { Imported::from_raw(exported.into_raw()) }.unwrap();
    let mut back = imported.into_tensor::<i16>().unwrap();
    back[[1, 2]] = 60;
    assert_eq!((back.as_ptr(), back.to_vec()), (address, vec![1, 3, 5, 2, 4, 60]));
}

#[test]
fn an_export_of_what_is_shared_is_read_only_whatever_it_was_before() {
    let shared = Tensor::from_vec(vec![1_u8, 2, 3], 3).unwrap().into_shared();
    let exported = Exported::from_shared(&shared).unwrap();
    // SAFETY: no other code has it.
    let imported = unsafe { Imported::from_raw(exported.into_raw()) }.unwrap();
    assert!(imported.is_read_only());
    // The export holds the memory too, so the Vec is not given back yet.
    let shared = shared.into_vec().err().unwrap();
    drop(imported);
    assert_eq!(shared.into_vec().ok(), Some(vec![1, 2, 3]));
}

#[test]
fn an_export_that_nobody_takes_frees_its_memory() {
    struct Counted(Vec<f32>, Arc<AtomicUsize>);
    impl AsRef<[f32]> for Counted {
        fn as_ref(&self) -> &[f32] {
            &self.0
        }
    }
    impl Drop for Counted {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }
    let drops = Arc::new(AtomicUsize::new(0));
    let shared = SharedTensor::from_owner(Counted(vec![1.0; 4], drops.clone()), 4).unwrap();
    let exported = Exported::from_shared(&shared).unwrap();
    drop(shared);
    assert_eq!(drops.load(Ordering::Relaxed), 0);
    drop(exported);
    assert_eq!(drops.load(Ordering::Relaxed), 1);
}

#[test]
fn lent_tensors_are_the_view() {
    let data = [1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0];
    let view = TensorView::from_slice(&data, [2, 3]).unwrap().t();
    lend(view, |lent| {
        assert!(ptr::eq(lent.data.cast(), data.as_ptr()));
        assert_eq!((lent.ndim, lent.byte_offset), (2, 0));
        assert_eq!(lent.device, DLDevice { device_type: 1, device_id: 0 });
        assert_eq!(lent.dtype, DLDataType { code: 2, bits: 64, lanes: 1 });
        // SAFETY: two axes.
        let (shape, strides) = unsafe {
            (std::slice::from_raw_parts(lent.shape, 2), std::slice::from_raw_parts(lent.strides, 2))
        };
        assert_eq!((shape, strides), (&[3, 2][..], &[1, 3][..]));
    });
    let mut tensor = Tensor::<i32>::zeros(4).unwrap();
    lend_mut(&mut tensor, |lent| {
        // SAFETY: four elements, lent for writing.
        unsafe { *lent.data.cast::<i32>().add(3) = 7 }
    });
    assert_eq!(tensor.to_vec(), [0, 0, 0, 7]);
}
