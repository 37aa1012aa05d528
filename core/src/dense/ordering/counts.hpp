// Counts of elements by bins, which each slice has of its own: whole numbers add up to the same in
// any order.
#pragma once

#include <algorithm>
#include <cstring>

#include "dense/ordering/pieces.hpp"
#include "dense/ordering/records.hpp"
#include "memory/scratch.hpp"
#include "view/operand_checks.hpp"

namespace tenure {

// A search, or an increment that may miss the caches, takes as long as some hundred bytes.
inline constexpr std::int64_t kBytesOfSearch = 128;

class Counts {
 public:
  // Throws OUT_OF_MEMORY.
  Counts(const Context& context, const tnr_view& a, std::int64_t bins)
      : context_(context),
        a_(a),
        bins_(bins),
        nest_(1),
        slices_(slices_for(context, a, bins)),
        counts_(bins, slices_ * static_cast<std::int64_t>(sizeof(std::int64_t))) {
    for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
      const std::int64_t step = step_of(a, axis);
      nest_.add(a.shape[axis], &step);
    }
    nest_.arrange(0);
    std::fill_n(counts_.numbers(), bins * slices_, 0);
  }

  // body(elements, step, count, counts) for pieces of the elements.
  template <class Body>
  void run(const Body& body) const {
    if (is_empty(a_)) return;
    for_each_piece(context_, nest_, slices_,
                   [&](std::int64_t slice, const std::int64_t* offsets, std::int64_t count) {
                     body(static_cast<const kernels::Byte*>(a_.data) + offsets[0],
                          nest_.inner_step(0), count, counts_.numbers() + slice * bins_);
                   });
  }

  // The sum over all slices.
  [[nodiscard]] std::int64_t sum(std::int64_t bin) const noexcept {
    std::int64_t sum = 0;
    for (std::int64_t slice = 0; slice < slices_; ++slice) {
      sum += counts_.numbers()[slice * bins_ + bin];
    }
    return sum;
  }
  void write(const tnr_view_mut& out) const noexcept {
    for (std::int64_t bin = 0; bin < bins_; ++bin) {
      const std::int64_t count = sum(bin);
      std::memcpy(writable(out) + bin * step_of(out.view, 0), &count, sizeof count);
    }
  }

 private:
  // Counters of a slice are set to 0 and added up: not more of them than elements.
  static std::int64_t slices_for(const Context& context, const tnr_view& a, std::int64_t bins) {
    const std::int64_t count = element_count(a);
    const std::int64_t slices =
        std::min<std::int64_t>(slice_count_of(context, bytes_of_rows(count, kBytesOfSearch)),
                               4 * std::int64_t{context.thread_count()});
    return std::clamp<std::int64_t>(count / bins, 1, slices);
  }

  const Context& context_;
  const tnr_view& a_;
  std::int64_t bins_;
  Nest nest_;
  std::int64_t slices_;
  Scratch counts_;
};

}  // namespace tenure
