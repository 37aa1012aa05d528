// An expression on the CPU: what may be refused of it, and its computation.
#pragma once

#include <memory>

#include "expression/nodes.hpp"
#include "expression/placed_nodes.hpp"
#include "expression/row_groups.hpp"
#include "tenure/blob.hpp"
#include "tenure/context.hpp"
#include "tenure/expression.hpp"

namespace tenure {

class CpuEvaluation {
 public:
  // The views of the nodes have been checked, and shapes are known.
  CpuEvaluation(const Context& context, const Nodes& nodes, const AttributeReaders& readers,
                const tnr_view_mut& out) noexcept
      : context_(context), nodes_(nodes), readers_(readers), out_(out), placed_(nodes, out) {}

  // All that can be refused is refused before an element is written.
  void check();
  kernels::Finding run();
  // Returns the plan of nodes that are computed for a few rows at a time without allocating, else
  // nullptr. Nodes have been checked.
  [[nodiscard]] std::unique_ptr<const RowGroups> row_groups() const;

 private:
  void list_amid();
  void require_memory(unsigned index) const;
  void require_broadcast(const Extents& shape) const;
  void check_last_normalization(const Node& last);
  [[nodiscard]] CheckedReduction checked(unsigned index, const tnr_view& out) const;
  [[nodiscard]] CheckedReduction checked_of(const Node& node, unsigned index,
                                            const tnr_view& out) const;
  [[nodiscard]] tnr_view operand_view(unsigned index) const noexcept;
  [[nodiscard]] const tnr_view* stored_operand(unsigned index) const noexcept;
  [[nodiscard]] std::uint64_t repeated_in(std::uint32_t rank) const noexcept;
  kernels::Finding write(unsigned root, const tnr_view_mut& out) noexcept;
  kernels::Finding reduce(const CheckedReduction& by, unsigned index,
                          const tnr_view_mut& out) noexcept;
  kernels::Finding run_last();
  kernels::Finding normalize_last(unsigned index);
  kernels::Finding run_one_by_one();

  const Context& context_;
  const Nodes& nodes_;
  const AttributeReaders& readers_;
  const tnr_view_mut& out_;
  Pins pins_;  // of attributes
  tnr_normalize_attributes normalization_{};
  CheckedReduction last_reduction_{};
  PlacedNodes placed_;
};

}  // namespace tenure
