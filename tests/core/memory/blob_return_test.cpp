// Memory that goes back to the caller: the end of a borrow, and reclaim.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "blob_probe.hpp"
#include "expect_error.hpp"
#include "release_counter.hpp"
#include "tenure/blob.hpp"

using namespace tenure;
using tenure::test::Bytes;
using tenure::test::expect_error;
using tenure::test::hex;
using tenure::test::ReleaseCounter;
using tenure::test::view_of;

namespace {

// ---- the end of a borrow ----

TEST(BlobReturn, EndBorrowEndsTheBorrowAndNotTheHandle) {
  Bytes memory;
  const BlobToken blob = blob_borrow_mut(memory.data(), Bytes::kSize);
  const tnr_view view = view_of(blob);
  blob_end_borrow(blob);
  EXPECT_TRUE(blob_describe(blob).closed);
  EXPECT_EQ(blob_describe(blob).holder_count, 1u);
  blob_end_borrow(blob);  // again: still true
  Pins pins;
  expect_error(TNR_STATUS_STALE_VIEW, {"a.owner", "borrow has ended"},
               [&] { pins.add(view, "a"); });
  expect_error(TNR_STATUS_STALE_HANDLE, {"has ended"}, [&] { blob_retain(blob); });
  expect_error(TNR_STATUS_STALE_HANDLE, {"has ended"}, [&] { blob_memory(blob); });
  expect_error(TNR_STATUS_STALE_HANDLE, {"has ended"}, [&] { blob_memory_mut(blob); });
  blob_release(blob);
  expect_error(TNR_STATUS_STALE_HANDLE, {"released"}, [&] { blob_end_borrow(blob); });
}

TEST(BlobReturn, EndBorrowClosesAtOnceWhileAPinRemains) {
  Bytes memory;
  const BlobToken blob = blob_borrow(memory.data(), Bytes::kSize);
  const tnr_view view = view_of(blob);
  {
    Pins pins;
    pins.add(view, "a");
    expect_error(TNR_STATUS_BUSY, {hex(blob), "by 1 calls", "by 0"},
                 [&] { blob_end_borrow(blob); });
    Pins late;
    expect_error(TNR_STATUS_STALE_VIEW, {"b.owner", "has ended"}, [&] { late.add(view, "b"); });
    pins.add(view, "again");  // the call that has it may use it to its end
    expect_error(TNR_STATUS_BUSY, {hex(blob)}, [&] { blob_release(blob); });
  }
  blob_end_borrow(blob);
  blob_release(blob);
}

TEST(BlobReturn, EndBorrowTellsOfAnotherHandle) {
  Bytes memory;
  const BlobToken blob = blob_borrow(memory.data(), Bytes::kSize);
  blob_retain(blob);
  expect_error(TNR_STATUS_BORROW_ESCAPED, {hex(blob), "2 handles", "have 1"},
               [&] { blob_end_borrow(blob); });
  expect_error(TNR_STATUS_STALE_HANDLE, {"has ended"}, [&] { blob_retain(blob); });
  blob_release(blob);
  blob_end_borrow(blob);
  blob_release(blob);
}

TEST(BlobReturn, EndBorrowRefusesWhatIsNotBorrowed) {
  Bytes memory;
  const std::vector<std::pair<BlobToken, std::string>> blobs = {
      {blob_allocate(kDefaultContext, 8), "allocated"},
      {blob_copy(kDefaultContext, memory.data(), 8), "copied"},
      {blob_adopt(memory.data(), 8, nullptr, nullptr), "adopted"},
      {blob_share(memory.data(), 8, nullptr, nullptr), "shared"},
  };
  for (const auto& [blob, tenure] : blobs) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {tenure, "must be borrowed"},
                 [token = blob] { blob_end_borrow(token); });
    EXPECT_FALSE(blob_describe(blob).closed);
    blob_release(blob);
  }
}

// ---- reclaim ----

TEST(BlobReturn, ReclaimEndsTheHandleAndCallsNothing) {
  Bytes memory;
  ReleaseCounter counter;
  const Stats before = stats();
  const BlobToken blob =
      blob_adopt(memory.data(), Bytes::kSize, counter.callback, counter.context());
  blob_reclaim(blob, counter.context());
  EXPECT_EQ(counter.count(), 0);
  EXPECT_EQ(stats().blobs_finished - before.blobs_finished, 1u);
  expect_error(TNR_STATUS_STALE_HANDLE, {hex(blob)}, [&] { blob_release(blob); });
  expect_error(TNR_STATUS_STALE_HANDLE, {hex(blob)},
               [&] { blob_reclaim(blob, counter.context()); });
  EXPECT_EQ(counter.count(), 0);
}

TEST(BlobReturn, ReclaimIsKeyedOnTheContext) {
  ReleaseCounter counter;
  int other = 0;
  const BlobToken blob = blob_adopt(nullptr, 0, counter.callback, counter.context());
  char context_text[32];
  std::snprintf(context_text, sizeof(context_text), "%p", counter.context());
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"release_context", context_text},
               [&] { blob_reclaim(blob, &other); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"release_context", context_text},
               [&] { blob_reclaim(blob, nullptr); });
  EXPECT_EQ(blob_describe(blob).holder_count, 1u);
  blob_release(blob);
  EXPECT_EQ(counter.count(), 1);
}

TEST(BlobReturn, ReclaimIsBusyWithAnotherHolderOrAPin) {
  ReleaseCounter counter;
  const BlobToken blob = blob_adopt(nullptr, 0, counter.callback, counter.context());
  blob_retain(blob);
  expect_error(TNR_STATUS_BUSY, {"2 handles and 0 users", "1 and 0"},
               [&] { blob_reclaim(blob, counter.context()); });
  blob_release(blob);
  {
    Pins pins;
    pins.add(view_of(blob), "a");
    expect_error(TNR_STATUS_BUSY, {"1 handles and 1 users", "1 and 0"},
                 [&] { blob_reclaim(blob, counter.context()); });
  }
  blob_reclaim(blob, counter.context());
  EXPECT_EQ(counter.count(), 0);
}

TEST(BlobReturn, ReclaimRefusesWhatIsNotAdopted) {
  Bytes memory;
  const std::vector<std::pair<BlobToken, std::string>> blobs = {
      {blob_allocate(kDefaultContext, 8), "allocated"},
      {blob_copy(kDefaultContext, memory.data(), 8), "copied"},
      {blob_share(memory.data(), 8, nullptr, nullptr), "shared"},
      {blob_borrow(memory.data(), 8), "borrowed"},
      {blob_borrow_mut(memory.data(), 8), "borrowed mutably"},
  };
  for (const auto& [blob, tenure] : blobs) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {"is " + tenure, "must be adopted"},
                 [token = blob] { blob_reclaim(token, nullptr); });
    blob_release(blob);
  }
}

}  // namespace
