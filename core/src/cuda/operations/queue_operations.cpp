// The operations of a queue, each in the file of its kind.
#include "cuda/operations/elementwise.hpp"
#include "cuda/operations/indexed.hpp"
#include "cuda/operations/normalize.hpp"
#include "cuda/operations/reduce.hpp"
#include "cuda/operations/transfer.hpp"
#include "cuda/queue.hpp"
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

void Queue::normalize(tnr_normalize_op op, const tnr_view& a, std::uint32_t axes,
                      const tnr_normalize_attributes& attributes, const tnr_view_mut& out) const {
  cuda::normalize(*this, op, a, axes, attributes, out);
}

void Queue::take(const tnr_view& a, std::uint32_t axis, const tnr_view& indices,
                 const tnr_view_mut& out) const {
  const IndexedViews views = {a, "a", out.view, "out", indices, axis};
  cuda::take(*this, views, IndexedAxes::Names::kRows, out);
}

void Queue::gather(const tnr_view& a, std::uint32_t axis, const tnr_view& indices,
                   const tnr_view_mut& out) const {
  const IndexedViews views = {a, "a", out.view, "out", indices, axis};
  cuda::take(*this, views, IndexedAxes::Names::kElements, out);
}

void Queue::put(tnr_binary_op op, const tnr_view& a, std::uint32_t axis, const tnr_view& indices,
                const tnr_view_mut& out) const {
  const IndexedViews views = {out.view, "out", a, "a", indices, axis};
  cuda::put(*this, op, views, IndexedAxes::Names::kRows, out);
}

void Queue::scatter(tnr_binary_op op, const tnr_view& a, std::uint32_t axis,
                    const tnr_view& indices, const tnr_view_mut& out) const {
  const IndexedViews views = {out.view, "out", a, "a", indices, axis};
  cuda::put(*this, op, views, IndexedAxes::Names::kElements, out);
}

}  // namespace tenure::cuda
