// Elements by index: the check of all indices, which comes first, and what reads and writes where
// they say. Nothing outside is touched even where indices change after the check.
#include "elementwise.cuh"
#include "indexed_arguments.hpp"
#include "rules/combine.cuh"

namespace tenure::cuda {

// Returns an unsigned number, so that negative indices are beyond every limit.
TENURE_DEVICE uint64_t index_at(const Indices& indices, int64_t offset) {
  const unsigned char* const at = indices.data + offset;
  if (indices.bytes == 8) return read<uint64_t>(at);
  return static_cast<uint64_t>(static_cast<int64_t>(read<int32_t>(at)));
}
TENURE_DEVICE int64_t scaled(const Indices& indices, uint64_t index) {
  return static_cast<int64_t>(index) * indices.scale;
}

template <int kItems>
struct IndexNumbers {
  uint32_t of[kItems];
  bool is_there[kItems];

  // The kItems numbers of a thread; the first one replaces those that are not below `count`.
  explicit TENURE_DEVICE IndexNumbers(uint32_t count) {
    const uint32_t first = blockIdx.x * (kThreads * kItems) + threadIdx.x;
    TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
      of[i] = first + static_cast<uint32_t>(i) * kThreads;
      is_there[i] = of[i] < count;
      if (!is_there[i]) of[i] = first;
    }
  }
};

constexpr int kIndicesTogether = 4;

TENURE_DEVICE void check_indices(const IndexCheckArgument& argument) {
  const IndexNumbers<kIndicesTogether> numbers(argument.count);
  if (!numbers.is_there[0]) return;
  uint32_t left[kIndicesTogether];
  TENURE_UNROLL for (int i = 0; i < kIndicesTogether; ++i) left[i] = numbers.of[i];
  int64_t offsets[kIndicesTogether][kIndexedSteps];
  find_offsets(argument.nest, left, offsets);
  uint64_t indices[kIndicesTogether];
  TENURE_UNROLL for (int i = 0; i < kIndicesTogether; ++i) {
    indices[i] = index_at(argument.indices, offsets[i][kOfIndices]);
  }
  TENURE_UNROLL for (int i = 0; i < kIndicesTogether; ++i) {
    if (indices[i] >= argument.indices.limit) {
      atomicMin(argument.finding, static_cast<unsigned long long>(argument.first + numbers.of[i]));
    }
  }
}

// A unit of 1 to 16 bytes that is moved at once: in the low bytes, and 0 above them. `shift` is the
// logarithm of its size. All widths share the code that finds offsets, which is nearly all of it.
using MovedUnit = Words<16>;

TENURE_DEVICE MovedUnit read_unit(uint32_t shift, const unsigned char* from) {
  MovedUnit unit = {};
  switch (shift) {
    case 0: unit.of[0] = read<uint8_t>(from); break;
    case 1: unit.of[0] = read<uint16_t>(from); break;
    case 2: unit.of[0] = read<uint32_t>(from); break;
    case 3: {
      const auto two = read<Words<8>>(from);
      unit.of[0] = two.of[0];
      unit.of[1] = two.of[1];
      break;
    }
    default: unit = read<Words<16>>(from); break;
  }
  return unit;
}
TENURE_DEVICE void write_unit(uint32_t shift, unsigned char* to, const MovedUnit& unit) {
  switch (shift) {
    case 0: return write(to, static_cast<uint8_t>(unit.of[0]));
    case 1: return write(to, static_cast<uint16_t>(unit.of[0]));
    case 2: return write(to, unit.of[0]);
    case 3: return write(to, Words<8>{{unit.of[0], unit.of[1]}});
    default: return write(to, unit);
  }
}

// Any byte but 0 as 1.
TENURE_DEVICE void make_truths(MovedUnit& unit) {
  TENURE_UNROLL for (uint32_t& word : unit.of) word = as_bools(word);
}

TENURE_DEVICE void take_units(const TakeArgument& argument) {
  const IndexNumbers<kIndicesTogether> numbers(argument.units);
  if (!numbers.is_there[0]) return;
  uint32_t left[kIndicesTogether];
  TENURE_UNROLL for (int i = 0; i < kIndicesTogether; ++i) left[i] = numbers.of[i];
  int64_t offsets[kIndicesTogether][3];
  find_offsets(argument.nest, left, offsets);
  uint64_t indices[kIndicesTogether];
  TENURE_UNROLL for (int i = 0; i < kIndicesTogether; ++i) {
    indices[i] = index_at(argument.indices, offsets[i][kOfIndices]);
  }
  MovedUnit units[kIndicesTogether] = {};
  TENURE_UNROLL for (int i = 0; i < kIndicesTogether; ++i) {
    if (indices[i] >= argument.indices.limit) continue;
    units[i] = read_unit(argument.unit_shift, argument.target + offsets[i][kOfTarget] +
                                                  scaled(argument.indices, indices[i]));
  }
  TENURE_UNROLL for (int i = 0; i < kIndicesTogether; ++i) {
    if (argument.as_bools != 0) make_truths(units[i]);
    if (numbers.is_there[i]) {
      write_unit(argument.unit_shift, argument.values + offsets[i][kOfValues], units[i]);
    }
  }
}

// ---- keys and their order ----

TENURE_DEVICE void make_keys(const KeyArgument& argument) {
  const IndexNumbers<1> number(argument.count);
  if (!number.is_there[0]) return;
  uint32_t left[1] = {number.of[0]};
  int64_t offsets[1][kIndexedSteps];
  find_offsets(argument.nest, left, offsets);
  const uint64_t index = index_at(argument.indices, offsets[0][kOfIndices]);
  const uint64_t inside = index < argument.indices.limit ? index : 0;
  argument.keys[number.of[0]] =
      static_cast<uint32_t>(offsets[0][kOfKeys]) + static_cast<uint32_t>(inside);
  argument.places[number.of[0]] = number.of[0];
}

constexpr unsigned kSortWarps = kThreads / 32;

// The sum of the values of the threads before. All threads of the block call it. `of_warps` is
// memory of the block that has no other use until the next barrier.
TENURE_DEVICE uint32_t sum_before(uint32_t value, uint32_t (&of_warps)[kSortWarps],
                                  uint32_t& total) {
  const unsigned lane = threadIdx.x % 32;
  uint32_t sum = value;
  TENURE_ROLLED for (unsigned distance = 1; distance < 32; distance *= 2) {
    const uint32_t below = __shfl_up_sync(~0u, sum, distance);
    if (lane >= distance) sum += below;
  }
  if (lane == 31) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  uint32_t before = 0;
  total = 0;
  TENURE_UNROLL for (unsigned warp = 0; warp < kSortWarps; ++warp) {
    if (warp < threadIdx.x / 32) before += of_warps[warp];
    total += of_warps[warp];
  }
  return before + sum - value;
}

TENURE_DEVICE uint32_t digit_of(const SortArgument& argument, uint32_t key) {
  return key >> argument.shift & (kDigits - 1);
}

TENURE_DEVICE void count_digits(const SortArgument& argument) {
  __shared__ uint32_t counts[kDigits];
  if (threadIdx.x < kDigits) counts[threadIdx.x] = 0;
  __syncthreads();
  const uint32_t first = blockIdx.x * kTile + threadIdx.x;
  TENURE_ROLLED for (uint32_t i = 0; i < kTileItems; ++i) {
    const uint32_t item = first + i * kThreads;
    if (item < argument.count) atomicAdd(&counts[digit_of(argument, argument.keys[item])], 1u);
  }
  __syncthreads();
  if (threadIdx.x >= kDigits) return;
  argument.counts[threadIdx.x * argument.tiles + blockIdx.x] = counts[threadIdx.x];
}

// One block.
TENURE_DEVICE void scan_counts(const SortArgument& argument) {
  __shared__ uint32_t of_warps[2][kSortWarps];
  const uint32_t count = kDigits * argument.tiles;
  uint32_t before = 0;
  unsigned turn = 0;
  TENURE_ROLLED for (uint32_t first = 0; first < count; first += kThreads) {
    const uint32_t item = first + threadIdx.x;
    const uint32_t value = item < count ? argument.counts[item] : 0;
    uint32_t total;
    const uint32_t sum = sum_before(value, of_warps[turn], total);
    if (item < count) argument.counts[item] = before + sum;
    before += total;
    turn = 1 - turn;
  }
}

TENURE_DEVICE void move_by_digit(const SortArgument& argument) {
  // Keys of each digit and thread; and then how many of the tile are before those.
  __shared__ uint32_t counts[kDigits * kThreads];
  __shared__ uint32_t of_warps[kSortWarps];
  __shared__ uint32_t starts[kDigits];
  const uint32_t first = blockIdx.x * kTile + threadIdx.x * kTileItems;
  const uint32_t left = first < argument.count ? argument.count - first : 0;
  const uint32_t items = left < kTileItems ? left : kTileItems;
  TENURE_ROLLED for (unsigned digit = 0; digit < kDigits; ++digit) {
    counts[digit * kThreads + threadIdx.x] = 0;
  }
  TENURE_ROLLED for (uint32_t i = 0; i < items; ++i) {
    ++counts[digit_of(argument, argument.keys[first + i]) * kThreads + threadIdx.x];
  }
  __syncthreads();
  static_assert(kDigits == kTileItems, "a thread adds up as many counts as there are digits");
  uint32_t* const own = counts + threadIdx.x * kDigits;
  uint32_t sum = 0;
  TENURE_ROLLED for (unsigned i = 0; i < kDigits; ++i) sum += own[i];
  uint32_t total;
  sum = sum_before(sum, of_warps, total);
  TENURE_ROLLED for (unsigned i = 0; i < kDigits; ++i) {
    const uint32_t count = own[i];
    own[i] = sum;
    sum += count;
  }
  __syncthreads();
  if (threadIdx.x < kDigits) {
    // Where the tile's keys of a digit go, less how many of the tile are before them.
    starts[threadIdx.x] =
        argument.counts[threadIdx.x * argument.tiles + blockIdx.x] - counts[threadIdx.x * kThreads];
  }
  __syncthreads();
  TENURE_ROLLED for (uint32_t i = 0; i < items; ++i) {
    const uint32_t key = argument.keys[first + i];
    const uint32_t digit = digit_of(argument, key);
    const uint32_t to = starts[digit] + counts[digit * kThreads + threadIdx.x]++;
    argument.sorted_keys[to] = key;
    argument.sorted_places[to] = argument.places[first + i];
  }
}

// ---- puts ----

struct PutSegment {
  bool is_there;
  uint32_t entry;
  uint32_t key;
  unsigned char* target;
  int64_t values;  // offset of the column

  // kLast: the work is that of the last entry of a segment; else that of the first.
  explicit TENURE_DEVICE PutSegment(const PutArgument& argument, bool is_of_last) {
    const uint32_t work = blockIdx.x * kThreads + threadIdx.x;
    is_there = work < argument.work;
    if (!is_there) return;
    entry = quotient_of(argument.columns_each, work);
    key = argument.keys[entry];
    const bool is_within = is_of_last
                               ? entry + 1 < argument.count && argument.keys[entry + 1] == key
                               : entry != 0 && argument.keys[entry - 1] == key;
    is_there = !is_within;
    if (!is_there) return;
    uint32_t column[1] = {work - entry * argument.columns_each.extent};
    int64_t places[1][2];
    find_offsets(argument.columns, column, places);
    int64_t offsets[1][3];
    find(argument, entry, offsets);
    const uint64_t index = index_at(argument.indices, offsets[0][kOfIndices]);
    is_there = index < argument.indices.limit;
    if (!is_there) return;
    values = places[0][kOfValues];
    target = argument.target + places[0][kOfTarget] + offsets[0][kOfTarget] +
             scaled(argument.indices, index);
  }
  static TENURE_DEVICE void find(const PutArgument& argument, uint32_t at,
                                 int64_t (&offsets)[1][3]) {
    uint32_t place[1] = {argument.places[at]};
    find_offsets(argument.entries, place, offsets);
  }
  [[nodiscard]] TENURE_DEVICE const unsigned char* value_of(const PutArgument& argument,
                                                            uint32_t at) const {
    int64_t offsets[1][3];
    find(argument, at, offsets);
    return argument.values + values + offsets[0][kOfValues];
  }
};

// The last of equal indices wins.
TENURE_DEVICE void put_units(const PutArgument& argument) {
  const PutSegment segment(argument, true);
  if (!segment.is_there) return;
  MovedUnit unit = read_unit(argument.unit_shift, segment.value_of(argument, segment.entry));
  if (argument.as_bools != 0) make_truths(unit);
  write_unit(argument.unit_shift, segment.target, unit);
}

// In the order of the entries.
TENURE_DEVICE void combine_segment(const PutArgument& argument) {
  const PutSegment segment(argument, false);
  if (!segment.is_there) return;
  const uint32_t shift = argument.unit_shift;
  const uint64_t mask = ~uint64_t{0} >> (64 - (8u << shift));
  auto result = get<uint64_t>(read_unit(shift, segment.target), 0);
  uint32_t entry = segment.entry;
  do {
    const auto value = get<uint64_t>(read_unit(shift, segment.value_of(argument, entry)), 0);
    result =
        combined_bits(static_cast<Binary>(argument.op), argument.type, shift, result, value) & mask;
    ++entry;
  } while (entry < argument.count && argument.keys[entry] == segment.key);
  write_unit(shift, segment.target,
             {{static_cast<uint32_t>(result), static_cast<uint32_t>(result >> 32)}});
}

}  // namespace tenure::cuda

using namespace tenure::cuda;  // NOLINT: a kernel stands outside of every namespace

TENURE_KERNEL(index_check, IndexCheckArgument) { check_indices(argument); }
TENURE_KERNEL(index_keys, KeyArgument) { make_keys(argument); }
TENURE_KERNEL(sort_count, SortArgument) { count_digits(argument); }
TENURE_KERNEL(sort_scan, SortArgument) { scan_counts(argument); }
TENURE_KERNEL(sort_move, SortArgument) { move_by_digit(argument); }

TENURE_KERNEL(take, TakeArgument) { take_units(argument); }
TENURE_KERNEL(put, PutArgument) { put_units(argument); }
TENURE_KERNEL(combine, PutArgument) { combine_segment(argument); }
