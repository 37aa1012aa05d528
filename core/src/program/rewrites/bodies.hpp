// Bodies of control nodes in rewrites: extents in a body and around it, and copies of nodes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "program/builder.hpp"
#include "program/rewrites/symbolic_shapes.hpp"

namespace tenure {

// The extents of a graph as numbers of a body in it, and the other way round.
class BodyExtents {
 public:
  BodyExtents(const Graph& around, SymbolicShapes& around_shapes, GraphBuilder& body,
              SymbolicShapes& shapes)
      : around_(around), around_shapes_(around_shapes), body_(body), shapes_(shapes) {}

  // Adds extents to the body that it lacks. An unknown extent is one in the body.
  std::vector<std::int64_t> inner(const std::vector<std::int64_t>& outer);
  // An extent that the graph around lacks is an unknown one.
  std::vector<std::int64_t> outer(const std::vector<std::int64_t>& inner);

 private:
  std::int64_t inner_number(std::int64_t outer);
  std::int64_t outer_number(std::int64_t inner);
  std::int64_t inner_extent(const Extent& extent);

  const Graph& around_;
  SymbolicShapes& around_shapes_;
  GraphBuilder& body_;
  SymbolicShapes& shapes_;
  std::map<std::int64_t, std::int64_t> inner_;  // by number around
  std::map<std::int64_t, std::int64_t> outer_;  // by number of the body
};

// Copies nodes of a graph to another one.
class NodeCopier {
 public:
  NodeCopier(const Graph& from, GraphBuilder& to) : from_(from), to_(to) {}

  // Adds the constant or the scalar of this value.
  std::uint32_t add_given(std::uint32_t value);
  // Adds the node with these operands there, and returns its first result.
  std::uint32_t add_node(const GraphNode& node, std::vector<std::uint32_t> operands);
  // The number there. Adds extents that the other graph lacks.
  std::int64_t number_of(std::int64_t number);
  // Records which number an extent is there. Call it before number_of() of the extent.
  void set_number(std::int64_t number, std::int64_t there) { extents_[number] = there; }
  // Where the other graph begins with this one: extents that nodes find which are not copied are the
  // same there. `changed` are the values that are copied.
  void share_extents(const std::vector<bool>& changed);

 private:
  std::int64_t body_of(const std::shared_ptr<const Body>& body);
  std::uint32_t custom_of(const std::shared_ptr<const Custom>& custom);

  const Graph& from_;
  GraphBuilder& to_;
  std::map<std::int64_t, std::int64_t> extents_;
};

// By value: whether these values depend on it.
std::vector<bool> values_for(const Graph& graph, const std::vector<std::uint32_t>& wanted);

// By value: whether it is the result of one of these nodes, or depends on one.
std::vector<bool> values_behind(const Graph& graph, const std::vector<bool>& nodes);
// Throws INVALID_ARGUMENT, with `name`, for a value that the graph lacks.
void require_values(const Graph& graph, const char* name, const std::vector<std::uint32_t>& values);
// Throws INVALID_ARGUMENT for a value of `keep` that is not needed.
void require_needed(const std::vector<bool>& needed, const std::vector<std::uint32_t>& keep);

// Copies the nodes that give the values `wanted` of a graph to another one, and returns these
// values there. `given` has the values for inputs.
std::vector<std::uint32_t> copy_values(const Graph& from,
                                       const std::map<std::uint32_t, std::uint32_t>& given,
                                       const std::vector<std::uint32_t>& wanted, GraphBuilder& to);

// A custom operation in the graph or in a body of it whose calls may not be repeated, or nullptr.
const Custom* find_impure(const Graph& graph) noexcept;

}  // namespace tenure
