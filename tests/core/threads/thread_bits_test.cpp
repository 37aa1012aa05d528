// Results have the same bits for any number of threads, under each instruction set.
#include <gtest/gtest.h>

#include <functional>
#include <list>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "expect_error.hpp"
#include "tenure/ops.hpp"
#include "test_context.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

constexpr unsigned kThreadCounts[] = {2, 3, 8};

// Contexts stay where they are.
class Contexts {
 public:
  Contexts() {
    for (const unsigned count : kThreadCounts) contexts_.emplace_back(count);
  }

  [[nodiscard]] const std::list<TestContext>& all() const { return contexts_; }

 private:
  std::list<TestContext> contexts_;
};

using Operation = std::function<void(const Context&, const tnr_view_mut& out)>;

// Large enough for every thread to get slices, and of no round number of anything.
const Shape kShape = {211, 307};

// Runs the operation with each number of threads, into outputs that are alike.
void expect_same_bits(const Contexts& contexts, const std::string& what, tnr_dtype dtype,
                      const Shape& shape, Arrangement arrangement, const Operation& operation) {
  const auto result = [&](const Context& context) {
    Random random(7);
    Array out(dtype, shape, arrangement, random);
    operation(context, out.out());
    return out.snapshot();
  };
  const std::vector<Byte> serial = result(kDefaultContext);
  for (const Context& context : contexts.all()) {
    EXPECT_EQ(serial, result(context))
        << what << " into " << dtype_name(dtype) << " on " << context.thread_count() << " threads";
  }
}

class ThreadBits : public testing::TestWithParam<Arrangement> {
 protected:
  Contexts contexts_;
  Random random_{11};
};

constexpr NamedType kSome[] = {
    {Type::kF32, TNR_DTYPE_F32}, {Type::kF16, TNR_DTYPE_F16}, {Type::kI32, TNR_DTYPE_I32}};

TEST_P(ThreadBits, ElementWise) {
  for (const NamedType& type : kSome) {
    Array a(type.dtype, kShape, GetParam(), random_);
    Array b(type.dtype, kShape, GetParam(), random_);
    Array condition(TNR_DTYPE_BOOL8, kShape, GetParam(), random_);
    fill_with_numbers(a, type.type, random_, Nans::kSome);
    fill_with_numbers(b, type.type, random_);
    fill_with_numbers(condition, Type::kBool8, random_);
    const bool is_real = is_float(type.type);
    const auto check = [&](const std::string& what, tnr_dtype dtype, const Operation& operation) {
      expect_same_bits(contexts_, what, dtype, kShape, GetParam(), operation);
    };
    for (const tnr_unary_op op : {TNR_UNARY_OP_NEG, TNR_UNARY_OP_SQRT, TNR_UNARY_OP_EXP}) {
      if (!is_real && op != TNR_UNARY_OP_NEG) continue;
      check("unary " + std::to_string(op), type.dtype,
            [&](const Context& c, const tnr_view_mut& out) { unary(c, op, a.view(), out); });
    }
    for (const tnr_binary_op op : {TNR_BINARY_OP_ADD, TNR_BINARY_OP_MUL, TNR_BINARY_OP_MAX}) {
      check("binary " + std::to_string(op), type.dtype,
            [&](const Context& c, const tnr_view_mut& out) {
              binary(c, op, a.view(), b.view(), out);
            });
    }
    check("compare", TNR_DTYPE_BOOL8, [&](const Context& c, const tnr_view_mut& out) {
      compare(c, TNR_COMPARE_OP_LT, a.view(), b.view(), out);
    });
    check("select", type.dtype, [&](const Context& c, const tnr_view_mut& out) {
      select(c, condition.view(), a.view(), b.view(), out);
    });
  }
}

TEST_P(ThreadBits, Movement) {
  for (const NamedType& type : kSome) {
    Array a(type.dtype, kShape, GetParam(), random_);
    fill_with_bits(a, random_);
    for (const Arrangement arrangement : {GetParam(), Arrangement::kRowMajor}) {
      const auto check = [&](const std::string& what, tnr_dtype dtype, const Operation& operation) {
        expect_same_bits(contexts_, what, dtype, kShape, arrangement, operation);
      };
      check("copy", type.dtype,
            [&](const Context& c, const tnr_view_mut& out) { copy(c, a.view(), out); });
      check("cast", TNR_DTYPE_F32,
            [&](const Context& c, const tnr_view_mut& out) { cast(c, a.view(), out); });
      check("fill", TNR_DTYPE_I32, [&](const Context& c, const tnr_view_mut& out) {
        fill(c, scalar_of(TNR_DTYPE_I32, 123456), out);
      });
    }
  }
}

TEST_P(ThreadBits, Reductions) {
  for (const NamedType& type : kSome) {
    Array a(type.dtype, kShape, GetParam(), random_);
    fill_with_numbers(a, type.type, random_);
    const bool is_real = is_float(type.type);
    const tnr_dtype sum = is_real ? type.dtype : TNR_DTYPE_I64;
    struct Reduction {
      tnr_reduce_op op;
      tnr_dtype dtype;
      std::uint32_t ddof;
    };
    std::vector<Reduction> reductions = {{TNR_REDUCE_OP_SUM, sum, 0},
                                         {TNR_REDUCE_OP_MAX, type.dtype, 0},
                                         {TNR_REDUCE_OP_ARGMIN, TNR_DTYPE_I64, 0},
                                         {TNR_REDUCE_OP_ALL, TNR_DTYPE_BOOL8, 0},
                                         {TNR_REDUCE_OP_COUNT, TNR_DTYPE_I64, 0}};
    if (is_real) {
      reductions.push_back({TNR_REDUCE_OP_MEAN, type.dtype, 0});
      reductions.push_back({TNR_REDUCE_OP_VAR, type.dtype, 1});
      reductions.push_back({TNR_REDUCE_OP_NAN_VAR, type.dtype, 1});
    }
    for (const Reduction& reduction : reductions) {
      for (const std::uint32_t axes : {1u, 2u, 3u}) {
        Shape left;
        if ((axes & 1) == 0) left.push_back(kShape[0]);
        if ((axes & 2) == 0) left.push_back(kShape[1]);
        expect_same_bits(contexts_, "reduce " + std::to_string(reduction.op), reduction.dtype, left,
                         Arrangement::kRowMajor, [&](const Context& c, const tnr_view_mut& out) {
                           reduce(c, reduction.op, a.view(), axes, reduction.ddof, out);
                         });
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lies, ThreadBits,
                         testing::Values(Arrangement::kRowMajor, Arrangement::kGaps,
                                         Arrangement::kShuffled));

TEST(ThreadErrors, ADivisionByZeroIsFoundInAnySlice) {
  const Contexts contexts;
  for (const std::size_t at : {std::size_t{0}, std::size_t{70'001}, std::size_t{199'999}}) {
    const Literal<std::int32_t> a(TNR_DTYPE_I32, std::vector<std::int32_t>(200'000, 8));
    std::vector<std::int32_t> divisors(200'000, 2);
    divisors[at] = 0;
    const Literal<std::int32_t> b(TNR_DTYPE_I32, divisors);
    for (const Context& context : contexts.all()) {
      const Literal<std::int32_t> out(TNR_DTYPE_I32, std::vector<std::int32_t>(200'000, 5));
      expect_error(TNR_STATUS_INVALID_ARGUMENT, {"must not be 0"},
                   [&] { binary(context, TNR_BINARY_OP_DIV, a.view, b.view, out.out()); });
    }
  }
}

}  // namespace
