/* Generated from rust/tenure-sys/src/abi.rs by headergen. Do not edit. */

#ifndef TENURE_SPARSE_H
#define TENURE_SPARSE_H

#include "tenure/dense.h"

/*
 * Sparse matrices: lent by their arrays or held by a handle. No function writes indices of the
 * caller. Errors are those of dense.h and those that `tnr_sparse_check` finds, except in flags,
 * which are believed: a wrong flag never becomes an address. Offsets and indices are checked
 * before they are used. A call that writes to memory of the caller may find one that is out of
 * range after it has written a part of the output. The checks of a `tnr_sparse` are not repeated.
 * A result with more entries or a longer extent than its indices can count is INVALID_ARGUMENT:
 * use i64 then.
 *
 * ```c
 * // A matrix of 2 rows and 3 columns, as the three arrays of SciPy's CSR, and its largest column sum.
 * int32_t offsets[3] = {0, 2, 3}, columns[3] = {0, 2, 1};
 * double values[3] = {1, 2, 3}, norm;
 * tnr_sparse_view matrix = {sizeof matrix};
 * if (tnr_sparse_lend(TNR_SPARSE_FORMAT_CSR, 2, 3, TNR_DTYPE_I32, offsets, sizeof offsets, columns,
 *                     sizeof columns, TNR_DTYPE_F64, values, sizeof values,
 *                     &matrix) != TNR_STATUS_OK ||
 *     tnr_sparse_norm(NULL, TNR_SPARSE_NORM_KIND_ONE, &matrix, NULL, &norm) != TNR_STATUS_OK) {
 *   fprintf(stderr, "%s\n", tnr_last_error()->message);
 * }
 * ```
 */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ------------------------------------------------------------------------------
 * Sparse matrices
 *
 * Lent as views of three arrays, or held by a handle.
 */

/**
 * Flag of a sparse view: indices never fall within a row (CSC: a column; COO: entries are ordered
 * by row, then by column).
 */
#define TNR_SPARSE_SORTED 1

/** Flag of a sparse view: no position has two entries. With `TNR_SPARSE_SORTED`: coalesced. */
#define TNR_SPARSE_UNIQUE 2

#define TNR_SPARSE_MAX_BLOCK 16  /**< Most rows, and most columns, of a block of BSR. */

/** A sparse matrix: three blobs that it holds, in a batch four, and their format. */
typedef struct tnr_sparse tnr_sparse;

/** How the entries of a sparse matrix are laid out. CSC is the CSR of the transpose. */
typedef int32_t tnr_sparse_format;
#define TNR_SPARSE_FORMAT_COO 1  /**< Coordinates: each entry has a row and a column. */
/** Compressed rows: each entry has a column, each row the offset of its first entry. */
#define TNR_SPARSE_FORMAT_CSR 2
/** Compressed columns: each entry has a row, each column the offset of its first entry. */
#define TNR_SPARSE_FORMAT_CSC 3
#define TNR_SPARSE_FORMAT_BSR 4  /**< CSR whose entries are dense blocks of one size. */

/**
 * A sparse matrix over memory: a plain value, lent to the library for one call and never kept.
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
 */
typedef struct tnr_sparse_view {
  uint64_t struct_size;
  /**
   * Token of the `tnr_sparse` that this is a view of: all of it, a range of its rows, or one
   * matrix or a range of matrices of a batch. The checks that it has passed are not repeated. 0:
   * none.
   */
  uint64_t owner;
  tnr_sparse_format format;  /**< Meaning of `major`, `minor` and `values`. */
  uint32_t flags;  /**< `TNR_SPARSE_SORTED` and `TNR_SPARSE_UNIQUE`; unknown bits are refused. */
  int64_t rows;  /**< Rows of the whole matrix, in elements. */
  int64_t cols;  /**< Columns of the whole matrix, in elements. */
  /** Rows of a block, 1 to `TNR_SPARSE_MAX_BLOCK`, which divide `rows`; 1 unless BSR. */
  int64_t block_rows;
  /** Columns of a block, 1 to `TNR_SPARSE_MAX_BLOCK`, which divide `cols`; 1 unless BSR. */
  int64_t block_cols;
  tnr_view major;  /**< Offsets, of COO row indices. */
  tnr_view minor;  /**< Indices. */
  tnr_view values;  /**< The entries, of any dtype; in blocks in row-major order. */
  /**
   * All zeros for one matrix. For a batch `[batches + 1]`, i32 or i64 whatever the others are:
   * where the entries of each matrix begin.
   */
  tnr_view batch_offsets;
} tnr_sparse_view;

/** A sparse view whose values the callee may write. */
typedef struct tnr_sparse_view_mut {
  tnr_sparse_view view;  /**< The matrix. */
} tnr_sparse_view_mut;

/** Whether a matrix is meant as it is, or its transpose. */
typedef int32_t tnr_orientation;
#define TNR_ORIENTATION_AS_IS 1  /**< The matrix. */
#define TNR_ORIENTATION_TRANSPOSED 2  /**< Its transpose. Nothing is converted. */

/** Gives up one handle. The end of the matrix gives up its blobs. */
TNR_API tnr_status tnr_sparse_release(tnr_sparse *matrix TNR_OWNED) TNR_NOEXCEPT;

/**
 * A view of a matrix of COO, CSR or CSC over the caller's three arrays, without a blob. It is
 * lent anew to each call that gets it, which checks the indices that it uses. The other fields
 * are those of one matrix without flags. The number of entries is the number of indices in
 * `minor_bytes`.
 *
 * INVALID_ARGUMENT: an array misaligned, or NULL and not empty, or of another length than the
 * format requires; a negative `rows` or `cols`; indices of neither i32 nor i64; another
 * `format`.
 *
 * @param index_dtype of `major` and `minor`: i32 or i64
 * @param major (counted-by major_bytes) `rows + 1` offsets, of CSC `cols + 1`; of COO the row
 * index of each entry
 * @param minor (counted-by minor_bytes) the column index of each entry, of CSC the row index
 * @param dtype of `values`
 * @param values (counted-by values_bytes) the entries
 */
TNR_API TNR_READS(5, 6) TNR_READS(7, 8) TNR_READS(10, 11) TNR_NODISCARD
tnr_status tnr_sparse_lend(tnr_sparse_format format, int64_t rows, int64_t cols,
    tnr_dtype index_dtype, const void *major TNR_BORROWED, size_t major_bytes,
    const void *minor TNR_BORROWED, size_t minor_bytes, tnr_dtype dtype,
    const void *values TNR_BORROWED, size_t values_bytes, tnr_sparse_view *out) TNR_NOEXCEPT;

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
 * DEVICE_ERROR. On failure nothing is retained or sealed.
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release) TNR_NODISCARD
tnr_sparse *tnr_sparse_create(const tnr_sparse_view *parts) TNR_NOEXCEPT;

/** Makes one more handle. */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release) TNR_NODISCARD
tnr_sparse *tnr_sparse_retain(tnr_sparse *matrix TNR_BORROWED) TNR_NOEXCEPT;

/** A view of the whole matrix, with the matrix as its owner. */
TNR_API TNR_NODISCARD
tnr_status tnr_sparse_view_of(const tnr_sparse *matrix TNR_BORROWED,
    tnr_sparse_view *out) TNR_NOEXCEPT;

/**
 * The blobs of a matrix, each retained for the caller, who releases it: also the same blob
 * twice. `tnr_sparse_view_of` shows where a part begins in its blob.
 * `tnr_sparse_batch_offsets` gives the blob of `batch_offsets`.
 *
 * BUSY: a blob has 16,777,215 handles.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_sparse_parts(const tnr_sparse *matrix TNR_BORROWED, tnr_blob **major,
    tnr_blob **minor, tnr_blob **values) TNR_NOEXCEPT;

/**
 * The blob of a batch's `batch_offsets`, retained for the caller, who releases it; NULL for
 * one matrix.
 *
 * BUSY: the blob has 16,777,215 handles.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_sparse_batch_offsets(const tnr_sparse *matrix TNR_BORROWED,
    tnr_blob **offsets) TNR_NOEXCEPT;

/**
 * A view of matrix `index` of a batch: parts of the same arrays, with the same owners, so
 * nothing is copied, and earlier checks are not repeated.
 *
 * INVALID_ARGUMENT: errors that `tnr_sparse_check` finds in the shape and in `batch_offsets`;
 * no batch; an `index` out of range.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_sparse_batch_at(const tnr_sparse_view *batch, int64_t index,
    tnr_sparse_view *out) TNR_NOEXCEPT;

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
 */
TNR_API TNR_NODISCARD tnr_status tnr_sparse_check(const tnr_sparse_view *view) TNR_NOEXCEPT;

/**
 * Checks a matrix whose values are to be written: as `tnr_sparse_check`; also ALIASED when
 * they share bytes with offsets or indices, and INVALID_ARGUMENT when their owner may not be
 * written.
 */
TNR_API TNR_NODISCARD tnr_status tnr_sparse_check_mut(const tnr_sparse_view_mut *view) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * Sparse conversions
 *
 * From dense and to dense, between formats, and parts of a matrix.
 */

/**
 * Flag of `tnr_sparse_from_dense_attributes`, `tnr_sparse_prune_attributes` and
 * `tnr_sparse_from_matmul_attributes`, for NON_ZERO: -0.0 is an entry too.
 */
#define TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO 1

/**
 * Flag of `tnr_sparse_convert_attributes`: the result is SORTED. Without it, entries keep the
 * order that they had, as far as the format has one.
 */
#define TNR_CONVERT_SORT 2

/**
 * Which elements of a dense matrix become entries of a sparse one. A NaN does, whatever it is
 * compared with.
 */
typedef int32_t tnr_sparse_predicate;
/** Elements that are not zero. -0.0 is zero, unless `TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO` is set. */
#define TNR_SPARSE_PREDICATE_NON_ZERO 0
/** `x > threshold`, also those of value zero where the threshold is negative. */
#define TNR_SPARSE_PREDICATE_GREATER 1
/** `|x| > threshold`; the threshold is not negative. */
#define TNR_SPARSE_PREDICATE_MAGNITUDE_GREATER 2
#define TNR_SPARSE_PREDICATE_MASK 3  /**< Elements where the mask is true, whatever their values. */

/** Attributes of `tnr_sparse_from_dense`. */
typedef struct tnr_sparse_from_dense_attributes {
  uint64_t struct_size;
  /** Dtype of offsets and indices: `TNR_DTYPE_I32` or `TNR_DTYPE_I64`; 0 means i32. */
  tnr_dtype index_dtype;
  tnr_sparse_predicate predicate;  /**< Which elements are entries. */
  uint32_t flags;  /**< `TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO`, or 0. */
  uint32_t reserved;
  int64_t block_rows;  /**< Rows of a block of BSR; 0 otherwise. */
  int64_t block_cols;  /**< Columns of a block of BSR; 0 otherwise. */
  /** Operand of the predicate; zeros for predicates that have none. */
  tnr_scalar threshold;
  /** bool8, of the dense matrix's shape, for `TNR_SPARSE_PREDICATE_MASK`; else NULL. */
  const tnr_view *mask;
} tnr_sparse_from_dense_attributes;

/** Order by which the largest entries are chosen. NaN is less than everything. */
typedef int32_t tnr_sparse_order;
#define TNR_SPARSE_ORDER_VALUE 1  /**< Their values. */
#define TNR_SPARSE_ORDER_MAGNITUDE 2  /**< Their values without the signs. */

/** Attributes of `tnr_sparse_from_dense_top_k`. */
typedef struct tnr_sparse_top_k_attributes {
  uint64_t struct_size;
  /** Dtype of the indices: `TNR_DTYPE_I32` or `TNR_DTYPE_I64`; 0 means i32. */
  tnr_dtype index_dtype;
  uint32_t reserved;
} tnr_sparse_top_k_attributes;

/** Attributes of `tnr_sparse_from_dense_dropout`. */
typedef struct tnr_sparse_dropout_attributes {
  uint64_t struct_size;
  /** Dtype of the indices: `TNR_DTYPE_I32` or `TNR_DTYPE_I64`; 0 means i32. */
  tnr_dtype index_dtype;
  uint32_t reserved;
} tnr_sparse_dropout_attributes;

/** Attributes of `tnr_sparse_from_matmul`. */
typedef struct tnr_sparse_from_matmul_attributes {
  uint64_t struct_size;
  /** `[n]`, of the dtype of the result: added to each row of the product. NULL: nothing is. */
  const tnr_view *bias;
  tnr_unary_op activation;  /**< Applied to each element of the product, after that; 0: none. */
  /** Dtype of the indices: `TNR_DTYPE_I32` or `TNR_DTYPE_I64`; 0 means i32. */
  tnr_dtype index_dtype;
  tnr_sparse_predicate predicate;  /**< Which elements of the result are entries; not MASK. */
  uint32_t flags;  /**< `TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO`, or 0. */
  tnr_scalar threshold;  /**< Operand of the predicate; zeros for NON_ZERO. */
} tnr_sparse_from_matmul_attributes;

/** Attributes of `tnr_sparse_convert`. */
typedef struct tnr_sparse_convert_attributes {
  uint64_t struct_size;
  /** Dtype of offsets and indices: `TNR_DTYPE_I32` or `TNR_DTYPE_I64`; 0 means that of `a`. */
  tnr_dtype index_dtype;
  uint32_t flags;  /**< `TNR_CONVERT_SORT`, or 0. */
  int64_t block_rows;  /**< Rows of a block of BSR; 0 otherwise. */
  int64_t block_cols;  /**< Columns of a block of BSR; 0 otherwise. */
} tnr_sparse_convert_attributes;

/** How several entries of one position are combined. */
typedef int32_t tnr_sparse_combine;
/** Their sum, from the first to the last: of integers wrapping, of 16-bit floats rounded once. */
#define TNR_SPARSE_COMBINE_SUM 1
#define TNR_SPARSE_COMBINE_MIN 2  /**< The least; NaN if one is. */
#define TNR_SPARSE_COMBINE_MAX 3  /**< The greatest; NaN if one is. */
#define TNR_SPARSE_COMBINE_LAST 4  /**< The last of them, as they were in order. */

/** Attributes of `tnr_sparse_prune`. */
typedef struct tnr_sparse_prune_attributes {
  uint64_t struct_size;
  tnr_sparse_predicate predicate;  /**< Which entries are kept; not MASK. */
  uint32_t flags;  /**< `TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO`, or 0. */
  tnr_scalar threshold;  /**< Operand of the predicate; zeros for NON_ZERO. */
} tnr_sparse_prune_attributes;

/** How `tnr_sparse_concat` joins matrices. */
typedef int32_t tnr_sparse_join;
#define TNR_SPARSE_JOIN_ROWS 1  /**< From top to bottom; all have the same number of columns. */
#define TNR_SPARSE_JOIN_COLS 2  /**< From left to right; all have the same number of rows. */
/**
 * Blocks on the diagonal: each begins below, and to the right of, the end of the one before
 * it.
 */
#define TNR_SPARSE_JOIN_DIAGONAL 3

/**
 * The entries of a dense matrix: those elements that the attributes' predicate names, each
 * once and in order, so the result is SORTED and UNIQUE. A block of BSR is an entry as soon as
 * one of its elements is; the others of it keep their values, with GREATER, MAGNITUDE_GREATER
 * and MASK too.
 *
 * Elements `[rows, cols]` make a matrix, `[batches, rows, cols]` a batch, with i64
 * `batch_offsets`.
 *
 * Takes memory for the result, for the entries of a panel of columns of each thread in CSC
 * (1.2 MiB where a tenth of the elements are entries, 24 MiB at most), up to 2 MiB for each
 * thread in other formats, and for a batch in COO an index for each row.
 *
 * On a device it gives COO, CSR or CSC of one matrix, and waits for the number of entries.
 * Until then it has room for entries of one in eight elements, or of 65,536; where there are
 * more, the elements are read twice.
 *
 * INVALID_ARGUMENT: a rank that is not 2 or 3, a threshold that is NaN or does not fit the
 * dtype, a mask of another shape or dtype, blocks that do not divide the shape or are below 1.
 * UNSUPPORTED: elements of 16 bytes; bool8 and complex ones with GREATER and
 * MAGNITUDE_GREATER; blocks over `TNR_SPARSE_MAX_BLOCK`.
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release) TNR_NODISCARD
tnr_sparse *tnr_sparse_from_dense(tnr_context *context TNR_BORROWED, tnr_sparse_format format,
    const tnr_view *dense, const tnr_sparse_from_dense_attributes *attributes) TNR_NOEXCEPT;

/**
 * The `k` largest elements of each row of a dense matrix, as CSR: `k` entries in each row,
 * zeros too if they are among them; of equals the first. A NaN is less than everything, so it
 * is taken last. The result is SORTED and UNIQUE. Each thread takes 8 KiB, 32 bytes for each
 * of `k`, and a row where its elements are not contiguous.
 *
 * INVALID_ARGUMENT: a rank that is not 2, a `k` that is negative or above the columns.
 * UNSUPPORTED: elements that are complex, bool8 or integers of 64 bits.
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release) TNR_NODISCARD
tnr_sparse *tnr_sparse_from_dense_top_k(tnr_context *context TNR_BORROWED, tnr_sparse_order order,
    const tnr_view *dense, int64_t k, const tnr_sparse_top_k_attributes *attributes) TNR_NOEXCEPT;

/**
 * Dropout on a dense matrix, as CSR: each element becomes 0 with the probability given, by a
 * random number of its own, and is multiplied by `1 / (1 - probability)` else, which is
 * rounded to the dtype first. A 0 is no entry; a NaN that is not dropped is. Whether an
 * element is dropped depends only on the seed and on its index in row-major order. SORTED and
 * UNIQUE; reads and takes memory as `tnr_sparse_from_dense`.
 *
 * Element i is dropped where `tnr_random` by BERNOULLI, with the same probability and seed and
 * an offset of 0, is true: where word i of Philox4x32-10 is below the probability times 2^32,
 * rounded (docs/random.md).
 *
 * INVALID_ARGUMENT: a rank that is not 2, a probability that is not at least 0 and below 1 or
 * whose factor overflows the dtype. UNSUPPORTED: elements that are no floats.
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release) TNR_NODISCARD
tnr_sparse *tnr_sparse_from_dense_dropout(tnr_context *context TNR_BORROWED, const tnr_view *dense,
    double probability, uint64_t seed,
    const tnr_sparse_dropout_attributes *attributes) TNR_NOEXCEPT;

/**
 * The entries of `activation(alpha * a b + bias)`, as CSR: the product of dense matrices is
 * computed some rows at a time, and the elements of these that the attributes' predicate names
 * become entries. Each value has the bits of `tnr_matmul`, and the matrix is that of
 * `tnr_sparse_from_dense`: SORTED and UNIQUE.
 *
 * Dtypes, `alpha`, bias and activation are those of `tnr_matmul`, as far as
 * `tnr_sparse_from_dense` takes the dtype of the product; bytes give i32. Takes memory for the
 * result, for the factors as `tnr_matmul`, and for 512 rows of the product, or 8 MiB of it
 * where these have more. Where there are more rows, and the context has an allocator of its
 * own, which cannot give memory whose size is known only at the end, products are computed
 * twice.
 *
 * INVALID_ARGUMENT: as `tnr_matmul`, and a rank that is not 2; a threshold as of
 * `tnr_sparse_from_dense`, and MASK.
 *
 * @param a `[m, k]`
 * @param b `[k, n]`
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release) TNR_NODISCARD
tnr_sparse *tnr_sparse_from_matmul(tnr_context *context TNR_BORROWED, const tnr_scalar *alpha,
    const tnr_view *a, const tnr_view *b,
    const tnr_sparse_from_matmul_attributes *attributes) TNR_NOEXCEPT;

/**
 * Writes a matrix to dense memory `[rows, cols]`, a batch to `[batches, rows, cols]`: zeros,
 * and the entries where they are. Several entries for one position are added up, in their
 * order; with the flag UNIQUE a position has one entry at most, and the dtype may be one
 * without sums. A sum of f16 or bf16 is rounded once: where they are not UNIQUE and those of a
 * row do not rise, the matrix is coalesced first, and takes memory for it.
 *
 * On a device `a` is CSR or CSC; of f16 or bf16 it is UNIQUE. Waits, unless offsets and
 * indices are those of a `tnr_sparse`.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_sparse_to_dense(tnr_context *context TNR_BORROWED, const tnr_sparse_view *a,
    const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Converts a matrix to another format, to another index type, or to entries in order
 * (`TNR_CONVERT_SORT`). Every entry is kept, duplicates and zeros too, with its bytes: NaN
 * payloads and the signs of zeros stay, and a bool8 that is not 0 becomes 1. The transpose of
 * a CSR needs no conversion: it is a CSC view of the same arrays.
 *
 * Within a row of CSR, or a column of CSC, entries stay in the order that they had; a result
 * that comes from the other of the two is SORTED. CSC to COO orders them by columns. Each
 * element of a block of BSR becomes an entry; where BSR is made, the other elements of a block
 * are zero.
 *
 * Takes memory for one more copy of the result while it lasts, two where CSR or COO is sorted,
 * and offsets of rows and columns.
 *
 * On a device COO becomes CSR, CSC or COO, and CSR and CSC keep their format. The index type
 * stays, values have up to 8 bytes, and there are fewer than 2^31 entries. Waits for the check
 * of the indices; takes 20 bytes for each entry while it lasts, and 4 where none is moved.
 *
 * INVALID_ARGUMENT: blocks that do not divide the shape, a duplicate where BSR is made.
 * UNSUPPORTED: values that have not 1, 2, 4, 8 or 16 bytes, blocks over
 * `TNR_SPARSE_MAX_BLOCK`.
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release) TNR_NODISCARD
tnr_sparse *tnr_sparse_convert(tnr_context *context TNR_BORROWED, tnr_sparse_format format,
    const tnr_sparse_view *a, const tnr_sparse_convert_attributes *attributes) TNR_NOEXCEPT;

/**
 * Puts the entries of a matrix in order, and combines the entries of one position to one by
 * `combine`. Entries that are zero, or become it, are kept. The result has the format and the
 * index type of `a`; a COO is ordered by rows.
 *
 * Takes memory as `tnr_sparse_convert` does where entries have to be sorted.
 *
 * On a device `a` has fewer than 2^31 entries, of up to 8 bytes. Waits for the number of
 * entries of the result; takes 20 bytes for each entry of `a` while it lasts, and 4 where they
 * have the flag SORTED.
 *
 * UNSUPPORTED: BSR; values that have no such operation.
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release) TNR_NODISCARD
tnr_sparse *tnr_sparse_coalesce(tnr_context *context TNR_BORROWED, tnr_sparse_combine combine,
    const tnr_sparse_view *a, const tnr_extension *attributes) TNR_NOEXCEPT;

/**
 * The entries of `a` that the attributes' predicate names, in the same order, format and index
 * type.
 *
 * INVALID_ARGUMENT: MASK, and a threshold that is NaN or does not fit the dtype. UNSUPPORTED:
 * BSR; values of 16 bytes; bool8 and complex ones with GREATER and MAGNITUDE_GREATER.
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release) TNR_NODISCARD
tnr_sparse *tnr_sparse_prune(tnr_context *context TNR_BORROWED, const tnr_sparse_view *a,
    const tnr_sparse_prune_attributes *attributes) TNR_NOEXCEPT;

/**
 * The `k` largest entries of each row of a CSR, in the same order and index type; of equals
 * the first, of a row with fewer all. A NaN is less than everything, so it is dropped first.
 *
 * INVALID_ARGUMENT: a `k` that is negative or above `a.cols`. UNSUPPORTED: COO, CSC and BSR;
 * values that are complex, bool8 or integers of 64 bits.
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release) TNR_NODISCARD
tnr_sparse *tnr_sparse_top_k(tnr_context *context TNR_BORROWED, tnr_sparse_order order,
    const tnr_sparse_view *a, int64_t k, const tnr_extension *attributes) TNR_NOEXCEPT;

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
 * INVALID_ARGUMENT: a list of another rank or dtype, a number that names no row or column.
 * UNSUPPORTED: COO and BSR.
 *
 * @param rows (nullable)
 * @param cols (nullable)
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release) TNR_NODISCARD
tnr_sparse *tnr_sparse_select(tnr_context *context TNR_BORROWED, const tnr_sparse_view *a,
    const tnr_view *rows, const tnr_view *cols, const tnr_extension *attributes) TNR_NOEXCEPT;

/**
 * A block of a CSR or CSC, as a new matrix: `row_count` rows from `first_row` on, and of these
 * `col_count` columns. The result is that of `tnr_sparse_select` with these numbers.
 *
 * INVALID_ARGUMENT: a block that leaves the matrix. UNSUPPORTED: COO and BSR.
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release) TNR_NODISCARD
tnr_sparse *tnr_sparse_slice(tnr_context *context TNR_BORROWED, const tnr_sparse_view *a,
    int64_t first_row, int64_t row_count, int64_t first_col, int64_t col_count,
    const tnr_extension *attributes) TNR_NOEXCEPT;

/**
 * Matrices joined to one, in the order of the list. They agree in format, in the dtypes of
 * their values and indices, and in the extent across the join; the result has the same. Its
 * entries are theirs, in their order within each part. It is SORTED and UNIQUE where all of
 * them are; COO joined by COLS is at most UNIQUE.
 *
 * INVALID_ARGUMENT: no part, parts that do not agree. UNSUPPORTED: BSR.
 *
 * @param parts (counted-by part_count) pointers to matrices, one at least
 */
TNR_API TNR_READS(3, 4) TNR_RETURNS_OWNED(tnr_sparse_release) TNR_NODISCARD
tnr_sparse *tnr_sparse_concat(tnr_context *context TNR_BORROWED, tnr_sparse_join join,
    const tnr_sparse_view *const *parts, uint32_t part_count,
    const tnr_extension *attributes) TNR_NOEXCEPT;

/**
 * The Kronecker product of two matrices of one format and one pair of dtypes: `b` times each
 * element of `a`, at its position. Each entry of the result is a product of two entries,
 * rounded once; integers wrap. The result is SORTED and UNIQUE where both are; entries of a
 * row (CSC: column) are in the order of those of `a`, and of `b` for each.
 *
 * INVALID_ARGUMENT: formats or dtypes that differ. UNSUPPORTED: COO and BSR; values that are
 * complex or bool8.
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release) TNR_NODISCARD
tnr_sparse *tnr_sparse_kron(tnr_context *context TNR_BORROWED, const tnr_sparse_view *a,
    const tnr_sparse_view *b, const tnr_extension *attributes) TNR_NOEXCEPT;

/**
 * The entries of a triangle of a matrix, as a new matrix of the same format, dtypes and order.
 *
 * UNSUPPORTED: COO and BSR.
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release) TNR_NODISCARD
tnr_sparse *tnr_sparse_triangular(tnr_context *context TNR_BORROWED, tnr_triangle part,
    const tnr_sparse_view *a, const tnr_triangle_attributes *attributes) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * Sparse operations
 *
 * Products, arithmetic, reductions and solves.
 */

/** Flag of `tnr_sparse_sddmm_attributes`: products are multiplied by the pattern's own values. */
#define TNR_SDDMM_TIMES_VALUES 1

/** Flag of `tnr_sparse_solve_attributes`: the matrix is upper triangular, else lower. */
#define TNR_SOLVE_UPPER 1

/** Flag of `tnr_sparse_solve_attributes`: the diagonal is 1, whatever its entries are. */
#define TNR_SOLVE_UNIT_DIAGONAL 2

/**
 * Flag of `tnr_sparse_solve_attributes`: the system is that of the transposed matrix. The other
 * flags describe the matrix before the transposition.
 */
#define TNR_SOLVE_TRANSPOSED 4

/** Attributes of `tnr_sparse_sddmm`. */
typedef struct tnr_sparse_sddmm_attributes {
  uint64_t struct_size;
  uint32_t flags;  /**< `TNR_SDDMM_TIMES_VALUES` or 0. */
  uint32_t reserved;
} tnr_sparse_sddmm_attributes;

/** A norm of a matrix. */
typedef int32_t tnr_sparse_norm_kind;
#define TNR_SPARSE_NORM_KIND_ONE 1  /**< The largest sum of magnitudes of a column. */
#define TNR_SPARSE_NORM_KIND_INFINITY 2  /**< The largest sum of magnitudes of a row. */
#define TNR_SPARSE_NORM_KIND_FROBENIUS 3  /**< The square root of the sum of squares. */

/** Attributes of `tnr_sparse_solve`. */
typedef struct tnr_sparse_solve_attributes {
  uint64_t struct_size;
  /** `TNR_SOLVE_UPPER`, `TNR_SOLVE_UNIT_DIAGONAL`, `TNR_SOLVE_TRANSPOSED`, several of them or 0. */
  uint32_t flags;
  uint32_t reserved;
} tnr_sparse_solve_attributes;

/**
 * `out = alpha * a b + beta * out`, with a sparse matrix `a`, or its transpose, and dense `b`
 * and `out`: both vectors, or both matrices, of `a`'s dtype and of any strides. Where `beta`
 * is 0 `out` is not read, so it may hold anything, NaN included. The sums of f16 and bf16 are
 * f32 and are rounded once; integers wrap. A position that has several entries is their sum.
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
 * INVALID_ARGUMENT also for an `alpha` or `beta` that the dtype cannot represent. UNSUPPORTED:
 * values that are complex or bool8.
 *
 * @param a [m, k]; TRANSPOSED: [k, m]
 * @param b `[k]` or `[k, n]`
 * @param out `[m]` or `[m, n]`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_sparse_matmul(tnr_context *context TNR_BORROWED, tnr_orientation orientation,
    const tnr_scalar *alpha, const tnr_sparse_view *a, const tnr_view *b, const tnr_scalar *beta,
    const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The product of two matrices: CSR of two CSR, CSC of two CSC; coalesced. It has an entry
 * wherever an entry of `a` meets one of `b`, also where the sum is 0. A sum begins at 0 and
 * takes the products in the order of `a`'s entries (CSC: `b`'s), in the dtype of the values.
 * In addition to operands and result, each thread takes a few bytes for each column of the
 * result (CSC: row), where that is some MiB at most or a row has products for a fair part of
 * them; else for each product of the row that has most.
 *
 * INVALID_ARGUMENT: `a.cols` is not `b.rows`; dtypes of values or of indices differ.
 * UNSUPPORTED: COO and BSR, two formats, values other than f32 and f64.
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release) TNR_NODISCARD
tnr_sparse *tnr_sparse_product(tnr_context *context TNR_BORROWED, const tnr_sparse_view *a,
    const tnr_sparse_view *b, const tnr_extension *attributes) TNR_NOEXCEPT;

/**
 * The product of two matrices, only at the entries of a third one: CSR of three CSR, CSC of
 * three CSC. The values of `mask` are not read. The result has the entries of
 * `tnr_sparse_product` that `mask` has too, with the same bits, in the order of `mask`, and is
 * SORTED and UNIQUE where `mask` is; an entry that `mask` has twice occurs twice. In addition
 * to operands and result, each thread takes a few bytes for each entry of the row of `mask`
 * that has most, and for each column of the result (CSC: row) where these are few, or the
 * entries of `mask` are many.
 *
 * INVALID_ARGUMENT, UNSUPPORTED: as `tnr_sparse_product`, of the three; a `mask` of another
 * shape than the product.
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release) TNR_NODISCARD
tnr_sparse *tnr_sparse_product_masked(tnr_context *context TNR_BORROWED, const tnr_sparse_view *a,
    const tnr_sparse_view *b, const tnr_sparse_view *mask,
    const tnr_extension *attributes) TNR_NOEXCEPT;

/**
 * The product of dense `x` and `y`, only at the entries of a sparse matrix ("SDDMM"): for an
 * entry at row i and column j, `alpha` times the sum of row i of `x` times column j of `y`;
 * with `TNR_SDDMM_TIMES_VALUES` times the entry's own value. A position that has several
 * entries gets a result for each. All of `a`'s dtype; sums of f16 and bf16 are f32, rounded
 * once; integers wrap. Where a row of `x` or a column of `y` is not adjacent, all are copied,
 * unless they are more than the entries: then they are read without a copy.
 *
 * On a device `a` is CSR or CSC, of f64, f32, f16 or bf16; nothing is copied. Waits.
 *
 * INVALID_ARGUMENT also for an `out` that is not row-major, and an `alpha` that the dtype
 * cannot represent. UNSUPPORTED: values that are complex or bool8.
 *
 * @param a [m, n]
 * @param x [m, k], any strides
 * @param y [k, n], any strides
 * @param out of the shape of `a.values`, of a range of its part of them; may be exactly these
 */
TNR_API TNR_NODISCARD
tnr_status tnr_sparse_sddmm(tnr_context *context TNR_BORROWED, const tnr_scalar *alpha,
    const tnr_sparse_view *a, const tnr_view *x, const tnr_view *y,
    const tnr_sparse_sddmm_attributes *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Arithmetic of two matrices of one shape, element by element, as a new one: of two coalesced
 * CSR or CSC, coalesced. ADD, SUB, MIN and MAX have an entry wherever `a` or `b` has one, and
 * read 0 where the other has none; MUL has one where both have. Results that are 0 stay
 * entries. The results are those of dense matrices with zeros, except that MUL takes the
 * product with a missing entry as 0.
 *
 * INVALID_ARGUMENT: flags other than SORTED and UNIQUE; two shapes; dtypes of values or of
 * indices differ. UNSUPPORTED: an operation that is not 0 at 0, as DIV, REM and POW; COO and
 * BSR; two formats; complex values, and a dtype that `tnr_binary` does not take.
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release) TNR_NODISCARD
tnr_sparse *tnr_sparse_binary(tnr_context *context TNR_BORROWED, tnr_binary_op op,
    const tnr_sparse_view *a, const tnr_sparse_view *b,
    const tnr_extension *attributes) TNR_NOEXCEPT;

/**
 * Adds the entries of a CSR or CSC matrix to dense memory of its shape, in place; the other
 * elements are not touched. Integers wrap.
 *
 * UNSUPPORTED: COO and BSR; values other than f32, f64, i32 and i64.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_sparse_accumulate(tnr_context *context TNR_BORROWED, const tnr_sparse_view *a,
    const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * A function of each entry, as a new matrix that shares offsets and indices with the one that
 * `a` is a view of, by an operation that is 0 at 0. `a` is all of a held matrix; of lent
 * arrays, `tnr_unary` on the values is all there is to do.
 *
 * INVALID_ARGUMENT: `a` has no owner, or is rows of it. UNSUPPORTED: an operation that is not
 * 0 at 0, as EXP, or that gives another dtype, as ABS of complex values; bool8 values, and a
 * dtype that `tnr_unary` does not take.
 */
TNR_API TNR_RETURNS_OWNED(tnr_sparse_release) TNR_NODISCARD
tnr_sparse *tnr_sparse_unary(tnr_context *context TNR_BORROWED, tnr_unary_op op,
    const tnr_sparse_view *a, const tnr_extension *attributes) TNR_NOEXCEPT;

/**
 * Multiplies each entry of a CSR or CSC matrix by the factor of its row (`axis` 0) or column
 * (`axis` 1), in place: the product with a diagonal matrix from the left or from the right.
 * Integers wrap. By one number: `tnr_binary_scalar` on the values.
 *
 * INVALID_ARGUMENT: `factors` is not of rank 1, as long as the axis and of the values' dtype.
 * UNSUPPORTED: COO and BSR; values other than f32, f64, i32 and i64.
 *
 * @threads exclusive(a)
 */
TNR_API TNR_NODISCARD
tnr_status tnr_sparse_scale(tnr_context *context TNR_BORROWED, const tnr_view *factors,
    uint32_t axis, const tnr_extension *attributes, const tnr_sparse_view_mut *a) TNR_NOEXCEPT;

/**
 * Replaces the entries of each row of a CSR matrix by their softmax, in place: exp(x) over the
 * sum of them. Elements without an entry take no part, as if they were -infinity; a row
 * without entries stays. Dtypes are f32 and f64; a row with a NaN is all NaN.
 *
 * @threads exclusive(a)
 */
TNR_API TNR_NODISCARD
tnr_status tnr_sparse_softmax(tnr_context *context TNR_BORROWED, const tnr_extension *attributes,
    const tnr_sparse_view_mut *a) TNR_NOEXCEPT;

/**
 * Reduces a CSR or CSC matrix over its rows (`axes` 1: a result for each column), its columns
 * (2: one for each row) or both (3: one, `out` of rank 0), as `tnr_reduce` does the dense
 * matrix: SUM, MIN, MAX, and COUNT of elements that are not zero; COUNT, and a sum of i32, is
 * i64. Missing entries take part as zeros: where all entries are positive, they are the
 * smallest. Sums of f32 accumulate in f64, in an order that depends only on the offsets.
 *
 * INVALID_ARGUMENT: MIN and MAX of no elements; all but SUM without the flag UNIQUE.
 * UNSUPPORTED: other operations; COO and BSR; values other than f32, f64, i32 and i64.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_sparse_reduce(tnr_context *context TNR_BORROWED, tnr_reduce_op op,
    const tnr_sparse_view *a, uint32_t axes, const tnr_reduce_attributes *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * A norm of a CSR or CSC matrix, computed in f64. NaN if an entry is. Without entries: 0.
 *
 * INVALID_ARGUMENT: a matrix without the flag UNIQUE. UNSUPPORTED: COO and BSR; values other
 * than f32 and f64.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_sparse_norm(tnr_context *context TNR_BORROWED, tnr_sparse_norm_kind kind,
    const tnr_sparse_view *a, const tnr_extension *attributes, double *out) TNR_NOEXCEPT;

/**
 * Writes the diagonal of a CSR or CSC matrix to `out`, of rank 1 and as long as the shorter
 * axis; 0 for a position without an entry, the sum of several entries.
 *
 * UNSUPPORTED: COO and BSR; values other than f32, f64, i32 and i64.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_sparse_diagonal(tnr_context *context TNR_BORROWED, const tnr_sparse_view *a,
    const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Solves a triangular system by substitution: `out` becomes the x of a x = b, for each column
 * where `b` and `out` have rank 2. `out` may be exactly `b`. Entries beyond the triangle that
 * the attributes' flags name (TNR_SOLVE_UPPER, else the lower one) are not looked at; nor,
 * with TNR_SOLVE_UNIT_DIAGONAL, those of the diagonal. TNR_SOLVE_TRANSPOSED solves a^T x = b
 * for the same triangle of `a`: it takes the rows in the opposite order, and subtracts the
 * products of a row from the elements of its columns.
 *
 * INVALID_ARGUMENT: a matrix that is not square; a diagonal that is 0 or missing in a row,
 * which is named (then `out` is a mixture). UNSUPPORTED: other formats than CSR; dtypes other
 * than f32 and f64.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_sparse_solve(tnr_context *context TNR_BORROWED, const tnr_sparse_view *a,
    const tnr_view *b, const tnr_sparse_solve_attributes *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * Packed matrices
 *
 * The read-optimised form of a sparse matrix, for products with many vectors.
 */

/** A sparse matrix in a layout of the library's own, for products with many vectors. */
typedef struct tnr_packed tnr_packed;

/** How a packed matrix keeps the columns of its entries. */
typedef int32_t tnr_packed_layout;
#define TNR_PACKED_LAYOUT_AUTO 0  /**< Default: the layout is chosen by the matrix. */
/** Numbers of 32 bits: no smaller than i32 indices, half of i64 ones. */
#define TNR_PACKED_LAYOUT_WIDE 1
/** Numbers of 16 bits, counted from a column that 64 rows have in common. */
#define TNR_PACKED_LAYOUT_NARROW 2
#define TNR_PACKED_LAYOUT_BITMAP 3  /**< A bit for every element, set where it has an entry. */
/**
 * A number of 32 bits for each block of adjacent rows and columns; each element of a block has
 * an entry.
 */
#define TNR_PACKED_LAYOUT_BLOCKS 4

/** Attributes of `tnr_packed_create`. */
typedef struct tnr_packed_attributes {
  uint64_t struct_size;
  tnr_packed_layout layout;  /**< How the columns are kept; 0 is AUTO. */
  uint32_t reserved;
} tnr_packed_attributes;

/** Layout and cost of a packed matrix. */
typedef struct tnr_packed_info {
  uint64_t struct_size;
  tnr_packed_layout layout;  /**< Never AUTO. */
  tnr_dtype dtype;  /**< Dtype of the values. */
  int64_t rows;  /**< Rows. */
  int64_t cols;  /**< Columns. */
  int64_t nnz;  /**< Stored entries. */
  uint64_t size_bytes;  /**< Bytes that a product reads of the packed matrix. */
  /** Bytes that a product read of the original matrix: offsets, indices and values. */
  uint64_t source_bytes;
  /**
   * Products after which packing has moved fewer bytes than it saved, counted, not measured: the
   * source read, the result fetched and written, and for a bitmap a mark of one byte cleared and
   * read for each element and set for each entry, over the difference of the two sizes. -1:
   * never.
   */
  int64_t break_even;
  int64_t block_rows;  /**< Rows of a block; 1 unless the layout is BLOCKS. */
  int64_t block_cols;  /**< Columns of a block; 1 unless the layout is BLOCKS. */
} tnr_packed_info;

/** Gives up one handle. */
TNR_API tnr_status tnr_packed_release(tnr_packed *packed TNR_OWNED) TNR_NOEXCEPT;

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
 * the context's. Later changes of `a` are not seen.
 *
 * INVALID_ARGUMENT: BITMAP for rows whose columns do not rise. UNSUPPORTED: a format that is
 * not CSR; dtypes that are no floats; BLOCKS for entries that are not all in blocks; 64
 * consecutive rows with columns in more than 64 ranges of the layout's numbers (AUTO: of
 * 2^31).
 */
TNR_API TNR_RETURNS_OWNED(tnr_packed_release) TNR_NODISCARD
tnr_packed *tnr_packed_create(tnr_context *context TNR_BORROWED, const tnr_sparse_view *a,
    const tnr_packed_attributes *attributes) TNR_NOEXCEPT;

/** Makes one more handle. */
TNR_API TNR_RETURNS_OWNED(tnr_packed_release) TNR_NODISCARD
tnr_packed *tnr_packed_retain(tnr_packed *packed TNR_BORROWED) TNR_NOEXCEPT;

/** Describes a packed matrix. */
TNR_API TNR_NODISCARD
tnr_status tnr_packed_describe(const tnr_packed *packed TNR_BORROWED,
    tnr_packed_info *out) TNR_NOEXCEPT;

/**
 * `out = alpha * packed b + beta * out`, as `tnr_sparse_matmul` computes it. A `b` with
 * several columns is multiplied one column after the other, for which `tnr_sparse_matmul` is
 * faster from a few columns on.
 *
 * A row's products are added up in the order of the layout: with numbers of 16 or 32 bits as
 * by `tnr_sparse_matmul` where the columns of 64 rows are in one range and a row has 65,536
 * entries at most; for f32 and f64 the result then has the same bits. Sums of f16 and bf16 are
 * f32, rounded once.
 *
 * A column of `b` that is not adjacent, or of f16 or bf16, is copied where it has no more
 * elements than `packed` has entries; of a bitmap, where that has more than 32 rows. Else it
 * is read without a copy.
 *
 * INVALID_ARGUMENT: shapes and dtypes that do not agree.
 *
 * @param packed [m, k]
 * @param b `[k]` or `[k, n]`
 * @param out `[m]` or `[m, n]`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_packed_matmul(tnr_context *context TNR_BORROWED, const tnr_scalar *alpha,
    const tnr_packed *packed TNR_BORROWED, const tnr_view *b, const tnr_scalar *beta,
    const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
