// Exports and imports of tensors on a device by DLPack and by CUDA's array interface, and the order
// of the streams of both libraries.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "device_fixture.hpp"
#include "device_floats.hpp"
#include "expect_status.hpp"
#include "release_counter.hpp"
#include "tenure/dlpack.hpp"
#include "tenure/tenure.h"

namespace {

using tenure::test::expect_refused;
using tenure::test::OnDevice;
using tenure::test::ReleaseCounter;
using tenure::test::totals;

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

// A consumer that works on a stream of its own reads the results of earlier work. The memory is
// reused only after the work that the consumer enqueues before it deletes the tensor.
TEST_F(DeviceExchange, TheConsumersStreamIsInOrder) {
  tnr_context* const consumer = tenure::test::context_on(tenure::test::kFirstDevice);
  ASSERT_NE(consumer, nullptr);
  ASSERT_EQ(twice(context_, view_.view), TNR_STATUS_OK);
  DLManagedTensorVersioned* tensor = nullptr;
  ASSERT_EQ(tnr_view_export_on(consumer, &view_.view, 0, &tensor), TNR_STATUS_OK)
      << tnr_last_error()->message;
  // The consumer acts like a library that knows only the address and its own stream, not the blob.
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

// ---- DLPack's table of a library ----

// A library with a stream of its own, whose objects are Produced.
struct Library {
  static int tensor_of(void* object, DLManagedTensorVersioned** out) {
    if (object == nullptr) return -1;
    *out = &static_cast<Produced*>(object)->managed;
    return 0;
  }
  static int current_stream(std::int32_t kind, std::int32_t index, void** out) {
    if (kind != 2 || index != 0 || refuses_streams) return -1;
    *out = reinterpret_cast<void*>(static_cast<std::uintptr_t>(stream));
    return 0;
  }
  static inline std::uint64_t stream = 0;
  static inline bool refuses_streams = false;
};

DLPackExchangeAPI table_of(std::uint32_t major_version) {
  DLPackExchangeAPI table = {};
  table.header.major_version = major_version;
  table.header.minor_version = 3;
  table.tensor_from_object = Library::tensor_of;
  table.current_work_stream = Library::current_stream;
  return table;
}

// The number of a context's stream.
std::uint64_t stream_of(tnr_context* context, const tnr_view& view) {
  tnr_cuda_array array = {};
  array.struct_size = sizeof array;
  EXPECT_EQ(tnr_view_describe_array(context, &view, &array), TNR_STATUS_OK)
      << tnr_last_error()->message;
  return array.stream;
}

TEST_F(DeviceExchange, ObjectsComeAfterTheWorkOfTheirLibrary) {
  tnr_context* const producer = tenure::test::context_on(tenure::test::kFirstDevice);
  ASSERT_NE(producer, nullptr);
  Library::stream = stream_of(producer, view_.view);
  // Work that knows nothing of the blob.
  tnr_view unknown = view_.view;
  unknown.owner = 0;
  ASSERT_EQ(twice(producer, unknown), TNR_STATUS_OK);
  Produced object(view_.view.data);
  const DLPackExchangeAPI table = table_of(1);
  const tnr_stats before = totals();
  tnr_view taken;
  tnr_blob* const blob = tnr_blob_import_object(context_, &table, &object, &taken);
  ASSERT_NE(blob, nullptr) << tnr_last_error()->message;
  EXPECT_EQ(totals().device_waits, before.device_waits);
  EXPECT_EQ(values_of(taken), kTwice);
  EXPECT_EQ(object.deleted, 0);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(object.deleted, 1);
  // NULL is CUDA's legacy default stream.
  Library::stream = 0;
  tnr_blob* const again = tnr_blob_import_object(context_, &table, &object, &taken);
  ASSERT_NE(again, nullptr) << tnr_last_error()->message;
  EXPECT_EQ(tnr_blob_release(again), TNR_STATUS_OK);
  EXPECT_EQ(tnr_context_release(producer), TNR_STATUS_OK);
}

TEST_F(DeviceExchange, TablesThatRefuseTakeNothing) {
  Produced object(view_.view.data);
  DLPackExchangeAPI newer = table_of(2);
  tnr_view taken;
  expect_refused(tnr_blob_import_object(context_, &newer, &object, &taken), TNR_STATUS_UNSUPPORTED,
                 {"exchange.version is 2.3 but must be 1.x"});
  EXPECT_EQ(object.deleted, 0);
  // An older one in its chain is understood.
  const DLPackExchangeAPI known = table_of(1);
  newer.header.older = &known.header;
  tnr_blob* const blob = tnr_blob_import_object(context_, &newer, &object, &taken);
  ASSERT_NE(blob, nullptr) << tnr_last_error()->message;
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(object.deleted, 1);
  expect_refused(tnr_blob_import_object(context_, &known, nullptr, &taken),
                 TNR_STATUS_INVALID_ARGUMENT, {"managed_tensor_from_py_object_no_sync", "-1"});
  // A tensor that was made and cannot be taken is deleted.
  Library::refuses_streams = true;
  expect_refused(tnr_blob_import_object(context_, &known, &object, &taken),
                 TNR_STATUS_INVALID_ARGUMENT, {"current_work_stream", "cuda:0"});
  Library::refuses_streams = false;
  EXPECT_EQ(object.deleted, 2);
  Produced elsewhere(view_.view.data);
  elsewhere.managed.tensor.device = {2, 7};
  expect_refused(tnr_blob_import_object(context_, &known, &elsewhere, &taken),
                 TNR_STATUS_UNSUPPORTED, {"tensor.device is cuda:7"});
  EXPECT_EQ(elsewhere.deleted, 1);
}

// ---- CUDA's array interface ----

// 2 x 3 floats, as a library describes them.
tnr_cuda_array array_at(const void* data) {
  tnr_cuda_array array = {};
  array.struct_size = sizeof array;
  array.data = data;
  array.rank = 2;
  array.shape[0] = 2;
  array.shape[1] = 3;
  std::strcpy(array.typestr, "<f4");
  return array;
}

TEST_F(DeviceExchange, ArraysAreTaken) {
  ReleaseCounter counter;
  tnr_cuda_array array = array_at(view_.view.data);
  tnr_view taken;
  tnr_blob* const blob =
      tnr_blob_import_array(context_, &array, ReleaseCounter::callback, counter.context(), &taken);
  ASSERT_NE(blob, nullptr) << tnr_last_error()->message;
  EXPECT_EQ(twice(context_, taken), TNR_STATUS_OK);
  EXPECT_EQ(values_of(taken), kTwice);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(counter.count(), 1);
  // A read-only view of the columns.
  array.has_strides = 1;
  array.strides_bytes[0] = 4;
  array.strides_bytes[1] = 8;
  array.is_read_only = 1;
  tnr_blob* const shared =
      tnr_blob_import_array(context_, &array, ReleaseCounter::callback, counter.context(), &taken);
  ASSERT_NE(shared, nullptr) << tnr_last_error()->message;
  EXPECT_EQ(values_of(taken), (std::vector<float>{2, 6, 10, 4, 8, 12}));
  expect_refused(twice(context_, taken), TNR_STATUS_INVALID_ARGUMENT, {"shared"});
  EXPECT_EQ(tnr_blob_release(shared), TNR_STATUS_OK);
  EXPECT_EQ(counter.count(), 2);
}

TEST_F(DeviceExchange, ArraysComeAfterTheWorkOfTheirStream) {
  tnr_context* const producer = tenure::test::context_on(tenure::test::kFirstDevice);
  ASSERT_NE(producer, nullptr);
  tnr_view unknown = view_.view;
  unknown.owner = 0;
  ASSERT_EQ(twice(producer, unknown), TNR_STATUS_OK);
  tnr_cuda_array array = {};
  array.struct_size = sizeof array;
  // The producer describes the array, and the consumer imports the description.
  ASSERT_EQ(tnr_view_describe_array(producer, &view_.view, &array), TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_STREQ(array.typestr, "<f4");
  EXPECT_EQ(array.data, view_.view.data);
  EXPECT_EQ(array.strides_bytes[0], 12);
  EXPECT_EQ(array.strides_bytes[1], 4);
  EXPECT_EQ(array.is_read_only, 0u);
  EXPECT_GT(array.stream, 2u);
  const tnr_stats before = totals();
  tnr_view taken;
  tnr_blob* const blob = tnr_blob_import_array(context_, &array, nullptr, nullptr, &taken);
  ASSERT_NE(blob, nullptr) << tnr_last_error()->message;
  EXPECT_EQ(totals().device_waits, before.device_waits);
  EXPECT_EQ(values_of(taken), kTwice);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(tnr_context_release(producer), TNR_STATUS_OK);
}

TEST_F(DeviceExchange, EachTypestrIsItsDtype) {
  const struct {
    const char* typestr;
    tnr_dtype dtype;
  } known[] = {{"<f8", TNR_DTYPE_F64}, {"<f2", TNR_DTYPE_F16},  {"|i1", TNR_DTYPE_I8},
               {"<i1", TNR_DTYPE_I8},  {"<i2", TNR_DTYPE_I16},  {"=i4", TNR_DTYPE_I32},
               {"<i8", TNR_DTYPE_I64}, {"|u1", TNR_DTYPE_U8},   {"<u2", TNR_DTYPE_U16},
               {"<u4", TNR_DTYPE_U32}, {"<u8", TNR_DTYPE_U64},  {"|b1", TNR_DTYPE_BOOL8},
               {"<c8", TNR_DTYPE_C64}, {"<c16", TNR_DTYPE_C128}};
  for (const auto& [typestr, dtype] : known) {
    tnr_cuda_array array = array_at(view_.view.data);
    std::strcpy(array.typestr, typestr);
    array.rank = 1;
    array.shape[0] = 1;
    tnr_view taken;
    tnr_blob* const blob = tnr_blob_import_array(context_, &array, nullptr, nullptr, &taken);
    ASSERT_NE(blob, nullptr) << typestr << tnr_last_error()->message;
    EXPECT_EQ(taken.dtype, dtype) << typestr;
    EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  }
  for (const char* const unknown : {">f4", "|f4", "<f3", "<f44", "f4", "", "<V2", "<f4:", "|S1"}) {
    tnr_cuda_array array = array_at(view_.view.data);
    std::strcpy(array.typestr, unknown);
    tnr_view taken;
    expect_refused(tnr_blob_import_array(context_, &array, nullptr, nullptr, &taken),
                   TNR_STATUS_UNSUPPORTED, {"array.typestr is \"" + std::string(unknown) + "\""});
  }
}

TEST_F(DeviceExchange, ArraysThatAreNoneAreRefused) {
  ReleaseCounter counter;
  tnr_view taken;
  const auto refused = [&](const tnr_cuda_array& array, const std::string& words) {
    expect_refused(tnr_blob_import_array(context_, &array, ReleaseCounter::callback,
                                         counter.context(), &taken),
                   TNR_STATUS_INVALID_ARGUMENT, {words});
  };
  tnr_cuda_array array = array_at(view_.view.data);
  array.rank = 9;
  refused(array, "array.rank is 9");
  array = array_at(view_.view.data);
  array.has_strides = 1;
  array.strides_bytes[0] = 13;
  array.strides_bytes[1] = 4;
  refused(array, "array.strides_bytes[0] is 13");
  array = array_at(view_.view.data);
  array.is_read_only = 2;
  refused(array, "array.is_read_only is 2");
  array = array_at(view_.view.data);
  array.has_strides = 2;
  refused(array, "array.has_strides is 2");
  array = array_at(view_.view.data);
  array.reserved = 1;
  refused(array, "array.reserved is 1");
  array = array_at(view_.view.data);
  array.shape[0] = -1;
  refused(array, "shape[0] is -1");
  refused(array_at(kValues.data()), "no memory of cuda:0");
  array = array_at(view_.view.data);
  expect_refused(tnr_blob_import_array(nullptr, &array, nullptr, nullptr, &taken),
                 TNR_STATUS_INVALID_ARGUMENT, {"no device"});
  EXPECT_EQ(counter.count(), 0);

  expect_refused(tnr_view_describe_array(nullptr, &view_.view, &array), TNR_STATUS_INVALID_ARGUMENT,
                 {"no device"});
  tnr_view view = view_.view;
  view.owner = 0;
  expect_refused(tnr_view_describe_array(context_, &view, &array), TNR_STATUS_INVALID_ARGUMENT,
                 {"view.owner is 0"});
  ASSERT_EQ(tnr_blob_view(blob_, 0, TNR_DTYPE_BF16, 2, kShape, nullptr, &view), TNR_STATUS_OK);
  expect_refused(tnr_view_describe_array(context_, &view, &array), TNR_STATUS_UNSUPPORTED,
                 {"bf16"});
}

}  // namespace
