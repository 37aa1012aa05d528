// A graph that is being built: each value has its type from the moment when it is added.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/concurrency.hpp"
#include "memory/handles.hpp"
#include "memory/slot_table.hpp"
#include "program/found.hpp"
#include "program/graph.hpp"
#include "tenure/program.hpp"

namespace tenure {

// Each function as the one of tenure.h that ends with its name; a failed one changes nothing.
class GraphBuilder {
 public:
  GraphBuilder() : maxima_(graph_) {}
  // With what a body is.
  explicit GraphBuilder(const Body& body)
      : graph_(body.graph), maxima_(graph_), types_(body.types) {}

  std::int64_t add_extent(const char* name, std::int64_t maximum);
  std::int64_t combine_extents(tnr_extent_op op, std::int64_t a, std::int64_t b);
  std::uint32_t add_input(tnr_dtype dtype, std::uint32_t rank, const std::int64_t* shape);
  std::uint32_t add_constant(const tnr_view& view);
  std::uint32_t add_constant(std::shared_ptr<const Constant> constant);
  std::uint32_t add_scalar(const tnr_scalar& scalar);
  std::uint32_t add_node(const tnr_graph_node& given, ReadAttributes read);
  void add_output(std::uint32_t value, std::uint32_t updates);
  void mark(std::uint32_t first, std::uint32_t count, std::uint32_t marks);
  // Gives these marks to all nodes that are added from here on.
  void set_marks(std::uint32_t marks) noexcept { marks_ = marks; }
  // Gives this number to all nodes that are added from here on; kNoValue: each its own.
  void set_number(std::uint32_t number) noexcept { number_ = number; }
  // Notes that nodes from here on are parts of the derivative of this node; kNoValue: of none.
  void set_derived(std::uint32_t node) noexcept { derived_ = node; }
  std::uint32_t add_custom(const tnr_custom_operation& operation);
  std::uint32_t add_custom(std::shared_ptr<const Custom> custom);
  std::uint32_t add_subgraph(std::shared_ptr<const Body> body);
  [[nodiscard]] const Body& subgraph(std::uint32_t index) const;
  [[nodiscard]] std::shared_ptr<Body> to_body() const;
  [[nodiscard]] tnr_graph_info describe() const noexcept;
  [[nodiscard]] tnr_extent_info describe_extent(std::uint32_t index) const;
  [[nodiscard]] tnr_graph_node describe_node(std::uint32_t index) const;
  [[nodiscard]] const tnr_view& describe_constant(std::uint32_t index) const;
  [[nodiscard]] tnr_custom_info describe_custom(std::uint32_t index) const;
  [[nodiscard]] const tnr_scalar& describe_scalar(std::uint32_t index) const;
  // The input that it updates as a value.
  [[nodiscard]] GraphOutput describe_output(std::uint32_t index) const;
  [[nodiscard]] tnr_value_info describe_value(std::uint32_t value) const;

  [[nodiscard]] const Graph& graph() const noexcept { return graph_; }
  // By value, where the extents are at their maxima.
  [[nodiscard]] const std::vector<ArrayType>& types() const noexcept { return types_; }

 private:
  std::uint32_t add_value(tnr_value_source source, std::size_t index, const ArrayType& type);
  void require_value(std::uint32_t value) const;
  [[nodiscard]] std::shared_ptr<const Custom> find_custom(const tnr_graph_node& given) const;
  void require_room(std::size_t count = 1) const;
  void require_custom_room();
  std::int64_t push_extent(const Extent& extent);

  Graph graph_;
  Sizes maxima_;
  std::vector<ArrayType> types_;  // by value, where the extents are at their maxima
  Deciding deciding_;             // of the nodes that outputs have asked for
  std::uint32_t marks_ = 0;
  std::uint32_t number_ = kNoValue;
  std::uint32_t derived_ = kNoValue;
};

// The object that a handle names.
struct SharedBuilder {
  enum class Use : std::uint8_t {
    kNone,
    kOwn,         // by a call that runs code of the library only
    kCallsOthers  // by a call that may run functions of custom operations
  };
  mutable ConditionMutex mutex;
  mutable Condition is_free;     // or calls functions of others
  mutable Use use = Use::kNone;  // guarded by the mutex
  mutable GraphBuilder builder;
};

// A call on a graph. A second one waits for its end, or throws BUSY where the first one may run
// functions of custom operations: no thread waits for these, whichever graphs they use.
class BuilderLock {
 public:
  BuilderLock(const SharedBuilder& shared, SharedBuilder::Use use);
  BuilderLock(const BuilderLock&) = delete;
  BuilderLock& operator=(const BuilderLock&) = delete;
  ~BuilderLock();

 private:
  const SharedBuilder& shared_;
};

using GraphHandles = Handles<SharedBuilder, kGraphKind>;
inline constexpr GraphHandles kGraphHandles(graph_table, "graph", "graph");
// A copy of what the graph has now.
std::shared_ptr<Body> graph_to_body(GraphToken token);

}  // namespace tenure
