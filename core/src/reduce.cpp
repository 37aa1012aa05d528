// Reductions over any axes.
#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstring>
#include <iterator>

#include "cascade.hpp"
#include "nest.hpp"
#include "operands.hpp"
#include "tenure/dtype.hpp"
#include "tenure/ops.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Reduction;

// What an output's dtype is.
enum class Gives { kElement, kSum, kIndex, kTruth };
struct Operation {
  const char* name;
  Gives gives;
};
// In the order of the ABI's codes, which start at 1; so are the rows of the kernel table.
constexpr Operation kOperations[] = {
    {"sum", Gives::kSum},     {"prod", Gives::kSum},     {"mean", Gives::kElement},
    {"var", Gives::kElement}, {"std", Gives::kElement},  {"min", Gives::kElement},
    {"max", Gives::kElement}, {"argmin", Gives::kIndex}, {"argmax", Gives::kIndex},
    {"any", Gives::kTruth},   {"all", Gives::kTruth},    {"count", Gives::kIndex},
};
static_assert(std::size(kOperations) == kernels::kReduceCount);
static_assert(TNR_REDUCE_OP_SUM == 1 && TNR_REDUCE_OP_COUNT == kernels::kReduceCount);

bool is_deviation(tnr_reduce_op op) { return op == TNR_REDUCE_OP_VAR || op == TNR_REDUCE_OP_STD; }
bool gives_place(tnr_reduce_op op) {
  return op == TNR_REDUCE_OP_ARGMIN || op == TNR_REDUCE_OP_ARGMAX;
}
bool needs_an_element(tnr_reduce_op op) {
  return op == TNR_REDUCE_OP_MIN || op == TNR_REDUCE_OP_MAX || gives_place(op);
}

tnr_dtype result_dtype(Gives gives, tnr_dtype dtype) {
  switch (gives) {
    case Gives::kIndex: return TNR_DTYPE_I64;
    case Gives::kTruth: return TNR_DTYPE_BOOL8;
    case Gives::kSum:
      if (code_of(dtype) == DtypeCode::kInt) return TNR_DTYPE_I64;
      if (code_of(dtype) == DtypeCode::kUint) return TNR_DTYPE_U64;
      return dtype;
    default: return dtype;
  }
}

bool is_reduced(std::uint32_t axes, std::uint32_t axis) { return (axes >> axis & 1u) != 0; }

// Elements that go into each result.
std::int64_t reduced_count(const tnr_view& a, std::uint32_t axes) {
  std::uint64_t count = 1;  // unsigned: beside an extent of 0 the others may overflow
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    if (is_reduced(axes, axis)) count *= static_cast<std::uint64_t>(a.shape[axis]);
  }
  return static_cast<std::int64_t>(count);
}

void check_axes(tnr_reduce_op op, const tnr_view& a, std::uint32_t axes, std::uint32_t ddof) {
  if (axes >> a.rank != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "axes is 0x%" PRIx32 " but a.rank is %" PRIu32, axes, a.rank);
  }
  if (ddof != 0 && !is_deviation(op)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "ddof is %" PRIu32 " but must be 0 for all but var and std",
         ddof);
  }
  const auto reduced = static_cast<std::uint32_t>(std::popcount(axes));
  if (gives_place(op) && reduced != 1 && reduced != a.rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "axes names %" PRIu32 " of %" PRIu32 " axes but argmin and argmax take one or all",
         reduced, a.rank);
  }
}

// out has the axes that are not reduced, or all with the reduced ones of extent 1.
void check_result_shape(const tnr_view& a, std::uint32_t axes, const tnr_view& out) {
  const std::uint32_t kept = a.rank - static_cast<std::uint32_t>(std::popcount(axes));
  if (out.rank != kept && out.rank != a.rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "out.rank is %" PRIu32 " but must be %" PRIu32 ", or %" PRIu32
         " with the reduced axes of extent 1",
         out.rank, kept, a.rank);
  }
  std::uint32_t out_axis = 0;
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    if (is_reduced(axes, axis) && out.rank == kept) continue;
    const std::int64_t expected = is_reduced(axes, axis) ? 1 : a.shape[axis];
    if (out.shape[out_axis] != expected) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "out.shape[%" PRIu32 "] is %" PRId64 " but must be %" PRId64, out_axis,
           out.shape[out_axis], expected);
    }
    ++out_axis;
  }
}

// Operands of the nest over the axes kept.
enum Kept : unsigned { kIn, kOut };
// Operands of the nest over the axes reduced; kIn is the first here too. Positions in the order
// that argmin and argmax report are walked like memory.
enum Reduced : unsigned { kIndex = 1 };

// One call's loops: the kept axes outside, in tiles along the innermost; the reduced ones inside.
struct Walk {
  Nest kept{2};
  Nest reduced{2};
  std::int64_t count;  // elements into each result

  Walk(const tnr_view& a, std::uint32_t axes, const tnr_view& out) : count(reduced_count(a, axes)) {
    const auto in_bytes = static_cast<std::int64_t>(element_size(a.dtype));
    const auto out_bytes = static_cast<std::int64_t>(element_size(out.dtype));
    std::int64_t index_step = 1;
    std::uint32_t out_axis = out.rank;
    for (std::uint32_t axis = a.rank; axis-- > 0;) {
      const std::int64_t extent = a.shape[axis];
      // Of an empty input nothing is read, and its strides may be any numbers.
      const std::int64_t in_step = extent > 1 && count != 0 ? a.strides[axis] * in_bytes : 0;
      if (!is_reduced(axes, axis) || out.rank == a.rank) --out_axis;
      if (is_reduced(axes, axis)) {
        const std::int64_t steps[] = {in_step, index_step};
        if (count != 0) reduced.add(extent, steps);
        index_step *= count != 0 ? extent : 1;
      } else if (extent > 1) {
        const std::int64_t steps[] = {in_step, out.strides[out_axis] * out_bytes};
        kept.add(extent, steps);
      }
    }
    kept.arrange(kIn);
    reduced.arrange(kIn);
  }

  // Whether to finish one result after the other rather than a tile of them side by side: better
  // where the elements that meet in a result are the closer ones, and enough of them to be worth
  // a call of their own.
  [[nodiscard]] bool runs_along() const noexcept {
    constexpr std::int64_t kWorthACall = 16;
    if (kept.rank() == 0) return true;
    return reduced.inner_extent() >= kWorthACall && reduced.inner_step(kIn) <= kept.inner_step(kIn);
  }
};

// Everything that `columns` results reduce, into one cascade.
void gather(const Reduction& reduction, const Walk& walk, const Byte* in, std::int64_t columns,
            const double* centers, Cascade& cascade) {
  if (walk.count == 0) return;
  kernels::Tile tile;
  tile.columns = columns;
  tile.column_step = walk.kept.inner_step(kIn);
  tile.row_step = walk.reduced.inner_step(kIn);
  tile.index_step = walk.reduced.inner_step(kIndex);
  tile.centers = centers;
  const std::int64_t rows = walk.reduced.inner_extent();
  // A single column is added as a tree by its kernel; side by side, rows pile up one on the other.
  const std::int64_t most = columns == 1 ? rows : Cascade::kFanIn;
  walk.reduced.for_each_strip([&](const std::int64_t* offsets) {
    for (std::int64_t first = 0; first < rows; first += most) {
      tile.rows = std::min(most, rows - first);
      tile.in = in + offsets[kIn] + first * tile.row_step;
      tile.index = offsets[kIndex] + first * tile.index_step;
      tile.accumulators = cascade.next();
      reduction.accumulate(tile);
      cascade.push();
    }
  });
}

struct Job {
  tnr_reduce_op op;
  std::uint32_t ddof;
  unsigned type;  // column of the kernel table
  const Reduction& reduction;
  const Walk& walk;
};

// The means that VAR and STD measure from, one per column.
void find_centers(const Job& job, const Byte* in, std::int64_t columns, double* centers) {
  const Reduction& mean = kernels::table().reduce[TNR_REDUCE_OP_MEAN - 1][job.type];
  Cascade cascade(mean, columns);
  gather(mean, job.walk, in, columns, nullptr, cascade);
  std::memcpy(centers, cascade.total(), static_cast<std::size_t>(columns) * sizeof(double));
  for (std::int64_t column = 0; column < columns; ++column) {
    centers[column] /= static_cast<double>(job.walk.count);
  }
}

void finish_tile(const Job& job, const Byte* in, std::int64_t columns, Byte* out) {
  alignas(64) double centers[Cascade::kLevelBytes / sizeof(double)];
  if (is_deviation(job.op)) find_centers(job, in, columns, centers);
  Cascade cascade(job.reduction, columns);
  gather(job.reduction, job.walk, in, columns, centers, cascade);
  job.reduction.finish({.columns = columns,
                        .accumulators = cascade.total(),
                        .out = out,
                        .out_step = job.walk.kept.inner_step(kOut),
                        .count = job.walk.count,
                        .ddof = job.ddof});
}

void run(const Job& job, const tnr_view& a, const tnr_view_mut& out) {
  const Nest& kept = job.walk.kept;
  const std::int64_t columns_at_once =
      job.walk.runs_along() ? 1 : Cascade::kLevelBytes / job.reduction.accumulator_bytes;
  const auto* const in = static_cast<const Byte*>(a.data);
  kept.for_each_strip([&](const std::int64_t* offsets) {
    for (std::int64_t first = 0; first < kept.inner_extent(); first += columns_at_once) {
      const std::int64_t columns = std::min(columns_at_once, kept.inner_extent() - first);
      finish_tile(job, in + offsets[kIn] + first * kept.inner_step(kIn), columns,
                  writable(out) + offsets[kOut] + first * kept.inner_step(kOut));
    }
  });
}

}  // namespace

void reduce(const Context&, tnr_reduce_op op, const tnr_view& a, std::uint32_t axes,
            std::uint32_t ddof, const tnr_view_mut& out) {
  const auto row = static_cast<std::uint32_t>(op) - 1;
  if (row >= kernels::kReduceCount) refuse_code("reduce", op);
  const Operation& operation = kOperations[row];
  Pins pins;
  check_view_mut(out, "out");
  check_view(a, "a");
  check_axes(op, a, axes, ddof);
  check_result_shape(a, axes, out.view);
  const unsigned type = type_index(a.dtype);
  if (type == kNoType) refuse_dtype(operation.name, a.dtype);
  const Reduction& reduction = kernels::table().reduce[row][type];
  if (reduction.accumulator_bytes == 0) refuse_dtype(operation.name, a.dtype);
  const tnr_dtype expected = result_dtype(operation.gives, a.dtype);
  require_dtype(out.view, "out", expected, "must be");
  pins.add_mut(out, "out");
  pins.add(a, "a");
  require_alias(out.view, a, "a", SameView::kRefused);
  if (is_empty(out.view)) return count_call(TNR_OPERATION_REDUCE, 0, 0);
  const Walk walk(a, axes, out.view);
  if (walk.count == 0 && needs_an_element(op)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "a.shape is %s, so that %s has no elements but needs one",
         shape_text(a.rank, a.shape).text, operation.name);
  }
  run({op, ddof, type, reduction, walk}, a, out);
  count_call(TNR_OPERATION_REDUCE, element_bytes(a), element_bytes(out.view));
}

}  // namespace tenure
