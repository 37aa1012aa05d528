// Products of matrices.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "cuda/kernels/matmul_arguments.hpp"
#include "cuda/libraries/products.hpp"
#include "cuda/operations/enqueue.hpp"
#include "cuda/operations/grid.hpp"
#include "dense/product/matmul_operands.hpp"
#include "memory/queue_order.hpp"
#include "tenure/counters.hpp"
#include "tenure/dtype.hpp"
#include "view/operand_checks.hpp"

namespace tenure::cuda {
namespace {

using Geometry = BlockedMatmul::Geometry;

struct MatmulKernel {
  Kernel kernel;
  std::int64_t lines;  // of a tile
};
constexpr std::int64_t kSide = kMatmulSide;
constexpr MatmulKernel kLargeF32 = {Kernel::matmul_f32_8, 8 * kSide};
constexpr MatmulKernel kSmallF32 = {Kernel::matmul_f32_4, 4 * kSide};
constexpr MatmulKernel kOfF64 = {Kernel::matmul_f64_4, 4 * kSide};
constexpr MatmulKernel kOfI32 = {Kernel::matmul_i32_4, 4 * kSide};

std::int64_t tiles_of(const Geometry& geometry, std::int64_t lines) {
  return quotient_up(geometry.rows, lines) * quotient_up(geometry.columns, lines);
}

// Large tiles read less, where there are enough of them for all processors. The bits are the same.
MatmulKernel matmul_kernel_of(const Queue& queue, const FactorDtype& dtype,
                              const Geometry& geometry, std::int64_t products) {
  if (dtype.sum == TNR_DTYPE_F64) return kOfF64;
  if (dtype.sum == TNR_DTYPE_I32) return kOfI32;
  const std::int64_t large = tiles_of(geometry, kLargeF32.lines);
  return large >= quotient_up(queue.multiprocessor_count(), products) ? kLargeF32 : kSmallF32;
}

// The transpose of a result is the product of the transposes in the other order: its columns are
// the rows, where these are adjacent.
Geometry transposed(const Geometry& of) {
  Geometry result = of;
  result.rows = of.columns;
  result.columns = of.rows;
  result.a = {of.b.column, of.b.row};
  result.b = {of.a.column, of.a.row};
  result.out = {of.out.column, of.out.row};
  return result;
}

std::uint64_t low_bits(const tenure::Element& element, tnr_dtype dtype) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element.bytes, element_size(dtype));
  return bits;
}

// The addresses that differ along the batch.
std::uint64_t batch_places(const Nest& batch, unsigned operand, const unsigned char* data) {
  std::uint64_t places = address_of(data);
  for (unsigned axis = 0; axis < batch.rank(); ++axis) {
    places |= static_cast<std::uint64_t>(batch.step(axis, operand));
  }
  return places;
}

// Elements of a group: 16 bytes in the type of the computation.
std::int64_t group_items_of(tnr_dtype sum) {
  return kGroupBytes / static_cast<std::int64_t>(element_size(sum));
}

struct FactorSteps {
  std::int64_t line;
  std::int64_t depth;
};
void set_factor(MatmulFactor& factor, tnr_dtype dtype, tnr_dtype sum, std::int64_t lines,
                const FactorSteps& steps, std::uint64_t places) {
  const auto width = static_cast<std::int64_t>(element_size(dtype));
  const std::int64_t group_bytes = width * group_items_of(sum);
  factor.line_step = steps.line;
  factor.depth_step = steps.depth;
  factor.lines = lines;
  factor.type = static_cast<ElementType>(type_index(dtype));
  // From line to line only where elements are adjacent so.
  const bool is_along_depth = steps.line != width || steps.depth == width;
  factor.is_along_depth = is_along_depth ? 1 : 0;
  const std::int64_t along = is_along_depth ? steps.depth : steps.line;
  const std::int64_t across = is_along_depth ? steps.line : steps.depth;
  const bool is_aligned =
      (places | static_cast<std::uint64_t>(across)) % static_cast<std::uint64_t>(group_bytes) == 0;
  factor.has_vectors = along == width && is_aligned ? 1 : 0;
}

void run_matmul(const Queue& queue, const MatmulOperands& operands, const MatmulScalars& scalars,
                const BoundedActivation& activation, const tnr_view& a, const tnr_view& b) {
  const FactorDtype& dtype = operands.dtype();
  const Nest batch = operands.batch();
  const std::int64_t products = batch.count();
  Geometry geometry = operands.geometry();
  const auto width = static_cast<std::int64_t>(element_size(dtype.result));
  const bool is_transposed = geometry.out.row == width && geometry.out.column != width;
  if (is_transposed) geometry = transposed(geometry);
  const tnr_view& left = is_transposed ? b : a;
  const tnr_view& right = is_transposed ? a : b;
  const unsigned left_operand = is_transposed ? 2 : 1;
  const unsigned right_operand = is_transposed ? 1 : 2;

  MatmulArgument argument = {};
  const engines::ProductMemory first = operands.first();
  argument.a.data = static_cast<const unsigned char*>(is_transposed ? first.b : first.a);
  argument.b.data = static_cast<const unsigned char*>(is_transposed ? first.a : first.b);
  argument.out = static_cast<unsigned char*>(first.out);
  set_factor(argument.a, left.dtype, dtype.sum, geometry.rows, {geometry.a.row, geometry.a.column},
             batch_places(batch, left_operand, argument.a.data));
  set_factor(argument.b, right.dtype, dtype.sum, geometry.columns,
             {geometry.b.column, geometry.b.row},
             batch_places(batch, right_operand, argument.b.data));
  argument.out_row_step = geometry.out.row;
  argument.out_column_step = geometry.out.column;
  const std::uint64_t out_places =
      batch_places(batch, 0, argument.out) | static_cast<std::uint64_t>(geometry.out.row);
  const auto out_group = static_cast<std::uint64_t>(width * group_items_of(dtype.sum));
  argument.has_out_vectors = geometry.out.column == width && out_places % out_group == 0 ? 1 : 0;
  if (const tnr_view* const bias = operands.bias(); bias != nullptr) {
    argument.bias = bytes_of(*bias);
    (is_transposed ? argument.bias_row_step : argument.bias_column_step) = step_of(*bias, 0);
  }
  argument.depth = geometry.depth;
  // The sum of no products is 0, also times an infinite alpha.
  argument.alpha = geometry.depth == 0 ? 0 : low_bits(scalars.alpha, dtype.sum);
  argument.beta = low_bits(scalars.beta, dtype.sum);
  argument.has_beta = scalars.has_beta ? 1 : 0;
  argument.low = low_bits(activation.low(), dtype.sum);
  argument.high = low_bits(activation.high(), dtype.sum);
  argument.is_bounded = activation.is_bounded() ? 1 : 0;
  argument.out_type = static_cast<ElementType>(type_index(dtype.result));

  const MatmulKernel kernel = matmul_kernel_of(queue, dtype, geometry, products);
  const std::int64_t row_tiles = quotient_up(geometry.rows, kernel.lines);
  const std::int64_t column_tiles = quotient_up(geometry.columns, kernel.lines);
  std::int64_t blocks;
  if (__builtin_mul_overflow(row_tiles, column_tiles, &blocks) ||
      __builtin_mul_overflow(blocks, products, &blocks) || blocks >= kMostNumber) {
    fail(TNR_STATUS_UNSUPPORTED,
         "%" PRId64 " products of %" PRId64 " by %" PRId64 " elements are too many for a device",
         products, geometry.rows, geometry.columns);
  }
  argument.row_tiles = static_cast<std::uint32_t>(row_tiles);
  argument.column_tiles = static_cast<std::uint32_t>(column_tiles);
  argument.rank = batch.rank();
  for (unsigned i = 0; i < batch.rank(); ++i) {
    const unsigned axis = batch.rank() - 1 - i;
    MatmulAxis& to = argument.axes[i];
    to.divider = divider_by(batch.extent(axis));
    to.steps[kMatmulOut] = batch.step(axis, 0);
    to.steps[kMatmulA] = batch.step(axis, left_operand);
    to.steps[kMatmulB] = batch.step(axis, right_operand);
  }
  queue.launch(kernel.kernel, {static_cast<unsigned>(blocks), kThreads}, argument);
}

// False where the library's own kernel is to compute it.
bool multiply_by_vendor(const Queue& queue, const MatmulOperands& operands,
                        const MatmulScalars& scalars, const BoundedActivation& activation) {
  require_products();
  const tnr_view* const bias = operands.bias();
  if (bias != nullptr && bias->shape[0] > 1 && bias->strides[0] != 1) return false;
  const auto applied = library_activation(activation, operands.dtype().sum);
  const std::optional<engines::Product> product = operands.for_engines(scalars);
  if (!applied || !product) return false;
  engines::ProductMemory memory = operands.first();
  if (bias != nullptr) memory.bias = bias->data;
  return multiply(queue, *product, memory, *applied);
}

}  // namespace

void enqueue(const Queue& queue, const DeviceMatmul& call) {
  const auto& [alpha, a, b, beta, out, attributes] = call;
  const MatmulOperands operands(a, b, nullptr, attributes, out, queue.device());
  const FactorDtype& dtype = operands.dtype();
  const MatmulScalars scalars(alpha, beta, dtype);
  const BoundedActivation activation(Activation(attributes), dtype.result, dtype.computed());
  require_none(device_refusal(queue.device(), TNR_NODE_MATMUL, a.dtype));
  activation.require_bounds_alone("matmul", queue.device());
  if (is_empty(out.view)) return count_call(TNR_OPERATION_MATMUL, 0, 0);
  const QueueOrder order(queue, operands.pins());
  if (!queue.is_by_vendor() || !multiply_by_vendor(queue, operands, scalars, activation)) {
    run_matmul(queue, operands, scalars, activation, a, b);
  }
  const tnr_view* const bias = operands.bias();
  count_call(TNR_OPERATION_MATMUL,
             element_bytes(a) + element_bytes(b) + (bias == nullptr ? 0 : element_bytes(*bias)) +
                 (scalars.has_beta ? element_bytes(out.view) : 0),
             element_bytes(out.view));
}

}  // namespace tenure::cuda
