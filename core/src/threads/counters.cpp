#include "tenure/counters.hpp"

#include <pthread.h>

#include <type_traits>

#include "base/system_calls.hpp"
#include "tenure/device_queue.hpp"

namespace tenure {

constinit thread_local CounterBlock* t_counter_block = nullptr;
constinit std::atomic<Timing> g_timing = Timing::kOff;

namespace {

// Threads that count at the same moment in blocks of their own. Further threads share the last
// block by locked additions, which are correct but slower. Pages that no thread has counted in cost
// nothing.
constexpr std::size_t kBlockCount = 512;

// Constant-initialised and never destroyed: destructors of statics may still compute.
constinit CounterBlock g_blocks[kBlockCount + 1] = {};
constexpr std::size_t kSharedBlock = kBlockCount;
constinit std::atomic<bool> g_taken[kBlockCount] = {};
// Blocks from here on have never been taken: a reader need not look at them.
constinit std::atomic<std::size_t> g_used_count = 0;
static_assert(std::is_trivially_destructible_v<CounterBlock>);

void give_block(void* block) noexcept {
  t_counter_block = nullptr;
  // Release: the next owner adds to the sums that this thread leaves.
  g_taken[static_cast<CounterBlock*>(block) - g_blocks].store(false, std::memory_order_release);
}

// A key of pthreads tells of a thread's end. Rejected: a thread_local with a destructor, whose
// registration allocates and ends the process where it cannot.
pthread_key_t g_key;
bool g_has_key = false;
pthread_once_t g_key_once = PTHREAD_ONCE_INIT;
void make_key() { g_has_key = system_calls::make_thread_key(&g_key, give_block) == 0; }

// Lasting: a reader that comes later meets it.
void note_used(std::size_t index) noexcept {
  std::size_t count = g_used_count.load(std::memory_order_relaxed);
  while (count <= index &&
         !g_used_count.compare_exchange_weak(count, index + 1, std::memory_order_relaxed)) {
  }
}

// nullptr: none is free, or this thread's end could not be learnt of.
CounterBlock* take_block() noexcept {
  pthread_once(&g_key_once, make_key);
  if (!g_has_key) return nullptr;
  for (std::size_t i = 0; i < kBlockCount; ++i) {
    if (g_taken[i].load(std::memory_order_relaxed)) continue;
    // Acquire: the sums of the owner before.
    if (g_taken[i].exchange(true, std::memory_order_acquire)) continue;
    if (system_calls::set_thread_value(g_key, &g_blocks[i]) != 0) {
      g_taken[i].store(false, std::memory_order_release);
      return nullptr;
    }
    note_used(i);
    return &g_blocks[i];
  }
  return nullptr;
}

template <class Add>
void for_each_used(const Add& add) noexcept {
  const std::size_t used_count = g_used_count.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < used_count; ++i) add(g_blocks[i]);
  add(g_blocks[kSharedBlock]);
}

void add_row(OperationStats& total, const CounterBlock::Row& row) noexcept {
  total.calls += row.calls.load(std::memory_order_relaxed);
  total.read_bytes += row.read_bytes.load(std::memory_order_relaxed);
  total.written_bytes += row.written_bytes.load(std::memory_order_relaxed);
  total.nanoseconds += row.nanoseconds.load(std::memory_order_relaxed);
}

// Whether the calling thread has a block of its own; if not, it counts in the shared one.
bool has_own_block() noexcept {
  if (t_counter_block == nullptr) t_counter_block = take_block();
  return t_counter_block != nullptr;
}
CounterBlock::Row& shared_row(tnr_operation operation) noexcept {
  return g_blocks[kSharedBlock].rows[operation - 1];
}

}  // namespace

void count_first_call(tnr_operation operation, std::uint64_t read_bytes,
                      std::uint64_t written_bytes) noexcept {
  if (has_own_block()) return count_call(operation, read_bytes, written_bytes);
  CounterBlock::Row& row = shared_row(operation);
  row.calls.fetch_add(1, std::memory_order_relaxed);
  row.read_bytes.fetch_add(read_bytes, std::memory_order_relaxed);
  row.written_bytes.fetch_add(written_bytes, std::memory_order_relaxed);
}

void count_time(tnr_operation operation, std::uint64_t nanoseconds) noexcept {
  if (has_own_block()) {
    return add_own(t_counter_block->rows[operation - 1].nanoseconds, nanoseconds);
  }
  shared_row(operation).nanoseconds.fetch_add(nanoseconds, std::memory_order_relaxed);
}

void count_first_blob_made(std::uint64_t allocated_bytes, std::uint64_t copied_bytes) noexcept {
  if (has_own_block()) return count_blob_made(allocated_bytes, copied_bytes);
  CounterBlock::Blobs& blobs = g_blocks[kSharedBlock].blobs;
  blobs.made.fetch_add(1, std::memory_order_relaxed);
  blobs.allocated_bytes.fetch_add(allocated_bytes, std::memory_order_relaxed);
  blobs.copied_bytes.fetch_add(copied_bytes, std::memory_order_relaxed);
}

void count_first_blob_finished() noexcept {
  if (has_own_block()) return count_blob_finished();
  g_blocks[kSharedBlock].blobs.finished.fetch_add(1, std::memory_order_release);
}

void count_first_on_device(DeviceTotal total) noexcept {
  if (has_own_block()) return count_on_device(total);
  (g_blocks[kSharedBlock].device.*total).fetch_add(1, std::memory_order_relaxed);
}

BlobStats blob_stats() noexcept {
  BlobStats total = {};
  // Ends before beginnings, so that there are never more of them.
  for_each_used([&](const CounterBlock& block) {
    total.finished += block.blobs.finished.load(std::memory_order_acquire);
  });
  for_each_used([&](const CounterBlock& block) {
    const CounterBlock::Blobs& blobs = block.blobs;
    total.made += blobs.made.load(std::memory_order_relaxed);
    total.allocated_bytes += blobs.allocated_bytes.load(std::memory_order_relaxed);
    total.copied_bytes += blobs.copied_bytes.load(std::memory_order_relaxed);
  });
  return total;
}

DeviceCounts device_counts() noexcept {
  DeviceCounts total = {};
  for_each_used([&](const CounterBlock& block) {
    total.launches += block.device.launches.load(std::memory_order_relaxed);
    total.waits += block.device.waits.load(std::memory_order_relaxed);
  });
  return total;
}

OperationStats operation_stats(tnr_operation operation) noexcept {
  OperationStats total = {};
  for_each_used([&](const CounterBlock& block) { add_row(total, block.rows[operation - 1]); });
  return total;
}

OperationStats operation_stats() noexcept {
  OperationStats total = {};
  for (tnr_operation operation = 1; operation <= tnr_operation{kOperationCount}; ++operation) {
    const OperationStats more = operation_stats(operation);
    total.calls += more.calls;
    total.read_bytes += more.read_bytes;
    total.written_bytes += more.written_bytes;
    total.nanoseconds += more.nanoseconds;
  }
  return total;
}

}  // namespace tenure
