// A flag may cost the answer, never an address. Every operation, on matrices whose entries are
// neither in order nor unique, under every combination of flags that says they are. Any answer will
// do, and any status except INTERNAL; a result may be wrong but not broken, since a held matrix is
// not checked again. AddressSanitizer and the edges of the blocks look for the rest.
#include <gtest/gtest.h>

#include <random>

#include "sweep.hpp"

namespace tenure::sweeps {
namespace {

// Draws a place or a type for each call, where a sweep over all of them would take too long.
class Draws {
 public:
  template <class T, std::size_t n>
  const T& next(const T (&of)[n]) {
    return of[random_() % n];
  }
  const Place& next_place() { return places()[random_() % places().size()]; }

 private:
  std::minstd_rand random_;
};

void run_at(const Subject& subject, const Operation& operation, const Place& place,
            std::uint32_t flags) {
  const std::string name = subject.name(flags);
  announce(name, operation, place);
  SCOPED_TRACE(operation.name() + " of " + name + ", " + place.name);
  expect_sound(operation(subject.operands(place, flags)));
}

// Runs the operations on a matrix that is held, with flags that are as false, because the function
// that made it believed them. Nothing of it is checked any more.
void run_held(const Subject& subject, const Place& place, std::uint32_t flags) {
  const Operands lent = subject.operands(place, flags);
  for (const Operation& making : sparse_operations()) {
    if (making.function != "tnr_sparse_convert") continue;
    if (making.variant != "to its own format") continue;
    const Answer made = making(lent);
    if (made.made == nullptr) continue;
    Operands held = lent;
    held.a = made.made.view();
    for (const Operation& operation : sparse_operations()) {
      if (operation.is_of_dense()) continue;
      const std::string name = "a held " + subject.name(flags);
      announce(name, operation, place);
      SCOPED_TRACE(operation.name() + " of " + name + ", " + place.name);
      expect_sound(operation(held));
    }
  }
}

std::vector<Storage> storages(tnr_dtype index_dtype) {
  return {{TNR_SPARSE_FORMAT_COO, index_dtype},
          {TNR_SPARSE_FORMAT_CSR, index_dtype},
          {TNR_SPARSE_FORMAT_CSC, index_dtype},
          {TNR_SPARSE_FORMAT_BSR, index_dtype, TNR_DTYPE_F32, 2, 2}};
}

constexpr std::uint32_t kFlags[] = {0, TNR_SPARSE_SORTED, TNR_SPARSE_UNIQUE, kBothFlags};

// In the short sweep each call draws its place.
TEST(LyingFlags, OfSmallMatrices) {
  Draws draws;
  const std::size_t rounds = is_long() ? places().size() : 1;
  for (const Pattern& pattern : small_patterns()) {
    for (const tnr_dtype index_dtype : kIndexDtypes) {
      for (const Storage& storage : storages(index_dtype)) {
        const Subject subject(pattern, storage);
        for (const std::uint32_t flags : kFlags) {
          for (std::size_t round = 0; round < rounds; ++round) {
            for (const Operation& operation : sparse_operations()) {
              if (operation.is_of_dense()) continue;
              run_at(subject, operation, draws.next_place(), flags);
            }
            run_held(subject, draws.next_place(), flags);
          }
        }
      }
    }
  }
  expect_no_overrun();
}

// In the short sweep the index type is drawn too.
TEST(LyingFlags, OfLargeMatrices) {
  Draws draws;
  for (const Pattern& pattern : large_patterns()) {
    for (const bool is_second : {false, true}) {
      if (is_second && !is_long()) continue;
      for (const Storage& storage : storages(draws.next(kIndexDtypes))) {
        if (!takes(pattern, storage.format)) continue;
        const Subject subject(pattern, storage);
        for (const std::uint32_t flags : {kFlags[1], kFlags[2], kFlags[3]}) {
          // The short sweep takes only SORTED for COO, where rows are found by it, and else both
          // flags.
          const bool is_coo = storage.format == TNR_SPARSE_FORMAT_COO;
          if (!is_long() && flags != (is_coo ? kFlags[1] : kFlags[3])) continue;
          for (const Operation& operation : sparse_operations()) {
            if (operation.is_of_dense()) continue;
            run_at(subject, operation, draws.next_place(), flags);
          }
          run_held(subject, draws.next_place(), flags);
        }
      }
    }
  }
  expect_no_overrun();
}

TEST(LyingFlags, OfEntriesFarApart) {
  Draws draws;
  for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR}) {
    for (const tnr_dtype index_dtype : kIndexDtypes) {
      const Subject subject(far_apart(), {format, index_dtype});
      for (const Operation& operation : sparse_operations()) {
        if (!operation.is_by_entries()) continue;
        run_at(subject, operation, draws.next_place(), kBothFlags);
        for (const Place& place : places()) {
          if (is_long()) run_at(subject, operation, place, kBothFlags);
        }
      }
    }
  }
  expect_no_overrun();
}

// Bits that have no name are refused, whatever they mean inside: a caller's bit is no proof that a
// matrix has been checked.
TEST(LyingFlags, UnknownBitsAreRefused) {
  const Subject subject(small_patterns()[1], {});
  for (std::uint32_t bit = TNR_SPARSE_UNIQUE << 1; bit != 0; bit <<= 1) {
    for (const Operation& operation : sparse_operations()) {
      if (operation.is_of_dense()) continue;
      const Answer answer = operation(subject.operands(places()[0], bit));
      EXPECT_EQ(answer.status, TNR_STATUS_INVALID_ARGUMENT)
          << operation.name() << " with flags " << bit << ": " << answer.message;
    }
  }
}

}  // namespace
}  // namespace tenure::sweeps
