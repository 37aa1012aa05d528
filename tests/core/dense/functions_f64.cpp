// Compares operations of f64 that are not exact with C's functions of long double, which have 11
// bits more on x86, and prints the largest error on 10^8 random operands of each. Powers, angles of
// points and distances, of two operands, are tested too.
//
// Operands are of every size, and gather where functions are hard: near 0, near 1, where numbers
// end, and near multiples of pi / 2. functions_test.cpp has the worst operands that were found,
// with the results of 120-digit arithmetic.
//
// Not a part of the ordinary tests, since it takes minutes: `./x long`. A number as the first
// argument is another count of operands; names of operations restrict it to these operations.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "cpu/dispatch.hpp"
#include "cpu/operations.hpp"
#include "dense/loops/strip_runner.hpp"
#include "last_places.hpp"
#include "tenure/instruction_set.hpp"

namespace tenure::test {
namespace {

using kernels::Binary;
using kernels::Unary;
using Wide = long double;

// Halves of the last place of f64 are judged by 1/64 of it or less.
constexpr bool kIsWider = std::numeric_limits<Wide>::digits >= 64;
constexpr std::size_t kBlock = 1u << 14;

Wide sigmoid(Wide x) { return 1 / (1 + std::exp(-x)); }

// The limit where x is minus infinity.
Wide weighted(Wide x, Wide weight) { return weight == 0 ? std::copysign(Wide{0}, x) : x * weight; }

// Where x is far below 0, a rounding of x / sqrt(2) changes as many places as its square is large:
// the square tells how much.
Wide gelu(Wide x) {
  const Wide root = -x / std::sqrt(Wide{2});
  const Wide half_square = x * x / 2;
  const Wide excess = half_square < 1000 && x < 0
                          ? std::fma(root, root, -half_square) - std::fma(x / 2, x, -half_square)
                          : 0;
  return weighted(x, std::erfc(root) / 2 * (1 + excess));
}

struct Function {
  const kernels::OperationRow* about;
  unsigned row;
  Wide (*of_one)(Wide);
  Wide (*of_two)(Wide, Wide);

  Function(Unary op, Wide (*exact)(Wide))
      : about(&kernels::kUnaryRows[static_cast<unsigned>(op) - 1]),
        row(static_cast<unsigned>(op) - 1),
        of_one(exact),
        of_two(nullptr) {}
  Function(Binary op, Wide (*exact)(Wide, Wide))
      : about(&kernels::kBinaryRows[static_cast<unsigned>(op) - 1]),
        row(static_cast<unsigned>(op) - 1),
        of_one(nullptr),
        of_two(exact) {}
};

const Function kFunctions[] = {
    {Unary::kExp, [](Wide x) { return std::exp(x); }},
    {Unary::kTanh, [](Wide x) { return std::tanh(x); }},
    {Unary::kSigmoid, sigmoid},
    {Unary::kSilu, [](Wide x) { return weighted(x, sigmoid(x)); }},
    {Unary::kGelu, gelu},
    {Unary::kGeluTanh,
     [](Wide x) {
       const Wide slope = std::sqrt(8 / std::acos(Wide{-1}));
       return weighted(x, sigmoid(slope * (x + 0.044715L * x * x * x)));
     }},
    {Unary::kSoftplus,
     [](Wide x) { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x))); }},
    {Unary::kElu, [](Wide x) { return x > 0 ? x : std::expm1(x); }},
    {Unary::kExp2, [](Wide x) { return std::exp2(x); }},
    {Unary::kExpm1, [](Wide x) { return std::expm1(x); }},
    {Unary::kLn, [](Wide x) { return std::log(x); }},
    {Unary::kLog2, [](Wide x) { return std::log2(x); }},
    {Unary::kLog10, [](Wide x) { return std::log10(x); }},
    {Unary::kLog1p, [](Wide x) { return std::log1p(x); }},
    {Unary::kErf, [](Wide x) { return std::erf(x); }},
    {Unary::kErfc, [](Wide x) { return std::erfc(x); }},
    {Unary::kSin, [](Wide x) { return std::sin(x); }},
    {Unary::kCos, [](Wide x) { return std::cos(x); }},
    {Unary::kTan, [](Wide x) { return std::tan(x); }},
    {Unary::kAsin, [](Wide x) { return std::asin(x); }},
    {Unary::kAcos, [](Wide x) { return std::acos(x); }},
    {Unary::kAtan, [](Wide x) { return std::atan(x); }},
    {Unary::kSinh, [](Wide x) { return std::sinh(x); }},
    {Unary::kCosh, [](Wide x) { return std::cosh(x); }},
    {Unary::kAsinh, [](Wide x) { return std::asinh(x); }},
    {Unary::kAcosh, [](Wide x) { return std::acosh(x); }},
    {Unary::kAtanh, [](Wide x) { return std::atanh(x); }},
    {Unary::kCbrt, [](Wide x) { return std::cbrt(x); }},
    {Unary::kRsqrt, [](Wide x) { return 1 / std::sqrt(x); }},
    {Binary::kPow, [](Wide x, Wide y) { return std::pow(x, y); }},
    {Binary::kAtan2, [](Wide y, Wide x) { return std::atan2(y, x); }},
    {Binary::kHypot, [](Wide x, Wide y) { return std::hypot(x, y); }},
};

class Operands {
 public:
  explicit Operands(std::uint64_t seed) : random_(seed) {}

  double one(std::size_t i) {
    switch (i % 8) {
      case 0: return any();
      case 1: return unit();
      case 2: return 4 * unit();
      case 3: return 40 * unit();
      case 4: return 800 * unit();
      case 5: return std::ldexp(unit(), -static_cast<int>(random_() % 1070));
      case 6: return std::copysign(near_one(), unit());
      default: return near_right_angle();
    }
  }

  // Bases near 1 have large powers, and sizes of points that differ little say most.
  void two(std::size_t i, double& x, double& y) {
    const double size = std::ldexp(unit(), static_cast<int>(random_() % 2000) - 1000);
    switch (i % 5) {
      case 0:
        x = any();
        y = any();
        break;
      case 1:
        x = std::ldexp(unit(), static_cast<int>(random_() % 120) - 60);
        y = std::ldexp(unit(), static_cast<int>(random_() % 12) - 6);
        break;
      case 2:
        x = near_one();
        y = std::ldexp(unit(), static_cast<int>(random_() % 60));
        break;
      case 3:
        x = std::fabs(40 * unit());
        y = 40 * unit();
        break;
      default:
        x = size * unit();
        y = size * unit();
        break;
    }
  }

 private:
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> units_{-1, 1};

  double unit() { return units_(random_); }
  double any() {
    const std::uint64_t bits = random_();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  double near_one() { return 1 + std::ldexp(unit(), -static_cast<int>(random_() % 52)); }
  double near_right_angle() {
    const auto n = static_cast<double>(random_() >> (random_() % 32 + 32));
    const double angle = n * 1.57079632679489661923;
    return std::copysign(angle * (1 + static_cast<double>(random_() % 5) * 0x1p-52), unit());
  }
};

struct Worst {
  double places = 0;
  double at[2] = {};

  void add(const Worst& other) {
    if (other.places > places) *this = other;
  }
};

class Block {
 public:
  void check(const Function& function, std::uint64_t seed, Worst& worst) {
    Operands operands(seed);
    for (std::size_t i = 0; i < kBlock; ++i) {
      if (function.of_one != nullptr) {
        x_[i] = operands.one(i);
      } else {
        operands.two(i, x_[i], y_[i]);
      }
    }
    constexpr std::int64_t kWidth = sizeof(double);
    const kernels::StripInput sources[] = {
        {reinterpret_cast<const kernels::Byte*>(x_.data()), kWidth, kWidth},
        {reinterpret_cast<const kernels::Byte*>(y_.data()), kWidth, kWidth}};
    constexpr auto kF64 = static_cast<unsigned>(kernels::Type::kF64);
    const InstructionSet& set = instruction_set();
    const auto& kernel = function.of_one != nullptr
                             ? kernels::unary_kernels.of(set)[function.row][kF64]
                             : kernels::binary_kernels.of(set)[function.row][kF64];
    kernels::Strip strip =
        dense_strip(kBlock, reinterpret_cast<kernels::Byte*>(out_.data()), kWidth, sources);
    strip.source_count = function.of_one != nullptr ? 1 : 2;
    run_strip(Operation(kernel), strip);
    for (std::size_t i = 0; i < kBlock; ++i) {
      const Wide exact =
          function.of_one != nullptr ? function.of_one(x_[i]) : function.of_two(x_[i], y_[i]);
      const auto places = static_cast<double>(last_places(out_[i], exact));
      if (places > worst.places) worst = {places, {x_[i], y_[i]}};
    }
  }

 private:
  std::vector<double> x_ = std::vector<double>(kBlock);
  std::vector<double> y_ = x_;
  std::vector<double> out_ = x_;
};

bool report(const Function& function, std::uint64_t count) {
  const std::uint64_t blocks = (count + kBlock - 1) / kBlock;
  std::atomic<std::uint64_t> next{0};
  std::vector<Worst> found(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (Worst& mine : found) {
    threads.emplace_back([&] {
      Block memory;
      for (std::uint64_t block; (block = next.fetch_add(1)) < blocks;) {
        memory.check(function, block, mine);
      }
    });
  }
  Worst worst;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads[i].join();
    worst.add(found[i]);
  }
  const bool is_good = worst.places <= function.about->last_places;
  std::printf("%-10s %8.4f %8g  %a", function.about->name, worst.places,
              function.about->last_places, worst.at[0]);
  if (function.of_two != nullptr) std::printf(" %a", worst.at[1]);
  std::printf("%s\n", is_good ? "" : "  FAILED");
  std::fflush(stdout);
  return is_good;
}

int report(std::span<char*> arguments) {
  std::uint64_t count = 100'000'000;
  if (!arguments.empty() && std::isdigit(static_cast<unsigned char>(arguments[0][0])) != 0) {
    count = std::strtoull(arguments[0], nullptr, 10);
    arguments = arguments.subspan(1);
  }
  std::printf("set: %s\n%-10s %8s %8s  at\n", instruction_set().name, "of f64", "worst", "allowed");
  int failed = 0;
  for (const Function& function : kFunctions) {
    const auto is_it = [&](const char* name) {
      return std::strcmp(name, function.about->name) == 0;
    };
    if (!arguments.empty() && std::ranges::none_of(arguments, is_it)) continue;
    if (!report(function, count)) ++failed;
  }
  std::printf("%d failed\n", failed);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace tenure::test

int main(int count, char** arguments) {
  if (!tenure::test::kIsWider) {
    std::puts("skipped: long double is not wider than double here");
    return EXIT_SUCCESS;
  }
  return tenure::test::report({arguments + 1, static_cast<std::size_t>(count - 1)});
}
