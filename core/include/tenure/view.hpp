// Views: the one checker, what can be done to a shape without touching an element, and the
// decision whether two views share a byte.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tenure/status.hpp"

namespace tenure {

// Throws unless `view` is one that an operation may read: known flags, reserved words 0, rank <= 8,
// a whole-byte dtype, no negative extent, element count and span representable, aligned, on the
// CPU, and every reachable element inside [base, base + size_bytes). Does not ask the owner.
// `name` is the parameter's, for the message.
void check_view(const tnr_view& view, const char* name);

// As check_view(), and throws ALIASED when two indices may meet in one byte: by |stride|, each must
// exceed the reach of the smaller ones. Conservative, and the same test as in the Rust crate.
void check_view_mut(const tnr_view_mut& view, const char* name);

// Fills a view over [base, base + size_bytes) and checks it. `shape` and `strides` have `rank`
// entries; strides == nullptr means row-major. owner is 0.
tnr_view make_view(const void* base, std::size_t size_bytes, std::size_t offset_bytes,
                   tnr_dtype dtype, std::uint32_t rank, const std::int64_t* shape,
                   const std::int64_t* strides);

// Each takes a checked view and gives one over the same memory, with flags cleared: what was
// exclusive as a whole need not be so in part. All throw INVALID_ARGUMENT.
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

// Whether an output and an input share a byte. Both are checked. In order: an extent of 0; byte
// intervals disjoint; exactly the same; the output EXCLUSIVE; else solved (see alias.cpp).
Alias alias_of(const tnr_view& out, const tnr_view& in) noexcept;

}  // namespace tenure
