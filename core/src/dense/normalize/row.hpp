// A row of a normalization: measured, part by part, and then written, part by part.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "cpu/normalize.hpp"
#include "cpu/reduce.hpp"
#include "dense/reduce/power_sum.hpp"
#include "dense/reduce/walk.hpp"

namespace tenure {

// Elements that are measured and written together: they stay in the first cache.
inline constexpr std::int64_t kTogether = 2048;
inline constexpr std::int64_t kTogetherBytes = kTogether * 8;

// The parameters that all rows of a call share.
struct Normalization {
  tnr_normalize_op op;
  std::int64_t count;  // elements of a row
  double eps;
  const kernels::NormalizeKernels& kernels;
  std::int64_t width_bytes;  // of the computed type
  const kernels::Reduction& variance;
  kernels::SquareSum squares;

  // `type` is one of the four floats.
  Normalization(tnr_normalize_op code, unsigned type, std::int64_t row_count,
                double epsilon) noexcept
      : Normalization(code, type, row_count, epsilon,
                      std::min(type, static_cast<unsigned>(kernels::Type::kF32))) {}

  [[nodiscard]] bool is_softmax() const noexcept { return op == TNR_NORMALIZE_OP_SOFTMAX; }
  [[nodiscard]] bool is_of_powers() const noexcept {
    return is_softmax() || op == TNR_NORMALIZE_OP_LOG_SOFTMAX;
  }

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
  // Adjacent elements, at most kTogether, in the order of the row. `powers`, of softmax, may be
  // nullptr; where it is not, write_powers() takes it.
  void measure(const Normalization& by, const kernels::Byte* in, std::int64_t count,
               kernels::Byte* powers) noexcept {
    if (is_ended_) return;
    if (by.is_of_powers()) {
      by.kernels.add_powers(in, count, powers_, powers);
    } else if (unit_ != 1) {
      alignas(64) kernels::Byte scaled[kTogetherBytes];
      by.kernels.scale(in, count, 1 / unit_, scaled);
      measure_squares(by, scaled, count);
    } else {
      measure_squares(by, in, count);
    }
    measured_ += count;
  }
  // Adds what another part of the row has given, which comes behind this one.
  void join(const Normalization& by, const NormalizedRow& other) noexcept {
    if (by.is_of_powers()) {
      const bool is_above = other.powers_.greatest > powers_.greatest;
      const kernels::PowerSum& low = is_above ? powers_ : other.powers_;
      const kernels::PowerSum& high = is_above ? other.powers_ : powers_;
      const double factor =
          low.greatest == high.greatest ? 1 : std::exp(low.greatest - high.greatest);
      powers_ = {high.greatest, high.rest + (1 + low.rest) * factor};
    } else if (by.op == TNR_NORMALIZE_OP_RMS_NORM) {
      squares_ += other.squares_;
    } else {
      merge(by, other.moments_, other.measured_);
    }
    measured_ += other.measured_;
  }
  // The greatest so far, for write_powers().
  [[nodiscard]] double greatest() const noexcept { return powers_.greatest; }

  // False: the row is to be measured once more, as squares of f64 left the range.
  [[nodiscard]] bool end(const Normalization& by) noexcept {
    if (is_ended_) return true;
    if (by.op == TNR_NORMALIZE_OP_LOG_SOFTMAX) rest_ = logarithm_of(powers_);
    if (!by.is_of_powers()) {
      const bool is_rms = by.op == TNR_NORMALIZE_OP_RMS_NORM;
      if (is_rms) moments_ = {0, 0, squares_};
      if (by.width_bytes == 8 && unit_ == 1 && !are_in_range(by)) [[unlikely]] {
        const double unit = std::isfinite(moments_.squares) ? kSmallUnit : kLargeUnit;
        *this = {};
        unit_ = unit;
        return false;
      }
      set_standard(by);
    }
    is_ended_ = true;
    return true;
  }

  void write(const Normalization& by, const kernels::Byte* in, std::int64_t count,
             const kernels::Byte* weight, const kernels::Byte* bias, kernels::Byte* out) noexcept {
    switch (by.op) {
      case TNR_NORMALIZE_OP_SOFTMAX:
        by.kernels.scaled_powers(in, count, powers_.greatest, 1 / (1 + powers_.rest), out);
        break;
      case TNR_NORMALIZE_OP_LOG_SOFTMAX:
        by.kernels.differences(in, count, powers_.greatest, rest_, out);
        break;
      default:
        standard_.weight = weight;
        standard_.bias = bias;
        if (written_in_ != 1) [[unlikely]] {
          by.kernels.scale(in, count, 1 / written_in_, out);
          in = out;
        }
        by.kernels.standardize(in, count, standard_, out);
        break;
    }
  }
  // Writes the softmax of a part by its powers, which were measured when the greatest element was
  // `greatest`.
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

  void measure_squares(const Normalization& by, const kernels::Byte* in,
                       std::int64_t count) noexcept {
    if (by.op == TNR_NORMALIZE_OP_RMS_NORM) {
      return by.squares(by.variance, tile(by, in, count, &squares_));
    }
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

  // Squares below the least have lost digits, unless eps is much more. Numbers that are far from 0
  // differ by more than that, or by nothing.
  [[nodiscard]] bool are_in_range(const Normalization& by) const noexcept {
    if (moments_.squares < 0x1p-900)
      return by.eps > 0x1p-800 || std::fabs(moments_.mean) > 0x1p-400;
    return std::isfinite(moments_.squares);
  }

  // Elements are written in a unit in which neither distances from the mean nor the scale leave the
  // range of the type that is computed in.
  void set_standard(const Normalization& by) noexcept {
    const bool is_wide = by.width_bytes == 8;
    const double mean_square = moments_.squares / static_cast<double>(by.count);
    const auto root_in = [&](double unit) {
      if (unit_ == 1) return std::sqrt(mean_square + by.eps) / unit;
      return std::hypot(std::sqrt(mean_square) * (unit_ / unit), std::sqrt(by.eps) / unit);
    };
    const double root = root_in(1);
    const double most = is_wide ? 0x1p960 : 0x1p100;
    const double large = is_wide ? 0x1p128 : 0x1p64;
    const bool has_small =
        mean_square > 0 && mean_square < 0x1p-150 && std::sqrt(mean_square) * unit_ < 1 / most;
    if (root > most) written_in_ = large;
    if ((has_small || root < 1 / most) && std::fabs(moments_.mean) * unit_ < most / large) {
      written_in_ = 1 / large;
    }
    const double moved = unit_ / written_in_;
    standard_.scale = 1 / root_in(written_in_);
    standard_.mean = moments_.mean * moved;
    standard_.mean_rest = moments_.mean_rest * moved;
    // Equal numbers and a tiny eps: times infinity, their distance of 0 would be NaN.
    if (!is_wide && std::isfinite(standard_.scale)) {
      const double largest = std::numeric_limits<float>::max();
      standard_.scale = std::min(standard_.scale, largest);
    }
  }

  // Returns the factor of the powers of a part. It is 0 for a part of minus infinities, or NaN
  // where the sum is NaN.
  [[nodiscard]] double share_of(double greatest) const noexcept {
    const double whole = 1 / (1 + powers_.rest);
    if (greatest == powers_.greatest) return whole;
    return std::isinf(greatest) ? 0 * whole : std::exp(greatest - powers_.greatest) * whole;
  }

  static constexpr double kLargeUnit = 0x1p600;
  static constexpr double kSmallUnit = 0x1p-600;

  std::int64_t measured_ = 0;
  bool is_ended_ = false;
  double unit_ = 1;        // what elements are divided by where they are measured
  double written_in_ = 1;  // and where they are written
  kernels::PowerSum powers_;
  double rest_ = 0;
  double squares_ = 0;
  Moments moments_ = {};
  kernels::Standard standard_ = {};
};

}  // namespace tenure
