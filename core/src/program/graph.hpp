// The parts of a graph, and the sizes of its extents.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/array_type.hpp"
#include "program/node.hpp"
#include "program/operations.hpp"
#include "tenure/blob.hpp"

namespace tenure {

// Elements that a graph holds: the memory of a blob that it retains.
class Constant {
 public:
  // Retains the view's owner; the elements of a view without one are copied.
  explicit Constant(const tnr_view& view, const char* name = "view");
  // A new one in row-major order, whose elements are undefined.
  explicit Constant(const ArrayType& type);
  Constant(const Constant&) = delete;
  Constant& operator=(const Constant&) = delete;
  ~Constant();

  [[nodiscard]] const tnr_view& view() const noexcept { return view_; }
  // Whether the memory may end although it is retained.
  [[nodiscard]] bool is_borrowed() const noexcept { return is_borrowed_; }

 private:
  void allocate(const ArrayType& type);

  tnr_view view_;
  BlobToken blob_;
  bool is_borrowed_ = false;
};

struct Extent {
  tnr_extent_op op;  // 0: a named one
  std::int64_t a;    // of a named one its maximum
  std::int64_t b;
  char name[32];
  std::uint32_t node = kNoValue;  // the node that finds it, as a count of elements
};

// Whether both are named ones, with the same name and maximum.
bool is_same(const Extent& a, const Extent& b) noexcept;
// Whether an extent of a body is one of the graph around it: a named one that no node of it finds.
inline bool is_outer(const Extent& extent) noexcept {
  return extent.op == 0 && extent.node == kNoValue;
}

struct GraphInput {
  tnr_dtype dtype;
  std::vector<std::int64_t> shape;  // numbers
  std::uint32_t value;
  bool is_updated;  // by an output
};

struct GraphOutput {
  std::uint32_t value;
  std::uint32_t updates;  // an input's index, or kNoValue
};

struct Graph {
  std::vector<Extent> extents;
  std::vector<GraphValue> values;
  std::vector<GraphInput> inputs;
  std::vector<std::shared_ptr<const Constant>>
      constants;  // of programs: nullptr where none is read
  std::vector<tnr_scalar> scalars;
  std::vector<GraphNode> nodes;  // each behind those whose results it reads
  std::vector<GraphOutput> outputs;
  std::vector<std::shared_ptr<const Custom>> customs;
  std::vector<std::shared_ptr<const Body>> bodies;
  std::vector<std::shared_ptr<const PackedFactor>> factors;
  std::vector<std::shared_ptr<const PackedFilters>> filters;
  std::vector<std::shared_ptr<const std::vector<std::int32_t>>> column_sums;  // of factors
  std::size_t body_value_count = 0;  // of the bodies of all nodes
  std::uint32_t depth = 0;           // of bodies within bodies
  bool finds_extents = false;        // by a node, also of a body in one

  [[nodiscard]] const GraphNode* node_of(std::uint32_t value) const noexcept {
    return values[value].source == TNR_VALUE_SOURCE_NODE ? &nodes[values[value].index] : nullptr;
  }
  [[nodiscard]] const tnr_scalar* scalar_of(std::uint32_t value) const noexcept {
    return values[value].source == TNR_VALUE_SOURCE_SCALAR ? &scalars[values[value].index]
                                                           : nullptr;
  }
  [[nodiscard]] const Constant* constant_of(std::uint32_t value) const noexcept {
    return values[value].source == TNR_VALUE_SOURCE_CONSTANT ? constants[values[value].index].get()
                                                             : nullptr;
  }
};

// A graph within another one, whose extents of the same names are its own. Its inputs have whatever
// shape a run hands to it, which are those that it says where extents are at their maxima.
struct Body {
  Graph graph;
  std::vector<ArrayType> types;  // of all values, at the maxima
  std::vector<bool> needed;      // by node
};

constexpr bool is_extent(std::int64_t number) noexcept { return number >= TNR_EXTENT; }
constexpr std::size_t extent_index(std::int64_t number) noexcept {
  return static_cast<std::size_t>(number - TNR_EXTENT);
}

// Numbers for the extents of a graph. An extent that a node finds is known after the node.
class Sizes {
 public:
  Sizes() = default;
  // All named extents at their maxima.
  explicit Sizes(const Graph& graph);
  // The sizes for a run's inputs. Reads only their dtypes and shapes. Throws INVALID_ARGUMENT where
  // these disagree with the graph.
  Sizes(const Graph& graph, const tnr_view* const* inputs, std::uint32_t input_count);
  // Sizes in a body: named extents are those of the graph around it, except for extents that nodes
  // of the body find.
  Sizes(const Graph& body, const Graph& graph, const Sizes& sizes);
  // Sets these sizes of a body anew after a run has found some of the extents around it.
  Refusal set_around(const Graph& body, const Graph& graph, const Sizes& sizes) noexcept;

  // The size that a number of a node or of a shape stands for.
  [[nodiscard]] std::int64_t of(std::int64_t number) const;
  [[nodiscard]] std::vector<std::int64_t> of_all(const std::vector<std::int64_t>& numbers) const;
  // Writes the sizes of a node's numbers to `to`, which has room for all of them.
  void write_all(const std::vector<std::int64_t>& numbers, std::int64_t* to) const noexcept;

  void add(const Extent& extent);
  // Sets the size that the node finds, and the sizes that are made of it.
  Refusal set_found(const Graph& graph, const GraphNode& node, std::int64_t count) noexcept;
  [[nodiscard]] bool are_maxima() const noexcept { return are_maxima_; }

 private:
  static constexpr std::int64_t kUnknown = -1;

  // The size of an extent that is made of others, which are before it.
  Refusal combine(const Extent& extent, std::int64_t& size) const noexcept;
  Refusal find_around(const Extent& extent, const Graph& graph, const Sizes& sizes,
                      std::int64_t& size) const noexcept;

  // The size of a number that is known to be valid.
  [[nodiscard]] std::int64_t size_at(std::int64_t number) const noexcept {
    return is_extent(number) ? sizes_[extent_index(number)] : number;
  }

  bool are_maxima_ = false;
  std::vector<std::int64_t> sizes_;
};

// The types of all values that nodes need, for one set of input types. Functions of custom
// operations give their answers once, here: a schedule is made of these types and of no others.
struct Inferred {
  Sizes given;                                // before nodes find anything
  Sizes sizes;                                // where nodes find the maximum
  std::vector<ArrayType> types;               // by value
  std::vector<std::vector<Inferred>> bodies;  // by node
};

// The operands that a kind may have: the optional ones that a node does not give, too.
std::size_t operand_room(const GraphNode& node) noexcept;
// Writes operand_room() operands; `types` are the types of all values.
void write_operands(const Graph& graph, const GraphNode& node, const std::vector<ArrayType>& types,
                    OperandType* operands) noexcept;

// The type of the result of a node without bodies at these sizes, from the types of all values
// before it. Throws what the operation refuses, naming the node.
ArrayType infer_result(const Graph& graph, const GraphNode& node, const Sizes& sizes,
                       const std::vector<ArrayType>& types);
// Sets the types of all results of a node; returns the types of its bodies. Throws as
// infer_result().
std::vector<Inferred> infer(const Graph& graph, const GraphNode& node, const Sizes& sizes,
                            std::vector<ArrayType>& types);
Inferred infer_graph(const Graph& graph, const std::vector<bool>& needed, const Sizes& sizes,
                     const std::vector<ArrayType>& inputs);

}  // namespace tenure
