// concat, pad and triangular against loops over elements.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <numeric>

#include "arrays.hpp"
#include "expect_error.hpp"
#include "tenure/movement.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

constexpr tnr_dtype kThreeBytes = 0x00030801;        // u8 x 3
constexpr tnr_dtype kWiderThanNumbers = 0x00056001;  // 5 lanes of 96 bits
constexpr tnr_dtype kMoved[] = {TNR_DTYPE_U8,    TNR_DTYPE_F32, TNR_DTYPE_C128,
                                TNR_DTYPE_BOOL8, kThreeBytes,   kWiderThanNumbers};

Arrangement any_of(const auto& arrangements, Random& random) {
  return arrangements[random() % std::size(arrangements)];
}

// Tried with one dtype.
bool is_large(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()) > 5000;
}

// An element as the library writes it; nullptr: zeros.
std::vector<Byte> written(tnr_dtype dtype, const Byte* element) {
  std::vector<Byte> bytes(element_size(dtype));
  if (element != nullptr) std::memcpy(bytes.data(), element, bytes.size());
  if (dtype == TNR_DTYPE_BOOL8) bytes[0] = bytes[0] != 0 ? 1 : 0;
  return bytes;
}

// Each element of `out` is that at source(index), or zeros where that is nullptr.
void expect_elements(Array& out, const auto& source) {
  EXPECT_TRUE(out.gaps_are_intact());
  const tnr_dtype dtype = out.view().dtype;
  for_each_index(out.view(), [&](const Index& index) {
    ASSERT_EQ(0, std::memcmp(out.broadcast_element(index, out.view().rank),
                             written(dtype, source(index)).data(), element_size(dtype)))
        << describe(out.view());
  });
}

TEST(Concat, JoinsPartsOfAnyLayoutAlongAnyAxis) {
  Random random(31);
  const TestContext three(3);
  const std::vector<Shape> joined = {{7}, {300000}, {4, 5}, {3, 9, 2}, {2000, 77}, {1, 40000, 3}};
  for (const Shape& shape : joined) {
    for (std::uint32_t axis = 0; axis < shape.size(); ++axis) {
      for (const tnr_dtype dtype : kMoved) {
        if (is_large(shape) && dtype != TNR_DTYPE_F32) continue;
        Array out(dtype, shape, any_of(kWritable, random), random);
        std::vector<std::unique_ptr<Array>> parts;
        std::vector<tnr_view> views;
        std::vector<std::int64_t> begins;
        for (std::int64_t begin = 0; begin < shape[axis] || parts.empty();) {
          Shape part = shape;
          const auto most = static_cast<std::uint64_t>(shape[axis] / 3 + 2);
          part[axis] = std::min<std::int64_t>(static_cast<std::int64_t>(random() % most),
                                              shape[axis] - begin);
          parts.push_back(std::make_unique<Array>(dtype, part, any_of(kReadable, random), random));
          fill_with_bits(*parts.back(), random);
          views.push_back(parts.back()->view());
          begins.push_back(begin);
          begin += part[axis];
        }
        for (const Context& context : {Context(kDefaultContext), Context(three)}) {
          concat(context, views.data(), static_cast<std::uint32_t>(views.size()), axis, out.out());
          expect_elements(out, [&](Index index) {
            std::size_t part = begins.size() - 1;
            while (begins[part] > index[axis]) --part;
            index[axis] -= begins[part];
            return parts[part]->broadcast_element(index, out.view().rank);
          });
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(Concat, RefusesPartsThatDoNotFit) {
  Literal<float> two(TNR_DTYPE_F32, {1, 2});
  Literal<float> five(TNR_DTYPE_F32, {1, 2, 3, 4, 5});
  Literal<double> doubles(TNR_DTYPE_F64, {1, 2, 3});
  const tnr_view same[] = {two.view, two.view};
  const tnr_view other[] = {two.view, doubles.view};
  const tnr_view itself[] = {two.view, five.view};
  const auto refuses = [](std::initializer_list<std::string> words, const auto& call) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, words, call);
  };
  refuses({"part_count is 0"}, [&] { concat(kDefaultContext, same, 0, 0, five.out()); });
  refuses({"parts is NULL"}, [&] { concat(kDefaultContext, nullptr, 1, 0, five.out()); });
  refuses({"axis is 1", "out.rank is 1"}, [&] { concat(kDefaultContext, same, 2, 1, five.out()); });
  refuses({"out.shape[0] is 5", "add up to 4"},
          [&] { concat(kDefaultContext, same, 2, 0, five.out()); });
  refuses({"parts[1].dtype is f64"}, [&] { concat(kDefaultContext, other, 2, 0, five.out()); });
  expect_error(TNR_STATUS_ALIASED, {"parts[1]"},
               [&] { concat(kDefaultContext, itself, 2, 0, five.out()); });
}

// Index `at` of the padded axis as an index of the input, or -1.
std::int64_t padded_from(tnr_pad_mode mode, std::int64_t extent, std::int64_t at) {
  const auto wrapped = [](std::int64_t index, std::int64_t period) {
    return ((index % period) + period) % period;
  };
  switch (mode) {
    case TNR_PAD_MODE_CONSTANT: return at >= 0 && at < extent ? at : -1;
    case TNR_PAD_MODE_EDGE: return std::clamp<std::int64_t>(at, 0, extent - 1);
    case TNR_PAD_MODE_WRAP: return wrapped(at, extent);
    case TNR_PAD_MODE_SYMMETRIC: {
      const std::int64_t phase = wrapped(at, 2 * extent);
      return phase < extent ? phase : 2 * extent - 1 - phase;
    }
    default: {
      if (extent == 1) return 0;
      const std::int64_t phase = wrapped(at, 2 * extent - 2);
      return phase < extent ? phase : 2 * extent - 2 - phase;
    }
  }
}

TEST(Pad, HasTheElementsThatItsModeSays) {
  Random random(32);
  const TestContext three(3);
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{5}, {11}},
      {{1}, {6}},
      {{3}, {3}},
      {{2}, {99}},
      {{4, 3}, {9, 8}},
      {{4, 3}, {2, 1}},
      {{2, 3, 2}, {5, 7, 9}},
      {{1, 1, 1, 1, 2, 1, 1, 3}, {1, 2, 1, 1, 7, 1, 1, 8}},
      {{40, 900}, {130, 1000}},
      {{3}, {200000}},
      {{70000}, {150001}},
  };
  for (const auto& [from, to] : shapes) {
    for (tnr_pad_mode mode = TNR_PAD_MODE_CONSTANT; mode <= TNR_PAD_MODE_WRAP; ++mode) {
      for (const tnr_dtype dtype : kMoved) {
        if (is_large(to) && dtype != TNR_DTYPE_F32) continue;
        for (int round = 0; round < (is_large(to) ? 1 : 3); ++round) {
          Array a(dtype, from, any_of(kReadable, random), random);
          Array out(dtype, to, any_of(kWritable, random), random);
          fill_with_bits(a, random);
          tnr_pad_attributes with = {};
          for (std::size_t axis = 0; axis < from.size(); ++axis) {
            const auto most = static_cast<std::uint64_t>(2 * from[axis] + 2 * to[axis]);
            with.before[axis] = static_cast<std::int64_t>(random() % most) - from[axis] - to[axis];
          }
          for (const Context& context : {Context(kDefaultContext), Context(three)}) {
            pad(context, mode, a.view(), with, out.out());
            expect_elements(out, [&](Index index) -> const Byte* {
              for (std::size_t axis = 0; axis < from.size(); ++axis) {
                index[axis] = padded_from(mode, from[axis], index[axis] - with.before[axis]);
                if (index[axis] < 0) return nullptr;
              }
              return a.broadcast_element(index, a.view().rank);
            });
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST(Pad, FillsWithAValue) {
  Literal<std::int16_t> a(TNR_DTYPE_I16, {1, 2});
  Literal<std::int16_t> out(TNR_DTYPE_I16, {0, 0, 0, 0, 0});
  tnr_pad_attributes with = {};
  with.before[0] = 1;
  with.value = scalar_of(TNR_DTYPE_I64, std::int64_t{-7});
  pad(kDefaultContext, TNR_PAD_MODE_CONSTANT, a.view, with, out.out());
  EXPECT_EQ(out.values, (std::vector<std::int16_t>{-7, 1, 2, -7, -7}));
  const tnr_view none = view_of(nullptr, 0, 0, TNR_DTYPE_I16, {{0, 1}});
  pad(kDefaultContext, TNR_PAD_MODE_CONSTANT, none, with, out.out());
  EXPECT_EQ(out.values, std::vector<std::int16_t>(5, -7));
}

TEST(Pad, RefusesWhatItCannotFill) {
  Literal<std::int16_t> a(TNR_DTYPE_I16, {1, 2});
  Literal<std::int16_t> out(TNR_DTYPE_I16, {8, 8, 8});
  const tnr_view none = view_of(nullptr, 0, 0, TNR_DTYPE_I16, {{0, 1}});
  tnr_pad_attributes with = {};
  const auto refuses = [](std::initializer_list<std::string> words, const auto& call) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, words, call);
  };
  refuses({"a.shape[0] is 0", "out.shape[0] is 3"},
          [&] { pad(kDefaultContext, TNR_PAD_MODE_EDGE, none, with, out.out()); });
  refuses({"mode is 5"}, [&] { pad(kDefaultContext, 5, a.view, with, out.out()); });
  refuses({"mode is -1"}, [&] { pad(kDefaultContext, -1, a.view, with, out.out()); });
  with.before[0] = INT64_MIN;
  refuses({"before[0]"}, [&] { pad(kDefaultContext, 0, a.view, with, out.out()); });
  with.before[0] = 0;
  with.value = scalar_of(TNR_DTYPE_I64, std::int64_t{70000});
  refuses({"attributes->value is 70000", "32767"},
          [&] { pad(kDefaultContext, 0, a.view, with, out.out()); });
  with.value = {};
  expect_error(TNR_STATUS_ALIASED, {"a"},
               [&] { pad(kDefaultContext, 0, out.view, with, out.out()); });
  EXPECT_EQ(out.values, std::vector<std::int16_t>(3, 8));
}

TEST(Triangular, KeepsOneSideOfTheDiagonal) {
  Random random(33);
  const TestContext three(3);
  const std::vector<Shape> shapes = {{1, 1},       {4, 4}, {3, 7}, {7, 3}, {2, 5, 5},
                                     {2, 1, 3, 4}, {5, 1}, {1, 5}, {0, 3}, {600, 500}};
  for (const Shape& shape : shapes) {
    for (const tnr_dtype dtype : kMoved) {
      for (const std::int64_t diagonal : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-2},
                                          std::int64_t{100}, INT64_MIN, INT64_MAX}) {
        for (const tnr_triangle part : {TNR_TRIANGLE_LOWER, TNR_TRIANGLE_UPPER}) {
          if (is_large(shape) && dtype != TNR_DTYPE_F32) continue;
          Array a(dtype, shape, any_of(kWritable, random), random);
          Array out(dtype, shape, any_of(kWritable, random), random);
          fill_with_bits(a, random);
          const auto rank = a.view().rank;
          const auto kept = [&](const Index& index) {
            const std::int64_t j_less_i = index[rank - 1] - index[rank - 2];
            return part == TNR_TRIANGLE_LOWER ? j_less_i <= diagonal : j_less_i >= diagonal;
          };
          const auto source = [&](const Index& index) {
            return kept(index) ? a.broadcast_element(index, rank) : nullptr;
          };
          for (const Context& context : {Context(kDefaultContext), Context(three)}) {
            triangular(context, part, a.view(), diagonal, out.out());
            expect_elements(out, source);
          }
          triangular(three, part, a.view(), diagonal, a.out());
          expect_elements(a, source);  // kept elements are unchanged
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(Triangular, RefusesVectorsAndUnknownParts) {
  Literal<float> a(TNR_DTYPE_F32, {1, 2});
  std::vector<float> four(4);
  const tnr_view square = view_of(four.data(), 16, 0, TNR_DTYPE_F32, {{2, 2}, {2, 1}});
  const auto refuses = [](std::initializer_list<std::string> words, const auto& call) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, words, call);
  };
  refuses({"out.rank is 1", "at least 2"},
          [&] { triangular(kDefaultContext, TNR_TRIANGLE_LOWER, a.view, 0, a.out()); });
  refuses({"part is 3"}, [&] { triangular(kDefaultContext, 3, square, 0, {square}); });
}

}  // namespace
}  // namespace tenure::test
