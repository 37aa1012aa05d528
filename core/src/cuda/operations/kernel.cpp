// Kernels of callers: their handles, and launches.
#include "tenure/kernel.hpp"

#include <cinttypes>
#include <cstring>
#include <memory>

#include "cuda/foreign_kernel.hpp"
#include "cuda/queue.hpp"
#include "memory/handles.hpp"
#include "memory/queue_order.hpp"
#include "tenure/counters.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"
#include "view/plain.hpp"

namespace tenure {
namespace cuda {
namespace {

using KernelHandles = Handles<ForeignKernel, kKernelKind>;
constexpr KernelHandles kKernels(kernel_table, "kernel", "kernel");

const Queue& queue_of_kernels(const Context& context) {
  if (context.queue() == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "the context has no device, which a kernel runs on");
  }
  return static_cast<const Queue&>(*context.queue());  // CUDA's is the only kind
}

// "arguments[3].input": made when the library is, since a launch has no time for it.
struct ArgumentNames {
  char text[TNR_MAX_KERNEL_PARAMETERS][24] = {};

  explicit constexpr ArgumentNames(const char* field) {
    for (unsigned i = 0; i < TNR_MAX_KERNEL_PARAMETERS; ++i) {
      unsigned at = 0;
      const auto add = [&](const char* part) {
        for (; *part != '\0'; ++part) text[i][at++] = *part;
      };
      add("arguments[");
      if (i >= 10) text[i][at++] = static_cast<char>('0' + i / 10);
      text[i][at++] = static_cast<char>('0' + i % 10);
      add("].");
      add(field);
    }
  }
};
constexpr ArgumentNames kInputNames("input");
constexpr ArgumentNames kOutputNames("output");

const char* kind_name(tnr_kernel_argument_kind kind) {
  switch (kind) {
    case TNR_KERNEL_ARGUMENT_KIND_INPUT: return "input";
    case TNR_KERNEL_ARGUMENT_KIND_OUTPUT: return "output";
    default: return "scalar";
  }
}

// The arguments of one launch. While it lives, the owners of its views are pinned.
class Arguments {
 public:
  Arguments(const Queue& queue, const ForeignKernel& kernel) : queue_(queue), kernel_(kernel) {}
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  void add(std::uint32_t i, const tnr_kernel_argument& argument) {
    const tnr_kernel_parameter& parameter = kernel_.parameter(i);
    parameters_[i] = words_[i];
    if (parameter.kind == TNR_KERNEL_ARGUMENT_KIND_SCALAR) {
      require_kind(i, argument, argument.scalar, argument.input, argument.output);
      return add_scalar(i, *argument.scalar, parameter);
    }
    if (parameter.kind == TNR_KERNEL_ARGUMENT_KIND_INPUT) {
      require_kind(i, argument, argument.input, argument.output, argument.scalar);
      return add_view(i, *argument.input, parameter, Pins::Access::kRead);
    }
    require_kind(i, argument, argument.output, argument.input, argument.scalar);
    outputs_[output_count_++] = view_count_;
    add_view(i, argument.output->view, parameter, Pins::Access::kWrite);
  }

  // An output shares no byte with another argument.
  void require_apart() const {
    for (std::uint32_t i = 0; i < output_count_; ++i) {
      const std::uint32_t out = outputs_[i];
      for (std::uint32_t in = 0; in < view_count_; ++in) {
        if (in == out) continue;
        const Alias alias = alias_of(*views_[out].view, *views_[in].view);
        if (alias != Alias::kNone) [[unlikely]]
          refuse_alias(views_[out].index, views_[in].index, alias);
      }
    }
  }

  void launch(const tnr_kernel_grid& grid) {
    const QueueOrder order(queue_, pins_);
    const Current current(queue_.opened_device());
    count_launch();
    const Result result = opened_driver().launch(
        kernel_.function(), grid.blocks[0], grid.blocks[1], grid.blocks[2], grid.threads[0],
        grid.threads[1], grid.threads[2], grid.shared_bytes, queue_.handle(), parameters_, nullptr);
    if (result != Result::kSuccess) [[unlikely]]
      refuse(result, kernel_.name());
  }

 private:
  [[noreturn, gnu::cold]] void refuse_alias(std::uint32_t out, std::uint32_t in,
                                            Alias alias) const {
    fail(TNR_STATUS_ALIASED, "%s and %s %s", name_of(out), name_of(in),
         alias == Alias::kUndecided
             ? "overlap as intervals, and whether they share a byte was not decided within the "
               "search's budget"
             : "share bytes");
  }

  [[nodiscard]] const char* name_of(std::uint32_t i) const noexcept {
    const bool is_input = kernel_.parameter(i).kind == TNR_KERNEL_ARGUMENT_KIND_INPUT;
    return is_input ? kInputNames.text[i] : kOutputNames.text[i];
  }

  // `wanted` is there, and no other.
  void require_kind(std::uint32_t i, const tnr_kernel_argument& argument, const void* wanted,
                    const void* other, const void* another) const {
    if (wanted == nullptr || other != nullptr || another != nullptr) [[unlikely]]
      refuse_kind(i, argument);
  }

  [[noreturn, gnu::cold]] void refuse_kind(std::uint32_t i,
                                           const tnr_kernel_argument& argument) const {
    const bool is_input = argument.input != nullptr;
    const bool is_output = argument.output != nullptr;
    const bool is_scalar = argument.scalar != nullptr;
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "arguments[%" PRIu32 "] has%s%s%s%s but the kernel %s takes an %s there", i,
         is_input ? " an input" : "", is_output ? " an output" : "", is_scalar ? " a scalar" : "",
         is_input || is_output || is_scalar ? "" : " nothing", kernel_.name(),
         kind_name(kernel_.parameter(i).kind));
  }

  // Out of line, so that it does not take registers from the caller.
  [[gnu::noinline]] void add_view(std::uint32_t i, const tnr_view& view,
                                  const tnr_kernel_parameter& parameter, Pins::Access access) {
    const bool is_plain = plain_count(view, queue_.device()) != 0;
    if (!is_plain) check_stepwise(i, view, access);
    if (view.owner != 0) {
      const Pins::Fault fault = pins_.pin(view, access);
      if (fault != Pins::Fault::kNone) [[unlikely]]
        throw pins_.error(fault, view, name_of(i));
    }
    require_layout(i, view, parameter);
    if (!is_plain) require_dense(i, view, parameter);
    views_[view_count_++] = {&view, i};
    set_view(words_[i], view, parameter);
  }

  // The reference implementation of plain_count().
  [[gnu::noinline]] void check_stepwise(std::uint32_t i, const tnr_view& view,
                                        Pins::Access access) const {
    check_view(view, name_of(i), queue_.device());
    if (access == Pins::Access::kWrite) check_view_mut({view}, name_of(i), queue_.device());
  }

  void add_scalar(std::uint32_t i, const tnr_scalar& scalar,
                  const tnr_kernel_parameter& parameter) {
    const tnr_dtype wanted = parameter.dtype;
    if (scalar.dtype != wanted) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "arguments[%" PRIu32 "].scalar has the dtype %s but the kernel %s takes %s there", i,
           dtype_name(scalar.dtype), kernel_.name(), dtype_name(wanted));
    }
    if (scalar.reserved != 0) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "arguments[%" PRIu32 "].scalar has reserved %" PRIu32 " but must have 0", i,
           scalar.reserved);
    }
    std::memcpy(words_[i], scalar.bytes, sizeof scalar.bytes);
  }

  void require_layout(std::uint32_t i, const tnr_view& view,
                      const tnr_kernel_parameter& parameter) const {
    if (view.dtype != parameter.dtype) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "%s.dtype is %s but the kernel %s takes %s there",
           name_of(i), dtype_name(view.dtype), kernel_.name(), dtype_name(parameter.dtype));
    }
    if (view.rank < parameter.least_rank || view.rank > parameter.most_rank) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "%s.rank is %" PRIu32 " but the kernel %s takes %" PRIu32 " to %" PRIu32 " there",
           name_of(i), view.rank, kernel_.name(), parameter.least_rank, parameter.most_rank);
    }
  }

  void require_dense(std::uint32_t i, const tnr_view& view,
                     const tnr_kernel_parameter& parameter) const {
    const bool is_pointer = (parameter.flags & TNR_KERNEL_POINTER) != 0;
    if (is_pointer && dense_count(view) == 0 && !is_empty(view)) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "%s is not row-major without gaps, but the kernel %s takes its address alone",
           name_of(i), kernel_.name());
    }
  }

  // Writes the words in the order of the table of tnr_kernel_parameter.
  static void set_view(std::int64_t* words, const tnr_view& view,
                       const tnr_kernel_parameter& parameter) noexcept {
    words[0] = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(view.data));
    if ((parameter.flags & TNR_KERNEL_POINTER) != 0) return;
    std::int64_t* const shape = words + 1;
    std::int64_t* const strides = shape + parameter.most_rank;
    const std::uint32_t front = parameter.most_rank - view.rank;
    for (std::uint32_t axis = 0; axis < front; ++axis) {
      shape[axis] = 1;
      strides[axis] = 0;
    }
    for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
      const std::int64_t extent = view.shape[axis];
      shape[front + axis] = extent;
      strides[front + axis] = extent > 1 ? view.strides[axis] : 0;
    }
  }

  struct Lent {
    const tnr_view* view;
    std::uint32_t index;  // of the argument
  };

  // A pointer, and an extent and a stride for each axis; or a number.
  static constexpr unsigned kMostWords = 1 + 2 * TNR_MAX_RANK;

  const Queue& queue_;
  const ForeignKernel& kernel_;
  Pins pins_;
  std::uint32_t view_count_ = 0;
  std::uint32_t output_count_ = 0;
  // Uninitialised beyond the arguments.
  void* parameters_[TNR_MAX_KERNEL_PARAMETERS];
  Lent views_[TNR_MAX_KERNEL_PARAMETERS];
  std::uint32_t outputs_[TNR_MAX_KERNEL_PARAMETERS];  // places in views_
  std::int64_t words_[TNR_MAX_KERNEL_PARAMETERS][kMostWords];
};

void launch_kernel(const Queue& queue, const ForeignKernel& kernel, const tnr_kernel_grid& grid,
                   const tnr_kernel_argument* arguments, std::uint32_t argument_count) {
  if (queue.device().index != kernel.device().index()) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "the kernel %s is on cuda:%" PRId32 " but the context's device is %s", kernel.name(),
         kernel.device().index(), DeviceName(queue.device()).text);
  }
  kernel.require_grid(grid);
  if (argument_count != kernel.parameter_count()) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "argument_count is %" PRIu32 " but the kernel %s takes %" PRIu32, argument_count,
         kernel.name(), kernel.parameter_count());
  }
  if (argument_count != 0 && arguments == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "arguments is NULL but argument_count is %" PRIu32,
         argument_count);
  }
  Arguments checked(queue, kernel);
  for (std::uint32_t i = 0; i < argument_count; ++i) checked.add(i, arguments[i]);
  checked.require_apart();
  checked.launch(grid);
}

}  // namespace
}  // namespace cuda

KernelToken kernel_create(const Context& context, const tnr_kernel_options& options) {
  const cuda::Queue& queue = cuda::queue_of_kernels(context);
  return cuda::kKernels.open(
      std::make_unique<const cuda::ForeignKernel>(queue.opened_device(), options));
}

void kernel_retain(KernelToken token) { cuda::kKernels.retain(token); }

void kernel_release(KernelToken token) { cuda::kKernels.release(token); }

void kernel_launch(const Context& context, KernelToken token, const tnr_kernel_grid& grid,
                   const tnr_kernel_argument* arguments, std::uint32_t argument_count) {
  const cuda::KernelHandles::Use use(cuda::kKernels, token);
  cuda::launch_kernel(cuda::queue_of_kernels(context), use.object(), grid, arguments,
                      argument_count);
}

}  // namespace tenure
