// The computation of nodes that have been checked.
#pragma once

#include <memory>

#include "expression/device_steps.hpp"
#include "expression/nodes.hpp"
#include "expression/row_groups.hpp"
#include "tenure/context.hpp"

namespace tenure {

// Readers of its own copies of attributes, which are as large as this library knows them.
inline constexpr AttributeReaders kOwnReaders = {
    [](const tnr_reduce_attributes* given) {
      return given == nullptr ? tnr_reduce_attributes{} : *given;
    },
    [](const tnr_normalize_attributes* given) {
      return given == nullptr ? tnr_normalize_attributes{} : *given;
    }};

// Where few elements of one dense shape are computed: the whole call, from the checks of the views
// on. False leaves everything to others.
bool compute_small(const Nodes& nodes, const tnr_view* const* views, const tnr_view_mut& out);
// Does the same for an output that has been checked and for which is_small() is true.
bool compute_if_twins(const Nodes& nodes, const tnr_view* const* views, std::int64_t count,
                      const tnr_view_mut& out);
// Computes checked views with pinned owners. Returns the finding, and throws nothing.
kernels::Finding find_small(const Nodes& nodes, const tnr_view* const* views, std::int64_t count,
                            const tnr_view_mut& out) noexcept;
// The error of a finding.
Error finding_error(kernels::Finding found) noexcept;
// Refuses a finding as refuse_data() does.
void require_no_finding_of(kernels::Finding found);

// Computes nodes whose views are checked, and whose shapes are known. Throws as tnr_evaluate().
void compute(const Context& context, const Nodes& nodes, const AttributeReaders& readers,
             const tnr_view_mut& out);
// Does the same on a device, by the steps of nodes that are computable there.
void compute_on_device(const Context& context, const Nodes& nodes, const DeviceSteps& steps,
                       const AttributeReaders& readers, const tnr_view_mut& out);

// Computes rows in groups by a plan for these layouts. The caller keeps the owners.
void compute_rows(const Context& context, const RowGroups& groups, const Nodes& nodes,
                  const tnr_view_mut& out);

// Throws what compute() would refuse whatever memory the views have.
void check_computable(const Nodes& nodes, const AttributeReaders& readers, const tnr_view_mut& out);
// Makes these checks for the CPU. Returns the plan of an expression that is computed for a few rows
// at a time without allocating, which has pointers to the nodes; else nullptr.
std::unique_ptr<const RowGroups> checked_row_groups(const Nodes& nodes,
                                                    const AttributeReaders& readers,
                                                    const tnr_view_mut& out);

}  // namespace tenure
