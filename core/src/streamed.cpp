#include "streamed.hpp"

#include <algorithm>
#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Finding;
using kernels::Strip;
using kernels::StripKernel;

constexpr std::int64_t kLineBytes = 64;

// Input read and output written between two turns from the one to the other. A page: memory is
// faster when it is read and written in runs than by turns of a line, and prefetchers stop at the
// end of a page anyway. Measured: 4 KiB moves a copy 1.15 times as fast as a loop that streams what
// it just loaded, 1 KiB as fast, 8 KiB 0.85 times.
constexpr std::int64_t kBlockBytes = 4096;

std::int64_t block_count(const Strip& strip) {
  std::int64_t in_bytes = 0;  // of memory that an element costs
  for (const std::int64_t step : strip.in_steps) {
    in_bytes += std::min(step < 0 ? -step : step, kLineBytes);
  }
  // A multiple of 64 elements, so that each block ends where a line does; and 64 of inputs that cost
  // more than a line together: their output fits, being 16 bytes wide at most.
  const std::int64_t count = kBlockBytes / std::max(in_bytes, strip.out_step);
  return std::max(count / kLineBytes, std::int64_t{1}) * kLineBytes;
}

// What is left of a strip.
class Rest {
 public:
  Rest(StripKernel kernel, const Strip& strip) noexcept : kernel_(kernel), strip_(strip) {}

  [[nodiscard]] std::int64_t count() const noexcept { return strip_.count; }
  [[nodiscard]] Byte* out() const noexcept { return strip_.out; }

  // Computes the next elements to `to`, which is out() or a block elsewhere.
  Finding compute(std::int64_t count, Byte* to) noexcept {
    Strip part = strip_;
    part.count = count;
    part.out = to;
    strip_.count -= count;
    strip_.out += count * strip_.out_step;
    for (unsigned i = 0; i < 3; ++i) strip_.in[i] += count * strip_.in_steps[i];
    return kernel_(part);
  }

 private:
  StripKernel kernel_;
  Strip strip_;
};

}  // namespace

// Rejected: streaming stores inside of the kernels. Each would be compiled twice, and that is not
// even faster: see kBlockBytes.
Finding run_streamed(StripKernel kernel, const Strip& strip) noexcept {
  const std::int64_t width = strip.out_step;
  const auto misaligned =
      static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(strip.out) % kLineBytes);
  if (misaligned % width != 0) return kernel(strip);  // no element begins where a line does
  const std::int64_t whole_block = block_count(strip);
  const auto stream = kernels::table().stream;
  alignas(kLineBytes) Byte block[kBlockBytes];

  Rest rest(kernel, strip);
  unsigned found = rest.compute(std::min(misaligned / width, strip.count), strip.out);
  const std::int64_t line = kLineBytes / width;
  while (rest.count() >= line) {
    Byte* const out = rest.out();
    const std::int64_t count = std::min(whole_block, rest.count() / line * line);
    found |= rest.compute(count, block);
    stream(out, block, static_cast<std::uint64_t>(count * width));
  }
  found |= rest.compute(rest.count(), rest.out());
  return static_cast<Finding>(found);
}

void order_streamed_stores() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace tenure
