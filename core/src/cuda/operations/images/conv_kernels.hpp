// The kernels of convolutions, and which one a call has.
#pragma once

#include "cuda/kernels/matmul_arguments.hpp"
#include "cuda/operations/grid.hpp"
#include "tenure/dtype.hpp"

namespace tenure::cuda {

// Most filters of a group for which each thread computes one element of the result: a tile would be
// nearly empty. The threads read more, and compute no element that does not exist.
inline constexpr std::int64_t kMostDirectFilters = 8;

// Lines of tiles.
inline constexpr std::int64_t kLargeTile = std::int64_t{8} * kMatmulSide;
inline constexpr std::int64_t kSmallTile = std::int64_t{4} * kMatmulSide;

constexpr tnr_dtype computed_dtype(tnr_dtype dtype) noexcept {
  return dtype == TNR_DTYPE_F16 || dtype == TNR_DTYPE_BF16 ? TNR_DTYPE_F32 : dtype;
}

// The kernels of one result: images, or filters.
struct ConvKernels {
  Kernel large_f32;
  Kernel small_f32;
  Kernel small_f64;
  Kernel direct_f32;
  Kernel direct_f64;

  [[nodiscard]] constexpr Kernel direct(tnr_dtype dtype) const noexcept {
    return dtype == TNR_DTYPE_F64 ? direct_f64 : direct_f32;
  }
  // By tiles of this number of lines.
  [[nodiscard]] constexpr Kernel tiled(tnr_dtype dtype, std::int64_t lines) const noexcept {
    if (dtype == TNR_DTYPE_F64) return small_f64;
    return lines == kLargeTile ? large_f32 : small_f32;
  }
};
inline constexpr ConvKernels kConvKernels = {Kernel::conv_f32_8, Kernel::conv_f32_4,
                                             Kernel::conv_f64_4, Kernel::conv_direct_f32,
                                             Kernel::conv_direct_f64};
inline constexpr ConvKernels kFiltersKernels = {Kernel::filters_f32_8, Kernel::filters_f32_4,
                                                Kernel::filters_f64_4, Kernel::filters_direct_f32,
                                                Kernel::filters_direct_f64};

// Lines of a call's tiles. Large tiles read less, where there are enough of them for all processors,
// and few of their filters are not there. The bits are the same. tiles(lines): how many there are.
template <class Tiles>
std::int64_t lines_of_tiles(const Queue& queue, tnr_dtype dtype, std::int64_t filters,
                            const Tiles& tiles) {
  if (dtype == TNR_DTYPE_F64) return kSmallTile;
  const auto computed = [&](std::int64_t lines) { return quotient_up(filters, lines) * lines; };
  const bool is_full = 3 * computed(kLargeTile) <= 4 * computed(kSmallTile);
  return is_full && tiles(kLargeTile) >= queue.multiprocessor_count() ? kLargeTile : kSmallTile;
}

}  // namespace tenure::cuda
