// Convolutions and poolings of f16 and bf16: those of f32, rounded once.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "expect_error.hpp"
#include "image_operands.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

struct F16 {
  std::uint16_t bits;
  bool operator==(const F16&) const = default;
};
struct BF16 {
  std::uint16_t bits;
  bool operator==(const BF16&) const = default;
};

}  // namespace

template <>
constexpr tnr_dtype kDtype<F16> = TNR_DTYPE_F16;
template <>
constexpr tnr_dtype kDtype<BF16> = TNR_DTYPE_BF16;

namespace {

Shape shape_of(const tnr_view& view) { return {view.shape, view.shape + view.rank}; }

// The elements of a view, row-major, as another dtype.
template <class To, class From>
Operand<To> converted(const Operand<From>& from) {
  Operand<To> to(shape_of(from.view));
  if (!is_empty(from.view)) cast(kDefaultContext, from.view, to.out());
  return to;
}

template <class T>
void fill(Operand<T>& to, Random& random) {
  Operand<float> numbers(shape_of(to.view));
  numbers.fill(random);
  Operand<T> narrow = converted<T>(numbers);
  for_each_index(to.view, [&](const Index& index) { to.at(index) = narrow.at(index); });
}

template <class T>
class WideImages : public testing::Test {
 protected:
  Operand<T> lay(const Shape& shape, Access access) { return images<T>(shape, access, random); }
  std::int64_t one_of(std::initializer_list<std::int64_t> list) {
    return list.begin()[random() % list.size()];
  }
  const Context& any_context() { return random() % 2 == 0 ? two_ : one_; }

  // Every element of `out` is that of `wide`, rounded, and other memory is as it was.
  static void expect_rounded(const Operand<T>& out, Operand<T> before, const Operand<float>& wide) {
    Operand<T> rounded = converted<T>(wide);
    for_each_index(before.view, [&](const Index& at) { before.at(at) = rounded.at(at); });
    ASSERT_TRUE(out.memory == before.memory) << shape_text(4, out.view.shape).text << " strides "
                                             << shape_text(4, out.view.strides).text;
  }

  Random random{5};

 private:
  const TestContext two_{2};
  const Context one_;
};
using Halves = testing::Types<F16, BF16>;
TYPED_TEST_SUITE(WideImages, Halves);

TYPED_TEST(WideImages, AreConvolvedInF32) {
  using T = TypeParam;
  for (int round = 0; round < 300; ++round) {
    tnr_conv2d_attributes with = {};
    with.struct_size = sizeof with;
    with.groups = this->one_of({1, 1, 2, 5});
    if (this->random() % 3 == 0) with.activation = TNR_UNARY_OP_TANH;
    if (this->random() % 3 == 0) {
      with.flags = TNR_EPILOGUE_CLAMP;
      with.low = -0.3;
      with.high = 0.5;
    }
    const std::int64_t channels = this->one_of({0, 1, 2, 3, 17, 70});
    const std::int64_t filters = this->one_of({1, 1, 2, 9});
    Shape a = {this->one_of({0, 1, 2, 3}), channels * with.groups, 0, 0};
    Shape weight = {filters * with.groups, channels, 0, 0};
    Shape out = {a[0], weight[0], 0, 0};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      with.strides[axis] = this->one_of({1, 1, 2, 3});
      with.dilations[axis] = this->one_of({1, 1, 2});
      with.padding[2 * axis] = this->one_of({0, 1, 2});
      with.padding[2 * axis + 1] = this->one_of({0, 1});
      weight[2 + axis] = this->one_of({1, 2, 3});
      const std::int64_t reach = (weight[2 + axis] - 1) * with.dilations[axis] + 1;
      a[2 + axis] = reach + this->one_of({0, 1, 5});
      out[2 + axis] = (a[2 + axis] + with.padding[2 * axis] + with.padding[2 * axis + 1] - reach) /
                          with.strides[axis] +
                      1;
    }
    const bool is_transposed = this->random() % 3 == 0;
    if (is_transposed) std::swap(a, out);
    Operand<T> image = this->lay(a, Access::kRead);
    Operand<T> filter = this->lay(weight, Access::kRead);
    Operand<T> result = this->lay(out, Access::kWrite);
    Operand<T> bias({out[1]});
    for (Operand<T>* operand : {&image, &filter, &result, &bias}) fill(*operand, this->random);
    const bool has_bias = this->random() % 2 == 0;
    const Operand<T> before = result;
    Operand<float> wide(out);
    const Operand<float> wide_image = converted<float>(image);
    const Operand<float> wide_filter = converted<float>(filter);
    const Operand<float> wide_bias = converted<float>(bias);
    const auto call = is_transposed ? conv2d_transposed : conv2d;
    call(kDefaultContext, wide_image.view, wide_filter.view, has_bias ? &wide_bias.view : nullptr,
         with, wide.out());
    call(this->any_context(), image.view, filter.view, has_bias ? &bias.view : nullptr, with,
         result.out());
    this->expect_rounded(result, before, wide);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(WideImages, ArePooledInF32) {
  using T = TypeParam;
  for (int round = 0; round < 200; ++round) {
    tnr_pool2d_attributes with = {};
    with.struct_size = sizeof with;
    Shape a = {this->one_of({0, 1, 2, 3}), this->one_of({1, 2, 33}), 0, 0};
    Shape out = {a[0], a[1], 0, 0};
    const bool is_adaptive = this->random() % 4 == 0;
    if (is_adaptive) with.flags = TNR_POOL2D_ADAPTIVE;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      a[2 + axis] = this->one_of({3, 4, 9});
      out[2 + axis] = this->one_of({1, 2});
      if (is_adaptive) continue;
      with.kernel[axis] = this->one_of({2, 3});
      with.strides[axis] = this->one_of({1, 2});
      with.padding[2 * axis] = this->one_of({0, 1});
      out[2 + axis] =
          (a[2 + axis] + with.padding[2 * axis] - with.kernel[axis]) / with.strides[axis] + 1;
    }
    const tnr_reduce_op op = this->random() % 2 == 0 ? TNR_REDUCE_OP_MAX : TNR_REDUCE_OP_MEAN;
    if (op == TNR_REDUCE_OP_MEAN && !is_adaptive && this->random() % 2 == 0) {
      with.flags = TNR_POOL2D_COUNT_PADDING;
    }
    Operand<T> image = this->lay(a, Access::kRead);
    Operand<T> result = this->lay(out, Access::kWrite);
    fill(image, this->random);
    fill(result, this->random);
    const Operand<T> before = result;
    Operand<float> wide(out);
    const Operand<float> wide_image = converted<float>(image);
    pool2d(kDefaultContext, op, wide_image.view, with, wide.out());
    pool2d(this->any_context(), op, image.view, with, result.out());
    this->expect_rounded(result, before, wide);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(WideImages, HaveTheGradientsOfF32) {
  using T = TypeParam;
  for (int round = 0; round < 200; ++round) {
    tnr_conv2d_attributes with = {};
    with.struct_size = sizeof with;
    with.groups = this->one_of({1, 2});
    tnr_pool2d_attributes windows = {};
    windows.struct_size = sizeof windows;
    Shape a = {this->one_of({0, 1, 2, 3}), this->one_of({1, 3, 17}) * with.groups, 0, 0};
    Shape g = {a[0], this->one_of({1, 9}) * with.groups, 0, 0};
    Shape filters = {g[1], a[1] / with.groups, 0, 0};
    Shape pooled = {a[0], a[1], 0, 0};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      with.strides[axis] = windows.strides[axis] = this->one_of({1, 2});
      with.padding[2 * axis] = windows.padding[2 * axis] = this->one_of({0, 1});
      filters[2 + axis] = windows.kernel[axis] = this->one_of({2, 3});
      a[2 + axis] = this->one_of({3, 4, 9});
      g[2 + axis] = pooled[2 + axis] =
          (a[2 + axis] + with.padding[2 * axis] - filters[2 + axis]) / with.strides[axis] + 1;
    }
    Operand<T> image = this->lay(a, Access::kRead);
    Operand<T> gradient = this->lay(g, Access::kRead);
    Operand<T> of_pool = this->lay(pooled, Access::kRead);
    Operand<T> result = this->lay(filters, Access::kWrite);
    Operand<T> of_images = this->lay(a, Access::kWrite);
    for (Operand<T>* operand : {&image, &gradient, &of_pool, &result, &of_images}) {
      fill(*operand, this->random);
    }
    Operand<T> before = result;
    Operand<float> wide(filters);
    conv2d_filters(kDefaultContext, converted<float>(image).view, converted<float>(gradient).view,
                   with, wide.out());
    conv2d_filters(this->any_context(), image.view, gradient.view, with, result.out());
    this->expect_rounded(result, before, wide);

    const tnr_reduce_op op = round % 2 == 0 ? TNR_REDUCE_OP_MAX : TNR_REDUCE_OP_MEAN;
    before = of_images;
    Operand<float> wide_images(a);
    pool2d_gradient(kDefaultContext, op, converted<float>(image).view,
                    converted<float>(of_pool).view, windows, wide_images.out());
    pool2d_gradient(this->any_context(), op, image.view, of_pool.view, windows, of_images.out());
    this->expect_rounded(of_images, before, wide_images);
    if (this->HasFatalFailure()) return;
  }
}

// More of them than are copied at a time.
TYPED_TEST(WideImages, AreTakenInChunks) {
  using T = TypeParam;
  const Shape a = {19, 32, 64, 64};
  const Operand<T> none({19, 3, 64, 64});
  Operand<T> image(a);
  Operand<T> filter({3, 32, 1, 1});
  fill(image, this->random);
  fill(filter, this->random);
  const Operand<float> wide_image = converted<float>(image);
  Operand<float> wide({19, 3, 64, 64});
  Operand<T> out = none;
  conv2d(kDefaultContext, wide_image.view, converted<float>(filter).view, nullptr, {}, wide.out());
  conv2d(kDefaultContext, image.view, filter.view, nullptr, {}, out.out());
  this->expect_rounded(out, none, wide);

  tnr_pool2d_attributes with = {};
  with.kernel[0] = with.kernel[1] = 2;
  Operand<float> wide_means({19, 32, 32, 32});
  const Operand<T> empty({19, 32, 32, 32});
  Operand<T> means = empty;
  pool2d(kDefaultContext, TNR_REDUCE_OP_MEAN, wide_image.view, with, wide_means.out());
  pool2d(kDefaultContext, TNR_REDUCE_OP_MEAN, image.view, with, means.out());
  this->expect_rounded(means, empty, wide_means);

  // Whole numbers, whose sums are exact in any order.
  Operand<float> whole(a);
  for_each_index(whole.view, [&](const Index& at) {
    whole.at(at) = static_cast<float>(this->random() % 3) - 1;
  });
  Operand<float> wide_filters({32, 32, 1, 1});
  const Operand<T> no_filters({32, 32, 1, 1});
  Operand<T> filters = no_filters;
  conv2d_filters(kDefaultContext, whole.view, whole.view, {}, wide_filters.out());
  const Operand<T> narrow = converted<T>(whole);
  conv2d_filters(kDefaultContext, narrow.view, narrow.view, {}, filters.out());
  this->expect_rounded(filters, no_filters, wide_filters);
}

// 16 images, whose pixels are two blocks, and then 9 images, whose pixels are one longer block.
TYPED_TEST(WideImages, AreTakenInChunksOfDifferentBlocks) {
  using T = TypeParam;
  for (const bool is_last : {false, true}) {
    const auto laid = [&](const Shape& shape) {
      Operand<float> operand = is_last ? channels_last<float>(shape) : Operand<float>(shape);
      fill_whole(operand, this->random);
      Operand<T> narrow = is_last ? channels_last<T>(shape) : Operand<T>(shape);
      cast(kDefaultContext, operand.view, narrow.out());
      return std::pair(operand, narrow);
    };
    const auto a = laid({25, 2000, 1, 56});
    const auto g = laid({25, 340, 1, 56});
    Operand<float> wide({340, 2000, 1, 1});
    const Operand<T> none({340, 2000, 1, 1});
    Operand<T> out = none;
    conv2d_filters(kDefaultContext, a.first.view, g.first.view, {}, wide.out());
    conv2d_filters(kDefaultContext, a.second.view, g.second.view, {}, out.out());
    this->expect_rounded(out, none, wide);
  }
}

TYPED_TEST(WideImages, AreRefusedBesideOthers) {
  using T = TypeParam;
  const Operand<T> image({1, 2, 4, 4});
  const Operand<T> filter({3, 2, 1, 1});
  const Operand<float> wide({3, 2, 1, 1});
  const Operand<float> wide_bias(Shape{3});
  Operand<T> out({1, 3, 4, 4});
  Operand<float> wide_out({1, 3, 4, 4});
  const auto refuse = [&](std::initializer_list<std::string> parts, const tnr_view& weight,
                          const tnr_view* bias, const tnr_view_mut& to) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, parts,
                 [&] { conv2d(kDefaultContext, image.view, weight, bias, {}, to); });
  };
  refuse({"weight.dtype is f32"}, wide.view, nullptr, out.out());
  refuse({"bias.dtype is f32"}, filter.view, &wide_bias.view, out.out());
  refuse({"out.dtype is f32"}, filter.view, nullptr, wide_out.out());
}

}  // namespace
}  // namespace tenure::test
