// The explorer on the small programs that tell memory models apart: it finds what C++20 allows, all
// of it, and nothing else.
#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "base/concurrency.hpp"
#include "explorer.hpp"

using namespace tenure;
using tenure::explore::Limits;
using tenure::explore::Outcome;

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kAcqRel = std::memory_order_acq_rel;
constexpr auto kSeqCst = std::memory_order_seq_cst;

struct World {
  Atomic<int> x{0};
  Atomic<int> y{0};
  Handed<int> data{0};
  int a = 0;
  int b = 0;
};
using Part = void (*)(World&);
using Results = std::set<std::pair<int, int>>;

// All values of (a, b) after the parts have run on threads of their own, over all executions.
Results results_of(std::initializer_list<Part> parts, const Limits& limits = {}) {
  // Outside of what an execution takes back.
  static bool seen[8][8];
  for (auto& row : seen) std::fill(std::begin(row), std::end(row), false);
  const Outcome outcome = explore::explore(
      [&] {
        World world;
        std::vector<Thread> threads;
        for (const Part part : parts) threads.emplace_back([&world, part] { part(world); });
        for (Thread& thread : threads) thread.join();
        seen[world.a][world.b] = true;
      },
      limits);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_TRUE(outcome.is_complete);
  Results results;
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < 8; ++b) {
      if (seen[a][b]) results.insert({a, b});
    }
  }
  return results;
}

std::string failure_of(std::initializer_list<Part> parts) {
  return explore::explore([&] {
           World world;
           std::vector<Thread> threads;
           for (const Part part : parts) threads.emplace_back([&world, part] { part(world); });
           for (Thread& thread : threads) thread.join();
         })
      .failure;
}

// ---- two stores, each before a load of the other ----

TEST(Litmus, AStoreMayComeAfterALoadBehindIt) {
  EXPECT_EQ(results_of({[](World& w) {
                          w.x.store(1, kRelease);
                          w.a = w.y.load(kAcquire);
                        },
                        [](World& w) {
                          w.y.store(1, kRelease);
                          w.b = w.x.load(kAcquire);
                        }}),
            (Results{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

TEST(Litmus, ATotalOrderForbidsIt) {
  EXPECT_EQ(results_of({[](World& w) {
                          w.x.store(1, kSeqCst);
                          w.a = w.y.load(kSeqCst);
                        },
                        [](World& w) {
                          w.y.store(1, kSeqCst);
                          w.b = w.x.load(kSeqCst);
                        }}),
            (Results{{0, 1}, {1, 0}, {1, 1}}));
}

TEST(Litmus, OneLoadOutsideOfTheTotalOrderAllowsIt) {
  EXPECT_EQ(results_of({[](World& w) {
                          w.x.store(1, kSeqCst);
                          w.a = w.y.load(kSeqCst);
                        },
                        [](World& w) {
                          w.y.fetch_add(1, kSeqCst);
                          w.b = w.x.load(kAcquire);
                        }}),
            (Results{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

TEST(Litmus, UpdatesOfOneAtomicOrderWhatComesBeforeThem) {
  // The sealer and the writer: the thread that updates second has acquired the first one's
  // operations.
  EXPECT_EQ(results_of({[](World& w) {
                          w.x.store(1, kRelaxed);
                          w.a = w.y.fetch_add(1, kAcqRel);
                        },
                        [](World& w) {
                          w.y.fetch_add(0, kAcqRel);
                          w.b = w.x.load(kRelaxed);
                        }}),
            (Results{{0, 0}, {0, 1}}));
}

// ---- a message behind data ----

Part publish(std::memory_order order) {
  static std::memory_order g_order;
  g_order = order;
  return [](World& w) {
    w.x.store(1, kRelaxed);
    w.y.store(1, g_order);
  };
}

TEST(Litmus, AcquireOfAReleaseSeesWhatCameBefore) {
  EXPECT_EQ(results_of({publish(kRelease),
                        [](World& w) {
                          w.a = w.y.load(kAcquire);
                          w.b = w.x.load(kRelaxed);
                        }}),
            (Results{{0, 0}, {0, 1}, {1, 1}}));
}

TEST(Litmus, WithoutEitherItMayNot) {
  const Results all = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  EXPECT_EQ(results_of({publish(kRelaxed),
                        [](World& w) {
                          w.a = w.y.load(kAcquire);
                          w.b = w.x.load(kRelaxed);
                        }}),
            all);
  EXPECT_EQ(results_of({publish(kRelease),
                        [](World& w) {
                          w.a = w.y.load(kRelaxed);
                          w.b = w.x.load(kRelaxed);
                        }}),
            all);
}

TEST(Litmus, ARelaxedUpdatePassesTheReleaseOnAndARelaxedStoreDoesNot) {
  const Part reader = [](World& w) {
    w.a = w.y.load(kAcquire);
    w.b = w.x.load(kRelaxed);
  };
  const Results by_update =
      results_of({publish(kRelease), [](World& w) { w.y.fetch_add(1, kRelaxed); }, reader});
  EXPECT_TRUE(by_update.contains({2, 1}));
  EXPECT_FALSE(by_update.contains({2, 0}));
  EXPECT_TRUE(by_update.contains({1, 0}));  // of only the update
  const Results by_store = results_of({publish(kRelease),
                                       [](World& w) {
                                         if (w.y.load(kRelaxed) == 1) w.y.store(2, kRelaxed);
                                       },
                                       reader});
  EXPECT_TRUE(by_store.contains({2, 0}));
  EXPECT_TRUE(by_store.contains({2, 1}));
}

// ---- a single atomic ----

TEST(Litmus, OneAtomicNeverGoesBack) {
  EXPECT_EQ(results_of({[](World& w) {
                          w.x.store(1, kRelaxed);
                          w.x.store(2, kRelaxed);
                        },
                        [](World& w) {
                          w.a = w.x.load(kRelaxed);
                          w.b = w.x.load(kRelaxed);
                        }}),
            (Results{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}));
}

TEST(Litmus, NothingComesBetweenTheHalvesOfAnUpdate) {
  EXPECT_EQ(results_of({[](World& w) { w.a = w.x.fetch_add(1, kRelaxed); },
                        [](World& w) { w.b = w.x.fetch_add(1, kRelaxed); }}),
            (Results{{0, 1}, {1, 0}}));
  // Nor does a store.
  EXPECT_EQ(results_of({[](World& w) { w.a = w.x.exchange(5, kRelaxed); },
                        [](World& w) { w.x.store(3, kRelaxed); },
                        [](World& w) { w.b = w.x.fetch_add(1, kRelaxed); }}),
            (Results{{0, 3}, {0, 5}, {1, 0}, {3, 0}, {3, 5}, {4, 3}}));
}

TEST(Litmus, TwoStoresToEachOfTwoAtomicsMayBothComeFirst) {
  // Each thread reads last what the other wrote first: both of its stores came before.
  const auto results = results_of({[](World& w) {
                                     w.x.store(1, kRelaxed);
                                     w.y.store(2, kRelaxed);
                                     w.a = w.y.load(kRelaxed);
                                   },
                                   [](World& w) {
                                     w.y.store(1, kRelaxed);
                                     w.x.store(2, kRelaxed);
                                     w.b = w.x.load(kRelaxed);
                                   }});
  EXPECT_EQ(results, (Results{{1, 1}, {1, 2}, {2, 1}, {2, 2}}));
}

// ---- two readers of two writers ----

Results readers_of_two_writers(std::memory_order order) {
  static std::memory_order g_order;
  g_order = order;
  return results_of({[](World& w) {
                       w.x.store(1, g_order == kSeqCst ? kSeqCst : kRelease);
                       w.a = 4 * w.x.load(g_order) + 2 * w.y.load(g_order) - 4;
                     },
                     [](World& w) {
                       w.y.store(1, g_order == kSeqCst ? kSeqCst : kRelease);
                       w.b = 4 * w.y.load(g_order) + 2 * w.x.load(g_order) - 4;
                     }});
}

TEST(Litmus, TwoWritersAreSeenInOneOrderOnlyIfThatIsTotal) {
  EXPECT_TRUE(readers_of_two_writers(kAcquire).contains({0, 0}));
  EXPECT_FALSE(readers_of_two_writers(kSeqCst).contains({0, 0}));
}

// ---- memory without atomics ----

TEST(Litmus, UnorderedUsesOfPlainMemoryAreARace) {
  const Part writer = [](World& w) {
    w.data = 1;
    w.y.store(1, kRelease);
  };
  EXPECT_EQ(failure_of({writer,
                        [](World& w) {
                          if (w.y.load(kAcquire) == 1) w.data = 2;
                        }}),
            "");
  EXPECT_NE(failure_of({writer,
                        [](World& w) {
                          if (w.y.load(kRelaxed) == 1) w.data = 2;
                        }})
                .find("race"),
            std::string::npos);
  EXPECT_NE(failure_of({writer, [](World& w) { w.a = w.data; }}).find("race"), std::string::npos);
  // A read is one use, too.
  EXPECT_NE(failure_of({[](World& w) {
                          w.a = w.data;
                          w.y.store(1, kRelaxed);
                        },
                        [](World& w) {
                          if (w.y.load(kAcquire) == 1) w.data = 1;
                        }})
                .find("race"),
            std::string::npos);
  EXPECT_EQ(failure_of({[](World& w) { w.a = w.data; }, [](World& w) { w.b = w.data; }}), "");
}

// ---- mutexes, conditions, ends ----

TEST(Litmus, AMutexOrdersWhatIsDoneUnderIt) {
  EXPECT_EQ(explore::explore([] {
              ConditionMutex mutex;
              Handed<int> data{0};
              const auto add = [&] {
                const std::lock_guard lock(mutex);
                data += 1;
              };
              Thread one(add);
              Thread other(add);
              add();
              one.join();
              other.join();
              explore::require(data == 3, "an addition is lost");
            }).failure,
            "");
}

TEST(Litmus, ANotificationBeforeTheWaitIsLost) {
  const auto wait_for = [](bool under_lock) {
    return explore::explore([under_lock] {
      ConditionMutex mutex;
      Condition condition;
      Atomic<bool> is_done{false};
      Thread waiting([&] {
        std::unique_lock lock(mutex);
        while (!is_done.load(kRelaxed)) condition.wait(lock);
      });
      if (under_lock) {
        const std::lock_guard lock(mutex);
        is_done.store(true, kRelaxed);
      } else {
        is_done.store(true, kSeqCst);
      }
      condition.notify_one();
      waiting.join();
    });
  };
  EXPECT_EQ(wait_for(true).failure, "");
  EXPECT_NE(wait_for(false).failure.find("every thread waits"), std::string::npos);
}

TEST(Litmus, AWaitForWhatNeverComesIsFound) {
  EXPECT_NE(explore::explore([] {
              Atomic<int> x{0};
              Thread thread([&] { x.store(1, kRelease); });
              while (x.load(kAcquire) != 2) explore::await_change();
              thread.join();
            }).failure.find("every thread waits"),
            std::string::npos);
}

// ---- the explorer itself ----

TEST(Litmus, DroppedOrdersOfStepsHadNothingNewToShow) {
  // Sleep sets off, and a bound that is none.
  const Limits plain = {.max_preemptions = 1000};
  const std::initializer_list<Part> parts = {[](World& w) {
                                               w.x.store(1, kRelaxed);
                                               w.a = w.y.load(kRelaxed);
                                             },
                                             [](World& w) {
                                               w.y.store(1, kRelaxed);
                                               w.b = w.x.fetch_add(2, kRelaxed);
                                             },
                                             [](World& w) { w.y.store(2, kRelaxed); }};
  EXPECT_EQ(results_of(parts), results_of(parts, plain));
}

TEST(Litmus, AsManyPreemptionsAreTriedAsAreAllowed) {
  const auto finds = [](unsigned max_preemptions) {
    return results_of({[](World& w) {
                         w.x.fetch_add(1, kRelaxed);
                         w.x.fetch_add(1, kRelaxed);
                         w.x.fetch_add(1, kRelaxed);
                       },
                       [](World& w) {
                         w.a = w.x.fetch_add(0, kRelaxed);
                         w.b = w.x.fetch_add(0, kRelaxed);
                       }},
                      {.max_preemptions = max_preemptions})
        .contains({1, 2});
  };
  // The first is left behind its first and second step, the second one behind its first.
  EXPECT_FALSE(finds(2));
  EXPECT_TRUE(finds(3));
}

}  // namespace
