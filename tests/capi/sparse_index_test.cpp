// One offset or index out of range, at every place of a small matrix, in every function: each finds
// it, also where its result does not depend on it, and names the array, the place and the value.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "context_options.hpp"
#include "given_attributes.hpp"
#include "sparse_arrays.hpp"
#include "sparse_calls.hpp"
#include "tenure/tenure.h"

namespace tenure::test {
namespace {

constexpr std::uint32_t kCoalesced = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;

// Each third element and the diagonal, so that a square one can be solved; of BSR blocks of 2 by 2.
// A matrix that is not square has an empty row and an empty column besides.
SparseModel pattern(tnr_sparse_format format, std::int64_t rows, std::int64_t cols) {
  const std::int64_t block = format == TNR_SPARSE_FORMAT_BSR ? 2 : 1;
  const bool is_csc = format == TNR_SPARSE_FORMAT_CSC;
  const bool is_coo = format == TNR_SPARSE_FORMAT_COO;
  SparseModel model{.format = format,
                    .rows = rows,
                    .cols = cols,
                    .flags = kCoalesced,
                    .block_rows = block,
                    .block_cols = block};
  if (!is_coo) model.major.push_back(0);
  for (std::int64_t major = 0; major < (is_csc ? cols : rows) / block; ++major) {
    for (std::int64_t minor = 0; minor < (is_csc ? rows : cols) / block; ++minor) {
      const bool is_empty = rows != cols && (major == 1 || minor == 1);
      if (is_empty || (major != minor && (major + minor) % 3 != 0)) continue;
      if (is_coo) model.major.push_back(major);
      model.minor.push_back(minor);
      model.values.insert(model.values.end(), static_cast<std::size_t>(block * block), 2);
    }
    if (!is_coo) model.major.push_back(static_cast<std::int64_t>(model.minor.size()));
  }
  return model;
}

// Dense operands for a matrix of any of the shapes. More elements than there is memory for are not
// lent, so that a view of them is refused.
struct Dense {
  explicit Dense(const tnr_sparse_view& a) : rows(a.rows), cols(a.cols) {}

  tnr_view ones(const std::vector<std::int64_t>& extents) const { return lent(read, extents); }
  tnr_view_mut out(const std::vector<std::int64_t>& extents) { return {lent(written, extents)}; }

  static tnr_view lent(const float* memory, const std::vector<std::int64_t>& extents) {
    constexpr std::int64_t kMost = 64;  // an extent
    tnr_view view = flat_view(memory, TNR_DTYPE_F32, std::vector<std::int64_t>(extents.size(), 1));
    for (std::size_t axis = extents.size(), step = 1; axis-- > 0;) {
      view.shape[axis] = extents[axis];
      view.strides[axis] = static_cast<std::int64_t>(step);
      step *= static_cast<std::size_t>(std::clamp(extents[axis], std::int64_t{1}, kMost));
    }
    view.size_bytes = sizeof read;
    return view;
  }

  std::int64_t rows;
  std::int64_t cols;
  float read[512] = {};
  float written[512] = {};
  double wide[64] = {};
  tnr_view_mut out_table = out({rows, cols});
  tnr_view_mut out_rows = out({rows});
  tnr_view_mut out_cols = out({cols});
  tnr_scalar one = f32(1);
  tnr_scalar zero = f32(0);
};

enum Takes : unsigned {
  kCoo = 1,
  kCsr = 2,
  kCsc = 4,
  kBsr = 8,
  kCompressed = kCsr | kCsc,
  kElements = kCoo | kCompressed,
  kAll = kElements | kBsr,
  kSquare = 16,  // square matrices alone
};

struct Function {
  std::string name;
  unsigned takes;
  std::function<tnr_status(tnr_context*, const tnr_sparse_view&, Dense&)> call;
};

// A valid second operand for `a`, of the same format; `a` itself where the shape is too large.
class Beside {
 public:
  Beside(const tnr_sparse_view& a, std::int64_t rows, std::int64_t cols) : view_(a) {
    constexpr std::int64_t kMost = 64;
    if (rows > kMost || cols > kMost) return;
    arrays_.emplace(pattern(a.format, rows, cols), a.minor.dtype);
    view_ = arrays_->view();
  }
  const tnr_sparse_view* view() const { return &view_; }

 private:
  std::optional<SparseArrays> arrays_;
  tnr_sparse_view view_;
};

std::vector<Function> conversions() {
  std::vector<Function> all;
  for (const tnr_sparse_format to : {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR,
                                     TNR_SPARSE_FORMAT_CSC, TNR_SPARSE_FORMAT_BSR}) {
    for (const std::uint32_t flags : {0, TNR_CONVERT_SORT}) {
      all.push_back({"convert to " + std::to_string(to), kAll,
                     [=](auto* context, const tnr_sparse_view& a, Dense&) {
                       tnr_sparse_options options = options_of(to, flags);
                       if (to == TNR_SPARSE_FORMAT_BSR) {
                         options.block_rows = options.block_cols = 2;
                       }
                       return status_of(tnr_sparse_convert(context, &a, &options));
                     }});
    }
  }
  all.push_back({"to_dense", kAll, [](auto* context, const tnr_sparse_view& a, Dense& with) {
                   return tnr_sparse_to_dense(context, &a, nullptr, &with.out_table);
                 }});
  return all;
}

std::vector<Function> parts() {
  return {
      {"check", kAll, [](auto*, const tnr_sparse_view& a, Dense&) { return tnr_sparse_check(&a); }},
      {"coalesce", kElements,
       [](auto* context, const tnr_sparse_view& a, Dense&) {
         return status_of(tnr_sparse_coalesce(context, TNR_SPARSE_COMBINE_SUM, &a, nullptr));
       }},
      {"prune", kElements,
       [](auto* context, const tnr_sparse_view& a, Dense&) {
         tnr_sparse_options options = options_of(0);
         return status_of(tnr_sparse_prune(context, &a, &options));
       }},
      {"top_k", kCsr,
       [](auto* context, const tnr_sparse_view& a, Dense&) {
         return status_of(tnr_sparse_top_k(context, TNR_SPARSE_ORDER_VALUE, &a, 0, nullptr));
       }},
      {"select", kCompressed,
       [](auto* context, const tnr_sparse_view& a, Dense&) {
         const std::int32_t first = 0;
         const tnr_view list = flat_view(&first, TNR_DTYPE_I32, {1});
         return status_of(tnr_sparse_select(context, &a, &list, &list, nullptr));
       }},
      {"slice", kCompressed,
       [](auto* context, const tnr_sparse_view& a, Dense&) {
         return status_of(tnr_sparse_slice(context, &a, 1, 0, 1, 1, nullptr));
       }},
      {"triangular", kCompressed,
       [](auto* context, const tnr_sparse_view& a, Dense&) {
         return status_of(tnr_sparse_triangular(context, TNR_TRIANGLE_LOWER, &a, nullptr));
       }},
      {"pack", kCsr, [](auto* context, const tnr_sparse_view& a, Dense&) {
         tnr_packed* const packed = tnr_packed_create(context, &a, nullptr);
         return packed == nullptr ? tnr_last_error()->status : tnr_packed_release(packed);
       }}};
}

std::vector<Function> products() {
  std::vector<Function> all;
  for (const tnr_orientation orientation : {TNR_ORIENTATION_AS_IS, TNR_ORIENTATION_TRANSPOSED}) {
    for (const std::int64_t columns : {-1, 0, 1, 5}) {
      all.push_back({"matmul, " + std::to_string(columns) + " columns", kAll,
                     [=](auto* context, const tnr_sparse_view& a, Dense& with) {
                       const bool is_as_is = orientation == TNR_ORIENTATION_AS_IS;
                       std::vector<std::int64_t> in = {is_as_is ? a.cols : a.rows};
                       std::vector<std::int64_t> out = {is_as_is ? a.rows : a.cols};
                       if (columns >= 0) in.push_back(columns), out.push_back(columns);
                       const tnr_view b = with.ones(in);
                       const tnr_view_mut result = with.out(out);
                       return tnr_sparse_matmul(context, orientation, &with.one, &a, &b, &with.zero,
                                                nullptr, &result);
                     }});
    }
  }
  for (const std::int64_t inner : {0, 3}) {
    for (const std::uint32_t flags : {0, TNR_SDDMM_TIMES_VALUES}) {
      all.push_back({"sddmm, " + std::to_string(inner), kAll,
                     [=](auto* context, const tnr_sparse_view& a, Dense& with) {
                       const tnr_view x = with.ones({a.rows, inner});
                       const tnr_view y = with.ones({inner, a.cols});
                       tnr_view_mut out = {a.values};
                       out.view.data = out.view.base = with.written;
                       return tnr_sparse_sddmm(context, &with.one, &a, &x, &y,
                                               attributes<tnr_sparse_sddmm_attributes>(flags),
                                               &out);
                     }});
    }
  }
  all.push_back({"product", kCompressed, [](auto* context, const tnr_sparse_view& a, Dense&) {
                   const Beside b(a, a.cols, 2);
                   return status_of(tnr_sparse_product(context, &a, b.view(), nullptr));
                 }});
  for (const tnr_sparse_join join :
       {TNR_SPARSE_JOIN_ROWS, TNR_SPARSE_JOIN_COLS, TNR_SPARSE_JOIN_DIAGONAL}) {
    all.push_back({"concat, join " + std::to_string(join), kElements,
                   [=](auto* context, const tnr_sparse_view& a, Dense&) {
                     const Beside b(a, a.rows, a.cols);
                     const tnr_sparse_view* const parts[] = {b.view(), &a};
                     return status_of(tnr_sparse_concat(context, join, parts, 2, nullptr));
                   }});
  }
  all.push_back({"kron", kCompressed, [](auto* context, const tnr_sparse_view& a, Dense&) {
                   const Beside b(a, 2, 3);
                   return status_of(tnr_sparse_kron(context, &a, b.view(), nullptr));
                 }});
  all.push_back({"kron, right", kCompressed, [](auto* context, const tnr_sparse_view& a, Dense&) {
                   const Beside b(a, 2, 3);
                   return status_of(tnr_sparse_kron(context, b.view(), &a, nullptr));
                 }});
  all.push_back(
      {"product, right", kCompressed, [](auto* context, const tnr_sparse_view& a, Dense&) {
         const Beside b(a, 2, a.rows);
         return status_of(tnr_sparse_product(context, b.view(), &a, nullptr));
       }});
  return all;
}

// The mask, or the other factor, has few entries, so that not all of `a` is needed.
std::vector<Function> masked_products() {
  return {
      {"product_masked", kCompressed,
       [](auto* context, const tnr_sparse_view& a, Dense&) {
         const Beside b(a, a.cols, 2), mask(a, a.rows, 2);
         return status_of(tnr_sparse_product_masked(context, &a, b.view(), mask.view(), nullptr));
       }},
      {"product_masked, right", kCompressed,
       [](auto* context, const tnr_sparse_view& a, Dense&) {
         const Beside b(a, 2, a.rows), mask(a, 2, a.cols);
         return status_of(tnr_sparse_product_masked(context, b.view(), &a, mask.view(), nullptr));
       }},
      {"product_masked, mask", kCompressed, [](auto* context, const tnr_sparse_view& a, Dense&) {
         const Beside left(a, a.rows, 2), right(a, 2, a.cols);
         return status_of(
             tnr_sparse_product_masked(context, left.view(), right.view(), &a, nullptr));
       }}};
}

std::vector<Function> sums() {
  std::vector<Function> all;
  for (const tnr_binary_op op : {TNR_BINARY_OP_ADD, TNR_BINARY_OP_MUL}) {
    for (const bool is_right : {false, true}) {
      all.push_back({is_right ? "binary, right" : "binary", kCompressed,
                     [=](auto* context, const tnr_sparse_view& a, Dense&) {
                       const Beside b(a, a.rows, a.cols);
                       return status_of(tnr_sparse_binary(context, op, is_right ? b.view() : &a,
                                                          is_right ? &a : b.view(), nullptr));
                     }});
    }
  }
  all.push_back(
      {"accumulate", kCompressed, [](auto* context, const tnr_sparse_view& a, Dense& with) {
         return tnr_sparse_accumulate(context, &a, nullptr, &with.out_table);
       }});
  for (const std::uint32_t axis : {0u, 1u}) {
    all.push_back({"scale", kCompressed, [=](auto* context, const tnr_sparse_view& a, Dense& with) {
                     const tnr_view factors = with.ones({axis == 0 ? a.rows : a.cols});
                     const tnr_sparse_view_mut out = {a};
                     return tnr_sparse_scale(context, &factors, axis, nullptr, &out);
                   }});
  }
  all.push_back({"softmax", kCsr, [](auto* context, const tnr_sparse_view& a, Dense&) {
                   const tnr_sparse_view_mut out = {a};
                   return tnr_sparse_softmax(context, nullptr, &out);
                 }});
  return all;
}

std::vector<Function> reductions() {
  std::vector<Function> all;
  for (const tnr_reduce_op op :
       {TNR_REDUCE_OP_SUM, TNR_REDUCE_OP_MIN, TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_COUNT}) {
    for (const std::uint32_t axes : {1u, 2u, 3u}) {
      all.push_back({"reduce " + std::to_string(op) + " over " + std::to_string(axes), kCompressed,
                     [=](auto* context, const tnr_sparse_view& a, Dense& with) {
                       tnr_view_mut out = axes == 3   ? with.out({})
                                          : axes == 1 ? with.out_cols
                                                      : with.out_rows;
                       if (op == TNR_REDUCE_OP_COUNT) {
                         out.view.dtype = TNR_DTYPE_I64;
                       }
                       return tnr_sparse_reduce(context, op, &a, axes, nullptr, &out);
                     }});
    }
  }
  for (const tnr_sparse_norm_kind kind :
       {TNR_SPARSE_NORM_KIND_ONE, TNR_SPARSE_NORM_KIND_INFINITY, TNR_SPARSE_NORM_KIND_FROBENIUS}) {
    all.push_back({"norm " + std::to_string(kind), kCompressed,
                   [=](auto* context, const tnr_sparse_view& a, Dense& with) {
                     return tnr_sparse_norm(context, kind, &a, nullptr, with.wide);
                   }});
  }
  all.push_back({"diagonal", kCompressed, [](auto* context, const tnr_sparse_view& a, Dense& with) {
                   const tnr_view_mut out = with.out({std::min(a.rows, a.cols)});
                   return tnr_sparse_diagonal(context, &a, nullptr, &out);
                 }});
  for (const std::uint32_t flags : {0, TNR_SOLVE_UPPER}) {
    all.push_back(
        {"solve", kCsr | kSquare, [=](auto* context, const tnr_sparse_view& a, Dense& with) {
           const tnr_view b = with.ones({a.rows});
           return tnr_sparse_solve(context, &a, &b, attributes<tnr_sparse_solve_attributes>(flags),
                                   &with.out_rows);
         }});
  }
  return all;
}

std::vector<Function> functions() {
  std::vector<Function> all;
  for (const auto& group :
       {conversions(), parts(), products(), masked_products(), sums(), reductions()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

struct Fault {
  bool is_major;
  std::size_t place;
  std::int64_t value;
};

// Every place with numbers below, just above and far above what may be there.
std::vector<Fault> faults_of(const SparseModel& model, tnr_dtype index_dtype) {
  const bool is_narrow = index_dtype == TNR_DTYPE_I32;
  const std::int64_t highest = is_narrow ? std::numeric_limits<std::int32_t>::max()
                                         : std::numeric_limits<std::int64_t>::max();
  const bool is_csc = model.format == TNR_SPARSE_FORMAT_CSC;
  const std::int64_t minor_extent = is_csc ? model.rows : model.cols / model.block_cols;
  const std::int64_t major_extent = model.format == TNR_SPARSE_FORMAT_COO
                                        ? model.rows
                                        : static_cast<std::int64_t>(model.minor.size()) + 1;
  std::vector<Fault> faults;
  for (const bool is_major : {false, true}) {
    const std::size_t count = (is_major ? model.major : model.minor).size();
    for (std::size_t place = 0; place < count; ++place) {
      const std::int64_t extent = is_major ? major_extent : minor_extent;
      for (const std::int64_t value : {std::int64_t{-1}, extent, highest, -highest - 1}) {
        faults.push_back({is_major, place, value});
      }
    }
  }
  return faults;
}

std::string array_of(tnr_sparse_format format, bool is_major) {
  if (format == TNR_SPARSE_FORMAT_COO) return is_major ? "row_indices" : "col_indices";
  if (format == TNR_SPARSE_FORMAT_CSC) return is_major ? "col_offsets" : "row_indices";
  return is_major ? "row_offsets" : "col_indices";
}

class SparseIndex : public testing::TestWithParam<tnr_sparse_format> {
 protected:
  // Every fault of a matrix in one function.
  void refuses_every(const Function& function, const SparseModel& model, tnr_dtype index_dtype,
                     tnr_context* context) {
    const auto call = [&](const SparseModel& with) {
      SparseArrays arrays(with, index_dtype);
      Dense dense(arrays.view());
      return function.call(context, arrays.view(), dense);
    };
    const bool is_empty = model.rows == 0 || model.cols == 0;
    const tnr_status answer = call(model);
    if (is_empty && answer != TNR_STATUS_OK) return;  // there is no least of no elements
    ASSERT_EQ(answer, TNR_STATUS_OK) << function.name << ": " << tnr_last_error()->message;
    for (const Fault& fault : faults_of(model, index_dtype)) {
      SparseModel wrong = model;
      (fault.is_major ? wrong.major : wrong.minor)[fault.place] = fault.value;
      const std::string words = array_of(model.format, fault.is_major) + "[" +
                                std::to_string(fault.place) + "] is " + std::to_string(fault.value);
      const std::string what = function.name + " of " + std::to_string(model.rows) + " by " +
                               std::to_string(model.cols) + ": " + words;
      ASSERT_STREQ(tnr_status_name(call(wrong)), "INVALID_ARGUMENT") << what;
      EXPECT_NE(std::string(tnr_last_error()->message).find(words), std::string::npos)
          << what << ", but: " << tnr_last_error()->message;
    }
  }
};

TEST_P(SparseIndex, OutOfRangeIsFoundAnywhere) {
  const tnr_context_options options = tenure::test::options(3);
  tnr_context* const threads = tnr_context_create(&options);
  const unsigned bit = 1u << (GetParam() - TNR_SPARSE_FORMAT_COO);
  for (const Function& function : functions()) {
    if ((function.takes & bit) == 0) continue;
    for (const auto& [rows, cols] : {std::pair{4, 4}, {4, 8}, {8, 4}, {0, 4}, {4, 0}, {0, 0}}) {
      if ((function.takes & kSquare) != 0 && rows != cols) continue;
      for (const tnr_dtype index_dtype : kIndexDtypes) {
        refuses_every(function, pattern(GetParam(), rows, cols), index_dtype, nullptr);
        refuses_every(function, pattern(GetParam(), rows, cols), index_dtype, threads);
      }
    }
  }
  tnr_context_release(threads);
}

// Four entries at the corners of what hardly has an end. Most need memory that no machine has; none
// may take that for a fault of the library's own.
TEST_P(SparseIndex, NoExtentIsInternal) {
  const tnr_sparse_format format = GetParam();
  const unsigned bit = 1u << (format - TNR_SPARSE_FORMAT_COO);
  constexpr std::int64_t kOne = 1;
  for (const std::int64_t huge : {kOne << 60, kOne << 62, INT64_MAX - 1}) {
    SparseModel model = pattern(format, 2, 2);
    const bool is_csc = format == TNR_SPARSE_FORMAT_CSC;
    (is_csc ? model.rows : model.cols) = huge;
    model.minor.back() = huge / model.block_cols - 1;
    for (const bool has_two : {false, true}) {
      if (has_two) {
        if (format != TNR_SPARSE_FORMAT_COO) break;  // offsets for so many would be lent
        model.rows = huge;
        model.major.back() = huge - 1;
      }
      for (const Function& function : functions()) {
        if ((function.takes & bit) == 0 || (function.takes & kSquare) != 0) continue;
        SparseArrays arrays(model, TNR_DTYPE_I64);
        Dense dense(arrays.view());
        const tnr_status answer = function.call(nullptr, arrays.view(), dense);
        EXPECT_STRNE(tnr_status_name(answer), "INTERNAL")
            << function.name << " of " << model.rows << " by " << model.cols << ": "
            << tnr_last_error()->message;
      }
    }
  }
}

// Batches of no matrices, whose extents no memory bounds.
TEST_P(SparseIndex, NoExtentOfABatchIsInternal) {
  const std::int64_t none = 0;
  for (const std::int64_t huge : {std::int64_t{1} << 60, INT64_MAX / 2 - 1, INT64_MAX - 1}) {
    const std::int64_t block = GetParam() == TNR_SPARSE_FORMAT_BSR ? 2 : 1;
    SparseArrays arrays({.format = GetParam(),
                         .rows = huge,
                         .cols = huge,
                         .block_rows = block,
                         .block_cols = block},
                        TNR_DTYPE_I64);
    tnr_sparse_view a = arrays.view();
    a.batch_offsets = flat_view(&none, TNR_DTYPE_I64, {1});
    if (block == 2) a.values.shape[1] = a.values.shape[2] = 2;
    Dense dense(a);
    dense.out_table = dense.out({0, huge, huge});
    for (const Function& function : functions()) {
      const tnr_status answer = function.call(nullptr, a, dense);
      EXPECT_STRNE(tnr_status_name(answer), "INTERNAL") << function.name;
      if (function.name == "to_dense") {
        EXPECT_EQ(answer, TNR_STATUS_OK) << tnr_last_error()->message;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryFormat, SparseIndex,
                         testing::Values(TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR,
                                         TNR_SPARSE_FORMAT_CSC, TNR_SPARSE_FORMAT_BSR));

}  // namespace
}  // namespace tenure::test
