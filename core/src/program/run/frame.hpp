// What a schedule is computed in: views of all values, and the calls of its steps on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "program/graph.hpp"
#include "program/schedule.hpp"
#include "tenure/context.hpp"
#include "tenure/status.hpp"

namespace tenure {

// Views of all that steps name; those of bodies have frames of their own, in memory of this one.
class Frame {
 public:
  // `block` has the bytes of the schedule's memory.
  Frame(const Graph& graph, const Schedule& schedule, const void* block);
  Frame(Frame&&) = default;
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  [[nodiscard]] const tnr_view& view(std::uint32_t place) const noexcept { return views_[place]; }
  // Places of inputs and outputs, for the memory of this run: both functions give one by its index.
  template <class InputOf, class OutputOf>
  void set_memory(const Schedule& schedule, const InputOf& input_of,
                  const OutputOf& output_of) noexcept {
    for (const std::uint32_t place : changing_) {
      const Placed& placed = schedule.places[place];
      set_data(
          views_[place], placed,
          placed.storage == Storage::kInput ? input_of(placed.index) : output_of(placed.index));
    }
  }
  // The operands of a step, in its order.
  [[nodiscard]] const tnr_view* const* pointers(std::size_t step) const noexcept {
    return pointers_.data() + steps_[step].first_operand;
  }
  [[nodiscard]] const OperandView* operands(std::size_t step) const noexcept {
    return operands_.data() + steps_[step].first_operand;
  }
  // Of a step with bodies.
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

  std::vector<tnr_view> views_;          // by place
  std::vector<std::uint32_t> changing_;  // places of inputs and outputs
  std::vector<const tnr_view*> pointers_;
  std::vector<OperandView> operands_;
  std::vector<Frame> bodies_;
  std::vector<Firsts> steps_;  // by step
};

// Which bodies a node computes: those that the data ask for, or each of them, a loop's twice, so
// that all scratch memory is asked for that a run may ask for.
enum class Bodies : std::uint8_t { kAsked, kAll };

struct Run {
  const Context& context;
  bool is_checked;  // trusts no operation of others
  Bodies bodies = Bodies::kAsked;
};

// Computes what the step does, or all of them. Throws what operations find on the data; a loop that
// reaches its limit is a refusal, as a sealed program may have one. Both name the node.
Refusal run_step(const Run& run, const Graph& graph, const Schedule& schedule, Frame& frame,
                 std::size_t index);
Refusal run_steps(const Run& run, const Graph& graph, const Schedule& schedule, Frame& frame);

}  // namespace tenure
