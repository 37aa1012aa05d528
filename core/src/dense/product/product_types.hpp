// Dtypes of products: how the elements of factors become sums, and these elements of the result.
#pragma once

#include <cstdint>

#include "cpu/gemm.hpp"
#include "dense/product/product_blocks.hpp"
#include "tenure/dtype.hpp"

namespace tenure {

struct FactorDtype {
  tnr_dtype dtype;
  tnr_dtype result;
  tnr_dtype sum;
  kernels::SumType sum_type;
  std::int64_t lanes;

  // In which elements are computed: complex ones by the parts of their sums.
  [[nodiscard]] constexpr tnr_dtype computed() const noexcept { return lanes == 2 ? dtype : sum; }
};
// By FactorType.
inline constexpr FactorDtype kFactorDtypes[kernels::kFactorTypeCount] = {
    {TNR_DTYPE_F64, TNR_DTYPE_F64, TNR_DTYPE_F64, kernels::SumType::kF64, 1},
    {TNR_DTYPE_F32, TNR_DTYPE_F32, TNR_DTYPE_F32, kernels::SumType::kF32, 1},
    {TNR_DTYPE_F16, TNR_DTYPE_F16, TNR_DTYPE_F32, kernels::SumType::kF32, 1},
    {TNR_DTYPE_C128, TNR_DTYPE_C128, TNR_DTYPE_F64, kernels::SumType::kF64, 2},
    {TNR_DTYPE_C64, TNR_DTYPE_C64, TNR_DTYPE_F32, kernels::SumType::kF32, 2},
    {TNR_DTYPE_BF16, TNR_DTYPE_BF16, TNR_DTYPE_F32, kernels::SumType::kOfBF16, 1},
    {TNR_DTYPE_I8, TNR_DTYPE_I32, TNR_DTYPE_I32, kernels::SumType::kI32, 1},
    {TNR_DTYPE_U8, TNR_DTYPE_I32, TNR_DTYPE_I32, kernels::SumType::kI32, 1},
};

// Types of factors that are multiplied by each other in any pair.
constexpr bool is_byte(tnr_dtype dtype) noexcept {
  return dtype == TNR_DTYPE_I8 || dtype == TNR_DTYPE_U8;
}

// The FactorType of a dtype. Throws UNSUPPORTED.
unsigned factor_type(tnr_dtype dtype);

// How the elements of a call's factors become sums, and these elements of the result.
struct ProductTypes {
  const kernels::Gemm& gemm;
  const kernels::Gemm& transposed_gemm;  // of the factors in the other order
  struct Factor {
    const kernels::FactorPacking* packing;
    std::int64_t bytes;  // of an element
  };
  Factor a;
  Factor b;
  std::int64_t out_bytes;  // of an element
  std::int64_t sum_bytes;  // of a lane of the sums
  std::int64_t lanes;      // that an element of the result is: 2 of complex numbers, else 1
  std::int64_t depths;     // that a lane of a packed factor has: 1, 2 or 4
  std::int64_t starts;     // lanes of a packed panel's row before them
  // Returns the types for the factors in the other order.
  [[nodiscard]] ProductTypes transposed() const noexcept {
    return {transposed_gemm, gemm, b, a, out_bytes, sum_bytes, lanes, depths, starts};
  }
  // Whether kernels read the factors' elements as they are.
  [[nodiscard]] bool are_plain() const noexcept {
    return lanes == 1 && depths == 1 && a.bytes == sum_bytes && b.bytes == sum_bytes;
  }
  [[nodiscard]] std::int64_t panel_columns() const noexcept { return gemm.panel_columns / lanes; }
  // Lanes of a factor's depths, as the kernels count them.
  [[nodiscard]] std::int64_t depth_lanes(std::int64_t depth) const noexcept {
    return starts + parts_of(depth * lanes, depths);
  }
  // Bytes of a panel of the right factor in a block of `depth` depths: each depth fills its
  // vectors.
  [[nodiscard]] std::int64_t panel_bytes(std::int64_t depth) const noexcept {
    return gemm.panel_columns * depth_lanes(depth) * sum_bytes;
  }
  // Depths whose products are one sum.
  [[nodiscard]] std::int64_t most_depth() const noexcept { return kBlockDepth / lanes * depths; }
  // Bytes of the whole blocks of a panel before this depth.
  [[nodiscard]] std::int64_t block_offset(std::int64_t depth) const noexcept {
    return depth / most_depth() * panel_bytes(most_depth());
  }
};

// Panels of a right factor: the depths of each follow each other.
struct Panels {
  const kernels::Byte* data;
  std::int64_t step;  // bytes from one to the next
};

// The types for factors of two FactorTypes, whose sums are of one type.
ProductTypes product_types(unsigned a, unsigned b);

}  // namespace tenure
