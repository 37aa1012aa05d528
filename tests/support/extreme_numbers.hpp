// Numbers from the whole range of a float, and what reductions and scans of them are in long
// double.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "arrays.hpp"
#include "cpu/operations.hpp"
#include "tenure/tenure.h"

namespace tenure::test {

using Wide = long double;

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct FloatRange {
  int least;  // exponents of the least subnormal number and of the greatest one
  int most;
  Wide eps;  // of the type that sums are in
};
inline FloatRange range_of(Type type) {
  switch (type) {
    case Type::kF64: return {-1074, 1023, 0x1p-53L};
    case Type::kF32: return {-149, 127, 0x1p-24L};
    case Type::kF16: return {-24, 15, 0x1p-24L};
    default: return {-133, 127, 0x1p-24L};
  }
}

inline double number_at(Type type, const Byte* at) {
  double number;
  kernels::reference::cast(type, at, Type::kF64, reinterpret_cast<Byte*>(&number));
  return number;
}
inline void put_number(Type type, double number, Byte* at) {
  kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&number), type, at);
}
inline double rounded_to(Type type, Wide number) {
  Byte bytes[8];
  put_number(type, static_cast<double>(number), bytes);
  return number_at(type, bytes);
}

enum class Sizes { kAny, kLarge, kSmall, kBoth, kUsual };
inline constexpr Sizes kAllSizes[] = {Sizes::kAny, Sizes::kLarge, Sizes::kSmall, Sizes::kBoth,
                                      Sizes::kUsual};
struct Numbers {
  Sizes sizes;
  bool has_zeros;
  bool has_infinities;
  bool has_nans;
};
inline Numbers some_numbers(Random& random) {
  return {kAllSizes[random() % 5], random() % 4 == 0, random() % 8 == 0, random() % 16 == 0};
}

inline double extreme_number(const Numbers& of, Type type, Random& random) {
  const unsigned rare = static_cast<unsigned>(random() % 60);
  const double sign = random() % 2 == 0 ? 1 : -1;
  if (rare == 0 && of.has_zeros) return sign * 0.0;
  if (rare == 1 && of.has_infinities) return sign * kInfinite;
  if (rare == 2 && of.has_nans) return std::nan("");
  const FloatRange range = range_of(type);
  int first = range.least;
  int count = range.most - range.least + 1;
  Sizes sizes = of.sizes;
  if (sizes == Sizes::kBoth) sizes = random() % 2 == 0 ? Sizes::kLarge : Sizes::kSmall;
  if (sizes == Sizes::kLarge) first = range.most - (count = 3) + 1;
  if (sizes == Sizes::kSmall) count = type == Type::kF64 ? 100 : 8;
  if (sizes == Sizes::kUsual) first = -(count = 5) / 2;
  const double fraction = 1 + static_cast<double>(random() % 1024) / 1024;
  const int exponent = first + static_cast<int>(random() % static_cast<unsigned>(count));
  return rounded_to(type, std::ldexp(Wide{sign * fraction}, exponent));
}
inline void fill_with_extremes(Array& a, Type type, Random& random) {
  const Numbers numbers = some_numbers(random);
  for (Byte* const element : a.elements()) {
    put_number(type, extreme_number(numbers, type, random), element);
  }
}

// A result and how far from it one may be.
struct Expected {
  Wide result;
  Wide tolerance = 0;
};

// Bounds are rounded to the type as the result is, so that a result next to the end of the range
// may be on either side of it.
inline bool is_within(Type type, double found, const Expected& expected) {
  if (std::isnan(expected.result)) return std::isnan(found);
  if (std::isinf(expected.result)) return found == rounded_to(type, expected.result);
  const double least = rounded_to(type, expected.result - expected.tolerance);
  const double most = rounded_to(type, expected.result + expected.tolerance);
  return least <= found && found <= most;
}

// A number of any size.
class WideProduct {
 public:
  void multiply(double by) {
    int exponent = 0;
    number_ = std::frexp(number_ * by, &exponent);
    exponent_ += exponent;
  }
  [[nodiscard]] Wide value() const {
    return std::ldexp(number_, static_cast<int>(std::clamp(exponent_, -100000L, 100000L)));
  }

 private:
  Wide number_ = 1;
  long exponent_ = 0;
};

inline Expected wide_product(const std::vector<double>& numbers) {
  WideProduct product;
  for (const double number : numbers) product.multiply(number);
  const Wide value = product.value();
  return {value, std::fabs(value) * static_cast<Wide>(numbers.size() + 1) * 0x1p-52L};
}

struct WideSums {
  Wide sum = 0;
  Wide magnitudes = 0;
  Wide greatest = 0;
  Wide count = 0;

  explicit WideSums(const std::vector<double>& numbers) {
    for (const double number : numbers) {
      sum += number;
      magnitudes += std::fabs(number);
      greatest = std::max(greatest, std::fabs(Wide{number}));
      count += 1;
    }
  }
};

inline Wide wide_squares(const std::vector<double>& numbers, Wide from) {
  Wide squares = 0;
  for (const double number : numbers) squares += (number - from) * (number - from);
  return squares;
}

inline Expected wide_norm(const std::vector<double>& numbers, double power) {
  const Wide greatest = WideSums(numbers).greatest;
  for (const double number : numbers) {
    if (std::isnan(number)) return {Wide{number}};
  }
  if (greatest == 0 || std::isinf(greatest) || std::isinf(power)) return {greatest};
  Wide sum = 0;
  for (const double number : numbers) sum += std::pow(std::fabs(number) / greatest, Wide{power});
  const Wide norm = greatest * std::pow(sum, 1 / Wide{power});
  return {norm, norm * 1e-12L};
}

// nullopt of operations whose results are elements, or counts of them.
inline std::optional<Expected> wide_reduction(tnr_reduce_op op, double power, std::uint32_t ddof,
                                              Type type, std::vector<double> numbers) {
  if (std::string_view(kernels::kReduceRows[op - 1].name).starts_with("nan_")) {
    std::erase_if(numbers, [](double x) { return std::isnan(x); });
  }
  const WideSums sums(numbers);
  const Wide mean = sums.sum / sums.count;
  // Sums have leaves of 16 terms and a tree.
  const Wide of_sum = std::isinf(sums.magnitudes) ? 0 : 60 * range_of(type).eps * sums.magnitudes;
  const Wide of_mean = std::isinf(sums.magnitudes) ? 0 : 0x1p-47L * sums.magnitudes / sums.count;
  switch (op) {
    case TNR_REDUCE_OP_PROD: return wide_product(numbers);
    case TNR_REDUCE_OP_SUM:
    case TNR_REDUCE_OP_NAN_SUM: return Expected{sums.sum, of_sum};
    case TNR_REDUCE_OP_MEAN:
    case TNR_REDUCE_OP_NAN_MEAN: return Expected{mean, of_mean};
    case TNR_REDUCE_OP_VAR:
    case TNR_REDUCE_OP_STD:
    case TNR_REDUCE_OP_NAN_VAR:
    case TNR_REDUCE_OP_NAN_STD: {
      const Wide divisor = sums.count - ddof;
      if (divisor <= 0 || std::isinf(sums.magnitudes)) return Expected{Wide{std::nan("")}};
      const Wide variance = wide_squares(numbers, mean) / divisor;
      const Wide of_variance = variance * 1e-12L;
      const bool is_root = op == TNR_REDUCE_OP_STD || op == TNR_REDUCE_OP_NAN_STD;
      if (!is_root) return Expected{variance, of_variance};
      return Expected{std::sqrt(variance), std::sqrt(variance) * 1e-12L};
    }
    case TNR_REDUCE_OP_NORM: return wide_norm(numbers, power);
    case TNR_REDUCE_OP_LOGSUMEXP: {
      Wide greatest = -Wide{kInfinite};
      for (const double x : numbers) greatest = std::isnan(x) || x > greatest ? x : greatest;
      Wide powers = 0;
      for (const double x : numbers) {
        if (std::isnan(x)) return Expected{Wide{x}};
        powers += std::exp(x - greatest);
      }
      if (std::isinf(greatest)) return Expected{greatest};
      const Wide result = greatest + std::log(powers);
      return Expected{result, 16 * range_of(type).eps * (1 + std::fabs(result))};
    }
    case TNR_REDUCE_OP_MIN:
    case TNR_REDUCE_OP_MAX:
    case TNR_REDUCE_OP_ARGMIN:
    case TNR_REDUCE_OP_ARGMAX:
    case TNR_REDUCE_OP_ANY:
    case TNR_REDUCE_OP_ALL:
    case TNR_REDUCE_OP_COUNT:
    case TNR_REDUCE_OP_NAN_MIN:
    case TNR_REDUCE_OP_NAN_MAX: return std::nullopt;
    default: ADD_FAILURE() << "no expectation of reduction " << op; return std::nullopt;
  }
}

// Sums and products one after the other in f64, as far as every one is finite. They end before a
// product that f64 has few digits of, or that is next to 0: the next may be anything. Results of
// halves are rounded to f32 first.
inline std::vector<Expected> scanned_in_order(bool sums, Type type,
                                              const std::vector<double>& numbers) {
  std::vector<Expected> results;
  double so_far = sums ? -0.0 : 1;
  Wide magnitudes = 0;
  for (const double number : numbers) {
    const Wide exact = sums ? Wide{so_far} + number : Wide{so_far} * number;
    so_far = sums ? so_far + number : so_far * number;
    magnitudes += std::fabs(number);
    if (!std::isfinite(so_far)) break;
    if (!sums && exact != 0 && std::fabs(exact) < 0x1p-1000L && std::fabs(exact) > 0x1p-1077L)
      break;
    const auto count = static_cast<Wide>(results.size() + 1);
    const Wide rounded =
        type == Type::kF64 || type == Type::kF32 ? 0 : std::fabs(Wide{so_far}) * 0x1p-24L;
    results.push_back(
        {so_far, rounded + count * 0x1p-52L * (sums ? magnitudes : std::fabs(Wide{so_far}))});
  }
  return results;
}

// ---- calls ----

inline constexpr double kPowers[] = {1, 2, 3.5, 0.5, 40, 700, kInfinite};

inline Shape kept_axes(const Shape& shape, std::uint32_t axes) {
  Shape kept;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if ((axes >> axis & 1u) == 0) kept.push_back(shape[axis]);
  }
  return kept;
}

// The numbers that meet in the result at `index`.
inline std::vector<double> met_at(const Array& a, Type type, std::uint32_t axes,
                                  const Index& index) {
  std::vector<double> numbers;
  for_each_index(a.view(), [&](const Index& at) {
    std::uint32_t kept = 0;
    for (std::uint32_t axis = 0; axis < a.view().rank; ++axis) {
      if ((axes >> axis & 1u) == 0 && at[axis] != index[kept++]) return;
    }
    numbers.push_back(number_at(type, a.broadcast_element(at, a.view().rank)));
  });
  return numbers;
}

struct ReduceCall {
  tnr_reduce_op op;
  double power = 0;
  std::uint32_t ddof = 0;
};
inline ReduceCall some_call(tnr_reduce_op op, Random& random) {
  ReduceCall call = {op};
  const kernels::Attribute attribute = kernels::kReduceRows[op - 1].attribute;
  if (attribute == kernels::Attribute::kPower) call.power = kPowers[random() % std::size(kPowers)];
  if (attribute == kernels::Attribute::kDdof) call.ddof = random() % 2;
  return call;
}

inline void expect_results(const ReduceCall& call, const Array& a, Type type, std::uint32_t axes,
                           const Array& out, const char* how) {
  for_each_index(out.view(), [&](const Index& index) {
    const std::vector<double> numbers = met_at(a, type, axes, index);
    const auto expected = wide_reduction(call.op, call.power, call.ddof, type, numbers);
    const double found = number_at(type, out.broadcast_element(index, out.view().rank));
    ASSERT_TRUE(is_within(type, found, *expected))
        << how << " op " << call.op << " " << call.power << " over " << axes << " of "
        << describe(a.view()) << ": " << found << " for " << expected->result << " within "
        << expected->tolerance;
    if (call.op == TNR_REDUCE_OP_PROD && !std::isnan(found)) {
      ASSERT_EQ(std::signbit(found), std::signbit(expected->result));
    }
  });
}

// Every reduction that computes, in turns.
class Calls {
 public:
  explicit Calls(Random& random) : random_(random) {
    for (tnr_reduce_op op = 1; op <= static_cast<tnr_reduce_op>(kernels::kReduceCount); ++op) {
      if (wide_reduction(op, 2, 0, Type::kF64, {1}).has_value()) ops_.push_back(op);
    }
  }
  ReduceCall next() { return some_call(ops_[next_++ % ops_.size()], random_); }
  [[nodiscard]] std::size_t count() const { return ops_.size(); }

 private:
  Random& random_;
  std::vector<tnr_reduce_op> ops_;
  std::size_t next_ = 0;
};

inline void expect_scan(tnr_scan_op op, const Array& a, Type type, std::uint32_t axis,
                        const Array& out) {
  for_each_index(a.view(), [&](const Index& first) {
    if (first[axis] != 0) return;
    std::vector<double> numbers;
    Index at = first;
    for (; at[axis] < a.view().shape[axis]; ++at[axis]) {
      numbers.push_back(number_at(type, a.broadcast_element(at, a.view().rank)));
    }
    const auto expected = scanned_in_order(op == TNR_SCAN_OP_SUM, type, numbers);
    for (at[axis] = 0; at[axis] < std::ssize(expected); ++at[axis]) {
      const double found = number_at(type, out.broadcast_element(at, out.view().rank));
      const Expected& by_order = expected[static_cast<std::size_t>(at[axis])];
      ASSERT_TRUE(is_within(type, found, by_order))
          << "op " << op << " of " << describe(a.view()) << " at " << at[axis] << ": " << found
          << " for " << by_order.result << " within " << by_order.tolerance;
    }
  });
}

inline std::vector<Expected> wide_normalization(tnr_normalize_op op, Type type, double eps,
                                                const std::vector<double>& numbers) {
  const bool is_rms = op == TNR_NORMALIZE_OP_RMS_NORM;
  const WideSums sums(numbers);
  const Wide mean = is_rms ? 0 : sums.sum / sums.count;
  const Wide root = std::sqrt(wide_squares(numbers, mean) / sums.count + eps);
  std::vector<Expected> results;
  for (const double number : numbers) {
    const Wide rounded = std::fabs(Wide{number}) + std::fabs(mean) + std::fabs(number - mean);
    const Wide of_mean = sums.greatest * 0x1p-50L;
    const Wide tolerance = (8 * range_of(type).eps * rounded + of_mean) / root;
    results.push_back({(number - mean) / root, std::isfinite(tolerance) ? tolerance : 0});
  }
  return results;
}

// Of rows.
inline void expect_normalization(tnr_normalize_op op, const Array& a, Type type, double eps,
                                 const Array& out) {
  const std::int64_t length = a.view().shape[1];
  for (std::int64_t row = 0; row < a.view().shape[0]; ++row) {
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < length; ++i) {
      numbers.push_back(number_at(type, a.broadcast_element({row, i}, 2)));
    }
    const auto expected = wide_normalization(op, type, eps, numbers);
    for (std::int64_t i = 0; i < length; ++i) {
      const double found = number_at(type, out.broadcast_element({row, i}, 2));
      const Expected& of = expected[static_cast<std::size_t>(i)];
      ASSERT_TRUE(is_within(type, found, of))
          << "op " << op << " eps " << eps << " of " << describe(a.view()) << " at " << i << ": "
          << found << " for " << of.result << " within " << of.tolerance;
    }
  }
}

}  // namespace tenure::test
