// Scalars made from numbers of C: they meet arrays that have their values, and no others.
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>

#include "expect_status.hpp"
#include "tenure/tenure.h"

namespace tenure::test {
namespace {

// The number that fill writes of the scalar to an array of this dtype.
template <class T>
tnr_status fill(const tnr_scalar& scalar, tnr_dtype dtype, T& out) {
  std::array<T, 3> array = {};
  const std::int64_t shape = 3;
  tnr_view_mut view = {};
  EXPECT_EQ(tnr_view_lend_mut(array.data(), sizeof array, 0, dtype, 1, &shape, nullptr, &view),
            TNR_STATUS_OK);
  const tnr_status status = tnr_fill(nullptr, &scalar, nullptr, &view);
  out = array[2];
  return status;
}

template <class T>
void expect_filled(const tnr_scalar& scalar, tnr_dtype dtype, T expected) {
  T out = {};
  EXPECT_EQ(fill(scalar, dtype, out), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(out, expected);
}

template <class T>
void expect_kept_out(const tnr_scalar& scalar, tnr_dtype dtype,
                     std::initializer_list<std::string> words) {
  T out = {};
  expect_refused(fill(scalar, dtype, out), TNR_STATUS_INVALID_ARGUMENT, words);
  EXPECT_EQ(out, T{});
}

TEST(CapiScalar, HasTheNumbersValue) {
  expect_filled(tnr_scalar_f64(0.1), TNR_DTYPE_F64, 0.1);
  expect_filled(tnr_scalar_i64(INT64_MIN), TNR_DTYPE_I64, INT64_MIN);
  expect_filled(tnr_scalar_u64(UINT64_MAX), TNR_DTYPE_U64, UINT64_MAX);
  expect_filled(tnr_scalar_c128(0.1, -2), TNR_DTYPE_C128, std::complex<double>(0.1, -2));
}

TEST(CapiScalar, MeetsEachDtypeThatHasIt) {
  expect_filled(tnr_scalar_i64(-3), TNR_DTYPE_F32, -3.0f);
  expect_filled(tnr_scalar_u64(255), TNR_DTYPE_U8, std::uint8_t{255});
  expect_filled(tnr_scalar_f64(0.1), TNR_DTYPE_F32, 0.1f);
  expect_filled(tnr_scalar_f64(2), TNR_DTYPE_I16, std::int16_t{2});
  expect_kept_out<std::uint8_t>(tnr_scalar_i64(-1), TNR_DTYPE_U8, {"-1", "0 to 255"});
  expect_kept_out<std::int64_t>(tnr_scalar_u64(UINT64_MAX), TNR_DTYPE_I64,
                                {"18446744073709551615", "9223372036854775807"});
  expect_kept_out<std::int16_t>(tnr_scalar_f64(0.5), TNR_DTYPE_I16, {"0.5"});
  expect_kept_out<double>(tnr_scalar_c128(1, 1), TNR_DTYPE_F64, {});
}

TEST(CapiScalar, LeavesNoByteUndefined) {
  tnr_scalar before;
  std::memset(&before, 0, sizeof before);
  before.dtype = TNR_DTYPE_I64;
  const std::int64_t one = 1;
  std::memcpy(before.bytes, &one, sizeof one);
  const tnr_scalar made = tnr_scalar_i64(1);
  EXPECT_EQ(std::memcmp(&made, &before, sizeof made), 0);
}

}  // namespace
}  // namespace tenure::test
