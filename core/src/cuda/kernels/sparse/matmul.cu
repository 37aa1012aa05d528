// Rows of a sparse matrix times a dense one.
//
// A thread takes entries of its row in equal steps by fused multiplication and addition, from 0 on;
// sums of the threads that share a row are added in a tree, those of a long row's warps in order.
// So the bits of a result depend only on the matrix and the number of columns.
#include "cuda/kernels/floats.cuh"
#include "cuda/kernels/sparse/rows.cuh"

namespace tenure::cuda {

constexpr uint32_t kWarpShift = 5;
constexpr uint32_t kWarpLanes = 1u << kWarpShift;
constexpr int kBlockWarps = static_cast<int>(kThreads / kWarpLanes);
// f16 and bf16, which share the code of a kernel.
struct Half {
  uint16_t bits;
};

template <class V>
struct StoredNumber {
  static TENURE_DEVICE V at(ElementType, const unsigned char* from) { return read<V>(from); }
  static TENURE_DEVICE void put(ElementType, unsigned char* to, V number) { write(to, number); }
};
template <>
struct StoredNumber<Half> {
  static TENURE_DEVICE float at(ElementType type, const unsigned char* from) {
    const auto bits = read<uint16_t>(from);
    return type == ElementType::kF16 ? widen(F16{bits}) : widen(BF16{bits});
  }
  static TENURE_DEVICE void put(ElementType type, unsigned char* to, float number) {
    write(to, type == ElementType::kF16 ? round_to_f16(number).bits : round_to_bf16(number).bits);
  }
};

// Shared memory of a block.
template <class T, int kColumns>
struct SharedSums {
  T of_warps[kBlockWarps][kWarpLanes][kColumns];
  uint8_t is_long[kThreads];
};

// T is the type of the computation, V the stored type.
template <class T, class V, int kColumns>
class RowProducts {
 public:
  TENURE_DEVICE RowProducts(const SparseMatmulArgument& argument, SharedSums<T, kColumns>& shared)
      : argument_(argument),
        rows_(argument.a),
        shared_(shared),
        column_lanes_(1u << argument.column_shift),
        group_shift_(argument.column_shift + argument.entry_shift),
        column_lane_(threadIdx.x & (column_lanes_ - 1)) {}

  TENURE_DEVICE void run() {
    TENURE_ROLLED for (int64_t work = blockIdx.x; work < argument_.work; work += gridDim.x) {
      const int64_t tile = work / argument_.row_blocks;
      column_ = tile * (static_cast<int64_t>(column_lanes_) * kColumns) + column_lane_;
      add_rows((work - tile * argument_.row_blocks) << (kThreadShift - group_shift_));
    }
    rows_.tell();
  }

 private:
  static constexpr uint32_t kThreadShift = 8;
  // Whose elements are on their way together.
  static constexpr int kEntriesTogether = kColumns == 1 ? 4 : 2;
  static_assert(kThreads == 1u << kThreadShift, "threads of a block");

  using Entries = SparseRows::Entries;

  // The rows of a block from `first` on: each by its group, except long ones; then the long ones,
  // one by one, by all threads.
  TENURE_DEVICE void add_rows(int64_t first) {
    const uint32_t groups = kThreads >> group_shift_;
    const uint32_t group = threadIdx.x >> group_shift_;
    int64_t row = first + group;
    Entries entries = rows_.entries_of(row);
    const bool is_long = entries.end - entries.begin > argument_.long_row;
    if (is_long) entries.end = entries.begin;
    uint32_t lanes_shift = group_shift_;
    uint32_t long_group = 0;
    // One loop, so that the code that adds exists once.
    TENURE_ROLLED for (bool is_shared = false;; is_shared = true) {
      const uint32_t lane = (threadIdx.x & ((1u << lanes_shift) - 1)) >> argument_.column_shift;
      TENURE_UNROLL for (int j = 0; j < kColumns; ++j) sums_[j] = 0;
      add({entries.begin + lane, entries.end}, 1u << (lanes_shift - argument_.column_shift));
      add_lanes(1u << (is_shared ? kWarpShift : lanes_shift));
      if (is_shared) {
        add_warps();
        if (threadIdx.x < column_lanes_) write_row(row);
        ++long_group;
      } else {
        if (!is_long && row < argument_.a.rows && lane == 0) write_row(row);
        shared_.is_long[group] = is_long ? 1 : 0;
        if (__syncthreads_or(is_long ? 1 : 0) == 0) return;
        lanes_shift = kThreadShift;
      }
      while (long_group < groups && shared_.is_long[long_group] == 0) ++long_group;
      if (long_group == groups) break;
      row = first + long_group;
      entries = rows_.entries_of(row);
    }
    // shared_.is_long is written for the next rows only after all threads have read it.
    __syncthreads();
  }

  // Over the threads of a group that have the same columns; each has the sum then. All threads of
  // the warp meet.
  TENURE_DEVICE void add_lanes(uint32_t lanes) {
    TENURE_ROLLED for (uint32_t distance = lanes / 2; distance >= column_lanes_; distance /= 2) {
      TENURE_UNROLL for (int j = 0; j < kColumns; ++j) {
        sums_[j] = sums_[j] + __shfl_xor_sync(~0u, sums_[j], static_cast<int>(distance));
      }
    }
  }

  // Over the warps of a block, in their order. The first threads have the sums.
  TENURE_DEVICE void add_warps() {
    const uint32_t lane = threadIdx.x % kWarpLanes;
    // The last row's have been read.
    __syncthreads();
    if (lane < column_lanes_) {
      TENURE_UNROLL for (int j = 0; j < kColumns; ++j) {
        shared_.of_warps[threadIdx.x / kWarpLanes][lane][j] = sums_[j];
      }
    }
    __syncthreads();
    if (threadIdx.x >= column_lanes_) return;
    TENURE_ROLLED for (int warp = 1; warp < kBlockWarps; ++warp) {
      TENURE_UNROLL for (int j = 0; j < kColumns; ++j) {
        sums_[j] = sums_[j] + shared_.of_warps[warp][lane][j];
      }
    }
  }

  TENURE_DEVICE int64_t column(int j) const {
    return column_ + j * static_cast<int64_t>(column_lanes_);
  }

  TENURE_DEVICE void add(const Entries& entries, uint32_t step) {
    TENURE_ROLLED for (uint64_t k = entries.begin; k < entries.end; k += kEntriesTogether * step) {
      bool is_there[kEntriesTogether];
      uint64_t indices[kEntriesTogether] = {};
      T values[kEntriesTogether] = {};
      TENURE_UNROLL for (int i = 0; i < kEntriesTogether; ++i) {
        const uint64_t at = k + static_cast<uint64_t>(i) * step;
        is_there[i] = at < entries.end;
        if (!is_there[i]) continue;
        is_there[i] = rows_.read_index(at, indices[i]);
        values[i] = StoredNumber<V>::at(argument_.type, argument_.a.values + at * sizeof(V));
      }
      T x[kEntriesTogether][kColumns] = {};
      TENURE_UNROLL for (int i = 0; i < kEntriesTogether; ++i) {
        if (!is_there[i]) continue;
        const unsigned char* const row =
            argument_.b + static_cast<int64_t>(indices[i]) * argument_.b_row_step;
        TENURE_UNROLL for (int j = 0; j < kColumns; ++j) {
          if (column(j) >= argument_.columns) continue;
          x[i][j] = StoredNumber<V>::at(argument_.type, row + column(j) * argument_.b_column_step);
        }
      }
      TENURE_UNROLL for (int i = 0; i < kEntriesTogether; ++i) {
        if (!is_there[i]) continue;
        TENURE_UNROLL for (int j = 0; j < kColumns; ++j) {
          sums_[j] = multiply_add(values[i], x[i][j], sums_[j]);
        }
      }
    }
  }

  TENURE_DEVICE void write_row(int64_t row) const {
    const T alpha = scalar_of<T>(argument_.alpha);
    const T beta = scalar_of<T>(argument_.beta);
    unsigned char* const to = argument_.out + row * argument_.out_row_step;
    TENURE_UNROLL for (int j = 0; j < kColumns; ++j) {
      if (column(j) >= argument_.columns) continue;
      unsigned char* const at = to + column(j) * argument_.out_column_step;
      const T scaled = alpha * sums_[j];
      StoredNumber<V>::put(argument_.type, at,
                           argument_.has_beta != 0
                               ? scaled + beta * StoredNumber<V>::at(argument_.type, at)
                               : scaled);
    }
  }

  const SparseMatmulArgument& argument_;
  SparseRows rows_;
  SharedSums<T, kColumns>& shared_;
  const uint32_t column_lanes_;
  const uint32_t group_shift_;
  const uint32_t column_lane_;
  int64_t column_ = 0;
  T sums_[kColumns] = {};
};

template <class T, class V, int kColumns>
TENURE_DEVICE void multiply_rows(const SparseMatmulArgument& argument,
                                 SharedSums<T, kColumns>& shared) {
  RowProducts<T, V, kColumns>(argument, shared).run();
}

template <int kColumns>
TENURE_DEVICE void multiply_rows_f32(const SparseMatmulArgument& argument,
                                     SharedSums<float, kColumns>& shared) {
  if (argument.type == ElementType::kF32) return multiply_rows<float, float>(argument, shared);
  multiply_rows<float, Half>(argument, shared);
}

}  // namespace tenure::cuda

using tenure::cuda::SparseMatmulArgument;

TENURE_KERNEL(sparse_matmul_f32_1, SparseMatmulArgument) {
  __shared__ tenure::cuda::SharedSums<float, 1> shared;
  tenure::cuda::multiply_rows_f32(argument, shared);
}
TENURE_KERNEL(sparse_matmul_f32_4, SparseMatmulArgument) {
  __shared__ tenure::cuda::SharedSums<float, 4> shared;
  tenure::cuda::multiply_rows_f32(argument, shared);
}
TENURE_KERNEL(sparse_matmul_f64_1, SparseMatmulArgument) {
  __shared__ tenure::cuda::SharedSums<double, 1> shared;
  tenure::cuda::multiply_rows<double, double>(argument, shared);
}
TENURE_KERNEL(sparse_matmul_f64_4, SparseMatmulArgument) {
  __shared__ tenure::cuda::SharedSums<double, 4> shared;
  tenure::cuda::multiply_rows<double, double>(argument, shared);
}
