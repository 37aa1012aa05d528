#include "sparse/from_dense/elements.hpp"

#include <algorithm>

#include "cpu/dispatch.hpp"
#include "memory/traffic.hpp"

namespace tenure {

void DenseElements::add_matrices(const tnr_view& view) noexcept {
  const std::int64_t rows = view.shape[1];
  if (view.shape[0] == 1) return;
  const std::int64_t step = step_of(view, 0);
  if (rows == 1) {
    row_step_ = step;
  } else if (step != product(rows, row_step_)) {
    matrix_rows_ = rows;
    matrix_step_ = step;
  }
  is_dense_ = matrix_rows_ == kOneMatrix && (columns_ == 1 || column_step_ == width_) &&
              row_step_ == product(columns_, width_);
}

// Transposes adjacent rows, where a line has elements of several. It works in pieces, while the
// lines of the next piece are on their way, which are too far apart for hardware prefetchers.
void DenseElements::fetch_columns(const kernels::Byte* first, std::int64_t rows,
                                  kernels::Byte* buffer) const noexcept {
  constexpr std::int64_t kPieceColumns = 64;
  const kernels::BlockKernel transpose = kernels::permuting_kernels().transpose[width_index_];
  for (std::int64_t column = 0; column < columns_; column += kPieceColumns) {
    const std::int64_t ahead = std::min(column + 2 * kPieceColumns, columns_);
    for (std::int64_t next = column + kPieceColumns; next < ahead; ++next) {
      for (std::int64_t byte = 0; byte < rows * width_; byte += kLineBytes) {
        __builtin_prefetch(first + next * column_step_ + byte);
      }
    }
    kernels::Block block{};
    block.rank = 2;
    block.extents[0] = rows;
    block.extents[1] = std::min(kPieceColumns, columns_ - column);
    block.in_steps[0] = row_step_;
    block.in_steps[1] = column_step_;
    block.out_steps[0] = columns_ * width_;
    block.out_steps[1] = width_;
    block.in = first + column * column_step_;
    block.out = buffer + column * width_;
    block.width_bytes = width_;
    transpose(block);
  }
}

void DenseElements::fetch(std::int64_t first, std::int64_t count,
                          kernels::Byte* buffer) const noexcept {
  const kernels::StripKernel copy = kernels::copy_kernels()[width_index_];
  std::int64_t row = first / columns_;
  std::int64_t column = first % columns_;
  // Rows of the same matrix are a step apart.
  const kernels::Byte* matrix = data_;
  std::int64_t matrix_rows = INT64_MAX;
  if (matrix_rows_ != kOneMatrix) {
    matrix += row / matrix_rows_ * matrix_step_;
    matrix_rows = matrix_rows_;
    row %= matrix_rows_;
  }
  const bool by_columns = has_dense_columns() && column == 0 && count % columns_ == 0;
  while (count > 0) {
    std::int64_t rows = 1;
    std::int64_t part = std::min(count, columns_ - column);
    const kernels::Byte* const in = matrix + row * row_step_;
    if (by_columns) {
      rows = std::min(count / columns_, matrix_rows - row);
      part = rows * columns_;
      fetch_columns(in, rows, buffer);
    } else {
      const kernels::StripInput source[] = {{in + column * column_step_, column_step_, width_}};
      copy(dense_strip(part, buffer, width_, source));
    }
    buffer += part * width_;
    count -= part;
    column = 0;
    row += rows;
    if (row == matrix_rows) {
      row = 0;
      matrix += matrix_step_;
    }
  }
}

}  // namespace tenure
