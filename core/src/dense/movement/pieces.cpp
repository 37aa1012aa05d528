#include "dense/movement/pieces.hpp"

#include <algorithm>
#include <cstdlib>

#include "cpu/kernel.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"

namespace tenure {
namespace {

// Bytes of a piece: with the bytes that are read for it, half of a second cache at most. A piece
// with streamed stores waits for them at its end, so it has the size of streamed parts elsewhere.
constexpr std::int64_t kPieceBytes = std::int64_t{128} << 10;
constexpr std::int64_t kStreamedPieceBytes = std::int64_t{512} << 10;

}  // namespace

Pieces::Pieces(const tnr_view& view, std::int64_t moved_bytes) noexcept : view_(view) {
  // Outer axes first, by insertion. Rejected: std::stable_sort, which allocates.
  const auto magnitude = [&](std::uint32_t axis) { return std::abs(stride_of(view, axis)); };
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    std::uint32_t at = axis;
    for (; at > 0 && magnitude(order_[at - 1]) < magnitude(axis); --at) order_[at] = order_[at - 1];
    order_[at] = axis;
  }
  if (moved_bytes < kWorthSharingBytes) return;
  const std::int64_t piece_bytes =
      stores_for(moved_bytes) == Stores::kStreamed ? kStreamedPieceBytes : kPieceBytes;
  std::int64_t inner_bytes = static_cast<std::int64_t>(element_size(view.dtype));
  std::uint32_t axis = view.rank;
  while (axis > 0 && inner_bytes * view.shape[order_[axis - 1]] <= piece_bytes) {
    inner_bytes *= view.shape[order_[--axis]];
  }
  if (axis == 0) return;
  outer_ = axis - 1;
  const std::int64_t extent = view.shape[order_[outer_]];
  rows_ = std::max<std::int64_t>(1, piece_bytes / inner_bytes);
  cuts_ = (extent + rows_ - 1) / rows_;
  rows_ = (extent + cuts_ - 1) / cuts_;
  cuts_ = (extent + rows_ - 1) / rows_;
  count_ = cuts_;
  for (std::uint32_t i = 0; i < outer_; ++i) count_ *= view.shape[order_[i]];
}

Box Pieces::at(std::int64_t piece) const noexcept {
  Box box;
  for (std::uint32_t axis = 0; axis < view_.rank; ++axis) {
    box.first[axis] = 0;
    box.end[axis] = view_.shape[axis];
  }
  if (count_ == 1) return box;
  const std::uint32_t cut = order_[outer_];
  box.first[cut] = piece % cuts_ * rows_;
  box.end[cut] = std::min(box.first[cut] + rows_, view_.shape[cut]);
  piece /= cuts_;
  for (std::uint32_t i = outer_; i-- > 0;) {
    const std::uint32_t axis = order_[i];
    box.first[axis] = piece % view_.shape[axis];
    box.end[axis] = box.first[axis] + 1;
    piece /= view_.shape[axis];
  }
  return box;
}

tnr_view part_of(const tnr_view& view, const Box& box) noexcept {
  tnr_view part = view;
  std::int64_t offset = 0;
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    offset += box.first[axis] * step_of(view, axis);
    part.shape[axis] = box.end[axis] - box.first[axis];
  }
  part.data = static_cast<const kernels::Byte*>(view.data) + offset;
  return part;
}

}  // namespace tenure
