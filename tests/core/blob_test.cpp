// Blobs one step at a time: every row of the table in blob.hpp, its limits and its refusals.
#include "tenure/blob.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "expect_error.hpp"
#include "release_counter.hpp"

using namespace tenure;
using tenure::test::expect_error;
using tenure::test::ReleaseCounter;

namespace {

std::string hex(BlobToken token) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%" PRIx64, token);
  return text;
}

std::uint32_t generation_in(BlobToken token) { return (token >> 32) & 0xffffffu; }

tnr_view view_of(BlobToken token) {
  const BlobInfo info = blob_describe(token);
  tnr_view view = {};
  view.data = info.data;
  view.base = info.data;
  view.size_bytes = info.size_bytes;
  view.owner = token;
  return view;
}

// One byte per test object is enough where only the state matters.
struct Bytes {
  std::array<unsigned char, 64> bytes = {};
  void* data() { return bytes.data(); }
  static constexpr std::size_t kSize = 64;
};

// ---- making and ending ----

TEST(Blob, AllocatedIsAlignedWritableAndHeldOnce) {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, std::size_t{100'000}}) {
    const BlobToken blob = blob_allocate(size);
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
  const BlobToken blob = blob_copy(values.data(), values.size() * sizeof(int));
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
      blob_allocate(0),
      blob_copy(nullptr, 0),
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
      [&](void* p, std::size_t n) { blob_copy(p, n); },
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
    expect_error(TNR_STATUS_OUT_OF_MEMORY, {std::to_string(size)}, [&] { blob_allocate(size); });
  }
  EXPECT_EQ(stats().blobs_made, before.blobs_made);
  EXPECT_EQ(stats().allocated_bytes, before.allocated_bytes);
}

TEST(Blob, StatsCountWhatWasMadeAllocatedCopiedAndFinished) {
  Bytes memory;
  const Stats before = stats();
  const std::vector<BlobToken> blobs = {
      blob_allocate(100),
      blob_copy(memory.data(), 10),
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
      const BlobToken fresh = blob_allocate(128);
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
  const BlobToken blob = blob_allocate(1);
  // Above every user address of 48-bit and 57-bit paging, below every kernel address.
  EXPECT_GE(blob, std::uint64_t{1} << 56);
  EXPECT_LT(blob, ~std::uint64_t{0} << 56);
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
    blobs.push_back(blob_allocate(i));
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

// ---- the end of a borrow ----

TEST(Blob, EndBorrowEndsTheBorrowAndNotTheHandle) {
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

TEST(Blob, EndBorrowClosesAtOnceWhileAPinRemains) {
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

TEST(Blob, EndBorrowTellsOfAnotherHandle) {
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

TEST(Blob, EndBorrowRefusesWhatIsNotBorrowed) {
  Bytes memory;
  const std::vector<std::pair<BlobToken, std::string>> blobs = {
      {blob_allocate(8), "allocated"},
      {blob_copy(memory.data(), 8), "copied"},
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

TEST(Blob, ReclaimEndsTheHandleAndCallsNothing) {
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

TEST(Blob, ReclaimIsKeyedOnTheContext) {
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

TEST(Blob, ReclaimIsBusyWithAnotherHolderOrAPin) {
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

TEST(Blob, ReclaimRefusesWhatIsNotAdopted) {
  Bytes memory;
  const std::vector<std::pair<BlobToken, std::string>> blobs = {
      {blob_allocate(8), "allocated"},
      {blob_copy(memory.data(), 8), "copied"},
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

// ---- pins ----

TEST(Blob, DistinctOwnerIsPinnedOncePerCall) {
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

TEST(Blob, ViewWithoutOwnerNeedsNoPin) {
  tnr_view view = {};
  Pins pins;
  pins.add(view, "a");
  pins.add_mut({view}, "out");
}

TEST(Blob, PinIsBusyAtTheLastCount) {
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

TEST(Blob, ViewMustLieInsideItsOwner) {
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
  EXPECT_EQ(blob_describe(blob).pin_count, 0u);
  blob_release(blob);
}

TEST(Blob, OnlyWritableTenuresTakeAMutableView) {
  Bytes memory;
  const std::vector<std::pair<BlobToken, std::string>> blobs = {
      {blob_allocate(8), ""},
      {blob_copy(memory.data(), 8), ""},
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

TEST(Blob, RefusedPinLeavesTheOthersToBeUndone) {
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
