// Stores past the caches.
#include "cpu/kernels/lanes.hpp"
#include "cpu/kernels/vectors.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

void stream_lines(Byte* out, const Byte* from, uint64_t size_bytes) {
  const auto end = static_cast<int64_t>(size_bytes);
  for (int64_t at = 0; at < end; at += kLineBytes) stream_line(out + at, from + at);
}

// Each line is cleared as soon as it was loaded: a buffer may be all that the first cache holds,
// and to clear it in a pass of its own would find none of it there.
void stream_and_clear_lines(Byte* out, Byte* from, uint64_t size_bytes) {
  const auto end = static_cast<int64_t>(size_bytes);
  for (int64_t at = 0; at < end; at += kLineBytes) {
    stream_line(out + at, from + at);
    for (int64_t part = 0; part < kLineBytes; part += kVectorBytes) {
      store(from + at + part, Vector<int64_t>{});
    }
  }
}

// Prefetches into the second cache, which waits for more lines at a time than the first one: 0.9 of
// the time of prefetches into the first for an addition, and 0.55 for rows of 4 KiB in random order.
// Rows are a single input, whose lines are prefetched before the stores: 0.85 of the time of a
// prefetch with each line stored.
void stream_lines_and_fetch(Byte* out, const Byte* from, uint64_t size_bytes, const Byte* next,
                            const Byte* other_next) {
  const auto end = static_cast<int64_t>(size_bytes);
  if (next == other_next) {
    for (int64_t at = 0; at < end; at += kLineBytes) __builtin_prefetch(next + at, 0, 2);
    return stream_lines(out, from, size_bytes);
  }
  for (int64_t at = 0; at < end; at += kLineBytes) {
    __builtin_prefetch(next + at, 0, 2);
    __builtin_prefetch(other_next + at, 0, 2);
    stream_line(out + at, from + at);
  }
}

}  // namespace

const Streaming kStreaming = {stream_lines, stream_and_clear_lines, stream_lines_and_fetch};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
