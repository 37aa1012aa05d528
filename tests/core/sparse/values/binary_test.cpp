// Compares arithmetic of two sparse matrices with its definition, bit by bit.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <new>

#include "compressed_matrix.hpp"
#include "context_options.hpp"
#include "dense_model.hpp"
#include "expect_error.hpp"
#include "tenure/sparse.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

constexpr tnr_binary_op kOps[] = {TNR_BINARY_OP_ADD, TNR_BINARY_OP_SUB, TNR_BINARY_OP_MUL,
                                  TNR_BINARY_OP_MIN, TNR_BINARY_OP_MAX};

template <class T>
T apply(tnr_binary_op op, T a, T b) {
  using kernels::Byte;
  T out;
  const auto type =
      static_cast<kernels::Type>(kDtypeOf<T> == TNR_DTYPE_F64   ? kernels::Type::kF64
                                 : kDtypeOf<T> == TNR_DTYPE_F32 ? kernels::Type::kF32
                                 : kDtypeOf<T> == TNR_DTYPE_I64 ? kernels::Type::kI64
                                                                : kernels::Type::kI32);
  kernels::reference::binary(static_cast<unsigned>(op) - 1, type, reinterpret_cast<const Byte*>(&a),
                             reinterpret_cast<const Byte*>(&b), reinterpret_cast<Byte*>(&out));
  return out;
}

template <class T, class I>
std::map<std::int64_t, T> row_of(const CompressedMatrix<T, I>& matrix, std::int64_t row) {
  std::map<std::int64_t, T> entries;
  const auto at = static_cast<std::size_t>(row);
  for (auto k = static_cast<std::size_t>(matrix.offsets()[at]);
       k < static_cast<std::size_t>(matrix.offsets()[at + 1]); ++k) {
    entries[matrix.indices()[k]] = matrix.values()[k];
  }
  return entries;
}

template <class T, class I>
SparseContent result_of(tnr_binary_op op, const CompressedMatrix<T, I>& a,
                        const CompressedMatrix<T, I>& b) {
  CompressedMatrix<T, I> result(a.rows(), a.cols());
  for (std::int64_t row = 0; row < a.rows(); ++row) {
    const auto left = row_of(a, row);
    const auto right = row_of(b, row);
    std::map<std::int64_t, T> all = left;
    all.insert(right.begin(), right.end());
    for (const auto& [col, unused] : all) {
      const bool in_both = left.count(col) != 0 && right.count(col) != 0;
      if (op == TNR_BINARY_OP_MUL && !in_both) continue;
      const T x = left.count(col) != 0 ? left.at(col) : T{0};
      const T y = right.count(col) != 0 ? right.at(col) : T{0};
      result.add(col, apply(op, x, y));
    }
    result.end_row();
  }
  return content_of(result.view());
}

template <class T, class I>
void expect_arithmetic() {
  Random random(17);
  const TestContext three(3);
  constexpr std::int64_t kSizes[][2] = {{0, 0}, {0, 4}, {4, 0}, {1, 1}, {3, 300}, {40, 41}};
  for (const auto& [rows, cols] : kSizes) {
    for (const RowShape& a_shape : kRowShapes) {
      for (const RowShape& b_shape : kRowShapes) {
        if (a_shape.flags != kCoalesced || b_shape.flags != kCoalesced) continue;
        const auto a = random_matrix<T, I>(a_shape, rows, cols, random);
        const auto b = random_matrix<T, I>(b_shape, rows, cols, random);
        for (const tnr_binary_op op : kOps) {
          SCOPED_TRACE(testing::Message() << rows << " by " << cols << ", " << a_shape.name
                                          << " and " << b_shape.name << ", op " << op);
          const SparseContent expected = result_of(op, a, b);
          const Returned result(
              sparse_binary(kDefaultContext, op, a.view(kCoalesced), b.view(kCoalesced)));
          EXPECT_EQ(result.view().flags, kCoalesced);
          EXPECT_TRUE(result.content() == expected);
          const Returned shared(sparse_binary(three, op, a.view(kCoalesced, TNR_SPARSE_FORMAT_CSC),
                                              b.view(kCoalesced, TNR_SPARSE_FORMAT_CSC)));
          EXPECT_EQ(shared.view().rows, cols);
          EXPECT_TRUE(shared.content() == expected);
        }
      }
    }
  }
}

TEST(SparseBinary, IsItsDefinition) {
  expect_arithmetic<float, std::int32_t>();
  expect_arithmetic<double, std::int64_t>();
  expect_arithmetic<std::int32_t, std::int64_t>();
}

// Enough for several chunks, buffers that are full, and memory that is reserved.
TEST(SparseBinary, OfManyRowsHasTheSameBitsOnAnyThreads) {
  Random random(19);
  const TestContext three(3);
  const auto a = random_matrix<float, std::int32_t>(kRowShapes[6], 2000, 200, random);
  const auto b = random_matrix<float, std::int32_t>(kRowShapes[0], 2000, 200, random);
  for (const tnr_binary_op op : {TNR_BINARY_OP_SUB, TNR_BINARY_OP_MUL}) {
    const SparseContent expected = result_of(op, a, b);
    for (const Context* context : {&kDefaultContext, &static_cast<const Context&>(three)}) {
      const Returned result(sparse_binary(*context, op, a.view(kCoalesced), b.view(kCoalesced)));
      EXPECT_TRUE(result.content() == expected);
    }
  }
}

// Rows longer than the buffer of waiting values, and rows of equal patterns, which are added as
// runs and not entry by entry.
TEST(SparseBinary, LongRowsThatAreAlikeAndNot) {
  Random random(29);
  const auto full = random_matrix<float, std::int32_t>(kRowShapes[3], 3, 2500, random);
  const auto other = random_matrix<float, std::int32_t>(kRowShapes[3], 3, 2500, random);
  const auto third = random_matrix<float, std::int32_t>(kRowShapes[6], 3, 2500, random);
  for (const tnr_binary_op op : kOps) {
    for (const auto* b : {&other, &third}) {
      for (const auto& [left, right] : {std::pair(&full, b), std::pair(b, &full)}) {
        const Returned result(
            sparse_binary(kDefaultContext, op, left->view(kCoalesced), right->view(kCoalesced)));
        EXPECT_TRUE(result.content() == result_of(op, *left, *right)) << op;
      }
    }
  }
}

// Where memory cannot be reserved, many entries are counted first.
TEST(SparseBinary, OfManyEntriesInMemoryOfAnAllocator) {
  Random random(37);
  const auto a = random_matrix<double, std::int32_t>(kRowShapes[3], 120, 2500, random);
  const auto b = random_matrix<double, std::int32_t>(kRowShapes[6], 120, 2500, random);
  for (const std::uint32_t threads : {1u, 3u}) {
    tnr_context_options wanted = options(threads);
    wanted.allocate = [](void*, std::size_t bytes, std::size_t alignment) {
      return ::operator new(bytes, std::align_val_t(alignment), std::nothrow);
    };
    wanted.deallocate = [](void*, void* data, std::size_t, std::size_t alignment) {
      ::operator delete(data, std::align_val_t(alignment));
    };
    const ContextToken token = context_create(wanted);
    for (const tnr_binary_op op : {TNR_BINARY_OP_ADD, TNR_BINARY_OP_MUL}) {
      const ContextUse context(token);
      const Returned result(sparse_binary(context, op, a.view(kCoalesced), b.view(kCoalesced)));
      EXPECT_TRUE(result.content() == result_of(op, a, b)) << op << ", " << threads;
    }
    context_release(token);
  }
}

// Bytes and halves go by the width of their elements.
TEST(SparseBinary, NarrowValues) {
  const std::vector<std::int32_t> major = {0, 2, 3};
  const std::vector<std::int32_t> minor = {0, 2, 1};
  const std::vector<std::uint8_t> bytes = {250, 3, 7};
  const std::vector<std::uint16_t> halves = {0x3c00, 0x4000, 0x4200};  // 1, 2, 3 in f16
  CompressedMatrix<float, std::int32_t> shape(2, 3);
  tnr_sparse_view view = shape.view(kCoalesced);
  view.rows = 2;
  view.major = flat_view(major.data(), TNR_DTYPE_I32, {3});
  view.minor = flat_view(minor.data(), TNR_DTYPE_I32, {3});
  view.values = flat_view(bytes.data(), TNR_DTYPE_U8, {3});
  EXPECT_EQ(
      Returned(sparse_binary(kDefaultContext, TNR_BINARY_OP_ADD, view, view)).content().values,
      (std::vector<unsigned char>{244, 6, 14}));
  view.values = flat_view(halves.data(), TNR_DTYPE_F16, {3});
  EXPECT_EQ(
      Returned(sparse_binary(kDefaultContext, TNR_BINARY_OP_ADD, view, view)).content().values,
      (std::vector<unsigned char>{0x00, 0x40, 0x00, 0x44, 0x00, 0x46}));
}

// Flags decide what a result is, never which memory is touched.
TEST(SparseBinary, FalseFlagsTouchNothingElse) {
  Random random(3);
  const auto a = random_matrix<float, std::int32_t>(kRowShapes[1], 500, 60, random);
  for (const tnr_binary_op op : kOps) {
    sparse_release(sparse_binary(kDefaultContext, op, a.view(kCoalesced), a.view(kCoalesced)));
  }
}

TEST(SparseBinary, Refusals) {
  Random random(5);
  const auto binary = [](tnr_binary_op op, const tnr_sparse_view& a, const tnr_sparse_view& b) {
    sparse_release(sparse_binary(kDefaultContext, op, a, b));
  };
  auto a = random_matrix<float, std::int32_t>(kRowShapes[3], 4, 5, random);
  const auto b = random_matrix<float, std::int32_t>(kRowShapes[3], 5, 5, random);
  const tnr_sparse_view view = a.view(kCoalesced);
  expect_error(TNR_STATUS_UNSUPPORTED, {"div(0, 0) is not 0"},
               [&] { binary(TNR_BINARY_OP_DIV, view, view); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"99"},
               [&] { binary(static_cast<tnr_binary_op>(99), view, view); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a has 4 rows and 5 cols but b has 5 and 5"},
               [&] { binary(TNR_BINARY_OP_ADD, view, b.view(kCoalesced)); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b.flags is 0x1", "coalesce"},
               [&] { binary(TNR_BINARY_OP_ADD, view, a.view(TNR_SPARSE_SORTED)); });
  expect_error(TNR_STATUS_UNSUPPORTED, {"a.format is 2 but b.format is 3"},
               [&] { binary(TNR_BINARY_OP_ADD, view, a.view(kCoalesced, TNR_SPARSE_FORMAT_CSC)); });
  SparseArrays coo(coo_model(), TNR_DTYPE_I32);
  expect_error(TNR_STATUS_UNSUPPORTED, {"a.format is 1"},
               [&] { binary(TNR_BINARY_OP_ADD, coo.view(), coo.view()); });
  a.indices()[3] = 5;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.col_indices[3] is 5"},
               [&] { binary(TNR_BINARY_OP_ADD, view, view); });
}

}  // namespace
