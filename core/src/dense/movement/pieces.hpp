// An output in pieces: boxes that are written one after the other, so that lines that several
// copies write parts of are in a cache until they are whole, and shared among threads.
#pragma once

#include <cstdint>

#include "memory/traffic.hpp"
#include "tenure/context.hpp"
#include "threads/parallel.hpp"

namespace tenure {

// Indices [first[axis], end[axis]) of each axis.
struct Box {
  std::int64_t first[TNR_MAX_RANK];
  std::int64_t end[TNR_MAX_RANK];
};

class Pieces {
 public:
  // `view` is checked and not empty; `moved_bytes` are those of the whole call.
  Pieces(const tnr_view& view, std::int64_t moved_bytes) noexcept;

  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  [[nodiscard]] Box at(std::int64_t piece) const noexcept;

  // Calls body(box), which must not throw, for each piece, on the context's threads.
  template <class Body>
  void for_each(const Context& context, const Body& body) const noexcept {
    const std::int64_t slice_count = context.thread_count() == 1 ? 1 : count_;
    for_each_slice(context, slice_count, [&](std::int64_t slice) noexcept {
      const std::int64_t last = slice_begin(count_, slice_count, slice + 1);
      for (std::int64_t piece = slice_begin(count_, slice_count, slice); piece < last; ++piece) {
        body(at(piece));
      }
    });
  }

 private:
  const tnr_view& view_;
  std::uint32_t order_[TNR_MAX_RANK];  // axes, from the largest step in memory to the smallest
  std::uint32_t outer_ = 0;            // axes on which a piece has one index
  std::int64_t rows_ = 1;              // of the next one, in a piece
  std::int64_t cuts_ = 1;              // pieces along that
  std::int64_t count_ = 1;
};

// The elements of a box, which is not empty.
tnr_view part_of(const tnr_view& view, const Box& box) noexcept;

}  // namespace tenure
