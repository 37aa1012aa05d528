// What a run is given, and what can be wrong with it: said without an exception, as a sealed program
// throws none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "program/graph.hpp"
#include "tenure/blob.hpp"
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

// Of another number of inputs than the graph has, or of outputs; of NULL, and of views that are
// invalid.
Refusal inputs_refusal(const Graph& graph, const tnr_view* const* inputs,
                       std::uint32_t input_count) noexcept;
Refusal outputs_refusal(const Graph& graph, const tnr_view_mut* const* outputs,
                        std::uint32_t output_count) noexcept;
// Of outputs that share a byte with an input that they do not update, or with each other.
Refusal alias_refusal(const Graph& graph, const Arguments& arguments) noexcept;

// The owners that a run needs: those of inputs, of outputs, and of constants that are borrowed, in
// this order. Other constants live as long as the graph does.
class Owners {
 public:
  Owners(const std::vector<const Constant*>& constants, const Arguments& arguments) noexcept
      : constants_(constants), arguments_(arguments) {}

  // Pins them, calls body(), whose refusal it gives, and unpins them: as many at once as a Pins has
  // room for, so that nothing is allocated.
  template <class Body>
  Refusal with_pinned(const Body& body) const {
    return with_pinned_from(0, body);
  }

 private:
  template <class Body>
  Refusal with_pinned_from(std::size_t at, const Body& body) const {
    Pins pins;
    Refusal refusal;
    for (unsigned count = 0; count <= TNR_MAX_EXPRESSION_VIEWS; ++count) {
      if (pin_next(at, pins, refusal)) continue;
      if (!refusal) return body();
      return refusal;
    }
    return with_pinned_from(at, body);
  }
  // The next one from `at` on, which moves on; false: there was none, or it was refused.
  bool pin_next(std::size_t& at, Pins& pins, Refusal& refusal) const noexcept;

  const std::vector<const Constant*>& constants_;
  const Arguments& arguments_;
};

}  // namespace tenure
