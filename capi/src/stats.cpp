#include "boundary.hpp"
#include "memory.hpp"
#include "tenure/blob.hpp"

namespace {

// The size of tnr_stats when 0.1 introduced it.
constexpr std::size_t kFirstStatsSizeBytes = 48;

tnr_stats totals() {
  const tenure::Stats stats = tenure::stats();
  return {
      .struct_size = sizeof(tnr_stats),
      .allocated_bytes = stats.allocated_bytes,
      .copied_bytes = stats.copied_bytes,
      .blobs_made = stats.blobs_made,
      .blobs_finished = stats.blobs_finished,
      .cached_bytes = stats.cached_bytes,
  };
}

}  // namespace

tnr_status tnr_stats_read(tnr_stats* stats) noexcept {
  return tenure::capi::guarded(
      [&] { tenure::capi::write_sized(stats, "stats", kFirstStatsSizeBytes, totals()); });
}

size_t tnr_memory_trim() noexcept { return tenure::trim_memory(); }
