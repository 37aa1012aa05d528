// The frame of a schedule: views of all values, and the calls of its steps on them.
//
// Counts that steps find in the data decide layouts and numbers of later ones: each run computes
// them anew behind such a step (found.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/data_findings.hpp"
#include "program/graph.hpp"
#include "program/schedule.hpp"
#include "tenure/context.hpp"
#include "tenure/status.hpp"

namespace tenure {

// A run, and whether it may ask for memory.
struct ProgramRun {
  static constexpr std::uint32_t kNoRound = UINT32_MAX;

  const Context& context;
  bool is_checked = false;  // trusts no operation of others
  // Set in a run that asks for no memory, and so throws nothing; else nullptr.
  DataFindings* findings = nullptr;
  // The round of a rehearsal, which asks for all scratch memory that a run may ask for: it computes
  // both bodies of each `cond` node and two iterations of each loop, and in each round nodes find
  // another share of the most they may.
  std::uint32_t round = kNoRound;
  // TNR_RUN_REFUSE_NAN and TNR_RUN_REFUSE_NON_FINITE. Each step of such a run has one node.
  std::uint32_t refused = 0;

  [[nodiscard]] bool is_quiet() const noexcept { return findings != nullptr; }
  [[nodiscard]] bool is_rehearsal() const noexcept { return round != kNoRound; }
};

// Views of all values that steps name. Bodies have frames of their own, in memory of this one.
class Frame {
 public:
  // `block` has the bytes of the schedule's memory.
  Frame(const Graph& graph, const Schedule& schedule, const void* block);
  Frame(Frame&&) = default;
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  [[nodiscard]] const tnr_view& view(std::uint32_t place) const noexcept { return views_[place]; }
  [[nodiscard]] const tnr_view* views() const noexcept { return views_.data(); }
  // Places of inputs and outputs, for the memory of this run: both functions give one by its index.
  // Nothing has been found in it.
  template <class InputOf, class OutputOf>
  void set_memory(const Schedule& schedule, const InputOf& input_of, const OutputOf& output_of) {
    if (!schedule.findings.empty()) [[unlikely]]
      forget(schedule);
    for (const std::uint32_t place : changing_) {
      const Placed& placed = schedule.places[place];
      set_data(
          views_[place], placed,
          placed.storage == Storage::kInput ? input_of(placed.index) : output_of(placed.index));
    }
    for (const std::uint32_t value : schedule.handed) {
      hand_over(value, input_of(schedule.places[value].index));
    }
  }
  // Called for a body after set_memory(): sets layouts and numbers that follow from the shapes and
  // extents that the graph around the body hands over.
  Refusal begin(const ProgramRun& run, const Graph& graph, const Schedule& schedule,
                const Graph& around, const Frame& of_around);
  // The operands of a step, in its order.
  [[nodiscard]] const tnr_view* const* pointers(std::size_t step) const noexcept {
    return pointers_.data() + steps_[step].first_operand;
  }
  [[nodiscard]] const OperandView* operands(std::size_t step) const noexcept {
    return operands_.data() + steps_[step].first_operand;
  }
  // The numbers that the node of a step takes.
  [[nodiscard]] const std::int64_t* numbers(const Schedule& schedule,
                                            std::size_t step) const noexcept {
    return numbers_.empty() ? schedule.steps[step].numbers.data() : numbers_[step].data();
  }
  // The type of an output's value.
  [[nodiscard]] const ArrayType& output_type(const Graph& graph, const Schedule& schedule,
                                             std::size_t output) const noexcept {
    return types_.empty() ? schedule.outputs[output] : types_[graph.outputs[output].value];
  }
  // Gives a result of a step with bodies, or a place that it owns, the shape that a body gives.
  void set_shape(std::uint32_t place, const ArrayType& type) noexcept;
  // Sets the layouts and numbers that follow from the shapes of a step's results, after set_shape()
  // for all of them.
  Refusal set_given(const ProgramRun& run, const Graph& graph, const Schedule& schedule,
                    std::size_t step);
  // In a quiet run, refuses operands with shapes that a step that finds an extent does not take.
  Refusal check_found(const ProgramRun& run, const Graph& graph, const Schedule& schedule,
                      std::size_t step);
  // Sets the count that the step has found, which is at most its maximum.
  Refusal set_found(const ProgramRun& run, const Graph& graph, const Schedule& schedule,
                    std::size_t step, std::int64_t count);
  // The frame of a body of the step.
  [[nodiscard]] Frame& body(std::size_t step, std::size_t index) noexcept {
    return bodies_[steps_[step].first_body + index];
  }

 private:
  struct Firsts {
    std::size_t first_operand;
    std::size_t first_body;
  };

  // The view that a place has in a memory whose first element is at `data`.
  static void set_data(tnr_view& view, const Placed& placed, const tnr_view& memory) noexcept;
  tnr_view& set_block(const Schedule& schedule, std::uint32_t place) noexcept;
  void prepare_findings(const Graph& graph, const Schedule& schedule);
  void forget(const Schedule& schedule);
  void hand_over(std::uint32_t value, const tnr_view& given);
  Refusal decide(const ProgramRun& run, const Graph& graph, const Schedule& schedule,
                 const Finding& finding);
  Refusal decide_type(const Graph& graph, const Schedule& schedule, std::uint32_t index,
                      ArrayType& type) const;
  Refusal infer_decided(const ProgramRun& run, const Graph& graph, const Schedule& schedule,
                        std::uint32_t index);
  void shrink(const Schedule& schedule, std::uint32_t place, const ArrayType& type);
  Refusal set_decided(const ProgramRun& run, const Graph& graph, const Schedule& schedule,
                      const Finding::Node& decided);

  const void* block_;
  std::vector<tnr_view> views_;          // by place
  std::vector<std::uint32_t> changing_;  // places of inputs and outputs
  std::vector<std::uint32_t> found_;     // places whose shapes are found
  std::vector<const tnr_view*> pointers_;
  std::vector<OperandView> operands_;
  std::vector<Frame> bodies_;
  std::vector<Firsts> steps_;  // by step
  // Empty without findings; else as far as they are found: sizes, types by value, numbers by step.
  Sizes sizes_;
  std::vector<ArrayType> types_;
  std::vector<std::vector<std::int64_t>> numbers_;
};

// The error with the node's name.
Error node_error(const Error& error, const Graph& graph, std::uint32_t node) noexcept;

// Computes what the step does, or all of them. Throws what operations find on the data; what a
// preallocated run may be refused is a refusal: a loop that reaches its limit, a count that exceeds
// its bound or does not fit another one. Both name the node.
Refusal run_step(const ProgramRun& run, const Graph& graph, const Schedule& schedule, Frame& frame,
                 std::size_t index);
Refusal run_steps(const ProgramRun& run, const Graph& graph, const Schedule& schedule,
                  Frame& frame);

}  // namespace tenure
