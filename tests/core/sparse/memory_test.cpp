// Memory follows the entries: of matrices with a few entries and a huge extent, no operation has
// more than three times its operands and its result at once, and a little for each thread.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "failing_allocator.hpp"
#include "memory/memory.hpp"
#include "sparse_arrays.hpp"
#include "tenure/packed.hpp"
#include "tenure/sparse.hpp"
#include "tenure/view.hpp"

namespace tenure::test {
namespace {

// An array of kHuge numbers has 8 MiB and more, too much for an operation on 200 entries.
constexpr std::int64_t kHuge = std::int64_t{1} << 21;
constexpr std::int64_t kRows = 50;
constexpr std::int64_t kEntries = 200;
// Buckets and the regions of larger memory, whatever the matrix.
constexpr long kAllowance = 4 << 20;

constexpr std::uint32_t kCoalesced = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;

long bytes_of(const tnr_view& view) { return static_cast<long>(view.size_bytes); }
long bytes_of(const tnr_sparse_view& view) {
  return bytes_of(view.major) + bytes_of(view.minor) + bytes_of(view.values);
}

// Bytes of the result; those of operands that are no matrix too.
using Call = std::function<long()>;

long given_up(SparseToken made) {
  const long bytes = bytes_of(sparse_view(made));
  sparse_release(made);
  return bytes;
}

// `most` gives the bytes that a call may take, by those of its result.
template <class Most>
void expect_memory(const std::string& name, const Most& most, const Call& call) {
  trim_memory();
  long result_bytes = 0;
  {
    const AllocationFault none(Failing::kOne, kNone);
    result_bytes = call();
  }
  EXPECT_LE(allocation_counts().peak_bytes, most(result_bytes) + kAllowance)
      << name << ": a result of " << result_bytes;
}

void expect_little_memory(const std::string& name, long operand_bytes, const Call& call) {
  const auto most = [=](long result_bytes) { return 3 * (operand_bytes + result_bytes); };
  expect_memory(name + ", operands of " + std::to_string(operand_bytes), most, call);
}

// 200 entries, anywhere, in the order that `format` demands or in none.
SparseModel model_of(tnr_sparse_format format, std::int64_t rows, std::int64_t cols,
                     bool in_order) {
  std::mt19937_64 random(7);
  const bool is_csc = format == TNR_SPARSE_FORMAT_CSC;
  const std::int64_t majors = is_csc ? cols : rows;
  const std::int64_t minors = is_csc ? rows : cols;
  SparseModel model{.format = format, .rows = rows, .cols = cols};
  // Each in a part of the minor extent of its own, so that no position comes twice.
  for (std::int64_t k = 0; k < kEntries; ++k) {
    const std::int64_t turn = in_order ? k : kEntries - 1 - k;
    model.minor.push_back(turn * (minors / kEntries) +
                          static_cast<std::int64_t>(random() % 2) * (minors / kEntries / 2));
    model.values.push_back(static_cast<float>(k % 17) - 8.0f);
  }
  if (format == TNR_SPARSE_FORMAT_COO) {
    for (std::int64_t k = 0; k < kEntries; ++k) {
      model.major.push_back((in_order ? k : kEntries - 1 - k) * (majors / kEntries));
    }
  } else {
    for (std::int64_t row = 0; row <= majors; ++row) {
      model.major.push_back(kEntries * row / majors);
    }
  }
  if (in_order) model.flags = kCoalesced;
  return model;
}

tnr_scalar number(float value) {
  tnr_scalar scalar = {TNR_DTYPE_F32, 0, {}};
  std::memcpy(scalar.bytes, &value, sizeof value);
  return scalar;
}

// A vector, or rows of 4, of one number that all of it repeats.
tnr_view broadcast(const float& one, std::vector<std::int64_t> shape) {
  const std::int64_t strides[2] = {0, 0};
  return make_view(&one, sizeof one, 0, TNR_DTYPE_F32, static_cast<std::uint32_t>(shape.size()),
                   shape.data(), strides);
}

SparseOptions pruning() {
  SparseOptions options = options_of(0);
  options.predicate = TNR_SPARSE_PREDICATE_GREATER;
  options.threshold = number(0);
  return options;
}

SparseOptions blocks(tnr_sparse_format format) {
  SparseOptions options = options_of(format);
  options.block_rows = options.block_cols = 2;
  return options;
}

struct Case {
  std::string name;
  Call call;
};

// Operations on COO and on compressed matrices; the result has no array of the huge extent.
std::vector<Case> cases_of_all(const tnr_sparse_view& a) {
  const Context& context = kDefaultContext;
  return {
      {"coalesce", [&] { return given_up(sparse_coalesce(context, a, TNR_SPARSE_COMBINE_SUM)); }},
      {"prune", [&] { return given_up(sparse_prune(context, a, pruning())); }},
      {"sort",
       [&] {
         return given_up(sparse_convert(context, a, options_of(a.format, TNR_CONVERT_SORT)));
       }},
      {"to wide indices",
       [&] {
         return given_up(sparse_convert(context, a, options_of(a.format, 0, TNR_DTYPE_I64)));
       }},
      {"to COO",
       [&] { return given_up(sparse_convert(context, a, options_of(TNR_SPARSE_FORMAT_COO))); }},
      {"to COO in order", [&] {
         return given_up(
             sparse_convert(context, a, options_of(TNR_SPARSE_FORMAT_COO, TNR_CONVERT_SORT)));
       }}};
}

class FewEntries : public testing::TestWithParam<std::tuple<tnr_dtype, bool>> {
 protected:
  [[nodiscard]] tnr_dtype index_dtype() const { return std::get<0>(GetParam()); }
  [[nodiscard]] bool in_order() const { return std::get<1>(GetParam()); }
};

TEST_P(FewEntries, OfCoordinates) {
  const std::int64_t extent =
      index_dtype() == TNR_DTYPE_I32 ? std::int64_t{1} << 28 : std::int64_t{1} << 62;
  SparseArrays arrays(model_of(TNR_SPARSE_FORMAT_COO, extent, extent, in_order()), index_dtype());
  for (const Case& one : cases_of_all(arrays.view())) {
    expect_little_memory(one.name, bytes_of(arrays.view()), one.call);
  }
}

TEST_P(FewEntries, TimesWhatIsRepeated) {
  const float one = 1;
  std::vector<float> out(static_cast<std::size_t>(kRows) * 4);
  for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR}) {
    SparseArrays arrays(model_of(format, kRows * 4, kHuge, in_order()), index_dtype());
    const tnr_sparse_view& a = arrays.view();
    for (const std::int64_t columns : {0, 3}) {
      std::vector<float> made(
          static_cast<std::size_t>(a.rows * std::max<std::int64_t>(1, columns)));
      const auto shape = [&](std::int64_t rows) {
        return columns == 0 ? std::vector<std::int64_t>{rows}
                            : std::vector<std::int64_t>{rows, columns};
      };
      expect_little_memory("matmul", bytes_of(a), [&] {
        sparse_matmul(kDefaultContext, number(1), a, TNR_ORIENTATION_AS_IS,
                      broadcast(one, shape(kHuge)), number(0),
                      {flat_view(made.data(), TNR_DTYPE_F32, shape(a.rows))});
        return static_cast<long>(made.size() * sizeof(float));
      });
    }
  }
}

// Rows of a huge extent, and of CSC columns.
TEST_P(FewEntries, OfRows) {
  const Context& context = kDefaultContext;
  for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_CSC}) {
    const bool is_csr = format == TNR_SPARSE_FORMAT_CSR;
    SparseArrays arrays(
        model_of(format, is_csr ? kRows : kHuge, is_csr ? kHuge : kRows, in_order()),
        index_dtype());
    tnr_sparse_view& a = arrays.view();
    std::vector<Case> cases = cases_of_all(a);
    const std::int64_t list[3] = {1, 0, 7};
    const tnr_view few = flat_view(list, TNR_DTYPE_I64, {3});
    std::vector<float> sums(kRows);
    float sum;
    const float factor = 1;
    const tnr_view repeated = broadcast(factor, {kHuge});
    const std::uint32_t across = is_csr ? 2 : 1;
    cases.push_back(
        {"few rows", [&] { return given_up(sparse_select(context, a, &few, nullptr)); }});
    cases.push_back(
        {"few columns", [&] { return given_up(sparse_select(context, a, nullptr, &few)); }});
    cases.push_back({"slice", [&] { return given_up(sparse_slice(context, a, 1, 40, 1, 40)); }});
    cases.push_back({"triangle", [&] {
                       return given_up(sparse_triangular(context, TNR_TRIANGLE_UPPER, a, 0));
                     }});
    cases.push_back(
        {"joined", [&] {
           const tnr_sparse_view parts[] = {a, a};
           return given_up(sparse_concat(
               context, is_csr ? TNR_SPARSE_JOIN_ROWS : TNR_SPARSE_JOIN_COLS, parts, 2));
         }});
    cases.push_back({"sum of rows", [&] {
                       sparse_reduce(context, TNR_REDUCE_OP_SUM, a, across,
                                     {flat_view(sums.data(), TNR_DTYPE_F32, {kRows})});
                       return 200L;
                     }});
    cases.push_back({"sum of all", [&] {
                       sparse_reduce(context, TNR_REDUCE_OP_SUM, a, 3,
                                     {flat_view(&sum, TNR_DTYPE_F32, {})});
                       return 4L;
                     }});
    cases.push_back({"diagonal", [&] {
                       sparse_diagonal(a, {flat_view(sums.data(), TNR_DTYPE_F32, {kRows})});
                       return 200L;
                     }});
    cases.push_back({"scale", [&] {
                       sparse_scale(context, repeated, is_csr ? 1 : 0, tnr_sparse_view_mut{a});
                       return 0L;
                     }});
    if (is_csr) {
      cases.push_back(
          {"top 2", [&] { return given_up(sparse_top_k(context, a, 2, TNR_SPARSE_ORDER_VALUE)); }});
      cases.push_back({"softmax", [&] {
                         sparse_softmax(context, tnr_sparse_view_mut{a});
                         return 0L;
                       }});
      cases.push_back(
          {"to BSR and back to COO", [&] {
             const SparseToken made = sparse_convert(context, a, blocks(TNR_SPARSE_FORMAT_BSR));
             const tnr_sparse_view view = sparse_view(made);
             const long bytes =
                 bytes_of(view) +
                 given_up(sparse_convert(context, view, options_of(TNR_SPARSE_FORMAT_COO)));
             sparse_release(made);
             return bytes;
           }});
    }
    if (in_order()) {
      for (const tnr_binary_op op : {TNR_BINARY_OP_ADD, TNR_BINARY_OP_MUL, TNR_BINARY_OP_MAX}) {
        cases.push_back({"binary", [&, op] { return given_up(sparse_binary(context, op, a, a)); }});
      }
      for (const tnr_reduce_op op : {TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_COUNT}) {
        cases.push_back(
            {"max or count of rows", [&, op] {
               std::vector<std::int64_t> out(kRows);
               const tnr_dtype dtype = op == TNR_REDUCE_OP_MAX ? TNR_DTYPE_F32 : TNR_DTYPE_I64;
               sparse_reduce(context, op, a, across, {flat_view(out.data(), dtype, {kRows})});
               return 400L;
             }});
      }
      for (const tnr_sparse_norm_kind kind :
           {TNR_SPARSE_NORM_KIND_ONE, TNR_SPARSE_NORM_KIND_INFINITY,
            TNR_SPARSE_NORM_KIND_FROBENIUS}) {
        cases.push_back({"norm", [&, kind] {
                           static_cast<void>(sparse_norm(context, kind, a));
                           return 8L;
                         }});
      }
    }
    for (const Case& one : cases) {
      expect_little_memory((is_csr ? "CSR, " : "CSC, ") + one.name, bytes_of(a), one.call);
    }
  }
}

// All conversions of a matrix, by name.
std::vector<Case> conversions(const tnr_sparse_view& a) {
  std::vector<Case> cases;
  for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR,
                                         TNR_SPARSE_FORMAT_CSC, TNR_SPARSE_FORMAT_BSR}) {
    for (const std::uint32_t flags : {0u, static_cast<std::uint32_t>(TNR_CONVERT_SORT)}) {
      SparseOptions options = format == TNR_SPARSE_FORMAT_BSR ? blocks(format) : options_of(format);
      options.flags = flags;
      cases.push_back(
          {"format " + std::to_string(a.format) + " to " + std::to_string(format) +
               (flags != 0 ? ", sorted" : ""),
           [&a, options] { return given_up(sparse_convert(kDefaultContext, a, options)); }});
    }
  }
  return cases;
}

// Matrices of 50 columns or rows in each format. Some have an array of the other extent.
std::vector<SparseModel> long_models(bool in_order) {
  std::vector<SparseModel> models;
  for (const tnr_sparse_format format :
       {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_CSC}) {
    for (const bool are_rows : {false, true}) {
      models.push_back(
          model_of(format, are_rows ? kHuge : kRows, are_rows ? kRows : kHuge, in_order));
    }
  }
  return models;
}

// No array but the result's is of the huge extent.
TEST_P(FewEntries, AreConvertedInTheMemoryOfTheResult) {
  // A little for each entry.
  const auto little = [](long result_bytes) { return result_bytes + 100 * kEntries; };
  for (const SparseModel& model : long_models(in_order())) {
    SparseArrays arrays(model, index_dtype());
    for (const Case& of : conversions(arrays.view())) {
      expect_memory(of.name, little, of.call);
    }
    const SparseToken made =
        sparse_convert(kDefaultContext, arrays.view(), blocks(TNR_SPARSE_FORMAT_BSR));
    const tnr_sparse_view bsr = sparse_view(made);
    for (const Case& of : conversions(bsr)) {
      expect_memory(of.name, little, of.call);
    }
    sparse_release(made);
  }
}

// Where an array of the huge extent cannot be had, nothing else is done before.
TEST_P(FewEntries, AreRefusedBeforeWork) {
  const long array_bytes = kHuge / 2 * (index_dtype() == TNR_DTYPE_I32 ? 4 : 8);
  for (const SparseModel& model : long_models(in_order())) {
    SparseArrays arrays(model, index_dtype());
    for (const Case& of : conversions(arrays.view())) {
      SCOPED_TRACE(of.name);
      if (of.call() < array_bytes) continue;
      trim_memory();
      Error error(TNR_STATUS_OK, "");
      {
        const LimitedAllocations limited(static_cast<unsigned long>(array_bytes) - 1);
        const AllocationFault none(Failing::kOne, kNone);
        try {
          (void)of.call();
        } catch (const Error& refusal) {
          error = refusal;
        }
      }
      EXPECT_EQ(error.status(), TNR_STATUS_OUT_OF_MEMORY);
      EXPECT_NE(std::string(error.message()).find(" bytes could not be allocated"),
                std::string::npos)
          << error.message();
      EXPECT_LE(allocation_counts().peak_bytes, kAllowance / 4);
    }
  }
}

// Where operand or result have an array of the huge extent, what a call needs follows it.
TEST_P(FewEntries, OfManyRows) {
  const Context& context = kDefaultContext;
  SparseArrays arrays(model_of(TNR_SPARSE_FORMAT_CSR, kHuge, kHuge, in_order()), index_dtype());
  tnr_sparse_view& a = arrays.view();
  std::vector<Case> cases = cases_of_all(a);
  const std::int64_t list[3] = {1, 0, 7};
  const tnr_view few = flat_view(list, TNR_DTYPE_I64, {3});
  std::vector<float> dense(kHuge);
  const tnr_view_mut out = {flat_view(dense.data(), TNR_DTYPE_F32, {kHuge})};
  const long dense_bytes = bytes_of(out.view);
  const float one = 1;
  for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_CSC, TNR_SPARSE_FORMAT_BSR}) {
    cases.push_back(
        {"to another format", [&, format] {
           return given_up(sparse_convert(
               context, a, format == TNR_SPARSE_FORMAT_BSR ? blocks(format) : options_of(format)));
         }});
  }
  cases.push_back(
      {"top 2", [&] { return given_up(sparse_top_k(context, a, 2, TNR_SPARSE_ORDER_VALUE)); }});
  cases.push_back(
      {"few columns", [&] { return given_up(sparse_select(context, a, nullptr, &few)); }});
  cases.push_back({"slice", [&] { return given_up(sparse_slice(context, a, 0, kHuge, 1, 40)); }});
  for (const tnr_orientation orientation : {TNR_ORIENTATION_AS_IS, TNR_ORIENTATION_TRANSPOSED}) {
    cases.push_back({"matmul", [&, orientation] {
                       sparse_matmul(context, number(2), a, orientation, broadcast(one, {kHuge}),
                                     number(1), out);
                       return dense_bytes;
                     }});
  }
  for (const std::uint32_t axes : {1u, 2u}) {
    cases.push_back({"sum", [&, axes] {
                       sparse_reduce(context, TNR_REDUCE_OP_SUM, a, axes, out);
                       return dense_bytes;
                     }});
  }
  if (in_order()) {
    cases.push_back(
        {"add", [&] { return given_up(sparse_binary(context, TNR_BINARY_OP_ADD, a, a)); }});
    cases.push_back({"product", [&] { return given_up(sparse_product(context, a, a)); }});
    cases.push_back({"masked", [&] { return given_up(sparse_product_masked(context, a, a, a)); }});
    cases.push_back({"max", [&] {
                       sparse_reduce(context, TNR_REDUCE_OP_MAX, a, 1, out);
                       return dense_bytes;
                     }});
    for (const tnr_sparse_norm_kind kind :
         {TNR_SPARSE_NORM_KIND_ONE, TNR_SPARSE_NORM_KIND_INFINITY}) {
      cases.push_back({"norm", [&, kind] {
                         static_cast<void>(sparse_norm(context, kind, a));
                         return 8L;
                       }});
    }
  }
  for (const Case& of : cases) {
    expect_little_memory("many rows, " + of.name, bytes_of(a), of.call);
  }
}

INSTANTIATE_TEST_SUITE_P(SparseMemory, FewEntries,
                         testing::Combine(testing::Values(TNR_DTYPE_I32, TNR_DTYPE_I64),
                                          testing::Bool()));

}  // namespace
}  // namespace tenure::test
