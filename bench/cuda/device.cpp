// Operations on a GPU: the rate of the bytes that they must read and write, and the host's time of
// a call.
//
//   device_bench [MEGABYTES [SUBJECT]]
//
// MEGABYTES of the larger operand, 1024 by default; SUBJECT: rows whose name has it. Each row is
// the median of several rounds, each of as many calls as take some milliseconds, enqueued together
// and waited for once. device_peers.py prints the same rows of PyTorch.
//
// With TENURE_CUDA_DRIVER naming libtenure_null_cuda.so, which does nothing, the rows of the host
// are the library's own share of a call.
#include "device_rows.hpp"
#include "user_kernels_text.hpp"

namespace {

using namespace tenure::bench;

void unary(const char* name, tnr_unary_op op, tnr_dtype dtype, std::int64_t count) {
  if (!is_wanted(name)) return;
  Arrays arrays;
  const tnr_view_mut& a = arrays.add(dtype, {count});
  const tnr_view_mut& out = arrays.add(dtype, {count});
  report(name, static_cast<double>(2 * bytes_of(a)),
         [&] { ok(tnr_unary(g_context, op, &a.view, nullptr, &out), name); });
}

void binary(const char* name, tnr_binary_op op, tnr_dtype dtype, std::int64_t count) {
  if (!is_wanted(name)) return;
  Arrays arrays;
  const tnr_view_mut& a = arrays.add(dtype, {count});
  const tnr_view_mut& b = arrays.add(dtype, {count});
  const tnr_view_mut& out = arrays.add(dtype, {count});
  report(name, static_cast<double>(3 * bytes_of(a)),
         [&] { ok(tnr_binary(g_context, op, &a.view, &b.view, nullptr, &out), name); });
}

void move(const char* name, tnr_dtype dtype, std::vector<std::int64_t> shape,
          std::vector<std::int64_t> strides, std::int64_t offset = 0,
          tnr_dtype to = TNR_DTYPE_F32) {
  if (!is_wanted(name)) return;
  Arrays arrays;
  const tnr_view_mut& a = arrays.add(dtype, shape, std::move(strides), offset);
  const tnr_view_mut& out = arrays.add(to, shape);
  report(name, static_cast<double>(bytes_of(a) + bytes_of(out)), [&] {
    ok(dtype == to ? tnr_copy(g_context, &a.view, nullptr, &out)
                   : tnr_cast(g_context, &a.view, nullptr, &out),
       name);
  });
}

void reduce(const char* name, tnr_reduce_op op, tnr_dtype dtype, tnr_dtype to,
            std::vector<std::int64_t> shape, std::uint32_t axes) {
  if (!is_wanted(name)) return;
  Arrays arrays;
  const tnr_view_mut& a = arrays.add(dtype, shape);
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if ((axes >> i & 1) == 0) kept.push_back(shape[i]);
  }
  const tnr_view_mut& out = arrays.add(to, kept);
  tnr_reduce_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  const bool has_ddof = op == TNR_REDUCE_OP_VAR;
  report(name, static_cast<double>(bytes_of(a) + bytes_of(out)), [&] {
    ok(tnr_reduce(g_context, op, &a.view, axes, has_ddof ? &attributes : nullptr, &out), name);
  });
}

// A matrix of `side` x `side` f32 in the device's memory; one element in `one_of` is an entry.
tnr_view_mut sparse_elements(Arrays& arrays, std::int64_t side, std::uint32_t one_of) {
  const tnr_view_mut dense = arrays.add(TNR_DTYPE_F32, {side, side});
  std::vector<float> elements(static_cast<std::size_t>(side * side));
  std::uint64_t random = 1;
  for (float& element : elements) {
    // Knuth's linear congruential generator (MMIX).
    random = random * 6364136223846793005u + 1442695040888963407u;
    element = (random >> 33) % one_of == 0 ? 1.0f : 0.0f;
  }
  tnr_view from;
  ok(tnr_view_lend(elements.data(), elements.size() * sizeof(float), 0, TNR_DTYPE_F32, 2,
                   dense.view.shape, nullptr, &from),
     "tnr_view_lend");
  ok(tnr_copy(g_context, &from, nullptr, &dense), "tnr_copy");
  return dense;
}

// Dense to CSR and back, and its products with a vector and with 64 columns.
void sparse_rows(std::int64_t side, std::uint32_t one_of) {
  const auto name = [one_of](const char* what) {
    return std::string(what) + ", " + std::to_string(100 / one_of) + " %";
  };
  const std::string names[] = {name("dense to CSR f32"), name("CSR to dense f32"), name("SpMV f32"),
                               name("SpMM f32 by 64")};
  if (std::none_of(std::begin(names), std::end(names),
                   [](const std::string& row) { return is_wanted(row.c_str()); })) {
    return;
  }
  Arrays arrays;
  const tnr_view_mut dense = sparse_elements(arrays, side, one_of);
  tnr_sparse* const matrix =
      tnr_sparse_from_dense(g_context, TNR_SPARSE_FORMAT_CSR, &dense.view, nullptr);
  require(matrix != nullptr, "tnr_sparse_from_dense");
  tnr_sparse_view a = {};
  a.struct_size = sizeof a;
  ok(tnr_sparse_view_of(matrix, &a), "tnr_sparse_view_of");
  const auto matrix_bytes = static_cast<double>(8 * a.minor.shape[0] + 4 * (side + 1));
  const auto dense_bytes = static_cast<double>(bytes_of(dense));
  if (is_wanted(names[0].c_str())) {
    report(names[0].c_str(), dense_bytes + matrix_bytes, [&] {
      tnr_sparse* const made =
          tnr_sparse_from_dense(g_context, TNR_SPARSE_FORMAT_CSR, &dense.view, nullptr);
      require(made != nullptr, "tnr_sparse_from_dense");
      ok(tnr_sparse_release(made), "tnr_sparse_release");
    });
  }
  if (is_wanted(names[1].c_str())) {
    report(names[1].c_str(), dense_bytes + matrix_bytes,
           [&] { ok(tnr_sparse_to_dense(g_context, &a, nullptr, &dense), "tnr_sparse_to_dense"); });
  }
  const tnr_scalar one = tnr_scalar_i64(1);
  const tnr_scalar zero = tnr_scalar_i64(0);
  for (const std::int64_t columns : {1, 64}) {
    const char* const row = names[columns == 1 ? 2 : 3].c_str();
    if (!is_wanted(row)) continue;
    std::vector<std::int64_t> shape = {side};
    if (columns != 1) shape.push_back(columns);
    const tnr_view_mut b = arrays.add(TNR_DTYPE_F32, shape);
    const tnr_view_mut out = arrays.add(TNR_DTYPE_F32, shape);
    report(row, matrix_bytes + static_cast<double>(2 * bytes_of(b)), [&] {
      ok(tnr_sparse_matmul(g_context, TNR_ORIENTATION_AS_IS, &one, &a, &b.view, &zero, nullptr,
                           &out),
         row);
    });
  }
  ok(tnr_sparse_release(matrix), "tnr_sparse_release");
}

// Images and results of the same extents, by 3 by 3 filters or windows at every place.
struct Images {
  std::int64_t images;
  std::int64_t channels;
  std::int64_t filters;
  std::int64_t side;
  std::int64_t groups;
  bool is_channels_last;
};
const tnr_view_mut& images_of(Arrays& arrays, const Images& by, std::int64_t channels) {
  const std::int64_t places = by.side * by.side;
  const std::vector<std::int64_t> strides =
      by.is_channels_last
          ? std::vector<std::int64_t>{places * channels, 1, by.side * channels, channels}
          : std::vector<std::int64_t>{};
  return arrays.add(TNR_DTYPE_F32, {by.images, channels, by.side, by.side}, strides);
}
void convolve(const char* name, const Images& by) {
  if (!is_wanted(name)) return;
  Arrays arrays;
  const std::int64_t depth = by.channels / by.groups;
  const tnr_view_mut& a = images_of(arrays, by, by.channels);
  const tnr_view_mut& weight = arrays.add(TNR_DTYPE_F32, {by.filters, depth, 3, 3});
  const tnr_view_mut& out = images_of(arrays, by, by.filters);
  tnr_conv2d_attributes with = {};
  with.struct_size = sizeof with;
  for (std::int64_t& padding : with.padding) padding = 1;
  with.groups = by.groups;
  const auto elements = static_cast<double>(by.images * by.filters * by.side * by.side);
  report_flops(name, elements * 2 * 9 * static_cast<double>(depth), [&] {
    ok(tnr_conv2d(g_context, &a.view, &weight.view, nullptr, &with, &out), name);
  });
}
void pool(const char* name, const Images& by) {
  if (!is_wanted(name)) return;
  Arrays arrays;
  const tnr_view_mut& a = images_of(arrays, by, by.channels);
  const tnr_view_mut& out = images_of(arrays, by, by.channels);
  tnr_pool2d_attributes with = {};
  with.struct_size = sizeof with;
  for (std::int64_t& padding : with.padding) padding = 1;
  with.kernel[0] = with.kernel[1] = 3;
  with.strides[0] = with.strides[1] = 1;
  report(name, static_cast<double>(2 * bytes_of(a)),
         [&] { ok(tnr_pool2d(g_context, TNR_REDUCE_OP_MAX, &a.view, &with, &out), name); });
}
void image_rows() {
  convolve("conv2d f32, 64 by 56", {32, 64, 64, 56, 1, false});
  convolve("conv2d f32, 64 by 56, NHWC", {32, 64, 64, 56, 1, true});
  convolve("conv2d f32, 256 by 14", {32, 256, 256, 14, 1, false});
  convolve("conv2d f32, 256 by 14, NHWC", {32, 256, 256, 14, 1, true});
  convolve("conv2d f32, depthwise", {32, 256, 256, 28, 256, false});
  convolve("conv2d f32, depthwise, NHWC", {32, 256, 256, 28, 256, true});
  pool("max_pool2d f32", {32, 256, 256, 28, 256, false});
  pool("max_pool2d f32, NHWC", {32, 256, 256, 28, 256, true});
}

// Time of the host in a call of few elements, waited for once in many calls.
void host(const char* name, const std::function<void()>& call) {
  std::vector<double> rounds;
  for (int i = 0; i < 51; ++i) {
    ok(tnr_context_wait(g_context), "tnr_context_wait");
    const auto start = Clock::now();
    for (int j = 0; j < kMostCalls; ++j) call();
    rounds.push_back(std::chrono::duration<double>(Clock::now() - start).count() / kMostCalls);
  }
  std::sort(rounds.begin(), rounds.end());
  std::printf("%-28s %9.1f ns median, %9.1f ns of the slowest of 51 rounds\n", name,
              rounds[25] * 1e9, rounds[50] * 1e9);
}

void host_rows() {
  if (!is_wanted("host")) return;
  Arrays arrays;
  const tnr_view_mut& a = arrays.add(TNR_DTYPE_F32, {64});
  const tnr_view_mut& b = arrays.add(TNR_DTYPE_F32, {64});
  const tnr_view_mut& out = arrays.add(TNR_DTYPE_F32, {64});
  const tnr_view_mut& image = arrays.add(TNR_DTYPE_F32, {1, 4, 4, 4});
  const tnr_view_mut& filter = arrays.add(TNR_DTYPE_F32, {4, 4, 1, 1});
  const tnr_view_mut& result = arrays.add(TNR_DTYPE_F32, {1, 4, 4, 4});
  host("host: conv2d", [&] {
    ok(tnr_conv2d(g_context, &image.view, &filter.view, nullptr, nullptr, &result), "conv2d");
  });
  host("host: add", [&] {
    ok(tnr_binary(g_context, TNR_BINARY_OP_ADD, &a.view, &b.view, nullptr, &out), "add");
  });
  host("host: exp",
       [&] { ok(tnr_unary(g_context, TNR_UNARY_OP_EXP, &a.view, nullptr, &out), "exp"); });
  tnr_view_mut vouched[] = {a, b, out};
  for (tnr_view_mut& view : vouched) view.view.owner = 0;
  host("host: add, nobody's memory", [&] {
    ok(tnr_binary(g_context, TNR_BINARY_OP_ADD, &vouched[0].view, &vouched[1].view, nullptr,
                  &vouched[2]),
       "add");
  });
}

// A kernel of the user's own, of tests/cuda: its views ready, and lent anew from what another
// library hands over.
void crop_rows() {
  if (!is_wanted("host: masked crop")) return;
  const auto view_of = [](tnr_kernel_argument_kind kind, tnr_dtype dtype, std::uint32_t rank) {
    return tnr_kernel_parameter{kind, dtype, rank, rank, 0, 0};
  };
  const tnr_kernel_parameter place = view_of(TNR_KERNEL_ARGUMENT_KIND_SCALAR, TNR_DTYPE_I64, 0);
  const tnr_kernel_parameter parameters[] = {
      view_of(TNR_KERNEL_ARGUMENT_KIND_INPUT, TNR_DTYPE_U8, 3),
      view_of(TNR_KERNEL_ARGUMENT_KIND_INPUT, TNR_DTYPE_BOOL8, 2), place, place,
      view_of(TNR_KERNEL_ARGUMENT_KIND_OUTPUT, TNR_DTYPE_U8, 3)};
  tnr_kernel_options options = {};
  options.struct_size = sizeof options;
  options.name = "masked_crop";
  options.image = tenure::test::kUserPtx;
  options.image_bytes = sizeof tenure::test::kUserPtx;
  options.parameters = parameters;
  options.parameter_count = 5;
  tnr_kernel* const kernel = tnr_kernel_create(g_context, &options);
  require(kernel != nullptr, "tnr_kernel_create");

  Arrays arrays;
  const std::int64_t frame_shape[] = {1080, 1920, 3};
  const std::int64_t crop_shape[] = {300, 300, 3};
  tnr_view_mut frame = arrays.add(TNR_DTYPE_U8, {1080, 1920, 3});
  tnr_view_mut mask = arrays.add(TNR_DTYPE_U8, {1080, 1920});
  mask.view.dtype = TNR_DTYPE_BOOL8;
  tnr_view_mut crop = arrays.add(TNR_DTYPE_U8, {300, 300, 3});
  const tnr_scalar row = tnr_scalar_i64(400);
  const tnr_scalar col = tnr_scalar_i64(800);
  tnr_kernel_grid grid = {};
  grid.struct_size = sizeof grid;
  grid.blocks[0] = 10, grid.blocks[1] = 38, grid.blocks[2] = 1;
  grid.threads[0] = 32, grid.threads[1] = 8, grid.threads[2] = 1;
  const auto launch = [&](const tnr_view& from, const tnr_view& where, const tnr_view_mut& to) {
    const tnr_kernel_argument arguments[] = {{&from, nullptr, nullptr},
                                             {&where, nullptr, nullptr},
                                             {nullptr, nullptr, &row},
                                             {nullptr, nullptr, &col},
                                             {nullptr, &to, nullptr}};
    ok(tnr_kernel_launch(g_context, kernel, &grid, arguments, 5), "masked_crop");
  };
  host("host: masked crop", [&] { launch(frame.view, mask.view, crop); });
  for (tnr_view_mut* const view : {&frame, &mask, &crop}) view->view.owner = 0;
  host("host: masked crop, nobody's", [&] { launch(frame.view, mask.view, crop); });
  host("host: masked crop, lent anew", [&] {
    tnr_view views[3];
    const auto lend = [](const tnr_view& like, const std::int64_t* shape, tnr_view& view) {
      ok(tnr_view_lend(like.data, like.size_bytes, 0, like.dtype, like.rank, shape, nullptr, &view),
         "tnr_view_lend");
      view.device = like.device;
    };
    lend(frame.view, frame_shape, views[0]);
    lend(mask.view, frame_shape, views[1]);
    lend(crop.view, crop_shape, views[2]);
    launch(views[0], views[1], {views[2]});
  });
  tnr_kernel_release(kernel);
}

// Ten products, each behind a softmax: twenty launches one by one, as a program, and as one launch
// of a program that is captured.
void graph_rows() {
  if (!is_wanted("host: 20 operations")) return;
  constexpr int kProducts = 10;
  constexpr std::uint32_t kRows = 1u << 1;
  const std::int64_t shape[] = {64, 64};
  tnr_graph* const graph = tnr_graph_create();
  require(graph != nullptr, "tnr_graph_create");
  std::uint32_t x;
  std::uint32_t w;
  ok(tnr_graph_add_input(graph, TNR_DTYPE_F32, 2, shape, &x), "tnr_graph_add_input");
  ok(tnr_graph_add_input(graph, TNR_DTYPE_F32, 2, shape, &w), "tnr_graph_add_input");
  const auto add = [&](std::uint32_t code, std::vector<std::uint32_t> operands,
                       std::uint32_t flags) {
    tnr_graph_node node = {};
    node.struct_size = sizeof node;
    node.code = code;
    node.operands = operands.data();
    node.operand_count = static_cast<std::uint32_t>(operands.size());
    node.flags = flags;
    ok(tnr_graph_add_node(graph, &node, &x), "tnr_graph_add_node");
  };
  for (int i = 0; i < kProducts; ++i) {
    add(TNR_NODE_MATMUL, {x, w}, 0);
    add(TNR_NODE_NORMALIZE + TNR_NORMALIZE_OP_SOFTMAX, {x}, kRows);
  }
  ok(tnr_graph_add_output(graph, x, TNR_OPERAND_NONE), "tnr_graph_add_output");
  tnr_program* const program = tnr_program_create(nullptr, graph, nullptr);
  require(program != nullptr, "tnr_program_create");

  Arrays arrays;
  const tnr_view_mut in = arrays.add(TNR_DTYPE_F32, {64, 64});
  const tnr_view_mut weight = arrays.add(TNR_DTYPE_F32, {64, 64});
  const tnr_view_mut product = arrays.add(TNR_DTYPE_F32, {64, 64});
  const tnr_view_mut out = arrays.add(TNR_DTYPE_F32, {64, 64});
  const tnr_scalar one = tnr_scalar_f64(1);
  const tnr_scalar zero = tnr_scalar_f64(0);
  const auto row = [](const char* name, const std::function<void()>& call) {
    host(name, call);
    std::printf("%-28s %9.1f ns a run, with the device\n", "", seconds_of(kMostCalls, call) * 1e9);
  };
  row("host: 20 operations, calls", [&] {
    const tnr_view* from = &in.view;
    for (int i = 0; i < kProducts; ++i, from = &out.view) {
      ok(tnr_matmul(g_context, &one, from, &weight.view, &zero, nullptr, &product), "tnr_matmul");
      ok(tnr_normalize(g_context, TNR_NORMALIZE_OP_SOFTMAX, &product.view, kRows, nullptr, &out),
         "tnr_normalize");
    }
  });
  const tnr_view* const inputs[] = {&in.view, &weight.view};
  const tnr_view_mut* const outputs[] = {&out};
  row("host: 20 operations, program", [&] {
    ok(tnr_program_run(g_context, program, inputs, 2, nullptr, outputs, 1), "tnr_program_run");
  });
  tnr_bound* const bound = tnr_bound_create(g_context, program, inputs, 2, nullptr, outputs, 1);
  require(bound != nullptr, "tnr_bound_create");
  row("host: 20 operations, bound", [&] {
    ok(tnr_bound_run(g_context, bound, inputs, 2, nullptr, outputs, 1), "tnr_bound_run");
  });
  ok(tnr_bound_release(bound), "tnr_bound_release");
  const tnr_bound_attributes attributes = {sizeof attributes, 0, TNR_BOUND_CAPTURED, 0};
  tnr_bound* const captured =
      tnr_bound_create(g_context, program, inputs, 2, &attributes, outputs, 1);
  require(captured != nullptr, "tnr_bound_create");
  row("host: 20 operations, captured", [&] {
    ok(tnr_bound_run(g_context, captured, nullptr, 0, nullptr, nullptr, 0), "tnr_bound_run");
  });
  ok(tnr_bound_release(captured), "tnr_bound_release");
  ok(tnr_program_release(program), "tnr_program_release");
  ok(tnr_graph_release(graph), "tnr_graph_release");
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t megabytes = argc > 1 ? std::atoll(argv[1]) : 1024;
  g_subject = argc > 2 ? argv[2] : "";
  g_context = open_context(TNR_ENGINE_OWN);
  std::printf("%s, %lld MB of the larger operand\n", name_of_gpu().c_str(),
              static_cast<long long>(megabytes));

  const std::int64_t words = megabytes * (1 << 20) / 4;
  const std::int64_t side = static_cast<std::int64_t>(1) << (megabytes >= 1024 ? 14 : 12);
  move("copy f32", TNR_DTYPE_F32, {words}, {});
  move("copy f32, from element 1", TNR_DTYPE_F32, {words}, {}, 1);
  move("copy f32, transposed", TNR_DTYPE_F32, {side, side}, {1, side});
  move("copy f32, every second", TNR_DTYPE_F32, {words / 2}, {2});
  move("cast f32 to f16", TNR_DTYPE_F32, {words}, {}, 0, TNR_DTYPE_F16);
  move("cast i8 to f32", TNR_DTYPE_I8, {words}, {}, 0, TNR_DTYPE_F32);
  unary("exp f32", TNR_UNARY_OP_EXP, TNR_DTYPE_F32, words);
  unary("tanh f32", TNR_UNARY_OP_TANH, TNR_DTYPE_F32, words);
  unary("sin f32", TNR_UNARY_OP_SIN, TNR_DTYPE_F32, words);
  unary("gelu f32", TNR_UNARY_OP_GELU, TNR_DTYPE_F32, words);
  unary("gelu f16", TNR_UNARY_OP_GELU, TNR_DTYPE_F16, 2 * words);
  binary("add f32", TNR_BINARY_OP_ADD, TNR_DTYPE_F32, words);
  binary("add f64", TNR_BINARY_OP_ADD, TNR_DTYPE_F64, words / 2);
  binary("add i8", TNR_BINARY_OP_ADD, TNR_DTYPE_I8, 4 * words);
  binary("add bf16", TNR_BINARY_OP_ADD, TNR_DTYPE_BF16, 2 * words);
  reduce("sum f32, all", TNR_REDUCE_OP_SUM, TNR_DTYPE_F32, TNR_DTYPE_F32, {words}, 1);
  reduce("sum f32, rows of 4096", TNR_REDUCE_OP_SUM, TNR_DTYPE_F32, TNR_DTYPE_F32,
         {words / 4096, 4096}, 2);
  reduce("sum f32, rows of 33", TNR_REDUCE_OP_SUM, TNR_DTYPE_F32, TNR_DTYPE_F32, {words / 33, 33},
         2);
  reduce("sum f32, columns of 4096", TNR_REDUCE_OP_SUM, TNR_DTYPE_F32, TNR_DTYPE_F32,
         {words / 4096, 4096}, 1);
  reduce("sum i8, all", TNR_REDUCE_OP_SUM, TNR_DTYPE_I8, TNR_DTYPE_I64, {4 * words}, 1);
  reduce("max f32, all", TNR_REDUCE_OP_MAX, TNR_DTYPE_F32, TNR_DTYPE_F32, {words}, 1);
  reduce("argmax f32, rows of 4096", TNR_REDUCE_OP_ARGMAX, TNR_DTYPE_F32, TNR_DTYPE_I64,
         {words / 4096, 4096}, 2);
  reduce("var f32, rows of 4096", TNR_REDUCE_OP_VAR, TNR_DTYPE_F32, TNR_DTYPE_F32,
         {words / 4096, 4096}, 2);
  reduce("logsumexp f32, rows of 4096", TNR_REDUCE_OP_LOGSUMEXP, TNR_DTYPE_F32, TNR_DTYPE_F32,
         {words / 4096, 4096}, 2);
  std::int64_t sparse_side = 1;
  while (4 * sparse_side * sparse_side <= words) sparse_side *= 2;
  sparse_rows(sparse_side, 100);
  sparse_rows(sparse_side, 10);
  image_rows();
  host_rows();
  crop_rows();
  graph_rows();
  ok(tnr_context_release(g_context), "tnr_context_release");
}
