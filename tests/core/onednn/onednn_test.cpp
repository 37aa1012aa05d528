// Compares the engine oneDNN with the library's own kernels as the reference implementation: within
// the bounds of both, on the calls that it takes and on those that it leaves to them.
#include "engine/onednn.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "expect_error.hpp"
#include "guarded.hpp"
#include "strided_floats.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// A context of an engine, in use while it lives.
class EngineContext {
 public:
  explicit EngineContext(tnr_engine engine, std::uint32_t thread_count = 1)
      : token_(made(engine, thread_count)), use_(token_) {}
  EngineContext(const EngineContext&) = delete;
  EngineContext& operator=(const EngineContext&) = delete;
  ~EngineContext() { context_release(token_); }

  operator const Context&() const { return use_; }

 private:
  static ContextToken made(tnr_engine engine, std::uint32_t thread_count) {
    tnr_context_options wanted = options(thread_count);
    wanted.engine = engine;
    return context_create(wanted);
  }

  ContextToken token_;
  ContextUse use_;
};

// Whether a call was given to oneDNN, which compiles for each new shape.
class Served {
 public:
  Served() : before_(onednn::shape_counts().compiled) {}
  explicit operator bool() const { return onednn::shape_counts().compiled > before_; }

 private:
  std::int64_t before_;
};

// ---- products of floats --------------------------------------------------------------------------

struct FloatCase {
  Operand<float> a;
  Operand<float> b;
  Operand<float> out;
  float alpha = 1;
  float beta = 0;
  std::vector<float> bias = {};
  tnr_unary_op activation = 0;
  bool is_clamped = false;

  void run(const Context& context) {
    tnr_matmul_attributes attributes = {};
    attributes.struct_size = sizeof attributes;
    attributes.activation = activation;
    if (is_clamped) {
      attributes.flags = TNR_EPILOGUE_CLAMP;
      attributes.low = -0.5;
      attributes.high = 6;
    }
    tnr_view of_bias = {};
    if (!bias.empty()) {
      of_bias = view_of(bias.data(), bias.size() * sizeof(float), 0, TNR_DTYPE_F32,
                        {{static_cast<std::int64_t>(bias.size()), 1}});
      attributes.bias = &of_bias;
    }
    matmul(context, number(alpha), a.view, b.view, number(beta), out.out(), attributes);
  }

  // The result within the bounds of both engines, and memory that is no element as it was.
  void expect_own_result(const Context& onednn_context) {
    FloatCase own = *this;
    FloatCase magnitudes = *this;
    for (auto* const memory :
         {&magnitudes.a.memory, &magnitudes.b.memory, &magnitudes.out.memory, &magnitudes.bias}) {
      for (float& element : *memory) element = std::fabs(element);
    }
    magnitudes.alpha = std::fabs(alpha);
    magnitudes.beta = std::fabs(beta);
    magnitudes.activation = 0;
    magnitudes.is_clamped = false;
    const EngineContext with_own(TNR_ENGINE_OWN);
    own.run(with_own);
    magnitudes.run(with_own);
    run(onednn_context);
    const std::int64_t depth = a.view.shape[a.view.rank - 1];
    const float bound = 2 * (static_cast<float>(depth) + 4) * std::numeric_limits<float>::epsilon();
    Operand<float> rest = own.out;
    for_each_index(out.view, [&](const Index& index) {
      const float expected = own.out.at(index);
      const float result = out.at(index);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(result)) << name() << " has no NaN where there is one";
      } else if (std::isinf(expected)) {
        ASSERT_EQ(result, expected) << name();
      } else {
        ASSERT_LE(std::fabs(result - expected), bound * magnitudes.out.at(index)) << name();
      }
      rest.at(index) = result;
    });
    ASSERT_EQ(
        std::memcmp(rest.memory.data(), out.memory.data(), rest.memory.size() * sizeof(float)), 0)
        << name() << ": wrote what is no element";
  }

  [[nodiscard]] std::string name() const {
    std::string text;
    for (const Operand<float>* operand : {&a, &b, &out}) {
      text += shape_text(operand->view.rank, operand->view.shape).text;
      text += " strides ";
      text += shape_text(operand->view.rank, operand->view.strides).text;
      text += ' ';
    }
    return text + "alpha " + std::to_string(alpha) + " beta " + std::to_string(beta) +
           (bias.empty() ? "" : " with a bias");
  }
};

// A matrix of `rows` x `columns`, one line after the other with a gap. The first axis or the second
// one has adjacent elements.
Operand<float> lying(std::int64_t rows, std::int64_t columns, bool is_transposed,
                     std::int64_t gap) {
  Operand<float> operand({1});
  const std::int64_t line = (is_transposed ? rows : columns) + gap;
  const std::int64_t lines = is_transposed ? columns : rows;
  const std::int64_t length = is_transposed ? rows : columns;
  operand.lay(
      {rows, columns},
      is_transposed ? std::vector<std::int64_t>{1, line} : std::vector<std::int64_t>{line, 1}, 0,
      (lines - 1) * line + length, kNaN);
  return operand;
}

TEST(OneDnnMatmul, TakesRowsAndColumnsThatAreAdjacent) {
  Random random(1);
  const EngineContext one(TNR_ENGINE_ONEDNN);
  const EngineContext two(TNR_ENGINE_ONEDNN, 2);
  int served_count = 0;
  int count = 0;
  for (const auto& [rows, columns, depth] :
       std::initializer_list<std::array<std::int64_t, 3>>{{1, 1, 1},
                                                          {1, 40, 33},
                                                          {40, 1, 33},
                                                          {8, 8, 8},
                                                          {31, 65, 17},
                                                          {64, 48, 100},
                                                          {97, 130, 515}}) {
    for (int layout = 0; layout < 16; ++layout) {
      FloatCase test{lying(rows, depth, (layout & 1) != 0, layout % 3),
                     lying(depth, columns, (layout & 2) != 0, (layout + 1) % 3),
                     lying(rows, columns, (layout & 4) != 0, layout % 2)};
      test.a.fill(random);
      test.b.fill(random);
      test.out.fill(random);
      if ((layout & 8) != 0) {
        test.beta = 0.75f;
        test.alpha = layout % 3 == 0 ? 1.0f : -1.5f;
      }
      if (layout % 5 == 0) {
        test.bias.resize(static_cast<std::size_t>(columns));
        for (float& element : test.bias) element = static_cast<float>(below(random, 100)) - 50;
      }
      if (layout % 7 == 0) test.activation = TNR_UNARY_OP_RELU;
      if (layout % 7 == 1) test.activation = TNR_UNARY_OP_TANH;
      test.is_clamped = layout % 3 == 0;
      const Served served;
      test.expect_own_result(layout % 2 == 0 ? one : two);
      if (HasFatalFailure()) return;
      ++count;
      if (served) ++served_count;
    }
  }
  // The calls that oneDNN does not serve have a bias with a column-major result or with an alpha,
  // or a shape that was compiled before.
  EXPECT_GE(served_count, count / 2);
}

TEST(OneDnnMatmul, LeavesOtherLayoutsToTheOwnKernels) {
  Random random(2);
  const EngineContext context(TNR_ENGINE_ONEDNN, 2);
  constexpr std::int64_t kExtents[] = {0, 1, 1, 2, 3, 5, 8, 16, 33};
  const auto extent = [&] { return kExtents[random() % std::size(kExtents)]; };
  for (int round = 0; round < 400; ++round) {
    const std::int64_t depth = extent();
    const std::int64_t rows = extent();
    const std::int64_t columns = extent();
    const std::int64_t batch = 1 + below(random, 3);
    const bool has_batch = random() % 2 == 0;
    Shape a{rows, depth};
    Shape b{depth, columns};
    Shape out{rows, columns};
    if (has_batch) {
      a.insert(a.begin(), random() % 3 == 0 ? 1 : batch);
      b.insert(b.begin(), random() % 3 == 0 ? 1 : batch);
      out.insert(out.begin(), batch);
    }
    FloatCase test{Operand<float>(a, Access::kRead, random),
                   Operand<float>(b, Access::kRead, random),
                   Operand<float>(out, Access::kWrite, random)};
    test.a.fill(random);
    test.b.fill(random);
    if (random() % 2 == 0) {
      test.beta = -0.5f;
      test.out.fill(random);
    }
    test.expect_own_result(context);
    if (HasFatalFailure()) return;
  }
}

TEST(OneDnnMatmul, TakesBatches) {
  Random random(3);
  const EngineContext context(TNR_ENGINE_ONEDNN, 2);
  for (int layout = 0; layout < 4; ++layout) {
    const Shape each{5, 24, 24};
    const Shape shared{24, 24};
    FloatCase test{Operand<float>((layout & 1) != 0 ? shared : each),
                   Operand<float>((layout & 2) != 0 ? shared : each), Operand<float>(each)};
    test.a.fill(random);
    test.b.fill(random);
    const Served served;
    test.expect_own_result(context);
    if (HasFatalFailure()) return;
    // It repeats a factor, but not a product.
    EXPECT_EQ(static_cast<bool>(served), layout != 3) << test.name();
  }
}

TEST(OneDnnMatmul, KeepsNaNAndInfinity) {
  Random random(4);
  const EngineContext context(TNR_ENGINE_ONEDNN);
  for (const tnr_unary_op activation : {tnr_unary_op{0}, tnr_unary_op{TNR_UNARY_OP_RELU}}) {
    for (const float beta : {0.0f, 1.0f}) {
      FloatCase test{Operand<float>({37, 19}), Operand<float>({19, 41}),
                     Operand<float>({37, 41}, beta == 0 ? kNaN : 1.0f)};
      test.a.fill(random);
      test.b.fill(random);
      test.beta = beta;
      test.activation = activation;
      test.a.at({3, 4}) = kNaN;
      test.b.at({7, 8}) = std::numeric_limits<float>::infinity();
      if (beta != 0) test.out.at({30, 30}) = kNaN;
      test.expect_own_result(context);
      if (HasFatalFailure()) return;
    }
  }
}

// By its table, whatever has been computed before.
TEST(OneDnnMatmul, IsChosenForSomeShapes) {
  Random random(10);
  const EngineContext context(TNR_ENGINE_AUTO);
  struct Choice {
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t depth;
    bool is_onednn;
  };
  for (const Choice& choice :
       {Choice{128, 129, 130, true}, Choice{9, 9, 9, false}, Choice{95, 95, 95, false},
        Choice{8, 700, 700, false}, Choice{700, 700, 8, false}}) {
    FloatCase test{Operand<float>({choice.rows, choice.depth}),
                   Operand<float>({choice.depth, choice.columns}),
                   Operand<float>({choice.rows, choice.columns})};
    test.a.fill(random);
    test.b.fill(random);
    const Served served;
    test.expect_own_result(context);
    if (HasFatalFailure()) return;
    EXPECT_EQ(static_cast<bool>(served), choice.is_onednn) << test.name();
  }
}

// oneDNN's own variable would have it multiply f32 as bf16.
[[noreturn]] void multiply_f32_and_exit() {
  setenv("ONEDNN_DEFAULT_FPMATH_MODE", "ANY", 1);
  const EngineContext context(TNR_ENGINE_ONEDNN);
  FloatCase test{Operand<float>({64, 64}), Operand<float>({64, 64}, 1), Operand<float>({64, 64})};
  for (std::int64_t row = 0; row < 64; ++row) test.a.at({row, row}) = 1 + 0x1p-20f;
  test.run(context);
  std::_Exit(test.out.memory[0] == 1 + 0x1p-20f ? 0 : 1);
}

TEST(OneDnnDeathTest, IsNotRoundedToLessThanF32) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(multiply_f32_and_exit(), testing::ExitedWithCode(0), "");
}

TEST(OneDnnMatmul, SumsOfNothingAreZero) {
  const EngineContext context(TNR_ENGINE_ONEDNN);
  FloatCase test{Operand<float>({3, 0}), Operand<float>({0, 5}), Operand<float>({3, 5}, kNaN)};
  test.run(context);
  for (const float element : test.out.memory) EXPECT_EQ(element, 0);
}

// ---- products of bytes and narrow floats ---------------------------------------------------------

using Byte = unsigned char;

tnr_view matrix_view(std::vector<Byte>& memory, tnr_dtype dtype, std::int64_t rows,
                     std::int64_t columns, bool is_transposed) {
  return view_of(memory.data(), memory.size(), 0, dtype,
                 {{rows, is_transposed ? 1 : columns}, {columns, is_transposed ? rows : 1}});
}

// Factors of any bits, of bytes; the result has the same bits by both engines.
TEST(OneDnnMatmul, SumsBytesExactly) {
  Random random(5);
  const EngineContext own(TNR_ENGINE_OWN);
  const EngineContext two(TNR_ENGINE_ONEDNN, 2);
  const tnr_scalar one = {.dtype = TNR_DTYPE_I32, .reserved = 0, .bytes = {1}};
  const tnr_scalar zero = {.dtype = TNR_DTYPE_I32, .reserved = 0, .bytes = {0}};
  const Served served;
  for (const auto& [rows, columns, depth] : std::initializer_list<std::array<std::int64_t, 3>>{
           {1, 1, 1}, {5, 9, 7}, {33, 65, 66}, {64, 64, 64}, {100, 70, 1027}}) {
    for (int kind = 0; kind < 16; ++kind) {
      const tnr_dtype a_dtype = (kind & 1) != 0 ? TNR_DTYPE_U8 : TNR_DTYPE_I8;
      const tnr_dtype b_dtype = (kind & 2) != 0 ? TNR_DTYPE_U8 : TNR_DTYPE_I8;
      std::vector<Byte> a(static_cast<std::size_t>(rows * depth));
      std::vector<Byte> b(static_cast<std::size_t>(depth * columns));
      // The largest magnitudes, where sums of pairs in 16 bits would saturate.
      for (Byte& byte : a) byte = static_cast<Byte>(random() % 4 == 0 ? 255 : random());
      for (Byte& byte : b) byte = static_cast<Byte>(random() % 4 == 0 ? 127 : random());
      std::vector<Byte> expected(static_cast<std::size_t>(rows * columns) * 4, 0xee);
      std::vector<Byte> result = expected;
      const tnr_view a_view = matrix_view(a, a_dtype, rows, depth, (kind & 4) != 0);
      const tnr_view b_view = matrix_view(b, b_dtype, depth, columns, (kind & 8) != 0);
      matmul(own, one, a_view, b_view, zero,
             {matrix_view(expected, TNR_DTYPE_I32, rows, columns, false)});
      matmul(two, one, a_view, b_view, zero,
             {matrix_view(result, TNR_DTYPE_I32, rows, columns, false)});
      ASSERT_EQ(result, expected) << rows << " x " << columns << " x " << depth << " kind " << kind;
    }
  }
  EXPECT_TRUE(served) << "or this processor has no instructions for exact sums of bytes";
}

TEST(OneDnnMatmul, RoundsSumsOfNarrowFloatsOnce) {
  Random random(6);
  const EngineContext own(TNR_ENGINE_OWN);
  const EngineContext two(TNR_ENGINE_ONEDNN, 2);
  for (const tnr_dtype dtype : {TNR_DTYPE_BF16, TNR_DTYPE_F16}) {
    // The last places: of the rounded result, and of the sums.
    const float eps = dtype == TNR_DTYPE_BF16 ? 0x1p-8f : 0x1p-11f;
    for (const auto& [rows, columns, depth] : std::initializer_list<std::array<std::int64_t, 3>>{
             {1, 1, 1}, {5, 9, 7}, {64, 64, 64}, {33, 70, 515}}) {
      for (int layout = 0; layout < 8; ++layout) {
        const Shape shapes[] = {{rows, depth}, {depth, columns}, {rows, columns}};
        std::vector<Byte> narrow[4];
        Operand<float> wide[4] = {Operand<float>(shapes[0]), Operand<float>(shapes[1]),
                                  Operand<float>(shapes[2]), Operand<float>({columns})};
        const auto view = [&](int which) {
          return which == 3 ? view_of(narrow[3].data(), narrow[3].size(), 0, dtype, {{columns, 1}})
                            : matrix_view(narrow[which], dtype, shapes[which][0], shapes[which][1],
                                          which < 2 && (layout >> which & 1) != 0);
        };
        for (int which = 0; which < 4; ++which) {
          wide[which].fill(random);
          narrow[which].resize(wide[which].memory.size() * 2);
          cast(own, wide[which].view, {view(which)});
          cast(own, view(which), wide[which].out());
          if (which == 2) continue;
          for (float& element : wide[which].memory) element = std::fabs(element);
        }
        tnr_matmul_attributes attributes = {};
        attributes.struct_size = sizeof attributes;
        const tnr_view bias = view(3);
        if ((layout & 4) != 0) {
          attributes.bias = &bias;
          attributes.activation = TNR_UNARY_OP_RELU;
        }
        matmul(own, number(1.0f), view(0), view(1), number(0.0f), {view(2)}, attributes);
        Operand<float> expected(shapes[2]);
        cast(own, view(2), expected.out());
        narrow[2].assign(narrow[2].size(), 0xff);
        matmul(two, number(1.0f), view(0), view(1), number(0.0f), {view(2)}, attributes);
        Operand<float> result(shapes[2]);
        cast(own, view(2), result.out());
        Operand<float> magnitudes(shapes[2]);
        matmul(own, number(1.0f), wide[0].view, wide[1].view, number(0.0f), magnitudes.out(), {});
        for (std::size_t i = 0; i < result.memory.size(); ++i) {
          const float of_bias = wide[3].memory[i % static_cast<std::size_t>(columns)];
          const float bound =
              (static_cast<float>(4 * depth) + 16) *
                  (std::numeric_limits<float>::epsilon() * (magnitudes.memory[i] + of_bias) +
                   std::numeric_limits<float>::min()) +
              2 * eps * std::fabs(expected.memory[i]);
          ASSERT_LE(std::fabs(result.memory[i] - expected.memory[i]), bound)
              << rows << " x " << columns << " x " << depth << " layout " << layout;
        }
      }
    }
  }
}

// ---- convolutions --------------------------------------------------------------------------------

struct ConvCase {
  Operand<float> a;
  Operand<float> weight;
  Operand<float> out;
  std::vector<float> bias;
  tnr_conv2d_attributes attributes;

  void run(const Context& context) {
    const tnr_view of_bias = view_of(bias.data(), bias.size() * sizeof(float), 0, TNR_DTYPE_F32,
                                     {{static_cast<std::int64_t>(bias.size()), 1}});
    conv2d(context, a.view, weight.view, bias.empty() ? nullptr : &of_bias, attributes, out.out());
  }
};

Operand<float> image(const Shape& shape, bool is_channels_last) {
  Operand<float> operand(shape, kNaN);
  if (is_channels_last) {
    operand.lay(shape, {shape[1] * shape[2] * shape[3], 1, shape[1] * shape[3], shape[1]}, 0,
                shape[0] * shape[1] * shape[2] * shape[3], kNaN);
  }
  return operand;
}

TEST(OneDnnConv2d, AgreesWithTheOwnKernels) {
  Random random(7);
  const EngineContext own(TNR_ENGINE_OWN);
  const EngineContext one(TNR_ENGINE_ONEDNN);
  const EngineContext two(TNR_ENGINE_ONEDNN, 2);
  int served_count = 0;
  for (int round = 0; round < 120; ++round) {
    tnr_conv2d_attributes attributes = {};
    attributes.struct_size = sizeof attributes;
    std::int64_t groups = 1 + (round % 4 == 3 ? below(random, 3) : 0);
    std::int64_t channels = round % 5 == 0 ? 16 : 1 + below(random, 20);
    std::int64_t filters = round % 5 == 0 ? 32 : 1 + below(random, 20);
    if (round % 11 == 0) {  // each channel by itself
      groups = channels;
      channels = filters = 1;
    }
    std::int64_t in[2];
    std::int64_t kernel[2];
    std::int64_t out[2];
    for (int axis = 0; axis < 2; ++axis) {
      kernel[axis] = 1 + below(random, 4);
      attributes.strides[axis] = 1 + below(random, 2);
      attributes.dilations[axis] = 1 + below(random, 2);
      attributes.padding[2 * axis] = below(random, 3);
      attributes.padding[2 * axis + 1] = below(random, 3);
      const std::int64_t reach = (kernel[axis] - 1) * attributes.dilations[axis] + 1;
      in[axis] = reach + below(random, 12);
      out[axis] =
          (in[axis] + attributes.padding[2 * axis] + attributes.padding[2 * axis + 1] - reach) /
              attributes.strides[axis] +
          1;
    }
    attributes.groups = groups;
    if (round % 2 == 0) attributes.activation = TNR_UNARY_OP_RELU;
    const std::int64_t images = 1 + below(random, 2);
    const bool is_last = round % 3 != 0;
    ConvCase test{image({images, groups * channels, in[0], in[1]}, is_last),
                  image({groups * filters, channels, kernel[0], kernel[1]}, round % 2 == 0),
                  image({images, groups * filters, out[0], out[1]}, is_last),
                  {},
                  attributes};
    test.a.fill(random);
    test.weight.fill(random);
    if (round % 3 == 1) {
      test.bias.resize(static_cast<std::size_t>(groups * filters));
      for (float& element : test.bias) element = static_cast<float>(below(random, 9)) - 4;
    }
    ConvCase expected = test;
    ConvCase magnitudes = test;
    for (auto* const memory : {&magnitudes.a.memory, &magnitudes.weight.memory, &magnitudes.bias}) {
      for (float& element : *memory) element = std::fabs(element);
    }
    magnitudes.attributes.activation = 0;
    expected.run(own);
    magnitudes.run(own);
    const Served served;
    test.run(round % 2 == 0 ? one : two);
    if (served) ++served_count;
    const auto depth = static_cast<float>(channels * kernel[0] * kernel[1]);
    for (std::size_t i = 0; i < test.out.memory.size(); ++i) {
      ASSERT_LE(std::fabs(test.out.memory[i] - expected.out.memory[i]),
                2 * (depth + 4) * std::numeric_limits<float>::epsilon() * magnitudes.out.memory[i])
          << "round " << round << ", element " << i;
    }
  }
  EXPECT_GE(served_count, 60);
}

TEST(OneDnnConv2d, IsChosenForManyPixelsOfAdjacentChannels) {
  const EngineContext context(TNR_ENGINE_AUTO);
  for (const std::int64_t side : {10, 26}) {
    for (const bool is_last : {false, true}) {
      tnr_conv2d_attributes attributes = {};
      attributes.struct_size = sizeof attributes;
      ConvCase test{image({1, 16, side, side}, is_last),
                    image({16, 16, 3, 3}, false),
                    image({1, 16, side - 2, side - 2}, is_last),
                    {},
                    attributes};
      test.a.memory.assign(test.a.memory.size(), 1);
      test.weight.memory.assign(test.weight.memory.size(), 1);
      const Served served;
      test.run(context);
      EXPECT_EQ(static_cast<bool>(served), is_last && side == 26);
      for (const float element : test.out.memory) ASSERT_EQ(element, 144);
    }
  }
}

TEST(OneDnnConv2d, KeepsNaN) {
  const EngineContext context(TNR_ENGINE_ONEDNN);
  tnr_conv2d_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.activation = TNR_UNARY_OP_RELU;
  ConvCase test{image({1, 16, 5, 5}, true),
                image({16, 16, 1, 1}, false),
                image({1, 16, 5, 5}, true),
                {},
                attributes};
  test.a.memory.assign(test.a.memory.size(), 1);
  test.weight.memory.assign(test.weight.memory.size(), 1);
  test.a.at({0, 3, 2, 2}) = kNaN;
  const Served served;
  test.run(context);
  EXPECT_TRUE(served);
  for_each_index(test.out.view, [&](const Index& index) {
    const bool is_nan = index[2] == 2 && index[3] == 2;
    EXPECT_EQ(std::isnan(test.out.at(index)), is_nan);
  });
}

// ---- memory --------------------------------------------------------------------------------------

// Operands between inaccessible pages.
TEST(OneDnnMatmul, TouchesNoByteBeyondItsOperands) {
  Random random(8);
  const EngineContext context(TNR_ENGINE_ONEDNN);
  struct Types {
    tnr_dtype a;
    tnr_dtype b;
    tnr_dtype out;
  };
  constexpr Types kTypes[] = {{TNR_DTYPE_F32, TNR_DTYPE_F32, TNR_DTYPE_F32},
                              {TNR_DTYPE_BF16, TNR_DTYPE_BF16, TNR_DTYPE_BF16},
                              {TNR_DTYPE_U8, TNR_DTYPE_I8, TNR_DTYPE_I32},
                              {TNR_DTYPE_I8, TNR_DTYPE_I8, TNR_DTYPE_I32}};
  constexpr std::size_t kRoom = 1 << 17;
  Guarded a(kRoom);
  Guarded b(kRoom);
  Guarded out(kRoom);
  const std::vector<Byte> zeros(kRoom);
  for (const Types& types : kTypes) {
    tnr_scalar one = {.dtype = TNR_DTYPE_U8, .reserved = 0, .bytes = {1}};
    tnr_scalar zero = {.dtype = TNR_DTYPE_U8, .reserved = 0, .bytes = {0}};
    for (int round = 0; round < 60; ++round) {
      const std::int64_t rows = 1 + below(random, 70);
      const std::int64_t columns = 1 + below(random, 70);
      const std::int64_t depth = 1 + below(random, 130);
      for (int layout = 0; layout < 4; ++layout) {
        constexpr int kDense = 0;
        constexpr int kColumnMajor = 8;
        const End end = round % 2 == 0 ? End::kBack : End::kFront;
        a.place(types.a, rows, depth, kArrangements[(layout & 1) != 0 ? kColumnMajor : kDense], end,
                zeros.data());
        b.place(types.b, depth, columns, kArrangements[(layout & 2) != 0 ? kColumnMajor : kDense],
                end, zeros.data());
        out.place(types.out, rows, columns, kArrangements[kDense], end, zeros.data());
        matmul(context, one, a.view(), b.view(), zero, {out.view()}, {});
        ASSERT_TRUE(out.is_as_expected()) << rows << " x " << columns << " x " << depth;
      }
    }
  }
}

TEST(OneDnnConv2d, TouchesNoByteBeyondItsOperands) {
  Random random(9);
  const EngineContext context(TNR_ENGINE_ONEDNN);
  constexpr std::size_t kRoom = 1 << 17;
  Guarded a(kRoom);
  Guarded weight(kRoom);
  Guarded out(kRoom);
  const std::vector<Byte> zeros(kRoom);
  const Served served;
  for (int round = 0; round < 120; ++round) {
    const End end = round % 2 == 0 ? End::kBack : End::kFront;
    const auto place = [&](Guarded& memory, const Shape& shape, bool is_channels_last) {
      memory.place(TNR_DTYPE_F32, 1, shape[0] * shape[1] * shape[2] * shape[3], kArrangements[0],
                   end, zeros.data());
      const tnr_view& all = memory.view();
      const std::int64_t channels = shape[1];
      const std::int64_t plane = shape[2] * shape[3];
      return view_of(const_cast<void*>(all.data), all.size_bytes, 0, TNR_DTYPE_F32,
                     {{shape[0], channels * plane},
                      {channels, is_channels_last ? 1 : plane},
                      {shape[2], is_channels_last ? channels * shape[3] : shape[3]},
                      {shape[3], is_channels_last ? channels : 1}});
    };
    const std::int64_t channels = 1 + below(random, 24);
    const std::int64_t filters = 1 + below(random, 24);
    const std::int64_t kernel = 1 + below(random, 3);
    const std::int64_t side = kernel + below(random, 10);
    const bool is_last = round % 3 != 0;
    tnr_conv2d_attributes attributes = {};
    attributes.struct_size = sizeof attributes;
    const tnr_view a_view = place(a, {1, channels, side, side}, is_last);
    const tnr_view weight_view = place(weight, {filters, channels, kernel, kernel}, round % 4 == 0);
    const tnr_view out_view =
        place(out, {1, filters, side - kernel + 1, side - kernel + 1}, is_last);
    conv2d(context, a_view, weight_view, nullptr, attributes, {out_view});
    ASSERT_TRUE(out.is_as_expected()) << "round " << round;
  }
  EXPECT_TRUE(served);
}

// ---- kept shapes --------------------------------------------------------------------------------

TEST(OneDnnMatmul, KeepsABoundedNumberOfShapes) {
  const EngineContext context(TNR_ENGINE_ONEDNN);
  for (std::int64_t columns = 1; columns <= 400; ++columns) {
    FloatCase test{Operand<float>({2, 3}, 1), Operand<float>({3, columns}, 1),
                   Operand<float>({2, columns})};
    test.run(context);
    for (const float element : test.out.memory) ASSERT_EQ(element, 3);
  }
  EXPECT_LE(onednn::shape_counts().kept, 256);
}

TEST(OneDnnMatmul, LetsManyThreadsCall) {
  const EngineContext context(TNR_ENGINE_ONEDNN, 2);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 50; ++round) {
        const std::int64_t side = 8 + thread + round % 3;
        FloatCase test{Operand<float>({side, side}, 1), Operand<float>({side, side}, 2),
                       Operand<float>({side, side})};
        test.run(context);
        for (const float element : test.out.memory) {
          ASSERT_EQ(element, static_cast<float>(2 * side));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// OpenMP has lost its threads there, and would wait for them.
TEST(OneDnnMatmul, WorksInAChildOfFork) {
  const EngineContext before(TNR_ENGINE_ONEDNN, 2);
  FloatCase test{Operand<float>({200, 200}, 1), Operand<float>({200, 200}, 1),
                 Operand<float>({200, 200})};
  test.run(before);
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    alarm(20);
    const EngineContext own_threads(TNR_ENGINE_ONEDNN, 2);
    for (const Context* context :
         {&static_cast<const Context&>(before), &static_cast<const Context&>(own_threads)}) {
      test.out.memory.assign(test.out.memory.size(), 0);
      test.run(*context);
      if (test.out.memory.back() != 200) _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(OneDnnMatmul, GivesTheCallersThreadsBack) {
  auto* const most_threads =
      reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  ASSERT_NE(most_threads, nullptr);
  const int before = most_threads();
  const EngineContext context(TNR_ENGINE_ONEDNN, static_cast<std::uint32_t>(before + 3));
  FloatCase test{Operand<float>({9, 9}, 1), Operand<float>({9, 9}, 1), Operand<float>({9, 9})};
  test.run(context);
  EXPECT_EQ(most_threads(), before);
}

}  // namespace
}  // namespace tenure::test
