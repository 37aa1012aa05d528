// Results of reductions that left the range on the way, computed again: as the CPU does
// (core/src/dense/reduce/extremes.hpp), but in a unit near the greatest magnitude of each. A warp
// has a result, and looks at it first.
#include "normalize_arguments.hpp"
#include "reduce.cuh"

namespace tenure::cuda {

// A sum and the digits that it has lost.
struct ExactSum {
  double sum;
  double rest;

  TENURE_DEVICE void add(double x) {
    const double next = sum + x;
    const double shift = next - sum;
    rest += (sum - (next - shift)) + (x - shift);
    sum = next;
  }
};

class SettledResult {
 public:
  TENURE_DEVICE explicit SettledResult(const ReduceArgument& argument) : argument_(argument) {}

  TENURE_DEVICE void run() {
    const uint32_t result = (blockIdx.x << 3) + (threadIdx.x >> 5);
    if (result >= argument_.results) return;
    const Offsets kept = offsets_at(argument_.kept, 0, argument_.kept_rank, result);
    unsigned char* const out = argument_.out + kept.other;
    in_ = argument_.in + kept.in;
    if (argument_.finish == ReduceFinish::kPartial) return settle_row(out);
    const double found = result_at(out);
    const double magnitude = magnitude_of(found);
    if (magnitude >= argument_.least_exact && magnitude < infinity<double>()) return;
    const double settled = computed(found);
    if (threadIdx.x % 32 == 0) write_float(argument_, out, settled);
  }

 private:
  TENURE_DEVICE double result_at(const unsigned char* out) const {
    switch (argument_.out_type) {
      case ElementType::kF64: return read<double>(out);
      case ElementType::kF32: return static_cast<double>(read<float>(out));
      case ElementType::kF16: return static_cast<double>(widen(F16{read<uint16_t>(out)}));
      default: return static_cast<double>(widen(BF16{read<uint16_t>(out)}));
    }
  }
  TENURE_DEVICE double element_at(const unsigned char* from) const {
    if (argument_.width == 8) return double_of(argument_, read<uint64_t>(from));
    if (argument_.width == 4) return double_of(argument_, read<uint32_t>(from));
    return double_of(argument_, read<uint16_t>(from));
  }

  // The thread's elements.
  template <class Visit>
  TENURE_DEVICE void for_each(const Visit& visit) const {
    const bool skips = (argument_.mode & kSkipNaN) != 0;
    TENURE_ROLLED for (uint32_t row = 0; row < argument_.reduced_rows; ++row) {
      const unsigned char* const from =
          in_ + offsets_at(argument_.reduced, 1, argument_.reduced_rank, row).in;
      TENURE_ROLLED for (uint64_t i = threadIdx.x % 32; i < argument_.row_items; i += 32) {
        const double x = element_at(from + static_cast<int64_t>(i) * argument_.reduced[0].in_step);
        if (!skips || x == x) visit(x);
      }
    }
  }
  // The sum of a function of all elements, for each thread of the warp.
  template <class Term>
  TENURE_DEVICE double sum_of(const Term& term) const {
    ExactSum own = {0, 0};
    for_each([&](double x) { own.add(term(x)); });
    double sum = own.sum * 0 == 0 ? own.sum + own.rest : own.sum;
    TENURE_ROLLED for (int distance = 16; distance > 0; distance /= 2) {
      sum += __shfl_xor_sync(~0u, sum, distance);
    }
    return sum;
  }
  TENURE_DEVICE double greatest_magnitude() const {
    double greatest = 0;
    for_each([&](double x) {
      if (magnitude_of(x) > greatest) greatest = magnitude_of(x);
    });
    TENURE_ROLLED for (int distance = 16; distance > 0; distance /= 2) {
      const double other = __shfl_xor_sync(~0u, greatest, distance);
      if (other > greatest) greatest = other;
    }
    return greatest;
  }

  // A row that a normalization has measured, in its last number the unit.
  TENURE_DEVICE void settle_row(unsigned char* out) const {
    auto row = read<MeasuredRow>(out);
    const bool has_mean = argument_.extremes == ReduceExtremes::kRow;
    const double squares = has_mean ? row.third : row.first;
    row.fourth = 1;
    if (!(squares >= argument_.least_exact && squares < infinity<double>())) {
      const double others = sum_of([](double x) { return x * 0 == 0 ? 0 : x; });
      double fraction = greatest_magnitude();
      if (others == 0 && fraction != 0) {
        int32_t exponent = split_exponent(fraction);
        exponent = exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
        row = row_in_unit(exponent, has_mean);
      }
    }
    if (threadIdx.x % 32 == 0) write(out, row);
  }
  TENURE_DEVICE MeasuredRow row_in_unit(int32_t exponent, bool has_mean) const {
    const auto in_unit = [=](double x) { return scaled(x, -exponent); };
    const auto count = static_cast<double>(argument_.count);
    const double mean = has_mean ? sum_of(in_unit) / count : 0;
    const double rest = has_mean ? sum_of([=](double x) { return in_unit(x) - mean; }) / count : 0;
    const double squares = sum_of([=](double x) {
      const double distance = (in_unit(x) - mean) - rest;
      return distance * distance;
    });
    if (!has_mean) return {squares, 0, 0, scaled(1, exponent)};
    return {mean, rest, squares, scaled(1, exponent)};
  }

  // `found` where there are only zeros, or no elements.
  TENURE_DEVICE double computed(double found) const {
    const ReduceExtremes extremes = argument_.extremes;
    const bool is_sum = extremes == ReduceExtremes::kSum || extremes == ReduceExtremes::kMean;
    // Infinities and NaN decide where there are any.
    const double others = sum_of([=](double x) {
      const double other = is_sum ? x : magnitude_of(x);
      return x * 0 == 0 ? 0 : other;
    });
    const bool is_deviation =
        extremes == ReduceExtremes::kVariance || extremes == ReduceExtremes::kDeviation;
    if (!(others == 0)) return is_deviation ? not_a_number<double>() : others;
    double fraction = greatest_magnitude();
    if (fraction == 0) return found;
    if (extremes == ReduceExtremes::kPower) {
      const double unit = fraction;
      const double powers =
          sum_of([&](double x) { return power(magnitude_of(x) / unit, argument_.exponent); });
      return unit * power(powers, argument_.inverse_exponent);
    }
    // A subnormal number has a second exponent.
    int32_t exponent = split_exponent(fraction);
    exponent += split_exponent(fraction);
    const auto in_unit = [=](double x) { return scaled(x, -exponent); };
    const double sum = sum_of(in_unit);
    if (extremes == ReduceExtremes::kSum) return scaled(sum, exponent);
    const double count = sum_of([](double) { return 1.0; });
    double mean = extremes == ReduceExtremes::kRoot ? 0 : sum / count;
    const double more = sum_of([=](double x) { return in_unit(x) - mean; }) / count;
    if (extremes == ReduceExtremes::kMean) return scaled(mean + more, exponent);
    const double rest = extremes == ReduceExtremes::kRoot ? 0 : more;
    const double squares = sum_of([=](double x) {
      const double distance = (in_unit(x) - mean) - rest;
      return distance * distance;
    });
    if (extremes == ReduceExtremes::kRoot) return scaled(square_root(squares), exponent);
    const double variance = squares / argument_.divisor;
    if (extremes == ReduceExtremes::kDeviation) return scaled(square_root(variance), exponent);
    return scaled(variance, 2 * exponent);
  }

  const ReduceArgument& argument_;
  const unsigned char* in_ = nullptr;
};

}  // namespace tenure::cuda

using tenure::cuda::ReduceArgument;

TENURE_KERNEL(settle_results, ReduceArgument) { tenure::cuda::SettledResult(argument).run(); }
