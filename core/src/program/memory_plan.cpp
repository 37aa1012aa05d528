#include "program/memory_plan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cinttypes>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "memory/traffic.hpp"
#include "tenure/status.hpp"

namespace tenure {
namespace {

// Lifetimes that are also placed by their sizes, which takes the square of their number.
constexpr std::size_t kMostBySize = 4096;

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

// A block without an end. Pieces of it are taken, each the lowest that is free, and given back.
class Block {
 public:
  std::int64_t take(std::int64_t size) {
    std::int64_t lowest = end_;
    std::size_t kind = kind_of(size);
    // Gaps of its own kind may be too small.
    for (const std::int64_t offset : by_kind_[kind]) {
      if (gaps_.at(offset) < size) continue;
      lowest = offset;
      break;
    }
    while (++kind < by_kind_.size()) {
      if (!by_kind_[kind].empty()) lowest = std::min(lowest, *by_kind_[kind].begin());
    }
    if (lowest == end_) {
      end_ += size;
      return lowest;
    }
    const std::int64_t gap = remove(gaps_.find(lowest));
    if (gap > size) add(lowest + size, gap - size);
    return lowest;
  }
  void give_back(std::int64_t offset, std::int64_t size) {
    auto next = gaps_.lower_bound(offset);
    if (next != gaps_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == offset) {
        offset = before->first;
        size += remove(before);
      }
    }
    if (next != gaps_.end() && next->first == offset + size) size += remove(next);
    if (offset + size == end_) {
      end_ = offset;
    } else {
      add(offset, size);
    }
  }

 private:
  using Gaps = std::map<std::int64_t, std::int64_t>;  // sizes by offset

  static std::size_t kind_of(std::int64_t size) noexcept {
    return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(size)));
  }
  void add(std::int64_t offset, std::int64_t size) {
    gaps_.emplace(offset, size);
    by_kind_[kind_of(size)].insert(offset);
  }
  std::int64_t remove(Gaps::iterator gap) {
    const std::int64_t size = gap->second;
    by_kind_[kind_of(size)].erase(gap->first);
    gaps_.erase(gap);
    return size;
  }

  Gaps gaps_;
  std::array<std::set<std::int64_t>, 65> by_kind_;  // offsets of gaps, by the bits of their sizes
  std::int64_t end_ = 0;
};

// Gives each its place as they begin; returns the bytes of the block.
std::int64_t place_in_turn(const std::vector<Lifetime>& lifetimes,
                           std::vector<std::int64_t>& offsets) {
  std::vector<std::uint32_t> begins;
  for (std::uint32_t i = 0; i < lifetimes.size(); ++i) {
    if (lifetimes[i].size_bytes != 0) begins.push_back(i);
  }
  std::vector<std::uint32_t> ends = begins;
  std::ranges::stable_sort(begins, {}, [&](std::uint32_t i) { return lifetimes[i].first; });
  std::ranges::stable_sort(ends, {}, [&](std::uint32_t i) { return lifetimes[i].last; });
  Block block;
  std::int64_t block_bytes = 0;
  auto ended = ends.begin();
  for (const std::uint32_t i : begins) {
    for (; lifetimes[*ended].last < lifetimes[i].first; ++ended) {
      block.give_back(offsets[*ended], whole_lines(lifetimes[*ended].size_bytes));
    }
    const std::int64_t size_bytes = whole_lines(lifetimes[i].size_bytes);
    offsets[i] = block.take(size_bytes);
    block_bytes = std::max(block_bytes, offsets[i] + size_bytes);
  }
  return block_bytes;
}

// A lifetime with its place: next to each other in memory, as all are looked through for each.
struct PlacedLifetime {
  std::int64_t begin;
  std::int64_t end;
  std::uint32_t first;
  std::uint32_t last;
};

// Gives each its place, in the order of `order`; returns the bytes of the block. Stops where these
// are no fewer than `most`.
std::int64_t place(const std::vector<Lifetime>& lifetimes, const std::vector<std::uint32_t>& order,
                   std::int64_t most, std::vector<std::int64_t>& offsets) {
  std::vector<PlacedLifetime> placed;  // by their begins
  placed.reserve(order.size());
  std::int64_t block_bytes = 0;
  for (const std::uint32_t i : order) {
    const auto [size, first, last] = lifetimes[i];
    const std::int64_t size_bytes = whole_lines(size);
    std::int64_t offset = 0;
    for (const PlacedLifetime& other : placed) {
      if (first > other.last || other.first > last) continue;
      if (other.begin - offset >= size_bytes) break;
      offset = std::max(offset, other.end);
    }
    offsets[i] = offset;
    block_bytes = std::max(block_bytes, offset + size_bytes);
    if (block_bytes >= most) break;
    const auto behind = std::ranges::upper_bound(placed, offset, {}, &PlacedLifetime::begin);
    placed.insert(behind, {offset, offset + size_bytes, first, last});
  }
  return block_bytes;
}

// The largest sum of the sizes that are alive at once: each as `size_of` gives it.
template <class SizeOf>
std::int64_t most_alive(const std::vector<Lifetime>& lifetimes, const SizeOf& size_of) {
  std::size_t steps = 0;
  for (const Lifetime& lifetime : lifetimes) {
    steps = std::max(steps, std::size_t{lifetime.last} + 1);
  }
  std::vector<std::int64_t> changes(steps + 1);  // of the sum of the sizes, by step
  for (const Lifetime& lifetime : lifetimes) {
    changes[lifetime.first] += size_of(lifetime.size_bytes);
    changes[std::size_t{lifetime.last} + 1] -= size_of(lifetime.size_bytes);
  }
  std::int64_t most = 0;
  std::int64_t alive = 0;
  for (const std::int64_t change : changes) {
    alive += change;
    most = std::max(most, alive);
  }
  return most;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes, bool is_shared) {
  require_room(lifetimes);
  MemoryPlan plan = {std::vector<std::int64_t>(lifetimes.size()), {}, 0,
                     most_alive(lifetimes, std::identity()),      0,  0};
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
  plan.block_bytes = place_in_turn(lifetimes, plan.offsets);
  const bool is_least = plan.block_bytes <= most_alive(lifetimes, whole_lines<std::int64_t>);
  if (is_least || lifetimes.size() > kMostBySize) return plan;
  std::vector<std::uint32_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::vector<std::int64_t> offsets(lifetimes.size());
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::uint32_t i) { return lifetimes[i].size_bytes; });
  const std::int64_t by_size = place(lifetimes, order, plan.block_bytes, offsets);
  if (by_size < plan.block_bytes) {
    plan.block_bytes = by_size;
    plan.offsets = std::move(offsets);
  }
  return plan;
}

}  // namespace tenure
