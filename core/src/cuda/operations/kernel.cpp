// Kernels of callers: their handles, and launches.
#include "tenure/kernel.hpp"

#include <cinttypes>
#include <cstring>
#include <memory>

#include "cuda/foreign_kernel.hpp"
#include "cuda/queue.hpp"
#include "dense/operands.hpp"
#include "memory/handles.hpp"
#include "memory/queue_order.hpp"
#include "tenure/view.hpp"

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
    require_kind(i, argument);
    const tnr_kernel_parameter& parameter = kernel_.parameter(i);
    parameters_[i] = words_[i];
    views_[i] = nullptr;
    if (argument.scalar != nullptr) return add_scalar(i, *argument.scalar);
    const tnr_view& view = argument.input != nullptr ? *argument.input : argument.output->view;
    const char* const name = name_of(i);
    if (argument.input != nullptr) {
      check_view(view, name, queue_.device());
      pins_.add(view, name);
    } else {
      check_view_mut(*argument.output, name, queue_.device());
      pins_.add_mut(*argument.output, name);
    }
    require_layout(i, view, parameter);
    views_[i] = &view;
    set_view(words_[i], view, parameter);
  }

  // An output shares no byte with another argument.
  void require_apart() const {
    for (std::uint32_t out = 0; out < kernel_.parameter_count(); ++out) {
      if (kernel_.parameter(out).kind != TNR_KERNEL_ARGUMENT_KIND_OUTPUT) continue;
      for (std::uint32_t in = 0; in < kernel_.parameter_count(); ++in) {
        if (in == out || views_[in] == nullptr) continue;
        const Alias alias = alias_of(*views_[out], *views_[in]);
        if (alias == Alias::kNone) continue;
        fail(TNR_STATUS_ALIASED, "%s and %s %s", name_of(out), name_of(in),
             alias == Alias::kUndecided
                 ? "overlap as intervals, and whether they share a byte was not decided within "
                   "the search's budget"
                 : "share bytes");
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
  [[nodiscard]] const char* name_of(std::uint32_t i) const noexcept {
    const bool is_input = kernel_.parameter(i).kind == TNR_KERNEL_ARGUMENT_KIND_INPUT;
    return is_input ? kInputNames.text[i] : kOutputNames.text[i];
  }

  void require_kind(std::uint32_t i, const tnr_kernel_argument& argument) const {
    const tnr_kernel_argument_kind kind = kernel_.parameter(i).kind;
    const bool is_input = argument.input != nullptr;
    const bool is_output = argument.output != nullptr;
    const bool is_scalar = argument.scalar != nullptr;
    if (is_input == (kind == TNR_KERNEL_ARGUMENT_KIND_INPUT) &&
        is_output == (kind == TNR_KERNEL_ARGUMENT_KIND_OUTPUT) &&
        is_scalar == (kind == TNR_KERNEL_ARGUMENT_KIND_SCALAR)) [[likely]] {
      return;
    }
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "arguments[%" PRIu32 "] has%s%s%s%s but the kernel %s takes an %s there", i,
         is_input ? " an input" : "", is_output ? " an output" : "", is_scalar ? " a scalar" : "",
         is_input || is_output || is_scalar ? "" : " nothing", kernel_.name(), kind_name(kind));
  }

  void add_scalar(std::uint32_t i, const tnr_scalar& scalar) {
    const tnr_dtype wanted = kernel_.parameter(i).dtype;
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
    const bool is_pointer = (parameter.flags & TNR_KERNEL_POINTER) != 0;
    if (is_pointer && dense_count(view) == 0 && !is_empty(view)) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "%s is not row-major without gaps, but the kernel %s takes its address alone",
           name_of(i), kernel_.name());
    }
  }

  // As the table of tnr_kernel_parameter has it.
  static void set_view(std::int64_t* words, const tnr_view& view,
                       const tnr_kernel_parameter& parameter) noexcept {
    words[0] = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(view.data));
    if ((parameter.flags & TNR_KERNEL_POINTER) != 0) return;
    std::int64_t* const shape = words + 1;
    std::int64_t* const strides = shape + parameter.most_rank;
    const std::uint32_t front = parameter.most_rank - view.rank;
    for (std::uint32_t axis = 0; axis < parameter.most_rank; ++axis) {
      const bool is_there = axis >= front;
      shape[axis] = is_there ? view.shape[axis - front] : 1;
      strides[axis] = shape[axis] > 1 ? view.strides[axis - front] : 0;
    }
  }

  // A pointer, and an extent and a stride for each axis; or a number.
  static constexpr unsigned kMostWords = 1 + 2 * TNR_MAX_RANK;

  const Queue& queue_;
  const ForeignKernel& kernel_;
  Pins pins_;
  // Uninitialised beyond the arguments.
  void* parameters_[TNR_MAX_KERNEL_PARAMETERS];
  const tnr_view* views_[TNR_MAX_KERNEL_PARAMETERS];
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
