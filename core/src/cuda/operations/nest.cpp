#include "cuda/operations/nest.hpp"

#include <algorithm>

#include "cuda/operations/grid.hpp"

namespace tenure::cuda {
namespace {

constexpr std::int64_t kMostBlocks = (std::int64_t{1} << 31) - 1;

// Fewer rows or columns leave most of a tile empty, and lines of the caches serve them as well.
constexpr std::int64_t kLeastTiled = 8;

// Vectors are aligned to their size, 16 bytes at most.
std::int64_t vector_alignment(std::int64_t vector_bytes) {
  return std::min<std::int64_t>(vector_bytes, 16);
}

// Whether an address or a step is a multiple of a power of two: a division takes longer than all
// else that is done for an operand.
bool is_multiple(std::uint64_t number, std::int64_t power) {
  return (number & static_cast<std::uint64_t>(power - 1)) == 0;
}

// Sets an axis whose positions are taken 2^shift at once.
void set_axis(NestAxis& axis, const LoopNest& nest, unsigned of, unsigned shift = 0) {
  axis = {};
  axis.divider = divider_by(nest.extent(of) >> shift);
  for (unsigned i = 0; i < nest.operand_count(); ++i) axis.steps[i] = nest.step(of, i) << shift;
}

// The axes of a nest that has some; 2^shift positions of the innermost.
void set_axes(const LoopNest& nest, unsigned shift, ElementwiseArgument& argument) {
  argument.rank = nest.rank();
  set_axis(argument.axes[0], nest, nest.rank() - 1, shift);
  for (unsigned i = 1; i < nest.rank(); ++i) set_axis(argument.axes[i], nest, nest.rank() - 1 - i);
}

// Whether an operand is a vector wherever the innermost axis has one: adjacent, and aligned from
// whatever position of the other axes.
bool has_vectors(const LoopNest& nest, unsigned operand, unsigned items) {
  const Operand of = nest.operand(operand);
  const unsigned inner = nest.rank() - 1;
  if (of.data == nullptr || nest.step(inner, operand) == 0) return true;
  const std::int64_t alignment = vector_alignment(items * of.width_bytes);
  std::uint64_t places = address_of(of.data);
  for (unsigned axis = 0; axis < inner; ++axis) {
    places |= static_cast<std::uint64_t>(nest.step(axis, operand));
  }
  return nest.step(inner, operand) == of.width_bytes && is_multiple(places, alignment);
}

bool has_vectors(const LoopNest& nest, unsigned items) {
  if (nest.rank() == 0 || nest.step(nest.rank() - 1, 0) == 0) return false;
  for (unsigned i = 0; i < nest.operand_count(); ++i) {
    if (!has_vectors(nest, i, items)) return false;
  }
  return true;
}

// Gives the blocks of vectors and of the rest; 0: too many.
unsigned set_blocks(std::int64_t vectors, std::int64_t rest, unsigned item_shift,
                    ElementwiseArgument& argument) {
  const std::int64_t vector_blocks = shifted_up(vectors, kBlockShift);
  const unsigned rest_shift = kBlockShift + std::min(item_shift, logarithm_of(kMostRestItems));
  const std::int64_t blocks = vector_blocks + shifted_up(rest, rest_shift);
  if (blocks > kMostBlocks) return 0;
  argument.vector_blocks = static_cast<std::uint32_t>(vector_blocks);
  return static_cast<unsigned>(blocks);
}

}  // namespace

bool LoopNest::is_dense() const noexcept {
  if (rank() > 1) return false;
  for (unsigned i = 0; i < operand_count(); ++i) {
    if (rank() == 1 && step(0, i) != operands_[i].width_bytes) return false;
  }
  return true;
}

LoopNest::Halves LoopNest::halves() const noexcept {
  Halves result = {*this, *this};
  const std::int64_t low = extent(0) / 2;
  result.low.narrow(0, low);
  result.high.narrow(low, extent(0) - low);
  return result;
}

Divider divider_by(std::int64_t extent) noexcept {
  const auto divisor = static_cast<std::uint64_t>(extent);
  const std::uint32_t shift = logarithm_up(extent);
  const std::uint64_t multiplier = (((std::uint64_t{1} << shift) - divisor) << 32) / divisor + 1;
  return {static_cast<std::uint32_t>(divisor), static_cast<std::uint32_t>(multiplier), shift};
}

unsigned share_out(const LoopNest& nest, unsigned items, ElementwiseArgument& argument,
                   std::int64_t most_rest) noexcept {
  const unsigned item_shift = logarithm_of(items);
  const std::int64_t count = nest.count();
  const bool is_flat = nest.rank() <= 1;
  const bool are_vectors = has_vectors(nest, items);
  const bool are_nested =
      are_vectors && !is_flat &&
      is_multiple(static_cast<std::uint64_t>(nest.extent(nest.rank() - 1)), items) &&
      count >> item_shift < most_rest;
  const std::int64_t vectors = are_nested || (are_vectors && is_flat) ? count >> item_shift : 0;
  argument.vector_count = static_cast<std::uint64_t>(vectors);
  argument.nested_vectors = are_nested ? 1 : 0;
  const std::int64_t in_vectors = vectors << item_shift;
  const std::int64_t rest = count - in_vectors;
  if (rest >= most_rest) return 0;
  argument.rest_count = static_cast<std::uint32_t>(rest);

  argument.repeated = 0;
  unsigned char* places[1 + kMostInputs] = {};
  unsigned char* rests[1 + kMostInputs] = {};
  for (unsigned i = 0; i < nest.operand_count(); ++i) {
    const Operand of = nest.operand(i);
    const std::int64_t inner_step = nest.rank() == 0 ? 0 : nest.step(nest.rank() - 1, i);
    if (i != 0 && inner_step == 0) argument.repeated |= 1u << (i - 1);
    if (of.data == nullptr) continue;
    places[i] = const_cast<unsigned char*>(of.data);
    rests[i] = places[i] + (is_flat ? in_vectors * inner_step : 0);
  }
  argument.out = places[0];
  argument.rest_out = rests[0];
  for (unsigned i = 0; i < kMostInputs; ++i) {
    argument.in[i] = places[1 + i];
    argument.rest_in[i] = rests[1 + i];
  }

  if (are_nested) {
    set_axes(nest, item_shift, argument);
  } else if (rest != 0 && is_flat) {
    argument.rank = 1;
    argument.axes[0] = {};
    argument.axes[0].divider = divider_by(rest);
    for (unsigned i = 0; i < nest.operand_count() && nest.rank() == 1; ++i) {
      argument.axes[0].steps[i] = nest.step(0, i);
    }
  } else if (rest != 0) {
    set_axes(nest, 0, argument);
  }

  return set_blocks(vectors, rest, item_shift, argument);
}

unsigned share_out_dense(std::int64_t count, std::int64_t width_bytes, unsigned items,
                         ElementwiseArgument& argument, std::int64_t most_rest) noexcept {
  const unsigned item_shift = logarithm_of(items);
  std::uint64_t places = address_of(argument.out);
  for (const unsigned char* const in : argument.in) places |= address_of(in);
  const bool are_vectors = is_multiple(places, vector_alignment(width_bytes << item_shift));
  const std::int64_t vectors = are_vectors ? count >> item_shift : 0;
  const std::int64_t in_vectors = vectors << item_shift;
  const std::int64_t rest = count - in_vectors;
  if (rest >= most_rest) return 0;
  argument.vector_count = static_cast<std::uint64_t>(vectors);
  argument.rest_count = static_cast<std::uint32_t>(rest);
  argument.repeated = argument.numbers;

  argument.rest_out = argument.out + in_vectors * width_bytes;
  for (unsigned i = 0; i < kMostInputs; ++i) {
    if (argument.in[i] != nullptr) argument.rest_in[i] = argument.in[i] + in_vectors * width_bytes;
  }
  if (rest != 0) {
    argument.rank = 1;
    argument.axes[0] = {divider_by(rest), 0, {width_bytes}};
    for (unsigned i = 0; i < kMostInputs; ++i) {
      argument.axes[0].steps[1 + i] = argument.in[i] != nullptr ? width_bytes : 0;
    }
  }
  return set_blocks(vectors, rest, item_shift, argument);
}

std::optional<TransposedCopy> transposed_copy(const LoopNest& nest) noexcept {
  if (nest.rank() < 2) return std::nullopt;
  const unsigned column_axis = nest.rank() - 1;
  const std::int64_t width = nest.operand(0).width_bytes;
  if (nest.step(column_axis, 0) != width || nest.step(column_axis, 1) == width) return std::nullopt;
  unsigned row_axis = 0;
  while (row_axis < column_axis && nest.step(row_axis, 1) != width) ++row_axis;
  if (row_axis == column_axis) return std::nullopt;
  const std::int64_t rows = nest.extent(row_axis);
  const std::int64_t columns = nest.extent(column_axis);
  if (rows < kLeastTiled || columns < kLeastTiled || rows >= kMostRest || columns >= kMostRest) {
    return std::nullopt;
  }
  const std::int64_t side = width <= 2 ? 64 : 32;  // TileOf of movement.cu
  const std::int64_t row_tiles = quotient_up(rows, side);
  const std::int64_t column_tiles = quotient_up(columns, side);
  const std::int64_t tiles = row_tiles * column_tiles;
  const std::int64_t outer_count = nest.count() / rows / columns;
  if (tiles > kMostBlocks || outer_count > kMostBlocks / tiles) return std::nullopt;

  TransposedCopy result = {};
  TransposeArgument& argument = result.argument;
  argument.out = const_cast<unsigned char*>(nest.operand(0).data);
  argument.in = nest.operand(1).data;
  argument.row_tiles = static_cast<std::uint32_t>(row_tiles);
  argument.column_tiles = static_cast<std::uint32_t>(column_tiles);
  argument.rows = static_cast<std::uint32_t>(rows);
  argument.columns = static_cast<std::uint32_t>(columns);
  argument.out_row_step = nest.step(row_axis, 0);
  argument.in_column_step = nest.step(column_axis, 1);
  LoopNest outer = nest;
  outer.remove(column_axis);
  outer.remove(row_axis);
  argument.rank = outer.rank();
  for (unsigned i = 0; i < outer.rank(); ++i) {
    set_axis(argument.axes[i], outer, outer.rank() - 1 - i);
  }
  result.blocks = static_cast<unsigned>(outer_count * tiles);
  return result;
}

}  // namespace tenure::cuda
