//! Managed tensors with fields that no library would write: taken or refused, and deleted once or
//! not at all.

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};

use tenure::interop::dlpack::{DLDataType, DLDevice, DLTensor, Exported, Imported};
use tenure::{DType, DynView, Element, Result, Tensor, bf16, f16};

use super::managed::{Legacy, Versioned};
use super::{Random, fuzz};

/// Memory of the producer's.
const BYTES: usize = 4096;

/// The fields of a tensor, and the arrays that they point at.
struct Hostile {
    memory: Vec<u64>,
    shape: Vec<i64>,
    strides: Option<Vec<i64>>,
    tensor: DLTensor,
    deleted: AtomicUsize,
}

impl Hostile {
    /// Valid, except for some numbers.
    fn draw(random: &mut Random) -> Box<Self> {
        let rank = random.below(4);
        let mut shape: Vec<i64> = (0..rank).map(|_| random.below(5) as i64).collect();
        let mut strides = vec![0; rank];
        let mut stride = 1;
        for axis in (0..rank).rev() {
            strides[axis] = stride;
            stride *= shape[axis].max(1);
        }
        for stride in &mut strides {
            match random.below(8) {
                0 => *stride = -*stride,
                1 => *stride = random.number(),
                _ => {}
            }
        }
        if rank > 0 && random.below(4) == 0 {
            shape[random.below(rank)] = random.number();
        }
        let dtype = match random.below(4) {
            0 => DLDataType {
                code: random.below(20) as u8,
                bits: *random.pick(&[0, 1, 4, 6, 8, 16, 32, 64, 128, 255]),
                lanes: *random.pick(&[0, 1, 1, 2, 4, 65535]),
            },
            _ => {
                let (code, bits, lanes) = random.pick(&KNOWN).to_dlpack();
                DLDataType { code, bits, lanes }
            }
        };
        let ndim = if random.below(16) == 0 { random.number() as i32 } else { rank as i32 };
        // Rank claims no more numbers than there are.
        let ndim = if ndim > rank as i32 && ndim <= 8 { rank as i32 } else { ndim };
        let mut hostile = Box::new(Hostile {
            memory: (0..BYTES as u64 / 8).map(|_| random.next()).collect(),
            shape,
            strides: (random.below(4) != 0).then_some(strides),
            tensor: DLTensor {
                data: ptr::null_mut(),
                device: DLDevice {
                    device_type: if random.below(16) == 0 { random.number() as i32 } else { 1 },
                    device_id: random.below(2) as i32,
                },
                ndim,
                dtype,
                shape: ptr::null_mut(),
                strides: ptr::null_mut(),
                byte_offset: match random.below(8) {
                    0 => random.number() as u64,
                    1 => 16 * random.below(BYTES / 16) as u64,
                    _ => 0,
                },
            },
            deleted: AtomicUsize::new(0),
        });
        let data = match random.below(8) {
            0 => ptr::without_provenance_mut(random.number() as usize),
            1 => hostile.memory.as_mut_ptr().wrapping_byte_add(random.below(64)),
            _ => hostile.memory.as_mut_ptr().wrapping_byte_add(BYTES / 2),
        };
        hostile.tensor.data = data.cast();
        hostile.tensor.shape =
            if random.below(32) == 0 { ptr::null_mut() } else { hostile.shape.as_mut_ptr() };
        hostile.tensor.strides =
            hostile.strides.as_mut().map_or(ptr::null_mut(), |strides| strides.as_mut_ptr());
        hostile
    }

    /// Whether all that the tensor reaches is this memory, by arithmetic that cannot overflow.
    fn is_inside(&self, view: &DynView<'_>) -> bool {
        if view.shape().contains(&0) {
            return true;
        }
        let (mut low, mut high) = (0_i128, 0_i128);
        for (extent, stride) in view.shape().iter().zip(view.strides()) {
            let reach = (*extent as i128 - 1) * *stride as i128;
            (low, high) = (low + reach.min(0), high + reach.max(0));
        }
        let width = view.dtype().size_bytes() as i128;
        let first = self.tensor.data.addr() as i128 + i128::from(self.tensor.byte_offset);
        let begin = self.memory.as_ptr().addr() as i128;
        first + low * width >= begin && first + (high + 1) * width <= begin + BYTES as i128
    }
}

const KNOWN: [DType; 9] = [
    DType::F64,
    DType::F32,
    DType::F16,
    DType::BF16,
    DType::I8,
    DType::I64,
    DType::U16,
    DType::BOOL8,
    DType::C128,
];

unsafe extern "C" fn count(context: *mut c_void) {
    // SAFETY: the `Hostile` that outlives the tensor.
    unsafe { &*context.cast::<Hostile>() }.deleted.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn delete_versioned(tensor: *mut Versioned) {
    // SAFETY: made by `Managed::draw`, and deleted once.
    unsafe { count(Box::from_raw(tensor).manager_context) };
}

unsafe extern "C" fn delete_legacy(tensor: *mut Legacy) {
    // SAFETY: made by `Managed::draw`, and deleted once.
    unsafe { count(Box::from_raw(tensor).manager_context) };
}

/// The elements in row-major order, copied by the library and by hand.
fn compare<T: Element + PartialEq>(hostile: &Hostile, view: DynView<'_>) {
    let strides = view.strides().to_vec();
    let view = view.downcast::<T>().unwrap();
    let copy: Tensor<T> = view.to_tensor().unwrap();
    let first =
        hostile.tensor.data.cast_const().wrapping_byte_add(hostile.tensor.byte_offset as usize);
    let mut index = vec![0_usize; strides.len()];
    for element in copy.to_vec() {
        let offset: isize =
            index.iter().zip(&strides).map(|(index, stride)| *index as isize * stride).sum();
        // SAFETY: inside of the memory, as the caller has found, and aligned, as the import has.
        let expected = unsafe { first.cast::<T>().wrapping_offset(offset).read() };
        // NaN and its like are compared as bytes.
        let bytes = |element: &T| -> Vec<u8> {
            // SAFETY: elements are plain bytes without gaps.
            unsafe { std::slice::from_raw_parts(ptr::from_ref(element).cast(), size_of::<T>()) }
                .to_vec()
        };
        assert_eq!(bytes(&element), bytes(&expected), "{index:?}");
        for axis in (0..index.len()).rev() {
            index[axis] += 1;
            if index[axis] < view.shape()[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

fn read(hostile: &Hostile, imported: &Imported) {
    let view = imported.view();
    if !hostile.is_inside(&view) || view.len() > BYTES * 8 {
        return;
    }
    match view.dtype() {
        DType::F64 => compare::<f64>(hostile, view),
        DType::F32 => compare::<f32>(hostile, view),
        DType::F16 => compare::<f16>(hostile, view),
        DType::BF16 => compare::<bf16>(hostile, view),
        DType::I8 => compare::<i8>(hostile, view),
        DType::I64 => compare::<i64>(hostile, view),
        DType::U16 => compare::<u16>(hostile, view),
        _ => {}
    }
}

/// A tensor on its way, of either layout.
enum Managed {
    Versioned(NonNull<Versioned>),
    Legacy(NonNull<Legacy>),
}

impl Managed {
    fn draw(hostile: &mut Hostile, has_deleter: bool, random: &mut Random) -> Self {
        let manager_context = ptr::from_mut(hostile).cast();
        if random.below(2) == 0 {
            Managed::Versioned(NonNull::from(Box::leak(Box::new(Versioned {
                version: [if random.below(16) == 0 { random.below(9) as u32 } else { 1 }, 3],
                manager_context,
                deleter: has_deleter.then_some(delete_versioned),
                flags: random.below(8) as u64,
                tensor: hostile.tensor,
            }))))
        } else {
            Managed::Legacy(NonNull::from(Box::leak(Box::new(Legacy {
                tensor: hostile.tensor,
                manager_context,
                deleter: has_deleter.then_some(delete_legacy),
            }))))
        }
    }

    fn import(&self) -> Result<Imported> {
        // SAFETY: laid out as DLPack requires. The test tries wrong fields; no call reads memory
        // that does not exist.
        unsafe {
            match self {
                Managed::Versioned(tensor) => Imported::from_raw(tensor.cast()),
                Managed::Legacy(tensor) => Imported::from_raw_legacy(tensor.cast()),
            }
        }
    }

    fn free(self) {
        // SAFETY: made by `draw`, not deleted, and no code uses it any more.
        unsafe {
            match self {
                Managed::Versioned(tensor) => drop(Box::from_raw(tensor.as_ptr())),
                Managed::Legacy(tensor) => drop(Box::from_raw(tensor.as_ptr())),
            }
        }
    }
}

fn import(hostile: &mut Hostile, random: &mut Random) {
    let has_deleter = random.below(8) != 0;
    let managed = Managed::draw(hostile, has_deleter, random);
    match managed.import() {
        Err(error) => {
            assert!(error.message().len() > 8, "{error:?}");
            assert_eq!(hostile.deleted.load(Ordering::Relaxed), 0, "a refusal takes nothing");
            managed.free();
        }
        Ok(imported) => {
            read(hostile, &imported);
            go_on(hostile, imported, random);
            assert_eq!(hostile.deleted.load(Ordering::Relaxed), usize::from(has_deleter));
            if !has_deleter {
                managed.free();
            }
        }
    }
}

/// Ends an import, by each way out of it.
fn go_on(hostile: &Hostile, imported: Imported, random: &mut Random) {
    if !hostile.is_inside(&imported.view()) || imported.view().dtype() != DType::F32 {
        return;
    }
    match random.below(3) {
        0 => drop(imported.into_tensor::<f32>()),
        1 => drop(imported.into_shared::<f64>()),
        _ => {
            if let Ok(shared) = imported.into_shared::<f32>() {
                let exported = Exported::from_shared(&shared).unwrap();
                drop(shared);
                // SAFETY: an export of the library that no other code has.
                let again = unsafe { Imported::from_raw(exported.into_raw()) }.unwrap();
                read(hostile, &again);
            }
        }
    }
}

#[test]
fn managed_tensors() {
    fuzz(20_000, |random| {
        let mut hostile = Hostile::draw(random);
        import(&mut hostile, random);
    });
}
