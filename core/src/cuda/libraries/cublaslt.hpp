// cuBLASLt, opened while the program runs. Its interface as far as it is used, of versions 12 and
// 13.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/driver.hpp"

namespace tenure::cuda {

// cublasStatus_t. The library may give others.
enum class LtStatus : int {
  kSuccess = 0,
  kNotInitialized = 1,
  kAllocationFailed = 3,
  kInvalidValue = 7,
  kArchitectureMismatch = 8,
  kExecutionFailed = 13,
  kInternalError = 14,
  kNotSupported = 15,
};

// Handles that only the library looks into.
using LtHandle = struct HandleOfCublasLt*;
using LtOperation = struct OperationOfCublasLt*;    // cublasLtMatmulDesc_t
using LtLayout = struct LayoutOfCublasLt*;          // cublasLtMatrixLayout_t
using LtPreference = struct PreferenceOfCublasLt*;  // cublasLtMatmulPreference_t

// cublasLtMatmulAlgo_t.
struct LtAlgorithm {
  std::uint64_t data[8];
};
// cublasLtMatmulHeuristicResult_t.
struct LtHeuristicResult {
  LtAlgorithm algorithm;
  std::size_t workspace_bytes;
  LtStatus state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(LtHeuristicResult) == 96);

// Numbers of the library's enumerations: cudaDataType_t,
inline constexpr int kLtF32 = 0;
inline constexpr int kLtF64 = 1;
inline constexpr int kLtF16 = 2;
inline constexpr int kLtI8 = 3;
inline constexpr int kLtI32 = 10;
inline constexpr int kLtBF16 = 14;
// cublasComputeType_t: without TF32 and other narrower products,
inline constexpr int kLtComputeF32 = 68;
inline constexpr int kLtComputeF64 = 70;
inline constexpr int kLtComputeI32 = 72;
// cublasOperation_t,
inline constexpr std::int32_t kLtPlain = 0;
inline constexpr std::int32_t kLtTransposed = 1;
// cublasLtEpilogue_t: the last two are added,
inline constexpr std::uint32_t kLtEpilogueDefault = 1;
inline constexpr std::uint32_t kLtEpilogueRelu = 2;
inline constexpr std::uint32_t kLtEpilogueBias = 4;
// cublasLtReductionScheme_t: parts of a sum in the type of the sum,
inline constexpr std::uint32_t kLtReductionComputeType = 2;
// and attributes: cublasLtMatmulDescAttributes_t,
inline constexpr int kLtOperationTransposeA = 3;
inline constexpr int kLtOperationTransposeB = 4;
inline constexpr int kLtOperationEpilogue = 7;
inline constexpr int kLtOperationBias = 8;
// cublasLtMatrixLayoutAttribute_t,
inline constexpr int kLtLayoutBatchCount = 5;
inline constexpr int kLtLayoutBatchStep = 6;
// cublasLtMatmulPreferenceAttributes_t.
inline constexpr int kLtPreferenceWorkspace = 1;
inline constexpr int kLtPreferenceReductions = 3;
inline constexpr int kLtPreferenceAlignmentA = 5;
inline constexpr int kLtPreferenceAlignmentB = 6;
inline constexpr int kLtPreferenceAlignmentC = 7;
inline constexpr int kLtPreferenceAlignmentD = 8;

// X(member, the library's name, parameters)
#define TENURE_CUBLASLT_ENTRY_POINTS(X)                                                           \
  X(create, "cublasLtCreate", (LtHandle * handle))                                                \
  X(operation_create, "cublasLtMatmulDescCreate",                                                 \
    (LtOperation * operation, int compute_type, int scale_type))                                  \
  X(operation_set, "cublasLtMatmulDescSetAttribute",                                              \
    (LtOperation operation, int attribute, const void* value, std::size_t bytes))                 \
  X(operation_destroy, "cublasLtMatmulDescDestroy", (LtOperation operation))                      \
  X(layout_create, "cublasLtMatrixLayoutCreate",                                                  \
    (LtLayout * layout, int type, std::uint64_t rows, std::uint64_t columns,                      \
     std::int64_t leading_dimension))                                                             \
  X(layout_set, "cublasLtMatrixLayoutSetAttribute",                                               \
    (LtLayout layout, int attribute, const void* value, std::size_t bytes))                       \
  X(layout_destroy, "cublasLtMatrixLayoutDestroy", (LtLayout layout))                             \
  X(preference_create, "cublasLtMatmulPreferenceCreate", (LtPreference * preference))             \
  X(preference_set, "cublasLtMatmulPreferenceSetAttribute",                                       \
    (LtPreference preference, int attribute, const void* value, std::size_t bytes))               \
  X(preference_destroy, "cublasLtMatmulPreferenceDestroy", (LtPreference preference))             \
  X(heuristic, "cublasLtMatmulAlgoGetHeuristic",                                                  \
    (LtHandle handle, LtOperation operation, LtLayout a, LtLayout b, LtLayout c, LtLayout d,      \
     LtPreference preference, int asked, LtHeuristicResult* results, int* count))                 \
  X(matmul, "cublasLtMatmul",                                                                     \
    (LtHandle handle, LtOperation operation, const void* alpha, const void* a, LtLayout a_layout, \
     const void* b, LtLayout b_layout, const void* beta, const void* c, LtLayout c_layout,        \
     void* d, LtLayout d_layout, const LtAlgorithm* algorithm, void* workspace,                   \
     std::size_t workspace_bytes, Stream stream))

struct CublasLt {
  std::size_t (*version)() = nullptr;
#define TENURE_CUBLASLT_MEMBER(member, name, parameters) LtStatus(*member) parameters = nullptr;
  TENURE_CUBLASLT_ENTRY_POINTS(TENURE_CUBLASLT_MEMBER)
#undef TENURE_CUBLASLT_MEMBER
};

// The library, opened by the first call. Throws UNSUPPORTED, with all that was tried, where it
// cannot be opened, is older than version 12 or lacks an entry point. A later call looks again.
const CublasLt& cublaslt();

// Throws OUT_OF_MEMORY or DEVICE_ERROR for a failure of the entry point.
[[noreturn, gnu::cold]] void refuse(LtStatus status, const char* entry);
inline void require(LtStatus status, const char* entry) {
  if (status != LtStatus::kSuccess) [[unlikely]]
    refuse(status, entry);
}

}  // namespace tenure::cuda
