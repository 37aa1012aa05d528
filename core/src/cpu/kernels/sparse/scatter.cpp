// Entries to the elements of a dense matrix that they are.
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class I>
inline int64_t index_at(const Byte* indices, int64_t position) {
  I index;
  __builtin_memcpy(&index, indices + position * static_cast<int64_t>(sizeof(I)), sizeof index);
  return index;
}

// Fetched ahead: 2 KiB, as for other rows of entries (row_sum.hpp).
constexpr int64_t kAheadBytes = 2048;

// `step`, the distance of columns, is a constant or not. Only locals are not reloaded after each
// store.
template <int64_t kWidth, class I, class Step>
__attribute__((always_inline)) inline void scatter_rows(const Compressed& matrix, int64_t first,
                                                        int64_t end, const Field& to, Step step) {
  Byte* row = to.first;
  const int64_t row_step = to.row_step;
  const Byte* const offsets = matrix.offsets;
  const Byte* const indices = matrix.indices;
  const Byte* const values = matrix.values;
  int64_t k = index_at<I>(offsets, first);
  for (int64_t i = first; i < end; ++i, row += row_step) {
    const int64_t last = index_at<I>(offsets, i + 1);
    const auto put = [&](int64_t entry) __attribute__((always_inline)) {
      __builtin_memcpy(row + index_at<I>(indices, entry) * step, values + entry * kWidth, kWidth);
    };
    for (; k + 8 <= last; k += 8) {
      __builtin_prefetch(values + k * kWidth + kAheadBytes);
      __builtin_prefetch(indices + k * static_cast<int64_t>(sizeof(I)) + kAheadBytes);
#pragma GCC unroll 8
      for (int64_t entry = k; entry < k + 8; ++entry) put(entry);
    }
    for (; k < last; ++k) put(k);
  }
}

template <int64_t kWidth, class I>
void scatter_rows(const Compressed& matrix, int64_t first, int64_t end, const Field& to) {
  struct Adjacent {
    operator int64_t() const { return kWidth; }
  };
  if (to.column_step == kWidth) {
    scatter_rows<kWidth, I>(matrix, first, end, to, Adjacent{});
  } else {
    scatter_rows<kWidth, I>(matrix, first, end, to, to.column_step);
  }
}

template <int64_t kWidth, class I>
void scatter_points(const Coordinates& matrix, int64_t first, int64_t end, const Field& to) {
  for (int64_t k = first; k < end; ++k) {
    __builtin_memcpy(to.first + index_at<I>(matrix.row_indices, k) * to.row_step +
                         index_at<I>(matrix.col_indices, k) * to.column_step,
                     matrix.values + k * kWidth, kWidth);
  }
}

// Lines of a block, of a size that the compiler knows, or of any.
template <int64_t kBytes>
inline void copy_lines(Byte* out, int64_t out_step, const Byte* in, int64_t count) {
  for (int64_t i = 0; i < count; ++i) __builtin_memcpy(out + i * out_step, in + i * kBytes, kBytes);
}
inline void copy_lines(Byte* out, int64_t out_step, const Byte* in, int64_t count, int64_t bytes) {
  switch (bytes) {
    case 4: return copy_lines<4>(out, out_step, in, count);
    case 8: return copy_lines<8>(out, out_step, in, count);
    case 16: return copy_lines<16>(out, out_step, in, count);
    case 32: return copy_lines<32>(out, out_step, in, count);
    case 64: return copy_lines<64>(out, out_step, in, count);
    default:
      for (int64_t i = 0; i < count; ++i) {
        __builtin_memcpy(out + i * out_step, in + i * bytes, static_cast<uint64_t>(bytes));
      }
  }
}

template <class I>
void scatter_blocks(const Compressed& matrix, const Blocks& blocks, int64_t first, int64_t end,
                    const Field& to) {
  const int64_t line_bytes = blocks.columns * blocks.width_bytes;
  const int64_t block_bytes = blocks.rows * line_bytes;
  Byte* row = to.first;
  int64_t k = index_at<I>(matrix.offsets, first);
  for (int64_t i = first; i < end; ++i, row += blocks.rows * to.row_step) {
    for (const int64_t last = index_at<I>(matrix.offsets, i + 1); k < last; ++k) {
      Byte* const out = row + index_at<I>(matrix.indices, k) * blocks.columns * to.column_step;
      const Byte* const in = matrix.values + k * block_bytes;
      if (to.column_step == blocks.width_bytes) {
        copy_lines(out, to.row_step, in, blocks.rows, line_bytes);
        continue;
      }
      for (int64_t element = 0; element < blocks.rows * blocks.columns; ++element) {
        __builtin_memcpy(out + element / blocks.columns * to.row_step +
                             element % blocks.columns * to.column_step,
                         in + element * blocks.width_bytes,
                         static_cast<uint64_t>(blocks.width_bytes));
      }
    }
  }
}

}  // namespace

#define TENURE_BY_WIDTH(scatter, I) \
  {scatter<1, I>, scatter<2, I>, scatter<4, I>, scatter<8, I>, scatter<16, I>}
const Scattering kScattering[kIndexTypeCount] = {
    {TENURE_BY_WIDTH(scatter_rows, int32_t), TENURE_BY_WIDTH(scatter_points, int32_t),
     scatter_blocks<int32_t>},
    {TENURE_BY_WIDTH(scatter_rows, int64_t), TENURE_BY_WIDTH(scatter_points, int64_t),
     scatter_blocks<int64_t>},
};
#undef TENURE_BY_WIDTH

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
