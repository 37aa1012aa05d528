// The offsets of values in one block of memory.
#pragma once

#include <cstdint>
#include <vector>

namespace tenure {

// Memory that is in use from one step to another, both included.
struct Lifetime {
  std::int64_t size_bytes;
  std::uint32_t first;
  std::uint32_t last;
};

struct MemoryPlan {
  std::vector<std::int64_t> offsets;  // by lifetime; of lines
  std::vector<std::int64_t> sizes;    // by lifetime, in bytes
  std::int64_t block_bytes;
  std::int64_t live_bytes;   // the most that is in use at once
  std::int64_t total_bytes;  // of all
  std::int64_t apart_bytes;  // of a block that nothing shares a part of
};

// Where `is_shared` is false each has memory of its own. Otherwise the smaller block of two orders
// in which each takes the lowest place that is free while it is in use: as they begin, and, where
// that takes more than is in use at once, of up to 4096 from the largest one on (Pisarchyk and Lee,
// "Efficient memory management for deep neural net inference", 2020). Throws OUT_OF_MEMORY where all
// of them are more than memory may have.
MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes, bool is_shared);

}  // namespace tenure
