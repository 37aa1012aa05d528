#include "program/run/device_runs.hpp"

#include <algorithm>
#include <cinttypes>
#include <mutex>

#include "program/device/launches.hpp"
#include "program/device/operations.hpp"
#include "program/run/captured.hpp"
#include "program/run/program.hpp"
#include "program/unbacked.hpp"
#include "tenure/device_queue.hpp"

namespace tenure {
namespace {

// Throws UNSUPPORTED for a node whose work is not that of another run: a function of a user's is
// called once for each.
void require_repeatable(const Graph& graph, const std::vector<bool>& needed) {
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    if (!needed[i] || node.custom == nullptr) continue;
    fail(TNR_STATUS_UNSUPPORTED,
         "nodes[%" PRIu32
         "], %s: calls a function of one's own in each run, and a captured program "
         "calls none",
         node.number, operation_name(node));
  }
}

// The memory of the values of one run.
class Block {
 public:
  Block(const DeviceQueue& queue, std::int64_t size_bytes)
      : queue_(queue),
        data_(size_bytes == 0 ? nullptr : queue.allocate(static_cast<std::size_t>(size_bytes))) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() {
    if (data_ != nullptr) queue_.free(data_);
  }

  [[nodiscard]] const void* data() const noexcept { return data_; }

 private:
  const DeviceQueue& queue_;
  void* data_;
};

void write_shapes(const Schedule& schedule, std::int64_t* shapes) noexcept {
  for (std::size_t i = 0; shapes != nullptr && i < schedule.outputs.size(); ++i) {
    const ArrayType& type = schedule.outputs[i];
    std::int64_t* const shape = shapes + i * TNR_MAX_RANK;
    std::fill_n(std::copy_n(type.shape, type.rank, shape), TNR_MAX_RANK - type.rank, 0);
  }
}

const DeviceQueue& require_queue(const Context& context, const Arguments& arguments) {
  if (context.queue() != nullptr) return *context.queue();
  const tnr_device device = device_of(arguments);
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "inputs or outputs are on %s but the context of the call has no device",
       DeviceName(device).text);
}

}  // namespace

class DeviceRuns::Kept {
 public:
  Kept(const Graph& graph, const std::vector<bool>& needed, std::uint32_t disabled_passes,
       const Arguments& arguments, const std::vector<tnr_view>& constants)
      : bound_(graph, needed, disabled_passes, arguments, {&constants, fit_one_launch}) {}
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() { delete idle_.load(std::memory_order_acquire); }

  [[nodiscard]] const BoundSchedule& bound() const noexcept { return bound_; }

  // The frame that was left, if it is for these constants, or a new one.
  std::unique_ptr<DeviceFrame> take(const Graph& graph, const DeviceConstants& constants) const {
    // Acquire: what its last run wrote.
    std::unique_ptr<DeviceFrame> idle(idle_.exchange(nullptr, std::memory_order_acq_rel));
    if (idle != nullptr && &idle->constants() == &constants) return idle;
    return std::make_unique<DeviceFrame>(graph, bound_.schedule(), constants);
  }
  void give(std::unique_ptr<DeviceFrame> frame) const noexcept {
    const std::unique_ptr<DeviceFrame> other(
        idle_.exchange(frame.release(), std::memory_order_acq_rel));
  }

 private:
  BoundSchedule bound_;
  mutable Atomic<DeviceFrame*> idle_{nullptr};
};

// The frame of one run.
class DeviceRuns::Lease {
 public:
  Lease(const Kept& kept, const Graph& graph, const DeviceConstants& constants)
      : kept_(kept), frame_(kept.take(graph, constants)) {}
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() { kept_.give(std::move(frame_)); }

  [[nodiscard]] DeviceFrame& frame() const noexcept { return *frame_; }

 private:
  const Kept& kept_;
  std::unique_ptr<DeviceFrame> frame_;
};

std::shared_ptr<const DeviceRuns::Kept> DeviceRuns::find(const Arguments& arguments) const {
  {
    const std::lock_guard lock(mutex_);
    for (auto at = kept_.end(); at != kept_.begin();) {
      --at;
      if (!(*at)->bound().is_for(arguments)) continue;
      std::rotate(at, at + 1, kept_.end());
      return kept_.back();
    }
  }
  auto made = std::make_shared<const Kept>(graph_, needed_, disabled_passes_, arguments,
                                           device_layouts(graph_));
  const std::lock_guard lock(mutex_);
  if (kept_.size() == kMostKept) kept_.erase(kept_.begin());
  kept_.push_back(made);
  return made;
}

std::shared_ptr<const BoundSchedule> DeviceRuns::find_for(const tnr_view* const* inputs,
                                                          std::uint32_t input_count,
                                                          const tnr_device& device) const {
  require_none(inputs_refusal(graph_, inputs, input_count, device));
  const std::shared_ptr<const Kept> kept = find({inputs, input_count, nullptr, 0});
  return {kept, &kept->bound()};
}

std::shared_ptr<const DeviceConstants> DeviceRuns::constants_on(const Context& context,
                                                                const Schedule& schedule) const {
  const tnr_device device = context.queue()->device();
  const auto known = [&]() -> std::shared_ptr<const DeviceConstants> {
    const auto at =
        std::ranges::find_if(constants_, [&](const auto& of) { return of->device() == device; });
    return at == constants_.end() ? nullptr : *at;
  };
  {
    const std::lock_guard lock(mutex_);
    if (auto constants = known()) return constants;
  }
  require_on_device(context, graph_, needed_, schedule.types);
  // With no lock held: it waits, and a wait may run callbacks of users.
  auto made = std::make_shared<const DeviceConstants>(context, graph_);
  const std::lock_guard lock(mutex_);
  // Another run may have been faster.
  if (auto constants = known()) return constants;
  constants_.push_back(made);
  return made;
}

std::shared_ptr<const DeviceRuns::Kept> DeviceRuns::checked(const DeviceQueue& queue,
                                                            const Arguments& arguments) const {
  const tnr_device device = queue.device();
  require_none(inputs_refusal(graph_, arguments.inputs, arguments.input_count, device));
  require_none(outputs_refusal(graph_, arguments.outputs, arguments.output_count, device));
  std::shared_ptr<const Kept> kept = find(arguments);
  require_none(alias_refusal(graph_, arguments));
  return kept;
}

void DeviceRuns::run(const Context& context, const Arguments& arguments,
                     const tnr_program_run_attributes& attributes) const {
  const DeviceQueue& queue = require_queue(context, arguments);
  const std::shared_ptr<const Kept> kept = checked(queue, arguments);
  const Schedule& schedule = kept->bound().schedule();
  require_none(attributes_refusal(schedule, attributes));
  enqueue(context, *kept, *constants_on(context, schedule), arguments, attributes);
}

void DeviceRuns::enqueue(const Context& context, const Kept& kept, const DeviceConstants& constants,
                         const Arguments& arguments,
                         const tnr_program_run_attributes& attributes) const {
  const DeviceQueue& queue = *context.queue();
  const Schedule& schedule = kept.bound().schedule();
  Pins pins;
  constants.pin(pins);
  const QueueOrder order(queue, pins);
  require_none(Owners(kOnDevice, arguments).with_pinned_on(queue, [&]() -> Refusal {
    const Lease lease(kept, graph_, constants);
    const Block block(queue, schedule.memory.block_bytes);
    lease.frame().set_memory(schedule, arguments, block.data());
    if (attributes.step_nanoseconds != nullptr) queue.wait();
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
      const auto start =
          attributes.step_nanoseconds == nullptr ? Clock::time_point() : Clock::now();
      lease.frame().run_step(context, graph_, schedule, i);
      if (attributes.step_nanoseconds == nullptr) continue;
      queue.wait();
      const auto taken = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start);
      attributes.step_nanoseconds[i] = static_cast<std::uint64_t>(taken.count());
    }
    write_shapes(schedule, attributes.output_shapes);
    return std::nullopt;
  }));
}

// Runs of some layouts on one device.
class DeviceRuns::BoundRuns final : public Bound {
 public:
  // `program` is the handle of the one that `runs` are of.
  BoundRuns(ProgramToken program, const DeviceRuns& runs, std::shared_ptr<const Kept> kept,
            std::shared_ptr<const DeviceConstants> constants)
      : program_(kProgramHandles, program),
        runs_(runs),
        kept_(std::move(kept)),
        constants_(std::move(constants)) {}

  Refusal run(ContextToken context, const Arguments& arguments,
              const tnr_program_run_attributes* given) const override {
    const tnr_program_run_attributes& attributes = given == nullptr ? kNoRunAttributes : *given;
    const ContextUse use(context);
    const Context& of_call = use;
    const tnr_device& device = constants_->device();
    if (of_call.queue() == nullptr || !(of_call.queue()->device() == device)) {
      return error_of(
          TNR_STATUS_INVALID_ARGUMENT, "the program is bound to %s but the context's device is %s",
          DeviceName(device).text,
          DeviceName(of_call.queue() == nullptr ? kCpu : of_call.queue()->device()).text);
    }
    Refusal refusal = kept_->bound().refusal(runs_.graph_, arguments, device);
    if (!refusal) refusal = flags_refusal(attributes);
    if (!refusal) refusal = refused_values_refusal(attributes, "a run on a device");
    if (!refusal) refusal = attributes_refusal(kept_->bound().schedule(), attributes);
    if (!refusal) runs_.enqueue(use, *kept_, *constants_, arguments, attributes);
    return refusal;
  }
  [[nodiscard]] tnr_memory_plan memory() const noexcept override {
    return kept_->bound().memory(program_.object().packed_bytes());
  }

 private:
  ProgramHandles::Use program_;  // as long as this is there
  const DeviceRuns& runs_;       // the program's
  std::shared_ptr<const Kept> kept_;
  std::shared_ptr<const DeviceConstants> constants_;
};

std::unique_ptr<const Bound> DeviceRuns::bind(const Context& context, ProgramToken program,
                                              const Arguments& arguments,
                                              const tnr_bound_attributes& attributes) const {
  std::shared_ptr<const Kept> kept = checked(require_queue(context, arguments), arguments);
  const Schedule& schedule = kept->bound().schedule();
  require_none(attributes_refusal(schedule, run_attributes_of(attributes)));
  std::shared_ptr<const DeviceConstants> constants = constants_on(context, schedule);
  return std::make_unique<const BoundRuns>(program, *this, std::move(kept), std::move(constants));
}

std::unique_ptr<const Bound> DeviceRuns::capture(const Context& context, const Arguments& arguments,
                                                 const tnr_bound_attributes& attributes) const {
  if (context.queue() == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "a program is captured on a device, but the context of the call has no device");
  }
  const std::shared_ptr<const Kept> kept = checked(*context.queue(), arguments);
  const Schedule& schedule = kept->bound().schedule();
  require_none(attributes_refusal(schedule, run_attributes_of(attributes)));
  require_repeatable(graph_, needed_);
  std::shared_ptr<const DeviceConstants> constants = constants_on(context, schedule);
  // The program may end before it.
  const tnr_memory_plan plan = kept->bound().memory(0);
  auto captured = std::make_unique<CapturedBound>(context, arguments, std::move(constants), plan);
  const Lease lease(*kept, graph_, captured->constants());
  captured->record(context, [&](const Context& recording) {
    const Block block(*recording.queue(), schedule.memory.block_bytes);
    lease.frame().set_memory(schedule, arguments, block.data());
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
      lease.frame().run_step(recording, graph_, schedule, i);
    }
  });
  return captured;
}

}  // namespace tenure
