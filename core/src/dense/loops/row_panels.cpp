#include "dense/loops/row_panels.hpp"

#include <cstdlib>

#include "cpu/dispatch.hpp"
#include "dense/loops/strip_runner.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Bytes from row to row and from element to element.
struct RowSteps {
  std::int64_t row;
  std::int64_t element;
};

void move_rows(std::int64_t rows, std::int64_t count, const Byte* in, const RowSteps& in_steps,
               Byte* out, const RowSteps& out_steps, std::int64_t width_bytes) noexcept {
  const auto& permuting = kernels::permuting_kernels();
  const unsigned width = index_of_width(width_bytes);
  const bool is_dense = in_steps.element == width_bytes && out_steps.element == width_bytes;
  if (rows == 1 || is_dense) {
    const kernels::StripKernel copy = kernels::copy_kernels()[width];
    for (std::int64_t row = 0; row < rows; ++row) {
      const kernels::StripInput source = {in + row * in_steps.row, in_steps.element, width_bytes};
      run_plainly(copy, {.count = count,
                         .out = out + row * out_steps.row,
                         .out_step = out_steps.element,
                         .width_bytes = width_bytes,
                         .source_count = 1,
                         .in = &source,
                         .parameters = nullptr});
    }
    return;
  }
  // The block's last axis is the one of the output's closer elements.
  const bool turned = std::abs(out_steps.row) < std::abs(out_steps.element);
  kernels::Block block{};
  block.rank = 2;
  block.extents[turned ? 1 : 0] = rows;
  block.extents[turned ? 0 : 1] = count;
  block.in_steps[turned ? 1 : 0] = in_steps.row;
  block.in_steps[turned ? 0 : 1] = in_steps.element;
  block.out_steps[turned ? 1 : 0] = out_steps.row;
  block.out_steps[turned ? 0 : 1] = out_steps.element;
  block.in = in;
  block.out = out;
  block.width_bytes = width_bytes;
  const bool is_transposed = block.in_steps[0] == width_bytes && block.out_steps[1] == width_bytes;
  (is_transposed ? permuting.transpose : permuting.move)[width](block);
}

// Calls move(offset of the first element, step, elements before, count) for the runs of a part.
template <class Move>
void for_each_run(const RowElements& elements, const RowPart& part, const Move& move) noexcept {
  const std::int64_t extent = elements.nest.inner_extent();
  const std::int64_t step = elements.nest.inner_step(elements.operand);
  std::int64_t place = part.first % extent;
  std::int64_t done = 0;
  elements.nest.for_each_strip(part.first / extent, (part.first + part.count + extent - 1) / extent,
                               [&](const std::int64_t* offsets) {
                                 const std::int64_t count =
                                     std::min(extent - place, part.count - done);
                                 move(offsets[elements.operand] + place * step, step, done, count);
                                 done += count;
                                 place = 0;
                               });
}

}  // namespace

void gather_rows(const RowElements& from, const Byte* in, const RowPart& part, Byte* out) noexcept {
  const std::int64_t width = from.width_bytes;
  for_each_run(from, part,
               [&](std::int64_t offset, std::int64_t step, std::int64_t before,
                   std::int64_t count) noexcept {
                 move_rows(part.rows, count, in + offset, {from.row_step, step},
                           out + before * width, {part.count * width, width}, width);
               });
}

void scatter_rows(const RowElements& to, const Byte* in, const RowPart& part, Byte* out) noexcept {
  const std::int64_t width = to.width_bytes;
  for_each_run(to, part,
               [&](std::int64_t offset, std::int64_t step, std::int64_t before,
                   std::int64_t count) noexcept {
                 move_rows(part.rows, count, in + before * width, {part.count * width, width},
                           out + offset, {to.row_step, step}, width);
               });
}

}  // namespace tenure
