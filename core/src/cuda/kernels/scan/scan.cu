// Scans along an axis: each element becomes the sum, the product, the least or the greatest of those
// up to it.
//
// Where rows are few, they are cut into segments, and a call is three launches: the total of each
// segment, the carry into each segment, and the elements. So the order in which numbers meet
// follows only from the shape and the strides. A look-back, as dense_scan.cu has it for counts,
// would read an input once, but add up the totals that other tiles have published at that moment:
// the bits of floats would change from run to run.
#include "cuda/kernels/elementwise.cuh"
#include "cuda/kernels/floats.cuh"
#include "cuda/kernels/functions/product.cuh"
#include "cuda/kernels/scan/arguments.hpp"

namespace tenure::cuda {

// A rule has numbers of its own; start() changes no other, met(earlier, later) puts two together,
// load() reads an element and store() writes a result.
//
// FloatScan has sums of f32 and halves, which do not leave the range of f64, and extremes.
struct FloatScan {
  using Number = double;

  static TENURE_DEVICE double start(const ScanArgument& argument) {
    return bit_copy<double>(argument.start);
  }

  static TENURE_DEVICE double met(const ScanArgument& argument, double earlier, double later) {
    switch (argument.op) {
      case ScanRule::kSum: return earlier + later;
      // The first NaN stays.
      default: return earlier == earlier && !(later <= earlier) ? later : earlier;
    }
  }
  static TENURE_DEVICE double load(const ScanArgument& argument, const unsigned char* from) {
    const double number = argument.type == ElementType::kF64
                              ? read<double>(from)
                              : static_cast<double>(read_number<float>(argument.type, from));
    return bit_copy<double>(bits_of(number) ^ argument.bias);
  }
  // Rounds halves twice, as on the CPU.
  static TENURE_DEVICE void store(const ScanArgument& argument, unsigned char* to, double result) {
    const auto number = bit_copy<double>(bits_of(result) ^ argument.bias);
    if (argument.out_type == ElementType::kF64) return write(to, number);
    write_number(argument.out_type, to, static_cast<float>(number));
  }
};

// Sums of f64, and products of floats: values times two to the power of an exponent, so that no
// order in which they meet leaves the range where one element after the other does not.
//
// The exponent of a sum is 0, or kLarge where f64 does not hold the value. A product is as
// split_exponent() leaves it. `least` is the logarithm of the smallest of all products on the way
// to it that are not 0 by themselves, within a tenth for each time that numbers met: one that is
// below the range of f64 is 0, and so are those after it.
struct ScaledScan {
  struct Number {
    double value;
    int32_t exponent;
    float least;
  };
  static constexpr int32_t kLarge = 64;
  static constexpr float kLeast = -1077;

  static TENURE_DEVICE Number start(const ScanArgument& argument) {
    return {bit_copy<double>(argument.start), 0, infinity<float>()};
  }
  static TENURE_DEVICE Number met(const ScanArgument& argument, const Number& earlier,
                                  const Number& later) {
    return met_by(argument.op, earlier, later);
  }
  static TENURE_DEVICE Number load(const ScanArgument& argument, const unsigned char* from) {
    if (argument.has_numbers != 0) return read<Number>(from);
    Number number = {FloatScan::load(argument, from), 0, infinity<float>()};
    if (argument.op == ScanRule::kProduct) {
      number.exponent = split_exponent(number.value);
      if (is_number(number.value)) number.least = logarithm(number);
    }
    return number;
  }
  static TENURE_DEVICE void store(const ScanArgument& argument, unsigned char* to,
                                  const Number& number) {
    if (argument.has_numbers != 0) return write(to, number);
    double result = scaled(number.value, number.exponent);
    if (number.least < kLeast) result = number.value * 0.0;
    FloatScan::store(argument, to, result);
  }

 private:
  static TENURE_DEVICE bool is_finite(double x) { return magnitude_of(x) < infinity<double>(); }
  // Neither 0 nor infinite nor NaN.
  static TENURE_DEVICE bool is_number(double x) { return is_finite(x) && x != 0; }

  // Called, for the size of the kernel, which has a dozen such places.
  static TENURE_CALLED_MEMBER Number met_by(ScanRule op, Number earlier, Number later) {
    return op == ScanRule::kSum ? sum(earlier, later) : product(earlier, later);
  }

  static TENURE_DEVICE double shrunk(const Number& number) {
    return number.exponent == 0 ? number.value * 0x1p-64 : number.value;
  }
  static TENURE_DEVICE Number sum(const Number& a, const Number& b) {
    Number met = {a.value + b.value, 0, a.least};
    const bool are_usual = a.exponent == 0 && b.exponent == 0;
    if (are_usual && (is_finite(met.value) || !is_finite(a.value) || !is_finite(b.value))) {
      return met;
    }
    met.value = shrunk(a) + shrunk(b);
    const bool is_large = !(magnitude_of(met.value) < 0x1p950);
    if (!is_large) met.value *= 0x1p64;
    met.exponent = is_large ? kLarge : 0;
    return met;
  }

  // The exponent, and the digits as a straight line between powers of two.
  static TENURE_DEVICE float logarithm(const Number& number) {
    const auto high = static_cast<int32_t>(bits_of(magnitude_of(number.value)) >> 32);
    return static_cast<float>(number.exponent) + static_cast<float>(high - (1023 << 20)) * 0x1p-20f;
  }
  static TENURE_DEVICE Number product(const Number& a, const Number& b) {
    constexpr int32_t kMost = 1 << 30;
    int32_t exponent = a.exponent + b.exponent;
    exponent = exponent < -kMost ? -kMost : exponent > kMost ? kMost : exponent;
    Number met = {a.value * b.value, exponent, a.least};
    met.exponent += split_exponent(met.value);
    if (is_number(a.value)) {
      const float least = logarithm(a) + b.least;
      if (least < met.least) met.least = least;
    }
    return met;
  }
};

struct IntegerScan {
  using Number = uint64_t;

  static TENURE_DEVICE uint64_t start(const ScanArgument& argument) { return argument.start; }

  static TENURE_DEVICE uint64_t met(const ScanArgument& argument, uint64_t earlier,
                                    uint64_t later) {
    switch (argument.op) {
      case ScanRule::kSum: return earlier + later;
      case ScanRule::kProduct: return earlier * later;
      default: return later > earlier ? later : earlier;
    }
  }
  static TENURE_DEVICE uint64_t load(const ScanArgument& argument, const unsigned char* from) {
    uint64_t bits = read_bits(argument.in_shift, from);
    if (argument.is_signed != 0) {
      const unsigned unused = 64 - (8u << argument.in_shift);
      bits = static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused);
    }
    return bits ^ argument.bias;
  }
  static TENURE_DEVICE void store(const ScanArgument& argument, unsigned char* to,
                                  uint64_t number) {
    write_bits(argument.out_shift, to, number ^ argument.bias);
  }
};

template <class Rule>
class SegmentScan {
 public:
  using Number = typename Rule::Number;
  static constexpr unsigned kWarps = kThreads / 32;
  using OfWarps = Number[2][kWarps];

  TENURE_DEVICE SegmentScan(const ScanArgument& argument, OfWarps& of_warps)
      : argument_(argument),
        of_warps_(of_warps),
        start_(Rule::start(argument)),
        lane_(threadIdx.x & ((1u << argument.lanes_shift) - 1)) {}

  TENURE_DEVICE void run() {
    constexpr uint32_t kBlockShift = 8;
    static_assert(1u << kBlockShift == kThreads, "a block is the largest group");
    const uint32_t group = (blockIdx.x << (kBlockShift - argument_.lanes_shift)) +
                           (threadIdx.x >> argument_.lanes_shift);
    // A group returns as a whole, and a block that is one group never does.
    if (group >= argument_.groups) return;
    const uint32_t segment = quotient_of(argument_.rows, group);
    uint32_t row[1] = {group - segment * argument_.rows.extent};
    const uint64_t number = static_cast<uint64_t>(row[0]) * argument_.segments + segment;
    int64_t offsets[1][kScanSteps];
    find_offsets(argument_, row, offsets);
    const int64_t first = static_cast<int64_t>(segment) * argument_.segment_length;
    const int64_t left = argument_.length - first;
    const int64_t end = first + (left < argument_.segment_length ? left : argument_.segment_length);
    Number carry = start_;
    if (argument_.carries != nullptr) carry = read<Number>(argument_.carries + number * kBytes);
    const int64_t round = static_cast<int64_t>(kScanItems) << argument_.lanes_shift;
    TENURE_ROLLED for (int64_t at = first; at < end; at += round) {
      const int64_t own = at + static_cast<int64_t>(lane_ * kScanItems);
      carry = run_round(own, end - own, offsets[0], carry);
    }
    if (argument_.totals != nullptr && lane_ == 0) {
      write(argument_.totals + number * kBytes, carry);
    }
  }

 private:
  static constexpr uint64_t kBytes = sizeof(Number);

  [[nodiscard]] TENURE_DEVICE Number met(Number earlier, Number later) const {
    return Rule::met(argument_, earlier, later);
  }
  template <class Shuffle>
  static TENURE_DEVICE Number shuffled(const Number& number, const Shuffle& shuffle) {
    auto pieces = bit_copy<Words<static_cast<int>(sizeof(Number))>>(number);
    TENURE_UNROLL for (auto& piece : pieces.of) piece = shuffle(piece);
    return bit_copy<Number>(pieces);
  }

  // Scans the thread's elements from `own` on, at most `left` of them. Returns the carry behind the
  // elements of the group.
  TENURE_DEVICE Number run_round(int64_t own, int64_t left, const int64_t (&offsets)[kScanSteps],
                                 Number carry) {
    Number numbers[kScanItems];
    const unsigned char* const from = argument_.in + offsets[kScanIn] + own * argument_.in_step;
    TENURE_UNROLL for (unsigned i = 0; i < kScanItems; ++i) {
      numbers[i] = start_;
      if (static_cast<int64_t>(i) < left) {
        numbers[i] = Rule::load(argument_, from + static_cast<int64_t>(i) * argument_.in_step);
      }
    }
    Number own_total = numbers[0];
    TENURE_UNROLL for (unsigned i = 1; i < kScanItems; ++i) own_total = met(own_total, numbers[i]);
    Number total = own_total;
    Number before = start_;
    if (argument_.lanes_shift != 0) before = before_thread(own_total, total);
    if (argument_.out != nullptr) {
      Number so_far = met(carry, before);
      unsigned char* const to = argument_.out + offsets[kScanOut] + own * argument_.out_step;
      TENURE_UNROLL for (unsigned i = 0; i < kScanItems; ++i) {
        const Number with = met(so_far, numbers[i]);
        if (static_cast<int64_t>(i) < left) {
          // Not a choice between two objects, which would have to be in memory.
          Number result = with;
          if (argument_.is_exclusive != 0) result = so_far;
          Rule::store(argument_, to + static_cast<int64_t>(i) * argument_.out_step, result);
        }
        so_far = with;
      }
    }
    return met(carry, total);
  }

  // The combined number of the group's threads before this one, for groups of a warp or a block;
  // `total` becomes the number of the whole group.
  TENURE_DEVICE Number before_thread(Number own, Number& total) {
    const unsigned lane = threadIdx.x % 32;
    Number until = own;
    TENURE_ROLLED for (unsigned distance = 1; distance < 32; distance *= 2) {
      const Number below =
          shuffled(until, [=](auto piece) { return __shfl_up_sync(~0u, piece, distance); });
      if (lane >= distance) until = met(below, until);
    }
    Number before = shuffled(until, [](auto piece) { return __shfl_up_sync(~0u, piece, 1); });
    if (lane == 0) before = start_;
    total = shuffled(until, [](auto piece) { return __shfl_sync(~0u, piece, 31); });
    if (argument_.lanes_shift == 5) return before;
    // Two arrays take turns, so that one barrier is enough.
    Number(&of_warps)[kWarps] = of_warps_[turn_];
    turn_ = 1 - turn_;
    if (lane == 0) of_warps[threadIdx.x / 32] = total;
    __syncthreads();
    Number before_warp = start_;
    total = start_;
    TENURE_ROLLED for (unsigned warp = 0; warp < kWarps; ++warp) {
      if (warp == threadIdx.x / 32) before_warp = total;
      total = met(total, of_warps[warp]);
    }
    return met(before_warp, before);
  }

  const ScanArgument& argument_;
  OfWarps& of_warps_;
  const Number start_;
  const uint32_t lane_;
  unsigned turn_ = 0;
};

}  // namespace tenure::cuda

using tenure::cuda::ScanArgument;

TENURE_KERNEL(scan_floats, ScanArgument) {
  using Segments = tenure::cuda::SegmentScan<tenure::cuda::FloatScan>;
  __shared__ Segments::OfWarps of_warps;
  Segments(argument, of_warps).run();
}
TENURE_KERNEL(scan_scaled, ScanArgument) {
  using Segments = tenure::cuda::SegmentScan<tenure::cuda::ScaledScan>;
  __shared__ Segments::OfWarps of_warps;
  Segments(argument, of_warps).run();
}
TENURE_KERNEL(scan_integers, ScanArgument) {
  using Segments = tenure::cuda::SegmentScan<tenure::cuda::IntegerScan>;
  __shared__ Segments::OfWarps of_warps;
  Segments(argument, of_warps).run();
}
