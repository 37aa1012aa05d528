// Tensors on a device, given to other libraries and taken from them by DLPack, beside the order of
// the streams of both.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "device_fixture.hpp"
#include "expect_status.hpp"
#include "tenure/dlpack.hpp"
#include "tenure/tenure.h"

namespace {

using tenure::test::expect_refused;
using tenure::test::OnDevice;

constexpr std::int64_t kShape[] = {2, 3};
const std::vector<float> kValues = {1, 2, 3, 4, 5, 6};
const std::vector<float> kTwice = {2, 4, 6, 8, 10, 12};

class DeviceExchange : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (context_ == nullptr) return;
    blob_ = tnr_blob_copy(context_, kValues.data(), 24);
    ASSERT_NE(blob_, nullptr) << tnr_last_error()->message;
    ASSERT_EQ(tnr_blob_view_mut(blob_, 0, TNR_DTYPE_F32, 2, kShape, nullptr, &view_),
              TNR_STATUS_OK);
  }
  void TearDown() override {
    if (blob_ != nullptr) {
      EXPECT_EQ(tnr_blob_release(blob_), TNR_STATUS_OK);
    }
    OnDevice::TearDown();
  }

  std::vector<float> values_of(const tnr_view& view) {
    std::vector<float> values(6);
    tnr_view_mut out;
    EXPECT_EQ(tnr_view_lend_mut(values.data(), 24, 0, TNR_DTYPE_F32, 2, kShape, nullptr, &out),
              TNR_STATUS_OK);
    EXPECT_EQ(tnr_copy(context_, &view, nullptr, &out), TNR_STATUS_OK) << tnr_last_error()->message;
    return values;
  }
  static tnr_status twice(tnr_context* context, const tnr_view& view) {
    const tnr_view_mut out = {view};
    return tnr_binary(context, TNR_BINARY_OP_ADD, &view, &view, nullptr, &out);
  }

  tnr_blob* blob_ = nullptr;
  tnr_view_mut view_;
};

TEST_F(DeviceExchange, ATensorIsGivenAndTaken) {
  DLManagedTensorVersioned* tensor = nullptr;
  ASSERT_EQ(tnr_view_export_on(context_, &view_.view, 0, &tensor), TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(tensor->tensor.device.kind, 2);
  EXPECT_EQ(tensor->tensor.data, view_.view.data);
  EXPECT_EQ(tensor->flags & tenure::kDlReadOnly, 0u);
  tnr_view taken;
  tnr_blob* const blob = tnr_blob_import_on(context_, tensor, &taken);
  ASSERT_NE(blob, nullptr) << tnr_last_error()->message;
  EXPECT_EQ(taken.device.kind, TNR_DEVICE_KIND_CUDA);
  EXPECT_EQ(twice(context_, taken), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(values_of(view_.view), kTwice);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
}

TEST_F(DeviceExchange, ReadOnlyTensorsAreShared) {
  DLManagedTensorVersioned* tensor = nullptr;
  ASSERT_EQ(tnr_view_export_on(context_, &view_.view, TNR_EXPORT_READ_ONLY, &tensor),
            TNR_STATUS_OK);
  tnr_view taken;
  tnr_blob* const blob = tnr_blob_import_on(context_, tensor, &taken);
  ASSERT_NE(blob, nullptr);
  expect_refused(twice(context_, taken), TNR_STATUS_INVALID_ARGUMENT, {"shared"});
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
}

TEST_F(DeviceExchange, LegacyTensorsToo) {
  DLManagedTensor* tensor = nullptr;
  ASSERT_EQ(tnr_view_export_legacy_on(context_, &view_, &tensor), TNR_STATUS_OK)
      << tnr_last_error()->message;
  tnr_view taken;
  tnr_blob* const blob = tnr_blob_import_legacy_on(context_, tensor, &taken);
  ASSERT_NE(blob, nullptr) << tnr_last_error()->message;
  EXPECT_EQ(twice(context_, taken), TNR_STATUS_OK);
  EXPECT_EQ(values_of(taken), kTwice);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
}

// A consumer that works on a stream of its own reads what was enqueued before, and the memory is
// reused after what it has enqueued until it is done with the tensor.
TEST_F(DeviceExchange, TheConsumersStreamIsInOrder) {
  tnr_context* const consumer = tenure::test::context_on(tenure::test::kFirstDevice);
  ASSERT_NE(consumer, nullptr);
  ASSERT_EQ(twice(context_, view_.view), TNR_STATUS_OK);
  DLManagedTensorVersioned* tensor = nullptr;
  ASSERT_EQ(tnr_view_export_on(consumer, &view_.view, 0, &tensor), TNR_STATUS_OK)
      << tnr_last_error()->message;
  // As a library that knows nothing of the blob, only of the address and of its own stream.
  tnr_view_mut foreign = view_;
  foreign.view.owner = 0;
  tnr_blob* const sums_blob = tnr_blob_alloc(consumer, 24);
  tnr_view_mut sums;
  ASSERT_EQ(tnr_blob_view_mut(sums_blob, 0, TNR_DTYPE_F32, 2, kShape, nullptr, &sums),
            TNR_STATUS_OK);
  ASSERT_EQ(tnr_binary(consumer, TNR_BINARY_OP_ADD, &foreign.view, &foreign.view, nullptr, &sums),
            TNR_STATUS_OK);
  tensor->deleter(tensor);
  // The memory ends at home, and what comes next may have it.
  EXPECT_EQ(tnr_blob_release(std::exchange(blob_, nullptr)), TNR_STATUS_OK);
  const std::vector<float> zeros(6);
  tnr_blob* const next = tnr_blob_copy(context_, zeros.data(), 24);
  EXPECT_EQ(values_of(sums.view), (std::vector<float>{4, 8, 12, 16, 20, 24}));
  EXPECT_EQ(tnr_blob_release(next), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(sums_blob), TNR_STATUS_OK);
  EXPECT_EQ(tnr_context_release(consumer), TNR_STATUS_OK);
}

// A tensor of a producer of our own, which counts how often it is deleted.
struct Produced {
  explicit Produced(const void* data) {
    managed.major_version = 1;
    managed.manager_context = this;
    managed.deleter = [](DLManagedTensorVersioned* self) {
      ++static_cast<Produced*>(self->manager_context)->deleted;
    };
    managed.tensor = {.data = const_cast<void*>(data),
                      .device = {2, 0},
                      .rank = 2,
                      .dtype_code = 2,
                      .dtype_bits = 32,
                      .dtype_lanes = 1,
                      .shape = shape,
                      .strides = nullptr,
                      .offset_bytes = 0};
  }
  DLManagedTensorVersioned managed = {};
  std::int64_t shape[2] = {2, 3};
  int deleted = 0;
};

TEST_F(DeviceExchange, TheDeleterRunsOnceAfterTheWork) {
  Produced produced(view_.view.data);
  tnr_view taken;
  tnr_blob* const blob = tnr_blob_import_on(context_, &produced.managed, &taken);
  ASSERT_NE(blob, nullptr) << tnr_last_error()->message;
  ASSERT_EQ(twice(context_, taken), TNR_STATUS_OK);
  EXPECT_EQ(produced.deleted, 0);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(produced.deleted, 1);
  EXPECT_EQ(values_of(view_.view), kTwice);
}

TEST_F(DeviceExchange, WhatIsNotOnTheDeviceIsNotTaken) {
  tnr_view taken;
  Produced elsewhere(view_.view.data);
  elsewhere.managed.tensor.device = {2, 7};
  expect_refused(tnr_blob_import_on(context_, &elsewhere.managed, &taken), TNR_STATUS_UNSUPPORTED,
                 {"tensor.device is cuda:7 but must be cuda:0"});
  elsewhere.managed.tensor.device = {1, 0};
  expect_refused(tnr_blob_import_on(context_, &elsewhere.managed, &taken), TNR_STATUS_UNSUPPORTED,
                 {"tensor.device is the CPU but must be cuda:0"});
  elsewhere.managed.tensor.device = {13, 0};  // managed
  expect_refused(tnr_blob_import_on(context_, &elsewhere.managed, &taken), TNR_STATUS_UNSUPPORTED,
                 {"kind 13"});
  elsewhere.managed.tensor.device = {2, 0};
  expect_refused(tnr_blob_import(&elsewhere.managed, &taken), TNR_STATUS_UNSUPPORTED,
                 {"tensor.device is cuda:0 but must be the CPU"});
  Produced lie(kValues.data());
  expect_refused(tnr_blob_import_on(context_, &lie.managed, &taken), TNR_STATUS_INVALID_ARGUMENT,
                 {"no memory of cuda:0"});
  EXPECT_EQ(elsewhere.deleted + lie.deleted, 0);
}

TEST_F(DeviceExchange, AViewOfAnotherDeviceIsNotGiven) {
  DLManagedTensorVersioned* tensor = nullptr;
  expect_refused(tnr_view_export(&view_.view, 0, &tensor), TNR_STATUS_UNSUPPORTED,
                 {"view.device is cuda:0"});
  tnr_blob* const cpu = tnr_blob_copy(nullptr, kValues.data(), 24);
  tnr_view view;
  ASSERT_EQ(tnr_blob_view(cpu, 0, TNR_DTYPE_F32, 2, kShape, nullptr, &view), TNR_STATUS_OK);
  expect_refused(tnr_view_export_on(context_, &view, 0, &tensor), TNR_STATUS_UNSUPPORTED,
                 {"view.device is the CPU but must be cuda:0"});
  EXPECT_EQ(tnr_blob_release(cpu), TNR_STATUS_OK);
  EXPECT_EQ(tensor, nullptr);
}

}  // namespace
