#include "expression/tile_steps.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "cpu/dispatch.hpp"
#include "dense/movement.hpp"
#include "tenure/dtype.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Finding;
using kernels::Strip;
using kernels::StripInput;

// Bytes of a panel: small enough that those of a few values stay in the first cache, large enough
// that the call of a kernel costs little compared with its loop.
constexpr std::int64_t kMostPanelBytes = 4096;

constexpr std::uint64_t bit_of(unsigned leaf) noexcept { return std::uint64_t{1} << leaf; }

void fill(const Byte* element, std::int64_t width_bytes, std::int64_t count, Byte* out) noexcept {
  const StripInput source = {element, 0, width_bytes};
  run_plainly(kernels::copy_kernels()[index_of_width(width_bytes)], {.count = count,
                                                                     .out = out,
                                                                     .out_step = width_bytes,
                                                                     .width_bytes = width_bytes,
                                                                     .source_count = 1,
                                                                     .in = &source,
                                                                     .parameters = nullptr});
}

// Copies the elements of one leaf of a tile to adjacent elements.
void gather_tile(const LeafTile& tile, unsigned leaf, std::int64_t width_bytes,
                 Byte* out) noexcept {
  const Byte* const in = tile.data[leaf];
  const std::int64_t rows = tile.rows;
  const std::int64_t columns = tile.columns;
  const std::int64_t row_step = tile.row_steps[leaf];
  const std::int64_t column_step = tile.column_steps[leaf];
  if (rows == 1) {
    const StripInput source = {in, column_step, width_bytes};
    return run_plainly(kernels::copy_kernels()[index_of_width(width_bytes)],
                       {.count = columns,
                        .out = out,
                        .out_step = width_bytes,
                        .width_bytes = width_bytes,
                        .source_count = 1,
                        .in = &source,
                        .parameters = nullptr});
  }
  if (row_step == width_bytes && column_step != width_bytes) {
    kernels::Block block{};
    block.rank = 2;
    block.extents[0] = rows;
    block.extents[1] = columns;
    block.in_steps[0] = row_step;
    block.in_steps[1] = column_step;
    block.out_steps[0] = columns * width_bytes;
    block.out_steps[1] = width_bytes;
    block.in = in;
    block.out = out;
    block.width_bytes = width_bytes;
    return kernels::permuting_kernels().transpose[index_of_width(width_bytes)](block);
  }
  move_rows({rows, columns, row_step, column_step}, in, out, width_bytes, true);
}

}  // namespace

// The state while steps are made.
struct TileSteps::Plan {
  std::uint64_t repeated;
  const std::uint8_t* leaf_of;
  Panels panels;
  std::uint64_t loaded = 0;
  std::uint16_t last_use[kMaxNodes];  // the node that reads this one last
  std::uint16_t last_use_of_leaf[kMaxLeaves];
  Value values[kMaxNodes];

  [[nodiscard]] bool is_leaf(const NodeOperand& operand) const noexcept {
    return operand.from == From::kView ||
           (operand.from == From::kNode && leaf_of[operand.index] != kNoLeaf);
  }
  [[nodiscard]] unsigned leaf(const NodeOperand& operand) const noexcept {
    return operand.from == From::kView ? operand.index : leaf_of[operand.index];
  }
};

std::uint64_t leaves_of(const Nodes& nodes, unsigned root, const std::uint8_t* leaf_of) noexcept {
  std::uint64_t leaves = 0;
  bool is_needed[kMaxNodes];
  std::fill_n(is_needed, root, false);
  for (unsigned i = root;; --i) {
    const Node& node = nodes[i];
    for (unsigned k = 0; (i == root || is_needed[i]) && k < node.operand_count; ++k) {
      const NodeOperand& operand = node.operands[k];
      if (operand.from == From::kView) {
        leaves |= bit_of(operand.index);
      } else if (operand.from == From::kNode && leaf_of[operand.index] == kNoLeaf) {
        is_needed[operand.index] = true;
      } else if (operand.from == From::kNode) {
        leaves |= bit_of(leaf_of[operand.index]);
      }
    }
    if (i == 0) return leaves;
  }
}

TileSteps::TileSteps(const Nodes& nodes, unsigned root, const std::uint8_t* leaf_of,
                     std::uint64_t repeated, std::uint64_t in_place,
                     TileStepMemory& memory) noexcept
    : nodes_(nodes),
      width_bytes_(static_cast<std::int64_t>(element_size(nodes[root].dtype))),
      steps_(memory.steps_ + memory.used_) {
  Plan plan;
  plan.repeated = repeated;
  plan.leaf_of = leaf_of;
  bool is_needed[kMaxNodes];
  std::fill_n(is_needed, root + 1, false);
  is_needed[root] = true;
  plan.last_use[root] = static_cast<std::uint16_t>(root);
  std::int64_t widest = width_bytes_;
  unsigned first_needed = root;
  for (unsigned i = root + 1; i-- > 0;) {
    if (!is_needed[i]) continue;
    first_needed = i;
    const Node& node = nodes[i];
    widest = std::max(widest, static_cast<std::int64_t>(element_size(node.dtype)));
    for (unsigned k = 0; k < node.operand_count; ++k) {
      const NodeOperand& operand = node.operands[k];
      if (operand.from == From::kScalar) continue;
      widest = std::max(widest, operand.width_bytes());
      if (plan.is_leaf(operand)) {
        const unsigned leaf = plan.leaf(operand);
        if ((leaves_ & bit_of(leaf)) == 0) {
          leaves_ |= bit_of(leaf);
          plan.last_use_of_leaf[leaf] = static_cast<std::uint16_t>(i);
        }
      } else if (!is_needed[operand.index]) {
        is_needed[operand.index] = true;
        plan.last_use[operand.index] = static_cast<std::uint16_t>(i);
      }
    }
  }
  gathered_ = leaves_ & ~repeated & ~in_place;
  for (unsigned i = first_needed; i <= root; ++i) {
    if (is_needed[i]) add_step(plan, i, i == root);
  }
  memory.used_ += step_count_;
  const std::int64_t panels = std::max(plan.panels.made(), 1u);
  // Not a page apart, where their lines would evict each other.
  const std::int64_t room = TileFrame::kBytes / panels / kLineBytes * kLineBytes - kLineBytes;
  const std::int64_t panel_bytes = std::clamp(room, kLineBytes, kMostPanelBytes);
  panel_pitch_ = panel_bytes + (room > kLineBytes ? kLineBytes : 0);
  tile_elements_ = panel_bytes / widest;
}

void TileSteps::add_load(Plan& plan, unsigned leaf, unsigned width_bytes) noexcept {
  const unsigned panel = plan.panels.take();
  leaf_panels_[leaf] = static_cast<std::uint16_t>(panel);
  plan.loaded |= bit_of(leaf);
  const Value value = {Location::kLeaf, static_cast<std::uint8_t>(width_bytes),
                       static_cast<std::uint16_t>(leaf)};
  std::construct_at(&steps_[step_count_++],
                    Step{StripRunner(copy_operation(TNR_DTYPE_U8), Strip{}), 0, false, {}, value});
}

// Panels of what a node reads last: of those that are as wide as its result, or of the others.
void TileSteps::give_back(Plan& plan, unsigned index, std::int64_t width,
                          bool are_as_wide) noexcept {
  const Node& node = nodes_[index];
  for (unsigned k = 0; k < node.operand_count; ++k) {
    const NodeOperand& operand = node.operands[k];
    const auto is_operand = [&](const NodeOperand& before) {
      return before.from == operand.from && before.index == operand.index;
    };
    if (operand.from == From::kScalar ||
        std::any_of(node.operands, node.operands + k, is_operand)) {
      continue;
    }
    const bool is_leaf = plan.is_leaf(operand);
    if ((operand.width_bytes() == width) != are_as_wide) continue;
    if (is_leaf) {
      const unsigned leaf = plan.leaf(operand);
      const bool has_panel = (gathered_ & bit_of(leaf)) != 0;
      if (has_panel && plan.last_use_of_leaf[leaf] == index) plan.panels.give(leaf_panels_[leaf]);
    } else if (plan.values[operand.index].location == Location::kPanel &&
               plan.last_use[operand.index] == index) {
      plan.panels.give(plan.values[operand.index].index);
    }
  }
}

void TileSteps::add_step(Plan& plan, unsigned index, bool is_root) noexcept {
  const Node& node = nodes_[index];
  const auto width = static_cast<std::int64_t>(element_size(node.dtype));
  Value sources[kMaxOperands];
  StripInput like[kMaxOperands];
  bool is_once = true;
  for (unsigned k = 0; k < node.operand_count; ++k) {
    const NodeOperand& operand = node.operands[k];
    Value& value = sources[k];
    bool repeats;
    if (operand.from == From::kScalar) {
      value = {Location::kConstant, static_cast<std::uint8_t>(operand.width_bytes()),
               operand.index};
      repeats = true;
    } else if (plan.is_leaf(operand)) {
      const unsigned leaf = plan.leaf(operand);
      value = {Location::kLeaf, static_cast<std::uint8_t>(operand.width_bytes()),
               static_cast<std::uint16_t>(leaf)};
      repeats = (plan.repeated & bit_of(leaf)) != 0;
      if ((gathered_ & ~plan.loaded & bit_of(leaf)) != 0) add_load(plan, leaf, value.width_bytes);
    } else {
      value = plan.values[operand.index];
      repeats = value.location == Location::kElement;
    }
    is_once &= repeats;
    like[k] = {nullptr, repeats ? 0 : value.width_bytes, value.width_bytes};
  }
  // The result may replace an operand as wide that is read for the last time: kernels work in place.
  give_back(plan, index, width, true);
  Value out = {Location::kOut, static_cast<std::uint8_t>(width), 0};
  if (is_once) {
    out.location = Location::kElement;
    out.index = static_cast<std::uint16_t>(index);
  } else if (!is_root) {
    out.location = Location::kPanel;
    out.index = static_cast<std::uint16_t>(plan.panels.take());
  }
  give_back(plan, index, width, false);
  plan.values[index] = out;
  const Strip strip = {.count = is_once ? 1 : kLineBytes,
                       .out = nullptr,
                       .out_step = width,
                       .width_bytes = width,
                       .source_count = node.operand_count,
                       .in = like,
                       .parameters = nullptr};
  Step step = {StripRunner(node.operation(), strip), node.operand_count, is_once, {}, out};
  std::copy_n(sources, kMaxOperands, step.sources);
  std::construct_at(&steps_[step_count_++], step);
}

Finding TileSteps::run(TileFrame& frame, const LeafTile& tile, Byte* out) const noexcept {
  const std::int64_t count = tile.rows * tile.columns;
  const Byte* places[kMaxLeaves];  // of gathered leaves
  std::int64_t place_steps[kMaxLeaves];
  const auto panel = [&](unsigned index) { return frame.panels + index * panel_pitch_; };
  unsigned found = kernels::kNothing;
  for (unsigned i = 0; i < step_count_; ++i) {
    const Step& step = steps_[i];
    if (step.source_count == 0) {
      const unsigned leaf = step.out.index;
      const std::int64_t width = step.out.width_bytes;
      const std::int64_t row_step = tile.row_steps[leaf];
      const std::int64_t column_step = tile.column_steps[leaf];
      const bool is_one = column_step == 0 && (tile.rows == 1 || row_step == 0);
      const bool is_adjacent =
          column_step == width && (tile.rows == 1 || row_step == tile.columns * width);
      places[leaf] = tile.data[leaf];
      place_steps[leaf] = is_one ? 0 : width;
      if (is_one || is_adjacent) continue;
      gather_tile(tile, leaf, width, panel(leaf_panels_[leaf]));
      places[leaf] = panel(leaf_panels_[leaf]);
      continue;
    }
    StripInput sources[kMaxOperands];
    for (unsigned k = 0; k < step.source_count; ++k) {
      const Value& value = step.sources[k];
      const std::int64_t width = value.width_bytes;
      switch (value.location) {
        case Location::kLeaf:
          if ((gathered_ & bit_of(value.index)) != 0) {
            sources[k] = {places[value.index], place_steps[value.index], width};
          } else {
            const std::int64_t step_bytes = tile.column_steps[value.index];
            sources[k] = {tile.data[value.index], step_bytes, width};
          }
          break;
        case Location::kPanel: sources[k] = {panel(value.index), width, width}; break;
        case Location::kElement: sources[k] = {frame.elements[value.index].bytes, 0, width}; break;
        default: sources[k] = {nodes_.element(value.index).bytes, 0, width}; break;
      }
    }
    const std::int64_t width = step.out.width_bytes;
    Byte* to = out;
    if (step.out.location == Location::kPanel) to = panel(step.out.index);
    if (step.out.location == Location::kElement) to = frame.elements[step.out.index].bytes;
    found |= step.runner.run({.count = step.is_once ? 1 : count,
                              .out = to,
                              .out_step = width,
                              .width_bytes = width,
                              .source_count = step.source_count,
                              .in = sources,
                              .parameters = nullptr});
  }
  const Step& last = steps_[step_count_ - 1];
  if (last.is_once) fill(frame.elements[last.out.index].bytes, width_bytes_, count, out);
  return static_cast<Finding>(found);
}

}  // namespace tenure
