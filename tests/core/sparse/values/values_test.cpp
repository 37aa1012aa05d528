// Operations that keep a pattern: functions of entries, scaling, row softmax.
#include <gtest/gtest.h>

#include <cmath>

#include "compressed_matrix.hpp"
#include "dense_model.hpp"
#include "expect_error.hpp"
#include "tenure/sparse.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

// A matrix whose arrays are blobs.
template <class Matrix>
Returned held(const Matrix& matrix, std::uint32_t flags, tnr_sparse_format format) {
  tnr_sparse_view view = matrix.view(flags, format);
  for (tnr_view* part : {&view.major, &view.minor, &view.values}) {
    part->owner = blob_copy(kDefaultContext, part->base, part->size_bytes);
    part->base = part->data = blob_memory(part->owner).data;
  }
  const SparseToken token = sparse_create(view);
  for (const tnr_view* part : {&view.major, &view.minor, &view.values}) blob_release(part->owner);
  return Returned(token);
}

TEST(SparseUnary, SharesIndicesAndComputesValues) {
  CompressedMatrix<float, std::int32_t> matrix(2, 3);
  matrix.add(0, -4.0f);
  matrix.add(2, 9.0f);
  matrix.end_row();
  matrix.add(1, NAN);
  matrix.end_row();
  const Returned a = held(matrix, kCoalesced, TNR_SPARSE_FORMAT_CSR);
  struct Case {
    tnr_unary_op op;
    float expected[2];
  };
  for (const Case& c : {Case{TNR_UNARY_OP_NEG, {4, -9}}, Case{TNR_UNARY_OP_ABS, {4, 9}},
                        Case{TNR_UNARY_OP_RELU, {0, 9}}, Case{TNR_UNARY_OP_SQRT, {NAN, 3}}}) {
    const Returned result(sparse_unary(kDefaultContext, c.op, a.view()));
    EXPECT_EQ(result.view().major.data, a.view().major.data);
    EXPECT_EQ(result.view().minor.data, a.view().minor.data);
    EXPECT_NE(result.view().values.data, a.view().values.data);
    const auto* const values = static_cast<const float*>(result.view().values.data);
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(values[i] == c.expected[i] ||
                  (std::isnan(values[i]) && std::isnan(c.expected[i])))
          << c.op << ": " << values[i];
    }
    EXPECT_TRUE(std::isnan(values[2]));
  }
}

// Shared arrays live as long as their last holder.
TEST(SparseUnary, OutlivesWhatItSharesWith) {
  Random random(2);
  const auto matrix = random_matrix<double, std::int64_t>(kRowShapes[4], 9, 9, random);
  SparseToken result;
  {
    const Returned a = held(matrix, kCoalesced, TNR_SPARSE_FORMAT_CSC);
    result = sparse_unary(kDefaultContext, TNR_UNARY_OP_NEG, a.view());
  }
  const Returned kept(result);
  EXPECT_EQ(kept.content().minor, content_of(matrix.view()).minor);
}

TEST(SparseUnary, Refusals) {
  Random random(2);
  const auto matrix = random_matrix<float, std::int32_t>(kRowShapes[3], 4, 4, random);
  const Returned a = held(matrix, kCoalesced, TNR_SPARSE_FORMAT_CSR);
  expect_error(TNR_STATUS_UNSUPPORTED, {"exp(0) is not 0", "dense"},
               [&] { sparse_unary(kDefaultContext, TNR_UNARY_OP_EXP, a.view()); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.owner is 0"},
               [&] { sparse_unary(kDefaultContext, TNR_UNARY_OP_NEG, matrix.view()); });
  tnr_sparse_view part = a.view();
  part.rows = 2;
  part.major.shape[0] = 3;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"all of it"},
               [&] { sparse_unary(kDefaultContext, TNR_UNARY_OP_NEG, part); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"77"},
               [&] { sparse_unary(kDefaultContext, static_cast<tnr_unary_op>(77), a.view()); });
}

template <class T, class I>
void expect_scaling() {
  Random random(23);
  const TestContext two(2);
  for (const RowShape& shape : kRowShapes) {
    for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_CSC}) {
      for (const std::uint32_t axis : {0u, 1u}) {
        const auto original = random_matrix<T, I>(shape, 130, 90, random);
        auto scaled = original;
        const bool by_major = (axis == 0) == (format == TNR_SPARSE_FORMAT_CSR);
        // Every second one, so that strides are looked at.
        std::vector<T> factors(260);
        for (T& factor : factors) factor = random_value<T>(random);
        tnr_view factor_view = flat_view(factors.data(), kDtypeOf<T>, {by_major ? 130 : 90});
        factor_view.strides[0] = 2;
        factor_view.size_bytes = factors.size() * sizeof(T);
        sparse_scale(two, factor_view, axis, {scaled.view(shape.flags, format)});
        for (std::size_t row = 0; row < 130; ++row) {
          for (auto k = static_cast<std::size_t>(original.offsets()[row]);
               k < static_cast<std::size_t>(original.offsets()[row + 1]); ++k) {
            const std::size_t at = by_major ? row : static_cast<std::size_t>(original.indices()[k]);
            const T expected = original.values()[k] * factors[2 * at];
            EXPECT_EQ(std::memcmp(&scaled.values()[k], &expected, sizeof(T)), 0);
          }
        }
      }
    }
  }
}

TEST(SparseScale, IsItsDefinition) {
  expect_scaling<float, std::int32_t>();
  expect_scaling<std::int64_t, std::int64_t>();
}

TEST(SparseScale, Refusals) {
  Random random(2);
  auto a = random_matrix<float, std::int32_t>(kRowShapes[3], 4, 5, random);
  const std::vector<float> factors(5, 1.0f);
  const tnr_view five = flat_view(factors.data(), TNR_DTYPE_F32, {5});
  const auto scale = [&](const tnr_view& by, std::uint32_t axis) {
    sparse_scale(kDefaultContext, by, axis, {a.view()});
  };
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"axis is 2"}, [&] { scale(five, 2); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"factors.shape[0] is 5 but a.rows is 4"},
               [&] { scale(five, 0); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"factors.dtype is i32"},
               [&] { scale(flat_view(factors.data(), TNR_DTYPE_I32, {5}), 1); });
  expect_error(TNR_STATUS_ALIASED, {"factors"},
               [&] { scale(flat_view(a.values().data(), TNR_DTYPE_F32, {5}), 1); });
  a.indices()[9] = -7;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.col_indices[9] is -7"}, [&] { scale(five, 1); });
}

TEST(SparseSoftmax, RowsSumToOne) {
  Random random(31);
  const TestContext two(2);
  for (const RowShape& shape : kRowShapes) {
    const auto original = random_matrix<double, std::int32_t>(shape, 70, 50, random);
    auto result = original;
    sparse_softmax(two, {result.view(shape.flags)});
    for (std::size_t row = 0; row < 70; ++row) {
      const auto first = static_cast<std::size_t>(original.offsets()[row]);
      const auto last = static_cast<std::size_t>(original.offsets()[row + 1]);
      double largest = -INFINITY;
      for (std::size_t k = first; k < last; ++k) largest = std::max(largest, original.values()[k]);
      double sum = 0;
      for (std::size_t k = first; k < last; ++k) sum += std::exp(original.values()[k] - largest);
      for (std::size_t k = first; k < last; ++k) {
        EXPECT_NEAR(result.values()[k], std::exp(original.values()[k] - largest) / sum, 1e-14);
      }
    }
  }
}

TEST(SparseSoftmax, NaNFillsItsRowAndOthersStay) {
  CompressedMatrix<float, std::int32_t> matrix(3, 2);
  matrix.add(0, NAN);
  matrix.add(1, 1.0f);
  matrix.end_row();
  matrix.end_row();
  matrix.add(1, 1000.0f);
  matrix.end_row();
  sparse_softmax(kDefaultContext, {matrix.view(kCoalesced)});
  EXPECT_TRUE(std::isnan(matrix.values()[0]) && std::isnan(matrix.values()[1]));
  EXPECT_EQ(matrix.values()[2], 1.0f);
  expect_error(TNR_STATUS_UNSUPPORTED, {"a.format is 3 but must be CSR"}, [&] {
    sparse_softmax(kDefaultContext, {matrix.view(kCoalesced, TNR_SPARSE_FORMAT_CSC)});
  });
}

}  // namespace
