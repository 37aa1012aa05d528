// The table of reductions: which loops serve which operation on which dtype.
#include "cpu/halves.hpp"
#include "cpu/kernels/reduce/extreme.hpp"
#include "cpu/kernels/reduce/moments.hpp"
#include "cpu/kernels/reduce/numbers.hpp"
#include "cpu/kernels/reduce/product.hpp"
#include "cpu/operations.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class T>
inline constexpr Type kTypeOf = Type::kF64;
template <>
inline constexpr Type kTypeOf<float> = Type::kF32;
template <>
inline constexpr Type kTypeOf<F16> = Type::kF16;
template <>
inline constexpr Type kTypeOf<BF16> = Type::kBF16;
template <>
inline constexpr Type kTypeOf<int8_t> = Type::kI8;
template <>
inline constexpr Type kTypeOf<int16_t> = Type::kI16;
template <>
inline constexpr Type kTypeOf<int32_t> = Type::kI32;
template <>
inline constexpr Type kTypeOf<int64_t> = Type::kI64;
template <>
inline constexpr Type kTypeOf<uint8_t> = Type::kU8;
template <>
inline constexpr Type kTypeOf<uint16_t> = Type::kU16;
template <>
inline constexpr Type kTypeOf<uint32_t> = Type::kU32;
template <>
inline constexpr Type kTypeOf<uint64_t> = Type::kU64;
template <>
inline constexpr Type kTypeOf<Bool8> = Type::kBool8;

constexpr Elementwise kLoadF16 = {load_f16, nullptr, Steps::kDense};

// How elements of type T become adjacent ones of type Read.
template <class T, class Read>
constexpr const Elementwise* load_of() {
  if constexpr (kSame<T, Read>) {
    return nullptr;
  } else if constexpr (kSame<T, F16>) {
    static_assert(kSame<Read, float>);
    return &kLoadF16;
  } else {
    return &kCast[static_cast<unsigned>(kTypeOf<T>)][static_cast<unsigned>(kTypeOf<Read>)];
  }
}

constexpr Reduction kNone = {};

// Accumulators of f64 hold squares and sums of all other floats.
template <class T>
constexpr Reduction of_f64_leaving(Reduction reduction, Extremes extremes) {
  if (kSame<T, double>) reduction.extremes = extremes;
  return reduction;
}
// Accumulators of f32 hold sums of f16.
template <class T>
constexpr Reduction sum_leaving(Reduction reduction, Extremes extremes) {
  if (!kSame<T, F16>) reduction.extremes = extremes;
  return reduction;
}

// Elements of type T are read as Op::In.
template <class T, class Op>
constexpr Reduction read_by(Reduction like) {
  like.in_bytes = sizeof(typename Op::In);
  like.load = load_of<T, typename Op::In>();
  like.accumulator_bytes = sizeof(typename Op::Accumulator);
  like.finished = kTypeOf<typename Op::Accumulator>;
  return like;
}

// Sums of floats.
template <class T, class Op>
constexpr Reduction in_tree(Finish finish) {
  using Accumulator = typename Op::Accumulator;
  Reduction sum = read_by<T, Op>({});
  sum.meet = Meet::kInTree;
  sum.finish = finish;
  sum.start = __builtin_bit_cast(UnsignedOf<Accumulator>, Op::kStart);
  sum.along = along<Op>;
  sum.across = across;
  sum.merge = merge_as_rows;
  sum.spread = spread_in_tree<Op>;
  sum.spread_accumulators = spread_in_tree<typename Op::OfAccumulators>;
  return sum;
}

// Results that do not depend on the order of elements.
template <class T, class Op>
constexpr Reduction in_any_order() {
  using Accumulator = typename Op::Accumulator;
  Reduction result = read_by<T, Op>({});
  result.meet = Meet::kAnyhow;
  result.start = Op::kStart;
  result.along = fold_along;
  result.merge = merge_as_rows;
  result.fold = fold_run<Op>;
  if constexpr (kSame<typename Op::Lane, Accumulator>) {
    result.across = across;
  } else {
    result.across = across_narrow_lanes<Op>;
  }
  result.spread = spread_in_any_order<Op>;
  result.spread_accumulators = spread_in_any_order<typename Op::OfAccumulators>;
  return result;
}

// Sums and products of integers are as wide as u64, where they wrap; those of signed ones are i64.
template <class T, class Op>
constexpr Reduction of_integers() {
  Reduction result = in_any_order<T, Op>();
  result.finished = kIsSigned<T> ? Type::kI64 : Type::kU64;
  return result;
}

template <class T>
constexpr Reduction sum_of() {
  if constexpr (kSame<T, Bool8>) {
    return kNone;
  } else if constexpr (kIsFloat<T>) {
    constexpr auto kFinish = Finish::kAsIs;
    if constexpr (sizeof(T) == 2 && kLoadsHalves) {
      return sum_leaving<T>(in_tree<T, SumOfHalves<T>>(kFinish), Extremes::kSum);
    } else {
      return sum_leaving<T>(in_tree<T, Sum<Computed<T>>>(kFinish), Extremes::kSum);
    }
  } else if constexpr (sizeof(T) == 8) {
    Reduction result = of_integers<T, Sum<uint64_t>>();
    result.load = nullptr;  // the bits are the same
    return result;
  } else if constexpr (sizeof(T) == 4) {
    return of_integers<T, WideIntegerSum<T>>();
  } else {
    return of_integers<T, NarrowIntegerSum>();
  }
}
template <class T>
constexpr Reduction product_of() {
  if constexpr (kSame<T, Bool8>) {
    return kNone;
  } else if constexpr (kIsFloat<T>) {
    using C = Computed<T>;
    Reduction product = read_by<T, WideSum<C>>({});
    product.meet = Meet::kInTree;
    product.finish = Finish::kScaled;
    product.accumulator_bytes = kProductBytes;
    product.finished_place = 8;
    product.along = product_along<T, C>;
    product.across = product_across<T, C>;
    product.merge = merge_products;
    return product;
  } else {
    Reduction result = of_integers<T, Product<uint64_t>>();
    if (sizeof(T) == 8) result.load = nullptr;
    return result;
  }
}

template <class T>
constexpr Reduction mean_of() {
  if constexpr (kIsFloat<T>) {
    return of_f64_leaving<T>(in_tree<T, WideSum<Computed<T>>>(Finish::kAverage), Extremes::kMean);
  } else {
    return kNone;
  }
}

template <class T>
constexpr Reduction moments_of(Finish finish, Extremes extremes) {
  if constexpr (kIsFloat<T>) {
    using C = Computed<T>;
    Reduction moments = read_by<T, WideSum<C>>({});
    moments.meet = Meet::kInTree;
    moments.finish = finish;
    moments.accumulator_bytes = kMomentsBytes;
    moments.finished_place = 16;
    moments.along = moments_along<C>;
    moments.across = moments_across<C>;
    moments.merge = merge_moments;
    return of_f64_leaving<T>(moments, extremes);
  } else {
    return kNone;
  }
}
template <class T>
constexpr Reduction variance_of() {
  return moments_of<T>(Finish::kVariance, Extremes::kVariance);
}
template <class T>
constexpr Reduction deviation_of() {
  return moments_of<T>(Finish::kDeviation, Extremes::kRoot);
}

template <class T, class Rule>
constexpr Reduction extreme_of_type() {
  if constexpr (kSame<T, Bool8>) {
    return kNone;
  } else {
    using C = Computed<T>;
    using Op = Extreme<Rule, C>;
    Reduction extreme = read_by<T, Op>({});
    extreme.meet = Meet::kAnyhow;
    extreme.start = __builtin_bit_cast(UnsignedOf<C>, Rule::template worst<C>());
    extreme.along = fold_along;
    extreme.across = across;
    extreme.merge = merge_as_rows;
    extreme.fold = fold_extreme<Rule, C>;
    extreme.spread = spread_extremes<Rule, C>;
    if constexpr (kIsFloat<C>) {
      extreme.spread_accumulators = spread_any_extremes<Rule, C>;
    } else {
      extreme.spread_accumulators = extreme.spread;
    }
    return extreme;
  }
}
template <class T>
constexpr Reduction minimum_of() {
  return extreme_of_type<T, Smaller>();
}
template <class T>
constexpr Reduction maximum_of() {
  return extreme_of_type<T, Larger>();
}

template <class T, class Rule>
constexpr Reduction place_of_type() {
  if constexpr (kSame<T, Bool8>) {
    return kNone;
  } else {
    using C = Computed<T>;
    Reduction place = read_by<T, Extreme<Rule, C>>({});
    place.meet = Meet::kApart;
    place.accumulator_bytes = 16;
    place.finished = Type::kI64;
    place.finished_place = 8;
    place.along = places_along<Rule, C>;
    place.across = places_across<Truth<C>>;
    place.merge = merge_places<Rule, C>;
    place.spread = spread_places<Rule, C>;
    return place;
  }
}
template <class T>
constexpr Reduction argmin_of() {
  return place_of_type<T, Smaller>();
}
template <class T>
constexpr Reduction argmax_of() {
  return place_of_type<T, Larger>();
}

// Whether a number is 0 depends only on its bits: those of an integer, or of a float without its
// sign.
template <class T, class Op>
constexpr Reduction of_bits() {
  using Bits = UnsignedOf<T>;
  Reduction result = in_any_order<Bits, Op>();
  result.mask = kIsFloat<T> ? Limits<Bits>::kMaxBits >> 1 : Limits<Bits>::kMaxBits;
  return result;
}
template <class T>
constexpr Reduction any_of() {
  Reduction result = of_bits<T, Any<UnsignedOf<T>>>();
  result.along = fold_along_to_a_stop;
  result.finish = Finish::kIsNonzero;
  return result;
}
template <class T>
constexpr Reduction all_of() {
  Reduction result = of_bits<T, SomeZero<UnsignedOf<T>, kIsFloat<T>>>();
  result.along = fold_along_to_a_stop;
  result.finish = Finish::kIsZero;
  return result;
}
template <class T>
constexpr Reduction count_of() {
  Reduction result = of_bits<T, CountNonzero<UnsignedOf<T>, kIsFloat<T>>>();
  result.finished = Type::kI64;
  return result;
}

template <class T>
constexpr Reduction magnitudes_of() {
  if constexpr (kIsFloat<T>) {
    return in_tree<T, Magnitudes<Computed<T>>>(Finish::kAsIs);
  } else {
    return kNone;
  }
}
template <class T>
constexpr Reduction squares_of() {
  if constexpr (kIsFloat<T>) {
    return of_f64_leaving<T>(in_tree<T, Squares<Computed<T>>>(Finish::kRoot), Extremes::kRoot);
  } else {
    return kNone;
  }
}
template <class T>
constexpr Reduction largest_magnitude_of() {
  if constexpr (kIsFloat<T>) {
    Reduction result = of_bits<T, LargestMagnitude<UnsignedOf<T>>>();
    result.finished = kTypeOf<T>;
    return result;
  } else {
    return kNone;
  }
}
// The fetch gives f64.
template <class T>
constexpr Reduction powers_of() {
  if constexpr (kIsFloat<T>) {
    Reduction powers = in_tree<double, Sum<double>>(Finish::kPower);
    powers.load = load_of<T, Computed<T>>();
    powers.extremes = Extremes::kPower;
    return powers;
  } else {
    return kNone;
  }
}

template <class T>
constexpr Reduction number_sum_of() {
  if constexpr (kIsFloat<T>) {
    using C = Computed<T>;
    return sum_leaving<T>(in_tree<T, WithoutNaN<Sum<C>, C>>(Finish::kAsIs), Extremes::kNumberSum);
  } else {
    return kNone;
  }
}
template <class T>
constexpr Reduction number_mean_of() {
  if constexpr (kIsFloat<T>) {
    using C = Computed<T>;
    Reduction mean = read_by<T, WideSum<C>>({});
    mean.meet = Meet::kInTree;
    mean.finish = Finish::kOwnAverage;
    mean.accumulator_bytes = 16;
    mean.finished_place = 8;
    mean.along = number_mean_along<C>;
    mean.across = number_mean_across<C>;
    mean.merge = merge_number_means;
    return of_f64_leaving<T>(mean, Extremes::kMean);
  } else {
    return kNone;
  }
}
template <class T>
constexpr Reduction number_moments_of(Finish finish, Extremes extremes) {
  if constexpr (kIsFloat<T>) {
    using C = Computed<T>;
    Reduction moments = read_by<T, WideSum<C>>({});
    moments.meet = Meet::kInTree;
    moments.finish = finish;
    moments.accumulator_bytes = kNumberMomentsBytes;
    moments.finished_place = 24;
    moments.along = number_moments_along<C>;
    moments.across = number_moments_across<C>;
    moments.merge = merge_number_moments;
    return of_f64_leaving<T>(moments, extremes);
  } else {
    return kNone;
  }
}
template <class T>
constexpr Reduction number_variance_of() {
  return number_moments_of<T>(Finish::kOwnVariance, Extremes::kVariance);
}
template <class T>
constexpr Reduction number_deviation_of() {
  return number_moments_of<T>(Finish::kOwnDeviation, Extremes::kRoot);
}
template <class T>
constexpr Reduction least_number_of() {
  if constexpr (kIsFloat<T>) {
    return in_any_order<T, ExtremeNumber<Smaller, Computed<T>>>();
  } else {
    return kNone;
  }
}
template <class T>
constexpr Reduction greatest_number_of() {
  if constexpr (kIsFloat<T>) {
    return in_any_order<T, ExtremeNumber<Larger, Computed<T>>>();
  } else {
    return kNone;
  }
}

#define TENURE_ROW(entry)                                                            \
  {                                                                                  \
    {                                                                                \
      entry<double>(), entry<float>(), entry<F16>(), entry<BF16>(), entry<int8_t>(), \
          entry<int16_t>(), entry<int32_t>(), entry<int64_t>(), entry<uint8_t>(),    \
          entry<uint16_t>(), entry<uint32_t>(), entry<uint64_t>(), entry<Bool8>()    \
    }                                                                                \
  }

}  // namespace

// A row for each operation of the table, in the order of the types.
#define TENURE_REDUCE_SUM TENURE_ROW(sum_of)
#define TENURE_REDUCE_PROD TENURE_ROW(product_of)
#define TENURE_REDUCE_MEAN TENURE_ROW(mean_of)
#define TENURE_REDUCE_VAR TENURE_ROW(variance_of)
#define TENURE_REDUCE_STD TENURE_ROW(deviation_of)
#define TENURE_REDUCE_MIN TENURE_ROW(minimum_of)
#define TENURE_REDUCE_MAX TENURE_ROW(maximum_of)
#define TENURE_REDUCE_ARGMIN TENURE_ROW(argmin_of)
#define TENURE_REDUCE_ARGMAX TENURE_ROW(argmax_of)
#define TENURE_REDUCE_ANY TENURE_ROW(any_of)
#define TENURE_REDUCE_ALL TENURE_ROW(all_of)
#define TENURE_REDUCE_COUNT TENURE_ROW(count_of)
// Norms are by their power, and logsumexp takes the loops of normalizations.
#define TENURE_REDUCE_NORM \
  {                        \
  }
#define TENURE_REDUCE_LOGSUMEXP \
  {                             \
  }
#define TENURE_REDUCE_NAN_SUM TENURE_ROW(number_sum_of)
#define TENURE_REDUCE_NAN_MEAN TENURE_ROW(number_mean_of)
#define TENURE_REDUCE_NAN_MIN TENURE_ROW(least_number_of)
#define TENURE_REDUCE_NAN_MAX TENURE_ROW(greatest_number_of)
#define TENURE_REDUCE_NAN_VAR TENURE_ROW(number_variance_of)
#define TENURE_REDUCE_NAN_STD TENURE_ROW(number_deviation_of)

#define TENURE_REDUCTION(Name, NAME) TENURE_REDUCE_##NAME,
constinit const Reductions kReduce[kReduceCount] = {TENURE_REDUCE_OPERATIONS(TENURE_REDUCTION)};

constinit const NormTable kNorms = {TENURE_ROW(magnitudes_of), TENURE_ROW(squares_of),
                                    TENURE_ROW(largest_magnitude_of), TENURE_ROW(powers_of)};

constinit const SquareSumTable kSquareSums = {add_squares<double>, add_squares<float>};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
