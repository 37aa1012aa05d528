// The elements of a dense matrix of any layout, in row-major order.
#pragma once

#include <cstdint>

#include "kernels/kernel.hpp"
#include "operands.hpp"
#include "tenure/dtype.hpp"
#include "tenure/status.hpp"

namespace tenure {

class DenseElements {
 public:
  DenseElements() noexcept = default;
  // `view` has passed check_view() and has rank 2.
  explicit DenseElements(const tnr_view& view) noexcept
      : data_(static_cast<const kernels::Byte*>(view.data)),
        columns_(view.shape[1]),
        width_(static_cast<std::int64_t>(element_size(view.dtype))),
        width_index_(tenure::width_index(view.dtype)),
        row_step_(view.strides[0] * width_),
        column_step_(view.strides[1] * width_),
        is_dense_((columns_ == 1 || column_step_ == width_) &&
                  (view.shape[0] == 1 || row_step_ == columns_ * width_)) {}

  [[nodiscard]] std::int64_t width() const noexcept { return width_; }
  // As width_index() has it.
  [[nodiscard]] unsigned width_index() const noexcept { return width_index_; }
  // Whether they lie in memory in that order.
  [[nodiscard]] bool is_dense() const noexcept { return is_dense_; }

  // Whether those of each row do; then where a row begins, and how far from the next.
  [[nodiscard]] bool has_dense_rows() const noexcept {
    return columns_ == 1 || column_step_ == width_;
  }
  [[nodiscard]] const kernels::Byte* row(std::int64_t row) const noexcept {
    return data_ + row * row_step_;
  }
  [[nodiscard]] std::int64_t row_step() const noexcept { return row_step_; }

  // Whether those of each column do, so that several rows are fetched at once.
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
  void fetch_columns(std::int64_t row, std::int64_t rows, kernels::Byte* buffer) const noexcept;

  const kernels::Byte* data_ = nullptr;
  std::int64_t columns_ = 0;
  std::int64_t width_ = 0;
  unsigned width_index_ = 0;
  std::int64_t row_step_ = 0;  // bytes
  std::int64_t column_step_ = 0;
  bool is_dense_ = true;
};

}  // namespace tenure
