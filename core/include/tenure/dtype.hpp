// Element types: their sizes, names and alignment, all read from DLPack's {code, bits, lanes}.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tenure/tenure.h"

namespace tenure {

// The codes of DLPack's DLDataTypeCode that the core tells apart.
enum class DtypeCode : std::uint8_t {
  kInt = 0,
  kUint = 1,
  kFloat = 2,
  kBfloat = 4,
  kComplex = 5,
  kBool = 6,
};

constexpr DtypeCode code_of(tnr_dtype dtype) { return static_cast<DtypeCode>(dtype & 0xffu); }
constexpr bool is_complex(tnr_dtype dtype) { return code_of(dtype) == DtypeCode::kComplex; }
constexpr std::uint32_t bits_of(tnr_dtype dtype) { return (dtype >> 8) & 0xffu; }
constexpr std::uint32_t lanes_of(tnr_dtype dtype) { return dtype >> 16; }

// Bytes of one element; 0 when it is no whole number of bytes or has no lanes.
constexpr std::size_t element_size(tnr_dtype dtype) {
  const std::uint32_t bits = bits_of(dtype);
  return bits % 8 == 0 ? std::size_t{bits / 8} * lanes_of(dtype) : 0;
}

// Alignment asked of a view's data: one lane's bytes, half of that for complex, at most 8; for odd
// sizes the largest power of two that divides them. dtype has a whole number of bytes.
constexpr std::size_t element_alignment(tnr_dtype dtype) {
  std::size_t lane_bytes = bits_of(dtype) / 8;
  if (code_of(dtype) == DtypeCode::kComplex && lane_bytes % 2 == 0) lane_bytes /= 2;
  const std::size_t power = lane_bytes & (~lane_bytes + 1);
  return power < 8 ? power : 8;
}

// "f32" for TNR_DTYPE_F32; "unknown" for a dtype that no operation takes.
const char* dtype_name(tnr_dtype dtype) noexcept;

}  // namespace tenure
