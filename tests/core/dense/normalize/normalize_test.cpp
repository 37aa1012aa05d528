// Normalizations, against their definitions in long double.
#include "tenure/normalize.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "expect_error.hpp"
#include "last_places.hpp"
#include "strided_floats.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

constexpr tnr_normalize_op kAll[] = {TNR_NORMALIZE_OP_SOFTMAX, TNR_NORMALIZE_OP_LOG_SOFTMAX,
                                     TNR_NORMALIZE_OP_LAYER_NORM, TNR_NORMALIZE_OP_RMS_NORM};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_of(std::uint32_t axes, std::size_t axis) { return (axes >> axis & 1) != 0; }

tnr_normalize_attributes with(double eps, const tnr_view* weight = nullptr,
                              const tnr_view* bias = nullptr) {
  tnr_normalize_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.eps = eps;
  attributes.weight = weight;
  attributes.bias = bias;
  return attributes;
}

// The value that an element becomes, and how far from that it may be.
struct Expected {
  long double value;
  long double tolerance;
};

// NaN is no number, and near none.
bool is_near(long double found, const Expected& expected) {
  return std::fabs(found - expected.value) <= expected.tolerance || found == expected.value;
}

// The elements of a row.
class Row {
 public:
  void add(long double x) {
    elements_.push_back(x);
    greatest_ = std::max(greatest_, x);
    powers_.reset();
  }
  [[nodiscard]] long double greatest() const { return greatest_; }
  // The sum of e^(x - greatest) without a greatest element, and the mean of the distances by powers.
  struct Powers {
    long double sum;
    long double distance;
  };
  [[nodiscard]] const Powers& powers_of_others() const {
    if (powers_) return *powers_;
    Powers& powers = powers_.emplace(Powers{0, 0});
    bool has_greatest = false;
    for (const long double x : elements_) {
      const long double distance = greatest_ - x;
      if (distance == 0 && !std::exchange(has_greatest, true)) continue;
      const long double power = std::exp(-distance);
      powers.sum += power;
      if (power != 0) powers.distance += distance * power;
    }
    if (powers.sum != 0) powers.distance /= powers.sum;
    return powers;
  }
  // Sums of f64 round as elements do, those of f32 hardly.
  Expected of(tnr_normalize_op op, long double x, double eps, long double weight, long double bias,
              long double epsilon) const {
    const auto count = static_cast<long double>(elements_.size());
    const long double places = epsilon < 1e-12 ? 60 : 6;
    if (op == TNR_NORMALIZE_OP_SOFTMAX || op == TNR_NORMALIZE_OP_LOG_SOFTMAX) {
      const long double from = x - greatest_;
      const Powers& powers = powers_of_others();
      if (op == TNR_NORMALIZE_OP_SOFTMAX) {
        const long double share = std::exp(from) / (1 + powers.sum);
        return {share, (places - from) * share * epsilon};
      }
      const long double value = from - std::log1p(powers.sum);
      const long double distance = std::max(-from, powers.distance);
      return {value, (places + distance) * std::fabs(value) * epsilon};
    }
    long double mean = 0;
    if (op == TNR_NORMALIZE_OP_LAYER_NORM) {
      for (const long double y : elements_) mean += y / count;
    }
    long double squares = 0;
    for (const long double y : elements_) squares += (y - mean) * (y - mean) / count;
    const long double scale = 1 / std::sqrt(squares + eps);
    const long double product = (x - mean) * scale * weight;
    const long double rounded =
        std::fabs(x * scale * weight) + std::fabs(product) + std::fabs(bias);
    return {product + bias, places * rounded * epsilon};
  }

 private:
  std::vector<long double> elements_;
  long double greatest_ = -kInfinity;
  mutable std::optional<Powers> powers_;
};

template <class T>
class Normalize : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Normalize, Floats);

// A call and its operands.
template <class T>
struct Call {
  tnr_normalize_op op;
  std::uint32_t axes;
  Operand<T> a;
  std::optional<Operand<T>> weight, bias;
  double eps;

  Call(tnr_normalize_op code, std::uint32_t over, const Operand<T>& in, Random& random)
      : op(code), axes(over), a(in), eps(0) {
    if (op != TNR_NORMALIZE_OP_LAYER_NORM && op != TNR_NORMALIZE_OP_RMS_NORM) return;
    eps = 1e-5;
    Shape extents;
    for (std::uint32_t axis = 0; axis < a.view.rank; ++axis) {
      if (is_of(axes, axis)) extents.push_back(a.view.shape[axis]);
    }
    if (random() % 2 == 0) weight.emplace(extents, Access::kRead, random).fill(random);
    if (op == TNR_NORMALIZE_OP_LAYER_NORM && random() % 2 == 0) {
      bias.emplace(extents, Access::kRead, random).fill(random);
    }
  }
  void run(const Context& context, const tnr_view& in, const tnr_view_mut& out) const {
    normalize(context, op, in, axes,
              with(eps, weight ? &weight->view : nullptr, bias ? &bias->view : nullptr), out);
  }
  Row row_of(const Index& at) {
    Row row;
    for_each_index(a.view, [&](const Index& other) {
      for (std::uint32_t axis = 0; axis < a.view.rank; ++axis) {
        if (!is_of(axes, axis) && other[axis] != at[axis]) return;
      }
      row.add(static_cast<long double>(a.at(other)));
    });
    return row;
  }
  Expected of(const Row& row, const Index& at) {
    Index reduced{};
    std::size_t count = 0;
    for (std::uint32_t axis = 0; axis < a.view.rank; ++axis) {
      if (is_of(axes, axis)) reduced[count++] = at[axis];
    }
    return row.of(op, a.at(at), eps, weight ? weight->at(reduced) : T{1},
                  bias ? bias->at(reduced) : T{0}, std::numeric_limits<T>::epsilon());
  }
};

TYPED_TEST(Normalize, TakesAnyOperandsAndAxes) {
  using T = TypeParam;
  Random random(1);
  const TestContext two(2);
  for (int round = 0; round < 400; ++round) {
    Shape shape;
    for (std::int64_t rank = below(random, 4); rank > 0; --rank) shape.push_back(below(random, 12));
    if (!shape.empty() && round % 5 == 0) shape[below(random, std::ssize(shape))] = 150;
    const auto axes = static_cast<std::uint32_t>(below(random, std::int64_t{1} << shape.size()));
    Operand<T> a(shape, Access::kRead, random);
    Call<T> call(kAll[round % 4], axes, a.fill(random), random);
    Operand<T> out(shape, Access::kWrite, random);
    const std::vector<T> before = out.memory;
    call.run(round % 3 == 0 ? two : kDefaultContext, call.a.view, out.out());
    std::vector<T> after = out.memory;
    for_each_index(out.view, [&](const Index& at) {
      ASSERT_TRUE(is_near(out.at(at), call.of(call.row_of(at), at)))
          << "round " << round << ", op " << call.op << " over " << axes << ": " << out.at(at)
          << " for " << call.of(call.row_of(at), at).value << " within "
          << call.of(call.row_of(at), at).tolerance << testing::PrintToString(shape)
          << call.weight.has_value() << call.bias.has_value();
      out.at(at) = std::numeric_limits<T>::quiet_NaN();
    });
    for (std::size_t i = 0; i < before.size(); ++i) ASSERT_TRUE(same(before[i], out.memory[i]));
  }
}

// A power that is small next to that of the greatest element, wherever both are in a row.
TYPED_TEST(Normalize, LosesNoPowerNextToTheGreatest) {
  using T = TypeParam;
  Random random(12);
  constexpr long double kEpsilon = std::numeric_limits<T>::epsilon();
  constexpr std::int64_t kRows = 3;
  for (const std::int64_t count : {2, 3, 17, 33, 70, 600, 2100}) {
    for (const long double distance :
         {1e-3L, 0.4L, 1.0L, 5.0L, 16.7L, 18.72L, 31.0L, 86.0L, 99.0L}) {
      const bool is_along = random() % 2 == 0;
      // Powers may be subnormal, each with an error of its own.
      const long double least =
          std::numeric_limits<T>::denorm_min() * static_cast<long double>(count);
      const Shape shape = is_along ? Shape{kRows, count} : Shape{count, kRows};
      Operand<T> a(shape);
      const T greatest = static_cast<T>(static_cast<double>(below(random, 900)) / 7 - 60);
      const T next = static_cast<T>(greatest - distance);
      const auto at = [&](std::int64_t row, std::int64_t i) {
        return is_along ? Index{row, i} : Index{i, row};
      };
      for (std::int64_t row = 0; row < kRows; ++row) {
        const std::int64_t first = below(random, count);
        for (std::int64_t i = 0; i < count; ++i) {
          const bool is_next = i == (first + 1) % count || row == 1;
          a.at(at(row, i)) = is_next ? next : static_cast<T>(-kInfinity);
        }
        a.at(at(row, first)) = greatest;
      }
      Operand<T> out(shape);
      Operand<T> sums(Shape{kRows});
      const std::uint32_t axes = is_along ? 2 : 1;
      reduce(kDefaultContext, TNR_REDUCE_OP_LOGSUMEXP, a.view, axes, 0, sums.out());
      for (const tnr_normalize_op op : {TNR_NORMALIZE_OP_SOFTMAX, TNR_NORMALIZE_OP_LOG_SOFTMAX}) {
        Call<T> call(op, axes, a, random);
        call.run(kDefaultContext, a.view, out.out());
        for (std::int64_t row = 0; row < kRows; ++row) {
          const Row of = call.row_of(at(row, 0));
          for (std::int64_t i = 0; i < count; ++i) {
            Expected expected = call.of(of, at(row, i));
            expected.tolerance += least;
            ASSERT_TRUE(is_near(out.at(at(row, i)), expected))
                << op << " of " << count << " at " << distance << ": " << out.at(at(row, i))
                << ", not " << expected.value;
          }
          const Row::Powers& powers = of.powers_of_others();
          const long double logarithm = std::log1p(powers.sum);
          const long double sum = of.greatest() + logarithm;
          const long double places = sizeof(T) == 8 ? 60 : 6;
          ASSERT_LE(std::fabs(sums.at({row}) - sum),
                    ((places + powers.distance) * logarithm + std::fabs(of.greatest())) * kEpsilon +
                        least)
              << count << " at " << distance;
        }
      }
    }
  }
}

TYPED_TEST(Normalize, WorksInPlace) {
  using T = TypeParam;
  Random random(2);
  for (const tnr_normalize_op op : kAll) {
    for (const std::uint32_t axes : {1u, 2u, 3u}) {
      for (const std::int64_t columns : {5, 300, 3000}) {
        Operand<T> a({7, columns});
        Call<T> call(op, axes, a.fill(random), random);
        Operand<T> out({7, columns});
        call.run(kDefaultContext, a.view, out.out());
        call.run(kDefaultContext, a.view, a.out());
        EXPECT_EQ(a.memory, out.memory) << op << " over " << axes;
      }
    }
  }
}

// Rows that are longer than a part, rows whose powers are too many to be held, and rows larger than
// the caches.
TYPED_TEST(Normalize, TakesLongRows) {
  using T = TypeParam;
  Random random(3);
  for (const tnr_normalize_op op : kAll) {
    for (const std::int64_t columns : {2047, 2049, 70000, 300001}) {
      Operand<T> a({2, columns});
      Call<T> call(op, 2, a.fill(random), random);
      call.a.at({1, 5}) = 20;
      call.a.at({1, columns - 1}) = 40;
      Operand<T> out({2, columns});
      call.run(kDefaultContext, call.a.view, out.out());
      Row rows[2];
      for_each_index(a.view, [&](const Index& at) { rows[at[0]].add(call.a.at(at)); });
      for (const std::int64_t row : {0, 1}) {
        for (std::int64_t i = 0; i < columns; i += 1 + columns / 6) {
          ASSERT_TRUE(is_near(out.at({row, i}), call.of(rows[row], {row, i})))
              << op << ", " << columns << ": " << out.at({row, i});
        }
      }
    }
  }
}

TYPED_TEST(Normalize, GivesTheSameBitsPastTheCachesAndToTwoThreads) {
  using T = TypeParam;
  Random random(4);
  const TestContext two(2);
  for (const std::int64_t columns : {1000, 5000, 70000, 600000}) {
    const std::int64_t rows = (std::int64_t{13} << 20) / columns / std::int64_t{sizeof(T)};
    Operand<T> a({rows, columns});
    for (T& element : a.memory) element = static_cast<T>(random() % 1000) / 50;
    for (const tnr_normalize_op op : kAll) {
      Call<T> call(op, 2, a, random);
      Operand<T> streamed({rows, columns});
      Operand<T> shared({rows, columns});
      call.run(kDefaultContext, a.view, streamed.out());
      call.run(two, a.view, shared.out());
      ASSERT_EQ(streamed.memory, shared.memory) << op;
      tnr_view row = a.view;
      tnr_view_mut row_out = shared.out();
      row.shape[0] = row_out.view.shape[0] = 1;
      call.run(kDefaultContext, row, row_out);
      for (std::int64_t i = 0; i < columns; ++i) {
        ASSERT_TRUE(same(shared.at({0, i}), streamed.at({0, i})));
      }
    }
  }
}

// The four elements that a row becomes.
template <class T>
std::vector<T> of_row(tnr_normalize_op op, std::vector<T> row, double eps = 0) {
  Operand<T> a({static_cast<std::int64_t>(row.size())});
  a.memory = row;
  a.view = Operand<T>(a).view;
  a.view.base = a.view.data = a.memory.data();
  normalize(kDefaultContext, op, a.view, 1, with(eps), a.out());
  return a.memory;
}

TYPED_TEST(Normalize, OfInfinitiesAndNaNIsPyTorchs) {
  using T = TypeParam;
  const T infinity = std::numeric_limits<T>::infinity();
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const tnr_normalize_op op : {TNR_NORMALIZE_OP_SOFTMAX, TNR_NORMALIZE_OP_LOG_SOFTMAX}) {
    for (const std::vector<T>& row :
         {std::vector<T>{-infinity, -infinity}, {1, nan}, {infinity, 1}, {nan, -infinity}}) {
      for (const T element : of_row(op, row)) EXPECT_TRUE(std::isnan(element)) << op;
    }
  }
  EXPECT_EQ(of_row<T>(TNR_NORMALIZE_OP_SOFTMAX, {-infinity, 3}), (std::vector<T>{0, 1}));
  EXPECT_EQ(of_row<T>(TNR_NORMALIZE_OP_LOG_SOFTMAX, {-infinity, 3}),
            (std::vector<T>{-infinity, 0}));
  // A first part of minus infinities.
  std::vector<T> long_row(5000, -infinity);
  long_row[4000] = -1000;
  const std::vector<T> shares = of_row(TNR_NORMALIZE_OP_SOFTMAX, long_row);
  for (std::size_t i = 0; i < shares.size(); ++i) ASSERT_EQ(shares[i], i == 4000 ? 1 : 0);
  long_row[3] = nan;
  for (const T element : of_row(TNR_NORMALIZE_OP_SOFTMAX, long_row)) {
    ASSERT_TRUE(std::isnan(element));
  }
}

// Rows that are measured in sections. Some sections have only minus infinity.
TYPED_TEST(Normalize, OfInfinitiesAndNaNInLongRowsIsThatOfShortOnes) {
  using T = TypeParam;
  constexpr T kInf = std::numeric_limits<T>::infinity();
  constexpr std::int64_t kCount = 300001;
  for (const T other : {-kInf, kInf, std::numeric_limits<T>::quiet_NaN()}) {
    for (const std::int64_t first : {std::int64_t{0}, kCount / 2, kCount - 1}) {
      std::vector<T> row(kCount, other == -kInf ? other : T{2});
      if (other == -kInf) std::fill(row.begin() + first, row.end(), T{2});
      if (other != -kInf) row[static_cast<std::size_t>(first)] = other;
      const auto shares = of_row<T>(TNR_NORMALIZE_OP_SOFTMAX, row);
      const auto logs = of_row<T>(TNR_NORMALIZE_OP_LOG_SOFTMAX, row);
      for (std::int64_t i = 0; i < kCount; i += i < 10 ? 1 : 997) {
        const auto at = static_cast<std::size_t>(i);
        if (other != -kInf) {
          ASSERT_TRUE(std::isnan(shares[at]) && std::isnan(logs[at])) << i;
        } else if (i < first) {
          ASSERT_TRUE(shares[at] == 0 && logs[at] == -kInf) << i;
        } else {
          const auto share = T{1} / static_cast<T>(kCount - first);
          ASSERT_NEAR(shares[at] / share, 1, 1e-5) << i;
          ASSERT_NEAR(logs[at], std::log(share), 1e-5) << i;
        }
      }
    }
  }
  for (const T nothing : of_row<T>(TNR_NORMALIZE_OP_SOFTMAX, std::vector<T>(kCount, -kInf))) {
    ASSERT_TRUE(std::isnan(nothing));
  }
}

TYPED_TEST(Normalize, WithoutVarianceIsNaNOrByEps) {
  using T = TypeParam;
  for (const T element : of_row<T>(TNR_NORMALIZE_OP_LAYER_NORM, {3, 3, 3})) {
    EXPECT_TRUE(std::isnan(element));
  }
  EXPECT_EQ(of_row<T>(TNR_NORMALIZE_OP_LAYER_NORM, {3, 3, 3}, 1e-5), (std::vector<T>{0, 0, 0}));
  for (const T element : of_row<T>(TNR_NORMALIZE_OP_RMS_NORM, {0, 0})) {
    EXPECT_TRUE(std::isnan(element));
  }
  EXPECT_EQ(of_row<T>(TNR_NORMALIZE_OP_RMS_NORM, {0, 0}, 1), (std::vector<T>{0, 0}));
}

// Far from 0, where the mean of f32 has too few bits.
TYPED_TEST(Normalize, OfCloseNumbersLosesNothing) {
  using T = TypeParam;
  const T far = sizeof(T) == 4 ? T{1 << 22} : static_cast<T>(std::int64_t{1} << 51);
  const std::vector<T> found = of_row<T>(TNR_NORMALIZE_OP_LAYER_NORM, {far, far + 1});
  EXPECT_EQ(found, (std::vector<T>{-1, 1}));
}

TEST(NormalizeHalves, AreThoseOfF32Rounded) {
  Random random(5);
  for (const tnr_dtype dtype : {TNR_DTYPE_F16, TNR_DTYPE_BF16}) {
    for (const tnr_normalize_op op : kAll) {
      for (const std::uint32_t axes : {1u, 2u, 3u}) {
        Operand<float> a({20, 131});
        a.fill(random);
        std::vector<std::uint16_t> halves(a.memory.size());
        std::vector<std::uint16_t> results(a.memory.size());
        const auto half_view = [&](std::vector<std::uint16_t>& memory) {
          return view_of(memory.data(), memory.size() * 2, 0, dtype, {{20, 131}, {131, 1}});
        };
        const tnr_view in = half_view(halves);
        const tnr_view_mut out = {half_view(results)};
        cast(kDefaultContext, a.view, {in});
        cast(kDefaultContext, in, a.out());
        const double eps = op >= TNR_NORMALIZE_OP_LAYER_NORM ? 1e-3 : 0;
        normalize(kDefaultContext, op, in, axes, with(eps), out);
        normalize(kDefaultContext, op, a.view, axes, with(eps), a.out());
        std::vector<std::uint16_t> expected(a.memory.size());
        cast(kDefaultContext, a.view, {half_view(expected)});
        for (std::size_t i = 0; i < expected.size(); ++i) {
          ASSERT_LE(std::abs(int{expected[i]} - int{results[i]}), 1) << op << " over " << axes;
        }
      }
    }
  }
}

class RefusedNormalize : public testing::Test {
 protected:
  void expect(tnr_status status, std::initializer_list<std::string> words, tnr_normalize_op op,
              const tnr_view& in, std::uint32_t axes, const tnr_view& to,
              const tnr_normalize_attributes& attributes = {}) {
    const std::vector<float> before = out.memory;
    expect_error(status, words,
                 [&] { normalize(kDefaultContext, op, in, axes, attributes, {to}); });
    EXPECT_EQ(out.memory, before);
  }

  Operand<float> a{{2, 4}, 1.5f};
  Operand<float> out{{2, 4}, 7.0f};
};

TEST_F(RefusedNormalize, OperationsAxesAndShapes) {
  constexpr tnr_status kInvalid = TNR_STATUS_INVALID_ARGUMENT;
  for (const tnr_normalize_op op : {0, 5, -1}) {
    expect(kInvalid, {"normalize", std::to_string(op)}, op, a.view, 1, out.view);
  }
  expect(kInvalid, {"axes is 0x4 but a.rank is 2"}, TNR_NORMALIZE_OP_SOFTMAX, a.view, 4, out.view);
  expect(kInvalid, {"out.shape[0] is 2 but a.shape[0] is 1"}, TNR_NORMALIZE_OP_SOFTMAX,
         Operand<float>(Shape{1, 4}).view, 1, out.view);
  expect(kInvalid, {"out.rank is 2 but must be 1"}, TNR_NORMALIZE_OP_SOFTMAX,
         Operand<float>(Shape{4}).view, 1, out.view);
}

TEST_F(RefusedNormalize, Attributes) {
  constexpr tnr_status kInvalid = TNR_STATUS_INVALID_ARGUMENT;
  const Operand<float> four(Shape{4});
  const Operand<float> three(Shape{3});
  const Operand<double> wide(Shape{4});
  for (const double eps : {-1e-9, std::nan(""), kInfinity}) {
    expect(kInvalid, {"attributes->eps is", "must be finite and 0 at least"},
           TNR_NORMALIZE_OP_LAYER_NORM, a.view, 2, out.view, with(eps));
  }
  expect(kInvalid, {"attributes->eps is 1 but must be 0 for softmax"}, TNR_NORMALIZE_OP_SOFTMAX,
         a.view, 2, out.view, with(1));
  expect(kInvalid, {"attributes->weight is given but log_softmax takes none"},
         TNR_NORMALIZE_OP_LOG_SOFTMAX, a.view, 2, out.view, with(0, &four.view));
  expect(kInvalid, {"attributes->bias is given but rms_norm takes none"}, TNR_NORMALIZE_OP_RMS_NORM,
         a.view, 2, out.view, with(0, nullptr, &four.view));
  expect(kInvalid, {"weight.shape[0] is 3 but a.shape[1] is 4"}, TNR_NORMALIZE_OP_RMS_NORM, a.view,
         2, out.view, with(0, &three.view));
  expect(kInvalid, {"bias.rank is 1 but must be 2"}, TNR_NORMALIZE_OP_LAYER_NORM, a.view, 3,
         out.view, with(0, nullptr, &four.view));
  expect(kInvalid, {"weight.dtype is f64", "a.dtype is f32"}, TNR_NORMALIZE_OP_LAYER_NORM, a.view,
         2, out.view, with(0, &wide.view));
}

TEST_F(RefusedNormalize, DtypesAndOverlap) {
  tnr_view integers = a.view;
  tnr_view integers_out = out.view;
  integers.dtype = integers_out.dtype = TNR_DTYPE_I32;
  expect(TNR_STATUS_UNSUPPORTED, {"softmax does not take i32"}, TNR_NORMALIZE_OP_SOFTMAX, integers,
         2, integers_out);
  tnr_view inside = out.view;
  inside.rank = 1;
  inside.shape[0] = 4;
  inside.strides[0] = 1;
  expect(TNR_STATUS_ALIASED, {"out shares bytes with weight"}, TNR_NORMALIZE_OP_RMS_NORM, a.view, 2,
         out.view, with(0, &inside));
  tnr_view beside = out.view;
  beside.shape[0] = 1;
  tnr_view from_one = beside;
  from_one.data = static_cast<const float*>(beside.data) + 1;
  expect(TNR_STATUS_ALIASED, {"out", "a"}, TNR_NORMALIZE_OP_SOFTMAX, from_one, 2, beside);
}

}  // namespace
}  // namespace tenure::test
