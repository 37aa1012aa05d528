// Functions of every f32, under every instruction set that runs here: how far from the C library's
// in f64, whether those that rise ever fall, and whether the sets agree in every bit.
//
// Not a part of the ordinary tests, since it takes minutes for each: `./x long`. Names of functions
// as arguments choose these.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include "cpu/dispatch.hpp"
#include "cpu/operations.hpp"
#include "dense/strip_runner.hpp"
#include "last_places.hpp"
#include "tenure/instruction_set.hpp"

namespace tenure::test {
namespace {

constexpr auto kF32 = static_cast<unsigned>(kernels::Type::kF32);
constexpr std::uint32_t kBlock = 1u << 16;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The limit where x is minus infinity.
double weighted(double x, double weight) { return weight == 0 ? std::copysign(0, x) : x * weight; }

enum class Course { kRises, kUnstated };

struct Function {
  kernels::Unary op;
  Course course;
  double (*exact)(double);

  [[nodiscard]] unsigned row() const { return static_cast<unsigned>(op) - 1; }
};

const Function kFunctions[] = {
    {kernels::Unary::kExp, Course::kRises, [](double x) { return std::exp(x); }},
    {kernels::Unary::kTanh, Course::kRises, [](double x) { return std::tanh(x); }},
    {kernels::Unary::kSigmoid, Course::kRises, sigmoid},
    {kernels::Unary::kSilu, Course::kUnstated, [](double x) { return weighted(x, sigmoid(x)); }},
    {kernels::Unary::kGelu, Course::kUnstated,
     [](double x) { return weighted(x, std::erfc(-x * std::sqrt(0.5)) / 2); }},
    {kernels::Unary::kGeluTanh, Course::kUnstated,
     [](double x) {
       const double slope = std::sqrt(8 / std::acos(-1.0));
       return weighted(x, sigmoid(slope * (x + 0.044715 * x * x * x)));
     }},
    {kernels::Unary::kSoftplus, Course::kUnstated,
     [](double x) { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x))); }},
    {kernels::Unary::kHardswish, Course::kUnstated,
     [](double x) {
       return weighted(x, x < -3 ? 0 : x > 3 ? 1 : (x + 3) / 6);
     }},
    {kernels::Unary::kElu, Course::kUnstated, [](double x) { return x > 0 ? x : std::expm1(x); }},
    {kernels::Unary::kExp2, Course::kUnstated, [](double x) { return std::exp2(x); }},
    {kernels::Unary::kExpm1, Course::kUnstated, [](double x) { return std::expm1(x); }},
    {kernels::Unary::kLn, Course::kUnstated, [](double x) { return std::log(x); }},
    {kernels::Unary::kLog2, Course::kUnstated, [](double x) { return std::log2(x); }},
    {kernels::Unary::kLog10, Course::kUnstated, [](double x) { return std::log10(x); }},
    {kernels::Unary::kLog1p, Course::kUnstated, [](double x) { return std::log1p(x); }},
    {kernels::Unary::kErf, Course::kUnstated, [](double x) { return std::erf(x); }},
    {kernels::Unary::kErfc, Course::kUnstated, [](double x) { return std::erfc(x); }},
    {kernels::Unary::kSin, Course::kUnstated, [](double x) { return std::sin(x); }},
    {kernels::Unary::kCos, Course::kUnstated, [](double x) { return std::cos(x); }},
    {kernels::Unary::kTan, Course::kUnstated, [](double x) { return std::tan(x); }},
    {kernels::Unary::kAsin, Course::kUnstated, [](double x) { return std::asin(x); }},
    {kernels::Unary::kAcos, Course::kUnstated, [](double x) { return std::acos(x); }},
    {kernels::Unary::kAtan, Course::kUnstated, [](double x) { return std::atan(x); }},
    {kernels::Unary::kSinh, Course::kUnstated, [](double x) { return std::sinh(x); }},
    {kernels::Unary::kCosh, Course::kUnstated, [](double x) { return std::cosh(x); }},
    {kernels::Unary::kAsinh, Course::kUnstated, [](double x) { return std::asinh(x); }},
    {kernels::Unary::kAcosh, Course::kUnstated, [](double x) { return std::acosh(x); }},
    {kernels::Unary::kAtanh, Course::kUnstated, [](double x) { return std::atanh(x); }},
    {kernels::Unary::kCbrt, Course::kUnstated, [](double x) { return std::cbrt(x); }},
    {kernels::Unary::kRsqrt, Course::kUnstated, [](double x) { return 1 / std::sqrt(x); }},
};

float from_bits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

void run(unsigned row, const InstructionSet& set, const std::vector<float>& in,
         std::vector<float>& out) {
  constexpr std::int64_t kWidth = sizeof(float);
  const kernels::Source sources[] = {
      {reinterpret_cast<const kernels::Byte*>(in.data()), kWidth, kWidth}};
  run_strip(Operation(kernels::unary_kernels.of(set)[row][kF32]),
            dense_strip(static_cast<std::int64_t>(in.size()),
                        reinterpret_cast<kernels::Byte*>(out.data()), kWidth, sources));
}

struct Findings {
  double worst = 0;
  float worst_at = 0;
  std::uint64_t wrongly_rounded = 0;  // results that are not the nearest float
  std::uint64_t descents = 0;
  std::uint64_t differences = 0;  // of one set from another

  void add(const Findings& other) {
    if (other.worst > worst) {
      worst = other.worst;
      worst_at = other.worst_at;
    }
    wrongly_rounded += other.wrongly_rounded;
    descents += other.descents;
    differences += other.differences;
  }
};

// The block's first neighbour is looked at too, so that no descent hides between two blocks.
void check_block(const Function& function, std::span<const InstructionSet> sets,
                 std::uint32_t first, Findings& findings) {
  std::vector<float> in(kBlock + 1);
  for (std::uint32_t i = 0; i <= kBlock; ++i) in[i] = from_bits(first + i);
  std::vector<float> out(in.size());
  std::vector<float> other(in.size());
  bool is_first = true;
  for (const InstructionSet& set : sets) {
    if (!set.is_supported()) continue;
    run(function.row(), set, in, is_first ? out : other);
    if (!is_first && std::memcmp(out.data(), other.data(), out.size() * sizeof(float)) != 0) {
      ++findings.differences;
    }
    is_first = false;
  }
  const bool descends = first >> 31 != 0;  // larger bits are smaller numbers
  for (std::uint32_t i = 0; i < kBlock; ++i) {
    const double exact = function.exact(static_cast<double>(in[i]));
    const bool falls = descends ? out[i + 1] > out[i] : out[i + 1] < out[i];
    if (falls && function.course == Course::kRises) ++findings.descents;
    if (out[i] == static_cast<float>(exact)) continue;  // nearly all
    const double places = last_places(out[i], exact);
    if (!(places <= findings.worst)) {
      findings.worst = places;
      findings.worst_at = in[i];
    }
    if (!std::isnan(exact)) ++findings.wrongly_rounded;
  }
}

Findings check_all(const Function& function) {
  const std::span<const InstructionSet> sets = instruction_sets();
  constexpr std::uint32_t kBlocks = 0xffffffffu / kBlock + 1;
  std::atomic<std::uint32_t> next{0};
  std::vector<Findings> findings(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (Findings& mine : findings) {
    threads.emplace_back([&] {
      for (std::uint32_t block; (block = next.fetch_add(1)) < kBlocks;) {
        check_block(function, sets, block * kBlock, mine);
      }
    });
  }
  Findings all;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads[i].join();
    all.add(findings[i]);
  }
  return all;
}

bool report(const Function& function) {
  const kernels::OperationRow& row = kernels::kUnaryRows[function.row()];
  const Findings all = check_all(function);
  std::printf("%s of every f32: at most %.4f units in the last place (at %a), %g allowed\n",
              row.name, all.worst, static_cast<double>(all.worst_at), row.last_places);
  std::printf("  not the nearest f32: %llu; descents: %llu; blocks in which sets differ: %llu\n",
              static_cast<unsigned long long>(all.wrongly_rounded),
              static_cast<unsigned long long>(all.descents),
              static_cast<unsigned long long>(all.differences));
  std::fflush(stdout);
  return all.worst <= row.last_places && all.descents == 0 && all.differences == 0;
}

int report(std::span<char*> names) {
  std::printf("sets:");
  for (const InstructionSet& set : instruction_sets()) {
    if (set.is_supported()) std::printf(" %s", set.name);
  }
  std::printf("\n");
  int passed = 0;
  int failed = 0;
  for (const Function& function : kFunctions) {
    const auto is_it = [&](const char* name) {
      return std::strcmp(name, kernels::kUnaryRows[function.row()].name) == 0;
    };
    if (!names.empty() && std::none_of(names.begin(), names.end(), is_it)) continue;
    report(function) ? ++passed : ++failed;
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace tenure::test

int main(int count, char** arguments) {
  return tenure::test::report({arguments + 1, static_cast<std::size_t>(count - 1)});
}
