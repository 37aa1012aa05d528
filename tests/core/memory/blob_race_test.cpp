// Blobs under races made on purpose. The memory behind them is real, and the thread that comes to
// own it frees or writes it, so that sanitizers judge along with the assertions.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "meeting.hpp"
#include "release_counter.hpp"
#include "tenure/blob.hpp"

using namespace tenure;
using tenure::test::Meeting;
using tenure::test::ReleaseCounter;

namespace {

tnr_view view_over(const void* data, std::size_t size_bytes, BlobToken owner) {
  tnr_view view = {};
  view.data = data;
  view.base = data;
  view.size_bytes = size_bytes;
  view.owner = owner;
  view.device = {TNR_DEVICE_KIND_CPU, 0};
  return view;
}

// The status of a refusal, OK for none.
template <class Body>
tnr_status status_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error.status();
  }
  return TNR_STATUS_OK;
}

// Runs body(thread, round) on `thread_count` threads that start each round together. before(round)
// and after(round) run between rounds, while no body runs.
void race(unsigned thread_count, int round_count, const std::function<void(int)>& before,
          const std::function<void(unsigned, int)>& body, const std::function<void(int)>& after) {
  Meeting meet(thread_count + 1);
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < thread_count; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < round_count; ++round) {
        meet.arrive_and_wait();
        body(thread, round);
        meet.arrive_and_wait();
      }
    });
  }
  for (int round = 0; round < round_count; ++round) {
    before(round);
    meet.arrive_and_wait();
    meet.arrive_and_wait();
    after(round);
  }
  for (std::thread& thread : threads) thread.join();
}

// Memory that tells of its end: freed by the callback, so a use after it is a use after free.
struct Adopted {
  ReleaseCounter counter;
  std::unique_ptr<int> value = std::make_unique<int>(7);

  static void callback(void* context) {
    Adopted& self = *static_cast<Adopted*>(context);
    self.counter.callback(self.counter.context());
    *self.value = -1;
    self.value.reset();
  }
  BlobToken adopt() { return blob_adopt(value.get(), sizeof(int), callback, this); }
};

TEST(BlobRace, HoldersOnSeveralThreadsEndTheBlobOnce) {
  constexpr unsigned kThreads = 4;
  const Stats start = stats();
  std::unique_ptr<Adopted> memory;
  const int* data = nullptr;
  BlobToken blob = 0;
  race(
      kThreads, 1500,
      [&](int) {
        memory = std::make_unique<Adopted>();
        data = memory->value.get();
        blob = memory->adopt();
        for (unsigned i = 1; i < kThreads; ++i) blob_retain(blob);
      },
      [&](unsigned thread, int round) {
        const tnr_view view = view_over(data, sizeof(int), blob);
        for (unsigned i = 0; i < (thread + static_cast<unsigned>(round)) % 4; ++i) {
          blob_retain(blob);
          Pins pins;
          pins.add(view, "a");
          EXPECT_EQ(*data, 7);
          blob_release(blob);
        }
        blob_release(blob);
      },
      [&](int) {
        EXPECT_EQ(memory->counter.count(), 1);
        EXPECT_EQ(status_of([&] { blob_describe(blob); }), TNR_STATUS_STALE_HANDLE);
      });
  EXPECT_EQ(stats().blobs_made - start.blobs_made, 1500u);
  EXPECT_EQ(stats().blobs_finished - start.blobs_finished, 1500u);
}

TEST(BlobRace, PinnedMemoryOutlivesTheLastRelease) {
  std::unique_ptr<Adopted> memory;
  const int* data = nullptr;
  BlobToken blob = 0;
  std::atomic<int> pinned_uses{0};
  race(
      3, 3000,
      [&](int) {
        memory = std::make_unique<Adopted>();
        data = memory->value.get();
        blob = memory->adopt();
      },
      [&](unsigned thread, int round) {
        if (thread == 0) {
          for (int i = 0; i < round % 4; ++i) std::this_thread::yield();
          // At least one round must meet a pin, however the threads are scheduled.
          while (round % 4 == 3 && pinned_uses.load() == 0) std::this_thread::yield();
          blob_release(blob);
          return;
        }
        const tnr_view_mut view = {view_over(data, sizeof(int), blob)};
        const tnr_status status = status_of([&] {
          Pins pins;
          pins.add_mut(view, "out");
          EXPECT_EQ(*data, 7);
          EXPECT_EQ(memory->counter.count(), 0);
          pinned_uses.fetch_add(1, std::memory_order_relaxed);
        });
        EXPECT_TRUE(status == TNR_STATUS_OK || status == TNR_STATUS_STALE_VIEW);
      },
      [&](int) { EXPECT_EQ(memory->counter.count(), 1); });
}

TEST(BlobRace, EndedBorrowIsTheCallersAgain) {
  // The memory is written without any lock as soon as end_borrow() has said so.
  constexpr unsigned kUsers = 3;
  std::unique_ptr<int> memory;
  const int* data = nullptr;
  BlobToken blob = 0;
  race(
      kUsers + 1, 300,
      [&](int) {
        memory = std::make_unique<int>(7);
        data = memory.get();
        blob = blob_borrow(memory.get(), sizeof(int));
      },
      [&](unsigned thread, int round) {
        if (thread == kUsers) {
          for (;;) {
            const tnr_status status = status_of([&] { blob_end_borrow(blob); });
            if (status == TNR_STATUS_OK) break;
            ASSERT_TRUE(status == TNR_STATUS_BUSY || status == TNR_STATUS_BORROW_ESCAPED);
            std::this_thread::yield();
          }
          *memory = -1;
          memory.reset();
          blob_release(blob);
          return;
        }
        const tnr_view view = view_over(data, sizeof(int), blob);
        for (;;) {  // until told that the borrow has ended: closing first, no user can starve it
          const tnr_status status = status_of([&] {
            Pins pins;
            pins.add(view, "a");
            EXPECT_EQ(*data, 7);
          });
          if (status != TNR_STATUS_OK) {
            EXPECT_EQ(status, TNR_STATUS_STALE_VIEW);
            return;
          }
          if ((thread + static_cast<unsigned>(round)) % 2 == 0) {
            if (status_of([&] { blob_retain(blob); }) == TNR_STATUS_OK) blob_release(blob);
          }
        }
      },
      [&](int) { EXPECT_EQ(status_of([&] { blob_release(blob); }), TNR_STATUS_STALE_HANDLE); });
}

TEST(BlobRace, ReclaimedMemoryIsTheCallersAgain) {
  std::unique_ptr<Adopted> memory;
  BlobToken blob = 0;
  const int* data = nullptr;
  race(
      3, 2000,
      [&](int) {
        memory = std::make_unique<Adopted>();
        data = memory->value.get();
        blob = memory->adopt();
      },
      [&](unsigned thread, int) {
        if (thread == 0) {
          for (;;) {
            const tnr_status status = status_of([&] { blob_reclaim(blob, memory.get()); });
            if (status == TNR_STATUS_OK) break;
            ASSERT_EQ(status, TNR_STATUS_BUSY);
            std::this_thread::yield();
          }
          *memory->value = -1;
          memory->value.reset();
          return;
        }
        const tnr_view view = view_over(data, sizeof(int), blob);
        for (int i = 0; i < 20; ++i) {
          const tnr_status status = status_of([&] {
            Pins pins;
            pins.add(view, "a");
            EXPECT_EQ(*data, 7);
          });
          EXPECT_TRUE(status == TNR_STATUS_OK || status == TNR_STATUS_STALE_VIEW);
        }
      },
      [&](int) { EXPECT_EQ(memory->counter.count(), 0); });
}

TEST(BlobRace, CallsThatShareAPinnedBorrowKeepItsLastHandle) {
  // release() of a borrow refuses while the blob is pinned, and then is called again.
  std::unique_ptr<int> memory;
  const int* data = nullptr;
  BlobToken blob = 0;
  race(
      3, 2000,
      [&](int) {
        memory = std::make_unique<int>(7);
        data = memory.get();
        blob = blob_borrow_mut(memory.get(), sizeof(int));
      },
      [&](unsigned thread, int) {
        if (thread == 0) {
          for (;;) {
            const tnr_status status = status_of([&] { blob_release(blob); });
            if (status == TNR_STATUS_OK) break;
            ASSERT_EQ(status, TNR_STATUS_BUSY);
            std::this_thread::yield();
          }
          memory.reset();
          return;
        }
        const tnr_view view = view_over(data, sizeof(int), blob);
        for (int i = 0; i < 20; ++i) {
          status_of([&] {
            Pins pins;
            pins.add(view, "a");
            EXPECT_EQ(*data, 7);
          });
        }
      },
      [](int) {});
}

TEST(BlobRace, StaleTokenNeverReachesTheNextLifeOfItsSlot) {
  // The makers post a token only after its blob has ended, so no use of it may ever succeed,
  // although its slot lives on at once: last in, first out.
  constexpr std::size_t kLiveBlobs = 8;
  static unsigned char byte = 0;
  std::array<std::atomic<BlobToken>, 16> stale_tokens = {};
  std::atomic<int> makers{2};
  std::atomic<int> tried{0};
  std::vector<std::thread> threads;
  for (unsigned maker = 0; maker < 2; ++maker) {
    threads.emplace_back([&, maker] {
      std::mt19937 random(maker);
      std::array<BlobToken, kLiveBlobs> live;
      for (BlobToken& blob : live) blob = blob_share(&byte, 1, nullptr, nullptr);
      for (int i = 0; i < 100'000 || tried.load() < 1000; ++i) {
        BlobToken& blob = live[random() % live.size()];
        blob_release(blob);
        stale_tokens[random() % stale_tokens.size()].store(blob);
        blob = blob_share(&byte, 1, nullptr, nullptr);
      }
      for (const BlobToken blob : live) blob_release(blob);
      makers.fetch_sub(1);
    });
  }
  std::mt19937 random(7);
  while (makers.load() != 0) {
    const BlobToken stale = stale_tokens[random() % stale_tokens.size()].load();
    if (stale == 0) continue;
    Pins pins;
    EXPECT_EQ(status_of([&] { pins.add(view_over(&byte, 1, stale), "a"); }), TNR_STATUS_STALE_VIEW);
    EXPECT_EQ(status_of([&] { blob_retain(stale); }), TNR_STATUS_STALE_HANDLE);
    EXPECT_EQ(status_of([&] { blob_describe(stale); }), TNR_STATUS_STALE_HANDLE);
    EXPECT_EQ(status_of([&] { blob_release(stale); }), TNR_STATUS_STALE_HANDLE);
    EXPECT_EQ(status_of([&] { blob_end_borrow(stale); }), TNR_STATUS_STALE_HANDLE);
    EXPECT_EQ(status_of([&] { blob_reclaim(stale, nullptr); }), TNR_STATUS_STALE_HANDLE);
    ++tried;
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(BlobRace, DescriptionNeverMixesTwoLives) {
  // Each blob's size says what its address and tenure must be. A description taken while the slot
  // passes from one blob to the next is refused or whole.
  static std::array<unsigned char, 256> memory = {};
  const auto tenure_for = [](std::size_t size) {
    return size % 2 == 0 ? TNR_TENURE_BORROWED : TNR_TENURE_SHARED;
  };
  std::atomic<BlobToken> newest{0};
  std::atomic<std::uint64_t> described{0};
  std::atomic<bool> done{false};
  std::thread maker([&] {
    std::mt19937 random(1);
    for (int i = 0; i < 300'000 || described.load() < 10'000; ++i) {
      const std::size_t size = random() % memory.size();
      unsigned char* const data = memory.data() + memory.size() - size;
      const BlobToken blob = tenure_for(size) == TNR_TENURE_BORROWED
                                 ? blob_borrow(data, size)
                                 : blob_share(data, size, nullptr, nullptr);
      newest.store(blob);
      // Ends while the other thread is busy with it, though not for ever if that one sleeps.
      const std::uint64_t seen = described.load();
      for (int spin = 0; spin < 1000 && described.load() == seen; ++spin) {
      }
      blob_release(blob);
    }
    done.store(true);
  });
  while (!done.load()) {
    const BlobToken blob = newest.load();
    try {
      for (;;) {
        const BlobInfo info = blob_describe(blob);
        EXPECT_EQ(info.data, memory.data() + memory.size() - info.size_bytes);
        EXPECT_EQ(info.tenure, tenure_for(info.size_bytes));
        EXPECT_EQ(info.holder_count, 1u);
        described.fetch_add(1, std::memory_order_relaxed);
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), TNR_STATUS_STALE_HANDLE);
    }
  }
  maker.join();
}

TEST(BlobRace, TableGrowsUnderLookups) {
  // Each thread holds many blobs at once, so new chunks appear while others are looked up.
  const Stats start = stats();
  constexpr int kBlobs = 20'000;
  ReleaseCounter counter;
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937 random(thread);
      std::vector<BlobToken> blobs;
      for (int i = 0; i < kBlobs; ++i) {
        blobs.push_back(blob_adopt(nullptr, 0, counter.callback, counter.context()));
        Pins pins;
        pins.add(view_over(nullptr, 0, blobs[random() % blobs.size()]), "a");
      }
      for (const BlobToken blob : blobs) blob_release(blob);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.count(), 4 * kBlobs);
  EXPECT_EQ(stats().blobs_made - start.blobs_made, 4u * kBlobs);
  EXPECT_EQ(stats().blobs_finished - start.blobs_finished, 4u * kBlobs);
}

}  // namespace
