// Memory that runs out, at every allocation the library makes: a clean status, nothing leaked,
// nothing taken, callbacks still exactly once. The allocations are those of the slot table, of
// blobs, and of the exceptions that carry a refusal; no other function allocates at all, which is
// tested here too, but the formatting of a view.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "expect_status.hpp"
#include "failing_allocator.hpp"
#include "given_attributes.hpp"
#include "release_counter.hpp"
#include "tenure/tenure.h"

using tenure::test::allocation_counts;
using tenure::test::AllocationCounts;
using tenure::test::AllocationFault;
using tenure::test::attributes;
using tenure::test::Failing;
using tenure::test::ReleaseCounter;

namespace {

constexpr Failing kModes[] = {Failing::kOne, Failing::kAllFromThere};

// Runs call() with the allocations failing; nothing else is inside the fault.
template <class Call>
auto with_fault(Failing mode, int first, Call call) {
  const AllocationFault fault(mode, first);
  return call();
}

tnr_stats read_stats() {
  tnr_stats stats = {};
  stats.struct_size = sizeof(stats);
  EXPECT_EQ(tnr_stats_read(&stats), TNR_STATUS_OK);
  return stats;
}

// Holds every slot there is, so that the next blob needs the table to grow.
class FullTable {
 public:
  FullTable() {
    for (;;) {
      tnr_blob* const blob =
          with_fault(Failing::kAllFromThere, 0, [] { return tnr_blob_borrow(nullptr, 0); });
      if (blob == nullptr) return;
      blobs_.push_back(blob);
    }
  }
  ~FullTable() {
    for (tnr_blob* const blob : blobs_) tnr_blob_release(blob);
  }
  FullTable(const FullTable&) = delete;
  FullTable& operator=(const FullTable&) = delete;

 private:
  std::vector<tnr_blob*> blobs_;
};

std::array<unsigned char, 64> g_memory = {};
ReleaseCounter g_counter;

struct Maker {
  const char* name;
  tnr_blob* (*make)();
  int allocations;         // with a free slot
  int expected_callbacks;  // of each blob made
};
const Maker kMakers[] = {
    {"alloc", [] { return tnr_blob_alloc(nullptr, 100); }, 1, 0},
    {"alloc of nothing", [] { return tnr_blob_alloc(nullptr, 0); }, 0, 0},
    {"alloc of a region", [] { return tnr_blob_alloc(nullptr, 3 << 20); }, 1, 0},
    {"copy", [] { return tnr_blob_copy(nullptr, g_memory.data(), 64); }, 1, 0},
    {"adopt",
     [] { return tnr_blob_adopt(g_memory.data(), 64, g_counter.callback, g_counter.context()); }, 0,
     1},
    {"share",
     [] { return tnr_blob_share(g_memory.data(), 64, g_counter.callback, g_counter.context()); }, 0,
     1},
    {"borrow", [] { return tnr_blob_borrow(g_memory.data(), 64); }, 0, 0},
    {"borrow_mut", [] { return tnr_blob_borrow_mut(g_memory.data(), 64); }, 0, 0},
};

// Fails each allocation of the maker in turn until none is left to fail.
void sweep(const Maker& maker, Failing mode, int own_allocations) {
  SCOPED_TRACE(maker.name);
  for (int first = 0; first <= own_allocations; ++first) {
    tnr_memory_trim();  // a failure with something to trim is tried again
    const tnr_stats before = read_stats();
    const int callbacks_before = g_counter.count();
    tnr_blob* const blob = with_fault(mode, first, maker.make);
    const AllocationCounts counts = allocation_counts();
    if (first == own_allocations) {
      ASSERT_EQ(counts.failed, 0);
      ASSERT_EQ(counts.asked, own_allocations);
      ASSERT_NE(blob, nullptr);
      EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
      EXPECT_EQ(g_counter.count() - callbacks_before, maker.expected_callbacks);
      return;
    }
    EXPECT_GT(counts.failed, 0);
    EXPECT_EQ(counts.live_change, 0);
    const tnr_stats after = read_stats();
    EXPECT_EQ(counts.mapped_change, static_cast<long>(after.cached_bytes - before.cached_bytes));
    EXPECT_EQ(blob, nullptr);
    tenure::test::expect_last_error(TNR_STATUS_OUT_OF_MEMORY, {"could not be allocated"});
    EXPECT_EQ(g_counter.count(), callbacks_before);
    EXPECT_EQ(after.blobs_made, before.blobs_made);
    EXPECT_EQ(after.allocated_bytes, before.allocated_bytes);
    EXPECT_EQ(after.copied_bytes, before.copied_bytes);
  }
}

TEST(Allocation, ConstructorsWithAFreeSlot) {
  tnr_blob_release(tnr_blob_alloc(nullptr, 0));
  for (const Maker& maker : kMakers) {
    for (const Failing mode : kModes) sweep(maker, mode, maker.allocations);
  }
}

TEST(Allocation, ConstructorsThatMustGrowTheTable) {
  for (const Maker& maker : kMakers) {
    for (const Failing mode : kModes) {
      const FullTable full;
      sweep(maker, mode, maker.allocations + 1);
    }
  }
}

TEST(Allocation, IsTriedAgainOnceWithWhatWasHeldBack) {
  tnr_memory_trim();
  tnr_blob_release(tnr_blob_alloc(nullptr, 3 << 20));
  const bool holds_back = read_stats().cached_bytes != 0;  // not under a sanitizer
  tnr_blob* const blob = with_fault(Failing::kOne, 0, [] { return tnr_blob_alloc(nullptr, 100); });
  EXPECT_EQ(allocation_counts().failed, 1);
  EXPECT_EQ(blob != nullptr, holds_back);
  EXPECT_EQ(read_stats().cached_bytes, 0u);
  tnr_blob_release(blob);
}

// ---- a lent blob and views of it, for everything that is not a constructor ----

class AllocationWithViews : public ::testing::Test {
 protected:
  void SetUp() override {
    blob_ = tnr_blob_alloc(nullptr, 256);
    shared_ = tnr_blob_share(g_memory.data(), 64, nullptr, nullptr);
    const std::int64_t shape[1] = {4};
    ASSERT_EQ(tnr_blob_view(blob_, 0, TNR_DTYPE_F32, 1, shape, nullptr, &a_), TNR_STATUS_OK);
    ASSERT_EQ(tnr_blob_view(blob_, 32, TNR_DTYPE_F32, 1, shape, nullptr, &b_), TNR_STATUS_OK);
    ASSERT_EQ(tnr_blob_view(blob_, 48, TNR_DTYPE_BOOL8, 1, shape, nullptr, &mask_), TNR_STATUS_OK);
    ASSERT_EQ(tnr_blob_view_mut(blob_, 64, TNR_DTYPE_F32, 1, shape, nullptr, &out_), TNR_STATUS_OK);
    ASSERT_EQ(tnr_blob_view_mut(blob_, 96, TNR_DTYPE_F32, 0, nullptr, nullptr, &total_),
              TNR_STATUS_OK);
    float* const values = static_cast<float*>(tnr_blob_data_mut(blob_));
    for (int i = 0; i < 64; ++i) values[i] = static_cast<float>(i);
  }
  void TearDown() override {
    EXPECT_EQ(tnr_blob_release(blob_), TNR_STATUS_OK);
    EXPECT_EQ(tnr_blob_release(shared_), TNR_STATUS_OK);
  }

  // A call that works allocates nothing, and so cannot run out of memory.
  template <class Call>
  void expect_no_allocation(const char* name, Call call) {
    SCOPED_TRACE(name);
    const tnr_status status = with_fault(Failing::kAllFromThere, 0, call);
    const AllocationCounts counts = allocation_counts();
    EXPECT_EQ(status, TNR_STATUS_OK) << tnr_last_error()->message;
    EXPECT_EQ(counts.asked, 0);
    EXPECT_EQ(counts.live_change, 0);
  }

  // A refusal is the same refusal, with its message, when its exception finds no memory.
  template <class Call>
  void expect_same_refusal(const char* name, tnr_status expected, Call call) {
    SCOPED_TRACE(name);
    ASSERT_EQ(call(), expected);
    const std::string message = tnr_last_error()->message;
    for (const Failing mode : kModes) {
      const tnr_status status = with_fault(mode, 0, call);
      const AllocationCounts counts = allocation_counts();
      EXPECT_EQ(status, expected);
      EXPECT_GT(counts.failed, 0);
      EXPECT_EQ(counts.live_change, 0);
      EXPECT_EQ(tnr_last_error()->status, expected);
      EXPECT_EQ(tnr_last_error()->message, message);
    }
    tnr_blob_info info = {};
    info.struct_size = sizeof(info);
    ASSERT_EQ(tnr_blob_describe(blob_, &info), TNR_STATUS_OK);
    EXPECT_EQ(info.pin_count, 0u);
    EXPECT_EQ(info.holder_count, 1u);
  }

  tnr_blob* blob_ = nullptr;
  tnr_blob* shared_ = nullptr;
  tnr_view a_ = {};
  tnr_view b_ = {};
  tnr_view mask_ = {};
  tnr_view_mut out_ = {};
  tnr_view_mut total_ = {};
};

tnr_status status_of(const void* answer) {
  return answer == nullptr ? tnr_last_error()->status : TNR_STATUS_OK;
}

TEST_F(AllocationWithViews, BlobFunctionsThatWorkAllocateNothing) {
  expect_no_allocation("retain and release", [&] {
    tnr_blob* const other = tnr_blob_retain(blob_);
    return other == nullptr ? tnr_last_error()->status : tnr_blob_release(other);
  });
  expect_no_allocation("data", [&] { return status_of(tnr_blob_data(blob_)); });
  expect_no_allocation("data_mut", [&] { return status_of(tnr_blob_data_mut(blob_)); });
  tnr_blob_info info = {};
  info.struct_size = sizeof(info);
  expect_no_allocation("describe", [&] { return tnr_blob_describe(blob_, &info); });
  const std::int64_t shape[1] = {4};
  tnr_view view = {};
  tnr_view_mut view_mut = {};
  expect_no_allocation(
      "view", [&] { return tnr_blob_view(blob_, 0, TNR_DTYPE_F32, 1, shape, nullptr, &view); });
  expect_no_allocation("view_mut", [&] {
    return tnr_blob_view_mut(blob_, 0, TNR_DTYPE_F32, 1, shape, nullptr, &view_mut);
  });
  tnr_stats stats = {};
  stats.struct_size = sizeof(stats);
  expect_no_allocation("stats", [&] { return tnr_stats_read(&stats); });
}

TEST_F(AllocationWithViews, EndsThatWorkAllocateNothingAndCallBackOnce) {
  ReleaseCounter counter;
  tnr_blob* const adopted = tnr_blob_adopt(nullptr, 0, counter.callback, counter.context());
  expect_no_allocation("release", [&] { return tnr_blob_release(adopted); });
  EXPECT_EQ(counter.count(), 1);

  tnr_blob* const given = tnr_blob_adopt(nullptr, 0, counter.callback, counter.context());
  expect_no_allocation("reclaim", [&] { return tnr_blob_reclaim(given, counter.context()); });
  EXPECT_EQ(counter.count(), 1);

  tnr_blob* const borrowed = tnr_blob_borrow(g_memory.data(), 64);
  expect_no_allocation("end_borrow", [&] { return tnr_blob_end_borrow(borrowed); });
  tnr_blob_release(borrowed);
}

TEST_F(AllocationWithViews, CallbackThatRunsOutOfMemoryRunsOnce) {
  // The callback makes a blob itself. Its failure does not change the status of the release.
  struct Hungry {
    int calls = 0;
    tnr_status inside = TNR_STATUS_OK;
    static void callback(void* context) {
      Hungry& hungry = *static_cast<Hungry*>(context);
      hungry.calls += 1;
      hungry.inside = status_of(tnr_blob_alloc(nullptr, 1000));
    }
  } hungry;
  tnr_blob* const blob = tnr_blob_adopt(nullptr, 0, Hungry::callback, &hungry);
  EXPECT_EQ(with_fault(Failing::kAllFromThere, 0, [&] { return tnr_blob_release(blob); }),
            TNR_STATUS_OK);
  EXPECT_EQ(hungry.calls, 1);
  EXPECT_EQ(hungry.inside, TNR_STATUS_OUT_OF_MEMORY);
}

TEST_F(AllocationWithViews, ViewFunctionsThatWorkAllocateNothing) {
  tnr_view view = {};
  tnr_view high = {};
  const std::int64_t shape[2] = {2, 2};
  const std::uint32_t axes[1] = {0};
  expect_no_allocation("lend", [&] {
    return tnr_view_lend(g_memory.data(), 64, 0, TNR_DTYPE_F32, 2, shape, nullptr, &view);
  });
  expect_no_allocation("check", [&] { return tnr_view_check(&a_); });
  expect_no_allocation("check_mut", [&] { return tnr_view_check_mut(&out_); });
  expect_no_allocation("slice", [&] { return tnr_view_slice(&a_, 0, 3, -1, -2, &view); });
  expect_no_allocation("permute", [&] { return tnr_view_permute(&a_, 1, axes, &view); });
  expect_no_allocation("reshape", [&] { return tnr_view_reshape(&a_, 2, shape, &view); });
  expect_no_allocation("split", [&] { return tnr_view_split(&a_, 0, 1, &view, &high); });
  expect_no_allocation("windows", [&] { return tnr_view_windows(&a_, 0, 2, 1, &view); });
}

TEST(Allocation, FormattingThatRunsOutOfMemoryWritesNothing) {
  const float elements[] = {1.5f, -0.25f, 3e10f};
  const std::int64_t extent = 3;
  tnr_view view = {};
  ASSERT_EQ(tnr_view_lend(elements, sizeof elements, 0, TNR_DTYPE_F32, 1, &extent, nullptr, &view),
            TNR_STATUS_OK);
  for (const Failing mode : kModes) {
    tnr_status status = TNR_STATUS_OUT_OF_MEMORY;
    int first = 0;
    for (; status != TNR_STATUS_OK && first < 1000; ++first) {
      char text[64] = "as before";
      std::size_t needed = 0;
      status = with_fault(mode, first,
                          [&] { return tnr_view_format(&view, 8, sizeof text, text, &needed); });
      EXPECT_EQ(allocation_counts().live_change, 0) << first;
      if (status == TNR_STATUS_OK) break;
      EXPECT_EQ(status, TNR_STATUS_OUT_OF_MEMORY) << first;
      EXPECT_STREQ(text, "as before");
    }
    EXPECT_GT(first, 0);
    EXPECT_EQ(status, TNR_STATUS_OK);
  }
}

TEST_F(AllocationWithViews, OperationsThatWorkAllocateNothing) {
  tnr_scalar two = {};
  two.dtype = TNR_DTYPE_F32;
  const float value = 2;
  std::memcpy(two.bytes, &value, sizeof(value));
  expect_no_allocation("copy", [&] { return tnr_copy(nullptr, &a_, nullptr, &out_); });
  expect_no_allocation("fill", [&] { return tnr_fill(nullptr, &two, nullptr, &out_); });
  expect_no_allocation("unary",
                       [&] { return tnr_unary(nullptr, TNR_UNARY_OP_EXP, &a_, nullptr, &out_); });
  expect_no_allocation(
      "binary", [&] { return tnr_binary(nullptr, TNR_BINARY_OP_ADD, &a_, &b_, nullptr, &out_); });
  expect_no_allocation("binary_scalar", [&] {
    return tnr_binary_scalar(nullptr, TNR_BINARY_OP_MUL, &a_, &two, nullptr, &out_);
  });
  expect_no_allocation("select",
                       [&] { return tnr_select(nullptr, &mask_, &a_, &b_, nullptr, &out_); });
  expect_no_allocation(
      "sum", [&] { return tnr_reduce(nullptr, TNR_REDUCE_OP_SUM, &a_, 1, nullptr, &total_); });
  expect_no_allocation("std", [&] {
    return tnr_reduce(nullptr, TNR_REDUCE_OP_STD, &a_, 1, attributes<tnr_reduce_attributes>(1),
                      &total_);
  });
}

TEST_F(AllocationWithViews, BlobRefusalsSurviveExhaustion) {
  tnr_blob* const garbage = reinterpret_cast<tnr_blob*>(std::uintptr_t{0x1234});
  tnr_blob_info info = {};
  tnr_view view = {};
  tnr_view_mut view_mut = {};
  expect_same_refusal("alloc", TNR_STATUS_OUT_OF_MEMORY,
                      [&] { return status_of(tnr_blob_alloc(nullptr, SIZE_MAX)); });
  expect_same_refusal("copy", TNR_STATUS_INVALID_ARGUMENT,
                      [&] { return status_of(tnr_blob_copy(nullptr, nullptr, 1)); });
  expect_same_refusal("adopt", TNR_STATUS_INVALID_ARGUMENT, [&] {
    return status_of(tnr_blob_adopt(nullptr, 1, g_counter.callback, g_counter.context()));
  });
  expect_same_refusal("release", TNR_STATUS_STALE_HANDLE,
                      [&] { return tnr_blob_release(garbage); });
  expect_same_refusal("retain", TNR_STATUS_STALE_HANDLE,
                      [&] { return status_of(tnr_blob_retain(garbage)); });
  expect_same_refusal("reclaim", TNR_STATUS_INVALID_ARGUMENT,
                      [&] { return tnr_blob_reclaim(blob_, nullptr); });
  expect_same_refusal("end_borrow", TNR_STATUS_INVALID_ARGUMENT,
                      [&] { return tnr_blob_end_borrow(blob_); });
  expect_same_refusal("data_mut", TNR_STATUS_INVALID_ARGUMENT,
                      [&] { return status_of(tnr_blob_data_mut(shared_)); });
  expect_same_refusal("describe", TNR_STATUS_INVALID_ARGUMENT,
                      [&] { return tnr_blob_describe(blob_, &info); });
  expect_same_refusal("view", TNR_STATUS_INVALID_ARGUMENT, [&] {
    return tnr_blob_view(blob_, 300, TNR_DTYPE_U8, 0, nullptr, nullptr, &view);
  });
  expect_same_refusal("view_mut", TNR_STATUS_INVALID_ARGUMENT, [&] {
    return tnr_blob_view_mut(shared_, 0, TNR_DTYPE_U8, 0, nullptr, nullptr, &view_mut);
  });
}

TEST_F(AllocationWithViews, ViewAndOperationRefusalsSurviveExhaustionAndUndoTheirPins) {
  const std::int64_t three[1] = {3};
  tnr_view view = {};
  tnr_view_mut other_shape = {};
  ASSERT_EQ(tnr_blob_view_mut(blob_, 128, TNR_DTYPE_F32, 1, three, nullptr, &other_shape),
            TNR_STATUS_OK);
  tnr_view overlapping = out_.view;
  overlapping.data = static_cast<const char*>(overlapping.data) + 4;
  expect_same_refusal("slice", TNR_STATUS_INVALID_ARGUMENT,
                      [&] { return tnr_view_slice(&a_, 0, 0, 9, 1, &view); });
  expect_same_refusal("copy", TNR_STATUS_INVALID_ARGUMENT,
                      [&] { return tnr_copy(nullptr, &a_, nullptr, &other_shape); });
  expect_same_refusal("binary", TNR_STATUS_ALIASED, [&] {
    return tnr_binary(nullptr, TNR_BINARY_OP_ADD, &a_, &overlapping, nullptr, &out_);
  });
  expect_same_refusal("select", TNR_STATUS_INVALID_ARGUMENT,
                      [&] { return tnr_select(nullptr, &a_, &a_, &b_, nullptr, &out_); });
  expect_same_refusal("reduce", TNR_STATUS_INVALID_ARGUMENT, [&] {
    return tnr_reduce(nullptr, TNR_REDUCE_OP_SUM, &a_, 1, attributes<tnr_reduce_attributes>(3),
                      &total_);
  });
  tnr_view read_only = {};
  ASSERT_EQ(tnr_blob_view(shared_, 0, TNR_DTYPE_F32, 1, three, nullptr, &read_only), TNR_STATUS_OK);
  const tnr_view_mut dressed = {read_only};
  expect_same_refusal("write to shared", TNR_STATUS_INVALID_ARGUMENT,
                      [&] { return tnr_copy(nullptr, &read_only, nullptr, &dressed); });
}

}  // namespace
