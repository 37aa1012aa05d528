// A nest of loops over several operands at once, arranged so that memory is walked in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "tenure/tenure.h"

namespace tenure {

// Axes are added one by one, then ordered: reversed until the key operand's steps are not negative,
// sorted by them (largest outermost), and joined wherever every operand walks two axes as if they
// were one. Arranged, they are also fit for strips: the innermost axis is left to the caller's
// kernel, and is not short where another is longer.
template <unsigned most_operands, unsigned most_axes = TNR_MAX_RANK>
class NestOf {
 public:
  static constexpr unsigned kMaxOperands = most_operands;

  explicit NestOf(unsigned operand_count) noexcept : operand_count_(operand_count) {
    for (unsigned operand = 0; operand < operand_count; ++operand) starts_[operand] = 0;
  }

  // `steps` holds one step for each operand, in units of its own (bytes, mostly). extent is at
  // least 1; an extent of 1 adds nothing.
  void add(std::int64_t extent, const std::int64_t* steps) noexcept;
  void order(unsigned key) noexcept;
  void arrange(unsigned key) noexcept;
  // The nest is ordered: lets an inner axis that is short be the second innermost, where that is
  // longer.
  void lengthen_inner() noexcept;
  // Makes an axis the second innermost; the others keep their order.
  void pair_inner(unsigned axis) noexcept;
  // Joins axes, and keeps their order.
  void join() noexcept;

  [[nodiscard]] unsigned operand_count() const noexcept { return operand_count_; }
  [[nodiscard]] unsigned rank() const noexcept { return rank_; }
  [[nodiscard]] std::int64_t extent(unsigned axis) const noexcept { return axes_[axis].extent; }
  [[nodiscard]] std::int64_t step(unsigned axis, unsigned operand) const noexcept {
    return axes_[axis].steps[operand];
  }
  // The steps of all operands.
  [[nodiscard]] const std::int64_t* steps(unsigned axis) const noexcept {
    return axes_[axis].steps;
  }
  // From the operand's element at index 0 to that at the nest's first position.
  [[nodiscard]] std::int64_t start(unsigned operand) const noexcept { return starts_[operand]; }
  // Extent and step of the innermost axis; 1 and 0 when there is none.
  [[nodiscard]] std::int64_t inner_extent() const noexcept {
    return rank_ == 0 ? 1 : axes_[rank_ - 1].extent;
  }
  [[nodiscard]] std::int64_t inner_step(unsigned operand) const noexcept {
    return rank_ == 0 ? 0 : axes_[rank_ - 1].steps[operand];
  }

  // Position `index` of the `axis_count` outermost axes, in their order, and the operands' offsets
  // there.
  void go_to(unsigned axis_count, std::int64_t index, std::int64_t* position,
             std::int64_t* offsets) const noexcept;

  // Removes an axis. The position of the others does not change.
  void remove(unsigned axis) noexcept;
  // Leaves the outermost axis `extent` of its positions, from `first` on.
  void narrow(std::int64_t first, std::int64_t extent) noexcept;

  // Positions of all axes; at least 1.
  [[nodiscard]] std::int64_t count() const noexcept { return strip_count() * inner_extent(); }
  // Positions of all axes but the innermost; at least 1.
  [[nodiscard]] std::int64_t strip_count() const noexcept {
    std::int64_t count = 1;
    for (unsigned i = 0; i + 1 < rank_; ++i) count *= axes_[i].extent;
    return count;
  }

  // Calls body(offsets) with the operands' offsets at each position of all axes but the innermost.
  template <class Body>
  void for_each_strip(Body&& body) const {
    for_each_strip(0, strip_count(), std::forward<Body>(body));
  }
  // Does so for the positions [first, last) of their order; first < last.
  template <class Body>
  void for_each_strip(std::int64_t first, std::int64_t last, Body&& body) const {
    std::int64_t position[TNR_MAX_RANK];
    std::int64_t offsets[kMaxOperands];
    go_to(rank_ < 2 ? 0 : rank_ - 1, first, position, offsets);
    for (;;) {
      body(static_cast<const std::int64_t*>(offsets));
      if (++first == last) return;
      advance(position, offsets);
    }
  }

  // Visits these positions in runs along the last of those axes: calls body(offsets, rows) with the
  // offsets of the first of `rows` strips. Needs two axes.
  template <class Body>
  void for_each_row_range(std::int64_t first, std::int64_t last, Body&& body) const {
    const std::int64_t extent = axes_[rank_ - 2].extent;
    while (first < last) {
      std::int64_t position[TNR_MAX_RANK];
      std::int64_t offsets[kMaxOperands];
      go_to(rank_ - 1, first, position, offsets);
      const std::int64_t rows = std::min(last - first, extent - position[rank_ - 2]);
      body(static_cast<const std::int64_t*>(offsets), rows);
      first += rows;
    }
  }

 private:
  struct Axis {
    std::int64_t extent;
    std::int64_t steps[kMaxOperands];
  };

  void reverse(Axis& axis) noexcept;
  void sort(unsigned key) noexcept;
  void advance(std::int64_t* position, std::int64_t* offsets) const noexcept;

  unsigned operand_count_;
  unsigned rank_ = 0;
  std::int64_t starts_[kMaxOperands];
  Axis axes_[most_axes];  // outermost first
};

// Nest of an operation: batch normalization has the most operands, an output and four inputs.
using Nest = NestOf<5>;
extern template class NestOf<5>;
// Nest of an expression: an output, views, and the results of reductions amid it.
using WideNest = NestOf<65>;
extern template class NestOf<65>;
// Nest of a launch on a device, which may have an axis within its elements.
extern template class NestOf<4, TNR_MAX_RANK + 1>;

}  // namespace tenure
