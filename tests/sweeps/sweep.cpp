#include "sweep.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

namespace tenure::sweeps {
namespace {

// ---- the report of a call that ends the process ----

char g_call[512] = "no call of a sweep";
std::int64_t g_calls = 0;

void say_call() {
  constexpr char kIntroduction[] = "\nunder way: ";
  (void)!write(STDERR_FILENO, kIntroduction, sizeof kIntroduction - 1);
  (void)!write(STDERR_FILENO, g_call, std::strlen(g_call));
  (void)!write(STDERR_FILENO, "\n", 1);
}

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
struct sigaction g_before[std::size(kSignals)];

// Reports the call, and restores the earlier handler: the fault happens again.
void on_signal(int number) {
  say_call();
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    if (kSignals[i] == number) sigaction(number, &g_before[i], nullptr);
  }
  if (number == SIGABRT) raise(number);
}

[[maybe_unused]] const bool g_is_listening = [] {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], &action, &g_before[i]);
  }
  return true;
}();

// A square one is multiplied by itself, so that its order is that of both factors.
Pattern right_of(const Pattern& pattern) {
  if (pattern.rows == pattern.cols) return pattern;
  Pattern other{pattern.name, pattern.cols, pattern.rows, pattern.positions, pattern.format};
  for (Position& at : other.positions) std::swap(at.row, at.col);
  return other;
}

// Rows by rows, at as many positions.
Pattern mask_of(const Pattern& pattern) {
  Pattern mask{pattern.name, pattern.rows, pattern.rows, pattern.positions};
  const std::size_t count = mask.positions.size();
  for (std::size_t i = 0; i < count; ++i) {
    mask.positions[i].col = pattern.positions[(i * 7 + 1) % count].row;
  }
  return mask;
}

// The flags that tnr_sparse_check grants a matrix.
std::uint32_t granted(const Matrix& matrix) {
  std::uint32_t flags = 0;
  for (const std::uint32_t flag : {TNR_SPARSE_SORTED, TNR_SPARSE_UNIQUE}) {
    const tnr_sparse_view view = matrix.view(flag);
    if (tnr_sparse_check(&view) == TNR_STATUS_OK) flags |= flag;
  }
  return flags;
}

// Says at the end how much was tried.
class Count : public testing::Environment {
  void TearDown() override {
    std::printf("%lld calls of sweeps\n", static_cast<long long>(g_calls));
  }
};
[[maybe_unused]] const testing::Environment* const g_count =
    testing::AddGlobalTestEnvironment(new Count);

}  // namespace

bool is_long() {
  const char* const size = std::getenv("TENURE_SWEEP");
  return size != nullptr && std::strcmp(size, "long") == 0;
}

const std::vector<Place>& places() {
  static FilledContext one(1);
  static FilledContext two(2);
  static tnr_context* const own = [] {
    tnr_context_options options = {};
    options.struct_size = sizeof options;
    options.thread_count = 2;
    return tnr_context_create(&options);
  }();
  static const std::vector<Place> all = {{"no context", nullptr, nullptr},
                                         {"1 thread, memory of a hook", one, &one},
                                         {"2 threads, memory of a hook", two, &two},
                                         {"2 threads", own, nullptr}};
  return all;
}

void expect_no_overrun() {
  for (const Place& place : places()) {
    if (place.filled == nullptr) continue;
    EXPECT_EQ(place.filled->overrun_count(), 0) << place.name;
  }
}

void announce(const std::string& matrix, const Operation& operation, const Place& place) {
  std::snprintf(g_call, sizeof g_call, "%s %s of %s, %s", operation.function.c_str(),
                operation.variant.c_str(), matrix.c_str(), place.name);
  g_calls += 1;
}

Subject::Subject(const Pattern& pattern, const Storage& storage)
    : name_("'" + pattern.name + "' as " + storage.name()),
      patterns_{pattern, right_of(pattern), mask_of(pattern)},
      a_(patterns_[0], storage),
      right_(patterns_[1], storage),
      mask_(patterns_[2], storage),
      true_flags_(granted(a_) & granted(right_) & granted(mask_)) {}

Operands Subject::operands(const Place& place, std::uint32_t flags) const {
  return {.context = place.context,
          .a = a_.view(flags),
          .right = right_.view(flags),
          .mask = mask_.view(flags)};
}

std::string Subject::name(std::uint32_t flags) const {
  std::string name = name_;
  if ((flags & TNR_SPARSE_SORTED) != 0) name += " SORTED";
  if ((flags & TNR_SPARSE_UNIQUE) != 0) name += " UNIQUE";
  return name;
}

const std::vector<Constant>& dtypes() { return codes_of("tnr_dtype"); }

void expect_sound(const Answer& answer) {
  EXPECT_NE(answer.status, TNR_STATUS_INTERNAL) << answer.message;
  EXPECT_EQ(answer.fault, "");
}

// ---- patterns ----

Pattern wild(std::string name, std::int64_t rows, std::int64_t cols, std::int64_t count,
             std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t extent) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent));
  };
  Pattern pattern{std::move(name), rows, cols, {}};
  for (std::int64_t i = 0; i < count; ++i) pattern.positions.push_back({below(rows), below(cols)});
  return pattern;
}

Pattern repeated(std::string name, std::int64_t rows, std::int64_t cols,
                 const std::vector<std::int64_t>& shape) {
  Pattern pattern{std::move(name), rows, cols, {}};
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const std::int64_t offset : shape)
      pattern.positions.push_back({row, (row + offset) % cols});
  }
  return pattern;
}

Pattern coalesced(Pattern pattern, tnr_sparse_format format) {
  const bool by_cols = format == TNR_SPARSE_FORMAT_CSC;
  const auto key = [by_cols](const Position& at) {
    return by_cols ? std::pair(at.col, at.row) : std::pair(at.row, at.col);
  };
  auto& positions = pattern.positions;
  std::sort(positions.begin(), positions.end(),
            [&](const Position& a, const Position& b) { return key(a) < key(b); });
  const auto is_same = [&](const Position& a, const Position& b) { return key(a) == key(b); };
  positions.erase(std::unique(positions.begin(), positions.end(), is_same), positions.end());
  return pattern;
}

std::vector<Pattern> small_patterns() {
  std::vector<Pattern> patterns = {
      {"nothing", 3, 4, {}},
      wild("wild and square", 8, 8, 30, 1),
      wild("wild and wide", 5, 40, 60, 2),
      wild("wild and tall", 70, 4, 90, 3),
      repeated("rows alike that fall", 40, 48, {9, 8, 3, 2, 1, 0}),
      {"one place", 4, 4, std::vector<Position>(30, Position{1, 2})},
  };
  // SORTED and not UNIQUE, in rows as in columns; and the other way round.
  Pattern doubled{"in order, twice", 9, 10, {}};
  for (std::int64_t at = 0; at < 2 * 9 * 10; at += 3) {
    doubled.positions.push_back({at / 20, at / 2 % 10});
    if (at % 2 == 0) doubled.positions.push_back(doubled.positions.back());
  }
  patterns.push_back(std::move(doubled));
  // Full rows, from the last column to the first, and a square of the diagonal for solutions.
  Pattern falling{"full rows that fall", 24, 24, {}};
  for (std::int64_t row = 0; row < 24; ++row) {
    for (std::int64_t col = 24; col-- > 0;) falling.positions.push_back({row, col});
  }
  patterns.push_back(std::move(falling));
  return patterns;
}

namespace {

// Rows alike. Each of them names 32 rows of another kind, which look like runs of eight by their
// ends, and have one entry behind. So each of the first rows has, squared, 256 entries, the most
// that are remembered of a row, and a product behind the last of them.
Pattern runs_apart() {
  constexpr std::int64_t kAlike = 100;
  constexpr std::int64_t kRuns = kAlike + 31 * 8;
  Pattern pattern{"rows alike of rows that are runs by their ends",
                  kAlike + kRuns,
                  kAlike + kRuns,
                  {},
                  TNR_SPARSE_FORMAT_CSR};
  for (std::int64_t row = 0; row < kAlike; ++row) {
    for (std::int64_t i = 0; i < 32; ++i) pattern.positions.push_back({row, kAlike + row + 8 * i});
  }
  for (std::int64_t row = 0; row < kRuns; ++row) {
    for (const std::int64_t offset : {0, 1, 2, 15, 4, 5, 6, 7}) {
      pattern.positions.push_back({kAlike + row, row + offset});
    }
  }
  return pattern;
}

}  // namespace

std::vector<Pattern> large_patterns() {
  std::vector<Pattern> patterns = {
      wild("large and square", 450, 450, 22'000, 4),
      // Entries that many threads share, and dense memory that is streamed to.
      wild("large and dense enough to be streamed", 2600, 2600, 60'000, 5),
      repeated("many rows alike that fall", 1500, 1500, {7, 6, 5, 2, 1, 0}),
      // Rows whose ends say that there is nothing between them.
      repeated("rows alike that are runs by their ends", 400, 400, {3, 40, 5, 60, 6, 8}),
      // A row whose marks are made in several pieces, in the wrong order.
      wild("wide rows", 12, 40'000, 6'000, 6),
  };
  patterns[1].format = TNR_SPARSE_FORMAT_COO;
  // Rows whose ends are next to each other, with all else outside; their product is larger than the
  // part that is held back while it is counted.
  std::vector<std::int64_t> shape;
  for (std::int64_t i = 0; i < 32; ++i) shape.push_back(i * 331 % 1000);
  shape.front() = 500;
  shape.back() = 501;
  patterns.push_back(repeated("rows alike whose ends are next to each other", 1000, 1000, shape));
  patterns.back().format = TNR_SPARSE_FORMAT_CSR;
  patterns.push_back(runs_apart());
  return patterns;
}

Pattern far_apart() {
  constexpr std::int64_t kCols = 10 << 20;
  return {"far apart", 1, kCols, {{0, kCols - 1}, {0, 0}, {0, kCols / 2}, {0, 0}}};
}

void for_each_small_matrix(const MatrixSweep& sweep) {
  unsigned number = 0;
  for (const Pattern& pattern : small_patterns()) {
    unsigned form = number++;
    for (const tnr_dtype index : kIndexDtypes) {
      // A third of them in a short run: each pattern with each type of indices, and each form with
      // both types.
      const unsigned only = form++ % 3;
      if (is_long() || only == 0) sweep(pattern, index, TNR_DTYPE_F32);
      if (is_long() || only == 1) {
        sweep(coalesced(pattern, TNR_SPARSE_FORMAT_CSR), index, TNR_DTYPE_F64);
      }
      if (is_long() || only == 2) {
        sweep(coalesced(pattern, TNR_SPARSE_FORMAT_CSC), index, TNR_DTYPE_I32);
      }
    }
  }
}

void for_each_dtype(const MatrixSweep& sweep) {
  const Pattern pattern = small_patterns()[1];
  for (const Constant& dtype : dtypes()) {
    const auto value = static_cast<tnr_dtype>(dtype.value);
    sweep(pattern, TNR_DTYPE_I32, value);
    sweep(coalesced(pattern, TNR_SPARSE_FORMAT_CSR), TNR_DTYPE_I64, value);
  }
}

}  // namespace tenure::sweeps
