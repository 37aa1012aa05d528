// Sizes, alignments and names of element types.
#include "tenure/dtype.hpp"

#include <gtest/gtest.h>

#include <string>

using namespace tenure;

namespace {

// DLPack's {code, bits, lanes}.
constexpr tnr_dtype dtype_of(std::uint32_t code, std::uint32_t bits, std::uint32_t lanes) {
  return code | bits << 8 | lanes << 16;
}

struct Named {
  tnr_dtype dtype;
  const char* name;
  std::size_t size_bytes;
  std::size_t alignment;
};

constexpr Named kNamed[] = {
    {TNR_DTYPE_F64, "f64", 8, 8},     {TNR_DTYPE_F32, "f32", 4, 4}, {TNR_DTYPE_F16, "f16", 2, 2},
    {TNR_DTYPE_BF16, "bf16", 2, 2},   {TNR_DTYPE_I8, "i8", 1, 1},   {TNR_DTYPE_I16, "i16", 2, 2},
    {TNR_DTYPE_I32, "i32", 4, 4},     {TNR_DTYPE_I64, "i64", 8, 8}, {TNR_DTYPE_U8, "u8", 1, 1},
    {TNR_DTYPE_U16, "u16", 2, 2},     {TNR_DTYPE_U32, "u32", 4, 4}, {TNR_DTYPE_U64, "u64", 8, 8},
    {TNR_DTYPE_BOOL8, "bool8", 1, 1}, {TNR_DTYPE_C64, "c64", 8, 4}, {TNR_DTYPE_C128, "c128", 16, 8},
};

TEST(Dtype, NamedOnesHaveNameSizeAndAlignment) {
  for (const Named& named : kNamed) {
    EXPECT_STREQ(dtype_name(named.dtype), named.name);
    EXPECT_EQ(element_size(named.dtype), named.size_bytes) << named.name;
    EXPECT_EQ(element_alignment(named.dtype), named.alignment) << named.name;
  }
}

TEST(Dtype, ForeignOnesHaveSizeAndAlignmentButNoName) {
  const tnr_dtype float8 = dtype_of(10, 8, 1);
  const tnr_dtype float4 = dtype_of(17, 4, 1);
  const tnr_dtype four_floats = dtype_of(2, 32, 4);
  const tnr_dtype odd = dtype_of(3, 24, 1);     // an opaque handle of three bytes
  const tnr_dtype twelve = dtype_of(3, 96, 1);  // of twelve: four divides
  const tnr_dtype no_lanes = dtype_of(2, 32, 0);
  EXPECT_EQ(element_size(float8), 1u);
  EXPECT_EQ(element_size(float4), 0u);
  EXPECT_EQ(element_size(four_floats), 16u);
  EXPECT_EQ(element_alignment(four_floats), 4u);
  EXPECT_EQ(element_size(odd), 3u);
  EXPECT_EQ(element_alignment(odd), 1u);
  EXPECT_EQ(element_size(twelve), 12u);
  EXPECT_EQ(element_alignment(twelve), 4u);
  EXPECT_EQ(element_size(no_lanes), 0u);
  EXPECT_EQ(element_size(0), 0u);
  for (const tnr_dtype dtype : {float8, float4, four_floats, odd, twelve, no_lanes, tnr_dtype{0}}) {
    EXPECT_STREQ(dtype_name(dtype), "unknown");
  }
}

}  // namespace
