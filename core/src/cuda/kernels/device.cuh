// Shared by all kernels: how one is declared, and 16-bit floats.
//
// A kernel takes one struct by value, so that a launch hands the driver one parameter, and has
// blocks of one dimension. It includes no header of the toolkit, so that the same file compiles as
// C++ for tests/cuda, where each thread is a fibre (simt.hpp). C++17, for nvcc.
#pragma once

#include <stdint.h>

// Most threads of a block: the compiler limits registers to what this number of threads can have.
#define TENURE_MOST_THREADS 256

#if defined(__CUDACC__)

// TENURE_KERNEL(name, Argument) { ... }: the kernel `tenure_name`, whose body sees `argument`. It
// stands outside of every namespace.
#define TENURE_KERNEL(name, Argument)                                              \
  extern "C" __global__ __launch_bounds__(TENURE_MOST_THREADS) void tenure_##name( \
      const __grid_constant__ Argument argument)

#define TENURE_DEVICE __device__ __forceinline__

#else

#include "simt.hpp"

#define TENURE_KERNEL(name, Argument)                                                        \
  static void tenure_##name(const Argument& argument);                                       \
  static const simt::Registration tenure_##name##_registration(                              \
      "tenure_" #name, sizeof(Argument),                                                     \
      [](const void* argument) { tenure_##name(*static_cast<const Argument*>(argument)); }); \
  static void tenure_##name([[maybe_unused]] const Argument& argument)

#define TENURE_DEVICE inline

#endif

namespace tenure::cuda {

using Byte = unsigned char;

struct F16 {
  uint16_t bits;
};
struct BF16 {
  uint16_t bits;
};
// Any byte but 0 is true.
struct Bool8 {
  uint8_t byte;
};

// Same bytes, other type.
template <class To, class From>
TENURE_DEVICE To bit_copy(From from) {
  static_assert(sizeof(To) == sizeof(From), "as many bytes");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

// 16-bit floats are computed in f32 and rounded once, to nearest even. The bits are those of the
// CPU's kernels, except for NaN: the device's instructions give one NaN.

TENURE_DEVICE float widen(BF16 value) {
  return bit_copy<float>(static_cast<uint32_t>(value.bits) << 16);
}

#if defined(__CUDACC__)

TENURE_DEVICE float widen(F16 value) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
}

TENURE_DEVICE F16 round_to_f16(float value) {
  F16 result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
}

TENURE_DEVICE BF16 round_to_bf16(float value) {
  BF16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
}

#else

// Copies of the functions in core/src/cpu/kernels/number.hpp, which gives the reasons.
inline float widen(F16 value) {
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000u) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(value.bits & 0x7fffu) << 13;
  const float subnormal = bit_copy<float>(magnitude + (113u << 23)) - 0x1p-14f;
  uint32_t bits = magnitude >= (31u << 23) ? magnitude + (224u << 23) : magnitude + (112u << 23);
  bits = magnitude < (1u << 23) ? bit_copy<uint32_t>(subnormal) : bits;
  return bit_copy<float>(bits | sign);
}

inline F16 round_to_f16(float value) {
  const uint32_t bits = bit_copy<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  const uint32_t subnormal =
      bit_copy<uint32_t>(bit_copy<float>(magnitude) + 0.5f) - bit_copy<uint32_t>(0.5f);
  uint32_t result = magnitude < (113u << 23) ? subnormal : normal;
  result = magnitude >= (143u << 23) ? 0x7c00u : result;
  result = magnitude > 0x7f800000u ? 0x7e00u | ((magnitude >> 13) & 0x3ffu) : result;
  return F16{static_cast<uint16_t>(result | sign)};
}

inline BF16 round_to_bf16(float value) {
  const uint32_t bits = bit_copy<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x40u;
  return BF16{static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded)};
}

#endif

}  // namespace tenure::cuda
