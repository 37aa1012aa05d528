// Products of dense rows and columns at the entries of a sparse matrix.
//
// A sum is added up by the threads of an entry, each from 0 on by fused multiplication and
// addition, and these in a tree: its bits depend only on its length.
#include "cuda/kernels/floats.cuh"
#include "cuda/kernels/sparse/rows.cuh"

namespace tenure::cuda {

// Products of a thread whose elements are on their way together.
constexpr int kProductsTogether = 2;

template <class T>
class SampledProducts {
 public:
  explicit TENURE_DEVICE SampledProducts(const SparseSampleArgument& argument)
      : argument_(argument),
        rows_(argument.a),
        lanes_(1u << argument.depth_shift),
        lane_(threadIdx.x & (lanes_ - 1)) {}

  TENURE_DEVICE void run() {
    const uint32_t row_shift = argument_.depth_shift + argument_.entry_shift;
    const uint32_t together = 1u << argument_.entry_shift;
    const uint32_t entry_lane = (threadIdx.x >> argument_.depth_shift) & (together - 1);
    TENURE_ROLLED for (int64_t block = blockIdx.x; block < argument_.row_blocks;
                       block += gridDim.x) {
      const int64_t row = block * (TENURE_MOST_THREADS >> row_shift) + (threadIdx.x >> row_shift);
      const SparseRows::Entries entries = rows_.entries_of(row);
      const unsigned char* const x = argument_.x + row * argument_.x_row_step;
      // All threads of a warp go on until the last of its rows is done, so that they can meet.
      TENURE_ROLLED for (uint64_t k = entries.begin + entry_lane;
                         __any_sync(~0u, k < entries.end ? 1 : 0) != 0; k += together) {
        uint64_t column = 0;
        bool is_there = k < entries.end && rows_.read_index(k, column);
        if (is_there && k - argument_.first >= argument_.count) {
          is_there = false;
          rows_.refuse();
        }
        const T sum = total(is_there ? dot(x, column) : T{0});
        if (is_there && lane_ == 0) put(k, sum);
      }
    }
    rows_.tell();
  }

 private:
  TENURE_DEVICE T dot(const unsigned char* x, uint64_t column) const {
    const unsigned char* const y =
        argument_.y + static_cast<int64_t>(column) * argument_.y_column_step;
    T sum = 0;
    TENURE_ROLLED for (int64_t i = lane_; i < argument_.depth; i += kProductsTogether * lanes_) {
      T a[kProductsTogether] = {};
      T b[kProductsTogether] = {};
      TENURE_UNROLL for (int j = 0; j < kProductsTogether; ++j) {
        const int64_t at = i + j * static_cast<int64_t>(lanes_);
        if (at >= argument_.depth) continue;
        a[j] = read_number<T>(argument_.type, x + at * argument_.x_depth_step);
        b[j] = read_number<T>(argument_.type, y + at * argument_.y_depth_step);
      }
      TENURE_UNROLL for (int j = 0; j < kProductsTogether; ++j) {
        if (i + j * static_cast<int64_t>(lanes_) < argument_.depth) {
          sum = multiply_add(a[j], b[j], sum);
        }
      }
    }
    return sum;
  }

  // Over the threads of an entry. All threads of the warp meet.
  TENURE_DEVICE T total(T sum) const {
    TENURE_ROLLED for (uint32_t distance = lanes_ / 2; distance > 0; distance /= 2) {
      sum = sum + __shfl_xor_sync(~0u, sum, static_cast<int>(distance));
    }
    return sum;
  }

  TENURE_DEVICE void put(uint64_t k, T sum) const {
    T product = scalar_of<T>(argument_.alpha) * sum;
    if (argument_.has_values != 0) {
      product = product * read_number<T>(argument_.type,
                                         argument_.a.values +
                                             bytes_of<T>(argument_.type, static_cast<int64_t>(k)));
    }
    write_number<T>(
        argument_.type,
        argument_.out + bytes_of<T>(argument_.type, static_cast<int64_t>(k - argument_.first)),
        product);
  }

  const SparseSampleArgument& argument_;
  SparseRows rows_;
  const uint32_t lanes_;
  const uint32_t lane_;
};

}  // namespace tenure::cuda

using tenure::cuda::SparseSampleArgument;

TENURE_KERNEL(sparse_sample_f32, SparseSampleArgument) {
  tenure::cuda::SampledProducts<float>(argument).run();
}
TENURE_KERNEL(sparse_sample_f64, SparseSampleArgument) {
  tenure::cuda::SampledProducts<double>(argument).run();
}
