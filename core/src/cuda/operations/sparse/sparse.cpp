// Sparse matrices.
#include <algorithm>
#include <cstring>

#include "cpu/compress.hpp"
#include "cuda/operations/elementwise_launch.hpp"
#include "cuda/operations/enqueue.hpp"
#include "cuda/operations/finding.hpp"
#include "cuda/operations/grid.hpp"
#include "cuda/operations/sparse/rows.hpp"
#include "dense/scalar.hpp"
#include "memory/queue_order.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/sparse.hpp"
#include "view/operand_checks.hpp"

namespace tenure::cuda {
namespace {

// Entries of a row, on the average, up to which one thread or four take a row.
constexpr std::int64_t kEntriesOfOne = 4;
constexpr std::int64_t kEntriesOfFour = 32;
// Entries that a thread of a row's group takes one after the other, at most, and those of an
// average row, before all threads of a block share a row: two barriers are worth it then.
constexpr std::int64_t kMostEntriesOfThread = 128;
constexpr std::int64_t kLongRows = 8;
// Products of a sum, at least, for each thread that adds up some.
constexpr std::int64_t kProductsOfThread = 4;
// Blocks that run at once on a multiprocessor, where blocks go on to the next tile themselves.
constexpr std::int64_t kBlocksTogether = 8;

// Entries of a row, on the average.
std::int64_t mean_of(const CompressedRows& rows) {
  return static_cast<std::int64_t>(rows.entries) / std::max<std::int64_t>(rows.rows, 1);
}

std::uint32_t entry_shift_of(const CompressedRows& rows, std::uint32_t column_shift) {
  const std::int64_t mean = mean_of(rows);
  const std::uint32_t wanted = mean <= kEntriesOfOne ? 0 : mean <= kEntriesOfFour ? 2 : kWarpShift;
  return std::min(wanted, kWarpShift - column_shift);
}

Kernel product_kernel_of(tnr_dtype dtype, bool has_many_columns) {
  if (dtype == TNR_DTYPE_F64) {
    return has_many_columns ? Kernel::sparse_matmul_f64_4 : Kernel::sparse_matmul_f64_1;
  }
  return has_many_columns ? Kernel::sparse_matmul_f32_4 : Kernel::sparse_matmul_f32_1;
}

// Blocks that have all rows, where 2^group_shift threads share one. One even of no rows, which looks
// at the last offset.
std::int64_t row_blocks_of(const CompressedRows& rows, std::uint32_t group_shift) {
  return std::max<std::int64_t>(quotient_up(rows.rows, std::int64_t{kThreads} >> group_shift), 1);
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
  argument.a = rows_of(a, finding);
  argument.b = bytes_of(b);
  argument.out = writable(call.out);
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

  const bool has_many_columns = argument.columns > std::int64_t{1} << kWarpShift;
  const std::int64_t each = has_many_columns ? kProductColumns : 1;
  const std::int64_t lanes = quotient_up(std::max<std::int64_t>(argument.columns, 1), each);
  argument.column_shift = std::min(logarithm_up(lanes), kWarpShift);
  argument.entry_shift = entry_shift_of(argument.a, argument.column_shift);
  argument.long_row = static_cast<std::uint64_t>(
      std::max(kMostEntriesOfThread << argument.entry_shift, kLongRows * mean_of(argument.a)));
  argument.row_blocks = row_blocks_of(argument.a, argument.column_shift + argument.entry_shift);
  argument.work =
      argument.row_blocks * quotient_up(lanes, std::int64_t{1} << argument.column_shift);
  queue.launch(product_kernel_of(a.values.dtype, has_many_columns), grid_for(queue, argument.work),
               argument);
}

void launch_samples(const Queue& queue, const DeviceSample& call, std::uint32_t* finding) {
  const tnr_sparse_view& a = call.a;
  // The rows of CSC are columns, and their entries rows.
  const bool is_csc = a.format == TNR_SPARSE_FORMAT_CSC;
  SparseSampleArgument argument = {};
  argument.a = rows_of(a, finding);
  argument.x = bytes_of(is_csc ? call.y : call.x);
  argument.y = bytes_of(is_csc ? call.x : call.y);
  argument.out = writable(call.out);
  argument.first = static_cast<std::uint64_t>(call.first);
  argument.count = static_cast<std::uint64_t>(call.out.view.shape[0]);
  argument.depth = call.x.shape[1];
  argument.x_row_step = is_csc ? step_of(call.y, 1) : step_of(call.x, 0);
  argument.x_depth_step = is_csc ? step_of(call.y, 0) : step_of(call.x, 1);
  argument.y_column_step = is_csc ? step_of(call.x, 0) : step_of(call.y, 1);
  argument.y_depth_step = is_csc ? step_of(call.x, 1) : step_of(call.y, 0);
  argument.alpha = low_bits_of(call.alpha, a.values.dtype);
  argument.type = static_cast<ElementType>(type_index(a.values.dtype));
  argument.has_values = call.is_times_values ? 1 : 0;
  const std::int64_t lanes =
      quotient_up(std::max<std::int64_t>(argument.depth, 1), kProductsOfThread);
  argument.depth_shift = std::min(logarithm_up(lanes), kWarpShift);
  argument.entry_shift = std::min(logarithm_up(std::max<std::int64_t>(mean_of(argument.a), 1)),
                                  kBlockShift - argument.depth_shift);
  argument.row_blocks = row_blocks_of(argument.a, argument.depth_shift + argument.entry_shift);
  queue.launch(
      a.values.dtype == TNR_DTYPE_F64 ? Kernel::sparse_sample_f64 : Kernel::sparse_sample_f32,
      grid_for(queue, argument.row_blocks), argument);
}

void launch_scatter(const Queue& queue, const DeviceScatter& call, std::uint32_t* finding) {
  const tnr_sparse_view& a = call.a;
  const tnr_view& out = call.out.view;
  const bool is_csc = a.format == TNR_SPARSE_FORMAT_CSC;
  const auto width = static_cast<std::int64_t>(element_size(out.dtype));
  SparseScatterArgument argument = {};
  argument.a = rows_of(a, finding);
  argument.out = writable(call.out);
  argument.row_step = step_of(out, is_csc ? 1 : 0);
  argument.column_step = step_of(out, is_csc ? 0 : 1);
  argument.type = static_cast<ElementType>(type_index(out.dtype));
  argument.is_unique = call.is_unique ? 1 : 0;
  argument.element_shift = logarithm_of(width);
  argument.has_halves = has_halves(width, address_of(argument.out) | address_of(argument.a.values) |
                                              static_cast<std::uint64_t>(argument.row_step) |
                                              static_cast<std::uint64_t>(argument.column_step));
  argument.entry_shift = entry_shift_of(argument.a, 0);
  argument.row_blocks = row_blocks_of(argument.a, argument.entry_shift);
  queue.launch(Kernel::sparse_scatter, grid_for(queue, argument.row_blocks), argument);
}

// Launches with a word in which the kernel says that an offset or an index is wrong; waits for it.
// With nullptr where they are trusted.
template <class Launch>
bool run_and_check(const Queue& queue, bool is_trusted, const Launch& launch) {
  if (is_trusted) {
    launch(nullptr);
    return true;
  }
  const FindingWord<std::uint32_t> finding(queue, 0);
  launch(finding.data());
  return finding.wait() == 0;
}

// Enqueues a product in its order.
template <class Product>
void run_product(const Queue& queue, const Product& call,
                 void (*launch)(const Queue&, const Product&, std::uint32_t*)) {
  const QueueOrder order(queue, call.pins);
  const QueueOrder order_of_a(queue, call.a_pins);
  call.is_right = (call.is_trusted && is_empty(call.out.view)) ||
                  run_and_check(queue, call.is_trusted,
                                [&](std::uint32_t* finding) { launch(queue, call, finding); });
}

// ---- from dense ----

DenseScanArgument scan_argument(const DeviceEntrySearch& scan) {
  const tnr_view& dense = scan.dense;
  const kernels::Predicate& predicate = scan.predicate;
  const auto width = static_cast<std::int64_t>(element_size(dense.dtype));
  DenseScanArgument argument = {};
  argument.data = bytes_of(dense);
  argument.offsets = static_cast<unsigned char*>(scan.offsets);
  argument.row_indices = static_cast<unsigned char*>(scan.row_indices);
  argument.indices = static_cast<unsigned char*>(scan.indices);
  argument.values = static_cast<unsigned char*>(scan.values);
  argument.rows = dense.shape[0];
  argument.columns = dense.shape[1];
  argument.tiles = quotient_up(argument.rows * argument.columns, kScanTile);
  argument.row_step = step_of(dense, 0);
  argument.column_step = step_of(dense, 1);
  if (scan.mask != nullptr) {
    argument.mask = bytes_of(*scan.mask);
    argument.mask_row_step = step_of(*scan.mask, 0);
    argument.mask_column_step = step_of(*scan.mask, 1);
  }
  argument.capacity = static_cast<std::uint64_t>(scan.capacity);
  argument.predicate_mask = predicate.mask;
  argument.flip = predicate.flip;
  argument.bias = predicate.bias;
  argument.low = predicate.low;
  argument.high = predicate.high;
  argument.is_outside = predicate.kind == kernels::Predicate::Kind::kOutside ? 1 : 0;
  argument.is_dense = scan.mask == nullptr && is_row_major(dense) ? 1 : 0;
  argument.has_wide_indices = scan.index_dtype == TNR_DTYPE_I64 ? 1 : 0;
  argument.has_halves =
      has_halves(width, address_of(argument.data) | static_cast<std::uint64_t>(argument.row_step) |
                            static_cast<std::uint64_t>(argument.column_step));
  argument.as_bools = dense.dtype == TNR_DTYPE_BOOL8 ? 1 : 0;
  argument.element_shift = logarithm_of(width);
  argument.unused_bits = static_cast<std::uint32_t>(width == 8 ? 0 : 32 - 8 * width);
  if (argument.columns < kScanTile) argument.columns_each = divider_by(argument.columns);
  return argument;
}

}  // namespace

void enqueue(const Queue& queue, const DeviceEntrySearch& search) {
  DenseScanArgument argument = scan_argument(search);
  // The next tile, the count, and the states.
  const std::size_t state_bytes =
      (2 + static_cast<std::size_t>(argument.tiles)) * sizeof *argument.states;
  const QueueOrder order(queue, search.pins);
  const Queue::Scratch scratch(queue, state_bytes);
  queue.fill_bytes(scratch.data(), 0, state_bytes);
  argument.next = static_cast<unsigned long long*>(scratch.data());
  argument.count = argument.next + 1;
  argument.states = argument.next + 2;
  queue.launch(element_size(search.dense.dtype) == 8 ? Kernel::dense_scan_8 : Kernel::dense_scan_4,
               grid_for(queue, argument.tiles, kBlocksTogether), argument);
  std::uint64_t count = 0;
  queue.copy_bytes(DeviceQueue::Direction::kOut, &count, argument.count, sizeof count);
  search.count = static_cast<std::int64_t>(count);
}

void enqueue(const Queue& queue, const DeviceSparseMatmul& call) {
  run_product(queue, call, launch_product);
}

void enqueue(const Queue& queue, const DeviceSample& call) {
  run_product(queue, call, launch_samples);
}

void enqueue(const Queue& queue, const DeviceScatter& call) {
  const tnr_dtype dtype = call.a.values.dtype;
  const QueueOrder order_of_a(queue, call.a_pins);
  {
    ElementwiseLaunch zeros(queue, call.out);
    tnr_scalar zero = {};
    zero.dtype = dtype;
    zeros.add(to_element(zero, dtype, "value"), dtype);
    zeros.move(ElementwiseLaunch::Bytes::kAsTheyAre);
  }
  const QueueOrder order(queue, call.pins);
  call.is_right = run_and_check(queue, call.is_trusted, [&](std::uint32_t* finding) {
    launch_scatter(queue, call, finding);
  });
}

}  // namespace tenure::cuda
