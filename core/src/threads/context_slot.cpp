#include "threads/context_slot.hpp"

#include <algorithm>
#include <memory>
#include <type_traits>

#include "base/callback.hpp"
#include "base/token.hpp"

namespace tenure {

constinit ContextTable context_table;
static_assert(std::is_trivially_destructible_v<ContextTable>);

// ---- one context ----

void ContextSlot::start(const tnr_context_options& wanted) {
  std::unique_ptr<DeviceQueue> opened;
  if (has_device(wanted)) opened = open_queue(wanted.device, wanted.stream, wanted.engine);
  if (wanted.thread_count > 1 && wanted.spawn == nullptr) {
    pool = new ThreadPool(job, wanted.thread_count - 1);
  }
  context.queue_ = opened.get();
  queue = opened.release();
  options = wanted;
  context.slot_ = this;
  context.helper_count_ = wanted.thread_count - 1;
  context.has_allocator_ = wanted.allocate != nullptr;
  context.engine_ = wanted.engine;
}

void ContextSlot::end() noexcept {
  delete static_cast<ThreadPool*>(pool);
  pool = nullptr;
  delete static_cast<DeviceQueue*>(queue);
  queue = nullptr;
  context.queue_ = nullptr;
  const tnr_context_options& own = options;
  if (own.release == nullptr) return;
  const LastErrorKept kept;
  own.release(own.user_context);
}

void ContextSlot::forget_threads() noexcept {
  // The memory stays: its destructor would wait for threads that do not exist.
  pool = nullptr;
  queue = nullptr;
  context.helper_count_ = 0;
  context.queue_ = nullptr;
}

namespace {

// {kind:8, slot:16, generation:40}: one job of one slot.
static_assert(kMaxContexts <= 1u << (56 - Job::kGenerationBits));

std::uint64_t make_task(std::uint32_t index, std::uint64_t generation) {
  return std::uint64_t{kTaskKind} << 56 | std::uint64_t{index} << Job::kGenerationBits | generation;
}

// Asks the caller's threads to help; some may be done before this returns.
void ask_executor(ContextSlot& slot, std::uint64_t generation, std::uint32_t slice_count) noexcept {
  const std::uint64_t task = make_task(context_table.index_of(slot), generation);
  const tnr_context_options& options = slot.options;
  const std::uint32_t wanted = std::min(options.thread_count, slice_count) - 1;
  const LastErrorKept kept;
  for (std::uint32_t i = 0; i < wanted; ++i) {
    if (slot.job.open_generation() != generation) return;
    options.spawn(options.user_context, task);
  }
}

}  // namespace

void ContextSlot::run_job(SliceBody body, void* data, std::int64_t first, std::uint32_t count,
                          Wake wake) noexcept {
  const std::uint64_t generation = job.open(body, data, first, count);
  ThreadPool* const threads = pool;
  if (threads != nullptr) return threads->run_job(generation, wake);
  ask_executor(*this, generation, count);
  std::uint32_t own_count = 0;
  while (job.run_one(generation)) ++own_count;
  job.wait(own_count);
}

// ---- all contexts ----

ContextSlot* ContextTable::find(std::uint64_t token) noexcept {
  if (kind_of(token) != kContextKind || token_index(token) >= kMaxContexts) return nullptr;
  return &slots_[token_index(token)];
}

ContextSlot* ContextTable::find_task(std::uint64_t task) noexcept {
  const std::uint64_t index = (task >> Job::kGenerationBits) & 0xffff;
  return kind_of(task) == kTaskKind && index < kMaxContexts ? &slots_[index] : nullptr;
}

ContextSlot& ContextTable::take() {
  const std::lock_guard lock(mutex_);
  if (first_free_ != nullptr) {
    ContextSlot& slot = *first_free_;
    first_free_ = slot.next_free;
    return slot;
  }
  if (used_count_ == kMaxContexts) {
    fail(TNR_STATUS_OUT_OF_MEMORY, "%u contexts exist, and there can be no more at once",
         kMaxContexts);
  }
  used_count_ += 1;
  return slots_[used_count_ - 1];
}

void ContextTable::give_back(ContextSlot& slot) noexcept {
  const std::lock_guard lock(mutex_);
  const std::uint64_t word = slot.word.load(std::memory_order_relaxed);
  const std::uint32_t generation = ContextSlot::generation_of(word);
  // A slot of the last generation is not used again, as for blobs: the next generation would be the
  // first one, whose handles are stale.
  if (generation == kLastContextGeneration) return;
  // Relaxed: the lock, under which the slot is taken again, releases it.
  slot.word.store(std::uint64_t{generation + 1} << ContextSlot::kGenerationShift,
                  std::memory_order_relaxed);
  slot.next_free = first_free_;
  first_free_ = &slot;
}

void ContextTable::forget_threads() noexcept {
  for (std::uint32_t i = 0; i < used_count_; ++i) slots_[i].forget_threads();
}

}  // namespace tenure
