// Scans, against one loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "expect_error.hpp"
#include "strided_floats.hpp"
#include "tenure/normalize.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

constexpr tnr_scan_op kAll[] = {TNR_SCAN_OP_SUM, TNR_SCAN_OP_PROD, TNR_SCAN_OP_MIN,
                                TNR_SCAN_OP_MAX};

// The order is that of cpu/scan.hpp. Pairs of f32 never leave the range.
std::vector<double> scanned(bool sums, bool are_wide, const std::vector<double>& row) {
  const auto meet = [&](double a, double b) { return sums ? a + b : a * b; };
  const auto is_usual = [&](double x) {
    return sums ? std::isfinite(x) : std::fabs(x) >= 0x1p-511 && std::fabs(x) < 0x1p513;
  };
  std::vector<double> result;
  double carry = sums ? -0.0 : 1;
  for (std::size_t i = 0; i < row.size(); i += 4) {
    const auto at = [&](std::size_t k) {
      return i + k < row.size() ? row[i + k] : (sums ? -0.0 : 1);
    };
    const double pairs[] = {at(0), meet(at(1), at(0)), meet(at(2), at(1)), meet(at(3), at(2))};
    double four[] = {meet(carry, pairs[0]), meet(carry, pairs[1]),
                     meet(carry, meet(pairs[2], pairs[0])), meet(carry, meet(pairs[3], pairs[1]))};
    const bool are_usual = std::all_of(four, four + 4, is_usual) &&
                           (!are_wide || sums || std::all_of(pairs, pairs + 4, is_usual));
    for (std::size_t k = 0; k < 4; ++k) {
      carry = are_usual ? four[k] : meet(carry, at(k));
      result.push_back(carry);
    }
  }
  return result;
}

template <class T>
T extreme(bool least, T a, T b) {
  if (a != a) return a;
  if (b != b) return b;
  return (least ? b < a : b > a) ? b : a;
}

template <class T>
class Scan : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Scan, Floats);

TYPED_TEST(Scan, TakesAnyOperandsAndAxis) {
  using T = TypeParam;
  Random random(1);
  const TestContext two(2);
  for (int round = 0; round < 400; ++round) {
    Shape shape;
    for (std::int64_t rank = 1 + below(random, 3); rank > 0; --rank) {
      shape.push_back(below(random, 12));
    }
    if (round % 5 == 0) shape[below(random, std::ssize(shape))] = 150;
    const std::int64_t axis = below(random, std::ssize(shape));
    const tnr_scan_op op = kAll[round % 4];
    Operand<T> a(shape, Access::kRead, random);
    a.fill(random);
    Operand<T> out(shape, Access::kWrite, random);
    Operand<T> expected = out;
    for_each_index(out.view, [&](const Index& at) {
      if (at[axis] != 0) return;
      std::vector<double> row;
      Index place = at;
      T so_far = a.at(at);
      for (; place[axis] < shape[axis]; ++place[axis]) {
        row.push_back(a.at(place));
        so_far = extreme(op == TNR_SCAN_OP_MIN, so_far, a.at(place));
        expected.at(place) = so_far;
      }
      if (op == TNR_SCAN_OP_MIN || op == TNR_SCAN_OP_MAX) return;
      const std::vector<double> all = scanned(op == TNR_SCAN_OP_SUM, sizeof(T) == 8, row);
      for (place[axis] = 0; place[axis] < shape[axis]; ++place[axis]) {
        expected.at(place) = static_cast<T>(all[static_cast<std::size_t>(place[axis])]);
      }
    });
    scan(round % 3 == 0 ? two : kDefaultContext, op, a.view, static_cast<std::uint32_t>(axis),
         out.out());
    for (std::size_t i = 0; i < out.memory.size(); ++i) {
      ASSERT_TRUE(same(out.memory[i], expected.memory[i]))
          << "round " << round << ", op " << op << ", element " << i;
    }
  }
}

TYPED_TEST(Scan, WorksInPlaceAndPastTheCaches) {
  using T = TypeParam;
  Random random(2);
  Operand<T> a({3, 3 << 20});
  for (T& element : a.memory) element = static_cast<T>(random() % 16);
  Operand<T> out({3, 3 << 20});
  const TestContext two(2);
  scan(two, TNR_SCAN_OP_SUM, a.view, 1, out.out());
  scan(kDefaultContext, TNR_SCAN_OP_SUM, a.view, 1, a.out());
  EXPECT_TRUE(a.memory == out.memory);
  scan(two, TNR_SCAN_OP_MAX, a.view, 0, out.out());
  scan(kDefaultContext, TNR_SCAN_OP_MAX, a.view, 0, a.out());
  EXPECT_TRUE(a.memory == out.memory);
}

TYPED_TEST(Scan, KeepsNegativeZerosAndTheFirstNaN) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  Operand<T> a({5});
  a.memory = {-0.0, -0.0, 1, nan, 2};
  Operand<T> out({5});
  const auto run = [&](tnr_scan_op op) {
    a.view.base = a.view.data = a.memory.data();
    scan(kDefaultContext, op, a.view, 0, out.out());
  };
  run(TNR_SCAN_OP_SUM);
  EXPECT_TRUE(std::signbit(out.memory[0]) && std::signbit(out.memory[1]));
  EXPECT_TRUE(out.memory[2] == 1 && std::isnan(out.memory[3]) && std::isnan(out.memory[4]));
  for (const tnr_scan_op op : {TNR_SCAN_OP_MIN, TNR_SCAN_OP_MAX}) {
    run(op);
    EXPECT_EQ(out.memory[2], op == TNR_SCAN_OP_MAX ? 1 : 0);
    EXPECT_TRUE(std::isnan(out.memory[3]) && std::isnan(out.memory[4]));
  }
}

template <class T>
class ScanIntegers : public testing::Test {};
using Integers = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                                std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(ScanIntegers, Integers);

TYPED_TEST(ScanIntegers, WrapIn64Bits) {
  using T = TypeParam;
  using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  constexpr std::int64_t kRows = 37;
  constexpr std::int64_t kColumns = 41;
  constexpr tnr_dtype kWide = std::is_signed_v<T> ? TNR_DTYPE_I64 : TNR_DTYPE_U64;
  constexpr tnr_dtype kNarrow =
      (std::is_signed_v<T> ? TNR_DTYPE_I8 : TNR_DTYPE_U8) + ((sizeof(T) - 1) * 8 << 8);
  Random random(3);
  std::vector<T> a(kRows * kColumns);
  for (T& element : a) element = static_cast<T>(random());
  const Layout layout = {{kRows, kColumns}, {kColumns, 1}};
  const tnr_view in = view_of(a.data(), a.size() * sizeof(T), 0, kNarrow, layout);
  for (const tnr_scan_op op : kAll) {
    for (const std::uint32_t axis : {0u, 1u}) {
      const bool is_wide = op == TNR_SCAN_OP_SUM || op == TNR_SCAN_OP_PROD;
      std::vector<Wide> wide(a.size());
      std::vector<T> narrow(a.size());
      const tnr_view_mut out = {
          is_wide ? view_of(wide.data(), wide.size() * 8, 0, kWide, layout)
                  : view_of(narrow.data(), narrow.size() * sizeof(T), 0, kNarrow, layout)};
      scan(kDefaultContext, op, in, axis, out);
      const std::size_t step = axis == 0 ? kColumns : 1;
      for (std::size_t i = 0; i < a.size(); ++i) {
        const bool is_first = axis == 0 ? i < kColumns : i % kColumns == 0;
        if (is_wide) {
          const auto x = static_cast<std::uint64_t>(static_cast<Wide>(a[i]));
          const auto before = static_cast<std::uint64_t>(is_first ? 0 : wide[i - step]);
          const std::uint64_t expected = is_first                ? x
                                         : op == TNR_SCAN_OP_SUM ? before + x
                                                                 : before * x;
          ASSERT_EQ(static_cast<std::uint64_t>(wide[i]), expected) << op << " along " << axis;
        } else {
          const T expected =
              is_first ? a[i] : extreme(op == TNR_SCAN_OP_MIN, narrow[i - step], a[i]);
          ASSERT_EQ(narrow[i], expected) << op << " along " << axis;
        }
      }
    }
  }
}

TEST(ScanHalves, AreThoseOfF32Rounded) {
  Random random(4);
  for (const tnr_dtype dtype : {TNR_DTYPE_F16, TNR_DTYPE_BF16}) {
    for (const tnr_scan_op op : kAll) {
      Operand<float> a({300, 7});
      a.fill(random);
      std::vector<std::uint16_t> halves[3];
      tnr_view views[3];
      for (int i = 0; i < 3; ++i) {
        halves[i].resize(a.memory.size());
        views[i] = view_of(halves[i].data(), halves[i].size() * 2, 0, dtype, {{300, 7}, {7, 1}});
      }
      cast(kDefaultContext, a.view, {views[0]});
      cast(kDefaultContext, views[0], a.out());
      scan(kDefaultContext, op, views[0], 0, {views[1]});
      scan(kDefaultContext, op, a.view, 0, a.out());
      cast(kDefaultContext, a.view, {views[2]});
      EXPECT_EQ(halves[1], halves[2]) << op;
    }
  }
}

TEST(RefusedScan, LeavesTheOutputUntouched) {
  Operand<float> a(Shape{2, 4}, 1.5f);
  Operand<float> out(Shape{2, 4}, 7.0f);
  const auto expect = [&](tnr_status status, std::initializer_list<std::string> words,
                          tnr_scan_op op, const tnr_view& in, std::uint32_t axis,
                          const tnr_view& to) {
    const std::vector<float> before = out.memory;
    expect_error(status, words, [&] { scan(kDefaultContext, op, in, axis, {to}); });
    EXPECT_EQ(out.memory, before);
  };
  constexpr tnr_status kInvalid = TNR_STATUS_INVALID_ARGUMENT;
  for (const tnr_scan_op op : {0, 5, -1}) {
    expect(kInvalid, {"scan", std::to_string(op)}, op, a.view, 0, out.view);
  }
  expect(kInvalid, {"axis is 2 but a.rank is 2"}, TNR_SCAN_OP_SUM, a.view, 2, out.view);
  expect(kInvalid, {"out.shape[1] is 4 but a.shape[1] is 1"}, TNR_SCAN_OP_SUM,
         Operand<float>(Shape{2, 1}).view, 0, out.view);
  expect(kInvalid, {"out.rank is 2 but must be 1"}, TNR_SCAN_OP_SUM, Operand<float>(Shape{4}).view,
         0, out.view);
  tnr_view integers = a.view;
  tnr_view integers_out = out.view;
  integers.dtype = integers_out.dtype = TNR_DTYPE_I32;
  expect(kInvalid, {"out.dtype is i32 but must be i64"}, TNR_SCAN_OP_SUM, integers, 0,
         integers_out);
  integers.dtype = TNR_DTYPE_BOOL8;
  expect(TNR_STATUS_UNSUPPORTED, {"max does not take bool8"}, TNR_SCAN_OP_MAX, integers, 0,
         integers_out);
  tnr_view part = out.view;
  part.shape[0] = 1;
  tnr_view later = part;
  later.data = static_cast<const float*>(part.data) + 1;
  expect(TNR_STATUS_ALIASED, {"out", "a"}, TNR_SCAN_OP_SUM, later, 1, part);
}

}  // namespace
}  // namespace tenure::test
