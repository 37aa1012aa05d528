// A driver with no device behind it, for machines that have none: the entry points that
// core/src/cuda/driver.hpp asks for, memory of the host, and the kernels as simt.hpp runs them. It
// is opened where TENURE_CUDA_DRIVER names it.
//
// Streams are lazy: work runs when the host waits for it, and then no more than events ask for, or
// also that of other streams, as the seed has it. An order that nobody asked for is therefore not
// there. All of the environment is read at each call:
//
//   TENURE_FAKE_CUDA_FAIL=NAME[:N[:CODE]]  the N-th call of an entry point fails (none: each does);
//                                          with a CODE of 700 to 799 the device does, for good
//   TENURE_FAKE_CUDA_LACKS=NAME            there is no such entry point
//   TENURE_FAKE_CUDA_VERSION=13000
//   TENURE_FAKE_CUDA_DEVICES=1             as many as there are
//   TENURE_FAKE_CUDA_MULTIPROCESSORS=5     of each, so few that grids do not hold all elements
//   TENURE_FAKE_CUDA_CAPABILITY=90         80 for 8.0
//   TENURE_FAKE_CUDA_MEMORY=BYTES          of each; read at the first call
//   TENURE_FAKE_CUDA_LEAKS=1               exits with 86 where memory is not freed at exit
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cuda/driver.hpp"
#include "fake_images.hpp"
#include "fake_memory.hpp"
#include "simt.hpp"

// The objects of the driver's handles.
namespace tenure::cuda {

struct PrimaryContextOfDriver {
  int device;
  unsigned retained;
};
struct PoolOfDriver {
  int device;
};
struct LibraryOfDriver {
  bool is_loaded;
};
struct KernelOfDriver {
  const simt::Kernel* kernel;
};
// A user's module. It stays when it is unloaded, so that its functions are known to be stale.
struct ModuleOfDriver {
  PrimaryContext context;
  fake::Image image;
  bool is_loaded;
};
struct FunctionOfDriver {
  const simt::Kernel* kernel;
  const ModuleOfDriver* module;  // nullptr for the library's own kernels
  unsigned most_dynamic_bytes;
};

}  // namespace tenure::cuda

namespace fake {
namespace {

// Its types have the names that the table of entry points uses.
using namespace tenure::cuda;

constexpr int kMostDevices = 8;
// Attributes of each device.
constexpr int kMostThreads = 1024;
constexpr int kMostAlong[] = {kMostThreads, kMostThreads, 64, INT_MAX, 65535, 65535};
constexpr unsigned kSharedBytes = 48 << 10;
constexpr int kMostSharedBytes = 227 << 10;  // for kernels that ask for it
constexpr Result kInvalidHandle = Result{400};

long number_of(const char* variable, long otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr && *text != '\0' ? std::strtol(text, nullptr, 10) : otherwise;
}

int count_of_devices() {
  const long count = number_of("TENURE_FAKE_CUDA_DEVICES", 1);
  return static_cast<int>(count < kMostDevices ? count : kMostDevices);
}

enum class Step { kKernel, kCopyIn, kCopyOut, kCopy, kFill, kFree, kRecord, kWait };

// One record of an event.
struct Mark {
  Stream stream;  // whose work before it is to be done
  bool is_done;
};

struct Work {
  Step step;
  Address out = 0;
  Address in = 0;
  std::size_t bytes = 0;
  unsigned char value = 0;
  const simt::Kernel* kernel = nullptr;
  const ModuleOfDriver* module = nullptr;
  simt::Index blocks = {};
  simt::Index threads = {};
  std::vector<unsigned char> argument = {};
  std::shared_ptr<Mark> mark = {};  // of an event, as it was then
};

}  // namespace
}  // namespace fake

namespace tenure::cuda {

struct StreamOfDriver {
  PrimaryContext context;
  std::deque<fake::Work> work;
  bool is_destroyed;
};
struct EventOfDriver {
  PrimaryContext context;
  std::shared_ptr<fake::Mark> mark;
};

}  // namespace tenure::cuda

namespace fake {
namespace {

struct State {
  std::mutex mutex;
  Memory memory{static_cast<std::size_t>(
      number_of("TENURE_FAKE_CUDA_MEMORY", static_cast<long>(std::size_t{8} << 30)))};
  bool is_started = false;
  PrimaryContextOfDriver contexts[kMostDevices] = {};
  PoolOfDriver pools[kMostDevices] = {};
  std::map<std::thread::id, std::vector<PrimaryContext>> pushed;
  std::vector<std::unique_ptr<StreamOfDriver>> streams;  // ended ones too: handles stay known
  StreamOfDriver* own_streams[kMostDevices][2] = {};     // legacy, per thread
  std::map<void*, std::size_t> pinned;
  std::minstd_rand random{static_cast<unsigned>(number_of("TENURE_SIMT_SEED", 1))};
  // A device that has failed answers with it for good.
  Result failure = Result::kSuccess;
  std::string failing;  // as the environment had it
  unsigned calls = 0;   // of the entry point that it names
};

// Never destroyed: streams may be waited for while the process ends.
State& state() {
  static State* const all = new State;
  return *all;
}

// Of the calling thread. Not thread_local, which is where simt.cpp has shared memory.
std::vector<PrimaryContext>& contexts() { return state().pushed[std::this_thread::get_id()]; }

PrimaryContext current() { return contexts().empty() ? nullptr : contexts().back(); }

// ---- work ----

Result fail_device(const char* what) {
  std::fprintf(stderr, "fake CUDA: %s\n", what);
  return state().failure = Result::kIllegalAddress;
}

Result run_to(StreamOfDriver& stream, const Mark* mark);

Result run(StreamOfDriver& stream, Work& work) {
  Memory& memory = state().memory;
  const auto out = reinterpret_cast<void*>(work.out);
  const auto in = reinterpret_cast<const void*>(work.in);
  const bool writes_device =
      work.step == Step::kCopyIn || work.step == Step::kCopy || work.step == Step::kFill;
  const bool reads_device = work.step == Step::kCopyOut || work.step == Step::kCopy;
  if ((writes_device && !memory.holds(work.out, work.bytes)) ||
      (reads_device && !memory.holds(work.in, work.bytes))) {
    return fail_device("a copy or fill beyond memory of the device");
  }
  switch (work.step) {
    case Step::kKernel: {
      const Memory::Open open(memory);
      simt::launch(*work.kernel, work.blocks, work.threads, work.argument.data());
      break;
    }
    case Step::kCopyIn:
    case Step::kCopyOut:
    case Step::kCopy: {
      const Memory::Open open(memory);
      std::memmove(out, in, work.bytes);
      break;
    }
    case Step::kFill: {
      const Memory::Open open(memory);
      std::memset(out, work.value, work.bytes);
      break;
    }
    case Step::kFree:
      if (!memory.free(work.out)) return fail_device("memory freed twice, or written beyond");
      break;
    case Step::kRecord: work.mark->is_done = true; break;
    case Step::kWait:
      if (!work.mark->is_done) return run_to(*work.mark->stream, work.mark.get());
      break;
  }
  static_cast<void>(stream);
  return state().failure;
}

// Up to that record; nullptr: all.
Result run_to(StreamOfDriver& stream, const Mark* mark) {
  while (!stream.work.empty() && (mark == nullptr || !mark->is_done)) {
    Work work = std::move(stream.work.front());
    stream.work.pop_front();
    const Result result = run(stream, work);
    if (result != Result::kSuccess) return result;
  }
  return state().failure;
}

// The work of other streams may run at any time.
void run_others() {
  State& all = state();
  for (const auto& stream : all.streams) {
    if (all.random() % 2 != 0) continue;
    for (auto left = all.random() % 4; left > 0 && !stream->work.empty(); --left) {
      Work work = std::move(stream->work.front());
      stream->work.pop_front();
      if (run(*stream, work) != Result::kSuccess) return;
    }
  }
}

// nullptr: no stream of the current context.
StreamOfDriver* stream_of(Stream handle) {
  State& all = state();
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (current() == nullptr) return nullptr;
  if (number == 1 || number == 2) {
    StreamOfDriver*& own = all.own_streams[current()->device][number - 1];
    if (own == nullptr) {
      all.streams.push_back(std::make_unique<StreamOfDriver>());
      own = all.streams.back().get();
      own->context = current();
    }
    return own;
  }
  for (const auto& stream : all.streams) {
    if (stream.get() == handle && !stream->is_destroyed && stream->context == current()) {
      return stream.get();
    }
  }
  return nullptr;
}

Result enqueue(Stream handle, Work work) {
  if (state().failure != Result::kSuccess) return state().failure;
  StreamOfDriver* const stream = stream_of(handle);
  if (stream == nullptr) return kInvalidHandle;
  stream->work.push_back(std::move(work));
  return Result::kSuccess;
}

bool is_device(DeviceNumber device) { return device >= 0 && device < count_of_devices(); }

// ---- entry points, by their names in the table ----

Result init(unsigned flags) {
  if (flags != 0) return Result::kInvalidValue;
  if (count_of_devices() == 0) return Result::kNoDevice;
  state().is_started = true;
  return Result::kSuccess;
}

Result driver_version(int* version) {
  *version = static_cast<int>(number_of("TENURE_FAKE_CUDA_VERSION", kOldestDriver));
  return Result::kSuccess;
}

Result error_name(Result result, const char** name) {
  *name = nullptr;
  switch (result) {
    case Result::kSuccess: *name = "CUDA_SUCCESS"; break;
    case Result::kInvalidValue: *name = "CUDA_ERROR_INVALID_VALUE"; break;
    case Result::kOutOfMemory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
    case Result::kNoDevice: *name = "CUDA_ERROR_NO_DEVICE"; break;
    case Result::kInvalidDevice: *name = "CUDA_ERROR_INVALID_DEVICE"; break;
    case Result::kInvalidContext: *name = "CUDA_ERROR_INVALID_CONTEXT"; break;
    case Result::kNotFound: *name = "CUDA_ERROR_NOT_FOUND"; break;
    case Result::kIllegalAddress: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; break;
    case Result::kUnknown: *name = "CUDA_ERROR_UNKNOWN"; break;
    default: return Result::kInvalidValue;
  }
  return Result::kSuccess;
}

Result error_string(Result result, const char** text) {
  const Result known = error_name(result, text);
  if (known == Result::kSuccess) *text = "an error of the fake driver";
  return known;
}

Result device_count(int* count) {
  *count = count_of_devices();
  return Result::kSuccess;
}

Result device_get(DeviceNumber* device, int ordinal) {
  if (!is_device(ordinal)) return Result::kInvalidDevice;
  *device = ordinal;
  return Result::kSuccess;
}

Result device_name(char* name, int size, DeviceNumber device) {
  if (!is_device(device)) return Result::kInvalidDevice;
  std::snprintf(name, static_cast<std::size_t>(size), "Fake GPU %d", device);
  return Result::kSuccess;
}

Result device_attribute(int* value, int which, DeviceNumber device) {
  if (!is_device(device)) return Result::kInvalidDevice;
  const auto capability = static_cast<int>(number_of("TENURE_FAKE_CUDA_CAPABILITY", 90));
  switch (which) {
    case kAttributeMultiprocessorCount:
      *value = static_cast<int>(number_of("TENURE_FAKE_CUDA_MULTIPROCESSORS", 5));
      break;
    case kAttributeComputeCapabilityMajor: *value = capability / 10; break;
    case kAttributeComputeCapabilityMinor: *value = capability % 10; break;
    case kAttributeMemoryPoolsSupported: *value = 1; break;
    case kAttributeMostSharedBytes: *value = kMostSharedBytes; break;
    default:
      if (which < kAttributeMostThreadsX || which >= kAttributeMostBlocksX + 3) {
        return Result::kInvalidValue;
      }
      *value = kMostAlong[which - kAttributeMostThreadsX];
  }
  return Result::kSuccess;
}

Result device_total_memory(std::size_t* bytes, DeviceNumber device) {
  if (!is_device(device)) return Result::kInvalidDevice;
  *bytes = static_cast<std::size_t>(
      number_of("TENURE_FAKE_CUDA_MEMORY", static_cast<long>(std::size_t{8} << 30)));
  return Result::kSuccess;
}

Result device_default_pool(Pool* pool, DeviceNumber device) {
  if (!is_device(device)) return Result::kInvalidDevice;
  *pool = &state().pools[device];
  (*pool)->device = device;
  return Result::kSuccess;
}

Result primary_retain(PrimaryContext* context, DeviceNumber device) {
  if (!is_device(device)) return Result::kInvalidDevice;
  *context = &state().contexts[device];
  (*context)->device = device;
  ++(*context)->retained;
  return Result::kSuccess;
}

Result context_current(PrimaryContext* context) {
  *context = current();
  return Result::kSuccess;
}

Result context_push(PrimaryContext context) {
  if (context == nullptr || context->retained == 0) return Result::kInvalidContext;
  contexts().push_back(context);
  return Result::kSuccess;
}

Result context_pop(PrimaryContext* context) {
  if (contexts().empty()) return Result::kInvalidContext;
  *context = contexts().back();
  contexts().pop_back();
  return Result::kSuccess;
}

Result context_synchronize() {
  if (current() == nullptr) return Result::kInvalidContext;
  for (const auto& stream : state().streams) {
    if (stream->context != current()) continue;
    const Result result = run_to(*stream, nullptr);
    if (result != Result::kSuccess) return result;
  }
  return state().failure;
}

Result stream_create(Stream* stream, unsigned flags) {
  if (flags > kStreamNonBlocking) return Result::kInvalidValue;
  if (current() == nullptr) return Result::kInvalidContext;
  state().streams.push_back(std::make_unique<StreamOfDriver>());
  *stream = state().streams.back().get();
  (*stream)->context = current();
  return Result::kSuccess;
}

// Its work goes on.
Result stream_destroy(Stream handle) {
  for (const auto& stream : state().streams) {
    if (stream.get() != handle || stream->is_destroyed) continue;
    stream->is_destroyed = true;
    return run_to(*stream, nullptr);
  }
  return kInvalidHandle;
}

Result stream_context(Stream handle, PrimaryContext* context) {
  for (const auto& stream : state().streams) {
    if (stream.get() != handle || stream->is_destroyed) continue;
    *context = stream->context;
    return Result::kSuccess;
  }
  return kInvalidHandle;
}

Result stream_synchronize(Stream handle) {
  StreamOfDriver* const stream = stream_of(handle);
  if (stream == nullptr) return kInvalidHandle;
  run_others();
  return run_to(*stream, nullptr);
}

Result stream_wait_event(Stream handle, Event event, unsigned flags) {
  if (flags != 0 || event == nullptr) return Result::kInvalidValue;
  // An event that nobody has recorded is over.
  if (event->mark == nullptr) return Result::kSuccess;
  Work work = {.step = Step::kWait};
  work.mark = event->mark;
  return enqueue(handle, std::move(work));
}

Result event_create(Event* event, unsigned flags) {
  if (flags != kEventDisableTiming) return Result::kInvalidValue;
  if (current() == nullptr) return Result::kInvalidContext;
  *event = new EventOfDriver{current(), nullptr};
  return Result::kSuccess;
}

Result event_record(Event event, Stream handle) {
  StreamOfDriver* const stream = stream_of(handle);
  if (stream == nullptr || event->context != current()) return kInvalidHandle;
  Work work = {.step = Step::kRecord};
  work.mark = event->mark = std::make_shared<Mark>(Mark{stream, false});
  return enqueue(handle, std::move(work));
}

Result event_query(Event event) {
  if (event == nullptr) return kInvalidHandle;
  if (state().failure != Result::kSuccess) return state().failure;
  // Time goes by, in which streams may have run.
  run_others();
  return event->mark == nullptr || event->mark->is_done ? Result::kSuccess : Result::kNotReady;
}

Result event_synchronize(Event event) {
  if (event == nullptr) return kInvalidHandle;
  run_others();
  if (event->mark == nullptr) return state().failure;
  return run_to(*event->mark->stream, event->mark.get());
}

Result event_destroy(Event event) {
  delete event;
  return Result::kSuccess;
}

Result allocate(Address* memory, std::size_t bytes, Stream handle) {
  if (bytes == 0) return Result::kInvalidValue;
  if (state().failure != Result::kSuccess) return state().failure;
  const StreamOfDriver* const stream = stream_of(handle);
  if (stream == nullptr) return kInvalidHandle;
  *memory = state().memory.allocate(bytes, stream->context->device);
  return *memory != 0 ? Result::kSuccess : Result::kOutOfMemory;
}

Result free(Address memory, Stream handle) {
  if (!state().memory.holds(memory, 1)) return Result::kInvalidValue;
  return enqueue(handle, {.step = Step::kFree, .out = memory});
}

// Memory of the host that this driver knows. Nobody frees it while work on it is to come.
Result allocate_pinned(void** memory, std::size_t bytes, unsigned flags) {
  if (bytes == 0 || flags != kPinnedPortable) return Result::kInvalidValue;
  if (current() == nullptr) return Result::kInvalidContext;
  void* const pages = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (pages == nullptr) return Result::kOutOfMemory;
  state().pinned[pages] = bytes;
  *memory = pages;
  return Result::kSuccess;
}

Result free_pinned(void* memory) {
  if (current() == nullptr) return Result::kInvalidContext;
  const auto found = state().pinned.find(memory);
  if (found == state().pinned.end()) return Result::kInvalidValue;
  const auto first = reinterpret_cast<std::uintptr_t>(memory);
  for (const auto& stream : state().streams) {
    for (const Work& work : stream->work) {
      const Address host = work.step == Step::kCopyIn    ? work.in
                           : work.step == Step::kCopyOut ? work.out
                                                         : 0;
      if (host >= first && host < first + found->second) {
        std::fprintf(stderr, "fake CUDA: pinned memory is freed that a copy has yet to use\n");
        std::abort();
      }
    }
  }
  std::free(memory);
  state().pinned.erase(found);
  return Result::kSuccess;
}

Result pool_trim(Pool pool, std::size_t) {
  return pool != nullptr ? Result::kSuccess : Result::kInvalidValue;
}

Result pool_set(Pool pool, int which, void* value) {
  const bool is_known = pool != nullptr && which == kPoolReleaseThreshold && value != nullptr;
  return is_known ? Result::kSuccess : Result::kInvalidValue;
}

// Memory of the host may be pinned, which a device reads and writes when the work runs.
Result copy_to_device(Address out, const void* in, std::size_t bytes, Stream stream) {
  const auto from = reinterpret_cast<std::uintptr_t>(in);
  return enqueue(stream, {.step = Step::kCopyIn, .out = out, .in = from, .bytes = bytes});
}

Result copy_to_host(void* out, Address in, std::size_t bytes, Stream stream) {
  const auto to = reinterpret_cast<std::uintptr_t>(out);
  return enqueue(stream, {.step = Step::kCopyOut, .out = to, .in = in, .bytes = bytes});
}

Result copy(Address out, Address in, std::size_t bytes, Stream stream) {
  return enqueue(stream, {.step = Step::kCopy, .out = out, .in = in, .bytes = bytes});
}

Result copy_between(Address out, PrimaryContext out_context, Address in, PrimaryContext in_context,
                    std::size_t bytes, Stream stream) {
  const Memory& memory = state().memory;
  if (out_context == nullptr || in_context == nullptr) return Result::kInvalidContext;
  if (memory.device_of(out) != out_context->device || memory.device_of(in) != in_context->device) {
    return Result::kInvalidValue;
  }
  return enqueue(stream, {.step = Step::kCopy, .out = out, .in = in, .bytes = bytes});
}

Result fill_bytes(Address out, unsigned char value, std::size_t bytes, Stream stream) {
  return enqueue(stream, {.step = Step::kFill, .out = out, .bytes = bytes, .value = value});
}

// Of the host's memory the driver knows nothing.
Result pointer_attribute(void* value, int which, Address memory) {
  const int device = state().memory.device_of(memory);
  if (device < 0) return Result::kInvalidValue;
  switch (which) {
    case kPointerMemoryType: std::memcpy(value, &kMemoryTypeDevice, 4); break;
    case kPointerIsManaged: std::memset(value, 0, 1); break;
    case kPointerDeviceOrdinal: std::memcpy(value, &device, 4); break;
    default: return Result::kInvalidValue;
  }
  return Result::kSuccess;
}

Result library_load(Library* library, const void* code, int*, void**, unsigned jit_count, int*,
                    void**, unsigned library_count) {
  constexpr std::uint32_t kFatBinary = 0xba55ed50;
  std::uint32_t magic = 0;
  std::memcpy(&magic, code, sizeof magic);
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

// For good, as those of a library that stays, and of modules: a stale one is seen.
Function function_of(const simt::Kernel* kernel, const ModuleOfDriver* module) {
  static std::deque<FunctionOfDriver> functions;
  functions.push_back({kernel, module, kSharedBytes});
  return &functions.back();
}

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
  // As the driver: cut where the buffer ends, with no 0 there.
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

bool is_size(const simt::Index& index, const int* most) {
  return index.x - 1 < static_cast<unsigned>(most[0]) &&
         index.y - 1 < static_cast<unsigned>(most[1]) &&
         index.z - 1 < static_cast<unsigned>(most[2]);
}

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

// ---- the table ----

// Whether this call of the entry point is one that fails, and how.
Result refusal_of(const char* name) {
  State& all = state();
  const char* const text = std::getenv("TENURE_FAKE_CUDA_FAIL");
  if (text == nullptr) {
    all.failing.clear();
    return Result::kSuccess;
  }
  if (all.failing != text) {
    all.failing = text;
    all.calls = 0;
  }
  const std::size_t length = std::strlen(name);
  if (std::strncmp(text, name, length) != 0 || (text[length] != ':' && text[length] != '\0')) {
    return Result::kSuccess;
  }
  char* rest = const_cast<char*>(text) + length;
  unsigned long number = 0;
  long code = std::strcmp(name, "cuMemAllocAsync") == 0 ? 2 : 999;
  if (*rest == ':') number = std::strtoul(rest + 1, &rest, 10);
  if (*rest == ':') code = std::strtol(rest + 1, &rest, 10);
  ++all.calls;
  return number == 0 || number == all.calls ? Result{static_cast<int>(code)} : Result::kSuccess;
}

// Codes that say that the device itself has failed: nothing runs on it any more.
bool is_of_device(Result result) {
  return static_cast<int>(result) >= 700 && static_cast<int>(result) < 800;
}
void end_device(Result failure) {
  state().failure = failure;
  for (const auto& stream : state().streams) stream->work.clear();
}

enum class Entry : unsigned {
#define TENURE_FAKE_ENTRY(member, name, version, parameters) member,
  TENURE_CUDA_ENTRY_POINTS(TENURE_FAKE_ENTRY)
#undef TENURE_FAKE_ENTRY
};

struct Listed {
  const char* name;
  int version;
  void* entry;
};

const char* listed_name(Entry entry);

// What a wait reports has ended the work before it.
template <Entry kEntry>
constexpr bool kWaits = kEntry == Entry::stream_synchronize || kEntry == Entry::event_synchronize ||
                        kEntry == Entry::context_synchronize;

// One call at a time. Before cuInit only what says so works.
template <Entry kEntry, auto kFunction>
struct Guarded;
template <Entry kEntry, class... Arguments, Result (*kFunction)(Arguments...)>
struct Guarded<kEntry, kFunction> {
  static Result call(Arguments... arguments) {
    const std::lock_guard lock(state().mutex);
    const bool is_free = kEntry == Entry::init || kEntry == Entry::driver_version ||
                         kEntry == Entry::error_name || kEntry == Entry::error_string;
    if (!is_free && !state().is_started) return Result::kNotInitialized;
    const Result refusal = refusal_of(listed_name(kEntry));
    if (is_of_device(refusal)) end_device(refusal);
    if (refusal == Result::kSuccess) return kFunction(arguments...);
    if constexpr (kWaits<kEntry>) kFunction(arguments...);
    return refusal;
  }
};

const Listed kListed[] = {
#define TENURE_FAKE_LISTED(member, name, version, parameters) \
  {name, version, reinterpret_cast<void*>(&Guarded<Entry::member, &member>::call)},
    TENURE_CUDA_ENTRY_POINTS(TENURE_FAKE_LISTED)
#undef TENURE_FAKE_LISTED
};

const char* listed_name(Entry entry) { return kListed[static_cast<unsigned>(entry)].name; }

// At the end of the process.
struct LeakCheck {
  ~LeakCheck() {
    const Memory& memory = state().memory;
    const std::size_t pinned_count = state().pinned.size();
    if (memory.live_count() + pinned_count == 0) return;
    if (number_of("TENURE_FAKE_CUDA_LEAKS", 0) == 0) return;
    std::fprintf(
        stderr,
        "fake CUDA: %zu bytes in %zu allocations, and %zu of pinned memory, are not freed\n",
        memory.live_bytes(), memory.live_count(), pinned_count);
    _exit(86);
  }
};
const LeakCheck g_leak_check;

}  // namespace
}  // namespace fake

extern "C" [[gnu::visibility("default")]] tenure::cuda::Result cuGetProcAddress_v2(
    const char* name, void** entry, int version, std::uint64_t flags, int* query);

tenure::cuda::Result cuGetProcAddress_v2(const char* name, void** entry, int version,
                                         std::uint64_t flags, int* query) {
  const char* const lacking = std::getenv("TENURE_FAKE_CUDA_LACKS");
  *entry = nullptr;
  *query = 1;  // there is no such symbol
  if (flags != 0) return tenure::cuda::Result::kInvalidValue;
  if (lacking != nullptr && std::strcmp(lacking, name) == 0) {
    return tenure::cuda::Result::kNotFound;
  }
  for (const fake::Listed& listed : fake::kListed) {
    if (std::strcmp(listed.name, name) != 0) continue;
    if (version < listed.version) break;
    *entry = listed.entry;
    *query = 0;
    return tenure::cuda::Result::kSuccess;
  }
  return tenure::cuda::Result::kNotFound;
}
