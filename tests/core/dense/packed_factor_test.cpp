// Products by a packed factor: the bits of the same product by the factor itself.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "arrays.hpp"
#include "dense_factors.hpp"
#include "expect_error.hpp"
#include "tenure/counters.hpp"
#include "tenure/factor.hpp"
#include "tenure/ops.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

tnr_scalar whole(std::int8_t value) { return scalar_of(TNR_DTYPE_I8, value); }

Arrangement any_of(const Arrangement (&arrangements)[5], Random& random) {
  return arrangements[random() % 5];
}

class PackedFactor : public testing::TestWithParam<Factors> {
 protected:
  // Compares a call that takes `b` with a call that takes the packed `b`.
  void expect_same(const Shape& a_shape, const Shape& b_shape, const Shape& out_shape,
                   const Context& context) {
    const Factors& of = GetParam();
    Array a(of.a, a_shape, any_of(kWritable, random), random);
    Array b(of.b, b_shape, any_of(kWritable, random), random);
    fill(a, random);
    fill(b, random);
    const Arrangement arrangement = any_of(kWritable, random);
    const std::uint64_t seed = random();
    Random layout(seed);
    Random same_layout(seed);
    Array out(of.out, out_shape, arrangement, layout);
    Array expected(of.out, out_shape, arrangement, same_layout);
    fill(out, layout);
    fill(expected, same_layout);
    Array bias(of.out, {b_shape[1]}, Arrangement::kGaps, random);
    fill(bias, random);
    tnr_matmul_attributes with = {};
    if (random() % 2 == 0) with.bias = &bias.view();
    if (part_of(of.out).dtype == of.out && random() % 2 == 0) with.activation = TNR_UNARY_OP_RELU;
    if (part_of(of.out).dtype == of.out && random() % 2 == 0) {
      with.flags = TNR_EPILOGUE_CLAMP;
      with.low = -2;
      with.high = 5;
    }
    const tnr_scalar alpha = whole(random() % 2 == 0 ? 1 : -3);
    const tnr_scalar beta = whole(random() % 2 == 0 ? 0 : 2);
    matmul(kDefaultContext, alpha, a.view(), b.view(), beta, expected.out(), with);
    factor_matmul(context, alpha, a.view(), Packed(b.view(), of.a, context), beta, out.out(), with);
    ASSERT_EQ(out.snapshot(), expected.snapshot())
        << describe(a.view()) << " by " << describe(b.view()) << " to " << describe(out.view());
  }

  Random random{1};
  const TestContext two{2};
};

INSTANTIATE_TEST_SUITE_P(Dtypes, PackedFactor, testing::ValuesIn(kFactors),
                         [](const auto& test) { return std::string(test.param.name); });

// Remainders of panels, and blocks of depths and of columns of every dtype.
TEST_P(PackedFactor, GivesTheBitsOfTheFactor) {
  constexpr std::int64_t kExtents[][3] = {
      {1, 1, 1},     {1, 1, 0},      {0, 5, 3},      {3, 0, 5},      {4, 3, 0},     {1, 40, 33},
      {40, 1, 33},   {5, 9, 7},      {14, 32, 64},   {15, 33, 65},   {29, 97, 257}, {70, 41, 515},
      {8, 64, 1025}, {33, 70, 70},   {20, 2090, 60}, {1030, 19, 70}, {2, 31, 1500}, {25, 2100, 30},
      {3, 33, 4096}, {30, 70, 4100}, {16, 70, 700},  {24, 45, 900},  {6, 97, 1030}};
  for (const auto& [rows, columns, depth] : kExtents) {
    for (int i = 0; i < 2; ++i) {
      expect_same({rows, depth}, {depth, columns}, {rows, columns},
                  i % 2 == 0 ? two : kDefaultContext);
      if (HasFatalFailure()) return;
    }
  }
}

// More than the caches hold, which is fetched ahead.
TEST(FarFactor, GivesTheBitsOfTheFactor) {
  constexpr std::int64_t kDepth = 4150;
  constexpr std::int64_t kColumns = 2060;
  std::minstd_rand random(1);
  const auto numbers = [&](std::int64_t count) {
    std::vector<float> made(static_cast<std::size_t>(count));
    for (float& number : made) number = static_cast<float>(random()) - 1.1e9f;
    return made;
  };
  const auto matrix = [](const std::vector<float>& of, std::int64_t rows, std::int64_t columns) {
    return view_of(of.data(), of.size() * sizeof(float), 0, TNR_DTYPE_F32,
                   {{rows, columns}, {columns, 1}});
  };
  const std::vector<float> right = numbers(kDepth * kColumns);
  const tnr_view b = matrix(right, kDepth, kColumns);
  const Packed packed(b);
  for (const std::int64_t rows : {1, 4, 7, 24}) {
    const std::vector<float> left = numbers(rows * kDepth);
    const tnr_view a = matrix(left, rows, kDepth);
    std::vector<float> expected = numbers(rows * kColumns);
    std::vector<float> out = numbers(rows * kColumns);
    matmul(kDefaultContext, whole(1), a, b, whole(0), {matrix(expected, rows, kColumns)});
    factor_matmul(kDefaultContext, whole(1), a, packed, whole(0), {matrix(out, rows, kColumns)});
    EXPECT_EQ(out, expected) << rows;
  }
}

TEST_P(PackedFactor, TakesVectorsAndBatches) {
  for (int i = 0; i < 3; ++i) {
    const Context& context = i % 2 == 0 ? two : kDefaultContext;
    expect_same({50}, {50, 33}, {33}, context);
    expect_same({3, 1, 50}, {50, 33}, {3, 1, 33}, context);
    expect_same({2, 1, 7, 50}, {50, 20}, {2, 3, 7, 20}, context);
    expect_same({30, 20, 50}, {50, 40}, {30, 20, 40}, context);
    if (HasFatalFailure()) return;
  }
}

TEST_P(PackedFactor, SaysItsShapeAndSize) {
  const Array b(GetParam().b, {70, 33}, Arrangement::kGaps, random);
  const tnr_factor_info info = factor_describe(Packed(b.view(), GetParam().a));
  EXPECT_EQ(info.dtype, GetParam().b);
  EXPECT_EQ(info.a_dtype, GetParam().a);
  EXPECT_EQ(info.rows, 70);
  EXPECT_EQ(info.cols, 33);
  EXPECT_GE(info.size_bytes, 70 * 33 * element_size(GetParam().b));
  const Array none(GetParam().b, {0, 33}, Arrangement::kRowMajor, random);
  EXPECT_EQ(factor_describe(Packed(none.view())).size_bytes, 0);
}

// A call holds the factor; its maker may write `b` and release the handle meanwhile.
TEST_P(PackedFactor, IsSharedByThreads) {
  const Factors& of = GetParam();
  Array a(of.a, {9, 600}, Arrangement::kRowMajor, random);
  Array b(of.b, {600, 130}, Arrangement::kRowMajor, random);
  fill(a, random);
  fill(b, random);
  Array expected(of.out, {9, 130}, Arrangement::kRowMajor, random);
  matmul(kDefaultContext, whole(1), a.view(), b.view(), whole(0), expected.out());
  const FactorToken factor = factor_create(kDefaultContext, b.view(), of.a);
  fill(b, random);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    factor_retain(factor);
    threads.emplace_back([&, i] {
      Random own(static_cast<std::uint64_t>(i));
      for (int call = 0; call < 20; ++call) {
        Array out(of.out, {9, 130}, Arrangement::kRowMajor, own);
        factor_matmul(kDefaultContext, whole(1), a.view(), factor, whole(0), out.out());
        EXPECT_EQ(out.snapshot(), expected.snapshot());
      }
      factor_release(factor);
    });
  }
  factor_release(factor);
  for (std::thread& thread : threads) thread.join();
  expect_error(TNR_STATUS_STALE_HANDLE, {"released"}, [&] { factor_release(factor); });
}

// ---- refusals -----------------------------------------------------------------------------------

struct RefusedFactor : testing::Test {
  Random random{2};
  Array b{TNR_DTYPE_F32, {3, 4}, Arrangement::kRowMajor, random};
  Array a{TNR_DTYPE_F32, {2, 3}, Arrangement::kRowMajor, random};
  Array out{TNR_DTYPE_F32, {2, 4}, Arrangement::kRowMajor, random};

  void expect(tnr_status status, std::initializer_list<std::string> words, const Array& left,
              const tnr_view_mut& to, const tnr_matmul_attributes& with = {}) {
    const std::vector<Byte> before = out.snapshot();
    const Packed packed(b.view());
    expect_error(status, words, [&] {
      factor_matmul(kDefaultContext, whole(1), left.view(), packed, whole(0), to, with);
    });
    EXPECT_EQ(out.snapshot(), before);
  }
};

TEST_F(RefusedFactor, ShapesAndDtypesOfProducts) {
  const Array deep(TNR_DTYPE_F32, {2, 5}, Arrangement::kRowMajor, random);
  expect(TNR_STATUS_INVALID_ARGUMENT, {"b.shape[0] is 3 but must be 5", "b [3, 4]"}, deep,
         out.out());
  const Array wide(TNR_DTYPE_F32, {2, 5}, Arrangement::kRowMajor, random);
  expect(TNR_STATUS_INVALID_ARGUMENT, {"out.shape[1] is 5 but must be 4"}, a, wide.out());
  const Array f64(TNR_DTYPE_F64, {2, 3}, Arrangement::kRowMajor, random);
  expect(TNR_STATUS_INVALID_ARGUMENT, {"a.dtype is f64", "packed for a left factor of f32"}, f64,
         out.out());
  expect(TNR_STATUS_INVALID_ARGUMENT, {"activation is 1000"}, a, out.out(),
         {.struct_size = 0, .bias = nullptr, .activation = 1000, .flags = 0, .low = 0, .high = 0});
  const Array bias(TNR_DTYPE_F32, {3}, Arrangement::kRowMajor, random);
  expect(
      TNR_STATUS_INVALID_ARGUMENT, {"attributes->bias has shape [3]"}, a, out.out(),
      {.struct_size = 0, .bias = &bias.view(), .activation = 0, .flags = 0, .low = 0, .high = 0});
}

// The panels of bytes are those of a sign of the left factor.
TEST_F(RefusedFactor, LeftFactorsOfAnotherDtype) {
  const Array signed_b(TNR_DTYPE_I8, {3, 4}, Arrangement::kRowMajor, random);
  const Array sums(TNR_DTYPE_I32, {2, 4}, Arrangement::kRowMajor, random);
  const tnr_dtype bytes[] = {TNR_DTYPE_I8, TNR_DTYPE_U8};
  for (const tnr_dtype packed_for : bytes) {
    const Packed packed(signed_b.view(), packed_for);
    for (const tnr_dtype dtype : bytes) {
      const Array left(dtype, {2, 3}, Arrangement::kRowMajor, random);
      const auto call = [&] {
        factor_matmul(kDefaultContext, whole(1), left.view(), packed, whole(0), sums.out());
      };
      if (dtype == packed_for) {
        EXPECT_NO_THROW(call());
      } else {
        expect_error(TNR_STATUS_INVALID_ARGUMENT,
                     {std::string("a.dtype is ") + dtype_name(dtype),
                      std::string("b was packed for a left factor of ") + dtype_name(packed_for)},
                     call);
      }
    }
  }
}

TEST_F(RefusedFactor, Overlap) {
  const Array square(TNR_DTYPE_F32, {3, 3}, Arrangement::kRowMajor, random);
  const Array by(TNR_DTYPE_F32, {3, 3}, Arrangement::kRowMajor, random);
  const Packed packed(by.view());
  expect_error(TNR_STATUS_ALIASED, {"out is exactly a"}, [&] {
    factor_matmul(kDefaultContext, whole(1), square.view(), packed, whole(0), square.out());
  });
}

TEST_F(RefusedFactor, WhatCannotBePacked) {
  const auto refuses = [](tnr_status status, std::initializer_list<std::string> words,
                          const tnr_view& view) {
    expect_error(status, words, [&] { static_cast<void>(factor_create(kDefaultContext, view)); });
  };
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"attributes->a_dtype is u8 but b.dtype is f32"},
               [&] { static_cast<void>(factor_create(kDefaultContext, b.view(), TNR_DTYPE_U8)); });
  const Array line(TNR_DTYPE_F32, {3}, Arrangement::kRowMajor, random);
  refuses(TNR_STATUS_INVALID_ARGUMENT, {"b.rank is 1 but must be 2"}, line.view());
  const Array batch(TNR_DTYPE_F32, {2, 3, 4}, Arrangement::kRowMajor, random);
  refuses(TNR_STATUS_INVALID_ARGUMENT, {"b.rank is 3 but must be 2"}, batch.view());
  const Array integers(TNR_DTYPE_I32, {2, 3}, Arrangement::kRowMajor, random);
  refuses(TNR_STATUS_UNSUPPORTED, {"matmul does not take i32"}, integers.view());
  tnr_view device = b.view();
  device.device.kind = 2;
  refuses(TNR_STATUS_UNSUPPORTED, {"device"}, device);
}

// One number is repeated to any extent.
TEST_F(RefusedFactor, MoreElementsThanMemory) {
  float number = 1;
  const auto huge = [&](std::int64_t rows, std::int64_t columns) {
    return view_of(&number, sizeof number, 0, TNR_DTYPE_F32, {{rows, 0}, {columns, 0}});
  };
  for (const tnr_view& view : {huge(TNR_MAX_ELEMENTS, 1), huge(1, TNR_MAX_ELEMENTS),
                               huge(std::int64_t{1} << 40, std::int64_t{1} << 18),
                               huge(std::int64_t{1} << 57, 2), huge(3, TNR_MAX_ELEMENTS / 4)}) {
    expect_error(TNR_STATUS_OUT_OF_MEMORY, {},
                 [&] { static_cast<void>(factor_create(kDefaultContext, view)); });
  }
}

TEST_F(RefusedFactor, TokensOfOtherKinds) {
  const FactorToken factor = factor_create(kDefaultContext, b.view());
  factor_release(factor);
  expect_error(TNR_STATUS_STALE_HANDLE, {"factor is 0x", "a packed factor that has been released"},
               [&] { factor_describe(factor); });
  expect_error(TNR_STATUS_STALE_HANDLE, {"which no packed factor was ever given"},
               [&] { factor_retain(7); });
  expect_error(TNR_STATUS_STALE_HANDLE, {"released"}, [&] {
    factor_matmul(kDefaultContext, whole(1), a.view(), factor, whole(0), out.out());
  });
}

}  // namespace
}  // namespace tenure::test
