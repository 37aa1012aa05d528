// Programs on a device: refusals, the memory, launches and waits of a run, the order of streams,
// and the state after an entry point of the driver fails.
#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>

#include "device_child.hpp"
#include "device_program.hpp"
#include "expect_status.hpp"

namespace {

using tenure::test::context_on;
using tenure::test::Copied;
using tenure::test::expect_refused;
using tenure::test::Floats;
using tenure::test::kFirstDevice;
using tenure::test::run_on;
using tenure::test::Shape;
using tenure::test::totals_of_all;
using tenure::test::view_over;

using DeviceProgram = tenure::test::DeviceGraph;

constexpr std::uint32_t kWithoutFolding = TNR_PASS_CONSTANT_FOLDING;

// ---- refusals ----

std::uint32_t unary(tnr_unary_op op) { return TNR_NODE_UNARY + static_cast<std::uint32_t>(op); }
std::uint32_t binary(tnr_binary_op op) { return TNR_NODE_BINARY + static_cast<std::uint32_t>(op); }

TEST_F(DeviceProgram, EveryViewIsOnTheDeviceOfTheContext) {
  const std::uint32_t x = input({4});
  const std::uint32_t y = input({4});
  output(node(binary(TNR_BINARY_OP_ADD), {x, y}));
  const tnr_program* const made = program();
  const Floats here({4}, 1, 0);
  Floats out_here({4}, -5, 0);
  const Copied there(context_, here.view());
  const Copied out(context_, out_here.view());
  const auto run = [&](tnr_context* context, const tnr_view& a, const tnr_view& b,
                       const tnr_view_mut& to) { return run_on(context, made, {a, b}, {to}); };
  expect_refused(run(nullptr, there.view(), there.view(), out.out()), TNR_STATUS_INVALID_ARGUMENT,
                 {"cuda:0", "the context of the call has no device"});
  expect_refused(run(context_, there.view(), here.view(), out.out()), TNR_STATUS_UNSUPPORTED,
                 {"inputs[1].device is the CPU", "cuda:0"});
  expect_refused(run(context_, there.view(), there.view(), out_here.out()), TNR_STATUS_UNSUPPORTED,
                 {"outputs[0].device is the CPU", "cuda:0"});
  expect_refused(run(context_, here.view(), here.view(), out.out()), TNR_STATUS_UNSUPPORTED,
                 {"inputs[0].device is the CPU", "cuda:0"});
  tnr_view elsewhere = there.view();
  elsewhere.owner = 0;
  elsewhere.device.index = 1;
  expect_refused(run(context_, elsewhere, there.view(), out.out()), TNR_STATUS_UNSUPPORTED,
                 {"inputs[0].device is cuda:1", "cuda:0"});
  elsewhere.device.index = -1;
  expect_refused(run(context_, there.view(), elsewhere, out.out()), TNR_STATUS_UNSUPPORTED,
                 {"inputs[1].device is"});
  elsewhere = there.view();
  elsewhere.device = {TNR_DEVICE_KIND_CPU, 0};  // its owner knows better
  EXPECT_NE(run(context_, elsewhere, elsewhere, out_here.out()), TNR_STATUS_OK);
  EXPECT_EQ(out.floats(), std::vector<float>(4, -5));
  EXPECT_EQ(out_here.values, std::vector<float>(4, -5));
  // Views of the CPU are computed by the CPU.
  const tnr_stats before = totals_of_all();
  EXPECT_EQ(run(context_, here.view(), here.view(), out_here.out()), TNR_STATUS_OK);
  EXPECT_EQ(out_here.values, std::vector<float>(4, 2));
  EXPECT_EQ(totals_of_all().device_launches, before.device_launches);
}

TEST_F(DeviceProgram, ArgumentsAreCheckedAsOnTheCpu) {
  std::int64_t n = 0;
  ASSERT_EQ(tnr_graph_add_extent(graph, "n", 4, &n), TNR_STATUS_OK);
  const std::uint32_t x = input({n});
  output(node(unary(TNR_UNARY_OP_NEG), {x}));
  const tnr_program* const made = program();
  const Copied five = floats({5}, 1);
  const Copied four = floats({4}, 1);
  const Copied three = floats({3}, -5);
  expect_refused(run_on(context_, made, {five.view()}, {three.out()}), TNR_STATUS_INVALID_ARGUMENT,
                 {"n is at most 4"});
  expect_refused(run_on(context_, made, {four.view()}, {three.out()}), TNR_STATUS_INVALID_ARGUMENT,
                 {"outputs[0] is f32 of shape [3]"});
  expect_refused(run_on(context_, made, {four.view()}, {four.out()}), TNR_STATUS_ALIASED,
                 {"outputs[0] shares a byte with inputs[0]"});
  expect_refused(run_on(context_, made, {four.view(), four.view()}, {three.out()}),
                 TNR_STATUS_INVALID_ARGUMENT, {"input_count is 2"});
  expect_refused(run_on(context_, made, {four.view()}, {}), TNR_STATUS_INVALID_ARGUMENT,
                 {"output_count is 0"});
  tnr_view wild = four.view();
  wild.size_bytes = 8;
  expect_refused(run_on(context_, made, {wild}, {three.out()}), TNR_STATUS_INVALID_ARGUMENT,
                 {"inputs[0].strides[0]"});
  {
    const Copied ended = floats({4}, 1);
    wild = ended.view();
  }
  const Copied out = floats({4}, -5);
  expect_refused(run_on(context_, made, {wild}, {out.out()}), TNR_STATUS_STALE_VIEW, {"inputs[0]"});
  EXPECT_EQ(out.floats(), std::vector<float>(4, -5));
}

TEST_F(DeviceProgram, NoneIsPreallocated) {
  const std::uint32_t x = input({4});
  output(node(unary(TNR_UNARY_OP_NEG), {x}));
  const Copied a = floats({4}, 1);
  const Copied out = floats({4}, -5);
  const tnr_view* const inputs[] = {&a.view()};
  const tnr_view_mut* const outputs[] = {&out.out()};
  const tnr_bound_attributes preallocated = {sizeof preallocated, 0, TNR_BOUND_PREALLOCATED, 0};
  expect_refused(tnr_bound_create(context_, program(), inputs, 1, &preallocated, outputs, 1),
                 TNR_STATUS_UNSUPPORTED,
                 {"are on cuda:0 but a preallocated program runs on the CPU"});
}

// Whatever stands before it: nothing is enqueued.
TEST_F(DeviceProgram, ANodeOfTheCpuAloneIsNamed) {
  const std::uint32_t x = input({4});
  const std::uint32_t twice = node(binary(TNR_BINARY_OP_ADD), {x, x});
  output(node(TNR_NODE_PARTITION + TNR_ORDER_RESULT_VALUES, {twice}, {0, 2}));
  const Copied a = floats({4}, 1);
  const Copied out = floats({4}, -5);
  const tnr_program* const made = program();
  const tnr_stats before = totals_of_all();
  for (int i = 0; i < 2; ++i) {
    expect_refused(run_on(context_, made, {a.view()}, {out.out()}), TNR_STATUS_UNSUPPORTED,
                   {"nodes[1], partition", "cuda:0"});
  }
  EXPECT_EQ(totals_of_all().device_launches, before.device_launches);
  EXPECT_EQ(out.floats(), std::vector<float>(4, -5));
}

TEST_F(DeviceProgram, ADtypeOfTheCpuAloneIsNamed) {
  const std::uint32_t x = input({4}, TNR_DTYPE_C64);
  const std::uint32_t seen = node(TNR_NODE_RESHAPE, {x}, {2, 2});
  output(node(binary(TNR_BINARY_OP_MUL), {seen, seen}));
  const std::vector<float> zeros(8);
  const Copied a(context_, view_over(zeros.data(), {4}, TNR_DTYPE_C64));
  const Copied out(context_, view_over(zeros.data(), {2, 2}, TNR_DTYPE_C64));
  const tnr_stats before = totals_of_all();
  expect_refused(run_on(context_, program(), {a.view()}, {out.out()}), TNR_STATUS_UNSUPPORTED,
                 {"nodes[1], mul", "c64", "cuda:0"});
  EXPECT_EQ(totals_of_all().device_launches, before.device_launches);
}

// A product with GELU and bounds, which only the CPU computes.
TEST_F(DeviceProgram, AProductOfTheCpuAloneIsNamed) {
  tnr_matmul_attributes with = {};
  with.struct_size = sizeof with;
  with.activation = TNR_UNARY_OP_GELU;
  with.flags = TNR_EPILOGUE_CLAMP;
  with.high = 6;
  const std::uint32_t x = input({2, 2});
  output(node(TNR_NODE_MATMUL, {x, x}, {}, &with));
  const Copied a = floats({2, 2}, 1);
  const Copied out = floats({2, 2}, -5);
  expect_refused(run_on(context_, program(), {a.view()}, {out.out()}), TNR_STATUS_UNSUPPORTED,
                 {"nodes[0], matmul", "gelu"});
}

// An error in the data names the node. The run reports it after it has waited for the device.
TEST_F(DeviceProgram, WhatIsFoundNamesTheNode) {
  const std::uint32_t x = input({3}, TNR_DTYPE_I32);
  const std::uint32_t y = input({3}, TNR_DTYPE_I32);
  output(node(binary(TNR_BINARY_OP_DIV), {x, y}));
  const std::int32_t numbers[] = {6, 4, 0};
  const std::int32_t divisors[] = {3, 2, 5};
  const Copied a(context_, view_over(numbers, {3}, TNR_DTYPE_I32));
  const Copied b(context_, view_over(divisors, {3}, TNR_DTYPE_I32));
  const Copied out(context_, view_over(numbers, {3}, TNR_DTYPE_I32));
  const tnr_program* const made = program();
  ASSERT_EQ(run_on(context_, made, {a.view(), b.view()}, {out.out()}), TNR_STATUS_OK);
  expect_refused(run_on(context_, made, {b.view(), a.view()}, {out.out()}),
                 TNR_STATUS_INVALID_ARGUMENT, {"nodes[0], div"});
}

// ---- memory, launches and waits ----

class Chain : public DeviceProgram {
 protected:
  // -x + c in one step, less the greatest of that; and c.
  void build() {
    const std::uint32_t x = input({4, 3});
    const std::uint32_t c = constant(kept_.view());
    const std::uint32_t e = node(unary(TNR_UNARY_OP_NEG), {x});
    const std::uint32_t sum = node(binary(TNR_BINARY_OP_ADD), {e, c});
    tnr_reduce_attributes keeps = {};
    keeps.struct_size = sizeof keeps;
    const std::uint32_t most = node(TNR_NODE_REDUCE + TNR_REDUCE_OP_MAX, {sum}, {}, &keeps, 3);
    output(node(binary(TNR_BINARY_OP_SUB), {sum, most}));
    output(c);
  }
  [[nodiscard]] std::vector<float> expected(const Floats& x) const {
    std::vector<float> values = x.values;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = kept_.values[i % 3] - values[i];
    const float most = *std::ranges::max_element(values);
    for (float& value : values) value -= most;
    return values;
  }

  Floats kept_{{3}, 1, 0.5f};
};

TEST_F(Chain, StepsAreLaunchesAndOnlyTheFirstRunWaits) {
  build();
  const tnr_program* const made = program();
  const Floats here({4, 3}, -1, 0.25f);
  const Copied x(context_, here.view());
  const Copied out = floats({4, 3});
  const Copied constant_out = floats({3});
  const auto run = [&] {
    return run_on(context_, made, {x.view()}, {out.out(), constant_out.out()});
  };
  const tnr_stats at_first = totals_of_all();
  ASSERT_EQ(run(), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(totals_of_all().device_waits, at_first.device_waits + 1);  // for the constant
  EXPECT_EQ(out.floats(), expected(here));
  EXPECT_EQ(constant_out.floats(), kept_.values);
  const tnr_stats before = totals_of_all();
  for (int i = 0; i < 3; ++i) ASSERT_EQ(run(), TNR_STATUS_OK);
  // A copy of adjacent elements is the driver's, and no launch.
  EXPECT_EQ(totals_of_all().device_launches, before.device_launches + 3 * 3);
  EXPECT_EQ(totals_of_all().device_waits, before.device_waits);
  EXPECT_EQ(totals_of_all().blobs_made, before.blobs_made);
  EXPECT_EQ(out.floats(), expected(here));
}

TEST_F(Chain, ItsMemoryIsKnownBeforeARun) {
  build();
  const tnr_program* const made = program();
  const Copied x = floats({4, 3}, 1);
  const Copied out = floats({4, 3});
  const Copied constant_out = floats({3});
  const tnr_memory_plan plan = memory(made, {x.view()});
  EXPECT_EQ(plan.step_count, 4u);
  EXPECT_GE(plan.peak_bytes, 48u);
  tnr_program_run_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.budget_bytes = plan.peak_bytes - 1;
  const std::vector<tnr_view_mut> outputs = {out.out(), constant_out.out()};
  expect_refused(run_on(context_, made, {x.view()}, outputs, &attributes), TNR_STATUS_OUT_OF_MEMORY,
                 {std::to_string(plan.peak_bytes)});
  attributes.budget_bytes = plan.peak_bytes;
  std::vector<std::uint64_t> times(plan.step_count);
  std::vector<std::int64_t> shapes(16, -1);
  attributes.step_nanoseconds = times.data();
  attributes.output_shapes = shapes.data();
  expect_refused(run_on(context_, made, {x.view()}, outputs, &attributes),
                 TNR_STATUS_INVALID_ARGUMENT, {"step_count is 0"});
  attributes.step_count = plan.step_count;
  ASSERT_EQ(run_on(context_, made, {x.view()}, outputs, &attributes), TNR_STATUS_OK)
      << tnr_last_error()->message;
  for (const std::uint64_t time : times) EXPECT_GT(time, 0u);
  EXPECT_EQ(Shape(shapes.begin(), shapes.begin() + 3), (Shape{4, 3, 0}));
  EXPECT_EQ(shapes[8], 3);
  tnr_step_info step = {};
  step.struct_size = sizeof step;
  const tnr_view* const given[] = {&x.view()};
  ASSERT_EQ(tnr_program_describe_step(made, given, 1, 0, &step), TNR_STATUS_OK);
  EXPECT_STREQ(step.name, "neg add");
  EXPECT_EQ(step.node_count, 2u);
}

// One launch computes all adjacent nodes that fit into it. Without the pass each node is a launch.
TEST_F(DeviceProgram, ElementwiseNodesAreFused) {
  struct Case {
    tnr_dtype dtype;
    std::uint64_t launches;
  };
  // A function of f64 is a call of its own.
  for (const Case& of : {Case{TNR_DTYPE_F32, 2}, Case{TNR_DTYPE_F64, 3}}) {
    for (const std::uint32_t disabled : {0u, std::uint32_t{TNR_PASS_FUSION}}) {
      release_all();
      graph = tnr_graph_create();
      std::uint32_t value = input({5}, of.dtype);
      for (int i = 0; i < 30; ++i) {
        value = i == 10 ? node(unary(TNR_UNARY_OP_TANH), {value})
                        : node(binary(TNR_BINARY_OP_ADD), {value, scalar(0.25 * i)});
      }
      output(value);
      const tnr_program* const made = program(disabled);
      const std::vector<double> numbers(5, 0.5);
      const std::vector<float> narrow(5, 0.5f);
      const bool is_wide = of.dtype == TNR_DTYPE_F64;
      const tnr_view here = view_over(
          is_wide ? static_cast<const void*>(numbers.data()) : narrow.data(), {5}, of.dtype);
      const Copied x(context_, here);
      const Copied out(context_, here);
      const tnr_stats before = totals_of_all();
      ASSERT_EQ(run_on(context_, made, {x.view()}, {out.out()}), TNR_STATUS_OK)
          << tnr_last_error()->message;
      EXPECT_EQ(totals_of_all().device_launches,
                before.device_launches + (disabled == 0 ? of.launches : 30));
      EXPECT_EQ(totals_of_all().device_waits, before.device_waits);
    }
  }
}

// Constants in other layouts, and parts of others.
TEST_F(DeviceProgram, ConstantsKeepTheirElements) {
  const Floats whole({4, 6}, 0, 0.25f);
  tnr_view transposed = whole.view();
  std::swap(transposed.shape[0], transposed.shape[1]);
  std::swap(transposed.strides[0], transposed.strides[1]);
  tnr_view part = whole.view();  // every second column, from the last one back
  part.shape[1] = 3;
  part.strides[1] = -2;
  part.data = static_cast<const float*>(whole.view().data) + 5;
  tnr_view row = whole.view();
  row.strides[0] = 0;
  const std::uint32_t values[] = {constant(transposed), constant(part), constant(row)};
  output(node(TNR_NODE_SLICE, {values[0]}, {0, 5, 0, -1}));
  output(node(unary(TNR_UNARY_OP_NEG), {values[1]}));
  output(node(unary(TNR_UNARY_OP_NEG), {values[2]}));
  const tnr_program* const made = program(kWithoutFolding);
  const Shape shapes[] = {{5, 4}, {4, 3}, {4, 6}};
  std::vector<Floats> here;
  std::vector<Copied> there;
  std::vector<tnr_view_mut> outs_here;
  std::vector<tnr_view_mut> outs;
  for (const Shape& shape : shapes) here.emplace_back(shape);
  for (Floats& of : here) {
    there.emplace_back(context_, of.view());
    outs_here.push_back(of.out());
    outs.push_back(there.back().out());
  }
  ASSERT_EQ(run(made, {}, outs_here), TNR_STATUS_OK);
  ASSERT_EQ(run_on(context_, made, {}, outs), TNR_STATUS_OK) << tnr_last_error()->message;
  for (std::size_t i = 0; i < here.size(); ++i) EXPECT_EQ(there[i].floats(), here[i].values) << i;
}

// An input that is updated holds the new value, and what read it before had the old one.
TEST_F(DeviceProgram, AnInputIsUpdated) {
  const std::uint32_t w = input({3});
  const std::uint32_t g = input({3});
  output(node(binary(TNR_BINARY_OP_SUB), {w, g}), w);
  output(node(binary(TNR_BINARY_OP_ADD), {w, g}));
  const tnr_program* const made = program();
  const Copied weights = floats({3}, 1);
  const Copied gradient = floats({3}, 0.25f);
  const Copied out = floats({3});
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(run_on(context_, made, {weights.view(), gradient.view()}, {weights.out(), out.out()}),
              TNR_STATUS_OK)
        << tnr_last_error()->message;
  }
  EXPECT_EQ(weights.floats(), std::vector<float>(3, 0.5f));
  EXPECT_EQ(out.floats(), std::vector<float>(3, 1));
}

// ---- streams and threads ----

// Inputs whose home is another stream, on which their work is still to come; and memory that is
// freed there behind the call. The fake driver runs a stream when it is waited for, or asked by an
// event.
TEST_F(Chain, ARunIsInTheOrderOfItsBlobs) {
  build();
  const tnr_program* const made = program();
  tnr_context* const other = context_on(kFirstDevice);
  ASSERT_NE(other, nullptr);
  for (int i = 0; i < 20; ++i) {
    Floats here({4, 3}, -1, 0.25f);
    const Copied out = floats({4, 3});
    const Copied constant_out = floats({3});
    {
      const Copied x(other, here.view());
      for (int j = 0; j < 5; ++j) {
        ASSERT_EQ(tnr_unary(other, TNR_UNARY_OP_NEG, &x.view(), nullptr, &x.out()), TNR_STATUS_OK);
      }
      ASSERT_EQ(
          run_on(i % 2 == 0 ? context_ : other, made, {x.view()}, {out.out(), constant_out.out()}),
          TNR_STATUS_OK)
          << tnr_last_error()->message;
      // The old elements are gone when the run reads them, unless the stream waits for it.
      ASSERT_EQ(tnr_unary(other, TNR_UNARY_OP_EXP, &x.view(), nullptr, &x.out()), TNR_STATUS_OK);
    }
    for (float& value : here.values) value = -value;
    ASSERT_EQ(out.floats(), expected(here)) << i;
  }
  ASSERT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

// The program holds its constants on the device, and by them the context that they were made by.
TEST_F(Chain, ConstantsEndWithTheProgram) {
  build();
  const tnr_stats before = totals_of_all();
  tnr_program* const made = program();
  tnr_context* const first = context_on(kFirstDevice);
  const Floats here({4, 3}, -1, 0.25f);
  const Copied out = floats({4, 3});
  const Copied constant_out = floats({3});
  const Copied x(context_, here.view());
  ASSERT_EQ(run_on(first, made, {x.view()}, {out.out(), constant_out.out()}), TNR_STATUS_OK);
  ASSERT_EQ(tnr_context_release(first), TNR_STATUS_OK);
  ASSERT_EQ(run_on(context_, made, {x.view()}, {out.out(), constant_out.out()}), TNR_STATUS_OK);
  programs.clear();
  EXPECT_EQ(tnr_program_release(made), TNR_STATUS_OK);
  EXPECT_EQ(totals_of_all().blobs_finished, before.blobs_finished + 1);
  EXPECT_EQ(out.floats(), expected(here));
}

TEST_F(Chain, ThreadsRunOneProgram) {
  build();
  const tnr_program* const made = program();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      tnr_context* const own = context_on(kFirstDevice);
      for (int i = 0; i < 10; ++i) {
        const Floats here({4, 3}, static_cast<float>(t) * 0.125f, 0.25f);
        const Floats nothing({4, 3});
        const Copied x(own, here.view());
        const Copied out(own, nothing.view());
        const Copied constant_out(own, kept_.view());
        ASSERT_EQ(run_on(own, made, {x.view()}, {out.out(), constant_out.out()}), TNR_STATUS_OK)
            << tnr_last_error()->message;
        ASSERT_EQ(out.floats(), expected(here));
      }
      EXPECT_EQ(tnr_context_release(own), TNR_STATUS_OK);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// ---- faults ----

// Everything that a program does with a device, run in a process of its own.
TEST(DeviceChild, DISABLED_Run) {
  tnr_context* const context = context_on(kFirstDevice);
  if (context == nullptr) {
    std::printf("message: %s\n", tnr_last_error()->message);
    return;
  }
  tnr_graph* const graph = tnr_graph_create();
  const Floats kept({3}, 1, 0.5f);
  const tnr_view kept_view = kept.view();
  const std::int64_t shape[] = {4, 3};
  std::uint32_t values[4] = {};
  ASSERT_EQ(tnr_graph_add_input(graph, TNR_DTYPE_F32, 2, shape, &values[0]), TNR_STATUS_OK);
  ASSERT_EQ(tnr_graph_add_constant(graph, &kept_view, &values[1]), TNR_STATUS_OK);
  const auto add = [&](std::uint32_t code, std::uint32_t a, std::uint32_t b, std::uint32_t* out) {
    const std::uint32_t operands[] = {a, b};
    tnr_graph_node node = {};
    node.struct_size = sizeof node;
    node.code = code;
    node.operands = operands;
    node.operand_count = 2;
    ASSERT_EQ(tnr_graph_add_node(graph, &node, out), TNR_STATUS_OK);
  };
  add(binary(TNR_BINARY_OP_MUL), values[0], values[1], &values[2]);
  add(binary(TNR_BINARY_OP_ADD), values[2], values[0], &values[3]);
  ASSERT_EQ(tnr_graph_add_output(graph, values[3], TNR_OPERAND_NONE), TNR_STATUS_OK);
  tnr_program* const made = tnr_program_create(nullptr, graph, nullptr);
  ASSERT_NE(made, nullptr);
  tnr_context* const other = context_on(kFirstDevice);
  // Without a context it would be memory of the CPU.
  tnr_blob* const in = other == nullptr ? nullptr : tnr_blob_alloc(other, 48);
  tnr_blob* const to = tnr_blob_alloc(context, 48);
  for (int i = 0; i < 2 && in != nullptr && to != nullptr; ++i) {
    tnr_view a;
    tnr_view_mut out;
    ASSERT_EQ(tnr_blob_view(in, 0, TNR_DTYPE_F32, 2, shape, nullptr, &a), TNR_STATUS_OK);
    ASSERT_EQ(tnr_blob_view_mut(to, 0, TNR_DTYPE_F32, 2, shape, nullptr, &out), TNR_STATUS_OK);
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
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
}

TEST_F(DeviceProgram, EachEntryPointMayFailAndNothingLeaks) {
  if (!tenure::test::is_driver_fake()) GTEST_SKIP() << "a GPU does not fail at will";
  tenure::test::expect_failures_leave_nothing();
}

}  // namespace
