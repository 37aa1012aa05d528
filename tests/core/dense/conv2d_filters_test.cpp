// Gradients of filters: the products of images and gradients, added one after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

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

tnr_conv2d_attributes plain() {
  tnr_conv2d_attributes with = {};
  with.struct_size = sizeof with;
  with.strides[0] = with.strides[1] = with.dilations[0] = with.dilations[1] = with.groups = 1;
  return with;
}

template <class T>
void find_reference(Operand<T> a, Operand<T> g, Operand<T>& out,
                    const tnr_conv2d_attributes& with) {
  const std::int64_t channels = out.view.shape[1];
  const std::int64_t filters = out.view.shape[0] / with.groups;
  for_each_index(out.view, [&](const Index& of) {
    T sum = 0;
    const std::int64_t channel = of[0] / filters * channels + of[1];
    for (std::int64_t n = 0; n < a.view.shape[0]; ++n) {
      for (std::int64_t i = 0; i < g.view.shape[2]; ++i) {
        for (std::int64_t j = 0; j < g.view.shape[3]; ++j) {
          const std::int64_t y = i * with.strides[0] + of[2] * with.dilations[0] - with.padding[0];
          const std::int64_t x = j * with.strides[1] + of[3] * with.dilations[1] - with.padding[2];
          if (y < 0 || y >= a.view.shape[2] || x < 0 || x >= a.view.shape[3]) continue;
          sum += a.at({n, channel, y, x}) * g.at({n, of[0], i, j});
        }
      }
    }
    out.at(of) = sum;
  });
}

template <class T>
void expect_reference(const Operand<T>& a, const Operand<T>& g, Operand<T> out,
                      const tnr_conv2d_attributes& with, const Context& context) {
  Operand<T> expected = out;
  find_reference(a, g, expected, with);
  conv2d_filters(context, a.view, g.view, with, out.out());
  for (std::size_t i = 0; i < out.memory.size(); ++i) {
    const bool agrees =
        out.memory[i] == expected.memory[i] || same(out.memory[i], expected.memory[i]);
    ASSERT_TRUE(agrees) << "a " << shape_text(4, a.view.shape).text << " by strides "
                        << shape_text(4, a.view.strides).text << ", g "
                        << shape_text(4, g.view.shape).text << " by strides "
                        << shape_text(4, g.view.strides).text << ", out "
                        << shape_text(4, out.view.shape).text << ", strides " << with.strides[0]
                        << " x " << with.strides[1] << ", dilations " << with.dilations[0] << " x "
                        << with.dilations[1] << ", padding " << with.padding[0] << " "
                        << with.padding[2] << ", groups " << with.groups << ": element " << i
                        << " of memory is " << out.memory[i] << ", not " << expected.memory[i];
  }
}

template <class T>
class Conv2dFilters : public testing::Test {
 protected:
  std::int64_t one_of(std::initializer_list<std::int64_t> list) {
    return list.begin()[random() % list.size()];
  }
  const Context& any_context() { return random() % 2 == 0 ? two_ : one_; }

  Random random{1};

 private:
  const TestContext two_{2};
  const Context one_;
};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Conv2dFilters, Floats);

TYPED_TEST(Conv2dFilters, TakesAnyOperands) {
  using T = TypeParam;
  for (int round = 0; round < 900; ++round) {
    tnr_conv2d_attributes with = plain();
    with.groups = this->one_of({1, 1, 2, 5});
    const std::int64_t channels = this->one_of({1, 1, 2, 3, 17, 37});
    const std::int64_t filters = this->one_of({1, 1, 2, 3, 9, 35});
    Shape a = {this->one_of({0, 1, 1, 2, 3}), channels * with.groups, 0, 0};
    Shape g = {a[0], filters * with.groups, 0, 0};
    Shape out = {g[1], channels, 0, 0};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      with.strides[axis] = this->one_of({1, 1, 2, 3, 4});
      with.dilations[axis] = this->one_of({1, 1, 2, 3, 11});
      out[2 + axis] = this->one_of({1, 2, 3, 4});
      g[2 + axis] = this->one_of({1, 2, 3, 7, 19});
      const std::int64_t reach = (out[2 + axis] - 1) * with.dilations[axis] + 1;
      const std::int64_t all = (g[2 + axis] - 1) * with.strides[axis] + reach;
      with.padding[2 * axis] = below(this->random, std::min<std::int64_t>(all, 4));
      with.padding[2 * axis + 1] =
          below(this->random, std::min<std::int64_t>(all - with.padding[2 * axis], 3));
      // Rows that no window sees, as those of a transposed convolution.
      a[2 + axis] = all - with.padding[2 * axis] - with.padding[2 * axis + 1] +
                    below(this->random, std::max(with.strides[axis], with.dilations[axis]));
    }
    Operand<T> image = images<T>(a, Access::kRead, this->random);
    Operand<T> gradients = images<T>(g, Access::kRead, this->random);
    expect_reference(fill_whole(image, this->random), fill_whole(gradients, this->random),
                     images<T>(out, Access::kWrite, this->random), with, this->any_context());
    if (this->HasFatalFailure()) return;
  }
}

// Rows longer than a block, blocks of several images, many filters, and strides and dilations whose
// copies have a line for each place.
TYPED_TEST(Conv2dFilters, TakesManyBlocks) {
  using T = TypeParam;
  struct Case {
    Shape g;
    std::int64_t channels, rows, columns, stride, dilation, padding;
  };
  const Case cases[] = {
      {{1, 3, 2, 1500}, 2, 3, 3, 1, 1, 1},   {{1, 2, 3, 1100}, 3, 2, 2, 2, 1, 0},
      {{9, 3, 7, 7}, 20, 3, 3, 1, 1, 1},     {{2, 600, 5, 5}, 2, 3, 3, 1, 1, 1},
      {{3, 5, 30, 1}, 4, 3, 1, 1, 1, 0},     {{2, 3, 40, 40}, 2, 2, 2, 1, 300, 0},
      {{2, 3, 4, 4}, 2, 2, 2, 60, 1, 0},     {{3, 70, 28, 28}, 40, 1, 1, 1, 1, 0},
      {{2, 40, 14, 14}, 30, 1, 1, 2, 1, 0},  {{2, 16, 56, 56}, 3, 7, 7, 2, 1, 3},
      {{2, 150, 17, 31}, 37, 3, 3, 1, 1, 1}, {{3, 9, 19, 23}, 67, 3, 2, 2, 1, 1},
      {{2, 9, 9, 600}, 40, 2, 3, 1, 3, 2},   {{2, 35, 20, 21}, 150, 1, 1, 1, 1, 1}};
  for (const Case& of : cases) {
    for (const bool is_last : {false, true}) {
      tnr_conv2d_attributes with = plain();
      with.strides[0] = with.strides[1] = of.stride;
      with.dilations[0] = with.dilations[1] = of.dilation;
      for (std::int64_t& padding : with.padding) padding = of.padding;
      Shape a = {of.g[0], of.channels, 0, 0};
      const Shape out = {of.g[1], of.channels, of.rows, of.columns};
      for (std::size_t axis = 2; axis < 4; ++axis) {
        a[axis] = (of.g[axis] - 1) * of.stride + (out[axis] - 1) * of.dilation + 1 - 2 * of.padding;
      }
      const auto laid = [&](const Shape& shape) {
        Operand<T> operand = is_last ? channels_last<T>(shape) : Operand<T>(shape);
        return fill_whole(operand, this->random);
      };
      expect_reference(laid(a), laid(of.g), Operand<T>(out), with, this->any_context());
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(Conv2dFilters, GivesTheSameBitsInAnyLayoutForAnyThreads) {
  using T = TypeParam;
  const TestContext four(4);
  const Context one;
  struct Case {
    std::int64_t channels, filters, kernel, stride;
  };
  for (const Case& of : {Case{12, 24, 3, 1}, Case{12, 12, 3, 1}, Case{84, 24, 3, 1},
                         Case{84, 12, 3, 2}, Case{84, 36, 1, 1}, Case{36, 84, 1, 2}}) {
    for (const std::int64_t groups : {1, 2, 12}) {
      tnr_conv2d_attributes with = plain();
      with.groups = groups;
      with.strides[0] = with.strides[1] = of.stride;
      for (std::int64_t& padding : with.padding) padding = of.kernel / 2;
      const Shape shape = {of.filters, of.channels / groups, of.kernel, of.kernel};
      const Operand<T> a = Operand<T>({5, of.channels, 13, 17}).fill(this->random);
      const Operand<T> g =
          Operand<T>({5, of.filters, 12 / of.stride + 1, 16 / of.stride + 1}).fill(this->random);
      Operand<T> due(shape);
      conv2d_filters(one, a.view, g.view, with, due.out());
      for (int round = 0; round < 12; ++round) {
        Operand<T> again = images<T>(shape, Access::kWrite, this->random);
        const auto moved = [&](Operand<T> from) {
          Operand<T> to =
              images<T>({from.view.shape, from.view.shape + 4}, Access::kWrite, this->random);
          for_each_index(to.view, [&](const Index& at) { to.at(at) = from.at(at); });
          return to;
        };
        conv2d_filters(round % 2 == 0 ? four : one, moved(a).view, moved(g).view, with,
                       again.out());
        for_each_index(due.view, [&](const Index& at) { ASSERT_EQ(again.at(at), due.at(at)); });
      }
    }
  }
}

// More channels by themselves than one task has, in orders of all kinds.
TYPED_TEST(Conv2dFilters, TakesManyChannelsByThemselves) {
  using T = TypeParam;
  for (const std::int64_t channels : {16, 70, 131}) {
    for (const std::int64_t side : {3, 5}) {
      tnr_conv2d_attributes with = plain();
      with.groups = channels;
      with.strides[0] = with.strides[1] = this->one_of({1, 2});
      for (std::int64_t& padding : with.padding) padding = side / 2;
      const std::int64_t rows = 23 / with.strides[0] + 23 % with.strides[0];
      for (int round = 0; round < 4; ++round) {
        Operand<T> a = images<T>({2, channels, 23, 23}, Access::kRead, this->random);
        Operand<T> g = images<T>({2, channels, rows, rows}, Access::kRead, this->random);
        expect_reference(fill_whole(a, this->random), fill_whole(g, this->random),
                         images<T>({channels, 1, side, side}, Access::kWrite, this->random), with,
                         this->any_context());
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

#ifndef _WIN32
// Operands at the edge of an inaccessible page.
TYPED_TEST(Conv2dFilters, TouchesNoByteBeyondItsOperands) {
  using T = TypeParam;
  const Context one;
  for (const Shape& shape :
       {Shape{1, 3, 7, 9}, Shape{2, 33, 4, 5}, Shape{1, 15, 3, 31}, Shape{2, 45, 5, 6}}) {
    for (const std::int64_t side : {1, 3}) {
      for (const bool is_last : {false, true}) {
        const tnr_conv2d_attributes with = plain();
        const auto laid = [&](const Shape& of) {
          Operand<T> operand = is_last ? channels_last<T>(of) : Operand<T>(of);
          return fill_whole(operand, this->random);
        };
        const Operand<T> operands[] = {
            laid(shape), laid({shape[0], 5, shape[2] + 1 - side, shape[3] + 1 - side}),
            laid({5, shape[1], side, side})};
        for (const End end : {End::kFront, End::kBack}) {
          Guarded rooms[] = {Guarded(operands[0].memory.size() * sizeof(T)),
                             Guarded(operands[1].memory.size() * sizeof(T)),
                             Guarded(operands[2].memory.size() * sizeof(T))};
          tnr_view views[] = {operands[0].view, operands[1].view, operands[2].view};
          for (int i = 0; i < 3; ++i) {
            rooms[i].place(kDtype<T>, 1, static_cast<std::int64_t>(operands[i].memory.size()),
                           kArrangements[0], end,
                           reinterpret_cast<const unsigned char*>(operands[i].memory.data()));
            views[i].base = rooms[i].view().base;
            views[i].data = rooms[i].view().data;
          }
          Operand<T> expected = operands[2];
          find_reference(operands[0], operands[1], expected, with);
          conv2d_filters(one, views[0], views[1], with, {views[2]});
          rooms[2].expect_elements(reinterpret_cast<const unsigned char*>(expected.memory.data()));
          ASSERT_TRUE(rooms[2].is_as_expected()) << rooms[2].first_difference();
        }
      }
    }
  }
}
#endif

struct RefusedConv2dFilters : testing::Test {
  Operand<float> a{{2, 4, 5, 6}};
  Operand<float> g{{2, 6, 3, 4}};
  Operand<float> out{{6, 4, 3, 3}, 7};
  tnr_conv2d_attributes with = plain();

  void expect(tnr_status status, std::initializer_list<std::string> words, const tnr_view& x,
              const tnr_view& y, const tnr_view& to) {
    const Context context;
    expect_error(status, words, [&] { conv2d_filters(context, x, y, with, {to}); });
    for (const float element : out.memory) EXPECT_EQ(element, 7);
  }
};

TEST_F(RefusedConv2dFilters, ShapesDtypesAndMemory) {
  tnr_view other = g.view;
  other.shape[0] = 1;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"g.shape[0] is 1 but must be 2, the images of a"}, a.view,
         other, out.view);
  other = g.view;
  other.shape[1] = 5;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"g.shape[1] is 5 but must be 6, the filters of out"}, a.view,
         other, out.view);
  other = g.view;
  other.shape[2] = 2;
  expect(TNR_STATUS_INVALID_ARGUMENT,
         {"a.shape[2] is 5 but must be from 4 to 4 for the 2 rows of g"}, a.view, other, out.view);
  other = out.view;
  other.shape[1] = 3;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"out.shape[1] is 3 but must be 4, the channels of a"},
         a.view, g.view, other);
  other = g.view;
  other.dtype = TNR_DTYPE_I32;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"g.dtype is i32"}, a.view, other, out.view);
  other = a.view;
  other.dtype = TNR_DTYPE_I32;
  expect(TNR_STATUS_UNSUPPORTED, {"conv2d_filters"}, other, g.view, out.view);
  const Context context;
  Operand<float> whole({2, 4, 5, 6});
  expect_error(TNR_STATUS_ALIASED, {"out"}, [&] {
    tnr_view same = whole.view;
    same.shape[0] = 6;
    same.shape[1] = 4;
    same.shape[2] = same.shape[3] = 3;
    same.strides[0] = 36;
    same.strides[1] = 9;
    same.strides[2] = 3;
    conv2d_filters(context, whole.view, g.view, with, {same});
  });
  with.activation = TNR_UNARY_OP_RELU;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"attributes->activation is given but must be 0"}, a.view,
         g.view, out.view);
}

}  // namespace
}  // namespace tenure::test
