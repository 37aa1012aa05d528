// Movement: copies and selections by element width, whatever the dtype.
#include "cpu/kernels/strip.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

struct Bytes16 {
  uint64_t halves[2];
};

template <class T>
void repeat(const Strip& strip) {
  const T value = load<T>(strip.in[0].data);
  const int64_t n = strip.count;
  const int64_t out_step = strip.out_step;
  Byte* const out = strip.out;
  if (out_step == kStep<T>) {
    for (int64_t i = 0; i < n; ++i) store<T>(out + i * kStep<T>, value);
  } else {
    for (int64_t i = 0; i < n; ++i) store<T>(out + i * out_step, value);
  }
}

// An element by itself, which compilers do not make a part of a vector.
template <class T>
inline T load_alone(const Byte* from) {
  T value = load<T>(from);
  if constexpr (sizeof(T) <= sizeof(uint64_t)) __asm__ volatile("" : "+r"(value));
  return value;
}

// Loads some elements, each by itself, before it stores them: compilers make vectors of a plain
// loop, which takes 2.4 times as long. Registers have room for four.
template <class T>
void copy_strided(const Strip& strip) {
  constexpr int kTogether = 4;
  const int64_t step = strip.in[0].step;
  const int64_t out_step = strip.out_step;
  const Byte* in = strip.in[0].data;
  Byte* out = strip.out;
  int64_t rest = strip.count;
  for (; rest >= kTogether; rest -= kTogether) {
    T values[kTogether];
#pragma GCC unroll 4
    for (int i = 0; i < kTogether; ++i) values[i] = load_alone<T>(in + i * step);
#pragma GCC unroll 4
    for (int i = 0; i < kTogether; ++i) store<T>(out + i * out_step, values[i]);
    in += kTogether * step;
    out += kTogether * out_step;
  }
#pragma GCC unroll 1
  for (; rest > 0; --rest) {
    store<T>(out, load<T>(in));
    in += step;
    out += out_step;
  }
}

// Elements that become adjacent, put together in a register: processors load two or three times in
// a cycle, and store once or twice.
template <class T>
struct Together {
  static constexpr int64_t kBytes = 16;
  static constexpr int64_t kElements = kBytes / kStep<T>;

  static void gather(const Byte* in, int64_t step, Byte* out) {
    if constexpr (kElements == 1) {
      store(out, load<T>(in));
    } else {
      typedef T Vector __attribute__((vector_size(kBytes)));
      Vector together;
#pragma GCC unroll 16
      for (int64_t i = 0; i < kElements; ++i) together[i] = load<T>(in + i * step);
      store(out, together);
    }
  }
};

template <class T>
void gather(const Strip& strip) {
  using Several = Together<T>;
  const int64_t step = strip.in[0].step;
  const Byte* in = strip.in[0].data;
  Byte* out = strip.out;
  int64_t rest = strip.count;
#pragma GCC unroll 4
  for (; rest >= Several::kElements; rest -= Several::kElements) {
    Several::gather(in, step, out);
    in += Several::kElements * step;
    out += Several::kBytes;
  }
#pragma GCC unroll 1
  for (; rest > 0; --rest) {
    store<T>(out, load<T>(in));
    in += step;
    out += kStep<T>;
  }
}

template <class T>
Finding copy(const Strip& strip) {
  if (strip.out_step == kStep<T> && strip.in[0].step == kStep<T>) {
    __builtin_memcpy(strip.out, strip.in[0].data, static_cast<uint64_t>(strip.count) * sizeof(T));
    return kNothing;
  }
  if (strip.in[0].step == 0) {
    repeat<T>(strip);
  } else if (strip.out_step == kStep<T>) {
    gather<T>(strip);
  } else {
    copy_strided<T>(strip);
  }
  return kNothing;
}

Finding copy_any(const Strip& strip) {
  const uint64_t width = static_cast<uint64_t>(strip.width_bytes);
  for (int64_t i = 0; i < strip.count; ++i) {
    __builtin_memcpy(strip.out + i * strip.out_step, strip.in[0].data + i * strip.in[0].step,
                     width);
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
  const Byte* const condition = strip.in[0].data;
  const Byte* const a = strip.in[1].data;
  const Byte* const b = strip.in[2].data;
  const int64_t condition_step = strip.in[0].step;
  const int64_t a_step = strip.in[1].step;
  const int64_t b_step = strip.in[2].step;
  if (strip.out_step == kStep<T> && condition_step == 1 && a_step == kStep<T> &&
      b_step == kStep<T>) {
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
    const Byte* const chosen = condition[i * condition_step] != 0 ? a + i * a_step : b + i * b_step;
    store<T>(strip.out + i * strip.out_step, normal(load<T>(chosen)));
  }
  return kNothing;
}

Finding select_any(const Strip& strip) {
  const uint64_t width = static_cast<uint64_t>(strip.width_bytes);
  for (int64_t i = 0; i < strip.count; ++i) {
    const bool chosen = strip.in[0].data[i * strip.in[0].step] != 0;
    const Byte* const from =
        chosen ? strip.in[1].data + i * strip.in[1].step : strip.in[2].data + i * strip.in[2].step;
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
