/* Generated from rust/tenure-sys/src/abi.rs by headergen. Do not edit. */

#ifndef TENURE_DEVICE_H
#define TENURE_DEVICE_H

#include "tenure/program.h"

/*
 * GPUs. A view of a device's memory is valid in calls through a context with that device, else
 * INVALID_ARGUMENT. Such calls enqueue work and return at once. Work that a result depends on runs
 * first, whichever context enqueued it. An operation that the device does not support is
 * UNSUPPORTED. Experimental.
 *
 * ```c
 * // A context on the first GPU, and 1 KiB of its memory.
 * tnr_context_options options = {sizeof options, 1};
 * options.device.kind = TNR_DEVICE_KIND_CUDA;
 * tnr_context *context = tnr_context_create(&options);
 * if (context != NULL) {
 *   tnr_blob *blob = tnr_blob_alloc(context, 1024);
 *   tnr_blob_release(blob);
 *   tnr_context_release(context);
 * }
 * ```
 */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ------------------------------------------------------------------------------
 * Devices
 *
 * Devices, the order of their work, and events.
 */

/**
 * The work that had been enqueued on a context's stream at one moment. A caller waits for it,
 * queries it, or orders other work after it.
 */
typedef struct tnr_event tnr_event;

/** A device, as `tnr_device_describe` reports it. */
typedef struct tnr_device_info {
  uint64_t struct_size;
  uint64_t memory_bytes;  /**< Bytes of its memory, used or free. */
  uint32_t capability_major;  /**< Major number of a GPU's compute capability: 9 for 9.0. */
  uint32_t capability_minor;  /**< Minor number of it: 0 for 9.0. */
  uint32_t multiprocessor_count;  /**< Processors that share a cache and run blocks of a kernel. */
  uint32_t reserved;
  char name[256];  /**< NUL-terminated. */
} tnr_device_info;

/**
 * How many devices of a kind there are; 1 for the CPU.
 *
 * UNSUPPORTED: no driver, or one that cannot be used; the message says why.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_device_count(tnr_device_kind kind, uint32_t *count) TNR_NOEXCEPT;

/**
 * Describes a device. For the CPU it gives only the name.
 *
 * INVALID_ARGUMENT: a device that is not there. UNSUPPORTED as `tnr_device_count`.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_device_describe(tnr_device device, tnr_device_info *info) TNR_NOEXCEPT;

/**
 * Waits for all work that was enqueued through the context; returns at once without a device.
 * Reports a failure of the device since the last wait.
 */
TNR_API TNR_NODISCARD tnr_status tnr_context_wait(tnr_context *context TNR_BORROWED) TNR_NOEXCEPT;

/**
 * Orders the work that `context` gets from here on after the work that `other` has got so far.
 * Between streams of devices the call does not wait; for a context of the CPU it waits for
 * `other`. Blobs do not need this: each call comes after the work of calls through other
 * contexts on its blobs.
 *
 * @param other (nullable)
 */
TNR_API TNR_NODISCARD
tnr_status tnr_context_follow(tnr_context *context TNR_BORROWED,
    tnr_context *other TNR_BORROWED) TNR_NOEXCEPT;

/** Gives up one handle. */
TNR_API tnr_status tnr_event_release(tnr_event *event TNR_OWNED) TNR_NOEXCEPT;

/**
 * Makes an event of the work that the context's stream has got so far; without a device, of
 * work of the CPU, which is done. It keeps the context.
 */
TNR_API TNR_RETURNS_OWNED(tnr_event_release) TNR_NODISCARD
tnr_event *tnr_event_create(tnr_context *context TNR_BORROWED) TNR_NOEXCEPT;

/**
 * Waits for the event's work. Memory of the CPU that copies in this work used is then no
 * longer in use.
 *
 * DEVICE_ERROR: also for a failure of the device since the last wait.
 */
TNR_API TNR_NODISCARD tnr_status tnr_event_wait(tnr_event *event TNR_BORROWED) TNR_NOEXCEPT;

/**
 * Whether the event's work is done, 1 or 0, without waiting. If it is, that has the effect of
 * `tnr_event_wait`.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_event_query(tnr_event *event TNR_BORROWED, uint32_t *is_done) TNR_NOEXCEPT;

/**
 * Orders the work that `context` gets from here on after the event's work, also across two
 * devices. The call waits only for a context of the CPU.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_context_follow_event(tnr_context *context TNR_BORROWED,
    tnr_event *event TNR_BORROWED) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * Kernels of the caller's own
 */

/**
 * Flag of `tnr_kernel_parameter`: the kernel takes only the address of a view, `T *data`. The
 * elements are then in row-major order without gaps; any other view is INVALID_ARGUMENT.
 */
#define TNR_KERNEL_POINTER 1

#define TNR_MAX_KERNEL_PARAMETERS 32  /**< Most parameters of a kernel. */

/** A kernel of the caller's own on a device, with the arguments that it was declared to take. */
typedef struct tnr_kernel tnr_kernel;

/** Kind of a kernel's argument. */
typedef int32_t tnr_kernel_argument_kind;
#define TNR_KERNEL_ARGUMENT_KIND_INPUT 1  /**< A view whose elements the kernel reads. */
/** A view whose elements the kernel writes; it may read them, too. */
#define TNR_KERNEL_ARGUMENT_KIND_OUTPUT 2
#define TNR_KERNEL_ARGUMENT_KIND_SCALAR 3  /**< A number. */

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
 */
typedef struct tnr_kernel_parameter {
  tnr_kernel_argument_kind kind;  /**< Kind of its arguments. */
  tnr_dtype dtype;  /**< The dtype of its arguments, of whole bytes; of a number at most 16. */
  uint32_t least_rank;  /**< Fewest axes of its arguments; 0 for a number. */
  uint32_t most_rank;  /**< Most axes of its arguments, at most `TNR_MAX_RANK`; 0 for a number. */
  uint32_t flags;  /**< `TNR_KERNEL_POINTER`, or 0. */
  uint32_t reserved;
} tnr_kernel_parameter;

/**
 * The code of a kernel, and its parameters. The library does not use it after `tnr_kernel_create`
 * returns.
 */
typedef struct tnr_kernel_options {
  uint64_t struct_size;
  /**
   * The kernel's name in the image, as the linker knows it: that of a function which is
   * `extern "C"`. In a source any expression that names it, `scale<float>` too. Ends with a 0; 1
   * to 1023 bytes.
   */
  const char *name;
  /** A fat binary, a cubin, or PTX, of `image_bytes` bytes. NULL where there is a source. */
  const void *image;
  uint64_t image_bytes;  /**< Bytes of `image`. */
  /**
   * CUDA C++, which ends with a 0: compiled by CUDA's NVRTC for the context's device. NULL where
   * there is an image.
   */
  const char *source;
  /**
   * Options of NVRTC, `compiler_option_count` strings which end with a 0. Products and sums are
   * not contracted unless an option requests it (`--fmad`, `--use_fast_math`); unless one names
   * an architecture, it is the device's.
   */
  const char *const *compiler_options;
  /** The kernel's parameters, `parameter_count` of them, in its order. */
  const tnr_kernel_parameter *parameters;
  uint32_t compiler_option_count;  /**< At most 64; 0 without a source. */
  uint32_t parameter_count;  /**< At most `TNR_MAX_KERNEL_PARAMETERS`. */
} tnr_kernel_options;

/** How many blocks of how many threads a launch has. */
typedef struct tnr_kernel_grid {
  uint64_t struct_size;
  uint32_t blocks[3];  /**< Blocks along x, y and z; each at least 1. */
  uint32_t threads[3];  /**< Threads of a block along x, y and z; each at least 1. */
  /**
   * Bytes of shared memory for each block, in addition to those that the kernel declares itself.
   */
  uint32_t shared_bytes;
  uint32_t reserved;
} tnr_kernel_grid;

/** One argument of a launch: the pointer of its parameter's kind, and NULL for the others. */
typedef struct tnr_kernel_argument {
  const tnr_view *input;  /**< For INPUT. */
  const tnr_view_mut *output;  /**< For OUTPUT. */
  const tnr_scalar *scalar;  /**< For SCALAR; of exactly the parameter's dtype. */
} tnr_kernel_argument;

/** Gives up one handle. Enqueued launches go on. */
TNR_API tnr_status tnr_kernel_release(tnr_kernel *kernel TNR_OWNED) TNR_NOEXCEPT;

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
 * `libnvrtc.so.13` or `libnvrtc.so.12`.
 */
TNR_API TNR_RETURNS_OWNED(tnr_kernel_release) TNR_NODISCARD
tnr_kernel *tnr_kernel_create(tnr_context *context TNR_BORROWED,
    const tnr_kernel_options *options) TNR_NOEXCEPT;

/** Makes one more handle. */
TNR_API TNR_RETURNS_OWNED(tnr_kernel_release) TNR_NODISCARD
tnr_kernel *tnr_kernel_retain(tnr_kernel *kernel TNR_BORROWED) TNR_NOEXCEPT;

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
 * that shares a byte with another argument, or two of whose indices do. DEVICE_ERROR: also for
 * work before it; the message names the kernel.
 */
TNR_API TNR_READS(4, 5) TNR_NODISCARD
tnr_status tnr_kernel_launch(tnr_context *context TNR_BORROWED,
    const tnr_kernel *kernel TNR_BORROWED, const tnr_kernel_grid *grid,
    const tnr_kernel_argument *arguments, uint32_t argument_count) TNR_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
