// Arrays of i32 or i64, one number at a time.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/kernel.hpp"

namespace tenure {

constexpr std::int64_t index_width(kernels::IndexType type) noexcept {
  return type == kernels::IndexType::kI32 ? 4 : 8;
}

inline std::int64_t get_index(const kernels::Byte* indices, kernels::IndexType type,
                              std::int64_t position) noexcept {
  if (type == kernels::IndexType::kI32) {
    std::int32_t index;
    std::memcpy(&index, indices + position * 4, sizeof index);
    return index;
  }
  std::int64_t index;
  std::memcpy(&index, indices + position * 8, sizeof index);
  return index;
}

// The number fits the type.
inline void put_index(kernels::Byte* indices, kernels::IndexType type, std::int64_t position,
                      std::int64_t number) noexcept {
  if (type == kernels::IndexType::kI32) {
    const auto index = static_cast<std::int32_t>(number);
    std::memcpy(indices + position * 4, &index, sizeof index);
  } else {
    std::memcpy(indices + position * 8, &number, sizeof number);
  }
}

// The row of `rows` that entry `position` of a compressed matrix is in: the last whose offset is at
// most that. `position` lies between the first offset and the last.
inline std::int64_t row_of_entry(const kernels::Byte* offsets, kernels::IndexType type,
                                 std::int64_t rows, std::int64_t position) noexcept {
  std::int64_t low = 0;
  std::int64_t high = rows;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (get_index(offsets, type, middle) <= position ? low : high) = middle;
  }
  return low;
}

}  // namespace tenure
