// One run of a program on a device that was recorded, with the memory that it had then, and is
// enqueued again as a whole.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "program/device/constants.hpp"
#include "program/run/arguments.hpp"
#include "program/run/bound.hpp"
#include "tenure/context.hpp"
#include "tenure/device_queue.hpp"

namespace tenure {

// A blob that is held, so that no memory can take its place.
class HeldBlob {
 public:
  // Takes a reference over.
  explicit HeldBlob(BlobToken token) noexcept : token_(token) {}
  HeldBlob(const HeldBlob&) = delete;
  HeldBlob& operator=(const HeldBlob&) = delete;
  HeldBlob(HeldBlob&& other) noexcept : token_(other.token_) { other.token_ = 0; }
  HeldBlob& operator=(HeldBlob&&) = delete;
  ~HeldBlob() {
    if (token_ != 0) blob_drop(token_);
  }

 private:
  BlobToken token_;
};

class CapturedBound final : public Bound {
 public:
  // Holds the owners of the views, whose addresses it is for. `plan` is that of its schedule.
  // Throws STALE_VIEW and BUSY.
  CapturedBound(const Context& context, const Arguments& arguments,
                std::shared_ptr<const DeviceConstants> constants, const tnr_memory_plan& plan);

  // Calls enqueue(context) twice, with a context on which nothing runs: first to find the memory
  // that it asks for, and then to record it. Throws as enqueue() does, UNSUPPORTED for calls that
  // cannot be recorded, OUT_OF_MEMORY and DEVICE_ERROR; nothing has been enqueued then.
  template <class Enqueue>
  void record(const Context& context, const Enqueue& enqueue) {
    const std::unique_ptr<DeviceRecorder> recorder = context.queue()->open_recorder();
    const Context recording = Context::on(recorder->queue());
    enqueue(recording);
    const std::size_t memory_bytes = recorder->memory_bytes();
    plan_.scratch_bytes = memory_bytes - std::min<std::uint64_t>(memory_bytes, plan_.peak_bytes);
    recorder->begin(take_memory(context, memory_bytes));
    enqueue(recording);
    recording_ = recorder->end();
  }

  // Enqueues the run; arguments and attributes are those of none. Throws as tnr_bound_run().
  Refusal run(ContextToken context, const Arguments& arguments,
              const tnr_program_run_attributes* attributes) const override;
  [[nodiscard]] tnr_memory_plan memory() const noexcept override { return plan_; }

  [[nodiscard]] const DeviceConstants& constants() const noexcept { return *constants_; }

 private:
  // Memory of the runs, by a blob whose home orders them; nullptr for none.
  void* take_memory(const Context& context, std::size_t size_bytes);
  void hold(const tnr_view& view);
  [[nodiscard]] Arguments held_arguments() const noexcept;

  tnr_device device_;
  tnr_memory_plan plan_;
  std::shared_ptr<const DeviceConstants> constants_;
  std::vector<tnr_view> inputs_;
  std::vector<tnr_view_mut> outputs_;
  std::vector<const tnr_view*> input_pointers_;
  std::vector<const tnr_view_mut*> output_pointers_;
  std::vector<HeldBlob> held_;
  tnr_view memory_ = {};  // without an owner where there is nothing
  std::unique_ptr<const DeviceRecording> recording_;
};

}  // namespace tenure
