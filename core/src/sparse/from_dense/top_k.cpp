// The largest elements of each row of a dense matrix, as entries.
//
// One pass over a row: elements above the least of the k chosen so far are appended to these, and
// when there are 2 k, the k largest are selected anew. On random rows that is rare.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "dense/loops/strip_runner.hpp"
#include "memory/tickets.hpp"
#include "sparse/builder.hpp"
#include "sparse/from_dense/elements.hpp"
#include "sparse/from_dense/from_dense.hpp"
#include "sparse/from_dense/order_key.hpp"
#include "sparse/index_array.hpp"
#include "sparse/traffic.hpp"
#include "tenure/sparse.hpp"
#include "tenure/view.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Elements whose keys are made at a time.
constexpr std::int64_t kPiece = 1024;
constexpr auto kF64 = static_cast<unsigned>(kernels::Type::kF64);

struct Candidate {
  std::int64_t key;
  std::int64_t column;
};
// Ties go to the lower column.
bool is_larger(const Candidate& a, const Candidate& b) noexcept {
  return a.key != b.key ? a.key > b.key : a.column < b.column;
}

// The k largest of the elements that it is shown, column by column. `candidates` has room for 2 k.
class Chosen {
 public:
  Chosen(Candidate* candidates, std::int64_t k) noexcept : candidates_(candidates), k_(k) {}

  void begin() noexcept {
    count_ = 0;
    is_full_ = false;
  }
  void show(std::int64_t key, std::int64_t column) noexcept {
    if (is_full_ && key <= least_) return;
    candidates_[count_++] = {key, column};
    if (count_ == 2 * k_) choose();
  }
  // The k, by column. Not fewer were shown.
  const Candidate* finish() noexcept {
    choose();
    std::sort(candidates_, candidates_ + k_,
              [](const Candidate& a, const Candidate& b) { return a.column < b.column; });
    return candidates_;
  }

 private:
  void choose() noexcept {
    std::nth_element(candidates_, candidates_ + k_ - 1, candidates_ + count_, is_larger);
    count_ = k_;
    least_ = candidates_[k_ - 1].key;
    is_full_ = true;
  }

  Candidate* candidates_;
  std::int64_t k_;
  std::int64_t count_ = 0;
  std::int64_t least_ = 0;  // key of the last that is chosen; a later equal is not
  bool is_full_ = false;
};

class TopRows {
 public:
  TopRows(const tnr_view& dense, std::int64_t k, tnr_sparse_order order, SparseBuilder& builder)
      : elements_(dense),
        to_f64_(kernels::cast_kernels()[type_index(dense.dtype)][kF64]),
        columns_(dense.shape[1]),
        k_(k),
        order_(order),
        builder_(builder),
        index_type_(index_type(builder.shape().index_dtype)) {}

  // A thread's buffer: a row, the candidates, and a piece as f64.
  [[nodiscard]] std::int64_t buffer_bytes() const noexcept {
    return row_bytes() + 2 * k_ * static_cast<std::int64_t>(sizeof(Candidate)) + kPiece * 8;
  }

  // Writes the entries of rows [begin, end), and the offset behind each.
  void write(std::int64_t begin, std::int64_t end, Byte* buffer) const noexcept {
    auto* const candidates = reinterpret_cast<Candidate*>(buffer);
    auto* const numbers = reinterpret_cast<double*>(candidates + 2 * k_);
    Byte* const row_buffer = reinterpret_cast<Byte*>(numbers + kPiece);
    Chosen chosen(candidates, k_);
    for (std::int64_t row = begin; row < end; ++row) {
      put_index(builder_.major(), index_type_, row + 1, (row + 1) * k_);
      if (k_ == 0) continue;
      const Byte* const in = elements_.at(row * columns_, columns_, row_buffer);
      chosen.begin();
      for (std::int64_t column = 0; column < columns_; column += kPiece) {
        show(in, column, std::min(kPiece, columns_ - column), numbers, chosen);
      }
      put(in, row * k_, chosen.finish());
    }
  }

 private:
  [[nodiscard]] std::int64_t row_bytes() const noexcept {
    return elements_.is_dense() ? 0 : columns_ * elements_.width();
  }

  void show(const Byte* in, std::int64_t first, std::int64_t count, double* numbers,
            Chosen& chosen) const noexcept {
    const std::int64_t width = elements_.width();
    auto* const out = reinterpret_cast<Byte*>(numbers);
    // Exact, for wider integers are refused; and a cast finds nothing in the data.
    const kernels::StripInput source[] = {{in + first * width, width, width}};
    static_cast<void>(run_strip(to_f64_, dense_strip(count, out, 8, source)));
    for (std::int64_t i = 0; i < count; ++i) chosen.show(order_key(numbers[i], order_), first + i);
  }

  void put(const Byte* in, std::int64_t position, const Candidate* chosen) const noexcept {
    const std::int64_t width = elements_.width();
    for (std::int64_t i = 0; i < k_; ++i) {
      put_index(builder_.minor(), index_type_, position + i, chosen[i].column);
      std::memcpy(builder_.values() + (position + i) * width, in + chosen[i].column * width,
                  static_cast<std::size_t>(width));
    }
  }

  DenseElements elements_;
  Operation to_f64_;
  std::int64_t columns_;
  std::int64_t k_;
  tnr_sparse_order order_;
  SparseBuilder& builder_;
  kernels::IndexType index_type_;
};

}  // namespace

SparseToken sparse_from_dense_top_k(const Context& context, const tnr_view& dense, std::int64_t k,
                                    tnr_sparse_order order, tnr_dtype index_dtype) {
  check_dense_matrix(dense);
  const tnr_dtype index = checked_index_dtype(index_dtype);
  check_top_k(k, dense.shape[1], "dense.shape[1]", order, dense.dtype);
  Pins pins;
  pins.add(dense, "dense");
  const std::int64_t rows = dense.shape[0];
  SparseBuilder builder(context, {.format = TNR_SPARSE_FORMAT_CSR,
                                  .rows = rows,
                                  .cols = dense.shape[1],
                                  .index_dtype = index,
                                  .value_dtype = dense.dtype});
  std::int64_t count;
  if (__builtin_mul_overflow(rows, k, &count)) {
    fail(TNR_STATUS_OUT_OF_MEMORY, "%" PRId64 " rows of %" PRId64 " entries fit no memory", rows,
         k);
  }
  builder.allocate_entries(count);
  put_index(builder.major(), index_type(index), 0, 0);
  const TopRows work(dense, k, order, builder);
  const std::int64_t slices =
      std::min(slice_count_of(context, static_cast<std::int64_t>(element_bytes(dense))),
               std::max<std::int64_t>(1, rows));
  Tickets tickets(slices);
  const auto write_slices = [&](Byte* buffer) noexcept {
    for (std::int64_t slice; (slice = tickets.take()) >= 0;) {
      work.write(slice_begin(rows, slices, slice), slice_begin(rows, slices, slice + 1), buffer);
    }
  };
  // A matrix without rows may have more columns than fit a buffer.
  if (rows != 0) on_each_thread(context, slices, work.buffer_bytes(), write_slices);
  return count_made(TNR_OPERATION_SPARSE_FROM_DENSE, element_bytes(dense),
                    builder.finish(EntryOrder::rising()));
}

}  // namespace tenure
