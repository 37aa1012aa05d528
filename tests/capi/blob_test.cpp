// Blobs through C: handles, descriptions, views of blobs, and numbers that are no handle.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "expect_status.hpp"
#include "release_counter.hpp"
#include "tenure/tenure.h"

using tenure::test::expect_refused;
using tenure::test::ReleaseCounter;

namespace {

// A number as a handle, which for a handle is no lie.
tnr_blob* handle_of(std::uint64_t token) { return reinterpret_cast<tnr_blob*>(token); }
std::uint64_t token_of(const tnr_blob* blob) { return reinterpret_cast<std::uint64_t>(blob); }

tnr_blob_info describe(const tnr_blob* blob) {
  tnr_blob_info info = {};
  info.struct_size = sizeof(info);
  EXPECT_EQ(tnr_blob_describe(blob, &info), TNR_STATUS_OK);
  return info;
}

tnr_stats read_stats() {
  tnr_stats stats = {};
  stats.struct_size = sizeof(stats);
  EXPECT_EQ(tnr_stats_read(&stats), TNR_STATUS_OK);
  return stats;
}

// ---- each constructor ----

TEST(CapiBlob, SixTenuresDescribeThemselves) {
  std::array<unsigned char, 32> memory = {};
  ReleaseCounter counter;
  struct Case {
    tnr_blob* blob;
    tnr_tenure tenure;
    bool is_callers;
    bool may_write;
  };
  const Case cases[] = {
      {tnr_blob_alloc(nullptr, 32), TNR_TENURE_ALLOCATED, false, true},
      {tnr_blob_copy(nullptr, memory.data(), 32), TNR_TENURE_COPIED, false, true},
      {tnr_blob_adopt(memory.data(), 32, counter.callback, counter.context()), TNR_TENURE_ADOPTED,
       true, true},
      {tnr_blob_share(memory.data(), 32, counter.callback, counter.context()), TNR_TENURE_SHARED,
       true, false},
      {tnr_blob_borrow(memory.data(), 32), TNR_TENURE_BORROWED, true, false},
      {tnr_blob_borrow_mut(memory.data(), 32), TNR_TENURE_BORROWED_MUT, true, true},
  };
  for (const Case& c : cases) {
    ASSERT_NE(c.blob, nullptr);
    const tnr_blob_info info = describe(c.blob);
    EXPECT_EQ(info.struct_size, sizeof(info));
    EXPECT_EQ(info.tenure, c.tenure);
    EXPECT_EQ(info.size_bytes, 32u);
    EXPECT_EQ(info.device.kind, TNR_DEVICE_KIND_CPU);
    EXPECT_EQ(info.device.index, 0);
    EXPECT_EQ(info.holder_count, 1u);
    EXPECT_EQ(info.pin_count, 0u);
    EXPECT_EQ(info.reserved, 0u);
    EXPECT_EQ(info.data == memory.data(), c.is_callers);
    EXPECT_EQ(tnr_blob_data(c.blob), info.data);
    if (c.may_write) {
      EXPECT_EQ(tnr_blob_data_mut(c.blob), info.data);
    } else {
      expect_refused(tnr_blob_data_mut(c.blob), TNR_STATUS_INVALID_ARGUMENT, {"nobody may write"});
    }
    EXPECT_EQ(tnr_blob_release(c.blob), TNR_STATUS_OK);
  }
  EXPECT_EQ(counter.count(), 2);
}

TEST(CapiBlob, ContextMustBeOne) {
  int something = 0;
  tnr_context* const context = reinterpret_cast<tnr_context*>(&something);
  const tnr_stats before = read_stats();
  expect_refused(tnr_blob_alloc(context, 8), TNR_STATUS_STALE_HANDLE, {"context", "ever given"});
  expect_refused(tnr_blob_copy(context, "12345678", 8), TNR_STATUS_STALE_HANDLE,
                 {"context", "ever given"});
  EXPECT_EQ(read_stats().blobs_made, before.blobs_made);
}

TEST(CapiBlob, RefusedAdoptAndShareTakeNothing) {
  ReleaseCounter counter;
  expect_refused(tnr_blob_adopt(nullptr, 8, counter.callback, counter.context()),
                 TNR_STATUS_INVALID_ARGUMENT, {"data is NULL", "size_bytes is 8"});
  expect_refused(tnr_blob_share(nullptr, 8, counter.callback, counter.context()),
                 TNR_STATUS_INVALID_ARGUMENT, {"data is NULL", "size_bytes is 8"});
  EXPECT_EQ(counter.count(), 0);
}

TEST(CapiBlob, RetainReturnsTheHandleToRelease) {
  ReleaseCounter counter;
  tnr_blob* const blob = tnr_blob_adopt(nullptr, 0, counter.callback, counter.context());
  tnr_blob* const other = tnr_blob_retain(blob);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(describe(blob).holder_count, 2u);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(counter.count(), 0);
  EXPECT_EQ(tnr_blob_release(other), TNR_STATUS_OK);
  EXPECT_EQ(counter.count(), 1);
}

TEST(CapiBlob, ReleaseOfNullIsOkAndAllElseRefusesNull) {
  EXPECT_EQ(tnr_blob_release(nullptr), TNR_STATUS_OK);
  tnr_blob_info info = {};
  info.struct_size = sizeof(info);
  tnr_view view = {};
  tnr_view_mut view_mut = {};
  const std::initializer_list<std::string> words = {"0x0"};
  expect_refused(tnr_blob_retain(nullptr), TNR_STATUS_STALE_HANDLE, words);
  expect_refused(tnr_blob_reclaim(nullptr, nullptr), TNR_STATUS_STALE_HANDLE, words);
  expect_refused(tnr_blob_end_borrow(nullptr), TNR_STATUS_STALE_HANDLE, words);
  expect_refused(tnr_blob_data(nullptr), TNR_STATUS_STALE_HANDLE, words);
  expect_refused(tnr_blob_data_mut(nullptr), TNR_STATUS_STALE_HANDLE, words);
  expect_refused(tnr_blob_describe(nullptr, &info), TNR_STATUS_STALE_HANDLE, words);
  expect_refused(tnr_blob_view(nullptr, 0, TNR_DTYPE_U8, 0, nullptr, nullptr, &view),
                 TNR_STATUS_STALE_HANDLE, words);
  expect_refused(tnr_blob_view_mut(nullptr, 0, TNR_DTYPE_U8, 0, nullptr, nullptr, &view_mut),
                 TNR_STATUS_STALE_HANDLE, words);
}

TEST(CapiBlob, ReclaimGivesAdoptedMemoryBackWithoutACall) {
  std::array<unsigned char, 8> memory = {};
  ReleaseCounter counter;
  tnr_blob* const blob = tnr_blob_adopt(memory.data(), 8, counter.callback, counter.context());
  EXPECT_EQ(tnr_blob_reclaim(blob, counter.context()), TNR_STATUS_OK);
  EXPECT_EQ(counter.count(), 0);
  expect_refused(tnr_blob_release(blob), TNR_STATUS_STALE_HANDLE, {"released"});
}

// ---- structs that grow ----

TEST(CapiBlob, DescribeWritesNoMoreThanTheCallerHas) {
  tnr_blob* const blob = tnr_blob_alloc(nullptr, 16);
  tnr_blob_info small = {};
  small.struct_size = sizeof(small) - 1;
  small.size_bytes = 99;
  expect_refused(tnr_blob_describe(blob, &small), TNR_STATUS_INVALID_ARGUMENT,
                 {"info->struct_size is 47", "at least 48"});
  EXPECT_EQ(small.size_bytes, 99u);

  // A newer client's struct, and the bytes behind it.
  struct {
    tnr_blob_info known;
    std::uint64_t later = 0x5a5a5a5a;
    std::uint64_t behind = 0x5a5a5a5a;
  } larger = {};
  larger.known.struct_size = sizeof(larger) - sizeof(larger.behind);
  EXPECT_EQ(tnr_blob_describe(blob, &larger.known), TNR_STATUS_OK);
  EXPECT_EQ(larger.known.struct_size, sizeof(larger) - sizeof(larger.behind));
  EXPECT_EQ(larger.known.size_bytes, 16u);
  EXPECT_EQ(larger.later, 0u);
  EXPECT_EQ(larger.behind, 0x5a5a5a5au);

  small.struct_size = 4097;
  expect_refused(tnr_blob_describe(blob, &small), TNR_STATUS_INVALID_ARGUMENT,
                 {"info->struct_size is 4097", "at most 4096"});

  expect_refused(tnr_blob_describe(blob, nullptr), TNR_STATUS_INVALID_ARGUMENT, {"info is NULL"});
  tnr_blob_release(blob);
}

TEST(CapiBlob, StatsWriteNoMoreThanTheCallerHas) {
  tnr_stats small = {};
  small.struct_size = 0;
  expect_refused(tnr_stats_read(&small), TNR_STATUS_INVALID_ARGUMENT,
                 {"stats->struct_size is 0", "at least 88"});
  expect_refused(tnr_stats_read(nullptr), TNR_STATUS_INVALID_ARGUMENT, {"stats is NULL"});
  struct {
    tnr_stats known;
    std::uint64_t later = 0x5a5a5a5a;
    std::uint64_t behind = 0x5a5a5a5a;
  } larger = {};
  larger.known.struct_size = sizeof(larger) - sizeof(larger.behind);
  EXPECT_EQ(tnr_stats_read(&larger.known), TNR_STATUS_OK);
  EXPECT_EQ(larger.later, 0u);
  EXPECT_EQ(larger.behind, 0x5a5a5a5au);
}

TEST(CapiBlob, StatsCountBytesAndBlobs) {
  const tnr_stats before = read_stats();
  tnr_blob* const allocated = tnr_blob_alloc(nullptr, 1000);
  tnr_blob* const copied = tnr_blob_copy(nullptr, "abcdefg", 7);
  const tnr_stats made = read_stats();
  EXPECT_EQ(made.allocated_bytes - before.allocated_bytes, 1007u);
  EXPECT_EQ(made.copied_bytes - before.copied_bytes, 7u);
  EXPECT_EQ(made.blobs_made - before.blobs_made, 2u);
  EXPECT_EQ(made.blobs_finished, before.blobs_finished);
  tnr_blob_release(allocated);
  tnr_blob_release(copied);
  EXPECT_EQ(read_stats().blobs_finished - before.blobs_finished, 2u);
}

// ---- views of a blob ----

TEST(CapiBlob, ViewCarriesItsOwnerAndOutlivesItAsAValue) {
  tnr_blob* const blob = tnr_blob_alloc(nullptr, 64);
  const std::int64_t shape[2] = {2, 3};
  tnr_view view = {};
  ASSERT_EQ(tnr_blob_view(blob, 8, TNR_DTYPE_F32, 2, shape, nullptr, &view), TNR_STATUS_OK);
  EXPECT_EQ(view.owner, token_of(blob));
  EXPECT_EQ(view.base, tnr_blob_data(blob));
  EXPECT_EQ(view.data, static_cast<const char*>(view.base) + 8);
  EXPECT_EQ(view.size_bytes, 64u);
  EXPECT_EQ(view.flags, 0u);
  EXPECT_EQ(view.strides[0], 3);
  EXPECT_EQ(view.strides[1], 1);
  EXPECT_EQ(tnr_view_check(&view), TNR_STATUS_OK);
  EXPECT_EQ(describe(blob).pin_count, 0u);
  tnr_blob_release(blob);
  expect_refused(tnr_view_check(&view), TNR_STATUS_STALE_VIEW, {"view.owner", "released"});
}

TEST(CapiBlob, ViewMutIsForWritableTenures) {
  std::array<float, 4> memory = {};
  const std::int64_t shape[1] = {4};
  tnr_view_mut view = {};
  tnr_blob* const writable = tnr_blob_borrow_mut(memory.data(), 16);
  ASSERT_EQ(tnr_blob_view_mut(writable, 0, TNR_DTYPE_F32, 1, shape, nullptr, &view), TNR_STATUS_OK);
  EXPECT_EQ(view.view.owner, token_of(writable));
  EXPECT_EQ(tnr_view_check_mut(&view), TNR_STATUS_OK);

  tnr_blob* const shared = tnr_blob_share(memory.data(), 16, nullptr, nullptr);
  tnr_view_mut untouched = {};
  untouched.view.owner = 42;
  expect_refused(tnr_blob_view_mut(shared, 0, TNR_DTYPE_F32, 1, shape, nullptr, &untouched),
                 TNR_STATUS_INVALID_ARGUMENT, {"shared", "nobody may write"});
  EXPECT_EQ(untouched.view.owner, 42u);
  // A reader's view, dressed up as a writer's.
  tnr_view_mut dressed = {};
  ASSERT_EQ(tnr_blob_view(shared, 0, TNR_DTYPE_F32, 1, shape, nullptr, &dressed.view),
            TNR_STATUS_OK);
  expect_refused(tnr_view_check_mut(&dressed), TNR_STATUS_INVALID_ARGUMENT,
                 {"shared", "nobody may write"});

  const std::int64_t zero_stride[1] = {0};
  expect_refused(tnr_blob_view_mut(writable, 0, TNR_DTYPE_F32, 1, shape, zero_stride, &untouched),
                 TNR_STATUS_ALIASED, {"strides[0] is 0"});
  EXPECT_EQ(untouched.view.owner, 42u);
  tnr_blob_release(writable);
  tnr_blob_release(shared);
}

TEST(CapiBlob, ViewStaysInsideTheBlob) {
  tnr_blob* const blob = tnr_blob_alloc(nullptr, 16);
  tnr_view view = {};
  view.owner = 42;
  const std::int64_t five[1] = {5};
  const std::int64_t four[1] = {4};
  expect_refused(tnr_blob_view(blob, 0, TNR_DTYPE_F32, 1, five, nullptr, &view),
                 TNR_STATUS_INVALID_ARGUMENT, {"[5]", "16 bytes"});
  expect_refused(tnr_blob_view(blob, 17, TNR_DTYPE_U8, 0, nullptr, nullptr, &view),
                 TNR_STATUS_INVALID_ARGUMENT, {"offset_bytes is 17", "16"});
  const std::int64_t nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  expect_refused(tnr_blob_view(blob, 0, TNR_DTYPE_F32, 9, nine, nullptr, &view),
                 TNR_STATUS_INVALID_ARGUMENT, {"rank", "9", "8"});
  expect_refused(tnr_blob_view(blob, 0, TNR_DTYPE_F32, 1, four, nullptr, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"out is NULL"});
  expect_refused(tnr_blob_view_mut(blob, 0, TNR_DTYPE_F32, 1, four, nullptr, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"out is NULL"});
  EXPECT_EQ(view.owner, 42u);

  // A view edited by hand to reach further than its owner does.
  ASSERT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_F32, 1, four, nullptr, &view), TNR_STATUS_OK);
  view.size_bytes = 20;
  view.shape[0] = 5;
  expect_refused(tnr_view_check(&view), TNR_STATUS_INVALID_ARGUMENT,
                 {"view is lent 20 bytes", "16 bytes"});
  tnr_blob_release(blob);
}

TEST(CapiBlob, AllocatesAnArrayWithItsView) {
  const std::int64_t shape[] = {3, 5};
  tnr_view_mut view = {};
  tnr_blob* const blob = tnr_blob_alloc_view(nullptr, TNR_DTYPE_F64, 2, shape, &view);
  ASSERT_NE(blob, nullptr);
  EXPECT_EQ(view.view.owner, reinterpret_cast<std::uint64_t>(blob));
  EXPECT_EQ(view.view.data, tnr_blob_data(blob));
  EXPECT_EQ(view.view.size_bytes, 120u);
  EXPECT_EQ(view.view.strides[0], 5);
  EXPECT_EQ(view.view.strides[1], 1);
  EXPECT_EQ(tnr_view_check_mut(&view), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(tnr_view_check_mut(&view), TNR_STATUS_STALE_VIEW);

  const std::int64_t none[] = {INT64_MAX, INT64_MAX, 0};
  tnr_blob* const empty = tnr_blob_alloc_view(nullptr, TNR_DTYPE_C128, 3, none, &view);
  ASSERT_NE(empty, nullptr);
  EXPECT_EQ(tnr_view_count(&view.view), 0);
  tnr_blob_release(empty);
  tnr_blob* const one = tnr_blob_alloc_view(nullptr, TNR_DTYPE_U8, 0, nullptr, &view);
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(tnr_view_count(&view.view), 1);
  tnr_blob_release(one);
}

TEST(CapiBlob, ArraysThatCannotBeAllocateNothing) {
  tnr_stats before = {};
  before.struct_size = sizeof before;
  ASSERT_EQ(tnr_stats_read(&before), TNR_STATUS_OK);
  tnr_view_mut view;
  std::memset(&view, 0x5a, sizeof view);
  const tnr_view_mut untouched = view;
  const std::int64_t negative[] = {4, -1};
  const std::int64_t huge[] = {std::int64_t{1} << 60, 8};
  const std::int64_t vast[] = {std::int64_t{1} << 46};
  const std::int64_t nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  expect_refused(tnr_blob_alloc_view(nullptr, TNR_DTYPE_F32, 2, negative, &view),
                 TNR_STATUS_INVALID_ARGUMENT, {"shape[1]", "-1"});
  expect_refused(tnr_blob_alloc_view(nullptr, TNR_DTYPE_F32, 1, nullptr, &view),
                 TNR_STATUS_INVALID_ARGUMENT, {"shape is NULL"});
  expect_refused(tnr_blob_alloc_view(nullptr, TNR_DTYPE_F32, 9, nine, &view),
                 TNR_STATUS_INVALID_ARGUMENT, {"rank", "9", "8"});
  expect_refused(tnr_blob_alloc_view(nullptr, TNR_DTYPE_U8, 2, huge, &view),
                 TNR_STATUS_INVALID_ARGUMENT, {"shape", "576460752303423487"});
  const std::int64_t wide[] = {TNR_MAX_ELEMENTS, 1};
  constexpr tnr_dtype kU64x3 = 0x00034001;
  expect_refused(tnr_blob_alloc_view(nullptr, kU64x3, 2, wide, &view), TNR_STATUS_INVALID_ARGUMENT,
                 {"shape", "24 bytes, more than there can be"});
  expect_refused(tnr_blob_alloc_view(nullptr, TNR_DTYPE_F64, 1, vast, &view),
                 TNR_STATUS_OUT_OF_MEMORY, {});
  expect_refused(tnr_blob_alloc_view(nullptr, 0x00010400, 0, nullptr, &view),
                 TNR_STATUS_UNSUPPORTED, {"dtype", "4 bits"});
  expect_refused(
      tnr_blob_alloc_view(reinterpret_cast<tnr_context*>(5), TNR_DTYPE_U8, 0, nullptr, &view),
      TNR_STATUS_STALE_HANDLE, {"context"});
  EXPECT_EQ(std::memcmp(&view, &untouched, sizeof view), 0);
  expect_refused(tnr_blob_alloc_view(nullptr, TNR_DTYPE_U8, 0, nullptr, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"out is NULL"});
  tnr_stats after = {};
  after.struct_size = sizeof after;
  ASSERT_EQ(tnr_stats_read(&after), TNR_STATUS_OK);
  EXPECT_EQ(after.blobs_made - before.blobs_made, after.blobs_finished - before.blobs_finished);
}

TEST(CapiBlob, EmptyBlobHasViews) {
  tnr_blob* const blob = tnr_blob_alloc(nullptr, 0);
  const std::int64_t shape[2] = {3, 0};
  tnr_view_mut view = {};
  ASSERT_EQ(tnr_blob_view_mut(blob, 0, TNR_DTYPE_F64, 2, shape, nullptr, &view), TNR_STATUS_OK);
  EXPECT_EQ(tnr_view_check_mut(&view), TNR_STATUS_OK);
  tnr_blob_release(blob);
}

TEST(CapiBlob, EndedBorrowGivesNoMoreAddressesOrViews) {
  std::array<unsigned char, 8> memory = {};
  tnr_blob* const blob = tnr_blob_borrow_mut(memory.data(), 8);
  tnr_view view = {};
  tnr_view_mut view_mut = {};
  ASSERT_EQ(tnr_blob_end_borrow(blob), TNR_STATUS_OK);
  expect_refused(tnr_blob_data(blob), TNR_STATUS_STALE_HANDLE, {"has ended"});
  expect_refused(tnr_blob_data_mut(blob), TNR_STATUS_STALE_HANDLE, {"has ended"});
  expect_refused(tnr_blob_retain(blob), TNR_STATUS_STALE_HANDLE, {"has ended"});
  expect_refused(tnr_blob_view(blob, 0, TNR_DTYPE_U8, 0, nullptr, nullptr, &view),
                 TNR_STATUS_STALE_HANDLE, {"has ended"});
  expect_refused(tnr_blob_view_mut(blob, 0, TNR_DTYPE_U8, 0, nullptr, nullptr, &view_mut),
                 TNR_STATUS_STALE_HANDLE, {"has ended"});
  EXPECT_EQ(describe(blob).holder_count, 1u);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
}

// ---- numbers that are no handle ----

// Whatever the number is, each function answers; none reads through it.
constexpr int kAskedCount = 11;
tnr_status ask(int which, std::uint64_t token) {
  tnr_blob* const blob = handle_of(token);
  static unsigned char byte = 0;
  tnr_view_mut view_mut = {};
  tnr_view& view = view_mut.view;
  view.data = view.base = &byte;
  view.size_bytes = 1;
  view.owner = token;
  view.dtype = TNR_DTYPE_U8;
  view.device = {TNR_DEVICE_KIND_CPU, 0};
  tnr_blob_info info = {};
  info.struct_size = sizeof(info);
  const auto status_of = [](const void* answer) {
    return answer == nullptr ? tnr_last_error()->status : TNR_STATUS_OK;
  };
  switch (which) {
    case 0: return tnr_blob_release(blob);
    case 1: return status_of(tnr_blob_retain(blob));
    case 2: return tnr_blob_reclaim(blob, nullptr);
    case 3: return tnr_blob_end_borrow(blob);
    case 4: return status_of(tnr_blob_data(blob));
    case 5: return status_of(tnr_blob_data_mut(blob));
    case 6: return tnr_blob_describe(blob, &info);
    case 7: return tnr_blob_view(blob, 0, TNR_DTYPE_U8, 0, nullptr, nullptr, &view);
    case 8: return tnr_blob_view_mut(blob, 0, TNR_DTYPE_U8, 0, nullptr, nullptr, &view_mut);
    case 9: return tnr_view_check(&view);
    default: return tnr_view_check_mut(&view_mut);
  }
}
tnr_status expected_of(int which, std::uint64_t token) {
  if (token == 0 && (which == 0 || which >= 9)) return TNR_STATUS_OK;  // NULL and "no owner"
  return which >= 9 ? TNR_STATUS_STALE_VIEW : TNR_STATUS_STALE_HANDLE;
}

TEST(CapiBlob, MillionGarbageStaleAndWrongKindTokensAreRefused) {
  // Some blobs live meanwhile, so that a token can be wrong by one bit.
  std::vector<tnr_blob*> live;
  std::set<std::uint64_t> live_tokens;
  std::vector<std::uint64_t> stale;
  for (int i = 0; i < 1000; ++i) {
    live.push_back(tnr_blob_alloc(nullptr, 8));
    live_tokens.insert(token_of(live.back()));
    stale.push_back(token_of(tnr_blob_alloc(nullptr, 8)));
  }
  for (const std::uint64_t token : stale) ASSERT_EQ(tnr_blob_release(handle_of(token)), 0);
  constexpr std::uint64_t kKindMask = std::uint64_t{0xff} << 56;
  std::mt19937_64 random(20);
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint64_t some_live = token_of(live[random() % live.size()]);
    std::uint64_t token = 0;
    switch (i % 6) {
      case 0: token = random(); break;
      case 1: token = stale[random() % stale.size()]; break;
      case 2: token = some_live ^ (std::uint64_t{1} << (random() % 64)); break;
      case 3: token = (some_live & ~kKindMask) | (random() & kKindMask); break;
      case 4: token = (some_live & kKindMask) | (random() & ~kKindMask); break;
      default: token = random() % 4096; break;  // NULL and small numbers
    }
    if (live_tokens.count(token) != 0) continue;
    const int which = static_cast<int>(random() % kAskedCount);
    ASSERT_EQ(ask(which, token), expected_of(which, token)) << which << " " << token;
  }
  for (tnr_blob* const blob : live) {
    const tnr_blob_info info = describe(blob);
    ASSERT_EQ(info.holder_count, 1u);
    ASSERT_EQ(info.pin_count, 0u);
    ASSERT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  }
}

}  // namespace
