//! Stand-ins for the C functions that make, hold and end blobs and contexts, copy and fill: Miri
//! runs Rust only, and it is the Rust side's pointers, owners and hooks that it is to judge. There
//! is one device, whose memory is the heap and whose streams are always done.
//!
//! A blob here is a slot in a list behind a lock, and so is a context. The true slot table's
//! behaviour under races and with stale tokens is tested in C++; here a misuse is a panic.

use core::ffi::{c_char, c_void};
use std::alloc::{Layout, alloc, dealloc};
use std::ptr;
use std::sync::{Arc, Mutex};

use crate::*;

struct Slot {
    data: *mut c_void,
    /// Allocated here, to be freed here, and in which context.
    layout: Option<(Layout, Option<Arc<Context>>)>,
    adopted: bool,
    release: tnr_release_fn,
    context: *mut c_void,
    handle_count: usize,
}

// SAFETY: the memory and the context are handed over as a whole, under the lock.
unsafe impl Send for Slot {}

/// A slot is never used twice: a stale token finds nothing.
static SLOTS: Mutex<Vec<Option<Slot>>> = Mutex::new(Vec::new());

static STATS: Mutex<tnr_stats> = Mutex::new(tnr_stats::ZERO);

fn insert(slot: Slot) -> *mut tnr_blob {
    STATS.lock().unwrap().blobs_made += 1;
    let mut slots = SLOTS.lock().unwrap();
    slots.push(Some(slot));
    ptr::without_provenance_mut(slots.len())
}

fn with<R>(blob: *const tnr_blob, look: impl FnOnce(&mut Option<Slot>) -> R) -> R {
    look(&mut SLOTS.lock().unwrap()[blob.addr() - 1])
}

fn layout_of(size_bytes: usize) -> Option<Layout> {
    Layout::from_size_align(size_bytes.max(1), 64).ok()
}

/// The options of a context, until its last handle is released.
struct Context(tnr_context_options);

// SAFETY: the hooks may be called from any thread.
unsafe impl Send for Context {}
// SAFETY: nothing changes the options after they are made; several threads may call the hooks at
// once, by the contracts of their types.
unsafe impl Sync for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some(release) = self.0.release {
            // SAFETY: called once, with no lock held, as the contract says.
            unsafe { release(self.0.user_context) };
        }
    }
}

static CONTEXTS: Mutex<Vec<Option<Arc<Context>>>> = Mutex::new(Vec::new());

#[unsafe(no_mangle)]
unsafe extern "C" fn tnr_context_create(options: *const tnr_context_options) -> *mut tnr_context {
    // SAFETY: readable by the contract.
    let options = unsafe { *options };
    if !(1..=1024).contains(&options.thread_count) {
        return ptr::null_mut();
    }
    let mut contexts = CONTEXTS.lock().unwrap();
    contexts.push(Some(Arc::new(Context(options))));
    ptr::without_provenance_mut(contexts.len())
}

#[unsafe(no_mangle)]
extern "C" fn tnr_context_release(context: *mut tnr_context) -> tnr_status {
    let ended = CONTEXTS.lock().unwrap()[context.addr() - 1].take();
    drop(ended.expect("a context that was not released"));
    tnr_status::OK
}

#[unsafe(no_mangle)]
extern "C" fn tnr_context_thread_count(context: *mut tnr_context) -> u32 {
    context_of(context).map_or(1, |context| context.0.thread_count)
}

fn context_of(context: *mut tnr_context) -> Option<Arc<Context>> {
    let index = context.addr().checked_sub(1)?;
    Some(CONTEXTS.lock().unwrap()[index].clone().expect("a context that was not released"))
}

/// The index of the one device.
const DEVICE: i32 = 0;

fn is_device(device: tnr_device) -> bool {
    device.kind == tnr_device_kind::CUDA && device.index == DEVICE
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tnr_device_count(_: tnr_device_kind, count: *mut u32) -> tnr_status {
    // SAFETY: writable by the contract.
    unsafe { *count = 1 };
    tnr_status::OK
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tnr_device_describe(
    device: tnr_device, info: *mut tnr_device_info,
) -> tnr_status {
    if !is_device(device) {
        return tnr_status::INVALID_ARGUMENT;
    }
    // SAFETY: writable by the contract.
    let info = unsafe { &mut *info };
    for (to, letter) in info.name.iter_mut().zip(b"Miri\0") {
        *to = *letter as c_char;
    }
    tnr_status::OK
}

#[unsafe(no_mangle)]
extern "C" fn tnr_context_wait(context: *mut tnr_context) -> tnr_status {
    context_of(context);
    tnr_status::OK
}

#[unsafe(no_mangle)]
extern "C" fn tnr_context_follow(context: *mut tnr_context, other: *mut tnr_context) -> tnr_status {
    (context_of(context), context_of(other));
    tnr_status::OK
}

/// Asks for threads, and needs none.
fn ask_for_threads(context: *mut tnr_context) {
    if let Some(context) = context_of(context) {
        for task in 1..u64::from(context.0.thread_count) {
            if let Some(spawn) = context.0.spawn {
                // SAFETY: the context is held, and so are its hooks.
                unsafe { spawn(context.0.user_context, task) };
            }
        }
    }
}

/// The task's call has returned already, or does its work itself.
#[unsafe(no_mangle)]
extern "C" fn tnr_task_run(_: u64) {}

#[unsafe(no_mangle)]
extern "C" fn tnr_blob_alloc(context: *mut tnr_context, size_bytes: usize) -> *mut tnr_blob {
    let Some(layout) = layout_of(size_bytes) else { return ptr::null_mut() };
    let context = context_of(context);
    let data = match context.as_ref().and_then(|context| Some((context.0.allocate?, context))) {
        // SAFETY: the context is held, and so are its hooks.
        Some((allocate, context)) => unsafe {
            allocate(context.0.user_context, layout.size(), layout.align())
        },
        // SAFETY: the layout is of one byte at least.
        None => unsafe { alloc(layout) }.cast(),
    };
    if data.is_null() {
        return ptr::null_mut();
    }
    STATS.lock().unwrap().allocated_bytes += size_bytes as u64;
    insert(Slot {
        data,
        layout: Some((layout, context)),
        adopted: false,
        release: None,
        context: ptr::null_mut(),
        handle_count: 1,
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tnr_blob_copy(
    context: *mut tnr_context, data: *const c_void, size_bytes: usize,
) -> *mut tnr_blob {
    let blob = tnr_blob_alloc(context, size_bytes);
    if blob.is_null() {
        return blob;
    }
    STATS.lock().unwrap().copied_bytes += size_bytes as u64;
    let to = with(blob, |slot| slot.as_ref().unwrap().data);
    // SAFETY: `data` is readable by the contract, and `to` was just allocated.
    unsafe { ptr::copy_nonoverlapping(data.cast::<u8>(), to.cast(), size_bytes) };
    blob
}

#[unsafe(no_mangle)]
extern "C" fn tnr_blob_adopt(
    data: *mut c_void, _: usize, release: tnr_release_fn, context: *mut c_void,
) -> *mut tnr_blob {
    insert(Slot { data, layout: None, adopted: true, release, context, handle_count: 1 })
}

#[unsafe(no_mangle)]
extern "C" fn tnr_blob_adopt_on(
    home: *mut tnr_context, data: *mut c_void, size_bytes: usize, release: tnr_release_fn,
    context: *mut c_void,
) -> *mut tnr_blob {
    context_of(home);
    tnr_blob_adopt(data, size_bytes, release, context)
}

#[unsafe(no_mangle)]
extern "C" fn tnr_blob_share(
    data: *const c_void, _: usize, release: tnr_release_fn, context: *mut c_void,
) -> *mut tnr_blob {
    let (data, adopted) = (data.cast_mut(), false);
    insert(Slot { data, layout: None, adopted, release, context, handle_count: 1 })
}

#[unsafe(no_mangle)]
extern "C" fn tnr_blob_retain(blob: *mut tnr_blob) -> *mut tnr_blob {
    with(blob, |slot| slot.as_mut().unwrap().handle_count += 1);
    blob
}

#[unsafe(no_mangle)]
extern "C" fn tnr_blob_release(blob: *mut tnr_blob) -> tnr_status {
    if blob.is_null() {
        return tnr_status::OK;
    }
    let ended = with(blob, |slot| {
        let held = slot.as_mut().unwrap();
        held.handle_count -= 1;
        if held.handle_count == 0 { slot.take() } else { None }
    });
    let Some(slot) = ended else { return tnr_status::OK };
    STATS.lock().unwrap().blobs_finished += 1;
    if let Some((layout, context)) = slot.layout {
        let options = context.as_ref().map(|context| &context.0);
        match options.and_then(|options| Some((options.deallocate?, options.user_context))) {
            // SAFETY: `tnr_blob_alloc` got it from these hooks with this layout.
            Some((deallocate, hooks)) => unsafe {
                deallocate(hooks, slot.data, layout.size(), layout.align())
            },
            // SAFETY: allocated by `tnr_blob_alloc` with this layout, and taken out of the list.
            None => unsafe { dealloc(slot.data.cast(), layout) },
        }
    }
    if let Some(release) = slot.release {
        // SAFETY: called once, with no lock held, as the contract says.
        unsafe { release(slot.context) };
    }
    tnr_status::OK
}

#[unsafe(no_mangle)]
extern "C" fn tnr_blob_reclaim(blob: *mut tnr_blob, context: *mut c_void) -> tnr_status {
    with(blob, |slot| {
        let held = slot.as_ref().unwrap();
        if !held.adopted || held.context != context {
            return tnr_status::INVALID_ARGUMENT;
        }
        if held.handle_count > 1 {
            return tnr_status::BUSY;
        }
        STATS.lock().unwrap().blobs_finished += 1;
        *slot = None;
        tnr_status::OK
    })
}

#[unsafe(no_mangle)]
extern "C" fn tnr_blob_data(blob: *const tnr_blob) -> *const c_void {
    with(blob, |slot| slot.as_ref().unwrap().data)
}

#[unsafe(no_mangle)]
extern "C" fn tnr_blob_data_mut(blob: *mut tnr_blob) -> *mut c_void {
    with(blob, |slot| slot.as_ref().unwrap().data)
}

/// The address of each element of a view, in row-major order of `shape`, to which it broadcasts.
fn elements(view: &tnr_view, shape: &[i64]) -> Vec<*mut u8> {
    let size_bytes = element_size_bytes(view.dtype) as isize;
    let missing = shape.len() - view.rank as usize;
    let mut addresses = vec![view.data.cast_mut().cast::<u8>()];
    for (axis, &extent) in shape.iter().enumerate() {
        let stride = match axis.checked_sub(missing) {
            Some(own) if view.shape[own] == extent => view.strides[own] as isize,
            _ => 0,
        };
        let step =
            |from: &*mut u8, index: i64| from.wrapping_offset(index as isize * stride * size_bytes);
        addresses =
            addresses.iter().flat_map(|from| (0..extent).map(move |i| step(from, i))).collect();
    }
    addresses
}

fn element_size_bytes(dtype: tnr_dtype) -> usize {
    let [_, bits, lanes, _] = dtype.0.to_le_bytes();
    usize::from(bits) / 8 * usize::from(lanes)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tnr_copy(
    context: *mut tnr_context, a: *const tnr_view, _attributes: *const tnr_extension,
    out: *const tnr_view_mut,
) -> tnr_status {
    ask_for_threads(context);
    // SAFETY: both point to checked views by the contract.
    let (a, out) = unsafe { (&*a, &(*out).view) };
    let shape = &out.shape[..out.rank as usize];
    let size_bytes = element_size_bytes(out.dtype);
    for (from, to) in elements(a, shape).into_iter().zip(elements(out, shape)) {
        // SAFETY: an element of each view; `out` may be exactly `a`, so the two may be one.
        unsafe { ptr::copy(from, to, size_bytes) };
    }
    tnr_status::OK
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tnr_fill(
    context: *mut tnr_context, value: *const tnr_scalar, _attributes: *const tnr_extension,
    out: *const tnr_view_mut,
) -> tnr_status {
    ask_for_threads(context);
    // SAFETY: both are readable by the contract.
    let (value, out) = unsafe { (&*value, &(*out).view) };
    let size_bytes = element_size_bytes(out.dtype);
    for to in elements(out, &out.shape[..out.rank as usize]) {
        // SAFETY: an element of the output; a scalar has 16 bytes, which no element exceeds.
        unsafe { ptr::copy_nonoverlapping(value.bytes.as_ptr(), to, size_bytes) };
    }
    tnr_status::OK
}

/// Reads all that the nodes name, and computes nothing: each byte of the output becomes the count of
/// nodes.
#[unsafe(no_mangle)]
unsafe extern "C" fn tnr_evaluate(
    context: *mut tnr_context, expression: *const tnr_expression,
    _attributes: *const tnr_extension, out: *const tnr_view_mut,
) -> tnr_status {
    ask_for_threads(context);
    // SAFETY: `expression` and `out` point to structs that are readable during the call, by the
    // contract.
    let (expression, out) = unsafe { (&*expression, &(*out).view) };
    let nodes = || 0..expression.node_count as usize;
    for nth in nodes() {
        // SAFETY: `nodes` has `node_count` readable nodes, by the contract; `nth` is less than
        // that.
        let node = unsafe { &*expression.nodes.add(nth) };
        for operand in node.operands {
            if operand == TNR_OPERAND_NONE {
                continue;
            }
            let index = (operand & !TNR_OPERAND_OUTPUT) as usize;
            match operand & TNR_OPERAND_OUTPUT {
                TNR_OPERAND_OUTPUT => read_view(out),
                TNR_OPERAND_SCALAR => {
                    assert!(index < expression.scalar_count as usize);
                    // SAFETY: `scalars` has `scalar_count` readable scalars, by the contract;
                    // `index` is less than that, as asserted.
                    let scalar = unsafe { *expression.scalars.add(index) };
                    assert!(element_size_bytes(scalar.dtype) <= 8);
                }
                TNR_OPERAND_VIEW => {
                    assert!(index < expression.view_count as usize);
                    // SAFETY: `views` has `view_count` readable pointers, by the contract; `index`
                    // is less than that, as asserted.
                    read_view(unsafe { *expression.views.add(index) });
                }
                _ => assert!(index < nth),
            }
        }
        let Some(index) = node.attributes.checked_sub(1) else { continue };
        assert!(index < expression.attribute_count);
        // SAFETY: `attributes` has `attribute_count` pointers, by the contract, and `index` is less
        // than that, as asserted; the pointer of a node is to the struct that its kind takes, and
        // only normalizations and reductions have one.
        unsafe {
            let given = *expression.attributes.add(index as usize);
            if node.code & 0xffff_0000 == TNR_NODE_NORMALIZE {
                let given = *given.cast::<tnr_normalize_attributes>();
                [given.weight, given.bias].into_iter().filter(|v| !v.is_null()).for_each(read_view);
            } else {
                let given = *given.cast::<tnr_reduce_attributes>();
                assert!(given.struct_size > 0 && given.reserved == 0);
            }
        }
    }
    write_everywhere(expression.node_count as u8, out);
    tnr_status::OK
}

/// Reads every element of a view that may be read.
fn read_view(view: *const tnr_view) {
    // SAFETY: readable by the contract of the caller.
    let view = unsafe { &*view };
    let size_bytes = element_size_bytes(view.dtype);
    for element in elements(view, &view.shape[..view.rank as usize]) {
        // SAFETY: an element of a view that may be read.
        unsafe { core::slice::from_raw_parts(element, size_bytes) }.iter().max();
    }
}

/// Gives each byte of an output this value.
fn write_everywhere(value: u8, out: &tnr_view) {
    let size_bytes = element_size_bytes(out.dtype);
    for to in elements(out, &out.shape[..out.rank as usize]) {
        // SAFETY: an element of the output.
        unsafe { ptr::write_bytes(to, value, size_bytes) };
    }
}

/// The numbers of a part.
unsafe fn indices(part: &tnr_view) -> Vec<i64> {
    let len = part.shape[0] as usize;
    if len == 0 {
        return Vec::new();
    }
    // SAFETY: the part is readable by the contract, and has `len` elements of its dtype.
    unsafe {
        match part.dtype {
            tnr_dtype::I32 => {
                let numbers = core::slice::from_raw_parts(part.data.cast::<i32>(), len);
                numbers.iter().map(|&number| number.into()).collect()
            }
            _ => core::slice::from_raw_parts(part.data.cast::<i64>(), len).to_vec(),
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn tenure_private_sparse_voucher() -> u64 {
    0xff << 56 | 1
}

/// Offsets, indices and flags; the lengths are right, for slices that the Rust side has counted.
#[unsafe(no_mangle)]
unsafe extern "C" fn tnr_sparse_check(view: *const tnr_sparse_view) -> tnr_status {
    // SAFETY: readable by the contract, and so are its parts.
    let (view, major, minor) =
        unsafe { (&*view, indices(&(*view).major), indices(&(*view).minor)) };
    if view.batch_offsets.rank == 0 {
        return one_is_right(view, &major, &minor);
    }
    // SAFETY: `batch_offsets` is a part of the view and not absent, because its rank is not 0; its
    // elements are readable, by the contract.
    let begins = unsafe { indices(&view.batch_offsets) };
    if !begins.is_sorted() || begins.iter().any(|&begin| begin < 0 || begin > minor.len() as i64) {
        return tnr_status::INVALID_ARGUMENT;
    }
    let offsets = major.len() / (begins.len() - 1).max(1);
    for (place, range) in begins.windows(2).enumerate() {
        let range = range[0] as usize..range[1] as usize;
        let own = match view.format {
            tnr_sparse_format::COO => range.clone(),
            _ => place * offsets..(place + 1) * offsets,
        };
        let status = one_is_right(view, &major[own], &minor[range]);
        if status != tnr_status::OK {
            return status;
        }
    }
    tnr_status::OK
}

/// The status of one matrix.
fn one_is_right(view: &tnr_sparse_view, major: &[i64], minor: &[i64]) -> tnr_status {
    let is_coo = view.format == tnr_sparse_format::COO;
    let (major_bound, minor_bound) = match view.format {
        tnr_sparse_format::CSC => (0, view.rows),
        _ => (view.rows, view.cols / view.block_cols),
    };
    let len = minor.len() as i64;
    let is_right = if is_coo {
        major.iter().all(|row| (0..major_bound).contains(row))
    } else {
        major.iter().all(|offset| (0..=len).contains(offset)) && major.is_sorted()
    };
    let reached = if is_coo { 0..len } else { major[0]..*major.last().unwrap() };
    if !is_right || !reached.clone().all(|k| (0..minor_bound).contains(&minor[k as usize])) {
        return tnr_status::INVALID_ARGUMENT;
    }
    let row_of = |k: i64| match is_coo {
        true => major[k as usize],
        false => major.iter().take_while(|&&offset| offset <= k).count() as i64,
    };
    let entries: Vec<_> = reached.map(|k| (row_of(k), minor[k as usize])).collect();
    let mut sorted = entries.clone();
    sorted.sort();
    let has_twins = sorted.windows(2).any(|pair| pair[0] == pair[1]);
    if view.flags & TNR_SPARSE_SORTED != 0 && sorted != entries
        || view.flags & TNR_SPARSE_UNIQUE != 0 && has_twins
    {
        return tnr_status::INVALID_ARGUMENT;
    }
    tnr_status::OK
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tnr_stats_read(stats: *mut tnr_stats) -> tnr_status {
    // SAFETY: writable by the contract.
    unsafe { *stats = *STATS.lock().unwrap() };
    tnr_status::OK
}

/// Nothing is held back here.
#[unsafe(no_mangle)]
extern "C" fn tnr_memory_trim() -> usize {
    0
}

#[unsafe(no_mangle)]
extern "C" fn tnr_abi_version() -> u32 {
    TNR_ABI_MAJOR << 16 | TNR_ABI_MINOR
}

#[unsafe(no_mangle)]
extern "C" fn tnr_build_info() -> *const c_char {
    c"Miri".as_ptr()
}

/// Nothing here fails but an allocation.
#[unsafe(no_mangle)]
extern "C" fn tnr_last_error() -> *const tnr_error {
    const FAILED: tnr_error =
        tnr_error { status: tnr_status::OUT_OF_MEMORY, reserved: 0, message: [0; 504] };
    &FAILED
}
