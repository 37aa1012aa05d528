#include "dense/product/product_types.hpp"

#include "cpu/dispatch.hpp"
#include "dense/operands.hpp"

namespace tenure {
namespace {

const kernels::Gemm& gemm_of(kernels::SumType type) {
  const auto row = static_cast<unsigned>(type);
  return row < kernels::kPlainSumTypeCount
             ? kernels::gemm_kernels()[row]
             : kernels::lane_gemm_kernels()[row - kernels::kPlainSumTypeCount];
}

// Both are a FactorType: that of a factor, and of the other one.
const kernels::FactorPacking& packing_of(unsigned type, unsigned other) {
  constexpr auto kFirstByte = static_cast<unsigned>(kernels::FactorType::kI8);
  if (type >= kFirstByte) return kernels::byte_packing()[type - kFirstByte][other - kFirstByte];
  return type == static_cast<unsigned>(kernels::FactorType::kBF16)
             ? kernels::bf16_packing()
             : kernels::factor_packing_kernels()[type];
}

}  // namespace

unsigned factor_type(tnr_dtype dtype) {
  for (unsigned type = 0; type < kernels::kFactorTypeCount; ++type) {
    if (kFactorDtypes[type].dtype == dtype) return type;
  }
  refuse_dtype("matmul", dtype);
}

ProductTypes product_types(unsigned a, unsigned b) {
  const auto bytes = [](tnr_dtype dtype) { return static_cast<std::int64_t>(element_size(dtype)); };
  const FactorDtype& dtype = kFactorDtypes[a];
  const kernels::FactorPacking& packing = packing_of(a, b);
  return {.gemm = gemm_of(dtype.sum_type),
          .a = {&packing, bytes(dtype.dtype)},
          .b = {&packing_of(b, a), bytes(kFactorDtypes[b].dtype)},
          .out_bytes = bytes(dtype.result),
          .sum_bytes = bytes(dtype.sum),
          .lanes = dtype.lanes,
          .depths = packing.depths,
          .starts = packing.starts};
}

}  // namespace tenure
