// The CUDA driver, opened while the program runs: nothing is linked, and a machine without it has
// no device.
//
// The types and entry points are those of the driver's C interface, declared here as far as they
// are used, so that no toolkit is needed to compile the library. Each entry point is looked up with
// the CUDA version that has the meaning declared here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/shared_library.hpp"
#include "tenure/status.hpp"

namespace tenure::cuda {

// CUresult. A driver may give others.
enum class Result : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kInvalidPtx = 218,
  kUnsupportedPtx = 222,
  kInvalidSource = 300,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kUnknown = 999,
};

// CUcontext, CUstream and so on: handles that only the driver looks into.
using DeviceNumber = int;
using PrimaryContext = struct PrimaryContextOfDriver*;
using Stream = struct StreamOfDriver*;
using Event = struct EventOfDriver*;
using Pool = struct PoolOfDriver*;
using Library = struct LibraryOfDriver*;
using ModuleHandle = struct ModuleOfDriver*;
using KernelHandle = struct KernelOfDriver*;
using Function = struct FunctionOfDriver*;
using Graph = struct GraphOfDriver*;
using GraphRun = struct GraphRunOfDriver*;  // CUgraphExec
using Address = unsigned long long;         // CUdeviceptr

// Numbers of the driver's enumerations.
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kPinnedPortable = 1;
// CU_STREAM_LEGACY and CU_STREAM_PER_THREAD.
inline constexpr std::uint64_t kLegacyStream = 1;
inline constexpr std::uint64_t kPerThreadStream = 2;
// Each the first of three: along x, y and z.
inline constexpr int kAttributeMostThreadsX = 2;
inline constexpr int kAttributeMostBlocksX = 5;
inline constexpr int kAttributeMultiprocessorCount = 16;
inline constexpr int kAttributeComputeCapabilityMajor = 75;
inline constexpr int kAttributeComputeCapabilityMinor = 76;
inline constexpr int kAttributeMostSharedBytes = 97;  // that a block may ask for
inline constexpr int kAttributeMemoryPoolsSupported = 115;
inline constexpr int kFunctionMostThreads = 0;
inline constexpr int kFunctionSharedBytes = 1;
inline constexpr int kFunctionMostDynamicSharedBytes = 8;
inline constexpr int kJitErrorLog = 5;
inline constexpr int kJitErrorLogBytes = 6;
inline constexpr int kPoolReleaseThreshold = 4;
inline constexpr int kPointerMemoryType = 2;
inline constexpr int kPointerIsManaged = 8;
inline constexpr int kPointerDeviceOrdinal = 9;
inline constexpr unsigned kMemoryTypeDevice = 2;
inline constexpr int kCaptureThreadLocal = 1;

// X(member, the driver's name, CUDA version * 1000 as the driver counts it, parameters)
#define TENURE_CUDA_ENTRY_POINTS(X)                                                                \
  X(init, "cuInit", 2000, (unsigned flags))                                                        \
  X(driver_version, "cuDriverGetVersion", 2020, (int* version))                                    \
  X(error_name, "cuGetErrorName", 6000, (Result result, const char** name))                        \
  X(error_string, "cuGetErrorString", 6000, (Result result, const char** text))                    \
  X(device_count, "cuDeviceGetCount", 2000, (int* count))                                          \
  X(device_get, "cuDeviceGet", 2000, (DeviceNumber * device, int ordinal))                         \
  X(device_name, "cuDeviceGetName", 2000, (char* name, int size, DeviceNumber device))             \
  X(device_attribute, "cuDeviceGetAttribute", 2000, (int* value, int which, DeviceNumber device))  \
  X(device_total_memory, "cuDeviceTotalMem", 3020, (std::size_t* bytes, DeviceNumber device))      \
  X(device_default_pool, "cuDeviceGetDefaultMemPool", 11020, (Pool * pool, DeviceNumber device))   \
  X(primary_retain, "cuDevicePrimaryCtxRetain", 7000,                                              \
    (PrimaryContext * context, DeviceNumber device))                                               \
  X(context_current, "cuCtxGetCurrent", 4000, (PrimaryContext * context))                          \
  X(context_push, "cuCtxPushCurrent", 4000, (PrimaryContext context))                              \
  X(context_pop, "cuCtxPopCurrent", 4000, (PrimaryContext * context))                              \
  X(context_synchronize, "cuCtxSynchronize", 2000, ())                                             \
  X(stream_create, "cuStreamCreate", 2000, (Stream * stream, unsigned flags))                      \
  X(stream_destroy, "cuStreamDestroy", 4000, (Stream stream))                                      \
  X(stream_context, "cuStreamGetCtx", 9020, (Stream stream, PrimaryContext * context))             \
  X(stream_synchronize, "cuStreamSynchronize", 2000, (Stream stream))                              \
  X(stream_wait_event, "cuStreamWaitEvent", 3020, (Stream stream, Event event, unsigned flags))    \
  X(event_create, "cuEventCreate", 2000, (Event * event, unsigned flags))                          \
  X(event_record, "cuEventRecord", 2000, (Event event, Stream stream))                             \
  X(event_query, "cuEventQuery", 2000, (Event event))                                              \
  X(event_synchronize, "cuEventSynchronize", 2000, (Event event))                                  \
  X(event_destroy, "cuEventDestroy", 4000, (Event event))                                          \
  X(allocate, "cuMemAllocAsync", 11020, (Address * memory, std::size_t bytes, Stream stream))      \
  X(free, "cuMemFreeAsync", 11020, (Address memory, Stream stream))                                \
  X(allocate_pinned, "cuMemHostAlloc", 2020, (void** memory, std::size_t bytes, unsigned flags))   \
  X(free_pinned, "cuMemFreeHost", 2000, (void* memory))                                            \
  X(pool_trim, "cuMemPoolTrimTo", 11020, (Pool pool, std::size_t kept_bytes))                      \
  X(pool_set, "cuMemPoolSetAttribute", 11020, (Pool pool, int which, void* value))                 \
  X(copy_to_device, "cuMemcpyHtoDAsync", 3020,                                                     \
    (Address out, const void* in, std::size_t bytes, Stream stream))                               \
  X(copy_to_host, "cuMemcpyDtoHAsync", 3020,                                                       \
    (void* out, Address in, std::size_t bytes, Stream stream))                                     \
  X(copy, "cuMemcpyDtoDAsync", 3020, (Address out, Address in, std::size_t bytes, Stream stream))  \
  X(copy_between, "cuMemcpyPeerAsync", 4000,                                                       \
    (Address out, PrimaryContext out_context, Address in, PrimaryContext in_context,               \
     std::size_t bytes, Stream stream))                                                            \
  X(fill_bytes, "cuMemsetD8Async", 3020,                                                           \
    (Address out, unsigned char value, std::size_t bytes, Stream stream))                          \
  X(pointer_attribute, "cuPointerGetAttribute", 4000, (void* value, int which, Address memory))    \
  X(library_load, "cuLibraryLoadData", 12000,                                                      \
    (Library * library, const void* code, int* jit_options, void** jit_values, unsigned jit_count, \
     int* library_options, void** library_values, unsigned library_count))                         \
  X(library_kernel, "cuLibraryGetKernel", 12000,                                                   \
    (KernelHandle * kernel, Library library, const char* name))                                    \
  X(kernel_function, "cuKernelGetFunction", 12000, (Function * function, KernelHandle kernel))     \
  X(module_load, "cuModuleLoadDataEx", 2010,                                                       \
    (ModuleHandle * module, const void* image, unsigned count, int* options, void** values))       \
  X(module_unload, "cuModuleUnload", 2000, (ModuleHandle module))                                  \
  X(module_function, "cuModuleGetFunction", 2000,                                                  \
    (Function * function, ModuleHandle module, const char* name))                                  \
  X(function_attribute, "cuFuncGetAttribute", 2020, (int* value, int which, Function function))    \
  X(function_set, "cuFuncSetAttribute", 9000, (Function function, int which, int value))           \
  X(function_parameter, "cuFuncGetParamInfo", 12040,                                               \
    (Function function, std::size_t index, std::size_t* offset, std::size_t* bytes))               \
  X(launch, "cuLaunchKernel", 4000,                                                                \
    (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,       \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters,  \
     void** extra))

// Entry points that only recorded work needs: nullptr where the driver lacks one. All else works
// then.
#define TENURE_CUDA_GRAPH_ENTRY_POINTS(X)                                     \
  X(capture_begin, "cuStreamBeginCapture", 10010, (Stream stream, int mode))  \
  X(capture_end, "cuStreamEndCapture", 10000, (Stream stream, Graph * graph)) \
  X(graph_instantiate, "cuGraphInstantiateWithFlags", 11040,                  \
    (GraphRun * run, Graph graph, unsigned long long flags))                  \
  X(graph_launch, "cuGraphLaunch", 10000, (GraphRun run, Stream stream))      \
  X(graph_run_destroy, "cuGraphExecDestroy", 10000, (GraphRun run))           \
  X(graph_destroy, "cuGraphDestroy", 10000, (Graph graph))

#define TENURE_CUDA_ALL_ENTRY_POINTS(X) \
  TENURE_CUDA_ENTRY_POINTS(X)           \
  TENURE_CUDA_GRAPH_ENTRY_POINTS(X)

struct Driver {
#define TENURE_CUDA_MEMBER(member, name, version, parameters) Result(*member) parameters = nullptr;
  TENURE_CUDA_ALL_ENTRY_POINTS(TENURE_CUDA_MEMBER)
#undef TENURE_CUDA_MEMBER
  // nullptr for a driver of GPUs. A driver that answers to kOwnKernels has the library's kernels
  // compiled for the CPU (tests/cuda), and needs no fat binary.
  void* own_kernels = nullptr;
};
inline constexpr const char* kOwnKernels = "tenureOwnKernels";

// The oldest driver whose SASS and PTX ours are: that of the toolkit which made the kernels.
inline constexpr int kOldestDriver = 13000;

// The driver, opened and initialised by the first call. Throws UNSUPPORTED where there is none that
// can be used: no library of that name, an entry point that it lacks, a version before
// kOldestDriver, or a driver that cannot start. A later call looks again.
const Driver& driver();
// Opens the driver as driver() does, and returns the error where no library has that name.
Refusal driver_refusal();
extern constinit OpenedOnce<Driver> g_driver;
// The driver, which was opened before: nothing of a device exists without it.
inline const Driver& opened_driver() noexcept { return *g_driver.opened(); }
// Whether the process is a child of fork, which gives nothing back: the driver is its parent's.
bool is_driver_forgotten() noexcept;

// Throws what the result deserves, as DEVICE_ERROR (OUT_OF_MEMORY for memory); `what` names the
// entry point, or the kernel that was launched.
[[noreturn, gnu::cold]] void refuse(Result result, const char* what);
inline void require(Result result, const char* what) {
  if (result != Result::kSuccess) [[unlikely]]
    refuse(result, what);
}

}  // namespace tenure::cuda
