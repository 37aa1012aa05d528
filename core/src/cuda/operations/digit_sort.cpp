#include "cuda/operations/digit_sort.hpp"

#include "cuda/kernels/indexed_arguments.hpp"
#include "cuda/operations/grid.hpp"

namespace tenure::cuda {
namespace {

std::int64_t tiles_of(std::int64_t count) { return quotient_up(count, kTile); }

}  // namespace

DigitSort::DigitSort(const Queue& queue, std::int64_t most)
    : queue_(queue),
      most_(static_cast<std::size_t>(most)),
      memory_(queue, (4 * most_ + kDigits * static_cast<std::size_t>(tiles_of(most))) *
                         sizeof(std::uint32_t)),
      keys_(array(0)),
      places_(array(1)) {}

void DigitSort::run(std::uint32_t count, unsigned bits) {
  for (unsigned shift = 0; shift < bits; shift += kDigitBits) sort(count, shift);
}

void DigitSort::sort(std::uint32_t count, unsigned shift) {
  const bool is_first = keys_ == array(0);
  SortArgument argument = {};
  argument.keys = keys_;
  argument.places = places_;
  argument.sorted_keys = array(is_first ? 2 : 0);
  argument.sorted_places = array(is_first ? 3 : 1);
  argument.counts = array(4);
  argument.count = count;
  argument.tiles = static_cast<std::uint32_t>(tiles_of(count));
  argument.shift = shift;
  queue_.launch(Kernel::sort_count, {argument.tiles, kThreads}, argument);
  queue_.launch(Kernel::sort_scan, {1, kThreads}, argument);
  queue_.launch(Kernel::sort_move, {argument.tiles, kThreads}, argument);
  keys_ = argument.sorted_keys;
  places_ = argument.sorted_places;
}

}  // namespace tenure::cuda
