// Strips whose results go past the caches.
#pragma once

#include <cstdint>

#include "cpu/kernel.hpp"
#include "dense/loops/strip_runner.hpp"
#include "memory/traffic.hpp"

namespace tenure {

// Does the work of runner.run(strip) past the caches, for a dense output (out_step is its element's
// width, a power of two up to 16) that shares no byte with an input. No other thread may read the
// streamed bytes before this thread has called order_streamed_stores().
kernels::Finding run_streamed(StripRunner& runner, const kernels::Strip& strip) noexcept;

// Copies bytes. Where they are streamed, parts that are no whole line stay in the caches. Meanwhile
// equally many bytes at `next`, which will be read soon, are prefetched.
void copy_lines(kernels::Byte* out, const kernels::Byte* from, std::int64_t bytes, Stores stores,
                const kernels::Byte* next = nullptr) noexcept;

// Bytes that are appended one after the other and written past the caches line by line, wherever
// their parts end. Partial lines at both ends stay in the caches, as with copy_lines(). While lines
// are written, equally many lines that will be read soon are prefetched: copies of rows from
// anywhere are slow because their loads wait for memory. Measured for rows of 4 KiB in random
// order: 0.65 to 0.9 of a copy of adjacent ones, and 0.45 to 0.57 without prefetching.
class LineStage {
 public:
  LineStage() noexcept = default;
  LineStage(const LineStage&) = delete;
  LineStage& operator=(const LineStage&) = delete;
  ~LineStage() { flush(); }

  // A page: memory is faster when it is read and written in runs than by turns of a line.
  static constexpr std::int64_t kBytes = 4096;

  // `next` is memory that is read soon, or nullptr where none is known.
  void append(kernels::Byte* out, const kernels::Byte* from, std::int64_t bytes,
              const kernels::Byte* next) noexcept;
  void flush(const kernels::Byte* next = nullptr) noexcept;

 private:
  kernels::Byte* line_ = nullptr;  // where stage_ goes
  std::int64_t begin_ = 0;         // in its first line
  std::int64_t end_ = 0;
  alignas(kLineBytes) kernels::Byte stage_[kBytes];
};

// Rows of `bytes` each, not less than a page, that are appended one after the other and read from
// anywhere: a row is written when the two behind it are known, which are prefetched meanwhile.
class RowStage {
 public:
  explicit RowStage(std::int64_t bytes) noexcept : bytes_(bytes) {}

  void append(kernels::Byte* out, const kernels::Byte* from) noexcept {
    if (held_ == kHeld) write_first();
    rows_[held_++] = {out, from};
  }
  // Writes the rest.
  void flush() noexcept {
    while (held_ > 0) write_first();
    stage_.flush();
  }

 private:
  struct Row {
    kernels::Byte* out;
    const kernels::Byte* from;
  };
  static constexpr int kHeld = 3;

  void write_first() noexcept;

  std::int64_t bytes_;
  int held_ = 0;
  Row rows_[kHeld];
  LineStage stage_;
};

// Streamed stores are not ordered with others, not even by a release.
void order_streamed_stores() noexcept;

}  // namespace tenure
