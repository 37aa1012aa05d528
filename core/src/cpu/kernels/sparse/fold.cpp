// Entries of one position that become one: sums, minima and maxima of runs.
#include "cpu/fold.hpp"

#include "cpu/kernels/arithmetic.hpp"
#include "cpu/kernels/number.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class I>
int64_t mark(const Byte* indices, int64_t count, Byte* begins) {
  if (count == 0) return 0;
  constexpr int64_t kWidth = sizeof(I);
  begins[0] = 1;
  int64_t found = 1;
  constexpr int64_t kPart = int64_t{1} << 16;  // no count of it overflows the index type
  for (int64_t begin = 1; begin < count; begin += kPart) {
    const int64_t end = count - begin > kPart ? begin + kPart : count;
    I part = 0;
    for (int64_t i = begin; i < end; ++i) {
      const bool differs = load<I>(indices + i * kWidth) != load<I>(indices + (i - 1) * kWidth);
      begins[i] = static_cast<Byte>(differs);
      part += static_cast<I>(differs);
    }
    found += part;
  }
  return found;
}

template <class Rule, class T>
void kernel(const Fold& fold) {
  constexpr int64_t kWidth = sizeof(T);
  const int64_t count = fold.count;
  const Byte* const begins = fold.begins;
  const Byte* const values = fold.values;
  Byte* const out = fold.out;
  Computed<T> folded{};
  int64_t run = -1;
  // Each step stores, so that none has to know whether its run ends.
  for (int64_t i = 0; i < count; ++i) {
    const Computed<T> value = widen(load<T>(values + i * kWidth));
    const bool is_new = begins[i] != 0;
    folded = is_new ? value : Rule::apply(folded, value);
    run += is_new ? 1 : 0;
    store<T>(out + run * kWidth, narrow<T>(folded));
  }
}

}  // namespace

// Where sums wrap, signed and unsigned integers have the same bits and share their kernels.
const Folding kFolding = {
    {mark<int32_t>, mark<int64_t>},
    {{TENURE_FLOATS(Add), TENURE_UNSIGNED(Add), TENURE_UNSIGNED(Add), nullptr},
     {TENURE_FLOATS(Minimum), TENURE_SIGNED(Minimum), TENURE_UNSIGNED(Minimum), nullptr},
     {TENURE_FLOATS(Maximum), TENURE_SIGNED(Maximum), TENURE_UNSIGNED(Maximum), nullptr}}};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
