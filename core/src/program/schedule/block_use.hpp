// Memory of a schedule's values in its block: when each is in use, and which share theirs.
#pragma once

#include <cstdint>
#include <vector>

#include "program/found.hpp"
#include "program/graph.hpp"
#include "program/schedule.hpp"

namespace tenure {

// The schedule's steps are complete, and each has memory of its own for its results.
class BlockUse {
 public:
  // `is_adjacent` is by value: whether the elements are adjacent, where a run finds their count.
  BlockUse(const Graph& graph, const Deciding& deciding, const std::vector<bool>& is_adjacent,
           Schedule& schedule);

  // Lets results take the memory of operands that no later step reads.
  void share_in_place();
  // Gives each its place in the block. Where `is_shared` is false none has another's.
  void plan(bool is_shared);

 private:
  void find_lifetimes();
  [[nodiscard]] bool is_adjacent(std::uint32_t value) const;
  [[nodiscard]] std::uint32_t replaced_operand(const Step& step, std::uint32_t at) const;
  // The lifetime that has the memory now.
  [[nodiscard]] std::uint32_t index_of(const Placed& placed) const;

  const Graph& graph_;
  const Deciding& deciding_;
  const std::vector<bool>& is_adjacent_;
  Schedule& schedule_;
  std::vector<std::uint32_t> shared_;  // by lifetime: the one that has its memory, or itself
};

}  // namespace tenure
