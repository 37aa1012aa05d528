// Stores past the caches.
#include "cpu/kernels/lanes.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {

void stream_lines(Byte* out, const Byte* from, uint64_t size_bytes) {
  const auto end = static_cast<int64_t>(size_bytes);
  for (int64_t at = 0; at < end; at += kLineBytes) stream_line(out + at, from + at);
}

void stream_lines_and_fetch(Byte* out, const Byte* from, uint64_t size_bytes, const Byte* next,
                            const Byte* other_next) {
  const auto end = static_cast<int64_t>(size_bytes);
  for (int64_t at = 0; at < end; at += kLineBytes) {
    __builtin_prefetch(next + at, 0, 3);
    __builtin_prefetch(other_next + at, 0, 3);
    stream_line(out + at, from + at);
  }
}

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
