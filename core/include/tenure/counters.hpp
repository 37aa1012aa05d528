// Statistics of operations (calls, bytes, time), of blobs made and finished, and of launches on and
// waits for devices.
//
// Every thread counts in a block of its own, with plain loads and stores: no locked instruction, no
// line that two threads write. A reader adds up all blocks. The blocks exist from the start, so
// that counting never allocates memory. When a thread ends, the next thread that begins takes over
// its block with the counts and the spare slot in it, so that nothing has to be moved.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tenure/tenure.h"

namespace tenure {

inline constexpr std::size_t kOperationCount = TNR_OPERATION_QUANTIZED_CONV2D;

// Written by one thread at a time, read by any.
struct alignas(64) CounterBlock {
  struct Row {
    std::atomic<std::uint64_t> calls;
    std::atomic<std::uint64_t> read_bytes;
    std::atomic<std::uint64_t> written_bytes;
    std::atomic<std::uint64_t> nanoseconds;
  };
  struct Blobs {
    std::atomic<std::uint64_t> made;
    std::atomic<std::uint64_t> finished;
    std::atomic<std::uint64_t> allocated_bytes;
    std::atomic<std::uint64_t> copied_bytes;
  };
  struct Device {
    std::atomic<std::uint64_t> launches;
    std::atomic<std::uint64_t> waits;
  };
  Row rows[kOperationCount];
  Blobs blobs;
  Device device;
  // One more than the index of a free slot of slot_table, for the next array that the thread makes;
  // 0: none. Only the owner of the block uses it.
  std::uint32_t spare_slot;
};

// The calling thread's block; nullptr before its first count. Trivial: no guard, no destructor.
extern constinit thread_local CounterBlock* t_counter_block;

// Adds to a total of the calling thread's own block: of two threads that did so, one would be lost.
inline void add_own(std::atomic<std::uint64_t>& total, std::uint64_t more) noexcept {
  total.store(total.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

[[gnu::cold]] void count_first_call(tnr_operation operation, std::uint64_t read_bytes,
                                    std::uint64_t written_bytes) noexcept;

// Counts a call that has succeeded.
inline void count_call(tnr_operation operation, std::uint64_t read_bytes,
                       std::uint64_t written_bytes) noexcept {
  CounterBlock* const block = t_counter_block;
  if (block == nullptr) [[unlikely]]
    return count_first_call(operation, read_bytes, written_bytes);
  CounterBlock::Row& row = block->rows[operation - 1];
  add_own(row.calls, 1);
  add_own(row.read_bytes, read_bytes);
  add_own(row.written_bytes, written_bytes);
}

[[gnu::cold]] void count_first_blob_made(std::uint64_t allocated_bytes,
                                         std::uint64_t copied_bytes) noexcept;
[[gnu::cold]] void count_first_blob_finished() noexcept;

// Before anybody can finish the blob.
inline void count_blob_made(std::uint64_t allocated_bytes, std::uint64_t copied_bytes) noexcept {
  CounterBlock* const block = t_counter_block;
  if (block == nullptr) [[unlikely]]
    return count_first_blob_made(allocated_bytes, copied_bytes);
  add_own(block->blobs.made, 1);
  add_own(block->blobs.allocated_bytes, allocated_bytes);
  add_own(block->blobs.copied_bytes, copied_bytes);
}
inline void count_blob_finished() noexcept {
  CounterBlock* const block = t_counter_block;
  if (block == nullptr) [[unlikely]]
    return count_first_blob_finished();
  // Release: who reads that a blob has finished then reads that it was made.
  std::atomic<std::uint64_t>& finished = block->blobs.finished;
  finished.store(finished.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

// A launch on a device, and a wait for one.
using DeviceTotal = std::atomic<std::uint64_t> CounterBlock::Device::*;
[[gnu::cold]] void count_first_on_device(DeviceTotal total) noexcept;
inline void count_on_device(DeviceTotal total) noexcept {
  CounterBlock* const block = t_counter_block;
  if (block == nullptr) [[unlikely]]
    return count_first_on_device(total);
  add_own(block->device.*total, 1);
}
inline void count_launch() noexcept { count_on_device(&CounterBlock::Device::launches); }
inline void count_wait() noexcept { count_on_device(&CounterBlock::Device::waits); }

struct BlobStats {
  std::uint64_t made;
  std::uint64_t finished;  // never more than made
  std::uint64_t allocated_bytes;
  std::uint64_t copied_bytes;
};
BlobStats blob_stats() noexcept;

struct OperationStats {
  std::uint64_t calls;
  std::uint64_t read_bytes;
  std::uint64_t written_bytes;
  std::uint64_t nanoseconds;
};
// Totals of one operation, and of all; of ended threads too.
OperationStats operation_stats(tnr_operation operation) noexcept;
OperationStats operation_stats() noexcept;

// Whether the time of calls is taken: asked by the boundary, which sees their start and their end.
enum class Timing : bool { kOff, kOn };
extern constinit std::atomic<Timing> g_timing;
void count_time(tnr_operation operation, std::uint64_t nanoseconds) noexcept;

}  // namespace tenure
