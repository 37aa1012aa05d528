// Products of dense rows, only at the entries of a pattern.
#include "cpu/sddmm.hpp"

#include "cpu/kernels/product/sampled_rows.hpp"
#include "cpu/kernels/sums.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Lanes of a sum, the same number under every set.
template <class T>
constexpr int64_t kSumLanes = kLanesBytes / kStep<Sum<T>>;

// Elements of a row that are fetched at once, where they are not adjacent.
constexpr int64_t kFetchedElements = 256;
static_assert(kFetchedElements % kSumLanes<uint8_t> == 0 &&
              kFetchedElements % kSumLanes<F16> == 0 && kFetchedElements % kSumLanes<float> == 0);

// Adds the whole blocks of lanes; returns how many elements these are.
template <class T>
inline int64_t add_blocks(const Byte* x, const Byte* y, int64_t length, Sum<T>* lanes) {
  constexpr int64_t kLanes = kSumLanes<T>;
  int64_t i = 0;
  if constexpr (kIsFloat<T> && kSame<T, Sum<T>>) {
    Lanes<T> sums;
    __builtin_memcpy(&sums.parts, lanes, sizeof sums.parts);
    for (; i + kLanes <= length; i += kLanes) {
      for (int p = 0; p < Lanes<T>::kParts; ++p) {
        const int64_t at = i * kStep<T> + p * kVectorBytes;
        sums.parts[p] += load<Vector<T>>(x + at) * load<Vector<T>>(y + at);
      }
    }
    __builtin_memcpy(lanes, sums.parts, sizeof sums.parts);
  } else {
    for (; i + kLanes <= length; i += kLanes) {
      TENURE_INDEPENDENT
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        lanes[lane] +=
            widened<T>(x + (i + lane) * kStep<T>) * widened<T>(y + (i + lane) * kStep<T>);
      }
    }
  }
  return i;
}

template <class T>
inline void add_products(const Byte* x, const Byte* y, int64_t length, Sum<T>* lanes) {
  const int64_t done = add_blocks<T>(x, y, length, lanes);
  for (int64_t lane = 0; lane < length - done; ++lane) {
    lanes[lane] +=
        widened<T>(x + (done + lane) * kStep<T>) * widened<T>(y + (done + lane) * kStep<T>);
  }
}

// Folds the lanes in halves.
template <class T>
inline Sum<T> total(Sum<T>* lanes) {
  for (int64_t half = kSumLanes<T> / 2; half > 0; half /= 2) {
    TENURE_INDEPENDENT
    for (int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

// Dot product of rows with a stride: whole blocks at a time, so that each lane has the same sum. A
// function of its own, as the contiguous one's lanes then stay in registers.
template <class T>
__attribute__((noinline)) Sum<T> spaced_dot(const Sampled& s, const Byte* x, const Byte* y) {
  Byte xs[kFetchedElements * kStep<T>];
  Byte ys[kFetchedElements * kStep<T>];
  Sum<T> lanes[kSumLanes<T>] = {};
  for (int64_t first = 0; first < s.length; first += kFetchedElements) {
    const int64_t count = s.length - first < kFetchedElements ? s.length - first : kFetchedElements;
    for (int64_t i = 0; i < count; ++i) {
      store<T>(xs + i * kStep<T>, load<T>(x + (first + i) * s.x_element_step));
      store<T>(ys + i * kStep<T>, load<T>(y + (first + i) * s.y_element_step));
    }
    add_products<T>(xs, ys, count, lanes);
  }
  return total<T>(lanes);
}

template <class T>
inline Sum<T> dot(const Sampled& s, const Byte* x, const Byte* y) {
  if (s.is_spaced) [[unlikely]]
    return spaced_dot<T>(s, x, y);
  Sum<T> lanes[kSumLanes<T>] = {};
  add_products<T>(x, y, s.length, lanes);
  return total<T>(lanes);
}

// Entry `entry`, an element or a block, whose rows of x and of y begin at these.
template <class T>
inline void sample(const Sampled& s, Sum<T> alpha, int64_t entry, const Byte* x, const Byte* y) {
  int64_t at = entry * s.block_rows * s.block_cols * kStep<T>;
  for (int64_t i = 0; i < s.block_rows; ++i) {
    for (int64_t j = 0; j < s.block_cols; ++j, at += kStep<T>) {
      Sum<T> product = alpha * dot<T>(s, x + i * s.x_step, y + j * s.y_step);
      if (s.values != nullptr) product *= widened<T>(s.values + at);
      store_sum<T>(s.out + at, product);
    }
  }
}

// Products of `count` entries, kPerVector<T> at most, from entry `entry` on.
template <class T>
inline void write_products(const Sampled& s, int64_t entry, int64_t count, Vector<T> products) {
  const int64_t at = entry * kStep<T>;
  const FirstLanes<T> lanes(count);
  if (s.values != nullptr) products *= lanes.load(s.values + at);
  lanes.store(s.out + at, products);
}

// The rows of y that entries name, of as many entries as there are dot products at once. Behind the
// last entry of all it is repeated.
template <class T, class I>
class NamedRows {
 public:
  static constexpr int kRows = DotsOfRow<T>::kDots;

  NamedRows(const Sampled& s, const Compressed& a, int64_t last)
      : y_(s.y), y_step_(s.y_step), indices_(a.indices), last_(last) {}

  // The rows from entry `k` on. Prefetches the ones behind.
  const Byte* const* from(int64_t k, const DotsOfRow<T>& dots) {
    if (k == first_ + kRows) {
      __builtin_memcpy(rows_, next_, sizeof rows_);
    } else {
      for (int i = 0; i < kRows; ++i) rows_[i] = row_of(k + i);
    }
    for (int i = 0; i < kRows; ++i) {
      next_[i] = row_of(k + kRows + i);
      dots.fetch(next_[i]);
    }
    first_ = k;
    return rows_;
  }

  [[nodiscard]] const Byte* row_of(int64_t entry) const {
    return y_ + index_of<I>(indices_, entry < last_ ? entry : last_) * y_step_;
  }

 private:
  const Byte* y_;
  int64_t y_step_;
  const Byte* indices_;
  int64_t last_;
  int64_t first_ = -1 - kRows;  // of rows_; next_ are behind
  const Byte* rows_[kRows];
  const Byte* next_[kRows];
};

// Rows of f32 or f64 that are not in blocks, with adjacent elements.
template <class T, class I>
void adjacent_rows(const Sampled& s, const Compressed& a, int64_t begin, int64_t end) {
  constexpr int64_t kDots = DotsOfRow<T>::kDots;
  const T alpha = load<T>(s.alpha);
  NamedRows<T, I> named(s, a, index_of<I>(a.offsets, end) - 1);
  int64_t k = index_of<I>(a.offsets, begin);
  for (int64_t row = begin; row < end; ++row) {
    const Byte* const x = s.x + row * s.x_step;
    const DotsOfRow<T> dots(x, s.length);
    const int64_t row_end = index_of<I>(a.offsets, row + 1);
    while (k < row_end) {
      const int64_t count = row_end - k < kDots ? row_end - k : kDots;
      if (count <= kDots / 4) {
        sample<T>(s, alpha, k, x, named.row_of(k));
        ++k;
        continue;
      }
      write_products<T>(s, k, count, alpha * dots.with(named.from(k, dots)));
      k += count;
    }
  }
}

// One element in each row: products of an element of x and elements of y.
template <class T, class I>
void single_elements(const Sampled& s, const Compressed& a, int64_t begin, int64_t end) {
  const T alpha = load<T>(s.alpha);
  int64_t k = index_of<I>(a.offsets, begin);
  for (int64_t row = begin; row < end; ++row) {
    const int64_t row_end = index_of<I>(a.offsets, row + 1);
    if (k == row_end) continue;  // x may have been lent without memory for it to be read from
    const T x = load<T>(s.x + row * s.x_step);
    for (; k < row_end; ++k) {
      // A lane of a sum begins with 0: a product of -0 is 0.
      T product = alpha * (T{0} + x * load<T>(s.y + index_of<I>(a.indices, k) * s.y_step));
      if (s.values != nullptr) product *= load<T>(s.values + k * kStep<T>);
      store<T>(s.out + k * kStep<T>, product);
    }
  }
}

template <class T, class I>
void rows(const Sampled& s, const Compressed& a, int64_t begin, int64_t end) {
  if constexpr (kIsFloat<T> && kSame<T, Sum<T>>) {
    const bool is_point = s.block_rows == 1 && s.block_cols == 1;
    if (is_point && s.length == 1) return single_elements<T, I>(s, a, begin, end);
    if (is_point && !s.is_spaced) return adjacent_rows<T, I>(s, a, begin, end);
  }
  const auto alpha = static_cast<Sum<T>>(load<Computed<T>>(s.alpha));
  int64_t k = index_of<I>(a.offsets, begin);
  for (int64_t row = begin; row < end; ++row) {
    const Byte* const x = s.x + row * s.block_rows * s.x_step;
    for (const int64_t row_end = index_of<I>(a.offsets, row + 1); k < row_end; ++k) {
      sample<T>(s, alpha, k, x, s.y + index_of<I>(a.indices, k) * s.block_cols * s.y_step);
    }
  }
}

template <class T, class I>
void entries(const Sampled& s, const Coordinates& a, int64_t begin, int64_t end) {
  const auto alpha = static_cast<Sum<T>>(load<Computed<T>>(s.alpha));
  for (int64_t k = begin; k < end; ++k) {
    sample<T>(s, alpha, k, s.x + index_of<I>(a.row_indices, k) * s.x_step,
              s.y + index_of<I>(a.col_indices, k) * s.y_step);
  }
}

template <class T>
constexpr Samplers kSamplersOf = {TENURE_BY_INDEX(rows, T), TENURE_BY_INDEX(entries, T)};

}  // namespace

const Samplers kSamplers[kTypeCount] = {
    kSamplersOf<double>,
    kSamplersOf<float>,
    kSamplersOf<F16>,
    kSamplersOf<BF16>,
    kSamplersOf<uint8_t>,
    kSamplersOf<uint16_t>,
    kSamplersOf<uint32_t>,
    kSamplersOf<uint64_t>,
    kSamplersOf<uint8_t>,
    kSamplersOf<uint16_t>,
    kSamplersOf<uint32_t>,
    kSamplersOf<uint64_t>,
    {},
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
