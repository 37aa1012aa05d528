#include "dense/filters/channels_last_filters.hpp"

#include <algorithm>
#include <cstring>

#include "base/arithmetic.hpp"
#include "cpu/dispatch.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Packed rows of a block, which stay in the second cache with two panels of columns.
constexpr std::int64_t kRowBytes = std::int64_t{288} << 10;
// Sums of a task.
constexpr std::int64_t kSumBytes = std::int64_t{512} << 10;
constexpr std::int64_t kMostPlaces = 64;
// Tasks for each thread, where their number is no multiple of the threads.
constexpr std::int64_t kMostTasks = 4;

// A part of the rows of a block.
PixelBlocks::Block rows_of(PixelBlocks::Block block, std::int64_t parts,
                           std::int64_t part) noexcept {
  const std::int64_t first = slice_begin(block.rows, parts, part);
  block.rows = slice_begin(block.rows, parts, part + 1) - first;
  block.row += first;
  return block;
}

}  // namespace

ChannelsLastFilters::ChannelsLastFilters(const Context& context, const kernels::Gemm& gemm,
                                         const kernels::FactorPacking& packing,
                                         const WindowGeometry& geometry, const Element& one,
                                         std::int64_t width_bytes) noexcept
    : gemm_(gemm),
      packing_(packing),
      g_(geometry),
      one_(one),
      width_bytes_(width_bytes),
      threads_(context.thread_count()),
      blocks_(geometry, width_bytes),
      windows_(g_.a),
      is_inside_(has_no_padding(g_, kHeight) && has_no_padding(g_, kWidth)) {
  for (const unsigned axis : {kHeight, kWidth}) windows_.place[axis] *= g_.strides[axis];
  const std::int64_t panels = parts_of(g_.filters, gemm_.panel_rows);
  const std::int64_t panel_bytes =
      gemm_.panel_rows * std::max<std::int64_t>(blocks_.depth(), 1) * width_bytes_;
  row_parts_ = parts_of(panels, std::max<std::int64_t>(kRowBytes / panel_bytes, 1));
  share(threads_);
}

bool ChannelsLastFilters::takes(const kernels::Gemm& gemm, const WindowGeometry& g,
                                std::int64_t width_bytes) noexcept {
  if (g.a.channel != width_bytes) return false;
  return g.places() == 1 || (g.channels >= gemm.panel_columns && g.places() <= kMostPlaces);
}

// Each part of the rows packs all columns again, and each part of the columns all rows.
void ChannelsLastFilters::share(std::int64_t threads) noexcept {
  const std::int64_t row_panels = parts_of(g_.filters, gemm_.panel_rows);
  const std::int64_t column_panels = parts_of(g_.channels, gemm_.panel_columns);
  const std::int64_t panel_sums =
      part_rows() * gemm_.panel_columns * product_or_most(g_.places(), width_bytes_);
  column_parts_ = parts_of(column_panels, std::max<std::int64_t>(kSumBytes / panel_sums, 1));
  while (task_count() % threads != 0 && task_count() < kMostTasks * threads) {
    const bool has_rows = row_parts_ < row_panels;
    const bool has_columns = column_parts_ < column_panels;
    if (!has_rows && !has_columns) return;
    const bool is_high =
        g_.filters * column_parts_ > product_or_most(g_.channels, g_.places()) * row_parts_;
    ++(has_rows && (is_high || !has_columns) ? row_parts_ : column_parts_);
  }
}

std::int64_t ChannelsLastFilters::thread_count() const noexcept {
  std::int64_t work = product_or_most(g_.images, product_or_most(g_.out[kHeight], g_.out[kWidth]));
  work = product_or_most(work, product_or_most(g_.groups * g_.filters, g_.depth()));
  return work < kWorthSharingWork ? 1 : std::min(threads_, task_count());
}

ChannelsLastFilters::Task ChannelsLastFilters::task_at(std::int64_t index, const Byte* a,
                                                       const Byte* g, Byte* out) const noexcept {
  const std::int64_t group = index / (row_parts_ * column_parts_);
  const std::int64_t first_row = index / column_parts_ % row_parts_ * part_rows();
  const std::int64_t first_column = index % column_parts_ * part_columns();
  return {a + (group * g_.channels + first_column) * g_.a.channel,
          g + (group * g_.filters + first_row) * g_.result.channel,
          out + group * g_.weight_group + first_row * g_.weight.image +
              first_column * g_.weight.channel,
          std::min(part_rows(), g_.filters - first_row),
          std::min(part_columns(), g_.channels - first_column)};
}

void ChannelsLastFilters::run(const Context& context, const ThreadBuffers& buffers, const Byte* a,
                              const Byte* g, Byte* out, FilterProduct::Sums sums) const noexcept {
  Tickets tickets(task_count());
  for_each_slice(
      context, thread_count(),
      [&](std::int64_t thread) noexcept {
        for (std::int64_t i = tickets.take(); i >= 0; i = tickets.take()) {
          // Parts are alike, and the last ones may be empty.
          const Task task = task_at(i, a, g, out);
          if (task.rows > 0 && task.columns > 0) run_task(task, buffers.of(thread), sums);
        }
      },
      Wake::kAtOnce);
}

void ChannelsLastFilters::run_task(const Task& task, Byte* memory,
                                   FilterProduct::Sums sums) const noexcept {
  Byte* const packed_rows = memory;
  Byte* const packed_columns = packed_rows + rows_bytes();
  Byte* const all = packed_columns + 2 * panel_bytes();
  const std::int64_t panel = gemm_.panel_columns;
  const std::int64_t places = g_.places();
  const std::int64_t count = parts_of(task.columns, panel) * places;
  const auto columns_at = [&](std::int64_t index) -> Columns {
    const std::int64_t first = index / places * panel;
    const std::int64_t place = index % places;
    return {first, std::min(panel, task.columns - first),
            place / g_.kernel[kWidth] * g_.dilations[kHeight] - g_.padding[kHeight],
            place % g_.kernel[kWidth] * g_.dilations[kWidth] - g_.padding[kWidth]};
  };
  const bool is_new = sums == FilterProduct::Sums::kNew;
  if (!is_new) move_sums(task, all, false);
  if (blocks_.count() == 0 && is_new) {
    std::memset(all, 0, static_cast<std::size_t>(count * task.rows * panel * width_bytes_));
  }
  for (std::int64_t index = 0; index < blocks_.count(); ++index) {
    const PixelBlocks::Block block = blocks_.at(index);
    pack_rows(task, block, packed_rows);
    kernels::DenseProduct product = {};
    product.a = packed_rows;
    product.depth = block.depth();
    product.a_panel_step = product.depth * gemm_.panel_rows * width_bytes_;
    product.b_panel_step = product.depth * panel * width_bytes_;
    product.rows = task.rows;
    product.row_step = panel * width_bytes_;
    product.column_step = width_bytes_;
    product.alpha = one_.bytes;
    product.beta = index == 0 && is_new ? nullptr : one_.bytes;
    pack_columns(task, block, columns_at(0), packed_columns);
    for (std::int64_t i = 0; i < count; ++i) {
      product.b = packed_columns + i % 2 * panel_bytes();
      product.columns = columns_at(i).count;
      product.out = all + i * task.rows * panel * width_bytes_;
      if (i + 1 < count) {
        multiply(task, block, product, columns_at(i + 1),
                 packed_columns + (i + 1) % 2 * panel_bytes());
        continue;
      }
      if (index + 1 < blocks_.count() && g_.result.channel == width_bytes_) {
        blocks_.for_each_run(blocks_.at(index + 1), g_.result,
                             [&](std::int64_t offset, std::int64_t depth) noexcept {
                               product.next = {task.g + offset, task.rows * width_bytes_,
                                               g_.result.place[kWidth], depth};
                             });
      }
      gemm_.multiply(product);
    }
  }
  move_sums(task, all, true);
}

void ChannelsLastFilters::multiply(const Task& task, const PixelBlocks::Block& block,
                                   const kernels::DenseProduct& product, const Columns& next,
                                   Byte* packed) const noexcept {
  const std::int64_t panels = parts_of(task.rows, gemm_.panel_rows);
  const std::int64_t calls = std::min(panels, block.rows);
  const auto pack = [&](std::int64_t call) noexcept {
    pack_columns(task, rows_of(block, calls, call), next,
                 packed + slice_begin(block.rows, calls, call) * block.columns *
                              gemm_.panel_columns * width_bytes_);
  };
  for (std::int64_t call = 0; call < calls; ++call) {
    const std::int64_t panel = slice_begin(panels, calls, call);
    const std::int64_t first = panel * gemm_.panel_rows;
    const std::int64_t end = slice_begin(panels, calls, call + 1) * gemm_.panel_rows;
    kernels::DenseProduct part = product;
    part.a += panel * product.a_panel_step;
    part.out += first * product.row_step;
    part.rows = std::min(task.rows, end) - first;
    part.next = lines_of(task, rows_of(block, calls, call), next);
    gemm_.multiply(part);
    // Lines come from memory in about the time of a product.
    if (call > 0) pack(call - 1);
  }
  pack(calls - 1);
}

void ChannelsLastFilters::pack_rows(const Task& task, const PixelBlocks::Block& block,
                                    Byte* packed) const noexcept {
  const ImageSteps& steps = g_.result;
  for (std::int64_t first = 0; first < task.rows; first += gemm_.panel_rows) {
    bool is_done = false;
    blocks_.for_each_run(block, steps, [&](std::int64_t offset, std::int64_t depth) noexcept {
      // Panels of a single run follow each other.
      is_done = depth == block.depth();
      const std::int64_t rows = task.rows - first;
      packing_.rows({task.g + first * steps.channel + offset, steps.channel, steps.place[kWidth],
                     is_done ? rows : std::min(gemm_.panel_rows, rows), depth},
                    packed);
      packed += depth * gemm_.panel_rows * width_bytes_;
    });
    if (is_done) return;
  }
}

void ChannelsLastFilters::pack_columns(const Task& task, const PixelBlocks::Block& block,
                                       const Columns& columns, Byte* packed) const noexcept {
  const Byte* const from = task.a + columns.first * width_bytes_;
  const std::int64_t pixel_bytes = gemm_.panel_columns * width_bytes_;
  const std::int64_t place =
      columns.down * g_.a.place[kHeight] + columns.right * g_.a.place[kWidth];
  const auto pack = [&](std::int64_t offset, std::int64_t depth) noexcept {
    packing_.columns(
        {from + (place + offset), width_bytes_, windows_.place[kWidth], columns.count, depth},
        packed);
    packed += depth * pixel_bytes;
  };
  const auto clear = [&](std::int64_t depth) noexcept {
    std::memset(packed, 0, static_cast<std::size_t>(depth * pixel_bytes));
    packed += depth * pixel_bytes;
  };
  if (is_inside_) return blocks_.for_each_run(block, windows_, pack);
  // Windows of a row whose element is in the image.
  const std::int64_t stride = g_.strides[kWidth];
  const std::int64_t x = block.column * stride + columns.right;
  const std::int64_t first =
      x < 0 ? std::min(block.columns, (-x - 1) / stride + 1) : std::int64_t{0};
  const std::int64_t end =
      x >= g_.in[kWidth]
          ? first
          : std::max(first, std::min(block.columns, (g_.in[kWidth] - 1 - x) / stride + 1));
  blocks_.for_each_image(
      block, [&](std::int64_t image, std::int64_t y, std::int64_t, std::int64_t rows) noexcept {
        for (std::int64_t i = 0; i < rows; ++i) {
          const std::int64_t at = (y + i) * g_.strides[kHeight] + columns.down;
          if (at < 0 || at >= g_.in[kHeight] || first == end) {
            clear(block.columns);
            continue;
          }
          clear(first);
          pack(image * g_.a.image + (y + i) * windows_.place[kHeight] +
                   (block.column + first) * windows_.place[kWidth],
               end - first);
          clear(block.columns - end);
        }
      });
}

// All lines where the rows of windows follow each other, else those of the first row.
kernels::Runs ChannelsLastFilters::lines_of(const Task& task, const PixelBlocks::Block& pixels,
                                            const Columns& columns) const noexcept {
  const std::int64_t step = windows_.place[kWidth];
  const std::int64_t row_step = windows_.place[kHeight];
  const std::int64_t offset =
      columns.first * width_bytes_ + pixels.row / g_.out[kHeight] * g_.a.image +
      pixels.row % g_.out[kHeight] * row_step + pixels.column * step +
      columns.down * g_.a.place[kHeight] + columns.right * g_.a.place[kWidth];
  // An integer, because an address in the padding is no result of pointer arithmetic. From the
  // beginning of a line on: a panel may be parts of two.
  const auto at = reinterpret_cast<std::uintptr_t>(task.a) + static_cast<std::uintptr_t>(offset);
  const std::uintptr_t in_line = at % std::uintptr_t{kLineBytes};
  return {reinterpret_cast<const Byte*>(at - in_line),
          static_cast<std::int64_t>(in_line) + columns.count * width_bytes_, step,
          row_step == pixels.columns * step ? pixels.depth() : pixels.columns};
}

void ChannelsLastFilters::move_sums(const Task& task, Byte* sums, bool is_out) const noexcept {
  const std::int64_t panel = gemm_.panel_columns;
  const std::int64_t places = g_.places();
  const kernels::Permuting& permuting = kernels::permuting_kernels();
  const std::int64_t place_step =
      g_.kernel[kWidth] > 1 ? g_.weight.place[kWidth] : g_.weight.place[kHeight];
  for (std::int64_t first = 0; first < task.columns; first += panel) {
    const std::int64_t columns = std::min(panel, task.columns - first);
    // From the outer to the inner axis: those of the kernel's transposition, where the places or
    // the rows are adjacent, or adjacent columns as one element.
    const bool joins = g_.weight.channel == width_bytes_;
    const bool has_places = places > 1;
    kernels::Block block = {};
    block.rank = 3;
    block.width_bytes = joins ? columns * width_bytes_ : width_bytes_;
    const std::int64_t row_bytes = panel * width_bytes_;
    const std::int64_t place_bytes = task.rows * row_bytes;
    const std::int64_t extents[] = {has_places ? task.rows : places, joins ? 1 : columns,
                                    has_places ? places : task.rows};
    const std::int64_t of_sums[] = {has_places ? row_bytes : place_bytes, width_bytes_,
                                    has_places ? place_bytes : row_bytes};
    const std::int64_t of_out[] = {has_places ? g_.weight.image : place_step, g_.weight.channel,
                                   has_places ? place_step : g_.weight.image};
    std::copy_n(extents, 3, block.extents);
    std::copy_n(is_out ? of_sums : of_out, 3, block.in_steps);
    std::copy_n(is_out ? of_out : of_sums, 3, block.out_steps);
    Byte* const memory = sums + first * places * task.rows * width_bytes_;
    Byte* const result = task.out + first * g_.weight.channel;
    block.in = is_out ? memory : result;
    block.out = is_out ? result : memory;
    const bool transposes = is_out && !joins && block.out_steps[2] == width_bytes_;
    const unsigned width = index_of_width(block.width_bytes);
    (transposes ? permuting.transpose : permuting.move)[width](block);
  }
}

}  // namespace tenure
