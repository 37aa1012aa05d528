//! Custom operations: who holds them, and how a graph calls them.

mod derive;
pub(crate) mod own;
#[cfg(feature = "plugins")]
pub(crate) mod plugin;

use std::any::Any;
use std::ffi::{CStr, CString, c_void};
use std::fmt;
use std::mem;
use std::sync::Arc;

use tenure_sys as sys;
use tenure_sys::{
    TNR_CUSTOM_PURE, tnr_compute_fn, tnr_context, tnr_custom_operation, tnr_derive_fn,
    tnr_device_compute_fn, tnr_dtype, tnr_graph, tnr_infer_fn, tnr_status, tnr_view, tnr_view_mut,
};

use self::derive::Derivative;
use super::GraphHandle;
use crate::error::{Error, ErrorKind, Result};
use crate::raw::check;

/// A custom operation: made of two closures by [`new`](Self::new), taken from C by
/// [`from_raw`](Self::from_raw), or loaded from a plug-in (`load_plugin`).
///
/// A [graph](crate::Graph::custom) or a file that calls it by its name holds it. A clone is the
/// same operation; it ends with the last clone and the last program that calls it.
#[derive(Clone)]
pub struct CustomOperation(Arc<Held>);

struct Held {
    name: CString,
    raw: tnr_custom_operation,
    /// A derivative in place of that of `raw`.
    derivative: Option<Derivative>,
    /// The operation that releases the context of `raw`, where it is another one.
    original: Option<Arc<Held>>,
    /// The library that a plug-in's operation lies in, to be closed behind everything else.
    library: Option<Arc<dyn Any + Send + Sync>>,
}

// SAFETY: by the contract of `from_raw` its functions and its context go to any thread, also to
// several at once.
unsafe impl Send for Held {}
// SAFETY: by the contract of `from_raw` any thread may use its functions and its context, also
// several threads at once; its other fields are Sync.
unsafe impl Sync for Held {}

impl Drop for Held {
    fn drop(&mut self) {
        // By its contract a plug-in's operation is released once for each graph instead.
        if self.library.is_none() && self.original.is_none() {
            self.release();
        }
    }
}

impl Held {
    fn release(&self) {
        if let Some(release) = self.raw.release {
            // SAFETY: by the contract of `from_raw`, as often as it asks for.
            unsafe { release(self.raw.user_context) };
        }
    }
}

impl CustomOperation {
    /// Takes an operation of the C ABI over, whatever the result: `release` is called once, with an
    /// error before it is returned.
    ///
    /// # Safety
    ///
    /// - `operation` is readable as far as its `struct_size` says; its name ends with a 0.
    /// - Its functions do what `tnr_custom_operation` asks of them, from any thread, with its
    ///   `user_context`, until `release` is called.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no name, or one that is no UTF-8. `Unsupported`: a struct of a newer
    /// header.
    pub unsafe fn from_raw(operation: *const tnr_custom_operation) -> Result<CustomOperation> {
        // SAFETY: by this function's contract.
        unsafe { Self::held(operation, None) }
    }

    /// # Safety
    ///
    /// - The conditions of [`from_raw`](Self::from_raw); with a library `release` is called once
    ///   for each graph, and all that the operation names stays as it is until the library is
    ///   dropped.
    unsafe fn held(
        operation: *const tnr_custom_operation,
        library: Option<Arc<dyn Any + Send + Sync>>,
    ) -> Result<CustomOperation> {
        if operation.is_null() {
            return Err(Error::invalid("an operation is NULL"));
        }
        let mut raw = mem::MaybeUninit::<tnr_custom_operation>::zeroed();
        // SAFETY: by this function's contract; a struct of zeros has NULL for its pointers and
        // functions, and is one.
        let (raw, size_bytes) = unsafe {
            let size_bytes = operation.cast::<u64>().read_unaligned() as usize;
            let known = size_bytes.min(size_of::<tnr_custom_operation>());
            let bytes = operation.cast::<u8>();
            raw.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(bytes, known);
            (raw.assume_init(), size_bytes)
        };
        let (derivative, original) = (None, None);
        let mut taken = Held { name: CString::default(), raw, derivative, original, library };
        if size_bytes > size_of::<tnr_custom_operation>() {
            let why = format!("an operation has {size_bytes} bytes, more than are known");
            return Err(Error::new(ErrorKind::Unsupported, why));
        }
        if taken.raw.name.is_null() {
            return Err(Error::invalid("the name of an operation is NULL"));
        }
        // SAFETY: by this function's contract.
        taken.name = unsafe { CStr::from_ptr(taken.raw.name) }.to_owned();
        if taken.name.to_str().is_err() {
            return Err(Error::invalid(format!("the name {:?} is no UTF-8", taken.name)));
        }
        Ok(CustomOperation(Arc::new(taken)))
    }

    /// The operation with other flags, or with a derivative.
    fn changed(self, flags: u32, derivative: Option<Derivative>) -> CustomOperation {
        let CustomOperation(original) = self;
        let mut raw = original.raw;
        raw.flags |= flags;
        CustomOperation(Arc::new(Held {
            name: original.name.clone(),
            raw,
            derivative: derivative.or_else(|| original.derivative.clone()),
            library: original.library.clone(),
            original: Some(original),
        }))
    }

    /// Promises that results of the operation depend only on its operands, and that a call has no
    /// other effect (`TNR_CUSTOM_PURE`). Such calls may be repeated: by gradients
    /// through [`cond`](crate::Graph::cond) and [`while_loop`](crate::Graph::while_loop), which
    /// refuse other custom operations, and by [recomputation](crate::Graph::memory_budget).
    pub fn pure(self) -> CustomOperation {
        self.changed(TNR_CUSTOM_PURE, None)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.0.name.to_str().unwrap_or_default()
    }

    /// Whether it is this very one, rather than another of its name.
    pub(crate) fn is(&self, other: &CustomOperation) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for CustomOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CustomOperation({})", self.name())
    }
}

impl GraphHandle {
    /// Adds an operation, which the graph and its programs hold from here on.
    pub(crate) fn add_custom(&self, operation: &CustomOperation) -> Result<u32> {
        let CustomOperation(held) = operation;
        let (context, mut index) = (Arc::into_raw(Arc::clone(held)), 0);
        let given = tnr_custom_operation {
            struct_size: size_of::<tnr_custom_operation>() as u64,
            name: held.name.as_ptr(),
            // The library refuses NULL.
            infer: held.raw.infer.and(INFER),
            compute: held.raw.compute.and(COMPUTE),
            user_context: context.cast_mut().cast(),
            release: Some(release),
            compute_on_device: held.raw.compute_on_device.and(COMPUTE_ON_DEVICE),
            derive: match held.derivative {
                Some(_) => DERIVE,
                None => held.raw.derive.and(DERIVE),
            },
            ..held.raw
        };
        // SAFETY: the handle is alive; the functions below meet the requirements of the call while
        // the context is a live `Held`; its name ends with a 0; the index is writable.
        let added =
            check(unsafe { sys::tnr_graph_add_custom(self.0.as_ptr(), &given, &mut index) });
        if added.is_err() {
            // SAFETY: from `into_raw` above, and the library has not taken it.
            drop(unsafe { Arc::from_raw(context) });
        }
        added.map(|()| index)
    }
}

/// Exceptions of C++ pass through these: the library catches them.
type Infer = unsafe extern "C-unwind" fn(
    *mut c_void,
    *const tnr_view,
    u32,
    *const i64,
    u32,
    *mut tnr_dtype,
    *mut u32,
    *mut i64,
) -> tnr_status;
type Compute = unsafe extern "C-unwind" fn(
    *mut c_void,
    *const tnr_view,
    u32,
    *const i64,
    u32,
    *const tnr_view_mut,
) -> tnr_status;
type ComputeOnDevice = unsafe extern "C-unwind" fn(
    *mut c_void,
    *mut tnr_context,
    *const tnr_view,
    u32,
    *const i64,
    u32,
    *const tnr_view_mut,
) -> tnr_status;
type Derive = unsafe extern "C-unwind" fn(
    *mut c_void,
    *mut tnr_graph,
    *const u32,
    u32,
    *const i64,
    u32,
    u32,
    u32,
    *mut u32,
) -> tnr_status;
// SAFETY: the two ABIs are the same, except for whether a function may unwind; an `Option` of a
// function has NULL for `None`.
const INFER: tnr_infer_fn = unsafe { mem::transmute::<Infer, tnr_infer_fn>(infer) };
// SAFETY: the two types differ only in whether the function may unwind; an `Option` of a function
// has NULL for `None`.
const COMPUTE: tnr_compute_fn = unsafe { mem::transmute::<Compute, tnr_compute_fn>(compute) };
// SAFETY: the two types differ only in whether the function may unwind; an `Option` of a function
// has NULL for `None`.
const COMPUTE_ON_DEVICE: tnr_device_compute_fn =
    unsafe { mem::transmute::<ComputeOnDevice, tnr_device_compute_fn>(compute_on_device) };
// SAFETY: the two types differ only in whether the function may unwind; an `Option` of a function
// has NULL for `None`.
const DERIVE: tnr_derive_fn = unsafe { mem::transmute::<Derive, tnr_derive_fn>(derive) };

/// # Safety
///
/// - `context` is from `add_custom`; the rest is as for `tnr_infer_fn`.
unsafe extern "C-unwind" fn infer(
    context: *mut c_void,
    operands: *const tnr_view,
    operand_count: u32,
    numbers: *const i64,
    number_count: u32,
    dtype: *mut tnr_dtype,
    rank: *mut u32,
    shape: *mut i64,
) -> tnr_status {
    // SAFETY: by this function's contract.
    let held = unsafe { &*context.cast::<Held>() };
    // SAFETY: the two types of the function differ only in whether it may unwind; by this
    // function's contract the arguments meet the requirements of the operation's function; the
    // context is the operation's own.
    unsafe {
        let infer = mem::transmute::<tnr_infer_fn, Option<Infer>>(held.raw.infer);
        let Some(infer) = infer else { return tnr_status::INTERNAL };
        let context = held.raw.user_context;
        infer(context, operands, operand_count, numbers, number_count, dtype, rank, shape)
    }
}

/// # Safety
///
/// - `context` is from `add_custom`; the rest is as for `tnr_compute_fn`.
unsafe extern "C-unwind" fn compute(
    context: *mut c_void,
    operands: *const tnr_view,
    operand_count: u32,
    numbers: *const i64,
    number_count: u32,
    out: *const tnr_view_mut,
) -> tnr_status {
    // SAFETY: by this function's contract.
    let held = unsafe { &*context.cast::<Held>() };
    // SAFETY: the two types of the function differ only in whether it may unwind; by this
    // function's contract the arguments meet the requirements of the operation's function; the
    // context is the operation's own.
    unsafe {
        let compute = mem::transmute::<tnr_compute_fn, Option<Compute>>(held.raw.compute);
        let Some(compute) = compute else { return tnr_status::INTERNAL };
        compute(held.raw.user_context, operands, operand_count, numbers, number_count, out)
    }
}

/// # Safety
///
/// - `context` is from `add_custom`; the rest is as for `tnr_device_compute_fn`.
unsafe extern "C-unwind" fn compute_on_device(
    context: *mut c_void,
    home: *mut tnr_context,
    operands: *const tnr_view,
    operand_count: u32,
    numbers: *const i64,
    number_count: u32,
    out: *const tnr_view_mut,
) -> tnr_status {
    // SAFETY: by this function's contract.
    let held = unsafe { &*context.cast::<Held>() };
    // SAFETY: the two types of the function differ only in whether it may unwind; by this
    // function's contract the arguments meet the requirements of the operation's function; the
    // context is the operation's own.
    unsafe {
        let of = held.raw.compute_on_device;
        let compute = mem::transmute::<tnr_device_compute_fn, Option<ComputeOnDevice>>(of);
        let Some(compute) = compute else { return tnr_status::INTERNAL };
        let context = held.raw.user_context;
        compute(context, home, operands, operand_count, numbers, number_count, out)
    }
}

/// # Safety
///
/// - `context` is from `add_custom`; the rest is as for `tnr_derive_fn`.
unsafe extern "C-unwind" fn derive(
    context: *mut c_void,
    graph: *mut tnr_graph,
    operands: *const u32,
    operand_count: u32,
    numbers: *const i64,
    number_count: u32,
    result: u32,
    gradient: u32,
    gradients: *mut u32,
) -> tnr_status {
    // SAFETY: by this function's contract.
    let held = unsafe { &*context.cast::<Held>() };
    if let Some(derivative) = &held.derivative {
        // SAFETY: by this function's contract there are as many operands and gradients.
        let (operands, gradients) = unsafe { derive::listed(operands, gradients, operand_count) };
        return derive::answered(derivative, graph, operands, [result, gradient], gradients);
    }
    // SAFETY: the two types of the function differ only in whether it may unwind; by this
    // function's contract the arguments meet the requirements of the operation's function; the
    // context is the operation's own.
    unsafe {
        let derive = mem::transmute::<tnr_derive_fn, Option<Derive>>(held.raw.derive);
        let Some(derive) = derive else { return tnr_status::INTERNAL };
        let context = held.raw.user_context;
        derive(
            context,
            graph,
            operands,
            operand_count,
            numbers,
            number_count,
            result,
            gradient,
            gradients,
        )
    }
}

/// # Safety
///
/// - `context` is from `add_custom`, and this is the one call with it.
unsafe extern "C" fn release(context: *mut c_void) {
    // SAFETY: by this function's contract.
    let held = unsafe { Arc::from_raw(context.cast_const().cast::<Held>()) };
    if held.library.is_some() {
        held.release();
    }
}
