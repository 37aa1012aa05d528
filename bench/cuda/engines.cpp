// Products and convolutions on a GPU by the library's own kernels, and by cuBLASLt and cuDNN.
//
//   engine_bench [SUBJECT]
//
// SUBJECT: rows whose name has it. Each row is the median time of a call by either, as device_bench
// has it, and how many times as long the own kernels take. A call that the libraries do not
// implement uses the own kernels both times. The rows of a missing library say so.
#include "device_rows.hpp"

namespace {

using namespace tenure::bench;

tnr_context* g_own;
tnr_context* g_vendor;

// A call in g_context, on arrays of its own.
using Call = std::function<tnr_status()>;
using Row = std::function<Call(Arrays&)>;

// Below 0 where the context's engine has no library.
double seconds_by(tnr_context* context, const char* name, const Row& row) {
  g_context = context;
  Arrays arrays;
  const Call call = row(arrays);
  const tnr_status status = call();
  if (status == TNR_STATUS_UNSUPPORTED) return -1;
  ok(status, name);
  return median_seconds([&] { ok(call(), name); });
}

void compare(const std::string& name, double flops, const Row& row) {
  const double own = seconds_by(g_own, name.c_str(), row);
  const double vendor = seconds_by(g_vendor, name.c_str(), row);
  std::printf("%-34s %9.1f us %8.1f Gflop/s", name.c_str(), own * 1e6, flops / own * 1e-9);
  if (vendor < 0) {
    std::printf("  %s\n", tnr_last_error()->message);
  } else {
    std::printf(" %9.1f us %8.1f Gflop/s %6.2f\n", vendor * 1e6, flops / vendor * 1e-9,
                own / vendor);
  }
  std::fflush(stdout);
}

const char* name_of(tnr_dtype dtype) {
  switch (dtype) {
    case TNR_DTYPE_F64: return "f64";
    case TNR_DTYPE_F32: return "f32";
    case TNR_DTYPE_F16: return "f16";
    case TNR_DTYPE_BF16: return "bf16";
    default: return "i8";
  }
}

struct Product {
  const char* shape;
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t depth;
  std::int64_t columns;
};
constexpr Product kProducts[] = {
    {"64 cubed", 1, 64, 64, 64},
    {"256 cubed", 1, 256, 256, 256},
    {"1024 cubed", 1, 1024, 1024, 1024},
    {"4096 cubed", 1, 4096, 4096, 4096},
    {"8 by 4096 squared", 1, 8, 4096, 4096},
    {"64 of 256 cubed", 64, 256, 256, 256},
};

// The columns of the right factor are adjacent along the depth, as a layer's weights are.
void multiply(tnr_dtype dtype, const Product& by) {
  const std::string name = std::string("matmul ") + name_of(dtype) + ", " + by.shape;
  if (!is_wanted(name.c_str())) return;
  const double flops = 2.0 * static_cast<double>(by.batch * by.rows) *
                       static_cast<double>(by.depth) * static_cast<double>(by.columns);
  compare(name, flops, [&](Arrays& arrays) {
    const tnr_view_mut a = arrays.add(dtype, {by.batch, by.rows, by.depth});
    const tnr_view_mut b =
        arrays.add(dtype, {by.batch, by.depth, by.columns}, {by.depth * by.columns, 1, by.depth});
    const tnr_view_mut out =
        arrays.add(dtype == TNR_DTYPE_I8 ? TNR_DTYPE_I32 : dtype, {by.batch, by.rows, by.columns});
    return [=] {
      const tnr_scalar one = tnr_scalar_i64(1);
      const tnr_scalar zero = tnr_scalar_i64(0);
      return tnr_matmul(g_context, &one, &a.view, &b.view, &zero, nullptr, &out);
    };
  });
}

enum class Order { kChannelsFirst, kChannelsLast };

struct Convolution {
  const char* shape;
  std::int64_t images;
  std::int64_t channels;
  std::int64_t filters;
  std::int64_t side;
  std::int64_t kernel;
  std::int64_t groups;
};
constexpr Convolution kConvolutions[] = {
    {"3x3, 64 by 56", 32, 64, 64, 56, 3, 1},
    {"3x3, 256 by 14", 32, 256, 256, 14, 3, 1},
    {"1x1, 256 by 28", 32, 256, 256, 28, 1, 1},
    {"3x3 depthwise, 256 by 28", 32, 256, 256, 28, 3, 256},
};

tnr_view_mut images(Arrays& arrays, tnr_dtype dtype, Order order,
                    const std::vector<std::int64_t>& shape) {
  const std::int64_t places = shape[2] * shape[3];
  std::vector<std::int64_t> strides;
  if (order == Order::kChannelsLast) {
    strides = {places * shape[1], 1, shape[3] * shape[1], shape[1]};
  }
  return arrays.add(dtype, shape, strides);
}

// With a bias and relu.
void convolve(tnr_dtype dtype, Order order, const Convolution& by) {
  const std::string name = std::string("conv2d ") + name_of(dtype) + " " + by.shape +
                           (order == Order::kChannelsLast ? ", NHWC" : "");
  if (!is_wanted(name.c_str())) return;
  const std::int64_t depth = by.channels / by.groups;
  const double flops = 2.0 * static_cast<double>(by.images * by.filters * by.side * by.side) *
                       static_cast<double>(depth * by.kernel * by.kernel);
  compare(name, flops, [&](Arrays& arrays) {
    const tnr_view_mut a = images(arrays, dtype, order, {by.images, by.channels, by.side, by.side});
    const tnr_view_mut weight =
        images(arrays, dtype, order, {by.filters, depth, by.kernel, by.kernel});
    const tnr_view_mut bias = arrays.add(dtype, {by.filters});
    const tnr_view_mut out =
        images(arrays, dtype, order, {by.images, by.filters, by.side, by.side});
    tnr_conv2d_attributes with = {};
    with.struct_size = sizeof with;
    for (std::int64_t& padding : with.padding) padding = by.kernel / 2;
    with.groups = by.groups;
    with.activation = TNR_UNARY_OP_RELU;
    return [=] { return tnr_conv2d(g_context, &a.view, &weight.view, &bias.view, &with, &out); };
  });
}

}  // namespace

int main(int argc, char** argv) {
  g_subject = argc > 1 ? argv[1] : "";
  g_own = open_context(TNR_ENGINE_OWN);
  g_vendor = open_context(TNR_ENGINE_VENDOR);
  std::printf("%s; own kernels, the libraries, and own by libraries\n", name_of_gpu().c_str());
  for (const tnr_dtype dtype :
       {TNR_DTYPE_F32, TNR_DTYPE_F16, TNR_DTYPE_BF16, TNR_DTYPE_F64, TNR_DTYPE_I8}) {
    for (const Product& by : kProducts) multiply(dtype, by);
  }
  for (const tnr_dtype dtype : {TNR_DTYPE_F32, TNR_DTYPE_F16, TNR_DTYPE_BF16}) {
    for (const Order order : {Order::kChannelsFirst, Order::kChannelsLast}) {
      for (const Convolution& by : kConvolutions) convolve(dtype, order, by);
    }
  }
  ok(tnr_context_release(g_vendor), "tnr_context_release");
  ok(tnr_context_release(g_own), "tnr_context_release");
}
