#include "dense/reduce/walk.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "dense/loops/nest.hpp"
#include "dense/reduce/cascade.hpp"
#include "dense/reduce/elements.hpp"
#include "dense/reduce/extremes.hpp"
#include "memory/traffic.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Extremes;
using kernels::Finish;
using kernels::Meet;
using kernels::Reduction;

// Where an element is added depends on the constants of this file, so a change of them changes the
// last places of sums.

// Rows of a tile of a panel of results, for sums that are added in a tree; the fewest for all
// others.
constexpr std::int64_t kTileRows = 64;
// Elements of a tile of a single result.
constexpr std::int64_t kTileElements = std::int64_t{32} << 10;
// Accumulators of one panel, on the stack of the thread that works at it.
constexpr std::int64_t kPanelBytes = std::int64_t{48} << 10;
// Accumulators of all blocks of all results, on the caller's stack.
constexpr std::int64_t kBlocksBytes = std::int64_t{16} << 10;
// Results are few where this many blocks of each have room there.
constexpr std::int64_t kFewestBlocks = 8;
// Panels are no wider, of input: sixteen rows of one, and those fetched ahead, have room in L2.
constexpr std::int64_t kWidestPanelBytes = std::int64_t{16} << 10;
// Panels are cut no narrower for the sake of more threads: runs of a page.
constexpr std::int64_t kNarrowestPanelBytes = 4096;
constexpr std::int64_t kPanelColumns = 64;  // what widths are multiples of: whole cache lines
// Results of as many elements as this are finished together, at most kMostTogether; of fewer where
// threads would not have several panels each.
constexpr std::int64_t kTogetherBytes = std::int64_t{512} << 10;
constexpr std::int64_t kFewestTogetherBytes = std::int64_t{32} << 10;
constexpr std::int64_t kPanelsPerThread = 8;
constexpr std::int64_t kMostTogether = ExtremeResults::kMost;
constexpr std::int64_t kMostFinishedBytes = 8;  // of one result

// Rows that are computed before they are reduced, on the stack: those that a tree adds together, or
// all of a tile.
constexpr std::int64_t kComputedRows = 16;
constexpr std::int64_t kComputedBytes = std::int64_t{64} << 10;

constexpr std::int64_t kNever = INT64_MIN;  // no element lies so far from the next

// Fewer rows are not worth a call of their own.
constexpr std::int64_t kWorthACall = 16;
// Fewer columns leave most of a register empty.
constexpr std::int64_t kWorthARegister = 8;

// Operands of the nest over the axes kept.
enum Kept : unsigned { kIn, kOut };
// Operands of the nest over the axes reduced; kIn is the first here too. Positions in the order
// that argmin and argmax report are walked like memory.
enum Reduced : unsigned { kIndex = 1 };

// Whether results are so few that the elements of each are cut into blocks.
bool has_blocks(const Reduction& reduction, std::int64_t results, std::int64_t count) noexcept {
  const std::int64_t room = kBlocksBytes / reduction.accumulator_bytes / results;
  return room >= kFewestBlocks && count >= kTileElements / results;
}

constexpr std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }

// Results are finished one after the other ("along") or together, as a panel. The input of one is
// cut into tiles, the same for each result: pieces of the strips of the reduced axes. All but
// `width` follows from shape and strides.
class Walk {
 public:
  Walk(const Reduction& reduction, const tnr_view& a, std::uint32_t axes, std::uint32_t ddof,
       const tnr_view_mut& out, double power, const ReducedElements& reduced = {}) noexcept
      : reduction_(&reduction),
        in_(static_cast<const Byte*>(a.data)),
        out_(writable(out)),
        in_bytes_(static_cast<std::int64_t>(element_size(a.dtype))),
        count_(reduced_count(a, axes)),
        fetch_(element_fetch(reduction, in_bytes_, power, reduced.source)),
        finisher_(reduction, static_cast<kernels::Type>(type_index(out.view.dtype)), count_, ddof,
                  power),
        extremes_(reduction, static_cast<kernels::Type>(type_index(out.view.dtype)), power) {
    add_axes(a, axes, out.view);
    runs_along_ = runs_along(reduced.results);
    cut(reduced.results);
    // Computed tiles need a panel of results, from adjacent elements of a row-major tensor.
    computed_rows_ = reduction_->spread != nullptr ? kComputedRows : kTileRows;
    computes_tiles_ = reduced.source != nullptr && !runs_along_ &&
                      reduction_->meet != Meet::kApart && reduction_->finish != Finish::kPower &&
                      kept_.inner_step(kIn) == in_bytes_;
    // Blocks are as wide as the accumulators allow. Only blocks of logsumexp of f64 may be wider
    // than this. They read one column after the other, to the same bits.
    if (blocks_ > 1 && kept_.inner_extent() * in_bytes_ > kComputedBytes / computed_rows_) {
      computes_tiles_ = false;
    }
    fetches_ = reduced.source == nullptr &&
               kept_.strip_count() * kept_.inner_extent() * count_ * in_bytes_ >= kStreamedBytes;
  }

  void run(const Context& context) noexcept {
    if (blocks_ > 1) {
      run_in_blocks(context);
    } else {
      run_in_panels(context);
    }
  }
  // With another reduction of the same elements: a panel at a time where both have panels and their
  // outputs the same steps, so that memory is read once.
  void run(const Context& context, Walk& other) noexcept {
    bool is_shared = blocks_ == 1 && other.blocks_ == 1 && kept_.rank() == other.kept_.rank() &&
                     kept_.start(kOut) == other.kept_.start(kOut);
    for (unsigned i = 0; is_shared && i < kept_.rank(); ++i) {
      is_shared = kept_.step(i, kIn) == other.kept_.step(i, kIn) &&
                  kept_.step(i, kOut) == other.kept_.step(i, kOut);
    }
    beside_ = is_shared ? &other : nullptr;
    run(context);
    if (!is_shared) other.run(context);
  }

 private:
  void add_axes(const tnr_view& a, std::uint32_t axes, const tnr_view& out) noexcept {
    std::int64_t index_step = 1;
    std::uint32_t out_axis = out.rank;
    for (std::uint32_t axis = a.rank; axis-- > 0;) {
      const std::int64_t extent = a.shape[axis];
      if (!is_reduced(axes, axis) || out.rank == a.rank) --out_axis;
      if (is_reduced(axes, axis)) {
        const std::int64_t steps[] = {step_of(a, axis), index_step};
        if (count_ != 0) reduced_.add(extent, steps);
        index_step *= count_ != 0 ? extent : 1;
      } else if (extent > 1) {
        const std::int64_t steps[] = {step_of(a, axis), step_of(out, out_axis)};
        kept_.add(extent, steps);
      }
    }
    kept_.arrange(kIn);
    reduced_.arrange(kIn);
    out_step_ = kept_.inner_step(kOut);
  }

  // Whether results are finished one after the other, which is better where the elements that meet
  // in a result are the closer ones, and enough to be worth a call of their own. `in_all` is the
  // number of results of the whole call, or 0 where these are all.
  [[nodiscard]] bool runs_along(std::int64_t in_all) const noexcept {
    if (kept_.rank() == 0 && in_all <= 1) return true;
    if (reduced_.inner_extent() < kWorthACall) return false;
    return reduced_.inner_step(kIn) <= kept_.inner_step(kIn) ||
           kept_.inner_extent() < kWorthARegister;
  }

  // `in_all` is the number of results of the whole call, or 0 where these are all.
  void cut(std::int64_t in_all) noexcept {
    const std::int64_t rows = reduced_.inner_extent();
    const std::int64_t results = in_all != 0 ? in_all : kept_.strip_count() * kept_.inner_extent();
    const std::int64_t room = kBlocksBytes / reduction_->accumulator_bytes / results;
    if (runs_along_) {
      tile_rows_ = kTileElements;
    } else if (reduction_->meet == Meet::kInTree) {
      tile_rows_ = kTileRows;
    } else {
      tile_rows_ = std::max(kTileRows, room < kFewestBlocks ? rows : quotient_up(rows, room));
    }
    tile_rows_ = std::min(tile_rows_, rows);
    tiles_per_strip_ = quotient_up(rows, tile_rows_);
    tiles_ = count_ == 0 ? 0 : reduced_.strip_count() * tiles_per_strip_;
    blocks_ = has_blocks(*reduction_, results, count_) ? std::min(room, tiles_) : 1;
  }

  // Elements of a result in the first `tiles` of its tiles.
  [[nodiscard]] std::int64_t elements_in(std::int64_t tiles) const noexcept {
    const std::int64_t rows = reduced_.inner_extent();
    return tiles / tiles_per_strip_ * rows + tiles % tiles_per_strip_ * tile_rows_;
  }

  // Returns a tile of `columns` results, without its rows.
  [[nodiscard]] kernels::Tile tile_of(std::int64_t columns) const noexcept {
    kernels::Tile tile;
    tile.columns = columns;
    tile.column_step = kept_.inner_step(kIn);
    tile.row_step = reduced_.inner_step(kIn);
    tile.index_step = reduced_.inner_step(kIndex);
    const bool is_fetched =
        reduction_->load != nullptr || fetch_.converts || fetch_.source != nullptr;
    tile.step_in_place = is_fetched ? kNever : in_bytes_;
    tile.fetch = &fetch_;
    return tile;
  }

  // Adds tiles [first, last) of `columns` results to the cascade. The first result starts at `in`.
  void gather(const Byte* in, std::int64_t columns, std::int64_t first, std::int64_t last,
              Cascade& cascade) const noexcept {
    if (first == last) return;
    kernels::Tile tile = tile_of(columns);
    const std::int64_t first_strip = first / tiles_per_strip_;
    std::int64_t left = last - first;
    std::int64_t row = first % tiles_per_strip_ * tile_rows_;
    reduced_.for_each_strip(
        first_strip, quotient_up(last, tiles_per_strip_), [&](const std::int64_t* offsets) {
          for (; row < reduced_.inner_extent() && left > 0; row += tile_rows_, --left) {
            tile.rows = std::min(tile_rows_, reduced_.inner_extent() - row);
            tile.rows_ahead = fetches_ ? reduced_.inner_extent() - row : 0;
            tile.in = in + offsets[kIn] + row * tile.row_step;
            tile.index = offsets[kIndex] + row * tile.index_step;
            if (computes_tiles_) {
              add_computed(tile, cascade);
            } else {
              cascade.add(tile);
            }
          }
          row = 0;
        });
  }

  // Adds a tile of a tensor that is not in memory. Computes at a time the rows that loops take
  // together: a fetch would have little of each row.
  void add_computed(const kernels::Tile& tile, Cascade& cascade) const noexcept {
    alignas(kLineBytes) Byte elements[kComputedBytes + kTileRows * kLineBytes];
    const DriverFetch of_stored = element_fetch(*reduction_, in_bytes_, 0, nullptr);
    // Not a page apart, where the rows would evict each other.
    const std::int64_t row_bytes = whole_lines(tile.columns * in_bytes_) + kLineBytes;
    const std::int64_t step = tile.row_step / in_bytes_;
    const std::int64_t first = (tile.in - origin_of_computed()) / in_bytes_;
    kernels::Tile stored = tile;
    stored.in = elements;
    stored.row_step = row_bytes;
    stored.step_in_place = reduction_->load == nullptr ? in_bytes_ : kNever;
    stored.fetch = &of_stored;
    for (std::int64_t row = 0; row < tile.rows; row += stored.rows) {
      stored.rows = std::min(computed_rows_, tile.rows - row);
      for (std::int64_t i = 0; i < stored.rows; ++i) {
        fetch_.source->read(first + (row + i) * step, 1, tile.columns, elements + i * row_bytes);
      }
      stored.index = tile.index + row * tile.index_step;
      if (row == 0) {
        cascade.add(stored);
      } else {
        cascade.add_more(stored);
      }
    }
  }

  // Accumulators of one result or of a panel's; they are changed.
  void finish(std::int64_t columns, Byte* accumulators, Byte* out) const noexcept {
    finisher_.finish({.columns = columns,
                      .finished = accumulators + columns * reduction_->finished_place,
                      .counts = accumulators,
                      .out = out,
                      .out_step = out_step_});
  }

  // ---- many results: each is one thread's ----

  // Returns the most columns whose levels have room in a panel, and whose rows have room in a
  // cache.
  [[nodiscard]] std::int64_t widest_panel() const noexcept {
    const std::int64_t level_bytes = kPanelBytes / Cascade::level_count(reduction_->meet, tiles_);
    const std::int64_t widest_bytes =
        computes_tiles_ ? kComputedBytes / computed_rows_ : kWidestPanelBytes;
    const std::int64_t columns =
        std::min(level_bytes / reduction_->accumulator_bytes, widest_bytes / in_bytes_);
    return columns / kPanelColumns * kPanelColumns;
  }

  // A column's result does not depend on the width of its panel.
  [[nodiscard]] std::int64_t panel_width(const Context& context) const noexcept {
    if (runs_along_) {
      const std::int64_t bytes = std::max(count_ * in_bytes_, std::int64_t{1});
      const std::int64_t fewest = std::max(kFewestTogetherBytes / bytes, std::int64_t{1});
      const std::int64_t share =
          kept_.strip_count() * kept_.inner_extent() / (context.thread_count() * kPanelsPerThread);
      return std::min(std::max(std::min(kTogetherBytes / bytes, share), fewest), kMostTogether);
    }
    const std::int64_t columns = kept_.inner_extent();
    const std::int64_t wanted = quotient_up(context.thread_count(), kept_.strip_count());
    const std::int64_t narrowest = std::max(kNarrowestPanelBytes / in_bytes_, kPanelColumns);
    const std::int64_t panels = std::max(quotient_up(columns, widest_panel()),
                                         std::min(wanted, quotient_up(columns, narrowest)));
    const std::int64_t even = quotient_up(columns, panels);
    return std::min(quotient_up(even, kPanelColumns) * kPanelColumns, widest_panel());
  }

  // Results one after the other, which are finished together.
  void run_results(const Byte* in, std::int64_t columns, Byte* out) const noexcept {
    alignas(64) Byte memory[kPanelBytes];
    alignas(64) Byte finished[kMostTogether * kMostFinishedBytes];
    alignas(64) Byte counts[kMostTogether * kMostFinishedBytes];
    const std::int64_t step = kept_.inner_step(kIn);
    const std::int64_t bytes = finisher_.finished_bytes();
    const std::int64_t place = reduction_->finished_place;
    if (tiles_ == 1) {
      kernels::Tile tile = tile_of(1);
      tile.rows = reduced_.inner_extent();
      tile.rows_ahead = 0;
      tile.index = reduced_.start(kIndex);
      tile.in = in + reduced_.start(kIn);
      tile.accumulators = memory;
      for (std::int64_t column = 0; column < columns; ++column) {
        if (place == 0) start_accumulator(*reduction_, memory);
        reduction_->along(*reduction_, tile);
        copy_element(memory + place, finished + column * bytes, bytes);
        if (place != 0) copy_element(memory, counts + column * bytes, bytes);
        tile.in += step;
      }
    } else {
      for (std::int64_t column = 0; column < columns; ++column) {
        Cascade cascade(*reduction_, true, 1, memory);
        gather(in + column * step, 1, 0, tiles_, cascade);
        const Byte* const total = cascade.total();
        copy_element(total + place, finished + column * bytes, bytes);
        if (place != 0) copy_element(total, counts + column * bytes, bytes);
      }
    }
    finisher_.finish({.columns = columns,
                      .finished = finished,
                      .counts = counts,
                      .out = out,
                      .out_step = out_step_});
  }

  void reduce_panel(const Byte* in, std::int64_t columns, Byte* out) const noexcept {
    if (runs_along_) return run_results(in, columns, out);
    alignas(64) Byte memory[kPanelBytes];
    Cascade cascade(*reduction_, false, columns, memory);
    gather(in, columns, 0, tiles_, cascade);
    finish(columns, cascade.total(), out);
  }
  void run_panel(const Byte* in, std::int64_t columns, Byte* out) const noexcept {
    reduce_panel(in, columns, out);
    settle_extremes(in, columns, out);
  }

  void run_in_panels(const Context& context) const noexcept {
    const std::int64_t width = panel_width(context);
    const std::int64_t per_strip = quotient_up(kept_.inner_extent(), width);
    const std::int64_t panels = kept_.strip_count() * per_strip;
    const std::int64_t bytes = panels * std::min(width, kept_.inner_extent()) * count_ * in_bytes_;
    const std::int64_t slices = std::min(panels, slice_count_of(context, bytes));
    for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
      const std::int64_t first = slice_begin(panels, slices, slice);
      const std::int64_t last = slice_begin(panels, slices, slice + 1);
      std::int64_t left = last - first;
      std::int64_t column = first % per_strip * width;
      kept_.for_each_strip(
          first / per_strip, quotient_up(last, per_strip), [&](const std::int64_t* offsets) {
            for (; column < kept_.inner_extent() && left > 0; column += width, --left) {
              const Byte* const in = in_ + offsets[kIn] + column * kept_.inner_step(kIn);
              const std::int64_t columns = std::min(width, kept_.inner_extent() - column);
              const std::int64_t out = offsets[kOut] + column * kept_.inner_step(kOut);
              run_panel(in, columns, out_ + out);
              if (beside_ != nullptr) beside_->run_panel(in, columns, beside_->out_ + out);
            }
            column = 0;
          });
    });
  }

  // ---- results that left the range on the way ----

  void settle_extremes(const Byte* in, std::int64_t columns, Byte* out) const noexcept {
    if (reduction_->extremes == Extremes::kStay || count_ == 0) return;
    for (std::int64_t first = 0; first < columns; first += kMostTogether) {
      const std::int64_t count = std::min(kMostTogether, columns - first);
      Byte* const some = out + first * out_step_;
      if (!extremes_.are_exact(some, out_step_, count)) [[unlikely]]
        extremes_.settle(some, out_step_, first, count, Again(*this, in));
    }
  }

  // The elements of a panel, which starts at `in`.
  class Again final : public Recomputation {
   public:
    Again(const Walk& walk, const Byte* in) noexcept : walk_(walk), in_(in) {}

    void compute(const Reduction& by, const ElementUnit& unit, std::int64_t first,
                 std::int64_t count, double* results) const noexcept override {
      Walk again = walk_;
      again.reduction_ = &by;
      again.fetch_ = in_unit(again.fetch_, unit);
      if (by.finish != Finish::kPower) again.fetch_.power = 1;
      again.finisher_ = walk_.finisher_.of(by, kernels::Type::kF64);
      again.out_step_ = sizeof(double);
      again.computes_tiles_ = false;
      again.fetches_ = false;
      again.reduce_panel(in_ + first * again.kept_.inner_step(kIn), count,
                         reinterpret_cast<Byte*>(results));
    }

   private:
    const Walk& walk_;
    const Byte* in_;
  };

  // ---- few results: blocks of tiles are shared out, and added as a binary tree ----

  void run_block(std::int64_t block, const Byte* in, std::int64_t columns,
                 Byte* accumulators) const noexcept {
    alignas(64) Byte memory[kPanelBytes];
    Cascade cascade(*reduction_, runs_along_, columns, memory);
    gather(in, columns, slice_begin(tiles_, blocks_, block),
           slice_begin(tiles_, blocks_, block + 1), cascade);
    std::memcpy(accumulators, cascade.total(),
                static_cast<std::size_t>(columns * reduction_->accumulator_bytes));
  }

  // Into the first of the blocks' accumulators.
  void merge_blocks(Byte* accumulators, std::int64_t columns) const noexcept {
    const std::int64_t step = columns * reduction_->accumulator_bytes;
    const auto elements_before = [&](std::int64_t block) {
      return elements_in(slice_begin(tiles_, blocks_, std::min(block, blocks_)));
    };
    for (std::int64_t gap = 1; gap < blocks_; gap *= 2) {
      for (std::int64_t block = 0; block + gap < blocks_; block += 2 * gap) {
        const std::int64_t middle = elements_before(block + gap);
        reduction_->merge(*reduction_, {.columns = columns,
                                        .into = accumulators + block * step,
                                        .from = accumulators + (block + gap) * step,
                                        .into_count = middle - elements_before(block),
                                        .from_count = elements_before(block + 2 * gap) - middle});
      }
    }
  }

  void run_in_blocks(const Context& context) const noexcept {
    alignas(64) Byte accumulators[kBlocksBytes];
    const std::int64_t columns = runs_along_ ? 1 : kept_.inner_extent();
    const std::int64_t per_strip = kept_.inner_extent() / columns;
    const std::int64_t panels = kept_.strip_count() * per_strip;
    const std::int64_t step = columns * reduction_->accumulator_bytes;
    const std::int64_t works = panels * blocks_;
    const std::int64_t slices =
        std::min(works, slice_count_of(context, panels * columns * count_ * in_bytes_));
    const auto at_panel = [&](std::int64_t panel, const auto& visit) {
      kept_.for_each_strip(
          panel / per_strip, panel / per_strip + 1, [&](const std::int64_t* offsets) {
            visit(in_ + offsets[kIn] + panel % per_strip * kept_.inner_step(kIn),
                  out_ + offsets[kOut] + panel % per_strip * kept_.inner_step(kOut));
          });
    };
    for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
      const std::int64_t last = slice_begin(works, slices, slice + 1);
      for (std::int64_t work = slice_begin(works, slices, slice); work < last; ++work) {
        at_panel(work / blocks_, [&](const Byte* in, Byte*) {
          run_block(work % blocks_, in, columns, accumulators + work * step);
        });
      }
    });
    for (std::int64_t panel = 0; panel < panels; ++panel) {
      Byte* const own = accumulators + panel * blocks_ * step;
      merge_blocks(own, columns);
      at_panel(panel, [&](const Byte* in, Byte* out) {
        finish(columns, own, out);
        settle_extremes(in, columns, out);
      });
    }
  }

  const Reduction* reduction_;
  const Byte* in_;
  Byte* out_;
  std::int64_t in_bytes_;
  std::int64_t count_;  // elements into each result
  DriverFetch fetch_;
  Finisher finisher_;
  ExtremeResults extremes_;
  Nest kept_{2};
  Nest reduced_{2};
  std::int64_t out_step_;
  bool runs_along_;
  std::int64_t tile_rows_;
  std::int64_t tiles_per_strip_;
  std::int64_t tiles_;   // of one result
  std::int64_t blocks_;  // into which they are grouped
  bool computes_tiles_;  // of a tensor that is nowhere
  std::int64_t computed_rows_;
  bool fetches_;  // rows ahead: there are more than the caches hold
  const Walk* beside_ = nullptr;
};

}  // namespace

std::int64_t reduced_count(const tnr_view& a, std::uint32_t axes) noexcept {
  std::uint64_t count = 1;  // unsigned: with an extent of 0 the others may overflow
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    if (is_reduced(axes, axis)) count *= static_cast<std::uint64_t>(a.shape[axis]);
  }
  return static_cast<std::int64_t>(count);
}

void walk_reduction(const Context& context, const Reduction& reduction, const tnr_view& a,
                    std::uint32_t axes, std::uint32_t ddof, const tnr_view_mut& out, double power,
                    const ReducedElements& reduced) noexcept {
  Walk(reduction, a, axes, ddof, out, power, reduced).run(context);
}

bool adds_each_alone(const Reduction& reduction, std::int64_t results,
                     std::int64_t count) noexcept {
  return count <= kTileElements || !has_blocks(reduction, results, count);
}

void walk_moments(const Context& context, const Reduction& mean_reduction,
                  const Reduction& var_reduction, const tnr_view& a, std::uint32_t axes,
                  std::uint32_t ddof, const tnr_view_mut& mean, const tnr_view_mut& var) noexcept {
  Walk means(mean_reduction, a, axes, 0, mean, 0);
  Walk(var_reduction, a, axes, ddof, var, 0).run(context, means);
}

}  // namespace tenure
