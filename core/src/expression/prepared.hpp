// An expression that has been checked for views of some layouts.
#pragma once

#include <cstdint>
#include <memory>

#include "expression/device_steps.hpp"
#include "expression/evaluation.hpp"
#include "expression/nodes.hpp"
#include "tenure/context.hpp"
#include "tenure/expression.hpp"

namespace tenure {

class PreparedExpression {
 public:
  // Reads only the layouts of the views and of `out`, and keeps none of them. Copies nodes, scalars
  // and attributes. Throws as tnr_evaluate() before it computes, except ALIASED. Throws UNSUPPORTED
  // for a normalization with a weight or a bias.
  PreparedExpression(const tnr_expression& expression, const AttributeReaders& readers,
                     const tnr_view_mut& out);
  PreparedExpression(const PreparedExpression&) = delete;
  PreparedExpression& operator=(const PreparedExpression&) = delete;

  // The views have these layouts and valid memory: those of operands that are not exactly the
  // output's share no byte with it, and the caller keeps their owners. Throws findings in the data.
  void run_checked(const Context& context, const tnr_view* const* views,
                   const tnr_view_mut& out) const;
  // Whether the expression has no reduction before its last node, or is computed for a few rows at a
  // time: it computes no node twice, and allocates no memory.
  [[nodiscard]] bool is_one_pass() const noexcept {
    return row_groups_ != nullptr || !nodes_.reduces_amid();
  }
  // Elements of the output where the expression is small, else 0.
  [[nodiscard]] std::int64_t small_count() const noexcept { return small_count_; }
  // Computes a small one as run_checked() does. Returns the finding, and throws nothing.
  [[nodiscard]] kernels::Finding run_small(const tnr_view* const* views,
                                           const tnr_view_mut& out) const noexcept {
    return find_small(nodes_, views, small_count_, out);
  }

 private:
  void copy_attributes(const AttributeReaders& readers);

  // The steps where the output is on a device.
  std::unique_ptr<const DeviceSteps> device_steps_;
  // Elements of the output, where it is dense on the CPU, all views have its layout, and they are
  // so few that each node is one call of its kernel; else 0.
  std::int64_t small_count_ = 0;
  std::unique_ptr<Node[]> node_memory_;
  std::unique_ptr<Element[]> elements_;
  union Attributes {
    tnr_reduce_attributes reduce;
    tnr_normalize_attributes normalize;
  };
  std::unique_ptr<Attributes[]> attributes_;
  Nodes nodes_;
  std::unique_ptr<const RowGroups> row_groups_;  // nullptr: rows are not computed in groups
};

}  // namespace tenure
