// (a - mean) * scale + bias, each operation rounded: an element that is the mean gives the bias,
// however large both are.
#include "cpu/kernels/dense.hpp"
#include "cpu/kernels/strip.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class T>
struct Channel {
  T mean;
  T scale;
  T bias;

  [[nodiscard]] T of(T x) const { return (x - mean) * scale + bias; }
};

// The inputs are `a` and the numbers of its channel, which have one step.
template <class T>
Finding batch_norm(const Strip& strip) {
  const Byte* const a = strip.in[0].data;
  const Byte* const mean = strip.in[1].data;
  const Byte* const scale = strip.in[2].data;
  const Byte* const bias = strip.in[3].data;
  const int64_t count = strip.count;
  Byte* const out = strip.out;
  const int64_t a_step = strip.in[0].step;
  const int64_t step = strip.in[1].step;
  const auto channel_at = [=](int64_t at) {
    return Channel<T>{load<T>(mean + at), load<T>(scale + at), load<T>(bias + at)};
  };
  const bool is_dense = is_adjacent<T>(strip.out_step) && is_adjacent<T>(a_step);
  if (step == 0) {
    const Channel<T> channel = channel_at(0);
    if (is_dense) {
      TENURE_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) {
        store<T>(out + i * kStep<T>, channel.of(load<T>(a + i * kStep<T>)));
      }
    } else {
#pragma GCC unroll 1
      for (int64_t i = 0; i < count; ++i) {
        TENURE_ONE_BY_ONE;
        store<T>(out + i * strip.out_step, channel.of(load<T>(a + i * a_step)));
      }
    }
  } else if (is_dense && is_adjacent<T>(step)) {
    TENURE_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) {
      store<T>(out + i * kStep<T>, channel_at(i * kStep<T>).of(load<T>(a + i * kStep<T>)));
    }
  } else {
#pragma GCC unroll 1
    for (int64_t i = 0; i < count; ++i) {
      TENURE_ONE_BY_ONE;
      store<T>(out + i * strip.out_step, channel_at(i * step).of(load<T>(a + i * a_step)));
    }
  }
  return kNothing;
}

}  // namespace

const BatchNormTable kBatchNorm = {{batch_norm<double>, nullptr, Steps::kAny},
                                   {batch_norm<float>, nullptr, Steps::kAny}};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
