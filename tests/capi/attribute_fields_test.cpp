// Each field of each struct of attributes that a function, a node or a mode of it does not take is
// refused by its name. The fields are those that the frozen ABI lists.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cpu/operations.hpp"
#include "expect_status.hpp"
#include "program/program_graph.hpp"
#include "sparse_functions.hpp"

namespace tenure::test {
namespace {

struct Field {
  std::size_t offset = 0;
  std::string type;
};
using Fields = std::map<std::string, Field>;

// Fields of all structs of attributes that have one besides their size, by the structs' names.
std::map<std::string, Fields> all_fields() {
  std::map<std::string, Fields> fields = {{"tnr_extension", {}}};
  std::ifstream abi(TENURE_ABI_FIELDS);
  for (std::string line; std::getline(abi, line);) {
    std::istringstream words(line);
    std::string kind, name, version, at;
    Field field;
    words >> kind >> name >> version >> at >> field.offset >> std::ws;
    std::getline(words, field.type);
    const std::string of = name.substr(0, name.find('.'));
    if (kind != "field" || !of.ends_with("_attributes") || name.ends_with(".struct_size")) continue;
    fields[of][name.substr(of.size() + 1)] = field;
  }
  return fields;
}

// The types of the attributes of all functions that compute with a sparse matrix or make one.
std::map<std::string, std::string> sparse_attributes() {
  std::map<std::string, std::string> types;
  std::ifstream abi(TENURE_ABI_FIELDS);
  for (std::string line; std::getline(abi, line);) {
    const bool is_of_sparse =
        line.starts_with("function tnr_sparse_") || line.starts_with("function tnr_packed_");
    if (!is_of_sparse || line.find("(tnr_context *") == std::string::npos) continue;
    std::istringstream words(line);
    std::string name;
    words >> name >> name;
    for (std::string word; words >> word;) {
      if (word.ends_with("_attributes") || word == "tnr_extension") types[name] = word;
    }
  }
  return types;
}

using Bytes = std::vector<unsigned char>;

// A function, or a mode of it: the fields that it takes, and a call that succeeds with `base`.
struct Mode {
  std::string name;
  std::string type;
  Bytes base;
  std::set<std::string> taken;
  std::function<tnr_status(const void*)> call;
};

class AttributeFields : public CGraph {
 protected:
  AttributeFields() : arrays_(thirds(TNR_SPARSE_FORMAT_CSR, 4, 4), TNR_DTYPE_I32) {
    std::ranges::fill(memory_, 1.0f);
  }

  // A view of ones, and memory to write to.
  [[nodiscard]] tnr_view ones(const Shape& shape) const {
    std::size_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    EXPECT_LE(count, std::size(memory_));
    return view_over(memory_, shape);
  }
  [[nodiscard]] tnr_view_mut out(const Shape& shape, tnr_dtype dtype = TNR_DTYPE_F32) {
    return {view_over(written_, shape, dtype)};
  }

  template <class Attributes>
  void add(const std::string& name, std::set<std::string> taken,
           std::function<tnr_status(const Attributes*)> call,
           const std::function<void(Attributes&)>& set = nullptr) {
    Attributes base = {};
    base.struct_size = sizeof base;
    if (set) set(base);
    Bytes bytes(sizeof base);
    std::memcpy(bytes.data(), &base, sizeof base);
    modes_.push_back({name, name_of<Attributes>(), std::move(bytes), std::move(taken),
                      [call = std::move(call)](const void* given) {
                        return call(static_cast<const Attributes*>(given));
                      }});
  }

  // Adds a mode that is a node of a graph; the graph is made for it.
  template <class Attributes>
  void add_node(const std::string& name, std::set<std::string> taken, std::uint32_t code,
                const std::function<std::vector<std::uint32_t>()>& operands, Shape numbers = {},
                std::uint32_t flags = 0, const std::function<void(Attributes&)>& set = nullptr,
                tnr_dtype dtype = 0) {
    add<Attributes>(
        "a node of " + name, std::move(taken),
        [=, this](const Attributes* given) {
          std::uint32_t value;
          const tnr_status status =
              CGraph::add(code, operands(), numbers, given, flags, &value, dtype);
          release_all();
          graph = tnr_graph_create();
          return status;
        },
        set);
  }

  // Adds a mode that is an expression of one node.
  template <class Attributes>
  void add_expression(const std::string& name, std::set<std::string> taken, std::uint32_t code,
                      std::uint32_t axes, const tnr_view_mut& to,
                      const std::function<void(Attributes&)>& set = nullptr) {
    add<Attributes>(
        "an expression that " + name, std::move(taken),
        [=, this](const Attributes* given) {
          const tnr_view a = ones({2, 3});
          const tnr_view* const views[] = {&a};
          const void* const attributes[] = {given};
          const tnr_node node = {
              code, to.view.dtype, {TNR_OPERAND_VIEW, TNR_OPERAND_NONE, TNR_OPERAND_NONE},
              1,    axes,          0};
          tnr_expression expression = {};
          expression.struct_size = sizeof expression;
          expression.nodes = &node;
          expression.views = views;
          expression.attributes = attributes;
          expression.node_count = expression.view_count = expression.attribute_count = 1;
          return tnr_evaluate(nullptr, &expression, nullptr, &to);
        },
        set);
  }

  template <class Attributes>
  static std::string name_of();

  void add_dense();
  void add_images();
  void add_ordering();
  void add_random();
  void add_sparse();
  void add_sparse_nodes();
  void add_programs();

  std::vector<Mode> modes_;
  float memory_[64 * 64];
  alignas(16) unsigned char written_[4096] = {};
  alignas(16) unsigned char zeros_[64] = {};
  SparseArrays arrays_;
  const tnr_view scale_ = view_over(memory_, {1});
  const tnr_scalar one_ = tnr_scalar_i64(1);
  const tnr_scalar zero_ = tnr_scalar_i64(0);
};

#define TENURE_NAMED(type)                       \
  template <>                                    \
  std::string AttributeFields::name_of<type>() { \
    return #type;                                \
  }
TENURE_NAMED(tnr_reduce_attributes)
TENURE_NAMED(tnr_matmul_attributes)
TENURE_NAMED(tnr_quantize_dynamic_attributes)
TENURE_NAMED(tnr_quantized_matmul_attributes)
TENURE_NAMED(tnr_quantized_conv2d_attributes)
TENURE_NAMED(tnr_conv2d_attributes)
TENURE_NAMED(tnr_pool2d_attributes)
TENURE_NAMED(tnr_batch_norm_attributes)
TENURE_NAMED(tnr_pad_attributes)
TENURE_NAMED(tnr_triangle_attributes)
TENURE_NAMED(tnr_normalize_attributes)
TENURE_NAMED(tnr_moments_attributes)
TENURE_NAMED(tnr_einsum_node_attributes)
TENURE_NAMED(tnr_program_attributes)
TENURE_NAMED(tnr_precision_attributes)
TENURE_NAMED(tnr_graph_quantize_attributes)
TENURE_NAMED(tnr_program_run_attributes)
TENURE_NAMED(tnr_bound_attributes)
TENURE_NAMED(tnr_sort_attributes)
TENURE_NAMED(tnr_top_k_attributes)
TENURE_NAMED(tnr_quantile_attributes)
TENURE_NAMED(tnr_searchsorted_attributes)
TENURE_NAMED(tnr_bincount_attributes)
TENURE_NAMED(tnr_histogram_attributes)
TENURE_NAMED(tnr_random_attributes)
TENURE_NAMED(tnr_sparse_node_attributes)
TENURE_NAMED(tnr_factor_attributes)
#undef TENURE_NAMED

template <class Attributes>
void clamp(Attributes& attributes) {
  attributes.flags = TNR_EPILOGUE_CLAMP;
  attributes.high = 1;
}

void AttributeFields::add_dense() {
  for (tnr_reduce_op op = 1; op <= static_cast<int>(kernels::kReduceCount); ++op) {
    const std::string name = kernels::kReduceRows[op - 1].name;
    std::set<std::string> taken;
    const kernels::Attribute attribute = kernels::kReduceRows[op - 1].attribute;
    if (attribute == kernels::Attribute::kDdof) taken = {"ddof"};
    if (attribute == kernels::Attribute::kPower) taken = {"power"};
    const auto set = [attribute](tnr_reduce_attributes& of) {
      of.power = attribute == kernels::Attribute::kPower ? 2 : 0;
    };
    const tnr_dtype dtype =
        kernels::kReduceRows[op - 1].gives == kernels::Gives::kTruth   ? TNR_DTYPE_BOOL8
        : kernels::kReduceRows[op - 1].gives == kernels::Gives::kIndex ? TNR_DTYPE_I64
                                                                       : TNR_DTYPE_F32;
    add<tnr_reduce_attributes>(
        "reduce by " + name, taken,
        [=, this](auto* given) {
          const tnr_view a = ones({2, 3});
          const tnr_view_mut to = out({3}, dtype);
          return tnr_reduce(nullptr, op, &a, 1, given, &to);
        },
        set);
    add_node<tnr_reduce_attributes>(
        "reduce by " + name, taken, TNR_NODE_REDUCE | static_cast<std::uint32_t>(op),
        [this] { return std::vector{input({2, 3})}; }, {}, 1, set);
    add_expression<tnr_reduce_attributes>("reduces by " + name, taken,
                                          TNR_NODE_REDUCE | static_cast<std::uint32_t>(op), 1,
                                          out({3}, dtype), set);
  }
  for (const bool has_bounds : {false, true}) {
    std::set<std::string> taken = {"bias", "activation", "flags"};
    if (has_bounds) taken.insert({"low", "high"});
    std::set<std::string> of_node = taken;
    of_node.erase("bias");
    const std::function<void(tnr_matmul_attributes&)> set =
        has_bounds ? clamp<tnr_matmul_attributes> : nullptr;
    const std::string with = has_bounds ? " with bounds" : "";
    for (const Shape& shape : {Shape{2, 2}, Shape{9, 9}}) {
      add<tnr_matmul_attributes>(
          "matmul" + with, taken,
          [=, this](auto* given) {
            const tnr_view a = ones(shape);
            const tnr_view_mut to = out(shape);
            return tnr_matmul(nullptr, &one_, &a, &a, &zero_, given, &to);
          },
          set);
    }
    add<tnr_matmul_attributes>(
        "factor_matmul" + with, taken,
        [this](auto* given) {
          const tnr_view a = ones({3, 3});
          const tnr_view_mut to = out({3, 3});
          tnr_factor* const factor = tnr_factor_create(nullptr, &a, nullptr);
          const tnr_status status =
              tnr_factor_matmul(nullptr, &one_, &a, factor, &zero_, given, &to);
          (void)tnr_factor_release(factor);
          return status;
        },
        set);
    add_node<tnr_matmul_attributes>(
        "matmul" + with, of_node, TNR_NODE_MATMUL,
        [this] { return std::vector{input({2, 2}), input({2, 2})}; }, {}, 0, set);
  }
  for (const bool is_of_bytes : {false, true}) {
    std::set<std::string> of_product = {"bias", "activation", "flags", "low", "high"};
    if (is_of_bytes) of_product.insert({"out_scale", "out_zero"});
    const std::string name = is_of_bytes ? "quantized_matmul of bytes" : "quantized_matmul";
    const auto multiply = [=, this](auto* given, bool is_packed) {
      const tnr_view a = ones({2, 2});
      const tnr_view b = view_over(zeros_, {2, 2}, TNR_DTYPE_I8);
      const tnr_view scale = ones({1});
      const tnr_view_mut to = out({2, 2}, is_of_bytes ? TNR_DTYPE_I8 : TNR_DTYPE_F32);
      if (!is_packed) {
        return tnr_quantized_matmul(nullptr, &a, nullptr, nullptr, &b, &scale, nullptr, given, &to);
      }
      tnr_factor* const factor = tnr_factor_create(nullptr, &b, nullptr);
      const tnr_status status = tnr_factor_quantized_matmul(nullptr, &a, nullptr, nullptr, factor,
                                                            &scale, nullptr, given, &to);
      (void)tnr_factor_release(factor);
      return status;
    };
    const std::function<void(tnr_quantized_matmul_attributes&)> set = [=, this](auto& of) {
      clamp(of);
      if (is_of_bytes) of.out_scale = &scale_;
    };
    for (const bool is_packed : {false, true}) {
      add<tnr_quantized_matmul_attributes>((is_packed ? "factor_" : "") + name, of_product,
                                           [=](auto* given) { return multiply(given, is_packed); },
                                           set);
    }
    std::set<std::string> of_images = of_product;
    of_images.insert({"strides", "padding", "dilations", "groups"});
    add<tnr_quantized_conv2d_attributes>(
        is_of_bytes ? "quantized_conv2d to bytes" : "quantized_conv2d", of_images,
        [=, this](auto* given) {
          const tnr_view a = view_over(zeros_, {1, 2, 2, 2}, TNR_DTYPE_I8);
          const tnr_view weight = view_over(zeros_, {2, 2, 1, 1}, TNR_DTYPE_I8);
          const tnr_view scale = ones({1});
          const tnr_view_mut to = out({1, 2, 2, 2}, is_of_bytes ? TNR_DTYPE_I8 : TNR_DTYPE_F32);
          return tnr_quantized_conv2d(nullptr, &a, &scale, nullptr, &weight, &scale, nullptr, given,
                                      &to);
        },
        std::function<void(tnr_quantized_conv2d_attributes&)>([=, this](auto& of) {
          clamp(of);
          if (is_of_bytes) of.out_scale = &scale_;
        }));
  }
  const tnr_pad_mode pads[] = {TNR_PAD_MODE_CONSTANT, TNR_PAD_MODE_EDGE, TNR_PAD_MODE_REFLECT,
                               TNR_PAD_MODE_SYMMETRIC, TNR_PAD_MODE_WRAP};
  for (const tnr_pad_mode mode : pads) {
    std::set<std::string> taken = {"before"};
    if (mode == TNR_PAD_MODE_CONSTANT) taken.insert("value");
    add<tnr_pad_attributes>("pad by mode " + std::to_string(mode), taken, [=, this](auto* given) {
      const tnr_view a = ones({3});
      const tnr_view_mut to = out({4});
      return tnr_pad(nullptr, mode, &a, given, &to);
    });
    add_node<tnr_pad_attributes>("pad by mode " + std::to_string(mode), taken,
                                 TNR_NODE_PAD | static_cast<std::uint32_t>(mode),
                                 [this] { return std::vector{input({3})}; }, {4});
  }
  for (tnr_normalize_op op = 1; op <= static_cast<int>(kernels::kNormalizeCount); ++op) {
    const std::string name = kernels::kNormalizeRows[op - 1].name;
    std::set<std::string> taken;
    if (op == TNR_NORMALIZE_OP_RMS_NORM) taken = {"eps", "weight"};
    if (op == TNR_NORMALIZE_OP_LAYER_NORM) taken = {"eps", "weight", "bias"};
    add<tnr_normalize_attributes>("normalize by " + name, taken, [=, this](auto* given) {
      const tnr_view a = ones({2, 3});
      const tnr_view_mut to = out({2, 3});
      return tnr_normalize(nullptr, op, &a, 2, given, &to);
    });
    add_expression<tnr_normalize_attributes>("normalizes by " + name, taken,
                                             TNR_NODE_NORMALIZE | static_cast<std::uint32_t>(op), 2,
                                             out({2, 3}));
    taken.erase("weight");
    taken.erase("bias");
    add_node<tnr_normalize_attributes>(
        "normalize by " + name, taken, TNR_NODE_NORMALIZE | static_cast<std::uint32_t>(op),
        [this] { return std::vector{input({2, 3})}; }, {}, 2);
  }
  add<tnr_moments_attributes>("moments", {"ddof"}, [this](auto* given) {
    const tnr_view a = ones({2, 3});
    const tnr_view_mut to = out({3});
    const tnr_view_mut mean = {view_over(written_ + 1024, {3})};
    return tnr_moments(nullptr, &a, 1, given, &mean, &to);
  });
  add<tnr_triangle_attributes>("triangular", {"diagonal"}, [this](auto* given) {
    const tnr_view a = ones({2, 3});
    const tnr_view_mut to = out({2, 3});
    return tnr_triangular(nullptr, TNR_TRIANGLE_LOWER, &a, given, &to);
  });
  add<tnr_factor_attributes>("factor", {"a_dtype", "group_scales"}, [this](auto* given) {
    const tnr_view b = ones({2, 3});
    tnr_factor* const made = tnr_factor_create(nullptr, &b, given);
    return made == nullptr ? tnr_last_error()->status : tnr_factor_release(made);
  });
  add<tnr_quantize_dynamic_attributes>("quantize_dynamic", {"bits"}, [this](auto* given) {
    const tnr_view a = ones({2, 3});
    float own[2];
    const tnr_view_mut scales = {view_over(own, {2, 1}, TNR_DTYPE_F32)};
    const tnr_view_mut to = out({2, 3}, TNR_DTYPE_I8);
    return tnr_quantize_dynamic(nullptr, &a, given, &scales, nullptr, &to);
  });
  add_node<tnr_einsum_node_attributes>(
      "einsum", {"spec"}, TNR_NODE_EINSUM, [this] { return std::vector{input({2})}; }, {}, 0,
      [](auto& of) { std::strcpy(of.spec, "i->i"); });
}

void AttributeFields::add_images() {
  for (const bool has_bounds : {false, true}) {
    std::set<std::string> taken = {"strides", "padding", "dilations",
                                   "groups",  "flags",   "activation"};
    if (has_bounds) taken.insert({"low", "high"});
    const std::function<void(tnr_conv2d_attributes&)> set =
        has_bounds ? clamp<tnr_conv2d_attributes> : nullptr;
    const std::string with = has_bounds ? " with bounds" : "";
    for (const auto& [name, convolve, code] :
         {std::tuple{"conv2d", &tnr_conv2d, TNR_NODE_CONV2D},
          std::tuple{"conv2d_transposed", &tnr_conv2d_transposed, TNR_NODE_CONV2D_TRANSPOSED}}) {
      add<tnr_conv2d_attributes>(
          name + with, taken,
          [this, convolve = convolve](auto* given) {
            const tnr_view a = ones({1, 1, 3, 3});
            const tnr_view weight = ones({1, 1, 1, 1});
            const tnr_view_mut to = out({1, 1, 3, 3});
            return convolve(nullptr, &a, &weight, nullptr, given, &to);
          },
          set);
      add_node<tnr_conv2d_attributes>(
          name + with, taken, code,
          [this] { return std::vector{input({1, 1, 3, 3}), input({1, 1, 1, 1})}; }, {}, 0, set);
    }
  }
  for (const tnr_reduce_op op : {TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_MEAN}) {
    for (const bool is_adaptive : {false, true}) {
      std::set<std::string> taken = {"flags"};
      if (!is_adaptive) taken.insert({"kernel", "strides", "padding", "dilations"});
      const std::function<void(tnr_pool2d_attributes&)> set = [=](auto& of) {
        of.flags = is_adaptive ? TNR_POOL2D_ADAPTIVE : 0;
      };
      const std::string name = std::string(is_adaptive ? "adaptive " : "") + "pool2d by " +
                               kernels::kReduceRows[op - 1].name;
      add<tnr_pool2d_attributes>(
          name, taken,
          [=, this](auto* given) {
            const tnr_view a = ones({1, 1, 3, 3});
            const tnr_view_mut to = out({1, 1, 1, 1});
            return tnr_pool2d(nullptr, op, &a, given, &to);
          },
          set);
      add_node<tnr_pool2d_attributes>(
          name, taken, TNR_NODE_POOL2D | static_cast<std::uint32_t>(op),
          [this] { return std::vector{input({1, 1, 3, 3})}; }, is_adaptive ? Shape{1, 1} : Shape{},
          0, set);
      add<tnr_pool2d_attributes>(
          "gradient of " + name, taken,
          [=, this](auto* given) {
            const tnr_view a = ones({1, 1, 3, 3});
            const tnr_view g = ones({1, 1, 1, 1});
            const tnr_view_mut to = out({1, 1, 3, 3});
            return tnr_pool2d_gradient(nullptr, op, &a, &g, given, &to);
          },
          set);
      add_node<tnr_pool2d_attributes>(
          "gradient of " + name, taken, TNR_NODE_POOL2D_GRADIENT | static_cast<std::uint32_t>(op),
          [this] { return std::vector{input({1, 1, 3, 3}), input({1, 1, 1, 1})}; }, {}, 0, set);
    }
  }
  const std::set<std::string> of_windows = {"strides", "padding", "dilations", "groups"};
  add<tnr_conv2d_attributes>("conv2d_filters", of_windows, [this](auto* given) {
    const tnr_view a = ones({1, 1, 3, 3});
    const tnr_view_mut to = out({1, 1, 1, 1});
    return tnr_conv2d_filters(nullptr, &a, &a, given, &to);
  });
  add_node<tnr_conv2d_attributes>(
      "conv2d_filters", of_windows, TNR_NODE_CONV2D_FILTERS,
      [this] { return std::vector{input({1, 1, 3, 3}), input({1, 1, 3, 3})}; }, {1, 1});
  add<tnr_batch_norm_attributes>("batch_norm", {"eps"}, [this](auto* given) {
    const tnr_view a = ones({1, 1, 3, 3});
    const tnr_view var = ones({1});
    const tnr_view_mut to = out({1, 1, 3, 3});
    return tnr_batch_norm(nullptr, &a, nullptr, &var, nullptr, nullptr, given, &to);
  });
}

void AttributeFields::add_ordering() {
  const auto operands = [this] { return std::vector{input({3})}; };
  add<tnr_sort_attributes>("sort", {"flags"}, [this](auto* given) {
    const tnr_view a = ones({3});
    const tnr_view_mut to = out({3});
    return tnr_sort(nullptr, &a, 0, given, nullptr, &to);
  });
  add_node<tnr_sort_attributes>("sort", {"flags"}, TNR_NODE_SORT | 1, operands, {0});
  add<tnr_top_k_attributes>("top_k", {"flags"}, [this](auto* given) {
    const tnr_view a = ones({3});
    const tnr_view_mut to = out({2});
    return tnr_top_k(nullptr, &a, 0, given, nullptr, &to);
  });
  add_node<tnr_top_k_attributes>("top_k", {"flags"}, TNR_NODE_TOP_K | 1, operands, {0, 2});
  add<tnr_quantile_attributes>("quantile", {"flags"}, [this](auto* given) {
    const tnr_view a = ones({3});
    const double q = 0.5;
    const tnr_view_mut to = out({1});
    return tnr_quantile(nullptr, &a, 1, &q, 1, given, &to);
  });
  add<tnr_searchsorted_attributes>("searchsorted", {"flags"}, [this](auto* given) {
    const tnr_view a = ones({3});
    const tnr_view_mut to = out({3}, TNR_DTYPE_I64);
    return tnr_searchsorted(nullptr, &a, &a, given, &to);
  });
  add<tnr_bincount_attributes>("bincount", {"weights"}, [this](auto* given) {
    const tnr_view a = view_over(zeros_, {3}, TNR_DTYPE_I32);
    const tnr_view_mut to = out({3}, TNR_DTYPE_I64);
    return tnr_bincount(nullptr, &a, given, &to);
  });
  for (const bool has_edges : {false, true}) {
    std::set<std::string> taken;
    if (!has_edges) taken = {"low", "high"};
    const std::function<void(tnr_histogram_attributes&)> set = [=](auto& of) {
      of.high = has_edges ? 0 : 1;
    };
    add<tnr_histogram_attributes>(
        has_edges ? "histogram by edges" : "histogram", taken,
        [=, this](auto* given) {
          const tnr_view a = ones({3});
          const tnr_view edges = ones({2});
          const tnr_view_mut to = out({1}, TNR_DTYPE_I64);
          return tnr_histogram(nullptr, &a, has_edges ? &edges : nullptr, given, &to);
        },
        set);
    add_node<tnr_histogram_attributes>(
        has_edges ? "histogram by edges" : "histogram", taken, TNR_NODE_HISTOGRAM,
        [=, this] {
          std::vector<std::uint32_t> values = {input({3})};
          if (has_edges) values.push_back(input({2}));
          return values;
        },
        {1}, 0, set);
  }
}

void AttributeFields::add_random() {
  const struct {
    tnr_random_distribution distribution;
    tnr_dtype dtype;
    std::set<std::string> taken;
  } distributions[] = {
      {TNR_RANDOM_DISTRIBUTION_UNIFORM, TNR_DTYPE_F32, {"low", "high"}},
      {TNR_RANDOM_DISTRIBUTION_NORMAL, TNR_DTYPE_F32, {"mean", "deviation"}},
      {TNR_RANDOM_DISTRIBUTION_INTEGERS, TNR_DTYPE_I32, {"least", "bound"}},
      {TNR_RANDOM_DISTRIBUTION_BERNOULLI, TNR_DTYPE_BOOL8, {"probability"}},
  };
  for (const auto& of : distributions) {
    const std::string name = "random by distribution " + std::to_string(of.distribution);
    add<tnr_random_attributes>(name, of.taken, [this, of](auto* given) {
      const tnr_view_mut to = out({3}, of.dtype);
      return tnr_random(nullptr, of.distribution, 1, 0, given, &to);
    });
    add_node<tnr_random_attributes>(
        name, of.taken, TNR_NODE_RANDOM | static_cast<std::uint32_t>(of.distribution),
        [this] {
          const tnr_scalar number = tnr_scalar_u64(1);
          std::uint32_t value = 0;
          EXPECT_EQ(tnr_graph_add_scalar(graph, &number, &value), TNR_STATUS_OK);
          return std::vector{value, value};
        },
        {3}, 0, nullptr, of.dtype);
  }
}

void AttributeFields::add_sparse() {
  const std::map<std::string, std::string> types = sparse_attributes();
  const tnr_sparse_view* const csr = &arrays_.view();
  for (const SparseFunction& function : sparse_functions()) {
    modes_.push_back({function.name(), types.at(function.function), function.attributes,
                      function.fields, [=](const void* given) {
                        SparseOperands with(*csr);
                        return function.call(nullptr, csr, given, with);
                      }});
  }
}

void AttributeFields::add_sparse_nodes() {
  const struct {
    const char* name;
    std::uint32_t code;
    std::vector<Shape> more;
    std::uint32_t flags;
  } kinds[] = {
      {"sparse_to_dense", TNR_NODE_SPARSE_TO_DENSE, {}, 0},
      {"sparse_matmul", TNR_NODE_SPARSE_MATMUL, {{3}}, 0},
      {"sparse_sddmm", TNR_NODE_SPARSE_SDDMM, {{3, 2}, {2, 3}}, 0},
      {"sparse_scale", TNR_NODE_SPARSE_SCALE, {{3}}, 0},
      {"sparse_softmax", TNR_NODE_SPARSE_SOFTMAX, {}, 0},
      {"sparse_reduce", TNR_NODE_SPARSE_REDUCE | TNR_REDUCE_OP_SUM, {}, 1},
      {"sparse_norm", TNR_NODE_SPARSE_NORM | TNR_SPARSE_NORM_KIND_ONE, {}, 0},
      {"sparse_diagonal", TNR_NODE_SPARSE_DIAGONAL, {}, 0},
      {"sparse_solve", TNR_NODE_SPARSE_SOLVE, {{3}}, 0},
      {"sparse_accumulate", TNR_NODE_SPARSE_ACCUMULATE, {{3, 3}}, 0},
  };
  for (const auto& kind : kinds) {
    std::set<std::string> taken = {"format", "flags"};
    if (kind.code == TNR_NODE_SPARSE_MATMUL) taken.insert("orientation");
    if (kind.code == TNR_NODE_SPARSE_SDDMM || kind.code == TNR_NODE_SPARSE_SOLVE) {
      taken.insert("call_flags");
    }
    add_node<tnr_sparse_node_attributes>(
        kind.name, taken, kind.code,
        [this, kind] {
          std::vector<std::uint32_t> values = {input({4}, TNR_DTYPE_I32), input({5}, TNR_DTYPE_I32),
                                               input({5})};
          for (const Shape& shape : kind.more) values.push_back(input(shape));
          return values;
        },
        {3, 3}, kind.flags, [](auto& of) { of.flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE; });
  }
}

void AttributeFields::add_programs() {
  add<tnr_program_attributes>(
      "program", {"disabled_passes", "enabled_passes", "packed", "budget_bytes"},
      [this](auto* given) {
        output(input({2}));
        tnr_program* const made = tnr_program_create(nullptr, graph, given);
        const tnr_status status =
            made == nullptr ? tnr_last_error()->status : tnr_program_release(made);
        release_all();
        graph = tnr_graph_create();
        return status;
      });
  add<tnr_precision_attributes>("mixed precision", {"keep", "keep_count"}, [this](auto* given) {
    const uint32_t of = node(TNR_NODE_MATMUL, {input({2, 2}), input({2, 2})});
    uint32_t lowered = 0;
    const tnr_status status =
        tnr_graph_add_mixed_precision(graph, &of, 1, TNR_DTYPE_BF16, given, &lowered);
    release_all();
    graph = tnr_graph_create();
    return status;
  });
  add<tnr_graph_quantize_attributes>(
      "quantization", {"keep", "keep_count", "weight_group"}, [this](auto* given) {
        const tnr_view weights = ones({64, 64});
        const uint32_t of = node(TNR_NODE_MATMUL, {input({2, 64}), constant(weights)});
        uint32_t quantized = 0;
        const tnr_status status = tnr_graph_quantize(graph, &of, 1, given, &quantized);
        release_all();
        graph = tnr_graph_create();
        return status;
      });
  add<tnr_program_run_attributes>(
      "a run", {"budget_bytes", "step_nanoseconds", "flags", "output_shapes"}, [this](auto* given) {
        output(node(TNR_NODE_UNARY | TNR_UNARY_OP_NEG, {input({2})}));
        const tnr_view a = ones({2});
        const tnr_view* const inputs[] = {&a};
        const tnr_view_mut to = out({2});
        const tnr_view_mut* const outputs[] = {&to};
        const tnr_status status = tnr_program_run(nullptr, program(), inputs, 1, given, outputs, 1);
        release_all();
        graph = tnr_graph_create();
        return status;
      });
  add<tnr_bound_attributes>("bound", {"budget_bytes", "flags"}, [this](auto* given) {
    output(node(TNR_NODE_UNARY | TNR_UNARY_OP_NEG, {input({2})}));
    const tnr_view a = ones({2});
    const tnr_view* const inputs[] = {&a};
    const tnr_view_mut to = out({2});
    const tnr_view_mut* const outputs[] = {&to};
    tnr_bound* const bound = tnr_bound_create(nullptr, program(), inputs, 1, given, outputs, 1);
    const tnr_status status =
        bound == nullptr ? tnr_last_error()->status : tnr_bound_release(bound);
    release_all();
    graph = tnr_graph_create();
    return status;
  });
}

TEST_F(AttributeFields, OfOthersAreRefused) {
  add_dense();
  add_images();
  add_ordering();
  add_random();
  add_sparse();
  add_sparse_nodes();
  add_programs();
  const std::map<std::string, Fields> all = all_fields();
  ASSERT_GE(all.size(), 30u);
  std::set<std::string> tested;
  const tnr_view view = ones({3});
  const tnr_view* const pointer = &view;
  for (const Mode& mode : modes_) {
    SCOPED_TRACE(mode.name);
    tested.insert(mode.type);
    if (!all.contains(mode.type)) continue;  // it has no field
    ASSERT_EQ(mode.call(mode.base.data()), TNR_STATUS_OK) << tnr_last_error()->message;
    for (const auto& [name, field] : all.at(mode.type)) {
      if (mode.taken.contains(name)) continue;
      Bytes varied = mode.base;
      unsigned char* const at = varied.data() + field.offset;
      if (field.type == "double") {
        const double number = 0.5;
        std::memcpy(at, &number, sizeof number);
      } else if (field.type.ends_with("*")) {
        std::memcpy(at, &pointer, sizeof pointer);
      } else {
        *at = 2;
      }
      expect_refused(mode.call(varied.data()), TNR_STATUS_INVALID_ARGUMENT, {"->" + name});
    }
  }
  for (const auto& [type, fields] : all) EXPECT_TRUE(tested.contains(type)) << type;
}

TEST(SparseFunctions, AreAllInTheTable) {
  std::set<std::string> listed, exported;
  for (const SparseFunction& function : sparse_functions()) listed.insert(function.function);
  for (const auto& [function, type] : sparse_attributes()) exported.insert(function);
  EXPECT_EQ(listed, exported) << "tests/support/sparse_functions.cpp has a row for each";
}

// The elements of an array, and the bit of a flag, that a mode does not take.
TEST_F(AttributeFields, PartsOfOthersAreRefused) {
  const tnr_view a = ones({3});
  const tnr_view_mut padded = out({4});
  for (std::uint32_t axis = 1; axis < TNR_MAX_RANK; ++axis) {
    tnr_pad_attributes with = {};
    with.struct_size = sizeof with;
    with.before[axis] = -1;
    expect_refused(tnr_pad(nullptr, TNR_PAD_MODE_CONSTANT, &a, &with, &padded),
                   TNR_STATUS_INVALID_ARGUMENT,
                   {"attributes->before[" + std::to_string(axis) + "] is -1 but must be 0"});
  }
  tnr_pool2d_attributes pool = {};
  pool.struct_size = sizeof pool;
  pool.flags = TNR_POOL2D_COUNT_PADDING;
  const tnr_view image = ones({1, 1, 3, 3});
  const tnr_view_mut pixel = out({1, 1, 1, 1});
  expect_refused(tnr_pool2d(nullptr, TNR_REDUCE_OP_MAX, &image, &pool, &pixel),
                 TNR_STATUS_INVALID_ARGUMENT, {"attributes->flags", "COUNT_PADDING"});
  EXPECT_EQ(tnr_pool2d(nullptr, TNR_REDUCE_OP_MEAN, &image, &pool, &pixel), TNR_STATUS_OK);
}

}  // namespace
}  // namespace tenure::test
