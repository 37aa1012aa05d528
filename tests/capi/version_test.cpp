// Version, build facts and dtypes, as the library reports them.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tenure/tenure.h"

namespace {

TEST(Version, AbiVersionIsTheHeaders) {
  EXPECT_EQ(tnr_abi_version() >> 16, static_cast<std::uint32_t>(TNR_ABI_MAJOR));
  EXPECT_EQ(tnr_abi_version() & 0xffff, static_cast<std::uint32_t>(TNR_ABI_MINOR));
}

TEST(Version, BuildInfoIsOneLineThatStartsWithTheVersion) {
  const std::string info = tnr_build_info();
  EXPECT_EQ(info.rfind("tenure " TENURE_PROJECT_VERSION ", ", 0), 0u) << info;
  EXPECT_EQ(info.find('\n'), std::string::npos);
  EXPECT_EQ(tnr_build_info(), tnr_build_info());
  EXPECT_NE(info.find(", kernels: "), std::string::npos) << info;
  EXPECT_NE(info.find("; engines: own"), std::string::npos) << info;
  EXPECT_NE(info.find("; in use: "), std::string::npos) << info;
}

TEST(Version, DtypesHaveSizesAndNames) {
  EXPECT_EQ(tnr_dtype_size_bytes(TNR_DTYPE_C128), 16u);
  EXPECT_STREQ(tnr_dtype_name(TNR_DTYPE_BOOL8), "bool8");
  EXPECT_EQ(tnr_dtype_size_bytes(0), 0u);
  EXPECT_STREQ(tnr_dtype_name(0), "unknown");
}

}  // namespace
