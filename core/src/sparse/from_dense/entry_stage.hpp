// Entries on their way to memory.
#pragma once

#include <cstdint>
#include <cstring>

#include "cpu/compress.hpp"
#include "cpu/dispatch.hpp"
#include "memory/traffic.hpp"

namespace tenure {

// Elements that become entries in one step: enough to make the cost of a call negligible, and few
// enough for their entries to stay in the first cache.
inline constexpr std::int64_t kPieceElements = 1024;

// A buffer that entries are appended to, which goes to memory line by line: kernels write past the
// end of the entries that they append, where memory has other entries already.
class EntryStage {
 public:
  // Most bytes that are appended in one step.
  static constexpr std::int64_t kPieceBytes = kPieceElements * 8;

  // From here on appended bytes go to `out` and behind it.
  void start(kernels::Byte* out, Stores stores) noexcept {
    stores_ = stores;
    begin_ = end_ = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out) % kLineBytes);
    line_ = out - begin_;
  }
  [[nodiscard]] kernels::Byte* end() noexcept { return buffer_ + end_; }
  void append(std::int64_t bytes) noexcept {
    end_ += bytes;
    if (end_ >= kFlushBytes) flush_lines();
  }
  // Writes the rest. The other bytes of its lines may belong to other threads.
  void finish() noexcept {
    flush_lines();
    copy(begin_, end_);
  }

 private:
  // Stores past the caches wait for the memory when many come at once: better some at a time, in
  // between the work. Measured: 1 KiB makes a conversion 5 to 8 % faster than 4 KiB.
  static constexpr std::int64_t kFlushBytes = 1024;

  void copy(std::int64_t begin, std::int64_t end) noexcept {
    if (begin != end)
      std::memcpy(line_ + begin, buffer_ + begin, static_cast<std::size_t>(end - begin));
  }

  void flush_lines() noexcept {
    const std::int64_t whole = end_ / kLineBytes * kLineBytes;
    if (whole == 0) return;
    const std::int64_t first = begin_ == 0 ? 0 : kLineBytes;
    copy(begin_, first);
    if (stores_ == Stores::kStreamed) {
      kernels::streaming_kernels().copy(line_ + first, buffer_ + first,
                                        static_cast<std::uint64_t>(whole - first));
    } else {
      copy(first, whole);
    }
    std::memcpy(buffer_, buffer_ + whole, kLineBytes);
    line_ += whole;
    end_ -= whole;
    begin_ = 0;
  }

  Stores stores_ = Stores::kCached;
  kernels::Byte* line_ = nullptr;  // where buffer_ goes
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
  // A store over the end of a page takes as long as 100 others: the part that is written again and
  // again is within one. Measured: a conversion where half are entries, 24 ms otherwise and 18 so.
  static constexpr std::size_t kPageBytes = 4096;
  alignas(kPageBytes)
      kernels::Byte buffer_[kFlushBytes + kPieceBytes + kernels::kSlackBytes + kLineBytes];
};

}  // namespace tenure
