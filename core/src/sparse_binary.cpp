// Arithmetic of two sparse matrices, element by element.
//
// Rows are merged without a branch for each entry: what one side lacks is read as 0. The values of
// one side go to the result and those of the other beside it, and the kernels of dense arithmetic
// join them.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "operands.hpp"
#include "row_chunks.hpp"
#include "sparse_builder.hpp"
#include "sparse_kernels.hpp"
#include "sparse_operand.hpp"
#include "sparse_traffic.hpp"
#include "tenure/sparse.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Compressed;
using kernels::SparseRows;
using kernels::StripKernel;

// Rows and entries of both matrices in a chunk, in a cache together with the result.
constexpr std::int64_t kChunkWeight = 8192;
// Values of one side that wait for the other.
constexpr std::int64_t kWaiting = 1024;

constexpr std::uint32_t kCoalesced = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;

enum class Keeps : bool { kEither, kBoth };  // whose positions the result has

// Work of RowChunks. V is an unsigned type as wide as the values.
template <class I, class V>
class Merge {
 public:
  // The values that wait.
  using Scratch = V*;

  Merge(const Compressed& a, const Compressed& b, Keeps keeps, StripKernel kernel)
      : a_(a), b_(b), keeps_(keeps), kernel_(kernel), chunks_(a.rows, kChunkWeight, {a_, b_}) {}

  [[nodiscard]] std::int64_t chunk_count() const noexcept { return chunks_.count(); }
  [[nodiscard]] std::int64_t chunk_begin(std::int64_t chunk) const noexcept {
    return chunks_.begin(chunk);
  }
  [[nodiscard]] RowBound bound(std::int64_t begin, std::int64_t end,
                               std::int64_t limit) const noexcept {
    std::int64_t entries = 0;
    for (std::int64_t row = begin; row < end; ++row) {
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
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t both = common(row);
      const std::int64_t all =
          a_.offsets[row + 1] - a_.offsets[row] + (b_.offsets[row + 1] - b_.offsets[row]);
      entries += keeps_ == Keeps::kBoth ? both : all - both;
    }
    return entries;
  }

  std::int64_t fill(V* waiting, std::int64_t begin, std::int64_t end,
                    const SparseRows& out) const noexcept {
    Joined joined{kernel_,
                  reinterpret_cast<I*>(out.indices),
                  reinterpret_cast<V*>(out.values),
                  waiting,
                  out.position,
                  out.position};
    I* const offsets = reinterpret_cast<I*>(out.offsets);
    for (std::int64_t row = begin; row < end; ++row) {
      if (keeps_ == Keeps::kBoth) {
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
    StripKernel kernel;
    I* columns;
    V* values;
    V* waiting;
    std::int64_t position;  // of the next entry
    std::int64_t first;     // whose value waits

    void add(I column, V a, V b) noexcept {
      columns[position] = column;
      values[position] = a;
      waiting[position - first] = b;
      ++position;
      if (position - first == kWaiting) join();
    }
    void join() noexcept {
      if (position == first) return;
      constexpr auto kWidth = static_cast<std::int64_t>(sizeof(V));
      Byte* const out = reinterpret_cast<Byte*>(values + first);
      // Nothing is divided, so that nothing is found.
      static_cast<void>(kernel({position - first,
                                out,
                                {out, reinterpret_cast<Byte*>(waiting)},
                                kWidth,
                                {kWidth, kWidth},
                                kWidth}));
      first = position;
    }
  };

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
      i += left <= right ? 1 : 0;
      j += right <= left ? 1 : 0;
      both += left == right ? 1 : 0;
    }
    return both;
  }

  void unite(std::int64_t row, Joined& joined) const noexcept {
    std::int64_t i = a_.offsets[row];
    std::int64_t j = b_.offsets[row];
    const std::int64_t a_end = a_.offsets[row + 1];
    const std::int64_t b_end = b_.offsets[row + 1];
    while (i < a_end && j < b_end) {
      const I left = a_.columns[i];
      const I right = b_.columns[j];
      const V in_a = left <= right ? V{1} : V{0};
      const V in_b = right <= left ? V{1} : V{0};
      joined.add(left <= right ? left : right, static_cast<V>(a_.values[i] * in_a),
                 static_cast<V>(b_.values[j] * in_b));
      i += static_cast<std::int64_t>(in_a);
      j += static_cast<std::int64_t>(in_b);
    }
    for (; i < a_end; ++i) joined.add(a_.columns[i], a_.values[i], V{0});
    for (; j < b_end; ++j) joined.add(b_.columns[j], V{0}, b_.values[j]);
  }

  void intersect(std::int64_t row, Joined& joined) const noexcept {
    std::int64_t i = a_.offsets[row];
    std::int64_t j = b_.offsets[row];
    const std::int64_t a_end = a_.offsets[row + 1];
    const std::int64_t b_end = b_.offsets[row + 1];
    while (i < a_end && j < b_end) {
      const I left = a_.columns[i];
      const I right = b_.columns[j];
      if (left == right) joined.add(left, a_.values[i], b_.values[j]);
      i += left <= right ? 1 : 0;
      j += right <= left ? 1 : 0;
    }
  }

  Side a_;
  Side b_;
  Keeps keeps_;
  StripKernel kernel_;
  WeightedChunks<Weight> chunks_;
};

struct Question {
  const Compressed& a;
  const Compressed& b;
  Keeps keeps;
  StripKernel kernel;
};

template <class I, class V>
void merge(const Context& context, const Question& question, SparseBuilder& builder) {
  const Merge<I, V> work(question.a, question.b, question.keeps, question.kernel);
  RowChunks<Merge<I, V>>(context, work, builder).run();
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
         name, view.flags & ~kSparseChecked);
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

StripKernel kernel_of(tnr_binary_op op, tnr_dtype dtype) {
  const auto row = static_cast<std::uint32_t>(op) - 1;
  if (row >= kernels::kBinaryCount) refuse_code("binary", op);
  if (op == TNR_BINARY_OP_DIV) {
    fail(TNR_STATUS_UNSUPPORTED,
         "0 / 0 is no 0, so that a quotient of sparse matrices is dense: divide dense ones");
  }
  const unsigned column = type_index(dtype);
  const StripKernel kernel = column == kNoType ? nullptr : kernels::table().binary[row][column];
  if (kernel == nullptr) refuse_dtype("sparse arithmetic", dtype);
  return kernel;
}

}  // namespace

SparseToken sparse_binary(const Context& context, tnr_binary_op op, const tnr_sparse_view& a,
                          const tnr_sparse_view& b) {
  SparseOperand a_operand(a, "a");
  SparseOperand b_operand(b, "b");
  const StripKernel kernel = kernel_of(op, a.values.dtype);
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
                             kernel};
  if (left.index_type == kernels::IndexType::kI32) {
    merge_by_width<std::int32_t>(context, question, builder);
  } else {
    merge_by_width<std::int64_t>(context, question, builder);
  }
  return count_made(TNR_OPERATION_SPARSE_BINARY, matrix_bytes(a) + matrix_bytes(b),
                    builder.finish(kCoalesced));
}

}  // namespace tenure
