// The product of two sparse matrices: rows in chunks, which threads take by ticket.
//
// Where a chunk's entries go is known when those before it have been counted. One thread alone
// writes as it goes; several write to a buffer each, and from there to the place. Both need memory
// whose size is known only at the end, of which what is touched is taken. Where there is none, all
// rows are counted first.
#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <memory>

#include "operands.hpp"
#include "running_sums.hpp"
#include "sparse_builder.hpp"
#include "sparse_kernels.hpp"
#include "sparse_operand.hpp"
#include "tenure/sparse.hpp"
#include "tickets.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::RowProducts;
using kernels::RowSums;
using kernels::SparseProduct;
using kernels::SparseRows;

// Rows and entries of `a` in a chunk: some thousand products at least, mostly.
constexpr std::int64_t kChunk = 256;
// What a thread holds back of a chunk: indices and values of so many entries stay in its cache.
constexpr std::int64_t kBufferEntries = 32 << 10;

// ---- the shape of the work ----

// How much is to be done, without a sum.
class Plan {
 public:
  explicit Plan(const SparseProduct& product)
      : product_(product), is_i32_(product.a.index_type == kernels::IndexType::kI32) {}

  [[nodiscard]] std::int64_t chunk_count() const noexcept {
    return std::max<std::int64_t>(1, (weight(product_.a.rows) + kChunk - 1) / kChunk);
  }
  // The row at which a chunk begins; of the one behind the last, all rows.
  [[nodiscard]] std::int64_t chunk_begin(std::int64_t chunk) const noexcept {
    std::int64_t low = 0;
    std::int64_t high = product_.a.rows;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      (weight(middle) < chunk * kChunk ? low : high) =
          weight(middle) < chunk * kChunk ? middle + 1 : middle;
    }
    return low;
  }
  // What rows [begin, end) have at most; and how far they go until it is more than `limit`.
  [[nodiscard]] std::int64_t max_entries(std::int64_t begin, std::int64_t end) const noexcept {
    return is_i32_ ? bound<std::int32_t>(begin, end, INT64_MAX).entries
                   : bound<std::int64_t>(begin, end, INT64_MAX).entries;
  }
  [[nodiscard]] std::int64_t end_within(std::int64_t begin, std::int64_t end,
                                        std::int64_t limit) const noexcept {
    return is_i32_ ? bound<std::int32_t>(begin, end, limit).end
                   : bound<std::int64_t>(begin, end, limit).end;
  }

 private:
  struct Bound {
    std::int64_t entries;
    std::int64_t end;
  };

  // Rows and entries before a row.
  [[nodiscard]] std::int64_t weight(std::int64_t row) const noexcept {
    return is_i32_ ? weight<std::int32_t>(row) : weight<std::int64_t>(row);
  }
  template <class I>
  [[nodiscard]] std::int64_t weight(std::int64_t row) const noexcept {
    const I* const offsets = reinterpret_cast<const I*>(product_.a.offsets);
    return row + (offsets[row] - offsets[0]);
  }

  template <class I>
  [[nodiscard]] Bound bound(std::int64_t begin, std::int64_t end,
                            std::int64_t limit) const noexcept {
    const I* const a_offsets = reinterpret_cast<const I*>(product_.a.offsets);
    const I* const a_columns = reinterpret_cast<const I*>(product_.a.indices);
    const I* const b_offsets = reinterpret_cast<const I*>(product_.b.offsets);
    std::int64_t entries = 0;
    for (std::int64_t row = begin; row < end; ++row) {
      std::int64_t products = 0;
      for (std::int64_t k = a_offsets[row]; k < a_offsets[row + 1]; ++k) {
        const I column = a_columns[k];
        products += b_offsets[column + 1] - b_offsets[column];
      }
      const std::int64_t more = std::min(products, product_.b.cols);
      if (more > limit - entries) return {entries, row};
      entries += more;
    }
    return {entries, end};
  }

  const SparseProduct& product_;
  bool is_i32_;
};

// ---- a thread's part ----

// What a thread needs for itself, in one piece of memory.
class Layout {
 public:
  Layout(std::int64_t cols, std::int64_t index_bytes, std::int64_t value_bytes,
         std::int64_t buffer_entries) noexcept
      : cols_(cols) {
    const std::int64_t blocks = (cols + kernels::kSumBlock - 1) / kernels::kSumBlock;
    marks_ = lines(blocks * kernels::kSumBlock * value_bytes);
    stamps_ = marks_ + lines((blocks + 7) / 8 * 8);
    indices_ = stamps_ + lines(cols * 4);
    values_ = indices_ + lines(buffer_entries * index_bytes);
    size_ = values_ + lines(buffer_entries * value_bytes);
  }

  [[nodiscard]] std::int64_t size_bytes() const noexcept { return size_; }
  [[nodiscard]] RowSums sums(Byte* memory) const noexcept {
    return {memory, memory + marks_, reinterpret_cast<std::uint32_t*>(memory + stamps_), cols_, 0};
  }
  // Rows that go to the buffer, but for the offsets.
  [[nodiscard]] SparseRows rows(Byte* memory, Byte* offsets) const noexcept {
    return {0, offsets, memory + indices_, memory + values_};
  }

 private:
  static std::int64_t lines(std::int64_t bytes) noexcept { return (bytes + 63) / 64 * 64; }

  std::int64_t cols_;
  std::int64_t marks_;
  std::int64_t stamps_;
  std::int64_t indices_;
  std::int64_t values_;
  std::int64_t size_;
};

class Multiplication {
 public:
  Multiplication(const Context& context, const SparseProduct& product, const RowProducts& kernels,
                 SparseBuilder& builder)
      : threads_(&context),
        product_(product),
        kernels_(kernels),
        builder_(builder),
        plan_(product),
        index_bytes_(static_cast<std::int64_t>(element_size(builder.shape().index_dtype))),
        value_bytes_(static_cast<std::int64_t>(element_size(builder.shape().value_dtype))) {}

  void run() {
    const std::int64_t chunks = plan_.chunk_count();
    const std::int64_t most = max_entries(chunks);
    if (most < kWorthSharingBytes / (index_bytes_ + value_bytes_)) threads_ = &kDefaultContext;
    if (!run_once(chunks, most)) run_twice(chunks);
  }

 private:
  [[nodiscard]] Layout layout(std::int64_t buffer_entries) const noexcept {
    return Layout(product_.b.cols, index_bytes_, value_bytes_, buffer_entries);
  }
  // Rows that go to the result, from an entry on.
  [[nodiscard]] SparseRows result(std::int64_t position) const noexcept {
    return {position, builder_.major(), builder_.minor(), builder_.values()};
  }

  // Calls body(buffer, chunk) for all chunks, in order on each thread.
  template <class Body>
  void for_each_chunk(std::int64_t chunks, const Layout& layout, const Body& body) const {
    Tickets tickets(chunks);
    on_each_thread(*threads_, chunks, layout.size_bytes(), [&](Byte* buffer) noexcept {
      RowSums sums = layout.sums(buffer);
      kernels_.start(sums);
      for (std::int64_t chunk; (chunk = tickets.take()) >= 0;) {
        body(buffer, sums, chunk, plan_.chunk_begin(chunk), plan_.chunk_begin(chunk + 1));
      }
    });
  }

  // What all rows have at most.
  [[nodiscard]] std::int64_t max_entries(std::int64_t chunks) const {
    constexpr std::int64_t kTogether = 64;
    std::atomic<std::int64_t> total{0};
    const std::int64_t parts = (chunks + kTogether - 1) / kTogether;
    for_each_slice(*threads_, parts, [&](std::int64_t part) noexcept {
      const std::int64_t begin = plan_.chunk_begin(part * kTogether);
      const std::int64_t end = plan_.chunk_begin(std::min(chunks, (part + 1) * kTogether));
      total.fetch_add(plan_.max_entries(begin, end), std::memory_order_relaxed);
    });
    return total.load(std::memory_order_relaxed);
  }

  // False where the memory for it is refused; then nothing has happened.
  bool run_once(std::int64_t chunks, std::int64_t most) {
    const std::int64_t capacity =
        index_bytes_ == 4 ? std::min<std::int64_t>(most, INT32_MAX) : most;
    RunningSums sums(chunks);
    // Products of stencils and of power-law graphs meet about that often.
    if (!builder_.reserve_entries(capacity, capacity / 2)) return false;
    if (threads_->thread_count() == 1) {
      write_in_order(chunks, capacity, sums);
    } else {
      write_through_buffers(chunks, capacity, sums);
    }
    builder_.trim_entries(sums.total(chunks));
    return true;
  }

  void write_in_order(std::int64_t chunks, std::int64_t capacity, RunningSums& counts) {
    std::int64_t position = 0;
    for_each_chunk(chunks, layout(0),
                   [&](Byte*, RowSums& sums, std::int64_t chunk, std::int64_t begin,
                       std::int64_t end) noexcept {
                     // What does not fit is refused when all have been counted.
                     const bool fits = plan_.max_entries(begin, end) <= capacity - position;
                     const std::int64_t count =
                         fits ? kernels_.fill(product_, sums, begin, end, result(position))
                              : kernels_.count(product_, sums, begin, end);
                     position += count;
                     counts.add(chunk, count);
                   });
  }

  void write_through_buffers(std::int64_t chunks, std::int64_t capacity, RunningSums& counts) {
    const Layout own = layout(kBufferEntries);
    for_each_chunk(
        chunks, own,
        [&](Byte* buffer, RowSums& sums, std::int64_t chunk, std::int64_t begin,
            std::int64_t end) noexcept {
          const std::int64_t held_end = plan_.end_within(begin, end, kBufferEntries);
          const SparseRows held = own.rows(buffer, builder_.major());
          const std::int64_t held_count = kernels_.fill(product_, sums, begin, held_end, held);
          const std::int64_t count = held_count + kernels_.count(product_, sums, held_end, end);
          const std::int64_t before = counts.add(chunk, count);
          if (count > capacity - before) return;
          move(held, begin, held_end, held_count, before);
          kernels_.fill(product_, sums, held_end, end, result(before + held_count));
        });
  }

  // Rows from a buffer to their place in the result.
  void move(const SparseRows& held, std::int64_t begin, std::int64_t end, std::int64_t count,
            std::int64_t before) const noexcept {
    const auto put = [=](Byte* to, const Byte* from, std::int64_t width) {
      if (count != 0) {
        std::memcpy(to + before * width, from, static_cast<std::size_t>(count * width));
      }
    };
    put(builder_.minor(), held.indices, index_bytes_);
    put(builder_.values(), held.values, value_bytes_);
    const auto shift = [&]<class I>(I* offsets) {
      for (std::int64_t row = begin; row < end; ++row) offsets[row + 1] += static_cast<I>(before);
    };
    if (index_bytes_ == 4) {
      shift(reinterpret_cast<std::int32_t*>(held.offsets));
    } else {
      shift(reinterpret_cast<std::int64_t*>(held.offsets));
    }
  }

  void run_twice(std::int64_t chunks) {
    const std::unique_ptr<std::int64_t[]> before(
        new std::int64_t[static_cast<std::size_t>(chunks + 1)]);
    before[0] = 0;
    for_each_chunk(chunks, layout(0),
                   [&](Byte*, RowSums& sums, std::int64_t chunk, std::int64_t begin,
                       std::int64_t end) noexcept {
                     before[chunk + 1] = kernels_.count(product_, sums, begin, end);
                   });
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) before[chunk + 1] += before[chunk];
    builder_.allocate_entries(before[chunks]);
    for_each_chunk(chunks, layout(0),
                   [&](Byte*, RowSums& sums, std::int64_t chunk, std::int64_t begin,
                       std::int64_t end) noexcept {
                     kernels_.fill(product_, sums, begin, end, result(before[chunk]));
                   });
  }

  const Context* threads_;
  const SparseProduct& product_;
  const RowProducts& kernels_;
  SparseBuilder& builder_;
  Plan plan_;
  std::int64_t index_bytes_;
  std::int64_t value_bytes_;
};

// ---- what is asked ----

void check_pair(const tnr_sparse_view& a, const tnr_sparse_view& b) {
  if (a.format != b.format ||
      (a.format != TNR_SPARSE_FORMAT_CSR && a.format != TNR_SPARSE_FORMAT_CSC)) {
    fail(TNR_STATUS_UNSUPPORTED,
         "a.format is %" PRId32 " and b.format %" PRId32
         " but products are of two CSR or two CSC: convert them",
         a.format, b.format);
  }
  if (a.cols != b.rows) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "a.cols is %" PRId64 " but b.rows is %" PRId64, a.cols,
         b.rows);
  }
  require_dtype(b.values, "b.values", a.values.dtype, "a.values.dtype is");
  require_dtype(b.minor, "b's indices", a.minor.dtype, "of those of a it is");
}

const RowProducts& kernels_for(const tnr_sparse_view& a) {
  const unsigned type = type_index(a.values.dtype);
  if (type >= kernels::kProductTypeCount) refuse_dtype("product", a.values.dtype);
  return kernels::table().row_products[static_cast<unsigned>(index_type(a.minor.dtype))][type];
}

}  // namespace

SparseToken sparse_product(const Context& context, const tnr_sparse_view& a,
                           const tnr_sparse_view& b) {
  SparseOperand a_operand(a, "a");
  SparseOperand b_operand(b, "b");
  check_pair(a, b);
  const RowProducts& kernels = kernels_for(a);
  a_operand.check_all();
  b_operand.check_all();
  // (A B)^T is B^T A^T, and CSC is the CSR of the transpose.
  const bool is_csc = a.format == TNR_SPARSE_FORMAT_CSC;
  const SparseOperand& left = is_csc ? b_operand : a_operand;
  const SparseOperand& right = is_csc ? a_operand : b_operand;
  constexpr std::uint32_t kCoalesced = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
  const SparseProduct product = {left.compressed(), right.compressed(),
                                 (right.view().flags & kCoalesced) == kCoalesced};
  SparseBuilder builder(context, {.format = a.format,
                                  .rows = a.rows,
                                  .cols = b.cols,
                                  .index_dtype = a.minor.dtype,
                                  .value_dtype = a.values.dtype});
  std::memset(builder.major(), 0, element_size(a.minor.dtype));
  Multiplication(context, product, kernels, builder).run();
  return builder.finish(kCoalesced);
}

}  // namespace tenure
