// Elements by index, one after the other: this waits for loads and stores of single elements, and
// gathers of vectors would not make them fewer.
#include "cpu/indexed.hpp"

#include "cpu/kernels/arithmetic.hpp"
#include "cpu/kernels/strip.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class I>
void load_offsets(const IndexRun& run, int64_t* offsets) {
  const int64_t count = run.count;
  const int64_t scale = run.scale;
  const int64_t step = run.step;
  const Byte* const from = run.indices;
  constexpr int64_t kBytes = sizeof(I);
  if (step == kBytes) {
    TENURE_INDEPENDENT
    for (int64_t k = 0; k < count; ++k) {
      offsets[k] = static_cast<int64_t>(load<I>(from + k * kBytes)) * scale;
    }
    return;
  }
  for (int64_t k = 0; k < count; ++k) {
    offsets[k] = static_cast<int64_t>(load<I>(from + k * step)) * scale;
  }
}

struct Wide {
  uint64_t halves[2];
};

template <class T>
T written(T value) {
  return value;
}
Bool8 written(Bool8 value) { return Bool8{static_cast<uint8_t>(value.byte != 0 ? 1 : 0)}; }

template <class T>
void take(const IndexedStrip& s) {
  const Byte* in = s.in;
  Byte* out = s.out;
  const int64_t* const offsets = s.offsets;
  const int64_t out_step = s.out_step;
  const int64_t in_step = s.in_step;
  const int64_t count = s.count;
  for (int64_t k = 0; k < count; ++k) {
    TENURE_ONE_BY_ONE;
    store(out, written(load<T>(in + offsets[k])));
    out += out_step;
    in += in_step;
  }
}

template <class T>
void put(const IndexedStrip& s) {
  const Byte* in = s.in;
  Byte* out = s.out;
  const int64_t* const offsets = s.offsets;
  const int64_t out_step = s.out_step;
  const int64_t in_step = s.in_step;
  const int64_t count = s.count;
  for (int64_t k = 0; k < count; ++k) {
    TENURE_ONE_BY_ONE;
    store(out + offsets[k], written(load<T>(in)));
    out += out_step;
    in += in_step;
  }
}

void take_any(const IndexedStrip& s) {
  for (int64_t k = 0; k < s.count; ++k) {
    __builtin_memcpy(s.out + k * s.out_step, s.in + k * s.in_step + s.offsets[k],
                     static_cast<uint64_t>(s.width_bytes));
  }
}

void put_any(const IndexedStrip& s) {
  for (int64_t k = 0; k < s.count; ++k) {
    __builtin_memcpy(s.out + k * s.out_step + s.offsets[k], s.in + k * s.in_step,
                     static_cast<uint64_t>(s.width_bytes));
  }
}

// Combines element by element, as the operation of the table does: 16-bit floats in f32, rounded
// after each step, since the next one may meet the same element.
template <class Rule, class T>
void kernel(const IndexedStrip& s) {
  const Byte* in = s.in;
  Byte* out = s.out;
  const int64_t* const offsets = s.offsets;
  const int64_t out_step = s.out_step;
  const int64_t in_step = s.in_step;
  const int64_t count = s.count;
  for (int64_t k = 0; k < count; ++k) {
    TENURE_ONE_BY_ONE;
    Byte* const to = out + offsets[k];
    store<T>(to, narrow<T>(of_two_numbers<Rule>(widen(load<T>(to)), widen(load<T>(in)))));
    out += out_step;
    in += in_step;
  }
}

}  // namespace

// Where results wrap, signed and unsigned integers have the same bits and share their kernels.
const Indexing kIndexing = {
    {load_offsets<int32_t>, load_offsets<int64_t>},
    {take<uint8_t>, take<uint16_t>, take<uint32_t>, take<uint64_t>, take<Wide>, take_any,
     take<Bool8>},
    {put<uint8_t>, put<uint16_t>, put<uint32_t>, put<uint64_t>, put<Wide>, put_any, put<Bool8>},
    {{TENURE_FLOATS(Add), TENURE_UNSIGNED(Add), TENURE_UNSIGNED(Add), nullptr},
     {TENURE_FLOATS(Multiply), TENURE_UNSIGNED(Multiply), TENURE_UNSIGNED(Multiply), nullptr},
     {TENURE_FLOATS(Minimum), TENURE_SIGNED(Minimum), TENURE_UNSIGNED(Minimum), nullptr},
     {TENURE_FLOATS(Maximum), TENURE_SIGNED(Maximum), TENURE_UNSIGNED(Maximum), nullptr}}};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
