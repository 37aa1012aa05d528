//! Tensors of DLPack on a device.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use tenure::ErrorKind;
use tenure::cuda::{Imported, Stream, Tensor};
use tenure::interop::dlpack::{DLDataType, DLDevice, DLTensor};

use crate::managed::{Legacy, Versioned};
use crate::stream;

const READ_ONLY: u64 = 1;
static DELETED: AtomicUsize = AtomicUsize::new(0);

/// The memory that a library's tensor points at and keeps: memory of the device.
struct Owned {
    elements: Tensor<f32>,
    shape: [i64; 2],
    strides: [i64; 2],
}

impl Owned {
    /// 1 to 6.
    fn new(stream: &Stream, shape: [i64; 2], strides: [i64; 2]) -> Box<Owned> {
        let elements = stream.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        Box::new(Owned { elements, shape, strides })
    }

    fn tensor(&mut self) -> DLTensor {
        DLTensor {
            data: self.elements.as_mut_ptr().cast(),
            device: DLDevice { device_type: 2, device_id: 0 },
            ndim: 2,
            dtype: DLDataType { code: 2, bits: 32, lanes: 1 },
            shape: self.shape.as_mut_ptr(),
            strides: self.strides.as_mut_ptr(),
            byte_offset: 0,
        }
    }
}

/// # Safety
///
/// - `context` is a `Box<Owned>`, given here once.
unsafe fn free(context: *mut c_void) {
    // SAFETY: by this function's contract.
    drop(unsafe { Box::from_raw(context.cast::<Owned>()) });
    DELETED.fetch_add(1, Ordering::Relaxed);
}

/// # Safety
///
/// - `tensor` is one of `import`, given here once.
unsafe extern "C" fn delete(tensor: *mut Versioned) {
    // SAFETY: by this function's contract.
    unsafe { free(Box::from_raw(tensor).manager_context) };
}

/// # Safety
///
/// - As of `delete`, of `import_legacy`.
unsafe extern "C" fn delete_legacy(tensor: *mut Legacy) {
    // SAFETY: by this function's contract.
    unsafe { free(Box::from_raw(tensor).manager_context) };
}

fn import(stream: &Stream, flags: u64, shape: [i64; 2], strides: [i64; 2]) -> Imported {
    let mut owned = Owned::new(stream, shape, strides);
    let tensor = owned.tensor();
    let manager_context = Box::into_raw(owned).cast();
    let managed =
        Versioned { version: [1, 0], manager_context, deleter: Some(delete), flags, tensor };
    let managed = NonNull::from(Box::leak(Box::new(managed)));
    // SAFETY: a managed tensor of our own; its elements are of `stream`, and no other code has
    // them.
    unsafe { stream.import(managed.cast()) }.unwrap()
}

#[test]
fn foreign_tensors_are_used_as_they_lie() {
    if !crate::alone("exchange::foreign_tensors_are_used_as_they_lie", "TENURE_SIMT_SEED", "2") {
        return;
    }
    let stream = stream!();
    let mut columns = import(&stream, 0, [2, 3], [1, 2]);
    assert!(!columns.is_read_only() && columns.dtype() == tenure::DType::F32);
    stream.add_assign(&mut columns.view_mut::<f32>().unwrap(), 1.0).unwrap();
    let seen = stream.to_vec(columns.view::<f32>().unwrap()).unwrap();
    assert_eq!(seen, [2.0, 4.0, 6.0, 3.0, 5.0, 7.0]);
    assert_eq!(columns.view::<i32>().unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert!(format!("{columns:?}").contains("cuda:0"));
    // Held memory of any order, without gaps.
    let tensor = columns.into_tensor::<f32>().unwrap();
    assert_eq!(tensor.shape(), [2, 3]);
    assert_eq!(DELETED.load(Ordering::Relaxed), 0);
    drop(tensor);
    assert_eq!(DELETED.load(Ordering::Relaxed), 1);

    let mut shared = import(&stream, READ_ONLY, [2, 3], [3, 1]);
    assert!(shared.is_read_only());
    assert!(shared.view_mut::<f32>().unwrap_err().message().contains("read-only"));
    assert_eq!(stream.sum_all(shared.view::<f32>().unwrap()).unwrap(), 21.0);
    let rejected = shared.into_tensor::<f32>().unwrap_err();
    assert!(rejected.error().message().contains("read-only"), "{rejected}");
    drop(rejected);
    assert_eq!(DELETED.load(Ordering::Relaxed), 2);

    let gaps = import(&stream, 0, [2, 2], [3, 2]).into_tensor::<f32>().unwrap_err();
    assert!(gaps.error().message().contains("leaves gaps"), "{gaps}");
    let mut overlapping = import(&stream, 0, [2, 2], [1, 1]);
    assert_eq!(overlapping.view_mut::<f32>().unwrap_err().kind(), ErrorKind::Aliased);
}

#[test]
fn legacy_tensors_may_be_written() {
    let stream = stream!();
    let mut owned = Owned::new(&stream, [3, 2], [2, 1]);
    let tensor = owned.tensor();
    let manager_context = Box::into_raw(owned).cast();
    let managed = Legacy { tensor, manager_context, deleter: Some(delete_legacy) };
    let managed = NonNull::from(Box::leak(Box::new(managed)));
    // SAFETY: as in `import`.
    let imported = unsafe { stream.import_legacy(managed.cast()) }.unwrap();
    let mut tensor = imported.into_tensor::<f32>().unwrap();
    stream.fill(&mut tensor, 7.0).unwrap();
    assert_eq!(stream.to_vec(&tensor).unwrap(), [7.0; 6]);
}

#[test]
fn tensors_are_handed_over_in_the_order_of_the_consumer() {
    let one = stream!();
    let two = one.device().stream().unwrap();
    for value in 0..10 {
        let tensor = one.full([10, 10], value).unwrap();
        let exported = two.export(tensor).unwrap();
        // SAFETY: it has just been made for this stream, and no other code has it.
        let imported = unsafe { two.import(exported.into_raw()) }.unwrap();
        let sum = two.sum_all(imported.view::<i32>().unwrap()).unwrap();
        assert_eq!(sum, 100 * i64::from(value));
    }
    drop(two.export(one.zeros::<u8>(3).unwrap()).unwrap());
}

#[test]
fn tensors_of_the_host_are_refused() {
    let stream = stream!();
    let host = tenure::Tensor::<f32>::zeros([2, 2]).unwrap();
    let exported = tenure::interop::dlpack::Exported::from_tensor(host).unwrap().into_raw();
    // SAFETY: it has just been made; after the error it is ours.
    let error = unsafe { stream.import(exported) }.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    // SAFETY: as above.
    drop(unsafe { tenure::interop::dlpack::Imported::from_raw(exported) }.unwrap());
}
