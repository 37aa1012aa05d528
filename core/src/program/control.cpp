#include "program/control.hpp"

#include <algorithm>
#include <cinttypes>
#include <optional>

#include "program/unbacked.hpp"
#include "tenure/dtype.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

constexpr const char* kWhileNames[] = {"the condition", "the body"};
constexpr const char* kCondNames[] = {"the first body", "the second body"};

void require_type(const ArrayType& given, const ArrayType& expected, const char* what,
                  std::size_t index, const char* body) {
  if (given == expected) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s[%zu] of %s is %s of shape %s but must be %s of shape %s",
       what, index, body, dtype_name(given.dtype), shape_text(given.rank, given.shape).text,
       dtype_name(expected.dtype), shape_text(expected.rank, expected.shape).text);
}

void require_verdict(const ArrayType& type, const char* name) {
  if (type.dtype == TNR_DTYPE_BOOL8 &&
      std::all_of(type.shape, type.shape + type.rank, [](std::int64_t n) { return n == 1; })) {
    return;
  }
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s is %s of shape %s but must be a bool8 of one element", name,
       dtype_name(type.dtype), shape_text(type.rank, type.shape).text);
}

// Whether a run decides the shapes of what the node gives.
bool gives_found(const Graph& graph, const std::vector<ArrayType>& types, const GraphNode& node) {
  if (std::ranges::any_of(node.bodies, [](const auto& of) { return of->graph.finds_extents; })) {
    return true;
  }
  const auto index = static_cast<std::size_t>(&node - graph.nodes.data());
  return deciding_nodes(graph, types).of_nodes[index] != kNoValue;
}

[[noreturn]] void refuse_growth(const ArrayType& given, const ArrayType& state, std::size_t index) {
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "outputs[%zu] of the body may have shape %s but the state begins with %s: an iteration may "
       "give fewer elements along an axis, and not more",
       index, shape_text(given.rank, given.shape).text, shape_text(state.rank, state.shape).text);
}

Inferred infer_body(const Graph& graph, const Body& body, const Sizes& sizes,
                    const std::vector<ArrayType>& inputs, const char* name, std::int64_t number) {
  const Graph& inner = body.graph;
  if (inputs.size() != inner.inputs.size()) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s has %zu inputs but is handed %zu values", name,
         inner.inputs.size(), inputs.size());
  }
  // Types of inputs hold where extents are at their maxima; for others all nodes are checked.
  for (std::size_t i = 0; sizes.are_maxima() && i < inputs.size(); ++i) {
    require_type(body.types[inner.inputs[i].value], inputs[i], "inputs", i, name);
  }
  const Sizes own(inner, graph, sizes);
  try {
    return infer_graph(inner, body.needed, own, inputs);
  } catch (const Error& error) {
    fail(error.status(), "subgraphs[%" PRId64 "], %s", number, error.message());
  }
}

// The types of what a body gives.
std::vector<ArrayType> results_of(const Body& body, const Inferred& inferred) {
  std::vector<ArrayType> results;
  results.reserve(body.graph.outputs.size());
  for (const GraphOutput& output : body.graph.outputs) {
    results.push_back(inferred.types[output.value]);
  }
  return results;
}

}  // namespace

std::vector<std::shared_ptr<const Body>> find_bodies(const Graph& graph,
                                                     const tnr_graph_node& given) {
  std::vector<std::shared_ptr<const Body>> bodies;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t number = given.numbers[i];
    if (number < 0 || number >= std::ssize(graph.bodies)) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "node->numbers[%zu] is %" PRId64 " but the graph has %zu subgraphs", i, number,
           graph.bodies.size());
    }
    bodies.push_back(graph.bodies[static_cast<std::size_t>(number)]);
  }
  return bodies;
}

std::uint32_t count_results(const GraphNode& node) noexcept {
  // Both bodies of a `cond` node have the same number of outputs.
  return static_cast<std::uint32_t>(node.bodies[Control::kIteration]->graph.outputs.size());
}

std::vector<ArrayType> infer_control(const Graph& graph, const NodeCall& call, const Sizes& sizes,
                                     const std::vector<ArrayType>& types,
                                     std::vector<Inferred>& bodies) {
  const GraphNode& node = call.node;
  std::vector<ArrayType> operands;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const std::uint32_t value = node.operands[i];
    if (value == kNoValue || graph.scalar_of(value) != nullptr) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "operands[%zu] is %s but must be an array", i,
           value == kNoValue ? "not given" : "a scalar");
    }
    operands.push_back(types[value]);
  }
  const bool loops = is_while(node);
  const char* const* const names = loops ? kWhileNames : kCondNames;
  if (!loops) {
    require_verdict(operands[0], "operands[0]");
    operands.erase(operands.begin());
  } else if (call.numbers[Control::kLimit] < 1) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "the limit of iterations is %" PRId64 " but must be positive",
         call.numbers[Control::kLimit]);
  }
  std::vector<ArrayType> results[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const Body& body = *node.bodies[i];
    bodies.push_back(infer_body(graph, body, sizes, operands, names[i], node.numbers[i]));
    results[i] = results_of(body, bodies.back());
  }
  if (loops) {
    if (results[0].size() != 1) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "the condition has %zu outputs but must have 1",
           results[0].size());
    }
    require_verdict(results[0][0], "outputs[0] of the condition");
    if (results[1].size() > operands.size()) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "the body has %zu outputs but is handed %zu values",
           results[1].size(), operands.size());
    }
  } else if (results[0].size() != results[1].size()) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "the first body has %zu outputs but the second has %zu",
         results[0].size(), results[1].size());
  }
  std::vector<ArrayType>& expected = loops ? operands : results[0];
  expected.resize(results[1].size());
  std::optional<bool> are_found;
  for (std::size_t i = 0; i < results[1].size(); ++i) {
    const ArrayType& given = results[1][i];
    if (given == expected[i]) continue;
    if (!are_found) are_found = gives_found(graph, types, node);
    if (!*are_found || given.dtype != expected[i].dtype || given.rank != expected[i].rank) {
      require_type(given, expected[i], "outputs", i, names[1]);
    }
    for (std::uint32_t axis = 0; axis < given.rank; ++axis) {
      std::int64_t& most = expected[i].shape[axis];
      if (loops && given.shape[axis] > most) refuse_growth(given, expected[i], i);
      most = std::max(most, given.shape[axis]);
    }
  }
  return std::move(expected);
}

std::unique_ptr<const Schedule> schedule_body(const Body& body, std::uint32_t disabled_passes,
                                              Inferred inferred,
                                              const std::vector<tnr_view>& inputs,
                                              const std::vector<tnr_view>& outputs,
                                              const Outside* outside) {
  std::vector<const tnr_view*> read;
  read.reserve(inputs.size());
  for (const tnr_view& input : inputs) read.push_back(&input);
  std::vector<tnr_view_mut> results;
  results.reserve(outputs.size());
  for (const tnr_view& output : outputs) results.push_back({output});
  std::vector<const tnr_view_mut*> written;
  written.reserve(results.size());
  for (const tnr_view_mut& result : results) written.push_back(&result);
  return std::make_unique<const Schedule>(schedule(body.graph, body.needed, disabled_passes,
                                                   std::move(inferred), read.data(), written.data(),
                                                   outside));
}

}  // namespace tenure
