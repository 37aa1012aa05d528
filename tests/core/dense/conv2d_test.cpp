// Convolutions of images, against the sum that defines each element.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#ifndef _WIN32
#include "guarded.hpp"
#endif
#include "c_library.hpp"
#include "dense/product/packed_filters.hpp"
#include "image_operands.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

using Two = std::array<std::int64_t, 2>;

struct Options {
  Two strides = {1, 1};
  std::array<std::int64_t, 4> padding = {};
  Two dilations = {1, 1};
  std::int64_t groups = 1;
  tnr_unary_op activation = 0;
  bool is_clamped = false;
  double low = -0.4;
  double high = 0.6;

  [[nodiscard]] tnr_conv2d_attributes attributes() const {
    tnr_conv2d_attributes given = {};
    given.struct_size = sizeof given;
    std::copy(strides.begin(), strides.end(), given.strides);
    std::copy(padding.begin(), padding.end(), given.padding);
    std::copy(dilations.begin(), dilations.end(), given.dilations);
    given.groups = groups;
    given.activation = activation;
    given.flags = is_clamped ? TNR_EPILOGUE_CLAMP : 0;
    if (is_clamped) {
      given.low = low;
      given.high = high;
    }
    return given;
  }
};

// The channels of a sum: with all places of the kernel at most 512 products, and where they are
// cut, multiples of 16.
std::int64_t channels_of_sum(std::int64_t channels, std::int64_t places) {
  const std::int64_t most = std::max<std::int64_t>(512 / places, 1);
  if (channels <= most) return channels;
  const std::int64_t whole = most > 16 ? most / 16 * 16 : most;
  const std::int64_t blocks = (channels + whole - 1) / whole;
  const std::int64_t each = (channels + blocks - 1) / blocks;
  return whole < 16 ? each : (each + 15) / 16 * 16;
}

template <class T>
struct Numbers {
  Shape shape;
  std::vector<T> elements;  // row-major

  explicit Numbers(const tnr_view& view) : shape(view.shape, view.shape + view.rank) {
    for_each_index(view, [&](const Index& index) {
      const auto* const at = static_cast<const unsigned char*>(view.base) + byte_of(view, index);
      T element;
      std::memcpy(&element, at, sizeof element);
      elements.push_back(element);
    });
  }
  [[nodiscard]] T at(std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) const {
    const std::int64_t index = ((i * shape[1] + j) * shape[2] + k) * shape[3] + l;
    return elements[static_cast<std::size_t>(index)];
  }
};

// The result as the header defines it, row-major, without the activation: the order of additions,
// and where is rounded. `add_product` adds the product of its first two operands to the third.
template <class T, class Result, class AddProduct>
std::vector<Result> sums(const tnr_view& a_view, const tnr_view& weight_view, const Options& with,
                         const tnr_view& out, const AddProduct& add_product) {
  const Numbers<T> a(a_view);
  const Numbers<T> weight(weight_view);
  const std::int64_t channels = weight.shape[1];
  const std::int64_t rows = weight.shape[2];
  const std::int64_t columns = weight.shape[3];
  const std::int64_t block = channels_of_sum(channels, rows * columns);
  const std::int64_t filters_of_group = weight.shape[0] / with.groups;
  std::vector<Result> results;
  for_each_index(out, [&](const Index& index) {
    const std::int64_t first_channel = index[1] / filters_of_group * channels;
    Result result = 0;
    for (std::int64_t begin = 0; begin < channels; begin += block) {
      Result sum = 0;
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
          const std::int64_t y =
              index[2] * with.strides[0] + i * with.dilations[0] - with.padding[0];
          const std::int64_t x =
              index[3] * with.strides[1] + j * with.dilations[1] - with.padding[2];
          const bool is_inside = y >= 0 && y < a.shape[2] && x >= 0 && x < a.shape[3];
          for (std::int64_t c = begin; c < std::min(channels, begin + block); ++c) {
            const T pixel = is_inside ? a.at(index[0], first_channel + c, y, x) : T{0};
            sum = add_product(pixel, weight.at(index[1], c, i, j), sum);
          }
        }
      }
      result = begin == 0 ? sum : sum + result;
    }
    results.push_back(result);
  });
  return results;
}

template <class T>
T add_rounded(T a, T b, T sum) {
  static const bool fused = has_fma();
  const T product = a * b;
  return fused ? fused_sum(a, b, sum) : product + sum;
}

template <class T>
struct Case {
  Operand<T> a;
  Operand<T> weight;
  Operand<T> out;
  Options with;
  std::optional<Operand<T>> bias;

  void run(const Context& context = kDefaultContext) {
    conv2d(context, a.view, weight.view, bias ? &bias->view : nullptr, with.attributes(),
           out.out());
  }
  void run_packed(const Context& context) {
    const PackedFilters packed(context, weight.view, with.groups);
    conv2d_packed(context, a.view, weight.view, packed, bias ? &bias->view : nullptr,
                  with.attributes(), out.out());
  }

  [[nodiscard]] std::string name() const {
    std::string text;
    for (const Operand<T>* operand : {&a, &weight, &std::as_const(out)}) {
      text += shape_text(operand->view.rank, operand->view.shape).text;
      text += " strides ";
      text += shape_text(operand->view.rank, operand->view.strides).text;
      text += ", ";
    }
    return text + "groups " + std::to_string(with.groups) + ", activation " +
           std::to_string(with.activation) + (with.is_clamped ? ", clamped" : "") +
           (bias ? ", biased" : "");
  }

  // The result's elements, row-major.
  [[nodiscard]] std::vector<T> twin() {
    std::vector<T> results = sums<T, T>(a.view, weight.view, with, out.view, add_rounded<T>);
    Operand<T> row_major(Shape(out.view.shape, out.view.shape + out.view.rank));
    std::size_t i = 0;
    for_each_index(out.view, [&](const Index& index) {
      T& element = row_major.at(index);
      element = results[i++];
      if (bias) element += bias->at({index[1]});
    });
    if (with.activation != 0) {
      unary(kDefaultContext, with.activation, row_major.view, row_major.out());
    }
    if (with.is_clamped) {
      const auto low = static_cast<T>(with.low);
      const auto high = static_cast<T>(with.high);
      // NaN is neither less nor greater.
      for (T& element : row_major.memory) {
        element = element < low ? low : element > high ? high : element;
      }
    }
    return row_major.memory;
  }

  // Every element equals the reference implementation's, and memory outside the elements keeps its
  // bytes; with packed filters too.
  void expect_twin(const Context& context = kDefaultContext) {
    const Operand<T> before = out;
    Operand<T> expected = out;
    const std::vector<T> results = twin();
    std::size_t i = 0;
    for_each_index(out.view, [&](const Index& index) { expected.at(index) = results[i++]; });
    run(context);
    expect_memory(expected);
    if (testing::Test::HasFatalFailure() || !FiltersLayout::takes(weight.view, with.groups)) return;
    out = before;
    run_packed(context);
    expect_memory(expected);
  }

 private:
  void expect_memory(const Operand<T>& expected) const {
    for (std::size_t at = 0; at < out.memory.size(); ++at) {
      ASSERT_TRUE(same(out.memory[at], expected.memory[at]))
          << name() << ": element " << at << " of memory is " << out.memory[at] << ", not "
          << expected.memory[at];
    }
  }
};

// Extents of a call.
struct Extents {
  std::int64_t images;
  std::int64_t channels;  // of a group
  std::int64_t filters;   // of a group
  Two in;
  Two kernel;

  [[nodiscard]] Shape a(const Options& with) const {
    return {images, channels * with.groups, in[0], in[1]};
  }
  [[nodiscard]] Shape weight(const Options& with) const {
    return {filters * with.groups, channels, kernel[0], kernel[1]};
  }
  [[nodiscard]] Shape out(const Options& with) const {
    Shape shape = {images, filters * with.groups};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const std::int64_t padded = in[axis] + with.padding[2 * axis] + with.padding[2 * axis + 1];
      shape.push_back(
          (padded - (kernel[axis] - 1) * with.dilations[axis] - 1) / with.strides[axis] + 1);
    }
    return shape;
  }
};

template <class T>
Case<T> make(const Extents& extents, const Options& with, ImageLayout layout, Random& random) {
  const auto lay = [&](const Shape& shape, Access access) {
    switch (layout) {
      case ImageLayout::kRowMajor: return Operand<T>(shape);
      case ImageLayout::kChannelsLast: return channels_last<T>(shape);
      default: return Operand<T>(shape, access, random);
    }
  };
  Case<T> made{lay(extents.a(with), Access::kRead), lay(extents.weight(with), Access::kRead),
               lay(extents.out(with), Access::kWrite), with, std::nullopt};
  made.a.fill(random);
  made.weight.fill(random);
  return made;
}

template <class T>
class Conv2d : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Conv2d, Floats);

// ---- shapes -------------------------------------------------------------------------------------

TYPED_TEST(Conv2d, TakesEveryRemainderOfPanels) {
  using T = TypeParam;
  Random random(1);
  for (std::int64_t width = 1; width <= 30; ++width) {
    for (const std::int64_t filters : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47}) {
      for (const ImageLayout layout : {ImageLayout::kRowMajor, ImageLayout::kChannelsLast}) {
        const std::int64_t channels = 1 + (width + filters) % 19;
        Case<T> test = make<T>({1, channels, filters, {1, width}, {1, 1}}, {}, layout, random);
        test.expect_twin();
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Channels, rows and filters around the borders of blocks, and kernels of more elements than a
// block has depths.
TYPED_TEST(Conv2d, TakesEveryRemainderOfBlocks) {
  using T = TypeParam;
  Random random(2);
  const TestContext two(2);
  const Extents cases[] = {
      {1, 57, 5, {5, 7}, {3, 3}},     {1, 100, 33, {4, 4}, {3, 3}},    {2, 513, 3, {3, 5}, {1, 1}},
      {1, 1025, 9, {2, 3}, {1, 1}},   {1, 21, 4, {8, 8}, {5, 5}},      {1, 50, 3, {3, 7}, {2, 5}},
      {1, 3, 17, {23, 25}, {23, 23}}, {1, 2, 40, {35, 33}, {33, 31}},  {1, 2, 2090, {2, 2}, {2, 2}},
      {3, 4, 2, {17, 19}, {3, 3}},    {1, 1, 600, {70, 60}, {60, 60}}, {5, 7, 33, {9, 9}, {1, 3}},
  };
  for (const Extents& extents : cases) {
    for (const ImageLayout layout :
         {ImageLayout::kRowMajor, ImageLayout::kChannelsLast, ImageLayout::kAny}) {
      Options with;
      if (layout != ImageLayout::kRowMajor) with.padding = {1, 0, 1, 1};
      Case<T> test = make<T>(extents, with, layout, random);
      test.expect_twin(layout == ImageLayout::kChannelsLast ? kDefaultContext : two);
      if (this->HasFatalFailure()) return;
    }
  }
}

// Rows that are copied with their padding: of several images at a time, and of one at several times;
// padding that is more than the image, and strides and dilations that leave rows out.
TYPED_TEST(Conv2d, TakesFewChannelsByCopiedRows) {
  using T = TypeParam;
  Random random(17);
  const TestContext two(2);
  struct Given {
    Extents extents;
    Options with;
  };
  const Given cases[] = {
      {{64, 1, 16, {8, 8}, {3, 3}}, {.padding = {1, 1, 1, 1}}},
      {{37, 1, 9, {3, 2}, {3, 3}}, {.padding = {1, 2, 3, 1}}},
      {{1, 3, 19, {61, 67}, {7, 7}}, {.strides = {2, 2}, .padding = {3, 3, 3, 3}}},
      {{2, 4, 33, {90, 31}, {5, 5}}, {.strides = {3, 1}, .padding = {2, 0, 0, 2}}},
      {{2, 2, 17, {2, 40}, {3, 1}}, {.padding = {9, 9, 5, 5}, .dilations = {3, 2}}},
      {{1, 1, 12, {301, 20}, {2, 3}}, {.padding = {0, 3, 2, 2}, .dilations = {7, 1}}},
      {{3, 5, 10, {12, 12}, {4, 1}}, {.strides = {2, 3}, .padding = {1, 1, 1, 1}, .groups = 3}},
      {{1, 1, 20, {9, 700}, {3, 3}}, {.padding = {1, 1, 1, 1}}},
      {{1, 2, 20, {5, 4000}, {1, 5}}, {.padding = {1, 1, 2, 2}}},
      {{6, 16, 32, {8, 8}, {3, 3}}, {.padding = {1, 1, 1, 1}}},
  };
  for (const Given& given : cases) {
    for (const ImageLayout layout :
         {ImageLayout::kRowMajor, ImageLayout::kChannelsLast, ImageLayout::kAny}) {
      for (const bool is_last : {false, true}) {
        Case<T> test = make<T>(given.extents, given.with, layout, random);
        if (is_last) test.out = channels_last<T>(given.extents.out(given.with));
        test.weight.memory[test.weight.memory.size() / 2] = std::numeric_limits<T>::infinity();
        test.expect_twin(is_last ? two : kDefaultContext);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Anything: extents, layouts of either sign and broadcast, strides, padding, dilations, groups,
// bias and activation.
TYPED_TEST(Conv2d, TakesAnyOperands) {
  using T = TypeParam;
  Random random(3);
  const TestContext two(2);
  const auto one_of = [&](std::initializer_list<std::int64_t> list) {
    return list.begin()[random() % list.size()];
  };
  for (int round = 0; round < 700; ++round) {
    Options with;
    with.groups = one_of({1, 1, 1, 2, 3, 5});
    with.activation = static_cast<tnr_unary_op>(
        one_of({0, 0, TNR_UNARY_OP_RELU, TNR_UNARY_OP_TANH, TNR_UNARY_OP_NEG}));
    Extents extents = {one_of({1, 1, 2, 3}),
                       one_of({1, 1, 2, 3, 4, 16, 17, 40}),
                       one_of({1, 1, 2, 3, 5, 8, 16, 33}),
                       {},
                       {}};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      with.strides[axis] = one_of({1, 1, 2, 3});
      with.dilations[axis] = one_of({1, 1, 2, 4});
      with.padding[2 * axis] = one_of({0, 0, 1, 2, 5});
      with.padding[2 * axis + 1] = one_of({0, 0, 1, 3});
      extents.kernel[axis] = one_of({1, 1, 2, 3, 5});
      const std::int64_t least = (extents.kernel[axis] - 1) * with.dilations[axis] + 1 -
                                 with.padding[2 * axis] - with.padding[2 * axis + 1];
      extents.in[axis] = std::max<std::int64_t>(least, 1) + one_of({0, 0, 1, 2, 6, 13});
    }
    const ImageLayout layout = round % 4 == 0   ? ImageLayout::kRowMajor
                               : round % 4 == 1 ? ImageLayout::kChannelsLast
                                                : ImageLayout::kAny;
    Case<T> test = make<T>(extents, with, layout, random);
    if (random() % 2 == 0) {
      test.bias.emplace(Shape{extents.filters * with.groups}, Access::kRead, random);
      test.bias->fill(random);
    }
    // The layouts of operands and result need not be the same.
    if (random() % 4 == 0) test.out = Operand<T>(extents.out(with), Access::kWrite, random);
    test.expect_twin(round % 3 == 0 ? two : kDefaultContext);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(Conv2d, TakesChannelsByThemselves) {
  using T = TypeParam;
  Random random(4);
  const TestContext two(2);
  for (const std::int64_t filters : {1, 2}) {
    for (const ImageLayout layout :
         {ImageLayout::kRowMajor, ImageLayout::kChannelsLast, ImageLayout::kAny}) {
      Options with;
      with.groups = 37;
      with.padding = {1, 1, 1, 1};
      with.activation = TNR_UNARY_OP_RELU;
      Case<T> test = make<T>({2, 1, filters, {9, 11}, {3, 3}}, with, layout, random);
      test.expect_twin(filters == 1 ? kDefaultContext : two);
      if (this->HasFatalFailure()) return;
    }
  }
}

// Windows at every row and column, around the widths of vectors, and of results whose rows are
// computed some at a time.
TYPED_TEST(Conv2d, TakesChannelsByThemselvesAtEveryPlace) {
  using T = TypeParam;
  Random random(15);
  const TestContext two(2);
  const auto one_of = [&](std::initializer_list<std::int64_t> list) {
    return list.begin()[random() % list.size()];
  };
  for (int round = 0; round < 400; ++round) {
    Options with;
    with.groups = one_of({1, 2, 5, 8, 16, 17, 33, 64, 70});
    for (std::int64_t& padding : with.padding) padding = one_of({0, 0, 1, 1, 1, 2, 5});
    if (round % 3 == 0) with.activation = TNR_UNARY_OP_RELU;
    const Two in = {one_of({3, 4, 5, 6, 7, 8, 9, 13}),
                    one_of({3, 4, 7, 8, 15, 16, 17, 18, 19, 31, 33, 34, 50, 66})};
    const ImageLayout layout = round % 7 == 0   ? ImageLayout::kAny
                               : round % 2 == 0 ? ImageLayout::kRowMajor
                                                : ImageLayout::kChannelsLast;
    Case<T> test =
        make<T>({one_of({1, 2}), 1, one_of({1, 1, 2}), in, {3, 3}}, with, layout, random);
    if (round % 5 == 0) {
      test.bias = Operand<T>(Shape{test.out.view.shape[1]}).fill(random);
    }
    test.expect_twin(round % 4 == 0 ? two : kDefaultContext);
    if (this->HasFatalFailure()) return;
  }
  // More channels than are taken at a time, and wider rows.
  for (const ImageLayout layout : {ImageLayout::kRowMajor, ImageLayout::kChannelsLast}) {
    Options with;
    with.padding = {1, 1, 1, 1};
    with.groups = 600;
    make<T>({1, 1, 1, {5, 4}, {3, 3}}, with, layout, random).expect_twin();
    with.groups = 3;
    make<T>({1, 1, 1, {6, 1100}, {3, 3}}, with, layout, random).expect_twin();
  }
}

// Results past the caches, of whole lines or not, against those of one channel after the other,
// whose pixels are not adjacent.
TYPED_TEST(Conv2d, StreamsChannelsByThemselves) {
  using T = TypeParam;
  Random random(16);
  const TestContext two(2);
  for (const ImageLayout layout : {ImageLayout::kRowMajor, ImageLayout::kChannelsLast}) {
    for (const Two in : {Two{402, 512}, Two{401, 517}}) {
      Options with;
      with.padding = {1, 1, 1, 1};
      with.groups = in[0] % 2 == 0 ? 16 : 17;
      if (in[0] % 2 != 0) with.activation = TNR_UNARY_OP_TANH;
      Case<T> test = make<T>({1, 1, 1, in, {3, 3}}, with, layout, random);
      test.run(in[0] % 2 == 0 ? two : kDefaultContext);
      Options alone = with;
      alone.groups = 1;
      for (std::int64_t channel = 0; channel < with.groups; channel += 7) {
        const auto of = [&](const tnr_view& view, std::uint32_t axis) {
          return tenure::slice(view, axis, channel, channel + 1, 1);
        };
        Operand<T> one = channels_last<T>({1, 2, in[0], in[1]});
        const tnr_view_mut out = {tenure::slice(one.view, 1, 0, 1, 1)};
        conv2d(kDefaultContext, of(test.a.view, 1), of(test.weight.view, 0), nullptr,
               alone.attributes(), out);
        for (std::int64_t y = 0; y < in[0]; ++y) {
          for (std::int64_t x = 0; x < in[1]; ++x) {
            ASSERT_TRUE(same(test.out.at({0, channel, y, x}), one.at({0, 0, y, x})))
                << test.name() << " at " << channel << ", " << y << ", " << x;
          }
        }
      }
    }
  }
}

// A slice of each channel's rows and columns, backwards.
TYPED_TEST(Conv2d, TakesSlicesOfImages) {
  using T = TypeParam;
  Random random(5);
  Options with;
  with.padding = {1, 1, 1, 1};
  Case<T> test = make<T>({2, 3, 20, {6, 8}, {3, 3}}, with, ImageLayout::kRowMajor, random);
  constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
  for (const std::int64_t sign : {1, -1}) {
    // Every second row, every third column.
    const std::int64_t first = sign > 0 ? 0 : 2 * 3 * 12 * 24 - 1;
    test.a.lay({2, 3, 6, 8}, {sign * 3 * 12 * 24, sign * 12 * 24, sign * 48, sign * 3}, first,
               2 * 3 * 12 * 24, kNaN);
    test.a.fill(random);
    test.expect_twin();
    if (this->HasFatalFailure()) return;
    // One image for all of the batch, and one channel for all.
    test.a.lay({2, 3, 6, 8}, {0, 0, sign * 8, sign}, sign > 0 ? 0 : 47, 48, kNaN);
    test.a.fill(random);
    test.expect_twin();
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(Conv2d, TakesOneDimensionAsAHeightOfOne) {
  using T = TypeParam;
  Random random(6);
  Options with;
  with.strides = {1, 2};
  with.padding = {0, 0, 2, 1};
  with.dilations = {1, 3};
  for (const ImageLayout layout : {ImageLayout::kRowMajor, ImageLayout::kChannelsLast}) {
    Case<T> test = make<T>({2, 5, 7, {1, 40}, {1, 4}}, with, layout, random);
    test.expect_twin();
    if (this->HasFatalFailure()) return;
  }
}

// More padding than image: whole windows of zeros.
TYPED_TEST(Conv2d, TakesWindowsThatLieInThePadding) {
  using T = TypeParam;
  Random random(7);
  Options with;
  with.padding = {9, 4, 3, 8};
  for (const Two& in : {Two{1, 2}, Two{0, 3}, Two{2, 0}, Two{0, 0}}) {
    for (const ImageLayout layout : {ImageLayout::kRowMajor, ImageLayout::kChannelsLast}) {
      Case<T> test = make<T>({2, 3, 5, in, {2, 3}}, with, layout, random);
      test.bias.emplace(Shape{5}, T{2});
      test.expect_twin();
      if (this->HasFatalFailure()) return;
    }
  }
}

// ---- nothing ------------------------------------------------------------------------------------

TYPED_TEST(Conv2d, SumsOfNoChannelAreTheBias) {
  using T = TypeParam;
  Random random(8);
  Options with;
  with.padding = {1, 1, 1, 1};
  for (const bool is_biased : {false, true}) {
    for (const ImageLayout layout : {ImageLayout::kRowMajor, ImageLayout::kChannelsLast}) {
      Case<T> test = make<T>({2, 0, 35, {5, 6}, {3, 3}}, with, layout, random);
      if (is_biased) test.bias = Operand<T>(Shape{35}).fill(random);
      for_each_index(test.out.view, [&](const Index& at) { test.out.at(at) = 9; });
      test.run();
      for_each_index(test.out.view, [&](const Index& at) {
        ASSERT_EQ(test.out.at(at), is_biased ? test.bias->at({at[1]}) : T{0});
      });
    }
  }
  // A kernel without elements may have extents of any product.
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  with.padding = {kFar, 0, kFar, 0};
  Case<T> test{Operand<T>({1, 0, 1, 1}), Operand<T>({1, 0, kFar, kFar}),
               Operand<T>({1, 1, 2, 2}, 9), with, Operand<T>(Shape{1}, 3)};
  test.run();
  for (const T element : test.out.memory) ASSERT_EQ(element, 3);
}

TYPED_TEST(Conv2d, GivesNothingOfNoImageAndOfNoFilter) {
  using T = TypeParam;
  Random random(9);
  for (const Extents& extents :
       {Extents{0, 3, 5, {6, 6}, {3, 3}}, Extents{2, 3, 0, {6, 6}, {3, 3}}}) {
    Case<T> test = make<T>(extents, {}, ImageLayout::kRowMajor, random);
    test.run();
    EXPECT_TRUE(test.out.memory.empty());
  }
}

TYPED_TEST(Conv2d, ZerosInAttributesAreOnes) {
  using T = TypeParam;
  Random random(10);
  Case<T> test = make<T>({1, 3, 4, {5, 6}, {2, 3}}, {}, ImageLayout::kRowMajor, random);
  const std::vector<T> expected = test.twin();
  conv2d(kDefaultContext, test.a.view, test.weight.view, nullptr, {}, test.out.out());
  EXPECT_EQ(test.out.memory, expected);
}

// A kernel of one row has no dilation of rows, and one column of windows has no stride of columns. Such
// steps may be any numbers. Their products with steps of bytes overflowed.
TYPED_TEST(Conv2d, StepsWithoutUseMayBeAnyNumbers) {
  using T = TypeParam;
  Random random(12);
  for (const std::int64_t step : {std::int64_t{1} << 60 | 1, INT64_MAX}) {
    Options with;
    with.dilations = {step, 1};
    with.strides = {1, step};
    with.padding = {1, 0, 0, 0};
    Case<T> test = make<T>({2, 3, 4, {5, 4}, {1, 4}}, {.padding = with.padding},
                           ImageLayout::kRowMajor, random);
    const std::vector<T> expected = test.twin();
    test.with = with;
    test.run();
    EXPECT_EQ(test.out.memory, expected);
    test.run_packed(kDefaultContext);
    EXPECT_EQ(test.out.memory, expected);
  }
}

// ---- numbers ------------------------------------------------------------------------------------

TYPED_TEST(Conv2d, StaysWithinItsBound) {
  using T = TypeParam;
  Random random(11);
  const auto eps = static_cast<long double>(std::numeric_limits<T>::epsilon());
  Options with;
  with.padding = {1, 1, 1, 1};
  for (const std::int64_t channels : {1, 57, 400}) {
    Case<T> test = make<T>({1, channels, 9, {5, 6}, {3, 3}}, with, ImageLayout::kRowMajor, random);
    test.bias = Operand<T>(Shape{9}).fill(random);
    // Ill-scaled: magnitudes from 2^-30 to 2^30.
    for (T& element : test.a.memory)
      element = std::ldexp(element, static_cast<int>(below(random, 61)) - 30);
    test.run();
    using Wide = long double;
    const auto exact = sums<T, Wide>(test.a.view, test.weight.view, with, test.out.view,
                                     [](Wide a, Wide b, Wide sum) { return sum + a * b; });
    const auto magnitudes =
        sums<T, Wide>(test.a.view, test.weight.view, with, test.out.view,
                      [](Wide a, Wide b, Wide sum) { return sum + std::fabs(a * b); });
    std::size_t i = 0;
    for_each_index(test.out.view, [&](const Index& index) {
      const auto bias = static_cast<Wide>(test.bias->at({index[1]}));
      const Wide error = std::fabs(static_cast<Wide>(test.out.at(index)) - exact[i] - bias);
      const Wide products = 9 * static_cast<Wide>(channels);
      EXPECT_LE(error, (products + 4) * eps * (magnitudes[i] + std::fabs(bias)));
      ++i;
    });
  }
}

// NaN, infinities and denormals go where they belong and nowhere else: an infinite weight makes NaN
// of the padding's zeros.
TYPED_TEST(Conv2d, KeepsSpecialNumbersApart) {
  using T = TypeParam;
  Random random(12);
  constexpr T kSpecial[] = {std::numeric_limits<T>::quiet_NaN(),
                            std::numeric_limits<T>::infinity(),
                            -std::numeric_limits<T>::infinity(),
                            std::numeric_limits<T>::denorm_min(),
                            std::numeric_limits<T>::max(),
                            T{0},
                            -T{0}};
  Options with;
  with.padding = {1, 2, 1, 0};
  for (const tnr_unary_op activation : {0, TNR_UNARY_OP_RELU, TNR_UNARY_OP_EXP}) {
    with.activation = activation;
    with.is_clamped = activation != 0;
    for (const ImageLayout layout :
         {ImageLayout::kRowMajor, ImageLayout::kChannelsLast, ImageLayout::kAny}) {
      Case<T> test = make<T>({2, 3, 18, {9, 13}, {3, 2}}, with, layout, random);
      test.bias = Operand<T>(Shape{18}).fill(random);
      for (Operand<T>* operand : {&test.a, &test.weight, &*test.bias}) {
        for_each_index(operand->view, [&](const Index& index) {
          if (random() % 30 == 0) operand->at(index) = kSpecial[random() % std::size(kSpecial)];
        });
      }
      test.expect_twin();
      if (this->HasFatalFailure()) return;
    }
  }
}

// Negative zeros: a sum begins at +0, a bias of -0 keeps it, and relu gives the results of unary().
TYPED_TEST(Conv2d, KeepsTheSignsOfZeros) {
  using T = TypeParam;
  for (const tnr_unary_op activation : {0, TNR_UNARY_OP_RELU, TNR_UNARY_OP_NEG}) {
    Options with;
    with.activation = activation;
    for (const T bias : {T{0}, -T{0}, -std::numeric_limits<T>::denorm_min()}) {
      Case<T> test{Operand<T>({1, 0, 3, 5}), Operand<T>({20, 0, 1, 1}), Operand<T>({1, 20, 3, 5}),
                   with, Operand<T>(Shape{20}, bias)};
      test.expect_twin();
      if (this->HasFatalFailure()) return;
    }
  }
}

// The bits of an element depend only on its window and its filter.
TYPED_TEST(Conv2d, GivesTheSameBitsInAnyLayoutForAnyThreads) {
  using T = TypeParam;
  Random random(13);
  const TestContext two(2);
  const TestContext three(3);
  Options with;
  with.padding = {1, 1, 1, 1};
  with.activation = TNR_UNARY_OP_TANH;
  const Extents extents = {2, 70, 50, {15, 17}, {3, 3}};
  Case<T> plain = make<T>(extents, with, ImageLayout::kRowMajor, random);
  plain.run();
  for (int layout = 0; layout < 12; ++layout) {
    const auto write = Access::kWrite;  // no repeated elements: these are the same images
    Case<T> other{Operand<T>(extents.a(with), write, random),
                  Operand<T>(extents.weight(with), write, random),
                  Operand<T>(extents.out(with), write, random), with, std::nullopt};
    if (layout < 3) {
      other.a = channels_last<T>(extents.a(with));
      other.out = channels_last<T>(extents.out(with));
    }
    for_each_index(plain.a.view, [&](const Index& at) { other.a.at(at) = plain.a.at(at); });
    for_each_index(plain.weight.view,
                   [&](const Index& at) { other.weight.at(at) = plain.weight.at(at); });
    other.run(layout % 3 == 0 ? kDefaultContext : layout % 3 == 1 ? two : three);
    for_each_index(plain.out.view, [&](const Index& index) {
      ASSERT_TRUE(same(plain.out.at(index), other.out.at(index))) << other.name();
    });
    if (this->HasFatalFailure()) return;
  }
  // One image, and one filter.
  const tnr_view image = tenure::slice(plain.a.view, 0, 1, 2, 1);
  Operand<T> out({1, 50, 15, 17});
  conv2d(two, image, plain.weight.view, nullptr, with.attributes(), out.out());
  const tnr_view filter = tenure::slice(plain.weight.view, 0, 33, 34, 1);
  Operand<T> of_filter({2, 1, 15, 17});
  conv2d(two, plain.a.view, filter, nullptr, with.attributes(), of_filter.out());
  for_each_index(out.view, [&](const Index& at) {
    ASSERT_TRUE(same(out.at(at), plain.out.at({1, at[1], at[2], at[3]})));
  });
  for_each_index(of_filter.view, [&](const Index& at) {
    ASSERT_TRUE(same(of_filter.at(at), plain.out.at({at[0], 33, at[2], at[3]})));
  });
}

// ---- memory -------------------------------------------------------------------------------------

#ifndef _WIN32
// A copy of an operand whose memory ends or begins at an inaccessible page.
template <class T>
class Fenced {
 public:
  Fenced(const Operand<T>& operand, End end) : room_(operand.memory.size() * sizeof(T)) {
    const auto count = static_cast<std::int64_t>(operand.memory.size());
    room_.place(kDtype<T>, 1, count, kArrangements[0], end, bytes_of(operand));
    view = operand.view;
    const auto offset = static_cast<const Byte*>(view.data) - static_cast<const Byte*>(view.base);
    view.base = room_.view().base;
    view.data = static_cast<const Byte*>(view.base) + offset;
  }

  void expect(const Operand<T>& operand) {
    room_.expect_elements(bytes_of(operand));
    ASSERT_TRUE(room_.is_as_expected()) << room_.first_difference();
  }

  tnr_view view;

 private:
  static const Byte* bytes_of(const Operand<T>& operand) {
    return reinterpret_cast<const Byte*>(operand.memory.data());
  }

  Guarded room_;
};

TYPED_TEST(Conv2d, TouchesNoByteBeyondItsOperands) {
  using T = TypeParam;
  Random random(14);
  const Extents cases[] = {{1, 3, 7, {5, 9}, {3, 3}},   {2, 17, 33, {4, 5}, {1, 1}},
                           {1, 33, 40, {3, 3}, {2, 2}}, {1, 1, 1, {1, 1}, {1, 1}},
                           {1, 70, 5, {6, 31}, {3, 3}}, {3, 5, 16, {2, 3}, {1, 2}}};
  for (const Extents& extents : cases) {
    for (int round = 0; round < 6; ++round) {
      Options with;
      if (round % 2 == 0) with.padding = {1, 1, 1, 1};
      if (round % 3 == 0) with.activation = TNR_UNARY_OP_RELU;
      with.is_clamped = round % 4 == 0;
      const ImageLayout layout = round < 2   ? ImageLayout::kRowMajor
                                 : round < 4 ? ImageLayout::kChannelsLast
                                             : ImageLayout::kAny;
      Case<T> test = make<T>(extents, with, layout, random);
      test.bias = Operand<T>(Shape{extents.filters}).fill(random);
      Operand<T> expected = test.out;
      const std::vector<T> results = test.twin();
      std::size_t i = 0;
      for_each_index(test.out.view, [&](const Index& at) { expected.at(at) = results[i++]; });
      for (const End end : {End::kFront, End::kBack}) {
        const Fenced<T> a(test.a, end);
        const Fenced<T> weight(test.weight, end);
        const Fenced<T> bias(*test.bias, end);
        Fenced<T> out(test.out, end);
        conv2d(kDefaultContext, a.view, weight.view, &bias.view, with.attributes(), {out.view});
        out.expect(expected);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}
#endif

}  // namespace
}  // namespace tenure::test
