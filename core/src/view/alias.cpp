// Whether two views share a byte: a bounded search for one solution of one linear equation.
//
// Let the input's lowest byte lie `distance` above the output's. With strides in bytes, made
// positive by counting flipped axes from their other end, byte p of output element x meets byte q
// of input element y when
//
//   sum x_i * s_i + p  =  distance + sum y_j * t_j + q
//
// with 0 <= x_i < n_i, 0 <= y_j < m_j, 0 <= p < output element, 0 <= q < input element. Turning the
// input's indices round (y_j = m_j - 1 - z_j) brings every index to the left with a positive sign,
//
//   sum x_i * s_i + sum z_j * t_j  =  distance + sum (m_j - 1) * t_j + q - p
//
// and q - p runs through every integer from 1 - (output element) to (input element) - 1. So the
// question is whether a sum of bounded multiples of positive steps can fall into an interval.
//
// Two steps of equal length become one: x * s + z * s is (x + z) * s, and x + z takes each value
// from 0 to (n - 1) + (m - 1), as an axis of extent n + m - 1 does. That holds whichever sides the
// two came from, but only here, where it does not matter which elements coincide: the merged axis
// is an axis of neither view. Without it the search walks all pairs of rows of two interleaved
// halves: even against odd columns of 4096 x 4096 take 8.4 million nodes, with it a single one.
#include <algorithm>
#include <numeric>

#include "tenure/view.hpp"
#include "view/alias_search.hpp"

namespace tenure {

void AliasSearch::add_step(std::int64_t step, std::int64_t most) noexcept {
  for (std::uint32_t i = 0; i < step_count_; ++i) {
    if (steps_[i].step == step) {
      steps_[i].most += most;
      return;
    }
  }
  steps_[step_count_++] = {step, most, 0, 0};
}

AliasSearch::Answer AliasSearch::solve(std::int64_t low, std::int64_t high) noexcept {
  // Largest first: their multiples leave the least room, so most branches end at once.
  std::sort(steps_, steps_ + step_count_,
            [](const Step& a, const Step& b) { return a.step > b.step; });
  std::int64_t reach = 0;
  std::int64_t divisor = 0;
  for (std::uint32_t i = step_count_; i-- > 0;) {
    steps_[i].rest_reach = reach += steps_[i].step * steps_[i].most;
    steps_[i].rest_divisor = divisor = std::gcd(divisor, steps_[i].step);
  }
  return visit(0, low, high);
}

// Whether the steps from `depth` on can reach [low, high].
AliasSearch::Answer AliasSearch::visit(std::uint32_t depth, std::int64_t low,
                                       std::int64_t high) noexcept {
  if (++node_count_ > kNodeBudget) return Answer::kUndecided;
  if (depth == step_count_) return low <= 0 && 0 <= high ? Answer::kYes : Answer::kNo;
  const Step& current = steps_[depth];
  low = std::max<std::int64_t>(low, 0);
  high = std::min(high, current.rest_reach);
  if (low > high || high / current.rest_divisor * current.rest_divisor < low) return Answer::kNo;
  // With one step left the divisor is the step itself, so the multiple just found is the answer.
  if (depth + 1 == step_count_) return Answer::kYes;

  // Multiples so small that the rest cannot make up for them, or so large that it would have to be
  // negative, are not visited.
  const std::int64_t short_of = low - steps_[depth + 1].rest_reach;
  const std::int64_t least = short_of <= 0 ? 0 : (short_of - 1) / current.step + 1;
  const std::int64_t most = std::min(current.most, high / current.step);
  for (std::int64_t multiple = least; multiple <= most; ++multiple) {
    const std::int64_t taken = multiple * current.step;
    const Answer answer = visit(depth + 1, low - taken, high - taken);
    if (answer != Answer::kNo) return answer;
  }
  return Answer::kNo;
}

namespace {

// Reachable bytes [lowest, end), as addresses. The view is checked and not empty.
struct ByteInterval {
  std::uint64_t lowest;
  std::uint64_t end;
};

ByteInterval reachable_bytes(const tnr_view& view) noexcept {
  const auto element_bytes = static_cast<std::int64_t>(element_size(view.dtype));
  std::int64_t below = 0;
  std::int64_t above = element_bytes;
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    if (view.shape[axis] == 1) continue;
    const std::int64_t reach = (view.shape[axis] - 1) * view.strides[axis] * element_bytes;
    (reach < 0 ? below : above) += reach;
  }
  const std::uint64_t data = reinterpret_cast<std::uintptr_t>(view.data);
  return {data + static_cast<std::uint64_t>(below), data + static_cast<std::uint64_t>(above)};
}

bool is_exactly(const tnr_view& a, const tnr_view& b) noexcept {
  if (a.data != b.data || a.dtype != b.dtype || a.rank != b.rank) return false;
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    if (a.shape[axis] != b.shape[axis]) return false;
    if (a.shape[axis] > 1 && a.strides[axis] != b.strides[axis]) return false;
  }
  return true;
}

void add_steps(AliasSearch& search, const tnr_view& view) noexcept {
  const auto element_bytes = static_cast<std::int64_t>(element_size(view.dtype));
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    if (view.shape[axis] == 1 || view.strides[axis] == 0) continue;
    const std::int64_t step_bytes = view.strides[axis] * element_bytes;
    search.add_step(step_bytes < 0 ? -step_bytes : step_bytes, view.shape[axis] - 1);
  }
}

}  // namespace

Alias alias_of_stepwise(const tnr_view& out, const tnr_view& in) noexcept {
  if (is_empty(out) || is_empty(in)) return Alias::kNone;
  const ByteInterval written = reachable_bytes(out);
  const ByteInterval read = reachable_bytes(in);
  if (written.end <= read.lowest || read.end <= written.lowest) return Alias::kNone;
  if (is_exactly(out, in)) return Alias::kSame;
  if ((out.flags & TNR_VIEW_EXCLUSIVE) != 0) return Alias::kNone;

  const auto out_span = static_cast<std::int64_t>(written.end - written.lowest);
  const auto in_span = static_cast<std::int64_t>(read.end - read.lowest);
  // The two spans together are wider than 2^63 bytes. No memory is, so that arithmetic is not
  // needed.
  std::int64_t both_spans;
  if (__builtin_add_overflow(out_span, in_span, &both_spans)) return Alias::kUndecided;

  AliasSearch search;
  add_steps(search, out);
  add_steps(search, in);
  const auto out_element = static_cast<std::int64_t>(element_size(out.dtype));
  const auto in_element = static_cast<std::int64_t>(element_size(in.dtype));
  const auto distance = static_cast<std::int64_t>(read.lowest - written.lowest);
  const std::int64_t target = distance + (in_span - in_element);
  switch (search.solve(target - (out_element - 1), target + (in_element - 1))) {
    case AliasSearch::Answer::kNo: return Alias::kNone;
    case AliasSearch::Answer::kYes: return Alias::kPartial;
    case AliasSearch::Answer::kUndecided: break;
  }
  return Alias::kUndecided;
}

}  // namespace tenure
