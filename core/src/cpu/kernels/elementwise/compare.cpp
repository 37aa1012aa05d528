// Comparisons of two operands of one dtype, as bool8.
#include "cpu/kernels/strip.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// What is compared: numbers as they are widened, truth bytes by their truth.
template <class T>
Computed<T> comparable(T value) {
  return widen(value);
}
uint8_t comparable(Bool8 value) { return value.byte != 0 ? 1 : 0; }

template <class Rule, class T>
struct Question {
  using In = T;
  using Out = Bool8;
  static Bool8 apply(T a, T b) {
    return Bool8{static_cast<uint8_t>(Rule::apply(comparable(a), comparable(b)) ? 1 : 0)};
  }
};

struct Equal {
  template <class T>
  static bool apply(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <class T>
  static bool apply(T a, T b) {
    return a != b;
  }
};
struct Less {
  template <class T>
  static bool apply(T a, T b) {
    return a < b;
  }
};
struct LessOrEqual {
  template <class T>
  static bool apply(T a, T b) {
    return a <= b;
  }
};

template <class Rule, class T>
constexpr StripKernel kernel = map2<Question<Rule, T>>;

}  // namespace

// Equality of integers does not ask for their sign.
const StripKernel kCompare[kCompareCount][kTypeCount] = {
    {TENURE_FLOATS(Equal), TENURE_UNSIGNED(Equal), TENURE_UNSIGNED(Equal), kernel<Equal, Bool8>},
    {TENURE_FLOATS(NotEqual), TENURE_UNSIGNED(NotEqual), TENURE_UNSIGNED(NotEqual),
     kernel<NotEqual, Bool8>},
    {TENURE_FLOATS(Less), TENURE_SIGNED(Less), TENURE_UNSIGNED(Less), kernel<Less, Bool8>},
    {TENURE_FLOATS(LessOrEqual), TENURE_SIGNED(LessOrEqual), TENURE_UNSIGNED(LessOrEqual),
     kernel<LessOrEqual, Bool8>},
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
