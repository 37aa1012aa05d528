#include "dense_elements.hpp"

#include <algorithm>

#include "traffic.hpp"

namespace tenure {

// Rows that lie side by side, so that a line has elements of several: transposed in pieces, while
// the lines of the next piece are on their way, which are too far apart for the processor to foresee.
void DenseElements::fetch_columns(std::int64_t row, std::int64_t rows,
                                  kernels::Byte* buffer) const noexcept {
  constexpr std::int64_t kPieceColumns = 64;
  const kernels::BlockKernel transpose = kernels::table().permuting->transpose[width_index_];
  const kernels::Byte* const first = data_ + row * row_step_;
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
  const kernels::StripKernel copy = kernels::table().copy[width_index_];
  std::int64_t row = first / columns_;
  std::int64_t column = first % columns_;
  if (has_dense_columns() && column == 0 && count % columns_ == 0) {
    return fetch_columns(row, count / columns_, buffer);
  }
  while (count > 0) {
    const std::int64_t part = std::min(count, columns_ - column);
    const kernels::Strip strip = {
        part,   buffer,         {data_ + row * row_step_ + column * column_step_},
        width_, {column_step_}, width_};
    copy(strip);
    buffer += part * width_;
    count -= part;
    column = 0;
    ++row;
  }
}

}  // namespace tenure
