// Expressions give the same bits as the calls that they stand for.
#include "tenure/expression.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "expect_error.hpp"
#include "expression/prepared.hpp"
#include "expression_model.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

void expect_same_elements(Array& expected, Array& found, const Expression& expression) {
  const tnr_dtype dtype = expected.view.dtype;
  const std::size_t width = element_size(dtype);
  for_each_index(found.view, [&](const Index& index) {
    const unsigned char* const a = expected.at(index);
    const unsigned char* const b = found.at(index);
    if (are_same(dtype, a, b)) return;
    std::uint64_t wanted = 0;
    std::uint64_t had = 0;
    std::memcpy(&wanted, a, std::min<std::size_t>(width, 8));
    std::memcpy(&had, b, std::min<std::size_t>(width, 8));
    FAIL() << "at " << index[0] << " " << index[1] << " " << index[2] << " " << index[3] << ": "
           << std::hex << wanted << " but " << had << "\n"
           << text(expression);
  });
}

// Runs one expression both ways; whether all bits are the same.
void compare(const Context& context, const ExpressionMaker& maker, const Expression& expression,
             Random& random, bool& compared) {
  if (expression.nodes.empty()) return;
  Shape shape = maker.shape();
  const bool is_elementwise = (expression.nodes.back().code >> 16) < (TNR_NODE_REDUCE >> 16);
  if (is_elementwise && random() % 4 == 0) shape.insert(shape.begin(), 1 + below(random, 3));
  // All have one layout: normalizations over several axes add in its order.
  Random layouts(random());
  Random same_layouts = layouts;
  const Random layouts_before = layouts;
  Array expected(maker.dtype(), shape, &layouts);
  Array found(maker.dtype(), shape, &same_layouts);
  const tnr_view_mut expected_out = {expected.view};
  const tnr_view_mut out = {found.view};
  std::string refusal;
  std::string own_refusal;
  try {
    OneByOne(kDefaultContext, expression, expected_out).run();
  } catch (const Error& error) {
    refusal = error.message();
    if (error.status() != TNR_STATUS_INVALID_ARGUMENT) return;
  }
  try {
    evaluate(context, expression.given(), kReaders, out);
  } catch (const Error& error) {
    own_refusal = error.message();
  }
  // Data that one call refuses the expression refuses too; only which element it is that is
  // met first may differ.
  if (is_empty(out.view) && own_refusal.empty()) return;  // nothing is computed
  ASSERT_EQ(refusal.empty(), own_refusal.empty())
      << "calls: " << refusal << "\nexpression: " << own_refusal << "\n"
      << text(expression);
  if (!refusal.empty()) return;
  compared = true;
  // Prepared, on other memory of the same layouts.
  Random other_layouts = layouts_before;
  Array other(maker.dtype(), shape, &other_layouts);
  const PreparedExpression prepared(expression.given(), kReaders, out);
  prepared.run_checked(context, expression.views.data(), {other.view});
  expect_same_elements(found, other, expression);
  expect_same_elements(expected, found, expression);
}

void compare_once(const Context& context, Random& random, std::int64_t room, bool& compared) {
  ExpressionMaker maker(random);
  const Expression expression = maker.make(room);
  compare(context, maker, expression, random, compared);
}

void compare_reduction(const Context& context, tnr_dtype dtype, const Shape& shape,
                       std::uint32_t op, std::uint32_t axes) {
  Random random(op);
  ExpressionMaker maker(random);
  const Expression expression = maker.make_reduction(dtype, shape, op, axes);
  bool compared = false;
  compare(context, maker, expression, random, compared);
}

void compare_centred(tnr_dtype dtype, const Shape& shape, std::uint32_t op, std::uint64_t seed) {
  Random random(seed);
  Random layouts(seed);
  ExpressionMaker maker(random);
  const Expression expression =
      maker.make_centred(dtype, shape, op, seed == 0 ? nullptr : &layouts);
  bool compared = false;
  compare(kDefaultContext, maker, expression, random, compared);
}

std::int64_t rounds() {
  const char* const given = std::getenv("TENURE_EXPRESSION_ROUNDS");
  return given == nullptr ? 3000 : std::atoll(given);
}

void compare_many(const Context& context, std::uint64_t seed, std::int64_t room,
                  std::int64_t count) {
  std::int64_t compared_count = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    Random random(seed + static_cast<std::uint64_t>(i));
    bool compared = false;
    compare_once(context, random, room, compared);
    if (compared) ++compared_count;
    ASSERT_FALSE(testing::Test::HasFatalFailure())
        << "seed " << seed + static_cast<std::uint64_t>(i);
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed + static_cast<std::uint64_t>(i);
  }
  EXPECT_GT(compared_count, count / 2);
}

TEST(Expression, HasTheBitsOfItsCalls) { compare_many(kDefaultContext, 1, 40, rounds()); }

TEST(Expression, HasThemOverLongAxesToo) {
  compare_many(kDefaultContext, 1'000'000'000, 5000, rounds() / 10);
}

// Extents of one panel and of several, and over rows that are one tile and several.
TEST(Expression, ReductionsOfComputedElementsHaveThemOverEveryAxis) {
  constexpr tnr_dtype kDtypes[] = {TNR_DTYPE_F64,  TNR_DTYPE_F32, TNR_DTYPE_F16,
                                   TNR_DTYPE_BF16, TNR_DTYPE_I32, TNR_DTYPE_U8};
  const Shape shapes[] = {{17, 8}, {4, 19, 37}, {2, 9, 8}, {67, 300}, {3, 150, 9}, {700, 255}};
  for (const Shape& shape : shapes) {
    for (const tnr_dtype dtype : kDtypes) {
      for (std::uint32_t op = 1; op <= kernels::kReduceCount; ++op) {
        const auto all = (std::uint32_t{1} << shape.size()) - 1;
        for (std::uint32_t axes = 1; axes <= all; ++axes)
          compare_reduction(kDefaultContext, dtype, shape, op, axes);
        ASSERT_FALSE(testing::Test::HasFailure()) << dtype_name(dtype) << " op " << op;
      }
    }
  }
}

// Rows in groups, the last of them perhaps of one row, views that are walked backwards, and few long
// rows, whose elements a call adds in blocks.
TEST(Expression, ReductionsOfRowsThatComeBackHaveThem) {
  for (const Shape& shape : {Shape{513, 9},
                             {1025, 15},
                             {512, 17},
                             {3, 171, 2},
                             {257, 70},
                             {9, 5},
                             {64, 768},
                             {3, 20'000},
                             {2, 33'000}}) {
    for (const tnr_dtype dtype : {TNR_DTYPE_F64, TNR_DTYPE_F32, TNR_DTYPE_BF16}) {
      for (std::uint32_t op = 1; op <= kernels::kReduceCount; ++op) {
        for (std::uint64_t seed = 0; seed < 8; ++seed) compare_centred(dtype, shape, op, seed);
        ASSERT_FALSE(testing::Test::HasFailure())
            << dtype_name(dtype) << " op " << op << " of " << shape[0];
      }
    }
  }
}

TEST(Expression, HasThemOnThreadsToo) {
  const TestContext context(2);
  compare_many(context, 2'000'000'000, 20'000, rounds() / 100);
}

}  // namespace
}  // namespace tenure::test
