#include "program_kinds.hpp"

#include <algorithm>
#include <numeric>

namespace tenure::test {
namespace {

constexpr auto F32 = TNR_DTYPE_F32;
constexpr auto F64 = TNR_DTYPE_F64;
constexpr auto I32 = TNR_DTYPE_I32;
constexpr auto I64 = TNR_DTYPE_I64;
constexpr auto U64 = TNR_DTYPE_U64;

std::uint32_t with_op(std::uint32_t kind, std::int32_t op) {
  return kind + static_cast<std::uint32_t>(op);
}
std::int32_t op_of(const KindCase& of) { return static_cast<std::int32_t>(of.code & 0xffffu); }
std::uint32_t axis_of(const KindCase& of) { return static_cast<std::uint32_t>(of.numbers[0]); }

KindOperand array(const Shape& shape, tnr_dtype dtype, std::vector<double> numbers = {}) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  for (std::size_t i = numbers.size(); i < count; ++i) {
    numbers.push_back(static_cast<double>((i * 7 + 3) % 11) - 4 + (dtype == F32 ? 0.25 : 0));
  }
  return {shape, dtype, std::move(numbers), false};
}
KindOperand scalar(tnr_dtype dtype, double number) { return {{}, dtype, {number}, true}; }

template <class T, class Set>
void set(KindCase& of, const Set& fields) {
  auto attributes = std::make_shared<T>();
  std::memset(attributes.get(), 0, sizeof(T));
  attributes->struct_size = sizeof(T);
  fields(*attributes);
  of.attributes = attributes;
  of.attribute_bytes = sizeof(T);
}
template <class T>
const T* get(const KindCase& of) {
  return static_cast<const T*>(of.attributes.get());
}

// A call of a view function, whose elements are then copied.
template <class See>
auto seen(const See& see) {
  return [=](const KindCase& of, const Views& v, const tnr_view_mut* out) {
    tnr_view view = {};
    const tnr_status status = see(of, *v[0], view);
    return status == TNR_STATUS_OK ? tnr_copy(of.context, &view, nullptr, out) : status;
  };
}

std::vector<std::uint32_t> axes_of(const KindCase& of) {
  return {of.numbers.begin(), of.numbers.end()};
}

// Adds cases; the rank of each is that of its views.
struct Adder {
  std::vector<KindCase>& cases;

  KindCase& operator()(
      const char* name, std::uint32_t code, std::vector<KindOperand> operands, Shape numbers,
      std::function<tnr_status(const KindCase& of, const Views&, const tnr_view_mut*)> call) const {
    KindCase& added = cases.emplace_back();
    added.name = name;
    added.code = code;
    added.operands = std::move(operands);
    added.numbers = std::move(numbers);
    added.call = std::move(call);
    return added;
  }
};

void add_elementwise(const Adder& add) {
  add("unary", with_op(TNR_NODE_UNARY, TNR_UNARY_OP_EXP), {array({2, 3}, F32)}, {},
      [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
        return tnr_unary(of.context, op_of(of), v[0], nullptr, out);
      });
  add("binary", with_op(TNR_NODE_BINARY, TNR_BINARY_OP_SUB), {array({2, 3}, F32), array({3}, F32)},
      {}, [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
        return tnr_binary(of.context, op_of(of), v[0], v[1], nullptr, out);
      });
  add("ternary", with_op(TNR_NODE_TERNARY, TNR_TERNARY_OP_FMA),
      {array({2, 3}, F32), array({3}, F32), array({2, 3}, F32)}, {},
      [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
        return tnr_ternary(of.context, op_of(of), v[0], v[1], v[2], nullptr, out);
      });
  add("compare", with_op(TNR_NODE_COMPARE, TNR_COMPARE_OP_LT),
      {array({2, 3}, F32), array({2, 3}, F32, {1, -2, 0.5})}, {},
      [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
        return tnr_compare(of.context, op_of(of), v[0], v[1], nullptr, out);
      });
  add("select", TNR_NODE_SELECT,
      {array({2, 3}, TNR_DTYPE_BOOL8, {1, 0, 0, 1, 1, 0}), array({2, 3}, F32), array({3}, F32)}, {},
      [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
        return tnr_select(of.context, v[0], v[1], v[2], nullptr, out);
      });
  add("cast", TNR_NODE_CAST, {array({2, 3}, F32)}, {},
      [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
        return tnr_cast(of.context, v[0], nullptr, out);
      })
      .dtype = I32;
}

void add_reductions(const Adder& add) {
  add("reduce", with_op(TNR_NODE_REDUCE, TNR_REDUCE_OP_SUM), {array({4, 3}, F32)}, {},
      [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
        return tnr_reduce(of.context, op_of(of), v[0], of.flags, nullptr, out);
      })
      .flags = 2;
  add("sum_to", TNR_NODE_SUM_TO, {array({4, 5, 3}, F32), array({5, 1}, I32)}, {},
      [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
        if (out->view.rank > v[0]->rank) return TNR_STATUS_INVALID_ARGUMENT;
        // The output with the axes of the operand.
        tnr_view_mut kept = *out;
        std::uint32_t axes = 0;
        for (std::uint32_t axis = kept.view.rank = v[0]->rank, from = out->view.rank; axis-- > 0;) {
          const bool is_missing = from == 0;
          kept.view.shape[axis] = is_missing ? 1 : out->view.shape[--from];
          kept.view.strides[axis] = is_missing ? 1 : out->view.strides[from];
          if (kept.view.shape[axis] != v[0]->shape[axis]) axes |= 1u << axis;
        }
        if (axes != 0) {
          return tnr_reduce(of.context, TNR_REDUCE_OP_SUM, v[0], axes, nullptr, &kept);
        }
        return v[0]->dtype == out->view.dtype ? tnr_copy(of.context, v[0], nullptr, &kept)
                                              : tnr_cast(of.context, v[0], nullptr, &kept);
      });
  add("normalize", with_op(TNR_NODE_NORMALIZE, TNR_NORMALIZE_OP_SOFTMAX), {array({4, 3}, F32)}, {},
      [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
        return tnr_normalize(of.context, op_of(of), v[0], of.flags, nullptr, out);
      })
      .flags = 2;
  add("scan", with_op(TNR_NODE_SCAN, TNR_SCAN_OP_SUM), {array({4, 3}, F32)}, {1},
      [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
        return tnr_scan(of.context, op_of(of), v[0], axis_of(of), nullptr, out);
      });
}

void add_products(const Adder& add) {
  const auto product = [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
    const tnr_scalar one = tnr_scalar_i64(1);
    const tnr_scalar zero = tnr_scalar_i64(0);
    tnr_matmul_attributes with = {};
    with.struct_size = sizeof with;
    with.bias = v.size() > 2 ? v[2] : nullptr;
    return tnr_matmul(of.context, &one, v[0], v[1], &zero, &with, out);
  };
  add("matmul", TNR_NODE_MATMUL, {array({4, 3}, F32), array({3, 5}, F32), array({5}, F32)}, {},
      product);
  add("matmul of bytes", TNR_NODE_MATMUL,
      {array({4, 3}, TNR_DTYPE_U8, {1, 2, 3, 200, 5, 255, 7, 8, 9, 0, 1, 2}),
       array({3, 5}, TNR_DTYPE_I8)},
      {}, product);
  set<tnr_einsum_node_attributes>(
      add("einsum", TNR_NODE_EINSUM, {array({4, 3}, F32), array({3, 5}, F32), array({5}, F32)}, {},
          [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
            std::vector<tnr_view> views;
            for (const tnr_view* const view : v) views.push_back(*view);
            return tnr_einsum(of.context, get<tnr_einsum_node_attributes>(of)->spec, views.data(),
                              static_cast<std::uint32_t>(views.size()), nullptr, out);
          }),
      [](tnr_einsum_node_attributes& a) { std::strcpy(a.spec, "ij,jk,k->ki"); });
}

// An operand that a node may lack.
const tnr_view* given(const Views& v, std::size_t i) { return i < v.size() ? v[i] : nullptr; }

// All results of tnr_quantize_dynamic(), where `out` is one of them.
tnr_status quantize_rows(const KindCase& of, const Views& v, const tnr_view_mut* out) {
  const bool has_four_bits = op_of(of) >= TNR_QUANTIZE_RESULT_FOUR_BIT_VALUES;
  const bool is_affine = !has_four_bits && op_of(of) >= TNR_QUANTIZE_RESULT_AFFINE_VALUES;
  const bool is_values = op_of(of) == TNR_QUANTIZE_RESULT_VALUES ||
                         op_of(of) == TNR_QUANTIZE_RESULT_AFFINE_VALUES ||
                         op_of(of) == TNR_QUANTIZE_RESULT_FOUR_BIT_VALUES;
  const bool is_zeros = op_of(of) == TNR_QUANTIZE_RESULT_AFFINE_ZEROS;
  std::vector<unsigned char> bytes[3];
  const auto unwanted = [&](unsigned i, const Shape& shape, tnr_dtype dtype) -> tnr_view_mut {
    bytes[i] = elements_of({}, shape, dtype);
    bytes[i].resize(bytes[i].size() + 16);
    return {view_over(bytes[i].data(), shape, dtype)};
  };
  const tnr_view_mut values = unwanted(0, Shape(v[0]->shape, v[0]->shape + v[0]->rank), of.dtype);
  const tnr_view_mut scales = unwanted(1, of.numbers, F32);
  const tnr_view_mut zeros = unwanted(2, of.numbers, of.dtype);
  const tnr_view_mut* const of_zeros = is_zeros ? out : &zeros;
  const tnr_quantize_dynamic_attributes with = {sizeof with, has_four_bits ? 4u : 0u, 0};
  return tnr_quantize_dynamic(of.context, v[0], &with, is_values || is_zeros ? &scales : out,
                              is_affine ? of_zeros : nullptr, is_values ? out : &values);
}

tnr_status quantized_product(const KindCase& of, const Views& v, const tnr_view_mut* out) {
  tnr_quantized_matmul_attributes with = {};
  with.struct_size = sizeof with;
  with.bias = given(v, 6);
  with.out_scale = given(v, 7);
  with.out_zero = given(v, 8);
  if (const auto* const epilogue = get<tnr_matmul_attributes>(of)) {
    with.activation = epilogue->activation;
    with.flags = epilogue->flags;
    with.low = epilogue->low;
    with.high = epilogue->high;
  }
  return tnr_quantized_matmul(of.context, v[0], v[2], given(v, 4), v[1], v[3], given(v, 5), &with,
                              out);
}

tnr_status quantized_convolution(const KindCase& of, const Views& v, const tnr_view_mut* out) {
  tnr_quantized_conv2d_attributes with = {};
  with.struct_size = sizeof with;
  with.bias = given(v, 6);
  with.out_scale = given(v, 7);
  with.out_zero = given(v, 8);
  if (const auto* const windows = get<tnr_conv2d_attributes>(of)) {
    std::ranges::copy(windows->strides, with.strides);
    std::ranges::copy(windows->padding, with.padding);
    std::ranges::copy(windows->dilations, with.dilations);
    with.groups = windows->groups;
    with.activation = windows->activation;
    with.flags = windows->flags;
    with.low = windows->low;
    with.high = windows->high;
  }
  if (v[2] != nullptr) {
    return tnr_quantized_conv2d(of.context, v[0], v[2], given(v, 4), v[1], v[3], given(v, 5), &with,
                                out);
  }
  // Numbers, whose scale and zero point are chosen first.
  const Shape shape(v[0]->shape, v[0]->shape + v[0]->rank);
  std::vector<unsigned char> bytes = elements_of({}, shape, TNR_DTYPE_U8);
  bytes.resize(bytes.size() + 16);
  float scale = 0;
  unsigned char zero = 0;
  const tnr_view_mut values = {view_over(bytes.data(), shape, TNR_DTYPE_U8)};
  const tnr_view_mut scales = {view_over(&scale, {}, F32)};
  const tnr_view_mut zeros = {view_over(&zero, {}, TNR_DTYPE_U8)};
  const tnr_status status =
      tnr_quantize_dynamic(of.context, v[0], nullptr, &scales, &zeros, &values);
  if (status != TNR_STATUS_OK) return status;
  return tnr_quantized_conv2d(of.context, &values.view, &scales.view, &zeros.view, v[1], v[3],
                              given(v, 5), &with, out);
}

void add_quantized_images(const Adder& add) {
  constexpr auto I8 = TNR_DTYPE_I8;
  constexpr auto U8 = TNR_DTYPE_U8;
  const KindOperand image = array({2, 4, 5, 6}, U8);
  const KindOperand weight = array({6, 2, 3, 2}, I8);
  const KindOperand scales = array({6, 1, 1, 1}, F32, {0.5, 0.25, 2, 1, 4, 0.125});
  const KindOperand zeros = array({6, 1, 1, 1}, I8, {1, 0, -7, 3, 0, 2});
  const KindOperand scale = array({1}, F32, {0.5});
  const KindOperand zero = array({1}, U8, {3});
  const KindOperand bias = array({6}, F32);
  const auto strided = [](tnr_conv2d_attributes& a) {
    a.strides[0] = 2;
    a.padding[0] = a.padding[3] = 1;
    a.groups = 2;
    a.activation = TNR_UNARY_OP_RELU;
  };
  KindCase& numbers =
      add("quantized convolution of numbers", TNR_NODE_QUANTIZED_CONV2D,
          {array({2, 4, 5, 6}, F32), weight, {}, scales, {}, {}, bias}, {}, quantized_convolution);
  numbers.dtype = F32;
  set<tnr_conv2d_attributes>(numbers, strided);
  KindCase& integers = add("quantized convolution of integers", TNR_NODE_QUANTIZED_CONV2D,
                           {image, weight, scale, scales, zero, zeros}, {}, quantized_convolution);
  integers.dtype = TNR_DTYPE_F16;
  set<tnr_conv2d_attributes>(integers, strided);
  KindCase& bytes =
      add("quantized convolution that gives integers", TNR_NODE_QUANTIZED_CONV2D,
          {image, weight, scale, scales, {}, {}, bias, scale, zero}, {}, quantized_convolution);
  bytes.dtype = U8;
  set<tnr_conv2d_attributes>(bytes, strided);
}

void add_quantized(const Adder& add) {
  constexpr auto I8 = TNR_DTYPE_I8;
  constexpr auto U8 = TNR_DTYPE_U8;
  const KindOperand row_scales = array({4, 1}, F32, {0.5, 0.25, 1, 2});
  const KindOperand row_zeros = array({4, 1}, I8, {3, -5, 0, 1});
  const auto quantize = [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
    return tnr_quantize(of.context, v[0], v[1], given(v, 2), nullptr, out);
  };
  add("quantize", TNR_NODE_QUANTIZE, {array({4, 6}, F32), row_scales}, {}, quantize).dtype = I8;
  add("quantize with zeros", TNR_NODE_QUANTIZE, {array({4, 6}, F32), row_scales, row_zeros}, {},
      quantize)
      .dtype = I8;
  for (std::int32_t result = TNR_QUANTIZE_RESULT_VALUES;
       result <= TNR_QUANTIZE_RESULT_FOUR_BIT_SCALES; ++result) {
    const bool is_affine =
        result >= TNR_QUANTIZE_RESULT_AFFINE_VALUES && result <= TNR_QUANTIZE_RESULT_AFFINE_ZEROS;
    add("quantize_dynamic", with_op(TNR_NODE_QUANTIZE_DYNAMIC, result), {array({4, 6}, F32)},
        {4, 1}, quantize_rows)
        .dtype = is_affine ? U8 : I8;
  }
  add("dequantize", TNR_NODE_DEQUANTIZE, {array({4, 6}, I8), row_scales, row_zeros}, {},
      [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
        return tnr_dequantize(of.context, v[0], v[1], given(v, 2), nullptr, out);
      })
      .dtype = F32;
  const KindOperand b = array({6, 3}, I8);
  const KindOperand column_scales = array({3}, F32, {0.5, 0.25, 2});
  const KindOperand column_zeros = array({3}, I8, {1, 0, -7});
  const KindOperand bias = array({3}, F32);
  KindCase& rows =
      add("quantized product of numbers", TNR_NODE_QUANTIZED_MATMUL,
          {array({2, 4, 6}, F32), b, {}, column_scales, {}, {}, bias}, {}, quantized_product);
  rows.dtype = F32;
  set<tnr_matmul_attributes>(rows,
                             [](tnr_matmul_attributes& a) { a.activation = TNR_UNARY_OP_RELU; });
  add("quantized product by weights of 4 bits", TNR_NODE_QUANTIZED_MATMUL,
      {array({4, 64}, F32),
       array({64, 3}, I8),
       {},
       array({2, 3}, F32, {0.5, 0.25, 2, 1, 0.125, 3}),
       {},
       {},
       bias},
      {}, quantized_product)
      .dtype = F32;
  KindCase& affine =
      add("quantized product of affine rows", TNR_NODE_QUANTIZED_MATMUL,
          {array({4, 6}, F32), b, {}, column_scales, {}, column_zeros}, {}, quantized_product);
  affine.dtype = F32;
  set<tnr_matmul_attributes>(affine,
                             [](tnr_matmul_attributes& a) { a.flags = TNR_QUANTIZE_AFFINE_ROWS; });
  add("quantized product of integers", TNR_NODE_QUANTIZED_MATMUL,
      {array({4, 6}, I8), b, row_scales, column_scales, row_zeros, column_zeros}, {},
      quantized_product)
      .dtype = TNR_DTYPE_F16;
  add("quantized product that gives integers", TNR_NODE_QUANTIZED_MATMUL,
      {array({4, 6}, I8),
       b,
       row_scales,
       column_scales,
       {},
       {},
       {},
       array({1}, F32, {4}),
       array({1}, U8, {100})},
      {}, quantized_product)
      .dtype = U8;
}

void add_images(const Adder& add) {
  const std::vector<KindOperand> factors = {array({1, 4, 5, 6}, F32), array({4, 2, 3, 2}, F32),
                                            array({4}, F32)};
  const auto strided = [](tnr_conv2d_attributes& a) {
    a.strides[0] = 2;
    a.padding[0] = a.padding[3] = 1;
    a.groups = 2;
    a.activation = TNR_UNARY_OP_RELU;
  };
  set<tnr_conv2d_attributes>(add("conv2d", TNR_NODE_CONV2D, factors, {},
                                 [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
                                   return tnr_conv2d(of.context, v[0], v[1],
                                                     v.size() > 2 ? v[2] : nullptr,
                                                     get<tnr_conv2d_attributes>(of), out);
                                 }),
                             strided);
  const auto transposed = [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
    return tnr_conv2d_transposed(of.context, v[0], v[1], v.size() > 2 ? v[2] : nullptr,
                                 get<tnr_conv2d_attributes>(of), out);
  };
  set<tnr_conv2d_attributes>(
      add("conv2d_transposed", TNR_NODE_CONV2D_TRANSPOSED, factors, {}, transposed), strided);
  set<tnr_conv2d_attributes>(
      add("conv2d_transposed to a size", TNR_NODE_CONV2D_TRANSPOSED, factors, {11, 6}, transposed),
      strided);
  set<tnr_pool2d_attributes>(
      add("pool2d", with_op(TNR_NODE_POOL2D, TNR_REDUCE_OP_MAX), {array({2, 3, 4, 6}, F32)}, {},
          [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
            return tnr_pool2d(of.context, op_of(of), v[0], get<tnr_pool2d_attributes>(of), out);
          }),
      [](tnr_pool2d_attributes& a) { a.kernel[0] = a.kernel[1] = 2; });
  set<tnr_pool2d_attributes>(
      add("pool2d_gradient", with_op(TNR_NODE_POOL2D_GRADIENT, TNR_REDUCE_OP_MEAN),
          {array({2, 3, 4, 6}, F32), array({2, 3, 3, 3}, F32)}, {},
          [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
            return tnr_pool2d_gradient(of.context, op_of(of), v[0], v[1],
                                       get<tnr_pool2d_attributes>(of), out);
          }),
      [](tnr_pool2d_attributes& a) {
        a.kernel[0] = a.kernel[1] = a.strides[1] = 2;
        a.strides[0] = 1;
      });
  set<tnr_conv2d_attributes>(add("conv2d_filters", TNR_NODE_CONV2D_FILTERS,
                                 {array({1, 4, 5, 6}, F32), array({1, 4, 2, 6}, F32)}, {3, 2},
                                 [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
                                   return tnr_conv2d_filters(of.context, v[0], v[1],
                                                             get<tnr_conv2d_attributes>(of), out);
                                 }),
                             [](tnr_conv2d_attributes& a) {
                               a.strides[0] = 2;
                               a.padding[3] = 1;
                               a.groups = 2;
                             });
  set<tnr_batch_norm_attributes>(
      add("batch_norm", TNR_NODE_BATCH_NORM,
          {array({2, 3, 2, 2}, F32),
           array({3}, F32),
           array({3}, F32, {1, 2, 3}),
           {},
           array({3}, F32)},
          {},
          [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
            return tnr_batch_norm(of.context, v[0], v[1], v[2], v.size() > 3 ? v[3] : nullptr,
                                  v.size() > 4 ? v[4] : nullptr, get<tnr_batch_norm_attributes>(of),
                                  out);
          }),
      [](tnr_batch_norm_attributes& a) { a.eps = 0.125; });
}

void add_views(const Adder& add) {
  const auto shape = [](const KindCase& of) {
    return std::pair{static_cast<std::uint32_t>(of.numbers.size()), of.numbers.data()};
  };
  add("reshape", TNR_NODE_RESHAPE, {array({4, 3}, F32)}, {2, 6},
      seen([=](const KindCase& of, const tnr_view& a, tnr_view& view) {
        return tnr_view_reshape(&a, shape(of).first, shape(of).second, &view);
      }));
  add("permute", TNR_NODE_PERMUTE, {array({4, 3, 2}, F32)}, {2, 0, 1},
      seen([](const KindCase& of, const tnr_view& a, tnr_view& view) {
        const std::vector<std::uint32_t> axes = axes_of(of);
        return tnr_view_permute(&a, static_cast<std::uint32_t>(axes.size()), axes.data(), &view);
      }));
  add("broadcast", TNR_NODE_BROADCAST, {array({4, 1}, F32)}, {2, 4, 3},
      seen([=](const KindCase& of, const tnr_view& a, tnr_view& view) {
        return tnr_view_broadcast(&a, shape(of).first, shape(of).second, &view);
      }));
  add("slice", TNR_NODE_SLICE, {array({4, 6}, F32)}, {1, 1, 6, 2},
      seen([](const KindCase& of, const tnr_view& a, tnr_view& view) {
        return tnr_view_slice(&a, axis_of(of), of.numbers[1], of.numbers[2], of.numbers[3], &view);
      }));
}

void add_movement(const Adder& add) {
  add("concat", TNR_NODE_CONCAT, {array({2, 3}, F32), array({2, 1}, F32), array({2, 2}, F32)}, {1},
      [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
        std::vector<tnr_view> parts;
        for (const tnr_view* const view : v) parts.push_back(*view);
        return tnr_concat(of.context, parts.data(), static_cast<std::uint32_t>(parts.size()),
                          axis_of(of), nullptr, out);
      });
  set<tnr_pad_attributes>(
      add("pad", with_op(TNR_NODE_PAD, TNR_PAD_MODE_REFLECT), {array({4, 5}, F32)}, {5, 7},
          [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
            return tnr_pad(of.context, op_of(of), v[0], get<tnr_pad_attributes>(of), out);
          }),
      [](tnr_pad_attributes& a) { a.before[0] = a.before[1] = 1; });
  add("take", TNR_NODE_TAKE, {array({4, 3}, F32), array({2, 2}, I64, {3, 0, 1, 3})}, {0},
      [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
        return tnr_take(of.context, v[0], axis_of(of), v[1], nullptr, out);
      });
  add("gather", TNR_NODE_GATHER, {array({4, 3}, F32), array({2, 3}, I32, {3, 0, 1, 2, 2, 0})}, {0},
      [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
        return tnr_gather(of.context, v[0], axis_of(of), v[1], nullptr, out);
      });
  const auto putting = [](const auto& put) {
    return [=](const KindCase& of, const Views& v, const tnr_view_mut* out) {
      const tnr_status status = tnr_copy(of.context, v[0], nullptr, out);
      if (status != TNR_STATUS_OK) return status;
      return put(of.context, op_of(of), v[1], axis_of(of), v[2], nullptr, out);
    };
  };
  const KindOperand rows = array({3}, I64, {3, 0, 3});
  add("put", TNR_NODE_PUT, {array({4, 2}, F32), array({3, 2}, F32), rows}, {0}, putting(tnr_put));
  add("put with an op", with_op(TNR_NODE_PUT, TNR_BINARY_OP_ADD),
      {array({2, 4}, F32), array({2, 3}, F32), rows}, {1}, putting(tnr_put));
  add("scatter", with_op(TNR_NODE_SCATTER, TNR_BINARY_OP_MAX),
      {array({4, 2}, F32), array({3, 2}, F32), array({3, 2}, I64, {3, 0, 3, 1, 0, 0})}, {0},
      putting(tnr_scatter));
  set<tnr_triangle_attributes>(
      add("triangular", with_op(TNR_NODE_TRIANGULAR, TNR_TRIANGLE_LOWER), {array({4, 3}, F32)}, {},
          [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
            return tnr_triangular(of.context, op_of(of), v[0], get<tnr_triangle_attributes>(of),
                                  out);
          }),
      [](tnr_triangle_attributes& a) { a.diagonal = -1; });
  add("custom", TNR_NODE_CUSTOM, {array({4, 3}, F32)}, {},
      [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
        return tnr_binary(of.context, TNR_BINARY_OP_ADD, v[0], v[0], nullptr, out);
      });
}

void add_orders(const Adder& add) {
  const auto with_results = [](const auto& order) {
    return [=](const KindCase& of, const Views& v, const tnr_view_mut* out) {
      const bool gives_indices = op_of(of) == TNR_ORDER_RESULT_INDICES;
      return order(of, v[0], gives_indices ? out : nullptr, gives_indices ? nullptr : out);
    };
  };
  for (const tnr_order_result result : {TNR_ORDER_RESULT_VALUES, TNR_ORDER_RESULT_INDICES}) {
    set<tnr_sort_attributes>(
        add("sort", with_op(TNR_NODE_SORT, result), {array({4, 6}, F32)}, {1},
            with_results([](const KindCase& of, const tnr_view* a, const tnr_view_mut* indices,
                            const tnr_view_mut* out) {
              return tnr_sort(of.context, a, axis_of(of), get<tnr_sort_attributes>(of), indices,
                              out);
            })),
        [](tnr_sort_attributes& a) { a.flags = TNR_SORT_DESCENDING; });
    set<tnr_top_k_attributes>(
        add("top_k", with_op(TNR_NODE_TOP_K, result), {array({4, 6}, F32)}, {1, 3},
            with_results([](const KindCase& of, const tnr_view* a, const tnr_view_mut* indices,
                            const tnr_view_mut* out) {
              return tnr_top_k(of.context, a, axis_of(of), get<tnr_top_k_attributes>(of), indices,
                               out);
            })),
        [](tnr_top_k_attributes& a) { a.flags = TNR_TOP_K_SMALLEST; });
    add("partition", with_op(TNR_NODE_PARTITION, result), {array({6, 4}, I32)}, {0, 2},
        with_results([](const KindCase& of, const tnr_view* a, const tnr_view_mut* indices,
                        const tnr_view_mut* out) {
          return tnr_partition(of.context, a, axis_of(of), of.numbers[1], nullptr, indices, out);
        }));
  }
  KindCase& quantile =
      add("quantile", TNR_NODE_QUANTILE, {array({4, 6}, F32), array({3}, F64, {0, 0.5, 0.9})}, {},
          [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
            // A call takes its probabilities only from a vector of f64.
            if (v[1]->dtype != F64 || v[1]->rank != 1) return TNR_STATUS_INVALID_ARGUMENT;
            return tnr_quantile(of.context, v[0], of.flags, static_cast<const double*>(v[1]->data),
                                static_cast<std::uint32_t>(v[1]->shape[0]),
                                get<tnr_quantile_attributes>(of), out);
          });
  quantile.flags = 2;
  set<tnr_quantile_attributes>(quantile,
                               [](tnr_quantile_attributes& a) { a.flags = TNR_QUANTILE_SKIP_NAN; });
  set<tnr_searchsorted_attributes>(
      add("searchsorted", TNR_NODE_SEARCHSORTED,
          {array({5}, F32, {-3, -1, 0.25, 2, 4}), array({2, 3}, F32)}, {},
          [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
            return tnr_searchsorted(of.context, v[0], v[1], get<tnr_searchsorted_attributes>(of),
                                    out);
          }),
      [](tnr_searchsorted_attributes& a) { a.flags = TNR_SEARCHSORTED_RIGHT; });
  const auto counts = [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
    tnr_bincount_attributes with = {};
    with.struct_size = sizeof with;
    with.weights = v.size() > 1 ? v[1] : nullptr;
    return tnr_bincount(of.context, v[0], &with, out);
  };
  const KindOperand small = array({2, 3}, I32, {1, 0, 4, 1, 1, 3});
  add("bincount", TNR_NODE_BINCOUNT, {small}, {6}, counts);
  add("bincount of weights", TNR_NODE_BINCOUNT, {small, array({2, 3}, F32)}, {6}, counts);
  const auto histogram = [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
    return tnr_histogram(of.context, v[0], v.size() > 1 ? v[1] : nullptr,
                         get<tnr_histogram_attributes>(of), out);
  };
  add("histogram of edges", TNR_NODE_HISTOGRAM,
      {array({2, 6}, F32), array({4}, F32, {-3, -1, 0, 5})}, {3}, histogram);
  set<tnr_histogram_attributes>(
      add("histogram", TNR_NODE_HISTOGRAM, {array({2, 6}, F32)}, {4}, histogram),
      [](tnr_histogram_attributes& a) {
        a.low = -4;
        a.high = 4;
      });
}

std::uint64_t number_of(const KindCase& of, const Views& v, std::size_t operand) {
  if (v[operand] == nullptr) return static_cast<std::uint64_t>(of.operands[operand].numbers[0]);
  std::uint64_t number;
  std::memcpy(&number, v[operand]->data, sizeof number);
  return number;
}

void add_random(const Adder& add) {
  const auto random = [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
    return tnr_random(of.context, op_of(of), number_of(of, v, 0), number_of(of, v, 1),
                      get<tnr_random_attributes>(of), out);
  };
  KindCase& normal = add("random", with_op(TNR_NODE_RANDOM, TNR_RANDOM_DISTRIBUTION_NORMAL),
                         {array({}, U64, {77}), array({}, U64, {5})}, {3, 7}, random);
  normal.dtype = F32;
  set<tnr_random_attributes>(normal, [](tnr_random_attributes& a) {
    a.mean = 1;
    a.deviation = 0.5;
  });
  add("random of scalars", with_op(TNR_NODE_RANDOM, TNR_RANDOM_DISTRIBUTION_INTEGERS),
      {scalar(U64, 77), scalar(I64, 5)}, {4}, random)
      .dtype = TNR_DTYPE_U16;
  add("random_permutation", TNR_NODE_RANDOM_PERMUTATION, {array({}, U64, {3}), scalar(U64, 0)}, {9},
      [](const KindCase& of, const Views& v, const tnr_view_mut* out) {
        return tnr_random_permutation(of.context, number_of(of, v, 0), number_of(of, v, 1), nullptr,
                                      out);
      })
      .dtype = I32;
}

tnr_sparse_view matrix_of(const KindCase& of, const tnr_view& major, const tnr_view& minor,
                          const tnr_view& values) {
  const auto* const given = get<tnr_sparse_node_attributes>(of);
  tnr_sparse_view matrix = {};
  matrix.struct_size = sizeof matrix;
  matrix.format = given->format == 0 ? TNR_SPARSE_FORMAT_CSR : given->format;
  matrix.flags = given->flags;
  matrix.rows = of.numbers[0];
  matrix.cols = of.numbers[1];
  matrix.block_rows = given->block_rows == 0 ? 1 : given->block_rows;
  matrix.block_cols = given->block_cols == 0 ? 1 : given->block_cols;
  matrix.major = major;
  matrix.minor = minor;
  matrix.values = values;
  return matrix;
}

// The parts of a matrix of 4 rows and 5 columns, in every format.
std::vector<KindOperand> parts_of(tnr_sparse_format format) {
  const std::vector<double> rows = {0, 0, 1, 3, 3, 3};
  const std::vector<double> columns = {1, 4, 0, 0, 2, 4};
  switch (format) {
    case TNR_SPARSE_FORMAT_COO:
      return {array({6}, I64, rows), array({6}, I64, columns), array({6}, F32)};
    case TNR_SPARSE_FORMAT_CSC:
      return {array({6}, I32, {0, 2, 3, 4, 4, 6}), array({6}, I32, {1, 3, 0, 3, 0, 3}),
              array({6}, F32)};
    case TNR_SPARSE_FORMAT_BSR:
      return {array({3}, I32, {0, 1, 2}), array({2}, I32, {1, 0}), array({2, 2, 1}, F32)};
    default: return {array({5}, I32, {0, 2, 3, 3, 6}), array({6}, I32, columns), array({6}, F32)};
  }
}

// A square one with a diagonal.
std::vector<KindOperand> lower_triangle() {
  return {array({4}, I32, {0, 1, 3, 5}), array({5}, I32, {0, 0, 1, 1, 2}),
          array({5}, F32, {2, 1, -4, 3, 0.5})};
}

void add_sparse(const Adder& add) {
  using Call = std::function<tnr_status(const KindCase& of, const tnr_sparse_view&, const Views&,
                                        const tnr_view_mut*)>;
  const auto sparse = [&](const char* name, std::uint32_t code, std::vector<KindOperand> operands,
                          Shape numbers, const Call& call) -> KindCase& {
    KindCase& added = add(name, code, std::move(operands), std::move(numbers),
                          [=](const KindCase& of, const Views& v, const tnr_view_mut* out) {
                            const tnr_sparse_view a = matrix_of(of, *v[0], *v[1], *v[2]);
                            return call(of, a, v, out);
                          });
    set<tnr_sparse_node_attributes>(added, [](tnr_sparse_node_attributes& a) {
      a.flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
    });
    return added;
  };
  const auto and_also = [](std::vector<KindOperand> parts, std::vector<KindOperand> others) {
    std::ranges::move(others, std::back_inserter(parts));
    return parts;
  };
  // With values that the call writes in place.
  const auto of_copy = [](const auto& change) {
    return
        [=](const KindCase& of, const tnr_sparse_view& a, const Views& v, const tnr_view_mut* out) {
          const tnr_status status = tnr_copy(of.context, v[2], nullptr, out);
          if (status != TNR_STATUS_OK) return status;
          tnr_sparse_view_mut copied = {a};
          copied.view.values = out->view;
          return change(of, v, &copied);
        };
  };
  const tnr_scalar one = tnr_scalar_i64(1);
  const tnr_scalar zero = tnr_scalar_i64(0);
  const auto csr = parts_of(TNR_SPARSE_FORMAT_CSR);
  for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_COO,
                                         TNR_SPARSE_FORMAT_CSC, TNR_SPARSE_FORMAT_BSR}) {
    set<tnr_sparse_node_attributes>(
        sparse("sparse_to_dense", TNR_NODE_SPARSE_TO_DENSE, parts_of(format), {4, 5},
               [](const KindCase& of, const tnr_sparse_view& a, const Views&,
                  const tnr_view_mut* out) {
                 return tnr_sparse_to_dense(of.context, &a, nullptr, out);
               }),
        [&](tnr_sparse_node_attributes& a) {
          a.format = format;
          a.flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
          if (format == TNR_SPARSE_FORMAT_BSR) a.block_rows = 2;
        });
    for (const tnr_orientation orientation : {TNR_ORIENTATION_AS_IS, TNR_ORIENTATION_TRANSPOSED}) {
      const bool is_transposed = orientation == TNR_ORIENTATION_TRANSPOSED;
      set<tnr_sparse_node_attributes>(
          sparse("sparse_matmul", TNR_NODE_SPARSE_MATMUL,
                 and_also(parts_of(format), {array({is_transposed ? 4 : 5, 3}, F32)}), {4, 5},
                 [=](const KindCase& of, const tnr_sparse_view& a, const Views& v,
                     const tnr_view_mut* out) {
                   return tnr_sparse_matmul(of.context, orientation, &one, &a, v[3], &zero, nullptr,
                                            out);
                 }),
          [&](tnr_sparse_node_attributes& a) {
            a.format = format;
            a.orientation = orientation;
            if (format == TNR_SPARSE_FORMAT_BSR) a.block_rows = 2;
          });
    }
  }
  sparse(
      "sparse_matmul by a vector", TNR_NODE_SPARSE_MATMUL, and_also(csr, {array({5}, F32)}), {4, 5},
      [=](const KindCase& of, const tnr_sparse_view& a, const Views& v, const tnr_view_mut* out) {
        return tnr_sparse_matmul(of.context, TNR_ORIENTATION_AS_IS, &one, &a, v[3], &zero, nullptr,
                                 out);
      });
  set<tnr_sparse_node_attributes>(
      sparse("sparse_sddmm", TNR_NODE_SPARSE_SDDMM,
             and_also(csr, {array({4, 3}, F32), array({3, 5}, F32)}), {4, 5},
             [=](const KindCase& of, const tnr_sparse_view& a, const Views& v,
                 const tnr_view_mut* out) {
               tnr_sparse_sddmm_attributes with = {};
               with.struct_size = sizeof with;
               with.flags = get<tnr_sparse_node_attributes>(of)->call_flags;
               return tnr_sparse_sddmm(of.context, &one, &a, v[3], v[4], &with, out);
             }),
      [](tnr_sparse_node_attributes& a) { a.call_flags = TNR_SDDMM_TIMES_VALUES; });
  for (const std::uint32_t axis : {0u, 1u}) {
    sparse("sparse_scale", TNR_NODE_SPARSE_SCALE + axis,
           and_also(csr, {array({axis == 0 ? 4 : 5}, F32)}), {4, 5},
           of_copy([](const KindCase& of, const Views& v, const tnr_sparse_view_mut* a) {
             return tnr_sparse_scale(of.context, v[3], static_cast<std::uint32_t>(op_of(of)),
                                     nullptr, a);
           }));
  }
  sparse("sparse_softmax", TNR_NODE_SPARSE_SOFTMAX, csr, {4, 5},
         of_copy([](const KindCase& of, const Views&, const tnr_sparse_view_mut* a) {
           return tnr_sparse_softmax(of.context, nullptr, a);
         }));
  for (const std::uint32_t axes : {1u, 2u, 3u}) {
    for (const tnr_reduce_op op : {TNR_REDUCE_OP_SUM, TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_COUNT}) {
      sparse(
          "sparse_reduce", with_op(TNR_NODE_SPARSE_REDUCE, op), csr, {4, 5},
          [](const KindCase& of, const tnr_sparse_view& a, const Views&, const tnr_view_mut* out) {
            return tnr_sparse_reduce(of.context, op_of(of), &a, of.flags, nullptr, out);
          })
          .flags = axes;
    }
  }
  sparse("sparse_norm", with_op(TNR_NODE_SPARSE_NORM, TNR_SPARSE_NORM_KIND_FROBENIUS), csr, {4, 5},
         [](const KindCase& of, const tnr_sparse_view& a, const Views&, const tnr_view_mut* out) {
           double norm = 0;
           const tnr_status status = tnr_sparse_norm(of.context, op_of(of), &a, nullptr, &norm);
           if (status == TNR_STATUS_OK) {
             const tnr_scalar number = tnr_scalar_f64(norm);
             return tnr_fill(of.context, &number, nullptr, out);
           }
           return status;
         });
  sparse("sparse_diagonal", TNR_NODE_SPARSE_DIAGONAL, csr, {4, 5},
         [](const KindCase& of, const tnr_sparse_view& a, const Views&, const tnr_view_mut* out) {
           return tnr_sparse_diagonal(of.context, &a, nullptr, out);
         });
  sparse("sparse_solve", TNR_NODE_SPARSE_SOLVE, and_also(lower_triangle(), {array({3, 2}, F32)}),
         {3, 3},
         [](const KindCase& of, const tnr_sparse_view& a, const Views& v, const tnr_view_mut* out) {
           tnr_sparse_solve_attributes with = {};
           with.struct_size = sizeof with;
           with.flags = get<tnr_sparse_node_attributes>(of)->call_flags;
           return tnr_sparse_solve(of.context, &a, v[3], &with, out);
         });
  sparse("sparse_accumulate", TNR_NODE_SPARSE_ACCUMULATE, and_also(csr, {array({4, 5}, F32)}),
         {4, 5},
         [](const KindCase& of, const tnr_sparse_view& a, const Views& v, const tnr_view_mut* out) {
           const tnr_status status = tnr_copy(of.context, v[3], nullptr, out);
           return status == TNR_STATUS_OK ? tnr_sparse_accumulate(of.context, &a, nullptr, out)
                                          : status;
         });
}

}  // namespace

std::vector<unsigned char> elements_of(const std::vector<double>& numbers, const Shape& shape,
                                       tnr_dtype dtype) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  const std::size_t width = tnr_dtype_size_bytes(dtype);
  std::vector<unsigned char> bytes(count * width);
  const auto write = [&]<class T>(T) {
    for (std::size_t i = 0; i < std::min(count, numbers.size()); ++i) {
      const T number = static_cast<T>(numbers[i]);
      std::memcpy(bytes.data() + i * width, &number, sizeof number);
    }
  };
  switch (dtype) {
    case F32: write(float{}); break;
    case F64: write(double{}); break;
    case I32: write(std::int32_t{}); break;
    case I64: write(std::int64_t{}); break;
    case U64: write(std::uint64_t{}); break;
    case TNR_DTYPE_U8: write(std::uint8_t{}); break;
    case TNR_DTYPE_I8: write(std::int8_t{}); break;
    case TNR_DTYPE_BOOL8:
      for (std::size_t i = 0; i < std::min(count, numbers.size()); ++i) bytes[i] = numbers[i] != 0;
      break;
    default: break;
  }
  return bytes;
}

std::vector<KindCase> kind_cases() {
  std::vector<KindCase> cases;
  const Adder add{cases};
  cases.reserve(256);  // rows are filled in where they are
  add_elementwise(add);
  add_reductions(add);
  add_products(add);
  add_quantized(add);
  add_quantized_images(add);
  add_images(add);
  add_views(add);
  add_movement(add);
  add_orders(add);
  add_random(add);
  add_sparse(add);
  return cases;
}

const char* preallocation_refusal(std::uint32_t code) {
  switch (code & 0xffff0000u) {
    // The checks of offsets and indices are those of calls, which throw.
    case TNR_NODE_SPARSE_TO_DENSE:
    case TNR_NODE_SPARSE_MATMUL:
    case TNR_NODE_SPARSE_SDDMM:
    case TNR_NODE_SPARSE_SCALE:
    case TNR_NODE_SPARSE_SOFTMAX:
    case TNR_NODE_SPARSE_REDUCE:
    case TNR_NODE_SPARSE_NORM:
    case TNR_NODE_SPARSE_DIAGONAL:
    case TNR_NODE_SPARSE_SOLVE:
    case TNR_NODE_SPARSE_ACCUMULATE:
      return "throws what it refuses in elements, which asks for memory, and no preallocated run "
             "does";
    default: return nullptr;
  }
}

tnr_custom_operation doubled() {
  tnr_custom_operation operation = {};
  operation.struct_size = sizeof operation;
  operation.name = "doubled";
  operation.operand_count = 1;
  operation.infer = [](void*, const tnr_view* operands, std::uint32_t, const std::int64_t*,
                       std::uint32_t, tnr_dtype* dtype, std::uint32_t* rank,
                       std::int64_t* shape) -> tnr_status {
    *dtype = operands[0].dtype;
    *rank = operands[0].rank;
    std::copy_n(operands[0].shape, TNR_MAX_RANK, shape);
    return TNR_STATUS_OK;
  };
  operation.compute = [](void*, const tnr_view* operands, std::uint32_t, const std::int64_t*,
                         std::uint32_t, const tnr_view_mut* out) {
    return tnr_binary(nullptr, TNR_BINARY_OP_ADD, operands, operands, nullptr, out);
  };
  return operation;
}

}  // namespace tenure::test
