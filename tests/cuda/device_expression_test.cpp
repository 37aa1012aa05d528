// Expressions on a device: the bits of the device's calls one by one, which of element-wise
// operations are the CPU's, in one launch where one is enough.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "device_expressions.hpp"
#include "device_fixture.hpp"
#include "device_floats.hpp"
#include "expression/prepared.hpp"

namespace {

using tenure::Context;
using tenure::ContextUse;
using tenure::DeviceExpression;
using tenure::Error;
using tenure::test::are_same;
using tenure::test::Array;
using tenure::test::CallsOf;
using tenure::test::Expression;
using tenure::test::ExpressionMaker;
using tenure::test::for_each_index;
using tenure::test::Index;
using tenure::test::kReaders;
using tenure::test::OnDevice;
using tenure::test::Random;
using tenure::test::Shape;
using tenure::test::ThereArray;
using tenure::test::ThereViews;
using tenure::test::totals;
using tenure::test::with_views;
namespace kernels = tenure::kernels;

class DeviceExpressions : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (context_ != nullptr) {
      use_ = std::make_unique<ContextUse>(reinterpret_cast<std::uintptr_t>(context_));
    }
  }
  void TearDown() override {
    use_.reset();
    if (context_ != nullptr) OnDevice::TearDown();
  }
  [[nodiscard]] const Context& core() const { return *use_; }

 private:
  std::unique_ptr<ContextUse> use_;
};

void expect_same(Array& expected, Array& found, const Expression& expression,
                 const std::string& what) {
  const tnr_dtype dtype = expected.view.dtype;
  for_each_index(found.view, [&](const Index& index) {
    if (testing::Test::HasFailure()) return;
    const unsigned char* const a = expected.at(index);
    const unsigned char* const b = found.at(index);
    if (are_same(dtype, a, b)) return;
    std::uint64_t wanted = 0;
    std::uint64_t had = 0;
    std::memcpy(&wanted, a, tenure::element_size(dtype));
    std::memcpy(&had, b, tenure::element_size(dtype));
    ADD_FAILURE() << what << " at " << index[0] << " " << index[1] << " " << index[2] << " "
                  << index[3] << ": " << std::hex << wanted << " but " << had << "\n"
                  << text(expression);
  });
}

// The message that a call throws, or "".
template <class Call>
std::string refusal_of(Call&& call) {
  try {
    call();
    return "";
  } catch (const Error& error) {
    return error.message();
  }
}

// Whether the device gives the CPU's bits for each of its operations: functions only are as near to
// the exact results (device_elementwise_test.cpp).
bool is_exact(const Expression& expression) {
  for (const tnr_node& node : expression.nodes) {
    const std::uint32_t kind = node.code & 0xffff'0000u;
    const std::uint32_t op = node.code & 0xffffu;
    if (kind >= TNR_NODE_REDUCE) return false;
    const kernels::OperationRow* const rows = kind == TNR_NODE_UNARY    ? kernels::kUnaryRows
                                              : kind == TNR_NODE_BINARY ? kernels::kBinaryRows
                                                                        : nullptr;
    if (rows != nullptr && rows[op - 1].last_places > kernels::kRounded) return false;
  }
  return true;
}

// Runs an expression as one, as calls, as a plan, and on the CPU; whether it could be run.
bool compare(const Context& context, const Expression& expression, tnr_dtype dtype, Shape shape,
             Random& random) {
  if (expression.nodes.empty()) return false;
  const bool is_elementwise = (expression.nodes.back().code >> 16) < (TNR_NODE_REDUCE >> 16);
  if (is_elementwise && random() % 4 == 0) shape.insert(shape.begin(), 1 + random() % 3);
  const Random layouts(random());
  const auto make = [&] {
    Random same = layouts;
    return Array(dtype, shape, &same);
  };
  Array here = make();
  Array expected = make();
  Array found = make();
  const ThereViews views(context, expression);
  const ThereArray expected_there(context, expected);
  const ThereArray found_there(context, found);
  const ThereArray other_there(context, found);
  const tnr_view_mut here_out = {here.view};
  const tnr_view_mut expected_out = {expected_there.view};
  const tnr_view_mut out = {found_there.view};
  const tnr_view_mut other_out = {other_there.view};
  const std::string refusal = refusal_of(
      [&] { CallsOf<ThereArray>(context, expression, views.views(), expected_out).run(); });
  const tnr_expression given = with_views(expression, views.views());
  const std::string own = refusal_of([&] { evaluate(context, given, kReaders, out); });
  if (own.find("only on the CPU") != std::string::npos) return false;
  if (tenure::is_empty(out.view) && own.empty()) return false;  // nothing is computed
  EXPECT_EQ(refusal.empty(), own.empty()) << "calls: " << refusal << "\nexpression: " << own << "\n"
                                          << text(expression);
  if (!refusal.empty() || !own.empty()) return false;
  expected_there.read_to(expected);
  found_there.read_to(found);
  expect_same(expected, found, expression, "calls");
  const tenure::PreparedExpression prepared(given, kReaders, out);
  prepared.run_checked(context, views.views().data(), other_out);
  Array other = make();
  other_there.read_to(other);
  EXPECT_EQ(other.memory, found.memory) << "prepared\n" << text(expression);
  if (!is_exact(expression)) return true;
  evaluate(tenure::kDefaultContext, expression.given(), kReaders, here_out);
  expect_same(here, found, expression, "CPU");
  return true;
}

void compare_many(const Context& context, std::uint64_t seed, std::int64_t room, int count) {
  int compared_count = 0;
  for (int i = 0; i < count; ++i) {
    Random random(seed + static_cast<std::uint64_t>(i));
    ExpressionMaker maker(random);
    const Expression expression = maker.make(room);
    if (expression.nodes.empty()) continue;
    if (compare(context, expression, maker.dtype(), maker.shape(), random)) ++compared_count;
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed + static_cast<std::uint64_t>(i);
  }
  EXPECT_GT(compared_count, count / 2);
}

int rounds() {
  const char* const given = std::getenv("TENURE_EXPRESSION_ROUNDS");
  if (given != nullptr) return std::atoi(given);
  return std::getenv("TENURE_TEST_QUICK") != nullptr ? 300 : 1500;
}

TEST_F(DeviceExpressions, HaveTheBitsOfTheirCalls) { compare_many(core(), 1, 40, rounds()); }

TEST_F(DeviceExpressions, HaveThemOverLongAxesToo) {
  compare_many(core(), 1'000'000'000, 3000, rounds() / 10);
}

// ---- every operation and dtype ----

constexpr tnr_dtype kDtypes[] = {TNR_DTYPE_F64,  TNR_DTYPE_F32, TNR_DTYPE_F16, TNR_DTYPE_BF16,
                                 TNR_DTYPE_I8,   TNR_DTYPE_I16, TNR_DTYPE_I32, TNR_DTYPE_I64,
                                 TNR_DTYPE_U8,   TNR_DTYPE_U16, TNR_DTYPE_U32, TNR_DTYPE_U64,
                                 TNR_DTYPE_BOOL8};

bool takes(const kernels::OperationRow& row, tnr_dtype dtype) {
  switch (tenure::code_of(dtype)) {
    case tenure::DtypeCode::kFloat:
    case tenure::DtypeCode::kBfloat: return (row.dtypes & kernels::kFloats) != 0;
    case tenure::DtypeCode::kBool: return (row.dtypes & kernels::kTruths) != 0;
    default: return (row.dtypes & kernels::kIntegers) != 0;
  }
}

// Shapes of whole groups of elements, of a part of one, and of several blocks of threads.
const Shape kShapes[] = {{}, {1}, {3}, {4}, {31}, {1024}, {1030}, {5, 7}, {3, 64}, {2, 3, 8}};

// Compares one node on views of a dtype with the call of the same operation.
void compare_node(const Context& context, std::uint32_t code, tnr_dtype dtype, tnr_dtype result,
                  std::initializer_list<tnr_dtype> operands) {
  Random random(code * 31 + dtype);
  for (const Shape& shape : kShapes) {
    for (const bool is_dense : {true, false}) {
      Expression expression;
      std::uint32_t codes[3] = {TNR_OPERAND_NONE, TNR_OPERAND_NONE, TNR_OPERAND_NONE};
      unsigned k = 0;
      for (const tnr_dtype operand : operands) {
        Array array(operand, shape, is_dense ? nullptr : &random, !is_dense);
        array.fill(random);
        codes[k++] = expression.view(std::move(array));
      }
      expression.add(code, result, {codes[0], codes[1], codes[2]});
      compare(context, expression, result, shape, random);
      ASSERT_FALSE(testing::Test::HasFailure()) << tenure::dtype_name(dtype);
    }
  }
}

TEST_F(DeviceExpressions, EveryOperationIsThere) {
  for (const tnr_dtype dtype : kDtypes) {
    for (std::uint32_t op = 1; op <= kernels::kUnaryCount; ++op) {
      const kernels::OperationRow& row = kernels::kUnaryRows[op - 1];
      if (!takes(row, dtype)) continue;
      const bool is_truth = row.gives == kernels::Gives::kTruth;
      compare_node(core(), TNR_NODE_UNARY + op, dtype, is_truth ? TNR_DTYPE_BOOL8 : dtype, {dtype});
    }
    for (std::uint32_t op = 1; op <= kernels::kBinaryCount; ++op) {
      if (!takes(kernels::kBinaryRows[op - 1], dtype)) continue;
      compare_node(core(), TNR_NODE_BINARY + op, dtype, dtype, {dtype, dtype});
    }
    for (std::uint32_t op = 1; op <= kernels::kTernaryCount; ++op) {
      if (!takes(kernels::kTernaryRows[op - 1], dtype)) continue;
      compare_node(core(), TNR_NODE_TERNARY + op, dtype, dtype, {dtype, dtype, dtype});
    }
    for (std::uint32_t op = 1; op <= kernels::kCompareCount; ++op) {
      compare_node(core(), TNR_NODE_COMPARE + op, dtype, TNR_DTYPE_BOOL8, {dtype, dtype});
    }
    compare_node(core(), TNR_NODE_SELECT, dtype, dtype, {TNR_DTYPE_BOOL8, dtype, dtype});
    for (const tnr_dtype to : kDtypes) compare_node(core(), TNR_NODE_CAST, dtype, to, {dtype});
    if (HasFailure()) return;
  }
}

// ---- launches, waits, and what one launch takes ----

// Views of a row-major f32 array of 1000 elements.
class Counted : public DeviceExpressions {
 protected:
  // Runs the expression, compares its result, and expects `launches` launches and `waits` waits.
  void expect_launches(const Expression& expression, std::uint64_t launches,
                       std::uint64_t waits = 0, tnr_dtype dtype = TNR_DTYPE_F32) {
    const ThereViews views(core(), expression);
    Array here(dtype, {1000});
    const ThereArray there(core(), here);
    const tnr_view_mut out = {there.view};
    const tnr_expression given = with_views(expression, views.views());
    const tnr_stats before = totals();
    ASSERT_EQ(refusal_of([&] { evaluate(core(), given, kReaders, out); }), "");
    const tnr_stats after = totals();
    EXPECT_EQ(after.device_launches - before.device_launches, launches) << text(expression);
    EXPECT_EQ(after.device_waits - before.device_waits, waits) << text(expression);
    Random random(7);
    EXPECT_TRUE(compare(core(), expression, dtype, {1000}, random)) << text(expression);
  }
  static std::uint32_t view(Expression& expression, tnr_dtype dtype = TNR_DTYPE_F32) {
    Random random(expression.views.size() + 1);
    Array array(dtype, {1000});
    array.fill(random);
    return expression.view(std::move(array));
  }
};

tnr_scalar scalar(double value) {
  tnr_scalar scalar = {};
  scalar.dtype = TNR_DTYPE_F64;
  std::memcpy(scalar.bytes, &value, sizeof value);
  return scalar;
}

TEST_F(Counted, SeveralNodesAreOneLaunch) {
  Expression made;
  const std::uint32_t a = view(made);
  const std::uint32_t b = view(made);
  const std::uint32_t product =
      made.add(TNR_NODE_BINARY + TNR_BINARY_OP_MUL, TNR_DTYPE_F32, {a, b});
  const std::uint32_t sum = made.add(TNR_NODE_BINARY + TNR_BINARY_OP_ADD, TNR_DTYPE_F32,
                                     {product, made.scalar(scalar(1))});
  const std::uint32_t gate = made.add(TNR_NODE_UNARY + TNR_UNARY_OP_SIGMOID, TNR_DTYPE_F32, {sum});
  const std::uint32_t greater =
      made.add(TNR_NODE_COMPARE + TNR_COMPARE_OP_GT, TNR_DTYPE_BOOL8, {a, b});
  made.add(TNR_NODE_SELECT, TNR_DTYPE_F32, {greater, gate, product});
  expect_launches(made, 1);
}

TEST_F(Counted, ChainsAreCutWhereALaunchEnds) {
  for (const unsigned count :
       {DeviceExpression::kMostNodes, DeviceExpression::kMostNodes + 1, 256u}) {
    Expression made;
    std::uint32_t value = view(made);
    const std::uint32_t b = view(made);
    for (unsigned i = 0; i < count; ++i) {
      const auto op = i % 3 == 0   ? TNR_BINARY_OP_MUL
                      : i % 3 == 1 ? TNR_BINARY_OP_MAX
                                   : TNR_BINARY_OP_SUB;
      value = made.add(TNR_NODE_BINARY + static_cast<std::uint32_t>(op), TNR_DTYPE_F32, {value, b});
    }
    expect_launches(made,
                    (count + DeviceExpression::kMostNodes - 1) / DeviceExpression::kMostNodes);
  }
}

TEST_F(Counted, SoAreExpressionsOfManyViewsAndNumbers) {
  for (const unsigned count : {DeviceExpression::kMostViews, DeviceExpression::kMostViews + 1}) {
    Expression made;
    std::uint32_t value = view(made);
    for (unsigned i = 1; i < count; ++i) {
      value = made.add(TNR_NODE_BINARY + TNR_BINARY_OP_ADD, TNR_DTYPE_F32, {value, view(made)});
    }
    expect_launches(made, count > DeviceExpression::kMostViews ? 2 : 1);
  }
  for (const unsigned count : {12u, 13u}) {
    Expression made;
    std::uint32_t value = view(made);
    for (unsigned i = 0; i < count; ++i) {
      value = made.add(TNR_NODE_TERNARY + TNR_TERNARY_OP_CLAMP, TNR_DTYPE_F32,
                       {value, made.scalar(scalar(-i - 1.0)), made.scalar(scalar(i + 1.0))});
    }
    expect_launches(made, 2 * count > DeviceExpression::kMostNumbers ? 2 : 1);
  }
}

// Results that wait for the last node: as many as there are slots, and more.
TEST_F(Counted, SoAreThoseThatHoldManyResults) {
  for (const unsigned held : {DeviceExpression::kMostSlots, DeviceExpression::kMostSlots + 1}) {
    Expression made;
    const std::uint32_t a = view(made);
    std::vector<std::uint32_t> results;
    for (unsigned i = 0; i < held; ++i) {
      results.push_back(made.add(TNR_NODE_BINARY + TNR_BINARY_OP_ADD, TNR_DTYPE_F32,
                                 {a, made.scalar(scalar(i))}));
    }
    std::uint32_t value = made.add(TNR_NODE_UNARY + TNR_UNARY_OP_NEG, TNR_DTYPE_F32, {a});
    for (const std::uint32_t result : results) {
      value = made.add(TNR_NODE_BINARY + TNR_BINARY_OP_MUL, TNR_DTYPE_F32, {value, result});
    }
    expect_launches(made, held > DeviceExpression::kMostSlots ? 2 : 1);
  }
}

// A function that is not fused is a call between two launches.
TEST_F(Counted, FunctionsThatAreNotFusedStandAlone) {
  Expression made;
  const std::uint32_t a = view(made);
  const std::uint32_t sum =
      made.add(TNR_NODE_BINARY + TNR_BINARY_OP_ADD, TNR_DTYPE_F32, {a, made.scalar(scalar(1))});
  const std::uint32_t angle = made.add(TNR_NODE_UNARY + TNR_UNARY_OP_ATAN, TNR_DTYPE_F32, {sum});
  const std::uint32_t remainder =
      made.add(TNR_NODE_BINARY + TNR_BINARY_OP_REM, TNR_DTYPE_F32, {angle, made.scalar(scalar(2))});
  made.add(TNR_NODE_UNARY + TNR_UNARY_OP_NEG, TNR_DTYPE_F32, {remainder});
  expect_launches(made, 4);
}

// Such a function also takes numbers as all of its operands, for which no call exists.
TEST_F(Counted, TheyTakeNumbersToo) {
  Expression made;
  const std::uint32_t a = view(made);
  const auto number = [&](double value) { return made.scalar(scalar(value)); };
  const std::uint32_t angle =
      made.add(TNR_NODE_UNARY + TNR_UNARY_OP_ATAN, TNR_DTYPE_F64, {number(3)});
  const std::uint32_t length =
      made.add(TNR_NODE_BINARY + TNR_BINARY_OP_HYPOT, TNR_DTYPE_F64, {number(3), number(4)});
  const std::uint32_t left =
      made.add(TNR_NODE_BINARY + TNR_BINARY_OP_ATAN2, TNR_DTYPE_F64, {number(2), length});
  const std::uint32_t sum =
      made.add(TNR_NODE_BINARY + TNR_BINARY_OP_ADD, TNR_DTYPE_F64, {angle, left});
  const std::uint32_t narrow = made.add(TNR_NODE_CAST, TNR_DTYPE_F32, {sum});
  made.add(TNR_NODE_BINARY + TNR_BINARY_OP_MUL, TNR_DTYPE_F32, {a, narrow});
  // Three fills, three functions, and the rest.
  expect_launches(made, 6);
}

TEST_F(Counted, ReductionsAmidAnExpressionAreStored) {
  Expression made;
  const std::uint32_t a = view(made);
  const std::uint32_t square = made.add(TNR_NODE_UNARY + TNR_UNARY_OP_SQUARE, TNR_DTYPE_F32, {a});
  const std::uint32_t mean = made.add(TNR_NODE_REDUCE + TNR_REDUCE_OP_MEAN, TNR_DTYPE_F32, {square},
                                      1u | TNR_NODE_KEEP_AXES);
  const std::uint32_t root = made.add(TNR_NODE_UNARY + TNR_UNARY_OP_RSQRT, TNR_DTYPE_F32, {mean});
  made.add(TNR_NODE_BINARY + TNR_BINARY_OP_MUL, TNR_DTYPE_F32, {a, root});
  expect_launches(made, 3);
}

TEST_F(Counted, IntegersThatAreDividedAreWaitedFor) {
  Expression made;
  const std::uint32_t a = view(made, TNR_DTYPE_I32);
  const std::uint32_t b = view(made, TNR_DTYPE_I32);
  const std::uint32_t squares = made.add(TNR_NODE_UNARY + TNR_UNARY_OP_SQUARE, TNR_DTYPE_I32, {b});
  tnr_scalar one = {};
  one.dtype = TNR_DTYPE_I64;
  one.bytes[0] = 1;
  const std::uint32_t divisors =
      made.add(TNR_NODE_BINARY + TNR_BINARY_OP_BIT_OR, TNR_DTYPE_I32, {squares, made.scalar(one)});
  made.add(TNR_NODE_BINARY + TNR_BINARY_OP_DIV, TNR_DTYPE_I32, {a, divisors});
  expect_launches(made, 1, 1, TNR_DTYPE_I32);
}

// ---- errors in the data, and refusals ----

class Refused : public Counted {
 protected:
  // The message that a call on the device gives.
  std::string message_of(const Expression& expression, tnr_dtype dtype = TNR_DTYPE_F32) {
    const ThereViews views(core(), expression);
    const ThereArray there(core(), Array(dtype, {1000}));
    const tnr_view_mut out = {there.view};
    return refusal_of(
        [&] { evaluate(core(), with_views(expression, views.views()), kReaders, out); });
  }
};

TEST_F(Refused, IntegersOnTheRightAreThoseOfTheCpu) {
  for (const std::uint32_t op : {TNR_BINARY_OP_DIV, TNR_BINARY_OP_REM, TNR_BINARY_OP_POW}) {
    for (const tnr_dtype dtype : {TNR_DTYPE_I8, TNR_DTYPE_I32, TNR_DTYPE_I64}) {
      Expression made;
      const std::uint32_t a = view(made, dtype);
      Array b(dtype, {1000});
      std::memset(b.memory.data(), 1, b.memory.size() * 8);
      const std::int64_t worst = op == TNR_BINARY_OP_POW ? -1 : 0;
      std::memcpy(b.at(Index{999}), &worst, tenure::element_size(dtype));
      const std::uint32_t right = made.view(std::move(b));
      const std::uint32_t power = made.add(TNR_NODE_BINARY + op, dtype, {a, right});
      // Elements that are selected away are looked at too.
      const std::uint32_t less =
          made.add(TNR_NODE_COMPARE + TNR_COMPARE_OP_NE, TNR_DTYPE_BOOL8, {a, a});
      made.add(TNR_NODE_SELECT, dtype, {less, power, a});
      Array here(dtype, {1000});
      const tnr_view_mut here_out = {here.view};
      const std::string expected =
          refusal_of([&] { evaluate(tenure::kDefaultContext, made.given(), kReaders, here_out); });
      EXPECT_NE(expected, "");
      EXPECT_EQ(message_of(made, dtype), expected);
    }
  }
}

TEST_F(Refused, ComplexNumbersAreNamed) {
  Expression made;
  const std::uint32_t a = view(made, TNR_DTYPE_C64);
  made.add(TNR_NODE_BINARY + TNR_BINARY_OP_ADD, TNR_DTYPE_C64, {a, a});
  EXPECT_EQ(message_of(made, TNR_DTYPE_C64),
            "nodes[0]: add takes c64 only on the CPU, not on cuda:0");
}

TEST_F(Refused, SoAreDevicesThatDiffer) {
  Expression made;
  const std::uint32_t a = view(made);
  const std::uint32_t b = view(made);
  made.add(TNR_NODE_BINARY + TNR_BINARY_OP_ADD, TNR_DTYPE_F32, {a, b});
  const ThereViews views(core(), made);
  Array here(TNR_DTYPE_F32, {1000});
  const ThereArray there(core(), here);
  const tnr_view_mut here_out = {here.view};
  const tnr_view_mut there_out = {there.view};
  const std::vector<const tnr_view*> mixed = {views.views()[0], made.views[1]};
  const auto message = [&](const Context& context, const std::vector<const tnr_view*>& given,
                           const tnr_view_mut& out) {
    return refusal_of([&] { evaluate(context, with_views(made, given), kReaders, out); });
  };
  EXPECT_EQ(message(core(), mixed, there_out), "views[1].device is the CPU but must be cuda:0");
  EXPECT_EQ(message(core(), made.views, there_out),
            "views[0].device is the CPU but must be cuda:0");
  EXPECT_EQ(message(core(), mixed, here_out), "views[0].device is cuda:0 but must be the CPU");
  EXPECT_EQ(message(tenure::kDefaultContext, views.views(), there_out),
            "out.device is cuda:0 but the context of the call has no device");
}

TEST_F(Refused, SoIsMemoryThatDoesNotFit) {
  Expression made;
  Array wide(TNR_DTYPE_F32, {1});
  wide.view.rank = 2;
  wide.view.shape[0] = std::int64_t{1} << 29;
  wide.view.shape[1] = 1;
  wide.view.strides[0] = 0;
  Array high = Array(TNR_DTYPE_F32, {1});
  high.view.rank = 2;
  high.view.shape[0] = 1;
  high.view.shape[1] = std::int64_t{1} << 29;
  high.view.strides[1] = 0;
  const std::uint32_t a = made.view(std::move(wide));
  const std::uint32_t b = made.view(std::move(high));
  const std::uint32_t sum = made.add(TNR_NODE_BINARY + TNR_BINARY_OP_ADD, TNR_DTYPE_F32, {a, b});
  made.add(TNR_NODE_REDUCE + TNR_REDUCE_OP_SUM, TNR_DTYPE_F32, {sum}, 3);
  const ThereViews views(core(), made);
  const ThereArray there(core(), Array(TNR_DTYPE_F32, {}));
  const tnr_view_mut out = {there.view};
  EXPECT_EQ(refusal_of([&] { evaluate(core(), with_views(made, views.views()), kReaders, out); }),
            "1152921504606846976 bytes could not be allocated on cuda:0");
}

// ---- in place, and with other contexts ----

TEST_F(Counted, TheOutputMayBeAnOperand) {
  Expression made;
  const std::uint32_t a = view(made);
  const std::uint32_t sum =
      made.add(TNR_NODE_BINARY + TNR_BINARY_OP_ADD, TNR_DTYPE_F32, {TNR_OPERAND_OUTPUT, a});
  made.add(TNR_NODE_BINARY + TNR_BINARY_OP_MUL, TNR_DTYPE_F32, {sum, TNR_OPERAND_OUTPUT});
  Array here(TNR_DTYPE_F32, {1000});
  Random random(3);
  here.fill(random);
  const ThereViews views(core(), made);
  const ThereArray there(core(), here);
  const tnr_view_mut here_out = {here.view};
  const tnr_view_mut out = {there.view};
  evaluate(core(), with_views(made, views.views()), kReaders, out);
  evaluate(tenure::kDefaultContext, made.given(), kReaders, here_out);
  Array found(TNR_DTYPE_F32, {1000});
  there.read_to(found);
  EXPECT_EQ(found.memory, here.memory);

  // By a view that is exactly it, and of several launches.
  Expression again;
  Random same(3);
  Array first(TNR_DTYPE_F32, {1000});
  first.fill(same);
  const std::uint32_t self = again.view(std::move(first));
  const std::uint32_t mean = again.add(TNR_NODE_REDUCE + TNR_REDUCE_OP_MAX, TNR_DTYPE_F32, {self},
                                       1u | TNR_NODE_KEEP_AXES);
  again.add(TNR_NODE_BINARY + TNR_BINARY_OP_SUB, TNR_DTYPE_F32, {self, mean});
  const ThereArray in_place(core(), again.arrays[0]);
  const tnr_view_mut in_place_out = {in_place.view};
  evaluate(core(), with_views(again, {&in_place.view}), kReaders, in_place_out);
  Array expected(TNR_DTYPE_F32, {1000});
  const tnr_view_mut expected_out = {expected.view};
  evaluate(tenure::kDefaultContext, again.given(), kReaders, expected_out);
  in_place.read_to(found);
  EXPECT_EQ(found.memory, expected.memory);
}

TEST_F(Counted, PartsOfTheOutputAreRefused) {
  Expression made;
  const std::uint32_t a = view(made);
  made.add(TNR_NODE_UNARY + TNR_UNARY_OP_NEG, TNR_DTYPE_F32, {a});
  const ThereArray there(core(), made.arrays[0]);
  tnr_view part = there.view;
  part.shape[0] = 999;
  const tnr_view_mut out = {part};
  tnr_view shifted = part;
  shifted.data = static_cast<const float*>(part.data) + 1;
  EXPECT_NE(refusal_of([&] {
              evaluate(core(), with_views(made, {&shifted}), kReaders, out);
            }).find("views[0]"),
            std::string::npos);
}

// ---- by the C ABI: owners, contexts, and what fails ----

tnr_expression expression_of(const std::vector<tnr_node>& nodes,
                             const std::vector<const tnr_view*>& views) {
  tnr_expression expression = {};
  expression.struct_size = sizeof expression;
  expression.nodes = nodes.data();
  expression.views = views.data();
  expression.node_count = static_cast<std::uint32_t>(nodes.size());
  expression.view_count = static_cast<std::uint32_t>(views.size());
  return expression;
}

// a less the largest element of a, times b: a launch, a reduction and a launch.
const std::vector<tnr_node> kShifted = {
    {TNR_NODE_UNARY + TNR_UNARY_OP_NEG,
     TNR_DTYPE_F32,
     {TNR_OPERAND_VIEW, TNR_OPERAND_NONE, TNR_OPERAND_NONE},
     0,
     0,
     0},
    {TNR_NODE_REDUCE + TNR_REDUCE_OP_MAX,
     TNR_DTYPE_F32,
     {0, TNR_OPERAND_NONE, TNR_OPERAND_NONE},
     0,
     1u | TNR_NODE_KEEP_AXES,
     0},
    {TNR_NODE_BINARY + TNR_BINARY_OP_SUB, TNR_DTYPE_F32, {0, 1, TNR_OPERAND_NONE}, 0, 0, 0},
    {TNR_NODE_BINARY + TNR_BINARY_OP_MUL,
     TNR_DTYPE_F32,
     {2, TNR_OPERAND_VIEW + 1, TNR_OPERAND_NONE},
     0,
     0,
     0}};
// a / b of integers, which is waited for.
const std::vector<tnr_node> kQuotients = {
    {TNR_NODE_BINARY + TNR_BINARY_OP_DIV,
     TNR_DTYPE_I32,
     {TNR_OPERAND_VIEW, TNR_OPERAND_VIEW + 1, TNR_OPERAND_NONE},
     0,
     0,
     0}};

TEST_F(DeviceExpressions, ComeAfterWhatOtherContextsEnqueued) {
  tnr_context* const other = tenure::test::context_on(tenure::test::kFirstDevice);
  ASSERT_NE(other, nullptr);
  using tenure::test::Floats;
  const Floats a(context_, std::vector<float>(300, 1.0f));
  const Floats b(other, std::vector<float>(300, 2.0f));
  const Floats out(context_, std::vector<float>(300, 0.0f));
  ASSERT_EQ(tnr_binary(context_, TNR_BINARY_OP_ADD, a.in(), a.in(), nullptr, &a.out),
            TNR_STATUS_OK);
  const std::vector<const tnr_view*> views = {a.in(), b.in()};
  const tnr_expression expression = expression_of(kShifted, views);
  ASSERT_EQ(tnr_evaluate(other, &expression, nullptr, &out.out), TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(tenure::test::download(context_, *out.in()), std::vector<float>(300, 0.0f));
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

TEST_F(DeviceExpressions, KnowOwnersThatAreStale) {
  using tenure::test::Floats;
  const Floats a(context_, {1.0f, 2.0f});
  const Floats out(context_, {0.0f, 0.0f});
  Floats gone(context_, {1.0f, 2.0f});
  const std::vector<const tnr_view*> views = {a.in(), gone.in()};
  const tnr_expression expression = expression_of(kShifted, views);
  EXPECT_EQ(tnr_evaluate(context_, &expression, nullptr, &out.out), TNR_STATUS_OK);
  gone.release();
  EXPECT_EQ(tnr_evaluate(context_, &expression, nullptr, &out.out), TNR_STATUS_STALE_VIEW);
}

// An entry point of the driver that fails fails the call, which leaves nothing behind: the same
// call succeeds afterwards.
TEST_F(DeviceExpressions, WhatFailsIsAStatus) {
  if (!tenure::test::is_driver_fake()) GTEST_SKIP() << "a GPU does not fail at will";
  using tenure::test::Floats;
  using tenure::test::Variable;
  const std::vector<float> ones(300, 1.0f);
  const Floats a(context_, ones);
  const Floats b(context_, ones);
  const Floats out(context_, ones);
  const auto as_integers = [](tnr_view view) {
    view.dtype = TNR_DTYPE_I32;
    return view;
  };
  const tnr_view a_integers = as_integers(*a.in());
  const tnr_view b_integers = as_integers(*b.in());
  const tnr_view_mut out_integers = {as_integers(*out.in())};
  const std::vector<const tnr_view*> floats = {a.in(), b.in()};
  const std::vector<const tnr_view*> integers = {&a_integers, &b_integers};
  const tnr_expression shifted = expression_of(kShifted, floats);
  const tnr_expression quotients = expression_of(kQuotients, integers);
  const auto run = [&] {
    const tnr_status status = tnr_evaluate(context_, &shifted, nullptr, &out.out);
    if (status != TNR_STATUS_OK) return status;
    return tnr_evaluate(context_, &quotients, nullptr, &out_integers);
  };
  ASSERT_EQ(run(), TNR_STATUS_OK) << tnr_last_error()->message;
  // How many calls of each there are.
  const std::pair<const char*, int> entries[] = {{"cuMemAllocAsync", 3},
                                                 {"cuLaunchKernel", 4},
                                                 {"cuMemsetD8Async", 1},
                                                 {"cuMemcpyDtoHAsync", 1},
                                                 {"cuStreamSynchronize", 1}};
  for (const auto& [name, count] : entries) {
    for (int nth = 1; nth <= count; ++nth) {
      const Variable failing("TENURE_FAKE_CUDA_FAIL",
                             std::string(name) + ":" + std::to_string(nth) + ":999");
      EXPECT_EQ(run(), TNR_STATUS_DEVICE_ERROR) << name << " " << nth;
    }
    EXPECT_EQ(run(), TNR_STATUS_OK) << name << ": " << tnr_last_error()->message;
  }
}

}  // namespace
