/* Generated from rust/tenure-sys/src/abi.rs by headergen. Do not edit. */

#ifndef TENURE_TENURE_H
#define TENURE_TENURE_H

#include <stddef.h>
#include <stdint.h>
#include "tenure/annotations.h"

/*
 * Tenure computes on memory that the caller has. Five kinds of things cross this boundary:
 *
 * - A **view** (`tnr_view`, `tnr_sparse_view`) is a plain struct of pointers, shape and strides.
 *   It is lent for one call and never kept.
 * - A **blob** is memory with a tenure, behind a handle: allocated or copied by the library,
 *   adopted or shared with a callback that gives it back, or borrowed until `tnr_blob_end_borrow`.
 *   A view that names its blob as `owner` keeps it alive during a call.
 * - A **matrix** (`tnr_sparse`, `tnr_packed`, `tnr_factor`) holds three blobs or a layout of its
 *   own, checked once.
 * - A **program** (`tnr_program`) is a graph of operations, checked once; **bound** (`tnr_bound`) to
 *   the layouts of its inputs and outputs it runs with the fewest checks.
 * - A **context** says whose threads and whose memory a call uses; NULL is the calling thread and
 *   the library's memory.
 *
 * **Handles** are tokens that are never dereferenced: a garbage, released or wrong-kind one is
 * answered with a status. `(transfer full)` says that ownership passes, `(transfer none)` that it
 * does not; each handle is released once.
 *
 * **Errors** are statuses; `tnr_last_error` has the message of the thread's last one, which names
 * the argument, the value and the bound. A call that fails has written nothing, unless its
 * comment says otherwise.
 *
 * **Threads**: a function that is `@threads any` may run at any time on any thread;
 * `@threads exclusive(out)` while no other call uses the memory of `out`. Results have the same
 * bits for any number of threads and under every instruction set.
 *
 * **Devices**: a view of a GPU's memory is valid in calls through a context with that device, and
 * INVALID_ARGUMENT in others. Such a call enqueues work and returns before it is done. Work that a
 * result depends on runs first, whichever context it was enqueued through. An operation that a
 * device cannot compute yet is UNSUPPORTED. The release of a device's memory waits for nothing
 * unless the caller lent it.
 *
 * **Arguments** of operations come in one order: context, operation, inputs, attributes, outputs.
 * Attributes are a struct that may be NULL: options that most calls leave at their defaults. One
 * that the operation or this library does not know is INVALID_ARGUMENT, before any work.
 *
 * **Growth**: structs that grow begin with `struct_size`; set them to zeros, then set
 * `struct_size` and the fields that apply. Numbers are never reused. `TNR_WANT_MINOR` hides the
 * declarations of newer minor versions.
 */

/*
 * Contents
 *
 *    1. Version
 *    2. Errors
 *    3. Elements
 *    4. Contexts
 *    5. Blobs
 *    6. Views
 *    7. Exchange
 *    8. Operations
 *    9. Movement of elements
 *   10. Normalization and scans
 *   11. Expressions
 *   12. Programs
 *   13. Ordering
 *   14. Random numbers
 *   15. Sparse matrices
 *   16. Sparse conversions
 *   17. Sparse operations
 *   18. Packed matrices
 *   19. Packed factors
 *   20. Kernels of the caller's own
 *   21. Statistics
 */

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 * ------------------------------------------------------------------------------
 * 1. Version
 *
 * The ABI that a program was compiled for, and the library that it found.
 */

/**
 * Major version of the ABI and the library's soname. It changes only when something here breaks.
 */
#define TNR_ABI_MAJOR 0

/**
 * Minor version of the ABI. It rises with each addition.
 */
#define TNR_ABI_MINOR 2

/**
 * Minor version of the ABI that the program is written for: names that are newer are not declared,
 * and structs that grow have the size that they had. Define it before the first include; otherwise
 * it is that of this header.
 */
#if !defined(TNR_WANT_MINOR)
#define TNR_WANT_MINOR 2
#endif
#if TNR_WANT_MINOR < 1 || TNR_WANT_MINOR > 2
#error "TNR_WANT_MINOR must be 1 to 2: this tenure.h is of ABI 0.2"
#endif

/**
 * Version of the library that is loaded: major in the upper 16 bits, minor in the lower.
 *
 * @threads any
 * @since 0.1
 */
TNR_API uint32_t tnr_abi_version(void) TNR_NOEXCEPT;

/**
 * One line with the build of the library (version, compiler, options, instruction sets,
 * engines) and the instruction set in use.
 *
 * @return (transfer none) lives as long as the process
 * @threads any
 * @since 0.1
 */
TNR_API const char *tnr_build_info(void) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * 2. Errors
 *
 * A function returns a status, or a handle that is NULL where it failed; the thread's last error
 * has the text.
 */

/**
 * Result of a call. The numbers are frozen and never reused; treat an unknown one as an error.
 */
typedef int32_t tnr_status;
/**
 * The call succeeded.
 */
#define TNR_STATUS_OK 0
/**
 * An argument is wrong by itself or together with another one; the message names the value and
 * the bound.
 */
#define TNR_STATUS_INVALID_ARGUMENT 1
/**
 * Memory could not be had; nothing changed.
 */
#define TNR_STATUS_OUT_OF_MEMORY 2
/**
 * The arguments are right, but this build has no such operation for this dtype or device.
 */
#define TNR_STATUS_UNSUPPORTED 3
/**
 * The output shares bytes with an input, or itself, in a way the operation cannot take.
 */
#define TNR_STATUS_ALIASED 4
/**
 * A view's owner has been released, or its borrow has ended.
 */
#define TNR_STATUS_STALE_VIEW 5
/**
 * A handle is garbage, of another kind, or was released.
 */
#define TNR_STATUS_STALE_HANDLE 6
/**
 * The memory is in use at this moment; call again.
 */
#define TNR_STATUS_BUSY 7
/**
 * Another holder still has the borrowed memory; keep it, have that handle released, call
 * again.
 */
#define TNR_STATUS_BORROW_ESCAPED 8
/**
 * A device failed.
 */
#define TNR_STATUS_DEVICE_ERROR 9
/**
 * The library broke a promise of its own: please report it.
 */
#define TNR_STATUS_INTERNAL 10

/**
 * The calling thread's last failure, as `tnr_last_error` shows it.
 */
typedef struct tnr_error {
  /**
   * Status of the failed call; `TNR_STATUS_OK` when none has failed on this thread.
   */
  tnr_status status;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * The error, with the value and the bound; NUL-terminated UTF-8, cut at the end.
   */
  char message[504];
} tnr_error;

/**
 * Name of a status, "INVALID_ARGUMENT" for example; "UNKNOWN" for a number without one.
 *
 * @return (transfer none) lives as long as the process
 * @threads any
 * @since 0.1
 */
TNR_API const char *tnr_status_name(tnr_status status) TNR_NOEXCEPT;

/**
 * The calling thread's last failure. A call that succeeds does not change it, and neither does
 * a release callback, whatever it calls.
 *
 * @return (transfer none) valid until a call fails on this thread, or the thread ends
 * @threads any
 * @since 0.1
 */
TNR_API
const struct tnr_error *tnr_last_error(void) TNR_NOEXCEPT;

#if TNR_WANT_MINOR >= 2
/**
 * Sets the calling thread's last failure: for functions of the caller's that the library calls,
 * which then return the same status. OK sets nothing.
 *
 * @param message (transfer none) (nullable) ends with a 0, and is copied as far as there is room
 * @return `status`
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_set_last_error(tnr_status status,
                              const char *message) TNR_NOEXCEPT;
#endif

/*
 * ------------------------------------------------------------------------------
 * 3. Elements
 *
 * Element types, numbers by value, and devices.
 */

/**
 * An element type. The bytes, lowest first, are DLPack's code, bits and (two bytes) lanes.
 *
 * A view may carry any whole-byte type that DLPack can name; operations answer
 * `TNR_STATUS_UNSUPPORTED` to those not named here.
 */
typedef uint32_t tnr_dtype;
/**
 * IEEE binary64.
 */
#define TNR_DTYPE_F64 81922
/**
 * IEEE binary32.
 */
#define TNR_DTYPE_F32 73730
/**
 * IEEE binary16.
 */
#define TNR_DTYPE_F16 69634
/**
 * bfloat16: the upper half of a binary32.
 */
#define TNR_DTYPE_BF16 69636
/**
 * Signed, 8 bits.
 */
#define TNR_DTYPE_I8 67584
/**
 * Signed, 16 bits.
 */
#define TNR_DTYPE_I16 69632
/**
 * Signed, 32 bits.
 */
#define TNR_DTYPE_I32 73728
/**
 * Signed, 64 bits.
 */
#define TNR_DTYPE_I64 81920
/**
 * Unsigned, 8 bits.
 */
#define TNR_DTYPE_U8 67585
/**
 * Unsigned, 16 bits.
 */
#define TNR_DTYPE_U16 69633
/**
 * Unsigned, 32 bits.
 */
#define TNR_DTYPE_U32 73729
/**
 * Unsigned, 64 bits.
 */
#define TNR_DTYPE_U64 81921
/**
 * A truth value in a byte: any non-zero is true, and every operation writes 0 or 1. Memory
 * that is lent or held, and `tnr_blob_copy`, keep the bytes.
 */
#define TNR_DTYPE_BOOL8 67590
/**
 * Complex of two binary32, 8 bytes.
 */
#define TNR_DTYPE_C64 81925
/**
 * Complex of two binary64, 16 bytes.
 */
#define TNR_DTYPE_C128 98309

/**
 * One element by value. It must be representable in the dtype it meets.
 */
typedef struct tnr_scalar {
  /**
   * How to read `bytes`.
   */
  tnr_dtype dtype;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * The value in native byte order, from byte 0; the rest is ignored.
   */
  uint8_t bytes[16];
} tnr_scalar;

/**
 * A kind of device, numbered as DLPack numbers them.
 */
typedef int32_t tnr_device_kind;
/**
 * Memory that the CPU reads and writes.
 */
#define TNR_DEVICE_KIND_CPU 1
#if TNR_WANT_MINOR >= 2
/**
 * Memory of a GPU that CUDA's driver knows.
 *
 * @since 0.2
 */
#define TNR_DEVICE_KIND_CUDA 2
#endif

/**
 * Where bytes are.
 */
typedef struct tnr_device {
  /**
   * Which kind of device.
   */
  tnr_device_kind kind;
  /**
   * Which one of its kind, from 0; 0 for the CPU.
   */
  int32_t index;
} tnr_device;

#if TNR_WANT_MINOR >= 2
/**
 * A device, as `tnr_device_describe` reports it. Set `struct_size` before the call; later versions
 * append fields.
 *
 * @since 0.2
 */
typedef struct tnr_device_info {
  /**
   * `sizeof(tnr_device_info)`: the library writes no byte beyond it, and writes 0 to fields that
   * it does not know.
   */
  uint64_t struct_size;
  /**
   * Bytes of its memory, used or free.
   */
  uint64_t memory_bytes;
  /**
   * Major number of a GPU's compute capability: 9 for 9.0.
   */
  uint32_t capability_major;
  /**
   * Minor number of it: 0 for 9.0.
   */
  uint32_t capability_minor;
  /**
   * Processors that share a cache and run blocks of a kernel.
   */
  uint32_t multiprocessor_count;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * NUL-terminated.
   */
  char name[256];
} tnr_device_info;
#endif

/**
 * Bytes of one element; 0 for a dtype of zero lanes or no whole number of bytes.
 *
 * @threads any
 * @since 0.1
 */
TNR_API size_t tnr_dtype_size_bytes(tnr_dtype dtype) TNR_NOEXCEPT;

/**
 * Short name of a dtype, "f32" for example; "unknown" for one that no operation takes.
 *
 * @return (transfer none) lives as long as the process
 * @threads any
 * @since 0.1
 */
TNR_API const char *tnr_dtype_name(tnr_dtype dtype) TNR_NOEXCEPT;

#if TNR_WANT_MINOR >= 2
/**
 * One element of f64. Operands of a narrower float take the nearest number of theirs.
 *
 * @threads any
 * @since 0.2
 */
TNR_API struct tnr_scalar tnr_scalar_f64(double value) TNR_NOEXCEPT;

/**
 * One element of i64, for operands of any dtype that has its value.
 *
 * @threads any
 * @since 0.2
 */
TNR_API struct tnr_scalar tnr_scalar_i64(int64_t value) TNR_NOEXCEPT;

/**
 * One element of u64, for operands of any dtype that has its value.
 *
 * @threads any
 * @since 0.2
 */
TNR_API struct tnr_scalar tnr_scalar_u64(uint64_t value) TNR_NOEXCEPT;

/**
 * One element of c128.
 *
 * @threads any
 * @since 0.2
 */
TNR_API struct tnr_scalar tnr_scalar_c128(double re, double im) TNR_NOEXCEPT;
#endif

/*
 * ------------------------------------------------------------------------------
 * 4. Contexts
 *
 * Whose threads and whose memory a call uses. NULL is the default.
 */

/**
 * Threads and allocator of a call. NULL is the default: only the calling thread, and the library's
 * own memory. Its handle is a token like that of a blob, of a separate kind.
 */
typedef struct tnr_context tnr_context;

#if TNR_WANT_MINOR >= 2
/**
 * The work that had been enqueued on a context's stream at one moment. A caller waits for it,
 * queries it, or orders other work after it. Its handle is a token like that of a blob, of a
 * separate kind.
 *
 * @since 0.2
 */
typedef struct tnr_event tnr_event;
#endif

/**
 * Asks for one more thread to work at a call: `tnr_task_run(task)` on another thread, at once,
 * later, never or twice, or on this one before it returns: the result of the call is the same.
 * Runs on a thread that calls with the context, with no lock held. It may call the library but
 * must not unwind.
 */
typedef void (*tnr_spawn_fn)(void *user_context, uint64_t task);

/**
 * Memory for a blob: `size_bytes` bytes, at least 1, at a multiple of `alignment`, a power of two;
 * NULL when it has none. Runs on the thread that asks for the blob, with no lock held; several
 * threads may ask at once. It may call the library but must not unwind.
 */
typedef void *(*tnr_allocate_fn)(void *user_context, size_t size_bytes, size_t alignment);

/**
 * Takes back memory from the context's `tnr_allocate_fn`, with the size and alignment of its
 * request. Runs once for each allocation, on any thread, with no lock held. It may call the
 * library but must not unwind.
 */
typedef void (*tnr_deallocate_fn)(void *user_context,
                                  void *data,
                                  size_t size_bytes,
                                  size_t alignment);

/**
 * Gives adopted or shared memory back, or the resources of a context's callbacks. Runs exactly
 * once, on any thread, with no lock held, also for empty memory. It may call the library but must
 * not unwind.
 */
typedef void (*tnr_release_fn)(void *release_context);

#if TNR_WANT_MINOR >= 2
/**
 * The implementation that computes products of dense matrices and convolutions. The promises of
 * these operations about bits and special values hold for the library's own kernels.
 *
 * @since 0.2
 */
typedef int32_t tnr_engine;
/**
 * The engine that the environment variable `TENURE_ENGINE` names (`own`, `onednn`, `auto` or
 * `vendor`) when it is first needed; OWN without that variable.
 */
#define TNR_ENGINE_ENVIRONMENT 0
/**
 * The library's own kernels, which take every shape, stride and dtype.
 */
#define TNR_ENGINE_OWN 1
/**
 * oneDNN for operands that it takes in their layout in memory, and the library's own kernels
 * for all others.
 */
#define TNR_ENGINE_ONEDNN 2
/**
 * The engine that a fixed table names for the dtype and the shape of a call, among those that
 * are in this build.
 */
#define TNR_ENGINE_AUTO 3
/**
 * Only for a context with a GPU: cuBLASLt and cuDNN for operands that they take in their
 * layout in memory, and the library's own kernels for all others. Each library is opened when
 * it is first needed; products or convolutions are UNSUPPORTED if it cannot be opened.
 */
#define TNR_ENGINE_VENDOR 4
#endif

/**
 * Options of a context. Set it to zeros, then set `struct_size` and the fields that apply. Later
 * versions append fields, in which 0 keeps the present behaviour.
 */
typedef struct tnr_context_options {
  /**
   * `sizeof(tnr_context_options)`.
   */
  uint64_t struct_size;
  /**
   * Threads that work at one call, the caller among them: 1 to 1024.
   */
  uint32_t thread_count;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * The caller's threads; NULL: `thread_count` - 1 threads of the context's own.
   */
  tnr_spawn_fn spawn;
  /**
   * Where blobs get their memory; NULL, and then `deallocate` too: from the library.
   */
  tnr_allocate_fn allocate;
  /**
   * Where they give it back.
   */
  tnr_deallocate_fn deallocate;
  /**
   * Passed to the callbacks.
   */
  void *user_context;
  /**
   * Called once with `user_context`, after the last call of the other callbacks; NULL: no
   * notification.
   */
  tnr_release_fn release;
#if TNR_WANT_MINOR >= 2
  /**
   * The engine of dense products and convolutions.
   *
   * @since 0.2
   */
  tnr_engine engine;
  /**
   * 0.
   *
   * @since 0.2
   */
  uint32_t reserved_end;
  /**
   * The device of the context's blobs, and of the views that it computes on. Kinds 0 and CPU
   * both mean the CPU. With a GPU, calls enqueue work on `stream` and return before it is done;
   * calls on views of the CPU still run on the CPU.
   *
   * @since 0.2
   */
  struct tnr_device device;
  /**
   * The stream of the device as a number: a `CUstream` of the caller's, which outlives the
   * context and all blobs that it made, or 1 for CUDA's legacy default stream. 0: a stream of
   * the context's own. 2, another stream on each thread, is refused.
   *
   * @since 0.2
   */
  uint64_t stream;
#endif
} tnr_context_options;

/**
 * Gives up the handle of a context. No new call may use it; calls and blobs that do keep it,
 * and the last of them ends it: its threads are joined, then its `release` runs. NULL is OK
 * and does nothing. The status may be ignored.
 *
 * STALE_HANDLE: not a handle, or released before.
 *
 * @param context (transfer full) (nullable)
 * @threads any
 * @since 0.1
 */
TNR_API
tnr_status tnr_context_release(struct tnr_context *context TNR_OWNED) TNR_NOEXCEPT;

/**
 * Makes a context, and starts its threads. On failure no thread is left and nothing is called.
 *
 * INVALID_ARGUMENT: a `thread_count` of 0 or over 1024, one of `allocate` and `deallocate`
 * without the other, an `engine` that is none, `reserved`, `reserved_end` or bytes beyond the
 * known struct that are not 0, or a `struct_size` below the first version's or over 4096; a
 * `device` that is not there, or a `stream` without one or of another.
 * UNSUPPORTED: an `engine` that is not in this build, or that needs a GPU; a `device` where
 * there is no driver, or one that is too old or has no kernels here. OUT_OF_MEMORY: also for a
 * thread that the system refuses, and for more than 1024 contexts at once. DEVICE_ERROR.
 *
 * @param options (transfer none) copied
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.1
 */
TNR_API TNR_RETURNS_OWNED(tnr_context_release)
TNR_NODISCARD
struct tnr_context *tnr_context_create(const struct tnr_context_options *options) TNR_NOEXCEPT;

/**
 * How many threads work at one call with this context, the caller among them: 1 for NULL, and
 * for every context in a child of `fork`; 0 on failure.
 *
 * STALE_HANDLE: not a handle, or released before.
 *
 * @param context (transfer none) (nullable)
 * @threads any
 * @since 0.1
 */
TNR_API
uint32_t tnr_context_thread_count(const struct tnr_context *context TNR_BORROWED) TNR_NOEXCEPT;

#if TNR_WANT_MINOR >= 2
/**
 * Waits for all work that was enqueued through the context; returns at once without a device.
 * Reports a failure of the device since the last wait.
 *
 * STALE_HANDLE: not a handle, or released before. DEVICE_ERROR.
 *
 * @param context (transfer none) (nullable)
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_context_wait(struct tnr_context *context TNR_BORROWED) TNR_NOEXCEPT;

/**
 * Orders the work that `context` gets from here on after the work that `other` has got so far.
 * Between streams of devices the call does not wait; for a context of the CPU it waits for
 * `other`. Blobs do not need this: each call comes after the work of calls through other
 * contexts on its blobs.
 *
 * STALE_HANDLE: not a handle, or released before. DEVICE_ERROR. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param other (transfer none) (nullable)
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_context_follow(struct tnr_context *context TNR_BORROWED,
                              struct tnr_context *other TNR_BORROWED) TNR_NOEXCEPT;

/**
 * Gives up one handle of an event. NULL is OK and does nothing. The status may be ignored.
 *
 * STALE_HANDLE: not a handle, or released before.
 *
 * @param event (transfer full) (nullable)
 * @threads any
 * @since 0.2
 */
TNR_API
tnr_status tnr_event_release(struct tnr_event *event TNR_OWNED) TNR_NOEXCEPT;

/**
 * Makes an event of the work that the context's stream has got so far; without a device, of
 * work of the CPU, which is done. It keeps the context.
 *
 * OUT_OF_MEMORY. STALE_HANDLE: `context`. DEVICE_ERROR.
 *
 * @param context (transfer none) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_event_release)
TNR_NODISCARD
struct tnr_event *tnr_event_create(struct tnr_context *context TNR_BORROWED) TNR_NOEXCEPT;

/**
 * Waits for the event's work. Memory of the CPU that copies in this work used is then no
 * longer in use.
 *
 * STALE_HANDLE: not a handle, or released before. DEVICE_ERROR: also for a failure of the
 * device since the last wait.
 *
 * @param event (transfer none)
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_event_wait(struct tnr_event *event TNR_BORROWED) TNR_NOEXCEPT;

/**
 * Whether the event's work is done, 1 or 0, without waiting. If it is, memory of the CPU that
 * copies in this work used is no longer in use.
 *
 * STALE_HANDLE: not a handle, or released before. DEVICE_ERROR, as `tnr_event_wait`.
 *
 * @param event (transfer none)
 * @param is_done (transfer none) (out)
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_event_query(struct tnr_event *event TNR_BORROWED,
                           uint32_t *is_done) TNR_NOEXCEPT;

/**
 * Orders the work that `context` gets from here on after the event's work, also across two
 * devices. The call waits only for a context of the CPU.
 *
 * STALE_HANDLE: `context` or `event`. DEVICE_ERROR.
 *
 * @param context (transfer none) (nullable)
 * @param event (transfer none)
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_context_follow_event(struct tnr_context *context TNR_BORROWED,
                                    struct tnr_event *event TNR_BORROWED) TNR_NOEXCEPT;

/**
 * How many devices of a kind there are; 1 for the CPU.
 *
 * UNSUPPORTED: no driver, or one that cannot be used; the message says why.
 * INVALID_ARGUMENT: a kind that is none. DEVICE_ERROR.
 *
 * @param count (transfer none) (out)
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_device_count(tnr_device_kind kind,
                            uint32_t *count) TNR_NOEXCEPT;

/**
 * Describes a device. For the CPU it gives only the name.
 *
 * INVALID_ARGUMENT: a device that is not there, or a `struct_size` below the first version's
 * or over 4096. UNSUPPORTED: as `tnr_device_count`. DEVICE_ERROR.
 *
 * @param info (transfer none) (inout)
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_device_describe(struct tnr_device device,
                               struct tnr_device_info *info) TNR_NOEXCEPT;
#endif

/**
 * Works at the call that `task` belongs to, until no part of it is left to begin, as a
 * `tnr_spawn_fn` requests. Does nothing when that call has returned, even if its context has
 * ended, and nothing for a number that no call has had.
 *
 * @threads any
 * @since 0.1
 */
TNR_API
void tnr_task_run(uint64_t task) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * 5. Blobs
 *
 * Memory with a tenure: allocated, copied, adopted, shared or borrowed.
 */

/**
 * Memory with a tenure. A handle is a token that is never dereferenced: a garbage, released or
 * wrong-kind one is answered with a status. Each handle is released once.
 */
typedef struct tnr_blob tnr_blob;

/**
 * How a blob holds its memory: who frees it and who may write it.
 */
typedef int32_t tnr_tenure;
/**
 * The library allocated it and frees it; the holder may write.
 */
#define TNR_TENURE_ALLOCATED 1
/**
 * The library allocated it, filled it with a copy and frees it; the holder may write.
 */
#define TNR_TENURE_COPIED 2
/**
 * The caller's memory, freed by the caller's callback; the holder may write.
 */
#define TNR_TENURE_ADOPTED 3
/**
 * The caller's memory, freed by the caller's callback; read-only for all while the blob lives.
 */
#define TNR_TENURE_SHARED 4
/**
 * The caller's memory, freed by the caller after `tnr_blob_end_borrow`; read-only for all
 * until then.
 */
#define TNR_TENURE_BORROWED 5
/**
 * The caller's memory, freed by the caller after `tnr_blob_end_borrow`; only the borrower
 * writes.
 */
#define TNR_TENURE_BORROWED_MUT 6

/**
 * State of a blob at the time of the call. Set `struct_size` before the call; later versions
 * append fields.
 */
typedef struct tnr_blob_info {
  /**
   * `sizeof(tnr_blob_info)`: the library writes no byte beyond it, and writes 0 to fields that
   * it does not know.
   */
  uint64_t struct_size;
  /**
   * Lowest byte; NULL only when `size_bytes` is 0.
   */
  const void *data;
  /**
   * Bytes held.
   */
  uint64_t size_bytes;
  /**
   * Where the bytes are.
   */
  struct tnr_device device;
  /**
   * Who frees and who may write.
   */
  tnr_tenure tenure;
  /**
   * Handles not yet released.
   */
  uint32_t holder_count;
  /**
   * Calls that are using the memory.
   */
  uint32_t pin_count;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_blob_info;

/**
 * Gives up one handle. The last release of an allocated, copied, adopted or shared blob ends
 * it: the memory is freed or the callback runs, at once or when the last call that uses the
 * memory returns. NULL is OK and does nothing. The status may be ignored.
 *
 * STALE_HANDLE: not a handle, or released before. BUSY: the last handle of a borrowed blob
 * while a call uses it; nothing is taken.
 *
 * @param blob (transfer full) (nullable)
 * @threads any
 * @since 0.1
 */
TNR_API
tnr_status tnr_blob_release(struct tnr_blob *blob TNR_OWNED) TNR_NOEXCEPT;

/**
 * Allocates `size_bytes` bytes, aligned to 64, from the context's allocator or on its device
 * where it has one: the blob then keeps the context. Their values are undefined.
 *
 * OUT_OF_MEMORY. STALE_HANDLE: `context`. INVALID_ARGUMENT: its allocator gave misaligned
 * memory.
 *
 * @param context (transfer none) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.1
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_alloc(struct tnr_context *context TNR_BORROWED,
                                size_t size_bytes) TNR_NOEXCEPT;

#if TNR_WANT_MINOR >= 2
/**
 * Allocates `size_bytes` bytes of the CPU's memory, aligned to 64, that the driver of the
 * context's device has pinned: the device reads and writes them itself while the CPU goes on.
 * Their values are undefined. Views of them are views of the CPU. Pinning takes long, and the
 * system cannot use pinned memory for anything else: keep the blob for the next copy.
 *
 * INVALID_ARGUMENT: a context without a device. OUT_OF_MEMORY. STALE_HANDLE: `context`.
 * DEVICE_ERROR.
 *
 * @param context (transfer none)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_alloc_pinned(struct tnr_context *context TNR_BORROWED,
                                       size_t size_bytes) TNR_NOEXCEPT;
#endif

/**
 * Allocates `size_bytes` bytes as `tnr_blob_alloc` does and copies `data`, of the CPU, into
 * them; counted by `tnr_stats_read`. Waits for a device.
 *
 * INVALID_ARGUMENT: `data` is NULL and `size_bytes` is not 0, or no memory there can be that
 * large; misaligned memory from the context's allocator. OUT_OF_MEMORY. STALE_HANDLE:
 * `context`.
 *
 * @param context (transfer none) (nullable)
 * @param data (transfer none) (counted-by size_bytes) NULL only when empty
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.1
 */
TNR_API TNR_READS(2, 3) TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_copy(struct tnr_context *context TNR_BORROWED,
                               const void *data TNR_BORROWED,
                               size_t size_bytes) TNR_NOEXCEPT;

/**
 * Takes over memory that the holder may write. `release(release_context)` gives it back.
 * On failure nothing is taken and nothing is called.
 *
 * INVALID_ARGUMENT: `data` is NULL and `size_bytes` is not 0, or no memory there can be that
 * large. OUT_OF_MEMORY.
 *
 * @param data (transfer full) (counted-by size_bytes) NULL only when empty
 * @param release (nullable) (scope notified) NULL: nobody needs to be told
 * @param release_context (transfer full) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.1
 */
TNR_API TNR_SPANS(1, 2) TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_adopt(void *data TNR_OWNED,
                                size_t size_bytes,
                                tnr_release_fn release,
                                void *release_context TNR_OWNED) TNR_NOEXCEPT;

/**
 * Takes a share in memory that is not written while the blob lives. `release(release_context)`
 * gives it back. On failure nothing is taken and nothing is called.
 *
 * INVALID_ARGUMENT: `data` is NULL and `size_bytes` is not 0, or no memory there can be that
 * large. OUT_OF_MEMORY.
 *
 * @param data (transfer none) (counted-by size_bytes) NULL only when empty
 * @param release (nullable) (scope notified) NULL: nobody needs to be told
 * @param release_context (transfer full) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.1
 */
TNR_API TNR_READS(1, 2) TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_share(const void *data TNR_BORROWED,
                                size_t size_bytes,
                                tnr_release_fn release,
                                void *release_context TNR_OWNED) TNR_NOEXCEPT;

/**
 * Borrows memory that is not written during the borrow. The caller keeps it until
 * `tnr_blob_end_borrow` answers OK, and then releases the handle.
 *
 * INVALID_ARGUMENT: `data` is NULL and `size_bytes` is not 0, or no memory there can be that
 * large. OUT_OF_MEMORY.
 *
 * @param data (transfer none) (lifetimebound) (counted-by size_bytes)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.1
 */
TNR_API TNR_READS(1, 2) TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_borrow(const void *data TNR_BORROWED TNR_LIFETIMEBOUND,
                                 size_t size_bytes) TNR_NOEXCEPT;

/**
 * Borrows memory that only the borrower reads and writes during the borrow. The caller keeps
 * it until `tnr_blob_end_borrow` answers OK, and then releases the handle.
 *
 * INVALID_ARGUMENT: `data` is NULL and `size_bytes` is not 0, or no memory there can be that
 * large. OUT_OF_MEMORY.
 *
 * @param data (transfer none) (lifetimebound) (counted-by size_bytes)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.1
 */
TNR_API TNR_SPANS(1, 2) TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_borrow_mut(void *data TNR_BORROWED TNR_LIFETIMEBOUND,
                                     size_t size_bytes) TNR_NOEXCEPT;

#if TNR_WANT_MINOR >= 2
/**
 * Takes over memory of the context's device, as `tnr_blob_adopt` does that of the CPU. Work
 * that the caller enqueued on the memory comes first where it is on the context's stream, or
 * the context follows it. `release` runs when all work that uses the memory is done: the last
 * `tnr_blob_release` waits for that. The blob keeps the context. Without a device this is
 * `tnr_blob_adopt`.
 *
 * INVALID_ARGUMENT: as `tnr_blob_adopt`; memory that the driver does not know as the device's,
 * or manages. OUT_OF_MEMORY. STALE_HANDLE: `context`. DEVICE_ERROR.
 *
 * @param context (transfer none) (nullable)
 * @param data (transfer full) (counted-by size_bytes) NULL only when empty
 * @param release (nullable) (scope notified) NULL: nobody needs to be told
 * @param release_context (transfer full) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_SPANS(2, 3) TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_adopt_on(struct tnr_context *context TNR_BORROWED,
                                   void *data TNR_OWNED,
                                   size_t size_bytes,
                                   tnr_release_fn release,
                                   void *release_context TNR_OWNED) TNR_NOEXCEPT;

/**
 * Takes a share in memory of the context's device that is not written while the blob lives, as
 * `tnr_blob_adopt_on` takes memory over.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, STALE_HANDLE, DEVICE_ERROR: as `tnr_blob_adopt_on`.
 *
 * @param context (transfer none) (nullable)
 * @param data (transfer none) (counted-by size_bytes) NULL only when empty
 * @param release (nullable) (scope notified) NULL: nobody needs to be told
 * @param release_context (transfer full) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_READS(2, 3) TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_share_on(struct tnr_context *context TNR_BORROWED,
                                   const void *data TNR_BORROWED,
                                   size_t size_bytes,
                                   tnr_release_fn release,
                                   void *release_context TNR_OWNED) TNR_NOEXCEPT;

/**
 * Borrows memory of the context's device that is not written during the borrow.
 * `tnr_blob_end_borrow` waits until the work that uses it is done. The blob keeps the context.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, STALE_HANDLE, DEVICE_ERROR: as `tnr_blob_adopt_on`.
 *
 * @param context (transfer none) (nullable)
 * @param data (transfer none) (lifetimebound) (counted-by size_bytes)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_READS(2, 3) TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_borrow_on(struct tnr_context *context TNR_BORROWED,
                                    const void *data TNR_BORROWED TNR_LIFETIMEBOUND,
                                    size_t size_bytes) TNR_NOEXCEPT;

/**
 * Borrows memory of the context's device that only the borrower reads and writes during the
 * borrow. Otherwise like `tnr_blob_borrow_on`.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, STALE_HANDLE, DEVICE_ERROR: as `tnr_blob_adopt_on`.
 *
 * @param context (transfer none) (nullable)
 * @param data (transfer none) (lifetimebound) (counted-by size_bytes)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_SPANS(2, 3) TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_borrow_mut_on(struct tnr_context *context TNR_BORROWED,
                                        void *data TNR_BORROWED TNR_LIFETIMEBOUND,
                                        size_t size_bytes) TNR_NOEXCEPT;
#endif

/**
 * One more handle on the same blob: the one that is returned, to be released once like any.
 *
 * STALE_HANDLE: not a handle, released before, or its borrow has ended. BUSY: 2^24 - 1
 * handles.
 *
 * @param blob (transfer none)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.1
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_retain(struct tnr_blob *blob TNR_BORROWED) TNR_NOEXCEPT;

/**
 * Undoes an adopt: ends the handle and calls nothing; the memory is the caller's again.
 * On failure nothing changes.
 *
 * INVALID_ARGUMENT: not adopted, or not with this `release_context`. BUSY: held more than
 * once, or in use. STALE_HANDLE: not a handle, or released before.
 *
 * @param blob (transfer none) ended on OK, else still the caller's to release
 * @param release_context (transfer none) (nullable) the one given to `tnr_blob_adopt`
 * @threads any
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_blob_reclaim(struct tnr_blob *blob TNR_BORROWED,
                            void *release_context TNR_BORROWED) TNR_NOEXCEPT;

/**
 * Ends a borrow: from the first call on no new use starts (STALE_VIEW). OK: no call uses the
 * memory and no other handle holds it; it is the caller's again. Otherwise keep the memory and
 * call again. It ends the borrow, not the handle: release the handle once after OK.
 *
 * BUSY: a call uses the memory. BORROW_ESCAPED: another handle is not released.
 * INVALID_ARGUMENT: not borrowed. STALE_HANDLE: not a handle, or released before.
 *
 * @param blob (transfer none)
 * @threads any
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_blob_end_borrow(struct tnr_blob *blob TNR_BORROWED) TNR_NOEXCEPT;

/**
 * The blob's lowest byte, valid while the handle is.
 *
 * STALE_HANDLE: not a handle, released before, or its borrow has ended.
 *
 * @param blob (transfer none)
 * @return (transfer none) (nullable) NULL on failure, and may be NULL for empty memory
 * @threads any
 * @since 0.1
 */
TNR_API const void *tnr_blob_data(const struct tnr_blob *blob TNR_BORROWED) TNR_NOEXCEPT;

/**
 * The blob's lowest byte, to write to, valid while the handle is.
 *
 * INVALID_ARGUMENT: a shared or borrowed blob, which is read-only. STALE_HANDLE: not a handle,
 * released before, or its borrow has ended.
 *
 * @param blob (transfer none)
 * @return (transfer none) (nullable) NULL on failure, and may be NULL for empty memory
 * @threads exclusive(blob)
 * @since 0.1
 */
TNR_API
void *tnr_blob_data_mut(struct tnr_blob *blob TNR_BORROWED) TNR_NOEXCEPT;

/**
 * Describes a blob.
 *
 * INVALID_ARGUMENT: `info->struct_size` is below the first version's, or over 4096.
 * STALE_HANDLE: not a handle, or released before.
 *
 * @param blob (transfer none)
 * @param info (transfer none) (inout) struct_size is read, the rest written
 * @threads any
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_blob_describe(const struct tnr_blob *blob TNR_BORROWED,
                             struct tnr_blob_info *info) TNR_NOEXCEPT;

/**
 * Gives the memory of ended blobs that the library holds back to the system; returns how many
 * bytes. Blobs that live are not touched. How much is held back at most is set by the
 * environment variable `TENURE_CACHE_BYTES`, which is read once; 0: nothing is.
 *
 * @threads any
 * @since 0.1
 */
TNR_API
size_t tnr_memory_trim(void) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * 6. Views
 *
 * A shape over memory, lent for a call. Every function may write its result over its input.
 */

/**
 * Most axes a view can have.
 */
#define TNR_MAX_RANK 8

#if TNR_WANT_MINOR >= 2
/**
 * Most elements a view can have, 2^59 - 1: the bytes of this number of elements of 16 bytes fit an
 * i64. The bound also applies to a view that repeats elements by strides of 0.
 *
 * @since 0.2
 */
#define TNR_MAX_ELEMENTS 576460752303423487
#endif

/**
 * Flag of a view used as an output: every other operand of the call either is exactly this view
 * (data, dtype, shape, strides) or shares no byte with it. The caller's promise; unread on inputs.
 */
#define TNR_VIEW_EXCLUSIVE 1

/**
 * A shape over memory: a plain value, lent to the library for one call and never kept.
 *
 * 192 bytes without padding, frozen. Strides count elements and may have any sign; `data` points
 * at index 0 on every axis, so with negative strides it is above `base`.
 */
typedef struct tnr_view {
  /**
   * Element 0 on every axis; equals `base` when the view is empty; NULL only when `size_bytes`
   * is 0.
   */
  const void *data;
  /**
   * Lowest byte lent.
   */
  const void *base;
  /**
   * Bytes lent from `base`: bounds the check, licenses no byte that is not an element.
   */
  uint64_t size_bytes;
  /**
   * Token of the blob that holds the memory; 0: the caller vouches for it.
   */
  uint64_t owner;
  /**
   * Element type.
   */
  tnr_dtype dtype;
  /**
   * Number of axes, 0 to 8.
   */
  uint32_t rank;
  /**
   * Where the bytes are.
   */
  struct tnr_device device;
  /**
   * `TNR_VIEW_EXCLUSIVE` or 0; unknown bits are refused.
   */
  uint32_t flags;
  /**
   * 0 to 7 for dtypes under 8 bits, else 0.
   */
  uint32_t bit_offset;
  /**
   * 0.
   */
  uint64_t reserved;
  /**
   * Extent of each axis; entries beyond `rank` are ignored. Their product is at most
   * `TNR_MAX_ELEMENTS`.
   */
  int64_t shape[TNR_MAX_RANK];
  /**
   * Elements from one index to the next; ignored on axes of extent 0 or 1; 0 only in views that
   * are not written.
   */
  int64_t strides[TNR_MAX_RANK];
} tnr_view;

/**
 * A view whose bytes the callee may write. An in-place call passes `&out->view` as the input too.
 */
typedef struct tnr_view_mut {
  /**
   * The shape and the memory.
   */
  struct tnr_view view;
} tnr_view_mut;

/**
 * A view of a blob's memory. It stays valid as a value; a use after the blob's end is
 * answered STALE_VIEW.
 *
 * INVALID_ARGUMENT: rank over 8, a negative extent, an element outside the blob or
 * misaligned. UNSUPPORTED: a dtype under 8 bits.
 * STALE_HANDLE: not a handle, released before, or its borrow has ended.
 *
 * @param blob (transfer none)
 * @param offset_bytes where index 0 on every axis lies, from the blob's lowest byte
 * @param shape (transfer none) (counted-by rank) `rank` extents; NULL for rank 0
 * @param strides (transfer none) (nullable) (counted-by rank) in elements; NULL: row-major
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.1
 */
TNR_API TNR_READS(5, 4)
TNR_NODISCARD
tnr_status tnr_blob_view(const struct tnr_blob *blob TNR_BORROWED,
                         size_t offset_bytes,
                         tnr_dtype dtype,
                         uint32_t rank,
                         const int64_t *shape,
                         const int64_t *strides,
                         struct tnr_view *out) TNR_NOEXCEPT;

/**
 * A view that may be written, of a blob whose holder may write. Otherwise as `tnr_blob_view`;
 * also INVALID_ARGUMENT for a shared or borrowed blob, and ALIASED when two indices meet in
 * one byte.
 *
 * @param blob (transfer none)
 * @param offset_bytes where index 0 on every axis lies, from the blob's lowest byte
 * @param shape (transfer none) (counted-by rank) `rank` extents; NULL for rank 0
 * @param strides (transfer none) (nullable) (counted-by rank) in elements; NULL: row-major
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.1
 */
TNR_API TNR_READS(5, 4)
TNR_NODISCARD
tnr_status tnr_blob_view_mut(struct tnr_blob *blob TNR_BORROWED,
                             size_t offset_bytes,
                             tnr_dtype dtype,
                             uint32_t rank,
                             const int64_t *shape,
                             const int64_t *strides,
                             struct tnr_view_mut *out) TNR_NOEXCEPT;

#if TNR_WANT_MINOR >= 2
/**
 * Allocates an array in row-major order as `tnr_blob_alloc` does, and gives the view of all of
 * it, whose owner is the blob.
 *
 * INVALID_ARGUMENT: rank over 8, a negative extent, more bytes than there can be. UNSUPPORTED:
 * a dtype of zero lanes or no whole number of bytes. OUT_OF_MEMORY. STALE_HANDLE: `context`.
 *
 * @param context (transfer none) (nullable)
 * @param shape (transfer none) (counted-by rank) `rank` extents; NULL for rank 0
 * @param out (transfer none) (out) untouched on failure
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_READS(4, 3) TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_alloc_view(struct tnr_context *context TNR_BORROWED,
                                     tnr_dtype dtype,
                                     uint32_t rank,
                                     const int64_t *shape,
                                     struct tnr_view_mut *out) TNR_NOEXCEPT;
#endif

/**
 * A view of the caller's own memory, without a blob. It is lent anew to each call that gets
 * it.
 *
 * INVALID_ARGUMENT: rank over 8, a negative extent, an element outside the memory or
 * misaligned. UNSUPPORTED: a dtype under 8 bits.
 *
 * @param base (transfer none) (counted-by size_bytes) lowest byte; NULL only when empty
 * @param offset_bytes where index 0 on every axis lies, from `base`
 * @param shape (transfer none) (counted-by rank) `rank` extents; NULL for rank 0
 * @param strides (transfer none) (nullable) (counted-by rank) in elements; NULL: row-major
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.1
 */
TNR_API TNR_READS(1, 2) TNR_READS(6, 5)
TNR_NODISCARD
tnr_status tnr_view_lend(const void *base TNR_BORROWED,
                         size_t size_bytes,
                         size_t offset_bytes,
                         tnr_dtype dtype,
                         uint32_t rank,
                         const int64_t *shape,
                         const int64_t *strides,
                         struct tnr_view *out) TNR_NOEXCEPT;

/**
 * Makes a view like `tnr_view_lend`, but to be written; also ALIASED when two indices may
 * share a byte.
 *
 * @param base (transfer none) (counted-by size_bytes) lowest byte; NULL only when empty
 * @param offset_bytes where index 0 on every axis lies, from `base`
 * @param shape (transfer none) (counted-by rank) `rank` extents; NULL for rank 0
 * @param strides (transfer none) (nullable) (counted-by rank) in elements; NULL: row-major
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.1
 */
TNR_API TNR_SPANS(1, 2) TNR_READS(6, 5)
TNR_NODISCARD
tnr_status tnr_view_lend_mut(void *base TNR_BORROWED,
                             size_t size_bytes,
                             size_t offset_bytes,
                             tnr_dtype dtype,
                             uint32_t rank,
                             const int64_t *shape,
                             const int64_t *strides,
                             struct tnr_view_mut *out) TNR_NOEXCEPT;

#if TNR_WANT_MINOR >= 2
/**
 * The number of elements of a view; -1 for a view that `tnr_view_check` refuses, except for
 * its owner, which is not checked. `tnr_last_error` has the reason.
 *
 * @param view (transfer none)
 * @threads any
 * @since 0.2
 */
TNR_API
int64_t tnr_view_count(const struct tnr_view *view) TNR_NOEXCEPT;

/**
 * Writes the elements of a view as text, as NumPy's `str` writes an array: nested in brackets,
 * all of one notation and one width, rows wrapped at 75 columns, and more than 1000 elements
 * cut to the ends of their axes. It is the text of `{:.precision$}` in Rust; NumPy's own
 * precision is 8.
 *
 * A text that is cut is no error: `needed_bytes` is the size of the whole text, so a call with
 * `size_bytes` 0 queries it.
 *
 * INVALID_ARGUMENT, STALE_VIEW: as `tnr_view_check`. UNSUPPORTED: a dtype without a name.
 * OUT_OF_MEMORY: scratch memory for the cells that are shown.
 *
 * @param view (transfer none) read during the call
 * @param precision digits after the point, at most
 * @param size_bytes the room at `text`
 * @param text (transfer none) (out) (counted-by size_bytes) as much as there is room for, which
 *   ends with a 0 unless there is room for nothing; untouched on failure
 * @param needed_bytes (transfer none) (out) the bytes of the whole text with its 0; untouched on
 *   failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_WRITES(4, 3)
TNR_NODISCARD
tnr_status tnr_view_format(const struct tnr_view *view,
                           uint32_t precision,
                           size_t size_bytes,
                           char *text,
                           size_t *needed_bytes) TNR_NOEXCEPT;
#endif

/**
 * Checks a view as every operation does: rank, extents, spans, alignment, device, reserved
 * words, and its owner.
 *
 * INVALID_ARGUMENT, UNSUPPORTED (dtype, device), STALE_VIEW (owner), BUSY (32,767 users).
 *
 * @param view (transfer none)
 * @threads any
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_view_check(const struct tnr_view *view) TNR_NOEXCEPT;

/**
 * Checks a view as every operation does its output: as `tnr_view_check`; also ALIASED when
 * two indices may meet in one byte (each stride must exceed the reach of the smaller ones),
 * and INVALID_ARGUMENT when its owner's memory may not be written.
 *
 * @param view (transfer none)
 * @threads any
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_view_check_mut(const struct tnr_view_mut *view) TNR_NOEXCEPT;

/**
 * The elements start, start + step, ... before stop, along one axis. With a negative step
 * they descend, and a `stop` of -1 includes index 0. There are no wrapped or clamped indices;
 * bounds that run against the step give an empty view.
 *
 * INVALID_ARGUMENT: `axis`, step 0, or `start` or `stop` outside 0 to the extent (with a
 * negative step: outside -1 to the extent - 1).
 *
 * @param view (transfer none)
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_view_slice(const struct tnr_view *view,
                          uint32_t axis,
                          int64_t start,
                          int64_t stop,
                          int64_t step,
                          struct tnr_view *out) TNR_NOEXCEPT;

/**
 * The part at one index of an axis; the axis is gone from the result.
 *
 * INVALID_ARGUMENT: `axis`, or `index` outside it.
 *
 * @param view (transfer none)
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_view_index(const struct tnr_view *view,
                          uint32_t axis,
                          int64_t index,
                          struct tnr_view *out) TNR_NOEXCEPT;

/**
 * Reorders the axes: axis i of the result is axis `axes[i]` of the view.
 *
 * INVALID_ARGUMENT: `rank` is not the view's, or `axes` is no permutation.
 *
 * @param view (transfer none)
 * @param axes (transfer none) (counted-by rank) NULL for rank 0
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.1
 */
TNR_API TNR_READS(3, 2)
TNR_NODISCARD
tnr_status tnr_view_permute(const struct tnr_view *view,
                            uint32_t rank,
                            const uint32_t *axes,
                            struct tnr_view *out) TNR_NOEXCEPT;

/**
 * Exchanges two axes.
 *
 * INVALID_ARGUMENT: `axis_a` or `axis_b`.
 *
 * @param view (transfer none)
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_view_transpose(const struct tnr_view *view,
                              uint32_t axis_a,
                              uint32_t axis_b,
                              struct tnr_view *out) TNR_NOEXCEPT;

/**
 * A view of the elements in row-major order under another shape, if strides can express it;
 * never a copy.
 *
 * INVALID_ARGUMENT: another element count, or a layout that only a copy could reshape.
 *
 * @param view (transfer none)
 * @param shape (transfer none) (counted-by rank) NULL for rank 0
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.1
 */
TNR_API TNR_READS(3, 2)
TNR_NODISCARD
tnr_status tnr_view_reshape(const struct tnr_view *view,
                            uint32_t rank,
                            const int64_t *shape,
                            struct tnr_view *out) TNR_NOEXCEPT;

/**
 * Reshapes a view to one axis, as `tnr_view_reshape` does.
 *
 * @param view (transfer none)
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_view_flatten(const struct tnr_view *view,
                            struct tnr_view *out) TNR_NOEXCEPT;

/**
 * Drops an axis of extent 1.
 *
 * INVALID_ARGUMENT: `axis`, or its extent is not 1.
 *
 * @param view (transfer none)
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_view_squeeze(const struct tnr_view *view,
                            uint32_t axis,
                            struct tnr_view *out) TNR_NOEXCEPT;

/**
 * Puts an axis of extent 1 before `axis` (at the end when `axis` is the rank).
 *
 * INVALID_ARGUMENT: `axis` is over the rank, or the rank is 8.
 *
 * @param view (transfer none)
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_view_unsqueeze(const struct tnr_view *view,
                              uint32_t axis,
                              struct tnr_view *out) TNR_NOEXCEPT;

/**
 * Repeats axes of extent 1, and puts axes in front, with stride 0, as NumPy broadcasts.
 *
 * INVALID_ARGUMENT: the shapes do not broadcast.
 *
 * @param view (transfer none)
 * @param shape (transfer none) (counted-by rank) NULL for rank 0
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.1
 */
TNR_API TNR_READS(3, 2)
TNR_NODISCARD
tnr_status tnr_view_broadcast(const struct tnr_view *view,
                              uint32_t rank,
                              const int64_t *shape,
                              struct tnr_view *out) TNR_NOEXCEPT;

/**
 * Reverses an axis.
 *
 * INVALID_ARGUMENT: `axis`.
 *
 * @param view (transfer none)
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_view_flip(const struct tnr_view *view,
                         uint32_t axis,
                         struct tnr_view *out) TNR_NOEXCEPT;

/**
 * The parts before and from `index` of an axis. They share no element.
 *
 * INVALID_ARGUMENT: `axis`, or `index` over its extent.
 *
 * @param view (transfer none)
 * @param out_low (transfer none) (out) untouched on failure
 * @param out_high (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_view_split(const struct tnr_view *view,
                          uint32_t axis,
                          int64_t index,
                          struct tnr_view *out_low,
                          struct tnr_view *out_high) TNR_NOEXCEPT;

/**
 * Chunk number `index` of an axis cut into `chunk_count` parts whose extents differ by at
 * most one, the longer ones first.
 *
 * INVALID_ARGUMENT: `axis`, `chunk_count` below 1, or `index` outside it.
 *
 * @param view (transfer none)
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_view_chunk(const struct tnr_view *view,
                          uint32_t axis,
                          int64_t chunk_count,
                          int64_t index,
                          struct tnr_view *out) TNR_NOEXCEPT;

/**
 * Sliding windows along an axis: its extent becomes the number of windows, and a new last
 * axis of extent `size` runs inside each. Windows overlap where `step` is below `size`.
 *
 * INVALID_ARGUMENT: `axis`, `size` outside 1 to the extent, `step` below 1, rank 8.
 *
 * @param view (transfer none)
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_view_windows(const struct tnr_view *view,
                            uint32_t axis,
                            int64_t size,
                            int64_t step,
                            struct tnr_view *out) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * 7. Exchange
 *
 * Tensors of other libraries, by DLPack and by CUDA's array interface.
 */

#if TNR_WANT_MINOR >= 2
/**
 * Flag of an export: the tensor is read-only, even if its memory may be written.
 *
 * @since 0.2
 */
#define TNR_EXPORT_READ_ONLY 1

/**
 * DLPack's managed tensor as it was before version 1.0, without flags.
 *
 * @since 0.2
 */
typedef struct DLManagedTensor DLManagedTensor;

/**
 * DLPack's managed tensor as dlpack.h declares it since version 1.0: for exchange with other
 * libraries.
 *
 * @since 0.2
 */
typedef struct DLManagedTensorVersioned DLManagedTensorVersioned;

/**
 * DLPack's table of the functions of a library for objects of its own type, as dlpack.h declares
 * it since version 1.3. The capsule `__dlpack_c_exchange_api__` of a Python type holds it.
 *
 * @since 0.2
 */
typedef struct DLPackExchangeAPI DLPackExchangeAPI;

/**
 * An array in memory of a GPU, as version 3 of CUDA's array interface describes it: the entries of
 * a `__cuda_array_interface__`. Set it to zeros, then set `struct_size` and the fields that apply.
 * Later versions may append fields.
 *
 * @since 0.2
 */
typedef struct tnr_cuda_array {
  /**
   * `sizeof(tnr_cuda_array)`.
   */
  uint64_t struct_size;
  /**
   * The element at index 0 on every axis: the first entry of `data`.
   */
  const void *data;
  /**
   * The second entry of `data`: 1 for a read-only array, else 0.
   */
  uint32_t is_read_only;
  /**
   * Number of axes.
   */
  uint32_t rank;
  /**
   * The stream after whose work the elements are ready: 1 for CUDA's legacy default stream, 2
   * for that of each thread, else a `CUstream`. 0 for None: they are ready.
   */
  uint64_t stream;
  /**
   * The element type, NUL-terminated: `<f4`, `|u1`, `<c16`.
   */
  char typestr[16];
  /**
   * 0 for `strides` that are None: row-major without gaps. 1 where `strides_bytes` has them.
   */
  uint32_t has_strides;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * Extent of each axis.
   */
  int64_t shape[TNR_MAX_RANK];
  /**
   * `strides`: bytes from one index to the next.
   */
  int64_t strides_bytes[TNR_MAX_RANK];
} tnr_cuda_array;

/**
 * Takes a tensor of another library, exactly when it succeeds: a blob over its elements, and a
 * view of them with the tensor's shape and strides. The end of the blob calls the tensor's
 * deleter, once, on whatever thread that is. A tensor that is marked read-only becomes a
 * shared blob, any other an adopted one.
 *
 * INVALID_ARGUMENT: `ndim` over 8 or negative, a negative extent, data that is NULL or
 * misaligned. UNSUPPORTED: a major version other than 1, a dtype under 8 bits, memory that is
 * not the CPU's. OUT_OF_MEMORY.
 *
 * @param tensor (transfer full) taken on success, else still the caller's
 * @param out (transfer none) (out) untouched on failure
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_import(struct DLManagedTensorVersioned *tensor TNR_OWNED,
                                 struct tnr_view *out) TNR_NOEXCEPT;

/**
 * Imports a tensor from before DLPack 1.0, as `tnr_blob_import` does. The blob may be written,
 * as such a tensor has no read-only flag.
 *
 * @param tensor (transfer full) taken on success, else still the caller's
 * @param out (transfer none) (out) untouched on failure
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_import_legacy(struct DLManagedTensor *tensor TNR_OWNED,
                                        struct tnr_view *out) TNR_NOEXCEPT;

/**
 * Imports a tensor on the context's device, as `tnr_blob_import` does. The maker of the tensor
 * has ordered its work so that the elements are ready for work on the context's stream. The
 * blob keeps the context; its end waits for the work that uses it, and then calls the deleter.
 * Without a device this is `tnr_blob_import`.
 *
 * INVALID_ARGUMENT: also memory that the driver does not know as the device's, or manages.
 * UNSUPPORTED: also a tensor of another device than the context's. STALE_HANDLE: `context`.
 * DEVICE_ERROR.
 *
 * @param context (transfer none) (nullable)
 * @param tensor (transfer full) taken on success, else still the caller's
 * @param out (transfer none) (out) untouched on failure
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_import_on(struct tnr_context *context TNR_BORROWED,
                                    struct DLManagedTensorVersioned *tensor TNR_OWNED,
                                    struct tnr_view *out) TNR_NOEXCEPT;

/**
 * Imports a tensor from before DLPack 1.0, as `tnr_blob_import_on` does. The blob may be
 * written, as such a tensor has no read-only flag.
 *
 * @param context (transfer none) (nullable)
 * @param tensor (transfer full) taken on success, else still the caller's
 * @param out (transfer none) (out) untouched on failure
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_import_legacy_on(struct tnr_context *context TNR_BORROWED,
                                           struct DLManagedTensor *tensor TNR_OWNED,
                                           struct tnr_view *out) TNR_NOEXCEPT;

/**
 * Makes a tensor of DLPack 1.0 over the view's elements, for another library. It holds the
 * view's blob until its deleter is called, once, on any thread. It is read-only with
 * `TNR_EXPORT_READ_ONLY`, and if the blob is read-only; otherwise the consumer may write. It
 * is marked as copied if the blob is a copy.
 *
 * INVALID_ARGUMENT: as `tnr_view_check`; no owner, or one that is borrowed; an unknown flag.
 * STALE_VIEW, BUSY, OUT_OF_MEMORY.
 *
 * @param view (transfer none)
 * @param flags 0 or TNR_EXPORT_READ_ONLY
 * @param out (transfer full) (out) untouched on failure
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_view_export(const struct tnr_view *view,
                           uint32_t flags,
                           struct DLManagedTensorVersioned **out) TNR_NOEXCEPT;

/**
 * Exports a view as `tnr_view_export` does, as a tensor from before DLPack 1.0. Such a tensor
 * has no read-only flag, so the view must be one that may be written; also ALIASED as
 * `tnr_view_check_mut`.
 *
 * @param view (transfer none)
 * @param out (transfer full) (out) untouched on failure
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_view_export_legacy(const struct tnr_view_mut *view,
                                  struct DLManagedTensor **out) TNR_NOEXCEPT;

/**
 * Exports a view on the context's device, as `tnr_view_export` does, for a consumer that works
 * on the context's stream. The elements are ready for work that the consumer enqueues from now
 * on. The deleter frees the memory for other uses after the work that the consumer has
 * enqueued until then. The tensor keeps the context. Without a device this is
 * `tnr_view_export`.
 *
 * INVALID_ARGUMENT: also a view of another device. STALE_HANDLE: `context`. DEVICE_ERROR.
 *
 * @param context (transfer none) (nullable)
 * @param view (transfer none)
 * @param flags 0 or TNR_EXPORT_READ_ONLY
 * @param out (transfer full) (out) untouched on failure
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_view_export_on(struct tnr_context *context TNR_BORROWED,
                              const struct tnr_view *view,
                              uint32_t flags,
                              struct DLManagedTensorVersioned **out) TNR_NOEXCEPT;

/**
 * Exports a view on the context's device: the tensor is as from `tnr_view_export_legacy`, the
 * order of work as from `tnr_view_export_on`.
 *
 * INVALID_ARGUMENT: also a view of another device. STALE_HANDLE: `context`. DEVICE_ERROR.
 *
 * @param context (transfer none) (nullable)
 * @param view (transfer none)
 * @param out (transfer full) (out) untouched on failure
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_view_export_legacy_on(struct tnr_context *context TNR_BORROWED,
                                     const struct tnr_view_mut *view,
                                     struct DLManagedTensor **out) TNR_NOEXCEPT;

/**
 * Imports an object of a Python type that has DLPack's table `exchange`, as
 * `tnr_blob_import_on` does. Work on the context's stream comes after the work that the
 * library of the object has given its own current stream so far. The object is read once and
 * not kept; the caller holds Python's lock.
 *
 * INVALID_ARGUMENT: also where a function of the table fails; that library has then set
 * Python's error. UNSUPPORTED: also a table of another major version than 1, as all in its
 * chain.
 *
 * @param context (transfer none) (nullable)
 * @param exchange (transfer none)
 * @param object_context (transfer none) the object, for the table: a `PyObject`
 * @param out (transfer none) (out) untouched on failure
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_import_object(struct tnr_context *context TNR_BORROWED,
                                        const struct DLPackExchangeAPI *exchange TNR_BORROWED,
                                        void *object_context TNR_BORROWED,
                                        struct tnr_view *out) TNR_NOEXCEPT;

/**
 * Imports an array that CUDA's array interface describes, as `tnr_blob_import_on` does: a
 * read-only array becomes a shared blob, any other an adopted one. Work on the context's
 * stream comes after the work that the array's stream has got so far.
 * `release(release_context)` gives the array back, when the work that uses it is done; on
 * failure nothing is taken and nothing is called.
 *
 * INVALID_ARGUMENT: also a context without a device, and strides that are no multiple of an
 * element. UNSUPPORTED: a `typestr` of no dtype here, or in the other byte order.
 *
 * @param context (transfer none)
 * @param array (transfer none) copied
 * @param release (nullable) (scope notified) NULL: nobody needs to be told
 * @param release_context (transfer full) (nullable)
 * @param out (transfer none) (out) untouched on failure
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_import_array(struct tnr_context *context TNR_BORROWED,
                                       const struct tnr_cuda_array *array,
                                       tnr_release_fn release,
                                       void *release_context TNR_OWNED,
                                       struct tnr_view *out) TNR_NOEXCEPT;

/**
 * Describes a view on the context's device for CUDA's array interface. The elements are ready
 * in the order of the context's stream, which `out` names. The array does not hold the view's
 * blob: the caller keeps the blob until the user of the array is done. The array is read-only
 * if the blob is.
 *
 * INVALID_ARGUMENT: as `tnr_view_check`; a view without an owner or of another device, a
 * context without a device. UNSUPPORTED: bf16, which has no `typestr`. STALE_VIEW, BUSY,
 * STALE_HANDLE, DEVICE_ERROR.
 *
 * @param context (transfer none)
 * @param view (transfer none)
 * @param out (transfer none) (inout)
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_view_describe_array(struct tnr_context *context TNR_BORROWED,
                                   const struct tnr_view *view,
                                   struct tnr_cuda_array *out) TNR_NOEXCEPT;
#endif

/*
 * ------------------------------------------------------------------------------
 * 8. Operations
 *
 * Inputs broadcast to the output's shape, outputs never do.
 */

#if TNR_WANT_MINOR >= 2
/**
 * Flag of the attributes of products and convolutions: after bias and activation, each element of
 * the result is at least `low` and at most `high`; NaN stays NaN. ReLU6 is this from 0 to 6.
 *
 * @since 0.2
 */
#define TNR_EPILOGUE_CLAMP 1

/**
 * Flag of a MEAN of `tnr_pool2d`: the padding counts as elements, zeros.
 *
 * @since 0.2
 */
#define TNR_POOL2D_COUNT_PADDING 1

/**
 * Flag of `tnr_pool2d`: the windows cover `a` as evenly as the extents of `out` allow. The window
 * of row y begins at row `y * height / out_height`, rounded down, and ends before
 * `(y + 1) * height / out_height`, rounded up; so do the columns.
 *
 * @since 0.2
 */
#define TNR_POOL2D_ADAPTIVE 2

/**
 * Flag of `tnr_pool2d`: the extents of `out` are rounded up, as PyTorch and ONNX round them. The
 * last window may end beyond the padded image, where it has no elements and no padding. It begins
 * in the image or in the padding before it: a window that would begin after the image is left out.
 *
 * @since 0.2
 */
#define TNR_POOL2D_CEIL 4
#endif

/**
 * Attributes of `tnr_copy`. There are none yet. NULL, and zeros after `struct_size`, mean the
 * defaults. Later versions append fields, in which 0 keeps the present behaviour.
 */
typedef struct tnr_copy_attributes {
  /**
   * `sizeof(tnr_copy_attributes)`.
   */
  uint64_t struct_size;
} tnr_copy_attributes;

/**
 * Attributes of `tnr_cast`. There are none yet. NULL, and zeros after `struct_size`, mean the
 * defaults. Later versions append fields, in which 0 keeps the present behaviour.
 */
typedef struct tnr_cast_attributes {
  /**
   * `sizeof(tnr_cast_attributes)`.
   */
  uint64_t struct_size;
} tnr_cast_attributes;

/**
 * Attributes of `tnr_fill`. There are none yet. NULL, and zeros after `struct_size`, mean the
 * defaults. Later versions append fields, in which 0 keeps the present behaviour.
 */
typedef struct tnr_fill_attributes {
  /**
   * `sizeof(tnr_fill_attributes)`.
   */
  uint64_t struct_size;
} tnr_fill_attributes;

/**
 * An operation on one input.
 */
typedef int32_t tnr_unary_op;
/**
 * `-x`; wraps on integers.
 */
#define TNR_UNARY_OP_NEG 1
/**
 * `|x|`; wraps on integers, and of complex numbers gives the dtype of their parts.
 */
#define TNR_UNARY_OP_ABS 2
/**
 * Square root; floats only.
 */
#define TNR_UNARY_OP_SQRT 3
/**
 * e to the x; floats only.
 */
#define TNR_UNARY_OP_EXP 4
/**
 * `max(x, 0)`; NaN stays NaN.
 */
#define TNR_UNARY_OP_RELU 5
/**
 * Hyperbolic tangent; floats only.
 */
#define TNR_UNARY_OP_TANH 6
/**
 * `1 / (1 + e^-x)`; floats only.
 */
#define TNR_UNARY_OP_SIGMOID 7
/**
 * `x / (1 + e^-x)`; floats only.
 */
#define TNR_UNARY_OP_SILU 8
/**
 * x times the standard normal distribution's integral up to x: `x (1 + erf(x / sqrt(2))) / 2`; floats only.
 */
#define TNR_UNARY_OP_GELU 9
/**
 * `x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2`, close to GELU; floats only.
 */
#define TNR_UNARY_OP_GELU_TANH 10
/**
 * `ln(1 + e^x)`; floats only.
 */
#define TNR_UNARY_OP_SOFTPLUS 11
/**
 * `x min(max(x + 3, 0), 6) / 6`; floats only.
 */
#define TNR_UNARY_OP_HARDSWISH 12
/**
 * x, or `e^x - 1` where x is negative; floats only.
 */
#define TNR_UNARY_OP_ELU 13
/**
 * x, or `0.01 x` where x is negative; floats only.
 */
#define TNR_UNARY_OP_LEAKY_RELU 14
/**
 * `x * x`; wraps on integers.
 */
#define TNR_UNARY_OP_SQUARE 15
/**
 * `1 / x`; floats and complex numbers.
 */
#define TNR_UNARY_OP_RECIPROCAL 16
/**
 * `1 / sqrt(x)`; floats only.
 */
#define TNR_UNARY_OP_RSQRT 17
/**
 * The largest whole number that is not above x; floats only.
 */
#define TNR_UNARY_OP_FLOOR 18
/**
 * The smallest whole number that is not below x; floats only.
 */
#define TNR_UNARY_OP_CEIL 19
/**
 * The nearest whole number, of two the even one; floats only.
 */
#define TNR_UNARY_OP_ROUND 20
/**
 * x without its fraction; floats only.
 */
#define TNR_UNARY_OP_TRUNC 21
/**
 * -1, 0 or 1; zeros and NaN stay what they are.
 */
#define TNR_UNARY_OP_SIGN 22
/**
 * Whether x is NaN, as bool8; floats only.
 */
#define TNR_UNARY_OP_IS_NAN 23
/**
 * Whether x is infinite, as bool8; floats only.
 */
#define TNR_UNARY_OP_IS_INF 24
/**
 * Whether x is neither infinite nor NaN, as bool8; floats only.
 */
#define TNR_UNARY_OP_IS_FINITE 25
/**
 * Whether x is false; bool8 only.
 */
#define TNR_UNARY_OP_LOGICAL_NOT 26
/**
 * 0 in the place of NaN, the largest and lowest finite numbers in that of infinities; floats only.
 */
#define TNR_UNARY_OP_NAN_TO_NUM 27
/**
 * Every bit of x the other way; integers only.
 */
#define TNR_UNARY_OP_BIT_NOT 28
/**
 * 2 to the x; floats only.
 */
#define TNR_UNARY_OP_EXP2 29
/**
 * `e^x - 1`, also where x is small; floats only.
 */
#define TNR_UNARY_OP_EXPM1 30
/**
 * Natural logarithm; floats only.
 */
#define TNR_UNARY_OP_LN 31
/**
 * Logarithm to base 2; floats only.
 */
#define TNR_UNARY_OP_LOG2 32
/**
 * Logarithm to base 10; floats only.
 */
#define TNR_UNARY_OP_LOG10 33
/**
 * `ln(1 + x)`, also where x is small; floats only.
 */
#define TNR_UNARY_OP_LOG1P 34
/**
 * Error function; floats only.
 */
#define TNR_UNARY_OP_ERF 35
/**
 * 1 less the error function, also where it is small; floats only.
 */
#define TNR_UNARY_OP_ERFC 36
/**
 * Sine, of the whole range; floats only.
 */
#define TNR_UNARY_OP_SIN 37
/**
 * Cosine, of the whole range; floats only.
 */
#define TNR_UNARY_OP_COS 38
/**
 * Tangent, of the whole range; floats only.
 */
#define TNR_UNARY_OP_TAN 39
/**
 * Arc sine; floats only.
 */
#define TNR_UNARY_OP_ASIN 40
/**
 * Arc cosine; floats only.
 */
#define TNR_UNARY_OP_ACOS 41
/**
 * Arc tangent; floats only.
 */
#define TNR_UNARY_OP_ATAN 42
/**
 * Hyperbolic sine; floats only.
 */
#define TNR_UNARY_OP_SINH 43
/**
 * Hyperbolic cosine; floats only.
 */
#define TNR_UNARY_OP_COSH 44
/**
 * Inverse hyperbolic sine; floats only.
 */
#define TNR_UNARY_OP_ASINH 45
/**
 * Inverse hyperbolic cosine; floats only.
 */
#define TNR_UNARY_OP_ACOSH 46
/**
 * Inverse hyperbolic tangent; floats only.
 */
#define TNR_UNARY_OP_ATANH 47
/**
 * Cube root; floats only.
 */
#define TNR_UNARY_OP_CBRT 48
/**
 * The complex conjugate; complex numbers only.
 */
#define TNR_UNARY_OP_CONJ 49
/**
 * The angle of a complex number from the positive real axis, from -pi to pi, in the dtype of its parts; complex numbers only.
 */
#define TNR_UNARY_OP_ARG 50
/**
 * `x / (1 + |x|)`; floats only.
 */
#define TNR_UNARY_OP_SOFTSIGN 51

/**
 * Attributes of `tnr_unary` and `tnr_sparse_unary`. There are none yet. NULL, and zeros after
 * `struct_size`, mean the defaults. Later versions append fields, in which 0 keeps the present
 * behaviour.
 */
typedef struct tnr_unary_attributes {
  /**
   * `sizeof(tnr_unary_attributes)`.
   */
  uint64_t struct_size;
} tnr_unary_attributes;

/**
 * An operation on two inputs of one dtype.
 */
typedef int32_t tnr_binary_op;
/**
 * `a + b`; wraps on integers.
 */
#define TNR_BINARY_OP_ADD 1
/**
 * `a - b`; wraps on integers.
 */
#define TNR_BINARY_OP_SUB 2
/**
 * `a * b`; wraps on integers.
 */
#define TNR_BINARY_OP_MUL 3
/**
 * `a / b`; integers truncate, MIN / -1 wraps, a zero divisor is an error found on the data.
 */
#define TNR_BINARY_OP_DIV 4
/**
 * The smaller; NaN wins.
 */
#define TNR_BINARY_OP_MIN 5
/**
 * The larger; NaN wins.
 */
#define TNR_BINARY_OP_MAX 6
/**
 * The remainder of `a / b`, of the sign of a: of floats exact, as `fmod` of C. An integer divisor of zero is an error found on the data.
 */
#define TNR_BINARY_OP_REM 7
/**
 * Whether both are true; bool8 only.
 */
#define TNR_BINARY_OP_LOGICAL_AND 8
/**
 * Whether either is true; bool8 only.
 */
#define TNR_BINARY_OP_LOGICAL_OR 9
/**
 * Whether one of the two is true; bool8 only.
 */
#define TNR_BINARY_OP_LOGICAL_XOR 10
/**
 * The bits that both have; integers only.
 */
#define TNR_BINARY_OP_BIT_AND 11
/**
 * The bits that either has; integers only.
 */
#define TNR_BINARY_OP_BIT_OR 12
/**
 * The bits that one of the two has; integers only.
 */
#define TNR_BINARY_OP_BIT_XOR 13
/**
 * `a` times 2 to the b, which wraps; 0 where b is not below the width or is negative. Integers only.
 */
#define TNR_BINARY_OP_SHIFT_LEFT 14
/**
 * `a` over 2 to the b, rounded down; where b is not below the width or is negative, 0 or, of negative numbers, -1. Integers only.
 */
#define TNR_BINARY_OP_SHIFT_RIGHT 15
/**
 * `a` to the power b, which of integers wraps and must not be negative, an error found on the data.
 */
#define TNR_BINARY_OP_POW 16
/**
 * The angle of the point (b, a), from -pi to pi; floats only.
 */
#define TNR_BINARY_OP_ATAN2 17
/**
 * `sqrt(a^2 + b^2)`, which overflows only where it is too large itself; floats only.
 */
#define TNR_BINARY_OP_HYPOT 18

/**
 * Attributes of `tnr_binary`, `tnr_binary_scalar`, `tnr_scalar_binary` and `tnr_sparse_binary`.
 * There are none yet. NULL, and zeros after `struct_size`, mean the defaults. Later versions
 * append fields, in which 0 keeps the present behaviour.
 */
typedef struct tnr_binary_attributes {
  /**
   * `sizeof(tnr_binary_attributes)`.
   */
  uint64_t struct_size;
} tnr_binary_attributes;

/**
 * A comparison of two inputs of one dtype; its result is bool8, and false where NaN takes part
 * (NE: true).
 */
typedef int32_t tnr_compare_op;
/**
 * `a == b`.
 */
#define TNR_COMPARE_OP_EQ 1
/**
 * `a != b`.
 */
#define TNR_COMPARE_OP_NE 2
/**
 * `a < b`.
 */
#define TNR_COMPARE_OP_LT 3
/**
 * `a <= b`.
 */
#define TNR_COMPARE_OP_LE 4
/**
 * `a > b`.
 */
#define TNR_COMPARE_OP_GT 5
/**
 * `a >= b`.
 */
#define TNR_COMPARE_OP_GE 6

/**
 * Attributes of `tnr_compare` and `tnr_compare_scalar`. There are none yet. NULL, and zeros after
 * `struct_size`, mean the defaults. Later versions append fields, in which 0 keeps the present
 * behaviour.
 */
typedef struct tnr_compare_attributes {
  /**
   * `sizeof(tnr_compare_attributes)`.
   */
  uint64_t struct_size;
} tnr_compare_attributes;

/**
 * Attributes of `tnr_select`. There are none yet. NULL, and zeros after `struct_size`, mean the
 * defaults. Later versions append fields, in which 0 keeps the present behaviour.
 */
typedef struct tnr_select_attributes {
  /**
   * `sizeof(tnr_select_attributes)`.
   */
  uint64_t struct_size;
} tnr_select_attributes;

#if TNR_WANT_MINOR >= 2
/**
 * An operation on three inputs of one dtype.
 *
 * @since 0.2
 */
typedef int32_t tnr_ternary_op;
/**
 * `a * b + c`, rounded once; wraps on integers.
 */
#define TNR_TERNARY_OP_FMA 1
/**
 * `a + c (b - a)`: exactly a where c is 0 or b is equal, and b where c is 1; floats only.
 */
#define TNR_TERNARY_OP_LERP 2
/**
 * `min(max(a, b), c)`: a from b to c, and c where b is above it; NaN wins.
 */
#define TNR_TERNARY_OP_CLAMP 3

/**
 * Attributes of `tnr_ternary`. There are none yet. NULL, and zeros after `struct_size`, mean the
 * defaults. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_ternary_attributes {
  /**
   * `sizeof(tnr_ternary_attributes)`.
   */
  uint64_t struct_size;
} tnr_ternary_attributes;
#endif

/**
 * A reduction over axes.
 */
typedef int32_t tnr_reduce_op;
/**
 * Sum. Floats keep their dtype (f16 and bf16 accumulate in f32); integers give i64 or u64. Empty: 0.
 */
#define TNR_REDUCE_OP_SUM 1
/**
 * Product, with the dtypes of SUM; floats multiply in f64. Empty: 1.
 */
#define TNR_REDUCE_OP_PROD 2
/**
 * Arithmetic mean; floats and complex numbers. Empty: NaN.
 */
#define TNR_REDUCE_OP_MEAN 3
/**
 * Variance with the attribute `ddof`; floats only. NaN where the count is not above `ddof`.
 */
#define TNR_REDUCE_OP_VAR 4
/**
 * Standard deviation with the attribute `ddof`; floats only.
 */
#define TNR_REDUCE_OP_STD 5
/**
 * Smallest element; NaN wins. Empty: an error.
 */
#define TNR_REDUCE_OP_MIN 6
/**
 * Largest element; NaN wins. Empty: an error.
 */
#define TNR_REDUCE_OP_MAX 7
/**
 * Index (i64) of the smallest element: of the one axis, or row-major over all. The first wins.
 */
#define TNR_REDUCE_OP_ARGMIN 8
/**
 * Index (i64) of the largest element: of the one axis, or row-major over all. The first wins.
 */
#define TNR_REDUCE_OP_ARGMAX 9
/**
 * Whether any element is not zero, as bool8. Empty: false.
 */
#define TNR_REDUCE_OP_ANY 10
/**
 * Whether every element is not zero, as bool8. Empty: true.
 */
#define TNR_REDUCE_OP_ALL 11
/**
 * How many elements are not zero, as i64. Empty: 0.
 */
#define TNR_REDUCE_OP_COUNT 12
/**
 * p-norm with the attribute `power`, p: the sum of `|x|^p` to the power `1 / p`, or where it is infinite the largest `|x|`; floats only. Empty: 0.
 */
#define TNR_REDUCE_OP_NORM 13
/**
 * `ln(sum of e^x)`, without overflow; floats only. Empty: minus infinity.
 */
#define TNR_REDUCE_OP_LOGSUMEXP 14
/**
 * SUM of the elements that are not NaN; floats only. None: 0.
 */
#define TNR_REDUCE_OP_NAN_SUM 15
/**
 * MEAN of the elements that are not NaN; floats only. None: NaN.
 */
#define TNR_REDUCE_OP_NAN_MEAN 16
/**
 * Smallest of the elements that are not NaN; floats only. All are NaN: NaN. Empty: an error.
 */
#define TNR_REDUCE_OP_NAN_MIN 17
/**
 * Largest of the elements that are not NaN; floats only. All are NaN: NaN. Empty: an error.
 */
#define TNR_REDUCE_OP_NAN_MAX 18
/**
 * VAR of the elements that are not NaN, with the attribute `ddof`; floats only. NaN where their count is not above `ddof`.
 */
#define TNR_REDUCE_OP_NAN_VAR 19
/**
 * The square root of NAN_VAR, with the attribute `ddof`; floats only.
 */
#define TNR_REDUCE_OP_NAN_STD 20

/**
 * Attributes of `tnr_reduce` and `tnr_sparse_reduce`. An operation that takes `ddof` requires
 * them, so that the caller always states it. For all other operations NULL, and zeros after
 * `struct_size`, mean the defaults. Later versions append fields, in which 0 keeps the present
 * behaviour.
 */
typedef struct tnr_reduce_attributes {
  /**
   * `sizeof(tnr_reduce_attributes)`.
   */
  uint64_t struct_size;
  /**
   * Delta degrees of freedom: variances divide by the count less this; 0 for operations whose
   * documentation does not name it.
   */
  uint32_t ddof;
  /**
   * 0.
   */
  uint32_t reserved;
#if TNR_WANT_MINOR >= 2
  /**
   * The p of NORM; 0 for all others.
   *
   * @since 0.2
   */
  double power;
#endif
} tnr_reduce_attributes;

#if TNR_WANT_MINOR >= 2
/**
 * Attributes of `tnr_matmul`. NULL, and zeros after `struct_size`, mean the defaults. Later
 * versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_matmul_attributes {
  /**
   * `sizeof(tnr_matmul_attributes)`.
   */
  uint64_t struct_size;
  /**
   * `[n]`, of the dtype of `out`: added to each row of the result. NULL: nothing is.
   */
  const struct tnr_view *bias;
  /**
   * Applied to each element of the result, after that; 0: none.
   */
  tnr_unary_op activation;
  /**
   * `TNR_EPILOGUE_CLAMP`, or 0.
   */
  uint32_t flags;
  /**
   * With the flag: the least that an element of the result is; not NaN. Without it 0.
   */
  double low;
  /**
   * With the flag: the greatest; not below `low`. Without it 0.
   */
  double high;
} tnr_matmul_attributes;

/**
 * Attributes of `tnr_conv2d` and `tnr_conv2d_transposed`. For the latter, `a` below means `out`.
 * NULL, and zeros after `struct_size`, mean the defaults. Later versions append fields, in which 0
 * keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_conv2d_attributes {
  /**
   * `sizeof(tnr_conv2d_attributes)`.
   */
  uint64_t struct_size;
  /**
   * Elements of `a` from one position of the kernel to the next: down and right. 0 means 1.
   */
  int64_t strides[2];
  /**
   * Zeros around each image: rows above and below, columns left and right.
   */
  int64_t padding[4];
  /**
   * Elements of `a` from one element of the kernel to the next: down and right. 0 means 1.
   */
  int64_t dilations[2];
  /**
   * Number of groups that channels and filters are split into: a filter reads only the channels
   * of its group. 0 means 1.
   */
  int64_t groups;
  /**
   * Applied to each element of the result; 0: none.
   */
  tnr_unary_op activation;
  /**
   * `TNR_EPILOGUE_CLAMP`, or 0.
   */
  uint32_t flags;
  /**
   * With the flag: the least that an element of the result is; not NaN. Without it 0.
   */
  double low;
  /**
   * With the flag: the greatest; not below `low`. Without it 0.
   */
  double high;
} tnr_conv2d_attributes;

/**
 * Attributes of `tnr_einsum`. There are none yet. NULL, and zeros after `struct_size`, mean the
 * defaults. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_einsum_attributes {
  /**
   * `sizeof(tnr_einsum_attributes)`.
   */
  uint64_t struct_size;
} tnr_einsum_attributes;

/**
 * Attributes of `tnr_pool2d`. NULL, and zeros after `struct_size`, mean the defaults. Later
 * versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_pool2d_attributes {
  /**
   * `sizeof(tnr_pool2d_attributes)`.
   */
  uint64_t struct_size;
  /**
   * Rows and columns of a window. 0 means all those of `a`.
   */
  int64_t kernel[2];
  /**
   * Elements of `a` from one window to the next: down and right. 0 means those of the kernel.
   */
  int64_t strides[2];
  /**
   * Around each image, rows above and below, columns left and right: no element of it is a
   * maximum, nor part of a MEAN.
   */
  int64_t padding[4];
  /**
   * Elements of `a` from one element of a window to the next: down and right. 0 means 1.
   */
  int64_t dilations[2];
  /**
   * `TNR_POOL2D_COUNT_PADDING`, `TNR_POOL2D_CEIL`, both or 0; or `TNR_POOL2D_ADAPTIVE`, without
   * a kernel, strides, padding and dilations.
   */
  uint32_t flags;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_pool2d_attributes;

/**
 * Attributes of `tnr_batch_norm`. NULL, and zeros after `struct_size`, mean the defaults. Later
 * versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_batch_norm_attributes {
  /**
   * `sizeof(tnr_batch_norm_attributes)`.
   */
  uint64_t struct_size;
  /**
   * Added to each variance: finite and not negative.
   */
  double eps;
} tnr_batch_norm_attributes;
#endif

/**
 * Copies elements, which keep their dtype. `out` may be exactly `a`. Between the CPU and the
 * context's device the shapes are equal, and the call waits for the device. Between two
 * devices the shapes are equal too, one device is the context's, and the call does not wait.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) broadcast to `out`'s shape
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_copy(struct tnr_context *context TNR_BORROWED,
                    const struct tnr_view *a,
                    const struct tnr_copy_attributes *attributes,
                    const struct tnr_view_mut *out) TNR_NOEXCEPT;

#if TNR_WANT_MINOR >= 2
/**
 * Copies elements as `tnr_copy` does, except that between the CPU and the context's device it
 * enqueues the copy and returns. The CPU's memory is in use until the copy is done, as
 * `tnr_context_wait` or an event made later shows: its owner is in use as during a call, and
 * memory without an owner is kept by the caller. The caller orders other accesses to it in the
 * meantime. Pinned memory is copied while the CPU goes on.
 *
 * INVALID_ARGUMENT: also elements of the CPU with gaps between them, or in another order than
 * row-major and that of the device's view.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) broadcast to `out`'s shape
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_copy_async(struct tnr_context *context TNR_BORROWED,
                          const struct tnr_view *a,
                          const struct tnr_copy_attributes *attributes,
                          const struct tnr_view_mut *out) TNR_NOEXCEPT;
#endif

/**
 * Converts elements to `out`'s dtype: floats to integers saturate and NaN gives 0; to f16 and
 * bf16 rounds once, to nearest even; to bool8 gives whether the value is not 0. A real number
 * becomes a complex one with an imaginary part of 0; complex converts to complex only. `out`
 * may be exactly `a`.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) broadcast to `out`'s shape
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_cast(struct tnr_context *context TNR_BORROWED,
                    const struct tnr_view *a,
                    const struct tnr_cast_attributes *attributes,
                    const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Sets every element to `value`.
 *
 * @param context (transfer none) (nullable)
 * @param value (transfer none) representable in `out`'s dtype
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_fill(struct tnr_context *context TNR_BORROWED,
                    const struct tnr_scalar *value,
                    const struct tnr_fill_attributes *attributes,
                    const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * `out = op(a)`, of the dtype that `op` gives of `a`'s. Where that is `a`'s, `out` may be
 * exactly `a`.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) broadcast to `out`'s shape
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_unary(struct tnr_context *context TNR_BORROWED,
                     tnr_unary_op op,
                     const struct tnr_view *a,
                     const struct tnr_unary_attributes *attributes,
                     const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * `out = a op b`, all of one dtype. `out` may be exactly `a`, `b` or both.
 *
 * INVALID_ARGUMENT also for an integer division by zero. A divisor of 0 that is a number is
 * refused before any work. A zero in the data is found during the work, and `out` then holds a
 * mixture of results, zeros and its earlier elements.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) broadcast to `out`'s shape
 * @param b (transfer none) broadcast to `out`'s shape
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_binary(struct tnr_context *context TNR_BORROWED,
                      tnr_binary_op op,
                      const struct tnr_view *a,
                      const struct tnr_view *b,
                      const struct tnr_binary_attributes *attributes,
                      const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * `out = a op b` with a number on the right; otherwise as `tnr_binary`.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) broadcast to `out`'s shape
 * @param b (transfer none) representable in `a`'s dtype
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_binary_scalar(struct tnr_context *context TNR_BORROWED,
                             tnr_binary_op op,
                             const struct tnr_view *a,
                             const struct tnr_scalar *b,
                             const struct tnr_binary_attributes *attributes,
                             const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * `out = a op b` with a number on the left; otherwise as `tnr_binary`.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) representable in `b`'s dtype
 * @param b (transfer none) broadcast to `out`'s shape
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_scalar_binary(struct tnr_context *context TNR_BORROWED,
                             tnr_binary_op op,
                             const struct tnr_scalar *a,
                             const struct tnr_view *b,
                             const struct tnr_binary_attributes *attributes,
                             const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * `out = a op b` as bool8, `a` and `b` of one dtype. `out` may be exactly an input of bool8.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) broadcast to `out`'s shape
 * @param b (transfer none) broadcast to `out`'s shape
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) of bool8
 * @threads exclusive(out)
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_compare(struct tnr_context *context TNR_BORROWED,
                       tnr_compare_op op,
                       const struct tnr_view *a,
                       const struct tnr_view *b,
                       const struct tnr_compare_attributes *attributes,
                       const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * `out = a op b` as bool8, with a number on the right; otherwise as `tnr_compare`.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) broadcast to `out`'s shape
 * @param b (transfer none) representable in `a`'s dtype
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) of bool8
 * @threads exclusive(out)
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_compare_scalar(struct tnr_context *context TNR_BORROWED,
                              tnr_compare_op op,
                              const struct tnr_view *a,
                              const struct tnr_scalar *b,
                              const struct tnr_compare_attributes *attributes,
                              const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * `out = condition ? a : b`, element by element; `a`, `b` and `out` of one dtype. `out` may
 * be exactly any input.
 *
 * @param context (transfer none) (nullable)
 * @param condition (transfer none) of bool8, broadcast to `out`'s shape
 * @param a (transfer none) broadcast to `out`'s shape
 * @param b (transfer none) broadcast to `out`'s shape
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_select(struct tnr_context *context TNR_BORROWED,
                      const struct tnr_view *condition,
                      const struct tnr_view *a,
                      const struct tnr_view *b,
                      const struct tnr_select_attributes *attributes,
                      const struct tnr_view_mut *out) TNR_NOEXCEPT;

#if TNR_WANT_MINOR >= 2
/**
 * `out = op(a, b, c)`, all of one dtype. `out` may be exactly any input.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) broadcast to `out`'s shape
 * @param b (transfer none) broadcast to `out`'s shape
 * @param c (transfer none) broadcast to `out`'s shape
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_ternary(struct tnr_context *context TNR_BORROWED,
                       tnr_ternary_op op,
                       const struct tnr_view *a,
                       const struct tnr_view *b,
                       const struct tnr_view *c,
                       const struct tnr_ternary_attributes *attributes,
                       const struct tnr_view_mut *out) TNR_NOEXCEPT;
#endif

/**
 * Reduces the axes whose bits are set in `axes` (bit i: axis i). `out` has the other axes,
 * or all of them with the reduced ones of extent 1; its dtype is the one `op` states.
 * `out` shares no byte with `a`.
 *
 * A product, a sum, a mean, a variance or a norm of finite floats overflows or underflows only
 * where the result does, not on the way to it.
 *
 * INVALID_ARGUMENT also for bits beyond the rank, no attributes where `op` takes `ddof`, a
 * `ddof` other than 0 where it does not, ARGMIN and ARGMAX over some but neither one nor all
 * axes, and an empty MIN, MAX, ARGMIN or ARGMAX.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_reduce(struct tnr_context *context TNR_BORROWED,
                      tnr_reduce_op op,
                      const struct tnr_view *a,
                      uint32_t axes,
                      const struct tnr_reduce_attributes *attributes,
                      const struct tnr_view_mut *out) TNR_NOEXCEPT;

#if TNR_WANT_MINOR >= 2
/**
 * `out = activation(alpha * a b + beta * out + bias)`: the product of dense matrices of any
 * strides. Where `beta` is 0 `out` is not read, so it may hold anything, NaN included; the sum
 * of no products (k is 0) is 0. 0 times NaN or an infinity is NaN, also by an `alpha` of 0.
 * `out` shares no byte with the others.
 *
 * `a`, `b` and `out` are of one dtype, f64, f32, f16, bf16, c64 or c128; or `a` and `b` of u8
 * or i8 each, and `out` of i32. f16 and bf16 are computed in f32 and rounded once, `alpha` and
 * `beta` too. Sums of bytes are exact up to k = 33,025, and wrap beyond 2^31, as all whole
 * numbers do. An activation is any operation of one operand that takes real sums and does not
 * give bool8.
 *
 * Axes before the last two are a batch: those of `a` and of `b` broadcast to those of `out`. A
 * vector, of rank 1, is a row as `a` and a column as `b`, and has no axis in `out`: of two
 * vectors `out` has rank 0.
 *
 * An element of the result is a sum over k, in order, by fused multiplication and addition
 * where the instruction set has it; 512 products are one sum (256 of complex numbers), and
 * these sums, each times `alpha`, are added to `beta * out` in their order. A complex product
 * is two of real numbers for each part. So the bits depend neither on the number of threads,
 * nor on strides, nor on the other elements of the result; under two instruction sets they
 * differ by the error bound at most, which is `(k + 4) * eps` times the same expression of
 * magnitudes, eps being the distance from 1 to the next number of the dtype that is computed
 * in (complex: `(2 k + 8) * eps`, for each part, times that of the magnitudes of all parts),
 * and one rounding of f16 and bf16. Where the processor multiplies bf16, 1024 products are one
 * sum, the bound is that of complex numbers, and subnormal factors and sums count as 0.
 *
 * Factors are copied into scratch memory, a part at a time: at most 4 MiB (8 bytes a number:
 * 8) for `b`, and about 1 MiB for each thread. Sums of f16 and bf16, and of complex numbers
 * where those of `out` are not adjacent or `alpha` or `beta` is not real, take at most 8 MiB
 * (16). Where threads share the products of a batch, each thread takes all of this.
 *
 * INVALID_ARGUMENT also for rank 0, for shapes and dtypes that do not agree, for an `alpha` or
 * `beta` that the dtype cannot represent, and an activation that names no operation.
 * UNSUPPORTED: other dtypes, and an activation that does not take the dtype of the sums, gives
 * another one, or has sums that are not real. ALIASED. OUT_OF_MEMORY; `out` is then untouched.
 *
 * @param context (transfer none) (nullable)
 * @param alpha (transfer none)
 * @param a (transfer none) `[..., m, k]` or `[k]`
 * @param b (transfer none) `[..., k, n]` or `[k]`
 * @param beta (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) `[..., m, n]`
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_matmul(struct tnr_context *context TNR_BORROWED,
                      const struct tnr_scalar *alpha,
                      const struct tnr_view *a,
                      const struct tnr_view *b,
                      const struct tnr_scalar *beta,
                      const struct tnr_matmul_attributes *attributes,
                      const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Cross-correlation of images with filters, as in neural networks: element `(n, f, y, x)` of
 * `out` is the sum, over the channels c of f's group and the elements (i, j) of the kernel, of
 * `weight[f, c, i, j]` times
 * `a[n, c, y * strides[0] + i * dilations[0] - padding[0], x * strides[1] + j * dilations[1] -
 * padding[2]]`, which is 0 outside of the image; then `bias[f]` is added, and the activation
 * and the bounds are applied. All are of one dtype, a float, and of any strides: NHWC is a
 * view of the shape `[n, channels, height, width]` whose channels are adjacent. `out` shares
 * no byte with the others. One dimension is a height of 1.
 *
 * The channels of a group are split into blocks: a block has as many channels as give at most
 * 512 products, and at least one. A block's products are one sum, in the order of i, j and c,
 * in the dtype itself, by fused multiplication and addition where the instruction set has it;
 * the blocks' sums are added up in their order. So the bits depend neither on the number of
 * threads, nor on strides, nor on other elements; under two instruction sets they differ by
 * the error bound at most: before the activation `(k + 4) * eps` times the same expression of
 * magnitudes, of k products.
 *
 * Nothing is unrolled as a whole: pixels and weights are copied into scratch memory a part at
 * a time, at most 4 MiB (f64: 8) of weights, and 0.5 MiB (1) of pixels for each thread. Only
 * kernels of 4096 elements and more take more, because the pixels and the filters of a tile
 * have to fit.
 *
 * f16 and bf16 are computed in f32 and rounded once, after the bounds. This takes copies in
 * f32 of the weights, and of 8 MiB of images and results, or of one image and its result where
 * that is more.
 *
 * INVALID_ARGUMENT also for shapes, dtypes and attributes that do not agree: groups that do
 * not divide the channels or the filters, a kernel that exceeds the padded image, an extent of
 * `out` other than `(height + padding - (kernel - 1) * dilation - 1) / stride + 1`.
 * UNSUPPORTED: other dtypes. ALIASED. OUT_OF_MEMORY; `out` is then untouched.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) `[images, channels, height, width]`
 * @param weight (transfer none) `[filters, channels / groups, kernel height, kernel width]`
 * @param bias (transfer none) (nullable) `[filters]`
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) `[images, filters, out height, out width]`
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_conv2d(struct tnr_context *context TNR_BORROWED,
                      const struct tnr_view *a,
                      const struct tnr_view *weight,
                      const struct tnr_view *bias,
                      const struct tnr_conv2d_attributes *attributes,
                      const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Sums of products by Einstein's convention, in NumPy's notation: a term of labels for each
 * operand, separated by commas, one label for each of its axes, then `->` and the labels of
 * `out`, as in `"ij,jk->ik"`. All elements whose labels have the same indices are multiplied,
 * and summed over the labels that `out` does not have. All operands have one dtype, which is
 * also that of `out`. The exception is a sum of one operand: `out` then has the dtype of SUM,
 * i64 or u64 for integers. Strides are any. `out` shares no byte with an operand.
 *
 * Labels are letters; upper and lower case are different labels. Spaces are ignored. A label
 * that occurs twice in one term is the diagonal of these axes. One `...` in a term means any
 * number of axes, which are aligned at the last and broadcast; the term of `out` must have it
 * where an operand has such axes. An axis of extent 1 is repeated to the extent that its label
 * has elsewhere. Without `->`, `out` has the axes of `...`, then, in the order of ASCII, the
 * labels that occur once in all terms.
 *
 * Two operands are multiplied by `tnr_matmul` on views. An operand is copied first where its
 * summed axes do not form a single axis, or where a copy is faster to read. Where nothing is summed, MUL multiplies the operands.
 * Where they have the same labels and the sums are long, MUL makes the products and SUM adds
 * them. Three and more operands are multiplied in pairs. For up to 8 operands, dynamic
 * programming over subsets finds the order with the fewest multiplications (Pfeifer, Haegeman
 * and Verstraete, Physical Review E 90, 033315, 2014). For more, each step takes the pair with
 * the least growth: the elements of its product less those of both factors. One operand is
 * copied, or summed by SUM. UNSUPPORTED: dtypes that these do not take, sums of products of
 * bytes, and calls in which every possible product has over 8 labels that are needed later.
 *
 * The order depends only on the spec and the shapes. The bits do not depend on the number of
 * threads, nor on strides, except for SUM. Intermediate results, and copies, are scratch
 * memory.
 *
 * INVALID_ARGUMENT also for a malformed `spec` (the message names the byte), terms and
 * operands of different number, a term without one label for each axis, and extents that do
 * not agree. UNSUPPORTED also: more than 32 operands, an `out` of more than 8 axes. ALIASED.
 * OUT_OF_MEMORY. `out` is then untouched, unless a later product lacks memory.
 *
 * @param context (transfer none) (nullable)
 * @param spec (transfer none) ends with a 0
 * @param operands (transfer none) (counted-by operand_count) one at least
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API TNR_READS(3, 4)
TNR_NODISCARD
tnr_status tnr_einsum(struct tnr_context *context TNR_BORROWED,
                      const char *spec,
                      const struct tnr_view *operands,
                      uint32_t operand_count,
                      const struct tnr_einsum_attributes *attributes,
                      const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The shape that `tnr_einsum` asks of `out`. No element is read.
 *
 * Errors as `tnr_einsum` has them of the spec, and of the shapes and dtypes of operands.
 *
 * @param spec (transfer none) ends with a 0
 * @param operands (transfer none) (counted-by operand_count) one at least
 * @param rank (transfer none) (out) untouched on failure
 * @param shape (transfer none) (out) 8 extents, those beyond the rank 0; untouched on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_READS(2, 3)
TNR_NODISCARD
tnr_status tnr_einsum_shape(const char *spec,
                            const struct tnr_view *operands,
                            uint32_t operand_count,
                            uint32_t *rank,
                            int64_t *shape) TNR_NOEXCEPT;

/**
 * The transpose of `tnr_conv2d`, which is its derivative by the images: each element of `a`,
 * times a filter, is added to `out` at the window that a convolution of `out` with the same
 * attributes would have read there. So element `(n, c, i, j)` of `a` times
 * `weight[c, f, k, l]` goes to `out[n, f, i * strides[0] + k * dilations[0] - padding[0], j *
 * strides[1] + l * dilations[1] - padding[2]]`, or nowhere where that lies outside; then
 * `bias[f]` is added, and the activation applied.
 *
 * The smallest extent of `out` is `(height - 1) * stride + (kernel - 1) * dilation + 1 -
 * padding`; the greatest is one less than the stride or the dilation, whichever is greater, above
 * it: PyTorch's `output_padding` is the rest.
 *
 * The rows of `out` that are one stride apart, and so its columns, are one convolution of `a`
 * with some of the kernel's rows and columns, from the last to the first: so dtypes, the order
 * of a sum, its bound, bits and memory are those of `tnr_conv2d`, where these zeros meet the
 * kernel beyond the edges of `a`.
 *
 * INVALID_ARGUMENT also for shapes, dtypes and attributes that do not agree: as `tnr_conv2d`,
 * except for the extents of `out`. UNSUPPORTED: other dtypes. ALIASED. OUT_OF_MEMORY; `out` is
 * then untouched.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) `[images, channels, height, width]`
 * @param weight (transfer none) `[channels, filters / groups, kernel height, kernel width]`
 * @param bias (transfer none) (nullable) `[filters]`
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) `[images, filters, out height, out width]`
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_conv2d_transposed(struct tnr_context *context TNR_BORROWED,
                                 const struct tnr_view *a,
                                 const struct tnr_view *weight,
                                 const struct tnr_view *bias,
                                 const struct tnr_conv2d_attributes *attributes,
                                 const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The maximum or the mean of each window of each channel of images: `op` is MAX or MEAN. The
 * window of `out[n, c, y, x]` has the existing elements among
 * `a[n, c, y * strides[0] + i * dilations[0] - padding[0], x * strides[1] + j * dilations[1] -
 * padding[2]]`, for each (i, j) of the kernel; without attributes it is the whole image. NaN
 * is a maximum, as in MAX elsewhere. Both views are floats of any strides, as in `tnr_conv2d`,
 * and share no byte.
 *
 * A MEAN is a sum in the dtype itself, divided by the number of elements
 * (TNR_POOL2D_COUNT_PADDING: including those in the padding). A kernel of at most 64 elements
 * adds them in the order of i and j. A larger one adds runs of 64 elements, and the runs with
 * their rounding errors, so that the error does not grow with the kernel. Where one window is
 * the whole image, the mean is that of `tnr_reduce`. f16 and bf16 are computed in f32, as in
 * `tnr_conv2d`. So the bits depend neither on threads, nor on strides, nor on the instruction
 * set.
 *
 * INVALID_ARGUMENT also for shapes, dtypes and attributes that do not agree: a kernel that
 * exceeds the padded image (with TNR_POOL2D_CEIL: by a stride or more), a window without
 * elements, an extent of `out` other than `(height + padding - (kernel - 1) * dilation - 1) /
 * stride + 1`, rounded down or as TNR_POOL2D_CEIL has it. UNSUPPORTED: other dtypes and
 * reductions. ALIASED.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) `[images, channels, height, width]`
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) `[images, channels, out height, out width]`
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_pool2d(struct tnr_context *context TNR_BORROWED,
                      tnr_reduce_op op,
                      const struct tnr_view *a,
                      const struct tnr_pool2d_attributes *attributes,
                      const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Batch normalization by known statistics, as in trained networks: with
 * `scale = weight / sqrt(var + eps)`, of each channel, `out = (a - mean) * scale + bias`. Axis
 * 1 has the channels. All are of one dtype, f32 or f64, and of any strides; `out` is exactly
 * `a` or shares no byte with the others.
 *
 * The scale is computed in f64 and rounded to the dtype. The difference, the product and the sum
 * are rounded one after the other, so that the bits are the same under every set, and an element
 * that is the mean gives the bias.
 *
 * A convolution that is followed by it does the same with other filters and another bias,
 * which two calls give: its `weight` with the first two axes exchanged, without `mean` and `bias`,
 * and its bias as a matrix of one row, with all of them. A result of the convolution that is the
 * mean then gives the bias within the error of its products, times `scale`.
 *
 * INVALID_ARGUMENT also for shapes and dtypes that do not agree, and for an `eps` that is
 * negative or not finite. UNSUPPORTED: other dtypes. ALIASED. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) `[n, channels, ...]`
 * @param mean (transfer none) (nullable) `[channels]`; without it 0
 * @param var (transfer none) `[channels]`
 * @param weight (transfer none) (nullable) `[channels]`; without it 1
 * @param bias (transfer none) (nullable) `[channels]`; without it 0
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) as `a`
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_batch_norm(struct tnr_context *context TNR_BORROWED,
                          const struct tnr_view *a,
                          const struct tnr_view *mean,
                          const struct tnr_view *var,
                          const struct tnr_view *weight,
                          const struct tnr_view *bias,
                          const struct tnr_batch_norm_attributes *attributes,
                          const struct tnr_view_mut *out) TNR_NOEXCEPT;
#endif

/*
 * ------------------------------------------------------------------------------
 * 9. Movement of elements
 *
 * Elements keep their bits and go by width, whatever their dtype.
 */

#if TNR_WANT_MINOR >= 2
/**
 * Attributes of `tnr_concat`. There are none yet. NULL, and zeros after `struct_size`, mean the
 * defaults. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_concat_attributes {
  /**
   * `sizeof(tnr_concat_attributes)`.
   */
  uint64_t struct_size;
} tnr_concat_attributes;

/**
 * The elements of `tnr_pad` outside `a`.
 *
 * @since 0.2
 */
typedef int32_t tnr_pad_mode;
/**
 * The attributes' value.
 */
#define TNR_PAD_MODE_CONSTANT 0
/**
 * The nearest element of `a`.
 */
#define TNR_PAD_MODE_EDGE 1
/**
 * `a` mirrored at its first and last element, which are not repeated: `c b | a b c | b a`.
 */
#define TNR_PAD_MODE_REFLECT 2
/**
 * `a` mirrored at its edges: `b a | a b c | c b`.
 */
#define TNR_PAD_MODE_SYMMETRIC 3
/**
 * `a` again and again: `b c | a b c | a b`.
 */
#define TNR_PAD_MODE_WRAP 4

/**
 * Attributes of `tnr_pad`. NULL, and zeros after `struct_size`, mean the defaults. Later versions
 * append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_pad_attributes {
  /**
   * `sizeof(tnr_pad_attributes)`.
   */
  uint64_t struct_size;
  /**
   * Elements of `out` before those of `a`, on each axis: its element i is that of `a` at
   * `i - before`, where there is one. It has any sign; 0 beyond the rank.
   */
  int64_t before[8];
  /**
   * For CONSTANT: representable in the dtype; zeros mean 0 bytes. Zeros for other modes.
   */
  struct tnr_scalar value;
} tnr_pad_attributes;

/**
 * Attributes of `tnr_take` and `tnr_gather`. There are none yet. NULL, and zeros after
 * `struct_size`, mean the defaults. Later versions append fields, in which 0 keeps the present
 * behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_take_attributes {
  /**
   * `sizeof(tnr_take_attributes)`.
   */
  uint64_t struct_size;
} tnr_take_attributes;

/**
 * Attributes of `tnr_put` and `tnr_scatter`. There are none yet. NULL, and zeros after
 * `struct_size`, mean the defaults. Later versions append fields, in which 0 keeps the present
 * behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_put_attributes {
  /**
   * `sizeof(tnr_put_attributes)`.
   */
  uint64_t struct_size;
} tnr_put_attributes;

/**
 * Attributes of `tnr_nonzero` and `tnr_masked_select`. There are none yet. NULL, and zeros after
 * `struct_size`, mean the defaults. Later versions append fields, in which 0 keeps the present
 * behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_nonzero_attributes {
  /**
   * `sizeof(tnr_nonzero_attributes)`.
   */
  uint64_t struct_size;
} tnr_nonzero_attributes;

/**
 * A triangle of a matrix, including its diagonal.
 *
 * @since 0.2
 */
typedef int32_t tnr_triangle;
/**
 * Elements (i, j) with `j - i <= diagonal`.
 */
#define TNR_TRIANGLE_LOWER 1
/**
 * Elements (i, j) with `j - i >= diagonal`.
 */
#define TNR_TRIANGLE_UPPER 2

/**
 * Attributes of `tnr_triangular`. NULL, and zeros after `struct_size`, mean the defaults. Later
 * versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_triangle_attributes {
  /**
   * `sizeof(tnr_triangle_attributes)`.
   */
  uint64_t struct_size;
  /**
   * The diagonal on which the triangle ends: 0 is the main one, those above are positive.
   */
  int64_t diagonal;
} tnr_triangle_attributes;

/**
 * Joins arrays along an axis, one after the other; they agree in dtype and all other extents.
 *
 * INVALID_ARGUMENT also for no part, an axis beyond the rank, and extents that do not agree.
 * ALIASED.
 *
 * @param context (transfer none) (nullable)
 * @param parts (transfer none) (counted-by part_count) one at least
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) shares no byte with the parts
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API TNR_READS(2, 3)
TNR_NODISCARD
tnr_status tnr_concat(struct tnr_context *context TNR_BORROWED,
                      const struct tnr_view *parts,
                      uint32_t part_count,
                      uint32_t axis,
                      const struct tnr_concat_attributes *attributes,
                      const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Copies `a` into `out` and fills the elements around it by the mode; the attributes give the
 * position of `a`. The caller chooses the extents of `out`: TNR_PAD_MODE_WRAP with an `out` of
 * several times the extents repeats `a`, and with one of the same extents rolls it by
 * `before`.
 *
 * INVALID_ARGUMENT also for another rank or dtype, and for an empty axis of `a` from which
 * `out` needs elements. ALIASED.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) of the rank of `a`; shares no byte with it
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_pad(struct tnr_context *context TNR_BORROWED,
                   tnr_pad_mode mode,
                   const struct tnr_view *a,
                   const struct tnr_pad_attributes *attributes,
                   const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Elements of `a` by their indices on an axis, which becomes the axes of `indices`: `out[..,
 * i, ..] = a[.., indices[i], ..]`, as NumPy's `take`; PyTorch's `index_select`, and with axis
 * 0 rows of an embedding.
 *
 * INVALID_ARGUMENT also for an index that is negative or not below the extent: the message has
 * its position, and nothing is written. ALIASED.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param indices (transfer none) of i32 or i64
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) shares no byte with the others
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_take(struct tnr_context *context TNR_BORROWED,
                    const struct tnr_view *a,
                    uint32_t axis,
                    const struct tnr_view *indices,
                    const struct tnr_take_attributes *attributes,
                    const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Elements of `a` by an index each on one axis: `out[i, j] = a[indices[i, j], j]` for axis 0,
 * as NumPy's `take_along_axis` and PyTorch's `gather`. Other axes of `a` are as long as those
 * of `indices`.
 *
 * Errors as `tnr_take`.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param indices (transfer none) of i32 or i64
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) of the shape of `indices`; shares no byte with the others
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_gather(struct tnr_context *context TNR_BORROWED,
                      const struct tnr_view *a,
                      uint32_t axis,
                      const struct tnr_view *indices,
                      const struct tnr_take_attributes *attributes,
                      const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The reverse of `tnr_take`:
 * `out[.., indices[i], ..] = op(out[.., indices[i], ..], a[.., i, ..])`, in the order of i.
 * `op` is ADD, MUL, MIN, MAX, or 0, which puts `a` itself, so that the last of equal indices
 * wins. Results are the same for any number of threads; f16 and bf16 are rounded after each
 * step.
 *
 * Errors as `tnr_take`; UNSUPPORTED: another `op`, and dtypes that it does not take.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) of the dtype of `out`
 * @param indices (transfer none) of i32 or i64
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) shares no byte with the others
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_put(struct tnr_context *context TNR_BORROWED,
                   tnr_binary_op op,
                   const struct tnr_view *a,
                   uint32_t axis,
                   const struct tnr_view *indices,
                   const struct tnr_put_attributes *attributes,
                   const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The reverse of `tnr_gather`: `out[indices[i, j], j] = op(out[indices[i, j], j], a[i, j])`
 * for axis 0, in row-major order of (i, j); otherwise as `tnr_put`.
 *
 * Errors as `tnr_put`.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) of the shape of `indices` and the dtype of `out`
 * @param indices (transfer none) of i32 or i64
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) shares no byte with the others
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_scatter(struct tnr_context *context TNR_BORROWED,
                       tnr_binary_op op,
                       const struct tnr_view *a,
                       uint32_t axis,
                       const struct tnr_view *indices,
                       const struct tnr_put_attributes *attributes,
                       const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The indices of the elements that are not zero, in row-major order: an i64 matrix in
 * row-major order, with a row for each such element and a column for each axis of `a`. NaN is
 * not zero.
 *
 * UNSUPPORTED: a dtype that `TNR_REDUCE_OP_COUNT` does not take. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) (out) all of the new blob; untouched on failure
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_nonzero(struct tnr_context *context TNR_BORROWED,
                             const struct tnr_view *a,
                             const struct tnr_nonzero_attributes *attributes,
                             struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The elements of `a` where the mask is true, in row-major order: a vector.
 *
 * INVALID_ARGUMENT also for a mask that does not broadcast to `a` or is not of bool8.
 * OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param mask (transfer none) broadcast to the shape of `a`
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) (out) all of the new blob; untouched on failure
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_masked_select(struct tnr_context *context TNR_BORROWED,
                                   const struct tnr_view *a,
                                   const struct tnr_view *mask,
                                   const struct tnr_nonzero_attributes *attributes,
                                   struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * A triangle of matrices, and zeros elsewhere. Axes before the last two are a batch. `out` may
 * be exactly `a`.
 *
 * INVALID_ARGUMENT also for a rank below 2.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) of the shape and dtype of `out`
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_triangular(struct tnr_context *context TNR_BORROWED,
                          tnr_triangle part,
                          const struct tnr_view *a,
                          const struct tnr_triangle_attributes *attributes,
                          const struct tnr_view_mut *out) TNR_NOEXCEPT;
#endif

/*
 * ------------------------------------------------------------------------------
 * 10. Normalization and scans
 *
 * Functions of all elements along axes: normalizations and scans, whose result has the shape of the
 * input, and moments.
 */

#if TNR_WANT_MINOR >= 2
/**
 * A normalization over axes.
 *
 * @since 0.2
 */
typedef int32_t tnr_normalize_op;
/**
 * `e^x` over the sum of all `e^x`. NaN where an element is NaN or plus infinity, or all are minus infinity.
 */
#define TNR_NORMALIZE_OP_SOFTMAX 1
/**
 * The logarithm of SOFTMAX: x less `ln(sum of e^x)`. NaN where SOFTMAX is.
 */
#define TNR_NORMALIZE_OP_LOG_SOFTMAX 2
/**
 * `(x - mean) / sqrt(variance + eps)`, with the variance of ddof 0, times `weight` plus `bias`. NaN where variance and `eps` are 0.
 */
#define TNR_NORMALIZE_OP_LAYER_NORM 3
/**
 * `x / sqrt(mean of the squares + eps)`, times `weight`. NaN where all are 0 and `eps` is.
 */
#define TNR_NORMALIZE_OP_RMS_NORM 4

/**
 * Attributes of `tnr_normalize`. NULL, and zeros after `struct_size`, mean the defaults. Later
 * versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_normalize_attributes {
  /**
   * `sizeof(tnr_normalize_attributes)`.
   */
  uint64_t struct_size;
  /**
   * LAYER_NORM, RMS_NORM: added to the variance, or to the mean of the squares; finite and not
   * negative.
   */
  double eps;
  /**
   * LAYER_NORM, RMS_NORM: of the extents of the axes, multiplied with the result. NULL: nothing
   * is.
   */
  const struct tnr_view *weight;
  /**
   * LAYER_NORM: as `weight`, added after that. NULL: nothing is.
   */
  const struct tnr_view *bias;
} tnr_normalize_attributes;

/**
 * A scan, or cumulative reduction, along an axis.
 *
 * @since 0.2
 */
typedef int32_t tnr_scan_op;
/**
 * Cumulative sum, with the dtypes of the reduction; f32 accumulates in f64.
 */
#define TNR_SCAN_OP_SUM 1
/**
 * Cumulative product, with the dtypes of the reduction; f32 accumulates in f64.
 */
#define TNR_SCAN_OP_PROD 2
/**
 * The smallest so far; NaN wins.
 */
#define TNR_SCAN_OP_MIN 3
/**
 * The largest so far; NaN wins.
 */
#define TNR_SCAN_OP_MAX 4

/**
 * Attributes of `tnr_scan`. There are none yet. NULL, and zeros after `struct_size`, mean the
 * defaults. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_scan_attributes {
  /**
   * `sizeof(tnr_scan_attributes)`.
   */
  uint64_t struct_size;
} tnr_scan_attributes;

/**
 * Attributes of `tnr_moments`. NULL, and zeros after `struct_size`, mean the defaults. Later
 * versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_moments_attributes {
  /**
   * `sizeof(tnr_moments_attributes)`.
   */
  uint64_t struct_size;
  /**
   * Delta degrees of freedom: the variance divides by the count less this.
   */
  uint32_t ddof;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_moments_attributes;

/**
 * Normalizes over the axes whose bits are set (bit i: axis i), all of one dtype. `out` may be
 * exactly `a`. f16 and bf16 are computed in f32 and rounded once.
 *
 * INVALID_ARGUMENT also for bits beyond the rank, and a weight or bias of other extents than
 * those of the axes. UNSUPPORTED: dtypes that are no floats. ALIASED.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) of the shape of `out`
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_normalize(struct tnr_context *context TNR_BORROWED,
                         tnr_normalize_op op,
                         const struct tnr_view *a,
                         uint32_t axes,
                         const struct tnr_normalize_attributes *attributes,
                         const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Each element of `out` is the reduction of the elements of `a` up to it along the axis,
 * itself included. `out` may be exactly `a`. The order of operations depends on the extent
 * and, for numbers near the ends of the range, on the elements; on a device it depends on the
 * shape and the strides. No order overflows or underflows where one element after the other
 * does not.
 *
 * INVALID_ARGUMENT also for an axis beyond the rank. UNSUPPORTED: dtypes that `op` does not
 * take. ALIASED.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) of the shape of `out`
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_scan(struct tnr_context *context TNR_BORROWED,
                    tnr_scan_op op,
                    const struct tnr_view *a,
                    uint32_t axis,
                    const struct tnr_scan_attributes *attributes,
                    const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Mean and variance over axes at once, as TNR_REDUCE_OP_MEAN and TNR_REDUCE_OP_VAR give them,
 * whose bits they have.
 *
 * Errors as `tnr_reduce`.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param mean (transfer none) of the shape of `out`; shares no byte with the others
 * @param out (transfer none) the variance
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_moments(struct tnr_context *context TNR_BORROWED,
                       const struct tnr_view *a,
                       uint32_t axes,
                       const struct tnr_moments_attributes *attributes,
                       const struct tnr_view_mut *mean,
                       const struct tnr_view_mut *out) TNR_NOEXCEPT;
#endif

/*
 * ------------------------------------------------------------------------------
 * 11. Expressions
 *
 * Element-wise operations as data: checked in one go, computed in one pass, without temporaries.
 */

#if TNR_WANT_MINOR >= 2
/**
 * Kind of a node, plus a `tnr_unary_op`: `op(a)`.
 *
 * @since 0.2
 */
#define TNR_NODE_UNARY 65536

/**
 * Kind of a node, plus a `tnr_binary_op`: `op(a, b)`.
 *
 * @since 0.2
 */
#define TNR_NODE_BINARY 131072

/**
 * Kind of a node, plus a `tnr_ternary_op`: `op(a, b, c)`.
 *
 * @since 0.2
 */
#define TNR_NODE_TERNARY 196608

/**
 * Kind of a node, plus a `tnr_compare_op`: `op(a, b)` of two operands of one dtype, as bool8.
 *
 * @since 0.2
 */
#define TNR_NODE_COMPARE 262144

/**
 * Kind of a node: `condition ? a : b`, of a bool8 and two operands of the node's dtype.
 *
 * @since 0.2
 */
#define TNR_NODE_SELECT 327680

/**
 * Kind of a node: the operand in the node's dtype. Neither dtype is complex.
 *
 * @since 0.2
 */
#define TNR_NODE_CAST 393216

/**
 * Kind of a node, plus a `tnr_reduce_op`: `tnr_reduce` over the axes in `flags`. In an
 * expression it is the last node, or it reduces the last axis with `TNR_NODE_KEEP_AXES` and
 * later nodes broadcast the result.
 *
 * @since 0.2
 */
#define TNR_NODE_REDUCE 458752

/**
 * Kind of a node, plus a `tnr_normalize_op`: `tnr_normalize` over the axes in `flags`, by an
 * optional weight and an optional bias. In an expression it is the last node.
 *
 * @since 0.2
 */
#define TNR_NODE_NORMALIZE 524288

/**
 * Kind of a node of graphs: `tnr_matmul` of `a`, `b` and an optional bias, with `alpha` 1 and
 * `beta` 0.
 *
 * @since 0.2
 */
#define TNR_NODE_MATMUL 589824

/**
 * Kind of a node of graphs: `tnr_conv2d` of images, weights and an optional bias.
 *
 * @since 0.2
 */
#define TNR_NODE_CONV2D 655360

/**
 * Kind of a node of graphs, plus MAX or MEAN of `tnr_reduce_op`: `tnr_pool2d` of images. With
 * `TNR_POOL2D_ADAPTIVE` two numbers give the rows and the columns of the result, otherwise
 * there are none.
 *
 * @since 0.2
 */
#define TNR_NODE_POOL2D 720896

/**
 * Kind of a node of graphs: `tnr_batch_norm` of images, optional means, variances, optional
 * weights and optional biases.
 *
 * @since 0.2
 */
#define TNR_NODE_BATCH_NORM 786432

/**
 * Kind of a node of graphs: the elements of the operand in row-major order. The numbers are
 * the shape. Where no strides give that order, a run copies the elements.
 *
 * @since 0.2
 */
#define TNR_NODE_RESHAPE 851968

/**
 * Kind of a node of graphs: `tnr_view_permute`. The numbers are the axes.
 *
 * @since 0.2
 */
#define TNR_NODE_PERMUTE 917504

/**
 * Kind of a node of graphs: `tnr_view_broadcast`. The numbers are the shape.
 *
 * @since 0.2
 */
#define TNR_NODE_BROADCAST 983040

/**
 * Kind of a node of graphs: `tnr_view_slice`. Four numbers: axis, start, stop and step.
 *
 * @since 0.2
 */
#define TNR_NODE_SLICE 1048576

/**
 * Kind of a node of graphs: `tnr_concat` of any number of operands. The number is the axis.
 *
 * @since 0.2
 */
#define TNR_NODE_CONCAT 1114112

/**
 * Kind of a node of graphs, plus a `tnr_pad_mode`: `tnr_pad`. The numbers are the shape.
 *
 * @since 0.2
 */
#define TNR_NODE_PAD 1179648

/**
 * Kind of a node of graphs: `tnr_take` of an operand by indices. The number is the axis.
 *
 * @since 0.2
 */
#define TNR_NODE_TAKE 1245184

/**
 * Kind of a node of graphs: `tnr_gather` of an operand by indices. The number is the axis.
 *
 * @since 0.2
 */
#define TNR_NODE_GATHER 1310720

/**
 * Kind of a node of graphs, plus a `tnr_triangle`: `tnr_triangular`.
 *
 * @since 0.2
 */
#define TNR_NODE_TRIANGULAR 1376256

/**
 * Kind of a node of graphs, plus a `tnr_scan_op`: `tnr_scan`. The number is the axis.
 *
 * @since 0.2
 */
#define TNR_NODE_SCAN 1441792

/**
 * Kind of a node of graphs, plus the index of a custom operation of the graph: the result of
 * that operation, which `tnr_graph_add_custom` added, for the operands and numbers that it
 * takes.
 *
 * @since 0.2
 */
#define TNR_NODE_CUSTOM 1507328

/**
 * Kind of a node of graphs: `tnr_conv2d_transposed` of images, weights and an optional bias.
 * Two numbers give the rows and the columns of the result; without numbers they are the
 * fewest.
 *
 * @since 0.2
 */
#define TNR_NODE_CONV2D_TRANSPOSED 1572864

/**
 * Kind of a node of graphs: `tnr_einsum` of any number of operands.
 *
 * @since 0.2
 */
#define TNR_NODE_EINSUM 1638400

/**
 * Kind of a node of graphs, plus a `tnr_order_result`: that result of `tnr_sort`. The number
 * is the axis.
 *
 * @since 0.2
 */
#define TNR_NODE_SORT 1703936

/**
 * Kind of a node of graphs, plus a `tnr_order_result`: that result of `tnr_top_k`. Two
 * numbers: axis and k.
 *
 * @since 0.2
 */
#define TNR_NODE_TOP_K 1769472

/**
 * Kind of a node of graphs, plus a `tnr_order_result`: that result of `tnr_partition`. Two
 * numbers: axis and kth.
 *
 * @since 0.2
 */
#define TNR_NODE_PARTITION 1835008

/**
 * Kind of a node of graphs: `tnr_quantile` of an operand over the axes in `flags`. The second
 * operand is a vector of f64.
 *
 * @since 0.2
 */
#define TNR_NODE_QUANTILE 1900544

/**
 * Kind of a node of graphs: `tnr_searchsorted` of a sorted vector and values.
 *
 * @since 0.2
 */
#define TNR_NODE_SEARCHSORTED 1966080

/**
 * Kind of a node of graphs: `tnr_bincount` of an operand and optional weights. The number is
 * the extent of the result.
 *
 * @since 0.2
 */
#define TNR_NODE_BINCOUNT 2031616

/**
 * Kind of a node of graphs: `tnr_histogram` of an operand and optional edges. The number is
 * the extent of the result.
 *
 * @since 0.2
 */
#define TNR_NODE_HISTOGRAM 2097152

/**
 * Kind of a node of graphs, plus a `tnr_binary_op`, or 0: the first operand after `tnr_put` of
 * the second one, at the indices that are the third one. The number is the axis.
 *
 * @since 0.2
 */
#define TNR_NODE_PUT 2162688

/**
 * Kind of a node of graphs, plus a `tnr_binary_op`, or 0: the first operand after
 * `tnr_scatter` of the second one, at the indices that are the third one. The number is the
 * axis.
 *
 * @since 0.2
 */
#define TNR_NODE_SCATTER 2228224

/**
 * Kind of a node of graphs, plus a `tnr_random_distribution`: `tnr_random` of the node's
 * dtype. The numbers are the shape. The operands are the seed and the offset: scalars, or u64
 * arrays of rank 0.
 *
 * @since 0.2
 */
#define TNR_NODE_RANDOM 2293760

/**
 * Kind of a node of graphs: `tnr_random_permutation` of the node's dtype. The number is the
 * extent. The operands are the seed and the offset: scalars, or u64 arrays of rank 0.
 *
 * @since 0.2
 */
#define TNR_NODE_RANDOM_PERMUTATION 2359296

/**
 * Kind of a node of graphs: `tnr_sparse_to_dense`. The first operands of every sparse node are
 * `major`, `minor` and `values`, and its two numbers are the rows and the columns of the
 * matrix.
 *
 * @since 0.2
 */
#define TNR_NODE_SPARSE_TO_DENSE 2424832

/**
 * Kind of a node of graphs: `tnr_sparse_matmul` by the fourth operand, with `alpha` 1 and
 * `beta` 0.
 *
 * @since 0.2
 */
#define TNR_NODE_SPARSE_MATMUL 2490368

/**
 * Kind of a node of graphs: the values of `tnr_sparse_sddmm` by the fourth and the fifth
 * operand, with `alpha` 1.
 *
 * @since 0.2
 */
#define TNR_NODE_SPARSE_SDDMM 2555904

/**
 * Kind of a node of graphs, plus 0 for rows or 1 for columns: the values of `tnr_sparse_scale`
 * by the factors that are the fourth operand.
 *
 * @since 0.2
 */
#define TNR_NODE_SPARSE_SCALE 2621440

/**
 * Kind of a node of graphs: the values of `tnr_sparse_softmax`.
 *
 * @since 0.2
 */
#define TNR_NODE_SPARSE_SOFTMAX 2686976

/**
 * Kind of a node of graphs, plus a `tnr_reduce_op`: `tnr_sparse_reduce` over the axes in
 * `flags`.
 *
 * @since 0.2
 */
#define TNR_NODE_SPARSE_REDUCE 2752512

/**
 * Kind of a node of graphs, plus a `tnr_sparse_norm_kind`: `tnr_sparse_norm`, as an f64 of
 * rank 0.
 *
 * @since 0.2
 */
#define TNR_NODE_SPARSE_NORM 2818048

/**
 * Kind of a node of graphs: `tnr_sparse_diagonal`.
 *
 * @since 0.2
 */
#define TNR_NODE_SPARSE_DIAGONAL 2883584

/**
 * Kind of a node of graphs: `tnr_sparse_solve` for the fourth operand.
 *
 * @since 0.2
 */
#define TNR_NODE_SPARSE_SOLVE 2949120

/**
 * Kind of a node of graphs: the fourth operand after `tnr_sparse_accumulate` into it.
 *
 * @since 0.2
 */
#define TNR_NODE_SPARSE_ACCUMULATE 3014656

/**
 * Kind of a node of graphs: the outputs of one of two subgraphs. Two numbers: the subgraph for
 * a first operand that is true, and the other one. The first operand is a bool8 of one
 * element. The other operands are the inputs of both subgraphs. A run computes only the one
 * that it takes. Both have the same number of outputs, of the same dtypes and shapes; an
 * extent that a run counts may differ.
 *
 * @since 0.2
 */
#define TNR_NODE_COND 3080192

/**
 * Kind of a node of graphs: the outputs of the last iteration of a subgraph, the body. Three
 * numbers: the subgraph of the condition, the body, and the largest number of iterations, at
 * least 1. The operands are the inputs of both in the first iteration. Each iteration replaces
 * the first of them by the body's outputs, which have the same dtypes and shapes; an extent
 * that a run counts may become smaller. The condition gives a bool8 of one element. A run
 * fails with INVALID_ARGUMENT where the condition still holds after the last iteration.
 *
 * @since 0.2
 */
#define TNR_NODE_WHILE 3145728

/**
 * Kind of a node of graphs: `tnr_nonzero`, with as many rows as a run counts. The number is an
 * extent of `tnr_graph_add_extent` that no input has, no other node gives and no node before
 * this one takes: its value is that count. A run that counts more than the maximum of the
 * extent fails with INVALID_ARGUMENT. The plan of memory has room for the maximum, or for the
 * operand's elements where these are fewer.
 *
 * @since 0.2
 */
#define TNR_NODE_NONZERO 3211264

/**
 * Kind of a node of graphs: `tnr_masked_select` of elements by a mask, with as many elements
 * as a run counts. The number is an extent as that of `TNR_NODE_NONZERO`.
 *
 * @since 0.2
 */
#define TNR_NODE_MASKED_SELECT 3276800

/**
 * Kind of a node of graphs: the first operand, summed by `TNR_REDUCE_OP_SUM` over the axes
 * that broadcast the shape of the second operand to its own. Only the shape of the second
 * operand is read.
 *
 * @since 0.2
 */
#define TNR_NODE_SUM_TO 3342336

/**
 * Flag of a node that reduces: the reduced axes stay, of extent 1.
 *
 * @since 0.2
 */
#define TNR_NODE_KEEP_AXES 256

/**
 * Operand of a node: plus the index of a view.
 *
 * @since 0.2
 */
#define TNR_OPERAND_VIEW 1073741824

/**
 * Operand of a node: plus the index of a scalar, which must be representable in the dtype that
 * the operation takes there, as with `tnr_binary_scalar`.
 *
 * @since 0.2
 */
#define TNR_OPERAND_SCALAR 2147483648

/**
 * Operand of a node: the elements of `out` before the call.
 *
 * @since 0.2
 */
#define TNR_OPERAND_OUTPUT 3221225472

/**
 * No operand.
 *
 * @since 0.2
 */
#define TNR_OPERAND_NONE 4294967295

/**
 * Most nodes of an expression.
 *
 * @since 0.2
 */
#define TNR_MAX_NODES 256

/**
 * Most different views of an expression.
 *
 * @since 0.2
 */
#define TNR_MAX_EXPRESSION_VIEWS 32

/**
 * A node of an expression: an operation on views, scalars and the results of earlier nodes, with
 * one result. Frozen: 32 bytes.
 *
 * An operand is the index of an earlier node; `TNR_OPERAND_VIEW` plus the index of a view of the
 * expression; `TNR_OPERAND_SCALAR` plus the index of a scalar of it; or `TNR_OPERAND_OUTPUT`.
 *
 * @since 0.2
 */
typedef struct tnr_node {
  /**
   * A kind (`TNR_NODE_UNARY`, ...) plus the code of the operation (`tnr_unary_op`, ...), of
   * kinds that have codes.
   */
  uint32_t code;
  /**
   * Dtype of the result, which the operation must give.
   */
  tnr_dtype dtype;
  /**
   * The operands that the operation takes, first; the other entries are `TNR_OPERAND_NONE`.
   */
  uint32_t operands[3];
  /**
   * Index into the attributes of the expression, plus 1, for a reduction
   * (`tnr_reduce_attributes`) or a normalization (`tnr_normalize_attributes`). 0: none.
   */
  uint32_t attributes;
  /**
   * For a reduction or a normalization: its axes as bits (bit i: axis i), and
   * `TNR_NODE_KEEP_AXES`. 0 for all others.
   */
  uint32_t flags;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_node;

/**
 * An expression: nodes, and the arrays that they refer to. The last node is the result. Set it to
 * zeros, then set `struct_size` and the fields that apply. Later versions append fields, in which
 * 0 keeps the present behaviour. The library trusts no array: each code, dtype and index is
 * checked in each call.
 *
 * @since 0.2
 */
typedef struct tnr_expression {
  /**
   * `sizeof(tnr_expression)`.
   */
  uint64_t struct_size;
  /**
   * `node_count` nodes.
   */
  const struct tnr_node *nodes;
  /**
   * `view_count` pointers to views. NULL only where `view_count` is 0.
   */
  const struct tnr_view *const *views;
  /**
   * `scalar_count` scalars. NULL only where `scalar_count` is 0.
   */
  const struct tnr_scalar *scalars;
  /**
   * `attribute_count` pointers to structs, each as the node that names it takes it. NULL only
   * where `attribute_count` is 0.
   */
  const void *const *attributes;
  /**
   * 1 to `TNR_MAX_NODES`.
   */
  uint32_t node_count;
  /**
   * At most `TNR_MAX_EXPRESSION_VIEWS`.
   */
  uint32_t view_count;
  /**
   * At most 1024.
   */
  uint32_t scalar_count;
  /**
   * At most 1024.
   */
  uint32_t attribute_count;
} tnr_expression;

/**
 * Attributes of `tnr_evaluate`. There are none yet. NULL, and zeros after `struct_size`, mean the
 * defaults. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_evaluate_attributes {
  /**
   * `sizeof(tnr_evaluate_attributes)`.
   */
  uint64_t struct_size;
} tnr_evaluate_attributes;

/**
 * Computes an expression in one pass: each node has the bits that the call of its operation
 * would give on whole tensors, rounded or wrapped to its dtype, and no temporary is made of
 * it. Views broadcast to the shape of all views together, as in NumPy; the result of an
 * expression whose last node neither reduces nor normalizes is broadcast to `out`'s shape.
 *
 * Bits are those of the calls one by one, with row-major temporaries, for any number of
 * threads. Integer divisors of 0 and negative powers of integers are found on the data as by
 * `tnr_binary`: INVALID_ARGUMENT, and `out` holds a mixture.
 *
 * Nothing is allocated for up to 16 nodes, unless a reduction amid them has more results than
 * the stack has room for. A node whose operands are all scalars is computed once.
 *
 * The result of views and an `out` on the context's device is enqueued; integers that are
 * divided, or raised to powers, are waited for. The bits are those of the device's calls.
 * Reductions amid the expression, their operands, and parts of an expression that do not fit
 * one launch, are temporaries in the device's memory, freed in the order of its queue.
 *
 * INVALID_ARGUMENT: an unknown kind, code, dtype, flag or index, an operand that is no earlier
 * node, a dtype that the operation does not give or operands of two dtypes (the message names
 * the node), views that do not broadcast, a reduction that is neither last nor over the last
 * axis with `TNR_NODE_KEEP_AXES`, one over an extent of 0 that needs an element. UNSUPPORTED:
 * a dtype that an operation does not take, complex numbers in reductions and on a device, and a
 * view that is not on the device of `out`. ALIASED: `out` shares bytes with a view and is not
 * exactly it; or the last node reduces, and `out` is a view or an operand. STALE_VIEW, BUSY: as
 * operations. OUT_OF_MEMORY: only where something is allocated. `out` is then untouched.
 *
 * @param context (transfer none) (nullable)
 * @param expression (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_evaluate(struct tnr_context *context TNR_BORROWED,
                        const struct tnr_expression *expression,
                        const struct tnr_evaluate_attributes *attributes,
                        const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The shape and dtype of the result of an expression that does not name its output. No element
 * is read.
 *
 * Errors as `tnr_evaluate` has them of nodes and shapes; INVALID_ARGUMENT also for
 * `TNR_OPERAND_OUTPUT`.
 *
 * @param expression (transfer none)
 * @param dtype (transfer none) (out) untouched on failure
 * @param rank (transfer none) (out) untouched on failure
 * @param shape (transfer none) (out) 8 extents, those beyond the rank 0; untouched on failure
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_expression_shape(const struct tnr_expression *expression,
                                tnr_dtype *dtype,
                                uint32_t *rank,
                                int64_t *shape) TNR_NOEXCEPT;
#endif

/*
 * ------------------------------------------------------------------------------
 * 12. Programs
 *
 * Graphs of operations: built value by value, checked once, run on memory of any shape that they
 * were built for, with the memory of their intermediate values planned.
 */

#if TNR_WANT_MINOR >= 2
/**
 * A number of a graph: plus the index of an extent, which each run has.
 *
 * @since 0.2
 */
#define TNR_EXTENT 4611686018427387904

/**
 * Most extents of a graph.
 *
 * @since 0.2
 */
#define TNR_MAX_EXTENTS 256

/**
 * Most values of a graph.
 *
 * @since 0.2
 */
#define TNR_MAX_VALUES 65536

/**
 * How deep graphs may be within each other.
 *
 * @since 0.2
 */
#define TNR_MAX_SUBGRAPH_DEPTH 8

/**
 * Flag of `tnr_custom_operation`: `out` may be exactly the first operand.
 *
 * @since 0.2
 */
#define TNR_CUSTOM_IN_PLACE 1

/**
 * Flag of `tnr_custom_operation`: `out` has elements before the call, of any values, and no
 * undefined bytes. Costs a pass over it.
 *
 * @since 0.2
 */
#define TNR_CUSTOM_INITIALIZED 2

/**
 * Pass of a program: nodes whose results no output needs are left out.
 *
 * @since 0.2
 */
#define TNR_PASS_DEAD_CODE 1

/**
 * Pass of a program: nodes with the same operation on the same values are one.
 *
 * @since 0.2
 */
#define TNR_PASS_COMMON_SUBEXPRESSIONS 2

/**
 * Pass of a program: nodes whose operands are all constants are computed when the program is made.
 *
 * @since 0.2
 */
#define TNR_PASS_CONSTANT_FOLDING 4

/**
 * Pass of a program: a bias and an activation after a product or a convolution become part of it.
 *
 * @since 0.2
 */
#define TNR_PASS_EPILOGUES 8

/**
 * Pass of a program: element-wise nodes are computed in one pass with a reduction after them and,
 * on the CPU, with reductions of their rows that later ones read.
 *
 * @since 0.2
 */
#define TNR_PASS_FUSION 16

/**
 * Pass of a program: a result takes the memory of an operand that nothing reads any more.
 *
 * @since 0.2
 */
#define TNR_PASS_IN_PLACE 32

/**
 * Pass of a program: values that are not alive at once share memory.
 *
 * @since 0.2
 */
#define TNR_PASS_MEMORY 64

/**
 * Pass of a program: images between convolutions and poolings are stored channels-last.
 *
 * @since 0.2
 */
#define TNR_PASS_LAYOUT 128

/**
 * Pass of a program: constants that are right factors of products, and filters of convolutions,
 * are packed as `tnr_factor_create` packs a factor, which says how many bytes that takes. The
 * packed copy is made with the program. The pass runs only if `enabled_passes` names it.
 *
 * @since 0.2
 */
#define TNR_PASS_PACKING 256

/**
 * Flag of `tnr_program_run`: each custom operation is run twice, into memory of two patterns with
 * guards around it, and a third time in place if it promises that; its views have owners that end
 * after the call. INTERNAL: it wrote a byte outside its output or to an operand, left an element
 * unwritten, gave two results, or kept the memory that it was lent. An operation that keeps a view
 * and uses it later gets STALE_VIEW. The flag does not change runs on a device.
 *
 * @since 0.2
 */
#define TNR_RUN_CHECKED 1

/**
 * Flag of `tnr_program_run`: `budget_bytes` is a bound where it is 0, too.
 *
 * @since 0.2
 */
#define TNR_RUN_BUDGET 2

/**
 * Flag of `tnr_bound_create`: all memory of a run is taken now, for one run at a time on the CPU. A
 * run allocates nothing, takes no lock and makes no system call.
 *
 * @since 0.2
 */
#define TNR_BOUND_PREALLOCATED 1

/**
 * Flag of `tnr_bound_create`: the run is recorded on the device of the context, with the memory of
 * these inputs and outputs, and is one launch.
 *
 * @since 0.2
 */
#define TNR_BOUND_CAPTURED 2

/**
 * Flag of `tnr_bound_create`: `budget_bytes` is a bound where it is 0, too.
 *
 * @since 0.2
 */
#define TNR_BOUND_BUDGET 4

/**
 * A program that is bound to the layouts of its inputs and outputs. Its handle is a token like
 * that of a blob, of a separate kind.
 *
 * @since 0.2
 */
typedef struct tnr_bound tnr_bound;

/**
 * A graph that is being built: inputs, constants, nodes and outputs. Its handle is a token like
 * that of a blob, of a separate kind.
 *
 * @since 0.2
 */
typedef struct tnr_graph tnr_graph;

/**
 * A graph that nothing changes any more, to be run by any number of threads. Its handle is a token
 * like that of a blob, of a separate kind.
 *
 * @since 0.2
 */
typedef struct tnr_program tnr_program;

/**
 * How two numbers make an extent.
 *
 * @since 0.2
 */
typedef int32_t tnr_extent_op;
/**
 * The sum.
 */
#define TNR_EXTENT_OP_ADD 1
/**
 * The difference, which is not negative.
 */
#define TNR_EXTENT_OP_SUB 2
/**
 * The product.
 */
#define TNR_EXTENT_OP_MUL 3
/**
 * The quotient, rounded down; the divisor is positive.
 */
#define TNR_EXTENT_OP_DIV 4
/**
 * The quotient, rounded up; the divisor is positive.
 */
#define TNR_EXTENT_OP_DIV_UP 5
/**
 * The smaller one.
 */
#define TNR_EXTENT_OP_MIN 6
/**
 * The greater one.
 */
#define TNR_EXTENT_OP_MAX 7

/**
 * A node of a graph: an operation on values, with one result, or several of `TNR_NODE_COND` and
 * `TNR_NODE_WHILE`. The kinds are those of `tnr_node`, and the ones below. Set it to zeros, then
 * set `struct_size` and the fields that apply. Later versions append fields, in which 0 keeps the
 * present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_graph_node {
  /**
   * `sizeof(tnr_graph_node)`.
   */
  uint64_t struct_size;
  /**
   * A kind plus the code of the operation, of kinds that have codes.
   */
  uint32_t code;
  /**
   * The dtype that a cast or random numbers have. 0 for all others: operations state it.
   */
  tnr_dtype dtype;
  /**
   * `operand_count` values; `TNR_OPERAND_NONE` for an optional one that is not given.
   */
  const uint32_t *operands;
  /**
   * `number_count` numbers, as the kind takes them: constants, or `TNR_EXTENT` plus the index of
   * an extent. NULL only where there are none.
   */
  const int64_t *numbers;
  /**
   * The attributes of the operation, as its call takes them, except views, which are operands
   * here. NULL: the defaults.
   */
  const void *attributes;
  /**
   * Number of `operands`, as the kind requires.
   */
  uint32_t operand_count;
  /**
   * Number of `numbers`, as the kind requires.
   */
  uint32_t number_count;
  /**
   * Axes of a reduction, a normalization or a quantile, as in `tnr_node`. 0 for all others.
   */
  uint32_t flags;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_graph_node;

/**
 * The dtype and shape of the result of a custom operation, from those of its operands: these views
 * have no memory. Returns a status; anything but OK refuses the node, with the message that the
 * function gave `tnr_set_last_error`. Called from any thread, also for shapes that no run will have.
 * Meanwhile calls on a graph that the node is being added to are BUSY, on every thread.
 *
 * The function always gives the same answer for the same operands. A program takes one answer for
 * each set of layouts that it is run with. A run asks again only where shapes of operands depend on
 * its data: an answer of another dtype or rank than the first one, or with a larger extent along an
 * axis, is INVALID_ARGUMENT before the result is written.
 *
 * @since 0.2
 */
typedef tnr_status (*tnr_infer_fn)(void *user_context,
                                   const struct tnr_view *operands,
                                   uint32_t operand_count,
                                   const int64_t *numbers,
                                   uint32_t number_count,
                                   tnr_dtype *dtype,
                                   uint32_t *rank,
                                   int64_t *shape);

/**
 * Computes a custom operation: writes every element of `out`, and no other byte. Operands and
 * `out` are lent for the call, with any strides. The function may call the library and run
 * programs, including its own, but may not call the graph that it was added to. Returns a status;
 * any status other than OK ends the run with that status, and with the reason that the function
 * gave to `tnr_set_last_error`. Called from any thread, and from several at once.
 *
 * @since 0.2
 */
typedef tnr_status (*tnr_compute_fn)(void *user_context,
                                     const struct tnr_view *operands,
                                     uint32_t operand_count,
                                     const int64_t *numbers,
                                     uint32_t number_count,
                                     const struct tnr_view_mut *out);

/**
 * Computes a custom operation where a program is run on a device: enqueues work that writes every
 * element of `out`, and no other byte, by calls of the library with `context`, the context of the
 * run. Operands and `out` are views of its device, lent for the call, with any strides. Their
 * owners end after the call. They also order calls on other contexts of the device: the work of
 * these calls comes after the earlier work of the run, and before its later work. Otherwise like
 * `tnr_compute_fn`.
 *
 * @since 0.2
 */
typedef tnr_status (*tnr_device_compute_fn)(void *user_context,
                                            struct tnr_context *context,
                                            const struct tnr_view *operands,
                                            uint32_t operand_count,
                                            const int64_t *numbers,
                                            uint32_t number_count,
                                            const struct tnr_view_mut *out);

/**
 * A custom operation. Set it to zeros, then set `struct_size` and the fields that apply. Later
 * versions append fields, in which 0 keeps the present behaviour. An exception or a panic that
 * leaves a function is INTERNAL where compilers let it through, as C++ does unless the function is
 * `noexcept`; a panic in a function of Rust that does not catch it aborts.
 *
 * @since 0.2
 */
typedef struct tnr_custom_operation {
  /**
   * `sizeof(tnr_custom_operation)`.
   */
  uint64_t struct_size;
  /**
   * Ends with a 0; 1 to 31 bytes, which are copied.
   */
  const char *name;
  /**
   * Not NULL.
   */
  tnr_infer_fn infer;
  /**
   * Not NULL.
   */
  tnr_compute_fn compute;
  /**
   * Given to the functions.
   */
  void *user_context;
  /**
   * Called once with `user_context`, when the graph and all its programs are gone; may be NULL.
   */
  tnr_release_fn release;
  /**
   * Operands that it takes.
   */
  uint32_t operand_count;
  /**
   * Numbers that it takes.
   */
  uint32_t number_count;
  /**
   * `TNR_CUSTOM_IN_PLACE`, `TNR_CUSTOM_INITIALIZED`, or 0.
   */
  uint32_t flags;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * Called in place of `compute` by runs on a device, of any kind; NULL: these refuse the
   * operation.
   */
  tnr_device_compute_fn compute_on_device;
} tnr_custom_operation;

/**
 * Operations of a shared library that is loaded while the program runs. The loader gives its entry
 * to `tnr_plugin_check`, and may then add its operations to graphs. The library stays loaded as
 * long as these exist.
 *
 * @since 0.2
 */
typedef struct tnr_plugin {
  /**
   * `sizeof(tnr_plugin)`.
   */
  uint64_t struct_size;
  /**
   * `TNR_ABI_MAJOR` of the header that it was compiled with. Here in every version of the ABI.
   */
  uint32_t abi_major;
  /**
   * `TNR_ABI_MINOR` of the header that it was compiled with. Here in every version of the ABI.
   */
  uint32_t abi_minor;
  /**
   * Ends with a 0; for messages.
   */
  const char *name;
  /**
   * `operation_count` operations. Each may be added to any number of graphs, and `release` is
   * called once for each of them.
   */
  const struct tnr_custom_operation *const *operations;
  /**
   * How many `operations` there are.
   */
  uint32_t operation_count;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_plugin;

/**
 * The one function that a plug-in exports, by the name `tnr_plugin_entry`. Returns the description
 * of the plug-in, which stays at its address.
 *
 * @since 0.2
 */
typedef const struct tnr_plugin *(*tnr_plugin_fn)(void);

/**
 * The numbers of values, nodes and so on of a graph, as `tnr_graph_describe` reports them.
 *
 * @since 0.2
 */
typedef struct tnr_graph_info {
  /**
   * `sizeof(tnr_graph_info)`, set by the caller.
   */
  uint64_t struct_size;
  /**
   * Values of all sources.
   */
  uint32_t value_count;
  /**
   * Named extents, and those made of them.
   */
  uint32_t extent_count;
  /**
   * Inputs.
   */
  uint32_t input_count;
  /**
   * Constants.
   */
  uint32_t constant_count;
  /**
   * Scalars.
   */
  uint32_t scalar_count;
  /**
   * Nodes.
   */
  uint32_t node_count;
  /**
   * Outputs.
   */
  uint32_t output_count;
  /**
   * Custom operations.
   */
  uint32_t custom_count;
  /**
   * Subgraphs, for nodes such as `TNR_NODE_COND` and `TNR_NODE_WHILE`.
   */
  uint32_t subgraph_count;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_graph_info;

/**
 * An extent of a graph, as `tnr_graph_describe_extent` reports it.
 *
 * @since 0.2
 */
typedef struct tnr_extent_info {
  /**
   * `sizeof(tnr_extent_info)`, set by the caller.
   */
  uint64_t struct_size;
  /**
   * 0 of a named one.
   */
  tnr_extent_op op;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * The first number; the maximum of a named one.
   */
  int64_t a;
  /**
   * The second number; 0 of a named one.
   */
  int64_t b;
  /**
   * The name of a named one; ends with a 0.
   */
  char name[32];
} tnr_extent_info;

/**
 * A custom operation of a graph, as `tnr_graph_describe_custom` reports it.
 *
 * @since 0.2
 */
typedef struct tnr_custom_info {
  /**
   * `sizeof(tnr_custom_info)`, set by the caller.
   */
  uint64_t struct_size;
  /**
   * Operands that it takes.
   */
  uint32_t operand_count;
  /**
   * Numbers that it takes.
   */
  uint32_t number_count;
  /**
   * The flags of `tnr_custom_operation`.
   */
  uint32_t flags;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * Ends with a 0.
   */
  char name[32];
} tnr_custom_info;

/**
 * Where a value of a graph comes from.
 *
 * @since 0.2
 */
typedef int32_t tnr_value_source;
/**
 * `tnr_graph_add_input`.
 */
#define TNR_VALUE_SOURCE_INPUT 1
/**
 * `tnr_graph_add_constant`.
 */
#define TNR_VALUE_SOURCE_CONSTANT 2
/**
 * `tnr_graph_add_scalar`.
 */
#define TNR_VALUE_SOURCE_SCALAR 3
/**
 * `tnr_graph_add_node`.
 */
#define TNR_VALUE_SOURCE_NODE 4

/**
 * A value of a graph, as `tnr_graph_describe_value` reports it.
 *
 * @since 0.2
 */
typedef struct tnr_value_info {
  /**
   * `sizeof(tnr_value_info)`, set by the caller.
   */
  uint64_t struct_size;
  /**
   * Whose result it is.
   */
  tnr_value_source source;
  /**
   * The dtype of its elements.
   */
  tnr_dtype dtype;
  /**
   * Number of axes.
   */
  uint32_t rank;
  /**
   * Index among the values of its source, from 0, in the order in which they were added.
   */
  uint32_t index;
  /**
   * The extents where all named ones are as large as they may be; those beyond the rank are 0.
   */
  int64_t shape[8];
  /**
   * The extents of an input as numbers, as they were given. 0 for all others.
   */
  int64_t numbers[8];
  /**
   * Index among the results of its node, from 0. These are consecutive values.
   */
  uint32_t result;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_value_info;

/**
 * Attributes of `tnr_program_create`. NULL, and zeros after `struct_size`, mean the defaults.
 * Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_program_attributes {
  /**
   * `sizeof(tnr_program_attributes)`.
   */
  uint64_t struct_size;
  /**
   * The passes, by bits, that are left out.
   */
  uint32_t disabled_passes;
  /**
   * Passes that run only if they are named here: `TNR_PASS_PACKING`. Other passes may be named
   * too. A pass that is also in `disabled_passes` is left out.
   */
  uint32_t enabled_passes;
  /**
   * The constants that `TNR_PASS_PACKING` packs, as `tnr_blob_copy_packed` returned them for a
   * program of the same graph: `u8`, adjacent, aligned to 64, owned by a blob that is not
   * borrowed, and which the program keeps. The constants themselves are then not read. NULL:
   * they are packed now. Other bytes than these give other results.
   */
  const struct tnr_view *packed;
} tnr_program_attributes;

/**
 * The memory of a run, as `tnr_program_memory` reports it.
 *
 * @since 0.2
 */
typedef struct tnr_memory_plan {
  /**
   * `sizeof(tnr_memory_plan)`, set by the caller.
   */
  uint64_t struct_size;
  /**
   * Bytes that intermediate values take, in one block.
   */
  uint64_t peak_bytes;
  /**
   * The most bytes of intermediate values that are alive at once: no plan takes less.
   */
  uint64_t live_bytes;
  /**
   * Bytes of all intermediate values together, as if each had memory of its own.
   */
  uint64_t total_bytes;
  /**
   * The most bytes of scratch memory that operations took at once in runs for these layouts so
   * far, in addition to `peak_bytes`: they report it when they run. Exact where a program is
   * bound with `TNR_BOUND_PREALLOCATED` or `TNR_BOUND_CAPTURED`.
   */
  uint64_t scratch_bytes;
  /**
   * Calls of operations in a run.
   */
  uint32_t step_count;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * Bytes of constants that are packed, which the program holds for all runs.
   */
  uint64_t packed_bytes;
} tnr_memory_plan;

/**
 * A pass over a program and its effect, from `tnr_program_describe_pass`.
 *
 * @since 0.2
 */
typedef struct tnr_pass_info {
  /**
   * `sizeof(tnr_pass_info)`, set by the caller.
   */
  uint64_t struct_size;
  /**
   * `TNR_PASS_DEAD_CODE` and so on.
   */
  uint32_t pass;
  /**
   * 1: the program was made with it; 0: it was left out.
   */
  uint32_t is_on;
  /**
   * How often it changed something, with the graphs in nodes: 0 where it was left out.
   */
  uint64_t count;
  /**
   * Its name, such as "common subexpressions"; ends with a 0.
   */
  char name[32];
  /**
   * The thing that is counted, such as "nodes merged"; ends with a 0.
   */
  char counted[32];
} tnr_pass_info;

/**
 * How a step of a program computes.
 *
 * @since 0.2
 */
typedef int32_t tnr_step_kind;
/**
 * Elements move to where a reshape or an output needs them.
 */
#define TNR_STEP_KIND_COPY 1
/**
 * Element-wise nodes in one pass.
 */
#define TNR_STEP_KIND_EXPRESSION 2
/**
 * The call of an operation.
 */
#define TNR_STEP_KIND_OPERATION 3
/**
 * Subgraphs of a node, as often as the data require.
 */
#define TNR_STEP_KIND_CONTROL 4

/**
 * A step of a program's run, as `tnr_program_describe_step` reports it.
 *
 * @since 0.2
 */
typedef struct tnr_step_info {
  /**
   * `sizeof(tnr_step_info)`, set by the caller.
   */
  uint64_t struct_size;
  /**
   * How it computes.
   */
  tnr_step_kind kind;
  /**
   * The node whose result it gives; `TNR_OPERAND_NONE` where it copies to an output.
   */
  uint32_t node;
  /**
   * Nodes that it computes.
   */
  uint32_t node_count;
  /**
   * The output that it writes; `TNR_OPERAND_NONE` where the result is another value.
   */
  uint32_t output;
  /**
   * Floating-point operations: two for each multiplication and addition of a product or a
   * convolution, one for each element and node of others, 0 of copies and of subgraphs.
   */
  uint64_t flops;
  /**
   * Bytes of the elements that it reads, each operand once.
   */
  uint64_t read_bytes;
  /**
   * Bytes of the elements that it writes.
   */
  uint64_t written_bytes;
  /**
   * Offset of its result, of several the first, in the block of values; 0 where it writes an
   * output.
   */
  uint64_t block_offset;
  /**
   * Bytes of the block that the result takes; 0 where it writes an output.
   */
  uint64_t block_bytes;
  /**
   * The last step that reads these bytes.
   */
  uint32_t last_use;
  /**
   * Dtype of the result.
   */
  tnr_dtype dtype;
  /**
   * Number of axes of the result.
   */
  uint32_t rank;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * The result's extents; those beyond the rank are 0.
   */
  int64_t shape[8];
  /**
   * Names of the operations, as far as they fit; ends with a 0.
   */
  char name[64];
} tnr_step_info;

/**
 * Attributes of `tnr_program_run`. NULL, and zeros after `struct_size`, mean the defaults. Later
 * versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_program_run_attributes {
  /**
   * `sizeof(tnr_program_run_attributes)`.
   */
  uint64_t struct_size;
  /**
   * Most bytes that intermediate values may take: OUT_OF_MEMORY where they need more, before
   * anything is allocated. 0: any number, or none with `TNR_RUN_BUDGET`.
   */
  uint64_t budget_bytes;
  /**
   * Nanoseconds of each of `step_count` steps: written if the run succeeds. NULL: none are.
   */
  uint64_t *step_nanoseconds;
  /**
   * Steps of the program for these layouts, as `tnr_program_memory` reports; 0 without the
   * above.
   */
  uint32_t step_count;
  /**
   * `TNR_RUN_CHECKED` and `TNR_RUN_BUDGET`, or 0.
   */
  uint32_t flags;
  /**
   * The extents of each output, 8 for each, with 0 beyond the rank: written if the run succeeds.
   * An extent that depends on the data may be less than that of the caller's view; the elements
   * beyond it are untouched. NULL: none are written.
   */
  int64_t *output_shapes;
} tnr_program_run_attributes;

/**
 * Attributes of `tnr_bound_create`. NULL, and zeros beyond `struct_size`, mean the defaults.
 *
 * @since 0.2
 */
typedef struct tnr_bound_attributes {
  /**
   * `sizeof(tnr_bound_attributes)`.
   */
  uint64_t struct_size;
  /**
   * Bytes that intermediate values may take: if more are needed, OUT_OF_MEMORY. 0: no bound.
   */
  uint64_t budget_bytes;
  /**
   * `TNR_BOUND_PREALLOCATED`, `TNR_BOUND_CAPTURED`, `TNR_BOUND_BUDGET`.
   */
  uint32_t flags;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_bound_attributes;

/**
 * Which result of an operation that orders elements a node is.
 *
 * @since 0.2
 */
typedef int32_t tnr_order_result;
/**
 * The elements.
 */
#define TNR_ORDER_RESULT_VALUES 1
/**
 * Where each was on the axis, of i64.
 */
#define TNR_ORDER_RESULT_INDICES 2

/**
 * Attributes of a node of `TNR_NODE_EINSUM`, which must be given.
 *
 * @since 0.2
 */
typedef struct tnr_einsum_node_attributes {
  /**
   * `sizeof(tnr_einsum_node_attributes)`.
   */
  uint64_t struct_size;
  /**
   * The spec of `tnr_einsum`; ends with a 0.
   */
  char spec[120];
} tnr_einsum_node_attributes;

/**
 * Ends a handle; with the last one, the graph. Programs made of it stay.
 *
 * NULL is OK and does nothing. The status may be ignored.
 *
 * STALE_HANDLE: not a handle, or released before.
 *
 * @param graph (transfer full) (nullable)
 * @threads any
 * @since 0.2
 */
TNR_API tnr_status tnr_graph_release(struct tnr_graph *graph TNR_OWNED) TNR_NOEXCEPT;

/**
 * An empty graph.
 *
 * OUT_OF_MEMORY.
 *
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_graph_release)
TNR_NODISCARD
struct tnr_graph *tnr_graph_create(void) TNR_NOEXCEPT;

/**
 * Adds an extent that each run finds in the shapes of its inputs, or in the count of a node of
 * the kind `TNR_NODE_NONZERO` or `TNR_NODE_MASKED_SELECT`: the number `TNR_EXTENT` plus its
 * index. Each is the extent of an axis of some input, or the count of such a node.
 *
 * INVALID_ARGUMENT: `maximum` is negative, or more than `TNR_MAX_EXTENTS`. OUT_OF_MEMORY.
 *
 * @param graph (transfer none)
 * @param name (transfer none) ends with a 0; for messages, of which it is 31 bytes at most
 * @param maximum of all runs
 * @param number (transfer none) (out) untouched on failure
 * @threads exclusive(graph)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_graph_add_extent(struct tnr_graph *graph TNR_BORROWED,
                                const char *name,
                                int64_t maximum,
                                int64_t *number) TNR_NOEXCEPT;

/**
 * Adds an extent that is made of two numbers, each a constant or an extent.
 *
 * INVALID_ARGUMENT: an unknown `op`, an index of no extent, a result that is negative, does not
 * fit or divides by 0 where extents are at their maxima. OUT_OF_MEMORY.
 *
 * @param graph (transfer none)
 * @param number (transfer none) (out) untouched on failure
 * @threads exclusive(graph)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_graph_combine_extents(struct tnr_graph *graph TNR_BORROWED,
                                     tnr_extent_op op,
                                     int64_t a,
                                     int64_t b,
                                     int64_t *number) TNR_NOEXCEPT;

/**
 * Adds an input: a view of this dtype and shape, and any strides, that each run is given.
 *
 * INVALID_ARGUMENT: a rank over 8, a negative number, an index of no extent, or of one that a
 * node gives. UNSUPPORTED: a dtype of no whole bytes. OUT_OF_MEMORY.
 *
 * @param graph (transfer none)
 * @param shape (transfer none) (counted-by rank) numbers: constants or extents
 * @param value (transfer none) (out) untouched on failure
 * @threads exclusive(graph)
 * @since 0.2
 */
TNR_API TNR_READS(4, 3)
TNR_NODISCARD
tnr_status tnr_graph_add_input(struct tnr_graph *graph TNR_BORROWED,
                               tnr_dtype dtype,
                               uint32_t rank,
                               const int64_t *shape,
                               uint32_t *value) TNR_NOEXCEPT;

/**
 * Adds a constant. If the view has an owner, the graph and all its programs hold the blob, and
 * nothing is copied: the blob may not be written from here on. The elements of a view without
 * an owner are copied.
 *
 * Errors as views have them. STALE_VIEW, BUSY, OUT_OF_MEMORY.
 *
 * @param graph (transfer none)
 * @param view (transfer none)
 * @param value (transfer none) (out) untouched on failure
 * @threads exclusive(graph)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_graph_add_constant(struct tnr_graph *graph TNR_BORROWED,
                                  const struct tnr_view *view,
                                  uint32_t *value) TNR_NOEXCEPT;

/**
 * Adds a number. It must be representable in the dtype that an element-wise node takes for it
 * as an operand. It is not an operand of other nodes.
 *
 * INVALID_ARGUMENT: a dtype that no scalar has. OUT_OF_MEMORY.
 *
 * @param graph (transfer none)
 * @param scalar (transfer none)
 * @param value (transfer none) (out) untouched on failure
 * @threads exclusive(graph)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_graph_add_scalar(struct tnr_graph *graph TNR_BORROWED,
                                const struct tnr_scalar *scalar,
                                uint32_t *value) TNR_NOEXCEPT;

/**
 * Adds an operation on values that were added before. It is checked here where all extents are
 * at their maxima, and in each run for the extents that it has.
 *
 * INVALID_ARGUMENT: an unknown kind, code or flag, a value that does not exist, another number
 * of operands or numbers than the kind takes, and shapes, dtypes and attributes that the
 * operation refuses. UNSUPPORTED: as the operation. OUT_OF_MEMORY.
 *
 * @param graph (transfer none)
 * @param node (transfer none)
 * @param value (transfer none) (out) the result, of several the first; untouched on failure
 * @threads exclusive(graph)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_graph_add_node(struct tnr_graph *graph TNR_BORROWED,
                              const struct tnr_graph_node *node,
                              uint32_t *value) TNR_NOEXCEPT;

/**
 * Makes a value an output of the graph, after its other outputs. With `updates` each run takes
 * the same view as this output and as that input, and reads the earlier elements of the input
 * first.
 *
 * INVALID_ARGUMENT: no such value, a scalar, an `updates` that is no input or has another
 * dtype or shape, or is updated by another output, or by a value whose size the data of a run
 * decide. OUT_OF_MEMORY.
 *
 * @param graph (transfer none)
 * @param updates an input's value, or `TNR_OPERAND_NONE`
 * @threads exclusive(graph)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_graph_add_output(struct tnr_graph *graph TNR_BORROWED,
                                uint32_t value,
                                uint32_t updates) TNR_NOEXCEPT;

/**
 * Adds a custom operation, for nodes of the kind `TNR_NODE_CUSTOM` plus its index. On failure
 * nothing is taken, and `release` is not called.
 *
 * INVALID_ARGUMENT: a NULL or too long name, a function that is NULL, unknown flags, in place
 * without an operand, more than 256 operands or 8 numbers. OUT_OF_MEMORY.
 *
 * @param graph (transfer none)
 * @param operation (transfer none)
 * @param index (transfer none) (out) untouched on failure
 * @threads exclusive(graph)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_graph_add_custom(struct tnr_graph *graph TNR_BORROWED,
                                const struct tnr_custom_operation *operation,
                                uint32_t *index) TNR_NOEXCEPT;

/**
 * Adds a copy of the present contents of another graph as a subgraph, for nodes such as
 * `TNR_NODE_COND` and `TNR_NODE_WHILE`. Its named extents are those of `graph` by the same
 * names and maxima, and where these are smaller in a run its inputs have the shapes that they
 * are handed.
 *
 * INVALID_ARGUMENT: no output, one that updates an input, an extent that `graph` has not, graphs
 * that are deeper within each other than `TNR_MAX_SUBGRAPH_DEPTH`, and `graph` itself.
 * OUT_OF_MEMORY.
 *
 * @param graph (transfer none)
 * @param body (transfer none)
 * @param index (transfer none) (out) untouched on failure
 * @threads exclusive(graph)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_graph_add_subgraph(struct tnr_graph *graph TNR_BORROWED,
                                  const struct tnr_graph *body TNR_BORROWED,
                                  uint32_t *index) TNR_NOEXCEPT;

/**
 * A copy of a subgraph, as a graph: to list it. Constants are shared.
 *
 * INVALID_ARGUMENT: no such subgraph. OUT_OF_MEMORY.
 *
 * @param graph (transfer none)
 * @return (transfer full) (nullable) NULL on failure
 * @threads exclusive(graph)
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_graph_release)
TNR_NODISCARD
struct tnr_graph *tnr_graph_copy_subgraph(const struct tnr_graph *graph TNR_BORROWED,
                                          uint32_t index) TNR_NOEXCEPT;

/**
 * Gets the description of a plug-in from its entry, and checks that this library can use it.
 * For a plug-in of another ABI only the first three fields are read.
 *
 * UNSUPPORTED: another `TNR_ABI_MAJOR`, or a newer `TNR_ABI_MINOR`. INVALID_ARGUMENT: NULL,
 * also for an entry; a `struct_size` that no version has; and an operation that
 * `tnr_graph_add_custom` refuses. INTERNAL: an exception of the entry.
 *
 * @param entry (scope notified) (nullable) `tnr_plugin_entry`, or NULL where the loader has none
 * @return (transfer none) (nullable) the plug-in's own; NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
const struct tnr_plugin *tnr_plugin_check(tnr_plugin_fn entry) TNR_NOEXCEPT;

/**
 * The numbers of values, nodes and so on of a graph. With the functions below a graph can be
 * listed and built again: the sources of its values, in their order, are the calls that made
 * it.
 *
 * @param graph (transfer none)
 * @param out (transfer none) (out) untouched on failure
 * @threads exclusive(graph)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_graph_describe(const struct tnr_graph *graph TNR_BORROWED,
                              struct tnr_graph_info *out) TNR_NOEXCEPT;

/**
 * An extent.
 *
 * INVALID_ARGUMENT: no such extent.
 *
 * @param graph (transfer none)
 * @param out (transfer none) (out) untouched on failure
 * @threads exclusive(graph)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_graph_describe_extent(const struct tnr_graph *graph TNR_BORROWED,
                                     uint32_t index,
                                     struct tnr_extent_info *out) TNR_NOEXCEPT;

/**
 * A node, as it was added. Arrays and attributes are the graph's, until something is added to
 * it or it ends.
 *
 * INVALID_ARGUMENT: no such node, and a `struct_size` that lacks a field that is not 0.
 *
 * @param graph (transfer none)
 * @param out (transfer none) (out) untouched on failure
 * @threads exclusive(graph)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_graph_describe_node(const struct tnr_graph *graph TNR_BORROWED,
                                   uint32_t index,
                                   struct tnr_graph_node *out) TNR_NOEXCEPT;

/**
 * A constant, lent until the graph ends. It has the blob that the graph holds for its owner.
 *
 * INVALID_ARGUMENT: no such constant.
 *
 * @param graph (transfer none)
 * @param out (transfer none) (out) untouched on failure
 * @threads exclusive(graph)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_graph_describe_constant(const struct tnr_graph *graph TNR_BORROWED,
                                       uint32_t index,
                                       struct tnr_view *out) TNR_NOEXCEPT;

/**
 * A custom operation: its name, which files store, and its counts of operands and numbers.
 *
 * INVALID_ARGUMENT: no such operation.
 *
 * @param graph (transfer none)
 * @param out (transfer none) (out) untouched on failure
 * @threads exclusive(graph)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_graph_describe_custom(const struct tnr_graph *graph TNR_BORROWED,
                                     uint32_t index,
                                     struct tnr_custom_info *out) TNR_NOEXCEPT;

/**
 * A number.
 *
 * INVALID_ARGUMENT: no such number.
 *
 * @param graph (transfer none)
 * @param out (transfer none) (out) untouched on failure
 * @threads exclusive(graph)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_graph_describe_scalar(const struct tnr_graph *graph TNR_BORROWED,
                                     uint32_t index,
                                     struct tnr_scalar *out) TNR_NOEXCEPT;

/**
 * An output: its value, and the value of the input that it updates or `TNR_OPERAND_NONE`.
 *
 * INVALID_ARGUMENT: no such output.
 *
 * @param graph (transfer none)
 * @param value (transfer none) (out) untouched on failure
 * @param updates (transfer none) (out) untouched on failure
 * @threads exclusive(graph)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_graph_describe_output(const struct tnr_graph *graph TNR_BORROWED,
                                     uint32_t index,
                                     uint32_t *value,
                                     uint32_t *updates) TNR_NOEXCEPT;

/**
 * The source, dtype and shape of a value.
 *
 * INVALID_ARGUMENT: no such value.
 *
 * @param graph (transfer none)
 * @param out (transfer none) (out) untouched on failure
 * @threads exclusive(graph)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_graph_describe_value(const struct tnr_graph *graph TNR_BORROWED,
                                    uint32_t value,
                                    struct tnr_value_info *out) TNR_NOEXCEPT;

/**
 * Ends a handle; with the last one, and the last call that uses it, the program.
 *
 * NULL is OK and does nothing. The status may be ignored.
 *
 * STALE_HANDLE: not a handle, or released before.
 *
 * @param program (transfer full) (nullable)
 * @threads any
 * @since 0.2
 */
TNR_API
tnr_status tnr_program_release(struct tnr_program *program TNR_OWNED) TNR_NOEXCEPT;

/**
 * Makes a program of the present contents of the graph. Later additions to the graph are not
 * part of it.
 *
 * INVALID_ARGUMENT: a graph without an output, an extent that no input has and no node gives,
 * and unknown bits of `disabled_passes` or `enabled_passes`. Errors of operations, where
 * constants are computed. STALE_VIEW: a borrowed constant that is packed has ended.
 * OUT_OF_MEMORY. With `packed` INVALID_ARGUMENT: bytes that are not those of this program's
 * constants, that no blob owns or a borrowed one, or that are not aligned to 64; UNSUPPORTED:
 * bytes that the instruction set in use does not read.
 *
 * @param context (transfer none) (nullable) whose threads compute and pack constants
 * @param graph (transfer none)
 * @param attributes (transfer none) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads exclusive(graph)
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_program_release)
TNR_NODISCARD
struct tnr_program *tnr_program_create(struct tnr_context *context TNR_BORROWED,
                                       const struct tnr_graph *graph TNR_BORROWED,
                                       const struct tnr_program_attributes *attributes) TNR_NOEXCEPT;

/**
 * One more handle of the same program, to be released too; the same pointer is returned.
 *
 * STALE_HANDLE: not a handle, or released before. BUSY: 16,777,215 handles.
 *
 * @param program (transfer none)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_program_release)
TNR_NODISCARD
struct tnr_program *tnr_program_retain(struct tnr_program *program TNR_BORROWED) TNR_NOEXCEPT;

/**
 * The constants of a program that are packed, as bytes in a new blob: to be written to a file,
 * which other processes map as the `packed` of their `tnr_program_attributes`, at an offset that
 * is a multiple of 64. They are for the instruction set in use and this version of the library.
 *
 * STALE_HANDLE: not a handle, or released before. BUSY: as `tnr_program_retain`. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable) whose memory it is
 * @param program (transfer none)
 * @param out (transfer none) (out) all of the new blob, as `u8`; untouched on failure
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_blob_copy_packed(struct tnr_context *context TNR_BORROWED,
                                      const struct tnr_program *program TNR_BORROWED,
                                      struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The dtype and shape of an output of a run on these inputs, which the caller's view must
 * have. No element is read. An extent that depends on the data is the largest one possible.
 *
 * Errors as `tnr_program_run` has them of inputs; INVALID_ARGUMENT also for no such output.
 *
 * @param program (transfer none)
 * @param inputs (transfer none) (counted-by input_count) pointers to views
 * @param dtype (transfer none) (out) untouched on failure
 * @param rank (transfer none) (out) untouched on failure
 * @param shape (transfer none) (out) 8 extents, those beyond the rank 0; untouched on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_READS(2, 3)
TNR_NODISCARD
tnr_status tnr_program_output_shape(const struct tnr_program *program TNR_BORROWED,
                                    const struct tnr_view *const *inputs,
                                    uint32_t input_count,
                                    uint32_t output,
                                    tnr_dtype *dtype,
                                    uint32_t *rank,
                                    int64_t *shape) TNR_NOEXCEPT;

/**
 * The memory that a run on these inputs takes, in addition to the scratch memory of
 * operations. No element is read. Outputs are assumed to be in row-major order. For inputs on
 * a device it is the device's memory.
 *
 * Errors as `tnr_program_run` has them of inputs.
 *
 * @param program (transfer none)
 * @param inputs (transfer none) (counted-by input_count) pointers to views
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_READS(2, 3)
TNR_NODISCARD
tnr_status tnr_program_memory(const struct tnr_program *program TNR_BORROWED,
                              const struct tnr_view *const *inputs,
                              uint32_t input_count,
                              struct tnr_memory_plan *out) TNR_NOEXCEPT;

/**
 * The operands of a step of a run on these inputs: for each step whether its result is one,
 * and after the steps for each input. With this the steps are a graph. Outputs are assumed to
 * be in row-major order.
 *
 * Errors as `tnr_program_run` has them of inputs; INVALID_ARGUMENT also for no such step, and for
 * another `read_count` than the steps and the inputs are.
 *
 * @param program (transfer none)
 * @param inputs (transfer none) (counted-by input_count) pointers to views
 * @param reads (transfer none) (counted-by read_count) (out) 1 or 0; untouched on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_READS(2, 3) TNR_WRITES(5, 6)
TNR_NODISCARD
tnr_status tnr_program_describe_reads(const struct tnr_program *program TNR_BORROWED,
                                      const struct tnr_view *const *inputs,
                                      uint32_t input_count,
                                      uint32_t step,
                                      uint8_t *reads,
                                      uint32_t read_count) TNR_NOEXCEPT;

/**
 * Counts a pass's changes of the program, and of the steps of a run on these inputs, whose
 * elements are not read; outputs are assumed to be in row-major order. All passes have an
 * index from 0 on, in the order in which they are made.
 *
 * Errors as `tnr_program_run` has them of inputs; INVALID_ARGUMENT also for no such index.
 *
 * @param program (transfer none)
 * @param inputs (transfer none) (counted-by input_count) pointers to views
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_READS(2, 3)
TNR_NODISCARD
tnr_status tnr_program_describe_pass(const struct tnr_program *program TNR_BORROWED,
                                     const struct tnr_view *const *inputs,
                                     uint32_t input_count,
                                     uint32_t index,
                                     struct tnr_pass_info *out) TNR_NOEXCEPT;

/**
 * A step of a run on these inputs, whose elements are not read; outputs are assumed to be in
 * row-major order.
 *
 * Errors as `tnr_program_run` has them of inputs; INVALID_ARGUMENT also for no such step.
 *
 * @param program (transfer none)
 * @param inputs (transfer none) (counted-by input_count) pointers to views
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_READS(2, 3)
TNR_NODISCARD
tnr_status tnr_program_describe_step(const struct tnr_program *program TNR_BORROWED,
                                     const struct tnr_view *const *inputs,
                                     uint32_t input_count,
                                     uint32_t step,
                                     struct tnr_step_info *out) TNR_NOEXCEPT;

/**
 * Runs a program: on the inputs in the order in which the graph got them, into its outputs.
 * The bits are those of the calls of its nodes one by one, for any number of threads; but a
 * bias or an activation that has become part of a product of f16 or bf16 skips a rounding.
 *
 * Any number of threads may run one program at once, each with outputs of its own. Layouts of
 * inputs and outputs that it was run with are kept, and memory for one run, scratch memory of
 * operations included: with them again a run on one thread allocates nothing.
 *
 * Inputs and outputs may be on the device of the context, and then all of them are: the run is
 * enqueued, with the bits of the device's calls. It comes after the work that is enqueued on
 * their blobs, and takes one allocation of `peak_bytes` of the device's memory, freed in the
 * order of the context's queue. The first run on a device copies the program's constants there
 * and waits; another one waits where a node does so that reads by index, divides integers or
 * multiplies a sparse matrix. UNSUPPORTED, before anything is enqueued: a node that devices do
 * not compute (the message names it). DEVICE_ERROR.
 *
 * INVALID_ARGUMENT: another number of inputs or outputs, another dtype or shape than the graph
 * states, extents of one name that differ or exceed the maximum, and extents, also those that
 * the data decide, that an operation refuses (the message names the node). ALIASED: an output
 * shares a byte with an input that it does not update, or with another output. OUT_OF_MEMORY:
 * also a budget that is exceeded. STALE_VIEW, BUSY, STALE_HANDLE. Outputs are then untouched,
 * except after errors that are found in the data, such as an index out of bounds: outputs then
 * hold a mixture.
 *
 * @param context (transfer none) (nullable)
 * @param program (transfer none)
 * @param inputs (transfer none) (counted-by input_count) pointers to views
 * @param attributes (transfer none) (nullable)
 * @param outputs (transfer none) (counted-by output_count) pointers to views
 * @threads exclusive(outputs)
 * @since 0.2
 */
TNR_API TNR_READS(3, 4) TNR_READS(6, 7)
TNR_NODISCARD
tnr_status tnr_program_run(struct tnr_context *context TNR_BORROWED,
                           const struct tnr_program *program TNR_BORROWED,
                           const struct tnr_view *const *inputs,
                           uint32_t input_count,
                           const struct tnr_program_run_attributes *attributes,
                           const struct tnr_view_mut *const *outputs,
                           uint32_t output_count) TNR_NOEXCEPT;

/**
 * Ends the handle, and with it the bound program as soon as no run uses it. Runs that were
 * enqueued go on.
 *
 * NULL is OK and does nothing. The status may be ignored.
 *
 * STALE_HANDLE: not a handle, or released before.
 *
 * @param bound (transfer full) (nullable)
 * @threads any
 * @since 0.2
 */
TNR_API
tnr_status tnr_bound_release(struct tnr_bound *bound TNR_OWNED) TNR_NOEXCEPT;

/**
 * Binds a program to the layouts of these views: dtypes, shapes, strides and the device. No
 * element is read or written. `tnr_bound_run` then looks for no schedule. A program is bound in
 * one of three ways:
 *
 * - Plain, on the CPU or on the device of the context: any number of threads run it at once. It
 *   holds the program, and not the views.
 * - `TNR_BOUND_PREALLOCATED`, on the CPU: all memory of a run is taken now. The program is run
 *   once for that, on zeros in memory of its own, with all its subgraphs and custom operations.
 *   It holds the program, and not the views.
 * - `TNR_BOUND_CAPTURED`, on the device of the context: a run on these inputs into these outputs
 *   is recorded, with memory of its own for values between them; nothing is enqueued. It holds
 *   the owners of the views: a blob that is released meanwhile stays, a borrow escapes
 *   (BORROW_ESCAPED), and none can be reclaimed (BUSY). The caller keeps memory without an
 *   owner. It does not hold the program.
 *
 * The first time on a device the program's constants are copied there, and waited for.
 *
 * INVALID_ARGUMENT: views that `tnr_program_run` does not take, unknown flags, both
 * `TNR_BOUND_PREALLOCATED` and `TNR_BOUND_CAPTURED`, and views or a context of the CPU with
 * `TNR_BOUND_CAPTURED`. ALIASED: an output shares a byte with an input that it does not update,
 * or with another output. UNSUPPORTED: a node that a device does not compute; views of a device
 * with `TNR_BOUND_PREALLOCATED`, and then a node of sparse matrices or one that can only throw
 * its refusals; with `TNR_BOUND_CAPTURED` a custom operation, a node that waits in a run as it
 * reads by index, divides whole numbers or multiplies a sparse matrix, and a driver without an
 * entry point for it. The message names the node, or the entry point. OUT_OF_MEMORY: also a budget
 * that is exceeded. STALE_HANDLE. With `TNR_BOUND_CAPTURED` also STALE_VIEW and BUSY. DEVICE_ERROR.
 *
 * @param context (transfer none) (nullable)
 * @param program (transfer none)
 * @param inputs (transfer none) (counted-by input_count) pointers to views
 * @param attributes (transfer none) (nullable)
 * @param outputs (transfer none) (counted-by output_count) pointers to views
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_READS(3, 4) TNR_READS(6, 7) TNR_RETURNS_OWNED(tnr_bound_release)
TNR_NODISCARD
struct tnr_bound *tnr_bound_create(struct tnr_context *context TNR_BORROWED,
                                   const struct tnr_program *program TNR_BORROWED,
                                   const struct tnr_view *const *inputs,
                                   uint32_t input_count,
                                   const struct tnr_bound_attributes *attributes,
                                   const struct tnr_view_mut *const *outputs,
                                   uint32_t output_count) TNR_NOEXCEPT;

/**
 * The memory of a run. `scratch_bytes` is exact for a preallocated and for a captured program,
 * which have this memory already.
 *
 * STALE_HANDLE. INVALID_ARGUMENT: a `struct_size` that no version has.
 *
 * @param bound (transfer none)
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_bound_memory(const struct tnr_bound *bound TNR_BORROWED,
                            struct tnr_memory_plan *out) TNR_NOEXCEPT;

/**
 * Runs a bound program on memory of the layouts that it is bound to, with the bits of
 * `tnr_program_run`. It checks everything that can change between runs: layouts, memory,
 * owners and overlap.
 *
 * - Plain: as `tnr_program_run`. Each of the threads that run it at once has outputs of its own.
 * - Preallocated: the calling thread computes, and the context is not used. Whether the run
 *   succeeds or is refused, it allocates nothing, takes no lock and makes no system call. This
 *   does not hold for custom operations, and the first call of a thread into the library may take
 *   thread-local memory. One run at a time uses that memory: BUSY for another one.
 *   UNSUPPORTED: `TNR_RUN_CHECKED`.
 * - Captured: both counts are 0, and the attributes are NULL or zeros. One launch on the stream
 *   of the context, after all that is enqueued on the blobs of inputs and outputs and before all
 *   that follows there; and after itself, on whichever stream it runs. It waits for nothing.
 *
 * INVALID_ARGUMENT: other counts, a view that is NULL, invalid, or of another layout or device
 * (the message names the argument, its layout and the bound one), or a context of another
 * device. ALIASED: an output shares a byte with an input that it does not update, or with
 * another output. STALE_VIEW: an owner that has ended. STALE_HANDLE. OUT_OF_MEMORY,
 * DEVICE_ERROR. Outputs are then untouched. INVALID_ARGUMENT also of the data, as an index that
 * is out of bounds, an integer that is divided by 0, more elements than a node may find, or a
 * loop at its limit: outputs then hold a mixture.
 *
 * @param context (transfer none) (nullable)
 * @param bound (transfer none)
 * @param inputs (transfer none) (counted-by input_count) pointers to views
 * @param attributes (transfer none) (nullable)
 * @param outputs (transfer none) (counted-by output_count) pointers to views
 * @threads exclusive(outputs)
 * @since 0.2
 */
TNR_API TNR_READS(3, 4) TNR_READS(6, 7)
TNR_NODISCARD
tnr_status tnr_bound_run(struct tnr_context *context TNR_BORROWED,
                         const struct tnr_bound *bound TNR_BORROWED,
                         const struct tnr_view *const *inputs,
                         uint32_t input_count,
                         const struct tnr_program_run_attributes *attributes,
                         const struct tnr_view_mut *const *outputs,
                         uint32_t output_count) TNR_NOEXCEPT;
#endif

/*
 * ------------------------------------------------------------------------------
 * 13. Ordering
 *
 * Sorting and searching. NaN is greater than everything, and all NaN are equal.
 */

#if TNR_WANT_MINOR >= 2
/**
 * Flag of `tnr_sort_attributes`: the greatest first. NaN is last even so.
 *
 * @since 0.2
 */
#define TNR_SORT_DESCENDING 1

/**
 * Flag of `tnr_top_k_attributes`: the smallest instead of the greatest. NaN is chosen last in
 * both.
 *
 * @since 0.2
 */
#define TNR_TOP_K_SMALLEST 1

/**
 * Flag of `tnr_searchsorted_attributes`: after the elements that are equal, instead of before
 * them.
 *
 * @since 0.2
 */
#define TNR_SEARCHSORTED_RIGHT 1

/**
 * Flag of `tnr_quantile_attributes`: NaN are left out, instead of giving NaN.
 *
 * @since 0.2
 */
#define TNR_QUANTILE_SKIP_NAN 1

/**
 * Attributes of `tnr_sort`. NULL, and zeros after `struct_size`, mean the defaults. Later versions
 * append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sort_attributes {
  /**
   * `sizeof(tnr_sort_attributes)`.
   */
  uint64_t struct_size;
  /**
   * `TNR_SORT_DESCENDING`, or 0.
   */
  uint32_t flags;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_sort_attributes;

/**
 * Attributes of `tnr_top_k`. NULL, and zeros after `struct_size`, mean the defaults. Later
 * versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_top_k_attributes {
  /**
   * `sizeof(tnr_top_k_attributes)`.
   */
  uint64_t struct_size;
  /**
   * `TNR_TOP_K_SMALLEST`, or 0.
   */
  uint32_t flags;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_top_k_attributes;

/**
 * Attributes of `tnr_partition`. There are none yet. NULL, and zeros after `struct_size`, mean the
 * defaults. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_partition_attributes {
  /**
   * `sizeof(tnr_partition_attributes)`.
   */
  uint64_t struct_size;
} tnr_partition_attributes;

/**
 * Attributes of `tnr_quantile`. NULL, and zeros after `struct_size`, mean the defaults. Later
 * versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_quantile_attributes {
  /**
   * `sizeof(tnr_quantile_attributes)`.
   */
  uint64_t struct_size;
  /**
   * `TNR_QUANTILE_SKIP_NAN`, or 0.
   */
  uint32_t flags;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_quantile_attributes;

/**
 * Attributes of `tnr_searchsorted`. NULL, and zeros after `struct_size`, mean the defaults. Later
 * versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_searchsorted_attributes {
  /**
   * `sizeof(tnr_searchsorted_attributes)`.
   */
  uint64_t struct_size;
  /**
   * `TNR_SEARCHSORTED_RIGHT`, or 0.
   */
  uint32_t flags;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_searchsorted_attributes;

/**
 * Attributes of `tnr_unique`. There are none yet. NULL, and zeros after `struct_size`, mean the
 * defaults. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_unique_attributes {
  /**
   * `sizeof(tnr_unique_attributes)`.
   */
  uint64_t struct_size;
} tnr_unique_attributes;

/**
 * Attributes of `tnr_bincount`. NULL, and zeros after `struct_size`, mean the defaults. Later
 * versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_bincount_attributes {
  /**
   * `sizeof(tnr_bincount_attributes)`.
   */
  uint64_t struct_size;
  /**
   * The weight of each element, of `a`'s shape and `out`'s dtype. NULL: each weighs 1.
   */
  const struct tnr_view *weights;
} tnr_bincount_attributes;

/**
 * Attributes of `tnr_histogram`. NULL, and zeros after `struct_size`, mean the defaults. Later
 * versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_histogram_attributes {
  /**
   * `sizeof(tnr_histogram_attributes)`.
   */
  uint64_t struct_size;
  /**
   * Where there are no edges: the first edge; finite.
   */
  double low;
  /**
   * Where there are no edges: the last edge, above `low`; finite.
   */
  double high;
} tnr_histogram_attributes;

/**
 * Sorts along an axis; equal elements keep their order. NaN is last. -0.0 and 0.0 are equal.
 * `out` may be exactly `a`. One of both outputs may be NULL: without `out` this is argsort.
 *
 * INVALID_ARGUMENT also for an axis beyond the rank, no output, and an unknown flag.
 * UNSUPPORTED: complex. ALIASED. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param indices (transfer none) (nullable) of i64: where each was on the axis
 * @param out (transfer none) (nullable) of the shape of `a`
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_sort(struct tnr_context *context TNR_BORROWED,
                    const struct tnr_view *a,
                    uint32_t axis,
                    const struct tnr_sort_attributes *attributes,
                    const struct tnr_view_mut *indices,
                    const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The greatest elements along an axis, sorted, the greatest first; of equal ones the first.
 * NaN is chosen last. Their number is the extent of the axis in the outputs. One of the two
 * outputs may be NULL.
 *
 * INVALID_ARGUMENT also for more than there are. Otherwise as `tnr_sort`.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param indices (transfer none) (nullable) of i64: where each was on the axis
 * @param out (transfer none) (nullable)
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_top_k(struct tnr_context *context TNR_BORROWED,
                     const struct tnr_view *a,
                     uint32_t axis,
                     const struct tnr_top_k_attributes *attributes,
                     const struct tnr_view_mut *indices,
                     const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Puts the element that sorting would put at `kth` there, those that are not greater before it
 * and those that are not smaller after it, in an order that is not specified but always the
 * same. `out` may be exactly `a`.
 *
 * INVALID_ARGUMENT also for a `kth` that is not below the extent. Otherwise as `tnr_sort`.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param indices (transfer none) (nullable) of i64: where each was on the axis
 * @param out (transfer none) (nullable) of the shape of `a`
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_partition(struct tnr_context *context TNR_BORROWED,
                         const struct tnr_view *a,
                         uint32_t axis,
                         int64_t kth,
                         const struct tnr_partition_attributes *attributes,
                         const struct tnr_view_mut *indices,
                         const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Quantiles over axes: with n elements sorted, the one at `q * (n - 1)`, or between the two
 * next to it in proportion, as NumPy's `quantile` by default; 0.5 is the median. It is
 * computed in f64 and rounded once. NaN if one is, and of no elements. Next to an infinite
 * element the quantile is that element, and between opposite infinities NaN.
 *
 * INVALID_ARGUMENT also for a q outside 0 to 1, and for none. UNSUPPORTED: dtypes that are no
 * floats. ALIASED. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param q (transfer none) (counted-by q_count) one at least
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) `[q_count, ...]`, with the axes of `a` that are not reduced; of the dtype of `a`
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API TNR_READS(4, 5)
TNR_NODISCARD
tnr_status tnr_quantile(struct tnr_context *context TNR_BORROWED,
                        const struct tnr_view *a,
                        uint32_t axes,
                        const double *q,
                        uint32_t q_count,
                        const struct tnr_quantile_attributes *attributes,
                        const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * For each value the index before which it would be inserted into `a` so that `a` stays
 * sorted: the number of elements that are smaller.
 *
 * Where `a` is not sorted the answer is some number from 0 to its length.
 *
 * INVALID_ARGUMENT also for an `a` that is no vector. UNSUPPORTED: complex. ALIASED.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) a sorted vector
 * @param values (transfer none) of the dtype of `a`
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) of i64, of the shape of `values`
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_searchsorted(struct tnr_context *context TNR_BORROWED,
                            const struct tnr_view *a,
                            const struct tnr_view *values,
                            const struct tnr_searchsorted_attributes *attributes,
                            const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The different elements of `a`, sorted, and how often each occurs. NaN are one element, and
 * last; -0.0 and 0.0 are one. The first of equal elements is the one in the result. Without
 * `counts` the elements are all of the new blob.
 *
 * INVALID_ARGUMENT also for an `inverse` of another shape. UNSUPPORTED: complex. ALIASED.
 * OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param inverse (transfer none) (nullable) of i64, of the shape of `a`: the place of each element in `out`
 * @param counts (transfer none) (out) (nullable) of i64, a part of the new blob; untouched on failure
 * @param out (transfer none) (out) the elements, a part of the new blob; untouched on failure
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release)
TNR_NODISCARD
struct tnr_blob *tnr_unique(struct tnr_context *context TNR_BORROWED,
                            const struct tnr_view *a,
                            const struct tnr_unique_attributes *attributes,
                            const struct tnr_view_mut *inverse,
                            struct tnr_view_mut *counts,
                            struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * How often each number occurs: `out[a[i]]` is the number of such i, or the sum of their
 * weights, added up in f64 in the row-major order of i and rounded once.
 *
 * INVALID_ARGUMENT also for a number that is negative or not below the extent of `out`, which
 * is untouched then, and weights where `out` is of neither f32 nor f64. UNSUPPORTED: an `a` of
 * other dtypes than integers. ALIASED. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) of integers
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) a vector of i64, or with weights of f32 or f64
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_bincount(struct tnr_context *context TNR_BORROWED,
                        const struct tnr_view *a,
                        const struct tnr_bincount_attributes *attributes,
                        const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Counts of elements between edges: element x is counted at i where
 * `edges[i] <= x < edges[i + 1]`, and in the last element of `out` also where it is the last
 * edge, as NumPy's `histogram`. Others, and NaN, are not counted. Without `edges` they are
 * equally spaced from `low` to `high`.
 *
 * INVALID_ARGUMENT also for edges that fall, that are NaN, or that are not one more than the
 * extent of `out`, for `low` and `high` in addition to edges, and where they are not finite or
 * do not rise. UNSUPPORTED: complex. ALIASED. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param edges (transfer none) (nullable) a vector of the dtype of `a`
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) a vector of i64
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_histogram(struct tnr_context *context TNR_BORROWED,
                         const struct tnr_view *a,
                         const struct tnr_view *edges,
                         const struct tnr_histogram_attributes *attributes,
                         const struct tnr_view_mut *out) TNR_NOEXCEPT;
#endif

/*
 * ------------------------------------------------------------------------------
 * 14. Random numbers
 *
 * Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC
 * 2011): a number depends only on seed, offset and index.
 */

#if TNR_WANT_MINOR >= 2
/**
 * A distribution of random numbers.
 *
 * @since 0.2
 */
typedef int32_t tnr_random_distribution;
/**
 * Floats: uniform from `low` up to, but not, `high`.
 */
#define TNR_RANDOM_DISTRIBUTION_UNIFORM 1
/**
 * Floats: normal, with `mean` and `deviation`.
 */
#define TNR_RANDOM_DISTRIBUTION_NORMAL 2
/**
 * Integers: uniform from `least` up to, but not, `bound`.
 */
#define TNR_RANDOM_DISTRIBUTION_INTEGERS 3
/**
 * bool8: true with `probability`.
 */
#define TNR_RANDOM_DISTRIBUTION_BERNOULLI 4

/**
 * Attributes of `tnr_random`. The fields of other distributions are 0. NULL, and zeros after
 * `struct_size`, mean the defaults. Later versions append fields, in which 0 keeps the present
 * behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_random_attributes {
  /**
   * `sizeof(tnr_random_attributes)`.
   */
  uint64_t struct_size;
  /**
   * UNIFORM; finite.
   */
  double low;
  /**
   * UNIFORM; finite and above `low`. Both 0: 1.
   */
  double high;
  /**
   * NORMAL; finite.
   */
  double mean;
  /**
   * NORMAL; finite, not negative. 0 means 1.
   */
  double deviation;
  /**
   * BERNOULLI; from 0 to 1.
   */
  double probability;
  /**
   * INTEGERS; representable in the dtype.
   */
  int64_t least;
  /**
   * INTEGERS; above `least`, at most one above the greatest number of the dtype. Both 0: all
   * numbers of the dtype.
   */
  int64_t bound;
} tnr_random_attributes;

/**
 * Attributes of `tnr_random_permutation`. There are none yet. NULL, and zeros after `struct_size`,
 * mean the defaults. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_random_permutation_attributes {
  /**
   * `sizeof(tnr_random_permutation_attributes)`.
   */
  uint64_t struct_size;
} tnr_random_permutation_attributes;

/**
 * Random numbers of a distribution. Element i in row-major order depends only on `seed` and
 * its index `offset + i`, as docs/random.md states: it has the same bits for any number of
 * threads and under every instruction set. Two calls whose indices do not overlap are
 * independent; NORMAL uses indices in pairs, 2j and 2j + 1.
 *
 * INVALID_ARGUMENT also for attributes outside their bounds, and an `offset` from which 2^64
 * would be passed. UNSUPPORTED: dtypes that the distribution does not give.
 *
 * @param context (transfer none) (nullable)
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_random(struct tnr_context *context TNR_BORROWED,
                      tnr_random_distribution distribution,
                      uint64_t seed,
                      uint64_t offset,
                      const struct tnr_random_attributes *attributes,
                      const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * A random order of the numbers from 0 to n - 1, each order with the same probability up to
 * 2^-64 n^2. It uses the indices from `offset` to `offset + n - 1`, and runs on one thread.
 *
 * INVALID_ARGUMENT also for more numbers than the dtype can represent. UNSUPPORTED: others.
 *
 * @param context (transfer none) (nullable)
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) `[n]`, of i32 or i64
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_random_permutation(struct tnr_context *context TNR_BORROWED,
                                  uint64_t seed,
                                  uint64_t offset,
                                  const struct tnr_random_permutation_attributes *attributes,
                                  const struct tnr_view_mut *out) TNR_NOEXCEPT;
#endif

/*
 * ------------------------------------------------------------------------------
 * 15. Sparse matrices
 *
 * Lent as views of three arrays, or held by a handle.
 */

#if TNR_WANT_MINOR >= 2
/**
 * Flag of a sparse view: indices never fall within a row (CSC: a column; COO: entries are ordered
 * by row, then by column).
 *
 * @since 0.2
 */
#define TNR_SPARSE_SORTED 1

/**
 * Flag of a sparse view: no position has two entries. With `TNR_SPARSE_SORTED`: coalesced.
 *
 * @since 0.2
 */
#define TNR_SPARSE_UNIQUE 2

/**
 * Most rows, and most columns, of a block of BSR.
 *
 * @since 0.2
 */
#define TNR_SPARSE_MAX_BLOCK 16

/**
 * A sparse matrix: three blobs that it holds, in a batch four, and their format. Its handle is a
 * token like that of a blob, of a separate kind.
 *
 * @since 0.2
 */
typedef struct tnr_sparse tnr_sparse;

/**
 * How the entries of a sparse matrix are laid out. CSC is the CSR of the transpose.
 *
 * @since 0.2
 */
typedef int32_t tnr_sparse_format;
/**
 * Coordinates: each entry has a row and a column.
 */
#define TNR_SPARSE_FORMAT_COO 1
/**
 * Compressed rows: each entry has a column, each row the offset of its first entry.
 */
#define TNR_SPARSE_FORMAT_CSR 2
/**
 * Compressed columns: each entry has a row, each column the offset of its first entry.
 */
#define TNR_SPARSE_FORMAT_CSC 3
/**
 * CSR whose entries are dense blocks of one size.
 */
#define TNR_SPARSE_FORMAT_BSR 4

/**
 * A sparse matrix over memory: a plain value, lent to the library for one call and never kept. Set
 * it to zeros, then set `struct_size` and the fields that apply. Later versions append fields, in
 * which 0 keeps the present behaviour.
 *
 * | format | `major` | `minor` | `values` |
 * | --- | --- | --- | --- |
 * | COO | `row_indices[n]` | `col_indices[n]` | `[n]` |
 * | CSR | `row_offsets[rows + 1]` | `col_indices[n]` | `[n]` |
 * | CSC | `col_offsets[cols + 1]` | `row_indices[n]` | `[n]` |
 * | BSR | `row_offsets[rows / block_rows + 1]` | `col_indices[n]`, in blocks | `[n, block_rows, block_cols]` |
 *
 * Offsets never fall and are in 0 to n. Row i has the entries from `row_offsets[i]` to
 * `row_offsets[i + 1]`, so a range of rows is a view with its own part of the offsets, whose first
 * may be above 0, and with all of `minor` and `values`; the entries between its offsets are all
 * that it has. Indices are at least 0 and below the number of columns (CSC: rows; BSR: of blocks).
 * All are contiguous; `major` and `minor` both i32 or i64. Values held or written share no byte
 * with them.
 *
 * A batch is any number of matrices of the same `rows` and `cols`, stored one after the other in
 * the same arrays. Matrix i has the entries from `batch_offsets[i]` to `batch_offsets[i + 1]`:
 * that part of `minor` and `values`, and of COO of `major`. Otherwise `major` has the offsets of
 * each matrix, in all `batches * (rows + 1)`, and those of each count from the matrix's own first
 * entry; so i32 counts up to 2,147,483,647 entries of each. `batch_offsets` never fall and are in
 * 0 to n, and a range of matrices is a batch too. `tnr_sparse_batch_at` gives a view of one
 * matrix. From dense, to dense, `tnr_sparse_matmul`, `tnr_sparse_convert`, `tnr_sparse_unary` and
 * the check take batches; all else is UNSUPPORTED, and takes one matrix at a time.
 *
 * An index or offset out of range in a view whose `owner` is 0 is INVALID_ARGUMENT, before it is
 * used. The flags of such a view are believed; `tnr_sparse_check` looks.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_view {
  /**
   * `sizeof(tnr_sparse_view)`.
   */
  uint64_t struct_size;
  /**
   * Token of the `tnr_sparse` that this is a view of: all of it, a range of its rows, or one
   * matrix or a range of matrices of a batch. The checks that it has passed are not repeated. 0:
   * none.
   */
  uint64_t owner;
  /**
   * Meaning of `major`, `minor` and `values`.
   */
  tnr_sparse_format format;
  /**
   * `TNR_SPARSE_SORTED` and `TNR_SPARSE_UNIQUE`; unknown bits are refused.
   */
  uint32_t flags;
  /**
   * Rows of the whole matrix, in elements.
   */
  int64_t rows;
  /**
   * Columns of the whole matrix, in elements.
   */
  int64_t cols;
  /**
   * Rows of a block, 1 to `TNR_SPARSE_MAX_BLOCK`, which divide `rows`; 1 unless BSR.
   */
  int64_t block_rows;
  /**
   * Columns of a block, 1 to `TNR_SPARSE_MAX_BLOCK`, which divide `cols`; 1 unless BSR.
   */
  int64_t block_cols;
  /**
   * Offsets, of COO row indices.
   */
  struct tnr_view major;
  /**
   * Indices.
   */
  struct tnr_view minor;
  /**
   * The entries, of any dtype; in blocks in row-major order.
   */
  struct tnr_view values;
  /**
   * All zeros for one matrix. For a batch `[batches + 1]`, i32 or i64 whatever the others are:
   * where the entries of each matrix begin.
   */
  struct tnr_view batch_offsets;
} tnr_sparse_view;

/**
 * A sparse view whose values the callee may write. Indices and offsets are never written.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_view_mut {
  /**
   * The matrix.
   */
  struct tnr_sparse_view view;
} tnr_sparse_view_mut;

/**
 * Whether a matrix is meant as it is, or its transpose.
 *
 * @since 0.2
 */
typedef int32_t tnr_orientation;
/**
 * The matrix.
 */
#define TNR_ORIENTATION_AS_IS 1
/**
 * Its transpose. Nothing is converted.
 */
#define TNR_ORIENTATION_TRANSPOSED 2

/**
 * Attributes of nodes of sparse matrices. NULL, and zeros after `struct_size`, mean the defaults.
 * Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_node_attributes {
  /**
   * `sizeof(tnr_sparse_node_attributes)`.
   */
  uint64_t struct_size;
  /**
   * How the entries are laid out; 0: CSR.
   */
  tnr_sparse_format format;
  /**
   * `TNR_SPARSE_SORTED` and `TNR_SPARSE_UNIQUE`, which are believed as those of a view are.
   */
  uint32_t flags;
  /**
   * How SPARSE_MATMUL takes the matrix; 0: as it is.
   */
  tnr_orientation orientation;
  /**
   * The flags of the attributes of SPARSE_SDDMM and SPARSE_SOLVE. 0 for all others.
   */
  uint32_t call_flags;
  /**
   * Rows of a block of BSR; 0: 1.
   */
  uint32_t block_rows;
  /**
   * Columns of a block of BSR; 0: 1.
   */
  uint32_t block_cols;
} tnr_sparse_node_attributes;

/**
 * Gives up one handle. The last release ends the matrix, which gives up its blobs. NULL is OK
 * and does nothing. The status may be ignored.
 *
 * STALE_HANDLE: not a handle, or released before.
 *
 * @param matrix (transfer full) (nullable)
 * @threads any
 * @since 0.2
 */
TNR_API
tnr_status tnr_sparse_release(struct tnr_sparse *matrix TNR_OWNED) TNR_NOEXCEPT;

/**
 * A view of a matrix of COO, CSR or CSC over the caller's three arrays, without a blob. It is
 * lent anew to each call that gets it, which checks the indices that it uses. The other fields
 * are those of one matrix without flags. The number of entries is the number of indices in
 * `minor_bytes`.
 *
 * INVALID_ARGUMENT: an array misaligned, or NULL and not empty, or of another length than the
 * format requires; a negative `rows` or `cols`; indices of neither i32 nor i64; another
 * `format`; `out->struct_size` as in `tnr_sparse_view_of`. UNSUPPORTED: a dtype of zero lanes
 * or no whole number of bytes.
 *
 * @param index_dtype of `major` and `minor`: i32 or i64
 * @param major (transfer none) (counted-by major_bytes) `rows + 1` offsets, of CSC `cols + 1`;
 * of COO the row index of each entry
 * @param minor (transfer none) (counted-by minor_bytes) the column index of each entry, of CSC
 * the row index
 * @param dtype of `values`
 * @param values (transfer none) (counted-by values_bytes) the entries
 * @param out (transfer none) (inout) struct_size is read, the rest written
 * @threads any
 * @since 0.2
 */
TNR_API TNR_READS(5, 6) TNR_READS(7, 8) TNR_READS(10, 11)
TNR_NODISCARD
tnr_status tnr_sparse_lend(tnr_sparse_format format,
                           int64_t rows,
                           int64_t cols,
                           tnr_dtype index_dtype,
                           const void *major TNR_BORROWED,
                           size_t major_bytes,
                           const void *minor TNR_BORROWED,
                           size_t minor_bytes,
                           tnr_dtype dtype,
                           const void *values TNR_BORROWED,
                           size_t values_bytes,
                           struct tnr_sparse_view *out) TNR_NOEXCEPT;

/**
 * Holds a matrix: each part is a view of a blob, which the matrix retains. Makes the checks of
 * `tnr_sparse_check`, once: offsets also begin at 0 and end at the number of entries. Blobs
 * with offsets or indices that could be written are sealed: while the matrix lives, a view for
 * writing any byte of such a blob is refused, as it is of a shared one. Pointers that were
 * taken before are the caller's to stop using.
 *
 * INVALID_ARGUMENT and UNSUPPORTED as `tnr_sparse_check`, and for an `owner` of the whole or
 * none of a part. ALIASED: values share bytes with offsets or indices. STALE_VIEW: a part's
 * owner. BUSY: a call uses a blob that would be sealed, or a blob has too many handles.
 * OUT_OF_MEMORY. DEVICE_ERROR. On failure nothing is retained or sealed.
 *
 * @param parts (transfer none) copied
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release)
TNR_NODISCARD
struct tnr_sparse *tnr_sparse_create(const struct tnr_sparse_view *parts) TNR_NOEXCEPT;

/**
 * One more handle of the same matrix, to be released too; the same pointer is returned.
 *
 * STALE_HANDLE: not a handle, or released before. BUSY: 16,777,215 handles.
 *
 * @param matrix (transfer none)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release)
TNR_NODISCARD
struct tnr_sparse *tnr_sparse_retain(struct tnr_sparse *matrix TNR_BORROWED) TNR_NOEXCEPT;

/**
 * A view of the whole matrix, with the matrix as its owner.
 *
 * STALE_HANDLE: not a handle, or released before. INVALID_ARGUMENT: `out->struct_size` is
 * below the first version's, or over 4096.
 *
 * @param matrix (transfer none)
 * @param out (transfer none) (inout) struct_size is read, the rest written
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_sparse_view_of(const struct tnr_sparse *matrix TNR_BORROWED,
                              struct tnr_sparse_view *out) TNR_NOEXCEPT;

/**
 * The blobs of a matrix, each retained for the caller, who releases it: also the same blob
 * twice. `tnr_sparse_view_of` shows where a part begins in its blob.
 * `tnr_sparse_batch_offsets` gives the blob of `batch_offsets`.
 *
 * STALE_HANDLE: not a handle, or released before. BUSY: a blob has 16,777,215 handles.
 *
 * @param matrix (transfer none)
 * @param major (transfer full) (out) untouched on failure
 * @param minor (transfer full) (out) untouched on failure
 * @param values (transfer full) (out) untouched on failure
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_sparse_parts(const struct tnr_sparse *matrix TNR_BORROWED,
                            struct tnr_blob **major,
                            struct tnr_blob **minor,
                            struct tnr_blob **values) TNR_NOEXCEPT;

/**
 * The blob of a batch's `batch_offsets`, retained for the caller, who releases it; NULL for
 * one matrix.
 *
 * STALE_HANDLE: not a handle, or released before. BUSY: the blob has 16,777,215 handles.
 *
 * @param matrix (transfer none)
 * @param offsets (transfer full) (out) untouched on failure
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_sparse_batch_offsets(const struct tnr_sparse *matrix TNR_BORROWED,
                                    struct tnr_blob **offsets) TNR_NOEXCEPT;

/**
 * A view of matrix `index` of a batch: parts of the same arrays, with the same owners, so
 * nothing is copied, and earlier checks are not repeated.
 *
 * INVALID_ARGUMENT: errors that `tnr_sparse_check` finds in the shape and in `batch_offsets`;
 * no batch; an `index` out of range; `out->struct_size` as in `tnr_sparse_view_of`.
 * STALE_VIEW, BUSY: as operations.
 *
 * @param batch (transfer none)
 * @param out (transfer none) (inout) struct_size is read, the rest written
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_sparse_batch_at(const struct tnr_sparse_view *batch,
                               int64_t index,
                               struct tnr_sparse_view *out) TNR_NOEXCEPT;

/**
 * Checks a matrix: its shape and parts as every operation does, every offset and index, and
 * its flags. The message names the part, the position, the value and the bound.
 *
 * Offsets and indices on a device are copied to the CPU for it, after the work that was
 * enqueued on them; a part at least has a blob then.
 *
 * INVALID_ARGUMENT, UNSUPPORTED (dtype, parts on several devices, a batch on one, blocks over
 * `TNR_SPARSE_MAX_BLOCK`), STALE_VIEW (owners), BUSY (32,767 users), OUT_OF_MEMORY (only where
 * entries are UNIQUE but not SORTED, and for a matrix on a device), DEVICE_ERROR. About a
 * batch the message begins with "matrix 3: ".
 *
 * @param view (transfer none)
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_sparse_check(const struct tnr_sparse_view *view) TNR_NOEXCEPT;

/**
 * Checks a matrix whose values are to be written: as `tnr_sparse_check`; also ALIASED when
 * they share bytes with offsets or indices, and INVALID_ARGUMENT when their owner may not be
 * written.
 *
 * @param view (transfer none)
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_sparse_check_mut(const struct tnr_sparse_view_mut *view) TNR_NOEXCEPT;
#endif

/*
 * ------------------------------------------------------------------------------
 * 16. Sparse conversions
 *
 * From dense and to dense, between formats, and parts of a matrix.
 */

#if TNR_WANT_MINOR >= 2
/**
 * Flag of `tnr_sparse_options`, for NON_ZERO: -0.0 is an entry too.
 *
 * @since 0.2
 */
#define TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO 1

/**
 * Flag of `tnr_sparse_options`, for `tnr_sparse_convert`: the result is SORTED. Without it,
 * entries keep the order that they had, as far as the format has one.
 *
 * @since 0.2
 */
#define TNR_CONVERT_SORT 2

/**
 * Which elements of a dense matrix become entries of a sparse one. A NaN does, whatever it is
 * compared with.
 *
 * @since 0.2
 */
typedef int32_t tnr_sparse_predicate;
/**
 * Elements that are not zero. -0.0 is zero, unless `TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO` is set.
 */
#define TNR_SPARSE_PREDICATE_NON_ZERO 0
/**
 * `x > threshold`, also those of value zero where the threshold is negative.
 */
#define TNR_SPARSE_PREDICATE_GREATER 1
/**
 * `|x| > threshold`; the threshold is not negative.
 */
#define TNR_SPARSE_PREDICATE_MAGNITUDE_GREATER 2
/**
 * Elements where the mask is true, whatever their values.
 */
#define TNR_SPARSE_PREDICATE_MASK 3

/**
 * Options of operations that make a sparse matrix. Set it to zeros, then set `struct_size` and the
 * fields that apply. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_options {
  /**
   * `sizeof(tnr_sparse_options)`.
   */
  uint64_t struct_size;
  /**
   * Format of the result.
   */
  tnr_sparse_format format;
  /**
   * Dtype of offsets and indices: `TNR_DTYPE_I32` or `TNR_DTYPE_I64`; 0 means that of the
   * matrix that is converted, and i32 for a dense one.
   */
  tnr_dtype index_dtype;
  /**
   * Which elements of a dense matrix are entries.
   */
  tnr_sparse_predicate predicate;
  /**
   * `TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO`, `TNR_CONVERT_SORT`, or 0.
   */
  uint32_t flags;
  /**
   * Rows of a block of BSR; 0 otherwise.
   */
  int64_t block_rows;
  /**
   * Columns of a block of BSR; 0 otherwise.
   */
  int64_t block_cols;
  /**
   * Operand of the predicate; zeros for predicates that have none.
   */
  struct tnr_scalar threshold;
  /**
   * bool8, of the dense matrix's shape, for `TNR_SPARSE_PREDICATE_MASK`; else zeros.
   */
  struct tnr_view mask;
} tnr_sparse_options;

/**
 * Order by which the largest entries are chosen. NaN is less than everything.
 *
 * @since 0.2
 */
typedef int32_t tnr_sparse_order;
/**
 * Their values.
 */
#define TNR_SPARSE_ORDER_VALUE 1
/**
 * Their values without the signs.
 */
#define TNR_SPARSE_ORDER_MAGNITUDE 2

/**
 * Attributes of `tnr_sparse_from_dense_top_k` and `tnr_sparse_top_k`. NULL, and zeros after
 * `struct_size`, mean the defaults. Later versions append fields, in which 0 keeps the present
 * behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_top_k_attributes {
  /**
   * `sizeof(tnr_sparse_top_k_attributes)`.
   */
  uint64_t struct_size;
  /**
   * From dense: dtype of the result's indices, `TNR_DTYPE_I32` or `TNR_DTYPE_I64`; 0 means i32.
   * Else 0: entries keep their index type.
   */
  tnr_dtype index_dtype;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_sparse_top_k_attributes;

/**
 * Attributes of `tnr_sparse_from_dense_dropout`. NULL, and zeros after `struct_size`, mean the
 * defaults. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_dropout_attributes {
  /**
   * `sizeof(tnr_sparse_dropout_attributes)`.
   */
  uint64_t struct_size;
  /**
   * Dtype of the indices: `TNR_DTYPE_I32` or `TNR_DTYPE_I64`; 0 means i32.
   */
  tnr_dtype index_dtype;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_sparse_dropout_attributes;

/**
 * Attributes of `tnr_sparse_from_matmul`. NULL, and zeros after `struct_size`, mean the defaults.
 * Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_from_matmul_attributes {
  /**
   * `sizeof(tnr_sparse_from_matmul_attributes)`.
   */
  uint64_t struct_size;
  /**
   * `[n]`, of the dtype of the result: added to each row of the product. NULL: nothing is.
   */
  const struct tnr_view *bias;
  /**
   * Applied to each element of the product, after that; 0: none.
   */
  tnr_unary_op activation;
  /**
   * Dtype of the indices: `TNR_DTYPE_I32` or `TNR_DTYPE_I64`; 0 means i32.
   */
  tnr_dtype index_dtype;
  /**
   * Which elements of the result are entries; not MASK.
   */
  tnr_sparse_predicate predicate;
  /**
   * `TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO`, or 0.
   */
  uint32_t flags;
  /**
   * Operand of the predicate; zeros for NON_ZERO.
   */
  struct tnr_scalar threshold;
} tnr_sparse_from_matmul_attributes;

/**
 * Attributes of `tnr_sparse_to_dense`. There are none yet. NULL, and zeros after `struct_size`,
 * mean the defaults. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_to_dense_attributes {
  /**
   * `sizeof(tnr_sparse_to_dense_attributes)`.
   */
  uint64_t struct_size;
} tnr_sparse_to_dense_attributes;

/**
 * How several entries of one position are combined.
 *
 * @since 0.2
 */
typedef int32_t tnr_sparse_combine;
/**
 * Their sum, from the first to the last: of integers wrapping, of 16-bit floats rounded once.
 */
#define TNR_SPARSE_COMBINE_SUM 1
/**
 * The least; NaN if one is.
 */
#define TNR_SPARSE_COMBINE_MIN 2
/**
 * The greatest; NaN if one is.
 */
#define TNR_SPARSE_COMBINE_MAX 3
/**
 * The last of them, as they were in order.
 */
#define TNR_SPARSE_COMBINE_LAST 4

/**
 * Attributes of `tnr_sparse_coalesce`. There are none yet. NULL, and zeros after `struct_size`,
 * mean the defaults. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_coalesce_attributes {
  /**
   * `sizeof(tnr_sparse_coalesce_attributes)`.
   */
  uint64_t struct_size;
} tnr_sparse_coalesce_attributes;

/**
 * Attributes of `tnr_sparse_select` and `tnr_sparse_slice`. There are none yet. NULL, and zeros
 * after `struct_size`, mean the defaults. Later versions append fields, in which 0 keeps the
 * present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_select_attributes {
  /**
   * `sizeof(tnr_sparse_select_attributes)`.
   */
  uint64_t struct_size;
} tnr_sparse_select_attributes;

/**
 * How `tnr_sparse_concat` joins matrices.
 *
 * @since 0.2
 */
typedef int32_t tnr_sparse_join;
/**
 * From top to bottom; all have the same number of columns.
 */
#define TNR_SPARSE_JOIN_ROWS 1
/**
 * From left to right; all have the same number of rows.
 */
#define TNR_SPARSE_JOIN_COLS 2
/**
 * Blocks on the diagonal: each begins below, and to the right of, the end of the one before
 * it.
 */
#define TNR_SPARSE_JOIN_DIAGONAL 3

/**
 * Attributes of `tnr_sparse_concat`. There are none yet. NULL, and zeros after `struct_size`, mean
 * the defaults. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_concat_attributes {
  /**
   * `sizeof(tnr_sparse_concat_attributes)`.
   */
  uint64_t struct_size;
} tnr_sparse_concat_attributes;

/**
 * Attributes of `tnr_sparse_kron`. There are none yet. NULL, and zeros after `struct_size`, mean
 * the defaults. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_kron_attributes {
  /**
   * `sizeof(tnr_sparse_kron_attributes)`.
   */
  uint64_t struct_size;
} tnr_sparse_kron_attributes;

/**
 * The entries of a dense matrix: those elements that the options' predicate names, each once
 * and in order, so the result is SORTED and UNIQUE. A block of BSR is an entry as soon as one
 * of its elements is; the others of it keep their values, with GREATER, MAGNITUDE_GREATER and
 * MASK too.
 *
 * Elements `[rows, cols]` make a matrix, `[batches, rows, cols]` a batch, with i64
 * `batch_offsets`.
 *
 * Reads the elements once from memory. Takes memory for the result, for the entries of a panel
 * of columns of each thread in CSC (1.2 MiB where a tenth of the elements are entries, 24 MiB
 * at most), up to 2 MiB for each thread in other formats, and for a batch in COO an index for
 * each row. The result is the same for any number of threads.
 *
 * On a device it gives COO, CSR or CSC of one matrix, and waits for the number of entries.
 * Until then it has room for entries of one in eight elements, or of 65,536; where there are
 * more, the elements are read twice.
 *
 * INVALID_ARGUMENT: a rank that is not 2 or 3, a format or a predicate without a name, an
 * index_dtype that is none, a threshold that is NaN or does not fit the dtype, a mask of
 * another shape or dtype, blocks that do not divide the shape or are below 1, and more entries
 * or a longer extent than the indices can count: use i64 then. UNSUPPORTED: elements of 16
 * bytes; bool8 and complex ones with GREATER and MAGNITUDE_GREATER; blocks over
 * `TNR_SPARSE_MAX_BLOCK`. STALE_VIEW, BUSY: as operations. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param dense (transfer none)
 * @param options (transfer none)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release)
TNR_NODISCARD
struct tnr_sparse *tnr_sparse_from_dense(struct tnr_context *context TNR_BORROWED,
                                         const struct tnr_view *dense,
                                         const struct tnr_sparse_options *options) TNR_NOEXCEPT;

/**
 * The `k` largest elements of each row of a dense matrix, as CSR: `k` entries in each row,
 * zeros too if they are among them; of equals the first. A NaN is less than everything, so it
 * is taken last. An `index_dtype` of 0 means i32. The result is SORTED and UNIQUE, and the
 * same for any number of threads. Each thread takes 8 KiB, 32 bytes for each of `k`, and a row
 * where its elements are not contiguous.
 *
 * INVALID_ARGUMENT: a rank that is not 2, a `k` that is negative or above the columns, an
 * order without a name, an index_dtype that is none, and more entries or columns than the
 * indices can count: use i64 then. UNSUPPORTED: elements that are complex, bool8 or integers
 * of 64 bits. STALE_VIEW, BUSY, OUT_OF_MEMORY: as operations.
 *
 * @param context (transfer none) (nullable)
 * @param dense (transfer none)
 * @param attributes (transfer none) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release)
TNR_NODISCARD
struct tnr_sparse *tnr_sparse_from_dense_top_k(struct tnr_context *context TNR_BORROWED,
                                               tnr_sparse_order order,
                                               const struct tnr_view *dense,
                                               int64_t k,
                                               const struct tnr_sparse_top_k_attributes *attributes) TNR_NOEXCEPT;

/**
 * Dropout on a dense matrix, as CSR: each element becomes 0 with the probability given, by a
 * random number of its own, and is multiplied by `1 / (1 - probability)` else, which is
 * rounded to the dtype first. A 0 is no entry; a NaN that is not dropped is. Whether an
 * element is dropped depends only on the seed and on its index in row-major order, so the
 * result is the same for any number of threads and under every instruction set. An
 * `index_dtype` of 0 means i32. SORTED and UNIQUE; reads and takes memory as
 * `tnr_sparse_from_dense`.
 *
 * Element i is dropped where `tnr_random` by BERNOULLI, with the same probability and seed and
 * an offset of 0, is true: where word i of Philox4x32-10 is below the probability times 2^32,
 * rounded (docs/random.md).
 *
 * INVALID_ARGUMENT: a rank that is not 2, a probability that is not at least 0 and below 1 or
 * whose factor overflows the dtype, an index_dtype that is none, and more entries or columns
 * than the indices can count: use i64 then. UNSUPPORTED: elements that are no floats.
 * STALE_VIEW, BUSY, OUT_OF_MEMORY: as operations.
 *
 * @param context (transfer none) (nullable)
 * @param dense (transfer none)
 * @param attributes (transfer none) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release)
TNR_NODISCARD
struct tnr_sparse *tnr_sparse_from_dense_dropout(struct tnr_context *context TNR_BORROWED,
                                                 const struct tnr_view *dense,
                                                 double probability,
                                                 uint64_t seed,
                                                 const struct tnr_sparse_dropout_attributes *attributes) TNR_NOEXCEPT;

/**
 * The entries of `activation(alpha * a b + bias)`, as CSR: the product of dense matrices is
 * computed some rows at a time, and the elements of these that the attributes' predicate names
 * become entries. Each value has the bits of `tnr_matmul`, and the matrix is that of
 * `tnr_sparse_from_dense`: SORTED and UNIQUE, the same for any number of threads. With RELU a
 * layer of a neural network whose result is mostly zeros.
 *
 * Dtypes, `alpha`, bias and activation are those of `tnr_matmul`, as far as
 * `tnr_sparse_from_dense` takes the dtype of the product; bytes give i32. Takes memory for the
 * result, for the factors as `tnr_matmul`, and for 512 rows of the product, or 8 MiB of it
 * where these have more. Where there are more rows, and the context has an allocator of its
 * own, which cannot give memory whose size is known only at the end, products are computed
 * twice.
 *
 * INVALID_ARGUMENT: as `tnr_matmul`, and a rank that is not 2; a predicate, a threshold or an
 * index_dtype as of `tnr_sparse_from_dense`, MASK too; more entries or columns than indices
 * can count: use i64 then. UNSUPPORTED: dtypes and activations. STALE_VIEW, BUSY: as
 * operations. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param alpha (transfer none)
 * @param a (transfer none) `[m, k]`
 * @param b (transfer none) `[k, n]`
 * @param attributes (transfer none) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release)
TNR_NODISCARD
struct tnr_sparse *tnr_sparse_from_matmul(struct tnr_context *context TNR_BORROWED,
                                          const struct tnr_scalar *alpha,
                                          const struct tnr_view *a,
                                          const struct tnr_view *b,
                                          const struct tnr_sparse_from_matmul_attributes *attributes) TNR_NOEXCEPT;

/**
 * Writes a matrix to dense memory `[rows, cols]`, a batch to `[batches, rows, cols]`: zeros,
 * and the entries where they are. Several entries for one position are added up, in their
 * order; with the flag UNIQUE a position has one entry at most. A sum of f16 or bf16 is
 * rounded once: where they are not UNIQUE and those of a row do not rise, the matrix is
 * coalesced first, and takes memory for it.
 *
 * On a device `a` is CSR or CSC; of f16 or bf16 it is UNIQUE. Waits, unless offsets and
 * indices are those of a `tnr_sparse`.
 *
 * INVALID_ARGUMENT: errors that `tnr_sparse_check` finds (an offset or an index out of range
 * is found as the call goes, and leaves `out` a mixture of zeros and entries), another shape
 * or dtype. UNSUPPORTED: a dtype without a name, and without the flag UNIQUE one that has no
 * sum. ALIASED: `out` shares bytes with a part, or its indices meet. STALE_VIEW, BUSY: as
 * operations.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_sparse_to_dense(struct tnr_context *context TNR_BORROWED,
                               const struct tnr_sparse_view *a,
                               const struct tnr_sparse_to_dense_attributes *attributes,
                               const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Converts a matrix to another format, to another index type, or to entries in order
 * (`TNR_CONVERT_SORT`). Every entry is kept, duplicates and zeros too, with its bytes: NaN
 * payloads and the signs of zeros stay, and a bool8 that is not 0 becomes 1. The result is a
 * copy. The transpose of a CSR needs none: it is a CSC view of the same arrays.
 *
 * Within a row of CSR, or a column of CSC, entries stay in the order that they had; a result
 * that comes from the other of the two is SORTED. CSC to COO orders them by columns. Each
 * element of a block of BSR becomes an entry; where BSR is made, the other elements of a block
 * are zero.
 *
 * `options`: format, index_dtype, flags and blocks; the rest is 0. Takes memory for one more
 * copy of the result while it lasts, two where CSR or COO is sorted, and offsets of rows and
 * columns. The result is the same for any number of threads.
 *
 * On a device COO becomes CSR, CSC or COO, and CSR and CSC keep their format. The index type
 * stays, values have up to 8 bytes, and there are fewer than 2^31 entries. Waits for the check
 * of the indices; takes 20 bytes for each entry while it lasts, and 4 where none is moved.
 *
 * INVALID_ARGUMENT, ALIASED, STALE_VIEW, BUSY: as `tnr_sparse_check`; a format or an
 * index_dtype without a name, blocks that do not divide the shape, a duplicate where BSR is
 * made, and more entries or a longer extent than the indices can count: use i64 then.
 * UNSUPPORTED: values that have not 1, 2, 4, 8 or 16 bytes, blocks over
 * `TNR_SPARSE_MAX_BLOCK`. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param options (transfer none)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release)
TNR_NODISCARD
struct tnr_sparse *tnr_sparse_convert(struct tnr_context *context TNR_BORROWED,
                                      const struct tnr_sparse_view *a,
                                      const struct tnr_sparse_options *options) TNR_NOEXCEPT;

/**
 * Puts the entries of a matrix in order, and combines the entries of one position to one by
 * `combine`. Entries that are zero, or become it, are kept. The result has the format and the
 * index type of `a`; a COO is ordered by rows.
 *
 * Takes memory as `tnr_sparse_convert` does where entries have to be sorted. The result is the
 * same for any number of threads.
 *
 * On a device `a` has fewer than 2^31 entries, of up to 8 bytes. Waits for the number of
 * entries of the result; takes 20 bytes for each entry of `a` while it lasts, and 4 where they
 * have the flag SORTED.
 *
 * INVALID_ARGUMENT, ALIASED, STALE_VIEW, BUSY: as `tnr_sparse_check`; a combine without a
 * name. UNSUPPORTED: BSR; values that have no such operation. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param attributes (transfer none) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release)
TNR_NODISCARD
struct tnr_sparse *tnr_sparse_coalesce(struct tnr_context *context TNR_BORROWED,
                                       tnr_sparse_combine combine,
                                       const struct tnr_sparse_view *a,
                                       const struct tnr_sparse_coalesce_attributes *attributes) TNR_NOEXCEPT;

/**
 * The entries of `a` that the predicate of `options` names, in the same order, format and
 * index type. A NaN is kept, whatever it is compared with.
 *
 * `options`: predicate (not MASK), threshold and `TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO`; the rest
 * is 0.
 *
 * INVALID_ARGUMENT, ALIASED, STALE_VIEW, BUSY: as `tnr_sparse_check`; a predicate without a
 * name, and a threshold that is NaN or does not fit the dtype. UNSUPPORTED: BSR; values of
 * 16 bytes; bool8 and complex ones with GREATER and MAGNITUDE_GREATER. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param options (transfer none)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release)
TNR_NODISCARD
struct tnr_sparse *tnr_sparse_prune(struct tnr_context *context TNR_BORROWED,
                                    const struct tnr_sparse_view *a,
                                    const struct tnr_sparse_options *options) TNR_NOEXCEPT;

/**
 * The `k` largest entries of each row of a CSR, in the same order and index type; of equals
 * the first, of a row with fewer all. A NaN is less than everything, so it is dropped first.
 *
 * INVALID_ARGUMENT, ALIASED, STALE_VIEW, BUSY: as `tnr_sparse_check`; a `k` that is negative
 * or above `a.cols`, and an order without a name. UNSUPPORTED: COO, CSC and BSR; values that
 * are complex, bool8 or integers of 64 bits. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param attributes (transfer none) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release)
TNR_NODISCARD
struct tnr_sparse *tnr_sparse_top_k(struct tnr_context *context TNR_BORROWED,
                                    tnr_sparse_order order,
                                    const struct tnr_sparse_view *a,
                                    int64_t k,
                                    const struct tnr_sparse_top_k_attributes *attributes) TNR_NOEXCEPT;

/**
 * Rows and columns of a CSR or CSC, as a new matrix: row i of it is row `rows[i]` of `a`,
 * column j column `cols[j]`. A list may name them in any order and any of them several times;
 * NULL is all in their order. Each is of rank 1, of i32 or i64. The result has the format and
 * the index type of `a`, and the entries of a row (CSC: column) in the order that they have
 * there, those of a column that is listed several times in the order of the list. It is UNIQUE
 * where `a` is, and SORTED where `a` is and the numbers within a row never fall.
 *
 * In addition to the result it takes memory for a number for each row of the result, for each
 * number in the lists, and for each column of `a` where there are no more than a few columns
 * for each entry.
 *
 * INVALID_ARGUMENT, ALIASED, STALE_VIEW, BUSY: as `tnr_sparse_check`; a list of another rank
 * or dtype, a number that names no row or column, more entries or a longer extent than the
 * indices can count. UNSUPPORTED: COO and BSR. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param rows (transfer none) (nullable)
 * @param cols (transfer none) (nullable)
 * @param attributes (transfer none) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release)
TNR_NODISCARD
struct tnr_sparse *tnr_sparse_select(struct tnr_context *context TNR_BORROWED,
                                     const struct tnr_sparse_view *a,
                                     const struct tnr_view *rows,
                                     const struct tnr_view *cols,
                                     const struct tnr_sparse_select_attributes *attributes) TNR_NOEXCEPT;

/**
 * A block of a CSR or CSC, as a new matrix: `row_count` rows from `first_row` on, and of these
 * `col_count` columns. The result is that of `tnr_sparse_select` with these numbers, without
 * lists of them. A range of rows of a CSR needs no copy: a view of a part of the offsets has
 * them.
 *
 * INVALID_ARGUMENT, ALIASED, STALE_VIEW, BUSY: as `tnr_sparse_check`; a block that leaves the
 * matrix. UNSUPPORTED: COO and BSR. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param attributes (transfer none) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release)
TNR_NODISCARD
struct tnr_sparse *tnr_sparse_slice(struct tnr_context *context TNR_BORROWED,
                                    const struct tnr_sparse_view *a,
                                    int64_t first_row,
                                    int64_t row_count,
                                    int64_t first_col,
                                    int64_t col_count,
                                    const struct tnr_sparse_select_attributes *attributes) TNR_NOEXCEPT;

/**
 * Matrices joined to one, in the order of the list. They agree in format, in the dtypes of
 * their values and indices, and in the extent across the join; the result has the same. Its
 * entries are theirs, in their order within each part. It is SORTED and UNIQUE where all of
 * them are; COO joined by COLS is at most UNIQUE.
 *
 * INVALID_ARGUMENT, ALIASED, STALE_VIEW, BUSY: as `tnr_sparse_check`, naming the part; no
 * part, a join without a name, parts that do not agree, more entries or a longer extent than
 * the indices can count. UNSUPPORTED: BSR. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param parts (transfer none) (counted-by part_count) pointers to matrices, one at least
 * @param attributes (transfer none) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_READS(3, 4) TNR_RETURNS_OWNED(tnr_sparse_release)
TNR_NODISCARD
struct tnr_sparse *tnr_sparse_concat(struct tnr_context *context TNR_BORROWED,
                                     tnr_sparse_join join,
                                     const struct tnr_sparse_view *const *parts,
                                     uint32_t part_count,
                                     const struct tnr_sparse_concat_attributes *attributes) TNR_NOEXCEPT;

/**
 * The Kronecker product of two matrices of one format and one pair of dtypes: `b` times each
 * element of `a`, at its position. Each entry of the result is a product of two entries,
 * rounded once; integers wrap. The result is SORTED and UNIQUE where both are; entries of a
 * row (CSC: column) are in the order of those of `a`, and of `b` for each.
 *
 * INVALID_ARGUMENT, ALIASED, STALE_VIEW, BUSY: as `tnr_sparse_check`; formats or dtypes that
 * differ, more entries or longer extents than the indices can count. UNSUPPORTED: COO and BSR;
 * values that are complex or bool8. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param b (transfer none)
 * @param attributes (transfer none) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release)
TNR_NODISCARD
struct tnr_sparse *tnr_sparse_kron(struct tnr_context *context TNR_BORROWED,
                                   const struct tnr_sparse_view *a,
                                   const struct tnr_sparse_view *b,
                                   const struct tnr_sparse_kron_attributes *attributes) TNR_NOEXCEPT;

/**
 * The entries of a triangle of a matrix, as a new matrix of the same format, dtypes and order.
 *
 * INVALID_ARGUMENT, ALIASED, STALE_VIEW, BUSY: as `tnr_sparse_check`; a triangle without a
 * name. UNSUPPORTED: COO and BSR. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param attributes (transfer none) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release)
TNR_NODISCARD
struct tnr_sparse *tnr_sparse_triangular(struct tnr_context *context TNR_BORROWED,
                                         tnr_triangle part,
                                         const struct tnr_sparse_view *a,
                                         const struct tnr_triangle_attributes *attributes) TNR_NOEXCEPT;
#endif

/*
 * ------------------------------------------------------------------------------
 * 17. Sparse operations
 *
 * Products, arithmetic, reductions and solves.
 */

#if TNR_WANT_MINOR >= 2
/**
 * Flag of `tnr_sparse_sddmm_attributes`: products are multiplied by the pattern's own values.
 *
 * @since 0.2
 */
#define TNR_SDDMM_TIMES_VALUES 1

/**
 * Flag of `tnr_sparse_solve_attributes`: the matrix is upper triangular, else lower.
 *
 * @since 0.2
 */
#define TNR_SOLVE_UPPER 1

/**
 * Flag of `tnr_sparse_solve_attributes`: the diagonal is 1, whatever its entries are.
 *
 * @since 0.2
 */
#define TNR_SOLVE_UNIT_DIAGONAL 2

/**
 * Attributes of `tnr_sparse_matmul` and `tnr_packed_matmul`. There are none yet. NULL, and zeros
 * after `struct_size`, mean the defaults. Later versions append fields, in which 0 keeps the
 * present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_matmul_attributes {
  /**
   * `sizeof(tnr_sparse_matmul_attributes)`.
   */
  uint64_t struct_size;
} tnr_sparse_matmul_attributes;

/**
 * Attributes of `tnr_sparse_product` and `tnr_sparse_product_masked`. There are none yet. NULL,
 * and zeros after `struct_size`, mean the defaults. Later versions append fields, in which 0 keeps
 * the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_product_attributes {
  /**
   * `sizeof(tnr_sparse_product_attributes)`.
   */
  uint64_t struct_size;
} tnr_sparse_product_attributes;

/**
 * Attributes of `tnr_sparse_sddmm`. NULL, and zeros after `struct_size`, mean the defaults. Later
 * versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_sddmm_attributes {
  /**
   * `sizeof(tnr_sparse_sddmm_attributes)`.
   */
  uint64_t struct_size;
  /**
   * `TNR_SDDMM_TIMES_VALUES` or 0.
   */
  uint32_t flags;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_sparse_sddmm_attributes;

/**
 * Attributes of `tnr_sparse_accumulate`. There are none yet. NULL, and zeros after `struct_size`,
 * mean the defaults. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_accumulate_attributes {
  /**
   * `sizeof(tnr_sparse_accumulate_attributes)`.
   */
  uint64_t struct_size;
} tnr_sparse_accumulate_attributes;

/**
 * Attributes of `tnr_sparse_scale`. There are none yet. NULL, and zeros after `struct_size`, mean
 * the defaults. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_scale_attributes {
  /**
   * `sizeof(tnr_sparse_scale_attributes)`.
   */
  uint64_t struct_size;
} tnr_sparse_scale_attributes;

/**
 * Attributes of `tnr_sparse_softmax`. There are none yet. NULL, and zeros after `struct_size`,
 * mean the defaults. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_softmax_attributes {
  /**
   * `sizeof(tnr_sparse_softmax_attributes)`.
   */
  uint64_t struct_size;
} tnr_sparse_softmax_attributes;

/**
 * A norm of a matrix.
 *
 * @since 0.2
 */
typedef int32_t tnr_sparse_norm_kind;
/**
 * The largest sum of magnitudes of a column.
 */
#define TNR_SPARSE_NORM_KIND_ONE 1
/**
 * The largest sum of magnitudes of a row.
 */
#define TNR_SPARSE_NORM_KIND_INFINITY 2
/**
 * The square root of the sum of squares.
 */
#define TNR_SPARSE_NORM_KIND_FROBENIUS 3

/**
 * Attributes of `tnr_sparse_norm`. There are none yet. NULL, and zeros after `struct_size`, mean
 * the defaults. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_norm_attributes {
  /**
   * `sizeof(tnr_sparse_norm_attributes)`.
   */
  uint64_t struct_size;
} tnr_sparse_norm_attributes;

/**
 * Attributes of `tnr_sparse_diagonal`. There are none yet. NULL, and zeros after `struct_size`,
 * mean the defaults. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_diagonal_attributes {
  /**
   * `sizeof(tnr_sparse_diagonal_attributes)`.
   */
  uint64_t struct_size;
} tnr_sparse_diagonal_attributes;

/**
 * Attributes of `tnr_sparse_solve`. NULL, and zeros after `struct_size`, mean the defaults. Later
 * versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_sparse_solve_attributes {
  /**
   * `sizeof(tnr_sparse_solve_attributes)`.
   */
  uint64_t struct_size;
  /**
   * `TNR_SOLVE_UPPER`, `TNR_SOLVE_UNIT_DIAGONAL`, both or 0.
   */
  uint32_t flags;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_sparse_solve_attributes;

/**
 * `out = alpha * a b + beta * out`, with a sparse matrix `a`, or its transpose, and dense `b`
 * and `out`: both vectors, or both matrices, of `a`'s dtype and of any strides. Where `beta`
 * is 0 `out` is not read, so it may hold anything, NaN included. The sums of f16 and bf16 are
 * f32 and are rounded once; integers wrap. A position that has several entries is their sum.
 * The result has the same bits for any number of threads.
 *
 * With a batch `out` has one axis more in front, of the batch's length, and so has `b`, unless
 * all matrices share one.
 *
 * Where the entries of a row go to many sums (COO that is not SORTED, CSC as it is, CSR and
 * BSR transposed), the sums take memory in addition to `out`, up to eight times 256 bytes for
 * each of its rows; a `tnr_sparse` of COO that is SORTED takes an offset for each row. Columns
 * of `b` that are not adjacent, and rows that are read often and cross lines of the cache, are
 * copied, up to 256 bytes of each row at a time. Where `a` has fewer entries than `b` rows,
 * `b` is read without a copy, whatever its strides.
 *
 * On a device `a` is CSR as it is, or CSC TRANSPOSED, of f64, f32, f16 or bf16; no memory is
 * taken. Waits, unless offsets and indices are those of a `tnr_sparse`.
 *
 * INVALID_ARGUMENT also for shapes and dtypes that do not agree, for an `alpha` or `beta` that
 * the dtype cannot represent, and for offsets or indices out of range: then `out` has been
 * written in part. UNSUPPORTED: values that are complex or bool8. ALIASED: `out` shares a
 * byte with `a` or `b`. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param alpha (transfer none)
 * @param a (transfer none) [m, k]; TRANSPOSED: [k, m]
 * @param b (transfer none) `[k]` or `[k, n]`
 * @param beta (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) `[m]` or `[m, n]`
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_sparse_matmul(struct tnr_context *context TNR_BORROWED,
                             tnr_orientation orientation,
                             const struct tnr_scalar *alpha,
                             const struct tnr_sparse_view *a,
                             const struct tnr_view *b,
                             const struct tnr_scalar *beta,
                             const struct tnr_sparse_matmul_attributes *attributes,
                             const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The product of two matrices, as a new one: CSR of two CSR, CSC of two CSC; coalesced. It has
 * an entry wherever an entry of `a` meets one of `b`, also where the sum is 0. A sum begins at
 * 0 and takes the products in the order of `a`'s entries (CSC: `b`'s), in the dtype of the
 * values; so it has the same bits for any number of threads. In addition to operands and
 * result, each thread takes a few bytes for each column of the result (CSC: row), where that
 * is some MiB at most or a row has products for a fair part of them; else for each product of
 * the row that has most.
 *
 * INVALID_ARGUMENT: errors that `tnr_sparse_check` finds, except in flags, which are believed;
 * `a.cols` is not `b.rows`; dtypes of values or of indices differ; the result has more entries
 * than i32 offsets count. UNSUPPORTED: COO and BSR, two formats, values other than f32 and
 * f64. STALE_VIEW, BUSY, OUT_OF_MEMORY: as operations.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param b (transfer none)
 * @param attributes (transfer none) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release)
TNR_NODISCARD
struct tnr_sparse *tnr_sparse_product(struct tnr_context *context TNR_BORROWED,
                                      const struct tnr_sparse_view *a,
                                      const struct tnr_sparse_view *b,
                                      const struct tnr_sparse_product_attributes *attributes) TNR_NOEXCEPT;

/**
 * The product of two matrices, only at the entries of a third one: CSR of three CSR, CSC of
 * three CSC. The values of `mask` are not read. The result has the entries of
 * `tnr_sparse_product` that `mask` has too, with the same bits, in the order of `mask`, and is
 * SORTED and UNIQUE where `mask` is; an entry that `mask` has twice occurs twice. Other
 * entries of the product are never stored. In addition to operands and result, each thread
 * takes a few bytes for each entry of the row of `mask` that has most, and for each column of
 * the result (CSC: row) where these are few, or the entries of `mask` are many.
 *
 * INVALID_ARGUMENT, UNSUPPORTED: as `tnr_sparse_product`, of the three; a `mask` of another
 * shape than the product. STALE_VIEW, BUSY, OUT_OF_MEMORY: as operations.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param b (transfer none)
 * @param mask (transfer none)
 * @param attributes (transfer none) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release)
TNR_NODISCARD
struct tnr_sparse *tnr_sparse_product_masked(struct tnr_context *context TNR_BORROWED,
                                             const struct tnr_sparse_view *a,
                                             const struct tnr_sparse_view *b,
                                             const struct tnr_sparse_view *mask,
                                             const struct tnr_sparse_product_attributes *attributes) TNR_NOEXCEPT;

/**
 * The product of dense `x` and `y`, only at the entries of a sparse matrix ("SDDMM"): for an
 * entry at row i and column j, `alpha` times the sum of row i of `x` times column j of `y`;
 * with `TNR_SDDMM_TIMES_VALUES` times the entry's own value. A position that has several
 * entries gets a result for each. All of `a`'s dtype; sums of f16 and bf16 are f32, rounded
 * once; integers wrap. The result has the same bits for any number of threads. Where a row of
 * `x` or a column of `y` is not adjacent, all are copied, unless they are more than the
 * entries: then they are read without a copy.
 *
 * On a device `a` is CSR or CSC, of f64, f32, f16 or bf16; nothing is copied. Waits.
 *
 * INVALID_ARGUMENT also for shapes and dtypes that do not agree, an `out` that is not
 * row-major, an `alpha` that the dtype cannot represent, and for offsets or indices out of
 * range: then `out` has been written in part. UNSUPPORTED: values that are complex or bool8.
 * ALIASED:
 * `out` shares a byte with another operand and is not exactly `a.values`, or its part of them.
 * OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param alpha (transfer none)
 * @param a (transfer none) [m, n]
 * @param x (transfer none) [m, k], any strides
 * @param y (transfer none) [k, n], any strides
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) of the shape of `a.values`; of a range, of its part of them
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_sparse_sddmm(struct tnr_context *context TNR_BORROWED,
                            const struct tnr_scalar *alpha,
                            const struct tnr_sparse_view *a,
                            const struct tnr_view *x,
                            const struct tnr_view *y,
                            const struct tnr_sparse_sddmm_attributes *attributes,
                            const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Arithmetic of two matrices of one shape, element by element, as a new one: of two coalesced
 * CSR or CSC, coalesced. ADD, SUB, MIN and MAX have an entry wherever `a` or `b` has one, and
 * read 0 where the other has none; MUL has one where both have. Results that are 0 stay
 * entries. The results are those of dense matrices with zeros, except that MUL takes the
 * product with a missing entry as 0.
 *
 * INVALID_ARGUMENT: errors that `tnr_sparse_check` finds, except in flags, which are believed
 * and must be SORTED and UNIQUE; two shapes; dtypes of values or of indices differ; more
 * entries than i32 offsets count. UNSUPPORTED: an operation that is not 0 at 0, as DIV, REM
 * and POW; COO and BSR; two formats; complex values, and a dtype that `tnr_binary` does not
 * take. STALE_VIEW, BUSY, OUT_OF_MEMORY: as operations.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param b (transfer none)
 * @param attributes (transfer none) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release)
TNR_NODISCARD
struct tnr_sparse *tnr_sparse_binary(struct tnr_context *context TNR_BORROWED,
                                     tnr_binary_op op,
                                     const struct tnr_sparse_view *a,
                                     const struct tnr_sparse_view *b,
                                     const struct tnr_binary_attributes *attributes) TNR_NOEXCEPT;

/**
 * Adds the entries of a CSR or CSC matrix to dense memory of its shape, in place; the other
 * elements are not touched. Integers wrap.
 *
 * INVALID_ARGUMENT: errors that `tnr_sparse_check` finds, except in flags (an offset or an
 * index out of range is found as the call goes, and leaves `out` a mixture), another shape or
 * dtype. UNSUPPORTED: COO and BSR; values other than f32, f64, i32 and i64. ALIASED: `out`
 * shares bytes with a part, or its indices meet. STALE_VIEW, BUSY: as operations.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_sparse_accumulate(struct tnr_context *context TNR_BORROWED,
                                 const struct tnr_sparse_view *a,
                                 const struct tnr_sparse_accumulate_attributes *attributes,
                                 const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * A function of each entry, as a new matrix that shares offsets and indices with the one that
 * `a` is a view of, by an operation that is 0 at 0. `a` is all of a held matrix; of lent
 * arrays, `tnr_unary` on the values is all there is to do.
 *
 * INVALID_ARGUMENT: `a` has no owner, or is rows of it. UNSUPPORTED: an operation that is not
 * 0 at 0, as EXP, or that gives another dtype, as ABS of complex values; bool8 values, and a
 * dtype that `tnr_unary` does not take. STALE_VIEW, BUSY, OUT_OF_MEMORY: as operations.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param attributes (transfer none) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release)
TNR_NODISCARD
struct tnr_sparse *tnr_sparse_unary(struct tnr_context *context TNR_BORROWED,
                                    tnr_unary_op op,
                                    const struct tnr_sparse_view *a,
                                    const struct tnr_unary_attributes *attributes) TNR_NOEXCEPT;

/**
 * Multiplies each entry of a CSR or CSC matrix by the factor of its row (`axis` 0) or column
 * (`axis` 1), in place: the product with a diagonal matrix from the left or from the right.
 * Integers wrap. By one number: `tnr_binary_scalar` on the values.
 *
 * INVALID_ARGUMENT: errors that `tnr_sparse_check_mut` finds, except in flags (an offset or an
 * index out of range is found as the call goes, and leaves the values a mixture); `factors` is
 * not of rank 1, as long as the axis and of the values' dtype. UNSUPPORTED: COO and BSR;
 * values other than f32, f64, i32 and i64. ALIASED: `factors` shares bytes with the values.
 * STALE_VIEW, BUSY: as operations.
 *
 * @param context (transfer none) (nullable)
 * @param factors (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param a (transfer none)
 * @threads exclusive(a)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_sparse_scale(struct tnr_context *context TNR_BORROWED,
                            const struct tnr_view *factors,
                            uint32_t axis,
                            const struct tnr_sparse_scale_attributes *attributes,
                            const struct tnr_sparse_view_mut *a) TNR_NOEXCEPT;

/**
 * Replaces the entries of each row of a CSR matrix by their softmax, in place: exp(x) over the
 * sum of them. Elements without an entry take no part, as if they were -infinity; a row
 * without entries stays. f32 and f64; a row with a NaN is all NaN.
 *
 * INVALID_ARGUMENT: as `tnr_sparse_scale`. UNSUPPORTED: other formats and dtypes. STALE_VIEW,
 * BUSY: as operations.
 *
 * @param context (transfer none) (nullable)
 * @param attributes (transfer none) (nullable)
 * @param a (transfer none)
 * @threads exclusive(a)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_sparse_softmax(struct tnr_context *context TNR_BORROWED,
                              const struct tnr_sparse_softmax_attributes *attributes,
                              const struct tnr_sparse_view_mut *a) TNR_NOEXCEPT;

/**
 * Reduces a CSR or CSC matrix over its rows (`axes` 1: a result for each column), its columns
 * (2: one for each row) or both (3: one, `out` of rank 0), as `tnr_reduce` does the dense
 * matrix: SUM, MIN, MAX, and COUNT of elements that are not zero. Missing entries take part as
 * zeros: where all entries are positive, they are the smallest. Sums of f32 accumulate in f64,
 * in an order that depends only on the offsets, not on the number of threads.
 *
 * INVALID_ARGUMENT: errors that `tnr_sparse_check` finds, except in flags (an offset or an
 * index out of range is found as the call goes); axes; the shape or dtype of `out` (i64 of
 * COUNT, and of sums of i32); MIN and MAX of no elements; all but SUM without the flag UNIQUE.
 * UNSUPPORTED: other operations; COO and BSR; values other than f32, f64, i32 and i64.
 * ALIASED: `out` shares bytes with a part. STALE_VIEW, BUSY, OUT_OF_MEMORY: as operations.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_sparse_reduce(struct tnr_context *context TNR_BORROWED,
                             tnr_reduce_op op,
                             const struct tnr_sparse_view *a,
                             uint32_t axes,
                             const struct tnr_reduce_attributes *attributes,
                             const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * A norm of a CSR or CSC matrix, computed in f64. NaN if an entry is. Without entries: 0.
 *
 * INVALID_ARGUMENT: errors that `tnr_sparse_check` finds, except in flags, which must have
 * UNIQUE; a norm without a name. UNSUPPORTED: COO and BSR; values other than f32 and f64.
 * STALE_VIEW, BUSY, OUT_OF_MEMORY: as operations.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) (out) untouched on failure
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_sparse_norm(struct tnr_context *context TNR_BORROWED,
                           tnr_sparse_norm_kind kind,
                           const struct tnr_sparse_view *a,
                           const struct tnr_sparse_norm_attributes *attributes,
                           double *out) TNR_NOEXCEPT;

/**
 * Writes the diagonal of a CSR or CSC matrix to `out`, of rank 1 and as long as the shorter
 * axis; 0 for a position without an entry, the sum of several entries.
 *
 * INVALID_ARGUMENT: errors that `tnr_sparse_check` finds, except in flags (an offset or an
 * index out of range is found as the call goes, beyond the diagonal too, and leaves `out` a
 * mixture), another length or dtype. UNSUPPORTED: COO and BSR; values other than f32, f64, i32
 * and i64. ALIASED: `out` shares bytes with a part. STALE_VIEW, BUSY: as operations.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_sparse_diagonal(struct tnr_context *context TNR_BORROWED,
                               const struct tnr_sparse_view *a,
                               const struct tnr_sparse_diagonal_attributes *attributes,
                               const struct tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Solves a triangular system by substitution: `out` becomes the x of a x = b, for each column
 * where `b` and `out` have rank 2. Entries beyond the triangle that the attributes' flags name
 * (TNR_SOLVE_UPPER, else the lower one) are not looked at; nor, with TNR_SOLVE_UNIT_DIAGONAL,
 * those of the diagonal.
 *
 * INVALID_ARGUMENT: errors that `tnr_sparse_check` finds, except in flags; unknown bits of
 * `flags`; a matrix that is not square; other shapes or dtypes; a diagonal that is 0 or
 * missing in a row, which is named (then `out` is a mixture). UNSUPPORTED: other formats than
 * CSR; dtypes other than f32 and f64. ALIASED: `out` shares bytes with a part, or with `b`
 * without being exactly it. STALE_VIEW, BUSY: as operations.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none)
 * @param b (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none)
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_sparse_solve(struct tnr_context *context TNR_BORROWED,
                            const struct tnr_sparse_view *a,
                            const struct tnr_view *b,
                            const struct tnr_sparse_solve_attributes *attributes,
                            const struct tnr_view_mut *out) TNR_NOEXCEPT;
#endif

/*
 * ------------------------------------------------------------------------------
 * 18. Packed matrices
 *
 * The read-optimised form of a sparse matrix, for products with many vectors.
 */

#if TNR_WANT_MINOR >= 2
/**
 * A sparse matrix in a layout of the library's own, for products with many vectors. Its handle is
 * a token like that of a blob, of a separate kind.
 *
 * @since 0.2
 */
typedef struct tnr_packed tnr_packed;

/**
 * How a packed matrix keeps the columns of its entries.
 *
 * @since 0.2
 */
typedef int32_t tnr_packed_layout;
/**
 * Default: the layout is chosen by the matrix.
 */
#define TNR_PACKED_LAYOUT_AUTO 0
/**
 * Numbers of 32 bits: no smaller than i32 indices, half of i64 ones.
 */
#define TNR_PACKED_LAYOUT_WIDE 1
/**
 * Numbers of 16 bits, counted from a column that 64 rows have in common.
 */
#define TNR_PACKED_LAYOUT_NARROW 2
/**
 * A bit for every element, set where it has an entry.
 */
#define TNR_PACKED_LAYOUT_BITMAP 3
/**
 * A number of 32 bits for each block of adjacent rows and columns; each element of a block has
 * an entry.
 */
#define TNR_PACKED_LAYOUT_BLOCKS 4

/**
 * Attributes of `tnr_packed_create`. NULL, and zeros after `struct_size`, mean the defaults. Later
 * versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_packed_attributes {
  /**
   * `sizeof(tnr_packed_attributes)`.
   */
  uint64_t struct_size;
  /**
   * How the columns are kept; 0 is AUTO.
   */
  tnr_packed_layout layout;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_packed_attributes;

/**
 * Layout and cost of a packed matrix.
 *
 * @since 0.2
 */
typedef struct tnr_packed_info {
  /**
   * `sizeof(tnr_packed_info)`.
   */
  uint64_t struct_size;
  /**
   * Never AUTO.
   */
  tnr_packed_layout layout;
  /**
   * Dtype of the values.
   */
  tnr_dtype dtype;
  /**
   * Rows.
   */
  int64_t rows;
  /**
   * Columns.
   */
  int64_t cols;
  /**
   * Stored entries.
   */
  int64_t nnz;
  /**
   * Bytes that a product reads of the packed matrix.
   */
  uint64_t size_bytes;
  /**
   * Bytes that a product read of the original matrix: offsets, indices and values.
   */
  uint64_t source_bytes;
  /**
   * Products after which packing has moved fewer bytes than it saved, counted, not measured: the
   * source read, the result fetched and written, and for a bitmap a mark of one byte cleared and
   * read for each element and set for each entry, over the difference of the two sizes. -1:
   * never.
   */
  int64_t break_even;
  /**
   * Rows of a block; 1 unless the layout is BLOCKS.
   */
  int64_t block_rows;
  /**
   * Columns of a block; 1 unless the layout is BLOCKS.
   */
  int64_t block_cols;
} tnr_packed_info;

/**
 * Gives up one handle. The last release ends the packed matrix; a call that uses it lasts.
 * NULL is OK and does nothing. The status may be ignored.
 *
 * STALE_HANDLE: not a handle, or released before.
 *
 * @param packed (transfer full) (nullable)
 * @threads any
 * @since 0.2
 */
TNR_API
tnr_status tnr_packed_release(struct tnr_packed *packed TNR_OWNED) TNR_NOEXCEPT;

/**
 * Copies a CSR matrix into a layout whose products with vectors read fewer bytes. With AUTO:
 * blocks, where all entries are in blocks without gaps of one shape (8x8, 4x4, 2x2, 8x1, 4x1,
 * 1x8 or 1x4, the one that takes the fewest bytes) that begin at multiples of it, unless a
 * bitmap takes fewer bytes; a bitmap where a fifth of the elements or more have entries and
 * columns rise within each row; else numbers of 16 bits, unless these, with the bytes of each
 * group of 64 rows, are more bytes than numbers of 32, or cut rows into pieces of less than 16
 * entries. The choice depends only on the matrix, and `tnr_packed_describe` reports it.
 *
 * Entries keep their order, and a position may have several, except in a bitmap. The memory is
 * the context's. Later changes of the values of `a` are not seen.
 *
 * INVALID_ARGUMENT, STALE_VIEW, BUSY: as `tnr_sparse_check`; a layout without a name; BITMAP
 * for rows whose columns do not rise. UNSUPPORTED: a format that is not CSR; dtypes that are
 * no floats; BLOCKS for entries that are not all in blocks; 64 consecutive rows with columns
 * in more than 64 ranges of the layout's numbers (AUTO: of 2^31). OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param a (transfer none) copied
 * @param attributes (transfer none) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_packed_release)
TNR_NODISCARD
struct tnr_packed *tnr_packed_create(struct tnr_context *context TNR_BORROWED,
                                     const struct tnr_sparse_view *a,
                                     const struct tnr_packed_attributes *attributes) TNR_NOEXCEPT;

/**
 * One more handle of the same packed matrix, to be released too; the same pointer is returned.
 *
 * STALE_HANDLE: not a handle, or released before. BUSY: 16,777,215 handles.
 *
 * @param packed (transfer none)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_packed_release)
TNR_NODISCARD
struct tnr_packed *tnr_packed_retain(struct tnr_packed *packed TNR_BORROWED) TNR_NOEXCEPT;

/**
 * Describes a packed matrix: layout, size, and the number of products that pay for packing.
 *
 * STALE_HANDLE: not a handle, or released before. BUSY: as `tnr_packed_retain`.
 * INVALID_ARGUMENT: `out->struct_size` is below the first version's, or over 4096.
 *
 * @param packed (transfer none)
 * @param out (transfer none) (inout) struct_size is read, the rest written
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_packed_describe(const struct tnr_packed *packed TNR_BORROWED,
                               struct tnr_packed_info *out) TNR_NOEXCEPT;

/**
 * `out = alpha * packed b + beta * out`, as `tnr_sparse_matmul` computes it. A `b` with
 * several columns is multiplied one column after the other, for which `tnr_sparse_matmul` is
 * faster from a few columns on.
 *
 * A row's products are added up in the order of the layout: with numbers of 16 or 32 bits as
 * by `tnr_sparse_matmul` where the columns of 64 rows are in one range and a row has 65,536
 * entries at most; for f32 and f64 the result then has the same bits. In any layout the result
 * is the same for any number of threads. Sums of f16 and bf16 are f32, rounded once.
 *
 * A column of `b` that is not adjacent, or of f16 or bf16, is copied where it has no more
 * elements than `packed` has entries; of a bitmap, where that has more than 32 rows. Else it
 * is read without a copy.
 *
 * STALE_HANDLE: not a handle, or released before. BUSY: as `tnr_packed_retain`; a call counts
 * as one handle while it lasts. INVALID_ARGUMENT: shapes and dtypes that do not agree.
 * ALIASED: `out` shares a byte with `b`. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param alpha (transfer none)
 * @param packed (transfer none) [m, k]
 * @param b (transfer none) `[k]` or `[k, n]`
 * @param beta (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) `[m]` or `[m, n]`
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_packed_matmul(struct tnr_context *context TNR_BORROWED,
                             const struct tnr_scalar *alpha,
                             const struct tnr_packed *packed TNR_BORROWED,
                             const struct tnr_view *b,
                             const struct tnr_scalar *beta,
                             const struct tnr_sparse_matmul_attributes *attributes,
                             const struct tnr_view_mut *out) TNR_NOEXCEPT;
#endif

/*
 * ------------------------------------------------------------------------------
 * 19. Packed factors
 *
 * The right factor of repeated products of dense matrices, as kernels read it.
 */

#if TNR_WANT_MINOR >= 2
/**
 * A dense matrix in the panels that products read, to be multiplied by many others from the left.
 * Its handle is a token like that of a blob, of a separate kind.
 *
 * @since 0.2
 */
typedef struct tnr_factor tnr_factor;

/**
 * Attributes of `tnr_factor_create`. NULL, and zeros after `struct_size`, mean the defaults. Later
 * versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_factor_attributes {
  /**
   * `sizeof(tnr_factor_attributes)`.
   */
  uint64_t struct_size;
  /**
   * Dtype of the left factors; a `b` of bytes is packed differently for u8 and i8. 0: that of
   * `b`.
   */
  tnr_dtype a_dtype;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_factor_attributes;

/**
 * Shape and size of a packed factor.
 *
 * @since 0.2
 */
typedef struct tnr_factor_info {
  /**
   * `sizeof(tnr_factor_info)`.
   */
  uint64_t struct_size;
  /**
   * Dtype of the matrix that was packed.
   */
  tnr_dtype dtype;
  /**
   * Dtype of the left factors of its products.
   */
  tnr_dtype a_dtype;
  /**
   * Rows: the depth of its products.
   */
  int64_t rows;
  /**
   * Columns.
   */
  int64_t cols;
  /**
   * Bytes that a product reads of the packed factor.
   */
  uint64_t size_bytes;
} tnr_factor_info;

/**
 * Gives up one handle. The last release ends the packed factor; a call that uses it lasts.
 * NULL is OK and does nothing. The status may be ignored.
 *
 * STALE_HANDLE: not a handle, or released before.
 *
 * @param factor (transfer full) (nullable)
 * @threads any
 * @since 0.2
 */
TNR_API
tnr_status tnr_factor_release(struct tnr_factor *factor TNR_OWNED) TNR_NOEXCEPT;

/**
 * Copies a dense matrix of any strides into the layout of the right factor of `tnr_matmul`,
 * which each product else makes anew. It pays for products of few rows, whose time is that of
 * reading `b`, and for one `b` that is multiplied again and again. Any number of threads may
 * use it at once.
 *
 * The layout is that of the instruction set in use, and the memory is the context's: as many
 * bytes as `b` has; twice that for f16 and complex numbers, and for bf16 and bytes where the
 * processor does not multiply them; and in addition up to 32 columns, and for bytes some rows.
 * Later changes of `b` are not seen. No engine but the library's own takes it.
 *
 * INVALID_ARGUMENT: a rank that is not 2, an `a_dtype` that is not the dtype of `b`, unless
 * both are bytes. UNSUPPORTED: a dtype `tnr_matmul` does not take.
 * STALE_VIEW, BUSY: as operations. OUT_OF_MEMORY.
 *
 * @param context (transfer none) (nullable)
 * @param b (transfer none) `[k, n]`, copied
 * @param attributes (transfer none) (nullable)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_factor_release)
TNR_NODISCARD
struct tnr_factor *tnr_factor_create(struct tnr_context *context TNR_BORROWED,
                                     const struct tnr_view *b,
                                     const struct tnr_factor_attributes *attributes) TNR_NOEXCEPT;

/**
 * One more handle of the same packed factor, to be released too; the same pointer is returned.
 *
 * STALE_HANDLE: not a handle, or released before. BUSY: 16,777,215 handles.
 *
 * @param factor (transfer none)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_factor_release)
TNR_NODISCARD
struct tnr_factor *tnr_factor_retain(struct tnr_factor *factor TNR_BORROWED) TNR_NOEXCEPT;

/**
 * Describes a packed factor: dtype, shape and size.
 *
 * STALE_HANDLE: not a handle, or released before. BUSY: as `tnr_factor_retain`.
 * INVALID_ARGUMENT: `out->struct_size` is below the first version's, or over 4096.
 *
 * @param factor (transfer none)
 * @param out (transfer none) (inout) struct_size is read, the rest written
 * @threads any
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_factor_describe(const struct tnr_factor *factor TNR_BORROWED,
                               struct tnr_factor_info *out) TNR_NOEXCEPT;

/**
 * `out = activation(alpha * a b + beta * out + bias)`, as `tnr_matmul` computes it, with the
 * same bits. `a` may be a vector or have a batch, whose matrices are all multiplied by `b`.
 *
 * STALE_HANDLE: not a handle, or released before. BUSY: as `tnr_factor_retain`; a call counts
 * as one handle. INVALID_ARGUMENT: `a` has another dtype than `b` was packed for; and as
 * `tnr_matmul`. UNSUPPORTED, ALIASED: as `tnr_matmul`. OUT_OF_MEMORY; `out` is then untouched.
 *
 * @param context (transfer none) (nullable)
 * @param alpha (transfer none)
 * @param a (transfer none) `[..., m, k]` or `[k]`
 * @param b (transfer none) `[k, n]`
 * @param beta (transfer none)
 * @param attributes (transfer none) (nullable)
 * @param out (transfer none) `[..., m, n]`
 * @threads exclusive(out)
 * @since 0.2
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_factor_matmul(struct tnr_context *context TNR_BORROWED,
                             const struct tnr_scalar *alpha,
                             const struct tnr_view *a,
                             const struct tnr_factor *b TNR_BORROWED,
                             const struct tnr_scalar *beta,
                             const struct tnr_matmul_attributes *attributes,
                             const struct tnr_view_mut *out) TNR_NOEXCEPT;
#endif

/*
 * ------------------------------------------------------------------------------
 * 20. Kernels of the caller's own
 */

#if TNR_WANT_MINOR >= 2
/**
 * Flag of `tnr_kernel_parameter`: the kernel takes only the address of a view, `T *data`. The
 * elements are then in row-major order without gaps; any other view is INVALID_ARGUMENT.
 *
 * @since 0.2
 */
#define TNR_KERNEL_POINTER 1

/**
 * Most parameters of a kernel.
 *
 * @since 0.2
 */
#define TNR_MAX_KERNEL_PARAMETERS 32

/**
 * A kernel of the caller's own on a device, with the arguments that it was declared to take. Its
 * handle is a token like that of a blob, of a separate kind.
 *
 * @since 0.2
 */
typedef struct tnr_kernel tnr_kernel;

/**
 * Kind of a kernel's argument.
 *
 * @since 0.2
 */
typedef int32_t tnr_kernel_argument_kind;
/**
 * A view whose elements the kernel reads.
 */
#define TNR_KERNEL_ARGUMENT_KIND_INPUT 1
/**
 * A view whose elements the kernel writes; it may read them, too.
 */
#define TNR_KERNEL_ARGUMENT_KIND_OUTPUT 2
/**
 * A number.
 */
#define TNR_KERNEL_ARGUMENT_KIND_SCALAR 3

/**
 * One parameter of a kernel, as it was declared. The kernel gets it as one parameter, too:
 *
 * | kind | in CUDA C++, by value |
 * | --- | --- |
 * | SCALAR | `T` |
 * | INPUT, OUTPUT | `struct { T *data; long long shape[N]; long long strides[N]; }` |
 * | the same with `TNR_KERNEL_POINTER` | `T *` |
 *
 * `T` is a type of the bytes of the dtype, and N is `most_rank`; where that is 0, the struct is
 * the pointer. `data` is the element at index 0 on every axis, and strides are in elements, of any
 * sign. A view of fewer axes than N has axes of extent 1 and stride 0 in front. The stride of an
 * axis of extent 1 or 0 is 0. Without elements `data` may be NULL.
 *
 * @since 0.2
 */
typedef struct tnr_kernel_parameter {
  /**
   * Kind of its arguments.
   */
  tnr_kernel_argument_kind kind;
  /**
   * The dtype of its arguments, of whole bytes; of a number at most 16.
   */
  tnr_dtype dtype;
  /**
   * Fewest axes of its arguments; 0 for a number.
   */
  uint32_t least_rank;
  /**
   * Most axes of its arguments, at most `TNR_MAX_RANK`; 0 for a number.
   */
  uint32_t most_rank;
  /**
   * `TNR_KERNEL_POINTER`, or 0.
   */
  uint32_t flags;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_kernel_parameter;

/**
 * The code of a kernel, and its parameters. Set it to zeros, then set `struct_size` and the fields
 * that apply. Later versions append fields, in which 0 keeps the present behaviour. The library
 * does not use it after `tnr_kernel_create` returns.
 *
 * @since 0.2
 */
typedef struct tnr_kernel_options {
  /**
   * `sizeof(tnr_kernel_options)`.
   */
  uint64_t struct_size;
  /**
   * The kernel's name in the image, as the linker knows it: that of a function which is
   * `extern "C"`. In a source any expression that names it, `scale<float>` too. Ends with a 0; 1
   * to 1023 bytes.
   */
  const char *name;
  /**
   * A fat binary, a cubin, or PTX, of `image_bytes` bytes. NULL where there is a source.
   */
  const void *image;
  /**
   * Bytes of `image`.
   */
  uint64_t image_bytes;
  /**
   * CUDA C++, which ends with a 0: compiled by CUDA's NVRTC for the context's device. NULL where
   * there is an image.
   */
  const char *source;
  /**
   * Options of NVRTC, `compiler_option_count` strings which end with a 0. Products and sums are
   * not contracted unless an option requests it (`--fmad`, `--use_fast_math`); unless one names
   * an architecture, it is the device's. NULL only where there are none.
   */
  const char *const *compiler_options;
  /**
   * The kernel's parameters, `parameter_count` of them, in its order. NULL only where there are
   * none.
   */
  const struct tnr_kernel_parameter *parameters;
  /**
   * At most 64; 0 without a source.
   */
  uint32_t compiler_option_count;
  /**
   * At most `TNR_MAX_KERNEL_PARAMETERS`.
   */
  uint32_t parameter_count;
} tnr_kernel_options;

/**
 * How many blocks of how many threads a launch has. Set it to zeros, then set `struct_size` and
 * the fields that apply. Later versions append fields, in which 0 keeps the present behaviour.
 *
 * @since 0.2
 */
typedef struct tnr_kernel_grid {
  /**
   * `sizeof(tnr_kernel_grid)`.
   */
  uint64_t struct_size;
  /**
   * Blocks along x, y and z; each at least 1.
   */
  uint32_t blocks[3];
  /**
   * Threads of a block along x, y and z; each at least 1.
   */
  uint32_t threads[3];
  /**
   * Bytes of shared memory for each block, in addition to those that the kernel declares itself.
   */
  uint32_t shared_bytes;
  /**
   * 0.
   */
  uint32_t reserved;
} tnr_kernel_grid;

/**
 * One argument of a launch: the pointer that its parameter's kind asks for, and NULL for the
 * others.
 *
 * @since 0.2
 */
typedef struct tnr_kernel_argument {
  /**
   * For INPUT.
   */
  const struct tnr_view *input;
  /**
   * For OUTPUT.
   */
  const struct tnr_view_mut *output;
  /**
   * For SCALAR; of exactly the parameter's dtype.
   */
  const struct tnr_scalar *scalar;
} tnr_kernel_argument;

/**
 * Gives up one handle. The last release ends the kernel; launches of it are done as enqueued.
 * NULL is OK and does nothing. The status may be ignored.
 *
 * STALE_HANDLE: not a handle, or released before.
 *
 * @param kernel (transfer full) (nullable)
 * @threads any
 * @since 0.2
 */
TNR_API
tnr_status tnr_kernel_release(struct tnr_kernel *kernel TNR_OWNED) TNR_NOEXCEPT;

/**
 * Loads a kernel onto the context's device, for launches by any context with that device. The
 * driver reports the number of the kernel's parameters and the bytes of each, and
 * `options->parameters` must agree with them. The meaning of the parameters is not checked.
 *
 * Compiled code is kept, and used again for the same source, name, options and device. The
 * device keeps up to 32 kernels without handles; the end of one more waits for the device.
 *
 * INVALID_ARGUMENT: a context without a device; both a source and an image, or neither; an
 * image that is of none of these kinds, or is larger than `image_bytes` by its header; PTX or
 * a source that does not compile, with the words of the compiler; a name that no kernel has;
 * parameters that are none, or not the kernel's. UNSUPPORTED: an image without code for the
 * device; a source where NVRTC cannot be opened: `TENURE_NVRTC`, or without that variable
 * `libnvrtc.so.13` or `libnvrtc.so.12`. STALE_HANDLE: `context`. OUT_OF_MEMORY. DEVICE_ERROR.
 *
 * @param context (transfer none) (nullable)
 * @param options (transfer none)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_kernel_release)
TNR_NODISCARD
struct tnr_kernel *tnr_kernel_create(struct tnr_context *context TNR_BORROWED,
                                     const struct tnr_kernel_options *options) TNR_NOEXCEPT;

/**
 * One more handle of the same kernel, to be released too; the same pointer is returned.
 *
 * STALE_HANDLE: not a handle, or released before. BUSY: 16,777,215 handles.
 *
 * @param kernel (transfer none)
 * @return (transfer full) (nullable) NULL on failure
 * @threads any
 * @since 0.2
 */
TNR_API TNR_RETURNS_OWNED(tnr_kernel_release)
TNR_NODISCARD
struct tnr_kernel *tnr_kernel_retain(struct tnr_kernel *kernel TNR_BORROWED) TNR_NOEXCEPT;

/**
 * Enqueues a kernel on the context's stream. Views are lent to it as to an operation: their
 * blobs outlive the work, which comes after the earlier work on them, also of other contexts,
 * and before the later work. The caller is responsible for all memory that the kernel accesses
 * outside of its views' elements.
 *
 * INVALID_ARGUMENT: a context without a device, or of another than the kernel's; another
 * number of arguments than the kernel has parameters, or one of another kind, dtype or rank; a
 * view that is not row-major without gaps for `TNR_KERNEL_POINTER`; a view that may not be
 * written as an output; more blocks, threads or shared memory than the kernel can have on its
 * device, or 0 blocks or threads. UNSUPPORTED: a view on another device. ALIASED: an output
 * that shares a byte with another argument, or two of whose indices do. STALE_HANDLE:
 * `context`, `kernel`. STALE_VIEW, BUSY: as operations. DEVICE_ERROR: also for work before it;
 * the message names the kernel.
 *
 * @param context (transfer none) (nullable)
 * @param kernel (transfer none)
 * @param grid (transfer none)
 * @param arguments (transfer none) (counted-by argument_count)
 * @threads any
 * @since 0.2
 */
TNR_API TNR_READS(4, 5)
TNR_NODISCARD
tnr_status tnr_kernel_launch(struct tnr_context *context TNR_BORROWED,
                             const struct tnr_kernel *kernel TNR_BORROWED,
                             const struct tnr_kernel_grid *grid,
                             const struct tnr_kernel_argument *arguments,
                             uint32_t argument_count) TNR_NOEXCEPT;
#endif

/*
 * ------------------------------------------------------------------------------
 * 21. Statistics
 *
 * Operations and bytes, by kind and in all.
 */

/**
 * Process totals since start, ended threads included. Set `struct_size` before the call; later
 * versions append fields.
 */
typedef struct tnr_stats {
  /**
   * `sizeof(tnr_stats)`: the library writes no byte beyond it, and writes 0 to fields that it
   * does not know.
   */
  uint64_t struct_size;
  /**
   * Bytes allocated for blobs.
   */
  uint64_t allocated_bytes;
  /**
   * Bytes duplicated from memory that already held them. Results of operations are no copies.
   */
  uint64_t copied_bytes;
  /**
   * Blobs made.
   */
  uint64_t blobs_made;
  /**
   * Blobs finished.
   */
  uint64_t blobs_finished;
  /**
   * Bytes of ended blobs that the library holds back to use them again; a current value, not a
   * total. `tnr_memory_trim` gives them back.
   */
  uint64_t cached_bytes;
#if TNR_WANT_MINOR >= 2
  /**
   * Operations that succeeded.
   *
   * @since 0.2
   */
  uint64_t calls;
  /**
   * Bytes of the elements that they read, as `tnr_operation_stats` counts them.
   *
   * @since 0.2
   */
  uint64_t read_bytes;
  /**
   * Bytes of the elements that they wrote.
   *
   * @since 0.2
   */
  uint64_t written_bytes;
  /**
   * Kernels that were enqueued on devices.
   *
   * @since 0.2
   */
  uint64_t device_launches;
  /**
   * Times that a thread waited for a device.
   *
   * @since 0.2
   */
  uint64_t device_waits;
#endif
} tnr_stats;

/**
 * A kind of operation, as `tnr_operation_stats_read` counts them: one for each function that
 * computes, or for a few of one kind, whatever the operands are. Some are made of others, which
 * count too: `tnr_sparse_unary` is a UNARY of the values and nothing else.
 */
typedef int32_t tnr_operation;
/**
 * `tnr_copy`.
 */
#define TNR_OPERATION_COPY 1
/**
 * `tnr_cast`.
 */
#define TNR_OPERATION_CAST 2
/**
 * `tnr_fill`.
 */
#define TNR_OPERATION_FILL 3
/**
 * `tnr_unary`.
 */
#define TNR_OPERATION_UNARY 4
/**
 * `tnr_binary`, `tnr_binary_scalar`, `tnr_scalar_binary`.
 */
#define TNR_OPERATION_BINARY 5
/**
 * `tnr_compare`, `tnr_compare_scalar`.
 */
#define TNR_OPERATION_COMPARE 6
/**
 * `tnr_select`.
 */
#define TNR_OPERATION_SELECT 7
/**
 * `tnr_reduce`.
 */
#define TNR_OPERATION_REDUCE 8
#if TNR_WANT_MINOR >= 2
/**
 * `tnr_sparse_from_dense`, and with top k or dropout.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_FROM_DENSE 9
/**
 * `tnr_sparse_to_dense`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_TO_DENSE 10
/**
 * `tnr_sparse_convert`, `tnr_sparse_select`, `tnr_sparse_slice`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_CONVERT 11
/**
 * `tnr_sparse_coalesce`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_COALESCE 12
/**
 * `tnr_sparse_prune`, `tnr_sparse_top_k`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_PRUNE 13
/**
 * `tnr_sparse_product`, `tnr_sparse_product_masked`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_PRODUCT 14
/**
 * `tnr_sparse_matmul`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_MATMUL 15
/**
 * `tnr_sparse_sddmm`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_SDDMM 16
/**
 * `tnr_sparse_binary`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_BINARY 17
/**
 * `tnr_sparse_accumulate`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_ACCUMULATE 18
/**
 * `tnr_sparse_scale`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_SCALE 19
/**
 * `tnr_sparse_softmax`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_SOFTMAX 20
/**
 * `tnr_sparse_reduce`, `tnr_sparse_norm`, `tnr_sparse_diagonal`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_REDUCE 21
/**
 * `tnr_sparse_solve`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_SOLVE 22
/**
 * `tnr_packed_create`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_PACK 23
/**
 * `tnr_packed_matmul`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_PACKED_MATMUL 24
/**
 * `tnr_matmul`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_MATMUL 25
/**
 * `tnr_conv2d`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_CONV2D 26
/**
 * `tnr_einsum`. Its bytes are counted by the operations that it is made of.
 *
 * @since 0.2
 */
#define TNR_OPERATION_EINSUM 27
/**
 * `tnr_conv2d_transposed`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_CONV2D_TRANSPOSED 28
/**
 * `tnr_pool2d`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_POOL2D 29
/**
 * `tnr_batch_norm`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_BATCH_NORM 30
/**
 * `tnr_factor_create`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_FACTOR_PACK 31
/**
 * `tnr_factor_matmul`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_FACTOR_MATMUL 32
/**
 * `tnr_sparse_from_matmul`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_FROM_MATMUL 33
/**
 * `tnr_ternary`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_TERNARY 34
/**
 * `tnr_concat`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_CONCAT 35
/**
 * `tnr_pad`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_PAD 36
/**
 * `tnr_take`, `tnr_gather`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_TAKE 37
/**
 * `tnr_put`, `tnr_scatter`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_PUT 38
/**
 * `tnr_nonzero`, `tnr_masked_select`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_NONZERO 39
/**
 * `tnr_triangular`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_TRIANGULAR 40
/**
 * `tnr_normalize`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_NORMALIZE 41
/**
 * `tnr_scan`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SCAN 42
/**
 * `tnr_moments`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_MOMENTS 43
/**
 * `tnr_sort`, `tnr_top_k`, `tnr_partition`, `tnr_quantile`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SORT 44
/**
 * `tnr_searchsorted`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SEARCHSORTED 45
/**
 * `tnr_unique`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_UNIQUE 46
/**
 * `tnr_bincount`, `tnr_histogram`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_HISTOGRAM 47
/**
 * `tnr_random`, `tnr_random_permutation`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_RANDOM 48
/**
 * `tnr_sparse_concat`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_CONCAT 49
/**
 * `tnr_sparse_kron`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_KRON 50
/**
 * `tnr_sparse_triangular`.
 *
 * @since 0.2
 */
#define TNR_OPERATION_SPARSE_TRIANGULAR 51
/**
 * `tnr_evaluate`, and element-wise steps of programs.
 *
 * @since 0.2
 */
#define TNR_OPERATION_EVALUATE 52
#endif

/**
 * Totals of one kind of operation since the process started, ended threads included. Calls that
 * fail count nowhere. Set `struct_size` before the call; later versions append fields.
 */
typedef struct tnr_operation_stats {
  /**
   * `sizeof(tnr_operation_stats)`: the library writes no byte beyond it, and writes 0 to fields
   * that it does not know.
   */
  uint64_t struct_size;
  /**
   * Calls that succeeded.
   */
  uint64_t calls;
  /**
   * Bytes of the elements of the inputs; of a sparse one those of its offsets, indices and
   * values, as far as they are of its rows. An element that is repeated, by broadcasting or by a
   * stride of 0, counts once; an element of a `tnr_scalar` not at all; and nothing counts where
   * there was nothing to do: empty outputs, copies of a view to itself.
   */
  uint64_t read_bytes;
  /**
   * Bytes of the elements of the outputs; of a sparse one all three parts, where it is new.
   */
  uint64_t written_bytes;
  /**
   * Time from start to end of the calls that began while `tnr_stats_time_start` was in force, by
   * the clock of their callers: calls at the same moment add up, the threads within one do not.
   */
  uint64_t nanoseconds;
} tnr_operation_stats;

/**
 * Reads the process totals.
 *
 * INVALID_ARGUMENT: `stats->struct_size` is below the first version's, or over 4096.
 *
 * @param stats (transfer none) (inout) struct_size is read, the rest written
 * @threads any
 * @since 0.1
 */
TNR_API TNR_NODISCARD tnr_status tnr_stats_read(struct tnr_stats *stats) TNR_NOEXCEPT;

/**
 * From here on the time of each operation is taken, on every thread: two readings of the clock
 * for each call, some 50 ns. Off until asked for.
 *
 * @threads any
 * @since 0.1
 */
TNR_API
void tnr_stats_time_start(void) TNR_NOEXCEPT;

/**
 * Operations that begin from here on are not timed. The counts so far stay.
 *
 * @threads any
 * @since 0.1
 */
TNR_API void tnr_stats_time_stop(void) TNR_NOEXCEPT;

/**
 * Reads the totals of one kind of operation. Other threads may be adding to them: each number
 * is one that was reached, but not all at the same moment.
 *
 * INVALID_ARGUMENT: `operation` has no name, or `stats->struct_size` is below the first
 * version's, or over 4096.
 *
 * @param stats (transfer none) (inout) struct_size is read, the rest written
 * @threads any
 * @since 0.1
 */
TNR_API
TNR_NODISCARD
tnr_status tnr_operation_stats_read(tnr_operation operation,
                                    struct tnr_operation_stats *stats) TNR_NOEXCEPT;

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TENURE_TENURE_H */
