// Views of matrices over arrays that a caller lends.
#include <cinttypes>
#include <cstdint>

#include "tenure/dtype.hpp"
#include "tenure/sparse.hpp"
#include "tenure/status.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

// All of the array; a dtype without a size is refused with the view.
tnr_view lend_whole(const LentArray& array, tnr_dtype dtype, const char* name) {
  const std::size_t width_bytes = element_size(dtype);
  if (width_bytes != 0 && array.size_bytes % width_bytes != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s_bytes is %zu but must be a multiple of %zu, as of %s",
         name, array.size_bytes, width_bytes, dtype_name(dtype));
  }
  const auto count =
      static_cast<std::int64_t>(width_bytes != 0 ? array.size_bytes / width_bytes : 0);
  return make_view(array.data, array.size_bytes, 0, dtype, 1, &count, nullptr);
}

}  // namespace

tnr_sparse_view sparse_lend(tnr_sparse_format format, std::int64_t rows, std::int64_t cols,
                            tnr_dtype index_dtype, LentArray major, LentArray minor,
                            tnr_dtype dtype, LentArray values) {
  if (format == TNR_SPARSE_FORMAT_BSR) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "format is BSR but must be COO, CSR or CSC");
  }
  const tnr_sparse_view lent = {
      .struct_size = sizeof(tnr_sparse_view),
      .owner = 0,
      .format = format,
      .flags = 0,
      .rows = rows,
      .cols = cols,
      .block_rows = 1,
      .block_cols = 1,
      .major = lend_whole(major, index_dtype, "major"),
      .minor = lend_whole(minor, index_dtype, "minor"),
      .values = lend_whole(values, dtype, "values"),
      .batch_offsets = {},
  };
  check_sparse(lent, "");
  return lent;
}

}  // namespace tenure
