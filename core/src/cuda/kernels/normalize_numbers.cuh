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

// The root of a row's mean square and eps, in another unit; `mean_square` is in `unit`.
TENURE_CALLED double root_in_unit(double mean_square, double eps, double unit, double other) {
  if (unit == 1) return quotient_of_row(root_of_row(mean_square + eps), other);
  const double a = root_of_row(mean_square) * quotient_of_row(unit, other);
  const double b = quotient_of_row(root_of_row(eps), other);
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
  const double root = root_in_unit(mean_square, eps, unit, 1);
  const bool has_small =
      mean_square > 0 && mean_square < 0x1p-150 && root_of_row(mean_square) * unit < 1 / kMost;
  double written_in = 1;
  if (root > kMost) written_in = kLarge;
  if ((has_small || root < 1 / kMost) && magnitude_of(center) * unit < kMost / kLarge) {
    written_in = 1 / kLarge;
  }
  const double moved = quotient_of_row(unit, written_in);
  double scale = quotient_of_row(1, root_in_unit(mean_square, eps, unit, written_in));
  if (!kIsWide && scale < infinity<double>() && scale > 0x1p127) scale = 0x1p127;
  const T mean = static_cast<T>(center * moved);
  return {mean, static_cast<T>((center * moved - static_cast<double>(mean)) + rest * moved),
          static_cast<T>(scale), static_cast<T>(1 / written_in)};
}

}  // namespace tenure::cuda
