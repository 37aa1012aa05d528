// The kinds of nodes: what each takes, which array it gives, and the call that computes it.
#pragma once

#include <cstdint>

#include "base/array_type.hpp"
#include "base/node_kinds.hpp"
#include "program/node.hpp"
#include "tenure/context.hpp"
#include "tenure/status.hpp"

namespace tenure {

// An operand of a node where its type is asked for: an array or a number; neither where an optional
// one is not given.
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
inline constexpr std::size_t kMostFixedOperands = 5;

// The result's type. Throws what the call would refuse.
using InferNode = ArrayType(const NodeCall& call, const OperandType* operands);
// Computes it.
using RunNode = void(const Context& context, const NodeCall& call, const OperandView* operands,
                     const tnr_view_mut& out);
// Computes what is found, of which there are as many as it gives: into row-major memory whose first
// extent is the most, of which more leave it as it is.
using FindNode = std::int64_t(const Context& context, const NodeCall& call,
                              const OperandView* operands, const tnr_view_mut& out);
// The operand as a view node sees it. Throws where its elements would have to move, which only a
// reshape does.
using SeeNode = tnr_view(const NodeCall& call, const tnr_view& operand);

// A node behind what a run has found: the types of values so far, and those where as many are found
// as may be.
struct DecidedCall {
  const GraphNode& node;
  const std::int64_t* numbers;
  const ArrayType* types;          // by value
  const ArrayType* planned_types;  // by value

  [[nodiscard]] bool has(std::size_t i) const noexcept {
    return i < node.operands.size() && node.operands[i] != kNoValue;
  }
  // A scalar has a type without an axis.
  [[nodiscard]] const ArrayType& operand(std::size_t i) const noexcept {
    return types[node.operands[i]];
  }
  [[nodiscard]] const ArrayType& planned(std::size_t i) const noexcept {
    return planned_types[node.operands[i]];
  }
};
// The extents of the result, whose type is that of the plan: what `infer` gives and refuses, but
// without an exception and without memory. UNSUPPORTED where only `infer` knows.
using DecideNode = Refusal(const DecidedCall& call, ArrayType& result) noexcept;

// The functions of a kind.
struct NodeFunctions {
  InferNode* infer = nullptr;    // nullptr of control nodes
  RunNode* run = nullptr;        // nullptr of views and control nodes
  SeeNode* view = nullptr;       // only of views
  FindNode* find = nullptr;      // in place of `run`, where a run counts the elements of the result
  DecideNode* decide = nullptr;  // nullptr: only `infer` knows
};
struct OperationKind : NodeKindRow, NodeFunctions {};

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
