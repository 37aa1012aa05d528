// Graphs with nodes of data-dependent shapes: each run finds the number of their elements.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "expect_status.hpp"
#include "program_graph.hpp"
#include "tenure/tenure.h"

namespace tenure::test {

inline constexpr float kUntouched = -77;

inline Floats untouched(const Shape& shape) {
  Floats floats(shape);
  std::ranges::fill(floats.values, kUntouched);
  return floats;
}

class FoundGraph : public CGraph {
 protected:
  std::int64_t extent(const char* name, std::int64_t maximum) {
    std::int64_t number = 0;
    EXPECT_EQ(tnr_graph_add_extent(graph, name, maximum, &number), TNR_STATUS_OK);
    return number;
  }
  std::int64_t combined(tnr_extent_op op, std::int64_t a, std::int64_t b) {
    std::int64_t number = 0;
    EXPECT_EQ(tnr_graph_combine_extents(graph, op, a, b, &number), TNR_STATUS_OK);
    return number;
  }
  std::uint32_t above(std::uint32_t value, double bound) {
    return node(TNR_NODE_COMPARE + TNR_COMPARE_OP_GT, {value, scalar(bound)});
  }
  std::uint32_t positive(std::uint32_t value) { return above(value, 0); }
  // The positive elements of a value.
  std::uint32_t selected(std::uint32_t value, std::int64_t hits) {
    return node(TNR_NODE_MASKED_SELECT, {value, positive(value)}, {hits});
  }
  void expect_node_refused(std::uint32_t code, const std::vector<std::uint32_t>& operands,
                           const Shape& numbers, tnr_status status,
                           std::initializer_list<std::string> words) {
    std::uint32_t value = 77;
    expect_refused(add(code, operands, numbers, nullptr, 0, &value), status, words);
    EXPECT_EQ(value, 77u);
  }
  // A subgraph that `build` makes.
  template <class Build>
  std::int64_t body(const Build& build) {
    tnr_graph* const around = std::exchange(graph, tnr_graph_create());
    build();
    std::uint32_t index = TNR_OPERAND_NONE;
    EXPECT_EQ(tnr_graph_add_subgraph(around, graph, &index), TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_EQ(tnr_graph_release(std::exchange(graph, around)), TNR_STATUS_OK);
    return index;
  }
};

}  // namespace tenure::test
