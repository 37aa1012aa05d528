#include "cuda/operations/elementwise_launch.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "cpu/operations.hpp"
#include "cuda/operations/finding.hpp"
#include "cuda/operations/grid.hpp"
#include "memory/queue_order.hpp"
#include "tenure/counters.hpp"
#include "tenure/dtype.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"
#include "view/plain.hpp"

namespace tenure::cuda {
namespace {

static_assert(static_cast<unsigned>(ElementType::kF64) ==
              static_cast<unsigned>(kernels::Type::kF64));
static_assert(static_cast<unsigned>(ElementType::kU8) == static_cast<unsigned>(kernels::Type::kU8));
static_assert(static_cast<unsigned>(ElementType::kBool8) ==
              static_cast<unsigned>(kernels::Type::kBool8));
static_assert(kernels::kTypeCount == 13);

// Kernels that move elements, by the logarithm of their bytes.
constexpr Kernel kCopies[] = {Kernel::copy_1, Kernel::copy_2, Kernel::copy_4, Kernel::copy_8,
                              Kernel::copy_16};
constexpr Kernel kSelections[] = {Kernel::select_1, Kernel::select_2, Kernel::select_4,
                                  Kernel::select_8};
constexpr Kernel kTransposed[] = {Kernel::transpose_1, Kernel::transpose_2, Kernel::transpose_4,
                                  Kernel::transpose_8, Kernel::transpose_16};

constexpr std::int64_t kMostUnit = 16;
constexpr std::int64_t kMostSelectedUnit = 8;
constexpr std::int64_t kVectorBytes = 16;

Vectors vectors_of(std::int64_t unit_bytes) {
  return {static_cast<unsigned>(kVectorBytes / unit_bytes)};
}

// Addresses are multiples of the bytes that a device reads at once; complex numbers, and elements
// of odd widths, may lie elsewhere, but all of a view alike. Numbers of 16 bytes are read as two of
// 8.
std::int64_t unit_of(std::int64_t width_bytes, std::uint64_t addresses,
                     std::int64_t most = kMostUnit) {
  std::int64_t unit = most;
  while (width_bytes % unit != 0 ||
         addresses % static_cast<std::uint64_t>(std::min<std::int64_t>(unit, 8)) != 0) {
    unit /= 2;
  }
  return unit;
}

}  // namespace

ElementwiseLaunch::ElementwiseLaunch(const Queue& queue, const tnr_view_mut& out)
    : Operands(out, queue.device()), queue_(queue) {}

void ElementwiseLaunch::add(const tnr_view& view, const char* name) { Operands::add(view, name); }

LoopNest ElementwiseLaunch::nest() const {
  LoopNest nest(1 + flat_.source_count);
  nest.set(0, {bytes_of(out_), flat_.width_bytes});
  for (unsigned i = 0; i < flat_.source_count; ++i) {
    nest.set(1 + i, {address(i), sources_[i].width_bytes});
  }
  add_axes_to(nest);
  nest.order();
  return nest;
}

LoopNest ElementwiseLaunch::nest_of_units(std::int64_t unit_bytes) const {
  LoopNest nest = this->nest();
  const std::int64_t width_bytes = nest.operand(0).width_bytes;
  if (unit_bytes == width_bytes) return nest;
  std::int64_t steps[1 + kMostInputs] = {};
  for (unsigned i = 0; i < nest.operand_count(); ++i) {
    const Operand of = nest.operand(i);
    if (of.width_bytes != width_bytes || of.data == nullptr) continue;  // a condition, a number
    steps[i] = unit_bytes;
    nest.set_width(i, unit_bytes);
  }
  nest.add(width_bytes / unit_bytes, steps);
  nest.order();
  return nest;
}

void ElementwiseLaunch::launch(Kernel kernel, Vectors vectors, ElementwiseArgument& argument,
                               const LoopNest& nest) const {
  if (const unsigned blocks = share_out(nest, vectors.items, argument); blocks != 0) {
    return queue_.launch(kernel, {blocks, kThreads}, argument);
  }
  const LoopNest::Halves halves = nest.halves();
  launch(kernel, vectors, argument, halves.low);
  launch(kernel, vectors, argument, halves.high);
}

inline bool ElementwiseLaunch::launch_dense(Kernel kernel, Vectors vectors,
                                            ElementwiseArgument& argument) const {
  if (!is_flat()) return false;
  for (unsigned i = 0; i < flat_.source_count; ++i) {
    if (sources_[i].width_bytes != flat_.width_bytes) return false;
  }
  argument.out = flat_.out;
  for (unsigned i = 0; i < flat_.source_count; ++i) argument.in[i] = address(i);
  const unsigned blocks = share_out_dense(flat_.count, flat_.width_bytes, vectors.items, argument);
  if (blocks == 0) return false;
  queue_.launch(kernel, {blocks, kThreads}, argument);
  return true;
}

void ElementwiseLaunch::run(Kernel kernel, Vectors vectors, ElementwiseArgument& argument) const {
  if (is_empty(out_)) return;
  for (unsigned i = 0; i < flat_.source_count; ++i) {
    if (views_[i] == nullptr) argument.numbers |= 1u << i;
  }
  std::memcpy(argument.number, element_.bytes, sizeof argument.number);
  argument.out_vector_bytes = vectors.items * static_cast<std::uint32_t>(flat_.width_bytes);
  argument.in_vector_bytes = vectors.items * static_cast<std::uint32_t>(sources_[0].width_bytes);
  const QueueOrder order(queue_, pins_);
  if (launch_dense(kernel, vectors, argument)) return;
  launch(kernel, vectors, argument, nest());
}

bool ElementwiseLaunch::run_and_find(Kernel kernel, Vectors vectors,
                                     ElementwiseArgument& argument) const {
  if (is_empty(out_)) return false;
  const FindingWord<std::uint32_t> finding(queue_, 0);
  argument.finding = finding.data();
  run(kernel, vectors, argument);
  return finding.wait() != 0;
}

void ElementwiseLaunch::move(Bytes bytes) const {
  if (is_empty(out_)) return;
  const LoopNest elements = nest();
  const Operand out = elements.operand(0);
  const unsigned char* const in = elements.operand(1).data;
  const std::int64_t unit = unit_of(out.width_bytes, address_of(out.data) | address_of(in));
  ElementwiseArgument argument = empty_argument();
  const QueueOrder order(queue_, pins_);

  if (in == nullptr) {
    // Where a number has several units, each by itself.
    argument.numbers = 1;
    for (std::int64_t at = 0; at < out.width_bytes; at += unit) {
      LoopNest units = elements;
      units.set(0, {bytes_of(out_) + at, unit});
      units.set(1, {nullptr, unit});
      std::memcpy(argument.number, element_.bytes + at, static_cast<std::size_t>(unit));
      launch(kCopies[logarithm_of(unit)], vectors_of(unit), argument, units);
    }
    return;
  }
  if (bytes == Bytes::kAsTheyAre && elements.is_dense()) {
    const std::int64_t size_bytes = elements.count() * out.width_bytes;
    return queue_.copy_bytes(DeviceQueue::Direction::kWithin, const_cast<unsigned char*>(out.data),
                             in, static_cast<std::size_t>(size_bytes));
  }
  if (unit == out.width_bytes) {
    if (std::optional<TransposedCopy> tiles = transposed_copy(elements)) {
      tiles->argument.as_bools = bytes == Bytes::kAsBools ? 1 : 0;
      return queue_.launch(kTransposed[logarithm_of(unit)], {tiles->blocks, kThreads},
                           tiles->argument);
    }
  }
  if (bytes == Bytes::kAsBools) argument.out_type = ElementType::kBool8;
  launch(kCopies[logarithm_of(unit)], vectors_of(unit), argument, nest_of_units(unit));
}

void ElementwiseLaunch::select(Bytes bytes) const {
  if (is_empty(out_)) return;
  const std::int64_t unit =
      unit_of(sources_[1].width_bytes,
              address_of(bytes_of(out_)) | address_of(address(1)) | address_of(address(2)),
              kMostSelectedUnit);
  ElementwiseArgument argument = empty_argument();
  if (bytes == Bytes::kAsBools) argument.out_type = ElementType::kBool8;
  const QueueOrder order(queue_, pins_);
  launch(kSelections[logarithm_of(unit)], vectors_of(unit), argument, nest_of_units(unit));
}

}  // namespace tenure::cuda
