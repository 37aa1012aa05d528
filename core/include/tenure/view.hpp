// Views: the one checker, what can be done to a shape without touching an element, and the
// decision whether two views share a byte.
//
// Element [i, j, ...] of a view is at data + (i * strides[0] + j * strides[1] + ...) elements.
// check_view() proves once that each such element is inside the lent memory; everything after it
// relies on that proof, which is why arithmetic on the strides of a checked view needs no further
// overflow checks where an index can use the result.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tenure/device.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/status.hpp"

namespace tenure {

// Bytes of a view's elements, from the lowest one to `data` and from `data` on. An empty view has
// none.
struct ByteReach {
  std::int64_t before_bytes = 0;
  std::int64_t from_bytes = 0;
};

// False where dtype, rank, shape or strides are none that a view may have.
[[gnu::always_inline]] inline bool find_reach(const tnr_view& view, ByteReach& reach) noexcept {
  const auto element_bytes = static_cast<std::int64_t>(element_size(view.dtype));
  if (view.rank > TNR_MAX_RANK || element_bytes == 0) return false;
  std::int64_t count = 1;
  std::int64_t lowest = 0;   // offset of the lowest element from `data`, in elements
  std::int64_t highest = 0;  // of the highest
  bool empty = false;
  bool overflow = false;
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    const std::int64_t extent = view.shape[axis];
    if (extent > 1) {
      std::int64_t bytes;
      overflow |= __builtin_mul_overflow(count, extent, &count);
      overflow |= __builtin_mul_overflow(extent - 1, view.strides[axis], &bytes);
      std::int64_t& end = bytes < 0 ? lowest : highest;
      overflow |= __builtin_add_overflow(end, bytes, &end);
    } else if (extent < 0) {
      return false;
    } else {
      empty |= extent == 0;
    }
  }
  reach = {};
  if (empty) return true;
  // Bytes of elements fit an i64, also where strides of 0 repeat them.
  std::int64_t all_bytes;
  overflow |= __builtin_mul_overflow(count, element_bytes, &all_bytes);
  overflow |= count > TNR_MAX_ELEMENTS;
  overflow |= __builtin_sub_overflow(std::int64_t{0}, lowest, &lowest);
  overflow |= __builtin_mul_overflow(lowest, element_bytes, &reach.before_bytes);
  overflow |= __builtin_mul_overflow(highest, element_bytes, &highest);
  overflow |= __builtin_add_overflow(highest, element_bytes, &reach.from_bytes);
  return !overflow;
}

// Whether the view has the memory that its elements reach, on the device, and all its words are
// known.
[[gnu::always_inline]] inline bool has_memory(const tnr_view& view, const ByteReach& reach,
                                              const tnr_device& device = kCpu) noexcept {
  const std::uint64_t base = reinterpret_cast<std::uintptr_t>(view.base);
  const std::uint64_t data = reinterpret_cast<std::uintptr_t>(view.data);
  if ((view.flags & ~TNR_VIEW_EXCLUSIVE) != 0 || view.reserved != 0 || view.bit_offset != 0 ||
      view.device.kind != device.kind || view.device.index != device.index ||
      view.size_bytes > static_cast<std::uint64_t>(kMaxSpanBytes) ||
      base + view.size_bytes < base || (view.size_bytes != 0 && (base == 0 || data == 0))) {
    return false;
  }
  if (reach.from_bytes == 0) return data == base;
  // Below `base` this wraps around and exceeds size_bytes, because base + size_bytes does not wrap.
  const std::uint64_t offset = data - base;
  if (offset > view.size_bytes) return false;
  // No alignment over 8 is ever asked, so the common case needs no look at the dtype.
  const bool aligned = data % 8 == 0 || data % element_alignment(view.dtype) == 0;
  return aligned && static_cast<std::int64_t>(offset) >= reach.before_bytes &&
         static_cast<std::int64_t>(view.size_bytes - offset) >= reach.from_bytes;
}

// Whether check_view() would accept the view. Inlined, because it runs on each operand of each
// call and an addition of 8 elements has 25 ns for everything; check_view_stepwise() is its
// reference implementation, which also names the error.
[[gnu::always_inline]] inline bool is_valid_view(const tnr_view& view,
                                                 const tnr_device& device = kCpu) noexcept {
  ByteReach reach;
  return find_reach(view, reach) && has_memory(view, reach, device);
}

// Whether, in row-major order of the axes, each stride exceeds the reach of those after it. True
// proves that no two indices meet; false proves nothing, because the axes may be in another order.
[[gnu::always_inline]] inline bool strides_nest_in_order(const tnr_view& view) noexcept {
  std::uint64_t reach = 0;  // wraps for empty views only, where either answer is right
  for (std::uint32_t axis = view.rank; axis-- > 0;) {
    if (view.shape[axis] <= 1) continue;
    const auto stride = static_cast<std::uint64_t>(view.strides[axis]);
    const std::uint64_t magnitude = view.strides[axis] < 0 ? 0 - stride : stride;
    if (magnitude <= reach) return false;
    reach += static_cast<std::uint64_t>(view.shape[axis] - 1) * magnitude;
  }
  return true;
}

// The refusal of a view that is wrong; the checks of check_view(), one at a time.
[[gnu::cold]] Refusal view_refusal(const tnr_view& view, const char* name,
                                   const tnr_device& device = kCpu) noexcept;
[[gnu::cold]] void check_view_stepwise(const tnr_view& view, const char* name,
                                       const tnr_device& device = kCpu);

// ALIASED unless, by |stride|, each stride exceeds the reach of the smaller ones. The view has
// passed check_view().
Refusal self_overlap_refusal(const tnr_view& view, const char* name) noexcept;

// Throws unless `view` is one that an operation may read, in this order:
//   UNSUPPORTED       a dtype of zero lanes or no whole number of bytes; memory not on the device
//   INVALID_ARGUMENT  unknown flags; bit_offset or reserved not 0; rank over 8; a negative extent;
//                     size_bytes over INT64_MAX, or wrapping around from base; base or data NULL
//                     although size_bytes is not 0;
//                     empty: data is not base (strides and alignment of an empty view are not
//                     checked);
//                     not empty: over INT64_MAX elements (however they overlap), data misaligned,
//                     an element not inside [base, base + size_bytes)
// Strides of axes of extent <= 1 are ignored. Does not ask the owner. `name` is the parameter's,
// for the message; "" where the parameters are shape, strides, ... themselves. No byte is looked
// at, on any device.
[[gnu::always_inline]] inline void check_view(const tnr_view& view, const char* name,
                                              const tnr_device& device = kCpu) {
  if (!is_valid_view(view, device)) [[unlikely]]
    check_view_stepwise(view, name, device);
}

// Throws what check_view() throws, and ALIASED when two indices may meet in one byte: by |stride|,
// each must exceed the reach of the smaller ones. Conservative, and the same test as in the Rust
// crate: of axes with extent > 1, sorted by |stride|, each |stride| must exceed the sum of
// (extent - 1) * |stride| over the axes before it. Empty views pass.
[[gnu::always_inline]] inline void check_view_mut(const tnr_view_mut& out, const char* name,
                                                  const tnr_device& device = kCpu) {
  check_view(out.view, name, device);
  if (!strides_nest_in_order(out.view)) [[unlikely]]
    require_none(self_overlap_refusal(out.view, name));
}

// Whether the memory is one that the CPU does not read.
[[gnu::always_inline]] inline bool is_on_device(const tnr_view& view) noexcept {
  return view.device.kind != TNR_DEVICE_KIND_CPU;
}

// The device of a view where its name is a possible one, else the CPU. The shape and the strides of
// a view on any device are checked for it.
inline tnr_device named_device(const tnr_view& view) noexcept {
  const bool is_cuda = view.device.kind == TNR_DEVICE_KIND_CUDA && view.device.index >= 0;
  return is_cuda ? view.device : kCpu;
}

// Fills a view over [base, base + size_bytes) and checks it. `shape` and `strides` have `rank`
// entries; strides == nullptr means row-major. owner is 0. Annotated, because gcc would otherwise
// take it for a reader of the memory.
TNR_SPANS(1, 2)
tnr_view make_view(const void* base, std::size_t size_bytes, std::size_t offset_bytes,
                   tnr_dtype dtype, std::uint32_t rank, const std::int64_t* shape,
                   const std::int64_t* strides, const tnr_device& device = kCpu);

// Does the work of make_view() for memory of the CPU. `out` is unchanged on failure. `shape` and
// `strides` may point into `out`.
TNR_SPANS(2, 3)
void lend_view(tnr_view& out, const void* base, std::size_t size_bytes, std::size_t offset_bytes,
               tnr_dtype dtype, std::uint32_t rank, const std::int64_t* shape,
               const std::int64_t* strides);

// Bytes of an array in row-major order. Throws UNSUPPORTED and INVALID_ARGUMENT as
// tnr_blob_alloc_view().
std::size_t row_major_bytes(tnr_dtype dtype, std::uint32_t rank, const std::int64_t* shape);

// Each takes a checked view and gives one that would pass check_view(), over the same memory, with
// flags cleared: a part of an exclusive view need not be exclusive. All throw INVALID_ARGUMENT.
// An empty result has data == base. Entries of shape and strides beyond the rank are 0.

// With a positive step start and stop lie in 0..extent, with a negative one in -1..extent - 1.
tnr_view slice(const tnr_view& view, std::uint32_t axis, std::int64_t start, std::int64_t stop,
               std::int64_t step);
tnr_view index(const tnr_view& view, std::uint32_t axis, std::int64_t index);
tnr_view permute(const tnr_view& view, std::uint32_t rank, const std::uint32_t* axes);
tnr_view transpose(const tnr_view& view, std::uint32_t axis_a, std::uint32_t axis_b);
tnr_view reshape(const tnr_view& view, std::uint32_t rank, const std::int64_t* shape);
tnr_view flatten(const tnr_view& view);
tnr_view squeeze(const tnr_view& view, std::uint32_t axis);
tnr_view unsqueeze(const tnr_view& view, std::uint32_t axis);
tnr_view broadcast(const tnr_view& view, std::uint32_t rank, const std::int64_t* shape);
tnr_view flip(const tnr_view& view, std::uint32_t axis);
struct SplitViews {
  tnr_view low;
  tnr_view high;
};
SplitViews split(const tnr_view& view, std::uint32_t axis, std::int64_t index);
tnr_view chunk(const tnr_view& view, std::uint32_t axis, std::int64_t chunk_count,
               std::int64_t index);
tnr_view windows(const tnr_view& view, std::uint32_t axis, std::int64_t size, std::int64_t step);

enum class Alias {
  kNone,       // no byte is shared
  kSame,       // data, dtype, shape, and the strides of extents > 1 are equal
  kPartial,    // a byte is shared otherwise
  kUndecided,  // the search ran out of its budget
};

// Returns the answer of alias_of(), by all of its tests in the order that alias_of() documents.
Alias alias_of_stepwise(const tnr_view& out, const tnr_view& in) noexcept;

// Whether an output and an input share a byte. Both are checked. In order: an extent of 0; byte
// intervals disjoint; exactly the same; the output EXCLUSIVE; else solved (see alias.cpp).
inline Alias alias_of(const tnr_view& out, const tnr_view& in) noexcept {
  // Answers of the later steps, reached early: memory lent apart cannot meet, and an EXCLUSIVE
  // output that begins elsewhere is not exactly the input.
  const std::uint64_t out_base = reinterpret_cast<std::uintptr_t>(out.base);
  const std::uint64_t in_base = reinterpret_cast<std::uintptr_t>(in.base);
  if (out_base + out.size_bytes <= in_base || in_base + in.size_bytes <= out_base ||
      ((out.flags & TNR_VIEW_EXCLUSIVE) != 0 && out.data != in.data)) {
    return Alias::kNone;
  }
  return alias_of_stepwise(out, in);
}

}  // namespace tenure
