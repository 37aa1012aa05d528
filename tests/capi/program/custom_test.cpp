// Custom operations through C: the views that they get, the messages of their failures, and the
// faults that a checked run finds; and plug-ins, which contain custom operations.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "expect_status.hpp"
#include "program_graph.hpp"
#include "tenure/tenure.h"

using tenure::test::CGraph;
using tenure::test::expect_refused;
using tenure::test::Floats;
using tenure::test::operation_of;

namespace {

constexpr std::uint32_t kAdd = TNR_NODE_BINARY + TNR_BINARY_OP_ADD;
constexpr std::uint32_t kNegate = TNR_NODE_UNARY + TNR_UNARY_OP_NEG;

// Doubles its operand, except where `fault` changes its behaviour.
struct Doubling {
  enum class Fault {
    kNone,
    kFails,
    kTells,
    kAnswersNoStatus,
    kThrows,
    kLeavesOut,
    kWritesBehind,
    kWritesToItsOperand,
    kGivesTwoResults,
    kWritesBeforeItReads,
    kKeepsAView,
    kHoldsItsOperand,
    kGivesItsOperandUp
  };
  Fault fault = Fault::kNone;
  std::atomic<int> calls = 0;
  int releases = 0;
  tnr_view kept = {};
  tnr_blob* held = nullptr;

  static tnr_status infer(void*, const tnr_view* operands, std::uint32_t count,
                          const std::int64_t* numbers, std::uint32_t, tnr_dtype* dtype,
                          std::uint32_t* rank, std::int64_t* shape) {
    if (count != 1 || operands[0].dtype != TNR_DTYPE_F32 || operands[0].data != nullptr ||
        numbers[0] != 2) {
      return TNR_STATUS_UNSUPPORTED;
    }
    *dtype = operands[0].dtype;
    *rank = operands[0].rank;
    std::copy_n(operands[0].shape, *rank, shape);
    return TNR_STATUS_OK;
  }
  static tnr_status compute(void* context, const tnr_view* operands, std::uint32_t,
                            const std::int64_t* numbers, std::uint32_t, const tnr_view_mut* out) {
    auto& self = *static_cast<Doubling*>(context);
    const int call = self.calls++;
    auto* const elements = static_cast<float*>(const_cast<void*>(out->view.data));
    auto* const operand = reinterpret_cast<tnr_blob*>(operands[0].owner);
    switch (self.fault) {
      case Fault::kFails: return TNR_STATUS_DEVICE_ERROR;
      case Fault::kTells: return tnr_set_last_error(TNR_STATUS_BUSY, "the device is away");
      case Fault::kAnswersNoStatus: return 77;
      case Fault::kThrows: throw 7;
      case Fault::kWritesBeforeItReads: std::fill_n(elements, 4, 0.0f); break;
      case Fault::kKeepsAView: self.kept = operands[0]; break;
      case Fault::kHoldsItsOperand: self.held = tnr_blob_retain(operand); break;
      case Fault::kGivesItsOperandUp: EXPECT_EQ(tnr_blob_release(operand), TNR_STATUS_OK); break;
      default: break;
    }
    // It may use the library.
    const tnr_scalar by =
        tnr_scalar_i64(numbers[0] + (self.fault == Fault::kGivesTwoResults ? call % 2 : 0));
    tnr_view_mut part = *out;
    if (self.fault == Fault::kLeavesOut) part.view.shape[0] -= 1;
    tnr_view source = operands[0];
    source.shape[0] = part.view.shape[0];
    const tnr_status status =
        tnr_binary_scalar(nullptr, TNR_BINARY_OP_MUL, &source, &by, nullptr, &part);
    if (self.fault == Fault::kWritesBehind) elements[tnr_view_count(&out->view)] = 1;
    if (self.fault == Fault::kWritesToItsOperand) {
      static_cast<float*>(const_cast<void*>(operands[0].data))[1] = 9;
    }
    return status;
  }
  static void release(void* context) { ++static_cast<Doubling*>(context)->releases; }

  tnr_custom_operation operation() {
    tnr_custom_operation of = operation_of("doubled", infer, compute, this, 1);
    of.release = release;
    of.number_count = 1;
    return of;
  }
};

TEST_F(CGraph, HasOperationsOfItsUsers) {
  Doubling doubling;
  const tnr_custom_operation operation = doubling.operation();
  std::uint32_t index = 9;
  ASSERT_EQ(tnr_graph_add_custom(graph, &operation, &index), TNR_STATUS_OK);
  EXPECT_EQ(index, 0u);
  tnr_custom_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(tnr_graph_describe_custom(graph, 0, &info), TNR_STATUS_OK);
  EXPECT_STREQ(info.name, "doubled");
  EXPECT_EQ(info.operand_count, 1u);
  EXPECT_EQ(info.number_count, 1u);
  expect_refused(tnr_graph_describe_custom(graph, 1, &info), TNR_STATUS_INVALID_ARGUMENT,
                 {"no operation 1"});
  const std::uint32_t x = input({4});
  output(node(kAdd, {node(TNR_NODE_CUSTOM, {x}, {2}), scalar(1)}));
  std::uint32_t value = 0;
  expect_refused(add(TNR_NODE_CUSTOM, {x}, {3}, nullptr, 0, &value), TNR_STATUS_UNSUPPORTED,
                 {"doubled: infer of the custom operation doubled answered UNSUPPORTED"});
  expect_refused(add(TNR_NODE_CUSTOM, {x, x}, {2}, nullptr, 0, &value), TNR_STATUS_INVALID_ARGUMENT,
                 {"doubled takes 1 and 1"});
  expect_refused(add(TNR_NODE_CUSTOM + 1, {x}, {2}, nullptr, 0, &value),
                 TNR_STATUS_INVALID_ARGUMENT, {"no custom operation 1"});
  tnr_program* const made = tnr_program_create(nullptr, graph, nullptr);
  ASSERT_NE(made, nullptr);
  Floats a({4}, -1, 0.5f);
  Floats out({4});
  const auto run_with = [&](Doubling::Fault fault, std::uint32_t flags) {
    doubling.fault = fault;
    return run(made, {a.view()}, {out.out()}, 0, flags);
  };
  using enum Doubling::Fault;
  for (const std::uint32_t flags : {0u, std::uint32_t{TNR_RUN_CHECKED}}) {
    out = Floats({4});
    ASSERT_EQ(run_with(kNone, flags), TNR_STATUS_OK) << tnr_last_error()->message;
    EXPECT_EQ(out.values, (std::vector<float>{-1, 0, 1, 2}));
    expect_refused(run_with(kFails, flags), TNR_STATUS_DEVICE_ERROR,
                   {"nodes[0], doubled: compute of the custom operation doubled answered DEVICE_"});
    expect_refused(run_with(kTells, flags), TNR_STATUS_BUSY,
                   {"nodes[0], doubled: compute of the custom operation doubled: the device is"});
    expect_refused(run_with(kAnswersNoStatus, flags), TNR_STATUS_INTERNAL, {"77, which is no"});
    expect_refused(run_with(kThrows, flags), TNR_STATUS_INTERNAL, {"threw an exception"});
  }
  EXPECT_EQ(doubling.calls, 11);
  expect_refused(run_with(kLeavesOut, TNR_RUN_CHECKED), TNR_STATUS_INTERNAL,
                 {"left an element unwritten"});
  expect_refused(run_with(kWritesBehind, TNR_RUN_CHECKED), TNR_STATUS_INTERNAL,
                 {"wrote outside of its output"});
  expect_refused(run_with(kGivesTwoResults, TNR_RUN_CHECKED), TNR_STATUS_INTERNAL,
                 {"gave two results"});
  expect_refused(run_with(kWritesToItsOperand, TNR_RUN_CHECKED), TNR_STATUS_INTERNAL,
                 {"wrote to operand 0"});
  // The graph goes first, and the program has it still.
  EXPECT_EQ(tnr_graph_release(graph), TNR_STATUS_OK);
  graph = nullptr;
  EXPECT_EQ(doubling.releases, 0);
  EXPECT_EQ(run_with(kNone, 0), TNR_STATUS_OK);
  EXPECT_EQ(tnr_program_release(made), TNR_STATUS_OK);
  EXPECT_EQ(doubling.releases, 1);
}

TEST_F(CGraph, RefusesOperationsThatAreNone) {
  Doubling doubling;
  std::uint32_t index = 9;
  const auto expect_no = [&](auto change, const char* words) {
    tnr_custom_operation operation = doubling.operation();
    change(operation);
    expect_refused(tnr_graph_add_custom(graph, &operation, &index), TNR_STATUS_INVALID_ARGUMENT,
                   {words});
  };
  expect_no([](auto& of) { of.name = nullptr; }, "name is NULL");
  expect_no([](auto& of) { of.name = ""; }, "has no bytes");
  expect_no([](auto& of) { of.name = "a name that is longer than it may be"; }, "has more bytes");
  expect_no([](auto& of) { of.infer = nullptr; }, "infer is NULL");
  expect_no([](auto& of) { of.compute = nullptr; }, "compute is NULL");
  expect_no([](auto& of) { of.flags = 8; }, "flags is unknown");
  expect_no([](auto& of) { of.reserved = 1; }, "reserved is unknown");
  expect_no([](auto& of) { of.struct_size = offsetof(tnr_custom_operation, derive); },
            "struct_size is 72 but must be at least 80");
  expect_no([](auto& of) { of.operand_count = 257; }, "takes 257 operands");
  expect_no(
      [](auto& of) {
        of.flags = TNR_CUSTOM_IN_PLACE;
        of.operand_count = 0;
      },
      "in place but takes no operand");
  EXPECT_EQ(index, 9u);
  EXPECT_EQ(doubling.releases, 0);
}

// Views that a checked run lends have owners that end with it.
TEST_F(CGraph, SeesWhatAnOperationKeeps) {
  using enum Doubling::Fault;
  Doubling doubling;
  const tnr_custom_operation operation = doubling.operation();
  std::uint32_t index = 9;
  ASSERT_EQ(tnr_graph_add_custom(graph, &operation, &index), TNR_STATUS_OK);
  output(node(TNR_NODE_CUSTOM, {input({4})}, {2}));
  const tnr_program* const made = program();
  const Floats a({4}, -1, 0.5f);
  Floats out({4});
  const auto run_with = [&](Doubling::Fault fault) {
    doubling.fault = fault;
    return run(made, {a.view()}, {out.out()}, 0, TNR_RUN_CHECKED);
  };
  EXPECT_EQ(run_with(kKeepsAView), TNR_STATUS_OK);
  expect_refused(
      tnr_unary(nullptr, TNR_UNARY_OP_NEG, &doubling.kept, nullptr, std::array{out.out()}.data()),
      TNR_STATUS_STALE_VIEW, {});
  expect_refused(run_with(kHoldsItsOperand), TNR_STATUS_INTERNAL,
                 {"holds memory that it was lent"});
  EXPECT_EQ(tnr_blob_release(doubling.held), TNR_STATUS_OK);
  expect_refused(run_with(kGivesItsOperandUp), TNR_STATUS_STALE_VIEW, {"has been released"});
  EXPECT_EQ(run_with(kNone), TNR_STATUS_OK);
  release_all();
}

// Where nothing reads the operand afterwards, and it is no input.
TEST_F(CGraph, MayComputeInPlace) {
  using enum Doubling::Fault;
  Doubling doubling;
  tnr_custom_operation operation = doubling.operation();
  operation.flags = TNR_CUSTOM_IN_PLACE | TNR_CUSTOM_INITIALIZED;
  std::uint32_t index = 9;
  ASSERT_EQ(tnr_graph_add_custom(graph, &operation, &index), TNR_STATUS_OK);
  const std::uint32_t doubled = node(TNR_NODE_CUSTOM, {node(kNegate, {input({4})})}, {2});
  output(node(kAdd, {doubled, scalar(1)}));
  const tnr_program* const made = program();
  const Floats a({4}, -1, 0.5f);
  const tnr_memory_plan plan = memory(made, {a.view()});
  EXPECT_EQ(plan.total_bytes - plan.live_bytes, 0u);
  for (const std::uint32_t flags : {0u, std::uint32_t{TNR_RUN_CHECKED}}) {
    Floats out({4});
    ASSERT_EQ(run(made, {a.view()}, {out.out()}, 0, flags), TNR_STATUS_OK);
    EXPECT_EQ(out.values, (std::vector<float>{3, 2, 1, 0}));
  }
  doubling.fault = kWritesBeforeItReads;
  Floats out({4});
  expect_refused(run(made, {a.view()}, {out.out()}, 0, TNR_RUN_CHECKED), TNR_STATUS_INTERNAL,
                 {"gave another result in place"});
  release_all();
}

// Sets N floats to 7, where N is its number, and records their previous values.
struct Initialized {
  std::vector<float> seen;

  static tnr_status infer(void*, const tnr_view*, std::uint32_t, const std::int64_t* numbers,
                          std::uint32_t, tnr_dtype* dtype, std::uint32_t* rank,
                          std::int64_t* shape) {
    *dtype = TNR_DTYPE_F32;
    *rank = 1;
    shape[0] = numbers[0];
    return TNR_STATUS_OK;
  }
  static tnr_status compute(void* context, const tnr_view*, std::uint32_t, const std::int64_t*,
                            std::uint32_t, const tnr_view_mut* out) {
    auto* const elements = static_cast<float*>(const_cast<void*>(out->view.data));
    for (std::int64_t i = 0; i < out->view.shape[0]; ++i) {
      float& element = elements[i * out->view.strides[0]];
      static_cast<Initialized*>(context)->seen.push_back(element);
      element = 7;
    }
    return TNR_STATUS_OK;
  }
};

TEST_F(CGraph, LendsInitializedMemory) {
  Initialized initialized;
  tnr_custom_operation operation =
      operation_of("sevens", Initialized::infer, Initialized::compute, &initialized, 0);
  operation.number_count = 1;
  operation.flags = TNR_CUSTOM_INITIALIZED;
  std::uint32_t index = 9;
  ASSERT_EQ(tnr_graph_add_custom(graph, &operation, &index), TNR_STATUS_OK);
  // Without an operand: its addresses may be NULL.
  output(node(TNR_NODE_CUSTOM, {}, {3}));
  output(node(TNR_NODE_CUSTOM, {}, {0}));
  Floats out({6});
  Floats empty({0});
  std::fill(out.values.begin(), out.values.end(), 5.0f);
  tnr_view_mut apart = out.out();
  apart.view.shape[0] = 3;
  apart.view.strides[0] = 2;
  ASSERT_EQ(run(program(), {}, {apart, empty.out()}), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(out.values, (std::vector<float>{7, 5, 7, 5, 7, 5}));
  EXPECT_EQ(initialized.seen, (std::vector<float>{0, 0, 0}));
  release_all();
}

// Calls the library with `graph` and `program` from inside its own functions.
struct CallsBack {
  tnr_graph* graph = nullptr;
  const tnr_program* program = nullptr;
  tnr_status of_graph = TNR_STATUS_OK;

  static tnr_status infer(void* context, const tnr_view* operands, std::uint32_t,
                          const std::int64_t*, std::uint32_t, tnr_dtype* dtype, std::uint32_t* rank,
                          std::int64_t* shape) {
    auto& self = *static_cast<CallsBack*>(context);
    std::uint32_t value = 0;
    const tnr_scalar one = tnr_scalar_i64(1);
    self.of_graph = tnr_graph_add_scalar(self.graph, &one, &value);
    // A new graph is not in use.
    tnr_graph* const other = tnr_graph_create();
    EXPECT_EQ(tnr_graph_add_scalar(other, &one, &value), TNR_STATUS_OK);
    EXPECT_EQ(tnr_graph_release(other), TNR_STATUS_OK);
    *dtype = operands[0].dtype;
    *rank = operands[0].rank;
    std::copy_n(operands[0].shape, *rank, shape);
    return TNR_STATUS_OK;
  }
  // Once more by the program that calls it.
  static tnr_status compute(void* context, const tnr_view* operands, std::uint32_t,
                            const std::int64_t*, std::uint32_t, const tnr_view_mut* out) {
    auto& self = *static_cast<CallsBack*>(context);
    if (self.program == nullptr) return tnr_copy(nullptr, operands, nullptr, out);
    const tnr_program* const program = std::exchange(self.program, nullptr);
    return tnr_program_run(nullptr, program, &operands, 1, nullptr, &out, 1);
  }
};

TEST_F(CGraph, IsCalledByItsOperations) {
  CallsBack calls;
  calls.graph = graph;
  const tnr_custom_operation operation =
      operation_of("calls back", CallsBack::infer, CallsBack::compute, &calls, 1);
  std::uint32_t index = 9;
  ASSERT_EQ(tnr_graph_add_custom(graph, &operation, &index), TNR_STATUS_OK);
  const std::uint32_t called = node(TNR_NODE_CUSTOM, {input({4})});
  EXPECT_EQ(calls.of_graph, TNR_STATUS_BUSY);
  output(node(kAdd, {called, scalar(1)}));
  calls.program = program();
  const Floats a({4}, -1, 0.5f);
  Floats out({4});
  ASSERT_EQ(tnr_set_last_error(TNR_STATUS_BUSY, "before"), TNR_STATUS_BUSY);
  ASSERT_EQ(run(calls.program, {a.view()}, {out.out()}), TNR_STATUS_OK);
  EXPECT_EQ(out.values, (std::vector<float>{1, 1.5f, 2, 2.5f}));
  // A successful call leaves the last error unchanged, whatever errors its operations had.
  EXPECT_STREQ(tnr_last_error()->message, "before");
  release_all();
}

// Uses another graph than its own, from a thread of the caller's and from one of its own.
struct UsesOther {
  tnr_graph* own = nullptr;
  tnr_graph* other = nullptr;
  std::barrier<>* both_called = nullptr;
  tnr_status of_other = TNR_STATUS_OK;
  tnr_status of_own = TNR_STATUS_OK;

  static tnr_status infer(void* context, const tnr_view* operands, std::uint32_t,
                          const std::int64_t*, std::uint32_t, tnr_dtype* dtype, std::uint32_t* rank,
                          std::int64_t* shape) {
    auto& self = *static_cast<UsesOther*>(context);
    self.both_called->arrive_and_wait();
    const tnr_scalar one = tnr_scalar_i64(1);
    std::uint32_t value = 0;
    self.of_other = tnr_graph_add_scalar(self.other, &one, &value);
    std::thread([&] {
      tnr_graph_info info = {};
      info.struct_size = sizeof info;
      self.of_own = tnr_graph_describe(self.own, &info);
    }).join();
    self.both_called->arrive_and_wait();
    *dtype = operands[0].dtype;
    *rank = operands[0].rank;
    std::copy_n(operands[0].shape, *rank, shape);
    return TNR_STATUS_OK;
  }
  static tnr_status compute(void*, const tnr_view* operands, std::uint32_t, const std::int64_t*,
                            std::uint32_t, const tnr_view_mut* out) {
    return tnr_copy(nullptr, operands, nullptr, out);
  }
};

// It would not end if a call waited for the function of another one.
TEST(CGraphs, AddToEachOtherOnTwoThreads) {
  std::barrier both_called(2);
  tnr_graph* const graphs[] = {tnr_graph_create(), tnr_graph_create()};
  UsesOther uses[] = {{graphs[0], graphs[1], &both_called}, {graphs[1], graphs[0], &both_called}};
  const auto add = [](UsesOther& of) {
    const tnr_custom_operation operation =
        operation_of("uses another", UsesOther::infer, UsesOther::compute, &of, 1);
    std::uint32_t index = 9;
    EXPECT_EQ(tnr_graph_add_custom(of.own, &operation, &index), TNR_STATUS_OK);
    const std::int64_t shape[] = {4};
    std::uint32_t value = 9;
    EXPECT_EQ(tnr_graph_add_input(of.own, TNR_DTYPE_F32, 1, shape, &value), TNR_STATUS_OK);
    tnr_graph_node node = {};
    node.struct_size = sizeof node;
    node.code = TNR_NODE_CUSTOM;
    node.operands = &value;
    node.operand_count = 1;
    EXPECT_EQ(tnr_graph_add_node(of.own, &node, &value), TNR_STATUS_OK);
    EXPECT_EQ(value, 1u);
  };
  std::thread other([&] { add(uses[1]); });
  add(uses[0]);
  other.join();
  for (const UsesOther& of : uses) {
    EXPECT_EQ(of.of_other, TNR_STATUS_BUSY);
    EXPECT_EQ(of.of_own, TNR_STATUS_BUSY);
    tnr_graph_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(tnr_graph_describe(of.own, &info), TNR_STATUS_OK);
    EXPECT_EQ(info.value_count, 2u);
  }
  for (tnr_graph* const graph : graphs) EXPECT_EQ(tnr_graph_release(graph), TNR_STATUS_OK);
}

TEST(CError, IsSetByItsCaller) {
  EXPECT_EQ(tnr_set_last_error(TNR_STATUS_ALIASED, nullptr), TNR_STATUS_ALIASED);
  EXPECT_STREQ(tnr_last_error()->message, "");
  EXPECT_EQ(tnr_set_last_error(TNR_STATUS_BUSY, std::string(2000, 'x').c_str()), TNR_STATUS_BUSY);
  EXPECT_EQ(std::strlen(tnr_last_error()->message), sizeof(tnr_error::message) - 1);
  EXPECT_EQ(tnr_set_last_error(TNR_STATUS_OK, "nothing"), TNR_STATUS_OK);
  EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_BUSY);
}

// ---- plug-ins ----------------------------------------------------------------------------------

tnr_plugin told;
const tnr_plugin* tell() { return &told; }

TEST(CPlugin, IsCheckedBeforeItIsUsed) {
  Doubling doubling;
  const tnr_custom_operation operation = doubling.operation();
  const tnr_custom_operation* const operations[] = {&operation};
  const auto expect_no = [&](auto change, tnr_status status, const char* words) {
    told = {sizeof told, TNR_ABI_MAJOR, TNR_ABI_MINOR, "doubling", operations, 1, 0};
    change(told);
    EXPECT_EQ(tnr_plugin_check(tell), nullptr);
    expect_refused(tnr_last_error()->status, status, {words});
  };
  const tnr_status invalid = TNR_STATUS_INVALID_ARGUMENT;
  expect_no([](auto& of) { of.abi_major += 1; }, TNR_STATUS_UNSUPPORTED, "no other major version");
  expect_no([](auto& of) { of.abi_minor += 1; }, TNR_STATUS_UNSUPPORTED, "no newer ones");
  // Nothing else is read of a table for another ABI.
  expect_no(
      [](auto& of) {
        of.abi_major += 1;
        of.struct_size = UINT64_MAX;
        of.name = reinterpret_cast<const char*>(8);
      },
      TNR_STATUS_UNSUPPORTED, "the plug-in is of ABI");
  expect_no([](auto& of) { of.struct_size = 0; }, invalid, "struct_size is 0");
  expect_no([](auto& of) { of.struct_size = UINT64_MAX; }, invalid, "struct_size is 1844674");
  expect_no([](auto& of) { of.name = nullptr; }, invalid, "name is NULL");
  expect_no([](auto& of) { of.operations = nullptr; }, invalid, "operations is NULL");
  expect_no([](auto& of) { of.reserved = 1; }, invalid, "reserved");
  const tnr_custom_operation* nothing = nullptr;
  expect_no([&](auto& of) { of.operations = &nothing; }, invalid, "operations[i] is NULL");
  tnr_custom_operation broken = operation;
  const tnr_custom_operation* const brokens[] = {&broken};
  broken.compute = nullptr;
  expect_no([&](auto& of) { of.operations = brokens; }, invalid, "compute is NULL");
  broken = operation;
  broken.struct_size = 8;
  expect_no([&](auto& of) { of.operations = brokens; }, invalid, "struct_size is 8");
  EXPECT_EQ(tnr_plugin_check(nullptr), nullptr);
  expect_refused(tnr_last_error()->status, invalid, {"exports a function tnr_plugin_entry"});
  const auto tells_nothing = []() -> const tnr_plugin* { return nullptr; };
  EXPECT_EQ(tnr_plugin_check(tells_nothing), nullptr);
  expect_refused(tnr_last_error()->status, invalid, {"the plug-in is NULL"});
  const auto throws = []() -> const tnr_plugin* { throw 7; };
  EXPECT_EQ(tnr_plugin_check(throws), nullptr);
  expect_refused(tnr_last_error()->status, TNR_STATUS_INTERNAL, {});
  told = {sizeof told, TNR_ABI_MAJOR, 1, "doubling", operations, 1, 0};
  EXPECT_EQ(tnr_plugin_check(tell), &told);
  told.operation_count = 0;
  told.operations = nullptr;
  EXPECT_EQ(tnr_plugin_check(tell), &told);
  EXPECT_EQ(doubling.releases, 0);
}

}  // namespace
