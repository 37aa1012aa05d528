// Products of dense matrices whose result is sparse: some rows are computed at a time, and searched
// as a dense matrix is.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "dense/product/matmul.hpp"
#include "dense/product/product_types.hpp"
#include "dense/scalar.hpp"
#include "memory/scratch.hpp"
#include "sparse/builder.hpp"
#include "sparse/from_dense/dense_search.hpp"
#include "sparse/from_dense/entry_search.hpp"
#include "sparse/from_dense/from_dense.hpp"
#include "sparse/from_dense/predicate.hpp"
#include "sparse/kernel_view.hpp"
#include "sparse/traffic.hpp"
#include "tenure/shape.hpp"
#include "tenure/sparse.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Rows that are computed at a time: the right factor is packed again for each such block. A block
// has kRowsBytes, which a last cache holds, but no fewer rows than pay for packing.
constexpr std::int64_t kLeastRows = 512;
constexpr std::int64_t kRowsBytes = std::int64_t{8} << 20;

// The number of entries is unknown before they are computed. One in this many elements is a guess,
// which decides which memory is recycled.
constexpr std::int64_t kElementsOfEntry = 4;

constexpr tnr_scalar kNothing = {.dtype = TNR_DTYPE_U8, .reserved = 0, .bytes = {0}};

kernels::Predicate predicate_of(const tnr_sparse_from_matmul_attributes& attributes,
                                tnr_dtype dtype) {
  if (attributes.predicate == TNR_SPARSE_PREDICATE_MASK) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->predicate is MASK, but a mask is for a dense matrix");
  }
  SparseOptions options;
  options.predicate = attributes.predicate;
  options.flags = attributes.flags;
  options.threshold = attributes.threshold;
  return tenure::predicate_of(options, dtype);
}

void check_factors(const tnr_view& a, const tnr_view& b) {
  check_view(a, "a");
  check_view(b, "b");
  require_rank(a, "a", 2);
  require_rank(b, "b", 2);
  if (a.shape[1] != b.shape[0]) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "b.shape[0] is %" PRId64 " but must be %" PRId64
         ", the last extent of a: a has shape %s, b %s",
         b.shape[0], a.shape[1], shape_text(a.rank, a.shape).text,
         shape_text(b.rank, b.shape).text);
  }
  std::int64_t elements;
  if (__builtin_mul_overflow(a.shape[0], b.shape[1], &elements)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "the product has more elements than 64 bits count: a has shape %s, b %s",
         shape_text(a.rank, a.shape).text, shape_text(b.rank, b.shape).text);
  }
}

// Rows of the product, in memory of the call's own.
class ProductRows {
 public:
  // No rows are computed here: all that does not depend on them is refused.
  ProductRows(const Context& context, const tnr_scalar& alpha, const tnr_view& a, const tnr_view& b,
              const tnr_matmul_attributes& attributes, tnr_dtype dtype)
      : context_(context),
        alpha_(alpha),
        a_(a),
        b_(b),
        attributes_(attributes),
        dtype_(dtype),
        columns_(b.shape[1]),
        width_(static_cast<std::int64_t>(element_size(dtype))) {
    compute(nullptr, 0, 0);
    if (columns_ == 0) return;
    most_ = std::min(a.shape[0], std::max(kLeastRows, kRowsBytes / width_ / columns_));
  }

  // Rows that are computed at a time.
  [[nodiscard]] std::int64_t most() const noexcept { return most_; }
  [[nodiscard]] std::int64_t bytes() const noexcept { return a_.shape[0] * columns_ * width_; }

  // Calls body(first row, search) for all rows, in their order.
  template <class Body>
  void for_each_block(kernels::Predicate predicate, kernels::IndexType index_type,
                      const Body& body) const {
    const Scratch memory(most_ * columns_, width_);
    for (std::int64_t row = 0; row < a_.shape[0]; row += most_) {
      const std::int64_t rows = std::min(most_, a_.shape[0] - row);
      const tnr_view block = compute(memory.data(), row, rows);
      body(row, DenseSearch{.rows = rows,
                            .columns = columns_,
                            .elements = DenseElements(block),
                            .mask = nullptr,
                            .predicate = predicate,
                            .index_type = index_type});
    }
  }

 private:
  tnr_view compute(Byte* memory, std::int64_t row, std::int64_t rows) const {
    const std::int64_t shape[] = {rows, columns_};
    const tnr_view_mut out = {make_view(memory, static_cast<std::size_t>(rows * columns_ * width_),
                                        0, dtype_, 2, shape, nullptr)};
    static_cast<void>(multiply(context_, alpha_, slice(a_, 0, row, row + rows, 1), b_, nullptr,
                               kNothing, out, attributes_));
    return out.view;
  }

  const Context& context_;
  const tnr_scalar& alpha_;
  const tnr_view& a_;
  const tnr_view& b_;
  const tnr_matmul_attributes& attributes_;
  tnr_dtype dtype_;
  std::int64_t columns_;
  std::int64_t width_;
  std::int64_t most_ = 0;
};

// Where there is no memory that takes as many entries as come, they are counted first.
void search_blocks(const Context& context, const ProductRows& product,
                   const kernels::Predicate& predicate, kernels::IndexType index_type,
                   std::int64_t entry_count, SparseBuilder& builder) {
  const Stores stores = stores_for(product.bytes());
  const auto write = [&](std::int64_t capacity) {
    std::int64_t count = 0;
    product.for_each_block(predicate, index_type, [&](std::int64_t row, const DenseSearch& search) {
      const EntryArrays arrays =
          arrays_of(builder, builder.major() + row * index_width(index_type), stores);
      count = search_behind<DenseSearcher>(context, search, arrays, builder, capacity, count);
    });
    return count;
  };
  const bool is_written = builder.fits_reserved([&] {
    const std::int64_t capacity = max_count(entry_count, builder);
    if (!builder.reserve_entries(capacity, capacity / kElementsOfEntry)) return false;
    builder.trim_entries(write(capacity));
    return true;
  });
  if (is_written) return;
  std::int64_t count = 0;
  product.for_each_block(predicate, index_type, [&](std::int64_t, const DenseSearch& search) {
    count += count_chunks<DenseSearcher>(context, search)[DenseSearcher::chunk_count(search)];
  });
  builder.allocate_entries(count);
  static_cast<void>(write(count));
}

}  // namespace

SparseToken sparse_from_matmul(const Context& context, const tnr_scalar& alpha, const tnr_view& a,
                               const tnr_view& b,
                               const tnr_sparse_from_matmul_attributes& attributes) {
  check_factors(a, b);
  const tnr_dtype index = checked_index_dtype(attributes.index_dtype);
  const tnr_dtype dtype = kFactorDtypes[factor_type(a.dtype)].result;
  if (width_index(dtype) > static_cast<unsigned>(kernels::Width::k8)) {
    fail(TNR_STATUS_UNSUPPORTED, "from matmul does not take %s", dtype_name(dtype));
  }
  const kernels::Predicate predicate = predicate_of(attributes, dtype);
  Pins pins;
  pins.add(a, "a");
  pins.add(b, "b");
  const tnr_matmul_attributes epilogue = {.struct_size = sizeof epilogue,
                                          .bias = attributes.bias,
                                          .activation = attributes.activation,
                                          .flags = 0,
                                          .low = 0,
                                          .high = 0};
  const ProductRows product(context, alpha, a, b, epilogue, dtype);
  const std::int64_t rows = a.shape[0];
  SparseBuilder builder(context, {.format = TNR_SPARSE_FORMAT_CSR,
                                  .rows = rows,
                                  .cols = b.shape[1],
                                  .index_dtype = index,
                                  .value_dtype = dtype});
  // The first offset is 0, and where there are no elements all of them are.
  const std::int64_t entry_count = rows * b.shape[1];
  const auto zeros = static_cast<std::size_t>(entry_count != 0 ? 1 : rows + 1);
  std::memset(builder.major(), 0, zeros * element_size(index));
  if (entry_count == 0) {
    builder.allocate_entries(0);
  } else if (product.most() == rows) {
    product.for_each_block(
        predicate, index_type(index), [&](std::int64_t, const DenseSearch& search) {
          search_entries<DenseSearcher>(context, search, product.bytes(), builder, builder.major());
        });
  } else {
    search_blocks(context, product, predicate, index_type(index), entry_count, builder);
  }
  const std::uint64_t bias_bytes = attributes.bias == nullptr ? 0 : element_bytes(*attributes.bias);
  return count_made(TNR_OPERATION_SPARSE_FROM_MATMUL,
                    entry_count == 0 ? 0 : element_bytes(a) + element_bytes(b) + bias_bytes,
                    builder.finish(EntryOrder::rising()));
}

}  // namespace tenure
