// Sparse matrices in plain vectors, and views of them, for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tenure/dtype.hpp"
#include "tenure/sparse.hpp"
#include "tenure/view.hpp"

namespace tenure::test {

using Indices = std::vector<std::int64_t>;

// A matrix for tests, with indices as wide as any and f32 values.
struct SparseModel {
  tnr_sparse_format format = TNR_SPARSE_FORMAT_CSR;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  Indices major = {};
  Indices minor = {};
  std::vector<float> values = {};
  std::uint32_t flags = 0;
  std::int64_t block_rows = 1;
  std::int64_t block_cols = 1;
};

// For tests of calls that take any matrix: CSR with coalesced entries on and below the diagonal.
inline SparseModel small_csr() {
  return {.rows = 3,
          .cols = 3,
          .major = {0, 1, 3, 4},
          .minor = {0, 0, 1, 2},
          .values = {1, 2, 3, 4},
          .flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE};
}

inline tnr_view flat_view(const void* data, tnr_dtype dtype, std::vector<std::int64_t> shape,
                          BlobToken owner = 0) {
  std::size_t size_bytes = element_size(dtype);
  for (const std::int64_t extent : shape) size_bytes *= static_cast<std::size_t>(extent);
  tnr_view view = make_view(data, size_bytes, 0, dtype, static_cast<std::uint32_t>(shape.size()),
                            shape.data(), nullptr);
  view.owner = owner;
  return view;
}

// The memory of a model's parts, and its view; nothing is checked. The arrays are as long as the
// model's, to the byte.
class SparseArrays {
 public:
  SparseArrays(const SparseModel& model, tnr_dtype index_dtype)
      : major_(packed(model.major, index_dtype)),
        minor_(packed(model.minor, index_dtype)),
        values_(model.values) {
    view_.struct_size = sizeof view_;
    view_.format = model.format;
    view_.flags = model.flags;
    view_.rows = model.rows;
    view_.cols = model.cols;
    view_.block_rows = model.block_rows;
    view_.block_cols = model.block_cols;
    view_.major =
        flat_view(major_.data(), index_dtype, {static_cast<std::int64_t>(model.major.size())});
    view_.minor =
        flat_view(minor_.data(), index_dtype, {static_cast<std::int64_t>(model.minor.size())});
    const std::int64_t block = model.block_rows * model.block_cols;
    const std::int64_t count = static_cast<std::int64_t>(values_.size()) / block;
    view_.values =
        model.format == TNR_SPARSE_FORMAT_BSR
            ? flat_view(values_.data(), TNR_DTYPE_F32, {count, model.block_rows, model.block_cols})
            : flat_view(values_.data(), TNR_DTYPE_F32, {count});
  }
  SparseArrays(const SparseArrays&) = delete;
  SparseArrays& operator=(const SparseArrays&) = delete;

  tnr_sparse_view& view() { return view_; }
  unsigned char* major() { return major_.data(); }
  unsigned char* minor() { return minor_.data(); }
  float* values() { return values_.data(); }

 private:
  static std::vector<unsigned char> packed(const Indices& indices, tnr_dtype dtype) {
    const std::size_t width = element_size(dtype);
    std::vector<unsigned char> bytes(indices.size() * width);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      // Little-endian: the lowest bytes are the narrow number.
      std::memcpy(bytes.data() + i * width, &indices[i], width);
    }
    return bytes;
  }

  std::vector<unsigned char> major_;
  std::vector<unsigned char> minor_;
  std::vector<float> values_;
  tnr_sparse_view view_{};
};

inline SparseOptions options_of(tnr_sparse_format format, std::uint32_t flags = 0,
                                tnr_dtype index_dtype = 0) {
  SparseOptions options;
  options.format = format;
  options.flags = flags;
  options.index_dtype = index_dtype;
  return options;
}

inline constexpr tnr_dtype kIndexDtypes[] = {TNR_DTYPE_I32, TNR_DTYPE_I64};

// [[1 0 2 0], [0 0 0 0], [3 4 0 5]] and the like, valid and coalesced, in each format.
inline SparseModel coo_model() {
  return {.format = TNR_SPARSE_FORMAT_COO,
          .rows = 3,
          .cols = 4,
          .major = {0, 0, 2, 2, 2},
          .minor = {0, 2, 0, 1, 3},
          .values = {1, 2, 3, 4, 5},
          .flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE};
}
inline SparseModel csr_model() {
  return {.format = TNR_SPARSE_FORMAT_CSR,
          .rows = 3,
          .cols = 4,
          .major = {0, 2, 2, 5},
          .minor = {0, 2, 0, 1, 3},
          .values = {1, 2, 3, 4, 5},
          .flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE};
}
inline SparseModel csc_model() {
  return {.format = TNR_SPARSE_FORMAT_CSC,
          .rows = 3,
          .cols = 4,
          .major = {0, 2, 3, 4, 5},
          .minor = {0, 2, 2, 0, 2},
          .values = {1, 3, 4, 2, 5},
          .flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE};
}
// [[1 2 0 0 0 0], [3 4 0 0 0 0], [0 ...], [0 ...]] with blocks of 2 by 3.
inline SparseModel bsr_model() {
  return {.format = TNR_SPARSE_FORMAT_BSR,
          .rows = 4,
          .cols = 6,
          .major = {0, 1, 3},
          .minor = {0, 0, 1},
          .values = std::vector<float>(18, 1.0f),
          .flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE,
          .block_rows = 2,
          .block_cols = 3};
}

}  // namespace tenure::test
