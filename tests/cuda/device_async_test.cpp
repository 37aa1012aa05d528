// Pinned memory of the CPU, copies that are enqueued, events, and copies between two devices.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "device_fixture.hpp"
#include "device_floats.hpp"
#include "expect_status.hpp"
#include "release_counter.hpp"
#include "tenure/tenure.h"
#include "unseen.hpp"

namespace {

using tenure::test::context_on;
using tenure::test::download;
using tenure::test::expect_refused;
using tenure::test::Floats;
using tenure::test::lend;
using tenure::test::OnDevice;
using tenure::test::ReleaseCounter;
using tenure::test::totals;
using tenure::test::unseen;
using tenure::test::Variable;

using DevicePinned = OnDevice;
using DeviceAsync = OnDevice;
using DeviceEvent = OnDevice;

const std::vector<float> kValues = {1, 2, 3, 4, 5, 6};
constexpr std::size_t kBytes = 24;

tnr_view_mut view_of(tnr_blob* blob, std::vector<std::int64_t> extents = {6},
                     const std::vector<std::int64_t>& strides = {}) {
  tnr_view_mut view;
  EXPECT_EQ(tnr_blob_view_mut(blob, 0, TNR_DTYPE_F32, static_cast<std::uint32_t>(extents.size()),
                              extents.data(), strides.empty() ? nullptr : strides.data(), &view),
            TNR_STATUS_OK)
      << tnr_last_error()->message;
  return view;
}

tnr_blob_info described(const tnr_blob* blob) {
  tnr_blob_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(tnr_blob_describe(blob, &info), TNR_STATUS_OK) << tnr_last_error()->message;
  return info;
}

// Six floats of pinned memory.
tnr_blob* pinned(tnr_context* context, const std::vector<float>& values = kValues) {
  tnr_blob* const blob = tnr_blob_alloc_pinned(context, kBytes);
  EXPECT_NE(blob, nullptr) << tnr_last_error()->message;
  std::memcpy(tnr_blob_data_mut(blob), values.data(), kBytes);
  return blob;
}

std::vector<float> floats_of(const tnr_blob* blob) {
  std::vector<float> values(6);
  std::memcpy(values.data(), tnr_blob_data(blob), kBytes);
  return values;
}

tnr_status copy_async(tnr_context* context, const tnr_view& a, const tnr_view_mut& out) {
  return tnr_copy_async(context, &a, nullptr, &out);
}

// ---- pinned memory ----

TEST_F(DevicePinned, IsOrdinaryMemoryOfTheCpu) {
  tnr_blob* const blob = pinned(context_);
  const tnr_blob_info info = described(blob);
  EXPECT_EQ(info.tenure, TNR_TENURE_ALLOCATED);
  EXPECT_EQ(info.device.kind, TNR_DEVICE_KIND_CPU);
  EXPECT_EQ(info.size_bytes, kBytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(info.data) % 64, 0u);
  const tnr_view_mut view = view_of(blob);
  ASSERT_EQ(tnr_binary(nullptr, TNR_BINARY_OP_ADD, &view.view, &view.view, nullptr, &view),
            TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(floats_of(blob), (std::vector<float>{2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  tnr_blob* const empty = tnr_blob_alloc_pinned(context_, 0);
  ASSERT_NE(empty, nullptr);
  EXPECT_EQ(tnr_blob_data(empty), nullptr);
  EXPECT_EQ(tnr_blob_release(empty), TNR_STATUS_OK);
}

TEST_F(DevicePinned, OutlivesItsContext) {
  tnr_context* const other = context_on(tenure::test::kFirstDevice);
  tnr_blob* const blob = pinned(other);
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
  EXPECT_EQ(floats_of(blob), kValues);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
}

TEST_F(DevicePinned, NeedsADeviceAndMemory) {
  expect_refused(tnr_blob_alloc_pinned(nullptr, 8), TNR_STATUS_INVALID_ARGUMENT, {"no device"});
  expect_refused(tnr_blob_alloc_pinned(context_, SIZE_MAX), TNR_STATUS_OUT_OF_MEMORY,
                 {"size_bytes"});
  if (!tenure::test::is_driver_fake()) return;
  {
    const Variable none("TENURE_FAKE_CUDA_FAIL", "cuMemHostAlloc:1:2");
    expect_refused(tnr_blob_alloc_pinned(context_, 4096), TNR_STATUS_OUT_OF_MEMORY,
                   {"4096", "cuda:0"});
  }
  const Variable failing("TENURE_FAKE_CUDA_FAIL", "cuMemHostAlloc:1");
  expect_refused(tnr_blob_alloc_pinned(context_, 4096), TNR_STATUS_DEVICE_ERROR,
                 {"cuMemHostAlloc"});
}

// ---- copies ----

TEST_F(DeviceAsync, NobodyWaits) {
  tnr_blob* const in = pinned(context_);
  tnr_blob* const out = pinned(context_, std::vector<float>(6));
  const Floats there(context_, std::vector<float>(6));
  const tnr_stats before = totals();
  ASSERT_EQ(copy_async(context_, view_of(in).view, there.out), TNR_STATUS_OK)
      << tnr_last_error()->message;
  ASSERT_EQ(tnr_binary(context_, TNR_BINARY_OP_ADD, there.in(), there.in(), nullptr, &there.out),
            TNR_STATUS_OK);
  ASSERT_EQ(copy_async(context_, *there.in(), view_of(out)), TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(totals().device_waits, before.device_waits);
  EXPECT_EQ(totals().calls, before.calls + 3);
  // `out` counts as in use until a call queries its event. The second copy may have queried the
  // event of the first one, so that the count of `in` is unknown.
  EXPECT_EQ(described(out).pin_count, 1u);
  ASSERT_EQ(tnr_context_wait(context_), TNR_STATUS_OK);
  EXPECT_EQ(totals().device_waits, before.device_waits + 1);
  EXPECT_EQ(described(in).pin_count, 0u);
  EXPECT_EQ(described(out).pin_count, 0u);
  EXPECT_EQ(floats_of(out), (std::vector<float>{2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(tnr_blob_release(in), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(out), TNR_STATUS_OK);
}

// The fake driver aborts where pinned memory is freed that a copy has yet to use.
TEST_F(DeviceAsync, ReleasedMemoryEndsAfterTheCopy) {
  const Floats there(context_, std::vector<float>(6));
  tnr_blob* const in = pinned(context_);
  ASSERT_EQ(copy_async(context_, view_of(in).view, there.out), TNR_STATUS_OK);
  const tnr_stats before = totals();
  EXPECT_EQ(tnr_blob_release(in), TNR_STATUS_OK);
  EXPECT_EQ(totals().blobs_finished, before.blobs_finished);
  EXPECT_EQ(totals().device_waits, before.device_waits);
  ASSERT_EQ(tnr_context_wait(context_), TNR_STATUS_OK);
  EXPECT_EQ(totals().blobs_finished, before.blobs_finished + 1);
  EXPECT_EQ(download(context_, *there.in()), kValues);
}

TEST_F(DeviceAsync, CallbacksComeAfterTheCopyAndOnce) {
  const Floats there(context_, std::vector<float>(6));
  std::vector<float> values = kValues;
  ReleaseCounter counter;
  tnr_blob* const blob =
      tnr_blob_adopt(values.data(), kBytes, ReleaseCounter::callback, counter.context());
  ASSERT_EQ(copy_async(context_, view_of(blob).view, there.out), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(counter.count(), 0);
  tnr_event* const event = tnr_event_create(context_);
  ASSERT_EQ(tnr_event_wait(event), TNR_STATUS_OK);
  EXPECT_EQ(counter.count(), 1);
  EXPECT_EQ(tnr_event_release(event), TNR_STATUS_OK);
}

TEST_F(DeviceAsync, LoansEndAfterTheCopy) {
  const Floats there(context_, kValues);
  std::vector<float> values(6);
  tnr_blob* const borrowed = tnr_blob_borrow_mut(values.data(), kBytes);
  ASSERT_EQ(copy_async(context_, *there.in(), view_of(borrowed)), TNR_STATUS_OK);
  expect_refused(tnr_blob_end_borrow(borrowed), TNR_STATUS_BUSY, {"in use by 1"});
  ASSERT_EQ(tnr_context_wait(context_), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_end_borrow(borrowed), TNR_STATUS_OK);
  EXPECT_EQ(values, kValues);
  EXPECT_EQ(tnr_blob_release(borrowed), TNR_STATUS_OK);
}

TEST_F(DeviceAsync, AdoptedMemoryIsReclaimedAfterTheCopy) {
  const Floats there(context_, kValues);
  std::vector<float> values(6);
  tnr_blob* const blob = tnr_blob_adopt(values.data(), kBytes, nullptr, &values);
  ASSERT_EQ(copy_async(context_, *there.in(), view_of(blob)), TNR_STATUS_OK);
  expect_refused(tnr_blob_reclaim(blob, &values), TNR_STATUS_BUSY, {"1 users"});
  ASSERT_EQ(tnr_context_wait(context_), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_reclaim(blob, &values), TNR_STATUS_OK);
  EXPECT_EQ(values, kValues);
}

TEST_F(DeviceAsync, WithoutAnOwnerTheCallerKeepsTheMemory) {
  const Floats there(context_, std::vector<float>(6));
  std::vector<float> values = kValues;
  const tnr_view_mut view = lend(values);
  ASSERT_EQ(copy_async(context_, view.view, there.out), TNR_STATUS_OK);
  ASSERT_EQ(tnr_context_wait(context_), TNR_STATUS_OK);
  EXPECT_EQ(download(context_, *there.in()), kValues);
}

TEST_F(DeviceAsync, LayoutsOfTheDeviceAreFree) {
  const std::vector<float> transposed = {1, 4, 2, 5, 3, 6};
  for (const bool is_column_major : {false, true}) {
    const std::vector<std::int64_t> strides =
        is_column_major ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{3, 1};
    tnr_blob* const host = pinned(context_);
    const tnr_view_mut here = view_of(host, {2, 3}, strides);
    tnr_blob* const blob = tnr_blob_alloc(context_, 2 * kBytes);
    // Every second element, of columns.
    const tnr_view_mut there = view_of(blob, {2, 3}, {2, 4});
    ASSERT_EQ(copy_async(context_, here.view, there), TNR_STATUS_OK) << tnr_last_error()->message;
    std::vector<float> seen = download(context_, there.view);
    EXPECT_EQ(seen, is_column_major ? (std::vector<float>{1, 3, 5, 2, 4, 6}) : kValues);
    std::memset(tnr_blob_data_mut(host), 0, kBytes);
    ASSERT_EQ(copy_async(context_, there.view, here), TNR_STATUS_OK) << tnr_last_error()->message;
    ASSERT_EQ(tnr_context_wait(context_), TNR_STATUS_OK);
    EXPECT_EQ(floats_of(host), kValues);
    EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
    EXPECT_EQ(tnr_blob_release(host), TNR_STATUS_OK);
  }
}

TEST_F(DeviceAsync, GapsOfTheCpuAreRefused) {
  const Floats there(context_, std::vector<float>(3));
  tnr_blob* const host = pinned(context_);
  const tnr_view_mut steps = view_of(host, {3}, {2});
  const tnr_view_mut backwards = view_of(host, {3});
  tnr_view reversed;
  ASSERT_EQ(tnr_view_flip(&backwards.view, 0, &reversed), TNR_STATUS_OK);
  const tnr_stats before = totals();
  expect_refused(copy_async(context_, steps.view, there.out), TNR_STATUS_INVALID_ARGUMENT,
                 {"a has gaps", "the CPU"});
  expect_refused(copy_async(context_, reversed, there.out), TNR_STATUS_INVALID_ARGUMENT,
                 {"runs backwards"});
  expect_refused(copy_async(context_, *there.in(), steps), TNR_STATUS_INVALID_ARGUMENT,
                 {"out has gaps"});
  expect_refused(copy_async(context_, view_of(host).view, there.out), TNR_STATUS_INVALID_ARGUMENT,
                 {"a.shape[0] is 6"});
  expect_refused(copy_async(nullptr, view_of(host).view, there.out), TNR_STATUS_INVALID_ARGUMENT,
                 {"no device"});
  EXPECT_EQ(totals().calls, before.calls);
  EXPECT_EQ(described(host).pin_count, 0u);
  EXPECT_EQ(tnr_blob_release(host), TNR_STATUS_OK);
}

TEST_F(DeviceAsync, WithoutTwoSidesItIsACopy) {
  std::vector<float> here(6);
  const Floats cpu(nullptr, kValues);
  ASSERT_EQ(copy_async(nullptr, *cpu.in(), lend(here)), TNR_STATUS_OK);
  EXPECT_EQ(here, kValues);
  const Floats a(context_, kValues);
  const Floats b(context_, std::vector<float>(6));
  ASSERT_EQ(copy_async(context_, *a.in(), b.out), TNR_STATUS_OK);
  EXPECT_EQ(download(context_, *b.in()), kValues);
  // Copies of no elements enqueue nothing.
  const Floats none(context_, {0, 3}, {});
  std::vector<float> no_values;
  ASSERT_EQ(copy_async(context_, *none.in(), lend(no_values, {0, 3})), TNR_STATUS_OK);
}

TEST_F(DeviceAsync, TruthValuesArrive) {
  const std::int64_t shape[] = {4};
  const unsigned char bytes[] = {0, 1, 2, 255};
  tnr_blob* const host = tnr_blob_alloc_pinned(context_, 4);
  tnr_blob* const blob = tnr_blob_copy(context_, bytes, 4);
  tnr_view_mut here;
  tnr_view_mut there;
  ASSERT_EQ(tnr_blob_view_mut(host, 0, TNR_DTYPE_BOOL8, 1, shape, nullptr, &here), TNR_STATUS_OK);
  ASSERT_EQ(tnr_blob_view_mut(blob, 0, TNR_DTYPE_BOOL8, 1, shape, nullptr, &there), TNR_STATUS_OK);
  const unsigned char truths[] = {0, 1, 1, 1};
  // Down: the bytes on the device are no truth values yet.
  ASSERT_EQ(copy_async(context_, there.view, here), TNR_STATUS_OK) << tnr_last_error()->message;
  ASSERT_EQ(tnr_context_wait(context_), TNR_STATUS_OK);
  EXPECT_EQ(std::memcmp(tnr_blob_data(host), truths, 4), 0);
  // And up.
  std::memcpy(tnr_blob_data_mut(host), bytes, 4);
  ASSERT_EQ(copy_async(context_, here.view, there), TNR_STATUS_OK);
  tnr_view raw;
  ASSERT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_U8, 1, shape, nullptr, &raw), TNR_STATUS_OK);
  unsigned char seen[4] = {9, 9, 9, 9};
  tnr_view_mut out;
  ASSERT_EQ(tnr_view_lend_mut(seen, 4, 0, TNR_DTYPE_U8, 1, shape, nullptr, &out), TNR_STATUS_OK);
  ASSERT_EQ(tnr_copy(context_, &raw, nullptr, &out), TNR_STATUS_OK);
  EXPECT_EQ(std::memcmp(seen, truths, 4), 0);
  EXPECT_EQ(tnr_blob_release(host), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
}

TEST_F(DeviceAsync, AContextEndsWithCopiesToCome) {
  tnr_context* const other = context_on(tenure::test::kFirstDevice);
  const tnr_stats before = totals();
  tnr_blob* const host = pinned(other);
  tnr_blob* const blob = tnr_blob_alloc(other, kBytes);
  ASSERT_EQ(copy_async(other, view_of(host).view, view_of(blob)), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(host), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
  EXPECT_EQ(totals().blobs_finished, before.blobs_finished + 2);
}

// Whoever waits for the copy finds its memory out of use, also where another thread has found the
// copy done.
TEST_F(DeviceAsync, ThreadsOnOneStream) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      const Floats there(context_, std::vector<float>(6, static_cast<float>(t)));
      for (int i = 0; i < 50; ++i) {
        std::vector<float> values(6);
        tnr_blob* const blob = tnr_blob_adopt(values.data(), kBytes, nullptr, &values);
        ASSERT_EQ(copy_async(context_, *there.in(), view_of(blob)), TNR_STATUS_OK);
        tnr_event* const event = tnr_event_create(context_);
        ASSERT_EQ(tnr_event_wait(event), TNR_STATUS_OK);
        ASSERT_EQ(tnr_blob_reclaim(blob, &values), TNR_STATUS_OK) << tnr_last_error()->message;
        ASSERT_EQ(values, std::vector<float>(6, static_cast<float>(t)));
        ASSERT_EQ(tnr_event_release(event), TNR_STATUS_OK);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// A copy that cannot be kept in view is waited for; one that fails leaves no use behind.
TEST_F(DeviceAsync, FaultsLeaveNoCopyBehind) {
  if (!tenure::test::is_driver_fake()) GTEST_SKIP() << "a GPU does not fail at will";
  const Floats there(context_, {2, 3}, std::vector<float>(6));
  tnr_view_mut columns = there.out;
  std::swap(columns.view.shape[0], columns.view.shape[1]);
  std::swap(columns.view.strides[0], columns.view.strides[1]);
  for (const char* const name : {"cuEventCreate:1", "cuEventRecord:1"}) {
    tnr_blob* const host = pinned(context_);
    const tnr_stats before = totals();
    {
      const Variable failing("TENURE_FAKE_CUDA_FAIL", name);
      EXPECT_EQ(copy_async(context_, view_of(host, {2, 3}).view, there.out), TNR_STATUS_OK);
    }
    EXPECT_EQ(totals().device_waits, before.device_waits + 1) << name;
    EXPECT_EQ(described(host).pin_count, 0u);
    EXPECT_EQ(tnr_blob_release(host), TNR_STATUS_OK);
  }
  for (const char* const name : {"cuMemcpyHtoDAsync:1", "cuLaunchKernel:1", "cuMemAllocAsync:0"}) {
    tnr_blob* const host = pinned(context_);
    {
      const Variable failing("TENURE_FAKE_CUDA_FAIL", name);
      EXPECT_NE(copy_async(context_, view_of(host, {3, 2}).view, columns), TNR_STATUS_OK) << name;
    }
    EXPECT_EQ(described(host).pin_count, 0u);
    EXPECT_EQ(tnr_blob_release(host), TNR_STATUS_OK);
  }
  // A use does not end while the query of its event fails.
  tnr_blob* const host = pinned(context_);
  ASSERT_EQ(copy_async(context_, view_of(host, {2, 3}).view, there.out), TNR_STATUS_OK);
  {
    const Variable failing("TENURE_FAKE_CUDA_FAIL", "cuEventQuery");
    ASSERT_EQ(tnr_context_wait(context_), TNR_STATUS_OK);
    EXPECT_EQ(described(host).pin_count, 1u);
  }
  ASSERT_EQ(tnr_context_wait(context_), TNR_STATUS_OK);
  EXPECT_EQ(described(host).pin_count, 0u);
  EXPECT_EQ(tnr_blob_release(host), TNR_STATUS_OK);
}

// ---- events ----

TEST_F(DeviceEvent, SaysWhenItsWorkIsDone) {
  const Floats a(context_, kValues);
  tnr_blob* const host = pinned(context_, std::vector<float>(6));
  ASSERT_EQ(copy_async(context_, *a.in(), view_of(host)), TNR_STATUS_OK);
  tnr_event* const event = tnr_event_create(context_);
  ASSERT_NE(event, nullptr) << tnr_last_error()->message;
  const tnr_stats before = totals();
  std::uint32_t is_done = 0;
  while (is_done == 0) {
    ASSERT_EQ(tnr_event_query(event, &is_done), TNR_STATUS_OK) << tnr_last_error()->message;
  }
  EXPECT_EQ(totals().device_waits, before.device_waits);
  EXPECT_EQ(floats_of(host), kValues);
  EXPECT_EQ(described(host).pin_count, 0u);
  ASSERT_EQ(tnr_event_wait(event), TNR_STATUS_OK);
  EXPECT_EQ(totals().device_waits, before.device_waits + 1);
  EXPECT_EQ(tnr_event_release(event), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(host), TNR_STATUS_OK);
}

TEST_F(DeviceEvent, OrdersStreams) {
  tnr_context* const other = context_on(tenure::test::kFirstDevice);
  const Floats a(context_, kValues);
  const Floats b(other, std::vector<float>(6));
  ASSERT_EQ(tnr_binary(context_, TNR_BINARY_OP_ADD, a.in(), a.in(), nullptr, &a.out),
            TNR_STATUS_OK);
  tnr_event* const event = tnr_event_create(context_);
  ASSERT_EQ(tnr_context_follow_event(other, event), TNR_STATUS_OK) << tnr_last_error()->message;
  // A view without an owner: only the event orders the copy.
  tnr_view unknown = *a.in();
  unknown.owner = 0;
  ASSERT_EQ(tnr_copy(other, &unknown, nullptr, &b.out), TNR_STATUS_OK);
  EXPECT_EQ(download(other, *b.in()), (std::vector<float>{2, 4, 6, 8, 10, 12}));
  const tnr_stats before = totals();
  ASSERT_EQ(tnr_context_follow_event(nullptr, event), TNR_STATUS_OK);  // the CPU waits
  EXPECT_EQ(totals().device_waits, before.device_waits + 1);
  EXPECT_EQ(tnr_event_release(event), TNR_STATUS_OK);
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

TEST_F(DeviceEvent, KeepsItsContext) {
  tnr_context* const other = context_on(tenure::test::kFirstDevice);
  tnr_event* const event = tnr_event_create(other);
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
  EXPECT_EQ(tnr_event_wait(event), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(tnr_event_release(event), TNR_STATUS_OK);
}

TEST_F(DeviceEvent, OfTheCpuIsDone) {
  tnr_event* const event = tnr_event_create(nullptr);
  ASSERT_NE(event, nullptr);
  std::uint32_t is_done = 0;
  ASSERT_EQ(tnr_event_query(event, &is_done), TNR_STATUS_OK);
  EXPECT_EQ(is_done, 1u);
  const tnr_stats before = totals();
  EXPECT_EQ(tnr_event_wait(event), TNR_STATUS_OK);
  EXPECT_EQ(tnr_context_follow_event(context_, event), TNR_STATUS_OK);
  EXPECT_EQ(totals().device_waits, before.device_waits);
  EXPECT_EQ(tnr_event_release(event), TNR_STATUS_OK);
}

TEST_F(DeviceEvent, HandlesThatAreNoneAreRefused) {
  tnr_event* const event = tnr_event_create(context_);
  tnr_event* const ended = unseen(event);
  EXPECT_EQ(tnr_event_release(event), TNR_STATUS_OK);
  auto* const garbage = reinterpret_cast<tnr_event*>(unseen(std::uintptr_t{0x1234}));
  std::uint32_t is_done = 7;
  for (tnr_event* const stale : {ended, garbage}) {
    expect_refused(tnr_event_wait(stale), TNR_STATUS_STALE_HANDLE, {"event"});
    expect_refused(tnr_event_query(stale, &is_done), TNR_STATUS_STALE_HANDLE, {"event"});
    expect_refused(tnr_context_follow_event(context_, stale), TNR_STATUS_STALE_HANDLE, {"event"});
    expect_refused(tnr_event_release(stale), TNR_STATUS_STALE_HANDLE, {"event"});
  }
  EXPECT_EQ(is_done, 7u);
  EXPECT_EQ(tnr_event_release(nullptr), TNR_STATUS_OK);
  auto* const no_context = reinterpret_cast<tnr_context*>(unseen(std::uintptr_t{0x1234}));
  expect_refused(tnr_event_create(no_context), TNR_STATUS_STALE_HANDLE, {"context is 0x1234"});
}

// The driver is the parent's: the child gives nothing back to it, and finds no work to wait for.
TEST_F(DeviceEvent, AChildOfForkHasNone) {
  const Floats there(context_, std::vector<float>(6));
  tnr_blob* const host = pinned(context_);
  ASSERT_EQ(copy_async(context_, view_of(host).view, there.out), TNR_STATUS_OK);
  tnr_event* const event = tnr_event_create(context_);
  tnr_blob* const unused = pinned(context_);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const tnr_stats before = totals();
    std::uint32_t is_done = 0;
    const bool is_right = tnr_event_wait(event) == TNR_STATUS_OK &&
                          tnr_event_query(event, &is_done) == TNR_STATUS_OK && is_done == 1 &&
                          tnr_event_release(event) == TNR_STATUS_OK &&
                          tnr_blob_release(unused) == TNR_STATUS_OK &&
                          totals().device_waits == before.device_waits &&
                          totals().blobs_finished == before.blobs_finished + 1;
    _exit(is_right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_EQ(tnr_event_wait(event), TNR_STATUS_OK);
  EXPECT_EQ(tnr_event_release(event), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(host), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(unused), TNR_STATUS_OK);
  EXPECT_EQ(download(context_, *there.in()), kValues);
}

// ---- two devices ----

class DevicePeers : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (context_ == nullptr) return;
    std::uint32_t count = 0;
    ASSERT_EQ(tnr_device_count(TNR_DEVICE_KIND_CUDA, &count), TNR_STATUS_OK);
    if (count < 2) GTEST_SKIP() << "one device";
    other_ = context_on({TNR_DEVICE_KIND_CUDA, 1});
    ASSERT_NE(other_, nullptr) << tnr_last_error()->message;
  }
  void TearDown() override {
    if (other_ != nullptr) {
      EXPECT_EQ(tnr_context_release(other_), TNR_STATUS_OK);
    }
    OnDevice::TearDown();
  }

  const Variable devices_{"TENURE_FAKE_CUDA_DEVICES", "2"};
  tnr_context* other_ = nullptr;
};

TEST_F(DevicePeers, ElementsGoBothWaysByEitherStream) {
  for (tnr_context* const by : {context_, other_}) {
    const Floats here(context_, kValues);
    const Floats there(other_, std::vector<float>(6));
    const Floats back(context_, std::vector<float>(6));
    const tnr_stats before = totals();
    ASSERT_EQ(tnr_binary(context_, TNR_BINARY_OP_ADD, here.in(), here.in(), nullptr, &here.out),
              TNR_STATUS_OK);
    ASSERT_EQ(tnr_copy(by, here.in(), nullptr, &there.out), TNR_STATUS_OK)
        << tnr_last_error()->message;
    ASSERT_EQ(tnr_binary(other_, TNR_BINARY_OP_ADD, there.in(), there.in(), nullptr, &there.out),
              TNR_STATUS_OK);
    ASSERT_EQ(tnr_copy(by, there.in(), nullptr, &back.out), TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_EQ(totals().device_waits, before.device_waits);
    EXPECT_EQ(download(context_, *back.in()), (std::vector<float>{4, 8, 12, 16, 20, 24}));
  }
}

TEST_F(DevicePeers, TheStreamsOwnDeviceMayHaveAnyLayout) {
  tnr_blob* const blob = tnr_blob_copy(context_, kValues.data(), kBytes);
  const tnr_view_mut columns = view_of(blob, {2, 3}, {1, 2});
  const Floats there(other_, {2, 3}, std::vector<float>(6));
  ASSERT_EQ(tnr_copy(context_, &columns.view, nullptr, &there.out), TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(download(other_, *there.in()), (std::vector<float>{1, 3, 5, 2, 4, 6}));
  ASSERT_EQ(tnr_copy(context_, there.in(), nullptr, &columns), TNR_STATUS_OK);
  EXPECT_EQ(download(context_, columns.view), (std::vector<float>{1, 3, 5, 2, 4, 6}));
  const tnr_view_mut steps = view_of(blob, {3}, {2});
  const Floats three(other_, std::vector<float>(3));
  expect_refused(tnr_copy(other_, &steps.view, nullptr, &three.out), TNR_STATUS_INVALID_ARGUMENT,
                 {"a has gaps", "another device"});
  expect_refused(tnr_copy(nullptr, &steps.view, nullptr, &three.out), TNR_STATUS_INVALID_ARGUMENT,
                 {"no device"});
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
}

TEST_F(DevicePeers, MemoryEndsAfterTheCopy) {
  const Floats there(other_, std::vector<float>(6));
  for (int i = 0; i < 10; ++i) {
    Floats here(context_, std::vector<float>(6, static_cast<float>(i)));
    ASSERT_EQ(tnr_copy(other_, here.in(), nullptr, &there.out), TNR_STATUS_OK);
    here.release();
    const Floats next(context_, std::vector<float>(6, -1.0f));
    ASSERT_EQ(download(other_, *there.in()), std::vector<float>(6, static_cast<float>(i)));
  }
}

}  // namespace
