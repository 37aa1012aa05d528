// The product of two sparse matrices, only at the entries of a third.
//
// Each product finds by its column where it is added: a map of all columns says so, which a row of
// the mask changes where it has entries, and which gives all other products a slot too, as adding
// is cheaper than asking whether to. Where there are too many columns for that, those of a row of
// the mask go to a table of twice their number, in which most products have no slot.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "sparse/builder.hpp"
#include "sparse/entries.hpp"
#include "sparse/operand.hpp"
#include "sparse/row_chunks.hpp"
#include "sparse/traffic.hpp"
#include "tenure/sparse.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Compressed;
using kernels::SparseRows;

// Rows, and entries of `a` and of the mask, in a chunk.
constexpr std::int64_t kMaskedChunkWeight = 512;

template <class I>
struct CompressedRows {
  const I* offsets;
  const I* columns;

  explicit CompressedRows(const Compressed& matrix) noexcept
      : offsets(reinterpret_cast<const I*>(matrix.offsets)),
        columns(reinterpret_cast<const I*>(matrix.indices)) {}
  [[nodiscard]] std::int64_t count(std::int64_t row) const noexcept {
    return offsets[row + 1] - offsets[row];
  }
};

// The sums of a row of the result, by column, with a map of all columns.
template <class I, class T>
class MappedSums {
 public:
  static std::int64_t bytes(std::int64_t cols, std::int64_t most) noexcept {
    return sum_count(most) * static_cast<std::int64_t>(sizeof(T)) +
           cols * static_cast<std::int64_t>(sizeof(Slot));
  }
  // For rows of `most` columns and fewer.
  MappedSums(Byte* memory, std::int64_t cols, std::int64_t most) noexcept
      : sums_(reinterpret_cast<T*>(memory)),
        slots_(reinterpret_cast<Slot*>(sums_ + sum_count(most))) {
    std::fill_n(sums_, kOthers, T{0});
    for (std::int64_t column = 0; column < cols; ++column) slots_[column] = other(column);
  }

  void begin(const I* columns, std::int64_t count) noexcept {
    for (std::int64_t i = 0; i < count; ++i) {
      slots_[columns[i]] = static_cast<Slot>(kOthers + i);
      sums_[kOthers + i] = -T{0};  // to which adding 0 gives 0, and nothing -0
    }
  }
  void add(I column, T product) noexcept { sums_[slots_[column]] += product + T{0}; }
  [[nodiscard]] const T* sum(I column) const noexcept {
    const T& sum = sums_[slots_[column]];
    return sum == T{0} && std::signbit(sum) ? nullptr : &sum;
  }
  void end(const I* columns, std::int64_t count) noexcept {
    for (std::int64_t i = 0; i < count; ++i) slots_[columns[i]] = other(columns[i]);
  }

 private:
  using Slot = std::make_unsigned_t<I>;

  // Sums of columns that are not wanted: several, so that none waits for the one before.
  static constexpr std::int64_t kOthers = 16;
  // An even number, so that slots behind them, which may be twice as wide, are aligned.
  static std::int64_t sum_count(std::int64_t most) noexcept { return (kOthers + most + 1) / 2 * 2; }
  static Slot other(std::int64_t column) noexcept { return static_cast<Slot>(column % kOthers); }

  T* sums_;
  Slot* slots_;
};

// MappedSums with a table of the columns of one row, addressed as hashed_sums.hpp has it.
template <class I, class T>
class HashedSums {
 public:
  static std::int64_t bytes(std::int64_t, std::int64_t most) noexcept {
    return static_cast<std::int64_t>(sizeof(T) + sizeof(I) + 1) << bits_for(most);
  }
  HashedSums(Byte* memory, std::int64_t, std::int64_t most) noexcept
      : sums_(reinterpret_cast<T*>(memory)),
        columns_(reinterpret_cast<I*>(sums_ + (std::int64_t{1} << bits_for(most)))),
        met_(reinterpret_cast<Byte*>(columns_ + (std::int64_t{1} << bits_for(most)))) {}

  void begin(const I* columns, std::int64_t count) noexcept {
    const unsigned bits = bits_for(count);
    shift_ = 64 - bits;
    mask_ = (std::int64_t{1} << bits) - 1;
    std::fill_n(columns_, mask_ + 1, I{-1});
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t slot = find(columns[i]);
      columns_[slot] = columns[i];
      sums_[slot] = T{0};
      met_[slot] = 0;
    }
  }
  void add(I column, T product) noexcept {
    const std::int64_t slot = find(column);
    if (columns_[slot] != column) return;
    sums_[slot] += product;
    met_[slot] = 1;
  }
  // The sum of a column that the mask has; nullptr where nothing was added.
  [[nodiscard]] const T* sum(I column) const noexcept {
    const std::int64_t slot = find(column);
    return met_[slot] != 0 ? sums_ + slot : nullptr;
  }
  void end(const I*, std::int64_t) noexcept {}

 private:
  static unsigned bits_for(std::int64_t count) noexcept {
    unsigned bits = 2;
    while (std::int64_t{1} << bits < 2 * count) ++bits;
    return bits;
  }
  // The slot of a column, or a free one.
  [[nodiscard]] std::int64_t find(I column) const noexcept {
    auto slot = static_cast<std::int64_t>(
        (static_cast<std::uint64_t>(column) * 0x9e3779b97f4a7c15u) >> shift_);
    while (columns_[slot] != column && columns_[slot] != -1) slot = (slot + 1) & mask_;
    return slot;
  }

  T* sums_;
  I* columns_;  // -1: free
  Byte* met_;   // whether something was added
  unsigned shift_ = 0;
  std::int64_t mask_ = 0;
};

// Work of build_rows().
template <class I, class T, class Sums>
class MaskedMultiplication {
 public:
  using Scratch = Sums;

  MaskedMultiplication(const Compressed& a, const Compressed& b, const Compressed& mask) noexcept
      : a_(a),
        b_(b),
        mask_(mask),
        a_values_(reinterpret_cast<const T*>(a.values)),
        b_values_(reinterpret_cast<const T*>(b.values)),
        chunks_(a.rows, kMaskedChunkWeight, {a_, mask_}),
        mask_cols_(mask.cols) {
    for (std::int64_t row = 0; row < a.rows; ++row) most_ = std::max(most_, mask_.count(row));
  }

  [[nodiscard]] const auto& chunks() const noexcept { return chunks_; }
  [[nodiscard]] RowBound bound(std::int64_t begin, std::int64_t end,
                               std::int64_t limit) const noexcept {
    const std::int64_t fitting = first_where(begin, end, [&](std::int64_t row) {
      return mask_.offsets[row + 1] - mask_.offsets[begin] > limit;
    });
    return {mask_.offsets[fitting] - mask_.offsets[begin], fitting};
  }

  [[nodiscard]] std::int64_t scratch_bytes() const noexcept {
    return Sums::bytes(mask_cols_, most_);
  }
  [[nodiscard]] Sums scratch(Byte* memory) const noexcept { return {memory, mask_cols_, most_}; }

  std::int64_t count(Sums& sums, std::int64_t begin, std::int64_t end) const noexcept {
    std::int64_t count = 0;
    for (std::int64_t row = begin; row < end; ++row) {
      for_each_entry(sums, row, [&](I, T) { ++count; });
    }
    return count;
  }
  std::int64_t fill(Sums& sums, std::int64_t begin, std::int64_t end,
                    const SparseRows& out) const noexcept {
    I* const offsets = reinterpret_cast<I*>(out.offsets);
    I* const columns = reinterpret_cast<I*>(out.indices);
    T* const values = reinterpret_cast<T*>(out.values);
    std::int64_t position = out.position;
    for (std::int64_t row = begin; row < end; ++row) {
      for_each_entry(sums, row, [&](I column, T sum) {
        columns[position] = column;
        values[position] = sum;
        ++position;
      });
      offsets[row + 1] = static_cast<I>(position);
    }
    return position - out.position;
  }

 private:
  // Rows and entries before a row.
  struct Weight {
    CompressedRows<I> a;
    CompressedRows<I> mask;
    std::int64_t operator()(std::int64_t row) const noexcept {
      return row + (std::int64_t{a.offsets[row]} - a.offsets[0]) +
             (std::int64_t{mask.offsets[row]} - mask.offsets[0]);
    }
  };

  // Calls body(column, sum) for the entries of a row of the result, in the order of the mask.
  template <class Body>
  void for_each_entry(Sums& sums, std::int64_t row, const Body& body) const noexcept {
    if (mask_.count(row) == 0 || a_.count(row) == 0) return;
    sums.begin(mask_.columns + mask_.offsets[row], mask_.count(row));
    for (std::int64_t k = a_.offsets[row]; k < a_.offsets[row + 1]; ++k) {
      const I inner = a_.columns[k];
      const T factor = a_values_[k];
      const std::int64_t end = b_.offsets[inner + 1];
      for (std::int64_t i = b_.offsets[inner]; i < end; ++i) {
        sums.add(b_.columns[i], factor * b_values_[i]);
      }
    }
    for (std::int64_t k = mask_.offsets[row]; k < mask_.offsets[row + 1]; ++k) {
      if (const T* const sum = sums.sum(mask_.columns[k])) body(mask_.columns[k], *sum);
    }
    sums.end(mask_.columns + mask_.offsets[row], mask_.count(row));
  }

  CompressedRows<I> a_;
  CompressedRows<I> b_;
  CompressedRows<I> mask_;
  const T* a_values_;
  const T* b_values_;
  WeightedChunks<Weight> chunks_;
  std::int64_t mask_cols_;
  std::int64_t most_ = 0;  // entries of a row of the mask
};

// Whether a map of all columns is small, and filled in less time than the entries take.
bool has_map(const Compressed& mask, std::int64_t entries) noexcept {
  constexpr std::int64_t kColumnsOfEntry = 8;
  constexpr std::int64_t kFewColumns = std::int64_t{1} << 16;
  return mask.cols <= kernels::kColumnSumsBytes / index_width(mask.index_type) &&
         (mask.cols <= kFewColumns || mask.cols / kColumnsOfEntry <= entries);
}

// ---- arguments ----

void check_three(const tnr_sparse_view& a, const tnr_sparse_view& b, const tnr_sparse_view& mask) {
  require_compressed(a, "a");
  if (b.format != a.format || mask.format != a.format) {
    fail(TNR_STATUS_UNSUPPORTED,
         "a.format is %" PRId32 ", b.format %" PRId32 " and mask.format %" PRId32
         " but products are of CSR alone or of CSC alone: convert them",
         a.format, b.format, mask.format);
  }
  if (a.cols != b.rows) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "a.cols is %" PRId64 " but b.rows is %" PRId64, a.cols,
         b.rows);
  }
  if (mask.rows != a.rows) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "mask.rows is %" PRId64 " but a.rows is %" PRId64, mask.rows,
         a.rows);
  }
  if (mask.cols != b.cols) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "mask.cols is %" PRId64 " but b.cols is %" PRId64, mask.cols,
         b.cols);
  }
  require_dtype(b.values, "b.values", a.values.dtype, "a.values.dtype is");
  require_dtype(b.minor, "b's indices", a.minor.dtype, "of those of a it is");
  require_dtype(mask.minor, "mask's indices", a.minor.dtype, "of those of a it is");
}

}  // namespace

SparseToken sparse_product_masked(const Context& context, const tnr_sparse_view& a,
                                  const tnr_sparse_view& b, const tnr_sparse_view& mask) {
  SparseOperand a_operand(a, "a");
  SparseOperand b_operand(b, "b");
  SparseOperand mask_operand(mask, "mask");
  check_three(a, b, mask);
  SparseToken result = 0;
  with_float("product", a.values.dtype, [&]<class T>(T) {
    a_operand.check_all();
    b_operand.check_all();
    mask_operand.check_all();
    SparseBuilder builder(context, {.format = a.format,
                                    .rows = a.rows,
                                    .cols = b.cols,
                                    .index_dtype = a.minor.dtype,
                                    .value_dtype = a.values.dtype});
    std::memset(builder.major(), 0, element_size(a.minor.dtype));
    // (A B)^T is B^T A^T, and CSC is the CSR of the transpose.
    const bool is_csc = a.format == TNR_SPARSE_FORMAT_CSC;
    const Compressed left = (is_csc ? b_operand : a_operand).compressed();
    const Compressed right = (is_csc ? a_operand : b_operand).compressed();
    const Compressed wanted = mask_operand.compressed();
    const auto multiply_by = [&]<class I, class Sums>(I, Sums*) {
      const MaskedMultiplication<I, T, Sums> work(left, right, wanted);
      build_rows(context, AnyRowWork(work), builder);
    };
    const auto multiply = [&]<class I>(I) {
      if (has_map(wanted, mask_operand.entry_count())) {
        multiply_by(I{}, static_cast<MappedSums<I, T>*>(nullptr));
      } else {
        multiply_by(I{}, static_cast<HashedSums<I, T>*>(nullptr));
      }
    };
    if (a.minor.dtype == TNR_DTYPE_I32) {
      multiply(std::int32_t{});
    } else {
      multiply(std::int64_t{});
    }
    result = builder.finish(EntryOrder::of(mask));
  });
  return count_made(TNR_OPERATION_SPARSE_PRODUCT,
                    matrix_bytes(a) + matrix_bytes(b) + matrix_bytes(mask) - value_bytes(mask),
                    result);
}

}  // namespace tenure
