#include "dense/product/product_types.hpp"

#include "cpu/dispatch.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

constexpr auto kFirstByte = static_cast<unsigned>(kernels::FactorType::kI8);

// Types are a FactorType: those of the left factor and of the right one.
const kernels::Gemm& gemm_of(unsigned a, unsigned b) {
  if (a >= kFirstByte) return kernels::byte_gemm_kernels()[a - kFirstByte][b - kFirstByte];
  const kernels::SumType type = kFactorDtypes[a].sum_type;
  return type == kernels::SumType::kOfBF16 ? kernels::bf16_gemm_kernels()
                                           : kernels::gemm_kernels()[static_cast<unsigned>(type)];
}

// `type` is the FactorType of the factor, `other` that of the other one.
const kernels::FactorPacking& packing_of(unsigned type, unsigned other) {
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
  const kernels::Gemm& gemm = gemm_of(a, b);
  return {.gemm = gemm,
          .transposed_gemm = a == b ? gemm : gemm_of(b, a),
          .a = {&packing, bytes(dtype.dtype)},
          .b = {&packing_of(b, a), bytes(kFactorDtypes[b].dtype)},
          .out_bytes = bytes(dtype.result),
          .sum_bytes = bytes(dtype.sum),
          .lanes = dtype.lanes,
          .depths = packing.depths,
          .starts = packing.starts};
}

}  // namespace tenure
