// Contexts in C: what makes one, what names one, and the caller's threads and memory behind them.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "context_options.hpp"
#include "expect_status.hpp"
#include "refused_threads.hpp"
#include "release_counter.hpp"
#include "tenure/tenure.h"
#include "unseen.hpp"

namespace {

using tenure::test::expect_refused;
using tenure::test::options;
using tenure::test::ReleaseCounter;
using tenure::test::started_threads;
using tenure::test::ThreadFault;
using tenure::test::unseen;

tnr_context_options with_release(std::uint32_t thread_count, ReleaseCounter& counter) {
  tnr_context_options wanted = options(thread_count);
  wanted.release = counter.callback;
  wanted.user_context = counter.context();
  return wanted;
}

tnr_view view_of(const std::vector<float>& values) {
  const std::int64_t shape = static_cast<std::int64_t>(values.size());
  tnr_view view;
  EXPECT_EQ(tnr_view_lend(values.data(), values.size() * sizeof(float), 0, TNR_DTYPE_F32, 1, &shape,
                          nullptr, &view),
            TNR_STATUS_OK);
  return view;
}

// a + b of more elements than one thread would keep to itself.
class Sum {
 public:
  Sum() : a_(kCount), b_(kCount), sums_(kCount), out_(kCount) {
    for (std::size_t i = 0; i < kCount; ++i) {
      a_[i] = static_cast<float>(i);
      b_[i] = static_cast<float>(3 * i);
      sums_[i] = static_cast<float>(4 * i);
    }
  }

  // Adds, and expects the right sums.
  void run(tnr_context* context) {
    std::fill(out_.begin(), out_.end(), -1.0f);
    const tnr_view a = view_of(a_);
    const tnr_view b = view_of(b_);
    const tnr_view_mut out = {view_of(out_)};
    ASSERT_EQ(tnr_binary(context, TNR_BINARY_OP_ADD, &a, &b, nullptr, &out), TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_TRUE(out_ == sums_);
  }

 private:
  static constexpr std::size_t kCount = std::size_t{1} << 17;  // 1.5 MiB, read and written
  std::vector<float> a_;
  std::vector<float> b_;
  std::vector<float> sums_;
  std::vector<float> out_;
};

// ---- making ----

TEST(CapiContext, NullIsTheDefault) {
  EXPECT_EQ(tnr_context_thread_count(nullptr), 1u);
  EXPECT_EQ(tnr_context_release(nullptr), TNR_STATUS_OK);
}

TEST(CapiContext, HasTheThreadsItWasAskedFor) {
  for (const std::uint32_t count : {1u, 2u, 3u, 8u}) {
    const int before = started_threads();
    const tnr_context_options wanted = options(count);
    tnr_context* const context = tnr_context_create(&wanted);
    ASSERT_NE(context, nullptr) << tnr_last_error()->message;
    EXPECT_EQ(tnr_context_thread_count(context), count);
    EXPECT_EQ(started_threads() - before, static_cast<int>(count) - 1);
    Sum sum;
    sum.run(context);
    sum.run(context);
    EXPECT_EQ(started_threads() - before, static_cast<int>(count) - 1);
    EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
  }
}

TEST(CapiContext, OptionsAreChecked) {
  ReleaseCounter counter;
  const auto refused = [&](std::initializer_list<std::string> words,
                           const std::function<void(tnr_context_options&)>& spoil) {
    tnr_context_options wanted = with_release(2, counter);
    spoil(wanted);
    expect_refused(tnr_context_create(&wanted), TNR_STATUS_INVALID_ARGUMENT, words);
  };
  using Options = tnr_context_options&;
  refused({"thread_count is 0", "at least 1", "1024"}, [](Options o) { o.thread_count = 0; });
  refused({"thread_count is 1025", "at most 1024"}, [](Options o) { o.thread_count = 1025; });
  refused({"thread_count is 4294967295"}, [](Options o) { o.thread_count = UINT32_MAX; });
  refused({"reserved is 7", "must be 0"}, [](Options o) { o.reserved = 7; });
  refused({"reserved_end is 7", "must be 0"}, [](Options o) { o.reserved_end = 7; });
  refused({"engine is 5", "names no engine"}, [](Options o) { o.engine = 5; });
  refused({"engine is -1", "names no engine"}, [](Options o) { o.engine = -1; });
  refused({"struct_size is 0", "at least 80"}, [](Options o) { o.struct_size = 0; });
  refused({"struct_size is 79", "at least 80"}, [](Options o) { o.struct_size = 79; });
  refused({"struct_size is 4097", "at most 4096"}, [](Options o) { o.struct_size = 4097; });
  refused({"deallocate is NULL but allocate is not"}, [](Options o) {
    o.allocate = [](void*, std::size_t, std::size_t) -> void* { return nullptr; };
  });
  refused({"allocate is NULL but deallocate is not"},
          [](Options o) { o.deallocate = [](void*, void*, std::size_t, std::size_t) {}; });
  expect_refused(tnr_context_create(nullptr), TNR_STATUS_INVALID_ARGUMENT, {"options is NULL"});
  EXPECT_EQ(counter.count(), 0) << "a failed create calls nothing";
}

TEST(CapiContext, LargerOptionsOfANewerHeader) {
  struct {
    tnr_context_options known;
    std::uint64_t later[2];
  } newer = {options(1), {0, 0}};
  newer.known.struct_size = sizeof(newer);
  tnr_context* const context = tnr_context_create(&newer.known);
  ASSERT_NE(context, nullptr);
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
  newer.later[1] = 1;
  expect_refused(tnr_context_create(&newer.known), TNR_STATUS_INVALID_ARGUMENT,
                 {"options", "offset 88", "only 80 bytes"});
}

TEST(CapiContext, ARefusedThreadLeavesNone) {
  ReleaseCounter counter;
  const tnr_context_options wanted = with_release(8, counter);
  const int before = started_threads();
  {
    const ThreadFault fault(2);
    expect_refused(tnr_context_create(&wanted), TNR_STATUS_OUT_OF_MEMORY, {"thread 4 of 8"});
  }
  EXPECT_EQ(started_threads() - before, 2);
  EXPECT_EQ(counter.count(), 0);
  tnr_context* const context = tnr_context_create(&wanted);
  ASSERT_NE(context, nullptr);
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
  EXPECT_EQ(counter.count(), 1);
}

TEST(CapiContext, ThereIsABound) {
  const tnr_context_options wanted = options(1);
  std::vector<tnr_context*> contexts;
  while (contexts.size() <= 1024) {
    tnr_context* const context = tnr_context_create(&wanted);
    if (context == nullptr) break;
    contexts.push_back(context);
  }
  EXPECT_EQ(contexts.size(), 1024u);
  EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_OUT_OF_MEMORY);
  EXPECT_NE(std::string(tnr_last_error()->message).find("1024 contexts"), std::string::npos);
  for (tnr_context* const context : contexts) {
    EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
  }
  tnr_context* const context = tnr_context_create(&wanted);
  EXPECT_NE(context, nullptr);
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
}

// ---- handles ----

TEST(CapiContext, HandlesThatNameNone) {
  tnr_blob* const blob = tnr_blob_alloc(nullptr, 8);
  const tnr_context_options wanted = options(1);
  tnr_context* const released = tnr_context_create(&wanted);
  ASSERT_EQ(tnr_context_release(released), TNR_STATUS_OK);
  const auto as_context = [](std::uintptr_t token) {
    return reinterpret_cast<tnr_context*>(token);
  };
  const std::uintptr_t kind = std::uintptr_t{2} << 56;
  for (tnr_context* const context :
       {as_context(1), as_context(UINTPTR_MAX), as_context(kind | 1023), as_context(kind | 1024),
        as_context(reinterpret_cast<std::uintptr_t>(blob)), released}) {
    expect_refused(tnr_context_release(context), TNR_STATUS_STALE_HANDLE, {"context", "0x"});
    expect_refused(tnr_blob_alloc(context, 8), TNR_STATUS_STALE_HANDLE, {"context", "0x"});
    EXPECT_EQ(tnr_context_thread_count(context), 0u);
  }
  expect_refused(tnr_context_release(released), TNR_STATUS_STALE_HANDLE, {"has been released"});
  // And the other way round.
  tnr_context* const context = tnr_context_create(&wanted);
  expect_refused(tnr_blob_release(reinterpret_cast<tnr_blob*>(unseen(context))),
                 TNR_STATUS_STALE_HANDLE, {"ever given"});
  EXPECT_NE(context, released) << "a slot's next life has another handle";
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
}

TEST(CapiContext, ReleaseTellsOnce) {
  ReleaseCounter counter;
  const tnr_context_options wanted = with_release(3, counter);
  tnr_context* const context = tnr_context_create(&wanted);
  EXPECT_EQ(counter.count(), 0);
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
  EXPECT_EQ(counter.count(), 1);
  expect_refused(tnr_context_release(context), TNR_STATUS_STALE_HANDLE, {"released"});
  EXPECT_EQ(counter.count(), 1);
}

// ---- the caller's threads ----

// Collects the tasks that a context spawns.
struct Collector {
  std::vector<std::uint64_t> tasks;
  std::function<void(std::uint64_t)> and_then = [](std::uint64_t) {};

  static void spawn(void* user_context, std::uint64_t task) {
    Collector& self = *static_cast<Collector*>(user_context);
    self.tasks.push_back(task);
    self.and_then(task);
  }
  tnr_context* context(std::uint32_t thread_count) {
    tnr_context_options wanted = options(thread_count);
    wanted.spawn = spawn;
    wanted.user_context = this;
    return tnr_context_create(&wanted);
  }
};

TEST(CapiExecutor, StartsNoThreadOfItsOwn) {
  const int before = started_threads();
  Collector collector;
  tnr_context* const context = collector.context(8);
  EXPECT_EQ(tnr_context_thread_count(context), 8u);
  EXPECT_EQ(started_threads(), before);
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
}

TEST(CapiExecutor, ThatNeverRunsAnything) {
  Collector collector;
  tnr_context* const context = collector.context(3);
  Sum sum;
  sum.run(context);
  EXPECT_EQ(collector.tasks.size(), 2u) << "one thread is the caller's";
  sum.run(context);
  EXPECT_EQ(collector.tasks.size(), 4u);
  EXPECT_NE(collector.tasks[0], collector.tasks[2]) << "each call has a task of its own";
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
}

TEST(CapiExecutor, ThatRunsTasksInsideSpawn) {
  Collector collector;
  collector.and_then = tnr_task_run;
  tnr_context* const context = collector.context(8);
  Sum sum;
  sum.run(context);
  EXPECT_EQ(collector.tasks.size(), 1u) << "the first left nothing to ask for";
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
}

TEST(CapiExecutor, ThatRunsTasksLateTwiceAndAfterTheEnd) {
  Collector collector;
  tnr_context* const context = collector.context(4);
  Sum sum;
  // Each call meets the tasks of those before it.
  collector.and_then = [&](std::uint64_t) {
    for (const std::uint64_t task : std::vector(collector.tasks)) tnr_task_run(task);
  };
  for (int call = 0; call < 5; ++call) sum.run(context);
  for (const std::uint64_t task : collector.tasks) tnr_task_run(task);
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
  for (const std::uint64_t task : collector.tasks) tnr_task_run(task);
  // The next context lives in the same place.
  Collector next;
  tnr_context* const other = next.context(2);
  next.and_then = [&](std::uint64_t) {
    for (const std::uint64_t task : collector.tasks) tnr_task_run(task);
  };
  sum.run(other);
  EXPECT_EQ(next.tasks.size(), 1u);
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
  for (const std::uint64_t garbage : {std::uint64_t{0}, std::uint64_t{1}, UINT64_MAX,
                                      std::uint64_t{3} << 56, std::uint64_t{3} << 56 | 1}) {
    tnr_task_run(garbage);
  }
}

TEST(CapiExecutor, ThreadsThatRunEachTaskTwice) {
  std::vector<std::thread> threads;
  Collector collector;
  collector.and_then = [&](std::uint64_t task) {
    for (int i = 0; i < 2; ++i) threads.emplace_back(tnr_task_run, task);
  };
  tnr_context* const context = collector.context(3);
  Sum sum;
  for (int call = 0; call < 20; ++call) sum.run(context);
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
  for (std::thread& thread : threads) thread.join();
}

TEST(CapiExecutor, MayCallTheLibraryAndFailThere) {
  Collector collector;
  Sum inner;
  tnr_context* context = nullptr;
  collector.and_then = [&](std::uint64_t task) {
    EXPECT_NE(tnr_blob_release(reinterpret_cast<tnr_blob*>(std::uintptr_t{5})), TNR_STATUS_OK);
    inner.run(context);  // the context is busy: this thread does all of it
    tnr_task_run(task);
  };
  context = collector.context(2);
  EXPECT_NE(tnr_view_check(nullptr), TNR_STATUS_OK);
  const std::string said = tnr_last_error()->message;
  Sum sum;
  sum.run(context);
  EXPECT_EQ(collector.tasks.size(), 1u) << "the inner call asked for nobody";
  EXPECT_EQ(tnr_last_error()->message, said);
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
}

TEST(CapiExecutor, ReleasedDuringACall) {
  Collector collector;
  ReleaseCounter counter;
  tnr_context* context = nullptr;
  collector.and_then = [&](std::uint64_t) {
    if (context == nullptr) return;
    EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
    EXPECT_EQ(tnr_context_thread_count(context), 0u) << "no new use";
    EXPECT_EQ(counter.count(), 0) << "the call still uses it";
    context = nullptr;
  };
  struct Both {
    Collector* collector;
    ReleaseCounter* counter;
  } both = {&collector, &counter};
  tnr_context_options wanted = options(2);
  wanted.user_context = &both;
  wanted.spawn = [](void* user_context, std::uint64_t task) {
    Collector::spawn(static_cast<Both*>(user_context)->collector, task);
  };
  wanted.release = [](void* user_context) {
    ReleaseCounter* const told = static_cast<Both*>(user_context)->counter;
    told->callback(told->context());
  };
  context = tnr_context_create(&wanted);
  Sum sum;
  sum.run(context);
  EXPECT_EQ(counter.count(), 1) << "the call was the last user";
}

// ---- the caller's memory ----

struct Arena {
  int live = 0;
  int given = 0;
  std::size_t misalign_by = 0;
  bool refuses = false;
  int told = 0;
  int live_when_told = -1;

  static void* allocate(void* user_context, std::size_t size_bytes, std::size_t alignment) {
    Arena& self = *static_cast<Arena*>(user_context);
    EXPECT_EQ(alignment, 64u);
    EXPECT_GE(size_bytes, 1u);
    if (self.refuses) return nullptr;
    self.live += 1;
    self.given += 1;
    // Room for the misalignment, and for the size in front.
    char* const block = static_cast<char*>(
        std::aligned_alloc(alignment, (size_bytes + 3 * alignment) / alignment * alignment));
    std::memcpy(block, &size_bytes, sizeof(size_bytes));
    return block + alignment + self.misalign_by;
  }
  static void deallocate(void* user_context, void* data, std::size_t size_bytes,
                         std::size_t alignment) {
    Arena& self = *static_cast<Arena*>(user_context);
    self.live -= 1;
    char* const block = static_cast<char*>(data) - self.misalign_by - alignment;
    std::size_t asked = 0;
    std::memcpy(&asked, block, sizeof(asked));
    EXPECT_EQ(size_bytes, asked);
    std::free(block);
  }
  static void release(void* user_context) {
    Arena& self = *static_cast<Arena*>(user_context);
    self.told += 1;
    self.live_when_told = self.live;
  }
  tnr_context* context() {
    tnr_context_options wanted = options(1);
    wanted.allocate = allocate;
    wanted.deallocate = deallocate;
    wanted.user_context = this;
    wanted.release = release;
    return tnr_context_create(&wanted);
  }
};

TEST(CapiAllocator, BlobsComeFromItAndGoBack) {
  Arena arena;
  tnr_context* const context = arena.context();
  tnr_blob* const plain = tnr_blob_alloc(context, 100);
  ASSERT_NE(plain, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tnr_blob_data(plain)) % 64, 0u);
  std::memset(tnr_blob_data_mut(plain), 7, 100);
  tnr_blob* const copied = tnr_blob_copy(context, "abcdefgh", 8);
  EXPECT_EQ(std::memcmp(tnr_blob_data(copied), "abcdefgh", 8), 0);
  tnr_blob* const large = tnr_blob_alloc(context, std::size_t{3} << 20);
  EXPECT_EQ(arena.live, 3);
  tnr_blob* const empty = tnr_blob_alloc(context, 0);
  tnr_blob* const other = tnr_blob_alloc(nullptr, 100);
  EXPECT_EQ(arena.given, 3) << "nothing is asked for empty blobs, nor for another context's";
  for (tnr_blob* const blob : {plain, copied, large, empty, other}) {
    EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  }
  EXPECT_EQ(arena.live, 0);
  EXPECT_EQ(arena.told, 0);
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
  EXPECT_EQ(arena.told, 1);
}

TEST(CapiAllocator, BlobsKeepTheContext) {
  Arena arena;
  tnr_context* const context = arena.context();
  tnr_blob* const first = tnr_blob_alloc(context, 10);
  tnr_blob* const second = tnr_blob_retain(tnr_blob_copy(context, "x", 1));
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
  expect_refused(tnr_blob_alloc(context, 1), TNR_STATUS_STALE_HANDLE, {"released"});
  EXPECT_EQ(tnr_blob_release(first), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(second), TNR_STATUS_OK);
  EXPECT_EQ(arena.told, 0);
  EXPECT_EQ(tnr_blob_release(second), TNR_STATUS_OK);
  EXPECT_EQ(arena.told, 1);
  EXPECT_EQ(arena.live_when_told, 0);
}

TEST(CapiAllocator, Refusals) {
  Arena arena;
  tnr_context* const context = arena.context();
  arena.refuses = true;
  expect_refused(tnr_blob_alloc(context, 123), TNR_STATUS_OUT_OF_MEMORY,
                 {"123 bytes", "the context's allocator"});
  arena.refuses = false;
  expect_refused(tnr_blob_alloc(context, SIZE_MAX), TNR_STATUS_OUT_OF_MEMORY,
                 {std::to_string(SIZE_MAX), "at most"});
  EXPECT_EQ(arena.given, 0);
  arena.misalign_by = 32;
  expect_refused(tnr_blob_copy(context, "x", 1), TNR_STATUS_INVALID_ARGUMENT, {"multiples of 64"});
  EXPECT_EQ(arena.given, 1);
  EXPECT_EQ(arena.live, 0) << "what was misaligned is given back";
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
  EXPECT_EQ(arena.told, 1) << "nothing kept the context";
}

}  // namespace
