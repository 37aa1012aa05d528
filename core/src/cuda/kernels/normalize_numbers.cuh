// Numbers by which a measured row of a normalization is written.
#pragma once

#include "functions/logarithm.cuh"
#include "functions/number.cuh"
#include "normalize_arguments.hpp"

namespace tenure::cuda {

// Once for each row, and long: called.
TENURE_CALLED double quotient_of_row(double a, double b) { return a / b; }
TENURE_CALLED double root_of_row(double a) { return square_root(a); }

template <class T>
TENURE_DEVICE RowNumbers<T> softmax_numbers(double greatest, double sum) {
  return {static_cast<T>(greatest), T{0}, static_cast<T>(quotient_of_row(1, sum)), T{0}};
}
template <class T>
TENURE_DEVICE RowNumbers<T> log_softmax_numbers(double greatest, double sum) {
  return {static_cast<T>(greatest), static_cast<T>(called_logarithm(sum)), T{1}, T{0}};
}
// The mean is center + rest, and again two numbers of T: of close numbers far from 0 nothing is
// lost. `variance` is that, or the mean of the squares.
template <class T>
TENURE_DEVICE RowNumbers<T> standard_numbers(double center, double rest, double variance,
                                             double eps) {
  const double scale = quotient_of_row(1, root_of_row(variance + eps));
  const T mean = static_cast<T>(center);
  return {mean, static_cast<T>((center - static_cast<double>(mean)) + rest), static_cast<T>(scale),
          T{0}};
}

}  // namespace tenure::cuda
