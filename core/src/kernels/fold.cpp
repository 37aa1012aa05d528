// Entries of one position that become one: sums, minima and maxima of runs.
#include "kernels/fold.hpp"

#include "kernels/number.hpp"
#include "kernels/tables.hpp"

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

struct Sum {
  static double apply(double a, double b) { return a + b; }
  static float apply(float a, float b) { return a + b; }
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrap<T>>(a) + static_cast<Wrap<T>>(b));
  }
};
// A NaN on the left stays by the second test, one on the right because it compares false.
struct Least {
  template <class T>
  static T apply(T a, T b) {
    return ((a < b) | (a != a)) ? a : b;
  }
};
struct Greatest {
  template <class T>
  static T apply(T a, T b) {
    return ((a > b) | (a != a)) ? a : b;
  }
};

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
    {{TENURE_FLOATS(Sum), TENURE_UNSIGNED(Sum), TENURE_UNSIGNED(Sum), nullptr},
     {TENURE_FLOATS(Least), TENURE_SIGNED(Least), TENURE_UNSIGNED(Least), nullptr},
     {TENURE_FLOATS(Greatest), TENURE_SIGNED(Greatest), TENURE_UNSIGNED(Greatest), nullptr}}};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
