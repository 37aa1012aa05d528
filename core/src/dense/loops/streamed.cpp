#include "dense/loops/streamed.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "memory/traffic.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Finding;
using kernels::Strip;

// Input read and output written between two turns from the one to the other. A page: memory is
// faster when it is read and written in runs than by turns of a line, and prefetchers stop at the
// end of a page anyway. Measured: with 4 KiB a copy is 1.15 times as fast as a loop that streams
// each element that it just loaded, with 1 KiB equally fast, with 8 KiB 0.85 times. Fetching ahead
// gains a copy nothing.
constexpr std::int64_t kBlockBytes = 4096;

// Two inputs are better read in shorter runs, and fetched meanwhile, line by line, kPairBlocksAhead
// blocks ahead. Measured for an addition of f32, as a fraction of the speed of a loop that streams
// each sum that it just computed: 0.98, and equally much where others load the memory; without
// fetching and with runs of 2 KiB, 0.85 and 0.72. With fetching, 512 B reach 0.97, 1 KiB 0.93, 256
// B 0.85; 1 or 3 blocks ahead 0.97.
constexpr std::int64_t kPairBlockBytes = 768;
constexpr std::int64_t kPairBlocksAhead = 2;

// Whether two inputs are read like the output is written, and there is something ahead to fetch: a
// shorter strip, such as the row of a tile, is but cut.
bool is_pair(const Strip& strip) {
  return strip.source_count == 2 && strip.count * strip.out_step >= 4 * kPairBlockBytes &&
         strip.in[0].step == strip.out_step && strip.in[1].step == strip.out_step;
}

std::int64_t block_count(const Strip& strip) {
  if (is_pair(strip)) return kPairBlockBytes / strip.out_step;
  std::int64_t in_bytes = 0;  // of memory that an element costs
  for (unsigned i = 0; i < strip.source_count; ++i) {
    const std::int64_t step = strip.in[i].step;
    in_bytes += std::min(step < 0 ? -step : step, kLineBytes);
  }
  // A multiple of 64 elements, so that each block ends where a line does; and 64 of inputs that
  // cost more than a line together: their output fits, being 16 bytes wide at most.
  const std::int64_t count = kBlockBytes / std::max(in_bytes, strip.out_step);
  return std::max(count / kLineBytes, std::int64_t{1}) * kLineBytes;
}

// The elements of a strip that are not computed yet.
class Rest {
 public:
  Rest(StripRunner& runner, const Strip& strip) noexcept
      : runner_(runner), strip_(strip), count_(strip.count) {}

  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  [[nodiscard]] Byte* out() const noexcept { return (*strip_).out; }
  // The element of an input after the next `skip`.
  [[nodiscard]] const Byte* in(unsigned i, std::int64_t skip) const noexcept {
    return (*strip_).in[i].data + skip * (*strip_).in[i].step;
  }

  // Computes the next elements to `to`, which is out() or a block elsewhere.
  Finding compute(std::int64_t count, Byte* to) noexcept {
    Strip part = *strip_;
    part.count = count;
    part.out = to;
    const Finding found = runner_.run(part);
    strip_.skip(count);
    count_ -= count;
    return found;
  }

 private:
  StripRunner& runner_;
  MovingStrip strip_;
  std::int64_t count_;
};

}  // namespace

// Rejected: streaming stores inside of the kernels. Each would be compiled twice, and that is not
// even faster: see kBlockBytes.
Finding run_streamed(StripRunner& runner, const Strip& strip) noexcept {
  const std::int64_t width = strip.out_step;
  const auto misaligned =
      static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(strip.out) % kLineBytes);
  if (misaligned % width != 0) return runner.run(strip);  // no element begins where a line does
  const std::int64_t whole_block = block_count(strip);
  const kernels::Streaming& streaming = kernels::streaming_kernels();
  const bool pair = is_pair(strip);
  // From the end of a block to the next to be fetched.
  const std::int64_t ahead = (kPairBlocksAhead - 1) * whole_block;
  alignas(kLineBytes) Byte block[kBlockBytes];

  Rest rest(runner, strip);
  unsigned found = rest.compute(std::min(misaligned / width, strip.count), strip.out);
  const std::int64_t line = kLineBytes / width;
  while (rest.count() >= line) {
    Byte* const out = rest.out();
    const std::int64_t count = std::min(whole_block, rest.count() / line * line);
    found |= rest.compute(count, block);
    const auto size_bytes = static_cast<std::uint64_t>(count * width);
    if (pair && rest.count() >= ahead + count) {
      streaming.copy_and_fetch(out, block, size_bytes, rest.in(0, ahead), rest.in(1, ahead));
    } else {
      streaming.copy(out, block, size_bytes);
    }
  }
  found |= rest.compute(rest.count(), rest.out());
  return static_cast<Finding>(found);
}

void copy_lines(Byte* out, const Byte* from, std::int64_t bytes, Stores stores,
                const Byte* next) noexcept {
  if (bytes == 0) return;  // `from` may be null
  const auto misaligned =
      static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(out) % kLineBytes);
  const std::int64_t head = std::min(bytes, misaligned);
  const std::int64_t lines =
      stores == Stores::kStreamed ? (bytes - head) / kLineBytes * kLineBytes : 0;
  const std::int64_t tail = head + lines;
  std::memcpy(out, from, static_cast<std::size_t>(head));
  const auto line_bytes = static_cast<std::uint64_t>(lines);
  const kernels::Streaming& streaming = kernels::streaming_kernels();
  if (lines != 0 && next != nullptr) {
    streaming.copy_and_fetch(out + head, from + head, line_bytes, next, next);
    __builtin_prefetch(next + lines, 0, 2);  // where `next` begins within a line
  } else if (lines != 0) {
    streaming.copy(out + head, from + head, line_bytes);
  }
  std::memcpy(out + tail, from + tail, static_cast<std::size_t>(bytes - tail));
}

// Some C libraries copy longer parts by instructions for strings, which are slow where their
// operands do not begin with a line.
constexpr std::int64_t kCopyBytes = 1024;
// Parts of at least this size are not staged where memory that is read soon is fetched meanwhile:
// for rows of 4 KiB in random order that takes 0.8 of the time.
constexpr std::int64_t kDirectBytes = 1024;

void LineStage::append(Byte* out, const Byte* from, std::int64_t bytes, const Byte* next) noexcept {
  if (out != line_ + end_) {
    flush();
    begin_ = end_ = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out) % kLineBytes);
    line_ = out - begin_;
  }
  if (next != nullptr && bytes >= kDirectBytes) {
    const std::int64_t head =
        static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(out) % kLineBytes);
    std::memcpy(stage_ + end_, from, static_cast<std::size_t>(head));
    end_ += head;
    flush();
    const std::int64_t lines = (bytes - head) / kLineBytes * kLineBytes;
    kernels::streaming_kernels().copy_and_fetch(out + head, from + head,
                                                static_cast<std::uint64_t>(lines), next, next);
    __builtin_prefetch(next + lines, 0, 2);  // where `next` begins within a line
    line_ = out + head + lines;
    end_ = bytes - head - lines;
    std::memcpy(stage_, from + head + lines, static_cast<std::size_t>(end_));
    return;
  }
  while (bytes > 0) {
    const std::int64_t part = std::min({bytes, kBytes - end_, kCopyBytes});
    std::memcpy(stage_ + end_, from, static_cast<std::size_t>(part));
    end_ += part;
    from += part;
    bytes -= part;
    if (end_ == kBytes) flush(next);
  }
}

void LineStage::flush(const Byte* next) noexcept {
  if (begin_ != end_) {
    copy_lines(line_ + begin_, stage_ + begin_, end_ - begin_, Stores::kStreamed, next);
  }
  line_ += end_;
  begin_ = end_ = 0;
}

void RowStage::write_first() noexcept {
  constexpr std::int64_t kAheadBytes = (kHeld - 1) * LineStage::kBytes;
  for (std::int64_t begin = 0; begin < bytes_; begin += LineStage::kBytes) {
    std::int64_t place = begin + kAheadBytes;
    int later = 0;
    for (; place >= bytes_; place -= bytes_) ++later;
    stage_.append(rows_[0].out + begin, rows_[0].from + begin,
                  std::min(LineStage::kBytes, bytes_ - begin),
                  later < held_ ? rows_[later].from + place : nullptr);
  }
  --held_;
  for (int i = 0; i < held_; ++i) rows_[i] = rows_[i + 1];
}

void order_streamed_stores() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace tenure
