#include "view/operand_checks.hpp"

#include <cinttypes>

#include "tenure/status.hpp"

namespace tenure {

void require_broadcast(const tnr_view& view, const char* name, const tnr_view& out) {
  if (view.rank > out.rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.rank is %" PRIu32 " but out.rank is %" PRIu32, name,
         view.rank, out.rank);
  }
  const std::uint32_t missing = out.rank - view.rank;
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    const std::int64_t extent = view.shape[axis];
    const std::int64_t out_extent = out.shape[missing + axis];
    if (extent != out_extent && extent != 1) [[unlikely]] {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "%s.shape[%" PRIu32 "] is %" PRId64 " but out.shape[%" PRIu32 "] is %" PRId64, name,
           axis, extent, missing + axis, out_extent);
    }
  }
}

unsigned index_of_width(std::int64_t width_bytes) noexcept {
  switch (width_bytes) {
    case 1: return static_cast<unsigned>(kernels::Width::k1);
    case 2: return static_cast<unsigned>(kernels::Width::k2);
    case 4: return static_cast<unsigned>(kernels::Width::k4);
    case 8: return static_cast<unsigned>(kernels::Width::k8);
    case 16: return static_cast<unsigned>(kernels::Width::k16);
    default: return static_cast<unsigned>(kernels::Width::kAny);
  }
}

void refuse_other_dtype(const tnr_view& view, const char* name, tnr_dtype dtype,
                        const char* other_name) {
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s.dtype is %s but %s %s", name, dtype_name(view.dtype),
       other_name, dtype_name(dtype));
}

void refuse_rank(const tnr_view& view, const char* name, std::uint32_t rank) {
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s.rank is %" PRIu32 " but must be %" PRIu32, name, view.rank,
       rank);
}

bool takes(const kernels::OperationRow& operation, tnr_dtype dtype) noexcept {
  const unsigned type = type_index(dtype);
  if (type == kNoType) return false;
  const unsigned kind = type <= static_cast<unsigned>(kernels::Type::kBF16)    ? kernels::kFloats
                        : type == static_cast<unsigned>(kernels::Type::kBool8) ? kernels::kTruths
                                                                               : kernels::kIntegers;
  return (operation.dtypes & kind) != 0;
}

tnr_dtype result_dtype(kernels::Gives gives, tnr_dtype dtype) {
  switch (gives) {
    case kernels::Gives::kIndex: return TNR_DTYPE_I64;
    case kernels::Gives::kTruth: return TNR_DTYPE_BOOL8;
    case kernels::Gives::kPart:
      if (dtype == TNR_DTYPE_C64) return TNR_DTYPE_F32;
      return dtype == TNR_DTYPE_C128 ? TNR_DTYPE_F64 : dtype;
    case kernels::Gives::kWide:
      if (code_of(dtype) == DtypeCode::kInt) return TNR_DTYPE_I64;
      if (code_of(dtype) == DtypeCode::kUint) return TNR_DTYPE_U64;
      return dtype;
    default: return dtype;
  }
}

void refuse_dtype(const char* operation, tnr_dtype dtype) {
  fail(TNR_STATUS_UNSUPPORTED, "%s does not take %s (dtype 0x%08" PRIx32 ")", operation,
       dtype_name(dtype), dtype);
}

void refuse_code(const char* kind, std::int32_t code) {
  fail(TNR_STATUS_INVALID_ARGUMENT, "op is %" PRId32 ", which names no %s operation", code, kind);
}

Alias require_alias(const tnr_view& out, const tnr_view& in, const char* name, SameView same) {
  const Alias alias = alias_of(out, in);
  if (alias == Alias::kNone || (alias == Alias::kSame && same == SameView::kAllowed)) [[likely]] {
    return alias;
  }
  switch (alias) {
    case Alias::kSame:
      fail(TNR_STATUS_ALIASED, "out is exactly %s but must share no byte with it", name);
    case Alias::kUndecided:
      fail(TNR_STATUS_ALIASED,
           "out and %s overlap as intervals, and whether they share a byte was not decided within "
           "the search's budget",
           name);
    default:
      fail(TNR_STATUS_ALIASED,
           same == SameView::kAllowed ? "out shares bytes with %s but is not exactly the same view"
                                      : "out shares bytes with %s",
           name);
  }
}

}  // namespace tenure
