// After fork the child has one thread, and the library works there whatever the others were doing.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "address_sanitizer.hpp"
#include "context_options.hpp"
#include "release_counter.hpp"
#include "tenure/tenure.h"

namespace {

using tenure::has_address_sanitizer;
using tenure::test::options;
using tenure::test::ReleaseCounter;

constexpr int kFine = 0;

// The body's result in a child; beyond 255 when the child ended by a signal, SIGALRM if it hung.
int answer_of_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(body());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

tnr_view view_of(const std::vector<float>& values) {
  const std::int64_t shape = static_cast<std::int64_t>(values.size());
  tnr_view view = {};
  if (tnr_view_lend(values.data(), values.size() * sizeof(float), 0, TNR_DTYPE_F32, 1, &shape,
                    nullptr, &view) != TNR_STATUS_OK) {
    std::abort();
  }
  return view;
}

// Whether a call that is worth sharing has the right result.
bool computes(tnr_context* context) {
  const std::vector<float> a(std::size_t{1} << 17, 3);
  std::vector<float> out(a.size(), 0);
  const tnr_view in = view_of(a);
  const tnr_view_mut to = {view_of(out)};
  if (tnr_binary(context, TNR_BINARY_OP_MUL, &in, &in, nullptr, &to) != TNR_STATUS_OK) return false;
  return out == std::vector<float>(a.size(), 9);
}

// Whether blobs of each source can be made and ended.
bool allocates() {
  for (const std::size_t size : {std::size_t{64}, std::size_t{2} << 20}) {
    tnr_blob* const blob = tnr_blob_alloc(nullptr, size);
    if (blob == nullptr || tnr_blob_release(blob) != TNR_STATUS_OK) return false;
  }
  return true;
}

TEST(Fork, ContextsComputeInTheChildWithoutTheirThreads) {
  ReleaseCounter counter;
  tnr_context_options wanted = options(3);
  wanted.release = counter.callback;
  wanted.user_context = counter.context();
  tnr_context* const context = tnr_context_create(&wanted);
  ASSERT_TRUE(computes(context));
  const int answer = answer_of_child([&] {
    if (tnr_context_thread_count(context) != 1) return 1;
    if (!computes(context)) return 2;
    if (tnr_context_release(context) != TNR_STATUS_OK) return 3;
    if (counter.count() != 1) return 4;
    if (tnr_context_release(context) != TNR_STATUS_STALE_HANDLE) return 5;
    return kFine;
  });
  EXPECT_EQ(answer, kFine);
  EXPECT_EQ(tnr_context_thread_count(context), 3u) << "nothing changes in the parent";
  EXPECT_EQ(counter.count(), 0);
  EXPECT_TRUE(computes(context));
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
}

TEST(Fork, AnExecutorIsNotAskedInTheChild) {
  int asked = 0;
  tnr_context_options wanted = options(4);
  wanted.spawn = [](void* user_context, std::uint64_t) { *static_cast<int*>(user_context) += 1; };
  wanted.user_context = &asked;
  tnr_context* const context = tnr_context_create(&wanted);
  const int answer = answer_of_child([&] {
    if (!computes(context)) return 1;
    return asked == 0 ? kFine : 2;
  });
  EXPECT_EQ(answer, kFine);
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
}

TEST(Fork, TheChildMakesContextsOfItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer ends a child that starts threads";
#endif
  if (has_address_sanitizer()) {
    GTEST_SKIP() << "a thread that starts holds a lock of AddressSanitizer's allocator, which the "
                    "child's threads wait for if that was when it was made";
  }
  const tnr_context_options wanted = options(2);
  tnr_context* const context = tnr_context_create(&wanted);
  const int answer = answer_of_child([&] {
    if (tnr_context_release(context) != TNR_STATUS_OK) return 1;
    // In the slot of the one that lost its thread.
    tnr_context* const own = tnr_context_create(&wanted);
    if (tnr_context_thread_count(own) != 2) return 2;
    if (!computes(own)) return 3;
    return tnr_context_release(own) == TNR_STATUS_OK ? kFine : 4;
  });
  EXPECT_EQ(answer, kFine);
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
}

TEST(Fork, WhileOtherThreadsAreInTheMiddleOfEverything) {
  if (has_address_sanitizer()) {
    GTEST_SKIP() << "AddressSanitizer's allocator keeps the locks that other threads had";
  }
  tnr_context_options wanted = options(2);
  tnr_context* const context = tnr_context_create(&wanted);
  tnr_context* const idle = tnr_context_create(&wanted);
  std::atomic<bool> stopping{false};
  const std::vector<std::function<bool()>> work = {
      allocates,
      [&] { return computes(context); },
      [&] {
        const tnr_context_options one = options(1);
        tnr_context* const brief = tnr_context_create(&one);
        return tnr_context_release(brief) == TNR_STATUS_OK;
      },
  };
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (const std::function<bool()>& body : work) {
    threads.emplace_back([&] {
      while (!stopping) failed += body() ? 0 : 1;
    });
  }
  for (int i = 0; i < 20; ++i) {
    const int answer = answer_of_child([&] {
      if (!allocates()) return 1;
      // One whose call was cut off, and one that was not in use.
      if (!computes(context) || !computes(idle)) return 2;
      const tnr_context_options one = options(1);
      tnr_context* const own = tnr_context_create(&one);
      if (own == nullptr || tnr_context_release(own) != TNR_STATUS_OK) return 3;
      if (tnr_context_release(context) != TNR_STATUS_OK) return 4;
      if (tnr_context_release(idle) != TNR_STATUS_OK) return 5;
      tnr_memory_trim();
      return kFine;
    });
    ASSERT_EQ(answer, kFine) << "fork " << i;
  }
  stopping = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
  EXPECT_EQ(tnr_context_release(idle), TNR_STATUS_OK);
}

}  // namespace
