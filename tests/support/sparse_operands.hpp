// Operands of one call of a sparse function, made to fit a matrix.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "sparse_arrays.hpp"
#include "tenure/tenure.h"

namespace tenure::test {

// A coalesced matrix: each third element and the diagonal, so that a square one can be solved; of
// BSR, blocks of 2 by 2. A matrix that is not square has an empty row and an empty column besides.
SparseModel thirds(tnr_sparse_format format, std::int64_t rows, std::int64_t cols);

// Bytes of offsets, indices and values.
std::uint64_t bytes_of(const tnr_sparse_view& a);

// The other operands of one call, made to fit a matrix of the shape, format and dtypes of `like`.
// Each operand is counted in `read_bytes` or `written_bytes`, as the library counts it.
class SparseOperands {
 public:
  using Shape = std::vector<std::int64_t>;

  explicit SparseOperands(const tnr_sparse_view& like) : like_(like) {}
  SparseOperands(const SparseOperands&) = delete;
  SparseOperands& operator=(const SparseOperands&) = delete;

  [[nodiscard]] std::int64_t rows() const { return like_.rows; }
  [[nodiscard]] std::int64_t cols() const { return like_.cols; }
  // The shape of the dense form.
  [[nodiscard]] Shape shape() const;

  const tnr_scalar* number(float value);
  const tnr_view* ones(const Shape& shape);
  // The dense form of a matrix with the shape of `like`: each third element is 0.
  const tnr_view* dense();
  // A list of rows or of columns, in place of NULL; it is not counted.
  const tnr_view* list(const std::vector<std::int64_t>& numbers);
  // Elements of the dtype of the values, where `dtype` is 0. An inout operand is read too.
  const tnr_view_mut* out(const Shape& shape, tnr_dtype dtype = 0);
  const tnr_view_mut* inout(const Shape& shape);
  // A column-major output for the dense form.
  const tnr_view_mut* columns_out();
  // An output with the shape of the values.
  const tnr_view_mut* entries();
  double* norm();
  // A valid matrix of the same format; `like` itself where the shape is large.
  const tnr_sparse_view* beside(std::int64_t rows, std::int64_t cols);
  const tnr_sparse_view* alike() { return beside(rows(), cols()); }
  // A mask, whose values are not read.
  const tnr_sparse_view* mask(const tnr_sparse_view* a);
  const tnr_sparse_view* const* pair(const tnr_sparse_view* first, const tnr_sparse_view* second);
  // The matrix as an output for values.
  const tnr_sparse_view_mut* values_of(const tnr_sparse_view* a);
  // The matrix where an owner holds it; otherwise a held copy, or NULL where none can be made.
  const tnr_sparse_view* held(tnr_context* context, const tnr_sparse_view* a);

  // Keeps a packed matrix, which is read in place of the matrix, until the operands end.
  tnr_packed* packed(tnr_packed* made);

  // Releases the result of a call. Returns the status of the release, or of a failed call.
  tnr_status status_of(tnr_sparse* made);
  tnr_status status_of(tnr_packed* made);
  tnr_status status_of(tnr_status status) { return status; }

  // Whether all outputs are as they were before the call.
  [[nodiscard]] bool is_unwritten() const;

  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  int pointer_count = 0;                                     // of pointers that must not be NULL
  int output_count = 0;                                      // of dense outputs with elements
  int null_pointer = -1;                                     // the one that is NULL
  void* output_memory = nullptr;                             // of every dense output, if not NULL
  const tnr_sparse_view* second = nullptr;                   // what beside() gives, if it fits
  std::function<void(const tnr_sparse_view&)> on_made = {};  // is called with each result

  ~SparseOperands();

 private:
  using Bytes = std::vector<unsigned char>;

  template <class Pointee>
  Pointee* passed(Pointee* pointer) {
    return pointer_count++ == null_pointer ? nullptr : pointer;
  }
  static tnr_view lent(Bytes& memory, const Shape& shape, tnr_dtype dtype, int period);
  const tnr_view* input(const tnr_view& view);
  tnr_view_mut& written(const Shape& shape, tnr_dtype dtype);

  const tnr_sparse_view like_;
  std::deque<Bytes> inputs_;
  std::deque<Bytes> outputs_;
  std::deque<tnr_scalar> scalars_;
  std::deque<tnr_view_mut> views_;
  std::deque<SparseArrays> matrices_;
  std::vector<const tnr_sparse_view*> pair_;
  tnr_sparse* held_ = nullptr;
  tnr_sparse_view held_view_ = {};
  tnr_packed* packed_ = nullptr;
};

}  // namespace tenure::test
