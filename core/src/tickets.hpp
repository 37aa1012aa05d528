// Chunks that the threads of a call take one after the other, where a thread needs memory of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "concurrency.hpp"
#include "parallel.hpp"
#include "tenure/context.hpp"
#include "traffic.hpp"

namespace tenure {

class Tickets {
 public:
  explicit Tickets(std::int64_t count) noexcept : end_(count) {}

  // The next chunk that nobody has begun, in rising order; -1: there is none.
  std::int64_t take() noexcept {
    const std::int64_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
    return chunk < end_ ? chunk : -1;
  }

 private:
  const std::int64_t end_;
  Atomic<std::int64_t> next_{0};
};

// Runs body(buffer) on each thread that comes, which takes tickets until there are none; each has
// `buffer_bytes` of its own, aligned to a line. No more threads than there are chunks. Throws
// std::bad_alloc before any of them begins.
template <class Body>
void on_each_thread(const Context& context, std::int64_t chunk_count, std::int64_t buffer_bytes,
                    const Body& body) {
  const std::int64_t threads = std::min<std::int64_t>(context.thread_count(), chunk_count);
  const std::int64_t pitch = whole_lines(buffer_bytes);
  const std::unique_ptr<unsigned char[]> buffers(
      pitch == 0 ? nullptr
                 : new unsigned char[static_cast<std::size_t>(pitch * threads + kLineBytes)]);
  unsigned char* const first =
      buffers.get() + -reinterpret_cast<std::uintptr_t>(buffers.get()) % kLineBytes;
  // The thread that takes the first slice takes all chunks until another comes. A chunk is some ten
  // microseconds of work, so that fewer are done before a sleeper has woken.
  constexpr std::int64_t kManyChunks = 16;
  for_each_slice(
      context, threads,
      [&](std::int64_t slice) noexcept { body(pitch == 0 ? nullptr : first + slice * pitch); },
      chunk_count < kManyChunks ? Wake::kWhenLong : Wake::kAtOnce);
}

}  // namespace tenure
