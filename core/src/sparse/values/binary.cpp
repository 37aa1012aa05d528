// Arithmetic of two sparse matrices, element by element.
//
// Rows are merged without a branch for each entry: an entry that one side lacks is read as 0. The
// values of one side go to the result and those of the other to a buffer, and the kernels of dense
// arithmetic join them.
#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <type_traits>

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

  // All bits where a <= b, else none; indices are not negative. Arithmetic, as a comparison becomes a
  // branch that is mispredicted for every other entry.
  static I if_at_most(I a, I b) noexcept {
    using Bits = std::make_unsigned_t<I>;
    const auto less = static_cast<I>(static_cast<Bits>(a) - static_cast<Bits>(b) - Bits{1});
    return static_cast<I>(less >> (8 * sizeof(I) - 1));
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
      const I in_a = if_at_most(left, right);
      const I in_b = if_at_most(right, left);
      i -= in_a;
      j -= in_b;
      both -= in_a & in_b;
    }
    return both;
  }

  // Where entries of one run of turns go.
  struct Target {
    I* columns;
    V* values;
    V* waiting;
  };

  // Merges rows from a_at and b_at on while both have entries. put(target, nth, column, in_a, a,
  // in_b, b) writes the nth entry of a run: its column, whether each side has it, and the sides'
  // values; it says how many it has written. In turns that need no check for each entry. The columns
  // that may be next are loaded before it is known which side goes on, so that a turn does not wait
  // for a load that the turn before chose; arithmetic chooses, as a branch would be mispredicted.
  template <class Put>
  static void merge_rows(const Side& a, std::int64_t& a_at, std::int64_t a_end, const Side& b,
                         std::int64_t& b_at, std::int64_t b_end, Joined& joined,
                         const Put& put) noexcept {
    while (a_at < a_end && b_at < b_end) {
      const std::int64_t turns = std::min({a_end - a_at, b_end - b_at, joined.room()});
      const Target target = {joined.columns + joined.position, joined.values + joined.position,
                             joined.waiting + (joined.position - joined.first)};
      const I* const a_columns = a.columns + a_at;
      const I* const b_columns = b.columns + b_at;
      const V* const a_values = a.values + a_at;
      const V* const b_values = b.values + b_at;
      I left = a_columns[0];
      I right = b_columns[0];
      std::int64_t i = 0;
      std::int64_t j = 0;
      std::int64_t count = 0;
      for (std::int64_t turn = 1; turn < turns; ++turn) {
        const I next_left = a_columns[i + 1];
        const I next_right = b_columns[j + 1];
        const I in_a = if_at_most(left, right);
        const I in_b = if_at_most(right, left);
        count += put(target, count, std::min(left, right), in_a, a_values[i], in_b, b_values[j]);
        left += (next_left - left) & in_a;
        right += (next_right - right) & in_b;
        i -= in_a;
        j -= in_b;
      }
      const I in_a = if_at_most(left, right);
      const I in_b = if_at_most(right, left);
      count += put(target, count, std::min(left, right), in_a, a_values[i], in_b, b_values[j]);
      a_at += i - in_a;
      b_at += j - in_b;
      joined.advance(count);
    }
  }

  void unite(std::int64_t row, Joined& joined) const noexcept {
    const Side a = a_;
    const Side b = b_;
    std::int64_t i = a.offsets[row];
    std::int64_t j = b.offsets[row];
    const std::int64_t a_end = a.offsets[row + 1];
    const std::int64_t b_end = b.offsets[row + 1];
    merge_rows(
        a, i, a_end, b, j, b_end, joined,
        [](const Target& to, std::int64_t nth, I column, I in_a, V a_value, I in_b, V b_value) {
          to.columns[nth] = column;
          to.values[nth] = static_cast<V>(a_value & static_cast<V>(in_a));
          to.waiting[nth] = static_cast<V>(b_value & static_cast<V>(in_b));
          return std::int64_t{1};
        });
    joined.add_run(a.columns + i, a.values + i, nullptr, a_end - i);
    joined.add_run(b.columns + j, nullptr, b.values + j, b_end - j);
  }

  void intersect(std::int64_t row, Joined& joined) const noexcept {
    std::int64_t i = a_.offsets[row];
    std::int64_t j = b_.offsets[row];
    merge_rows(
        a_, i, a_.offsets[row + 1], b_, j, b_.offsets[row + 1], joined,
        [](const Target& to, std::int64_t nth, I column, I in_a, V a_value, I in_b, V b_value) {
          // Not written in every turn: the entry there may be another thread's.
          if ((in_a & in_b) != 0) {
            to.columns[nth] = column;
            to.values[nth] = a_value;
            to.waiting[nth] = b_value;
          }
          return std::int64_t{(in_a & in_b) & 1};
        });
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
