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
    const Long<double> next = sum_of_any(sum, x);
    sum = next.high;
    rest += next.low;
  }
  // The digits that an infinite sum has lost are NaN.
  [[nodiscard]] TENURE_DEVICE double total() const { return sum * 0 == 0 ? sum + rest : sum; }
};

// Passes over the elements of a result.
enum class Pass : uint32_t {
  kOthers,   // infinities and NaN, which decide where there are any
  kSum,      // in units of a power of two, as all that follow
  kRest,     // what the mean is more
  kSquares,  // of distances from the mean
};

class SettledResult {
 public:
  TENURE_DEVICE explicit SettledResult(const ReduceArgument& argument) : argument_(argument) {}

  TENURE_DEVICE void run() {
    result_ = (blockIdx.x << 3) + (threadIdx.x >> 5);
    if (result_ >= argument_.results) return;
    const Offsets at = kept();
    in_ = argument_.in + at.in;
    unsigned char* const out = argument_.out + at.other;
    if (argument_.finish == ReduceFinish::kPartial) {
      settle_row(out);
    } else {
      settle_number(result_at(out));
    }
  }

 private:
  struct Numbers {
    double sum;  // of the last pass
    double greatest;
    double count;
    double mean;
    double rest;
    int32_t exponent;
  };

  [[nodiscard]] TENURE_DEVICE Offsets kept() const {
    return offsets_at(argument_.kept, 0, argument_.kept_rank, result_);
  }
  [[nodiscard]] TENURE_DEVICE bool is_exact(double found) const {
    const double magnitude = magnitude_of(found);
    return magnitude >= argument_.least_exact && magnitude < infinity<double>();
  }

  TENURE_DEVICE void settle_number(double found) const {
    if (is_exact(found)) return;
    Numbers numbers = {};
    if (!measure(numbers)) {
      if (numbers.sum == 0) return;  // only zeros, or no elements
      numbers.sum = is_deviation() ? not_a_number<double>() : numbers.sum;
    } else if (argument_.extremes == ReduceExtremes::kPower) {
      numbers.sum =
          numbers.greatest * power(sum_of_powers(numbers.greatest), argument_.inverse_exponent);
    } else {
      numbers.sum = finished(numbers);
    }
    // The place is found again: a pointer would take registers during the passes.
    if (threadIdx.x % 32 == 0) write_float(argument_, argument_.out + kept().other, numbers.sum);
  }
  // A row that a normalization has measured, in its last number the unit.
  TENURE_DEVICE void settle_row(unsigned char* out) const {
    auto row = read<MeasuredRow>(out);
    row.fourth = 1;
    Numbers numbers = {};
    if (!is_exact(has_mean() ? row.third : row.first) && measure(numbers)) {
      row = {numbers.sum, 0, 0, scaled(1, numbers.exponent)};
      if (has_mean()) row = {numbers.mean, numbers.rest, numbers.sum, row.fourth};
    }
    if (threadIdx.x % 32 == 0) write(out, row);
  }

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

  TENURE_DEVICE bool has_mean() const {
    return argument_.extremes != ReduceExtremes::kRoot &&
           argument_.extremes != ReduceExtremes::kRowOfSquares;
  }
  TENURE_DEVICE bool is_sum() const {
    return argument_.extremes == ReduceExtremes::kSum ||
           argument_.extremes == ReduceExtremes::kMean;
  }
  TENURE_DEVICE bool is_deviation() const {
    return argument_.extremes == ReduceExtremes::kVariance ||
           argument_.extremes == ReduceExtremes::kDeviation;
  }
  TENURE_DEVICE Pass last_pass() const {
    switch (argument_.extremes) {
      case ReduceExtremes::kSum: return Pass::kSum;
      case ReduceExtremes::kMean: return Pass::kRest;
      case ReduceExtremes::kPower: return Pass::kOthers;
      default: return Pass::kSquares;
    }
  }

  // Makes the passes of a result, except that of powers. The code of a pass is there once. False if
  // infinities or NaN decide, which then have their sum, or if there are only zeros.
  TENURE_DEVICE bool measure(Numbers& numbers) const {
    const Pass last = last_pass();
    Pass pass = Pass::kOthers;
    TENURE_ROLLED while (true) {
      add_up(pass, numbers);
      if (pass == Pass::kOthers && (!(numbers.sum == 0) || numbers.greatest == 0)) return false;
      if (pass == last) return true;
      switch (pass) {
        case Pass::kOthers:
          numbers.exponent = exponent_of(numbers.greatest);
          pass = has_mean() ? Pass::kSum : Pass::kSquares;
          break;
        case Pass::kSum:
          numbers.mean = numbers.sum / numbers.count;
          pass = Pass::kRest;
          break;
        default:
          numbers.rest = numbers.sum / numbers.count;
          pass = Pass::kSquares;
          break;
      }
    }
  }
  TENURE_DEVICE int32_t exponent_of(double greatest) const {
    const int32_t exponent = split_exponent(greatest);
    // A row's unit is a number itself. Elsewhere a subnormal number has a second exponent.
    if (argument_.finish != ReduceFinish::kPartial) return exponent + split_exponent(greatest);
    return exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
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
  static TENURE_DEVICE double sum_of_lanes(double sum) {
    TENURE_ROLLED for (int distance = 16; distance > 0; distance /= 2) {
      sum += __shfl_xor_sync(~0u, sum, distance);
    }
    return sum;
  }
  // Gives the sum of a pass, the greatest magnitude and the count to each thread of the warp.
  TENURE_DEVICE void add_up(Pass pass, Numbers& numbers) const {
    ExactSum own = {0, 0};
    double greatest = 0;
    double count = 0;
    for_each([&](double x) {
      own.add(term(pass, numbers, x));
      if (magnitude_of(x) > greatest) greatest = magnitude_of(x);
      count += 1;
    });
    TENURE_ROLLED for (int distance = 16; distance > 0; distance /= 2) {
      const double other = __shfl_xor_sync(~0u, greatest, distance);
      if (other > greatest) greatest = other;
    }
    numbers.sum = sum_of_lanes(own.total());
    numbers.greatest = greatest;
    numbers.count = sum_of_lanes(count);
  }
  // Apart from the other passes: they would spill registers around the call.
  TENURE_DEVICE double sum_of_powers(double unit) const {
    ExactSum own = {0, 0};
    for_each([&](double x) { own.add(power(magnitude_of(x) / unit, argument_.exponent)); });
    return sum_of_lanes(own.total());
  }
  TENURE_DEVICE double term(Pass pass, const Numbers& numbers, double x) const {
    if (pass == Pass::kOthers) return x * 0 == 0 ? 0 : is_sum() ? x : magnitude_of(x);
    const double distance = (scaled(x, -numbers.exponent) - numbers.mean) - numbers.rest;
    return pass == Pass::kSquares ? distance * distance : distance;
  }

  TENURE_DEVICE double finished(const Numbers& numbers) const {
    const bool is_variance = argument_.extremes == ReduceExtremes::kVariance;
    double result = numbers.sum;
    if (argument_.extremes == ReduceExtremes::kMean) result = numbers.mean + result / numbers.count;
    if (is_deviation()) result /= divisor_of(argument_, numbers.count);
    if (!is_sum() && !is_variance) result = square_root(result);
    return scaled(result, is_variance ? 2 * numbers.exponent : numbers.exponent);
  }

  const ReduceArgument& argument_;
  const unsigned char* in_ = nullptr;
  uint32_t result_ = 0;
};

}  // namespace tenure::cuda

using tenure::cuda::ReduceArgument;

TENURE_KERNEL(settle_results, ReduceArgument) { tenure::cuda::SettledResult(argument).run(); }
