// Blobs one step at a time: making them, their tokens, retain and release, the last release.
#include "tenure/blob.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "blob_probe.hpp"
#include "expect_error.hpp"
#include "release_counter.hpp"

using namespace tenure;
using tenure::test::Bytes;
using tenure::test::expect_error;
using tenure::test::hex;
using tenure::test::ReleaseCounter;
using tenure::test::view_of;

namespace {

std::uint32_t generation_in(BlobToken token) { return (token >> 32) & 0xffffffu; }

// ---- making and ending ----

TEST(Blob, AllocatedIsAlignedWritableAndHeldOnce) {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, std::size_t{100'000}}) {
    const BlobToken blob = blob_allocate(kDefaultContext, size);
    const BlobInfo info = blob_describe(blob);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(info.data) % kBlobAlignment, 0u);
    EXPECT_EQ(info.size_bytes, size);
    EXPECT_EQ(info.tenure, TNR_TENURE_ALLOCATED);
    EXPECT_EQ(info.holder_count, 1u);
    EXPECT_EQ(info.pin_count, 0u);
    EXPECT_FALSE(info.closed);
    std::memset(blob_memory_mut(blob).data, 0xab, size);  // the sanitizers see a short block
    blob_release(blob);
  }
}

TEST(Blob, CopyHasTheBytesAndNotTheAddress) {
  const std::vector<int> values = {1, 2, 3, 4, 5};
  const BlobToken blob = blob_copy(kDefaultContext, values.data(), values.size() * sizeof(int));
  const BlobInfo info = blob_describe(blob);
  EXPECT_EQ(info.tenure, TNR_TENURE_COPIED);
  EXPECT_NE(info.data, static_cast<const void*>(values.data()));
  EXPECT_EQ(std::memcmp(info.data, values.data(), info.size_bytes), 0);
  blob_release(blob);
}

TEST(Blob, AdoptAndShareKeepTheAddressAndCallBackOnceOnTheLastRelease) {
  for (const bool shares : {false, true}) {
    Bytes memory;
    ReleaseCounter counter;
    const BlobToken blob =
        shares ? blob_share(memory.data(), Bytes::kSize, counter.callback, counter.context())
               : blob_adopt(memory.data(), Bytes::kSize, counter.callback, counter.context());
    EXPECT_EQ(blob_describe(blob).data, memory.data());
    EXPECT_EQ(blob_describe(blob).tenure, shares ? TNR_TENURE_SHARED : TNR_TENURE_ADOPTED);
    blob_retain(blob);
    EXPECT_EQ(blob_describe(blob).holder_count, 2u);
    blob_release(blob);
    EXPECT_EQ(counter.count(), 0);
    blob_release(blob);
    EXPECT_EQ(counter.count(), 1);
    expect_error(TNR_STATUS_STALE_HANDLE, {hex(blob), "released"}, [&] { blob_release(blob); });
    EXPECT_EQ(counter.count(), 1);
  }
}

TEST(Blob, NullCallbackIsNoCall) {
  Bytes memory;
  blob_release(blob_adopt(memory.data(), Bytes::kSize, nullptr, nullptr));
  blob_release(blob_share(memory.data(), Bytes::kSize, nullptr, nullptr));
}

TEST(Blob, EmptyMemoryWorksAndItsCallbackRuns) {
  ReleaseCounter counter;
  const std::array<BlobToken, 6> blobs = {
      blob_allocate(kDefaultContext, 0),
      blob_copy(kDefaultContext, nullptr, 0),
      blob_adopt(nullptr, 0, counter.callback, counter.context()),
      blob_share(nullptr, 0, counter.callback, counter.context()),
      blob_borrow(nullptr, 0),
      blob_borrow_mut(nullptr, 0),
  };
  for (const BlobToken blob : blobs) {
    EXPECT_EQ(blob_describe(blob).size_bytes, 0u);
    EXPECT_EQ(blob_describe(blob).data, nullptr);
    const tnr_view view = view_of(blob);
    {
      Pins pins;
      pins.add(view, "a");
      EXPECT_EQ(blob_describe(blob).pin_count, 1u);
    }
    blob_release(blob);
  }
  EXPECT_EQ(counter.count(), 2);
}

TEST(Blob, RefusedMemoryIsNotTaken) {
  ReleaseCounter counter;
  const Stats before = stats();
  const std::size_t too_large = static_cast<std::size_t>(PTRDIFF_MAX) + 1;
  void* const last_page = reinterpret_cast<void*>(UINTPTR_MAX - 4095);
  using Make = std::function<void(void*, std::size_t)>;
  const std::vector<Make> makers = {
      [&](void* p, std::size_t n) { blob_adopt(p, n, counter.callback, counter.context()); },
      [&](void* p, std::size_t n) { blob_share(p, n, counter.callback, counter.context()); },
      [&](void* p, std::size_t n) { blob_borrow(p, n); },
      [&](void* p, std::size_t n) { blob_borrow_mut(p, n); },
      [&](void* p, std::size_t n) { blob_copy(kDefaultContext, p, n); },
  };
  for (const Make& make : makers) {
    Bytes memory;
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {"NULL", "size_bytes is 8"},
                 [&] { make(nullptr, 8); });
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {std::to_string(too_large), "9223372036854775807"},
                 [&] { make(memory.data(), too_large); });
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {"8192"}, [&] { make(last_page, 8192); });
  }
  EXPECT_EQ(counter.count(), 0);
  EXPECT_EQ(stats().blobs_made, before.blobs_made);
}

TEST(Blob, SizesThatCannotBeHadAreOutOfMemory) {
  const Stats before = stats();
  for (const std::size_t size :
       {SIZE_MAX, SIZE_MAX - 63, static_cast<std::size_t>(PTRDIFF_MAX), std::size_t{1} << 62}) {
    expect_error(TNR_STATUS_OUT_OF_MEMORY, {std::to_string(size)},
                 [&] { blob_allocate(kDefaultContext, size); });
  }
  EXPECT_EQ(stats().blobs_made, before.blobs_made);
  EXPECT_EQ(stats().allocated_bytes, before.allocated_bytes);
}

TEST(Blob, StatsCountWhatWasMadeAllocatedCopiedAndFinished) {
  Bytes memory;
  const Stats before = stats();
  const std::vector<BlobToken> blobs = {
      blob_allocate(kDefaultContext, 100),
      blob_copy(kDefaultContext, memory.data(), 10),
      blob_adopt(memory.data(), Bytes::kSize, nullptr, nullptr),
      blob_share(memory.data(), Bytes::kSize, nullptr, nullptr),
      blob_borrow(memory.data(), Bytes::kSize),
      blob_borrow_mut(memory.data(), Bytes::kSize),
  };
  const Stats made = stats();
  EXPECT_EQ(made.blobs_made - before.blobs_made, blobs.size());
  EXPECT_EQ(made.blobs_finished, before.blobs_finished);
  EXPECT_EQ(made.allocated_bytes - before.allocated_bytes, 110u);
  EXPECT_EQ(made.copied_bytes - before.copied_bytes, 10u);
  for (const BlobToken blob : blobs) blob_release(blob);
  EXPECT_EQ(stats().blobs_finished - before.blobs_finished, blobs.size());
}

// ---- callbacks ----

TEST(Blob, CallbackMayCallTheLibraryBack) {
  struct Chain {
    BlobToken self = 0;
    BlobToken next = 0;
    bool self_is_stale = false;
    std::size_t made_inside = 0;

    static void callback(void* context) {
      Chain& chain = *static_cast<Chain*>(context);
      expect_error(TNR_STATUS_STALE_HANDLE, {"released"}, [&] { blob_retain(chain.self); });
      expect_error(TNR_STATUS_STALE_HANDLE, {"released"}, [&] { blob_describe(chain.self); });
      chain.self_is_stale = true;
      blob_release(chain.next);
      const BlobToken fresh = blob_allocate(kDefaultContext, 128);
      chain.made_inside = blob_describe(fresh).size_bytes;
      blob_release(fresh);
    }
  };
  ReleaseCounter counter;
  Chain chain;
  chain.next = blob_adopt(nullptr, 0, counter.callback, counter.context());
  chain.self = blob_share(nullptr, 0, Chain::callback, &chain);
  blob_release(chain.self);
  EXPECT_TRUE(chain.self_is_stale);
  EXPECT_EQ(chain.made_inside, 128u);
  EXPECT_EQ(counter.count(), 1);
}

TEST(Blob, LastErrorIsTheSameAfterACallbackThatChangesIt) {
  tnr_error& error = last_error();
  error.status = TNR_STATUS_ALIASED;
  std::snprintf(error.message, sizeof(error.message), "from before");
  const auto overwrite = [](void*) {
    last_error().status = TNR_STATUS_INTERNAL;
    std::snprintf(last_error().message, sizeof(last_error().message), "from inside");
  };
  blob_release(blob_adopt(nullptr, 0, overwrite, nullptr));
  EXPECT_EQ(error.status, TNR_STATUS_ALIASED);
  EXPECT_STREQ(error.message, "from before");
  error = {};
}

// ---- tokens ----

TEST(Blob, TokenIsAddressThatCannotBeMapped) {
  const BlobToken blob = blob_allocate(kDefaultContext, 1);
  // Above every user address of 48-bit and 57-bit paging, below every kernel address.
  EXPECT_GE(blob, std::uint64_t{1} << 56);
  EXPECT_LT(blob, ~std::uint64_t{0} << 56);
  blob_release(blob);
}

TEST(Blob, TokenOfAnotherKindIsRefused) {
  const BlobToken blob = blob_allocate(kDefaultContext, 1);
  const BlobToken other_kind = blob ^ (BlobToken{3} << 56);
  expect_error(TNR_STATUS_STALE_HANDLE, {hex(other_kind)}, [&] { blob_release(other_kind); });
  tnr_view view = view_of(blob);
  view.owner = other_kind;
  Pins pins;
  expect_error(TNR_STATUS_STALE_VIEW, {"a.owner", hex(other_kind)}, [&] { pins.add(view, "a"); });
  blob_release(blob);
}

TEST(Blob, ReusedSlotRefusesTheOldToken) {
  const BlobToken first = blob_borrow(nullptr, 0);
  blob_release(first);
  const BlobToken second = blob_borrow(nullptr, 0);
  EXPECT_EQ(static_cast<std::uint32_t>(second), static_cast<std::uint32_t>(first));
  EXPECT_EQ(generation_in(second), generation_in(first) + 1);
  tnr_view view = view_of(second);
  view.owner = first;
  Pins pins;
  expect_error(TNR_STATUS_STALE_VIEW, {"a.owner", hex(first)}, [&] { pins.add(view, "a"); });
  expect_error(TNR_STATUS_STALE_HANDLE, {hex(first)}, [&] { blob_release(first); });
  expect_error(TNR_STATUS_STALE_HANDLE, {hex(first)}, [&] { blob_retain(first); });
  expect_error(TNR_STATUS_STALE_HANDLE, {hex(first)}, [&] { blob_end_borrow(first); });
  expect_error(TNR_STATUS_STALE_HANDLE, {hex(first)}, [&] { blob_reclaim(first, nullptr); });
  expect_error(TNR_STATUS_STALE_HANDLE, {hex(first)}, [&] { blob_describe(first); });
  EXPECT_EQ(blob_describe(second).holder_count, 1u);
  blob_release(second);
}

TEST(Blob, SlotIsRetiredAfterItsLastGeneration) {
  // Last in, first out: one slot lives all its 2^24 lives here.
  BlobToken blob = blob_borrow(nullptr, 0);
  const std::uint32_t index = static_cast<std::uint32_t>(blob);
  while (generation_in(blob) != kLastGeneration) {
    blob_release(blob);
    blob = blob_borrow(nullptr, 0);
    ASSERT_EQ(static_cast<std::uint32_t>(blob), index);
  }
  blob_release(blob);
  expect_error(TNR_STATUS_STALE_HANDLE, {hex(blob)}, [&] { blob_release(blob); });
  const BlobToken elsewhere = blob_borrow(nullptr, 0);
  EXPECT_NE(static_cast<std::uint32_t>(elsewhere), index);
  // The first generation's token names nothing again.
  const BlobToken first = blob - (BlobToken{kLastGeneration} << 32);
  expect_error(TNR_STATUS_STALE_HANDLE, {hex(first)}, [&] { blob_describe(first); });
  blob_release(elsewhere);
}

TEST(Blob, ThousandsLiveAtOnce) {
  std::vector<BlobToken> blobs;
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < 5000; ++i) {
    blobs.push_back(blob_allocate(kDefaultContext, i));
    sizes.push_back(i);
  }
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    EXPECT_EQ(blob_describe(blobs[i]).size_bytes, sizes[i]);
    blob_release(blobs[i]);
  }
  for (const BlobToken blob : blobs) {
    EXPECT_THROW(blob_describe(blob), Error);
  }
}

// ---- retain and release ----

TEST(Blob, RetainIsBusyAtTheLastCount) {
  ReleaseCounter counter;
  const BlobToken blob = blob_adopt(nullptr, 0, counter.callback, counter.context());
  for (std::uint32_t i = 1; i < kMaxRefs; ++i) blob_retain(blob);
  EXPECT_EQ(blob_describe(blob).holder_count, kMaxRefs);
  expect_error(TNR_STATUS_BUSY, {hex(blob), "16777215"}, [&] { blob_retain(blob); });
  EXPECT_EQ(blob_describe(blob).holder_count, kMaxRefs);
  EXPECT_EQ(blob_describe(blob).pin_count, 0u);
  for (std::uint32_t i = 0; i < kMaxRefs; ++i) {
    EXPECT_EQ(counter.count(), 0);
    blob_release(blob);
  }
  EXPECT_EQ(counter.count(), 1);
}

TEST(Blob, LastReleaseOfPinnedMemoryWaitsForThePin) {
  ReleaseCounter counter;
  const BlobToken blob = blob_adopt(nullptr, 0, counter.callback, counter.context());
  const tnr_view view = view_of(blob);
  {
    Pins pins;
    pins.add(view, "a");
    blob_release(blob);
    EXPECT_EQ(counter.count(), 0);
    expect_error(TNR_STATUS_STALE_HANDLE, {hex(blob)}, [&] { blob_retain(blob); });
    expect_error(TNR_STATUS_STALE_HANDLE, {hex(blob)}, [&] { blob_release(blob); });
    expect_error(TNR_STATUS_STALE_HANDLE, {hex(blob)}, [&] { blob_describe(blob); });
    Pins more;
    expect_error(TNR_STATUS_STALE_VIEW, {"b.owner", "released"}, [&] { more.add(view, "b"); });
  }
  EXPECT_EQ(counter.count(), 1);
}

TEST(Blob, LastReleaseOfPinnedBorrowIsBusyAndTakesNothing) {
  Bytes memory;
  for (const bool writable : {false, true}) {
    const BlobToken blob = writable ? blob_borrow_mut(memory.data(), Bytes::kSize)
                                    : blob_borrow(memory.data(), Bytes::kSize);
    const tnr_view view = view_of(blob);
    {
      Pins pins;
      pins.add(view, "a");
      blob_retain(blob);
      blob_release(blob);  // not the last
      expect_error(TNR_STATUS_BUSY, {hex(blob), "by 1 calls", "by 0"}, [&] { blob_release(blob); });
      EXPECT_EQ(blob_describe(blob).holder_count, 1u);
      EXPECT_FALSE(blob_describe(blob).closed);
    }
    blob_release(blob);
    expect_error(TNR_STATUS_STALE_HANDLE, {hex(blob)}, [&] { blob_describe(blob); });
  }
}

}  // namespace
