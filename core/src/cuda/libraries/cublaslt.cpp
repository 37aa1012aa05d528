#include "cuda/libraries/cublaslt.hpp"

#include "cuda/shared_library.hpp"
#include "tenure/status.hpp"

namespace tenure::cuda {
namespace {

constexpr const char* kCublasLtNames[] = {"libcublasLt.so.13", "libcublasLt.so.12"};
constexpr SharedLibrary kCublasLtLibrary = {"products by the engine vendor need cuBLASLt",
                                            "cuBLASLt", "TENURE_CUBLASLT", kCublasLtNames};

// In the form of cublasLtGetVersion(): major * 10000 + minor * 100 + patch.
constexpr std::size_t kOldestCublasLt = 120000;

constinit OpenedOnce<CublasLt> g_cublaslt;

CublasLt open_cublaslt() {
  void* const opened = open_shared(kCublasLtLibrary);
  CublasLt table;
  // The version first: a library that is too old may lack entry points.
  find_entry(kCublasLtLibrary, opened, table.version, "cublasLtGetVersion");
  if (const std::size_t version = table.version(); version < kOldestCublasLt) {
    fail(TNR_STATUS_UNSUPPORTED, "cuBLASLt is of version %zu.%zu but must be of %zu.0 or newer",
         version / 10000, version / 100 % 100, kOldestCublasLt / 10000);
  }
#define TENURE_CUBLASLT_FIND(member, name, parameters) \
  find_entry(kCublasLtLibrary, opened, table.member, name);
  TENURE_CUBLASLT_ENTRY_POINTS(TENURE_CUBLASLT_FIND)
#undef TENURE_CUBLASLT_FIND
  return table;
}

}  // namespace

const CublasLt& cublaslt() { return g_cublaslt.get(open_cublaslt); }

void refuse(LtStatus status, const char* entry) {
  fail(status == LtStatus::kAllocationFailed ? TNR_STATUS_OUT_OF_MEMORY : TNR_STATUS_DEVICE_ERROR,
       "%s of cuBLASLt gives %d", entry, static_cast<int>(status));
}

}  // namespace tenure::cuda
