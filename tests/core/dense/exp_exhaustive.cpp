// e^x of every f32, under every instruction set that runs here: how far from the C library's in
// f64, whether it ever falls where x rises, and whether the sets agree in every bit.
//
// Not a part of the ordinary tests, since it takes minutes: `./x long`.
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
#include "dense/strip_runner.hpp"
#include "last_places.hpp"
#include "tenure/instruction_set.hpp"

namespace tenure::test {
namespace {

constexpr unsigned kExpRow = static_cast<unsigned>(kernels::Unary::kExp) - 1;
constexpr auto kF32 = static_cast<unsigned>(kernels::Type::kF32);
constexpr std::uint32_t kBlock = 1u << 16;
constexpr double kAllowed = 1.0;

float from_bits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

void run(const InstructionSet& set, const std::vector<float>& in, std::vector<float>& out) {
  constexpr std::int64_t kWidth = sizeof(float);
  const kernels::Source sources[] = {
      {reinterpret_cast<const kernels::Byte*>(in.data()), kWidth, kWidth}};
  run_strip(Operation(kernels::unary_kernels.of(set)[kExpRow][kF32]),
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
void check_block(std::span<const InstructionSet> sets, std::uint32_t first, Findings& findings) {
  std::vector<float> in(kBlock + 1);
  for (std::uint32_t i = 0; i <= kBlock; ++i) in[i] = from_bits(first + i);
  std::vector<float> out(in.size());
  std::vector<float> other(in.size());
  bool is_first = true;
  for (const InstructionSet& set : sets) {
    if (!set.is_supported()) continue;
    run(set, in, is_first ? out : other);
    if (!is_first && std::memcmp(out.data(), other.data(), out.size() * sizeof(float)) != 0) {
      ++findings.differences;
    }
    is_first = false;
  }
  const bool descends = first >> 31 != 0;  // larger bits are smaller numbers
  for (std::uint32_t i = 0; i < kBlock; ++i) {
    const double exact = std::exp(static_cast<double>(in[i]));
    if (descends ? out[i + 1] > out[i] : out[i + 1] < out[i]) ++findings.descents;
    if (out[i] == static_cast<float>(exact)) continue;  // nearly all
    const double places = last_places(out[i], exact);
    if (!(places <= findings.worst)) {
      findings.worst = places;
      findings.worst_at = in[i];
    }
    if (!std::isnan(exact)) ++findings.wrongly_rounded;
  }
}

Findings check_all() {
  const std::span<const InstructionSet> sets = instruction_sets();
  constexpr std::uint32_t kBlocks = 0xffffffffu / kBlock + 1;
  std::atomic<std::uint32_t> next{0};
  std::vector<Findings> findings(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (Findings& mine : findings) {
    threads.emplace_back([&] {
      for (std::uint32_t block; (block = next.fetch_add(1)) < kBlocks;) {
        check_block(sets, block * kBlock, mine);
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

int report() {
  const Findings all = check_all();
  std::printf("sets:");
  for (const InstructionSet& set : instruction_sets()) {
    if (set.is_supported()) std::printf(" %s", set.name);
  }
  std::printf("\nexp of every f32: at most %.4f units in the last place (at %a)\n", all.worst,
              static_cast<double>(all.worst_at));
  std::printf("not the nearest f32: %llu; descents: %llu; blocks in which sets differ: %llu\n",
              static_cast<unsigned long long>(all.wrongly_rounded),
              static_cast<unsigned long long>(all.descents),
              static_cast<unsigned long long>(all.differences));
  const bool passed = all.worst <= kAllowed && all.descents == 0 && all.differences == 0;
  std::printf("%s\n", passed ? "1 passed, 0 failed" : "0 passed, 1 failed");
  return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace tenure::test

int main() { return tenure::test::report(); }
