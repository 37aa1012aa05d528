// Poolings of images, against the elements of each window one after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "dense/checks.hpp"
#include "expect_error.hpp"
#ifndef _WIN32
#include "guarded.hpp"
#endif
#include "image_operands.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

tnr_pool2d_attributes attributes_of(std::int64_t rows, std::int64_t columns) {
  tnr_pool2d_attributes with = {};
  with.struct_size = sizeof with;
  with.kernel[0] = rows;
  with.kernel[1] = columns;
  return with;
}

// Elements of an axis that the window at an index has, and how many are of the padded image.
struct Elements {
  std::vector<std::int64_t> inside;
  std::int64_t all;
};
Elements elements_of(const tnr_view& a, const tnr_view& out, const tnr_pool2d_attributes& with,
                     std::uint32_t axis, std::int64_t index) {
  const std::int64_t in = a.shape[2 + axis];
  Elements elements = {};
  if ((with.flags & TNR_POOL2D_ADAPTIVE) != 0) {
    const std::int64_t extent = out.shape[2 + axis];
    for (std::int64_t i = index * in / extent; i * extent < (index + 1) * in; ++i) {
      elements.inside.push_back(i);
    }
    elements.all = static_cast<std::int64_t>(elements.inside.size());
    return elements;
  }
  const std::int64_t kernel = with.kernel[axis] == 0 ? in : with.kernel[axis];
  const std::int64_t stride = with.strides[axis] == 0 ? kernel : with.strides[axis];
  const std::int64_t dilation = with.dilations[axis] == 0 ? 1 : with.dilations[axis];
  for (std::int64_t i = 0; i < kernel; ++i) {
    const std::int64_t at = index * stride + i * dilation - with.padding[2 * axis];
    if (at >= 0 && at < in) elements.inside.push_back(at);
    if (at < in + with.padding[2 * axis + 1]) ++elements.all;
  }
  return elements;
}

// The sum of a window: one element after the other. A window of more than 64 places has runs of 64,
// of even and odd elements, which are added with their rounding errors.
template <class T>
T sum_of(const std::vector<T>& elements, std::size_t places) {
  const bool has_runs = places > 64;
  T sum = 0;
  T lost = 0;
  for (std::size_t first = 0; first < elements.size(); first += 64) {
    T halves[2] = {};
    for (std::size_t i = first; i < std::min(first + 64, elements.size()); ++i) {
      halves[has_runs ? i % 2 : 0] += elements[i];
    }
    const T run = halves[0] + halves[1];
    const T next = sum + run;
    const T back = next - sum;
    lost += (sum - (next - back)) + (run - back);
    sum = next;
  }
  return std::isnan(lost) ? sum : sum + lost;
}

template <class T>
T twin(tnr_reduce_op op, const Operand<T>& a, const tnr_view& out,
       const tnr_pool2d_attributes& with, const Index& at) {
  const Elements rows = elements_of(a.view, out, with, 0, at[2]);
  const Elements columns = elements_of(a.view, out, with, 1, at[3]);
  T found = -std::numeric_limits<T>::infinity();
  std::vector<T> elements;
  for (const std::int64_t y : rows.inside) {
    for (const std::int64_t x : columns.inside) {
      const T element = const_cast<Operand<T>&>(a).at({at[0], at[1], y, x});
      found = found > element || found != found ? found : element;
      elements.push_back(element);
    }
  }
  if (op == TNR_REDUCE_OP_MAX) return found;
  const auto places = static_cast<std::size_t>(rows.all * columns.all);
  const bool counts = (with.flags & TNR_POOL2D_COUNT_PADDING) != 0;
  return sum_of(elements, places) / static_cast<T>(counts ? places : elements.size());
}

// One window that is the whole image is a reduction, whose order of additions is its own.
bool is_global(const tnr_view& a, const tnr_view& out, const tnr_pool2d_attributes& with) {
  if (out.shape[2] != 1 || out.shape[3] != 1) return false;
  return elements_of(a, out, with, 0, 0).inside.size() == static_cast<std::size_t>(a.shape[2]) &&
         elements_of(a, out, with, 1, 0).inside.size() == static_cast<std::size_t>(a.shape[3]);
}

template <class T>
void expect_twin(tnr_reduce_op op, const Operand<T>& a, Operand<T> out,
                 const tnr_pool2d_attributes& with, const Context& context = kDefaultContext) {
  Operand<T> expected = out;
  for_each_index(out.view,
                 [&](const Index& at) { expected.at(at) = twin(op, a, out.view, with, at); });
  pool2d(context, op, a.view, with, out.out());
  const bool is_near = op == TNR_REDUCE_OP_MEAN && is_global(a.view, out.view, with);
  for (std::size_t i = 0; i < out.memory.size(); ++i) {
    const T got = out.memory[i];
    const T due = expected.memory[i];
    const bool agrees =
        same(got, due) || (is_near && std::fabs(got - due) <= T{1e-5f} * (1 + std::fabs(due)));
    ASSERT_TRUE(agrees) << "a " << shape_text(4, a.view.shape).text << " by strides "
                        << shape_text(4, a.view.strides).text << ", out "
                        << shape_text(4, out.view.shape).text << ", kernel " << with.kernel[0]
                        << " x " << with.kernel[1] << ", operation " << op << ": element " << i
                        << " of memory is " << got << ", not " << due;
  }
}

template <class T>
class Pool2d : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Pool2d, Floats);

TYPED_TEST(Pool2d, TakesAnyOperands) {
  using T = TypeParam;
  Random random(1);
  const TestContext two(2);
  const auto one_of = [&](std::initializer_list<std::int64_t> list) {
    return list.begin()[random() % list.size()];
  };
  for (int round = 0; round < 900; ++round) {
    tnr_pool2d_attributes with = attributes_of(one_of({1, 2, 3, 5}), one_of({1, 2, 3, 4, 9}));
    Shape shape = {one_of({1, 1, 2}), one_of({1, 2, 3, 4, 17, 40}), 0, 0};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      with.strides[axis] = one_of({0, 1, 1, 2, 2, 3, 4, 7});
      with.dilations[axis] = one_of({0, 1, 1, 2, 3});
      // At most half of the kernel, so that each window has elements.
      const std::int64_t half = with.kernel[axis] / 2;
      with.padding[2 * axis] = below(random, half + 1);
      with.padding[2 * axis + 1] = below(random, half + 1);
      const std::int64_t reach =
          (with.kernel[axis] - 1) * std::max<std::int64_t>(with.dilations[axis], 1) + 1;
      shape[2 + axis] = reach + one_of({0, 1, 2, 6, 13, 40});
    }
    const tnr_reduce_op op = round % 2 == 0 ? TNR_REDUCE_OP_MAX : TNR_REDUCE_OP_MEAN;
    if (op == TNR_REDUCE_OP_MEAN && random() % 3 == 0) with.flags = TNR_POOL2D_COUNT_PADDING;
    if (random() % 3 == 0) with.flags |= TNR_POOL2D_CEIL;
    constexpr ImageLayout kLayouts[] = {ImageLayout::kRowMajor, ImageLayout::kChannelsLast,
                                        ImageLayout::kAny};
    const ImageLayout layout = kLayouts[random() % 3];
    const ImageLayout layout_out = random() % 4 == 0 ? kLayouts[random() % 3] : layout;
    const Operand<T> a = images<T>(shape, layout, Access::kRead, random).fill(random);
    expect_twin(op, a, images<T>(result_shape(shape, with), layout_out, Access::kWrite, random),
                with, round % 3 == 0 ? two : kDefaultContext);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(Pool2d, CoversImagesEvenly) {
  using T = TypeParam;
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    tnr_pool2d_attributes with = attributes_of(0, 0);
    with.flags = TNR_POOL2D_ADAPTIVE;
    const ImageLayout layout = round % 3 == 0   ? ImageLayout::kRowMajor
                               : round % 3 == 1 ? ImageLayout::kChannelsLast
                                                : ImageLayout::kAny;
    const Shape shape = {1 + below(random, 2), 1 + below(random, 20), 1 + below(random, 30),
                         1 + below(random, 30)};
    const Shape result = {shape[0], shape[1], 1 + below(random, 9), 1 + below(random, 9)};
    const Operand<T> a = images<T>(shape, layout, Access::kRead, random).fill(random);
    for (const tnr_reduce_op op : {TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_MEAN}) {
      expect_twin(op, a, images<T>(result, layout, Access::kWrite, random), with);
      if (this->HasFatalFailure()) return;
    }
  }
}

// Without attributes there is one window, by the kernels of reductions.
TYPED_TEST(Pool2d, TakesTheWholeImageByDefault) {
  using T = TypeParam;
  Random random(3);
  const Operand<T> a = Operand<T>({2, 5, 7, 9}).fill(random);
  for (const tnr_reduce_op op : {TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_MEAN}) {
    Operand<T> out({2, 5, 1, 1});
    Operand<T> reduced({2, 5, 1, 1});
    pool2d(kDefaultContext, op, a.view, {}, out.out());
    reduce(kDefaultContext, op, a.view, 0b1100, 0, reduced.out());
    EXPECT_EQ(out.memory, reduced.memory);
  }
}

// More taps than one call of a kernel takes, windows wider than a line, rows wider than a tile.
TYPED_TEST(Pool2d, TakesLargeWindowsAndRows) {
  using T = TypeParam;
  Random random(4);
  const struct {
    Shape a;
    std::int64_t rows, columns, stride;
  } cases[] = {{{1, 2, 20, 21}, 17, 19, 1}, {{1, 3, 9, 70}, 2, 65, 2},
               {{1, 2, 70, 9}, 65, 2, 2},   {{1, 1, 3, 5000}, 2, 3, 2},
               {{1, 2, 3, 4000}, 3, 3, 1},  {{1, 1, 2, 9000}, 1, 4000, 3},
               {{1, 1500, 5, 6}, 3, 3, 2},  {{2, 2, 8, 1100}, 8, 8, 4}};
  for (const auto& one : cases) {
    for (const ImageLayout layout :
         {ImageLayout::kRowMajor, ImageLayout::kChannelsLast, ImageLayout::kAny}) {
      tnr_pool2d_attributes with = attributes_of(one.rows, one.columns);
      with.strides[0] = with.strides[1] = one.stride;
      with.padding[0] = one.rows > 4 ? 1 : 0;
      with.padding[2] = one.columns > 4 ? 1 : 0;
      const Operand<T> a = images<T>(one.a, layout, Access::kRead, random).fill(random);
      for (const tnr_reduce_op op : {TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_MEAN}) {
        expect_twin(op, a, images<T>(result_shape(one.a, with), layout, Access::kWrite, random),
                    with);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// The error of a mean does not grow with the window, in any layout: 0.1 stays 0.1.
TYPED_TEST(Pool2d, MeansOfLargeWindowsAreAsExactAsOfSmallOnes) {
  using T = TypeParam;
  Random random(9);
  const auto expect = [&](const Shape& shape, const Shape& result,
                          const tnr_pool2d_attributes& with, bool is_constant) {
    for (const ImageLayout layout : {ImageLayout::kRowMajor, ImageLayout::kChannelsLast}) {
      Operand<T> a = images<T>(shape, layout, Access::kWrite, random);
      std::uniform_real_distribution<T> number(0, 1);
      for (T& element : a.memory) element = is_constant ? static_cast<T>(0.1) : number(random);
      Operand<T> out = images<T>(result, layout, Access::kWrite, random);
      pool2d(kDefaultContext, TNR_REDUCE_OP_MEAN, a.view, with, out.out());
      for_each_index(out.view, [&](const Index& at) {
        const Elements rows = elements_of(a.view, out.view, with, 0, at[2]);
        const Elements columns = elements_of(a.view, out.view, with, 1, at[3]);
        long double exact = 0;
        for (const std::int64_t y : rows.inside) {
          long double of_row = 0;
          for (const std::int64_t x : columns.inside) of_row += a.at({at[0], at[1], y, x});
          exact += of_row;
        }
        exact /= static_cast<long double>(rows.inside.size() * columns.inside.size());
        const long double places = rows.all * columns.all > 64 ? 34 : 66;
        ASSERT_LE(std::fabs(out.at(at) - exact),
                  places * exact * std::numeric_limits<T>::epsilon() / 2)
            << "kernel " << with.kernel[0] << " x " << with.kernel[1];
      });
    }
  };
  tnr_pool2d_attributes large = attributes_of(1000, 1000);
  large.strides[0] = large.strides[1] = 3;
  for (const bool is_constant : {true, false}) {
    expect({1, 2, 1000, 1003}, {1, 2, 1, 2}, large, is_constant);
    for (const std::int64_t side : {5, 7, 8, 9, 40}) {
      tnr_pool2d_attributes with = attributes_of(side, side);
      with.padding[0] = with.padding[3] = side / 2;
      with.strides[0] = 2;
      const Shape shape = {1, 3, 61, 70};
      expect(shape, result_shape(shape, with), with, is_constant);
    }
    tnr_pool2d_attributes adaptive = attributes_of(0, 0);
    adaptive.flags = TNR_POOL2D_ADAPTIVE;
    expect({1, 3, 301, 299}, {1, 3, 2, 3}, adaptive, is_constant);
    if (this->HasFatalFailure()) return;
  }
}

// Results that are streamed by lines. Slices share some of the lines.
TYPED_TEST(Pool2d, TakesMoreThanTheCachesHold) {
  using T = TypeParam;
  Random random(5);
  const TestContext two(2);
  const std::int64_t side = sizeof(T) == 4 ? 371 : 263;
  for (const ImageLayout layout : {ImageLayout::kRowMajor, ImageLayout::kChannelsLast}) {
    tnr_pool2d_attributes with = attributes_of(2, 3);
    with.strides[0] = with.strides[1] = 1;
    with.padding[2] = 1;
    const Shape shape = {2, 13, side, side};
    const Operand<T> a = images<T>(shape, layout, Access::kRead, random).fill(random);
    expect_twin(TNR_REDUCE_OP_MAX, a,
                images<T>(result_shape(shape, with), layout, Access::kWrite, random), with, two);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(Pool2d, KeepsSpecialNumbersApart) {
  using T = TypeParam;
  Random random(6);
  constexpr T kSpecial[] = {std::numeric_limits<T>::quiet_NaN(),
                            std::numeric_limits<T>::infinity(),
                            -std::numeric_limits<T>::infinity(),
                            std::numeric_limits<T>::denorm_min(),
                            T{0},
                            -T{0}};
  for (int round = 0; round < 60; ++round) {
    const ImageLayout layout = round % 2 == 0 ? ImageLayout::kRowMajor : ImageLayout::kChannelsLast;
    tnr_pool2d_attributes with = round % 5 == 0 ? attributes_of(9, 8) : attributes_of(2, 2);
    with.strides[0] = with.strides[1] = 1 + round % 3;
    with.padding[0] = with.padding[2] = 1;
    const Shape shape = {1, 18, 9, 40};
    Operand<T> a = images<T>(shape, layout, Access::kWrite, random);
    for (T& element : a.memory) element = kSpecial[random() % std::size(kSpecial)];
    if (round % 4 == 0) std::fill(a.memory.begin(), a.memory.end(), kSpecial[2 + round % 12 / 4]);
    for (const tnr_reduce_op op : {TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_MEAN}) {
      expect_twin(op, a, images<T>(result_shape(shape, with), layout, Access::kWrite, random),
                  with);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(Pool2d, GivesNothingForNothing) {
  using T = TypeParam;
  const tnr_pool2d_attributes with = attributes_of(2, 2);
  for (const Shape& shape : {Shape{0, 3, 4, 4}, Shape{3, 0, 4, 4}}) {
    Operand<T> out(result_shape(shape, with));
    pool2d(kDefaultContext, TNR_REDUCE_OP_MAX, Operand<T>(shape).view, with, out.out());
  }
}

#ifndef _WIN32
// Operands at the edge of an inaccessible page.
TYPED_TEST(Pool2d, TouchesNoByteBeyondItsOperands) {
  using T = TypeParam;
  Random random(7);
  for (const Shape& shape : {Shape{1, 3, 7, 9}, Shape{2, 33, 4, 5}, Shape{1, 1, 3, 131}}) {
    for (const std::int64_t stride : {1, 2, 3}) {
      for (const ImageLayout layout : {ImageLayout::kRowMajor, ImageLayout::kChannelsLast}) {
        tnr_pool2d_attributes with = attributes_of(3, 3);
        with.strides[0] = with.strides[1] = stride;
        with.padding[1] = with.padding[2] = 1;
        const Operand<T> a = images<T>(shape, layout, Access::kRead, random).fill(random);
        Operand<T> out = images<T>(result_shape(shape, with), layout, Access::kWrite, random);
        for (const End end : {End::kFront, End::kBack}) {
          Guarded rooms[] = {Guarded(a.memory.size() * sizeof(T)),
                             Guarded(out.memory.size() * sizeof(T))};
          tnr_view views[] = {a.view, out.view};
          const Operand<T>* operands[] = {&a, &out};
          for (int i = 0; i < 2; ++i) {
            rooms[i].place(kDtype<T>, 1, static_cast<std::int64_t>(operands[i]->memory.size()),
                           kArrangements[0], end,
                           reinterpret_cast<const Byte*>(operands[i]->memory.data()));
            views[i].base = views[i].data = rooms[i].view().base;
            const auto offset =
                static_cast<const T*>(operands[i]->view.data) - operands[i]->memory.data();
            views[i].data = static_cast<const T*>(rooms[i].view().data) + offset;
          }
          pool2d(kDefaultContext, TNR_REDUCE_OP_MAX, views[0], with, {views[1]});
          Operand<T> expected = out;
          for_each_index(out.view, [&](const Index& at) {
            expected.at(at) = twin(TNR_REDUCE_OP_MAX, a, out.view, with, at);
          });
          rooms[1].expect_elements(reinterpret_cast<const Byte*>(expected.memory.data()));
          ASSERT_TRUE(rooms[1].is_as_expected()) << rooms[1].first_difference();
        }
      }
    }
  }
}
#endif

// ---- refusals -----------------------------------------------------------------------------------

struct RefusedPool2d : testing::Test {
  Operand<float> a{{2, 4, 5, 6}};
  Operand<float> out{{2, 4, 3, 4}, 7};
  tnr_pool2d_attributes with = plain();

  static tnr_pool2d_attributes plain() {
    tnr_pool2d_attributes given = attributes_of(3, 3);
    given.strides[0] = given.strides[1] = 1;
    return given;
  }
  void expect(tnr_status status, std::initializer_list<std::string> words, const tnr_view& x,
              const tnr_view& y, tnr_reduce_op op = TNR_REDUCE_OP_MAX) {
    expect_error(status, words, [&] { pool2d(kDefaultContext, op, x, with, {y}); });
    for (const float element : out.memory) EXPECT_EQ(element, 7);
  }
  void expect_invalid(std::initializer_list<std::string> words) {
    expect(TNR_STATUS_INVALID_ARGUMENT, words, a.view, out.view);
    with = plain();
  }
};

TEST_F(RefusedPool2d, ShapesThatDoNotAgree) {
  const auto invalid = TNR_STATUS_INVALID_ARGUMENT;
  expect(invalid, {"out.shape[0] is 3 but must be 2, the images of a", "[3, 4, 3, 4]"}, a.view,
         Operand<float>({3, 4, 3, 4}).view);
  expect(invalid, {"out.shape[1] is 5 but must be 4, the channels of a"}, a.view,
         Operand<float>({2, 5, 3, 4}).view);
  expect(invalid, {"out.shape[2] is 5 but must be 3, the rows at which a window fits into a"},
         a.view, Operand<float>({2, 4, 5, 4}).view);
  expect(invalid, {"out.shape[3] is 5 but must be 4, the columns at which a window fits into a"},
         a.view, Operand<float>({2, 4, 3, 5}).view);
  expect(invalid, {"a.rank is 3 but must be 4"}, Operand<float>({4, 5, 6}).view, out.view);
  expect(invalid, {"out.rank is 3 but must be 4"}, a.view, Operand<float>({4, 5, 6}).view);
}

TEST_F(RefusedPool2d, Attributes) {
  for (unsigned i = 0; i < 2; ++i) {
    const std::string at = "[" + std::to_string(i) + "] is -2 but must be 0 at least";
    with.kernel[i] = -2;
    expect_invalid({"attributes->kernel" + at});
    with.strides[i] = -2;
    expect_invalid({"attributes->strides" + at});
    with.dilations[i] = -2;
    expect_invalid({"attributes->dilations" + at});
  }
  for (unsigned i = 0; i < 4; ++i) {
    with.padding[i] = -1;
    expect_invalid({"attributes->padding[" + std::to_string(i) + "] is -1 but must be 0 at least"});
  }
  for (const std::uint32_t flags : {3u, 6u, 8u, 0x80000001u}) {
    with.flags = flags;
    expect_invalid({"attributes->flags is 0x", "TNR_POOL2D_ADAPTIVE"});
  }
  with.flags = TNR_POOL2D_COUNT_PADDING;
  expect_invalid({"attributes->flags is 0x1 but TNR_POOL2D_COUNT_PADDING is of a MEAN"});
  with.flags = TNR_POOL2D_ADAPTIVE;
  expect_invalid({"attributes->kernel[0] is 3 but must be 0, as TNR_POOL2D_ADAPTIVE is set"});
  with.flags = TNR_POOL2D_ADAPTIVE;
  with.kernel[0] = with.kernel[1] = 0;
  expect_invalid({"attributes->strides[0] is 1 but must be 0, as TNR_POOL2D_ADAPTIVE is set"});
}

TEST_F(RefusedPool2d, WindowsThatExceedTheImage) {
  with.dilations[0] = 3;
  expect_invalid({"kernel's height of 3, dilated by 3, exceeds the 5 of a with its padding"});
  with.kernel[1] = kMost;
  with.dilations[1] = 2;
  expect_invalid({"kernel's width of 9223372036854775807, dilated by 2, exceeds the 6 of a"});
  with.padding[0] = kMost;
  expect_invalid({"the padded height of a exceeds 2^63 - 1"});
  with.padding[3] = kMost - 6;
  expect_invalid({"out.shape[3] is 4 but must be 9223372036854775805"});
  with.flags = TNR_POOL2D_CEIL;
  with.kernel[1] = 5;
  with.strides[1] = 4;
  with.dilations[1] = kMost / 4;
  with.padding[3] = kMost - 7;
  expect_invalid({"the padded width of a exceeds 2^63 - 1"});
}

TEST_F(RefusedPool2d, WindowsWithoutElements) {
  with = attributes_of(1, 1);
  with.strides[0] = with.strides[1] = 2;
  with.padding[0] = 1;
  with.padding[3] = 2;
  expect_invalid({"the windows of row 0 of out have no element of a"});
  // Dilation steps over the image.
  with = attributes_of(2, 1);
  with.dilations[0] = 2;
  with.padding[0] = with.padding[1] = 1;
  Operand<float> line({1, 1, 1, 4});
  expect(TNR_STATUS_INVALID_ARGUMENT, {"the windows of row 0 of out have no element of a"},
         line.view, Operand<float>({1, 1, 1, 4}).view);
  with = attributes_of(0, 0);
  with.flags = TNR_POOL2D_ADAPTIVE;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"the windows of row 0 of out have no element of a"},
         Operand<float>({2, 4, 0, 6}).view, out.view);
}

// More windows than a loop could visit, as a graph's placeholders or an image that repeats can
// have.
TEST_F(RefusedPool2d, WindowsWithoutElementsAmongAnyNumber) {
  constexpr std::int64_t kMany = std::int64_t{1} << 61;
  tnr_view column = a.view;
  column.shape[0] = column.shape[1] = column.shape[3] = 1;
  column.shape[2] = 1;
  tnr_view result = out.view;
  result.shape[0] = result.shape[1] = result.shape[3] = 1;
  with = attributes_of(kMany, 1);
  with.strides[0] = 1;
  with.dilations[0] = 2;
  with.padding[0] = 2 * (kMany - 1);
  with.padding[1] = 2;
  result.shape[2] = 3;
  const auto check = [&] { check_pool2d(TNR_REDUCE_OP_MAX, column, with, result); };
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"the windows of row 1 of out have no element of a"},
               check);
  with.strides[0] = with.dilations[0] = 1;
  with.padding[0] = kMany - 1;
  with.padding[1] = kMany - 1;
  result.shape[2] = kMany;
  check();
  ++with.padding[1];
  ++result.shape[2];
  expect_error(TNR_STATUS_INVALID_ARGUMENT,
               {"the windows of row " + std::to_string(kMany) + " of out have no element of a"},
               check);
}

// Checks each window by its places, one by one.
TEST(Pool2d, WindowsHaveElementsWhereTheirPlacesAre) {
  int refused = 0;
  int taken = 0;
  for (int code = 0; code < 2 * 3 * 3 * 4 * 6 * 5 * 5; ++code) {
    int rest = code;
    const auto draw = [&](int count) {
      const std::int64_t drawn = rest % count;
      rest /= count;
      return drawn;
    };
    const bool is_ceil = draw(2) == 1;
    const std::int64_t in = 1 + draw(3);
    const std::int64_t kernel = 1 + draw(3);
    const std::int64_t stride = 1 + draw(4);
    const std::int64_t dilation = 1 + draw(6);
    const std::int64_t before = draw(5);
    const std::int64_t after = draw(5);
    const std::int64_t reach = (kernel - 1) * dilation + 1;
    if (in + before + after - reach <= (is_ceil ? -stride : -1)) continue;
    const std::int64_t count = windows_along(in, before, after, reach, stride, is_ceil);
    bool all_have = true;
    for (std::int64_t i = 0; i < count; ++i) {
      bool has = false;
      for (std::int64_t k = 0; k < kernel; ++k) {
        const std::int64_t at = i * stride - before + k * dilation;
        has = has || (at >= 0 && at < in);
      }
      all_have = all_have && has;
    }
    tnr_pool2d_attributes with = attributes_of(kernel, 1);
    with.strides[0] = stride;
    with.dilations[0] = dilation;
    with.padding[0] = before;
    with.padding[1] = after;
    with.flags = is_ceil ? TNR_POOL2D_CEIL : 0;
    const Operand<float> a({1, 1, in, 1});
    const Operand<float> out({1, 1, count, 1});
    bool is_taken = true;
    try {
      pool2d(kDefaultContext, TNR_REDUCE_OP_MAX, a.view, with, {out.view});
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), TNR_STATUS_INVALID_ARGUMENT);
      is_taken = false;
    }
    ASSERT_EQ(is_taken, all_have) << in << " " << kernel << " " << stride << " " << dilation << " "
                                  << before << " " << after << " " << is_ceil;
    ++(is_taken ? taken : refused);
  }
  EXPECT_GT(taken, 1000);
  EXPECT_GT(refused, 1000);
}

TEST_F(RefusedPool2d, Operations) {
  expect(TNR_STATUS_UNSUPPORTED, {"pool2d does not take the reduction sum"}, a.view, out.view,
         TNR_REDUCE_OP_SUM);
  for (const tnr_reduce_op op : {0, -1, 99}) {
    expect(TNR_STATUS_INVALID_ARGUMENT, {std::to_string(op)}, a.view, out.view, op);
  }
}

TEST_F(RefusedPool2d, DtypesAndOverlap) {
  tnr_view integers = a.view;
  integers.dtype = TNR_DTYPE_I32;
  expect(TNR_STATUS_UNSUPPORTED, {"max_pool2d does not take i32"}, integers, out.view);
  expect(TNR_STATUS_UNSUPPORTED, {"avg_pool2d does not take i32"}, integers, out.view,
         TNR_REDUCE_OP_MEAN);
  expect(TNR_STATUS_INVALID_ARGUMENT, {"out.dtype is f64", "a.dtype is f32"}, a.view,
         Operand<double>({2, 4, 3, 4}).view);
  tnr_view same = a.view;
  with = attributes_of(1, 1);
  expect(TNR_STATUS_ALIASED, {"out is exactly a"}, a.view, same);
}

}  // namespace
}  // namespace tenure::test
