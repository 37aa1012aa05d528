// Sparse matrices in C: unwrap, call, wrap.
#include "tenure/sparse.hpp"

#include <vector>

#include "attributes.hpp"
#include "sparse/sparse_view.hpp"
#include "tenure/part_name.hpp"
#include "timed.hpp"

using tenure::capi::attributes_of;
using tenure::capi::check_attributes;
using tenure::capi::context_of;
using tenure::capi::deref;
using tenure::capi::guarded;
using tenure::capi::guarded_pointer;
using tenure::capi::handle_of;
using tenure::capi::read_reduce_attributes;
using tenure::capi::read_sparse;
using tenure::capi::release_handle;
using tenure::capi::require_zero;
using tenure::capi::retain_handle;
using tenure::capi::run;
using tenure::capi::run_pointer;
using tenure::capi::sized_attributes_of;
using tenure::capi::token_of;
using tenure::capi::write_sized;

namespace {

tnr_sparse_view_mut read_view_mut(const tnr_sparse_view_mut* view, const char* name) {
  return {read_sparse(view == nullptr ? nullptr : &view->view, name)};
}

std::vector<tnr_sparse_view> read_parts(const tnr_sparse_view* const* parts, std::uint32_t count) {
  if (count != 0) deref(parts, "parts");
  std::vector<tnr_sparse_view> views;
  views.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    views.push_back(read_sparse(parts[i], tenure::PartName(i)));
  }
  return views;
}

tnr_sparse* wrap_sparse(std::uint64_t token) noexcept { return handle_of<tnr_sparse>(token); }

tenure::SparseOptions read_options(tnr_sparse_format format,
                                   const tnr_sparse_from_dense_attributes* attributes) {
  const tnr_sparse_from_dense_attributes given = sized_attributes_of(attributes);
  require_zero(given.reserved, "reserved");
  const bool has_mask = given.predicate == TNR_SPARSE_PREDICATE_MASK;
  if (!has_mask && given.mask != nullptr) {
    tenure::fail(TNR_STATUS_INVALID_ARGUMENT,
                 "attributes->mask is given but attributes->predicate is not MASK");
  }
  return {.format = format,
          .index_dtype = given.index_dtype,
          .predicate = given.predicate,
          .flags = given.flags,
          .block_rows = given.block_rows,
          .block_cols = given.block_cols,
          .threshold = given.threshold,
          .mask = has_mask ? deref(given.mask, "attributes->mask") : tnr_view{}};
}
tenure::SparseOptions read_options(tnr_sparse_format format,
                                   const tnr_sparse_convert_attributes* attributes) {
  const tnr_sparse_convert_attributes given = sized_attributes_of(attributes);
  return {.format = format,
          .index_dtype = given.index_dtype,
          .flags = given.flags,
          .block_rows = given.block_rows,
          .block_cols = given.block_cols};
}
tenure::SparseOptions read_options(const tnr_sparse_prune_attributes* attributes) {
  const tnr_sparse_prune_attributes given = sized_attributes_of(attributes);
  return {.predicate = given.predicate, .flags = given.flags, .threshold = given.threshold};
}
}  // namespace

tnr_status tnr_sparse_release(tnr_sparse* matrix) noexcept {
  return release_handle(matrix, tenure::sparse_release);
}

tnr_status tnr_sparse_lend(tnr_sparse_format format, int64_t rows, int64_t cols,
                           tnr_dtype index_dtype, const void* major, size_t major_bytes,
                           const void* minor, size_t minor_bytes, tnr_dtype dtype,
                           const void* values, size_t values_bytes, tnr_sparse_view* out) noexcept {
  return guarded([&] {
    write_sized(out, "out",
                tenure::sparse_lend(format, rows, cols, index_dtype, {major, major_bytes},
                                    {minor, minor_bytes}, dtype, {values, values_bytes}));
  });
}

tnr_sparse* tnr_sparse_create(const tnr_sparse_view* parts) noexcept {
  return guarded_pointer(
      [&] { return wrap_sparse(tenure::sparse_create(read_sparse(parts, "parts"))); });
}

tnr_sparse* tnr_sparse_retain(tnr_sparse* matrix) noexcept {
  return retain_handle(matrix, tenure::sparse_retain);
}

tnr_status tnr_sparse_view_of(const tnr_sparse* matrix, tnr_sparse_view* out) noexcept {
  return guarded([&] { write_sized(out, "out", tenure::sparse_view(token_of(matrix))); });
}

tnr_status tnr_sparse_parts(const tnr_sparse* matrix, tnr_blob** major, tnr_blob** minor,
                            tnr_blob** values) noexcept {
  return guarded([&] {
    tnr_blob*& major_out = deref(major, "major");
    tnr_blob*& minor_out = deref(minor, "minor");
    tnr_blob*& values_out = deref(values, "values");
    const tenure::SparseParts parts = tenure::sparse_parts(token_of(matrix));
    major_out = handle_of<tnr_blob>(parts.major);
    minor_out = handle_of<tnr_blob>(parts.minor);
    values_out = handle_of<tnr_blob>(parts.values);
  });
}

tnr_status tnr_sparse_batch_offsets(const tnr_sparse* matrix, tnr_blob** offsets) noexcept {
  return guarded([&] {
    tnr_blob*& out = deref(offsets, "offsets");
    out = handle_of<tnr_blob>(tenure::sparse_batch_offsets(token_of(matrix)));
  });
}

tnr_status tnr_sparse_batch_at(const tnr_sparse_view* batch, std::int64_t index,
                               tnr_sparse_view* out) noexcept {
  return guarded([&] {
    write_sized(out, "out", tenure::sparse_batch_at(read_sparse(batch, "batch"), index));
  });
}

tnr_status tnr_sparse_check(const tnr_sparse_view* view) noexcept {
  return guarded([&] { tenure::check_matrix(read_sparse(view, "view"), ""); });
}

tnr_status tnr_sparse_check_mut(const tnr_sparse_view_mut* view) noexcept {
  return guarded([&] { tenure::check_matrix_mut(read_view_mut(view, "view"), ""); });
}

tnr_sparse* tnr_sparse_convert(tnr_context* context, tnr_sparse_format format,
                               const tnr_sparse_view* a,
                               const tnr_sparse_convert_attributes* attributes) noexcept {
  return run_pointer(TNR_OPERATION_SPARSE_CONVERT, [&] {
    return wrap_sparse(tenure::sparse_convert(context_of(context), read_sparse(a, "a"),
                                              read_options(format, attributes)));
  });
}

tnr_sparse* tnr_sparse_coalesce(tnr_context* context, tnr_sparse_combine combine,
                                const tnr_sparse_view* a,
                                const tnr_extension* attributes) noexcept {
  return run_pointer(TNR_OPERATION_SPARSE_COALESCE, [&] {
    check_attributes(attributes);
    return wrap_sparse(tenure::sparse_coalesce(context_of(context), read_sparse(a, "a"), combine));
  });
}

tnr_sparse* tnr_sparse_prune(tnr_context* context, const tnr_sparse_view* a,
                             const tnr_sparse_prune_attributes* attributes) noexcept {
  return run_pointer(TNR_OPERATION_SPARSE_PRUNE, [&] {
    return wrap_sparse(
        tenure::sparse_prune(context_of(context), read_sparse(a, "a"), read_options(attributes)));
  });
}

tnr_sparse* tnr_sparse_top_k(tnr_context* context, tnr_sparse_order order, const tnr_sparse_view* a,
                             std::int64_t k, const tnr_extension* attributes) noexcept {
  return run_pointer(TNR_OPERATION_SPARSE_PRUNE, [&] {
    check_attributes(attributes);
    return wrap_sparse(tenure::sparse_top_k(context_of(context), read_sparse(a, "a"), k, order));
  });
}

tnr_sparse* tnr_sparse_select(tnr_context* context, const tnr_sparse_view* a, const tnr_view* rows,
                              const tnr_view* cols, const tnr_extension* attributes) noexcept {
  return run_pointer(TNR_OPERATION_SPARSE_CONVERT, [&] {
    check_attributes(attributes);
    return wrap_sparse(tenure::sparse_select(context_of(context), read_sparse(a, "a"), rows, cols));
  });
}

tnr_sparse* tnr_sparse_slice(tnr_context* context, const tnr_sparse_view* a, std::int64_t first_row,
                             std::int64_t row_count, std::int64_t first_col, std::int64_t col_count,
                             const tnr_extension* attributes) noexcept {
  return run_pointer(TNR_OPERATION_SPARSE_CONVERT, [&] {
    check_attributes(attributes);
    return wrap_sparse(tenure::sparse_slice(context_of(context), read_sparse(a, "a"), first_row,
                                            row_count, first_col, col_count));
  });
}

tnr_sparse* tnr_sparse_concat(tnr_context* context, tnr_sparse_join join,
                              const tnr_sparse_view* const* parts, std::uint32_t part_count,
                              const tnr_extension* attributes) noexcept {
  return run_pointer(TNR_OPERATION_SPARSE_CONCAT, [&] {
    check_attributes(attributes);
    const std::vector<tnr_sparse_view> views = read_parts(parts, part_count);
    return wrap_sparse(tenure::sparse_concat(context_of(context), join, views.data(), part_count));
  });
}

tnr_sparse* tnr_sparse_kron(tnr_context* context, const tnr_sparse_view* a,
                            const tnr_sparse_view* b, const tnr_extension* attributes) noexcept {
  return run_pointer(TNR_OPERATION_SPARSE_KRON, [&] {
    check_attributes(attributes);
    return wrap_sparse(
        tenure::sparse_kron(context_of(context), read_sparse(a, "a"), read_sparse(b, "b")));
  });
}

tnr_sparse* tnr_sparse_triangular(tnr_context* context, tnr_triangle part, const tnr_sparse_view* a,
                                  const tnr_triangle_attributes* attributes) noexcept {
  return run_pointer(TNR_OPERATION_SPARSE_TRIANGULAR, [&] {
    const tnr_triangle_attributes given = sized_attributes_of(attributes);
    return wrap_sparse(
        tenure::sparse_triangular(context_of(context), part, read_sparse(a, "a"), given.diagonal));
  });
}

tnr_sparse* tnr_sparse_from_dense_top_k(tnr_context* context, tnr_sparse_order order,
                                        const tnr_view* dense, std::int64_t k,
                                        const tnr_sparse_top_k_attributes* attributes) noexcept {
  return run_pointer(TNR_OPERATION_SPARSE_FROM_DENSE, [&] {
    return wrap_sparse(tenure::sparse_from_dense_top_k(context_of(context), deref(dense, "dense"),
                                                       k, order,
                                                       attributes_of(attributes).index_dtype));
  });
}

tnr_sparse* tnr_sparse_from_dense_dropout(
    tnr_context* context, const tnr_view* dense, double probability, std::uint64_t seed,
    const tnr_sparse_dropout_attributes* attributes) noexcept {
  return run_pointer(TNR_OPERATION_SPARSE_FROM_DENSE, [&] {
    return wrap_sparse(tenure::sparse_from_dense_dropout(context_of(context), deref(dense, "dense"),
                                                         probability, seed,
                                                         attributes_of(attributes).index_dtype));
  });
}

tnr_sparse* tnr_sparse_from_dense(tnr_context* context, tnr_sparse_format format,
                                  const tnr_view* dense,
                                  const tnr_sparse_from_dense_attributes* attributes) noexcept {
  return run_pointer(TNR_OPERATION_SPARSE_FROM_DENSE, [&] {
    return wrap_sparse(tenure::sparse_from_dense(context_of(context), deref(dense, "dense"),
                                                 read_options(format, attributes)));
  });
}

tnr_sparse* tnr_sparse_from_matmul(tnr_context* context, const tnr_scalar* alpha, const tnr_view* a,
                                   const tnr_view* b,
                                   const tnr_sparse_from_matmul_attributes* attributes) noexcept {
  return run_pointer(TNR_OPERATION_SPARSE_FROM_MATMUL, [&] {
    const tnr_sparse_from_matmul_attributes given = sized_attributes_of(attributes);
    return wrap_sparse(tenure::sparse_from_matmul(context_of(context), deref(alpha, "alpha"),
                                                  deref(a, "a"), deref(b, "b"), given));
  });
}

tnr_status tnr_sparse_to_dense(tnr_context* context, const tnr_sparse_view* a,
                               const tnr_extension* attributes, const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_SPARSE_TO_DENSE, [&] {
    check_attributes(attributes);
    tenure::sparse_to_dense(context_of(context), read_sparse(a, "a"), deref(out, "out"));
  });
}

tnr_sparse* tnr_sparse_product(tnr_context* context, const tnr_sparse_view* a,
                               const tnr_sparse_view* b, const tnr_extension* attributes) noexcept {
  return run_pointer(TNR_OPERATION_SPARSE_PRODUCT, [&] {
    check_attributes(attributes);
    return wrap_sparse(
        tenure::sparse_product(context_of(context), read_sparse(a, "a"), read_sparse(b, "b")));
  });
}

tnr_sparse* tnr_sparse_product_masked(tnr_context* context, const tnr_sparse_view* a,
                                      const tnr_sparse_view* b, const tnr_sparse_view* mask,
                                      const tnr_extension* attributes) noexcept {
  return run_pointer(TNR_OPERATION_SPARSE_PRODUCT, [&] {
    check_attributes(attributes);
    return wrap_sparse(tenure::sparse_product_masked(
        context_of(context), read_sparse(a, "a"), read_sparse(b, "b"), read_sparse(mask, "mask")));
  });
}

tnr_status tnr_sparse_matmul(tnr_context* context, tnr_orientation orientation,
                             const tnr_scalar* alpha, const tnr_sparse_view* a, const tnr_view* b,
                             const tnr_scalar* beta, const tnr_extension* attributes,
                             const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_SPARSE_MATMUL, [&] {
    check_attributes(attributes);
    tenure::sparse_matmul(context_of(context), deref(alpha, "alpha"), read_sparse(a, "a"),
                          orientation, deref(b, "b"), deref(beta, "beta"), deref(out, "out"));
  });
}

tnr_status tnr_sparse_sddmm(tnr_context* context, const tnr_scalar* alpha, const tnr_sparse_view* a,
                            const tnr_view* x, const tnr_view* y,
                            const tnr_sparse_sddmm_attributes* attributes,
                            const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_SPARSE_SDDMM, [&] {
    tenure::sparse_sddmm(context_of(context), deref(alpha, "alpha"), read_sparse(a, "a"),
                         attributes_of(attributes).flags, deref(x, "x"), deref(y, "y"),
                         deref(out, "out"));
  });
}

tnr_sparse* tnr_sparse_binary(tnr_context* context, tnr_binary_op op, const tnr_sparse_view* a,
                              const tnr_sparse_view* b, const tnr_extension* attributes) noexcept {
  return run_pointer(TNR_OPERATION_SPARSE_BINARY, [&] {
    check_attributes(attributes);
    return wrap_sparse(
        tenure::sparse_binary(context_of(context), op, read_sparse(a, "a"), read_sparse(b, "b")));
  });
}

tnr_status tnr_sparse_accumulate(tnr_context* context, const tnr_sparse_view* a,
                                 const tnr_extension* attributes,
                                 const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_SPARSE_ACCUMULATE, [&] {
    check_attributes(attributes);
    tenure::sparse_accumulate(context_of(context), read_sparse(a, "a"), deref(out, "out"));
  });
}

tnr_sparse* tnr_sparse_unary(tnr_context* context, tnr_unary_op op, const tnr_sparse_view* a,
                             const tnr_extension* attributes) noexcept {
  return run_pointer(TNR_OPERATION_UNARY, [&] {
    check_attributes(attributes);
    return wrap_sparse(tenure::sparse_unary(context_of(context), op, read_sparse(a, "a")));
  });
}

tnr_status tnr_sparse_scale(tnr_context* context, const tnr_view* factors, std::uint32_t axis,
                            const tnr_extension* attributes,
                            const tnr_sparse_view_mut* a) noexcept {
  return run(TNR_OPERATION_SPARSE_SCALE, [&] {
    check_attributes(attributes);
    tenure::sparse_scale(context_of(context), deref(factors, "factors"), axis,
                         read_view_mut(a, "a"));
  });
}

tnr_status tnr_sparse_softmax(tnr_context* context, const tnr_extension* attributes,
                              const tnr_sparse_view_mut* a) noexcept {
  return run(TNR_OPERATION_SPARSE_SOFTMAX, [&] {
    check_attributes(attributes);
    tenure::sparse_softmax(context_of(context), read_view_mut(a, "a"));
  });
}

tnr_status tnr_sparse_reduce(tnr_context* context, tnr_reduce_op op, const tnr_sparse_view* a,
                             std::uint32_t axes, const tnr_reduce_attributes* attributes,
                             const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_SPARSE_REDUCE, [&] {
    const tnr_reduce_attributes given = read_reduce_attributes(attributes);
    require_zero(given.ddof, "ddof");
    if (given.power != 0) {
      tenure::fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->power is %g but must be 0",
                   given.power);
    }
    tenure::sparse_reduce(context_of(context), op, read_sparse(a, "a"), axes, deref(out, "out"));
  });
}

tnr_status tnr_sparse_norm(tnr_context* context, tnr_sparse_norm_kind kind,
                           const tnr_sparse_view* a, const tnr_extension* attributes,
                           double* out) noexcept {
  return run(TNR_OPERATION_SPARSE_REDUCE, [&] {
    check_attributes(attributes);
    double& result = deref(out, "out");
    result = tenure::sparse_norm(context_of(context), kind, read_sparse(a, "a"));
  });
}

tnr_status tnr_sparse_diagonal(tnr_context* context, const tnr_sparse_view* a,
                               const tnr_extension* attributes, const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_SPARSE_REDUCE, [&] {
    check_attributes(attributes);
    const tenure::ContextUse use = context_of(context);
    tenure::sparse_diagonal(read_sparse(a, "a"), deref(out, "out"));
  });
}

tnr_status tnr_sparse_solve(tnr_context* context, const tnr_sparse_view* a, const tnr_view* b,
                            const tnr_sparse_solve_attributes* attributes,
                            const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_SPARSE_SOLVE, [&] {
    tenure::sparse_solve(context_of(context), attributes_of(attributes).flags, read_sparse(a, "a"),
                         deref(b, "b"), deref(out, "out"));
  });
}
