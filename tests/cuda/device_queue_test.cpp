// Contexts with a device, blobs on it, the order of calls between contexts, and the messages of
// failures. The tests run on a GPU and with the fake driver; those of faults run only with the
// fake driver.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cuda/driver.hpp"
#include "cuda/kernels.hpp"
#include "device_child.hpp"
#include "device_fixture.hpp"
#include "device_floats.hpp"
#include "expect_status.hpp"
#include "release_counter.hpp"
#include "tenure/tenure.h"
#include "unseen.hpp"

namespace {

using tenure::test::Child;
using tenure::test::context_on;
using tenure::test::download;
using tenure::test::expect_child_says;
using tenure::test::expect_refused;
using tenure::test::Floats;
using tenure::test::lend;
using tenure::test::OnDevice;
using tenure::test::ReleaseCounter;
using tenure::test::run_child;
using tenure::test::totals;
using tenure::test::unseen;
using tenure::test::Variable;

using DeviceQueue = OnDevice;
using DeviceBlob = OnDevice;
using DeviceTransfer = OnDevice;

tnr_status add(tnr_context* context, const Floats& a, const Floats& b, const Floats& out) {
  return tnr_binary(context, TNR_BINARY_OP_ADD, a.in(), b.in(), nullptr, &out.out);
}

// ---- devices and contexts ----

TEST_F(DeviceQueue, DevicesAreCountedAndDescribed) {
  std::uint32_t count = 0;
  ASSERT_EQ(tnr_device_count(TNR_DEVICE_KIND_CUDA, &count), TNR_STATUS_OK);
  EXPECT_GE(count, 1u);
  tnr_device_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(tnr_device_describe(tenure::test::kFirstDevice, &info), TNR_STATUS_OK);
  EXPECT_NE(info.name[0], '\0');
  EXPECT_GE(info.capability_major, 8u);
  EXPECT_GT(info.memory_bytes, 1u << 20);
  EXPECT_GT(info.multiprocessor_count, 0u);
  const tnr_device cpu = {TNR_DEVICE_KIND_CPU, 0};
  ASSERT_EQ(tnr_device_describe(cpu, &info), TNR_STATUS_OK);
  EXPECT_STREQ(info.name, "CPU");
  ASSERT_EQ(tnr_device_count(TNR_DEVICE_KIND_CPU, &count), TNR_STATUS_OK);
  EXPECT_EQ(count, 1u);
}

TEST_F(DeviceQueue, WrongDevicesAreRefused) {
  std::uint32_t count = 0;
  tnr_device_info info = {};
  info.struct_size = sizeof info;
  expect_refused(tnr_device_count(7, &count), TNR_STATUS_INVALID_ARGUMENT, {"kind is 7"});
  expect_refused(tnr_device_describe({7, 0}, &info), TNR_STATUS_INVALID_ARGUMENT, {"kind 7"});
  expect_refused(tnr_device_describe({TNR_DEVICE_KIND_CUDA, 99}, &info),
                 TNR_STATUS_INVALID_ARGUMENT, {"cuda:99"});
  expect_refused(context_on({TNR_DEVICE_KIND_CUDA, 99}), TNR_STATUS_INVALID_ARGUMENT, {"cuda:99"});
  expect_refused(context_on({TNR_DEVICE_KIND_CUDA, -1}), TNR_STATUS_INVALID_ARGUMENT, {"cuda:-1"});
  expect_refused(context_on({5, 0}), TNR_STATUS_INVALID_ARGUMENT, {"kind 5"});
  expect_refused(context_on({TNR_DEVICE_KIND_CPU, 1}), TNR_STATUS_INVALID_ARGUMENT,
                 {"device.index is 1"});
  expect_refused(context_on({TNR_DEVICE_KIND_CPU, 0}, 1), TNR_STATUS_INVALID_ARGUMENT,
                 {"stream is 0x1", "CPU"});
}

TEST_F(DeviceQueue, OwnAndDefaultStreamsWork) {
  for (const std::uint64_t stream : {0, 1}) {
    tnr_context* const context = context_on(tenure::test::kFirstDevice, stream);
    ASSERT_NE(context, nullptr) << tnr_last_error()->message;
    {
      const Floats a(context, {1.0f, 2.0f});
      ASSERT_EQ(add(context, a, a, a), TNR_STATUS_OK) << tnr_last_error()->message;
      EXPECT_EQ(download(context, *a.in()), (std::vector<float>{2.0f, 4.0f}));
    }
    EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
  }
}

TEST_F(DeviceQueue, AStreamOfEachThreadIsRefused) {
  expect_refused(context_on(tenure::test::kFirstDevice, 2), TNR_STATUS_INVALID_ARGUMENT,
                 {"stream is 2", "per-thread"});
}

// Only the fake driver can detect an invalid handle.
TEST_F(DeviceQueue, UnknownStreamsAreRefused) {
  if (!tenure::test::is_driver_fake())
    GTEST_SKIP() << "a driver may read through a handle that is none";
  expect_refused(context_on(tenure::test::kFirstDevice, 0x1230), TNR_STATUS_INVALID_ARGUMENT,
                 {"stream is 0x1230"});
}

TEST_F(DeviceQueue, ViewsOfTheCpuAreComputedByTheCpu) {
  std::vector<float> values = {1.0f, 2.0f, 3.0f};
  const tnr_view_mut view = lend(values);
  const tnr_stats before = totals();
  ASSERT_EQ(tnr_binary(context_, TNR_BINARY_OP_MUL, &view.view, &view.view, nullptr, &view),
            TNR_STATUS_OK);
  EXPECT_EQ(values, (std::vector<float>{1.0f, 4.0f, 9.0f}));
  EXPECT_EQ(totals().device_launches, before.device_launches);
}

TEST_F(DeviceQueue, CallsEnqueueAndDoNotWait) {
  const Floats a(context_, std::vector<float>(1000, 1.0f));
  const tnr_stats before = totals();
  for (int i = 0; i < 10; ++i) ASSERT_EQ(add(context_, a, a, a), TNR_STATUS_OK);
  const tnr_stats enqueued = totals();
  EXPECT_EQ(enqueued.device_launches, before.device_launches + 10);
  EXPECT_EQ(enqueued.device_waits, before.device_waits);
  ASSERT_EQ(tnr_context_wait(context_), TNR_STATUS_OK);
  EXPECT_EQ(totals().device_waits, before.device_waits + 1);
  EXPECT_EQ(download(context_, *a.in()), std::vector<float>(1000, 1024.0f));
}

TEST_F(DeviceQueue, WaitAndFollowTakeContextsWithoutADevice) {
  EXPECT_EQ(tnr_context_wait(nullptr), TNR_STATUS_OK);
  EXPECT_EQ(tnr_context_follow(nullptr, nullptr), TNR_STATUS_OK);
  EXPECT_EQ(tnr_context_follow(context_, nullptr), TNR_STATUS_OK);
  const tnr_stats before = totals();
  EXPECT_EQ(tnr_context_follow(nullptr, context_), TNR_STATUS_OK);  // the CPU waits
  EXPECT_EQ(totals().device_waits, before.device_waits + 1);
  EXPECT_EQ(tnr_context_follow(context_, context_), TNR_STATUS_OK);
  auto* const garbage = reinterpret_cast<tnr_context*>(unseen(std::uintptr_t{0x1234}));
  expect_refused(tnr_context_wait(garbage), TNR_STATUS_STALE_HANDLE, {"0x1234"});
  expect_refused(tnr_context_follow(context_, garbage), TNR_STATUS_STALE_HANDLE, {"0x1234"});
}

// ---- blobs ----

TEST_F(DeviceBlob, KeepsItsContext) {
  tnr_context* const context = context_on(tenure::test::kFirstDevice);
  ASSERT_NE(context, nullptr);
  Floats a(context, {1.0f, 2.0f});
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
  // Its stream is still there, for other contexts and for the end of the blob.
  EXPECT_EQ(download(context_, *a.in()), (std::vector<float>{1.0f, 2.0f}));
}

TEST_F(DeviceBlob, IsDescribedAndViewedOnItsDevice) {
  tnr_blob* const blob = tnr_blob_alloc(context_, 64);
  ASSERT_NE(blob, nullptr) << tnr_last_error()->message;
  tnr_blob_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(tnr_blob_describe(blob, &info), TNR_STATUS_OK);
  EXPECT_EQ(info.device.kind, TNR_DEVICE_KIND_CUDA);
  EXPECT_EQ(info.device.index, 0);
  EXPECT_EQ(info.tenure, TNR_TENURE_ALLOCATED);
  EXPECT_EQ(info.size_bytes, 64u);
  const std::int64_t shape[] = {4, 4};
  tnr_view view;
  ASSERT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_F32, 2, shape, nullptr, &view), TNR_STATUS_OK);
  EXPECT_EQ(view.device.kind, TNR_DEVICE_KIND_CUDA);
  EXPECT_EQ(tnr_view_check(&view), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(tnr_view_count(&view), 16);
  tnr_view turned;
  ASSERT_EQ(tnr_view_transpose(&view, 0, 1, &turned), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(turned.device.kind, TNR_DEVICE_KIND_CUDA);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  expect_refused(tnr_view_check(&view), TNR_STATUS_STALE_VIEW, {"released"});
}

TEST_F(DeviceBlob, MayBeEmpty) {
  tnr_blob* const blob = tnr_blob_alloc(context_, 0);
  ASSERT_NE(blob, nullptr) << tnr_last_error()->message;
  const std::int64_t shape[] = {0};
  tnr_view_mut view;
  ASSERT_EQ(tnr_blob_view_mut(blob, 0, TNR_DTYPE_F32, 1, shape, nullptr, &view), TNR_STATUS_OK);
  EXPECT_EQ(tnr_unary(context_, TNR_UNARY_OP_EXP, &view.view, nullptr, &view), TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  ReleaseCounter counter;
  tnr_blob* const adopted =
      tnr_blob_adopt_on(context_, nullptr, 0, ReleaseCounter::callback, counter.context());
  ASSERT_NE(adopted, nullptr);
  EXPECT_EQ(tnr_blob_release(adopted), TNR_STATUS_OK);
  EXPECT_EQ(counter.count(), 1);
}

// Memory of the device that the caller has, for lending: that of a blob.
class DeviceLoan : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (context_ == nullptr) return;
    lender_ = tnr_blob_copy(context_, kValues.data(), kBytes);
    ASSERT_NE(lender_, nullptr);
    data_ = tnr_blob_data_mut(lender_);
  }
  void TearDown() override {
    if (lender_ != nullptr) {
      EXPECT_EQ(tnr_blob_release(lender_), TNR_STATUS_OK);
    }
    OnDevice::TearDown();
  }
  tnr_view_mut view_of(tnr_blob* blob) {
    const std::int64_t shape[] = {static_cast<std::int64_t>(kValues.size())};
    tnr_view_mut view;
    EXPECT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_F32, 1, shape, nullptr, &view.view), TNR_STATUS_OK);
    return view;
  }
  tnr_status twice(const tnr_view_mut& view) {
    return tnr_binary(context_, TNR_BINARY_OP_ADD, &view.view, &view.view, nullptr, &view);
  }

  const std::vector<float> kValues = {1.0f, 2.0f, 3.0f, 4.0f};
  const std::vector<float> kTwice = {2.0f, 4.0f, 6.0f, 8.0f};
  const std::size_t kBytes = 16;
  tnr_blob* lender_ = nullptr;
  void* data_ = nullptr;
};

TEST_F(DeviceLoan, AdoptedMemoryIsGivenBackAfterItsWork) {
  ReleaseCounter counter;
  tnr_blob* const blob =
      tnr_blob_adopt_on(context_, data_, kBytes, ReleaseCounter::callback, counter.context());
  ASSERT_NE(blob, nullptr) << tnr_last_error()->message;
  ASSERT_EQ(twice(view_of(blob)), TNR_STATUS_OK) << tnr_last_error()->message;
  const tnr_stats before = totals();
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(counter.count(), 1);
  EXPECT_EQ(totals().device_waits, before.device_waits + 1);
  EXPECT_EQ(download(context_, view_of(lender_).view), kTwice);
}

TEST_F(DeviceLoan, AdoptedMemoryCanBeReclaimed) {
  ReleaseCounter counter;
  tnr_blob* const blob =
      tnr_blob_adopt_on(context_, data_, kBytes, ReleaseCounter::callback, counter.context());
  ASSERT_NE(blob, nullptr);
  ASSERT_EQ(twice(view_of(blob)), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_reclaim(blob, counter.context()), TNR_STATUS_OK);
  EXPECT_EQ(counter.count(), 0);
  EXPECT_EQ(download(context_, view_of(lender_).view), kTwice);
}

TEST_F(DeviceLoan, SharedAndBorrowedMemoryIsNotWritten) {
  ReleaseCounter counter;
  tnr_blob* const shared =
      tnr_blob_share_on(context_, data_, kBytes, ReleaseCounter::callback, counter.context());
  tnr_blob* const borrowed = tnr_blob_borrow_on(context_, data_, kBytes);
  ASSERT_NE(shared, nullptr) << tnr_last_error()->message;
  ASSERT_NE(borrowed, nullptr) << tnr_last_error()->message;
  expect_refused(twice(view_of(shared)), TNR_STATUS_INVALID_ARGUMENT, {"shared"});
  expect_refused(twice(view_of(borrowed)), TNR_STATUS_INVALID_ARGUMENT, {"borrowed"});
  EXPECT_EQ(download(context_, view_of(shared).view), kValues);
  EXPECT_EQ(tnr_blob_release(shared), TNR_STATUS_OK);
  EXPECT_EQ(counter.count(), 1);
  EXPECT_EQ(tnr_blob_end_borrow(borrowed), TNR_STATUS_OK);
  EXPECT_EQ(twice(view_of(lender_)), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(borrowed), TNR_STATUS_OK);
}

TEST_F(DeviceLoan, EndOfABorrowWaitsForItsWork) {
  tnr_blob* const blob = tnr_blob_borrow_mut_on(context_, data_, kBytes);
  ASSERT_NE(blob, nullptr);
  const tnr_view_mut view = view_of(blob);
  ASSERT_EQ(twice(view), TNR_STATUS_OK);
  const tnr_stats before = totals();
  EXPECT_EQ(tnr_blob_end_borrow(blob), TNR_STATUS_OK);
  EXPECT_EQ(totals().device_waits, before.device_waits + 1);
  expect_refused(twice(view), TNR_STATUS_STALE_VIEW, {"borrow has ended"});
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(download(context_, view_of(lender_).view), kTwice);
}

TEST_F(DeviceLoan, WithoutADeviceTheMemoryIsTheCpus) {
  std::vector<float> values = kValues;
  ReleaseCounter counter;
  tnr_blob* const blob = tnr_blob_adopt_on(nullptr, values.data(), kBytes, ReleaseCounter::callback,
                                           counter.context());
  ASSERT_NE(blob, nullptr);
  EXPECT_EQ(view_of(blob).view.device.kind, TNR_DEVICE_KIND_CPU);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(counter.count(), 1);
}

TEST_F(DeviceLoan, MemoryOfTheCpuIsNoMemoryOfTheDevice) {
  std::vector<float> values = kValues;
  ReleaseCounter counter;
  expect_refused(tnr_blob_adopt_on(context_, values.data(), kBytes, ReleaseCounter::callback,
                                   counter.context()),
                 TNR_STATUS_INVALID_ARGUMENT, {"no memory of cuda:0"});
  expect_refused(tnr_blob_share_on(context_, values.data(), kBytes, nullptr, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"no memory of cuda:0"});
  expect_refused(tnr_blob_borrow_on(context_, values.data(), kBytes), TNR_STATUS_INVALID_ARGUMENT,
                 {"no memory of cuda:0"});
  expect_refused(tnr_blob_borrow_mut_on(context_, unseen<float*>(nullptr), kBytes),
                 TNR_STATUS_INVALID_ARGUMENT, {"NULL"});
  EXPECT_EQ(counter.count(), 0);
}

// ---- views that lie, and calls without the right context ----

TEST_F(DeviceBlob, NoCallReadsItOnTheCpu) {
  const Floats a(context_, {1.0f, 2.0f});
  Floats cpu(nullptr, {5.0f, 6.0f});
  // Without a device.
  expect_refused(add(nullptr, a, a, a), TNR_STATUS_INVALID_ARGUMENT, {"cuda:0", "no device"});
  // Mixed.
  expect_refused(add(context_, a, cpu, a), TNR_STATUS_UNSUPPORTED, {"b.device is the CPU"});
  expect_refused(add(context_, a, cpu, cpu), TNR_STATUS_UNSUPPORTED, {"a.device is cuda:0"});
  // A view that says that its bytes are elsewhere.
  tnr_view lie = *a.in();
  lie.device = {TNR_DEVICE_KIND_CPU, 0};
  tnr_view_mut out = cpu.out;
  expect_refused(tnr_copy(nullptr, &lie, nullptr, &out), TNR_STATUS_INVALID_ARGUMENT,
                 {"a.device is the CPU", "cuda:0"});
  expect_refused(tnr_view_check(&lie), TNR_STATUS_INVALID_ARGUMENT, {"cuda:0"});
  out.view.device = tenure::test::kFirstDevice;
  expect_refused(tnr_copy(context_, a.in(), nullptr, &out), TNR_STATUS_INVALID_ARGUMENT,
                 {"out.device is cuda:0", "the CPU"});
  lie = *a.in();
  lie.device.index = 1 << 20;  // no device has it, and no slot can name it
  expect_refused(tnr_view_check(&lie), TNR_STATUS_INVALID_ARGUMENT, {"cuda:1048576"});
  lie.device = {17, 0};
  expect_refused(tnr_view_check(&lie), TNR_STATUS_UNSUPPORTED, {"kind 17"});
  // An operation that the device has not.
  expect_refused(tnr_partition(context_, a.in(), 0, 1, nullptr, nullptr, &a.out),
                 TNR_STATUS_UNSUPPORTED, {"cuda:0"});
  EXPECT_EQ(download(context_, *a.in()), (std::vector<float>{1.0f, 2.0f}));
}

TEST_F(DeviceBlob, OfAnotherDeviceIsRefused) {
  const Variable two("TENURE_FAKE_CUDA_DEVICES", "2");
  std::uint32_t count = 0;
  ASSERT_EQ(tnr_device_count(TNR_DEVICE_KIND_CUDA, &count), TNR_STATUS_OK);
  if (count < 2) GTEST_SKIP() << "one device";
  tnr_context* const other = context_on({TNR_DEVICE_KIND_CUDA, 1});
  ASSERT_NE(other, nullptr) << tnr_last_error()->message;
  {
    const Floats a(context_, {1.0f});
    expect_refused(add(other, a, a, a), TNR_STATUS_INVALID_ARGUMENT, {"cuda:0", "cuda:1"});
    // Each context computes with its own blobs.
    const Floats b(other, {2.0f});
    ASSERT_EQ(add(other, b, b, b), TNR_STATUS_OK);
    EXPECT_EQ(download(other, *b.in()), std::vector<float>{4.0f});
    expect_refused(add(other, b, a, b), TNR_STATUS_UNSUPPORTED, {"b.device is cuda:0"});
    tnr_view lie = *a.in();
    lie.device.index = 7;
    lie.owner = 0;
    expect_refused(tnr_copy(other, &lie, nullptr, &b.out), TNR_STATUS_INVALID_ARGUMENT, {"cuda:7"});
  }
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

// ---- the order of calls ----

TEST_F(DeviceQueue, CallsThroughTwoContextsAreInOrder) {
  tnr_context* const other = context_on(tenure::test::kFirstDevice);
  ASSERT_NE(other, nullptr);
  {
    const std::vector<float> ones(5000, 1.0f);
    const Floats a(context_, ones);
    const Floats b(other, ones);
    const tnr_stats before = totals();
    for (int i = 0; i < 8; ++i) {
      ASSERT_EQ(add(context_, a, b, a), TNR_STATUS_OK) << tnr_last_error()->message;
      ASSERT_EQ(add(other, a, b, b), TNR_STATUS_OK) << tnr_last_error()->message;
    }
    EXPECT_EQ(totals().device_waits, before.device_waits);
    float x = 1, y = 1;
    for (int i = 0; i < 8; ++i) {
      x += y;
      y += x;
    }
    EXPECT_EQ(download(other, *b.in()), std::vector<float>(5000, y));
    EXPECT_EQ(download(context_, *a.in()), std::vector<float>(5000, x));
  }
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

TEST_F(DeviceQueue, MemoryIsReusedAfterTheLastCallOnIt) {
  tnr_context* const other = context_on(tenure::test::kFirstDevice);
  ASSERT_NE(other, nullptr);
  {
    const Floats sum(other, std::vector<float>(1000, 0.0f));
    for (int i = 1; i <= 20; ++i) {
      Floats part(context_, std::vector<float>(1000, static_cast<float>(i)));
      ASSERT_EQ(add(other, sum, part, sum), TNR_STATUS_OK);
      part.release();  // while `other` may still have to read it
    }
    EXPECT_EQ(download(other, *sum.in()), std::vector<float>(1000, 210.0f));
  }
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

TEST_F(DeviceQueue, FollowOrdersWorkOnMemoryThatNobodyHolds) {
  tnr_context* const other = context_on(tenure::test::kFirstDevice);
  ASSERT_NE(other, nullptr);
  {
    const Floats a(context_, std::vector<float>(1000, 1.0f));
    tnr_view_mut vouched = a.out;
    vouched.view.owner = 0;
    for (int i = 0; i < 4; ++i) {
      for (tnr_context* const context : {context_, other}) {
        tnr_context* const before = context == other ? context_ : other;
        ASSERT_EQ(tnr_context_follow(context, before), TNR_STATUS_OK);
        ASSERT_EQ(
            tnr_binary(context, TNR_BINARY_OP_ADD, &vouched.view, &vouched.view, nullptr, &vouched),
            TNR_STATUS_OK);
      }
    }
    ASSERT_EQ(tnr_context_follow(context_, other), TNR_STATUS_OK);
    EXPECT_EQ(download(context_, *a.in()), std::vector<float>(1000, 256.0f));
  }
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

TEST_F(DeviceQueue, ThreadsUseOneContext) {
  const std::vector<float> ones(777, 1.0f);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, &ones] {
      for (int i = 0; i < 20; ++i) {
        const Floats a(context_, ones);
        EXPECT_EQ(add(context_, a, a, a), TNR_STATUS_OK);
        EXPECT_EQ(download(context_, *a.in()), std::vector<float>(777, 2.0f));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// ---- transfers ----

TEST_F(DeviceTransfer, LayoutsOfBothSidesAreFree) {
  std::vector<float> values(60);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  // 3 x 4 of the 60, on the CPU: dense, transposed, with steps, backwards.
  struct Layout {
    std::vector<std::int64_t> strides;
    std::size_t offset;
  };
  const Layout layouts[] = {{{4, 1}, 0}, {{1, 3}, 0}, {{20, 2}, 1}, {{-4, -1}, 11}, {{0, 1}, 5}};
  for (const Layout& from : layouts) {
    for (const Layout& to : layouts) {
      if (to.strides[0] == 0) continue;  // nobody writes that
      const std::int64_t shape[] = {3, 4};
      tnr_view source;
      ASSERT_EQ(
          tnr_view_lend(values.data(), values.size() * sizeof(float), from.offset * sizeof(float),
                        TNR_DTYPE_F32, 2, shape, from.strides.data(), &source),
          TNR_STATUS_OK);
      const Floats there(context_, std::vector<float>(60, -1.0f));
      tnr_view_mut on_device;
      ASSERT_EQ(tnr_blob_view_mut(there.blob, to.offset * sizeof(float), TNR_DTYPE_F32, 2, shape,
                                  to.strides.data(), &on_device),
                TNR_STATUS_OK)
          << tnr_last_error()->message;
      ASSERT_EQ(tnr_copy(context_, &source, nullptr, &on_device), TNR_STATUS_OK)
          << tnr_last_error()->message;
      // Copies back into another layout of the host. Memory between the elements stays unchanged.
      std::vector<float> back(60, -7.0f);
      const tnr_view_mut target = lend(back, {3, 4}, to.strides, to.offset);
      ASSERT_EQ(tnr_copy(context_, &on_device.view, nullptr, &target), TNR_STATUS_OK)
          << tnr_last_error()->message;
      std::vector<float> expected(60, -7.0f);
      for (std::int64_t i = 0; i < 3; ++i) {
        for (std::int64_t j = 0; j < 4; ++j) {
          const auto place = [&](const Layout& layout) {
            return static_cast<std::size_t>(static_cast<std::int64_t>(layout.offset) +
                                            i * layout.strides[0] + j * layout.strides[1]);
          };
          expected[place(to)] = values[place(from)];
        }
      }
      EXPECT_EQ(back, expected);
    }
  }
}

TEST_F(DeviceTransfer, TruthValuesArrive) {
  std::vector<unsigned char> bytes = {0, 1, 2, 255};
  tnr_blob* const blob = tnr_blob_alloc(context_, 4);
  const std::int64_t shape[] = {4};
  tnr_view_mut there;
  ASSERT_EQ(tnr_blob_view_mut(blob, 0, TNR_DTYPE_BOOL8, 1, shape, nullptr, &there), TNR_STATUS_OK);
  tnr_view_mut host;
  ASSERT_EQ(tnr_view_lend_mut(bytes.data(), 4, 0, TNR_DTYPE_BOOL8, 1, shape, nullptr, &host),
            TNR_STATUS_OK);
  ASSERT_EQ(tnr_copy(context_, &host.view, nullptr, &there), TNR_STATUS_OK)
      << tnr_last_error()->message;
  ASSERT_EQ(tnr_copy(context_, &there.view, nullptr, &host), TNR_STATUS_OK);
  EXPECT_EQ(bytes, (std::vector<unsigned char>{0, 1, 1, 1}));
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
}

TEST_F(DeviceTransfer, ShapesAndDtypesMustBeEqual) {
  const Floats a(context_, {1.0f, 2.0f, 3.0f});
  std::vector<float> two(2);
  const tnr_view_mut out = lend(two);
  expect_refused(tnr_copy(context_, a.in(), nullptr, &out), TNR_STATUS_INVALID_ARGUMENT,
                 {"a.shape[0] is 3", "out.shape[0] is 2"});
  tnr_view_mut other = lend(two);
  other.view.dtype = TNR_DTYPE_I32;
  expect_refused(tnr_copy(context_, a.in(), nullptr, &other), TNR_STATUS_INVALID_ARGUMENT,
                 {"a.dtype is f32"});
  expect_refused(tnr_copy(nullptr, a.in(), nullptr, &out), TNR_STATUS_INVALID_ARGUMENT,
                 {"a.device is cuda:0"});
}

// ---- faults, behind the fake driver ----

class DeviceFault : public OnDevice {
 protected:
  void SetUp() override {
    if (!tenure::test::is_driver_fake()) GTEST_SKIP() << "a GPU does not fail at will";
    OnDevice::SetUp();
  }
};

TEST_F(DeviceFault, MemoryIsAskedForTwice) {
  {
    const Variable once("TENURE_FAKE_CUDA_FAIL", "cuMemAllocAsync:1:2");
    const Floats a(context_, {1.0f});
    EXPECT_EQ(download(context_, *a.in()), std::vector<float>{1.0f});
  }
  const Variable always("TENURE_FAKE_CUDA_FAIL", "cuMemAllocAsync:0:2");
  expect_refused(tnr_blob_alloc(context_, 4096), TNR_STATUS_OUT_OF_MEMORY, {"4096", "cuda:0"});
}

TEST_F(DeviceFault, ALaunchThatFailsIsNamed) {
  const Floats a(context_, {1.0f});
  const Variable launch("TENURE_FAKE_CUDA_FAIL", "cuLaunchKernel");
  expect_refused(add(context_, a, a, a), TNR_STATUS_DEVICE_ERROR, {"tenure_", "CUDA_ERROR"});
}

// A device that has failed says so to each call, and memory of the host is not touched any more.
// In a process of its own: it does not come back.
TEST(DeviceChild, DISABLED_Fails) {
  tnr_context* const context = context_on(tenure::test::kFirstDevice);
  ASSERT_NE(context, nullptr);
  const std::vector<float> ones(300, 1.0f);
  tnr_blob* const blob = tnr_blob_copy(context, ones.data(), 1200);
  ASSERT_NE(blob, nullptr);
  const std::int64_t shape[] = {300};
  tnr_view view;
  ASSERT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_F32, 1, shape, nullptr, &view), TNR_STATUS_OK);
  {
    const Variable failing("TENURE_FAKE_CUDA_FAIL", "cuStreamSynchronize:1:700");
    std::vector<float> back(300);
    const tnr_view_mut out = lend(back);
    expect_refused(tnr_copy(context, &view, nullptr, &out), TNR_STATUS_DEVICE_ERROR,
                   {"cuStreamSynchronize", "ILLEGAL_ADDRESS"});
  }
  expect_refused(tnr_context_wait(context), TNR_STATUS_DEVICE_ERROR, {"ILLEGAL_ADDRESS"});
  const tnr_view_mut out = {view};
  expect_refused(tnr_unary(context, TNR_UNARY_OP_EXP, &view, nullptr, &out),
                 TNR_STATUS_DEVICE_ERROR, {"ILLEGAL_ADDRESS"});
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
  std::printf("message: it failed\n");
}

// A part of the test below: pinned memory, enqueued copies and events. Whatever call fails, no copy
// accesses memory that has ended.
void run_async(tnr_context* context) {
  tnr_blob* const host = tnr_blob_alloc_pinned(context, 1200);
  tnr_blob* const blob = tnr_blob_alloc(context, 1200);
  if (host != nullptr && blob != nullptr) {
    const std::int64_t shape[] = {300};
    tnr_view from;
    tnr_view_mut to;
    ASSERT_EQ(tnr_blob_view(host, 0, TNR_DTYPE_F32, 1, shape, nullptr, &from), TNR_STATUS_OK);
    ASSERT_EQ(tnr_blob_view_mut(blob, 0, TNR_DTYPE_F32, 1, shape, nullptr, &to), TNR_STATUS_OK);
    const auto expect_known = [](tnr_status status) {
      EXPECT_TRUE(status == TNR_STATUS_OK || status == TNR_STATUS_DEVICE_ERROR ||
                  status == TNR_STATUS_OUT_OF_MEMORY)
          << tnr_last_error()->message;
    };
    expect_known(tnr_copy_async(context, &from, nullptr, &to));
    tnr_event* const event = tnr_event_create(context);
    std::uint32_t is_done = 0;
    if (event != nullptr) {
      expect_known(tnr_event_query(event, &is_done));
      expect_known(tnr_context_follow_event(context, event));
      expect_known(tnr_event_wait(event));
    }
    EXPECT_EQ(tnr_event_release(event), TNR_STATUS_OK);
  }
  EXPECT_EQ(tnr_blob_release(host), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
}

// Everything that the program does with a device, from the first call on. The tests below run it
// in a process of its own. It prints the first message, and fails only if a call returns a status
// that it must not return.
TEST(DeviceChild, DISABLED_Run) {
  tnr_context* const context = context_on(tenure::test::kFirstDevice);
  if (context == nullptr) {
    const tnr_error* const error = tnr_last_error();
    std::printf("message: %s (%s)\n", error->message, tnr_status_name(error->status));
    return;
  }
  const std::vector<float> ones(300, 1.0f);
  const std::size_t size_bytes = ones.size() * sizeof(float);
  tnr_context* const other = context_on(tenure::test::kFirstDevice);
  tnr_blob* const blob = tnr_blob_copy(context, ones.data(), size_bytes);
  if (blob == nullptr || other == nullptr) {
    std::printf("message: %s\n", tnr_last_error()->message);
  } else {
    const std::int64_t shape[] = {300};
    tnr_view_mut view;
    ASSERT_EQ(tnr_blob_view_mut(blob, 0, TNR_DTYPE_F32, 1, shape, nullptr, &view), TNR_STATUS_OK);
    tnr_status status =
        tnr_binary(other, TNR_BINARY_OP_ADD, &view.view, &view.view, nullptr, &view);
    std::vector<float> back(300);
    const tnr_view_mut out = lend(back);
    if (status == TNR_STATUS_OK) status = tnr_copy(context, &view.view, nullptr, &out);
    if (status != TNR_STATUS_OK) {
      std::printf("message: %s\n", tnr_last_error()->message);
    } else {
      EXPECT_EQ(back, std::vector<float>(300, 2.0f));
      std::printf("message: none\n");
    }
    tnr_blob* const loan = tnr_blob_borrow_on(context, tnr_blob_data(blob), size_bytes);
    if (loan != nullptr) {
      EXPECT_EQ(tnr_blob_end_borrow(loan), TNR_STATUS_OK);
      EXPECT_EQ(tnr_blob_release(loan), TNR_STATUS_OK);
    }
  }
  run_async(context);
  tnr_memory_trim();
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
}

TEST_F(DeviceFault, EachReasonForNoDeviceIsNamed) {
  expect_child_says("TENURE_CUDA_DRIVER=/nonexistent.so", "the driver cannot be opened");
  expect_child_says("TENURE_FAKE_CUDA_VERSION=12040",
                    "the driver is of CUDA 12.4 but must be of 13.0 or newer");
  expect_child_says("TENURE_FAKE_CUDA_DEVICES=0", "the driver finds none");
  expect_child_says("TENURE_FAKE_CUDA_CAPABILITY=75", "compute capability 7.5");
  expect_child_says("TENURE_FAKE_CUDA_LACKS=cuLibraryLoadData",
                    "the driver has no cuLibraryLoadData");
  expect_child_says("TENURE_FAKE_CUDA_FAIL=cuInit:0:999", "the driver does not start");
  expect_child_says("TENURE_FAKE_CUDA_FAIL=cuLibraryLoadData:0:209", "no kernels here");
}

// A GPU's driver has no kernels of its own. The core that is instrumented for ASan never has a fat
// binary; that of the other builds may have one.
TEST_F(DeviceFault, ALibraryWithoutKernelsSaysHowToGetThem) {
  const std::string lacks = std::string("TENURE_FAKE_CUDA_LACKS=") + tenure::cuda::kOwnKernels;
  if (tenure::cuda::fat_binary().size_bytes != 0) {
    expect_child_says(lacks, "message: none");
    return;
  }
  for (const char* const words : {"cuda:0: this library was built without kernels for GPUs",
                                  "`./x kernels`", "TENURE_CUDA_FAT_BINARY", "(UNSUPPORTED)"}) {
    expect_child_says(lacks, words);
  }
}

TEST_F(DeviceFault, AFailedDeviceSaysSoToEachCall) {
  const Child child = run_child("", "Fails");
  EXPECT_EQ(child.status, 0) << child.output;
  EXPECT_NE(child.output.find("it failed"), std::string::npos) << child.output;
}

TEST_F(DeviceFault, EachEntryPointMayFailOrLack) {
#define TENURE_NAME(member, name, version, parameters) name,
  for (const char* const name : {TENURE_CUDA_ENTRY_POINTS(TENURE_NAME)}) {
#undef TENURE_NAME
    // Names and texts of errors, the end of handles, and what the scenario does not use may fail
    // unseen.
    const Child always = run_child(std::string("TENURE_FAKE_CUDA_FAIL=") + name);
    EXPECT_EQ(always.status, 0) << name << "\n" << always.output;
    const Child second = run_child(std::string("TENURE_FAKE_CUDA_FAIL=") + name + ":2");
    EXPECT_EQ(second.status, 0) << name << "\n" << second.output;
    expect_child_says(std::string("TENURE_FAKE_CUDA_LACKS=") + name, name);
  }
}

}  // namespace
