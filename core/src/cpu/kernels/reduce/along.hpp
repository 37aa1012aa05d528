// The loops of a reduction over adjacent elements, for one result.
//
// Sums of floats are pairwise: a leaf adds kLeafTerms elements in each of its lanes, and the lanes
// of all leaves are added as a binary tree; its shape depends only on the count. The error grows
// with the logarithm of the count, not with the count.
#pragma once

#include "cpu/kernels/reduce/reduction.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

constexpr int64_t kLeafTerms = 16;
constexpr int64_t kBytesToAStop = 8192;  // a look at the result costs little compared with these

constexpr int64_t lower(int64_t a, int64_t b) { return a < b ? a : b; }

// Calls visit(in, first, count) for the rows of a tile of one column, at most `most` at a time and
// adjacent, until it returns false.
template <class Visit>
inline void for_each_run(const Reduction& reduction, const Tile& tile, int64_t most,
                         const Visit& visit) {
  alignas(64) Byte panel[kFetchedBytes];
  const bool in_place = tile.row_step == tile.step_in_place;
  if (!in_place) most = lower(most, kFetchedBytes / reduction.in_bytes);
  for (int64_t first = 0; first < tile.rows; first += most) {
    const int64_t count = lower(most, tile.rows - first);
    const Byte* in = tile.in + first * tile.row_step;
    if (!in_place) {
      tile.fetch->run(*tile.fetch, in, tile.row_step, count, panel);
      in = panel;
    }
    if (!visit(in, first, count)) return;
  }
}

template <class T>
inline Lanes<T> every_lane(T value) {
  Lanes<T> lanes;
  for (Vector<T>& part : lanes.parts) part = broadcast(value);
  return lanes;
}

// One element to each lane.
template <class Op>
inline void add_terms(Lanes<typename Op::Lane>& lanes, const Byte* in,
                      Vector<typename Op::Lane> parameter) {
  using Lane = typename Op::Lane;
  constexpr int64_t kPartBytes = kPerVector<Lane> * static_cast<int64_t>(sizeof(typename Op::In));
  for (int part = 0; part < Lanes<Lane>::kParts; ++part) {
    const auto x = Loading<Lane, typename Op::In>::load(in + part * kPartBytes);
    lanes.parts[part] = Op::merge(lanes.parts[part], Op::term(x, parameter));
  }
}

// One element to each of the first `count` lanes.
template <class Op>
inline void add_last_terms(Lanes<typename Op::Lane>& lanes, const Byte* in, int64_t count,
                           Vector<typename Op::Lane> parameter) {
  using Lane = typename Op::Lane;
  constexpr auto kInBytes = static_cast<int64_t>(sizeof(typename Op::In));
  alignas(64) Byte padded[Lanes<Lane>::kCount * kInBytes] = {};
  __builtin_memcpy(padded, in, static_cast<uint64_t>(count * kInBytes));
  Lanes<Lane> all = lanes;
  add_terms<Op>(all, padded, parameter);
  __builtin_memcpy(&lanes, &all, static_cast<uint64_t>(count) * sizeof(Lane));
}

// The elements of a whole leaf. Unrolled: a wrong guess of the end of a loop that short costs as
// much as the loop, where a term is one addition.
template <class Op>
inline void add_all_terms(Lanes<typename Op::Lane>& lanes, const Byte* in,
                          Vector<typename Op::Lane> parameter) {
  using Lane = typename Op::Lane;
  constexpr auto kBytes = Lanes<Lane>::kCount * static_cast<int64_t>(sizeof(typename Op::In));
#pragma GCC unroll 16
  for (int64_t i = 0; i < kLeafTerms; ++i) add_terms<Op>(lanes, in + i * kBytes, parameter);
}

template <class Op>
inline Lanes<typename Op::Lane> leaf(const Byte* in, int64_t count,
                                     Vector<typename Op::Lane> parameter) {
  using Lane = typename Op::Lane;
  constexpr int64_t kCount = Lanes<Lane>::kCount;
  constexpr auto kInBytes = static_cast<int64_t>(sizeof(typename Op::In));
  auto lanes = every_lane<Lane>(Op::kLaneStart);
  int64_t i = 0;
#pragma GCC unroll 2
  for (; i + kCount <= count; i += kCount) add_terms<Op>(lanes, in + i * kInBytes, parameter);
  if (i < count) add_last_terms<Op>(lanes, in + i * kInBytes, count - i, parameter);
  return lanes;
}

template <class Op, class T>
inline void merge_lanes(Lanes<T>& into, const Lanes<T>& from) {
  for (int part = 0; part < Lanes<T>::kParts; ++part) {
    into.parts[part] = Op::merge(into.parts[part], from.parts[part]);
  }
}

// Element i with element i + kCount / 2, until one is left.
template <class Op, int64_t kCount, class T>
inline T fold_halves(const T* values) {
  if constexpr (kCount == 1) {
    return values[0];
  } else if constexpr (kCount == 2) {
    return Op::merge(values[0], values[1]);
  } else {
    typedef T Half __attribute__((vector_size(kCount / 2 * sizeof(T))));
    Half low;
    Half high;
    __builtin_memcpy(&low, values, sizeof low);
    __builtin_memcpy(&high, values + kCount / 2, sizeof high);
    low = Op::merge(low, high);
    T merged[kCount / 2];
    __builtin_memcpy(merged, &low, sizeof merged);
    return fold_halves<Op, kCount / 2>(merged);
  }
}

template <class Op>
inline typename Op::Lane fold_lanes(Lanes<typename Op::Lane> lanes) {
  using Lane = typename Op::Lane;
  for (int half = Lanes<Lane>::kParts / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) {
      lanes.parts[i] = Op::merge(lanes.parts[i], lanes.parts[i + half]);
    }
  }
  Lane values[kPerVector<Lane>];
  __builtin_memcpy(values, &lanes.parts[0], sizeof values);
  return fold_halves<Op, kPerVector<Lane>>(values);
}

// Neighbours of unsigned lanes are added until they are 64 bits wide.
template <class T>
inline Vector<uint64_t> widened_sum(const Vector<T>& lanes) {
  if constexpr (sizeof(T) == 8) {
    return lanes;
  } else {
    using Wide = typename IntegersOf<2 * sizeof(T)>::Unsigned;
    constexpr int kBits = 8 * sizeof(T);
    constexpr auto kLow = static_cast<Wide>((Wide{1} << kBits) - 1);
    const auto pairs = bit_copy<Vector<Wide>>(lanes);
    const Vector<Wide> sums = (pairs & broadcast(kLow)) + (pairs >> kBits);
    return widened_sum<Wide>(sums);
  }
}

template <class Op>
inline typename Op::Accumulator fold(const Lanes<typename Op::Lane>& lanes) {
  using Lane = typename Op::Lane;
  if constexpr (kSame<Lane, typename Op::Accumulator>) {
    return fold_lanes<Op>(lanes);
  } else {
    // Signed lanes are moved up by half their range, and their sum down by as much for all of them.
    using Bits = UnsignedOf<Lane>;
    constexpr Bits kHalf = kIsSigned<Lane> ? Bits{1} << (8 * sizeof(Lane) - 1) : 0;
    Lanes<uint64_t> wide;
    for (int part = 0; part < Lanes<Lane>::kParts; ++part) {
      wide.parts[part] =
          widened_sum<Bits>(bit_copy<Vector<Bits>>(lanes.parts[part]) + broadcast(kHalf));
    }
    return fold_lanes<Sum<uint64_t>>(wide) - Lanes<Lane>::kCount * uint64_t{kHalf};
  }
}

// ---- results that do not depend on the order of elements ----

template <class Op>
[[gnu::noinline]] void fold_run(const Reduction& reduction, const Byte* in, int64_t count,
                                Byte* accumulator) {
  using Lane = typename Op::Lane;
  constexpr auto kInBytes = static_cast<int64_t>(sizeof(typename Op::In));
  constexpr int64_t kMost = Op::kMostTerms * Lanes<Lane>::kCount;
  auto total = load<typename Op::Accumulator>(accumulator);
  for (int64_t first = 0; first < count; first += kMost) {
    const auto mask = static_cast<Lane>(reduction.mask);
    const auto lanes =
        leaf<Op>(in + first * kInBytes, lower(kMost, count - first), broadcast(mask));
    total = Op::merge(total, Op::settle(fold<Op>(lanes), mask));
  }
  store(accumulator, total);
}

inline void fold_along(const Reduction& reduction, const Tile& tile) {
  for_each_run(reduction, tile, tile.rows, [&](const Byte* in, int64_t, int64_t count) {
    reduction.fold(reduction, in, count, tile.accumulators);
    return true;
  });
}

// Until the result is not 0.
inline void fold_along_to_a_stop(const Reduction& reduction, const Tile& tile) {
  const Byte* const accumulator = tile.accumulators;
  const auto is_decided = [&] {
    switch (reduction.accumulator_bytes) {
      case 1: return *accumulator != 0;
      case 2: return load<uint16_t>(accumulator) != 0;
      case 4: return load<uint32_t>(accumulator) != 0;
      default: return load<uint64_t>(accumulator) != 0;
    }
  };
  if (is_decided()) return;
  for_each_run(reduction, tile, kBytesToAStop / reduction.in_bytes,
               [&](const Byte* in, int64_t, int64_t count) {
                 reduction.fold(reduction, in, count, tile.accumulators);
                 return !is_decided();
               });
}

// ---- sums of floats ----

// The lanes of leaves, as a tree that carries like a binary counter.
template <class Op>
class Tree {
 public:
  void push(Lanes<typename Op::Lane> lanes) {
    ++pushed_;
    for (int64_t rest = pushed_; rest % 2 == 0; rest /= 2) {
      merge_lanes<Op>(held_[--top_], lanes);
      lanes = held_[top_];
    }
    held_[top_++] = lanes;
  }
  typename Op::Accumulator total() {
#pragma GCC unroll 1
    for (; top_ > 1; --top_) merge_lanes<Op>(held_[top_ - 2], held_[top_ - 1]);
    return fold_lanes<Op>(held_[0]);
  }

 private:
  int64_t pushed_ = 0;
  int top_ = 0;
  Lanes<typename Op::Lane> held_[64];
};

// All rows of a tile of one column; of deviations, those from a center.
template <class Op>
[[gnu::noinline]] typename Op::Accumulator sum_along(const Reduction& reduction, const Tile& tile,
                                                     double center) {
  using Lane = typename Op::Lane;
  constexpr int64_t kLeaf = kLeafTerms * Lanes<Lane>::kCount;
  constexpr auto kLeafBytes = kLeaf * static_cast<int64_t>(sizeof(typename Op::In));
  static_assert(kFetchedBytes % kLeafBytes == 0, "panels must not cut leaves");
  if constexpr (!Op::kCentered) {
    if (tile.rows <= kLeaf && tile.row_step == tile.step_in_place) {  // a tree of one leaf
      return fold_lanes<Op>(leaf<Op>(tile.in, tile.rows, Vector<Lane>{}));
    }
  }
  Tree<Op> tree;
  for_each_run(reduction, tile, tile.rows, [&](const Byte* in, int64_t, int64_t count) {
    const auto parameter = broadcast(static_cast<Lane>(center));
    int64_t left = count;
    if constexpr (!Op::kCentered && (kSame<typename Op::In, Lane> || Lanes<Lane>::kParts == 2)) {
      for (; left >= kLeaf; left -= kLeaf) {
        auto lanes = every_lane<Lane>(Op::kLaneStart);
        add_all_terms<Op>(lanes, in, parameter);
        tree.push(lanes);
        in += kLeafBytes;
      }
    }
    for (; left > 0; left -= kLeaf) {
      tree.push(leaf<Op>(in, lower(kLeaf, left), parameter));
      in += kLeafBytes;
    }
    return true;
  });
  return tree.total();
}

template <class Op>
void along(const Reduction& reduction, const Tile& tile) {
  using Accumulator = typename Op::Accumulator;
  const auto before = load<Accumulator>(tile.accumulators);
  store(tile.accumulators, Op::merge(before, sum_along<Op>(reduction, tile, 0)));
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
