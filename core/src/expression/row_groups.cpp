#include "expression/row_groups.hpp"

#include <algorithm>
#include <atomic>

#include "dense/reduce/walk.hpp"
#include "dense/streamed.hpp"
#include "expression/computed.hpp"
#include "expression/fusion.hpp"
#include "memory/fresh_pages.hpp"
#include "tenure/blob.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Finding;

// Rows that are reduced and computed further while a cache holds them.
constexpr std::int64_t kGroupBytes = std::int64_t{128} << 10;
// Results of one reduction of such rows, on the stack.
constexpr std::int64_t kMostRows = 512;
// Reductions amid an expression of which the results of a group have room on the stack.
constexpr unsigned kMostGrouped = 4;

// Bytes that are streamed at a time.
constexpr std::int64_t kStreamedPanelBytes = 4096;

// Whether a reduction of its rows adds as one of a row-major tensor does, although there may be
// gaps between them: elsewhere it follows the memory.
bool has_rows_in_order(const tnr_view& view) noexcept {
  std::int64_t reach = 1;
  for (std::uint32_t axis = view.rank; axis-- > 0;) {
    if (view.shape[axis] <= 1) continue;
    const bool is_last = axis + 1 == view.rank;
    if (is_last ? view.strides[axis] != 1 : view.strides[axis] < reach) return false;
    reach = view.strides[axis] * view.shape[axis];
  }
  return true;
}

bool has_shape(const tnr_view& view, const Extents& shape) noexcept {
  return view.rank == shape.rank && std::equal(view.shape, view.shape + view.rank, shape.extents);
}

// Leaves that have one element for each row, or adjacent ones: of rows so long that a tile lies
// in one of them.
std::uint64_t leaves_with_step(const PlacedNodes& placed, std::int64_t elements) noexcept {
  const Extents& shape = placed.nodes.last().shape;
  std::uint64_t leaves = 0;
  if (shape.last() < Places::kShortRow) return leaves;
  for (unsigned leaf = 0; leaf < placed.leaf_count; ++leaf) {
    const std::int64_t step = placed.leaves[leaf].steps[shape.rank - 1];
    if (step == elements * placed.leaves[leaf].width_bytes) leaves |= std::uint64_t{1} << leaf;
  }
  return leaves;
}

unsigned reduce_part(const PlacedNodes& placed, const CheckedReduction& by, const Node& node,
                     const Leaf* leaves, std::int64_t place, const tnr_view& a,
                     const tnr_view_mut& out, std::int64_t rows) noexcept {
  constexpr std::uint32_t kLastOfTwo = 2;
  const NodeOperand& operand = node.operands[0];
  const Extents& shape = placed.nodes.last().shape;
  if (operand.from == From::kNode) {
    const Fusion fusion(placed.nodes, operand.index, placed.leaf_of, leaves_with_step(placed, 0),
                        leaves_with_step(placed, 1));
    const Computed computed(fusion, shape, leaves, place);
    walk_reduction(kDefaultContext, by.reduction, a, kLastOfTwo, by.ddof, out, by.power,
                   {.source = &computed, .results = rows});
    return computed.found();
  }
  if (is_row_major(placed.nodes.view(operand.index))) {
    tnr_view part = a;
    part.data = leaves[operand.index].data + place * leaves[operand.index].width_bytes;
    walk_reduction(kDefaultContext, by.reduction, part, kLastOfTwo, by.ddof, out, by.power,
                   {.results = rows});
  } else {
    const StoredElements stored(operand.index, shape, leaves, place);
    walk_reduction(kDefaultContext, by.reduction, a, kLastOfTwo, by.ddof, out, by.power,
                   {.source = &stored, .results = rows});
  }
  return kernels::kNothing;
}

// Rows [first, first + count) of `rows`.
unsigned run_group(const PlacedNodes& placed, std::int64_t first, std::int64_t count,
                   std::int64_t rows, Stores stores) noexcept {
  alignas(kLineBytes) Byte results[kMostGrouped][kMostRows * sizeof(double)];
  const Extents& shape = placed.nodes.last().shape;
  const std::int64_t row = shape.last();
  const std::int64_t place = first * row;
  Leaf leaves[kMaxLeaves];
  std::copy_n(placed.leaves, placed.leaf_count, leaves);
  unsigned found = kernels::kNothing;
  for (unsigned i = 0; i < placed.amid_count; ++i) {
    const Node& node = placed.nodes[placed.amid[i]];
    const Extents part = {2, {count, row}};
    const Extents part_results = {2, {count, 1}};
    const tnr_view_mut out = {row_major_view(part_results, node.dtype, results[i])};
    tnr_view a = row_major_view(part, node.operands[0].dtype, origin_of_computed());
    const CheckedReduction& by = placed.reductions[i];
    // As many rows before it as there are before this group.
    const auto width = static_cast<std::int64_t>(element_size(node.dtype));
    leaves[placed.leaf_of[placed.amid[i]]].data = reinterpret_cast<const Byte*>(
        reinterpret_cast<std::uintptr_t>(results[i]) - static_cast<std::uintptr_t>(first * width));
    found |= reduce_part(placed, by, node, leaves, place, a, out, rows);
  }
  const unsigned root = placed.nodes.count() - 1;
  const Fusion fusion(placed.nodes, root, placed.leaf_of, leaves_with_step(placed, 0),
                      leaves_with_step(placed, 1));
  const Computed computed(fusion, shape, leaves, place);
  const std::int64_t width = fusion.width_bytes();
  Byte* const out = writable(placed.out) + place * width;
  const std::int64_t all = count * row;
  if (stores == Stores::kCached) {
    computed.read(0, 1, all, out);
  } else {
    alignas(kLineBytes) Byte staged[kStreamedPanelBytes];
    const std::int64_t most = kStreamedPanelBytes / width;
    for (std::int64_t at = 0; at < all; at += most) {
      const std::int64_t taken = std::min(most, all - at);
      computed.read(at, 1, taken, staged);
      copy_lines(out + at * width, staged, taken * width, stores);
    }
  }
  return found | computed.found();
}

}  // namespace

bool can_group_rows(const PlacedNodes& placed) noexcept {
  const Node& last = placed.nodes.last();
  if (!is_elementwise(last.kind) || placed.amid_count > kMostGrouped ||
      !is_row_major(placed.out.view)) {
    return false;
  }
  if (last.shape.rank != placed.out.view.rank || last.shape.rank == 0) return false;
  for (std::uint32_t axis = 0; axis < last.shape.rank; ++axis) {
    if (last.shape.extents[axis] != placed.out.view.shape[axis]) return false;
  }
  const std::int64_t row = last.shape.last();
  const std::int64_t rows = count_of(last.shape) / row;
  for (unsigned i = 0; i < placed.amid_count; ++i) {
    const NodeOperand& operand = placed.nodes[placed.amid[i]].operands[0];
    const bool is_of_rows = operand.from == From::kNode
                                ? is_elementwise(placed.nodes[operand.index].kind) &&
                                      placed.nodes[operand.index].shape == last.shape
                                : has_shape(placed.nodes.view(operand.index), last.shape) &&
                                      has_rows_in_order(placed.nodes.view(operand.index));
    if (!is_of_rows || !adds_each_alone(placed.reductions[i].reduction, rows, row)) return false;
  }
  return true;
}

Finding run_row_groups(const Context& context, PlacedNodes& placed) noexcept {
  const Extents& shape = placed.nodes.last().shape;
  const std::int64_t row = shape.last();
  const std::int64_t rows = count_of(shape) / row;
  const std::int64_t row_bytes = row * static_cast<std::int64_t>(sizeof(double));
  const std::int64_t most =
      std::clamp(kGroupBytes / row_bytes, std::int64_t{1}, std::min(rows, kMostRows));
  const std::int64_t groups = (rows + most - 1) / most;
  const unsigned root = placed.nodes.count() - 1;
  const std::uint64_t used = leaves_of(placed.nodes, root, placed.leaf_of);
  placed.set_steps(shape.rank);
  const std::int64_t moved = std::max(placed.bytes_of(used), rows * row_bytes);
  const bool reads_output =
      std::any_of(placed.leaves, placed.leaves + placed.nodes.view_count(),
                  [&](const Leaf& leaf) { return leaf.data == placed.out.view.data; });
  const Stores stores = reads_output ? Stores::kCached : stores_for(moved);
  touch_fresh_pages(context, writable(placed.out),
                    static_cast<std::int64_t>(element_bytes(placed.out.view)));
  const std::int64_t slices = std::min(groups, slice_count_of(context, moved));
  std::atomic<std::uint32_t> finding = kernels::kNothing;
  for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
    const std::int64_t last = slice_begin(groups, slices, slice + 1);
    unsigned found = kernels::kNothing;
    for (std::int64_t group = slice_begin(groups, slices, slice); group < last; ++group) {
      const std::int64_t first = group * most;
      found |= run_group(placed, first, std::min(most, rows - first), rows, stores);
    }
    if (stores == Stores::kStreamed) order_streamed_stores();
    finding.fetch_or(found, std::memory_order_relaxed);
  });
  return static_cast<Finding>(finding.load(std::memory_order_relaxed));
}

}  // namespace tenure
