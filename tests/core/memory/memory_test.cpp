// Blobs' memory as blobs see it, in this process and in children under limits.
#include "memory/memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "expect_error.hpp"
#include "memory/fresh_pages.hpp"
#include "memory/region/region.hpp"
#include "memory/reserved_memory.hpp"
#include "tenure/blob.hpp"

using namespace tenure;
using tenure::test::expect_error;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

void* data_of(BlobToken blob) { return blob_memory(blob).data; }

// Runs body() in a child of its own, which has the answer as its exit status.
template <class Body>
void expect_in_child(Body body) {
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    try {
      _exit(body() ? 0 : 1);
    } catch (...) {
      _exit(2);
    }
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Trims the kept memory, and limits the address space of the process to `size_bytes` more than it
// has mapped.
bool leave_address_space(std::size_t size_bytes) {
  trim_memory();
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + size_bytes;
  const rlimit limit = {bytes, bytes};
  return pages != 0 && setrlimit(RLIMIT_AS, &limit) == 0;
}

bool is_out_of_memory(std::size_t size_bytes) {
  try {
    blob_allocate(kDefaultContext, size_bytes);
  } catch (const Error& error) {
    return error.status() == TNR_STATUS_OUT_OF_MEMORY &&
           std::strstr(error.message(), "could not be allocated") != nullptr;
  }
  return false;
}

TEST(Memory, IsAlignedAndWritableInEverySize) {
  std::vector<BlobToken> blobs;
  for (std::size_t size = 1; size <= 8 * kMiB; size += size / 3 + 1) {
    for (const std::size_t bytes : {size, size + 1}) {
      const BlobToken blob = blob_allocate(kDefaultContext, bytes);
      const auto address = reinterpret_cast<std::uintptr_t>(data_of(blob));
      EXPECT_EQ(address % kBlobAlignment, 0u) << bytes;
      if (!kSanitized && bytes >= kRegionThresholdBytes) {
        EXPECT_EQ(address % kHugePageBytes, 0u) << bytes;
      }
      std::memset(data_of(blob), static_cast<int>(blobs.size() % 251), bytes);
      blobs.push_back(blob);
    }
  }
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    const BlobMemory memory = blob_memory(blobs[i]);
    const auto* const bytes = static_cast<unsigned char*>(memory.data);
    EXPECT_EQ(bytes[0], i % 251);
    EXPECT_EQ(bytes[memory.size_bytes - 1], i % 251);
    blob_release(blobs[i]);
  }
}

TEST(Memory, OfLargeBlobsIsRecycledUntilTrimmed) {
  if (kSanitized) GTEST_SKIP() << "no blob is recycled under a sanitizer";
  trim_memory();
  const std::vector<char> source(4 * kMiB, 7);
  const BlobToken first = blob_allocate(kDefaultContext, 4 * kMiB);
  void* const address = data_of(first);
  EXPECT_EQ(stats().cached_bytes, 0u);
  blob_release(first);
  EXPECT_EQ(stats().cached_bytes, 4 * kMiB);

  const BlobToken copied = blob_copy(kDefaultContext, source.data(), source.size());
  EXPECT_EQ(data_of(copied), address);
  EXPECT_EQ(std::memcmp(data_of(copied), source.data(), source.size()), 0);
  EXPECT_EQ(trim_memory(), 0u);  // in use: not the cache's
  EXPECT_EQ(std::memcmp(data_of(copied), source.data(), source.size()), 0);
  // A size that the region was not made for keeps the region whole.
  blob_release(copied);
  const BlobToken smaller = blob_allocate(kDefaultContext, 4 * kMiB - 100'000);
  EXPECT_EQ(data_of(smaller), address);
  blob_release(smaller);
  EXPECT_EQ(stats().cached_bytes, 4 * kMiB);
  EXPECT_EQ(trim_memory(), 4 * kMiB);
  EXPECT_EQ(stats().cached_bytes, 0u);
}

TEST(Memory, ThatIsReservedIsTrimmedToWhatIsWritten) {
  if (kSanitized) {
    EXPECT_EQ(reserve_memory(64 * kMiB, kMiB).memory.data, nullptr);
    return;
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, 3 * kMiB, 64 * kMiB}) {
    ReservedMemory reserved;
    if (!reserved.reserve(64 * kMiB, kMiB)) GTEST_SKIP() << "the system cannot do that";
    std::memset(reserved.data(), 5, size);
    const BlobToken blob = reserved.open(size);
    EXPECT_EQ(reserved.data(), nullptr);
    const BlobMemory memory = blob_memory(blob);
    EXPECT_EQ(memory.size_bytes, size);
    for (std::size_t i = 0; i < size; i += 99) {
      ASSERT_EQ(static_cast<char*>(memory.data)[i], 5);
    }
    EXPECT_EQ(blob_describe(blob).tenure, TNR_TENURE_ALLOCATED);
    const std::size_t cached = cached_memory_bytes();
    blob_release(blob);
    EXPECT_EQ(cached_memory_bytes() - cached, size < kMiB ? 0 : size);
    trim_memory();
  }
}

TEST(Memory, OfAReservationIsRecycled) {
  if (kSanitized) GTEST_SKIP() << "no blob is recycled under a sanitizer";
  trim_memory();
  const BlobToken blob = blob_allocate(kDefaultContext, 6 * kMiB);
  static_cast<char*>(data_of(blob))[4 * kMiB] = 7;
  blob_release(blob);
  ReservedMemory reserved;
  if (!reserved.reserve(64 * kMiB, 5 * kMiB)) GTEST_SKIP() << "the system cannot do that";
  EXPECT_EQ(cached_memory_bytes(), 0u);
  EXPECT_EQ(static_cast<char*>(reserved.data())[4 * kMiB], 7);
}

TEST(Memory, OfAReservationIsTouchedBeforeItIsWritten) {
  if (kSanitized) GTEST_SKIP() << "no memory is reserved under a sanitizer";
  trim_memory();
  const BlobToken blob = blob_allocate(kDefaultContext, 3 * kMiB);
  std::memset(data_of(blob), 7, 3 * kMiB);
  blob_release(blob);
  ReservedMemory reserved;
  if (!reserved.reserve(9 * kMiB, 3 * kMiB)) GTEST_SKIP() << "the system cannot do that";
  EXPECT_TRUE(reserved.has_touched(3 * kMiB));
  EXPECT_FALSE(reserved.has_touched(3 * kMiB + 1));
  reserved.touch(3 * kMiB + 1);
  EXPECT_TRUE(reserved.has_touched(4 * kMiB));
  EXPECT_FALSE(reserved.has_touched(4 * kMiB + 1));
  reserved.touch(9 * kMiB);
  EXPECT_TRUE(reserved.has_touched(9 * kMiB));
  reserved.touch(3 * kMiB);
  const char* const bytes = static_cast<const char*>(reserved.data());
  for (std::size_t i = 0; i < 9 * kMiB; ++i) ASSERT_EQ(bytes[i], i < 3 * kMiB ? 7 : 0) << i;
}

TEST(Memory, OfAReservationIsTouchedByManyThreads) {
  if (kSanitized) GTEST_SKIP() << "no memory is reserved under a sanitizer";
  constexpr std::size_t kParts = 160;
  constexpr std::size_t kPartBytes = 100'000;
  trim_memory();
  ReservedMemory reserved;
  if (!reserved.reserve(kParts * kPartBytes, 0)) GTEST_SKIP() << "the system cannot do that";
  char* const bytes = static_cast<char*>(reserved.data());
  std::atomic<std::size_t> next{0};
  const auto write = [&] {
    for (std::size_t part; (part = next.fetch_add(1)) < kParts;) {
      reserved.touch((part + 1) * kPartBytes);
      std::memset(bytes + part * kPartBytes, static_cast<int>(part + 1), kPartBytes);
    }
  };
  std::thread other(write);
  write();
  other.join();
  for (std::size_t i = 0; i < kParts * kPartBytes; ++i) {
    ASSERT_EQ(bytes[i], static_cast<char>(i / kPartBytes + 1)) << i;
  }
}

TEST(FreshPages, AreThereWhenTheyHaveBeenTouchedAndNoByteChanges) {
  constexpr std::size_t kPageBytes = 4096;
  constexpr int kPopulateWrite = 23;
  const Region region = map_region(20 * kMiB);
  ASSERT_NE(region.data, nullptr);
  const auto is_there = [](char* page) {
    unsigned char flag = 0;
    EXPECT_EQ(mincore(page, kPageBytes, &flag), 0);
    return (flag & 1) != 0;
  };
  if (madvise(region.data, kPageBytes, kPopulateWrite) != 0 || !is_there(region.data)) {
    unmap_region(region);
    GTEST_SKIP() << "the system cannot do that";
  }
  std::memset(region.data + 5 * kMiB, 3, kMiB);
  auto* const bytes = reinterpret_cast<kernels::Byte*>(region.data);
  touch_fresh_pages(kDefaultContext, bytes + 8 * kMiB, kWorthTouchingBytes - 1);
  EXPECT_FALSE(is_there(region.data + 10 * kMiB - kPageBytes));
  touch_fresh_pages(kDefaultContext, bytes + 3 * kMiB + 77, 16 * kMiB);
  for (std::size_t page = 2; page < 9; ++page) {
    EXPECT_TRUE(is_there(region.data + (page + 1) * kHugePageBytes - kPageBytes)) << page;
  }
  EXPECT_FALSE(is_there(region.data + 10 * kHugePageBytes - kPageBytes));
  for (std::size_t i = 0; i < 20 * kMiB; ++i) {
    ASSERT_EQ(region.data[i], i / kMiB == 5 ? 3 : 0) << i;
  }
  unmap_region(region);
}

TEST(Memory, IsHeldBackIfLargeAndNotUnderASanitizer) {
  trim_memory();
  blob_release(blob_allocate(kDefaultContext, kRegionThresholdBytes - 1));
  EXPECT_EQ(stats().cached_bytes, 0u);
  blob_release(blob_allocate(kDefaultContext, kRegionThresholdBytes));
  EXPECT_EQ(stats().cached_bytes, kSanitized ? 0u : kMiB);
}

TEST(Memory, CacheLimitIsADecimalNumberOrTheDefault) {
  EXPECT_EQ(cache_limit("0"), 0u);
  EXPECT_EQ(cache_limit("123456789"), 123456789u);
  EXPECT_EQ(cache_limit("18446744073709551615"), SIZE_MAX);
  for (const char* const malformed :
       {"", " 1", "1 ", "-1", "+1", "1.5", "1e9", "0x10", "64M", "18446744073709551616", "none"}) {
    EXPECT_EQ(cache_limit(malformed), kDefaultCacheBytes) << malformed;
  }
  EXPECT_EQ(cache_limit(nullptr), kDefaultCacheBytes);
}

TEST(MemoryDeathTest, EnvironmentSwitchesTheCacheOff) {
  if (kSanitized) GTEST_SKIP() << "no blob is recycled under a sanitizer";
  // Threadsafe: the child is this program anew, which reads the variable at its first use.
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto exit_with_what_is_cached = [] {
    blob_release(blob_allocate(kDefaultContext, 4 * kMiB));
    std::exit(static_cast<int>(stats().cached_bytes / kMiB));
  };
  setenv("TENURE_CACHE_BYTES", "0", 1);
  EXPECT_EXIT(exit_with_what_is_cached(), ::testing::ExitedWithCode(0), "");
  setenv("TENURE_CACHE_BYTES", "4194304", 1);
  EXPECT_EXIT(exit_with_what_is_cached(), ::testing::ExitedWithCode(4), "");
  setenv("TENURE_CACHE_BYTES", "4194303", 1);
  EXPECT_EXIT(exit_with_what_is_cached(), ::testing::ExitedWithCode(0), "");
  unsetenv("TENURE_CACHE_BYTES");
}

TEST(Memory, WorksWhereHugePagesAreRefused) {
  expect_in_child([] {
    if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0) return false;
    const BlobToken blob = blob_allocate(kDefaultContext, 8 * kMiB);
    std::memset(data_of(blob), 5, 8 * kMiB);
    const bool holds = static_cast<char*>(data_of(blob))[8 * kMiB - 1] == 5;
    blob_release(blob);
    return holds;
  });
}

TEST(Memory, LimitOfAddressSpaceIsOutOfMemory) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs the address space itself";
  expect_in_child([] {
    if (!leave_address_space(256 * kMiB)) return false;
    if (!is_out_of_memory(512 * kMiB)) return false;
    // And goes on: what fits is still there.
    const BlobToken blob = blob_allocate(kDefaultContext, 16 * kMiB);
    std::memset(data_of(blob), 5, 16 * kMiB);
    blob_release(blob);
    return true;
  });
}

TEST(Memory, CachedMemoryIsGivenUpBeforeACallFails) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs the address space itself";
  expect_in_child([] {
    if (!leave_address_space(256 * kMiB)) return false;
    blob_release(blob_allocate(kDefaultContext, 120 * kMiB));
    if (stats().cached_bytes != 120 * kMiB) return false;
    // Beside the kept region there is no room for it.
    blob_release(blob_allocate(kDefaultContext, 160 * kMiB));
    return stats().cached_bytes == 160 * kMiB;
  });
}

TEST(Memory, ChildOfForkHasACacheOfItsOwn) {
  const BlobToken blob = blob_allocate(kDefaultContext, 4 * kMiB);
  std::memset(data_of(blob), 1, 4 * kMiB);
  blob_release(blob_allocate(kDefaultContext, 2 * kMiB));
  expect_in_child([blob] {
    std::memset(data_of(blob), 2, 4 * kMiB);
    blob_release(blob);
    const BlobToken next = blob_allocate(kDefaultContext, 4 * kMiB);
    std::memset(data_of(next), 3, 4 * kMiB);
    trim_memory();
    return stats().cached_bytes == 0;
  });
  EXPECT_EQ(static_cast<char*>(data_of(blob))[100], 1);
  blob_release(blob);
}

TEST(Memory, ThreadsThatAllocateEndAndTrimHaveTheirBytesAlone) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([thread] {
      for (int round = 0; round < 500; ++round) {
        const std::size_t size = kMiB * static_cast<std::size_t>(1 + (round + thread) % 3);
        const BlobToken blob = blob_allocate(kDefaultContext, size);
        char* const bytes = static_cast<char*>(data_of(blob));
        const char mark = static_cast<char>(thread + 1);
        for (std::size_t at = 0; at < size; at += 4096) bytes[at] = mark;
        for (std::size_t at = 0; at < size; at += 4096) ASSERT_EQ(bytes[at], mark);
        blob_release(blob);
        if (round % 50 == thread) trim_memory();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Memory, SizesThatCannotBeHadAreOutOfMemory) {
  expect_error(TNR_STATUS_OUT_OF_MEMORY, {"could not be allocated"},
               [] { take_memory(std::size_t{1} << 60); });
  expect_error(TNR_STATUS_OUT_OF_MEMORY, {std::to_string(SIZE_MAX), "at most"},
               [] { take_memory(SIZE_MAX); });
}

}  // namespace
