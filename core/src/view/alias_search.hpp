// The bounded search behind alias_of(): can a sum of bounded multiples fall into an interval?
#pragma once

#include <cstdint>

#include "tenure/tenure.h"

namespace tenure {

// Steps c_1, c_2, ... with 0 <= k_i <= most_i: is low <= sum k_i * c_i <= high for some k? The
// general question is NP-complete, hence the budget; the layouts that people make take a few nodes.
class AliasSearch {
 public:
  // A node is one choice of the multiples of the largest steps. 4,096 take some 10 microseconds,
  // the price of a small operation; layouts that need more need millions.
  static constexpr std::uint32_t kNodeBudget = 4096;

  enum class Answer { kNo, kYes, kUndecided };

  // step > 0, most > 0. The sum of all step * most fits std::int64_t. Equal steps become one.
  void add_step(std::int64_t step, std::int64_t most) noexcept;

  // 0 <= high - low, and std::int64_t has room for either of them plus the sum of all step * most.
  // Called once, after the last step.
  Answer solve(std::int64_t low, std::int64_t high) noexcept;

  // Nodes that solve() visited.
  [[nodiscard]] std::uint32_t node_count() const noexcept { return node_count_; }

 private:
  struct Step {
    std::int64_t step;
    std::int64_t most;
    std::int64_t rest_reach;    // largest sum of this step and the smaller ones
    std::int64_t rest_divisor;  // divides every such sum
  };

  Answer visit(std::uint32_t depth, std::int64_t low, std::int64_t high) noexcept;

  Step steps_[2 * TNR_MAX_RANK];  // after solve() began: largest first
  std::uint32_t step_count_ = 0;
  std::uint32_t node_count_ = 0;
};

}  // namespace tenure
