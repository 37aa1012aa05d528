#include "dense/reduce/extremes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "cpu/dispatch.hpp"
#include "dense/loops/strip_runner.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Extremes;
using kernels::Reduction;
using kernels::Type;

constexpr auto kF64 = static_cast<unsigned>(Type::kF64);

// Squares of numbers that are divided by the large one do not overflow, and those of small numbers
// that are divided by the small one do not underflow.
constexpr double kLargeUnit = 0x1p600;
constexpr double kSmallUnit = 0x1p-600;
// A sum of squares or powers below this may have lost digits of its terms.
constexpr double kLeastSum = 0x1p-900;

double least_of(Extremes extremes, double power) noexcept {
  switch (extremes) {
    case Extremes::kVariance: return kLeastSum;
    case Extremes::kRoot: return std::sqrt(kLeastSum);
    case Extremes::kPower: return std::pow(kLeastSum, 1 / power);
    default: return 0;
  }
}

}  // namespace

ExtremeResults::ExtremeResults(const Reduction& reduction, Type out_type, double power) noexcept
    : reduction_(&reduction), out_type_(out_type), least_(least_of(reduction.extremes, power)) {}

bool ExtremeResults::is_too_small(double result) const noexcept {
  return std::fabs(result) < least_;
}
bool ExtremeResults::is_exact(double result) const noexcept {
  return std::isfinite(result) && !is_too_small(result);
}

// Compares bits, which compilers vectorize: the highest one is set if a magnitude is less than the
// least exact one, or not less than infinity.
template <class T, class Bits>
bool ExtremeResults::are_exact_as(const Byte* out, std::int64_t out_step,
                                  std::int64_t count) const noexcept {
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  constexpr Bits kToInfinity = kSign - std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  const auto least = std::bit_cast<Bits>(static_cast<T>(least_));
  Bits inexact = 0;
  const auto look_at = [&](std::int64_t step) {
    for (std::int64_t i = 0; i < count; ++i) {
      Bits bits;
      std::memcpy(&bits, out + i * step, sizeof bits);
      bits &= ~kSign;
      inexact |= (bits - least) | (bits + kToInfinity);
    }
  };
  if (out_step == sizeof(T)) {
    look_at(sizeof(T));
  } else {
    look_at(out_step);
  }
  return (inexact & kSign) == 0;
}

bool ExtremeResults::are_exact(const Byte* out, std::int64_t out_step,
                               std::int64_t count) const noexcept {
  if (out_type_ == Type::kF64) return are_exact_as<double, std::uint64_t>(out, out_step, count);
  if (out_type_ == Type::kF32) return are_exact_as<float, std::uint32_t>(out, out_step, count);
  double results[kMost];
  read(out, out_step, count, results);
  return std::all_of(results, results + count, [&](double result) { return is_exact(result); });
}

void ExtremeResults::settle(Byte* out, std::int64_t out_step, std::int64_t first,
                            std::int64_t count, const Recomputation& again) const noexcept {
  double results[kMost];
  read(out, out_step, count, results);
  if (reduction_->extremes == Extremes::kPower) {
    settle_powers(first, count, again, results);
  } else {
    settle_by(kLargeUnit, first, count, again, results);
    settle_by(kSmallUnit, first, count, again, results);
  }
  write(results, count, out, out_step);
}

void ExtremeResults::settle_by(double unit, std::int64_t first, std::int64_t count,
                               const Recomputation& again, double* results) const noexcept {
  const bool is_small = unit == kSmallUnit;
  const auto is_settled = [&](double result) {
    return is_small ? !is_too_small(result) : std::isfinite(result);
  };
  if (std::all_of(results, results + count, is_settled)) return;
  double in_unit[kMost];
  again.compute(in_f64(), {unit}, first, count, in_unit);
  for (std::int64_t i = 0; i < count; ++i) {
    if (is_settled(results[i])) continue;
    // The mean of equal numbers is one of them.
    if (reduction_->extremes == Extremes::kMean && std::isfinite(in_unit[i])) {
      double more;
      again.compute(in_f64(), {unit, in_unit[i]}, first + i, 1, &more);
      in_unit[i] += more;
    }
    double result = in_unit[i] * unit;
    if (reduction_->extremes == Extremes::kVariance) result *= unit;
    // Numbers that are too large for the small unit differ by more than it, or by nothing.
    if (!is_small || std::isfinite(result)) results[i] = result;
  }
}

// In units of the greatest magnitude, since powers of others may have any size.
void ExtremeResults::settle_powers(std::int64_t first, std::int64_t count,
                                   const Recomputation& again, double* results) const noexcept {
  const auto& magnitudes =
      kernels::norm_kernels()[static_cast<unsigned>(kernels::Norm::kInfinity)].by_type[kF64];
  for (std::int64_t i = 0; i < count; ++i) {
    if (is_exact(results[i])) continue;
    double greatest;
    again.compute(magnitudes, {}, first + i, 1, &greatest);
    if (greatest == 0 || !std::isfinite(greatest)) continue;
    again.compute(*reduction_, {greatest}, first + i, 1, results + i);
    results[i] *= greatest;
  }
}

const Reduction& ExtremeResults::in_f64() const noexcept {
  const auto& reductions = kernels::reduce_kernels();
  switch (reduction_->extremes) {
    case Extremes::kSum: return reductions[TNR_REDUCE_OP_SUM - 1].by_type[kF64];
    case Extremes::kNumberSum: return reductions[TNR_REDUCE_OP_NAN_SUM - 1].by_type[kF64];
    default: return *reduction_;
  }
}

void ExtremeResults::read(const Byte* out, std::int64_t out_step, std::int64_t count,
                          double* results) const noexcept {
  const auto convert = [count](Type from, const Byte* in, std::int64_t step, Type to, void* into) {
    const auto& casts = kernels::cast_kernels()[static_cast<unsigned>(from)];
    run_plainly(
        casts[static_cast<unsigned>(to)].kernel,
        dense_strip(count, static_cast<Byte*>(into), bytes_of(to), {{in, step, bytes_of(from)}}));
  };
  if (out_type_ != Type::kF16) return convert(out_type_, out, out_step, Type::kF64, results);
  float narrow[kMost];
  convert(Type::kF16, out, out_step, Type::kF32, narrow);
  convert(Type::kF32, reinterpret_cast<const Byte*>(narrow), sizeof(float), Type::kF64, results);
}

void ExtremeResults::write(const double* results, std::int64_t count, Byte* out,
                           std::int64_t out_step) const noexcept {
  const kernels::StripInput source = {reinterpret_cast<const Byte*>(results), sizeof(double),
                                      sizeof(double)};
  run_plainly(kernels::cast_kernels()[kF64][static_cast<unsigned>(out_type_)].kernel,
              {.count = count,
               .out = out,
               .out_step = out_step,
               .width_bytes = bytes_of(out_type_),
               .source_count = 1,
               .in = &source,
               .parameters = nullptr});
}

}  // namespace tenure
