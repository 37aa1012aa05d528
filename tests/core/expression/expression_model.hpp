// Random expressions, and the calls of whole tensors that they stand for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cpu/operations.hpp"
#include "dense/movement.hpp"
#include "layouts.hpp"
#include "tenure/dtype.hpp"
#include "tenure/expression.hpp"
#include "tenure/normalize.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"

namespace tenure::test {

using Random = std::mt19937_64;
using Shape = std::vector<std::int64_t>;

inline std::int64_t below(Random& random, std::int64_t bound) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
}

// The dtype of the real and imaginary parts.
inline tnr_dtype part_dtype(tnr_dtype dtype) {
  return dtype == TNR_DTYPE_C64 ? TNR_DTYPE_F32 : TNR_DTYPE_F64;
}

// Memory of an array of any dtype and layout. Bytes that are no element are 0xA5.
struct Array {
  std::vector<std::uint64_t> memory;
  tnr_view view;

  Array(tnr_dtype dtype, const Shape& shape) : Array(dtype, shape, nullptr) {}
  // In any order of axes, with gaps, backwards, and repeated: `random` may be nullptr, row-major.
  Array(tnr_dtype dtype, const Shape& shape, Random* random, bool may_repeat = false) {
    std::vector<std::size_t> order(shape.size());
    std::iota(order.rbegin(), order.rend(), std::size_t{0});
    const bool is_dense = random == nullptr || (*random)() % 3 != 0;
    if (random != nullptr && (*random)() % 3 == 0) {
      std::shuffle(order.begin(), order.end(), *random);
    }
    Layout layout(shape.size());
    std::int64_t next = 1;
    std::int64_t first = 0;
    std::int64_t reach = 1;
    for (const std::size_t axis : order) {
      std::int64_t stride = next;
      if (!is_dense && (*random)() % 3 == 0) stride = next += below(*random, 5);
      if (!is_dense && (*random)() % 4 == 0) stride = -next;
      if (!is_dense && may_repeat && (*random)() % 8 == 0) stride = 0;
      layout[axis] = {shape[axis], stride};
      if (stride == 0 || shape[axis] == 0) continue;
      if (stride < 0) first += (shape[axis] - 1) * next;
      reach += (shape[axis] - 1) * next;
      next *= shape[axis];
    }
    const auto width = static_cast<std::int64_t>(element_size(dtype));
    const std::size_t bytes = static_cast<std::size_t>(reach * width);
    memory.assign(bytes / 8 + 1, 0xA5A5'A5A5'A5A5'A5A5u);
    view = view_of(memory.data(), bytes, first * width, dtype, layout);
  }
  // A result of a call on the context, row-major.
  static Array of_call(const Context&, tnr_dtype dtype, const Shape& shape) {
    return {dtype, shape};
  }
  Array(Array&&) = default;  // the memory stays where it is
  Array(const Array&) = delete;

  unsigned char* at(const Index& index) {
    return reinterpret_cast<unsigned char*>(memory.data()) + byte_of(view, index);
  }
  void fill(Random& random) {
    const std::size_t width = element_size(view.dtype);
    const bool has_parts = is_complex(view.dtype);
    for_each_index(view, [&](const Index& index) {
      unsigned char bytes[16];
      put_number(has_parts ? part_dtype(view.dtype) : view.dtype, random, bytes);
      if (has_parts) put_number(part_dtype(view.dtype), random, bytes + width / 2);
      std::memcpy(at(index), bytes, width);
    });
  }

 private:
  static void put_number(tnr_dtype dtype, Random& random, unsigned char* to) {
    unsigned char bytes[8];
    const std::uint64_t bits = random();
    std::memcpy(bytes, &bits, sizeof bytes);
    if (dtype == TNR_DTYPE_BOOL8) {
      bytes[0] = static_cast<unsigned char>(bits % 3 == 0 ? 0 : bits % 7);
    }
    if (code_of(dtype) == DtypeCode::kFloat && bits % 64 != 0) {
      // Numbers of few digits, or of all, so that sums round.
      const double number = bits % 2 == 0
                                ? static_cast<double>(below(random, 4001) - 2000) / 256
                                : std::ldexp(static_cast<double>(random() >> 11), -50) - 4;
      if (dtype == TNR_DTYPE_F64) std::memcpy(bytes, &number, 8);
      const auto narrow = static_cast<float>(number);
      if (dtype == TNR_DTYPE_F32) std::memcpy(bytes, &narrow, 4);
    }
    if (code_of(dtype) == DtypeCode::kInt && bits % 4 != 0) {
      const std::int64_t small = static_cast<std::int64_t>(random() % 13) - 2;
      std::memcpy(bytes, &small, 8);
    }
    std::memcpy(to, bytes, element_size(dtype));
  }
};

// An expression, with all that it names.
struct Expression {
  std::deque<Array> arrays;
  std::vector<const tnr_view*> views;
  std::vector<tnr_scalar> scalars;
  std::vector<tnr_node> nodes;
  std::deque<tnr_reduce_attributes> reduce_attributes;
  std::deque<tnr_normalize_attributes> normalize_attributes;
  std::vector<const void*> attributes;

  [[nodiscard]] tnr_expression given() const {
    tnr_expression expression = {};
    expression.struct_size = sizeof expression;
    expression.nodes = nodes.data();
    expression.views = views.data();
    expression.scalars = scalars.data();
    expression.attributes = attributes.data();
    expression.node_count = static_cast<std::uint32_t>(nodes.size());
    expression.view_count = static_cast<std::uint32_t>(views.size());
    expression.scalar_count = static_cast<std::uint32_t>(scalars.size());
    expression.attribute_count = static_cast<std::uint32_t>(attributes.size());
    return expression;
  }

  std::uint32_t add(std::uint32_t code, tnr_dtype dtype,
                    std::initializer_list<std::uint32_t> operands, std::uint32_t flags = 0,
                    std::uint32_t attributes_index = 0) {
    tnr_node node = {
        code,  dtype, {TNR_OPERAND_NONE, TNR_OPERAND_NONE, TNR_OPERAND_NONE}, attributes_index,
        flags, 0};
    std::copy(operands.begin(), operands.end(), node.operands);
    nodes.push_back(node);
    return static_cast<std::uint32_t>(nodes.size() - 1);
  }
  std::uint32_t view(Array&& array) {
    arrays.push_back(std::move(array));
    views.push_back(&arrays.back().view);
    return TNR_OPERAND_VIEW + static_cast<std::uint32_t>(views.size() - 1);
  }
  std::uint32_t scalar(tnr_scalar value) {
    scalars.push_back(value);
    return TNR_OPERAND_SCALAR + static_cast<std::uint32_t>(scalars.size() - 1);
  }
};

inline const AttributeReaders kReaders = {
    [](const tnr_reduce_attributes* given) {
      return given == nullptr ? tnr_reduce_attributes{} : *given;
    },
    [](const tnr_normalize_attributes* given) {
      return given == nullptr ? tnr_normalize_attributes{} : *given;
    }};

inline Shape shape_of(const tnr_view& view) { return {view.shape, view.shape + view.rank}; }

inline Shape broadcast_shape(const Shape& a, const Shape& b) {
  Shape shape(std::max(a.size(), b.size()), 1);
  for (const Shape* from : {&a, &b}) {
    for (std::size_t i = 0; i < from->size(); ++i) {
      std::int64_t& extent = shape[shape.size() - from->size() + i];
      if ((*from)[i] != 1) extent = (*from)[i];
    }
  }
  return shape;
}

inline bool is_nan(tnr_dtype dtype, const unsigned char* bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, element_size(dtype));
  switch (dtype) {
    case TNR_DTYPE_F64: return (bits << 1) > 0xffe0'0000'0000'0000u;
    case TNR_DTYPE_F32: return (bits & 0x7fff'ffffu) > 0x7f80'0000u;
    case TNR_DTYPE_F16: return (bits & 0x7fffu) > 0x7c00u;
    case TNR_DTYPE_BF16: return (bits & 0x7fffu) > 0x7f80u;
    default: return false;
  }
}

// Whether they have the same bits, or are NaNs; real and imaginary parts by themselves.
inline bool are_same(tnr_dtype dtype, const unsigned char* a, const unsigned char* b) {
  if (is_complex(dtype)) {
    const tnr_dtype part = part_dtype(dtype);
    const std::size_t width = element_size(part);
    return are_same(part, a, b) && are_same(part, a + width, b + width);
  }
  return std::memcmp(a, b, element_size(dtype)) == 0 || (is_nan(dtype, a) && is_nan(dtype, b));
}

inline std::string text(const Expression& expression) {
  std::string text;
  for (std::size_t i = 0; i < expression.views.size(); ++i) {
    const tnr_view& view = *expression.views[i];
    text += "view " + std::to_string(i) + " " + dtype_name(view.dtype) + " [";
    for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
      text += std::to_string(view.shape[axis]) + ":" + std::to_string(view.strides[axis]) + " ";
    }
    text += "]\n";
  }
  for (std::size_t i = 0; i < expression.nodes.size(); ++i) {
    const tnr_node& node = expression.nodes[i];
    char line[160];
    std::snprintf(line, sizeof line, "node %zu code %x.%u %s of %x %x %x flags %x\n", i,
                  node.code >> 16, node.code & 0xffffu, dtype_name(node.dtype), node.operands[0],
                  node.operands[1], node.operands[2], node.flags);
    text += line;
  }
  return text;
}

// The results of the nodes that the last one needs, by a call for each on row-major tensors. The
// last one goes to `out`, to whose shape it is broadcast. `Made` is their memory.
template <class Made>
class CallsOf {
 public:
  CallsOf(const Context& context, const Expression& expression, const tnr_view_mut& out)
      : CallsOf(context, expression, expression.views, out) {}
  // With other views than the expression's.
  CallsOf(const Context& context, const Expression& expression,
          const std::vector<const tnr_view*>& views, const tnr_view_mut& out)
      : context_(context), expression_(expression), views_(views), out_(out) {}

  void run() {
    const std::size_t count = expression_.nodes.size();
    std::vector<bool> is_needed(count, false);
    is_needed[count - 1] = true;
    for (std::size_t i = count; i-- > 0;) {
      if (!is_needed[i]) continue;
      for (const std::uint32_t operand : expression_.nodes[i].operands) {
        if (operand < count) is_needed[operand] = true;
      }
    }
    results_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (is_needed[i]) compute(i);
    }
  }

 private:
  static bool is_scalar(std::uint32_t operand) {
    return (operand & 0xc000'0000u) == TNR_OPERAND_SCALAR;
  }
  const tnr_view& view_of_operand(std::uint32_t operand, tnr_dtype dtype) {
    if (operand == TNR_OPERAND_OUTPUT) return out_.view;
    if ((operand & 0xc000'0000u) == TNR_OPERAND_VIEW) return *views_[operand & 0xffffu];
    if (is_scalar(operand)) {
      filled_.push_back(Made::of_call(context_, dtype, {}));
      const tnr_view_mut one = {filled_.back().view};
      fill(context_, expression_.scalars[operand & 0xffffu], one);
      return filled_.back().view;
    }
    return results_[operand]->view;
  }
  tnr_dtype dtype_of(std::uint32_t operand) {
    if (is_scalar(operand)) return expression_.scalars[operand & 0xffffu].dtype;
    return view_of_operand(operand, 0).dtype;
  }

  void compute(std::size_t i) {
    const tnr_node& node = expression_.nodes[i];
    const std::uint32_t kind = node.code & 0xffff'0000u;
    const auto op = static_cast<std::int32_t>(node.code & 0xffffu);
    // The dtype of the first operand from here on that is no scalar, or of the first scalar.
    const std::size_t from = kind == TNR_NODE_SELECT ? 1 : 0;
    tnr_dtype dtype = dtype_of(node.operands[from]);
    for (std::size_t k = from; k < 3 && node.operands[k] != TNR_OPERAND_NONE; ++k) {
      if (!is_scalar(node.operands[k])) dtype = dtype_of(node.operands[k]);
    }
    const tnr_view* in[3] = {};
    Shape shape;
    for (std::size_t k = 0; k < 3 && node.operands[k] != TNR_OPERAND_NONE; ++k) {
      in[k] = &view_of_operand(node.operands[k], k < from ? TNR_DTYPE_BOOL8 : dtype);
      shape = broadcast_shape(shape, shape_of(*in[k]));
    }
    const std::uint32_t axes = node.flags & 0xffu;
    if (kind == TNR_NODE_REDUCE) {
      Shape kept;
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const bool is_reduced = (axes >> axis & 1u) != 0;
        if (is_reduced && (node.flags & TNR_NODE_KEEP_AXES) == 0) continue;
        kept.push_back(is_reduced ? 1 : shape[axis]);
      }
      shape = kept;
    }
    const bool is_last = i + 1 == expression_.nodes.size();
    if (!is_last) results_[i].emplace(Made::of_call(context_, node.dtype, shape));
    const tnr_view_mut out = {is_last ? out_.view : results_[i]->view};
    const void* const attributes =
        node.attributes == 0 ? nullptr : expression_.attributes[node.attributes - 1];
    switch (kind) {
      case TNR_NODE_UNARY: unary(context_, static_cast<tnr_unary_op>(op), *in[0], out); break;
      case TNR_NODE_BINARY:
        binary(context_, static_cast<tnr_binary_op>(op), *in[0], *in[1], out);
        break;
      case TNR_NODE_TERNARY:
        ternary(context_, static_cast<tnr_ternary_op>(op), *in[0], *in[1], *in[2], out);
        break;
      case TNR_NODE_COMPARE:
        compare(context_, static_cast<tnr_compare_op>(op), *in[0], *in[1], out);
        break;
      case TNR_NODE_SELECT: select(context_, *in[0], *in[1], *in[2], out); break;
      case TNR_NODE_CAST: cast(context_, *in[0], out); break;
      case TNR_NODE_REDUCE: {
        const auto* const given = static_cast<const tnr_reduce_attributes*>(attributes);
        const tnr_reduce_attributes with = given == nullptr ? tnr_reduce_attributes{} : *given;
        reduce(context_, static_cast<tnr_reduce_op>(op), *in[0], axes, with.ddof, out, with.power);
        break;
      }
      default:
        normalize(context_, static_cast<tnr_normalize_op>(op), *in[0], axes,
                  attributes == nullptr ? tnr_normalize_attributes{}
                                        : *static_cast<const tnr_normalize_attributes*>(attributes),
                  out);
    }
  }

  const Context& context_;
  const Expression& expression_;
  const std::vector<const tnr_view*>& views_;
  const tnr_view_mut& out_;
  std::vector<std::optional<Made>> results_;
  std::deque<Made> filled_;
};
using OneByOne = CallsOf<Array>;

// Expressions of some dtype, drawn at random: operations that take it, over views of any layout.
class ExpressionMaker {
 public:
  explicit ExpressionMaker(Random& random) : random_(random) {}

  // `room` is about how many elements the largest view may have.
  Expression make(std::int64_t room) {
    static constexpr tnr_dtype kDtypes[] = {
        TNR_DTYPE_F32, TNR_DTYPE_F32, TNR_DTYPE_F64, TNR_DTYPE_F16, TNR_DTYPE_BF16, TNR_DTYPE_I32,
        TNR_DTYPE_I64, TNR_DTYPE_U8,  TNR_DTYPE_I16, TNR_DTYPE_C64, TNR_DTYPE_C128};
    Expression made;
    values_.clear();
    const std::size_t rank = random_() % 5;
    shape_.assign(rank, 1);
    for (std::int64_t& extent : shape_) {
      extent = random_() % 24 == 0 ? 0 : 1 + below(random_, random_() % 4 == 0 ? room : 6);
      if (std::accumulate(shape_.begin(), shape_.end(), std::int64_t{1}, std::multiplies<>()) >
          4 * room) {
        extent = 2;
      }
    }
    const tnr_dtype dtype = kDtypes[random_() % std::size(kDtypes)];
    const std::size_t view_count = 1 + random_() % 4;
    for (std::size_t i = 0; i < view_count; ++i) {
      // The first has the whole shape; others broadcast to it.
      Shape shape = shape_;
      if (i != 0) {
        for (std::int64_t& extent : shape) extent = random_() % 4 == 0 ? 1 : extent;
        if (random_() % 3 == 0)
          shape.erase(shape.begin(),
                      shape.begin() + below(random_, static_cast<std::int64_t>(rank + 1)));
      }
      const tnr_dtype of_view = random_() % 10 == 0  ? TNR_DTYPE_BOOL8
                                : random_() % 8 == 0 ? kDtypes[random_() % std::size(kDtypes)]
                                                     : dtype;
      Array array(of_view, shape, &random_, true);
      array.fill(random_);
      values_.push_back({made.view(std::move(array)), of_view, shape});
    }
    const std::size_t node_count = 1 + random_() % (random_() % 6 == 0 ? 40 : 7);
    while (made.nodes.size() < node_count) add_node(made);
    if (random_() % 4 == 0) add_end(made);
    return made;
  }

  // The sum of two row-major tensors of the dtype, reduced over `axes`. Without nodes where there is
  // no such reduction.
  Expression make_reduction(tnr_dtype dtype, const Shape& shape, std::uint32_t op,
                            std::uint32_t axes) {
    Expression made;
    values_.clear();
    if (!takes(kernels::kReduceRows[op - 1].dtypes, dtype)) return made;
    for (int i = 0; i < 2; ++i) {
      Array array(dtype, shape);
      array.fill(random_);
      values_.push_back({made.view(std::move(array)), dtype, shape});
    }
    push(made, TNR_NODE_BINARY + TNR_BINARY_OP_ADD, dtype, {values_[0], values_[1]});
    add_reduction(made, values_.back(), op, axes, false);
    if (made.nodes.size() == 1) made.nodes.clear();
    return made;
  }

  // A tensor of the dtype less what each of its rows is reduced to, which comes back along the row.
  // Without nodes where there is no such reduction of the dtype.
  Expression make_centred(tnr_dtype dtype, const Shape& shape, std::uint32_t op, Random* layouts) {
    Expression made;
    values_.clear();
    if (!takes(kernels::kReduceRows[op - 1].dtypes, dtype)) return made;
    Array array(dtype, shape, layouts);
    array.fill(random_);
    values_.push_back({made.view(std::move(array)), dtype, shape});
    const auto last = std::uint32_t{1} << (shape.size() - 1);
    add_reduction(made, values_.back(), op, last, true);
    const Value reduced = values_.back();
    if (reduced.dtype != dtype) made.nodes.clear();
    if (made.nodes.empty()) return made;
    push(made, TNR_NODE_BINARY + TNR_BINARY_OP_SUB, dtype, {values_.front(), reduced});
    return made;
  }

  // The result is the last node's.
  [[nodiscard]] const Shape& shape() const { return values_.back().shape; }
  [[nodiscard]] tnr_dtype dtype() const { return values_.back().dtype; }

 private:
  struct Value {
    std::uint32_t operand;
    tnr_dtype dtype;
    Shape shape;
  };

  static bool takes(std::uint8_t dtypes, tnr_dtype dtype) {
    switch (code_of(dtype)) {
      case DtypeCode::kFloat:
      case DtypeCode::kBfloat: return (dtypes & kernels::kFloats) != 0;
      case DtypeCode::kBool: return (dtypes & kernels::kTruths) != 0;
      case DtypeCode::kComplex: return (dtypes & kernels::kComplex) != 0;
      default: return (dtypes & kernels::kIntegers) != 0;
    }
  }

  const Value& any() {
    return values_[values_.size() - 1 - random_() % std::min<std::size_t>(values_.size(), 5)];
  }
  // One of the dtype: a value, or a number.
  Value other(Expression& made, tnr_dtype dtype) {
    for (int tries = 0; tries < 6; ++tries) {
      const Value& value = any();
      if (value.dtype == dtype) return value;
    }
    tnr_scalar scalar = {};
    const std::int64_t number = 1 + below(random_, 5);
    if (dtype == TNR_DTYPE_BOOL8) {
      scalar.dtype = TNR_DTYPE_BOOL8;
      scalar.bytes[0] = static_cast<unsigned char>(number % 2);
    } else {
      scalar.dtype = TNR_DTYPE_I64;
      std::memcpy(scalar.bytes, &number, sizeof number);
    }
    return {made.scalar(scalar), dtype, {}};
  }

  void push(Expression& made, std::uint32_t code, tnr_dtype dtype,
            std::initializer_list<Value> operands, std::uint32_t flags = 0) {
    Shape shape;
    std::uint32_t codes[3] = {TNR_OPERAND_NONE, TNR_OPERAND_NONE, TNR_OPERAND_NONE};
    std::size_t k = 0;
    for (const Value& operand : operands) {
      shape = broadcast_shape(shape, operand.shape);
      codes[k++] = operand.operand;
    }
    const std::uint32_t node = made.add(code, dtype, {codes[0], codes[1], codes[2]}, flags);
    values_.push_back({node, dtype, shape});
  }

  template <std::size_t count>
  std::uint32_t pick(const kernels::OperationRow (&rows)[count], tnr_dtype dtype) {
    for (int tries = 0; tries < 40; ++tries) {
      const auto row = random_() % count;
      if (takes(rows[row].dtypes, dtype)) return static_cast<std::uint32_t>(row + 1);
    }
    return 0;
  }

  void add_node(Expression& made) {
    const Value a = any();
    const bool is_bool = a.dtype == TNR_DTYPE_BOOL8;
    switch (random_() % 12) {
      case 0:
      case 1:
      case 2:
        if (const std::uint32_t op = pick(kernels::kUnaryRows, a.dtype)) {
          const kernels::Gives gives = kernels::kUnaryRows[op - 1].gives;
          const bool is_part = gives == kernels::Gives::kPart && is_complex(a.dtype);
          push(made, TNR_NODE_UNARY + op,
               gives == kernels::Gives::kTruth ? TNR_DTYPE_BOOL8
               : is_part                       ? part_dtype(a.dtype)
                                               : a.dtype,
               {a});
        }
        break;
      case 3:
        push(made, TNR_NODE_COMPARE + pick(kernels::kCompareRows, a.dtype), TNR_DTYPE_BOOL8,
             {a, other(made, a.dtype)});
        break;
      case 4: {
        const Value condition = is_bool ? a : other(made, TNR_DTYPE_BOOL8);
        const Value b = any();
        if (is_complex(b.dtype)) break;
        push(made, TNR_NODE_SELECT, b.dtype, {condition, b, other(made, b.dtype)});
        break;
      }
      case 5: {
        static constexpr tnr_dtype kTo[] = {TNR_DTYPE_F32, TNR_DTYPE_F64, TNR_DTYPE_I32,
                                            TNR_DTYPE_F16, TNR_DTYPE_U8,  TNR_DTYPE_BOOL8};
        if (is_complex(a.dtype)) break;
        push(made, TNR_NODE_CAST, random_() % 4 == 0 ? a.dtype : kTo[random_() % 6], {a});
        break;
      }
      case 6:
        if (const std::uint32_t op = pick(kernels::kTernaryRows, a.dtype)) {
          push(made, TNR_NODE_TERNARY + op, a.dtype,
               {a, other(made, a.dtype), other(made, a.dtype)});
        }
        break;
      case 7:
        if (!a.shape.empty() && a.shape.back() != 0 && random_() % 2 == 0) {
          add_reduction(made, a, pick(kernels::kReduceRows, a.dtype), 1u << (a.shape.size() - 1),
                        true);
        }
        break;
      default:
        if (const std::uint32_t op = pick(kernels::kBinaryRows, a.dtype)) {
          const Value b = other(made, a.dtype);
          if (random_() % 2 == 0 || op == TNR_BINARY_OP_POW || op == TNR_BINARY_OP_DIV) {
            push(made, TNR_NODE_BINARY + op, a.dtype, {a, b});
          } else {
            push(made, TNR_NODE_BINARY + op, a.dtype, {b, a});
          }
        }
    }
  }

  void add_reduction(Expression& made, const Value& given, std::uint32_t op, std::uint32_t axes,
                     bool keeps) {
    const Value a = given;
    if (op == 0 || is_complex(a.dtype) || (a.operand & 0xc000'0000u) == TNR_OPERAND_SCALAR) return;
    const bool is_place = op == TNR_REDUCE_OP_ARGMIN || op == TNR_REDUCE_OP_ARGMAX;
    if (is_place && (axes & (axes - 1)) != 0) return;
    std::uint32_t attributes = 0;
    const kernels::Attribute attribute = kernels::kReduceRows[op - 1].attribute;
    if (attribute != kernels::Attribute::kNone) {
      made.reduce_attributes.push_back({sizeof(tnr_reduce_attributes), 0, 0, 0});
      tnr_reduce_attributes& chosen = made.reduce_attributes.back();
      if (attribute == kernels::Attribute::kPower) {
        chosen.power = static_cast<double>(1 + random_() % 3);
      } else {
        chosen.ddof = static_cast<std::uint32_t>(random_() % 2);
      }
      made.attributes.push_back(&chosen);
      attributes = static_cast<std::uint32_t>(made.attributes.size());
    }
    tnr_dtype dtype = a.dtype;
    switch (kernels::kReduceRows[op - 1].gives) {
      case kernels::Gives::kIndex: dtype = TNR_DTYPE_I64; break;
      case kernels::Gives::kTruth: dtype = TNR_DTYPE_BOOL8; break;
      case kernels::Gives::kWide:
        if (code_of(dtype) == DtypeCode::kInt) dtype = TNR_DTYPE_I64;
        if (code_of(dtype) == DtypeCode::kUint) dtype = TNR_DTYPE_U64;
        break;
      default: break;
    }
    Shape shape;
    for (std::size_t axis = 0; axis < a.shape.size(); ++axis) {
      const bool is_reduced = (axes >> axis & 1u) != 0;
      if (is_reduced && !keeps) continue;
      shape.push_back(is_reduced ? 1 : a.shape[axis]);
    }
    const std::uint32_t node = made.add(TNR_NODE_REDUCE + op, dtype, {a.operand},
                                        axes | (keeps ? TNR_NODE_KEEP_AXES : 0), attributes);
    values_.push_back({node, dtype, shape});
  }

  // A reduction over any axes, or a normalization.
  void add_end(Expression& made) {
    const Value a = values_.back();
    if (a.shape.empty()) return;
    const auto all = static_cast<std::uint32_t>((1u << a.shape.size()) - 1);
    const std::uint32_t axes = 1 + static_cast<std::uint32_t>(random_()) % all;
    const bool is_float =
        code_of(a.dtype) == DtypeCode::kFloat || code_of(a.dtype) == DtypeCode::kBfloat;
    if (is_float && random_() % 3 == 0) {
      const std::uint32_t node = made.add(
          TNR_NODE_NORMALIZE + TNR_NORMALIZE_OP_SOFTMAX + static_cast<std::uint32_t>(random_() % 4),
          a.dtype, {a.operand}, axes);
      values_.push_back({node, a.dtype, a.shape});
      return;
    }
    add_reduction(made, a, pick(kernels::kReduceRows, a.dtype), axes, random_() % 2 == 0);
  }

  Random& random_;
  Shape shape_;
  std::vector<Value> values_;
};

}  // namespace tenure::test
