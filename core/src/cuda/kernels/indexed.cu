// Elements by index: the check of all indices, which comes first, and what reads and writes where
// they say. Nothing outside is touched even where indices change after the check.
#include "cpu/operations.hpp"
#include "elementwise.cuh"
#include "indexed_arguments.hpp"

namespace tenure::cuda {

using kernels::Binary;

// As an unsigned number, so that negative ones are beyond every limit.
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

  // Keys of a thread, some at once; the first one in the place of what is not there.
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

template <int kBytes>
struct MovedUnitOf {
  using type = Element<kBytes>;
};
template <>
struct MovedUnitOf<16> {
  using type = Words<16>;
};
template <int kBytes>
using MovedUnit = typename MovedUnitOf<kBytes>::type;

// Any byte but 0 as 1.
template <int kBytes>
TENURE_DEVICE MovedUnit<kBytes> truth_of(const MovedUnit<kBytes>& unit) {
  if constexpr (kBytes == 16) {
    Words<16> words = unit;
    TENURE_UNROLL for (uint32_t& word : words.of) word = as_bools(word);
    return words;
  } else if constexpr (kBytes == 8) {
    return as_bools(static_cast<uint32_t>(unit)) |
           static_cast<uint64_t>(as_bools(static_cast<uint32_t>(unit >> 32))) << 32;
  } else {
    return static_cast<MovedUnit<kBytes>>(as_bools(unit));
  }
}

template <int kBytes>
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
  MovedUnit<kBytes> units[kIndicesTogether] = {};
  TENURE_UNROLL for (int i = 0; i < kIndicesTogether; ++i) {
    if (indices[i] >= argument.indices.limit) continue;
    units[i] = read<MovedUnit<kBytes>>(argument.target + offsets[i][kOfTarget] +
                                       scaled(argument.indices, indices[i]));
  }
  TENURE_UNROLL for (int i = 0; i < kIndicesTogether; ++i) {
    if (argument.as_bools != 0) units[i] = truth_of<kBytes>(units[i]);
    if (numbers.is_there[i]) write(argument.values + offsets[i][kOfValues], units[i]);
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

// The sum of what the threads before have. All threads of the block call it; `of_warps` is memory
// of the block that nobody else reads until the next barrier.
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
template <int kBytes>
TENURE_DEVICE void put_units(const PutArgument& argument) {
  const PutSegment segment(argument, true);
  if (!segment.is_there) return;
  auto unit = read<MovedUnit<kBytes>>(segment.value_of(argument, segment.entry));
  if (argument.as_bools != 0) unit = truth_of<kBytes>(unit);
  write(segment.target, unit);
}

// In the order of the entries. combine(a, b) of elements.
template <class E, class Combine>
TENURE_DEVICE void combine_segment(const PutArgument& argument, const Combine& combine) {
  const PutSegment segment(argument, false);
  if (!segment.is_there) return;
  E result = read<E>(segment.target);
  uint32_t entry = segment.entry;
  do {
    result = combine(result, read<E>(segment.value_of(argument, entry)));
    ++entry;
  } while (entry < argument.count && argument.keys[entry] == segment.key);
  write(segment.target, result);
}

// As the operations of binary.cu.
template <class C>
TENURE_DEVICE C combined(Binary op, C a, C b) {
  switch (op) {
    case Binary::kAdd: return a + b;
    case Binary::kMul: return a * b;
    case Binary::kMin: return a < b || a != a ? a : b;
    default: return a > b || a != a ? a : b;
  }
}

template <class C>
TENURE_DEVICE void combine_numbers(const PutArgument& argument) {
  const auto op = static_cast<Binary>(argument.op);
  combine_segment<C>(argument, [&](C a, C b) { return combined(op, a, b); });
}

// Rounded after each step.
TENURE_DEVICE void combine_halves(const PutArgument& argument) {
  const auto op = static_cast<Binary>(argument.op);
  const bool is_f16 = argument.type == ElementType::kF16;
  combine_segment<uint16_t>(argument, [&](uint16_t a, uint16_t b) {
    if (is_f16) return round_to_f16(combined(op, widen(F16{a}), widen(F16{b}))).bits;
    return round_to_bf16(combined(op, widen(BF16{a}), widen(BF16{b}))).bits;
  });
}

// Integers wrap; `order` makes unsigned numbers have the order of signed ones.
template <class U>
TENURE_DEVICE void combine_integers(const PutArgument& argument) {
  const auto op = static_cast<Binary>(argument.op);
  const bool is_signed = argument.type >= ElementType::kI8 && argument.type <= ElementType::kI64;
  const U order = is_signed ? static_cast<U>(U{1} << (8 * sizeof(U) - 1)) : U{0};
  using Number = decltype(U{} + 0u);
  combine_segment<U>(argument, [&](U a, U b) {
    const bool is_less = static_cast<U>(a ^ order) < static_cast<U>(b ^ order);
    switch (op) {
      case Binary::kAdd: return static_cast<U>(static_cast<Number>(a) + b);
      case Binary::kMul: return static_cast<U>(static_cast<Number>(a) * b);
      case Binary::kMin: return is_less ? a : b;
      default: return is_less ? b : a;
    }
  });
}

}  // namespace tenure::cuda

using namespace tenure::cuda;  // NOLINT: a kernel stands outside of every namespace

TENURE_KERNEL(index_check, IndexCheckArgument) { check_indices(argument); }
TENURE_KERNEL(index_keys, KeyArgument) { make_keys(argument); }
TENURE_KERNEL(sort_count, SortArgument) { count_digits(argument); }
TENURE_KERNEL(sort_scan, SortArgument) { scan_counts(argument); }
TENURE_KERNEL(sort_move, SortArgument) { move_by_digit(argument); }

#define TENURE_INDEXED_OF(bytes)                                             \
  TENURE_KERNEL(take_##bytes, TakeArgument) { take_units<bytes>(argument); } \
  TENURE_KERNEL(put_##bytes, PutArgument) { put_units<bytes>(argument); }
TENURE_INDEXED_OF(1)
TENURE_INDEXED_OF(2)
TENURE_INDEXED_OF(4)
TENURE_INDEXED_OF(8)
TENURE_INDEXED_OF(16)
TENURE_KERNEL(combine_f64, PutArgument) { combine_numbers<double>(argument); }
TENURE_KERNEL(combine_f32, PutArgument) { combine_numbers<float>(argument); }
TENURE_KERNEL(combine_f16, PutArgument) { combine_halves(argument); }
TENURE_KERNEL(combine_8, PutArgument) { combine_integers<uint8_t>(argument); }
TENURE_KERNEL(combine_16, PutArgument) { combine_integers<uint16_t>(argument); }
TENURE_KERNEL(combine_32, PutArgument) { combine_integers<uint32_t>(argument); }
TENURE_KERNEL(combine_64, PutArgument) { combine_integers<uint64_t>(argument); }
