/* Generated from rust/tenure-sys/src/abi.rs by headergen. Do not edit. */

#ifndef TENURE_MEMORY_H
#define TENURE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "tenure/annotations.h"

/*
 * Versions, errors, element types, contexts, and memory with an owner.
 *
 * ```c
 * // 1 KiB that the library allocates and frees.
 * tnr_blob *blob = tnr_blob_alloc(NULL, 1024);
 * if (blob == NULL) {
 *   fprintf(stderr, "%s\n", tnr_last_error()->message);
 *   return;
 * }
 * float *values = (float *)tnr_blob_data_mut(blob);
 * if (values != NULL) values[0] = 1.0f;
 * tnr_blob_release(blob);
 * ```
 */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ------------------------------------------------------------------------------
 * Version
 *
 * The ABI that a program was compiled for, and the library that it found.
 */

/**
 * Major version of the ABI and the library's soname. It changes when a function that is not
 * experimental breaks.
 */
#define TNR_ABI_MAJOR 0

#define TNR_ABI_MINOR 1  /**< Minor version of the ABI. It rises with each addition. */

/**
 * Minor version of the ABI that the program targets. The headers hide declarations that were added
 * later, and structs that grow keep the size that they had. Define it before the first include. The
 * default is the minor version of these headers.
 */
#if !defined(TNR_WANT_MINOR)
#define TNR_WANT_MINOR 1
#endif
#if TNR_WANT_MINOR < 1 || TNR_WANT_MINOR > 1
#error "TNR_WANT_MINOR must be 1 to 1: this tenure.h is of ABI 0.1"
#endif

/** Version of the library that is loaded: major in the upper 16 bits, minor in the lower. */
TNR_API uint32_t tnr_abi_version(void) TNR_NOEXCEPT;

/**
 * One line with the build of the library (version, compiler, options, instruction sets,
 * engines) and the instruction set in use.
 */
TNR_API const char *tnr_build_info(void) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * Errors
 *
 * The status of a call, and the calling thread's last error.
 */

/** Result of a call; treat an unknown number as an error. */
typedef int32_t tnr_status;
#define TNR_STATUS_OK 0  /**< The call succeeded. */
/** An argument is wrong by itself or together with another one. */
#define TNR_STATUS_INVALID_ARGUMENT 1
#define TNR_STATUS_OUT_OF_MEMORY 2  /**< Memory could not be had; nothing changed. */
/** The arguments are right, but this build has no such operation for this dtype or device. */
#define TNR_STATUS_UNSUPPORTED 3
/**
 * The output overlaps an input, or two elements of the output share a byte, and the operation
 * does not support that.
 */
#define TNR_STATUS_ALIASED 4
#define TNR_STATUS_STALE_VIEW 5  /**< A view's owner has been released, or its borrow has ended. */
#define TNR_STATUS_STALE_HANDLE 6  /**< A handle is garbage, of another kind, or was released. */
#define TNR_STATUS_BUSY 7  /**< The memory is in use at this moment; call again. */
/**
 * Another handle still refers to the borrowed memory. Keep the memory, release the other
 * handle and repeat the call.
 */
#define TNR_STATUS_BORROW_ESCAPED 8
#define TNR_STATUS_DEVICE_ERROR 9  /**< A device failed. */
#define TNR_STATUS_INTERNAL 10  /**< The library broke a promise of its own: please report it. */

/** The calling thread's last failure, as `tnr_last_error` shows it. */
typedef struct tnr_error {
  /** Status of the failed call; `TNR_STATUS_OK` when none has failed on this thread. */
  tnr_status status;
  uint32_t reserved;
  /** The error, with the value and the bound: UTF-8, NUL-terminated, truncated if it is longer. */
  char message[504];
} tnr_error;

/** Name of a status, "INVALID_ARGUMENT" for example; "UNKNOWN" for a number without one. */
TNR_API const char *tnr_status_name(tnr_status status) TNR_NOEXCEPT;

/**
 * The calling thread's last failure. A call that succeeds does not change it, and neither does
 * a release callback, whatever it calls.
 *
 * @return (transfer none) valid until a call fails on this thread, or the thread ends
 */
TNR_API const tnr_error *tnr_last_error(void) TNR_NOEXCEPT;

/**
 * Sets the calling thread's last error. A callback that fails calls it, and then returns the
 * same status. OK sets nothing.
 *
 * @param message (nullable) NUL-terminated; copied, and truncated to fit `tnr_error`
 * @return `status`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_set_last_error(tnr_status status, const char *message) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * Elements
 *
 * Element types, numbers by value, and devices.
 */

/**
 * An element type. The bytes, lowest first, are DLPack's code, bits and (two bytes) lanes.
 *
 * A view may carry any whole-byte type that DLPack can name; operations return
 * `TNR_STATUS_UNSUPPORTED` for a dtype that is not in this list.
 */
typedef uint32_t tnr_dtype;
#define TNR_DTYPE_F64 81922  /**< IEEE binary64. */
#define TNR_DTYPE_F32 73730  /**< IEEE binary32. */
#define TNR_DTYPE_F16 69634  /**< IEEE binary16. */
#define TNR_DTYPE_BF16 69636  /**< bfloat16: the upper half of a binary32. */
#define TNR_DTYPE_I8 67584  /**< Signed, 8 bits. */
#define TNR_DTYPE_I16 69632  /**< Signed, 16 bits. */
#define TNR_DTYPE_I32 73728  /**< Signed, 32 bits. */
#define TNR_DTYPE_I64 81920  /**< Signed, 64 bits. */
#define TNR_DTYPE_U8 67585  /**< Unsigned, 8 bits. */
#define TNR_DTYPE_U16 69633  /**< Unsigned, 16 bits. */
#define TNR_DTYPE_U32 73729  /**< Unsigned, 32 bits. */
#define TNR_DTYPE_U64 81921  /**< Unsigned, 64 bits. */
/**
 * A truth value in a byte: any non-zero is true, and every operation writes 0 or 1. Lending,
 * adopting and copying memory do not change the bytes.
 */
#define TNR_DTYPE_BOOL8 67590
#define TNR_DTYPE_C64 81925  /**< Complex of two binary32, 8 bytes. */
#define TNR_DTYPE_C128 98309  /**< Complex of two binary64, 16 bytes. */

/**
 * One element by value. Its value must be representable in the dtype of the operand with which it
 * is combined, except that floats are rounded to a narrower one.
 */
typedef struct tnr_scalar {
  tnr_dtype dtype;  /**< How to read `bytes`. */
  uint32_t reserved;
  uint8_t bytes[16];  /**< The value in native byte order, from byte 0; the rest is ignored. */
} tnr_scalar;

/** A kind of device, numbered as DLPack numbers them. */
typedef int32_t tnr_device_kind;
#define TNR_DEVICE_KIND_CPU 1  /**< Memory that the CPU reads and writes. */
#define TNR_DEVICE_KIND_CUDA 2  /**< Memory of a GPU that CUDA's driver knows. */

/** Where bytes are. */
typedef struct tnr_device {
  tnr_device_kind kind;  /**< Which kind of device. */
  int32_t index;  /**< Which one of its kind, from 0; 0 for the CPU. */
} tnr_device;

/** Bytes of one element. Returns 0 for a dtype of zero lanes or with a part of a byte. */
TNR_API size_t tnr_dtype_size_bytes(tnr_dtype dtype) TNR_NOEXCEPT;

/** Short name of a dtype, "f32" for example; "unknown" for one that no operation takes. */
TNR_API const char *tnr_dtype_name(tnr_dtype dtype) TNR_NOEXCEPT;

/**
 * Makes a scalar of f64. It is rounded to the nearest value of an operand with a narrower
 * float dtype.
 */
TNR_API tnr_scalar tnr_scalar_f64(double value) TNR_NOEXCEPT;

/** Makes a scalar of i64, for operands of any dtype that represents its value. */
TNR_API tnr_scalar tnr_scalar_i64(int64_t value) TNR_NOEXCEPT;

/** One element of u64, for operands of any dtype that has its value. */
TNR_API tnr_scalar tnr_scalar_u64(uint64_t value) TNR_NOEXCEPT;

/** One element of c128. */
TNR_API tnr_scalar tnr_scalar_c128(double re, double im) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * Contexts
 *
 * Whose threads and whose memory a call uses. NULL is the default. Callbacks run with no lock held;
 * they may call the library but must not unwind.
 */

/** Threads, allocator, engine and device of a call. */
typedef struct tnr_context tnr_context;

/**
 * Asks for one more thread to work at a call: `tnr_task_run(task)` on another thread, at once,
 * later, never or twice, or on this one before it returns: the result of the call is the same.
 * Runs on a thread that calls with the context.
 */
typedef void (*tnr_spawn_fn)(void *user_context, uint64_t task);

/**
 * Memory for a blob: `size_bytes` bytes, at least 1, at a multiple of `alignment`, a power of two;
 * NULL when it has none. Runs on the thread that asks for the blob; several threads may ask at
 * once.
 */
typedef void *(*tnr_allocate_fn)(void *user_context, size_t size_bytes, size_t alignment);

/**
 * Takes back memory from the context's `tnr_allocate_fn`, with the size and alignment of its
 * request. Runs once for each allocation, on any thread.
 */
typedef void (*tnr_deallocate_fn)(void *user_context,
                                  void *data,
                                  size_t size_bytes,
                                  size_t alignment);

/**
 * Gives adopted or shared memory back, or the resources of a context's callbacks. Runs exactly
 * once, on any thread, also for empty memory.
 */
typedef void (*tnr_release_fn)(void *release_context);

/**
 * The implementation that computes products of dense matrices and convolutions. The promises of
 * these operations about bits and special values hold for the library's own kernels.
 */
typedef int32_t tnr_engine;
/**
 * The engine that the environment variable `TENURE_ENGINE` names (`own`, `onednn`, `auto` or
 * `vendor`) when it is first needed; OWN without that variable.
 */
#define TNR_ENGINE_ENVIRONMENT 0
/** The library's own kernels, which take every shape, stride and dtype. */
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

/** Options of a context. */
typedef struct tnr_context_options {
  uint64_t struct_size;
  uint32_t thread_count;  /**< Threads that work at one call, the caller among them: 1 to 1024. */
  uint32_t reserved;
  /** The caller's threads; NULL: `thread_count` - 1 threads of the context's own. */
  tnr_spawn_fn spawn;
  /** Where blobs get their memory; NULL, and then `deallocate` too: from the library. */
  tnr_allocate_fn allocate;
  tnr_deallocate_fn deallocate;  /**< Where they give it back. */
  void *user_context;  /**< Passed to the callbacks. */
  /**
   * Called once with `user_context`, after the last call of the other callbacks; NULL: no
   * notification.
   */
  tnr_release_fn release;
  tnr_engine engine;  /**< The engine of dense products and convolutions. */
  uint32_t reserved_end;
  /**
   * The device of the context's blobs, and of the views that it computes on. Kinds 0 and CPU
   * both mean the CPU. With a GPU, calls enqueue work on `stream` and return before it is done;
   * calls on views of the CPU still run on the CPU.
   */
  tnr_device device;
  /**
   * The stream of the device as a number: a `CUstream` of the caller's, which outlives the
   * context and all blobs that it made, or 1 for CUDA's legacy default stream. 0: a stream of
   * the context's own. 2, another stream on each thread, is refused.
   */
  uint64_t stream;
} tnr_context_options;

/**
 * Gives up the handle of a context. No new call may use it; calls and blobs that do keep it,
 * and the last of them ends it: its threads are joined, then its `release` runs.
 */
TNR_API tnr_status tnr_context_release(tnr_context *context TNR_OWNED) TNR_NOEXCEPT;

/**
 * Makes a context, and starts its threads. On failure no thread is left and nothing is called.
 *
 * INVALID_ARGUMENT: a `thread_count` of 0 or over 1024, one of `allocate` and `deallocate`
 * without the other, `reserved` or `reserved_end` that is not 0; a `device` that is not there,
 * or a `stream` without one or of another. UNSUPPORTED: an `engine` that is not in this build,
 * or that needs a GPU; a `device` where there is no driver, or one that is too old or has no
 * kernels here. OUT_OF_MEMORY: also for a thread that the system refuses, and for more than
 * 1024 contexts at once.
 */
TNR_API TNR_RETURNS_OWNED(tnr_context_release) TNR_NODISCARD
tnr_context *tnr_context_create(const tnr_context_options *options) TNR_NOEXCEPT;

/**
 * How many threads work at one call with this context, the caller among them: 1 for NULL, and
 * for every context in a child of `fork`; 0 on failure.
 *
 * @param context (nullable)
 */
TNR_API uint32_t tnr_context_thread_count(const tnr_context *context TNR_BORROWED) TNR_NOEXCEPT;

/**
 * Works at the call that `task` belongs to, until no part of it is left to begin, as a
 * `tnr_spawn_fn` requests. Does nothing when that call has returned, even if its context has
 * ended, and nothing for a number that no call has had.
 */
TNR_API void tnr_task_run(uint64_t task) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * Blobs
 *
 * Memory with a tenure: allocated, copied, adopted, shared or borrowed. `release(release_context)`
 * gives adopted or shared memory back; NULL: no notification. A call that fails takes nothing and
 * calls nothing. `data` may be NULL only for 0 bytes; else that is INVALID_ARGUMENT, and so are
 * more bytes than memory can have. A blob in the memory of a context's device or allocator keeps
 * the context.
 */

/** Memory with a tenure. */
typedef struct tnr_blob tnr_blob;

/** How a blob holds its memory: who frees it and who may write it. */
typedef int32_t tnr_tenure;
#define TNR_TENURE_ALLOCATED 1  /**< The library allocated it and frees it; the holder may write. */
/** The library allocated it, filled it with a copy and frees it; the holder may write. */
#define TNR_TENURE_COPIED 2
/** The caller's memory, freed by the caller's callback; the holder may write. */
#define TNR_TENURE_ADOPTED 3
/** The caller's memory, freed by the caller's callback; read-only for all while the blob lives. */
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

/** State of a blob at the time of the call. */
typedef struct tnr_blob_info {
  uint64_t struct_size;
  const void *data;  /**< Lowest byte; NULL only when `size_bytes` is 0. */
  uint64_t size_bytes;  /**< Bytes held. */
  tnr_device device;  /**< Where the bytes are. */
  tnr_tenure tenure;  /**< Who frees and who may write. */
  uint32_t holder_count;  /**< Handles not yet released. */
  uint32_t pin_count;  /**< Calls that are using the memory. */
  uint32_t reserved;
} tnr_blob_info;

/**
 * Gives up one handle. The end of the blob frees its memory, or runs its callback.
 *
 * BUSY: the last handle of a borrowed blob while a call uses it.
 */
TNR_API tnr_status tnr_blob_release(tnr_blob *blob TNR_OWNED) TNR_NOEXCEPT;

/**
 * Allocates `size_bytes` bytes, aligned to 64, from the context's allocator or on its device
 * where it has one. Their values are undefined.
 *
 * INVALID_ARGUMENT: its allocator gave misaligned memory.
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_alloc(tnr_context *context TNR_BORROWED, size_t size_bytes) TNR_NOEXCEPT;

/**
 * Allocates `size_bytes` bytes of the CPU's memory, aligned to 64, that the driver of the
 * context's device has pinned: the device reads and writes them itself while the CPU goes on.
 * Their values are undefined. Views of them are views of the CPU. Pinning takes long, and the
 * system cannot use pinned memory for anything else: keep the blob for the next copy.
 *
 * INVALID_ARGUMENT: a context without a device.
 *
 * @param context (transfer none)
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_alloc_pinned(tnr_context *context TNR_BORROWED, size_t size_bytes) TNR_NOEXCEPT;

/**
 * Allocates `size_bytes` bytes as `tnr_blob_alloc` does and copies `data`, of the CPU, into
 * them; counted by `tnr_stats_read`. Waits for a device.
 *
 * INVALID_ARGUMENT: misaligned memory from the context's allocator.
 */
TNR_API TNR_READS(2, 3) TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_copy(tnr_context *context TNR_BORROWED, const void *data TNR_BORROWED,
    size_t size_bytes) TNR_NOEXCEPT;

/**
 * Takes over memory that the holder may write.
 *
 * @param data (transfer full) (counted-by size_bytes)
 */
TNR_API TNR_SPANS(1, 2) TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_adopt(void *data TNR_OWNED, size_t size_bytes, tnr_release_fn release,
    void *release_context TNR_OWNED) TNR_NOEXCEPT;

/** Takes a share in memory that is not written while the blob lives. */
TNR_API TNR_READS(1, 2) TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_share(const void *data TNR_BORROWED, size_t size_bytes, tnr_release_fn release,
    void *release_context TNR_OWNED) TNR_NOEXCEPT;

/**
 * Borrows memory that is not written during the borrow. The caller keeps it until
 * `tnr_blob_end_borrow` returns OK, and then releases the handle.
 *
 * @param data (lifetimebound) (counted-by size_bytes)
 */
TNR_API TNR_READS(1, 2) TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_borrow(const void *data TNR_BORROWED TNR_LIFETIMEBOUND,
    size_t size_bytes) TNR_NOEXCEPT;

/**
 * Borrows memory that only the borrower reads and writes during the borrow. Otherwise like
 * `tnr_blob_borrow`.
 *
 * @param data (lifetimebound) (counted-by size_bytes)
 */
TNR_API TNR_SPANS(1, 2) TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_borrow_mut(void *data TNR_BORROWED TNR_LIFETIMEBOUND,
    size_t size_bytes) TNR_NOEXCEPT;

/**
 * Takes over memory of the context's device, as `tnr_blob_adopt` does that of the CPU. Work
 * that the caller enqueued on the memory comes first where it is on the context's stream, or
 * the context follows it. `release` runs when all work that uses the memory is done: the last
 * `tnr_blob_release` waits for that. Without a device this is `tnr_blob_adopt`.
 *
 * INVALID_ARGUMENT: as `tnr_blob_adopt`; memory that the driver does not know as the device's,
 * or manages.
 *
 * @param data (transfer full) (counted-by size_bytes)
 */
TNR_API TNR_SPANS(2, 3) TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_adopt_on(tnr_context *context TNR_BORROWED, void *data TNR_OWNED,
    size_t size_bytes, tnr_release_fn release, void *release_context TNR_OWNED) TNR_NOEXCEPT;

/**
 * Takes a share in memory of the context's device that is not written while the blob lives.
 * Otherwise like `tnr_blob_adopt_on`.
 */
TNR_API TNR_READS(2, 3) TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_share_on(tnr_context *context TNR_BORROWED, const void *data TNR_BORROWED,
    size_t size_bytes, tnr_release_fn release, void *release_context TNR_OWNED) TNR_NOEXCEPT;

/**
 * Borrows memory of the context's device that is not written during the borrow.
 * `tnr_blob_end_borrow` waits until the work that uses it is done. Errors as
 * `tnr_blob_adopt_on`.
 *
 * @param data (lifetimebound) (counted-by size_bytes)
 */
TNR_API TNR_READS(2, 3) TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_borrow_on(tnr_context *context TNR_BORROWED,
    const void *data TNR_BORROWED TNR_LIFETIMEBOUND, size_t size_bytes) TNR_NOEXCEPT;

/**
 * Borrows memory of the context's device that only the borrower reads and writes during the
 * borrow. Otherwise like `tnr_blob_borrow_on`.
 *
 * @param data (lifetimebound) (counted-by size_bytes)
 */
TNR_API TNR_SPANS(2, 3) TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_borrow_mut_on(tnr_context *context TNR_BORROWED,
    void *data TNR_BORROWED TNR_LIFETIMEBOUND, size_t size_bytes) TNR_NOEXCEPT;

/** Makes one more handle. */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_retain(tnr_blob *blob TNR_BORROWED) TNR_NOEXCEPT;

/**
 * Undoes an adopt: ends the handle and calls nothing; the memory is the caller's again. On
 * failure nothing changes.
 *
 * INVALID_ARGUMENT: not adopted, or not with this `release_context`. BUSY: held more than
 * once, or in use.
 *
 * @param blob ended on OK, else still the caller's to release
 * @param release_context (nullable) the one given to `tnr_blob_adopt`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_blob_reclaim(tnr_blob *blob TNR_BORROWED,
    void *release_context TNR_BORROWED) TNR_NOEXCEPT;

/**
 * Ends a borrow: from the first call on no new use starts (STALE_VIEW). OK: no call uses the
 * memory and no other handle holds it; it is the caller's again. Otherwise keep the memory and
 * call again. It ends the borrow, not the handle: release the handle once after OK.
 *
 * BUSY: a call uses the memory. BORROW_ESCAPED: another handle is not released.
 * INVALID_ARGUMENT: not borrowed.
 */
TNR_API TNR_NODISCARD tnr_status tnr_blob_end_borrow(tnr_blob *blob TNR_BORROWED) TNR_NOEXCEPT;

/**
 * The blob's lowest byte.
 *
 * @return (transfer none) (nullable) valid while the handle is; NULL on failure, and maybe for
 * empty memory
 */
TNR_API const void *tnr_blob_data(const tnr_blob *blob TNR_BORROWED) TNR_NOEXCEPT;

/**
 * The blob's lowest byte, to write to.
 *
 * INVALID_ARGUMENT: a shared or borrowed blob, which is read-only.
 *
 * @return (transfer none) (nullable) valid while the handle is; NULL on failure, and maybe for
 * empty memory
 * @threads exclusive(blob)
 */
TNR_API void *tnr_blob_data_mut(tnr_blob *blob TNR_BORROWED) TNR_NOEXCEPT;

/** Describes a blob. */
TNR_API TNR_NODISCARD
tnr_status tnr_blob_describe(const tnr_blob *blob TNR_BORROWED, tnr_blob_info *info) TNR_NOEXCEPT;

/**
 * Gives the memory of ended blobs that the library holds back to the system; returns how many
 * bytes. Blobs that live are not touched. How much is held back at most is set by the
 * environment variable `TENURE_CACHE_BYTES`, which is read once; 0: nothing is.
 */
TNR_API size_t tnr_memory_trim(void) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * Statistics
 *
 * Operations and bytes, by kind and in all.
 */

/** Process totals since start, ended threads included. */
typedef struct tnr_stats {
  uint64_t struct_size;
  uint64_t allocated_bytes;  /**< Bytes allocated for blobs. */
  /** Bytes duplicated from memory that already held them. Results of operations are no copies. */
  uint64_t copied_bytes;
  uint64_t blobs_made;  /**< Blobs made. */
  uint64_t blobs_finished;  /**< Blobs finished. */
  /**
   * Bytes of ended blobs that the library holds back to use them again; a current value, not a
   * total. `tnr_memory_trim` gives them back.
   */
  uint64_t cached_bytes;
  uint64_t calls;  /**< Operations that succeeded. */
  /** Bytes of the elements that they read, as `tnr_operation_stats` counts them. */
  uint64_t read_bytes;
  uint64_t written_bytes;  /**< Bytes of the elements that they wrote. */
  uint64_t device_launches;  /**< Kernels that were enqueued on devices. */
  uint64_t device_waits;  /**< Times that a thread waited for a device. */
} tnr_stats;

/**
 * A kind of operation, as `tnr_operation_stats_read` counts them: one for each function that
 * computes, or for a few of one kind, whatever the operands are. Some are made of others, which
 * count too: `tnr_sparse_unary` is a UNARY of the values and nothing else.
 */
typedef int32_t tnr_operation;
#define TNR_OPERATION_COPY 1  /**< `tnr_copy`. */
#define TNR_OPERATION_CAST 2  /**< `tnr_cast`. */
#define TNR_OPERATION_FILL 3  /**< `tnr_fill`. */
#define TNR_OPERATION_UNARY 4  /**< `tnr_unary`. */
#define TNR_OPERATION_BINARY 5  /**< `tnr_binary`, `tnr_binary_scalar`, `tnr_scalar_binary`. */
#define TNR_OPERATION_COMPARE 6  /**< `tnr_compare`, `tnr_compare_scalar`. */
#define TNR_OPERATION_SELECT 7  /**< `tnr_select`. */
#define TNR_OPERATION_REDUCE 8  /**< `tnr_reduce`. */
/** `tnr_sparse_from_dense`, and with top k or dropout. */
#define TNR_OPERATION_SPARSE_FROM_DENSE 9
#define TNR_OPERATION_SPARSE_TO_DENSE 10  /**< `tnr_sparse_to_dense`. */
/** `tnr_sparse_convert`, `tnr_sparse_select`, `tnr_sparse_slice`. */
#define TNR_OPERATION_SPARSE_CONVERT 11
#define TNR_OPERATION_SPARSE_COALESCE 12  /**< `tnr_sparse_coalesce`. */
#define TNR_OPERATION_SPARSE_PRUNE 13  /**< `tnr_sparse_prune`, `tnr_sparse_top_k`. */
#define TNR_OPERATION_SPARSE_PRODUCT 14  /**< `tnr_sparse_product`, `tnr_sparse_product_masked`. */
#define TNR_OPERATION_SPARSE_MATMUL 15  /**< `tnr_sparse_matmul`. */
#define TNR_OPERATION_SPARSE_SDDMM 16  /**< `tnr_sparse_sddmm`. */
#define TNR_OPERATION_SPARSE_BINARY 17  /**< `tnr_sparse_binary`. */
#define TNR_OPERATION_SPARSE_ACCUMULATE 18  /**< `tnr_sparse_accumulate`. */
#define TNR_OPERATION_SPARSE_SCALE 19  /**< `tnr_sparse_scale`. */
#define TNR_OPERATION_SPARSE_SOFTMAX 20  /**< `tnr_sparse_softmax`. */
/** `tnr_sparse_reduce`, `tnr_sparse_norm`, `tnr_sparse_diagonal`. */
#define TNR_OPERATION_SPARSE_REDUCE 21
#define TNR_OPERATION_SPARSE_SOLVE 22  /**< `tnr_sparse_solve`. */
#define TNR_OPERATION_SPARSE_PACK 23  /**< `tnr_packed_create`. */
#define TNR_OPERATION_SPARSE_PACKED_MATMUL 24  /**< `tnr_packed_matmul`. */
#define TNR_OPERATION_MATMUL 25  /**< `tnr_matmul`. */
#define TNR_OPERATION_CONV2D 26  /**< `tnr_conv2d`. */
/** `tnr_einsum`. Its bytes are counted by the operations that it is made of. */
#define TNR_OPERATION_EINSUM 27
#define TNR_OPERATION_CONV2D_TRANSPOSED 28  /**< `tnr_conv2d_transposed`. */
#define TNR_OPERATION_POOL2D 29  /**< `tnr_pool2d`. */
#define TNR_OPERATION_BATCH_NORM 30  /**< `tnr_batch_norm`. */
#define TNR_OPERATION_FACTOR_PACK 31  /**< `tnr_factor_create`. */
#define TNR_OPERATION_FACTOR_MATMUL 32  /**< `tnr_factor_matmul`. */
#define TNR_OPERATION_SPARSE_FROM_MATMUL 33  /**< `tnr_sparse_from_matmul`. */
#define TNR_OPERATION_TERNARY 34  /**< `tnr_ternary`. */
#define TNR_OPERATION_CONCAT 35  /**< `tnr_concat`. */
#define TNR_OPERATION_PAD 36  /**< `tnr_pad`. */
#define TNR_OPERATION_TAKE 37  /**< `tnr_take`, `tnr_gather`. */
#define TNR_OPERATION_PUT 38  /**< `tnr_put`, `tnr_scatter`. */
#define TNR_OPERATION_NONZERO 39  /**< `tnr_nonzero`, `tnr_masked_select`. */
#define TNR_OPERATION_TRIANGULAR 40  /**< `tnr_triangular`. */
#define TNR_OPERATION_NORMALIZE 41  /**< `tnr_normalize`. */
#define TNR_OPERATION_SCAN 42  /**< `tnr_scan`. */
#define TNR_OPERATION_MOMENTS 43  /**< `tnr_moments`. */
#define TNR_OPERATION_SORT 44  /**< `tnr_sort`, `tnr_top_k`, `tnr_partition`, `tnr_quantile`. */
#define TNR_OPERATION_SEARCHSORTED 45  /**< `tnr_searchsorted`. */
#define TNR_OPERATION_UNIQUE 46  /**< `tnr_unique`. */
#define TNR_OPERATION_HISTOGRAM 47  /**< `tnr_bincount`, `tnr_histogram`. */
#define TNR_OPERATION_RANDOM 48  /**< `tnr_random`, `tnr_random_permutation`. */
#define TNR_OPERATION_SPARSE_CONCAT 49  /**< `tnr_sparse_concat`. */
#define TNR_OPERATION_SPARSE_KRON 50  /**< `tnr_sparse_kron`. */
#define TNR_OPERATION_SPARSE_TRIANGULAR 51  /**< `tnr_sparse_triangular`. */
#define TNR_OPERATION_EVALUATE 52  /**< `tnr_evaluate`, and element-wise steps of programs. */
#define TNR_OPERATION_POOL2D_GRADIENT 53  /**< `tnr_pool2d_gradient`. */
#define TNR_OPERATION_CONV2D_FILTERS 54  /**< `tnr_conv2d_filters`. */
#define TNR_OPERATION_QUANTIZE 55  /**< `tnr_quantize`, `tnr_quantize_dynamic`. */
#define TNR_OPERATION_DEQUANTIZE 56  /**< `tnr_dequantize`. */
/** `tnr_quantized_matmul`, `tnr_factor_quantized_matmul`. */
#define TNR_OPERATION_QUANTIZED_MATMUL 57
#define TNR_OPERATION_QUANTIZED_CONV2D 58  /**< `tnr_quantized_conv2d`. */

/**
 * Totals of one kind of operation since the process started, ended threads included. Calls that
 * fail count nowhere.
 */
typedef struct tnr_operation_stats {
  uint64_t struct_size;
  uint64_t calls;  /**< Calls that succeeded. */
  /**
   * Bytes of the elements of the inputs; of a sparse one those of its offsets, indices and
   * values, as far as they are of its rows. An element that is repeated, by broadcasting or by a
   * stride of 0, counts once; an element of a `tnr_scalar` not at all; and nothing counts where
   * there was nothing to do: empty outputs, copies of a view to itself.
   */
  uint64_t read_bytes;
  /** Bytes of the elements of the outputs; of a sparse one all three parts, where it is new. */
  uint64_t written_bytes;
  /**
   * Time from start to end of the calls that began while `tnr_stats_time_start` was in force, by
   * the clock of their callers: calls at the same moment add up, the threads within one do not.
   */
  uint64_t nanoseconds;
} tnr_operation_stats;

/** Reads the process totals. */
TNR_API TNR_NODISCARD tnr_status tnr_stats_read(tnr_stats *stats) TNR_NOEXCEPT;

/**
 * From here on the time of each operation is taken, on every thread: two readings of the clock
 * for each call, some 50 ns. Off until asked for.
 */
TNR_API void tnr_stats_time_start(void) TNR_NOEXCEPT;

/** Operations that begin from here on are not timed. The counts so far stay. */
TNR_API void tnr_stats_time_stop(void) TNR_NOEXCEPT;

/**
 * Reads the totals of one kind of operation. Other threads may be adding to them: each number
 * is one that was reached, but not all at the same moment.
 *
 * INVALID_ARGUMENT: `operation` has no name.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_operation_stats_read(tnr_operation operation,
    tnr_operation_stats *stats) TNR_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
