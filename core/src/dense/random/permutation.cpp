// A random order: R. Durstenfeld, "Algorithm 235: Random permutation" (CACM 7, 1964), from the
// first element on. An exchange needs only the random number of its position, so these numbers are
// made some at a time, and the elements that they exchange are prefetched meanwhile.
#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <limits>

#include "cpu/dispatch.hpp"
#include "cpu/random.hpp"
#include "dense/random/places.hpp"
#include "tenure/blob.hpp"
#include "tenure/counters.hpp"
#include "tenure/random.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Exchanges that are known ahead: a few hundred reads of memory go on at once, and take longer
// than making as many numbers.
constexpr std::int64_t kKnownExchanges = 256;

template <class Number>
class Shuffled {
 public:
  Shuffled(Byte* out, std::int64_t step) noexcept : out_(out), step_(step) {}

  void put(std::int64_t i, Number number) noexcept {
    std::memcpy(out_ + i * step_, &number, sizeof number);
  }
  void fetch(std::int64_t i) const noexcept { __builtin_prefetch(out_ + i * step_, 1, 3); }
  void exchange(std::int64_t i, std::int64_t j) noexcept {
    const Number first = at(i);
    put(i, at(j));
    put(j, first);
  }

 private:
  [[nodiscard]] Number at(std::int64_t i) const noexcept {
    Number number;
    std::memcpy(&number, out_ + i * step_, sizeof number);
    return number;
  }

  Byte* out_;
  std::int64_t step_;
};

template <class Number>
void shuffle(std::uint64_t seed, std::uint64_t offset, std::int64_t count,
             Shuffled<Number> numbers) noexcept {
  for (std::int64_t i = 0; i < count; ++i) numbers.put(i, static_cast<Number>(i));
  constexpr kernels::IntegersParameters kAllBits = {0, 0};
  for (std::int64_t first = 0; first < count; first += kKnownExchanges) {
    const std::int64_t known = std::min(kKnownExchanges, count - first);
    std::uint64_t words[kKnownExchanges];
    std::int64_t others[kKnownExchanges];
    kernels::random_kernels().integers({seed, offset + static_cast<std::uint64_t>(first), known,
                                        reinterpret_cast<Byte*>(words), &kAllBits});
    for (std::int64_t i = 0; i < known; ++i) {
      const auto left = static_cast<std::uint64_t>(count - first - i);
      __extension__ using Wide = unsigned __int128;
      others[i] = first + i +
                  static_cast<std::int64_t>(
                      static_cast<std::uint64_t>((static_cast<Wide>(words[i]) * left) >> 64));
      numbers.fetch(others[i]);
    }
    for (std::int64_t i = 0; i < known; ++i) numbers.exchange(first + i, others[i]);
  }
}

}  // namespace

void random_permutation(const Context& context, std::uint64_t seed, std::uint64_t offset,
                        const tnr_view_mut& out) {
  static_cast<void>(context);
  check_view_mut(out, "out");
  const tnr_view& view = out.view;
  require_rank(view, "out", 1);
  if (view.dtype != TNR_DTYPE_I32 && view.dtype != TNR_DTYPE_I64) {
    refuse_dtype("permutation", view.dtype);
  }
  const std::int64_t count = view.shape[0];
  if (view.dtype == TNR_DTYPE_I32 && count - 1 > std::numeric_limits<std::int32_t>::max()) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "out.shape[0] is %" PRId64 " but i32 counts to 2147483648 numbers", count);
  }
  if (!check_places(offset, count)) return;
  Pins pins;
  pins.add_mut(out, "out");
  const auto width = static_cast<std::int64_t>(element_size(view.dtype));
  const std::int64_t step = count > 1 ? view.strides[0] * width : width;
  if (view.dtype == TNR_DTYPE_I32) {
    shuffle(seed, offset, count, Shuffled<std::int32_t>(writable(out), step));
  } else {
    shuffle(seed, offset, count, Shuffled<std::int64_t>(writable(out), step));
  }
  count_call(TNR_OPERATION_RANDOM, 0, static_cast<std::uint64_t>(count * width));
}

}  // namespace tenure
