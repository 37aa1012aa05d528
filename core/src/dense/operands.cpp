#include "dense/operands.hpp"

namespace tenure {
namespace {

bool has_shape_of(const tnr_view& view, const tnr_view& out) noexcept {
  if (view.rank != out.rank) return false;
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    if (view.shape[axis] != out.shape[axis]) return false;
  }
  return true;
}

}  // namespace

std::int64_t Operands::check_output(const tnr_view_mut& out, const tnr_device& device) {
  check_view_mut(out, "out", device);
  return dense_count(out.view);
}

void Operands::add_stepwise(const tnr_view& view, const char* name) {
  check_view(view, name, out_.device);
  require_broadcast(view, name, out_);
  pins_.add(view, name);
  require_alias(out_, view, name, SameView::kAllowed);
  const auto width_bytes = static_cast<std::int64_t>(element_size(view.dtype));
  add_input(&view, view.data, width_bytes, width_bytes);
  read_bytes_ += element_bytes(view);
  if (!(has_shape_of(view, out_) && dense_count(view) != 0)) flat_.count = 0;
}

}  // namespace tenure
