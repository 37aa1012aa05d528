// Entries to the elements of a dense matrix that they are.
#include "kernels/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class I>
inline int64_t index_at(const Byte* indices, int64_t position) {
  I index;
  __builtin_memcpy(&index, indices + position * static_cast<int64_t>(sizeof(I)), sizeof index);
  return index;
}

template <int64_t kWidth, class I>
void scatter_rows(const Compressed& matrix, int64_t first, int64_t end, const Field& to) {
  Byte* row = to.first;
  const int64_t step = to.column_step;
  int64_t k = index_at<I>(matrix.offsets, first);
  for (int64_t i = first; i < end; ++i, row += to.row_step) {
    for (const int64_t last = index_at<I>(matrix.offsets, i + 1); k < last; ++k) {
      __builtin_memcpy(row + index_at<I>(matrix.indices, k) * step, matrix.values + k * kWidth,
                       kWidth);
    }
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
