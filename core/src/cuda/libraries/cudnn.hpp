// cuDNN, opened while the program runs. Its interface as far as it is used, of version 9: that of
// forward convolutions by descriptors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/driver.hpp"

namespace tenure::cuda {

// cudnnStatus_t, whose thousands are kinds. The library may give others.
enum class DnnStatus : int {
  kSuccess = 0,
  kNotInitialized = 1001,
  kBadParameter = 2000,
  kNotSupported = 3000,
  kInternalError = 4000,
  kHostAllocationFailed = 4003,
  kDeviceAllocationFailed = 4004,
  kExecutionFailed = 5000,
};
constexpr bool is_unsupported(DnnStatus status) noexcept {
  return static_cast<int>(status) / 1000 == static_cast<int>(DnnStatus::kNotSupported) / 1000;
}

// Handles that only the library looks into.
using DnnHandle = struct HandleOfCudnn*;
using DnnTensor = struct TensorOfCudnn*;
using DnnFilter = struct FilterOfCudnn*;
using DnnConvolution = struct ConvolutionOfCudnn*;
using DnnActivation = struct ActivationOfCudnn*;

// Numbers of the library's enumerations: cudnnDataType_t,
inline constexpr int kDnnF32 = 0;
inline constexpr int kDnnF16 = 2;
inline constexpr int kDnnBF16 = 9;
// cudnnTensorFormat_t,
inline constexpr int kDnnChannelsFirst = 0;
inline constexpr int kDnnChannelsLast = 1;
// cudnnConvolutionMode_t: the filter as it lies,
inline constexpr int kDnnCrossCorrelation = 1;
// cudnnMathType_t: without tensor cores, or with them where elements have 16 bits,
inline constexpr int kDnnMathDefault = 0;
inline constexpr int kDnnMathTensorOp = 1;
inline constexpr int kDnnMathFma = 3;
// cudnnConvolutionFwdAlgo_t: those that add up products as they are; others transform them,
inline constexpr int kDnnImplicitGemm = 0;
inline constexpr int kDnnImplicitPrecompGemm = 1;
inline constexpr int kDnnAlgorithmCount = 8;
// cudnnDeterminism_t,
inline constexpr int kDnnDeterministic = 1;
// cudnnActivationMode_t, and cudnnNanPropagation_t.
inline constexpr int kDnnRelu = 1;
inline constexpr int kDnnIdentity = 5;
inline constexpr int kDnnKeepsNan = 1;

// cudnnConvolutionFwdAlgoPerf_t.
struct DnnAlgorithm {
  int algorithm;
  DnnStatus status;
  float milliseconds;
  std::size_t workspace_bytes;
  int determinism;
  int math;
  int reserved[3];
};
static_assert(sizeof(DnnAlgorithm) == 48);

// X(member, the library's name, parameters)
#define TENURE_CUDNN_ENTRY_POINTS(X)                                                              \
  X(create, "cudnnCreate", (DnnHandle * handle))                                                  \
  X(set_stream, "cudnnSetStream", (DnnHandle handle, Stream stream))                              \
  X(tensor_create, "cudnnCreateTensorDescriptor", (DnnTensor * tensor))                           \
  X(tensor_set, "cudnnSetTensor4dDescriptor",                                                     \
    (DnnTensor tensor, int format, int type, int images, int channels, int height, int width))    \
  X(tensor_destroy, "cudnnDestroyTensorDescriptor", (DnnTensor tensor))                           \
  X(filter_create, "cudnnCreateFilterDescriptor", (DnnFilter * filter))                           \
  X(filter_set, "cudnnSetFilter4dDescriptor",                                                     \
    (DnnFilter filter, int type, int format, int filters, int channels, int height, int width))   \
  X(filter_destroy, "cudnnDestroyFilterDescriptor", (DnnFilter filter))                           \
  X(convolution_create, "cudnnCreateConvolutionDescriptor", (DnnConvolution * convolution))       \
  X(convolution_set, "cudnnSetConvolution2dDescriptor",                                           \
    (DnnConvolution convolution, int padding_height, int padding_width, int stride_height,        \
     int stride_width, int dilation_height, int dilation_width, int mode, int compute_type))      \
  X(convolution_set_groups, "cudnnSetConvolutionGroupCount",                                      \
    (DnnConvolution convolution, int groups))                                                     \
  X(convolution_set_math, "cudnnSetConvolutionMathType", (DnnConvolution convolution, int math))  \
  X(convolution_destroy, "cudnnDestroyConvolutionDescriptor", (DnnConvolution convolution))       \
  X(activation_create, "cudnnCreateActivationDescriptor", (DnnActivation * activation))           \
  X(activation_set, "cudnnSetActivationDescriptor",                                               \
    (DnnActivation activation, int mode, int nan, double coefficient))                            \
  X(activation_destroy, "cudnnDestroyActivationDescriptor", (DnnActivation activation))           \
  X(algorithms, "cudnnGetConvolutionForwardAlgorithm_v7",                                         \
    (DnnHandle handle, DnnTensor x, DnnFilter w, DnnConvolution convolution, DnnTensor y,         \
     int asked, int* count, DnnAlgorithm* algorithms))                                            \
  X(workspace_bytes, "cudnnGetConvolutionForwardWorkspaceSize",                                   \
    (DnnHandle handle, DnnTensor x, DnnFilter w, DnnConvolution convolution, DnnTensor y,         \
     int algorithm, std::size_t* bytes))                                                          \
  X(forward, "cudnnConvolutionForward",                                                           \
    (DnnHandle handle, const void* alpha, DnnTensor x_tensor, const void* x, DnnFilter w_filter,  \
     const void* w, DnnConvolution convolution, int algorithm, void* workspace,                   \
     std::size_t workspace_bytes, const void* beta, DnnTensor y_tensor, void* y))                 \
  X(forward_with_bias, "cudnnConvolutionBiasActivationForward",                                   \
    (DnnHandle handle, const void* alpha1, DnnTensor x_tensor, const void* x, DnnFilter w_filter, \
     const void* w, DnnConvolution convolution, int algorithm, void* workspace,                   \
     std::size_t workspace_bytes, const void* alpha2, DnnTensor z_tensor, const void* z,          \
     DnnTensor bias_tensor, const void* bias, DnnActivation activation, DnnTensor y_tensor,       \
     void* y))

struct Cudnn {
  std::size_t (*version)() = nullptr;
#define TENURE_CUDNN_MEMBER(member, name, parameters) DnnStatus(*member) parameters = nullptr;
  TENURE_CUDNN_ENTRY_POINTS(TENURE_CUDNN_MEMBER)
#undef TENURE_CUDNN_MEMBER
};

// The library, opened by the first call. Throws UNSUPPORTED, with all that was tried, where it
// cannot be opened, is not of version 9 or lacks an entry point. A later call looks again.
const Cudnn& cudnn();

// Throws OUT_OF_MEMORY or DEVICE_ERROR for a failure of the entry point.
[[noreturn, gnu::cold]] void refuse(DnnStatus status, const char* entry);
inline void require(DnnStatus status, const char* entry) {
  if (status != DnnStatus::kSuccess) [[unlikely]]
    refuse(status, entry);
}

}  // namespace tenure::cuda
