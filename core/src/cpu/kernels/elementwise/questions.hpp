// Loops of questions to elements, whose answers are truth bytes.
#pragma once

#include "cpu/kernels/dense.hpp"
#include "cpu/kernels/strip.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Results of a block: a whole register of truth bytes, which compilers make from a loop of constant
// length. Elements of two bytes have two registers, so that the loop is worth its steps.
template <class T>
constexpr int64_t kBlock = kRegisterBytes * (sizeof(T) == 2 ? 2 : 1);
constexpr int64_t kShortBlock = 16;

// A source that is read in blocks, or one element that is repeated.
template <class T>
class BlockSource {
 public:
  explicit BlockSource(const StripInput& source) : data_(source.data), moves_(source.step != 0) {
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

// A question to one element: Rule: static bool apply(T a).
template <class Rule>
struct OfFirst {
  template <class T>
  static auto apply(T a, T /*b*/) {
    return Rule::apply(a);
  }
};
template <class Rule, class T>
Finding ask_each(const Strip& strip) {
  const StripInput twice[] = {strip.in[0], strip.in[0]};
  Strip pairs = strip;
  pairs.source_count = 2;
  pairs.in = twice;
  return ask<OfFirst<Rule>, T>(pairs);
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
