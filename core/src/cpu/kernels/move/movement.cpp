// Movement: copies and selections by element width; what the bytes mean is not asked.
#include "cpu/kernels/strip.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

struct Bytes16 {
  uint64_t halves[2];
};

template <class T>
struct Move {
  using In = T;
  using Out = T;
  static T apply(T value) { return value; }
};

template <class T>
Finding copy(const Strip& strip) {
  if (strip.out_step == kStep<T> && strip.in_steps[0] == kStep<T>) {
    __builtin_memcpy(strip.out, strip.in[0], static_cast<uint64_t>(strip.count) * sizeof(T));
    return kNothing;
  }
  return map1<Move<T>>(strip);
}

Finding copy_any(const Strip& strip) {
  const uint64_t width = static_cast<uint64_t>(strip.width_bytes);
  for (int64_t i = 0; i < strip.count; ++i) {
    __builtin_memcpy(strip.out + i * strip.out_step, strip.in[0] + i * strip.in_steps[0], width);
  }
  return kNothing;
}

template <class T>
T normal(T value) {
  return value;
}
Bool8 normal(Bool8 value) { return Bool8{static_cast<uint8_t>(value.byte != 0 ? 1 : 0)}; }

// in: condition, value where it is true, value where it is false.
template <class T>
Finding select(const Strip& strip) {
  const int64_t n = strip.count;  // read once: the compiler takes the stores for stores to it
  const Byte* const condition = strip.in[0];
  const Byte* const a = strip.in[1];
  const Byte* const b = strip.in[2];
  if (strip.out_step == kStep<T> && strip.in_steps[0] == 1 && strip.in_steps[1] == kStep<T> &&
      strip.in_steps[2] == kStep<T>) {
    Byte* const out = strip.out;
    TENURE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      const T left = load<T>(a + i * kStep<T>);
      const T right = load<T>(b + i * kStep<T>);
      store<T>(out + i * kStep<T>, normal(condition[i] != 0 ? left : right));
    }
    return kNothing;
  }
  for (int64_t i = 0; i < n; ++i) {
    const Byte* const chosen = condition[i * strip.in_steps[0]] != 0 ? a + i * strip.in_steps[1]
                                                                     : b + i * strip.in_steps[2];
    store<T>(strip.out + i * strip.out_step, normal(load<T>(chosen)));
  }
  return kNothing;
}

Finding select_any(const Strip& strip) {
  const uint64_t width = static_cast<uint64_t>(strip.width_bytes);
  for (int64_t i = 0; i < strip.count; ++i) {
    const bool chosen = strip.in[0][i * strip.in_steps[0]] != 0;
    const Byte* const from =
        chosen ? strip.in[1] + i * strip.in_steps[1] : strip.in[2] + i * strip.in_steps[2];
    // Moves rather than copies: `out` may be exactly `a` or `b`.
    __builtin_memmove(strip.out + i * strip.out_step, from, width);
  }
  return kNothing;
}

}  // namespace

const StripKernel kCopy[kWidthCount] = {copy<uint8_t>,  copy<uint16_t>, copy<uint32_t>,
                                        copy<uint64_t>, copy<Bytes16>,  copy_any};
const StripKernel kSelect[kWidthCount + 1] = {select<uint8_t>,  select<uint16_t>, select<uint32_t>,
                                              select<uint64_t>, select<Bytes16>,  select_any,
                                              select<Bool8>};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
