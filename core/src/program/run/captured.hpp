// One run of a program on a device that was recorded, with the memory that it had then, and is
// enqueued again as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "memory/handles.hpp"
#include "program/device/constants.hpp"
#include "program/run/arguments.hpp"
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

class CapturedProgram {
 public:
  // Holds the owners of the views, whose addresses it is for. Throws STALE_VIEW and BUSY.
  CapturedProgram(const Context& context, const Arguments& arguments,
                  std::shared_ptr<const DeviceConstants> constants);
  CapturedProgram(const CapturedProgram&) = delete;
  CapturedProgram& operator=(const CapturedProgram&) = delete;

  // enqueue(context) is called twice, with a context on which nothing runs: first to see what it
  // asks for, and then to be recorded. Throws what it does, UNSUPPORTED for what cannot be recorded,
  // OUT_OF_MEMORY and DEVICE_ERROR; nothing has been enqueued then.
  template <class Enqueue>
  void record(const Context& context, const Enqueue& enqueue) {
    const std::unique_ptr<DeviceRecorder> recorder = context.queue()->open_recorder();
    const Context recording = Context::on(recorder->queue());
    enqueue(recording);
    recorder->begin(take_memory(context, recorder->memory_bytes()));
    enqueue(recording);
    recording_ = recorder->end();
  }

  // Enqueues the run. Throws as tnr_captured_program_run().
  void run(const Context& context) const;

  [[nodiscard]] const DeviceConstants& constants() const noexcept { return *constants_; }

 private:
  // Memory of the runs, by a blob whose home orders them; nullptr for none.
  void* take_memory(const Context& context, std::size_t size_bytes);
  void hold(const tnr_view& view);
  [[nodiscard]] Arguments arguments() const noexcept;

  tnr_device device_;
  std::shared_ptr<const DeviceConstants> constants_;
  std::vector<tnr_view> inputs_;
  std::vector<tnr_view_mut> outputs_;
  std::vector<const tnr_view*> input_pointers_;
  std::vector<const tnr_view_mut*> output_pointers_;
  std::vector<HeldBlob> held_;
  tnr_view memory_ = {};  // without an owner where there is nothing
  std::unique_ptr<const DeviceRecording> recording_;
};

using CapturedProgramHandles = Handles<CapturedProgram, kCapturedProgramKind>;

}  // namespace tenure
