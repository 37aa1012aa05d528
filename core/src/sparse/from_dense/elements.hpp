// The elements of a dense matrix of any layout, or of a batch of them, in row-major order.
#pragma once

#include <cstdint>

#include "cpu/kernel.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/status.hpp"
#include "view/operand_checks.hpp"

namespace tenure {

class DenseElements {
 public:
  DenseElements() noexcept = default;
  // `view` has passed check_view() and has rank 2; or 3, of matrices one after the
  // other, whose rows are those of one.
  explicit DenseElements(const tnr_view& view) noexcept
      : data_(static_cast<const kernels::Byte*>(view.data)),
        columns_(view.shape[view.rank - 1]),
        width_(static_cast<std::int64_t>(element_size(view.dtype))),
        width_index_(tenure::width_index(view.dtype)),
        row_step_(step_of(view, view.rank - 2)),
        column_step_(step_of(view, view.rank - 1)),
        is_dense_((columns_ == 1 || column_step_ == width_) &&
                  (view.shape[view.rank - 2] == 1 || row_step_ == product(columns_, width_))) {
    if (view.rank == 3) add_matrices(view);
  }

  [[nodiscard]] std::int64_t width() const noexcept { return width_; }
  // The result of width_index() for the dtype.
  [[nodiscard]] unsigned width_index() const noexcept { return width_index_; }
  // Whether the elements are stored in that order, without gaps.
  [[nodiscard]] bool is_dense() const noexcept { return is_dense_; }

  // Whether the elements of each row are adjacent; then row() and row_step() describe the rows.
  [[nodiscard]] bool has_dense_rows() const noexcept {
    return matrix_rows_ == kOneMatrix && (columns_ == 1 || column_step_ == width_);
  }
  [[nodiscard]] const kernels::Byte* row(std::int64_t row) const noexcept {
    return data_ + row * row_step_;
  }
  [[nodiscard]] std::int64_t row_step() const noexcept { return row_step_; }

  // Whether the elements of each column are adjacent, so that several rows are fetched at once.
  [[nodiscard]] bool has_dense_columns() const noexcept {
    return !is_dense_ && row_step_ == width_ && column_step_ > 0;
  }

  // Elements [first, first + count): where they are, or copied to `buffer`.
  [[nodiscard]] const kernels::Byte* at(std::int64_t first, std::int64_t count,
                                        kernels::Byte* buffer) const noexcept {
    if (is_dense_) [[likely]]
      return data_ + first * width_;
    fetch(first, count, buffer);
    return buffer;
  }
  // Copies them to `buffer`.
  void fetch(std::int64_t first, std::int64_t count, kernels::Byte* buffer) const noexcept;

 private:
  static constexpr std::int64_t kOneMatrix = 0;

  // Wraps: of an empty matrix strides and extents are any numbers, and nothing is read.
  static std::int64_t product(std::int64_t a, std::int64_t b) noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
  void add_matrices(const tnr_view& view) noexcept;
  void fetch_columns(const kernels::Byte* first, std::int64_t rows,
                     kernels::Byte* buffer) const noexcept;

  const kernels::Byte* data_ = nullptr;
  std::int64_t columns_ = 0;
  std::int64_t width_ = 0;
  unsigned width_index_ = 0;
  std::int64_t row_step_ = 0;  // bytes
  std::int64_t column_step_ = 0;
  bool is_dense_ = true;
  // For a batch whose rows are not the same distance apart from one matrix to the next.
  std::int64_t matrix_rows_ = kOneMatrix;
  std::int64_t matrix_step_ = 0;  // bytes
};

}  // namespace tenure
