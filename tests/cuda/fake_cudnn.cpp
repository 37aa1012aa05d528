// A cuDNN with no device behind it, in the fake driver's library: the entry points that
// core/src/cuda/libraries/cudnn.hpp asks for. It is opened where TENURE_CUDNN names that library.
// Every argument is checked as the real library's documentation says; a convolution is
// computed plainly, when its turn comes on the fake stream. All of the environment is read at each
// call:
//
//   TENURE_FAKE_CUDNN_FAIL=NAME[:CODE]  an entry point fails, with 4000 where there is no code
//   TENURE_FAKE_CUDNN_VERSION=92801
//   TENURE_FAKE_CUDNN_OFFERS=KIND       an algorithm before those that are right: `tensor_ops` for
//                                       f32, `unsteady`, `failed`, or one that `transforms`; or
//                                       only `large` ones, or `none`
//   TENURE_FAKE_CUDNN_ASKED             (written) how often algorithms were requested
//   TENURE_FAKE_CUDNN_COUNT             (written) how many convolutions were enqueued
#include <cmath>

#include "cuda/kernels/floats.cuh"
#include "cuda/libraries/cudnn.hpp"
#include "fake_library.hpp"

namespace tenure::cuda {

struct HandleOfCudnn {
  int device;
  Stream stream;
};
struct TensorOfCudnn {
  int format;
  int type;
  std::int64_t extents[4];  // images, channels, height, width
};
struct FilterOfCudnn {
  int format;
  int type;
  std::int64_t extents[4];  // filters, channels, height, width
};
struct ConvolutionOfCudnn {
  std::int64_t padding[2];
  std::int64_t strides[2];
  std::int64_t dilations[2];
  std::int64_t groups;
  int math;
};
struct ActivationOfCudnn {
  int mode;
};

}  // namespace tenure::cuda

namespace {

using fake::address_of;
using fake::state;
using tenure::cuda::ActivationOfCudnn;
using tenure::cuda::ConvolutionOfCudnn;
using tenure::cuda::DnnActivation;
using tenure::cuda::DnnAlgorithm;
using tenure::cuda::DnnConvolution;
using tenure::cuda::DnnFilter;
using tenure::cuda::DnnHandle;
using tenure::cuda::DnnStatus;
using tenure::cuda::DnnTensor;
using tenure::cuda::ElementType;
using tenure::cuda::FilterOfCudnn;
using tenure::cuda::HandleOfCudnn;
using tenure::cuda::Stream;
using tenure::cuda::TensorOfCudnn;
namespace cuda = tenure::cuda;

// Never destroyed, as the fake driver's state is not.
template <class Object>
fake::Handles<Object>& handles() {
  static auto* const all = new fake::Handles<Object>(
      std::is_same_v<Object, HandleOfCudnn> ? nullptr : &state().descriptor_count);
  return *all;
}

DnnStatus refusal_of(const char* name) {
  return DnnStatus{fake::refusal_of("TENURE_FAKE_CUDNN_FAIL", name, 4000)};
}

DnnStatus invalid(const char* what) {
  std::fprintf(stderr, "fake cuDNN: %s\n", what);
  return DnnStatus::kBadParameter;
}

template <class Object>
DnnStatus destroy(const Object* object) {
  return handles<Object>().remove(object) ? DnnStatus::kSuccess : invalid("no descriptor");
}

bool is_type(int type) {
  return type == cuda::kDnnF32 || type == cuda::kDnnF16 || type == cuda::kDnnBF16;
}
bool is_format(int format) {
  return format == cuda::kDnnChannelsFirst || format == cuda::kDnnChannelsLast;
}

ElementType element_type(int type) {
  switch (type) {
    case cuda::kDnnF16: return ElementType::kF16;
    case cuda::kDnnBF16: return ElementType::kBF16;
    default: return ElementType::kF32;
  }
}
std::size_t width_of(int type) { return type == cuda::kDnnF32 ? 4 : 2; }

// ---- places ----

template <class Extents>
std::int64_t count_of(const Extents& extents) {
  return extents[0] * extents[1] * extents[2] * extents[3];
}

std::int64_t index_of(int format, const std::int64_t (&extents)[4], std::int64_t outer,
                      std::int64_t channel, std::int64_t row, std::int64_t column) {
  if (format == cuda::kDnnChannelsLast) {
    return ((outer * extents[2] + row) * extents[3] + column) * extents[1] + channel;
  }
  return ((outer * extents[1] + channel) * extents[2] + row) * extents[3] + column;
}

float number_at(int type, const void* data, std::int64_t index) {
  return cuda::read_number<float>(
      element_type(type),
      static_cast<const unsigned char*>(data) + static_cast<std::size_t>(index) * width_of(type));
}

fake::Reach reach_of(const void* data, int type, std::int64_t count) {
  return {address_of(data), static_cast<std::size_t>(count) * width_of(type)};
}

// ---- a convolution ----

struct Problem {
  TensorOfCudnn x;
  FilterOfCudnn w;
  ConvolutionOfCudnn by;
  TensorOfCudnn y;
};

DnnStatus check(const Problem& p) {
  if (p.x.type != p.w.type || p.x.type != p.y.type) return invalid("elements of several types");
  if (p.w.format == cuda::kDnnChannelsLast &&
      (p.x.format != p.w.format || p.y.format != p.w.format)) {
    return invalid("images of another format than filters whose channels are last");
  }
  if (p.by.math != (p.x.type == cuda::kDnnF32 ? cuda::kDnnMathFma : cuda::kDnnMathTensorOp)) {
    return invalid("another kind of arithmetic than the documented");
  }
  if (p.by.groups < 1 || p.w.extents[0] % p.by.groups != 0 ||
      p.w.extents[1] * p.by.groups != p.x.extents[1]) {
    return invalid("groups that do not agree");
  }
  if (p.y.extents[0] != p.x.extents[0] || p.y.extents[1] != p.w.extents[0]) {
    return invalid("images or filters that do not agree");
  }
  for (int axis = 0; axis < 2; ++axis) {
    const std::int64_t reach = (p.w.extents[2 + axis] - 1) * p.by.dilations[axis] + 1;
    const std::int64_t padded = p.x.extents[2 + axis] + 2 * p.by.padding[axis];
    if ((padded - reach) / p.by.strides[axis] + 1 != p.y.extents[2 + axis]) {
      return invalid("an extent of the result that does not follow");
    }
  }
  return DnnStatus::kSuccess;
}

std::size_t workspace_of(const Problem& p, int algorithm) {
  if (algorithm == cuda::kDnnImplicitGemm) return 0;
  return static_cast<std::size_t>(p.w.extents[0] % 3 * 512);
}

struct Call {
  Problem problem;
  const void* x;
  const void* w;
  const void* bias;  // nullptr: none
  bool is_rectified;
  void* y;

  void run() const {
    const auto& extents = problem.y.extents;
    for (std::int64_t image = 0; image < extents[0]; ++image) {
      for (std::int64_t filter = 0; filter < extents[1]; ++filter) {
        for (std::int64_t row = 0; row < extents[2]; ++row) {
          for (std::int64_t column = 0; column < extents[3]; ++column) {
            write(image, filter, row, column, sum(image, filter, row, column));
          }
        }
      }
    }
  }

 private:
  [[nodiscard]] double sum(std::int64_t image, std::int64_t filter, std::int64_t row,
                           std::int64_t column) const {
    const auto& [x_of, w_of, by, y_of] = problem;
    const std::int64_t group = filter / (w_of.extents[0] / by.groups);
    double total = 0;
    for (std::int64_t channel = 0; channel < w_of.extents[1]; ++channel) {
      for (std::int64_t i = 0; i < w_of.extents[2]; ++i) {
        for (std::int64_t j = 0; j < w_of.extents[3]; ++j) {
          const std::int64_t from_row = row * by.strides[0] - by.padding[0] + i * by.dilations[0];
          const std::int64_t from_column =
              column * by.strides[1] - by.padding[1] + j * by.dilations[1];
          if (from_row < 0 || from_row >= x_of.extents[2] || from_column < 0 ||
              from_column >= x_of.extents[3]) {
            continue;
          }
          const std::int64_t from = group * w_of.extents[1] + channel;
          total +=
              static_cast<double>(number_at(
                  x_of.type, x,
                  index_of(x_of.format, x_of.extents, image, from, from_row, from_column))) *
              number_at(w_of.type, w, index_of(w_of.format, w_of.extents, filter, channel, i, j));
        }
      }
    }
    return total;
  }
  void write(std::int64_t image, std::int64_t filter, std::int64_t row, std::int64_t column,
             double result) const {
    const TensorOfCudnn& of = problem.y;
    if (bias != nullptr) result += number_at(of.type, bias, filter);
    if (is_rectified && result <= 0) result = 0;  // NaN stays
    const std::int64_t index = index_of(of.format, of.extents, image, filter, row, column);
    cuda::write_number(
        element_type(of.type),
        static_cast<unsigned char*>(y) + static_cast<std::size_t>(index) * width_of(of.type),
        static_cast<float>(result));
  }
};

bool are_known(DnnHandle handle, DnnTensor x, DnnFilter w, DnnConvolution by, DnnTensor y) {
  return handles<HandleOfCudnn>().has(handle) && handles<TensorOfCudnn>().has(x) &&
         handles<FilterOfCudnn>().has(w) && handles<ConvolutionOfCudnn>().has(by) &&
         handles<TensorOfCudnn>().has(y) && fake::current() != nullptr &&
         fake::current()->device == handle->device;
}

DnnStatus enqueue(DnnHandle handle, const Call& call, int algorithm, void* workspace,
                  std::size_t workspace_bytes) {
  const Problem& p = call.problem;
  if (const DnnStatus status = check(p); status != DnnStatus::kSuccess) return status;
  if (algorithm != cuda::kDnnImplicitGemm && algorithm != cuda::kDnnImplicitPrecompGemm) {
    return invalid("an algorithm that transforms");
  }
  if (workspace_bytes != workspace_of(p, algorithm) ||
      (workspace == nullptr) != (workspace_bytes == 0)) {
    return invalid("other scratch memory than the algorithm's");
  }
  for (const void* const data : {call.x, call.w, call.bias, static_cast<const void*>(call.y)}) {
    if (address_of(data) % 16 != 0) return invalid("an operand that is not aligned");
  }
  std::vector<fake::Reach> operands = {reach_of(call.x, p.x.type, count_of(p.x.extents)),
                                       reach_of(call.w, p.w.type, count_of(p.w.extents)),
                                       reach_of(call.y, p.y.type, count_of(p.y.extents))};
  if (call.bias != nullptr) operands.push_back(reach_of(call.bias, p.y.type, p.y.extents[1]));
  if (workspace != nullptr) operands.push_back({address_of(workspace), workspace_bytes});
  const cuda::Result result =
      fake::enqueue_call(handle->stream, std::move(operands), [call, workspace, workspace_bytes] {
        if (workspace != nullptr) std::memset(workspace, 0xee, workspace_bytes);
        call.run();
      });
  if (result != cuda::Result::kSuccess) return DnnStatus::kExecutionFailed;
  fake::count_in("TENURE_FAKE_CUDNN_COUNT");
  return DnnStatus::kSuccess;
}

float as_float(const void* number) {
  float value;
  std::memcpy(&value, number, sizeof value);
  return value;
}

// Sets the algorithm that the list begins with, which a caller must not take. False: there is none.
bool offered(const Problem& p, DnnAlgorithm& algorithm) {
  const char* const offers = std::getenv("TENURE_FAKE_CUDNN_OFFERS");
  const std::string kind = offers == nullptr ? "" : offers;
  algorithm = {cuda::kDnnImplicitGemm,  DnnStatus::kSuccess, 1, 0,
               cuda::kDnnDeterministic, p.by.math,           {}};
  if (kind == "tensor_ops" && p.x.type == cuda::kDnnF32) {
    algorithm.math = cuda::kDnnMathTensorOp;
  } else if (kind == "unsteady") {
    algorithm.determinism = 0;
  } else if (kind == "transforms") {
    algorithm.algorithm = 6;
  } else if (kind == "failed") {
    algorithm.status = DnnStatus::kNotSupported;
  } else {
    return false;
  }
  return true;
}

}  // namespace

#define TENURE_FAKE_CUDNN(name, parameters)                                          \
  extern "C" [[gnu::visibility("default")]] tenure::cuda::DnnStatus name parameters; \
  tenure::cuda::DnnStatus name parameters
#define TENURE_FAKE_BEGIN(name)              \
  const std::lock_guard lock(state().mutex); \
  if (const DnnStatus refusal = refusal_of(name); refusal != DnnStatus::kSuccess) return refusal

extern "C" [[gnu::visibility("default")]] std::size_t cudnnGetVersion();
std::size_t cudnnGetVersion() {
  return static_cast<std::size_t>(fake::number_of("TENURE_FAKE_CUDNN_VERSION", 92801));
}

TENURE_FAKE_CUDNN(cudnnCreate, (DnnHandle * handle)) {
  TENURE_FAKE_BEGIN("cudnnCreate");
  if (fake::current() == nullptr || !fake::may_call_driver()) return DnnStatus::kNotInitialized;
  auto& all = handles<HandleOfCudnn>();
  for (const auto& known : all.all()) {
    if (known->device == fake::current()->device) return invalid("a second handle of a device");
  }
  *handle = all.add({fake::current()->device, nullptr});
  return DnnStatus::kSuccess;
}

TENURE_FAKE_CUDNN(cudnnSetStream, (DnnHandle handle, Stream stream)) {
  TENURE_FAKE_BEGIN("cudnnSetStream");
  if (!handles<HandleOfCudnn>().has(handle)) return invalid("no handle");
  handle->stream = stream;
  return DnnStatus::kSuccess;
}

TENURE_FAKE_CUDNN(cudnnCreateTensorDescriptor, (DnnTensor * tensor)) {
  TENURE_FAKE_BEGIN("cudnnCreateTensorDescriptor");
  *tensor = handles<TensorOfCudnn>().add({-1, -1, {}});
  return DnnStatus::kSuccess;
}
TENURE_FAKE_CUDNN(cudnnSetTensor4dDescriptor, (DnnTensor tensor, int format, int type, int images,
                                               int channels, int height, int width)) {
  TENURE_FAKE_BEGIN("cudnnSetTensor4dDescriptor");
  if (!handles<TensorOfCudnn>().has(tensor) || !is_format(format) || !is_type(type) ||
      std::min({images, channels, height, width}) < 1) {
    return invalid("a tensor that is none");
  }
  *tensor = {format, type, {images, channels, height, width}};
  return DnnStatus::kSuccess;
}
TENURE_FAKE_CUDNN(cudnnDestroyTensorDescriptor, (DnnTensor tensor)) {
  TENURE_FAKE_BEGIN("cudnnDestroyTensorDescriptor");
  return destroy(tensor);
}

TENURE_FAKE_CUDNN(cudnnCreateFilterDescriptor, (DnnFilter * filter)) {
  TENURE_FAKE_BEGIN("cudnnCreateFilterDescriptor");
  *filter = handles<FilterOfCudnn>().add({-1, -1, {}});
  return DnnStatus::kSuccess;
}
TENURE_FAKE_CUDNN(cudnnSetFilter4dDescriptor, (DnnFilter filter, int type, int format, int filters,
                                               int channels, int height, int width)) {
  TENURE_FAKE_BEGIN("cudnnSetFilter4dDescriptor");
  if (!handles<FilterOfCudnn>().has(filter) || !is_format(format) || !is_type(type) ||
      std::min({filters, channels, height, width}) < 1) {
    return invalid("a filter that is none");
  }
  *filter = {format, type, {filters, channels, height, width}};
  return DnnStatus::kSuccess;
}
TENURE_FAKE_CUDNN(cudnnDestroyFilterDescriptor, (DnnFilter filter)) {
  TENURE_FAKE_BEGIN("cudnnDestroyFilterDescriptor");
  return destroy(filter);
}

TENURE_FAKE_CUDNN(cudnnCreateConvolutionDescriptor, (DnnConvolution * convolution)) {
  TENURE_FAKE_BEGIN("cudnnCreateConvolutionDescriptor");
  *convolution = handles<ConvolutionOfCudnn>().add({{}, {}, {}, 1, cuda::kDnnMathDefault});
  return DnnStatus::kSuccess;
}
TENURE_FAKE_CUDNN(cudnnSetConvolution2dDescriptor,
                  (DnnConvolution convolution, int padding_height, int padding_width,
                   int stride_height, int stride_width, int dilation_height, int dilation_width,
                   int mode, int compute_type)) {
  TENURE_FAKE_BEGIN("cudnnSetConvolution2dDescriptor");
  if (!handles<ConvolutionOfCudnn>().has(convolution) ||
      std::min(padding_height, padding_width) < 0 ||
      std::min({stride_height, stride_width, dilation_height, dilation_width}) < 1 ||
      mode != cuda::kDnnCrossCorrelation || compute_type != cuda::kDnnF32) {
    return invalid("a convolution that is none");
  }
  *convolution = {{padding_height, padding_width},
                  {stride_height, stride_width},
                  {dilation_height, dilation_width},
                  convolution->groups,
                  convolution->math};
  return DnnStatus::kSuccess;
}
TENURE_FAKE_CUDNN(cudnnSetConvolutionGroupCount, (DnnConvolution convolution, int groups)) {
  TENURE_FAKE_BEGIN("cudnnSetConvolutionGroupCount");
  if (!handles<ConvolutionOfCudnn>().has(convolution)) return invalid("no convolution");
  convolution->groups = groups;
  return DnnStatus::kSuccess;
}
TENURE_FAKE_CUDNN(cudnnSetConvolutionMathType, (DnnConvolution convolution, int math)) {
  TENURE_FAKE_BEGIN("cudnnSetConvolutionMathType");
  if (!handles<ConvolutionOfCudnn>().has(convolution)) return invalid("no convolution");
  convolution->math = math;
  return DnnStatus::kSuccess;
}
TENURE_FAKE_CUDNN(cudnnDestroyConvolutionDescriptor, (DnnConvolution convolution)) {
  TENURE_FAKE_BEGIN("cudnnDestroyConvolutionDescriptor");
  return destroy(convolution);
}

TENURE_FAKE_CUDNN(cudnnCreateActivationDescriptor, (DnnActivation * activation)) {
  TENURE_FAKE_BEGIN("cudnnCreateActivationDescriptor");
  *activation = handles<ActivationOfCudnn>().add({-1});
  return DnnStatus::kSuccess;
}
TENURE_FAKE_CUDNN(cudnnSetActivationDescriptor,
                  (DnnActivation activation, int mode, int nan, double coefficient)) {
  TENURE_FAKE_BEGIN("cudnnSetActivationDescriptor");
  if (!handles<ActivationOfCudnn>().has(activation) || nan != cuda::kDnnKeepsNan ||
      (mode != cuda::kDnnRelu && mode != cuda::kDnnIdentity) || std::isnan(coefficient)) {
    return invalid("an activation that is none");
  }
  activation->mode = mode;
  return DnnStatus::kSuccess;
}
TENURE_FAKE_CUDNN(cudnnDestroyActivationDescriptor, (DnnActivation activation)) {
  TENURE_FAKE_BEGIN("cudnnDestroyActivationDescriptor");
  return destroy(activation);
}

TENURE_FAKE_CUDNN(cudnnGetConvolutionForwardAlgorithm_v7,
                  (DnnHandle handle, DnnTensor x, DnnFilter w, DnnConvolution by, DnnTensor y,
                   int asked, int* count, DnnAlgorithm* algorithms)) {
  TENURE_FAKE_BEGIN("cudnnGetConvolutionForwardAlgorithm_v7");
  *count = 0;
  if (!are_known(handle, x, w, by, y) || asked < 3) return invalid("an unknown question");
  fake::count_in("TENURE_FAKE_CUDNN_ASKED");
  const Problem problem = {*x, *w, *by, *y};
  if (const DnnStatus status = check(problem); status != DnnStatus::kSuccess) return status;
  const char* const offers = std::getenv("TENURE_FAKE_CUDNN_OFFERS");
  if (offers != nullptr && std::strcmp(offers, "none") == 0) return DnnStatus{3002};
  if (offered(problem, algorithms[*count])) ++*count;
  for (const int algorithm : {cuda::kDnnImplicitGemm, cuda::kDnnImplicitPrecompGemm}) {
    algorithms[(*count)++] = {algorithm,
                              DnnStatus::kSuccess,
                              2,
                              workspace_of(problem, algorithm),
                              cuda::kDnnDeterministic,
                              problem.by.math,
                              {}};
  }
  return DnnStatus::kSuccess;
}

TENURE_FAKE_CUDNN(cudnnGetConvolutionForwardWorkspaceSize,
                  (DnnHandle handle, DnnTensor x, DnnFilter w, DnnConvolution by, DnnTensor y,
                   int algorithm, std::size_t* bytes)) {
  TENURE_FAKE_BEGIN("cudnnGetConvolutionForwardWorkspaceSize");
  if (!are_known(handle, x, w, by, y)) return invalid("an unknown question");
  const char* const offers = std::getenv("TENURE_FAKE_CUDNN_OFFERS");
  *bytes = offers != nullptr && std::strcmp(offers, "large") == 0
               ? (std::size_t{32} << 20) + 1
               : workspace_of({*x, *w, *by, *y}, algorithm);
  return DnnStatus::kSuccess;
}

TENURE_FAKE_CUDNN(cudnnConvolutionForward,
                  (DnnHandle handle, const void* alpha, DnnTensor x_of, const void* x,
                   DnnFilter w_of, const void* w, DnnConvolution by, int algorithm, void* workspace,
                   std::size_t workspace_bytes, const void* beta, DnnTensor y_of, void* y)) {
  TENURE_FAKE_BEGIN("cudnnConvolutionForward");
  if (!are_known(handle, x_of, w_of, by, y_of)) return invalid("a convolution of what is unknown");
  if (as_float(alpha) != 1 || as_float(beta) != 0) return invalid("a result that is scaled");
  return enqueue(handle, {{*x_of, *w_of, *by, *y_of}, x, w, nullptr, false, y}, algorithm,
                 workspace, workspace_bytes);
}

TENURE_FAKE_CUDNN(cudnnConvolutionBiasActivationForward,
                  (DnnHandle handle, const void* alpha1, DnnTensor x_of, const void* x,
                   DnnFilter w_of, const void* w, DnnConvolution by, int algorithm, void* workspace,
                   std::size_t workspace_bytes, const void* alpha2, DnnTensor z_of, const void* z,
                   DnnTensor bias_of, const void* bias, DnnActivation activation, DnnTensor y_of,
                   void* y)) {
  TENURE_FAKE_BEGIN("cudnnConvolutionBiasActivationForward");
  if (!are_known(handle, x_of, w_of, by, y_of) || z_of != y_of || z != y ||
      !handles<TensorOfCudnn>().has(bias_of) || !handles<ActivationOfCudnn>().has(activation)) {
    return invalid("a convolution of what is unknown");
  }
  if (as_float(alpha1) != 1 || as_float(alpha2) != 0) return invalid("a result that is scaled");
  if (bias == nullptr || bias_of->type != y_of->type || bias_of->extents[0] != 1 ||
      bias_of->extents[1] != y_of->extents[1] || bias_of->extents[2] != 1 ||
      bias_of->extents[3] != 1) {
    return invalid("a bias that is none");
  }
  if (activation->mode == cuda::kDnnIdentity && algorithm != cuda::kDnnImplicitPrecompGemm) {
    return DnnStatus::kNotSupported;
  }
  return enqueue(handle,
                 {{*x_of, *w_of, *by, *y_of}, x, w, bias, activation->mode == cuda::kDnnRelu, y},
                 algorithm, workspace, workspace_bytes);
}
