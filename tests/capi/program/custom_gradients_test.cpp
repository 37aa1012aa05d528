// Gradients through custom operations, whose own functions add the nodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>

#include "found_graph.hpp"

namespace {

using tenure::test::expect_refused;
using tenure::test::FoundGraph;
using tenure::test::operation_of;
using tenure::test::Shape;
using tenure::test::view_over;

constexpr auto F64 = TNR_DTYPE_F64;
constexpr std::uint32_t kAdd = TNR_NODE_BINARY + TNR_BINARY_OP_ADD;
constexpr std::uint32_t kMul = TNR_NODE_BINARY + TNR_BINARY_OP_MUL;
constexpr std::uint32_t kSum = TNR_NODE_REDUCE + TNR_REDUCE_OP_SUM;

std::uint32_t add_node(tnr_graph* graph, std::uint32_t code,
                       const std::vector<std::uint32_t>& operands,
                       const std::vector<std::int64_t>& numbers = {}, tnr_dtype dtype = 0) {
  tnr_graph_node node = {};
  node.struct_size = sizeof node;
  node.code = code;
  node.dtype = dtype;
  node.operands = operands.data();
  node.operand_count = static_cast<std::uint32_t>(operands.size());
  node.numbers = numbers.data();
  node.number_count = static_cast<std::uint32_t>(numbers.size());
  std::uint32_t value = TNR_OPERAND_NONE;
  EXPECT_EQ(tnr_graph_add_node(graph, &node, &value), TNR_STATUS_OK) << tnr_last_error()->message;
  return value;
}

// a * a * b of f64, times a weight of an i64 that has no gradient.
struct Weighted {
  enum class Fault {
    kNone,
    kFails,
    kTells,
    kThrows,
    kGivesNoValue,
    kGivesAScalar,
    kGivesAnotherShape,
    kGivesAnotherDtype,
    kGivesToAnInteger,
    kAddsAnInput,
    kAddsAnOutput,
    kReleasesTheGraph,
    kCallsTheGraphAround
  };
  Fault fault = Fault::kNone;
  tnr_graph* around = nullptr;
  tnr_graph* seen = nullptr;
  int calls = 0;
  tnr_status others[2] = {};  // of calls on the graph around it

  static tnr_status infer(void*, const tnr_view* operands, std::uint32_t, const std::int64_t*,
                          std::uint32_t, tnr_dtype* dtype, std::uint32_t* rank,
                          std::int64_t* shape) {
    *dtype = operands[0].dtype;
    *rank = operands[0].rank;
    std::copy_n(operands[0].shape, *rank, shape);
    return TNR_STATUS_OK;
  }
  static tnr_status compute(void*, const tnr_view* operands, std::uint32_t, const std::int64_t*,
                            std::uint32_t, const tnr_view_mut* out) {
    const auto element = [](const tnr_view& of, std::int64_t i) {
      return static_cast<const double*>(of.data)[i * of.strides[0]];
    };
    const double weight = static_cast<double>(*static_cast<const std::int64_t*>(operands[2].data));
    for (std::int64_t i = 0; i < out->view.shape[0]; ++i) {
      const double a = element(operands[0], i);
      static_cast<double*>(const_cast<void*>(out->view.data))[i * out->view.strides[0]] =
          a * a * element(operands[1], i) * weight;
    }
    return TNR_STATUS_OK;
  }

  static tnr_status derive(void* context, tnr_graph* graph, const std::uint32_t* operands,
                           std::uint32_t operand_count, const std::int64_t*,
                           std::uint32_t number_count, std::uint32_t result, std::uint32_t gradient,
                           std::uint32_t* gradients) {
    auto& self = *static_cast<Weighted*>(context);
    ++self.calls;
    self.seen = graph;
    EXPECT_EQ(operand_count, 3u);
    EXPECT_EQ(number_count, 0u);
    EXPECT_TRUE(std::all_of(gradients, gradients + 3,
                            [](std::uint32_t value) { return value == TNR_OPERAND_NONE; }));
    EXPECT_NE(result, gradient);
    const std::uint32_t a = operands[0], b = operands[1];
    const std::uint32_t weight = add_node(graph, TNR_NODE_CAST, {operands[2]}, {}, F64);
    const std::uint32_t g = add_node(graph, kMul, {gradient, weight});
    const std::uint32_t slope = add_node(graph, kMul, {a, b});
    gradients[0] = add_node(graph, kMul, {add_node(graph, kAdd, {slope, slope}), g});
    gradients[1] = add_node(graph, kMul, {add_node(graph, kMul, {a, a}), g});
    switch (self.fault) {
      case Fault::kFails: return TNR_STATUS_DEVICE_ERROR;
      case Fault::kTells: return tnr_set_last_error(TNR_STATUS_UNSUPPORTED, "not on Mondays");
      case Fault::kThrows: throw 7;
      case Fault::kGivesNoValue: gradients[0] = 1000; break;
      case Fault::kGivesAScalar: {
        const tnr_scalar scalar = tnr_scalar_f64(1);
        EXPECT_EQ(tnr_graph_add_scalar(graph, &scalar, &gradients[0]), TNR_STATUS_OK);
        break;
      }
      case Fault::kGivesAnotherShape: gradients[1] = weight; break;
      case Fault::kGivesAnotherDtype:
        gradients[0] = add_node(graph, TNR_NODE_CAST, {g}, {}, TNR_DTYPE_F32);
        break;
      case Fault::kGivesToAnInteger: gradients[2] = operands[2]; break;
      case Fault::kAddsAnInput: {
        std::uint32_t value = 0;
        EXPECT_EQ(tnr_graph_add_input(graph, F64, 0, nullptr, &value), TNR_STATUS_OK);
        break;
      }
      case Fault::kAddsAnOutput:
        EXPECT_EQ(tnr_graph_add_output(graph, a, TNR_OPERAND_NONE), TNR_STATUS_OK);
        break;
      case Fault::kReleasesTheGraph: EXPECT_EQ(tnr_graph_release(graph), TNR_STATUS_OK); break;
      case Fault::kCallsTheGraphAround: {
        const tnr_scalar scalar = tnr_scalar_f64(1);
        std::uint32_t value = 0;
        self.others[0] = tnr_graph_add_scalar(self.around, &scalar, &value);
        std::thread([&] {
          self.others[1] = tnr_graph_add_scalar(self.around, &scalar, &value);
        }).join();
        break;
      }
      default: break;
    }
    return TNR_STATUS_OK;
  }

  [[nodiscard]] tnr_custom_operation operation(std::uint32_t flags = 0) {
    tnr_custom_operation of = operation_of("weighted", infer, compute, this, 3);
    of.derive = derive;
    of.flags = flags;
    return of;
  }
};

class CCustomGradients : public FoundGraph {
 protected:
  ~CCustomGradients() override { release_all(); }

  std::uint32_t custom(std::uint32_t flags = 0) {
    const tnr_custom_operation own = weighted.operation(flags);
    return custom_of(own);
  }
  std::uint32_t custom_of(const tnr_custom_operation& own) {
    std::uint32_t index = TNR_OPERAND_NONE;
    EXPECT_EQ(tnr_graph_add_custom(graph, &own, &index), TNR_STATUS_OK);
    return TNR_NODE_CUSTOM + index;
  }
  std::uint32_t sum(std::uint32_t value) { return node(kSum, {value}, {}, nullptr, 1); }
  tnr_graph_info info() const {
    tnr_graph_info of = {};
    of.struct_size = sizeof of;
    EXPECT_EQ(tnr_graph_describe(graph, &of), TNR_STATUS_OK);
    return of;
  }

  // The gradients of a number by a and b for a = {1, 2, 3}, b = {4, 5, 6} and a weight of 10.
  void expect_gradients(std::uint32_t of, const std::vector<std::uint32_t>& by,
                        const std::vector<double>& da, const std::vector<double>& db,
                        const std::vector<tnr_view>& more = {}) {
    std::uint32_t gradients[2];
    ASSERT_EQ(
        tnr_graph_add_gradients(graph, of, TNR_OPERAND_NONE, by.data(), 2, nullptr, gradients),
        TNR_STATUS_OK)
        << tnr_last_error()->message;
    for (const std::uint32_t gradient : gradients) output(gradient);
    const double a[] = {1, 2, 3}, b[] = {4, 5, 6};
    const std::int64_t weight = 10;
    std::vector<tnr_view> views = {view_over(a, {3}, F64), view_over(b, {3}, F64),
                                   view_over(&weight, {}, TNR_DTYPE_I64)};
    views.insert(views.end(), more.begin(), more.end());
    std::vector<double> given_a(3), given_b(3);
    ASSERT_EQ(run(program(), views,
                  {{view_over(given_a.data(), {3}, F64)}, {view_over(given_b.data(), {3}, F64)}}),
              TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_EQ(given_a, da);
    EXPECT_EQ(given_b, db);
  }

  Weighted weighted;
};

TEST_F(CCustomGradients, AreThoseThatItsFunctionGives) {
  const std::vector<std::uint32_t> of = {input({3}, F64), input({3}, F64),
                                         input({}, TNR_DTYPE_I64)};
  const std::uint32_t y = node(custom(), of);
  expect_gradients(sum(node(kAdd, {y, of[0]})), {of[0], of[1]}, {81, 201, 361}, {10, 40, 90});
  EXPECT_EQ(weighted.calls, 1);
  // Its handle has ended.
  tnr_graph_info after = {};
  after.struct_size = sizeof after;
  EXPECT_EQ(tnr_graph_describe(weighted.seen, &after), TNR_STATUS_STALE_HANDLE);
}

TEST_F(CCustomGradients, LeadOnThroughItsOwnNodes) {
  const std::vector<std::uint32_t> of = {input({3}, F64), input({3}, F64),
                                         input({}, TNR_DTYPE_I64)};
  const std::uint32_t y = sum(node(custom(), of));
  std::uint32_t first = 0;
  ASSERT_EQ(tnr_graph_add_gradients(graph, y, TNR_OPERAND_NONE, &of[0], 1, nullptr, &first),
            TNR_STATUS_OK);
  // 20 a b by a and b
  expect_gradients(sum(first), {of[0], of[1]}, {80, 100, 120}, {20, 40, 60});
}

TEST_F(CCustomGradients, InSubgraphsNeedAPureOperation) {
  for (const bool is_pure : {false, true}) {
    const auto calls = [&] {
      return body([&] {
        const std::vector<std::uint32_t> of = {input({3}, F64), input({3}, F64),
                                               input({}, TNR_DTYPE_I64)};
        const std::uint32_t once = node(custom(is_pure ? TNR_CUSTOM_PURE : 0), of);
        output(node(custom(is_pure ? TNR_CUSTOM_PURE : 0), {once, of[1], of[2]}));
      });
    };
    const std::int64_t first = calls();
    const std::int64_t second = body([&] {
      const std::uint32_t a = input({3}, F64);
      (void)input({3}, F64);
      (void)input({}, TNR_DTYPE_I64);
      output(a);
    });
    const std::vector<std::uint32_t> of = {input({3}, F64), input({3}, F64),
                                           input({}, TNR_DTYPE_I64)};
    const std::uint32_t decides = input({}, TNR_DTYPE_BOOL8);
    const std::uint32_t y = node(TNR_NODE_COND, {decides, of[0], of[1], of[2]}, {first, second});
    const std::uint32_t total = sum(y);
    if (!is_pure) {
      std::uint32_t gradient = 77;
      expect_refused(
          tnr_graph_add_gradients(graph, total, TNR_OPERAND_NONE, &of[0], 1, nullptr, &gradient),
          TNR_STATUS_UNSUPPORTED,
          {"cond: ",
           "the custom operation weighted would be called again, and is not "
           "TNR_CUSTOM_PURE"});
      release_all();
      graph = tnr_graph_create();
      continue;
    }
    // (a^2 b w)^2 b w = a^4 b^3 w^3
    const std::uint8_t is_true = 1;
    expect_gradients(total, {of[0], of[1]}, {4e3 * 64, 4e3 * 8 * 125, 4e3 * 27 * 216},
                     {3e3 * 16, 3e3 * 16 * 25, 3e3 * 81 * 36},
                     {view_over(&is_true, {}, TNR_DTYPE_BOOL8)});
  }
}

TEST_F(CCustomGradients, FaultsOfItsFunctionLeaveTheGraphAsItWas) {
  using Fault = Weighted::Fault;
  struct Case {
    Fault fault;
    tnr_status status;
    std::string message;
  };
  const std::vector<Case> cases = {
      {Fault::kFails, TNR_STATUS_DEVICE_ERROR, "answered DEVICE_ERROR"},
      {Fault::kTells, TNR_STATUS_UNSUPPORTED, "derive of the custom operation weighted: not on"},
      {Fault::kThrows, TNR_STATUS_INTERNAL, "threw an exception"},
      {Fault::kGivesNoValue, TNR_STATUS_INVALID_ARGUMENT, "gave value 1000 as the gradient of"},
      {Fault::kGivesAScalar, TNR_STATUS_INVALID_ARGUMENT, "gave a scalar to operand 0"},
      {Fault::kGivesAnotherShape, TNR_STATUS_INVALID_ARGUMENT,
       "gave f64 of shape [] as the gradient of operand 1, which is f64 of shape [3]"},
      {Fault::kGivesAnotherDtype, TNR_STATUS_INVALID_ARGUMENT,
       "gave f32 of shape [3] as the gradient of operand 0, which is f64 of shape [3]"},
      {Fault::kGivesToAnInteger, TNR_STATUS_INVALID_ARGUMENT,
       "gave a gradient to operand 2, which has none"},
      {Fault::kAddsAnInput, TNR_STATUS_INVALID_ARGUMENT, "added an input or an output"},
      {Fault::kAddsAnOutput, TNR_STATUS_INVALID_ARGUMENT, "added an input or an output"},
      {Fault::kReleasesTheGraph, TNR_STATUS_STALE_HANDLE, "has been released"}};
  const std::vector<std::uint32_t> of = {input({3}, F64), input({3}, F64),
                                         input({}, TNR_DTYPE_I64)};
  const std::uint32_t y = sum(node(custom(), of));
  const tnr_graph_info before = info();
  for (const Case& each : cases) {
    SCOPED_TRACE(each.message);
    weighted.fault = each.fault;
    std::uint32_t gradient = 77;
    expect_refused(
        tnr_graph_add_gradients(graph, y, TNR_OPERAND_NONE, &of[0], 1, nullptr, &gradient),
        each.status, {"nodes[0], weighted: ", each.message});
    EXPECT_EQ(gradient, 77u);
    const tnr_graph_info after = info();
    EXPECT_EQ(std::memcmp(&before, &after, sizeof after), 0);
  }
  weighted.fault = Fault::kNone;
  expect_gradients(y, {of[0], of[1]}, {80, 200, 360}, {10, 40, 90});
}

TEST_F(CCustomGradients, TheGraphAroundItsFunctionIsBusy) {
  const std::vector<std::uint32_t> of = {input({3}, F64), input({3}, F64),
                                         input({}, TNR_DTYPE_I64)};
  const std::uint32_t y = sum(node(custom(), of));
  weighted.fault = Weighted::Fault::kCallsTheGraphAround;
  weighted.around = graph;
  expect_gradients(y, {of[0], of[1]}, {80, 200, 360}, {10, 40, 90});
  EXPECT_EQ(weighted.others[0], TNR_STATUS_BUSY);
  EXPECT_EQ(weighted.others[1], TNR_STATUS_BUSY);
}

TEST_F(CCustomGradients, AreRefusedWithoutAFunction) {
  tnr_custom_operation own = weighted.operation();
  own.derive = nullptr;
  const std::vector<std::uint32_t> of = {input({3}, F64), input({3}, F64),
                                         input({}, TNR_DTYPE_I64)};
  const std::uint32_t y = sum(node(custom_of(own), of));
  std::uint32_t gradient = 77;
  expect_refused(
      tnr_graph_add_gradients(graph, y, TNR_OPERAND_NONE, &of[0], 1, nullptr, &gradient),
      TNR_STATUS_UNSUPPORTED,
      {"nodes[0], weighted: no gradient leads through it: a custom operation without `derive`"});
}

}  // namespace
