// Gradients of control nodes, compared with central differences in f64.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <string>

#include "found_graph.hpp"
#include "program/passes.hpp"
#include "program_kinds.hpp"

namespace {

using tenure::test::elements_of;
using tenure::test::expect_refused;
using tenure::test::FoundGraph;
using tenure::test::rebuilt;
using tenure::test::Shape;
using tenure::test::view_over;

constexpr auto F64 = TNR_DTYPE_F64;
constexpr auto I64 = TNR_DTYPE_I64;
constexpr std::uint32_t kAdd = TNR_NODE_BINARY + TNR_BINARY_OP_ADD;
constexpr std::uint32_t kMul = TNR_NODE_BINARY + TNR_BINARY_OP_MUL;
constexpr std::uint32_t kLess = TNR_NODE_COMPARE + TNR_COMPARE_OP_LT;
constexpr std::uint32_t kExp = TNR_NODE_UNARY + TNR_UNARY_OP_EXP;
constexpr std::uint32_t kSin = TNR_NODE_UNARY + TNR_UNARY_OP_SIN;
constexpr std::uint32_t kTanh = TNR_NODE_UNARY + TNR_UNARY_OP_TANH;
constexpr std::uint32_t kSum = TNR_NODE_REDUCE + TNR_REDUCE_OP_SUM;
constexpr std::uint32_t kMean = TNR_NODE_REDUCE + TNR_REDUCE_OP_MEAN;

// An input of a run. In the graph an axis of a negative extent has the named extent n.
struct Given {
  Shape shape;
  tnr_dtype dtype;
  std::vector<double> numbers;
};

Given floats(const Shape& shape, double start) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  Given given = {shape, F64, {}};
  double at = start;
  for (std::size_t i = 0; i < count; ++i) {
    at = std::fmod(at + 0.6180339887498949, 1.0);
    given.numbers.push_back(0.2 + 0.7 * at);
  }
  return given;
}
Given flag(bool is_true) { return {{}, TNR_DTYPE_BOOL8, {is_true ? 1.0 : 0.0}}; }
Given number(double of) { return {{}, I64, {of}}; }

class CControlGradients : public FoundGraph {
 protected:
  using Values = std::vector<std::uint32_t>;
  using Build = std::function<std::uint32_t(const Values& inputs)>;

  std::uint32_t sum(std::uint32_t value, std::uint32_t axes = 1) {
    return node(kSum, {value}, {}, nullptr, axes);
  }
  std::uint32_t integer(std::int64_t of) { return constant(view_over(&of, {}, I64)); }

  tnr_status add_gradients(std::uint32_t of, const Values& by, Values& gradients) {
    gradients.assign(by.size(), 77);
    return tnr_graph_add_gradients(graph, of, TNR_OPERAND_NONE, by.data(),
                                   static_cast<std::uint32_t>(by.size()), nullptr,
                                   gradients.data());
  }
  void expect_no_gradient(std::uint32_t of, const Values& by, tnr_status status,
                          std::initializer_list<std::string> words) {
    Values gradients;
    expect_refused(add_gradients(of, by, gradients), status, words);
    for (const std::uint32_t gradient : gradients) EXPECT_EQ(gradient, 77u);
  }

  // Inputs of these shapes, whose first axes are `n` where it is not 0.
  Values inputs_of(const std::vector<Given>& given, std::int64_t n = 0) {
    Values inputs;
    for (const Given& of : given) {
      Shape shape = of.shape;
      if (n != 0 && !shape.empty()) shape[0] = n;
      inputs.push_back(input(shape, of.dtype));
    }
    return inputs;
  }

  // The gradients of one number by all f64 inputs, as outputs behind it.
  void add_outputs(const std::vector<Given>& given, const Values& inputs, std::uint32_t of) {
    Values by;
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i].dtype == F64) by.push_back(inputs[i]);
    }
    Values gradients;
    ASSERT_EQ(add_gradients(of, by, gradients), TNR_STATUS_OK) << tnr_last_error()->message;
    output(of);
    for (const std::uint32_t gradient : gradients) output(gradient);
  }

  using Results = std::vector<std::vector<double>>;

  static void run_all(const tnr_program* made, const std::vector<Given>& given, Results& results,
                      tnr_context* context = nullptr) {
    std::vector<std::vector<unsigned char>> bytes;
    std::vector<tnr_view> views;
    results.assign(1, {0.0});
    std::vector<Shape> shapes = {{}};
    for (const Given& of : given) {
      bytes.push_back(elements_of(of.numbers, of.shape, of.dtype));
      views.push_back(view_over(bytes.back().data(), of.shape, of.dtype));
      if (of.dtype != F64) continue;
      results.emplace_back(of.numbers.size(), 77.0);
      shapes.push_back(of.shape);
    }
    std::vector<tnr_view_mut> outputs;
    for (std::size_t i = 0; i < results.size(); ++i) {
      outputs.push_back({view_over(results[i].data(), shapes[i], F64)});
    }
    std::vector<const tnr_view*> read;
    for (const tnr_view& view : views) read.push_back(&view);
    std::vector<const tnr_view_mut*> written;
    for (const tnr_view_mut& view : outputs) written.push_back(&view);
    ASSERT_EQ(tnr_program_run(context, made, read.data(), static_cast<std::uint32_t>(read.size()),
                              nullptr, written.data(), static_cast<std::uint32_t>(written.size())),
              TNR_STATUS_OK)
        << tnr_last_error()->message;
  }

  static void compare(const tnr_program* made, const std::vector<Given>& given) {
    constexpr double kStep = 1e-5;
    Results results;
    run_all(made, given, results);
    if (HasFatalFailure()) return;
    std::size_t variable = 0;
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i].dtype != F64) continue;
      ++variable;
      for (std::size_t j = 0; j < given[i].numbers.size(); ++j) {
        double slope = 0;
        for (const double sign : {1.0, -1.0}) {
          std::vector<Given> moved = given;
          moved[i].numbers[j] += sign * kStep;
          Results other;
          run_all(made, moved, other);
          if (HasFatalFailure()) return;
          slope += sign * other[0][0] / (2 * kStep);
        }
        EXPECT_NEAR(results[variable][j], slope, 2e-6 * (1 + std::abs(slope)))
            << "input " << i << ", element " << j;
      }
    }
  }

  // Compares the gradients of the number that `build` makes of inputs, for each of the runs.
  void check(const std::vector<std::vector<Given>>& runs, const Build& build, std::int64_t n = 0) {
    const Values inputs = inputs_of(runs[0], n);
    add_outputs(runs[0], inputs, build(inputs));
    if (HasFatalFailure()) return;
    tnr_graph* again = rebuilt(graph);
    for (const std::uint32_t disabled : {0u, tenure::kAllPasses}) {
      const tnr_program* const made = program(disabled);
      for (std::size_t i = 0; i < runs.size(); ++i) {
        SCOPED_TRACE("run " + std::to_string(i));
        compare(made, runs[i]);
        if (HasFatalFailure()) break;
      }
    }
    std::swap(graph, again);
    const tnr_program* const listed = program();
    std::swap(graph, again);
    EXPECT_EQ(tnr_graph_release(again), TNR_STATUS_OK);
    for (const std::vector<Given>& given : runs) {
      Results results;
      Results same;
      run_all(programs[0], given, results);
      if (HasFatalFailure()) return;
      run_all(listed, given, same);
      EXPECT_EQ(results, same);
    }
  }
};

TEST_F(CControlGradients, OfCondAreThoseOfTheBodyThatIsTaken) {
  const std::int64_t first = body([&] {
    const std::uint32_t x = input({3}, F64), y = input({3}, F64);
    (void)input({2}, I64);
    const std::uint32_t rows = input({2}, F64);
    output(node(kMul, {node(kSin, {x}), y}));
    output(sum(node(kMul, {rows, rows})));
    output(integer(3));
  });
  // The third operand is an index, and the last one is unused.
  const std::int64_t second = body([&] {
    const std::uint32_t x = input({3}, F64), y = input({3}, F64);
    const std::uint32_t indices = input({2}, I64);
    (void)input({2}, F64);
    output(x);
    output(sum(node(TNR_NODE_TAKE, {node(kExp, {y}), indices}, {0})));
    output(integer(4));
  });
  const std::vector<Given> given = {floats({3}, 0.1), floats({3}, 0.6),  {{2}, I64, {2, 0}},
                                    floats({2}, 0.3), floats({3}, 0.77), flag(true)};
  std::vector<Given> other = given;
  other.back() = flag(false);
  check({given, other}, [&](const Values& of) {
    const std::uint32_t result =
        node(TNR_NODE_COND, {of[5], of[0], of[1], of[2], of[3]}, {first, second});
    return node(kAdd, {sum(node(kMul, {result, of[4]})), result + 1});
  });
}

TEST_F(CControlGradients, OfCondWithinCondOnComputedFlags) {
  const auto scaled = [&](double factor, std::uint32_t code) {
    return body([&] {
      const std::uint32_t x = input({3}, F64), w = input({}, F64);
      output(node(kMul, {node(code, {node(kMul, {x, w})}), scalar(factor)}));
    });
  };
  const std::int64_t outer_first = body([&] {
    const std::int64_t first = scaled(2, kSin);
    const std::int64_t second = scaled(3, kExp);
    const std::uint32_t x = input({3}, F64), w = input({}, F64);
    const std::uint32_t flag = node(kLess, {sum(x), scalar(1)});
    const std::uint32_t y = node(TNR_NODE_COND, {flag, x, w}, {first, second});
    output(node(kMul, {y, y}));
  });
  const std::int64_t outer_second = scaled(-1, kTanh);
  const auto run_of = [](double start, double w) {
    std::vector<Given> given = {{{3}, F64, {start, 0.2, 0.25}}, {{}, F64, {w}}};
    return given;
  };
  check({run_of(0.1, 0.5), run_of(0.9, 0.4), run_of(0.3, 1.5)}, [&](const Values& of) {
    const std::uint32_t flag = node(kLess, {of[1], scalar(1)});
    return sum(node(TNR_NODE_COND, {flag, of[0], of[1]}, {outer_first, outer_second}));
  });
}

TEST_F(CControlGradients, OfCondWithNamedExtents) {
  const std::int64_t n = extent("n", 7);
  // The bodies name no extent. Their inputs have the shapes of a run.
  const std::int64_t first = body([&] {
    const std::uint32_t x = input({7, 2}, F64), w = input({2}, F64);
    output(node(kMean, {node(kMul, {node(kMul, {x, x}), w})}, {}, nullptr, 1));
    output(node(kMul, {x, w}));
  });
  const std::int64_t second = body([&] {
    const std::int64_t rows = extent("n", 7);
    const std::uint32_t x = input({rows, 2}, F64), w = input({2}, F64);
    output(node(kExp, {w}));
    output(node(kMul, {node(kSin, {x}), x}));
  });
  const auto given = [](std::int64_t rows, bool is_true) {
    Given of = flag(is_true);
    return std::vector<Given>{floats({rows, 2}, 0.1), of};
  };
  const std::uint32_t w = input({2}, F64);
  (void)w;
  const std::vector<std::vector<Given>> runs = {given(7, true), given(3, true), given(1, false)};
  std::vector<std::vector<Given>> all;
  for (const std::vector<Given>& run : runs) {
    all.push_back({floats({2}, 0.4), run[0], run[1]});
  }
  const Values inputs = {w, input({n, 2}, F64), input({}, TNR_DTYPE_BOOL8)};
  const std::uint32_t y = node(TNR_NODE_COND, {inputs[2], inputs[1], w}, {first, second});
  add_outputs(all[0], inputs,
              node(kAdd, {sum(y), node(kMean, {node(kExp, {y + 1})}, {}, nullptr, 3)}));
  ASSERT_FALSE(HasFatalFailure());
  for (const std::uint32_t disabled : {0u, tenure::kAllPasses}) {
    const tnr_program* const made = program(disabled);
    for (const std::vector<Given>& run : all) compare(made, run);
  }
}

TEST_F(CControlGradients, OfShapesThatNoNumberStatesAreRefused) {
  const std::uint32_t x = input({8}, F64);
  const std::uint32_t decides = input({}, TNR_DTYPE_BOOL8);
  const std::int64_t selects = body([&] {
    const std::uint32_t of = input({8}, F64);
    output(selected(of, extent("hits", 8)));
  });
  const std::int64_t sums = body([&] {
    const std::uint32_t of = input({8}, F64);
    output(node(kMean, {node(kExp, {of})}, {}, nullptr, 1));
  });
  const std::int64_t first_of = body([&] {
    const std::uint32_t of = input({8}, F64);
    output(sum(node(TNR_NODE_SLICE, {of}, {0, 0, 1, 1})));
  });
  const std::uint32_t some = node(TNR_NODE_COND, {decides, x}, {selects, selects});
  const std::uint32_t y = node(TNR_NODE_COND, {decides, some}, {sums, first_of});
  expect_no_gradient(y, {x}, TNR_STATUS_UNSUPPORTED,
                     {"nodes[1], cond: subgraphs[1], ", "a gradient needs shape[0] of value 1"});
}

// ---- loops -----------------------------------------------------------------------------------

class CLoopGradients : public CControlGradients {
 protected:
  static constexpr std::int64_t kLimit = 5;

  // Inputs of both bodies: a count, a state of this shape, the times and a factor.
  Values loop_inputs(const Shape& shape) {
    return {input({}, I64), input(shape, F64), input({}, I64), input(shape, F64)};
  }
  std::int64_t while_counted(const Shape& shape) {
    return body([&] {
      const Values of = loop_inputs(shape);
      output(node(kLess, {of[0], of[2]}));
    });
  }
  std::uint32_t loop(const Values& of, std::int64_t condition, std::int64_t iteration,
                     std::int64_t limit = kLimit) {
    return node(TNR_NODE_WHILE, {integer(0), of[0], of[2], of[1]}, {condition, iteration, limit}) +
           1;
  }
  static std::vector<Given> given_of(double times, std::int64_t extent = 3) {
    return {floats({extent}, 0.1), floats({extent}, 0.6), number(times)};
  }
};

TEST_F(CLoopGradients, AreThoseOfAllIterations) {
  const std::int64_t condition = while_counted({3});
  const std::int64_t iteration = body([&] {
    const Values of = loop_inputs({3});
    output(node(kAdd, {of[0], integer(1)}));
    const std::uint32_t step = node(kTanh, {node(kMul, {of[1], of[3]})});
    output(node(kAdd, {step, node(kMul, {of[1], scalar(0.3)})}));
  });
  check({given_of(3), given_of(0), given_of(1), given_of(2), given_of(kLimit)},
        [&](const Values& of) {
          const std::uint32_t y = loop(of, condition, iteration);
          return sum(node(kMul, {y, y}));
        });
  // One iteration more than the limit ends a run as it does without gradients.
  Results results;
  std::vector<std::vector<unsigned char>> bytes;
  std::vector<tnr_view> views;
  for (const Given& of : given_of(kLimit + 1)) {
    bytes.push_back(elements_of(of.numbers, of.shape, of.dtype));
    views.push_back(view_over(bytes.back().data(), of.shape, of.dtype));
  }
  double y = 0, dx[3], dw[3];
  expect_refused(
      run(programs[0], views,
          {{view_over(&y, {}, F64)}, {view_over(dx, {3}, F64)}, {view_over(dw, {3}, F64)}}),
      TNR_STATUS_INVALID_ARGUMENT, {"a loop that does not end"});
}

TEST_F(CLoopGradients, NeedNoStatesWhereIterationsAreLinear) {
  const std::int64_t condition = while_counted({3});
  const std::int64_t iteration = body([&] {
    const Values of = loop_inputs({3});
    output(node(kAdd, {of[0], integer(1)}));
    output(node(kAdd, {node(kMul, {of[1], scalar(1.5)}), of[3]}));
  });
  check({given_of(4), given_of(0)},
        [&](const Values& of) { return sum(loop(of, condition, iteration, 1000)); });
  const std::vector<Given> given = given_of(4);
  std::vector<std::vector<unsigned char>> bytes;
  std::vector<tnr_view> views;
  for (const Given& of : given) {
    bytes.push_back(elements_of(of.numbers, of.shape, of.dtype));
    views.push_back(view_over(bytes.back().data(), of.shape, of.dtype));
  }
  EXPECT_LT(memory(programs[0], views).peak_bytes, 4096);
}

// The factor depends on the count, and one state leads to the other.
TEST_F(CLoopGradients, LeadThroughStatesThatTheResultIsNotMadeOf) {
  const std::int64_t condition = body([&] {
    const Values of = {input({}, I64), input({2}, F64), input({2}, F64),
                       input({}, I64), input({2}, F64), input({4}, F64)};
    output(node(kLess, {of[0], of[3]}));
  });
  const std::int64_t iteration = body([&] {
    const Values of = {input({}, I64), input({2}, F64), input({2}, F64),
                       input({}, I64), input({2}, F64), input({4}, F64)};
    output(node(kAdd, {of[0], integer(1)}));
    const std::uint32_t factor = node(TNR_NODE_TAKE, {of[5], of[0]}, {0});
    output(node(kSin, {node(kMul, {of[2], factor})}));
    output(node(kMul, {node(kExp, {of[2]}), of[4]}));
  });
  const auto given = [](double times) {
    return std::vector<Given>{floats({2}, 0.1), floats({2}, 0.3), floats({2}, 0.5),
                              floats({4}, 0.7), number(times)};
  };
  check({given(0), given(1), given(2), given(4)}, [&](const Values& of) {
    const std::uint32_t result = node(
        TNR_NODE_WHILE, {integer(0), of[0], of[1], of[4], of[2], of[3]}, {condition, iteration, 4});
    return sum(node(kMul, {result + 1, of[2]}));
  });
}

TEST_F(CLoopGradients, OfLoopsWithinLoopsAndConds) {
  const std::int64_t iteration = body([&] {
    const std::int64_t inner_condition = while_counted({2});
    const std::int64_t inner = body([&] {
      const Values of = loop_inputs({2});
      output(node(kAdd, {of[0], integer(1)}));
      output(node(kSin, {node(kMul, {of[1], of[3]})}));
    });
    const std::int64_t plain = body([&] {
      const Values of = loop_inputs({2});
      output(node(kMul, {of[1], of[1]}));
    });
    const std::int64_t looping = body([&] {
      const std::int64_t own_condition = while_counted({2});
      const std::int64_t own = body([&] {
        const Values of = loop_inputs({2});
        output(node(kAdd, {of[0], integer(1)}));
        output(node(kTanh, {node(kMul, {of[1], of[3]})}));
      });
      const Values of = loop_inputs({2});
      output(node(TNR_NODE_WHILE, {integer(0), of[1], of[2], of[3]}, {own_condition, own, 4}) + 1);
    });
    const Values of = loop_inputs({2});
    output(node(kAdd, {of[0], integer(1)}));
    const std::uint32_t y =
        node(TNR_NODE_WHILE, {integer(0), of[1], of[0], of[3]}, {inner_condition, inner, kLimit}) +
        1;
    const std::uint32_t is_first = node(kLess, {of[0], integer(1)});
    output(node(TNR_NODE_COND, {is_first, of[0], y, of[2], of[3]}, {looping, plain}));
  });
  const std::int64_t condition = while_counted({2});
  check({given_of(3, 2), given_of(1, 2), given_of(0, 2)},
        [&](const Values& of) { return sum(loop(of, condition, iteration)); });
}

TEST_F(CLoopGradients, OfStatesWithNamedExtentsAndLimits) {
  const std::int64_t n = extent("n", 6);
  // The bodies say the largest shape of their inputs.
  const std::int64_t condition = while_counted({6});
  const std::int64_t iteration = body([&] {
    const Values of = loop_inputs({6});
    output(node(kAdd, {of[0], integer(1)}));
    const std::uint32_t mean = node(kMean, {node(kExp, {of[1]})}, {}, nullptr, 1);
    output(node(kMul, {node(kAdd, {node(kSin, {of[1]}), mean}), of[3]}));
  });
  check(
      {given_of(3, 6), given_of(2, 3), given_of(1, 1)},
      [&](const Values& of) {
        return node(kMean, {loop(of, condition, iteration, n)}, {}, nullptr, 1);
      },
      n);
}

TEST_F(CLoopGradients, OfGradients) {
  const std::int64_t condition = while_counted({3});
  const std::int64_t iteration = body([&] {
    const Values of = loop_inputs({3});
    output(node(kAdd, {of[0], integer(1)}));
    output(node(kSin, {node(kMul, {of[1], of[3]})}));
  });
  check({given_of(3), given_of(0)}, [&](const Values& of) {
    Values gradients;
    EXPECT_EQ(add_gradients(sum(loop(of, condition, iteration)), {of[0], of[1]}, gradients),
              TNR_STATUS_OK)
        << tnr_last_error()->message;
    return sum(node(kMul, {gradients[0], node(kExp, {gradients[1]})}));
  });
}

TEST_F(CLoopGradients, OfDataDependentStatesAreRefused) {
  const std::uint32_t x = input({8}, F64);
  const std::int64_t condition = body([&] {
    const std::uint32_t of = input({8}, F64);
    output(node(kLess, {sum(of), scalar(100)}));
  });
  const std::int64_t iteration = body([&] {
    const std::uint32_t of = input({8}, F64);
    output(node(kExp, {selected(of, extent("hits", 8))}));
  });
  const std::uint32_t y = node(TNR_NODE_WHILE, {x}, {condition, iteration, 9});
  std::uint32_t gradient = 77;
  expect_refused(
      tnr_graph_add_gradients(graph, y, y, &x, 1, nullptr, &gradient), TNR_STATUS_UNSUPPORTED,
      {"nodes[0], while: no gradient leads through it: a run decides the shape of its state"});
  EXPECT_EQ(gradient, 77u);
}

// States are stored where they stay: no iteration copies those of the others.
TEST_F(CLoopGradients, StoreEachStateOnce) {
  constexpr std::int64_t kMany = 1000;
  constexpr std::int64_t kMost = 400;
  const std::int64_t condition = while_counted({kMany});
  const std::int64_t iteration = body([&] {
    const Values of = loop_inputs({kMany});
    output(node(kAdd, {of[0], integer(1)}));
    output(node(kSin, {node(kMul, {of[1], of[3]})}));
  });
  const std::vector<Given> given = given_of(kMost, kMany);
  const Values inputs = inputs_of(given);
  add_outputs(given, inputs, sum(loop(inputs, condition, iteration, kMost)));
  ASSERT_FALSE(HasFatalFailure());
  std::vector<std::vector<unsigned char>> bytes;
  std::vector<tnr_view> views;
  for (const Given& of : given) {
    bytes.push_back(elements_of(of.numbers, of.shape, of.dtype));
    views.push_back(view_over(bytes.back().data(), of.shape, of.dtype));
  }
  EXPECT_LT(memory(program(), views).peak_bytes, kMany * (kMost + 20) * 8);
  Results results;
  Results apart;
  run_all(programs[0], given, results);
  run_all(program(tenure::kAllPasses), given, apart);
  EXPECT_EQ(results, apart);
}

TEST_F(CLoopGradients, HaveTheSameBitsForAnyNumberOfThreads) {
  constexpr std::int64_t kMany = 30000;
  const std::int64_t condition = while_counted({kMany});
  const std::int64_t iteration = body([&] {
    const Values of = loop_inputs({kMany});
    output(node(kAdd, {of[0], integer(1)}));
    output(node(kAdd, {node(kTanh, {node(kMul, {of[1], of[3]})}), sum(of[3])}));
  });
  const std::vector<Given> given = given_of(3, kMany);
  const Values inputs = inputs_of(given);
  add_outputs(given, inputs, sum(loop(inputs, condition, iteration)));
  ASSERT_FALSE(HasFatalFailure());
  const tnr_program* const made = program();
  std::vector<Results> all;
  for (const std::uint32_t threads : {1u, 2u, 5u}) {
    tnr_context_options options = {};
    options.struct_size = sizeof options;
    options.thread_count = threads;
    tnr_context* const context = tnr_context_create(&options);
    run_all(made, given, all.emplace_back(), context);
    EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
  }
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0], all[2]);
}

}  // namespace
