// Dropout: a dense matrix to entries, some of them dropped at random.
#include <cinttypes>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "dense/random/places.hpp"
#include "sparse/builder.hpp"
#include "sparse/from_dense/dense_search.hpp"
#include "sparse/from_dense/entry_search.hpp"
#include "sparse/from_dense/from_dense.hpp"
#include "sparse/from_dense/predicate.hpp"
#include "sparse/kernel_view.hpp"
#include "sparse/traffic.hpp"
#include "tenure/sparse.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

Dropout dropout_of(double probability, std::uint64_t seed, tnr_dtype dtype) {
  if (!(probability >= 0 && probability < 1)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "probability is %g but must be at least 0 and below 1",
         probability);
  }
  const unsigned type = type_index(dtype);
  if (type > static_cast<unsigned>(kernels::Type::kBF16)) refuse_dtype("dropout", dtype);
  tnr_scalar factor{};
  factor.dtype = TNR_DTYPE_F64;
  const double scale = 1 / (1 - probability);
  std::memcpy(factor.bytes, &scale, sizeof scale);
  return {
      .chance = {seed, bound_of_words(probability)},
      .multiply = Operation(kernels::binary_kernels()[TNR_BINARY_OP_MUL - 1][type]),
      .factor = to_element(factor, dtype, "1 / (1 - probability)"),
  };
}

}  // namespace

void check_dense_matrix(const tnr_view& dense) {
  check_view(dense, "dense");
  if (dense.rank == 2) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "dense.rank is %" PRIu32 " but must be 2", dense.rank);
}

tnr_dtype checked_index_dtype(tnr_dtype dtype) {
  if (dtype == 0) return TNR_DTYPE_I32;
  if (dtype != TNR_DTYPE_I32 && dtype != TNR_DTYPE_I64) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->index_dtype is %s but must be i32 or i64",
         dtype_name(dtype));
  }
  return dtype;
}

SparseToken sparse_from_dense_dropout(const Context& context, const tnr_view& dense,
                                      double probability, std::uint64_t seed,
                                      tnr_dtype index_dtype) {
  check_dense_matrix(dense);
  const tnr_dtype index = checked_index_dtype(index_dtype);
  const Dropout dropout = dropout_of(probability, seed, dense.dtype);
  Pins pins;
  pins.add(dense, "dense");
  SparseBuilder builder(context, {.format = TNR_SPARSE_FORMAT_CSR,
                                  .rows = dense.shape[0],
                                  .cols = dense.shape[1],
                                  .index_dtype = index,
                                  .value_dtype = dense.dtype});
  const DenseSearch search = {
      .rows = dense.shape[0],
      .columns = dense.shape[1],
      .elements = DenseElements(dense),
      .mask = nullptr,
      .predicate = predicate_of({}, dense.dtype),
      .index_type = index_type(index),
      .dropout = &dropout,
  };
  // The first offset is 0, and where there are no elements all of them are.
  const std::int64_t bytes = search.entry_count() * search.elements.width();
  const auto zeros = static_cast<std::size_t>(bytes != 0 ? 1 : search.rows + 1);
  std::memset(builder.major(), 0, zeros * element_size(index));
  if (bytes == 0) {
    builder.allocate_entries(0);
  } else {
    search_entries<DenseSearcher>(context, search, bytes, builder, builder.major());
  }
  return count_made(TNR_OPERATION_SPARSE_FROM_DENSE, element_bytes(dense),
                    builder.finish(EntryOrder::rising()));
}

}  // namespace tenure
