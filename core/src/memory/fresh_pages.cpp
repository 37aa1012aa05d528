#include "memory/fresh_pages.hpp"

#include "base/system_calls.hpp"
#include "memory/region/region.hpp"
#include "threads/parallel.hpp"

namespace tenure {

#if defined(__linux__)

namespace {

using kernels::Byte;

constexpr auto kHugeBytes = static_cast<std::int64_t>(kHugePageBytes);
static_assert(kWorthTouchingBytes >= 2 * kHugeBytes, "there is a whole one");
// A page that huge ones end with; where pages are larger nothing happens.
constexpr std::int64_t kTailBytes = 4096;

// Whether the end of a huge page is in memory: asking costs a microsecond, as touching in vain
// does.
bool is_there(Byte* tail) noexcept {
  unsigned char answer = 0;
  return system_calls::look_up(tail, static_cast<std::size_t>(kTailBytes), &answer) != 0 ||
         (answer & 1) != 0;
}

}  // namespace

void touch_huge_pages(const Context& context, Byte* data, std::int64_t bytes) noexcept {
  if (context.is_quiet()) return;
  const auto misaligned =
      static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(data) % kHugePageBytes);
  const std::int64_t count = (bytes - misaligned) / kHugeBytes;
  const auto tail = [=](std::int64_t page) {
    return data + misaligned + (page + 1) * kHugeBytes - kTailBytes;
  };
  // The pages between are of the same mapping, as a rule: all touched, or from the first on, or
  // none.
  if (is_there(tail(0)) && is_there(tail(count - 1))) return;
  for_each_slice(context, count, [&](std::int64_t page) noexcept {
    // Refused by a kernel that does not know the advice: then the writes make the pages.
    system_calls::advise(tail(page), static_cast<std::size_t>(kTailBytes),
                         system_calls::Advice::kWillBeWritten);
  });
}

#else

void touch_huge_pages(const Context&, kernels::Byte*, std::int64_t) noexcept {}

#endif

}  // namespace tenure
