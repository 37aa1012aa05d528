// The passes of programs, and what each did to one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "tenure/tenure.h"

namespace tenure {

struct PassOf {
  std::uint32_t bit;
  const char* name;
  const char* counted;
};

// In the order in which they are made: those of the graph, and those of each schedule.
inline constexpr PassOf kPasses[] = {
    {TNR_PASS_COMMON_SUBEXPRESSIONS, "common subexpressions", "nodes merged"},
    {TNR_PASS_CONSTANT_FOLDING, "constant folding", "nodes folded"},
    {TNR_PASS_EPILOGUES, "epilogues", "nodes joined to products"},
    {TNR_PASS_DEAD_CODE, "dead code", "nodes left out"},
    {TNR_PASS_PACKING, "packing", "constants packed"},
    {TNR_PASS_RECOMPUTATION, "recomputation", "nodes computed again"},
    {TNR_PASS_LAYOUT, "layout", "images channels-last"},
    {TNR_PASS_FUSION, "fusion", "nodes fused into others"},
    {TNR_PASS_IN_PLACE, "in place", "results in operands"},
    {TNR_PASS_MEMORY, "memory", "bytes shared"},
};
inline constexpr std::size_t kPassCount = std::size(kPasses);

inline constexpr std::uint32_t kAllPasses = [] {
  std::uint32_t all = 0;
  for (const PassOf& pass : kPasses) all |= pass.bit;
  return all;
}();

class PassCounts {
 public:
  void add(std::uint32_t pass, std::uint64_t count) noexcept {
    for (std::size_t i = 0; i < kPassCount; ++i) {
      if (kPasses[i].bit == pass) counts_[i] += count;
    }
  }
  void add(const PassCounts& other) noexcept {
    for (std::size_t i = 0; i < kPassCount; ++i) counts_[i] += other.counts_[i];
  }
  [[nodiscard]] std::uint64_t of(std::size_t index) const noexcept { return counts_[index]; }

 private:
  std::array<std::uint64_t, kPassCount> counts_ = {};
};

}  // namespace tenure
