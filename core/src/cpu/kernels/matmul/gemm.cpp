// Products of packed factors, of each type of sums.
#include "cpu/kernels/matmul/multiply_add.hpp"
#include "cpu/kernels/matmul/tiles.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {

const GemmTable kGemm = {kGemmOf<double, Fused<double>>, kGemmOf<float, Fused<float>>};

const ByteGemmTable kByteGemm = {
    {kGemmOfLanes<uint32_t, PairsOfWhole>, kGemmOfLanes<uint32_t, PairsOfWhole>},
    {kGemmOfLanes<uint32_t, PairsOfWhole>, kGemmOfLanes<uint32_t, PairsOfWhole>},
};
const Gemm kBF16Gemm = kGemmOfLanes<float, Fused<float>>;

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
