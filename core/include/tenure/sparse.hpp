// Sparse matrices: the formats, the one checker, and handles that hold the three parts.
//
//   format  major                    minor             values       of row i
//   ------  -----------------------  ----------------  -----------  ------------------------------
//   COO     row_indices [n]          col_indices [n]   [n]          each k with row_indices[k] == i
//   CSR     row_offsets [rows + 1]   col_indices [n]   [n]          row_offsets[i] to [i + 1]
//   CSC     col_offsets [cols + 1]   row_indices [n]   [n]          as CSR, of the transpose
//   BSR     row_offsets [rows/b + 1] col_indices [n]   [n, b, c]    as CSR, of blocks of b by c
//
// A batch is any number of matrices with the same rows and columns, one after the other in the same
// arrays: matrix i has entries batch_offsets[i] to [i + 1] of minor and values (COO: of major too),
// and its own offsets in major, which has those of all matrices and counts each from 0. So each
// matrix is a view of parts of the arrays: batch_matrix().
//
// Invariants, each with a message of its own:
//   shape    rows, cols >= 0; blocks of 1 to TNR_SPARSE_MAX_BLOCK that divide them; major and minor
//            of one index type, i32 or i64; all parts contiguous, with as many entries as stated;
//            values that are held or written share no byte with the indices
//   offsets  never fall; lie in 0 to n; of a matrix that is held, from 0 to n
//   indices  at least 0 and below the extent that they index
//   batches  batch_offsets, i32 or i64, one more than matrices: as offsets; each matrix as above
//   flags    SORTED and UNIQUE, where they are set
//
// Who has seen to the last three, before a kernel uses them, is the trust in a view:
//   owner is a tnr_sparse, and major and minor are its own or those of a range of its rows, of one
//     of its matrices or of a range of them: they were checked when the handle was made, and must
//     not have been written since;
//   owner is the voucher of this process: the Rust crate has checked them, and they cannot have
//     been written since; see sparse_voucher.hpp;
//   else: SparseOperand checks offsets and indices as the call goes. The flags of such a view are
//     believed. They decide what a result is, never which memory is touched.
#pragma once

#include <cstdint>

#include "tenure/blob.hpp"
#include "tenure/context.hpp"
#include "tenure/device.hpp"
#include "tenure/dtype.hpp"
#include "tenure/status.hpp"

namespace tenure {

// {kind:8, generation:24, index:32}; what a tnr_sparse* and a sparse view's owner hold.
using SparseToken = std::uint64_t;

// Names of a format's parts in messages: the arrays, and the extent that bounds the minor indices.
struct SparseNames {
  const char* major;
  const char* minor;
  const char* minor_bound;
};
const SparseNames& sparse_names(tnr_sparse_format format) noexcept;

// Bytes of an index: 4 or 8. The view has passed check_sparse().
inline std::int64_t index_bytes(const tnr_sparse_view& view) noexcept {
  return static_cast<std::int64_t>(element_size(view.minor.dtype));
}
// Rows and columns as `major` and `minor` see them: those of CSC are exchanged, those of BSR are of
// blocks.
inline std::int64_t major_count(const tnr_sparse_view& view) noexcept {
  return view.format == TNR_SPARSE_FORMAT_CSC ? view.cols : view.rows / view.block_rows;
}
inline std::int64_t minor_count(const tnr_sparse_view& view) noexcept {
  return view.format == TNR_SPARSE_FORMAT_CSC ? view.rows : view.cols / view.block_cols;
}
// Whether it is a batch; of how many matrices, once it has passed check_sparse().
inline bool is_batch(const tnr_sparse_view& view) noexcept { return view.batch_offsets.rank != 0; }
inline std::int64_t batch_count(const tnr_sparse_view& view) noexcept {
  return view.batch_offsets.shape[0] - 1;
}
// Matrix `matrix` of a batch whose batch_offsets are right.
tnr_sparse_view batch_matrix(const tnr_sparse_view& batch, std::int64_t matrix);
// The entries that the rows, or the matrices, of a view have: [first, last) of minor and values; of
// BSR blocks.
// Where the view is not trusted, they may be any numbers.
struct EntryRange {
  std::int64_t first;
  std::int64_t last;
};
EntryRange entry_range(const tnr_sparse_view& view) noexcept;

// Throws unless the shape is as above: all that can be seen without reading offsets or indices.
//   INVALID_ARGUMENT  also a format without a name, and flags other than SORTED and UNIQUE
//   UNSUPPORTED       also blocks over TNR_SPARSE_MAX_BLOCK, and a part that is not on the device
// Does not ask the owners. `name` is the parameter's, for the message; "" for none.
void check_sparse(const tnr_sparse_view& view, const char* name, const tnr_device& device = kCpu);

// Throws ALIASED where values share bytes with offsets or indices. The view has passed
// check_sparse().
void check_values_apart(const tnr_sparse_view& view, const char* name);

// Whether offsets must be those of a whole matrix, or may be those of a row range; and of a batch
// those of a range of its matrices.
enum class RowExtent : bool { kRange, kWhole };

// Throws INVALID_ARGUMENT unless offsets, indices and flags are as above. The view has passed
// check_sparse(), and its memory exists. Throws std::bad_alloc only where the flags have UNIQUE
// without SORTED.
void check_entries(const tnr_sparse_view& view, RowExtent rows, const char* name);
// Checks only batch_offsets of a batch; throws as check_entries().
void check_batch_offsets(const tnr_sparse_view& batch, RowExtent rows, const char* name);
// The reference implementation of check_entries() for one matrix. It checks one entry after the
// other, so that its message names the entry that is wrong.
void check_entries_stepwise(const tnr_sparse_view& view, RowExtent rows, const char* name);

// Whether the entries of one matrix are in the order of SORTED; true without a look where the flag
// is set. The view is no batch, and its offsets and indices are valid.
bool has_sorted_entries(const tnr_sparse_view& view) noexcept;
// Whether they also have no position twice.
bool has_rising_entries(const tnr_sparse_view& view) noexcept;

// Pins the owners of the parts; throws as Pins do.
void pin_parts(Pins& pins, const tnr_sparse_view& view, const char* name);
void pin_parts_mut(Pins& pins, const tnr_sparse_view_mut& view, const char* name);

// tnr_sparse_check() and tnr_sparse_check_mut(): all of the above. The first also of one matrix on
// a device, in the order of the queues that are its blobs' homes; waits for them.
void check_matrix(const tnr_sparse_view& view, const char* name);
void check_matrix_mut(const tnr_sparse_view_mut& view, const char* name);

// A view over three arrays as tnr_sparse_lend() says, with its struct_size. Throws as it says.
struct LentArray {
  const void* data;
  std::size_t size_bytes;
};
tnr_sparse_view sparse_lend(tnr_sparse_format format, std::int64_t rows, std::int64_t cols,
                            tnr_dtype index_dtype, LentArray major, LentArray minor,
                            tnr_dtype dtype, LentArray values);

// A handle over three parts, each a view of a blob; retains and seals as tnr_sparse_create() says.
// Throws as it says.
SparseToken sparse_create(const tnr_sparse_view& parts);
// A handle over parts that need no check: the library has just made them, in blobs that no caller
// knows. Takes the reference of each blob, also on failure. Throws std::bad_alloc.
SparseToken sparse_open(const tnr_sparse_view& parts);
// All throw STALE_HANDLE for a token that is garbage, of another kind, or released; BUSY at
// kMaxRefs.
void sparse_retain(SparseToken token);
void sparse_release(SparseToken token);
// A view of the whole, with `token` as its owner.
tnr_sparse_view sparse_view(SparseToken token);
// The blobs, each retained.
struct SparseParts {
  BlobToken major;
  BlobToken minor;
  BlobToken values;
};
SparseParts sparse_parts(SparseToken token);
// The blob of batch_offsets, retained; 0 for a matrix that is no batch.
BlobToken sparse_batch_offsets(SparseToken token);
// tnr_sparse_batch_at(): a matrix of a batch, with the batch's owner.
tnr_sparse_view sparse_batch_at(const tnr_sparse_view& batch, std::int64_t matrix);

// Keeps the handle that owns a view alive: while it lasts, its blobs stay sealed.
class SparseUse {
 public:
  // Throws STALE_VIEW, or BUSY at kMaxPins. 0 and the voucher name no handle. `name` is the view's.
  SparseUse(SparseToken owner, const char* name);
  SparseUse(const SparseUse&) = delete;
  SparseUse& operator=(const SparseUse&) = delete;
  ~SparseUse();

  // The whole matrix; nullptr without an owner.
  [[nodiscard]] const tnr_sparse_view* whole() const noexcept { return whole_; }

 private:
  SparseToken owner_;
  BlobSlot* slot_ = nullptr;
  const tnr_sparse_view* whole_ = nullptr;
};

// ---- operations: each checks its operands, pins their owners, then runs kernels ----

// The format of a result, and the attributes of tnr_sparse_from_dense(), tnr_sparse_convert() and
// tnr_sparse_prune(). Each function sets the fields that it has; zeros are the defaults.
struct SparseOptions {
  tnr_sparse_format format = 0;
  tnr_dtype index_dtype = 0;
  tnr_sparse_predicate predicate = TNR_SPARSE_PREDICATE_NON_ZERO;
  std::uint32_t flags = 0;
  std::int64_t block_rows = 0;
  std::int64_t block_cols = 0;
  tnr_scalar threshold = {};
  tnr_view mask = {};
};

// tnr_sparse_from_dense().
SparseToken sparse_from_dense(const Context& context, const tnr_view& dense,
                              const SparseOptions& options);
// tnr_sparse_from_dense_top_k() and tnr_sparse_from_dense_dropout().
SparseToken sparse_from_dense_top_k(const Context& context, const tnr_view& dense, std::int64_t k,
                                    tnr_sparse_order order, tnr_dtype index_dtype);
SparseToken sparse_from_dense_dropout(const Context& context, const tnr_view& dense,
                                      double probability, std::uint64_t seed,
                                      tnr_dtype index_dtype);
// tnr_sparse_from_matmul(); struct_size is not looked at.
SparseToken sparse_from_matmul(const Context& context, const tnr_scalar& alpha, const tnr_view& a,
                               const tnr_view& b,
                               const tnr_sparse_from_matmul_attributes& attributes);
void sparse_to_dense(const Context& context, const tnr_sparse_view& a, const tnr_view_mut& out);
SparseToken sparse_product(const Context& context, const tnr_sparse_view& a,
                           const tnr_sparse_view& b);
// tnr_sparse_product_masked().
SparseToken sparse_product_masked(const Context& context, const tnr_sparse_view& a,
                                  const tnr_sparse_view& b, const tnr_sparse_view& mask);
// tnr_sparse_matmul().
void sparse_matmul(const Context& context, const tnr_scalar& alpha, const tnr_sparse_view& a,
                   tnr_orientation orientation, const tnr_view& b, const tnr_scalar& beta,
                   const tnr_view_mut& out);
// tnr_sparse_sddmm().
void sparse_sddmm(const Context& context, const tnr_scalar& alpha, const tnr_sparse_view& a,
                  std::uint32_t flags, const tnr_view& x, const tnr_view& y,
                  const tnr_view_mut& out);

// tnr_sparse_convert().
SparseToken sparse_convert(const Context& context, const tnr_sparse_view& a,
                           const SparseOptions& options);
SparseToken sparse_binary(const Context& context, tnr_binary_op op, const tnr_sparse_view& a,
                          const tnr_sparse_view& b);
void sparse_accumulate(const Context& context, const tnr_sparse_view& a, const tnr_view_mut& out);
SparseToken sparse_unary(const Context& context, tnr_unary_op op, const tnr_sparse_view& a);
void sparse_scale(const Context& context, const tnr_view& factors, std::uint32_t axis,
                  const tnr_sparse_view_mut& a);
void sparse_softmax(const Context& context, const tnr_sparse_view_mut& a);
void sparse_reduce(const Context& context, tnr_reduce_op op, const tnr_sparse_view& a,
                   std::uint32_t axes, const tnr_view_mut& out);
double sparse_norm(const Context& context, tnr_sparse_norm_kind kind, const tnr_sparse_view& a);
void sparse_diagonal(const tnr_sparse_view& a, const tnr_view_mut& out);
void sparse_solve(const Context& context, std::uint32_t flags, const tnr_sparse_view& a,
                  const tnr_view& b, const tnr_view_mut& out);

// tnr_sparse_select(), where nullptr means all; tnr_sparse_slice().
SparseToken sparse_select(const Context& context, const tnr_sparse_view& a, const tnr_view* rows,
                          const tnr_view* cols);
SparseToken sparse_slice(const Context& context, const tnr_sparse_view& a, std::int64_t first_row,
                         std::int64_t row_count, std::int64_t first_col, std::int64_t col_count);

// tnr_sparse_concat() of `part_count` views; tnr_sparse_kron() and tnr_sparse_triangular().
SparseToken sparse_concat(const Context& context, tnr_sparse_join join,
                          const tnr_sparse_view* parts, std::uint32_t part_count);
SparseToken sparse_kron(const Context& context, const tnr_sparse_view& a, const tnr_sparse_view& b);
SparseToken sparse_triangular(const Context& context, tnr_triangle part, const tnr_sparse_view& a,
                              std::int64_t diagonal);

// tnr_sparse_coalesce(), tnr_sparse_prune() and tnr_sparse_top_k().
SparseToken sparse_coalesce(const Context& context, const tnr_sparse_view& a,
                            tnr_sparse_combine combine);
SparseToken sparse_prune(const Context& context, const tnr_sparse_view& a,
                         const SparseOptions& options);
SparseToken sparse_top_k(const Context& context, const tnr_sparse_view& a, std::int64_t k,
                         tnr_sparse_order order);

}  // namespace tenure
