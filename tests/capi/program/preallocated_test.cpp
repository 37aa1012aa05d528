// Preallocated programs: the bits of the program; and runs that allocate nothing, take no lock and
// make no system call, whether they succeed or fail. Allocations and locks are counted, and the
// kernel ends the process at any system call except its exit.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bound_runs.hpp"
#include "expect_status.hpp"
#include "failing_allocator.hpp"
#include "instrumented.hpp"
#include "memory/memory.hpp"
#include "program_graph.hpp"
#include "tenure/tenure.h"

using tenure::test::allocation_counts;
using tenure::test::AllocationFault;
using tenure::test::CGraph;
using tenure::test::expect_refused;
using tenure::test::Failing;
using tenure::test::Floats;
using tenure::test::kNoFilter;
using tenure::test::Lent;
using tenure::test::lock_count;
using tenure::test::operation_of;
using tenure::test::status_under_filter;
using tenure::test::view_over;

namespace {

constexpr std::uint32_t kMul = TNR_NODE_BINARY + TNR_BINARY_OP_MUL;
constexpr std::uint32_t kAdd = TNR_NODE_BINARY + TNR_BINARY_OP_ADD;
constexpr std::uint32_t kRelu = TNR_NODE_UNARY + TNR_UNARY_OP_RELU;

// scores = scan(relu(image (x) w + b)) @ v; state += mean(x): with scratch memory, a block, a
// constant of a blob that is packed, and an output that updates an input.
class CPreallocated : public CGraph {
 protected:
  CPreallocated() {
    const std::uint32_t image = input({2, 3, 9, 9});
    const std::uint32_t state = input({2});
    tnr_conv2d_attributes same = {};
    same.struct_size = sizeof same;
    for (std::int64_t& padding : same.padding) padding = 1;
    const std::uint32_t seen = node(
        kRelu, {node(TNR_NODE_CONV2D, {image, constant(w.view()), constant(b.view())}, {}, &same)});
    const std::uint32_t flat = node(TNR_NODE_RESHAPE, {seen}, {2, 4 * 81});
    const std::uint32_t sums = node(TNR_NODE_SCAN + TNR_SCAN_OP_SUM, {flat}, {1});
    output(node(TNR_NODE_MATMUL, {sums, constant(v.view())}));
    const std::uint32_t mean = node(TNR_NODE_REDUCE + TNR_REDUCE_OP_MEAN, {flat}, {}, nullptr, 2);
    output(node(kAdd, {state, mean}), state);
    made = program(0, TNR_PASS_PACKING);
    bound = lent().preallocate(made);
    EXPECT_NE(bound, nullptr) << tnr_last_error()->message;
  }
  ~CPreallocated() override { EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK); }

  Lent lent() { return {{x.view(), held.view()}, {scores.out(), held.out()}}; }

  Floats w{{4, 3, 3, 3}, -0.5f, 0.125f};
  Floats b{{4}, -0.25f, 0.25f};
  Floats v{{324, 5}, -1.0f, 0.07f};
  Floats x{{2, 3, 9, 9}, 0.5f, 0.37f};
  Floats held{{2}, 1, 1};
  Floats scores{{2, 5}};
  tnr_program* made = nullptr;
  tnr_bound* bound = nullptr;
};

TEST_F(CPreallocated, HasTheBitsOfItsProgram) {
  ASSERT_EQ(run(made, {x.view(), held.view()}, {scores.out(), held.out()}), TNR_STATUS_OK);
  const std::vector<float> expected = scores.values;
  const std::vector<float> state = held.values;
  held = Floats({2}, 1, 1);
  // Other memory of the same layouts, also at another alignment.
  std::vector<float> room(scores.values.size() + 1);
  Lent other = lent();
  other.outs[0] = {view_over(room.data() + 1, {2, 5})};
  ASSERT_EQ(other.run(bound), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(std::vector<float>(room.begin() + 1, room.end()), expected);
  EXPECT_EQ(held.values, state);
}

TEST_F(CPreallocated, TouchesNothingWhenItIsMade) {
  scores.values.assign(scores.values.size(), 7);
  const std::vector<float> state = held.values;
  tnr_bound* const another = lent().preallocate(made);
  ASSERT_NE(another, nullptr);
  EXPECT_EQ(scores.values, std::vector<float>(scores.values.size(), 7));
  EXPECT_EQ(held.values, state);
  EXPECT_EQ(tnr_bound_release(another), TNR_STATUS_OK);
}

TEST_F(CPreallocated, KnowsItsMemoryBeforeItRuns) {
  tnr_memory_plan plan = {};
  plan.struct_size = sizeof plan;
  ASSERT_EQ(tnr_bound_memory(bound, &plan), TNR_STATUS_OK);
  tnr_memory_plan plain = memory(made, {x.view(), held.view()});
  EXPECT_EQ(plan.peak_bytes, plain.peak_bytes);
  EXPECT_EQ(plan.step_count, plain.step_count);
  EXPECT_GT(plan.scratch_bytes, 0u);
  tnr_program* const fresh = program(0, TNR_PASS_PACKING);
  EXPECT_EQ(memory(fresh, {x.view(), held.view()}).scratch_bytes, 0u);
  ASSERT_EQ(run(fresh, {x.view(), held.view()}, {scores.out(), held.out()}), TNR_STATUS_OK);
  EXPECT_EQ(memory(fresh, {x.view(), held.view()}).scratch_bytes, plan.scratch_bytes);
  plan.struct_size = 3;
  expect_refused(tnr_bound_memory(bound, &plan), TNR_STATUS_INVALID_ARGUMENT, {"struct_size is 3"});
  expect_refused(tnr_bound_memory(bound, nullptr), TNR_STATUS_INVALID_ARGUMENT, {"out is NULL"});
}

// ---- refused runs, which report their errors without an allocation, lock or system call --------

struct Refused {
  const char* name;
  tnr_status status;
  std::vector<std::string> words;
  std::function<tnr_status()> run;
};

class CPreallocatedPaths : public CPreallocated {
 protected:
  CPreallocatedPaths() {
    const std::int64_t shape[] = {2, 5};
    owner = tnr_blob_alloc_view(nullptr, TNR_DTYPE_F32, 2, shape, &owned);
    EXPECT_NE(owner, nullptr);
    tnr_view_mut stale_view = {};
    tnr_blob* const gone = tnr_blob_alloc_view(nullptr, TNR_DTYPE_F32, 2, shape, &stale_view);
    EXPECT_EQ(tnr_blob_release(gone), TNR_STATUS_OK);
    released = lent().preallocate(made);
    EXPECT_EQ(tnr_bound_release(released), TNR_STATUS_OK);
    shared = tnr_blob_share(w.values.data(), 40, nullptr, nullptr);
    EXPECT_NE(shared, nullptr);

    add("ok", TNR_STATUS_OK, {}, [](Lent&) {});
    add("into a blob", TNR_STATUS_OK, {}, [this](Lent& of) { of.outs[0] = owned; });
    add("another shape", TNR_STATUS_INVALID_ARGUMENT,
        {"inputs[0] is f32 with the shape [1, 3, 9, 9]", "bound to f32 with [2, 3, 9, 9]"},
        [](Lent& of) { of.views[0].shape[0] = 1; });
    add("other strides", TNR_STATUS_INVALID_ARGUMENT, {"outputs[0] is f32 with the strides"},
        [](Lent& of) {
          of.outs[0].view.strides[0] = 1;
          of.outs[0].view.strides[1] = 2;
        });
    add("another dtype", TNR_STATUS_INVALID_ARGUMENT, {"inputs[1] is i32"},
        [](Lent& of) { of.views[1].dtype = TNR_DTYPE_I32; });
    add("no dtype", TNR_STATUS_UNSUPPORTED, {"inputs[1].dtype"},
        [](Lent& of) { of.views[1].dtype = 3; });
    add("a huge rank", TNR_STATUS_INVALID_ARGUMENT, {"inputs[0].rank is 4294967295"},
        [](Lent& of) { of.views[0].rank = UINT32_MAX; });
    add("unknown flags", TNR_STATUS_INVALID_ARGUMENT, {"outputs[0].flags is 0x2"},
        [](Lent& of) { of.outs[0].view.flags = 2; });
    add("a device", TNR_STATUS_UNSUPPORTED, {"inputs[0].device"},
        [](Lent& of) { of.views[0].device.kind = 2; });
    add("few bytes", TNR_STATUS_INVALID_ARGUMENT, {"inputs[0].strides[0]", "of 100 lent"},
        [](Lent& of) { of.views[0].size_bytes = 100; });
    add("no memory", TNR_STATUS_INVALID_ARGUMENT, {"outputs[1].base is NULL"},
        [](Lent& of) { of.outs[1].view.base = nullptr; });
    add("misaligned", TNR_STATUS_INVALID_ARGUMENT, {"inputs[1].data"}, [](Lent& of) {
      of.views[1].data = static_cast<const char*>(of.views[1].data) + 1;
      of.views[1].size_bytes += 4;
    });
    add("a NULL view", TNR_STATUS_INVALID_ARGUMENT, {"inputs[1] is NULL"},
        [](Lent& of) { of.inputs[1] = nullptr; });
    add("a NULL output", TNR_STATUS_INVALID_ARGUMENT, {"outputs[0] is NULL"},
        [](Lent& of) { of.outputs[0] = nullptr; });
    add("few inputs", TNR_STATUS_INVALID_ARGUMENT, {"input_count is 1 but the program has 2"},
        [](Lent& of) { of.inputs.pop_back(); });
    add("many outputs", TNR_STATUS_INVALID_ARGUMENT, {"output_count is 3 but the program has 2"},
        [](Lent& of) { of.outputs.push_back(nullptr); });
    add("an output in an input", TNR_STATUS_ALIASED, {"outputs[1] shares a byte with inputs[0]"},
        [this](Lent& of) { of.outs[1] = {view_over(x.values.data() + 1, {2})}; });
    add("two outputs in one", TNR_STATUS_ALIASED, {"outputs[1] may share a byte with outputs[0]"},
        [this](Lent& of) { of.outs[1] = {view_over(scores.values.data(), {2})}; });
    add("an owner that ended", TNR_STATUS_STALE_VIEW, {"inputs[0].owner", "has been released"},
        [stale_view](Lent& of) { of.views[0].owner = stale_view.view.owner; });
    add("an owner that is none", TNR_STATUS_STALE_VIEW, {"no blob was ever given"},
        [](Lent& of) { of.outs[0].view.owner = 12345; });
    add("an owner of other memory", TNR_STATUS_INVALID_ARGUMENT,
        {"outputs[0] is lent 40 bytes", "its owner holds 40 bytes"},
        [this](Lent& of) { of.outs[0].view.owner = owned.view.owner; });
    add("an owner that nobody writes", TNR_STATUS_INVALID_ARGUMENT, {"shared, which nobody may"},
        [this](Lent& of) {
          of.outs[0].view.base = of.outs[0].view.data = w.values.data();
          of.outs[0].view.owner = reinterpret_cast<std::uintptr_t>(shared);
        });
    paths.push_back({"no arrays", TNR_STATUS_INVALID_ARGUMENT, {"inputs is NULL"}, [this] {
                       return tnr_bound_run(nullptr, bound, nullptr, 2, nullptr, nullptr, 2);
                     }});
    add_handle("released", released, {"a bound program that has been released"});
    add_handle("NULL", nullptr, {"no bound program was ever given"});
    add_handle("garbage", reinterpret_cast<const tnr_bound*>(0x1234),
               {"no bound program was ever given"});
    add_handle("a program", reinterpret_cast<const tnr_bound*>(made),
               {"no bound program was ever given"});
  }
  ~CPreallocatedPaths() override {
    EXPECT_EQ(tnr_blob_release(owner), TNR_STATUS_OK);
    EXPECT_EQ(tnr_blob_release(shared), TNR_STATUS_OK);
  }

  template <class Change>
  void add(const char* name, tnr_status status, std::vector<std::string> words,
           const Change& change) {
    auto of = std::make_shared<Lent>(lent());
    change(*of);
    paths.push_back({name, status, std::move(words), [this, of] { return of->run(bound); }});
  }
  void add_handle(const char* name, const tnr_bound* handle, std::vector<std::string> words) {
    auto of = std::make_shared<Lent>(lent());
    paths.push_back({name, TNR_STATUS_STALE_HANDLE, std::move(words),
                     [handle, of] { return of->run(handle); }});
  }

  tnr_view_mut owned = {};
  tnr_blob* owner = nullptr;
  tnr_blob* shared = nullptr;
  tnr_bound* released = nullptr;
  std::vector<Refused> paths;
};

TEST_F(CPreallocatedPaths, SayWhatIsWrongAndTouchNothing) {
  for (const Refused& path : paths) {
    SCOPED_TRACE(path.name);
    if (path.status == TNR_STATUS_OK) {
      EXPECT_EQ(path.run(), TNR_STATUS_OK) << tnr_last_error()->message;
      continue;
    }
    scores.values.assign(scores.values.size(), 7);
    held.values = {3, 4};
    const tnr_status status = path.run();
    EXPECT_STREQ(tnr_status_name(status), tnr_status_name(path.status));
    const std::string message = tnr_last_error()->message;
    for (const std::string& word : path.words) {
      EXPECT_NE(message.find(word), std::string::npos) << "no \"" << word << "\" in " << message;
    }
    EXPECT_EQ(scores.values, std::vector<float>(scores.values.size(), 7));
    EXPECT_EQ(held.values, (std::vector<float>{3, 4}));
  }
}

TEST_F(CPreallocatedPaths, AllocateNothingAndTakeNoLock) {
  if (tenure::kSanitized) GTEST_SKIP() << "a sanitizer sees each piece of scratch memory by itself";
  for (const Refused& path : paths) {
    SCOPED_TRACE(path.name);
    const int before = lock_count();
    tnr_status status;
    {
      const AllocationFault counted(Failing::kOne, tenure::test::kNone);
      status = path.run();
    }
    EXPECT_EQ(status, path.status);
    EXPECT_EQ(allocation_counts().asked, 0);
    EXPECT_EQ(allocation_counts().live_change, 0);
    EXPECT_EQ(lock_count(), before);
  }
}

TEST_F(CPreallocatedPaths, MakeNoSystemCall) {
  if (tenure::test::kInstrumented) GTEST_SKIP() << "a sanitizer asks the system itself";
  const int none = status_under_filter([] { return 0; });
  if (none == kNoFilter) GTEST_SKIP() << "the system lets no process filter its calls";
  ASSERT_EQ(none, 0);
  // That it would be seen.
  ASSERT_LT(status_under_filter([] { return static_cast<int>(getppid() == 0); }), 0);
  for (const Refused& path : paths) {
    const int answer = status_under_filter([&] { return path.run() == path.status ? 0 : 1; });
    EXPECT_EQ(answer, 0) << path.name;
  }
  // A thousand times, all in turns.
  EXPECT_EQ(status_under_filter([&] {
              for (int i = 0; i < 1000; ++i) {
                for (const Refused& path : paths) {
                  if (path.run() != path.status) return 1;
                }
              }
              return 0;
            }),
            0);
}

TEST_F(CPreallocated, TakesOutputsOfManyPagesWithoutASystemCall) {
  if (tenure::kSanitized) GTEST_SKIP() << "a sanitizer asks the system itself";
  // Before such results are written, other calls ask the system for their pages.
  const std::int64_t count = std::int64_t{4} << 20;
  tnr_graph* const small = std::exchange(graph, tnr_graph_create());
  output(node(kMul, {input({count}), scalar(2)}));
  const Floats a({count}, 1, 0);
  Floats out({count});
  Lent of({a.view()}, {out.out()});
  tnr_bound* const doubled = of.preallocate(program());
  ASSERT_NE(doubled, nullptr) << tnr_last_error()->message;
  const int answer = status_under_filter([&] { return static_cast<int>(of.run(doubled)); });
  EXPECT_TRUE(answer == 0 || answer == kNoFilter) << answer;
  EXPECT_EQ(of.run(doubled), TNR_STATUS_OK);
  EXPECT_EQ(out.values.back(), 2);
  EXPECT_EQ(tnr_bound_release(doubled), TNR_STATUS_OK);
  EXPECT_EQ(tnr_graph_release(small), TNR_STATUS_OK);
}

// ---- what cannot be preallocated ---------------------------------------------------------------

TEST_F(CGraph, NodesThatThrowWhatTheyFindAreNotPreallocated) {
  const std::int64_t offsets[] = {0, 1};
  const std::int64_t columns[] = {0};
  tnr_sparse_node_attributes csr = {};
  csr.struct_size = sizeof csr;
  csr.format = TNR_SPARSE_FORMAT_CSR;
  const Floats a({1}, 1, 1);
  Floats out({1, 1});
  const std::uint32_t row_offsets = input({2}, TNR_DTYPE_I64);
  const std::uint32_t col_indices = input({1}, TNR_DTYPE_I64);
  const std::uint32_t values = input({1});
  const std::uint32_t dense =
      node(TNR_NODE_SPARSE_TO_DENSE, {row_offsets, col_indices, values}, {1, 1}, &csr);
  output(dense);
  Lent of(
      {view_over(offsets, {2}, TNR_DTYPE_I64), view_over(columns, {1}, TNR_DTYPE_I64), a.view()},
      {out.out()});
  expect_refused(of.preallocate(program()), TNR_STATUS_UNSUPPORTED,
                 {"nodes[0], sparse_to_dense: throws what it refuses in elements"});
  // Nodes that no output needs do not count.
  tnr_graph* const first = std::exchange(graph, tnr_graph_create());
  const std::uint32_t offset_input = input({2}, TNR_DTYPE_I64);
  const std::uint32_t index_input = input({1}, TNR_DTYPE_I64);
  const std::uint32_t x = input({1});
  (void)node(TNR_NODE_SPARSE_TO_DENSE, {offset_input, index_input, x}, {1, 1}, &csr);
  output(node(kAdd, {x, x}));
  Lent plain(of.views, {{view_over(out.values.data(), {1})}});
  tnr_bound* const bound = plain.preallocate(program());
  ASSERT_NE(bound, nullptr) << tnr_last_error()->message;
  EXPECT_EQ(plain.run(bound), TNR_STATUS_OK);
  EXPECT_EQ(out.values[0], 2);
  EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK);
  EXPECT_EQ(tnr_graph_release(first), TNR_STATUS_OK);
}

TEST_F(CPreallocated, IsMadeOfWhatARunWouldTake) {
  Lent of = lent();
  of.views[0].shape[1] = 2;
  expect_refused(of.preallocate(made), TNR_STATUS_INVALID_ARGUMENT, {"inputs[0].shape[1] is 2"});
  Lent outs = lent();
  outs.outs[0].view.shape[1] = 4;
  expect_refused(outs.preallocate(made), TNR_STATUS_INVALID_ARGUMENT, {"the program gives f32"});
  const tnr_bound_attributes preallocated = {sizeof preallocated, 0, TNR_BOUND_PREALLOCATED, 0};
  expect_refused(tnr_bound_create(nullptr, made, nullptr, 2, &preallocated, nullptr, 2),
                 TNR_STATUS_INVALID_ARGUMENT, {"inputs is NULL"});
  expect_refused(lent().preallocate(nullptr), TNR_STATUS_STALE_HANDLE,
                 {"no program was ever given"});
  EXPECT_EQ(tnr_bound_release(nullptr), TNR_STATUS_OK);
}

TEST_F(CPreallocated, HoldsItsProgram) {
  programs.clear();
  EXPECT_EQ(tnr_program_release(made), TNR_STATUS_OK);
  EXPECT_EQ(lent().run(bound), TNR_STATUS_OK);
}

TEST_F(CPreallocated, SurvivesEveryAllocationThatFails) {
  bool has_failed = true;
  for (int first = 0; has_failed; ++first) {
    Lent of = lent();
    tnr_bound* another;
    {
      const AllocationFault fault(Failing::kOne, first);
      another = of.preallocate(made);
    }
    has_failed = allocation_counts().failed != 0;
    if (another == nullptr) {
      EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_OUT_OF_MEMORY);
      EXPECT_TRUE(has_failed);
    }
    EXPECT_EQ(tnr_bound_release(another), TNR_STATUS_OK);
  }
}

// ---- two at once -------------------------------------------------------------------------------

// Runs the preallocated program that calls it.
struct Nested {
  Lent* of = nullptr;
  const tnr_bound* bound = nullptr;
  tnr_status answer = TNR_STATUS_OK;

  static tnr_status infer(void*, const tnr_view* operands, std::uint32_t, const std::int64_t*,
                          std::uint32_t, tnr_dtype* dtype, std::uint32_t* rank,
                          std::int64_t* shape) {
    *dtype = operands[0].dtype;
    *rank = operands[0].rank;
    std::copy_n(operands[0].shape, *rank, shape);
    return TNR_STATUS_OK;
  }
  static tnr_status compute(void* context, const tnr_view* operands, std::uint32_t,
                            const std::int64_t*, std::uint32_t, const tnr_view_mut* out) {
    auto& self = *static_cast<Nested*>(context);
    if (self.bound != nullptr) {
      self.answer = self.of->run(self.bound);
    }
    return tnr_unary(nullptr, TNR_UNARY_OP_NEG, operands, nullptr, out);
  }
};

TEST_F(CGraph, APreallocatedProgramIsBusyWhileItRuns) {
  Nested nested;
  const tnr_custom_operation operation =
      operation_of("nested", Nested::infer, Nested::compute, &nested, 1);
  std::uint32_t index = 0;
  ASSERT_EQ(tnr_graph_add_custom(graph, &operation, &index), TNR_STATUS_OK);
  output(node(TNR_NODE_CUSTOM, {input({2})}));
  const Floats a({2}, 1, 1);
  Floats out({2});
  Lent of({a.view()}, {out.out()});
  tnr_bound* const bound = of.preallocate(program());
  ASSERT_NE(bound, nullptr) << tnr_last_error()->message;
  nested.of = &of;
  nested.bound = bound;
  EXPECT_EQ(of.run(bound), TNR_STATUS_OK);
  EXPECT_EQ(nested.answer, TNR_STATUS_BUSY);
  EXPECT_EQ(out.values, (std::vector<float>{-1, -2}));
  nested.bound = nullptr;
  EXPECT_EQ(of.run(bound), TNR_STATUS_OK);
  EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK);
}

TEST_F(CPreallocated, OneOfSeveralThreadsRunsIt) {
  ASSERT_EQ(lent().run(bound), TNR_STATUS_OK);
  const std::vector<float> expected = scores.values;
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      Floats mine({2, 5});
      Floats state({2}, 1, 1);
      const Lent of({x.view(), state.view()}, {mine.out(), state.out()});
      for (int i = 0; i < 300; ++i) {
        const tnr_status status = of.run(bound);
        if (status == TNR_STATUS_BUSY) continue;
        ASSERT_EQ(status, TNR_STATUS_OK);
        ASSERT_EQ(mine.values, expected);
        ++done;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(done, 0);
}

TEST_F(CPreallocated, EndsWithTheRunThatUsesIt) {
  for (int i = 0; i < 100; ++i) {
    tnr_bound* const another = lent().preallocate(made);
    ASSERT_NE(another, nullptr);
    std::atomic<bool> runs = false;
    std::thread thread([&] {
      Floats mine({2, 5});
      Floats state({2}, 1, 1);
      const Lent of({x.view(), state.view()}, {mine.out(), state.out()});
      tnr_status status = TNR_STATUS_OK;
      while (status == TNR_STATUS_OK) {
        status = of.run(another);
        runs = true;
      }
      EXPECT_EQ(status, TNR_STATUS_STALE_HANDLE);
    });
    while (!runs) std::this_thread::yield();
    EXPECT_EQ(tnr_bound_release(another), TNR_STATUS_OK);
    thread.join();
  }
}

}  // namespace
