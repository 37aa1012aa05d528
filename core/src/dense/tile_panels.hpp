// Inputs of a tile whose elements lie side by side along its columns: transposed in registers, and
// read from where they then are in a near cache.
//
// A strip of such an input is elements a long step apart, each of which is loaded by itself.
#pragma once

#include <cstdint>

#include "cpu/dispatch.hpp"
#include "dense/operands.hpp"
#include "dense/tiles.hpp"
#include "memory/traffic.hpp"

namespace tenure {

class TilePanels {
 public:
  // Some input of so many bytes an element has the steps of the nest's inner two axes that a panel
  // is for. Its tiles fit.
  static bool takes(const Nest& nest, unsigned operand, std::int64_t width_bytes) noexcept {
    return nest.step(nest.rank() - 2, operand) == width_bytes &&
           nest.step(nest.rank() - 1, operand) != width_bytes &&
           kernels::permuting_kernels().transpose[index_of_width(width_bytes)] != nullptr &&
           Tiles::kMostElements * width_bytes <= kBytes;
  }

  // Puts the elements of a tile, the first of which is at `in`, into a panel; returns that, whose
  // rows are adjacent elements, pitch() bytes apart.
  const kernels::Byte* fill(unsigned input, const kernels::Byte* in, std::int64_t width_bytes,
                            std::int64_t column_step, std::int64_t rows,
                            std::int64_t columns) noexcept {
    kernels::Byte* const panel = memory_[input];
    kernels::permuting_kernels().transpose[index_of_width(width_bytes)](
        {.rank = 2,
         .extents = {rows, columns},
         .in_steps = {width_bytes, column_step},
         .out_steps = {pitch(columns, width_bytes), width_bytes},
         .in = in,
         .out = panel,
         .width_bytes = width_bytes,
         .flush = {},
         .fetch = {}});
    return panel;
  }
  static std::int64_t pitch(std::int64_t columns, std::int64_t width_bytes) noexcept {
    return whole_lines(columns * width_bytes);
  }

 private:
  static constexpr std::int64_t kBytes = std::int64_t{8} << 10;

  alignas(kLineBytes) kernels::Byte memory_[Nest::kMaxOperands - 1][kBytes];
};

}  // namespace tenure
