// Values that depend only on constants become constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "program/graph.hpp"
#include "program/operations.hpp"
#include "tenure/context.hpp"

namespace tenure {

// A body's knowledge of the graph around it; a graph of its own has none.
struct Around {
  bool has_extents;
};

// Whether a number of the node is an extent.
bool has_extents(const GraphNode& node);

// By node: whether an output needs a result of it.
std::vector<bool> needed_nodes(const Graph& graph);

// Folds nodes one by one, each behind those whose results it reads.
class Folding {
 public:
  // Bytes that a constant may have where the node's operands have fewer.
  static constexpr std::size_t kFewBytes = std::size_t{1} << 16;
  static constexpr std::size_t kAnyBytes = SIZE_MAX / 2;

  Folding(const Context& context, Graph& graph, const std::vector<ArrayType>& types,
          std::size_t most_bytes = kFewBytes)
      : context_(context), graph_(graph), types_(types), most_bytes_(most_bytes) {}

  // Replaces the result, where all operands are constants. Throws what the operation throws.
  void run(const GraphNode& node);

 private:
  void replace(std::uint32_t value, std::shared_ptr<const Constant> constant);
  bool see(const GraphNode& node);
  void compute(const GraphNode& node, const ArrayType& type);

  const Context& context_;
  Graph& graph_;
  const std::vector<ArrayType>& types_;
  std::size_t most_bytes_;
  std::vector<OperandView> operands_;
};

// Folds all needed nodes of the graph. `around` is nullptr for a graph that is no body.
void fold_constants(const Context& context, Graph& graph, const std::vector<ArrayType>& types,
                    const Around* around);

}  // namespace tenure
