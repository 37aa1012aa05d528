// a * b + c, each operation rounded: batch normalization.
#include "cpu/kernels/dense.hpp"
#include "cpu/kernels/strip.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class T>
Finding scale_shift(const Strip& strip) {
  const Byte* const a = strip.in[0].data;
  const Byte* const scale = strip.in[1].data;
  const Byte* const shift = strip.in[2].data;
  const int64_t count = strip.count;
  Byte* const out = strip.out;
  const int64_t a_step = strip.in[0].step;
  const int64_t scale_step = strip.in[1].step;
  const int64_t shift_step = strip.in[2].step;
  const bool is_dense = is_adjacent<T>(strip.out_step) && is_adjacent<T>(a_step);
  if (is_dense && scale_step == 0 && shift_step == 0) {
    const T by = load<T>(scale);
    const T more = load<T>(shift);
    TENURE_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) {
      store<T>(out + i * kStep<T>, load<T>(a + i * kStep<T>) * by + more);
    }
  } else if (is_dense && is_adjacent<T>(scale_step) && is_adjacent<T>(shift_step)) {
    TENURE_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) {
      store<T>(out + i * kStep<T>, load<T>(a + i * kStep<T>) * load<T>(scale + i * kStep<T>) +
                                       load<T>(shift + i * kStep<T>));
    }
  } else {
#pragma GCC unroll 1
    for (int64_t i = 0; i < count; ++i) {
      TENURE_ONE_BY_ONE;
      store<T>(out + i * strip.out_step, load<T>(a + i * a_step) * load<T>(scale + i * scale_step) +
                                             load<T>(shift + i * shift_step));
    }
  }
  return kNothing;
}

}  // namespace

const ScaleShiftTable kScaleShift = {{scale_shift<double>, nullptr, Steps::kAny},
                                     {scale_shift<float>, nullptr, Steps::kAny}};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
