// Values that are computed again instead of being kept.
#pragma once

#include <cstdint>
#include <vector>

#include "program/graph.hpp"
#include "program/passes.hpp"

namespace tenure {

// A graph with copies of nodes: a value that later nodes read again is computed again just before
// them, so that its memory is free in between. Bits are those of the graph without copies. Random
// nodes give the same numbers, as their seed and offset are operands. Custom operations, control
// nodes and nodes that count elements in the data are never copied.
//
// Values that nodes with the mark RECOMPUTE give are computed again in any case. With a budget other
// than 0, so are as many others as needed for a peak of at most `budget_bytes` where all extents are
// at their maxima: of the choices below, the one that computes least.
// - element-wise values, which fusion computes within the kernels that read them;
// - in addition, values of the first segments of the graph, cut into 2 to 64 segments at positions
//   that few bytes cross (Chen et al., "Training deep nets with sublinear memory cost", 2016).
// Throws OUT_OF_MEMORY with the least peak of all choices where it is above the budget.
//
// `types` has the types of all values at the maxima, and `needed` says by node whether an output
// needs it; both are extended.
void recompute(Graph& graph, std::vector<ArrayType>& types, std::vector<bool>& needed,
               std::uint32_t disabled_passes, std::uint64_t budget_bytes, PassCounts& counts);

}  // namespace tenure
