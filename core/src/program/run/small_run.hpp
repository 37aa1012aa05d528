// The runs of a program that is one expression of few elements, whose views all have one dense
// layout: each argument is checked once, and neither a workspace nor a frame is needed.
#pragma once

#include <cstdint>
#include <vector>

#include "program/graph.hpp"
#include "program/run/arguments.hpp"
#include "program/run/bound_schedule.hpp"

namespace tenure {

class SmallRun {
 public:
  // Takes any schedule: run() is false for one of another kind. `constants` are all of the program.
  // The program and the schedule outlive this.
  SmallRun(const Graph& graph, const std::vector<const Constant*>& constants,
           const BoundSchedule& schedule);

  // Computes where unchecked arguments are valid and apart from each other, and throws nothing.
  // False: nothing is done, and BoundSchedule::refusal() has the reason, if there is one. A refusal
  // is of an owner or of the data, and then names the node.
  [[nodiscard]] bool run(const Graph& graph, const Arguments& arguments,
                         Refusal& refusal) const noexcept;

 private:
  // A view of the expression: that of an input, or of a constant.
  struct Operand {
    const tnr_view* constant;  // nullptr of an input
    std::uint32_t input;
  };

  const std::vector<const Constant*>& constants_;
  const PreparedExpression* expression_ = nullptr;  // nullptr: nothing is taken
  std::uint32_t node_ = 0;                          // of messages
  std::uint64_t bytes_ = 0;                         // of a view
  std::uint32_t input_count_ = 0;
  bool is_in_order_ = true;  // the operands are the first inputs
  tnr_view layout_ = {};     // of the output
  std::vector<Operand> operands_;
};

}  // namespace tenure
