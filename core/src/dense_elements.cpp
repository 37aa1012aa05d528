#include "dense_elements.hpp"

#include <algorithm>

namespace tenure {

void DenseElements::fetch(std::int64_t first, std::int64_t count,
                          kernels::Byte* buffer) const noexcept {
  const kernels::StripKernel copy = kernels::table().copy[width_index_];
  std::int64_t row = first / columns_;
  std::int64_t column = first % columns_;
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
