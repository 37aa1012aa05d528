// Custom operations on a device: the arguments of their function, the order of its work, and the
// messages of its failures. The tests run on a GPU and with the fake driver; those of faults run
// only with the fake driver.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "device_child.hpp"
#include "device_kernels.hpp"
#include "device_program.hpp"
#include "expect_status.hpp"

namespace {

using tenure::test::axpy;
using tenure::test::axpy_signature;
using tenure::test::context_on;
using tenure::test::Copied;
using tenure::test::expect_refused;
using tenure::test::Floats;
using tenure::test::image_options;
using tenure::test::Kernel;
using tenure::test::kFirstDevice;
using tenure::test::operation_of;
using tenure::test::run_on;
using tenure::test::totals_of_all;

constexpr std::uint32_t kAdd = TNR_NODE_BINARY + TNR_BINARY_OP_ADD;
constexpr std::uint32_t kNegate = TNR_NODE_UNARY + TNR_UNARY_OP_NEG;

// alpha x + y, where alpha is a number: by calls of the library on the CPU, and by a kernel of the
// user on a device. `fault` changes the behaviour on a device.
struct Scaled {
  enum class Fault {
    kNone,
    kFails,
    kTells,
    kFailsBehindItsWork,
    kAnswersNoStatus,
    kThrows,
    kEndsItsContext
  };
  const Kernel* kernel = nullptr;
  Fault fault = Fault::kNone;
  int asked = 0;  // for a shape
  int calls = 0;  // of compute
  int device_calls = 0;
  tnr_context* context = nullptr;  // the last that it was given
  tnr_view seen = {};              // the last output, to look at

  static tnr_status infer(void*, const tnr_view* operands, std::uint32_t, const std::int64_t*,
                          std::uint32_t, tnr_dtype* dtype, std::uint32_t* rank,
                          std::int64_t* shape) {
    *dtype = operands[0].dtype;
    *rank = operands[0].rank;
    std::copy_n(operands[0].shape, *rank, shape);
    return TNR_STATUS_OK;
  }
  static tnr_status counted_infer(void* self, const tnr_view* operands, std::uint32_t count,
                                  const std::int64_t* numbers, std::uint32_t number_count,
                                  tnr_dtype* dtype, std::uint32_t* rank, std::int64_t* shape) {
    ++static_cast<Scaled*>(self)->asked;
    return infer(self, operands, count, numbers, number_count, dtype, rank, shape);
  }
  static tnr_status compute(void* self, const tnr_view* operands, std::uint32_t,
                            const std::int64_t* numbers, std::uint32_t, const tnr_view_mut* out) {
    ++static_cast<Scaled*>(self)->calls;
    const tnr_scalar alpha = tnr_scalar_i64(numbers[0]);
    const tnr_status status =
        tnr_binary_scalar(nullptr, TNR_BINARY_OP_MUL, &operands[0], &alpha, nullptr, out);
    if (status != TNR_STATUS_OK) return status;
    return tnr_binary(nullptr, TNR_BINARY_OP_ADD, &out->view, &operands[1], nullptr, out);
  }
  static tnr_status compute_on_device(void* of, tnr_context* context, const tnr_view* operands,
                                      std::uint32_t count, const std::int64_t* numbers,
                                      std::uint32_t number_count, const tnr_view_mut* out) {
    auto& self = *static_cast<Scaled*>(of);
    EXPECT_EQ(count, 2u);
    EXPECT_EQ(number_count, 1u);
    ++self.device_calls;
    self.context = context;
    self.seen = out->view;
    switch (self.fault) {
      case Fault::kFails: return TNR_STATUS_BUSY;
      case Fault::kTells: return tnr_set_last_error(TNR_STATUS_OUT_OF_MEMORY, "no room for it");
      case Fault::kAnswersNoStatus: return 77;
      case Fault::kThrows: throw 7;
      case Fault::kEndsItsContext: EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK); break;
      default: break;
    }
    const tnr_status status = tnr_copy(context, &operands[1], nullptr, out);
    if (status != TNR_STATUS_OK) return status;
    if (self.fault == Fault::kFailsBehindItsWork) {
      return tnr_set_last_error(TNR_STATUS_UNSUPPORTED, "not this time");
    }
    return axpy(context, *self.kernel, static_cast<float>(numbers[0]), operands[0], *out);
  }

  tnr_custom_operation operation() {
    tnr_custom_operation of = operation_of("scaled", counted_infer, compute, this, 2);
    of.number_count = 1;
    of.compute_on_device = compute_on_device;
    return of;
  }
};

class DeviceCustom : public tenure::test::DeviceGraph {
 protected:
  void SetUp() override {
    DeviceGraph::SetUp();
    if (context_ == nullptr) return;
    kernel_ = std::make_unique<Kernel>(context_, image_options("axpy", axpy_signature()));
    scaled_.kernel = kernel_.get();
  }
  void TearDown() override {
    kernel_.reset();
    DeviceGraph::TearDown();
  }

  void add_custom(const tnr_custom_operation& operation) {
    std::uint32_t index = 9;
    ASSERT_EQ(tnr_graph_add_custom(graph, &operation, &index), TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_EQ(index, 0u);
  }
  // (3 * -x + y) + 1. The custom operation computes the sum in parentheses.
  tnr_program* build() {
    add_custom(scaled_.operation());
    const std::uint32_t x = input({2, 3});
    const std::uint32_t y = input({2, 3});
    const std::uint32_t of = node(TNR_NODE_CUSTOM, {node(kNegate, {x}), y}, {3});
    output(node(kAdd, {of, scalar(1)}));
    return program();
  }

  std::unique_ptr<Kernel> kernel_;
  Scaled scaled_;
};

// ---- its arguments ----

TEST_F(DeviceCustom, ItsFunctionIsCalledOnTheContextOfTheRun) {
  const tnr_program* const made = build();
  const Floats x({2, 3}, -1, 0.25f);
  const Floats y({2, 3}, 0.5f, 0.125f);
  Floats expected({2, 3});
  ASSERT_EQ(run(made, {x.view(), y.view()}, {expected.out()}), TNR_STATUS_OK);
  EXPECT_EQ(scaled_.calls, 1);
  EXPECT_EQ(scaled_.device_calls, 0);
  const Copied a(context_, x.view());
  const Copied b(context_, y.view());
  const Copied out = floats({2, 3});
  const auto run_there = [&](tnr_context* context) {
    return run_on(context, made, {a.view(), b.view()}, {out.out()});
  };
  ASSERT_EQ(run_there(context_), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(out.floats(), expected.values);
  EXPECT_EQ(scaled_.context, context_);
  EXPECT_EQ(scaled_.seen.device.kind, TNR_DEVICE_KIND_CUDA);
  expect_refused(tnr_unary(context_, TNR_UNARY_OP_NEG, &scaled_.seen, nullptr, &out.out()),
                 TNR_STATUS_STALE_VIEW, {"has been released"});
  const tnr_stats before = totals_of_all();
  ASSERT_EQ(run_there(context_), TNR_STATUS_OK);
  EXPECT_EQ(totals_of_all().device_waits, before.device_waits);
  tnr_context* const other = context_on(kFirstDevice);
  ASSERT_EQ(run_there(other), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(scaled_.context, other);
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
  EXPECT_EQ(scaled_.calls, 1);
  EXPECT_EQ(scaled_.device_calls, 3);
  EXPECT_EQ(out.floats(), expected.values);
}

// The types that a device is to take are those of the plan.
TEST_F(DeviceCustom, ItsShapeIsAskedOnceForEachPlan) {
  const tnr_program* const made = build();
  const Copied x(context_, Floats({2, 3}, -1, 0.25f).view());
  const Copied out = floats({2, 3});
  EXPECT_EQ(scaled_.asked, 1);
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(run_on(context_, made, {x.view(), x.view()}, {out.out()}), TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_EQ(scaled_.asked, 2);
  }
}

// A run is checked only on the CPU.
TEST_F(DeviceCustom, ACheckedRunCallsItOnce) {
  const tnr_program* const made = build();
  const Copied x = floats({2, 3}, 2);
  const Copied y = floats({2, 3}, 1);
  const Copied out = floats({2, 3});
  tnr_program_run_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.flags = TNR_RUN_CHECKED;
  ASSERT_EQ(run_on(context_, made, {x.view(), y.view()}, {out.out()}, &attributes), TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(out.floats(), std::vector<float>(6, -4));
  EXPECT_EQ(scaled_.device_calls, 1);
  EXPECT_EQ(scaled_.calls, 0);
}

// Nothing looks at the results of a device.
TEST_F(DeviceCustom, RunsThatRefuseNanAreUnsupported) {
  const tnr_program* const made = build();
  const Copied x = floats({2, 3}, 2);
  const Copied y = floats({2, 3}, 1);
  const Copied out = floats({2, 3});
  for (const int flag : {TNR_RUN_REFUSE_NAN, TNR_RUN_REFUSE_NON_FINITE}) {
    tnr_program_run_attributes attributes = {};
    attributes.struct_size = sizeof attributes;
    attributes.flags = static_cast<std::uint32_t>(flag);
    expect_refused(run_on(context_, made, {x.view(), y.view()}, {out.out()}, &attributes),
                   TNR_STATUS_UNSUPPORTED, {"a run on a device does not look at results"});
  }
  EXPECT_EQ(scaled_.device_calls, 0);
}

// Adds its operand to the previous elements of the output, of any strides.
struct Adding {
  bool is_in_place = false;  // as it was seen

  static tnr_status compute(void*, const tnr_view*, std::uint32_t, const std::int64_t*,
                            std::uint32_t, const tnr_view_mut*) {
    return TNR_STATUS_INTERNAL;
  }
  static tnr_status compute_on_device(void* self, tnr_context* context, const tnr_view* operands,
                                      std::uint32_t, const std::int64_t*, std::uint32_t,
                                      const tnr_view_mut* out) {
    static_cast<Adding*>(self)->is_in_place = operands[0].data == out->view.data;
    return tnr_binary(context, TNR_BINARY_OP_ADD, &out->view, &operands[0], nullptr, out);
  }
};

TEST_F(DeviceCustom, ItsResultHasElementsWhereItAsksForThem) {
  Adding adding;
  tnr_custom_operation operation =
      operation_of("adding", Scaled::infer, Adding::compute, &adding, 1);
  operation.compute_on_device = Adding::compute_on_device;
  operation.flags = TNR_CUSTOM_INITIALIZED;
  add_custom(operation);
  output(node(TNR_NODE_CUSTOM, {input({3})}));
  const tnr_program* const made = program();
  const Floats here({3}, 1, 0.25f);
  const Copied x(context_, here.view());
  const Copied memory = floats({6}, 2);
  tnr_view_mut apart = memory.out();
  apart.view.shape[0] = 3;
  apart.view.strides[0] = 2;
  ASSERT_EQ(run_on(context_, made, {x.view()}, {apart}), TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(memory.floats(), (std::vector<float>{1, 2, 1.25f, 2, 1.5f, 2}));
  EXPECT_FALSE(adding.is_in_place);
}

TEST_F(DeviceCustom, ItMayComputeInPlace) {
  Adding adding;
  tnr_custom_operation operation =
      operation_of("adding", Scaled::infer, Adding::compute, &adding, 1);
  operation.compute_on_device = Adding::compute_on_device;
  operation.flags = TNR_CUSTOM_IN_PLACE | TNR_CUSTOM_INITIALIZED;
  add_custom(operation);
  const std::uint32_t twice = node(TNR_NODE_CUSTOM, {node(kNegate, {input({3})})});
  output(node(kAdd, {twice, scalar(1)}));
  const Copied x = floats({3}, 2);
  const Copied out = floats({3});
  ASSERT_EQ(run_on(context_, program(), {x.view()}, {out.out()}), TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_TRUE(adding.is_in_place);
  // It is not made zeros there.
  EXPECT_EQ(out.floats(), std::vector<float>(3, -3));
}

// ---- refusals and failures ----

TEST_F(DeviceCustom, WithoutAFunctionItIsNamed) {
  tnr_custom_operation operation = scaled_.operation();
  operation.compute_on_device = nullptr;
  add_custom(operation);
  const std::uint32_t x = input({2, 3});
  output(node(TNR_NODE_CUSTOM, {node(kNegate, {x}), x}, {3}));
  const tnr_program* const made = program();
  const Copied a = floats({2, 3}, 1);
  const Copied out = floats({2, 3}, -5);
  const tnr_stats before = totals_of_all();
  for (int i = 0; i < 2; ++i) {
    expect_refused(run_on(context_, made, {a.view()}, {out.out()}), TNR_STATUS_UNSUPPORTED,
                   {"nodes[1], scaled: the custom operation has no compute_on_device", "cuda:0"});
  }
  EXPECT_EQ(totals_of_all().device_launches, before.device_launches);
  EXPECT_EQ(scaled_.calls, 0);
  EXPECT_EQ(out.floats(), std::vector<float>(6, -5));
}

TEST_F(DeviceCustom, ItsFailuresAreTheRuns) {
  using enum Scaled::Fault;
  const tnr_program* const made = build();
  const Copied x = floats({2, 3}, 2);
  const Copied y = floats({2, 3}, 1);
  const Copied out = floats({2, 3});
  const auto run_with = [&](Scaled::Fault fault) {
    scaled_.fault = fault;
    return run_on(context_, made, {x.view(), y.view()}, {out.out()});
  };
  const std::string of = "nodes[1], scaled: compute_on_device of the custom operation scaled";
  expect_refused(run_with(kFails), TNR_STATUS_BUSY, {of + " answered BUSY"});
  expect_refused(run_with(kTells), TNR_STATUS_OUT_OF_MEMORY, {of + ": no room for it"});
  expect_refused(run_with(kFailsBehindItsWork), TNR_STATUS_UNSUPPORTED, {of + ": not this time"});
  expect_refused(run_with(kAnswersNoStatus), TNR_STATUS_INTERNAL, {of + " answered 77"});
  expect_refused(run_with(kThrows), TNR_STATUS_INTERNAL, {of + " threw an exception"});
  ASSERT_EQ(run_with(kNone), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(out.floats(), std::vector<float>(6, -4));
}

// The run uses the context to its end; the handle is none.
TEST_F(DeviceCustom, AContextThatItEndsIsNone) {
  const tnr_program* const made = build();
  const Copied x = floats({2, 3}, 2);
  const Copied y = floats({2, 3}, 1);
  const Copied out = floats({2, 3}, -5);
  scaled_.fault = Scaled::Fault::kEndsItsContext;
  expect_refused(run_on(context_on(kFirstDevice), made, {x.view(), y.view()}, {out.out()}),
                 TNR_STATUS_STALE_HANDLE, {"scaled", "has been released"});
  EXPECT_EQ(out.floats(), std::vector<float>(6, -5));
}

// ---- the order of streams ----

// Operands whose home is another stream, on which their work is still to come, and which is given
// more of it behind the run. The fake driver runs a stream when it is waited for, or asked by an
// event.
TEST_F(DeviceCustom, ItsWorkIsInTheOrderOfTheRunsBlobs) {
  const tnr_program* const made = build();
  tnr_context* const other = context_on(kFirstDevice);
  ASSERT_NE(other, nullptr);
  for (int i = 0; i < 20; ++i) {
    const Copied out = floats({2, 3});
    {
      const Floats here({2, 3}, 2, 0);
      const Copied x(other, here.view());
      const Copied y(other, here.view());
      for (int j = 0; j < 5; ++j) {
        ASSERT_EQ(tnr_unary(other, TNR_UNARY_OP_NEG, &x.view(), nullptr, &x.out()), TNR_STATUS_OK);
      }
      ASSERT_EQ(run_on(i % 2 == 0 ? context_ : other, made, {x.view(), y.view()}, {out.out()}),
                TNR_STATUS_OK)
          << tnr_last_error()->message;
      for (const Copied* const of : {&x, &y}) {
        ASSERT_EQ(tnr_unary(other, TNR_UNARY_OP_EXP, &of->view(), nullptr, &of->out()),
                  TNR_STATUS_OK);
      }
    }
    ASSERT_EQ(out.floats(), std::vector<float>(6, 9)) << i;
  }
  ASSERT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

// Computes on another context than the run's. The function does not order the two contexts.
struct Elsewhere {
  tnr_context* context = nullptr;
  tnr_blob* held = nullptr;
  bool holds = false;

  static tnr_status compute_on_device(void* of, tnr_context*, const tnr_view* operands,
                                      std::uint32_t, const std::int64_t*, std::uint32_t,
                                      const tnr_view_mut* out) {
    auto& self = *static_cast<Elsewhere*>(of);
    if (self.holds) self.held = tnr_blob_retain(reinterpret_cast<tnr_blob*>(operands[0].owner));
    return tnr_unary(self.context, TNR_UNARY_OP_NEG, operands, nullptr, out);
  }
  tnr_custom_operation operation() {
    tnr_custom_operation of = operation_of("elsewhere", Scaled::infer, Adding::compute, this, 1);
    of.compute_on_device = compute_on_device;
    return of;
  }
};

TEST_F(DeviceCustom, WorkOnOtherContextsIsInOrderToo) {
  Elsewhere elsewhere;
  add_custom(elsewhere.operation());
  const std::uint32_t x = input({1000});
  output(node(kAdd, {node(TNR_NODE_CUSTOM, {node(kAdd, {x, x})}), scalar(1)}));
  const tnr_program* const made = program();
  elsewhere.context = context_on(kFirstDevice);
  for (int i = 0; i < 20; ++i) {
    const auto value = static_cast<float>(i % 3);
    const Copied a = floats({1000}, value);
    const Copied out = floats({1000});
    const tnr_stats before = totals_of_all();
    ASSERT_EQ(run_on(context_, made, {a.view()}, {out.out()}), TNR_STATUS_OK)
        << tnr_last_error()->message;
    // The end of the loans of the function's memory does not wait for the device.
    EXPECT_EQ(totals_of_all().device_waits, before.device_waits);
    ASSERT_EQ(out.floats(), std::vector<float>(1000, 1 - 2 * value)) << i;
  }
  ASSERT_EQ(tnr_context_release(elsewhere.context), TNR_STATUS_OK);
}

TEST_F(DeviceCustom, MemoryThatItHoldsIsTold) {
  Elsewhere elsewhere;
  elsewhere.context = context_;
  elsewhere.holds = true;
  add_custom(elsewhere.operation());
  output(node(TNR_NODE_CUSTOM, {input({3})}));
  const Copied x = floats({3}, 2);
  const Copied out = floats({3});
  expect_refused(run_on(context_, program(), {x.view()}, {out.out()}), TNR_STATUS_INTERNAL,
                 {"elsewhere holds memory that it was lent"});
  EXPECT_EQ(tnr_blob_release(elsewhere.held), TNR_STATUS_OK);
}

// An empty result takes no memory, and begins where its operand does.
struct Emptying {
  const tnr_view_mut* copy = nullptr;

  static tnr_status infer(void*, const tnr_view*, std::uint32_t, const std::int64_t*, std::uint32_t,
                          tnr_dtype* dtype, std::uint32_t* rank, std::int64_t* shape) {
    *dtype = TNR_DTYPE_F32;
    *rank = 1;
    shape[0] = 0;
    return TNR_STATUS_OK;
  }
  static tnr_status compute_on_device(void* self, tnr_context* context, const tnr_view* operands,
                                      std::uint32_t, const std::int64_t*, std::uint32_t,
                                      const tnr_view_mut*) {
    return tnr_copy(context, operands, nullptr, static_cast<Emptying*>(self)->copy);
  }
};

TEST_F(DeviceCustom, AnEmptyResultTakesNoOwnerFromAnOperand) {
  Emptying emptying;
  tnr_custom_operation operation =
      operation_of("emptying", Emptying::infer, Adding::compute, &emptying, 1);
  operation.compute_on_device = Emptying::compute_on_device;
  add_custom(operation);
  const std::uint32_t none = node(TNR_NODE_CUSTOM, {node(kNegate, {input({3})})});
  output(node(kNegate, {none}));
  const Copied x = floats({3}, 2);
  const Copied seen = floats({3});
  const Copied out = floats({0});
  emptying.copy = &seen.out();
  ASSERT_EQ(run_on(context_, program(), {x.view()}, {out.out()}), TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(seen.floats(), std::vector<float>(3, -2));
}

// Runs a program from the function, with its own operands and output, on the same context.
struct Calling {
  const tnr_program* program = nullptr;

  static tnr_status compute_on_device(void* self, tnr_context* context, const tnr_view* operands,
                                      std::uint32_t, const std::int64_t*, std::uint32_t,
                                      const tnr_view_mut* out) {
    const tnr_program* const made = std::exchange(static_cast<Calling*>(self)->program, nullptr);
    if (made == nullptr) return tnr_unary(context, TNR_UNARY_OP_NEG, operands, nullptr, out);
    return tnr_program_run(context, made, &operands, 1, nullptr, &out, 1);
  }
};

TEST_F(DeviceCustom, ItMayRunItsOwnProgram) {
  Calling calling;
  tnr_custom_operation operation =
      operation_of("calling", Scaled::infer, Adding::compute, &calling, 1);
  operation.compute_on_device = Calling::compute_on_device;
  add_custom(operation);
  output(node(kAdd, {node(TNR_NODE_CUSTOM, {input({4})}), scalar(1)}));
  calling.program = program();
  const Copied x = floats({4}, 2);
  const Copied out = floats({4});
  ASSERT_EQ(run_on(context_, calling.program, {x.view()}, {out.out()}), TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(out.floats(), std::vector<float>(4, 0));  // -2 + 1, and 1 more
}

// ---- faults ----

// A run in a process of its own.
TEST(DeviceChild, DISABLED_Run) {
  tnr_context* const context = context_on(kFirstDevice);
  if (context == nullptr) {
    std::printf("message: %s\n", tnr_last_error()->message);
    return;
  }
  tnr_graph* const graph = tnr_graph_create();
  Adding adding;
  tnr_custom_operation operation =
      operation_of("adding", Scaled::infer, Adding::compute, &adding, 1);
  operation.compute_on_device = Adding::compute_on_device;
  operation.flags = TNR_CUSTOM_INITIALIZED;
  std::uint32_t index = 0;
  ASSERT_EQ(tnr_graph_add_custom(graph, &operation, &index), TNR_STATUS_OK);
  const std::int64_t shape[] = {12};
  std::uint32_t values[2] = {};
  ASSERT_EQ(tnr_graph_add_input(graph, TNR_DTYPE_F32, 1, shape, &values[0]), TNR_STATUS_OK);
  tnr_graph_node node = {};
  node.struct_size = sizeof node;
  node.code = TNR_NODE_CUSTOM + index;
  node.operands = values;
  node.operand_count = 1;
  ASSERT_EQ(tnr_graph_add_node(graph, &node, &values[1]), TNR_STATUS_OK);
  ASSERT_EQ(tnr_graph_add_output(graph, values[1], TNR_OPERAND_NONE), TNR_STATUS_OK);
  tnr_program* const made = tnr_program_create(nullptr, graph, nullptr);
  ASSERT_NE(made, nullptr);
  tnr_blob* const in = tnr_blob_alloc(context, 48);
  tnr_blob* const to = tnr_blob_alloc(context, 48);
  for (int i = 0; i < 2 && in != nullptr && to != nullptr; ++i) {
    tnr_view a;
    tnr_view_mut out;
    ASSERT_EQ(tnr_blob_view(in, 0, TNR_DTYPE_F32, 1, shape, nullptr, &a), TNR_STATUS_OK);
    ASSERT_EQ(tnr_blob_view_mut(to, 0, TNR_DTYPE_F32, 1, shape, nullptr, &out), TNR_STATUS_OK);
    const tnr_status status = run_on(context, made, {a}, {out});
    EXPECT_TRUE(status == TNR_STATUS_OK || status == TNR_STATUS_DEVICE_ERROR ||
                status == TNR_STATUS_OUT_OF_MEMORY)
        << tnr_last_error()->message;
    if (status != TNR_STATUS_OK) std::printf("message: %s\n", tnr_last_error()->message);
  }
  EXPECT_EQ(tnr_blob_release(in), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(to), TNR_STATUS_OK);
  EXPECT_EQ(tnr_program_release(made), TNR_STATUS_OK);
  EXPECT_EQ(tnr_graph_release(graph), TNR_STATUS_OK);
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
}

TEST_F(DeviceCustom, EachEntryPointMayFailAndNothingLeaks) {
  if (!tenure::test::is_driver_fake()) GTEST_SKIP() << "a GPU does not fail at will";
  tenure::test::expect_failures_leave_nothing();
}

}  // namespace
