// Pins: the memory that a call may use, how often a pin counts, and its refusals.
#include <gtest/gtest.h>

#include <array>
#include <memory>
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
using tenure::test::ReleaseCounter;
using tenure::test::view_of;

namespace {

TEST(BlobPins, DistinctOwnerIsPinnedOncePerCall) {
  Bytes memory;
  const BlobToken first = blob_borrow(memory.data(), Bytes::kSize);
  const BlobToken second = blob_borrow_mut(memory.data(), Bytes::kSize);
  {
    Pins pins;
    pins.add(view_of(first), "a");
    pins.add(view_of(first), "b");
    pins.add_mut({view_of(second)}, "out");
    pins.add(view_of(second), "c");
    EXPECT_EQ(blob_describe(first).pin_count, 1u);
    EXPECT_EQ(blob_describe(second).pin_count, 1u);
  }
  EXPECT_EQ(blob_describe(first).pin_count, 0u);
  EXPECT_EQ(blob_describe(second).pin_count, 0u);
  blob_release(first);
  blob_release(second);
}

TEST(BlobPins, ViewWithoutOwnerNeedsNoPin) {
  tnr_view view = {};
  Pins pins;
  pins.add(view, "a");
  pins.add_mut({view}, "out");
}

TEST(BlobPins, PinIsBusyAtTheLastCount) {
  ReleaseCounter counter;
  const BlobToken blob = blob_adopt(nullptr, 0, counter.callback, counter.context());
  const tnr_view view = view_of(blob);
  {
    const auto calls = std::make_unique<Pins[]>(kMaxPins);
    for (std::uint32_t i = 0; i < kMaxPins; ++i) calls[i].add(view, "a");
    EXPECT_EQ(blob_describe(blob).pin_count, kMaxPins);
    Pins one_more;
    expect_error(TNR_STATUS_BUSY, {"b.owner", "32767"}, [&] { one_more.add(view, "b"); });
    EXPECT_EQ(blob_describe(blob).pin_count, kMaxPins);
    EXPECT_FALSE(blob_describe(blob).closed);
    blob_retain(blob);
    blob_release(blob);
    blob_release(blob);
    EXPECT_EQ(counter.count(), 0);
  }
  EXPECT_EQ(counter.count(), 1);
}

TEST(BlobPins, ViewMustLieInsideItsOwner) {
  std::array<unsigned char, 96> memory = {};
  unsigned char* const inside = memory.data() + 16;
  const BlobToken blob = blob_borrow(inside, 64);
  tnr_view view = view_of(blob);
  const auto lends = [&](unsigned char* base, std::uint64_t size_bytes) {
    view.base = base;
    view.size_bytes = size_bytes;
    Pins pins;
    pins.add(view, "a");
  };
  lends(inside, 64);
  lends(inside + 64, 0);
  lends(inside + 10, 54);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a is lent 65 bytes", "64 bytes"},
               [&] { lends(inside, 65); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a is lent 64 bytes"}, [&] { lends(inside + 1, 64); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a is lent 1 bytes"}, [&] { lends(inside - 1, 1); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a is lent 0 bytes"}, [&] { lends(inside + 65, 0); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"18446744073709551615"},
               [&] { lends(inside, UINT64_MAX); });
  // Sums that wrap round to something that fits.
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"18446744073709551615"},
               [&] { lends(inside + 1, UINT64_MAX); });
  EXPECT_EQ(blob_describe(blob).pin_count, 0u);
  blob_release(blob);
}

TEST(BlobPins, OnlyWritableTenuresTakeAMutableView) {
  Bytes memory;
  const std::vector<std::pair<BlobToken, std::string>> blobs = {
      {blob_allocate(kDefaultContext, 8), ""},
      {blob_copy(kDefaultContext, memory.data(), 8), ""},
      {blob_adopt(memory.data(), 8, nullptr, nullptr), ""},
      {blob_borrow_mut(memory.data(), 8), ""},
      {blob_share(memory.data(), 8, nullptr, nullptr), "shared"},
      {blob_borrow(memory.data(), 8), "borrowed"},
  };
  for (const auto& [blob, refused_as] : blobs) {
    const tnr_view_mut view = {view_of(blob)};
    Pins pins;
    pins.add(view.view, "a");
    if (refused_as.empty()) {
      pins.add_mut(view, "out");
      EXPECT_EQ(blob_memory_mut(blob).data, view.view.data);
    } else {
      expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out", "is " + refused_as, "nobody may write"},
                   [&] { pins.add_mut(view, "out"); });
      expect_error(TNR_STATUS_INVALID_ARGUMENT, {"is " + refused_as, "nobody may write"},
                   [token = blob] { blob_memory_mut(token); });
    }
    EXPECT_EQ(blob_describe(blob).pin_count, 1u);
  }
  for (const auto& [blob, refused_as] : blobs) blob_release(blob);
}

TEST(BlobPins, RefusedPinLeavesTheOthersToBeUndone) {
  Bytes memory;
  const BlobToken first = blob_borrow(memory.data(), 8);
  const BlobToken second = blob_borrow(memory.data(), 8);
  const tnr_view a = view_of(first);
  const tnr_view b = view_of(second);
  blob_end_borrow(second);
  expect_error(TNR_STATUS_STALE_VIEW, {"b.owner"}, [&] {
    Pins pins;
    pins.add(a, "a");
    pins.add(b, "b");
  });
  EXPECT_EQ(blob_describe(first).pin_count, 0u);
  blob_release(first);
  blob_release(second);
}

}  // namespace
