// Random programs with every subset of passes, compared with the calls of their nodes one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <string>

#include "failing_allocator.hpp"
#include "memory/memory.hpp"
#include "program_graph.hpp"
#include "tenure/tenure.h"

namespace {

using tenure::test::allocation_counts;
using tenure::test::AllocationFault;
using tenure::test::CGraph;
using tenure::test::Failing;
using tenure::test::Floats;
using tenure::test::Shape;
using tenure::test::view_over;

constexpr std::uint32_t kAllPasses = 0xff;
constexpr std::int64_t kMostImages = 4;
constexpr float kUntouched = -77.5f;

// A value, and what calls made of it for one number of images.
struct Value {
  std::uint32_t value;
  Shape numbers;  // constants or extents
  Floats result;
  bool is_decided = false;  // whether the library takes its shape for one that a run decides
};

// An extent in a run: its size, and the bound that memory is planned for.
struct RunExtent {
  std::int64_t number;
  std::int64_t size;
  std::int64_t bound;
};

class RandomProgram : public CGraph {
 protected:
  void build(std::uint64_t seed) {
    random.seed(seed);
    ASSERT_EQ(tnr_graph_add_extent(graph, "images", kMostImages, &images), TNR_STATUS_OK);
    const std::int64_t count = below(kMostImages + 1);
    extents.push_back({images, count, count});
    const std::int64_t inputs = 1 + below(2);
    for (std::int64_t i = 0; i < inputs; ++i) {
      Shape numbers = {images, 1 + below(4)};
      if (below(2) == 0) numbers.insert(numbers.end(), {2 + below(4), 2 + below(4)});
      add_input(numbers);
    }
    const std::int64_t nodes = 3 + below(14);
    for (std::int64_t i = 0; i < nodes; ++i) add_random(any());
    const std::int64_t outputs = 1 + below(3);
    for (std::int64_t i = 0; i < outputs; ++i) {
      given.push_back(i == 0 ? &values.back() : &any());
      output(given.back()->value);
    }
  }

  // Runs the program without `passes`. The bit of packing enables packing instead.
  void expect_the_same(std::uint32_t passes) {
    const tnr_program* const made = program(passes & kAllPasses, passes & TNR_PASS_PACKING);
    for (int repeat = 0; repeat < 2; ++repeat) {
      Call call(*this);
      ASSERT_EQ(call.run(made), TNR_STATUS_OK) << tnr_last_error()->message;
      expect_results(call);
      expect_shapes(call);
    }
  }

  // The memory of a run, and its views.
  struct Call {
    explicit Call(RandomProgram& of) {
      for (const Floats& floats : of.input_memory) views.push_back(of.strided(floats));
      for (const Value* const value : of.given) {
        results.emplace_back(of.sizes(value->numbers, &RunExtent::bound));
        std::ranges::fill(results.back().values, kUntouched);
        outs.push_back(results.back().out());
      }
      shapes.resize(outs.size() * TNR_MAX_RANK);
      for (const tnr_view& view : views) inputs.push_back(&view);
      for (const tnr_view_mut& out : outs) outputs.push_back(&out);
    }
    tnr_status run(const tnr_program* program) {
      const tnr_program_run_attributes attributes = {sizeof attributes, 0, nullptr, 0, 0,
                                                     shapes.data()};
      return tnr_program_run(nullptr, program, inputs.data(),
                             static_cast<std::uint32_t>(inputs.size()), &attributes, outputs.data(),
                             static_cast<std::uint32_t>(outputs.size()));
    }

    tnr_bound* bind(const tnr_program* program, std::uint32_t flags) {
      const tnr_bound_attributes attributes = {sizeof attributes, 0, flags, 0};
      return tnr_bound_create(nullptr, program, inputs.data(),
                              static_cast<std::uint32_t>(inputs.size()), &attributes,
                              outputs.data(), static_cast<std::uint32_t>(outputs.size()));
    }
    tnr_status run(const tnr_bound* bound) {
      const tnr_program_run_attributes attributes = {sizeof attributes, 0, nullptr, 0, 0,
                                                     shapes.data()};
      return tnr_bound_run(nullptr, bound, inputs.data(), static_cast<std::uint32_t>(inputs.size()),
                           &attributes, outputs.data(), static_cast<std::uint32_t>(outputs.size()));
    }

    std::deque<Floats> results;
    std::vector<tnr_view> views;
    std::vector<tnr_view_mut> outs;
    std::vector<const tnr_view*> inputs;
    std::vector<const tnr_view_mut*> outputs;
    std::vector<std::int64_t> shapes;  // of outputs
  };

  void expect_results(const Call& call) const {
    for (std::size_t i = 0; i < given.size(); ++i) compare(call.results[i], given[i]->result, i);
  }
  void expect_shapes(const Call& call) const {
    for (std::size_t i = 0; i < given.size(); ++i) {
      Shape shape = given[i]->result.shape;
      shape.resize(TNR_MAX_RANK);
      const auto begin = call.shapes.begin() + static_cast<std::ptrdiff_t>(i * TNR_MAX_RANK);
      EXPECT_EQ(Shape(begin, begin + TNR_MAX_RANK), shape) << "of outputs[" << i << "]";
    }
  }

  static std::string step_names(const tnr_program* program, const Call& call) {
    std::string names;
    tnr_step_info step = {};
    step.struct_size = sizeof step;
    for (std::uint32_t i = 0;
         tnr_program_describe_step(program, call.inputs.data(),
                                   static_cast<std::uint32_t>(call.inputs.size()), i,
                                   &step) == TNR_STATUS_OK;
         ++i) {
      names += std::string(step.name) + "; ";
    }
    return names;
  }

  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
  }

 private:
  Value& any() { return values[static_cast<std::size_t>(below(std::ssize(values)))]; }

  [[nodiscard]] Shape sizes(const Shape& numbers,
                            std::int64_t RunExtent::* size = &RunExtent::size) const {
    Shape shape = numbers;
    for (std::int64_t& extent : shape) {
      const auto known = std::ranges::find(extents, extent, &RunExtent::number);
      if (known != extents.end()) extent = (*known).*size;
    }
    return shape;
  }
  // Whether it has an extent that the run finds.
  [[nodiscard]] bool is_found(const Shape& numbers) const {
    return std::ranges::any_of(
        numbers, [&](std::int64_t number) { return number >= TNR_EXTENT && number != images; });
  }

  Floats random_floats(const Shape& shape) {
    Floats floats(shape);
    std::uniform_real_distribution<float> distribution(-2, 2);
    for (float& value : floats.values) value = distribution(random);
    return floats;
  }

  // Whether inputs lie in the reverse order of their axes.
  [[nodiscard]] tnr_view strided(const Floats& memory) const {
    tnr_view view = memory.view();
    if (!are_reversed) return view;
    std::int64_t stride = 1;
    for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
      view.strides[axis] = stride;
      stride *= std::max<std::int64_t>(view.shape[axis], 1);
    }
    return view;
  }

  void add_input(const Shape& numbers) {
    if (input_memory.empty()) are_reversed = below(3) == 0;
    input_memory.push_back(random_floats(sizes(numbers)));
    Value& value =
        values.emplace_back(Value{input(numbers), numbers, Floats(sizes(numbers)), false});
    const tnr_view view = strided(input_memory.back());
    const tnr_view_mut out = value.result.out();
    ASSERT_EQ(tnr_copy(nullptr, &view, nullptr, &out), TNR_STATUS_OK);
  }

  Floats& keep(Floats floats) { return constants.emplace_back(std::move(floats)); }

  // Adds the value of a node; `call` computes it from views of row-major results.
  template <class Call>
  void add_value(std::uint32_t of, const Shape& numbers, const Call& call) {
    const bool is_decided = is_next_decided && !numbers.empty();
    Value& value = values.emplace_back(Value{of, numbers, Floats(sizes(numbers)), is_decided});
    const tnr_view_mut out = value.result.out();
    ASSERT_EQ(call(&out), TNR_STATUS_OK) << tnr_last_error()->message;
  }

  // ---- nodes ----------------------------------------------------------------------------------

  void add_random(const Value& a) {
    const std::size_t rank = a.numbers.size();
    const tnr_view view = a.result.view();
    const std::int64_t last = rank == 0 ? 1 : a.numbers.back();
    const bool has_last = rank > 1;  // whose extent is a constant
    is_next_decided = a.is_decided;
    if (is_found(a.numbers) && below(3) == 0) return add_to_found(a, view);
    switch (below(21)) {
      case 0:
      case 1: return add_unary(a, view);
      case 2:
      case 3: return add_binary(a, view);
      case 4: return add_vector(a, view, has_last ? last : 1);
      case 5: return rank >= 2 ? add_reduction(a, view) : add_unary(a, view);
      case 6: return has_last ? add_softmax(a, view) : add_unary(a, view);
      case 7: return rank == 2 ? add_matmul(a, view, last) : add_unary(a, view);
      case 8: return rank == 4 ? add_convolution(a, view) : add_unary(a, view);
      case 9: return rank == 4 ? add_pooling(a, view) : add_vector(a, view, has_last ? last : 1);
      case 10: return rank >= 3 ? add_flat(a, view) : add_unary(a, view);
      case 11: return rank >= 3 ? add_permutation(a, view) : add_binary(a, view);
      case 12: return has_last && last > 1 ? add_slice(a, view, last) : add_unary(a, view);
      case 13: return has_last ? add_concat(a, view, last) : add_unary(a, view);
      case 14: return has_last ? add_scan(a, view) : add_binary(a, view);
      case 15: return below(2) == 0 ? add_cond(a, view) : add_selecting_cond(a, view);
      case 16: return rank == 1 && below(2) == 0 ? add_selecting_while(a) : add_while(a, view);
      case 17: return add_selection(a, view);
      case 18: return rank >= 2 ? add_rows(a, view) : add_selection(a, view);
      case 19: return rank == 1 ? add_selecting_while(a) : add_selecting_cond(a, view);
      default: return has_last && last > 0 ? add_take(a, view, last) : add_unary(a, view);
    }
  }

  void add_unary(const Value& a, const tnr_view& view) {
    constexpr tnr_unary_op kOps[] = {TNR_UNARY_OP_RELU, TNR_UNARY_OP_TANH, TNR_UNARY_OP_NEG,
                                     TNR_UNARY_OP_SIGMOID, TNR_UNARY_OP_GELU};
    const tnr_unary_op op = kOps[below(5)];
    add_value(node(TNR_NODE_UNARY + static_cast<std::uint32_t>(op), {a.value}), a.numbers,
              [&](const tnr_view_mut* out) { return tnr_unary(nullptr, op, &view, nullptr, out); });
  }

  void add_binary(const Value& a, const tnr_view& view) {
    constexpr tnr_binary_op kOps[] = {TNR_BINARY_OP_ADD, TNR_BINARY_OP_SUB, TNR_BINARY_OP_MUL,
                                      TNR_BINARY_OP_MAX};
    const tnr_binary_op op = kOps[below(4)];
    const auto code = TNR_NODE_BINARY + static_cast<std::uint32_t>(op);
    std::vector<const Value*> alike;
    for (const Value& value : values) {
      if (value.numbers == a.numbers) alike.push_back(&value);
    }
    const Value& b = *alike[static_cast<std::size_t>(below(std::ssize(alike)))];
    const tnr_view other = b.result.view();
    if (below(4) == 0) {
      const tnr_scalar half = tnr_scalar_f64(0.5);
      return add_value(node(code, {a.value, scalar(0.5)}), a.numbers, [&](const tnr_view_mut* out) {
        return tnr_binary_scalar(nullptr, op, &view, &half, nullptr, out);
      });
    }
    is_next_decided |= b.is_decided;
    add_value(node(code, {a.value, b.value}), a.numbers, [&](const tnr_view_mut* out) {
      return tnr_binary(nullptr, op, &view, &other, nullptr, out);
    });
  }

  // A constant that is broadcast.
  void add_vector(const Value& a, const tnr_view& view, std::int64_t extent) {
    if (a.numbers.empty()) return add_unary(a, view);
    const Floats& vector = keep(random_floats({extent}));
    const tnr_view other = vector.view();
    std::uint32_t held = constant(other);
    if (below(3) == 0) held = node(TNR_NODE_UNARY + TNR_UNARY_OP_NEG, {held});
    Floats negated = vector;
    tnr_value_info info = {};
    info.struct_size = sizeof info;
    ASSERT_EQ(tnr_graph_describe_value(graph, held, &info), TNR_STATUS_OK);
    if (info.source == TNR_VALUE_SOURCE_NODE) {
      for (float& value : negated.values) value = -value;
    }
    const tnr_view given_view = negated.view();
    add_value(node(TNR_NODE_BINARY + TNR_BINARY_OP_ADD, {a.value, held}), a.numbers,
              [&](const tnr_view_mut* out) {
                return tnr_binary(nullptr, TNR_BINARY_OP_ADD, &view, &given_view, nullptr, out);
              });
  }

  void add_reduction(const Value& a, const tnr_view& view) {
    const bool keeps = below(2) == 0;
    const bool sums = below(2) == 0;
    const tnr_reduce_op op = sums ? TNR_REDUCE_OP_SUM : TNR_REDUCE_OP_MAX;
    const std::uint32_t axis = static_cast<std::uint32_t>(a.numbers.size() - 1);
    Shape numbers = a.numbers;
    if (keeps) numbers.back() = 1;
    if (!keeps) numbers.pop_back();
    add_value(node(TNR_NODE_REDUCE + static_cast<std::uint32_t>(op), {a.value}, {}, nullptr,
                   (1u << axis) | (keeps ? TNR_NODE_KEEP_AXES : 0)),
              numbers, [&](const tnr_view_mut* out) {
                return tnr_reduce(nullptr, op, &view, 1u << axis, nullptr, out);
              });
  }

  void add_softmax(const Value& a, const tnr_view& view) {
    const std::uint32_t axes = 1u << (a.numbers.size() - 1);
    add_value(node(TNR_NODE_NORMALIZE + TNR_NORMALIZE_OP_SOFTMAX, {a.value}, {}, nullptr, axes),
              a.numbers, [&](const tnr_view_mut* out) {
                return tnr_normalize(nullptr, TNR_NORMALIZE_OP_SOFTMAX, &view, axes, nullptr, out);
              });
  }

  void add_matmul(const Value& a, const tnr_view& view, std::int64_t depth) {
    const std::int64_t columns = 1 + below(6);
    const tnr_view weight = keep(random_floats({depth, columns})).view();
    const tnr_scalar one = tnr_scalar_i64(1);
    const tnr_scalar zero = tnr_scalar_i64(0);
    add_value(node(TNR_NODE_MATMUL, {a.value, constant(weight)}), {a.numbers[0], columns},
              [&](const tnr_view_mut* out) {
                return tnr_matmul(nullptr, &one, &view, &weight, &zero, nullptr, out);
              });
  }

  void add_convolution(const Value& a, const tnr_view& view) {
    const std::int64_t filters = 1 + below(5);
    const tnr_view weight = keep(random_floats({filters, a.numbers[1], 3, 3})).view();
    tnr_conv2d_attributes same = {};
    same.struct_size = sizeof same;
    for (std::int64_t& padding : same.padding) padding = 1;
    add_value(node(TNR_NODE_CONV2D, {a.value, constant(weight)}, {}, &same),
              {a.numbers[0], filters, a.numbers[2], a.numbers[3]}, [&](const tnr_view_mut* out) {
                return tnr_conv2d(nullptr, &view, &weight, nullptr, &same, out);
              });
  }

  void add_pooling(const Value& a, const tnr_view& view) {
    if (a.numbers[2] < 2 || a.numbers[3] < 2) return add_unary(a, view);
    tnr_pool2d_attributes by = {};
    by.struct_size = sizeof by;
    by.kernel[0] = by.kernel[1] = 2;
    add_value(node(TNR_NODE_POOL2D + TNR_REDUCE_OP_MAX, {a.value}, {}, &by),
              {a.numbers[0], a.numbers[1], a.numbers[2] / 2, a.numbers[3] / 2},
              [&](const tnr_view_mut* out) {
                return tnr_pool2d(nullptr, TNR_REDUCE_OP_MAX, &view, &by, out);
              });
  }

  void add_flat(const Value& a, const tnr_view& view) {
    Shape numbers = a.numbers;
    const std::int64_t inner = numbers.back();
    numbers.pop_back();
    if (numbers.back() == images) return add_unary(a, view);
    numbers.back() *= inner;
    const tnr_view seen = view_over(a.result.values.data(), sizes(numbers));
    add_value(node(TNR_NODE_RESHAPE, {a.value}, numbers), numbers,
              [&](const tnr_view_mut* out) { return tnr_copy(nullptr, &seen, nullptr, out); });
  }

  void add_permutation(const Value& a, const tnr_view& view) {
    const std::size_t rank = a.numbers.size();
    std::vector<std::int64_t> axes(rank);
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
    std::swap(axes[rank - 1], axes[rank - 2]);
    Shape numbers = a.numbers;
    std::swap(numbers[rank - 1], numbers[rank - 2]);
    tnr_view seen = view;
    std::swap(seen.shape[rank - 1], seen.shape[rank - 2]);
    std::swap(seen.strides[rank - 1], seen.strides[rank - 2]);
    add_value(node(TNR_NODE_PERMUTE, {a.value}, axes), numbers,
              [&](const tnr_view_mut* out) { return tnr_copy(nullptr, &seen, nullptr, out); });
  }

  void add_slice(const Value& a, const tnr_view& view, std::int64_t last) {
    const auto axis = static_cast<std::uint32_t>(a.numbers.size() - 1);
    const std::int64_t start = below(last);
    Shape numbers = a.numbers;
    numbers.back() = last - start;
    tnr_view seen = {};
    ASSERT_EQ(tnr_view_slice(&view, axis, start, last, 1, &seen), TNR_STATUS_OK);
    add_value(node(TNR_NODE_SLICE, {a.value}, {axis, start, last, 1}), numbers,
              [&](const tnr_view_mut* out) { return tnr_copy(nullptr, &seen, nullptr, out); });
  }

  void add_concat(const Value& a, const tnr_view& view, std::int64_t last) {
    if (last > 40) return add_unary(a, view);
    const auto axis = static_cast<std::uint32_t>(a.numbers.size() - 1);
    Shape numbers = a.numbers;
    numbers.back() = 2 * last;
    const tnr_view parts[] = {view, view};
    add_value(
        node(TNR_NODE_CONCAT, {a.value, a.value}, {axis}), numbers,
        [&](const tnr_view_mut* out) { return tnr_concat(nullptr, parts, 2, axis, nullptr, out); });
  }

  void add_scan(const Value& a, const tnr_view& view) {
    const auto axis = static_cast<std::uint32_t>(a.numbers.size() - 1);
    add_value(node(TNR_NODE_SCAN + TNR_SCAN_OP_MAX, {a.value}, {axis}), a.numbers,
              [&](const tnr_view_mut* out) {
                return tnr_scan(nullptr, TNR_SCAN_OP_MAX, &view, axis, nullptr, out);
              });
  }

  void add_take(const Value& a, const tnr_view& view, std::int64_t last) {
    const auto axis = static_cast<std::uint32_t>(a.numbers.size() - 1);
    const std::int64_t places[] = {below(last), below(last), below(last)};
    const tnr_view indices = view_over(places, {3}, TNR_DTYPE_I64);
    Shape numbers = a.numbers;
    numbers.back() = 3;
    add_value(node(TNR_NODE_TAKE, {a.value, constant(indices)}, {axis}), numbers,
              [&](const tnr_view_mut* out) {
                return tnr_take(nullptr, &view, axis, &indices, nullptr, out);
              });
  }

  // ---- what a run finds ----------------------------------------------------------------------

  static std::int64_t elements_of(const Shape& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  }

  // A data-dependent extent: a run finds `size`, and memory is planned for at most `most`.
  std::int64_t found_extent(std::int64_t size, std::int64_t most) {
    const std::int64_t maximum = size + below(4);
    const std::string name = "found " + std::to_string(extents.size());
    std::int64_t number = 0;
    EXPECT_EQ(tnr_graph_add_extent(graph, name.c_str(), maximum, &number), TNR_STATUS_OK);
    extents.push_back({number, size, std::min(maximum, most)});
    return number;
  }
  std::int64_t multiplied(std::int64_t number, std::int64_t by) {
    std::int64_t product = 0;
    EXPECT_EQ(tnr_graph_combine_extents(graph, TNR_EXTENT_OP_MUL, number, by, &product),
              TNR_STATUS_OK);
    const RunExtent of = *std::ranges::find(extents, number, &RunExtent::number);
    extents.push_back({product, of.size * by, of.bound * by});
    return product;
  }
  std::uint32_t greater(std::uint32_t value, double bound) {
    return node(TNR_NODE_COMPARE + TNR_COMPARE_OP_GT, {value, scalar(bound)});
  }
  static std::vector<std::int64_t> places_above(const std::vector<float>& values, float bound) {
    std::vector<std::int64_t> places;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] > bound) places.push_back(static_cast<std::int64_t>(i));
    }
    return places;
  }

  // Elements above a bound, in a vector.
  void add_selection(const Value& a, const tnr_view&) {
    const float bound = static_cast<float>(below(5)) - 2;
    const std::vector<std::int64_t> places = places_above(a.result.values, bound);
    const std::int64_t hits =
        found_extent(std::ssize(places), elements_of(sizes(a.numbers, &RunExtent::bound)));
    const std::uint32_t selected =
        node(TNR_NODE_MASKED_SELECT, {a.value, greater(a.value, bound)}, {hits});
    Floats elements({std::ssize(places)});
    for (std::size_t i = 0; i < places.size(); ++i) {
      elements.values[i] = a.result.values[static_cast<std::size_t>(places[i])];
    }
    const tnr_view expected = elements.view();
    is_next_decided = true;
    add_value(selected, {hits},
              [&](const tnr_view_mut* out) { return tnr_copy(nullptr, &expected, nullptr, out); });
  }

  // Adds the rows along the first axis that have a greatest element above a bound.
  void add_rows(const Value& a, const tnr_view& view) {
    const float bound = static_cast<float>(below(4)) - 1;
    const std::uint32_t others = ((1u << a.numbers.size()) - 1) & ~1u;
    if (elements_of(sizes({a.numbers.begin() + 1, a.numbers.end()})) == 0)
      return add_unary(a, view);
    Floats greatest({a.result.shape[0]});
    const tnr_view_mut reduced = greatest.out();
    ASSERT_EQ(tnr_reduce(nullptr, TNR_REDUCE_OP_MAX, &view, others, nullptr, &reduced),
              TNR_STATUS_OK);
    const std::vector<std::int64_t> places = places_above(greatest.values, bound);
    const std::int64_t hits =
        found_extent(std::ssize(places), sizes(a.numbers, &RunExtent::bound)[0]);
    const std::uint32_t above =
        greater(node(TNR_NODE_REDUCE + TNR_REDUCE_OP_MAX, {a.value}, {}, nullptr, others), bound);
    const std::uint32_t found = node(TNR_NODE_NONZERO, {above}, {hits});
    const std::uint32_t indices = node(TNR_NODE_RESHAPE, {found}, {hits});
    Shape numbers = a.numbers;
    numbers[0] = hits;
    is_next_decided = true;
    const tnr_view rows = view_over(places.data(), {std::ssize(places)}, TNR_DTYPE_I64);
    add_value(node(TNR_NODE_TAKE, {a.value, indices}, {0}), numbers, [&](const tnr_view_mut* out) {
      return tnr_take(nullptr, &view, 0, &rows, nullptr, out);
    });
  }

  // Adds a node along an axis with a data-dependent extent.
  void add_to_found(const Value& a, const tnr_view& view) {
    const std::size_t rank = a.numbers.size();
    if (below(3) == 0) {
      return add_value(node(TNR_NODE_SCAN + TNR_SCAN_OP_MAX, {a.value}, {0}), a.numbers,
                       [&](const tnr_view_mut* out) {
                         return tnr_scan(nullptr, TNR_SCAN_OP_MAX, &view, 0, nullptr, out);
                       });
    }
    if (below(2) == 0) {
      return add_value(node(TNR_NODE_REDUCE + TNR_REDUCE_OP_SUM, {a.value}, {}, nullptr, 1),
                       {a.numbers.begin() + 1, a.numbers.end()}, [&](const tnr_view_mut* out) {
                         return tnr_reduce(nullptr, TNR_REDUCE_OP_SUM, &view, 1, nullptr, out);
                       });
    }
    if (rank == 2) {
      // Its columns, one behind the other.
      const std::uint32_t turned = node(TNR_NODE_PERMUTE, {a.value}, {1, 0});
      const std::int64_t all = multiplied(a.numbers[0], a.numbers[1]);
      tnr_view seen = view;
      std::swap(seen.shape[0], seen.shape[1]);
      std::swap(seen.strides[0], seen.strides[1]);
      return add_value(node(TNR_NODE_RESHAPE, {turned}, {all}), {all},
                       [&](const tnr_view_mut* out) {
                         tnr_view_mut wide = *out;
                         wide.view = view_over(out->view.data, {seen.shape[0], seen.shape[1]});
                         return tnr_copy(nullptr, &seen, nullptr, &wide);
                       });
    }
    if (rank != 1) return add_unary(a, view);
    const tnr_view row = keep(random_floats({1, 3})).view();
    const std::uint32_t column = node(TNR_NODE_RESHAPE, {a.value}, {a.numbers[0], 1});
    const tnr_view seen = view_over(a.result.values.data(), {a.result.shape[0], 1});
    const tnr_scalar one = tnr_scalar_i64(1);
    const tnr_scalar zero = tnr_scalar_i64(0);
    add_value(node(TNR_NODE_MATMUL, {column, constant(row)}), {a.numbers[0], 3},
              [&](const tnr_view_mut* out) {
                return tnr_matmul(nullptr, &one, &seen, &row, &zero, nullptr, out);
              });
  }

  // All of another graph, by the same numbers.
  void add_extents_of(const tnr_graph* other) {
    tnr_graph_info info = {};
    info.struct_size = sizeof info;
    ASSERT_EQ(tnr_graph_describe(other, &info), TNR_STATUS_OK);
    for (std::uint32_t i = 0; i < info.extent_count; ++i) {
      tnr_extent_info of = {};
      of.struct_size = sizeof of;
      ASSERT_EQ(tnr_graph_describe_extent(other, i, &of), TNR_STATUS_OK);
      std::int64_t same = 0;
      ASSERT_EQ(of.op == 0 ? tnr_graph_add_extent(graph, of.name, of.a, &same)
                           : tnr_graph_combine_extents(graph, of.op, of.a, of.b, &same),
                TNR_STATUS_OK);
      ASSERT_EQ(same, TNR_EXTENT + i);
    }
  }

  // A subgraph of values of this shape and a number, which gives what `build` adds of them.
  template <class Build>
  std::int64_t subgraph(const Shape& numbers, const Build& build) {
    tnr_graph* const around = graph;
    graph = tnr_graph_create();
    add_extents_of(around);
    const std::uint32_t x = input(numbers);
    for (const std::uint32_t value : build(x, input({}))) output(value);
    std::uint32_t index = TNR_OPERAND_NONE;
    EXPECT_EQ(tnr_graph_add_subgraph(around, graph, &index), TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_EQ(tnr_graph_release(graph), TNR_STATUS_OK);
    graph = around;
    return index;
  }
  using Results = std::vector<std::uint32_t>;
  static constexpr std::uint32_t kSum = TNR_NODE_BINARY + TNR_BINARY_OP_ADD;
  static constexpr std::uint32_t kTanh = TNR_NODE_UNARY + TNR_UNARY_OP_TANH;

  std::uint32_t number(float value) { return constant(view_over(&value, {})); }

  // The hyperbolic tangent of twice the values.
  static tnr_status squash(const tnr_view& view, const tnr_view_mut& out) {
    const tnr_status status = tnr_binary(nullptr, TNR_BINARY_OP_ADD, &view, &view, nullptr, &out);
    if (status != TNR_STATUS_OK) return status;
    return tnr_unary(nullptr, TNR_UNARY_OP_TANH, &out.view, nullptr, &out);
  }

  void add_cond(const Value& a, const tnr_view& view) {
    const std::uint8_t taken = below(2) == 0 ? 1 : 0;
    const std::uint32_t predicate = constant(view_over(&taken, {}, TNR_DTYPE_BOOL8));
    const std::int64_t first = subgraph(a.numbers, [&](std::uint32_t x, std::uint32_t) {
      return Results{node(kTanh, {node(kSum, {x, x})})};
    });
    const std::int64_t second =
        subgraph(a.numbers, [](std::uint32_t x, std::uint32_t) { return Results{x}; });
    add_value(node(TNR_NODE_COND, {predicate, a.value, number(0)}, {first, second}), a.numbers,
              [&](const tnr_view_mut* out) {
                return taken != 0 ? squash(view, *out) : tnr_copy(nullptr, &view, nullptr, out);
              });
  }

  void add_while(const Value& a, const tnr_view& view) {
    const std::int64_t rounds = below(4);
    const std::int64_t condition = subgraph(a.numbers, [&](std::uint32_t, std::uint32_t done) {
      return Results{
          node(TNR_NODE_COMPARE + TNR_COMPARE_OP_LT, {done, scalar(static_cast<double>(rounds))})};
    });
    const std::int64_t step = subgraph(a.numbers, [&](std::uint32_t x, std::uint32_t done) {
      return Results{node(kTanh, {node(kSum, {x, x})}), node(kSum, {done, scalar(1)})};
    });
    add_value(node(TNR_NODE_WHILE, {a.value, number(0)}, {condition, step, 4}), a.numbers,
              [&](const tnr_view_mut* out) {
                tnr_status status = tnr_copy(nullptr, &view, nullptr, out);
                for (std::int64_t i = 0; i < rounds && status == TNR_STATUS_OK; ++i) {
                  status = squash(out->view, *out);
                }
                return status;
              });
  }

  // In a body: the elements of a value above a bound. The body finds at most `most` of them.
  std::uint32_t selected_in_body(std::uint32_t value, float bound, std::int64_t most) {
    std::int64_t own = 0;
    EXPECT_EQ(tnr_graph_add_extent(graph, "own", most, &own), TNR_STATUS_OK);
    return node(TNR_NODE_MASKED_SELECT, {value, greater(value, bound)}, {own});
  }
  static std::vector<float> elements_above(const std::vector<float>& values, float bound) {
    std::vector<float> elements;
    for (const std::int64_t place : places_above(values, bound)) {
      elements.push_back(values[static_cast<std::size_t>(place)]);
    }
    return elements;
  }
  // Adds what a body gives as a vector of an extent that this graph finds: all of its elements.
  void add_found_again(std::uint32_t of, std::vector<float> elements, std::int64_t most) {
    constexpr float kLeast = -1e30f;
    elements = elements_above(elements, kLeast);
    const std::int64_t hits = found_extent(std::ssize(elements), most);
    const std::uint32_t again = node(TNR_NODE_MASKED_SELECT, {of, greater(of, kLeast)}, {hits});
    const tnr_view expected = view_over(elements.data(), {std::ssize(elements)});
    is_next_decided = true;
    add_value(again, {hits},
              [&](const tnr_view_mut* out) { return tnr_copy(nullptr, &expected, nullptr, out); });
  }

  // One of two selections, by a flag: of different bounds, and of different numbers at most.
  void add_selecting_cond(const Value& a, const tnr_view&) {
    const std::uint8_t taken = below(2) == 0 ? 1 : 0;
    const std::uint32_t predicate = constant(view_over(&taken, {}, TNR_DTYPE_BOOL8));
    const std::int64_t all = elements_of(sizes(a.numbers, &RunExtent::bound));
    std::vector<float> elements[2];
    std::int64_t bodies[2];
    std::int64_t most = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const float bound = static_cast<float>(below(5)) - 2;
      elements[i] = elements_above(a.result.values, bound);
      const std::int64_t maximum = std::ssize(elements[i]) + below(4);
      most = std::max(most, std::min(maximum, all));
      bodies[i] = subgraph(a.numbers, [&](std::uint32_t x, std::uint32_t) {
        return Results{selected_in_body(x, bound, maximum)};
      });
    }
    add_found_again(node(TNR_NODE_COND, {predicate, a.value, number(0)}, {bodies[0], bodies[1]}),
                    elements[taken != 0 ? 0 : 1], most);
  }

  // Adds a loop of up to 3 rounds. Each round squashes the elements and keeps those above a bound.
  void add_selecting_while(const Value& a) {
    const std::int64_t rounds = below(4);
    const float bound = static_cast<float>(below(3)) / 4 - 0.5f;
    const std::int64_t all = sizes(a.numbers, &RunExtent::bound)[0];
    const std::int64_t condition = subgraph(a.numbers, [&](std::uint32_t, std::uint32_t done) {
      return Results{
          node(TNR_NODE_COMPARE + TNR_COMPARE_OP_LT, {done, scalar(static_cast<double>(rounds))})};
    });
    const std::int64_t step = subgraph(a.numbers, [&](std::uint32_t x, std::uint32_t done) {
      return Results{selected_in_body(node(kTanh, {node(kSum, {x, x})}), bound, all),
                     node(kSum, {done, scalar(1)})};
    });
    std::vector<float> elements = a.result.values;
    for (std::int64_t i = 0; i < rounds; ++i) {
      const tnr_view_mut of = {view_over(elements.data(), {std::ssize(elements)})};
      ASSERT_EQ(squash(of.view, of), TNR_STATUS_OK);
      elements = elements_above(elements, bound);
    }
    add_found_again(node(TNR_NODE_WHILE, {a.value, number(0)}, {condition, step, 4}), elements,
                    all);
  }

  // Compares the first part along each axis of a larger array. No other element may be written.
  void compare(const Floats& result, const Floats& expected, std::size_t output) const {
    const tnr_view part = expected.view();
    for (std::size_t i = 0; i < result.values.size(); ++i) {
      std::int64_t rest = static_cast<std::int64_t>(i);
      std::int64_t at = 0;
      bool is_inside = true;
      for (std::size_t axis = result.shape.size(); axis-- > 0;) {
        const std::int64_t position = rest % result.shape[axis];
        rest /= result.shape[axis];
        is_inside = is_inside && position < expected.shape[axis];
        at += position * part.strides[axis];
      }
      const float a = result.values[i];
      const float b = is_inside ? expected.values[static_cast<std::size_t>(at)] : kUntouched;
      if (std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b))) continue;
      FAIL() << "outputs[" << output << "][" << i << "] is " << a << " but calls give " << b;
    }
  }

 protected:
  std::mt19937_64 random;
  std::int64_t images = 0;
  std::vector<RunExtent> extents;
  bool are_reversed = false;
  bool is_next_decided = false;  // of the value that is added
  std::deque<Value> values;
  std::deque<Floats> input_memory;
  std::deque<Floats> constants;
  std::vector<const Value*> given;

  void clear() {
    EXPECT_EQ(tnr_graph_release(graph), TNR_STATUS_OK);
    for (tnr_program* const made : programs) EXPECT_EQ(tnr_program_release(made), TNR_STATUS_OK);
    programs.clear();
    values.clear();
    input_memory.clear();
    constants.clear();
    given.clear();
    extents.clear();
    graph = tnr_graph_create();
  }
};

TEST_F(RandomProgram, HasTheBitsOfItsCalls) {
  // 10,000 take some seconds; TENURE_RANDOM_PROGRAMS says another number.
  const char* const asked = std::getenv("TENURE_RANDOM_PROGRAMS");
  const std::uint64_t programs_wanted = asked == nullptr ? 2000 : std::strtoull(asked, nullptr, 10);
  for (std::uint64_t seed = 0; seed < programs_wanted; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    build(seed);
    if (HasFatalFailure()) return;
    for (std::uint32_t of :
         {0u, kAllPasses, std::uint32_t{TNR_PASS_PACKING}, 1u << below(8),
          kAllPasses & ~(1u << below(8)), static_cast<std::uint32_t>(below(512))}) {
      SCOPED_TRACE("passes " + std::to_string(of));
      expect_the_same(of);
      if (HasFatalFailure()) return;
    }
    clear();
  }
}

TEST_F(RandomProgram, AllocatesNothingWhenItHasRun) {
  if (tenure::kSanitized) GTEST_SKIP() << "a sanitizer sees each piece of scratch memory by itself";
  int computed = 0;
  for (std::uint64_t seed = 0; computed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    build(seed);
    if (HasFatalFailure()) return;
    // Layouts that follow from what a run finds are computed in it.
    if (extents.size() > 1) {
      clear();
      continue;
    }
    const tnr_program* const made = program();
    Call call(*this);
    ASSERT_EQ(call.run(made), TNR_STATUS_OK);
    // The second one has the scratch memory that the first asked for.
    tnr_status status;
    {
      const AllocationFault counted(Failing::kOne, tenure::test::kNone);
      status = call.run(made);
    }
    EXPECT_EQ(status, TNR_STATUS_OK);
    const int asked = allocation_counts().asked;
    EXPECT_EQ(asked, 0) << step_names(made, call);
    if (memory(made, call.views).step_count > 1) ++computed;
    clear();
  }
}

// A preallocated one never allocates; a plain one does not behind its first run, unless it computes
// layouts that follow from what a run finds.
TEST_F(RandomProgram, HasTheBitsOfItsCallsWhenItIsBoundAndAllocatesNothing) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    build(seed);
    if (HasFatalFailure()) return;
    const tnr_program* const made = program();
    for (const std::uint32_t flags : {std::uint32_t{0}, std::uint32_t{TNR_BOUND_PREALLOCATED}}) {
      Call call(*this);
      tnr_bound* const bound = call.bind(made, flags);
      ASSERT_NE(bound, nullptr) << tnr_last_error()->message;
      if (flags == 0) {
        EXPECT_EQ(call.run(bound), TNR_STATUS_OK) << tnr_last_error()->message;
      }
      tnr_status status;
      {
        const AllocationFault counted(Failing::kOne, tenure::test::kNone);
        status = call.run(bound);
      }
      EXPECT_EQ(status, TNR_STATUS_OK) << tnr_last_error()->message;
      if (!tenure::kSanitized && (flags != 0 || extents.size() == 1)) {
        const int asked = allocation_counts().asked;
        EXPECT_EQ(asked, 0) << step_names(made, call);
      }
      expect_results(call);
      expect_shapes(call);
      EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK);
    }
    clear();
  }
}

TEST_F(RandomProgram, SurvivesEveryAllocationThatFails) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    build(seed);
    if (HasFatalFailure()) return;
    const tnr_program_attributes attributes = {sizeof attributes, 0, 0, nullptr, 0};
    bool has_failed = true;
    for (int first = 0; has_failed; ++first) {
      Call call(*this);
      tnr_status status = TNR_STATUS_OK;
      tnr_program* made;
      {
        const AllocationFault fault(Failing::kOne, first);
        made = tnr_program_create(nullptr, graph, &attributes);
        if (made != nullptr) status = call.run(made);
      }
      has_failed = allocation_counts().failed != 0;
      // A run that finds no room for the next one succeeds all the same.
      if (made == nullptr || status != TNR_STATUS_OK) {
        EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_OUT_OF_MEMORY);
        EXPECT_TRUE(has_failed);
      }
      EXPECT_EQ(tnr_program_release(made), TNR_STATUS_OK);
    }
    clear();
  }
}

}  // namespace
