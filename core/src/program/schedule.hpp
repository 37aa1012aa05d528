// A program for inputs and outputs of some layouts: the calls of a run, and the memory of each
// value.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "expression/prepared.hpp"
#include "program/found.hpp"
#include "program/graph.hpp"
#include "program/memory_plan.hpp"
#include "program/operations.hpp"
#include "program/passes.hpp"
#include "tenure/context.hpp"

namespace tenure {

// The owner of a value's memory.
enum class Storage : std::uint8_t { kNone, kInput, kConstant, kOutput, kBlock };

// A value: memory of something, from an offset on.
struct Placed {
  Storage storage;
  std::uint32_t index;        // of the input, constant, output, or lifetime
  std::int64_t offset_bytes;  // of its first element from the first one there
  tnr_view layout;            // dtype, shape and strides
};

struct Schedule;
class ExpressionOf;

// One call of a run.
struct Step {
  enum class Kind : std::uint8_t {
    kCopy = TNR_STEP_KIND_COPY,
    kExpression = TNR_STEP_KIND_EXPRESSION,
    kOperation = TNR_STEP_KIND_OPERATION,
    kControl = TNR_STEP_KIND_CONTROL
  };

  Kind kind;
  std::uint32_t node;                   // for messages; kNoValue of a copy to an output
  std::vector<std::uint32_t> operands;  // places; kNoValue of an optional one
  std::uint32_t result;                 // place; of several the first
  std::vector<std::uint32_t> nodes;     // that it computes
  std::int64_t element_count;           // of what each of these nodes computes
  std::vector<std::int64_t> numbers;
  // The expression of the step, unless a run decides its shapes.
  std::unique_ptr<const PreparedExpression> prepared;
  std::uint32_t result_count = 1;
  // The schedules of the node's bodies, and the places that only these use, in Control's order.
  std::vector<std::shared_ptr<const Schedule>> bodies = {};
  std::vector<std::uint32_t> owned = {};
  // An expression that is not prepared. It has pointers into the graph.
  std::shared_ptr<const ExpressionOf> expression = nullptr;
};

// A step that decides shapes in a run, by an extent that it finds or by the results of its bodies,
// and the layouts and numbers that it decides and no later step. Each run computes these. Memory is
// planned for the maximum. In a body, the first finding is for the inputs that the body is handed.
struct Finding {
  static constexpr std::uint32_t kNoStep = UINT32_MAX;

  struct Node {
    std::uint32_t node;
    std::uint32_t seen;  // place that a view sees; kNoValue of other nodes
  };
  struct Copy {
    std::uint32_t place;
    std::uint32_t value;
  };

  std::uint32_t step;                // kNoStep of what a body is handed
  std::uint32_t node;                // kHandedOver of it
  std::vector<Node> nodes;           // each behind those whose results it reads
  std::vector<Copy> copies;          // of values, in outputs
  std::vector<std::uint32_t> steps;  // that have numbers
};

struct Schedule {
  std::vector<Placed> places;  // by value, and behind them those that copies need
  std::vector<Step> steps;
  std::vector<Lifetime> lifetimes;
  MemoryPlan memory;
  std::vector<ArrayType> outputs;
  PassCounts counts;             // with those of bodies
  std::vector<ArrayType> types;  // by value, where nodes find the maximum
  std::vector<Finding> findings;
  Sizes sizes;                        // before anything is found
  std::vector<std::uint32_t> handed;  // values: inputs of a body whose shapes a run decides
  bool has_found_around = false;      // extents of the graph around it too
};

// Whether these nodes, later ones first, are one launch of a device.
using FitsLaunch = bool(const Graph& graph, const std::vector<ArrayType>& types,
                        const std::vector<std::uint32_t>& nodes);

// Where a schedule runs: on the CPU, or on any device.
struct Target {
  // Layouts of the constants on a device, by index; nullptr: the CPU, where they are the graph's.
  const std::vector<tnr_view>* device_constants = nullptr;
  FitsLaunch* fits = nullptr;  // of a device

  [[nodiscard]] bool is_device() const noexcept { return device_constants != nullptr; }
};

// Only the layouts of views are looked at: `inferred` is for inputs of their types. `outputs` is
// nullptr for row-major ones. `needed` says which nodes outputs need. `outside` names the parts of
// a body that a run decides, or is nullptr. Throws INVALID_ARGUMENT for strides that reach beyond
// memory.
Schedule schedule(const Graph& graph, const std::vector<bool>& needed,
                  std::uint32_t disabled_passes, Inferred inferred, const tnr_view* const* inputs,
                  const tnr_view_mut* const* outputs, const Outside* outside = nullptr,
                  const Target& target = {});

}  // namespace tenure
