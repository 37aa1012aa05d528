#include "program/schedule/block_use.hpp"

#include <algorithm>
#include <numeric>

#include "program/memory_plan.hpp"
#include "program/operations.hpp"
#include "tenure/shape.hpp"

namespace tenure {
namespace {

// The first step that uses memory which none does.
constexpr std::uint32_t kNever = UINT32_MAX;

}  // namespace

BlockUse::BlockUse(const Graph& graph, const Deciding& deciding,
                   const std::vector<bool>& is_adjacent, Schedule& schedule)
    : graph_(graph), deciding_(deciding), is_adjacent_(is_adjacent), schedule_(schedule) {
  find_lifetimes();
  shared_.resize(schedule.lifetimes.size());
  std::iota(shared_.begin(), shared_.end(), 0u);
}

std::uint32_t BlockUse::index_of(const Placed& placed) const {
  std::uint32_t index = placed.index;
  while (shared_[index] != index) index = shared_[index];
  return index;
}

void BlockUse::find_lifetimes() {
  std::vector<Lifetime>& lifetimes = schedule_.lifetimes;
  for (Lifetime& lifetime : lifetimes) lifetime.first = kNever;
  for (std::uint32_t at = 0; at < schedule_.steps.size(); ++at) {
    const Step& step = schedule_.steps[at];
    const auto use = [&](std::uint32_t value) {
      if (value == kNoValue || schedule_.places[value].storage != Storage::kBlock) return;
      Lifetime& lifetime = lifetimes[schedule_.places[value].index];
      lifetime.first = std::min(lifetime.first, at);
      lifetime.last = at;
    };
    // Only the shape of its second operand is read.
    const bool reads_first = step.kind == Step::Kind::kOperation && step.node != kNoValue &&
                             graph_.nodes[step.node].code == TNR_NODE_SUM_TO;
    if (reads_first) {
      use(step.operands[0]);
    } else {
      std::ranges::for_each(step.operands, use);
    }
    std::ranges::for_each(step.owned, use);
    for (std::uint32_t i = 0; i < step.result_count; ++i) use(step.result + i);
  }
}

bool BlockUse::is_adjacent(std::uint32_t value) const {
  return deciding_.is_found(value) ? is_adjacent_[value]
                                   : is_row_major(schedule_.places[value].layout);
}

// The operand whose memory the step's result may have, or kNoValue.
std::uint32_t BlockUse::replaced_operand(const Step& step, std::uint32_t at) const {
  const std::vector<Placed>& places = schedule_.places;
  const std::vector<Lifetime>& lifetimes = schedule_.lifetimes;
  const Placed& result = places[step.result];
  if (result.storage != Storage::kBlock || step.kind == Step::Kind::kCopy) return kNoValue;
  if (!may_be_in_place(graph_.nodes[step.node])) return kNoValue;
  const bool is_call = step.kind == Step::Kind::kOperation;
  const std::size_t candidates = is_call ? 1 : step.operands.size();
  // A count may broadcast one of two operands to the other; the result of a custom operation is
  // its own.
  if (deciding_.is_found(step.result) &&
      (candidates > 1 || graph_.nodes[step.node].custom != nullptr ||
       !is_adjacent(step.operands[0]))) {
    return kNoValue;
  }
  for (std::size_t i = 0; i < candidates; ++i) {
    const std::uint32_t value = step.operands[i];
    const Placed& operand = places[value];
    if (operand.storage != Storage::kBlock) continue;
    const Lifetime& lifetime = lifetimes[index_of(operand)];
    if (lifetime.last != at || lifetime.size_bytes != lifetimes[index_of(result)].size_bytes ||
        !has_layout(operand.layout, result.layout) || operand.offset_bytes != 0) {
      continue;
    }
    // A call may take the value as another operand too, which it does not write.
    if (is_call && std::ranges::count(step.operands, value) > 1) continue;
    const bool is_apart = std::ranges::all_of(step.operands, [&](std::uint32_t other) {
      if (other == kNoValue || other == value) return true;
      const Placed& placed = places[other];
      if (placed.storage != Storage::kBlock || index_of(placed) != index_of(operand)) return true;
      return !is_call && placed.offset_bytes == 0 && has_layout(placed.layout, result.layout);
    });
    if (is_apart) return value;
  }
  return kNoValue;
}

void BlockUse::share_in_place() {
  std::vector<Lifetime>& lifetimes = schedule_.lifetimes;
  for (std::uint32_t at = 0; at < schedule_.steps.size(); ++at) {
    const Step& step = schedule_.steps[at];
    const std::uint32_t operand = replaced_operand(step, at);
    if (operand == kNoValue) continue;
    const std::uint32_t from = index_of(schedule_.places[step.result]);
    const std::uint32_t to = index_of(schedule_.places[operand]);
    lifetimes[to].last = std::max(lifetimes[to].last, lifetimes[from].last);
    lifetimes[from] = {0, 0, 0};
    schedule_.counts.add(TNR_PASS_IN_PLACE, 1);
    shared_[from] = to;
  }
  for (Placed& placed : schedule_.places) {
    if (placed.storage == Storage::kBlock) placed.index = index_of(placed);
  }
}

void BlockUse::plan(bool is_shared) {
  // Memory that became another's, and results that nothing reads.
  for (Lifetime& lifetime : schedule_.lifetimes) {
    if (lifetime.first == kNever) lifetime = {0, 0, 0};
  }
  schedule_.memory = plan_memory(schedule_.lifetimes, is_shared);
  schedule_.counts.add(TNR_PASS_MEMORY, static_cast<std::uint64_t>(schedule_.memory.apart_bytes -
                                                                   schedule_.memory.block_bytes));
}

}  // namespace tenure
