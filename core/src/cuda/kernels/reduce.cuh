// The shapes of reductions: along memory, where the elements of a result are closer than results;
// across it, where results are adjacent; and the merge of the parts of a result of several blocks.
//
// Which elements meet where follows from the shape and the strides of a call, and neither from
// where its memory lies nor from the device: so do the bits of a result.
#pragma once

#include "reduce_rules.cuh"

namespace tenure::cuda {

// ---- places ----

struct Offsets {
  int64_t in;
  int64_t other;
};

TENURE_DEVICE void move_along(const ReduceAxis& axis, uint32_t position, Offsets& offsets) {
  offsets.in += static_cast<int64_t>(position) * axis.in_step;
  offsets.other += static_cast<int64_t>(position) * axis.other_step;
}

// Offsets of a position of the axes [first, rank): the last axis takes the remaining quotient.
TENURE_DEVICE Offsets offsets_at(const ReduceAxis* axes, uint32_t first, uint32_t rank,
                                 uint32_t index) {
  Offsets offsets = {0, 0};
  TENURE_ROLLED for (; first + 1 < rank; ++first) {
    const uint32_t outer = quotient_of(axes[first].divider, index);
    move_along(axes[first], index - outer * axes[first].divider.extent, offsets);
    index = outer;
  }
  if (first < rank) move_along(axes[first], index, offsets);
  return offsets;
}

// ---- elements as words ----

// All at once, whole registers.
template <class E, class Word, int kItems>
TENURE_DEVICE void read_adjacent(const unsigned char* from, Word (&words)[kItems]) {
  constexpr int kBytes = static_cast<int>(sizeof(E)) * kItems;
  const auto all = read<Words<kBytes>>(from);
  TENURE_UNROLL for (int k = 0; k < kItems; ++k) words[k] = get<E>(all, k);
}
template <class E, class Word, int kItems>
TENURE_DEVICE void read_apart(const unsigned char* from, int64_t step, int count,
                              Word (&words)[kItems]) {
  // A few at a time, since short rows have no more.
  constexpr int kTogether = kItems < 4 ? kItems : 4;
  TENURE_UNROLL for (int first = 0; first < kItems; first += kTogether) {
    if (first >= count) continue;
    TENURE_UNROLL for (int k = first; k < first + kTogether; ++k) {
      if (k < count) words[k] = read<E>(from);
      from += step;
    }
  }
}
template <class E, class Word, int kItems>
TENURE_DEVICE void read_elements(const unsigned char* from, int64_t step, int count, bool is_vector,
                                 Word (&words)[kItems]) {
  if (is_vector) {
    read_adjacent<E>(from, words);
  } else {
    read_apart<E>(from, step, count, words);
  }
}

template <class Rule, class Word, int kItems>
TENURE_DEVICE void read_words(const ReduceArgument& argument, const unsigned char* from,
                              int64_t step, int count, bool is_vector, Word (&words)[kItems]) {
  if (Rule::kLeastWidth == 1 && argument.width == 1) {
    read_elements<uint8_t>(from, step, count, is_vector, words);
  } else if (Rule::kLeastWidth <= 2 && argument.width == 2) {
    read_elements<uint16_t>(from, step, count, is_vector, words);
  } else if (Rule::kLeastWidth <= 4 && (sizeof(Word) == 4 || argument.width == 4)) {
    read_elements<uint32_t>(from, step, count, is_vector, words);
  } else if constexpr (sizeof(Word) == 8) {
    read_elements<uint64_t>(from, step, count, is_vector, words);
  }
}

// ---- units ----

struct Unit {
  int64_t in;     // from the result's first element to that of the first item
  int64_t place;  // of the first item
  int count;
};

template <int kItems>
TENURE_DEVICE Unit unit_at(const ReduceArgument& argument, uint32_t split, uint32_t number) {
  Offsets offsets = {0, 0};
  if (argument.reduced_rank > 1) {
    const uint32_t row = quotient_of(argument.row_units, number);
    number -= row * argument.row_units.extent;
    offsets =
        offsets_at(argument.reduced, 1, argument.reduced_rank, row + split * argument.split_rows);
  }
  const uint32_t shift = argument.step_shift;
  const uint32_t whole = static_cast<uint32_t>(kItems) << shift;
  const uint64_t first = split * argument.split_items +
                         static_cast<uint64_t>(number >> shift) * whole +
                         (number & ((1u << shift) - 1));
  const auto left = static_cast<int64_t>(argument.row_items - first);
  int count = kItems;
  if (left < static_cast<int64_t>(whole)) {
    count = left <= 0 ? 0 : static_cast<int>(((static_cast<uint32_t>(left) - 1) >> shift) + 1);
  }
  const ReduceAxis& inner = argument.reduced[0];
  return {offsets.in + static_cast<int64_t>(first) * inner.in_step,
          argument.first_place + offsets.other + static_cast<int64_t>(first) * inner.other_step,
          count};
}

// Numbers of units.
struct Range {
  uint32_t first;
  uint32_t end;
};
TENURE_DEVICE Range units_of(const ReduceArgument& argument, uint32_t split) {
  const uint32_t first = split * argument.split_step;
  return {first, at_most(argument.units, first + argument.split_units)};
}

// ---- threads that have parts of one result ----

// The value of the thread `distance` above it in a group of `width`.
template <class Partial>
TENURE_DEVICE Partial from_above(const Partial& own, unsigned distance, int width) {
  using Pieces = Words<static_cast<int>(sizeof(Partial))>;
  auto pieces = bit_copy<Pieces>(own);
  TENURE_UNROLL for (auto& piece : pieces.of) {
    piece = __shfl_down_sync(~0u, piece, distance, width);
  }
  return bit_copy<Partial>(pieces);
}

// Into the first of 2^lanes_shift threads, which are all of the block, or of one warp. All threads
// of the block call it.
template <class Rule, class Partial>
TENURE_DEVICE void meet(const ReduceArgument& argument, Partial& partial) {
  constexpr unsigned kWarps = TENURE_MOST_THREADS / 32;
  __shared__ Partial of_warps[kWarps];
  const bool are_warps = argument.lanes_shift > 5;
  int width = are_warps ? 32 : 1 << argument.lanes_shift;
  TENURE_ROLLED for (bool is_last = !are_warps;; is_last = true) {
    TENURE_ROLLED for (int distance = width / 2; distance > 0; distance /= 2) {
      const Partial other = from_above(partial, static_cast<unsigned>(distance), width);
      Rule::merge(argument, partial, other);
    }
    if (is_last) return;
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = partial;
    __syncthreads();
    partial = of_warps[threadIdx.x % kWarps];
    width = static_cast<int>(kWarps);
  }
}

// A result at `offset`, or a part of it.
template <class Rule, class Partial>
TENURE_DEVICE void give(const ReduceArgument& argument, uint32_t result, uint32_t split,
                        int64_t offset, const Partial& partial) {
  const uint32_t splits = argument.splits.extent;
  if (splits > 1) {
    auto* const partials = reinterpret_cast<Partial*>(argument.partials);
    partials[static_cast<uint64_t>(result) * splits + split] = partial;
  } else {
    Rule::finish(argument, partial, argument.out + offset);
  }
}

// The result that a thread works at; the lanes of a result are adjacent threads.
TENURE_DEVICE uint32_t result_of_lanes(const ReduceArgument& argument) {
  constexpr uint32_t kBlockShift = 8;
  static_assert(1 << kBlockShift == TENURE_MOST_THREADS, "as many lanes as a block has at most");
  return (blockIdx.x << (kBlockShift - argument.lanes_shift)) +
         (threadIdx.x >> argument.lanes_shift);
}
TENURE_DEVICE uint32_t lane_of(const ReduceArgument& argument) {
  return threadIdx.x & ((1u << argument.lanes_shift) - 1);
}

// ---- along memory ----

template <class Word, class Rule>
TENURE_DEVICE void reduce_along(const ReduceArgument& argument) {
  constexpr int kItems = Rule::kShape.items;
  using Partial = typename Rule::Partial;
  // Only blocks as a whole have a part of a result.
  const uint32_t work = result_of_lanes(argument);
  const uint32_t result = quotient_of(argument.splits, work);
  const uint32_t split = work - result * argument.splits.extent;
  const bool is_there = result < argument.results;
  const Offsets kept = offsets_at(argument.kept, 0, argument.kept_rank, is_there ? result : 0);
  const int64_t item_step = argument.reduced[0].in_step << argument.step_shift;
  const int64_t place_step = argument.reduced[0].other_step << argument.step_shift;
  const Range units = units_of(argument, split);
  const uint32_t end = is_there ? units.end : 0;
  uint32_t number = units.first + lane_of(argument);
  Partial total = Rule::nothing(argument);
  TENURE_ROLLED while (number < end) {
    typename Rule::template Block<Word, Rule::kLanes> block = {};
    bool is_started = false;
    TENURE_ROLLED for (unsigned step = 0; step < kBlockSteps && number < end; ++step) {
      const Unit unit = unit_at<kItems>(argument, split, number);
      number += 1u << argument.lanes_shift;
      if (unit.count == 0) continue;
      Word words[kItems] = {};
      read_words<Rule>(argument, argument.in + kept.in + unit.in, item_step, unit.count,
                       argument.has_vectors != 0 && unit.count == kItems, words);
      if (!is_started) block.start(argument, words[0]);
      is_started = true;
      block.add(argument, words, unit.count, [&](int k) { return unit.place + k * place_step; });
    }
    if (is_started) Rule::merge(argument, total, block.settle(argument));
  }
  meet<Rule>(argument, total);
  if (lane_of(argument) == 0 && is_there) give<Rule>(argument, result, split, kept.other, total);
}

// ---- across memory ----

template <class Word, class Rule>
TENURE_DEVICE void reduce_across(const ReduceArgument& argument) {
  constexpr int kColumns = Rule::kShape.columns;
  constexpr int kRows = Rule::kShape.rows;
  using Partial = typename Rule::Partial;
  __shared__ Partial parts[kColumns][TENURE_MOST_THREADS];
  const uint32_t threads = argument.column_threads.extent;
  const uint32_t row_threads = quotient_of(argument.column_threads, TENURE_MOST_THREADS);
  const uint32_t y = quotient_of(argument.column_threads, threadIdx.x);
  const uint32_t x = threadIdx.x - y * threads;
  const uint32_t rest = quotient_of(argument.column_tiles, blockIdx.x);
  const uint32_t tile = blockIdx.x - rest * argument.column_tiles.extent;
  const uint32_t outer = quotient_of(argument.splits, rest);
  const uint32_t split = rest - outer * argument.splits.extent;
  const bool is_adjacent = argument.is_adjacent != 0;
  const uint32_t first_column =
      (tile * threads + (is_adjacent ? x : 0)) * kColumns + (is_adjacent ? 0 : x);
  const uint32_t apart = is_adjacent ? 1 : threads;
  int count = 0;
  TENURE_UNROLL for (int k = 0; k < kColumns; ++k) {
    count += first_column + static_cast<uint32_t>(k) * apart < argument.columns ? 1 : 0;
  }
  const Offsets kept = offsets_at(argument.kept, 1, argument.kept_rank, outer);
  const ReduceAxis& column = argument.kept[0];
  const unsigned char* const in =
      argument.in + kept.in + static_cast<int64_t>(first_column) * column.in_step;
  const int64_t item_step = static_cast<int64_t>(apart) * column.in_step;
  const int64_t row_step = argument.reduced[0].in_step;
  const int64_t place_step = argument.reduced[0].other_step;
  const Range units = units_of(argument, split);
  const uint32_t end = count == 0 || y >= row_threads ? 0 : units.end;
  uint32_t number = units.first + y;
  Partial totals[kColumns];
  TENURE_UNROLL for (Partial& total : totals) total = Rule::nothing(argument);
  TENURE_ROLLED while (number < end) {
    typename Rule::template Block<Word, 1> blocks[kColumns] = {};
    bool is_started = false;
    TENURE_ROLLED for (unsigned step = 0; step < kBlockSteps / kRows && number < end; ++step) {
      const Unit unit = unit_at<kRows>(argument, split, number);
      number += row_threads;
      if (unit.count == 0) continue;
      Word words[kColumns][kRows] = {};
      const unsigned char* from = in + unit.in;
      TENURE_UNROLL for (int i = 0; i < kRows; ++i) {
        Word of_row[kColumns] = {};
        if (i < unit.count) {
          read_words<Rule>(argument, from, item_step, count, argument.has_vectors != 0, of_row);
        }
        TENURE_UNROLL for (int k = 0; k < kColumns; ++k) words[k][i] = of_row[k];
        from += row_step;
      }
      TENURE_UNROLL for (int k = 0; k < kColumns; ++k) {
        if (!is_started) blocks[k].start(argument, words[k][0]);
        blocks[k].add(argument, words[k], unit.count,
                      [&](int i) { return unit.place + i * place_step; });
      }
      is_started = true;
    }
    TENURE_UNROLL for (int k = 0; k < kColumns; ++k) {
      if (is_started) Rule::merge(argument, totals[k], blocks[k].settle(argument));
    }
  }
  TENURE_UNROLL for (int k = 0; k < kColumns; ++k) parts[k][threadIdx.x] = totals[k];
  __syncthreads();
  // A tree of the threads that have a column's rows.
  uint32_t half = 1;
  while (half < row_threads) half *= 2;
  TENURE_ROLLED for (uint32_t distance = half / 2; distance > 0; distance /= 2) {
    if (y < distance && y + distance < row_threads) {
      TENURE_ROLLED for (int k = 0; k < kColumns; ++k) {
        Rule::merge(argument, parts[k][threadIdx.x], parts[k][threadIdx.x + distance * threads]);
      }
    }
    __syncthreads();
  }
  if (y != 0) return;
  TENURE_ROLLED for (int k = 0; k < count; ++k) {
    const uint32_t place = first_column + static_cast<uint32_t>(k) * apart;
    give<Rule>(argument, outer * argument.columns + place, split,
               kept.other + static_cast<int64_t>(place) * column.other_step, parts[k][threadIdx.x]);
  }
}

// ---- parts of results ----

template <class Rule>
TENURE_DEVICE void reduce_parts(const ReduceArgument& argument) {
  using Partial = typename Rule::Partial;
  const uint32_t result = result_of_lanes(argument);
  const bool is_there = result < argument.results;
  const uint32_t splits = argument.splits.extent;
  Partial total = Rule::nothing(argument);
  const auto* const partials =
      reinterpret_cast<const Partial*>(argument.partials) + static_cast<uint64_t>(result) * splits;
  const uint32_t end = is_there ? splits : 0;
  TENURE_ROLLED for (uint32_t i = lane_of(argument); i < end; i += 1u << argument.lanes_shift) {
    Rule::merge(argument, total, partials[i]);
  }
  meet<Rule>(argument, total);
  if (lane_of(argument) != 0 || !is_there) return;
  const Offsets kept = offsets_at(argument.kept, 0, argument.kept_rank, result);
  Rule::finish(argument, total, argument.out + kept.other);
}

}  // namespace tenure::cuda
