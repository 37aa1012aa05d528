// Sparse times dense: which kernel, over which parts of the operands.
//
// Where each sum belongs to one row of the sparse matrix, rows are shared out. Where the entries of a
// row go to many sums (CSC, transposed CSR, coordinates) the sums are kept apart first: of many
// columns each thread takes some, and all entries; of few the entries are shared out to a number of
// parts that the shapes decide, so that it is the same for any number of threads.
#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstring>
#include <vector>

#include "dense_columns.hpp"
#include "index_array.hpp"
#include "kernels/matmul.hpp"
#include "long_rows.hpp"
#include "operands.hpp"
#include "parallel.hpp"
#include "row_slices.hpp"
#include "scratch.hpp"
#include "sparse_batch.hpp"
#include "sparse_operand.hpp"
#include "sparse_traffic.hpp"
#include "tenure/sparse.hpp"
#include "tenure/view.hpp"
#include "traffic.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Of a row of b that one pass over the entries takes: as much as the widest registers hold the sums
// of, so that a panel of as many rows as a cache holds stays there.
constexpr std::int64_t kPanelBytes = 256;
// Entries for each row of b from which on it is copied so that its rows begin with lines.
constexpr std::int64_t kUsesWorthCopying = 32;
// Rows of a slice, at least, where all threads have some slices: parts of b that rows go over together
// should serve many.
constexpr std::int64_t kSliceRows = 256;
constexpr std::int64_t kSlicesOfThread = 8;
// Arrays of sums that entries are shared out to, at most.
constexpr std::int64_t kMaxParts = 8;

// The types up to here have kernels of their own for matrices without blocks.
constexpr unsigned kLastFloat = static_cast<unsigned>(kernels::Type::kF32);

// ---- operands ----

// Everything of a call that has been checked.
struct Call {
  const Context& context;
  const SparseOperand& a;
  bool is_transposed;  // with regard to a.compressed() or a.coordinates()
  unsigned type;
  DenseColumns b;
  DenseColumns out;
  const Byte* alpha;
  const Byte* beta;  // nullptr: 0

  [[nodiscard]] Byte* out_data(std::int64_t first_column) const noexcept {
    return const_cast<Byte*>(out.data) + first_column * out.column_step;
  }
};

// ---- rows of their own ----

kernels::MatmulKernel row_kernel(const Call& call) {
  const tnr_sparse_view& view = call.a.view();
  const kernels::MatmulKernels& kernels = *kernels::table().matmul;
  const bool is_plain = view.format == TNR_SPARSE_FORMAT_BSR || call.type > kLastFloat;
  return (is_plain ? kernels.block_rows
                   : kernels.rows)[call.type][static_cast<unsigned>(index_type(view.minor.dtype))];
}

constexpr tnr_scalar kOne = {TNR_DTYPE_U8, 0, {1}};

// Of CSR some rows of which are long: their pieces, and all other rows, are shared out. A piece's sum
// is an element, so elements that are narrower than their sums are not cut.
class CutRows {
 public:
  CutRows(const Call& call, const kernels::Matmul& matmul, const std::vector<LongRow>& long_rows)
      : call_(call),
        matmul_(matmul),
        kernel_(row_kernel(call)),
        long_rows_(long_rows),
        sums_step_(matmul.columns * call.b.width_bytes),
        one_(to_element(kOne, call.out.view.dtype, "alpha")),
        sums_(long_rows.back().first_piece + long_rows.back().piece_count(), sums_step_) {}

  void run(const RowSlices& slices) const noexcept {
    const LongRow& last = long_rows_.back();
    const std::int64_t pieces = last.first_piece + last.piece_count();
    for_each_slice(call_.context, pieces + slices.count(), [&](std::int64_t slice) noexcept {
      if (slice < pieces) return add_piece(slice);
      add_rows(slices.begin(slice - pieces), slices.begin(slice - pieces + 1));
    });
    for (const LongRow& row : long_rows_) gather(row);
  }

  // Whether products of this type and format are cut.
  static bool takes(const Call& call) noexcept {
    return call.a.view().format != TNR_SPARSE_FORMAT_BSR &&
           kernels::table().matmul->spreads[call.type].sum_bytes == call.b.width_bytes &&
           call.type != static_cast<unsigned>(kernels::Type::kBool8);
  }

 private:
  void add_piece(std::int64_t piece) const noexcept {
    const LongRow& row =
        *(std::upper_bound(long_rows_.begin(), long_rows_.end(), piece,
                           [](std::int64_t p, const LongRow& r) { return p < r.first_piece; }) -
          1);
    const kernels::IndexType type = index_type(call_.a.view().minor.dtype);
    const std::int64_t first = row.first + (piece - row.first_piece) * kPieceEntries;
    Byte offsets[2 * 8];
    put_index(offsets, type, 0, first);
    put_index(offsets, type, 1, std::min(row.last, first + kPieceEntries));
    kernels::Matmul of_piece = matmul_;
    of_piece.a.offsets = offsets;
    of_piece.out = sums_.data() + piece * sums_step_;
    of_piece.out_step = sums_step_;
    of_piece.out_column_step = call_.b.width_bytes;
    of_piece.alpha = one_.bytes;
    of_piece.beta = nullptr;
    kernel_(of_piece, 0, 1);
  }

  // Those of [begin, end) that are not long.
  void add_rows(std::int64_t begin, std::int64_t end) const noexcept {
    for (const LongRow& row : long_rows_) {
      if (row.row < begin || row.row >= end) continue;
      if (begin < row.row) kernel_(matmul_, begin, row.row);
      begin = row.row + 1;
    }
    if (begin < end) kernel_(matmul_, begin, end);
  }

  // The pieces of a row in their order.
  void gather(const LongRow& row) const noexcept {
    kernels::table().matmul->spreads[call_.type].gather(
        {.columns = matmul_.columns,
         .sums = sums_.data() + row.first_piece * sums_step_,
         .sums_step = sums_step_,
         .parts = row.piece_count(),
         .part_step = sums_step_,
         .out = matmul_.out + row.row * matmul_.out_step,
         .out_step = matmul_.out_step,
         .out_column_step = matmul_.out_column_step,
         .alpha = matmul_.alpha,
         .beta = matmul_.beta},
        0, 1);
  }

  const Call& call_;
  const kernels::Matmul& matmul_;
  kernels::MatmulKernel kernel_;
  const std::vector<LongRow>& long_rows_;
  std::int64_t sums_step_;
  Element one_;
  Scratch sums_;
};

void multiply_checked(const Call& call);

void multiply_rows(const Call& call) {
  const tnr_sparse_view& view = call.a.view();
  const std::vector<LongRow> long_rows =
      CutRows::takes(call) ? tenure::long_rows(view) : std::vector<LongRow>();
  // Pieces of rows are not checked as they are used.
  if (!long_rows.empty() && !call.a.is_checked()) return multiply_checked(call);
  const kernels::MatmulKernel kernel = row_kernel(call);
  const std::int64_t width = call.b.width_bytes;
  const std::int64_t entry_bytes = index_bytes(view) + call.a.value_bytes();
  const std::int64_t entries = RowSlices::entry_count(view);
  for (std::int64_t first = 0; first < call.b.columns; first += kPanelBytes / width) {
    const std::int64_t columns = std::min(call.b.columns - first, kPanelBytes / width);
    // Copying a row of b costs as much as some of its uses.
    const bool is_used_often = entries >= kUsesWorthCopying * call.b.rows;
    const AdjacentColumns b(
        call.context, call.b, first, columns,
        is_used_often ? AdjacentColumns::Rows::kInLines : AdjacentColumns::Rows::kAnywhere);
    const kernels::Matmul matmul = {
        .a = call.a.compressed(),
        .block_rows = view.block_rows,
        .block_cols = view.block_cols,
        .columns = columns,
        .b = b.data(),
        .b_rows = call.b.rows,
        .b_step = b.row_step(),
        .out = call.out_data(first),
        .out_step = call.out.row_step,
        .out_column_step = call.out.column_step,
        .alpha = call.alpha,
        .beta = call.beta,
    };
    const std::int64_t bytes = entries * (entry_bytes + (columns - 1) * width) +
                               call.out.rows * (index_bytes(view) + 2 * columns * width);
    const std::int64_t most_slices = std::max<std::int64_t>(
        kSlicesOfThread * static_cast<std::int64_t>(call.context.thread_count()),
        call.out.rows / kSliceRows);
    const RowSlices slices(view, std::min(slice_count_of(call.context, bytes), most_slices));
    if (!long_rows.empty()) {
      CutRows(call, matmul, long_rows).run(slices);
      continue;
    }
    for_each_slice(call.context, slices.count(), [&](std::int64_t slice) noexcept {
      call.a.for_each_run(
          slices.begin(slice), slices.begin(slice + 1),
          [&](std::int64_t begin, std::int64_t end) { kernel(matmul, begin, end); });
    });
  }
}

// Throws INVALID_ARGUMENT where an offset or an index is wrong, before any is used.
void multiply_checked(const Call& call) {
  tnr_sparse_view view = call.a.view();
  view.owner = 0;
  view.flags = 0;
  check_entries(view, Rows::kSome, call.a.name());
  view.flags = kSparseChecked;
  const SparseOperand checked(view, call.a.name());
  multiply_rows({.context = call.context,
                 .a = checked,
                 .is_transposed = call.is_transposed,
                 .type = call.type,
                 .b = call.b,
                 .out = call.out,
                 .alpha = call.alpha,
                 .beta = call.beta});
}

// ---- coordinates that are rows of their own ----

// The offsets of the rows of coordinates, where these are ordered by row.
class RowOffsets {
 public:
  RowOffsets(const Context& context, const tnr_sparse_view& view)
      : rows_(view.rows),
        count_(view.minor.shape[0]),
        type_(index_type(view.major.dtype)),
        slices_(slice_count_of(context, count_ * index_width(type_))),
        row_indices_(bytes_at(view.major, 0)),
        offsets_(rows_ + 1, index_width(type_)) {
    const kernels::IndexChecks& checks = index_checks(view);
    std::atomic<bool> is_sorted{true};
    for_each_slice(context, slices_, [&](std::int64_t slice) noexcept {
      const std::int64_t begin = std::max<std::int64_t>(0, this->begin(slice) - 1);
      const Byte* const from = row_indices_ + begin * index_width(type_);
      if (checks.count_falls(from, this->begin(slice + 1) - begin) != 0) {
        is_sorted.store(false, std::memory_order_relaxed);
      }
    });
    is_sorted_ = is_sorted.load(std::memory_order_relaxed);
    if (!is_sorted_) return;
    for_each_slice(context, slices_, [&](std::int64_t slice) noexcept { write(slice); });
  }

  // Else there are none.
  [[nodiscard]] bool is_sorted() const noexcept { return is_sorted_; }
  [[nodiscard]] tnr_view view(tnr_dtype dtype) const noexcept {
    const std::int64_t count = rows_ + 1;
    return make_view(offsets_.data(), offsets_.size_bytes(), 0, dtype, 1, &count, nullptr);
  }

 private:
  [[nodiscard]] std::int64_t begin(std::int64_t slice) const noexcept {
    return slice_begin(count_, slices_, slice);
  }
  [[nodiscard]] std::int64_t row(std::int64_t entry) const noexcept {
    if (entry == count_) return rows_;
    return entry < 0 ? -1 : get_index(row_indices_, type_, entry);
  }

  // Of the rows that begin with an entry of the slice, and those without entries before them; the
  // last slice also has those behind all entries.
  void write(std::int64_t slice) const noexcept {
    const std::int64_t end = slice + 1 == slices_ ? count_ + 1 : begin(slice + 1);
    std::int64_t before = row(begin(slice) - 1);
    for (std::int64_t k = begin(slice); k < end; ++k) {
      const std::int64_t next = row(k);
      while (before < next) put_index(offsets_.data(), type_, ++before, k);
    }
  }

  std::int64_t rows_;
  std::int64_t count_;
  kernels::IndexType type_;
  std::int64_t slices_;
  const Byte* row_indices_;
  Scratch offsets_;
  bool is_sorted_ = false;
};

// As CSR, of which the offsets alone have to be made. False where the entries are not ordered by row,
// whatever the flags say, or where there are too many for an offset.
bool multiply_sorted(const Call& call) {
  const tnr_sparse_view& view = call.a.view();
  const bool has_narrow_offsets = view.major.dtype == TNR_DTYPE_I32;
  if (has_narrow_offsets && view.minor.shape[0] > INT32_MAX) return false;
  const RowOffsets offsets(call.context, view);
  if (!offsets.is_sorted()) return false;
  tnr_sparse_view rows = view;
  rows.owner = 0;
  rows.format = TNR_SPARSE_FORMAT_CSR;
  rows.flags |= kSparseChecked;
  rows.major = offsets.view(view.major.dtype);
  const SparseOperand compressed(rows, call.a.name());
  multiply_rows({.context = call.context,
                 .a = compressed,
                 .is_transposed = false,
                 .type = call.type,
                 .b = call.b,
                 .out = call.out,
                 .alpha = call.alpha,
                 .beta = call.beta});
  return true;
}

// ---- sums that many rows add to ----

// What is spread: rows or entries, as the matrix has them.
class Source {
 public:
  explicit Source(const Call& call)
      : a_(call.a),
        spreads_(kernels::table().matmul->spreads[call.type]),
        index_(static_cast<unsigned>(index_type(a_.view().minor.dtype))),
        is_coo_(a_.view().format == TNR_SPARSE_FORMAT_COO) {
    if (!is_coo_) return;
    entries_ = a_.coordinates();
    // The kernel adds at the columns what lies at the rows.
    if (!call.is_transposed) std::swap(entries_.row_indices, entries_.col_indices);
  }

  [[nodiscard]] const kernels::Spreads& spreads() const noexcept { return spreads_; }
  [[nodiscard]] std::int64_t entry_count() const noexcept {
    return is_coo_ ? entries_.count : RowSlices::entry_count(a_.view());
  }

  // Part `part` of `part_count`, of about as many entries each.
  void add_part(const kernels::Spread& spread, std::int64_t part_count,
                std::int64_t part) const noexcept {
    if (is_coo_) {
      a_.for_each_run(slice_begin(entries_.count, part_count, part),
                      slice_begin(entries_.count, part_count, part + 1),
                      [&](std::int64_t begin, std::int64_t end) {
                        spreads_.entries[index_](spread, entries_, begin, end);
                      });
      return;
    }
    const RowSlices slices(a_.view(), part_count);
    const kernels::Compressed rows = a_.compressed();
    const auto kernel =
        (a_.view().format == TNR_SPARSE_FORMAT_BSR ? spreads_.block_rows : spreads_.rows)[index_];
    a_.for_each_run(
        slices.begin(part), slices.begin(part + 1),
        [&](std::int64_t begin, std::int64_t end) { kernel(spread, rows, begin, end); });
  }

 private:
  const SparseOperand& a_;
  const kernels::Spreads& spreads_;
  unsigned index_;
  bool is_coo_;
  kernels::Coordinates entries_{};
};

// One panel of columns of b, in arrays of sums.
class SpreadPanel {
 public:
  SpreadPanel(const Call& call, const Source& source, std::int64_t first, std::int64_t columns)
      : call_(call),
        source_(source),
        first_(first),
        columns_(columns),
        sum_bytes_(source.spreads().sum_bytes),
        group_columns_(kLineBytes / sum_bytes_),
        group_count_((columns + group_columns_ - 1) / group_columns_),
        // A sum of its own for every second entry is what merging them is worth.
        part_count_(group_count_ > 1
                        ? 1
                        : std::clamp<std::int64_t>(source.entry_count() / (2 * call.out.rows), 1,
                                                   kMaxParts)),
        sums_step_(group_count_ > 1 ? whole_lines(columns * sum_bytes_) : columns * sum_bytes_),
        part_step_(whole_lines(sums_step_ * call.out.rows)),
        sums_(scratch_bytes(part_step_, part_count_)),
        b_(call.context, call.b, first, columns) {}

  void run() const noexcept {
    if (group_count_ > 1) {
      for_each_slice(call_.context, call_.context.thread_count() == 1 ? 1 : group_count_,
                     [&](std::int64_t group) noexcept { run_group(group); });
    } else {
      for_each_slice(call_.context, part_count_,
                     [&](std::int64_t part) noexcept { add(part, 0, columns_); });
      const std::int64_t slices =
          slice_count_of(call_.context, call_.out.rows * sums_step_ * (part_count_ + 1));
      for_each_slice(call_.context, slices, [&](std::int64_t slice) noexcept {
        gather(0, columns_, slice_begin(call_.out.rows, slices, slice),
               slice_begin(call_.out.rows, slices, slice + 1));
      });
    }
  }

 private:
  static std::size_t scratch_bytes(std::int64_t part_step, std::int64_t part_count) {
    return static_cast<std::size_t>(part_step) * static_cast<std::size_t>(part_count);
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
    Byte* const sums = sums_.data() + part * part_step_ + column * sum_bytes_;
    if (columns == columns_) {
      std::memset(sums, 0, static_cast<std::size_t>(call_.out.rows * sums_step_));
    } else {
      for (std::int64_t row = 0; row < call_.out.rows; ++row) {
        std::memset(sums + row * sums_step_, 0, static_cast<std::size_t>(columns * sum_bytes_));
      }
    }
    const tnr_sparse_view& view = call_.a.view();
    source_.add_part({.block_rows = view.block_rows,
                      .block_cols = view.block_cols,
                      .columns = columns,
                      .b = b_.data() + column * call_.b.width_bytes,
                      .b_step = b_.row_step(),
                      .sums = sums,
                      .sums_step = sums_step_},
                     part_count_, part);
  }

  void gather(std::int64_t column, std::int64_t columns, std::int64_t begin,
              std::int64_t end) const noexcept {
    source_.spreads().gather({.columns = columns,
                              .sums = sums_.data() + column * sum_bytes_,
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

  const Call& call_;
  const Source& source_;
  std::int64_t first_;
  std::int64_t columns_;
  std::int64_t sum_bytes_;
  std::int64_t group_columns_;  // a line of sums
  std::int64_t group_count_;
  std::int64_t part_count_;
  std::int64_t sums_step_;
  std::int64_t part_step_;
  Scratch sums_;
  AdjacentColumns b_;
};

void multiply_spread(const Call& call) {
  const Source source(call);
  const std::int64_t panel = kPanelBytes / source.spreads().sum_bytes;
  for (std::int64_t first = 0; first < call.b.columns; first += panel) {
    SpreadPanel(call, source, first, std::min(call.b.columns - first, panel)).run();
  }
}

// What is the same for each matrix of a batch.
struct Factors {
  bool is_transposed;
  unsigned type;
  Element alpha;
  Element beta;
  bool has_beta;
};

// One matrix by operands that have been checked.
void multiply(const Context& context, const SparseOperand& a, const Factors& factors,
              const tnr_view& b, const tnr_view& out) {
  const tnr_sparse_format format = a.view().format;
  const Call call = {.context = context,
                     .a = a,
                     .is_transposed = factors.is_transposed != (format == TNR_SPARSE_FORMAT_CSC),
                     .type = factors.type,
                     .b = DenseColumns(b),
                     .out = DenseColumns(out),
                     .alpha = factors.alpha.bytes,
                     .beta = factors.has_beta ? factors.beta.bytes : nullptr};
  const bool is_coo = format == TNR_SPARSE_FORMAT_COO;
  // Entries that nobody has checked are checked as they are used, which rows made of them are not.
  const bool may_be_rows =
      is_coo && !call.is_transposed && a.is_checked() && (a.view().flags & TNR_SPARSE_SORTED) != 0;
  if (may_be_rows && multiply_sorted(call)) return;
  if (is_coo || call.is_transposed) {
    multiply_spread(call);
  } else {
    multiply_rows(call);
  }
  a.require_valid();
}

// `b` has a matrix, or a vector, for each of the batch, or is shared by all.
void multiply_batch(const Context& context, const BatchOperand& a, const Factors& factors,
                    const tnr_view& b, const tnr_view& out) {
  const bool is_shared = b.rank < out.rank;
  const DenseColumns one(index(out, 0, 0));
  const std::int64_t entry_bytes =
      index_bytes(a.view()) + a.view().block_rows * a.view().block_cols * one.columns *
                                  static_cast<std::int64_t>(element_size(out.dtype));
  const std::int64_t sum_bytes = one.rows * one.columns * one.width_bytes * 2;
  for_each_matrix(
      context, a,
      [&](std::int64_t i) noexcept { return sum_bytes + a.entry_count(i) * entry_bytes; },
      [&](const Context& own, std::int64_t i) {
        const tnr_sparse_view matrix = a.matrix(i);
        const SparseOperand operand(matrix, a);
        const tnr_view of_b = is_shared ? b : index(b, 0, i);
        const tnr_view of_out = index(out, 0, i);
        multiply(own, operand, factors, of_b, of_out);
      });
}

// Ranks and extents of `b` and `out`, of which those of a batch may have one axis more in front.
// b and out have the matrices of the batch along an axis in front; out alone, where all share b.
void check_batch_shapes(const tnr_sparse_view& a, const tnr_view& b, const tnr_view& out,
                        const ProductExtent& b_rows, const ProductExtent& out_rows) {
  const bool is_shared = out.rank == b.rank + 1;
  const std::uint32_t b_front = is_shared ? 0 : 1;
  if (b.rank != b_front + 1 && b.rank != b_front + 2) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "b.rank is %" PRIu32 " but must be 2 or 3, or one less than that of out, as a is a batch",
         b.rank);
  }
  if (!is_shared && out.rank != b.rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "out.rank is %" PRIu32 " but must be %" PRIu32
         ", as b's, or one more where all of the batch share b",
         out.rank, b.rank);
  }
  constexpr char kCount[] = "the number of matrices of a";
  require_extent(out, "out", 0, batch_count(a), kCount);
  if (!is_shared) require_extent(b, "b", 0, batch_count(a), kCount);
  require_extent(b, "b", b_front, b_rows.count, b_rows.whose);
  require_extent(out, "out", 1, out_rows.count, out_rows.whose);
  if (b.rank == b_front + 2)
    require_extent(out, "out", 2, b.shape[b_front + 1], "the columns of b");
}

void check_shapes(const tnr_sparse_view& a, bool is_transposed, const tnr_view& b,
                  const tnr_view& out) {
  const ProductExtent b_rows = is_transposed
                                   ? ProductExtent{a.rows, "the rows of a, which is transposed"}
                                   : ProductExtent{a.cols, "the columns of a"};
  const ProductExtent out_rows =
      is_transposed ? ProductExtent{a.cols, "the columns of a, which is transposed"}
                    : ProductExtent{a.rows, "the rows of a"};
  if (is_batch(a)) return check_batch_shapes(a, b, out, b_rows, out_rows);
  require_product_shapes(b, out, b_rows, out_rows);
}

Factors factors_of(const tnr_scalar& alpha, bool is_transposed, const tnr_scalar& beta,
                   tnr_dtype dtype) {
  const unsigned type = type_index(dtype);
  if (type == kNoType || kernels::table().matmul->block_rows[type][0] == nullptr) {
    refuse_dtype("matmul", dtype);
  }
  const tnr_dtype computed = computed_dtype(dtype);
  Factors factors = {.is_transposed = is_transposed,
                     .type = type,
                     .alpha = to_element(alpha, computed, "alpha"),
                     .beta = to_element(beta, computed, "beta"),
                     .has_beta = false};
  factors.has_beta = !is_zero(factors.beta, computed);
  return factors;
}

void check_apart(const tnr_sparse_view& a, const tnr_view& b, const tnr_view& out) {
  const SparseNames& names = sparse_names(a.format);
  require_alias(out, b, "b", SameView::kRefused);
  require_alias(out, a.values, "a.values", SameView::kRefused);
  require_alias(out, a.major, names.major, SameView::kRefused);
  require_alias(out, a.minor, names.minor, SameView::kRefused);
  if (is_batch(a)) require_alias(out, a.batch_offsets, "batch_offsets", SameView::kRefused);
}

}  // namespace

void sparse_matmul(const Context& context, const tnr_scalar& alpha, const tnr_sparse_view& a,
                   tnr_orientation orientation, const tnr_view& b, const tnr_scalar& beta,
                   const tnr_view_mut& out) {
  if (orientation != TNR_ORIENTATION_AS_IS && orientation != TNR_ORIENTATION_TRANSPOSED) {
    refuse_code("orientation", orientation);
  }
  const bool is_transposed = orientation == TNR_ORIENTATION_TRANSPOSED;
  Pins pins;
  check_view_mut(out, "out");
  check_view(b, "b");
  const auto run = [&](const auto& operand, const auto& multiply_all) {
    check_shapes(a, is_transposed, b, out.view);
    const Factors factors = factors_of(alpha, is_transposed, beta, a.values.dtype);
    require_dtype(b, "b", a.values.dtype, "a.values.dtype is");
    require_dtype(out.view, "out", a.values.dtype, "a.values.dtype is");
    pins.add_mut(out, "out");
    pins.add(b, "b");
    check_apart(a, b, out.view);
    if (is_empty(out.view)) return count_call(TNR_OPERATION_SPARSE_MATMUL, 0, 0);
    multiply_all(context, operand, factors, b, out.view);
    // With a beta of 0 nobody reads the output.
    const std::uint64_t out_bytes = element_bytes(out.view);
    count_call(TNR_OPERATION_SPARSE_MATMUL,
               matrix_bytes(a) + element_bytes(b) + (factors.has_beta ? out_bytes : 0), out_bytes);
  };
  if (is_batch(a)) return run(BatchOperand(a, "a"), multiply_batch);
  run(SparseOperand(a, "a"), multiply);
}

}  // namespace tenure
