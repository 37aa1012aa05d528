#include "cuda/libraries/cudnn.hpp"

#include "cuda/shared_library.hpp"
#include "tenure/status.hpp"

namespace tenure::cuda {
namespace {

constexpr const char* kCudnnNames[] = {"libcudnn.so.9"};
constexpr SharedLibrary kCudnnLibrary = {"convolutions by the engine vendor need cuDNN", "cuDNN",
                                         "TENURE_CUDNN", kCudnnNames};

// In the form of cudnnGetVersion() from version 9 on: major * 10000 + minor * 100 + patch. Before
// it thousands were the major number, so that older versions are below.
constexpr std::size_t kOldestCudnn = 90000;

constinit OpenedOnce<Cudnn> g_cudnn;

Cudnn open_cudnn() {
  void* const opened = open_shared(kCudnnLibrary);
  Cudnn table;
  // The version first: a library that is too old may lack entry points.
  find_entry(kCudnnLibrary, opened, table.version, "cudnnGetVersion");
  if (const std::size_t version = table.version(); version < kOldestCudnn) {
    fail(TNR_STATUS_UNSUPPORTED, "cuDNN is of version %zu.%zu but must be of 9.0 or newer",
         version / 1000, version / 100 % 10);
  }
#define TENURE_CUDNN_FIND(member, name, parameters) \
  find_entry(kCudnnLibrary, opened, table.member, name);
  TENURE_CUDNN_ENTRY_POINTS(TENURE_CUDNN_FIND)
#undef TENURE_CUDNN_FIND
  return table;
}

bool is_allocation(DnnStatus status) noexcept {
  return status == DnnStatus::kHostAllocationFailed || status == DnnStatus::kDeviceAllocationFailed;
}

}  // namespace

const Cudnn& cudnn() { return g_cudnn.get(open_cudnn); }

void refuse(DnnStatus status, const char* entry) {
  fail(is_allocation(status) ? TNR_STATUS_OUT_OF_MEMORY : TNR_STATUS_DEVICE_ERROR,
       "%s of cuDNN gives %d", entry, static_cast<int>(status));
}

}  // namespace tenure::cuda
