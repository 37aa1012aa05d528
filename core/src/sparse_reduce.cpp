// Reductions of sparse matrices: as of the dense matrix, whose zeros take part without being there.
//
// Entries are added up in their order, which no number of threads changes: those of a row by one
// thread, those of a column by the one that walks the matrix, those of all as rows and then the sums
// of fixed runs of rows.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <vector>

#include "parallel.hpp"
#include "sparse_entries.hpp"
#include "sparse_traffic.hpp"
#include "tenure/sparse.hpp"

namespace tenure {
namespace {

// Rows whose sums meet in one: fixed, so that the bits of a sum do not depend on the threads.
constexpr std::int64_t kRowsTogether = 1024;

// What an accumulator of T is: sums of f32 are exact enough in f64, those of integers are 64 bits.
template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;

// Each rule: what entries are before they meet, how they meet, and what they begin with.
template <class T>
struct AddUp {
  using Value = Sum<T>;
  static Value of(T value) noexcept { return static_cast<Value>(value); }
  static Value join(Value a, Value b) noexcept { return wrapping_add(a, b); }
};
template <class T>
struct AddMagnitudes : AddUp<T> {
  static Sum<T> of(T value) noexcept { return std::abs(static_cast<Sum<T>>(value)); }
};
template <class T>
struct AddSquares : AddUp<T> {
  static Sum<T> of(T value) noexcept {
    return static_cast<Sum<T>>(value) * static_cast<Sum<T>>(value);
  }
};
template <class T>
struct CountNonZero : AddUp<T> {
  using Value = std::int64_t;
  static Value of(T value) noexcept { return value != T{0} ? 1 : 0; }
  static Value join(Value a, Value b) noexcept { return a + b; }
};
// NaN wins, the first one.
template <class T>
struct Smallest {
  using Value = T;
  static Value of(T value) noexcept { return value; }
  static Value join(Value a, Value b) noexcept { return a < b || a != a ? a : b; }
};
template <class T>
struct Largest {
  using Value = T;
  static Value of(T value) noexcept { return value; }
  static Value join(Value a, Value b) noexcept { return a > b || a != a ? a : b; }
};

// An accumulator, and how many entries it has met.
template <class Value>
struct Met {
  Value value{};
  std::int64_t count = 0;
};

template <class Rule>
void meet(Met<typename Rule::Value>& into, typename Rule::Value value, std::int64_t count) {
  into.value = into.count == 0 ? value : Rule::join(into.value, value);
  into.count += count;
}

template <class Rule, class T>
class Reduction {
 public:
  using Value = typename Rule::Value;

  Reduction(const Context& context, const SparseOperand& a)
      : context_(context),
        a_(a),
        offsets_(a.view().major),
        columns_(a.view().minor),
        values_(static_cast<const T*>(a.view().values.data)) {}

  // One for each row as `major` sees them, or for each column, or one for all.
  std::vector<Met<Value>> rows() const {
    std::vector<Met<Value>> result(static_cast<std::size_t>(row_count()));
    for_each_row_run(context_, a_, a_.value_bytes(),
                     [&](std::int64_t begin, std::int64_t end) noexcept {
                       for (std::int64_t row = begin; row < end; ++row) {
                         result[static_cast<std::size_t>(row)] = row_of(row);
                       }
                     });
    return result;
  }
  std::vector<Met<Value>> columns() const {
    std::vector<Met<Value>> result(static_cast<std::size_t>(minor_count(a_.view())));
    a_.for_each_run(0, row_count(), [&](std::int64_t begin, std::int64_t end) noexcept {
      const std::int64_t last = offsets_[end];
      for (std::int64_t k = offsets_[begin]; k < last; ++k) {
        meet<Rule>(result[static_cast<std::size_t>(columns_[k])], Rule::of(values_[k]), 1);
      }
    });
    a_.require_valid();
    return result;
  }
  Met<Value> all() const {
    const std::vector<Met<Value>> by_row = rows();
    Met<Value> result;
    for (std::size_t begin = 0; begin < by_row.size(); begin += kRowsTogether) {
      const std::size_t end = std::min<std::size_t>(by_row.size(), begin + kRowsTogether);
      Met<Value> part;
      for (std::size_t row = begin; row < end; ++row) {
        if (by_row[row].count != 0) meet<Rule>(part, by_row[row].value, by_row[row].count);
      }
      if (part.count != 0) meet<Rule>(result, part.value, part.count);
    }
    return result;
  }

 private:
  [[nodiscard]] std::int64_t row_count() const noexcept { return major_count(a_.view()); }
  [[nodiscard]] Met<Value> row_of(std::int64_t row) const noexcept {
    Met<Value> met;
    const std::int64_t end = offsets_[row + 1];
    for (std::int64_t k = offsets_[row]; k < end; ++k) meet<Rule>(met, Rule::of(values_[k]), 1);
    return met;
  }

  const Context& context_;
  const SparseOperand& a_;
  IndexReader offsets_;
  IndexReader columns_;
  const T* values_;
};

// ---- results ----

enum class Over { kAll, kRows, kColumns };  // which elements meet in one: all, those of a row, ...

// With so many zeros that are not there. Those of a sum change nothing.
template <class Rule>
typename Rule::Value finish(const Met<typename Rule::Value>& met, std::int64_t elements) noexcept {
  if (met.count == 0) return {};
  return met.count < elements ? Rule::join(met.value, typename Rule::Value{}) : met.value;
}

template <class Rule, class T, class Out>
void reduce_to(const Context& context, const SparseOperand& a, Over over,
               const tnr_view_mut& out_view) {
  const tnr_sparse_view& view = a.view();
  const Reduction<Rule, T> reduction(context, a);
  Out* const out = reinterpret_cast<Out*>(writable(out_view));
  if (over == Over::kAll) {
    // A product that overflows is more than entries can be, which is all that is asked.
    std::int64_t elements;
    if (__builtin_mul_overflow(view.rows, view.cols, &elements)) elements = INT64_MAX;
    *out = static_cast<Out>(finish<Rule>(reduction.all(), elements));
    return;
  }
  const bool is_csr = view.format == TNR_SPARSE_FORMAT_CSR;
  const auto met = (over == Over::kRows) == is_csr ? reduction.rows() : reduction.columns();
  const std::int64_t elements = over == Over::kRows ? view.cols : view.rows;
  for (std::size_t i = 0; i < met.size(); ++i) {
    out[static_cast<std::int64_t>(i) * out_view.view.strides[0]] =
        static_cast<Out>(finish<Rule>(met[i], elements));
  }
}

// What entries of one position are together, each of them does not say.
void require_unique(const tnr_sparse_view& a) {
  if ((a.flags & TNR_SPARSE_UNIQUE) != 0) return;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "a.flags is 0x%" PRIx32
       " but must have UNIQUE, because entries of one position count together: coalesce it",
       a.flags & ~kSparseChecked);
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
void reduce_values(const Context& context, tnr_reduce_op op, const SparseOperand& a, Over over,
                   const tnr_view_mut& out) {
  using Out = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
  switch (op) {
    case TNR_REDUCE_OP_SUM: return reduce_to<AddUp<T>, T, Out>(context, a, over, out);
    case TNR_REDUCE_OP_MIN: return reduce_to<Smallest<T>, T, T>(context, a, over, out);
    case TNR_REDUCE_OP_MAX: return reduce_to<Largest<T>, T, T>(context, a, over, out);
    default: return reduce_to<CountNonZero<T>, T, std::int64_t>(context, a, over, out);
  }
}

tnr_dtype result_dtype(tnr_reduce_op op, tnr_dtype dtype) {
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

template <class Value>
double largest(const std::vector<Met<Value>>& sums) {
  double result = 0;
  for (const Met<Value>& sum : sums) {
    result = sum.value > result || sum.value != sum.value ? sum.value : result;
    if (result != result) break;
  }
  return result;
}

template <class T>
double norm_of(const Context& context, tnr_sparse_norm_kind kind, const SparseOperand& a) {
  if (kind == TNR_SPARSE_NORM_KIND_FROBENIUS) {
    return std::sqrt(Reduction<AddSquares<T>, T>(context, a).all().value);
  }
  const Reduction<AddMagnitudes<T>, T> magnitudes(context, a);
  const bool of_rows =
      (kind == TNR_SPARSE_NORM_KIND_INFINITY) == (a.view().format == TNR_SPARSE_FORMAT_CSR);
  return largest(of_rows ? magnitudes.rows() : magnitudes.columns());
}

template <class T>
void write_diagonal(const SparseOperand& a, const tnr_view_mut& out_view) {
  const IndexReader offsets(a.view().major);
  const IndexReader columns(a.view().minor);
  const T* const values = static_cast<const T*>(a.view().values.data);
  T* const out = reinterpret_cast<T*>(writable(out_view));
  const std::int64_t step = out_view.view.strides[0];
  a.for_each_run(0, out_view.view.shape[0], [&](std::int64_t begin, std::int64_t end) noexcept {
    for (std::int64_t row = begin; row < end; ++row) {
      T sum{};
      for (std::int64_t k = offsets[row]; k < offsets[row + 1]; ++k) {
        if (columns[k] == row) sum = wrapping_add(sum, values[k]);
      }
      out[row * step] = sum;
    }
  });
}

}  // namespace

void sparse_reduce(const Context& context, tnr_reduce_op op, const tnr_sparse_view& a,
                   std::uint32_t axes, const tnr_view_mut& out) {
  const SparseOperand operand(a, "a");
  const DenseResult result(out, a);
  const Over over = over_of(axes);
  require_compressed(a, "a");
  check_result(a, over, out.view);
  require_dtype(out.view, "out", result_dtype(op, a.values.dtype), "must be");
  if (op == TNR_REDUCE_OP_MIN || op == TNR_REDUCE_OP_MAX) {
    require_elements(a, over, op == TNR_REDUCE_OP_MIN ? "min" : "max");
  }
  if (op != TNR_REDUCE_OP_SUM) require_unique(a);
  with_number("reduce", a.values.dtype,
              [&]<class T>(T) { reduce_values<T>(context, op, operand, over, out); });
  count_call(TNR_OPERATION_SPARSE_REDUCE, matrix_bytes(a), element_bytes(out.view));
}

double sparse_norm(const Context& context, tnr_sparse_norm_kind kind, const tnr_sparse_view& a) {
  const SparseOperand operand(a, "a");
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
  with_number("diagonal", a.values.dtype, [&]<class T>(T) { write_diagonal<T>(operand, out); });
  operand.require_valid();
  count_call(TNR_OPERATION_SPARSE_REDUCE, matrix_bytes(a), element_bytes(out.view));
}

}  // namespace tenure
