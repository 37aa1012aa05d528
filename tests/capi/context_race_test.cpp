// Contexts used, released and ended by several threads at once; for ThreadSanitizer above all.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "context_options.hpp"
#include "release_counter.hpp"
#include "tenure/tenure.h"
#include "unseen.hpp"

namespace {

using tenure::test::options;
using tenure::test::ReleaseCounter;
using tenure::test::unseen;

// The negatives of more numbers than one thread would keep to itself.
class Negation {
 public:
  Negation() : in_(kCount, 5), out_(kCount, 0) {}

  tnr_status run(tnr_context* context) {
    const tnr_view in = view_of(in_);
    const tnr_view_mut out = {view_of(out_)};
    return tnr_unary(context, TNR_UNARY_OP_NEG, &in, nullptr, &out);
  }
  bool is_right() const { return out_ == std::vector<float>(kCount, -5); }

 private:
  static constexpr std::size_t kCount = std::size_t{1} << 17;  // 1 MiB, read and written

  static tnr_view view_of(const std::vector<float>& values) {
    const std::int64_t shape = kCount;
    tnr_view view = {};
    EXPECT_EQ(tnr_view_lend(values.data(), values.size() * sizeof(float), 0, TNR_DTYPE_F32, 1,
                            &shape, nullptr, &view),
              TNR_STATUS_OK);
    return view;
  }

  std::vector<float> in_;
  std::vector<float> out_;
};

void run_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

TEST(ContextRace, CallsOfSeveralThreads) {
  const tnr_context_options wanted = options(3);
  tnr_context* const context = tnr_context_create(&wanted);
  run_threads(3, [&](int) {
    Negation negation;
    for (int call = 0; call < 20; ++call) {
      EXPECT_EQ(negation.run(context), TNR_STATUS_OK);
      EXPECT_TRUE(negation.is_right());
    }
  });
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
}

TEST(ContextRace, ReleasedWhileCallsRun) {
  for (int round = 0; round < 10; ++round) {
    ReleaseCounter counter;
    tnr_context_options wanted = options(2);
    wanted.release = counter.callback;
    wanted.user_context = counter.context();
    tnr_context* const context = tnr_context_create(&wanted);
    std::atomic<int> called{0};
    run_threads(3, [&](int thread) {
      if (thread == 0) {
        while (called < 3) std::this_thread::yield();
        EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
        return;
      }
      Negation negation;
      tnr_status status = negation.run(context);
      if (status == TNR_STATUS_OK) {
        EXPECT_TRUE(negation.is_right());
      }
      called += 1;
      while (status == TNR_STATUS_OK) {
        status = negation.run(context);
        called += 1;
      }
      EXPECT_EQ(status, TNR_STATUS_STALE_HANDLE);
    });
    EXPECT_EQ(counter.count(), 1);
  }
}

TEST(ContextRace, ManyMadeUsedAndReleased) {
  ReleaseCounter counter;
  constexpr int kContexts = 30;
  run_threads(3, [&](int thread) {
    Negation negation;
    for (int i = 0; i < kContexts; ++i) {
      tnr_context_options wanted = options(1 + static_cast<std::uint32_t>((i + thread) % 3));
      wanted.release = counter.callback;
      wanted.user_context = counter.context();
      tnr_context* const context = tnr_context_create(&wanted);
      tnr_context* const released = unseen(context);
      EXPECT_EQ(negation.run(context), TNR_STATUS_OK);
      EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
      EXPECT_EQ(negation.run(released), TNR_STATUS_STALE_HANDLE);
    }
  });
  EXPECT_EQ(counter.count(), 3 * kContexts);
}

// Threads that run whatever task they heard of last, again and again, whether its call is over.
TEST(ContextRace, AnExecutorThatKnowsNoOrder) {
  std::atomic<std::uint64_t> heard{0};
  tnr_context_options wanted = options(3);
  wanted.user_context = &heard;
  wanted.spawn = [](void* user_context, std::uint64_t task) {
    static_cast<std::atomic<std::uint64_t>*>(user_context)->store(task);
  };
  tnr_context* context = tnr_context_create(&wanted);
  std::atomic<bool> stopping{false};
  run_threads(3, [&](int thread) {
    if (thread != 0) {
      while (!stopping) tnr_task_run(heard);
      return;
    }
    Negation negation;
    for (int call = 0; call < 40; ++call) {
      EXPECT_EQ(negation.run(context), TNR_STATUS_OK);
      EXPECT_TRUE(negation.is_right());
      if (call % 10 != 9) continue;
      EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
      context = tnr_context_create(&wanted);
    }
    stopping = true;
  });
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
}

struct CountingMemory {
  std::atomic<int> live{0};
  std::atomic<int> told{0};
};

TEST(ContextRace, BlobsOfAnAllocatorEndAnywhere) {
  CountingMemory memory;
  tnr_context_options wanted = options(1);
  wanted.user_context = &memory;
  wanted.allocate = [](void* user_context, std::size_t size_bytes, std::size_t alignment) {
    static_cast<CountingMemory*>(user_context)->live += 1;
    return std::aligned_alloc(alignment, (size_bytes + alignment - 1) / alignment * alignment);
  };
  wanted.deallocate = [](void* user_context, void* data, std::size_t, std::size_t) {
    static_cast<CountingMemory*>(user_context)->live -= 1;
    std::free(data);
  };
  wanted.release = [](void* user_context) {
    CountingMemory& told = *static_cast<CountingMemory*>(user_context);
    EXPECT_EQ(told.live, 0);
    told.told += 1;
  };
  tnr_context* const context = tnr_context_create(&wanted);
  std::vector<tnr_blob*> blobs(300);
  for (tnr_blob*& blob : blobs) blob = tnr_blob_alloc(context, 100);
  run_threads(3, [&](int thread) {
    if (thread == 0) {
      EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
    }
    for (std::size_t i = static_cast<std::size_t>(thread); i < blobs.size(); i += 3) {
      EXPECT_EQ(tnr_blob_release(blobs[i]), TNR_STATUS_OK);
    }
  });
  EXPECT_EQ(memory.told, 1);
}

}  // namespace
