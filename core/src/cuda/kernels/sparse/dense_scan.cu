// The entries of a dense matrix, in one pass over it: each tile counts its entries, learns from the
// tiles before how many there are in front of it, and writes its own.
//
// A tile publishes how many entries it has as soon as it knows (its own), and how many there are up
// to its end as soon as it knows that (all); another tile adds up the published numbers, back to
// the nearest tile that has published all (Merrill and Garland, "Single-pass parallel prefix scan
// with decoupled look-back", 2016). Tiles are handed out in their order, so that the tiles before
// one have been begun by blocks that wait for none behind them.
#include "cuda/kernels/sparse/rows.cuh"

namespace tenure::cuda {

constexpr uint32_t kScanLanes = 32;
constexpr uint32_t kScanWarps = kThreads / kScanLanes;

// In the low bits of a state, and the number above them; 0: nothing has been published.
constexpr uint64_t kTellsItsOwn = 1;
constexpr uint64_t kTellsAll = 2;
constexpr uint32_t kStateShift = 2;

struct ScanShared {
  unsigned long long tile;
  uint32_t counts[kScanWarps];
  uint64_t starts[kScanWarps];
};

// Entries before a tile that has `own`, by the first warp.
TENURE_DEVICE uint64_t entries_before(const DenseScanArgument& argument, uint64_t tile,
                                      uint64_t own) {
  // One word has number and kind, so that nothing else is ordered by it.
  volatile unsigned long long* const states = argument.states;
  const uint32_t lane = threadIdx.x;
  if (lane == 0) states[tile] = own << kStateShift | (tile == 0 ? kTellsAll : kTellsItsOwn);
  uint64_t before = 0;
  TENURE_ROLLED for (auto nearest = static_cast<int64_t>(tile) - 1; nearest >= 0;
                     nearest -= kScanLanes) {
    const int64_t at = nearest - lane;
    uint64_t state = kTellsAll;  // nothing is before the first
    if (at >= 0) {
      do {
        state = states[at];
      } while (state == 0);
    }
    const unsigned all = __ballot_sync(~0u, (state & kTellsAll) != 0);
    const uint32_t last =
        all != 0 ? static_cast<uint32_t>(__ffs(static_cast<int>(all))) - 1 : kScanLanes - 1;
    uint64_t number = lane <= last ? state >> kStateShift : 0;
    TENURE_UNROLL for (int distance = 16; distance > 0; distance /= 2) {
      number += __shfl_xor_sync(~0u, number, distance);
    }
    before += number;
    if (all != 0) break;
  }
  if (lane == 0 && tile != 0) states[tile] = (before + own) << kStateShift | kTellsAll;
  return before;
}

// Bits are as wide as elements, or wider; Key is as wide as they are, and signed.
template <class Bits, class Key>
class DenseScanner {
 public:
  TENURE_DEVICE DenseScanner(const DenseScanArgument& argument, ScanShared& shared)
      : argument_(argument),
        shared_(shared),
        lane_(threadIdx.x % kScanLanes),
        warp_(threadIdx.x / kScanLanes) {}

  TENURE_DEVICE void run() {
    TENURE_ROLLED for (;;) {
      if (threadIdx.x == 0) shared_.tile = atomicAdd(argument_.next, 1ull);
      __syncthreads();
      const uint64_t tile = shared_.tile;
      if (tile >= static_cast<uint64_t>(argument_.tiles)) return;
      const auto first = static_cast<int64_t>(tile * kScanTile);
      first_ = first + warp_ * (kChunks * kScanLanes);
      row_ = first_ / argument_.columns;
      column_ = first_ - row_ * argument_.columns;
      const uint32_t count = mark();
      if (lane_ == 0) shared_.counts[warp_] = count;
      __syncthreads();
      if (warp_ == 0) place(tile);
      __syncthreads();
      write_entries(shared_.starts[warp_]);
    }
  }

 private:
  static constexpr bool kIsWide = sizeof(Bits) == 8;
  static constexpr int kChunks = static_cast<int>(kScanTile / kThreads);

  struct Position {
    int64_t row;
    int64_t column;
  };
  // The place of an element of the warp's.
  TENURE_DEVICE Position position_of(uint32_t element) const {
    const int64_t beyond = column_ + element;
    if (argument_.columns >= static_cast<int64_t>(kScanTile)) {
      const bool is_next = beyond >= argument_.columns;
      return {row_ + (is_next ? 1 : 0), beyond - (is_next ? argument_.columns : 0)};
    }
    const uint32_t rows = quotient_of(argument_.columns_each, static_cast<uint32_t>(beyond));
    return {row_ + rows, beyond - rows * argument_.columns};
  }

  // One code for all widths up to 4 bytes, which nearly all of a kernel would be there for each of.
  TENURE_DEVICE Bits read_bits(const unsigned char* from) const {
    if constexpr (kIsWide) {
      if (argument_.has_halves != 0) {
        return static_cast<uint64_t>(read<uint32_t>(from + 4)) << 32 | read<uint32_t>(from);
      }
      return read<uint64_t>(from);
    } else {
      if (argument_.element_shift == 2) return read<uint32_t>(from);
      if (argument_.element_shift == 1) return read<uint16_t>(from);
      return read<uint8_t>(from);
    }
  }
  TENURE_DEVICE void write_bits(unsigned char* to, Bits bits) const {
    if constexpr (kIsWide) {
      write(to, bits);
    } else {
      if (argument_.element_shift == 2) return write(to, bits);
      if (argument_.element_shift == 1) return write(to, static_cast<uint16_t>(bits));
      // Any byte but 0 is true.
      write(to, static_cast<uint8_t>(argument_.as_bools != 0 && bits != 0 ? 1 : bits));
    }
  }

  TENURE_DEVICE bool is_entry(Bits bits) const {
    if (argument_.is_outside == 0) return (bits & static_cast<Bits>(argument_.predicate_mask)) != 0;
    const uint32_t unused = argument_.unused_bits;
    const auto key =
        static_cast<Key>((bits ^ static_cast<Bits>(argument_.bias)) << unused) >> unused;
    const Key ordered = key < 0 ? key ^ static_cast<Key>(argument_.flip) : key;
    return ordered < static_cast<Key>(argument_.low) || ordered > static_cast<Key>(argument_.high);
  }

  [[nodiscard]] TENURE_DEVICE bool has_wide_indices() const {
    return argument_.has_wide_indices != 0;
  }
  TENURE_DEVICE bool has(uint32_t element) const {
    return first_ + element < argument_.rows * argument_.columns;
  }

  // Reads the thread's elements and marks the warp's entries; how many these are.
  TENURE_DEVICE uint32_t mark() {
    Bits asked[kChunks];  // what the predicate is on
    TENURE_UNROLL for (int i = 0; i < kChunks; ++i) {
      const uint32_t element = static_cast<uint32_t>(i) * kScanLanes + lane_;
      bits_[i] = 0;
      asked[i] = 0;
      if (!has(element)) continue;
      if (argument_.is_dense != 0) {
        asked[i] = bits_[i] =
            read_bits(argument_.data + ((first_ + element) << argument_.element_shift));
        continue;
      }
      const Position place = position_of(element);
      asked[i] = bits_[i] = read_bits(argument_.data + place.row * argument_.row_step +
                                      place.column * argument_.column_step);
      if (argument_.mask == nullptr) continue;
      asked[i] = argument_.mask[place.row * argument_.mask_row_step +
                                place.column * argument_.mask_column_step];
    }
    uint32_t count = 0;
    TENURE_UNROLL for (int i = 0; i < kChunks; ++i) {
      const bool is_there = has(static_cast<uint32_t>(i) * kScanLanes + lane_);
      marks_[i] = __ballot_sync(~0u, is_there && is_entry(asked[i]) ? 1 : 0);
      count += static_cast<uint32_t>(__popc(marks_[i]));
    }
    return count;
  }

  // By the first warp: where the entries of each warp go.
  TENURE_DEVICE void place(uint64_t tile) {
    const uint32_t own = lane_ < kScanWarps ? shared_.counts[lane_] : 0;
    uint32_t until = own;
    TENURE_UNROLL for (uint32_t distance = 1; distance < kScanWarps; distance *= 2) {
      const uint32_t other = __shfl_up_sync(~0u, until, distance);
      if (lane_ >= distance) until += other;
    }
    const uint32_t count = __shfl_sync(~0u, until, static_cast<int>(kScanWarps) - 1);
    const uint64_t before = entries_before(argument_, tile, count);
    if (lane_ < kScanWarps) shared_.starts[lane_] = before + until - own;
    if (lane_ == 0 && tile + 1 == static_cast<uint64_t>(argument_.tiles)) {
      *argument_.count = before + count;
      if (argument_.offsets != nullptr) {
        write_index(argument_.offsets, has_wide_indices(), static_cast<uint64_t>(argument_.rows),
                    before + count);
      }
    }
  }

  TENURE_DEVICE void write_entries(uint64_t start) const {
    const uint32_t before_lane = (1u << lane_) - 1;
    TENURE_UNROLL for (int i = 0; i < kChunks; ++i) {
      const uint32_t element = static_cast<uint32_t>(i) * kScanLanes + lane_;
      const uint64_t position = start + static_cast<uint32_t>(__popc(marks_[i] & before_lane));
      start += static_cast<uint32_t>(__popc(marks_[i]));
      if (!has(element)) continue;
      const Position place = position_of(element);
      // A row begins behind the entries that are before its first element.
      if (place.column == 0 && argument_.offsets != nullptr) {
        write_index(argument_.offsets, has_wide_indices(), static_cast<uint64_t>(place.row),
                    position);
      }
      if ((marks_[i] >> lane_ & 1) == 0 || position >= argument_.capacity) continue;
      if (argument_.row_indices != nullptr) {
        write_index(argument_.row_indices, has_wide_indices(), position,
                    static_cast<uint64_t>(place.row));
      }
      write_index(argument_.indices, has_wide_indices(), position,
                  static_cast<uint64_t>(place.column));
      write_bits(argument_.values + (position << argument_.element_shift), bits_[i]);
    }
  }

  const DenseScanArgument& argument_;
  ScanShared& shared_;
  const uint32_t lane_;
  const uint32_t warp_;
  int64_t first_ = 0;  // element of the warp, and where it is
  int64_t row_ = 0;
  int64_t column_ = 0;
  Bits bits_[kChunks] = {};
  uint32_t marks_[kChunks] = {};
};

}  // namespace tenure::cuda

using tenure::cuda::DenseScanArgument;

TENURE_KERNEL(dense_scan_4, DenseScanArgument) {
  __shared__ tenure::cuda::ScanShared shared;
  tenure::cuda::DenseScanner<uint32_t, int32_t>(argument, shared).run();
}
TENURE_KERNEL(dense_scan_8, DenseScanArgument) {
  __shared__ tenure::cuda::ScanShared shared;
  tenure::cuda::DenseScanner<uint64_t, int64_t>(argument, shared).run();
}
