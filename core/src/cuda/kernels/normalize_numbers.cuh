// Numbers by which a measured row of a normalization is written.
#pragma once

#include "functions/logarithm.cuh"
#include "functions/number.cuh"
#include "normalize_arguments.hpp"

namespace tenure::cuda {

// Once for each row, and long: called.
TENURE_CALLED double quotient_of_row(double a, double b) { return a / b; }
TENURE_CALLED double root_of_row(double a) { return square_root(a); }

// `rest` is the sum of powers less 1.
template <class T>
TENURE_DEVICE RowNumbers<T> softmax_numbers(double greatest, double rest) {
  return {static_cast<T>(greatest), T{0}, static_cast<T>(quotient_of_row(1, 1 + rest)), T{1}};
}
template <class T>
TENURE_DEVICE RowNumbers<T> log_softmax_numbers(double greatest, double rest) {
  return {static_cast<T>(greatest), static_cast<T>(called_logarithm_of_one_more(rest)), T{1}, T{1}};
}

// The root of a row's mean square and eps, times `inverse`; `mean_square` is in `unit`. Units and their
// inverses are powers of two, so that products with them are exact.
TENURE_CALLED double scaled_root(double mean_square, double eps, double unit, double inverse) {
  if (unit == 1) return root_of_row(mean_square + eps) * inverse;
  const double a = root_of_row(mean_square) * (unit * inverse);
  const double b = root_of_row(eps) * inverse;
  const double large = a > b ? a : b;
  const double ratio = large == 0 ? 0 : quotient_of_row(a > b ? b : a, large);
  return large * root_of_row(1 + ratio * ratio);
}

// The mean is center + rest, and again two numbers of T: of close numbers far from 0 nothing is
// lost. `mean_square` is the variance, or the mean of the squares; all are in `unit`. The
// reasons are in core/src/dense/normalize/row.hpp.
template <class T>
TENURE_DEVICE RowNumbers<T> standard_numbers(double center, double rest, double mean_square,
                                             double eps, double unit = 1) {
  constexpr bool kIsWide = sizeof(T) == 8;
  constexpr double kMost = kIsWide ? 0x1p960 : 0x1p100;
  constexpr double kLarge = kIsWide ? 0x1p128 : 0x1p64;
  const double root = scaled_root(mean_square, eps, unit, 1);
  const bool has_small =
      mean_square > 0 && mean_square < 0x1p-150 && root_of_row(mean_square) * unit < 1 / kMost;
  double inverse = 1;
  if (root > kMost) inverse = 1 / kLarge;
  if ((has_small || root < 1 / kMost) && magnitude_of(center) * unit < kMost / kLarge) {
    inverse = kLarge;
  }
  const double moved = unit * inverse;
  double scale = quotient_of_row(1, scaled_root(mean_square, eps, unit, inverse));
  if (!kIsWide && scale < infinity<double>() && scale > 0x1p127) scale = 0x1p127;
  const T mean = static_cast<T>(center * moved);
  return {mean, static_cast<T>((center * moved - static_cast<double>(mean)) + rest * moved),
          static_cast<T>(scale), static_cast<T>(inverse)};
}

}  // namespace tenure::cuda
