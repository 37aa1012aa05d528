// Movement of elements, as operations along strips.
#pragma once

#include "dense/loops/strip_runner.hpp"
#include "dense/scalar.hpp"
#include "tenure/context.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {

Operation copy_operation(tnr_dtype dtype);
// Takes a condition of bool8 and two elements of `dtype`.
Operation select_operation(tnr_dtype dtype);
// Throws UNSUPPORTED.
Operation cast_operation(tnr_dtype from, tnr_dtype to);

// Throws INVALID_ARGUMENT: "axis is 2 but out.rank is 2".
void require_axis(std::uint32_t axis, const tnr_view& view, const char* name);

// Bytes of all elements, repeated ones as often as they are there.
inline std::int64_t moved_bytes(const tnr_view& view) noexcept {
  return element_count(view) * static_cast<std::int64_t>(element_size(view.dtype));
}

// Writes zeros to the elements of a strip that are wider than an Element, which every number fits.
void clear_wide(kernels::Byte* out, std::int64_t count, std::int64_t step,
                std::int64_t width_bytes) noexcept;

// Copies and fills parts of one call's output, whose operands are checked and pinned and share no
// byte. On the calling thread: callers share out the parts.
class PartCopier {
 public:
  // `call_bytes` are those that all parts move, by which their stores are chosen.
  PartCopier(const tnr_view& out, std::int64_t call_bytes)
      : operation_(copy_operation(out.dtype)), out_(out), call_bytes_(call_bytes) {}

  // Before any part, as Operands::touch_output().
  void touch_output(const Context& context) const noexcept;
  // Both views have one shape and dtype, and elements.
  void copy(const tnr_view& from, const tnr_view& to) const noexcept;
  // An element that is wider than an Element is 0.
  void fill(const Element& element, const tnr_view& to) const noexcept;

 private:
  Operation operation_;
  const tnr_view& out_;
  std::int64_t call_bytes_;
};

}  // namespace tenure
