#include "program/memory_plan.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <functional>
#include <numeric>

#include "memory/traffic.hpp"
#include "tenure/status.hpp"

namespace tenure {
namespace {

// No sum below overflows: that of all sizes, in lines, is no larger than an object may be.
void require_room(const std::vector<Lifetime>& lifetimes) {
  std::int64_t room = PTRDIFF_MAX - kLineBytes;
  for (const Lifetime& lifetime : lifetimes) {
    if (lifetime.size_bytes > room) {
      fail(TNR_STATUS_OUT_OF_MEMORY,
           "an intermediate value has %" PRId64 " bytes but memory for %" PRId64 " can be left",
           lifetime.size_bytes, std::max<std::int64_t>(room, 0));
    }
    room -= whole_lines(lifetime.size_bytes);
  }
}

bool meet(const Lifetime& a, const Lifetime& b) noexcept {
  return a.first <= b.last && b.first <= a.last;
}

// Gives each its place, in the order of `order`; returns the bytes of the block.
std::int64_t place(const std::vector<Lifetime>& lifetimes, const std::vector<std::uint32_t>& order,
                   std::vector<std::int64_t>& offsets) {
  std::vector<std::uint32_t> placed;  // by offset
  std::int64_t block_bytes = 0;
  for (const std::uint32_t i : order) {
    const std::int64_t size_bytes = whole_lines(lifetimes[i].size_bytes);
    std::int64_t offset = 0;
    for (const std::uint32_t other : placed) {
      if (!meet(lifetimes[i], lifetimes[other])) continue;
      if (offsets[other] - offset >= size_bytes) break;
      offset = std::max(offset, offsets[other] + whole_lines(lifetimes[other].size_bytes));
    }
    offsets[i] = offset;
    const auto behind = std::ranges::upper_bound(
        placed, offset, {}, [&](std::uint32_t other) { return offsets[other]; });
    placed.insert(behind, i);
    block_bytes = std::max(block_bytes, offset + size_bytes);
  }
  return block_bytes;
}

// The sum of the sizes changes where one begins.
std::int64_t most_alive(const std::vector<Lifetime>& lifetimes) {
  std::int64_t most = 0;
  for (const Lifetime& at : lifetimes) {
    std::int64_t alive = 0;
    for (const Lifetime& other : lifetimes) {
      if (other.first <= at.first && at.first <= other.last) alive += other.size_bytes;
    }
    most = std::max(most, alive);
  }
  return most;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes, bool is_shared) {
  require_room(lifetimes);
  MemoryPlan plan = {
      std::vector<std::int64_t>(lifetimes.size()), {}, 0, most_alive(lifetimes), 0, 0};
  for (const Lifetime& lifetime : lifetimes) {
    plan.sizes.push_back(lifetime.size_bytes);
    plan.total_bytes += lifetime.size_bytes;
    plan.apart_bytes += whole_lines(lifetime.size_bytes);
  }
  if (!is_shared) {
    for (std::size_t i = 0; i < lifetimes.size(); ++i) {
      plan.offsets[i] = plan.block_bytes;
      plan.block_bytes += whole_lines(lifetimes[i].size_bytes);
    }
    return plan;
  }
  std::vector<std::uint32_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::vector<std::int64_t> offsets(lifetimes.size());
  plan.block_bytes = place(lifetimes, order, plan.offsets);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::uint32_t i) { return lifetimes[i].size_bytes; });
  const std::int64_t by_size = place(lifetimes, order, offsets);
  if (by_size < plan.block_bytes) {
    plan.block_bytes = by_size;
    plan.offsets = std::move(offsets);
  }
  return plan;
}

}  // namespace tenure
