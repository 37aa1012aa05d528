// Kernels of complex numbers, which are pairs of a real and an imaginary part in memory.
//
// They are tables of their own: others have a column for each real dtype, and most operations do
// not take complex numbers.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {

// The order of the tables: c64, whose parts are f32, and c128, whose parts are f64.
inline constexpr unsigned kComplexTypeCount = 2;

struct ComplexKernels {
  Elementwise neg, conj, square, reciprocal;
  Elementwise abs, arg;  // their results are parts
  Elementwise add, sub, mul, div;
  Elementwise eq, ne;  // as bool8
};

}  // namespace tenure::kernels
