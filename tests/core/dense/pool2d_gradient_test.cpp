// Gradients of poolings, against the windows one after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "expect_error.hpp"
#include "image_operands.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

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
Elements elements_of(const tnr_view& a, const tnr_view& g, const tnr_pool2d_attributes& with,
                     std::uint32_t axis, std::int64_t index) {
  const std::int64_t in = a.shape[2 + axis];
  Elements elements = {};
  if ((with.flags & TNR_POOL2D_ADAPTIVE) != 0) {
    const std::int64_t extent = g.shape[2 + axis];
    for (std::int64_t i = index * in / extent; i * extent < (index + 1) * in; ++i) {
      elements.inside.push_back(i);
    }
    elements.all = static_cast<std::int64_t>(elements.inside.size());
    return elements;
  }
  const std::int64_t kernel = with.kernel[axis] == 0 ? in : with.kernel[axis];
  const std::int64_t stride = with.strides[axis] == 0 ? kernel : with.strides[axis];
  const std::int64_t dilation = std::max<std::int64_t>(with.dilations[axis], 1);
  for (std::int64_t i = 0; i < kernel; ++i) {
    const std::int64_t at = index * stride + i * dilation - with.padding[2 * axis];
    if (at >= 0 && at < in) elements.inside.push_back(at);
    if (at < in + with.padding[2 * axis + 1]) ++elements.all;
  }
  return elements;
}

template <class T>
void add_reference(tnr_reduce_op op, Operand<T> a, Operand<T> g, Operand<T>& out,
                   const tnr_pool2d_attributes& with) {
  for_each_index(out.view, [&](const Index& at) { out.at(at) = 0; });
  for_each_index(g.view, [&](const Index& at) {
    const Elements rows = elements_of(a.view, g.view, with, 0, at[2]);
    const Elements columns = elements_of(a.view, g.view, with, 1, at[3]);
    const bool counts = (with.flags & TNR_POOL2D_COUNT_PADDING) != 0;
    const auto count = static_cast<T>(
        counts ? rows.all * columns.all
               : static_cast<std::int64_t>(rows.inside.size() * columns.inside.size()));
    Index greatest = {at[0], at[1], rows.inside.front(), columns.inside.front()};
    for (const std::int64_t y : rows.inside) {
      for (const std::int64_t x : columns.inside) {
        const Index here = {at[0], at[1], y, x};
        if (op == TNR_REDUCE_OP_MEAN) {
          out.at(here) += g.at(at) / count;
        } else if (a.at(here) > a.at(greatest) ||
                   (std::isnan(a.at(here)) && !std::isnan(a.at(greatest)))) {
          greatest = here;
        }
      }
    }
    if (op == TNR_REDUCE_OP_MAX) out.at(greatest) += g.at(at);
  });
}

// Few different numbers, so that windows have ties, with some that are none.
template <class T>
void fill_with_ties(Operand<T>& a, Random& random) {
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const std::uint64_t special = random() % 4 == 0 ? 12 : 0;
  for_each_index(a.view, [&](const Index& at) {
    const std::uint64_t number = special == 0 ? 2 : random() % special;
    a.at(at) = number == 0 ? kNan : number == 1 ? -kInfinity : static_cast<T>(random() % 4);
  });
}

template <class T>
class Pool2dGradient : public testing::Test {
 protected:
  static void expect_reference(tnr_reduce_op op, const Operand<T>& a, const Operand<T>& g,
                               Operand<T> out, const tnr_pool2d_attributes& with,
                               const Context& context) {
    Operand<T> expected = out;
    add_reference(op, a, g, expected, with);
    pool2d_gradient(context, op, a.view, g.view, with, out.out());
    for (std::size_t i = 0; i < out.memory.size(); ++i) {
      ASSERT_TRUE(same(out.memory[i], expected.memory[i]))
          << "a " << shape_text(4, a.view.shape).text << " by strides "
          << shape_text(4, a.view.strides).text << ", g " << shape_text(4, g.view.shape).text
          << ", kernel " << with.kernel[0] << " x " << with.kernel[1] << ", operation " << op
          << ": element " << i << " of memory is " << out.memory[i] << ", not "
          << expected.memory[i];
    }
  }
};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Pool2dGradient, Floats);

TYPED_TEST(Pool2dGradient, TakesAnyOperands) {
  using T = TypeParam;
  Random random(1);
  const TestContext two(2);
  const Context one;
  const auto one_of = [&](std::initializer_list<std::int64_t> list) {
    return list.begin()[random() % list.size()];
  };
  for (int round = 0; round < 900; ++round) {
    tnr_pool2d_attributes with = attributes_of(one_of({1, 2, 3, 5}), one_of({1, 2, 3, 4, 9}));
    Shape shape = {one_of({1, 1, 2}), one_of({1, 2, 3, 17, 70}), 0, 0};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      with.strides[axis] = one_of({0, 1, 1, 2, 2, 3, 4, 7});
      with.dilations[axis] = one_of({0, 1, 1, 2, 3});
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
    Operand<T> a = images<T>(shape, Access::kWrite, random);
    fill_with_ties(a, random);
    const Operand<T> g = images<T>(result_shape(shape, with), Access::kRead, random).fill(random);
    this->expect_reference(op, a, g, images<T>(shape, Access::kWrite, random), with,
                           round % 3 == 0 ? two : one);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(Pool2dGradient, CoversImagesEvenly) {
  using T = TypeParam;
  Random random(2);
  const Context one;
  for (int round = 0; round < 200; ++round) {
    tnr_pool2d_attributes with = attributes_of(0, 0);
    if (round % 5 != 0) with.flags = TNR_POOL2D_ADAPTIVE;
    const Shape shape = {1 + below(random, 2), 1 + below(random, 20), 1 + below(random, 30),
                         1 + below(random, 30)};
    Shape result = {shape[0], shape[1], 1 + below(random, 9), 1 + below(random, 9)};
    if (with.flags == 0) result[2] = result[3] = 1;
    Operand<T> a = images<T>(shape, Access::kWrite, random);
    fill_with_ties(a, random);
    const Operand<T> g = images<T>(result, Access::kRead, random).fill(random);
    for (const tnr_reduce_op op : {TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_MEAN}) {
      this->expect_reference(op, a, g, images<T>(shape, Access::kWrite, random), with, one);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(Pool2dGradient, GivesTheSameBitsForAnyThreads) {
  using T = TypeParam;
  Random random(3);
  const TestContext four(4);
  for (const tnr_reduce_op op : {TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_MEAN}) {
    tnr_pool2d_attributes with = attributes_of(3, 3);
    with.strides[0] = with.strides[1] = 2;
    with.padding[0] = with.padding[2] = 1;
    const Shape shape = {2, 70, 61, 60};
    Operand<T> a(shape);
    fill_with_ties(a, random);
    const Operand<T> g = Operand<T>(result_shape(shape, with)).fill(random);
    this->expect_reference(op, a, g, Operand<T>(shape), with, four);
    this->expect_reference(op, a, g, channels_last<T>(shape), with, four);
  }
}

struct RefusedPool2dGradient : testing::Test {
  Operand<float> a{{2, 4, 5, 6}};
  Operand<float> g{{2, 4, 3, 4}};
  Operand<float> out{{2, 4, 5, 6}, 7};
  tnr_pool2d_attributes with = [] {
    tnr_pool2d_attributes given = attributes_of(3, 3);
    given.strides[0] = given.strides[1] = 1;
    return given;
  }();

  void expect(tnr_status status, std::initializer_list<std::string> words, const tnr_view& x,
              const tnr_view& y, const tnr_view& to, tnr_reduce_op op = TNR_REDUCE_OP_MAX) {
    const Context context;
    expect_error(status, words, [&] { pool2d_gradient(context, op, x, y, with, {to}); });
    for (const float element : out.memory) EXPECT_EQ(element, 7);
  }
};

TEST_F(RefusedPool2dGradient, ShapesDtypesAndMemory) {
  tnr_view short_g = g.view;
  short_g.shape[3] = 3;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"g.shape[3] is 3 but must be 4"}, a.view, short_g, out.view);
  tnr_view short_out = out.view;
  short_out.shape[2] = 4;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"out.shape[2] is 4 but must be 5"}, a.view, g.view,
         short_out);
  tnr_view whole = g.view;
  whole.dtype = TNR_DTYPE_I32;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"g.dtype is i32"}, a.view, whole, out.view);
  expect(TNR_STATUS_UNSUPPORTED, {"pool2d does not take the reduction"}, a.view, g.view, out.view,
         TNR_REDUCE_OP_SUM);
  const Context context;
  expect_error(TNR_STATUS_ALIASED, {"a"}, [&] {
    pool2d_gradient(context, TNR_REDUCE_OP_MAX, out.view, g.view, with, {out.view});
  });
  with.padding[0] = 3;
  const Operand<float> taller({2, 4, 6, 4});
  expect(TNR_STATUS_INVALID_ARGUMENT, {"the windows of row 0 of g have no element of a"}, a.view,
         taller.view, out.view);
}

}  // namespace
}  // namespace tenure::test
