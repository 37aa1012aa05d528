// Random numbers of distributions, a batch of blocks at a time.
#include "cpu/random.hpp"

#include "cpu/kernels/random/normal.hpp"
#include "cpu/kernels/random/philox.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class Parameters>
const Parameters& parameters_of(const RandomRun& run) {
  return *static_cast<const Parameters*>(run.parameters);
}

template <class V>
void store_pair(Byte* to, const Pair<V>& pair) {
  store(to, pair.first);
  store(to + kVectorBytes, pair.second);
}

template <class T>
class Uniform;

template <class T>
class Scaled {
 public:
  explicit Scaled(const UniformParameters& given)
      : low_(static_cast<T>(given.low)),
        scale_(static_cast<T>(given.scale)),
        most_(static_cast<T>(given.most)) {}
  [[nodiscard]] Vector<T> of(const Vector<T>& part) const {
    const Vector<T> scaled = part * scale_ + low_;
    return scaled < most_ ? scaled : broadcast(most_);
  }

 private:
  T low_;
  T scale_;
  T most_;
};

template <>
class Uniform<float> {
 public:
  static constexpr uint32_t kStream = kStreamOf32Bits;
  static constexpr int64_t kWidth = 4;

  explicit Uniform(const RandomRun& run)
      : scaled_(parameters_of<UniformParameters>(run)),
        unit_(static_cast<float>(parameters_of<UniformParameters>(run).unit)),
        unused_bits_(parameters_of<UniformParameters>(run).unused_bits) {}
  void write(const Blocks32& blocks, Byte* to) const {
    const auto [first, second] = words_in_order(blocks);
    store_pair<Vector<float>>(to, {of(first), of(second)});
  }

 private:
  [[nodiscard]] Vector<float> of(const Words& words) const {
    return scaled_.of(NormalOf<float>::number_of_small(words >> unused_bits_) * unit_);
  }

  Scaled<float> scaled_;
  float unit_;
  uint32_t unused_bits_;
};

template <>
class Uniform<double> {
 public:
  static constexpr uint32_t kStream = kStreamOf64Bits;
  static constexpr int64_t kWidth = 8;

  explicit Uniform(const RandomRun& run) : scaled_(parameters_of<UniformParameters>(run)) {}
  void write(const Blocks32& blocks, Byte* to) const {
    const auto [first, second] = wide_words_in_order(blocks);
    store_pair<Vector<double>>(to, {of(first), of(second)});
  }

 private:
  // 52 bits as a fraction, and the last one of 53 by itself.
  [[nodiscard]] Vector<double> of(const WideWords& words) const {
    constexpr uint64_t kLast = 0x3ca0000000000000u;  // 2^-53
    const auto upper = reinterpret_cast<Vector<double>>(words >> 12 | NormalOf<double>::kOne) - 1.0;
    const auto last = reinterpret_cast<Vector<double>>(-(words >> 11 & 1) & kLast);
    return scaled_.of(upper + last);
  }

  Scaled<double> scaled_;
};

template <class T>
class Normal {
 public:
  static constexpr uint32_t kStream = sizeof(T) == 4 ? kStreamOf32Bits : kStreamOf64Bits;
  static constexpr int64_t kWidth = sizeof(T);

  explicit Normal(const RandomRun& run)
      : mean_(static_cast<T>(parameters_of<NormalParameters>(run).mean)),
        deviation_(static_cast<T>(parameters_of<NormalParameters>(run).deviation)) {}
  // The words of a batch's numbers are kept: the rounds of a batch wait for each other, and so do
  // the steps of its numbers. With one loop for both a processor sees the next batch too late.
  static void keep(const Blocks32& blocks, Byte* kept) {
    const auto& word = blocks.word;
    if constexpr (sizeof(T) == 4) {
      store_pair<WideWords>(kept, {joined(word[0], word[2]), joined(word[1], word[3])});
    } else {
      store_pair<WideWords>(kept, {joined(word[0], word[1]), joined(word[2], word[3])});
    }
  }
  void write(const Byte* kept, Byte* to) const {
    using Bits = typename NormalOf<T>::Bits;
    const auto pair = normal_pair<T>(load<Bits>(kept), load<Bits>(kept + kVectorBytes));
    store_pair(to, interleaved<sizeof(T)>(pair.first * deviation_ + mean_,
                                          pair.second * deviation_ + mean_));
  }

 private:
  T mean_;
  T deviation_;
};

class Integers {
 public:
  static constexpr uint32_t kStream = kStreamOf64Bits;
  static constexpr int64_t kWidth = 8;

  explicit Integers(const RandomRun& run)
      : least_(parameters_of<IntegersParameters>(run).least),
        count_(parameters_of<IntegersParameters>(run).count),
        all_(count_ == 0 ? ~uint64_t{0} : 0) {}
  void write(const Blocks32& blocks, Byte* to) const {
    const auto [first, second] = wide_words_in_order(blocks);
    store_pair<WideWords>(to, {of(first), of(second)});
  }

 private:
  [[nodiscard]] WideWords of(const WideWords& words) const {
    constexpr uint64_t kLow = 0xffffffffu;
    const WideWords low = words & kLow;
    const WideWords high = words >> 32;
    const uint64_t count_low = count_ & kLow;
    const uint64_t count_high = count_ >> 32;
    const WideWords left = high * count_low;
    const WideWords right = low * count_high;
    const WideWords middle = (low * count_low >> 32) + (left & kLow) + (right & kLow);
    const WideWords product = high * count_high + (left >> 32) + (right >> 32) + (middle >> 32);
    return product + (words & all_) + least_;
  }

  uint64_t least_;
  uint64_t count_;
  uint64_t all_;  // bits that are taken as they are
};

class Bernoulli {
 public:
  static constexpr uint32_t kStream = kStreamOf32Bits;
  static constexpr int64_t kWidth = 1;

  explicit Bernoulli(const RandomRun& run)
      : most_(static_cast<uint32_t>(parameters_of<BernoulliParameters>(run).bound - 1)),
        possible_(parameters_of<BernoulliParameters>(run).bound == 0 ? 0 : ~uint64_t{0}) {}
  void write(const Blocks32& blocks, Byte* to) const {
    const auto [first, second] = words_in_order(blocks);
    constexpr int64_t kWords = kPerVector<uint32_t>;
    const uint64_t bits = (lane_bits<int32_t>(first <= broadcast(most_)) |
                           lane_bits<int32_t>(second <= broadcast(most_)) << kWords) &
                          possible_;
    for (int64_t at = 0; at < 2 * kWords; at += 8) {
      // Eight bits to the lowest of eight bytes: the products of the lower seven do not meet.
      const uint64_t eight = bits >> at & 0xffu;
      const uint64_t spread =
          ((eight & 0x7fu) * 0x0002040810204081u & 0x0101010101010101u) | eight >> 7 << 56;
      store(to + at, spread);
    }
  }

 private:
  uint32_t most_;
  uint64_t possible_;
};

// Batches that are drawn at a time: their kept words are a few KiB of a first cache.
constexpr int64_t kTurnBatches = 16;

// Whether a rule keeps the words of a batch of blocks and writes its numbers later, or writes them
// at once.
template <class Rule>
constexpr bool kKeepsWords = false;
template <class T>
constexpr bool kKeepsWords<Normal<T>> = true;

template <class Rule>
void draw_batches(const Rule& rule, const PhiloxKeys& keys, uint64_t first, int64_t count,
                  Byte* to) {
  constexpr int64_t kBytes =
      kBatchBlocks * (Rule::kStream == kStreamOf32Bits ? 4 : 2) * Rule::kWidth;
  const auto blocks = [&](int64_t batch) {
    return keys.blocks(first + static_cast<uint64_t>(batch * kBatchBlocks), Rule::kStream);
  };
  if constexpr (kKeepsWords<Rule>) {
    alignas(kVectorBytes) Byte kept[kTurnBatches * 2 * kVectorBytes];
#pragma GCC unroll 1
    for (int64_t i = 0; i < count; ++i) Rule::keep(blocks(i), kept + i * 2 * kVectorBytes);
#pragma GCC unroll 1
    for (int64_t i = 0; i < count; ++i) rule.write(kept + i * 2 * kVectorBytes, to + i * kBytes);
  } else {
#pragma GCC unroll 1
    for (int64_t i = 0; i < count; ++i) rule.write(blocks(i), to + i * kBytes);
  }
}

// A part of a batch goes through memory of its own, so that the code has the rule once.
template <class Rule>
void draw(const RandomRun& run) {
  constexpr int64_t kPerBlock = Rule::kStream == kStreamOf32Bits ? 4 : 2;
  constexpr int64_t kBatch = kBatchBlocks * kPerBlock;
  const Rule rule(run);
  const PhiloxKeys keys(run.seed);
  alignas(kVectorBytes) Byte batch[kBatch * Rule::kWidth];
  uint64_t place = run.first;
  Byte* out = run.out;
#pragma GCC unroll 1
  for (int64_t left = run.count; left > 0;) {
    const auto skipped = static_cast<int64_t>(place % kPerBlock);
    const bool is_whole = skipped == 0 && left >= kBatch;
    const int64_t batches = is_whole ? smaller(left / kBatch, kTurnBatches) : 1;
    Byte* to = is_whole ? out : batch;
    __asm__("" : "+r"(to));  // or compilers make a copy of the rule for each
    draw_batches(rule, keys, place / kPerBlock, batches, to);
    int64_t count = batches * kBatch;
    if (!is_whole) [[unlikely]] {
      count = smaller(kBatch - skipped, left);
      const Byte* const from = batch + skipped * Rule::kWidth;
      for (int64_t i = 0; i < count * Rule::kWidth; ++i) out[i] = from[i];
    }
    place += static_cast<uint64_t>(count);
    out += count * Rule::kWidth;
    left -= count;
  }
}

}  // namespace

const RandomKernels kRandom = {.uniform = {draw<Uniform<double>>, draw<Uniform<float>>},
                               .normal = {draw<Normal<double>>, draw<Normal<float>>},
                               .integers = draw<Integers>,
                               .bernoulli = draw<Bernoulli>};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
