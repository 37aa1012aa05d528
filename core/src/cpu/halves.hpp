// 16-bit floats as f32 and back, dense: with the processor's instructions where it has them.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {

// Loading makes signalling NaNs quiet, as every operation that follows would. Spilling rounds once.
Finding load_f16(const Strip& strip);
Finding spill_f16(const Strip& strip);

// bf16 alike.
Finding load_bf16(const Strip& strip);
Finding spill_bf16(const Strip& strip);

// For kernels that compute f16 or bf16 as f32.
constexpr Conversion kF16AsFloat = {load_f16, spill_f16, 4, 4};
constexpr Conversion kBF16AsFloat = {load_bf16, spill_bf16, 4, 4};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
