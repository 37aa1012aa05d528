// Chunks that the threads of a call take one after the other, where a thread needs memory of its
// own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/concurrency.hpp"
#include "memory/memory.hpp"
#include "memory/scratch.hpp"
#include "memory/traffic.hpp"
#include "tenure/context.hpp"
#include "threads/parallel.hpp"

namespace tenure {

class Tickets {
 public:
  explicit Tickets(std::int64_t count) noexcept : end_(count) {}

  // The next unclaimed chunk, in rising order; -1: none is left.
  std::int64_t take() noexcept {
    const std::int64_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
    return chunk < end_ ? chunk : -1;
  }

 private:
  const std::int64_t end_;
  Atomic<std::int64_t> next_{0};
};

// `bytes` bytes for each thread, aligned to a line. Under a sanitizer they are allocated one by
// one, to the byte: else an access past the end of one would be in the next, and not be seen.
// Throws std::bad_alloc, or OUT_OF_MEMORY.
class ThreadBuffers {
 public:
  ThreadBuffers(std::int64_t threads, std::int64_t bytes) : pitch_(whole_lines(bytes)) {
    if (pitch_ == 0) return;
    if constexpr (kSanitized) {
      own_.reset(new std::optional<Scratch>[static_cast<std::size_t>(threads)]);
      for (std::int64_t i = 0; i < threads; ++i) own_[i].emplace(static_cast<std::size_t>(bytes));
    } else {
      all_.emplace(threads, pitch_);
    }
  }

  [[nodiscard]] unsigned char* of(std::int64_t thread) const noexcept {
    if (pitch_ == 0) return nullptr;
    if constexpr (kSanitized) return own_[thread]->data();
    return all_->data() + thread * pitch_;
  }

 private:
  std::int64_t pitch_;
  std::optional<Scratch> all_;
  std::unique_ptr<std::optional<Scratch>[]> own_;
};

// Not inlined: the caller's own part and that of the threads would each have the whole body.
template <class Body>
[[gnu::noinline]] void run_with_buffer(const Body& body, unsigned char* buffer) noexcept {
  body(buffer);
}

// Runs body(buffer) on each thread that comes, which takes tickets until there are none; each has
// `buffer_bytes` of its own, aligned to a line. No more threads than there are chunks. Throws
// std::bad_alloc before any of them begins.
template <class Body>
void on_each_thread(const Context& context, std::int64_t chunk_count, std::int64_t buffer_bytes,
                    const Body& body) {
  const std::int64_t threads = std::min<std::int64_t>(context.thread_count(), chunk_count);
  const ThreadBuffers buffers(threads, buffer_bytes);
  // The thread that takes the first slice takes all chunks until another comes. A chunk is some ten
  // microseconds of work, so that fewer are done before a sleeper has woken.
  constexpr std::int64_t kManyChunks = 16;
  for_each_slice(
      context, threads,
      [&](std::int64_t slice) noexcept { run_with_buffer(body, buffers.of(slice)); },
      chunk_count < kManyChunks ? Wake::kWhenLong : Wake::kAtOnce);
}

}  // namespace tenure
