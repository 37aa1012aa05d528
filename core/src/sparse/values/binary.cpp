// Arithmetic of two sparse matrices, element by element.
//
// Rows are merged without a branch for each entry: an entry that one side lacks is read as 0. The
// values of one side go to the result and those of the other to a buffer, and the kernels of dense
// arithmetic join them.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "cpu/operations.hpp"
#include "dense/loops/strip_runner.hpp"
#include "sparse/builder.hpp"
#include "sparse/empty_rows.hpp"
#include "sparse/kernel_view.hpp"
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

// Rows and entries of both matrices in a chunk, in a cache together with the result.
constexpr std::int64_t kChunkWeight = 8192;
// Values of one side that wait for the other.
constexpr std::int64_t kWaiting = 1024;

constexpr std::uint32_t kCoalesced = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;

enum class Keeps : bool { kEither, kBoth };  // whose positions the result has

// Work of build_rows(). V is an unsigned type as wide as the values.
template <class I, class V>
class Merge {
 public:
  // The values that wait.
  using Scratch = V*;

  Merge(const Compressed& a, const Compressed& b, Keeps keeps, Operation operation)
      : a_(a),
        b_(b),
        keeps_(keeps),
        operation_(operation),
        chunks_(a.rows, kChunkWeight, {a_, b_}) {}

  [[nodiscard]] const auto& chunks() const noexcept { return chunks_; }
  [[nodiscard]] RowBound bound(std::int64_t begin, std::int64_t end,
                               std::int64_t limit) const noexcept {
    const std::int64_t all = std::int64_t{a_.offsets[end]} - a_.offsets[begin] +
                             (std::int64_t{b_.offsets[end]} - b_.offsets[begin]);
    if (keeps_ == Keeps::kEither && all <= limit) return {all, end};
    std::int64_t entries = 0;
    FilledRows filled(a_.offsets, b_.offsets, end);
    for (std::int64_t row = begin; (row = filled.next(row)) < end; ++row) {
      const std::int64_t a_count = a_.offsets[row + 1] - a_.offsets[row];
      const std::int64_t b_count = b_.offsets[row + 1] - b_.offsets[row];
      const std::int64_t more =
          keeps_ == Keeps::kBoth ? std::min(a_count, b_count) : a_count + b_count;
      if (more > limit - entries) return {entries, row};
      entries += more;
    }
    return {entries, end};
  }

  [[nodiscard]] std::int64_t scratch_bytes() const noexcept {
    return kWaiting * static_cast<std::int64_t>(sizeof(V));
  }
  [[nodiscard]] V* scratch(Byte* memory) const noexcept { return reinterpret_cast<V*>(memory); }

  std::int64_t count(V*, std::int64_t begin, std::int64_t end) const noexcept {
    std::int64_t entries = 0;
    FilledRows filled(a_.offsets, b_.offsets, end);
    for (std::int64_t row = begin; (row = filled.next(row)) < end; ++row) {
      const std::int64_t both = common(row);
      const std::int64_t all =
          a_.offsets[row + 1] - a_.offsets[row] + (b_.offsets[row + 1] - b_.offsets[row]);
      entries += keeps_ == Keeps::kBoth ? both : all - both;
    }
    return entries;
  }

  std::int64_t fill(V* waiting, std::int64_t begin, std::int64_t end,
                    const SparseRows& out) const noexcept {
    Joined joined{operation_,
                  reinterpret_cast<I*>(out.indices),
                  reinterpret_cast<V*>(out.values),
                  waiting,
                  out.position,
                  out.position};
    I* const offsets = reinterpret_cast<I*>(out.offsets);
    FilledRows filled(a_.offsets, b_.offsets, end);
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t next = filled.next(row);
      put_empty_rows(offsets, row, next, end, joined.position);
      row = next;
      if (row == end) break;
      if (has_same_columns(row)) {
        const std::int64_t i = a_.offsets[row];
        joined.add_run(a_.columns + i, a_.values + i, b_.values + b_.offsets[row],
                       a_.offsets[row + 1] - i);
      } else if (keeps_ == Keeps::kBoth) {
        intersect(row, joined);
      } else {
        unite(row, joined);
      }
      offsets[row + 1] = static_cast<I>(joined.position);
    }
    joined.join();
    return joined.position - out.position;
  }

 private:
  struct Side {
    const I* offsets;
    const I* columns;
    const V* values;

    explicit Side(const Compressed& matrix)
        : offsets(reinterpret_cast<const I*>(matrix.offsets)),
          columns(reinterpret_cast<const I*>(matrix.indices)),
          values(reinterpret_cast<const V*>(matrix.values)) {}
  };
  // Rows and entries before a row.
  struct Weight {
    Side a;
    Side b;
    std::int64_t operator()(std::int64_t row) const noexcept {
      return row + (std::int64_t{a.offsets[row]} - a.offsets[0]) +
             (std::int64_t{b.offsets[row]} - b.offsets[0]);
    }
  };

  // Entries on their way out: columns and the values of a where they belong, those of b waiting.
  struct Joined {
    Operation operation;
    I* columns;
    V* values;
    V* waiting;
    std::int64_t position;  // of the next entry
    std::int64_t first;     // whose value waits

    // Free slots in the queue; never 0.
    [[nodiscard]] std::int64_t room() const noexcept { return kWaiting - (position - first); }
    // `count` entries were put at the position.
    void advance(std::int64_t count) noexcept {
      position += count;
      if (position - first == kWaiting) join();
    }
    // Adjacent entries; a side without values has zeros.
    void add_run(const I* from, const V* a, const V* b, std::int64_t count) noexcept {
      const auto put = [](V* to, const V* side, std::int64_t part) {
        if (side == nullptr) {
          std::fill_n(to, part, V{0});
        } else {
          std::copy_n(side, part, to);
        }
      };
      for (std::int64_t at = 0; at < count;) {
        const std::int64_t part = std::min(count - at, room());
        std::copy_n(from + at, part, columns + position);
        put(values + position, a == nullptr ? a : a + at, part);
        put(waiting + (position - first), b == nullptr ? b : b + at, part);
        advance(part);
        at += part;
      }
    }
    void join() noexcept {
      if (position == first) return;
      constexpr auto kWidth = static_cast<std::int64_t>(sizeof(V));
      Byte* const out = reinterpret_cast<Byte*>(values + first);
      // Nothing is divided, so that nothing is found.
      const kernels::StripInput sources[] = {{out, kWidth, kWidth},
                                             {reinterpret_cast<Byte*>(waiting), kWidth, kWidth}};
      static_cast<void>(run_strip(operation, dense_strip(position - first, out, kWidth, sources)));
      first = position;
    }
  };

  // Rows below `end` that have entries on either side, in order.
  class FilledRows {
   public:
    FilledRows(const I* a, const I* b, std::int64_t end) noexcept : a_(a), b_(b), end_(end) {}
    // The first one from `row` on, or `end`.
    std::int64_t next(std::int64_t row) noexcept {
      if (a_row_ < row) a_row_ = first_filled_row(a_, row, end_);
      if (b_row_ < row) b_row_ = first_filled_row(b_, row, end_);
      return std::min(a_row_, b_row_);
    }

   private:
    const I* a_;
    const I* b_;
    std::int64_t end_;
    std::int64_t a_row_ = -1;
    std::int64_t b_row_ = -1;
  };

  [[nodiscard]] bool has_same_columns(std::int64_t row) const noexcept {
    const I* const columns = a_.columns + a_.offsets[row];
    const std::int64_t count = a_.offsets[row + 1] - a_.offsets[row];
    return count == b_.offsets[row + 1] - b_.offsets[row] &&
           std::equal(columns, columns + count, b_.columns + b_.offsets[row]);
  }

  // 1 where a <= b, else 0; indices are not negative. Arithmetic, as a comparison becomes a branch
  // that is mispredicted for every other entry.
  static std::int64_t is_at_most(I a, I b) noexcept {
    return static_cast<std::int64_t>(
        static_cast<std::uint64_t>(std::int64_t{a} - std::int64_t{b} - 1) >> 63);
  }

  // Columns that a row has on both sides.
  [[nodiscard]] std::int64_t common(std::int64_t row) const noexcept {
    std::int64_t i = a_.offsets[row];
    std::int64_t j = b_.offsets[row];
    const std::int64_t a_end = a_.offsets[row + 1];
    const std::int64_t b_end = b_.offsets[row + 1];
    std::int64_t both = 0;
    while (i < a_end && j < b_end) {
      const I left = a_.columns[i];
      const I right = b_.columns[j];
      const std::int64_t in_a = is_at_most(left, right);
      const std::int64_t in_b = is_at_most(right, left);
      i += in_a;
      j += in_b;
      both += in_a & in_b;
    }
    return both;
  }

  // Merges rows from i and j on while both have entries: `step` puts an entry, of a, b or both,
  // behind those before, and says how many it has put. In turns that need no check for each entry.
  template <class Step>
  static void merge_rows(std::int64_t& i, std::int64_t a_end, std::int64_t& j, std::int64_t b_end,
                         Joined& joined, const Step& step) noexcept {
    while (i < a_end && j < b_end) {
      const std::int64_t turns = std::min({a_end - i, b_end - j, joined.room()});
      const std::int64_t begin = joined.position;
      std::int64_t position = begin;
      for (std::int64_t turn = 0; turn < turns; ++turn) position += step(i, j, position);
      joined.advance(position - begin);
    }
  }

  void unite(std::int64_t row, Joined& joined) const noexcept {
    const Side a = a_;
    const Side b = b_;
    std::int64_t i = a.offsets[row];
    std::int64_t j = b.offsets[row];
    const std::int64_t a_end = a.offsets[row + 1];
    const std::int64_t b_end = b.offsets[row + 1];
    I* const columns = joined.columns;
    V* const values = joined.values;
    V* const waiting = joined.waiting;
    const auto step = [&](std::int64_t& left, std::int64_t& right, std::int64_t position) {
      const I a_column = a.columns[left];
      const I b_column = b.columns[right];
      const std::int64_t in_a = is_at_most(a_column, b_column);
      const std::int64_t in_b = is_at_most(b_column, a_column);
      columns[position] = std::min(a_column, b_column);
      values[position] = static_cast<V>(a.values[left] & static_cast<V>(-in_a));
      waiting[position - joined.first] = static_cast<V>(b.values[right] & static_cast<V>(-in_b));
      left += in_a;
      right += in_b;
      return std::int64_t{1};
    };
    merge_rows(i, a_end, j, b_end, joined, step);
    joined.add_run(a.columns + i, a.values + i, nullptr, a_end - i);
    joined.add_run(b.columns + j, nullptr, b.values + j, b_end - j);
  }

  void intersect(std::int64_t row, Joined& joined) const noexcept {
    const Side a = a_;
    const Side b = b_;
    std::int64_t i = a.offsets[row];
    std::int64_t j = b.offsets[row];
    I* const columns = joined.columns;
    V* const values = joined.values;
    V* const waiting = joined.waiting;
    const auto step = [&](std::int64_t& left, std::int64_t& right, std::int64_t position) {
      const I a_column = a.columns[left];
      const I b_column = b.columns[right];
      const std::int64_t in_a = is_at_most(a_column, b_column);
      const std::int64_t in_b = is_at_most(b_column, a_column);
      // Not written in every step: the entry at `position` may be another thread's.
      if ((in_a & in_b) != 0) {
        columns[position] = a_column;
        values[position] = a.values[left];
        waiting[position - joined.first] = b.values[right];
      }
      left += in_a;
      right += in_b;
      return in_a & in_b;
    };
    merge_rows(i, a.offsets[row + 1], j, b.offsets[row + 1], joined, step);
  }

  Side a_;
  Side b_;
  Keeps keeps_;
  Operation operation_;
  WeightedChunks<Weight> chunks_;
};

struct Question {
  const Compressed& a;
  const Compressed& b;
  Keeps keeps;
  Operation operation;
};

template <class I, class V>
void merge(const Context& context, const Question& question, SparseBuilder& builder) {
  const Merge<I, V> work(question.a, question.b, question.keeps, question.operation);
  build_rows(context, AnyRowWork(work), builder);
}

template <class I>
void merge_by_width(const Context& context, const Question& question, SparseBuilder& builder) {
  switch (element_size(builder.shape().value_dtype)) {
    case 1: return merge<I, std::uint8_t>(context, question, builder);
    case 2: return merge<I, std::uint16_t>(context, question, builder);
    case 4: return merge<I, std::uint32_t>(context, question, builder);
    default: return merge<I, std::uint64_t>(context, question, builder);
  }
}

void check_format(const tnr_sparse_view& view, const char* name) {
  if (view.format != TNR_SPARSE_FORMAT_CSR && view.format != TNR_SPARSE_FORMAT_CSC) {
    fail(TNR_STATUS_UNSUPPORTED,
         "%s.format is %" PRId32 " but must be CSR (2) or CSC (3): convert it", name, view.format);
  }
  if ((view.flags & kCoalesced) != kCoalesced) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s.flags is 0x%" PRIx32
         " but must have SORTED and UNIQUE, because rows are merged: coalesce it",
         name, view.flags);
  }
}

void check_pair(const tnr_sparse_view& a, const tnr_sparse_view& b) {
  check_format(a, "a");
  check_format(b, "b");
  if (a.format != b.format) {
    fail(TNR_STATUS_UNSUPPORTED, "a.format is %" PRId32 " but b.format is %" PRId32 ": convert one",
         a.format, b.format);
  }
  if (a.rows != b.rows || a.cols != b.cols) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "a has %" PRId64 " rows and %" PRId64 " cols but b has %" PRId64 " and %" PRId64, a.rows,
         a.cols, b.rows, b.cols);
  }
  require_dtype(b.values, "b.values", a.values.dtype, "a.values.dtype is");
  require_dtype(b.minor, "b's indices", a.minor.dtype, "of those of a it is");
}

Operation operation_of(tnr_binary_op op, tnr_dtype dtype) {
  const auto row = static_cast<std::uint32_t>(op) - 1;
  if (row >= kernels::kBinaryCount) refuse_code("binary", op);
  if (!kernels::kBinaryRows[row].keeps_zero) {
    const char* const name = kernels::kBinaryRows[row].name;
    fail(TNR_STATUS_UNSUPPORTED,
         "%s(0, 0) is not 0, so that %s of sparse matrices is dense: convert them to dense", name,
         name);
  }
  const unsigned column = type_index(dtype);
  if (column == kNoType || kernels::binary_kernels()[row][column].kernel == nullptr) {
    refuse_dtype("sparse arithmetic", dtype);
  }
  return Operation(kernels::binary_kernels()[row][column]);
}

}  // namespace

SparseToken sparse_binary(const Context& context, tnr_binary_op op, const tnr_sparse_view& a,
                          const tnr_sparse_view& b) {
  SparseOperand a_operand(a, "a");
  SparseOperand b_operand(b, "b");
  const Operation operation = operation_of(op, a.values.dtype);
  check_pair(a, b);
  a_operand.check_all();
  b_operand.check_all();
  SparseBuilder builder(context, {.format = a.format,
                                  .rows = a.rows,
                                  .cols = a.cols,
                                  .index_dtype = a.minor.dtype,
                                  .value_dtype = a.values.dtype});
  std::memset(builder.major(), 0, element_size(a.minor.dtype));
  const Compressed left = a_operand.compressed();
  const Compressed right = b_operand.compressed();
  const Question question = {left, right, op == TNR_BINARY_OP_MUL ? Keeps::kBoth : Keeps::kEither,
                             operation};
  if (left.index_type == kernels::IndexType::kI32) {
    merge_by_width<std::int32_t>(context, question, builder);
  } else {
    merge_by_width<std::int64_t>(context, question, builder);
  }
  return count_made(TNR_OPERATION_SPARSE_BINARY, matrix_bytes(a) + matrix_bytes(b),
                    builder.finish(EntryOrder::of(a).and_of(EntryOrder::of(b))));
}

}  // namespace tenure
