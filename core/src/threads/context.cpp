#include "tenure/context.hpp"

#include <algorithm>
#include <cinttypes>

#include "base/callback.hpp"
#include "base/fork.hpp"
#include "base/token.hpp"
#include "tenure/engine.hpp"
#include "tenure/view.hpp"
#include "threads/context_slot.hpp"

namespace tenure {

namespace {

void check_options(const tnr_context_options& options) {
  if (options.thread_count == 0 || options.thread_count > kMaxThreads) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "thread_count is %u but must be at least 1 and at most %u",
         options.thread_count, kMaxThreads);
  }
  if (options.reserved != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "reserved is %u but must be 0", options.reserved);
  }
  if (options.reserved_end != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "reserved_end is %u but must be 0", options.reserved_end);
  }
  if ((options.allocate == nullptr) != (options.deallocate == nullptr)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s is NULL but %s is not: both are set, or neither",
         options.allocate == nullptr ? "allocate" : "deallocate",
         options.allocate == nullptr ? "deallocate" : "allocate");
  }
  const bool has_cpu = !ContextSlot::has_device(options);
  if (has_cpu && options.device.index != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "device.index is %" PRId32 " but must be 0 for the CPU",
         options.device.index);
  }
  if (has_cpu && options.stream != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "stream is 0x%" PRIx64 " but the device is the CPU",
         options.stream);
  }
  require_engine(options.engine);
  if (has_cpu && options.engine == TNR_ENGINE_VENDOR) {
    fail(TNR_STATUS_UNSUPPORTED,
         "engine is vendor, which computes on devices alone, but the device is the CPU");
  }
}

[[noreturn, gnu::cold]] void fail_stale(ContextToken token) {
  if (context_table.find(token) == nullptr) {
    fail(TNR_STATUS_STALE_HANDLE, "context is 0x%" PRIx64 ", which no context was ever given",
         token);
  }
  fail(TNR_STATUS_STALE_HANDLE, "context 0x%" PRIx64 " has been released", token);
}

// Replaces the word of the slot that the token names by step(word), if the token's life is not
// over; throws STALE_HANDLE otherwise. Acquire and release: the thread that ends the context sees
// the writes of all its other users.
template <class Step>
ContextSlot& change(ContextToken token, Step step) {
  ContextSlot* const slot = context_table.find(token);
  if (slot == nullptr) [[unlikely]]
    fail_stale(token);
  std::uint64_t word = slot->word.load(std::memory_order_relaxed);
  do {
    if (ContextSlot::generation_of(word) != token_generation(token) ||
        (word & ContextSlot::kOpen) == 0) [[unlikely]] {
      fail_stale(token);
    }
  } while (!slot->word.compare_exchange_weak(word, step(word), std::memory_order_acq_rel,
                                             std::memory_order_relaxed));
  return *slot;
}

void end(ContextSlot& slot) noexcept {
  slot.end();
  context_table.give_back(slot);
}

void drop_use(ContextSlot& slot) noexcept {
  const std::uint64_t word = slot.word.fetch_sub(1, std::memory_order_acq_rel) - 1;
  if (ContextSlot::is_ended(word)) end(slot);
}

}  // namespace

Refusal context_refusal(const tnr_context_options& options) {
  check_options(options);
  return devices_refusal(options.device.kind);
}

ContextToken context_create(const tnr_context_options& options) {
  check_options(options);
  if (!prepare_for_fork()) {
    fail(TNR_STATUS_OUT_OF_MEMORY, "the handlers for fork could not be registered");
  }
  ContextSlot& slot = context_table.take();
  try {
    slot.start(options);
  } catch (...) {
    context_table.give_back(slot);
    throw;
  }
  const std::uint32_t generation =
      ContextSlot::generation_of(slot.word.load(std::memory_order_relaxed));
  // Release: a thread that finds the slot open finds its content. A plain store: no other thread
  // writes a word that is not open and has no uses.
  slot.word.store(std::uint64_t{generation} << ContextSlot::kGenerationShift | ContextSlot::kOpen,
                  std::memory_order_release);
  return make_token(kContextKind, generation, context_table.index_of(slot));
}

void context_release(ContextToken token) {
  // A use of our own until the word is closed, so that it is ended in one place.
  ContextSlot& slot =
      change(token, [](std::uint64_t word) { return (word & ~ContextSlot::kOpen) + 1; });
  drop_use(slot);
}

void ContextUse::use(ContextToken token) {
  slot_ = &change(token, [](std::uint64_t word) { return word + 1; });
  context_ = &slot_->context;
}

void ContextUse::unuse() noexcept { drop_use(*slot_); }

void Context::share_slices(std::int64_t slice_count, SliceBody body, void* job,
                           Wake wake) const noexcept {
  if (!slot_->job.try_acquire()) {
    for (std::int64_t slice = 0; slice < slice_count; ++slice) body(job, slice);
    return;
  }
  for (std::int64_t first = 0; first < slice_count; first += Job::kMaxSlices) {
    const std::int64_t left = slice_count - first;
    slot_->run_job(body, job, first,
                   static_cast<std::uint32_t>(std::min<std::int64_t>(left, Job::kMaxSlices)), wake);
  }
  slot_->job.release();
}

void* Context::allocate(std::size_t size_bytes, std::size_t alignment) const {
  const tnr_context_options& options = slot_->options;
  void* data = nullptr;
  {
    const LastErrorKept kept;
    data = options.allocate(options.user_context, size_bytes, alignment);
  }
  if (data == nullptr) {
    fail(TNR_STATUS_OUT_OF_MEMORY, "%zu bytes could not be allocated by the context's allocator",
         size_bytes);
  }
  keep();
  if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0) {
    deallocate(data, size_bytes, alignment);
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "the context's allocator gave %p but must give multiples of %zu", data, alignment);
  }
  return data;
}

void Context::deallocate(void* data, std::size_t size_bytes, std::size_t alignment) const noexcept {
  const tnr_context_options& options = slot_->options;
  {
    const LastErrorKept kept;
    options.deallocate(options.user_context, data, size_bytes, alignment);
  }
  drop_use(*slot_);
}

void Context::keep() const noexcept {
  // Relaxed: the caller has a use of its own, so the context is not at its end.
  slot_->word.fetch_add(1, std::memory_order_relaxed);
}

void Context::let_go() const noexcept { drop_use(*slot_); }

std::uint64_t Context::token() const noexcept {
  if (slot_ == nullptr) return 0;
  // Relaxed: the generation is that of the use.
  const std::uint64_t word = slot_->word.load(std::memory_order_relaxed);
  return make_token(kContextKind, ContextSlot::generation_of(word), context_table.index_of(*slot_));
}

const DeviceQueue& queue_of(const Context& context, const tnr_view& view, const char* name) {
  const DeviceQueue* const queue = context.queue();
  if (queue == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.device is %s but the context of the call has no device",
         name, DeviceName(view.device).text);
  }
  if (!(queue->device() == view.device)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.device is %s but the device of the call's context is %s",
         name, DeviceName(view.device).text, DeviceName(queue->device()).text);
  }
  return *queue;
}

const DeviceQueue* queue_on_device(const Context& context, const tnr_view& view, const char* name) {
  return is_on_device(view) ? &queue_of(context, view, name) : nullptr;
}

void wait_for(const Context& context) {
  if (context.queue() != nullptr) context.queue()->wait();
}

void follow(const Context& context, const Context& other) {
  if (other.queue() == nullptr) return;
  if (context.queue() == nullptr) return other.queue()->wait();
  context.queue()->follow(*other.queue());
}

void task_run(std::uint64_t task) noexcept {
  ContextSlot* const slot = context_table.find_task(task);
  if (slot != nullptr) slot->job.help(task & Job::kLastGeneration);
}

}  // namespace tenure
