#include "program/run/captured.hpp"

#include <cinttypes>
#include <utility>

#include "tenure/device.hpp"

namespace tenure {

CapturedBound::CapturedBound(const Context& context, const Arguments& arguments,
                             std::shared_ptr<const DeviceConstants> constants,
                             const tnr_memory_plan& plan)
    : device_(context.queue()->device()), plan_(plan), constants_(std::move(constants)) {
  // Room for the memory of the runs, too: what holds a blob must not fail behind it.
  held_.reserve(std::size_t{arguments.input_count} + arguments.output_count + 1);
  for (std::uint32_t i = 0; i < arguments.input_count; ++i) {
    inputs_.push_back(*arguments.inputs[i]);
  }
  for (std::uint32_t i = 0; i < arguments.output_count; ++i) {
    outputs_.push_back(*arguments.outputs[i]);
  }
  for (const tnr_view& input : inputs_) input_pointers_.push_back(&input);
  for (const tnr_view_mut& output : outputs_) output_pointers_.push_back(&output);
  // The owners are pinned, so that the blobs held here are those that the views name.
  require_none(Owners(kOnDevice, held_arguments()).with_pinned([this]() -> Refusal {
    for (const tnr_view& input : inputs_) hold(input);
    for (const tnr_view_mut& output : outputs_) hold(output.view);
    return std::nullopt;
  }));
}

void CapturedBound::hold(const tnr_view& view) {
  if (view.owner == 0) return;
  blob_retain(view.owner);
  held_.emplace_back(view.owner);
}

Arguments CapturedBound::held_arguments() const noexcept {
  return {input_pointers_.data(), static_cast<std::uint32_t>(input_pointers_.size()),
          output_pointers_.data(), static_cast<std::uint32_t>(output_pointers_.size())};
}

void* CapturedBound::take_memory(const Context& context, std::size_t size_bytes) {
  if (size_bytes == 0) return nullptr;
  memory_.owner = blob_allocate_on(context, size_bytes);
  held_.emplace_back(memory_.owner);
  void* const data = blob_memory(memory_.owner).data;
  memory_.base = memory_.data = data;
  memory_.size_bytes = size_bytes;
  memory_.device = device_;
  return data;
}

Refusal CapturedBound::run(ContextToken context, const Arguments& arguments,
                           const tnr_program_run_attributes* of_run) const {
  const auto given = [](const char* name, std::uint32_t count) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "%s is %" PRIu32 " but must be 0: a captured program holds its arguments", name,
                    count);
  };
  if (arguments.input_count != 0) return given("input_count", arguments.input_count);
  if (arguments.output_count != 0) return given("output_count", arguments.output_count);
  const tnr_program_run_attributes& attributes = of_run == nullptr ? kNoRunAttributes : *of_run;
  if (attributes.flags != 0 || attributes.budget_bytes != 0 || attributes.step_count != 0 ||
      attributes.step_nanoseconds != nullptr || attributes.output_shapes != nullptr) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "attributes are not zeros, but a captured program runs as one launch, as it "
                    "was recorded");
  }
  const ContextUse use(context);
  const Context& of_call = use;
  const DeviceQueue* const queue = of_call.queue();
  if (queue == nullptr || !(queue->device() == device_)) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "the program is captured on %s but the context's device is %s",
                    DeviceName(device_).text, DeviceName(device_of(queue)).text);
  }
  Pins pins;
  constants_->pin(pins);
  pins.add(memory_, "memory");
  const QueueOrder order(*queue, pins);
  return Owners(kOnDevice, held_arguments()).with_pinned_on(*queue, [&]() -> Refusal {
    recording_->enqueue(*queue);
    return std::nullopt;
  });
}

}  // namespace tenure
