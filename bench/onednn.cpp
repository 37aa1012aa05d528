// The engine oneDNN, in turns with direct calls of oneDNN and with the library's own kernels.
//
//   onednn_bench [THREADS [SUBJECT]]
//
// The direct calls have their primitives, memory objects and, of a convolution, weights in oneDNN's
// own order beforehand; those through the engine are tnr_matmul() and tnr_conv2d().
#include <dlfcn.h>
#include <dnnl.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tenure/tenure.h"

namespace {

using Clock = std::chrono::steady_clock;
using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;

constexpr int kRounds = 31;
constexpr double kRoundSeconds = 0.004;

void require(bool is_right, const char* what) {
  if (is_right) return;
  std::fprintf(stderr, "%s: %s\n", what, tnr_last_error()->message);
  std::exit(1);
}

tnr_context* context_of(tnr_engine engine, std::uint32_t thread_count) {
  tnr_context_options options = {};
  options.struct_size = sizeof options;
  options.thread_count = thread_count;
  options.engine = engine;
  tnr_context* const context = tnr_context_create(&options);
  require(context != nullptr, "tnr_context_create");
  return context;
}

struct Bytes {
  void* data;
  explicit Bytes(std::size_t size_bytes)
      : data(std::aligned_alloc(64, (size_bytes + 63) / 64 * 64)) {
    std::memset(data, 1, size_bytes);
  }
};

tnr_view view_of(const Bytes& bytes, tnr_dtype dtype, std::vector<std::int64_t> shape,
                 bool is_channels_last = false) {
  tnr_view view = {};
  view.data = view.base = bytes.data;
  view.dtype = dtype;
  view.rank = static_cast<std::uint32_t>(shape.size());
  view.device.kind = TNR_DEVICE_KIND_CPU;
  std::int64_t count = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    view.shape[axis] = shape[axis];
    view.strides[axis] = count;
    count *= shape[axis];
  }
  if (is_channels_last) {
    view.strides[1] = 1;
    view.strides[3] = shape[1];
    view.strides[2] = shape[1] * shape[3];
  }
  view.size_bytes = static_cast<std::uint64_t>(count) * tnr_dtype_size_bytes(dtype);
  return view;
}

tnr_scalar whole(unsigned char number) {
  tnr_scalar scalar = {};
  scalar.dtype = TNR_DTYPE_U8;
  scalar.bytes[0] = number;
  return scalar;
}

// ---- subjects ------------------------------------------------------------------------------------

struct Subject {
  std::string name;
  std::function<void()> direct;
  std::function<void(tnr_context*)> tenure;
};

Subject matmul(const dnnl::engine& engine, dnnl::stream& stream, std::string name, std::int64_t m,
               std::int64_t n, std::int64_t k, tnr_dtype a_dtype, tnr_dtype b_dtype,
               tnr_dtype out_dtype) {
  const auto type = [](tnr_dtype dtype) {
    return dtype == TNR_DTYPE_F32    ? Type::f32
           : dtype == TNR_DTYPE_BF16 ? Type::bf16
           : dtype == TNR_DTYPE_U8   ? Type::u8
           : dtype == TNR_DTYPE_I8   ? Type::s8
                                     : Type::s32;
  };
  const auto bytes = [](tnr_dtype dtype, std::int64_t count) {
    return Bytes(static_cast<std::size_t>(count) * tnr_dtype_size_bytes(dtype));
  };
  const Bytes a = bytes(a_dtype, m * k);
  const Bytes b = bytes(b_dtype, k * n);
  const Bytes out = bytes(out_dtype, m * n);
  const dnnl::memory::desc a_layout({m, k}, type(a_dtype), Tag::ab);
  const dnnl::memory::desc b_layout({k, n}, type(b_dtype), Tag::ab);
  const dnnl::memory::desc out_layout({m, n}, type(out_dtype), Tag::ab);
  const dnnl::matmul product(dnnl::matmul::primitive_desc(engine, a_layout, b_layout, out_layout));
  const std::unordered_map<int, dnnl::memory> arguments = {
      {DNNL_ARG_SRC, dnnl::memory(a_layout, engine, a.data)},
      {DNNL_ARG_WEIGHTS, dnnl::memory(b_layout, engine, b.data)},
      {DNNL_ARG_DST, dnnl::memory(out_layout, engine, out.data)}};
  return {std::move(name), [=, &stream] { product.execute(stream, arguments); },
          [a_view = view_of(a, a_dtype, {m, k}), b_view = view_of(b, b_dtype, {k, n}),
           out_view = tnr_view_mut{view_of(out, out_dtype, {m, n})}](tnr_context* context) {
            const tnr_scalar one = whole(1);
            const tnr_scalar zero = whole(0);
            require(tnr_matmul(context, &one, &a_view, &b_view, &zero, nullptr, &out_view) ==
                        TNR_STATUS_OK,
                    "tnr_matmul");
          }};
}

Subject conv2d(const dnnl::engine& engine, dnnl::stream& stream, std::string name,
               std::int64_t images, std::int64_t channels, std::int64_t side, std::int64_t filters,
               std::int64_t kernel, bool is_channels_last) {
  const std::int64_t pad = kernel / 2;
  const Bytes a(static_cast<std::size_t>(images * channels * side * side) * 4);
  const Bytes weight(static_cast<std::size_t>(filters * channels * kernel * kernel) * 4);
  const Bytes out(static_cast<std::size_t>(images * filters * side * side) * 4);
  const Tag tag = is_channels_last ? Tag::nhwc : Tag::nchw;
  const dnnl::memory::desc a_layout({images, channels, side, side}, Type::f32, tag);
  const dnnl::memory::desc any({filters, channels, kernel, kernel}, Type::f32, Tag::any);
  const dnnl::memory::desc given({filters, channels, kernel, kernel}, Type::f32, Tag::oihw);
  const dnnl::memory::desc out_layout({images, filters, side, side}, Type::f32, tag);
  const dnnl::convolution_forward::primitive_desc description(
      engine, dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, a_layout,
      any, out_layout, {1, 1}, {pad, pad}, {pad, pad});
  dnnl::memory weights(description.weights_desc(), engine);
  dnnl::memory from(given, engine, weight.data);
  dnnl::reorder(from, weights).execute(stream, from, weights);
  const dnnl::convolution_forward convolution(description);
  const std::unordered_map<int, dnnl::memory> arguments = {
      {DNNL_ARG_SRC, dnnl::memory(a_layout, engine, a.data)},
      {DNNL_ARG_WEIGHTS, weights},
      {DNNL_ARG_DST, dnnl::memory(out_layout, engine, out.data)}};
  return {
      std::move(name), [=, &stream] { convolution.execute(stream, arguments); },
      [pad, a_view = view_of(a, TNR_DTYPE_F32, {images, channels, side, side}, is_channels_last),
       weight_view = view_of(weight, TNR_DTYPE_F32, {filters, channels, kernel, kernel}),
       out_view = tnr_view_mut{view_of(out, TNR_DTYPE_F32, {images, filters, side, side},
                                       is_channels_last)}](tnr_context* context) {
        tnr_conv2d_attributes attributes = {};
        attributes.struct_size = sizeof attributes;
        for (std::int64_t& padding : attributes.padding) padding = pad;
        require(tnr_conv2d(context, &a_view, &weight_view, nullptr, &attributes, &out_view) ==
                    TNR_STATUS_OK,
                "tnr_conv2d");
      }};
}

// ---- measuring -----------------------------------------------------------------------------------

double seconds_of(const std::function<void()>& call, long count) {
  const Clock::time_point start = Clock::now();
  for (long i = 0; i < count; ++i) call();
  return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(count);
}

struct Times {
  double median;
  double spread;  // from the first to the third quartile, of the median
};
Times times_of(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  return {median, (seconds[seconds.size() * 3 / 4] - seconds[seconds.size() / 4]) / median};
}

void measure(const Subject& subject, tnr_context* onednn, tnr_context* own) {
  const std::function<void()> calls[] = {subject.direct, [&] { subject.tenure(onednn); },
                                         [&] { subject.tenure(own); }};
  std::vector<double> seconds[3];
  long counts[3];
  for (int i = 0; i < 3; ++i) {
    seconds_of(calls[i], 1);
    counts[i] = std::max(1L, std::lround(kRoundSeconds / seconds_of(calls[i], 1)));
  }
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 3; ++i) seconds[i].push_back(seconds_of(calls[i], counts[i]));
  }
  const Times direct = times_of(seconds[0]);
  const Times engine = times_of(seconds[1]);
  const Times of_own = times_of(seconds[2]);
  const double bound =
      direct.median * (1 + std::max(0.02, std::max(direct.spread, engine.spread))) + 0.5e-6;
  std::printf("%-28s %11.2f %5.1f %% %11.2f %5.1f %% %8.3f %11.2f %8.3f  %s\n",
              subject.name.c_str(), direct.median * 1e6, direct.spread * 100, engine.median * 1e6,
              engine.spread * 100, engine.median / direct.median, of_own.median * 1e6,
              of_own.median / direct.median, engine.median <= bound ? "within" : "BEYOND");
  std::fflush(stdout);
}

}  // namespace

int main(int argument_count, char** arguments) {
  const unsigned threads =
      argument_count > 1 ? static_cast<unsigned>(std::strtoul(arguments[1], nullptr, 10)) : 1;
  const char* const wanted = argument_count > 2 ? arguments[2] : "";
  auto* const set_threads =
      reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set_threads != nullptr) set_threads(static_cast<int>(threads));
  tnr_context* const onednn = context_of(TNR_ENGINE_ONEDNN, threads);
  tnr_context* const own = context_of(TNR_ENGINE_OWN, threads);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  std::printf(
      "%s\n%u threads, medians of %d rounds in us, spread of the middle half\n%-28s %11s "
      "%7s %11s %7s %8s %11s %8s\n",
      tnr_build_info(), threads, kRounds, "", "direct", "", "engine", "", "/ direct", "own",
      "/ direct");
  const auto run = [&](const std::string& name, const auto& make) {
    if (name.find(wanted) != std::string::npos) measure(make(name), onednn, own);
  };
  struct Dtypes {
    const char* name;
    tnr_dtype a;
    tnr_dtype b;
    tnr_dtype out;
  };
  constexpr Dtypes kDtypes[] = {{"f32", TNR_DTYPE_F32, TNR_DTYPE_F32, TNR_DTYPE_F32},
                                {"bf16", TNR_DTYPE_BF16, TNR_DTYPE_BF16, TNR_DTYPE_BF16},
                                {"u8s8", TNR_DTYPE_U8, TNR_DTYPE_I8, TNR_DTYPE_I32}};
  for (const Dtypes& dtypes : kDtypes) {
    for (const std::int64_t side : {8, 32, 64, 128, 256, 512, 1024, 2048}) {
      // By reference code on processors without instructions for the dtype, which takes minutes.
      if (side > 1024 && dtypes.a != TNR_DTYPE_F32) continue;
      run("matmul " + std::string(dtypes.name) + " " + std::to_string(side),
          [&](const std::string& name) {
            return matmul(engine, stream, name, side, side, side, dtypes.a, dtypes.b, dtypes.out);
          });
    }
    run("matmul " + std::string(dtypes.name) + " 8x2048x2048", [&](const std::string& name) {
      return matmul(engine, stream, name, 8, 2048, 2048, dtypes.a, dtypes.b, dtypes.out);
    });
  }
  for (const bool is_channels_last : {true, false}) {
    const std::string order = is_channels_last ? " nhwc" : " nchw";
    run("conv2d 8x64x56x56 3x3" + order, [&](const std::string& name) {
      return conv2d(engine, stream, name, 8, 64, 56, 64, 3, is_channels_last);
    });
    run("conv2d 1x64x56x56 3x3" + order, [&](const std::string& name) {
      return conv2d(engine, stream, name, 1, 64, 56, 64, 3, is_channels_last);
    });
    run("conv2d 1x256x14x14 3x3" + order, [&](const std::string& name) {
      return conv2d(engine, stream, name, 1, 256, 14, 256, 3, is_channels_last);
    });
    run("conv2d 1x256x56x56 1x1" + order, [&](const std::string& name) {
      return conv2d(engine, stream, name, 1, 256, 56, 64, 1, is_channels_last);
    });
    run("conv2d 1x16x8x8 3x3" + order, [&](const std::string& name) {
      return conv2d(engine, stream, name, 1, 16, 8, 16, 3, is_channels_last);
    });
  }
  return 0;
}
