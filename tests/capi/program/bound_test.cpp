// Programs that are bound: the bits of the program on other memory of the same layouts, by any
// number of threads; what a binding and a run refuse. Small programs, of one expression of few
// elements, and others have runs of their own, so that each test is of both.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bound_runs.hpp"
#include "expect_status.hpp"
#include "memory/slot_table.hpp"
#include "program_graph.hpp"
#include "tenure/blob.hpp"
#include "tenure/tenure.h"

using tenure::test::CGraph;
using tenure::test::expect_refused;
using tenure::test::Floats;
using tenure::test::Lent;
using tenure::test::view_over;

namespace {

constexpr std::uint32_t kMul = TNR_NODE_BINARY + TNR_BINARY_OP_MUL;
constexpr std::uint32_t kAdd = TNR_NODE_BINARY + TNR_BINARY_OP_ADD;
constexpr std::uint32_t kDiv = TNR_NODE_BINARY + TNR_BINARY_OP_DIV;
constexpr std::uint32_t kSum = TNR_NODE_SCAN + TNR_SCAN_OP_SUM;
constexpr auto kInvalid = TNR_STATUS_INVALID_ARGUMENT;
constexpr float kBefore = -7;

// b + (a * weights + 0.5); the last term is a prefix sum where the program is not small.
class CBound : public CGraph, public testing::WithParamInterface<bool> {
 protected:
  CBound() {
    const std::uint32_t x = input({3, 5});
    const std::uint32_t y = input({3, 5});
    std::uint32_t value = node(kAdd, {node(kMul, {x, constant(weights.view())}), scalar(0.5)});
    if (!is_small()) value = node(kSum, {value}, {1});
    output(node(kAdd, {y, value}));
    made = program();
    bound = lent().bind(made);
    EXPECT_NE(bound, nullptr) << tnr_last_error()->message;
  }
  ~CBound() override { EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK); }

  static bool is_small() { return GetParam(); }
  Lent lent() { return {{a.view(), b.view()}, {out.out()}}; }
  // The output of the last run, which is cleared in its place.
  std::vector<float> taken() {
    std::vector<float> values = out.values;
    std::ranges::fill(out.values, kBefore);
    return values;
  }
  void expect_untouched() { EXPECT_EQ(taken(), std::vector<float>(15, kBefore)); }
  template <class Change>
  void refused(tnr_status status, std::initializer_list<std::string> words, const Change& change) {
    Lent of = lent();
    change(of);
    expect_refused(of.run(bound), status, words);
    expect_untouched();
  }

  const Floats weights{{3, 5}, -1, 0.25f};
  Floats a{{3, 5}, 0.5f, 0.125f};
  Floats b{{3, 5}, 1, 0.5f};
  Floats out{{3, 5}, kBefore, 0};
  tnr_program* made = nullptr;
  tnr_bound* bound = nullptr;
};
INSTANTIATE_TEST_SUITE_P(All, CBound, testing::Bool(),
                         [](const auto& of) { return of.param ? "Small" : "OfSteps"; });

TEST_P(CBound, HasTheBitsOfItsProgramOnOtherMemory) {
  expect_untouched();
  for (int round = 0; round < 3; ++round) {
    const Floats other({3, 5}, static_cast<float>(round), -0.375f);
    ASSERT_EQ(run(made, {other.view(), b.view()}, {out.out()}), TNR_STATUS_OK);
    const std::vector<float> expected = taken();
    Floats apart({3, 5});
    const Lent into({other.view(), b.view()}, {apart.out()});
    ASSERT_EQ(into.run(bound), TNR_STATUS_OK) << tnr_last_error()->message;
    EXPECT_EQ(apart.values, expected);
    // One view for both inputs.
    ASSERT_EQ(run(made, {other.view(), other.view()}, {out.out()}), TNR_STATUS_OK);
    const Lent twice({other.view(), other.view()}, {apart.out()});
    ASSERT_EQ(twice.run(bound), TNR_STATUS_OK) << tnr_last_error()->message;
    EXPECT_EQ(apart.values, taken());
    expect_untouched();
  }
}

TEST_P(CBound, RefusesOtherLayouts) {
  std::vector<float> wide(60);
  refused(kInvalid,
          {"inputs[0] is f32 with the strides [6, 1] but the program is bound to f32 with "
           "[5, 1]"},
          [&](Lent& of) {
            of.views[0] = view_over(wide.data(), {3, 6});
            of.views[0].shape[1] = 5;
          });
  refused(kInvalid, {"inputs[1] is i32 with the shape [3, 5]", "bound to f32 with [3, 5]"},
          [](Lent& of) { of.views[1].dtype = TNR_DTYPE_I32; });
  refused(kInvalid, {"inputs[0] is f32 with the shape [2, 5]"},
          [](Lent& of) { of.views[0].shape[0] = 2; });
  refused(kInvalid, {"inputs[0] is f32 with the shape [15]"},
          [&](Lent& of) { of.views[0] = view_over(wide.data(), {15}); });
  refused(kInvalid, {"inputs[0].rank is 4294967295"},
          [](Lent& of) { of.views[0].rank = UINT32_MAX; });
  refused(kInvalid, {"outputs[0] is f32 with the strides [1, 3]"}, [](Lent& of) {
    of.outs[0].view.strides[0] = 1;
    of.outs[0].view.strides[1] = 3;
  });
  refused(kInvalid, {"inputs[0].strides[0]"}, [](Lent& of) { of.views[0].size_bytes = 20; });
  refused(kInvalid, {"outputs[0].base is NULL"}, [](Lent& of) { of.outs[0].view.base = nullptr; });
  refused(TNR_STATUS_UNSUPPORTED, {"inputs[0].device"},
          [](Lent& of) { of.views[0].device.kind = 2; });
  refused(kInvalid, {"outputs[0].flags is 0x2"}, [](Lent& of) { of.outs[0].view.flags = 2; });
}

TEST_P(CBound, RefusesOtherCountsAndNull) {
  refused(kInvalid, {"inputs[0] is NULL"}, [](Lent& of) { of.inputs[0] = nullptr; });
  refused(kInvalid, {"outputs[0] is NULL"}, [](Lent& of) { of.outputs[0] = nullptr; });
  refused(kInvalid, {"input_count is 1 but the program has 2"},
          [](Lent& of) { of.inputs.pop_back(); });
  refused(kInvalid, {"output_count is 2 but the program has 1"},
          [](Lent& of) { of.outputs.push_back(nullptr); });
  expect_refused(tnr_bound_run(nullptr, bound, nullptr, 2, nullptr, nullptr, 1), kInvalid,
                 {"inputs is NULL"});
}

TEST_P(CBound, RefusesOverlap) {
  refused(TNR_STATUS_ALIASED, {"outputs[0] shares a byte with inputs[0], which it does not update"},
          [this](Lent& of) { of.views[0] = out.view(); });
  std::vector<float> both(16);
  refused(TNR_STATUS_ALIASED, {"outputs[0] shares a byte with inputs[1]"}, [&](Lent& of) {
    of.views[1] = view_over(both.data(), {3, 5});
    of.outs[0] = {view_over(both.data() + 1, {3, 5})};
  });
  EXPECT_EQ(both, std::vector<float>(16));
}

// An owner counts in each run, and not when the program is bound.
TEST_P(CBound, AsksTheOwnersOfEachRun) {
  tnr_blob* const blob = tnr_blob_copy(nullptr, a.values.data(), 60);
  tnr_view owned = {};
  const std::int64_t shape[] = {3, 5};
  ASSERT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_F32, 2, shape, nullptr, &owned), TNR_STATUS_OK);
  const Lent of({owned, b.view()}, {out.out()});
  ASSERT_EQ(of.run(bound), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_NE(taken()[0], kBefore);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  expect_refused(of.run(bound), TNR_STATUS_STALE_VIEW, {"inputs[0].owner", "has been released"});
  expect_untouched();
  tnr_blob* const shared = tnr_blob_share(out.values.data(), 60, nullptr, nullptr);
  refused(kInvalid, {"outputs[0]", "shared, which nobody may"},
          [&](Lent& to) { to.outs[0].view.owner = reinterpret_cast<std::uintptr_t>(shared); });
  EXPECT_EQ(tnr_blob_release(shared), TNR_STATUS_OK);
}

TEST_P(CBound, IsBoundToWhatARunWouldTake) {
  const auto of_flags = [&](std::uint32_t flags) { return lent().bind(made, flags); };
  expect_refused(of_flags(8), kInvalid, {"attributes->flags is 0x8 but only 0x7 is known"});
  expect_refused(of_flags(TNR_BOUND_PREALLOCATED | TNR_BOUND_CAPTURED), kInvalid,
                 {"TNR_BOUND_PREALLOCATED and TNR_BOUND_CAPTURED, which exclude each other"});
  expect_refused(of_flags(TNR_BOUND_CAPTURED), kInvalid,
                 {"a program is captured on a device, but the context of the call has no device"});
  const auto of_attributes = [&](const tnr_bound_attributes& attributes) {
    const Lent of = lent();
    return tnr_bound_create(nullptr, made, of.inputs.data(), 2, &attributes, of.outputs.data(), 1);
  };
  expect_refused(of_attributes({4096, 0, 0, 1}), kInvalid, {});
  expect_refused(of_attributes({sizeof(tnr_bound_attributes), 0, 0, 1}), kInvalid,
                 {"attributes->reserved is 1"});
  expect_refused(of_attributes({3, 0, 0, 0}), kInvalid, {"struct_size is 3"});
  for (const std::uint32_t flags : {std::uint32_t{0}, std::uint32_t{TNR_BOUND_PREALLOCATED}}) {
    tnr_bound* const budgeted =
        of_attributes({sizeof(tnr_bound_attributes), 0, flags | TNR_BOUND_BUDGET, 0});
    if (is_small()) {
      EXPECT_NE(budgeted, nullptr) << tnr_last_error()->message;
    } else {
      expect_refused(budgeted, TNR_STATUS_OUT_OF_MEMORY, {"the budget is 0"});
    }
    EXPECT_EQ(tnr_bound_release(budgeted), TNR_STATUS_OK);
    const auto bind_refused = [&](tnr_status status, std::initializer_list<std::string> words,
                                  const auto& change) {
      Lent of = lent();
      change(of);
      expect_refused(of.bind(made, flags), status, words);
    };
    bind_refused(kInvalid, {"inputs[0].shape[1] is 4"}, [](Lent& of) { of.views[0].shape[1] = 4; });
    bind_refused(kInvalid, {"outputs[0] is f32 of shape [3, 4] but the program gives f32"},
                 [](Lent& of) { of.outs[0].view.shape[1] = 4; });
    bind_refused(TNR_STATUS_ALIASED, {"outputs[0] shares a byte with inputs[0]"},
                 [this](Lent& of) { of.views[0] = out.view(); });
    bind_refused(kInvalid, {"inputs[1] is NULL"}, [](Lent& of) { of.inputs[1] = nullptr; });
    bind_refused(kInvalid, {"input_count is 1"}, [](Lent& of) { of.inputs.pop_back(); });
    expect_refused(lent().bind(nullptr, flags), TNR_STATUS_STALE_HANDLE,
                   {"no program was ever given"});
    expect_refused(lent().bind(reinterpret_cast<const tnr_program*>(bound), flags),
                   TNR_STATUS_STALE_HANDLE, {"no program was ever given"});
  }
  expect_untouched();
}

TEST_P(CBound, TakesTheAttributesOfARun) {
  const Lent of = lent();
  std::int64_t shapes[TNR_MAX_RANK];
  std::ranges::fill(shapes, 99);
  ASSERT_EQ(of.run(bound, shapes), TNR_STATUS_OK);
  EXPECT_EQ(std::vector(shapes, shapes + 3), (std::vector<std::int64_t>{3, 5, 0}));
  const std::vector<float> expected = taken();
  std::uint64_t times[4] = {};
  tnr_memory_plan plan = {};
  plan.struct_size = sizeof plan;
  ASSERT_EQ(tnr_bound_memory(bound, &plan), TNR_STATUS_OK);
  tnr_program_run_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  const auto run_so = [&] {
    return tnr_bound_run(nullptr, bound, of.inputs.data(), 2, &attributes, of.outputs.data(), 1);
  };
  attributes.step_nanoseconds = times;
  expect_refused(run_so(), kInvalid, {"step_count is 0"});
  attributes.step_count = plan.step_count;
  ASSERT_EQ(run_so(), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(taken(), expected);
  attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.flags = 16;
  expect_refused(run_so(), kInvalid, {"attributes->flags is 0x10 but only 0xf is known"});
  attributes.flags = TNR_RUN_BUDGET;
  if (!is_small()) expect_refused(run_so(), TNR_STATUS_OUT_OF_MEMORY, {"the budget is 0"});
  attributes.flags = TNR_RUN_CHECKED;
  ASSERT_EQ(run_so(), TNR_STATUS_OK);
  EXPECT_EQ(taken(), expected);
  attributes.struct_size = 3;
  expect_refused(run_so(), kInvalid, {"attributes->struct_size is 3"});
  expect_refused(tnr_bound_memory(bound, nullptr), kInvalid, {"out is NULL"});
  tnr_bound* const preallocated = of.preallocate(made);
  ASSERT_NE(preallocated, nullptr);
  attributes.struct_size = sizeof attributes;
  expect_refused(
      tnr_bound_run(nullptr, preallocated, of.inputs.data(), 2, &attributes, of.outputs.data(), 1),
      TNR_STATUS_UNSUPPORTED, {"TNR_RUN_CHECKED"});
  EXPECT_EQ(tnr_bound_release(preallocated), TNR_STATUS_OK);
  expect_untouched();
}

TEST_P(CBound, RefusesWhatIsNoHandle) {
  const Lent of = lent();
  tnr_bound* const other = of.bind(made);
  ASSERT_EQ(tnr_bound_release(other), TNR_STATUS_OK);
  expect_refused(tnr_bound_release(other), TNR_STATUS_STALE_HANDLE, {"released"});
  expect_refused(of.run(other), TNR_STATUS_STALE_HANDLE,
                 {"bound is 0x", "a bound program that has been released"});
  const auto* const wrong = reinterpret_cast<const tnr_bound*>(made);
  for (const tnr_bound* const none : {static_cast<const tnr_bound*>(nullptr), wrong}) {
    expect_refused(of.run(none), TNR_STATUS_STALE_HANDLE, {"no bound program was ever given"});
    tnr_memory_plan plan = {};
    plan.struct_size = sizeof plan;
    expect_refused(tnr_bound_memory(none, &plan), TNR_STATUS_STALE_HANDLE,
                   {"no bound program was ever given"});
  }
  EXPECT_EQ(tnr_bound_release(nullptr), TNR_STATUS_OK);
  auto* const no_context = reinterpret_cast<tnr_context*>(made);
  expect_refused(of.run(bound, nullptr, no_context), TNR_STATUS_STALE_HANDLE, {});
  expect_untouched();
}

// Pins as of 32767 calls at once.
TEST_P(CBound, IsBusyAtTheLastPin) {
  tenure::BlobSlot& slot = *tenure::bound_table.find(reinterpret_cast<std::uint64_t>(bound));
  slot.word.fetch_add(tenure::kMaxPins * tenure::kOnePin);
  expect_refused(lent().run(bound), TNR_STATUS_BUSY, {"is used by 32767 calls at once"});
  slot.word.fetch_sub(tenure::kMaxPins * tenure::kOnePin);
  expect_untouched();
  EXPECT_EQ(lent().run(bound), TNR_STATUS_OK);
}

TEST_P(CBound, HoldsItsProgram) {
  programs.clear();
  EXPECT_EQ(tnr_program_release(made), TNR_STATUS_OK);
  EXPECT_EQ(lent().run(bound), TNR_STATUS_OK);
}

TEST_P(CBound, IsRunByThreadsAtOnce) {
  ASSERT_EQ(lent().run(bound), TNR_STATUS_OK);
  const std::vector<float> expected = taken();
  tnr_context_options options = {};
  options.struct_size = sizeof options;
  options.thread_count = 2;
  tnr_context* const context = tnr_context_create(&options);
  ASSERT_NE(context, nullptr) << tnr_last_error()->message;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Floats own({3, 5});
      const Lent of({a.view(), b.view()}, {own.out()});
      for (int round = 0; round < 300; ++round) {
        own.values.assign(15, 0);
        ASSERT_EQ(of.run(bound, nullptr, t % 2 == 0 ? context : nullptr), TNR_STATUS_OK);
        ASSERT_EQ(own.values, expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
  expect_untouched();
}

// An output may be exactly the input that it updates.
TEST_F(CGraph, ABoundProgramUpdatesAnInputInItsPlace) {
  const std::uint32_t x = input({4});
  const std::uint32_t state = input({4});
  output(node(kAdd, {state, node(kMul, {x, x})}), state);
  const Floats a({4}, 2, 0);
  Floats held({4}, 1, 0);
  const Lent of({a.view(), held.view()}, {held.out()});
  tnr_bound* const bound = of.bind(program());
  ASSERT_NE(bound, nullptr) << tnr_last_error()->message;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(of.run(bound), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(held.values, std::vector<float>(4, 13));
  Floats apart({4});
  ASSERT_EQ(Lent({a.view(), held.view()}, {apart.out()}).run(bound), TNR_STATUS_OK);
  EXPECT_EQ(apart.values, std::vector<float>(4, 17));
  const Lent crossed({held.view(), a.view()}, {held.out()});
  expect_refused(crossed.run(bound), TNR_STATUS_ALIASED,
                 {"outputs[0] shares a byte with inputs[0], which it does not update"});
  EXPECT_EQ(held.values, std::vector<float>(4, 13));
  EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK);
}

// A refusal of the data has the message of the program, with the node.
TEST_F(CGraph, ABoundProgramNamesTheNodeThatRefusesData) {
  const std::uint32_t x = input({4}, TNR_DTYPE_I32);
  const std::uint32_t y = input({4}, TNR_DTYPE_I32);
  output(node(kDiv, {node(kAdd, {x, y}), y}));
  tnr_program* const made = program();
  const std::int32_t numerators[] = {6, 8, 10, 12};
  std::int32_t divisors[] = {1, 2, 3, 4};
  std::int32_t quotients[4] = {};
  const Lent of(
      {view_over(numerators, {4}, TNR_DTYPE_I32), view_over(divisors, {4}, TNR_DTYPE_I32)},
      {{view_over(quotients, {4}, TNR_DTYPE_I32)}});
  for (const std::uint32_t flags : {std::uint32_t{0}, std::uint32_t{TNR_BOUND_PREALLOCATED}}) {
    tnr_bound* const bound = of.bind(made, flags);
    ASSERT_NE(bound, nullptr) << tnr_last_error()->message;
    divisors[2] = 3;
    ASSERT_EQ(of.run(bound), TNR_STATUS_OK) << tnr_last_error()->message;
    EXPECT_EQ(std::vector(quotients, quotients + 4), (std::vector<std::int32_t>{7, 5, 4, 4}));
    divisors[2] = 0;
    EXPECT_EQ(run(made, of.views, of.outs), kInvalid);
    const std::string message = tnr_last_error()->message;
    expect_refused(of.run(bound), kInvalid, {"nodes[1], div: ", "divided by an element 0"});
    EXPECT_EQ(tnr_last_error()->message, message);
    EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK);
  }
}

// Views of several layouts, an input that no node reads, and a result without elements.
TEST_F(CGraph, ABoundProgramTakesViewsOfAnyLayout) {
  std::int64_t n = 0;
  ASSERT_EQ(tnr_graph_add_extent(graph, "n", 4, &n), TNR_STATUS_OK);
  const std::uint32_t x = input({n, 3});
  (void)input({n, 3});
  const std::uint32_t row = input({3});
  output(node(kAdd, {node(kMul, {x, x}), row}));
  tnr_program* const made = program();
  for (const std::int64_t rows : {0, 1, 4}) {
    const Floats a({3, rows}, 1, 0.25f);
    const Floats unread({rows, 3}, 0, 0);
    const Floats b({3}, -1, 0.5f);
    Floats expected({rows, 3});
    Floats out({rows, 3});
    tnr_view turned = a.view();
    std::swap(turned.shape[0], turned.shape[1]);
    std::swap(turned.strides[0], turned.strides[1]);
    ASSERT_EQ(run(made, {turned, unread.view(), b.view()}, {expected.out()}), TNR_STATUS_OK);
    Lent of({turned, unread.view(), b.view()}, {out.out()});
    tnr_bound* const bound = of.bind(made);
    ASSERT_NE(bound, nullptr) << tnr_last_error()->message;
    ASSERT_EQ(of.run(bound), TNR_STATUS_OK) << tnr_last_error()->message;
    EXPECT_EQ(out.values, expected.values);
    of.inputs[1] = nullptr;
    expect_refused(of.run(bound), kInvalid, {"inputs[1] is NULL"});
    EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK);
  }
}

// A borrow that has ended is refused, though no view names it.
TEST_F(CGraph, ABoundProgramAsksForConstantsThatAreBorrowed) {
  const Floats numbers({4}, 1, 0.5f);
  tnr_blob* const borrowed = tnr_blob_borrow(numbers.values.data(), 16);
  tnr_view view = {};
  const std::int64_t shape[] = {4};
  ASSERT_EQ(tnr_blob_view(borrowed, 0, TNR_DTYPE_F32, 1, shape, nullptr, &view), TNR_STATUS_OK);
  output(node(kMul, {input({4}), constant(view)}));
  const Floats a({4}, 2, 0);
  Floats out({4});
  const Lent of({a.view()}, {out.out()});
  tnr_bound* const bound = of.bind(program());
  ASSERT_NE(bound, nullptr) << tnr_last_error()->message;
  ASSERT_EQ(of.run(bound), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(out.values[1], 3);
  EXPECT_EQ(tnr_blob_end_borrow(borrowed), TNR_STATUS_BORROW_ESCAPED);
  expect_refused(of.run(bound), TNR_STATUS_STALE_VIEW, {"constants[0]"});
  EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK);
  release_all();
  graph = tnr_graph_create();
  EXPECT_EQ(tnr_blob_release(borrowed), TNR_STATUS_OK);
}

}  // namespace
