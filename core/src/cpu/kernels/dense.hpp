// Loops over elements in vectors of this instruction set, then of 16 bytes, then one by one:
// nothing beyond the last element is read or written, and nothing is computed twice. Elements that
// are not adjacent are all taken one by one.
//
// A rule is written once for vectors and numbers alike. The loops say their width themselves, so
// that compilers need not find it out, which takes them ten times as long.
#pragma once

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "cpu/kernels/number.hpp"

// In a loop: compilers do not make vectors of it, nor copies for each count.
#define TENURE_ONE_BY_ONE __asm__ volatile("")

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

#if defined(__AVX512F__)
inline constexpr int64_t kRegisterBytes = 64;
#elif defined(__AVX2__)
inline constexpr int64_t kRegisterBytes = 32;
#else
inline constexpr int64_t kRegisterBytes = 16;
#endif
inline constexpr int64_t kShortBytes = 16;

template <class T, int64_t kBytes>
struct SizedVector {
  typedef T type __attribute__((vector_size(kBytes)));
};

template <class V>
concept IsVector = requires(V v) { v[0]; };

// The type of a vector's elements, integers promoted; a number's is its own.
template <class V>
struct NumberIn {
  using type = V;
};
template <IsVector V>
struct NumberIn<V> {
  using type = decltype(+V{}[0]);
};
template <class V>
using Number = typename NumberIn<V>::type;

// T where V is a number; where it is a vector, another as large of elements T.
template <class T, class V>
struct AsWide {
  using type = T;
};
template <class T, IsVector V>
struct AsWide<T, V> {
  using type = typename SizedVector<T, sizeof(V)>::type;
};
template <class T, class V>
using As = typename AsWide<T, V>::type;

template <class T>
bool is_adjacent(int64_t step) {
  return step == static_cast<int64_t>(sizeof(T));
}
template <class T>
bool is_adjacent_or_repeated(const StripInput& source) {
  return source.step == 0 || is_adjacent<T>(source.step);
}

// A vector rule applied to two numbers: branch-free, as some rules would be mispredicted.
template <class Rule, class T>
inline T of_two_numbers(T a, T b) {
  if constexpr (Rule::kBranches) {
    using Short = typename SizedVector<T, kShortBytes>::type;
    return Rule::apply(Short{a}, Short{b})[0];
  } else {
    return Rule::apply(a, b);
  }
}

// All bits where a source moves on with the elements, none where it is repeated.
inline int64_t moves_of(const StripInput& source) { return source.step == 0 ? 0 : -1; }

// The data of a source; a source that repeats one element has a register of copies.
template <class T>
class Register {
 public:
  explicit Register(const StripInput& source) : data_(source.data) {
    if (source.step != 0) return;
    using Wide = typename SizedVector<T, kRegisterBytes>::type;
    store(memory_, load<T>(source.data) - Wide{});
    data_ = memory_;
  }
  Register(const Register&) = delete;
  Register& operator=(const Register&) = delete;
  [[nodiscard]] const Byte* data() const { return data_; }

 private:
  const Byte* data_;
  alignas(kRegisterBytes) Byte memory_[kRegisterBytes];
};

// Adjacent elements, of `bytes` together and fewer than two registers of them; a source that does
// not move has a register's worth.
template <class Rule, class T>
__attribute__((noinline)) Finding map_few_pairs(Byte* out, int64_t bytes, const Byte* a,
                                                int64_t a_moves, const Byte* b, int64_t b_moves) {
  using Wide = typename SizedVector<T, kRegisterBytes>::type;
  using Short = typename SizedVector<T, kShortBytes>::type;
  int64_t done = 0;
  if (bytes >= kRegisterBytes) {
    store<Wide>(out, Rule::apply(load<Wide>(a), load<Wide>(b)));
    done = kRegisterBytes;
  }
#pragma GCC unroll 1
  for (; done + kShortBytes <= bytes; done += kShortBytes) {
    store<Short>(out + done,
                 Rule::apply(load<Short>(a + (done & a_moves)), load<Short>(b + (done & b_moves))));
  }
#pragma GCC unroll 1
  for (; done < bytes; done += static_cast<int64_t>(sizeof(T))) {
    TENURE_ONE_BY_ONE;
    store<T>(out + done,
             of_two_numbers<Rule>(load<T>(a + (done & a_moves)), load<T>(b + (done & b_moves))));
  }
  return kNothing;
}

// Like map_few_pairs(), of any number of elements. A call of few needs no registers saved.
template <class Rule, class T>
Finding map_adjacent_pairs(Byte* out, int64_t bytes, const Byte* a, int64_t a_moves, const Byte* b,
                           int64_t b_moves) {
  using Wide = typename SizedVector<T, kRegisterBytes>::type;
  constexpr int64_t kTwo = 2 * kRegisterBytes;
  const int64_t a_next = a_moves & kRegisterBytes;
  const int64_t b_next = b_moves & kRegisterBytes;
  for (; bytes >= kTwo; bytes -= kTwo) {
    const Wide first = Rule::apply(load<Wide>(a), load<Wide>(b));
    const Wide second = Rule::apply(load<Wide>(a + a_next), load<Wide>(b + b_next));
    store(out, first);
    store(out + kRegisterBytes, second);
    out += kTwo;
    a += 2 * a_next;
    b += 2 * b_next;
  }
  return map_few_pairs<Rule, T>(out, bytes, a, a_moves, b, b_moves);
}

// Maps all other strips: one source is repeated, or elements are not adjacent.
template <class Rule, class T>
__attribute__((noinline)) Finding map_other_pairs(const Strip& strip) {
  const StripInput left = strip.in[0];
  const StripInput right = strip.in[1];
  const int64_t count = strip.count;
  Byte* out = strip.out;
  if (is_adjacent<T>(strip.out_step) && is_adjacent_or_repeated<T>(left) &&
      is_adjacent_or_repeated<T>(right)) {
    const Register<T> a(left);
    const Register<T> b(right);
    return map_adjacent_pairs<Rule, T>(out, count * static_cast<int64_t>(sizeof(T)), a.data(),
                                       moves_of(left), b.data(), moves_of(right));
  }
  const Byte* a = left.data;
  const Byte* b = right.data;
  const int64_t out_step = strip.out_step;
#pragma GCC unroll 1
  for (int64_t i = 0; i < count; ++i) {
    TENURE_ONE_BY_ONE;
    store<T>(out, of_two_numbers<Rule>(load<T>(a), load<T>(b)));
    out += out_step;
    a += left.step;
    b += right.step;
  }
  return kNothing;
}

// Rule: static V apply(V a, V b), of elements of type T.
template <class Rule, class T>
Finding map_pairs(const Strip& strip) {
  if (is_adjacent<T>(strip.out_step) && is_adjacent<T>(strip.in[0].step) &&
      is_adjacent<T>(strip.in[1].step)) [[likely]] {
    return map_adjacent_pairs<Rule, T>(strip.out, strip.count * static_cast<int64_t>(sizeof(T)),
                                       strip.in[0].data, -1, strip.in[1].data, -1);
  }
  return map_other_pairs<Rule, T>(strip);
}

// Rule: static V apply(V a).
template <class Rule, class T>
Finding map_each(const Strip& strip) {
  using Wide = typename SizedVector<T, kRegisterBytes>::type;
  using Short = typename SizedVector<T, kShortBytes>::type;
  constexpr auto kWidth = static_cast<int64_t>(sizeof(T));
  const int64_t bytes = strip.count * kWidth;
  Byte* out = strip.out;
  const Byte* in = strip.in[0].data;
  const int64_t out_step = strip.out_step;
  const int64_t in_step = strip.in[0].step;
  int64_t done = 0;
  if (is_adjacent<T>(out_step) && is_adjacent<T>(in_step)) [[likely]] {
#pragma GCC unroll 2
    for (; done + kRegisterBytes <= bytes; done += kRegisterBytes) {
      store(out + done, Rule::apply(load<Wide>(in + done)));
    }
#pragma GCC unroll 1
    for (; done + kShortBytes <= bytes; done += kShortBytes) {
      store(out + done, Rule::apply(load<Short>(in + done)));
    }
    if (done == bytes) return kNothing;
    out += done;
    in += done;
  }
#pragma GCC unroll 1
  for (; done < bytes; done += kWidth) {
    TENURE_ONE_BY_ONE;
    store<T>(out, Rule::apply(load<T>(in)));
    out += out_step;
    in += in_step;
  }
  return kNothing;
}

template <class T>
__attribute__((noinline)) void copy_one_by_one(Byte* out, int64_t out_step, const Byte* in,
                                               int64_t in_step, int64_t count) {
#pragma GCC unroll 1
  for (int64_t i = 0; i < count; ++i) {
    TENURE_ONE_BY_ONE;
    store<T>(out + i * out_step, load<T>(in + i * in_step));
  }
}

// Maps elements as map_each() does, for functions of many instructions. The code has the rule once,
// for vectors; elements that are no whole vector of adjacent ones are copied through a register's
// worth of memory.
template <class Rule, class T>
Finding map_function(const Strip& strip) {
  using Wide = typename SizedVector<T, kRegisterBytes>::type;
  constexpr auto kWidth = static_cast<int64_t>(sizeof(T));
  constexpr int64_t kLanes = kRegisterBytes / kWidth;
  alignas(kRegisterBytes) Byte lanes[kRegisterBytes] = {};
  const Byte* in = strip.in[0].data;
  Byte* out = strip.out;
  const int64_t in_step = strip.in[0].step;
  const int64_t out_step = strip.out_step;
  const bool are_adjacent = is_adjacent<T>(out_step) && is_adjacent<T>(in_step);
#pragma GCC unroll 1
  for (int64_t left = strip.count; left > 0; left -= kLanes) {
    const int64_t count = left < kLanes ? left : kLanes;
    const bool is_whole = are_adjacent && left >= kLanes;
    if (!is_whole) [[unlikely]]
      copy_one_by_one<T>(lanes, kWidth, in, in_step, count);
    const Byte* from = is_whole ? in : lanes;
    Byte* to = is_whole ? out : lanes;
    __asm__("" : "+r"(from), "+r"(to));  // or compilers make a copy of the rule for each
    store<Wide>(to, Rule::apply(load<Wide>(from)));
    if (!is_whole) [[unlikely]]
      copy_one_by_one<T>(out, out_step, lanes, kWidth, count);
    in += kLanes * in_step;
    out += kLanes * out_step;
  }
  return kNothing;
}

// Maps several operands as map_function() does; each has adjacent elements, a repeated one, or
// others.
template <class Rule, class T, uint32_t kSources>
Finding map_joint(const Strip& strip) {
  using Wide = typename SizedVector<T, kRegisterBytes>::type;
  constexpr auto kWidth = static_cast<int64_t>(sizeof(T));
  constexpr int64_t kLanes = kRegisterBytes / kWidth;
  alignas(kRegisterBytes) Byte lanes[kSources + 1][kRegisterBytes];
  Byte* const results = lanes[kSources];
  const Byte* in[kSources];
  int64_t steps[kSources];  // of whole registers
  bool are_adjacent = is_adjacent<T>(strip.out_step);
  for (uint32_t i = 0; i < kSources; ++i) {
    const StripInput& source = strip.in[i];
    in[i] = source.data;
    steps[i] = kLanes * source.step;
    are_adjacent &= is_adjacent_or_repeated<T>(source);
    const bool is_repeated = source.step == 0;
    // Lanes of no element have 1, which divides and has a logarithm.
    const T value = is_repeated ? load<T>(source.data) : T{1};
    store(lanes[i], value - Wide{});
    if (is_repeated) in[i] = lanes[i];
  }
  Byte* out = strip.out;
  const int64_t out_step = strip.out_step;
#pragma GCC unroll 1
  for (int64_t left = strip.count; left > 0; left -= kLanes) {
    const int64_t count = left < kLanes ? left : kLanes;
    const bool is_whole = are_adjacent && left >= kLanes;
    Wide operands[kSources];
    for (uint32_t i = 0; i < kSources; ++i) {
      const Byte* from = in[i];
      if (!is_whole && from != lanes[i]) [[unlikely]] {
        copy_one_by_one<T>(lanes[i], kWidth, from, strip.in[i].step, count);
        from = lanes[i];
      }
      __asm__("" : "+r"(from));  // or compilers make a copy of the rule for each
      operands[i] = load<Wide>(from);
      in[i] += steps[i];
    }
    Byte* to = is_whole ? out : results;
    __asm__("" : "+r"(to));
    if constexpr (kSources == 2) {
      store<Wide>(to, Rule::apply(operands[0], operands[1]));
    } else {
      store<Wide>(to, Rule::apply(operands[0], operands[1], operands[2]));
    }
    if (!is_whole) [[unlikely]]
      copy_one_by_one<T>(out, out_step, results, kWidth, count);
    out += kLanes * out_step;
  }
  return kNothing;
}

// Applies a rule for f32 to bf16 by their bits: the upper half of 32 bits is a float in its place,
// and the lower half is one after a shift. No element changes its lane.
template <class Rule>
struct OnBF16 {
  static constexpr bool kBranches = false;

  template <IsVector V>
  static V apply(V a) {
    const auto bits = bit_copy<As<uint32_t, V>>(a);
    return joined<V>(rounded(Rule::apply(upper(bits))), rounded(Rule::apply(lower(bits))));
  }
  template <IsVector V>
  static V apply(V a, V b) {
    const auto left = bit_copy<As<uint32_t, V>>(a);
    const auto right = bit_copy<As<uint32_t, V>>(b);
    return joined<V>(rounded(Rule::apply(upper(left), upper(right))),
                     rounded(Rule::apply(lower(left), lower(right))));
  }
  static uint16_t apply(uint16_t a) { return narrow<BF16>(Rule::apply(widen(BF16{a}))).bits; }
  static uint16_t apply(uint16_t a, uint16_t b) {
    return narrow<BF16>(of_two_numbers<Rule>(widen(BF16{a}), widen(BF16{b}))).bits;
  }

 private:
  static constexpr uint32_t kUpper = 0xffff0000u;

  template <class Words>
  static As<float, Words> upper(Words bits) {
    return bit_copy<As<float, Words>>(bits & kUpper);
  }
  template <class Words>
  static As<float, Words> lower(Words bits) {
    return bit_copy<As<float, Words>>(bits << 16);
  }
  // To nearest even in the upper halves.
  template <class Floats>
  static As<uint32_t, Floats> rounded(Floats value) {
    const auto bits = bit_copy<As<uint32_t, Floats>>(value);
    return value != value ? bits | 0x400000u : bits + 0x7fffu + ((bits >> 16) & 1u);
  }
  template <class V, class Words>
  static V joined(Words upper, Words lower) {
    return bit_copy<V>((upper & kUpper) | (lower >> 16));
  }
};

#if defined(__F16C__)
inline constexpr bool kConvertsHalves = true;

// Applies a rule for f32 to f16 in registers: to the lower half of a vector, then to the upper one.
template <class Rule>
struct OnF16 {
  static constexpr bool kBranches = true;  // one number is a vector's first

  template <IsVector V>
  static V apply(V a) {
    return joined<V>(Rule::apply(widened<0>(a)), Rule::apply(widened<1>(a)));
  }
  template <IsVector V>
  static V apply(V a, V b) {
    return joined<V>(Rule::apply(widened<0>(a), widened<0>(b)),
                     Rule::apply(widened<1>(a), widened<1>(b)));
  }
  static uint16_t apply(uint16_t a) {
    using Short = typename SizedVector<uint16_t, kShortBytes>::type;
    return apply(Short{a})[0];
  }

 private:
  // AVX-512 by masked forms, since g++ 12 takes the results of the others for uninitialised.
  template <int kHalf, class V>
  static As<float, V> widened(V halves) {
    using Floats = As<float, V>;
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64) {
      const auto half =
          _mm512_maskz_extracti64x4_epi64(0xf, reinterpret_cast<__m512i>(halves), kHalf);
      return reinterpret_cast<Floats>(_mm512_maskz_cvtph_ps(0xffff, half));
    }
#endif
    if constexpr (sizeof(V) == 32) {
      const auto half = _mm256_extracti128_si256(bit_copy<__m256i>(halves), kHalf);
      return bit_copy<Floats>(_mm256_cvtph_ps(half));
    }
    if constexpr (sizeof(V) == 16) {
      const auto half = _mm_srli_si128(bit_copy<__m128i>(halves), 8 * kHalf);
      return bit_copy<Floats>(_mm_cvtph_ps(half));
    }
  }
  template <class V, class Floats>
  static V joined(Floats lower, Floats upper) {
    constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT;
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64) {
      const auto low = _mm512_maskz_cvtps_ph(0xffff, reinterpret_cast<__m512>(lower), kNearest);
      const auto high = _mm512_maskz_cvtps_ph(0xffff, reinterpret_cast<__m512>(upper), kNearest);
      return reinterpret_cast<V>(
          _mm512_maskz_inserti64x4(0xff, _mm512_castsi256_si512(low), high, 1));
    }
#endif
    if constexpr (sizeof(V) == 32) {
      return bit_copy<V>(_mm256_set_m128i(_mm256_cvtps_ph(bit_copy<__m256>(upper), kNearest),
                                          _mm256_cvtps_ph(bit_copy<__m256>(lower), kNearest)));
    }
    if constexpr (sizeof(V) == 16) {
      return bit_copy<V>(_mm_unpacklo_epi64(_mm_cvtps_ph(bit_copy<__m128>(lower), kNearest),
                                            _mm_cvtps_ph(bit_copy<__m128>(upper), kNearest)));
    }
  }
};
#else
inline constexpr bool kConvertsHalves = false;
template <class Rule>
struct OnF16;  // sets without the instructions convert panels
#endif

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
