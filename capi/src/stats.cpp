#include <algorithm>
#include <chrono>

#include "boundary.hpp"
#include "tenure/blob.hpp"
#include "tenure/counters.hpp"
#include "tenure/device_queue.hpp"
#include "timed.hpp"

using tenure::capi::guarded;
using tenure::capi::write_report;

namespace {

tnr_stats totals() {
  const tenure::Stats stats = tenure::stats();
  const tenure::OperationStats operations = tenure::operation_stats();
  const tenure::DeviceCounts device = tenure::device_counts();
  return {
      .struct_size = sizeof(tnr_stats),
      .allocated_bytes = stats.allocated_bytes,
      .copied_bytes = stats.copied_bytes,
      .blobs_made = stats.blobs_made,
      .blobs_finished = stats.blobs_finished,
      .cached_bytes = stats.cached_bytes,
      .calls = operations.calls,
      .read_bytes = operations.read_bytes,
      .written_bytes = operations.written_bytes,
      .device_launches = device.launches,
      .device_waits = device.waits,
  };
}

tnr_operation_stats totals_of(tnr_operation operation) {
  if (operation < 1 || operation > tnr_operation{tenure::kOperationCount}) {
    tenure::fail(TNR_STATUS_INVALID_ARGUMENT, "operation is %d but must be 1 to %zu", operation,
                 tenure::kOperationCount);
  }
  const tenure::OperationStats stats = tenure::operation_stats(operation);
  return {
      .struct_size = sizeof(tnr_operation_stats),
      .calls = stats.calls,
      .read_bytes = stats.read_bytes,
      .written_bytes = stats.written_bytes,
      .nanoseconds = stats.nanoseconds,
  };
}

void set_timing(tenure::Timing timing) noexcept {
  tenure::g_timing.store(timing, std::memory_order_relaxed);
}

}  // namespace

std::int64_t tenure::capi::nanoseconds_now() noexcept {
  using std::chrono::duration_cast, std::chrono::nanoseconds, std::chrono::steady_clock;
  const auto now = duration_cast<nanoseconds>(steady_clock::now().time_since_epoch());
  return std::max<std::int64_t>(now.count(), 1);
}

void tenure::capi::count_time_since(std::int64_t start, tnr_operation operation,
                                    tnr_status status) noexcept {
  if (status != TNR_STATUS_OK) return;
  count_time(operation, static_cast<std::uint64_t>(nanoseconds_now() - start));
}

tnr_status tnr_stats_read(tnr_stats* stats) noexcept {
  return guarded([&] { write_report(stats, "stats", totals()); });
}

tnr_status tnr_operation_stats_read(tnr_operation operation, tnr_operation_stats* stats) noexcept {
  return guarded([&] { write_report(stats, "stats", totals_of(operation)); });
}

void tnr_stats_time_start() noexcept { set_timing(tenure::Timing::kOn); }
void tnr_stats_time_stop() noexcept { set_timing(tenure::Timing::kOff); }

size_t tnr_memory_trim() noexcept {
  tenure::trim_devices();
  return tenure::trim_memory();
}
