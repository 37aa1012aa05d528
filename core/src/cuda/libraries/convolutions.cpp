#include "cuda/libraries/convolutions.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include "cuda/libraries/cudnn.hpp"
#include "cuda/libraries/device_state.hpp"
#include "engine/shape_cache.hpp"

namespace tenure::cuda {
namespace {

using engines::Convolution;
using engines::ConvolutionMemory;
using engines::ImageOrder;

// The library counts in 32 bits, with a sign.
constexpr std::int64_t kMostElements = INT32_MAX;
// Bytes to which operands are aligned: the library's kernels read 16 bytes at once.
constexpr std::uint64_t kAlignment = 16;

// ---- the table of supported convolutions ----

std::optional<int> type_of(tnr_dtype dtype) noexcept {
  switch (dtype) {
    case TNR_DTYPE_F32: return kDnnF32;
    case TNR_DTYPE_F16: return kDnnF16;
    case TNR_DTYPE_BF16: return kDnnBF16;
    default: return std::nullopt;
  }
}

// How the operands lie. Filters whose channels are last go only with images of that order.
struct Formats {
  int a;
  int weight;
  int out;
};
std::optional<Formats> formats_of(const Convolution& c) noexcept {
  constexpr ImageOrder kFirst = ImageOrder::kChannelsFirst;
  constexpr ImageOrder kLast = ImageOrder::kChannelsLast;
  const bool a_is_last = engines::a_lies_in(kLast, c);
  const bool out_is_last = engines::result_lies_in(kLast, c);
  if (a_is_last && out_is_last && engines::weight_lies_in(kLast, c)) {
    return Formats{kDnnChannelsLast, kDnnChannelsLast, kDnnChannelsLast};
  }
  const bool are_taken = engines::weight_lies_in(kFirst, c) &&
                         (a_is_last || engines::a_lies_in(kFirst, c)) &&
                         (out_is_last || engines::result_lies_in(kFirst, c));
  if (!are_taken) return std::nullopt;
  return Formats{a_is_last ? kDnnChannelsLast : kDnnChannelsFirst, kDnnChannelsFirst,
                 out_is_last ? kDnnChannelsLast : kDnnChannelsFirst};
}

// The library pads both sides of an axis alike, and has the extent of the result follow from that.
bool has_even_padding(const Convolution& c) noexcept {
  for (unsigned axis = 0; axis < 2; ++axis) {
    const std::int64_t reach = (c.kernel[axis] - 1) * c.dilations[axis] + 1;
    const std::int64_t padded = c.in[axis] + 2 * c.padding[axis];
    if (reach > padded || (padded - reach) / c.strides[axis] + 1 != c.out[axis]) return false;
  }
  return true;
}

bool are_aligned(const ConvolutionMemory& memory) noexcept {
  std::uintptr_t places = 0;
  for (const void* const data :
       {memory.a, memory.weight, memory.bias, static_cast<const void*>(memory.out)}) {
    places |= reinterpret_cast<std::uintptr_t>(data);
  }
  return places % kAlignment == 0;
}

struct DnnDescription {
  const Convolution& c;
  int type;
  Formats formats;
  LibraryActivation activation;
};

std::optional<DnnDescription> describe(tnr_dtype dtype, const Convolution& c,
                                       const ConvolutionMemory& memory,
                                       LibraryActivation activation) noexcept {
  const std::optional<int> type = type_of(dtype);
  // Its epilogue has a bias always.
  if (!type || (activation != LibraryActivation::kNone && !c.has_bias)) return std::nullopt;
  if (!engines::is_bounded_by(kMostElements, c)) return std::nullopt;
  const std::optional<Formats> formats = formats_of(c);
  if (!formats || !has_even_padding(c) || !are_aligned(memory)) return std::nullopt;
  return DnnDescription{c, *type, *formats, activation};
}

engines::ShapeKey key_of(const DnnDescription& d) noexcept {
  engines::ShapeKey key;
  key.add(d.type);
  for (const int format : {d.formats.a, d.formats.weight, d.formats.out}) key.add(format);
  key.add(static_cast<std::int64_t>(d.activation));
  key.add(d.c.has_bias ? 1 : 0);
  for (const std::int64_t extent : {d.c.images, d.c.groups, d.c.channels, d.c.filters}) {
    key.add(extent);
  }
  for (const auto& extents :
       {d.c.in, d.c.kernel, d.c.out, d.c.strides, d.c.padding, d.c.dilations}) {
    key.add({extents, 2});
  }
  return key;
}

// ---- descriptors ----

int narrow(std::int64_t number) noexcept { return static_cast<int>(number); }

class Tensor {
 public:
  Tensor(const Cudnn& library, int type, int format, std::int64_t images, std::int64_t channels,
         const std::int64_t (&extents)[2])
      : tensor_(library.tensor_destroy) {
    require(library.tensor_create(tensor_.to_make()), "cudnnCreateTensorDescriptor");
    require(library.tensor_set(tensor_.get(), format, type, narrow(images), narrow(channels),
                               narrow(extents[0]), narrow(extents[1])),
            "cudnnSetTensor4dDescriptor");
  }
  [[nodiscard]] DnnTensor get() const noexcept { return tensor_.get(); }

 private:
  Descriptor<DnnTensor, DnnStatus> tensor_;
};

struct DnnDescriptors {
  Tensor a;
  Tensor out;
  Descriptor<DnnFilter, DnnStatus> filter;
  Descriptor<DnnConvolution, DnnStatus> convolution;

  DnnDescriptors(const Cudnn& library, const DnnDescription& d)
      : a(library, d.type, d.formats.a, d.c.images, d.c.groups * d.c.channels, d.c.in),
        out(library, d.type, d.formats.out, d.c.images, d.c.groups * d.c.filters, d.c.out),
        filter(library.filter_destroy),
        convolution(library.convolution_destroy) {
    const Convolution& c = d.c;
    require(library.filter_create(filter.to_make()), "cudnnCreateFilterDescriptor");
    require(library.filter_set(filter.get(), d.type, d.formats.weight, narrow(c.groups * c.filters),
                               narrow(c.channels), narrow(c.kernel[0]), narrow(c.kernel[1])),
            "cudnnSetFilter4dDescriptor");
    require(library.convolution_create(convolution.to_make()), "cudnnCreateConvolutionDescriptor");
    require(
        library.convolution_set(convolution.get(), narrow(c.padding[0]), narrow(c.padding[1]),
                                narrow(c.strides[0]), narrow(c.strides[1]), narrow(c.dilations[0]),
                                narrow(c.dilations[1]), kDnnCrossCorrelation, kDnnF32),
        "cudnnSetConvolution2dDescriptor");
    require(library.convolution_set_groups(convolution.get(), narrow(c.groups)),
            "cudnnSetConvolutionGroupCount");
    // The default would take f32 as TF32.
    require(library.convolution_set_math(convolution.get(),
                                         d.type == kDnnF32 ? kDnnMathFma : kDnnMathTensorOp),
            "cudnnSetConvolutionMathType");
  }
};

struct EpilogueDescriptors {
  Tensor bias;
  Descriptor<DnnActivation, DnnStatus> activation;

  EpilogueDescriptors(const Cudnn& library, const DnnDescription& d)
      : bias(library, d.type, d.formats.out, 1, d.c.groups * d.c.filters, {1, 1}),
        activation(library.activation_destroy) {
    require(library.activation_create(activation.to_make()), "cudnnCreateActivationDescriptor");
    const int mode = d.activation == LibraryActivation::kRelu ? kDnnRelu : kDnnIdentity;
    require(library.activation_set(activation.get(), mode, kDnnKeepsNan, 0),
            "cudnnSetActivationDescriptor");
  }
};

// ---- what the library chooses ----

struct DnnChoice {
  int algorithm;
  std::size_t workspace_bytes;
  bool is_taken;
};

struct DnnState {
  DnnHandle handle = nullptr;
  Mutex mutex;  // guards the handle, which is for one thread at a time, and the choices
  engines::ShapeCache<DnnChoice> choices;

  explicit DnnState(const Device&) { require(cudnn().create(&handle), "cudnnCreate"); }
};

constinit DeviceStates<DnnState> g_dnn_states;

// Algorithms that add up products as they are, in the same order each time, in f32.
bool is_allowed(const DnnDescription& d, const DnnAlgorithm& algorithm) noexcept {
  // For a bias without an activation the library has only this algorithm.
  const bool needs_precomp = d.c.has_bias && d.activation == LibraryActivation::kNone;
  const bool is_gemm = algorithm.algorithm == kDnnImplicitPrecompGemm ||
                       (algorithm.algorithm == kDnnImplicitGemm && !needs_precomp);
  const bool is_of_f32 =
      d.type != kDnnF32 || algorithm.math == kDnnMathFma || algorithm.math == kDnnMathDefault;
  return algorithm.status == DnnStatus::kSuccess && is_gemm && is_of_f32 &&
         algorithm.determinism == kDnnDeterministic;
}

DnnChoice ask(const Cudnn& library, DnnHandle handle, const DnnDescription& d,
              const DnnDescriptors& descriptors) {
  DnnAlgorithm algorithms[kDnnAlgorithmCount] = {};
  int count = 0;
  const DnnStatus status = library.algorithms(handle, descriptors.a.get(), descriptors.filter.get(),
                                              descriptors.convolution.get(), descriptors.out.get(),
                                              kDnnAlgorithmCount, &count, algorithms);
  if (is_unsupported(status)) return {};
  require(status, "cudnnGetConvolutionForwardAlgorithm_v7");
  // The fastest first, as the library estimates.
  for (int i = 0; i < std::min(count, kDnnAlgorithmCount); ++i) {
    if (!is_allowed(d, algorithms[i])) continue;
    std::size_t workspace_bytes = 0;
    const DnnStatus known = library.workspace_bytes(
        handle, descriptors.a.get(), descriptors.filter.get(), descriptors.convolution.get(),
        descriptors.out.get(), algorithms[i].algorithm, &workspace_bytes);
    if (is_unsupported(known)) continue;
    require(known, "cudnnGetConvolutionForwardWorkspaceSize");
    if (workspace_bytes <= kMostWorkspaceBytes) {
      return {algorithms[i].algorithm, workspace_bytes, true};
    }
  }
  return {};
}

DnnChoice choice_of(const Cudnn& library, DnnState& state, const DnnDescription& d,
                    const DnnDescriptors& descriptors) {
  const engines::ShapeKey key = key_of(d);
  const std::lock_guard lock(state.mutex);
  if (const DnnChoice* const known = state.choices.find(key)) return *known;
  return state.choices.keep(key, ask(library, state.handle, d, descriptors));
}

}  // namespace

void require_convolutions() { static_cast<void>(cudnn()); }

bool convolve(const Queue& queue, tnr_dtype dtype, const Convolution& convolution,
              const ConvolutionMemory& memory, LibraryActivation activation) {
  const Cudnn& library = cudnn();
  const std::optional<DnnDescription> d = describe(dtype, convolution, memory, activation);
  if (!d) return false;
  const Current current(queue.opened_device());
  DnnState& state = g_dnn_states.of(queue.opened_device());
  const DnnDescriptors descriptors(library, *d);
  const DnnChoice choice = choice_of(library, state, *d, descriptors);
  if (!choice.is_taken) return false;
  std::optional<EpilogueDescriptors> epilogue;
  if (convolution.has_bias) epilogue.emplace(library, *d);
  std::optional<Queue::Scratch> workspace;
  if (choice.workspace_bytes != 0) workspace.emplace(queue, choice.workspace_bytes);
  void* const scratch = workspace ? workspace->data() : nullptr;
  const float one = 1;
  const float zero = 0;
  queue.launch_by([&](Stream stream) {
    const std::lock_guard lock(state.mutex);
    require(library.set_stream(state.handle, stream), "cudnnSetStream");
    if (!epilogue) {
      return require(
          library.forward(state.handle, &one, descriptors.a.get(), memory.a,
                          descriptors.filter.get(), memory.weight, descriptors.convolution.get(),
                          choice.algorithm, scratch, choice.workspace_bytes, &zero,
                          descriptors.out.get(), memory.out),
          "cudnnConvolutionForward");
    }
    // Its second summand, of a factor of 0, is not read.
    require(
        library.forward_with_bias(
            state.handle, &one, descriptors.a.get(), memory.a, descriptors.filter.get(),
            memory.weight, descriptors.convolution.get(), choice.algorithm, scratch,
            choice.workspace_bytes, &zero, descriptors.out.get(), memory.out, epilogue->bias.get(),
            memory.bias, epilogue->activation.get(), descriptors.out.get(), memory.out),
        "cudnnConvolutionBiasActivationForward");
  });
  return true;
}

}  // namespace tenure::cuda
