// Compares norms, logsumexp, reductions that skip NaN, and moments with plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "expect_error.hpp"
#include "strided_floats.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

struct Case {
  tnr_reduce_op op;
  double power = 0;
};
constexpr Case kCases[] = {
    {TNR_REDUCE_OP_NORM, 1},   {TNR_REDUCE_OP_NORM, 2},   {TNR_REDUCE_OP_NORM, kInfinity},
    {TNR_REDUCE_OP_NORM, 3.5}, {TNR_REDUCE_OP_LOGSUMEXP}, {TNR_REDUCE_OP_NAN_SUM},
    {TNR_REDUCE_OP_NAN_MEAN},  {TNR_REDUCE_OP_NAN_MIN},   {TNR_REDUCE_OP_NAN_MAX},
};

// The reference implementation.
long double reduced(const Case& of, const std::vector<long double>& elements) {
  long double sum = 0;
  long double count = 0;
  long double least = kNan;
  long double greatest = of.op == TNR_REDUCE_OP_NORM        ? 0
                         : of.op == TNR_REDUCE_OP_LOGSUMEXP ? -kInfinity
                                                            : kNan;
  for (const long double x : elements) {
    if (of.op == TNR_REDUCE_OP_NORM) {
      sum += std::pow(std::fabs(x), of.power);
      if (!(std::fabs(x) <= greatest) && !std::isnan(greatest)) greatest = std::fabs(x);
    } else if (!std::isnan(x)) {
      sum += x;
      count += 1;
      if (!(x >= least)) least = x;
      if (!(x <= greatest)) greatest = x;
    }
  }
  switch (of.op) {
    case TNR_REDUCE_OP_NORM:
      if (std::isinf(of.power)) return greatest;
      return std::pow(sum, 1 / static_cast<long double>(of.power));
    case TNR_REDUCE_OP_LOGSUMEXP: {
      long double powers = 0;
      for (const long double x : elements) {
        if (std::isnan(x)) return x;
        powers += std::exp(x - greatest);
      }
      return std::isinf(greatest) ? greatest : greatest + std::log(powers);
    }
    case TNR_REDUCE_OP_NAN_SUM: return sum;
    case TNR_REDUCE_OP_NAN_MEAN: return sum / count;
    case TNR_REDUCE_OP_NAN_MIN: return least;
    default: return greatest;
  }
}

bool keeps_nan(const Case& of) {
  return of.op == TNR_REDUCE_OP_NORM || of.op == TNR_REDUCE_OP_LOGSUMEXP;
}

bool is_of(std::uint32_t axes, std::size_t axis) { return (axes >> axis & 1) != 0; }

Shape kept(const Shape& shape, std::uint32_t axes) {
  Shape result;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (!is_of(axes, axis)) result.push_back(shape[axis]);
  }
  return result;
}

template <class T>
class FloatReduction : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(FloatReduction, Floats);

template <class T>
void check(const Case& of, Operand<T>& a, std::uint32_t axes, Operand<T>& out,
           const Context& context) {
  reduce(context, of.op, a.view, axes, 0, out.out(), of.power);
  const std::uint32_t rank = a.view.rank;
  for_each_index(out.view, [&](const Index& at) {
    std::vector<long double> elements;
    long double magnitude = 1;
    for_each_index(a.view, [&](const Index& other) {
      std::size_t place = 0;
      for (std::uint32_t axis = 0; axis < rank; ++axis) {
        if (!is_of(axes, axis) && other[axis] != at[place++]) return;
      }
      elements.push_back(a.at(other));
      if (!std::isnan(a.at(other))) magnitude += std::fabs(a.at(other));
    });
    const long double expected = reduced(of, elements);
    const auto found = static_cast<long double>(out.at(at));
    const long double near = 8 * magnitude * std::numeric_limits<T>::epsilon();
    ASSERT_TRUE(std::isnan(expected) ? std::isnan(found)
                                     : expected == found || std::fabs(found - expected) <= near)
        << "op " << of.op << " " << of.power << " over " << axes << ": " << found << " for "
        << expected;
  });
}

TYPED_TEST(FloatReduction, MatchesItsTwinOverAnyAxesOfAnyLayout) {
  using T = TypeParam;
  Random random(1);
  const TestContext two(2);
  for (int round = 0; round < 600; ++round) {
    const Case& of = kCases[static_cast<std::size_t>(round) % std::size(kCases)];
    Shape shape;
    for (std::int64_t rank = below(random, 4); rank > 0; --rank) {
      shape.push_back(1 + below(random, 12));
    }
    if (!shape.empty() && round % 5 == 0) shape[below(random, std::ssize(shape))] = 150;
    const auto axes = static_cast<std::uint32_t>(below(random, std::int64_t{1} << shape.size()));
    Operand<T> a(shape, Access::kRead, random);
    a.fill(random);
    for_each_index(a.view, [&](const Index& at) {
      const bool is_rare = random() % (keeps_nan(of) ? 400 : 4) == 0;
      if (is_rare) a.at(at) = std::numeric_limits<T>::quiet_NaN();
    });
    Operand<T> out(kept(shape, axes), Access::kWrite, random);
    check(of, a, axes, out, round % 3 == 0 ? two : kDefaultContext);
  }
}

TYPED_TEST(FloatReduction, MatchesItsTwinOnLongAxes) {
  using T = TypeParam;
  Random random(2);
  for (const Case& of : kCases) {
    for (const Shape& shape : {Shape{100000, 2}, Shape{3, 70000}}) {
      for (const std::uint32_t axes : {1u, 2u, 3u}) {
        if (kept(shape, axes).size() == 1 && kept(shape, axes)[0] > 3) continue;
        Operand<T> a(shape);
        a.fill(random);
        Operand<T> out(kept(shape, axes));
        check(of, a, axes, out, kDefaultContext);
      }
    }
  }
}

TYPED_TEST(FloatReduction, HasTheSameBitsForAnyNumberOfThreads) {
  using T = TypeParam;
  Random random(3);
  const TestContext two(2);
  Operand<T> a({700, 900});
  a.fill(random);
  for (const Case& of : kCases) {
    for (const std::uint32_t axes : {1u, 2u, 3u}) {
      Operand<T> alone(kept({700, 900}, axes));
      Operand<T> shared = alone;
      reduce(kDefaultContext, of.op, a.view, axes, 0, alone.out(), of.power);
      reduce(two, of.op, a.view, axes, 0, shared.out(), of.power);
      EXPECT_EQ(alone.memory, shared.memory) << of.op << " over " << axes;
    }
  }
}

template <class T>
T of_row(const Case& of, std::vector<T> row) {
  Operand<T> a({static_cast<std::int64_t>(row.size())});
  std::copy(row.begin(), row.end(), a.memory.begin());
  Operand<T> out(Shape{}, T{9});
  reduce(kDefaultContext, of.op, a.view, 1, 0, out.out(), of.power);
  return out.memory[0];
}

TYPED_TEST(FloatReduction, OfInfinitiesNaNAndNothing) {
  using T = TypeParam;
  const T infinity = std::numeric_limits<T>::infinity();
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const Case& of : kCases) {
    if (keeps_nan(of)) {
      EXPECT_TRUE(std::isnan(of_row<T>(of, {1, nan, 2}))) << of.op;
      EXPECT_TRUE(std::isnan(of_row<T>(of, {nan}))) << of.op;
      EXPECT_TRUE(std::isnan(of_row<T>(of, {infinity, nan}))) << of.op;
      EXPECT_TRUE(std::isnan(of_row<T>(of, {nan, -infinity}))) << of.op;
      EXPECT_EQ(of_row<T>(of, {1, infinity, 2}), infinity) << of.op << " " << of.power;
      EXPECT_EQ(of_row<T>(of, {}), of.op == TNR_REDUCE_OP_NORM ? T{0} : -infinity);
    } else {
      const T all = of_row<T>(of, {nan, nan});
      EXPECT_TRUE(of.op == TNR_REDUCE_OP_NAN_SUM ? all == 0 : std::isnan(all)) << of.op;
    }
  }
  constexpr Case kLog = {TNR_REDUCE_OP_LOGSUMEXP};
  EXPECT_EQ(of_row<T>(kLog, {-infinity, -infinity}), -infinity);
  EXPECT_EQ(of_row<T>(kLog, {10000, -10000}), 10000);
  EXPECT_EQ(of_row<T>({TNR_REDUCE_OP_NAN_SUM}, {}), 0);
  EXPECT_TRUE(std::isnan(of_row<T>({TNR_REDUCE_OP_NAN_MEAN}, {})));
  for (const tnr_reduce_op op : {TNR_REDUCE_OP_NAN_MIN, TNR_REDUCE_OP_NAN_MAX}) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {"has no elements"}, [&] { of_row<T>({op}, {}); });
  }
}

TEST(HalfReduction, IsThatOfF32Rounded) {
  Random random(4);
  for (const tnr_dtype dtype : {TNR_DTYPE_F16, TNR_DTYPE_BF16}) {
    for (const Case& of : kCases) {
      for (const std::uint32_t axes : {1u, 2u, 3u}) {
        Operand<float> a({20, 131});
        a.fill(random);
        Operand<float> wide(kept({20, 131}, axes));
        std::vector<std::uint16_t> halves(a.memory.size());
        std::vector<std::uint16_t> found(wide.memory.size());
        std::vector<std::uint16_t> expected(wide.memory.size());
        const auto of_halves = [&](std::vector<std::uint16_t>& memory, const tnr_view& like) {
          tnr_view view = like;
          view.base = view.data = memory.data();
          view.size_bytes = memory.size() * 2;
          view.dtype = dtype;
          return view;
        };
        const tnr_view in = of_halves(halves, a.view);
        cast(kDefaultContext, a.view, {in});
        cast(kDefaultContext, in, a.out());
        reduce(kDefaultContext, of.op, in, axes, 0, {of_halves(found, wide.view)}, of.power);
        reduce(kDefaultContext, of.op, a.view, axes, 0, wide.out(), of.power);
        cast(kDefaultContext, wide.view, {of_halves(expected, wide.view)});
        for (std::size_t i = 0; i < found.size(); ++i) {
          ASSERT_LE(std::abs(int{found[i]} - int{expected[i]}), 1) << of.op << " " << of.power;
        }
      }
    }
  }
}

TEST(RefusedReduction, OfPowersAndDtypes) {
  const Operand<float> a(Shape{4}, 1.0f);
  const Operand<float> out(Shape{}, 7.0f);
  const auto refused = [&](tnr_status status, std::initializer_list<std::string> words,
                           tnr_reduce_op op, double power, const tnr_view& in) {
    expect_error(status, words, [&] { reduce(kDefaultContext, op, in, 1, 0, out.out(), power); });
    EXPECT_EQ(out.memory[0], 7);
  };
  for (const double power : {0.0, -1.0, kNan}) {
    refused(TNR_STATUS_INVALID_ARGUMENT, {"attributes->power is", "norm needs one above 0"},
            TNR_REDUCE_OP_NORM, power, a.view);
  }
  refused(TNR_STATUS_INVALID_ARGUMENT, {"attributes->power is 2 but must be 0 for sum"},
          TNR_REDUCE_OP_SUM, 2, a.view);
  tnr_view integers = a.view;
  integers.dtype = TNR_DTYPE_I32;
  for (const Case& of : kCases) {
    refused(TNR_STATUS_UNSUPPORTED, {"does not take i32"}, of.op, of.power, integers);
  }
}

template <class T>
class Moments : public testing::Test {};
TYPED_TEST_SUITE(Moments, Floats);

TYPED_TEST(Moments, HaveTheBitsOfTheReductions) {
  using T = TypeParam;
  Random random(5);
  const TestContext two(2);
  for (int round = 0; round < 300; ++round) {
    Shape shape;
    for (std::int64_t rank = below(random, 4); rank > 0; --rank) {
      shape.push_back(below(random, round % 7 == 0 ? 200 : 12));
    }
    const auto axes = static_cast<std::uint32_t>(below(random, std::int64_t{1} << shape.size()));
    Operand<T> a(shape, Access::kRead, random);
    a.fill(random);
    Operand<T> mean(kept(shape, axes), Access::kWrite, random);
    Operand<T> var(kept(shape, axes), Access::kWrite, random);
    if (round % 2 == 0) var = mean;
    Operand<T> expected_mean = mean;
    Operand<T> expected_var = var;
    moments(round % 3 == 0 ? two : kDefaultContext, a.view, axes, 1, mean.out(), var.out());
    reduce(kDefaultContext, TNR_REDUCE_OP_MEAN, a.view, axes, 0, expected_mean.out());
    reduce(kDefaultContext, TNR_REDUCE_OP_VAR, a.view, axes, 1, expected_var.out());
    for (std::size_t i = 0; i < mean.memory.size(); ++i) {
      ASSERT_TRUE(same(mean.memory[i], expected_mean.memory[i])) << round;
    }
    for (std::size_t i = 0; i < var.memory.size(); ++i) {
      ASSERT_TRUE(same(var.memory[i], expected_var.memory[i])) << round;
    }
  }
}

TEST(RefusedMoments, LeaveTheOutputsUntouched) {
  const Operand<float> a(Shape{2, 4}, 1.0f);
  const Operand<float> mean(Shape{2}, 7.0f);
  const Operand<float> var(Shape{2}, 7.0f);
  const auto refused = [&](tnr_status status, std::initializer_list<std::string> words,
                           const tnr_view& in, std::uint32_t axes, const tnr_view& mean_to,
                           const tnr_view& to) {
    expect_error(status, words, [&] { moments(kDefaultContext, in, axes, 0, {mean_to}, {to}); });
    EXPECT_EQ(mean.memory, (std::vector<float>{7, 7}));
    EXPECT_EQ(var.memory, (std::vector<float>{7, 7}));
  };
  refused(TNR_STATUS_INVALID_ARGUMENT, {"axes is 0x4 but a.rank is 2"}, a.view, 4, mean.view,
          var.view);
  refused(TNR_STATUS_INVALID_ARGUMENT, {"out.shape[0] is 2 but must be 4"}, a.view, 1, mean.view,
          var.view);
  refused(TNR_STATUS_INVALID_ARGUMENT, {"mean.rank is 2 but must be 1"}, a.view, 2, a.view,
          var.view);
  refused(TNR_STATUS_ALIASED, {"out is exactly mean"}, a.view, 2, var.view, var.view);
  tnr_view integers = a.view;
  integers.dtype = TNR_DTYPE_I32;
  refused(TNR_STATUS_UNSUPPORTED, {"moments does not take i32"}, integers, 2, mean.view, var.view);
}

}  // namespace
}  // namespace tenure::test
