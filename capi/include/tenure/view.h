/* Generated from rust/tenure-sys/src/abi.rs by headergen. Do not edit. */

#ifndef TENURE_VIEW_H
#define TENURE_VIEW_H

#include "tenure/memory.h"

/*
 * Views: shapes over memory. A view is made in one call and changed by arithmetic on its shape and
 * strides; no function here copies an element.
 *
 * ```c
 * // Two rows and three columns of the caller's array, and its transpose.
 * float data[6] = {1, 2, 3, 4, 5, 6};
 * const int64_t shape[2] = {2, 3};
 * tnr_view rows, columns;
 * if (tnr_view_lend(data, sizeof data, 0, TNR_DTYPE_F32, 2, shape, NULL, &rows) != TNR_STATUS_OK ||
 *     tnr_view_transpose(&rows, 0, 1, &columns) != TNR_STATUS_OK) {
 *   fprintf(stderr, "%s\n", tnr_last_error()->message);
 * }
 * ```
 */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ------------------------------------------------------------------------------
 * Views
 *
 * A shape over memory, lent for a call. Every function may write its result over its input.
 * `offset_bytes` is where index 0 on every axis lies, from the lowest byte. `strides` are in
 * elements; NULL (allowed) is row-major. A rank over 8, a negative extent, an `axis` beyond the
 * rank, and an element that is misaligned or outside of the memory are INVALID_ARGUMENT. A dtype
 * without a whole number of bytes is UNSUPPORTED.
 */

#define TNR_MAX_RANK 8  /**< Most axes a view can have. */

/**
 * Most elements a view can have, 2^59 - 1: the bytes of this number of elements of 16 bytes fit an
 * i64. The bound also applies to a view that repeats elements by strides of 0.
 */
#define TNR_MAX_ELEMENTS 576460752303423487

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
  const void *base;  /**< Lowest byte lent. */
  /** Bytes lent from `base`: bounds the check, licenses no byte that is not an element. */
  uint64_t size_bytes;
  uint64_t owner;  /**< Token of the blob that holds the memory; 0: the caller vouches for it. */
  tnr_dtype dtype;  /**< Element type. */
  uint32_t rank;  /**< Number of axes, 0 to 8. */
  tnr_device device;  /**< Where the bytes are. */
  uint32_t flags;  /**< `TNR_VIEW_EXCLUSIVE` or 0; unknown bits are refused. */
  uint32_t bit_offset;  /**< 0 to 7 for dtypes under 8 bits, else 0. */
  uint64_t reserved;  /**< 0. */
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
  tnr_view view;  /**< The shape and the memory. */
} tnr_view_mut;

/** A view of a blob's memory. A use after the blob's end returns STALE_VIEW. */
TNR_API TNR_READS(5, 4) TNR_NODISCARD
tnr_status tnr_blob_view(const tnr_blob *blob TNR_BORROWED, size_t offset_bytes, tnr_dtype dtype,
    uint32_t rank, const int64_t *shape, const int64_t *strides, tnr_view *out) TNR_NOEXCEPT;

/**
 * A view that may be written, of a blob whose holder may write. Otherwise as `tnr_blob_view`;
 * also INVALID_ARGUMENT for a shared or borrowed blob, and ALIASED when two indices meet in
 * one byte.
 */
TNR_API TNR_READS(5, 4) TNR_NODISCARD
tnr_status tnr_blob_view_mut(tnr_blob *blob TNR_BORROWED, size_t offset_bytes, tnr_dtype dtype,
    uint32_t rank, const int64_t *shape, const int64_t *strides, tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Allocates an array in row-major order as `tnr_blob_alloc` does, and gives the view of all of
 * it, whose owner is the blob.
 */
TNR_API TNR_READS(4, 3) TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_alloc_view(tnr_context *context TNR_BORROWED, tnr_dtype dtype, uint32_t rank,
    const int64_t *shape, tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * A view of the caller's own memory, without a blob. It is lent anew to each call that gets
 * it.
 */
TNR_API TNR_READS(1, 2) TNR_READS(6, 5) TNR_NODISCARD
tnr_status tnr_view_lend(const void *base TNR_BORROWED, size_t size_bytes, size_t offset_bytes,
    tnr_dtype dtype, uint32_t rank, const int64_t *shape, const int64_t *strides,
    tnr_view *out) TNR_NOEXCEPT;

/**
 * Makes a view like `tnr_view_lend`, but to be written; also ALIASED when two indices may
 * share a byte.
 *
 * @param base (counted-by size_bytes)
 */
TNR_API TNR_SPANS(1, 2) TNR_READS(6, 5) TNR_NODISCARD
tnr_status tnr_view_lend_mut(void *base TNR_BORROWED, size_t size_bytes, size_t offset_bytes,
    tnr_dtype dtype, uint32_t rank, const int64_t *shape, const int64_t *strides,
    tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The number of elements of a view; -1 for a view that `tnr_view_check` refuses, except for
 * its owner, which is not checked. `tnr_last_error` has the reason.
 */
TNR_API int64_t tnr_view_count(const tnr_view *view) TNR_NOEXCEPT;

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
 * @param precision digits after the point, at most
 * @param size_bytes the room at `text`
 * @param text (out) (counted-by size_bytes) as much as there is room for, which ends with a 0
 * unless there is room for nothing;
 * @param needed_bytes (out) the bytes of the whole text with its 0; untouched on failure
 */
TNR_API TNR_WRITES(4, 3) TNR_NODISCARD
tnr_status tnr_view_format(const tnr_view *view, uint32_t precision, size_t size_bytes, char *text,
    size_t *needed_bytes) TNR_NOEXCEPT;

/**
 * Checks a view as every operation does: rank, extents, spans, alignment, device, reserved
 * words, and its owner.
 *
 * INVALID_ARGUMENT, UNSUPPORTED (dtype, device), STALE_VIEW (owner), BUSY (32,767 users).
 */
TNR_API TNR_NODISCARD tnr_status tnr_view_check(const tnr_view *view) TNR_NOEXCEPT;

/**
 * Checks a view as every operation does its output: as `tnr_view_check`; also ALIASED when two
 * indices may meet in one byte (each stride must exceed the reach of the smaller ones), and
 * INVALID_ARGUMENT when its owner's memory may not be written.
 */
TNR_API TNR_NODISCARD tnr_status tnr_view_check_mut(const tnr_view_mut *view) TNR_NOEXCEPT;

/**
 * The elements start, start + step, ... before stop, along one axis. With a negative step they
 * descend, and a `stop` of -1 includes index 0. There are no wrapped or clamped indices;
 * bounds that run against the step give an empty view.
 *
 * INVALID_ARGUMENT: step 0, or `start` or `stop` outside 0 to the extent (with a negative
 * step: outside -1 to the extent - 1).
 */
TNR_API TNR_NODISCARD
tnr_status tnr_view_slice(const tnr_view *view, uint32_t axis, int64_t start, int64_t stop,
    int64_t step, tnr_view *out) TNR_NOEXCEPT;

/**
 * The part at one index of an axis; the axis is gone from the result.
 *
 * INVALID_ARGUMENT: `index` outside the axis.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_view_index(const tnr_view *view, uint32_t axis, int64_t index,
    tnr_view *out) TNR_NOEXCEPT;

/**
 * Reorders the axes: axis i of the result is axis `axes[i]` of the view.
 *
 * INVALID_ARGUMENT: `rank` is not the view's, or `axes` is no permutation.
 */
TNR_API TNR_READS(3, 2) TNR_NODISCARD
tnr_status tnr_view_permute(const tnr_view *view, uint32_t rank, const uint32_t *axes,
    tnr_view *out) TNR_NOEXCEPT;

/** Exchanges two axes. */
TNR_API TNR_NODISCARD
tnr_status tnr_view_transpose(const tnr_view *view, uint32_t axis_a, uint32_t axis_b,
    tnr_view *out) TNR_NOEXCEPT;

/**
 * A view of the elements in row-major order under another shape, if strides can express it;
 * never a copy.
 *
 * INVALID_ARGUMENT: another element count, or a layout that only a copy could reshape.
 */
TNR_API TNR_READS(3, 2) TNR_NODISCARD
tnr_status tnr_view_reshape(const tnr_view *view, uint32_t rank, const int64_t *shape,
    tnr_view *out) TNR_NOEXCEPT;

/** Reshapes a view to one axis, as `tnr_view_reshape` does. */
TNR_API TNR_NODISCARD tnr_status tnr_view_flatten(const tnr_view *view, tnr_view *out) TNR_NOEXCEPT;

/**
 * Drops an axis of extent 1.
 *
 * INVALID_ARGUMENT: the extent is not 1.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_view_squeeze(const tnr_view *view, uint32_t axis, tnr_view *out) TNR_NOEXCEPT;

/**
 * Puts an axis of extent 1 before `axis` (at the end when `axis` is the rank).
 *
 * INVALID_ARGUMENT: `axis` is over the rank, or the rank is 8.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_view_unsqueeze(const tnr_view *view, uint32_t axis, tnr_view *out) TNR_NOEXCEPT;

/**
 * Repeats axes of extent 1, and puts axes in front, with stride 0, as NumPy broadcasts.
 *
 * INVALID_ARGUMENT: the shapes do not broadcast.
 */
TNR_API TNR_READS(3, 2) TNR_NODISCARD
tnr_status tnr_view_broadcast(const tnr_view *view, uint32_t rank, const int64_t *shape,
    tnr_view *out) TNR_NOEXCEPT;

/** Reverses an axis. */
TNR_API TNR_NODISCARD
tnr_status tnr_view_flip(const tnr_view *view, uint32_t axis, tnr_view *out) TNR_NOEXCEPT;

/**
 * The parts before and from `index` of an axis. They share no element.
 *
 * INVALID_ARGUMENT: `index` over the extent.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_view_split(const tnr_view *view, uint32_t axis, int64_t index, tnr_view *out_low,
    tnr_view *out_high) TNR_NOEXCEPT;

/**
 * Chunk number `index` of an axis cut into `chunk_count` parts whose extents differ by at most
 * one, the longer ones first.
 *
 * INVALID_ARGUMENT: `chunk_count` below 1, or `index` outside it.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_view_chunk(const tnr_view *view, uint32_t axis, int64_t chunk_count, int64_t index,
    tnr_view *out) TNR_NOEXCEPT;

/**
 * Sliding windows along an axis: its extent becomes the number of windows, and a new last axis
 * of extent `size` runs inside each. Windows overlap where `step` is below `size`.
 *
 * INVALID_ARGUMENT: `size` outside 1 to the extent, `step` below 1, rank 8.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_view_windows(const tnr_view *view, uint32_t axis, int64_t size, int64_t step,
    tnr_view *out) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * Exchange
 *
 * Tensors of other libraries, by DLPack and by CUDA's array interface. A function that imports
 * takes the tensor exactly when it succeeds; otherwise it is still the caller's.
 */

/** Flag of an export: the tensor is read-only, even if its memory may be written. */
#define TNR_EXPORT_READ_ONLY 1

/** DLPack's managed tensor as it was before version 1.0, without flags. */
typedef struct DLManagedTensor DLManagedTensor;

/**
 * DLPack's managed tensor as dlpack.h declares it since version 1.0: for exchange with other
 * libraries.
 */
typedef struct DLManagedTensorVersioned DLManagedTensorVersioned;

/**
 * DLPack's table of the functions of a library for objects of its own type, as dlpack.h declares
 * it since version 1.3. The capsule `__dlpack_c_exchange_api__` of a Python type holds it.
 */
typedef struct DLPackExchangeAPI DLPackExchangeAPI;

/**
 * An array in memory of a GPU, as version 3 of CUDA's array interface describes it: the entries of
 * a `__cuda_array_interface__`.
 */
typedef struct tnr_cuda_array {
  uint64_t struct_size;
  const void *data;  /**< The element at index 0 on every axis: the first entry of `data`. */
  uint32_t is_read_only;  /**< The second entry of `data`: 1 for a read-only array, else 0. */
  uint32_t rank;  /**< Number of axes. */
  /**
   * The stream after whose work the elements are ready: 1 for CUDA's legacy default stream, 2
   * for that of each thread, else a `CUstream`. 0 for None: they are ready.
   */
  uint64_t stream;
  char typestr[16];  /**< The element type, NUL-terminated: `<f4`, `|u1`, `<c16`. */
  /** 0 for `strides` that are None: row-major without gaps. 1 where `strides_bytes` has them. */
  uint32_t has_strides;
  uint32_t reserved;
  int64_t shape[TNR_MAX_RANK];  /**< Extent of each axis. */
  int64_t strides_bytes[TNR_MAX_RANK];  /**< `strides`: bytes from one index to the next. */
} tnr_cuda_array;

/**
 * Takes a tensor of another library: a blob over its elements, and a view of them with the
 * tensor's shape and strides. The end of the blob calls the tensor's deleter, once, on
 * whatever thread that is. A tensor that is marked read-only becomes a shared blob, any other
 * an adopted one.
 *
 * INVALID_ARGUMENT: `ndim` over 8 or negative, a negative extent, data that is NULL or
 * misaligned. UNSUPPORTED: a major version other than 1, a dtype under 8 bits, memory that is
 * not the CPU's.
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_import(struct DLManagedTensorVersioned *tensor TNR_OWNED,
    tnr_view *out) TNR_NOEXCEPT;

/**
 * Imports a tensor from before DLPack 1.0, as `tnr_blob_import` does. The blob may be written,
 * as such a tensor has no read-only flag.
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_import_legacy(struct DLManagedTensor *tensor TNR_OWNED,
    tnr_view *out) TNR_NOEXCEPT;

/**
 * Imports a tensor on the context's device, as `tnr_blob_import` does. The maker of the tensor
 * has ordered its work so that the elements are ready for work on the context's stream. The
 * blob keeps the context; its end waits for the work that uses it, and then calls the deleter.
 * Without a device this is `tnr_blob_import`.
 *
 * INVALID_ARGUMENT: also memory that the driver does not know as the device's, or manages.
 * UNSUPPORTED: also a tensor of another device than the context's.
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_import_on(tnr_context *context TNR_BORROWED,
    struct DLManagedTensorVersioned *tensor TNR_OWNED, tnr_view *out) TNR_NOEXCEPT;

/**
 * Imports a tensor from before DLPack 1.0, as `tnr_blob_import_on` does. The blob may be
 * written.
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_import_legacy_on(tnr_context *context TNR_BORROWED,
    struct DLManagedTensor *tensor TNR_OWNED, tnr_view *out) TNR_NOEXCEPT;

/**
 * Makes a tensor of DLPack 1.0 over the view's elements, for another library. It holds the
 * view's blob until its deleter is called, once, on any thread. It is read-only with
 * `TNR_EXPORT_READ_ONLY`, and if the blob is read-only; otherwise the consumer may write. It
 * is marked as copied if the blob is a copy.
 *
 * INVALID_ARGUMENT: as `tnr_view_check`; no owner, or one that is borrowed.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_view_export(const tnr_view *view, uint32_t flags,
    struct DLManagedTensorVersioned **out) TNR_NOEXCEPT;

/**
 * Exports a view as `tnr_view_export` does, as a tensor from before DLPack 1.0. Such a tensor
 * has no read-only flag, so the view must be one that may be written; also ALIASED as
 * `tnr_view_check_mut`.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_view_export_legacy(const tnr_view_mut *view,
    struct DLManagedTensor **out) TNR_NOEXCEPT;

/**
 * Exports a view on the context's device, as `tnr_view_export` does, for a consumer that works
 * on the context's stream. The elements are ready for work that the consumer enqueues from now
 * on. The deleter frees the memory for other uses after the work that the consumer has
 * enqueued until then. The tensor keeps the context. Without a device this is
 * `tnr_view_export`.
 *
 * INVALID_ARGUMENT: also a view of another device.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_view_export_on(tnr_context *context TNR_BORROWED, const tnr_view *view,
    uint32_t flags, struct DLManagedTensorVersioned **out) TNR_NOEXCEPT;

/**
 * Exports a view on the context's device: the tensor is as from `tnr_view_export_legacy`, the
 * order of work as from `tnr_view_export_on`.
 *
 * INVALID_ARGUMENT: also a view of another device.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_view_export_legacy_on(tnr_context *context TNR_BORROWED, const tnr_view_mut *view,
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
 * @param object_context (transfer none) the object, for the table: a `PyObject`
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_import_object(tnr_context *context TNR_BORROWED,
    const struct DLPackExchangeAPI *exchange TNR_BORROWED, void *object_context TNR_BORROWED,
    tnr_view *out) TNR_NOEXCEPT;

/**
 * Imports an array that CUDA's array interface describes, as `tnr_blob_import_on` does: a
 * read-only array becomes a shared blob, any other an adopted one. Work on the context's
 * stream comes after the work that the array's stream has got so far.
 * `release(release_context)` gives the array back, when the work that uses it is done.
 *
 * INVALID_ARGUMENT: also a context without a device, and strides that are no multiple of an
 * element. UNSUPPORTED: a `typestr` of no dtype here, or in the other byte order.
 *
 * @param context (transfer none)
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_import_array(tnr_context *context TNR_BORROWED, const tnr_cuda_array *array,
    tnr_release_fn release, void *release_context TNR_OWNED, tnr_view *out) TNR_NOEXCEPT;

/**
 * Describes a view on the context's device for CUDA's array interface. The elements are ready
 * in the order of the context's stream, which `out` names. The array does not hold the view's
 * blob: the caller keeps the blob until the user of the array is done. The array is read-only
 * if the blob is.
 *
 * INVALID_ARGUMENT: as `tnr_view_check`; a view without an owner or of another device, a
 * context without a device. UNSUPPORTED: bf16, which has no `typestr`.
 *
 * @param context (transfer none)
 */
TNR_API TNR_NODISCARD
tnr_status tnr_view_describe_array(tnr_context *context TNR_BORROWED, const tnr_view *view,
    tnr_cuda_array *out) TNR_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
