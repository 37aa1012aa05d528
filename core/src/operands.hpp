// What every operation asks of its operands before it touches an element, and how it walks them.
#pragma once

#include <cstdint>

#include "kernels/kernel.hpp"
#include "scalar.hpp"
#include "tenure/blob.hpp"
#include "tenure/view.hpp"

namespace tenure {

inline constexpr unsigned kNoType = kernels::kTypeCount;

// Row or column of the kernel tables; kNoType for complex and foreign dtypes.
unsigned type_index(tnr_dtype dtype) noexcept;

// Index of the movement kernels for elements of this size.
unsigned width_index(tnr_dtype dtype) noexcept;

// Throws INVALID_ARGUMENT: "a.dtype is f32 but out.dtype is f64".
void require_dtype(const tnr_view& view, const char* name, tnr_dtype dtype, const char* other_name);

// Throws UNSUPPORTED: "exp does not take u8".
[[noreturn, gnu::cold]] void refuse_dtype(const char* operation, tnr_dtype dtype);

// Throws INVALID_ARGUMENT for an operation code that has no name.
[[noreturn, gnu::cold]] void refuse_code(const char* kind, std::int32_t code);

// The core casts const away here alone, from data that came in a tnr_view_mut.
inline kernels::Byte* writable(const tnr_view_mut& out) noexcept {
  return static_cast<kernels::Byte*>(const_cast<void*>(out.view.data));
}

// How the output overlaps the input. Throws ALIASED unless it is kNone or, where allowed, kSame.
enum class SameView { kRefused, kAllowed };
Alias require_alias(const tnr_view& out, const tnr_view& in, const char* name, SameView same);

// The operands of one element-wise call, from the checks to the run. While it lives, the owners of
// its views are pinned.
class Operands {
 public:
  // Throws what a malformed output deserves. `out` outlives the call.
  explicit Operands(const tnr_view_mut& out) : out_(out.view), out_data_(writable(out)) {
    check_view_mut(out, "out");
    pins_.add_mut(out, "out");
  }

  // Adds an input that broadcasts to the output and is exactly it or shares no byte with it. Throws
  // INVALID_ARGUMENT, ALIASED, or what the view itself deserves. `view` outlives the call.
  void add(const tnr_view& view, const char* name);
  // Adds an element that meets every element of the output. `element` outlives the call.
  void add(const Element& element) noexcept;

  // Whether input `index` is exactly the output.
  [[nodiscard]] bool is_in_place(unsigned index) const noexcept {
    return inputs_[index].alias == Alias::kSame;
  }

  kernels::Finding run(kernels::StripKernel kernel) const noexcept;

 private:
  struct Input {
    const tnr_view* view;  // nullptr for an element
    const void* data;
    Alias alias;
  };

  [[nodiscard]] bool is_flat() const noexcept;
  kernels::Finding run_flat(kernels::StripKernel kernel) const noexcept;
  kernels::Finding run_nested(kernels::StripKernel kernel) const noexcept;

  static constexpr unsigned kMaxInputs = 3;

  const tnr_view& out_;
  kernels::Byte* out_data_;
  unsigned input_count_ = 0;
  Input inputs_[kMaxInputs];
  Pins pins_;
};

}  // namespace tenure
