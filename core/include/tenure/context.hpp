// Contexts: whose threads and whose memory a call uses.
//
// A context lives in a slot of a table whose memory is never given back, behind a token that is
// never dereferenced, as a blob does. Handles, calls and blobs count in the slot's word:
//
//   step      needs                            does
//   --------  -------------------------------  ------------------------------------------------
//   use       generation equal, open           uses + 1; a call has one use, and each blob of the
//                                              context's allocator has one
//   unuse     -                                uses - 1; not open and the last use: end
//   release   generation equal, open           clears open; no uses: end
//   end       not open, no uses; once          joins the threads, calls `release`, frees the slot
#pragma once

#include <cstddef>
#include <cstdint>

#include "tenure/status.hpp"

namespace tenure {

struct ContextSlot;
class DeviceQueue;

// The work on one slice of a call: body(job, slice).
using SliceBody = void (*)(void* job, std::int64_t slice) noexcept;

// When workers that have parked are woken: once the call has taken long, between two of its slices;
// or at once, for slices so long that the first to end may be the last.
enum class Wake : bool { kWhenLong, kAtOnce };

// The default context computes only on the calling thread and uses the library's own memory.
class Context {
 public:
  constexpr Context() noexcept = default;
  // A default context that uses the library's own kernels and makes no system call.
  static constexpr Context quiet() noexcept {
    Context context;
    context.engine_ = TNR_ENGINE_OWN;
    context.is_quiet_ = true;
    return context;
  }
  // A default context with a queue, which outlives it.
  static constexpr Context on(const DeviceQueue& queue) noexcept {
    Context context;
    context.queue_ = &queue;
    return context;
  }

  // Threads that work at one call, the caller among them; at least 1.
  [[nodiscard]] unsigned thread_count() const noexcept { return helper_count_ + 1; }

  // Calls body(job, slice) once for each slice in [0, slice_count), in any order and on any of the
  // context's threads, the calling one among them; returns when all calls have returned. Writes of
  // the slices are visible to the caller. Where another call is using the context's threads, or a
  // slice calls this, the calling thread runs all slices.
  void run_slices(std::int64_t slice_count, SliceBody body, void* job,
                  Wake wake = Wake::kWhenLong) const noexcept {
    if (helper_count_ != 0) return share_slices(slice_count, body, job, wake);
    for (std::int64_t slice = 0; slice < slice_count; ++slice) body(job, slice);
  }

  // The engine for dense products, as requested; engine.hpp resolves it to one that computes.
  [[nodiscard]] tnr_engine engine() const noexcept { return engine_; }

  // Whether calls make no system call, not even one for pages before they write them.
  [[nodiscard]] bool is_quiet() const noexcept { return is_quiet_; }

  // The token of the context's handle, where the context was made and the caller uses it, also when
  // it has been released since; else 0.
  [[nodiscard]] std::uint64_t token() const noexcept;

  // Where work on views of the context's device is enqueued; nullptr without one.
  [[nodiscard]] const DeviceQueue* queue() const noexcept { return queue_; }

  // One more use, of a context that was made and that the caller uses; and its end, which may end
  // the context.
  void keep() const noexcept;
  void let_go() const noexcept;

  // Whether blobs have their memory from an allocator of the context's own.
  [[nodiscard]] bool has_allocator() const noexcept { return has_allocator_; }
  // At least 1 byte of that memory. Throws OUT_OF_MEMORY, and INVALID_ARGUMENT when the allocator
  // does not keep to the alignment. The context lives until the memory is given back, by
  // deallocate(), which may end it.
  [[nodiscard]] void* allocate(std::size_t size_bytes, std::size_t alignment) const;
  void deallocate(void* data, std::size_t size_bytes, std::size_t alignment) const noexcept;

 private:
  friend struct ContextSlot;

  void share_slices(std::int64_t slice_count, SliceBody body, void* job, Wake wake) const noexcept;

  unsigned helper_count_ = 0;  // threads without the caller
  bool has_allocator_ = false;
  bool is_quiet_ = false;
  tnr_engine engine_ = TNR_ENGINE_ENVIRONMENT;
  const DeviceQueue* queue_ = nullptr;
  ContextSlot* slot_ = nullptr;  // of a context that was made
};

// The context that NULL names in the C API.
inline constexpr Context kDefaultContext;
// The context of runs that make no system call.
inline constexpr Context kQuietContext = Context::quiet();

// {kind:8, generation:24, index:32}; what a tnr_context* holds. 0 names the default context.
using ContextToken = std::uint64_t;

inline constexpr unsigned kMaxThreads = 1024;   // a bound for typing errors, not for machines
inline constexpr unsigned kMaxContexts = 1024;  // at once; slots are 320 bytes each

// `options` as tnr_context_create() wants them; struct_size is not looked at. Throws
// INVALID_ARGUMENT, UNSUPPORTED for an engine that is not in this build, what open_queue() does for
// the device, or OUT_OF_MEMORY also for a refused thread and the context beyond kMaxContexts; then
// no thread is left, and nothing has been called.
ContextToken context_create(const tnr_context_options& options);
// The error that context_create() throws for valid options where their device has no driver, as a
// Refusal. Throws for invalid options.
Refusal context_refusal(const tnr_context_options& options);
// Throws STALE_HANDLE for a token that is garbage, of another kind, or released.
void context_release(ContextToken token);

// One call's use of a context, which keeps the context alive. A use of the default context costs
// nothing.
class ContextUse {
 public:
  // Throws STALE_HANDLE.
  explicit ContextUse(ContextToken token) {
    if (token != 0) [[unlikely]]
      use(token);
  }
  ContextUse(const ContextUse&) = delete;
  ContextUse& operator=(const ContextUse&) = delete;
  ~ContextUse() {
    if (slot_ != nullptr) [[unlikely]]
      unuse();
  }

  operator const Context&() const noexcept { return *context_; }

 private:
  void use(ContextToken token);
  void unuse() noexcept;

  const Context* context_ = &kDefaultContext;
  ContextSlot* slot_ = nullptr;
};

// Return when the work is done, or is in order; see tnr_context_wait() and tnr_context_follow().
// Throw DEVICE_ERROR.
void wait_for(const Context& context);
void follow(const Context& context, const Context& other);

// tnr_task_run().
void task_run(std::uint64_t task) noexcept;

}  // namespace tenure
