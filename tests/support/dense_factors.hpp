// Factors of products of dense matrices, of every dtype.
#pragma once

#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>

#include "arrays.hpp"
#include "tenure/factor.hpp"

namespace tenure::test {

struct Factors {
  const char* name;
  tnr_dtype a;
  tnr_dtype b;
  tnr_dtype out;
};
inline constexpr Factors kFactors[] = {
    {"f64", TNR_DTYPE_F64, TNR_DTYPE_F64, TNR_DTYPE_F64},
    {"f32", TNR_DTYPE_F32, TNR_DTYPE_F32, TNR_DTYPE_F32},
    {"f16", TNR_DTYPE_F16, TNR_DTYPE_F16, TNR_DTYPE_F16},
    {"bf16", TNR_DTYPE_BF16, TNR_DTYPE_BF16, TNR_DTYPE_BF16},
    {"i8", TNR_DTYPE_I8, TNR_DTYPE_I8, TNR_DTYPE_I32},
    {"u8_i8", TNR_DTYPE_U8, TNR_DTYPE_I8, TNR_DTYPE_I32},
    {"i8_u8", TNR_DTYPE_I8, TNR_DTYPE_U8, TNR_DTYPE_I32},
    {"c64", TNR_DTYPE_C64, TNR_DTYPE_C64, TNR_DTYPE_C64},
    {"c128", TNR_DTYPE_C128, TNR_DTYPE_C128, TNR_DTYPE_C128},
};

// The part of a dtype that is a number by itself.
inline NamedType part_of(tnr_dtype dtype) {
  const tnr_dtype part = dtype == TNR_DTYPE_C64    ? TNR_DTYPE_F32
                         : dtype == TNR_DTYPE_C128 ? TNR_DTYPE_F64
                                                   : dtype;
  return *std::find_if(std::begin(kTypes), std::end(kTypes),
                       [=](const NamedType& type) { return type.dtype == part; });
}

// Fills with numbers. Sums of the floats depend on the order of additions.
inline void fill(Array& array, Random& random) {
  const NamedType part = part_of(array.view().dtype);
  const std::size_t width = element_size(part.dtype);
  std::normal_distribution<double> normal;
  for (Byte* const element : array.elements()) {
    for (std::size_t at = 0; at < element_size(array.view().dtype); at += width) {
      const double value = is_float(part.type) ? normal(random) : 100 * normal(random);
      Byte bytes[8];
      std::memcpy(bytes, &value, sizeof value);
      kernels::reference::cast(Type::kF64, bytes, part.type, element + at);
    }
  }
}

// Held as a handle is.
class Packed {
 public:
  explicit Packed(const tnr_view& b, tnr_dtype a_dtype = 0,
                  const Context& context = kDefaultContext)
      : token_(factor_create(context, b, a_dtype)) {}
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;
  ~Packed() { factor_release(token_); }
  operator FactorToken() const { return token_; }

 private:
  FactorToken token_;
};

}  // namespace tenure::test
