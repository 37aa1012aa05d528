// The fast path of the checks of a view: whether it is dense and meets all conditions. Most views
// do. check_view() and related functions check all other views, one condition at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "tenure/device.hpp"
#include "tenure/dtype.hpp"
#include "tenure/view.hpp"

namespace tenure {

// Pairs of 32-bit fields of a view, compared as the one word they lie in.
enum class Pair : std::size_t {
  kDtypeAndRank = offsetof(tnr_view, dtype),
  kDevice = offsetof(tnr_view, device),
  kFlagsAndBitOffset = offsetof(tnr_view, flags),
};
static_assert(offsetof(tnr_view, rank) == offsetof(tnr_view, dtype) + 4);
static_assert(sizeof(tnr_device) == 8 && offsetof(tnr_device, index) == 4);
static_assert(offsetof(tnr_view, bit_offset) == offsetof(tnr_view, flags) + 4);

inline std::uint64_t word_of(const tnr_view& view, Pair pair) noexcept {
  std::uint64_t word;
  std::memcpy(&word, reinterpret_cast<const char*>(&view) + static_cast<std::size_t>(pair),
              sizeof word);
  return word;
}
constexpr std::uint64_t word_of(std::uint32_t first, std::uint32_t second) noexcept {
  struct Two {
    std::uint32_t first;
    std::uint32_t second;
  };
  return std::bit_cast<std::uint64_t>(Two{first, second});
}
constexpr std::uint64_t word_of(const tnr_device& device) noexcept {
  return std::bit_cast<std::uint64_t>(device);
}

// Whether memory is not null, does not wrap around the address space, and has `bytes` bytes from
// `data` on, the first of them aligned. False for some valid memory whose addresses have their
// highest bit set.
[[gnu::always_inline]] inline bool is_plain_memory(const void* base, std::uint64_t size_bytes,
                                                   std::uint64_t data, std::uint64_t bytes,
                                                   tnr_dtype dtype) noexcept {
  static_assert(kMaxSpanBytes == std::numeric_limits<std::int64_t>::max());
  const std::uint64_t first = reinterpret_cast<std::uintptr_t>(base);
  const std::uint64_t offset = data - first;  // wraps below base, and exceeds the slack then
  const std::uint64_t slack = size_bytes - bytes;
  // Where none has its highest bit, the size is in range, the memory does not wrap and the slack is
  // not negative.
  const std::uint64_t all = first | size_bytes | (first + size_bytes) | slack | bytes;
  // No alignment over 8 is ever asked, so the common case needs no look at the dtype.
  return first != 0 && static_cast<std::int64_t>(all) >= 0 && offset <= slack &&
         (data % 8 == 0 || data % element_alignment(dtype) == 0);
}

// The conditions of a view that do not depend on the shape. `bytes` are those of a dense view's
// elements.
[[gnu::always_inline]] inline bool has_plain_memory(const tnr_view& view,
                                                    std::uint64_t bytes) noexcept {
  const std::uint64_t unknown =
      word_of(view, Pair::kFlagsAndBitOffset) & ~word_of(TNR_VIEW_EXCLUSIVE, 0);
  return (unknown | view.reserved) == 0 &&
         is_plain_memory(view.base, view.size_bytes, reinterpret_cast<std::uintptr_t>(view.data),
                         bytes, view.dtype);
}

// Returns the elements of a view on `device` that is dense, not empty and passes check_view_mut().
// 0 decides nothing, and the caller calls check_view_mut() and dense_count(): this is their fast
// path.
[[gnu::always_inline]] inline std::int64_t plain_count(const tnr_view& view,
                                                       const tnr_device& device = kCpu) noexcept {
  const auto element_bytes = static_cast<std::int64_t>(element_size(view.dtype));
  if (word_of(view, Pair::kDevice) != word_of(device) || element_bytes == 0 ||
      view.rank > TNR_MAX_RANK) {
    return 0;
  }
  std::int64_t count = 1;
  for (std::uint32_t axis = view.rank; axis-- > 0;) {
    const std::int64_t extent = view.shape[axis];
    if (extent <= 0 || (extent != 1 && view.strides[axis] != count) ||
        __builtin_mul_overflow(count, extent, &count)) {
      return 0;
    }
  }
  std::int64_t bytes;
  if (__builtin_mul_overflow(count, element_bytes, &bytes)) return 0;
  return has_plain_memory(view, static_cast<std::uint64_t>(bytes)) ? count : 0;
}

// Whether `in` differs from the checked and dense `out` only in its memory, is valid, and is
// exactly `out` or shares no byte with it. True is the answer that check_view(),
// require_broadcast() and alias_of() give one by one; false decides nothing, and the caller calls
// them.
[[gnu::always_inline]] inline bool has_same_layout(const tnr_view& in, const tnr_view& out,
                                                   std::uint64_t out_bytes) noexcept {
  if (word_of(in, Pair::kDtypeAndRank) != word_of(out, Pair::kDtypeAndRank) ||
      word_of(in, Pair::kDevice) != word_of(out, Pair::kDevice)) {
    return false;
  }
#pragma GCC unroll 1
  for (std::uint32_t axis = 0; axis < out.rank; ++axis) {
    if (in.shape[axis] != out.shape[axis] || in.strides[axis] != out.strides[axis]) return false;
  }
  const std::uint64_t distance =
      reinterpret_cast<std::uintptr_t>(in.data) - reinterpret_cast<std::uintptr_t>(out.data);
  // Apart by at least `out_bytes` in either direction.
  return has_plain_memory(in, out_bytes) &&
         (distance == 0 || distance + (out_bytes - 1) > 2 * (out_bytes - 1));
}

}  // namespace tenure
