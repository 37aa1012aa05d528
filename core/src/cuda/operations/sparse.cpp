// Sparse matrices.
#include <algorithm>
#include <cstring>

#include "cuda/kernels/sparse_arguments.hpp"
#include "cuda/operations/call.hpp"
#include "cuda/operations/grid.hpp"
#include "cuda/operations/order.hpp"
#include "dense/operands.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/sparse.hpp"

namespace tenure::cuda {
namespace {

// Entries of a row, on the average, up to which one thread or four take a row.
constexpr std::int64_t kEntriesOfOne = 4;
constexpr std::int64_t kEntriesOfFour = 32;
// Entries that a thread of a row's group takes one after the other, at most, and those of an average
// row, before all threads of a block share a row: two barriers are worth it then.
constexpr std::int64_t kMostEntriesOfThread = 128;
constexpr std::int64_t kLongRows = 8;
// Blocks for each multiprocessor, of which eight run at once: enough for uneven ones to even out.
constexpr std::int64_t kBlocksEach = 64;

std::uint32_t entry_shift_of(std::int64_t entries, std::int64_t rows, std::uint32_t column_shift) {
  const std::int64_t mean = entries / std::max<std::int64_t>(rows, 1);
  const std::uint32_t wanted = mean <= kEntriesOfOne ? 0 : mean <= kEntriesOfFour ? 2 : kWarpShift;
  return std::min(wanted, kWarpShift - column_shift);
}

Kernel product_kernel_of(tnr_dtype dtype, bool has_many_columns) {
  if (dtype == TNR_DTYPE_F64) {
    return has_many_columns ? Kernel::sparse_matmul_f64_4 : Kernel::sparse_matmul_f64_1;
  }
  return has_many_columns ? Kernel::sparse_matmul_f32_4 : Kernel::sparse_matmul_f32_1;
}

std::uint64_t low_bits_of(const void* element, tnr_dtype dtype) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, dtype == TNR_DTYPE_F64 ? sizeof(double) : sizeof(float));
  return bits;
}

void launch_product(const Queue& queue, const DeviceSparseMatmul& call, std::uint32_t* finding) {
  const tnr_sparse_view& a = call.a;
  const tnr_view& b = call.b;
  const tnr_view& out = call.out.view;
  SparseMatmulArgument argument = {};
  argument.offsets = bytes_of(a.major);
  argument.indices = bytes_of(a.minor);
  argument.values = bytes_of(a.values);
  argument.b = bytes_of(b);
  argument.out = writable(call.out);
  argument.finding = finding;
  argument.entries = static_cast<std::uint64_t>(a.minor.shape[0]);
  argument.b_rows = static_cast<std::uint64_t>(minor_count(a));
  argument.rows = major_count(a);
  argument.columns = out.rank == 1 ? 1 : out.shape[1];
  argument.b_row_step = step_of(b, 0);
  argument.out_row_step = step_of(out, 0);
  if (out.rank == 2) {
    argument.b_column_step = step_of(b, 1);
    argument.out_column_step = step_of(out, 1);
  }
  argument.alpha = low_bits_of(call.alpha, a.values.dtype);
  if (call.beta != nullptr) {
    argument.beta = low_bits_of(call.beta, a.values.dtype);
    argument.has_beta = 1;
  }
  argument.type = static_cast<ElementType>(type_index(a.values.dtype));
  argument.has_wide_indices = a.minor.dtype == TNR_DTYPE_I64 ? 1 : 0;

  const bool has_many_columns = argument.columns > std::int64_t{1} << kWarpShift;
  const std::int64_t each = has_many_columns ? kProductColumns : 1;
  const std::int64_t lanes = quotient_up(std::max<std::int64_t>(argument.columns, 1), each);
  argument.column_shift = std::min(logarithm_up(lanes), kWarpShift);
  argument.entry_shift = entry_shift_of(a.minor.shape[0], argument.rows, argument.column_shift);
  const std::int64_t mean = a.minor.shape[0] / std::max<std::int64_t>(argument.rows, 1);
  argument.long_row = static_cast<std::uint64_t>(
      std::max(kMostEntriesOfThread << argument.entry_shift, kLongRows * mean));
  const std::uint32_t group_shift = argument.column_shift + argument.entry_shift;
  argument.row_blocks =
      std::max<std::int64_t>(quotient_up(argument.rows, std::int64_t{kThreads} >> group_shift), 1);
  argument.work =
      argument.row_blocks * quotient_up(lanes, std::int64_t{1} << argument.column_shift);
  const std::int64_t blocks =
      std::min(argument.work, std::int64_t{queue.multiprocessor_count()} * kBlocksEach);
  queue.launch(product_kernel_of(a.values.dtype, has_many_columns),
               {static_cast<unsigned>(blocks), kThreads}, argument);
}

}  // namespace

bool Queue::sparse_matmul(const DeviceSparseMatmul& call) const {
  const ElementType type = require_real(*this, "matmul", call.a.values.dtype);
  if (type > ElementType::kBF16) refuse_on_device(*this, "matmul", call.a.values.dtype);
  const QueueOrder order(*this, call.pins);
  const QueueOrder order_of_a(*this, call.a_pins);
  if (call.is_trusted) {
    if (!is_empty(call.out.view)) launch_product(*this, call, nullptr);
    return true;
  }
  std::uint32_t finding = 0;
  const Scratch scratch(*this, sizeof finding);
  fill_bytes(scratch.data(), 0, sizeof finding);
  launch_product(*this, call, static_cast<std::uint32_t*>(scratch.data()));
  copy_out(&finding, scratch.data(), sizeof finding);
  return finding == 0;
}

}  // namespace tenure::cuda
