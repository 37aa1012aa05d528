// Questions about the dtypes, shapes and layouts of operands, and checks that throw.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/kernel.hpp"
#include "cpu/operations.hpp"
#include "tenure/dtype.hpp"
#include "tenure/view.hpp"

namespace tenure {

inline constexpr unsigned kNoType = kernels::kTypeCount;

// Types by DLPack's code and by bytes. An entry names its dtype, so that one comparison checks the
// bits and the lanes too.
struct TypeIndex {
  struct Entry {
    tnr_dtype dtype = 0;
    std::uint32_t type = kNoType;
  };
  Entry by_code_and_bytes[8][16];

  constexpr TypeIndex() {
    set(TNR_DTYPE_F64, kernels::Type::kF64);
    set(TNR_DTYPE_F32, kernels::Type::kF32);
    set(TNR_DTYPE_F16, kernels::Type::kF16);
    set(TNR_DTYPE_BF16, kernels::Type::kBF16);
    set(TNR_DTYPE_I8, kernels::Type::kI8);
    set(TNR_DTYPE_I16, kernels::Type::kI16);
    set(TNR_DTYPE_I32, kernels::Type::kI32);
    set(TNR_DTYPE_I64, kernels::Type::kI64);
    set(TNR_DTYPE_U8, kernels::Type::kU8);
    set(TNR_DTYPE_U16, kernels::Type::kU16);
    set(TNR_DTYPE_U32, kernels::Type::kU32);
    set(TNR_DTYPE_U64, kernels::Type::kU64);
    set(TNR_DTYPE_BOOL8, kernels::Type::kBool8);
  }

  constexpr void set(tnr_dtype dtype, kernels::Type type) {
    by_code_and_bytes[dtype & 7u][bits_of(dtype) / 8] = {dtype, static_cast<std::uint32_t>(type)};
  }
};
inline constexpr TypeIndex kTypeIndex;

// Row or column of the kernel tables; kNoType for complex and foreign dtypes.
inline unsigned type_index(tnr_dtype dtype) noexcept {
  const TypeIndex::Entry& entry = kTypeIndex.by_code_and_bytes[dtype & 7u][(dtype >> 11) & 15u];
  return entry.dtype == dtype ? entry.type : kNoType;
}

// Index of the movement kernels for elements of this size.
unsigned index_of_width(std::int64_t width_bytes) noexcept;
inline unsigned width_index(tnr_dtype dtype) noexcept {
  return index_of_width(static_cast<std::int64_t>(element_size(dtype)));
}

// Throws INVALID_ARGUMENT: "a.dtype is f32 but out.dtype is f64".
[[noreturn, gnu::cold]] void refuse_other_dtype(const tnr_view& view, const char* name,
                                                tnr_dtype dtype, const char* other_name);
inline void require_dtype(const tnr_view& view, const char* name, tnr_dtype dtype,
                          const char* other_name) {
  if (view.dtype != dtype) [[unlikely]]
    refuse_other_dtype(view, name, dtype, other_name);
}

// Throws INVALID_ARGUMENT: "out.rank is 2 but must be 3".
[[noreturn, gnu::cold]] void refuse_rank(const tnr_view& view, const char* name,
                                         std::uint32_t rank);
inline void require_rank(const tnr_view& view, const char* name, std::uint32_t rank) {
  if (view.rank != rank) [[unlikely]]
    refuse_rank(view, name, rank);
}

// The dtype of a result of operands of `dtype`.
tnr_dtype result_dtype(kernels::Gives gives, tnr_dtype dtype);
// Whether an operation takes real elements of the dtype.
bool takes(const kernels::OperationRow& operation, tnr_dtype dtype) noexcept;

// Throws UNSUPPORTED: "exp does not take u8".
[[noreturn, gnu::cold]] void refuse_dtype(const char* operation, tnr_dtype dtype);

// Throws INVALID_ARGUMENT for an operation code that has no name.
[[noreturn, gnu::cold]] void refuse_code(const char* kind, std::int32_t code);

// The memory of an output, to be written: data that came in a tnr_view_mut.
inline kernels::Byte* writable(const tnr_view_mut& out) noexcept {
  return static_cast<kernels::Byte*>(const_cast<void*>(out.view.data));
}

// Throws INVALID_ARGUMENT unless the view broadcasts to the output: axes are aligned at the last,
// as in NumPy.
void require_broadcast(const tnr_view& view, const char* name, const tnr_view& out);
// Bytes from one index to the next along the output's axis; 0 where the input repeats.
inline std::int64_t broadcast_step(const tnr_view& view, const tnr_view& out,
                                   std::uint32_t out_axis) {
  const std::uint32_t missing = out.rank - view.rank;
  if (out_axis < missing || view.shape[out_axis - missing] == 1) return 0;
  return view.strides[out_axis - missing] * static_cast<std::int64_t>(element_size(view.dtype));
}

// How the output overlaps the input. Throws ALIASED unless it is kNone or, where allowed, kSame.
enum class SameView { kRefused, kAllowed };
Alias require_alias(const tnr_view& out, const tnr_view& in, const char* name, SameView same);

// Elements of a checked view whose elements lie in row-major order without gaps; else 0.
inline std::int64_t dense_count(const tnr_view& view) noexcept {
  std::uint64_t count = 1;  // unsigned: with an extent of 0 the others may overflow
  for (std::uint32_t axis = view.rank; axis-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(view.shape[axis]);
    if (extent > 1 && static_cast<std::uint64_t>(view.strides[axis]) != count) return 0;
    count *= extent;
  }
  return static_cast<std::int64_t>(count);
}

// Bytes of a view's elements, one that a stride of 0 repeats counted once.
inline std::uint64_t element_bytes(const tnr_view& view) noexcept {
  std::uint64_t bytes = element_size(view.dtype);
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    if (view.strides[axis] != 0 || view.shape[axis] == 0)
      bytes *= static_cast<std::uint64_t>(view.shape[axis]);
  }
  return bytes;
}

}  // namespace tenure
