// Sparse times dense, where the entries of a row go to many sums (CSC, transposed CSR,
// coordinates).
//
// Sums are kept apart first. A thread takes rows of a result of many columns, and rows of a are cut
// at their bounds; otherwise a thread takes columns, and all entries. An element has its entries in
// their order either way. For few columns, entries are shared out to a number of parts that the
// shapes decide: the number is the same for any number of threads. One part that a result of zeros
// can hold is added up there.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "cpu/dispatch.hpp"
#include "dense/scalar.hpp"
#include "memory/scratch.hpp"
#include "memory/traffic.hpp"
#include "sparse/product/rows_in_parts.hpp"
#include "sparse/product/spmm.hpp"
#include "sparse/row_slices.hpp"
#include "tenure/sparse.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Arrays of sums that entries are shared out to, at most.
constexpr std::int64_t kMaxParts = 8;
// Sums that stay in the second cache while rows go over them.
constexpr std::int64_t kNearBytes = std::int64_t{256} << 10;
// Parts of the sums for each thread, at least: they may differ in entries.
constexpr std::int64_t kPartsOfThread = 2;
// Entries of a row in a part, on the average, that make it worth it to take a row in pieces.
constexpr std::int64_t kPieceOfRow = 32;

// The input of the scatter-add: rows, or entries of COO.
class ScatterInput {
 public:
  explicit ScatterInput(const SparseMatmul& call)
      : a_(call.a),
        kernels_(kernels::scatter_add_kernels()[call.type]),
        index_(static_cast<unsigned>(index_type(a_.view().minor.dtype))),
        is_coo_(a_.view().format == TNR_SPARSE_FORMAT_COO) {
    if (!is_coo_) return;
    entries_ = a_.coordinates();
    // The kernel adds the elements at the row indices to those at the column indices.
    if (!call.is_transposed) std::swap(entries_.row_indices, entries_.col_indices);
  }

  [[nodiscard]] const kernels::ScatterAddKernels& scatter_adds() const noexcept { return kernels_; }
  [[nodiscard]] std::int64_t entry_count() const noexcept {
    return is_coo_ ? entries_.count : RowSlices::entry_count(a_.view());
  }

  // Part `part` of `part_count`, of about as many entries each.
  void add_part(const kernels::ScatterAdd& scatter_add, std::int64_t part_count,
                std::int64_t part) const noexcept {
    if (is_coo_) {
      a_.for_each_run(slice_begin(entries_.count, part_count, part),
                      slice_begin(entries_.count, part_count, part + 1),
                      [&](std::int64_t begin, std::int64_t end) {
                        kernels_.entries[index_](scatter_add, entries_, begin, end);
                      });
      return;
    }
    const RowSlices slices(a_.view(), part_count);
    const kernels::Compressed rows = a_.compressed();
    const auto kernel =
        (a_.view().format == TNR_SPARSE_FORMAT_BSR ? kernels_.block_rows : kernels_.rows)[index_];
    a_.for_each_run(
        slices.begin(part), slices.begin(part + 1),
        [&](std::int64_t begin, std::int64_t end) { kernel(scatter_add, rows, begin, end); });
  }

  // The entries of all rows that are in a part of the sums.
  void add_pieces(kernels::ScatterAdd scatter_add, const RowsInParts& rows,
                  std::int64_t part) const noexcept {
    for (std::int64_t row = 0; row < rows.rows(); ++row, scatter_add.b += scatter_add.b_step) {
      kernels_.rows[index_](scatter_add, rows.piece(row, part), 0, 1);
    }
  }

 private:
  const SparseOperand& a_;
  const kernels::ScatterAddKernels& kernels_;
  unsigned index_;
  bool is_coo_;
  kernels::Coordinates entries_{};
};

// One panel of columns of b, in arrays of sums.
class SpreadPanel {
 public:
  // `rows` are nullptr where they are not cut.
  SpreadPanel(const SparseMatmul& call, const ScatterInput& source, const RowsInParts* rows,
              std::int64_t first, std::int64_t columns, AdjacentColumns::Rows b_rows)
      : call_(call),
        source_(source),
        rows_(rows),
        first_(first),
        columns_(columns),
        sum_bytes_(source.scatter_adds().sum_bytes),
        group_columns_(kLineBytes / sum_bytes_),
        group_count_((columns + group_columns_ - 1) / group_columns_),
        // A sum of its own for every second entry is what merging them is worth. By the columns of
        // the call: how many of them a panel has may depend on strides.
        part_count_(call.b.columns > group_columns_
                        ? 1
                        : std::clamp<std::int64_t>(source.entry_count() / (2 * call.out.rows), 1,
                                                   kMaxParts)),
        is_in_place_(part_count_ == 1 && group_count_ == 1 && call.beta == nullptr &&
                     sum_bytes_ == call.out.width_bytes &&
                     (columns == 1 || call.out.column_step == sum_bytes_)),
        sums_step_(is_in_place_       ? call.out.row_step
                   : group_count_ > 1 ? whole_lines(columns * sum_bytes_)
                                      : columns * sum_bytes_),
        part_step_(is_in_place_ ? 0 : whole_lines(sums_step_ * call.out.rows)),
        scratch_(scratch_bytes(part_step_, part_count_)),
        sums_(is_in_place_ ? call.out_data(first) : scratch_.data()),
        b_(call.context, call.b, first, columns, b_rows) {}

  void run() const noexcept {
    if (is_in_place_) {
      for_each_part_of_out([&](std::int64_t begin, std::int64_t end) noexcept {
        clear(sums_, columns_, begin, end);
      });
      source_.add_part(scatter_add(sums_, 0, columns_), 1, 0);
      if (has_factor()) gather_all();
    } else if (group_count_ > 1 && rows_ != nullptr) {
      for_each_slice(call_.context, rows_->parts(),
                     [&](std::int64_t part) noexcept { run_part(part); });
    } else if (group_count_ > 1) {
      for_each_slice(call_.context, call_.context.thread_count() == 1 ? 1 : group_count_,
                     [&](std::int64_t group) noexcept { run_group(group); });
    } else {
      for_each_slice(call_.context, part_count_,
                     [&](std::int64_t part) noexcept { add(part, 0, columns_); });
      gather_all();
    }
  }

 private:
  static std::size_t scratch_bytes(std::int64_t part_step, std::int64_t part_count) {
    return static_cast<std::size_t>(part_step) * static_cast<std::size_t>(part_count);
  }

  // Calls body(begin, end) for slices of the rows of out.
  template <class Body>
  void for_each_part_of_out(const Body& body) const noexcept {
    const std::int64_t bytes = call_.out.rows * columns_ * sum_bytes_ * (part_count_ + 1);
    const std::int64_t slices = slice_count_of(call_.context, bytes);
    for_each_slice(call_.context, slices, [&](std::int64_t slice) noexcept {
      body(slice_begin(call_.out.rows, slices, slice),
           slice_begin(call_.out.rows, slices, slice + 1));
    });
  }
  // Whether alpha is another number than 1.
  [[nodiscard]] bool has_factor() const noexcept {
    const tnr_scalar one = {TNR_DTYPE_U8, 0, {1}};
    return std::memcmp(call_.alpha, to_element(one, call_.out.view.dtype, "alpha").bytes,
                       static_cast<std::size_t>(sum_bytes_)) != 0;
  }
  void gather_all() const noexcept {
    for_each_part_of_out(
        [&](std::int64_t begin, std::int64_t end) noexcept { gather(0, columns_, begin, end); });
  }

  // The rows of out that are a part of the columns of a.
  void run_part(std::int64_t part) const noexcept {
    const std::int64_t begin = rows_->column(part);
    const std::int64_t end = rows_->column(part + 1);
    std::memset(sums_ + begin * sums_step_, 0,
                static_cast<std::size_t>((end - begin) * sums_step_));
    source_.add_pieces(scatter_add(sums_, 0, columns_), *rows_, part);
    gather(0, columns_, begin, end);
  }

  // All columns where one thread does it all.
  void run_group(std::int64_t group) const noexcept {
    const bool is_alone = call_.context.thread_count() == 1;
    const std::int64_t column = group * group_columns_;
    const std::int64_t columns = is_alone ? columns_ : std::min(group_columns_, columns_ - column);
    add(0, column, columns);
    gather(column, columns, 0, call_.out.rows);
  }

  void add(std::int64_t part, std::int64_t column, std::int64_t columns) const noexcept {
    Byte* const sums = sums_ + part * part_step_ + column * sum_bytes_;
    // Gaps between the rows of scratch may be cleared too.
    if (columns == columns_) {
      std::memset(sums, 0, static_cast<std::size_t>(call_.out.rows * sums_step_));
    } else {
      clear(sums, columns, 0, call_.out.rows);
    }
    source_.add_part(scatter_add(sums, column, columns), part_count_, part);
  }

  void clear(Byte* sums, std::int64_t columns, std::int64_t begin,
             std::int64_t end) const noexcept {
    const std::int64_t bytes = columns * sum_bytes_;
    if (sums_step_ == bytes) {
      std::memset(sums + begin * bytes, 0, static_cast<std::size_t>((end - begin) * bytes));
      return;
    }
    for (std::int64_t row = begin; row < end; ++row) {
      std::memset(sums + row * sums_step_, 0, static_cast<std::size_t>(bytes));
    }
  }

  [[nodiscard]] kernels::ScatterAdd scatter_add(Byte* sums, std::int64_t column,
                                                std::int64_t columns) const noexcept {
    const tnr_sparse_view& view = call_.a.view();
    return {.block_rows = view.block_rows,
            .block_cols = view.block_cols,
            .columns = columns,
            .b = b_.data() + column * call_.b.width_bytes,
            .b_step = b_.row_step(),
            .sums = sums,
            .sums_step = sums_step_};
  }

  void gather(std::int64_t column, std::int64_t columns, std::int64_t begin,
              std::int64_t end) const noexcept {
    source_.scatter_adds().gather({.columns = columns,
                                   .sums = sums_ + column * sum_bytes_,
                                   .sums_step = sums_step_,
                                   .parts = part_count_,
                                   .part_step = part_step_,
                                   .out = call_.out_data(first_ + column),
                                   .out_step = call_.out.row_step,
                                   .out_column_step = call_.out.column_step,
                                   .alpha = call_.alpha,
                                   .beta = call_.beta},
                                  begin, end);
  }

  const SparseMatmul& call_;
  const ScatterInput& source_;
  const RowsInParts* rows_;
  std::int64_t first_;
  std::int64_t columns_;
  std::int64_t sum_bytes_;
  std::int64_t group_columns_;  // a line of sums
  std::int64_t group_count_;
  std::int64_t part_count_;
  bool is_in_place_;
  std::int64_t sums_step_;
  std::int64_t part_step_;
  Scratch scratch_;
  Byte* sums_;
  AdjacentColumns b_;
};

// How many parts rows are cut into, so that threads take parts of the sums of a panel of columns;
// 0 where that is not worth it, by the entries of a row in a part. A kernel of one thread takes
// rows in parts by itself.
std::int64_t part_count(const SparseMatmul& call, const ScatterInput& source, std::int64_t panel) {
  const tnr_sparse_format format = call.a.view().format;
  const bool are_rows = format != TNR_SPARSE_FORMAT_COO && format != TNR_SPARSE_FORMAT_BSR;
  const auto threads = static_cast<std::int64_t>(call.context.thread_count());
  if (threads == 1 || !are_rows || !call.a.is_checked() || call.b.rows == 0) return 0;
  const std::int64_t row_bytes = std::min(call.b.columns, panel) * source.scatter_adds().sum_bytes;
  const std::int64_t groups = (row_bytes + kLineBytes - 1) / kLineBytes;
  const std::int64_t near = call.out.rows * row_bytes / kNearBytes + 1;
  const std::int64_t parts = std::min(std::max(near, kPartsOfThread * threads),
                                      source.entry_count() / call.b.rows / kPieceOfRow);
  return groups > 1 && parts >= std::min(threads, groups) ? parts : 0;
}

}  // namespace

void multiply_scatter(const SparseMatmul& call) {
  const ScatterInput source(call);
  // A single column is read with any step.
  const bool is_spaced = call.b.columns == 1 || call.reads_in_place(source.entry_count());
  const auto b_rows = is_spaced ? AdjacentColumns::Rows::kSpaced : AdjacentColumns::Rows::kAnywhere;
  const std::int64_t panel = is_spaced ? 1 : kPanelBytes / source.scatter_adds().sum_bytes;
  std::optional<RowsInParts> rows;
  if (const std::int64_t parts = part_count(call, source, panel); parts != 0) {
    rows.emplace(call.context, call.a.view(), parts);
    if (!rows->rise()) rows.reset();
  }
  for (std::int64_t first = 0; first < call.b.columns; first += panel) {
    SpreadPanel(call, source, rows ? &*rows : nullptr, first,
                std::min(call.b.columns - first, panel), b_rows)
        .run();
  }
}

}  // namespace tenure
