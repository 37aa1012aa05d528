// Elements in pieces that the first cache holds, for loops that read each element once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dense/loops/nest.hpp"
#include "tenure/context.hpp"
#include "threads/parallel.hpp"

namespace tenure {

// Elements of a piece: with their keys, places or numbers as f64 these are a few KiB.
inline constexpr std::int64_t kOrderPieceElements = 256;

// Calls body(slice, offsets, count) for pieces of `count` elements of the nest's innermost axis,
// with the operands' offsets of the first; of one slice one after the other in the nest's order.
template <class Body>
[[gnu::noinline]] void for_each_piece(const Context& context, const Nest& nest, std::int64_t slices,
                                      const Body& body) {
  const std::int64_t strips = nest.strip_count();
  const std::int64_t extent = nest.inner_extent();
  // Long strips are cut into parts, so that threads share a single strip too.
  const std::int64_t parts =
      strips >= slices ? 1 : std::min(extent, (slices + strips - 1) / strips);
  for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
    const std::int64_t end = slice_begin(strips * parts, slices, slice + 1);
    for (std::int64_t at = slice_begin(strips * parts, slices, slice); at < end; ++at) {
      const std::int64_t last = slice_begin(extent, parts, at % parts + 1);
      nest.for_each_strip(at / parts, at / parts + 1, [&](const std::int64_t* strip) {
        for (std::int64_t i = slice_begin(extent, parts, at % parts); i < last;) {
          const std::int64_t count = std::min(kOrderPieceElements, last - i);
          std::int64_t offsets[Nest::kMaxOperands] = {};
          for (unsigned operand = 0; operand < nest.operand_count(); ++operand) {
            offsets[operand] = strip[operand] + i * nest.inner_step(operand);
          }
          body(slice, static_cast<const std::int64_t*>(offsets), count);
          i += count;
        }
      });
    }
  });
}

}  // namespace tenure
