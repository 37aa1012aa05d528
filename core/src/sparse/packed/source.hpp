// The matrix that is packed, and the memory that it is packed into.
#pragma once

#include <algorithm>

#include "cpu/packed.hpp"
#include "memory/traffic.hpp"
#include "sparse/index_array.hpp"
#include "sparse/packed/packed.hpp"
#include "threads/parallel.hpp"

namespace tenure {

struct PackedSource {
  explicit PackedSource(const SparseOperand& a)
      : matrix(a.compressed()),
        first_entry(a.entries().first),
        entry_count(a.entries().last - first_entry),
        value_bytes(a.value_bytes()),
        strip_count((matrix.rows + kernels::kStripRows - 1) / kernels::kStripRows) {}

  // Counted from 0, also of a range of rows.
  [[nodiscard]] std::int64_t entry(std::int64_t row) const noexcept {
    return get_index(matrix.offsets, matrix.index_type, row) - first_entry;
  }
  [[nodiscard]] std::int64_t column(std::int64_t entry) const noexcept {
    return get_index(matrix.indices, matrix.index_type, first_entry + entry);
  }
  [[nodiscard]] const kernels::Byte* value(std::int64_t entry) const noexcept {
    return matrix.values + (first_entry + entry) * value_bytes;
  }
  [[nodiscard]] std::int64_t strip_row(std::int64_t strip) const noexcept {
    return std::min(strip * kernels::kStripRows, matrix.rows);
  }
  [[nodiscard]] std::int64_t index_bytes() const noexcept { return index_width(matrix.index_type); }
  // Bytes that a product of the matrix itself reads.
  [[nodiscard]] std::int64_t size_bytes() const noexcept {
    return entry_count * (value_bytes + index_bytes()) + (matrix.rows + 1) * index_bytes();
  }

  kernels::Compressed matrix;
  std::int64_t first_entry;
  std::int64_t entry_count;
  std::int64_t value_bytes;
  std::int64_t strip_count;
};

// Calls body(strip) for each, on the context's threads.
template <class Body>
void for_each_strip(const Context& context, const PackedSource& source, const Body& body) {
  const std::int64_t slices =
      std::clamp<std::int64_t>(slice_count_of(context, source.size_bytes()), 1,
                               std::max<std::int64_t>(1, source.strip_count));
  for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
    const std::int64_t end = slice_begin(source.strip_count, slices, slice + 1);
    for (std::int64_t s = slice_begin(source.strip_count, slices, slice); s < end; ++s) body(s);
  });
}

// Arrays one after the other in one blob, each from a line on.
class PackedArrays {
 public:
  PackedArrays(const Context& context, PackedMatrix& packed, std::int64_t size_bytes,
               int array_count) {
    // A kernel may read a register behind the last value.
    packed.memory = blob_allocate(
        context, static_cast<std::size_t>(size_bytes + (array_count + 1) * kLineBytes));
    next_ = static_cast<kernels::Byte*>(blob_memory_mut(packed.memory).data);
  }

  template <class T>
  T* take(std::int64_t count, std::int64_t bytes_each) noexcept {
    auto* const array = reinterpret_cast<T*>(next_);
    next_ += whole_lines(count * bytes_each);
    return array;
  }

 private:
  kernels::Byte* next_;
};

}  // namespace tenure
