// Values and nodes of graphs, as builders, passes and runs see them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/array_type.hpp"
#include "base/node_kinds.hpp"
#include "tenure/program.hpp"
#include "tenure/tenure.h"

namespace tenure {

inline constexpr std::uint32_t kNoValue = TNR_OPERAND_NONE;

// A value's number says where it comes from: the index of an input, a constant, a scalar or a node.
struct GraphValue {
  tnr_value_source source;
  std::uint32_t index;
};

class Custom;
class PackedFactor;
class PackedFilters;
struct Body;

// A node, with memory of its own.
struct GraphNode {
  // Its number in the graph that was built, for messages and reports: a node that is computed again
  // has that of the first computation.
  std::uint32_t number = kNoValue;
  std::uint32_t copy = 0;   // nodes that differ in it are never merged
  std::uint32_t marks = 0;  // TNR_MARK_KEEP and so on
  std::uint32_t code;
  tnr_dtype dtype;  // of a cast, else 0
  std::uint32_t flags;
  bool has_attributes;
  std::uint32_t result;        // the value, the first one
  std::uint32_t result_count;  // values one behind the other
  std::vector<std::uint32_t> operands;
  std::vector<std::int64_t> numbers;
  NodeAttributes attributes;
  std::shared_ptr<const Custom> custom;             // only of its kind
  std::vector<std::shared_ptr<const Body>> bodies;  // of control nodes
  // Its second operand as the graph packed it, of products or of convolutions; nullptr: it is not.
  const PackedFactor* factor = nullptr;
  const PackedFilters* filters = nullptr;
  // The sums of the columns of a packed factor, of quantized products; nullptr: they are not known.
  const std::int32_t* column_sums = nullptr;
  std::uint32_t derives = kNoValue;  // the number of the node whose derivative it is a part of

  [[nodiscard]] std::uint32_t kind() const noexcept { return code >> kNodeKindShift; }
  [[nodiscard]] std::int32_t op() const noexcept {
    return static_cast<std::int32_t>(code & ((1u << kNodeKindShift) - 1));
  }
};

// A node where all extents are numbers.
struct NodeCall {
  const GraphNode& node;
  const std::int64_t* numbers;  // one for each number of the node
  bool is_checked = false;      // a run that trusts no operation of others
};

}  // namespace tenure
