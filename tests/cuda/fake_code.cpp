// The fake driver's code: libraries and modules with the kernels that are compiled for the host, and
// their launches.
#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "fake_state.hpp"

namespace fake {
namespace {

constexpr unsigned kSharedBytes = 48 << 10;

}  // namespace

Result library_load(Library* library, const void* code, int*, void**, unsigned jit_count, int*,
                    void**, unsigned library_count) {
  constexpr std::uint32_t kFatBinary = 0xba55ed50;
  std::uint32_t magic = kFatBinary;
  // A library without a fat binary passes nullptr.
  if (code != nullptr) std::memcpy(&magic, code, sizeof magic);
  if (magic != kFatBinary) return Result::kInvalidImage;
  if (jit_count != 0 || library_count != 0) return Result::kInvalidValue;
  static LibraryOfDriver loaded;
  loaded.is_loaded = true;
  *library = &loaded;
  return Result::kSuccess;
}

Result library_kernel(KernelHandle* kernel, Library library, const char* name) {
  if (library == nullptr || !library->is_loaded) return kInvalidHandle;
  const simt::Kernel* const found = simt::find_kernel(name);
  if (found == nullptr) return Result::kNotFound;
  static std::deque<KernelOfDriver> handles;  // for good, as those of a library that stays
  handles.push_back({found});
  *kernel = &handles.back();
  return Result::kSuccess;
}

namespace {

// For good, as those of a library that stays, and of modules: a stale one is seen.
Function function_of(const simt::Kernel* kernel, const ModuleOfDriver* module) {
  static std::deque<FunctionOfDriver> functions;
  functions.push_back({kernel, module, kSharedBytes});
  return &functions.back();
}

}  // namespace

Result kernel_function(Function* function, KernelHandle kernel) {
  *function = function_of(kernel->kernel, nullptr);
  return Result::kSuccess;
}

Result module_load(ModuleHandle* module, const void* code, unsigned count, int* options,
                   void** values) {
  if (current() == nullptr) return Result::kInvalidContext;
  if (count != 2 || options[0] != kJitErrorLog || options[1] != kJitErrorLogBytes) {
    return Result::kInvalidValue;
  }
  static std::deque<ModuleOfDriver> modules;
  modules.push_back({current(), {}, true});
  const Result result = read_image(code, modules.back().image);
  // Like the driver: cuts the text at the end of the buffer, without a terminating 0.
  std::strncpy(static_cast<char*>(values[0]), modules.back().image.log.c_str(),
               reinterpret_cast<std::uintptr_t>(values[1]));
  if (result != Result::kSuccess) {
    modules.pop_back();
    return result;
  }
  *module = &modules.back();
  return Result::kSuccess;
}

Result module_unload(ModuleHandle module) {
  if (!module->is_loaded || module->context != current()) return kInvalidHandle;
  module->is_loaded = false;
  for (const auto& stream : state().streams) {
    for (const Work& work : stream->work) {
      if (work.module == module) return fail_device("a module that work needs was unloaded");
    }
  }
  return Result::kSuccess;
}

Result module_function(Function* function, ModuleHandle module, const char* name) {
  if (!module->is_loaded || module->context != current()) return kInvalidHandle;
  const std::vector<std::string>& entries = module->image.entries;
  const simt::Kernel* const found = simt::find_kernel(name);
  const bool is_there =
      entries.empty() || std::find(entries.begin(), entries.end(), name) != entries.end();
  if (found == nullptr || !is_there) return Result::kNotFound;
  *function = function_of(found, module);
  return Result::kSuccess;
}

Result function_attribute(int* value, int which, Function function) {
  if (function == nullptr) return kInvalidHandle;
  switch (which) {
    case kFunctionMostThreads: *value = kMostThreads; break;
    case kFunctionSharedBytes: *value = 0; break;
    default: return Result::kInvalidValue;
  }
  return Result::kSuccess;
}

Result function_set(Function function, int which, int value) {
  if (which != kFunctionMostDynamicSharedBytes || value < 0 || value > kMostSharedBytes) {
    return Result::kInvalidValue;
  }
  function->most_dynamic_bytes = static_cast<unsigned>(value);
  return Result::kSuccess;
}

Result function_parameter(Function function, std::size_t index, std::size_t* offset,
                          std::size_t* bytes) {
  if (index >= function->kernel->parameter_count) return Result::kInvalidValue;
  *offset = function->kernel->parameters[index].offset;
  *bytes = function->kernel->parameters[index].bytes;
  return Result::kSuccess;
}

namespace {

bool is_size(const simt::Index& index, const int* most) {
  return index.x - 1 < static_cast<unsigned>(most[0]) &&
         index.y - 1 < static_cast<unsigned>(most[1]) &&
         index.z - 1 < static_cast<unsigned>(most[2]);
}

}  // namespace

Result launch(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
              unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
              Stream stream, void** parameters, void** extra) {
  Work work = {.step = Step::kKernel};
  work.blocks = {grid_x, grid_y, grid_z};
  work.threads = {block_x, block_y, block_z};
  if (!is_size(work.threads, kMostAlong) || !is_size(work.blocks, kMostAlong + 3) ||
      block_x * block_y * block_z > static_cast<unsigned>(kMostThreads) ||
      shared_bytes > function->most_dynamic_bytes || extra != nullptr) {
    return Result::kInvalidValue;
  }
  if (function->module != nullptr && !function->module->is_loaded) return kInvalidHandle;
  work.kernel = function->kernel;
  work.module = function->module;
  for (std::size_t i = 0; i < work.kernel->parameter_count; ++i) {
    const simt::Parameter& parameter = work.kernel->parameters[i];
    work.argument.resize(parameter.offset + parameter.bytes);
    std::memcpy(work.argument.data() + parameter.offset, parameters[i], parameter.bytes);
  }
  return enqueue(stream, std::move(work));
}

}  // namespace fake
