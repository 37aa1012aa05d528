// Operations on complex numbers.
#include "cpu/kernels/arithmetic.hpp"
#include "cpu/kernels/elementwise/division.hpp"
#include "cpu/kernels/elementwise/pairs.hpp"
#include "cpu/kernels/elementwise/power.hpp"
#include "cpu/kernels/elementwise/questions.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Rules take vectors of pairs: a single number is a part of a vector.
struct NegatePair {
  template <class V>
  static V apply(V a) {
    return -a;
  }
};
struct Conjugate {
  template <class V>
  static V apply(V a) {
    return with_negative<1>(a);
  }
};
// The product by its definition: each of a part's three operations is rounded.
struct MultiplyPairs {
  template <class V>
  static V apply(V a, V b) {
    return less_and_more(a * pairwise<0, 0>(b), exchanged(a) * pairwise<1, 1>(b));
  }
};
struct SquarePair {
  template <class V>
  static V apply(V a) {
    return MultiplyPairs::apply(a, a);
  }
};
struct DividePairs {
  template <class V>
  static V apply(V a, V b) {
    return complex_quotient(a, b);
  }
};
struct InvertPair {
  template <class V>
  static V apply(V a) {
    V ones;
    __builtin_memcpy(&ones, &kOnes<Number<V>>, sizeof ones);
    return complex_quotient(ones, a);
  }
};
struct AddPairs {
  template <class V>
  static V apply(V a, V b) {
    return a + b;
  }
};
struct SubtractPairs {
  template <class V>
  static V apply(V a, V b) {
    return a - b;
  }
};

// Rules of the real parts and the imaginary ones.
struct AngleOfPair {
  template <class V>
  static V apply(V real, V imaginary) {
    return AngleOfPoint::apply(imaginary, real);
  }
};

struct EqualPairs {
  template <class T>
  static bool apply(Complex<T> a, Complex<T> b) {
    return static_cast<int>(a.real == b.real) & static_cast<int>(a.imaginary == b.imaginary);
  }
};
struct UnequalPairs {
  template <class T>
  static bool apply(Complex<T> a, Complex<T> b) {
    return static_cast<int>(a.real != b.real) | static_cast<int>(a.imaginary != b.imaginary);
  }
};

// One number, repeated in a short vector.
template <class T>
typename SizedVector<T, kShortBytes>::type load_pair(const Byte* from) {
  typename SizedVector<T, kShortBytes>::type pairs;
  Byte bytes[kShortBytes];
  for (int64_t at = 0; at < kShortBytes; at += kStep<Complex<T>>) {
    __builtin_memcpy(bytes + at, from, sizeof(Complex<T>));
  }
  __builtin_memcpy(&pairs, bytes, sizeof pairs);
  return pairs;
}
template <class V>
void store_pair(Byte* to, V pairs) {
  __builtin_memcpy(to, &pairs, 2 * sizeof(Number<V>));
}

template <class Rule, class T>
Finding map_pair(const Strip& strip) {
  using Wide = typename SizedVector<T, kRegisterBytes>::type;
  using Short = typename SizedVector<T, kShortBytes>::type;
  using Pair = Complex<T>;
  const int64_t bytes = strip.count * kStep<Pair>;
  Byte* out = strip.out;
  const Byte* in = strip.in[0].data;
  int64_t done = 0;
  if (is_adjacent<Pair>(strip.out_step) && is_adjacent<Pair>(strip.in[0].step)) [[likely]] {
#pragma GCC unroll 2
    for (; done + kRegisterBytes <= bytes; done += kRegisterBytes) {
      store(out + done, Rule::apply(load<Wide>(in + done)));
    }
#pragma GCC unroll 1
    for (; done + kShortBytes <= bytes; done += kShortBytes) {
      store(out + done, Rule::apply(load<Short>(in + done)));
    }
    out += done;
    in += done;
  }
#pragma GCC unroll 1
  for (; done < bytes; done += kStep<Pair>) {
    TENURE_ONE_BY_ONE;
    store_pair(out, Rule::apply(load_pair<T>(in)));
    out += strip.out_step;
    in += strip.in[0].step;
  }
  return kNothing;
}

// The data of a source; a source that repeats one number has a register of copies.
template <class T>
class PairRegister {
 public:
  explicit PairRegister(const StripInput& source) : data_(source.data) {
    if (source.step != 0) return;
    const auto pairs = load_pair<T>(source.data);
    for (int64_t at = 0; at < kRegisterBytes; at += kShortBytes) store(memory_ + at, pairs);
    data_ = memory_;
  }
  PairRegister(const PairRegister&) = delete;
  PairRegister& operator=(const PairRegister&) = delete;
  [[nodiscard]] const Byte* data() const { return data_; }

 private:
  const Byte* data_;
  alignas(kRegisterBytes) Byte memory_[kRegisterBytes];
};

// Maps adjacent or repeated numbers, as map_adjacent_pairs() of dense.hpp does.
template <class Rule, class T>
__attribute__((noinline)) Finding map_adjacent_numbers(Byte* out, int64_t bytes, const Byte* a,
                                                       int64_t a_moves, const Byte* b,
                                                       int64_t b_moves) {
  using Wide = typename SizedVector<T, kRegisterBytes>::type;
  using Short = typename SizedVector<T, kShortBytes>::type;
  int64_t done = 0;
  const int64_t a_next = a_moves & kRegisterBytes;
  const int64_t b_next = b_moves & kRegisterBytes;
  const Byte* left = a;
  const Byte* right = b;
#pragma GCC unroll 2
  for (; done + kRegisterBytes <= bytes; done += kRegisterBytes) {
    store<Wide>(out + done, Rule::apply(load<Wide>(left), load<Wide>(right)));
    left += a_next;
    right += b_next;
  }
#pragma GCC unroll 1
  for (; done + kShortBytes <= bytes; done += kShortBytes) {
    store<Short>(out + done,
                 Rule::apply(load<Short>(a + (done & a_moves)), load<Short>(b + (done & b_moves))));
  }
  if (done < bytes) {
    store_pair(out + done,
               Rule::apply(load_pair<T>(a + (done & a_moves)), load_pair<T>(b + (done & b_moves))));
  }
  return kNothing;
}

template <class Rule, class T>
Finding map_two_numbers(const Strip& strip) {
  using Pair = Complex<T>;
  const StripInput left = strip.in[0];
  const StripInput right = strip.in[1];
  if (is_adjacent<Pair>(strip.out_step) && is_adjacent_or_repeated<Pair>(left) &&
      is_adjacent_or_repeated<Pair>(right)) [[likely]] {
    const PairRegister<T> a(left);
    const PairRegister<T> b(right);
    return map_adjacent_numbers<Rule, T>(strip.out, strip.count * kStep<Pair>, a.data(),
                                         moves_of(left), b.data(), moves_of(right));
  }
  const Byte* a = left.data;
  const Byte* b = right.data;
  Byte* out = strip.out;
#pragma GCC unroll 1
  for (int64_t i = 0; i < strip.count; ++i) {
    TENURE_ONE_BY_ONE;
    store_pair(out, Rule::apply(load_pair<T>(a), load_pair<T>(b)));
    out += strip.out_step;
    a += left.step;
    b += right.step;
  }
  return kNothing;
}

// For rules of many instructions, as map_joint() of dense.hpp: the code has each rule once.
template <class Rule, class T, uint32_t kSources>
Finding map_numbers(const Strip& strip) {
  using Wide = typename SizedVector<T, kRegisterBytes>::type;
  using Pair = Complex<T>;
  constexpr int64_t kPairs = kRegisterBytes / kStep<Pair>;
  alignas(kRegisterBytes) Byte lanes[kSources + 1][kRegisterBytes];
  Byte* const results = lanes[kSources];
  const Byte* in[kSources];
  bool are_adjacent = is_adjacent<Pair>(strip.out_step);
  for (uint32_t i = 0; i < kSources; ++i) {
    const StripInput& source = strip.in[i];
    are_adjacent &= is_adjacent_or_repeated<Pair>(source);
    const bool is_repeated = source.step == 0;
    // Lanes of no number have one that divides.
    const Pair value = is_repeated ? load<Pair>(source.data) : Pair{1, 1};
    for (int64_t k = 0; k < kPairs; ++k) store<Pair>(lanes[i] + k * kStep<Pair>, value);
    in[i] = is_repeated ? lanes[i] : source.data;
  }
  Byte* out = strip.out;
#pragma GCC unroll 1
  for (int64_t left = strip.count; left > 0; left -= kPairs) {
    const int64_t count = left < kPairs ? left : kPairs;
    const bool is_whole = are_adjacent && left >= kPairs;
    Wide operands[kSources];
    for (uint32_t i = 0; i < kSources; ++i) {
      const Byte* from = in[i];
      if (!is_whole && from != lanes[i]) [[unlikely]] {
        copy_one_by_one<Pair>(lanes[i], kStep<Pair>, from, strip.in[i].step, count);
        from = lanes[i];
      }
      __asm__("" : "+r"(from));  // or compilers make a copy of the rule for each
      operands[i] = load<Wide>(from);
      in[i] += kPairs * strip.in[i].step;
    }
    Byte* to = is_whole ? out : results;
    __asm__("" : "+r"(to));
    if constexpr (kSources == 1) {
      store<Wide>(to, Rule::apply(operands[0]));
    } else {
      store<Wide>(to, Rule::apply(operands[0], operands[1]));
    }
    if (!is_whole) [[unlikely]]
      copy_one_by_one<Pair>(out, strip.out_step, results, kStep<Pair>, count);
    out += kPairs * strip.out_step;
  }
  return kNothing;
}

// Maps numbers as map_numbers() does, with results that are single parts.
template <class Rule, class T>
Finding map_to_parts(const Strip& strip) {
  using Wide = typename SizedVector<T, kRegisterBytes>::type;
  using Pair = Complex<T>;
  constexpr int64_t kResults = kRegisterBytes / kStep<T>;
  alignas(kRegisterBytes) Byte lanes[2 * kRegisterBytes] = {};
  const Byte* in = strip.in[0].data;
  Byte* out = strip.out;
  const int64_t in_step = strip.in[0].step;
  const bool are_adjacent = is_adjacent<T>(strip.out_step) && is_adjacent<Pair>(in_step);
#pragma GCC unroll 1
  for (int64_t left = strip.count; left > 0; left -= kResults) {
    const int64_t count = left < kResults ? left : kResults;
    const bool is_whole = are_adjacent && left >= kResults;
    if (!is_whole) [[unlikely]]
      copy_one_by_one<Pair>(lanes, kStep<Pair>, in, in_step, count);
    const Byte* from = is_whole ? in : lanes;
    Byte* to = is_whole ? out : lanes;
    __asm__("" : "+r"(from), "+r"(to));
    const Wide first = load<Wide>(from);
    const Wide second = load<Wide>(from + kRegisterBytes);
    store<Wide>(to, in_order(Rule::apply(parts_of<0>(first, second), parts_of<1>(first, second))));
    if (!is_whole) [[unlikely]]
      copy_one_by_one<T>(out, strip.out_step, lanes, kStep<T>, count);
    in += kResults * in_step;
    out += kResults * strip.out_step;
  }
  return kNothing;
}

template <class T>
constexpr ComplexKernels kernels_of() {
  return {
      .neg = {map_pair<NegatePair, T>, nullptr, Steps::kAny},
      .conj = {map_pair<Conjugate, T>, nullptr, Steps::kAny},
      .square = {map_pair<SquarePair, T>, nullptr, Steps::kAny},
      .reciprocal = {map_numbers<InvertPair, T, 1>, nullptr, Steps::kAny},
      .abs = {map_to_parts<Distance, T>, nullptr, Steps::kAny},
      .arg = {map_to_parts<AngleOfPair, T>, nullptr, Steps::kAny},
      .add = {map_two_numbers<AddPairs, T>, nullptr, Steps::kAny},
      .sub = {map_two_numbers<SubtractPairs, T>, nullptr, Steps::kAny},
      .mul = {map_two_numbers<MultiplyPairs, T>, nullptr, Steps::kAny},
      .div = {map_numbers<DividePairs, T, 2>, nullptr, Steps::kAny},
      .eq = {ask<EqualPairs, Complex<T>>, nullptr, Steps::kDense},
      .ne = {ask<UnequalPairs, Complex<T>>, nullptr, Steps::kDense},
  };
}

}  // namespace

const ComplexKernels kComplex[kComplexTypeCount] = {kernels_of<float>(), kernels_of<double>()};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
