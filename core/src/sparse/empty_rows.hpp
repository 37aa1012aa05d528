// Rows without entries: most rows of a matrix with a huge extent.
#pragma once

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "base/bisect.hpp"

namespace tenure {

// Rows that filled_rows() looks at.
inline constexpr std::int64_t kRowsAtOnce = 16;

// A bit for each of kRowsAtOnce rows: whether it has entries.
template <class Offsets>
std::uint32_t filled_rows(const Offsets& offsets, std::int64_t row) noexcept {
#if defined(__x86_64__)
  if constexpr (std::is_same_v<std::decay_t<Offsets>, const std::int32_t*>) {
    const auto empty_rows = [at = offsets + row](int i) {
      const auto* const here = reinterpret_cast<const __m128i*>(at + i);
      const auto* const next = reinterpret_cast<const __m128i*>(at + i + 1);
      return _mm_cmpeq_epi32(_mm_loadu_si128(here), _mm_loadu_si128(next));
    };
    const __m128i low = _mm_packs_epi32(empty_rows(0), empty_rows(4));
    const __m128i high = _mm_packs_epi32(empty_rows(8), empty_rows(12));
    return ~static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high))) & 0xffffu;
  }
#endif
  std::uint32_t bits = 0;
  for (int i = 0; i < kRowsAtOnce; ++i) {
    bits |= (offsets[row + i + 1] != offsets[row + i] ? 1u : 0u) << i;
  }
  return bits;
}

// The first row of [row, end) that has entries, or `end`. A near one is found by bits, without an
// unpredictable branch; a far one by exponential search over the offsets, which do not fall.
template <class Offsets>
std::int64_t first_filled_row(const Offsets& offsets, std::int64_t row, std::int64_t end) noexcept {
  constexpr std::int64_t kNear = 4 * kRowsAtOnce;
  if (row >= end) return end;
  if (offsets[row + 1] != offsets[row]) return row;
  for (const std::int64_t far = std::min(end, row + kNear) - kRowsAtOnce; row <= far;) {
    if (const std::uint32_t filled = filled_rows(offsets, row); filled != 0) {
      return row + std::countr_zero(filled);
    }
    row += kRowsAtOnce;
  }
  const auto first = offsets[row];
  for (std::int64_t step = kRowsAtOnce; row < end; step *= 2) {
    const std::int64_t stop = row + std::min(step, end - row);
    if (offsets[stop] != first) {
      return first_where(row, stop - 1, [&](std::int64_t at) { return offsets[at + 1] != first; });
    }
    row = stop;
  }
  return end;
}

// Calls body(row) for the rows of [row, end) that have entries, in order.
template <class Offsets, class Body>
void for_each_filled_row(const Offsets& offsets, std::int64_t row, std::int64_t end,
                         const Body& body) noexcept {
  while (row + kRowsAtOnce <= end) {
    std::uint32_t filled = filled_rows(offsets, row);
    if (filled == 0) {
      row = first_filled_row(offsets, row + kRowsAtOnce, end);
      continue;
    }
    for (; filled != 0; filled &= filled - 1) body(row + std::countr_zero(filled));
    row += kRowsAtOnce;
  }
  for (; row < end; ++row) {
    if (offsets[row + 1] != offsets[row]) body(row);
  }
}

// Sets offsets[row + 1] to offsets[next], where rows [row, next) are empty, and may set others up
// to offsets[end], which are set later.
template <class I>
void put_empty_rows(I* offsets, std::int64_t row, std::int64_t next, std::int64_t end,
                    std::int64_t position) noexcept {
  const auto value = static_cast<I>(position);
  if (row + kRowsAtOnce <= end) {
    for (std::int64_t i = 1; i <= kRowsAtOnce; ++i) offsets[row + i] = value;
    row += kRowsAtOnce;
  }
  if (row < next) std::fill(offsets + row + 1, offsets + next + 1, value);
}

}  // namespace tenure
