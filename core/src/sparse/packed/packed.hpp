// A packed matrix in the core.
#pragma once

#include <memory>

#include "cpu/packed.hpp"
#include "sparse/operand.hpp"
#include "tenure/blob.hpp"
#include "tenure/packed.hpp"

namespace tenure {

// Rows and columns of a block; {1, 1}: there are no blocks.
struct BlockShape {
  std::int64_t rows = 1;
  std::int64_t cols = 1;

  [[nodiscard]] bool is_one() const noexcept { return rows * cols == 1; }
};

// Written once, before a handle of it exists.
struct PackedMatrix {
  PackedMatrix() = default;
  PackedMatrix(const PackedMatrix&) = delete;
  PackedMatrix& operator=(const PackedMatrix&) = delete;
  ~PackedMatrix() {
    if (memory != 0) blob_drop(memory);
  }

  tnr_packed_info info{};  // struct_size is 0
  BlobToken memory = 0;    // of all arrays
  // One of them, as info.layout says.
  kernels::PackedTiles tiles{};
  kernels::Bitmap bitmap{};
  kernels::Compressed blocks{};
};

// The entries of `a`, whose offsets and indices have been checked. Throws INVALID_ARGUMENT and
// UNSUPPORTED as packed_create() does, and OUT_OF_MEMORY.
std::unique_ptr<PackedMatrix> pack(const Context& context, const SparseOperand& a,
                                   tnr_packed_layout layout);

}  // namespace tenure
