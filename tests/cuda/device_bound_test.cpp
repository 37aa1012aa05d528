// Programs that are bound to a device: the bits of the program on other memory of the same layouts,
// by any number of threads and streams, and what a run refuses.
#include <initializer_list>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../capi/program/bound_runs.hpp"
#include "device_program.hpp"
#include "expect_status.hpp"

namespace {

using tenure::test::context_on;
using tenure::test::Copied;
using tenure::test::expect_refused;
using tenure::test::Floats;
using tenure::test::kFirstDevice;
using tenure::test::Lent;
using tenure::test::totals_of_all;

constexpr std::uint32_t kMul = TNR_NODE_BINARY + TNR_BINARY_OP_MUL;
constexpr std::uint32_t kAdd = TNR_NODE_BINARY + TNR_BINARY_OP_ADD;
constexpr std::uint32_t kDiv = TNR_NODE_BINARY + TNR_BINARY_OP_DIV;
constexpr std::uint32_t kSoftmax = TNR_NODE_NORMALIZE + TNR_NORMALIZE_OP_SOFTMAX;
constexpr auto kInvalid = TNR_STATUS_INVALID_ARGUMENT;

// softmax(a * a + weights). The operand of softmax is an intermediate value.
class DeviceBound : public tenure::test::DeviceGraph {
 protected:
  void SetUp() override {
    DeviceGraph::SetUp();
    if (context_ == nullptr) return;
    const std::uint32_t x = input({3, 40});
    const std::uint32_t sum = node(kAdd, {node(kMul, {x, x}), constant(weights_.view())});
    output(node(kSoftmax, {sum}, {}, nullptr, 2));
    made_ = program();
  }
  [[nodiscard]] Floats elements(int round) const {
    return {{3, 40}, static_cast<float>(round) * 0.25f - 1, 0.0625f};
  }

  const Floats weights_{{40}, -1, 0.03125f};
  tnr_program* made_ = nullptr;
};

TEST_F(DeviceBound, HasTheBitsOfItsProgramOnOtherMemory) {
  const Copied a(context_, elements(0).view());
  const Copied out = floats({3, 40}, -5);
  const Lent first({a.view()}, {out.out()});
  const tnr_stats before = totals_of_all();
  tnr_bound* const bound = first.bind(made_, 0, context_);
  ASSERT_NE(bound, nullptr) << tnr_last_error()->message;
  // Its constants are copied, and nothing runs.
  EXPECT_EQ(totals_of_all().device_launches, before.device_launches);
  EXPECT_EQ(out.floats(), std::vector<float>(120, -5));
  tnr_memory_plan plan = {};
  plan.struct_size = sizeof plan;
  ASSERT_EQ(tnr_bound_memory(bound, &plan), TNR_STATUS_OK);
  EXPECT_EQ(plan.step_count, 2u);
  EXPECT_GE(plan.peak_bytes, 480u);
  for (int round = 1; round < 4; ++round) {
    const Copied other(context_, elements(round).view());
    const Copied expected = floats({3, 40});
    const Copied got = floats({3, 40});
    ASSERT_EQ(tenure::test::run_on(context_, made_, {other.view()}, {expected.out()}),
              TNR_STATUS_OK);
    const Lent of({other.view()}, {got.out()});
    std::int64_t shape[TNR_MAX_RANK] = {};
    ASSERT_EQ(of.run(bound, shape, context_), TNR_STATUS_OK) << tnr_last_error()->message;
    EXPECT_EQ(got.elements(), expected.elements());
    EXPECT_EQ(shape[1], 40);
  }
  EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK);
}

TEST_F(DeviceBound, RefusesWhatIsNotBound) {
  const Copied a(context_, elements(0).view());
  const Copied out = floats({3, 40}, -5);
  const Lent lent({a.view()}, {out.out()});
  expect_refused(lent.bind(made_), kInvalid, {"are on cuda:0 but the context of the call has no"});
  tnr_bound* const bound = lent.bind(made_, 0, context_);
  ASSERT_NE(bound, nullptr) << tnr_last_error()->message;
  const auto refused = [&](tnr_status status, std::initializer_list<std::string> words,
                           const auto& change) {
    Lent of = lent;
    change(of);
    expect_refused(of.run(bound, nullptr, context_), status, words);
  };
  const Floats here({3, 40}, 1, 0);
  const Copied turned(context_, Floats({40, 3}).view());
  refused(kInvalid, {"inputs[0] is f32 with the strides [1, 3] but the program is bound to f32"},
          [&](Lent& of) {
            of.views[0] = turned.view();
            std::swap(of.views[0].shape[0], of.views[0].shape[1]);
            std::swap(of.views[0].strides[0], of.views[0].strides[1]);
          });
  refused(kInvalid, {"outputs[0] is f32 with the shape [40, 3]"},
          [&](Lent& of) { of.outs[0] = turned.out(); });
  refused(TNR_STATUS_UNSUPPORTED, {"inputs[0].device is the CPU"},
          [&](Lent& of) { of.views[0] = here.view(); });
  refused(kInvalid, {"input_count is 0"}, [](Lent& of) { of.inputs.clear(); });
  refused(kInvalid, {"outputs[0] is NULL"}, [](Lent& of) { of.outputs[0] = nullptr; });
  refused(TNR_STATUS_ALIASED, {"outputs[0] shares a byte with inputs[0]"},
          [&](Lent& of) { of.views[0] = out.view(); });
  tnr_view ended;
  {
    const Copied gone(context_, elements(0).view());
    ended = gone.view();
  }
  refused(TNR_STATUS_STALE_VIEW, {"inputs[0]"}, [&](Lent& of) { of.views[0] = ended; });
  expect_refused(lent.run(bound), kInvalid,
                 {"the program is bound to cuda:0 but the context's device is the CPU"});
  // Memory of the CPU is bound to the CPU, in whatever context.
  Floats to({3, 40});
  const Lent of_cpu({here.view()}, {to.out()});
  tnr_bound* const plain = of_cpu.bind(made_, 0, context_);
  ASSERT_NE(plain, nullptr) << tnr_last_error()->message;
  EXPECT_EQ(of_cpu.run(plain, nullptr, context_), TNR_STATUS_OK);
  expect_refused(lent.run(plain, nullptr, context_), TNR_STATUS_UNSUPPORTED,
                 {"inputs[0].device is cuda:0"});
  EXPECT_EQ(tnr_bound_release(plain), TNR_STATUS_OK);
  EXPECT_EQ(out.floats(), std::vector<float>(120, -5));
  EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK);
}

// Findings in the data are waited for, and the message is the program's.
TEST_F(DeviceBound, NamesTheNodeThatRefusesData) {
  EXPECT_EQ(tnr_graph_release(std::exchange(graph, tnr_graph_create())), TNR_STATUS_OK);
  const std::uint32_t x = input({2}, TNR_DTYPE_I32);
  output(node(kDiv, {node(kAdd, {x, x}), x}));
  const std::int32_t zeros[] = {0, 3};
  const tnr_view here = tenure::test::view_over(zeros, {2}, TNR_DTYPE_I32);
  const Copied a(context_, here);
  const Copied out(context_, here);
  const Lent of({a.view()}, {out.out()});
  tnr_bound* const bound = of.bind(program(), 0, context_);
  ASSERT_NE(bound, nullptr) << tnr_last_error()->message;
  expect_refused(of.run(bound, nullptr, context_), kInvalid, {"nodes[1], div: "});
  EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK);
}

TEST_F(DeviceBound, ThreadsAndStreamsRunOne) {
  const Copied a(context_, elements(1).view());
  const Copied expected = floats({3, 40});
  ASSERT_EQ(tenure::test::run_on(context_, made_, {a.view()}, {expected.out()}), TNR_STATUS_OK);
  const std::vector<unsigned char> bits = expected.elements();
  const Copied out = floats({3, 40});
  tnr_bound* const bound = Lent({a.view()}, {out.out()}).bind(made_, 0, context_);
  ASSERT_NE(bound, nullptr) << tnr_last_error()->message;
  programs.clear();
  EXPECT_EQ(tnr_program_release(made_), TNR_STATUS_OK);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      tnr_context* const own = context_on(kFirstDevice);
      {
        const Copied got(own, Floats({3, 40}).view());
        const Lent of({a.view()}, {got.out()});
        for (int i = 0; i < 10; ++i) ASSERT_EQ(of.run(bound, nullptr, own), TNR_STATUS_OK);
        EXPECT_EQ(got.elements(), bits);
      }
      EXPECT_EQ(tnr_context_release(own), TNR_STATUS_OK);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK);
}

}  // namespace
