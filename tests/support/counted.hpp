// The increments of an operation's counters by a piece of work.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <ostream>

#include "tenure/tenure.h"

namespace tenure::test {

inline tnr_operation_stats read(tnr_operation operation) {
  tnr_operation_stats stats = {};
  stats.struct_size = sizeof stats;
  EXPECT_EQ(tnr_operation_stats_read(operation, &stats), TNR_STATUS_OK);
  return stats;
}

inline tnr_stats read_totals() {
  tnr_stats stats = {};
  stats.struct_size = sizeof stats;
  EXPECT_EQ(tnr_stats_read(&stats), TNR_STATUS_OK);
  return stats;
}

struct Counted {
  std::uint64_t calls;
  std::uint64_t read_bytes;
  std::uint64_t written_bytes;
  bool operator==(const Counted&) const = default;
};

inline std::ostream& operator<<(std::ostream& stream, const Counted& counted) {
  return stream << counted.calls << " calls, " << counted.read_bytes << " bytes read, "
                << counted.written_bytes << " written";
}

// The increments of the operation's counters by `work`.
inline Counted added(tnr_operation operation, const std::function<void()>& work) {
  const tnr_operation_stats before = read(operation);
  work();
  const tnr_operation_stats after = read(operation);
  return {after.calls - before.calls, after.read_bytes - before.read_bytes,
          after.written_bytes - before.written_bytes};
}

// Returns added(), and expects that the totals have grown by exactly this.
inline Counted counted(tnr_operation operation, const std::function<void()>& work) {
  const tnr_stats before = read_totals();
  const Counted result = added(operation, work);
  const tnr_stats totals = read_totals();
  EXPECT_EQ(result, (Counted{totals.calls - before.calls, totals.read_bytes - before.read_bytes,
                             totals.written_bytes - before.written_bytes}));
  return result;
}

}  // namespace tenure::test
