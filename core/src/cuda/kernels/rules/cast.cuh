// Casts between the real dtypes, as core/src/cpu/kernels/number.hpp converts: from what sources are
// widened to, which is exact.
#pragma once

#include "cuda/kernels/arguments.hpp"
#include "cuda/kernels/device.cuh"
#include "cuda/kernels/functions/number.cuh"

namespace tenure::cuda {

// Rounds to odd, as numbers of f64 are rounded.
TENURE_DEVICE double rounded_to_odd(uint64_t value) {
  const uint64_t odd = (value >> 11) | ((value & 0x7ffu) != 0 ? 1u : 0u);
  const double shifted = static_cast<double>(static_cast<int64_t>(odd)) * 2048.0;
  return value >> 53 != 0 ? shifted : static_cast<double>(static_cast<int64_t>(value));
}

// An integer of any dtype, extended to 64 bits.
struct Integer {
  uint64_t bits;
  bool is_signed;

  [[nodiscard]] TENURE_DEVICE bool is_negative() const { return is_signed && bits >> 63 != 0; }
  [[nodiscard]] TENURE_DEVICE uint64_t magnitude() const { return is_negative() ? 0 - bits : bits; }
  template <class Float>
  [[nodiscard]] TENURE_DEVICE Float rounded() const {
    const auto result = static_cast<Float>(magnitude());
    return is_negative() ? -result : result;
  }
};

// A float that rounds to the same 16 bits.
TENURE_DEVICE float before_halves(float value) { return value; }
TENURE_DEVICE float before_halves(double value) { return rounded_to_odd(value); }
TENURE_DEVICE float before_halves(Integer value) {
  const float result = rounded_to_odd(rounded_to_odd(value.magnitude()));
  return value.is_negative() ? -result : result;
}

// Saturates; NaN gives 0.
template <class To, class From>
TENURE_DEVICE To saturated(From value) {
  constexpr bool kIsSigned = static_cast<To>(-1) < To{0};
  constexpr unsigned kBits = 8 * sizeof(To) - (kIsSigned ? 1 : 0);
  constexpr From kBeyond = static_cast<From>(uint64_t{1} << (kBits - 1)) * From{2};
  constexpr From kLowest = kIsSigned ? -kBeyond : From{0};
  constexpr uint64_t kMost = ~uint64_t{0} >> (64 - kBits);
  const bool is_inside = value >= kLowest && value < kBeyond;
  To result = static_cast<To>(is_inside ? value : From{0});
  result = value >= kBeyond ? static_cast<To>(kMost) : result;
  return value < kLowest ? static_cast<To>(kIsSigned ? ~kMost : 0) : result;
}

template <class Float>
TENURE_DEVICE Float rounded(float value) {
  return static_cast<Float>(value);
}
template <class Float>
TENURE_DEVICE Float rounded(double value) {
  return static_cast<Float>(value);
}
template <class Float>
TENURE_DEVICE Float rounded(Integer value) {
  return value.rounded<Float>();
}

// Integers keep all bits; the caller writes only the low ones.
template <class To, class From>
TENURE_DEVICE uint64_t whole(From value) {
  return static_cast<uint64_t>(saturated<To>(value));
}
template <class To>
TENURE_DEVICE uint64_t whole(Integer value) {
  return value.bits;
}

TENURE_DEVICE bool is_true(float value) { return value != 0; }
TENURE_DEVICE bool is_true(double value) { return value != 0; }
TENURE_DEVICE bool is_true(Integer value) { return value.bits != 0; }

// To elements of a type, as bits.
template <class V, int kItems>
TENURE_DEVICE void convert_elements(ElementType type, const V (&x)[kItems],
                                    uint64_t (&out)[kItems]) {
  // For conversions of an instruction or two, from the types of the computation.
  const auto at_once = [&](const auto& convert) {
    TENURE_UNROLL for (int i = 0; i < kItems; ++i) out[i] = static_cast<uint64_t>(convert(x[i]));
  };
  // Others one after the other, for a fourth of the code. They go round, so that the loop has no
  // index into registers.
  const auto each_element = [&](const auto& convert) {
    V left[kItems];
    TENURE_UNROLL for (int i = 0; i < kItems; ++i) left[i] = x[i];
    TENURE_ROLLED for (int turn = 0; turn < kItems; ++turn) {
      const auto result = static_cast<uint64_t>(convert(left[0]));
      TENURE_UNROLL for (int i = 0; i + 1 < kItems; ++i) {
        left[i] = left[i + 1];
        out[i] = out[i + 1];
      }
      out[kItems - 1] = result;
    }
  };
  const auto each_half = [&](const auto& convert) {
    if constexpr (sizeof(V) == sizeof(float)) {
      at_once(convert);
    } else {
      each_element(convert);
    }
  };
  const auto each_whole = [&](const auto& convert) {
    if constexpr (sizeof(V) == sizeof(Integer)) {
      at_once(convert);
    } else {
      each_element(convert);
    }
  };
  switch (type) {
    case ElementType::kF64: return each_element([](V a) { return bits_of(rounded<double>(a)); });
    case ElementType::kF32: return each_half([](V a) { return bits_of(rounded<float>(a)); });
    case ElementType::kF16:
      return each_half([](V a) { return round_to_f16(before_halves(a)).bits; });
    case ElementType::kBF16:
      return each_half([](V a) { return round_to_bf16(before_halves(a)).bits; });
    case ElementType::kI8: return each_whole([](V a) { return whole<int8_t>(a); });
    case ElementType::kI16: return each_whole([](V a) { return whole<int16_t>(a); });
    case ElementType::kI32: return each_whole([](V a) { return whole<int32_t>(a); });
    case ElementType::kI64: return each_whole([](V a) { return whole<int64_t>(a); });
    case ElementType::kU8: return each_whole([](V a) { return whole<uint8_t>(a); });
    case ElementType::kU16: return each_whole([](V a) { return whole<uint16_t>(a); });
    case ElementType::kU32: return each_whole([](V a) { return whole<uint32_t>(a); });
    case ElementType::kU64: return each_whole([](V a) { return whole<uint64_t>(a); });
    case ElementType::kBool8: return at_once([](V a) { return is_true(a) ? 1 : 0; });
  }
}

}  // namespace tenure::cuda
