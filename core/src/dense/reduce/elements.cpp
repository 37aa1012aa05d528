#include "dense/reduce/elements.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "cpu/dispatch.hpp"
#include "dense/loops/strip_runner.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::ElementFetch;
using kernels::Finish;
using kernels::Reduction;
using kernels::Strip;
using kernels::StripInput;
using kernels::StripKernel;
using kernels::Type;

void copy(StripKernel kernel, const Byte* in, std::int64_t step, std::int64_t width_bytes,
          std::int64_t count, Byte* out) noexcept {
  run_plainly(kernel, dense_strip(count, out, width_bytes, {{in, step, width_bytes}}));
}

void load_adjacent(const ElementFetch& fetch, const Byte* in, std::int64_t count,
                   Byte* panel) noexcept {
  run_plainly(fetch.load, dense_strip(count, panel, fetch.read_bytes,
                                      {{in, fetch.width_bytes, fetch.width_bytes}}));
}

[[gnu::noinline]] void load_strided(const ElementFetch& fetch, const Byte* in, std::int64_t step,
                                    std::int64_t count, Byte* panel) noexcept {
  alignas(kLineBytes) Byte adjacent[kernels::kFetchedBytes];
  copy(fetch.copy, in, step, fetch.width_bytes, count, adjacent);
  load_adjacent(fetch, adjacent, count, panel);
}

// Loads from a tensor that is nowhere: `in` and `step` are bytes all the same.
[[gnu::noinline]] void load_computed(const DriverFetch& fetch, const Byte* in, std::int64_t step,
                                     std::int64_t count, Byte* panel) noexcept {
  const std::int64_t first = (in - origin_of_computed()) / fetch.width_bytes;
  if (fetch.load == nullptr) {
    return fetch.source->read(first, step / fetch.width_bytes, count, panel);
  }
  alignas(kLineBytes) Byte adjacent[kernels::kFetchedBytes];
  fetch.source->read(first, step / fetch.width_bytes, count, adjacent);
  load_adjacent(fetch, adjacent, count, panel);
}

void fetch_elements(const ElementFetch& fetch, const Byte* in, std::int64_t step,
                    std::int64_t count, Byte* panel) noexcept {
  const auto& by_driver = static_cast<const DriverFetch&>(fetch);
  if (by_driver.source != nullptr) [[unlikely]]
    return load_computed(by_driver, in, step, count, panel);
  if (fetch.load == nullptr) {
    copy(fetch.copy, in, step, fetch.width_bytes, count, panel);
  } else if (step == fetch.width_bytes) {
    load_adjacent(fetch, in, count, panel);
  } else {
    load_strided(fetch, in, step, count, panel);
  }
}

// Fetches elements in f64 and another unit, or powers of them for a p-norm.
void fetch_in_unit(const ElementFetch& fetch, const Byte* in, std::int64_t step, std::int64_t count,
                   Byte* panel) noexcept {
  const auto& by_driver = static_cast<const DriverFetch&>(fetch);
  if (fetch.read_bytes == sizeof(double)) {
    fetch_elements(fetch, in, step, count, panel);
  } else {
    alignas(kLineBytes) Byte narrow[kernels::kFetchedBytes / 2];
    fetch_elements(fetch, in, step, count, narrow);
    const auto& from_f32 = kernels::cast_kernels()[static_cast<unsigned>(Type::kF32)];
    run_plainly(
        from_f32[static_cast<unsigned>(Type::kF64)].kernel,
        dense_strip(count, panel, sizeof(double), {{narrow, sizeof(float), sizeof(float)}}));
  }
  const auto apply = [&](auto&& function) {
    for (std::int64_t i = 0; i < count * 8; i += 8) {
      double element;
      std::memcpy(&element, panel + i, sizeof element);
      element = function(element);
      std::memcpy(panel + i, &element, sizeof element);
    }
  };
  const double unit = by_driver.unit.unit;
  const double power = by_driver.power;
  if (power != 1) {
    apply([=](double x) { return std::pow(std::fabs(unit == 1 ? x : x / unit), power); });
  } else {
    apply([per_unit = 1 / unit, from = by_driver.unit.from](double x) {
      return x * per_unit - from;
    });
  }
}

StripKernel copy_kernel(std::int64_t width_bytes) noexcept {
  return kernels::copy_kernels()[index_of_width(width_bytes)];
}

// Whether the last step writes to an output of the type that is computed in.
bool is_in_output(Finish finish) noexcept {
  switch (finish) {
    case Finish::kAsIs:
    case Finish::kOwnVariance:
    case Finish::kOwnDeviation:
    case Finish::kPower:
    case Finish::kScaled: return false;
    default: return true;
  }
}

bool gives_truth(const Reduction& reduction) noexcept {
  return reduction.finish == Finish::kIsZero || reduction.finish == Finish::kIsNonzero;
}

// Rows of the tables of comparisons, of operations on two operands, and on one.
enum Comparison : unsigned { kEqual, kNotEqual };
constexpr unsigned kDivide = TNR_BINARY_OP_DIV - 1;
constexpr unsigned kSquareRoot = TNR_UNARY_OP_SQRT - 1;

StripKernel finishing_kernel(const Reduction& reduction, Type out_type) noexcept {
  const auto type = static_cast<unsigned>(reduction.finished);
  switch (reduction.finish) {
    case Finish::kIsZero: return kernels::compare_kernels()[kEqual][type].kernel;
    case Finish::kIsNonzero: return kernels::compare_kernels()[kNotEqual][type].kernel;
    default: break;
  }
  if (reduction.finished == out_type) return copy_kernel(bytes_of(out_type));
  return kernels::cast_kernels()[type][static_cast<unsigned>(out_type)].kernel;
}

// Multiplies by two powers of two. Only the second one rounds, because products are between 1/2 and
// 8. 0, infinities and NaN have any exponent.
[[gnu::noinline]] double scaled_far(double product, std::int64_t exponent) noexcept {
  constexpr std::int64_t kMost = 1000;
  const std::int64_t first = std::clamp(exponent, -kMost, kMost);
  const double scaled =
      product * std::ldexp(1.0, static_cast<int>(first)) *
      std::ldexp(1.0, static_cast<int>(std::clamp(exponent - first, -kMost, kMost)));
  // No sign of a NaN depends on the order of multiplications.
  return std::isnan(scaled) ? std::numeric_limits<double>::quiet_NaN() : scaled;
}

}  // namespace

std::int64_t bytes_of(Type type) noexcept {
  switch (type) {
    case Type::kI8:
    case Type::kU8:
    case Type::kBool8: return 1;
    case Type::kF16:
    case Type::kBF16:
    case Type::kI16:
    case Type::kU16: return 2;
    case Type::kF32:
    case Type::kI32:
    case Type::kU32: return 4;
    default: return 8;
  }
}

DriverFetch element_fetch(const Reduction& reduction, std::int64_t width_bytes, double power,
                          const ElementSource* source) noexcept {
  DriverFetch fetch = {{.run = fetch_elements,
                        .width_bytes = width_bytes,
                        .read_bytes = reduction.in_bytes,
                        .copy = copy_kernel(width_bytes),
                        .load = reduction.load == nullptr ? nullptr : reduction.load->kernel},
                       false,
                       {},
                       1,
                       source};
  if (reduction.finish != Finish::kPower) return fetch;
  fetch.power = power;
  return in_unit(fetch, {});
}

DriverFetch in_unit(const DriverFetch& fetch, const ElementUnit& unit) noexcept {
  DriverFetch scaled = fetch;
  scaled.converts = true;
  scaled.run = fetch_in_unit;
  // Loops may read halves as they are. Sums of f16 are not computed in a unit.
  if (fetch.load == nullptr && fetch.width_bytes == 2) {
    const auto& from_bf16 = kernels::cast_kernels()[static_cast<unsigned>(Type::kBF16)];
    scaled.load = from_bf16[static_cast<unsigned>(Type::kF32)].kernel;
  }
  scaled.read_bytes = std::max(fetch.width_bytes, std::int64_t{4});
  scaled.unit = unit;
  return scaled;
}

void start_accumulators(const Reduction& reduction, Byte* accumulators,
                        std::int64_t columns) noexcept {
  // Accumulators of more parts are written before they are read.
  if (reduction.finished_place != 0) return;
  const std::int64_t width = reduction.accumulator_bytes;
  if (columns == 1) return start_accumulator(reduction, accumulators);
  if (reduction.start == 0) {
    std::memset(accumulators, 0, static_cast<std::size_t>(columns * width));
    return;
  }
  const auto* const start = reinterpret_cast<const Byte*>(&reduction.start);
  copy(copy_kernel(width), start, 0, width, columns, accumulators);
}

Finisher::Finisher(const Reduction& reduction, Type out_type, std::int64_t count, std::int64_t ddof,
                   double power) noexcept
    : reduction_(&reduction),
      out_type_(out_type),
      finished_bytes_(bytes_of(reduction.finished)),
      out_bytes_(bytes_of(out_type)),
      count_(count),
      ddof_(reduction.finish == Finish::kAverage ? 0 : ddof),
      power_(power),
      copies_(reduction.finished == out_type && !gives_truth(reduction)) {}

void Finisher::finish(const Results& results) const noexcept {
  switch (reduction_->finish) {
    case Finish::kAverage:
    case Finish::kVariance:
    case Finish::kDeviation:
    case Finish::kOwnAverage: divide(results); break;
    case Finish::kRoot:
      take_root({results.finished, finished_bytes_, finished_bytes_}, strip_of(results, {}));
      break;
    case Finish::kOwnVariance:
    case Finish::kOwnDeviation: divide_by_own_counts(results); break;
    case Finish::kPower: take_power(results); break;
    case Finish::kScaled: scale(results); break;
    default: break;
  }
  if (copies_ && is_in_output(reduction_->finish)) return;
  if (copies_ && results.columns == 1) {
    return copy_element(results.finished, results.out, finished_bytes_);
  }
  if (copies_ && results.out_step == finished_bytes_) {
    std::memcpy(results.out, results.finished,
                static_cast<std::size_t>(results.columns * finished_bytes_));
    return;
  }
  static constexpr std::uint64_t kZero = 0;
  const StripInput sources[] = {{results.finished, finished_bytes_, finished_bytes_},
                                {reinterpret_cast<const Byte*>(&kZero), 0, finished_bytes_}};
  run_plainly(finishing_kernel(*reduction_, out_type_),
              {.count = results.columns,
               .out = results.out,
               .out_step = results.out_step,
               .width_bytes = out_bytes_,
               .source_count = gives_truth(*reduction_) ? 2u : 1u,
               .in = sources,
               .parameters = nullptr});
}

kernels::Strip Finisher::strip_of(const Results& results,
                                  std::span<const StripInput> in) const noexcept {
  return {.count = results.columns,
          .out = copies_ ? results.out : results.finished,
          .out_step = copies_ ? results.out_step : finished_bytes_,
          .width_bytes = finished_bytes_,
          .source_count = static_cast<std::uint32_t>(in.size()),
          .in = in.data(),
          .parameters = nullptr};
}

// NaN is the result of too few elements.
void Finisher::divide(const Results& results) const noexcept {
  constexpr auto kType = static_cast<unsigned>(Type::kF64);
  constexpr std::int64_t kBytes = sizeof(double);
  const bool is_nan = count_ <= ddof_;
  const double divisor =
      is_nan ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(count_ - ddof_);
  const StripInput repeated = {reinterpret_cast<const Byte*>(&divisor), 0, kBytes};
  if (is_nan) {
    return run_plainly(copy_kernel(kBytes), strip_of(results, std::span(&repeated, 1)));
  }
  const bool has_counts = reduction_->finish == Finish::kOwnAverage;
  const StripInput sources[] = {{results.finished, kBytes, kBytes},
                                has_counts ? StripInput{results.counts, kBytes, kBytes} : repeated};
  const Strip strip = strip_of(results, sources);
  run_plainly(kernels::binary_kernels()[kDivide][kType].kernel, strip);
  if (reduction_->finish == Finish::kDeviation)
    take_root({strip.out, strip.out_step, kBytes}, strip);
}

// Where they are.
void Finisher::divide_by_own_counts(const Results& results) const noexcept {
  const bool is_root = reduction_->finish == Finish::kOwnDeviation;
  const auto ddof = static_cast<double>(ddof_);
  for (std::int64_t i = 0; i < results.columns * 8; i += 8) {
    double result = std::numeric_limits<double>::quiet_NaN();
    if (count_ > ddof_) {
      double count;
      double squares;
      std::memcpy(&count, results.counts + i, sizeof count);
      std::memcpy(&squares, results.finished + i, sizeof squares);
      if (count > ddof) result = squares / (count - ddof);
    }
    if (is_root) result = std::sqrt(result);
    std::memcpy(results.finished + i, &result, sizeof result);
  }
}

// The strip is as strip_of() gives it.
void Finisher::take_root(const StripInput& squares, Strip strip) noexcept {
  constexpr auto kType = static_cast<unsigned>(Type::kF64);
  strip.in = &squares;
  strip.source_count = 1;
  run_plainly(kernels::unary_kernels()[kSquareRoot][kType].kernel, strip);
}

// Where they are.
void Finisher::scale(const Results& results) const noexcept {
  for (std::int64_t i = 0; i < results.columns * 8; i += 8) {
    double product = 1;
    if (count_ != 0) {
      std::int64_t exponent;
      std::memcpy(&product, results.finished + i, sizeof product);
      std::memcpy(&exponent, results.counts + i, sizeof exponent);
      const bool is_near = exponent > -1000 && exponent < 1000 && product * 0 == 0;
      product = is_near ? product * std::bit_cast<double>((exponent + 1023) << 52)
                        : scaled_far(product, exponent);
    }
    std::memcpy(results.finished + i, &product, sizeof product);
  }
}

// Where they are.
void Finisher::take_power(const Results& results) const noexcept {
  for (std::int64_t i = 0; i < results.columns; ++i) {
    double sum;
    std::memcpy(&sum, results.finished + i * 8, sizeof sum);
    sum = std::pow(sum, 1 / power_);
    std::memcpy(results.finished + i * 8, &sum, sizeof sum);
  }
}

}  // namespace tenure
