// The arguments of a run and their refusals, which are returned: a preallocated run throws none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory/queue_order.hpp"
#include "program/graph.hpp"
#include "program/schedule.hpp"
#include "tenure/blob.hpp"
#include "tenure/device.hpp"
#include "tenure/status.hpp"

namespace tenure {

struct Arguments {
  const tnr_view* const* inputs;
  std::uint32_t input_count;
  const tnr_view_mut* const* outputs;
  std::uint32_t output_count;
};

// "inputs[7]", for messages.
struct ArgumentName {
  char text[24];
};
ArgumentName argument_name(const char* array, std::size_t index) noexcept;

// Refuse another number of inputs, or of outputs, than the graph has; NULL; and views that are
// invalid or not on the device.
Refusal inputs_refusal(const Graph& graph, const tnr_view* const* inputs, std::uint32_t input_count,
                       const tnr_device& device = kCpu) noexcept;
Refusal outputs_refusal(const Graph& graph, const tnr_view_mut* const* outputs,
                        std::uint32_t output_count, const tnr_device& device = kCpu) noexcept;
// The device of the first input that there is one for, or of the first output; else the CPU.
// Nothing is known of the arguments.
tnr_device device_of(const Arguments& arguments) noexcept;
// Refuses outputs that share a byte with an input that they do not update, or with each other.
Refusal alias_refusal(const Graph& graph, const Arguments& arguments) noexcept;
// Refuses unknown flags.
Refusal flags_refusal(const tnr_program_run_attributes& attributes) noexcept;
// Flags of a run that refuses NaN, or infinities too; 0 of another one.
inline std::uint32_t refused_values(const tnr_program_run_attributes& attributes) noexcept {
  return attributes.flags & (TNR_RUN_REFUSE_NAN | TNR_RUN_REFUSE_NON_FINITE);
}
// UNSUPPORTED where it refuses them: `runner` is what does not, such as "a preallocated run".
Refusal refused_values_refusal(const tnr_program_run_attributes& attributes,
                               const char* runner) noexcept;
// Refuses a budget that the schedule exceeds, and times for another number of steps than it has.
Refusal attributes_refusal(const Schedule& schedule,
                           const tnr_program_run_attributes& attributes) noexcept;

// The constants of a run on a device that are pinned one by one: they are there, in one blob.
inline const std::vector<const Constant*> kOnDevice;

// The owners that a run needs: those of inputs, of outputs, and of constants that are borrowed, in
// this order. Other constants live as long as the graph does.
class Owners {
 public:
  Owners(const std::vector<const Constant*>& constants, const Arguments& arguments) noexcept
      : constants_(constants), arguments_(arguments) {}

  // Pins them, calls body(), returns its refusal, and unpins them: as many at once as a Pins has
  // room for, so that nothing is allocated.
  template <class Body>
  Refusal with_pinned(const Body& body) const {
    return with_pinned_from(0, body, [](const Pins&) { return Unordered(); });
  }
  // with_pinned() where body() enqueues work on views of devices: in the order of their blobs.
  template <class Body>
  Refusal with_pinned_on(const DeviceQueue& queue, const Body& body) const {
    return with_pinned_from(0, body, [&](const Pins& pins) { return QueueOrder(queue, pins); });
  }

 private:
  struct Unordered {};

  // `order_of` makes what lasts as long as the pins do.
  template <class Body, class OrderOf>
  Refusal with_pinned_from(std::size_t at, const Body& body, const OrderOf& order_of) const {
    Pins pins;
    Refusal refusal;
    for (unsigned count = 0; count <= TNR_MAX_EXPRESSION_VIEWS; ++count) {
      if (pin_next(at, pins, refusal)) continue;
      if (refusal) return refusal;
      [[maybe_unused]] const auto order = order_of(pins);
      return body();
    }
    [[maybe_unused]] const auto order = order_of(pins);
    return with_pinned_from(at, body, order_of);
  }
  // The next one from `at` on, which moves on; false: there was none, or it was refused.
  bool pin_next(std::size_t& at, Pins& pins, Refusal& refusal) const noexcept;

  const std::vector<const Constant*>& constants_;
  const Arguments& arguments_;
};

}  // namespace tenure
