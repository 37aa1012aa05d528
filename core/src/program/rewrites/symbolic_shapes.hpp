// The shapes of a graph's values as numbers of the graph: constants and extents.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "program/graph.hpp"

namespace tenure {

// Reads a graph that grows: of() first computes the shapes of values that were added since.
class SymbolicShapes {
 public:
  SymbolicShapes(const Graph& graph, const std::vector<ArrayType>& types)
      : graph_(graph), types_(types) {}
  // Shapes in a body of a graph. The caller sets each input: a run hands other shapes to a body than
  // the body states.
  SymbolicShapes(const Graph& graph, const std::vector<ArrayType>& types,
                 const SymbolicShapes& around)
      : graph_(graph), types_(types), is_body_(true), may_find_around_(around.may_find()) {}

  // Each extent is a number of the graph, or an unknown one: a negative number that only extents
  // of the same size in every run share.
  const std::vector<std::int64_t>& of(std::uint32_t value);
  // Whether both have the same shape in every run. False where that is not known.
  bool are_same(std::uint32_t a, std::uint32_t b);
  // Records that an unknown extent has become a number of the graph.
  void set_number(std::int64_t unknown, std::int64_t number) { numbers_[unknown] = number; }
  // Call it before of() of this value or a later one.
  void set_input(std::uint32_t value, std::vector<std::int64_t> shape) {
    inputs_[value] = std::move(shape);
  }
  // Another unknown extent.
  std::int64_t unknown() noexcept { return --last_unknown_; }
  // The number that an unknown extent has become, or the extent.
  [[nodiscard]] std::int64_t known(std::int64_t extent) const {
    const auto number = numbers_.find(extent);
    return number == numbers_.end() ? extent : number->second;
  }
  // Whether a run may decide shapes by what nodes find.
  [[nodiscard]] bool may_find() const noexcept { return may_find_around_ || graph_.finds_extents; }
  // The extents that an unknown one is the broadcast extent of; nullptr: it is none.
  [[nodiscard]] const std::pair<std::int64_t, std::int64_t>* broadcast_of(
      std::int64_t unknown) const;

 private:
  void add_next();
  std::vector<std::int64_t> shape_of(const GraphNode& node, std::uint32_t value);
  bool known_shape(const GraphNode& node, std::vector<std::int64_t>& shape);
  std::int64_t sliced(std::int64_t extent, std::int64_t start, std::int64_t stop,
                      std::int64_t step) noexcept;
  void add_results(const GraphNode& node);
  // An extent of 1 repeats; a constant other than 1 is that of the result.
  std::int64_t broadcast(std::int64_t a, std::int64_t b);
  void broadcast(std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& other,
                 std::size_t axes_behind = 0);

  const Graph& graph_;
  const std::vector<ArrayType>& types_;
  bool is_body_ = false;
  bool may_find_around_ = false;
  std::map<std::uint32_t, std::vector<std::int64_t>> inputs_;  // of a body, by value
  std::deque<std::vector<std::int64_t>> shapes_;  // by value; none moves when others are added
  std::int64_t last_unknown_ = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> broadcasts_;  // unknown extents
  std::map<std::int64_t, std::int64_t> numbers_;  // of unknown extents that have become one
};

inline bool is_unknown(std::int64_t number) noexcept { return number < 0; }

}  // namespace tenure
