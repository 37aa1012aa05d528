// Batch normalization by known statistics, against its definition.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "expect_error.hpp"
#include "strided_floats.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

// Any of them may be absent, but the variance.
template <class T>
struct Statistics {
  std::optional<Operand<T>> mean, weight, bias;
  Operand<T> var;

  Statistics(std::int64_t channels, Random& random) : var(Shape{channels}, Access::kRead, random) {
    for (std::optional<Operand<T>>* one : {&mean, &weight, &bias}) {
      if (random() % 3 == 0) continue;
      one->emplace(Shape{channels}, Access::kRead, random);
      (*one)->fill(random);
    }
    var.fill(random);
    for_each_index(var.view, [&](const Index& at) { var.at(at) = std::fabs(var.at(at)); });
  }

  static const tnr_view* view_of(const std::optional<Operand<T>>& one) {
    return one ? &one->view : nullptr;
  }
  void run(const Context& context, const tnr_view& a, double eps, const tnr_view_mut& out) const {
    batch_norm(context, a, view_of(mean), var.view, view_of(weight), view_of(bias), eps, out);
  }
  [[nodiscard]] T at(std::optional<Operand<T>>& one, std::int64_t channel, T otherwise) {
    return one ? one->at({channel}) : otherwise;
  }
  // The scale in f64, rounded; then a difference, a product and a sum.
  T of(T element, std::int64_t channel, double eps) {
    const double root = std::sqrt(static_cast<double>(var.at({channel})) + eps);
    const T scale = static_cast<T>(static_cast<double>(at(weight, channel, 1)) / root);
    const T distance = element - at(mean, channel, 0);
    const T product = distance * scale;
    return product + at(bias, channel, 0);
  }
};

template <class T>
class BatchNorm : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(BatchNorm, Floats);

TYPED_TEST(BatchNorm, TakesAnyOperands) {
  using T = TypeParam;
  Random random(1);
  const TestContext two(2);
  for (int round = 0; round < 300; ++round) {
    Shape shape = {below(random, 4), 1 + below(random, 40)};
    for (std::int64_t more = below(random, 4); more > 0; --more) {
      shape.push_back(1 + below(random, 9));
    }
    Operand<T> a(shape, Access::kRead, random);
    a.fill(random);
    Statistics<T> with(shape[1], random);
    const double eps = round % 2 == 0 ? 1e-5 : 0;
    Operand<T> out(shape, Access::kWrite, random);
    Operand<T> expected = out;
    for_each_index(out.view,
                   [&](const Index& at) { expected.at(at) = with.of(a.at(at), at[1], eps); });
    with.run(round % 3 == 0 ? two : kDefaultContext, a.view, eps, out.out());
    for (std::size_t i = 0; i < out.memory.size(); ++i) {
      ASSERT_TRUE(same(out.memory[i], expected.memory[i]))
          << "round " << round << ", element " << i;
    }
  }
}

TYPED_TEST(BatchNorm, WorksInPlace) {
  using T = TypeParam;
  Random random(2);
  Operand<T> a({3, 17, 4, 5});
  a.fill(random);
  Statistics<T> with(17, random);
  Operand<T> expected = a;
  for_each_index(a.view, [&](const Index& at) { expected.at(at) = with.of(a.at(at), at[1], 0.5); });
  with.run(kDefaultContext, a.view, 0.5, a.out());
  EXPECT_EQ(a.memory, expected.memory);
}

// Channels of large numbers that are close to each other, in every order of axes: an element that is
// the mean gives the bias, and others differ from the exact result by the bound that is documented.
TYPED_TEST(BatchNorm, StaysWithinItsBoundFarFromZero) {
  using T = TypeParam;
  Random random(4);
  constexpr std::int64_t kChannels = 5;
  const Shape shape = {2, kChannels, 6, 7};
  for (const T centre : {T(1e4), T(-3e6), T(1e30)}) {
    for (int round = 0; round < 24; ++round) {
      Operand<T> a(shape, Access::kWrite, random);
      Operand<T> out(shape, Access::kWrite, random);
      Statistics<T> with(kChannels, random);
      with.mean.emplace(Shape{kChannels}, centre);
      for (std::int64_t channel = 0; channel < kChannels; channel += 2) with.var.at({channel}) = 0;
      std::normal_distribution<T> normal;
      for_each_index(a.view, [&](const Index& at) {
        a.at(at) = at[3] == 0 ? centre : centre + normal(random) * centre / 64;
      });
      with.run(kDefaultContext, a.view, 1e-5, out.out());
      for_each_index(out.view, [&](const Index& at) {
        const T bias = with.at(with.bias, at[1], 0);
        if (at[3] == 0) {
          ASSERT_EQ(out.at(at), bias);
        }
        const long double root = std::sqrt(static_cast<long double>(with.var.at({at[1]})) + 1e-5L);
        const long double product =
            (static_cast<long double>(a.at(at)) - centre) * with.at(with.weight, at[1], 1) / root;
        const long double exact = product + bias;
        const long double eps = std::numeric_limits<T>::epsilon();
        ASSERT_LE(std::fabs(out.at(at) - exact),
                  eps * (1.6L * std::fabs(product) + std::fabs(exact) / 2));
      });
    }
  }
}

// Folds as the documentation of tnr_batch_norm says: filters by rows, and the bias as a row.
TYPED_TEST(BatchNorm, FoldsIntoAConvolution) {
  using T = TypeParam;
  Random random(3);
  Operand<T> a({2, 3, 6, 7});
  Operand<T> weight({5, 3, 3, 3});
  Operand<T> bias(Shape{5});
  a.fill(random);
  weight.fill(random);
  bias.fill(random);
  Statistics<T> with(5, random);
  Operand<T> out({2, 5, 4, 5});
  conv2d(kDefaultContext, a.view, weight.view, &bias.view, {}, out.out());
  with.run(kDefaultContext, out.view, 1e-3, out.out());

  const auto turned = [](tnr_view view) {
    std::swap(view.shape[0], view.shape[1]);
    std::swap(view.strides[0], view.strides[1]);
    return view;
  };
  Operand<T> folded({5, 3, 3, 3});
  const tnr_view* const scale = Statistics<T>::view_of(with.weight);
  batch_norm(kDefaultContext, turned(weight.view), nullptr, with.var.view, scale, nullptr, 1e-3,
             {turned(folded.view)});
  Operand<T> row({1, 5});
  row.memory = bias.memory;
  with.run(kDefaultContext, row.view, 1e-3, row.out());
  bias.memory = row.memory;
  Operand<T> at_once({2, 5, 4, 5});
  conv2d(kDefaultContext, a.view, folded.view, &bias.view, {}, at_once.out());
  for (std::size_t i = 0; i < out.memory.size(); ++i) {
    EXPECT_NEAR(at_once.memory[i], out.memory[i], 1e-4 * (1 + std::fabs(out.memory[i]))) << i;
  }
}

// ---- refusals -----------------------------------------------------------------------------------

struct RefusedBatchNorm : testing::Test {
  Operand<float> a{{2, 4, 5}};
  Operand<float> var{Shape{4}, 1};
  Operand<float> matrix{{4, 1}};
  Operand<float> out{{2, 4, 5}, 7};

  void expect(tnr_status status, std::initializer_list<std::string> words, const tnr_view& x,
              const tnr_view& variance, const tnr_view& z, double eps = 0,
              const tnr_view* mean = nullptr) {
    expect_error(status, words, [&] {
      batch_norm(kDefaultContext, x, mean, variance, nullptr, nullptr, eps, {z});
    });
    for (const float element : out.memory) EXPECT_EQ(element, 7);
  }
};

TEST_F(RefusedBatchNorm, ShapesThatDoNotAgree) {
  const auto invalid = TNR_STATUS_INVALID_ARGUMENT;
  expect(invalid, {"a.rank is 1 but must be 2 at least"}, Operand<float>(Shape{4}).view, var.view,
         Operand<float>(Shape{4}).view);
  expect(invalid, {"out.rank is 3 but must be 2"}, Operand<float>({4, 5}).view, var.view, out.view);
  expect(invalid, {"out.shape[0] is 2 but must be 1"}, Operand<float>({1, 4, 5}).view, var.view,
         out.view);
  expect(invalid, {"var.shape[0] is 5 but must be 4, the channels of a"}, a.view,
         Operand<float>(Shape{5}).view, out.view);
  expect(invalid, {"mean.rank is 2 but must be 1"}, a.view, var.view, out.view, 0, &matrix.view);
}

TEST_F(RefusedBatchNorm, Eps) {
  for (const double eps : {-1e-9, std::nan(""), HUGE_VAL}) {
    expect(TNR_STATUS_INVALID_ARGUMENT, {"attributes->eps is", "must be finite and 0 at least"},
           a.view, var.view, out.view, eps);
  }
}

TEST_F(RefusedBatchNorm, DtypesAndOverlap) {
  tnr_view integers = a.view;
  integers.dtype = TNR_DTYPE_I32;
  tnr_view integers_out = out.view;
  integers_out.dtype = TNR_DTYPE_I32;
  expect(TNR_STATUS_UNSUPPORTED, {"batch_norm does not take i32"}, integers, var.view,
         integers_out);
  expect(TNR_STATUS_INVALID_ARGUMENT, {"var.dtype is f64", "a.dtype is f32"}, a.view,
         Operand<double>(Shape{4}).view, out.view);
  tnr_view inside = out.view;
  inside.rank = 1;
  inside.shape[0] = 4;
  inside.strides[0] = 1;
  expect(TNR_STATUS_ALIASED, {"out shares bytes with var"}, a.view, inside, out.view);
}

}  // namespace
}  // namespace tenure::test
