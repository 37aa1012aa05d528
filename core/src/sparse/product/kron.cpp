// The Kronecker product of two compressed matrices.
//
// Each entry of the result is a product of two, and the number of entries of a row is known before.
// The values of `a` go to the result and those of `b` to a buffer, and the kernels of dense
// arithmetic multiply them.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "cpu/operations.hpp"
#include "dense/loops/strip_runner.hpp"
#include "sparse/builder.hpp"
#include "sparse/empty_rows.hpp"
#include "sparse/entries.hpp"
#include "sparse/operand.hpp"
#include "sparse/row_slices.hpp"
#include "sparse/traffic.hpp"
#include "tenure/sparse.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Values of `b` that wait for those of `a`.
constexpr std::int64_t kWaitingFactors = 1024;

// Throws where it is more than any matrix has.
std::int64_t require_product(const char* what, std::int64_t a, std::int64_t b) {
  std::int64_t product;
  if (!__builtin_mul_overflow(a, b, &product) && product < INT64_MAX) return product;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "%s of a and b are %" PRId64 " and %" PRId64 ", whose product is more than %" PRId64, what,
       a, b, INT64_MAX - 1);
}

// Rows and columns as the matrices are compressed. V is an unsigned type as wide as the values.
template <class I, class V>
class Kronecker {
 public:
  Kronecker(const Context& context, const tnr_sparse_view& a, const tnr_sparse_view& b,
            const Operation& multiply) noexcept
      : context_(context), a_(a), b_(b), multiply_(multiply) {}

  // `rows` and `entries` are those of the result.
  void write(std::int64_t rows, std::int64_t entries, const SparseBuilder& builder) const noexcept {
    I* const offsets = reinterpret_cast<I*>(builder.major());
    offsets[0] = 0;
    constexpr auto kEach = static_cast<std::int64_t>(sizeof(I) + sizeof(V));
    const std::int64_t slices = std::min(slice_count_of(context_, kEach * (rows + entries)),
                                         std::max<std::int64_t>(1, rows));
    for_each_slice(context_, slices, [&](std::int64_t slice) noexcept {
      write_offsets(slice_begin(rows, slices, slice), slice_begin(rows, slices, slice + 1),
                    offsets);
    });
    for_each_slice(context_, slices, [&](std::int64_t slice) noexcept {
      V waiting[kWaitingFactors];
      Products products{multiply_, reinterpret_cast<I*>(builder.minor()),
                        reinterpret_cast<V*>(builder.values()), waiting};
      const std::int64_t begin = sliced_row(offsets, rows, slices, slice);
      products.first = products.position = offsets[begin];
      for_each_filled_row(
          offsets, begin, sliced_row(offsets, rows, slices, slice + 1),
          [&](std::int64_t row) noexcept { write_row(row / b_.rows, row % b_.rows, products); });
      products.multiply();
    });
  }

 private:
  struct Factor {
    const I* offsets;
    const I* columns;
    const V* values;
    std::int64_t rows;
    std::int64_t cols;

    explicit Factor(const tnr_sparse_view& view) noexcept
        : offsets(static_cast<const I*>(view.major.data)),
          columns(static_cast<const I*>(view.minor.data)),
          values(static_cast<const V*>(view.values.data)),
          rows(major_count(view)),
          cols(minor_count(view)) {}
    [[nodiscard]] std::int64_t count(std::int64_t row) const noexcept {
      return offsets[row + 1] - offsets[row];
    }
  };

  // Entries on their way out: columns and factors of `a` where they belong, those of `b` waiting.
  struct Products {
    Operation operation;
    I* columns;
    V* values;
    V* waiting;
    std::int64_t position = 0;  // of the next entry
    std::int64_t first = 0;     // whose factor waits

    [[nodiscard]] std::int64_t room() const noexcept {
      return kWaitingFactors - (position - first);
    }
    void advance(std::int64_t count) noexcept {
      position += count;
      if (position - first == kWaitingFactors) multiply();
    }
    void multiply() noexcept {
      if (position == first) return;
      constexpr auto kWidth = static_cast<std::int64_t>(sizeof(V));
      Byte* const out = reinterpret_cast<Byte*>(values + first);
      const kernels::StripInput sources[] = {{out, kWidth, kWidth},
                                             {reinterpret_cast<Byte*>(waiting), kWidth, kWidth}};
      static_cast<void>(run_strip(operation, dense_strip(position - first, out, kWidth, sources)));
      first = position;
    }
  };

  // Behind rows [begin, end): those before have all of `b` for each entry of `a`.
  void write_offsets(std::int64_t begin, std::int64_t end, I* offsets) const noexcept {
    const std::int64_t b_entries = b_.offsets[b_.rows] - b_.offsets[0];
    for (std::int64_t row = begin; row < end;) {
      const std::int64_t a_row = row / b_.rows;
      const std::int64_t b_row = row % b_.rows;
      const std::int64_t count = std::min(b_.rows - b_row, end - row);
      const std::int64_t before = (a_.offsets[a_row] - a_.offsets[0]) * b_entries;
      const std::int64_t a_count = a_.count(a_row);
      const I* const b_offsets = b_.offsets + b_row + 1;
      for (std::int64_t k = 0; k < count; ++k) {
        offsets[row + 1 + k] =
            static_cast<I>(before + a_count * (std::int64_t{b_offsets[k]} - b_.offsets[0]));
      }
      row += count;
    }
  }

  void write_row(std::int64_t a_row, std::int64_t b_row, Products& out) const noexcept {
    const std::int64_t b_first = b_.offsets[b_row];
    const std::int64_t b_count = b_.count(b_row);
    if (b_count == 1) return scale_row(a_row, b_first, out);
    for (std::int64_t i = a_.offsets[a_row]; i < a_.offsets[a_row + 1]; ++i) {
      const auto base = static_cast<I>(a_.columns[i] * b_.cols);
      const V value = a_.values[i];
      for (std::int64_t at = 0; at < b_count;) {
        const std::int64_t count = std::min(b_count - at, out.room());
        const I* const b_columns = b_.columns + b_first + at;
        I* const columns = out.columns + out.position;
        for (std::int64_t k = 0; k < count; ++k) columns[k] = static_cast<I>(base + b_columns[k]);
        std::fill_n(out.values + out.position, count, value);
        std::copy_n(b_.values + b_first + at, count, out.waiting + (out.position - out.first));
        out.advance(count);
        at += count;
      }
    }
  }

  // Scales a row by a single entry of `b`: loops over the entries of `a` instead.
  void scale_row(std::int64_t a_row, std::int64_t entry, Products& out) const noexcept {
    const std::int64_t col = b_.columns[entry];
    const std::int64_t end = a_.offsets[a_row + 1];
    for (std::int64_t i = a_.offsets[a_row]; i < end;) {
      const std::int64_t count = std::min(end - i, out.room());
      I* const columns = out.columns + out.position;
      for (std::int64_t k = 0; k < count; ++k) {
        columns[k] = static_cast<I>(a_.columns[i + k] * b_.cols + col);
      }
      std::copy_n(a_.values + i, count, out.values + out.position);
      std::fill_n(out.waiting + (out.position - out.first), count, b_.values[entry]);
      out.advance(count);
      i += count;
    }
  }

  const Context& context_;
  Factor a_;
  Factor b_;
  Operation multiply_;
};

template <class I>
void write_kronecker(const Context& context, const tnr_sparse_view& a, const tnr_sparse_view& b,
                     const Operation& multiply, std::int64_t entries,
                     const SparseBuilder& builder) noexcept {
  const std::int64_t rows = builder.shape().row_count();
  const auto write = [&]<class V>(V) {
    Kronecker<I, V>(context, a, b, multiply).write(rows, entries, builder);
  };
  switch (element_size(a.values.dtype)) {
    case 1: return write(std::uint8_t{});
    case 2: return write(std::uint16_t{});
    case 4: return write(std::uint32_t{});
    default: return write(std::uint64_t{});
  }
}

}  // namespace

SparseToken sparse_kron(const Context& context, const tnr_sparse_view& a,
                        const tnr_sparse_view& b) {
  SparseOperand a_operand(a, "a");
  SparseOperand b_operand(b, "b");
  require_compressed(a, "a");
  require_compressed(b, "b");
  if (a.format != b.format) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "a.format is %" PRId32 " but b.format is %" PRId32 ": convert one", a.format, b.format);
  }
  const unsigned type = type_index(a.values.dtype);
  if (type == kNoType || a.values.dtype == TNR_DTYPE_BOOL8) {
    refuse_dtype("the Kronecker product", a.values.dtype);
  }
  require_dtype(b.values, "b.values", a.values.dtype, "a.values.dtype is");
  require_dtype(b.minor, "b's indices", a.minor.dtype, "of those of a it is");
  const std::int64_t rows = require_product("rows", a.rows, b.rows);
  const std::int64_t cols = require_product("cols", a.cols, b.cols);
  const std::int64_t entries =
      require_product("entries", a_operand.entry_count(), b_operand.entry_count());
  a_operand.check_all();
  b_operand.check_all();
  SparseBuilder builder(context, {.format = a.format,
                                  .rows = rows,
                                  .cols = cols,
                                  .index_dtype = a.minor.dtype,
                                  .value_dtype = a.values.dtype});
  builder.allocate_entries(entries);
  const Operation multiply(kernels::binary_kernels()[TNR_BINARY_OP_MUL - 1][type]);
  if (a.minor.dtype == TNR_DTYPE_I32) {
    write_kronecker<std::int32_t>(context, a, b, multiply, entries, builder);
  } else {
    write_kronecker<std::int64_t>(context, a, b, multiply, entries, builder);
  }
  return count_made(TNR_OPERATION_SPARSE_KRON, matrix_bytes(a) + matrix_bytes(b),
                    builder.finish(EntryOrder::of(a).spread(EntryOrder::of(b))));
}

}  // namespace tenure
