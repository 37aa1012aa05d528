#include "cuda/operations/reduce_plan.hpp"

#include <algorithm>
#include <bit>
#include <cinttypes>

#include "cuda/operations/grid.hpp"
#include "cuda/operations/nest.hpp"
#include "dense/reduce/walk.hpp"
#include "tenure/shape.hpp"
#include "tenure/status.hpp"

namespace tenure::cuda {
namespace {

// Bits of results depend on the constants of this file, and on nothing of the device.

constexpr std::int64_t kBlockThreads = 256;
// A result of at most kMostOfWarp elements has the threads of a warp, or of a part of one. A thread
// reads the items of the rule, and at most kItemsOfThread where these are not adjacent.
constexpr std::int64_t kMostOfWarp = 2048;
constexpr std::int64_t kItemsOfThread = 8;
// Blocks that keep the largest device busy, and units of a thread that are worth a block.
constexpr std::int64_t kEnoughBlocks = 2048;
constexpr std::int64_t kFewestUnits = 2;
// A thread adds no more units up one after the other: errors grow with them.
constexpr std::int64_t kMostUnits = 1024;
constexpr std::int64_t kMostReadBytes = 16;

using Walked = ReduceWalk::Walked;
constexpr Walked kIn = ReduceWalk::kIn;
constexpr Walked kOther = ReduceWalk::kOther;

// Innermost first; one axis at least. The outermost is not divided by, and may have any extent.
std::uint32_t set_axes(const Nest& nest, ReduceAxis* axes) noexcept {
  const std::uint32_t rank = std::max(nest.rank(), 1u);
  for (std::uint32_t i = 0; i < nest.rank(); ++i) {
    const unsigned axis = nest.rank() - 1 - i;
    const std::int64_t extent = nest.extent(axis);
    if (extent < kMostNumber) axes[i].divider = divider_by(extent);
    axes[i].in_step = nest.step(axis, kIn);
    axes[i].other_step = nest.step(axis, kOther);
  }
  if (nest.rank() == 0) axes[0] = {divider_by(1), 0, 0, 0};
  return rank;
}

// Whether the `axis_count` outermost axes step by whole multiples.
bool steps_by(const Nest& nest, unsigned axis_count, std::int64_t bytes) noexcept {
  for (unsigned axis = 0; axis < axis_count; ++axis) {
    if (nest.step(axis, kIn) % bytes != 0) return false;
  }
  return true;
}

unsigned outer_rank(const Nest& nest) noexcept { return nest.rank() == 0 ? 0 : nest.rank() - 1; }

class Plan {
 public:
  // The part with `results`, which are below kMostNumber: those of the outermost axis that is kept,
  // or some.
  Plan(const ReduceWalk& walk, const ReduceRule& rule, std::int64_t outermost,
       ReduceArgument& argument)
      : kept_(walk.kept()),
        reduced_(walk.reduced()),
        count_(walk.count()),
        shape_(rule.shape),
        argument_(argument),
        outermost_(outermost) {
    results_ = outermost;
    for (unsigned axis = 1; axis < kept_.rank(); ++axis) results_ *= kept_.extent(axis);
    argument.results = static_cast<std::uint32_t>(results_);
    argument.row_items = static_cast<std::uint64_t>(count_ == 0 ? 0 : reduced_.inner_extent());
    const bool is_along =
        kept_.rank() == 0 || count_ == 0 || reduced_.inner_step(kIn) <= kept_.inner_step(kIn);
    kernel_ = is_along ? rule.along : rule.across;
    if (is_along) {
      cut_along();
    } else {
      cut_across();
    }
  }

  [[nodiscard]] Kernel kernel() const noexcept { return kernel_; }
  [[nodiscard]] Grid grid() const noexcept {
    return {static_cast<unsigned>(blocks_), static_cast<unsigned>(kBlockThreads)};
  }

 private:
  [[nodiscard]] std::int64_t width() const noexcept { return argument_.width; }
  [[nodiscard]] bool is_at_multiple_of(std::int64_t bytes) const noexcept {
    return reinterpret_cast<std::uintptr_t>(argument_.in) % static_cast<std::uintptr_t>(bytes) == 0;
  }
  // The extent of the axis of the columns; the others are rows of tiles.
  [[nodiscard]] std::int64_t columns() const noexcept {
    return kept_.rank() == 1 ? outermost_ : kept_.inner_extent();
  }

  // Sets units of `items` of the innermost axis; 2^step_shift units are interleaved.
  void set_units(std::int64_t items, std::uint32_t step_shift) noexcept {
    const std::int64_t extent = count_ == 0 ? 0 : reduced_.inner_extent();
    row_units_ = quotient_up(extent, items << step_shift) << step_shift;
    rows_ = reduced_.strip_count();
    unit_items_ = items;
    argument_.step_shift = step_shift;
  }

  // More than can be counted are cut row by row.
  [[nodiscard]] bool are_countable() const noexcept {
    return rows_ <= 1 || row_units_ < kMostNumber / rows_;
  }
  [[nodiscard]] std::int64_t units() const noexcept { return row_units_ * rows_; }

  // The results are cut into as many parts that `threads` of a block take at least `fewest` units
  // each and at most `most`, and there are enough blocks; `blocks` are there if no result is cut.
  void cut_results(std::int64_t threads, std::int64_t fewest, std::int64_t most,
                   std::int64_t blocks) {
    if (!are_countable()) return set_split(row_units_, blocks);
    const std::int64_t worth = std::max(quotient_up(units(), threads * fewest), std::int64_t{1});
    const std::int64_t wanted =
        std::max(quotient_up(kEnoughBlocks, blocks), quotient_up(units(), threads * most));
    const std::int64_t each = quotient_up(units(), std::min(worth, wanted));
    set_split(quotient_up(each, threads) * threads, blocks);
  }

  // Sets splits of `of_split` units.
  void set_split(std::int64_t of_split, std::int64_t blocks) {
    std::int64_t end = of_split;
    std::int64_t splits = rows_;
    if (!are_countable()) {
      argument_.split_rows = 1;
    } else {
      splits = units() <= of_split ? 1 : quotient_up(units(), of_split);
      if (rows_ > 1) {
        end = units();
        argument_.split_step = static_cast<std::uint32_t>(of_split);
      } else {
        argument_.split_items = static_cast<std::uint64_t>(of_split * unit_items_);
      }
    }
    if (end >= kMostNumber || splits >= kMostNumber || blocks >= kMostNumber / splits) {
      fail(TNR_STATUS_UNSUPPORTED, "a result of %" PRId64 " elements is too large for a device",
           count_);
    }
    argument_.units = static_cast<std::uint32_t>(end);
    argument_.split_units = static_cast<std::uint32_t>(of_split);
    argument_.row_units = divider_by(rows_ > 1 ? std::max(row_units_, std::int64_t{1}) : 1);
    argument_.splits = divider_by(splits);
    blocks_ = blocks * splits;
  }

  void cut_along() {
    const auto items = static_cast<std::int64_t>(shape_.items);
    const std::int64_t bytes = std::min(items * width(), kMostReadBytes);
    const bool is_dense = reduced_.inner_step(kIn) == width() &&
                          steps_by(reduced_, outer_rank(reduced_), bytes) &&
                          steps_by(kept_, kept_.rank(), bytes);
    argument_.has_vectors = is_dense && is_at_multiple_of(bytes) ? 1 : 0;
    const std::int64_t of_thread = is_dense ? items : std::min(items, kItemsOfThread);
    const std::int64_t wanted = quotient_up(std::max(count_, std::int64_t{1}), of_thread);
    const bool is_of_block = count_ > kMostOfWarp;
    argument_.lanes_shift = is_of_block ? kBlockShift : std::min(logarithm_up(wanted), kWarpShift);
    std::uint32_t step_shift = 0;
    if (!is_dense) {
      // At most a quarter of a row's items, so that few units of short rows are empty.
      const auto quarter = static_cast<std::uint64_t>(reduced_.inner_extent() / 4);
      const auto bits = static_cast<std::uint32_t>(std::bit_width(quarter));
      step_shift = std::min({argument_.lanes_shift, kWarpShift, bits == 0 ? 0 : bits - 1});
    }
    set_units(items, step_shift);
    const std::int64_t blocks = quotient_up(results_, kBlockThreads >> argument_.lanes_shift);
    if (is_of_block) {
      cut_results(kBlockThreads, kFewestUnits, kMostUnits, blocks);
    } else {
      set_split(units(), blocks);
    }
  }

  void cut_across() {
    const auto of_thread = static_cast<std::int64_t>(shape_.columns);
    const std::int64_t bytes = of_thread * width();
    const bool has_vectors = kept_.inner_step(kIn) == width() && columns() % of_thread == 0 &&
                             steps_by(reduced_, reduced_.rank(), bytes) &&
                             steps_by(kept_, outer_rank(kept_), bytes) && is_at_multiple_of(bytes);
    // Where a column lies among the threads changes no bit of its result.
    argument_.has_vectors = has_vectors ? 1 : 0;
    argument_.is_adjacent = argument_.has_vectors;
    argument_.columns = static_cast<std::uint32_t>(columns());
    set_units(shape_.rows, 0);
    // A warp's width of columns, or more where there are few rows. Tiles are equally wide.
    const std::int64_t threads = quotient_up(columns(), of_thread);
    const std::int64_t few_rows =
        row_units_ < kBlockThreads ? row_units_ * std::min(rows_, kBlockThreads) : kBlockThreads;
    const std::int64_t widest = std::max(kBlockThreads / few_rows, std::int64_t{1} << kWarpShift);
    const std::int64_t tiles = quotient_up(threads, widest);
    const std::int64_t column_threads = quotient_up(threads, tiles);
    argument_.column_threads = divider_by(column_threads);
    argument_.column_tiles = divider_by(tiles);
    cut_results(kBlockThreads / column_threads, 2 * kFewestUnits, kMostUnits / shape_.rows,
                tiles * (results_ / columns()));
  }

  const Nest& kept_;
  const Nest& reduced_;
  std::int64_t count_;
  RuleShape shape_;
  ReduceArgument& argument_;
  std::int64_t outermost_;
  std::int64_t results_ = 1;
  std::int64_t row_units_ = 0;
  std::int64_t rows_ = 1;
  std::int64_t unit_items_ = 1;
  Kernel kernel_{};
  std::int64_t blocks_ = 0;
};

void run_parts(const Queue& queue, Kernel kernel, ReduceArgument& argument) {
  const std::int64_t splits = argument.splits.extent;
  argument.lanes_shift = splits > 1024 ? kBlockShift : std::min(logarithm_up(splits), kWarpShift);
  const std::int64_t blocks = quotient_up(argument.results, kBlockThreads >> argument.lanes_shift);
  queue.launch(kernel, {static_cast<unsigned>(blocks), static_cast<unsigned>(kBlockThreads)},
               argument);
}

void run_plan(const Queue& queue, const ReduceRule& rule, const Plan& plan,
              ReduceArgument argument) {
  if (argument.splits.extent == 1) return queue.launch(plan.kernel(), plan.grid(), argument);
  const std::size_t parts = std::size_t{argument.results} * argument.splits.extent;
  const Queue::Scratch partials(queue, parts * rule.part_bytes);
  argument.partials = static_cast<unsigned char*>(partials.data());
  queue.launch(plan.kernel(), plan.grid(), argument);
  run_parts(queue, rule.parts, argument);
}

// A warp looks at each result.
void settle(const Queue& queue, const ReduceWalk& walk, ReduceArgument argument) {
  const std::int64_t rows = walk.reduced().strip_count();
  if (walk.count() == 0 || rows >= kMostNumber) return;
  argument.reduced_rows = static_cast<std::uint32_t>(rows);
  const std::int64_t blocks = quotient_up(argument.results, kBlockThreads >> kWarpShift);
  queue.launch(Kernel::settle_results,
               {static_cast<unsigned>(blocks), static_cast<unsigned>(kBlockThreads)}, argument);
}

}  // namespace

ReduceWalk::ReduceWalk(const tnr_view& a, std::uint32_t axes, const tnr_view& out) noexcept
    : count_(reduced_count(a, axes)) {
  std::int64_t place_step = 1;
  std::uint32_t out_axis = out.rank;
  for (std::uint32_t axis = a.rank; axis-- > 0;) {
    const std::int64_t extent = a.shape[axis];
    if (!is_reduced(axes, axis) || out.rank == a.rank) --out_axis;
    if (is_reduced(axes, axis)) {
      const std::int64_t steps[] = {step_of(a, axis), place_step};
      if (count_ != 0) reduced_.add(extent, steps);
      place_step *= count_ != 0 ? extent : 1;
    } else if (extent > 1) {
      const std::int64_t steps[] = {step_of(a, axis), step_of(out, out_axis)};
      kept_.add(extent, steps);
    }
  }
  kept_.order(kIn);
  reduced_.order(kIn);
}

bool ReduceWalk::places_rise() const noexcept {
  std::int64_t reach = 0;
  for (unsigned axis = reduced_.rank(); axis-- > 0;) {
    if (reduced_.step(axis, kOther) <= reach) return false;
    reach += (reduced_.extent(axis) - 1) * reduced_.step(axis, kOther);
  }
  return true;
}

void run_reduction(const Queue& queue, const ReduceRule& rule, const ReduceWalk& walk,
                   ReduceArgument& argument) {
  const Nest& kept = walk.kept();
  argument.kept_rank = set_axes(kept, argument.kept);
  argument.reduced_rank = set_axes(walk.reduced(), argument.reduced);
  argument.count = static_cast<std::uint64_t>(walk.count());
  const std::int64_t outermost = kept.rank() == 0 ? 1 : kept.extent(0);
  const std::int64_t at_each = kept.rank() == 0 ? 1 : kept.count() / outermost;
  if (at_each >= kMostNumber) {
    fail(TNR_STATUS_UNSUPPORTED, "%" PRId64 " results of the inner axes are too many for a device",
         at_each);
  }
  // More results than kernels count take several launches.
  const std::int64_t most = std::max((kMostNumber - 1) / at_each, std::int64_t{1});
  for (std::int64_t first = 0; first < outermost; first += most) {
    ReduceArgument part = argument;
    if (kept.rank() != 0) {
      part.in += first * kept.step(0, kIn);
      part.out += first * kept.step(0, kOther);
    }
    const Plan plan(walk, rule, std::min(most, outermost - first), part);
    run_plan(queue, rule, plan, part);
    if (part.extremes != ReduceExtremes::kStay) settle(queue, walk, part);
  }
}

}  // namespace tenure::cuda
