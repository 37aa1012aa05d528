// Programs that are captured on a device: the bits of their runs, launches and waits, refusals and
// the names in them, the objects that they hold, and the order of streams.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "device_child.hpp"
#include "device_program.hpp"
#include "expect_status.hpp"

namespace {

using tenure::test::Child;
using tenure::test::context_on;
using tenure::test::Copied;
using tenure::test::expect_refused;
using tenure::test::Floats;
using tenure::test::kFirstDevice;
using tenure::test::run_child;
using tenure::test::run_on;
using tenure::test::Shape;
using tenure::test::totals_of_all;
using tenure::test::view_over;

std::uint32_t unary(tnr_unary_op op) { return TNR_NODE_UNARY + static_cast<std::uint32_t>(op); }
std::uint32_t binary(tnr_binary_op op) { return TNR_NODE_BINARY + static_cast<std::uint32_t>(op); }
std::uint32_t reduce(tnr_reduce_op op) { return TNR_NODE_REDUCE + static_cast<std::uint32_t>(op); }

tnr_bound* capture_on(tnr_context* context, const tnr_program* program,
                      const std::vector<tnr_view>& inputs, const std::vector<tnr_view_mut>& outputs,
                      std::uint64_t budget_bytes = 0) {
  const tnr_bound_attributes attributes = {sizeof attributes, budget_bytes, TNR_BOUND_CAPTURED, 0};
  std::vector<const tnr_view*> given;
  for (const tnr_view& view : inputs) given.push_back(&view);
  std::vector<const tnr_view_mut*> written;
  for (const tnr_view_mut& view : outputs) written.push_back(&view);
  return tnr_bound_create(context, program, given.data(), static_cast<std::uint32_t>(given.size()),
                          &attributes, written.data(), static_cast<std::uint32_t>(written.size()));
}

tnr_status run_captured(tnr_context* context, const tnr_bound* captured) {
  return tnr_bound_run(context, captured, nullptr, 0, nullptr, nullptr, 0);
}

// Ends with the test.
class Captured {
 public:
  Captured(tnr_context* context, const tnr_program* program, const std::vector<tnr_view>& inputs,
           const std::vector<tnr_view_mut>& outputs)
      : captured_(capture_on(context, program, inputs, outputs)) {
    EXPECT_NE(captured_, nullptr) << tnr_last_error()->message;
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  ~Captured() { EXPECT_EQ(tnr_bound_release(captured_), TNR_STATUS_OK); }

  void run(tnr_context* context) const {
    ASSERT_EQ(run_captured(context, captured_), TNR_STATUS_OK) << tnr_last_error()->message;
  }
  [[nodiscard]] tnr_bound* handle() const { return captured_; }

 private:
  tnr_bound* captured_;
};

class DeviceCapture : public tenure::test::DeviceGraph {
 protected:
  // Writes other elements where those of `array` are.
  void write(const Copied& array, const Floats& from) const {
    const tnr_view view = from.view();
    ASSERT_EQ(tnr_copy(context_, &view, nullptr, &array.out()), TNR_STATUS_OK);
  }
  // The plain run on these elements.
  [[nodiscard]] std::vector<unsigned char> plain(const tnr_program* made, const Floats& from,
                                                 const Copied& like) const {
    const Copied in(context_, from.view());
    const std::vector<float> zeros(static_cast<std::size_t>(tnr_view_count(&like.view())));
    const tnr_view& of = like.view();
    const Copied out(context_, view_over(zeros.data(), {of.shape, of.shape + of.rank}));
    EXPECT_EQ(run_on(context_, made, {in.view()}, {out.out()}), TNR_STATUS_OK)
        << tnr_last_error()->message;
    return out.elements();
  }
  void expect_not_captured(const tnr_program* made, const std::vector<tnr_view>& inputs,
                           const std::vector<tnr_view_mut>& outputs, tnr_status status,
                           std::initializer_list<std::string> words) const {
    const tnr_stats before = totals_of_all();
    expect_refused(capture_on(context_, made, inputs, outputs), status, words);
    const tnr_stats after = totals_of_all();
    EXPECT_EQ(after.device_launches, before.device_launches);
    EXPECT_EQ(after.device_waits, before.device_waits);
    EXPECT_EQ(after.blobs_made - before.blobs_made, after.blobs_finished - before.blobs_finished);
  }
};

// ---- runs ----

// Twenty nodes: fused launches, a function that is a call of its own, a product, reductions that
// hold parts in memory of their own, a softmax, and copies.
class Network : public DeviceCapture {
 protected:
  static constexpr std::int64_t kRows = 3;
  static constexpr std::int64_t kColumns = 3000;

  void build() {
    const std::uint32_t x = input({kRows, kColumns});
    std::uint32_t value = node(binary(TNR_BINARY_OP_ADD), {x, constant(bias_.view())});
    for (int i = 0; i < 5; ++i) {
      value = node(binary(TNR_BINARY_OP_MUL), {value, scalar(0.75)});
      value = node(unary(TNR_UNARY_OP_TANH), {value});
    }
    tnr_reduce_attributes keeps = {};
    keeps.struct_size = sizeof keeps;
    const std::uint32_t sum = node(reduce(TNR_REDUCE_OP_SUM), {value}, {}, &keeps, 3);
    const std::uint32_t less = node(binary(TNR_BINARY_OP_SUB), {value, sum});
    const std::uint32_t soft =
        node(TNR_NODE_NORMALIZE + TNR_NORMALIZE_OP_SOFTMAX, {less}, {}, nullptr, 2);
    const std::uint32_t turned = node(TNR_NODE_PERMUTE, {soft}, {1, 0});
    const std::uint32_t product = node(TNR_NODE_MATMUL, {value, turned});
    const std::uint32_t most = node(reduce(TNR_REDUCE_OP_MAX), {product}, {}, &keeps, 2);
    const std::uint32_t scaled = node(binary(TNR_BINARY_OP_DIV), {product, most});
    const std::uint32_t both = node(TNR_NODE_CONCAT, {scaled, product}, {0});
    output(node(unary(TNR_UNARY_OP_EXP), {both}));
  }
  [[nodiscard]] static Floats elements(int round) {
    return {{kRows, kColumns}, static_cast<float>(round) * 0.25f - 1, 0.0625f};
  }

  Floats bias_{{kColumns}, -1, 0.03125f};
};

TEST_F(Network, RunsHaveTheBitsOfTheProgram) {
  build();
  const tnr_program* const made = program();
  const Copied x(context_, elements(0).view());
  const Copied out = floats({2 * kRows, kRows}, -5);
  // Its constants are copied; else nothing waits, and nothing of the run happens.
  const tnr_stats at_first = totals_of_all();
  const Captured captured(context_, made, {x.view()}, {out.out()});
  EXPECT_EQ(totals_of_all().device_waits, at_first.device_waits + 1);
  EXPECT_EQ(totals_of_all().device_launches, at_first.device_launches);
  EXPECT_EQ(out.floats(), std::vector<float>(2 * kRows * kRows, -5));
  for (int round = 1; round < 4; ++round) {
    write(x, elements(round));
    const tnr_stats before = totals_of_all();
    captured.run(context_);
    const tnr_stats after = totals_of_all();
    EXPECT_EQ(after.device_launches, before.device_launches + 1);
    EXPECT_EQ(after.device_waits, before.device_waits);
    EXPECT_EQ(after.blobs_made, before.blobs_made);
    EXPECT_EQ(out.elements(), plain(made, elements(round), out)) << round;
  }
  // Its memory serves one run after the other.
  for (int i = 0; i < 3; ++i) captured.run(context_);
  EXPECT_EQ(out.elements(), plain(made, elements(3), out));
}

TEST_F(Network, ItOutlivesTheProgramAndItsConstants) {
  build();
  tnr_program* const made = program();
  const Copied x(context_, elements(1).view());
  const Copied out = floats({2 * kRows, kRows}, -5);
  const std::vector<unsigned char> expected = plain(made, elements(1), out);
  const tnr_stats before = totals_of_all();
  {
    const Captured captured(context_, made, {x.view()}, {out.out()});
    programs.clear();
    EXPECT_EQ(tnr_program_release(made), TNR_STATUS_OK);
    captured.run(context_);
    EXPECT_EQ(out.elements(), expected);
  }
  // Its memory ends, and the constants.
  EXPECT_EQ(totals_of_all().blobs_made, before.blobs_made + 1);
  EXPECT_EQ(totals_of_all().blobs_finished, before.blobs_finished + 2);
}

TEST_F(DeviceCapture, AnInputIsUpdatedByEachRun) {
  const std::uint32_t w = input({4});
  output(node(binary(TNR_BINARY_OP_MUL), {w, scalar(2)}), 0);
  const Copied there = floats({4}, 1);
  const Captured captured(context_, program(), {there.view()}, {there.out()});
  EXPECT_EQ(there.floats(), std::vector<float>(4, 1));
  for (int i = 0; i < 3; ++i) captured.run(context_);
  EXPECT_EQ(there.floats(), std::vector<float>(4, 8));
}

TEST_F(DeviceCapture, EmptyAndStridedViewsAreTaken) {
  std::int64_t n = 0;
  ASSERT_EQ(tnr_graph_add_extent(graph, "n", 4, &n), TNR_STATUS_OK);
  output(node(unary(TNR_UNARY_OP_NEG), {input({n, 3})}));
  const tnr_program* const made = program();
  const Copied nothing = floats({0, 3});
  const Copied empty_out = floats({0, 3});
  const Captured of_nothing(context_, made, {nothing.view()}, {empty_out.out()});
  of_nothing.run(context_);
  const Floats here({3, 4}, 1, 0.25f);
  const Copied there(context_, here.view());
  tnr_view turned = there.view();
  std::swap(turned.shape[0], turned.shape[1]);
  std::swap(turned.strides[0], turned.strides[1]);
  const Copied out = floats({4, 3});
  const Captured captured(context_, made, {turned}, {out.out()});
  captured.run(context_);
  std::vector<float> expected;
  for (std::size_t i = 0; i < 12; ++i) expected.push_back(-here.values[i % 3 * 4 + i / 3]);
  EXPECT_EQ(out.floats(), expected);
}

// ---- refusals, by their names ----

TEST_F(DeviceCapture, NodesThatWaitAreNamed) {
  const std::uint32_t x = input({4}, TNR_DTYPE_I64);
  const std::uint32_t twice = node(binary(TNR_BINARY_OP_ADD), {x, x});
  output(node(binary(TNR_BINARY_OP_DIV), {twice, x}));
  const std::vector<std::int64_t> ones(4, 1);
  const Copied a(context_, view_over(ones.data(), {4}, TNR_DTYPE_I64));
  const Copied out(context_, view_over(ones.data(), {4}, TNR_DTYPE_I64));
  expect_not_captured(program(), {a.view()}, {out.out()}, TNR_STATUS_UNSUPPORTED,
                      {"nodes[1], div: waits for what it finds in the data, which recorded work"});
}

TEST_F(DeviceCapture, NodesThatReadByIndexAreNamed) {
  const std::uint32_t x = input({4});
  const std::uint32_t indices = input({2}, TNR_DTYPE_I64);
  output(node(TNR_NODE_TAKE, {node(unary(TNR_UNARY_OP_NEG), {x}), indices}, {0}));
  const std::vector<std::int64_t> ones(2, 1);
  const Copied a = floats({4}, 1);
  const Copied at(context_, view_over(ones.data(), {2}, TNR_DTYPE_I64));
  const Copied out = floats({2}, -5);
  const tnr_program* const made = program();
  expect_not_captured(made, {a.view(), at.view()}, {out.out()}, TNR_STATUS_UNSUPPORTED,
                      {"nodes[1], take: waits"});
  // The plain run takes it, before and after.
  ASSERT_EQ(run_on(context_, made, {a.view(), at.view()}, {out.out()}), TNR_STATUS_OK);
  EXPECT_EQ(out.floats(), std::vector<float>(2, -1));
}

TEST_F(DeviceCapture, BranchesLoopsAndExtentsOfTheDataAreNamed) {
  const Copied a = floats({4}, 1);
  const Copied out = floats({4}, -5);
  const auto body = [&](const auto& build) {
    tnr_graph* const around = std::exchange(graph, tnr_graph_create());
    build();
    std::uint32_t index = TNR_OPERAND_NONE;
    EXPECT_EQ(tnr_graph_add_subgraph(around, graph, &index), TNR_STATUS_OK);
    EXPECT_EQ(tnr_graph_release(std::exchange(graph, around)), TNR_STATUS_OK);
    return std::int64_t{index};
  };
  const auto started_anew = [&] {
    EXPECT_EQ(tnr_graph_release(std::exchange(graph, tnr_graph_create())), TNR_STATUS_OK);
  };
  const auto positive = [&](std::uint32_t of) {
    return node(TNR_NODE_COMPARE + TNR_COMPARE_OP_GT, {of, scalar(0)});
  };
  const auto negated = [&] { output(node(unary(TNR_UNARY_OP_NEG), {input({4})})); };
  {
    const std::uint32_t x = input({4});
    const std::uint32_t any = node(reduce(TNR_REDUCE_OP_ANY), {positive(x)}, {}, nullptr, 1);
    output(node(TNR_NODE_COND, {any, x}, {body(negated), body(negated)}));
    expect_not_captured(program(), {a.view()}, {out.out()}, TNR_STATUS_UNSUPPORTED,
                        {"nodes[2], cond: cond is computed only on the CPU"});
  }
  started_anew();
  {
    const std::int64_t verdict = body(
        [&] { output(node(reduce(TNR_REDUCE_OP_ANY), {positive(input({4}))}, {}, nullptr, 1)); });
    output(node(TNR_NODE_WHILE, {input({4})}, {verdict, body(negated), 3}));
    expect_not_captured(program(), {a.view()}, {out.out()}, TNR_STATUS_UNSUPPORTED,
                        {"nodes[0], while: while is computed only on the CPU"});
  }
  started_anew();
  {
    std::int64_t hits = 0;
    ASSERT_EQ(tnr_graph_add_extent(graph, "hits", 4, &hits), TNR_STATUS_OK);
    const std::uint32_t x = input({4});
    output(node(TNR_NODE_MASKED_SELECT, {x, positive(x)}, {hits}));
    expect_not_captured(program(), {a.view()}, {out.out()}, TNR_STATUS_UNSUPPORTED,
                        {"nodes[1], masked_select: masked_select is computed only on the CPU"});
  }
}

tnr_status infer_same(void*, const tnr_view* operands, std::uint32_t, const std::int64_t*,
                      std::uint32_t, tnr_dtype* dtype, std::uint32_t* rank, std::int64_t* shape) {
  *dtype = operands[0].dtype;
  *rank = operands[0].rank;
  std::copy_n(operands[0].shape, operands[0].rank, shape);
  return TNR_STATUS_OK;
}
tnr_status compute_never(void*, const tnr_view*, std::uint32_t, const std::int64_t*, std::uint32_t,
                         const tnr_view_mut*) {
  ADD_FAILURE() << "called";
  return TNR_STATUS_OK;
}
tnr_status compute_never_there(void*, tnr_context*, const tnr_view*, std::uint32_t,
                               const std::int64_t*, std::uint32_t, const tnr_view_mut*) {
  ADD_FAILURE() << "called";
  return TNR_STATUS_OK;
}

TEST_F(DeviceCapture, OperationsOfOnesOwnAreNamed) {
  tnr_custom_operation own =
      tenure::test::operation_of("own", infer_same, compute_never, nullptr, 1);
  own.compute_on_device = compute_never_there;
  std::uint32_t index = 0;
  ASSERT_EQ(tnr_graph_add_custom(graph, &own, &index), TNR_STATUS_OK);
  output(node(TNR_NODE_CUSTOM + index, {input({4})}));
  const Copied a = floats({4}, 1);
  const Copied out = floats({4}, -5);
  expect_not_captured(program(), {a.view()}, {out.out()}, TNR_STATUS_UNSUPPORTED,
                      {"nodes[0], own: calls a function of one's own"});
}

TEST_F(DeviceCapture, ArgumentsAreCheckedAsOfARun) {
  output(node(unary(TNR_UNARY_OP_NEG), {input({4})}));
  const tnr_program* const made = program();
  const Copied four = floats({4}, 1);
  const Copied three = floats({3}, -5);
  const Copied out = floats({4}, -5);
  const Floats here({4}, 1, 0);
  const auto refused = [&](const std::vector<tnr_view>& inputs,
                           const std::vector<tnr_view_mut>& outputs, tnr_status status,
                           std::initializer_list<std::string> words) {
    expect_not_captured(made, inputs, outputs, status, words);
  };
  refused({three.view()}, {out.out()}, TNR_STATUS_INVALID_ARGUMENT, {"inputs[0]"});
  refused({four.view()}, {three.out()}, TNR_STATUS_INVALID_ARGUMENT, {"outputs[0] is f32"});
  refused({four.view()}, {four.out()}, TNR_STATUS_ALIASED, {"outputs[0] shares a byte"});
  refused({four.view()}, {}, TNR_STATUS_INVALID_ARGUMENT, {"output_count is 0"});
  refused({here.view()}, {out.out()}, TNR_STATUS_UNSUPPORTED, {"inputs[0].device is the CPU"});
  tnr_view wild;
  {
    const Copied ended = floats({4}, 1);
    wild = ended.view();
  }
  refused({wild}, {out.out()}, TNR_STATUS_STALE_VIEW, {"inputs[0]"});
  refused({four.view()}, {{wild}}, TNR_STATUS_STALE_VIEW, {"outputs[0]"});
  expect_refused(capture_on(nullptr, made, {four.view()}, {out.out()}), TNR_STATUS_INVALID_ARGUMENT,
                 {"the context of the call has no device"});
  const Captured captured(context_, made, {four.view()}, {out.out()});
  expect_refused(run_captured(nullptr, captured.handle()), TNR_STATUS_INVALID_ARGUMENT,
                 {"captured on cuda:0", "the CPU"});
  EXPECT_EQ(out.floats(), std::vector<float>(4, -5));
}

TEST_F(Network, RunsHaveNoArguments) {
  build();
  const tnr_program* const made = program();
  const Copied x(context_, elements(0).view());
  const Copied out = floats({2 * kRows, kRows}, -5);
  expect_refused(capture_on(context_, made, {x.view()}, {out.out()}, 100), TNR_STATUS_OUT_OF_MEMORY,
                 {"the budget is 100"});
  const Captured captured(context_, made, {x.view()}, {out.out()});
  tnr_memory_plan plan = {};
  plan.struct_size = sizeof plan;
  ASSERT_EQ(tnr_bound_memory(captured.handle(), &plan), TNR_STATUS_OK);
  EXPECT_GT(plan.peak_bytes, 100u);
  EXPECT_GT(plan.scratch_bytes, 0u);  // of the reductions
  // A run has no arguments and no attributes.
  const tnr_view view = x.view();
  const tnr_view_mut to = out.out();
  const tnr_view* const inputs[] = {&view};
  const tnr_view_mut* const outputs[] = {&to};
  expect_refused(tnr_bound_run(context_, captured.handle(), inputs, 1, nullptr, nullptr, 0),
                 TNR_STATUS_INVALID_ARGUMENT, {"input_count is 1 but must be 0"});
  expect_refused(tnr_bound_run(context_, captured.handle(), nullptr, 0, nullptr, outputs, 1),
                 TNR_STATUS_INVALID_ARGUMENT, {"output_count is 1 but must be 0"});
  std::uint64_t nanoseconds[32] = {};
  tnr_program_run_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  EXPECT_EQ(tnr_bound_run(context_, captured.handle(), nullptr, 0, &attributes, nullptr, 0),
            TNR_STATUS_OK);
  attributes.step_nanoseconds = nanoseconds;
  expect_refused(tnr_bound_run(context_, captured.handle(), nullptr, 0, &attributes, nullptr, 0),
                 TNR_STATUS_INVALID_ARGUMENT, {"attributes are not zeros", "one launch"});
}

// ---- the objects that it holds ----

TEST_F(DeviceCapture, BlobsThatAreReleasedStay) {
  output(node(unary(TNR_UNARY_OP_NEG), {input({4})}));
  const Copied out = floats({4}, -5);
  Copied in = floats({4}, 1, 1);
  const tnr_stats before = totals_of_all();
  {
    const Captured captured(context_, program(), {in.view()}, {out.out()});
    in.release();
    EXPECT_EQ(totals_of_all().blobs_finished, before.blobs_finished);
    // Memory that is freed is taken again.
    const Copied other = floats({4}, 7);
    captured.run(context_);
    EXPECT_EQ(out.floats(), (std::vector<float>{-1, -2, 1, 0}));
  }
  EXPECT_EQ(totals_of_all().blobs_finished, before.blobs_finished + 2);
}

TEST_F(DeviceCapture, ABorrowThatEndsIsNotUsed) {
  output(node(unary(TNR_UNARY_OP_NEG), {input({4})}));
  const Copied lent = floats({4}, 1);
  const Copied out = floats({4}, -5);
  tnr_blob* const borrowed = tnr_blob_borrow_on(context_, lent.view().data, 16);
  ASSERT_NE(borrowed, nullptr) << tnr_last_error()->message;
  tnr_view view;
  const std::int64_t shape[] = {4};
  ASSERT_EQ(tnr_blob_view(borrowed, 0, TNR_DTYPE_F32, 1, shape, nullptr, &view), TNR_STATUS_OK);
  {
    const Captured captured(context_, program(), {view}, {out.out()});
    captured.run(context_);
    EXPECT_EQ(out.floats(), std::vector<float>(4, -1));
    EXPECT_EQ(tnr_blob_end_borrow(borrowed), TNR_STATUS_BORROW_ESCAPED);
    expect_refused(run_captured(context_, captured.handle()), TNR_STATUS_STALE_VIEW, {"inputs[0]"});
  }
  EXPECT_EQ(tnr_blob_end_borrow(borrowed), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(borrowed), TNR_STATUS_OK);
}

TEST_F(DeviceCapture, HandlesAreChecked) {
  output(node(unary(TNR_UNARY_OP_NEG), {input({4})}));
  const Copied in = floats({4}, 1);
  const Copied out = floats({4}, -5);
  tnr_program* const made = program();
  tnr_bound* const captured = capture_on(context_, made, {in.view()}, {out.out()});
  ASSERT_NE(captured, nullptr) << tnr_last_error()->message;
  ASSERT_EQ(run_captured(context_, captured), TNR_STATUS_OK);
  const auto token = reinterpret_cast<std::uintptr_t>(captured);
  EXPECT_EQ(tnr_bound_release(captured), TNR_STATUS_OK);
  // The run that was enqueued goes on.
  EXPECT_EQ(out.floats(), std::vector<float>(4, -1));
  // The handle as a number, because the compiler warns of the use of a released handle.
  const volatile std::uintptr_t number = token;
  auto* const stale = reinterpret_cast<tnr_bound*>(number);
  expect_refused(run_captured(context_, stale), TNR_STATUS_STALE_HANDLE,
                 {"a bound program that has been released"});
  EXPECT_EQ(tnr_bound_release(stale), TNR_STATUS_STALE_HANDLE);
  EXPECT_EQ(tnr_bound_release(nullptr), TNR_STATUS_OK);
  auto* const wrong = reinterpret_cast<tnr_bound*>(made);
  expect_refused(run_captured(context_, wrong), TNR_STATUS_STALE_HANDLE, {});
  expect_refused(run_captured(context_, nullptr), TNR_STATUS_STALE_HANDLE, {});
}

// ---- streams and threads ----

// A captured run is ordered like a call: after the work that was enqueued before on its blobs, and
// before the later work on them.
TEST_F(DeviceCapture, RunsAreInTheOrderOfTheirBlobs) {
  output(node(binary(TNR_BINARY_OP_ADD), {node(unary(TNR_UNARY_OP_NEG), {input({4})}), scalar(1)}));
  const tnr_program* const made = program();
  tnr_context* const other = context_on(kFirstDevice);
  ASSERT_NE(other, nullptr);
  const Floats here({4}, 2, 0);
  const Floats nothing({4}, -5, 0);
  for (int i = 0; i < 20; ++i) {
    const Copied out(i % 4 < 2 ? context_ : other, nothing.view());
    {
      const Copied x(other, here.view());
      const Captured captured(context_, made, {x.view()}, {out.out()});
      for (int j = 0; j < 5; ++j) {
        ASSERT_EQ(tnr_unary(other, TNR_UNARY_OP_NEG, &x.view(), nullptr, &x.out()), TNR_STATUS_OK);
      }
      captured.run(i % 2 == 0 ? context_ : other);
      ASSERT_EQ(tnr_unary(other, TNR_UNARY_OP_EXP, &x.view(), nullptr, &x.out()), TNR_STATUS_OK);
    }
    ASSERT_EQ(out.floats(), std::vector<float>(4, 3)) << i;
  }
  ASSERT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

TEST_F(DeviceCapture, StreamsAlternate) {
  output(node(binary(TNR_BINARY_OP_ADD), {input({4}), scalar(1)}), 0);
  const Copied there = floats({4}, 0);
  tnr_context* const other = context_on(kFirstDevice);
  ASSERT_NE(other, nullptr);
  const Captured captured(context_, program(), {there.view()}, {there.out()});
  for (int i = 0; i < 20; ++i) captured.run(i % 3 == 0 ? other : context_);
  EXPECT_EQ(there.floats(), std::vector<float>(4, 20));
  ASSERT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

TEST_F(DeviceCapture, ThreadsRunOne) {
  output(node(binary(TNR_BINARY_OP_ADD), {input({4}), scalar(1)}), 0);
  const Copied there = floats({4}, 0);
  const Captured captured(context_, program(), {there.view()}, {there.out()});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      tnr_context* const own = context_on(kFirstDevice);
      for (int i = 0; i < 10; ++i) captured.run(own);
      EXPECT_EQ(tnr_context_release(own), TNR_STATUS_OK);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(there.floats(), std::vector<float>(4, 40));
}

// Work of other threads is none of a capture.
TEST_F(DeviceCapture, OthersUseTheContextMeanwhile) {
  output(node(binary(TNR_BINARY_OP_MUL), {input({4}), scalar(2)}));
  const tnr_program* const made = program();
  std::thread others([&] {
    for (int i = 0; i < 50; ++i) {
      const Copied a = floats({4}, 1);
      ASSERT_EQ(tnr_unary(context_, TNR_UNARY_OP_NEG, &a.view(), nullptr, &a.out()), TNR_STATUS_OK);
      ASSERT_EQ(a.floats(), std::vector<float>(4, -1));
    }
  });
  for (int i = 0; i < 50; ++i) {
    const Copied in = floats({4}, 1);
    const Copied out = floats({4}, -5);
    const Captured captured(context_, made, {in.view()}, {out.out()});
    captured.run(context_);
    EXPECT_EQ(out.floats(), std::vector<float>(4, 2));
  }
  others.join();
}

// ---- faults ----

// Everything that a captured program does with a device, run in a process of its own.
TEST(DeviceChild, DISABLED_Run) {
  tnr_context* const context = context_on(kFirstDevice);
  if (context == nullptr) {
    std::printf("message: %s\n", tnr_last_error()->message);
    return;
  }
  tnr_graph* const graph = tnr_graph_create();
  const std::int64_t shape[] = {3, 3000};
  const std::int64_t out_shape[] = {3};
  std::uint32_t values[3] = {};
  ASSERT_EQ(tnr_graph_add_input(graph, TNR_DTYPE_F32, 2, shape, &values[0]), TNR_STATUS_OK);
  const auto add = [&](std::uint32_t code, std::uint32_t flags, std::uint32_t a,
                       std::uint32_t* out) {
    tnr_graph_node node = {};
    node.struct_size = sizeof node;
    node.code = code;
    node.operands = &a;
    node.operand_count = 1;
    node.flags = flags;
    ASSERT_EQ(tnr_graph_add_node(graph, &node, out), TNR_STATUS_OK);
  };
  add(unary(TNR_UNARY_OP_NEG), 0, values[0], &values[1]);
  add(reduce(TNR_REDUCE_OP_SUM), 2, values[1], &values[2]);
  ASSERT_EQ(tnr_graph_add_output(graph, values[2], TNR_OPERAND_NONE), TNR_STATUS_OK);
  tnr_program* const made = tnr_program_create(nullptr, graph, nullptr);
  ASSERT_NE(made, nullptr);
  tnr_blob* const in = tnr_blob_alloc(context, 36000);
  tnr_blob* const to = tnr_blob_alloc(context, 12);
  const auto expect_fault = [](tnr_status status) {
    if (status == TNR_STATUS_OK) return;
    EXPECT_TRUE(status == TNR_STATUS_DEVICE_ERROR || status == TNR_STATUS_OUT_OF_MEMORY ||
                status == TNR_STATUS_UNSUPPORTED)
        << tnr_last_error()->message;
    std::printf("message: %s\n", tnr_last_error()->message);
  };
  for (int i = 0; i < 2 && in != nullptr && to != nullptr; ++i) {
    tnr_view a;
    tnr_view_mut all;
    tnr_view_mut out;
    ASSERT_EQ(tnr_blob_view(in, 0, TNR_DTYPE_F32, 2, shape, nullptr, &a), TNR_STATUS_OK);
    ASSERT_EQ(tnr_blob_view_mut(in, 0, TNR_DTYPE_F32, 2, shape, nullptr, &all), TNR_STATUS_OK);
    ASSERT_EQ(tnr_blob_view_mut(to, 0, TNR_DTYPE_F32, 1, out_shape, nullptr, &out), TNR_STATUS_OK);
    const tnr_scalar one = tnr_scalar_f64(1);
    expect_fault(tnr_fill(context, &one, nullptr, &all));
    tnr_bound* const captured = capture_on(context, made, {a}, {out});
    if (captured == nullptr) expect_fault(tnr_last_error()->status);
    // Whatever became of the capture, the stream is as it was.
    for (int j = 0; j < 2 && captured != nullptr; ++j) {
      expect_fault(run_captured(context, captured));
    }
    expect_fault(run_on(context, made, {a}, {out}));
    float sums[3] = {};
    const tnr_view_mut here = {view_over(sums, {3})};
    const tnr_status copied = tnr_copy(context, &out.view, nullptr, &here);
    expect_fault(copied);
    if (copied == TNR_STATUS_OK && tnr_last_error()->status == TNR_STATUS_OK) {
      EXPECT_EQ(sums[2], -3000);
    }
    EXPECT_EQ(tnr_bound_release(captured), TNR_STATUS_OK);
  }
  EXPECT_EQ(tnr_blob_release(in), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(to), TNR_STATUS_OK);
  EXPECT_EQ(tnr_program_release(made), TNR_STATUS_OK);
  EXPECT_EQ(tnr_graph_release(graph), TNR_STATUS_OK);
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
}

// The driver by itself: what the rehearsal keeps away from a capture is refused there, as a GPU's
// driver refuses it, so that the tests above would see it.
TEST_F(DeviceCapture, TheFakeDriverRefusesWhatNoCaptureTakes) {
  if (!tenure::test::is_driver_fake()) GTEST_SKIP() << "it is another driver";
  using namespace tenure::cuda;
  void* const library = dlopen(std::getenv("TENURE_CUDA_DRIVER"), RTLD_NOW);
  ASSERT_NE(library, nullptr);
  const auto find = reinterpret_cast<Result (*)(const char*, void**, int, std::uint64_t, int*)>(
      dlsym(library, "cuGetProcAddress_v2"));
  Driver table;
  int query = 0;
#define TENURE_FIND(member, name, version, parameters) \
  ASSERT_EQ(find(name, reinterpret_cast<void**>(&table.member), version, 0, &query), Result{0});
  TENURE_CUDA_ALL_ENTRY_POINTS(TENURE_FIND)
#undef TENURE_FIND
  PrimaryContext context = nullptr;
  ASSERT_EQ(table.primary_retain(&context, 0), Result::kSuccess);
  ASSERT_EQ(table.context_push(context), Result::kSuccess);
  Stream stream = nullptr;
  Event event = nullptr;
  ASSERT_EQ(table.stream_create(&stream, kStreamNonBlocking), Result::kSuccess);
  ASSERT_EQ(table.event_create(&event, kEventDisableTiming), Result::kSuccess);
  ASSERT_EQ(table.event_record(event, stream), Result::kSuccess);
  Address memory = 0;
  ASSERT_EQ(table.allocate(&memory, 64, stream), Result::kSuccess);
  constexpr Result kUnsupported = Result{900};
  const auto expect_refused_in_capture = [&](Result expected, const auto& call) {
    ASSERT_EQ(table.capture_begin(stream, kCaptureThreadLocal), Result::kSuccess);
    EXPECT_EQ(call(), expected);
    // Nothing of it is left, and the stream is as it was.
    Graph none = nullptr;
    EXPECT_EQ(table.fill_bytes(memory, 1, 64, stream), Result{901});
    EXPECT_EQ(table.capture_end(stream, &none), Result{901});
    EXPECT_EQ(none, nullptr);
    EXPECT_EQ(table.stream_synchronize(stream), Result::kSuccess);
  };
  expect_refused_in_capture(kUnsupported, [&] { return table.stream_synchronize(stream); });
  expect_refused_in_capture(kUnsupported, [&] { return table.context_synchronize(); });
  expect_refused_in_capture(kUnsupported, [&] { return table.event_synchronize(event); });
  expect_refused_in_capture(kUnsupported, [&] { return table.event_query(event); });
  expect_refused_in_capture(kUnsupported, [&] {
    Address other = 0;
    return table.allocate(&other, 64, stream);
  });
  expect_refused_in_capture(kUnsupported, [&] {
    void* pinned = nullptr;
    return table.allocate_pinned(&pinned, 64, kPinnedPortable);
  });
  expect_refused_in_capture(Result{905}, [&] { return table.stream_wait_event(stream, event, 0); });
  // Another thread may wait for events during the capture, and cannot end it.
  ASSERT_EQ(table.capture_begin(stream, kCaptureThreadLocal), Result::kSuccess);
  Graph ended = nullptr;
  std::thread([&] {
    EXPECT_EQ(table.context_push(context), Result::kSuccess);
    EXPECT_EQ(table.event_synchronize(event), Result::kSuccess);
    EXPECT_EQ(table.capture_end(stream, &ended), Result{908});
  }).join();
  EXPECT_EQ(table.fill_bytes(memory, 7, 64, stream), Result::kSuccess);
  EXPECT_EQ(table.capture_end(stream, &ended), Result::kSuccess);
  GraphRun run = nullptr;
  ASSERT_EQ(table.graph_instantiate(&run, ended, 0), Result::kSuccess);
  EXPECT_EQ(table.graph_destroy(ended), Result::kSuccess);
  // Nothing has run before it is launched.
  const auto first_byte = [&] {
    unsigned char byte = 0;
    EXPECT_EQ(table.copy_to_host(&byte, memory, 1, stream), Result::kSuccess);
    EXPECT_EQ(table.stream_synchronize(stream), Result::kSuccess);
    return byte;
  };
  EXPECT_NE(first_byte(), 7);
  EXPECT_EQ(table.graph_launch(run, stream), Result::kSuccess);
  EXPECT_EQ(first_byte(), 7);
  EXPECT_EQ(table.graph_run_destroy(run), Result::kSuccess);
  EXPECT_EQ(table.free(memory, stream), Result::kSuccess);
  EXPECT_EQ(table.event_destroy(event), Result::kSuccess);
  EXPECT_EQ(table.stream_destroy(stream), Result::kSuccess);
  PrimaryContext popped = nullptr;
  EXPECT_EQ(table.context_pop(&popped), Result::kSuccess);
}

TEST_F(DeviceCapture, EachEntryPointMayFailAndNothingLeaks) {
  if (!tenure::test::is_driver_fake()) GTEST_SKIP() << "a GPU does not fail at will";
  tenure::test::expect_failures_leave_nothing();
}

TEST_F(DeviceCapture, EachEntryPointMayLack) {
  if (!tenure::test::is_driver_fake()) GTEST_SKIP() << "a GPU's driver has them";
#define TENURE_NAME(member, name, version, parameters) name,
  for (const std::string name : {TENURE_CUDA_GRAPH_ENTRY_POINTS(TENURE_NAME)}) {
#undef TENURE_NAME
    tenure::test::expect_child_says("TENURE_FAKE_CUDA_LACKS=" + name,
                                    "work cannot be recorded: the driver has no " + name);
  }
}

}  // namespace
