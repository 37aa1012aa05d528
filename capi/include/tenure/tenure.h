/* Generated from rust/tenure-sys/src/abi.rs by headergen. Do not edit. */

#ifndef TENURE_TENURE_H
#define TENURE_TENURE_H

/*
 * Tenure computes on memory that the caller already has. Five kinds of objects cross this
 * boundary:
 *
 * - A **view** (`tnr_view`, `tnr_sparse_view`) is a plain struct: a pointer, a shape and strides.
 *   The caller may pass it to any number of calls; the library keeps no reference to it.
 * - A **blob** (`tnr_blob`) is a handle of memory. It records who frees the memory, who may write
 *   it, and when that ends. A view that names its blob as `owner` keeps the blob alive during a
 *   call.
 * - A **matrix** (`tnr_sparse`, `tnr_packed`, `tnr_factor`) is a handle of arrays that were
 *   checked once.
 * - A **program** (`tnr_program`) is a graph of operations. A `tnr_bound` is a program bound to
 *   the layouts of its inputs and outputs: binding checks them once, so that a run does not.
 * - A **context** (`tnr_context`) selects threads, an allocator, an engine and a device. NULL
 *   selects the calling thread and the library's memory.
 *
 * **Handles** are opaque tokens: the library looks them up and never dereferences them. A call
 * that gets an invalid, released or wrong-kind handle returns STALE_HANDLE. `_retain` returns the
 * same pointer as one more handle, up to 16,777,215 (BUSY), and a call that uses a matrix or a
 * program counts as one handle. Release each handle once. The last release ends the object when no
 * call uses it any more; a release of NULL does nothing, and its status may be ignored.
 *
 * **Errors** are statuses. A function that returns a handle returns NULL on failure.
 * `tnr_last_error` returns the message of the thread's last error: the argument, its value and the
 * bound. A call that fails writes nothing, unless its comment says otherwise. Comments do not
 * repeat errors that many calls have: INVALID_ARGUMENT for a number that no constant of its type
 * names, for unknown flags, and for an index that does not exist; OUT_OF_MEMORY wherever memory is
 * needed, STALE_HANDLE for handles, STALE_VIEW and BUSY for the owners of views, DEVICE_ERROR with
 * a device.
 *
 * **Arguments** of operations have one order: context, operation, inputs with their axes and
 * numbers, attributes, outputs. Required values are arguments; optional ones, and those that only
 * some operations of a function take, are attributes. `context` and `attributes` may be NULL, an
 * array where its count is 0, and any other pointer only where its comment says `(nullable)`. A
 * pointer that is not const, to a number or a struct, is written; the `struct_size` of such a
 * struct is read first. The library keeps no pointer beyond the call, unless the comment says
 * otherwise. Shapes are written as 8 extents, those beyond the rank 0. Strings end with a 0; those
 * that are returned live as long as the process.
 *
 * **Threads**: any thread may call any function. While a call runs, no other call may use the
 * memory of its `out`, and while a call changes a `tnr_graph`, no other call may use that graph.
 * Comments name further exceptions (`@threads`). Results of the library's own kernels have the
 * same bits for any number of threads. Arithmetic, casts, movement and reductions also have the
 * same bits under every instruction set; functions and products differ within their documented
 * bounds.
 *
 * **Growth**: set a struct that begins with `struct_size` to zeros, then set `struct_size` to its
 * `sizeof` and the fields that apply. Later versions append fields in which 0 keeps the present
 * behaviour. The library writes no byte beyond `struct_size`. A `struct_size` below that of the
 * first version or above 4096, and bytes that are not 0 beyond the known fields of a struct that
 * is only read, are INVALID_ARGUMENT. Fields named `reserved` are 0. Numbers are never reused.
 * `TNR_WANT_MINOR` hides the declarations of newer minor versions.
 *
 * program.h and device.h are experimental: a minor version may change their functions. The major
 * version changes when anything else breaks.
 *
 *
 * Contents:
 *
 *   memory.h   version, errors, elements, contexts, blobs, statistics
 *   view.h     views, exchange
 *   dense.h    operations, quantized numbers, movement of elements, normalization and scans, ordering, random numbers, packed factors
 *   sparse.h   sparse matrices, sparse conversions, sparse operations, packed matrices
 *   program.h  node kinds, expressions, programs
 *   device.h   devices, kernels of the caller's own
 */

#include "tenure/memory.h"
#include "tenure/view.h"
#include "tenure/dense.h"
#include "tenure/sparse.h"
#include "tenure/program.h"
#include "tenure/device.h"

#endif
