#include "sparse/device_parts.hpp"

#include "memory/scratch.hpp"
#include "sparse/index_array.hpp"
#include "tenure/dtype.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

// A part without gaps, in memory of the CPU.
class HostPart {
 public:
  HostPart(const DeviceQueue& queue, const tnr_view& part)
      : memory_(part.shape[0], static_cast<std::int64_t>(element_size(part.dtype))), view_(part) {
    const auto size_bytes = static_cast<std::size_t>(part.shape[0]) *
                            static_cast<std::size_t>(element_size(part.dtype));
    if (size_bytes != 0) {
      queue.copy_bytes(DeviceQueue::Direction::kOut, memory_.data(), part.data, size_bytes);
    }
    view_.base = view_.data = memory_.data();
    view_.size_bytes = size_bytes;
    view_.device = kCpu;
    view_.owner = 0;
  }

  [[nodiscard]] const tnr_view& view() const noexcept { return view_; }

 private:
  Scratch memory_;
  tnr_view view_;
};

void check_entries_on(const DeviceQueue& queue, const tnr_sparse_view& view, RowExtent rows,
                      const char* name) {
  const HostPart major(queue, view.major);
  const HostPart minor(queue, view.minor);
  tnr_sparse_view here = view;
  here.major = major.view();
  here.minor = minor.view();
  check_entries(here, rows, name);
}

}  // namespace

void check_device_entries(const tnr_sparse_view& view, const Pins& pins, RowExtent rows,
                          const char* name) {
  const DeviceName device(view.minor.device);
  if (is_batch(view)) {
    fail(TNR_STATUS_UNSUPPORTED, "a batch is on %s, but only the CPU takes batches", device.text);
  }
  const DeviceQueue* queue = nullptr;
  pins.for_each_home([&](const DeviceQueue& home) {
    if (queue == nullptr) queue = &home;
    if (&home != queue) queue->follow(home);
  });
  if (queue == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.owner is 0, but on %s a blob's stream has to read it",
         sparse_names(view.format).minor, device.text);
  }
  check_entries_on(*queue, view, rows, name);
}

EntryRange entry_range_on(const DeviceQueue& queue, const tnr_sparse_view& view, const Pins& pins,
                          const char* name) {
  pins.for_each_home([&](const DeviceQueue& home) {
    if (&home != &queue) queue.follow(home);
  });
  const auto read = [&](std::int64_t position) {
    const std::size_t width = element_size(view.major.dtype);
    const auto* const at = static_cast<const kernels::Byte*>(view.major.data) +
                           position * static_cast<std::int64_t>(width);
    kernels::Byte bytes[8] = {};
    queue.copy_bytes(DeviceQueue::Direction::kOut, bytes, at, width);
    return get_index(bytes, index_type(view.major.dtype), 0);
  };
  const EntryRange range = {read(0), read(view.major.shape[0] - 1)};
  const bool is_right =
      range.first >= 0 && range.first <= range.last && range.last <= view.minor.shape[0];
  if (!is_right) refuse_entries_on(queue, view, name);
  return range;
}

void refuse_entries_on(const DeviceQueue& queue, const tnr_sparse_view& view, const char* name) {
  tnr_sparse_view without_flags = view;
  without_flags.flags = 0;
  check_entries_on(queue, without_flags, RowExtent::kRange, name);
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s was written by somebody while it was used", name);
}

}  // namespace tenure
