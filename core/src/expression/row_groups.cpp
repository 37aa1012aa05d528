#include "expression/row_groups.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <optional>

#include "dense/loops/streamed.hpp"
#include "dense/reduce/walk.hpp"
#include "memory/fresh_pages.hpp"
#include "memory/scratch.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Finding;

// Elements of a group that no stage keeps, counted as f64: they are read from a second cache again.
constexpr std::int64_t kGroupBytes = std::int64_t{128} << 10;
// Bytes that are streamed at a time.
constexpr std::int64_t kStreamedPanelBytes = 8192;
// A longer row has more bytes of results than memory.
constexpr std::int64_t kLongestRow = std::int64_t{1} << 48;

// Elements from row to row of a view with adjacent elements in each row and rows in their order; 0
// where rows lie otherwise.
std::int64_t row_pitch(const tnr_view& view) noexcept {
  const std::int64_t row = view.shape[view.rank - 1];
  if (row > 1 && view.strides[view.rank - 1] != 1) return 0;
  std::int64_t pitch = row;  // of a single row
  std::int64_t next = 0;     // stride of the next axis, from the last one
  for (std::uint32_t axis = view.rank - 1; axis-- > 0;) {
    if (view.shape[axis] == 1) continue;
    if (next == 0) {
      pitch = next = view.strides[axis];
      if (pitch < row) return 0;  // a row that is repeated, or backwards
    } else if (view.strides[axis] != next) {
      return 0;
    }
    next *= view.shape[axis];
  }
  return pitch;
}

bool has_shape(const tnr_view& view, const Extents& shape) noexcept {
  return view.rank == shape.rank && std::equal(view.shape, view.shape + view.rank, shape.extents);
}

// Leaves that have one element for each row, or adjacent ones: of rows so long that a tile lies in
// one of them.
std::uint64_t leaves_with_step(const Leaf* leaves, unsigned count, const Extents& shape,
                               std::int64_t elements) noexcept {
  std::uint64_t found = 0;
  if (shape.last() < Places::kShortRow) return found;
  for (unsigned leaf = 0; leaf < count; ++leaf) {
    const std::int64_t step = leaves[leaf].steps[shape.rank - 1];
    if (step == elements * leaves[leaf].width_bytes) found |= std::uint64_t{1} << leaf;
  }
  return found;
}

}  // namespace

RowGroups::RowGroups(const PlacedNodes& placed) noexcept
    : shape_(placed.nodes.last().shape), leaf_count_(placed.nodes.view_count()) {
  const Nodes& nodes = placed.nodes;
  if (!is_elementwise(nodes.last().kind) || shape_.rank == 0 ||
      !has_shape(placed.out.view, shape_) || !is_row_major(placed.out.view)) {
    return;
  }
  row_ = shape_.last();
  rows_ = count_of(shape_);
  if (rows_ == 0 || rows_ == INT64_MAX || row_ > kLongestRow) return;
  rows_ /= row_;
  bool is_cut[kMaxNodes];
  if (!cut(placed, is_cut)) return;
  std::copy_n(placed.leaves, leaf_count_, leaves_);
  for (unsigned leaf = 0; leaf < leaf_count_; ++leaf) {
    const tnr_view& view = nodes.view(leaf);
    if (view.rank > shape_.rank) return;
    set_steps(leaves_[leaf], view, shape_.rank);
    moved_bytes_ += static_cast<std::int64_t>(element_bytes(view));
  }
  std::fill_n(leaf_of_, nodes.count(), kNoLeaf);
  for (unsigned node = 0; node < nodes.count(); ++node) {
    if (is_cut[node] && !add_stage(placed, node)) {
      stage_count_ = 0;
      return;
    }
  }
  elements_places_.emplace(shape_, leaves_, used_by_elements_);
  if (used_by_rows_ != 0) rows_places_.emplace(row_shape(), leaves_, used_by_rows_);
  place_results();
}

// Marks the nodes whose results are kept. False where a reduction is of something else than rows.
bool RowGroups::cut(const PlacedNodes& placed, bool* is_cut) const noexcept {
  constexpr std::uint16_t kNone = kMaxNodes;
  constexpr std::uint16_t kSeveral = kMaxNodes + 1;
  const Nodes& nodes = placed.nodes;
  const unsigned root = nodes.count() - 1;
  std::uint16_t stage_of[kMaxNodes];  // that computes the node
  std::fill_n(stage_of, nodes.count(), kNone);
  std::fill_n(is_cut, nodes.count(), false);
  is_cut[root] = true;
  for (unsigned i = 0; i < placed.amid_count; ++i) {
    const NodeOperand& operand = nodes[placed.amid[i]].operands[0];
    is_cut[placed.amid[i]] = true;
    if (!adds_each_alone(placed.reductions[i].reduction, rows_, row_)) return false;
    if (operand.from == From::kNode) {
      const Node& node = nodes[operand.index];
      if (!is_elementwise(node.kind) || !(node.shape == shape_)) return false;
      is_cut[operand.index] = true;
    } else if (!has_shape(nodes.view(operand.index), shape_) ||
               row_pitch(nodes.view(operand.index)) == 0) {
      return false;
    }
  }
  const Extents per_row = row_shape();
  for (unsigned i = root + 1; i-- > 0;) {
    if (stage_of[i] == kSeveral && nodes[i].shape == shape_) is_cut[i] = true;
    if (is_cut[i]) stage_of[i] = static_cast<std::uint16_t>(i);
    if (stage_of[i] == kNone) continue;  // the output does not need it
    for (unsigned k = 0; k < nodes[i].operand_count; ++k) {
      const NodeOperand& operand = nodes[i].operands[k];
      if (operand.from != From::kNode) continue;
      std::uint16_t& stage = stage_of[operand.index];
      stage = stage == kNone || stage == stage_of[i] ? stage_of[i] : kSeveral;
      // Else it would be computed for each element of the row.
      if (row_ > 1 && nodes[operand.index].shape == per_row && nodes[i].shape == shape_) {
        is_cut[operand.index] = true;
      }
    }
  }
  return true;
}

bool RowGroups::add_stage(const PlacedNodes& placed, unsigned index) noexcept {
  const Nodes& nodes = placed.nodes;
  const Node& node = nodes[index];
  const bool is_last = index + 1 == nodes.count();
  if (stage_count_ == kMostStages || leaf_count_ == kMaxLeaves) return false;
  Stage& stage = stages_[stage_count_];
  stage.reduces = !is_elementwise(node.kind);
  stage.is_per_row = stage.reduces || node.shape != shape_;
  stage.dtype = node.dtype;
  stage.width_bytes = static_cast<std::int64_t>(element_size(node.dtype));
  stage.last_use = static_cast<std::uint8_t>(stage_count_);
  std::uint64_t reads;
  if (stage.reduces) {
    const unsigned number = static_cast<unsigned>(
        std::find(placed.amid, placed.amid + placed.amid_count, index) - placed.amid);
    const NodeOperand& operand = node.operands[0];
    const bool is_view = operand.from == From::kView;
    const auto from = static_cast<std::uint8_t>(is_view ? operand.index : leaf_of_[operand.index]);
    const std::int64_t pitch = is_view ? row_pitch(nodes.view(operand.index)) : row_;
    std::construct_at(&stage.reducing,
                      Reducing{placed.reductions[number], operand.dtype, from, pitch});
    reads = std::uint64_t{1} << from;
  } else {
    const Extents shape = stage.is_per_row ? row_shape() : shape_;
    reads = leaves_of(nodes, index, leaf_of_);
    if (!steps_.have_room(index + 1, reads)) return false;
    new (&stage.tile_steps)
        TileSteps(nodes, index, leaf_of_, leaves_with_step(leaves_, leaf_count_, shape, 0),
                  leaves_with_step(leaves_, leaf_count_, shape, 1), steps_);
    (stage.is_per_row ? used_by_rows_ : used_by_elements_) |= reads;
  }
  for (unsigned i = 0; i < stage_count_; ++i) {
    if ((reads >> stages_[i].leaf & 1) != 0) {
      stages_[i].last_use = static_cast<std::uint8_t>(stage_count_);
    }
  }
  ++stage_count_;
  if (is_last) return true;
  stage.leaf = leaf_of_[index] = static_cast<std::uint8_t>(leaf_count_);
  leaves_[leaf_count_] = {nullptr, stage.width_bytes, {}};
  set_steps(leaves_[leaf_count_++], row_major_view(node.shape, node.dtype, nullptr), shape_.rank);
  return true;
}

// Shares out the memory of a group: results end with the last stage that reads them. Sets how many
// rows a group has.
void RowGroups::place_results() noexcept {
  struct Slot {
    std::int64_t row_bytes;
    std::int64_t offset_bytes;
    unsigned free_after;
  };
  Slot slots[kMostStages];
  unsigned slot_of[kMostStages];
  unsigned slot_count = 0;
  std::int64_t row_bytes = 0;
  for (unsigned i = 0; i + 1 < stage_count_; ++i) {
    const Stage& stage = stages_[i];
    const std::int64_t bytes = results_of(stage) * stage.width_bytes;
    Slot* const slot = std::find_if(slots, slots + slot_count, [&](const Slot& before) {
      return before.row_bytes == bytes && before.free_after < i;
    });
    slot_of[i] = static_cast<unsigned>(slot - slots);
    if (slot == slots + slot_count) {
      row_bytes += bytes;
      ++slot_count;
    }
    *slot = {bytes, 0, stage.last_use};
  }
  const std::int64_t room = kStackBytes - slot_count * kLineBytes;
  const std::int64_t most =
      std::min(room / row_bytes, kGroupBytes / (row_ * std::int64_t{sizeof(double)}));
  rows_each_ = std::clamp(most, std::int64_t{1}, rows_);
  for (unsigned i = 0; i < slot_count; ++i) {
    slots[i].offset_bytes = group_bytes_;
    group_bytes_ += whole_lines(slots[i].row_bytes * rows_each_);
  }
  for (unsigned i = 0; i + 1 < stage_count_; ++i) {
    stages_[i].offset_bytes = slots[slot_of[i]].offset_bytes;
  }
}

Finding RowGroups::run(const Context& context, const Nodes& nodes, const tnr_view_mut& out) const {
  const std::int64_t groups = (rows_ + rows_each_ - 1) / rows_each_;
  const std::int64_t out_bytes = rows_ * row_ * stages_[stage_count_ - 1].width_bytes;
  const std::int64_t moved =
      std::max(moved_bytes_ + out_bytes, rows_ * row_ * std::int64_t{sizeof(double)});
  Byte* const to = writable(out);
  bool reads_output = false;
  for (unsigned i = 0; i < nodes.view_count(); ++i) reads_output |= nodes.view(i).data == to;
  const Stores stores = reads_output ? Stores::kCached : stores_for(moved);
  touch_fresh_pages(context, to, out_bytes);
  const std::int64_t slices = std::min(groups, slice_count_of(context, moved));
  std::optional<Scratch> memory;
  if (!fit_stack()) memory.emplace(slices, group_bytes_);
  std::atomic<std::uint32_t> finding = kernels::kNothing;
  for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
    alignas(kLineBytes) Byte own[kStackBytes];
    Byte* const results = memory ? memory->data() + slice * group_bytes_ : own;
    Leaf leaves[kMaxLeaves];
    std::copy_n(leaves_, leaf_count_, leaves);
    for (unsigned i = 0; i < nodes.view_count(); ++i) {
      leaves[i].data = static_cast<const Byte*>(nodes.view(i).data);
    }
    const std::int64_t last = slice_begin(groups, slices, slice + 1);
    unsigned found = kernels::kNothing;
    for (std::int64_t group = slice_begin(groups, slices, slice); group < last; ++group) {
      const std::int64_t first = group * rows_each_;
      found |= run_group(leaves, first, std::min(rows_each_, rows_ - first), results, to, stores);
    }
    if (stores == Stores::kStreamed) order_streamed_stores();
    finding.fetch_or(found, std::memory_order_relaxed);
  });
  return static_cast<Finding>(finding.load(std::memory_order_relaxed));
}

// Rows [first, first + count).
unsigned RowGroups::run_group(Leaf* leaves, std::int64_t first, std::int64_t count, Byte* memory,
                              Byte* out, Stores stores) const noexcept {
  unsigned found = kernels::kNothing;
  for (unsigned i = 0; i + 1 < stage_count_; ++i) {
    const Stage& stage = stages_[i];
    // Where the first row of all would be.
    leaves[stage.leaf].data = reinterpret_cast<const Byte*>(
        reinterpret_cast<std::uintptr_t>(memory + stage.offset_bytes) -
        static_cast<std::uintptr_t>(first * results_of(stage) * stage.width_bytes));
  }
  for (unsigned i = 0; i + 1 < stage_count_; ++i) {
    const Stage& stage = stages_[i];
    found |= run_stage(stage, leaves, first, count, memory + stage.offset_bytes, Stores::kCached);
  }
  const Stage& last = stages_[stage_count_ - 1];
  return found |
         run_stage(last, leaves, first, count, out + first * row_ * last.width_bytes, stores);
}

unsigned RowGroups::run_stage(const Stage& stage, const Leaf* leaves, std::int64_t first,
                              std::int64_t count, Byte* to, Stores stores) const noexcept {
  constexpr std::uint32_t kLastOfTwo = 2;
  if (stage.reduces) {
    const Reducing& reducing = stage.reducing;
    const Leaf& from = leaves[reducing.from];
    const tnr_view_mut out = {row_major_view({2, {count, 1}}, stage.dtype, to)};
    tnr_view a = row_major_view({2, {count, row_}}, reducing.dtype,
                                from.data + first * reducing.pitch * from.width_bytes);
    a.strides[0] = reducing.pitch;
    walk_reduction(kDefaultContext, reducing.by.reduction, a, kLastOfTwo, reducing.by.ddof, out,
                   reducing.by.power, {.results = rows_});
    return kernels::kNothing;
  }
  const TileSteps& tile_steps = stage.tile_steps;
  const Places& places = places_of(stage);
  const std::int64_t place = first * results_of(stage);
  const std::int64_t all = count * results_of(stage);
  if (stores == Stores::kCached)
    return compute_places(tile_steps, places, leaves, place, 1, all, to);
  alignas(kLineBytes) Byte staged[kStreamedPanelBytes];
  const std::int64_t most = kStreamedPanelBytes / stage.width_bytes;
  unsigned found = kernels::kNothing;
  for (std::int64_t at = 0; at < all; at += most) {
    const std::int64_t taken = std::min(most, all - at);
    found |= compute_places(tile_steps, places, leaves, place + at, 1, taken, staged);
    copy_lines(to + at * stage.width_bytes, staged, taken * stage.width_bytes, stores);
  }
  return found;
}

}  // namespace tenure
