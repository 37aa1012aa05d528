// Rows of elements that lie anywhere, as adjacent ones and back: a few rows together, so that those
// that interleave in memory share its lines. No loop along a row exists once more for each layout
// or narrow type.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/kernel.hpp"
#include "dense/loops/nest.hpp"

namespace tenure {

// Elements [first, first + count) of each of some rows.
struct RowPart {
  std::int64_t rows;
  std::int64_t first;
  std::int64_t count;
};

// One operand of the nest of a row's elements.
struct RowElements {
  const Nest& nest;
  unsigned operand;
  std::int64_t row_step;  // bytes
  std::int64_t width_bytes;
};

// To rows of part.count adjacent elements, one after the other. Row 0 starts at `in`.
void gather_rows(const RowElements& from, const kernels::Byte* in, const RowPart& part,
                 kernels::Byte* out) noexcept;
// The way back.
void scatter_rows(const RowElements& to, const kernels::Byte* in, const RowPart& part,
                  kernels::Byte* out) noexcept;

// Calls body(offsets, rows) for positions [first, last) of the nest's rows, for at most `most` rows
// at a time, which are adjacent on its innermost axis.
template <class Body>
void for_each_row_group(const Nest& rows, std::int64_t first, std::int64_t last, std::int64_t most,
                        Body&& body) {
  const std::int64_t extent = rows.inner_extent();
  std::int64_t row = first % extent;
  std::int64_t left = last - first;
  rows.for_each_strip(first / extent, (last + extent - 1) / extent,
                      [&](const std::int64_t* strip_offsets) {
                        while (row < extent && left > 0) {
                          const std::int64_t count = std::min({most, extent - row, left});
                          std::int64_t offsets[Nest::kMaxOperands] = {};
                          for (unsigned i = 0; i < rows.operand_count(); ++i) {
                            offsets[i] = strip_offsets[i] + row * rows.inner_step(i);
                          }
                          body(static_cast<const std::int64_t*>(offsets), count);
                          row += count;
                          left -= count;
                        }
                        row = 0;
                      });
}

}  // namespace tenure
