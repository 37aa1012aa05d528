// Products of dense matrices: the operands of a call, blocks for the caches, and packing.
#include <algorithm>
#include <cinttypes>
#include <utility>

#include "cpu/dispatch.hpp"
#include "cpu/gemm.hpp"
#include "dense/nest.hpp"
#include "dense/operands.hpp"
#include "dense/product_blocks.hpp"
#include "dense/scalar.hpp"
#include "memory/fresh_pages.hpp"
#include "memory/scratch.hpp"
#include "memory/tickets.hpp"
#include "tenure/blob.hpp"
#include "tenure/counters.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Of calls that are shared a slice has as many multiplications and additions as keep a thread busy
// for some ten microseconds. Others are woken at once: a thread takes slices until there are none,
// so that the caller would not learn that a call is long.
constexpr std::int64_t kSliceWork = std::int64_t{1} << 20;
// Products of a batch for each thread, from which on a thread that takes one more is no matter.
constexpr std::int64_t kManyProducts = 4;

// Packing a factor pays where each of its elements is used often, and the factors are too large for
// the first caches: 64 cubed takes 0.8 of the time without, 96 cubed 0.9 (f32, both wide sets).
constexpr std::int64_t kWorthPackingRows = 24;
constexpr std::int64_t kWorthPacking = std::int64_t{1} << 20;

// A right factor of more bytes is in no cache of one core, and is read some rows at a time: so many
// bytes of each, of which the sums stay in the caches meanwhile.
constexpr std::int64_t kWorthStreaming = std::int64_t{1} << 20;
constexpr std::int64_t kStripBytes = std::int64_t{1} << 15;

constexpr std::int64_t kPageBytes = 4096;
// Behind each row of sums: else all rows would lie in the same sets of a cache.
constexpr std::int64_t kSumsGap = 64;

std::int64_t product_or_most(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

// One factor of a product, or its result: matrices of a batch that all have these steps.
struct Matrix {
  std::int64_t row_step;  // bytes, of any sign
  std::int64_t column_step;
};
Matrix transposed(const Matrix& matrix) noexcept { return {matrix.column_step, matrix.row_step}; }

// out = alpha * a b + beta * out, for matrices of one geometry.
class Matmul {
 public:
  struct Geometry {
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t depth;
    Matrix a;
    Matrix b;
    Matrix out;
  };
  struct Scalars {
    Element alpha;
    Element beta;
    Element one;
    bool has_beta;
  };
  // Memory of a call, or of a thread of it that multiplies by itself.
  struct Buffers {
    Byte* b;
    const ThreadBuffers& a;  // from this one on
    std::int64_t first;
  };

  // What `gemm` and `scalars` refer to outlives this.
  Matmul(const kernels::Gemm& gemm, const Geometry& geometry, const Scalars& scalars,
         std::int64_t width_bytes) noexcept
      : gemm_(gemm), scalars_(scalars), width_bytes_(width_bytes), g_(geometry) {
    // The transpose of the result is the product of the transposes in the other order, of the same
    // sums. Kernels store adjacent columns fastest.
    is_swapped_ =
        g_.columns == 1 || (g_.out.row_step == width_bytes && g_.out.column_step != width_bytes);
    if (is_swapped_) {
      std::swap(g_.rows, g_.columns);
      g_ = {g_.rows, g_.columns, g_.depth, transposed(g_.b), transposed(g_.a), transposed(g_.out)};
    }
    // A single column's step is of no account.
    if (g_.columns == 1) g_.b.column_step = g_.out.column_step = width_bytes;
    packs_ = g_.rows > kWorthPackingRows && work() > kWorthPacking;
    streams_ = !packs_ && reads_b() && g_.columns * width_bytes >= kPageBytes &&
               product_or_most(g_.columns, g_.depth) > kWorthStreaming / width_bytes;
  }

  // Multiplications and additions; no more than fit.
  [[nodiscard]] std::int64_t work() const noexcept {
    return product_or_most(product_or_most(g_.rows, g_.columns),
                           std::max<std::int64_t>(g_.depth, 1));
  }

  // Bytes of the buffers: of the right factor, and of each thread's.
  [[nodiscard]] std::int64_t b_bytes() const noexcept {
    return packs_ ? block_columns() * block_depth() * width_bytes_ : 0;
  }
  [[nodiscard]] std::int64_t a_bytes() const noexcept {
    if (packs_)
      return block_panels() * gemm_.panel_rows * block_depth() * width_bytes_ + gemm_.slack_bytes;
    if (streams_) return g_.rows * (kStripBytes + kSumsGap);
    return reads_b() ? 0 : gemm_.panel_columns * block_depth() * width_bytes_;
  }

  // Throws nothing: all memory is there.
  void run(const Context& context, const Buffers& buffers, const Byte* a, const Byte* b,
           Byte* out) const noexcept {
    if (is_swapped_) std::swap(a, b);
    packs_ ? run_packed(context, buffers, a, b, out) : run_panels(context, buffers, a, b, out);
  }

 private:
  [[nodiscard]] bool reads_b() const noexcept { return g_.b.column_step == width_bytes_; }
  [[nodiscard]] std::int64_t block_depth() const noexcept {
    return std::min(kBlockDepth, g_.depth);
  }
  [[nodiscard]] std::int64_t block_columns() const noexcept {
    return std::min(kBlockColumns, parts_of(g_.columns, gemm_.panel_columns) * gemm_.panel_columns);
  }
  [[nodiscard]] std::int64_t block_panels() const noexcept {
    return std::min(kBlockRows / gemm_.panel_rows, parts_of(g_.rows, gemm_.panel_rows));
  }

  [[nodiscard]] kernels::Factor rows_of(const Byte* a, std::int64_t first, std::int64_t count,
                                        std::int64_t k, std::int64_t depth) const noexcept {
    return {a + first * g_.a.row_step + k * g_.a.column_step, g_.a.row_step, g_.a.column_step,
            count, depth};
  }
  [[nodiscard]] kernels::Factor columns_of(const Byte* b, std::int64_t first, std::int64_t count,
                                           std::int64_t k, std::int64_t depth) const noexcept {
    return {b + first * g_.b.column_step + k * g_.b.row_step, g_.b.column_step, g_.b.row_step,
            count, depth};
  }
  // The part of the result at row i and column j, for depths from k on; without factors.
  [[nodiscard]] kernels::DenseProduct product(Byte* out, std::int64_t i, std::int64_t j,
                                              std::int64_t k, std::int64_t depth) const noexcept {
    kernels::DenseProduct product = {};
    product.depth = depth;
    product.out = out + i * g_.out.row_step + j * g_.out.column_step;
    product.row_step = g_.out.row_step;
    product.column_step = g_.out.column_step;
    product.alpha = scalars_.alpha.bytes;
    product.beta = k != 0 ? scalars_.one.bytes : scalars_.has_beta ? scalars_.beta.bytes : nullptr;
    return product;
  }

  // Panels of columns, or strips of them, which threads share: the right factor is read where it
  // lies, or packed a panel at a time by the thread that uses it, and the left one is not packed.
  void run_panels(const Context& context, const Buffers& buffers, const Byte* a, const Byte* b,
                  Byte* out) const noexcept {
    const std::int64_t width = streams_ ? strip_columns(context) : gemm_.panel_columns;
    if (context.thread_count() == 1 || work() < kWorthSharingWork) {
      return run_slice(buffers.a.of(buffers.first), a, b, out, 0, g_.columns, width);
    }
    const std::int64_t parts = parts_of(g_.columns, width);
    const std::int64_t slices = std::min(parts, std::max<std::int64_t>(work() / kSliceWork, 2));
    Tickets tickets(slices);
    for_each_slice(
        context, std::min<std::int64_t>(context.thread_count(), slices),
        [&](std::int64_t thread) noexcept {
          Byte* const buffer = buffers.a.of(buffers.first + thread);
          for (std::int64_t slice = tickets.take(); slice >= 0; slice = tickets.take()) {
            const std::int64_t last = slice_begin(parts, slices, slice + 1) * width;
            run_slice(buffer, a, b, out, slice_begin(parts, slices, slice) * width,
                      std::min(g_.columns, last), width);
          }
        },
        Wake::kAtOnce);
  }

  // The columns from `first` to `last`, in panels or strips of `width`.
  void run_slice(Byte* buffer, const Byte* a, const Byte* b, Byte* out, std::int64_t first,
                 std::int64_t last, std::int64_t width) const noexcept {
    const std::int64_t step = reads_b() && !streams_ ? last - first : width;
    for (std::int64_t j = first; j < last; j += step) {
      run_columns(buffer, a, b, out, j, std::min(step, last - j));
    }
  }

  // Whole panels; for several threads two strips each, where they are not too narrow to read well.
  [[nodiscard]] std::int64_t strip_columns(const Context& context) const noexcept {
    const std::int64_t threads = context.thread_count();
    const std::int64_t share = parts_of(g_.columns, threads == 1 ? 1 : 2 * threads) * width_bytes_;
    const std::int64_t bytes = std::clamp(share, kPageBytes, kStripBytes);
    return parts_of(bytes / width_bytes_, gemm_.panel_columns) * gemm_.panel_columns;
  }

  void run_columns(Byte* buffer, const Byte* a, const Byte* b, Byte* out, std::int64_t j,
                   std::int64_t columns) const noexcept {
    std::int64_t k = 0;
    do {  // once where the depth is 0
      const std::int64_t depth = std::min(block_depth(), g_.depth - k);
      kernels::DenseProduct product = this->product(out, 0, j, k, depth);
      product.rows = g_.rows;
      product.columns = columns;
      product.a = a + k * g_.a.column_step;
      product.a_step = g_.a.row_step;
      product.a_depth_step = g_.a.column_step;
      const kernels::Factor factor = columns_of(b, j, columns, k, depth);
      if (reads_b()) {
        product.b = factor.data;
        product.b_depth_step = g_.b.row_step;
      } else {
        gemm_.pack_columns(factor, buffer);
        product.b = buffer;
        product.b_depth_step = gemm_.panel_columns * width_bytes_;
      }
      if (streams_) {
        product.sums = buffer;
        product.sums_step =
            parts_of(columns, gemm_.panel_columns) * gemm_.panel_columns * width_bytes_ + kSumsGap;
        gemm_.multiply_streamed(product);
      } else {
        gemm_.multiply_unpacked(product);
      }
      k += kBlockDepth;
    } while (k < g_.depth);
  }

  void run_packed(const Context& context, const Buffers& buffers, const Byte* a, const Byte* b,
                  Byte* out) const noexcept {
    for (std::int64_t j = 0; j < g_.columns; j += kBlockColumns) {
      const std::int64_t columns = std::min(kBlockColumns, g_.columns - j);
      for (std::int64_t k = 0; k < g_.depth; k += kBlockDepth) {
        const std::int64_t depth = std::min(kBlockDepth, g_.depth - k);
        pack_columns(context, columns_of(b, j, columns, k, depth), buffers.b);
        multiply_block(context, buffers, a, out, j, columns, k, depth);
      }
    }
  }

  void pack_columns(const Context& context, const kernels::Factor& block,
                    Byte* packed) const noexcept {
    const std::int64_t panels = parts_of(block.count, gemm_.panel_columns);
    const std::int64_t slices =
        std::min(panels, slice_count_of(context, block.count * block.depth * width_bytes_ * 2));
    for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
      const std::int64_t first = slice_begin(panels, slices, slice) * gemm_.panel_columns;
      const std::int64_t last =
          std::min(block.count, slice_begin(panels, slices, slice + 1) * gemm_.panel_columns);
      kernels::Factor part = block;
      part.data += first * block.step;
      part.count = last - first;
      gemm_.pack_columns(part, packed + first * block.depth * width_bytes_);
    });
  }

  // All rows of the left factor, by a packed block of the right one. Threads take pieces of the
  // result: some rows, which each packs for itself, by some of the block's columns.
  void multiply_block(const Context& context, const Buffers& buffers, const Byte* a, Byte* out,
                      std::int64_t j, std::int64_t columns, std::int64_t k,
                      std::int64_t depth) const noexcept {
    const std::int64_t threads = work() < kWorthSharingWork ? 1 : context.thread_count();
    const std::int64_t row_panels = parts_of(g_.rows, gemm_.panel_rows);
    const std::int64_t column_panels = parts_of(columns, gemm_.panel_columns);
    // As many for each thread, where that can be.
    const std::int64_t row_parts =
        std::min(row_panels, parts_of(parts_of(row_panels, block_panels()), threads) * threads);
    const std::int64_t column_parts = std::min(column_panels, parts_of(threads, row_parts));
    Tickets tickets(row_parts * column_parts);
    for_each_slice(
        context, std::min(threads, row_parts * column_parts),
        [&](std::int64_t thread) noexcept {
          Byte* const packed = buffers.a.of(buffers.first + thread);
          std::int64_t packed_part = -1;
          for (std::int64_t ticket = tickets.take(); ticket >= 0; ticket = tickets.take()) {
            const std::int64_t row_part = ticket / column_parts;
            const std::int64_t column_part = ticket % column_parts;
            const std::int64_t first_row =
                slice_begin(row_panels, row_parts, row_part) * gemm_.panel_rows;
            const std::int64_t rows =
                std::min(g_.rows,
                         slice_begin(row_panels, row_parts, row_part + 1) * gemm_.panel_rows) -
                first_row;
            const std::int64_t first_column =
                slice_begin(column_panels, column_parts, column_part) * gemm_.panel_columns;
            const std::int64_t last_column =
                std::min(columns, slice_begin(column_panels, column_parts, column_part + 1) *
                                      gemm_.panel_columns);
            if (row_part != packed_part) {
              gemm_.pack_rows(rows_of(a, first_row, rows, k, depth), packed);
              packed_part = row_part;
            }
            kernels::DenseProduct product =
                this->product(out, first_row, j + first_column, k, depth);
            product.rows = rows;
            product.columns = last_column - first_column;
            product.a = packed;
            product.b = buffers.b + first_column * depth * width_bytes_;
            gemm_.multiply(product);
          }
        },
        Wake::kAtOnce);
  }

  const kernels::Gemm& gemm_;
  const Scalars& scalars_;
  std::int64_t width_bytes_;
  Geometry g_;
  bool is_swapped_;
  bool packs_;
  bool streams_;
};

// ---- operands ----

// A factor's matrix is in its last two axes, the batch in those before. A vector is a row on the
// left and a column on the right, and has no axis in the result.
enum class Side : bool { kLeft, kRight };
struct FactorAxes {
  std::uint32_t batch_rank;
  std::int64_t rows;
  std::int64_t columns;
  Matrix steps;
};

FactorAxes axes_of(const tnr_view& view, const char* name, Side side) {
  if (view.rank == 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.rank is 0 but must be 1 at least", name);
  }
  const std::uint32_t last = view.rank - 1;
  // As step_of() for each.
  const std::int64_t unit =
      is_empty(view) ? 0 : static_cast<std::int64_t>(element_size(view.dtype));
  const auto step = [&](std::uint32_t axis) {
    return view.shape[axis] > 1 && unit != 0 ? view.strides[axis] * unit : 0;
  };
  if (view.rank > 1) {
    return {view.rank - 2, view.shape[last - 1], view.shape[last], {step(last - 1), step(last)}};
  }
  if (side == Side::kRight) return {0, view.shape[0], 1, {step(0), 0}};
  return {0, 1, view.shape[0], {0, step(0)}};
}

// Which extents do not agree, and the three shapes.
[[noreturn, gnu::cold]] void refuse_extent(const char* name, std::uint32_t axis,
                                           std::int64_t extent, std::int64_t expected,
                                           const char* whose, const tnr_view& a, const tnr_view& b,
                                           const tnr_view& out) {
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "%s.shape[%" PRIu32 "] is %" PRId64 " but must be %" PRId64
       ", %s: a has shape %s, b %s, out %s",
       name, axis, extent, expected, whose, shape_text(a.rank, a.shape).text,
       shape_text(b.rank, b.shape).text, shape_text(out.rank, out.shape).text);
}

// The operands of a call, checked and pinned.
class MatmulOperands {
 public:
  MatmulOperands(const tnr_view& a, const tnr_view& b, const tnr_view_mut& out)
      : a_(a), b_(b), out_(out.view), data_(writable(out)) {
    // Dense operands take the short way.
    if (plain_count(out_) == 0) check_view_mut(out, "out");
    if (plain_count(a) == 0) check_view(a, "a");
    if (plain_count(b) == 0) check_view(b, "b");
    read_shapes();
    type_ = type_index(a.dtype);
    if (type_ > static_cast<unsigned>(kernels::Type::kF32)) refuse_dtype("matmul", a.dtype);
    require_dtype(b, "b", a.dtype, "a.dtype is");
    require_dtype(out_, "out", a.dtype, "a.dtype is");
    pins_.add_mut(out, "out");
    pins_.add(a, "a");
    pins_.add(b, "b");
    require_alias(out_, a, "a", SameView::kRefused);
    require_alias(out_, b, "b", SameView::kRefused);
    if (!is_empty(out_)) join_rows();
  }

  [[nodiscard]] unsigned type() const noexcept { return type_; }
  [[nodiscard]] std::int64_t width_bytes() const noexcept {
    return static_cast<std::int64_t>(element_size(out_.dtype));
  }
  [[nodiscard]] const Matmul::Geometry& geometry() const noexcept { return geometry_; }
  // Products of that geometry; out is not empty.
  [[nodiscard]] std::int64_t batch_count() const noexcept {
    if (is_joined_) return 1;
    std::int64_t count = 1;
    for (unsigned axis = 0; axis < batch_.rank(); ++axis) count *= batch_.extent(axis);
    return count;
  }
  void run(const Matmul& multiply, const Context& context, const Matmul::Buffers& buffers,
           std::int64_t index) const noexcept {
    std::int64_t position[TNR_MAX_RANK];
    std::int64_t offsets[Nest::kMaxOperands];
    batch_.go_to(batch_.rank(), index, position, offsets);
    multiply.run(context, buffers, static_cast<const Byte*>(a_.data) + offsets[1],
                 static_cast<const Byte*>(b_.data) + offsets[2], data_ + offsets[0]);
  }

 private:
  void read_shapes() {
    const FactorAxes a = axes_of(a_, "a", Side::kLeft);
    const FactorAxes b = axes_of(b_, "b", Side::kRight);
    if (b.rows != a.columns) {
      refuse_extent("b", b_.rank == 1 ? 0 : b_.rank - 2, b.rows, a.columns, "the last extent of a",
                    a_, b_, out_);
    }
    const std::uint32_t matrix_rank = (a_.rank > 1 ? 1u : 0u) + (b_.rank > 1 ? 1u : 0u);
    const std::uint32_t least = matrix_rank + std::max(a.batch_rank, b.batch_rank);
    if (out_.rank < least) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "out.rank is %" PRIu32 " but must be %" PRIu32 ": a has shape %s, b %s, out %s",
           out_.rank, least, shape_text(a_.rank, a_.shape).text, shape_text(b_.rank, b_.shape).text,
           shape_text(out_.rank, out_.shape).text);
    }
    const std::uint32_t batch_rank = out_.rank - matrix_rank;
    geometry_ = {a.rows, b.columns, a.columns, a.steps, b.steps, {0, 0}};
    std::uint32_t axis = batch_rank;
    if (a_.rank > 1) {
      require_extent(axis, a.rows, "the rows of a");
      geometry_.out.row_step = step_of(out_, axis++);
    }
    if (b_.rank > 1) {
      require_extent(axis, b.columns, "the columns of b");
      geometry_.out.column_step = step_of(out_, axis);
    }
    require_broadcast(a_, "a", a.batch_rank, batch_rank);
    require_broadcast(b_, "b", b.batch_rank, batch_rank);
    if (is_empty(out_)) return;
    for (axis = 0; axis < batch_rank; ++axis) {
      const std::int64_t steps[] = {step_of(out_, axis),
                                    batch_step(a_, a.batch_rank, axis, batch_rank),
                                    batch_step(b_, b.batch_rank, axis, batch_rank)};
      batch_.add(out_.shape[axis], steps);
    }
    batch_.order(0);
  }

  // Rows of a batch that are multiplied by one right factor, and follow each other like those of
  // one matrix, are one matrix.
  void join_rows() noexcept {
    if (batch_.rank() != 1 || batch_.step(0, 2) != 0) return;
    if (geometry_.rows == 1) {
      geometry_.out.row_step = batch_.step(0, 0);
      geometry_.a.row_step = batch_.step(0, 1);
    } else if (batch_.step(0, 0) != geometry_.rows * geometry_.out.row_step ||
               batch_.step(0, 1) != geometry_.rows * geometry_.a.row_step) {
      return;
    }
    geometry_.rows *= batch_.extent(0);
    is_joined_ = true;
  }

  void require_extent(std::uint32_t axis, std::int64_t expected, const char* whose) const {
    if (out_.shape[axis] != expected) {
      refuse_extent("out", axis, out_.shape[axis], expected, whose, a_, b_, out_);
    }
  }
  void require_broadcast(const tnr_view& view, const char* name, std::uint32_t rank,
                         std::uint32_t batch_rank) const {
    for (std::uint32_t axis = 0; axis < rank; ++axis) {
      const std::int64_t expected = out_.shape[batch_rank - rank + axis];
      if (view.shape[axis] != expected && view.shape[axis] != 1) {
        refuse_extent(name, axis, view.shape[axis], expected, "as out's, or 1", a_, b_, out_);
      }
    }
  }
  // 0 where the factor repeats.
  static std::int64_t batch_step(const tnr_view& view, std::uint32_t rank, std::uint32_t axis,
                                 std::uint32_t batch_rank) noexcept {
    return axis < batch_rank - rank ? 0 : step_of(view, axis - (batch_rank - rank));
  }

  const tnr_view& a_;
  const tnr_view& b_;
  const tnr_view& out_;
  Byte* data_;
  unsigned type_;
  Matmul::Geometry geometry_;
  Nest batch_{3};  // out, a, b; without axes where out is empty
  bool is_joined_ = false;
  Pins pins_;
};

Matmul::Scalars scalars_of(const tnr_scalar& alpha, const tnr_scalar& beta, tnr_dtype dtype,
                           std::int64_t depth) {
  const tnr_scalar one = {.dtype = TNR_DTYPE_U8, .reserved = 0, .bytes = {1}};
  Matmul::Scalars scalars = {.alpha = to_element(alpha, dtype, "alpha"),
                             .beta = to_element(beta, dtype, "beta"),
                             .one = {},
                             .has_beta = false};
  scalars.has_beta = !is_zero(scalars.beta, dtype);
  // Only what is behind the first block is added to something of the call's own.
  if (depth > kBlockDepth) scalars.one = to_element(one, dtype, "one");
  // Of no products the sum is 0, also times an infinite alpha.
  if (depth == 0) scalars.alpha = {};
  return scalars;
}

}  // namespace

void matmul(const Context& context, const tnr_scalar& alpha, const tnr_view& a, const tnr_view& b,
            const tnr_scalar& beta, const tnr_view_mut& out) {
  const MatmulOperands operands(a, b, out);
  const Matmul::Scalars scalars = scalars_of(alpha, beta, a.dtype, operands.geometry().depth);
  if (is_empty(out.view)) return count_call(TNR_OPERATION_MATMUL, 0, 0);
  const Matmul multiply(kernels::gemm_kernels()[operands.type()], operands.geometry(), scalars,
                        operands.width_bytes());
  const std::int64_t batch_count = operands.batch_count();

  // Products of a batch are shared out whole where they are many or small, else each by itself.
  const std::int64_t threads = context.thread_count();
  std::int64_t slices = 1;
  std::int64_t workers = 1;
  if (threads > 1 && batch_count > 1 &&
      (batch_count >= kManyProducts * threads || multiply.work() < kWorthSharingWork)) {
    slices = std::clamp<std::int64_t>(product_or_most(multiply.work(), batch_count) / kSliceWork, 1,
                                      batch_count);
    workers = std::min(threads, slices);
  }
  const Scratch b_buffers(workers, whole_lines(multiply.b_bytes()));
  const ThreadBuffers a_buffers(workers == 1 ? threads : workers, multiply.a_bytes());
  if (!scalars.has_beta) {
    const std::int64_t dense_bytes = dense_count(out.view) * operands.width_bytes();
    touch_fresh_pages(context, writable(out), dense_bytes);
  }
  const auto run_slice = [&](const Context& inner, std::int64_t worker, std::int64_t first,
                             std::int64_t last) noexcept {
    const Matmul::Buffers buffers = {b_buffers.data() + worker * whole_lines(multiply.b_bytes()),
                                     a_buffers, worker};
    for (std::int64_t i = first; i < last; ++i) operands.run(multiply, inner, buffers, i);
  };
  if (workers == 1) {
    run_slice(context, 0, 0, batch_count);
  } else {
    Tickets tickets(slices);
    for_each_slice(
        context, workers,
        [&](std::int64_t worker) noexcept {
          for (std::int64_t slice = tickets.take(); slice >= 0; slice = tickets.take()) {
            run_slice(kDefaultContext, worker, slice_begin(batch_count, slices, slice),
                      slice_begin(batch_count, slices, slice + 1));
          }
        },
        Wake::kAtOnce);
  }
  // With a beta of 0 the output is not read.
  const std::uint64_t out_bytes = element_bytes(out.view);
  count_call(TNR_OPERATION_MATMUL,
             element_bytes(a) + element_bytes(b) + (scalars.has_beta ? out_bytes : 0), out_bytes);
}

}  // namespace tenure
