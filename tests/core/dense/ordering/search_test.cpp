// Quantiles, searches, different elements and counts against plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "expect_error.hpp"
#include "rows.hpp"
#include "tenure/ordering.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

const std::vector<Shape>& searched_shapes() {
  static const std::vector<Shape> kShapes = {{0}, {1}, {7}, {700}, {3, 0, 2}, {19, 23}, {2, 3, 40}};
  return kShapes;
}

bool is_equal(Type type, const Byte* a, const Byte* b) {
  return !is_less(type, a, b) && !is_less(type, b, a);
}

class Search : public testing::TestWithParam<NamedType> {};
INSTANTIATE_TEST_SUITE_P(Dtypes, Search, testing::ValuesIn(kTypes),
                         [](const auto& of) { return dtype_name(of.param.dtype); });

TEST_P(Search, SearchsortedCountsTheSmaller) {
  const NamedType& type = GetParam();
  const TestContext threads(2);
  Random random(1);
  for (const std::int64_t length : {0, 1, 2, 9, 300}) {
    for (const Shape& shape : searched_shapes()) {
      Array unsorted(type.dtype, {length}, Arrangement::kGaps, random);
      Array a(type.dtype, {length}, kReadable[random() % 5], random);
      fill_to_sort(unsorted, type.type, Numbers::kFew, random);
      const tnr_view_mut sorted = a.out();
      sort(kDefaultContext, unsorted.view(), 0, SortOrder::kRising, nullptr, &sorted);
      Array values(type.dtype, shape, kReadable[random() % 6], random);
      fill_to_sort(values, type.type, Numbers::kFew, random);
      for (const Side side : {Side::kLeft, Side::kRight}) {
        Array out(TNR_DTYPE_I64, shape, kWritable[random() % 5], random);
        searchsorted(random() % 2 == 0 ? threads : kDefaultContext, a.view(), values.view(), side,
                     out.out());
        const auto places = out.elements();
        const auto given = values.elements();
        for (std::size_t i = 0; i < given.size(); ++i) {
          std::int64_t expected = 0;
          for (const Byte* const element : a.elements()) {
            const bool is_before = side == Side::kLeft ? is_less(type.type, element, given[i])
                                                       : !is_less(type.type, given[i], element);
            expected += is_before ? 1 : 0;
          }
          ASSERT_EQ(index_in(places[i]), expected);
        }
        ASSERT_TRUE(out.gaps_are_intact());
      }
    }
  }
}

TEST_P(Search, UniqueHasEachElementOnce) {
  const NamedType& type = GetParam();
  const TestContext threads(2);
  Random random(2);
  for (const Shape& shape : searched_shapes()) {
    for (const Arrangement arrangement : kReadable) {
      Array a(type.dtype, shape, arrangement, random);
      fill_to_sort(a, type.type, Numbers::kFew, random);
      SCOPED_TRACE(describe(a.view()));
      Array inverse(TNR_DTYPE_I64, shape, kWritable[random() % 5], random);
      const tnr_view_mut to_inverse = inverse.out();
      const bool has_inverse = random() % 2 == 0;
      tnr_view_mut counts = {};
      tnr_view_mut out = {};
      const BlobToken blob = unique(random() % 2 == 0 ? threads : kDefaultContext, a.view(),
                                    has_inverse ? &to_inverse : nullptr, &counts, out);
      const auto elements = a.elements();
      const auto width = element_size(type.dtype);
      const auto* const uniques = static_cast<const Byte*>(out.view.data);
      const auto* const times = static_cast<const Byte*>(counts.view.data);
      const auto size = static_cast<std::size_t>(out.view.shape[0]);
      ASSERT_EQ(out.view.dtype, type.dtype);
      ASSERT_EQ(counts.view.shape[0], out.view.shape[0]);
      std::int64_t all = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const Byte* const element = uniques + i * width;
        if (i != 0) {
          ASSERT_TRUE(is_less(type.type, element - width, element));
        }
        std::int64_t expected = 0;
        const Byte* first = nullptr;
        for (const Byte* const other : elements) {
          if (!is_equal(type.type, element, other)) continue;
          if (first == nullptr) first = other;
          ++expected;
        }
        ASSERT_TRUE(first != nullptr && is_written(type, first, element));
        ASSERT_EQ(index_in(times + 8 * i), expected);
        all += expected;
      }
      ASSERT_EQ(all, static_cast<std::int64_t>(elements.size()));
      if (has_inverse) {
        const auto places = inverse.elements();
        for (std::size_t i = 0; i < elements.size(); ++i) {
          const auto place = static_cast<std::size_t>(index_in(places[i]));
          ASSERT_LT(place, size);
          ASSERT_TRUE(is_equal(type.type, uniques + place * width, elements[i]));
        }
        ASSERT_TRUE(inverse.gaps_are_intact());
      }
      blob_release(blob);
    }
  }
}

TEST_P(Search, HistogramCountsBetweenEdges) {
  const NamedType& type = GetParam();
  const TestContext threads(2);
  Random random(3);
  for (const std::int64_t bins : {0, 1, 5, 40}) {
    for (const Shape& shape : searched_shapes()) {
      Array unsorted(type.dtype, {bins + 1}, Arrangement::kRowMajor, random);
      Array edges(type.dtype, {bins + 1}, Arrangement::kReversed, random);
      fill_with_numbers(unsorted, type.type, random);
      const tnr_view_mut sorted = edges.out();
      sort(kDefaultContext, unsorted.view(), 0, SortOrder::kRising, nullptr, &sorted);
      Array a(type.dtype, shape, kReadable[random() % 6], random);
      fill_to_sort(a, type.type, Numbers::kFew, random);
      Array out(TNR_DTYPE_I64, {bins}, kWritable[random() % 5], random);
      histogram(random() % 2 == 0 ? threads : kDefaultContext, a.view(), &edges.view(), 0, 0,
                out.out());
      const auto counts = out.elements();
      const auto edge = edges.elements();
      for (std::size_t bin = 0; bin + 1 < edge.size(); ++bin) {
        std::int64_t expected = 0;
        const bool is_last = bin + 2 == edge.size();
        for (const Byte* const x : a.elements()) {
          if (is_float(type.type) && is_nan_element(type.type, x)) continue;
          const bool is_below = is_last ? !is_less(type.type, edge[bin + 1], x)
                                        : is_less(type.type, x, edge[bin + 1]);
          expected += !is_less(type.type, x, edge[bin]) && is_below ? 1 : 0;
        }
        ASSERT_EQ(index_in(counts[bin]), expected) << bin;
      }
      ASSERT_TRUE(out.gaps_are_intact());
    }
  }
}

TEST(Histogram, EvenBinsEndWhereTheirEdgesAre) {
  std::vector<double> values;
  for (int i = -3; i <= 33; ++i) values.push_back(i * 0.1);
  values.push_back(kNan);
  const Literal<double> a(TNR_DTYPE_F64, values);
  const Literal<std::int64_t> out(TNR_DTYPE_I64, std::vector<std::int64_t>(30));
  histogram(kDefaultContext, a.view, nullptr, 0, 3, out.out());
  std::vector<std::int64_t> expected(30);
  for (const double value : values) {
    for (int bin = 0; bin < 30; ++bin) {
      const double step = 3.0 / 30;
      const double end = bin == 29 ? 3.0 : (bin + 1) * step;
      if (value >= bin * step && (value < end || (bin == 29 && value == 3.0))) {
        ++expected[static_cast<std::size_t>(bin)];
      }
    }
  }
  EXPECT_EQ(out.values, expected);
  EXPECT_EQ(std::accumulate(expected.begin(), expected.end(), std::int64_t{0}), 31);
}

TEST(Histogram, RefusalsNameTheEdge) {
  const Literal<double> a(TNR_DTYPE_F64, {1, 2});
  const Literal<double> falling(TNR_DTYPE_F64, {1, 3, 2});
  const Literal<double> nan(TNR_DTYPE_F64, {1, 2, kNan});
  const Literal<std::int64_t> out(TNR_DTYPE_I64, {7, 7});
  const Literal<std::int64_t> longer(TNR_DTYPE_I64, {7, 7, 7});
  const auto call = [&](const tnr_view* edges, double low, double high,
                        const Literal<std::int64_t>& to) {
    return [=, &a, &to] { histogram(kDefaultContext, a.view, edges, low, high, to.out()); };
  };
  const double infinity = std::numeric_limits<double>::infinity();
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"edges[2] is less than the one before"},
               call(&falling.view, 0, 0, out));
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"edges[2] is NaN"}, call(&nan.view, 0, 0, out));
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"edges.shape[0] is 3", "out.shape[0], which is 3"},
               call(&nan.view, 0, 0, longer));
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"low is 1", "with edges"}, call(&nan.view, 1, 2, out));
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"low is 2 and high is 2"}, call(nullptr, 2, 2, out));
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"high is inf"}, call(nullptr, 2, infinity, out));
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"low is nan"}, call(nullptr, kNan, 2, out));
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"is not finite"}, call(nullptr, -1.5e308, 1e308, out));
  EXPECT_EQ(out.values, (std::vector<std::int64_t>{7, 7}));
}

TEST_P(Search, BincountCountsWholeNumbers) {
  const NamedType& type = GetParam();
  if (type.type <= Type::kBF16 || type.type == Type::kBool8) {
    Random random(1);
    const Array a(type.dtype, {3}, Arrangement::kRowMajor, random);
    const Literal<std::int64_t> out(TNR_DTYPE_I64, {7});
    expect_error(TNR_STATUS_UNSUPPORTED, {"bincount does not take"},
                 [&] { bincount(kDefaultContext, a.view(), nullptr, out.out()); });
    return;
  }
  const TestContext threads(2);
  Random random(4);
  for (const Shape& shape : searched_shapes()) {
    for (const Arrangement arrangement : kReadable) {
      Array a(type.dtype, shape, arrangement, random);
      fill_with_numbers(a, type.type, random);
      Array weights(TNR_DTYPE_F32, shape, kReadable[random() % 6], random);
      fill_with_numbers(weights, Type::kF32, random);
      Array out(TNR_DTYPE_I64, {17}, kWritable[random() % 5], random);
      Array sums(TNR_DTYPE_F32, {17}, kWritable[random() % 5], random);
      bincount(random() % 2 == 0 ? threads : kDefaultContext, a.view(), nullptr, out.out());
      bincount(threads, a.view(), &weights.view(), sums.out());
      std::int64_t expected[17] = {};
      double expected_sums[17] = {};
      const auto elements = a.elements();
      const auto weight = weights.elements();
      for (std::size_t i = 0; i < elements.size(); ++i) {
        std::int64_t number = 0;
        kernels::reference::cast(type.type, elements[i], Type::kI64,
                                 reinterpret_cast<Byte*>(&number));
        float own;
        std::memcpy(&own, weight[i], sizeof own);
        ++expected[number];
        expected_sums[number] += static_cast<double>(own);
      }
      for (std::size_t i = 0; i < 17; ++i) {
        float sum;
        std::memcpy(&sum, sums.elements()[i], sizeof sum);
        ASSERT_EQ(index_in(out.elements()[i]), expected[i]);
        ASSERT_EQ(sum, static_cast<float>(expected_sums[i]));
      }
    }
  }
}

TEST(Bincount, RefusalsNameThePlaceAndTheBound) {
  const Literal<std::int64_t> out(TNR_DTYPE_I64, {7, 7, 7});
  const Literal<std::int8_t> low(TNR_DTYPE_I8, {0, 2, -1, 5});
  const Literal<std::uint64_t> high(TNR_DTYPE_U64, {0, 1, ~std::uint64_t{0}});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"element 2 of a is -1", "which is 3"},
               [&] { bincount(kDefaultContext, low.view, nullptr, out.out()); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"element 2 of a is 18446744073709551615", "is 3"},
               [&] { bincount(kDefaultContext, high.view, nullptr, out.out()); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out.dtype is i64 but must be f32 or f64"},
               [&] { bincount(kDefaultContext, high.view, &high.view, out.out()); });
  EXPECT_EQ(out.values, (std::vector<std::int64_t>{7, 7, 7}));
}

// NumPy's definition by a sorted copy.
double quantile_of(std::vector<double> values, double q, tenure::Nans nans) {
  const auto numbers = std::stable_partition(values.begin(), values.end(),
                                             [](double value) { return !std::isnan(value); });
  if (numbers != values.end() && nans == tenure::Nans::kGiven) return kNan;
  values.erase(numbers, values.end());
  if (values.empty()) return kNan;
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const double t = at - std::floor(at);
  const double a = values[low];
  const double b = values[std::min(low + 1, values.size() - 1)];
  if (t == 0 || a == b) return a;
  if (std::isinf(a) && std::isinf(b)) return kNan;
  if (std::isinf(a) || std::isinf(b)) return std::isinf(a) ? a : b;
  if (std::isinf(b - a)) return a * (1 - t) + b * t;
  return t < 0.5 ? a + (b - a) * t : b - (b - a) * (1 - t);
}

// Few of the least and greatest of a dtype.
void fill_with_extremes(Array& array, const NamedType& type, Random& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double largest = type.type == Type::kF64   ? std::numeric_limits<double>::max()
                         : type.type == Type::kF16 ? 65504
                                                   : 0x1.fep127;
  const double all[] = {-kInfinity, kInfinity, -largest, largest, largest / 2, 0, -0.0, 1, 2};
  const std::size_t count = 2 + random() % 8;
  for (Byte* const element : array.elements()) {
    const double number = all[random() % count];
    kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&number), type.type,
                             element);
  }
}

TEST_P(Search, QuantilesAreBetweenSortedElements) {
  const NamedType& type = GetParam();
  if (!is_float(type.type)) return;
  const TestContext threads(2);
  Random random(6);
  for (const Shape& shape : {Shape{0}, Shape{1}, Shape{2}, Shape{701}, Shape{4, 0}, Shape{50, 2},
                             Shape{19, 23}, Shape{5, 3, 40}}) {
    for (const Arrangement arrangement : kReadable) {
      Array a(type.dtype, shape, arrangement, random);
      switch (random() % 3) {
        case 0: fill_with_numbers(a, type.type, random); break;
        case 1: fill_to_sort(a, type.type, Numbers::kFew, random); break;
        default: fill_with_extremes(a, type, random); break;
      }
      SCOPED_TRACE(describe(a.view()));
      const auto axes = static_cast<std::uint32_t>(random() % (1u << shape.size()));
      std::vector<double> q = {0.5, 0, 1, 0.25, 0.9, 1.0 / 3};
      q.resize(1 + random() % q.size());
      const tenure::Nans nans = random() % 2 == 0 ? tenure::Nans::kGiven : tenure::Nans::kSkipped;
      Shape out_shape = {static_cast<std::int64_t>(q.size())};
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        if ((axes >> axis & 1u) == 0) out_shape.push_back(shape[axis]);
      }
      Array out(type.dtype, out_shape, kWritable[random() % 5], random);
      quantile(random() % 2 == 0 ? threads : kDefaultContext, a.view(), axes, q.data(),
               static_cast<std::uint32_t>(q.size()), nans, out.out());
      ASSERT_TRUE(out.gaps_are_intact());
      for_each_index(out.view(), [&](const Index& at) {
        std::vector<double> values;
        for_each_index(a.view(), [&](const Index& index) {
          std::size_t out_axis = 1;
          for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            if ((axes >> axis & 1u) == 0 && at[out_axis++] != index[axis]) return;
          }
          double value;
          kernels::reference::cast(
              type.type, static_cast<const Byte*>(a.view().base) + byte_of(a.view(), index),
              Type::kF64, reinterpret_cast<Byte*>(&value));
          values.push_back(value);
        });
        const double exact = quantile_of(values, q[static_cast<std::size_t>(at[0])], nans);
        Byte rounded[8];
        kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&exact), type.type,
                                 rounded);
        const Byte* const found =
            static_cast<const Byte*>(out.view().base) + byte_of(out.view(), at);
        ASSERT_TRUE(is_equal(type.type, rounded, found)) << exact;
      });
    }
  }
}

TEST(Quantile, RefusalsNameTheValueAndTheBound) {
  const Literal<double> a(TNR_DTYPE_F64, {1, 2});
  const Literal<double> out(TNR_DTYPE_F64, {7});
  const auto call = [&](double q, std::uint32_t axes, std::uint32_t count) {
    return [=, &a, &out] {
      quantile(kDefaultContext, a.view, axes, &q, count, tenure::Nans::kGiven, out.out());
    };
  };
  for (const double q : {-0.1, 1.1, kNan}) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {"q[0] is", "at least 0 and at most 1"},
                 call(q, 1, 1));
  }
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"q_count is 0"}, call(0.5, 1, 0));
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"axes is 0x2 but a.rank is 1"}, call(0.5, 2, 1));
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out.rank is 1 but must be 2"}, call(0.5, 0, 1));
  const Literal<std::int64_t> integers(TNR_DTYPE_I64, {1, 2});
  const double q = 0.5;
  expect_error(TNR_STATUS_UNSUPPORTED, {"quantile does not take i64"}, [&] {
    quantile(kDefaultContext, integers.view, 1, &q, 1, tenure::Nans::kGiven, out.out());
  });
  EXPECT_EQ(out.values, std::vector<double>{7});
}

// Elements that one repeats may be more than memory has.
TEST(Quantile, ElementsWithoutEndAreRefused) {
  const double one = 1;
  const tnr_view a = view_of(&one, sizeof one, 0, TNR_DTYPE_F64, {{TNR_MAX_ELEMENTS, 0}});
  const Literal<double> out(TNR_DTYPE_F64, {7});
  const double q = 0.5;
  expect_error(TNR_STATUS_OUT_OF_MEMORY, {"576460752303423487"},
               [&] { quantile(kDefaultContext, a, 1, &q, 1, tenure::Nans::kGiven, out.out()); });
}

}  // namespace
}  // namespace tenure::test
