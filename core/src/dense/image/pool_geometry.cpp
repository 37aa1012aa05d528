#include "dense/image/pool_geometry.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "dense/checks.hpp"

namespace tenure {
namespace {

constexpr std::uint32_t kStridedFlags = TNR_POOL2D_COUNT_PADDING | TNR_POOL2D_CEIL;

bool is_adaptive(const tnr_pool2d_attributes& attributes) noexcept {
  return (attributes.flags & TNR_POOL2D_ADAPTIVE) != 0;
}

// Attributes that windows by the extents of `out` cannot take.
void require_none(const std::int64_t* values, unsigned count, const char* field) {
  for (unsigned i = 0; i < count; ++i) {
    if (values[i] != 0) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "attributes->%s[%u] is %" PRId64 " but must be 0, as TNR_POOL2D_ADAPTIVE is set", field,
           i, values[i]);
    }
  }
}

void check_pool_flags(tnr_reduce_op op, const tnr_pool2d_attributes& attributes) {
  if ((attributes.flags & ~kStridedFlags) != 0 && attributes.flags != TNR_POOL2D_ADAPTIVE) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->flags is %#" PRIx32
         " but must be of TNR_POOL2D_COUNT_PADDING and TNR_POOL2D_CEIL, or TNR_POOL2D_ADAPTIVE",
         attributes.flags);
  }
  if (op == TNR_REDUCE_OP_MAX && (attributes.flags & TNR_POOL2D_COUNT_PADDING) != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->flags is %#" PRIx32 " but TNR_POOL2D_COUNT_PADDING is of a MEAN",
         attributes.flags);
  }
  if (!is_adaptive(attributes)) return;
  require_none(attributes.kernel, 2, "kernel");
  require_none(attributes.strides, 2, "strides");
  require_none(attributes.padding, 4, "padding");
  require_none(attributes.dilations, 2, "dilations");
}

WindowGeometry pool_geometry(tnr_reduce_op op, const tnr_view& a,
                             const tnr_pool2d_attributes& attributes, const tnr_view& out,
                             const char* out_name) {
  require_rank(a, "a", 4);
  require_rank(out, out_name, 4);
  check_pool_flags(op, attributes);
  WindowGeometry g = {};
  g.images = a.shape[0];
  g.groups = a.shape[1];
  g.channels = g.filters = 1;
  g.a = image_steps(a);
  g.result = image_steps(out);
  require_extent(out, out_name, 0, g.images, "the images of", "a");
  require_extent(out, out_name, 1, g.groups, "the channels of", "a");
  static constexpr const char* kFits[] = {"the rows at which a window fits into",
                                          "the columns at which a window fits into"};
  for (const unsigned axis : {kHeight, kWidth}) {
    g.in[axis] = a.shape[2 + axis];
    g.out[axis] = out.shape[2 + axis];
    g.kernel[axis] = g.strides[axis] = g.dilations[axis] = 1;
    if (is_adaptive(attributes)) continue;
    g.kernel[axis] =
        given_or(attributes.kernel[axis], std::max<std::int64_t>(g.in[axis], 1), "kernel", axis);
    place_windows(g, axis, attributes, g.kernel[axis], "kernel", "a", rounding_of(attributes));
    require_extent(out, out_name, 2 + axis, g.out[axis], kFits[axis], "a");
  }
  set_unused_steps(g);
  return g;
}

}  // namespace

CheckedPool checked_pool(tnr_reduce_op op, const tnr_view& a,
                         const tnr_pool2d_attributes& attributes, const tnr_view& out,
                         const char* out_name) {
  if (op < 1 || static_cast<unsigned>(op) > kernels::kReduceCount) refuse_code("reduction", op);
  const WindowGeometry geometry = pool_geometry(op, a, attributes, out, out_name);
  const char* const name = op == TNR_REDUCE_OP_MAX ? "max_pool2d" : "avg_pool2d";
  if (op != TNR_REDUCE_OP_MAX && op != TNR_REDUCE_OP_MEAN) {
    fail(TNR_STATUS_UNSUPPORTED, "pool2d does not take the reduction %s",
         kernels::kReduceRows[op - 1].name);
  }
  const tnr_dtype computed =
      a.dtype == TNR_DTYPE_F16 || a.dtype == TNR_DTYPE_BF16 ? TNR_DTYPE_F32 : a.dtype;
  const unsigned type = require_image_type(name, computed);
  require_dtype(out, out_name, a.dtype, "a.dtype is");
  return {geometry, is_adaptive(attributes) ? WindowSpacing::kAdaptive : WindowSpacing::kByStrides,
          computed, type};
}

void require_elements(const CheckedPool& pool, const char* out_name) {
  static constexpr const char* kNames[] = {"row", "column"};
  for (const unsigned axis : {kHeight, kWidth}) {
    const std::optional<std::int64_t> empty = first_empty_window(pool.geometry, pool.spacing, axis);
    if (!empty) continue;
    fail(TNR_STATUS_INVALID_ARGUMENT, "the windows of %s %" PRId64 " of %s have no element of a",
         kNames[axis], *empty, out_name);
  }
}

bool is_global(const CheckedPool& pool) noexcept {
  const WindowGeometry& g = pool.geometry;
  if (g.out[kHeight] != 1 || g.out[kWidth] != 1) return false;
  if (pool.spacing == WindowSpacing::kAdaptive) return true;
  return std::ranges::all_of(std::array{kHeight, kWidth}, [&](unsigned axis) {
    return g.padding[axis] == 0 && g.kernel[axis] == g.in[axis] &&
           (g.dilations[axis] == 1 || g.kernel[axis] == 1);
  });
}

void check_pool2d(tnr_reduce_op op, const tnr_view& a, const tnr_pool2d_attributes& attributes,
                  const tnr_view& out) {
  const CheckedPool pool = checked_pool(op, a, attributes, out);
  if (!is_empty(out)) require_elements(pool);
}

}  // namespace tenure
