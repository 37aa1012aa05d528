// A context of the first device, for the time of a test; without a device the test is skipped.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "context_options.hpp"
#include "tenure/tenure.h"

namespace tenure::test {

inline constexpr tnr_device kFirstDevice = {TNR_DEVICE_KIND_CUDA, 0};

// Whether the driver is the one of fake_driver.cpp, which can be made to fail.
inline bool is_driver_fake() { return std::getenv("TENURE_CUDA_DRIVER") != nullptr; }

inline tnr_context* context_on(tnr_device device, std::uint64_t stream = 0) {
  tnr_context_options wanted = options(1);
  wanted.device = device;
  wanted.stream = stream;
  return tnr_context_create(&wanted);
}

class OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    std::uint32_t count = 0;
    if (tnr_device_count(TNR_DEVICE_KIND_CUDA, &count) != TNR_STATUS_OK || count == 0) {
      GTEST_SKIP() << tnr_last_error()->message;
    }
    context_ = context_on(kFirstDevice);
    ASSERT_NE(context_, nullptr) << tnr_last_error()->message;
  }
  void TearDown() override { EXPECT_EQ(tnr_context_release(context_), TNR_STATUS_OK); }

  tnr_context* context_ = nullptr;
};

}  // namespace tenure::test
