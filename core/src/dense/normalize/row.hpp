// A row of a normalization: measured, part by part, and then written, part by part.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "cpu/dispatch.hpp"
#include "cpu/normalize.hpp"
#include "cpu/reduce.hpp"
#include "dense/reduce/walk.hpp"

namespace tenure {

// The parameters that all rows of a call share.
struct Normalization {
  tnr_normalize_op op;
  std::int64_t count;  // elements of a row
  double eps;
  const kernels::NormalizeKernels& kernels;
  std::int64_t width_bytes;  // of what they compute in
  const kernels::Reduction& variance;
  kernels::SquareSum squares;

  // `type` is one of the four floats.
  Normalization(tnr_normalize_op code, unsigned type, std::int64_t row_count,
                double epsilon) noexcept
      : Normalization(code, type, row_count, epsilon,
                      std::min(type, static_cast<unsigned>(kernels::Type::kF32))) {}

  [[nodiscard]] bool is_softmax() const noexcept { return op == TNR_NORMALIZE_OP_SOFTMAX; }

 private:
  Normalization(tnr_normalize_op code, unsigned type, std::int64_t row_count, double epsilon,
                unsigned computed) noexcept
      : op(code),
        count(row_count),
        eps(epsilon),
        kernels(kernels::normalize_kernels()[type]),
        width_bytes(computed == 0 ? 8 : 4),
        variance(kernels::reduce_kernels()[TNR_REDUCE_OP_VAR - 1].by_type[computed]),
        squares(kernels::square_sum_kernels()[computed]) {}
};

class NormalizedRow {
 public:
  // Adjacent elements, in the order of the row. `powers`, of softmax, may be nullptr; where it is
  // not, write_powers() takes it.
  void measure(const Normalization& by, const kernels::Byte* in, std::int64_t count,
               kernels::Byte* powers) noexcept {
    if (by.op == TNR_NORMALIZE_OP_SOFTMAX || by.op == TNR_NORMALIZE_OP_LOG_SOFTMAX) {
      by.kernels.add_powers(in, count, powers_, powers);
    } else if (by.op == TNR_NORMALIZE_OP_RMS_NORM) {
      by.squares(by.variance, tile(by, in, count, &squares_));
    } else {
      measure_moments(by, in, count);
    }
    measured_ += count;
  }
  // Adds what another part of the row has given, which comes behind this one.
  void join(const Normalization& by, const NormalizedRow& other) noexcept {
    if (by.op == TNR_NORMALIZE_OP_SOFTMAX || by.op == TNR_NORMALIZE_OP_LOG_SOFTMAX) {
      const double greatest = std::max(powers_.greatest, other.powers_.greatest);
      const auto sum_below = [&](const kernels::PowerSum& part) {
        return part.greatest == greatest ? part.sum : part.sum * std::exp(part.greatest - greatest);
      };
      powers_ = {greatest, sum_below(powers_) + sum_below(other.powers_)};
    } else if (by.op == TNR_NORMALIZE_OP_RMS_NORM) {
      squares_ += other.squares_;
    } else {
      merge(by, other.moments_, other.measured_);
    }
    measured_ += other.measured_;
  }
  // The greatest so far, for write_powers().
  [[nodiscard]] double greatest() const noexcept { return powers_.greatest; }

  void end(const Normalization& by) noexcept {
    if (by.op == TNR_NORMALIZE_OP_LOG_SOFTMAX) {
      rest_ = std::log(powers_.sum);
    } else if (!by.is_softmax()) {
      const bool is_rms = by.op == TNR_NORMALIZE_OP_RMS_NORM;
      const double squares = is_rms ? squares_ : moments_.squares;
      standard_.scale = 1 / std::sqrt(squares / static_cast<double>(by.count) + by.eps);
      standard_.mean = is_rms ? 0 : moments_.mean;
      standard_.mean_rest = is_rms ? 0 : moments_.mean_rest;
    }
  }

  void write(const Normalization& by, const kernels::Byte* in, std::int64_t count,
             const kernels::Byte* weight, const kernels::Byte* bias, kernels::Byte* out) noexcept {
    switch (by.op) {
      case TNR_NORMALIZE_OP_SOFTMAX:
        by.kernels.scaled_powers(in, count, powers_.greatest, 1 / powers_.sum, out);
        break;
      case TNR_NORMALIZE_OP_LOG_SOFTMAX:
        by.kernels.differences(in, count, powers_.greatest, rest_, out);
        break;
      default:
        standard_.weight = weight;
        standard_.bias = bias;
        by.kernels.standardize(in, count, standard_, out);
        break;
    }
  }
  // The same of softmax by the powers of a part that was measured when the greatest was `greatest`.
  void write_powers(const Normalization& by, const kernels::Byte* powers, std::int64_t count,
                    double greatest, kernels::Byte* out) const noexcept {
    by.kernels.scale(powers, count, share_of(greatest), out);
  }

 private:
  struct Moments {  // as the accumulators of the reduction
    double mean;
    double mean_rest;
    double squares;
  };

  static kernels::Tile tile(const Normalization& by, const kernels::Byte* in, std::int64_t count,
                            void* accumulators) noexcept {
    kernels::Tile tile = {};
    tile.rows = count;
    tile.columns = 1;
    tile.in = in;
    tile.row_step = tile.column_step = tile.step_in_place = by.width_bytes;
    tile.accumulators = static_cast<kernels::Byte*>(accumulators);
    return tile;
  }

  void measure_moments(const Normalization& by, const kernels::Byte* in,
                       std::int64_t count) noexcept {
    Moments part;
    const bool is_first = measured_ == 0;
    by.variance.along(by.variance, tile(by, in, count, is_first ? &moments_ : &part));
    if (!is_first) merge(by, part, count);
  }
  void merge(const Normalization& by, const Moments& part, std::int64_t count) noexcept {
    by.variance.merge(by.variance, {.columns = 1,
                                    .into = reinterpret_cast<kernels::Byte*>(&moments_),
                                    .from = reinterpret_cast<const kernels::Byte*>(&part),
                                    .into_count = measured_,
                                    .from_count = count});
  }

  // Nothing of a part of minus infinities, but for NaN.
  [[nodiscard]] double share_of(double greatest) const noexcept {
    const double whole = 1 / powers_.sum;
    if (greatest == powers_.greatest) return whole;
    return std::isinf(greatest) ? 0 * whole : std::exp(greatest - powers_.greatest) * whole;
  }

  std::int64_t measured_ = 0;
  kernels::PowerSum powers_ = {-std::numeric_limits<double>::infinity(), 0};
  double rest_ = 0;
  double squares_ = 0;
  Moments moments_ = {};
  kernels::Standard standard_ = {};
};

}  // namespace tenure
