// Preallocated programs with branches and loops: runs that allocate nothing, also where a loop does
// not end.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bound_runs.hpp"
#include "expect_status.hpp"
#include "failing_allocator.hpp"
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
using tenure::test::status_under_filter;
using tenure::test::view_over;

namespace {

constexpr std::uint32_t kAdd = TNR_NODE_BINARY + TNR_BINARY_OP_ADD;
constexpr std::uint32_t kLess = TNR_NODE_COMPARE + TNR_COMPARE_OP_LT;

class CPreallocatedBodies : public CGraph {
 protected:
  std::int64_t body(const std::function<void()>& build) {
    tnr_graph* const around = std::exchange(graph, tnr_graph_create());
    build();
    std::uint32_t index = TNR_OPERAND_NONE;
    EXPECT_EQ(tnr_graph_add_subgraph(around, graph, &index), TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_EQ(tnr_graph_release(std::exchange(graph, around)), TNR_STATUS_OK);
    return index;
  }
};

// Images that are convolved, or summed up along rows, as a flag says; then, while fewer rounds are
// done than asked for and at most 3, they are convolved again. On zeros neither convolution is
// computed, and both ask for scratch memory.
class CPreallocatedControl : public CPreallocatedBodies {
 protected:
  CPreallocatedControl() {
    const std::uint32_t image = input({2, 3, 9, 9});
    const std::uint32_t flag = input({}, TNR_DTYPE_BOOL8);
    const std::uint32_t rounds = input({});
    const std::int64_t convolve = body([&] { output(convolved(input({2, 3, 9, 9}))); });
    const std::int64_t accumulate =
        body([&] { output(node(TNR_NODE_SCAN + TNR_SCAN_OP_SUM, {input({2, 3, 9, 9})}, {3})); });
    const std::uint32_t taken = node(TNR_NODE_COND, {flag, image}, {convolve, accumulate});
    const std::int64_t condition = body([&] {
      (void)input({2, 3, 9, 9});
      const std::uint32_t done = input({});
      output(node(kLess, {done, input({})}));
    });
    const std::int64_t iteration = body([&] {
      const std::uint32_t state = input({2, 3, 9, 9});
      const std::uint32_t done = input({});
      (void)input({});
      output(convolved(state));
      output(node(kAdd, {done, scalar(1)}));
    });
    const float zero = 0;
    output(node(TNR_NODE_WHILE, {taken, constant(view_over(&zero, {})), rounds},
                {condition, iteration, kLimit}));
    made = program();
    bound = lent().preallocate(made);
    EXPECT_NE(bound, nullptr) << tnr_last_error()->message;
  }
  ~CPreallocatedControl() override { EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK); }

  std::uint32_t convolved(std::uint32_t images) {
    tnr_conv2d_attributes same = {};
    same.struct_size = sizeof same;
    for (std::int64_t& padding : same.padding) padding = 1;
    return node(TNR_NODE_CONV2D, {images, constant(w.view())}, {}, &same);
  }

  Lent lent() {
    return {{x.view(), view_over(&is_true, {}, TNR_DTYPE_BOOL8), view_over(&wanted, {})},
            {result.out()}};
  }

  // For each way through the program: the flag, the rounds, and what a run answers.
  template <class Visit>
  void each_way(const Visit& visit) {
    for (const bool flag : {false, true}) {
      for (const int rounds : {0, 1, 2, kLimit, kLimit + 1}) {
        SCOPED_TRACE(std::to_string(rounds) +
                     (flag ? " rounds of convolutions" : " rounds of sums"));
        is_true = flag ? 1 : 0;
        wanted = static_cast<float>(rounds);
        visit(rounds > kLimit ? TNR_STATUS_INVALID_ARGUMENT : TNR_STATUS_OK);
      }
    }
  }

  static constexpr int kLimit = 3;
  Floats w{{3, 3, 3, 3}, -0.5f, 0.0625f};
  Floats x{{2, 3, 9, 9}, 0.5f, 0.37f};
  Floats result{{2, 3, 9, 9}};
  std::uint8_t is_true = 0;
  float wanted = 0;
  tnr_program* made = nullptr;
  tnr_bound* bound = nullptr;
};

TEST_F(CPreallocatedControl, HasTheBitsOfItsProgram) {
  each_way([&](tnr_status expected) {
    const Lent of = lent();
    const tnr_status status = run(made, of.views, of.outs);
    ASSERT_EQ(status, expected);
    const std::string message = status == TNR_STATUS_OK ? "" : tnr_last_error()->message;
    const std::vector<float> bits =
        std::exchange(result.values, std::vector<float>(result.values.size()));
    const Lent again = lent();
    ASSERT_EQ(again.run(bound), expected) << tnr_last_error()->message;
    if (expected == TNR_STATUS_OK) {
      EXPECT_EQ(result.values, bits);
      return;
    }
    // It says what the program says.
    EXPECT_EQ(tnr_last_error()->message, message);
    EXPECT_EQ(message,
              "nodes[1], while: a loop that does not end: its condition holds after 3 iterations, "
              "which are its limit");
  });
}

TEST_F(CPreallocatedControl, AllocatesNothingAndTakesNoLock) {
  if (tenure::kSanitized) GTEST_SKIP() << "a sanitizer sees each piece of scratch memory by itself";
  each_way([&](tnr_status expected) {
    const Lent of = lent();
    const int before = lock_count();
    tnr_status status;
    {
      const AllocationFault counted(Failing::kOne, tenure::test::kNone);
      status = of.run(bound);
    }
    EXPECT_EQ(status, expected);
    EXPECT_EQ(allocation_counts().asked, 0);
    EXPECT_EQ(allocation_counts().live_change, 0);
    EXPECT_EQ(lock_count(), before);
  });
}

TEST_F(CPreallocatedControl, MakesNoSystemCall) {
  if (tenure::kSanitized) GTEST_SKIP() << "a sanitizer asks the system itself";
  if (status_under_filter([] { return 0; }) == kNoFilter) {
    GTEST_SKIP() << "the system lets no process filter its calls";
  }
  each_way([&](tnr_status expected) {
    const Lent of = lent();
    EXPECT_EQ(status_under_filter([&] { return of.run(bound) == expected ? 0 : 1; }), 0);
  });
}

TEST_F(CPreallocatedControl, KnowsTheMemoryOfBodiesThatZerosDoNotTake) {
  tnr_memory_plan plan = {};
  plan.struct_size = sizeof plan;
  ASSERT_EQ(tnr_bound_memory(bound, &plan), TNR_STATUS_OK);
  const Lent zeros = lent();
  tnr_program* const fresh = program();
  ASSERT_EQ(run(fresh, zeros.views, zeros.outs), TNR_STATUS_OK);
  EXPECT_LT(memory(fresh, zeros.views).scratch_bytes, plan.scratch_bytes);
  each_way([&](tnr_status expected) {
    const Lent of = lent();
    EXPECT_EQ(run(fresh, of.views, of.outs), expected);
  });
  EXPECT_EQ(memory(fresh, zeros.views).scratch_bytes, plan.scratch_bytes);
  EXPECT_EQ(memory(fresh, zeros.views).peak_bytes, plan.peak_bytes);
}

TEST_F(CPreallocatedBodies, AreNotPreallocatedWhereANodeThrowsWhatItFinds) {
  const std::uint32_t flag = input({}, TNR_DTYPE_BOOL8);
  const std::uint32_t offsets = input({2}, TNR_DTYPE_I64);
  const std::uint32_t column = input({1}, TNR_DTYPE_I64);
  const std::uint32_t element = input({1});
  tnr_sparse_node_attributes csr = {};
  csr.struct_size = sizeof csr;
  csr.format = TNR_SPARSE_FORMAT_CSR;
  const auto keeps = [&] {
    return body([&] {
      (void)input({2}, TNR_DTYPE_I64);
      (void)input({1}, TNR_DTYPE_I64);
      output(node(TNR_NODE_RESHAPE, {input({1})}, {1, 1}));
    });
  };
  const auto throws = [&] {
    return body([&] {
      const std::uint32_t of = input({2}, TNR_DTYPE_I64);
      const std::uint32_t at = input({1}, TNR_DTYPE_I64);
      output(node(TNR_NODE_SPARSE_TO_DENSE, {of, at, input({1})}, {1, 1}, &csr));
    });
  };
  const std::int64_t kept = keeps();
  const std::int64_t thrown = throws();
  const std::int64_t deeper = body([&] {
    const std::uint32_t of = input({2}, TNR_DTYPE_I64);
    const std::uint32_t at = input({1}, TNR_DTYPE_I64);
    const std::uint32_t value = input({1});
    const std::uint8_t yes = 1;
    const std::int64_t inner = throws();
    output(node(TNR_NODE_COND, {constant(view_over(&yes, {}, TNR_DTYPE_BOOL8)), of, at, value},
                {inner, inner}));
  });
  const std::uint32_t shallow =
      node(TNR_NODE_COND, {flag, offsets, column, element}, {kept, thrown});
  const std::uint32_t deep = node(TNR_NODE_COND, {flag, offsets, column, element}, {kept, deeper});
  const std::int64_t rows[] = {0, 1};
  const std::int64_t zero = 0;
  const std::uint8_t yes = 1;
  const float one = 1;
  float out = 0;
  const Lent of({view_over(&yes, {}, TNR_DTYPE_BOOL8), view_over(rows, {2}, TNR_DTYPE_I64),
                 view_over(&zero, {1}, TNR_DTYPE_I64), view_over(&one, {1})},
                {{view_over(&out, {1, 1})}});
  tnr_graph* const both = graph;
  for (const auto& [value, words] :
       {std::pair(shallow, "nodes[0], cond: subgraphs[1], nodes[0], sparse_to_dense: throws"),
        std::pair(deep,
                  "nodes[1], cond: subgraphs[2], nodes[0], cond: subgraphs[0], nodes[0], "
                  "sparse_to_dense: throws")}) {
    graph = tenure::test::rebuilt(both);
    output(value);
    expect_refused(Lent(of).preallocate(program()), TNR_STATUS_UNSUPPORTED, {words});
    EXPECT_EQ(tnr_graph_release(std::exchange(graph, both)), TNR_STATUS_OK);
  }
}

}  // namespace
