// Nodes that expressions compute: one node, or several in one pass.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "expression/prepared.hpp"
#include "program/node.hpp"
#include "program/operations.hpp"

namespace tenure {

// infer() and run() of a kind that a node of an expression has.
ArrayType infer_expression(const NodeCall& call, const OperandType* operands);
void run_expression(const Context& context, const NodeCall& call, const OperandView* operands,
                    const tnr_view_mut& out);

// Nodes of a graph as those of an expression, whose views are values that other nodes give.
class ExpressionOf {
 public:
  // Adds a node; those whose results it reads were added before it, or are views. `type` is that of
  // its result, `scalar_of` gives the scalar that a value is, or nullptr.
  void add(const GraphNode& node, tnr_dtype type,
           const std::function<const tnr_scalar*(std::uint32_t value)>& scalar_of);

  // Values, in the order of the views.
  [[nodiscard]] const std::vector<std::uint32_t>& views() const noexcept { return views_; }
  // The expression over these views, one for each of views(). It has pointers into this object.
  [[nodiscard]] tnr_expression over(const tnr_view* const* views) const noexcept;
  // For views and an output of these layouts, which need no memory.
  [[nodiscard]] std::unique_ptr<const PreparedExpression> prepare(const tnr_view* const* views,
                                                                  const tnr_view& out) const;

 private:
  struct Added {
    std::uint32_t value;
    std::uint32_t node;
  };

  std::vector<tnr_node> nodes_;
  std::vector<Added> added_;
  std::vector<std::uint32_t> views_;
  std::vector<tnr_scalar> scalars_;
  std::vector<const void*> attributes_;
};

}  // namespace tenure
