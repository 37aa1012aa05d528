// The operations of dense memory, with operands that lie in every order.
#include <cstring>
#include <utility>

#include "given_attributes.hpp"
#include "header.hpp"
#include "operands.hpp"
#include "operations.hpp"

namespace tenure::sweeps {
namespace {

using test::attributes;
using List = std::vector<Operation>;

std::string short_name(const Constant& constant) {
  return constant.name.substr(std::strlen("TNR_"));
}

tnr_scalar scalar(tnr_dtype dtype, std::int64_t number) {
  tnr_scalar value = {};
  value.dtype = dtype;
  put_number(dtype, number, value.bytes);
  return value;
}

// The dtype of a complex number's parts.
tnr_dtype part_of(tnr_dtype dtype) {
  if (dtype == TNR_DTYPE_C64) return TNR_DTYPE_F32;
  return dtype == TNR_DTYPE_C128 ? TNR_DTYPE_F64 : dtype;
}

// Where the first input, the second and the output lie.
struct Lies {
  const char* name;
  Arrangement a;
  Arrangement b;
  Arrangement out;
};
constexpr Lies kArrangements[] = {
    {"side by side", Arrangement::kRowMajor, Arrangement::kRowMajor, Arrangement::kRowMajor},
    {"across", Arrangement::kColumnMajor, Arrangement::kRowMajor, Arrangement::kColumnMajor},
    {"apart", Arrangement::kRowMajor, Arrangement::kApart, Arrangement::kApart},
};

// An input of the operands' shape and dtype, or of another dtype.
Input input(const Operands& with, Arrangement arrangement, std::int64_t seed, tnr_dtype dtype = 0) {
  return {dtype != 0 ? dtype : with.a.values.dtype, {with.a.rows, with.a.cols}, arrangement, seed};
}

// Adds a row for each way to lie: call(context, dtype, a, b, out) with an output of `to`, or of the
// operands' dtype where that is 0.
template <class Call>
void add(List& list, const char* function, const std::string& variant, tnr_dtype to,
         const Call& call) {
  for (const Lies& lies : kArrangements) {
    list.push_back(
        {function, variant + ", " + lies.name, [=, &lies](const Operands& with, Answer& answer) {
           const tnr_dtype dtype = with.a.values.dtype;
           const Input a = input(with, lies.a, 0);
           const Input b = input(with, lies.b, 2);
           const Output out(to != 0 ? to : dtype, {with.a.rows, with.a.cols}, with.fill, lies.out);
           (void)answer.succeeds(call(with, dtype, a, b, out));
           out.give(answer);
         }});
  }
}

void add_movement(List& list) {
  add(list, "tnr_copy", "", 0,
      [](const Operands& with, tnr_dtype, const Input& a, const Input&, const Output& out) {
        return tnr_copy(with.context, a, nullptr, out);
      });
  // A copy like any other, where both sides are the CPU's.
  add(list, "tnr_copy_async", "", 0,
      [](const Operands& with, tnr_dtype, const Input& a, const Input&, const Output& out) {
        return tnr_copy_async(with.context, a, nullptr, out);
      });
  for (const Constant& to : codes_of("tnr_dtype")) {
    add(list, "tnr_cast", "to " + short_name(to), static_cast<tnr_dtype>(to.value),
        [](const Operands& with, tnr_dtype, const Input& a, const Input&, const Output& out) {
          return tnr_cast(with.context, a, nullptr, out);
        });
  }
  add(list, "tnr_fill", "", 0,
      [](const Operands& with, tnr_dtype dtype, const Input&, const Input&, const Output& out) {
        const tnr_scalar value = scalar(dtype, 2);
        return tnr_fill(with.context, &value, nullptr, out);
      });
  list.push_back({"tnr_blob_alloc_view", "", [](const Operands& with, Answer& answer) {
                    const std::int64_t shape[] = {with.a.rows, with.a.cols};
                    tnr_view_mut out = {};
                    tnr_blob* const blob =
                        tnr_blob_alloc_view(with.context, with.a.values.dtype, 2, shape, &out);
                    const tnr_scalar value = scalar(with.a.values.dtype, 2);
                    if (answer.succeeds(blob != nullptr
                                            ? tnr_fill(with.context, &value, nullptr, &out)
                                            : tnr_last_error()->status)) {
                      answer.add_elements("out", out.view);
                    }
                    tnr_blob_release(blob);
                  }});
  add(list, "tnr_select", "", 0,
      [](const Operands& with, tnr_dtype, const Input& a, const Input& b, const Output& out) {
        const Input condition = input(with, Arrangement::kRowMajor, 1, TNR_DTYPE_BOOL8);
        return tnr_select(with.context, condition, a, b, nullptr, out);
      });
}

void add_arithmetic(List& list) {
  for (const Constant& code : codes_of("tnr_unary_op")) {
    const auto op = static_cast<tnr_unary_op>(code.value);
    const bool gives_truth = code.name.find("_IS_") != std::string::npos;
    const bool gives_part = op == TNR_UNARY_OP_ABS || op == TNR_UNARY_OP_ARG;
    for (const Lies& lies : kArrangements) {
      list.push_back({"tnr_unary", short_name(code) + ", " + lies.name,
                      [=, &lies](const Operands& with, Answer& answer) {
                        const tnr_dtype dtype = with.a.values.dtype;
                        const Input a = input(with, lies.a, 0);
                        const Output out(gives_truth  ? TNR_DTYPE_BOOL8
                                         : gives_part ? part_of(dtype)
                                                      : dtype,
                                         {with.a.rows, with.a.cols}, with.fill, lies.out);
                        (void)answer.succeeds(tnr_unary(with.context, op, a, nullptr, out));
                        out.give(answer);
                      }});
    }
  }
  for (const Constant& code : codes_of("tnr_binary_op")) {
    const auto op = static_cast<tnr_binary_op>(code.value);
    add(list, "tnr_binary", short_name(code), 0,
        [op](const Operands& with, tnr_dtype, const Input& a, const Input& b, const Output& out) {
          return tnr_binary(with.context, op, a, b, nullptr, out);
        });
    add(list, "tnr_binary_scalar", short_name(code), 0,
        [op](const Operands& with, tnr_dtype dtype, const Input& a, const Input&,
             const Output& out) {
          const tnr_scalar two = scalar(dtype, 2);
          return tnr_binary_scalar(with.context, op, a, &two, nullptr, out);
        });
    add(list, "tnr_scalar_binary", short_name(code), 0,
        [op](const Operands& with, tnr_dtype dtype, const Input& a, const Input&,
             const Output& out) {
          const tnr_scalar two = scalar(dtype, 2);
          return tnr_scalar_binary(with.context, op, &two, a, nullptr, out);
        });
  }
  for (const Constant& code : codes_of("tnr_ternary_op")) {
    const auto op = static_cast<tnr_ternary_op>(code.value);
    add(list, "tnr_ternary", short_name(code), 0,
        [op](const Operands& with, tnr_dtype, const Input& a, const Input& b, const Output& out) {
          const Input c = input(with, Arrangement::kRowMajor, 1);
          return tnr_ternary(with.context, op, a, b, c, nullptr, out);
        });
  }
  for (const Constant& code : codes_of("tnr_compare_op")) {
    const auto op = static_cast<tnr_compare_op>(code.value);
    add(list, "tnr_compare", short_name(code), TNR_DTYPE_BOOL8,
        [op](const Operands& with, tnr_dtype, const Input& a, const Input& b, const Output& out) {
          return tnr_compare(with.context, op, a, b, nullptr, out);
        });
    add(list, "tnr_compare_scalar", short_name(code), TNR_DTYPE_BOOL8,
        [op](const Operands& with, tnr_dtype dtype, const Input& a, const Input&,
             const Output& out) {
          const tnr_scalar two = scalar(dtype, 2);
          return tnr_compare_scalar(with.context, op, a, &two, nullptr, out);
        });
  }
}

void add_random_numbers(List& list) {
  for (const Constant& code : codes_of("tnr_random_distribution")) {
    const auto distribution = static_cast<tnr_random_distribution>(code.value);
    add(list, "tnr_random", short_name(code), 0,
        [distribution](const Operands& with, tnr_dtype, const Input&, const Input&,
                       const Output& out) {
          tnr_random_attributes attributes = {};
          attributes.struct_size = sizeof attributes;
          if (distribution == TNR_RANDOM_DISTRIBUTION_BERNOULLI) attributes.probability = 0.5;
          return tnr_random(with.context, distribution, 1, 2, &attributes, out);
        });
  }
  for (const Lies& lies : kArrangements) {
    list.push_back(
        {"tnr_random_permutation", lies.name, [=, &lies](const Operands& with, Answer& answer) {
           const Output out(with.a.values.dtype, {with.a.rows}, with.fill, lies.out);
           (void)answer.succeeds(tnr_random_permutation(with.context, 1, 2, nullptr, out));
           out.give(answer);
         }});
  }
}

// Which dtypes a reduction may give; one of them is the one that it gives of its operand.
std::vector<tnr_dtype> reduced_dtypes(tnr_dtype dtype) {
  return {dtype, TNR_DTYPE_I64, TNR_DTYPE_U64, TNR_DTYPE_BOOL8};
}

void reduce(const Operands& with, tnr_reduce_op op, std::uint32_t axes, const Lies& lies,
            Answer& answer) {
  const Input a = input(with, lies.a, 0);
  for (const tnr_dtype dtype : reduced_dtypes(with.a.values.dtype)) {
    const Output out(dtype, {(axes & 1) != 0 ? 1 : with.a.rows, (axes & 2) != 0 ? 1 : with.a.cols},
                     with.fill, lies.out);
    (void)answer.succeeds(tnr_reduce(with.context, op, a, axes, test::reduce_attributes(op), out));
    out.give(answer);
    if (answer.status == TNR_STATUS_OK) return;
  }
}

void add_reductions(List& list) {
  for (const Constant& code : codes_of("tnr_reduce_op")) {
    for (const std::uint32_t axes : {1u, 2u, 3u}) {
      for (const Lies& lies : kArrangements) {
        list.push_back({"tnr_reduce",
                        short_name(code) + " over axes " + std::to_string(axes) + ", " + lies.name,
                        [=, &lies](const Operands& with, Answer& answer) {
                          reduce(with, static_cast<tnr_reduce_op>(code.value), axes, lies, answer);
                        }});
      }
    }
  }
}

// By a matrix of a few columns, by a vector, and by a batch of two matrices.
void multiply(const Operands& with, const Lies& lies, std::initializer_list<std::int64_t> b_shape,
              std::initializer_list<std::int64_t> out_shape, std::int64_t kept, Answer& answer) {
  const tnr_dtype dtype = with.a.values.dtype;
  const tnr_scalar two = scalar(dtype, 2);
  const tnr_scalar beta = scalar(dtype, kept);
  const Input a = input(with, lies.a, 0);
  const Input b(dtype, b_shape, lies.b, 2);
  Output out(dtype, out_shape, with.fill, lies.out);
  if (kept != 0) out.put_numbers();
  (void)answer.succeeds(tnr_matmul(with.context, &two, a, b, &beta, nullptr, out));
  out.give(answer);
}

// Multiplies by the packed matrix.
void multiply_packed(const Operands& with, const Lies& lies, std::int64_t columns, Answer& answer) {
  const tnr_dtype dtype = with.a.values.dtype;
  const tnr_scalar two = scalar(dtype, 2);
  const tnr_scalar zero = scalar(dtype, 0);
  const Input a = input(with, lies.a, 0);
  const Input b(dtype, {with.a.cols, columns}, lies.b, 2);
  const Output out(dtype, {with.a.rows, columns}, with.fill, lies.out);
  tnr_factor* const factor = tnr_factor_create(with.context, b, nullptr);
  if (factor == nullptr) return (void)answer.succeeds(tnr_last_error()->status);
  (void)answer.succeeds(tnr_factor_matmul(with.context, &two, a, factor, &zero, nullptr, out));
  (void)tnr_factor_release(factor);
  out.give(answer);
}

void add_products(List& list) {
  for (const Lies& lies : kArrangements) {
    for (const std::int64_t columns : {1, 40}) {
      list.push_back({"tnr_factor_matmul", std::to_string(columns) + " columns, " + lies.name,
                      [=, &lies](const Operands& with, Answer& answer) {
                        multiply_packed(with, lies, columns, answer);
                      }});
    }
    const auto add = [&](const char* variant, const auto& run) {
      list.push_back({"tnr_matmul", std::string(variant) + ", " + lies.name,
                      [=, &lies](const Operands& with, Answer& answer) {
                        run(with, lies, with.a.rows, with.a.cols, answer);
                      }});
    };
    using Extent = std::int64_t;
    add("by 5 columns", [](const Operands& with, const Lies& lie, Extent m, Extent k, Answer& to) {
      multiply(with, lie, {k, 5}, {m, 5}, 0, to);
    });
    add("added", [](const Operands& with, const Lies& lie, Extent m, Extent k, Answer& to) {
      multiply(with, lie, {k, 40}, {m, 40}, 1, to);
    });
    add("by a vector", [](const Operands& with, const Lies& lie, Extent m, Extent k, Answer& to) {
      multiply(with, lie, {k}, {m}, 0, to);
    });
    add("by a batch", [](const Operands& with, const Lies& lie, Extent m, Extent k, Answer& to) {
      multiply(with, lie, {2, k, 3}, {2, m, 3}, 0, to);
    });
  }
}

// The operands' rows and columns as images of `channels` channels, by a square kernel around each
// position.
void convolve(const Operands& with, const Lies& lies, std::int64_t channels, std::int64_t filters,
              std::int64_t side, std::int64_t groups, Answer& answer) {
  const tnr_dtype dtype = with.a.values.dtype;
  tnr_conv2d_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  for (std::int64_t& zeros : attributes.padding) zeros = side / 2;
  attributes.groups = groups;
  attributes.activation = TNR_UNARY_OP_RELU;
  attributes.flags = TNR_EPILOGUE_CLAMP;
  attributes.high = 6;
  const Input a(dtype, {2, channels, with.a.rows, with.a.cols}, lies.a, 0);
  const Input weight(dtype, {filters, channels / groups, side, side}, lies.b, 2);
  const Input bias(dtype, {filters}, lies.b, 1);
  const Output out(dtype, {2, filters, with.a.rows, with.a.cols}, with.fill, lies.out);
  (void)answer.succeeds(tnr_conv2d(with.context, a, weight, bias, &attributes, out));
  out.give(answer);
}

// A product of two that sums two labels which lie apart, and one of three.
void add_einsums(List& list) {
  for (const char* const spec : {"ij,kij->k", "ij,jk,lj->il"}) {
    for (const Lies& lies : kArrangements) {
      list.push_back({"tnr_einsum", std::string(spec) + ", " + lies.name,
                      [=, &lies](const Operands& with, Answer& answer) {
                        const tnr_dtype dtype = with.a.values.dtype;
                        const std::int64_t m = with.a.rows;
                        const std::int64_t n = with.a.cols;
                        const bool is_pair = spec[3] == 'k';
                        const Input a = input(with, lies.a, 0);
                        const Input cube(dtype, {3, m, n}, lies.b, 2);
                        const Input b(dtype, {n, 3}, lies.b, 2);
                        const Input c(dtype, {5, n}, lies.a, 1);
                        const Output line(dtype, {3}, with.fill, lies.out);
                        const Output table(dtype, {m, 5}, with.fill, lies.out);
                        const auto of = [](const tnr_view* view) { return *view; };
                        const tnr_view pair[] = {of(a), of(cube)};
                        const tnr_view triple[] = {of(a), of(b), of(c)};
                        const tnr_view_mut* const out = is_pair ? line : table;
                        (void)answer.succeeds(tnr_einsum(with.context, spec,
                                                         is_pair ? pair : triple, is_pair ? 2 : 3,
                                                         nullptr, out));
                        (is_pair ? line : table).give(answer);
                      }});
    }
  }
}

void add_convolutions(List& list) {
  const struct {
    const char* name;
    std::int64_t channels, filters, side, groups;
  } variants[] = {{"by 3 x 3", 3, 5, 3, 1},
                  {"by pixels", 20, 33, 1, 1},
                  {"each channel by itself", 6, 6, 3, 6}};
  for (const auto& variant : variants) {
    for (const Lies& lies : kArrangements) {
      list.push_back({"tnr_conv2d", std::string(variant.name) + ", " + lies.name,
                      [=, &lies](const Operands& with, Answer& answer) {
                        convolve(with, lies, variant.channels, variant.filters, variant.side,
                                 variant.groups, answer);
                      }});
    }
  }
}

// Transposes convolve(), with a step of 2 and a row of padding: an image without rows gives none.
void transpose_convolution(const Operands& with, const Lies& lies, std::int64_t channels,
                           std::int64_t filters, std::int64_t groups, Answer& answer) {
  const tnr_dtype dtype = with.a.values.dtype;
  tnr_conv2d_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.strides[0] = attributes.strides[1] = 2;
  attributes.padding[0] = 1;
  attributes.groups = groups;
  const Input a(dtype, {2, channels, with.a.rows, with.a.cols}, lies.a, 0);
  const Input weight(dtype, {channels, filters / groups, 3, 2}, lies.b, 2);
  const Input bias(dtype, {filters}, lies.b, 1);
  const Output out(dtype, {2, filters, 2 * with.a.rows, 2 * with.a.cols}, with.fill, lies.out);
  (void)answer.succeeds(tnr_conv2d_transposed(with.context, a, weight, bias, &attributes, out));
  out.give(answer);
}

void pool(const Operands& with, const Lies& lies, tnr_reduce_op op, std::int64_t stride,
          Answer& answer) {
  const tnr_dtype dtype = with.a.values.dtype;
  tnr_pool2d_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.kernel[0] = attributes.kernel[1] = 3;
  attributes.strides[0] = attributes.strides[1] = stride;
  for (std::int64_t& around : attributes.padding) around = 1;
  const Input a(dtype, {2, 5, with.a.rows, with.a.cols}, lies.a, 0);
  const Output out(dtype, {2, 5, (with.a.rows - 1) / stride + 1, (with.a.cols - 1) / stride + 1},
                   with.fill, lies.out);
  (void)answer.succeeds(tnr_pool2d(with.context, op, a, &attributes, out));
  out.give(answer);
}

// The gradient of pool() by steps of 1.
void pool_gradient(const Operands& with, const Lies& lies, tnr_reduce_op op, Answer& answer) {
  const tnr_dtype dtype = with.a.values.dtype;
  tnr_pool2d_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.kernel[0] = attributes.kernel[1] = 3;
  attributes.strides[0] = attributes.strides[1] = 1;
  for (std::int64_t& around : attributes.padding) around = 1;
  const Input a(dtype, {2, 5, with.a.rows, with.a.cols}, lies.a, 0);
  const Input g(dtype, {2, 5, with.a.rows, with.a.cols}, lies.b, 1);
  const Output out(dtype, {2, 5, with.a.rows, with.a.cols}, with.fill, lies.out);
  (void)answer.succeeds(tnr_pool2d_gradient(with.context, op, a, g, &attributes, out));
  out.give(answer);
}

void find_filters(const Operands& with, const Lies& lies, std::int64_t groups, Answer& answer) {
  const tnr_dtype dtype = with.a.values.dtype;
  tnr_conv2d_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  for (std::int64_t& zeros : attributes.padding) zeros = 1;
  attributes.groups = groups;
  const Input a(dtype, {2, 4, with.a.rows, with.a.cols}, lies.a, 0);
  const Input g(dtype, {2, 8, with.a.rows, with.a.cols}, lies.b, 1);
  const Output out(dtype, {8, 4 / groups, 3, 3}, with.fill, lies.out);
  (void)answer.succeeds(tnr_conv2d_filters(with.context, a, g, &attributes, out));
  out.give(answer);
}

void normalize_batch(const Operands& with, const Lies& lies, Answer& answer) {
  const tnr_dtype dtype = with.a.values.dtype;
  tnr_batch_norm_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.eps = 1;
  const Input a(dtype, {with.a.rows, 3, with.a.cols}, lies.a, 0);
  const Input mean(dtype, {3}, lies.b, 1);
  const Input var(dtype, {3}, lies.b, 2);
  const Output out(dtype, {with.a.rows, 3, with.a.cols}, with.fill, lies.out);
  (void)answer.succeeds(
      tnr_batch_norm(with.context, a, mean, var, nullptr, mean, &attributes, out));
  out.give(answer);
}

void normalize(const Operands& with, const Lies& lies, tnr_normalize_op op, std::uint32_t axes,
               const Input& weight, Answer& answer) {
  const tnr_dtype dtype = with.a.values.dtype;
  tnr_normalize_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  if (op == TNR_NORMALIZE_OP_LAYER_NORM) {
    attributes.eps = 1;
    attributes.weight = attributes.bias = weight;
  }
  const Input a(dtype, {with.a.rows, 3, with.a.cols}, lies.a, 0);
  const Output out(dtype, {with.a.rows, 3, with.a.cols}, with.fill, lies.out);
  (void)answer.succeeds(tnr_normalize(with.context, op, a, axes, &attributes, out));
  out.give(answer);
}

void scan(const Operands& with, const Lies& lies, tnr_scan_op op, std::uint32_t axis,
          Answer& answer) {
  const Input a(with.a.values.dtype, {with.a.rows, 3, with.a.cols}, lies.a, 0);
  for (const tnr_dtype dtype : reduced_dtypes(with.a.values.dtype)) {
    const Output out(dtype, {with.a.rows, 3, with.a.cols}, with.fill, lies.out);
    (void)answer.succeeds(tnr_scan(with.context, op, a, axis, nullptr, out));
    out.give(answer);
    if (answer.status == TNR_STATUS_OK) return;
  }
}

void moments(const Operands& with, const Lies& lies, std::uint32_t axes, Answer& answer) {
  const tnr_dtype dtype = with.a.values.dtype;
  const Input a = input(with, lies.a, 0);
  const std::int64_t rows = (axes & 1) != 0 ? 1 : with.a.rows;
  const std::int64_t columns = (axes & 2) != 0 ? 1 : with.a.cols;
  const Output mean(dtype, {rows, columns}, with.fill, lies.out);
  const Output out(dtype, {rows, columns}, with.fill, lies.out);
  (void)answer.succeeds(tnr_moments(with.context, a, axes, nullptr, mean, out));
  mean.give(answer, "mean");
  out.give(answer);
}

// One scale for all numbers: 2, the first of the numbers of an output.
class Scale {
 public:
  explicit Scale(const Operands& with) : scale_(TNR_DTYPE_F32, {1, 1}, with.fill) {
    scale_.put_numbers();
  }
  operator const tnr_view*() const { return &scale_.view(); }

 private:
  Output scale_;
};

void quantize(const Operands& with, const Lies& lies, Answer& answer) {
  const Input a = input(with, lies.a, 0);
  const Input zeros(TNR_DTYPE_I8, {1, 1}, lies.b, 2);
  const Output out(TNR_DTYPE_I8, {with.a.rows, with.a.cols}, with.fill, lies.out);
  (void)answer.succeeds(tnr_quantize(with.context, a, Scale(with), zeros, nullptr, out));
  out.give(answer);
}

void dequantize(const Operands& with, const Lies& lies, Answer& answer) {
  const Input a = input(with, lies.a, 0, TNR_DTYPE_U8);
  const Input zeros(TNR_DTYPE_U8, {1, 1}, lies.b, 2);
  const Output out(with.a.values.dtype, {with.a.rows, with.a.cols}, with.fill, lies.out);
  (void)answer.succeeds(tnr_dequantize(with.context, a, Scale(with), zeros, nullptr, out));
  out.give(answer);
}

// By the scales of rows, or of columns with zeros.
void quantize_dynamic(const Operands& with, const Lies& lies, bool has_zeros, Answer& answer) {
  const std::int64_t rows = has_zeros ? 1 : with.a.rows;
  const std::int64_t columns = has_zeros ? with.a.cols : 1;
  const tnr_dtype integers = has_zeros ? TNR_DTYPE_U8 : TNR_DTYPE_I8;
  const Input a = input(with, lies.a, 0);
  const Output scales(TNR_DTYPE_F32, {rows, columns}, with.fill, lies.out);
  const Output zeros(integers, {rows, columns}, with.fill, lies.out);
  const Output out(integers, {with.a.rows, with.a.cols}, with.fill, lies.out);
  const tnr_view_mut* const to_zeros =
      has_zeros ? static_cast<const tnr_view_mut*>(zeros) : nullptr;
  (void)answer.succeeds(tnr_quantize_dynamic(with.context, a, nullptr, scales, to_zeros, out));
  scales.give(answer, "scales");
  if (has_zeros) zeros.give(answer, "zeros");
  out.give(answer);
}

// Multiplies rows of floats, or bytes, whose result is of bytes too.
void multiply_quantized(const Operands& with, const Lies& lies, bool is_packed, Answer& answer) {
  const tnr_dtype dtype = with.a.values.dtype;
  const bool has_bytes = dtype == TNR_DTYPE_I8 || dtype == TNR_DTYPE_U8;
  const Input a = input(with, lies.a, 0);
  const Input b(TNR_DTYPE_I8, {with.a.cols, 5}, lies.b, 2);
  const Scale scale(with);
  const Output out(dtype, {with.a.rows, 5}, with.fill, lies.out);
  const tnr_view* const of_bytes = has_bytes ? static_cast<const tnr_view*>(scale) : nullptr;
  tnr_quantized_matmul_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.out_scale = of_bytes;
  tnr_status status;
  if (is_packed) {
    tnr_factor_attributes packing = {};
    packing.struct_size = sizeof packing;
    packing.a_dtype = has_bytes ? dtype : TNR_DTYPE_I8;
    tnr_factor* const factor = tnr_factor_create(with.context, b, &packing);
    status = factor == nullptr
                 ? tnr_last_error()->status
                 : tnr_factor_quantized_matmul(with.context, a, of_bytes, nullptr, factor, scale,
                                               nullptr, &attributes, out);
    (void)tnr_factor_release(factor);
  } else {
    status = tnr_quantized_matmul(with.context, a, of_bytes, nullptr, b, scale, nullptr,
                                  &attributes, out);
  }
  (void)answer.succeeds(status);
  out.give(answer);
}

// Multiplies rows of floats by weights of 4 bits, in groups that have one scale in memory.
void multiply_by_nibbles(const Operands& with, const Lies& lies, bool is_packed, Answer& answer) {
  const Input a(with.a.values.dtype, {with.a.rows, 64}, lies.a);
  const Input b(TNR_DTYPE_I8, {64, 5}, lies.b, 2);
  const Scale scale(with);
  tnr_view scales = *static_cast<const tnr_view*>(scale);
  scales.shape[0] = 2;
  scales.shape[1] = 5;
  scales.strides[0] = scales.strides[1] = 0;
  const Output out(TNR_DTYPE_F32, {with.a.rows, 5}, with.fill, lies.out);
  tnr_status status;
  if (is_packed) {
    tnr_factor_attributes packing = {};
    packing.struct_size = sizeof packing;
    packing.group_scales = &scales;
    tnr_factor* const factor = tnr_factor_create(with.context, b, &packing);
    status = factor == nullptr
                 ? tnr_last_error()->status
                 : tnr_factor_quantized_matmul(with.context, a, nullptr, nullptr, factor, nullptr,
                                               nullptr, nullptr, out);
    (void)tnr_factor_release(factor);
  } else {
    status =
        tnr_quantized_matmul(with.context, a, nullptr, nullptr, b, &scales, nullptr, nullptr, out);
  }
  (void)answer.succeeds(status);
  out.give(answer);
}

// The matrix as an image of one channel, or of one row of pixels with its columns as channels, whose
// weight has three filters of one place.
void convolve_quantized(const Operands& with, const Lies& lies, bool has_channels, Answer& answer) {
  const tnr_dtype dtype = with.a.values.dtype;
  const bool has_bytes = dtype == TNR_DTYPE_I8 || dtype == TNR_DTYPE_U8;
  const std::int64_t channels = has_channels ? with.a.cols : 1;
  const std::int64_t width = has_channels ? with.a.rows : with.a.cols;
  const std::int64_t height = has_channels ? 1 : with.a.rows;
  const Input a(dtype, {1, channels, height, width}, lies.a, 0);
  const Input weight(TNR_DTYPE_I8, {3, channels, 1, 1}, lies.b, 2);
  const Scale scale(with);
  const Output out(has_bytes ? dtype : tnr_dtype{TNR_DTYPE_F32}, {1, 3, height, width}, with.fill,
                   lies.out);
  tnr_quantized_conv2d_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.out_scale = has_bytes ? static_cast<const tnr_view*>(scale) : nullptr;
  (void)answer.succeeds(tnr_quantized_conv2d(with.context, a, scale, nullptr, weight, scale,
                                             nullptr, &attributes, out));
  out.give(answer);
}

void add_layers(List& list) {
  for (const Lies& lies : kArrangements) {
    const auto add = [&](const char* function, const char* name, auto run) {
      list.push_back(
          {function, std::string(name) + ", " + lies.name,
           [=, &lies](const Operands& with, Answer& answer) { run(with, lies, answer); }});
    };
    add("tnr_conv2d_transposed", "of all channels", [](auto& with, auto& layout, auto& answer) {
      transpose_convolution(with, layout, 4, 5, 1, answer);
    });
    add("tnr_conv2d_transposed", "of each channel", [](auto& with, auto& layout, auto& answer) {
      transpose_convolution(with, layout, 4, 8, 4, answer);
    });
    add("tnr_pool2d", "maxima", [](auto& with, auto& layout, auto& answer) {
      pool(with, layout, TNR_REDUCE_OP_MAX, 2, answer);
    });
    add("tnr_pool2d", "means", [](auto& with, auto& layout, auto& answer) {
      pool(with, layout, TNR_REDUCE_OP_MEAN, 1, answer);
    });
    add("tnr_pool2d_gradient", "maxima", [](auto& with, auto& layout, auto& answer) {
      pool_gradient(with, layout, TNR_REDUCE_OP_MAX, answer);
    });
    add("tnr_pool2d_gradient", "means", [](auto& with, auto& layout, auto& answer) {
      pool_gradient(with, layout, TNR_REDUCE_OP_MEAN, answer);
    });
    add("tnr_conv2d_filters", "of all channels",
        [](auto& with, auto& layout, auto& answer) { find_filters(with, layout, 1, answer); });
    add("tnr_conv2d_filters", "of each channel",
        [](auto& with, auto& layout, auto& answer) { find_filters(with, layout, 4, answer); });
    for (const Constant& code : codes_of("tnr_normalize_op")) {
      const auto op = static_cast<tnr_normalize_op>(code.value);
      const std::string name = short_name(code);
      add("tnr_normalize", (name + " of rows").c_str(),
          [op](auto& with, auto& layout, auto& answer) {
            const Input weight(with.a.values.dtype, {with.a.cols}, layout.b, 1);
            normalize(with, layout, op, 4, weight, answer);
          });
      add("tnr_normalize", (name + " over two axes").c_str(),
          [op](auto& with, auto& layout, auto& answer) {
            const Input weight(with.a.values.dtype, {with.a.rows, with.a.cols}, layout.b, 1);
            normalize(with, layout, op, 5, weight, answer);
          });
    }
    for (const Constant& code : codes_of("tnr_scan_op")) {
      const auto op = static_cast<tnr_scan_op>(code.value);
      for (const std::uint32_t axis : {0u, 2u}) {
        add("tnr_scan", (short_name(code) + " along axis " + std::to_string(axis)).c_str(),
            [=](auto& with, auto& layout, auto& answer) { scan(with, layout, op, axis, answer); });
      }
    }
    add("tnr_moments", "of columns",
        [](auto& with, auto& layout, auto& answer) { moments(with, layout, 1, answer); });
    add("tnr_moments", "of all",
        [](auto& with, auto& layout, auto& answer) { moments(with, layout, 3, answer); });
    add("tnr_quantize", "by one scale",
        [](auto& with, auto& layout, auto& answer) { quantize(with, layout, answer); });
    add("tnr_dequantize", "by one scale",
        [](auto& with, auto& layout, auto& answer) { dequantize(with, layout, answer); });
    for (const bool has_zeros : {false, true}) {
      add("tnr_quantize_dynamic", has_zeros ? "of columns, with zeros" : "of rows",
          [=](auto& with, auto& layout, auto& answer) {
            quantize_dynamic(with, layout, has_zeros, answer);
          });
    }
    add("tnr_quantized_matmul", "", [](auto& with, auto& layout, auto& answer) {
      multiply_quantized(with, layout, false, answer);
    });
    for (const bool has_channels : {false, true}) {
      add("tnr_quantized_conv2d", has_channels ? "of channels" : "of pixels",
          [=](auto& with, auto& layout, auto& answer) {
            convolve_quantized(with, layout, has_channels, answer);
          });
    }
    add("tnr_factor_quantized_matmul", "", [](auto& with, auto& layout, auto& answer) {
      multiply_quantized(with, layout, true, answer);
    });
    add("tnr_quantized_matmul", "by 4 bits", [](auto& with, auto& layout, auto& answer) {
      multiply_by_nibbles(with, layout, false, answer);
    });
    add("tnr_factor_quantized_matmul", "by 4 bits", [](auto& with, auto& layout, auto& answer) {
      multiply_by_nibbles(with, layout, true, answer);
    });
    add("tnr_batch_norm", "by channels",
        [](auto& with, auto& layout, auto& answer) { normalize_batch(with, layout, answer); });
  }
}

// Sorts, selections and quantiles along both axes.
void order(const Operands& with, const Lies& lies, const std::string& function, std::uint32_t axis,
           Answer& answer) {
  const tnr_dtype dtype = with.a.values.dtype;
  std::int64_t extents[] = {with.a.rows, with.a.cols};
  if (function == "tnr_top_k") extents[axis] = (extents[axis] + 1) / 2;
  const bool is_quantile = function == "tnr_quantile";
  if (is_quantile) {
    extents[1] = extents[1 - axis];
    extents[0] = 2;
  }
  const Input a = input(with, lies.a, 0);
  const Output indices(TNR_DTYPE_I64, {extents[0], extents[1]}, with.fill, lies.b);
  const Output out(dtype, {extents[0], extents[1]}, with.fill, lies.out);
  const double q[] = {0.5, 0.9};
  tnr_status status;
  if (function == "tnr_sort") {
    status = tnr_sort(with.context, a, axis, nullptr, indices, out);
  } else if (function == "tnr_top_k") {
    status = tnr_top_k(with.context, a, axis, nullptr, indices, out);
  } else if (function == "tnr_partition") {
    status = tnr_partition(with.context, a, axis, 0, nullptr, indices, out);
  } else {
    status = tnr_quantile(with.context, a, 1u << axis, q, 2, nullptr, out);
  }
  (void)answer.succeeds(status);
  if (!is_quantile) indices.give(answer, "indices");
  out.give(answer);
}

void find_unique(const Operands& with, const Lies& lies, Answer& answer) {
  const Input a = input(with, lies.a, 0);
  const Output inverse(TNR_DTYPE_I64, {with.a.rows, with.a.cols}, with.fill, lies.out);
  tnr_view_mut counts = {};
  tnr_view_mut out = {};
  tnr_blob* const blob = tnr_unique(with.context, a, nullptr, inverse, &counts, &out);
  if (answer.succeeds(blob != nullptr ? TNR_STATUS_OK : tnr_last_error()->status)) {
    answer.add_elements("counts", counts.view);
    answer.add_elements("out", out.view);
    inverse.give(answer, "inverse");
  }
  tnr_blob_release(blob);
}

void add_ordering(List& list) {
  for (const Lies& lies : kArrangements) {
    for (const char* const function : {"tnr_sort", "tnr_top_k", "tnr_partition", "tnr_quantile"}) {
      for (const std::uint32_t axis : {0u, 1u}) {
        list.push_back({function, "along axis " + std::to_string(axis) + ", " + lies.name,
                        [=, &lies](const Operands& with, Answer& answer) {
                          order(with, lies, function, axis, answer);
                        }});
      }
    }
    const auto add = [&](const char* function, const auto& run) {
      list.push_back({function, lies.name, [=, &lies](const Operands& with, Answer& answer) {
                        run(with, lies, answer);
                      }});
    };
    add("tnr_unique", find_unique);
    add("tnr_searchsorted", [](const Operands& with, const Lies& lie, Answer& answer) {
      const Input sorted(with.a.values.dtype, {9}, lie.b, 0);
      const Input values = input(with, lie.a, 0);
      const Output out(TNR_DTYPE_I64, {with.a.rows, with.a.cols}, with.fill, lie.out);
      (void)answer.succeeds(tnr_searchsorted(with.context, sorted, values, nullptr, out));
      out.give(answer, "counts");
    });
    add("tnr_bincount", [](const Operands& with, const Lies& lie, Answer& answer) {
      const Input a = input(with, lie.a, 0);
      const Output out(TNR_DTYPE_I64, {300}, with.fill, lie.out);
      (void)answer.succeeds(tnr_bincount(with.context, a, nullptr, out));
      out.give(answer, "counts");
    });
    add("tnr_histogram", [](const Operands& with, const Lies& lie, Answer& answer) {
      tnr_histogram_attributes attributes = {};
      attributes.struct_size = sizeof attributes;
      attributes.low = -4;
      attributes.high = 9;
      const Input a = input(with, lie.a, 0);
      const Output out(TNR_DTYPE_I64, {7}, with.fill, lie.out);
      (void)answer.succeeds(tnr_histogram(with.context, a, nullptr, &attributes, out));
      out.give(answer, "counts");
    });
  }
}

}  // namespace

const std::vector<Operation>& dense_operations() {
  static const List list = [] {
    List all;
    add_movement(all);
    add_arithmetic(all);
    add_reductions(all);
    add_products(all);
    add_convolutions(all);
    add_einsums(all);
    add_layers(all);
    add_movement_operations(all);
    add_random_numbers(all);
    add_ordering(all);
    add_expressions(all);
    return all;
  }();
  return list;
}

}  // namespace tenure::sweeps
