// The operations of a queue, each in the file of its kind.
#include "cuda/elementwise.hpp"
#include "cuda/queue.hpp"
#include "cuda/reduce.hpp"
#include "cuda/transfer.hpp"
#include "tenure/view.hpp"

namespace tenure::cuda {

void Queue::copy(const Context& context, const tnr_view& a, const tnr_view_mut& out) const {
  if (is_on_device(a) && is_on_device(out.view)) return cuda::copy(*this, a, out);
  transfer(*this, context, a, out);
}

void Queue::cast(const tnr_view& a, const tnr_view_mut& out) const { cuda::cast(*this, a, out); }

void Queue::fill(const tnr_scalar& value, const tnr_view_mut& out) const {
  cuda::fill(*this, value, out);
}

void Queue::unary(tnr_unary_op op, const tnr_view& a, const tnr_view_mut& out) const {
  cuda::unary(*this, op, a, out);
}

void Queue::binary(tnr_binary_op op, const tnr_view& a, const tnr_view& b,
                   const tnr_view_mut& out) const {
  cuda::binary(*this, op, a, b, out);
}

void Queue::binary(tnr_binary_op op, const tnr_view& a, const tnr_scalar& b,
                   const tnr_view_mut& out) const {
  cuda::binary(*this, op, a, b, out);
}

void Queue::binary(tnr_binary_op op, const tnr_scalar& a, const tnr_view& b,
                   const tnr_view_mut& out) const {
  cuda::binary(*this, op, a, b, out);
}

void Queue::ternary(tnr_ternary_op op, const tnr_view& a, const tnr_view& b, const tnr_view& c,
                    const tnr_view_mut& out) const {
  cuda::ternary(*this, op, a, b, c, out);
}

void Queue::compare(tnr_compare_op op, const tnr_view& a, const tnr_view& b,
                    const tnr_view_mut& out) const {
  cuda::compare(*this, op, a, b, out);
}

void Queue::compare(tnr_compare_op op, const tnr_view& a, const tnr_scalar& b,
                    const tnr_view_mut& out) const {
  cuda::compare(*this, op, a, b, out);
}

void Queue::select(const tnr_view& condition, const tnr_view& a, const tnr_view& b,
                   const tnr_view_mut& out) const {
  cuda::select(*this, condition, a, b, out);
}

void Queue::reduce(tnr_reduce_op op, const tnr_view& a, std::uint32_t axes,
                   std::optional<std::uint32_t> ddof, const tnr_view_mut& out, double power) const {
  cuda::reduce(*this, op, a, axes, ddof, out, power);
}

}  // namespace tenure::cuda
