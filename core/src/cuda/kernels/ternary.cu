// Operations on three operands.
#include "cpu/operations.hpp"
#include "elementwise.cuh"
#include "floats.cuh"

namespace tenure::cuda {

using kernels::Ternary;

// min(max(a, low), high), where a NaN stays (binary.cu).
template <class C>
TENURE_DEVICE C clamped(C a, C low, C high) {
  const C raised = a > low || a != a ? a : low;
  return raised < high || raised != raised ? raised : high;
}

template <class C, int kItems>
TENURE_DEVICE void compute_number(Ternary op, C (&x)[kItems], const C (&y)[kItems],
                                  const C (&z)[kItems]) {
  const auto each_three = [&](const auto& rule) {
    TENURE_UNROLL for (int i = 0; i < kItems; ++i) x[i] = rule(x[i], y[i], z[i]);
  };
  switch (op) {
    case Ternary::kFma: return each_three([](C a, C b, C c) { return fused(a, b, c); });
    case Ternary::kLerp:
      // (a - t a) + t b, which is exactly a or b at the ends.
      return each_three([](C a, C b, C t) { return fused(t, b, fused(-t, a, a)); });
    case Ternary::kClamp: return each_three([](C a, C b, C c) { return clamped(a, b, c); });
  }
}

template <class U>
TENURE_DEVICE void ternary_integer(const ElementwiseArgument& argument) {
  constexpr int kItems = kItemsOf<sizeof(U)>;
  const bool is_signed = argument.type < ElementType::kU8;
  map<3, sizeof(U), sizeof(U), kItems>(argument, [&](auto& in, auto& out) {
    if (static_cast<Ternary>(argument.op) == Ternary::kFma) {
      return each<U, U, kItems>(in[0], in[1], in[2], out, [](U a, U b, U c) {
        return static_cast<Wrapping<U>>(a) * static_cast<Wrapping<U>>(b) + c;
      });
    }
    if (is_signed) {
      TENURE_UNROLL for (int k = 0; k < 3; ++k) exchange_orders<U>(in[k]);
    }
    each<U, U, kItems>(in[0], in[1], in[2], out, [](U a, U b, U c) { return clamped(a, b, c); });
    if (is_signed) exchange_orders<U>(out);
  });
}

}  // namespace tenure::cuda

using namespace tenure::cuda;  // NOLINT: a kernel stands outside of every namespace

TENURE_KERNEL(ternary_f64, ElementwiseArgument) {
  map_doubles<3>(argument, [&](auto& x) {
    compute_number(static_cast<Ternary>(argument.op), x[0], x[1], x[2]);
  });
}
TENURE_KERNEL(ternary_f32, ElementwiseArgument) {
  map_floats<3>(argument, [&](auto& x) {
    compute_number(static_cast<Ternary>(argument.op), x[0], x[1], x[2]);
  });
}
TENURE_KERNEL(ternary_8, ElementwiseArgument) { ternary_integer<uint8_t>(argument); }
TENURE_KERNEL(ternary_16, ElementwiseArgument) { ternary_integer<uint16_t>(argument); }
TENURE_KERNEL(ternary_32, ElementwiseArgument) { ternary_integer<uint32_t>(argument); }
TENURE_KERNEL(ternary_64, ElementwiseArgument) { ternary_integer<uint64_t>(argument); }
