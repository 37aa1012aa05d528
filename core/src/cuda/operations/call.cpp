#include "cuda/operations/call.hpp"

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

void require_bounds_alone(const Queue& queue, const char* operation,
                          const BoundedActivation& activation) {
  if (activation.kernel() == nullptr) return;
  fail(TNR_STATUS_UNSUPPORTED,
       "attributes->activation is %s, which %s applies only on the CPU, not on %s",
       kernels::kUnaryRows[activation.op() - 1].name, operation, DeviceName(queue.device()).text);
}

ElementType require_type(const Queue& queue, std::uint32_t code, tnr_dtype dtype) {
  require_none(device_refusal(queue.device(), code, dtype));
  return static_cast<ElementType>(type_index(dtype));
}

Call::Call(const Queue& queue, const tnr_view_mut& out)
    : queue_(queue),
      out_(out),
      flat_count_(plain_count(out.view, queue.device())),
      out_width_(static_cast<std::int64_t>(element_size(out.view.dtype))) {
  if (flat_count_ != 0) [[likely]] {
    out_bytes_ = static_cast<std::uint64_t>(flat_count_ * out_width_);
  } else {
    check_view_mut(out, "out", queue.device());
    out_bytes_ = element_bytes(out.view);
  }
  pins_.add_mut(out, "out");
}

void Call::add(const tnr_view& view, const char* name) {
  if (flat_count_ == 0 || !is_twin(view, out_.view, out_bytes_)) return add_stepwise(view, name);
  pins_.add(view, name);
  add_input(&view, out_width_);
  read_bytes_ += out_bytes_;
}

void Call::add_stepwise(const tnr_view& view, const char* name) {
  flat_count_ = 0;
  check_view(view, name, queue_.device());
  require_broadcast(view, name, out_.view);
  pins_.add(view, name);
  require_alias(out_.view, view, name, SameView::kAllowed);
  add_input(&view, static_cast<std::int64_t>(element_size(view.dtype)));
  read_bytes_ += element_bytes(view);
}

void Call::add(const tenure::Element& element, tnr_dtype dtype) {
  element_ = element;
  numbers_ |= 1u << input_count_;
  add_input(nullptr, static_cast<std::int64_t>(element_size(dtype)));
}

bool Call::is_in_place() const noexcept {
  return inputs_[0] != nullptr && inputs_[0]->data == out_.view.data && !is_empty();
}

LoopNest Call::nest() const {
  const tnr_view& out = out_.view;
  LoopNest nest(1 + input_count_);
  nest.set(0, {bytes_of(out), out_width_});
  for (unsigned i = 0; i < input_count_; ++i) {
    nest.set(1 + i, {inputs_[i] == nullptr ? nullptr : bytes_of(*inputs_[i]), widths_[i]});
  }
  for (std::uint32_t axis = 0; axis < out.rank; ++axis) {
    if (out.shape[axis] == 1) continue;
    std::int64_t steps[1 + kMostInputs] = {out.strides[axis] * out_width_};
    for (unsigned i = 0; i < input_count_; ++i) {
      steps[1 + i] = inputs_[i] == nullptr ? 0 : broadcast_step(*inputs_[i], out, axis);
    }
    nest.add(out.shape[axis], steps);
  }
  nest.order();
  return nest;
}

LoopNest Call::nest_of_units(std::int64_t unit_bytes) const {
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

void Call::launch(Kernel kernel, Vectors vectors, ElementwiseArgument& argument,
                  const LoopNest& nest) const {
  if (const unsigned blocks = share_out(nest, vectors.items, argument); blocks != 0) {
    return queue_.launch(kernel, {blocks, kThreads}, argument);
  }
  const LoopNest::Halves halves = nest.halves();
  launch(kernel, vectors, argument, halves.low);
  launch(kernel, vectors, argument, halves.high);
}

inline bool Call::launch_dense(Kernel kernel, Vectors vectors,
                               ElementwiseArgument& argument) const {
  if (flat_count_ == 0) return false;
  argument.out = const_cast<unsigned char*>(bytes_of(out_.view));
  for (unsigned i = 0; i < input_count_; ++i) {
    argument.in[i] = inputs_[i] == nullptr ? nullptr : bytes_of(*inputs_[i]);
  }
  const unsigned blocks = share_out_dense(flat_count_, out_width_, vectors.items, argument);
  if (blocks == 0) return false;
  queue_.launch(kernel, {blocks, kThreads}, argument);
  return true;
}

void Call::run(Kernel kernel, Vectors vectors, ElementwiseArgument& argument) const {
  if (is_empty()) return;
  argument.numbers = numbers_;
  std::memcpy(argument.number, element_.bytes, sizeof argument.number);
  argument.out_vector_bytes = vectors.items * static_cast<std::uint32_t>(out_width_);
  argument.in_vector_bytes = vectors.items * static_cast<std::uint32_t>(widths_[0]);
  const QueueOrder order(queue_, pins_);
  if (launch_dense(kernel, vectors, argument)) return;
  launch(kernel, vectors, argument, nest());
}

bool Call::run_and_find(Kernel kernel, Vectors vectors, ElementwiseArgument& argument) const {
  if (is_empty()) return false;
  const FindingWord<std::uint32_t> finding(queue_, 0);
  argument.finding = finding.data();
  run(kernel, vectors, argument);
  return finding.wait() != 0;
}

void Call::move(Bytes bytes) const {
  if (is_empty()) return;
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
      units.set(0, {bytes_of(out_.view) + at, unit});
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

void Call::select(Bytes bytes) const {
  if (is_empty()) return;
  const tnr_view& a = *inputs_[1];
  const tnr_view& b = *inputs_[2];
  const std::int64_t unit =
      unit_of(widths_[1],
              address_of(bytes_of(out_.view)) | address_of(bytes_of(a)) | address_of(bytes_of(b)),
              kMostSelectedUnit);
  ElementwiseArgument argument = empty_argument();
  if (bytes == Bytes::kAsBools) argument.out_type = ElementType::kBool8;
  const QueueOrder order(queue_, pins_);
  launch(kSelections[logarithm_of(unit)], vectors_of(unit), argument, nest_of_units(unit));
}

void Call::count(tnr_operation operation) const noexcept {
  count_call(operation, is_empty() ? 0 : read_bytes_, out_bytes_);
}

}  // namespace tenure::cuda
