// Arrays of i32 or i64, one number at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/bisect.hpp"
#include "cpu/kernel.hpp"
#include "tenure/dtype.hpp"

namespace tenure {

// The type of major and minor of a matrix that has passed check_sparse().
inline kernels::IndexType index_type(tnr_dtype dtype) noexcept {
  return dtype == TNR_DTYPE_I32 ? kernels::IndexType::kI32 : kernels::IndexType::kI64;
}

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

// The numbers of major or minor. A branch that is always the same costs less than a second copy of
// a loop.
class IndexReader {
 public:
  explicit IndexReader(const tnr_view& indices) noexcept
      : data_(static_cast<const kernels::Byte*>(indices.data)), type_(index_type(indices.dtype)) {}

  std::int64_t operator[](std::int64_t position) const noexcept {
    return get_index(data_, type_, position);
  }

 private:
  const kernels::Byte* data_;
  kernels::IndexType type_;
};
inline std::int64_t index_at(const tnr_view& indices, std::int64_t position) noexcept {
  return IndexReader(indices)[position];
}

// Writes the offsets of rows, most without entries, by the first entry of each row that has some.
class OffsetRuns {
 public:
  // From the offset of row `next` on.
  OffsetRuns(kernels::Byte* offsets, kernels::IndexType type, std::int64_t next) noexcept
      : offsets_(offsets), type_(type), next_(next) {}

  // Called in the order of rows: `entry` is the first one of `row`, or the end behind the last row.
  // Entries of the row before change nothing.
  void add(std::int64_t row, std::int64_t entry) noexcept {
    if (row < next_) return;
    const auto fill = [&]<class I>(I* to) {
      std::fill(to + next_, to + row + 1, static_cast<I>(entry));
    };
    if (type_ == kernels::IndexType::kI32) {
      fill(reinterpret_cast<std::int32_t*>(offsets_));
    } else {
      fill(reinterpret_cast<std::int64_t*>(offsets_));
    }
    next_ = row + 1;
  }

 private:
  kernels::Byte* offsets_;
  kernels::IndexType type_;
  std::int64_t next_;
};

// The row of `rows` that entry `position` of a compressed matrix is in: the last whose offset is at
// most that. `position` is between the first offset and the last.
inline std::int64_t row_of_entry(const kernels::Byte* offsets, kernels::IndexType type,
                                 std::int64_t rows, std::int64_t position) noexcept {
  return first_where(1, rows,
                     [=](std::int64_t row) { return get_index(offsets, type, row) > position; }) -
         1;
}

}  // namespace tenure
