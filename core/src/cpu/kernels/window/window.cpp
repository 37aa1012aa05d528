// Folds over windows: each vector of lanes takes in one tap after the other, in a register.
#include "cpu/window.hpp"

#include "cpu/kernels/arithmetic.hpp"
#include "cpu/kernels/matmul/multiply_add.hpp"
#include "cpu/kernels/partial_vectors.hpp"
#include "cpu/kernels/vector_math.hpp"
#include "cpu/kernels/window/gradients.hpp"
#include "cpu/kernels/window/stencil.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class T>
constexpr int64_t kWidth = sizeof(T);

// Vectors that are folded together: the latency of one's additions is the others' time, and a
// tap's address and weight are read once for all of them.
constexpr int kTogether = 4;

// A rule of a fold: its first value, and take_in(before, lanes of a tap, its weight).
template <class T>
struct OfMaxima {
  static constexpr bool kWeighs = false;
  static constexpr T kFirst = -__builtin_inf();
  static Vector<T> take_in(const Vector<T>& before, const Vector<T>& tap, const Vector<T>&) {
#if defined(__AVX512F__)
    // The instruction takes the second of its operands where one is NaN, and where both are zeros.
    if constexpr (sizeof(T) == 4) {
      const auto b = reinterpret_cast<__m512>(before);
      return reinterpret_cast<Vector<T>>(_mm512_mask_max_ps(b, _mm512_cmp_ps_mask(b, b, _CMP_ORD_Q),
                                                            b, reinterpret_cast<__m512>(tap)));
    } else {
      const auto b = reinterpret_cast<__m512d>(before);
      return reinterpret_cast<Vector<T>>(_mm512_mask_max_pd(b, _mm512_cmp_pd_mask(b, b, _CMP_ORD_Q),
                                                            b, reinterpret_cast<__m512d>(tap)));
    }
#else
    return Maximum::apply(before, tap);
#endif
  }
  static T take_in_one(T before, T tap) { return before > tap || before != before ? before : tap; }
};
template <class T>
struct OfSums {
  static constexpr bool kWeighs = false;
  static constexpr T kFirst = 0;
  static Vector<T> take_in(const Vector<T>& before, const Vector<T>& tap, const Vector<T>&) {
    return before + tap;
  }
  static T take_in_one(T before, T tap) { return before + tap; }
};
template <class T>
struct OfProducts {
  static constexpr bool kWeighs = true;
  static constexpr T kFirst = 0;
  static Vector<T> take_in(const Vector<T>& before, const Vector<T>& tap, const Vector<T>& weight) {
    return Fused<T>::add(tap, weight, before);
  }
};

// All lanes of vectors, which begin `offset` bytes after the first lane of a place.
template <class T>
struct Whole {
  static Vector<T> load(const Byte* from) { return kernels::load<Vector<T>>(from); }
  static void store(Byte* to, const Vector<T>& vector) { kernels::store(to, vector); }
};

// Taps one after the other.
template <class T, class Rule>
struct InTurn {
  template <int kVectors, class Lanes>
  static void fold(const Windows& w, int64_t place, int64_t offset, const Lanes& lanes) {
    Byte* const out = w.out + place * w.out_step + offset;
    Vector<T> folded[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      folded[v] = w.continues ? lanes.load(out + v * kVectorBytes) : broadcast<T>(Rule::kFirst);
    }
    const Byte* weights = w.weights;
    const Tap* const end = w.taps + w.tap_count;
    for (const Tap* tap = w.taps; tap != end; ++tap) {
      const Byte* const from = tap->data + place * tap->step + offset;
      Vector<T> weight = {};
      if constexpr (Rule::kWeighs) {
        weight = broadcast<T>(load<T>(weights));
        weights += w.weight_step;
      }
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        folded[v] = Rule::take_in(folded[v], lanes.load(from + v * kVectorBytes), weight);
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) lanes.store(out + v * kVectorBytes, folded[v]);
  }
};

// The taps of a call are a run: its even and its odd taps are added in turn. Runs are added with
// their rounding errors, which are added up apart. The error of an infinite sum is NaN, and is not
// added.
template <class T>
struct InRuns {
  template <int kVectors, class Lanes>
  static void fold(const Windows& w, int64_t place, int64_t offset, const Lanes& lanes) {
    const int64_t at = place * w.out_step + offset;
    Vector<T> sums[kVectors] = {};
    Vector<T> lost[kVectors] = {};
    if (w.continues) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        sums[v] = lanes.load(w.out + at + v * kVectorBytes);
        lost[v] = lanes.load(w.lost + at + v * kVectorBytes);
      }
    }
    Vector<T> even[kVectors] = {};
    Vector<T> odd[kVectors] = {};
    const auto take_in = [&](Vector<T>* half, const Tap& tap) {
      const Byte* const from = tap.data + place * tap.step + offset;
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) half[v] += lanes.load(from + v * kVectorBytes);
    };
    int64_t i = 0;
    for (; i + 1 < w.tap_count; i += 2) {
      take_in(even, w.taps[i]);
      take_in(odd, w.taps[i + 1]);
    }
    if (i < w.tap_count) take_in(even, w.taps[i]);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const Long<Vector<T>> sum = sum_of_any(sums[v], even[v] + odd[v]);
      sums[v] = sum.high;
      lost[v] += sum.low;
    }
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      Byte* const to = w.out + at + v * kVectorBytes;
      if (w.ends) {
        lanes.store(to, lost[v] == lost[v] ? sums[v] + lost[v] : sums[v]);
      } else {
        lanes.store(to, sums[v]);
        lanes.store(w.lost + at + v * kVectorBytes, lost[v]);
      }
    }
  }
};

template <class T, class Fold>
void fold_windows(const Windows& w) {
  for (int64_t place = 0; place < w.places; ++place) {
    int64_t lane = 0;
    for (; lane + kTogether * kPerVector<T> <= w.lanes; lane += kTogether * kPerVector<T>) {
      Fold::template fold<kTogether>(w, place, lane * kWidth<T>, Whole<T>());
    }
    if (lane + 2 * kPerVector<T> <= w.lanes) {
      Fold::template fold<2>(w, place, lane * kWidth<T>, Whole<T>());
      lane += 2 * kPerVector<T>;
    }
    for (; lane + kPerVector<T> <= w.lanes; lane += kPerVector<T>) {
      Fold::template fold<1>(w, place, lane * kWidth<T>, Whole<T>());
    }
    if (lane < w.lanes) {
      Fold::template fold<1>(w, place, lane * kWidth<T>, FirstLanes<T>(w.lanes - lane));
    }
  }
}

// With weights of adjacent lanes, which are read once for some places.
template <class T, int kPlaces, class Lanes>
inline void weigh_places(const Windows& w, int64_t place, int64_t offset, const Lanes& lanes) {
  Byte* const out = w.out + place * w.out_step + offset;
  Vector<T> sums[kPlaces];
#pragma GCC unroll 4
  for (int p = 0; p < kPlaces; ++p) {
    sums[p] = w.continues ? lanes.load(out + p * w.out_step) : Vector<T>{};
  }
  const Byte* weights = w.weights + offset;
  const Tap* const end = w.taps + w.tap_count;
  for (const Tap* tap = w.taps; tap != end; ++tap, weights += w.weight_step) {
    const int64_t step = tap->step;
    const Byte* from = tap->data + place * step + offset;
    const Vector<T> weight = lanes.load(weights);
#pragma GCC unroll 4
    for (int p = 0; p < kPlaces; ++p, from += step) {
      sums[p] = Fused<T>::add(lanes.load(from), weight, sums[p]);
    }
  }
#pragma GCC unroll 4
  for (int p = 0; p < kPlaces; ++p) lanes.store(out + p * w.out_step, sums[p]);
}

template <class T, class Lanes>
inline void weigh_vector(const Windows& w, int64_t place, int64_t end, int64_t offset,
                         const Lanes& lanes) {
  if (end - place == kTogether) {
    weigh_places<T, kTogether>(w, place, offset, lanes);
  } else {
    for (; place < end; ++place) weigh_places<T, 1>(w, place, offset, lanes);
  }
}

template <class T>
void weigh_lanes(const Windows& w) {
  for (int64_t place = 0; place < w.places; place += kTogether) {
    const int64_t end = place + kTogether < w.places ? place + kTogether : w.places;
    int64_t lane = 0;
    for (; lane + kPerVector<T> <= w.lanes; lane += kPerVector<T>) {
      weigh_vector<T>(w, place, end, lane * kWidth<T>, Whole<T>());
    }
    if (lane < w.lanes) {
      weigh_vector<T>(w, place, end, lane * kWidth<T>, FirstLanes<T>(w.lanes - lane));
    }
  }
}

// Every second element of two vectors, from the first or the second one on.
template <class T, int kFirst>
inline Vector<T> every_second(const Vector<T>& a, const Vector<T>& b) {
#if defined(__AVX512F__)
  Vector<Truth<T>> chosen = {};
#pragma GCC unroll 16
  for (int i = 0; i < kPerVector<T>; ++i) chosen[i] = static_cast<Truth<T>>(2 * i + kFirst);
  if constexpr (sizeof(T) == 4) {
    return reinterpret_cast<Vector<T>>(_mm512_permutex2var_ps(reinterpret_cast<__m512>(a),
                                                              reinterpret_cast<__m512i>(chosen),
                                                              reinterpret_cast<__m512>(b)));
  } else {
    return reinterpret_cast<Vector<T>>(_mm512_permutex2var_pd(reinterpret_cast<__m512d>(a),
                                                              reinterpret_cast<__m512i>(chosen),
                                                              reinterpret_cast<__m512d>(b)));
  }
#elif defined(__AVX2__)
  // Within halves of a register, and then the halves' halves in order.
  if constexpr (sizeof(T) == 4) {
    constexpr int kOrder = kFirst == 0 ? 0x88 : 0xdd;
    const __m256 pairs =
        _mm256_shuffle_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), kOrder);
    return reinterpret_cast<Vector<T>>(_mm256_permute4x64_pd(_mm256_castps_pd(pairs), 0xd8));
  } else {
    constexpr int kOrder = kFirst == 0 ? 0x0 : 0xf;
    return reinterpret_cast<Vector<T>>(_mm256_permute4x64_pd(
        _mm256_shuffle_pd(reinterpret_cast<__m256d>(a), reinterpret_cast<__m256d>(b), kOrder),
        0xd8));
  }
#else
  Vector<T> found = {};
#pragma GCC unroll 4
  for (int i = 0; i < kPerVector<T>; ++i) {
    const int from = 2 * i + kFirst;
    found[i] = from < kPerVector<T> ? a[from] : b[from - kPerVector<T>];
  }
  return found;
#endif
}

template <class T>
void split(const Byte* from, int64_t count, Byte* even, Byte* odd) {
  int64_t i = 0;
  for (; i + 2 * kPerVector<T> <= count; i += 2 * kPerVector<T>) {
    const Vector<T> first = load<Vector<T>>(from + i * kWidth<T>);
    const Vector<T> second = load<Vector<T>>(from + i * kWidth<T> + kVectorBytes);
    store(even + i / 2 * kWidth<T>, every_second<T, 0>(first, second));
    store(odd + i / 2 * kWidth<T>, every_second<T, 1>(first, second));
  }
  for (; i < count; ++i) {
    store<T>((i % 2 == 0 ? even : odd) + i / 2 * kWidth<T>, load<T>(from + i * kWidth<T>));
  }
}

// The last vector may fold some columns of the one before it again, because `out` is not the image.
// So nothing outside the windows is read.
template <class T, class Rule, int kColumns>
void fold_second_columns_of(const SecondColumns& w) {
  for (int64_t x = 0;;) {
#pragma GCC unroll 4
    for (int64_t line = 0; line < 4 * kVectorBytes; line += kFetchedLine) {
      __builtin_prefetch(w.ahead + 4 * x * kWidth<T> + line, 0, 2);
    }
    Vector<T> folded = broadcast<T>(Rule::kFirst);
    for (int64_t i = 0; i < w.row_count; ++i) {
      const Byte* const from = w.rows[i] + 2 * x * kWidth<T>;
      const auto take_in = [&](const Vector<T>& tap) {
        folded = Rule::take_in(folded, tap, Vector<T>{});
      };
      const auto first = load<Vector<T>>(from);
      const auto second = load<Vector<T>>(from + kVectorBytes);
      take_in(every_second<T, 0>(first, second));
      take_in(every_second<T, 1>(first, second));
      if constexpr (kColumns == 3) {
        take_in(every_second<T, 1>(load<Vector<T>>(from + kWidth<T>),
                                   load<Vector<T>>(from + kWidth<T> + kVectorBytes)));
      }
    }
    store(w.out + x * kWidth<T>, folded);
    if (x + kPerVector<T> >= w.columns) return;
    x += kPerVector<T>;
    if (x + kPerVector<T> > w.columns) x = w.columns - kPerVector<T>;
  }
}

// Few columns, at the edges of an image, and of any width.
template <class T, class Rule>
void fold_few_columns(const SecondColumns& w) {
  for (int64_t x = 0; x < w.columns; ++x) {
    T folded = Rule::kFirst;
    for (int64_t i = 0; i < w.row_count; ++i) {
      const Byte* const from = w.rows[i] + 2 * x * kWidth<T>;
      for (int64_t j = 0; j < w.width; ++j) {
        folded = Rule::take_in_one(folded, load<T>(from + j * kWidth<T>));
      }
    }
    store<T>(w.out + x * kWidth<T>, folded);
  }
}

template <class T, class Rule>
void fold_second_columns(const SecondColumns& w) {
  if (w.columns < kPerVector<T>) return fold_few_columns<T, Rule>(w);
  w.width == 2 ? fold_second_columns_of<T, Rule, 2>(w) : fold_second_columns_of<T, Rule, 3>(w);
}

template <class T>
constexpr WindowKernels kWindowsOf = {
    .max = fold_windows<T, InTurn<T, OfMaxima<T>>>,
    .sum = fold_windows<T, InTurn<T, OfSums<T>>>,
    .sum_in_runs = fold_windows<T, InRuns<T>>,
    .weigh_taps = fold_windows<T, InTurn<T, OfProducts<T>>>,
    .weigh_lanes = weigh_lanes<T>,
    .weigh_pixel_stencil = weigh_pixel_stencil<T>,
    .weigh_channel_stencil = weigh_channel_stencil<T>,
    .vectors_are_lines = kVectorBytes >= kFetchedLine,
    .max_second_columns = fold_second_columns<T, OfMaxima<T>>,
    .sum_second_columns = fold_second_columns<T, OfSums<T>>,
    .lanes = kPerVector<T>,
    .add_to_greatest = add_to_greatest<T>,
    .spread = spread<T>,
    .add_products = add_products<T>,
    .split = split<T>,
};

}  // namespace

const WindowTable kWindows = {kWindowsOf<double>, kWindowsOf<float>};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
