// Keys of elements, by the element's bits.
#pragma once

#include "cpu/kernels/number.hpp"
#include "cpu/ordering.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// The kinds of elements that have loops of their own.
enum class KeyKind { kInteger, kFloat, kTruth };

inline KeyKind kind_of(const KeyRule& rule) {
  if (rule.is_truth) return KeyKind::kTruth;
  return rule.infinity != 0 ? KeyKind::kFloat : KeyKind::kInteger;
}

template <class U>
constexpr U kAllOnes = static_cast<U>(~U{0});
template <class U>
constexpr unsigned kBits = 8 * sizeof(U);

// A rule in the width of the elements.
template <class U>
struct NarrowRule {
  U sign;
  U infinity;
  U flip;
  explicit NarrowRule(const KeyRule& rule)
      : sign(static_cast<U>(rule.sign)),
        infinity(static_cast<U>(rule.infinity)),
        flip(static_cast<U>(rule.flip)) {}

  [[gnu::always_inline]] bool is_zero(U bits) const { return static_cast<U>(bits & ~sign) == 0; }
  [[gnu::always_inline]] bool is_nan(U bits) const {
    return static_cast<U>(bits & ~sign) > infinity;
  }

  template <KeyKind kKind>
  [[gnu::always_inline]] U key(U bits) const {
    if constexpr (kKind == KeyKind::kTruth) {
      return static_cast<U>(static_cast<U>(bits != 0) ^ flip);
    } else if constexpr (kKind == KeyKind::kInteger) {
      return static_cast<U>(bits ^ sign ^ flip);
    } else {
      // A negative number's bits are all flipped, for it is the smaller the greater they are.
      const U negative = static_cast<U>(U{0} - static_cast<U>(bits >> (kBits<U> - 1)));
      const U number = is_zero(bits) ? sign : static_cast<U>(bits ^ (negative | sign));
      return is_nan(bits) ? kAllOnes<U> : static_cast<U>(number ^ flip);
    }
  }

  // The element of a key; `zero` and `nan` are the bits of those.
  template <KeyKind kKind>
  [[gnu::always_inline]] U element(U key, U zero, U nan) const {
    const U number = static_cast<U>(key ^ flip);
    if constexpr (kKind == KeyKind::kTruth) {
      return number;
    } else if constexpr (kKind == KeyKind::kInteger) {
      return static_cast<U>(number ^ sign);
    } else {
      const U positive = static_cast<U>(U{0} - static_cast<U>(number >> (kBits<U> - 1)));
      const U bits = static_cast<U>(number ^ (static_cast<U>(~positive) | sign));
      const U some = number == sign ? zero : bits;
      return key == kAllOnes<U> ? nan : some;
    }
  }
};

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
