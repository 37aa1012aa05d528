// Products of two matrices, in blocks for the caches.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/gemm.hpp"
#include "cpu/quantize.hpp"
#include "dense/product/epilogue.hpp"
#include "dense/product/product_types.hpp"
#include "memory/tickets.hpp"
#include "memory/traffic.hpp"
#include "tenure/context.hpp"

namespace tenure {

// Between elements of the result and sums in memory of the call's own, where the kernels do not
// write the elements themselves.
class SumsStore {
 public:
  struct Rows {
    kernels::Byte* sums;
    std::int64_t sums_step;  // bytes from row to row
    kernels::Byte* out;
    std::int64_t row_step;
    std::int64_t column_step;
    std::int64_t rows;
    std::int64_t columns;
  };
  virtual ~SumsStore() = default;
  // Puts what `out` holds where the sums will be, to be multiplied by beta.
  virtual void load(const Rows& /*rows*/) const noexcept {}
  // Before the epilogue.
  virtual void scale(const Rows& /*rows*/) const noexcept {}
  virtual void store(const Rows& rows) const noexcept = 0;
};

// out = alpha * a b + beta * out, for matrices of one geometry.
class BlockedMatmul {
 public:
  // Steps are bytes, of any sign.
  struct Steps {
    std::int64_t row;
    std::int64_t column;
  };
  struct Geometry {
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t depth;
    Steps a;
    Steps b;
    Steps out;
    // The whole right factor, of several columns; nullptr: its steps say where it lies.
    const Panels* packed_b = nullptr;
    // The column of the epilogue that the first one is.
    std::int64_t epilogue_column = 0;

    // Whether the transpose of the result is computed, as the product of the transposes in the
    // other order: kernels store adjacent columns fastest. The sums are the same, but of complex
    // numbers, whose parts would be multiplied in another order.
    [[nodiscard]] bool is_swapped(const ProductTypes& types) const noexcept {
      if (types.lanes != 1) return false;
      return columns == 1 ||
             (packed_b == nullptr && out.row == types.out_bytes && out.column != types.out_bytes);
    }
    // Whether the parts of a complex number are adjacent to those of the next column.
    [[nodiscard]] bool has_adjacent_out(const ProductTypes& types) const noexcept {
      return columns == 1 || out.column == types.out_bytes;
    }
  };
  // The scalars, as elements of the sums' type.
  struct Scalars {
    Element alpha;
    Element beta;
    Element one;
    bool has_beta;
  };
  // Memory of a call, or of a thread of it that multiplies by itself.
  struct Buffers {
    kernels::Byte* shared;
    kernels::Byte* sums;
    const ThreadBuffers& threads;  // from this one on
    std::int64_t first;
  };

  // All that is referred to outlives this. `store` is nullptr where sums are the elements; those of
  // complex numbers are then adjacent. With a `scaling`, sums of integers become numbers before the
  // epilogue.
  BlockedMatmul(const ProductTypes& types, const Geometry& geometry, const Scalars& scalars,
                const Epilogue& epilogue, const SumsStore* store,
                const kernels::SumScaling* scaling = nullptr) noexcept;

  // Returns the multiplications and additions, or the greatest number where these overflow.
  [[nodiscard]] std::int64_t work() const noexcept;

  // Bytes of the buffers: of the factor that is packed for all threads and of sums, and of each
  // thread's.
  [[nodiscard]] std::int64_t shared_bytes() const noexcept;
  [[nodiscard]] std::int64_t sums_bytes() const noexcept;
  [[nodiscard]] std::int64_t thread_bytes() const noexcept;

  // Throws nothing: all memory is there.
  void run(const Context& context, const Buffers& buffers, const kernels::Byte* a,
           const kernels::Byte* b, kernels::Byte* out) const noexcept {
    run_batch(context, buffers, a, b, out, {1, 0, 0, 0});
  }
  // Bytes from the operands of one product to those of the next.
  struct Batch {
    std::int64_t count;
    std::int64_t a_step;
    std::int64_t b_step;
    std::int64_t out_step;
  };
  // Runs `batch.count` products one after the other.
  void run_batch(const Context& context, const Buffers& buffers, const kernels::Byte* a,
                 const kernels::Byte* b, kernels::Byte* out, const Batch& batch) const noexcept;

 private:
  // Some rows and columns of the result, in which kernels write their sums.
  struct Block {
    std::int64_t row;
    std::int64_t rows;
    std::int64_t column;
    std::int64_t columns;
    std::int64_t k;  // the first depth
    std::int64_t depth;
    kernels::Byte* out;   // of the result
    kernels::Byte* sums;  // nullptr: there
  };

  void run_at(const Context& context, const Buffers& buffers, const kernels::Byte* a,
              const kernels::Byte* b, kernels::Byte* out) const noexcept {
    packs_ ? run_packed(context, buffers, a, b, out) : run_panels(context, buffers, a, b, out);
  }
  // Whether a product is one call of a kernel, which reads both factors where they lie.
  [[nodiscard]] bool is_single(const Context& context) const noexcept;
  [[nodiscard]] bool reads_b() const noexcept {
    return types_.are_plain() && g_.packed_b == nullptr && g_.b.column == types_.sum_bytes;
  }
  // Few rows by a right factor whose depths are adjacent: packing it would take as long.
  [[nodiscard]] bool reads_b_along() const noexcept {
    return types_.are_plain() && g_.packed_b == nullptr && !reads_b() &&
           g_.b.row == types_.sum_bytes && g_.rows <= types_.gemm.along_rows;
  }
  [[nodiscard]] std::int64_t panel_columns() const noexcept { return types_.panel_columns(); }
  [[nodiscard]] std::int64_t block_depth() const noexcept {
    return std::min(types_.most_depth(), g_.depth);
  }
  [[nodiscard]] std::int64_t most_columns() const noexcept { return kBlockColumns / types_.lanes; }
  [[nodiscard]] std::int64_t block_columns() const noexcept {
    return std::min(most_columns(), parts_of(g_.columns, panel_columns()) * panel_columns());
  }
  [[nodiscard]] std::int64_t block_panels() const noexcept {
    return std::min(block_rows(types_.sum_bytes) / types_.gemm.panel_rows,
                    parts_of(g_.rows, types_.gemm.panel_rows));
  }
  [[nodiscard]] std::int64_t row_panel_bytes(std::int64_t depth) const noexcept {
    return types_.gemm.panel_rows * types_.depth_lanes(depth) * types_.sum_bytes;
  }
  // Whole lines, and what packing writes behind a panel.
  [[nodiscard]] std::int64_t shared_row_panel_bytes(std::int64_t depth) const noexcept {
    return whole_lines(row_panel_bytes(depth) + types_.a.packing->slack_bytes);
  }
  // Bytes of all rows.
  [[nodiscard]] std::int64_t shared_rows_bytes() const noexcept;
  // Bytes of the rows that a thread packs for itself, before the columns in its buffer.
  [[nodiscard]] std::int64_t own_rows_bytes() const noexcept;
  // Panels of columns that a thread packs at a time where all rows are there for all threads.
  [[nodiscard]] std::int64_t piece_panels() const noexcept;
  // Rows whose sums are kept at a time: all rows where the sums are the result's elements.
  [[nodiscard]] std::int64_t sums_rows() const noexcept;
  [[nodiscard]] std::int64_t sums_step() const noexcept;

  [[nodiscard]] kernels::Factor rows_of(const kernels::Byte* a, const Block& block) const noexcept {
    return {a + block.row * g_.a.row + block.k * g_.a.column, g_.a.row, g_.a.column, block.rows,
            block.depth};
  }
  [[nodiscard]] kernels::Factor columns_of(const kernels::Byte* b,
                                           const Block& block) const noexcept {
    return {b + block.column * g_.b.column + block.k * g_.b.row, g_.b.column, g_.b.row,
            block.columns, block.depth};
  }
  // The panels of the block, in a right factor that came packed.
  [[nodiscard]] const kernels::Byte* panels_of(const Block& block) const noexcept {
    return g_.packed_b->data + block.column / panel_columns() * g_.packed_b->step +
           types_.block_offset(block.k);
  }
  [[nodiscard]] kernels::DenseProduct product(const Block& block) const noexcept;
  // Of rows that are not packed, by panels of columns.
  [[nodiscard]] kernels::DenseProduct unpacked_product(const Block& block) const noexcept;
  // After the last depth.
  void finish(const Block& block) const noexcept;
  [[nodiscard]] bool scales() const noexcept { return scaling_.row_scales != nullptr; }
  void scale_sums(const Block& block) const noexcept;

  void run_panels(const Context& context, const Buffers& buffers, const kernels::Byte* a,
                  const kernels::Byte* b, kernels::Byte* out) const noexcept;
  void run_slice(kernels::Byte* buffer, const kernels::Byte* a, const kernels::Byte* b,
                 kernels::Byte* out, std::int64_t first, std::int64_t last,
                 std::int64_t width) const noexcept;
  [[nodiscard]] std::int64_t strip_columns(const Context& context) const noexcept;
  void run_columns(kernels::Byte* buffer, const kernels::Byte* a, const kernels::Byte* b,
                   kernels::Byte* out, std::int64_t column, std::int64_t columns) const noexcept;

  void run_packed(const Context& context, const Buffers& buffers, const kernels::Byte* a,
                  const kernels::Byte* b, kernels::Byte* out) const noexcept;
  void pack_rows(const Context& context, const kernels::Factor& block,
                 kernels::Byte* packed) const noexcept;
  void pack_columns(const Context& context, const kernels::Factor& block,
                    kernels::Byte* packed) const noexcept;
  void pack_piece(const kernels::Factor& columns, const kernels::Factor& next,
                  kernels::Byte* packed, kernels::DenseProduct& product) const noexcept;
  void multiply_block(const Context& context, const Buffers& buffers, const kernels::Byte* a,
                      const kernels::Byte* b, const Panels& shared,
                      const Block& block) const noexcept;

  bool is_swapped_;
  ProductTypes types_;
  const Scalars& scalars_;
  const Epilogue& epilogue_;
  const SumsStore* store_;
  kernels::SumScaling scaling_ = {};  // without scales: sums stay as they are
  Geometry g_;
  bool is_narrow_;  // kernels round sums to elements of 16 bits
  bool finishes_;   // something follows the sums
  bool packs_;
  bool reads_a_;   // rows are not packed, but read where they lie
  bool shares_a_;  // all rows are packed first, or read, for all threads; else the right factor is
  bool packs_own_rows_;  // all rows are packed by each thread for itself
  bool streams_;
  bool is_far_;  // the packed right factor
};

}  // namespace tenure
