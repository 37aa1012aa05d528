#include "program/run/captured.hpp"

#include <utility>

#include "program/run/program.hpp"

namespace tenure {
namespace {

constexpr CapturedProgramHandles kCapturedProgramHandles(captured_program_table, "captured",
                                                         "captured program");

}  // namespace

CapturedProgram::CapturedProgram(const Context& context, const Arguments& arguments,
                                 std::shared_ptr<const DeviceConstants> constants)
    : device_(context.queue()->device()), constants_(std::move(constants)) {
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
  // Pinned, so that what is held is what the views say.
  require_none(Owners(kOnDevice, this->arguments()).with_pinned([this]() -> Refusal {
    for (const tnr_view& input : inputs_) hold(input);
    for (const tnr_view_mut& output : outputs_) hold(output.view);
    return std::nullopt;
  }));
}

void CapturedProgram::hold(const tnr_view& view) {
  if (view.owner == 0) return;
  blob_retain(view.owner);
  held_.emplace_back(view.owner);
}

Arguments CapturedProgram::arguments() const noexcept {
  return {input_pointers_.data(), static_cast<std::uint32_t>(input_pointers_.size()),
          output_pointers_.data(), static_cast<std::uint32_t>(output_pointers_.size())};
}

void* CapturedProgram::take_memory(const Context& context, std::size_t size_bytes) {
  if (size_bytes == 0) return nullptr;
  memory_.owner = blob_allocate_on(context, size_bytes);
  held_.emplace_back(memory_.owner);
  void* const data = blob_memory(memory_.owner).data;
  memory_.base = memory_.data = data;
  memory_.size_bytes = size_bytes;
  memory_.device = device_;
  return data;
}

void CapturedProgram::run(const Context& context) const {
  const DeviceQueue* const queue = context.queue();
  if (queue == nullptr || !(queue->device() == device_)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "the program is captured on %s but the context's device is %s", DeviceName(device_).text,
         DeviceName(queue == nullptr ? kCpu : queue->device()).text);
  }
  Pins pins;
  constants_->pin(pins);
  pins.add(memory_, "memory");
  const QueueOrder order(*queue, pins);
  require_none(Owners(kOnDevice, arguments()).with_pinned_on(*queue, [&]() -> Refusal {
    recording_->enqueue(*queue);
    return std::nullopt;
  }));
}

// ---- handles -----------------------------------------------------------------------------------

CapturedProgramToken captured_program_create(const Context& context, ProgramToken program,
                                             const tnr_view* const* inputs,
                                             std::uint32_t input_count,
                                             const tnr_program_run_attributes& attributes,
                                             const tnr_view_mut* const* outputs,
                                             std::uint32_t output_count) {
  const ProgramHandles::Use use(kProgramHandles, program);
  return kCapturedProgramHandles.open(
      use.object().capture(context, {inputs, input_count, outputs, output_count}, attributes));
}

void captured_program_release(CapturedProgramToken token) {
  kCapturedProgramHandles.release(token);
}

void captured_program_run(const Context& context, CapturedProgramToken token) {
  const CapturedProgramHandles::Use use(kCapturedProgramHandles, token);
  use.object().run(context);
}

}  // namespace tenure
