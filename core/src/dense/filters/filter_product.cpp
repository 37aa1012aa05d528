#include "dense/filters/filter_product.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/arithmetic.hpp"
#include "cpu/dispatch.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Bytes of a copy of channels, which the second cache holds with them.
constexpr std::int64_t kCopyBytes = std::int64_t{128} << 10;
// Panels of gradients that a thread packs at a time: lines of adjacent filters are read together.
constexpr std::int64_t kPackedPanels = 2;

}  // namespace

FilterProduct::FilterProduct(const kernels::Gemm& gemm, const kernels::FactorPacking& packing,
                             const WindowGeometry& geometry, const Element& one,
                             std::int64_t width_bytes) noexcept
    : gemm_(gemm),
      packing_(packing),
      g_(geometry),
      one_(one),
      width_bytes_(width_bytes),
      rows_(g_.depth()),
      row_step_(g_.kernel[kWidth] > 1    ? g_.weight.place[kWidth]
                : g_.kernel[kHeight] > 1 ? g_.weight.place[kHeight]
                                         : g_.weight.channel),
      filters_(std::min(g_.filters, PixelBlocks::kMostFilters)),
      blocks_(geometry, width_bytes) {
  if (blocks_.count() == 0) return;
  const std::int64_t image_rows = g_.out[kHeight];
  const std::int64_t block_rows = blocks_.rows();
  blocks_together_ = std::clamp<std::int64_t>(PixelBlocks::kPackedBytes / packed_block_bytes(), 1,
                                              blocks_.count());

  down_ = lines_along(kHeight, std::min(image_rows, block_rows));
  along_ = lines_along(kWidth, blocks_.columns());
  const std::int64_t segments = std::min(block_rows, block_rows / image_rows + 2);
  most_lines_ =
      down_.is_apart
          ? g_.kernel[kHeight] * block_rows
          : std::max(rows_of_lines(block_rows),
                     (block_rows - segments) * g_.strides[kHeight] + segments * rows_of_lines(1));
  const bool is_inside = has_no_padding(g_, kHeight) && has_no_padding(g_, kWidth);
  reads_in_place_ = is_inside && g_.a.place[kWidth] == width_bytes_ && g_.strides[kWidth] == 1;
  joins_rows_ = reads_in_place_ && g_.places() == 1 && g_.strides[kHeight] == 1 &&
                blocks_.columns() == g_.out[kWidth] &&
                g_.a.place[kHeight] == g_.out[kWidth] * width_bytes_;
}

std::int64_t FilterProduct::thread_count(const Context& context) const noexcept {
  std::int64_t work = product_or_most(g_.images, product_or_most(g_.out[kHeight], g_.out[kWidth]));
  work = product_or_most(work, product_or_most(g_.groups * g_.filters, rows_));
  return work < kWorthSharingWork ? 1 : context.thread_count();
}

std::int64_t FilterProduct::packed_block_bytes() const noexcept {
  return parts_of(filters_, gemm_.panel_columns) * gemm_.panel_columns * blocks_.depth() *
         width_bytes_;
}

// Panels of places whose channels are copied at a time. Where that is possible, they end where a
// channel does, so that no channel is copied twice.
std::int64_t FilterProduct::task_panels() const noexcept {
  const std::int64_t channel_bytes =
      std::max<std::int64_t>(most_lines_ * along_.count * along_.length * width_bytes_, 1);
  const std::int64_t places = std::max<std::int64_t>(kCopyBytes / channel_bytes, 1) * g_.places();
  const std::int64_t panels = std::max<std::int64_t>(places / gemm_.panel_rows, 1);
  const std::int64_t whole = g_.places() / std::gcd(g_.places(), gemm_.panel_rows);
  return std::min(panels >= whole ? panels / whole * whole : panels, panel_count());
}

std::int64_t FilterProduct::copy_bytes() const noexcept {
  if (reads_in_place_) return 0;
  const std::int64_t channels =
      std::min(g_.channels, (task_panels() * gemm_.panel_rows + g_.places() - 2) / g_.places() + 1);
  return whole_lines(
      product_or_most(product_or_most(channels, most_lines_),
                      product_or_most(product_or_most(along_.count, along_.length), width_bytes_)));
}

std::int64_t FilterProduct::thread_bytes(const Context& context) const noexcept {
  return (shares_groups(context) ? packed_bytes() : 0) + copy_bytes() + address_bytes() +
         along_.length * width_bytes_;
}

std::int64_t FilterProduct::shared_bytes(const Context& context) const noexcept {
  if (shares_groups(context)) return 0;
  return thread_count(context) == 1 ? packed_bytes() : 2 * packed_bytes();
}

void FilterProduct::run(const Context& context, const ThreadBuffers& buffers, Byte* shared,
                        const Byte* a, const Byte* g, Byte* out, Sums sums) const noexcept {
  const std::int64_t chunks = parts_of(g_.filters, filters_);
  const auto filters_at = [&](std::int64_t index) -> Filters {
    const std::int64_t group = index / chunks;
    const std::int64_t first = index % chunks * filters_;
    return {a + group * g_.channels * g_.a.channel,
            g + (group * g_.filters + first) * g_.result.channel,
            out + group * g_.weight_group + first * g_.weight.image,
            std::min(filters_, g_.filters - first), sums};
  };
  const std::int64_t count = g_.groups * chunks;
  if (!shares_groups(context)) {
    for (std::int64_t i = 0; i < count; ++i) run_shared(context, buffers, shared, filters_at(i));
    return;
  }
  Tickets tickets(count);
  for_each_slice(
      context, std::min(thread_count(context), count),
      [&](std::int64_t thread) noexcept {
        Byte* const packed = buffers.of(thread);
        for (std::int64_t i = tickets.take(); i >= 0; i = tickets.take()) {
          run_alone(filters_at(i), packed, packed + packed_bytes());
        }
      },
      Wake::kAtOnce);
}

void FilterProduct::run_alone(const Filters& filters, Byte* packed, Byte* memory) const noexcept {
  if (blocks_.count() == 0) return clear(filters);
  const std::int64_t columns = parts_of(filters.count, gemm_.panel_columns);
  for (std::int64_t block = 0; block < blocks_.count(); ++block) {
    pack_panels(filters, blocks_.at(block), 0, columns, packed);
    const std::int64_t step = task_panels();
    for (std::int64_t panel = 0; panel < panel_count(); panel += step) {
      multiply(filters, block, panel, std::min(step, panel_count() - panel), packed, memory);
    }
  }
}

// The gradients of the next blocks are packed after the products of these, by threads that would
// wait for the others.
void FilterProduct::run_shared(const Context& context, const ThreadBuffers& buffers, Byte* packed,
                               const Filters& filters) const noexcept {
  const std::int64_t threads = thread_count(context);
  if (threads == 1 || blocks_.count() == 0) return run_alone(filters, packed, buffers.of(0));
  const std::int64_t columns = parts_of(filters.count, gemm_.panel_columns);
  const std::int64_t packs_of_block = parts_of(columns, kPackedPanels);
  const std::int64_t step = std::min(task_panels(), parts_of(panel_count(), 2 * threads));
  const std::int64_t tasks = parts_of(panel_count(), step);
  Byte* now = packed;
  Byte* next = packed + packed_bytes();
  for (std::int64_t block = -blocks_together_; block < blocks_.count(); block += blocks_together_) {
    const std::int64_t end = std::min(block + blocks_together_, blocks_.count());
    const std::int64_t products = block < 0 ? 0 : tasks;
    const std::int64_t packs =
        (std::min(end + blocks_together_, blocks_.count()) - end) * packs_of_block;
    Tickets tickets(products + packs);
    for_each_slice(
        context, std::min(threads, products + packs),
        [&](std::int64_t thread) noexcept {
          for (std::int64_t i = tickets.take(); i >= 0; i = tickets.take()) {
            if (i < products) {
              for (std::int64_t of = block; of < end; ++of) {
                multiply(filters, of, i * step, std::min(step, panel_count() - i * step),
                         now + (of - block) * packed_block_bytes(), buffers.of(thread));
              }
            } else {
              const std::int64_t of = (i - products) / packs_of_block;
              const std::int64_t first = (i - products) % packs_of_block * kPackedPanels;
              pack_panels(filters, blocks_.at(end + of), first,
                          std::min(kPackedPanels, columns - first),
                          next + of * packed_block_bytes());
            }
          }
        },
        Wake::kAtOnce);
    std::swap(now, next);
  }
}

void FilterProduct::clear(const Filters& filters) const noexcept {
  if (filters.sums == Sums::kContinued) return;
  for (std::int64_t filter = 0; filter < filters.count; ++filter) {
    for (std::int64_t row = 0; row < rows_; ++row) {
      std::memset(filters.out + filter * g_.weight.image + row * row_step_, 0,
                  static_cast<std::size_t>(width_bytes_));
    }
  }
}

void FilterProduct::pack_panels(const Filters& filters, const Block& block, std::int64_t first,
                                std::int64_t panels, Byte* packed) const noexcept {
  const std::int64_t columns = gemm_.panel_columns;
  const ImageSteps& steps = g_.result;
  for (std::int64_t panel = first; panel < first + panels; ++panel) {
    Byte* to = packed + panel * block.depth() * columns * width_bytes_;
    bool is_done = false;
    blocks_.for_each_run(block, steps, [&](std::int64_t offset, std::int64_t depth) noexcept {
      // Panels of a single run follow each other.
      is_done = depth == block.depth();
      const std::int64_t end = is_done ? (first + panels) * columns : (panel + 1) * columns;
      packing_.columns({filters.g + panel * columns * steps.channel + offset, steps.channel,
                        steps.place[kWidth], std::min(end, filters.count) - panel * columns, depth},
                       to);
      to += depth * columns * width_bytes_;
    });
    if (is_done) return;
  }
}

void FilterProduct::multiply(const Filters& filters, std::int64_t block_index,
                             std::int64_t first_panel, std::int64_t panels, const Byte* packed,
                             Byte* memory) const noexcept {
  const Block block = blocks_.at(block_index);
  const std::int64_t panel_rows = gemm_.panel_rows;
  const std::int64_t first_row = first_panel * panel_rows;
  const std::int64_t end = std::min(rows_, first_row + panels * panel_rows);
  const std::int64_t channel = first_row / g_.places();
  const Byte* const a = filters.a + channel * g_.a.channel;
  kernels::DenseProduct product = {};
  product.b = packed;
  product.depth = block.depth();
  product.b_panel_step = product.depth * gemm_.panel_columns * width_bytes_;
  product.row_step = row_step_;
  product.column_step = g_.weight.image;
  product.columns = filters.count;
  product.alpha = one_.bytes;
  product.beta = block_index == 0 && filters.sums == Sums::kNew ? nullptr : one_.bytes;
  std::int64_t line_bytes = g_.a.place[kHeight];
  std::int64_t channel_bytes = g_.a.channel;
  std::int64_t segments = 0;
  std::int64_t lines = 0;
  for_each_segment(block, [&](const Segment& segment) noexcept {
    ++segments;
    lines = segment.line + (down_.is_apart ? segment.rows : rows_of_lines(segment.rows));
  });
  if (!reads_in_place_) {
    copy(a, block, (end - 1) / g_.places() + 1 - channel, memory,
         memory + copy_bytes() + address_bytes());
    line_bytes = along_.count * along_.length * width_bytes_;
    channel_bytes = (down_.is_apart ? g_.kernel[kHeight] * block.rows : lines) * line_bytes;
  }
  auto** const rows = reinterpret_cast<const Byte**>(memory + copy_bytes());
  // From a place of the kernel to the one below it.
  const std::int64_t down = down_.is_apart && !reads_in_place_ ? block.rows : g_.dilations[kHeight];
  const std::int64_t row_of_windows = down_.is_apart && !reads_in_place_ ? 1 : g_.strides[kHeight];

  product.a_rows = rows;
  const bool is_joined = joins_rows_ && segments == 1;
  product.part_depth = is_joined ? product.depth : block.columns;
  for (std::int64_t row = first_row; row < end; row += panel_rows) {
    std::int64_t offsets[kMostPanelRows];
    for (std::int64_t lane = 0; lane < panel_rows; ++lane) {
      const std::int64_t at = std::min(row + lane, end - 1);
      const std::int64_t place = at % g_.places();
      const std::int64_t i = place / g_.kernel[kWidth];
      const std::int64_t j = place % g_.kernel[kWidth];
      std::int64_t element = j * along_.length;
      if (!along_.is_apart || reads_in_place_) {
        const std::int64_t right = j * g_.dilations[kWidth];
        const std::int64_t stride = g_.strides[kWidth];
        element = right % stride / along_.common * along_.length + right / stride;
      }
      offsets[lane] = (at / g_.places() - channel) * channel_bytes + i * down * line_bytes +
                      element * width_bytes_;
    }
    const Byte** next = rows;
    for_each_segment(block, [&](const Segment& segment) noexcept {
      const Byte* from = memory + segment.line * line_bytes;
      if (reads_in_place_) {
        from = a + segment.image * g_.a.image + segment.y * g_.strides[kHeight] * line_bytes +
               block.column * width_bytes_;
      }
      const std::int64_t parts = is_joined ? 1 : segment.rows;
      for (std::int64_t part = 0; part < parts; ++part, next += panel_rows) {
        for (std::int64_t lane = 0; lane < panel_rows; ++lane) next[lane] = from + offsets[lane];
        from += row_of_windows * line_bytes;
      }
    });
    product.rows = std::min(panel_rows, end - row);
    product.out = filters.out + row * row_step_;
    gemm_.multiply_scattered(product);
  }
}

}  // namespace tenure
