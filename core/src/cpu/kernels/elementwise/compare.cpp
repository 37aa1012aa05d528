// Comparisons of two operands of one dtype, as bool8.
#include "cpu/halves.hpp"
#include "cpu/kernels/dense.hpp"
#include "cpu/kernels/strip.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// As many results as a register holds, of whole registers of truths, which compilers make of a loop
// of constant length; and of two bytes twice as many, so that the loop is worth its steps.
template <class T>
constexpr int64_t kBlock = kRegisterBytes * (sizeof(T) == 2 ? 2 : 1);
constexpr int64_t kShortBlock = 16;

// A source that is read in blocks, or one element that is repeated.
template <class T>
class BlockSource {
 public:
  explicit BlockSource(const Source& source) : data_(source.data), moves_(source.step != 0) {
    if (moves_) return;
    const T value = load<T>(data_);
    for (int64_t i = 0; i < kBlock<T>; ++i) store(repeats_ + i * kStep<T>, value);
    data_ = repeats_;
  }
  BlockSource(const BlockSource&) = delete;
  BlockSource& operator=(const BlockSource&) = delete;

  [[nodiscard]] const Byte* data() const { return data_; }
  [[nodiscard]] int64_t next(int64_t count) const { return moves_ ? count * kStep<T> : 0; }

 private:
  const Byte* data_;
  bool moves_;
  alignas(kRegisterBytes) Byte repeats_[kBlock<T> * kStep<T>];
};

template <class Rule, class T>
inline uint8_t answer(const Byte* a, const Byte* b) {
  return Rule::apply(widen(load<T>(a)), widen(load<T>(b))) ? 1 : 0;
}

// Compares as many blocks as there are from element `done` on; returns the first element that is
// left.
template <class Rule, class T, int64_t kCount>
inline int64_t ask_blocks(const Strip& strip, int64_t done, const BlockSource<T>& left,
                          const BlockSource<T>& right) {
  const Byte* a = left.data() + left.next(done);
  const Byte* b = right.data() + right.next(done);
  Byte* out = strip.out + done;
  const int64_t last = strip.count - kCount;
  const int64_t a_next = left.next(kCount);
  const int64_t b_next = right.next(kCount);
  for (; done <= last; done += kCount) {
    TENURE_INDEPENDENT
#pragma GCC unroll 1
    for (int64_t i = 0; i < kCount; ++i) {
      out[i] = answer<Rule, T>(a + i * kStep<T>, b + i * kStep<T>);
    }
    a += a_next;
    b += b_next;
    out += kCount;
  }
  return done;
}

template <class Rule, class T>
Finding ask(const Strip& strip) {
  int64_t done = 0;
  if (is_adjacent<uint8_t>(strip.out_step) && is_adjacent_or_repeated<T>(strip.in[0]) &&
      is_adjacent_or_repeated<T>(strip.in[1]) && strip.count >= kShortBlock) {
    const BlockSource<T> left(strip.in[0]);
    const BlockSource<T> right(strip.in[1]);
    done = ask_blocks<Rule, T, kBlock<T>>(strip, done, left, right);
    if constexpr (kBlock<T> > kShortBlock) {
      done = ask_blocks<Rule, T, kShortBlock>(strip, done, left, right);
    }
  }
  Byte* out = strip.out + done * strip.out_step;
  const Byte* a = strip.in[0].data + done * strip.in[0].step;
  const Byte* b = strip.in[1].data + done * strip.in[1].step;
  const int64_t out_step = strip.out_step;
  const int64_t a_step = strip.in[0].step;
  const int64_t b_step = strip.in[1].step;
  const int64_t rest = strip.count - done;
#pragma GCC unroll 1
  for (int64_t i = 0; i < rest; ++i) {
    TENURE_ONE_BY_ONE;
    *out = answer<Rule, T>(a, b);
    out += out_step;
    a += a_step;
    b += b_step;
  }
  return kNothing;
}

struct Equal {
  template <class T>
  static auto apply(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <class T>
  static auto apply(T a, T b) {
    return a != b;
  }
};
struct Less {
  template <class T>
  static auto apply(T a, T b) {
    return a < b;
  }
};
struct LessOrEqual {
  template <class T>
  static auto apply(T a, T b) {
    return a <= b;
  }
};

// Comparisons of one-byte elements, whose truth values are as wide.
template <class Rule>
struct OfBytes {
  static constexpr bool kBranches = false;
  template <class V>
  static V apply(V a, V b) {
    if constexpr (IsVector<V>) {
      return bit_copy<V>(Rule::apply(a, b)) & 1;
    } else {
      return Rule::apply(a, b) ? 1 : 0;
    }
  }
};
// Truth bytes by their truth: 0 is less than any other.
template <class Rule>
struct OfTruths {
  template <class V>
  static auto apply(V a, V b) {
    return Rule::apply(truth(a), truth(b));
  }

 private:
  template <class V>
  static V truth(V bytes) {
    if constexpr (IsVector<V>) {
      return bit_copy<V>(bytes != 0) & 1;
    } else {
      return bytes != 0 ? 1 : 0;
    }
  }
};

constexpr Conversion kF16ToFloat = {load_f16, nullptr, 4, 1};

template <class Rule, class T>
constexpr Elementwise kernel = {ask<Rule, T>, nullptr, Steps::kDense};
template <class Rule>
constexpr Elementwise kernel<Rule, int8_t> = {map_pairs<OfBytes<Rule>, int8_t>, nullptr,
                                              Steps::kDense};
template <class Rule>
constexpr Elementwise kernel<Rule, uint8_t> = {map_pairs<OfBytes<Rule>, uint8_t>, nullptr,
                                               Steps::kDense};
template <class Rule>
constexpr Elementwise kernel<Rule, Bool8> = {map_pairs<OfBytes<OfTruths<Rule>>, uint8_t>, nullptr,
                                             Steps::kDense};
template <class Rule>
constexpr Elementwise kernel<Rule, F16> = {ask<Rule, float>, &kF16ToFloat, Steps::kDense};

}  // namespace

// Equality of integers does not ask for their sign.
const Elementwise kCompare[kCompareKernelCount][kTypeCount] = {
    {TENURE_FLOATS(Equal), TENURE_UNSIGNED(Equal), TENURE_UNSIGNED(Equal), kernel<Equal, Bool8>},
    {TENURE_FLOATS(NotEqual), TENURE_UNSIGNED(NotEqual), TENURE_UNSIGNED(NotEqual),
     kernel<NotEqual, Bool8>},
    {TENURE_FLOATS(Less), TENURE_SIGNED(Less), TENURE_UNSIGNED(Less), kernel<Less, Bool8>},
    {TENURE_FLOATS(LessOrEqual), TENURE_SIGNED(LessOrEqual), TENURE_UNSIGNED(LessOrEqual),
     kernel<LessOrEqual, Bool8>},
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
