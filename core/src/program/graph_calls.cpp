// Calls on graphs by their handles: each takes the graph's lock, and asks its builder.
#include <memory>
#include <utility>

#include "program/builder.hpp"

namespace tenure {
namespace {

constinit thread_local const BuilderLock* t_innermost = nullptr;

// One function of the builder that the token names.
template <class Step>
auto with_builder(GraphToken token, const Step& step) {
  const GraphHandles::Use graph(kGraphHandles, token);
  const BuilderLock lock(graph.object());
  return step(graph.object().builder);
}

}  // namespace

BuilderLock::BuilderLock(const SharedBuilder& shared) : shared_(shared), outer_(t_innermost) {
  for (const BuilderLock* lock = outer_; lock != nullptr; lock = lock->outer_) {
    if (&lock->shared_ == &shared) {
      fail(TNR_STATUS_BUSY, "a function that the graph calls uses the graph");
    }
  }
  shared.mutex.lock();
  t_innermost = this;
}

BuilderLock::~BuilderLock() {
  t_innermost = outer_;
  shared_.mutex.unlock();
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
  return with_builder(token, [&](GraphBuilder& graph) { return graph.add_node(node, read); });
}

void graph_add_output(GraphToken token, std::uint32_t value, std::uint32_t updates) {
  with_builder(token, [=](GraphBuilder& graph) { graph.add_output(value, updates); });
}

std::uint32_t graph_add_custom(GraphToken token, const tnr_custom_operation& operation) {
  return with_builder(token, [&](GraphBuilder& graph) { return graph.add_custom(operation); });
}

std::uint32_t graph_add_subgraph(GraphToken token, GraphToken body) {
  if (token == body) fail(TNR_STATUS_INVALID_ARGUMENT, "a graph is no body of its own");
  // One lock after the other: two graphs may be added to each other at once.
  auto copy = with_builder(body, [](const GraphBuilder& of) { return of.to_body(); });
  return with_builder(token,
                      [&](GraphBuilder& graph) { return graph.add_subgraph(std::move(copy)); });
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
