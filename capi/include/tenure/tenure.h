/* Generated from rust/tenure-sys/src/abi.rs by headergen. Do not edit. */

#ifndef TENURE_TENURE_H
#define TENURE_TENURE_H

/*
 * Tenure computes on memory that the caller already has. Five kinds of objects cross this boundary:
 *
 * - A **view** (`tnr_view`, `tnr_sparse_view`) is a plain struct: a pointer, a shape and strides.
 *   The caller may pass it to any number of calls; the library keeps no reference to it.
 * - A **blob** (`tnr_blob`) is a handle of memory. It records who frees the memory, who may write
 *   it, and when that ends. A view that names its blob as `owner` keeps the blob alive during a call.
 * - A **matrix** (`tnr_sparse`, `tnr_packed`, `tnr_factor`) is a handle of arrays that were checked
 *   once.
 * - A **program** (`tnr_program`) is a graph of operations. A `tnr_bound` is a program bound to the
 *   layouts of its inputs and outputs: binding checks them once, so that a run does not.
 * - A **context** (`tnr_context`) selects threads, an allocator, an engine and a device. NULL selects
 *   the calling thread and the library's memory.
 *
 * **Handles** are opaque tokens: the library looks them up and never dereferences them. A call that
 * gets an invalid, released or wrong-kind handle returns STALE_HANDLE. Release each handle once; a
 * release of NULL does nothing, and its status may be ignored.
 *
 * **Errors** are statuses. A function that returns a handle returns NULL on failure.
 * `tnr_last_error` returns the message of the thread's last error: the argument, its value and the
 * bound. A call that fails writes nothing, unless its comment says otherwise.
 *
 * **Arguments** of operations have one order: context, operation, inputs with their axes and numbers,
 * attributes, outputs. `context` and `attributes` may be NULL, any other pointer only where its
 * comment says `(nullable)`. An unknown attribute makes the call return INVALID_ARGUMENT.
 *
 * **Threads**: any thread may call any function. While a call runs, no other call may use the memory
 * of its `out`, and while a call changes a `tnr_graph`, no other call may use that graph. Comments
 * name further exceptions (`@threads`). Results of the library's own kernels have the same bits for
 * any number of threads. Arithmetic, casts, movement and reductions also have the same bits under
 * every instruction set; functions and products differ within their documented bounds.
 *
 * **Growth**: set a struct that begins with `struct_size` to zeros, then set `struct_size` to its
 * `sizeof` and the fields that apply. Later versions append fields in which 0 keeps the present
 * behaviour. The library writes no byte beyond `struct_size`. Fields named `reserved` are 0. Numbers
 * are never reused. `TNR_WANT_MINOR` hides the declarations of newer minor versions.
 *
 * program.h and device.h are experimental: a minor version may change their functions. The major
 * version changes when anything else breaks.
 *
 *
 * Contents:
 *
 *   memory.h   version, errors, elements, contexts, blobs, statistics
 *   view.h     views, exchange
 *   dense.h    operations, movement of elements, normalization and scans, ordering, random numbers, packed factors
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
