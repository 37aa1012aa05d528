// An expression that has been checked for views of some layouts.
#pragma once

#include <cstdint>
#include <memory>

#include "expression/device_steps.hpp"
#include "expression/evaluation.hpp"
#include "expression/nodes.hpp"
#include "memory/handles.hpp"
#include "tenure/context.hpp"
#include "tenure/expression.hpp"

namespace tenure {

// Written once, before anybody has a handle of it.
class Plan {
 public:
  // Throws as tnr_plan_create().
  Plan(const tnr_expression& expression, const AttributeReaders& readers, const tnr_view_mut& out);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  // The views have the plan's layouts and valid memory: those of operands that are not exactly
  // the output's share no byte with it, and the caller keeps their owners. Throws what is found on
  // the data.
  void run_checked(const Context& context, const tnr_view* const* views,
                   const tnr_view_mut& out) const;
  // Elements of the output where the expression is small, else 0.
  [[nodiscard]] std::int64_t small_count() const noexcept { return small_count_; }
  // As run_checked() of a small one. Returns what it finds in the data, and throws nothing.
  [[nodiscard]] kernels::Finding run_small(const tnr_view* const* views,
                                           const tnr_view_mut& out) const noexcept {
    return find_small(nodes_, views, small_count_, out);
  }
  // Throws as tnr_plan_run().
  void run(const Context& context, const tnr_view* const* views, std::uint32_t view_count,
           const tnr_view_mut& out) const;

 private:
  void copy_attributes(const AttributeReaders& readers);
  void compute(const Context& context, const Nodes& nodes, const tnr_view_mut& out) const;

  // The steps of a plan whose output is on a device.
  std::unique_ptr<const DeviceSteps> device_steps_;
  // Elements of the output, where it is dense on the CPU, all views have its layout, and they are
  // so few that each node is one call of its kernel; else 0.
  std::int64_t small_count_ = 0;
  // Views without memory: their dtypes, shapes and strides.
  tnr_view out_layout_;
  std::unique_ptr<tnr_view[]> layouts_;
  std::unique_ptr<Node[]> node_memory_;
  std::unique_ptr<Element[]> elements_;
  union Attributes {
    tnr_reduce_attributes reduce;
    tnr_normalize_attributes normalize;
  };
  std::unique_ptr<Attributes[]> attributes_;
  Nodes nodes_;
};

using PlanHandles = Handles<Plan, kPlanKind>;

}  // namespace tenure
