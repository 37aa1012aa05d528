#include "cuda/foreign_kernel.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "cuda/compiler.hpp"
#include "cuda/module_image.hpp"
#include "tenure/dtype.hpp"

namespace tenure::cuda {
namespace {

constexpr std::size_t kMostNameBytes = 1023;
constexpr std::uint32_t kMostCompilerOptions = 64;
constexpr char kAxisNames[] = "xyz";

void require_name(const char* name) {
  if (name == nullptr) fail(TNR_STATUS_INVALID_ARGUMENT, "name is NULL");
  const std::size_t length = strnlen(name, kMostNameBytes + 1);
  if (length != 0 && length <= kMostNameBytes) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "name has %s bytes but must have 1 to %zu",
       length == 0 ? "0" : "more", kMostNameBytes);
}

// A place in an array of the options.
struct ElementName {
  char text[32];
  ElementName(const char* array, std::uint32_t i) noexcept {
    std::snprintf(text, sizeof text, "%s[%" PRIu32 "]", array, i);
  }
};

void require_parameter(const tnr_kernel_parameter& parameter, std::uint32_t i) {
  const bool is_scalar = parameter.kind == TNR_KERNEL_ARGUMENT_KIND_SCALAR;
  if (!is_scalar && parameter.kind != TNR_KERNEL_ARGUMENT_KIND_INPUT &&
      parameter.kind != TNR_KERNEL_ARGUMENT_KIND_OUTPUT) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.kind is %" PRId32 ", which no kind of argument has",
         ElementName("parameters", i).text, parameter.kind);
  }
  const std::size_t width = element_size(parameter.dtype);
  if (width == 0 || (is_scalar && width > sizeof tnr_scalar{}.bytes)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s.dtype is 0x%08" PRIx32 " but must have whole bytes, and of a number at most %zu",
         ElementName("parameters", i).text, parameter.dtype, sizeof tnr_scalar{}.bytes);
  }
  const std::uint32_t most = is_scalar ? 0 : TNR_MAX_RANK;
  if (parameter.most_rank > most || parameter.least_rank > parameter.most_rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s has the ranks %" PRIu32 " to %" PRIu32 " but must have some of 0 to %" PRIu32,
         ElementName("parameters", i).text, parameter.least_rank, parameter.most_rank, most);
  }
  if ((parameter.flags & ~TNR_KERNEL_POINTER) != 0 || (is_scalar && parameter.flags != 0)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s.flags is 0x%" PRIx32 " but only 0x%x is known, and of a view",
         ElementName("parameters", i).text, parameter.flags, TNR_KERNEL_POINTER);
  }
  if (parameter.reserved != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.reserved is %" PRIu32 " but must be 0",
         ElementName("parameters", i).text, parameter.reserved);
  }
}

// The caller's options. Throws INVALID_ARGUMENT for too many, and for one that is NULL or empty.
std::vector<const char*> compiler_options(const tnr_kernel_options& options) {
  const std::uint32_t count = options.compiler_option_count;
  if (count > kMostCompilerOptions) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "compiler_option_count is %" PRIu32 " but must be at most %" PRIu32, count,
         kMostCompilerOptions);
  }
  if (count != 0 && options.compiler_options == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "compiler_options is NULL but compiler_option_count is %" PRIu32, count);
  }
  std::vector<const char*> result;
  for (std::uint32_t i = 0; i < count; ++i) {
    const char* const option = options.compiler_options[i];
    if (option == nullptr || *option == '\0') {
      fail(TNR_STATUS_INVALID_ARGUMENT, "%s is %s", ElementName("compiler_options", i).text,
           option == nullptr ? "NULL" : "empty");
    }
    result.push_back(option);
  }
  return result;
}

Module& load_image(const Device& device, const tnr_kernel_options& options) {
  if (options.compiler_option_count != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "compiler_option_count is %" PRIu32 " but must be 0 for an image",
         options.compiler_option_count);
  }
  return Modules::all().load(
      device, {copy_image(options.image, options.image_bytes), options.name, {}}, options.name);
}

Module& load_source(const Device& device, const tnr_kernel_options& options) {
  if (options.image_bytes != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "image_bytes is %" PRIu64 " but must be 0 for a source",
         options.image_bytes);
  }
  const KernelSource source = {options.source, options.name, compiler_options(options)};
  if (Module* const known = Modules::all().find(device, key_of(source, device))) return *known;
  return Modules::all().load(device, compile(source, device), options.name);
}

std::uint32_t at_least_0(int value) { return static_cast<std::uint32_t>(value < 0 ? 0 : value); }

}  // namespace

std::size_t parameter_bytes(const tnr_kernel_parameter& parameter) noexcept {
  if (parameter.kind == TNR_KERNEL_ARGUMENT_KIND_SCALAR) return element_size(parameter.dtype);
  const bool is_pointer = (parameter.flags & TNR_KERNEL_POINTER) != 0;
  return sizeof(void*) +
         (is_pointer ? 0 : 2 * std::size_t{parameter.most_rank} * sizeof(std::int64_t));
}

ForeignKernel::ForeignKernel(const Device& device, const tnr_kernel_options& options) {
  require_name(options.name);
  name_ = options.name;
  set_parameters(options);
  if ((options.image == nullptr) == (options.source == nullptr)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "image and source are %s NULL but one of them must be",
         options.image == nullptr ? "both" : "both not");
  }
  module_ = options.image != nullptr ? &load_image(device, options) : &load_source(device, options);
  try {
    const Current current(device);
    find_function();
    require_parameters();
    find_limits();
  } catch (...) {
    Modules::all().leave(*module_);
    throw;
  }
}

ForeignKernel::~ForeignKernel() {
  if (!is_driver_forgotten()) Modules::all().leave(*module_);
}

void ForeignKernel::set_parameters(const tnr_kernel_options& options) {
  if (options.parameter_count > TNR_MAX_KERNEL_PARAMETERS) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "parameter_count is %" PRIu32 " but must be at most %d",
         options.parameter_count, TNR_MAX_KERNEL_PARAMETERS);
  }
  if (options.parameter_count != 0 && options.parameters == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "parameters is NULL but parameter_count is %" PRIu32,
         options.parameter_count);
  }
  for (std::uint32_t i = 0; i < options.parameter_count; ++i) {
    parameters_[i] = options.parameters[i];
    require_parameter(parameters_[i], i);
  }
  parameter_count_ = options.parameter_count;
}

void ForeignKernel::find_function() {
  const Result found =
      opened_driver().module_function(&function_, module_->handle, module_->symbol.c_str());
  if (found == Result::kNotFound) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "name is %s, which no kernel of the image has", name());
  }
  require(found, name());
}

// The driver knows the number of the kernel's parameters and their sizes, and no more of them.
void ForeignKernel::require_parameters() const {
  const Driver& table = opened_driver();
  std::uint32_t i = 0;
  for (;; ++i) {
    std::size_t offset = 0;
    std::size_t size_bytes = 0;
    const Result result = table.function_parameter(function_, i, &offset, &size_bytes);
    if (result == Result::kInvalidValue) break;  // it has no more
    require(result, name());
    if (i >= parameter_count_) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "parameter_count is %" PRIu32 " but the kernel %s has more",
           parameter_count_, name());
    }
    if (size_bytes != parameter_bytes(parameters_[i])) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "%s is of %zu bytes as it is declared, but of %zu in the kernel %s",
           ElementName("parameters", i).text, parameter_bytes(parameters_[i]), size_bytes, name());
    }
  }
  if (i < parameter_count_) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "parameter_count is %" PRIu32 " but the kernel %s has %" PRIu32, parameter_count_, name(),
         i);
  }
}

void ForeignKernel::find_limits() {
  const Driver& table = opened_driver();
  const Device& device = this->device();
  for (int axis = 0; axis < 3; ++axis) {
    most_blocks_[axis] = at_least_0(device.attribute(kAttributeMostBlocksX + axis));
    most_threads_[axis] = at_least_0(device.attribute(kAttributeMostThreadsX + axis));
  }
  int threads = 0;
  int own_shared_bytes = 0;
  require(table.function_attribute(&threads, kFunctionMostThreads, function_), name());
  require(table.function_attribute(&own_shared_bytes, kFunctionSharedBytes, function_), name());
  most_threads_of_block_ = at_least_0(threads);
  // All that there is, which is more than a kernel may have without this.
  const int shared_bytes = device.attribute(kAttributeMostSharedBytes) - own_shared_bytes;
  most_shared_bytes_ = at_least_0(shared_bytes);
  if (most_shared_bytes_ == 0) return;
  require(table.function_set(function_, kFunctionMostDynamicSharedBytes, shared_bytes), name());
}

void ForeignKernel::require_grid(const tnr_kernel_grid& grid) const {
  std::uint64_t threads = 1;
  for (int axis = 0; axis < 3; ++axis) {
    if (grid.blocks[axis] == 0 || grid.blocks[axis] > most_blocks_[axis]) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "grid->blocks[%d] is %" PRIu32 " but the device takes 1 to %" PRIu32 " along %c", axis,
           grid.blocks[axis], most_blocks_[axis], kAxisNames[axis]);
    }
    if (grid.threads[axis] == 0 || grid.threads[axis] > most_threads_[axis]) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "grid->threads[%d] is %" PRIu32 " but the device takes 1 to %" PRIu32 " along %c", axis,
           grid.threads[axis], most_threads_[axis], kAxisNames[axis]);
    }
    threads *= grid.threads[axis];  // of numbers that devices take this is far below 2^64
  }
  if (threads > most_threads_of_block_) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "grid->threads are %" PRIu64 " in all, but the kernel %s can have %" PRIu32, threads,
         name(), most_threads_of_block_);
  }
  if (grid.shared_bytes > most_shared_bytes_) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "grid->shared_bytes is %" PRIu32 " but the kernel %s can have %" PRIu32, grid.shared_bytes,
         name(), most_shared_bytes_);
  }
  if (grid.reserved != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "grid->reserved is %" PRIu32 " but must be 0", grid.reserved);
  }
}

}  // namespace tenure::cuda
