// Conversions of batches: of each matrix on its own, into its part of the result's arrays. The
// number of blocks of a matrix is known only once they have been made: these are copied to adjacent
// parts then.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "sparse/batch.hpp"
#include "sparse/builder.hpp"
#include "sparse/convert/convert.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// The converted matrices.
class Matrices {
 public:
  explicit Matrices(std::int64_t count) : tokens_(static_cast<std::size_t>(count)) {}
  Matrices(const Matrices&) = delete;
  Matrices& operator=(const Matrices&) = delete;
  ~Matrices() {
    for (const SparseToken token : tokens_) {
      if (token != 0) sparse_release(token);
    }
  }

  // Takes the reference.
  void set(std::int64_t matrix, SparseToken token) noexcept {
    tokens_[static_cast<std::size_t>(matrix)] = token;
  }
  // All have been set.
  [[nodiscard]] tnr_sparse_view operator[](std::int64_t matrix) const {
    return sparse_view(tokens_[static_cast<std::size_t>(matrix)]);
  }

 private:
  std::vector<SparseToken> tokens_;
};

// Bytes of an entry of the result, and of an entry of `a`.
std::int64_t entry_bytes(const tnr_sparse_view& a) noexcept {
  return 2 * (2 * index_bytes(a) + static_cast<std::int64_t>(element_size(a.values.dtype)) *
                                       a.block_rows * a.block_cols);
}

// Copies all elements of a part to the whole, from element `first` on.
void put(const tnr_view& part, Byte* whole, std::int64_t first, std::int64_t bytes_each) noexcept {
  if (part.shape[0] == 0) return;
  std::memcpy(whole + first * bytes_each, part.data,
              static_cast<std::size_t>(part.shape[0] * bytes_each));
}

// Copies the matrices to adjacent parts, and writes where each begins.
EntryOrder join(const Context& context, const Matrices& matrices, SparseBuilder& builder) {
  const SparseShape& shape = builder.shape();
  std::int64_t* const begins = builder.batch_offsets();
  EntryOrder order = EntryOrder::rising();  // as of no matrix
  begins[0] = 0;
  for (std::int64_t i = 0; i < shape.batches; ++i) {
    const tnr_sparse_view matrix = matrices[i];
    begins[i + 1] = begins[i] + matrix.minor.shape[0];
    order = order.and_of(EntryOrder::of(matrix));
  }
  builder.allocate_entries(begins[shape.batches]);
  const auto index = static_cast<std::int64_t>(element_size(shape.index_dtype));
  const auto value = static_cast<std::int64_t>(element_size(shape.value_dtype)) * shape.block_rows *
                     shape.block_cols;
  const std::int64_t slices =
      std::clamp<std::int64_t>(slice_count_of(context, builder.entry_count() * (index + value) * 2),
                               1, std::max<std::int64_t>(1, shape.batches));
  for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
    const std::int64_t end = slice_begin(shape.batches, slices, slice + 1);
    for (std::int64_t i = slice_begin(shape.batches, slices, slice); i < end; ++i) {
      const tnr_sparse_view matrix = matrices[i];
      put(matrix.major, builder.major(),
          shape.has_offsets() ? i * (shape.row_count() + 1) : begins[i], index);
      put(matrix.minor, builder.minor(), begins[i], index);
      put(matrix.values, builder.values(), begins[i], value);
    }
  });
  return order;
}

// Converts the matrices of `a`, which have been checked, one by one: convert(context, matrix, i).
template <class Convert>
void convert_each(const Context& context, const BatchOperand& a, const Convert& convert) {
  const tnr_sparse_view& view = a.view();
  // Extents beyond what makes a matrix worth all threads count as that: twice the highest is no
  // number.
  const auto worth = [](std::int64_t extent) { return std::min(extent, kWorthAllThreadsBytes); };
  const std::int64_t row_bytes = 2 * (worth(view.rows) + worth(view.cols)) * index_bytes(view);
  for_each_matrix(
      context, a,
      [&](std::int64_t i) noexcept { return row_bytes + a.entry_count(i) * entry_bytes(view); },
      [&](const Context& own, std::int64_t i) {
        const tnr_sparse_view matrix = a.matrix(i);
        SparseOperand operand(matrix, a);
        operand.check_all();
        convert(own, matrix, i);
      });
}

// Conversion to BSR, whose block counts are not known before. Returns the order of every matrix.
EntryOrder make_and_join(const Context& context, const BatchOperand& a, const SparseTarget& target,
                         SparseBuilder& builder) {
  Matrices matrices(a.count());
  convert_each(context, a, [&](const Context& own, const tnr_sparse_view& matrix, std::int64_t i) {
    matrices.set(i, convert_entries(own, matrix, target));
  });
  return join(context, matrices, builder);
}

// Conversion to CSR, CSC or COO, where each matrix keeps its number of entries. Returns the order
// of every matrix.
EntryOrder make_in_place(const Context& context, const BatchOperand& a, const SparseTarget& target,
                         SparseBuilder& builder) {
  const SparseShape& shape = builder.shape();
  std::int64_t* const begins = builder.batch_offsets();
  begins[0] = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    // Lent offsets may leave entries out. Wrong offsets are refused when they are read.
    const std::int64_t count = std::max<std::int64_t>(0, result_count(a.matrix(i), target));
    builder.require_matrix_fit(i, count);
    begins[i + 1] = begins[i] + count;
  }
  builder.allocate_entries(begins[a.count()]);
  const auto index = static_cast<std::int64_t>(element_size(shape.index_dtype));
  const auto value = static_cast<std::int64_t>(element_size(shape.value_dtype));
  std::atomic<std::uint32_t> flags{EntryOrder::rising().flags()};
  convert_each(context, a, [&](const Context& own, const tnr_sparse_view& matrix, std::int64_t i) {
    const std::int64_t major = shape.has_offsets() ? i * (shape.row_count() + 1) : begins[i];
    SparseDestination destination = {.major = builder.major() + major * index,
                                     .minor = builder.minor() + begins[i] * index,
                                     .values = builder.values() + begins[i] * value};
    SparseTarget own_target = target;
    own_target.destination = &destination;
    convert_entries(own, matrix, own_target);
    // Relaxed: read once all have come to their end.
    flags.fetch_and(destination.order.flags(), std::memory_order_relaxed);
  });
  return EntryOrder::said(flags.load(std::memory_order_relaxed));
}

}  // namespace

SparseToken convert_batch(const Context& context, const BatchOperand& a,
                          const SparseTarget& target) {
  const tnr_sparse_view& view = a.view();
  SparseBuilder builder(context, {.format = target.format,
                                  .rows = view.rows,
                                  .cols = view.cols,
                                  .block_rows = target.block_rows,
                                  .block_cols = target.block_cols,
                                  .index_dtype = target.index_dtype,
                                  .value_dtype = view.values.dtype,
                                  .batches = a.count()});
  const EntryOrder order = target.format == TNR_SPARSE_FORMAT_BSR
                               ? make_and_join(context, a, target, builder)
                               : make_in_place(context, a, target, builder);
  return builder.finish(order);
}

}  // namespace tenure
