// The thread's last error: each status with the value and the bound in its message, and the calls
// that replace the error or leave it unchanged.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "boundary.hpp"
#include "expect_status.hpp"
#include "tenure/blob.hpp"
#include "tenure/tenure.h"

using tenure::capi::guarded;
using tenure::capi::guarded_pointer;
using tenure::test::expect_last_error;
using tenure::test::expect_refused;

namespace {

// Leaves a failure behind whose message is known.
void fail_with_seven() {
  std::array<unsigned char, 4> memory = {};
  const std::int64_t shape[1] = {7};
  tnr_view view = {};
  expect_refused(tnr_view_lend(memory.data(), 4, 0, TNR_DTYPE_U8, 1, shape, nullptr, &view),
                 TNR_STATUS_INVALID_ARGUMENT, {"[7]", "4 bytes"});
}

// ---- each status, with the value and the bound ----

TEST(Errors, InvalidArgument) { fail_with_seven(); }

TEST(Errors, OutOfMemory) {
  expect_refused(tnr_blob_alloc(nullptr, SIZE_MAX), TNR_STATUS_OUT_OF_MEMORY,
                 {"size_bytes is 18446744073709551615", "at most 9223372036854775744"});
}

TEST(Errors, Unsupported) {
  constexpr tnr_dtype kFourBits = 0x00010400;  // DLPack's int of 4 bits
  unsigned char byte = 0;
  tnr_view view = {};
  expect_refused(tnr_view_lend(&byte, 1, 0, kFourBits, 0, nullptr, nullptr, &view),
                 TNR_STATUS_UNSUPPORTED, {"dtype is 0x00010400", "4 bits", "whole bytes"});
}

TEST(Errors, Aliased) {
  std::array<unsigned char, 4> memory = {};
  const std::int64_t shape[2] = {2, 2};
  const std::int64_t strides[2] = {1, 1};
  tnr_view_mut view = {};
  expect_refused(tnr_view_lend_mut(memory.data(), 4, 0, TNR_DTYPE_U8, 2, shape, strides, &view),
                 TNR_STATUS_ALIASED, {"strides[", "is 1", "does not exceed the 1 elements"});
}

TEST(Errors, StaleView) {
  tnr_blob* const blob = tnr_blob_alloc(nullptr, 1);
  tnr_view view = {};
  ASSERT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_U8, 0, nullptr, nullptr, &view), TNR_STATUS_OK);
  tnr_blob_release(blob);
  char token[32];
  std::snprintf(token, sizeof(token), "0x%llx", static_cast<unsigned long long>(view.owner));
  expect_refused(tnr_view_check(&view), TNR_STATUS_STALE_VIEW,
                 {"view.owner is", token, "released"});
}

TEST(Errors, StaleHandle) {
  tnr_blob* const garbage = reinterpret_cast<tnr_blob*>(std::uintptr_t{0x1234});
  expect_refused(tnr_blob_release(garbage), TNR_STATUS_STALE_HANDLE,
                 {"0x1234", "no blob was ever given"});
}

TEST(Errors, Busy) {
  std::array<unsigned char, 8> memory = {};
  tnr_blob* const blob = tnr_blob_borrow(memory.data(), 8);
  tnr_view view = {};
  ASSERT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_U8, 0, nullptr, nullptr, &view), TNR_STATUS_OK);
  {
    tenure::Pins call;  // what an operation on another thread holds
    call.add(view, "a");
    expect_refused(tnr_blob_release(blob), TNR_STATUS_BUSY, {"in use by 1 calls", "by 0"});
    expect_refused(tnr_blob_end_borrow(blob), TNR_STATUS_BUSY, {"in use by 1 calls", "by 0"});
  }
  EXPECT_EQ(tnr_blob_end_borrow(blob), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
}

TEST(Errors, BusyAtTheLastHandle) {
  tnr_blob* const blob = tnr_blob_alloc(nullptr, 0);
  for (std::uint32_t i = 1; i < tenure::kMaxRefs; ++i) ASSERT_NE(tnr_blob_retain(blob), nullptr);
  expect_refused(tnr_blob_retain(blob), TNR_STATUS_BUSY, {"has 16777215 handles"});
  for (std::uint32_t i = 0; i < tenure::kMaxRefs; ++i) {
    ASSERT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  }
}

TEST(Errors, BusyAtTheLastPin) {
  tnr_blob* const blob = tnr_blob_alloc(nullptr, 1);
  tnr_view view = {};
  ASSERT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_U8, 0, nullptr, nullptr, &view), TNR_STATUS_OK);
  {
    const auto calls = std::make_unique<tenure::Pins[]>(tenure::kMaxPins);
    for (std::uint32_t i = 0; i < tenure::kMaxPins; ++i) calls[i].add(view, "a");
    expect_refused(tnr_view_check(&view), TNR_STATUS_BUSY, {"view.owner", "32767"});
  }
  EXPECT_EQ(tnr_view_check(&view), TNR_STATUS_OK);
  tnr_blob_release(blob);
}

TEST(Errors, BorrowEscaped) {
  std::array<unsigned char, 8> memory = {};
  tnr_blob* const blob = tnr_blob_borrow(memory.data(), 8);
  tnr_blob* const escaped = tnr_blob_retain(blob);
  expect_refused(tnr_blob_end_borrow(blob), TNR_STATUS_BORROW_ESCAPED,
                 {"has 2 handles", "must have 1"});
  tnr_blob_release(escaped);
  EXPECT_EQ(tnr_blob_end_borrow(blob), TNR_STATUS_OK);
  tnr_blob_release(blob);
}

// The two tests below throw their errors themselves, from the body of a guarded function: these
// tests use no device, and no known path inside the library breaks a promise.
TEST(Errors, DeviceError) {
  expect_refused(
      guarded([] { tenure::fail(TNR_STATUS_DEVICE_ERROR, "device %d of %d failed", 3, 2); }),
      TNR_STATUS_DEVICE_ERROR, {"device 3 of 2 failed"});
}

TEST(Errors, Internal) {
  expect_refused(guarded([] { throw 42; }), TNR_STATUS_INTERNAL, {"unknown exception"});
  expect_refused(guarded([] { throw std::runtime_error("foreign"); }), TNR_STATUS_INTERNAL,
                 {"unknown exception"});
  const int* const nothing = guarded_pointer([]() -> const int* { throw 42; });
  expect_refused(nothing, TNR_STATUS_INTERNAL, {"unknown exception"});
}

TEST(Errors, AllocationThatThrowsIsOutOfMemory) {
  expect_refused(guarded([] { throw std::bad_alloc(); }), TNR_STATUS_OUT_OF_MEMORY, {"memory"});
  expect_refused(guarded([] { throw std::bad_array_new_length(); }), TNR_STATUS_OUT_OF_MEMORY,
                 {"memory"});
  expect_refused(guarded([] { throw std::length_error("vector"); }), TNR_STATUS_OUT_OF_MEMORY,
                 {"more memory"});
}

TEST(Errors, LongMessageIsCutAtTheEnd) {
  const std::string long_text(2000, 'x');
  EXPECT_EQ(guarded([&] { tenure::fail(TNR_STATUS_INTERNAL, "%s", long_text.c_str()); }),
            TNR_STATUS_INTERNAL);
  EXPECT_EQ(std::string(tnr_last_error()->message), long_text.substr(0, 503));
}

TEST(Errors, EveryStatusHasItsName) {
  const char* const names[] = {
      "OK",         "INVALID_ARGUMENT", "OUT_OF_MEMORY", "UNSUPPORTED",    "ALIASED",
      "STALE_VIEW", "STALE_HANDLE",     "BUSY",          "BORROW_ESCAPED", "DEVICE_ERROR",
      "INTERNAL"};
  tnr_status status = 0;
  for (const char* const name : names) EXPECT_STREQ(tnr_status_name(status++), name);
  EXPECT_STREQ(tnr_status_name(status), "UNKNOWN");
  EXPECT_STREQ(tnr_status_name(-1), "UNKNOWN");
}

// ---- who may change it ----

TEST(Errors, SuccessLeavesItAlone) {
  fail_with_seven();
  std::array<unsigned char, 8> memory = {};
  tnr_blob* const blob = tnr_blob_borrow_mut(memory.data(), 8);
  ASSERT_NE(blob, nullptr);
  tnr_view_mut view = {};
  tnr_blob_info info = {};
  info.struct_size = sizeof(info);
  tnr_stats stats = {};
  stats.struct_size = sizeof(stats);
  EXPECT_EQ(tnr_blob_view_mut(blob, 0, TNR_DTYPE_U8, 0, nullptr, nullptr, &view), TNR_STATUS_OK);
  EXPECT_EQ(tnr_view_check_mut(&view), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_describe(blob, &info), TNR_STATUS_OK);
  EXPECT_EQ(tnr_stats_read(&stats), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_data(blob), memory.data());
  EXPECT_EQ(tnr_blob_end_borrow(blob), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(nullptr), TNR_STATUS_OK);
  expect_last_error(TNR_STATUS_INVALID_ARGUMENT, {"[7]", "4 bytes"});
}

TEST(Errors, LaterFailureReplacesIt) {
  fail_with_seven();
  EXPECT_EQ(tnr_blob_data(nullptr), nullptr);
  expect_last_error(TNR_STATUS_STALE_HANDLE, {"0x0"});
  EXPECT_EQ(std::string(tnr_last_error()->message).find("[7]"), std::string::npos);
}

// Fails inside, reads its own failure, and leaves it there.
struct FailingCallback {
  bool read_its_own_failure = false;
  static void callback(void* context) {
    tnr_blob* const garbage = reinterpret_cast<tnr_blob*>(std::uintptr_t{0x99});
    const tnr_status status = tnr_blob_release(garbage);
    static_cast<FailingCallback*>(context)->read_its_own_failure =
        status == TNR_STATUS_STALE_HANDLE && tnr_last_error()->status == status &&
        std::string(tnr_last_error()->message).find("0x99") != std::string::npos;
  }
};

TEST(Errors, CallbackLeavesItAlone) {
  fail_with_seven();
  FailingCallback failing;
  tnr_blob* const blob = tnr_blob_adopt(nullptr, 0, FailingCallback::callback, &failing);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_TRUE(failing.read_its_own_failure);
  expect_last_error(TNR_STATUS_INVALID_ARGUMENT, {"[7]", "4 bytes"});
}

TEST(Errors, CallbackOnTheWayOutOfAFailureDoesNotReplaceIt) {
  // The last pin of a released blob is undone while the failure is on its way to the caller.
  FailingCallback failing;
  tnr_blob* const blob = tnr_blob_adopt(nullptr, 0, FailingCallback::callback, &failing);
  tnr_view view = {};
  const std::int64_t shape[1] = {0};
  ASSERT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_U8, 1, shape, nullptr, &view), TNR_STATUS_OK);
  expect_refused(guarded([&] {
                   tenure::Pins pins;
                   pins.add(view, "a");
                   tenure::blob_release(view.owner);
                   tenure::fail(TNR_STATUS_UNSUPPORTED, "the reason");
                 }),
                 TNR_STATUS_UNSUPPORTED, {"the reason"});
  EXPECT_TRUE(failing.read_its_own_failure);
}

TEST(Errors, EachThreadHasItsOwn) {
  fail_with_seven();
  std::thread([] {
    EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_OK);
    EXPECT_STREQ(tnr_last_error()->message, "");
    EXPECT_EQ(tnr_blob_data(nullptr), nullptr);
    expect_last_error(TNR_STATUS_STALE_HANDLE, {"0x0"});
  }).join();
  expect_last_error(TNR_STATUS_INVALID_ARGUMENT, {"[7]", "4 bytes"});
}

// Calls the library while its thread ends, after everything the library may have set up there.
struct AtThreadExit {
  tnr_blob* blob = nullptr;
  bool* told_right = nullptr;
  ~AtThreadExit() {
    const bool failed_before = tnr_last_error()->status == TNR_STATUS_INVALID_ARGUMENT;
    const bool released = tnr_blob_release(blob) == TNR_STATUS_OK;
    const bool refused = tnr_blob_release(blob) == TNR_STATUS_STALE_HANDLE &&
                         tnr_last_error()->status == TNR_STATUS_STALE_HANDLE;
    *told_right = failed_before && released && refused;
  }
};

TEST(Errors, ThreadMayReleaseAndFailWhileItEnds) {
  bool told_right = false;
  FailingCallback failing;
  std::thread([&] {
    static thread_local AtThreadExit at_exit;
    at_exit.told_right = &told_right;
    at_exit.blob = tnr_blob_adopt(nullptr, 0, FailingCallback::callback, &failing);
    fail_with_seven();
  }).join();
  EXPECT_TRUE(told_right);
  EXPECT_TRUE(failing.read_its_own_failure);
}

}  // namespace
