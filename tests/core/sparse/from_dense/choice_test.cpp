// Compares the largest elements of rows, and the elements that dropout leaves of a matrix, with
// plain loops; under each instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "arrays.hpp"
#include "compressed_matrix.hpp"
#include "dense_model.hpp"
#include "expect_error.hpp"
#include "random_model.hpp"
#include "tenure/sparse.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;
using test::Random;

// Few different numbers, so that many are equal, and some NaN and zeros of both signs.
void fill_with_equals(Array& array, Type type, Random& random) {
  for (Byte* const element : array.elements()) {
    double value = static_cast<double>(random() % 41) - (type < Type::kU8 ? 20 : 0);
    if (is_float(type) && random() % 20 == 0) value = std::nan("");
    if (is_float(type) && random() % 20 == 0) value = -0.0;
    Byte bytes[8];
    std::memcpy(bytes, &value, sizeof value);
    kernels::reference::cast(Type::kF64, bytes, type, element);
  }
}

double number_of(Type type, const Byte* element) {
  Byte bytes[8];
  kernels::reference::cast(type, element, Type::kF64, bytes);
  double value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// Each row's columns, sorted by their elements; the first k of them.
std::vector<bool> top_k_of(const std::vector<Byte*>& elements, std::int64_t rows, std::int64_t cols,
                           std::int64_t k, tnr_sparse_order order, Type type) {
  std::vector<bool> kept(elements.size());
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<std::int64_t> places(static_cast<std::size_t>(cols));
    std::iota(places.begin(), places.end(), row * cols);
    std::vector<double> keys(static_cast<std::size_t>(cols));
    for (std::size_t col = 0; col < keys.size(); ++col) {
      const double value = number_of(type, elements[static_cast<std::size_t>(row * cols) + col]);
      keys[col] = order == TNR_SPARSE_ORDER_MAGNITUDE ? std::fabs(value) : value;
    }
    const auto key = [&](std::int64_t place) {
      return keys[static_cast<std::size_t>(place - row * cols)];
    };
    std::sort(places.begin(), places.end(), [&](std::int64_t a, std::int64_t b) {
      if (std::isnan(key(a)) != std::isnan(key(b))) return std::isnan(key(b));
      if (!std::isnan(key(a)) && key(a) != key(b)) return key(a) > key(b);
      return a < b;
    });
    for (std::int64_t i = 0; i < k; ++i)
      kept[static_cast<std::size_t>(places[static_cast<std::size_t>(i)])] = true;
  }
  return kept;
}

std::vector<const Byte*> constant(const std::vector<Byte*>& elements) {
  return {elements.begin(), elements.end()};
}

TEST(SparseFromDenseTopK, IsWhatSortingFinds) {
  Random random(8);
  const TestContext three(3);
  for (const NamedType type : kTypes) {
    if (type.type == Type::kI64 || type.type == Type::kU64 || type.type == Type::kBool8) continue;
    for (const Shape& shape : {Shape{0, 5}, {5, 0}, {1, 1}, {7, 3}, {20, 65}, {3, 2500}}) {
      Array dense(type.dtype, shape, kReadable[random() % std::size(kReadable)], random);
      fill_with_equals(dense, type.type, random);
      const std::vector<Byte*> elements = dense.elements();
      for (const std::int64_t k : {std::int64_t{0}, shape[1] / 3, shape[1]}) {
        for (const tnr_sparse_order order : {TNR_SPARSE_ORDER_VALUE, TNR_SPARSE_ORDER_MAGNITUDE}) {
          SCOPED_TRACE(testing::Message() << test::describe(dense.view()) << ", k " << k);
          const tnr_dtype index = random() % 2 == 0 ? TNR_DTYPE_I64 : tnr_dtype{0};
          const Returned result(sparse_from_dense_top_k(three, dense.view(), k, order, index));
          const auto kept = top_k_of(elements, shape[0], shape[1], k, order, type.type);
          EXPECT_TRUE(result.content() == model_of(TNR_SPARSE_FORMAT_CSR, shape[0], shape[1],
                                                   constant(elements), kept,
                                                   element_size(type.dtype)));
          EXPECT_EQ(result.view().flags, kCoalesced);
          EXPECT_EQ(result.view().minor.dtype, index == 0 ? TNR_DTYPE_I32 : TNR_DTYPE_I64);
        }
      }
    }
  }
}

TEST(SparseFromDenseTopK, OfManyRowsIsTheSameOnAnyThreads) {
  Random random(9);
  Array dense(TNR_DTYPE_F32, {300, 901}, Arrangement::kRowMajor, random);
  fill_with_equals(dense, Type::kF32, random);
  const auto top = [&](const Context& context) {
    return Returned(
               sparse_from_dense_top_k(context, dense.view(), 17, TNR_SPARSE_ORDER_MAGNITUDE, 0))
        .content();
  };
  const SparseContent alone = top(kDefaultContext);
  EXPECT_TRUE(alone == top(TestContext(2)));
  EXPECT_TRUE(alone == top(TestContext(5)));
}

TEST(SparseFromDenseTopK, RefusesWhatHasNoOrder) {
  const std::int64_t wide[6] = {};
  const float numbers[6] = {};
  const tnr_view dense = flat_view(numbers, TNR_DTYPE_F32, {2, 3});
  const auto top = [](const tnr_view& view, std::int64_t k, tnr_sparse_order order,
                      tnr_dtype index) {
    sparse_release(sparse_from_dense_top_k(kDefaultContext, view, k, order, index));
  };
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"k is 4", "dense.shape[1], which is 3"},
               [&] { top(dense, 4, TNR_SPARSE_ORDER_VALUE, 0); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"k is -1"},
               [&] { top(dense, -1, TNR_SPARSE_ORDER_VALUE, 0); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"order is 7"}, [&] { top(dense, 1, 7, 0); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"index_dtype is f32 but must be i32 or i64"},
               [&] { top(dense, 1, TNR_SPARSE_ORDER_VALUE, TNR_DTYPE_F32); });
  expect_error(TNR_STATUS_UNSUPPORTED, {"top k does not take values of i64"},
               [&] { top(flat_view(wide, TNR_DTYPE_I64, {2, 3}), 1, TNR_SPARSE_ORDER_VALUE, 0); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"dense.rank is 1 but must be 2"},
               [&] { top(flat_view(numbers, TNR_DTYPE_F32, {6}), 1, TNR_SPARSE_ORDER_VALUE, 0); });
}

// ---- dropout ----

SparseContent dropout_of(Array& dense, NamedType type, double probability, std::uint64_t seed) {
  const double scale = 1 / (1 - probability);
  Byte bytes[8];
  std::memcpy(bytes, &scale, sizeof scale);
  Byte factor[8];
  kernels::reference::cast(Type::kF64, bytes, type.type, factor);
  const std::vector<Byte*> elements = dense.elements();
  std::vector<Byte> scaled(elements.size() * 8);
  std::vector<const Byte*> values;
  std::vector<bool> kept;
  std::uint64_t place = 0;
  for (const Byte* const element : elements) {
    const bool stays = word_of_place(seed, place++) >= probability * 0x1p32;
    constexpr Byte kZeros[8] = {};
    kept.push_back(stays &&
                   is_entry(TNR_SPARSE_PREDICATE_NON_ZERO, 0, type.type, element, kZeros, false));
    Byte* const value = scaled.data() + values.size() * 8;
    kernels::reference::binary(TNR_BINARY_OP_MUL - 1, type.type, element, factor, value);
    values.push_back(value);
  }
  return model_of(TNR_SPARSE_FORMAT_CSR, dense.view().shape[0], dense.view().shape[1], values, kept,
                  element_size(type.dtype));
}

TEST(SparseFromDenseDropout, IsWhatALoopDrops) {
  Random random(8);
  for (const NamedType type : kTypes) {
    if (!is_float(type.type)) continue;
    for (const Shape& shape : {Shape{0, 5}, {5, 0}, {1, 1}, {7, 3}, {63, 65}, {3, 2500}}) {
      for (const double probability : {0.0, 0.25, 0.5, 0.9}) {
        Array dense(type.dtype, shape, kReadable[random() % std::size(kReadable)], random);
        fill_with_equals(dense, type.type, random);
        const std::uint64_t seed = random();
        const tnr_dtype index = random() % 2 == 0 ? TNR_DTYPE_I64 : tnr_dtype{0};
        const Returned result(
            sparse_from_dense_dropout(kDefaultContext, dense.view(), probability, seed, index));
        EXPECT_TRUE(result.content() == dropout_of(dense, type, probability, seed))
            << test::describe(dense.view()) << ", " << probability;
        EXPECT_EQ(result.view().flags, kCoalesced);
      }
    }
  }
}

// The matrix is read once, in chunks. About the requested share remains, and another choice for
// another seed.
TEST(SparseFromDenseDropout, OfManyIsTheSameOnAnyThreads) {
  Random random(9);
  const Shape shape = {7, 160'003};
  Array dense(TNR_DTYPE_F32, shape, Arrangement::kRowMajor, random);
  for (Byte* const element : dense.elements()) {
    const float one = 1;
    std::memcpy(element, &one, sizeof one);
  }
  const auto dropout = [&](const Context& context, std::uint64_t seed) {
    return Returned(sparse_from_dense_dropout(context, dense.view(), 0.3, seed, 0)).content();
  };
  const SparseContent alone = dropout(kDefaultContext, 5);
  EXPECT_TRUE(alone == dropout_of(dense, {Type::kF32, TNR_DTYPE_F32}, 0.3, 5));
  EXPECT_TRUE(alone == dropout(TestContext(2), 5));
  EXPECT_TRUE(alone == dropout(TestContext(3), 5));
  EXPECT_FALSE(alone == dropout(kDefaultContext, 6));
  const double share =
      static_cast<double>(alone.minor.size()) / static_cast<double>(shape[0] * shape[1]);
  EXPECT_NEAR(share, 0.7, 0.003);
}

TEST(SparseFromDenseDropout, RefusesWhatIsNoProbability) {
  const float numbers[6] = {};
  const tnr_view dense = flat_view(numbers, TNR_DTYPE_F32, {2, 3});
  const auto dropout = [](const tnr_view& view, double probability, tnr_dtype index) {
    sparse_release(sparse_from_dense_dropout(kDefaultContext, view, probability, 1, index));
  };
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"probability is 1 but must be at least 0 and below 1"},
               [&] { dropout(dense, 1, 0); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"probability is -0.5"},
               [&] { dropout(dense, -0.5, 0); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"probability is nan"},
               [&] { dropout(dense, std::nan(""), 0); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"index_dtype is f32"},
               [&] { dropout(dense, 0.5, TNR_DTYPE_F32); });
  expect_error(TNR_STATUS_UNSUPPORTED, {"dropout does not take i32"},
               [&] { dropout(flat_view(numbers, TNR_DTYPE_I32, {2, 3}), 0.5, 0); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"1 / (1 - probability)", "f16"},
               [&] { dropout(flat_view(numbers, TNR_DTYPE_F16, {2, 3}), 0.99999, 0); });
}

}  // namespace
