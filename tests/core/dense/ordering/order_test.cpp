// Sort, top-k and partition against a stable sort by the definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

#include "expect_error.hpp"
#include "rows.hpp"
#include "tenure/ordering.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

// The places of a row's elements in their order.
std::vector<std::int64_t> places_of(const NamedType& type, SortOrder order,
                                    const std::vector<const Byte*>& row) {
  std::vector<std::int64_t> places(row.size());
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(), [&](std::int64_t a, std::int64_t b) {
    const auto compare = order == SortOrder::kRising ? is_less : is_greater;
    return compare(type.type, row[static_cast<std::size_t>(a)], row[static_cast<std::size_t>(b)]);
  });
  return places;
}

// Whether the outputs have the first elements of each row's order.
void expect_ordered(const NamedType& type, SortOrder order, const Array& a, std::uint32_t axis,
                    const Array* indices, const Array* out) {
  for_each_row(a.view(), axis, [&](const Index& index) {
    const auto row = row_at(a, axis, index);
    const auto places = places_of(type, order, row);
    const auto found = out != nullptr ? row_at(*out, axis, index) : std::vector<const Byte*>();
    const auto found_places =
        indices != nullptr ? row_at(*indices, axis, index) : std::vector<const Byte*>();
    for (std::size_t i = 0; i < std::max(found.size(), found_places.size()); ++i) {
      if (indices != nullptr) {
        ASSERT_EQ(index_in(found_places[i]), places[i]) << i;
      }
      const Byte* const expected = row[static_cast<std::size_t>(places[i])];
      if (out != nullptr) {
        ASSERT_TRUE(is_written(type, expected, found[i])) << i;
      }
    }
  });
}

const std::vector<Shape>& sorted_shapes() {
  static const std::vector<Shape> kShapes = {{0},     {1},       {7},      {33},       {256},
                                             {900},   {3, 0, 2}, {0, 4},   {5, 1, 33}, {19, 23},
                                             {40, 3}, {2, 3, 4}, {2, 300}, {80, 5}};
  return kShapes;
}

struct Outputs {
  std::optional<Array> indices;
  std::optional<Array> out;
  Outputs(const NamedType& type, const Shape& shape, Random& random) {
    const auto which = random() % 3;
    const auto arrangement = [&] { return kWritable[random() % std::size(kWritable)]; };
    if (which != 0) indices.emplace(TNR_DTYPE_I64, shape, arrangement(), random);
    if (which != 1) out.emplace(type.dtype, shape, arrangement(), random);
  }
  [[nodiscard]] const Array* indices_array() const { return indices ? &*indices : nullptr; }
  [[nodiscard]] const Array* out_array() const { return out ? &*out : nullptr; }
};
struct OutputViews {
  tnr_view_mut indices_view{};
  tnr_view_mut out_view{};
  const tnr_view_mut* indices = nullptr;
  const tnr_view_mut* out = nullptr;
  explicit OutputViews(const Outputs& of) {
    if (of.indices) indices_view = of.indices->out(), indices = &indices_view;
    if (of.out) out_view = of.out->out(), out = &out_view;
  }
};

class Order : public testing::TestWithParam<NamedType> {};
INSTANTIATE_TEST_SUITE_P(Dtypes, Order, testing::ValuesIn(kTypes),
                         [](const auto& of) { return dtype_name(of.param.dtype); });

// Calls body(a, axis, random) for arrays of every shape and arrangement.
template <class Body>
void for_each_array(const NamedType& type, const Body& body) {
  Random random(17);
  for (const Shape& shape : sorted_shapes()) {
    for (const Arrangement arrangement : kReadable) {
      for (const Numbers numbers : {Numbers::kFew, Numbers::kAnyBits}) {
        Array a(type.dtype, shape, arrangement, random);
        fill_to_sort(a, type.type, numbers, random);
        const auto axis = static_cast<std::uint32_t>(random() % shape.size());
        SCOPED_TRACE(describe(a.view()) + " axis " + std::to_string(axis));
        body(a, axis, random);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(Order, SortIsAStableSort) {
  for_each_array(GetParam(), [&](Array& a, std::uint32_t axis, Random& random) {
    const Shape shape(a.view().shape, a.view().shape + a.view().rank);
    for (const SortOrder order : {SortOrder::kRising, SortOrder::kFalling}) {
      Outputs to(GetParam(), shape, random);
      const OutputViews views(to);
      sort(kDefaultContext, a.view(), axis, order, views.indices, views.out);
      expect_ordered(GetParam(), order, a, axis, to.indices_array(), to.out_array());
      if (to.out) {
        ASSERT_TRUE(to.out->gaps_are_intact());
      }
      if (to.indices) {
        ASSERT_TRUE(to.indices->gaps_are_intact());
      }
    }
  });
}

// Lengths near those of registers, blocks of registers and merged runs, and near the longest that is
// merged.
TEST_P(Order, SortsRowsOfEveryNumberOfBlocks) {
  Random random(23);
  const std::int64_t lengths[] = {31,  33,  47,  63,  64,  65,   66,   96,   127,  128,  129,
                                  130, 192, 255, 257, 383, 1000, 1025, 2049, 4095, 4096, 4097};
  for (const std::int64_t length : lengths) {
    for (const Numbers numbers : {Numbers::kFew, Numbers::kAnyBits}) {
      Array a(GetParam().dtype, {2, length}, Arrangement::kRowMajor, random);
      fill_to_sort(a, GetParam().type, numbers, random);
      SCOPED_TRACE(length);
      for (const SortOrder order : {SortOrder::kRising, SortOrder::kFalling}) {
        Outputs to(GetParam(), {2, length}, random);
        const OutputViews views(to);
        sort(kDefaultContext, a.view(), 1, order, views.indices, views.out);
        expect_ordered(GetParam(), order, a, 1, to.indices_array(), to.out_array());
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(Order, SortWorksInPlace) {
  Random random(3);
  for (const Arrangement arrangement : kWritable) {
    Array a(GetParam().dtype, {37, 41}, arrangement, random);
    fill_to_sort(a, GetParam().type, Numbers::kFew, random);
    Array copy(GetParam().dtype, {37, 41}, Arrangement::kRowMajor, random);
    const auto from = a.elements();
    const auto to = copy.elements();
    for (std::size_t i = 0; i < from.size(); ++i) {
      std::memcpy(to[i], from[i], element_size(GetParam().dtype));
    }
    const tnr_view_mut out = a.out();
    sort(kDefaultContext, out.view, 0, SortOrder::kRising, nullptr, &out);
    expect_ordered(GetParam(), SortOrder::kRising, copy, 0, nullptr, &a);
  }
}

TEST_P(Order, TopKIsTheBeginningOfTheSort) {
  for_each_array(GetParam(), [&](Array& a, std::uint32_t axis, Random& random) {
    Shape shape(a.view().shape, a.view().shape + a.view().rank);
    const std::int64_t extent = shape[axis];
    for (const std::int64_t k : {std::int64_t{0}, extent / 3, extent}) {
      shape[axis] = k;
      for (const SortOrder order : {SortOrder::kRising, SortOrder::kFalling}) {
        Outputs to(GetParam(), shape, random);
        const OutputViews views(to);
        top_k(kDefaultContext, a.view(), axis, order, views.indices, views.out);
        if (k == 0) continue;
        expect_ordered(GetParam(), order, a, axis, to.indices_array(), to.out_array());
        if (to.out) {
          ASSERT_TRUE(to.out->gaps_are_intact());
        }
      }
    }
  });
}

TEST_P(Order, PartitionPutsOneInItsPlace) {
  const NamedType& type = GetParam();
  for_each_array(type, [&](Array& a, std::uint32_t axis, Random& random) {
    const Shape shape(a.view().shape, a.view().shape + a.view().rank);
    if (shape[axis] == 0) return;
    const auto kth = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(shape[axis]));
    Outputs to(type, shape, random);
    const OutputViews views(to);
    partition(kDefaultContext, a.view(), axis, kth, views.indices, views.out);
    for_each_row(a.view(), axis, [&](const Index& index) {
      const auto row = row_at(a, axis, index);
      std::vector<const Byte*> found;
      if (to.out) found = row_at(*to.out, axis, index);
      if (to.indices) {
        std::vector<const Byte*> chosen;
        std::vector<bool> seen(row.size());
        for (const Byte* const place : row_at(*to.indices, axis, index)) {
          const auto at = static_cast<std::size_t>(index_in(place));
          ASSERT_LT(at, row.size());
          ASSERT_FALSE(seen[at]);
          seen[at] = true;
          chosen.push_back(row[at]);
        }
        for (std::size_t i = 0; i < found.size(); ++i) {
          ASSERT_TRUE(is_written(type, chosen[i], found[i]) ||
                      (!is_less(type.type, chosen[i], found[i]) &&
                       !is_less(type.type, found[i], chosen[i])));
        }
        if (!to.out) found = chosen;
      }
      const Byte* const middle = found[static_cast<std::size_t>(kth)];
      const auto places = places_of(type, SortOrder::kRising, row);
      const Byte* const expected =
          row[static_cast<std::size_t>(places[static_cast<std::size_t>(kth)])];
      ASSERT_FALSE(is_less(type.type, middle, expected));
      ASSERT_FALSE(is_less(type.type, expected, middle));
      for (std::size_t i = 0; i < found.size(); ++i) {
        const bool is_before = i < static_cast<std::size_t>(kth);
        ASSERT_FALSE(is_before ? is_less(type.type, middle, found[i])
                               : is_less(type.type, found[i], middle));
      }
      // The row keeps its elements, bit by bit.
      std::vector<std::vector<Byte>> before;
      std::vector<std::vector<Byte>> after;
      for (std::size_t i = 0; i < row.size(); ++i) {
        before.push_back(written(type, row[i]));
        after.push_back(written(type, found[i]));
      }
      std::sort(before.begin(), before.end());
      std::sort(after.begin(), after.end());
      ASSERT_EQ(before, after);
    });
  });
}

TEST_P(Order, IsTheSameForAnyNumberOfThreads) {
  const TestContext threads(3);
  Random random(5);
  for (const Shape& shape : {Shape{70'000}, Shape{2, 66'000}, Shape{2000, 40}}) {
    for (const Numbers numbers : {Numbers::kFew, Numbers::kAnyBits}) {
      Array a(GetParam().dtype, shape, Arrangement::kRowMajor, random);
      fill_to_sort(a, GetParam().type, numbers, random);
      const auto axis = static_cast<std::uint32_t>(shape.size() - 1);
      Array out(GetParam().dtype, shape, Arrangement::kRowMajor, random);
      Array indices(TNR_DTYPE_I64, shape, Arrangement::kRowMajor, random);
      const tnr_view_mut out_view = out.out();
      const tnr_view_mut indices_view = indices.out();
      const auto call = [&](const Context& context, int which) {
        std::fill_n(const_cast<Byte*>(static_cast<const Byte*>(out_view.view.base)),
                    out_view.view.size_bytes, Byte{0});
        switch (which) {
          case 0:
            sort(context, a.view(), axis, SortOrder::kRising, &indices_view, &out_view);
            break;
          case 1: sort(context, a.view(), axis, SortOrder::kFalling, nullptr, &out_view); break;
          default: partition(context, a.view(), axis, 9, &indices_view, &out_view);
        }
        return std::pair{out.snapshot(), indices.snapshot()};
      };
      for (const int which : {0, 1, 2}) {
        const auto alone = call(kDefaultContext, which);
        const auto shared = call(threads, which);
        ASSERT_EQ(alone, shared) << which;
        if (which == 0) {
          expect_ordered(GetParam(), SortOrder::kRising, a, axis, &indices, &out);
        }
      }
    }
  }
}

// Digits that all records share, and others in few places.
TEST(OrderOfIntegers, NarrowAndSkewedNumbersAreSorted) {
  Random random(9);
  for (const std::int64_t count : {100, 5000, 200'000}) {
    for (const int kind : {0, 1, 2, 3, 4}) {
      std::vector<std::uint64_t> numbers(static_cast<std::size_t>(count));
      for (std::uint64_t& number : numbers) {
        switch (kind) {
          case 0: number = random() % 3; break;
          case 1: number = std::uint64_t{1} << random() % 64; break;
          case 2: number = random() % 100 == 0 ? random() : random() % 1000 + (1ull << 40); break;
          case 3: number = random() << 40 | 77; break;
          default: number = random() % 2 << 63;
        }
      }
      Literal<std::uint64_t> a(TNR_DTYPE_U64, numbers);
      std::vector<std::int64_t> places(numbers.size());
      Literal<std::int64_t> indices(TNR_DTYPE_I64, places);
      const tnr_view_mut out = a.out();
      const tnr_view_mut indices_out = indices.out();
      sort(kDefaultContext, a.view, 0, SortOrder::kRising, &indices_out, nullptr);
      sort(kDefaultContext, a.view, 0, SortOrder::kRising, nullptr, &out);
      std::iota(places.begin(), places.end(), 0);
      std::stable_sort(places.begin(), places.end(), [&](std::int64_t x, std::int64_t y) {
        return numbers[static_cast<std::size_t>(x)] < numbers[static_cast<std::size_t>(y)];
      });
      std::sort(numbers.begin(), numbers.end());
      ASSERT_EQ(a.values, numbers);
      ASSERT_EQ(indices.values, places);
    }
  }
}

// Rows that are split into ranges: with one number in many places, with few outside of where most
// are, and with numbers that a sample at equal distances does not see.
TEST(OrderOfLongRows, IsTheStableOrderWhateverTheRangesAre) {
  const TestContext threads(2);
  const Context& shared = threads;
  Random random(11);
  const std::int64_t count = 150'001;
  for (const int kind : {0, 1, 2, 3, 4, 5, 6}) {
    SCOPED_TRACE(kind);
    std::vector<float> numbers(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto bits = static_cast<std::int32_t>(random());
      const auto uniform = static_cast<float>(bits) * 0x1p-31f;
      float& number = numbers[i];
      switch (kind) {
        case 0: number = uniform; break;
        case 1: number = bits % 4 == 0 ? uniform : 0.0f; break;
        case 2: number = bits % 4 == 0 ? uniform : bits % 4 == 1 ? -0.0f : 0.0f; break;
        case 3: number = i % 18 == 0 ? 1.0f : uniform; break;
        case 4: number = 1e20f * uniform * uniform * uniform * uniform * uniform; break;
        case 5: number = bits % 8 == 0 ? std::numeric_limits<float>::quiet_NaN() : uniform; break;
        default: number = static_cast<float>(i / 5000); break;
      }
    }
    std::vector<std::int64_t> expected(numbers.size());
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(), [&](std::int64_t x, std::int64_t y) {
      const float a = numbers[static_cast<std::size_t>(x)];
      const float b = numbers[static_cast<std::size_t>(y)];
      return a < b || (std::isnan(b) && !std::isnan(a));
    });
    const auto number_at = [&](std::int64_t rank) {
      return numbers[static_cast<std::size_t>(expected[static_cast<std::size_t>(rank)])];
    };
    Literal<float> a(TNR_DTYPE_F32, numbers);
    for (const Context* context : {&kDefaultContext, &shared}) {
      std::vector<std::int64_t> places(numbers.size());
      Literal<std::int64_t> indices(TNR_DTYPE_I64, places);
      Literal<float> sorted(TNR_DTYPE_F32, numbers);
      const tnr_view_mut indices_out = indices.out();
      const tnr_view_mut sorted_out = sorted.out();
      sort(*context, a.view, 0, SortOrder::kRising, &indices_out, nullptr);
      ASSERT_EQ(indices.values, expected);
      sort(*context, sorted_out.view, 0, SortOrder::kRising, nullptr, &sorted_out);
      for (std::int64_t i = 0; i < count; ++i) {
        const float number = number_at(i);
        ASSERT_EQ(std::memcmp(&sorted.values[static_cast<std::size_t>(i)], &number, 4), 0) << i;
      }
      for (const std::int64_t k : {std::int64_t{1}, std::int64_t{20}, count / 2, count - 1}) {
        Literal<std::int64_t> first(TNR_DTYPE_I64,
                                    std::vector<std::int64_t>(static_cast<std::size_t>(k)));
        const tnr_view_mut first_out = first.out();
        top_k(*context, a.view, 0, SortOrder::kRising, &first_out, nullptr);
        ASSERT_TRUE(std::equal(first.values.begin(), first.values.end(), expected.begin())) << k;
        partition(*context, a.view, 0, k, nullptr, &sorted_out);
        const float middle = sorted.values[static_cast<std::size_t>(k)];
        ASSERT_TRUE(middle == number_at(k) || (std::isnan(middle) && std::isnan(number_at(k))));
      }
      const double q[] = {0, 0.25, 0.5, 1};
      for (const tenure::Nans nans : {tenure::Nans::kGiven, tenure::Nans::kSkipped}) {
        Literal<float> quantiles(TNR_DTYPE_F32, std::vector<float>(4));
        const tnr_view_mut quantiles_out = quantiles.out();
        quantile(*context, a.view, 1, q, 4, nans, quantiles_out);
        const auto last_number = std::partition_point(
            expected.begin(), expected.end(),
            [&](std::int64_t i) { return !std::isnan(numbers[static_cast<std::size_t>(i)]); });
        const std::int64_t counted = last_number - expected.begin();
        for (std::size_t i = 0; i < 4; ++i) {
          const float found = quantiles.values[i];
          if (nans == tenure::Nans::kGiven && counted < count) {
            ASSERT_TRUE(std::isnan(found));
            continue;
          }
          const double place = q[i] * static_cast<double>(counted - 1);
          const auto low = static_cast<std::int64_t>(place);
          const float next = number_at(std::min(low + 1, counted - 1));
          ASSERT_GE(found, number_at(low)) << i;
          ASSERT_LE(found, next) << i;
        }
      }
    }
  }
}

TEST(OrderRefusals, NameTheValueAndTheBound) {
  Random random(1);
  Array a(TNR_DTYPE_F32, {4, 3}, Arrangement::kRowMajor, random);
  Array out(TNR_DTYPE_F32, {4, 3}, Arrangement::kRowMajor, random);
  Array indices(TNR_DTYPE_I64, {4, 3}, Arrangement::kRowMajor, random);
  Array longer(TNR_DTYPE_F32, {5, 3}, Arrangement::kRowMajor, random);
  Array floats(TNR_DTYPE_F64, {4, 3}, Arrangement::kRowMajor, random);
  Array complex(TNR_DTYPE_C64, {4, 3}, Arrangement::kRowMajor, random);
  const tnr_view_mut to = out.out();
  const tnr_view_mut to_indices = indices.out();
  const tnr_view_mut to_longer = longer.out();
  const tnr_view_mut to_floats = floats.out();
  const tnr_view_mut to_complex = complex.out();
  const auto order = SortOrder::kRising;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"axis is 2 but a.rank is 2"},
               [&] { sort(kDefaultContext, a.view(), 2, order, nullptr, &to); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"indices and out are NULL but one of them is needed"},
               [&] { sort(kDefaultContext, a.view(), 0, order, nullptr, nullptr); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out.shape[0] is 5 but must be 4"},
               [&] { sort(kDefaultContext, a.view(), 0, order, nullptr, &to_longer); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out.dtype is f64 but must be f32"},
               [&] { sort(kDefaultContext, a.view(), 0, order, nullptr, &to_floats); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"indices.dtype is f32 but must be i64"},
               [&] { sort(kDefaultContext, a.view(), 0, order, &to, nullptr); });
  expect_error(TNR_STATUS_UNSUPPORTED, {"sort does not take c64"},
               [&] { sort(kDefaultContext, complex.view(), 0, order, nullptr, &to_complex); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"k is 5 but a.shape[0] is 4"},
               [&] { top_k(kDefaultContext, a.view(), 0, order, nullptr, &to_longer); });
  for (const std::int64_t kth : {-1, 4}) {
    EXPECT_THROW(partition(kDefaultContext, a.view(), 0, kth, &to_indices, &to), Error);
  }
  const tnr_view_mut same = a.out();
  expect_error(TNR_STATUS_ALIASED, {"out is exactly a but must share no byte with it"},
               [&] { top_k(kDefaultContext, a.view(), 0, order, nullptr, &same); });
}

}  // namespace
}  // namespace tenure::test
