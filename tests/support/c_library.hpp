// Functions of the C library that tests compare with, and corrections of them for Windows.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>

#include "tenure/instruction_set.hpp"
#include "tenure/tenure.h"

namespace tenure::test {

// Whether the reference of a function is right. mingw-w64 computes sin, cos and tan of long double
// by instructions of the x87, whose pi has 66 bits. Its acos and acosh lose digits next to 1.
inline bool has_right_reference([[maybe_unused]] tnr_unary_op op) {
#if defined(__MINGW32__)
  constexpr tnr_unary_op kWrong[] = {TNR_UNARY_OP_SIN, TNR_UNARY_OP_COS, TNR_UNARY_OP_TAN,
                                     TNR_UNARY_OP_ACOS, TNR_UNARY_OP_ACOSH};
  return std::ranges::find(kWrong, op) == std::end(kWrong);
#else
  return true;
#endif
}

// a * b + sum, rounded once, on a processor that has the instruction. mingw-w64's fma() rounds
// twice.
#if defined(__MINGW32__)
[[gnu::target("fma")]] inline double fused_sum(double a, double b, double sum) {
  return __builtin_fma(a, b, sum);
}
[[gnu::target("fma")]] inline float fused_sum(float a, float b, float sum) {
  return __builtin_fmaf(a, b, sum);
}
#else
inline double fused_sum(double a, double b, double sum) { return std::fma(a, b, sum); }
inline float fused_sum(float a, float b, float sum) { return std::fma(a, b, sum); }
#endif

// Whether fma() of the library rounds once: without the instruction it calls the C library's.
inline bool has_right_fma() {
#if defined(__MINGW32__)
  return instruction_set().base != 0;
#else
  return true;
#endif
}

}  // namespace tenure::test
