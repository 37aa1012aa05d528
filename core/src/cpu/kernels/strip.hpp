// Loops along a strip: the shapes of memory worth a loop of their own, written once.
//
// An output may be exactly an input, so no loop carries a value from one element to another;
// TENURE_INDEPENDENT tells the compiler, which would otherwise test for overlap and fall back to
// the plain loop whenever a call is in place.
#pragma once

#include "cpu/kernels/number.hpp"

#if defined(__clang__)
// It also warns of every such loop that it then does not vectorise, which is no news for strides.
#pragma clang diagnostic ignored "-Wpass-failed"
#define TENURE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TENURE_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class T>
inline constexpr int64_t kStep = static_cast<int64_t>(sizeof(T));

// Op: In, Out, static Out apply(In).
template <class Op>
Finding map1(const Strip& strip) {
  using In = typename Op::In;
  using Out = typename Op::Out;
  const int64_t n = strip.count;
  Byte* const out = strip.out;
  const Byte* const a = strip.in[0].data;
  const int64_t out_step = strip.out_step;
  const int64_t a_step = strip.in[0].step;
  if (a_step == 0) {
    const Out value = Op::apply(load<In>(a));
    if (out_step == kStep<Out>) {
      for (int64_t i = 0; i < n; ++i) store<Out>(out + i * kStep<Out>, value);
    } else {
      for (int64_t i = 0; i < n; ++i) store<Out>(out + i * out_step, value);
    }
  } else if (out_step == kStep<Out> && a_step == kStep<In>) {
    TENURE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      store<Out>(out + i * kStep<Out>, Op::apply(load<In>(a + i * kStep<In>)));
    }
  } else {
    TENURE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      store<Out>(out + i * out_step, Op::apply(load<In>(a + i * a_step)));
    }
  }
  return kNothing;
}

// Op: In, Out, static Out apply(In, In).
template <class Op>
Finding map2(const Strip& strip) {
  using In = typename Op::In;
  using Out = typename Op::Out;
  const int64_t n = strip.count;
  Byte* const out = strip.out;
  const Byte* const a = strip.in[0].data;
  const Byte* const b = strip.in[1].data;
  const int64_t out_step = strip.out_step;
  const int64_t a_step = strip.in[0].step;
  const int64_t b_step = strip.in[1].step;
  const bool dense_out = out_step == kStep<Out>;
  if (dense_out && a_step == kStep<In> && b_step == kStep<In>) {
    TENURE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      store<Out>(out + i * kStep<Out>,
                 Op::apply(load<In>(a + i * kStep<In>), load<In>(b + i * kStep<In>)));
    }
  } else if (dense_out && a_step == kStep<In> && b_step == 0) {
    const In right = load<In>(b);
    TENURE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      store<Out>(out + i * kStep<Out>, Op::apply(load<In>(a + i * kStep<In>), right));
    }
  } else if (dense_out && a_step == 0 && b_step == kStep<In>) {
    const In left = load<In>(a);
    TENURE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      store<Out>(out + i * kStep<Out>, Op::apply(left, load<In>(b + i * kStep<In>)));
    }
  } else {
    TENURE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      store<Out>(out + i * out_step, Op::apply(load<In>(a + i * a_step), load<In>(b + i * b_step)));
    }
  }
  return kNothing;
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
