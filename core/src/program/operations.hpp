// The kinds of nodes: what each takes, which array it gives, and the call that computes it.
#pragma once

#include <cstdint>

#include "base/array_type.hpp"
#include "base/node_kinds.hpp"
#include "program/node.hpp"
#include "tenure/context.hpp"
#include "tenure/status.hpp"

namespace tenure {

// The type of an operand: an array or a number; neither where an optional operand is not given.
struct OperandType {
  const ArrayType* array;
  const tnr_scalar* scalar;
};
// An operand where it is computed.
struct OperandView {
  const tnr_view* view;
  const tnr_scalar* scalar;
};

// Most operands of a kind that takes a fixed number.
inline constexpr std::size_t kMostFixedOperands = 9;

// The result's dtype and rank; its extents too where the kind has no ShapeNode. Throws what the
// call would refuse, except for extents that a ShapeNode refuses.
using InferNode = ArrayType(const NodeCall& call, const OperandType* operands);
// The shape rule of a kind: sets the extents of the result, whose dtype and rank are those that
// `infer` gave. Builders call it after `infer`, and runs call it for extents that follow from
// counts in the data.
using ShapeNode = Refusal(const NodeCall& call, const OperandType* operands,
                          ArrayType& result) noexcept;
// Computes it.
using RunNode = void(const Context& context, const NodeCall& call, const OperandView* operands,
                     const tnr_view_mut& out);
// Finds elements in the data and returns their number. Writes them to row-major memory with the
// maximum as its first extent; leaves the memory as it is where more are found.
using FindNode = std::int64_t(const Context& context, const NodeCall& call,
                              const OperandView* operands, const tnr_view_mut& out);
// The operand as a view node sees it. Throws where its elements would have to move, which only a
// reshape does.
using SeeNode = tnr_view(const NodeCall& call, const tnr_view& operand);

// Where `infer` gives the extents and there is no shape rule: sets the extents of a result whose
// operands differ from the plan's in some extents only. UNSUPPORTED for other extents.
using AdaptNode = Refusal(const NodeCall& call, const OperandType* operands,
                          const OperandType* planned, ArrayType& result) noexcept;

// The derivative of a kind. Neither a function nor a reason: no gradient leads through a node, as
// the result is no float, or does not change with the operands.
class Derivation;
using DeriveNode = void(Derivation& at);
struct Derivative {
  DeriveNode* derive = nullptr;
  const char* refusal = nullptr;
};

// The functions of a kind.
struct NodeFunctions {
  InferNode* infer = nullptr;  // nullptr of control nodes
  RunNode* run = nullptr;      // nullptr of views and control nodes
  SeeNode* view = nullptr;     // only of views
  FindNode* find = nullptr;    // in place of `run`, where a run counts the elements of the result
  ShapeNode* shape = nullptr;
  AdaptNode* adapt = nullptr;  // without it and `shape`, only `infer` knows the extents
};
struct OperationKind : NodeKindRow, NodeFunctions {
  Derivative derivative;
};

// nullptr: no such kind.
const OperationKind* find_operation(std::uint32_t code) noexcept;
inline const OperationKind& operation_of(const GraphNode& node) noexcept {
  return *find_operation(node.code);
}
inline bool finds_extent(const GraphNode& node) noexcept {
  return operation_of(node).find != nullptr;
}
// Whether the result may be exactly the first operand.
bool may_be_in_place(const GraphNode& node) noexcept;
// "conv2d", or of kinds with codes the operation's own name.
const char* operation_name(const GraphNode& node) noexcept;

}  // namespace tenure
