// The short way through the checks accepts no operand that the long way refuses.
#include "dense/operands.hpp"

#include <gtest/gtest.h>

#include <random>

#include "arrays.hpp"
#include "expect_error.hpp"

namespace tenure::test {
namespace {

TEST(DenseCount, IsTheElementCountOfRowMajorViewsAndElseZero) {
  Random random(41);
  for (const Shape& shape : shapes()) {
    for (const Arrangement arrangement : kReadable) {
      const Array a(TNR_DTYPE_I16, shape, arrangement, random);
      const std::int64_t expected = is_row_major(a.view()) ? element_count(a.view()) : 0;
      EXPECT_EQ(dense_count(a.view()), expected) << describe(a.view());
    }
  }
  EXPECT_EQ(dense_count(view_of(nullptr, 0, 0, TNR_DTYPE_U8,
                                {{0, INT64_MAX}, {INT64_MAX, INT64_MAX}, {INT64_MAX, 1}})),
            0);
}

TEST(IsTwin, TakesEqualDenseViewsApartAndInPlace) {
  std::vector<float> memory(12, 1);
  const tnr_view out = view_of(memory.data(), 48, 0, TNR_DTYPE_F32, {{2, 3}, {3, 1}});
  const tnr_view apart = view_of(memory.data(), 48, 24, TNR_DTYPE_F32, {{2, 3}, {3, 1}});
  const tnr_view overlapping = view_of(memory.data(), 48, 20, TNR_DTYPE_F32, {{2, 3}, {3, 1}});
  EXPECT_TRUE(has_same_layout(out, out, 24));
  EXPECT_TRUE(has_same_layout(apart, out, 24));
  EXPECT_TRUE(has_same_layout(out, apart, 24));
  EXPECT_FALSE(has_same_layout(overlapping, out, 24));
  EXPECT_FALSE(has_same_layout(out, overlapping, 24));
}

// Any field of a view of four 16-bit elements, and any place for them, good or bad.
tnr_view random_twin(const tnr_view& out, Random& random) {
  tnr_view in = out;
  const std::uint64_t base = reinterpret_cast<std::uintptr_t>(out.base);
  in.base = reinterpret_cast<const void*>(base + random() % 24);
  in.data = reinterpret_cast<const void*>(base + random() % 24);
  in.size_bytes = random() % 24;
  switch (random() % 24) {
    case 0: in.dtype = TNR_DTYPE_U16; break;
    case 1: in.rank = static_cast<std::uint32_t>(random() % 12); break;
    case 2: in.device.kind = 2; break;
    case 3: in.device.index = 1; break;
    case 4: in.flags = static_cast<std::uint32_t>(random() % 4); break;
    case 5: in.bit_offset = 1; break;
    case 6: in.reserved = 1; break;
    case 7: in.shape[0] = static_cast<std::int64_t>(random() % 8) - 2; break;
    case 8: in.strides[0] = static_cast<std::int64_t>(random() % 5) - 2; break;
    case 9: in.size_bytes = UINT64_MAX - random() % 24; break;
    case 10: in.size_bytes = UINT64_MAX / 2 + random() % 3; break;
    case 11: in.base = nullptr; break;
    case 12: in.data = nullptr; break;
    case 13: in.base = reinterpret_cast<const void*>(UINT64_MAX - random() % 24); break;
    case 14: in.data = in.base; break;
    default: break;
  }
  return in;
}

TEST(IsTwin, LetsNothingPassThatTheChecksRefuse) {
  alignas(8) std::int16_t memory[24] = {};
  const tnr_view out = view_of(memory, sizeof memory, 16, TNR_DTYPE_I16, {{4, 1}});
  Random random(42);
  int passed = 0;
  for (int i = 0; i < 2000000; ++i) {
    const tnr_view in = random_twin(out, random);
    if (!has_same_layout(in, out, 8)) continue;
    ++passed;
    ASSERT_TRUE(is_valid_view(in)) << describe(in);
    ASSERT_EQ(in.shape[0], out.shape[0]);
    const Alias expected = in.data == out.data ? Alias::kSame : Alias::kNone;
    ASSERT_EQ(alias_of_stepwise(out, in), expected);
  }
  EXPECT_GT(passed, 10000);
}

// A view of rank 2 with any fields, good or bad, around one that is dense.
tnr_view random_output(const void* memory, Random& random) {
  const auto rows = static_cast<std::int64_t>(random() % 4);
  const auto columns = static_cast<std::int64_t>(random() % 4);
  const auto offset = static_cast<std::int64_t>(random() % 16);
  tnr_view out =
      view_of(memory, random() % 48, offset, TNR_DTYPE_I16, {{rows, columns}, {columns, 1}});
  switch (random() % 20) {
    case 0:
      out.dtype = random() % 2 == 0 ? TNR_DTYPE_C128 : static_cast<tnr_dtype>(random());
      break;
    case 1: out.rank = static_cast<std::uint32_t>(random() % 12); break;
    case 2: out.device.kind = static_cast<tnr_device_kind>(random() % 3); break;
    case 3: out.device.index = 1; break;
    case 4: out.flags = static_cast<std::uint32_t>(random() % 4); break;
    case 5: out.bit_offset = 1; break;
    case 6: out.reserved = 1; break;
    case 7: out.shape[random() % 2] = static_cast<std::int64_t>(random() % 8) - 2; break;
    case 8: out.strides[random() % 2] = static_cast<std::int64_t>(random() % 5) - 2; break;
    case 9: out.size_bytes = UINT64_MAX / 2 + random() % 3; break;
    case 10: out.base = nullptr; break;
    case 11: out.data = nullptr; break;
    case 12: out.base = reinterpret_cast<const void*>(UINT64_MAX - random() % 24); break;
    case 13: out.shape[0] = INT64_MAX / static_cast<std::int64_t>(1 + random() % 4); break;
    case 14: out.shape[1] = INT64_MIN; break;
    default: break;
  }
  return out;
}

TEST(PlainCount, IsTheElementCountOfValidDenseViewsAndElseZero) {
  alignas(8) std::int16_t memory[24] = {};
  Random random(43);
  int passed = 0;
  for (int i = 0; i < 2000000; ++i) {
    const tnr_view out = random_output(memory, random);
    const bool valid = is_valid_view(out);
    const std::int64_t dense = valid && !is_empty(out) ? dense_count(out) : 0;
    // Memory of the upper half of the address space is not plain.
    const std::uint64_t begin = reinterpret_cast<std::uintptr_t>(out.base);
    const bool is_high = static_cast<std::int64_t>(begin | (begin + out.size_bytes)) < 0;
    ASSERT_EQ(plain_count(out), is_high ? 0 : dense) << describe(out);
    if (dense == 0) continue;
    ++passed;
    ASSERT_TRUE(strides_nest_in_order(out)) << describe(out);
  }
  EXPECT_GT(passed, 10000);
}

}  // namespace
}  // namespace tenure::test
