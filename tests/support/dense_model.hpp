// Expected results of conversions from dense, found element by element.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "cpu/kernels/reference.hpp"
#include "sparse/index_array.hpp"
#include "tenure/dtype.hpp"
#include "tenure/sparse.hpp"

namespace tenure::test {

// Whether the element is an entry: the definition of the predicates, computed by the reference
// implementation of comparisons. `threshold` is of the element's type.
inline bool is_entry(tnr_sparse_predicate predicate, std::uint32_t flags, kernels::Type type,
                     const kernels::Byte* element, const kernels::Byte* threshold, bool mask) {
  using kernels::Byte;
  constexpr unsigned kEqual = 0;
  constexpr unsigned kLessOrEqual = 3;
  constexpr unsigned kNegative = 0;
  const auto holds = [type](unsigned row, const Byte* a, const Byte* b) {
    Byte truth = 0;
    kernels::reference::compare(row, type, a, b, &truth);
    return truth != 0;
  };
  constexpr Byte kZeros[8] = {};
  switch (predicate) {
    case TNR_SPARSE_PREDICATE_NON_ZERO:
      if ((flags & TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO) != 0) {
        return std::memcmp(element, kZeros, kernels::reference::element_bytes(type)) != 0;
      }
      return !holds(kEqual, element, kZeros);
    case TNR_SPARSE_PREDICATE_GREATER: return !holds(kLessOrEqual, element, threshold);
    case TNR_SPARSE_PREDICATE_MAGNITUDE_GREATER: {
      const bool is_unsigned = type >= kernels::Type::kU8;
      Byte negative[8];
      kernels::reference::unary(kNegative, type, threshold, negative);
      return !holds(kLessOrEqual, element, threshold) ||
             (!is_unsigned && !holds(kLessOrEqual, negative, element));
    }
    default: return mask;
  }
}

// The parts of a matrix, indices as wide as any.
struct SparseContent {
  std::vector<std::int64_t> major;
  std::vector<std::int64_t> minor;
  std::vector<unsigned char> values;

  bool operator==(const SparseContent&) const = default;
};

inline SparseContent content_of(const tnr_sparse_view& view) {
  const auto indices = [](const tnr_view& part) {
    std::vector<std::int64_t> result(static_cast<std::size_t>(part.shape[0]));
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = index_at(part, static_cast<std::int64_t>(i));
    }
    return result;
  };
  std::size_t bytes = element_size(view.values.dtype);
  for (std::uint32_t axis = 0; axis < view.values.rank; ++axis) {
    bytes *= static_cast<std::size_t>(view.values.shape[axis]);
  }
  const auto* const values = static_cast<const unsigned char*>(view.values.data);
  return {indices(view.major), indices(view.minor),
          std::vector<unsigned char>(values, values + bytes)};
}

// A matrix from row-major elements of `width` bytes. `kept` says which of them are entries.
inline SparseContent model_of(tnr_sparse_format format, std::int64_t rows, std::int64_t cols,
                              const std::vector<const unsigned char*>& elements,
                              const std::vector<bool>& kept, std::size_t width) {
  SparseContent content;
  const bool is_csc = format == TNR_SPARSE_FORMAT_CSC;
  const bool is_coo = format == TNR_SPARSE_FORMAT_COO;
  if (!is_coo) content.major.push_back(0);
  for (std::int64_t i = 0; i < (is_csc ? cols : rows); ++i) {
    for (std::int64_t j = 0; j < (is_csc ? rows : cols); ++j) {
      const auto at = static_cast<std::size_t>(is_csc ? j * cols + i : i * cols + j);
      if (!kept[at]) continue;
      if (is_coo) content.major.push_back(i);
      content.minor.push_back(j);
      content.values.insert(content.values.end(), elements[at], elements[at] + width);
    }
    if (!is_coo) content.major.push_back(static_cast<std::int64_t>(content.minor.size()));
  }
  return content;
}

// The blocks that have an entry, with all of their elements; otherwise like model_of().
inline SparseContent block_model_of(std::int64_t rows, std::int64_t cols, std::int64_t block_rows,
                                    std::int64_t block_cols,
                                    const std::vector<const unsigned char*>& elements,
                                    const std::vector<bool>& kept, std::size_t width) {
  SparseContent content;
  content.major.push_back(0);
  for (std::int64_t row = 0; row < rows; row += block_rows) {
    for (std::int64_t col = 0; col < cols; col += block_cols) {
      bool is_there = false;
      std::vector<unsigned char> block;
      for (std::int64_t i = 0; i < block_rows * block_cols; ++i) {
        const auto at =
            static_cast<std::size_t>((row + i / block_cols) * cols + col + i % block_cols);
        is_there = is_there || kept[at];
        block.insert(block.end(), elements[at], elements[at] + width);
      }
      if (!is_there) continue;
      content.minor.push_back(col / block_cols);
      content.values.insert(content.values.end(), block.begin(), block.end());
    }
    content.major.push_back(static_cast<std::int64_t>(content.minor.size()));
  }
  return content;
}

// A matrix that an operation returned, which is well-formed.
class Returned {
 public:
  explicit Returned(SparseToken token) : token_(token), view_(sparse_view(token)) {
    EXPECT_NO_THROW(check_matrix(view_, ""));
  }
  Returned(const Returned&) = delete;
  Returned& operator=(const Returned&) = delete;
  ~Returned() { sparse_release(token_); }

  [[nodiscard]] const tnr_sparse_view& view() const { return view_; }
  [[nodiscard]] SparseContent content() const { return content_of(view_); }

 private:
  SparseToken token_;
  tnr_sparse_view view_;
};

}  // namespace tenure::test
