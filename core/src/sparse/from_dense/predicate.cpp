#include "sparse/from_dense/predicate.hpp"

#include <cinttypes>
#include <cstring>

#include "dense/scalar.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Predicate;

constexpr const char* kThreshold = "attributes->threshold";
constexpr std::uint64_t kAll = ~std::uint64_t{0};

bool is_float(tnr_dtype dtype) noexcept {
  return code_of(dtype) == DtypeCode::kFloat || code_of(dtype) == DtypeCode::kBfloat;
}
bool is_signed(tnr_dtype dtype) noexcept { return code_of(dtype) == DtypeCode::kInt; }

std::uint64_t sign_bit(tnr_dtype dtype) noexcept {
  return std::uint64_t{1} << (bits_of(dtype) - 1);
}

Predicate masked(std::uint64_t mask) noexcept {
  return {Predicate::Kind::kMasked, mask, 0, 0, 0, 0};
}

// The bits of a number as a signed integer of the element's width.
std::int64_t extended(std::uint64_t bits, tnr_dtype dtype) noexcept {
  const unsigned unused = 64 - bits_of(dtype);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

std::int64_t lowest(tnr_dtype dtype) noexcept { return extended(sign_bit(dtype), dtype); }

// Where the bits of floats are taken for signed integers, those of positive ones are in their
// order; with all but the sign flipped, those of negative ones too, below them. Beyond the
// infinities are the NaN.
class FloatOrder {
 public:
  explicit FloatOrder(tnr_dtype dtype) noexcept : dtype_(dtype) {}

  [[nodiscard]] std::uint64_t flip() const noexcept { return sign_bit(dtype_) - 1; }
  [[nodiscard]] std::int64_t key(std::uint64_t bits) const noexcept {
    // A threshold of -0.0 has the key of 0. An element of -0.0 has a lower key, below both.
    if (bits == sign_bit(dtype_)) return 0;
    return extended((bits & sign_bit(dtype_)) != 0 ? bits ^ flip() : bits, dtype_);
  }
  [[nodiscard]] std::uint64_t infinity() const noexcept {
    switch (dtype_) {
      case TNR_DTYPE_F64: return std::uint64_t{0x7ff} << 52;
      case TNR_DTYPE_F32: return std::uint64_t{0xff} << 23;
      case TNR_DTYPE_F16: return std::uint64_t{0x1f} << 10;
      default: return std::uint64_t{0xff} << 7;
    }
  }
  [[nodiscard]] std::int64_t lowest_infinity() const noexcept {
    return key(infinity() | sign_bit(dtype_));
  }

 private:
  tnr_dtype dtype_;
};

Predicate above(tnr_dtype dtype, std::uint64_t threshold) noexcept {
  if (is_float(dtype)) {
    const FloatOrder order(dtype);
    return {Predicate::Kind::kOutside, 0, order.flip(), 0, order.lowest_infinity(),
            order.key(threshold)};
  }
  const std::uint64_t bias = is_signed(dtype) ? 0 : sign_bit(dtype);
  return {Predicate::Kind::kOutside, 0, 0, bias, lowest(dtype), extended(threshold ^ bias, dtype)};
}

Predicate above_in_magnitude(tnr_dtype dtype, std::uint64_t threshold) noexcept {
  if (is_float(dtype)) {
    const FloatOrder order(dtype);
    const std::int64_t key = order.key(threshold);
    return {Predicate::Kind::kOutside, 0, order.flip(), 0, -key - 1, key};
  }
  if (!is_signed(dtype)) return above(dtype, threshold);
  const std::int64_t bound = extended(threshold, dtype);
  return {Predicate::Kind::kOutside, 0, 0, 0, -bound, bound};
}

std::uint64_t threshold_bits(const tnr_scalar& threshold, tnr_dtype dtype) {
  const Element element = to_element(threshold, dtype, kThreshold);
  std::uint64_t bits = 0;  // the lowest bytes come first on all that this runs on
  std::memcpy(&bits, element.bytes, element_size(dtype));
  if (is_float(dtype) && (bits & ~sign_bit(dtype)) > FloatOrder(dtype).infinity()) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s is NaN, which nothing is above", kThreshold);
  }
  return bits;
}

// Refuses a predicate without a name, and what belongs to other ones.
void require_taken(const SparseOptions& options) {
  const tnr_sparse_predicate predicate = options.predicate;
  if (predicate < TNR_SPARSE_PREDICATE_NON_ZERO || predicate > TNR_SPARSE_PREDICATE_MASK) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->predicate is %" PRId32 ", which has no name",
         predicate);
  }
  if (predicate != TNR_SPARSE_PREDICATE_NON_ZERO && options.flags != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->flags is 0x%" PRIx32 " but attributes->predicate is not NON_ZERO",
         options.flags);
  }
  if (predicate != TNR_SPARSE_PREDICATE_GREATER &&
      predicate != TNR_SPARSE_PREDICATE_MAGNITUDE_GREATER && is_given(options.threshold)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s is given but attributes->predicate compares with none",
         kThreshold);
  }
}

}  // namespace

Predicate non_zero(tnr_dtype dtype, std::uint32_t flags) noexcept {
  if ((flags & TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO) != 0) return masked(kAll);
  if (dtype == TNR_DTYPE_C64) return masked(~0x8000000080000000u);
  return masked(is_float(dtype) ? ~sign_bit(dtype) : kAll);
}

Predicate predicate_of(const SparseOptions& options, tnr_dtype dtype) {
  if ((options.flags & ~TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO) != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->flags is 0x%" PRIx32 " but only 0x%x is known",
         options.flags, TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO);
  }
  require_taken(options);
  switch (options.predicate) {
    case TNR_SPARSE_PREDICATE_MASK: return masked(kAll);
    case TNR_SPARSE_PREDICATE_NON_ZERO:
      if (type_index(dtype) == kNoType && dtype != TNR_DTYPE_C64) break;
      return non_zero(dtype, options.flags);
    default: {
      if (type_index(dtype) == kNoType || dtype == TNR_DTYPE_BOOL8) break;
      const std::uint64_t bits = threshold_bits(options.threshold, dtype);
      if (options.predicate == TNR_SPARSE_PREDICATE_GREATER) return above(dtype, bits);
      const bool is_negative =
          (is_float(dtype) || is_signed(dtype)) && (bits & sign_bit(dtype)) != 0;
      if (is_negative && bits != sign_bit(dtype)) {
        refuse_scalar(options.threshold, kThreshold, "must be at least 0 for magnitudes");
      }
      return above_in_magnitude(dtype, bits);
    }
  }
  fail(TNR_STATUS_UNSUPPORTED, "this predicate does not take %s", dtype_name(dtype));
}

}  // namespace tenure
