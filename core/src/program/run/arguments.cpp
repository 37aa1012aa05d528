#include "program/run/arguments.hpp"

#include <cinttypes>
#include <cstdio>

#include "program/unbacked.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

template <class View>
Refusal null_refusal(const View* const* views, std::uint32_t count, const char* array) noexcept {
  if (views == nullptr && count != 0) [[unlikely]]
    return error_of(TNR_STATUS_INVALID_ARGUMENT, "%s is NULL", array);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (views[i] != nullptr) [[likely]]
      continue;
    return error_of(TNR_STATUS_INVALID_ARGUMENT, "%s is NULL", argument_name(array, i).text);
  }
  return std::nullopt;
}

Refusal count_refusal(const char* name, std::uint32_t count, std::size_t expected) noexcept {
  if (count == expected) [[likely]]
    return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT, "%s is %" PRIu32 " but the program has %zu", name,
                  count, expected);
}

}  // namespace

ArgumentName argument_name(const char* array, std::size_t index) noexcept {
  ArgumentName name;
  std::snprintf(name.text, sizeof name.text, "%s[%zu]", array, index);
  return name;
}

Refusal inputs_refusal(const Graph& graph, const tnr_view* const* inputs, std::uint32_t input_count,
                       const tnr_device& device) noexcept {
  if (Refusal refusal = count_refusal("input_count", input_count, graph.inputs.size())) {
    return refusal;
  }
  if (Refusal refusal = null_refusal(inputs, input_count, "inputs")) return refusal;
  for (std::uint32_t i = 0; i < input_count; ++i) {
    if (is_valid_view(*inputs[i], device)) continue;
    return view_refusal(*inputs[i], argument_name("inputs", i).text, device);
  }
  return std::nullopt;
}

Refusal outputs_refusal(const Graph& graph, const tnr_view_mut* const* outputs,
                        std::uint32_t output_count, const tnr_device& device) noexcept {
  if (Refusal refusal = count_refusal("output_count", output_count, graph.outputs.size())) {
    return refusal;
  }
  if (Refusal refusal = null_refusal(outputs, output_count, "outputs")) return refusal;
  for (std::uint32_t i = 0; i < output_count; ++i) {
    const tnr_view& view = outputs[i]->view;
    if (!is_valid_view(view, device)) {
      return view_refusal(view, argument_name("outputs", i).text, device);
    }
    if (strides_nest_in_order(view)) continue;
    if (Refusal refusal = self_overlap_refusal(view, argument_name("outputs", i).text)) {
      return refusal;
    }
  }
  return std::nullopt;
}

tnr_device device_of(const Arguments& arguments) noexcept {
  for (std::uint32_t i = 0; arguments.inputs != nullptr && i < arguments.input_count; ++i) {
    const tnr_view* const view = arguments.inputs[i];
    if (view != nullptr && !(named_device(*view) == kCpu)) return view->device;
  }
  for (std::uint32_t i = 0; arguments.outputs != nullptr && i < arguments.output_count; ++i) {
    const tnr_view_mut* const out = arguments.outputs[i];
    if (out != nullptr && !(named_device(out->view) == kCpu)) return out->view.device;
  }
  return kCpu;
}

Refusal alias_refusal(const Graph& graph, const Arguments& arguments) noexcept {
  for (std::uint32_t i = 0; i < arguments.output_count; ++i) {
    const tnr_view& out = arguments.outputs[i]->view;
    for (std::uint32_t j = 0; j < arguments.input_count; ++j) {
      const Alias alias = alias_of(out, *arguments.inputs[j]);
      if (alias == Alias::kNone || (alias == Alias::kSame && graph.outputs[i].updates == j)) {
        continue;
      }
      return error_of(TNR_STATUS_ALIASED,
                      "outputs[%" PRIu32 "] %s inputs[%" PRIu32 "], which it does not update", i,
                      alias == Alias::kUndecided ? "may share a byte with" : "shares a byte with",
                      j);
    }
    for (std::uint32_t j = 0; j < i; ++j) {
      if (alias_of(out, arguments.outputs[j]->view) == Alias::kNone) continue;
      return error_of(TNR_STATUS_ALIASED,
                      "outputs[%" PRIu32 "] may share a byte with outputs[%" PRIu32 "]", i, j);
    }
  }
  return std::nullopt;
}

Refusal flags_refusal(const tnr_program_run_attributes& attributes) noexcept {
  constexpr std::uint32_t kKnown =
      TNR_RUN_CHECKED | TNR_RUN_BUDGET | TNR_RUN_REFUSE_NAN | TNR_RUN_REFUSE_NON_FINITE;
  if ((attributes.flags & ~kKnown) == 0) [[likely]]
    return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "attributes->flags is 0x%" PRIx32 " but only 0x%" PRIx32 " is known",
                  attributes.flags, kKnown);
}

Refusal refused_values_refusal(const tnr_program_run_attributes& attributes,
                               const char* runner) noexcept {
  if (refused_values(attributes) == 0) [[likely]]
    return std::nullopt;
  return error_of(TNR_STATUS_UNSUPPORTED,
                  "attributes->flags has TNR_RUN_REFUSE_NAN or TNR_RUN_REFUSE_NON_FINITE, but %s "
                  "does not look at results: run the program on the CPU",
                  runner);
}

Refusal attributes_refusal(const Schedule& schedule,
                           const tnr_program_run_attributes& attributes) noexcept {
  const std::uint64_t budget_bytes = attributes.budget_bytes;
  const bool has_budget = budget_bytes != 0 || (attributes.flags & TNR_RUN_BUDGET) != 0;
  if (has_budget && static_cast<std::uint64_t>(schedule.memory.block_bytes) > budget_bytes) {
    return error_of(TNR_STATUS_OUT_OF_MEMORY,
                    "intermediate values take %" PRId64 " bytes but the budget is %" PRIu64,
                    schedule.memory.block_bytes, budget_bytes);
  }
  const std::size_t expected = attributes.step_nanoseconds == nullptr ? 0 : schedule.steps.size();
  if (attributes.step_count == expected) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "attributes->step_count is %" PRIu32 " but must be %zu", attributes.step_count,
                  expected);
}

bool Owners::pin_next(std::size_t& at, Pins& pins, Refusal& refusal) const noexcept {
  using enum Pins::Access;
  const std::size_t inputs = arguments_.input_count;
  const std::size_t given = inputs + arguments_.output_count;
  const auto pin = [&](const tnr_view& view, Pins::Access access, const char* array,
                       std::size_t index) {
    const Pins::Fault fault = pins.pin(view, access);
    if (fault == Pins::Fault::kNone) [[likely]]
      return true;
    refusal = pins.error(fault, view, argument_name(array, index).text);
    return false;
  };
  for (; at < given; ++at) {
    const bool is_input = at < inputs;
    const tnr_view& view =
        is_input ? *arguments_.inputs[at] : arguments_.outputs[at - inputs]->view;
    if (view.owner == 0) continue;
    const std::size_t i = at++;
    return is_input ? pin(view, kRead, "inputs", i) : pin(view, kWrite, "outputs", i - inputs);
  }
  for (; at - given < constants_.size(); ++at) {
    const Constant& constant = *constants_[at - given];
    if (!constant.is_borrowed()) continue;
    const std::size_t i = at++ - given;
    return pin(constant.view(), kRead, "constants", i);
  }
  return false;
}

}  // namespace tenure
