// Shared parts of the sweeps: their size, the contexts that they call with, the report of a call
// that ends the process, and the matrices of one pattern.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "header.hpp"
#include "operations.hpp"

namespace tenure::sweeps {

inline constexpr std::uint32_t kBothFlags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;

// Whether TENURE_SWEEP is "long": minutes instead of seconds.
bool is_long();

// With what a call is made: threads, and memory.
struct Place {
  const char* name;
  tnr_context* context;
  FilledContext* filled;  // the same, unless the memory is the library's own
};
// The default, one thread, two threads, and two with the library's own memory.
const std::vector<Place>& places();
// No call has written around what a context of places() gave it.
void expect_no_overrun();

// Names the call under way, should it end the process; the calls are counted.
void announce(const std::string& matrix, const Operation& operation, const Place& place);

// A matrix of a pattern, with its right factor and its mask.
class Subject {
 public:
  Subject(const Pattern& pattern, const Storage& storage);

  [[nodiscard]] Operands operands(const Place& place, std::uint32_t flags) const;
  [[nodiscard]] std::string name(std::uint32_t flags) const;
  // The patterns of the three, in the order of Operands.
  [[nodiscard]] const std::array<Pattern, 3>& patterns() const { return patterns_; }
  // Flags that are true of all three.
  [[nodiscard]] std::uint32_t true_flags() const { return true_flags_; }

 private:
  std::string name_;
  std::array<Pattern, 3> patterns_;
  Matrix a_;
  Matrix right_;
  Matrix mask_;
  std::uint32_t true_flags_ = 0;
};

// Whether a sweep takes the pattern in this format.
inline bool takes(const Pattern& pattern, tnr_sparse_format format) {
  return is_long() || pattern.format == 0 || pattern.format == format;
}

// Invariants of every answer.
void expect_sound(const Answer& answer);

// ---- patterns ----

// Neither in order nor without duplicates.
Pattern wild(std::string name, std::int64_t rows, std::int64_t cols, std::int64_t count,
             std::uint64_t seed);
// Each row has the same columns, moved by its number: `shape` of them, in that order.
Pattern repeated(std::string name, std::int64_t rows, std::int64_t cols,
                 const std::vector<std::int64_t>& shape);
// The pattern in the order of rows and columns, or of columns and rows, each position once.
Pattern coalesced(Pattern pattern, tnr_sparse_format format);

std::vector<Pattern> small_patterns();
std::vector<Pattern> large_patterns();
// A row that is wider, in bytes, than a stack is deep.
Pattern far_apart();

// The dtypes that have names.
const std::vector<Constant>& dtypes();

inline constexpr tnr_dtype kIndexDtypes[] = {TNR_DTYPE_I32, TNR_DTYPE_I64};

using MatrixSweep = std::function<void(const Pattern&, tnr_dtype index, tnr_dtype value)>;
// The small patterns with both index types: as they are, and coalesced by rows and by columns. A
// short run has a third of these combinations.
void for_each_small_matrix(const MatrixSweep& sweep);
// One small pattern with values of each type, as it is and coalesced.
void for_each_dtype(const MatrixSweep& sweep);

}  // namespace tenure::sweeps
