// Reductions of sparse matrices: as of the dense matrix, whose zeros take part without being there.
//
// No number of threads changes the order in which entries are added up: those of a row are by one
// thread, those of a column by the one that walks the matrix, those of all as dense elements.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <vector>

#include "cpu/dispatch.hpp"
#include "dense/reduce/walk.hpp"
#include "sparse/convert/order.hpp"
#include "sparse/entries.hpp"
#include "sparse/traffic.hpp"
#include "sparse/values/value_runs.hpp"
#include "tenure/shape.hpp"
#include "tenure/sparse.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

// More rules, as value_runs.hpp has them. AddMagnitudes is only for rows and columns.
template <class T>
struct AddMagnitudes : AddUp<T> {
  static Sum<T> of(T value) noexcept { return std::abs(static_cast<Sum<T>>(value)); }
};
template <class T>
struct CountNonZero : AddUp<T> {
  static constexpr tnr_reduce_op kMany = TNR_REDUCE_OP_COUNT;
  using Value = std::int64_t;
  static Value of(T value) noexcept { return value != T{0} ? 1 : 0; }
  static Value join(Value a, Value b) noexcept { return a + b; }
};

// Joins adjacent values by the kernels of a dense reduction, up to its accumulator.
class DenseFold {
 public:
  DenseFold(tnr_reduce_op op, tnr_dtype dtype)
      : reduction_(kernels::reduce_kernels()[op - 1].by_type[type_index(dtype)]), dtype_(dtype) {
    reduction_.finish = kernels::Finish::kAsIs;
    if (reduction_.extremes == kernels::Extremes::kMean) {
      reduction_.extremes = kernels::Extremes::kSum;
    }
    switch (op) {
      case TNR_REDUCE_OP_MIN:
      case TNR_REDUCE_OP_MAX: result_dtype_ = dtype; break;
      case TNR_REDUCE_OP_MEAN: result_dtype_ = TNR_DTYPE_F64; break;
      default: result_dtype_ = TNR_DTYPE_I64; break;
    }
  }

  // The root of the sum of squares of f64 or f32.
  static DenseFold of_norm(tnr_dtype dtype) {
    DenseFold fold(TNR_REDUCE_OP_MEAN, dtype);
    const auto& norms = kernels::norm_kernels()[static_cast<unsigned>(kernels::Norm::kTwo)];
    fold.reduction_ = norms.by_type[type_index(dtype)];
    return fold;
  }

  template <class Value, class T>
  Value run(const Context& context, const T* values, std::int64_t count) const noexcept {
    Value result{};
    const tnr_view run = make_view(values, static_cast<std::size_t>(count) * sizeof(T), 0, dtype_,
                                   1, &count, nullptr);
    walk_reduction(context, reduction_, run, 1, 0,
                   {make_view(&result, sizeof result, 0, result_dtype_, 0, nullptr, nullptr)});
    return result;
  }

 private:
  kernels::Reduction reduction_;
  tnr_dtype dtype_;
  tnr_dtype result_dtype_;
};

struct ColumnEntry {
  std::int64_t column;
  std::int64_t entry;
};

// All entries by their columns, which have been checked; those of one column in their order. One
// function for all rules and types, as sorting takes more code than any of these.
std::vector<ColumnEntry> entries_by_column(const SparseOperand& a) {
  const auto [first, last] = a.entries();
  const IndexReader columns(a.view().minor);
  std::vector<ColumnEntry> entries(static_cast<std::size_t>(last - first));
  for (std::int64_t k = first; k < last; ++k) {
    entries[static_cast<std::size_t>(k - first)] = {columns[k], k};
  }
  std::sort(entries.begin(), entries.end(), [](const ColumnEntry& x, const ColumnEntry& y) {
    return x.column != y.column ? x.column < y.column : x.entry < y.entry;
  });
  return entries;
}

template <class Rule, class T>
class Reduction {
 public:
  using Value = typename Rule::Value;

  Reduction(const Context& context, SparseOperand& a)
      : context_(context), a_(a), values_(static_cast<const T*>(a.view().values.data)) {}

  // Calls body(row, value) for each row as `major` sees them, on any thread.
  template <class Body>
  void rows(const Body& body) const {
    const IndexReader offsets(a_.view().major);
    const std::int64_t elements = minor_count(a_.view());
    for_each_row_run(
        context_, a_, a_.value_bytes(), [&](std::int64_t begin, std::int64_t end) noexcept {
          std::int64_t first = offsets[begin];
          for (std::int64_t row = begin; row < end; ++row) {
            const std::int64_t last = offsets[row + 1];
            body(row, first == last
                          ? Value{}
                          : finish(fold(values_ + first, last - first), last - first, elements));
            first = last;
          }
        });
  }
  // Whether entries are so few against the columns that filled_columns() is the way. Where the
  // result has all columns in any case, an array of them costs no memory that counts, and less time
  // than to sort an eighth as many entries.
  [[nodiscard]] bool has_few(bool has_all_columns) const {
    const std::int64_t entries = a_.view().minor.shape[0];
    const std::int64_t columns = minor_count(a_.view());
    return are_few(entries, has_all_columns ? columns / 8 : columns);
  }
  // Calls body(column, value) for each column that has entries, in order, without an array of all
  // columns.
  template <class Body>
  void filled_columns(const Body& body) const {
    a_.check_all();
    const std::vector<ColumnEntry> entries = entries_by_column(a_);
    for (auto at = entries.begin(); at != entries.end();) {
      const auto begin = at;
      Value met = Rule::of(values_[at->entry]);
      if constexpr (Rule::kZerosAreNothing) met = Rule::join(Value{}, met);
      for (++at; at != entries.end() && at->column == begin->column; ++at) {
        met = Rule::join(met, Rule::of(values_[at->entry]));
      }
      body(begin->column, finish(met, at - begin, row_count()));
    }
  }
  // Calls body(column, value) for each column, in order.
  template <class Body>
  void columns(const Body& body) const {
    const auto count = static_cast<std::size_t>(minor_count(a_.view()));
    std::vector<Value> met(count);
    std::vector<std::int64_t> counts(Rule::kZerosAreNothing ? 0 : count);
    if (a_.view().minor.dtype == TNR_DTYPE_I32) {
      meet_columns<std::int32_t>(met.data(), counts.data());
    } else {
      meet_columns<std::int64_t>(met.data(), counts.data());
    }
    a_.require_valid();
    for (std::size_t column = 0; column < count; ++column) {
      const bool is_met = Rule::kZerosAreNothing || counts[column] != 0;
      body(static_cast<std::int64_t>(column),
           is_met ? finish(met[column], Rule::kZerosAreNothing ? 0 : counts[column], row_count())
                  : Value{});
    }
  }
  Value all() const {
    a_.check_all();
    const auto [first, last] = a_.entries();
    if (first == last) return {};
    const std::int64_t count = last - first;
    const DenseFold join(Rule::kMany, a_.view().values.dtype);
    const Value met = join.template run<Value>(context_, values_ + first, count);
    // finish() only compares it with the number of entries, which is less than a product that
    // overflows.
    std::int64_t elements;
    if (__builtin_mul_overflow(a_.view().rows, a_.view().cols, &elements)) elements = INT64_MAX;
    return finish(met, count, elements);
  }

 private:
  static Value fold(const T* values, std::int64_t count) noexcept {
    if constexpr (Rule::kZerosAreNothing) {
      const Value sum = fold_run<Rule>(values, count);
      if constexpr (std::is_same_v<T, double> && std::is_same_v<Value, double>) {
        if (!std::isfinite(sum)) [[unlikely]]
          return fold_in_large_unit(values, count);
      }
      return sum;
    } else {
      return fold_extremes<Rule>(values, count);
    }
  }
  // A sum that may have left the range on the way.
  static double fold_in_large_unit(const double* values, std::int64_t count) noexcept {
    constexpr double kUnit = 0x1p64;
    double sum = 0;
    for (std::int64_t k = 0; k < count; ++k) sum += Rule::of(values[k] / kUnit);
    return sum * kUnit;
  }
  [[nodiscard]] std::int64_t row_count() const noexcept { return major_count(a_.view()); }

  // Joins the result over entries with the implicit zeros.
  static Value finish(Value met, std::int64_t entries, std::int64_t elements) noexcept {
    if constexpr (Rule::kZerosAreNothing) return met;
    return entries < elements ? Rule::join(met, Value{}) : met;
  }

  template <class I>
  void meet_columns(Value* met, std::int64_t* counts) const noexcept {
    const I* const offsets = static_cast<const I*>(a_.view().major.data);
    const I* const columns = static_cast<const I*>(a_.view().minor.data);
    a_.for_each_run(0, row_count(), [&](std::int64_t begin, std::int64_t end) noexcept {
      const std::int64_t last = offsets[end];
      for (std::int64_t k = offsets[begin]; k < last; ++k) {
        Value& into = met[columns[k]];
        const Value value = Rule::of(values_[k]);
        if constexpr (Rule::kZerosAreNothing) {
          into = Rule::join(into, value);
        } else {
          into = counts[columns[k]]++ == 0 ? value : Rule::join(into, value);
        }
      }
    });
  }

  const Context& context_;
  SparseOperand& a_;
  const T* values_;
};

// ---- results ----

enum class Over { kAll, kRows, kColumns };  // which elements meet in one: all, those of a row, ...

template <class Out>
void clear(Out* out, std::int64_t count, std::int64_t step) noexcept {
  if (step == 1) {
    std::fill_n(out, count, Out{});
  } else {
    for (std::int64_t i = 0; i < count; ++i) out[i * step] = Out{};
  }
}

template <class Rule, class T, class Out>
void reduce_to(const Context& context, SparseOperand& a, Over over, const tnr_view_mut& out_view) {
  const Reduction<Rule, T> reduction(context, a);
  Out* const out = reinterpret_cast<Out*>(writable(out_view));
  if (over == Over::kAll) {
    *out = static_cast<Out>(reduction.all());
    return;
  }
  const std::int64_t step = stride_of(out_view.view, 0);
  const auto write = [=](std::int64_t i, typename Rule::Value value) {
    out[i * step] = static_cast<Out>(value);
  };
  const bool is_csr = a.view().format == TNR_SPARSE_FORMAT_CSR;
  if ((over == Over::kRows) == is_csr) {
    reduction.rows(write);
  } else if (reduction.has_few(true)) {
    clear(out, out_view.view.shape[0], step);
    reduction.filled_columns(write);
  } else {
    reduction.columns(write);
  }
}

// Refuses duplicates: entries of one position have a value together that no single entry holds.
void require_unique(const tnr_sparse_view& a) {
  if ((a.flags & TNR_SPARSE_UNIQUE) != 0) return;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "a.flags is 0x%" PRIx32
       " but must have UNIQUE, because entries of one position count together: coalesce it",
       a.flags);
}

Over over_of(std::uint32_t axes) {
  switch (axes) {
    case 1: return Over::kColumns;
    case 2: return Over::kRows;
    case 3: return Over::kAll;
    default:
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "axes is 0x%" PRIx32 " but must be 1 (over rows), 2 (over columns) or 3 (both)", axes);
  }
}

void check_result(const tnr_sparse_view& a, Over over, const tnr_view& out) {
  if (over != Over::kAll) {
    return require_length(out, "out", over == Over::kRows ? a.rows : a.cols,
                          over == Over::kRows ? "a.rows" : "a.cols");
  }
  if (out.rank != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "out.rank is %" PRIu32 " but must be 0, of all elements one",
         out.rank);
  }
}

void require_elements(const tnr_sparse_view& a, Over over, const char* name) {
  const bool has_none =
      (over != Over::kRows && a.rows == 0) || (over != Over::kColumns && a.cols == 0);
  const bool has_result = over == Over::kAll || (over == Over::kRows ? a.rows : a.cols) != 0;
  if (!has_none || !has_result) return;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "a has %" PRId64 " rows and %" PRId64 " cols, so that %s has no elements but needs one",
       a.rows, a.cols, name);
}

template <class T>
void reduce_values(const Context& context, tnr_reduce_op op, SparseOperand& a, Over over,
                   const tnr_view_mut& out) {
  using Out = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
  switch (op) {
    case TNR_REDUCE_OP_SUM: return reduce_to<AddUp<T>, T, Out>(context, a, over, out);
    case TNR_REDUCE_OP_MIN: return reduce_to<Smallest<T>, T, T>(context, a, over, out);
    case TNR_REDUCE_OP_MAX: return reduce_to<Largest<T>, T, T>(context, a, over, out);
    default: return reduce_to<CountNonZero<T>, T, std::int64_t>(context, a, over, out);
  }
}

tnr_dtype reduced_dtype(tnr_reduce_op op, tnr_dtype dtype) {
  switch (op) {
    case TNR_REDUCE_OP_MIN:
    case TNR_REDUCE_OP_MAX: return dtype;
    case TNR_REDUCE_OP_COUNT: return TNR_DTYPE_I64;
    case TNR_REDUCE_OP_SUM: return dtype == TNR_DTYPE_I32 ? TNR_DTYPE_I64 : dtype;
    default:
      fail(TNR_STATUS_UNSUPPORTED,
           "op is %" PRId32 " but sparse matrices have sum (1), min (6), max (7) and count (12)",
           op);
  }
}

// NaN is the largest.
double larger(double a, double b) noexcept { return b > a || b != b ? b : a; }

template <class T>
double norm_of(const Context& context, tnr_sparse_norm_kind kind, SparseOperand& a) {
  if (kind == TNR_SPARSE_NORM_KIND_FROBENIUS) {
    a.check_all();
    const auto [first, last] = a.entries();
    if (first == last) return 0;
    const auto norm = DenseFold::of_norm(a.view().values.dtype);
    const T* const values = static_cast<const T*>(a.view().values.data);
    return norm.run<double>(context, values + first, last - first);
  }
  const Reduction<AddMagnitudes<T>, T> magnitudes(context, a);
  double result = 0;
  const bool of_rows =
      (kind == TNR_SPARSE_NORM_KIND_INFINITY) == (a.view().format == TNR_SPARSE_FORMAT_CSR);
  if (!of_rows) {
    const auto meet = [&](std::int64_t, double sum) { result = larger(result, sum); };
    if (magnitudes.has_few(false)) {
      magnitudes.filled_columns(meet);
    } else {
      magnitudes.columns(meet);
    }
    return result;
  }
  std::vector<double> sums(static_cast<std::size_t>(major_count(a.view())));
  magnitudes.rows([&](std::int64_t row, double sum) { sums[static_cast<std::size_t>(row)] = sum; });
  for (const double sum : sums) result = larger(result, sum);
  return result;
}

// The entries of a row with this column; of a row that is not sorted, all.
template <class I>
EntryRange range_of_column(const I* columns, std::int64_t begin, std::int64_t end,
                           std::int64_t column, bool is_sorted) noexcept {
  constexpr std::int64_t kWalked = 16;
  if (!is_sorted) return {begin, end};
  std::int64_t first = begin;
  if (end - begin > kWalked) {
    first = first_where(begin, end, [=](std::int64_t k) { return columns[k] >= column; });
  } else {
    while (first < end && columns[first] < column) ++first;
  }
  std::int64_t last = first;
  while (last < end && columns[last] == column) ++last;
  return {first, last};
}

template <class T, class I>
void write_diagonal(const SparseOperand& a, const tnr_view_mut& out_view) {
  const I* const offsets = static_cast<const I*>(a.view().major.data);
  const I* const columns = static_cast<const I*>(a.view().minor.data);
  const T* const values = static_cast<const T*>(a.view().values.data);
  const bool is_sorted = (a.view().flags & TNR_SPARSE_SORTED) != 0;
  T* const out = reinterpret_cast<T*>(writable(out_view));
  const std::int64_t step = stride_of(out_view.view, 0);
  const std::int64_t length = out_view.view.shape[0];
  // Rows beyond the diagonal are walked only because the walk checks their indices.
  a.for_each_run(0, major_count(a.view()), [&](std::int64_t begin, std::int64_t run_end) noexcept {
    const std::int64_t end = std::min(run_end, length);
    for (std::int64_t row = begin; row < end; ++row) {
      const auto [first, last] =
          range_of_column<I>(columns, offsets[row], offsets[row + 1], row, is_sorted);
      T sum{};
      for (std::int64_t k = first; k < last; ++k) {
        if (columns[k] == row) sum = wrapping_add(sum, values[k]);
      }
      out[row * step] = sum;
    }
  });
}

}  // namespace

void sparse_reduce(const Context& context, tnr_reduce_op op, const tnr_sparse_view& a,
                   std::uint32_t axes, const tnr_view_mut& out) {
  SparseOperand operand(a, "a");
  const DenseResult result(out, a);
  const Over over = over_of(axes);
  require_compressed(a, "a");
  check_result(a, over, out.view);
  require_dtype(out.view, "out", reduced_dtype(op, a.values.dtype), "must be");
  if (op == TNR_REDUCE_OP_MIN || op == TNR_REDUCE_OP_MAX) {
    require_elements(a, over, op == TNR_REDUCE_OP_MIN ? "min" : "max");
  }
  if (op != TNR_REDUCE_OP_SUM) require_unique(a);
  with_number("reduce", a.values.dtype,
              [&]<class T>(T) { reduce_values<T>(context, op, operand, over, out); });
  count_call(TNR_OPERATION_SPARSE_REDUCE, matrix_bytes(a), element_bytes(out.view));
}

double sparse_norm(const Context& context, tnr_sparse_norm_kind kind, const tnr_sparse_view& a) {
  SparseOperand operand(a, "a");
  require_compressed(a, "a");
  if (kind < TNR_SPARSE_NORM_KIND_ONE || kind > TNR_SPARSE_NORM_KIND_FROBENIUS)
    refuse_code("norm", kind);
  require_unique(a);
  double norm = 0;
  with_float("norm", a.values.dtype,
             [&]<class T>(T) { norm = norm_of<T>(context, kind, operand); });
  count_call(TNR_OPERATION_SPARSE_REDUCE, matrix_bytes(a), sizeof norm);
  return norm;
}

void sparse_diagonal(const tnr_sparse_view& a, const tnr_view_mut& out) {
  const SparseOperand operand(a, "a");
  const DenseResult result(out, a);
  require_compressed(a, "a");
  require_length(out.view, "out", std::min(a.rows, a.cols), "the diagonal");
  require_dtype(out.view, "out", a.values.dtype, "a.values.dtype is");
  with_number("diagonal", a.values.dtype, [&]<class T>(T) {
    if (a.minor.dtype == TNR_DTYPE_I32) {
      write_diagonal<T, std::int32_t>(operand, out);
    } else {
      write_diagonal<T, std::int64_t>(operand, out);
    }
  });
  operand.require_valid();
  count_call(TNR_OPERATION_SPARSE_REDUCE, matrix_bytes(a), element_bytes(out.view));
}

}  // namespace tenure
