// Slices on several threads: each runs once, even if a thread comes late, and no thread waits for
// one that does not come.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "tenure/context.hpp"
#include "threads/job.hpp"
#include "threads/parallel.hpp"

namespace {

using namespace tenure;

ContextToken make(unsigned thread_count) {
  tnr_context_options options{};
  options.thread_count = thread_count;
  return context_create(options);
}

// How often each slice ran.
using Runs = std::vector<std::atomic<int>>;

bool all_ran(const Runs& runs, int times) {
  for (const std::atomic<int>& count : runs) {
    if (count != times) return false;
  }
  return true;
}

// ---- jobs ----

TEST(JobRace, EachSliceRunsOnceWhoeverComesLate) {
  Job job;
  std::atomic<bool> stopping{false};
  std::vector<std::thread> threads;
  // One helps where there is work, one with whatever it saw some time ago.
  threads.emplace_back([&] {
    while (!stopping) job.help(job.open_generation());
  });
  threads.emplace_back([&] {
    std::uint64_t old = 1;
    for (int i = 0; !stopping; ++i) {
      if (i % 7 == 0) old = job.open_generation();
      job.help(old);
    }
  });
  for (std::uint32_t round = 0; round < 3000; ++round) {
    const std::uint32_t count = 1 + round % 9;
    Runs runs(count);
    ASSERT_TRUE(job.try_acquire());
    const std::uint64_t generation = job.open(
        [](void* data, std::int64_t slice) noexcept {
          static_cast<Runs*>(data)->at(static_cast<std::size_t>(slice - 100)) += 1;
        },
        &runs, 100, count);
    std::uint32_t own_count = 0;
    while (job.run_one(generation)) ++own_count;
    job.wait(own_count);
    ASSERT_TRUE(all_ran(runs, 1)) << "job " << round << " of " << count;
    ASSERT_EQ(job.open_generation(), 0u);
    job.release();
  }
  stopping = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(Job, BelongsToOne) {
  Job job;
  EXPECT_TRUE(job.try_acquire());
  EXPECT_FALSE(job.try_acquire());
  job.release();
  EXPECT_TRUE(job.try_acquire());
}

TEST(Job, GenerationsThatAreOverHaveNothingToRun) {
  Job job;
  int runs = 0;
  const SliceBody count = [](void* data, std::int64_t) noexcept { *static_cast<int*>(data) += 1; };
  const std::uint64_t first = job.open(count, &runs, 0, 2);
  job.help(first);
  EXPECT_EQ(runs, 2);
  const std::uint64_t second = job.open(count, &runs, 0, 3);
  EXPECT_NE(first, second);
  job.help(first);
  job.help(0);
  EXPECT_EQ(runs, 2);
  job.help(second);
  EXPECT_EQ(runs, 5);
  job.wait(0);
}

// ---- contexts ----

TEST(ThreadPool, EachSliceRunsOnce) {
  for (const unsigned thread_count : {1u, 2u, 3u, 8u}) {
    const ContextToken token = make(thread_count);
    {
      const ContextUse use(token);
      for (const std::int64_t count : {0, 1, 2, 3, 7, 100, 1000}) {
        Runs runs(static_cast<std::size_t>(count));
        for_each_slice(use, count, [&](std::int64_t slice) noexcept {
          runs[static_cast<std::size_t>(slice)] += 1;
        });
        EXPECT_TRUE(all_ran(runs, 1)) << count << " slices on " << thread_count << " threads";
      }
    }
    context_release(token);
  }
}

TEST(ThreadPool, SlicesOfASliceRunOnItsThread) {
  const ContextToken token = make(3);
  {
    const ContextUse use(token);
    const Context& context = use;
    Runs runs(20 * 5);
    std::atomic<int> strayed{0};
    for_each_slice(context, 20, [&](std::int64_t outer) noexcept {
      const std::thread::id self = std::this_thread::get_id();
      for_each_slice(context, 5, [&](std::int64_t inner) noexcept {
        if (std::this_thread::get_id() != self) strayed += 1;
        runs[static_cast<std::size_t>(outer * 5 + inner)] += 1;
      });
    });
    EXPECT_TRUE(all_ran(runs, 1));
    EXPECT_EQ(strayed, 0);
  }
  context_release(token);
}

// Work that goes on wakes parked workers, and exactly the requested number of threads runs it.
TEST(ThreadPool, AllItsThreadsComeAndNoOther) {
  const ContextToken token = make(3);
  {
    const ContextUse use(token);
    // Long enough for the workers to park.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::mutex mutex;
    std::set<std::thread::id> seen;
    const auto note = [&](std::int64_t) noexcept {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    };
    while (seen.size() < 3) for_each_slice(use, 50, note);
    for (int i = 0; i < 5; ++i) for_each_slice(use, 50, note);
    EXPECT_EQ(seen.size(), 3u);
    EXPECT_EQ(seen.count(std::this_thread::get_id()), 1u);
  }
  context_release(token);
}

TEST(Parallel, MoreSlicesThanOneJobHas) {
  const ContextToken token = make(2);
  {
    const ContextUse use(token);
    const std::int64_t count = std::int64_t{Job::kMaxSlices} + 3;
    std::atomic<std::int64_t> ran{0};
    std::atomic<std::int64_t> at_the_end{0};
    for_each_slice(use, count, [&](std::int64_t slice) noexcept {
      ran.fetch_add(1, std::memory_order_relaxed);
      if (slice >= Job::kMaxSlices) at_the_end += slice;
    });
    EXPECT_EQ(ran, count);
    EXPECT_EQ(at_the_end, 3 * std::int64_t{Job::kMaxSlices} + 3);
  }
  context_release(token);
}

TEST(ThreadPoolRace, CallingThreadsThatShareAContext) {
  const ContextToken token = make(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      const ContextUse use(token);
      for (int call = 0; call < 300; ++call) {
        Runs runs(static_cast<std::size_t>(2 + call % 11));
        std::vector<int> plain(runs.size(), 0);
        for_each_slice(use, static_cast<std::int64_t>(runs.size()),
                       [&](std::int64_t slice) noexcept {
                         runs[static_cast<std::size_t>(slice)] += 1;
                         plain[static_cast<std::size_t>(slice)] = 1;
                       });
        if (!all_ran(runs, 1)) wrong += 1;
        for (const int written : plain) wrong += written == 1 ? 0 : 1;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
  context_release(token);
}

TEST(ThreadPoolRace, ManyPoolsMadeAndEnded) {
  std::vector<std::thread> makers;
  for (int maker = 0; maker < 2; ++maker) {
    makers.emplace_back([] {
      for (int i = 0; i < 100; ++i) {
        const ContextToken token = make(2 + i % 2);
        if (i % 3 != 0) {
          const ContextUse use(token);
          for_each_slice(use, 5, [](std::int64_t) noexcept {});
        }
        context_release(token);
      }
    });
  }
  for (std::thread& maker : makers) maker.join();
}

}  // namespace
