// The state of the fake driver: the objects of its handles, the work of its streams, and the
// functions that its entry points share.
#pragma once

#include <climits>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
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

// Its types have the names that the table of entry points uses.
using namespace tenure::cuda;

inline constexpr int kMostDevices = 8;
// Attributes of each device.
inline constexpr int kMostThreads = 1024;
inline constexpr int kMostAlong[] = {kMostThreads, kMostThreads, 64, INT_MAX, 65535, 65535};
inline constexpr int kMostSharedBytes = 227 << 10;  // for kernels that ask for it

inline constexpr Result kInvalidHandle = Result{400};
inline constexpr Result kIllegalState = Result{401};
// CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, _INVALIDATED, _ISOLATION and _WRONG_THREAD.
inline constexpr Result kCaptureUnsupported = Result{900};
inline constexpr Result kCaptureInvalidated = Result{901};
inline constexpr Result kCaptureIsolation = Result{905};
inline constexpr Result kCaptureWrongThread = Result{908};

// Numbers from the environment.
long number_of(const char* variable, long otherwise);
int count_of_devices();

enum class Step { kKernel, kCopyIn, kCopyOut, kCopy, kFill, kFree, kRecord, kWait, kCall };

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
  // The work of a library's call. Returns false for memory that is not the device's.
  std::function<bool()> call = {};
};

// The work that a stream gets while it is captured. None of it runs.
struct Capture {
  std::thread::id thread;
  std::vector<Work> work;
  bool is_invalid;  // after a call that no capture takes
};

}  // namespace fake

namespace tenure::cuda {

struct StreamOfDriver {
  PrimaryContext context;
  std::deque<fake::Work> work;
  bool is_destroyed;
  std::unique_ptr<fake::Capture> capture;
};
struct EventOfDriver {
  PrimaryContext context;
  std::shared_ptr<fake::Mark> mark;
};
struct GraphOfDriver {
  PrimaryContext context;
  std::vector<fake::Work> work;
};
struct GraphRunOfDriver {
  PrimaryContext context;
  std::vector<fake::Work> work;
  std::shared_ptr<fake::Mark> last;  // the end of its last launch
};

}  // namespace tenure::cuda

namespace fake {

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
  std::size_t graph_count = 0;       // with those that can be launched
  std::size_t descriptor_count = 0;  // of libraries
  std::minstd_rand random{static_cast<unsigned>(number_of("TENURE_SIMT_SEED", 1))};
  // A device that has failed answers with it for good.
  Result failure = Result::kSuccess;
  std::string failing;  // as the environment had it
  unsigned calls = 0;   // of the entry point that it names
};

State& state();
// The contexts that the calling thread has pushed, and the last of them or nullptr.
std::vector<PrimaryContext>& contexts();
PrimaryContext current();

// fake_streams.cpp: the failure of all devices, for good.
Result fail_device(const char* what);
// Up to that record; nullptr: all.
Result run_to(StreamOfDriver& stream, const Mark* mark);
// The work of other streams may run at any time.
void run_others();
// nullptr: no stream of the current context.
StreamOfDriver* stream_of(Stream handle);
Result enqueue(Stream handle, Work work);
// fake_graphs.cpp: what becomes of work on a stream that is captured.
Result capture(Capture& capture, Work work);
// The capture of the calling thread, or nullptr.
Capture* own_capture();

// The entry points, by their names in the table.
#define TENURE_FAKE_DECLARED(member, name, version, parameters) Result member parameters;
TENURE_CUDA_ALL_ENTRY_POINTS(TENURE_FAKE_DECLARED)
#undef TENURE_FAKE_DECLARED

}  // namespace fake
