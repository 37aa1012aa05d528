#include "dense/elementwise_call.hpp"

#include <algorithm>
#include <atomic>
#include <cinttypes>

#include "dense/loops/nest.hpp"
#include "dense/loops/streamed.hpp"
#include "dense/loops/tile_panels.hpp"
#include "dense/loops/tiles.hpp"
#include "memory/fresh_pages.hpp"
#include "tenure/dtype.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Finding;
using kernels::Strip;

// A shorter strip is mostly the lines at its ends, which are stored as ever.
constexpr std::int64_t kLongStripBytes = 1024;

// Bytes of the output from which on tiles are worth it: with a smaller output, the lines of
// operands stay in the caches from strip to strip.
constexpr std::int64_t kWorthTilingBytes = std::int64_t{64} << 10;

// At the end of a slice streamed stores are waited for: such slices are four times as long.
// Measured for an addition of f32: slices of 256 KiB reach 0.88 of what whole strips do, those
// 0.98.
constexpr std::int64_t kSlicesInAStreamedOne = 4;
constexpr int kStreamedGrainBits = 6;  // elements, so that their bytes are whole lines

bool is_streamable(std::int64_t width_bytes) {
  return width_bytes <= 16 && (width_bytes & (width_bytes - 1)) == 0;
}

Finding run_part(StripRunner& runner, const Strip& strip, Stores stores) noexcept {
  return stores == Stores::kStreamed ? run_streamed(runner, strip) : runner.run(strip);
}

// Runs a row of a tile, without the rest of the line that the tile before it completes, and with
// the rest of the line that the row ends in: a line that two tiles write parts of is read from
// memory.
Finding run_whole_lines(StripRunner& runner, const Strip& row, const Tiles::Tile& tile) noexcept {
  const auto rest_of_line = [&](std::int64_t column) {
    const Byte* const at = row.out + column * row.out_step;
    return static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(at) % kLineBytes) /
           row.out_step;
  };
  const std::int64_t first = tile.columns_before == 0 ? 0 : rest_of_line(0);
  const std::int64_t end = tile.columns + std::min(rest_of_line(tile.columns), tile.columns_after);
  if (first >= end) return kernels::kNothing;
  MovingStrip strip(row);
  strip.skip(first);
  strip->count = end - first;
  return run_streamed(runner, *strip);
}

// Lines that the next tile reads of an input that lies along it.
void fetch_lines(const Byte* first, std::int64_t bytes) noexcept {
  const std::int64_t end = whole_lines(bytes) + kLineBytes;  // the first may begin within a line
  for (std::int64_t at = 0; at < end; at += kLineBytes) __builtin_prefetch(first + at, 0, 2);
}

}  // namespace

std::int64_t ElementwiseCall::moved_bytes() const noexcept {
  std::uint64_t bytes = element_size(out_.dtype);
  for (unsigned i = 0; i < flat_.source_count; ++i) {
    if (views_[i] != nullptr) bytes += element_size(views_[i]->dtype);
  }
  for (std::uint32_t axis = 0; axis < out_.rank; ++axis) {
    bytes *= static_cast<std::uint64_t>(out_.shape[axis]);
  }
  return static_cast<std::int64_t>(bytes);
}

void ElementwiseCall::touch_output(const Context& context) const noexcept {
  touch_fresh_pages(context, flat_.out, static_cast<std::int64_t>(out_bytes_));
}

Finding ElementwiseCall::run_flat(const Context& context,
                                  const Operation& operation) const noexcept {
  touch_output(context);
  return run_slices(context, operation, flat_);
}

Finding ElementwiseCall::run_slices(const Context& context, const Operation& operation,
                                    const Strip& whole) const noexcept {
  const Stores stores = stores_of(whole, kLongStripBytes);
  const std::int64_t slice_count = slice_count_of(context, sliced_bytes(stores));
  // Where the output begins with a line, so does each slice of it that is streamed.
  const int grain_bits = stores == Stores::kStreamed ? kStreamedGrainBits : 0;
  const std::int64_t grains = ((whole.count - 1) >> grain_bits) + 1;
  std::atomic<std::uint32_t> finding = kernels::kNothing;
  for_each_slice(context, slice_count, [&](std::int64_t slice) noexcept {
    const std::int64_t first = slice_begin(grains, slice_count, slice) << grain_bits;
    const std::int64_t last = slice_begin(grains, slice_count, slice + 1) << grain_bits;
    MovingStrip strip(whole);
    strip.skip(first);
    strip->count = std::min(last, whole.count) - first;
    StripRunner runner(operation, *strip);
    finding.fetch_or(run_part(runner, *strip, stores), std::memory_order_relaxed);
    if (stores == Stores::kStreamed) order_streamed_stores();
  });
  return static_cast<Finding>(finding.load(std::memory_order_relaxed));
}

Nest ElementwiseCall::nest() const noexcept {
  Nest nest(1 + flat_.source_count);
  add_axes_to(nest);
  return nest;
}

Movement ElementwiseCall::movement() const noexcept {
  return {nest(), flat_.out, sources_[0].data, flat_.width_bytes, moved_bytes()};
}

Finding ElementwiseCall::run_nested(const Context& context,
                                    const Operation& operation) const noexcept {
  if (is_empty(out_)) return kernels::kNothing;
  touch_output(context);
  Nest nest = this->nest();
  nest.arrange(0);
  const bool worth_tiling = nest.count() * flat_.width_bytes >= kWorthTilingBytes;
  const bool paired = worth_tiling && PanelPlan::arrange(nest, flat_);

  MovingStrip whole(flat_);
  whole->count = nest.inner_extent();
  whole->out_step = nest.inner_step(0);
  for (unsigned i = 0; i < flat_.source_count; ++i) whole.source(i).step = nest.inner_step(1 + i);
  const std::int64_t strip_count = nest.strip_count();
  if (strip_count == 1) {
    nest.for_each_strip([&](const std::int64_t* offsets) { move_to(whole, offsets); });
    return run_slices(context, operation, *whole);
  }
  if (paired || (worth_tiling && Tiles::are_worth_it(nest, 1 + flat_.source_count))) {
    return run_tiles(context, operation, nest, *whole);
  }
  const Stores stores = stores_of(*whole, kLongStripBytes);
  const std::int64_t row_bytes = whole->count * whole->width_bytes;
  // Rows that both sides keep. Other operations that move elements change complex numbers.
  const bool copies_rows =
      stores == Stores::kStreamed && row_bytes >= LineStage::kBytes && operation.moves() &&
      operation.kernel() == kernels::copy_kernels()[index_of_width(whole->width_bytes)] &&
      whole->in[0].step == whole->width_bytes && whole->in[0].width_bytes == whole->width_bytes;
  const std::int64_t slice_count =
      std::min(strip_count, slice_count_of(context, sliced_bytes(stores)));
  std::atomic<std::uint32_t> finding = kernels::kNothing;
  for_each_slice(context, slice_count, [&](std::int64_t slice) noexcept {
    const std::int64_t first = slice_begin(strip_count, slice_count, slice);
    const std::int64_t last = slice_begin(strip_count, slice_count, slice + 1);
    unsigned found = kernels::kNothing;
    MovingStrip strip(*whole);
    StripRunner runner(operation, *strip);
    if (copies_rows) {
      RowStage stage(row_bytes);
      nest.for_each_strip(first, last, [&](const std::int64_t* offsets) {
        stage.append(flat_.out + offsets[0], sources_[0].data + offsets[1]);
      });
      stage.flush();
    } else if (runner.are_short(strip->count)) {
      nest.for_each_row_range(first, last, [&](const std::int64_t* offsets, std::int64_t rows) {
        move_to(strip, offsets);
        found |= runner.run_rows(*strip, rows, nest.steps(nest.rank() - 2));
      });
    } else {
      nest.for_each_strip(first, last, [&](const std::int64_t* offsets) {
        move_to(strip, offsets);
        found |= run_part(runner, *strip, stores);
      });
    }
    if (stores == Stores::kStreamed) order_streamed_stores();
    finding.fetch_or(found, std::memory_order_relaxed);
  });
  return static_cast<Finding>(finding.load(std::memory_order_relaxed));
}

Finding ElementwiseCall::run_tiles(const Context& context, const Operation& operation,
                                   const Nest& nest, const Strip& whole) const noexcept {
  // Where every row begins with a line, no line is shared by two of them, however short they are.
  bool aligned = reinterpret_cast<std::uintptr_t>(whole.out + nest.start(0)) % kLineBytes == 0;
  for (unsigned i = 0; i + 1 < nest.rank(); ++i) aligned &= nest.step(i, 0) % kLineBytes == 0;
  const PanelPlan plan(nest, whole, aligned);
  const Tiles tiles(nest, 1 + flat_.source_count, plan.rows(), plan.columns());
  const std::int64_t* const row_steps = nest.steps(nest.rank() - 2);
  // Sources that are transposed have the steps of their panels.
  MovingStrip strip_of_tile(whole);
  strip_of_tile->count = plan.strip_count(plan.rows(), plan.columns());
  for (unsigned i = 0; i < flat_.source_count; ++i) {
    if (plan.takes(i)) strip_of_tile.source(i).step = whole.in[i].width_bytes;
  }
  const Stores stores = stores_of(*strip_of_tile, aligned ? kLineBytes : kLongStripBytes);
  const std::int64_t more = stores == Stores::kStreamed ? plan.more() : 0;
  const std::int64_t tile_count = tiles.count();
  const std::int64_t slice_count =
      std::min(tile_count, slice_count_of(context, sliced_bytes(stores)));
  std::atomic<std::uint32_t> finding = kernels::kNothing;
  for_each_slice(context, slice_count, [&](std::int64_t slice) noexcept {
    unsigned found = kernels::kNothing;
    TilePanels panels(plan, whole);
    StripRunner runner(operation, *strip_of_tile);
    const auto run_tile = [&](const Tiles::Tile& tile) {
      MovingStrip strip(*strip_of_tile);
      strip->count = plan.strip_count(tile.rows, tile.columns);
      const std::int64_t strips = plan.are_joined() ? 1 : tile.rows;
      const std::int64_t columns = tile.columns + std::min(more, tile.columns_after);
      move_to(strip, tile.offsets);
      std::int64_t steps[Nest::kMaxOperands] = {row_steps[0]};
      for (unsigned i = 0; i < flat_.source_count; ++i) {
        steps[1 + i] = row_steps[1 + i];
        if (!plan.takes(i)) continue;
        kernels::StripInput& source = strip.source(i);
        source.data = panels.fill(i, {source.data, whole.in[i].step, source.width_bytes},
                                  sources_[i].data + tile.next[1 + i], tile.rows, columns);
        steps[1 + i] = plan.pitch(columns, source.width_bytes);
      }
      if (stores == Stores::kCached && runner.are_short(strip->count)) {
        found |= runner.run_rows(*strip, strips, steps);
        return;
      }
      for (std::int64_t row = 0; row < strips; ++row) {
        if (more == 0) {
          found |= run_part(runner, *strip, stores);
        } else {
          found |= run_whole_lines(runner, *strip, tile);
        }
        strip->out += steps[0];
        for (unsigned i = 0; i < flat_.source_count; ++i) {
          strip.source(i).data += steps[1 + i];
          if (plan.takes(i) || strip.source(i).step != strip.source(i).width_bytes) continue;
          fetch_lines(sources_[i].data + tile.next[1 + i] + row * steps[1 + i],
                      strip->count * strip.source(i).width_bytes);
        }
      }
    };
    tiles.for_each_tile(slice_begin(tile_count, slice_count, slice),
                        slice_begin(tile_count, slice_count, slice + 1), run_tile);
    if (stores == Stores::kStreamed) order_streamed_stores();
    finding.fetch_or(found, std::memory_order_relaxed);
  });
  return static_cast<Finding>(finding.load(std::memory_order_relaxed));
}

std::int64_t ElementwiseCall::sliced_bytes(Stores stores) const noexcept {
  return stores == Stores::kStreamed ? moved_bytes() / kSlicesInAStreamedOne : moved_bytes();
}

Stores ElementwiseCall::stores_of(const Strip& strip, std::int64_t least_bytes) const noexcept {
  if (strip.out_step != strip.width_bytes || strip.count * strip.width_bytes < least_bytes ||
      !is_streamable(strip.width_bytes)) {
    return Stores::kCached;
  }
  bool reads = false;
  for (unsigned i = 0; i < flat_.source_count; ++i) {
    if (is_in_place(i)) return Stores::kCached;
    reads |= strip.in[i].step != 0;
  }
  return reads ? stores_for(call_bytes()) : Stores::kCached;
}

void ElementwiseCall::move_to(MovingStrip& strip, const std::int64_t* offsets) const noexcept {
  // Not a loop, which would be vectorised: a load of two offsets that were just stored one by one
  // waits for both stores, on every strip.
  const unsigned count = flat_.source_count;
  strip->out = flat_.out + offsets[0];
  if (count > 0) strip.source(0).data = sources_[0].data + offsets[1];
  if (count > 1) strip.source(1).data = sources_[1].data + offsets[2];
  if (count > 2) strip.source(2).data = sources_[2].data + offsets[3];
  if (count > 3) strip.source(3).data = sources_[3].data + offsets[4];
}

}  // namespace tenure
