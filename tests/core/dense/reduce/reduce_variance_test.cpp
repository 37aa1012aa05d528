// Variances of numbers whose mean is far larger than their differences: as exact as those of
// numbers around 0, over any axes, in any layout, with the same bits for any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "tenure/ops.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

// Long doubles have at least 64 bits, so that their own error is negligible compared with 1e-13.
static_assert(std::numeric_limits<long double>::digits >= 64);

// Course of the numbers along the elements, without the shift.
enum class Course {
  kNoise,
  kRamp,     // rise from the first to the last, so that no part has the mean of all
  kSteps,    // of 500 elements, each with a level of its own
  kOutlier,  // noise, except a first one that is 0, without the shift
};

double number(Course course, std::int64_t i, std::int64_t count, double shift, Random& random) {
  const double noise = static_cast<double>(random() % 1'000'000) / 250'000 - 2;
  switch (course) {
    case Course::kNoise: return shift + noise;
    case Course::kRamp:
      return shift + noise / 100 + static_cast<double>(i) / static_cast<double>(count);
    case Course::kSteps: return shift + noise + static_cast<double>(i / 500 % 7);
    default: return i == 0 ? 0 : shift + noise;
  }
}

// By the definition: the mean, then the deviations from it, and what their sum says of the mean.
double exact_variance(const std::vector<long double>& values, std::uint32_t ddof) {
  const auto count = static_cast<long double>(values.size());
  long double sum = 0;
  for (const long double value : values) sum += value;
  const long double mean = sum / count;
  long double squares = 0;
  long double rest = 0;
  for (const long double value : values) {
    squares += (value - mean) * (value - mean);
    rest += value - mean;
  }
  return static_cast<double>((squares - rest * rest / count) /
                             (count - static_cast<long double>(ddof)));
}

struct Case {
  Shape shape;
  std::uint32_t axes;
};

// Whether some elements, among them the first one, are NaN and left out.
enum class Gaps { kNone, kSome };

class Variances : public testing::TestWithParam<Case> {
 protected:
  // Elements that meet in one result, in row-major order of the results.
  static std::vector<std::vector<long double>> groups(Array& a, std::uint32_t axes) {
    std::int64_t results = 1;
    for (std::uint32_t axis = 0; axis < a.view().rank; ++axis) {
      if ((axes >> axis & 1) == 0) results *= a.view().shape[axis];
    }
    std::vector<std::vector<long double>> found(static_cast<std::size_t>(results));
    const std::vector<Byte*> elements = a.elements();
    std::size_t next = 0;
    for_each_index(a.view(), [&](const Index& index) {
      std::int64_t at = 0;
      for (std::uint32_t axis = 0; axis < a.view().rank; ++axis) {
        if ((axes >> axis & 1) == 0) at = at * a.view().shape[axis] + index[axis];
      }
      double value;
      if (a.view().dtype == TNR_DTYPE_F64) {
        std::memcpy(&value, elements[next++], sizeof value);
      } else {
        float narrow;
        std::memcpy(&narrow, elements[next++], sizeof narrow);
        value = static_cast<double>(narrow);
      }
      if (std::isnan(value)) return;
      found[static_cast<std::size_t>(at)].push_back(static_cast<long double>(value));
    });
    return found;
  }

  template <class T>
  static std::vector<T> reduced(const Context& context, tnr_reduce_op op, const tnr_view& a,
                                std::uint32_t axes, std::uint32_t ddof, std::size_t results) {
    std::vector<T> out(results);
    Layout layout;
    std::int64_t step = 1;
    for (std::uint32_t axis = a.rank; axis-- > 0;) {
      if ((axes >> axis & 1) != 0) continue;
      layout.insert(layout.begin(), {a.shape[axis], step});
      step *= a.shape[axis];
    }
    reduce(context, op, a, axes, ddof,
           {view_of(out.data(), results * sizeof(T), 0, a.dtype, layout)});
    return out;
  }

  template <class T>
  void is_exact(tnr_dtype dtype, Course course, double shift, Arrangement arrangement,
                double tolerance, Gaps gaps = Gaps::kNone) {
    const bool has_gaps = gaps == Gaps::kSome;
    const tnr_reduce_op var_op = has_gaps ? TNR_REDUCE_OP_NAN_VAR : TNR_REDUCE_OP_VAR;
    const tnr_reduce_op std_op = has_gaps ? TNR_REDUCE_OP_NAN_STD : TNR_REDUCE_OP_STD;
    Random random(46);
    Array a(dtype, GetParam().shape, arrangement, random);
    const std::vector<Byte*> elements = a.elements();
    const auto count = static_cast<std::int64_t>(elements.size());
    for (std::int64_t i = 0; i < count; ++i) {
      auto value = static_cast<T>(number(course, i, count, shift, random));
      const bool is_gap = has_gaps && (i < 40 || random() % 3 == 0);
      if (is_gap) value = std::numeric_limits<T>::quiet_NaN();
      std::memcpy(elements[static_cast<std::size_t>(i)], &value, sizeof value);
    }
    const auto expected = groups(a, GetParam().axes);
    const TestContext threads(3);
    for (const std::uint32_t ddof : {0u, 1u}) {
      const auto var =
          reduced<T>(kDefaultContext, var_op, a.view(), GetParam().axes, ddof, expected.size());
      const auto by_threads =
          reduced<T>(threads, var_op, a.view(), GetParam().axes, ddof, expected.size());
      const auto deviation =
          reduced<T>(kDefaultContext, std_op, a.view(), GetParam().axes, ddof, expected.size());
      ASSERT_EQ(std::memcmp(var.data(), by_threads.data(), var.size() * sizeof(T)), 0);
      double worst = 0;
      for (std::size_t i = 0; i < var.size(); ++i) {
        if (expected[i].size() <= ddof) {
          EXPECT_TRUE(std::isnan(var[i]) && std::isnan(deviation[i]));
          continue;
        }
        const double exact = exact_variance(expected[i], ddof);
        const double scale = exact == 0 ? 1 : exact;
        worst = std::max(worst, std::fabs(static_cast<double>(var[i]) - exact) / scale);
        const double root = exact == 0 ? 1 : std::sqrt(exact);
        worst =
            std::max(worst, std::fabs(static_cast<double>(deviation[i]) - std::sqrt(exact)) / root);
      }
      EXPECT_LE(worst, tolerance) << "shift " << shift << ", course " << static_cast<int>(course)
                                  << ", " << describe(a.view());
    }
  }
};

TEST_P(Variances, OfShiftedNumbersAreExact) {
  for (const double shift : {0.0, 1e4, 1e8, -1e8}) {
    for (const Course course : {Course::kNoise, Course::kRamp, Course::kSteps, Course::kOutlier}) {
      for (const Arrangement arrangement :
           {Arrangement::kRowMajor, Arrangement::kColumnMajor, Arrangement::kReversed}) {
        is_exact<double>(TNR_DTYPE_F64, course, shift, arrangement, 1e-13);
      }
    }
  }
  is_exact<double>(TNR_DTYPE_F64, Course::kNoise, 1e12, Arrangement::kRowMajor, 1e-13);
  // Half a unit in the last place of f32, once.
  is_exact<float>(TNR_DTYPE_F32, Course::kNoise, 1e4, Arrangement::kRowMajor, 1.2e-7);
  is_exact<float>(TNR_DTYPE_F32, Course::kRamp, 1e4, Arrangement::kColumnMajor, 1.2e-7);
}

TEST_P(Variances, OfWhatIsNotNanAreExact) {
  for (const double shift : {0.0, 1e8}) {
    for (const Course course : {Course::kNoise, Course::kRamp, Course::kSteps, Course::kOutlier}) {
      for (const Arrangement arrangement :
           {Arrangement::kRowMajor, Arrangement::kColumnMajor, Arrangement::kReversed}) {
        is_exact<double>(TNR_DTYPE_F64, course, shift, arrangement, 1e-13, Gaps::kSome);
      }
    }
  }
  is_exact<float>(TNR_DTYPE_F32, Course::kNoise, 1e4, Arrangement::kRowMajor, 1.2e-7, Gaps::kSome);
  is_exact<float>(TNR_DTYPE_F32, Course::kRamp, 1e4, Arrangement::kColumnMajor, 1.2e-7,
                  Gaps::kSome);
}

// Blocks and tiles that have no number at all, among others.
TEST(VariancesOfNumbers, DoNotDependOnNanAmongThem) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t gap : {1, 100, 5000, 70'000}) {
    const std::int64_t count = gap + 4;
    for (const std::int64_t columns : {1, 3}) {
      std::vector<double> values(static_cast<std::size_t>(count * columns), kNan);
      for (std::int64_t column = 0; column < columns; ++column) {
        // 1e8 + (1, 2) before the gap, and (3, 6) after it.
        const std::int64_t at[] = {0, 1, gap + 2, gap + 3};
        const double numbers[] = {1, 2, 3, 6};
        for (int i = 0; i < 4; ++i) {
          values[static_cast<std::size_t>(at[i] * columns + column)] = 1e8 + numbers[i];
        }
      }
      std::vector<double> out(static_cast<std::size_t>(columns), 9);
      const tnr_view a = view_of(values.data(), values.size() * 8, 0, TNR_DTYPE_F64,
                                 {{count, columns}, {columns, 1}});
      reduce(kDefaultContext, TNR_REDUCE_OP_NAN_VAR, a, 1, 1,
             {view_of(out.data(), out.size() * 8, 0, TNR_DTYPE_F64, {{columns, 1}})});
      for (const double variance : out) EXPECT_DOUBLE_EQ(variance, 14.0 / 3) << gap;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AlongAnyAxes, Variances,
                         testing::Values(Case{{130'000}, 1}, Case{{20'000, 7}, 1},
                                         Case{{3000, 33}, 3}, Case{{7, 20'000}, 2},
                                         Case{{300, 500}, 1}, Case{{20, 31, 200}, 2},
                                         Case{{20, 31, 200}, 5}, Case{{9, 2}, 2}, Case{{2, 9}, 3},
                                         Case{{40, 1}, 2}));

// Deviations from the first number would overflow where those from the mean do not.
TEST(VariancesAtTheEnds, OverflowNoSoonerThanTheVarianceDoes) {
  const std::vector<double> ends = {1e308, -1e308};
  const std::vector<double> large = {1e153, -1e153};
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [values, expected] : {std::pair{ends, infinity}, std::pair{large, 1e306}}) {
    for (const Layout& layout : {Layout{{2, 1}}, Layout{{2, 1}, {1, 1}}}) {
      double out = 9;
      const tnr_view a = view_of(values.data(), 16, 0, TNR_DTYPE_F64, layout);
      reduce(kDefaultContext, TNR_REDUCE_OP_VAR, a, layout.size() == 1 ? 1 : 3, 0,
             {view_of(&out, 8, 0, TNR_DTYPE_F64, {})});
      EXPECT_DOUBLE_EQ(out, expected);
    }
  }
}

}  // namespace
}  // namespace tenure::test
