// Custom operations whose shape function changes its answer, at each of its calls: whatever it
// answers, a run is refused or gives what its plan has, and writes no other byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <climits>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bound_runs.hpp"
#include "expect_status.hpp"
#include "guarded_allocator.hpp"
#include "memory/memory.hpp"
#include "program_graph.hpp"
#include "tenure/tenure.h"

using tenure::test::expect_refused;
using tenure::test::Lent;
using tenure::test::operation_of;
using tenure::test::overrun_blocks;
using tenure::test::Shape;
using tenure::test::view_over;

namespace {

constexpr std::uint32_t kNeg = TNR_NODE_UNARY + TNR_UNARY_OP_NEG;
constexpr std::uint32_t kAdd = TNR_NODE_BINARY + TNR_BINARY_OP_ADD;
constexpr std::uint32_t kMul = TNR_NODE_BINARY + TNR_BINARY_OP_MUL;
constexpr std::uint32_t kGreater = TNR_NODE_COMPARE + TNR_COMPARE_OP_GT;
constexpr std::uint32_t kAny = TNR_NODE_REDUCE + TNR_REDUCE_OP_ANY;
constexpr std::uint32_t kMax = TNR_NODE_REDUCE + TNR_REDUCE_OP_MAX;
constexpr std::uint32_t kAllPasses = 0xff;

// ---- operations --------------------------------------------------------------------------------

struct Answer {
  tnr_status status;
  tnr_dtype dtype;
  std::uint32_t rank;
  std::int64_t shape[TNR_MAX_RANK];
};

// A lie: a function that changes the true answer of `infer`.
struct Lie {
  const char* name;
  void (*tell)(Answer& answer);
};

void give(Answer& answer, std::uint32_t rank, std::int64_t extent) {
  answer.rank = rank;
  std::fill_n(answer.shape, std::min<std::uint32_t>(rank, TNR_MAX_RANK), extent);
}

constexpr Lie kLies[] = {
    {"another dtype of more bytes", [](Answer& of) { of.dtype = TNR_DTYPE_F64; }},
    {"another dtype of as many bytes", [](Answer& of) { of.dtype = TNR_DTYPE_I32; }},
    {"an unknown dtype", [](Answer& of) { of.dtype = 0x7777; }},
    {"rank 0", [](Answer& of) { give(of, 0, 1); }},
    {"rank 8", [](Answer& of) { give(of, 8, 2); }},
    {"rank 8 of one element", [](Answer& of) { give(of, 8, 1); }},
    {"rank 9", [](Answer& of) { give(of, 9, 1); }},
    {"a rank beyond all", [](Answer& of) { of.rank = UINT32_MAX; }},
    {"more along the first axis", [](Answer& of) { of.shape[0] = 1000; }},
    {"more along each axis", [](Answer& of) { give(of, of.rank, 40); }},
    {"one along each axis", [](Answer& of) { give(of, of.rank, 1); }},
    {"no element", [](Answer& of) { give(of, of.rank, 0); }},
    {"a negative extent", [](Answer& of) { of.shape[0] = -1; }},
    {"the least extent", [](Answer& of) { of.shape[0] = INT64_MIN; }},
    {"an extent of 4 EiB", [](Answer& of) { of.shape[0] = std::int64_t{1} << 60; }},
    {"the greatest extent", [](Answer& of) { of.shape[0] = INT64_MAX; }},
    {"nothing", [](Answer& of) { of = {}; }},
    {"a status", [](Answer& of) { of.status = TNR_STATUS_BUSY; }},
    {"no status", [](Answer& of) { of.status = 77; }},
    {"an exception", [](Answer&) { throw std::runtime_error("a lie"); }},
};

// Gives ones with the dtype and shape of its operand. Its `infer` tells `lie` in call `at`, or in
// each call from `at` on.
struct Liar {
  const Lie* lie = nullptr;
  std::atomic<int> at = 0;
  bool goes_on = false;
  std::atomic<int> asked = 0;

  static tnr_status infer(void* context, const tnr_view* operands, std::uint32_t,
                          const std::int64_t*, std::uint32_t, tnr_dtype* dtype, std::uint32_t* rank,
                          std::int64_t* shape) {
    auto& self = *static_cast<Liar*>(context);
    const int call = self.asked++;
    Answer answer = {TNR_STATUS_OK, operands[0].dtype, operands[0].rank, {}};
    std::copy_n(operands[0].shape, answer.rank, answer.shape);
    const bool lies = self.goes_on ? call >= self.at : call == self.at;
    if (lies && self.lie != nullptr) self.lie->tell(answer);
    *dtype = answer.dtype;
    *rank = answer.rank;
    std::ranges::copy(answer.shape, shape);
    return answer.status;
  }
  static tnr_status compute(void*, const tnr_view* operands, std::uint32_t, const std::int64_t*,
                            std::uint32_t, const tnr_view_mut* out) {
    // All of both is memory that the run has.
    EXPECT_EQ(tnr_view_check(&operands[0]), TNR_STATUS_OK) << tnr_last_error()->message;
    EXPECT_EQ(tnr_view_check_mut(out), TNR_STATUS_OK) << tnr_last_error()->message;
    Shape shape(operands[0].shape, operands[0].shape + operands[0].rank);
    const auto count = static_cast<std::size_t>(tnr_view_count(&operands[0]));
    std::vector<char> read(count * tnr_dtype_size_bytes(operands[0].dtype));
    const tnr_view_mut into = {view_over(read.data(), shape, operands[0].dtype)};
    if (!read.empty()) {
      EXPECT_EQ(tnr_copy(nullptr, &operands[0], nullptr, &into), TNR_STATUS_OK);
    }
    const tnr_scalar one = tnr_scalar_i64(1);
    return tnr_fill(nullptr, &one, nullptr, out);
  }
};

// ---- programs ----------------------------------------------------------------------------------

// The library refused a node, or the program.
struct Refused {};

void require(tnr_status status) {
  if (status != TNR_STATUS_OK) throw Refused();
}

// A graph whose custom operation 0 is the liar and 1 one that tells the truth.
class Building {
 public:
  Building(Liar& liar, Liar& honest) : liar_(liar), honest_(honest) { begin(); }
  Building(const Building&) = delete;
  Building& operator=(const Building&) = delete;
  ~Building() {
    for (tnr_graph* const graph : graphs_) EXPECT_EQ(tnr_graph_release(graph), TNR_STATUS_OK);
  }

  std::uint32_t input(const Shape& shape, tnr_dtype dtype = TNR_DTYPE_F32) {
    std::uint32_t value = 0;
    const auto rank = static_cast<std::uint32_t>(shape.size());
    require(tnr_graph_add_input(graph(), dtype, rank, shape.data(), &value));
    return value;
  }
  // A constant of ones with this shape.
  std::uint32_t ones(const Shape& shape) {
    static constexpr std::array<float, 64> kOnes = [] {
      std::array<float, 64> ones{};
      ones.fill(1);
      return ones;
    }();
    return constant(view_over(kOnes.data(), shape));
  }
  std::uint32_t constant(const tnr_view& view) {
    std::uint32_t value = 0;
    require(tnr_graph_add_constant(graph(), &view, &value));
    return value;
  }
  std::uint32_t scalar(double number) {
    const tnr_scalar scalar = tnr_scalar_f64(number);
    std::uint32_t value = 0;
    require(tnr_graph_add_scalar(graph(), &scalar, &value));
    return value;
  }
  std::int64_t extent(const char* name, std::int64_t maximum) {
    std::int64_t number = 0;
    require(tnr_graph_add_extent(graph(), name, maximum, &number));
    return number;
  }
  std::uint32_t node(std::uint32_t code, const std::vector<std::uint32_t>& operands,
                     const Shape& numbers = {}, std::uint32_t flags = 0) {
    tnr_graph_node node = {};
    node.struct_size = sizeof node;
    node.code = code;
    node.operands = operands.data();
    node.operand_count = static_cast<std::uint32_t>(operands.size());
    node.numbers = numbers.data();
    node.number_count = static_cast<std::uint32_t>(numbers.size());
    node.flags = flags;
    std::uint32_t value = 0;
    require(tnr_graph_add_node(graph(), &node, &value));
    return value;
  }
  std::uint32_t lying(std::uint32_t value) { return node(TNR_NODE_CUSTOM, {value}); }
  std::uint32_t honest(std::uint32_t value) { return node(TNR_NODE_CUSTOM + 1, {value}); }
  std::uint32_t positive(std::uint32_t value) { return node(kGreater, {value, scalar(0)}); }
  std::uint32_t any_positive(std::uint32_t value) { return node(kAny, {positive(value)}, {}, 1); }
  std::uint32_t selected(std::uint32_t value, const char* name = "hits") {
    return node(TNR_NODE_MASKED_SELECT, {value, positive(value)}, {extent(name, kCount)});
  }
  void output(std::uint32_t value) {
    require(tnr_graph_add_output(graph(), value, TNR_OPERAND_NONE));
  }
  std::int64_t body(const std::function<void()>& build) {
    begin();
    build();
    std::uint32_t index = 0;
    require(tnr_graph_add_subgraph(graphs_[graphs_.size() - 2], graph(), &index));
    EXPECT_EQ(tnr_graph_release(graph()), TNR_STATUS_OK);
    graphs_.pop_back();
    return index;
  }
  // A body that is handed a vector, and gives what `build` makes of it.
  std::int64_t body_of(const std::function<std::uint32_t(std::uint32_t)>& build) {
    return body([&] { output(build(input({kCount}))); });
  }
  tnr_program* program(std::uint32_t disabled_passes) {
    const tnr_program_attributes attributes = {sizeof attributes, disabled_passes, TNR_PASS_PACKING,
                                               nullptr, 0};
    tnr_program* const made = tnr_program_create(nullptr, graph(), &attributes);
    if (made == nullptr) throw Refused();
    return made;
  }

  static constexpr std::int64_t kCount = 6;

 private:
  [[nodiscard]] tnr_graph* graph() const { return graphs_.back(); }
  void begin() {
    graphs_.push_back(tnr_graph_create());
    for (Liar* const of : {&liar_, &honest_}) {
      const tnr_custom_operation operation =
          operation_of(of == &liar_ ? "liar" : "honest", Liar::infer, Liar::compute, of, 1);
      std::uint32_t index = 0;
      require(tnr_graph_add_custom(graph(), &operation, &index));
    }
  }

  Liar& liar_;
  Liar& honest_;
  std::vector<tnr_graph*> graphs_;
};

// Takes 6 numbers, 4 of them positive. All elements of its outputs are one number, whatever
// shape the liar's result has.
struct Example {
  const char* name;
  void (*build)(Building& of);
  double value;
};

// The rows of a matrix of ones that belong to positive numbers, as the liar sees them.
std::uint32_t lying_rows(Building& of) {
  const std::int64_t hits = of.extent("hits", Building::kCount);
  const std::uint32_t x = of.input({Building::kCount});
  const std::uint32_t found = of.node(TNR_NODE_NONZERO, {of.positive(x)}, {hits});
  const std::uint32_t places = of.node(TNR_NODE_RESHAPE, {found}, {hits});
  return of.lying(of.node(TNR_NODE_TAKE, {of.ones({Building::kCount, 3}), places}, {0}));
}

// Applies `node` to the liar's result on a vector with a data-dependent extent.
void then(Building& of, const std::function<std::uint32_t(std::uint32_t, std::uint32_t)>& node) {
  const std::uint32_t some = of.selected(of.input({Building::kCount}));
  const std::uint32_t result = node(of.lying(some), some);
  of.output(result);
  of.output(of.honest(result));
}

// As Building, of programs in which nothing is found but by the liar's own operand.
constexpr Example kExamples[] = {
    {"on an input",
     [](Building& of) { of.output(of.node(kNeg, {of.lying(of.input({Building::kCount}))})); }, -1},
    {"one behind the other",
     [](Building& of) {
       const std::uint32_t x = of.input({Building::kCount});
       of.output(of.lying(of.node(kAdd, {of.lying(of.lying(x)), of.lying(x)})));
     },
     1},
    {"reduced with others",
     [](Building& of) {
       const std::uint32_t x = of.input({Building::kCount});
       const std::uint32_t two = of.node(kAdd, {of.lying(x), of.lying(x)});
       of.output(of.node(kMax, {of.node(kAdd, {two, of.lying(x)})}, {}, 1));
     },
     3},
    {"in branches",
     [](Building& of) {
       const std::uint32_t x = of.input({Building::kCount});
       const std::int64_t first =
           of.body_of([&](std::uint32_t of_x) { return of.node(kNeg, {of.lying(of_x)}); });
       const std::int64_t second =
           of.body_of([&](std::uint32_t of_x) { return of.lying(of.node(kNeg, {of_x})); });
       of.output(of.node(TNR_NODE_COND, {of.any_positive(x), x}, {first, second}));
     },
     -1},
    {"in a loop",
     [](Building& of) {
       const std::uint32_t x = of.input({Building::kCount});
       const std::int64_t condition =
           of.body_of([&](std::uint32_t state) { return of.any_positive(state); });
       const std::int64_t body =
           of.body_of([&](std::uint32_t state) { return of.node(kNeg, {of.lying(state)}); });
       of.output(of.node(TNR_NODE_WHILE, {x}, {condition, body, 5}));
     },
     -1},
    {"in the condition of a loop",
     [](Building& of) {
       const std::uint32_t x = of.input({Building::kCount});
       const std::int64_t condition = of.body_of([&](std::uint32_t state) {
         return of.any_positive(of.node(kMul, {of.lying(state), state}));
       });
       const std::int64_t body = of.body_of([&](std::uint32_t state) {
         return of.node(kAdd, {of.node(kMul, {state, of.scalar(0)}), of.scalar(-1)});
       });
       of.output(of.node(TNR_NODE_WHILE, {x}, {condition, body, 5}));
     },
     -1},
    {"in bodies of bodies",
     [](Building& of) {
       const std::uint32_t x = of.input({Building::kCount});
       const auto branch = [&] {
         return of.body_of([&](std::uint32_t of_x) { return of.node(kNeg, {of.lying(of_x)}); });
       };
       const std::int64_t condition =
           of.body_of([&](std::uint32_t state) { return of.any_positive(state); });
       const std::int64_t body = of.body_of([&](std::uint32_t state) {
         return of.node(TNR_NODE_COND, {of.any_positive(state), state}, {branch(), branch()});
       });
       of.output(of.node(TNR_NODE_WHILE, {x}, {condition, body, 5}));
     },
     -1},
    {"negated",
     [](Building& of) {
       then(of, [&](std::uint32_t a, std::uint32_t) {
         return of.node(kNeg, {of.node(kMul, {a, of.scalar(-1)})});
       });
     },
     1},
    {"added to what was found",
     [](Building& of) {
       then(of, [&](std::uint32_t a, std::uint32_t some) {
         return of.node(kAdd, {of.node(kMul, {some, of.scalar(0)}), a});
       });
     },
     1},
    {"reduced",
     [](Building& of) {
       then(of, [&](std::uint32_t a, std::uint32_t) { return of.node(kMax, {a}, {}, 1); });
     },
     1},
    {"joined",
     [](Building& of) {
       then(of, [&](std::uint32_t a, std::uint32_t some) {
         const std::uint32_t ones = of.node(TNR_NODE_UNARY + TNR_UNARY_OP_SIGN, {some});
         return of.node(TNR_NODE_CONCAT, {a, ones}, {0});
       });
     },
     1},
    {"taken from",
     [](Building& of) {
       static constexpr std::int64_t kFirst[] = {0, 0};
       then(of, [&](std::uint32_t a, std::uint32_t) {
         const std::uint32_t indices = of.constant(view_over(kFirst, {2}, TNR_DTYPE_I64));
         return of.node(TNR_NODE_TAKE, {a, indices}, {0});
       });
     },
     1},
    {"summed up from the first on",
     [](Building& of) {
       then(of, [&](std::uint32_t a, std::uint32_t) {
         return of.node(TNR_NODE_SCAN + TNR_SCAN_OP_MAX, {a}, {0});
       });
     },
     1},
    {"sorted",
     [](Building& of) {
       then(of, [&](std::uint32_t a, std::uint32_t) {
         return of.node(TNR_NODE_SORT + TNR_ORDER_RESULT_VALUES, {a}, {0});
       });
     },
     1},
    {"asked again",
     [](Building& of) { then(of, [&](std::uint32_t a, std::uint32_t) { return of.lying(a); }); },
     1},
    {"selected from",
     [](Building& of) {
       then(of, [&](std::uint32_t a, std::uint32_t) { return of.selected(a, "more"); });
     },
     1},
    {"multiplied",
     [](Building& of) { of.output(of.node(TNR_NODE_MATMUL, {lying_rows(of), of.ones({3, 2})})); },
     3},
    {"as a mask",
     [](Building& of) {
       then(of, [&](std::uint32_t a, std::uint32_t some) {
         const std::uint32_t ones = of.node(TNR_NODE_UNARY + TNR_UNARY_OP_SIGN, {some});
         return of.node(TNR_NODE_MASKED_SELECT, {ones, of.positive(a)},
                        {of.extent("more", Building::kCount)});
       });
     },
     1},
    {"permuted and moved",
     [](Building& of) {
       const std::uint32_t turned = of.node(TNR_NODE_PERMUTE, {lying_rows(of)}, {1, 0});
       of.output(turned);
       of.output(of.honest(of.node(kNeg, {turned})));
       of.output(of.node(TNR_NODE_SLICE, {turned}, {0, 0, 2, 1}));
     },
     1},
    {"where a branch finds",
     [](Building& of) {
       const std::uint32_t x = of.input({Building::kCount});
       const auto branch = [&] {
         return of.body_of([&](std::uint32_t of_x) {
           return of.node(kNeg, {of.lying(of.selected(of_x, "few"))});
         });
       };
       const std::uint32_t taken =
           of.node(TNR_NODE_COND, {of.any_positive(x), x}, {branch(), branch()});
       of.output(taken);
       of.output(of.node(kNeg, {of.honest(of.node(kAdd, {taken, of.scalar(0)}))}));
     },
     -1},
    {"where an iteration finds",
     [](Building& of) {
       const std::uint32_t x = of.input({Building::kCount});
       const std::int64_t condition =
           of.body_of([&](std::uint32_t state) { return of.any_positive(state); });
       const std::int64_t body = of.body_of([&](std::uint32_t state) {
         return of.node(kNeg, {of.lying(of.selected(state, "few"))});
       });
       const std::uint32_t behind = of.node(TNR_NODE_WHILE, {x}, {condition, body, 5});
       of.output(behind);
       of.output(of.node(kNeg, {of.lying(behind)}));
     },
     -1},
    {"in a branch on what was found",
     [](Building& of) {
       const std::uint32_t some = of.selected(of.input({Building::kCount}));
       const auto branch = [&] {
         return of.body_of([&](std::uint32_t of_x) { return of.node(kNeg, {of.lying(of_x)}); });
       };
       of.output(of.node(TNR_NODE_COND, {of.any_positive(some), some}, {branch(), branch()}));
     },
     -1},
};

// ---- runs --------------------------------------------------------------------------------------

struct Type {
  tnr_dtype dtype;
  Shape shape;
};

double number_at(const char* element, tnr_dtype dtype) {
  if (dtype == TNR_DTYPE_F64) return *reinterpret_cast<const double*>(element);
  if (dtype == TNR_DTYPE_I32) return *reinterpret_cast<const std::int32_t*>(element);
  return *reinterpret_cast<const float*>(element);
}

// Memory of an output, full of a pattern, between guards of the same.
class Output {
 public:
  explicit Output(const Type& type) : type_(type) {
    const tnr_view view = view_over(nullptr, type.shape, type.dtype);
    bytes_.assign(view.size_bytes + 2 * kGuardBytes, kPattern);
  }
  tnr_view_mut view() { return {view_over(begin(), type_.shape, type_.dtype)}; }
  // Expects `value` in all elements of the first part, and no other byte written. After a run that
  // failed, expects only that the bytes around the output are unchanged.
  void expect(bool is_written, double value, const std::int64_t* shape) {
    const auto is_untouched = [](char byte) { return byte == kPattern; };
    EXPECT_TRUE(std::all_of(bytes_.begin(), bytes_.begin() + kGuardBytes, is_untouched));
    EXPECT_TRUE(std::all_of(bytes_.end() - kGuardBytes, bytes_.end(), is_untouched));
    if (!is_written) return;
    const std::size_t width = tnr_dtype_size_bytes(type_.dtype);
    Shape at(type_.shape.size());
    const std::size_t count = (bytes_.size() - 2 * kGuardBytes) / width;
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t rest = i;
      bool is_inside = true;
      for (std::size_t axis = at.size(); axis-- > 0;) {
        const auto extent = static_cast<std::size_t>(type_.shape[axis]);
        is_inside &= static_cast<std::int64_t>(rest % extent) < shape[axis];
        rest /= extent;
      }
      const char* const element = begin() + i * width;
      if (is_inside) {
        ASSERT_EQ(number_at(element, type_.dtype), value) << i;
      } else {
        ASSERT_TRUE(std::all_of(element, element + width, is_untouched)) << i;
      }
    }
  }

 private:
  static constexpr char kPattern = 0x5A;
  static constexpr std::int64_t kGuardBytes = 1 << 14;

  char* begin() { return bytes_.data() + kGuardBytes; }

  Type type_;
  std::vector<char> bytes_;
};

enum class Mode : std::uint8_t { kRun, kChecked, kPreallocated };

constexpr float kNumbers[] = {1, 0, -1, 0, 2, 0, 3, 0, -5, 0, 4, 0};

// The positive ones, with others between them or not.
tnr_view numbers(bool is_apart) {
  static constexpr float kAdjacent[] = {1, -1, 2, 3, -5, 4};
  tnr_view view = view_over(is_apart ? kNumbers : kAdjacent, {Building::kCount});
  if (is_apart) {
    view.strides[0] = 2;
    view.size_bytes = sizeof kNumbers;
  }
  return view;
}

// The types that the program says its outputs have; throws Refused where it refuses them.
std::vector<Type> types_of(const tnr_program* program, const tnr_view& x) {
  std::vector<Type> types;
  const tnr_view* const inputs[] = {&x};
  for (std::uint32_t i = 0;; ++i) {
    tnr_dtype dtype = 0;
    std::uint32_t rank = 0;
    std::int64_t shape[TNR_MAX_RANK] = {};
    if (tnr_program_output_shape(program, inputs, 1, i, &dtype, &rank, shape) != TNR_STATUS_OK) {
      if (i == 0) throw Refused();
      return types;
    }
    types.push_back({dtype, {shape, shape + rank}});
    // Nobody has memory for it.
    if (view_over(nullptr, types.back().shape, dtype).size_bytes > 1 << 20) throw Refused();
  }
}

struct Counts {
  int run = 0;
  int refused = 0;
};

// Runs, each into new memory for outputs of these types.
void run_twice(const Example& example, const tnr_program* program, Mode mode, const tnr_view& x,
               const std::vector<Type>& types, Counts& counts) {
  std::vector<std::int64_t> shapes(types.size() * TNR_MAX_RANK);
  const auto run = [&](const auto& answer_of) {
    std::vector<Output> outputs(types.begin(), types.end());
    std::vector<tnr_view_mut> views;
    for (Output& output : outputs) views.push_back(output.view());
    Lent lent({x}, views);
    const bool has_run = answer_of(lent) == TNR_STATUS_OK;
    ++(has_run ? counts.run : counts.refused);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      outputs[i].expect(has_run, example.value, shapes.data() + i * TNR_MAX_RANK);
    }
  };
  if (mode == Mode::kPreallocated) {
    tnr_bound* bound = nullptr;
    run([&](Lent& lent) {
      bound = lent.preallocate(program);
      return TNR_STATUS_BUSY;  // nothing is written
    });
    if (bound == nullptr) return;
    for (int i = 0; i < 2; ++i) {
      run([&](const Lent& lent) { return lent.run(bound, shapes.data()); });
    }
    EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK);
    return;
  }
  const std::uint32_t flags = mode == Mode::kChecked ? TNR_RUN_CHECKED : 0;
  const tnr_program_run_attributes attributes = {sizeof attributes, 0, nullptr, 0, flags,
                                                 shapes.data()};
  for (int i = 0; i < 2; ++i) {
    run([&](const Lent& lent) {
      return tnr_program_run(nullptr, program, lent.inputs.data(), 1, &attributes,
                             lent.outputs.data(), static_cast<std::uint32_t>(types.size()));
    });
  }
}

// Builds and runs the example.
class Trial {
 public:
  Trial(const Example& example, std::uint32_t disabled_passes)
      : example_(example), disabled_passes_(disabled_passes) {
    // Finds the true types, and the number of calls of the liar's `infer`.
    Liar liar;
    Liar honest;
    const auto build = [&](auto visit) {
      Building building(liar, honest);
      example.build(building);
      tnr_program* const program = building.program(disabled_passes_);
      visit(program);
      EXPECT_EQ(tnr_program_release(program), TNR_STATUS_OK);
    };
    build([&](tnr_program* program) { truth_ = types_of(program, numbers(false)); });
    for (const Mode mode : {Mode::kRun, Mode::kChecked, Mode::kPreallocated}) {
      liar.asked = 0;
      Counts counts;
      build([&](tnr_program* program) { run_all(program, mode, true, counts); });
      most_asked_ = std::max(most_asked_, liar.asked.load());
      EXPECT_EQ(counts.refused, mode == Mode::kPreallocated ? 2 : 0) << tnr_last_error()->message;
    }
  }

  [[nodiscard]] int most_asked() const { return most_asked_; }

  // With one that lies as these say.
  void run(const Lie& lie, int at, bool goes_on, Mode mode, bool has_true_outputs, Counts& counts) {
    SCOPED_TRACE(std::string(example_.name) + ": " + lie.name + (goes_on ? " from" : " at") +
                 " call " + std::to_string(at) + ", mode " +
                 std::to_string(static_cast<int>(mode)) +
                 (has_true_outputs ? "" : ", outputs as the program says"));
    Liar liar;
    Liar honest;
    liar.lie = &lie;
    liar.at = at;
    liar.goes_on = goes_on;
    tnr_program* program = nullptr;
    try {
      Building building(liar, honest);
      example_.build(building);
      program = building.program(disabled_passes_);
      run_all(program, mode, has_true_outputs, counts);
    } catch (const Refused&) {
      ++counts.refused;
    }
    EXPECT_EQ(tnr_program_release(program), TNR_STATUS_OK);
  }

 private:
  void run_all(const tnr_program* program, Mode mode, bool has_true_outputs, Counts& counts) {
    for (const bool is_apart : {false, true}) {
      const tnr_view x = numbers(is_apart);
      const std::vector<Type> types = has_true_outputs ? truth_ : types_of(program, x);
      run_twice(example_, program, mode, x, types, counts);
    }
  }

  const Example& example_;
  std::uint32_t disabled_passes_;
  std::vector<Type> truth_;  // of outputs
  int most_asked_ = 0;
};

class CLyingCustom : public testing::TestWithParam<Example> {};

TEST_P(CLyingCustom, ReachesNoOtherMemory) {
  const int overrun_before = overrun_blocks();
  Counts counts;
  Trial trials[] = {{GetParam(), 0}, {GetParam(), kAllPasses}};
  std::size_t number = 0;
  for (const Lie& lie : kLies) {
    // Each of the first calls, and some of those behind them.
    for (int at = 0; at < trials[0].most_asked(); at += 1 + at / 6) {
      Trial& trial = trials[++number % 2];
      for (const Mode mode : {Mode::kRun, Mode::kPreallocated}) {
        trial.run(lie, at, false, mode, true, counts);
        trial.run(lie, at, true, mode, true, counts);
      }
      trial.run(lie, at, false, Mode::kRun, false, counts);
      trial.run(lie, at, true, Mode::kChecked, false, counts);
      if (HasFailure()) return;
    }
  }
  EXPECT_EQ(overrun_blocks(), overrun_before);
  EXPECT_GT(counts.run, 0);
  EXPECT_GT(counts.refused, 0);
}

INSTANTIATE_TEST_SUITE_P(Examples, CLyingCustom, testing::ValuesIn(kExamples), [](const auto& of) {
  std::string name = of.param.name;
  std::ranges::replace(name, ' ', '_');
  return name;
});

// The blocks of a run, by the library's own malloc.
TEST(GuardedAllocator, CountsAWriteBehindABlock) {
  if (tenure::kSanitized) GTEST_SKIP() << "the sanitizer has guards of its own";
  const int before = overrun_blocks();
  for (const std::size_t behind : {0, 128}) {
    tnr_blob* const blob = tnr_blob_alloc(nullptr, 1000);
    auto* const bytes = static_cast<volatile char*>(tnr_blob_data_mut(blob));
    if (behind != 0) bytes[1000 + behind] = 1;
    EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  }
  EXPECT_EQ(overrun_blocks(), before + 1);
}

// One answer is one plan: of a graph, its bodies and theirs.
TEST(CCustom, IsAskedOnceForEachPlan) {
  for (const auto& [name, expected] :
       {std::pair("on an input", 1), std::pair("one behind the other", 4),
        std::pair("reduced with others", 3), std::pair("in branches", 2), std::pair("in a loop", 1),
        std::pair("in the condition of a loop", 1), std::pair("in bodies of bodies", 2)}) {
    const Example& example =
        *std::ranges::find(kExamples, std::string(name), [](const Example& of) { return of.name; });
    Liar liar;
    Liar honest;
    Building building(liar, honest);
    example.build(building);
    const int asked_before = liar.asked;
    tnr_program* const program = building.program(0);
    EXPECT_EQ(liar.asked, asked_before) << name;
    Counts counts;
    const std::vector<Type> types = types_of(program, numbers(false));
    run_twice(example, program, Mode::kRun, numbers(false), types, counts);
    run_twice(example, program, Mode::kChecked, numbers(false), types, counts);
    EXPECT_EQ(liar.asked, asked_before + expected) << name;
    run_twice(example, program, Mode::kRun, numbers(true), types, counts);
    EXPECT_EQ(liar.asked, asked_before + 2 * expected) << name;
    EXPECT_EQ(counts.refused, 0) << name;
    EXPECT_EQ(tnr_program_release(program), TNR_STATUS_OK);
  }
}

// A later answer names what memory is planned for.
TEST(CCustom, ASecondAnswerIsComparedWithThePlan) {
  const Example& example = *std::ranges::find(kExamples, std::string("negated"),
                                              [](const Example& of) { return of.name; });
  const auto expect_words = [&](const char* lie, std::initializer_list<std::string> words) {
    Liar liar;
    Liar honest;
    liar.lie = std::ranges::find(kLies, std::string(lie), [](const Lie& of) { return of.name; });
    liar.at = INT_MAX;
    liar.goes_on = true;
    Building building(liar, honest);
    example.build(building);
    tnr_program* const program = building.program(0);
    const tnr_view x = numbers(false);
    const std::vector<Type> types = types_of(program, x);
    Output first(types[0]);
    Output second(types[1]);
    Lent lent({x}, {first.view(), second.view()});
    tnr_bound* const bound = lent.preallocate(program);
    liar.at = 0;
    expect_refused(
        tnr_program_run(nullptr, program, lent.inputs.data(), 1, nullptr, lent.outputs.data(), 2),
        TNR_STATUS_INVALID_ARGUMENT, words);
    expect_refused(lent.run(bound), TNR_STATUS_INVALID_ARGUMENT, words);
    EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK);
    EXPECT_EQ(tnr_program_release(program), TNR_STATUS_OK);
  };
  const std::string plan = "but memory is planned for f32 of at most [6]";
  expect_words("another dtype of more bytes", {"], liar: the result is f64 of shape [4] ", plan});
  expect_words("another dtype of as many bytes",
               {"], liar: the result is i32 of shape [4] ", plan});
  expect_words("rank 0", {"], liar: the result is f32 of shape [] ", plan});
  expect_words("rank 8 of one element", {"f32 of shape [1, 1, 1, 1, 1, 1, 1, 1] ", plan});
  expect_words("more along the first axis", {"f32 of shape [1000] ", plan});
  expect_words("rank 9", {"], liar: infer of the custom operation liar gave rank 9"});
  expect_words("a negative extent", {"], liar: ", "-1"});
}

// Answers that are another one for each thread that asks: each run has its own plan.
TEST(CCustom, MayAnswerThreadsDifferently) {
  static constexpr int kThreads = 4;
  static constexpr int kRounds = 60;
  const int overrun_before = overrun_blocks();
  for (const char* const name : {"in branches", "joined", "where an iteration finds"}) {
    const Example& example =
        *std::ranges::find(kExamples, std::string(name), [](const Example& of) { return of.name; });
    for (const char* const lie :
         {"more along each axis", "another dtype of more bytes", "rank 8"}) {
      Liar liar;
      Liar honest;
      liar.lie = std::ranges::find(kLies, std::string(lie), [](const Lie& of) { return of.name; });
      liar.at = INT_MAX;
      Building building(liar, honest);
      example.build(building);
      tnr_program* const program = building.program(0);
      const std::vector<Type> truth = types_of(program, numbers(false));
      std::barrier together(kThreads);
      Counts counts[kThreads];
      std::vector<std::thread> threads;
      for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, thread] {
          for (int round = 0; round < kRounds; ++round) {
            together.arrive_and_wait();
            // A lie to the thread that calls `infer` now, for a new plan or in a run.
            if (thread == 0) liar.at = liar.asked + round % 3;
            const std::int64_t stride = round + 1;  // a layout for which nothing is planned
            std::vector<float> memory(static_cast<std::size_t>(6 * stride), 1.0f);
            tnr_view x = view_over(memory.data(), {6 * stride});
            x.shape[0] = 6;
            x.strides[0] = stride;
            run_twice(example, program, Mode::kRun, x, truth, counts[thread]);
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      for (const Counts& of : counts) EXPECT_GT(of.run, 0);
      EXPECT_EQ(tnr_program_release(program), TNR_STATUS_OK);
    }
  }
  EXPECT_EQ(overrun_blocks(), overrun_before);
}

}  // namespace
