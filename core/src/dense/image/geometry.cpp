#include "dense/image/geometry.hpp"

#include <cinttypes>

namespace tenure {

WindowGeometry convolution_geometry(const tnr_view& a, const char* a_name, const tnr_view& weight,
                                    const tnr_conv2d_attributes& attributes, const tnr_view& out,
                                    const char* out_name) {
  require_rank(a, a_name, 4);
  require_rank(weight, "weight", 4);
  require_rank(out, out_name, 4);
  WindowGeometry g = {};
  g.images = a.shape[0];
  g.groups = attributes.groups == 0 ? 1 : attributes.groups;
  if (g.groups < 1) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->groups is %" PRId64 " but must be 1 at least",
         g.groups);
  }
  if (a.shape[1] % g.groups != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s.shape[1] is %" PRId64 ", which %" PRId64 " groups do not divide", a_name, a.shape[1],
         g.groups);
  }
  if (weight.shape[0] % g.groups != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "weight.shape[0] is %" PRId64 ", which %" PRId64 " groups do not divide", weight.shape[0],
         g.groups);
  }
  g.channels = a.shape[1] / g.groups;
  g.filters = weight.shape[0] / g.groups;
  require_extent(weight, "weight", 1, g.channels, "the channels of", a_name, " by groups");
  for (unsigned axis = 0; axis < 2; ++axis) {
    g.in[axis] = a.shape[2 + axis];
    g.kernel[axis] = weight.shape[2 + axis];
    if (g.kernel[axis] == 0) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "weight.shape[%u] is 0 but must be 1 at least", 2 + axis);
    }
    place_windows(g, axis, attributes, 1, "weight", a_name);
  }
  require_extent(out, out_name, 0, g.images, "the images of", a_name);
  require_extent(out, out_name, 1, weight.shape[0], "the filters of", "weight");
  require_extent(out, out_name, 2, g.out[kHeight], "the rows at which weight fits into", a_name);
  require_extent(out, out_name, 3, g.out[kWidth], "the columns at which weight fits into", a_name);
  g.a = image_steps(a);
  g.weight = image_steps(weight);
  g.weight_group = g.filters * g.weight.image;
  g.result = image_steps(out);
  return g;
}

}  // namespace tenure
