// From sparse to dense: entries to the elements that they are, among zeros.
//
// Where several entries may be for one element, they are added up in their order: those that a
// group of threads has at once and that meet wait for each other.
#include "cuda/kernels/floats.cuh"
#include "cuda/kernels/sparse/rows.cuh"

namespace tenure::cuda {

class SparseScatter {
 public:
  explicit TENURE_DEVICE SparseScatter(const SparseScatterArgument& argument)
      : argument_(argument),
        rows_(argument.a),
        lanes_(1u << argument.entry_shift),
        lane_(threadIdx.x & (lanes_ - 1)) {}

  TENURE_DEVICE void run() {
    const uint32_t groups = TENURE_MOST_THREADS >> argument_.entry_shift;
    TENURE_ROLLED for (int64_t block = blockIdx.x; block < argument_.row_blocks;
                       block += gridDim.x) {
      const int64_t row = block * groups + (threadIdx.x >> argument_.entry_shift);
      const Entries entries = rows_.entries_of(row);
      unsigned char* const out = argument_.out + row * argument_.row_step;
      if (argument_.is_unique != 0) {
        TENURE_ROLLED for (uint64_t k = entries.begin + lane_; k < entries.end; k += lanes_) {
          uint64_t column;
          if (rows_.read_index(k, column)) put(out, column, k);
        }
      } else {
        add(entries, out);
      }
    }
    rows_.tell();
  }

 private:
  using Entries = SparseRows::Entries;

  TENURE_DEVICE unsigned char* element(unsigned char* row, uint64_t column) const {
    return row + static_cast<int64_t>(column) * argument_.column_step;
  }
  TENURE_DEVICE const unsigned char* value(uint64_t k) const {
    return argument_.a.values + (k << argument_.element_shift);
  }

  TENURE_DEVICE void put(unsigned char* row, uint64_t column, uint64_t k) const {
    unsigned char* const to = element(row, column);
    const unsigned char* const from = value(k);
    switch (argument_.element_shift) {
      case 0: {
        const auto byte = read<uint8_t>(from);
        // Any byte but 0 is true.
        const bool is_true = argument_.type == ElementType::kBool8 && byte != 0;
        return write(to, is_true ? uint8_t{1} : byte);
      }
      case 1: return write(to, read<uint16_t>(from));
      case 2: return write(to, read<uint32_t>(from));
      default: break;
    }
    if (argument_.has_halves != 0) {
      write(to, read<uint32_t>(from));
      return write(to + 4, read<uint32_t>(from + 4));
    }
    write(to, read<uint64_t>(from));
  }

  // Whole numbers wrap.
  TENURE_DEVICE void add(unsigned char* to, const unsigned char* from) const {
    switch (argument_.type) {
      case ElementType::kF64: return write(to, read<double>(to) + read<double>(from));
      case ElementType::kF32: return write(to, read<float>(to) + read<float>(from));
      default: break;
    }
    switch (argument_.element_shift) {
      case 0: return write(to, static_cast<uint8_t>(read<uint8_t>(to) + read<uint8_t>(from)));
      case 1: return write(to, static_cast<uint16_t>(read<uint16_t>(to) + read<uint16_t>(from)));
      case 2: return write(to, read<uint32_t>(to) + read<uint32_t>(from));
      default: return write(to, read<uint64_t>(to) + read<uint64_t>(from));
    }
  }

  // A sum of floats begins with its first entry. A 0.0 in the element would take the sign from an
  // entry of -0.0; a -0.0 in the element changes no sign.
  TENURE_DEVICE void put_negative_zeros(const Entries& entries, unsigned char* out) {
    const bool is_f64 = argument_.type == ElementType::kF64;
    if (!is_f64 && argument_.type != ElementType::kF32) return;
    TENURE_ROLLED for (uint64_t k = entries.begin + lane_; k < entries.end; k += lanes_) {
      uint64_t column;
      if (!rows_.read_index(k, column)) continue;
      if (is_f64) {
        write(element(out, column), -0.0);
      } else {
        write(element(out, column), -0.0f);
      }
    }
  }

  TENURE_DEVICE void add(const Entries& entries, unsigned char* out) {
    put_negative_zeros(entries, out);
    // All threads of a warp go on until the last of its rows is done, so that they can meet.
    TENURE_ROLLED for (uint64_t first = entries.begin;
                       __any_sync(~0u, first < entries.end ? 1 : 0) != 0; first += lanes_) {
      const uint64_t k = first + lane_;
      uint64_t column = 0;
      const bool is_there = k < entries.end && rows_.read_index(k, column);
      // No column has this number, so that an entry that does not exist meets no other.
      const uint64_t met = is_there ? column : ~uint64_t{0};
      // How many before it, of those that the group has now, are for the same element.
      uint32_t turn = 0;
      TENURE_ROLLED for (uint32_t distance = 1; distance < lanes_; ++distance) {
        const uint64_t other = __shfl_up_sync(~0u, met, distance, static_cast<int>(lanes_));
        if (lane_ >= distance && other == met && is_there) ++turn;
      }
      const uint32_t turns = __reduce_max_sync(~0u, turn);
      TENURE_ROLLED for (uint32_t now = 0; now <= turns; ++now) {
        // Writes of others of the warp before it are there after it.
        __syncwarp();
        if (is_there && turn == now) add(element(out, column), value(k));
      }
    }
    __syncwarp();
  }

  const SparseScatterArgument& argument_;
  SparseRows rows_;
  const uint32_t lanes_;
  const uint32_t lane_;
};

}  // namespace tenure::cuda

using tenure::cuda::SparseScatterArgument;

TENURE_KERNEL(sparse_scatter, SparseScatterArgument) {
  tenure::cuda::SparseScatter(argument).run();
}
