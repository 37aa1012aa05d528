// Comparisons against their reference implementation, and their rules with literals.
#include <gtest/gtest.h>

#include <limits>

#include "arrays.hpp"
#include "expect_error.hpp"
#include "tenure/ops.hpp"

namespace tenure::test {
namespace {

namespace reference = kernels::reference;

constexpr tnr_compare_op kOps[] = {TNR_COMPARE_OP_EQ, TNR_COMPARE_OP_NE, TNR_COMPARE_OP_LT,
                                   TNR_COMPARE_OP_LE, TNR_COMPARE_OP_GT, TNR_COMPARE_OP_GE};

// The reference implementation has four comparisons; the other two exchange the operands.
Byte expected_of(tnr_compare_op op, Type type, const Byte* a, const Byte* b) {
  Byte truth = 9;
  if (op == TNR_COMPARE_OP_GT || op == TNR_COMPARE_OP_GE) {
    reference::compare(op == TNR_COMPARE_OP_GT ? 2 : 3, type, b, a, &truth);
  } else {
    reference::compare(static_cast<unsigned>(op) - 1, type, a, b, &truth);
  }
  return truth;
}

TEST(Compare, MatchesItsTwinOnEveryLayout) {
  Random random(11);
  for (const NamedType& type : kTypes) {
    for (const tnr_compare_op op : kOps) {
      for (const Shape& shape : shapes()) {
        for (const Arrangement arrangement : kReadable) {
          Array a(type.dtype, shape, arrangement, random);
          Array b(type.dtype, shape, kReadable[random() % std::size(kReadable)], random);
          Array out(TNR_DTYPE_BOOL8, shape, kWritable[random() % std::size(kWritable)], random);
          fill_with_bits(a, random);
          fill_with_numbers(b, type.type, random, Nans::kSome);
          if (random() % 2 == 0) fill_with_numbers(a, type.type, random, Nans::kSome);
          compare(kDefaultContext, op, a.view(), b.view(), out.out());
          EXPECT_TRUE(out.gaps_are_intact());
          for_each_index(out.view(), [&](const Index& index) {
            const auto rank = out.view().rank;
            ASSERT_EQ(*out.broadcast_element(index, rank),
                      expected_of(op, type.type, a.broadcast_element(index, rank),
                                  b.broadcast_element(index, rank)))
                << "op " << op << " of " << describe(a.view()) << " and " << describe(b.view());
          });
        }
      }
    }
  }
}

// Compares elements of every width into results of one byte, in tiles.
TEST(Compare, LargeTransposedOperandsMatchTheirTwin) {
  Random random(22);
  const Shape shape = {259, 301};
  for (const NamedType& type : kTypes) {
    Array a(type.dtype, shape, Arrangement::kRowMajor, random);
    Array b(type.dtype, shape, Arrangement::kColumnMajor, random);
    Array out(TNR_DTYPE_BOOL8, shape, Arrangement::kRowMajor, random);
    fill_with_numbers(a, type.type, random, Nans::kSome);
    fill_with_numbers(b, type.type, random, Nans::kSome);
    compare(kDefaultContext, TNR_COMPARE_OP_LT, a.view(), b.view(), out.out());
    for_each_index(out.view(), [&](const Index& index) {
      ASSERT_EQ(*out.broadcast_element(index, 2),
                expected_of(TNR_COMPARE_OP_LT, type.type, a.broadcast_element(index, 2),
                            b.broadcast_element(index, 2)));
    });
  }
}

TEST(Compare, WithANumberMatchesItsTwin) {
  Random random(12);
  for (const NamedType& type : kTypes) {
    Byte number[8] = {};
    const double one = 1;
    Byte one_bytes[8];
    std::memcpy(one_bytes, &one, sizeof one);
    reference::cast(Type::kF64, one_bytes, type.type, number);
    for (const tnr_compare_op op : kOps) {
      for (const Arrangement arrangement : kReadable) {
        Array a(type.dtype, {9, 11}, arrangement, random);
        Array out(TNR_DTYPE_BOOL8, {9, 11}, Arrangement::kShuffled, random);
        fill_with_numbers(a, type.type, random, Nans::kSome);
        compare(kDefaultContext, op, a.view(), scalar_of(TNR_DTYPE_F64, one), out.out());
        EXPECT_TRUE(out.gaps_are_intact());
        for_each_index(out.view(), [&](const Index& index) {
          ASSERT_EQ(*out.broadcast_element(index, 2),
                    expected_of(op, type.type, a.broadcast_element(index, 2), number));
        });
      }
    }
  }
}

TEST(Compare, IsFalseWhereNanTakesPartButForNotEqual) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Literal<float> a(TNR_DTYPE_F32, {nan, 1, nan});
  const Literal<float> b(TNR_DTYPE_F32, {1, nan, nan});
  Literal<std::uint8_t> out(TNR_DTYPE_BOOL8, {9, 9, 9});
  for (const tnr_compare_op op : kOps) {
    compare(kDefaultContext, op, a.view, b.view, out.out());
    const std::uint8_t expected = op == TNR_COMPARE_OP_NE ? 1 : 0;
    EXPECT_EQ(out.values, std::vector<std::uint8_t>(3, expected)) << "op " << op;
  }
}

TEST(Compare, ReadsEveryNonZeroByteAsTrue) {
  const Literal<std::uint8_t> a(TNR_DTYPE_BOOL8, {0, 2, 0, 255});
  const Literal<std::uint8_t> b(TNR_DTYPE_BOOL8, {0, 3, 1, 0});
  Literal<std::uint8_t> out(TNR_DTYPE_BOOL8, {9, 9, 9, 9});
  compare(kDefaultContext, TNR_COMPARE_OP_EQ, a.view, b.view, out.out());
  EXPECT_EQ(out.values, (std::vector<std::uint8_t>{1, 1, 0, 0}));
  compare(kDefaultContext, TNR_COMPARE_OP_LT, a.view, b.view, out.out());
  EXPECT_EQ(out.values, (std::vector<std::uint8_t>{0, 0, 1, 0}));
}

TEST(Compare, BroadcastsItsInputs) {
  std::vector<std::int32_t> memory = {1, 2, 3};
  const tnr_view row = view_of(memory.data(), 12, 0, TNR_DTYPE_I32, {{1, 1}, {3, 1}});
  const tnr_view column = view_of(memory.data(), 12, 0, TNR_DTYPE_I32, {{3, 1}, {1, 1}});
  std::vector<std::uint8_t> result(9, 9);
  const tnr_view_mut out{view_of(result.data(), 9, 0, TNR_DTYPE_BOOL8, {{3, 3}, {3, 1}})};
  compare(kDefaultContext, TNR_COMPARE_OP_LT, row, column, out);
  EXPECT_EQ(result, (std::vector<std::uint8_t>{0, 0, 0, 1, 0, 0, 1, 1, 0}));
}

TEST(Compare, MayWriteOverAnInputOfBool) {
  Literal<std::uint8_t> a(TNR_DTYPE_BOOL8, {0, 1, 7});
  const Literal<std::uint8_t> b(TNR_DTYPE_BOOL8, {0, 0, 1});
  compare(kDefaultContext, TNR_COMPARE_OP_EQ, a.view, b.view, a.out());
  EXPECT_EQ(a.values, (std::vector<std::uint8_t>{1, 0, 1}));
}

TEST(Compare, RefusesWhatDoesNotFitAndLeavesTheOutputUntouched) {
  const Literal<float> a(TNR_DTYPE_F32, {1, 2, 3});
  const Literal<double> other(TNR_DTYPE_F64, {1, 2, 3});
  Literal<std::uint8_t> out(TNR_DTYPE_BOOL8, {9, 9, 9});
  Literal<std::uint8_t> bytes(TNR_DTYPE_U8, {9, 9, 9});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b.dtype is f64", "a.dtype is f32"},
               [&] { compare(kDefaultContext, TNR_COMPARE_OP_EQ, a.view, other.view, out.out()); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out.dtype is u8", "must be bool8"},
               [&] { compare(kDefaultContext, TNR_COMPARE_OP_EQ, a.view, a.view, bytes.out()); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"op is 7"}, [&] {
    compare(kDefaultContext, static_cast<tnr_compare_op>(7), a.view, a.view, out.out());
  });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b is 2", "bool8"}, [&] {
    compare(kDefaultContext, TNR_COMPARE_OP_EQ, out.view, scalar_of(TNR_DTYPE_I32, 2), out.out());
  });
  tnr_view complex = other.view;
  complex.dtype = TNR_DTYPE_C64;
  expect_error(TNR_STATUS_UNSUPPORTED, {"lt does not take c64"},
               [&] { compare(kDefaultContext, TNR_COMPARE_OP_LT, complex, complex, out.out()); });
  EXPECT_EQ(out.values, (std::vector<std::uint8_t>{9, 9, 9}));
  EXPECT_EQ(bytes.values, (std::vector<std::uint8_t>{9, 9, 9}));
}

}  // namespace
}  // namespace tenure::test
