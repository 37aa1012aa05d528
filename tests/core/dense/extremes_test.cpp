// Reductions, scans and normalizations at the ends of the range, against long double.
#include <gtest/gtest.h>

#include <cmath>

#include "extreme_numbers.hpp"
#include "tenure/normalize.hpp"
#include "tenure/ops.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

void check_reduction(const ReduceCall& call, const NamedType& type, const Shape& shape,
                     std::uint32_t axes, Random& random) {
  static const TestContext two(2);
  Array a(type.dtype, shape, kReadable[random() % std::size(kReadable)], random);
  fill_with_extremes(a, type.type, random);
  const Shape kept = kept_axes(shape, axes);
  const Arrangement to = kWritable[random() % std::size(kWritable)];
  Random same = random;
  Array out(type.dtype, kept, to, random);
  Array by_two(type.dtype, kept, to, same);
  reduce(kDefaultContext, call.op, a.view(), axes, call.ddof, out.out(), call.power);
  reduce(two, call.op, a.view(), axes, call.ddof, by_two.out(), call.power);
  expect_results(call, a, type.type, axes, out, "reduce");
  EXPECT_EQ(out.snapshot(), by_two.snapshot()) << "bits of two threads, op " << call.op;
}

TEST(Extremes, OfReductionsOfAnyLengthAndLayout) {
  Random random(1);
  Calls calls(random);
  for (std::int64_t length = 0; length <= 300; ++length) {
    for (int i = 0; i < 6; ++i) {
      const ReduceCall call = i < 2 ? ReduceCall{TNR_REDUCE_OP_PROD} : calls.next();
      const NamedType& type = kTypes[random() % 4];
      const Shape shapes[] = {{length}, {length, 3}, {2, length}, {2, length, 2}, {length, 9}};
      const std::uint32_t axes[] = {1, 1, 2, 2, 1};
      const std::size_t of = random() % 5;
      check_reduction(call, type, shapes[of], axes[of], random);
      if (HasFailure()) return;
    }
  }
}

TEST(Extremes, OfLongReductions) {
  Random random(2);
  Calls calls(random);
  for (std::size_t i = 0; i < 4 * calls.count(); ++i) {
    const ReduceCall call = calls.next();
    const Shape shapes[] = {{4096}, {70001}, {3000, 3}, {2, 5000}, {40, 60, 3}, {600, 70}};
    const std::uint32_t axes[] = {1, 1, 1, 2, 3, 1};
    const std::size_t of = random() % 6;
    check_reduction(call, kTypes[random() % 4], shapes[of], axes[of], random);
    if (HasFailure()) return;
  }
}

// Examples from bug reports.
TEST(Extremes, OfReductionsMatchKnownResults) {
  const auto reduced = [](tnr_reduce_op op, const NamedType& type, std::vector<double> numbers,
                          double power = 0) {
    Random random(3);
    const auto count = static_cast<std::int64_t>(numbers.size());
    Array a(type.dtype, {count}, Arrangement::kRowMajor, random);
    Array out(type.dtype, {}, Arrangement::kRowMajor, random);
    const std::vector<Byte*> elements = a.elements();
    for (std::size_t i = 0; i < numbers.size(); ++i) put_number(type.type, numbers[i], elements[i]);
    reduce(kDefaultContext, op, a.view(), 1, 0, out.out(), power);
    return number_at(type.type, out.elements()[0]);
  };
  const NamedType& f64 = kTypes[0];
  const NamedType& f32 = kTypes[1];
  const NamedType& f16 = kTypes[2];
  EXPECT_EQ(reduced(TNR_REDUCE_OP_PROD, f32, {0, 1e30, 1e30, 1e30}), 0);
  std::vector<double> turns(256);
  for (std::size_t i = 0; i < turns.size(); ++i) turns[i] = i % 2 == 0 ? 2 : 0.5;
  for (const NamedType& type : {f64, f32, f16})
    EXPECT_EQ(reduced(TNR_REDUCE_OP_PROD, type, turns), 1);
  std::vector<double> hundreds(40, 100);
  hundreds[0] = 0;
  EXPECT_EQ(reduced(TNR_REDUCE_OP_PROD, f16, hundreds), 0);
  EXPECT_EQ(reduced(TNR_REDUCE_OP_PROD, f64, {1e200, 1e200, 1e-200, 1e-200, 3}), 3);
  EXPECT_EQ(reduced(TNR_REDUCE_OP_PROD, f64, {0x1p-1074, 0x1p1000, 0x1p1000, 0x1p-1000}), 0x1p-74);
  EXPECT_EQ(reduced(TNR_REDUCE_OP_MEAN, f64, {1.7e308, 1.7e308, 1.7e308}), 1.7e308);
  EXPECT_EQ(reduced(TNR_REDUCE_OP_STD, f64, {1e200, -1e200}), 1e200);
  EXPECT_EQ(reduced(TNR_REDUCE_OP_STD, f64, {1e-200, -1e-200}), 1e-200);
  EXPECT_EQ(reduced(TNR_REDUCE_OP_STD, f64, {1e-320, -1e-320}), 1e-320);
  EXPECT_EQ(reduced(TNR_REDUCE_OP_VAR, f64, {1e200, -1e200}), kInfinite);
  const double nan = std::nan("");
  EXPECT_EQ(reduced(TNR_REDUCE_OP_NAN_STD, f64, {nan, 1e200, nan, -1e200}), 1e200);
  EXPECT_EQ(reduced(TNR_REDUCE_OP_NAN_STD, f64, {1e-320, nan, -1e-320}), 1e-320);
  EXPECT_EQ(reduced(TNR_REDUCE_OP_NAN_VAR, f64, {nan, 1e200, -1e200}), kInfinite);
  EXPECT_DOUBLE_EQ(reduced(TNR_REDUCE_OP_NORM, f64, {3e200, 4e200}, 2), 5e200);
  EXPECT_DOUBLE_EQ(reduced(TNR_REDUCE_OP_NORM, f64, {3e-200, 4e-200}, 2), 5e-200);
  EXPECT_EQ(reduced(TNR_REDUCE_OP_SUM, f64, {1.7e308, 1.7e308, -1.7e308, -1.7e308}), 0);
  for (const NamedType& type : {f64, f32}) {
    EXPECT_EQ(reduced(TNR_REDUCE_OP_STD, type, std::vector<double>(100, 1e30)), 0);
    EXPECT_EQ(reduced(TNR_REDUCE_OP_NORM, type, std::vector<double>(100, 0), 2), 0);
    EXPECT_EQ(reduced(TNR_REDUCE_OP_SUM, type, {-kInfinite, 1, 2}), -kInfinite);
    EXPECT_TRUE(std::isnan(reduced(TNR_REDUCE_OP_SUM, type, {-kInfinite, 1, kInfinite})));
    EXPECT_TRUE(std::isnan(reduced(TNR_REDUCE_OP_PROD, type, {0, 1, kInfinite})));
  }
}

// ---- scans ----

void check_scan(tnr_scan_op op, const NamedType& type, const Shape& shape, std::uint32_t axis,
                Random& random) {
  static const TestContext two(2);
  Array a(type.dtype, shape, kReadable[random() % std::size(kReadable)], random);
  fill_with_extremes(a, type.type, random);
  const Arrangement to = kWritable[random() % std::size(kWritable)];
  Random same = random;
  Array out(type.dtype, shape, to, random);
  Array by_two(type.dtype, shape, to, same);
  scan(kDefaultContext, op, a.view(), axis, out.out());
  scan(two, op, a.view(), axis, by_two.out());
  EXPECT_EQ(out.snapshot(), by_two.snapshot()) << "bits of two threads";
  expect_scan(op, a, type.type, axis, out);
}

TEST(Extremes, OfScansOfAnyLengthAndLayout) {
  Random random(4);
  for (std::int64_t length = 1; length <= 300; ++length) {
    for (const tnr_scan_op op : {TNR_SCAN_OP_SUM, TNR_SCAN_OP_PROD}) {
      for (int round = 0; round < 2; ++round) {
        const NamedType& type = kTypes[random() % 4];
        const Shape shapes[] = {{length}, {length, 3}, {2, length}, {2, length, 2}};
        const std::uint32_t axes[] = {0, 0, 1, 1};
        const std::size_t of = random() % 4;
        check_scan(op, type, shapes[of], axes[of], random);
        if (HasFailure()) return;
      }
    }
  }
  for (const tnr_scan_op op : {TNR_SCAN_OP_SUM, TNR_SCAN_OP_PROD}) {
    for (int round = 0; round < 20; ++round)
      check_scan(op, kTypes[random() % 4], {5000}, 0, random);
  }
}

TEST(Extremes, OfScansMatchKnownResults) {
  const auto scanned = [](tnr_scan_op op, std::vector<double> numbers) {
    std::vector<double> results(numbers.size());
    const Layout layout = {{static_cast<std::int64_t>(numbers.size()), 1}};
    scan(kDefaultContext, op, view_of(numbers.data(), numbers.size() * 8, 0, TNR_DTYPE_F64, layout),
         0, {view_of(results.data(), results.size() * 8, 0, TNR_DTYPE_F64, layout)});
    return results;
  };
  using Results = std::vector<double>;
  EXPECT_EQ(scanned(TNR_SCAN_OP_PROD, {0, 1e200, 1e200, 1e200}), (Results{0, 0, 0, 0}));
  EXPECT_EQ(scanned(TNR_SCAN_OP_PROD, {1e300, 1e-200, 1e-200, 1}),
            (Results{1e300, 1e300 * 1e-200, 1e300 * 1e-200 * 1e-200, 1e300 * 1e-200 * 1e-200}));
  EXPECT_EQ(scanned(TNR_SCAN_OP_SUM, {-1.7e308, 1e308, 1e308}),
            (Results{-1.7e308, -1.7e308 + 1e308, -1.7e308 + 1e308 + 1e308}));
  EXPECT_EQ(scanned(TNR_SCAN_OP_SUM, {1, kInfinite, -1e308, -1e308, -1e308}),
            (Results{1, kInfinite, kInfinite, kInfinite, kInfinite}));
  const Results ends = scanned(TNR_SCAN_OP_PROD, {1e-300, 1e-300, 1e300, 1e300, -1, kInfinite, 1});
  EXPECT_TRUE(std::equal(ends.begin(), ends.begin() + 5, Results{1e-300, 0, 0, 0, -0.0}.begin()));
  EXPECT_TRUE(std::signbit(ends[4]) && std::isnan(ends[5]) && std::isnan(ends[6]));
}

// ---- normalizations ----

void check_normalization(tnr_normalize_op op, const NamedType& type, const Shape& shape, double eps,
                         Random& random) {
  static const TestContext two(2);
  Array a(type.dtype, shape, kReadable[random() % std::size(kReadable)], random);
  fill_with_extremes(a, type.type, random);
  Array out(type.dtype, shape, kWritable[random() % std::size(kWritable)], random);
  const tnr_normalize_attributes attributes = {sizeof attributes, eps, nullptr, nullptr};
  normalize(random() % 2 == 0 ? two : kDefaultContext, op, a.view(), 2, attributes, out.out());
  expect_normalization(op, a, type.type, eps, out);
}

TEST(Extremes, OfNormalizationsOfAnyLengthAndLayout) {
  Random random(5);
  for (std::int64_t length = 1; length <= 300; ++length) {
    for (const tnr_normalize_op op : {TNR_NORMALIZE_OP_LAYER_NORM, TNR_NORMALIZE_OP_RMS_NORM}) {
      const double eps[] = {0, 1e-5, 1e-300, 1e-40};
      check_normalization(op, kTypes[random() % 4], {3, length}, eps[random() % 4], random);
      if (HasFailure()) return;
    }
  }
  // More than is held, and more than one thread takes.
  for (const tnr_normalize_op op : {TNR_NORMALIZE_OP_LAYER_NORM, TNR_NORMALIZE_OP_RMS_NORM}) {
    for (const std::int64_t length : {3000, 3001, 3002, 140000}) {
      check_normalization(op, kTypes[length % 2], {1, length}, 0, random);
      if (HasFailure()) return;
    }
  }
}

TEST(Extremes, OfEqualNumbersWithATinyEpsAreZero) {
  for (const double number : {0.0, 1.0, 1e30, -1e-30, 1e300}) {
    for (const tnr_dtype dtype : {TNR_DTYPE_F64, TNR_DTYPE_F32}) {
      if (dtype == TNR_DTYPE_F32 && number > 1e100) continue;
      Random random(6);
      const Type type = dtype == TNR_DTYPE_F64 ? Type::kF64 : Type::kF32;
      Array a(dtype, {50}, Arrangement::kRowMajor, random);
      for (Byte* const element : a.elements()) put_number(type, number, element);
      for (const double eps : {1e-5, 1e-80, 5e-324}) {
        const tnr_normalize_attributes attributes = {sizeof attributes, eps, nullptr, nullptr};
        Array out(dtype, {50}, Arrangement::kRowMajor, random);
        normalize(kDefaultContext, TNR_NORMALIZE_OP_LAYER_NORM, a.view(), 1, attributes, out.out());
        for (const Byte* const result : out.elements()) ASSERT_EQ(number_at(type, result), 0);
      }
    }
  }
}

}  // namespace
}  // namespace tenure::test
