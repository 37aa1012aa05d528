// Calls on graphs by their handles: each takes the graph's lock, and asks its builder.
#include <memory>
#include <mutex>

#include "program/builder.hpp"

namespace tenure {
namespace {

using Use = SharedBuilder::Use;

// One function of the builder that the token names.
template <class Step>
auto with_builder(GraphToken token, const Step& step, Use use = Use::kOwn) {
  const GraphHandles::Use graph(kGraphHandles, token);
  const BuilderLock lock(graph.object(), use);
  return step(graph.object().builder);
}

// Whether adding the node may ask a custom operation, also one in a subgraph.
bool may_ask_others(const tnr_graph_node& node) noexcept {
  return node.code >> kNodeKindShift == TNR_NODE_CUSTOM >> kNodeKindShift ||
         node.code == TNR_NODE_COND || node.code == TNR_NODE_WHILE;
}

}  // namespace

BuilderLock::BuilderLock(const SharedBuilder& shared, Use use) : shared_(shared) {
  std::unique_lock lock(shared.mutex);
  shared.is_free.wait(lock, [&] { return shared.use != Use::kOwn; });
  if (shared.use == Use::kCallsOthers) {
    fail(TNR_STATUS_BUSY,
         "the graph is in use: a node is being added, and its custom operation may be running");
  }
  shared.use = use;
}

BuilderLock::~BuilderLock() {
  {
    const std::lock_guard lock(shared_.mutex);
    shared_.use = Use::kNone;
  }
  shared_.is_free.notify_all();
}

GraphToken graph_create() { return kGraphHandles.open(std::make_unique<const SharedBuilder>()); }

void graph_release(GraphToken token) { kGraphHandles.release(token); }

std::int64_t graph_add_extent(GraphToken token, const char* name, std::int64_t maximum) {
  return with_builder(token, [=](GraphBuilder& graph) { return graph.add_extent(name, maximum); });
}

std::int64_t graph_combine_extents(GraphToken token, tnr_extent_op op, std::int64_t a,
                                   std::int64_t b) {
  return with_builder(token, [=](GraphBuilder& graph) { return graph.combine_extents(op, a, b); });
}

std::uint32_t graph_add_input(GraphToken token, tnr_dtype dtype, std::uint32_t rank,
                              const std::int64_t* shape) {
  return with_builder(token,
                      [=](GraphBuilder& graph) { return graph.add_input(dtype, rank, shape); });
}

std::uint32_t graph_add_constant(GraphToken token, const tnr_view& view) {
  return with_builder(token, [&](GraphBuilder& graph) { return graph.add_constant(view); });
}

std::uint32_t graph_add_scalar(GraphToken token, const tnr_scalar& scalar) {
  return with_builder(token, [&](GraphBuilder& graph) { return graph.add_scalar(scalar); });
}

std::uint32_t graph_add_node(GraphToken token, const tnr_graph_node& node, ReadAttributes read) {
  return with_builder(
      token, [&](GraphBuilder& graph) { return graph.add_node(node, read); },
      may_ask_others(node) ? Use::kCallsOthers : Use::kOwn);
}

void graph_add_output(GraphToken token, std::uint32_t value, std::uint32_t updates) {
  with_builder(token, [=](GraphBuilder& graph) { graph.add_output(value, updates); });
}

void graph_mark(GraphToken token, std::uint32_t first, std::uint32_t count, std::uint32_t marks) {
  with_builder(token, [=](GraphBuilder& graph) { graph.mark(first, count, marks); });
}

std::uint32_t graph_add_custom(GraphToken token, const tnr_custom_operation& operation) {
  return with_builder(token, [&](GraphBuilder& graph) { return graph.add_custom(operation); });
}

std::shared_ptr<Body> graph_to_body(GraphToken token) {
  return with_builder(token, [](const GraphBuilder& graph) { return graph.to_body(); });
}

std::uint32_t graph_add_subgraph(GraphToken token, GraphToken body) {
  if (token == body) fail(TNR_STATUS_INVALID_ARGUMENT, "a graph is no body of its own");
  // One lock after the other: two graphs may be added to each other at once.
  const std::shared_ptr<Body> copy = graph_to_body(body);
  return with_builder(token, [&](GraphBuilder& graph) { return graph.add_subgraph(copy); });
}

GraphToken graph_copy_subgraph(GraphToken token, std::uint32_t index) {
  return with_builder(token, [=](const GraphBuilder& graph) {
    auto copy = std::make_unique<SharedBuilder>();
    copy->builder = GraphBuilder(graph.subgraph(index));
    return kGraphHandles.open(std::move(copy));
  });
}

tnr_graph_info graph_describe(GraphToken token) {
  return with_builder(token, [](const GraphBuilder& graph) { return graph.describe(); });
}

tnr_extent_info graph_describe_extent(GraphToken token, std::uint32_t index) {
  return with_builder(token,
                      [=](const GraphBuilder& graph) { return graph.describe_extent(index); });
}

tnr_graph_node graph_describe_node(GraphToken token, std::uint32_t index) {
  return with_builder(token, [=](const GraphBuilder& graph) { return graph.describe_node(index); });
}

tnr_view graph_describe_constant(GraphToken token, std::uint32_t index) {
  return with_builder(token,
                      [=](const GraphBuilder& graph) { return graph.describe_constant(index); });
}

tnr_custom_info graph_describe_custom(GraphToken token, std::uint32_t index) {
  return with_builder(token,
                      [=](const GraphBuilder& graph) { return graph.describe_custom(index); });
}

tnr_scalar graph_describe_scalar(GraphToken token, std::uint32_t index) {
  return with_builder(token,
                      [=](const GraphBuilder& graph) { return graph.describe_scalar(index); });
}

OutputOfGraph graph_describe_output(GraphToken token, std::uint32_t index) {
  return with_builder(token, [=](const GraphBuilder& graph) {
    const GraphOutput output = graph.describe_output(index);
    return OutputOfGraph{output.value, output.updates};
  });
}

tnr_value_info graph_describe_value(GraphToken token, std::uint32_t value) {
  return with_builder(token, [=](GraphBuilder& graph) { return graph.describe_value(value); });
}

}  // namespace tenure
