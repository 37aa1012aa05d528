// Operations on one operand of every f32, under every instruction set that runs here: the distance
// from the exact result, whether results are in its order, and whether the sets agree in every bit.
// The rows are those of the table of operations.
//
// Results of f64, which have 29 bits more, count as exact: those of the library's own kernels,
// because C's functions would take an hour. Every 1021st of them is compared with the reference
// implementation, which computes in long double, and so is every one whose f32 is not within its
// bound.
//
// Not a part of the ordinary tests, since it takes minutes: `./x long`. With a number N as the
// first argument, the program tests one block of 65536 in N, whichever block it is. Names of
// operations restrict it to these operations.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include "cpu/dispatch.hpp"
#include "cpu/kernels/reference.hpp"
#include "cpu/operations.hpp"
#include "dense/loops/strip_runner.hpp"
#include "last_places.hpp"
#include "tenure/instruction_set.hpp"

namespace tenure::test {
namespace {

constexpr auto kF32 = static_cast<unsigned>(kernels::Type::kF32);
constexpr auto kF64 = static_cast<unsigned>(kernels::Type::kF64);
constexpr std::uint32_t kBlock = 1u << 16;
constexpr std::uint32_t kSamples = 1021;
// Bound of f64 against the reference implementation: the largest bound of the table, and its own
// rounding.
constexpr double kStrayed = 4.5;

// Whose results promise to rise with their operands, although they are rounded.
constexpr kernels::Unary kRising[] = {kernels::Unary::kExp, kernels::Unary::kTanh,
                                      kernels::Unary::kSigmoid};

// Farther angles are those of the C library, one by one, also in the reference, so that one block
// in this many will do.
constexpr kernels::Unary kAngles[] = {kernels::Unary::kSin, kernels::Unary::kCos,
                                      kernels::Unary::kTan};
constexpr float kFarAngle = 0x1p21f;
constexpr std::uint32_t kFarBlocks = 61;

template <std::size_t kCount>
bool is_one_of(const kernels::Unary (&list)[kCount], unsigned row) {
  return std::ranges::any_of(
      list, [row](kernels::Unary op) { return static_cast<unsigned>(op) - 1 == row; });
}

float from_bits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
T twin_of(unsigned row, T x) {
  T result = 0;
  kernels::reference::unary(row, sizeof(T) == 4 ? kernels::Type::kF32 : kernels::Type::kF64,
                            reinterpret_cast<const kernels::Byte*>(&x),
                            reinterpret_cast<kernels::Byte*>(&result));
  return result;
}

using Entry = kernels::Elementwise;

template <class T>
void run(const Entry& entry, const std::vector<T>& in, std::vector<T>& out) {
  constexpr std::int64_t kWidth = sizeof(T);
  const kernels::StripInput sources[] = {
      {reinterpret_cast<const kernels::Byte*>(in.data()), kWidth, kWidth}};
  run_strip(Operation(entry),
            dense_strip(static_cast<std::int64_t>(in.size()),
                        reinterpret_cast<kernels::Byte*>(out.data()), kWidth, sources));
}

// The kernels of a row: of f32 those of every set that differ, of f64 the last, which is the
// fastest.
struct Row {
  unsigned number;
  std::vector<Entry> narrow;
  Entry wide = {};

  explicit Row(unsigned row) : number(row) {
    for (const InstructionSet& set : instruction_sets()) {
      if (!set.is_supported()) continue;
      const Entry& entry = kernels::unary_kernels.of(set)[row][kF32];
      const auto is_it = [&](const Entry& other) { return other.kernel == entry.kernel; };
      if (std::ranges::none_of(narrow, is_it)) narrow.push_back(entry);
      wide = kernels::unary_kernels.of(set)[row][kF64];
    }
  }
  [[nodiscard]] const kernels::OperationRow& about() const { return kernels::kUnaryRows[number]; }
};

struct Findings {
  double worst = 0;
  float worst_at = 0;
  std::uint64_t wrongly_rounded = 0;  // results that are not the nearest float
  std::uint64_t out_of_order = 0;     // of neighbours, where exact results are not
  std::uint64_t differences = 0;      // blocks in which one set differs from another
  std::uint64_t strayed = 0;          // results of f64 beyond the bound of the reference

  void add(const Findings& other) {
    if (other.worst > worst) {
      worst = other.worst;
      worst_at = other.worst_at;
    }
    wrongly_rounded += other.wrongly_rounded;
    out_of_order += other.out_of_order;
    differences += other.differences;
    strayed += other.strayed;
  }
};

// Results of equal bits, or NaN of any.
bool are_same(const std::vector<float>& a, const std::vector<float>& b) {
  if (std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0) return true;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool are_nan = std::isnan(a[i]) && std::isnan(b[i]);
    if (!are_nan && std::memcmp(&a[i], &b[i], sizeof(float)) != 0) return false;
  }
  return true;
}

class Block {
 public:
  // Its first neighbour is looked at too, so that nothing hides between two blocks.
  void check(const Row& row, std::uint32_t first, Findings& findings) {
    for (std::uint32_t i = 0; i <= kBlock; ++i) {
      in_[i] = from_bits(first + i);
      wide_in_[i] = static_cast<double>(in_[i]);
    }
    run(row.wide, wide_in_, wide_);
    for (std::size_t i = 0; i < row.narrow.size(); ++i) {
      run(row.narrow[i], in_, i == 0 ? out_ : other_);
      if (i != 0 && !are_same(out_, other_)) ++findings.differences;
    }
    for (std::uint32_t i = first % kSamples; i < kBlock; i += kSamples) {
      const auto exact = static_cast<long double>(twin_of(row.number, wide_in_[i]));
      if (last_places(wide_[i], exact) > kStrayed) ++findings.strayed;
    }
    for (std::uint32_t i = 0; i < kBlock; ++i) {
      if ((out_[i + 1] > out_[i] && wide_[i + 1] < wide_[i]) ||
          (out_[i + 1] < out_[i] && wide_[i + 1] > wide_[i])) {
        ++findings.out_of_order;
      }
      if (out_[i] != static_cast<float>(wide_[i])) judge(row, i, findings);
    }
  }

 private:
  std::vector<float> in_ = std::vector<float>(kBlock + 1);
  std::vector<float> out_ = in_;
  std::vector<float> other_ = in_;
  std::vector<double> wide_in_ = std::vector<double>(kBlock + 1);
  std::vector<double> wide_ = wide_in_;

  // Judges a result that is not the nearest float.
  void judge(const Row& row, std::uint32_t i, Findings& findings) {
    if (std::isnan(wide_[i]) && std::isnan(out_[i])) return;
    double places = last_places(out_[i], wide_[i]);
    if (places > row.about().last_places) {
      // Some rows depend on the type: the largest number of it, a slope that it rounds.
      const float narrow = twin_of(row.number, in_[i]);
      if (out_[i] == narrow || (std::isnan(out_[i]) && std::isnan(narrow))) return;
      places = last_places(out_[i], twin_of(row.number, wide_in_[i]));
    }
    ++findings.wrongly_rounded;
    if (places > findings.worst) {
      findings.worst = places;
      findings.worst_at = in_[i];
    }
  }
};

bool is_left_out(const Row& row, std::uint32_t block) {
  return is_one_of(kAngles, row.number) && std::fabs(from_bits(block * kBlock)) >= kFarAngle &&
         std::isfinite(from_bits(block * kBlock)) && block % kFarBlocks != 0;
}

Findings check_all(const Row& row, std::uint32_t one_in) {
  constexpr std::uint32_t kBlocks = 0xffffffffu / kBlock + 1;
  std::atomic<std::uint32_t> next{0};
  std::vector<Findings> findings(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (Findings& mine : findings) {
    threads.emplace_back([&] {
      Block memory;
      for (std::uint32_t block; (block = next.fetch_add(1)) < kBlocks;) {
        if (block % one_in == 0 && !is_left_out(row, block)) {
          memory.check(row, block * kBlock, mine);
        }
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

bool report(const Row& row, std::uint32_t one_in) {
  const Findings all = check_all(row, one_in);
  const kernels::OperationRow& about = row.about();
  const bool is_in_order = all.out_of_order == 0 || !is_one_of(kRising, row.number);
  const bool is_good =
      all.worst <= about.last_places && is_in_order && all.differences == 0 && all.strayed == 0;
  std::printf("%-12s %8.4f %8g %16a %12llu %12llu %6llu %6llu  %s\n", about.name, all.worst,
              about.last_places, static_cast<double>(all.worst_at),
              static_cast<unsigned long long>(all.wrongly_rounded),
              static_cast<unsigned long long>(all.out_of_order),
              static_cast<unsigned long long>(all.differences),
              static_cast<unsigned long long>(all.strayed), is_good ? "ok" : "FAILED");
  std::fflush(stdout);
  return is_good;
}

int report(std::span<char*> names) {
  std::uint32_t one_in = 1;
  if (!names.empty() && std::isdigit(static_cast<unsigned char>(names[0][0])) != 0) {
    one_in = std::max(1u, static_cast<std::uint32_t>(std::strtoul(names[0], nullptr, 10)));
    names = names.subspan(1);
  }
  std::printf("sets:");
  for (const InstructionSet& set : instruction_sets()) {
    if (set.is_supported()) std::printf(" %s", set.name);
  }
  std::printf("\n%-12s %8s %8s %16s %12s %12s %6s %6s\n", "of every f32", "worst", "allowed", "at",
              "not nearest", "out of order", "sets", "f64");
  int passed = 0;
  int failed = 0;
  for (unsigned row = 0; row < kernels::kUnaryCount; ++row) {
    const kernels::OperationRow& about = kernels::kUnaryRows[row];
    if ((about.dtypes & kernels::kFloats) == 0 || about.gives != kernels::Gives::kOperand) continue;
    const auto is_it = [&](const char* name) { return std::strcmp(name, about.name) == 0; };
    if (!names.empty() && std::ranges::none_of(names, is_it)) continue;
    report(Row(row), one_in) ? ++passed : ++failed;
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace tenure::test

int main(int count, char** arguments) {
  return tenure::test::report({arguments + 1, static_cast<std::size_t>(count - 1)});
}
