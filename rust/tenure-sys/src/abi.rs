//! The C ABI of Tenure: every type, constant and function, each with its contract.
//!
//! This file is the only source of the ABI. `rust/headergen` writes the headers in
//! `capi/include/tenure`, `capi/tenure.map` and the layouts from it. `rust/headergen/src/tags.rs`
//! defines the tags that end a comment, and their defaults.
//!
//! A line `// ==== NAME.h: title ====` begins a header, and `// ==== title ====` a section of it.
//! The overviews of the headers follow here.
//!
//! # tenure.h
//!
//! Tenure computes on memory that the caller already has. Five kinds of objects cross this
//! boundary:
//!
//! - A **view** (`tnr_view`, `tnr_sparse_view`) is a plain struct: a pointer, a shape and strides.
//!   The caller may pass it to any number of calls; the library keeps no reference to it.
//! - A **blob** (`tnr_blob`) is a handle of memory. It records who frees the memory, who may write
//!   it, and when that ends. A view that names its blob as `owner` keeps the blob alive during a
//!   call.
//! - A **matrix** (`tnr_sparse`, `tnr_packed`, `tnr_factor`) is a handle of arrays that were
//!   checked once.
//! - A **program** (`tnr_program`) is a graph of operations. A `tnr_bound` is a program bound to
//!   the layouts of its inputs and outputs: binding checks them once, so that a run does not.
//! - A **context** (`tnr_context`) selects threads, an allocator, an engine and a device. NULL
//!   selects the calling thread and the library's memory.
//!
//! **Handles** are opaque tokens: the library looks them up and never dereferences them. A call
//! that gets an invalid, released or wrong-kind handle returns STALE_HANDLE. `_retain` returns the
//! same pointer as one more handle, up to 16,777,215 (BUSY), and a call that uses a matrix or a
//! program counts as one handle. Release each handle once. The last release ends the object when no
//! call uses it any more; a release of NULL does nothing, and its status may be ignored.
//!
//! **Errors** are statuses. A function that returns a handle returns NULL on failure.
//! `tnr_last_error` returns the message of the thread's last error: the argument, its value and the
//! bound. A call that fails writes nothing, unless its comment says otherwise. Comments do not
//! repeat errors that many calls have: INVALID_ARGUMENT for a number that no constant of its type
//! names, for unknown flags, and for an index that does not exist; OUT_OF_MEMORY wherever memory is
//! needed, STALE_HANDLE for handles, STALE_VIEW and BUSY for the owners of views, DEVICE_ERROR with
//! a device.
//!
//! **Arguments** of operations have one order: context, operation, inputs with their axes and
//! numbers, attributes, outputs. Required values are arguments; optional ones, and those that only
//! some operations of a function take, are attributes. `context` and `attributes` may be NULL, an
//! array where its count is 0, and any other pointer only where its comment says `(nullable)`. A
//! pointer that is not const, to a number or a struct, is written; the `struct_size` of such a
//! struct is read first. The library keeps no pointer beyond the call, unless the comment says
//! otherwise. Shapes are written as 8 extents, those beyond the rank 0. Strings end with a 0; those
//! that are returned live as long as the process.
//!
//! **Threads**: any thread may call any function. While a call runs, no other call may use the
//! memory of its `out`, and while a call changes a `tnr_graph`, no other call may use that graph.
//! Comments name further exceptions (`@threads`). Results of the library's own kernels have the
//! same bits for any number of threads. Arithmetic, casts, movement and reductions also have the
//! same bits under every instruction set; functions and products differ within their documented
//! bounds.
//!
//! **Growth**: set a struct that begins with `struct_size` to zeros, then set `struct_size` to its
//! `sizeof` and the fields that apply. Later versions append fields in which 0 keeps the present
//! behaviour. The library writes no byte beyond `struct_size`. A `struct_size` below that of the
//! first version or above 4096, and bytes that are not 0 beyond the known fields of a struct that
//! is only read, are INVALID_ARGUMENT. Fields named `reserved` are 0. Numbers are never reused.
//! `TNR_WANT_MINOR` hides the declarations of newer minor versions.
//!
//! program.h and device.h are experimental: a minor version may change their functions. The major
//! version changes when anything else breaks.
//!
//! # memory.h
//!
//! Versions, errors, element types, contexts, and memory with an owner.
//!
//! ```c
//! // 1 KiB that the library allocates and frees.
//! tnr_blob *blob = tnr_blob_alloc(NULL, 1024);
//! if (blob == NULL) {
//!   fprintf(stderr, "%s\n", tnr_last_error()->message);
//!   return;
//! }
//! float *values = (float *)tnr_blob_data_mut(blob);
//! if (values != NULL) values[0] = 1.0f;
//! tnr_blob_release(blob);
//! ```
//!
//! # view.h
//!
//! Views: shapes over memory. A view is made in one call and changed by arithmetic on its shape and
//! strides; no function here copies an element.
//!
//! ```c
//! // Two rows and three columns of the caller's array, and its transpose.
//! float data[6] = {1, 2, 3, 4, 5, 6};
//! const int64_t shape[2] = {2, 3};
//! tnr_view rows, columns;
//! if (tnr_view_lend(data, sizeof data, 0, TNR_DTYPE_F32, 2, shape, NULL, &rows) != TNR_STATUS_OK ||
//!     tnr_view_transpose(&rows, 0, 1, &columns) != TNR_STATUS_OK) {
//!   fprintf(stderr, "%s\n", tnr_last_error()->message);
//! }
//! ```
//!
//! # dense.h
//!
//! Operations on dense views. Inputs broadcast to the shape of the output as in NumPy; outputs
//! never broadcast.
//!
//! Every operation returns INVALID_ARGUMENT for a malformed view, an axis beyond the rank, or a
//! shape or dtype that does not fit, UNSUPPORTED for a dtype or device that it does not take, and
//! ALIASED where an output shares bytes with another operand. The comments name further errors, and
//! inputs that `out` may be exactly. Indices are of i32 or i64.
//!
//! ```c
//! // out = a + b
//! float a[3] = {1, 2, 3}, b[3] = {4, 5, 6}, sums[3];
//! const int64_t shape[1] = {3};
//! tnr_view left, right;
//! tnr_view_mut out;
//! if (tnr_view_lend(a, sizeof a, 0, TNR_DTYPE_F32, 1, shape, NULL, &left) != TNR_STATUS_OK ||
//!     tnr_view_lend(b, sizeof b, 0, TNR_DTYPE_F32, 1, shape, NULL, &right) != TNR_STATUS_OK ||
//!     tnr_view_lend_mut(sums, sizeof sums, 0, TNR_DTYPE_F32, 1, shape, NULL, &out) !=
//!         TNR_STATUS_OK ||
//!     tnr_binary(NULL, TNR_BINARY_OP_ADD, &left, &right, NULL, &out) != TNR_STATUS_OK) {
//!   fprintf(stderr, "%s\n", tnr_last_error()->message);
//! }
//! ```
//!
//! # sparse.h
//!
//! Sparse matrices: lent by their arrays or held by a handle. No function writes indices of the
//! caller. Errors are those of dense.h and those that `tnr_sparse_check` finds, except in flags,
//! which are believed: a wrong flag never becomes an address. Offsets and indices are checked
//! before they are used. A call that writes to memory of the caller may find one that is out of
//! range after it has written a part of the output. The checks of a `tnr_sparse` are not repeated.
//! A result with more entries or a longer extent than its indices can count is INVALID_ARGUMENT:
//! use i64 then.
//!
//! ```c
//! // A matrix of 2 rows and 3 columns, as the three arrays of SciPy's CSR, and its largest column sum.
//! int32_t offsets[3] = {0, 2, 3}, columns[3] = {0, 2, 1};
//! double values[3] = {1, 2, 3}, norm;
//! tnr_sparse_view matrix = {sizeof matrix};
//! if (tnr_sparse_lend(TNR_SPARSE_FORMAT_CSR, 2, 3, TNR_DTYPE_I32, offsets, sizeof offsets, columns,
//!                     sizeof columns, TNR_DTYPE_F64, values, sizeof values,
//!                     &matrix) != TNR_STATUS_OK ||
//!     tnr_sparse_norm(NULL, TNR_SPARSE_NORM_KIND_ONE, &matrix, NULL, &norm) != TNR_STATUS_OK) {
//!   fprintf(stderr, "%s\n", tnr_last_error()->message);
//! }
//! ```
//!
//! # program.h
//!
//! Expressions, which are evaluated in one pass, and programs: graphs of operations that are
//! checked, fused and planned once and run often. Experimental.
//!
//! ```c
//! // relu(x) of rows of 4 numbers, as many rows as a run has, up to 1000.
//! tnr_graph *graph = tnr_graph_create();
//! int64_t rows;
//! uint32_t x, y;
//! tnr_graph_node relu = {sizeof relu, TNR_NODE_UNARY + TNR_UNARY_OP_RELU};
//! relu.operands = &x;
//! relu.operand_count = 1;
//! tnr_program *program = NULL;
//! if (tnr_graph_add_extent(graph, "rows", 1000, &rows) == TNR_STATUS_OK) {
//!   const int64_t shape[2] = {rows, 4};
//!   if (tnr_graph_add_input(graph, TNR_DTYPE_F32, 2, shape, &x) == TNR_STATUS_OK &&
//!       tnr_graph_add_node(graph, &relu, &y) == TNR_STATUS_OK &&
//!       tnr_graph_add_output(graph, y, TNR_OPERAND_NONE) == TNR_STATUS_OK) {
//!     program = tnr_program_create(NULL, graph, NULL);
//!   }
//! }
//! tnr_graph_release(graph);
//! tnr_program_release(program);
//! ```
//!
//! # device.h
//!
//! GPUs. A view of a device's memory is valid in calls through a context with that device, else
//! INVALID_ARGUMENT. Such calls enqueue work and return at once. Work that a result depends on runs
//! first, whichever context enqueued it. An operation that the device does not support is
//! UNSUPPORTED. Experimental.
//!
//! ```c
//! // A context on the first GPU, and 1 KiB of its memory.
//! tnr_context_options options = {sizeof options, 1};
//! options.device.kind = TNR_DEVICE_KIND_CUDA;
//! tnr_context *context = tnr_context_create(&options);
//! if (context != NULL) {
//!   tnr_blob *blob = tnr_blob_alloc(context, 1024);
//!   tnr_blob_release(blob);
//!   tnr_context_release(context);
//! }
//! ```

// `struct_size` and `reserved` mean the same in every struct; headergen requires the documentation
// of every other field.
#![allow(missing_docs)]

use core::ffi::{c_char, c_void};

// ==== memory.h: version ====
// The ABI that a program was compiled for, and the library that it found.

/// Major version of the ABI and the library's soname. It changes when a function that is not
/// experimental breaks.
pub const TNR_ABI_MAJOR: u32 = 0;

/// Minor version of the ABI. It rises with each addition.
pub const TNR_ABI_MINOR: u32 = 1;

// ==== errors ====
// The status of a call, and the calling thread's last error.

/// Result of a call; treat an unknown number as an error.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_status(pub i32);

impl tnr_status {
    /// The call succeeded.
    pub const OK: tnr_status = tnr_status(0);
    /// An argument is wrong by itself or together with another one.
    pub const INVALID_ARGUMENT: tnr_status = tnr_status(1);
    /// Memory could not be had; nothing changed.
    pub const OUT_OF_MEMORY: tnr_status = tnr_status(2);
    /// The arguments are right, but this build has no such operation for this dtype or device.
    pub const UNSUPPORTED: tnr_status = tnr_status(3);
    /// The output overlaps an input, or two elements of the output share a byte, and the operation
    /// does not support that.
    pub const ALIASED: tnr_status = tnr_status(4);
    /// A view's owner has been released, or its borrow has ended.
    pub const STALE_VIEW: tnr_status = tnr_status(5);
    /// A handle is garbage, of another kind, or was released.
    pub const STALE_HANDLE: tnr_status = tnr_status(6);
    /// The memory is in use at this moment; call again.
    pub const BUSY: tnr_status = tnr_status(7);
    /// Another handle still refers to the borrowed memory. Keep the memory, release the other
    /// handle and repeat the call.
    pub const BORROW_ESCAPED: tnr_status = tnr_status(8);
    /// A device failed.
    pub const DEVICE_ERROR: tnr_status = tnr_status(9);
    /// The library broke a promise of its own: please report it.
    pub const INTERNAL: tnr_status = tnr_status(10);
}

/// The calling thread's last failure, as `tnr_last_error` shows it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tnr_error {
    /// Status of the failed call; `TNR_STATUS_OK` when none has failed on this thread.
    pub status: tnr_status,
    pub reserved: u32,
    /// The error, with the value and the bound: UTF-8, NUL-terminated, truncated if it is longer.
    pub message: [c_char; 504],
}

// ==== elements ====
// Element types, numbers by value, and devices.

/// An element type. The bytes, lowest first, are DLPack's code, bits and (two bytes) lanes.
///
/// A view may carry any whole-byte type that DLPack can name; operations return
/// `TNR_STATUS_UNSUPPORTED` for a dtype that is not in this list.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_dtype(pub u32);

impl tnr_dtype {
    /// IEEE binary64.
    pub const F64: tnr_dtype = tnr_dtype(0x0001_4002);
    /// IEEE binary32.
    pub const F32: tnr_dtype = tnr_dtype(0x0001_2002);
    /// IEEE binary16.
    pub const F16: tnr_dtype = tnr_dtype(0x0001_1002);
    /// bfloat16: the upper half of a binary32.
    pub const BF16: tnr_dtype = tnr_dtype(0x0001_1004);
    /// Signed, 8 bits.
    pub const I8: tnr_dtype = tnr_dtype(0x0001_0800);
    /// Signed, 16 bits.
    pub const I16: tnr_dtype = tnr_dtype(0x0001_1000);
    /// Signed, 32 bits.
    pub const I32: tnr_dtype = tnr_dtype(0x0001_2000);
    /// Signed, 64 bits.
    pub const I64: tnr_dtype = tnr_dtype(0x0001_4000);
    /// Unsigned, 8 bits.
    pub const U8: tnr_dtype = tnr_dtype(0x0001_0801);
    /// Unsigned, 16 bits.
    pub const U16: tnr_dtype = tnr_dtype(0x0001_1001);
    /// Unsigned, 32 bits.
    pub const U32: tnr_dtype = tnr_dtype(0x0001_2001);
    /// Unsigned, 64 bits.
    pub const U64: tnr_dtype = tnr_dtype(0x0001_4001);
    /// A truth value in a byte: any non-zero is true, and every operation writes 0 or 1. Lending,
    /// adopting and copying memory do not change the bytes.
    pub const BOOL8: tnr_dtype = tnr_dtype(0x0001_0806);
    /// Complex of two binary32, 8 bytes.
    pub const C64: tnr_dtype = tnr_dtype(0x0001_4005);
    /// Complex of two binary64, 16 bytes.
    pub const C128: tnr_dtype = tnr_dtype(0x0001_8005);
}

/// One element by value. Its value must be representable in the dtype of the operand with which it
/// is combined, except that floats are rounded to a narrower one.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_scalar {
    /// How to read `bytes`.
    pub dtype: tnr_dtype,
    pub reserved: u32,
    /// The value in native byte order, from byte 0; the rest is ignored.
    pub bytes: [u8; 16],
}

/// A kind of device, numbered as DLPack numbers them.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_device_kind(pub i32);

impl tnr_device_kind {
    /// Memory that the CPU reads and writes.
    pub const CPU: tnr_device_kind = tnr_device_kind(1);
    /// Memory of a GPU that CUDA's driver knows.
    pub const CUDA: tnr_device_kind = tnr_device_kind(2);
}

/// Where bytes are.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_device {
    /// Which kind of device.
    pub kind: tnr_device_kind,
    /// Which one of its kind, from 0; 0 for the CPU.
    pub index: i32,
}

// ==== contexts ====
// Whose threads and whose memory a call uses. NULL is the default. Callbacks run with no lock held;
// they may call the library but must not unwind.

/// Threads, allocator, engine and device of a call.
#[cfg_attr(all(), repr(C))]
pub struct tnr_context {
    _opaque: [u8; 0],
}

/// Gives adopted or shared memory back, or the resources of a context's callbacks. Runs exactly
/// once, on any thread, also for empty memory.
pub type tnr_release_fn = Option<unsafe extern "C" fn(release_context: *mut c_void)>;

/// Asks for one more thread to work at a call: `tnr_task_run(task)` on another thread, at once,
/// later, never or twice, or on this one before it returns: the result of the call is the same.
/// Runs on a thread that calls with the context.
pub type tnr_spawn_fn = Option<unsafe extern "C" fn(user_context: *mut c_void, task: u64)>;

/// Memory for a blob: `size_bytes` bytes, at least 1, at a multiple of `alignment`, a power of two;
/// NULL when it has none. Runs on the thread that asks for the blob; several threads may ask at
/// once.
pub type tnr_allocate_fn = Option<
    unsafe extern "C" fn(
        user_context: *mut c_void,
        size_bytes: usize,
        alignment: usize,
    ) -> *mut c_void,
>;

/// Takes back memory from the context's `tnr_allocate_fn`, with the size and alignment of its
/// request. Runs once for each allocation, on any thread.
pub type tnr_deallocate_fn = Option<
    unsafe extern "C" fn(
        user_context: *mut c_void,
        data: *mut c_void,
        size_bytes: usize,
        alignment: usize,
    ),
>;

/// The implementation that computes products of dense matrices and convolutions. The promises of
/// these operations about bits and special values hold for the library's own kernels.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_engine(pub i32);

impl tnr_engine {
    /// The engine that the environment variable `TENURE_ENGINE` names (`own`, `onednn`, `auto` or
    /// `vendor`) when it is first needed; OWN without that variable.
    pub const ENVIRONMENT: tnr_engine = tnr_engine(0);
    /// The library's own kernels, which take every shape, stride and dtype.
    pub const OWN: tnr_engine = tnr_engine(1);
    /// oneDNN for operands that it takes in their layout in memory, and the library's own kernels
    /// for all others.
    pub const ONEDNN: tnr_engine = tnr_engine(2);
    /// The engine that a fixed table names for the dtype and the shape of a call, among those that
    /// are in this build.
    pub const AUTO: tnr_engine = tnr_engine(3);
    /// Only for a context with a GPU: cuBLASLt and cuDNN for operands that they take in their
    /// layout in memory, and the library's own kernels for all others. Each library is opened when
    /// it is first needed; products or convolutions are UNSUPPORTED if it cannot be opened.
    pub const VENDOR: tnr_engine = tnr_engine(4);
}

/// Options of a context.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_context_options {
    pub struct_size: u64,
    /// Threads that work at one call, the caller among them: 1 to 1024.
    pub thread_count: u32,
    pub reserved: u32,
    /// The caller's threads; NULL: `thread_count` - 1 threads of the context's own.
    pub spawn: tnr_spawn_fn,
    /// Where blobs get their memory; NULL, and then `deallocate` too: from the library.
    pub allocate: tnr_allocate_fn,
    /// Where they give it back.
    pub deallocate: tnr_deallocate_fn,
    /// Passed to the callbacks.
    pub user_context: *mut c_void,
    /// Called once with `user_context`, after the last call of the other callbacks; NULL: no
    /// notification.
    pub release: tnr_release_fn,
    /// The engine of dense products and convolutions.
    pub engine: tnr_engine,
    pub reserved_end: u32,
    /// The device of the context's blobs, and of the views that it computes on. Kinds 0 and CPU
    /// both mean the CPU. With a GPU, calls enqueue work on `stream` and return before it is done;
    /// calls on views of the CPU still run on the CPU.
    pub device: tnr_device,
    /// The stream of the device as a number: a `CUstream` of the caller's, which outlives the
    /// context and all blobs that it made, or 1 for CUDA's legacy default stream. 0: a stream of
    /// the context's own. 2, another stream on each thread, is refused.
    pub stream: u64,
}

// ==== blobs ====
// Memory with a tenure: allocated, copied, adopted, shared or borrowed. `release(release_context)`
// gives adopted or shared memory back; NULL: no notification. A call that fails takes nothing and
// calls nothing. `data` may be NULL only for 0 bytes; else that is INVALID_ARGUMENT, and so are
// more bytes than memory can have. A blob in the memory of a context's device or allocator keeps
// the context.

/// How a blob holds its memory: who frees it and who may write it.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_tenure(pub i32);

impl tnr_tenure {
    /// The library allocated it and frees it; the holder may write.
    pub const ALLOCATED: tnr_tenure = tnr_tenure(1);
    /// The library allocated it, filled it with a copy and frees it; the holder may write.
    pub const COPIED: tnr_tenure = tnr_tenure(2);
    /// The caller's memory, freed by the caller's callback; the holder may write.
    pub const ADOPTED: tnr_tenure = tnr_tenure(3);
    /// The caller's memory, freed by the caller's callback; read-only for all while the blob lives.
    pub const SHARED: tnr_tenure = tnr_tenure(4);
    /// The caller's memory, freed by the caller after `tnr_blob_end_borrow`; read-only for all
    /// until then.
    pub const BORROWED: tnr_tenure = tnr_tenure(5);
    /// The caller's memory, freed by the caller after `tnr_blob_end_borrow`; only the borrower
    /// writes.
    pub const BORROWED_MUT: tnr_tenure = tnr_tenure(6);
}

/// Memory with a tenure.
#[cfg_attr(all(), repr(C))]
pub struct tnr_blob {
    _opaque: [u8; 0],
}

/// State of a blob at the time of the call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_blob_info {
    pub struct_size: u64,
    /// Lowest byte; NULL only when `size_bytes` is 0.
    pub data: *const c_void,
    /// Bytes held.
    pub size_bytes: u64,
    /// Where the bytes are.
    pub device: tnr_device,
    /// Who frees and who may write.
    pub tenure: tnr_tenure,
    /// Handles not yet released.
    pub holder_count: u32,
    /// Calls that are using the memory.
    pub pin_count: u32,
    pub reserved: u32,
}

// ==== statistics ====
// Operations and bytes, by kind and in all.

/// Process totals since start, ended threads included.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_stats {
    pub struct_size: u64,
    /// Bytes allocated for blobs.
    pub allocated_bytes: u64,
    /// Bytes duplicated from memory that already held them. Results of operations are no copies.
    pub copied_bytes: u64,
    /// Blobs made.
    pub blobs_made: u64,
    /// Blobs finished.
    pub blobs_finished: u64,
    /// Bytes of ended blobs that the library holds back to use them again; a current value, not a
    /// total. `tnr_memory_trim` gives them back.
    pub cached_bytes: u64,
    /// Operations that succeeded.
    pub calls: u64,
    /// Bytes of the elements that they read, as `tnr_operation_stats` counts them.
    pub read_bytes: u64,
    /// Bytes of the elements that they wrote.
    pub written_bytes: u64,
    /// Kernels that were enqueued on devices.
    pub device_launches: u64,
    /// Times that a thread waited for a device.
    pub device_waits: u64,
}

/// A kind of operation, as `tnr_operation_stats_read` counts them: one for each function that
/// computes, or for a few of one kind, whatever the operands are. Some are made of others, which
/// count too: `tnr_sparse_unary` is a UNARY of the values and nothing else.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_operation(pub i32);

// The constants of the table counters.rs.

/// Totals of one kind of operation since the process started, ended threads included. Calls that
/// fail count nowhere.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_operation_stats {
    pub struct_size: u64,
    /// Calls that succeeded.
    pub calls: u64,
    /// Bytes of the elements of the inputs; of a sparse one those of its offsets, indices and
    /// values, as far as they are of its rows. An element that is repeated, by broadcasting or by a
    /// stride of 0, counts once; an element of a `tnr_scalar` not at all; and nothing counts where
    /// there was nothing to do: empty outputs, copies of a view to itself.
    pub read_bytes: u64,
    /// Bytes of the elements of the outputs; of a sparse one all three parts, where it is new.
    pub written_bytes: u64,
    /// Time from start to end of the calls that began while `tnr_stats_time_start` was in force, by
    /// the clock of their callers: calls at the same moment add up, the threads within one do not.
    pub nanoseconds: u64,
}

// ==== view.h: views ====
// A shape over memory, lent for a call. Every function may write its result over its input.
// `offset_bytes` is where index 0 on every axis lies, from the lowest byte. `strides` are in
// elements; NULL (allowed) is row-major. A rank over 8, a negative extent, an `axis` beyond the
// rank, and an element that is misaligned or outside of the memory are INVALID_ARGUMENT. A dtype
// without a whole number of bytes is UNSUPPORTED.

/// Most axes a view can have.
pub const TNR_MAX_RANK: usize = 8;

/// Most elements a view can have, 2^59 - 1: the bytes of this number of elements of 16 bytes fit an
/// i64. The bound also applies to a view that repeats elements by strides of 0.
pub const TNR_MAX_ELEMENTS: i64 = 0x07ff_ffff_ffff_ffff;

/// Flag of a view used as an output: every other operand of the call either is exactly this view
/// (data, dtype, shape, strides) or shares no byte with it. The caller's promise; unread on inputs.
pub const TNR_VIEW_EXCLUSIVE: u32 = 1;

/// A shape over memory: a plain value, lent to the library for one call and never kept.
///
/// 192 bytes without padding, frozen. Strides count elements and may have any sign; `data` points
/// at index 0 on every axis, so with negative strides it is above `base`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_view {
    /// Element 0 on every axis; equals `base` when the view is empty; NULL only when `size_bytes`
    /// is 0.
    pub data: *const c_void,
    /// Lowest byte lent.
    pub base: *const c_void,
    /// Bytes lent from `base`: bounds the check, licenses no byte that is not an element.
    pub size_bytes: u64,
    /// Token of the blob that holds the memory; 0: the caller vouches for it.
    pub owner: u64,
    /// Element type.
    pub dtype: tnr_dtype,
    /// Number of axes, 0 to 8.
    pub rank: u32,
    /// Where the bytes are.
    pub device: tnr_device,
    /// `TNR_VIEW_EXCLUSIVE` or 0; unknown bits are refused.
    pub flags: u32,
    /// 0 to 7 for dtypes under 8 bits, else 0.
    pub bit_offset: u32,
    /// 0.
    pub reserved: u64,
    /// Extent of each axis; entries beyond `rank` are ignored. Their product is at most
    /// `TNR_MAX_ELEMENTS`.
    pub shape: [i64; TNR_MAX_RANK],
    /// Elements from one index to the next; ignored on axes of extent 0 or 1; 0 only in views that
    /// are not written.
    pub strides: [i64; TNR_MAX_RANK],
}

/// A view whose bytes the callee may write. An in-place call passes `&out->view` as the input too.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_view_mut {
    /// The shape and the memory.
    pub view: tnr_view,
}

// ==== exchange ====
// Tensors of other libraries, by DLPack and by CUDA's array interface. A function that imports
// takes the tensor exactly when it succeeds; otherwise it is still the caller's.

/// DLPack's managed tensor as dlpack.h declares it since version 1.0: for exchange with other
/// libraries.
#[cfg_attr(all(), repr(C))]
pub struct DLManagedTensorVersioned {
    _opaque: [u8; 0],
}

/// DLPack's managed tensor as it was before version 1.0, without flags.
#[cfg_attr(all(), repr(C))]
pub struct DLManagedTensor {
    _opaque: [u8; 0],
}

/// DLPack's table of the functions of a library for objects of its own type, as dlpack.h declares
/// it since version 1.3. The capsule `__dlpack_c_exchange_api__` of a Python type holds it.
#[cfg_attr(all(), repr(C))]
pub struct DLPackExchangeAPI {
    _opaque: [u8; 0],
}

/// An array in memory of a GPU, as version 3 of CUDA's array interface describes it: the entries of
/// a `__cuda_array_interface__`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_cuda_array {
    pub struct_size: u64,
    /// The element at index 0 on every axis: the first entry of `data`.
    pub data: *const c_void,
    /// The second entry of `data`: 1 for a read-only array, else 0.
    pub is_read_only: u32,
    /// Number of axes.
    pub rank: u32,
    /// The stream after whose work the elements are ready: 1 for CUDA's legacy default stream, 2
    /// for that of each thread, else a `CUstream`. 0 for None: they are ready.
    pub stream: u64,
    /// The element type, NUL-terminated: `<f4`, `|u1`, `<c16`.
    pub typestr: [c_char; 16],
    /// 0 for `strides` that are None: row-major without gaps. 1 where `strides_bytes` has them.
    pub has_strides: u32,
    pub reserved: u32,
    /// Extent of each axis.
    pub shape: [i64; TNR_MAX_RANK],
    /// `strides`: bytes from one index to the next.
    pub strides_bytes: [i64; TNR_MAX_RANK],
}

/// Flag of an export: the tensor is read-only, even if its memory may be written.
pub const TNR_EXPORT_READ_ONLY: u32 = 1;

// ==== dense.h: operations ====
// Element-wise operations, reductions, products, convolutions and poolings.

// Their codes follow from the table of operations, in operations.rs.

/// An operation on one input.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_unary_op(pub i32);

/// An operation on two inputs of one dtype.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_binary_op(pub i32);

/// An operation on three inputs of one dtype.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_ternary_op(pub i32);

/// A comparison of two inputs of one dtype; its result is bool8, and false where NaN takes part
/// (NE: true).
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_compare_op(pub i32);

/// A reduction over axes.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_reduce_op(pub i32);

/// Reserved for options of later versions: pass NULL.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_extension {
    pub struct_size: u64,
}

/// Attributes of `tnr_reduce` and `tnr_sparse_reduce`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_reduce_attributes {
    pub struct_size: u64,
    /// Delta degrees of freedom: variances divide by the count less this. 0 for all others.
    pub ddof: u32,
    pub reserved: u32,
    /// The p of NORM, above 0. 0 for all others.
    pub power: f64,
}

/// Flag of the attributes of products and convolutions: after bias and activation, each element of
/// the result is at least `low` and at most `high`; NaN stays NaN. ReLU6 is this from 0 to 6.
pub const TNR_EPILOGUE_CLAMP: u32 = 1;
/// Flag of `tnr_quantized_matmul_attributes`, and of the attributes of `TNR_NODE_QUANTIZED_MATMUL`:
/// the rows of an `a` of numbers are quantized with zero points, to u8. The error of rows that are
/// not symmetric about 0 is up to half as large.
pub const TNR_QUANTIZE_AFFINE_ROWS: u32 = 2;

/// Attributes of `tnr_matmul`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_matmul_attributes {
    pub struct_size: u64,
    /// `[n]`, of the dtype of `out`: added to each row of the result. NULL: nothing is.
    pub bias: *const tnr_view,
    /// Applied to each element of the result, after that; 0: none.
    pub activation: tnr_unary_op,
    /// `TNR_EPILOGUE_CLAMP`, or 0.
    pub flags: u32,
    /// With the flag: the least that an element of the result is; not NaN. Without it 0.
    pub low: f64,
    /// With the flag: the greatest; not below `low`. Without it 0.
    pub high: f64,
}

/// Attributes of `tnr_conv2d` and `tnr_conv2d_transposed`. For the latter, `a` below means `out`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_conv2d_attributes {
    pub struct_size: u64,
    /// Elements of `a` from one position of the kernel to the next: down and right. 0 means 1.
    pub strides: [i64; 2],
    /// Zeros around each image: rows above and below, columns left and right.
    pub padding: [i64; 4],
    /// Elements of `a` from one element of the kernel to the next: down and right. 0 means 1.
    pub dilations: [i64; 2],
    /// Number of groups that channels and filters are split into: a filter reads only the channels
    /// of its group. 0 means 1.
    pub groups: i64,
    /// Applied to each element of the result; 0: none.
    pub activation: tnr_unary_op,
    /// `TNR_EPILOGUE_CLAMP`, or 0.
    pub flags: u32,
    /// With the flag: the least that an element of the result is; not NaN. Without it 0.
    pub low: f64,
    /// With the flag: the greatest; not below `low`. Without it 0.
    pub high: f64,
}

/// Flag of a MEAN of `tnr_pool2d`: the padding counts as elements, zeros.
pub const TNR_POOL2D_COUNT_PADDING: u32 = 1;

/// Flag of `tnr_pool2d`: the windows cover `a` as evenly as the extents of `out` allow. The window
/// of row y begins at row `y * height / out_height`, rounded down, and ends before
/// `(y + 1) * height / out_height`, rounded up; so do the columns.
pub const TNR_POOL2D_ADAPTIVE: u32 = 2;

/// Flag of `tnr_pool2d`: the extents of `out` are rounded up, as PyTorch and ONNX round them. The
/// last window may end beyond the padded image, where it has no elements and no padding. It begins
/// in the image or in the padding before it: a window that would begin after the image is left out.
pub const TNR_POOL2D_CEIL: u32 = 4;

/// Attributes of `tnr_pool2d`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_pool2d_attributes {
    pub struct_size: u64,
    /// Rows and columns of a window. 0 means all those of `a`.
    pub kernel: [i64; 2],
    /// Elements of `a` from one window to the next: down and right. 0 means those of the kernel.
    pub strides: [i64; 2],
    /// Around each image, rows above and below, columns left and right: no element of it is a
    /// maximum, nor part of a MEAN.
    pub padding: [i64; 4],
    /// Elements of `a` from one element of a window to the next: down and right. 0 means 1.
    pub dilations: [i64; 2],
    /// `TNR_POOL2D_COUNT_PADDING`, `TNR_POOL2D_CEIL`, both or 0; or `TNR_POOL2D_ADAPTIVE`, without
    /// a kernel, strides, padding and dilations.
    pub flags: u32,
    pub reserved: u32,
}

/// Attributes of `tnr_batch_norm`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_batch_norm_attributes {
    pub struct_size: u64,
    /// Added to each variance: finite and not negative.
    pub eps: f64,
}

// ==== quantized numbers ====
// Integers of 8 bits with scales and zero points next to them: a number is `(value - zero) * scale`.
// Scales are f32, zero points are of the dtype of the integers. Both have the shape of the integers,
// with an extent of 1 where one scale serves the whole axis, or an extent that divides that of the
// integers, where one serves a group of adjacent ones. Leading axes may be missing.

/// Attributes of `tnr_quantized_matmul`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_quantized_matmul_attributes {
    pub struct_size: u64,
    /// `[n]`, f32: added to each row of the product. NULL: nothing is.
    pub bias: *const tnr_view,
    /// Scale of an `out` of i8 or u8, f32, of one element; else NULL.
    pub out_scale: *const tnr_view,
    /// Zero point of `out`, of its dtype and one element. NULL: 0.
    pub out_zero: *const tnr_view,
    /// Applied to each number of the result in f32, after that; 0: none.
    pub activation: tnr_unary_op,
    /// `TNR_EPILOGUE_CLAMP`, `TNR_QUANTIZE_AFFINE_ROWS`, or 0.
    pub flags: u32,
    /// With `TNR_EPILOGUE_CLAMP`: the least number of the result; not NaN. Without it 0.
    pub low: f64,
    /// With it: the greatest; not below `low`. Without it 0.
    pub high: f64,
}

/// Attributes of `tnr_quantized_conv2d`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_quantized_conv2d_attributes {
    pub struct_size: u64,
    /// Elements of `a` from one position of the kernel to the next: down and right. 0 means 1.
    pub strides: [i64; 2],
    /// Zero points around each image: rows above and below, columns left and right.
    pub padding: [i64; 4],
    /// Elements of `a` from one element of the kernel to the next: down and right. 0 means 1.
    pub dilations: [i64; 2],
    /// Number of groups that channels and filters are split into: a filter reads only the channels
    /// of its group. 0 means 1.
    pub groups: i64,
    /// One number for each filter, f32: added to each of its pixels. NULL: nothing is.
    pub bias: *const tnr_view,
    /// Scale of an `out` of i8 or u8, f32, of one element; else NULL.
    pub out_scale: *const tnr_view,
    /// Zero point of `out`, of its dtype and one element. NULL: 0.
    pub out_zero: *const tnr_view,
    /// Applied to each number of the result in f32, after that; 0: none.
    pub activation: tnr_unary_op,
    /// `TNR_EPILOGUE_CLAMP`, or 0.
    pub flags: u32,
    /// With the flag: the least number of the result; not NaN. Without it 0.
    pub low: f64,
    /// With the flag: the greatest; not below `low`. Without it 0.
    pub high: f64,
}

// ==== movement of elements ====
// Elements keep their bits and go by width, whatever their dtype.

/// The elements of `tnr_pad` outside `a`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_pad_mode(pub i32);

impl tnr_pad_mode {
    /// The attributes' value.
    pub const CONSTANT: tnr_pad_mode = tnr_pad_mode(0);
    /// The nearest element of `a`.
    pub const EDGE: tnr_pad_mode = tnr_pad_mode(1);
    /// `a` mirrored at its first and last element, which are not repeated: `c b | a b c | b a`.
    pub const REFLECT: tnr_pad_mode = tnr_pad_mode(2);
    /// `a` mirrored at its edges: `b a | a b c | c b`.
    pub const SYMMETRIC: tnr_pad_mode = tnr_pad_mode(3);
    /// `a` again and again: `b c | a b c | a b`.
    pub const WRAP: tnr_pad_mode = tnr_pad_mode(4);
}

/// A triangle of a matrix, including its diagonal.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_triangle(pub i32);

impl tnr_triangle {
    /// Elements (i, j) with `j - i <= diagonal`.
    pub const LOWER: tnr_triangle = tnr_triangle(1);
    /// Elements (i, j) with `j - i >= diagonal`.
    pub const UPPER: tnr_triangle = tnr_triangle(2);
}

/// Attributes of `tnr_pad`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_pad_attributes {
    pub struct_size: u64,
    /// Elements of `out` before those of `a`, on each axis: its element i is that of `a` at
    /// `i - before`, where there is one. It has any sign; 0 beyond the rank.
    pub before: [i64; 8],
    /// For CONSTANT: representable in the dtype; zeros mean 0 bytes. Zeros for other modes.
    pub value: tnr_scalar,
}

/// Attributes of `tnr_triangular`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_triangle_attributes {
    pub struct_size: u64,
    /// The diagonal on which the triangle ends: 0 is the main one, those above are positive.
    pub diagonal: i64,
}

// ==== normalization and scans ====
// Functions of all elements along axes: normalizations and scans, whose result has the shape of the
// input, and moments.

/// A normalization over axes.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_normalize_op(pub i32);

/// A scan, or cumulative reduction, along an axis.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_scan_op(pub i32);

/// Attributes of `tnr_normalize`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_normalize_attributes {
    pub struct_size: u64,
    /// LAYER_NORM, RMS_NORM: added to the variance, or to the mean of the squares; finite and not
    /// negative.
    pub eps: f64,
    /// LAYER_NORM, RMS_NORM: of the extents of the axes, multiplied with the result. NULL: nothing
    /// is.
    pub weight: *const tnr_view,
    /// LAYER_NORM: as `weight`, added after that. NULL: nothing is.
    pub bias: *const tnr_view,
}

/// Attributes of `tnr_moments`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_moments_attributes {
    pub struct_size: u64,
    /// Delta degrees of freedom: the variance divides by the count less this.
    pub ddof: u32,
    pub reserved: u32,
}

// ==== ordering ====
// Sorting and searching. NaN is greater than everything, and all NaN are equal.

/// Flag of `tnr_sort_attributes`: the greatest first. NaN is last even so.
pub const TNR_SORT_DESCENDING: u32 = 1;

/// Flag of `tnr_top_k_attributes`: the smallest instead of the greatest. NaN is chosen last in
/// both.
pub const TNR_TOP_K_SMALLEST: u32 = 1;

/// Flag of `tnr_searchsorted_attributes`: after the elements that are equal, instead of before
/// them.
pub const TNR_SEARCHSORTED_RIGHT: u32 = 1;

/// Flag of `tnr_quantile_attributes`: NaN are left out, instead of giving NaN.
pub const TNR_QUANTILE_SKIP_NAN: u32 = 1;

/// Attributes of `tnr_sort`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_sort_attributes {
    pub struct_size: u64,
    /// `TNR_SORT_DESCENDING`, or 0.
    pub flags: u32,
    pub reserved: u32,
}

/// Attributes of `tnr_top_k`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_top_k_attributes {
    pub struct_size: u64,
    /// `TNR_TOP_K_SMALLEST`, or 0.
    pub flags: u32,
    pub reserved: u32,
}

/// Attributes of `tnr_quantile`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_quantile_attributes {
    pub struct_size: u64,
    /// `TNR_QUANTILE_SKIP_NAN`, or 0.
    pub flags: u32,
    pub reserved: u32,
}

/// Attributes of `tnr_searchsorted`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_searchsorted_attributes {
    pub struct_size: u64,
    /// `TNR_SEARCHSORTED_RIGHT`, or 0.
    pub flags: u32,
    pub reserved: u32,
}

/// Attributes of `tnr_bincount`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_bincount_attributes {
    pub struct_size: u64,
    /// The weight of each element, of `a`'s shape and `out`'s dtype. NULL: each weighs 1.
    pub weights: *const tnr_view,
}

/// Attributes of `tnr_histogram`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_histogram_attributes {
    pub struct_size: u64,
    /// Where there are no edges: the first edge; finite.
    pub low: f64,
    /// Where there are no edges: the last edge, above `low`; finite.
    pub high: f64,
}

// ==== random numbers ====
// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC
// 2011): a number depends only on seed, offset and index.

/// A distribution of random numbers.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_random_distribution(pub i32);

impl tnr_random_distribution {
    /// Floats: uniform from `low` up to, but not, `high`.
    pub const UNIFORM: tnr_random_distribution = tnr_random_distribution(1);
    /// Floats: normal, with `mean` and `deviation`.
    pub const NORMAL: tnr_random_distribution = tnr_random_distribution(2);
    /// Integers: uniform from `least` up to, but not, `bound`.
    pub const INTEGERS: tnr_random_distribution = tnr_random_distribution(3);
    /// bool8: true with `probability`.
    pub const BERNOULLI: tnr_random_distribution = tnr_random_distribution(4);
}

/// Attributes of `tnr_random`. The fields of other distributions are 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_random_attributes {
    pub struct_size: u64,
    /// UNIFORM; finite.
    pub low: f64,
    /// UNIFORM; finite and above `low`. Both 0: 1.
    pub high: f64,
    /// NORMAL; finite.
    pub mean: f64,
    /// NORMAL; finite, not negative. 0 means 1.
    pub deviation: f64,
    /// BERNOULLI; from 0 to 1.
    pub probability: f64,
    /// INTEGERS; representable in the dtype.
    pub least: i64,
    /// INTEGERS; above `least`, at most one above the greatest number of the dtype. Both 0: all
    /// numbers of the dtype.
    pub bound: i64,
}

// ==== packed factors ====
// The right factor of repeated products of dense matrices, as kernels read it.

/// Attributes of `tnr_factor_create`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_factor_attributes {
    pub struct_size: u64,
    /// Dtype of the left factors; a `b` of bytes is packed differently for u8 and i8. 0: that of
    /// `b`.
    pub a_dtype: tnr_dtype,
    pub reserved: u32,
}

/// Shape and size of a packed factor.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_factor_info {
    pub struct_size: u64,
    /// Dtype of the matrix that was packed.
    pub dtype: tnr_dtype,
    /// Dtype of the left factors of its products.
    pub a_dtype: tnr_dtype,
    /// Rows: the depth of its products.
    pub rows: i64,
    /// Columns.
    pub cols: i64,
    /// Bytes that a product reads of the packed factor.
    pub size_bytes: u64,
}

/// A dense matrix in the panels that products read, the right factor of many products.
#[cfg_attr(all(), repr(C))]
pub struct tnr_factor {
    _opaque: [u8; 0],
}

// ==== sparse.h: sparse matrices ====
// Lent as views of three arrays, or held by a handle.

/// How the entries of a sparse matrix are laid out. CSC is the CSR of the transpose.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_sparse_format(pub i32);

impl tnr_sparse_format {
    /// Coordinates: each entry has a row and a column.
    pub const COO: tnr_sparse_format = tnr_sparse_format(1);
    /// Compressed rows: each entry has a column, each row the offset of its first entry.
    pub const CSR: tnr_sparse_format = tnr_sparse_format(2);
    /// Compressed columns: each entry has a row, each column the offset of its first entry.
    pub const CSC: tnr_sparse_format = tnr_sparse_format(3);
    /// CSR whose entries are dense blocks of one size.
    pub const BSR: tnr_sparse_format = tnr_sparse_format(4);
}

/// Whether a matrix is meant as it is, or its transpose.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_orientation(pub i32);

impl tnr_orientation {
    /// The matrix.
    pub const AS_IS: tnr_orientation = tnr_orientation(1);
    /// Its transpose. Nothing is converted.
    pub const TRANSPOSED: tnr_orientation = tnr_orientation(2);
}

/// Flag of a sparse view: indices never fall within a row (CSC: a column; COO: entries are ordered
/// by row, then by column).
pub const TNR_SPARSE_SORTED: u32 = 1;

/// Flag of a sparse view: no position has two entries. With `TNR_SPARSE_SORTED`: coalesced.
pub const TNR_SPARSE_UNIQUE: u32 = 2;

/// Most rows, and most columns, of a block of BSR.
pub const TNR_SPARSE_MAX_BLOCK: i64 = 16;

/// A sparse matrix over memory: a plain value, lent to the library for one call and never kept.
///
/// | format | `major` | `minor` | `values` |
/// | --- | --- | --- | --- |
/// | COO | `row_indices[n]` | `col_indices[n]` | `[n]` |
/// | CSR | `row_offsets[rows + 1]` | `col_indices[n]` | `[n]` |
/// | CSC | `col_offsets[cols + 1]` | `row_indices[n]` | `[n]` |
/// | BSR | `row_offsets[rows / block_rows + 1]` | `col_indices[n]`, in blocks | `[n, block_rows, block_cols]` |
///
/// Offsets never fall and are in 0 to n. Row i has the entries from `row_offsets[i]` to
/// `row_offsets[i + 1]`, so a range of rows is a view with its own part of the offsets, whose first
/// may be above 0, and with all of `minor` and `values`; the entries between its offsets are all
/// that it has. Indices are at least 0 and below the number of columns (CSC: rows; BSR: of blocks).
/// All are contiguous; `major` and `minor` both i32 or i64. Values held or written share no byte
/// with them.
///
/// A batch is any number of matrices of the same `rows` and `cols`, stored one after the other in
/// the same arrays. Matrix i has the entries from `batch_offsets[i]` to `batch_offsets[i + 1]`:
/// that part of `minor` and `values`, and of COO of `major`. Otherwise `major` has the offsets of
/// each matrix, in all `batches * (rows + 1)`, and those of each count from the matrix's own first
/// entry; so i32 counts up to 2,147,483,647 entries of each. `batch_offsets` never fall and are in
/// 0 to n, and a range of matrices is a batch too. `tnr_sparse_batch_at` gives a view of one
/// matrix. From dense, to dense, `tnr_sparse_matmul`, `tnr_sparse_convert`, `tnr_sparse_unary` and
/// the check take batches; all else is UNSUPPORTED, and takes one matrix at a time.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_sparse_view {
    pub struct_size: u64,
    /// Token of the `tnr_sparse` that this is a view of: all of it, a range of its rows, or one
    /// matrix or a range of matrices of a batch. The checks that it has passed are not repeated. 0:
    /// none.
    pub owner: u64,
    /// Meaning of `major`, `minor` and `values`.
    pub format: tnr_sparse_format,
    /// `TNR_SPARSE_SORTED` and `TNR_SPARSE_UNIQUE`; unknown bits are refused.
    pub flags: u32,
    /// Rows of the whole matrix, in elements.
    pub rows: i64,
    /// Columns of the whole matrix, in elements.
    pub cols: i64,
    /// Rows of a block, 1 to `TNR_SPARSE_MAX_BLOCK`, which divide `rows`; 1 unless BSR.
    pub block_rows: i64,
    /// Columns of a block, 1 to `TNR_SPARSE_MAX_BLOCK`, which divide `cols`; 1 unless BSR.
    pub block_cols: i64,
    /// Offsets, of COO row indices.
    pub major: tnr_view,
    /// Indices.
    pub minor: tnr_view,
    /// The entries, of any dtype; in blocks in row-major order.
    pub values: tnr_view,
    /// All zeros for one matrix. For a batch `[batches + 1]`, i32 or i64 whatever the others are:
    /// where the entries of each matrix begin.
    pub batch_offsets: tnr_view,
}

/// A sparse view whose values the callee may write.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_sparse_view_mut {
    /// The matrix.
    pub view: tnr_sparse_view,
}

/// A sparse matrix: three blobs that it holds, in a batch four, and their format.
#[cfg_attr(all(), repr(C))]
pub struct tnr_sparse {
    _opaque: [u8; 0],
}

// ==== sparse conversions ====
// From dense and to dense, between formats, and parts of a matrix.

/// Which elements of a dense matrix become entries of a sparse one. A NaN does, whatever it is
/// compared with.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_sparse_predicate(pub i32);

impl tnr_sparse_predicate {
    /// Elements that are not zero. -0.0 is zero, unless `TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO` is set.
    pub const NON_ZERO: tnr_sparse_predicate = tnr_sparse_predicate(0);
    /// `x > threshold`, also those of value zero where the threshold is negative.
    pub const GREATER: tnr_sparse_predicate = tnr_sparse_predicate(1);
    /// `|x| > threshold`; the threshold is not negative.
    pub const MAGNITUDE_GREATER: tnr_sparse_predicate = tnr_sparse_predicate(2);
    /// Elements where the mask is true, whatever their values.
    pub const MASK: tnr_sparse_predicate = tnr_sparse_predicate(3);
}

/// How several entries of one position are combined.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_sparse_combine(pub i32);

impl tnr_sparse_combine {
    /// Their sum, from the first to the last: of integers wrapping, of 16-bit floats rounded once.
    pub const SUM: tnr_sparse_combine = tnr_sparse_combine(1);
    /// The least; NaN if one is.
    pub const MIN: tnr_sparse_combine = tnr_sparse_combine(2);
    /// The greatest; NaN if one is.
    pub const MAX: tnr_sparse_combine = tnr_sparse_combine(3);
    /// The last of them, as they were in order.
    pub const LAST: tnr_sparse_combine = tnr_sparse_combine(4);
}

/// Order by which the largest entries are chosen. NaN is less than everything.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_sparse_order(pub i32);

impl tnr_sparse_order {
    /// Their values.
    pub const VALUE: tnr_sparse_order = tnr_sparse_order(1);
    /// Their values without the signs.
    pub const MAGNITUDE: tnr_sparse_order = tnr_sparse_order(2);
}

/// How `tnr_sparse_concat` joins matrices.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_sparse_join(pub i32);

impl tnr_sparse_join {
    /// From top to bottom; all have the same number of columns.
    pub const ROWS: tnr_sparse_join = tnr_sparse_join(1);
    /// From left to right; all have the same number of rows.
    pub const COLS: tnr_sparse_join = tnr_sparse_join(2);
    /// Blocks on the diagonal: each begins below, and to the right of, the end of the one before
    /// it.
    pub const DIAGONAL: tnr_sparse_join = tnr_sparse_join(3);
}

/// Flag of `tnr_sparse_from_dense_attributes`, `tnr_sparse_prune_attributes` and
/// `tnr_sparse_from_matmul_attributes`, for NON_ZERO: -0.0 is an entry too.
pub const TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO: u32 = 1;

/// Flag of `tnr_sparse_convert_attributes`: the result is SORTED. Without it, entries keep the
/// order that they had, as far as the format has one.
pub const TNR_CONVERT_SORT: u32 = 2;

/// Attributes of `tnr_sparse_from_dense`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_sparse_from_dense_attributes {
    pub struct_size: u64,
    /// Dtype of offsets and indices: `TNR_DTYPE_I32` or `TNR_DTYPE_I64`; 0 means i32.
    pub index_dtype: tnr_dtype,
    /// Which elements are entries.
    pub predicate: tnr_sparse_predicate,
    /// `TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO`, or 0.
    pub flags: u32,
    pub reserved: u32,
    /// Rows of a block of BSR; 0 otherwise.
    pub block_rows: i64,
    /// Columns of a block of BSR; 0 otherwise.
    pub block_cols: i64,
    /// Operand of the predicate; zeros for predicates that have none.
    pub threshold: tnr_scalar,
    /// bool8, of the dense matrix's shape, for `TNR_SPARSE_PREDICATE_MASK`; else NULL.
    pub mask: *const tnr_view,
}

/// Attributes of `tnr_sparse_convert`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_sparse_convert_attributes {
    pub struct_size: u64,
    /// Dtype of offsets and indices: `TNR_DTYPE_I32` or `TNR_DTYPE_I64`; 0 means that of `a`.
    pub index_dtype: tnr_dtype,
    /// `TNR_CONVERT_SORT`, or 0.
    pub flags: u32,
    /// Rows of a block of BSR; 0 otherwise.
    pub block_rows: i64,
    /// Columns of a block of BSR; 0 otherwise.
    pub block_cols: i64,
}

/// Attributes of `tnr_sparse_prune`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_sparse_prune_attributes {
    pub struct_size: u64,
    /// Which entries are kept; not MASK.
    pub predicate: tnr_sparse_predicate,
    /// `TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO`, or 0.
    pub flags: u32,
    /// Operand of the predicate; zeros for NON_ZERO.
    pub threshold: tnr_scalar,
}

/// Attributes of `tnr_sparse_from_dense_top_k`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_sparse_top_k_attributes {
    pub struct_size: u64,
    /// Dtype of the indices: `TNR_DTYPE_I32` or `TNR_DTYPE_I64`; 0 means i32.
    pub index_dtype: tnr_dtype,
    pub reserved: u32,
}

/// Attributes of `tnr_sparse_from_dense_dropout`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_sparse_dropout_attributes {
    pub struct_size: u64,
    /// Dtype of the indices: `TNR_DTYPE_I32` or `TNR_DTYPE_I64`; 0 means i32.
    pub index_dtype: tnr_dtype,
    pub reserved: u32,
}

/// Attributes of `tnr_sparse_from_matmul`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_sparse_from_matmul_attributes {
    pub struct_size: u64,
    /// `[n]`, of the dtype of the result: added to each row of the product. NULL: nothing is.
    pub bias: *const tnr_view,
    /// Applied to each element of the product, after that; 0: none.
    pub activation: tnr_unary_op,
    /// Dtype of the indices: `TNR_DTYPE_I32` or `TNR_DTYPE_I64`; 0 means i32.
    pub index_dtype: tnr_dtype,
    /// Which elements of the result are entries; not MASK.
    pub predicate: tnr_sparse_predicate,
    /// `TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO`, or 0.
    pub flags: u32,
    /// Operand of the predicate; zeros for NON_ZERO.
    pub threshold: tnr_scalar,
}

// ==== sparse operations ====
// Products, arithmetic, reductions and solves.

/// A norm of a matrix.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_sparse_norm_kind(pub i32);

impl tnr_sparse_norm_kind {
    /// The largest sum of magnitudes of a column.
    pub const ONE: tnr_sparse_norm_kind = tnr_sparse_norm_kind(1);
    /// The largest sum of magnitudes of a row.
    pub const INFINITY: tnr_sparse_norm_kind = tnr_sparse_norm_kind(2);
    /// The square root of the sum of squares.
    pub const FROBENIUS: tnr_sparse_norm_kind = tnr_sparse_norm_kind(3);
}

/// Flag of `tnr_sparse_sddmm_attributes`: products are multiplied by the pattern's own values.
pub const TNR_SDDMM_TIMES_VALUES: u32 = 1;

/// Flag of `tnr_sparse_solve_attributes`: the matrix is upper triangular, else lower.
pub const TNR_SOLVE_UPPER: u32 = 1;

/// Flag of `tnr_sparse_solve_attributes`: the diagonal is 1, whatever its entries are.
pub const TNR_SOLVE_UNIT_DIAGONAL: u32 = 2;

/// Flag of `tnr_sparse_solve_attributes`: the system is that of the transposed matrix. The other
/// flags describe the matrix before the transposition.
pub const TNR_SOLVE_TRANSPOSED: u32 = 4;

/// Attributes of `tnr_sparse_sddmm`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_sparse_sddmm_attributes {
    pub struct_size: u64,
    /// `TNR_SDDMM_TIMES_VALUES` or 0.
    pub flags: u32,
    pub reserved: u32,
}

/// Attributes of `tnr_sparse_solve`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_sparse_solve_attributes {
    pub struct_size: u64,
    /// `TNR_SOLVE_UPPER`, `TNR_SOLVE_UNIT_DIAGONAL`, `TNR_SOLVE_TRANSPOSED`, several of them or 0.
    pub flags: u32,
    pub reserved: u32,
}

// ==== packed matrices ====
// The read-optimised form of a sparse matrix, for products with many vectors.

/// How a packed matrix keeps the columns of its entries.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_packed_layout(pub i32);

impl tnr_packed_layout {
    /// Default: the layout is chosen by the matrix.
    pub const AUTO: tnr_packed_layout = tnr_packed_layout(0);
    /// Numbers of 32 bits: no smaller than i32 indices, half of i64 ones.
    pub const WIDE: tnr_packed_layout = tnr_packed_layout(1);
    /// Numbers of 16 bits, counted from a column that 64 rows have in common.
    pub const NARROW: tnr_packed_layout = tnr_packed_layout(2);
    /// A bit for every element, set where it has an entry.
    pub const BITMAP: tnr_packed_layout = tnr_packed_layout(3);
    /// A number of 32 bits for each block of adjacent rows and columns; each element of a block has
    /// an entry.
    pub const BLOCKS: tnr_packed_layout = tnr_packed_layout(4);
}

/// Attributes of `tnr_packed_create`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_packed_attributes {
    pub struct_size: u64,
    /// How the columns are kept; 0 is AUTO.
    pub layout: tnr_packed_layout,
    pub reserved: u32,
}

/// Layout and cost of a packed matrix.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_packed_info {
    pub struct_size: u64,
    /// Never AUTO.
    pub layout: tnr_packed_layout,
    /// Dtype of the values.
    pub dtype: tnr_dtype,
    /// Rows.
    pub rows: i64,
    /// Columns.
    pub cols: i64,
    /// Stored entries.
    pub nnz: i64,
    /// Bytes that a product reads of the packed matrix.
    pub size_bytes: u64,
    /// Bytes that a product read of the original matrix: offsets, indices and values.
    pub source_bytes: u64,
    /// Products after which packing has moved fewer bytes than it saved, counted, not measured: the
    /// source read, the result fetched and written, and for a bitmap a mark of one byte cleared and
    /// read for each element and set for each entry, over the difference of the two sizes. -1:
    /// never.
    pub break_even: i64,
    /// Rows of a block; 1 unless the layout is BLOCKS.
    pub block_rows: i64,
    /// Columns of a block; 1 unless the layout is BLOCKS.
    pub block_cols: i64,
}

/// A sparse matrix in a layout of the library's own, for products with many vectors.
#[cfg_attr(all(), repr(C))]
pub struct tnr_packed {
    _opaque: [u8; 0],
}

// ==== program.h: node kinds ====
// Expressions (`tnr_node`) and programs (`tnr_graph_node`) consist of nodes. The code of a node is
// its kind plus, in the low 16 bits, an operation. The kind names the call whose result the node
// has: `TNR_NODE_PUT` names `tnr_put`, and `TNR_NODE_SLICE` names `tnr_view_slice`. `alpha` is 1
// and `beta` is 0. Expressions have the first eight kinds. The comment of a kind lists:
//
// - Operands: `?` marks an optional one, `...` any number of further ones. `out` is the output
//   before the call, `q` a vector of f64, and `seed` and `offset` are scalars or u64 arrays of rank
//   0. `major`, `minor` and `values` are the arrays of a sparse matrix.
// - Numbers: `axes...` and `shape...` have one number for each axis. `extent` is the extent of the
//   result. `rows?, cols?` are the extents of resulting images: `TNR_NODE_POOL2D` takes them only
//   with `TNR_POOL2D_ADAPTIVE`, `TNR_NODE_CONV2D_TRANSPOSED` makes the smallest images without
//   them.
// - Axes: the bits of `flags` are the axes of the call.
// - Dtype: the node chooses the dtype of the result.
// - Low bits: the operation. They are 0 for other kinds.
//
// A reduction in an expression is the last node, or reduces the last axis with
// `TNR_NODE_KEEP_AXES`, and later nodes broadcast its result. A normalization is the last node.
// `TNR_NODE_SPARSE_NORM` has an f64 of rank 0 as its result.
//
// `TNR_NODE_COND` has the outputs of one of two subgraphs: of the first if its bool8 of one element
// is true. The other operands are the inputs of both. A run computes only one of them. Both have
// the same number of outputs, of the same dtypes and shapes; an extent that a run counts may
// differ.
//
// `TNR_NODE_WHILE` has the outputs of the last iteration of the body. The operands are the inputs
// of both subgraphs in the first iteration. Each iteration replaces the first of them by the body's
// outputs, which have the same dtypes and shapes; an extent that a run counts may become smaller.
// The condition gives a bool8 of one element. `most iterations` is at least 1; a run in which the
// condition still holds after them fails with INVALID_ARGUMENT.
//
// `TNR_NODE_NONZERO` and `TNR_NODE_MASKED_SELECT` have as many rows or elements as a run counts.
// Their number is an extent of `tnr_graph_add_extent` that no input has, no other node gives and no
// earlier node takes: its value is that count. A count above the maximum of the extent is
// INVALID_ARGUMENT. The plan of memory has room for the maximum, or for the operand's elements if
// these are fewer.

// The constants TNR_NODE_* of the table node_kinds.rs.

/// Flag of a node that reduces: the reduced axes stay, of extent 1.
pub const TNR_NODE_KEEP_AXES: u32 = 0x100;

// ==== expressions ====
// Element-wise operations as data: checked in one go, computed in one pass, without temporaries.

/// A node of an expression: an operation on views, scalars and the results of earlier nodes, with
/// one result. Frozen: 32 bytes.
///
/// An operand is the index of an earlier node; `TNR_OPERAND_VIEW` plus the index of a view of the
/// expression; `TNR_OPERAND_SCALAR` plus the index of a scalar of it; or `TNR_OPERAND_OUTPUT`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct tnr_node {
    /// A kind (`TNR_NODE_UNARY`, ...) plus the code of the operation (`tnr_unary_op`, ...), of
    /// kinds that have codes.
    pub code: u32,
    /// Dtype of the result, which the operation must give.
    pub dtype: tnr_dtype,
    /// The operands that the operation takes, first; the other entries are `TNR_OPERAND_NONE`.
    pub operands: [u32; 3],
    /// Index into the attributes of the expression, plus 1, for a reduction
    /// (`tnr_reduce_attributes`) or a normalization (`tnr_normalize_attributes`). 0: none.
    pub attributes: u32,
    /// For a reduction or a normalization: its axes as bits (bit i: axis i), and
    /// `TNR_NODE_KEEP_AXES`. 0 for all others.
    pub flags: u32,
    pub reserved: u32,
}

/// Operand of a node: plus the index of a view.
pub const TNR_OPERAND_VIEW: u32 = 0x4000_0000;
/// Operand of a node: plus the index of a scalar, which must be representable in the dtype that the
/// operation takes there, as with `tnr_binary_scalar`.
pub const TNR_OPERAND_SCALAR: u32 = 0x8000_0000;
/// Operand of a node: the elements of `out` before the call.
pub const TNR_OPERAND_OUTPUT: u32 = 0xc000_0000;
/// No operand.
pub const TNR_OPERAND_NONE: u32 = 0xffff_ffff;

/// Most nodes of an expression.
pub const TNR_MAX_NODES: usize = 256;

/// Most different views of an expression.
pub const TNR_MAX_EXPRESSION_VIEWS: usize = 32;

/// An expression: nodes, and the arrays that they refer to. The last node is the result. Each call
/// checks each code, dtype and index.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_expression {
    pub struct_size: u64,
    /// `node_count` nodes.
    pub nodes: *const tnr_node,
    /// `view_count` pointers to views.
    pub views: *const *const tnr_view,
    /// `scalar_count` scalars.
    pub scalars: *const tnr_scalar,
    /// `attribute_count` pointers to structs, each as the node that names it takes it.
    pub attributes: *const *const c_void,
    /// 1 to `TNR_MAX_NODES`.
    pub node_count: u32,
    /// At most `TNR_MAX_EXPRESSION_VIEWS`.
    pub view_count: u32,
    /// At most 1024.
    pub scalar_count: u32,
    /// At most 1024.
    pub attribute_count: u32,
}

// ==== programs ====
// Graphs of operations: built value by value, checked once, run on memory of any shape that they
// were built for, with the memory of their intermediate values planned. A function that describes a
// run on inputs reads no element, assumes outputs in row-major order, and has the errors that
// `tnr_program_run` has of inputs.

/// A graph that is being built: inputs, constants, nodes and outputs.
#[cfg_attr(all(), repr(C))]
pub struct tnr_graph {
    _opaque: [u8; 0],
}

/// A graph that nothing changes any more, to be run by any number of threads.
#[cfg_attr(all(), repr(C))]
pub struct tnr_program {
    _opaque: [u8; 0],
}

/// A program that is bound to the layouts of its inputs and outputs.
#[cfg_attr(all(), repr(C))]
pub struct tnr_bound {
    _opaque: [u8; 0],
}

/// Where a value of a graph comes from.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_value_source(pub i32);

impl tnr_value_source {
    /// `tnr_graph_add_input`.
    pub const INPUT: tnr_value_source = tnr_value_source(1);
    /// `tnr_graph_add_constant`.
    pub const CONSTANT: tnr_value_source = tnr_value_source(2);
    /// `tnr_graph_add_scalar`.
    pub const SCALAR: tnr_value_source = tnr_value_source(3);
    /// `tnr_graph_add_node`.
    pub const NODE: tnr_value_source = tnr_value_source(4);
}

/// How two numbers make an extent.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_extent_op(pub i32);

impl tnr_extent_op {
    /// The sum.
    pub const ADD: tnr_extent_op = tnr_extent_op(1);
    /// The difference, which is not negative.
    pub const SUB: tnr_extent_op = tnr_extent_op(2);
    /// The product.
    pub const MUL: tnr_extent_op = tnr_extent_op(3);
    /// The quotient, rounded down; the divisor is positive.
    pub const DIV: tnr_extent_op = tnr_extent_op(4);
    /// The quotient, rounded up; the divisor is positive.
    pub const DIV_UP: tnr_extent_op = tnr_extent_op(5);
    /// The smaller one.
    pub const MIN: tnr_extent_op = tnr_extent_op(6);
    /// The greater one.
    pub const MAX: tnr_extent_op = tnr_extent_op(7);
    /// The one that is not 1: the extent of two operands that broadcast. They are equal, or one is
    /// 1.
    pub const BROADCAST: tnr_extent_op = tnr_extent_op(8);
}

/// A number of a graph: plus the index of an extent, which each run has.
pub const TNR_EXTENT: i64 = 0x4000_0000_0000_0000;

/// Most extents of a graph.
pub const TNR_MAX_EXTENTS: usize = 256;

/// Most values of a graph.
pub const TNR_MAX_VALUES: usize = 65536;

/// A node of a graph: an operation on values, with one result, or several of `TNR_NODE_COND` and
/// `TNR_NODE_WHILE`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_graph_node {
    pub struct_size: u64,
    /// A kind plus the code of the operation, of kinds that have codes.
    pub code: u32,
    /// The dtype that the node sets, of kinds that say so: of a cast that of the result, of
    /// `TNR_NODE_QUANTIZE_DYNAMIC` that of the integers. 0 for all others.
    pub dtype: tnr_dtype,
    /// `operand_count` values; `TNR_OPERAND_NONE` for an optional one that is not given.
    pub operands: *const u32,
    /// `number_count` numbers, as the kind takes them: constants, or `TNR_EXTENT` plus the index of
    /// an extent.
    pub numbers: *const i64,
    /// The attributes of the operation, as its call takes them, except views, which are operands
    /// here. NULL: the defaults.
    pub attributes: *const c_void,
    /// Number of `operands`, as the kind requires.
    pub operand_count: u32,
    /// Number of `numbers`, as the kind requires.
    pub number_count: u32,
    /// Axes of a reduction, a normalization or a quantile, as in `tnr_node`. 0 for all others.
    pub flags: u32,
    /// Nodes that differ only in this number are computed each for itself: another number is a
    /// recomputation that `TNR_PASS_COMMON_SUBEXPRESSIONS` does not merge.
    pub copy: u32,
    /// `TNR_MARK_KEEP` or `TNR_MARK_RECOMPUTE`, `TNR_MARK_GRADIENT` and `TNR_MARK_NON_FINITE`; or 0.
    pub marks: u32,
    pub reserved: u32,
}

/// Mark of a node: no pass computes its result again.
pub const TNR_MARK_KEEP: u32 = 1;
/// Mark of a node: gradients compute its result again instead of keeping it. In a graph without
/// gradients, so do nodes behind the longest time in which none reads it. Custom operations,
/// control nodes and nodes that count elements are kept.
pub const TNR_MARK_RECOMPUTE: u32 = 2;
/// Mark of a node that `tnr_graph_add_gradients` added.
pub const TNR_MARK_GRADIENT: u32 = 4;
/// Mark of a node: its results may have NaN and infinities in runs that refuse them.
pub const TNR_MARK_NON_FINITE: u32 = 8;

/// Attributes of `tnr_graph_add_mixed_precision`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_precision_attributes {
    pub struct_size: u64,
    /// `keep_count` values: the nodes that give them compute in their own dtypes, with their
    /// subgraphs. NULL for none.
    pub keep: *const u32,
    /// Number of `keep`.
    pub keep_count: u32,
    pub reserved: u32,
}

/// The range of the elements of a value, such as calibration finds it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_value_range {
    /// The value that has it.
    pub value: u32,
    /// The least element; finite.
    pub low: f32,
    /// The greatest element; finite, and not below `low`.
    pub high: f32,
}

/// Attributes of `tnr_graph_quantize` and `tnr_graph_quantizable`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_graph_quantize_attributes {
    pub struct_size: u64,
    /// `keep_count` values: the nodes that give them stay in f32. NULL for none.
    pub keep: *const u32,
    /// Number of `keep`.
    pub keep_count: u32,
    /// Number of `ranges`.
    pub range_count: u32,
    /// `range_count` ranges of left operands, at most one of each. NULL for none.
    pub ranges: *const tnr_value_range,
}

/// A node that `tnr_graph_quantize` replaces with one of integers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_quantizable {
    /// The value that the node gives.
    pub result: u32,
    /// The left operand of the node: the value that a range is of.
    pub operand: u32,
    /// `TNR_NODE_MATMUL` or `TNR_NODE_CONV2D`.
    pub code: u32,
    pub reserved: u32,
}

/// How deep graphs may be within each other.
pub const TNR_MAX_SUBGRAPH_DEPTH: usize = 8;

/// Which result of an operation that orders elements a node is.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_order_result(pub i32);

impl tnr_order_result {
    /// The elements.
    pub const VALUES: tnr_order_result = tnr_order_result(1);
    /// Where each was on the axis, of i64.
    pub const INDICES: tnr_order_result = tnr_order_result(2);
}

/// Which result of `tnr_quantize_dynamic` a node of `TNR_NODE_QUANTIZE_DYNAMIC` is. Its numbers are
/// the shape of the scales.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_quantize_result(pub i32);

impl tnr_quantize_result {
    /// The integers, without zero points.
    pub const VALUES: tnr_quantize_result = tnr_quantize_result(1);
    /// Their scales.
    pub const SCALES: tnr_quantize_result = tnr_quantize_result(2);
    /// The integers of numbers that have zero points.
    pub const AFFINE_VALUES: tnr_quantize_result = tnr_quantize_result(3);
    /// Their scales.
    pub const AFFINE_SCALES: tnr_quantize_result = tnr_quantize_result(4);
    /// Their zero points.
    pub const AFFINE_ZEROS: tnr_quantize_result = tnr_quantize_result(5);
}

/// Attributes of a node of `TNR_NODE_EINSUM`, which must be given.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_einsum_node_attributes {
    pub struct_size: u64,
    /// The spec of `tnr_einsum`; ends with a 0.
    pub spec: [c_char; 120],
}

/// The dtype and shape of the result of a custom operation, from those of its operands: these views
/// have no memory. Returns a status; anything but OK refuses the node, with the message that the
/// function gave `tnr_set_last_error`. Called from any thread, also for shapes that no run will
/// have. Meanwhile calls on a graph that the node is being added to are BUSY, on every thread.
///
/// The function always gives the same answer for the same operands. A program takes one answer for
/// each set of layouts that it is run with. A run asks again only where shapes of operands depend
/// on its data: an answer of another dtype or rank than the first one, or with a larger extent
/// along an axis, is INVALID_ARGUMENT before the result is written.
pub type tnr_infer_fn = Option<
    unsafe extern "C" fn(
        user_context: *mut c_void,
        operands: *const tnr_view,
        operand_count: u32,
        numbers: *const i64,
        number_count: u32,
        dtype: *mut tnr_dtype,
        rank: *mut u32,
        shape: *mut i64,
    ) -> tnr_status,
>;

/// Computes a custom operation: writes every element of `out`, and no other byte. Operands and
/// `out` are lent for the call, with any strides. The function may call the library and run
/// programs, including its own, but may not call the graph that it was added to. Returns a status;
/// any status other than OK ends the run with that status, and with the reason that the function
/// gave to `tnr_set_last_error`. Called from any thread, and from several at once.
pub type tnr_compute_fn = Option<
    unsafe extern "C" fn(
        user_context: *mut c_void,
        operands: *const tnr_view,
        operand_count: u32,
        numbers: *const i64,
        number_count: u32,
        out: *const tnr_view_mut,
    ) -> tnr_status,
>;

/// Computes a custom operation where a program is run on a device: enqueues work that writes every
/// element of `out`, and no other byte, by calls of the library with `context`, the context of the
/// run. Operands and `out` are views of its device, lent for the call, with any strides. Their
/// owners end after the call. They also order calls on other contexts of the device: the work of
/// these calls comes after the earlier work of the run, and before its later work. Otherwise like
/// `tnr_compute_fn`.
pub type tnr_device_compute_fn = Option<
    unsafe extern "C" fn(
        user_context: *mut c_void,
        context: *mut tnr_context,
        operands: *const tnr_view,
        operand_count: u32,
        numbers: *const i64,
        number_count: u32,
        out: *const tnr_view_mut,
    ) -> tnr_status,
>;

/// Derives a custom operation: adds nodes to `graph` that compute the gradients of the operands.
/// The operands, the result and its gradient are values of `graph`. Writes the value of each
/// operand's gradient to `gradients`. Before the call `gradients` has `TNR_OPERAND_NONE` for each
/// operand, which stands for zeros. A gradient has the dtype and shape of its operand. Operands
/// other than floats and complex numbers have no gradient.
///
/// `graph` is a handle that exists during the call only. It has the nodes of the graph that
/// `tnr_graph_add_gradients` was given, or of a subgraph of it. The function may add extents,
/// constants, scalars, nodes, subgraphs and custom operations to it, but no inputs and no outputs.
/// Calls on the handle that `tnr_graph_add_gradients` was given are BUSY meanwhile, on every
/// thread. Returns a status; any status other than OK ends `tnr_graph_add_gradients` with that
/// status, and with the reason that the function gave to `tnr_set_last_error`. Called from any
/// thread, and from several at once.
pub type tnr_derive_fn = Option<
    unsafe extern "C" fn(
        user_context: *mut c_void,
        graph: *mut tnr_graph,
        operands: *const u32,
        operand_count: u32,
        numbers: *const i64,
        number_count: u32,
        result: u32,
        gradient: u32,
        gradients: *mut u32,
    ) -> tnr_status,
>;

/// Flag of `tnr_custom_operation`: `out` may be exactly the first operand.
pub const TNR_CUSTOM_IN_PLACE: u32 = 1;
/// Flag of `tnr_custom_operation`: `out` has elements before the call, of any values, and no
/// undefined bytes. Costs a pass over it.
pub const TNR_CUSTOM_INITIALIZED: u32 = 2;
/// Flag of `tnr_custom_operation`: the result depends on the operands and numbers only, and a call
/// has no other effect. Such calls may be repeated: by gradients through `TNR_NODE_COND` and
/// `TNR_NODE_WHILE`, which refuse other custom operations, and by `TNR_PASS_RECOMPUTATION`.
pub const TNR_CUSTOM_PURE: u32 = 4;

/// A custom operation. An exception or a panic that leaves a function is INTERNAL where compilers
/// let it through, as C++ does unless the function is `noexcept`; a panic in a function of Rust
/// that does not catch it aborts.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_custom_operation {
    pub struct_size: u64,
    /// Ends with a 0; 1 to 31 bytes, which are copied.
    pub name: *const c_char,
    /// Not NULL.
    pub infer: tnr_infer_fn,
    /// Not NULL.
    pub compute: tnr_compute_fn,
    /// Given to the functions.
    pub user_context: *mut c_void,
    /// Called once with `user_context`, when the graph and all its programs are gone; may be NULL.
    pub release: tnr_release_fn,
    /// Operands that it takes.
    pub operand_count: u32,
    /// Numbers that it takes.
    pub number_count: u32,
    /// `TNR_CUSTOM_IN_PLACE`, `TNR_CUSTOM_INITIALIZED`, `TNR_CUSTOM_PURE`, or 0.
    pub flags: u32,
    pub reserved: u32,
    /// Called in place of `compute` by runs on a device, of any kind; NULL: these refuse the
    /// operation.
    pub compute_on_device: tnr_device_compute_fn,
    /// Called by `tnr_graph_add_gradients`; NULL: no gradient leads through the operation.
    pub derive: tnr_derive_fn,
}

/// Operations of a shared library that is loaded while the program runs. The loader gives its entry
/// to `tnr_plugin_check`, and may then add its operations to graphs. The library stays loaded as
/// long as these exist.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_plugin {
    pub struct_size: u64,
    /// `TNR_ABI_MAJOR` of the header that it was compiled with. Here in every version of the ABI.
    pub abi_major: u32,
    /// `TNR_ABI_MINOR` of the header that it was compiled with. Here in every version of the ABI.
    pub abi_minor: u32,
    /// Ends with a 0; for messages.
    pub name: *const c_char,
    /// `operation_count` operations. Each may be added to any number of graphs, and `release` is
    /// called once for each of them.
    pub operations: *const *const tnr_custom_operation,
    /// How many `operations` there are.
    pub operation_count: u32,
    pub reserved: u32,
}

/// The one function that a plug-in exports, by the name `tnr_plugin_entry`. Returns the description
/// of the plug-in, which stays at its address.
pub type tnr_plugin_fn = Option<unsafe extern "C" fn() -> *const tnr_plugin>;

/// The numbers of values, nodes and so on of a graph, as `tnr_graph_describe` reports them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_graph_info {
    pub struct_size: u64,
    /// Values of all sources.
    pub value_count: u32,
    /// Named extents, and those made of them.
    pub extent_count: u32,
    /// Inputs.
    pub input_count: u32,
    /// Constants.
    pub constant_count: u32,
    /// Scalars.
    pub scalar_count: u32,
    /// Nodes.
    pub node_count: u32,
    /// Outputs.
    pub output_count: u32,
    /// Custom operations.
    pub custom_count: u32,
    /// Subgraphs, for nodes such as `TNR_NODE_COND` and `TNR_NODE_WHILE`.
    pub subgraph_count: u32,
    pub reserved: u32,
}

/// An extent of a graph, as `tnr_graph_describe_extent` reports it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_extent_info {
    pub struct_size: u64,
    /// 0 of a named one.
    pub op: tnr_extent_op,
    pub reserved: u32,
    /// The first number; the maximum of a named one.
    pub a: i64,
    /// The second number; 0 of a named one.
    pub b: i64,
    /// The name of a named one; ends with a 0.
    pub name: [c_char; 32],
}

/// A custom operation of a graph, as `tnr_graph_describe_custom` reports it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_custom_info {
    pub struct_size: u64,
    /// Operands that it takes.
    pub operand_count: u32,
    /// Numbers that it takes.
    pub number_count: u32,
    /// The flags of `tnr_custom_operation`.
    pub flags: u32,
    pub reserved: u32,
    /// Ends with a 0.
    pub name: [c_char; 32],
}

/// A value of a graph, as `tnr_graph_describe_value` reports it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_value_info {
    pub struct_size: u64,
    /// Whose result it is.
    pub source: tnr_value_source,
    /// The dtype of its elements.
    pub dtype: tnr_dtype,
    /// Number of axes.
    pub rank: u32,
    /// Index among the values of its source, from 0, in the order in which they were added.
    pub index: u32,
    /// The extents where all named ones are as large as they may be; those beyond the rank are 0.
    pub shape: [i64; 8],
    /// The extents of an input as numbers, as they were given. 0 for all others.
    pub numbers: [i64; 8],
    /// Index among the results of its node, from 0. These are consecutive values.
    pub result: u32,
    pub reserved: u32,
}

/// Pass of a program: nodes whose results no output needs are left out.
pub const TNR_PASS_DEAD_CODE: u32 = 1;
/// Pass of a program: nodes with the same operation on the same values are one.
pub const TNR_PASS_COMMON_SUBEXPRESSIONS: u32 = 2;
/// Pass of a program: nodes whose operands are all constants are computed when the program is made.
pub const TNR_PASS_CONSTANT_FOLDING: u32 = 4;
/// Pass of a program: a bias and an activation after a product or a convolution become part of it.
pub const TNR_PASS_EPILOGUES: u32 = 8;
/// Pass of a program: element-wise nodes are computed in one pass with a reduction after them and,
/// on the CPU, with reductions of their rows that later ones read.
pub const TNR_PASS_FUSION: u32 = 16;
/// Pass of a program: a result takes the memory of an operand that nothing reads any more, or of
/// the input that it updates.
pub const TNR_PASS_IN_PLACE: u32 = 32;
/// Pass of a program: values that are not alive at once share memory.
pub const TNR_PASS_MEMORY: u32 = 64;
/// Pass of a program: images between convolutions and poolings are stored channels-last.
pub const TNR_PASS_LAYOUT: u32 = 128;
/// Pass of a program: constants that are right factors of products, and filters of convolutions,
/// are packed as `tnr_factor_create` packs a factor, which says how many bytes that takes. The
/// packed copy is made with the program. The pass runs only if `enabled_passes` names it.
pub const TNR_PASS_PACKING: u32 = 256;
/// Pass of a program: values are computed again instead of being kept, where nodes have
/// `TNR_MARK_RECOMPUTE`, and as many more as `budget_bytes` of `tnr_program_attributes` needs.
pub const TNR_PASS_RECOMPUTATION: u32 = 512;

/// A pass over a program and its effect, from `tnr_program_describe_pass`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_pass_info {
    pub struct_size: u64,
    /// `TNR_PASS_DEAD_CODE` and so on.
    pub pass: u32,
    /// 1: the program was made with it; 0: it was left out.
    pub is_on: u32,
    /// How often it changed something, with the graphs in nodes: 0 where it was left out.
    pub count: u64,
    /// Its name, such as "common subexpressions"; ends with a 0.
    pub name: [c_char; 32],
    /// The thing that is counted, such as "nodes merged"; ends with a 0.
    pub counted: [c_char; 32],
}

/// Attributes of `tnr_program_create`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_program_attributes {
    pub struct_size: u64,
    /// The passes, by bits, that are left out.
    pub disabled_passes: u32,
    /// Passes that run only if they are named here: `TNR_PASS_PACKING`. Other passes may be named
    /// too. A pass that is also in `disabled_passes` is left out.
    pub enabled_passes: u32,
    /// The constants that `TNR_PASS_PACKING` packs, as `tnr_blob_copy_packed` returned them for a
    /// program of the same graph: `u8`, adjacent, aligned to 64, owned by a blob that is not
    /// borrowed, and which the program keeps. The constants themselves are then not read. NULL:
    /// they are packed now. Other bytes than these give other results.
    pub packed: *const tnr_view,
    /// The most `peak_bytes` of a run on row-major inputs with all extents at their maxima:
    /// `TNR_PASS_RECOMPUTATION` computes values again until the plan fits. 0: any.
    pub budget_bytes: u64,
}

/// Attributes of `tnr_program_run`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_program_run_attributes {
    pub struct_size: u64,
    /// Most bytes that intermediate values may take: OUT_OF_MEMORY where they need more, before
    /// anything is allocated. 0: any number, or none with `TNR_RUN_BUDGET`.
    pub budget_bytes: u64,
    /// Nanoseconds of each of `step_count` steps: written if the run succeeds. NULL: none are.
    pub step_nanoseconds: *mut u64,
    /// Steps of the program for these layouts, as `tnr_program_memory` reports; 0 without the
    /// above.
    pub step_count: u32,
    /// `TNR_RUN_CHECKED` and so on, or 0.
    pub flags: u32,
    /// The extents of each output, 8 for each, with 0 beyond the rank: written if the run succeeds.
    /// An extent that depends on the data may be less than that of the caller's view; the elements
    /// beyond it are untouched. NULL: none are written.
    pub output_shapes: *mut i64,
}

/// Flag of `tnr_program_run`: each custom operation is run twice, into memory of two patterns with
/// guards around it, and a third time in place if it promises that; its views have owners that end
/// after the call. INTERNAL: it wrote a byte outside its output or to an operand, left an element
/// unwritten, gave two results, or kept the memory that it was lent. An operation that keeps a view
/// and uses it later gets STALE_VIEW. The flag does not change runs on a device.
pub const TNR_RUN_CHECKED: u32 = 1;

/// Flag of `tnr_program_run`: `budget_bytes` is a bound where it is 0, too.
pub const TNR_RUN_BUDGET: u32 = 2;

/// Flag of `tnr_program_run`, on the CPU: the run ends with INVALID_ARGUMENT behind the first node
/// that gives a NaN, also in a subgraph. The message has the node, its operation, value, dtype and
/// shape, the index of the first NaN, the iteration of a loop, and an operand with a NaN or an
/// infinity, if there is one. An input or a constant with a NaN is no error by itself.
///
/// Nodes are computed one by one, whatever passes the program has, in the order in which they were
/// added; the first such run makes a program for that. Results have the bits of other runs, except
/// where passes skip a rounding. Inputs that outputs update are untouched if the run is refused.
/// The run takes more time, and memory for the values that passes leave out. UNSUPPORTED: on a
/// device, in a preallocated run, and with `step_nanoseconds`.
pub const TNR_RUN_REFUSE_NAN: u32 = 4;

/// Flag of `tnr_program_run`: `TNR_RUN_REFUSE_NAN` for infinities, too.
pub const TNR_RUN_REFUSE_NON_FINITE: u32 = 8;

/// Flag of `tnr_bound_create`: all memory of a run is taken now.
pub const TNR_BOUND_PREALLOCATED: u32 = 1;

/// Flag of `tnr_bound_create`: the run is recorded on the device of the context.
pub const TNR_BOUND_CAPTURED: u32 = 2;

/// Flag of `tnr_bound_create`: `budget_bytes` is a bound where it is 0, too.
pub const TNR_BOUND_BUDGET: u32 = 4;

/// Attributes of `tnr_bound_create`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_bound_attributes {
    pub struct_size: u64,
    /// Most bytes that intermediate values may take: OUT_OF_MEMORY if they need more. 0: no bound.
    pub budget_bytes: u64,
    /// `TNR_BOUND_PREALLOCATED`, `TNR_BOUND_CAPTURED`, `TNR_BOUND_BUDGET`.
    pub flags: u32,
    pub reserved: u32,
}

/// How a step of a program computes.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_step_kind(pub i32);

impl tnr_step_kind {
    /// Elements move to where a reshape or an output needs them.
    pub const COPY: tnr_step_kind = tnr_step_kind(1);
    /// Element-wise nodes in one pass.
    pub const EXPRESSION: tnr_step_kind = tnr_step_kind(2);
    /// The call of an operation.
    pub const OPERATION: tnr_step_kind = tnr_step_kind(3);
    /// Subgraphs of a node, as often as the data require.
    pub const CONTROL: tnr_step_kind = tnr_step_kind(4);
}

/// A step of a program's run, as `tnr_program_describe_step` reports it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_step_info {
    pub struct_size: u64,
    /// How it computes.
    pub kind: tnr_step_kind,
    /// The node whose result it gives; `TNR_OPERAND_NONE` where it copies to an output.
    pub node: u32,
    /// Nodes that it computes.
    pub node_count: u32,
    /// The output that it writes; `TNR_OPERAND_NONE` where the result is another value.
    pub output: u32,
    /// Floating-point operations: two for each multiplication and addition of a product or a
    /// convolution, one for each element and node of others, 0 of copies and of subgraphs.
    pub flops: u64,
    /// Bytes of the elements that it reads, each operand once.
    pub read_bytes: u64,
    /// Bytes of the elements that it writes.
    pub written_bytes: u64,
    /// Offset of its result, of several the first, in the block of values; 0 where it writes an
    /// output.
    pub block_offset: u64,
    /// Bytes of the block that the result takes; 0 where it writes an output.
    pub block_bytes: u64,
    /// The last step that reads these bytes.
    pub last_use: u32,
    /// Dtype of the result.
    pub dtype: tnr_dtype,
    /// Number of axes of the result.
    pub rank: u32,
    pub reserved: u32,
    /// The result's extents; those beyond the rank are 0.
    pub shape: [i64; 8],
    /// Names of the operations, as far as they fit; ends with a 0.
    pub name: [c_char; 64],
}

/// The memory of a run, as `tnr_program_memory` reports it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_memory_plan {
    pub struct_size: u64,
    /// Bytes that intermediate values take, in one block.
    pub peak_bytes: u64,
    /// The most bytes of intermediate values that are alive at once: no plan takes less.
    pub live_bytes: u64,
    /// Bytes of all intermediate values together, as if each had memory of its own.
    pub total_bytes: u64,
    /// The most bytes of scratch memory that operations took at once in runs for these layouts so
    /// far, in addition to `peak_bytes`: they report it when they run. Exact where a program is
    /// bound with `TNR_BOUND_PREALLOCATED` or `TNR_BOUND_CAPTURED`.
    pub scratch_bytes: u64,
    /// Calls of operations in a run.
    pub step_count: u32,
    pub reserved: u32,
    /// Bytes of constants that are packed, which the program holds for all runs.
    pub packed_bytes: u64,
}

/// Attributes of nodes of sparse matrices.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_sparse_node_attributes {
    pub struct_size: u64,
    /// How the entries are laid out; 0: CSR.
    pub format: tnr_sparse_format,
    /// `TNR_SPARSE_SORTED` and `TNR_SPARSE_UNIQUE`, which are believed as those of a view are.
    pub flags: u32,
    /// How SPARSE_MATMUL takes the matrix; 0: as it is.
    pub orientation: tnr_orientation,
    /// The flags of the attributes of SPARSE_SDDMM and SPARSE_SOLVE. 0 for all others.
    pub call_flags: u32,
    /// Rows of a block of BSR; 0: 1.
    pub block_rows: u32,
    /// Columns of a block of BSR; 0: 1.
    pub block_cols: u32,
}

// ==== device.h: devices ====
// Devices, the order of their work, and events.

/// A device, as `tnr_device_describe` reports it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_device_info {
    pub struct_size: u64,
    /// Bytes of its memory, used or free.
    pub memory_bytes: u64,
    /// Major number of a GPU's compute capability: 9 for 9.0.
    pub capability_major: u32,
    /// Minor number of it: 0 for 9.0.
    pub capability_minor: u32,
    /// Processors that share a cache and run blocks of a kernel.
    pub multiprocessor_count: u32,
    pub reserved: u32,
    /// NUL-terminated.
    pub name: [c_char; 256],
}

/// The work that had been enqueued on a context's stream at one moment. A caller waits for it,
/// queries it, or orders other work after it.
#[cfg_attr(all(), repr(C))]
pub struct tnr_event {
    _opaque: [u8; 0],
}

// ==== kernels of the caller's own ====
/// A kernel of the caller's own on a device, with the arguments that it was declared to take.
#[cfg_attr(all(), repr(C))]
pub struct tnr_kernel {
    _opaque: [u8; 0],
}

/// Kind of a kernel's argument.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct tnr_kernel_argument_kind(pub i32);

impl tnr_kernel_argument_kind {
    /// A view whose elements the kernel reads.
    pub const INPUT: tnr_kernel_argument_kind = tnr_kernel_argument_kind(1);
    /// A view whose elements the kernel writes; it may read them, too.
    pub const OUTPUT: tnr_kernel_argument_kind = tnr_kernel_argument_kind(2);
    /// A number.
    pub const SCALAR: tnr_kernel_argument_kind = tnr_kernel_argument_kind(3);
}

/// Flag of `tnr_kernel_parameter`: the kernel takes only the address of a view, `T *data`. The
/// elements are then in row-major order without gaps; any other view is INVALID_ARGUMENT.
pub const TNR_KERNEL_POINTER: u32 = 1;

/// One parameter of a kernel, as it was declared. The kernel gets it as one parameter, too:
///
/// | kind | in CUDA C++, by value |
/// | --- | --- |
/// | SCALAR | `T` |
/// | INPUT, OUTPUT | `struct { T *data; long long shape[N]; long long strides[N]; }` |
/// | the same with `TNR_KERNEL_POINTER` | `T *` |
///
/// `T` is a type of the bytes of the dtype, and N is `most_rank`; where that is 0, the struct is
/// the pointer. `data` is the element at index 0 on every axis, and strides are in elements, of any
/// sign. A view of fewer axes than N has axes of extent 1 and stride 0 in front. The stride of an
/// axis of extent 1 or 0 is 0. Without elements `data` may be NULL.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_kernel_parameter {
    /// Kind of its arguments.
    pub kind: tnr_kernel_argument_kind,
    /// The dtype of its arguments, of whole bytes; of a number at most 16.
    pub dtype: tnr_dtype,
    /// Fewest axes of its arguments; 0 for a number.
    pub least_rank: u32,
    /// Most axes of its arguments, at most `TNR_MAX_RANK`; 0 for a number.
    pub most_rank: u32,
    /// `TNR_KERNEL_POINTER`, or 0.
    pub flags: u32,
    pub reserved: u32,
}

/// Most parameters of a kernel.
pub const TNR_MAX_KERNEL_PARAMETERS: usize = 32;

/// The code of a kernel, and its parameters. The library does not use it after `tnr_kernel_create`
/// returns.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_kernel_options {
    pub struct_size: u64,
    /// The kernel's name in the image, as the linker knows it: that of a function which is
    /// `extern "C"`. In a source any expression that names it, `scale<float>` too. Ends with a 0; 1
    /// to 1023 bytes.
    pub name: *const c_char,
    /// A fat binary, a cubin, or PTX, of `image_bytes` bytes. NULL where there is a source.
    pub image: *const c_void,
    /// Bytes of `image`.
    pub image_bytes: u64,
    /// CUDA C++, which ends with a 0: compiled by CUDA's NVRTC for the context's device. NULL where
    /// there is an image.
    pub source: *const c_char,
    /// Options of NVRTC, `compiler_option_count` strings which end with a 0. Products and sums are
    /// not contracted unless an option requests it (`--fmad`, `--use_fast_math`); unless one names
    /// an architecture, it is the device's.
    pub compiler_options: *const *const c_char,
    /// The kernel's parameters, `parameter_count` of them, in its order.
    pub parameters: *const tnr_kernel_parameter,
    /// At most 64; 0 without a source.
    pub compiler_option_count: u32,
    /// At most `TNR_MAX_KERNEL_PARAMETERS`.
    pub parameter_count: u32,
}

/// One argument of a launch: the pointer of its parameter's kind, and NULL for the others.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_kernel_argument {
    /// For INPUT.
    pub input: *const tnr_view,
    /// For OUTPUT.
    pub output: *const tnr_view_mut,
    /// For SCALAR; of exactly the parameter's dtype.
    pub scalar: *const tnr_scalar,
}

/// How many blocks of how many threads a launch has.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tnr_kernel_grid {
    pub struct_size: u64,
    /// Blocks along x, y and z; each at least 1.
    pub blocks: [u32; 3],
    /// Threads of a block along x, y and z; each at least 1.
    pub threads: [u32; 3],
    /// Bytes of shared memory for each block, in addition to those that the kernel declares itself.
    pub shared_bytes: u32,
    pub reserved: u32,
}

unsafe extern "C" {
    // ==== version ====

    /// Version of the library that is loaded: major in the upper 16 bits, minor in the lower.
    pub fn tnr_abi_version() -> u32;

    /// One line with the build of the library (version, compiler, options, instruction sets,
    /// engines) and the instruction set in use.
    pub fn tnr_build_info() -> *const c_char;

    // ==== errors ====

    /// Name of a status, "INVALID_ARGUMENT" for example; "UNKNOWN" for a number without one.
    pub fn tnr_status_name(status: tnr_status) -> *const c_char;

    /// The calling thread's last failure. A call that succeeds does not change it, and neither does
    /// a release callback, whatever it calls.
    ///
    /// @return (transfer none) valid until a call fails on this thread, or the thread ends
    pub fn tnr_last_error() -> *const tnr_error;

    /// Sets the calling thread's last error. A callback that fails calls it, and then returns the
    /// same status. OK sets nothing.
    ///
    /// @param message (nullable) NUL-terminated; copied, and truncated to fit `tnr_error`
    /// @return `status`
    #[must_use]
    pub fn tnr_set_last_error(status: tnr_status, message: *const c_char) -> tnr_status;

    // ==== elements ====

    /// Bytes of one element. Returns 0 for a dtype of zero lanes or with a part of a byte.
    pub fn tnr_dtype_size_bytes(dtype: tnr_dtype) -> usize;

    /// Short name of a dtype, "f32" for example; "unknown" for one that no operation takes.
    pub fn tnr_dtype_name(dtype: tnr_dtype) -> *const c_char;

    /// Makes a scalar of f64. It is rounded to the nearest value of an operand with a narrower
    /// float dtype.
    pub fn tnr_scalar_f64(value: f64) -> tnr_scalar;

    /// Makes a scalar of i64, for operands of any dtype that represents its value.
    pub fn tnr_scalar_i64(value: i64) -> tnr_scalar;

    /// One element of u64, for operands of any dtype that has its value.
    pub fn tnr_scalar_u64(value: u64) -> tnr_scalar;

    /// One element of c128.
    pub fn tnr_scalar_c128(re: f64, im: f64) -> tnr_scalar;

    // ==== contexts ====

    /// Gives up the handle of a context. No new call may use it; calls and blobs that do keep it,
    /// and the last of them ends it: its threads are joined, then its `release` runs.
    pub fn tnr_context_release(context: *mut tnr_context) -> tnr_status;

    /// Makes a context, and starts its threads. On failure no thread is left and nothing is called.
    ///
    /// INVALID_ARGUMENT: a `thread_count` of 0 or over 1024, one of `allocate` and `deallocate`
    /// without the other, `reserved` or `reserved_end` that is not 0; a `device` that is not there,
    /// or a `stream` without one or of another. UNSUPPORTED: an `engine` that is not in this build,
    /// or that needs a GPU; a `device` where there is no driver, or one that is too old or has no
    /// kernels here. OUT_OF_MEMORY: also for a thread that the system refuses, and for more than
    /// 1024 contexts at once.
    #[must_use]
    pub fn tnr_context_create(options: *const tnr_context_options) -> *mut tnr_context;

    /// How many threads work at one call with this context, the caller among them: 1 for NULL, and
    /// for every context in a child of `fork`; 0 on failure.
    ///
    /// @param context (nullable)
    pub fn tnr_context_thread_count(context: *const tnr_context) -> u32;

    /// Works at the call that `task` belongs to, until no part of it is left to begin, as a
    /// `tnr_spawn_fn` requests. Does nothing when that call has returned, even if its context has
    /// ended, and nothing for a number that no call has had.
    pub fn tnr_task_run(task: u64);

    // ==== blobs ====

    /// Gives up one handle. The end of the blob frees its memory, or runs its callback.
    ///
    /// BUSY: the last handle of a borrowed blob while a call uses it.
    pub fn tnr_blob_release(blob: *mut tnr_blob) -> tnr_status;

    /// Allocates `size_bytes` bytes, aligned to 64, from the context's allocator or on its device
    /// where it has one. Their values are undefined.
    ///
    /// INVALID_ARGUMENT: its allocator gave misaligned memory.
    #[must_use]
    pub fn tnr_blob_alloc(context: *mut tnr_context, size_bytes: usize) -> *mut tnr_blob;

    /// Allocates `size_bytes` bytes of the CPU's memory, aligned to 64, that the driver of the
    /// context's device has pinned: the device reads and writes them itself while the CPU goes on.
    /// Their values are undefined. Views of them are views of the CPU. Pinning takes long, and the
    /// system cannot use pinned memory for anything else: keep the blob for the next copy.
    ///
    /// INVALID_ARGUMENT: a context without a device.
    ///
    /// @param context (transfer none)
    #[must_use]
    pub fn tnr_blob_alloc_pinned(context: *mut tnr_context, size_bytes: usize) -> *mut tnr_blob;

    /// Allocates `size_bytes` bytes as `tnr_blob_alloc` does and copies `data`, of the CPU, into
    /// them; counted by `tnr_stats_read`. Waits for a device.
    ///
    /// INVALID_ARGUMENT: misaligned memory from the context's allocator.
    #[must_use]
    pub fn tnr_blob_copy(
        context: *mut tnr_context, data: *const c_void, size_bytes: usize,
    ) -> *mut tnr_blob;

    /// Takes over memory that the holder may write.
    ///
    /// @param data (transfer full) (counted-by size_bytes)
    #[must_use]
    pub fn tnr_blob_adopt(
        data: *mut c_void, size_bytes: usize, release: tnr_release_fn, release_context: *mut c_void,
    ) -> *mut tnr_blob;

    /// Takes a share in memory that is not written while the blob lives.
    #[must_use]
    pub fn tnr_blob_share(
        data: *const c_void, size_bytes: usize, release: tnr_release_fn,
        release_context: *mut c_void,
    ) -> *mut tnr_blob;

    /// Borrows memory that is not written during the borrow. The caller keeps it until
    /// `tnr_blob_end_borrow` returns OK, and then releases the handle.
    ///
    /// @param data (lifetimebound) (counted-by size_bytes)
    #[must_use]
    pub fn tnr_blob_borrow(data: *const c_void, size_bytes: usize) -> *mut tnr_blob;

    /// Borrows memory that only the borrower reads and writes during the borrow. Otherwise like
    /// `tnr_blob_borrow`.
    ///
    /// @param data (lifetimebound) (counted-by size_bytes)
    #[must_use]
    pub fn tnr_blob_borrow_mut(data: *mut c_void, size_bytes: usize) -> *mut tnr_blob;

    /// Takes over memory of the context's device, as `tnr_blob_adopt` does that of the CPU. Work
    /// that the caller enqueued on the memory comes first where it is on the context's stream, or
    /// the context follows it. `release` runs when all work that uses the memory is done: the last
    /// `tnr_blob_release` waits for that. Without a device this is `tnr_blob_adopt`.
    ///
    /// INVALID_ARGUMENT: as `tnr_blob_adopt`; memory that the driver does not know as the device's,
    /// or manages.
    ///
    /// @param data (transfer full) (counted-by size_bytes)
    #[must_use]
    pub fn tnr_blob_adopt_on(
        context: *mut tnr_context, data: *mut c_void, size_bytes: usize, release: tnr_release_fn,
        release_context: *mut c_void,
    ) -> *mut tnr_blob;

    /// Takes a share in memory of the context's device that is not written while the blob lives.
    /// Otherwise like `tnr_blob_adopt_on`.
    #[must_use]
    pub fn tnr_blob_share_on(
        context: *mut tnr_context, data: *const c_void, size_bytes: usize, release: tnr_release_fn,
        release_context: *mut c_void,
    ) -> *mut tnr_blob;

    /// Borrows memory of the context's device that is not written during the borrow.
    /// `tnr_blob_end_borrow` waits until the work that uses it is done. Errors as
    /// `tnr_blob_adopt_on`.
    ///
    /// @param data (lifetimebound) (counted-by size_bytes)
    #[must_use]
    pub fn tnr_blob_borrow_on(
        context: *mut tnr_context, data: *const c_void, size_bytes: usize,
    ) -> *mut tnr_blob;

    /// Borrows memory of the context's device that only the borrower reads and writes during the
    /// borrow. Otherwise like `tnr_blob_borrow_on`.
    ///
    /// @param data (lifetimebound) (counted-by size_bytes)
    #[must_use]
    pub fn tnr_blob_borrow_mut_on(
        context: *mut tnr_context, data: *mut c_void, size_bytes: usize,
    ) -> *mut tnr_blob;

    /// Makes one more handle.
    #[must_use]
    pub fn tnr_blob_retain(blob: *mut tnr_blob) -> *mut tnr_blob;

    /// Undoes an adopt: ends the handle and calls nothing; the memory is the caller's again. On
    /// failure nothing changes.
    ///
    /// INVALID_ARGUMENT: not adopted, or not with this `release_context`. BUSY: held more than
    /// once, or in use.
    ///
    /// @param blob ended on OK, else still the caller's to release
    /// @param release_context (nullable) the one given to `tnr_blob_adopt`
    #[must_use]
    pub fn tnr_blob_reclaim(blob: *mut tnr_blob, release_context: *mut c_void) -> tnr_status;

    /// Ends a borrow: from the first call on no new use starts (STALE_VIEW). OK: no call uses the
    /// memory and no other handle holds it; it is the caller's again. Otherwise keep the memory and
    /// call again. It ends the borrow, not the handle: release the handle once after OK.
    ///
    /// BUSY: a call uses the memory. BORROW_ESCAPED: another handle is not released.
    /// INVALID_ARGUMENT: not borrowed.
    #[must_use]
    pub fn tnr_blob_end_borrow(blob: *mut tnr_blob) -> tnr_status;

    /// The blob's lowest byte.
    ///
    /// @return (transfer none) (nullable) valid while the handle is; NULL on failure, and maybe for
    /// empty memory
    pub fn tnr_blob_data(blob: *const tnr_blob) -> *const c_void;

    /// The blob's lowest byte, to write to.
    ///
    /// INVALID_ARGUMENT: a shared or borrowed blob, which is read-only.
    ///
    /// @return (transfer none) (nullable) valid while the handle is; NULL on failure, and maybe for
    /// empty memory
    /// @threads exclusive(blob)
    pub fn tnr_blob_data_mut(blob: *mut tnr_blob) -> *mut c_void;

    /// Describes a blob.
    #[must_use]
    pub fn tnr_blob_describe(blob: *const tnr_blob, info: *mut tnr_blob_info) -> tnr_status;

    /// Gives the memory of ended blobs that the library holds back to the system; returns how many
    /// bytes. Blobs that live are not touched. How much is held back at most is set by the
    /// environment variable `TENURE_CACHE_BYTES`, which is read once; 0: nothing is.
    pub fn tnr_memory_trim() -> usize;

    // ==== statistics ====

    /// Reads the process totals.
    #[must_use]
    pub fn tnr_stats_read(stats: *mut tnr_stats) -> tnr_status;

    /// From here on the time of each operation is taken, on every thread: two readings of the clock
    /// for each call, some 50 ns. Off until asked for.
    pub fn tnr_stats_time_start();

    /// Operations that begin from here on are not timed. The counts so far stay.
    pub fn tnr_stats_time_stop();

    /// Reads the totals of one kind of operation. Other threads may be adding to them: each number
    /// is one that was reached, but not all at the same moment.
    ///
    /// INVALID_ARGUMENT: `operation` has no name.
    #[must_use]
    pub fn tnr_operation_stats_read(
        operation: tnr_operation, stats: *mut tnr_operation_stats,
    ) -> tnr_status;

    // ==== views ====

    /// A view of a blob's memory. A use after the blob's end returns STALE_VIEW.
    #[must_use]
    pub fn tnr_blob_view(
        blob: *const tnr_blob, offset_bytes: usize, dtype: tnr_dtype, rank: u32, shape: *const i64,
        strides: *const i64, out: *mut tnr_view,
    ) -> tnr_status;

    /// A view that may be written, of a blob whose holder may write. Otherwise as `tnr_blob_view`;
    /// also INVALID_ARGUMENT for a shared or borrowed blob, and ALIASED when two indices meet in
    /// one byte.
    #[must_use]
    pub fn tnr_blob_view_mut(
        blob: *mut tnr_blob, offset_bytes: usize, dtype: tnr_dtype, rank: u32, shape: *const i64,
        strides: *const i64, out: *mut tnr_view_mut,
    ) -> tnr_status;

    /// Allocates an array in row-major order as `tnr_blob_alloc` does, and gives the view of all of
    /// it, whose owner is the blob.
    #[must_use]
    pub fn tnr_blob_alloc_view(
        context: *mut tnr_context, dtype: tnr_dtype, rank: u32, shape: *const i64,
        out: *mut tnr_view_mut,
    ) -> *mut tnr_blob;

    /// A view of the caller's own memory, without a blob. It is lent anew to each call that gets
    /// it.
    #[must_use]
    pub fn tnr_view_lend(
        base: *const c_void, size_bytes: usize, offset_bytes: usize, dtype: tnr_dtype, rank: u32,
        shape: *const i64, strides: *const i64, out: *mut tnr_view,
    ) -> tnr_status;

    /// Makes a view like `tnr_view_lend`, but to be written; also ALIASED when two indices may
    /// share a byte.
    ///
    /// @param base (counted-by size_bytes)
    #[must_use]
    pub fn tnr_view_lend_mut(
        base: *mut c_void, size_bytes: usize, offset_bytes: usize, dtype: tnr_dtype, rank: u32,
        shape: *const i64, strides: *const i64, out: *mut tnr_view_mut,
    ) -> tnr_status;

    /// The number of elements of a view; -1 for a view that `tnr_view_check` refuses, except for
    /// its owner, which is not checked. `tnr_last_error` has the reason.
    pub fn tnr_view_count(view: *const tnr_view) -> i64;

    /// Writes the elements of a view as text, as NumPy's `str` writes an array: nested in brackets,
    /// all of one notation and one width, rows wrapped at 75 columns, and more than 1000 elements
    /// cut to the ends of their axes. It is the text of `{:.precision$}` in Rust; NumPy's own
    /// precision is 8.
    ///
    /// A text that is cut is no error: `needed_bytes` is the size of the whole text, so a call with
    /// `size_bytes` 0 queries it.
    ///
    /// INVALID_ARGUMENT, STALE_VIEW: as `tnr_view_check`. UNSUPPORTED: a dtype without a name.
    /// OUT_OF_MEMORY: scratch memory for the cells that are shown.
    ///
    /// @param precision digits after the point, at most
    /// @param size_bytes the room at `text`
    /// @param text (out) (counted-by size_bytes) as much as there is room for, which ends with a 0
    /// unless there is room for nothing;
    /// @param needed_bytes (out) the bytes of the whole text with its 0; untouched on failure
    #[must_use]
    pub fn tnr_view_format(
        view: *const tnr_view, precision: u32, size_bytes: usize, text: *mut c_char,
        needed_bytes: *mut usize,
    ) -> tnr_status;

    /// Checks a view as every operation does: rank, extents, spans, alignment, device, reserved
    /// words, and its owner.
    ///
    /// INVALID_ARGUMENT, UNSUPPORTED (dtype, device), STALE_VIEW (owner), BUSY (32,767 users).
    #[must_use]
    pub fn tnr_view_check(view: *const tnr_view) -> tnr_status;

    /// Checks a view as every operation does its output: as `tnr_view_check`; also ALIASED when two
    /// indices may meet in one byte (each stride must exceed the reach of the smaller ones), and
    /// INVALID_ARGUMENT when its owner's memory may not be written.
    #[must_use]
    pub fn tnr_view_check_mut(view: *const tnr_view_mut) -> tnr_status;

    /// The elements start, start + step, ... before stop, along one axis. With a negative step they
    /// descend, and a `stop` of -1 includes index 0. There are no wrapped or clamped indices;
    /// bounds that run against the step give an empty view.
    ///
    /// INVALID_ARGUMENT: step 0, or `start` or `stop` outside 0 to the extent (with a negative
    /// step: outside -1 to the extent - 1).
    #[must_use]
    pub fn tnr_view_slice(
        view: *const tnr_view, axis: u32, start: i64, stop: i64, step: i64, out: *mut tnr_view,
    ) -> tnr_status;

    /// The part at one index of an axis; the axis is gone from the result.
    ///
    /// INVALID_ARGUMENT: `index` outside the axis.
    #[must_use]
    pub fn tnr_view_index(
        view: *const tnr_view, axis: u32, index: i64, out: *mut tnr_view,
    ) -> tnr_status;

    /// Reorders the axes: axis i of the result is axis `axes[i]` of the view.
    ///
    /// INVALID_ARGUMENT: `rank` is not the view's, or `axes` is no permutation.
    #[must_use]
    pub fn tnr_view_permute(
        view: *const tnr_view, rank: u32, axes: *const u32, out: *mut tnr_view,
    ) -> tnr_status;

    /// Exchanges two axes.
    #[must_use]
    pub fn tnr_view_transpose(
        view: *const tnr_view, axis_a: u32, axis_b: u32, out: *mut tnr_view,
    ) -> tnr_status;

    /// A view of the elements in row-major order under another shape, if strides can express it;
    /// never a copy.
    ///
    /// INVALID_ARGUMENT: another element count, or a layout that only a copy could reshape.
    #[must_use]
    pub fn tnr_view_reshape(
        view: *const tnr_view, rank: u32, shape: *const i64, out: *mut tnr_view,
    ) -> tnr_status;

    /// Reshapes a view to one axis, as `tnr_view_reshape` does.
    #[must_use]
    pub fn tnr_view_flatten(view: *const tnr_view, out: *mut tnr_view) -> tnr_status;

    /// Drops an axis of extent 1.
    ///
    /// INVALID_ARGUMENT: the extent is not 1.
    #[must_use]
    pub fn tnr_view_squeeze(view: *const tnr_view, axis: u32, out: *mut tnr_view) -> tnr_status;

    /// Puts an axis of extent 1 before `axis` (at the end when `axis` is the rank).
    ///
    /// INVALID_ARGUMENT: `axis` is over the rank, or the rank is 8.
    #[must_use]
    pub fn tnr_view_unsqueeze(view: *const tnr_view, axis: u32, out: *mut tnr_view) -> tnr_status;

    /// Repeats axes of extent 1, and puts axes in front, with stride 0, as NumPy broadcasts.
    ///
    /// INVALID_ARGUMENT: the shapes do not broadcast.
    #[must_use]
    pub fn tnr_view_broadcast(
        view: *const tnr_view, rank: u32, shape: *const i64, out: *mut tnr_view,
    ) -> tnr_status;

    /// Reverses an axis.
    #[must_use]
    pub fn tnr_view_flip(view: *const tnr_view, axis: u32, out: *mut tnr_view) -> tnr_status;

    /// The parts before and from `index` of an axis. They share no element.
    ///
    /// INVALID_ARGUMENT: `index` over the extent.
    #[must_use]
    pub fn tnr_view_split(
        view: *const tnr_view, axis: u32, index: i64, out_low: *mut tnr_view,
        out_high: *mut tnr_view,
    ) -> tnr_status;

    /// Chunk number `index` of an axis cut into `chunk_count` parts whose extents differ by at most
    /// one, the longer ones first.
    ///
    /// INVALID_ARGUMENT: `chunk_count` below 1, or `index` outside it.
    #[must_use]
    pub fn tnr_view_chunk(
        view: *const tnr_view, axis: u32, chunk_count: i64, index: i64, out: *mut tnr_view,
    ) -> tnr_status;

    /// Sliding windows along an axis: its extent becomes the number of windows, and a new last axis
    /// of extent `size` runs inside each. Windows overlap where `step` is below `size`.
    ///
    /// INVALID_ARGUMENT: `size` outside 1 to the extent, `step` below 1, rank 8.
    #[must_use]
    pub fn tnr_view_windows(
        view: *const tnr_view, axis: u32, size: i64, step: i64, out: *mut tnr_view,
    ) -> tnr_status;

    // ==== exchange ====

    /// Takes a tensor of another library: a blob over its elements, and a view of them with the
    /// tensor's shape and strides. The end of the blob calls the tensor's deleter, once, on
    /// whatever thread that is. A tensor that is marked read-only becomes a shared blob, any other
    /// an adopted one.
    ///
    /// INVALID_ARGUMENT: `ndim` over 8 or negative, a negative extent, data that is NULL or
    /// misaligned. UNSUPPORTED: a major version other than 1, a dtype under 8 bits, memory that is
    /// not the CPU's.
    #[must_use]
    pub fn tnr_blob_import(
        tensor: *mut DLManagedTensorVersioned, out: *mut tnr_view,
    ) -> *mut tnr_blob;

    /// Imports a tensor from before DLPack 1.0, as `tnr_blob_import` does. The blob may be written,
    /// as such a tensor has no read-only flag.
    #[must_use]
    pub fn tnr_blob_import_legacy(
        tensor: *mut DLManagedTensor, out: *mut tnr_view,
    ) -> *mut tnr_blob;

    /// Imports a tensor on the context's device, as `tnr_blob_import` does. The maker of the tensor
    /// has ordered its work so that the elements are ready for work on the context's stream. The
    /// blob keeps the context; its end waits for the work that uses it, and then calls the deleter.
    /// Without a device this is `tnr_blob_import`.
    ///
    /// INVALID_ARGUMENT: also memory that the driver does not know as the device's, or manages.
    /// UNSUPPORTED: also a tensor of another device than the context's.
    #[must_use]
    pub fn tnr_blob_import_on(
        context: *mut tnr_context, tensor: *mut DLManagedTensorVersioned, out: *mut tnr_view,
    ) -> *mut tnr_blob;

    /// Imports a tensor from before DLPack 1.0, as `tnr_blob_import_on` does. The blob may be
    /// written.
    #[must_use]
    pub fn tnr_blob_import_legacy_on(
        context: *mut tnr_context, tensor: *mut DLManagedTensor, out: *mut tnr_view,
    ) -> *mut tnr_blob;

    /// Makes a tensor of DLPack 1.0 over the view's elements, for another library. It holds the
    /// view's blob until its deleter is called, once, on any thread. It is read-only with
    /// `TNR_EXPORT_READ_ONLY`, and if the blob is read-only; otherwise the consumer may write. It
    /// is marked as copied if the blob is a copy.
    ///
    /// INVALID_ARGUMENT: as `tnr_view_check`; no owner, or one that is borrowed.
    #[must_use]
    pub fn tnr_view_export(
        view: *const tnr_view, flags: u32, out: *mut *mut DLManagedTensorVersioned,
    ) -> tnr_status;

    /// Exports a view as `tnr_view_export` does, as a tensor from before DLPack 1.0. Such a tensor
    /// has no read-only flag, so the view must be one that may be written; also ALIASED as
    /// `tnr_view_check_mut`.
    #[must_use]
    pub fn tnr_view_export_legacy(
        view: *const tnr_view_mut, out: *mut *mut DLManagedTensor,
    ) -> tnr_status;

    /// Exports a view on the context's device, as `tnr_view_export` does, for a consumer that works
    /// on the context's stream. The elements are ready for work that the consumer enqueues from now
    /// on. The deleter frees the memory for other uses after the work that the consumer has
    /// enqueued until then. The tensor keeps the context. Without a device this is
    /// `tnr_view_export`.
    ///
    /// INVALID_ARGUMENT: also a view of another device.
    #[must_use]
    pub fn tnr_view_export_on(
        context: *mut tnr_context, view: *const tnr_view, flags: u32,
        out: *mut *mut DLManagedTensorVersioned,
    ) -> tnr_status;

    /// Exports a view on the context's device: the tensor is as from `tnr_view_export_legacy`, the
    /// order of work as from `tnr_view_export_on`.
    ///
    /// INVALID_ARGUMENT: also a view of another device.
    #[must_use]
    pub fn tnr_view_export_legacy_on(
        context: *mut tnr_context, view: *const tnr_view_mut, out: *mut *mut DLManagedTensor,
    ) -> tnr_status;

    /// Imports an object of a Python type that has DLPack's table `exchange`, as
    /// `tnr_blob_import_on` does. Work on the context's stream comes after the work that the
    /// library of the object has given its own current stream so far. The object is read once and
    /// not kept; the caller holds Python's lock.
    ///
    /// INVALID_ARGUMENT: also where a function of the table fails; that library has then set
    /// Python's error. UNSUPPORTED: also a table of another major version than 1, as all in its
    /// chain.
    ///
    /// @param object_context (transfer none) the object, for the table: a `PyObject`
    #[must_use]
    pub fn tnr_blob_import_object(
        context: *mut tnr_context, exchange: *const DLPackExchangeAPI, object_context: *mut c_void,
        out: *mut tnr_view,
    ) -> *mut tnr_blob;

    /// Imports an array that CUDA's array interface describes, as `tnr_blob_import_on` does: a
    /// read-only array becomes a shared blob, any other an adopted one. Work on the context's
    /// stream comes after the work that the array's stream has got so far.
    /// `release(release_context)` gives the array back, when the work that uses it is done.
    ///
    /// INVALID_ARGUMENT: also a context without a device, and strides that are no multiple of an
    /// element. UNSUPPORTED: a `typestr` of no dtype here, or in the other byte order.
    ///
    /// @param context (transfer none)
    #[must_use]
    pub fn tnr_blob_import_array(
        context: *mut tnr_context, array: *const tnr_cuda_array, release: tnr_release_fn,
        release_context: *mut c_void, out: *mut tnr_view,
    ) -> *mut tnr_blob;

    /// Describes a view on the context's device for CUDA's array interface. The elements are ready
    /// in the order of the context's stream, which `out` names. The array does not hold the view's
    /// blob: the caller keeps the blob until the user of the array is done. The array is read-only
    /// if the blob is.
    ///
    /// INVALID_ARGUMENT: as `tnr_view_check`; a view without an owner or of another device, a
    /// context without a device. UNSUPPORTED: bf16, which has no `typestr`.
    ///
    /// @param context (transfer none)
    #[must_use]
    pub fn tnr_view_describe_array(
        context: *mut tnr_context, view: *const tnr_view, out: *mut tnr_cuda_array,
    ) -> tnr_status;

    // ==== operations ====

    /// Copies elements, which keep their dtype. `out` may be exactly `a`. Between the CPU and the
    /// context's device the shapes are equal, and the call waits for the device. Between two
    /// devices the shapes are equal too, one device is the context's, and the call does not wait.
    #[must_use]
    pub fn tnr_copy(
        context: *mut tnr_context, a: *const tnr_view, attributes: *const tnr_extension,
        out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Copies elements as `tnr_copy` does, except that between the CPU and the context's device it
    /// enqueues the copy and returns. The CPU's memory is in use until the copy is done, as
    /// `tnr_context_wait` or an event made later shows: its owner is in use as during a call, and
    /// memory without an owner is kept by the caller. The caller orders other accesses to it in the
    /// meantime. Pinned memory is copied while the CPU goes on.
    ///
    /// INVALID_ARGUMENT: also elements of the CPU with gaps between them, or in another order than
    /// row-major and that of the device's view.
    #[must_use]
    pub fn tnr_copy_async(
        context: *mut tnr_context, a: *const tnr_view, attributes: *const tnr_extension,
        out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Converts elements to `out`'s dtype: floats to integers saturate and NaN gives 0; to f16 and
    /// bf16 rounds once, to nearest even; to bool8 gives whether the value is not 0. A real number
    /// becomes a complex one with an imaginary part of 0; complex converts to complex only. `out`
    /// may be exactly `a`.
    #[must_use]
    pub fn tnr_cast(
        context: *mut tnr_context, a: *const tnr_view, attributes: *const tnr_extension,
        out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Sets every element to `value`.
    ///
    /// @param value representable in `out`'s dtype
    #[must_use]
    pub fn tnr_fill(
        context: *mut tnr_context, value: *const tnr_scalar, attributes: *const tnr_extension,
        out: *const tnr_view_mut,
    ) -> tnr_status;

    /// `out = op(a)`, of the dtype that `op` gives of `a`'s. Where that is `a`'s, `out` may be
    /// exactly `a`.
    #[must_use]
    pub fn tnr_unary(
        context: *mut tnr_context, op: tnr_unary_op, a: *const tnr_view,
        attributes: *const tnr_extension, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// `out = a op b`, all of one dtype. `out` may be exactly `a`, `b` or both.
    ///
    /// INVALID_ARGUMENT also for an integer division by zero. A divisor of 0 that is a number is
    /// refused before any work. A zero in the data is found during the work, and `out` then holds a
    /// mixture of results, zeros and its earlier elements.
    #[must_use]
    pub fn tnr_binary(
        context: *mut tnr_context, op: tnr_binary_op, a: *const tnr_view, b: *const tnr_view,
        attributes: *const tnr_extension, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// `out = a op b` with a number on the right; otherwise as `tnr_binary`.
    ///
    /// @param b representable in `a`'s dtype
    #[must_use]
    pub fn tnr_binary_scalar(
        context: *mut tnr_context, op: tnr_binary_op, a: *const tnr_view, b: *const tnr_scalar,
        attributes: *const tnr_extension, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// `out = a op b` with a number on the left; otherwise as `tnr_binary`.
    ///
    /// @param a representable in `b`'s dtype
    #[must_use]
    pub fn tnr_scalar_binary(
        context: *mut tnr_context, op: tnr_binary_op, a: *const tnr_scalar, b: *const tnr_view,
        attributes: *const tnr_extension, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// `out = a op b` as bool8, `a` and `b` of one dtype. `out` may be exactly an input of bool8.
    #[must_use]
    pub fn tnr_compare(
        context: *mut tnr_context, op: tnr_compare_op, a: *const tnr_view, b: *const tnr_view,
        attributes: *const tnr_extension, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// `out = a op b` as bool8, with a number on the right; otherwise as `tnr_compare`.
    ///
    /// @param b representable in `a`'s dtype
    #[must_use]
    pub fn tnr_compare_scalar(
        context: *mut tnr_context, op: tnr_compare_op, a: *const tnr_view, b: *const tnr_scalar,
        attributes: *const tnr_extension, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// `out = condition ? a : b`, element by element; `a`, `b` and `out` of one dtype. `out` may be
    /// exactly any input.
    ///
    /// @param condition of bool8, broadcast to `out`'s shape
    #[must_use]
    pub fn tnr_select(
        context: *mut tnr_context, condition: *const tnr_view, a: *const tnr_view,
        b: *const tnr_view, attributes: *const tnr_extension, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// `out = op(a, b, c)`, all of one dtype. `out` may be exactly any input.
    #[must_use]
    pub fn tnr_ternary(
        context: *mut tnr_context, op: tnr_ternary_op, a: *const tnr_view, b: *const tnr_view,
        c: *const tnr_view, attributes: *const tnr_extension, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Reduces the axes whose bits are set in `axes` (bit i: axis i). `out` has the other axes, or
    /// all of them with the reduced ones of extent 1; its dtype is the one `op` states.
    ///
    /// A product, a sum, a mean, a variance or a norm of finite floats overflows or underflows only
    /// where the result does, not on the way to it.
    ///
    /// INVALID_ARGUMENT also for attributes that `op` does not take, ARGMIN and ARGMAX over some
    /// but neither one nor all axes, and an empty MIN, MAX, ARGMIN or ARGMAX.
    #[must_use]
    pub fn tnr_reduce(
        context: *mut tnr_context, op: tnr_reduce_op, a: *const tnr_view, axes: u32,
        attributes: *const tnr_reduce_attributes, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// `out = activation(alpha * a b + beta * out + bias)`: the product of dense matrices of any
    /// strides. Where `beta` is 0 `out` is not read, so it may hold anything, NaN included; the sum
    /// of no products (k is 0) is 0. 0 times NaN or an infinity is NaN, also by an `alpha` of 0.
    ///
    /// `a`, `b` and `out` are of one dtype, f64, f32, f16, bf16, c64 or c128; or `a` and `b` of u8
    /// or i8 each, and `out` of i32. f16 and bf16 are computed in f32 and rounded once, `alpha` and
    /// `beta` too. Sums of bytes are exact up to k = 33,025, and wrap beyond 2^31, as all whole
    /// numbers do. An activation is any operation of one operand that takes real sums and does not
    /// give bool8.
    ///
    /// Axes before the last two are a batch: those of `a` and of `b` broadcast to those of `out`. A
    /// vector, of rank 1, is a row as `a` and a column as `b`, and has no axis in `out`: of two
    /// vectors `out` has rank 0.
    ///
    /// An element of the result is a sum over k, in order, by fused multiplication and addition
    /// where the instruction set has it; 512 products are one sum (256 of complex numbers), and
    /// these sums, each times `alpha`, are added to `beta * out` in their order. A complex product
    /// is two of real numbers for each part. So the bits depend neither on the number of threads,
    /// nor on strides, nor on the other elements of the result; under two instruction sets they
    /// differ by the error bound at most, which is `(k + 4) * eps` times the same expression of
    /// magnitudes, eps being the distance from 1 to the next number of the dtype that is computed
    /// in (complex: `(2 k + 8) * eps`, for each part, times that of the magnitudes of all parts),
    /// and one rounding of f16 and bf16. Where the processor multiplies bf16, 1024 products are one
    /// sum, the bound is that of complex numbers, and subnormal factors and sums count as 0.
    ///
    /// Factors are copied into scratch memory, a part at a time: at most 4 MiB (8 bytes a number:
    /// 8) for `b`, and about 1 MiB for each thread. Sums of f16 and bf16, and of complex numbers
    /// where those of `out` are not adjacent or `alpha` or `beta` is not real, take at most 8 MiB
    /// (16). Where threads share the products of a batch, each thread takes all of this.
    ///
    /// INVALID_ARGUMENT also for rank 0, for an `alpha` or `beta` that the dtype cannot represent,
    /// and an activation that names no operation. UNSUPPORTED: other dtypes, and an activation that
    /// does not take the dtype of the sums, gives another one, or has sums that are not real.
    ///
    /// @param a `[..., m, k]` or `[k]`
    /// @param b `[..., k, n]` or `[k]`
    /// @param out `[..., m, n]`
    #[must_use]
    pub fn tnr_matmul(
        context: *mut tnr_context, alpha: *const tnr_scalar, a: *const tnr_view,
        b: *const tnr_view, beta: *const tnr_scalar, attributes: *const tnr_matmul_attributes,
        out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Cross-correlation of images with filters, as in neural networks: element `(n, f, y, x)` of
    /// `out` is the sum, over the channels c of f's group and the elements (i, j) of the kernel, of
    /// `weight[f, c, i, j]` times `a[n, c, y * strides[0] + i * dilations[0] - padding[0], x *
    /// strides[1] + j * dilations[1] - padding[2]]`, which is 0 outside of the image; then
    /// `bias[f]` is added, and the activation and the bounds are applied. All are of one dtype, a
    /// float, and of any strides: NHWC is a view of the shape `[n, channels, height, width]` whose
    /// channels are adjacent. One dimension is a height of 1.
    ///
    /// The channels of a group are split into blocks: a block has as many channels as give at most
    /// 512 products, and at least one. A block's products are one sum, in the order of i, j and c,
    /// in the dtype itself, by fused multiplication and addition where the instruction set has it;
    /// the blocks' sums are added up in their order. Bits and the error bound before the activation
    /// are as those of `tnr_matmul`, for k products.
    ///
    /// Nothing is unrolled as a whole: pixels and weights are copied into scratch memory a part at
    /// a time, at most 4 MiB (f64: 8) of weights, and 0.5 MiB (1) of pixels for each thread. Only
    /// kernels of 4096 elements and more take more, because the pixels and the filters of a tile
    /// have to fit.
    ///
    /// f16 and bf16 are computed in f32 and rounded once, after the bounds. This takes copies in
    /// f32 of the weights, and of 8 MiB of images and results, or of one image and its result where
    /// that is more.
    ///
    /// INVALID_ARGUMENT also for groups that do not divide the channels or the filters, a kernel
    /// that exceeds the padded image, an extent of `out` other than
    /// `(height + padding - (kernel - 1) * dilation - 1) / stride + 1`.
    ///
    /// @param a `[images, channels, height, width]`
    /// @param weight `[filters, channels / groups, kernel height, kernel width]`
    /// @param bias (nullable) `[filters]`
    /// @param out `[images, filters, out height, out width]`
    #[must_use]
    pub fn tnr_conv2d(
        context: *mut tnr_context, a: *const tnr_view, weight: *const tnr_view,
        bias: *const tnr_view, attributes: *const tnr_conv2d_attributes, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Sums of products by Einstein's convention, in NumPy's notation: a term of labels for each
    /// operand, separated by commas, one label for each of its axes, then `->` and the labels of
    /// `out`, as in `"ij,jk->ik"`. All elements whose labels have the same indices are multiplied,
    /// and summed over the labels that `out` does not have. All operands have one dtype, which is
    /// also that of `out`. The exception is a sum of one operand: `out` then has the dtype of SUM,
    /// i64 or u64 for integers.
    ///
    /// Labels are letters; upper and lower case are different labels. Spaces are ignored. A label
    /// that occurs twice in one term is the diagonal of these axes. One `...` in a term means any
    /// number of axes, which are aligned at the last and broadcast; the term of `out` must have it
    /// where an operand has such axes. An axis of extent 1 is repeated to the extent that its label
    /// has elsewhere. Without `->`, `out` has the axes of `...`, then, in the order of ASCII, the
    /// labels that occur once in all terms.
    ///
    /// Two operands are multiplied by `tnr_matmul` on views. An operand is copied first where its
    /// summed axes do not form a single axis, or where a copy is faster to read. Where nothing is
    /// summed, MUL multiplies the operands. Where they have the same labels and the sums are long,
    /// MUL makes the products and SUM adds them. Three and more operands are multiplied in pairs.
    /// For up to 8 operands, dynamic programming over subsets finds the order with the fewest
    /// multiplications (Pfeifer, Haegeman and Verstraete, Physical Review E 90, 033315, 2014). For
    /// more, each step takes the pair with the least growth: the elements of its product less those
    /// of both factors. One operand is copied, or summed by SUM. UNSUPPORTED: dtypes that these do
    /// not take, sums of products of bytes, and calls in which every possible product has over 8
    /// labels that are needed later.
    ///
    /// The order depends only on the spec and the shapes, and the bits do not depend on strides,
    /// except for SUM.
    ///
    /// INVALID_ARGUMENT also for a malformed `spec` (the message names the byte), terms and
    /// operands of different number, and a term without one label for each axis. UNSUPPORTED also:
    /// more than 32 operands, an `out` of more than 8 axes. OUT_OF_MEMORY.
    #[must_use]
    pub fn tnr_einsum(
        context: *mut tnr_context, spec: *const c_char, operands: *const tnr_view,
        operand_count: u32, attributes: *const tnr_extension, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// The shape that `tnr_einsum` requires of `out`, with its errors of the spec, shapes and
    /// dtypes. No element is read.
    #[must_use]
    pub fn tnr_einsum_shape(
        spec: *const c_char, operands: *const tnr_view, operand_count: u32, rank: *mut u32,
        shape: *mut i64,
    ) -> tnr_status;

    /// The transpose of `tnr_conv2d`, which is its derivative by the images: each element of `a`,
    /// times a filter, is added to `out` at the window that a convolution of `out` with the same
    /// attributes would have read there. So element `(n, c, i, j)` of `a` times
    /// `weight[c, f, k, l]` goes to `out[n, f, i * strides[0] + k * dilations[0] - padding[0], j *
    /// strides[1] + l * dilations[1] - padding[2]]`, or nowhere where that lies outside; then
    /// `bias[f]` is added, and the activation applied.
    ///
    /// The smallest extent of `out` is `(height - 1) * stride + (kernel - 1) * dilation + 1 -
    /// padding`; the greatest is one less than the stride or the dilation, whichever is greater,
    /// above it: PyTorch's `output_padding` is the rest.
    ///
    /// Dtypes, the order of a sum, its bound, bits and memory are those of `tnr_conv2d`.
    ///
    /// Errors as `tnr_conv2d`, except for the extents of `out`.
    ///
    /// @param a `[images, channels, height, width]`
    /// @param weight `[channels, filters / groups, kernel height, kernel width]`
    /// @param bias (nullable) `[filters]`
    /// @param out `[images, filters, out height, out width]`
    #[must_use]
    pub fn tnr_conv2d_transposed(
        context: *mut tnr_context, a: *const tnr_view, weight: *const tnr_view,
        bias: *const tnr_view, attributes: *const tnr_conv2d_attributes, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// The maximum or the mean of each window of each channel of images: `op` is MAX or MEAN. The
    /// window of `out[n, c, y, x]` has the existing elements among
    /// `a[n, c, y * strides[0] + i * dilations[0] - padding[0], x * strides[1] + j * dilations[1] -
    /// padding[2]]`, for each (i, j) of the kernel; without attributes it is the whole image. NaN
    /// is a maximum, as in MAX elsewhere. Both views are floats of any strides, as in `tnr_conv2d`.
    ///
    /// A MEAN is a sum in the dtype itself, divided by the number of elements
    /// (TNR_POOL2D_COUNT_PADDING: including those in the padding). A kernel of at most 64 elements
    /// adds them in the order of i and j. A larger one adds runs of 64 elements, and the runs with
    /// their rounding errors, so that the error does not grow with the kernel. Where one window is
    /// the whole image, the mean is that of `tnr_reduce`. f16 and bf16 are computed in f32, as in
    /// `tnr_conv2d`. So the bits depend neither on strides nor on the instruction set.
    ///
    /// INVALID_ARGUMENT also for a kernel that exceeds the padded image (with TNR_POOL2D_CEIL: by a
    /// stride or more), a window without elements, an extent of `out` other than
    /// `(height + padding - (kernel - 1) * dilation - 1) / stride +
    /// 1`, rounded down or as TNR_POOL2D_CEIL has it. UNSUPPORTED: other dtypes and reductions.
    ///
    /// @param a `[images, channels, height, width]`
    /// @param out `[images, channels, out height, out width]`
    #[must_use]
    pub fn tnr_pool2d(
        context: *mut tnr_context, op: tnr_reduce_op, a: *const tnr_view,
        attributes: *const tnr_pool2d_attributes, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// The gradient of the images of a pooling. Each element of `g`, the gradient of the result of
    /// `tnr_pool2d` of `a` by the same `op` and attributes, is added to elements of its window in
    /// `out`: for MAX to the first greatest element in row-major order, which is the first NaN where
    /// the window has one; for MEAN to every element, after the division by the number that the mean
    /// is divided by. Elements in no window are 0. MEAN reads only the shape of `a`.
    ///
    /// The views have one dtype and any strides, as in `tnr_pool2d`; `out` shares no byte with the
    /// others. An element of `out` is a sum in the order of its windows, row by row. f16 and bf16
    /// are computed in f32 and rounded once. The bits depend neither on threads, nor on strides, nor
    /// on the instruction set.
    ///
    /// INVALID_ARGUMENT also for shapes, dtypes and attributes that do not agree, as in
    /// `tnr_pool2d`. UNSUPPORTED: other dtypes and reductions. ALIASED. OUT_OF_MEMORY: of f16 and
    /// bf16 only.
    ///
    /// @param a `[images, channels, height, width]`
    /// @param g `[images, channels, out height, out width]`
    /// @param out as `a`
    #[must_use]
    pub fn tnr_pool2d_gradient(
        context: *mut tnr_context, op: tnr_reduce_op, a: *const tnr_view, g: *const tnr_view,
        attributes: *const tnr_pool2d_attributes, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// The gradient of the filters of a convolution. `g` is the gradient of the result of
    /// `tnr_conv2d` of `a` by filters of the shape of `out` with the same attributes:
    /// `out[f, c, k, l]` is the sum over all images and positions of `g[n, f, i, j] *
    /// a[n, c, i * strides[0] + k * dilations[0] - padding[0], j * strides[1] + l * dilations[1] -
    /// padding[2]]`, where `c` counts the channels of the group of `f`, and elements in the padding
    /// are 0. The gradient of the filters of `tnr_conv2d_transposed` is this operation with the
    /// gradient of its result as `a`, and its images as `g`: the extents of `a` may exceed those
    /// that `g` needs as there.
    ///
    /// Dtypes are those of `tnr_conv2d`; f16 and bf16 are computed in f32 and rounded once. A sum
    /// takes the products in the order of images, rows and columns, in runs of up to 512 pixels that
    /// depend on shapes only; the runs are added. So its bits depend neither on threads nor on
    /// strides.
    ///
    /// INVALID_ARGUMENT also for shapes and dtypes that do not agree, and for an activation, flags
    /// and bounds in the attributes. UNSUPPORTED: other dtypes. ALIASED. OUT_OF_MEMORY; `out` is then
    /// untouched.
    ///
    /// @param a `[images, channels, height, width]`
    /// @param g `[images, filters, out height, out width]`
    /// @param out `[filters, channels / groups, kernel height, kernel width]`
    #[must_use]
    pub fn tnr_conv2d_filters(
        context: *mut tnr_context, a: *const tnr_view, g: *const tnr_view,
        attributes: *const tnr_conv2d_attributes, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Batch normalization by known statistics, as in trained networks: with
    /// `scale = weight / sqrt(var + eps)`, of each channel, `out = (a - mean) * scale + bias`. Axis
    /// 1 has the channels. All are of one dtype, f32 or f64, and of any strides; `out` is exactly
    /// `a` or shares no byte with the others.
    ///
    /// The scale is computed in f64 and rounded to the dtype. The difference, the product and the
    /// sum are rounded one after the other, so that the bits are the same under every set, and an
    /// element that is the mean gives the bias.
    ///
    /// @param a `[n, channels, ...]`
    /// @param mean (nullable) `[channels]`; without it 0
    /// @param var `[channels]`
    /// @param weight (nullable) `[channels]`; without it 1
    /// @param bias (nullable) `[channels]`; without it 0
    /// @param out as `a`
    #[must_use]
    pub fn tnr_batch_norm(
        context: *mut tnr_context, a: *const tnr_view, mean: *const tnr_view, var: *const tnr_view,
        weight: *const tnr_view, bias: *const tnr_view,
        attributes: *const tnr_batch_norm_attributes, out: *const tnr_view_mut,
    ) -> tnr_status;

    // ==== quantized numbers ====

    /// Rounds numbers to integers: `out = a / scale`, rounded to nearest, ties to even, plus `zero`,
    /// and the nearest integer that the dtype has. The quotient is that of f32. NaN becomes the
    /// zero point.
    ///
    /// INVALID_ARGUMENT also for a scale that is not finite or not above 0.
    ///
    /// @param a f32, f16 or bf16, of any shape
    /// @param zeros (nullable) of the shape of `scales`; without them 0
    /// @param out i8 or u8, as `a`
    #[must_use]
    pub fn tnr_quantize(
        context: *mut tnr_context, a: *const tnr_view, scales: *const tnr_view,
        zeros: *const tnr_view, attributes: *const tnr_extension, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Chooses scales from the numbers that each is of, and rounds by them as `tnr_quantize` does.
    /// The shape of `scales` says which numbers share one: with `[m, 1]` each row of a matrix has
    /// its own.
    ///
    /// Without `zeros` the scale is the greatest magnitude divided by 127, and integers are -127 to
    /// 127. With `zeros` all integers are used: the scale is the range, which includes 0, divided by
    /// 255, and the number 0 has an integer of its own, the zero point. Ranges are those of finite
    /// numbers; infinities become the integers at the ends. The scale of zeros is 1.
    ///
    /// @param a f32, f16 or bf16, of any shape
    /// @param scales
    /// @param zeros (nullable) of the shape of `scales`; required for an `out` of u8
    /// @param out i8 or u8, as `a`
    #[must_use]
    pub fn tnr_quantize_dynamic(
        context: *mut tnr_context, a: *const tnr_view, attributes: *const tnr_extension,
        scales: *const tnr_view_mut, zeros: *const tnr_view_mut, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Numbers of integers: `out = (a - zero) * scale`, rounded once to f32, and to the dtype of
    /// `out`.
    ///
    /// INVALID_ARGUMENT also for a scale that is not finite or not above 0.
    ///
    /// @param a i8 or u8, of any shape
    /// @param zeros (nullable) of the shape of `scales`; without them 0
    /// @param out f32, f16 or bf16, as `a`
    #[must_use]
    pub fn tnr_dequantize(
        context: *mut tnr_context, a: *const tnr_view, scales: *const tnr_view,
        zeros: *const tnr_view, attributes: *const tnr_extension, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// `out = activation(a b + bias)` of quantized factors: sums of integers are exact, and become
    /// numbers by the scales. An element is, in f32 and with each operation rounded by itself,
    /// `sum * (a_scale * b_scale) + bias`; the sum is converted to f32, which rounds it beyond 2^24.
    /// So the bits are the same under every instruction set.
    ///
    /// `a` is i8 or u8 with scales of its rows; or f32, f16 or bf16 without scales: each row is then
    /// quantized by its own, as by `tnr_quantize_dynamic` without zeros, or to u8 with them where
    /// `attributes->flags` has `TNR_QUANTIZE_AFFINE_ROWS`. `out` is f32, f16 or bf16,
    /// rounded once; or i8 or u8 by `attributes->out_scale`, as by `tnr_quantize`.
    ///
    /// INVALID_ARGUMENT also for k above 33,025, beyond which sums may not be exact, and a scale
    /// that is not finite or not above 0.
    ///
    /// @param a `[..., m, k]` or `[k]`
    /// @param a_scales (nullable) `[..., m, 1]`, or a shape that broadcasts to it
    /// @param a_zeros (nullable) of the shape of `a_scales`; without them 0
    /// @param b i8 or u8, `[k, n]`
    /// @param b_scales `[n]`, or a shape that broadcasts to it
    /// @param b_zeros (nullable) of the shape of `b_scales`; without them 0
    /// @param out `[..., m, n]` or `[n]`
    #[must_use]
    pub fn tnr_quantized_matmul(
        context: *mut tnr_context, a: *const tnr_view, a_scales: *const tnr_view,
        a_zeros: *const tnr_view, b: *const tnr_view, b_scales: *const tnr_view,
        b_zeros: *const tnr_view, attributes: *const tnr_quantized_matmul_attributes,
        out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Convolutions of quantized images, `[images, channels, height, width]`, with the shapes of
    /// `tnr_conv2d`: exact sums of integers, which become numbers as those of
    /// `tnr_quantized_matmul`. The padding is the zero point of `a`, the number 0. `a` and `weight`
    /// are i8 or u8 in any combination; `out` has the dtypes that `out` has there.
    ///
    /// Views have any strides. Adjacent channels (NHWC) are fastest.
    ///
    /// INVALID_ARGUMENT also for filters of more than 33,025 elements, beyond which sums may not be
    /// exact, and a scale that is not finite or not above 0.
    ///
    /// @param a `[images, channels, height, width]`
    /// @param a_scale of one element
    /// @param a_zero (nullable) of the shape of `a_scale`; without it 0
    /// @param weight `[filters, channels / groups, kernel_height, kernel_width]`
    /// @param weight_scales `[filters, 1, 1, 1]`, or a shape that broadcasts to it
    /// @param weight_zeros (nullable) of the shape of `weight_scales`; without them 0
    /// @param out `[images, filters, out_height, out_width]`
    #[must_use]
    pub fn tnr_quantized_conv2d(
        context: *mut tnr_context, a: *const tnr_view, a_scale: *const tnr_view,
        a_zero: *const tnr_view, weight: *const tnr_view, weight_scales: *const tnr_view,
        weight_zeros: *const tnr_view, attributes: *const tnr_quantized_conv2d_attributes,
        out: *const tnr_view_mut,
    ) -> tnr_status;

    // ==== movement of elements ====

    /// Joins arrays along an axis, one after the other; they agree in dtype and all other extents.
    ///
    /// INVALID_ARGUMENT also for no part.
    #[must_use]
    pub fn tnr_concat(
        context: *mut tnr_context, parts: *const tnr_view, part_count: u32, axis: u32,
        attributes: *const tnr_extension, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Copies `a` into `out` and fills the elements around it by the mode; the attributes give the
    /// position of `a`. The caller chooses the extents of `out`: TNR_PAD_MODE_WRAP with an `out` of
    /// several times the extents repeats `a`, and with one of the same extents rolls it by
    /// `before`.
    ///
    /// INVALID_ARGUMENT also for an empty axis of `a` from which `out` needs elements.
    ///
    /// @param out of the rank of `a`
    #[must_use]
    pub fn tnr_pad(
        context: *mut tnr_context, mode: tnr_pad_mode, a: *const tnr_view,
        attributes: *const tnr_pad_attributes, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Elements of `a` by their indices on an axis, which becomes the axes of `indices`:
    /// `out[.., i, ..] = a[.., indices[i], ..]`, as NumPy's `take`; PyTorch's `index_select`, and
    /// with axis 0 rows of an embedding.
    ///
    /// INVALID_ARGUMENT also for an index that is negative or not below the extent: the message has
    /// its position, and nothing is written.
    #[must_use]
    pub fn tnr_take(
        context: *mut tnr_context, a: *const tnr_view, axis: u32, indices: *const tnr_view,
        attributes: *const tnr_extension, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Elements of `a` by an index each on one axis: `out[i, j] = a[indices[i, j], j]` for axis 0,
    /// as NumPy's `take_along_axis` and PyTorch's `gather`. Other axes of `a` are as long as those
    /// of `indices`.
    ///
    /// Errors as `tnr_take`.
    ///
    /// @param out of the shape of `indices`
    #[must_use]
    pub fn tnr_gather(
        context: *mut tnr_context, a: *const tnr_view, axis: u32, indices: *const tnr_view,
        attributes: *const tnr_extension, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// The reverse of `tnr_take`: `out[.., indices[i], ..] = op(out[.., indices[i], ..], a[.., i,
    /// ..])`, in the order of i. `op` is ADD, MUL, MIN, MAX, or 0, which puts `a` itself, so that
    /// the last of equal indices wins. f16 and bf16 are rounded after each step.
    ///
    /// Errors as `tnr_take`; UNSUPPORTED: another `op`, and dtypes that it does not take.
    ///
    /// @param a of the dtype of `out`
    #[must_use]
    pub fn tnr_put(
        context: *mut tnr_context, op: tnr_binary_op, a: *const tnr_view, axis: u32,
        indices: *const tnr_view, attributes: *const tnr_extension, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// The reverse of `tnr_gather`: `out[indices[i, j], j] = op(out[indices[i, j], j], a[i,
    /// j])` for axis 0, in row-major order of (i, j); otherwise as `tnr_put`.
    ///
    /// Errors as `tnr_put`.
    ///
    /// @param a of the shape of `indices` and the dtype of `out`
    #[must_use]
    pub fn tnr_scatter(
        context: *mut tnr_context, op: tnr_binary_op, a: *const tnr_view, axis: u32,
        indices: *const tnr_view, attributes: *const tnr_extension, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// The indices of the elements that are not zero, in row-major order: an i64 matrix in
    /// row-major order, with a row for each such element and a column for each axis of `a`. NaN is
    /// not zero.
    ///
    /// @param out all of the new blob;
    #[must_use]
    pub fn tnr_nonzero(
        context: *mut tnr_context, a: *const tnr_view, attributes: *const tnr_extension,
        out: *mut tnr_view_mut,
    ) -> *mut tnr_blob;

    /// The elements of `a` where the mask is true, in row-major order: a vector.
    ///
    /// @param mask of bool8, broadcast to the shape of `a`
    /// @param out all of the new blob;
    #[must_use]
    pub fn tnr_masked_select(
        context: *mut tnr_context, a: *const tnr_view, mask: *const tnr_view,
        attributes: *const tnr_extension, out: *mut tnr_view_mut,
    ) -> *mut tnr_blob;

    /// A triangle of matrices, and zeros elsewhere. Axes before the last two are a batch. `out` may
    /// be exactly `a`.
    ///
    /// INVALID_ARGUMENT also for a rank below 2.
    ///
    /// @param a of the shape and dtype of `out`
    #[must_use]
    pub fn tnr_triangular(
        context: *mut tnr_context, part: tnr_triangle, a: *const tnr_view,
        attributes: *const tnr_triangle_attributes, out: *const tnr_view_mut,
    ) -> tnr_status;

    // ==== normalization and scans ====

    /// Normalizes over the axes whose bits are set (bit i: axis i), all of one dtype. `out` may be
    /// exactly `a`. f16 and bf16 are computed in f32 and rounded once.
    ///
    /// UNSUPPORTED: dtypes that are no floats.
    ///
    /// @param a of the shape of `out`
    #[must_use]
    pub fn tnr_normalize(
        context: *mut tnr_context, op: tnr_normalize_op, a: *const tnr_view, axes: u32,
        attributes: *const tnr_normalize_attributes, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Each element of `out` is the reduction of the elements of `a` up to it along the axis,
    /// itself included. `out` may be exactly `a`. The order of operations depends on the extent
    /// and, for numbers near the ends of the range, on the elements; on a device it depends on the
    /// shape and the strides. No order overflows or underflows where one element after the other
    /// does not.
    ///
    /// @param a of the shape of `out`
    #[must_use]
    pub fn tnr_scan(
        context: *mut tnr_context, op: tnr_scan_op, a: *const tnr_view, axis: u32,
        attributes: *const tnr_extension, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Mean and variance over axes at once, as TNR_REDUCE_OP_MEAN and TNR_REDUCE_OP_VAR give them,
    /// whose bits they have.
    ///
    /// Errors as `tnr_reduce`.
    ///
    /// @param mean of the shape of `out`
    #[must_use]
    pub fn tnr_moments(
        context: *mut tnr_context, a: *const tnr_view, axes: u32,
        attributes: *const tnr_moments_attributes, mean: *const tnr_view_mut,
        out: *const tnr_view_mut,
    ) -> tnr_status;

    // ==== ordering ====

    /// Sorts along an axis; equal elements keep their order. NaN is last. -0.0 and 0.0 are equal.
    /// `out` may be exactly `a`. One of both outputs may be NULL: without `out` this is argsort.
    ///
    /// INVALID_ARGUMENT also for no output. UNSUPPORTED: complex.
    ///
    /// @param indices (nullable) of i64: where each was on the axis
    /// @param out (nullable) of the shape of `a`
    #[must_use]
    pub fn tnr_sort(
        context: *mut tnr_context, a: *const tnr_view, axis: u32,
        attributes: *const tnr_sort_attributes, indices: *const tnr_view_mut,
        out: *const tnr_view_mut,
    ) -> tnr_status;

    /// The greatest elements along an axis, sorted, the greatest first; of equal ones the first.
    /// NaN is chosen last. Their number is the extent of the axis in the outputs. One of the two
    /// outputs may be NULL.
    ///
    /// INVALID_ARGUMENT also for more than there are. Otherwise as `tnr_sort`.
    ///
    /// @param indices (nullable) of i64: where each was on the axis
    /// @param out (nullable)
    #[must_use]
    pub fn tnr_top_k(
        context: *mut tnr_context, a: *const tnr_view, axis: u32,
        attributes: *const tnr_top_k_attributes, indices: *const tnr_view_mut,
        out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Puts the element that sorting would put at `kth` there, those that are not greater before it
    /// and those that are not smaller after it, in an order that is not specified but always the
    /// same. `out` may be exactly `a`.
    ///
    /// INVALID_ARGUMENT also for a `kth` that is not below the extent. Otherwise as `tnr_sort`.
    ///
    /// @param indices (nullable) of i64: where each was on the axis
    /// @param out (nullable) of the shape of `a`
    #[must_use]
    pub fn tnr_partition(
        context: *mut tnr_context, a: *const tnr_view, axis: u32, kth: i64,
        attributes: *const tnr_extension, indices: *const tnr_view_mut, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Quantiles over axes: with n elements sorted, the one at `q * (n - 1)`, or between the two
    /// next to it in proportion, as NumPy's `quantile` by default; 0.5 is the median. It is
    /// computed in f64 and rounded once. NaN if one is, and of no elements. Next to an infinite
    /// element the quantile is that element, and between opposite infinities NaN.
    ///
    /// INVALID_ARGUMENT also for a q outside 0 to 1, and for none. UNSUPPORTED: dtypes that are no
    /// floats.
    ///
    /// @param q (counted-by q_count) one at least
    /// @param out `[q_count, ...]`, with the axes of `a` that are not reduced; of the dtype of `a`
    #[must_use]
    pub fn tnr_quantile(
        context: *mut tnr_context, a: *const tnr_view, axes: u32, q: *const f64, q_count: u32,
        attributes: *const tnr_quantile_attributes, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// For each value the index before which it would be inserted into `a` so that `a` stays
    /// sorted: the number of elements that are smaller. If `a` is not sorted, it is some number
    /// from 0 to its length.
    ///
    /// INVALID_ARGUMENT also for an `a` that is no vector. UNSUPPORTED: complex.
    ///
    /// @param a a sorted vector
    /// @param values of the dtype of `a`
    /// @param out of i64, of the shape of `values`
    #[must_use]
    pub fn tnr_searchsorted(
        context: *mut tnr_context, a: *const tnr_view, values: *const tnr_view,
        attributes: *const tnr_searchsorted_attributes, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// The different elements of `a`, sorted, and how often each occurs. NaN are one element, and
    /// last; -0.0 and 0.0 are one. The first of equal elements is the one in the result. Without
    /// `counts` the elements are all of the new blob.
    ///
    /// INVALID_ARGUMENT also for an `inverse` of another shape. UNSUPPORTED: complex.
    ///
    /// @param inverse (nullable) of i64, of the shape of `a`: the place of each element in `out`
    /// @param counts (out) (nullable) of i64, a part of the new blob; untouched on failure
    /// @param out the elements, a part of the new blob;
    #[must_use]
    pub fn tnr_unique(
        context: *mut tnr_context, a: *const tnr_view, attributes: *const tnr_extension,
        inverse: *const tnr_view_mut, counts: *mut tnr_view_mut, out: *mut tnr_view_mut,
    ) -> *mut tnr_blob;

    /// How often each number occurs: `out[a[i]]` is the number of such i, or the sum of their
    /// weights, added up in f64 in the row-major order of i and rounded once.
    ///
    /// INVALID_ARGUMENT also for a number that is negative or not below the extent of `out`, which
    /// is untouched then, and weights where `out` is of neither f32 nor f64.
    ///
    /// @param a of integers
    /// @param out a vector of i64, or with weights of f32 or f64
    #[must_use]
    pub fn tnr_bincount(
        context: *mut tnr_context, a: *const tnr_view, attributes: *const tnr_bincount_attributes,
        out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Counts of elements between edges: element x is counted at i where
    /// `edges[i] <= x < edges[i + 1]`, and in the last element of `out` also where it is the last
    /// edge, as NumPy's `histogram`. Others, and NaN, are not counted. Without `edges` they are
    /// equally spaced from `low` to `high`.
    ///
    /// INVALID_ARGUMENT also for edges that fall, that are NaN, or that are not one more than the
    /// extent of `out`, for `low` and `high` in addition to edges, and where they are not finite or
    /// do not rise. UNSUPPORTED: complex.
    ///
    /// @param edges (nullable) a vector of the dtype of `a`
    /// @param out a vector of i64
    #[must_use]
    pub fn tnr_histogram(
        context: *mut tnr_context, a: *const tnr_view, edges: *const tnr_view,
        attributes: *const tnr_histogram_attributes, out: *const tnr_view_mut,
    ) -> tnr_status;

    // ==== random numbers ====

    /// Random numbers of a distribution. Element i in row-major order depends only on `seed` and
    /// its index `offset + i`, as docs/random.md states. Two calls whose indices do not overlap are
    /// independent; NORMAL uses indices in pairs, 2j and 2j + 1.
    ///
    /// INVALID_ARGUMENT also for an `offset` from which 2^64 would be passed.
    #[must_use]
    pub fn tnr_random(
        context: *mut tnr_context, distribution: tnr_random_distribution, seed: u64, offset: u64,
        attributes: *const tnr_random_attributes, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// A random order of the numbers from 0 to n - 1, each order with the same probability up to
    /// 2^-64 n^2. It uses the indices from `offset` to `offset + n - 1`, and runs on one thread.
    ///
    /// INVALID_ARGUMENT also for more numbers than the dtype can represent. UNSUPPORTED: others.
    ///
    /// @param out `[n]`, of i32 or i64
    #[must_use]
    pub fn tnr_random_permutation(
        context: *mut tnr_context, seed: u64, offset: u64, attributes: *const tnr_extension,
        out: *const tnr_view_mut,
    ) -> tnr_status;

    // ==== packed factors ====

    /// Gives up one handle.
    pub fn tnr_factor_release(factor: *mut tnr_factor) -> tnr_status;

    /// Copies a dense matrix of any strides into the layout of the right factor of `tnr_matmul`,
    /// which each product else makes anew. It pays for products of few rows, whose time is that of
    /// reading `b`, and for one `b` that is multiplied again and again. Any number of threads may
    /// use it at once.
    ///
    /// The layout is that of the instruction set in use, and the memory is the context's: as many
    /// bytes as `b` has; twice that for f16 and complex numbers, and for bf16 and bytes where the
    /// processor does not multiply them; and in addition up to 32 columns, and for bytes some rows.
    /// Later changes of `b` are not seen. No engine but the library's own takes it.
    ///
    /// INVALID_ARGUMENT: a rank that is not 2, an `a_dtype` that is not the dtype of `b`, unless
    /// both are bytes. UNSUPPORTED: a dtype `tnr_matmul` does not take.
    ///
    /// @param b `[k, n]`, copied
    #[must_use]
    pub fn tnr_factor_create(
        context: *mut tnr_context, b: *const tnr_view, attributes: *const tnr_factor_attributes,
    ) -> *mut tnr_factor;
    /// Makes one more handle.
    #[must_use]
    pub fn tnr_factor_retain(factor: *mut tnr_factor) -> *mut tnr_factor;

    /// Describes a packed factor.
    #[must_use]
    pub fn tnr_factor_describe(factor: *const tnr_factor, out: *mut tnr_factor_info) -> tnr_status;

    /// `out = activation(alpha * a b + beta * out + bias)`, as `tnr_matmul` computes it, with the
    /// same bits. `a` may be a vector or have a batch, whose matrices are all multiplied by `b`.
    ///
    ///INVALID_ARGUMENT also for an `a` of another dtype than `b` was packed for. Otherwise as `tnr_matmul`.
    ///
    /// @param a `[..., m, k]` or `[k]`
    /// @param b `[k, n]`
    /// @param out `[..., m, n]`
    #[must_use]
    pub fn tnr_factor_matmul(
        context: *mut tnr_context, alpha: *const tnr_scalar, a: *const tnr_view,
        b: *const tnr_factor, beta: *const tnr_scalar, attributes: *const tnr_matmul_attributes,
        out: *const tnr_view_mut,
    ) -> tnr_status;

    /// `tnr_quantized_matmul` by a factor that `tnr_factor_create` has packed for left factors of the
    /// dtype of `a`; for i8 where `a` is of floats.
    ///
    /// @param a as `a` of `tnr_quantized_matmul`
    /// @param a_scales (nullable) as there
    /// @param a_zeros (nullable) as there
    /// @param b_scales as there
    /// @param b_zeros (nullable) as there
    /// @param out as there
    #[must_use]
    pub fn tnr_factor_quantized_matmul(
        context: *mut tnr_context, a: *const tnr_view, a_scales: *const tnr_view,
        a_zeros: *const tnr_view, b: *const tnr_factor, b_scales: *const tnr_view,
        b_zeros: *const tnr_view, attributes: *const tnr_quantized_matmul_attributes,
        out: *const tnr_view_mut,
    ) -> tnr_status;

    // ==== sparse matrices ====

    /// Gives up one handle. The end of the matrix gives up its blobs.
    pub fn tnr_sparse_release(matrix: *mut tnr_sparse) -> tnr_status;

    /// A view of a matrix of COO, CSR or CSC over the caller's three arrays, without a blob. It is
    /// lent anew to each call that gets it, which checks the indices that it uses. The other fields
    /// are those of one matrix without flags. The number of entries is the number of indices in
    /// `minor_bytes`.
    ///
    /// INVALID_ARGUMENT: an array misaligned, or NULL and not empty, or of another length than the
    /// format requires; a negative `rows` or `cols`; indices of neither i32 nor i64; another
    /// `format`.
    ///
    /// @param index_dtype of `major` and `minor`: i32 or i64
    /// @param major (counted-by major_bytes) `rows + 1` offsets, of CSC `cols + 1`; of COO the row
    /// index of each entry
    /// @param minor (counted-by minor_bytes) the column index of each entry, of CSC the row index
    /// @param dtype of `values`
    /// @param values (counted-by values_bytes) the entries
    #[must_use]
    pub fn tnr_sparse_lend(
        format: tnr_sparse_format, rows: i64, cols: i64, index_dtype: tnr_dtype,
        major: *const c_void, major_bytes: usize, minor: *const c_void, minor_bytes: usize,
        dtype: tnr_dtype, values: *const c_void, values_bytes: usize, out: *mut tnr_sparse_view,
    ) -> tnr_status;

    /// Holds a matrix: each part is a view of a blob, which the matrix retains. Makes the checks of
    /// `tnr_sparse_check`, once: offsets also begin at 0 and end at the number of entries. Blobs
    /// with offsets or indices that could be written are sealed: while the matrix lives, a view for
    /// writing any byte of such a blob is refused, as it is of a shared one. Pointers that were
    /// taken before are the caller's to stop using.
    ///
    /// INVALID_ARGUMENT and UNSUPPORTED as `tnr_sparse_check`, and for an `owner` of the whole or
    /// none of a part. ALIASED: values share bytes with offsets or indices. STALE_VIEW: a part's
    /// owner. BUSY: a call uses a blob that would be sealed, or a blob has too many handles.
    /// DEVICE_ERROR. On failure nothing is retained or sealed.
    #[must_use]
    pub fn tnr_sparse_create(parts: *const tnr_sparse_view) -> *mut tnr_sparse;

    /// Makes one more handle.
    #[must_use]
    pub fn tnr_sparse_retain(matrix: *mut tnr_sparse) -> *mut tnr_sparse;

    /// A view of the whole matrix, with the matrix as its owner.
    #[must_use]
    pub fn tnr_sparse_view_of(matrix: *const tnr_sparse, out: *mut tnr_sparse_view) -> tnr_status;

    /// The blobs of a matrix, each retained for the caller, who releases it: also the same blob
    /// twice. `tnr_sparse_view_of` shows where a part begins in its blob.
    /// `tnr_sparse_batch_offsets` gives the blob of `batch_offsets`.
    ///
    /// BUSY: a blob has 16,777,215 handles.
    #[must_use]
    pub fn tnr_sparse_parts(
        matrix: *const tnr_sparse, major: *mut *mut tnr_blob, minor: *mut *mut tnr_blob,
        values: *mut *mut tnr_blob,
    ) -> tnr_status;

    /// The blob of a batch's `batch_offsets`, retained for the caller, who releases it; NULL for
    /// one matrix.
    ///
    /// BUSY: the blob has 16,777,215 handles.
    #[must_use]
    pub fn tnr_sparse_batch_offsets(
        matrix: *const tnr_sparse, offsets: *mut *mut tnr_blob,
    ) -> tnr_status;

    /// A view of matrix `index` of a batch: parts of the same arrays, with the same owners, so
    /// nothing is copied, and earlier checks are not repeated.
    ///
    /// INVALID_ARGUMENT: errors that `tnr_sparse_check` finds in the shape and in `batch_offsets`;
    /// no batch; an `index` out of range.
    #[must_use]
    pub fn tnr_sparse_batch_at(
        batch: *const tnr_sparse_view, index: i64, out: *mut tnr_sparse_view,
    ) -> tnr_status;

    /// Checks a matrix: its shape and parts as every operation does, every offset and index, and
    /// its flags. The message names the part, the position, the value and the bound.
    ///
    /// Offsets and indices on a device are copied to the CPU for it, after the work that was
    /// enqueued on them; a part at least has a blob then.
    ///
    /// INVALID_ARGUMENT, UNSUPPORTED (dtype, parts on several devices, a batch on one, blocks over
    /// `TNR_SPARSE_MAX_BLOCK`), STALE_VIEW (owners), BUSY (32,767 users), OUT_OF_MEMORY (only where
    /// entries are UNIQUE but not SORTED, and for a matrix on a device), DEVICE_ERROR. About a
    /// batch the message begins with "matrix 3: ".
    #[must_use]
    pub fn tnr_sparse_check(view: *const tnr_sparse_view) -> tnr_status;

    /// Checks a matrix whose values are to be written: as `tnr_sparse_check`; also ALIASED when
    /// they share bytes with offsets or indices, and INVALID_ARGUMENT when their owner may not be
    /// written.
    #[must_use]
    pub fn tnr_sparse_check_mut(view: *const tnr_sparse_view_mut) -> tnr_status;

    // ==== sparse conversions ====

    /// The entries of a dense matrix: those elements that the attributes' predicate names, each
    /// once and in order, so the result is SORTED and UNIQUE. A block of BSR is an entry as soon as
    /// one of its elements is; the others of it keep their values, with GREATER, MAGNITUDE_GREATER
    /// and MASK too.
    ///
    /// Elements `[rows, cols]` make a matrix, `[batches, rows, cols]` a batch, with i64
    /// `batch_offsets`.
    ///
    /// Takes memory for the result, for the entries of a panel of columns of each thread in CSC
    /// (1.2 MiB where a tenth of the elements are entries, 24 MiB at most), up to 2 MiB for each
    /// thread in other formats, and for a batch in COO an index for each row.
    ///
    /// On a device it gives COO, CSR or CSC of one matrix, and waits for the number of entries.
    /// Until then it has room for entries of one in eight elements, or of 65,536; where there are
    /// more, the elements are read twice.
    ///
    /// INVALID_ARGUMENT: a rank that is not 2 or 3, a threshold that is NaN or does not fit the
    /// dtype, a mask of another shape or dtype, blocks that do not divide the shape or are below 1.
    /// UNSUPPORTED: elements of 16 bytes; bool8 and complex ones with GREATER and
    /// MAGNITUDE_GREATER; blocks over `TNR_SPARSE_MAX_BLOCK`.
    #[must_use]
    pub fn tnr_sparse_from_dense(
        context: *mut tnr_context, format: tnr_sparse_format, dense: *const tnr_view,
        attributes: *const tnr_sparse_from_dense_attributes,
    ) -> *mut tnr_sparse;

    /// The `k` largest elements of each row of a dense matrix, as CSR: `k` entries in each row,
    /// zeros too if they are among them; of equals the first. A NaN is less than everything, so it
    /// is taken last. The result is SORTED and UNIQUE. Each thread takes 8 KiB, 32 bytes for each
    /// of `k`, and a row where its elements are not contiguous.
    ///
    /// INVALID_ARGUMENT: a rank that is not 2, a `k` that is negative or above the columns.
    /// UNSUPPORTED: elements that are complex, bool8 or integers of 64 bits.
    #[must_use]
    pub fn tnr_sparse_from_dense_top_k(
        context: *mut tnr_context, order: tnr_sparse_order, dense: *const tnr_view, k: i64,
        attributes: *const tnr_sparse_top_k_attributes,
    ) -> *mut tnr_sparse;

    /// Dropout on a dense matrix, as CSR: each element becomes 0 with the probability given, by a
    /// random number of its own, and is multiplied by `1 / (1 - probability)` else, which is
    /// rounded to the dtype first. A 0 is no entry; a NaN that is not dropped is. Whether an
    /// element is dropped depends only on the seed and on its index in row-major order. SORTED and
    /// UNIQUE; reads and takes memory as `tnr_sparse_from_dense`.
    ///
    /// Element i is dropped where `tnr_random` by BERNOULLI, with the same probability and seed and
    /// an offset of 0, is true: where word i of Philox4x32-10 is below the probability times 2^32,
    /// rounded (docs/random.md).
    ///
    /// INVALID_ARGUMENT: a rank that is not 2, a probability that is not at least 0 and below 1 or
    /// whose factor overflows the dtype. UNSUPPORTED: elements that are no floats.
    #[must_use]
    pub fn tnr_sparse_from_dense_dropout(
        context: *mut tnr_context, dense: *const tnr_view, probability: f64, seed: u64,
        attributes: *const tnr_sparse_dropout_attributes,
    ) -> *mut tnr_sparse;

    /// The entries of `activation(alpha * a b + bias)`, as CSR: the product of dense matrices is
    /// computed some rows at a time, and the elements of these that the attributes' predicate names
    /// become entries. Each value has the bits of `tnr_matmul`, and the matrix is that of
    /// `tnr_sparse_from_dense`: SORTED and UNIQUE.
    ///
    /// Dtypes, `alpha`, bias and activation are those of `tnr_matmul`, as far as
    /// `tnr_sparse_from_dense` takes the dtype of the product; bytes give i32. Takes memory for the
    /// result, for the factors as `tnr_matmul`, and for 512 rows of the product, or 8 MiB of it
    /// where these have more. Where there are more rows, and the context has an allocator of its
    /// own, which cannot give memory whose size is known only at the end, products are computed
    /// twice.
    ///
    /// INVALID_ARGUMENT: as `tnr_matmul`, and a rank that is not 2; a threshold as of
    /// `tnr_sparse_from_dense`, and MASK.
    ///
    /// @param a `[m, k]`
    /// @param b `[k, n]`
    #[must_use]
    pub fn tnr_sparse_from_matmul(
        context: *mut tnr_context, alpha: *const tnr_scalar, a: *const tnr_view,
        b: *const tnr_view, attributes: *const tnr_sparse_from_matmul_attributes,
    ) -> *mut tnr_sparse;

    /// Writes a matrix to dense memory `[rows, cols]`, a batch to `[batches, rows, cols]`: zeros,
    /// and the entries where they are. Several entries for one position are added up, in their
    /// order; with the flag UNIQUE a position has one entry at most, and the dtype may be one
    /// without sums. A sum of f16 or bf16 is rounded once: where they are not UNIQUE and those of a
    /// row do not rise, the matrix is coalesced first, and takes memory for it.
    ///
    /// On a device `a` is CSR or CSC; of f16 or bf16 it is UNIQUE. Waits, unless offsets and
    /// indices are those of a `tnr_sparse`.
    #[must_use]
    pub fn tnr_sparse_to_dense(
        context: *mut tnr_context, a: *const tnr_sparse_view, attributes: *const tnr_extension,
        out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Converts a matrix to another format, to another index type, or to entries in order
    /// (`TNR_CONVERT_SORT`). Every entry is kept, duplicates and zeros too, with its bytes: NaN
    /// payloads and the signs of zeros stay, and a bool8 that is not 0 becomes 1. The transpose of
    /// a CSR needs no conversion: it is a CSC view of the same arrays.
    ///
    /// Within a row of CSR, or a column of CSC, entries stay in the order that they had; a result
    /// that comes from the other of the two is SORTED. CSC to COO orders them by columns. Each
    /// element of a block of BSR becomes an entry; where BSR is made, the other elements of a block
    /// are zero.
    ///
    /// Takes memory for one more copy of the result while it lasts, two where CSR or COO is sorted,
    /// and offsets of rows and columns.
    ///
    /// On a device COO becomes CSR, CSC or COO, and CSR and CSC keep their format. The index type
    /// stays, values have up to 8 bytes, and there are fewer than 2^31 entries. Waits for the check
    /// of the indices; takes 20 bytes for each entry while it lasts, and 4 where none is moved.
    ///
    /// INVALID_ARGUMENT: blocks that do not divide the shape, a duplicate where BSR is made.
    /// UNSUPPORTED: values that have not 1, 2, 4, 8 or 16 bytes, blocks over
    /// `TNR_SPARSE_MAX_BLOCK`.
    #[must_use]
    pub fn tnr_sparse_convert(
        context: *mut tnr_context, format: tnr_sparse_format, a: *const tnr_sparse_view,
        attributes: *const tnr_sparse_convert_attributes,
    ) -> *mut tnr_sparse;

    /// Puts the entries of a matrix in order, and combines the entries of one position to one by
    /// `combine`. Entries that are zero, or become it, are kept. The result has the format and the
    /// index type of `a`; a COO is ordered by rows.
    ///
    /// Takes memory as `tnr_sparse_convert` does where entries have to be sorted.
    ///
    /// On a device `a` has fewer than 2^31 entries, of up to 8 bytes. Waits for the number of
    /// entries of the result; takes 20 bytes for each entry of `a` while it lasts, and 4 where they
    /// have the flag SORTED.
    ///
    /// UNSUPPORTED: BSR; values that have no such operation.
    #[must_use]
    pub fn tnr_sparse_coalesce(
        context: *mut tnr_context, combine: tnr_sparse_combine, a: *const tnr_sparse_view,
        attributes: *const tnr_extension,
    ) -> *mut tnr_sparse;

    /// The entries of `a` that the attributes' predicate names, in the same order, format and index
    /// type.
    ///
    /// INVALID_ARGUMENT: MASK, and a threshold that is NaN or does not fit the dtype. UNSUPPORTED:
    /// BSR; values of 16 bytes; bool8 and complex ones with GREATER and MAGNITUDE_GREATER.
    #[must_use]
    pub fn tnr_sparse_prune(
        context: *mut tnr_context, a: *const tnr_sparse_view,
        attributes: *const tnr_sparse_prune_attributes,
    ) -> *mut tnr_sparse;

    /// The `k` largest entries of each row of a CSR, in the same order and index type; of equals
    /// the first, of a row with fewer all. A NaN is less than everything, so it is dropped first.
    ///
    /// INVALID_ARGUMENT: a `k` that is negative or above `a.cols`. UNSUPPORTED: COO, CSC and BSR;
    /// values that are complex, bool8 or integers of 64 bits.
    #[must_use]
    pub fn tnr_sparse_top_k(
        context: *mut tnr_context, order: tnr_sparse_order, a: *const tnr_sparse_view, k: i64,
        attributes: *const tnr_extension,
    ) -> *mut tnr_sparse;

    /// Rows and columns of a CSR or CSC, as a new matrix: row i of it is row `rows[i]` of `a`,
    /// column j column `cols[j]`. A list may name them in any order and any of them several times;
    /// NULL is all in their order. Each is of rank 1, of i32 or i64. The result has the format and
    /// the index type of `a`, and the entries of a row (CSC: column) in the order that they have
    /// there, those of a column that is listed several times in the order of the list. It is UNIQUE
    /// where `a` is, and SORTED where `a` is and the numbers within a row never fall.
    ///
    /// In addition to the result it takes memory for a number for each row of the result, for each
    /// number in the lists, and for each column of `a` where there are no more than a few columns
    /// for each entry.
    ///
    /// INVALID_ARGUMENT: a list of another rank or dtype, a number that names no row or column.
    /// UNSUPPORTED: COO and BSR.
    ///
    /// @param rows (nullable)
    /// @param cols (nullable)
    #[must_use]
    pub fn tnr_sparse_select(
        context: *mut tnr_context, a: *const tnr_sparse_view, rows: *const tnr_view,
        cols: *const tnr_view, attributes: *const tnr_extension,
    ) -> *mut tnr_sparse;

    /// A block of a CSR or CSC, as a new matrix: `row_count` rows from `first_row` on, and of these
    /// `col_count` columns. The result is that of `tnr_sparse_select` with these numbers.
    ///
    /// INVALID_ARGUMENT: a block that leaves the matrix. UNSUPPORTED: COO and BSR.
    #[must_use]
    pub fn tnr_sparse_slice(
        context: *mut tnr_context, a: *const tnr_sparse_view, first_row: i64, row_count: i64,
        first_col: i64, col_count: i64, attributes: *const tnr_extension,
    ) -> *mut tnr_sparse;

    /// Matrices joined to one, in the order of the list. They agree in format, in the dtypes of
    /// their values and indices, and in the extent across the join; the result has the same. Its
    /// entries are theirs, in their order within each part. It is SORTED and UNIQUE where all of
    /// them are; COO joined by COLS is at most UNIQUE.
    ///
    /// INVALID_ARGUMENT: no part, parts that do not agree. UNSUPPORTED: BSR.
    ///
    /// @param parts (counted-by part_count) pointers to matrices, one at least
    #[must_use]
    pub fn tnr_sparse_concat(
        context: *mut tnr_context, join: tnr_sparse_join, parts: *const *const tnr_sparse_view,
        part_count: u32, attributes: *const tnr_extension,
    ) -> *mut tnr_sparse;

    /// The Kronecker product of two matrices of one format and one pair of dtypes: `b` times each
    /// element of `a`, at its position. Each entry of the result is a product of two entries,
    /// rounded once; integers wrap. The result is SORTED and UNIQUE where both are; entries of a
    /// row (CSC: column) are in the order of those of `a`, and of `b` for each.
    ///
    /// INVALID_ARGUMENT: formats or dtypes that differ. UNSUPPORTED: COO and BSR; values that are
    /// complex or bool8.
    #[must_use]
    pub fn tnr_sparse_kron(
        context: *mut tnr_context, a: *const tnr_sparse_view, b: *const tnr_sparse_view,
        attributes: *const tnr_extension,
    ) -> *mut tnr_sparse;

    /// The entries of a triangle of a matrix, as a new matrix of the same format, dtypes and order.
    ///
    /// UNSUPPORTED: COO and BSR.
    #[must_use]
    pub fn tnr_sparse_triangular(
        context: *mut tnr_context, part: tnr_triangle, a: *const tnr_sparse_view,
        attributes: *const tnr_triangle_attributes,
    ) -> *mut tnr_sparse;

    // ==== sparse operations ====

    /// `out = alpha * a b + beta * out`, with a sparse matrix `a`, or its transpose, and dense `b`
    /// and `out`: both vectors, or both matrices, of `a`'s dtype and of any strides. Where `beta`
    /// is 0 `out` is not read, so it may hold anything, NaN included. The sums of f16 and bf16 are
    /// f32 and are rounded once; integers wrap. A position that has several entries is their sum.
    ///
    /// With a batch `out` has one axis more in front, of the batch's length, and so has `b`, unless
    /// all matrices share one.
    ///
    /// Where the entries of a row go to many sums (COO that is not SORTED, CSC as it is, CSR and
    /// BSR transposed), the sums take memory in addition to `out`, up to eight times 256 bytes for
    /// each of its rows; a `tnr_sparse` of COO that is SORTED takes an offset for each row. Columns
    /// of `b` that are not adjacent, and rows that are read often and cross lines of the cache, are
    /// copied, up to 256 bytes of each row at a time. Where `a` has fewer entries than `b` rows,
    /// `b` is read without a copy, whatever its strides.
    ///
    /// On a device `a` is CSR as it is, or CSC TRANSPOSED, of f64, f32, f16 or bf16; no memory is
    /// taken. Waits, unless offsets and indices are those of a `tnr_sparse`.
    ///
    /// INVALID_ARGUMENT also for an `alpha` or `beta` that the dtype cannot represent. UNSUPPORTED:
    /// values that are complex or bool8.
    ///
    /// @param a [m, k]; TRANSPOSED: [k, m]
    /// @param b `[k]` or `[k, n]`
    /// @param out `[m]` or `[m, n]`
    #[must_use]
    pub fn tnr_sparse_matmul(
        context: *mut tnr_context, orientation: tnr_orientation, alpha: *const tnr_scalar,
        a: *const tnr_sparse_view, b: *const tnr_view, beta: *const tnr_scalar,
        attributes: *const tnr_extension, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// The product of two matrices: CSR of two CSR, CSC of two CSC; coalesced. It has an entry
    /// wherever an entry of `a` meets one of `b`, also where the sum is 0. A sum begins at 0 and
    /// takes the products in the order of `a`'s entries (CSC: `b`'s), in the dtype of the values.
    /// In addition to operands and result, each thread takes a few bytes for each column of the
    /// result (CSC: row), where that is some MiB at most or a row has products for a fair part of
    /// them; else for each product of the row that has most.
    ///
    /// INVALID_ARGUMENT: `a.cols` is not `b.rows`; dtypes of values or of indices differ.
    /// UNSUPPORTED: COO and BSR, two formats, values other than f32 and f64.
    #[must_use]
    pub fn tnr_sparse_product(
        context: *mut tnr_context, a: *const tnr_sparse_view, b: *const tnr_sparse_view,
        attributes: *const tnr_extension,
    ) -> *mut tnr_sparse;

    /// The product of two matrices, only at the entries of a third one: CSR of three CSR, CSC of
    /// three CSC. The values of `mask` are not read. The result has the entries of
    /// `tnr_sparse_product` that `mask` has too, with the same bits, in the order of `mask`, and is
    /// SORTED and UNIQUE where `mask` is; an entry that `mask` has twice occurs twice. In addition
    /// to operands and result, each thread takes a few bytes for each entry of the row of `mask`
    /// that has most, and for each column of the result (CSC: row) where these are few, or the
    /// entries of `mask` are many.
    ///
    /// INVALID_ARGUMENT, UNSUPPORTED: as `tnr_sparse_product`, of the three; a `mask` of another
    /// shape than the product.
    #[must_use]
    pub fn tnr_sparse_product_masked(
        context: *mut tnr_context, a: *const tnr_sparse_view, b: *const tnr_sparse_view,
        mask: *const tnr_sparse_view, attributes: *const tnr_extension,
    ) -> *mut tnr_sparse;

    /// The product of dense `x` and `y`, only at the entries of a sparse matrix ("SDDMM"): for an
    /// entry at row i and column j, `alpha` times the sum of row i of `x` times column j of `y`;
    /// with `TNR_SDDMM_TIMES_VALUES` times the entry's own value. A position that has several
    /// entries gets a result for each. All of `a`'s dtype; sums of f16 and bf16 are f32, rounded
    /// once; integers wrap. Where a row of `x` or a column of `y` is not adjacent, all are copied,
    /// unless they are more than the entries: then they are read without a copy.
    ///
    /// On a device `a` is CSR or CSC, of f64, f32, f16 or bf16; nothing is copied. Waits.
    ///
    /// INVALID_ARGUMENT also for an `out` that is not row-major, and an `alpha` that the dtype
    /// cannot represent. UNSUPPORTED: values that are complex or bool8.
    ///
    /// @param a [m, n]
    /// @param x [m, k], any strides
    /// @param y [k, n], any strides
    /// @param out of the shape of `a.values`, of a range of its part of them; may be exactly these
    #[must_use]
    pub fn tnr_sparse_sddmm(
        context: *mut tnr_context, alpha: *const tnr_scalar, a: *const tnr_sparse_view,
        x: *const tnr_view, y: *const tnr_view, attributes: *const tnr_sparse_sddmm_attributes,
        out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Arithmetic of two matrices of one shape, element by element, as a new one: of two coalesced
    /// CSR or CSC, coalesced. ADD, SUB, MIN and MAX have an entry wherever `a` or `b` has one, and
    /// read 0 where the other has none; MUL has one where both have. Results that are 0 stay
    /// entries. The results are those of dense matrices with zeros, except that MUL takes the
    /// product with a missing entry as 0.
    ///
    /// INVALID_ARGUMENT: flags other than SORTED and UNIQUE; two shapes; dtypes of values or of
    /// indices differ. UNSUPPORTED: an operation that is not 0 at 0, as DIV, REM and POW; COO and
    /// BSR; two formats; complex values, and a dtype that `tnr_binary` does not take.
    #[must_use]
    pub fn tnr_sparse_binary(
        context: *mut tnr_context, op: tnr_binary_op, a: *const tnr_sparse_view,
        b: *const tnr_sparse_view, attributes: *const tnr_extension,
    ) -> *mut tnr_sparse;

    /// Adds the entries of a CSR or CSC matrix to dense memory of its shape, in place; the other
    /// elements are not touched. Integers wrap.
    ///
    /// UNSUPPORTED: COO and BSR; values other than f32, f64, i32 and i64.
    #[must_use]
    pub fn tnr_sparse_accumulate(
        context: *mut tnr_context, a: *const tnr_sparse_view, attributes: *const tnr_extension,
        out: *const tnr_view_mut,
    ) -> tnr_status;

    /// A function of each entry, as a new matrix that shares offsets and indices with the one that
    /// `a` is a view of, by an operation that is 0 at 0. `a` is all of a held matrix; of lent
    /// arrays, `tnr_unary` on the values is all there is to do.
    ///
    /// INVALID_ARGUMENT: `a` has no owner, or is rows of it. UNSUPPORTED: an operation that is not
    /// 0 at 0, as EXP, or that gives another dtype, as ABS of complex values; bool8 values, and a
    /// dtype that `tnr_unary` does not take.
    #[must_use]
    pub fn tnr_sparse_unary(
        context: *mut tnr_context, op: tnr_unary_op, a: *const tnr_sparse_view,
        attributes: *const tnr_extension,
    ) -> *mut tnr_sparse;

    /// Multiplies each entry of a CSR or CSC matrix by the factor of its row (`axis` 0) or column
    /// (`axis` 1), in place: the product with a diagonal matrix from the left or from the right.
    /// Integers wrap. By one number: `tnr_binary_scalar` on the values.
    ///
    /// INVALID_ARGUMENT: `factors` is not of rank 1, as long as the axis and of the values' dtype.
    /// UNSUPPORTED: COO and BSR; values other than f32, f64, i32 and i64.
    ///
    /// @threads exclusive(a)
    #[must_use]
    pub fn tnr_sparse_scale(
        context: *mut tnr_context, factors: *const tnr_view, axis: u32,
        attributes: *const tnr_extension, a: *const tnr_sparse_view_mut,
    ) -> tnr_status;

    /// Replaces the entries of each row of a CSR matrix by their softmax, in place: exp(x) over the
    /// sum of them. Elements without an entry take no part, as if they were -infinity; a row
    /// without entries stays. Dtypes are f32 and f64; a row with a NaN is all NaN.
    ///
    /// @threads exclusive(a)
    #[must_use]
    pub fn tnr_sparse_softmax(
        context: *mut tnr_context, attributes: *const tnr_extension, a: *const tnr_sparse_view_mut,
    ) -> tnr_status;

    /// Reduces a CSR or CSC matrix over its rows (`axes` 1: a result for each column), its columns
    /// (2: one for each row) or both (3: one, `out` of rank 0), as `tnr_reduce` does the dense
    /// matrix: SUM, MIN, MAX, and COUNT of elements that are not zero; COUNT, and a sum of i32, is
    /// i64. Missing entries take part as zeros: where all entries are positive, they are the
    /// smallest. Sums of f32 accumulate in f64, in an order that depends only on the offsets.
    ///
    /// INVALID_ARGUMENT: MIN and MAX of no elements; all but SUM without the flag UNIQUE.
    /// UNSUPPORTED: other operations; COO and BSR; values other than f32, f64, i32 and i64.
    #[must_use]
    pub fn tnr_sparse_reduce(
        context: *mut tnr_context, op: tnr_reduce_op, a: *const tnr_sparse_view, axes: u32,
        attributes: *const tnr_reduce_attributes, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// A norm of a CSR or CSC matrix, computed in f64. NaN if an entry is. Without entries: 0.
    ///
    /// INVALID_ARGUMENT: a matrix without the flag UNIQUE. UNSUPPORTED: COO and BSR; values other
    /// than f32 and f64.
    #[must_use]
    pub fn tnr_sparse_norm(
        context: *mut tnr_context, kind: tnr_sparse_norm_kind, a: *const tnr_sparse_view,
        attributes: *const tnr_extension, out: *mut f64,
    ) -> tnr_status;

    /// Writes the diagonal of a CSR or CSC matrix to `out`, of rank 1 and as long as the shorter
    /// axis; 0 for a position without an entry, the sum of several entries.
    ///
    /// UNSUPPORTED: COO and BSR; values other than f32, f64, i32 and i64.
    #[must_use]
    pub fn tnr_sparse_diagonal(
        context: *mut tnr_context, a: *const tnr_sparse_view, attributes: *const tnr_extension,
        out: *const tnr_view_mut,
    ) -> tnr_status;

    /// Solves a triangular system by substitution: `out` becomes the x of a x = b, for each column
    /// where `b` and `out` have rank 2. `out` may be exactly `b`. Entries beyond the triangle that
    /// the attributes' flags name (TNR_SOLVE_UPPER, else the lower one) are not looked at; nor,
    /// with TNR_SOLVE_UNIT_DIAGONAL, those of the diagonal. TNR_SOLVE_TRANSPOSED solves a^T x = b
    /// for the same triangle of `a`: it takes the rows in the opposite order, and subtracts the
    /// products of a row from the elements of its columns.
    ///
    /// INVALID_ARGUMENT: a matrix that is not square; a diagonal that is 0 or missing in a row,
    /// which is named (then `out` is a mixture). UNSUPPORTED: other formats than CSR; dtypes other
    /// than f32 and f64.
    #[must_use]
    pub fn tnr_sparse_solve(
        context: *mut tnr_context, a: *const tnr_sparse_view, b: *const tnr_view,
        attributes: *const tnr_sparse_solve_attributes, out: *const tnr_view_mut,
    ) -> tnr_status;

    // ==== packed matrices ====

    /// Gives up one handle.
    pub fn tnr_packed_release(packed: *mut tnr_packed) -> tnr_status;

    /// Copies a CSR matrix into a layout whose products with vectors read fewer bytes. With AUTO:
    /// blocks, where all entries are in blocks without gaps of one shape (8x8, 4x4, 2x2, 8x1, 4x1,
    /// 1x8 or 1x4, the one that takes the fewest bytes) that begin at multiples of it, unless a
    /// bitmap takes fewer bytes; a bitmap where a fifth of the elements or more have entries and
    /// columns rise within each row; else numbers of 16 bits, unless these, with the bytes of each
    /// group of 64 rows, are more bytes than numbers of 32, or cut rows into pieces of less than 16
    /// entries. The choice depends only on the matrix, and `tnr_packed_describe` reports it.
    ///
    /// Entries keep their order, and a position may have several, except in a bitmap. The memory is
    /// the context's. Later changes of `a` are not seen.
    ///
    /// INVALID_ARGUMENT: BITMAP for rows whose columns do not rise. UNSUPPORTED: a format that is
    /// not CSR; dtypes that are no floats; BLOCKS for entries that are not all in blocks; 64
    /// consecutive rows with columns in more than 64 ranges of the layout's numbers (AUTO: of
    /// 2^31).
    #[must_use]
    pub fn tnr_packed_create(
        context: *mut tnr_context, a: *const tnr_sparse_view,
        attributes: *const tnr_packed_attributes,
    ) -> *mut tnr_packed;
    /// Makes one more handle.
    #[must_use]
    pub fn tnr_packed_retain(packed: *mut tnr_packed) -> *mut tnr_packed;

    /// Describes a packed matrix.
    #[must_use]
    pub fn tnr_packed_describe(packed: *const tnr_packed, out: *mut tnr_packed_info) -> tnr_status;

    /// `out = alpha * packed b + beta * out`, as `tnr_sparse_matmul` computes it. A `b` with
    /// several columns is multiplied one column after the other, for which `tnr_sparse_matmul` is
    /// faster from a few columns on.
    ///
    /// A row's products are added up in the order of the layout: with numbers of 16 or 32 bits as
    /// by `tnr_sparse_matmul` where the columns of 64 rows are in one range and a row has 65,536
    /// entries at most; for f32 and f64 the result then has the same bits. Sums of f16 and bf16 are
    /// f32, rounded once.
    ///
    /// A column of `b` that is not adjacent, or of f16 or bf16, is copied where it has no more
    /// elements than `packed` has entries; of a bitmap, where that has more than 32 rows. Else it
    /// is read without a copy.
    ///
    /// INVALID_ARGUMENT: shapes and dtypes that do not agree.
    ///
    /// @param packed [m, k]
    /// @param b `[k]` or `[k, n]`
    /// @param out `[m]` or `[m, n]`
    #[must_use]
    pub fn tnr_packed_matmul(
        context: *mut tnr_context, alpha: *const tnr_scalar, packed: *const tnr_packed,
        b: *const tnr_view, beta: *const tnr_scalar, attributes: *const tnr_extension,
        out: *const tnr_view_mut,
    ) -> tnr_status;

    // ==== expressions ====

    /// Computes an expression in one pass: each node has the bits that the call of its operation
    /// would give on whole tensors, rounded or wrapped to its dtype, and no temporary is made of
    /// it. Views broadcast to the shape of all views together, as in NumPy; the result of an
    /// expression whose last node neither reduces nor normalizes is broadcast to `out`'s shape.
    ///
    /// Bits are those of the calls one by one, with row-major temporaries, for any number of
    /// threads. Integer divisors of 0 and negative powers of integers are found on the data as by
    /// `tnr_binary`: INVALID_ARGUMENT, and `out` holds a mixture.
    ///
    /// Nothing is allocated for up to 16 nodes, unless a reduction amid them has more results than
    /// the stack has room for. A node whose operands are all scalars is computed once.
    ///
    /// The result of views and an `out` on the context's device is enqueued; integers that are
    /// divided, or raised to powers, are waited for. The bits are those of the device's calls.
    /// Reductions amid the expression, their operands, and parts of an expression that do not fit
    /// one launch, are temporaries in the device's memory, freed in the order of its queue.
    ///
    /// INVALID_ARGUMENT: an operand that is no earlier node, a dtype that the operation does not
    /// give or operands of two dtypes (the message names the node), views that do not broadcast, a
    /// reduction that is neither last nor over the last axis with `TNR_NODE_KEEP_AXES`, one over an
    /// extent of 0 that needs an element. UNSUPPORTED: a dtype that an operation does not take,
    /// complex numbers in reductions and on a device, and a view that is not on the device of
    /// `out`. ALIASED: `out` shares bytes with a view and is not exactly it; or the last node
    /// reduces, and `out` is a view or an operand. OUT_OF_MEMORY: only where something is
    /// allocated. `out` is then untouched.
    #[must_use]
    pub fn tnr_evaluate(
        context: *mut tnr_context, expression: *const tnr_expression,
        attributes: *const tnr_extension, out: *const tnr_view_mut,
    ) -> tnr_status;

    /// The shape and dtype of the result of an expression that does not name its output. No element
    /// is read.
    ///
    /// Errors as `tnr_evaluate` has them of nodes and shapes; INVALID_ARGUMENT also for
    /// `TNR_OPERAND_OUTPUT`.
    #[must_use]
    pub fn tnr_expression_shape(
        expression: *const tnr_expression, dtype: *mut tnr_dtype, rank: *mut u32, shape: *mut i64,
    ) -> tnr_status;

    // ==== programs ====

    /// Gives up the handle. Programs made of the graph stay.
    ///
    /// @threads any
    pub fn tnr_graph_release(graph: *mut tnr_graph) -> tnr_status;

    /// An empty graph.
    #[must_use]
    pub fn tnr_graph_create() -> *mut tnr_graph;

    /// Adds an extent that each run finds in the shapes of its inputs, or in the count of a node of
    /// the kind `TNR_NODE_NONZERO` or `TNR_NODE_MASKED_SELECT`: the number `TNR_EXTENT` plus its
    /// index. Each is the extent of an axis of some input, or the count of such a node.
    ///
    /// INVALID_ARGUMENT: `maximum` is negative, or more than `TNR_MAX_EXTENTS`.
    ///
    /// @param name ends with a 0, at most 31 bytes; for messages
    /// @param maximum of all runs
    #[must_use]
    pub fn tnr_graph_add_extent(
        graph: *mut tnr_graph, name: *const c_char, maximum: i64, number: *mut i64,
    ) -> tnr_status;

    /// Adds an extent that is made of two numbers, each a constant or an extent.
    ///
    /// INVALID_ARGUMENT: a result that is negative, does not fit or divides by 0 where extents are
    /// at their maxima.
    #[must_use]
    pub fn tnr_graph_combine_extents(
        graph: *mut tnr_graph, op: tnr_extent_op, a: i64, b: i64, number: *mut i64,
    ) -> tnr_status;

    /// Adds an input: a view of this dtype and shape, and any strides, that each run is given.
    ///
    /// INVALID_ARGUMENT: a negative number, or an extent that a node gives.
    #[must_use]
    pub fn tnr_graph_add_input(
        graph: *mut tnr_graph, dtype: tnr_dtype, rank: u32, shape: *const i64, value: *mut u32,
    ) -> tnr_status;

    /// Adds a constant. If the view has an owner, the graph and all its programs hold the blob, and
    /// nothing is copied: the blob may not be written from here on. The elements of a view without
    /// an owner are copied.
    #[must_use]
    pub fn tnr_graph_add_constant(
        graph: *mut tnr_graph, view: *const tnr_view, value: *mut u32,
    ) -> tnr_status;

    /// Adds a number. It must be representable in the dtype that an element-wise node takes for it
    /// as an operand. It is not an operand of other nodes.
    #[must_use]
    pub fn tnr_graph_add_scalar(
        graph: *mut tnr_graph, scalar: *const tnr_scalar, value: *mut u32,
    ) -> tnr_status;

    /// Adds an operation on values that were added before. It is checked here where all extents are
    /// at their maxima, and in each run for the extents that it has.
    ///
    /// INVALID_ARGUMENT: another number of operands or numbers than the kind takes, and shapes,
    /// dtypes and attributes that the operation refuses. UNSUPPORTED: as the operation.
    ///
    /// @param value (out) the result, of several the first;
    #[must_use]
    pub fn tnr_graph_add_node(
        graph: *mut tnr_graph, node: *const tnr_graph_node, value: *mut u32,
    ) -> tnr_status;

    /// Makes a value an output of the graph, after its other outputs. With `updates` each run takes
    /// the same view as this output and as that input, and reads the earlier elements of the input
    /// first.
    ///
    /// INVALID_ARGUMENT: a scalar, an `updates` that is no input or has another dtype or shape, or
    /// is updated by another output, or by a value whose size the data of a run decide.
    ///
    /// @param updates an input's value, or `TNR_OPERAND_NONE`
    #[must_use]
    pub fn tnr_graph_add_output(graph: *mut tnr_graph, value: u32, updates: u32) -> tnr_status;

    /// Adds the gradients of a value by other values to the graph: reverse-mode differentiation.
    /// Each has the dtype and shape of the value that it is a gradient by. Nodes are added only for
    /// what leads from `by` to `of`. A gradient by a value that `of` does not depend on is zeros.
    /// With a `seed`, the gradients are those of the sum of `of * seed`. docs/operations.md has the
    /// conventions where a function has no derivative.
    ///
    /// The gradient of a `TNR_NODE_COND` is another one with the same first operand. Its subgraphs
    /// compute again what the gradients of the first ones depend on. The gradient of a
    /// `TNR_NODE_WHILE` are two others: one computes all iterations again and stores states before
    /// them, with room for the most iterations, the other takes the iterations from the last to the
    /// first. Only states that the gradients of an iteration depend on are stored.
    ///
    /// INVALID_ARGUMENT: no such value, a scalar, a dtype other than floats and complex numbers, an
    /// `of` with more than one element and no seed, a seed of another dtype or shape; naming the
    /// operation, a gradient that a custom operation gave of another dtype or shape. UNSUPPORTED,
    /// naming the node: a node between `by` and `of` has no derivative; its derivative needs an
    /// extent that no number of the graph is before a run; a loop whose states have shapes that a
    /// run decides; a subgraph with a custom operation that is not `TNR_CUSTOM_PURE`. The status of
    /// a custom operation's `derive`. OUT_OF_MEMORY. The graph is then as before.
    ///
    /// @param seed a value, or `TNR_OPERAND_NONE`: 1, for an `of` of one element
    /// @param by (counted-by count)
    /// @param gradients (out) (counted-by count) values
    #[must_use]
    pub fn tnr_graph_add_gradients(
        graph: *mut tnr_graph, of: u32, seed: u32, by: *const u32, count: u32,
        attributes: *const tnr_extension, gradients: *mut u32,
    ) -> tnr_status;

    /// Adds what computes values in mixed precision to the graph: copies of the nodes that lead to
    /// `of`, in which products take operands of f32 that are rounded to `dtype`, and give `dtype`.
    /// Their sums are f32. Products are `TNR_NODE_MATMUL`, `TNR_NODE_CONV2D`,
    /// `TNR_NODE_CONV2D_TRANSPOSED`, `TNR_NODE_CONV2D_FILTERS` and a `TNR_NODE_EINSUM` of several
    /// operands, also in subgraphs. The vector that is added to a matrix product, views, relu and
    /// the maxima of `TNR_NODE_POOL2D` behind a product are in `dtype` too. All other nodes compute
    /// in their own dtypes, as do products of other dtypes and of sparse matrices. Each operand and
    /// each result is rounded once, however many nodes read it. Gradients keep the rounded results.
    ///
    /// The values that are returned stand for `of`, and have the same dtypes and shapes. A value that
    /// depends on no such product is itself. Nodes that do not depend on one are shared, and no node
    /// changes. Copies have the marks of their nodes, and messages and reports name them by the
    /// numbers of these. Gradients of the returned values by inputs of f32 are f32.
    ///
    /// INVALID_ARGUMENT: a `dtype` other than f16 and bf16; a value that the graph lacks; a value of
    /// `keep` that no value of `of` depends on. OUT_OF_MEMORY. The graph is then as before.
    ///
    /// @param of (counted-by count)
    /// @param lowered (out) (counted-by count) values
    #[must_use]
    pub fn tnr_graph_add_mixed_precision(
        graph: *mut tnr_graph, of: *const u32, count: u32, dtype: tnr_dtype,
        attributes: *const tnr_precision_attributes, lowered: *mut u32,
    ) -> tnr_status;

    /// Adds the values `of` with products and convolutions of integers, as new values of the same
    /// dtypes and shapes.
    ///
    /// A `TNR_NODE_MATMUL` of f32 on the way to them, whose right factor is a matrix of constants, or
    /// of nodes that take only constants, becomes a `TNR_NODE_QUANTIZED_MATMUL`, and a
    /// `TNR_NODE_CONV2D` of f32 by such filters a `TNR_NODE_QUANTIZED_CONV2D`. Both keep their
    /// epilogues. Constants are quantized to i8 with a scale for each column or filter. A
    /// `TNR_NODE_BATCH_NORM` of constant parameters behind a convolution becomes a part of its
    /// filters and its bias first.
    ///
    /// A left operand with a range in `attributes->ranges` is quantized to u8 by one scale and one
    /// zero point, those that `tnr_quantize_dynamic` chooses for this range: static quantization.
    /// Without a range they are chosen in each run: for each row of a product, and for all elements
    /// of a convolution. A node whose result is read only by nodes that quantize it by a range gives
    /// these integers itself, also where views are in between.
    ///
    /// Nodes stay in f32 where integers save no time: docs/quantization.md has the rule. So do nodes
    /// whose sums have more than 33,025 products, and nodes in subgraphs. Nodes that depend on no
    /// quantized node are shared, and a value that depends on none is itself.
    ///
    /// INVALID_ARGUMENT: values that the graph has not; a value of `attributes->keep` that none of
    /// `of` depends on; no node that becomes one of integers; a range with a NaN or an infinity, or
    /// with a `low` above its `high`; two ranges of one value, or one of a value that is not the left
    /// operand of a node that becomes one of integers, whether or not it is kept.
    ///
    /// @param of (counted-by count)
    /// @param quantized (out) (counted-by count) values
    #[must_use]
    pub fn tnr_graph_quantize(
        graph: *mut tnr_graph, of: *const u32, count: u32,
        attributes: *const tnr_graph_quantize_attributes, quantized: *mut u32,
    ) -> tnr_status;

    /// Lists the nodes that `tnr_graph_quantize` replaces with nodes of integers, in the order of the
    /// graph. The attributes' ranges are checked, and change nothing.
    ///
    /// A list that is cut is no error: `found_count` is the length of the whole list, so a call with
    /// `capacity` 0 queries it.
    ///
    /// INVALID_ARGUMENT: as `tnr_graph_quantize`, except that no such node is an empty list.
    ///
    /// @param of (counted-by count)
    /// @param capacity the room at `found`
    /// @param found (out) (counted-by capacity) (nullable) the first of them, as many as there is
    /// room for; untouched on failure
    /// @param found_count (out) the number of all; untouched on failure
    #[must_use]
    pub fn tnr_graph_quantizable(
        graph: *const tnr_graph, of: *const u32, count: u32,
        attributes: *const tnr_graph_quantize_attributes, capacity: u32,
        found: *mut tnr_quantizable, found_count: *mut u32,
    ) -> tnr_status;

    /// Sets the marks of `count` nodes from the node `first` on: `TNR_MARK_KEEP`,
    /// `TNR_MARK_RECOMPUTE`, or 0 for neither; or adds `TNR_MARK_NON_FINITE`, which stays.
    ///
    /// INVALID_ARGUMENT: no such nodes, `TNR_MARK_KEEP` with `TNR_MARK_RECOMPUTE`, or other bits.
    #[must_use]
    pub fn tnr_graph_mark(graph: *mut tnr_graph, first: u32, count: u32, marks: u32) -> tnr_status;

    /// Adds a custom operation, for nodes of the kind `TNR_NODE_CUSTOM` plus its index. On failure
    /// nothing is taken, and `release` is not called.
    ///
    /// INVALID_ARGUMENT: a NULL or too long name, a function that is NULL, in place without an
    /// operand, more than 256 operands or 8 numbers.
    #[must_use]
    pub fn tnr_graph_add_custom(
        graph: *mut tnr_graph, operation: *const tnr_custom_operation, index: *mut u32,
    ) -> tnr_status;

    /// Adds a copy of the present contents of another graph as a subgraph, for nodes such as
    /// `TNR_NODE_COND` and `TNR_NODE_WHILE`. Its named extents are those of `graph` by the same
    /// names and maxima, and where these are smaller in a run its inputs have the shapes that they
    /// are handed.
    ///
    /// INVALID_ARGUMENT: no output, one that updates an input, an extent that `graph` has not,
    /// graphs that are deeper within each other than `TNR_MAX_SUBGRAPH_DEPTH`, and `graph` itself.
    #[must_use]
    pub fn tnr_graph_add_subgraph(
        graph: *mut tnr_graph, body: *const tnr_graph, index: *mut u32,
    ) -> tnr_status;

    /// A copy of a subgraph, as a graph: to list it. Constants are shared.
    #[must_use]
    pub fn tnr_graph_copy_subgraph(graph: *const tnr_graph, index: u32) -> *mut tnr_graph;

    /// Gets the description of a plug-in from its entry, and checks that this library can use it.
    /// For a plug-in of another ABI only the first three fields are read.
    ///
    /// UNSUPPORTED: another `TNR_ABI_MAJOR`, or a newer `TNR_ABI_MINOR`. INVALID_ARGUMENT: NULL,
    /// also for an entry; a `struct_size` that no version has; and an operation that
    /// `tnr_graph_add_custom` refuses. INTERNAL: an exception of the entry.
    ///
    /// @param entry (scope notified) (nullable) `tnr_plugin_entry`, or NULL where the loader has
    /// none
    /// @return (transfer none) (nullable) the plug-in's own; NULL on failure
    #[must_use]
    pub fn tnr_plugin_check(entry: tnr_plugin_fn) -> *const tnr_plugin;

    /// The numbers of values, nodes and so on of a graph. The sources of its values, in their
    /// order, are the calls that made it.
    #[must_use]
    pub fn tnr_graph_describe(graph: *const tnr_graph, out: *mut tnr_graph_info) -> tnr_status;

    /// An extent.
    #[must_use]
    pub fn tnr_graph_describe_extent(
        graph: *const tnr_graph, index: u32, out: *mut tnr_extent_info,
    ) -> tnr_status;

    /// A node, as it was added. Arrays and attributes are the graph's, until something is added to
    /// it or it ends.
    ///
    /// INVALID_ARGUMENT: a `struct_size` that lacks a field that is not 0.
    #[must_use]
    pub fn tnr_graph_describe_node(
        graph: *const tnr_graph, index: u32, out: *mut tnr_graph_node,
    ) -> tnr_status;

    /// A constant, lent until the graph ends. It has the blob that the graph holds for its owner.
    #[must_use]
    pub fn tnr_graph_describe_constant(
        graph: *const tnr_graph, index: u32, out: *mut tnr_view,
    ) -> tnr_status;

    /// A custom operation, whose name files store.
    #[must_use]
    pub fn tnr_graph_describe_custom(
        graph: *const tnr_graph, index: u32, out: *mut tnr_custom_info,
    ) -> tnr_status;

    /// A number.
    #[must_use]
    pub fn tnr_graph_describe_scalar(
        graph: *const tnr_graph, index: u32, out: *mut tnr_scalar,
    ) -> tnr_status;

    /// An output: its value, and the value of the input that it updates or `TNR_OPERAND_NONE`.
    #[must_use]
    pub fn tnr_graph_describe_output(
        graph: *const tnr_graph, index: u32, value: *mut u32, updates: *mut u32,
    ) -> tnr_status;

    /// The source, dtype and shape of a value.
    #[must_use]
    pub fn tnr_graph_describe_value(
        graph: *const tnr_graph, value: u32, out: *mut tnr_value_info,
    ) -> tnr_status;

    /// The shape of a value as numbers that nodes take: constants, or `TNR_EXTENT` plus the index
    /// of an extent, which the call adds where two extents broadcast. Takes time linear in the
    /// values up to this one.
    ///
    /// INVALID_ARGUMENT: no such value. UNSUPPORTED: no number of the graph is an extent of it
    /// before a run.
    ///
    /// @param numbers (out) room for 8 numbers; the call writes one for each axis
    #[must_use]
    pub fn tnr_graph_describe_shape(
        graph: *mut tnr_graph, value: u32, numbers: *mut i64,
    ) -> tnr_status;

    /// Gives up one handle.
    pub fn tnr_program_release(program: *mut tnr_program) -> tnr_status;

    /// Makes a program of the present contents of the graph.
    ///
    /// INVALID_ARGUMENT: a graph without an output, or an extent that no input has and no node
    /// gives. Errors of operations, where constants are computed. STALE_VIEW: a borrowed constant
    /// that is packed has ended. With `packed` INVALID_ARGUMENT: bytes that are not those of this
    /// program's constants, that no blob owns or a borrowed one, or that are not aligned to 64;
    /// UNSUPPORTED: bytes that the instruction set in use does not read.
    ///
    /// @param context whose threads compute and pack constants
    #[must_use]
    pub fn tnr_program_create(
        context: *mut tnr_context, graph: *const tnr_graph,
        attributes: *const tnr_program_attributes,
    ) -> *mut tnr_program;

    /// Makes one more handle.
    #[must_use]
    pub fn tnr_program_retain(program: *mut tnr_program) -> *mut tnr_program;

    /// The constants of a program that are packed, as bytes in a new blob: to be written to a file,
    /// which other processes map as the `packed` of their `tnr_program_attributes`, at an offset
    /// that is a multiple of 64. They are for the instruction set in use and this version of the
    /// library.
    ///
    /// @param context whose memory it is
    /// @param out all of the new blob, as `u8`;
    #[must_use]
    pub fn tnr_blob_copy_packed(
        context: *mut tnr_context, program: *const tnr_program, out: *mut tnr_view_mut,
    ) -> *mut tnr_blob;

    /// The dtype and shape of an output of a run on these inputs, which the caller's view must
    /// have. An extent that depends on the data is the largest one possible.
    #[must_use]
    pub fn tnr_program_output_shape(
        program: *const tnr_program, inputs: *const *const tnr_view, input_count: u32, output: u32,
        dtype: *mut tnr_dtype, rank: *mut u32, shape: *mut i64,
    ) -> tnr_status;

    /// The memory that a run on these inputs takes, in addition to the scratch memory of
    /// operations. For inputs on a device it is the device's memory.
    #[must_use]
    pub fn tnr_program_memory(
        program: *const tnr_program, inputs: *const *const tnr_view, input_count: u32,
        out: *mut tnr_memory_plan,
    ) -> tnr_status;

    /// The operands of a step of a run on these inputs: for each step whether its result is one,
    /// and after the steps for each input. With this the steps are a graph.
    ///
    /// INVALID_ARGUMENT: another `read_count` than the steps and the inputs are.
    ///
    /// @param reads (counted-by read_count) (out) 1 or 0;
    #[must_use]
    pub fn tnr_program_describe_reads(
        program: *const tnr_program, inputs: *const *const tnr_view, input_count: u32, step: u32,
        reads: *mut u8, read_count: u32,
    ) -> tnr_status;

    /// Counts a pass's changes of the program, and of the steps of a run on these inputs. All
    /// passes have an index from 0 on, in the order in which they are made.
    #[must_use]
    pub fn tnr_program_describe_pass(
        program: *const tnr_program, inputs: *const *const tnr_view, input_count: u32, index: u32,
        out: *mut tnr_pass_info,
    ) -> tnr_status;

    /// A step of a run on these inputs.
    #[must_use]
    pub fn tnr_program_describe_step(
        program: *const tnr_program, inputs: *const *const tnr_view, input_count: u32, step: u32,
        out: *mut tnr_step_info,
    ) -> tnr_status;

    /// Runs a program: on the inputs in the order in which the graph got them, into its outputs.
    /// The bits are those of the calls of its nodes one by one, for any number of threads; but a
    /// bias or an activation that has become part of a product of f16 or bf16 skips a rounding.
    ///
    /// Any number of threads may run one program at once, each with outputs of its own. Layouts of
    /// inputs and outputs that it was run with are kept, and memory for one run, scratch memory of
    /// operations included: with them again a run on one thread allocates nothing.
    ///
    /// Inputs and outputs may be on the device of the context, and then all of them are: the run is
    /// enqueued, with the bits of the device's calls. It comes after the work that is enqueued on
    /// their blobs, and takes one allocation of `peak_bytes` of the device's memory, freed in the
    /// order of the context's queue. The first run on a device copies the program's constants there
    /// and waits; another one waits where a node does so that reads by index, divides integers or
    /// multiplies a sparse matrix. UNSUPPORTED, before anything is enqueued: a node that devices do
    /// not compute (the message names it).
    ///
    /// INVALID_ARGUMENT: another number of inputs or outputs, another dtype or shape than the graph
    /// states, extents of one name that differ or exceed the maximum, and extents, also those that
    /// the data decide, that an operation refuses (the message names the node). ALIASED: an output
    /// shares a byte with an input that it does not update, or with another output. OUT_OF_MEMORY:
    /// also a budget that is exceeded. Outputs are then untouched, except after errors that are
    /// found in the data, such as an index out of bounds: outputs then hold a mixture.
    ///
    /// @threads exclusive(outputs)
    #[must_use]
    pub fn tnr_program_run(
        context: *mut tnr_context, program: *const tnr_program, inputs: *const *const tnr_view,
        input_count: u32, attributes: *const tnr_program_run_attributes,
        outputs: *const *const tnr_view_mut, output_count: u32,
    ) -> tnr_status;

    /// Gives up the handle. Enqueued runs go on.
    pub fn tnr_bound_release(bound: *mut tnr_bound) -> tnr_status;

    /// Binds a program to the layouts of these views: dtypes, shapes, strides and the device. No
    /// element is read or written. A program is bound in one of three ways:
    ///
    /// - Plain, on the CPU or on the device of the context, to which the program's constants are
    ///   copied the first time (it waits): any number of threads run it at once. It holds the
    ///   program, and not the views.
    /// - `TNR_BOUND_PREALLOCATED`, on the CPU: all memory of a run is taken now. The program is run
    ///   once for that, on zeros in memory of its own, with all its subgraphs and custom
    ///   operations. It holds the program, and not the views.
    /// - `TNR_BOUND_CAPTURED`, on the device of the context: a run on these inputs into these
    ///   outputs is recorded, with memory of its own for values between them; nothing is enqueued.
    ///   It holds the owners of the views: a blob that is released meanwhile stays, a borrow
    ///   escapes (BORROW_ESCAPED), and none can be reclaimed (BUSY). The caller keeps memory
    ///   without an owner. It does not hold the program.
    ///
    /// INVALID_ARGUMENT: views that `tnr_program_run` does not take, both `TNR_BOUND_PREALLOCATED`
    /// and `TNR_BOUND_CAPTURED`, and views or a context of the CPU with `TNR_BOUND_CAPTURED`.
    /// ALIASED as `tnr_program_run`. UNSUPPORTED: a node that a device does not compute; views of a
    /// device with `TNR_BOUND_PREALLOCATED`, and then a node of sparse matrices or one that can
    /// only throw its refusals; with `TNR_BOUND_CAPTURED` a custom operation, a node that waits in
    /// a run as it reads by index, divides whole numbers or multiplies a sparse matrix, and a
    /// driver without an entry point for it. The message names the node, or the entry point.
    /// OUT_OF_MEMORY: also a budget that is exceeded.
    #[must_use]
    pub fn tnr_bound_create(
        context: *mut tnr_context, program: *const tnr_program, inputs: *const *const tnr_view,
        input_count: u32, attributes: *const tnr_bound_attributes,
        outputs: *const *const tnr_view_mut, output_count: u32,
    ) -> *mut tnr_bound;

    /// The memory of a run. `scratch_bytes` is exact for a preallocated and for a captured program,
    /// which have this memory already.
    #[must_use]
    pub fn tnr_bound_memory(bound: *const tnr_bound, out: *mut tnr_memory_plan) -> tnr_status;

    /// Runs a bound program on memory of the layouts that it is bound to, with the bits of
    /// `tnr_program_run`. It checks everything that can change between runs: layouts, memory,
    /// owners and overlap.
    ///
    /// - Plain: as `tnr_program_run`. Each of the threads that run it at once has outputs of its
    ///   own.
    /// - Preallocated: the calling thread computes, and the context is not used. Whether the run
    ///   succeeds or is refused, it allocates nothing, takes no lock and makes no system call. This
    ///   does not hold for custom operations, and the first call of a thread into the library may
    ///   take thread-local memory. One run at a time uses that memory: BUSY for another one.
    ///   UNSUPPORTED: `TNR_RUN_CHECKED`, `TNR_RUN_REFUSE_NAN` and `TNR_RUN_REFUSE_NON_FINITE`.
    /// - Captured: both counts are 0, and the attributes are NULL or zeros. One launch on the
    ///   stream of the context, after all that is enqueued on the blobs of inputs and outputs and
    ///   before all that follows there; and after itself, on whichever stream it runs. It waits for
    ///   nothing.
    ///
    /// INVALID_ARGUMENT: other counts, a view that is NULL, invalid, or of another layout or device
    /// (the message names the argument, its layout and the bound one), or a context of another
    /// device. ALIASED as `tnr_program_run`. Outputs are then untouched. INVALID_ARGUMENT also of
    /// the data, as an index that is out of bounds, an integer that is divided by 0, more elements
    /// than a node may find, or a loop at its limit: outputs then hold a mixture.
    ///
    /// @threads exclusive(outputs)
    #[must_use]
    pub fn tnr_bound_run(
        context: *mut tnr_context, bound: *const tnr_bound, inputs: *const *const tnr_view,
        input_count: u32, attributes: *const tnr_program_run_attributes,
        outputs: *const *const tnr_view_mut, output_count: u32,
    ) -> tnr_status;

    // ==== devices ====

    /// How many devices of a kind there are; 1 for the CPU.
    ///
    /// UNSUPPORTED: no driver, or one that cannot be used; the message says why.
    #[must_use]
    pub fn tnr_device_count(kind: tnr_device_kind, count: *mut u32) -> tnr_status;

    /// Describes a device. For the CPU it gives only the name.
    ///
    /// INVALID_ARGUMENT: a device that is not there. UNSUPPORTED as `tnr_device_count`.
    #[must_use]
    pub fn tnr_device_describe(device: tnr_device, info: *mut tnr_device_info) -> tnr_status;

    /// Waits for all work that was enqueued through the context; returns at once without a device.
    /// Reports a failure of the device since the last wait.
    #[must_use]
    pub fn tnr_context_wait(context: *mut tnr_context) -> tnr_status;

    /// Orders the work that `context` gets from here on after the work that `other` has got so far.
    /// Between streams of devices the call does not wait; for a context of the CPU it waits for
    /// `other`. Blobs do not need this: each call comes after the work of calls through other
    /// contexts on its blobs.
    ///
    /// @param other (nullable)
    #[must_use]
    pub fn tnr_context_follow(context: *mut tnr_context, other: *mut tnr_context) -> tnr_status;

    /// Gives up one handle.
    pub fn tnr_event_release(event: *mut tnr_event) -> tnr_status;

    /// Makes an event of the work that the context's stream has got so far; without a device, of
    /// work of the CPU, which is done. It keeps the context.
    #[must_use]
    pub fn tnr_event_create(context: *mut tnr_context) -> *mut tnr_event;

    /// Waits for the event's work. Memory of the CPU that copies in this work used is then no
    /// longer in use.
    ///
    /// DEVICE_ERROR: also for a failure of the device since the last wait.
    #[must_use]
    pub fn tnr_event_wait(event: *mut tnr_event) -> tnr_status;

    /// Whether the event's work is done, 1 or 0, without waiting. If it is, that has the effect of
    /// `tnr_event_wait`.
    #[must_use]
    pub fn tnr_event_query(event: *mut tnr_event, is_done: *mut u32) -> tnr_status;

    /// Orders the work that `context` gets from here on after the event's work, also across two
    /// devices. The call waits only for a context of the CPU.
    #[must_use]
    pub fn tnr_context_follow_event(context: *mut tnr_context, event: *mut tnr_event)
    -> tnr_status;

    // ==== kernels of the caller's own ====

    /// Gives up one handle. Enqueued launches go on.
    pub fn tnr_kernel_release(kernel: *mut tnr_kernel) -> tnr_status;

    /// Loads a kernel onto the context's device, for launches by any context with that device. The
    /// driver reports the number of the kernel's parameters and the bytes of each, and
    /// `options->parameters` must agree with them. The meaning of the parameters is not checked.
    ///
    /// Compiled code is kept, and used again for the same source, name, options and device. The
    /// device keeps up to 32 kernels without handles; the end of one more waits for the device.
    ///
    /// INVALID_ARGUMENT: a context without a device; both a source and an image, or neither; an
    /// image that is of none of these kinds, or is larger than `image_bytes` by its header; PTX or
    /// a source that does not compile, with the words of the compiler; a name that no kernel has;
    /// parameters that are none, or not the kernel's. UNSUPPORTED: an image without code for the
    /// device; a source where NVRTC cannot be opened: `TENURE_NVRTC`, or without that variable
    /// `libnvrtc.so.13` or `libnvrtc.so.12`.
    #[must_use]
    pub fn tnr_kernel_create(
        context: *mut tnr_context, options: *const tnr_kernel_options,
    ) -> *mut tnr_kernel;

    /// Makes one more handle.
    #[must_use]
    pub fn tnr_kernel_retain(kernel: *mut tnr_kernel) -> *mut tnr_kernel;

    /// Enqueues a kernel on the context's stream. Views are lent to it as to an operation: their
    /// blobs outlive the work, which comes after the earlier work on them, also of other contexts,
    /// and before the later work. The caller is responsible for all memory that the kernel accesses
    /// outside of its views' elements.
    ///
    /// INVALID_ARGUMENT: a context without a device, or of another than the kernel's; another
    /// number of arguments than the kernel has parameters, or one of another kind, dtype or rank; a
    /// view that is not row-major without gaps for `TNR_KERNEL_POINTER`; a view that may not be
    /// written as an output; more blocks, threads or shared memory than the kernel can have on its
    /// device, or 0 blocks or threads. UNSUPPORTED: a view on another device. ALIASED: an output
    /// that shares a byte with another argument, or two of whose indices do. DEVICE_ERROR: also for
    /// work before it; the message names the kernel.
    #[must_use]
    pub fn tnr_kernel_launch(
        context: *mut tnr_context, kernel: *const tnr_kernel, grid: *const tnr_kernel_grid,
        arguments: *const tnr_kernel_argument, argument_count: u32,
    ) -> tnr_status;
}
