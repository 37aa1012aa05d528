// How kernels read a sparse matrix: each offset and each index is compared with its bound where it
// is read, whether or not they have been checked before: nothing outside is touched even where they
// change meanwhile.
#pragma once

#include "cuda/kernels/elementwise.cuh"
#include "cuda/kernels/sparse/arguments.hpp"

namespace tenure::cuda {

// Returns an unsigned number, so that negative indices are beyond every bound. Reads halves, so
// that both widths share one code; else nearly all of a kernel would exist twice.
TENURE_DEVICE uint64_t unsigned_index(const unsigned char* indices, bool is_wide,
                                      uint64_t position) {
  const unsigned char* const at = indices + (position << (is_wide ? 3 : 2));
  const auto low = read<uint32_t>(at);
  const uint32_t high = is_wide ? read<uint32_t>(at + 4) : 0u - (low >> 31);
  return static_cast<uint64_t>(high) << 32 | low;
}

TENURE_DEVICE void write_index(unsigned char* indices, bool is_wide, uint64_t position,
                               uint64_t index) {
  if (is_wide) return write(indices + position * 8, index);
  write(indices + position * 4, static_cast<uint32_t>(index));
}

// The rows of a matrix, and whether the offsets and indices that were read of them are valid.
class SparseRows {
 public:
  struct Entries {
    uint64_t begin;
    uint64_t end;
  };

  explicit TENURE_DEVICE SparseRows(const CompressedRows& rows) : rows_(rows) {}

  // None where the offsets are wrong, or there is no such row.
  TENURE_DEVICE Entries entries_of(int64_t row) {
    if (row >= rows_.rows) return {0, 0};
    const Entries entries = {offset(row), offset(row + 1)};
    if (entries.begin <= entries.end && entries.end <= rows_.entries) return entries;
    is_wrong_ = true;
    return {0, 0};
  }
  // Whether the index of an entry is inside, and which it is.
  TENURE_DEVICE bool read_index(uint64_t entry, uint64_t& index) {
    index = unsigned_index(rows_.indices, rows_.has_wide_indices != 0, entry);
    if (index < rows_.columns) return true;
    is_wrong_ = true;
    return false;
  }
  // An entry that is not among those that there are.
  TENURE_DEVICE void refuse() { is_wrong_ = true; }
  // By each thread, at its end.
  TENURE_DEVICE void tell() {
    // The one offset that no row begins with; of a matrix without rows the only one.
    if (blockIdx.x == 0 && threadIdx.x == 0 && offset(rows_.rows) > rows_.entries) is_wrong_ = true;
    if (is_wrong_ && rows_.finding != nullptr) *rows_.finding = 1;
  }

 private:
  TENURE_DEVICE uint64_t offset(int64_t row) const {
    return unsigned_index(rows_.offsets, rows_.has_wide_indices != 0, static_cast<uint64_t>(row));
  }

  const CompressedRows& rows_;
  bool is_wrong_ = false;
};

}  // namespace tenure::cuda
