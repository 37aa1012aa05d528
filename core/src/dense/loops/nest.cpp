#include "dense/loops/nest.hpp"

#include <utility>

namespace tenure {
namespace {

// Below this a strip costs more to start than to run, so a longer axis is worth larger steps.
constexpr std::int64_t kShortStrip = 16;

}  // namespace

template <unsigned most_operands, unsigned most_axes>
void NestOf<most_operands, most_axes>::add(std::int64_t extent,
                                           const std::int64_t* steps) noexcept {
  if (extent == 1) return;
  Axis& axis = axes_[rank_++];
  axis.extent = extent;
  for (unsigned operand = 0; operand < operand_count_; ++operand) {
    axis.steps[operand] = steps[operand];
  }
}

template <unsigned most_operands, unsigned most_axes>
void NestOf<most_operands, most_axes>::order(unsigned key) noexcept {
  for (unsigned i = 0; i < rank_; ++i) {
    if (axes_[i].steps[key] < 0) reverse(axes_[i]);
  }
  sort(key);
  join();
}

template <unsigned most_operands, unsigned most_axes>
void NestOf<most_operands, most_axes>::arrange(unsigned key) noexcept {
  order(key);
  lengthen_inner();
}

template <unsigned most_operands, unsigned most_axes>
void NestOf<most_operands, most_axes>::reverse(Axis& axis) noexcept {
  for (unsigned operand = 0; operand < operand_count_; ++operand) {
    starts_[operand] += (axis.extent - 1) * axis.steps[operand];
    axis.steps[operand] = -axis.steps[operand];
  }
}

// By insertion: at most eight axes, and mostly in order already.
template <unsigned most_operands, unsigned most_axes>
void NestOf<most_operands, most_axes>::sort(unsigned key) noexcept {
  for (unsigned i = 1; i < rank_; ++i) {
    for (unsigned j = i; j > 0 && axes_[j - 1].steps[key] < axes_[j].steps[key]; --j) {
      std::swap(axes_[j - 1], axes_[j]);
    }
  }
}

template <unsigned most_operands, unsigned most_axes>
void NestOf<most_operands, most_axes>::join() noexcept {
  if (rank_ == 0) return;
  unsigned kept = 0;
  for (unsigned i = 1; i < rank_; ++i) {
    Axis& outer = axes_[kept];
    const Axis& inner = axes_[i];
    bool joined = true;
    for (unsigned operand = 0; operand < operand_count_; ++operand) {
      joined &= outer.steps[operand] == inner.steps[operand] * inner.extent;
    }
    if (joined) {
      const std::int64_t extent = outer.extent * inner.extent;
      outer = inner;
      outer.extent = extent;
    } else {
      axes_[++kept] = inner;
    }
  }
  rank_ = kept + 1;
}

template <unsigned most_operands, unsigned most_axes>
void NestOf<most_operands, most_axes>::lengthen_inner() noexcept {
  if (rank_ < 2) return;
  Axis& inner = axes_[rank_ - 1];
  Axis& next = axes_[rank_ - 2];
  if (inner.extent < kShortStrip && next.extent > inner.extent) std::swap(inner, next);
}

template <unsigned most_operands, unsigned most_axes>
void NestOf<most_operands, most_axes>::pair_inner(unsigned axis) noexcept {
  for (; axis + 2 < rank_; ++axis) std::swap(axes_[axis], axes_[axis + 1]);
}

template <unsigned most_operands, unsigned most_axes>
void NestOf<most_operands, most_axes>::go_to(unsigned axis_count, std::int64_t index,
                                             std::int64_t* position,
                                             std::int64_t* offsets) const noexcept {
  for (unsigned operand = 0; operand < operand_count_; ++operand) {
    offsets[operand] = starts_[operand];
  }
  for (unsigned i = axis_count; i-- > 0;) {
    const Axis& axis = axes_[i];
    position[i] = index % axis.extent;
    index /= axis.extent;
    for (unsigned operand = 0; operand < operand_count_; ++operand) {
      offsets[operand] += position[i] * axis.steps[operand];
    }
  }
}

// Wraps from the last position to the first, which is not used.
template <unsigned most_operands, unsigned most_axes>
void NestOf<most_operands, most_axes>::advance(std::int64_t* position,
                                               std::int64_t* offsets) const noexcept {
  for (unsigned i = rank_ < 2 ? 0 : rank_ - 1; i-- > 0;) {
    const Axis& axis = axes_[i];
    const bool wrapped = ++position[i] == axis.extent;
    const std::int64_t moves = wrapped ? 1 - axis.extent : 1;
    for (unsigned operand = 0; operand < operand_count_; ++operand) {
      offsets[operand] += moves * axis.steps[operand];
    }
    if (!wrapped) return;
    position[i] = 0;
  }
}

template <unsigned most_operands, unsigned most_axes>
void NestOf<most_operands, most_axes>::remove(unsigned axis) noexcept {
  for (--rank_; axis < rank_; ++axis) axes_[axis] = axes_[axis + 1];
}

template <unsigned most_operands, unsigned most_axes>
void NestOf<most_operands, most_axes>::narrow(std::int64_t first, std::int64_t extent) noexcept {
  for (unsigned operand = 0; operand < operand_count_; ++operand) {
    starts_[operand] += first * axes_[0].steps[operand];
  }
  axes_[0].extent = extent;
  if (extent == 1) remove(0);
}

template class NestOf<5>;
template class NestOf<65>;
template class NestOf<4, TNR_MAX_RANK + 1>;

}  // namespace tenure
