#include <cmath>
#include <limits>

#include "cpu/operations.hpp"
#include "cuda/kernels/normalize_arguments.hpp"
#include "cuda/operations/enqueue.hpp"
#include "cuda/operations/reduce_plan.hpp"
#include "dense/movement.hpp"
#include "dense/reduce/walk.hpp"
#include "memory/queue_order.hpp"
#include "tenure/counters.hpp"
#include "tenure/dtype.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"

namespace tenure::cuda {
namespace {

using kernels::Reduce;

#define TENURE_RULE(name, parts, part_bytes, shape) \
  {Kernel::along_##name, Kernel::across_##name, Kernel::parts_##parts, part_bytes, shape}
constexpr ReduceRule kFloatSum = TENURE_RULE(float_sum, float_sum, 4, kFloatSumShape);
constexpr ReduceRule kWideSum = TENURE_RULE(wide_sum, wide_sum, 16, kWideSumShape);
constexpr ReduceRule kPowerSum = TENURE_RULE(power_sum, power_sum, 16, kPowerSumShape);
constexpr ReduceRule kMoments = TENURE_RULE(moments, moments, 32, kMomentsShape);
// Rules for elements of up to 4 bytes, and of 8.
constexpr ReduceRule kLogSumExp[] = {
    TENURE_RULE(logsumexp, logsumexp, 16, kLogSumExpShape),
    TENURE_RULE(logsumexp_f64, logsumexp, 16, wide(kLogSumExpShape))};
constexpr ReduceRule kIntegers[] = {
    TENURE_RULE(integer_sum, integer_sum, 8, kIntegerSumShape),
    TENURE_RULE(integer_sum_64, integer_sum, 8, wide(kIntegerSumShape))};
constexpr ReduceRule kExtreme[] = {TENURE_RULE(extreme, extreme, 4, kExtremeShape),
                                   TENURE_RULE(extreme_64, extreme_64, 8, wide(kExtremeShape))};
constexpr ReduceRule kPlace[] = {TENURE_RULE(place, place, 16, kPlaceShape),
                                 TENURE_RULE(place_64, place_64, 16, wide(kPlaceShape))};
#undef TENURE_RULE

// An element type and its bits.
struct Elements {
  ElementType type;
  unsigned width;
  bool is_float;
  bool is_signed;
  bool is_wide;  // of 8 bytes

  explicit Elements(tnr_dtype dtype) noexcept
      : type(static_cast<ElementType>(type_index(dtype))),
        width(static_cast<unsigned>(element_size(dtype))),
        is_float(type <= ElementType::kBF16),
        is_signed(type >= ElementType::kI8 && type <= ElementType::kI64),
        is_wide(width == 8) {}

  [[nodiscard]] std::uint64_t top_bit() const noexcept {
    return std::uint64_t{1} << (8 * width - 1);
  }
  // Only for floats.
  [[nodiscard]] std::uint64_t infinity() const noexcept {
    switch (type) {
      case ElementType::kF64: return std::uint64_t{0x7ff} << 52;
      case ElementType::kF32: return 0x7f800000;
      case ElementType::kF16: return 0x7c00;
      default: return 0x7f80;
    }
  }
  [[nodiscard]] std::uint64_t nan() const noexcept {
    switch (type) {
      case ElementType::kF64: return std::uint64_t{0x7ff8} << 48;
      case ElementType::kF32: return 0x7fc00000;
      case ElementType::kF16: return 0x7e00;
      default: return 0x7fc0;
    }
  }
};

bool is_largest(Reduce op) noexcept {
  return op == Reduce::kMax || op == Reduce::kArgmax || op == Reduce::kNanMax ||
         op == Reduce::kNorm;
}

// The keys of extremes and of their places.
void set_keys(Reduce op, const Elements& elements, ReduceArgument& argument) noexcept {
  const unsigned word_bits = elements.is_wide ? 64 : 32;
  const bool skips_nan = op == Reduce::kNanMin || op == Reduce::kNanMax;
  argument.key_shift = word_bits - 8 * elements.width;
  argument.key_is_float = elements.is_float ? 1 : 0;
  argument.key_flip = is_largest(op) ? ~std::uint64_t{0} : 0;
  argument.key_nothing = ~std::uint64_t{0};
  if (elements.is_float) {
    argument.key_nan = skips_nan ? ~std::uint64_t{0} : 0;
    argument.key_infinity = elements.infinity() << argument.key_shift;
    argument.nan = elements.nan();
  } else if (elements.is_signed) {
    argument.key_sign = elements.top_bit() << argument.key_shift;
  }
  if (op == Reduce::kNorm) {
    // Over nothing it is 0.
    argument.mode = kMagnitude;
    argument.key_nothing = ~(std::uint64_t{1} << (word_bits - 1));
  }
}

// Sets the fields of the operation, and returns its rule.
const ReduceRule& set_integer_sum(IntegerMode mode, const Elements& elements, std::int64_t count,
                                  ReduceArgument& argument) noexcept {
  argument.mode = mode;
  if (mode != kNonzeroCount && elements.is_signed && !elements.is_wide) {
    argument.bias = elements.top_bit();
  }
  if (mode == kIntegerSum) argument.bias_sum = argument.bias * static_cast<std::uint64_t>(count);
  return kIntegers[elements.is_wide];
}

const ReduceRule& set_nonzero_count(ReduceFinish finish, const Elements& elements,
                                    ReduceArgument& argument) noexcept {
  argument.finish = finish;
  argument.nonzero_mask = elements.is_float ? elements.top_bit() - 1 : ~std::uint64_t{0};
  return set_integer_sum(kNonzeroCount, elements, 0, argument);
}

const ReduceRule& set_norm(double power, const Elements& elements,
                           ReduceArgument& argument) noexcept {
  if (power == 1) {
    argument.mode = kMagnitude;
    return kWideSum;
  }
  if (power == 2) {
    argument.mode = kSquare;
    argument.finish = ReduceFinish::kRoot;
    return kWideSum;
  }
  if (std::isinf(power)) {
    set_keys(Reduce::kNorm, elements, argument);
    return kExtreme[elements.is_wide];
  }
  argument.exponent = power;
  argument.inverse_exponent = 1 / power;
  return kPowerSum;
}

const ReduceRule& set_sum(std::uint32_t mode, const Elements& elements, std::int64_t count,
                          ReduceArgument& argument) noexcept {
  if (!elements.is_float) {
    const IntegerMode of_integers = (mode & kProduct) != 0 ? kIntegerProduct : kIntegerSum;
    return set_integer_sum(of_integers, elements, count, argument);
  }
  argument.mode = mode;
  return elements.is_wide || mode == kProduct ? kWideSum : kFloatSum;
}

const ReduceRule& set_operation(Reduce op, double power, const Elements& elements,
                                std::int64_t count, std::int64_t ddof,
                                ReduceArgument& argument) noexcept {
  argument.type = elements.type;
  argument.width = elements.width;
  argument.ddof = static_cast<double>(ddof);
  argument.divisor =
      count > ddof ? static_cast<double>(count - ddof) : std::numeric_limits<double>::quiet_NaN();
  const bool is_wide = elements.is_wide;
  using enum Reduce;
  switch (op) {
    case kSum: return set_sum(0, elements, count, argument);
    case kNanSum: return set_sum(kSkipNaN, elements, count, argument);
    case kProd: return set_sum(kProduct, elements, count, argument);
    case kMean: argument.finish = ReduceFinish::kAverage; return kWideSum;
    case kNanMean:
      argument.mode = kSkipNaN;
      argument.finish = ReduceFinish::kOwnAverage;
      return kWideSum;
    case kNanStd:
      argument.mode = kSkipNaN;
      argument.finish = ReduceFinish::kOwnDeviation;
      return kMoments;
    case kNanVar:
      argument.mode = kSkipNaN;
      argument.finish = ReduceFinish::kOwnVariance;
      return kMoments;
    case kStd: argument.finish = ReduceFinish::kDeviation; return kMoments;
    case kVar: return kMoments;
    case kAny: return set_nonzero_count(ReduceFinish::kIsNonzero, elements, argument);
    case kAll: return set_nonzero_count(ReduceFinish::kIsCount, elements, argument);
    case kCount: return set_nonzero_count(ReduceFinish::kAsIs, elements, argument);
    case kNorm: return set_norm(power, elements, argument);
    case kLogsumexp: return kLogSumExp[is_wide];
    case kArgmin:
    case kArgmax: set_keys(op, elements, argument); return kPlace[is_wide];
    case kMin:
    case kMax:
    case kNanMin:
    case kNanMax: break;
  }
  set_keys(op, elements, argument);
  return kExtreme[is_wide];
}

// Sums of f16 and products stay in range, and so do squares of all floats but f64.
ReduceExtremes extremes_of(Reduce op, double power, const Elements& elements) noexcept {
  const bool is_wide = elements.is_wide;
  if (!elements.is_float) return ReduceExtremes::kStay;
  using enum Reduce;
  switch (op) {
    case kSum:
    case kNanSum:
      return elements.type == ElementType::kF16 ? ReduceExtremes::kStay : ReduceExtremes::kSum;
    case kMean:
    case kNanMean: return is_wide ? ReduceExtremes::kMean : ReduceExtremes::kStay;
    case kVar:
    case kNanVar: return is_wide ? ReduceExtremes::kVariance : ReduceExtremes::kStay;
    case kStd:
    case kNanStd: return is_wide ? ReduceExtremes::kDeviation : ReduceExtremes::kStay;
    case kNorm:
      if (power == 1 || std::isinf(power)) return ReduceExtremes::kStay;
      if (power != 2) return ReduceExtremes::kPower;
      return is_wide ? ReduceExtremes::kRoot : ReduceExtremes::kStay;
    case kProd:
    case kAny:
    case kAll:
    case kCount:
    case kLogsumexp:
    case kArgmin:
    case kArgmax:
    case kMin:
    case kMax:
    case kNanMin:
    case kNanMax: break;
  }
  return ReduceExtremes::kStay;
}
// Sums of squares or powers below 2^-900 may have lost digits of their terms.
double least_exact(ReduceExtremes extremes, double power) noexcept {
  constexpr double kLeastSum = 0x1p-900;
  switch (extremes) {
    case ReduceExtremes::kVariance: return kLeastSum;
    case ReduceExtremes::kDeviation:
    case ReduceExtremes::kRoot: return std::sqrt(kLeastSum);
    case ReduceExtremes::kPower: return std::pow(kLeastSum, 1 / power);
    default: return 0;
  }
}

ReduceArgument argument_of(const ReduceWalk& walk, const tnr_view& a, unsigned char* out) noexcept {
  ReduceArgument argument = {};
  argument.in = static_cast<const unsigned char*>(a.data) + walk.kept().start(ReduceWalk::kIn) +
                walk.reduced().start(ReduceWalk::kIn);
  argument.out = out + walk.kept().start(ReduceWalk::kOther);
  return argument;
}

void run(const Queue& queue, Reduce op, const tnr_view& a, std::uint32_t axes, std::uint32_t ddof,
         const tnr_view_mut& out, double power) {
  const ReduceWalk walk(a, axes, out.view);
  ReduceArgument argument = argument_of(walk, a, writable(out));
  argument.out_type = static_cast<ElementType>(type_index(out.view.dtype));
  argument.first_place = walk.reduced().start(ReduceWalk::kOther);
  argument.is_unordered = walk.places_rise() ? 0 : 1;
  const Elements elements(a.dtype);
  const ReduceRule& rule = set_operation(op, power, elements, walk.count(), ddof, argument);
  argument.extremes = extremes_of(op, power, elements);
  argument.least_exact = least_exact(argument.extremes, power);
  run_reduction(queue, rule, walk, argument);
}

// The rule that measures the rows of a normalization.
const ReduceRule& normalization_rule(kernels::Normalize op, const Elements& elements) noexcept {
  switch (op) {
    case kernels::Normalize::kLayerNorm: return kMoments;
    case kernels::Normalize::kRmsNorm: return kWideSum;
    case kernels::Normalize::kSoftmax:
    case kernels::Normalize::kLogSoftmax: break;
  }
  return kLogSumExp[elements.is_wide];
}

// A place for each row, in row-major order.
tnr_view rows_view(const tnr_view& a, std::uint32_t axes, void* rows) noexcept {
  tnr_view view = {};
  view.data = view.base = rows;
  view.device = a.device;
  view.dtype = TNR_DTYPE_C128;  // for its 16 bytes, in which strides count
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    if (!is_reduced(axes, axis)) view.shape[view.rank++] = a.shape[axis];
  }
  std::int64_t stride = sizeof(MeasuredRow) / 16;
  for (std::uint32_t axis = view.rank; axis-- > 0;) {
    view.strides[axis] = stride;
    stride *= view.shape[axis];
  }
  return view;
}

}  // namespace

void sum_parts(const Queue& queue, const tnr_view& parts, const tnr_view_mut& out) {
  const ReduceWalk walk(parts, 1, out.view);
  const Elements elements(parts.dtype);
  ReduceArgument argument = argument_of(walk, parts, writable(out));
  argument.type = elements.type;
  argument.out_type = static_cast<ElementType>(type_index(out.view.dtype));
  argument.width = elements.width;
  run_reduction(queue, elements.is_wide ? kWideSum : kFloatSum, walk, argument);
}

void measure_rows(const Queue& queue, tnr_normalize_op op, const tnr_view& a, std::uint32_t axes,
                  void* rows) {
  const ReduceWalk walk(a, axes, rows_view(a, axes, rows));
  const Elements elements(a.dtype);
  ReduceArgument argument = argument_of(walk, a, static_cast<unsigned char*>(rows));
  argument.type = elements.type;
  argument.width = elements.width;
  if (op == TNR_NORMALIZE_OP_RMS_NORM) argument.mode = kSquare;
  argument.finish = ReduceFinish::kPartial;
  if (elements.is_wide && op == TNR_NORMALIZE_OP_LAYER_NORM) {
    argument.extremes = ReduceExtremes::kRow;
  }
  if (elements.is_wide && op == TNR_NORMALIZE_OP_RMS_NORM) {
    argument.extremes = ReduceExtremes::kRowOfSquares;
  }
  argument.least_exact = least_exact(ReduceExtremes::kVariance, 0);
  run_reduction(queue, normalization_rule(static_cast<kernels::Normalize>(op), elements), walk,
                argument);
}

void enqueue(const Queue& queue, const DeviceReduce& call) {
  const auto& [op, a, axes, ddof, out, power] = call;
  Pins pins;
  check_view_mut(out, "out", queue.device());
  check_view(a, "a", queue.device());
  static_cast<void>(checked_reduction(op, a, axes, ddof, power, out.view));
  require_none(
      device_refusal(queue.device(), TNR_NODE_REDUCE + static_cast<std::uint32_t>(op), a.dtype));
  pins.add_mut(out, "out");
  pins.add(a, "a");
  require_alias(out.view, a, "a", SameView::kRefused);
  if (is_empty(out.view)) return count_call(TNR_OPERATION_REDUCE, 0, 0);
  require_elements(op, a, axes);
  const QueueOrder order(queue, pins);
  run(queue, static_cast<Reduce>(op), a, axes, ddof, out, power);
  count_call(TNR_OPERATION_REDUCE, element_bytes(a), element_bytes(out.view));
}

}  // namespace tenure::cuda
