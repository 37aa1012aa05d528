// Convolutions and their gradients by the images and by the filters, on the layers of ResNet-50.
//
//   convolution_gradients_bench [THREADS [NAME]]
//
// The three calls take turns. A figure is the best of the rounds, in GFLOP/s.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tenure/tenure.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 41;
constexpr double kRoundSeconds = 0.008;

struct Layer {
  std::int64_t images, channels, side, filters, kernel, stride;
};
constexpr Layer kLayers[] = {
    {8, 3, 224, 64, 7, 2},    {8, 64, 56, 64, 3, 1},   {8, 128, 28, 128, 3, 1},
    {8, 256, 14, 256, 3, 1},  {8, 512, 7, 512, 3, 1},  {1, 64, 56, 64, 3, 1},
    {8, 64, 56, 256, 1, 1},   {8, 256, 56, 64, 1, 1},  {8, 512, 28, 128, 1, 1},
    {8, 1024, 14, 256, 1, 1}, {8, 512, 7, 2048, 1, 1}, {8, 256, 56, 128, 1, 2},
    {8, 128, 56, 128, 3, 2},
};

void require(tnr_status status, const char* what) {
  if (status == TNR_STATUS_OK) return;
  std::fprintf(stderr, "%s: %s\n", what, tnr_last_error()->message);
  std::exit(1);
}

// Small numbers in memory of either order.
class Images {
 public:
  Images(std::int64_t count, std::int64_t channels, std::int64_t side, bool is_channels_last)
      : memory_(static_cast<std::size_t>(count * channels * side * side)) {
    for (std::size_t i = 0; i < memory_.size(); ++i) memory_[i] = static_cast<float>(i % 17) - 8;
    view_.data = view_.base = memory_.data();
    view_.size_bytes = memory_.size() * sizeof(float);
    view_.dtype = TNR_DTYPE_F32;
    view_.rank = 4;
    view_.device.kind = TNR_DEVICE_KIND_CPU;
    const std::int64_t shape[] = {count, channels, side, side};
    const std::int64_t rows[] = {channels * side * side, side * side, side, 1};
    const std::int64_t pixels[] = {channels * side * side, 1, side * channels, channels};
    std::copy_n(shape, 4, view_.shape);
    std::copy_n(is_channels_last ? pixels : rows, 4, view_.strides);
  }
  [[nodiscard]] const tnr_view* view() const { return &view_; }
  [[nodiscard]] tnr_view_mut out() const { return {view_}; }

 private:
  std::vector<float> memory_;
  tnr_view view_ = {};
};

double seconds_of(const std::function<void()>& call, int calls) {
  const auto begin = Clock::now();
  for (int i = 0; i < calls; ++i) call();
  return std::chrono::duration<double>(Clock::now() - begin).count() / calls;
}

void measure(tnr_context* context, const Layer& layer, bool is_channels_last, const char* only) {
  const auto& [images, channels, side, filters, kernel, stride] = layer;
  const std::int64_t out_side = (side + kernel / 2 * 2 - kernel) / stride + 1;
  const std::string name = std::to_string(images) + "x" + std::to_string(channels) + "x" +
                           std::to_string(side) + " by " + std::to_string(filters) + " of " +
                           std::to_string(kernel) + "x" + std::to_string(kernel) +
                           (stride == 1 ? "" : ", stride " + std::to_string(stride)) +
                           (is_channels_last ? ", NHWC" : "");
  if (only != nullptr && name.find(only) == std::string::npos) return;
  const Images a(images, channels, side, is_channels_last);
  const Images g(images, filters, out_side, is_channels_last);
  const Images weight(filters, channels, kernel, false);
  const Images to(images, filters, out_side, is_channels_last);
  const Images to_images(images, channels, side, is_channels_last);
  const Images to_filters(filters, channels, kernel, false);
  tnr_conv2d_attributes with = {};
  with.struct_size = sizeof with;
  with.strides[0] = with.strides[1] = stride;
  std::fill_n(with.padding, 4, kernel / 2);
  const std::function<void()> calls[] = {
      [&] {
        const tnr_view_mut out = to.out();
        require(tnr_conv2d(context, a.view(), weight.view(), nullptr, &with, &out), "conv2d");
      },
      [&] {
        const tnr_view_mut out = to_images.out();
        require(tnr_conv2d_transposed(context, g.view(), weight.view(), nullptr, &with, &out),
                "conv2d_transposed");
      },
      [&] {
        const tnr_view_mut out = to_filters.out();
        require(tnr_conv2d_filters(context, a.view(), g.view(), &with, &out), "conv2d_filters");
      }};
  const double operations = 2.0 * static_cast<double>(images * out_side * out_side * filters) *
                            static_cast<double>(channels * kernel * kernel);
  std::vector<double> rates[3];
  int counts[3];
  for (int i = 0; i < 3; ++i) {
    counts[i] = std::max(1, static_cast<int>(kRoundSeconds / seconds_of(calls[i], 1)));
  }
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 3; ++i) {
      rates[i].push_back(operations / seconds_of(calls[i], counts[i]) * 1e-9);
    }
  }
  const auto best = [&](int i) { return *std::ranges::max_element(rates[i]); };
  std::printf("%-44s %8.1f %8.1f %8.1f %6.2f\n", name.c_str(), best(0), best(1), best(2),
              best(2) / best(0));
}

}  // namespace

int main(int argc, char** argv) {
  tnr_context_options options = {};
  options.struct_size = sizeof options;
  options.thread_count = argc > 1 ? static_cast<std::uint32_t>(std::atoi(argv[1])) : 1;
  tnr_context* const context = tnr_context_create(&options);
  if (context == nullptr) return 1;
  std::printf("%-44s %8s %8s %8s %6s\n", "GFLOP/s", "forward", "images", "filters", "ratio");
  for (const bool is_channels_last : {false, true}) {
    for (const Layer& layer : kLayers) {
      measure(context, layer, is_channels_last, argc > 2 ? argv[2] : nullptr);
    }
  }
  return tnr_context_release(context) == TNR_STATUS_OK ? 0 : 1;
}
