// The table of contexts. context.hpp has the rules.
#pragma once

#include <cstdint>

#include "base/concurrency.hpp"
#include "base/mutex.hpp"
#include "tenure/context.hpp"
#include "tenure/device_queue.hpp"
#include "threads/job.hpp"
#include "threads/thread_pool.hpp"

namespace tenure {

// Access: the word and the job anybody at any time; the rest those who have a use of the context.
struct ContextSlot {
  // generation:24 | open:1 | uses:39; neither open before the first life nor after a release. No
  // process has the memory for 2^39 uses.
  Atomic<std::uint64_t> word{0};
  Context context;
  Handed<tnr_context_options> options = tnr_context_options{};
  // NULL with one thread, with an executor, and in a child of fork.
  Handed<ThreadPool*> pool = nullptr;
  Handed<DeviceQueue*> queue = nullptr;      // the context's
  Handed<ContextSlot*> next_free = nullptr;  // the holder of the table's mutex
  Job job;

  static constexpr std::uint64_t kOpen = std::uint64_t{1} << 39;
  static constexpr unsigned kGenerationShift = 40;

  static constexpr bool has_device(const tnr_context_options& options) {
    return options.device.kind != 0 && options.device.kind != TNR_DEVICE_KIND_CPU;
  }
  static constexpr std::uint32_t generation_of(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> kGenerationShift);
  }
  static constexpr bool is_ended(std::uint64_t word) {
    return (word & ((std::uint64_t{1} << kGenerationShift) - 1)) == 0;
  }

  // Before the word is opened. Throws what open_queue() and ThreadPool() do, and then nothing has
  // changed.
  void start(const tnr_context_options& wanted);
  // Joins the threads, waits for the device and calls `release`. The caller has taken the last use
  // away from a word that is not open.
  void end() noexcept;
  // In a child of fork, which has no other thread than the one that forked, and no device: the
  // driver is the parent's.
  void forget_threads() noexcept;
  // Opens the job and works at it until it is done. The job is the caller's.
  void run_job(SliceBody body, void* data, std::int64_t first, std::uint32_t count,
               Wake wake) noexcept;
};

inline constexpr std::uint32_t kLastContextGeneration = (1u << 24) - 1;

class ContextTable {
 public:
  constexpr ContextTable() noexcept = default;

  // The slot that the token names, whatever lives there now; nullptr for another kind or a slot
  // that cannot be.
  ContextSlot* find(std::uint64_t token) noexcept;
  // The slot of the job that the task names, whatever its job is now; nullptr as above.
  ContextSlot* find_task(std::uint64_t task) noexcept;
  // The number of a slot of this table.
  std::uint32_t index_of(const ContextSlot& slot) const noexcept {
    return static_cast<std::uint32_t>(&slot - slots_);
  }

  // A slot of no life. Throws OUT_OF_MEMORY when there is none.
  ContextSlot& take();
  // Its next life, if it has one, is another generation.
  void give_back(ContextSlot& slot) noexcept;

  // Around fork: the lock is held while the process is copied.
  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }
  // Between the two, in the child.
  void forget_threads() noexcept;

 private:
  ContextSlot slots_[kMaxContexts];
  Mutex mutex_;                           // guards all below, and next_free of every slot
  Handed<std::uint32_t> used_count_ = 0;  // slots from here on were never used
  Handed<ContextSlot*> first_free_ = nullptr;
};

// Zeros, as which it takes no room in the file of the library; never destroyed, as the table of
// blobs: the threads of contexts that are never released end with the process.
extern ContextTable context_table;

}  // namespace tenure
