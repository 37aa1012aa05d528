// Reductions against their reference implementation, and their rules with literals.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "arrays.hpp"
#include "cpu/operations.hpp"
#include "dense/reduce/walk.hpp"
#include "expect_error.hpp"
#include "tenure/ops.hpp"

namespace tenure::test {
namespace {

namespace reference = kernels::reference;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

enum class Keep { kNo, kYes };

Shape result_shape(const Shape& shape, std::uint32_t axes, Keep keep) {
  Shape result;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const bool reduced = (axes >> axis & 1u) != 0;
    if (!reduced || keep == Keep::kYes) result.push_back(reduced ? 1 : shape[axis]);
  }
  return result;
}

// The addresses of all that meets in the result at `index`, in row-major order.
std::vector<const Byte*> reduced_elements(const Array& a, std::uint32_t axes, const Index& index,
                                          Keep keep) {
  Shape inner;
  for (std::uint32_t axis = 0; axis < a.view().rank; ++axis) {
    inner.push_back((axes >> axis & 1u) != 0 ? a.view().shape[axis] : 1);
  }
  Layout layout;
  for (const std::int64_t extent : inner) layout.push_back({extent, 0});
  const tnr_view positions = view_of(nullptr, 0, 0, TNR_DTYPE_U8, layout);
  std::vector<const Byte*> elements;
  for_each_index(positions, [&](const Index& within) {
    Index whole{};
    std::uint32_t out_axis = 0;
    for (std::uint32_t axis = 0; axis < a.view().rank; ++axis) {
      const bool reduced = (axes >> axis & 1u) != 0;
      whole[axis] = reduced ? within[axis] : index[out_axis];
      if (!reduced || keep == Keep::kYes) ++out_axis;
    }
    elements.push_back(a.broadcast_element(whole, a.view().rank));
  });
  return elements;
}

const kernels::OperationRow& row_of(tnr_reduce_op op) { return kernels::kReduceRows[op - 1]; }
bool takes_ddof(tnr_reduce_op op) { return row_of(op).attribute == kernels::Attribute::kDdof; }

bool is_supported(tnr_reduce_op op, Type type) {
  const unsigned kind = is_float(type)         ? kernels::kFloats
                        : type == Type::kBool8 ? kernels::kTruths
                                               : kernels::kIntegers;
  return (row_of(op).dtypes & kind) != 0;
}

NamedType result_type(tnr_reduce_op op, const NamedType& type) {
  switch (row_of(op).gives) {
    case kernels::Gives::kWide:
      if (is_float(type.type)) return type;
      return type.type <= Type::kI64 ? kTypes[7] : kTypes[11];
    case kernels::Gives::kIndex: return kTypes[7];
    case kernels::Gives::kTruth: return kTypes[12];
    default: return type;
  }
}

// Largest distance of a result from that of the reference implementation, which computes in a wider
// type. The numbers are such that sums are exact; products and squares are rounded on the way.
double last_places(tnr_reduce_op op, Type type, std::size_t count) {
  switch (op) {
    // Where one element is repeated, all roundings may go the same way.
    case TNR_REDUCE_OP_PROD: return 200 + static_cast<double>(count);
    case TNR_REDUCE_OP_MEAN:
    case TNR_REDUCE_OP_NAN_MEAN: return 1;
    default: return takes_ddof(op) ? type == Type::kF64 ? 64 : 1 : 0;
  }
}

void fill_for(tnr_reduce_op op, Array& a, Type type, Random& random) {
  const bool takes_nan = op >= TNR_REDUCE_OP_MIN;
  fill_with_numbers(a, type, random, takes_nan ? Nans::kSome : Nans::kNone);
  if (op != TNR_REDUCE_OP_PROD || !is_float(type)) return;
  const std::vector<Byte*> elements = a.elements();
  // Steps so small that no partial product of many elements leaves the range, not even of a
  // repeated one.
  const double step = elements.size() < 600 ? 0x1p-3 : 0x1p-10;
  for (Byte* const element : elements) {
    const double near_one = 1 + step * (static_cast<double>(random() % 3) - 1);
    reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&near_one), type, element);
  }
}

void check(tnr_reduce_op op, const NamedType& type, const Shape& shape, std::uint32_t axes,
           Arrangement from, Arrangement to, Keep keep, Random& random) {
  const NamedType out_type = result_type(op, type);
  const auto ddof = static_cast<std::uint32_t>(takes_ddof(op) ? random() % 3 : 0);
  Array a(type.dtype, shape, from, random);
  fill_for(op, a, type.type, random);
  Array out(out_type.dtype, result_shape(shape, axes, keep), to, random);
  reduce(kDefaultContext, op, a.view(), axes, ddof, out.out());
  EXPECT_TRUE(out.gaps_are_intact());
  for_each_index(out.view(), [&](const Index& index) {
    const std::vector<const Byte*> elements = reduced_elements(a, axes, index, keep);
    Byte expected[8];
    reference::reduce(static_cast<unsigned>(op) - 1, type.type, elements.data(),
                      static_cast<std::int64_t>(elements.size()), ddof, expected);
    const Byte* const actual = out.broadcast_element(index, out.view().rank);
    const double allowed = last_places(op, type.type, elements.size());
    ASSERT_TRUE(allowed == 0 ? is_same_element(out_type.type, actual, expected)
                             : reference::is_near(out_type.type, actual, expected, allowed))
        << "op " << op << " axes " << axes << " of " << describe(a.view()) << " into "
        << describe(out.view());
  });
}

// Every operation, each on one in `sparsity` of the types it takes.
void check_all_ops(const Shape& shape, std::uint32_t axes, unsigned sparsity, Random& random) {
  const bool some_axes =
      std::popcount(axes) != 1 && static_cast<std::size_t>(std::popcount(axes)) != shape.size();
  bool reduces_nothing = false;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    reduces_nothing |= (axes >> axis & 1u) != 0 && shape[axis] == 0;
  }
  for (tnr_reduce_op op = 1; op <= static_cast<tnr_reduce_op>(kernels::kReduceCount); ++op) {
    // In norm_test.cpp.
    if (op == TNR_REDUCE_OP_NORM || op == TNR_REDUCE_OP_LOGSUMEXP) continue;
    const bool is_arg = op == TNR_REDUCE_OP_ARGMIN || op == TNR_REDUCE_OP_ARGMAX;
    if (is_arg && some_axes) continue;
    if (needs_an_element(op) && reduces_nothing) continue;
    for (const NamedType& type : kTypes) {
      if (!is_supported(op, type.type) || random() % sparsity != 0) continue;
      const Arrangement from = kReadable[random() % std::size(kReadable)];
      const Arrangement to = kWritable[random() % std::size(kWritable)];
      check(op, type, shape, axes, from, to, random() % 2 == 0 ? Keep::kNo : Keep::kYes, random);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Reduce, MatchesItsTwinOverAnyAxesOfAnyLayout) {
  Random random(31);
  for (const Shape& shape : shapes()) {
    for (int round = 0; round < (shape.size() > 3 ? 20 : 2); ++round) {
      const std::uint32_t all = 1u << shape.size();
      if (shape.size() > 3) {
        check_all_ops(shape, static_cast<std::uint32_t>(random() % all), 1, random);
      } else {
        for (std::uint32_t axes = 0; axes < all; ++axes) check_all_ops(shape, axes, 1, random);
      }
      if (HasFatalFailure()) return;
    }
  }
}

// Long enough for several levels of the cascade, and wide enough for several panels; around the
// rows that are added at once and those of a tile.
TEST(Reduce, MatchesItsTwinOnLongAxes) {
  Random random(32);
  for (const Shape& shape :
       {Shape{5000, 3}, Shape{3, 5000}, Shape{70, 2, 40}, Shape{40, 700}, Shape{17, 130},
        Shape{65, 67}, Shape{130, 33}, Shape{300, 9}, Shape{19, 2500}}) {
    for (std::uint32_t axes = 1; axes < 1u << shape.size(); ++axes) {
      check_all_ops(shape, axes, 4, random);
      if (HasFatalFailure()) return;
    }
  }
}

// ---- rules ----

template <class Out, class T>
Out reduced(tnr_reduce_op op, tnr_dtype dtype, tnr_dtype out_dtype, std::vector<T> values,
            std::uint32_t ddof = 0) {
  const Literal<T> a(dtype, std::move(values));
  Literal<Out> out(out_dtype, {Out{9}});
  tnr_view_mut result = out.out();
  result.view.rank = 0;
  reduce(kDefaultContext, op, a.view, 1, ddof, result);
  return out.values[0];
}

float reduced_f32(tnr_reduce_op op, std::vector<float> values, std::uint32_t ddof = 0) {
  return reduced<float>(op, TNR_DTYPE_F32, TNR_DTYPE_F32, std::move(values), ddof);
}

TEST(Reduce, OfNothingGivesTheNeutralElementOrAnError) {
  EXPECT_EQ(reduced_f32(TNR_REDUCE_OP_SUM, {}), 0);
  EXPECT_EQ(reduced_f32(TNR_REDUCE_OP_PROD, {}), 1);
  EXPECT_TRUE(std::isnan(reduced_f32(TNR_REDUCE_OP_MEAN, {})));
  EXPECT_TRUE(std::isnan(reduced_f32(TNR_REDUCE_OP_VAR, {})));
  EXPECT_TRUE(std::isnan(reduced_f32(TNR_REDUCE_OP_STD, {})));
  EXPECT_TRUE(std::isnan(reduced_f32(TNR_REDUCE_OP_NAN_VAR, {})));
  EXPECT_TRUE(std::isnan(reduced_f32(TNR_REDUCE_OP_NAN_STD, {})));
  EXPECT_EQ(reduced<std::uint8_t>(TNR_REDUCE_OP_ANY, TNR_DTYPE_F32, TNR_DTYPE_BOOL8,
                                  std::vector<float>{}),
            0);
  EXPECT_EQ(reduced<std::uint8_t>(TNR_REDUCE_OP_ALL, TNR_DTYPE_F32, TNR_DTYPE_BOOL8,
                                  std::vector<float>{}),
            1);
  EXPECT_EQ(reduced<std::int64_t>(TNR_REDUCE_OP_COUNT, TNR_DTYPE_F32, TNR_DTYPE_I64,
                                  std::vector<float>{}),
            0);
  for (const tnr_reduce_op op : {TNR_REDUCE_OP_MIN, TNR_REDUCE_OP_MAX}) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.shape is [0]", "no elements"},
                 [&] { reduced_f32(op, {}); });
  }
  for (const tnr_reduce_op op : {TNR_REDUCE_OP_ARGMIN, TNR_REDUCE_OP_ARGMAX}) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.shape is [0]", "no elements"}, [&] {
      reduced<std::int64_t>(op, TNR_DTYPE_F32, TNR_DTYPE_I64, std::vector<float>{});
    });
  }
}

TEST(Reduce, ToAnEmptyResultAsksForNoElement) {
  const tnr_view a = view_of(nullptr, 0, 0, TNR_DTYPE_F32, {{0, 1}, {0, 1}});
  const tnr_view_mut out{view_of(nullptr, 0, 0, TNR_DTYPE_F32, {{0, 1}})};
  reduce(kDefaultContext, TNR_REDUCE_OP_MIN, a, 1, 0, out);
}

// A sanitizer sees what this is about: arithmetic on strides that no index uses.
TEST(Reduce, TakesNoNoticeOfTheStridesOfAnEmptyInput) {
  const tnr_view a = view_of(nullptr, 0, 0, TNR_DTYPE_F32,
                             {{2, INT64_MAX}, {0, INT64_MIN}, {INT64_MAX, INT64_MAX}, {3, -5}});
  float sums[6] = {1, 1, 1, 1, 1, 1};
  const tnr_view_mut out{view_of(sums, sizeof sums, 0, TNR_DTYPE_F32, {{2, 3}, {3, 1}})};
  for (const tnr_reduce_op op : {TNR_REDUCE_OP_PROD, TNR_REDUCE_OP_SUM}) {
    reduce(kDefaultContext, op, a, 0b0110, 0, out);
    for (const float sum : sums) EXPECT_EQ(sum, op == TNR_REDUCE_OP_PROD ? 1 : 0);
  }
}

TEST(Reduce, SumsOfIntegersAreWideAndWrap) {
  EXPECT_EQ(reduced<std::int64_t>(TNR_REDUCE_OP_SUM, TNR_DTYPE_I8, TNR_DTYPE_I64,
                                  std::vector<std::int8_t>(1000, -128)),
            -128000);
  EXPECT_EQ(reduced<std::uint64_t>(TNR_REDUCE_OP_SUM, TNR_DTYPE_U8, TNR_DTYPE_U64,
                                   std::vector<std::uint8_t>(1000, 255)),
            255000u);
  EXPECT_EQ(reduced<std::int64_t>(TNR_REDUCE_OP_SUM, TNR_DTYPE_I64, TNR_DTYPE_I64,
                                  std::vector<std::int64_t>{INT64_MAX, 1}),
            INT64_MIN);
  EXPECT_EQ(reduced<std::int64_t>(TNR_REDUCE_OP_PROD, TNR_DTYPE_I32, TNR_DTYPE_I64,
                                  std::vector<std::int32_t>{-65536, 65536, 65536}),
            -281474976710656);
}

TEST(Reduce, SumsOfHalvesAccumulateInF32) {
  const std::uint16_t one_f16 = 0x3c00;
  EXPECT_EQ(reduced<std::uint16_t>(TNR_REDUCE_OP_SUM, TNR_DTYPE_F16, TNR_DTYPE_F16,
                                   std::vector<std::uint16_t>(5000, one_f16)),
            0x6ce2);  // 5000, where sums in f16 stop at 2048
  const std::uint16_t one_bf16 = 0x3f80;
  EXPECT_EQ(reduced<std::uint16_t>(TNR_REDUCE_OP_SUM, TNR_DTYPE_BF16, TNR_DTYPE_BF16,
                                   std::vector<std::uint16_t>(4096, one_bf16)),
            0x4580);  // 4096, where sums in bf16 stop at 256
}

TEST(Reduce, SumsOfFloatsAreAccurate) {
  constexpr std::int64_t kCount = 1 << 20;
  std::vector<float> memory(3 * kCount, 0.1f);
  const double exact = static_cast<double>(0.1f) * kCount;
  std::vector<float> sums(3, 9);
  const tnr_view_mut out{view_of(sums.data(), 12, 0, TNR_DTYPE_F32, {{3, 1}})};
  const std::size_t bytes = memory.size() * sizeof(float);
  // Along rows, down columns, and along rows that are not dense.
  const tnr_view along =
      view_of(memory.data(), bytes, 0, TNR_DTYPE_F32, {{3, kCount}, {kCount, 1}});
  const tnr_view across = view_of(memory.data(), bytes, 0, TNR_DTYPE_F32, {{3, 1}, {kCount, 3}});
  for (const tnr_view& a : {along, across}) {
    reduce(kDefaultContext, TNR_REDUCE_OP_SUM, a, 2, 0, out);
    for (const float sum : sums) {
      // Adding up in order would be off by a hundredth.
      EXPECT_LT(std::fabs(static_cast<double>(sum) / exact - 1), 1e-6);
    }
  }
}

TEST(Reduce, VarianceSurvivesALargeMean) {
  EXPECT_EQ(reduced<double>(TNR_REDUCE_OP_VAR, TNR_DTYPE_F64, TNR_DTYPE_F64,
                            std::vector<double>{1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}, 1),
            30);
  EXPECT_EQ(reduced_f32(TNR_REDUCE_OP_VAR, {16777210, 16777212, 16777214}), 8.0f / 3);
}

TEST(Reduce, VarAndStdTakeDdof) {
  EXPECT_EQ(reduced_f32(TNR_REDUCE_OP_VAR, {1, 2, 3, 4}), 1.25f);
  EXPECT_EQ(reduced_f32(TNR_REDUCE_OP_VAR, {1, 2, 3, 6}, 1), 14.0f / 3);
  EXPECT_EQ(reduced_f32(TNR_REDUCE_OP_STD, {1, 5}), 2);
  EXPECT_EQ(reduced_f32(TNR_REDUCE_OP_STD, {3}), 0);
  EXPECT_TRUE(std::isnan(reduced_f32(TNR_REDUCE_OP_VAR, {3}, 1)));
  EXPECT_TRUE(std::isnan(reduced_f32(TNR_REDUCE_OP_STD, {3, 4}, 3)));
  constexpr float kGap = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(reduced_f32(TNR_REDUCE_OP_NAN_VAR, {kGap, 1, 2, kGap, 3, 4}), 1.25f);
  EXPECT_EQ(reduced_f32(TNR_REDUCE_OP_NAN_VAR, {kGap, 1, 2, 3, 6}, 1), 14.0f / 3);
  EXPECT_EQ(reduced_f32(TNR_REDUCE_OP_NAN_STD, {1, kGap, 5}), 2);
  EXPECT_EQ(reduced_f32(TNR_REDUCE_OP_NAN_STD, {kGap, 3}), 0);
  for (const tnr_reduce_op op : {TNR_REDUCE_OP_NAN_VAR, TNR_REDUCE_OP_NAN_STD}) {
    EXPECT_TRUE(std::isnan(reduced_f32(op, {kGap})));
    EXPECT_TRUE(std::isnan(reduced_f32(op, {kGap, kGap, kGap}, 1)));
    EXPECT_TRUE(std::isnan(reduced_f32(op, {kGap, 3}, 1)));
    EXPECT_TRUE(std::isnan(reduced_f32(op, {3, kGap, kGap, 4}, 3)));
    EXPECT_TRUE(std::isnan(reduced_f32(op, {1, std::numeric_limits<float>::infinity(), kGap})));
  }
}

TEST(Reduce, MeanOfHalvesDoesNotOverflowOnTheWay) {
  const std::uint16_t largest = 0x7bff;
  EXPECT_EQ(reduced<std::uint16_t>(TNR_REDUCE_OP_MEAN, TNR_DTYPE_F16, TNR_DTYPE_F16,
                                   std::vector<std::uint16_t>(100, largest)),
            largest);
}

TEST(Reduce, MinAndMaxPropagateNan) {
  const auto nan = static_cast<float>(kNan);
  for (const tnr_reduce_op op : {TNR_REDUCE_OP_MIN, TNR_REDUCE_OP_MAX}) {
    EXPECT_TRUE(std::isnan(reduced_f32(op, {1, nan, 3})));
    std::vector<float> many(1000, 1);
    many[700] = nan;
    EXPECT_TRUE(std::isnan(reduced_f32(op, many)));
  }
  EXPECT_EQ(reduced_f32(TNR_REDUCE_OP_MIN, {kInfinity, kInfinity}), kInfinity);
  EXPECT_EQ(reduced_f32(TNR_REDUCE_OP_MAX, {-kInfinity, -kInfinity}), -kInfinity);
}

TEST(Reduce, ArgminAndArgmaxGiveTheFirstOfEqualsAndTheFirstNan) {
  const auto nan = static_cast<float>(kNan);
  const auto place = [](tnr_reduce_op op, std::vector<float> values) {
    return reduced<std::int64_t>(op, TNR_DTYPE_F32, TNR_DTYPE_I64, std::move(values));
  };
  EXPECT_EQ(place(TNR_REDUCE_OP_ARGMIN, {3, 1, 2, 1}), 1);
  EXPECT_EQ(place(TNR_REDUCE_OP_ARGMAX, {1, 3, 3, 2}), 1);
  EXPECT_EQ(place(TNR_REDUCE_OP_ARGMIN, {3, nan, 1, nan}), 1);
  EXPECT_EQ(place(TNR_REDUCE_OP_ARGMAX, {3, nan, 9, nan}), 1);
  EXPECT_EQ(place(TNR_REDUCE_OP_ARGMIN, {kInfinity, kInfinity}), 0);
  EXPECT_EQ(place(TNR_REDUCE_OP_ARGMAX, {-kInfinity, -kInfinity}), 0);
  EXPECT_EQ(place(TNR_REDUCE_OP_ARGMAX, {0.0f, -0.0f}), 0);
  EXPECT_EQ(place(TNR_REDUCE_OP_ARGMAX, {-0.0f, 0.0f}), 0);
}

TEST(Reduce, ArgmaxOverAllAxesIsTheRowMajorIndexWhateverTheLayout) {
  std::vector<std::int32_t> memory = {0, 1, 2, 3, 9, 5};
  const tnr_view rows = view_of(memory.data(), 24, 0, TNR_DTYPE_I32, {{2, 3}, {3, 1}});
  const tnr_view columns = view_of(memory.data(), 24, 0, TNR_DTYPE_I32, {{3, 1}, {2, 3}});
  const tnr_view flipped = view_of(memory.data(), 24, 20, TNR_DTYPE_I32, {{2, -3}, {3, -1}});
  std::int64_t place = 9;
  const tnr_view_mut out{view_of(&place, 8, 0, TNR_DTYPE_I64, {})};
  reduce(kDefaultContext, TNR_REDUCE_OP_ARGMAX, rows, 3, 0, out);
  EXPECT_EQ(place, 4);
  reduce(kDefaultContext, TNR_REDUCE_OP_ARGMAX, columns, 3, 0, out);
  EXPECT_EQ(place, 3);
  reduce(kDefaultContext, TNR_REDUCE_OP_ARGMAX, flipped, 3, 0, out);
  EXPECT_EQ(place, 1);
}

TEST(Reduce, AnyAllAndCountReadEveryNonZeroByteAsTrue) {
  const std::vector<std::uint8_t> values = {0, 2, 255, 0, 1};
  const auto count =
      reduced<std::int64_t>(TNR_REDUCE_OP_COUNT, TNR_DTYPE_BOOL8, TNR_DTYPE_I64, values);
  EXPECT_EQ(count, 3);
  EXPECT_EQ(reduced<std::uint8_t>(TNR_REDUCE_OP_ANY, TNR_DTYPE_BOOL8, TNR_DTYPE_BOOL8, values), 1);
  EXPECT_EQ(reduced<std::uint8_t>(TNR_REDUCE_OP_ALL, TNR_DTYPE_BOOL8, TNR_DTYPE_BOOL8, values), 0);
  EXPECT_EQ(reduced<std::uint8_t>(TNR_REDUCE_OP_ALL, TNR_DTYPE_BOOL8, TNR_DTYPE_BOOL8,
                                  std::vector<std::uint8_t>{2, 4}),
            1);
}

TEST(Reduce, OverNoAxesKeepsEveryElement) {
  const Literal<std::int8_t> a(TNR_DTYPE_I8, {-3, 0, 5});
  Literal<std::int64_t> out(TNR_DTYPE_I64, {9, 9, 9});
  reduce(kDefaultContext, TNR_REDUCE_OP_SUM, a.view, 0, 0, out.out());
  EXPECT_EQ(out.values, (std::vector<std::int64_t>{-3, 0, 5}));
}

TEST(Reduce, RefusesWhatDoesNotFitAndLeavesTheOutputUntouched) {
  std::vector<float> memory = {1, 2, 3, 4, 5, 6};
  const tnr_view a = view_of(memory.data(), 24, 0, TNR_DTYPE_F32, {{2, 3}, {3, 1}});
  Literal<float> out(TNR_DTYPE_F32, {9, 9, 9});
  Literal<std::int64_t> places(TNR_DTYPE_I64, {9, 9, 9});
  const auto refused = [&](tnr_reduce_op op, std::uint32_t axes, std::uint32_t ddof,
                           const tnr_view_mut& result, std::initializer_list<std::string> words) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, words,
                 [&] { reduce(kDefaultContext, op, a, axes, ddof, result); });
  };
  refused(TNR_REDUCE_OP_SUM, 4, 0, out.out(), {"axes is 0x4", "a.rank is 2"});
  refused(TNR_REDUCE_OP_SUM, 2, 0, out.out(), {"out.shape[0] is 3 but must be 2"});
  refused(TNR_REDUCE_OP_SUM, 3, 0, out.out(), {"out.rank is 1 but must be 0", "2"});
  refused(TNR_REDUCE_OP_SUM, 1, 1, out.out(), {"ddof is 1"});
  refused(TNR_REDUCE_OP_SUM, 1, 0, places.out(), {"out.dtype is i64 but must be f32"});
  refused(TNR_REDUCE_OP_ARGMAX, 1, 0, out.out(), {"out.dtype is f32 but must be i64"});
  refused(TNR_REDUCE_OP_ARGMAX, 0, 0, places.out(), {"axes names 0 of 2"});
  constexpr auto kUnknown = static_cast<tnr_reduce_op>(kernels::kReduceCount + 1);
  refused(kUnknown, 1, 0, out.out(), {"op is " + std::to_string(kUnknown)});
  expect_error(TNR_STATUS_ALIASED, {"out shares bytes with a"}, [&] {
    reduce(kDefaultContext, TNR_REDUCE_OP_SUM, a, 1, 0,
           {view_of(memory.data(), 24, 12, TNR_DTYPE_F32, {{3, 1}})});
  });
  expect_error(TNR_STATUS_ALIASED, {"out is exactly a"},
               [&] { reduce(kDefaultContext, TNR_REDUCE_OP_SUM, a, 0, 0, {a}); });
  EXPECT_EQ(out.values, (std::vector<float>{9, 9, 9}));
  EXPECT_EQ(places.values, (std::vector<std::int64_t>{9, 9, 9}));
  EXPECT_EQ(memory, (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(Reduce, RefusesDtypesItDoesNotTake) {
  const auto refused = [](tnr_reduce_op op, tnr_dtype dtype, const std::string& words) {
    std::vector<std::uint64_t> memory(4, 1);
    std::vector<std::uint64_t> result(1, 9);
    const tnr_view a = view_of(memory.data(), 32, 0, dtype, {{2, 1}});
    const tnr_view_mut out{view_of(result.data(), 8, 0, TNR_DTYPE_I64, {})};
    expect_error(TNR_STATUS_UNSUPPORTED, {words},
                 [&] { reduce(kDefaultContext, op, a, 1, 0, out); });
    EXPECT_EQ(result[0], 9u);
  };
  refused(TNR_REDUCE_OP_SUM, TNR_DTYPE_BOOL8, "sum does not take bool8");
  refused(TNR_REDUCE_OP_MIN, TNR_DTYPE_BOOL8, "min does not take bool8");
  refused(TNR_REDUCE_OP_ARGMAX, TNR_DTYPE_BOOL8, "argmax does not take bool8");
  refused(TNR_REDUCE_OP_MEAN, TNR_DTYPE_I32, "mean does not take i32");
  refused(TNR_REDUCE_OP_STD, TNR_DTYPE_U8, "std does not take u8");
  refused(TNR_REDUCE_OP_ANY, TNR_DTYPE_C64, "any does not take c64");
}

}  // namespace
}  // namespace tenure::test
