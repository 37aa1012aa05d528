// A context of the engine `vendor`, by the emulations of cuBLASLt and cuDNN or, on a GPU, by the
// true libraries.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "device_fixture.hpp"

namespace tenure::test {

// The fake driver's library is that of the emulations. One that the environment names is used.
inline void use_fake_libraries() {
  if (!is_driver_fake()) return;
  for (const char* const name : {"TENURE_CUBLASLT", "TENURE_CUDNN"}) {
    setenv(name, std::getenv("TENURE_CUDA_DRIVER"), 0);
  }
}

inline tnr_context* vendor_context(std::int32_t device = 0) {
  tnr_context_options wanted = options(1);
  wanted.device = {TNR_DEVICE_KIND_CUDA, device};
  wanted.engine = TNR_ENGINE_VENDOR;
  return tnr_context_create(&wanted);
}

inline long counted(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : std::strtol(text, nullptr, 10);
}

// How often an emulation has been called since the object was made.
class Calls {
 public:
  explicit Calls(const char* variable) : variable_(variable), before_(counted(variable)) {}
  [[nodiscard]] long count() const { return counted(variable_) - before_; }

 private:
  const char* variable_;
  long before_;
};

// Memory of the context's device for a number of f32, which stays until the object ends.
class OneNumber {
 public:
  OneNumber(tnr_context* context, std::uint32_t rank) {
    const std::int64_t shape[] = {1, 1, 1, 1};
    blob_ = tnr_blob_alloc_view(context, TNR_DTYPE_F32, rank, shape, &view_);
    EXPECT_NE(blob_, nullptr) << tnr_last_error()->message;
  }
  OneNumber(const OneNumber&) = delete;
  OneNumber& operator=(const OneNumber&) = delete;
  ~OneNumber() { EXPECT_EQ(tnr_blob_release(blob_), TNR_STATUS_OK); }
  [[nodiscard]] const tnr_view_mut& view() const { return view_; }

 private:
  tnr_blob* blob_;
  tnr_view_mut view_ = {};
};

// UNSUPPORTED where there is no library for it.
inline tnr_status try_product(tnr_context* context) {
  const OneNumber a(context, 2);
  const OneNumber out(context, 2);
  const tnr_scalar one = tnr_scalar_f64(1);
  const tnr_scalar zero = tnr_scalar_f64(0);
  return tnr_matmul(context, &one, &a.view().view, &a.view().view, &zero, nullptr, &out.view());
}
inline tnr_status try_convolution(tnr_context* context) {
  const OneNumber a(context, 4);
  const OneNumber out(context, 4);
  return tnr_conv2d(context, &a.view().view, &a.view().view, nullptr, nullptr, &out.view());
}

// Skipped without a device, or without the library that the call needs.
class OnVendor : public OnDevice {
 protected:
  explicit OnVendor(tnr_status (*needed)(tnr_context*)) : needed_(needed) {}

  void SetUp() override {
    use_fake_libraries();
    OnDevice::SetUp();
    if (context_ == nullptr) return;
    vendor_ = vendor_context();
    ASSERT_NE(vendor_, nullptr) << tnr_last_error()->message;
    const tnr_status status = needed_(vendor_);
    if (status == TNR_STATUS_UNSUPPORTED) GTEST_SKIP() << tnr_last_error()->message;
    ASSERT_EQ(status, TNR_STATUS_OK) << tnr_last_error()->message;
  }
  void TearDown() override {
    EXPECT_EQ(tnr_context_release(vendor_), TNR_STATUS_OK);
    OnDevice::TearDown();
  }

  tnr_context* vendor_ = nullptr;

 private:
  tnr_status (*needed_)(tnr_context*);
};

}  // namespace tenure::test
