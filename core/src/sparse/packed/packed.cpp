// Handles of packed matrices, and their products.
#include "sparse/packed/packed.hpp"

#include <optional>
#include <utility>

#include "base/bisect.hpp"
#include "cpu/dispatch.hpp"
#include "cpu/spmm.hpp"
#include "dense/elementwise_call.hpp"
#include "memory/handles.hpp"
#include "sparse/index_array.hpp"
#include "sparse/product/dense_columns.hpp"
#include "tenure/counters.hpp"
#include "tenure/view.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

// ---- handles ----

constexpr Handles<PackedMatrix, kPackedKind> kHandles(packed_table, "packed", "packed matrix");

using PackedUse = decltype(kHandles)::Use;

// ---- products ----

// Copying b costs as much as some of its uses: where entries are fewer, elements that none of them
// names are not copied.
bool reads_in_place(const PackedMatrix& a, const DenseColumns& b) noexcept {
  const bool is_widened = computed_dtype(b.view.dtype) != b.view.dtype;
  if (!is_widened && !AdjacentColumns::are_copied(b, 1)) return false;
  return a.info.layout == TNR_PACKED_LAYOUT_BITMAP ? a.info.rows <= kernels::kSpacedBitmapRows
                                                   : a.info.nnz < b.rows;
}

// A column of b as it is multiplied with: in place, or copied; floats of 16 bits as f32.
class Factors {
 public:
  Factors(const Context& context, const DenseColumns& b, std::int64_t column, bool is_spaced)
      : is_widened_(!is_spaced && computed_dtype(b.view.dtype) != b.view.dtype),
        wide_(is_widened_ ? b.rows : 0, 4) {
    if (!is_widened_) {
      using Rows = AdjacentColumns::Rows;
      adjacent_.emplace(context, b, column, 1, is_spaced ? Rows::kSpaced : Rows::kAnywhere);
      return;
    }
    if (b.rows == 0) return;
    const tnr_view from = b.view.rank == 1 ? b.view : index(b.view, 1, column);
    const tnr_view_mut to = {
        make_view(wide_.data(), wide_.size_bytes(), 0, TNR_DTYPE_F32, 1, from.shape, nullptr)};
    ElementwiseCall operands(to);
    operands.add(from, "b");
    constexpr auto kF32 = static_cast<unsigned>(kernels::Type::kF32);
    operands.run(context, Operation(kernels::cast_kernels()[type_index(from.dtype)][kF32]));
  }

  [[nodiscard]] const kernels::Byte* data() const noexcept {
    return is_widened_ ? wide_.data() : adjacent_->data();
  }

 private:
  bool is_widened_;
  Scratch wide_;
  std::optional<AdjacentColumns> adjacent_;
};

// The strip at which slice `slice` begins: entries and rows before it are its share of all.
std::int64_t first_strip(const PackedMatrix& a, std::int64_t strips, std::int64_t slices,
                         std::int64_t slice) noexcept {
  if (slice == slices) return strips;
  const std::int64_t total = a.info.nnz + a.info.rows;
  const std::int64_t share = total / slices * slice + total % slices * slice / slices;
  return first_where(0, strips, [&](std::int64_t strip) {
    const kernels::PackedTile& tile = a.tiles.tiles[a.tiles.strips[strip]];
    return tile.first_entry + strip * kernels::kStripRows >= share;
  });
}

// The row of blocks at which slice `slice` begins, likewise.
std::int64_t first_block_row(const kernels::Compressed& blocks, std::int64_t slices,
                             std::int64_t slice) noexcept {
  const auto weight_before = [&](std::int64_t row) {
    return get_index(blocks.offsets, blocks.index_type, row) + row;
  };
  const std::int64_t total = weight_before(blocks.rows);
  const std::int64_t share = total / slices * slice + total % slices * slice / slices;
  return first_where(0, blocks.rows, [&](std::int64_t row) { return weight_before(row) >= share; });
}

// The elements of a spaced x that the blocks name, one block's after the other's, and the blocks'
// numbers among these.
class BlockFactors {
 public:
  BlockFactors(const PackedMatrix& a, unsigned type, const kernels::PackedProduct& product)
      : count_(get_index(a.blocks.offsets, a.blocks.index_type, a.blocks.rows)),
        width_(static_cast<std::int64_t>(element_size(computed_dtype(a.info.dtype)))),
        factors_(count_ * a.info.block_cols, width_),
        numbers_(count_, index_width(a.blocks.index_type)) {
    const unsigned computed = type_index(computed_dtype(a.info.dtype));
    const Operation fetch = computed == type
                                ? Operation(kernels::copy_kernels()[width_index(a.info.dtype)])
                                : Operation(kernels::cast_kernels()[type][computed]);
    const auto x_width = static_cast<std::int64_t>(element_size(a.info.dtype));
    const std::int64_t columns = a.info.block_cols;
    for (std::int64_t k = 0; k < count_; ++k) {
      const std::int64_t first = get_index(a.blocks.indices, a.blocks.index_type, k) * columns;
      const kernels::StripInput source[] = {
          {product.x + first * product.x_step, product.x_step, x_width}};
      run_strip(fetch,
                dense_strip(columns, factors_.data() + k * columns * width_, width_, source));
      put_index(numbers_.data(), a.blocks.index_type, k, k);
    }
  }

  // Sets the factors and their numbers instead of x and the blocks' column indices.
  void replace(kernels::Matmul& matmul) const noexcept {
    matmul.a.cols = count_;
    matmul.a.indices = numbers_.data();
    matmul.b = factors_.data();
    matmul.b_rows = count_ * matmul.block_cols;
  }

 private:
  std::int64_t count_;
  std::int64_t width_;
  Scratch factors_;
  Scratch numbers_;
};

void multiply_blocks(const Context& context, const PackedMatrix& a, unsigned type,
                     const kernels::PackedProduct& product, std::int64_t slices) {
  const auto index = static_cast<unsigned>(a.blocks.index_type);
  const kernels::MatmulKernel kernel =
      kernels::block_column_kernels()[type][index](a.info.block_rows, a.info.block_cols);
  kernels::Matmul matmul = {.a = a.blocks,
                            .block_rows = a.info.block_rows,
                            .block_cols = a.info.block_cols,
                            .columns = 1,
                            .b = product.x,
                            .b_rows = a.info.cols,
                            .b_step = 0,
                            .out = product.out,
                            .out_step = product.out_step,
                            .out_column_step = 0,
                            .alpha = product.alpha,
                            .beta = product.beta};
  std::optional<BlockFactors> factors;
  if (product.is_spaced) factors.emplace(a, type, product).replace(matmul);
  for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
    kernel(matmul, first_block_row(a.blocks, slices, slice),
           first_block_row(a.blocks, slices, slice + 1));
  });
}

void multiply(const Context& context, const PackedMatrix& a, unsigned type,
              const kernels::PackedProduct& product) {
  const kernels::PackedKernels& kernels = kernels::packed_kernels()[type];
  const std::int64_t slices = slice_count_of(context, static_cast<std::int64_t>(a.info.size_bytes));
  if (a.info.layout == TNR_PACKED_LAYOUT_BLOCKS) {
    return multiply_blocks(context, a, type, product, slices);
  }
  if (a.info.layout == TNR_PACKED_LAYOUT_BITMAP) {
    for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
      kernels.bitmap(product, a.bitmap, slice_begin(a.info.rows, slices, slice),
                     slice_begin(a.info.rows, slices, slice + 1));
    });
    return;
  }
  const auto kernel = kernels.tiles[a.info.layout == TNR_PACKED_LAYOUT_NARROW ? 0 : 1];
  const std::int64_t strips = (a.info.rows + kernels::kStripRows - 1) / kernels::kStripRows;
  for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
    kernel(product, a.tiles, first_strip(a, strips, slices, slice),
           first_strip(a, strips, slices, slice + 1));
  });
}

}  // namespace

PackedToken packed_create(const Context& context, const tnr_sparse_view& a,
                          tnr_packed_layout layout) {
  SparseOperand matrix(a, "a");
  matrix.check_all();
  std::unique_ptr<PackedMatrix> packed = pack(context, matrix, layout);
  const tnr_packed_info info = packed->info;
  const PackedToken token = kHandles.open(std::move(packed));
  count_call(TNR_OPERATION_SPARSE_PACK, info.source_bytes, info.size_bytes);
  return token;
}

void packed_retain(PackedToken token) { kHandles.retain(token); }

void packed_release(PackedToken token) { kHandles.release(token); }

tnr_packed_info packed_describe(PackedToken token) {
  return PackedUse(kHandles, token).object().info;
}

void packed_matmul(const Context& context, const tnr_scalar& alpha, PackedToken token,
                   const tnr_view& b, const tnr_scalar& beta, const tnr_view_mut& out) {
  Pins pins;
  check_view_mut(out, "out");
  check_view(b, "b");
  const PackedUse use(kHandles, token);
  const PackedMatrix& a = use.object();
  require_product_shapes(b, out.view, {a.info.cols, "the columns of packed"},
                         {a.info.rows, "the rows of packed"});
  require_dtype(b, "b", a.info.dtype, "packed has");
  require_dtype(out.view, "out", a.info.dtype, "packed has");
  const tnr_dtype computed = computed_dtype(a.info.dtype);
  const Element alpha_element = to_element(alpha, computed, "alpha");
  const Element beta_element = to_element(beta, computed, "beta");
  pins.add_mut(out, "out");
  pins.add(b, "b");
  require_alias(out.view, b, "b", SameView::kRefused);
  if (is_empty(out.view)) return count_call(TNR_OPERATION_SPARSE_PACKED_MATMUL, 0, 0);
  const DenseColumns columns(b);
  const DenseColumns out_columns(out.view);
  const bool reads_out = !is_zero(beta_element, computed);
  const bool is_spaced = reads_in_place(a, columns);
  for (std::int64_t column = 0; column < columns.columns; ++column) {
    const Factors x(context, columns, column, is_spaced);
    multiply(context, a, type_index(a.info.dtype),
             {.x = x.data(),
              .is_spaced = is_spaced,
              .x_step = columns.row_step,
              .out = writable(out) + column * out_columns.column_step,
              .out_step = out_columns.row_step,
              .alpha = alpha_element.bytes,
              .beta = reads_out ? beta_element.bytes : nullptr});
  }
  const std::uint64_t out_bytes = element_bytes(out.view);
  count_call(TNR_OPERATION_SPARSE_PACKED_MATMUL,
             a.info.size_bytes + element_bytes(b) + (reads_out ? out_bytes : 0), out_bytes);
}

}  // namespace tenure
