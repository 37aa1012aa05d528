// Random programs on a device, with random sets of passes, have the bits of the device's calls of
// their nodes one by one.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>

#include "device_program.hpp"

namespace {

using tenure::test::Copied;
using tenure::test::run_on;
using tenure::test::Shape;
using tenure::test::view_over;

constexpr std::uint32_t kAllPasses = 0xff;
constexpr auto F32 = TNR_DTYPE_F32;

// A value of the graph, and what the calls made of it.
struct Value {
  std::uint32_t value;
  tnr_view result;  // on the device, of memory that the test holds

  [[nodiscard]] Shape shape() const { return {result.shape, result.shape + result.rank}; }
};

class RandomProgram : public tenure::test::DeviceGraph {
 protected:
  void build(std::uint64_t seed) {
    random_.seed(seed);
    const std::int64_t inputs = 1 + below(3);
    for (std::int64_t i = 0; i < inputs; ++i) {
      const Shape shape = random_shape();
      values_.push_back({input(shape), numbers(shape)});
      inputs_.push_back(values_.back().result);
    }
    const std::int64_t nodes = 2 + below(14);
    for (std::int64_t i = 0; i < nodes; ++i) add_random();
    const std::int64_t outputs = 1 + below(3);
    for (std::int64_t i = 0; i < outputs; ++i) {
      given_.push_back(i == 0 ? &values_.back() : &any());
      output(given_.back()->value);
    }
  }

  void expect_the_same(std::uint32_t disabled, std::uint64_t seed) {
    const tnr_program* const made = program(disabled);
    for (int repeat = 0; repeat < 2; ++repeat) {
      std::vector<Copied> outs;
      std::vector<tnr_view_mut> views;
      for (const Value* const of : given_) {
        std::size_t count = 1;
        for (const std::int64_t extent : of->shape()) count *= static_cast<std::size_t>(extent);
        const std::vector<unsigned char> room(count * tnr_dtype_size_bytes(of->result.dtype) + 1,
                                              0xA5);
        outs.emplace_back(context_, view_over(room.data(), of->shape(), of->result.dtype));
        views.push_back(outs.back().out());
      }
      ASSERT_EQ(run_on(context_, made, inputs_, views), TNR_STATUS_OK)
          << seed << ": " << tnr_last_error()->message;
      for (std::size_t i = 0; i < outs.size(); ++i) {
        EXPECT_EQ(outs[i].elements(), elements(given_[i]->result))
            << "outputs[" << i << "] of seed " << seed << " without passes " << disabled;
      }
    }
  }

  void clear() {
    release_all();
    graph = tnr_graph_create();
    values_.clear();
    given_.clear();
    inputs_.clear();
    memory_.clear();
  }
  void TearDown() override {
    memory_.clear();
    DeviceGraph::TearDown();
  }

  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }

 private:
  Value& any() { return values_[static_cast<std::size_t>(below(std::ssize(values_)))]; }
  Shape random_shape() {
    Shape shape(static_cast<std::size_t>(1 + below(3)));
    for (std::int64_t& extent : shape) extent = below(12) == 0 ? 0 : 1 + below(5);
    return shape;
  }

  // Memory of the device, of row-major elements.
  const tnr_view_mut& allocated(const Shape& shape, tnr_dtype dtype) {
    std::size_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    const std::vector<unsigned char> room(count * tnr_dtype_size_bytes(dtype) + 1);
    memory_.emplace_back(context_, view_over(room.data(), shape, dtype));
    return memory_.back().out();
  }
  tnr_view numbers(const Shape& shape) {
    const tnr_view_mut& out = allocated(shape, F32);
    std::vector<float> values(static_cast<std::size_t>(tnr_view_count(&out.view)));
    for (float& value : values) value = static_cast<float>(below(4001) - 2000) / 512.0f;
    const tnr_view from = view_over(values.data(), shape);
    EXPECT_EQ(tnr_copy(context_, &from, nullptr, &out), TNR_STATUS_OK);
    return out.view;
  }
  [[nodiscard]] std::vector<unsigned char> elements(const tnr_view& view) const {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(tnr_view_count(&view)) *
                                     tnr_dtype_size_bytes(view.dtype));
    const Shape shape(view.shape, view.shape + view.rank);
    const tnr_view_mut to = {view_over(bytes.data(), shape, view.dtype)};
    EXPECT_EQ(tnr_copy(context_, &view, nullptr, &to), TNR_STATUS_OK);
    return bytes;
  }

  // A node, and the call of it: call(out) into memory of the result's type.
  template <class Call>
  void add_call(std::uint32_t code, const std::vector<std::uint32_t>& operands,
                const std::vector<std::int64_t>& numbers_of, const void* attributes,
                std::uint32_t flags, tnr_dtype cast_to, const Call& call) {
    std::uint32_t value = 0;
    ASSERT_EQ(add(code, operands, numbers_of, attributes, flags, &value, cast_to), TNR_STATUS_OK)
        << tnr_last_error()->message;
    tnr_value_info type = {};
    type.struct_size = sizeof type;
    ASSERT_EQ(tnr_graph_describe_value(graph, value, &type), TNR_STATUS_OK);
    const tnr_view_mut& out = allocated({type.shape, type.shape + type.rank}, type.dtype);
    ASSERT_EQ(call(&out), TNR_STATUS_OK) << tnr_last_error()->message;
    values_.push_back({value, out.view});
  }
  template <class See>
  void add_seen(std::uint32_t code, const Value& of, const std::vector<std::int64_t>& numbers_of,
                const See& see) {
    const std::uint32_t value = node(code, {of.value}, numbers_of);
    tnr_view seen = {};
    ASSERT_EQ(see(&seen), TNR_STATUS_OK) << tnr_last_error()->message;
    values_.push_back({value, seen});
  }

  void add_random() {
    const Value a = any();
    switch (below(16)) {
      case 0:
      case 1: return add_unary(a);
      case 2:
      case 3: return add_binary(a);
      case 4: return add_with_number(a);
      case 5: return add_select(a);
      case 6: return add_casts(a);
      case 7: return add_reduction(a);
      case 8: return add_softmax(a);
      case 9:
      case 10: return add_product(a);
      case 11: return add_view(a);
      case 12: return add_concat(a);
      case 13: return add_pad(a);
      case 14: return add_take(a);
      default: return add_put(a);
    }
  }

  void add_unary(const Value& a) {
    constexpr tnr_unary_op kOps[] = {TNR_UNARY_OP_RELU, TNR_UNARY_OP_NEG,    TNR_UNARY_OP_ABS,
                                     TNR_UNARY_OP_EXP,  TNR_UNARY_OP_SQUARE, TNR_UNARY_OP_GELU,
                                     TNR_UNARY_OP_TANH};
    const tnr_unary_op op = kOps[below(std::size(kOps))];
    add_call(
        TNR_NODE_UNARY + static_cast<std::uint32_t>(op), {a.value}, {}, nullptr, 0, 0,
        [&](const tnr_view_mut* out) { return tnr_unary(context_, op, &a.result, nullptr, out); });
  }

  static tnr_binary_op some_binary(std::int64_t index) {
    constexpr tnr_binary_op kOps[] = {TNR_BINARY_OP_ADD, TNR_BINARY_OP_SUB, TNR_BINARY_OP_MUL,
                                      TNR_BINARY_OP_DIV, TNR_BINARY_OP_MAX};
    return kOps[static_cast<std::size_t>(index) % std::size(kOps)];
  }

  // With a value of its shape, itself, or a row that broadcasts: a constant.
  void add_binary(const Value& a) {
    Value b = a;
    for (int i = 0; i < 4; ++i) {
      const Value& other = any();
      if (other.shape() == a.shape()) b = other;
    }
    if (below(3) == 0 && a.result.rank != 0) {
      const Shape row = {a.result.shape[a.result.rank - 1]};
      const tnr_view there = numbers(row);
      const std::vector<unsigned char> here = elements(there);
      b = {constant(view_over(here.data(), row)), there};
    }
    const tnr_binary_op op = some_binary(below(5));
    add_call(TNR_NODE_BINARY + static_cast<std::uint32_t>(op), {a.value, b.value}, {}, nullptr, 0,
             0, [&](const tnr_view_mut* out) {
               return tnr_binary(context_, op, &a.result, &b.result, nullptr, out);
             });
  }

  void add_with_number(const Value& a) {
    const double number = static_cast<double>(below(17) - 8) / 4;
    const tnr_scalar of = tnr_scalar_f64(number);
    const tnr_binary_op op = some_binary(below(5));
    const auto code = TNR_NODE_BINARY + static_cast<std::uint32_t>(op);
    if (below(2) == 0) {
      return add_call(code, {a.value, scalar(number)}, {}, nullptr, 0, 0,
                      [&](const tnr_view_mut* out) {
                        return tnr_binary_scalar(context_, op, &a.result, &of, nullptr, out);
                      });
    }
    add_call(code, {scalar(number), a.value}, {}, nullptr, 0, 0, [&](const tnr_view_mut* out) {
      return tnr_scalar_binary(context_, op, &of, &a.result, nullptr, out);
    });
  }

  // The greater one of a value and a number.
  void add_select(const Value& a) {
    const tnr_scalar half = tnr_scalar_f64(0.5);
    const std::uint32_t number = scalar(0.5);
    add_call(TNR_NODE_COMPARE + TNR_COMPARE_OP_GT, {a.value, number}, {}, nullptr, 0, 0,
             [&](const tnr_view_mut* out) {
               return tnr_compare_scalar(context_, TNR_COMPARE_OP_GT, &a.result, &half, nullptr,
                                         out);
             });
    const Value condition = values_.back();
    values_.pop_back();  // others take floats
    const tnr_view_mut& filled = allocated(a.shape(), F32);
    ASSERT_EQ(tnr_fill(context_, &half, nullptr, &filled), TNR_STATUS_OK);
    add_call(TNR_NODE_SELECT, {condition.value, a.value, number}, {}, nullptr, 0, 0,
             [&](const tnr_view_mut* out) {
               return tnr_select(context_, &condition.result, &a.result, &filled.view, nullptr,
                                 out);
             });
  }

  // To a narrower type, and back.
  void add_casts(const Value& a) {
    const tnr_dtype narrow = below(2) == 0 ? TNR_DTYPE_F16 : TNR_DTYPE_I8;
    const auto cast = [&](const Value& of, tnr_dtype to) {
      add_call(TNR_NODE_CAST, {of.value}, {}, nullptr, 0, to, [&](const tnr_view_mut* out) {
        return tnr_cast(context_, &of.result, nullptr, out);
      });
    };
    cast(a, narrow);
    const Value between = values_.back();
    values_.pop_back();
    cast(between, F32);
  }

  void add_reduction(const Value& a) {
    constexpr tnr_reduce_op kOps[] = {TNR_REDUCE_OP_SUM, TNR_REDUCE_OP_MEAN};
    const tnr_reduce_op op = kOps[below(2)];
    const auto axes = static_cast<std::uint32_t>(below(std::int64_t{1} << a.result.rank));
    add_call(TNR_NODE_REDUCE + static_cast<std::uint32_t>(op), {a.value}, {}, nullptr, axes, 0,
             [&](const tnr_view_mut* out) {
               return tnr_reduce(context_, op, &a.result, axes, nullptr, out);
             });
  }

  void add_softmax(const Value& a) {
    if (a.result.rank == 0) return;
    const std::uint32_t axes = 1u << below(a.result.rank);
    add_call(TNR_NODE_NORMALIZE + TNR_NORMALIZE_OP_SOFTMAX, {a.value}, {}, nullptr, axes, 0,
             [&](const tnr_view_mut* out) {
               return tnr_normalize(context_, TNR_NORMALIZE_OP_SOFTMAX, &a.result, axes, nullptr,
                                    out);
             });
  }

  // Adds a product with constant weights. A later binary node may be fused into it.
  void add_product(const Value& a) {
    if (a.result.rank == 0) return;
    const Shape shape = {a.result.shape[a.result.rank - 1], 1 + below(4)};
    const tnr_view there = numbers(shape);
    const std::vector<unsigned char> here = elements(there);
    const std::uint32_t weight = constant(view_over(here.data(), shape));
    const tnr_scalar one = tnr_scalar_i64(1);
    const tnr_scalar zero = tnr_scalar_i64(0);
    add_call(TNR_NODE_MATMUL, {a.value, weight}, {}, nullptr, 0, 0, [&](const tnr_view_mut* out) {
      return tnr_matmul(context_, &one, &a.result, &there, &zero, nullptr, out);
    });
    if (below(2) == 0) add_binary(values_.back());
    if (below(2) == 0) add_unary(Value(values_.back()));
  }

  void add_view(const Value& a) {
    if (a.result.rank == 0) return;
    const std::uint32_t rank = a.result.rank;
    if (below(3) == 0) {
      Shape axes(rank);
      for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
      std::shuffle(axes.begin(), axes.end(), random_);
      const std::vector<std::uint32_t> order(axes.begin(), axes.end());
      return add_seen(TNR_NODE_PERMUTE, a, axes, [&](tnr_view* out) {
        return tnr_view_permute(&a.result, rank, order.data(), out);
      });
    }
    if (below(2) == 0) {
      const auto axis = static_cast<std::uint32_t>(below(rank));
      const std::int64_t begin = below(a.result.shape[axis] + 1);
      const std::int64_t end = begin + below(a.result.shape[axis] - begin + 1);
      return add_seen(TNR_NODE_SLICE, a, {axis, begin, end, 1}, [&](tnr_view* out) {
        return tnr_view_slice(&a.result, axis, begin, end, 1, out);
      });
    }
    // Elements may have to move, for which there is no view.
    const Shape flat = {tnr_view_count(&a.result)};
    const tnr_view_mut& moved = allocated(a.shape(), F32);
    ASSERT_EQ(tnr_copy(context_, &a.result, nullptr, &moved), TNR_STATUS_OK);
    add_seen(TNR_NODE_RESHAPE, a, flat,
             [&](tnr_view* out) { return tnr_view_reshape(&moved.view, 1, flat.data(), out); });
  }

  void add_concat(const Value& a) {
    if (a.result.rank == 0) return;
    const auto axis = static_cast<std::uint32_t>(below(a.result.rank));
    add_call(TNR_NODE_CONCAT, {a.value, a.value}, {axis}, nullptr, 0, 0,
             [&](const tnr_view_mut* out) {
               for (std::int64_t i = 0; i < 2; ++i) {
                 const std::int64_t extent = a.result.shape[axis];
                 tnr_view_mut part = *out;
                 tnr_status status =
                     tnr_view_slice(&out->view, axis, i * extent, (i + 1) * extent, 1, &part.view);
                 if (status == TNR_STATUS_OK) {
                   status = tnr_copy(context_, &a.result, nullptr, &part);
                 }
                 if (status != TNR_STATUS_OK) return status;
               }
               return tnr_status{TNR_STATUS_OK};
             });
  }

  // One element more on each side of the first axis.
  void add_pad(const Value& a) {
    if (a.result.rank == 0) return;
    tnr_pad_attributes with = {};
    with.struct_size = sizeof with;
    with.before[0] = 1;
    with.value = tnr_scalar_f64(-1.5);
    Shape shape = a.shape();
    shape[0] += 2;
    add_call(TNR_NODE_PAD + TNR_PAD_MODE_CONSTANT, {a.value}, shape, &with, 0, 0,
             [&](const tnr_view_mut* out) {
               tnr_status status = tnr_fill(context_, &with.value, nullptr, out);
               tnr_view_mut part = *out;
               if (status == TNR_STATUS_OK) {
                 status = tnr_view_slice(&out->view, 0, 1, shape[0] - 1, 1, &part.view);
               }
               return status == TNR_STATUS_OK ? tnr_copy(context_, &a.result, nullptr, &part)
                                              : status;
             });
  }

  // Constant indices of the first axis.
  Value indices(const Value& a) {
    const Shape shape = {a.result.shape[0] == 0 ? 0 : 1 + below(4)};
    std::vector<std::int64_t> places(static_cast<std::size_t>(shape[0]) + 1);
    for (std::int64_t& place : places) place = below(std::max<std::int64_t>(a.result.shape[0], 1));
    const tnr_view here = view_over(places.data(), shape, TNR_DTYPE_I64);
    memory_.emplace_back(context_, view_over(places.data(), {shape[0] + 1}, TNR_DTYPE_I64));
    tnr_view there = {};
    EXPECT_EQ(tnr_view_slice(&memory_.back().view(), 0, 0, shape[0], 1, &there), TNR_STATUS_OK);
    return {constant(here), there};
  }

  void add_take(const Value& a) {
    if (a.result.rank == 0) return;
    const Value at = indices(a);
    add_call(TNR_NODE_TAKE, {a.value, at.value}, {0}, nullptr, 0, 0, [&](const tnr_view_mut* out) {
      return tnr_take(context_, &a.result, 0, &at.result, nullptr, out);
    });
  }

  // Rows of the value are added to it at other places.
  void add_put(const Value& a) {
    if (a.result.rank == 0) return;
    const Value at = indices(a);
    add_call(TNR_NODE_TAKE, {a.value, at.value}, {0}, nullptr, 0, 0, [&](const tnr_view_mut* out) {
      return tnr_take(context_, &a.result, 0, &at.result, nullptr, out);
    });
    const Value rows = values_.back();
    add_call(TNR_NODE_PUT + TNR_BINARY_OP_ADD, {a.value, rows.value, at.value}, {0}, nullptr, 0, 0,
             [&](const tnr_view_mut* out) {
               const tnr_status status = tnr_copy(context_, &a.result, nullptr, out);
               return status == TNR_STATUS_OK ? tnr_put(context_, TNR_BINARY_OP_ADD, &rows.result,
                                                        0, &at.result, nullptr, out)
                                              : status;
             });
  }

  std::mt19937_64 random_;
  std::deque<Value> values_;
  std::vector<const Value*> given_;
  std::vector<tnr_view> inputs_;
  std::deque<Copied> memory_;
};

class DeviceProgramRandom : public RandomProgram {
 protected:
  // Programs of these seeds, each in a graph of its own.
  void check(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
      clear();
      build(seed);
      if (HasFatalFailure()) return;
      std::vector<std::uint32_t> passes = {0, kAllPasses};
      for (int i = 0; i < 3; ++i) passes.push_back(static_cast<std::uint32_t>(below(256)));
      for (const std::uint32_t disabled : passes) {
        expect_the_same(disabled, seed);
        if (HasFatalFailure() || HasNonfatalFailure()) return;
      }
    }
  }
};

TEST_F(DeviceProgramRandom, HasTheBitsOfItsCalls) {
  check(1, std::getenv("TENURE_TEST_QUICK") != nullptr ? 20 : 150);
}

}  // namespace
