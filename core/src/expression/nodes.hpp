// An array of nodes whose operations, dtypes, shapes and operands have been checked.
#pragma once

#include <cstdint>
#include <iterator>

#include "base/node_kinds.hpp"
#include "dense/loops/strip_runner.hpp"
#include "dense/scalar.hpp"
#include "tenure/device.hpp"
#include "tenure/dtype.hpp"
#include "tenure/expression.hpp"
#include "tenure/tenure.h"

namespace tenure {

inline constexpr unsigned kMaxNodes = TNR_MAX_NODES;
inline constexpr unsigned kMaxViews = TNR_MAX_EXPRESSION_VIEWS;
inline constexpr unsigned kMaxOperands = 3;

// Names of the views in messages.
inline constexpr const char* kViewNames[] = {
    "views[0]",  "views[1]",  "views[2]",  "views[3]",  "views[4]",  "views[5]",  "views[6]",
    "views[7]",  "views[8]",  "views[9]",  "views[10]", "views[11]", "views[12]", "views[13]",
    "views[14]", "views[15]", "views[16]", "views[17]", "views[18]", "views[19]", "views[20]",
    "views[21]", "views[22]", "views[23]", "views[24]", "views[25]", "views[26]", "views[27]",
    "views[28]", "views[29]", "views[30]", "views[31]"};
static_assert(std::size(kViewNames) == kMaxViews);

struct Extents {
  std::uint32_t rank;
  std::int64_t extents[TNR_MAX_RANK];

  [[nodiscard]] std::int64_t last() const noexcept { return rank == 0 ? 1 : extents[rank - 1]; }
  // The output that an expression names has its shape behind the views.
  friend bool operator==(const Extents& a, const Extents& b) noexcept {
    if (a.rank != b.rank) return false;
    for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
      if (a.extents[axis] != b.extents[axis]) return false;
    }
    return true;
  }
};

constexpr bool is_elementwise(ExpressionKind kind) noexcept {
  return kind < ExpressionKind::kReduce;
}

// Where an operand of a node comes from.
enum class From : std::uint8_t { kNode, kView, kScalar };
struct NodeOperand {
  From from;
  std::uint16_t index;  // of the node, of the view (the output is behind them), of the element
  tnr_dtype dtype;      // of a scalar, that of the element that it became

  [[nodiscard]] std::int64_t width_bytes() const noexcept {
    return static_cast<std::int64_t>(element_size(dtype));
  }
};

struct Node {
  ExpressionKind kind;
  std::uint8_t operand_count;
  bool is_used;  // as an operand
  NodeOperand operands[kMaxOperands];
  std::int32_t op;  // without its kind
  tnr_dtype dtype;
  // Element-wise nodes: their kernel, where `entry` is nullptr.
  kernels::StripKernel kernel;
  const kernels::Elementwise* entry;
  Extents shape;
  // Reductions and normalizations have these.
  std::uint32_t axes;
  bool keeps_axes;
  const void* attributes;  // nullptr: none are given

  [[nodiscard]] Operation operation() const noexcept {
    return entry == nullptr ? Operation(kernel) : Operation(*entry);
  }
};

// Memory of the largest expression, on the stack: most of it is never touched.
struct NodeMemory {
  Node nodes[kMaxNodes];
  Element elements[kMaxNodes * kMaxOperands];
};

// The nodes of one call, and all that they name.
class Nodes {
 public:
  // Throws INVALID_ARGUMENT where there are more than an expression may have, or an array is NULL.
  static void require_counts(const tnr_expression& expression);
  // Checks codes, dtypes and what operands name; shapes are not known yet. `out` is nullptr where
  // the expression may not name its output. `nodes` has room for all, `elements` for all their
  // scalars. Throws INVALID_ARGUMENT and UNSUPPORTED, naming the node.
  Nodes(const tnr_expression& expression, const tnr_view* out, Node* nodes, Element* elements);
  // Nodes that are prepared, with their shapes, and other views of the same layouts.
  Nodes(const Nodes& prepared, const tnr_view* const* views, const tnr_view& out) noexcept;
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;

  [[nodiscard]] unsigned count() const noexcept { return count_; }
  [[nodiscard]] const Node& operator[](unsigned index) const noexcept { return nodes_[index]; }
  [[nodiscard]] const Node& last() const noexcept { return nodes_[count_ - 1]; }

  // The views, and behind them the output where a node names it.
  [[nodiscard]] unsigned view_count() const noexcept { return view_count_; }
  // Without the output.
  [[nodiscard]] unsigned given_view_count() const noexcept { return given_view_count_; }
  [[nodiscard]] bool names_output() const noexcept { return view_count_ > given_view_count_; }
  [[nodiscard]] const tnr_view& view(unsigned index) const noexcept { return *views_[index]; }
  [[nodiscard]] const Element& element(unsigned index) const noexcept { return elements_[index]; }

  // Throws what views deserve; they are on the device.
  void check_views(const tnr_device& device = kCpu) const;
  // Finds the shapes of all nodes; views are checked. Throws INVALID_ARGUMENT where they do not
  // broadcast.
  void find_shapes();

  // Whether all nodes are element-wise, and each but the last one is an operand of another.
  [[nodiscard]] bool are_all_elementwise() const noexcept {
    return reduction_count_ == 0 && used_count_ + 1 == count_;
  }
  // The widest element of a result.
  [[nodiscard]] std::int64_t widest_bytes() const noexcept { return has_c128_ ? 16 : 8; }
  // Whether a node before the last one is no element-wise operation.
  [[nodiscard]] bool reduces_amid() const noexcept {
    return reduction_count_ > (is_elementwise(last().kind) ? 0u : 1u);
  }

 private:
  void check(const tnr_node& given, unsigned index);
  void check_elementwise(Node& node);
  void check_reduction(const tnr_node& given, Node& node);
  NodeOperand operand_of(std::uint32_t code, unsigned index, unsigned place);
  static tnr_dtype common_dtype(const Node& node, unsigned first);
  void take_scalars(Node& node, tnr_dtype dtype, unsigned first);
  void take_scalar(NodeOperand& operand, tnr_dtype dtype);
  const void* attributes_of(const tnr_node& given) const;

  void broadcast(Node& node, unsigned index) const;
  void check_axes(const Node& node, unsigned index) const;
  void require_returning(const Node& node, unsigned index) const;

  const tnr_expression* expression_;  // while it is checked
  const tnr_view* out_;
  unsigned count_ = 0;
  bool has_c128_ = false;
  unsigned given_view_count_;
  unsigned view_count_;
  unsigned element_count_ = 0;
  unsigned reduction_count_ = 0;  // of nodes that are not element-wise
  unsigned used_count_ = 0;       // of nodes that are operands
  const tnr_view* views_[kMaxViews + 1];
  Node* nodes_;
  Element* elements_;
};

}  // namespace tenure
